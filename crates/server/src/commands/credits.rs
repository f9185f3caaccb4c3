//! `api credits`: shows and changes an account's credits. Each change records who made it and why.

use std::sync::Arc;

use anyhow::Context;
use app::payments::{PaymentOutcome, outcome};
use clap::Subcommand;
use domain::{
    credits::{
        Adjust, CreditAmount, CreditLedger, Credits, Grant, OperationKey, Transaction,
        auto_topup::{AutoTopup, AutoTopupChange, AutoTopupStore, MAX_MONTHLY_CAP, MAX_THRESHOLD},
    },
    payments::PaymentId,
};
use serde_json::{Map, Value, json};
use store::Store;
use time::OffsetDateTime;

use super::find_account;
use crate::{
    config::Config,
    output::{rfc3339, rfc3339_or_dash},
    payments::{payment_service, prices},
};

const MAX_REASON_CHARS: usize = 500;

#[derive(Debug, Subcommand)]
pub enum CreditsCommand {
    /// Shows balance, totals, automatic top-ups and the latest transactions
    Show {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Adds credits without a payment
    #[command(after_help = "Example:\n  api credits grant 7 500 --reason 'Goodwill for the outage'")]
    Grant {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
        /// Whole credits, at least 1
        #[arg(value_name = "CREDITS")]
        amount: CreditAmount,
        #[command(flatten)]
        audit: Audit,
    },
    /// Corrects the balance, upwards or (with a minus) downwards
    #[command(after_help = "Example:\n  api credits adjust 7 -120 --reason 'Charged twice back by hand'")]
    Adjust {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
        /// Whole credits, not 0
        #[arg(value_name = "CREDITS", allow_negative_numbers = true)]
        amount: i64,
        #[command(flatten)]
        audit: Audit,
    },
    /// Sets the automatic top-ups
    #[command(
        after_help = "Examples:\n  api credits auto-topup 7 --on --threshold 100 --amount 500\n  api credits auto-topup 7 --off"
    )]
    AutoTopup {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
        /// Switches them on
        #[arg(long, requires_all = ["threshold", "amount"], conflicts_with = "off", required_unless_present = "off")]
        on: bool,
        /// Switches them off
        #[arg(long)]
        off: bool,
        /// A balance below this causes one
        #[arg(long, value_name = "CREDITS", value_parser = clap::value_parser!(i64).range(1..=MAX_THRESHOLD))]
        threshold: Option<i64>,
        /// The size of a pack that is for sale
        #[arg(long, value_name = "CREDITS")]
        amount: Option<i64>,
        /// Credits a calendar month at most [default: the service's]
        #[arg(long, value_name = "CREDITS", value_parser = clap::value_parser!(i64).range(1..=MAX_MONTHLY_CAP))]
        monthly_cap: Option<i64>,
    },
    /// Looks a payment up at the gateway and writes what it means, as its notification would
    #[command(after_help = "Example:\n  api credits payment pay_1")]
    Payment {
        /// The payment, as the gateway calls it
        #[arg(value_name = "PAYMENT")]
        payment: PaymentId,
    },
    /// Cancels an automatic top-up of unknown outcome for which the gateway has no payment
    NotCharged {
        #[arg(value_name = "ACCOUNT")]
        account: i64,
    },
}

/// Actor and reason of a change, stored with it.
#[derive(Debug, clap::Args)]
pub struct Audit {
    /// Why; kept in the ledger
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Who; kept in the ledger
    #[arg(long, value_name = "NAME", env = "USER", default_value = "operator")]
    by: String,
    /// Makes repetitions harmless: the same key does it once
    #[arg(long, value_name = "KEY")]
    key: Option<OperationKeyArg>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone)]
struct OperationKeyArg(OperationKey);

impl std::str::FromStr for OperationKeyArg {
    type Err = anyhow::Error;
    fn from_str(text: &str) -> anyhow::Result<Self> {
        // A prefix of its own keeps clear of the keys of debits and payments.
        Ok(Self(OperationKey::new(format!("cli:{text}"))?))
    }
}

impl Audit {
    fn key(&self) -> anyhow::Result<OperationKey> {
        match &self.key {
            Some(key) => Ok(key.0.clone()),
            None => Ok(OperationKey::new(format!("cli:{}", uuid::Uuid::new_v4()))?),
        }
    }

    fn meta(&self) -> anyhow::Result<Map<String, Value>> {
        for (name, text) in [("--reason", &self.reason), ("--by", &self.by)] {
            anyhow::ensure!(!text.trim().is_empty(), "{name}: it must not be empty");
            domain::text::check(text, MAX_REASON_CHARS).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        }
        Ok(Map::from_iter([("by".to_owned(), json!(self.by)), ("reason".to_owned(), json!(self.reason))]))
    }
}

pub async fn run(command: CreditsCommand, store: &Store, config: &Config) -> anyhow::Result<()> {
    let now = OffsetDateTime::now_utc();
    match command {
        CreditsCommand::Show { account, json } => {
            let credits = store.summary(find_account(store, account).await?.id).await?;
            show(&credits, json)
        }
        CreditsCommand::Grant { account, amount, audit } => {
            let account = find_account(store, account).await?.id;
            let grant = Grant { account, amount, key: audit.key()?, meta: audit.meta()? };
            print(&store.grant(grant, now).await?, audit.json)
        }
        CreditsCommand::Adjust { account, amount, audit } => {
            let account = find_account(store, account).await?.id;
            let take = amount < 0;
            let amount = CreditAmount::new(amount.checked_abs().unwrap_or(i64::MAX))?;
            let adjust = Adjust { account, amount, take, key: audit.key()?, meta: audit.meta()? };
            print(&store.adjust(adjust, now).await?, audit.json)
        }
        CreditsCommand::AutoTopup { account, on, off: _, threshold, amount, monthly_cap } => {
            let account = find_account(store, account).await?.id;
            let sizes = prices(config)?.sizes();
            if let Some(amount) = amount {
                anyhow::ensure!(sizes.contains(&amount), "--amount: packs are for sale of {sizes:?} credits");
                anyhow::ensure!(monthly_cap.is_none_or(|cap| cap >= amount), "--monthly-cap is below --amount");
            }
            let monthly_cap = if on { Some(monthly_cap) } else { monthly_cap.map(Some) };
            let change = AutoTopupChange { enabled: on, threshold, top_up_amount: amount, monthly_cap };
            println!(
                "{}",
                serde_json::to_string_pretty(&auto_topup(
                    &AutoTopupStore::change(store, account, change, None, now).await?
                ))?
            );
            Ok(())
        }
        CreditsCommand::Payment { payment } => {
            let service = payment_service(config, &Arc::new(store.clone()))?;
            let service = service.context("there is no payment gateway: payment_gateway_url is not set")?;
            match service.take(&payment, now).await? {
                PaymentOutcome::Settled(settled) => println!("The payment is {}.", outcome(&settled)),
                PaymentOutcome::Refused(refusal) => anyhow::bail!("the payment is refused: {refusal}"),
            }
            Ok(())
        }
        CreditsCommand::NotCharged { account } => {
            let account = find_account(store, account).await?.id;
            anyhow::ensure!(store.not_charged(account, now).await?, "the account has no top-up of unknown outcome");
            println!("The automatic top-up is canceled.");
            Ok(())
        }
    }
}

fn show(credits: &Credits, as_json: bool) -> anyhow::Result<()> {
    let Credits { balance, total_purchased, total_spent, updated_at, auto_topup: topup, recent_transactions } = credits;
    if as_json {
        let shown = json!({
            "balance": balance,
            "total_purchased": total_purchased,
            "total_spent": total_spent,
            "updated_at": rfc3339(*updated_at),
            "auto_topup": auto_topup(topup),
            "recent_transactions": recent_transactions.iter().map(transaction).collect::<Vec<_>>(),
        });
        println!("{}", serde_json::to_string_pretty(&shown)?);
        return Ok(());
    }
    println!("{balance} credits; {total_purchased} bought, {total_spent} spent");
    let state = if topup.enabled { "on" } else { "off" };
    println!(
        "Automatic top-ups are {state}: {} credits below {}, last charged {}",
        topup.top_up_amount,
        topup.threshold,
        rfc3339_or_dash(topup.last_charged_at)
    );
    if let Some(reason) = &topup.disabled_reason {
        println!("Switched off: {reason}");
    }
    println!("\n{:>10}  {:<10}  {:>10}  {:>10}  {:<20}  FEATURE", "ID", "KIND", "AMOUNT", "BALANCE", "AT");
    for row in recent_transactions {
        println!(
            "{:>10}  {:<10}  {:>10}  {:>10}  {:<20}  {}",
            row.id,
            row.kind.as_str(),
            row.amount,
            row.balance_after,
            rfc3339(row.created_at),
            row.feature.as_deref().unwrap_or("-")
        );
    }
    Ok(())
}

fn print(written: &Transaction, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        println!("{}", serde_json::to_string_pretty(&transaction(written))?);
    } else {
        println!("{:+} credits; the balance is {}.", written.amount, written.balance_after);
    }
    Ok(())
}

fn transaction(row: &Transaction) -> Value {
    let Transaction { id, kind, feature, amount, balance_after, created_at, meta } = row;
    json!({
        "id": id,
        "kind": kind,
        "feature": feature,
        "amount": amount,
        "balance_after": balance_after,
        "created_at": rfc3339(*created_at),
        "meta": meta,
    })
}

fn auto_topup(settings: &AutoTopup) -> Value {
    let AutoTopup {
        enabled,
        threshold,
        top_up_amount,
        last_charged_at,
        monthly_cap,
        failures,
        last_failure,
        disabled_reason,
    } = settings;
    json!({
        "enabled": enabled,
        "threshold": threshold,
        "top_up_amount": top_up_amount,
        "last_charged_at": last_charged_at.map(rfc3339),
        "monthly_cap": monthly_cap,
        "failures": failures,
        "last_failure": last_failure,
        "disabled_reason": disabled_reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_says_who_made_it_and_why() {
        let meta = |reason: &str, by: &str| {
            Audit { reason: reason.to_owned(), by: by.to_owned(), key: None, json: false }.meta()
        };
        let said = meta("goodwill", "ana").unwrap();
        assert_eq!((&said["by"], &said["reason"]), (&json!("ana"), &json!("goodwill")));
        for (reason, by, named) in [("", "ana", "--reason"), ("  ", "ana", "--reason"), ("goodwill", "", "--by")] {
            assert!(meta(reason, by).unwrap_err().to_string().contains(named));
        }
    }
}
