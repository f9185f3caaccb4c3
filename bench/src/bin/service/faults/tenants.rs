//! What other tenants notice of one that does its worst within its rate limit: the p99 of a page, how soon their
//! deliveries leave, and the memory of the process that serves them all.

use std::{
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::Context;
use async_trait::async_trait;
use bench::{
    dataset::{Account, Dataset, Size},
    from_memory::FromMemory,
    load::Load,
    paced::{Paced, Requests},
    process,
    report::{Row, Target},
    rounds::{Contender, in_turns},
    service::{Service, free_address},
};
use domain::{
    AccountId,
    accounts::Mode,
    events::{CreditsLow, Outbox},
    keys::ApiKey,
};
use ring::digest::{SHA256, digest};
use serde_json::json;
use store::{Connect, PoolOptions, Store};
use time::OffsetDateTime;
use tokio::{
    process::{Child, Command},
    time::interval,
};
use tokio_postgres::Client;

use super::{BOUND, CLIENTS, ELSEWHERE, Running, STEADY, attack::Attack, row_of_p99};
use crate::{
    Bench,
    contenders::Steady,
    deliveries::{Receiver, until},
    imports, reads,
};

pub const ROW: &str = "faults tenant";
const DATABASE: &str = "tenants";
/// Accounts that behave, enough of them that each stays within the limit of its key; the tenant is the one with the most customers.
const SIZE: Size = Size { accounts: 400, customers: 100, largest: 200_000 };
/// Requests of a key in a minute: the limit that a service has by default.
const LIMIT: &str = "60";
/// Lines of the file that an operator imports for the tenant, over and over.
const LINES: u32 = 100_000;
/// Events of an account that behaves, each of which is a delivery: one in this time.
const EVENT_EVERY: Duration = Duration::from_millis(100);
/// More than there are in all.
const EVENTS: usize = 100_000;
/// How late a delivery may leave, ms.
const LEAVES_WITHIN: f64 = 1_000.0;
/// The most memory of the process, MB.
const MEMORY: f64 = 300.0;
/// How long stragglers are waited for.
const STRAGGLERS: Duration = Duration::from_secs(30);

pub async fn measure(bench: &Bench) -> anyhow::Result<Row> {
    let world = World::new(bench).await?;
    let keys: Vec<String> = world.data.keys().into_iter().map(str::to_owned).collect();
    let (service, idle) = (&world.service, FromMemory::start(b"{}".to_vec())?);
    let pid = service.pid()?;
    let requests = Requests::get("/api/v1/customers", keys);
    let paced = Paced { requests, connections: CLIENTS, seconds: bench.seconds * 2, rate: STEADY };
    let steady = |name| Steady {
        name,
        paced: paced.clone(),
        highest: None,
        base_url: service.base_url.clone(),
        processes: vec![pid, bench.postgres.pid()],
    };
    let under = |name, target: &str, imports| Under {
        steady: steady(name),
        world: &world,
        target: target.to_owned(),
        imports,
        done: 0,
        waits: Vec::new(),
    };
    let mut alone = steady("without");
    // Every key is held before anything is measured.
    alone.run().await?;
    process::forget_peak(pid)?;
    let mut with = under("with", &service.base_url, true);
    let mut elsewhere = under(ELSEWHERE, &idle.base_url, false);
    let measured = in_turns(bench.rounds, &[], &mut [&mut with, &mut alone, &mut elsewhere]).await?;
    let peak = process::memory(pid)?.peak;
    let latest = with.waits.iter().copied().fold(f64::NAN, f64::max);
    let (count, done) = (with.waits.len(), with.done);
    let command = service.command.clone();
    idle.stop().await;
    world.service.stop().await?;
    let what = "another tenant does its worst within its rate limit: tests, replays, resends, large logs, hanging receivers, \
        CSV, 304s, batches, imports, insights";
    let note = format!(
        "{done} answers to it; {count} deliveries of another account, at most {latest:.0} ms after their events"
    );
    Ok(row_of_p99(ROW, what, &command, &measured, BOUND)
        .target(Target::at_most("ms to leave", latest, LEAVES_WITHIN))
        .target(Target::at_most("MB", peak, MEMORY))
        .note(&note))
}

/// The accounts, the service, and the receiver of the account that behaves.
struct World {
    data: Dataset,
    service: Service,
    receiver: Receiver,
    store: Store,
    /// Keys of the tenant's live and sandbox accounts.
    tenant_keys: String,
    /// Where the tenant's webhooks go.
    tenant_receiver: String,
    database_url: String,
    api: PathBuf,
    file: PathBuf,
}

impl World {
    async fn new(bench: &Bench) -> anyhow::Result<Self> {
        bench.postgres.create_database(DATABASE).await?;
        let client = bench.postgres.client(DATABASE).await?;
        let data = Dataset::load(&client, SIZE).await?;
        // Their secrets are not sealed by a key of the service.
        client.batch_execute("DELETE FROM webhook_subscriptions").await?;
        let sandbox = sandbox(&client, &data.largest).await?;
        let receiver = Receiver::start(EVENTS).await?;
        let tenant_receiver = free_address()?;
        let database_url = bench.postgres.url(DATABASE);
        let service = start(bench, &database_url, &format!("{},{tenant_receiver}", receiver.address)).await?;
        let behaves = data.accounts.first().context("no account")?;
        let body = json!({ "url": format!("http://{}/answering", receiver.address), "events": ["credits.low"] });
        let request = reqwest::Client::new().post(format!("{}/api/v1/webhooks", service.base_url));
        request.bearer_auth(&behaves.key).json(&body).send().await?.error_for_status()?;
        let options = PoolOptions { max_connections: 4, ..PoolOptions::default() };
        Ok(Self {
            tenant_keys: format!("{},{sandbox}", data.largest.key),
            store: Store::connect(&Connect::parse(&database_url)?, options)?,
            file: imports::file_of(&bench.postgres, LINES)?,
            api: bench.api.clone(),
            data,
            service,
            receiver,
            tenant_receiver,
            database_url,
        })
    }

    /// Writes events of the account that behaves while `work` goes on; gives how long each took to its receiver, ms.
    async fn deliver_meanwhile<T>(
        &self,
        first: usize,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<(T, Vec<f64>)> {
        let account = AccountId(self.data.accounts.first().context("no account")?.id);
        let (mut pace, mut began) = (interval(EVENT_EVERY), Vec::new());
        let mut work = std::pin::pin!(work);
        let done = loop {
            tokio::select! {
                done = &mut work => break done?,
                _ = pace.tick() => {
                    began.push(Instant::now());
                    let balance = i64::try_from(first + began.len() - 1)?;
                    let event = CreditsLow { balance, threshold: 100, last_feature: "bench".to_owned(), crossed: false };
                    self.store.emit(account, &[event.into()], OffsetDateTime::now_utc()).await?;
                }
            }
        };
        let last = first + began.len();
        until(|| (first..last).all(|number| self.receiver.arrival(number).is_some()), STRAGGLERS).await?;
        let waits = began.iter().zip(first..).filter_map(|(began, number)| {
            let arrived = self.receiver.arrival(number)?;
            Some(arrived.saturating_duration_since(*began).as_secs_f64() * 1_000.0)
        });
        Ok((done, waits.collect()))
    }

    /// An import for the tenant, by the command line, that goes on until it is dropped.
    fn import(&self) -> anyhow::Result<Child> {
        let account = self.data.largest.id;
        let script = format!(
            "while :; do {} import orders {} --account {account}; done",
            self.api.display(),
            self.file.display()
        );
        let command = &mut Command::new("setsid");
        command.args(["nice", "-n", "19", "sh", "-c", &script]).env("DATABASE_URL", &self.database_url);
        Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn()?)
    }
}

/// Everything in one process, as small shops run it, without the nightly run in the middle of a turn.
async fn start(bench: &Bench, database_url: &str, receivers: &str) -> anyhow::Result<Service> {
    let pool = (reads::POOL * 2).to_string();
    let settings = [
        ("BAS_DATABASE_POOL", pool.as_str()),
        ("BAS_RATE_LIMIT_PER_MINUTE", LIMIT),
        ("BAS_WEBHOOK_ALLOW_LOOPBACK", receivers),
        ("BAS_JOBS_CRON", "0 0 1 1 *"),
    ];
    Service::start(&bench.api, &["up", "--no-demo"], database_url, &settings).await
}

/// A sandbox account of the tenant's user, and its key.
async fn sandbox(client: &Client, live: &Account) -> anyhow::Result<String> {
    let account = "INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at)
        SELECT user_id, 'test', name, plan, currency, timezone, created_at FROM accounts WHERE id = $1 RETURNING id";
    let id: i64 = client.query_one(account, &[&live.id]).await?.get(0);
    let seed = (0u8..4).flat_map(|block| digest(&SHA256, &[block]).as_ref().to_vec());
    let key = ApiKey::generate(Mode::Test, seed).expose().to_owned();
    let insert = "INSERT INTO api_keys (hash, account_id, name, prefix, scopes, created_at)
        VALUES ($1, $2, 'bench', 'svc_test_xxx', '{read,write}', now())";
    client.execute(insert, &[&digest(&SHA256, key.as_bytes()).as_ref(), &id]).await?;
    Ok(key)
}

/// Accounts that behave, and the tenant that does not.
struct Under<'a> {
    steady: Steady<'a>,
    world: &'a World,
    /// The server that the tenant misbehaves towards.
    target: String,
    /// Whether files are imported for it as well.
    imports: bool,
    /// Answers that it got.
    done: u64,
    /// How long each delivery took from its event to its receiver, ms.
    waits: Vec<f64>,
}

#[async_trait]
impl Contender for Under<'_> {
    fn name(&self) -> String {
        self.steady.name()
    }

    fn command(&self) -> String {
        self.steady.command()
    }

    fn processes(&self) -> Vec<u32> {
        self.steady.processes()
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        let World { tenant_keys, tenant_receiver, .. } = self.world;
        let attack = Running::start(Attack::Tenant, &self.target, tenant_keys, Some(tenant_receiver)).await?;
        let import = self.imports.then(|| self.world.import()).transpose()?;
        let (load, waits) = self.world.deliver_meanwhile(self.world.receiver.count(), self.steady.run()).await?;
        if let Some(mut import) = import {
            end_group(&import).await?;
            import.wait().await?;
        }
        self.waits.extend(waits);
        self.done += attack.stop().await?.answers;
        Ok(load)
    }
}

/// Ends a process and its children: it leads a group of its own.
pub async fn end_group(child: &Child) -> anyhow::Result<()> {
    let group = child.id().context("the import has ended")?;
    Command::new("kill").args(["-TERM", "--", &format!("-{group}")]).status().await?;
    Ok(())
}
