//! What connections cost on which nothing happens: each is looked at every ten minutes. They are Shopify's, whose turns
//! take the most calls.

use std::{
    net::TcpListener,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use actix_web::{App, HttpResponse, HttpServer, web};
use bench::{
    dataset::{Dataset, Size},
    machine::Watch,
    process,
    report::{Row, Target},
    service::{DATA_KEYS, Service},
};
use delivery::seal::KeyRing;
use domain::{
    AccountId,
    accounts::Platform,
    integrations::BuyerData,
    sealing::Sealer,
    shops::{
        connections::{ConnectionStore, Description, NewConnection},
        tokens::{SealedTokens, access_binding},
    },
};
use serde_json::{Value, json};
use store::{Connect, PoolOptions, Store};
use time::OffsetDateTime;

use crate::Bench;

pub const ROW: &str = "shops idle";
const DATABASE: &str = "idle";
const CONNECTIONS: i64 = 1_000;
/// Processor time of the service in this time, a tenth of what passes between two looks at a connection.
const SECONDS: u64 = 60;
/// Percent of a processor.
const BOUND: f64 = 1.0;
const SCOPES: [&str; 7] = [
    "read_orders",
    "read_all_orders",
    "read_products",
    "read_inventory",
    "read_locations",
    "read_customers",
    "read_returns",
];

/// Whether figures are still to be computed.
const UNDER_WAY: &str =
    "SELECT EXISTS (SELECT FROM job_requests) OR EXISTS (SELECT FROM job_runs WHERE state = 'running')";
const SETTLED_WITHIN: Duration = Duration::from_secs(300);
/// Looks in a row that find nothing under way: jobs follow each other, and the first ones begin after a while.
const QUIET_LOOKS: u32 = 10;

static CALLS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

pub async fn measure(bench: &Bench) -> anyhow::Result<Row> {
    let base_url = quiet_platform()?;
    bench.postgres.create_database(DATABASE).await?;
    let sql = bench.postgres.client(DATABASE).await?;
    let count = if bench.quick { CONNECTIONS / 10 } else { CONNECTIONS };
    let data = Dataset::load(&sql, Size { accounts: count, customers: 1, largest: 0 }).await?;
    let url = bench.postgres.url(DATABASE);
    let store = Store::connect(&Connect::parse(&url)?, PoolOptions { max_connections: 4, ..PoolOptions::default() })?;
    let keys = KeyRing::parse(DATA_KEYS)?;
    for account in &data.accounts {
        connect(&store, &keys, AccountId(account.id)).await?;
    }
    // As they are a while later: all of them read, and due over the ten minutes.
    sql.batch_execute(
        "INSERT INTO sync_streams (account_id, integration_id, stream, cursor_at)
            SELECT account_id, id, stream, CASE stream WHEN 'back_fill' THEN now() - interval '3 years' ELSE now() END
            FROM integrations, unnest(ARRAY['changes', 'back_fill', 'catalogue', 'reread']) AS stream;
        UPDATE integrations SET last_sync_at = now();
        UPDATE sync_streams SET cursor_at = now() - interval '10 minutes' WHERE stream = 'changes';
        UPDATE integration_syncs SET due_at = now() + account_id * interval '600 seconds'
            / (SELECT count(*) FROM integration_syncs)",
    )
    .await?;
    sql.batch_execute("VACUUM ANALYZE").await?;
    let settings = [
        ("BAS_SHOPIFY_CLIENT_ID", "1234"),
        ("BAS_SHOPIFY_CLIENT_SECRET", "dev-secret"),
        ("BAS_SHOPIFY_BASE_URL", base_url.as_str()),
        ("BAS_JOBS_CRON", "0 0 1 1 *"),
    ];
    let worker = Service::start(&bench.api, &["work"], &url, &settings).await?;
    // The first figures of the accounts are no part of it.
    let (begun, mut quiet) = (Instant::now(), 0);
    while quiet < QUIET_LOOKS {
        anyhow::ensure!(begun.elapsed() < SETTLED_WITHIN, "the jobs do not come to an end");
        let is_under_way: bool = sql.query_one(UNDER_WAY, &[]).await?.get(0);
        quiet = if is_under_way { 0 } else { quiet + 1 };
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let (pid, before) = (worker.pid()?, CALLS.load(Ordering::Relaxed));
    let (watch, cpu) = (Watch::begin(&[pid, bench.postgres.pid()]), process::cpu_seconds(&[pid]));
    let postgres = process::cpu_seconds(&[bench.postgres.pid()]);
    let seconds = if bench.quick { 10 } else { SECONDS };
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let percent = |used: f64| used / seconds as f64 * 100.0;
    let share = percent(process::cpu_seconds(&[pid]) - cpu);
    let of_postgres = percent(process::cpu_seconds(&[bench.postgres.pid()]) - postgres);
    let calls = CALLS.load(Ordering::Relaxed) - before;
    anyhow::ensure!(calls * 200 >= seconds * u64::try_from(count)?, "only {calls} calls of the platform");
    let what = format!("{count} connections that nothing happens on, in `api work`");
    let note = format!("{calls} calls of the platform in {seconds} s; Postgres {of_postgres:.1} % of a processor");
    let mut row =
        Row::new(ROW, &what, share, "% of a processor").target(Target::at_most("%", share, BOUND)).note(&note);
    row.disturbed = watch.disturbed();
    row.command.clone_from(&worker.command);
    worker.stop().await?;
    Ok(row)
}

async fn connect(store: &Store, keys: &KeyRing, account: AccountId) -> anyhow::Result<()> {
    let (provider, shop) = (Platform::Shopify, format!("shop-{}.myshopify.com", account.0));
    let id = store.reserve(account, provider, &shop).await?;
    let description = Description {
        scopes: SCOPES.map(str::to_owned).to_vec(),
        missing_scopes: Vec::new(),
        history_from: None,
        buyer_data: BuyerData::Full,
    };
    let tokens = SealedTokens {
        access: keys.seal(access_binding(account, id), b"token")?,
        access_expires_at: None,
        refresh: None,
        refresh_expires_at: None,
    };
    let connection =
        NewConnection { id, provider, shop_id: shop.clone(), shop, description, tokens, key: None, note: None };
    store.connect(account, connection, OffsetDateTime::now_utc()).await?;
    Ok(())
}

/// A Shopify whose shops are all quiet.
fn quiet_platform() -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let base_url = format!("http://{}", listener.local_addr()?);
    let server =
        HttpServer::new(|| App::new().route("/{shop}/admin/api/{version}/graphql.json", web::post().to(answer)));
    tokio::spawn(server.workers(1).disable_signals().listen(listener)?.run());
    Ok(base_url)
}

async fn answer(path: web::Path<(String, String)>, asked: web::Json<Value>) -> HttpResponse {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let (shop, _) = path.into_inner();
    let query = asked.get("query").and_then(Value::as_str).unwrap_or_default();
    let data = if query.contains("currentAppInstallation") {
        json!({
            "shop": {
                "myshopifyDomain": shop, "currencyCode": "USD", "ianaTimezone": "Etc/UTC",
                "shopAddress": { "countryCodeV2": "US" },
            },
            "currentAppInstallation": { "accessScopes": SCOPES.map(|handle| json!({ "handle": handle })) },
        })
    } else {
        json!({ "orders": { "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [] } })
    };
    HttpResponse::Ok().json(json!({ "data": data }))
}
