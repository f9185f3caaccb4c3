//! `api up`, `api serve` and `api work`.

use std::{
    io::IsTerminal,
    net::{SocketAddr, TcpListener},
};

use anyhow::Context;
use domain::{AccountId, keys::Scope};
use secrecy::SecretString;
use store::{Connect, Store};

use crate::{
    commands::{Misconfigured, demo, keys},
    config::Config,
    database::Database,
    dev::gateway::{Gateway, GatewayConfig},
    files, payments, random, secrets,
    services::{self, Roles},
};

/// Holds the demo shop's key, so that a second start can show it again.
const DEMO_KEY_FILE: &str = "demo_key";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  api up\n  api up --no-demo --data-dir /var/lib/business-analytics\n  DATABASE_URL=postgres://… DATA_KEYS=key-…:… api up --no-demo"
)]
pub struct UpArgs {
    /// Do not load the demo shop
    #[arg(long)]
    pub no_demo: bool,
    /// Sell credits through a gateway that takes no money and that everybody on this machine can pay with [default: only
    /// with the demo shop on an embedded Postgres, and no PAYMENT_GATEWAY_URL]
    #[arg(long)]
    pub dev_gateway: bool,
}

/// Everything in one process; the database's schema is brought up to date first.
pub async fn up(args: UpArgs, config: &Config, database: &Database) -> anyhow::Result<()> {
    let embedded = database.is_embedded();
    let keys = secrets::key_ring(config, embedded)?;
    let use_dev_gateway = uses_dev_gateway(&args, embedded, !config.payment_gateway_url.is_empty())?;
    store::migrate(database.session()?).await?;
    secrets::verify_once(database, &keys).await?;
    let roles = Roles { http: true, work: true };
    let local = use_dev_gateway.then(|| LocalGateway::start(config)).transpose()?;
    let config = local.as_ref().map_or(config, |local| &local.config);
    services::run(config, database, keys, roles, async |store, address| {
        if let (Some(local), Some(address)) = (&local, address) {
            local.gateway.notify(format!("http://{address}/hooks/payments/rebill"));
        }
        let key = if args.no_demo { None } else { Some(demo_key(config, store, database.session()?).await?) };
        announce(address, key.as_deref(), embedded);
        announce_gateway(local.as_ref());
        let gateway = local.as_ref().map(|local| local.address);
        let shown = |address: Option<SocketAddr>| address.map(tracing::field::display);
        tracing::info!(address = shown(address), gateway = shown(gateway), "ready");
        Ok(())
    })
    .await
}

/// Whether credits are sold for no money: when asked for by name, or with the demo shop on a database of this process's own,
/// where nobody's business is. No other setting has a say in it.
fn uses_dev_gateway(args: &UpArgs, embedded: bool, has_gateway: bool) -> Result<bool, Misconfigured> {
    match (args.dev_gateway, has_gateway) {
        (true, true) => Err(Misconfigured(
            "--dev-gateway and PAYMENT_GATEWAY_URL are two gateways: leave one of them out".to_owned(),
        )),
        (asked, false) => Ok(asked || (embedded && !args.no_demo)),
        (false, true) => Ok(false),
    }
}

/// A gateway that takes no money, in this process, and the configuration that leads to it.
struct LocalGateway {
    gateway: Gateway,
    address: SocketAddr,
    config: Config,
}

impl LocalGateway {
    fn start(config: &Config) -> anyhow::Result<Self> {
        let (key, secret) = (SecretString::from(random_name()), SecretString::from(random_name()));
        let gateway = Gateway::new(GatewayConfig {
            api_key: key.clone(),
            webhook_secret: secret.clone(),
            prices: payments::prices(config)?,
        })?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("the gateway for development")?;
        let address = listener.local_addr()?;
        #[expect(clippy::disallowed_methods, reason = "a gateway for development")]
        tokio::spawn(gateway.server(listener)?);
        let config = Config {
            payment_gateway_url: format!("http://{address}"),
            payment_gateway_key: Some(key),
            payment_webhook_secret: Some(secret),
            ..config.clone()
        };
        Ok(Self { gateway, address, config })
    }
}

fn random_name() -> String {
    random::bytes().take(24).map(|byte| format!("{byte:02x}")).collect()
}

fn announce_gateway(local: Option<&LocalGateway>) {
    if let Some(LocalGateway { address, .. }) = local {
        println!("\nPayments go to a gateway that takes no money: http://{address} says how to pay with it.");
    }
}

/// One part alone.
pub async fn part(roles: Roles, config: &Config, database: &Database) -> anyhow::Result<()> {
    let keys = secrets::key_ring(config, database.is_embedded())?;
    let is_verified = match secrets::verify_once(database, &keys).await {
        Ok(()) => true,
        Err(error) if error.is::<Misconfigured>() => return Err(error),
        // This process starts nevertheless: it says by itself that it is not ready.
        Err(error) => {
            tracing::warn!(%error, "the data keys could not be compared with the database's yet");
            false
        }
    };
    let same_keys = secrets::key_ring(config, false)?;
    let running = services::run(config, database, keys, roles, async |_, address| {
        tracing::info!(address = address.map(tracing::field::display), "ready");
        Ok(())
    });
    tokio::select! {
        ended = running => ended,
        refused = secrets::insist(database, &same_keys), if !is_verified => refused.map(|never| match never {}),
    }
}

/// Loads the demo shop once and gives a key to it: the one of an earlier start when that is still at hand.
async fn demo_key(config: &Config, store: &Store, connect: &Connect) -> anyhow::Result<String> {
    let account = demo::load_once(store, connect, std::io::stderr().is_terminal()).await?;
    let file = config.data_dir.join(DEMO_KEY_FILE);
    if let Ok(key) = std::fs::read_to_string(&file)
        && opens(store, key.trim(), account).await?
    {
        return Ok(key.trim().to_owned());
    }
    let scopes = vec![Scope::Read, Scope::Write];
    let (key, _) = keys::create(store, account, None, scopes, None, "demo".to_owned()).await?;
    files::write_private(&file, &format!("{}\n", key.expose()))?;
    Ok(key.expose().to_owned())
}

async fn opens(store: &Store, key: &str, account: AccountId) -> anyhow::Result<bool> {
    use domain::keys::{ApiKey, KeyStore};
    let Ok(key) = key.parse::<ApiKey>() else { return Ok(false) };
    let record = KeyStore::find(store, key.hash()).await?;
    Ok(record.is_some_and(|record| record.account_id == account && record.revoked_at.is_none()))
}

fn announce(address: Option<SocketAddr>, key: Option<&str>, embedded: bool) {
    let Some(address) = address else { return };
    let database = if embedded { "an embedded Postgres" } else { "the configured Postgres" };
    println!("\nBusiness Analytics Service, on {database}\n");
    println!("  API            http://{address}/api/v1");
    println!("  Documentation  http://{address}/docs\n");
    println!("  curl http://{address}/api/v1/status");
    if let Some(key) = key {
        println!("  curl -H 'Authorization: Bearer {key}' 'http://{address}/api/v1/profit?days=7'");
        println!("  curl -H 'Authorization: Bearer {key}' http://{address}/api/v1/anomalies");
        println!("\n  The key opens a generated demo shop: {key}");
    }
    println!("\nCtrl-C stops everything.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_are_given_for_no_money_only_in_the_demo_or_by_name() {
        let args = |no_demo, dev_gateway| UpArgs { no_demo, dev_gateway };
        // (no demo, by name, embedded database, another gateway) and whether it runs; None is refused.
        let cases = [
            ((false, false, true, false), Some(true)),
            ((true, false, true, false), Some(false)),
            ((false, false, false, false), Some(false)),
            ((true, false, false, false), Some(false)),
            ((true, true, false, false), Some(true)),
            ((false, false, true, true), Some(false)),
            ((false, true, true, true), None),
        ];
        for ((no_demo, by_name, embedded, other), expected) in cases {
            let runs = uses_dev_gateway(&args(no_demo, by_name), embedded, other).ok();
            assert_eq!(runs, expected, "{:?}", (no_demo, by_name, embedded, other));
        }
    }
}
