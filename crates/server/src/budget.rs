//! How the connections to the database are divided among what they are for.
//!
//! Nothing waits for a connection behind something of another kind: the HTTP threads, which look keys up and answer requests,
//! have pools that nothing else takes from, and so has every kind of background work. What several accounts do at a time
//! in the background fits into its pool. Where connections are few, kinds of background work share a pool; with a single
//! connection everything does.

/// What connections are for, apart from the requests of the HTTP threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Readiness, metrics, the standby's position and the probe of notifications.
    Control,
    /// What the payment gateway reports, and automatic top-ups.
    Payments,
    Deliveries,
    /// Jobs, and the upkeep of the tables.
    Jobs,
    /// Alert rules.
    Alerts,
    /// AI runs, and the guard of their costs, which takes turns with them: a run that waits for its provider holds no
    /// connection.
    Ai,
    /// Cursors, tokens and hooks of connected shops, comments and answers, exports, deletions and mails. What is read from
    /// shops is imported through connections beside the pools.
    Shops,
}

use Purpose::{Ai, Alerts, Control, Deliveries, Jobs, Payments, Shops};

/// Purposes that share a pool of that number of connections.
pub type Shared = (usize, &'static [Purpose]);

/// The pools of a process that works in the background, for as many connections as their place in the list says, from 1 on.
/// Jobs run for two accounts at a time, and so do alert rules where connections are many; deliveries lease and record at
/// the same time; the others do one thing after another.
const WITH_WORK: [&[Shared]; 11] = [
    &[(1, &[Control, Payments, Deliveries, Jobs, Alerts, Ai, Shops])],
    &[(1, &[Control, Payments, Deliveries]), (1, &[Jobs, Alerts, Ai, Shops])],
    &[(1, &[Control, Payments]), (1, &[Deliveries]), (1, &[Jobs, Alerts, Ai, Shops])],
    &[(1, &[Control, Payments]), (1, &[Deliveries]), (1, &[Jobs]), (1, &[Alerts, Ai, Shops])],
    &[(1, &[Control]), (1, &[Payments]), (1, &[Deliveries]), (1, &[Jobs]), (1, &[Alerts, Ai, Shops])],
    &[(1, &[Control]), (1, &[Payments]), (1, &[Deliveries]), (1, &[Jobs]), (1, &[Alerts, Shops]), (1, &[Ai])],
    &[(1, &[Control]), (1, &[Payments]), (2, &[Deliveries]), (1, &[Jobs]), (1, &[Alerts, Shops]), (1, &[Ai])],
    &[(1, &[Control]), (1, &[Payments]), (2, &[Deliveries]), (2, &[Jobs]), (1, &[Alerts, Shops]), (1, &[Ai])],
    &[(1, &[Control]), (1, &[Payments]), (2, &[Deliveries]), (2, &[Jobs]), (1, &[Alerts]), (1, &[Ai]), (1, &[Shops])],
    &[(1, &[Control]), (2, &[Payments]), (2, &[Deliveries]), (2, &[Jobs]), (1, &[Alerts]), (1, &[Ai]), (1, &[Shops])],
    &[(1, &[Control]), (2, &[Payments]), (2, &[Deliveries]), (2, &[Jobs]), (2, &[Alerts]), (1, &[Ai]), (1, &[Shops])],
];

/// The same for one that only serves HTTP.
const WITHOUT_WORK: [&[Shared]; 3] =
    [&[(1, &[Control, Payments])], &[(1, &[Control]), (1, &[Payments])], &[(1, &[Control]), (2, &[Payments])]];

/// The pools of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Connections of each pool of the HTTP threads, which take these in turn. None where there is but one connection: then the
    /// threads are on the pool of everything else.
    pub threads: Vec<usize>,
    /// Connections of the writer of tracking events: none where the threads have no more than one each, whose connections it
    /// then uses.
    pub events: usize,
    /// Connections and purposes of the other pools; each purpose is in one of them.
    pub shared: Vec<Shared>,
}

impl Budget {
    /// Divides `connections`, at least one, among the HTTP threads and what else the process does: at least half of them are
    /// the threads'. A process without HTTP threads gives what its layout leaves to payments and deliveries, the kinds of
    /// which many may come at a time.
    pub fn new(connections: usize, threads: usize, has_work: bool) -> Self {
        let layouts: &[&[Shared]] = if has_work { &WITH_WORK } else { &WITHOUT_WORK };
        let others = if threads == 0 { connections } else { connections / 2 };
        let layout = layouts.get(others.clamp(1, layouts.len()) - 1).copied().unwrap_or_default();
        let left = connections.saturating_sub(layout.iter().map(|(size, _)| size).sum());
        if threads > 0 {
            let events = usize::from(left > threads);
            return Self { threads: divided(left - events, threads), events, shared: layout.to_vec() };
        }
        let of_deliveries = if has_work { left / 2 } else { 0 };
        let with_rest = |(size, purposes): &Shared| {
            let has = |purpose, rest| if purposes.contains(&purpose) { rest } else { 0 };
            (size + has(Deliveries, of_deliveries) + has(Payments, left - of_deliveries), *purposes)
        };
        Self { threads: Vec::new(), events: 0, shared: layout.iter().map(with_rest).collect() }
    }
}

/// The connections divided among at most that number of pools, none of them empty.
fn divided(connections: usize, pools: usize) -> Vec<usize> {
    let pools = pools.min(connections);
    (0..pools).map(|pool| connections / pools + usize::from(pool < connections % pools)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Purpose; 7] = [Control, Payments, Deliveries, Jobs, Alerts, Ai, Shops];

    #[test]
    fn the_default_pool_on_two_cores_keeps_purposes_apart_but_the_two_that_have_time() {
        let expected: [Shared; 6] =
            [(1, &[Control]), (1, &[Payments]), (2, &[Deliveries]), (2, &[Jobs]), (1, &[Alerts, Shops]), (1, &[Ai])];
        assert_eq!(Budget::new(16, 2, true), Budget { threads: vec![4, 3], events: 1, shared: expected.to_vec() });
    }

    #[test]
    fn a_process_that_only_serves_keeps_most_for_its_threads() {
        let expected: [Shared; 2] = [(1, &[Control]), (2, &[Payments])];
        assert_eq!(Budget::new(16, 2, false), Budget { threads: vec![6, 6], events: 1, shared: expected.to_vec() });
    }

    #[test]
    fn a_process_that_only_works_has_all_for_its_work() {
        let expected: [Shared; 7] = [
            (1, &[Control]),
            (5, &[Payments]),
            (4, &[Deliveries]),
            (2, &[Jobs]),
            (2, &[Alerts]),
            (1, &[Ai]),
            (1, &[Shops]),
        ];
        assert_eq!(Budget::new(16, 0, true), Budget { threads: vec![], events: 0, shared: expected.to_vec() });
    }

    #[test]
    fn a_single_connection_is_for_everything() {
        assert_eq!(Budget::new(1, 2, true), Budget { threads: vec![], events: 0, shared: vec![(1, &ALL)] });
    }

    #[test]
    fn all_connections_are_divided_up_and_no_more_and_requests_share_with_nothing() {
        for (connections, threads, has_work) in
            (1..60).flat_map(|n| (0..20).flat_map(move |t| [(n, t, true), (n, t, false)]))
        {
            let budget = Budget::new(connections, threads, has_work);
            let case = format!("{connections} {threads} {has_work} {budget:?}");
            let of_threads = budget.threads.iter().sum::<usize>() + budget.events;
            let of_others: usize = budget.shared.iter().map(|(size, _)| size).sum();
            assert_eq!(of_threads + of_others, connections, "{case}");
            assert!(
                budget.threads.iter().chain(budget.shared.iter().map(|(size, _)| size)).all(|size| *size > 0),
                "{case}"
            );
            assert!(budget.threads.len() <= threads, "{case}");
            assert!(threads == 0 || connections == 1 || of_threads * 2 >= connections, "{case}");
            let mut purposes: Vec<_> = budget.shared.iter().flat_map(|(_, purposes)| *purposes).copied().collect();
            purposes.sort();
            assert_eq!(purposes, if has_work { ALL.to_vec() } else { vec![Control, Payments] }, "{case}");
        }
    }
}
