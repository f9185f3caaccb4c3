//! The overview of the dashboard: of the demo shop, and of a shop with ten times as much.

use anyhow::Context;
use bench::{
    paced::{Paced, Requests},
    report::{Row, Target},
    rounds::in_turns,
    service::{DATA_KEYS, Service, free_address},
    shops::Shops,
};
use demo::Ports;
use domain::{
    AccountId,
    accounts::{Account, AccountStore},
};
use reqwest::{header, redirect::Policy};
use store::{Connect, Importer, PoolOptions, Store};
use time::OffsetDateTime;
use tokio::process::Command;

use crate::{Bench, contenders::Steady, nightly, reads};

const OVERVIEW: &str = "dashboard overview";
const GROWTH: &str = "dashboard growth";
/// Requests a second, over this many connections.
const RATE: f64 = 50.0;
const CONNECTIONS: usize = 16;
/// What the overview of the demo shop may take, ms.
const P50: f64 = 15.0;
const P99: f64 = 50.0;
/// How much it may cost of ten times the shop, as a multiple.
const BOUND: f64 = 1.15;
const DEMO: &str = "demo";
/// A shop, and its database.
const SHOP: (&str, Shops) =
    ("shop", Shops { accounts: 1, customers: 2_000, products: 100, days: 400, orders_a_day: 20 });
const TENFOLD: (&str, Shops) =
    ("tenfold_shop", Shops { accounts: 1, customers: 20_000, products: 1_000, days: 400, orders_a_day: 200 });

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if bench.wants(OVERVIEW) {
        let row = of_the_demo_shop(bench).await?;
        bench.put(row)?;
    }
    if bench.wants(GROWTH) {
        let row = growth(bench).await?;
        bench.put(row)?;
    }
    Ok(())
}

async fn of_the_demo_shop(bench: &Bench) -> anyhow::Result<Row> {
    bench.postgres.create_database(DEMO).await?;
    let account = load_demo(bench).await?;
    let site = Site::start(bench, DEMO, account).await?;
    let measured = in_turns(bench.rounds, &[], &mut [&mut site.overview(bench, "overview")?]).await?;
    let command = site.service.command.clone();
    site.service.stop().await?;
    let mut row =
        Row::of_rates(OVERVIEW, "the overview of the demo shop, 30 days, compressed", "requests/s", &measured);
    row.command = format!("{command}; {}", row.command);
    let (p50, p99) = (row.p50_ms.unwrap_or(f64::NAN), row.p99_ms.unwrap_or(f64::NAN));
    let failed = measured.first().map_or(1.0, |measured| measured.failed) * 100.0;
    let row = row.target(Target::at_most("p50 ms", p50, P50)).target(Target::at_most("p99 ms", p99, P99));
    Ok(row.target(Target::at_most("% failed", failed, 0.0)))
}

/// The demo shop in an account of its own, with its figures; the account.
async fn load_demo(bench: &Bench) -> anyhow::Result<i64> {
    let arguments = "accounts create --name Demo --currency USD --timezone America/Argentina/Buenos_Aires --json";
    let printed = printed(bench, DEMO, &arguments.split(' ').collect::<Vec<_>>(), &[]).await?;
    let made: serde_json::Value = serde_json::from_str(&printed)?;
    let id = made.pointer("/0/id").and_then(serde_json::Value::as_i64).context("no account was made")?;
    let connect = Connect::parse(&bench.postgres.url(DEMO))?;
    let store = Store::connect(&connect, PoolOptions { max_connections: 4, ..PoolOptions::default() })?;
    let importer = Importer::new(connect).with_nice_ratio(0);
    let ports = Ports { imports: &importer, integrations: &store, events: &store, customers: &store };
    let account: Account = AccountStore::find(&store, AccountId(id)).await?.context("the account is gone")?;
    demo::load(&ports, &account, OffsetDateTime::now_utc(), &|_| {}).await?;
    figures(bench, DEMO, id).await?;
    Ok(id)
}

/// The overview of a shop beside that of one with a tenth of its customers, products and orders.
async fn growth(bench: &Bench) -> anyhow::Result<Row> {
    let mut sites = Vec::new();
    for (database, shops) in [TENFOLD, SHOP] {
        bench.postgres.create_database(database).await?;
        let client = bench.postgres.client(database).await?;
        let shops = if bench.quick { shops.quick() } else { shops };
        shops.found(&client).await?;
        shops.trade(&client, shops.days, 0).await?;
        client.batch_execute("VACUUM ANALYZE").await?;
        figures(bench, database, 1).await?;
        sites.push(Site::start(bench, database, 1).await?);
    }
    let pids = sites.iter().map(|site| site.service.pid()).collect::<anyhow::Result<Vec<_>>>()?;
    let mut contenders = Vec::new();
    for (site, name) in sites.iter().zip(["10 × shop", "1 ×"]) {
        contenders.push(site.overview(bench, name)?);
    }
    let mut turns: Vec<_> = contenders.iter_mut().map(|contender| contender as _).collect();
    let measured = in_turns(bench.rounds, &pids, &mut turns).await?;
    for site in sites {
        site.service.stop().await?;
    }
    let what = "the overview of a shop with ten times the customers, products and orders";
    let row = Row::of_growth(GROWTH, what, 0.0, &measured);
    let multiple = row.ratio("1 ×");
    Ok(row.target(Target::at_most("cost at 10 ×", multiple, BOUND)))
}

/// Has everything computed.
async fn figures(bench: &Bench, database: &str, account: i64) -> anyhow::Result<()> {
    let arguments = ["jobs", "run", "all", "--account", &account.to_string()];
    nightly::measured(&bench.api, &arguments, &bench.postgres, database).await?;
    bench.postgres.client(database).await?.batch_execute("VACUUM ANALYZE").await?;
    Ok(())
}

/// A service, and somebody who is logged in to its dashboard.
struct Site {
    service: Service,
    base_url: String,
    /// `name=value`.
    cookie: String,
}

impl Site {
    async fn start(bench: &Bench, database: &str, account: i64) -> anyhow::Result<Self> {
        let (pool, listen) = (reads::POOL.to_string(), free_address()?);
        let settings = [("BAS_DATABASE_POOL", pool.as_str()), ("BAS_DASHBOARD_LISTEN", listen.as_str())];
        let service = Service::start(&bench.api, &["serve"], &bench.postgres.url(database), &settings).await?;
        let open = ["dashboard", "open", "--account", &account.to_string()];
        let link = printed(bench, database, &open, &[("BAS_DASHBOARD_LISTEN", &listen)]).await?;
        let client = reqwest::Client::builder().redirect(Policy::none()).build()?;
        let entered = client.post(link.trim()).header("sec-fetch-site", "same-origin").send().await?;
        let cookie = entered.headers().get(header::SET_COOKIE).context("the link does not log in")?.to_str()?;
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Ok(Self { service, base_url: format!("http://{listen}"), cookie })
    }

    /// The overview at a steady rate.
    fn overview<'a>(&self, bench: &Bench, name: &'a str) -> anyhow::Result<Steady<'a>> {
        let cookie = self.cookie.clone();
        let requests = Requests::of("GET / of the dashboard", move |_| {
            format!("GET / HTTP/1.1\r\nHost: shop.example\r\nCookie: {cookie}\r\nAccept-Encoding: br\r\n\r\n")
                .into_bytes()
        });
        let paced = Paced { requests, connections: CONNECTIONS, seconds: bench.seconds * 2, rate: RATE };
        let processes = vec![self.service.pid()?, bench.postgres.pid()];
        Ok(Steady { name, paced, highest: None, base_url: self.base_url.clone(), processes })
    }
}

/// What a command of the binary prints.
async fn printed(
    bench: &Bench,
    database: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> anyhow::Result<String> {
    let mut command = Command::new(&bench.api);
    command.args(arguments).env("DATABASE_URL", bench.postgres.url(database)).env("BAS_DATA_KEYS", DATA_KEYS);
    let output = command.envs(environment.iter().copied()).output().await?;
    anyhow::ensure!(
        output.status.success(),
        "api {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}
