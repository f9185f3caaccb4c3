//! `api secrets`.

use std::{collections::BTreeSet, process::ExitCode};

use app::secrets::{Resealed, Unverified, reseal, verify_keys};
use clap::Subcommand;
use delivery::seal::KeyRing;
use domain::data_keys::{DataKeyFault, DataKeyStore, SealedColumn, SealedSecret};
use serde_json::json;
use store::Store;
use time::OffsetDateTime;

use crate::{commands::PARTLY, config::Config, secrets};

#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// Seals every secret and token with the first of the data keys, after that one has changed
    #[command(
        after_help = "May be stopped, run again, and run while the service works.\n\nExample:\n  BAS_DATA_KEYS=new:…,old:… api secrets reseal"
    )]
    Reseal {
        /// Secrets read at a time
        #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(i64).range(1..=10_000))]
        batch: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Prints a new data key, as BAS_DATA_KEYS takes it
    #[command(after_help = "Example:\n  export BAS_DATA_KEYS=\"$(api secrets new-key)\"")]
    NewKey,
    /// Gives a data key up that is lost for good, so that processes start without it
    #[command(after_help = "\
Says what is sealed with it. Subscriptions need a new secret (`POST /webhooks/{id}/rotate`): until then nothing can be delivered
to them. Shops have to be connected again.

Example:
  api secrets forget key-2f6a9c01b3d4 --yes")]
    Forget {
        /// The id of the key
        id: String,
        /// Do it; without, it is only said what would be lost, and the exit code is 1
        #[arg(long)]
        yes: bool,
    },
}

/// `api secrets new-key`, which needs no database.
pub fn new_key() -> anyhow::Result<ExitCode> {
    println!("{}", secrets::new_entry()?);
    Ok(ExitCode::SUCCESS)
}

pub async fn run(command: SecretsCommand, store: &Store, config: &Config) -> anyhow::Result<ExitCode> {
    match command {
        SecretsCommand::Reseal { batch, json } => {
            reseal_all(batch, json, store, &secrets::key_ring(config, false)?).await
        }
        SecretsCommand::NewKey => new_key(),
        SecretsCommand::Forget { id, yes } => forget(&id, yes, store).await,
    }
}

async fn forget(id: &str, yes: bool, store: &Store) -> anyhow::Result<ExitCode> {
    let mut known: BTreeSet<_> = store.recorded().await?.into_iter().map(|key| key.id).collect();
    known.extend(store.used().await?);
    if !known.contains(id) {
        let known = known.into_iter().collect::<Vec<_>>();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        anyhow::bail!("this database knows no data key `{id}`; known: {known}");
    }
    let sealed = store.sealed_under(id, i64::MAX).await?;
    let owners: BTreeSet<_> = sealed.iter().map(owner).collect();
    for owner in &owners {
        println!("{owner} has a secret that is sealed with `{id}`.");
    }
    if !yes {
        eprintln!("{} of them would need a new secret. `--yes` gives the key up.", owners.len());
        return Ok(ExitCode::FAILURE);
    }
    store.give_up(id, OffsetDateTime::now_utc()).await?;
    println!("The data key `{id}` is given up; {} of them need a new secret.", owners.len());
    Ok(ExitCode::SUCCESS)
}

/// Whose secret it is, at the beginning of a sentence.
fn owner(secret: &SealedSecret) -> String {
    let SealedSecret { column, account, row, sealed: _ } = secret;
    match column {
        SealedColumn::WebhookSecret | SealedColumn::PreviousWebhookSecret => {
            format!("Subscription {row} of account {account}")
        }
        SealedColumn::ShopAccessToken | SealedColumn::ShopRefreshToken => {
            format!("Integration {row} of account {account}")
        }
        SealedColumn::OauthVerifier => format!("An authorization of account {account}"),
        SealedColumn::SocialToken => format!("Profile {row} of account {account}"),
        SealedColumn::TotpSecret => format!("The second factor of person {row}"),
    }
}

async fn reseal_all(batch: i64, json: bool, store: &Store, keys: &KeyRing) -> anyhow::Result<ExitCode> {
    match verify_keys(store, keys, &keys.checks(), OffsetDateTime::now_utc()).await {
        // What needs a missing key is named below.
        Ok(()) | Err(Unverified::Fault(DataKeyFault::Missing(_))) => {}
        Err(Unverified::Fault(fault)) => return Err(secrets::explained(&fault).into()),
        Err(Unverified::Store(error)) => return Err(error.into()),
    }
    let done = reseal(store, keys, batch, |so_far| {
        if !json {
            eprintln!("{} sealed again so far", so_far.resealed);
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
            .map(|(secret, error)| json!({ "secret_of": owner(secret), "reason": error.to_string() }))
            .collect();
        let all = json!({
            "current": current, "resealed": resealed, "changed_meanwhile": changed, "unreadable": unreadable,
        });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{resealed} secrets sealed again, {current} were sealed with the first key already.");
    if *changed > 0 {
        println!("{changed} were changed at that moment: run the command again.");
    }
    for (secret, error) in unreadable {
        println!("{} has a secret that cannot be opened: {error}.", owner(secret));
    }
    Ok(())
}
