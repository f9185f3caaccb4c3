//! A fake platform with a shop, and an account that connects to it as its owner does.

use std::time::{Duration, Instant};

use anyhow::Context;
use bench::{
    dataset::{Account, Dataset, Size},
    service::{Service, free_address},
};
use clap::Parser;
use devtools::{DevCommand, Settings};
use domain::{accounts::Platform, payments::PriceList};
use reqwest::redirect;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::Bench;

/// Where owners are sent back to; nobody listens there, as the query is taken from the redirect.
const REDIRECT: &str = "http://127.0.0.1:9/connected";
pub const SECRET: &str = "dev-secret";
/// Host name of the shop on Shopify.
pub const SHOP: &str = "example.myshopify.com";
/// Days that the orders of a shop are spread over: as far back as Mercado Libre's search goes.
const DAYS: &str = "360";
/// How long a history may take.
const PATIENCE: Duration = Duration::from_secs(900);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The arguments of `api dev`.
#[derive(Parser)]
struct Dev {
    #[command(subcommand)]
    command: DevCommand,
}

/// A fake platform in this process; it ends with it.
pub struct Stub {
    platform: Platform,
    /// By which the service finds it.
    settings: Vec<(&'static str, String)>,
    client: reqwest::Client,
}

impl Stub {
    /// # Errors
    /// When it cannot be started.
    pub async fn start(platform: Platform, orders: u32) -> anyhow::Result<Self> {
        let (address, orders) = (free_address()?, orders.to_string());
        let base_url = format!("http://{address}");
        let common = ["dev", platform.as_str(), "--at", &address, "--unlimited", "--orders", &orders, "--days", DAYS];
        let (more, settings): (&[&str], Vec<_>) = match platform {
            Platform::Shopify => (
                &["--shop", SHOP, "--client-id", "1234", "--client-secret", SECRET],
                vec![
                    ("BAS_SHOPIFY_CLIENT_ID", "1234".to_owned()),
                    ("BAS_SHOPIFY_CLIENT_SECRET", SECRET.to_owned()),
                    ("BAS_SHOPIFY_BASE_URL", base_url),
                ],
            ),
            Platform::Tiendanube => (
                &["--redirect-uri", REDIRECT, "--client-id", "1234", "--client-secret", SECRET],
                vec![
                    ("BAS_TIENDANUBE_CLIENT_ID", "1234".to_owned()),
                    ("BAS_TIENDANUBE_CLIENT_SECRET", SECRET.to_owned()),
                    ("BAS_TIENDANUBE_USER_AGENT", "Example (hello@example.com)".to_owned()),
                    ("BAS_TIENDANUBE_BASE_URL", base_url),
                ],
            ),
            Platform::Mercadolibre => (
                &["--redirect-uri", REDIRECT, "--client-id", "1234", "--client-secret", SECRET],
                vec![
                    ("BAS_MERCADOLIBRE_CLIENT_ID", "1234".to_owned()),
                    ("BAS_MERCADOLIBRE_CLIENT_SECRET", SECRET.to_owned()),
                    ("BAS_MERCADOLIBRE_BASE_URL", base_url),
                    ("BAS_MERCADOLIBRE_CALLS_PER_SECOND", "1000000".to_owned()),
                ],
            ),
            Platform::Meta | Platform::GoogleAds => anyhow::bail!("no orders come from an ad account"),
        };
        let command = Dev::try_parse_from(common.iter().chain(more))?.command;
        let settings_of_stub =
            Settings { gateway_key: None, webhook_secret: None, prices: PriceList::default(), outbox: None };
        tokio::spawn(devtools::run(command, settings_of_stub, std::future::pending()));
        let client = reqwest::Client::builder().redirect(redirect::Policy::none()).build()?;
        let (began, log) = (Instant::now(), format!("http://{address}/_stub/clock"));
        // It makes its orders before it listens.
        while client.get(&log).send().await.is_err() {
            anyhow::ensure!(began.elapsed() < PATIENCE, "the fake platform does not answer");
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(Self { platform, settings, client })
    }

    /// The settings of a service that is to find it, and more.
    pub fn settings<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let own = self.settings.iter().map(|(name, value)| (*name, value.as_str()));
        own.chain([("BAS_INTEGRATION_REDIRECT_URL", REDIRECT)]).chain(more.iter().copied()).collect()
    }

    /// Currency, zone and country of its shop.
    const fn home(&self) -> [&'static str; 3] {
        match self.platform {
            Platform::Shopify | Platform::Meta | Platform::GoogleAds => ["EUR", "Europe/Madrid", "ES"],
            Platform::Tiendanube => ["BRL", "America/Sao_Paulo", "BR"],
            Platform::Mercadolibre => ["ARS", "America/Argentina/Buenos_Aires", "AR"],
        }
    }

    /// Connects the shop; gives the connection's number.
    ///
    /// # Errors
    /// When the service or the platform refuses.
    pub async fn connect(&self, service: &Service, key: &str) -> anyhow::Result<i64> {
        let base = format!("{}/api/v1/integrations/{}", service.base_url, self.platform);
        let shop = (self.platform == Platform::Shopify).then_some(SHOP);
        let begun = self.post(&format!("{base}/authorize"), key, &json!({ "shop": shop })).await?;
        let query = self.agree(begun.get("url").and_then(Value::as_str).context("no url")?).await?;
        let made = self.post(&format!("{base}/complete"), key, &json!({ "query": query })).await?;
        made.get("id").and_then(Value::as_i64).context("no id")
    }

    async fn post(&self, url: &str, key: &str, body: &Value) -> anyhow::Result<Value> {
        let answer = self.client.post(url).bearer_auth(key).json(body).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        anyhow::ensure!(status.is_success(), "{url}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }

    /// The owner agrees; the query that they are sent back with. Some platforms take the visit for consent.
    async fn agree(&self, url: &str) -> anyhow::Result<String> {
        let page = self.client.get(url).send().await?;
        let answer = if page.status().is_redirection() { page } else { self.client.post(url).send().await? };
        let target = answer.headers().get("location").context("the platform sends nobody back")?.to_str()?;
        let (_, query) = target.split_once('?').context("no query")?;
        Ok(query.to_owned())
    }
}

/// A database with an account whose shop is on the platform.
pub struct World {
    pub data: Dataset,
    pub owner: Account,
    pub sql: Client,
    pub url: String,
}

impl World {
    /// # Errors
    /// When the database cannot be made.
    pub async fn new(bench: &Bench, database: &str, stub: &Stub, others: i64) -> anyhow::Result<Self> {
        let drop = format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)");
        bench.postgres.client("postgres").await?.batch_execute(&drop).await?;
        bench.postgres.create_database(database).await?;
        let sql = bench.postgres.client(database).await?;
        // The last account has nothing yet.
        let data = Dataset::load(&sql, Size { accounts: others, customers: 100, largest: 0 }).await?;
        let owner = data.largest.clone();
        let home = "UPDATE accounts SET currency = $2, timezone = $3, country = $4 WHERE id = $1";
        let [currency, zone, country] = stub.home();
        sql.execute(home, &[&owner.id, &currency, &zone, &country]).await?;
        Ok(Self { data, owner, sql, url: bench.postgres.url(database) })
    }

    /// Waits until the whole history is read.
    ///
    /// # Errors
    /// When it takes too long, or a window fails.
    pub async fn wait_for_history(&self) -> anyhow::Result<()> {
        let state = "SELECT min(cursor_at) FILTER (WHERE stream = 'back_fill') < now() - interval '361 days',
            max(error_message) FROM sync_streams WHERE account_id = $1";
        let began = Instant::now();
        loop {
            let row = self.sql.query_one(state, &[&self.owner.id]).await?;
            if let Some(error) = row.try_get::<_, Option<String>>(1)? {
                anyhow::bail!("the shop could not be read: {error}");
            }
            if row.try_get::<_, Option<bool>>(0)? == Some(true) {
                return Ok(());
            }
            anyhow::ensure!(began.elapsed() < PATIENCE, "the history does not end");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Orders that the back-fill has read and refused.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub async fn read(&self) -> anyhow::Result<(i64, i64)> {
        let sums = "SELECT coalesce(sum(read), 0)::bigint, coalesce(sum(refused), 0)::bigint FROM sync_runs
            WHERE account_id = $1 AND stream = 'back_fill'";
        let row = self.sql.query_one(sums, &[&self.owner.id]).await?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    }
}
