//! The long-running parts of the process: HTTP, jobs, deliveries and top-ups, admin listener.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use actix_web::dev::{Server, ServerHandle};
use anyhow::Context;
use api::{Parts, Settings, State, rate_limit::InMemory};
use app::{
    ai::InsightTextGenerator,
    auto_topup::Recharger,
    deliveries::Ports,
    erasures::ErasureWorker,
    exports::ExportWorker,
    status::{Prober, StatusPages},
};
use connectors::geo::GeoIp;
use croner::Cron;
use delivery::seal::KeyRing;
use domain::{positions::Positions, rate_limit::RateLimiter};
use redis_adapter::{Counters, Link, SharedPositions};
use store::{Connect, KeyCache, PoolOptions, Retention, RowEraser, RowReader, Store};
use time::OffsetDateTime;
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;
use url::Url;
use uuid::Uuid;

use crate::{
    admin, ai, alerts,
    budget::Budget,
    commands::Misconfigured,
    config::Config,
    connections,
    dashboard::{self, Needs},
    database::Database,
    deliveries,
    mails::{self, Mails},
    payments, probes,
    probes::Eyes,
    scheduler,
    schema::SchemaCheck,
    shops, social,
    stores::Stores,
    supervisor::{Supervisor, Task},
    telemetry, uploads,
    workers::Workers,
};

/// Which parts run in this process.
#[derive(Debug, Clone, Copy)]
pub struct Roles {
    pub http: bool,
    pub work: bool,
}

/// Where the faces are to be found.
#[derive(Debug, Clone)]
pub struct Addresses {
    pub api: SocketAddr,
    pub dashboard: Url,
}

/// Requests in flight and running jobs have this long to end.
pub const SHUTDOWN: Duration = Duration::from_secs(25);

/// How long the use of a key waits in memory until it is written.
const KEY_USES_EVERY: Duration = Duration::from_secs(1);

/// Runs the parts until `stop` is cancelled, then ends in order: drain (a second signal cuts that short), stop accepting,
/// finish what is in flight, let the claims of jobs end. `ready` gets the bound addresses.
pub async fn run(
    config: &Config,
    database: &Database,
    keys: Arc<KeyRing>,
    roles: Roles,
    stop: &CancellationToken,
    ready: impl AsyncFnOnce(&Store, Option<Addresses>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    run_supervised(&Supervisor::default(), config, database, keys, roles, stop, ready).await
}

async fn run_supervised(
    supervisor: &Supervisor,
    config: &Config,
    database: &Database,
    keys: Arc<KeyRing>,
    roles: Roles,
    stop: &CancellationToken,
    ready: impl AsyncFnOnce(&Store, Option<Addresses>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let cron = scheduler::parse_cron(&config.jobs_cron)?;
    let jobs_interval = scheduler::interval(&cron);
    let metrics = telemetry::init_metrics()?;
    // So that the first refusal shows as a rise.
    metrics::counter!("database_writes_refused_total").increment(0);
    supervisor.start_service(Task::new("metrics_upkeep", {
        let metrics = metrics.clone();
        move || telemetry::upkeep(metrics.clone())
    }));
    let sender = Arc::new(deliveries::sender(config)?);
    let shared = shared(config, supervisor).await?;
    let draining = Arc::new(AtomicBool::new(false));
    let threads = if roles.http { http_workers(config.http_workers) } else { 0 };
    let budget = Budget::new(config.database_pool, threads, roles.work);
    let first = |options| store(config, database, options, shared.as_ref());
    let stores = Stores::new(database.pool(config.database_pool), &budget, &database.connect, first)?;
    let store = &stores.control;
    if database.standby().is_some() {
        watch_replica(supervisor, store.clone());
    }
    let admin_listener = bind(config.admin_listen, "BAS_ADMIN_LISTEN")?;
    let schema = Arc::new(SchemaCheck::default());
    // A process that comes before its migrations waits for them, not ready; the log says why.
    if let Err(error) = schema.problem(&**store).await {
        app::outage::warn(&error, "the database does not answer yet");
    }
    let hosts = admin::Hosts::parse(&config.admin_hosts)?;
    let failures = supervisor.failures().clone();
    let admin = admin::server(admin_listener, hosts, metrics, (**store).clone(), schema, draining.clone(), failures)?;
    let mut stopped = vec![admin];
    let payment_service = payments::payment_service(config, &stores.payments)?;
    let text_generator = ai::text_generator(config, store)?;
    let mails = mails::mails(config, database.is_embedded())?;
    let (mut addresses, mut workers) = (None, None);
    if roles.http {
        let listener = bind(config.listen, "BAS_LISTEN")?;
        connections::prepare(&listener).context("the listening socket")?;
        let api = listener.local_addr()?;
        let ports = deliveries::ports(store, &keys, &sender);
        let held = KeyCache::new((**store).clone());
        listen_for_revocations(supervisor, &held, database.direct());
        write_key_uses(supervisor, &held);
        let failures = supervisor.failures().clone();
        // So that its first panic shows as a rise.
        metrics::counter!("background_task_panics_total", "task" => "batch_writer").increment(0);
        let payments = payment_service.clone();
        let mut state =
            state(config, store, (&held, text_generator.clone(), payments), ports.clone(), shared.as_ref())?;
        state.settings.draining = draining.clone();
        let (keys, connect, api_state) = (keys.clone(), &database.connect, (api, state.clone()));
        let payments = payment_service.clone();
        let needs = Needs { keys, mails: &mails, connect, payments, deliveries: ports, api: api_state };
        let pages = dashboard(config, store, needs, &mut stopped)?;
        state.settings.dashboard = Some(pages.to_string());
        addresses = Some(Addresses { api, dashboard: pages });
        let of_threads = Workers::new(stores.threads.clone(), &stores.events, held, failures);
        workers = Some(of_threads.clone());
        let for_thread = move |state| of_threads.state_of_next(state);
        stopped.push(api::server(state, for_thread, listener, threads)?);
    }
    if roles.work {
        let ports = deliveries::ports(&stores.deliveries, &keys, &sender);
        start_workers(supervisor, config, &stores, cron, &text_generator, ports, database.direct());
        start_imports(supervisor, config, &stores, (&keys, &text_generator), database)?;
        start_mails(supervisor, config, &stores, &mails, addresses.as_ref().map(|at| &at.dashboard))?;
        if let Some(service) = payment_service {
            start_auto_topup(supervisor, payments::recharger(config, &stores.payments, service));
        }
    }
    start_probes(supervisor, store, addresses.as_ref().map(|at| at.api), jobs_interval)?;
    let servers: Vec<_> = stopped.iter().map(actix_web::dev::Server::handle).collect();
    #[expect(clippy::disallowed_methods, reason = "the process ends with the servers")]
    let mut serving = tokio::spawn(futures_util::future::try_join_all(stopped));
    stop.run_until_cancelled(ready(store, addresses)).await.transpose()?;

    tokio::select! {
        () = stop.cancelled() => {}
        ended = &mut serving => {
            ended.context("the HTTP server ended abnormally")??;
            anyhow::bail!("the HTTP server ended, though nothing asked it to");
        }
    }
    supervisor.stop();
    if roles.http && config.drain_seconds > 0 {
        drain(config.drain_seconds, &draining).await?;
    }
    tracing::info!("stopping: no new work, what is in flight ends");
    let deadline = tokio::time::Instant::now() + SHUTDOWN;
    stop_all(&servers).await;
    serving.await.context("the HTTP server ended abnormally")??;
    // Those whose senders did not wait for the answer.
    if let Some(workers) = workers
        && tokio::time::timeout_at(deadline, workers.drain()).await.is_err()
    {
        tracing::warn!("events were still waiting; nobody was told that they are stored");
    }
    if tokio::time::timeout_at(deadline, supervisor.workers_ended()).await.is_err() {
        tracing::warn!("jobs were still running; they are run again when their leases end");
    }
    store.close();
    Ok(())
}

/// Adds the dashboard to the servers, and gives the address that browsers know it by.
fn dashboard(config: &Config, store: &Arc<Store>, needs: Needs<'_>, servers: &mut Vec<Server>) -> anyhow::Result<Url> {
    let listener = bind(config.dashboard_listen, "BAS_DASHBOARD_LISTEN")?;
    let address = dashboard::public_url(config, listener.local_addr()?)?;
    servers.push(dashboard::server(config, store, needs, listener)?);
    Ok(address)
}

/// Keeps up with how far the standby is.
fn watch_replica(supervisor: &Supervisor, store: Arc<Store>) {
    supervisor.start_service(Task::new("replica_watcher", move || {
        let store = store.clone();
        async move { store.watch_replica().await }
    }));
}

/// Starts what works in the background: each kind on connections of its own, so that none waits for another.
fn start_workers(
    supervisor: &Supervisor,
    config: &Config,
    stores: &Stores,
    cron: Cron,
    text_generator: &InsightTextGenerator,
    ports: Ports,
    direct: Option<&Connect>,
) {
    let retention =
        Retention { track_months: config.track_retention_months, delivery_months: config.delivery_retention_months };
    let (store, deps) = (stores.ai.clone(), ai::deps_on(text_generator, &stores.ai));
    let stopping = supervisor.stopping();
    supervisor.start_worker(Task::new("ai", move || ai::run(store.clone(), deps.clone(), stopping.clone())));

    let (store, deps) = (stores.jobs.clone(), ai::deps_on(text_generator, &stores.jobs));
    let (stopping, at_once) = (supervisor.stopping(), stores.job_connections.min(scheduler::ACCOUNTS_AT_ONCE));
    supervisor.start_worker(Task::new("scheduler", move || {
        scheduler::run(store.clone(), deps.clone(), at_once, cron.clone(), retention, stopping.clone())
    }));

    let (store, interval, stopping) = (stores.alerts.clone(), config.alerts_interval_seconds, supervisor.stopping());
    let at_once = stores.alert_connections;
    supervisor
        .start_worker(Task::new("alerts", move || alerts::run(store.clone(), interval, at_once, stopping.clone())));

    let (direct, of_deliveries) = (direct.cloned(), supervisor.clone());
    supervisor.start_worker(Task::new("deliveries", move || {
        deliveries::run(ports.clone(), direct.clone(), of_deliveries.clone())
    }));
}

/// Answers on for a number of seconds, or until it is told to stop again, while `/ready` keeps new requests away.
async fn drain(seconds: u64, draining: &AtomicBool) -> anyhow::Result<()> {
    tracing::info!(seconds, "about to stop: not ready any more, still answering");
    draining.store(true, Ordering::Relaxed);
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs(seconds)) => Ok(()),
        stopped = stop_signal() => stopped,
    }
}

fn start_auto_topup(supervisor: &Supervisor, recharger: Recharger) {
    let stopping = supervisor.stopping();
    supervisor.start_worker(Task::new("auto_topup", move || recharger.clone().run(stopping.clone().cancelled_owned())));
}

/// Starts what brings data in, and what takes it out.
fn start_imports(
    supervisor: &Supervisor,
    config: &Config,
    stores: &Stores,
    (keys, text_generator): (&Arc<KeyRing>, &InsightTextGenerator),
    database: &Database,
) -> anyhow::Result<()> {
    let ports = shops::ports(shops::connectors(config)?, &stores.shops, keys.clone());
    start_shops(supervisor, config, stores, ports.clone(), database)?;
    start_social(supervisor, config, stores, (ports, text_generator))?;
    start_exports(supervisor, stores, database);
    start_uploads(supervisor, config, stores, text_generator, database)
}

/// Starts what writes the files that accounts are exported to, and what erases them.
fn start_exports(supervisor: &Supervisor, stores: &Stores, database: &Database) {
    let Some(session) = database.direct() else {
        tracing::warn!("accounts are neither exported nor erased: that needs a session, set BAS_DATABASE_DIRECT_URL");
        return;
    };
    let erasure = ErasureWorker {
        erasures: stores.shops.clone(),
        eraser: Arc::new(RowEraser::new(session.clone())),
        clock: Arc::new(OffsetDateTime::now_utc),
    };
    let stopping = supervisor.stopping();
    supervisor.start_worker(Task::new("erasures", move || erasure.clone().run(stopping.clone().cancelled_owned())));
    let worker = ExportWorker {
        exports: stores.shops.clone(),
        reader: Arc::new(RowReader::new(session.clone())),
        clock: Arc::new(OffsetDateTime::now_utc),
    };
    let stopping = supervisor.stopping();
    supervisor.start_worker(Task::new("exports", move || worker.clone().run(stopping.clone().cancelled_owned())));
}

/// Starts what reads connected shops.
fn start_shops(
    supervisor: &Supervisor,
    config: &Config,
    stores: &Stores,
    ports: app::shops::Ports,
    database: &Database,
) -> anyhow::Result<()> {
    let Some(session) = database.direct() else {
        if !ports.connectors.is_empty() {
            tracing::warn!("connected shops are not read: imports need a session, set BAS_DATABASE_DIRECT_URL");
        }
        return Ok(());
    };
    let syncer = shops::syncer(config, ports, &stores.shops, session)?;
    let hook_worker = shops::hook_worker(syncer.clone(), &stores.shops);
    let stopping = supervisor.stopping();
    supervisor.start_worker(Task::new("shop_sync", move || syncer.clone().run(stopping.clone().cancelled_owned())));
    let stopping = supervisor.stopping();
    supervisor
        .start_worker(Task::new("shop_hooks", move || hook_worker.clone().run(stopping.clone().cancelled_owned())));
    Ok(())
}

/// Starts what reads comments and questions and answers them, where there is an app to do so.
fn start_social(
    supervisor: &Supervisor,
    config: &Config,
    stores: &Stores,
    (ports, text_generator): (app::shops::Ports, &InsightTextGenerator),
) -> anyhow::Result<()> {
    let Some(worker) = social::worker(config, &stores.shops, text_generator, ports)? else { return Ok(()) };
    let stopping = supervisor.stopping();
    supervisor.start_worker(Task::new("social", move || worker.clone().run(stopping.clone().cancelled_owned())));
    Ok(())
}

/// Starts what sends mails, where there is a way to.
fn start_mails(
    supervisor: &Supervisor,
    config: &Config,
    stores: &Stores,
    mails: &Mails,
    dashboard: Option<&Url>,
) -> anyhow::Result<()> {
    if let Some(postman) = mails::postman(config, &stores.shops, mails, dashboard)? {
        let stopping = supervisor.stopping();
        supervisor.start_worker(Task::new("mails", move || postman.clone().run(stopping.clone().cancelled_owned())));
    }
    Ok(())
}

/// Starts what imports the files that people bring in.
fn start_uploads(
    supervisor: &Supervisor,
    config: &Config,
    stores: &Stores,
    text_generator: &InsightTextGenerator,
    database: &Database,
) -> anyhow::Result<()> {
    let Some(session) = database.direct() else {
        tracing::warn!("files are not imported: imports need a session, set BAS_DATABASE_DIRECT_URL");
        return Ok(());
    };
    let store = Arc::new(stores.control.with_own_pool(&database.connect, database.pool(uploads::CONNECTIONS))?);
    let worker = uploads::worker(config, &store, session, ai::deps_on(text_generator, &store));
    let stopping = supervisor.stopping();
    supervisor.start_worker(Task::new("uploads", move || worker.clone().run(stopping.clone().cancelled_owned())));
    Ok(())
}

/// Looks at the service every minute, in a name that no other process has.
fn start_probes(
    supervisor: &Supervisor,
    store: &Arc<Store>,
    listener: Option<SocketAddr>,
    jobs_interval: Duration,
) -> anyhow::Result<()> {
    let eyes = Eyes::new(store.clone(), listener, jobs_interval)?;
    let source = Uuid::now_v7().simple().to_string();
    let prober = Arc::new(Prober::new(source, Arc::new(eyes), store.clone(), store.clone()));
    let stopping = supervisor.stopping();
    supervisor.start_worker(Task::new("probes", move || probes::run(prober.clone(), stopping.clone())));
    Ok(())
}

/// Lets keys be held in memory, if there is a way to hear of revocations.
fn listen_for_revocations(supervisor: &Supervisor, held: &KeyCache, direct: Option<&Connect>) {
    let Some(direct) = direct.cloned() else {
        tracing::debug!("every key is looked up: BAS_DATABASE_DIRECT_URL would let them be held in memory");
        return;
    };
    let held = held.clone();
    supervisor.start_service(Task::new("revocation_listener", move || {
        let (held, direct) = (held.clone(), direct.clone());
        async move { held.listen(&direct).await }
    }));
}

/// Writes down when keys were last used, beside the requests.
fn write_key_uses(supervisor: &Supervisor, held: &KeyCache) {
    let (held, stopping) = (held.clone(), supervisor.stopping());
    supervisor.start_worker(Task::new("key_uses", move || {
        let (held, stopping) = (held.clone(), stopping.clone());
        async move {
            let mut is_last = false;
            while !is_last {
                is_last = stopping.run_until_cancelled(tokio::time::sleep(KEY_USES_EVERY)).await.is_none();
                if let Err(error) = held.write_uses().await {
                    app::outage::warn(&error, "the last uses of keys are not written yet");
                }
            }
        }
    }));
}

fn bind(address: SocketAddr, variable: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .with_context(|| format!("cannot listen on {address}: is it in use? Choose another address with {variable}"))
}

/// HTTP threads: one a core, unless a number is configured.
fn http_workers(asked_for: usize) -> usize {
    match asked_for {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// The way to what replicas share, if there is such a place.
async fn shared(config: &Config, supervisor: &Supervisor) -> anyhow::Result<Option<Arc<Link>>> {
    let Some(url) = config.redis_url() else { return Ok(None) };
    let link = Link::connect(url).await.map_err(|error| Misconfigured(error.to_string()))?;
    let kept = link.clone();
    supervisor.start_service(Task::new("redis_link", move || {
        let link = kept.clone();
        async move { link.keep().await }
    }));
    Ok(Some(link))
}

/// The store, with a standby for its reads if there is one.
fn store(
    config: &Config,
    database: &Database,
    options: PoolOptions,
    shared: Option<&Arc<Link>>,
) -> anyhow::Result<Store> {
    let store = Store::connect(&database.connect, options)?;
    let Some(standby) = database.standby() else { return Ok(store) };
    let positions = shared.map(|link| Arc::new(SharedPositions::new(link.clone())) as Arc<dyn Positions>);
    let options = PoolOptions { max_connections: config.database_pool, generic_plans: true, ..PoolOptions::default() };
    store.with_replica(standby, options, positions)
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
    (keys, text_generator, payment_service): (&KeyCache, InsightTextGenerator, Option<app::payments::PaymentService>),
    deliveries: Ports,
    shared: Option<&Arc<Link>>,
) -> anyhow::Result<State> {
    let settings = Settings {
        rate_limit_per_minute: config.rate_limit_per_minute,
        event_kib_per_minute: (config.track_kib_per_minute > 0).then_some(config.track_kib_per_minute),
        trusted_proxies: config.trusted_proxies()?,
        webhook_allow_loopback: config.webhook_allow_loopback.parse().context("webhook_allow_loopback")?,
        region: config.region.clone(),
        env: config.env.clone(),
        commit: env!("BUILD_COMMIT").to_owned(),
        shutdown_timeout: SHUTDOWN,
        connections: connections::allowed()?,
        ..Settings::default()
    };
    let parts = Parts {
        keys: Arc::new(keys.clone()),
        status: Arc::new(StatusPages::new(store.clone(), store.clone())),
        prices: Arc::new(payments::prices(config)?),
        payment_service,
        connectors: shops::connectors(config)?,
        redirect_uri: config.integration_redirect_url.clone(),
        vote_price: ai::shown_vote_price(config)?,
        text_generator,
        events: store.clone(),
        social_app: social::app(config)?,
        social_networks: social::profile_networks(config)?,
        geolocator: Arc::new(geolocator(config)?),
        sealer: deliveries.sealer.clone(),
        deliveries,
        limiter: limiter(shared),
        clock: OffsetDateTime::now_utc,
        settings,
    };
    Ok(State::of(store, parts))
}

/// What says where an address is.
pub fn geolocator(config: &Config) -> anyhow::Result<GeoIp> {
    let files = config.geoip_database.split(',').map(str::trim).filter(|file| !file.is_empty()).map(Path::new);
    GeoIp::open(files).context("geoip_database")
}

/// Has servers end what is in flight, all at once: while one still does, the others take no new requests.
async fn stop_all(servers: &[ServerHandle]) {
    futures_util::future::join_all(servers.iter().map(|server| server.stop(true))).await;
}

/// Waits for SIGTERM or an interrupt, of those that come from this call on.
pub(crate) fn stop_signal() -> impl Future<Output = anyhow::Result<()>> {
    let (terminate, interrupt) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async move {
        let (mut terminate, mut interrupt) = (terminate?, interrupt?);
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }
}

/// A token that the first signal to stop cancels. From this call on no signal ends the process by itself: one that comes during
/// the start ends that in order, and is not ignored where this is the first process of a container.
pub(crate) fn stop_token(runtime: &Runtime) -> CancellationToken {
    let (_entered, stop) = (runtime.enter(), CancellationToken::new());
    let (told, signal) = (stop.clone(), stop_signal());
    runtime.spawn(async move {
        match signal.await {
            Ok(()) => told.cancel(),
            Err(error) => tracing::error!(error = format!("{error:#}"), "signals to stop are not heard"),
        }
    });
    stop
}

#[cfg(test)]
mod tests;
