//! The loop that keeps deliveries moving.

use std::{collections::HashSet, future::Future, panic::AssertUnwindSafe, pin::Pin, time::Duration};

use domain::{
    StoreError,
    webhooks::{
        breaker::Observation,
        delivery::{Capacity, Due, Lease, Leased, Next, Receiver, Report},
        schedule,
    },
};
use futures_util::FutureExt;
use time::OffsetDateTime;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep_until, timeout_at},
};
use tracing::Instrument;

use super::{
    Options, Ports,
    attempt::attempt,
    queues::{EndpointQueues, Limits},
};
use crate::outage;

/// Attempts recorded in one statement at most.
const BATCH: usize = 256;
/// A look for what became due goes back this far: events are dated when their transaction begins and show when it ends.
const LOOK_BACK: time::Duration = time::Duration::seconds(15);
/// After this many looks one starts from the beginning again.
const FULL_LOOK_EVERY: u32 = 30;
/// A quick look goes back this far: most transactions are short.
const QUICK_LOOK_BACK: time::Duration = time::Duration::seconds(2);
/// How long looks are quick after there was something to do.
const ALERT: Duration = Duration::from_secs(2);
/// The first pause after a database that failed; each one that follows is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

type Call<T> = Option<Pin<Box<dyn Future<Output = T> + Send>>>;

/// An attempt that ended, or could not be made.
struct Ended {
    lease: Lease,
    report: Option<Report>,
}

/// Delivers what is due until `stop` resolves; then no more is leased, attempts under way may end, and leases that are
/// left are released. `announced` names receivers with something due; what is not announced is found by polling.
pub async fn run(
    ports: Ports,
    options: Options,
    mut announced: mpsc::Receiver<Receiver>,
    stop: impl Future<Output = ()> + Send,
) {
    let mut engine = Engine::new(ports, options);
    let mut tick = interval(options.poll);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut listening = true;
    let mut stop = std::pin::pin!(stop);
    loop {
        engine.start_calls();
        tokio::select! {
            () = &mut stop => break,
            receiver = announced.recv(), if listening => match receiver {
                Some(receiver) => {
                    engine.be_alert();
                    engine.queues.announce(receiver);
                    while let Ok(receiver) = announced.try_recv() {
                        engine.queues.announce(receiver);
                    }
                }
                None => listening = false,
            },
            _ = tick.tick() => engine.tick(),
            () = sleep_until(engine.next_quick_look), if engine.is_alert() => engine.look_quickly(),
            () = sleep_until(engine.rests_until), if engine.is_resting() => {}
            () = engine.step() => {}
        }
    }
    engine.finish().await;
}

struct Engine {
    ports: Ports,
    options: Options,
    queues: EndpointQueues,
    attempts: JoinSet<Ended>,
    /// Leases of attempts that have not ended.
    held: HashSet<Lease>,
    unrecorded: Vec<Report>,
    /// Reports in the hands of `recording`.
    being_recorded: usize,
    /// Recording has failed, and not all of what waited for it is recorded yet. Until then nothing is leased: a lease may have
    /// run out meanwhile, and what was delivered under it would be delivered again.
    is_behind: bool,
    leasing: Call<Leasing>,
    recording: Call<Result<(), (Vec<Report>, StoreError)>>,
    looking: Call<Result<Look, StoreError>>,
    looks: u32,
    last_look: Option<OffsetDateTime>,
    /// A look that could not take in everything: when it began, and where it goes on.
    unfinished_look: Option<(OffsetDateTime, OffsetDateTime)>,
    /// A step of what is moved in bulk. Apart from looking, so that neither holds the other up.
    moving: Call<Result<Option<Receiver>, StoreError>>,
    next_quick_look: Instant,
    alert_until: Instant,
    /// In the future after an error, so that a database in trouble is not asked all the time.
    rests_until: Instant,
    /// The pause after the last error; zero after a success.
    pause: Duration,
}

/// What was asked for, when, and what came of it.
struct Leasing {
    rooms: Vec<Capacity>,
    asked_at: OffsetDateTime,
    leased: Result<Vec<Leased>, StoreError>,
}

/// What a look found.
enum Look {
    /// In what became due since the last look, or in all there is; the instant is when that began.
    Full(OffsetDateTime, Due),
    /// In what became due just now.
    Quick(Vec<Receiver>),
}

impl Engine {
    fn new(ports: Ports, options: Options) -> Self {
        let now = Instant::now();
        Self {
            ports,
            options,
            queues: EndpointQueues::default(),
            attempts: JoinSet::new(),
            held: HashSet::new(),
            unrecorded: Vec::new(),
            being_recorded: 0,
            is_behind: false,
            leasing: None,
            recording: None,
            looking: None,
            looks: 0,
            last_look: None,
            unfinished_look: None,
            moving: None,
            next_quick_look: now,
            alert_until: now,
            rests_until: now,
            pause: Duration::ZERO,
        }
    }

    fn now(&self) -> OffsetDateTime {
        (self.ports.clock)()
    }

    fn be_alert(&mut self) {
        self.alert_until = Instant::now() + ALERT;
    }

    fn is_alert(&self) -> bool {
        self.looking.is_none() && !self.is_resting() && Instant::now() < self.alert_until
    }

    fn is_resting(&self) -> bool {
        Instant::now() < self.rests_until
    }

    /// Starts the calls of the database that are possible now.
    fn start_calls(&mut self) {
        if self.is_resting() {
            return;
        }
        self.start_recording();
        if self.leasing.is_none() && !self.is_behind {
            self.start_leasing();
        }
    }

    fn start_leasing(&mut self) {
        let now = self.now();
        let taken = self.queues.in_flight() + self.unrecorded.len() + self.being_recorded;
        let free = self.options.in_flight.saturating_sub(taken);
        let Options { per_account, per_receiver, .. } = self.options;
        let rooms = self.queues.plan(Limits { free, per_account, per_receiver }, now);
        if rooms.is_empty() {
            return;
        }
        let (queue, lease) = (self.ports.queue.clone(), self.options.lease);
        self.leasing = Some(Box::pin(async move {
            let leased = queue.lease(&rooms, lease, now).await;
            Leasing { rooms, asked_at: now, leased }
        }));
    }

    fn start_recording(&mut self) {
        if self.recording.is_some() || self.unrecorded.is_empty() {
            return;
        }
        let batch: Vec<_> = self.unrecorded.drain(..self.unrecorded.len().min(BATCH)).collect();
        self.being_recorded = batch.len();
        let ports = self.ports.clone();
        self.recording = Some(Box::pin(async move {
            match record(&ports, &batch).await {
                Ok(()) => Ok(()),
                Err(error) => Err((batch, error)),
            }
        }));
    }

    /// Looks for what has become due, or goes on with the look before.
    fn start_looking(&mut self) {
        if self.looking.is_some() {
            return;
        }
        let (now, queue) = (self.now(), self.ports.queue.clone());
        let (began, since) = match self.unfinished_look {
            Some((began, after)) => (began, Some(after)),
            None => {
                let is_partial = !self.looks.is_multiple_of(FULL_LOOK_EVERY);
                self.looks = self.looks.wrapping_add(1);
                (now, self.last_look.filter(|_| is_partial).map(|at| at - LOOK_BACK))
            }
        };
        self.looking = Some(Box::pin(async move { Ok(Look::Full(began, queue.due(since, now).await?)) }));
    }

    /// Looks for what has become due just now.
    fn look_quickly(&mut self) {
        let (now, queue) = (self.now(), self.ports.queue.clone());
        self.looking =
            Some(Box::pin(async move { Ok(Look::Quick(queue.just_due(now - QUICK_LOOK_BACK, now).await?)) }));
    }

    /// Makes a step of what is moved in bulk.
    fn start_moving(&mut self) {
        if self.moving.is_none() {
            let (now, queue) = (self.now(), self.ports.queue.clone());
            self.moving = Some(Box::pin(async move { queue.advance_bulk(now).await }));
        }
    }

    fn tick(&mut self) {
        self.queues.sweep(self.now());
        self.start_looking();
        self.start_moving();
    }

    /// Waits until something ends, and deals with it.
    async fn step(&mut self) {
        tokio::select! {
            leasing = call(&mut self.leasing) => self.on_leased(leasing),
            recorded = call(&mut self.recording) => self.on_recorded(recorded),
            looked = call(&mut self.looking) => self.on_looked(looked),
            moved = call(&mut self.moving) => self.on_moved(moved),
            Some(ended) = self.attempts.join_next() => {
                self.on_ended(ended);
                while let Some(ended) = self.attempts.try_join_next() {
                    self.on_ended(ended);
                }
            }
        }
    }

    fn on_leased(&mut self, Leasing { rooms, asked_at, leased }: Leasing) {
        match leased {
            Ok(leased) => {
                self.pause = Duration::ZERO;
                if !leased.is_empty() {
                    self.be_alert();
                }
                self.queues.leased(&rooms, &leased);
                let until = asked_at + self.options.lease;
                leased.into_iter().for_each(|leased| self.start_attempt(leased, until));
            }
            Err(error) => {
                self.rest("deliveries cannot be leased; trying again", &error);
                self.queues.not_leased(&rooms);
            }
        }
    }

    fn start_attempt(&mut self, leased: Leased, until: OffsetDateTime) {
        self.held.insert(leased.lease);
        let ports = self.ports.clone();
        let lease = leased.lease;
        let Receiver { account, subscription } = lease.receiver;
        let span = tracing::error_span!(
            "delivery",
            account_id = account.0,
            subscription = subscription.0,
            delivery = %leased.id,
            attempt = leased.attempt
        );
        let made = async move {
            // A process that was stopped for a while has lost what it held.
            if (ports.clock)() >= until {
                return Ended { lease, report: None };
            }
            // A panic must not take the place along: it would be one less for this receiver, for good.
            let report = AssertUnwindSafe(attempt(&ports, &leased)).catch_unwind().await;
            let error = match report {
                Ok(Ok(report)) => {
                    log(&report);
                    return Ended { lease, report: Some(report) };
                }
                Ok(Err(unsent)) => unsent.to_string(),
                Err(_) => "the attempt panicked".to_owned(),
            };
            tracing::error!(error, "delivery cannot be attempted");
            Ended { lease, report: None }
        };
        self.attempts.spawn(made.instrument(span));
    }

    fn on_ended(&mut self, ended: Result<Ended, tokio::task::JoinError>) {
        // Panics are caught where they happen, and nothing is aborted before the end.
        let Ok(Ended { lease, report }) = ended else { return };
        let now = self.now();
        let unsent = Observation { status: None, took: Duration::ZERO, retry_after: None };
        let seen = report.as_ref().map_or(unsent, |report| seen(report, now));
        self.queues.ended(lease.receiver, Some(seen), now);
        self.held.remove(&lease);
        self.unrecorded.extend(report);
    }

    fn on_recorded(&mut self, recorded: Result<(), (Vec<Report>, StoreError)>) {
        self.being_recorded = 0;
        if let Err((batch, error)) = recorded {
            self.rest("attempts cannot be recorded; trying again", &error);
            self.unrecorded.splice(0..0, batch);
            self.is_behind = true;
        }
        self.is_behind &= !self.unrecorded.is_empty();
    }

    fn on_looked(&mut self, looked: Result<Look, StoreError>) {
        let due = match looked {
            Err(error) => return self.rest("what is due cannot be looked up; trying again", &error),
            Ok(Look::Quick(receivers)) => receivers,
            Ok(Look::Full(began, Due { receivers, cut_at })) => {
                self.unfinished_look = cut_at.map(|at| (began, at));
                if cut_at.is_none() {
                    self.last_look = Some(began);
                }
                receivers
            }
        };
        self.pause = Duration::ZERO;
        self.next_quick_look = Instant::now() + self.options.quick_poll;
        due.into_iter().for_each(|receiver| self.queues.announce(receiver));
        if self.unfinished_look.is_some() {
            self.start_looking();
        }
    }

    /// A step that failed is made again with the next tick; deliveries go on meanwhile.
    fn on_moved(&mut self, moved: Result<Option<Receiver>, StoreError>) {
        match moved {
            Ok(Some(receiver)) => {
                self.queues.announce(receiver);
                self.start_moving();
            }
            Ok(None) => {}
            Err(error) => outage::warn(&error, "deliveries cannot be moved in bulk; trying again"),
        }
    }

    fn rest(&mut self, what: &'static str, error: &StoreError) {
        outage::warn(error, what);
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, self.options.longest_pause);
        self.rests_until = Instant::now() + self.pause;
    }

    /// Ends: waits for attempts, records them, gives back what is left.
    async fn finish(mut self) {
        let deadline = Instant::now() + self.options.grace;
        if let Some(leasing) = self.leasing.take()
            && let Leasing { leased: Ok(leased), .. } = leasing.await
        {
            self.held.extend(leased.into_iter().map(|leased| leased.lease));
        }
        while let Ok(Some(ended)) = timeout_at(deadline, self.attempts.join_next()).await {
            self.on_ended(ended);
        }
        self.attempts.abort_all();
        if let Some(Err((batch, _))) = match self.recording.take() {
            Some(recording) => Some(recording.await),
            None => None,
        } {
            self.unrecorded.splice(0..0, batch);
        }
        while !self.unrecorded.is_empty() {
            let batch: Vec<_> = self.unrecorded.drain(..self.unrecorded.len().min(BATCH)).collect();
            if let Err(error) = record(&self.ports, &batch).await {
                outage::warn(&error, "attempts could not be recorded; they will be made again");
                break;
            }
        }
        let held: Vec<_> = self.held.into_iter().collect();
        if !held.is_empty()
            && let Err(error) = self.ports.queue.release(&held, (self.ports.clock)()).await
        {
            outage::warn(&error, "leases could not be given back; they run out");
        }
    }
}

/// Waits for a call under way; for ever if there is none.
async fn call<T>(slot: &mut Call<T>) -> T {
    match slot {
        Some(future) => {
            let result = future.await;
            *slot = None;
            result
        }
        None => std::future::pending().await,
    }
}

/// Records attempts, and says which subscriptions were switched off by that.
pub(super) async fn record(ports: &Ports, reports: &[Report]) -> Result<(), StoreError> {
    let now = (ports.clock)();
    for failing in ports.queue.record(reports, now).await?.iter().filter(|failing| failing.switched_off) {
        let Receiver { account, subscription } = failing.receiver;
        let reason = failing.disabled(now).map(tracing::field::display);
        tracing::warn!(account_id = account.0, subscription = subscription.0, reason, "subscription switched off");
    }
    Ok(())
}

fn seen(report: &Report, now: OffsetDateTime) -> Observation {
    let asked = report.attempt.retry_after.as_deref();
    Observation {
        status: report.attempt.status(),
        took: report.attempt.timings.total,
        retry_after: asked.and_then(|value| schedule::parse_retry_after(value, now)),
    }
}

/// One line an attempt, within its span. No URL and no body: both may hold secrets.
fn log(report: &Report) {
    let status = report.attempt.status();
    let ms = report.attempt.timings.total.as_millis();
    if report.next == Next::Delivered {
        tracing::debug!(status, ms, "delivered");
    } else {
        let last = report.next == Next::Failed;
        tracing::info!(status, ms, last, "delivery failed");
    }
}
