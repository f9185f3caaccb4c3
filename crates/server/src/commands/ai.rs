//! `api ai`.

use anyhow::bail;
use clap::Subcommand;
use domain::{
    AccountId,
    ai::{AccessChange, AccessStatus, Actor, AiAccess, DEFAULT_LIMITS, Limits},
    events::ActorKind,
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use store::Store;
use time::OffsetDateTime;

use crate::output::rfc3339;

/// Characters of a reason.
pub const MAX_REASON_CHARS: usize = 200;

#[derive(Debug, Subcommand)]
pub enum AiCommand {
    /// Shows access, limits and this month's cost
    Status {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Pauses AI features: debits are refused with payment_required
    #[command(after_help = "Example:\n  api ai pause 1 --reason 'disputed invoice'")]
    Pause {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
        /// Why, for the audit and the event ai.paused
        #[arg(long)]
        reason: String,
        /// Who does it
        #[arg(long, default_value = "admin")]
        by: String,
    },
    /// Resumes AI features
    Resume {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
        /// Why, for the audit
        #[arg(long)]
        reason: Option<String>,
        /// Who does it
        #[arg(long, default_value = "admin")]
        by: String,
    },
    /// Sets from which monthly cost in US dollars an account is warned and paused; what is left out stays
    #[command(
        after_help = "Examples:\n  api ai limits 1 --warning 40 --critical 100\n  api ai limits 1 --auto-pause false\n  api ai limits 1 --default"
    )]
    Limits {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
        #[arg(long, value_name = "USD")]
        warning: Option<Decimal>,
        #[arg(long, value_name = "USD")]
        critical: Option<Decimal>,
        /// Whether access is paused at the critical cost
        #[arg(long, value_name = "BOOL")]
        auto_pause: Option<bool>,
        /// Back to 20 and 50 dollars with the pause
        #[arg(long, conflicts_with_all = ["warning", "critical", "auto_pause"])]
        default: bool,
        /// Who does it
        #[arg(long, default_value = "admin")]
        by: String,
    },
}

pub async fn run(command: AiCommand, store: &Store) -> anyhow::Result<()> {
    let now = OffsetDateTime::now_utc();
    match command {
        AiCommand::Status { account, json } => print(account, &status(store, account, now).await?, json),
        AiCommand::Pause { account, reason, by } => {
            let change = store.pause(AccountId(account), &admin(&by)?, &text("--reason", &reason)?, now).await?;
            tell(account, change, "AI features are paused.", "AI features are paused already.")
        }
        AiCommand::Resume { account, reason, by } => {
            let reason = reason.map(|reason| text("--reason", &reason)).transpose()?;
            let change = store.resume(AccountId(account), &admin(&by)?, reason, now).await?;
            tell(account, change, "AI features are available again.", "AI features are not paused.")
        }
        AiCommand::Limits { account, warning, critical, auto_pause, default, by } => {
            let limits = if default {
                None
            } else {
                let known = status(store, account, now).await?.limits;
                Some(Limits::new(
                    warning.unwrap_or(known.warning_usd),
                    critical.unwrap_or(known.critical_usd),
                    auto_pause.unwrap_or(known.auto_pause),
                )?)
            };
            let change = store.set_limits(AccountId(account), limits, &admin(&by)?, now).await?;
            let Limits { warning_usd, critical_usd, auto_pause } = limits.unwrap_or(DEFAULT_LIMITS);
            let made = format!("Warned at {warning_usd} USD, critical at {critical_usd} USD, auto-pause {auto_pause}.");
            tell(account, change, &made, "The account has the default limits already.")
        }
    }
}

/// An administrator by that name.
pub fn admin(name: &str) -> anyhow::Result<Actor> {
    Ok(Actor { name: text("--by", name)?, kind: ActorKind::Admin })
}

/// A short text for the audit.
pub fn text(name: &str, text: &str) -> anyhow::Result<String> {
    let text = text.trim();
    anyhow::ensure!(!text.is_empty(), "{name}: it must not be empty");
    domain::text::check(text, MAX_REASON_CHARS).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
    anyhow::ensure!(!text.chars().any(char::is_control), "{name}: it must not hold control characters");
    Ok(text.to_owned())
}

async fn status(store: &Store, account: i64, now: OffsetDateTime) -> anyhow::Result<AccessStatus> {
    let found = AiAccess::status(store, AccountId(account), now).await?;
    found.ok_or_else(|| unknown(account))
}

fn unknown(account: i64) -> anyhow::Error {
    anyhow::anyhow!("there is no account {account}; `api accounts list` shows which there are")
}

fn tell(account: i64, change: AccessChange, made: &str, already: &str) -> anyhow::Result<()> {
    match change {
        AccessChange::Made => println!("{made}"),
        AccessChange::AlreadySo => println!("{already}"),
        AccessChange::UnknownAccount => bail!(unknown(account)),
    }
    Ok(())
}

/// A status as JSON, for the command line and the admin listener.
pub fn to_json(account: i64, status: &AccessStatus) -> Value {
    let AccessStatus { pause, limits, month, cost } = status;
    json!({
        "account_id": account,
        "access": if pause.is_some() { "paused" } else { "active" },
        "pause": pause.as_ref().map(|pause| json!({
            "at": rfc3339(pause.at), "reason": pause.reason, "by": pause.by, "by_kind": pause.by_kind,
        })),
        "month": month.to_string(),
        "cost_usd": cost.cost_usd.to_string(),
        "tokens": cost.tokens,
        "requests": cost.requests,
        "warning_usd": limits.warning_usd.to_string(),
        "critical_usd": limits.critical_usd.to_string(),
        "auto_pause": limits.auto_pause,
    })
}

fn print(account: i64, status: &AccessStatus, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(&to_json(account, status))?);
        return Ok(());
    }
    let AccessStatus { pause, limits, month, cost } = status;
    match pause {
        None => println!("Access     active"),
        Some(pause) => {
            println!(
                "Access     paused on {} by {} ({}): {}",
                rfc3339(pause.at),
                pause.by,
                pause.by_kind,
                pause.reason
            );
        }
    }
    println!("Cost       {} USD in {month} ({} tokens, {} requests)", cost.cost_usd, cost.tokens, cost.requests);
    let pauses = if limits.auto_pause { "and pauses" } else { "without a pause" };
    println!("Limits     warns at {} USD, critical at {} USD {pauses}", limits.warning_usd, limits.critical_usd);
    Ok(())
}
