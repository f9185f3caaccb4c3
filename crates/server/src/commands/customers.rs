//! `api customers`: what a buyer may ask of a shop about their data.

use anyhow::Context;
use clap::{Args, Subcommand};
use domain::{
    AccountId,
    accounts::{AccountStore, Platform},
    audit::{Action, Actor, Entry},
    shops::privacy::{PrivacyStore, Redacted},
};
use store::Store;
use time::OffsetDateTime;

#[derive(Debug, Subcommand)]
pub enum CustomersCommand {
    /// Prints, as JSON, what is kept of a customer
    #[command(after_help = "Example:\n  api customers show 17850 --account 1 --source shopify > answer.json")]
    Show(CustomerArgs),
    /// Forgets a customer: name, e-mail and city are gone, orders keep their money without a buyer, and no import brings them back
    #[command(after_help = "Example:\n  api customers forget 17850 --account 1 --source shopify")]
    Forget(CustomerArgs),
}

#[derive(Debug, Args)]
pub struct CustomerArgs {
    /// The customer's number on the platform or in the imported file, or the e-mail address where a file has no numbers
    customer: String,
    /// The account
    #[arg(long, value_name = "ID")]
    account: i64,
    /// The platform that the orders are of: shopify, tiendanube or mercadolibre
    #[arg(long, value_parser = Platform::shop)]
    source: Platform,
}

pub async fn run(command: CustomersCommand, store: &Store) -> anyhow::Result<()> {
    match command {
        CustomersCommand::Show(args) => show(&args, store).await,
        CustomersCommand::Forget(args) => forget(&args, store).await,
    }
}

async fn show(args: &CustomerArgs, store: &Store) -> anyhow::Result<()> {
    let CustomerArgs { customer, account, source } = args;
    let data = PrivacyStore::data_of(store, AccountId(*account), *source, customer).await?;
    let data = data.with_context(|| format!("account {account} has no such customer of {source}"))?;
    println!("{}", serde_json::to_string_pretty(&data)?);
    Ok(())
}

async fn forget(args: &CustomerArgs, store: &Store) -> anyhow::Result<()> {
    let CustomerArgs { customer, account, source } = args;
    let found = AccountStore::find(store, AccountId(*account)).await?;
    let account = found.with_context(|| format!("there is no account {account}"))?;
    let note = Entry::new(account.user_id, Actor::Operator, Action::CustomerForgotten, None);
    let now = OffsetDateTime::now_utc();
    let Redacted { customers, orders } = store.forget(account.id, *source, customer, note, now).await?;
    match customers {
        0 => println!("There is no such customer; no import will bring one."),
        _ => println!("Forgotten. Orders that lost their buyer: {orders}."),
    }
    Ok(())
}
