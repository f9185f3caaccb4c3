//! A pool of connections, and a queue of events, for each HTTP thread.
//!
//! A connection is driven by the thread that opened it. With one pool for all, most requests would wait for another
//! thread to wake up, twice; with a pool of its own a thread does everything itself.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use api::State;
use store::{Connect, GroupCommit, PoolOptions, Store};

/// Of four connections, the threads share out three; the fourth is for what is common to them: looking keys up, jobs and
/// deliveries.
const SHARE: (usize, usize) = (3, 4);

/// The stores that the threads take in turn.
#[derive(Clone)]
pub struct Workers {
    stores: Vec<Arc<Store>>,
    next: Arc<AtomicUsize>,
    events: GroupCommit,
    /// The queues of the threads.
    queues: Arc<Mutex<Vec<GroupCommit>>>,
}

impl Workers {
    /// Shares the connections of `options` out. Gives what is left for the common pool, and what the threads have; where
    /// there are too few connections, several threads share a pool, or take the common one.
    pub fn share_out(options: PoolOptions, threads: usize) -> (PoolOptions, Plan) {
        let for_threads = options.max_connections * SHARE.0 / SHARE.1;
        let pools = threads.min(for_threads);
        let each = for_threads.checked_div(pools).unwrap_or(0);
        let common = PoolOptions { max_connections: options.max_connections - each * pools, ..options };
        let each = PoolOptions { max_connections: each, generic_plans: true, ..options };
        (common, Plan { pools, each })
    }

    /// Makes the pools, siblings of the common one; connections are opened when they are needed.
    pub fn new(first: &Arc<Store>, events: &GroupCommit, connect: &Connect, plan: Plan) -> anyhow::Result<Self> {
        let Plan { pools, each } = plan;
        let siblings = (0..pools).map(|_| Ok(Arc::new(first.sibling(connect, each)?)));
        let mut stores = siblings.collect::<anyhow::Result<Vec<_>>>()?;
        if stores.is_empty() {
            stores.push(first.clone());
        }
        Ok(Self { stores, next: Arc::default(), events: events.clone(), queues: Arc::default() })
    }

    /// Sets the next thread up and gives what it works with: its reads and its events go through its own pool. To be called
    /// on that thread.
    pub fn state_of_next(&self, state: State) -> State {
        wait_for_turns();
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(store) = self.stores.get(turn % self.stores.len().max(1)) else { return state };
        let events = self.events.sibling((**store).clone());
        self.queues().push(events.clone());
        on_store(State { events: Arc::new(events), ..state }, store)
    }

    /// Waits until all events that were taken in are written.
    pub async fn drain(&self) {
        let queues = self.queues().clone();
        for events in queues {
            events.drain().await;
        }
    }

    fn queues(&self) -> MutexGuard<'_, Vec<GroupCommit>> {
        // No code that may panic runs under the lock.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has this thread wait for its turn when it wakes up instead of interrupting what runs on its processor, by Linux's policy for
/// work that computes (`SCHED_BATCH`, sched(7)). An HTTP thread wakes up with every request and every answer of Postgres,
/// which on the same machine is at work on the next one just then. A policy that the operator chose stays.
#[cfg(target_os = "linux")]
fn wait_for_turns() {
    use nix::libc::{SCHED_BATCH, SCHED_OTHER, sched_getscheduler, sched_param, sched_setscheduler};

    let no_priority = sched_param { sched_priority: 0 };
    #[expect(unsafe_code, reason = "no library that we have sets the policy of a thread")]
    // SAFETY: 0 is this thread. The one reads nothing of ours, the other the parameter, which lives until it is back.
    let is_set = unsafe {
        sched_getscheduler(0) != SCHED_OTHER || sched_setscheduler(0, SCHED_BATCH, &raw const no_priority) == 0
    };
    if !is_set {
        let error = std::io::Error::last_os_error();
        tracing::debug!(%error, "an HTTP thread keeps interrupting others when it wakes up");
    }
}

#[cfg(not(target_os = "linux"))]
fn wait_for_turns() {}

/// How many pools of how many connections the threads have.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pools: usize,
    each: PoolOptions,
}

fn on_store(state: State, store: &Arc<Store>) -> State {
    State {
        health: store.clone(),
        credits: store.clone(),
        transactions: store.clone(),
        auto_topup: store.clone(),
        usage: store.clone(),
        ai_access: store.clone(),
        customers: store.clone(),
        integrations: store.clone(),
        webhooks: store.clone(),
        webhook_settings: store.clone(),
        delivery_log: store.clone(),
        replays: store.clone(),
        insights: store.clone(),
        anomalies: store.clone(),
        profit: store.clone(),
        inventory: store.clone(),
        reorder: store.clone(),
        ..state
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    /// As `/proc/PID/stat` has it, see proc_pid_stat(5): 0 is `SCHED_OTHER`, 3 is `SCHED_BATCH`.
    #[cfg(target_os = "linux")]
    fn policy() -> u32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, after_name) = stat.rsplit_once(')').unwrap();
        after_name.split_whitespace().nth(38).unwrap().parse().unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_waits_for_its_turns_is_the_only_one() {
        let there = || {
            let before = policy();
            wait_for_turns();
            (before, policy())
        };
        assert_eq!(std::thread::spawn(there).join().unwrap(), (0, 3));
        assert_eq!(policy(), 0);
    }

    #[test]
    fn all_connections_are_shared_out_and_no_more() {
        for connections in 1..40 {
            for threads in 1..20 {
                let options = PoolOptions { max_connections: connections, ..PoolOptions::default() };
                let (common, plan) = Workers::share_out(options, threads);
                assert_eq!(common.max_connections + plan.pools * plan.each.max_connections, connections);
                assert!(common.max_connections >= 1 && plan.pools <= threads);
                assert!(plan.pools == 0 || plan.each.max_connections >= 1);
            }
        }
    }
}
