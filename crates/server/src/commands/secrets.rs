//! `api secrets`.

use std::process::ExitCode;

use app::secrets::{Resealed, reseal};
use clap::Subcommand;
use delivery::seal::KeyRing;
use serde_json::json;
use store::Store;

use crate::commands::PARTLY;

#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// Seals every webhook secret with the first of the data keys, after that one has changed
    #[command(
        after_help = "May be stopped, run again, and run while the service works.\n\nExample:\n  DATA_KEYS=new:…,old:… api secrets reseal"
    )]
    Reseal {
        /// Subscriptions read at a time
        #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(i64).range(1..=10_000))]
        batch: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(command: SecretsCommand, store: &Store, keys: &KeyRing) -> anyhow::Result<ExitCode> {
    let SecretsCommand::Reseal { batch, json } = command;
    let done = reseal(store, keys, batch, |so_far| {
        if !json {
            eprintln!("{} sealed anew so far", so_far.resealed);
        }
    })
    .await?;
    print(&done, json)?;
    let whole = done.unreadable.is_empty() && done.changed == 0;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(PARTLY) })
}

fn print(done: &Resealed, json: bool) -> anyhow::Result<()> {
    let Resealed { current, resealed, changed, unreadable } = done;
    if json {
        let unreadable: Vec<_> = unreadable
            .iter()
            .map(|(subscription, error)| json!({ "subscription": subscription, "reason": error.to_string() }))
            .collect();
        let all = json!({
            "current": current, "resealed": resealed, "changed_meanwhile": changed, "unreadable": unreadable,
        });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{resealed} secrets sealed anew, {current} were sealed with the first key already.");
    if *changed > 0 {
        println!("{changed} were changed at that moment: run the command again.");
    }
    for (subscription, error) in unreadable {
        println!("The secret of subscription {subscription} cannot be opened: {error}.");
    }
    Ok(())
}
