//! `api integrations`.

mod connect;
mod privacy;

use std::sync::Arc;

use anyhow::Context;
use app::shops::connect::Asked;
use clap::{Args, Subcommand};
use domain::{
    AccountId, IntegrationId,
    accounts::Platform,
    integrations::{Integration, IntegrationStore},
    page::PageRequest,
    shops::sync::{SyncRun, SyncRunStore},
};
use serde_json::{Value, json};
use store::Store;
use time::OffsetDateTime;

use super::find_account;
use crate::{
    config::Config,
    output::{rfc3339, rfc3339_or_dash},
    secrets, shops,
};

#[derive(Debug, Subcommand)]
pub enum IntegrationsCommand {
    /// Connects a shop: prints where its owner grants access, and takes the answer on this machine
    #[command(
        after_help = "The platform sends the owner back to BAS_INTEGRATION_REDIRECT_URL, which this command serves while it waits.\n\nExample:\n  api integrations connect shopify --account 1 --shop example.myshopify.com"
    )]
    Connect {
        /// shopify, tiendanube, mercadolibre, meta or google_ads
        #[arg(value_name = "PROVIDER")]
        provider: Platform,
        #[arg(long, value_name = "ID")]
        account: i64,
        /// The shop's host name, which Shopify has to know, or the ad account on Meta or Google, where there are several
        #[arg(long, value_name = "HOST")]
        shop: Option<String>,
    },
    /// Shows the connections of an account
    List {
        #[arg(long, value_name = "ID")]
        account: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Asks for a shop to be read now
    Sync(One),
    /// Gives the access back to the platform and forgets it; what was imported stays
    Disconnect(One),
    /// Shows what was read of a shop, newest first
    Runs {
        #[command(flatten)]
        one: One,
        /// How many
        #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(i64).range(1..=1_000))]
        limit: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows the privacy requests of all accounts that are due, answers one, or notes that it was answered
    #[command(
        after_help = "Examples:\n  api integrations privacy\n  api integrations privacy --show 3 > answer.json\n  api integrations privacy --answered 3"
    )]
    Privacy(privacy::PrivacyArgs),
}

/// A connection.
#[derive(Debug, Args)]
pub struct One {
    #[arg(value_name = "ID")]
    id: i64,
    #[arg(long, value_name = "ID")]
    account: i64,
}

impl One {
    const fn ids(&self) -> (AccountId, IntegrationId) {
        (AccountId(self.account), IntegrationId(self.id))
    }
}

pub async fn run(
    command: IntegrationsCommand,
    store: &Arc<Store>,
    config: &Config,
    is_embedded: bool,
) -> anyhow::Result<()> {
    let service = async || -> anyhow::Result<_> {
        let keys = Arc::new(secrets::key_ring(config, is_embedded)?);
        secrets::verify(store, &keys).await?;
        Ok(shops::connect_service(config, shops::ports(shops::connectors(config)?, store, keys)))
    };
    match command {
        IntegrationsCommand::Connect { provider, account, shop } => {
            connect::connect(&service().await?, store, AccountId(account), provider, shop.as_deref()).await
        }
        IntegrationsCommand::List { account, json } => list(store, account, json).await,
        IntegrationsCommand::Sync(one) => {
            let (account, id) = one.ids();
            match service().await?.sync(account, id, None, None).await?.value {
                Asked::Due => println!("It is read as soon as a process that works has a place free."),
                Asked::Ended => anyhow::bail!("connection {id} has ended"),
                Asked::Demo => anyhow::bail!("connection {id} is one of the demo shop: no platform is behind it"),
                Asked::Unknown => return Err(unknown(account, id)),
            }
            Ok(())
        }
        IntegrationsCommand::Disconnect(one) => {
            let (account, id) = one.ids();
            anyhow::ensure!(service().await?.disconnect(account, id, None).await?, unknown(account, id));
            println!("Disconnected. What was imported stays.");
            Ok(())
        }
        IntegrationsCommand::Runs { one, limit, json } => runs(store, &one, limit, json).await,
        IntegrationsCommand::Privacy(args) => privacy::run(args, store).await,
    }
}

fn unknown(account: AccountId, id: IntegrationId) -> anyhow::Error {
    anyhow::anyhow!("account {account} has no connection {id}")
}

async fn list(store: &Store, account: i64, json: bool) -> anyhow::Result<()> {
    let account = find_account(store, account).await?.id;
    let now = OffsetDateTime::now_utc();
    let page = PageRequest { limit: 1_000, cursor: None };
    let (found, _) = IntegrationStore::page(store, account, page, now).await?;
    if json {
        let all: Vec<_> = found.items.iter().map(|integration| to_json(integration, now)).collect();
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{:>8}  {:<12}  {:<12}  {:<20}  {:<20}  SHOP", "ID", "PROVIDER", "STATUS", "LAST SYNC", "READ BACK TO");
    for integration in &found.items {
        println!(
            "{:>8}  {:<12}  {:<12}  {:<20}  {:<20}  {}",
            integration.id,
            integration.provider.as_str(),
            integration.status(now).as_str(),
            rfc3339_or_dash(integration.last_sync_at),
            rfc3339_or_dash(integration.backfilled_from),
            integration.shop
        );
        if let Some(error) = &integration.last_error {
            println!("{:>8}  {} since {}: {}", "", error.code, rfc3339(error.at), error.message);
        }
    }
    Ok(())
}

fn to_json(integration: &Integration, now: OffsetDateTime) -> Value {
    json!({
        "id": integration.id,
        "provider": integration.provider,
        "shop": integration.shop,
        "status": integration.status(now),
        "connected_at": rfc3339(integration.connected_at),
        "revoked_at": integration.revoked_at.map(rfc3339),
        "revoke_reason": integration.revoke_reason,
        "last_sync_at": integration.last_sync_at.map(rfc3339),
        "backfilled_from": integration.backfilled_from.map(rfc3339),
        "history_from": integration.history_from.map(rfc3339),
        "missing_scopes": integration.missing_scopes,
        "suspended": integration.suspended,
        "owner_of": integration.owner_of,
        "last_error": integration.last_error.as_ref().map(|error| json!({
            "code": error.code, "message": error.message, "at": rfc3339(error.at)
        })),
    })
}

async fn runs(store: &Store, one: &One, limit: i64, json: bool) -> anyhow::Result<()> {
    let (account, id) = one.ids();
    let found = SyncRunStore::page(store, account, id, PageRequest { limit, cursor: None }).await?;
    let found = found.with_context(|| format!("account {account} has no connection {id}"))?;
    if json {
        let all: Vec<_> = found.items.iter().map(run_to_json).collect();
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!(
        "{:<20}  {:<9}  {:<6}  {:>9}  {:>9}  {:>7}  WINDOW",
        "FINISHED", "STREAM", "STATE", "READ", "STORED", "REFUSED"
    );
    for run in &found.items {
        let window = run
            .window
            .map_or_else(|| "-".to_owned(), |window| format!("{} to {}", rfc3339(window.from), rfc3339(window.until)));
        let (finished, counts) = (rfc3339(run.finished_at), &run.counts);
        println!(
            "{finished:<20}  {:<9}  {:<6}  {:>9}  {:>9}  {:>7}  {window}",
            run.stream.as_str(),
            run.state.as_str(),
            counts.read,
            counts.stored,
            counts.refused
        );
        if let Some(error) = &run.error {
            println!("    {}: {}", error.code, error.message);
        }
        for refusal in &run.refusals {
            println!("    {} {}: {}", refusal.kind, refusal.external_id, refusal.reason);
        }
    }
    Ok(())
}

fn run_to_json(run: &SyncRun) -> Value {
    json!({
        "id": run.id,
        "stream": run.stream,
        "window": run.window.map(|window| json!({ "from": rfc3339(window.from), "until": rfc3339(window.until) })),
        "state": run.state,
        "read": run.counts.read,
        "stored": run.counts.stored,
        "refused": run.counts.refused,
        "voided": run.counts.voided,
        "calls": run.counts.calls,
        "waited_ms": run.counts.waited_ms,
        "refusals": run.refusals,
        "error": run.error.as_ref().map(|error| json!({ "code": error.code, "message": error.message })),
        "started_at": rfc3339(run.started_at),
        "finished_at": rfc3339(run.finished_at),
    })
}
