//! The long-running parts of the process: HTTP, jobs, deliveries and top-ups, admin listener.

use std::{
    net::TcpListener,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Context;
use api::{Network, Settings, State, rate_limit::InMemory};
use app::deliveries::Ports;
use connectors::geo::GeoIp;
use delivery::seal::KeyRing;
use domain::{positions::Positions, rate_limit::RateLimiter};
use shared::{Counters, Link, SharedPositions};
use store::{Connect, GroupCommit, KeyCache, PoolOptions, Retention, Store};
use time::OffsetDateTime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    admin, ai, alerts, config::Config, connections, database::Database, deliveries, payments, scheduler, telemetry,
    workers::Workers,
};

/// Which parts run in this process.
#[derive(Debug, Clone, Copy)]
pub struct Roles {
    pub http: bool,
    pub work: bool,
}

/// Requests in flight and running jobs have this long to end.
const SHUTDOWN: Duration = Duration::from_secs(25);

/// Runs the parts until SIGTERM or an interrupt, then ends in order: drain (a second signal cuts that short), stop accepting, finish what is in flight, let the
/// claims of jobs end. `ready` is told the bound addresses.
pub async fn run(
    config: &Config,
    database: &Database,
    keys: KeyRing,
    roles: Roles,
    ready: impl AsyncFnOnce(&Store, Option<std::net::SocketAddr>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cron = scheduler::parse_cron(&config.jobs_cron)?;
    let metrics = telemetry::init_metrics()?;
    let (keys, sender) = (Arc::new(keys), Arc::new(deliveries::sender(config)?));
    let shared = shared(config).await?;
    let draining = Arc::new(AtomicBool::new(false));
    let threads = if roles.http { http_workers(config.http_workers) } else { 0 };
    let (common, plan) = Workers::share_out(database.pool(config.database_pool), threads);
    let store = Arc::new(store(config, database, common, shared.as_ref())?);
    let events = GroupCommit::new((*store).clone(), threads);
    let admin_listener = bind(config.admin_listen, "admin_listen")?;
    let hosts = admin::Hosts::parse(&config.admin_hosts)?;
    let mut stopped = vec![admin::server(admin_listener, hosts, metrics, (*store).clone(), draining.clone())?];
    let till = payments::till(config, &store)?;
    let (mut address, mut workers) = (None, None);
    if roles.http {
        let listener = bind(config.listen, "listen")?;
        connections::prepare(&listener).context("the listening socket")?;
        address = Some(listener.local_addr()?);
        let ports = deliveries::ports(&store, &keys, &sender);
        let state = state(config, &store, &events, database.direct(), ports, shared.as_ref())?;
        let settings = Settings { draining: draining.clone(), ..state.settings };
        let state = State { settings, till: till.clone(), ..state };
        let of_threads = Workers::new(&store, &events, &database.connect, plan)?;
        workers = Some(of_threads.clone());
        stopped.push(api::server(state, move |state| of_threads.state_of_next(state), listener, threads)?);
    }
    let cancelled = CancellationToken::new();
    let tasks = TaskTracker::new();
    if roles.work {
        let retention = Retention {
            track_months: config.track_retention_months,
            delivery_months: config.delivery_retention_months,
        };
        let jobs = ai::deps(config, &store)?;
        tasks.spawn(ai::run(store.clone(), jobs.clone(), cancelled.clone()));
        tasks.spawn(scheduler::run(store.clone(), jobs, cron, retention, cancelled.clone()));
        tasks.spawn(alerts::run(store.clone(), config.alerts_interval_seconds, cancelled.clone()));
        let ports = deliveries::ports(&store, &keys, &sender);
        tasks.spawn(deliveries::run(ports, database.direct().cloned(), cancelled.clone()));
        if let Some(till) = till {
            let recharger = payments::recharger(config, &store, till);
            tasks.spawn(recharger.run(cancelled.clone().cancelled_owned()));
        }
    }
    tasks.close();
    let servers: Vec<_> = stopped.iter().map(actix_web::dev::Server::handle).collect();
    let serving = tokio::spawn(futures_util::future::try_join_all(stopped));
    ready(&store, address).await?;

    stop_signal().await?;
    cancelled.cancel();
    if roles.http && config.drain_seconds > 0 {
        tracing::info!(seconds = config.drain_seconds, "about to stop: not ready any more, still answering");
        draining.store(true, Ordering::Relaxed);
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(config.drain_seconds)) => {}
            stopped = stop_signal() => stopped?,
        }
    }
    tracing::info!("stopping: no new work, what is in flight ends");
    let deadline = tokio::time::Instant::now() + SHUTDOWN;
    for server in servers {
        server.stop(true).await;
    }
    serving.await.context("the HTTP server ended abnormally")??;
    // Those whose senders did not wait for the answer.
    if let Some(workers) = workers
        && tokio::time::timeout_at(deadline, workers.drain()).await.is_err()
    {
        tracing::warn!("events were still waiting; nobody was told that they are stored");
    }
    if tokio::time::timeout_at(deadline, tasks.wait()).await.is_err() {
        tracing::warn!("jobs were still running; they are run again when their leases end");
    }
    store.close();
    Ok(())
}

fn bind(address: std::net::SocketAddr, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .with_context(|| format!("cannot listen on {address}: is it in use? Choose another address with {setting}"))
}

/// HTTP threads: one a core, unless so many are asked for.
fn http_workers(asked_for: usize) -> usize {
    match asked_for {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// The way to what replicas share, if there is such a place.
async fn shared(config: &Config) -> anyhow::Result<Option<Arc<Link>>> {
    Ok(match config.redis_url() {
        Some(url) => Some(Link::start(url).await?),
        None => None,
    })
}

/// The store, with a standby for its reads if there is one.
fn store(
    config: &Config,
    database: &Database,
    options: PoolOptions,
    shared: Option<&Arc<Link>>,
) -> anyhow::Result<Store> {
    let store = Store::connect(&database.connect, options)?;
    let Some(url) = config.database_read_url() else { return Ok(store) };
    let connect = Connect::parse(url).context("DATABASE_READ_URL")?;
    let positions = shared.map(|link| Arc::new(SharedPositions::new(link.clone())) as Arc<dyn Positions>);
    let options = PoolOptions { max_connections: config.database_pool, generic_plans: true, ..PoolOptions::default() };
    store.with_replica(&connect, options, positions)
}

/// Counts in Redis, if there is one, else in this process.
fn limiter(shared: Option<&Arc<Link>>) -> Arc<dyn RateLimiter> {
    let alone = Arc::new(InMemory::default());
    match shared {
        Some(link) => Arc::new(Counters::new(link.clone(), alone)),
        None => alone,
    }
}

fn state(
    config: &Config,
    store: &Arc<Store>,
    events: &GroupCommit,
    direct: Option<&Connect>,
    deliveries: Ports,
    shared: Option<&Arc<Link>>,
) -> anyhow::Result<State> {
    let trusted_proxies = config.trusted_proxies.split(',').map(str::trim).filter(|network| !network.is_empty());
    let settings = Settings {
        rate_limit_per_minute: config.rate_limit_per_minute,
        event_kib_per_minute: (config.track_kib_per_minute > 0).then_some(config.track_kib_per_minute),
        trusted_proxies: trusted_proxies
            .map(str::parse::<Network>)
            .collect::<Result<_, _>>()
            .context("trusted_proxies")?,
        webhook_allow_loopback: config.webhook_allow_loopback.parse().context("webhook_allow_loopback")?,
        region: config.region.clone(),
        env: config.env.clone(),
        commit: env!("BUILD_COMMIT").to_owned(),
        shutdown_timeout: SHUTDOWN,
        connections: connections::allowed()?,
        ..Settings::default()
    };
    let geo_files = config.geoip_database.split(',').map(str::trim).filter(|file| !file.is_empty()).map(Path::new);
    Ok(State {
        keys: Arc::new(KeyCache::start((**store).clone(), direct.cloned())),
        health: store.clone(),
        credits: store.clone(),
        transactions: store.clone(),
        auto_topup: store.clone(),
        usage: store.clone(),
        ai_access: store.clone(),
        prices: Arc::new(payments::prices(config)?),
        till: None,
        customers: store.clone(),
        integrations: store.clone(),
        webhooks: store.clone(),
        webhook_settings: store.clone(),
        delivery_log: store.clone(),
        replays: store.clone(),
        insights: store.clone(),
        wordsmith: ai::wordsmith(config, store)?,
        events: Arc::new(events.clone()),
        anomalies: store.clone(),
        profit: store.clone(),
        inventory: store.clone(),
        reorder: store.clone(),
        alerts: store.clone(),
        geolocator: Arc::new(GeoIp::open(geo_files).context("geoip_database")?),
        sealer: deliveries.sealer.clone(),
        deliveries,
        limiter: limiter(shared),
        writes: store.clone(),
        clock: OffsetDateTime::now_utc,
        settings,
    })
}

/// Waits for SIGTERM or an interrupt.
pub(crate) async fn stop_signal() -> anyhow::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
