//! `api accounts`.

use clap::Subcommand;
use domain::{
    UserId,
    accounts::{Account, AccountStore, NewUser, Plan},
    money::Currency,
    zone::Zone,
};
use serde_json::{Value, json};
use store::Store;
use time::OffsetDateTime;

use crate::{output::rfc3339, random};

/// Characters of an account's name.
const MAX_NAME_CHARS: usize = 200;

#[derive(Debug, Subcommand)]
pub enum AccountsCommand {
    /// Creates a user with a live and a sandbox account
    #[command(
        after_help = "Example:\n  api accounts create --name 'My shop' --currency BRL --timezone America/Sao_Paulo"
    )]
    Create {
        /// Name of the shop
        #[arg(long)]
        name: String,
        /// ISO 4217 code, such as EUR
        #[arg(long, default_value = "USD")]
        currency: Currency,
        /// IANA time zone, such as Europe/London: it decides which day a sale belongs to
        #[arg(long, default_value = "UTC")]
        timezone: Zone,
        /// free, starter, pro or scale
        #[arg(long, default_value = "free")]
        plan: Plan,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Lists all accounts
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(command: AccountsCommand, store: &Store) -> anyhow::Result<()> {
    let (accounts, json) = match command {
        AccountsCommand::Create { name, currency, timezone, plan, json } => {
            domain::text::check(&name, MAX_NAME_CHARS).map_err(|error| anyhow::anyhow!("--name: {error}"))?;
            (create(store, name, currency, timezone, plan).await?, json)
        }
        AccountsCommand::List { json } => (store.list().await?, json),
    };
    if json {
        println!("{}", serde_json::to_string_pretty(&accounts.iter().map(to_json).collect::<Vec<_>>())?);
        return Ok(());
    }
    println!("{:>8}  {:<4}  {:<29}  {:<8}  {:<24}  NAME", "ACCOUNT", "MODE", "USER", "CURRENCY", "TIME ZONE");
    for account in accounts {
        println!(
            "{:>8}  {:<4}  {:<29}  {:<8}  {:<24}  {}",
            account.id,
            account.mode.as_str(),
            account.user_id.as_str(),
            account.currency.as_str(),
            account.timezone.name(),
            account.name
        );
    }
    Ok(())
}

/// Creates a user with both accounts; live comes first.
pub async fn create(
    store: &Store,
    name: String,
    currency: Currency,
    timezone: Zone,
    plan: Plan,
) -> anyhow::Result<Vec<Account>> {
    let user = NewUser {
        id: UserId::generate(random::bytes()),
        name,
        currency,
        timezone,
        plan,
        now: OffsetDateTime::now_utc(),
    };
    Ok(store.create(user).await?)
}

fn to_json(account: &Account) -> Value {
    let Account { id, user_id, mode, name, plan, currency, timezone, created_at } = account;
    json!({
        "id": id,
        "user_id": user_id,
        "mode": mode,
        "name": name,
        "plan": plan,
        "currency": currency.as_str(),
        "timezone": timezone.name(),
        "created_at": rfc3339(*created_at),
    })
}
