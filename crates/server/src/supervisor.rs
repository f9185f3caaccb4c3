//! Keeps the background tasks of the process running.
//!
//! A task that panics, or ends unexpectedly, is started again after a pause. Whatever watches the process learns
//! of it three ways: by the log, by `background_task_panics_total{task}`, and by `/ready`, which is red while a task has
//! failed too often.

use std::{
    any::Any,
    collections::{BTreeMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::time::Instant;
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

/// The pause before the first restart; each further one is twice as long, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A task that ran for so long starts over with the first pause.
const STEADY_AFTER: Duration = Duration::from_secs(60);
/// A task that failed [`MOST_FAILURES`] times within this makes the process not ready.
const WINDOW: Duration = Duration::from_secs(5 * 60);
const MOST_FAILURES: usize = 3;

/// A task that runs for as long as the process does, or until the process is about to stop.
pub struct Task {
    name: &'static str,
    start: Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl Task {
    /// `start` gives the task's future, and is called again for each restart: the future owns what it works with.
    pub fn new<F>(name: &'static str, start: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self { name, start: Box::new(move || start().boxed()) }
    }
}

/// Starts tasks, and starts them again. Cloning shares the tasks and their failures.
#[derive(Clone, Default)]
pub struct Supervisor {
    /// Cancelled when the process is about to stop: workers then end.
    stop: CancellationToken,
    /// The workers that are waited for at the end.
    workers: TaskTracker,
    failures: Failures,
    #[cfg(test)]
    pub faults: Arc<faults::Faults>,
}

impl Supervisor {
    /// Tells workers that the process is about to stop; what they have begun they may end.
    pub fn stop(&self) {
        self.stop.cancel();
        self.workers.close();
    }

    /// Resolves when the process is about to stop.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Waits until all workers have ended. To be called after [`stop`](Self::stop).
    pub async fn workers_ended(&self) {
        self.workers.wait().await;
    }

    /// Recent failures.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    /// Starts a task that ends on its own when the process is about to stop ([`stopping`](Self::stopping)), and is waited for.
    #[expect(clippy::disallowed_methods, reason = "this is where long-lived tasks are supervised")]
    pub fn start_worker(&self, task: Task) {
        self.workers.spawn(self.clone().supervise(task, self.stop.clone()));
    }

    /// Starts a task that others depend on until the last request is answered: it never ends, and is not waited for.
    #[expect(clippy::disallowed_methods, reason = "this is where long-lived tasks are supervised")]
    pub fn start_service(&self, task: Task) {
        tokio::spawn(self.clone().supervise(task, CancellationToken::new()));
    }

    /// Starts a task that belongs to another one: it is aborted when the handle is dropped.
    #[expect(clippy::disallowed_methods, reason = "this is where long-lived tasks are supervised")]
    pub fn start_child(&self, task: Task) -> AbortOnDropHandle<()> {
        AbortOnDropHandle::new(tokio::spawn(self.clone().supervise(task, self.stop.clone())))
    }

    async fn supervise(self, task: Task, stop: CancellationToken) {
        let Task { name, start } = task;
        // So that the first failure shows as a rise.
        metrics::counter!("background_task_panics_total", "task" => name).increment(0);
        let mut pause = FIRST_PAUSE;
        loop {
            let started = Instant::now();
            let running = AssertUnwindSafe(async { start().await });
            #[cfg(test)]
            let running = AssertUnwindSafe(self.faults.around(name, running));
            let ended = running.catch_unwind().await;
            if ended.is_ok() && stop.is_cancelled() {
                return;
            }
            match ended {
                Ok(()) => self.failures.record(name, "it ended, though nothing asked it to"),
                Err(panic) => self.failures.record(name, message(&*panic)),
            }
            if started.elapsed() >= STEADY_AFTER {
                pause = FIRST_PAUSE;
            }
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// The message of a panic.
pub fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

/// The failures of background tasks within the last five minutes. Cloning shares them.
#[derive(Clone, Default)]
pub struct Failures(Arc<Mutex<BTreeMap<&'static str, VecDeque<Instant>>>>);

impl Failures {
    /// Logs and counts a failure of a task.
    pub fn record(&self, task: &'static str, panic: &str) {
        tracing::error!(task, panic, "a background task failed; it is started again");
        metrics::counter!("background_task_panics_total", "task" => task).increment(1);
        let mut all = self.lock();
        let of_task = all.entry(task).or_default();
        of_task.push_back(Instant::now());
        // More than these say nothing more.
        if of_task.len() > MOST_FAILURES {
            of_task.pop_front();
        }
    }

    /// A task that has failed three times within five minutes, if one has.
    pub fn unstable(&self) -> Option<&'static str> {
        let is_unstable = |times: &VecDeque<Instant>| {
            times.len() >= MOST_FAILURES && times.front().is_some_and(|first| first.elapsed() < WINDOW)
        };
        self.lock().iter().find(|(_, times)| is_unstable(times)).map(|(task, _)| *task)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, VecDeque<Instant>>> {
        // No code that may panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Panics on demand, in the middle of whatever a task is waiting for.
#[cfg(test)]
pub mod faults {
    use std::{collections::BTreeMap, sync::Mutex};

    use tokio::sync::watch;

    /// Which tasks run, how often each was started, and the switch that makes it panic.
    #[derive(Default)]
    pub struct Faults(Mutex<BTreeMap<&'static str, (u32, watch::Sender<bool>)>>);

    impl Faults {
        pub(super) async fn around(&self, name: &'static str, run: impl Future<Output = ()>) {
            let (switch, mut switched) = watch::channel(false);
            let starts = self.starts(name) + 1;
            self.0.lock().unwrap().insert(name, (starts, switch));
            tokio::select! {
                biased;
                Ok(_) = switched.wait_for(|on| *on) => panic!("made to panic by a test"),
                () = run => {}
            }
        }

        /// How often the task was started.
        pub fn starts(&self, name: &str) -> u32 {
            self.0.lock().unwrap().get(name).map_or(0, |(starts, _)| *starts)
        }

        /// The tasks that were ever started.
        pub fn names(&self) -> Vec<&'static str> {
            self.0.lock().unwrap().keys().copied().collect()
        }

        /// Makes the task panic at the point that it has reached.
        pub fn kill(&self, name: &str) {
            self.0.lock().unwrap()[name].1.send_replace(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Counts its starts and ends each of them as configured.
    fn counted(starts: &Arc<AtomicU32>, end: fn(u32) -> BoxFuture<'static, ()>) -> Task {
        let starts = starts.clone();
        Task::new("test", move || end(starts.fetch_add(1, Ordering::SeqCst)))
    }

    fn panics(_: u32) -> BoxFuture<'static, ()> {
        async { panic!("a defect") }.boxed()
    }

    async fn after(seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_is_started_again_after_pauses_that_double_up_to_a_minute() {
        let (supervisor, starts) = (Supervisor::default(), Arc::new(AtomicU32::new(0)));
        supervisor.start_service(counted(&starts, panics));
        // Starts after 0, 1, 3, 7, 15, 31, 63, 123 and 183 s.
        let mut seen = Vec::new();
        for second in 0..190 {
            tokio::time::sleep(Duration::from_millis(500)).await;
            if seen.len() < starts.load(Ordering::SeqCst) as usize {
                seen.push(second);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        assert_eq!(seen, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_before_the_first_wait_and_an_unexpected_end_are_failures_too() {
        let ends: [fn(u32) -> BoxFuture<'static, ()>; 2] =
            [|_| panic!("while it is being started"), |_| std::future::ready(()).boxed()];
        for end in ends {
            let (supervisor, starts) = (Supervisor::default(), Arc::new(AtomicU32::new(0)));
            supervisor.start_worker(counted(&starts, end));
            after(2).await;
            assert_eq!(starts.load(Ordering::SeqCst), 2);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ran_well_for_long_is_started_again_soon() {
        let (supervisor, starts) = (Supervisor::default(), Arc::new(AtomicU32::new(0)));
        supervisor.start_service(counted(&starts, |start| {
            async move {
                // Five failures in a row, then one after an hour.
                after(if start < 5 { 0 } else { 3_600 }).await;
                panic!("a defect")
            }
            .boxed()
        }));
        after(31 + 3_600 + 2).await;
        assert_eq!(starts.load(Ordering::SeqCst), 7);
    }

    #[tokio::test(start_paused = true)]
    async fn three_failures_in_five_minutes_are_reported_until_they_are_five_minutes_old() {
        let supervisor = Supervisor::default();
        supervisor.start_service(Task::new("well", std::future::pending));
        let starts = Arc::new(AtomicU32::new(0));
        supervisor.start_service(counted(&starts, |start| {
            async move {
                if start < 3 {
                    panic!("a defect");
                }
                std::future::pending().await
            }
            .boxed()
        }));
        after(2).await;
        assert_eq!(supervisor.failures().unstable(), None, "after 0 and 1 s");
        after(2).await;
        assert_eq!(supervisor.failures().unstable(), Some("test"), "after 3 s as well");
        after(295).await;
        assert_eq!(supervisor.failures().unstable(), Some("test"));
        after(2).await;
        assert_eq!(supervisor.failures().unstable(), None, "the first is more than five minutes old");
    }

    #[tokio::test(start_paused = true)]
    async fn failures_of_two_tasks_do_not_add_up() {
        let failures = Failures::default();
        for task in ["one", "one", "other", "other"] {
            failures.record(task, "a defect");
        }
        assert_eq!(failures.unstable(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn at_the_stop_workers_end_their_work_and_are_not_started_again() {
        let (supervisor, starts) = (Supervisor::default(), Arc::new(AtomicU32::new(0)));
        let (stopping, counted_starts) = (supervisor.stopping(), starts.clone());
        supervisor.start_worker(Task::new("at work", move || {
            let (stopping, starts) = (stopping.clone(), counted_starts.clone());
            async move {
                starts.fetch_add(1, Ordering::SeqCst);
                stopping.cancelled().await;
                after(10).await;
            }
        }));
        // One that panics is resting when the stop comes.
        supervisor.start_worker(counted(&Arc::default(), panics));
        after(1).await;
        let stopped = Instant::now();
        supervisor.stop();
        supervisor.workers_ended().await;
        assert_eq!((stopped.elapsed().as_secs(), starts.load(Ordering::SeqCst)), (10, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_child_ends_with_the_task_that_it_belongs_to() {
        let (supervisor, starts) = (Supervisor::default(), Arc::new(AtomicU32::new(0)));
        let child = supervisor.start_child(counted(&starts, panics));
        after(2).await;
        drop(child);
        after(600).await;
        assert_eq!(starts.load(Ordering::SeqCst), 2);
    }
}
