//! `api up`, `api serve` and `api work`.

use std::{io::IsTerminal, net::SocketAddr, sync::Arc};

use domain::{AccountId, accounts::Account, keys::Scope};
use store::{Connect, Store};
use tokio_util::sync::CancellationToken;
use url::Url;

#[cfg(not(feature = "dev"))]
use super::without_dev::{self as demo, LocalGateway, LocalShops};
use super::{Misconfigured, keys};
#[cfg(feature = "dev")]
use super::{
    demo,
    dev::{LocalGateway, LocalShops},
};
use crate::{
    config::Config,
    dashboard,
    database::Database,
    files, secrets,
    services::{self, Addresses, Roles},
};

/// Holds the demo shop's key, so that a second start can show it again.
const DEMO_KEY_FILE: &str = "demo_key";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  api up\n  api up --no-demo --data-dir /var/lib/business-analytics\n  DATABASE_URL=postgres://… BAS_DATA_KEYS=key-…:… api up --no-demo"
)]
pub struct UpArgs {
    /// Do not load the demo shop
    #[arg(long)]
    pub no_demo: bool,
    /// Sell credits through a gateway that takes no money and that any process on this machine can pay with [default: only
    /// with the demo shop on an embedded Postgres, and no BAS_PAYMENT_GATEWAY_URL]
    #[arg(long)]
    pub dev_gateway: bool,
}

/// Everything in one process; the database's schema is brought up to date first.
pub async fn up(args: UpArgs, config: &Config, database: &Database, stop: &CancellationToken) -> anyhow::Result<()> {
    let embedded = database.is_embedded();
    let keys = Arc::new(secrets::key_ring(config, embedded)?);
    let with_demo = cfg!(feature = "dev") && !args.no_demo;
    let has_gateway = !config.payment_gateway_url.is_empty();
    let use_dev_gateway = uses_dev_gateway(args.dev_gateway, with_demo && embedded, has_gateway)?;
    let prepared = async {
        store::migrate(database.session().await?).await?;
        secrets::verify_once(database, &keys).await
    };
    // A migration that this leaves is run again by the next start.
    let Some(prepared) = stop.run_until_cancelled(prepared).await else { return Ok(()) };
    prepared?;
    let roles = Roles { http: true, work: true };
    let local = use_dev_gateway.then(|| LocalGateway::start(config)).transpose()?;
    let config = local.as_ref().map_or(config, LocalGateway::config);
    let shops = (with_demo && embedded && has_no_app(config)).then(|| LocalShops::start(config)).transpose()?;
    let config = shops.as_ref().map_or(config, LocalShops::config);
    services::run(config, database, keys, roles, stop, async |store, addresses| {
        let address = addresses.as_ref().map(|at| at.api);
        if let (Some(local), Some(address)) = (&local, address) {
            local.notify(format!("http://{address}/hooks/payments/rebill"));
        }
        let shop = if with_demo { Some(demo_shop(config, store, database.session().await?).await?) } else { None };
        if let Some(addresses) = &addresses {
            let shop = match &shop {
                Some((account, key)) => {
                    Some((key.as_str(), dashboard::link(store, account, &addresses.dashboard).await?))
                }
                None => None,
            };
            announce(addresses, shop, embedded);
        }
        let gateway = local.as_ref().map(LocalGateway::address);
        announce_gateway(gateway);
        if let (Some(shops), Some(_)) = (&shops, &addresses) {
            announce_shops(shops.addresses());
        }
        let shown = |address: Option<SocketAddr>| address.map(tracing::field::display);
        tracing::info!(address = shown(address), gateway = shown(gateway), "ready");
        Ok(())
    })
    .await
}

/// Whether credits are sold for no money: when asked for by name, or with the demo shop on a database of this process's own,
/// where there is no real shop. No other setting decides it.
fn uses_dev_gateway(by_name: bool, in_own_demo: bool, has_gateway: bool) -> Result<bool, Misconfigured> {
    match (by_name, has_gateway) {
        (true, true) => Err(Misconfigured(
            "--dev-gateway and BAS_PAYMENT_GATEWAY_URL are two gateways: leave one of them out".to_owned(),
        )),
        (by_name, false) => Ok(by_name || in_own_demo),
        (false, true) => Ok(false),
    }
}

/// Whether no real platform is configured: then there is room for stand-ins.
fn has_no_app(config: &Config) -> bool {
    let ids = [
        &config.shopify_client_id,
        &config.tiendanube_client_id,
        &config.mercadolibre_client_id,
        &config.meta_client_id,
        &config.google_ads_client_id,
        &config.meta_app_id,
    ];
    ids.iter().all(|id| id.is_empty()) && config.meta_app_secret.is_none()
}

fn announce_shops(addresses: &[(&str, SocketAddr)]) {
    println!("\nShops and profiles connect to stand-ins of their platforms (docs/integrations.md shows how):");
    for (platform, address) in addresses {
        println!("  {platform:<13}  http://{address}");
    }
}

fn announce_gateway(address: Option<SocketAddr>) {
    if let Some(address) = address {
        println!("\nPayments go to a gateway that takes no money: http://{address} says how to pay with it.");
    }
}

/// One part alone.
pub async fn part(roles: Roles, config: &Config, database: &Database, stop: &CancellationToken) -> anyhow::Result<()> {
    let keys = Arc::new(secrets::key_ring(config, database.is_embedded())?);
    let verified = stop.run_until_cancelled(secrets::verify_once(database, &keys)).await;
    let Some(verified) = verified else { return Ok(()) };
    let is_verified = match verified {
        Ok(()) => true,
        Err(error) if error.is::<Misconfigured>() => return Err(error),
        // This process starts nevertheless: its `/ready` says that it is not ready.
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "database and data keys could not be checked yet");
            false
        }
    };
    let running = services::run(config, database, keys.clone(), roles, stop, async |_, addresses| {
        tracing::info!(address = addresses.map(|at| at.api).map(tracing::field::display), "ready");
        Ok(())
    });
    tokio::select! {
        ended = running => ended,
        refused = secrets::insist(database, &keys), if !is_verified => refused.map(|never| match never {}),
    }
}

/// Loads the demo shop once and gives a key to it: the one of an earlier start while its file is there.
async fn demo_shop(config: &Config, store: &Store, connect: &Connect) -> anyhow::Result<(Account, String)> {
    let shop = demo::load_once(store, connect, std::io::stderr().is_terminal()).await?;
    let account = shop.id;
    let file = config.data_dir.join(DEMO_KEY_FILE);
    if let Ok(key) = std::fs::read_to_string(&file)
        && opens(store, key.trim(), account).await?
    {
        return Ok((shop, key.trim().to_owned()));
    }
    let scopes = vec![Scope::Read, Scope::Write];
    let (key, _) = keys::create(store, account, None, scopes, None, "demo".to_owned()).await?;
    files::write_private(&file, &format!("{}\n", key.expose()))?;
    Ok((shop, key.expose().to_owned()))
}

async fn opens(store: &Store, key: &str, account: AccountId) -> anyhow::Result<bool> {
    use domain::keys::{ApiKey, KeyStore};
    let Ok(key) = key.parse::<ApiKey>() else { return Ok(false) };
    let record = KeyStore::find(store, key.hash()).await?;
    Ok(record.is_some_and(|record| record.account_id == account && record.revoked_at.is_none()))
}

fn announce(addresses: &Addresses, shop: Option<(&str, Url)>, embedded: bool) {
    let address = addresses.api;
    let database = if embedded { "an embedded Postgres" } else { "the configured Postgres" };
    println!("\nBusiness Analytics Service, on {database}\n");
    println!("  API            http://{address}/api/v1");
    println!("  Documentation  http://{address}/docs");
    match &shop {
        Some((_, link)) => println!("  Dashboard      {link}   (opens the demo shop, once)\n"),
        None => println!("  Dashboard      {}\n", addresses.dashboard),
    }
    println!("  curl http://{address}/api/v1/status");
    if let Some((key, _)) = shop {
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
        // (by name, demo shop on a database of its own, another gateway) and whether it runs; None is refused.
        let cases = [
            ((false, true, false), Some(true)),
            ((false, false, false), Some(false)),
            ((true, false, false), Some(true)),
            ((false, true, true), Some(false)),
            ((true, true, true), None),
        ];
        for ((by_name, in_own_demo, other), expected) in cases {
            let runs = uses_dev_gateway(by_name, in_own_demo, other).ok();
            assert_eq!(runs, expected, "{:?}", (by_name, in_own_demo, other));
        }
    }
}
