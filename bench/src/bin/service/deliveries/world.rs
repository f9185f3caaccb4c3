//! A database of its own with accounts, a subscription each, and the worker that delivers to them.

use std::sync::Arc;

use anyhow::Context;
use bench::{
    cluster::Postgres,
    service::{DATA_KEYS, Service},
};
use delivery::seal::KeyRing;
use domain::{
    AccountId, SubscriptionId,
    events::{CreditsLow, Event, Outbox},
    sealing::Sealer,
    webhooks::{secret_binding, signature::Secret},
};
use store::{Connect, PoolOptions, Store};
use time::OffsetDateTime;
use tokio_postgres::Client;

use super::receiver::Receiver;
use crate::Bench;

/// Events of a backlog written in one transaction.
const BATCH: usize = 500;

/// Accounts that events can be written for.
#[derive(Clone)]
pub struct World {
    store: Store,
    sql: Arc<Client>,
    accounts: Vec<AccountId>,
    database: String,
    receiver: String,
}

impl World {
    /// `subscriptions` accounts with one subscription each to the receiver; the first one to a path that is never
    /// answered, if one is to hang.
    pub async fn new(
        postgres: &Postgres,
        name: &str,
        subscriptions: usize,
        receiver: &Receiver,
        one_hangs: bool,
    ) -> anyhow::Result<Self> {
        let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        postgres.client("postgres").await?.batch_execute(&drop).await?;
        postgres.create_database(name).await?;
        let database = postgres.url(name);
        let options = PoolOptions { max_connections: 24, ..PoolOptions::default() };
        let store = Store::connect(&Connect::parse(&database)?, options)?;
        let sql = Arc::new(postgres.client(name).await?);
        let keys = KeyRing::parse(DATA_KEYS)?;
        let mut accounts = Vec::new();
        for number in 0..subscriptions {
            let path = if one_hangs && number == 0 { "hanging" } else { "answering" };
            let url = format!("http://{}/{path}", receiver.address);
            accounts.push(subscribe(&sql, &keys, i64::try_from(number)? + 1, &url).await?);
        }
        Ok(Self { store, sql, accounts, database, receiver: receiver.address.to_string() })
    }

    /// Writes an event as a change of an account does, in a transaction of its own. Accounts take turns.
    pub async fn emit(&self, number: usize) -> anyhow::Result<()> {
        let account = self.accounts.get(number % self.accounts.len()).context("no accounts")?;
        Ok(self.store.emit(*account, &[event(number)?], OffsetDateTime::now_utc()).await?)
    }

    /// Writes events that are all due before a worker starts.
    pub async fn emit_backlog(&self, count: usize) -> anyhow::Result<()> {
        let numbers: Vec<usize> = (0..count).collect();
        for (batch, account) in numbers.chunks(BATCH).zip(self.accounts.iter().cycle()) {
            let events = batch.iter().map(|number| event(*number)).collect::<anyhow::Result<Vec<Event>>>()?;
            self.store.emit(*account, &events, OffsetDateTime::now_utc()).await?;
        }
        self.sql.batch_execute("VACUUM ANALYZE").await?;
        self.sql.batch_execute("CHECKPOINT").await?;
        Ok(())
    }

    /// Starts `api work` on the database.
    pub async fn worker(&self, bench: &Bench) -> anyhow::Result<Service> {
        let environment = [("BAS_WEBHOOK_ALLOW_LOOPBACK", self.receiver.as_str())];
        Service::start(&bench.api, &["work"], &self.database, &environment).await
    }

    /// Deliveries that are recorded as done.
    pub async fn delivered(&self) -> anyhow::Result<usize> {
        let row = self.sql.query_one("SELECT count(*) FROM deliveries WHERE state = 'delivered'", &[]).await?;
        Ok(usize::try_from(row.get::<_, i64>(0))?)
    }
}

fn event(number: usize) -> anyhow::Result<Event> {
    Ok(CreditsLow { balance: i64::try_from(number)?, threshold: 100, last_feature: "bench".to_owned(), crossed: false }
        .into())
}

async fn subscribe(sql: &Client, keys: &KeyRing, id: i64, url: &str) -> anyhow::Result<AccountId> {
    let user = format!("user_{id:024}");
    sql.execute("INSERT INTO users (id, created_at) VALUES ($1, now())", &[&user]).await?;
    let account = "INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at)
        VALUES ($1, 'live', 'bench', 'free', 'USD', 'UTC', now()) RETURNING id";
    let account = AccountId(sql.query_one(account, &[&user]).await?.get(0));
    let binding = secret_binding(account, SubscriptionId(id));
    let sealed = keys.seal(binding, Secret::generate([7; 32]).expose().as_bytes())?;
    let subscription = "INSERT INTO webhook_subscriptions (account_id, id, url, events, sealed_secret, created_at)
        OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, '{*}', $4, now())";
    sql.execute(subscription, &[&account.0, &id, &url, &sealed]).await?;
    Ok(account)
}
