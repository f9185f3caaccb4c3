//! The database as each kind of work sees it: through connections of its own.

use std::sync::Arc;

use store::{Connect, PoolOptions, Store};

use crate::budget::{Budget, Purpose};

/// A store for each purpose, some of them the same where connections are few ([`Budget`]).
pub struct Stores {
    pub control: Arc<Store>,
    pub payments: Arc<Store>,
    pub deliveries: Arc<Store>,
    pub jobs: Arc<Store>,
    pub alerts: Arc<Store>,
    pub ai: Arc<Store>,
    pub shops: Arc<Store>,
    /// That of the writer of tracking events.
    pub events: Arc<Store>,
    /// Those that the HTTP threads take in turn; at least one.
    pub threads: Vec<Arc<Store>>,
    /// Connections that jobs have at most.
    pub job_connections: usize,
    /// The same of alert rules.
    pub alert_connections: usize,
}

impl Stores {
    /// Divides the connections of `options` by `budget`. `first` makes the store that the others are siblings of; connections
    /// are opened when they are needed.
    ///
    /// # Errors
    /// When a pool cannot be made.
    pub fn new(
        options: PoolOptions,
        budget: &Budget,
        connect: &Connect,
        first: impl FnOnce(PoolOptions) -> anyhow::Result<Store>,
    ) -> anyhow::Result<Self> {
        let of = |max_connections| PoolOptions { max_connections, ..options };
        let mut pools = budget.shared.iter();
        let (of_first, _) = pools.next().copied().unwrap_or((1, &[]));
        let control = Arc::new(first(of(of_first))?);
        let others =
            pools.map(|(size, purposes)| Ok((Arc::new(control.with_own_pool(connect, of(*size))?), *purposes)));
        let others = others.collect::<anyhow::Result<Vec<_>>>()?;
        let on = |purpose: Purpose| {
            let own = others.iter().find(|(_, purposes)| purposes.contains(&purpose)).map(|(store, _)| store);
            own.unwrap_or(&control).clone()
        };
        let plan_once = |max_connections| PoolOptions { generic_plans: true, ..of(max_connections) };
        let threads = budget.threads.iter().map(|size| Ok(Arc::new(control.with_own_pool(connect, plan_once(*size))?)));
        let mut threads = threads.collect::<anyhow::Result<Vec<_>>>()?;
        if threads.is_empty() {
            threads.push(control.clone());
        }
        let events = match (budget.events, threads.first()) {
            (0, Some(shared)) => shared.clone(),
            (own, _) => Arc::new(control.with_own_pool(connect, plan_once(own.max(1)))?),
        };
        let connections = |purpose: Purpose| {
            let shared = budget.shared.iter().find(|(_, purposes)| purposes.contains(&purpose));
            shared.map_or(1, |(size, _)| *size)
        };
        Ok(Self {
            payments: on(Purpose::Payments),
            deliveries: on(Purpose::Deliveries),
            jobs: on(Purpose::Jobs),
            alerts: on(Purpose::Alerts),
            ai: on(Purpose::Ai),
            shops: on(Purpose::Shops),
            control,
            events,
            threads,
            job_connections: connections(Purpose::Jobs),
            alert_connections: connections(Purpose::Alerts),
        })
    }
}
