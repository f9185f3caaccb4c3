//! `api dashboard`.

use anyhow::Context;
use clap::Subcommand;
use domain::{
    AccountId,
    accounts::{AccountStore, Mode},
    people::PersonStore,
};
use store::Store;

use crate::{
    config::Config,
    dashboard::{self, LOCAL_OWNER},
};

#[derive(Debug, Subcommand)]
pub enum DashboardCommand {
    /// Prints a link that logs in as an owner, once and within an hour
    #[command(after_help = "Examples:\n  api dashboard open\n  api dashboard open --account 7")]
    Open {
        /// The account to look at [default: the newest live one]
        #[arg(long, value_name = "ID")]
        account: Option<i64>,
    },
}

pub async fn run(command: DashboardCommand, store: &Store, config: &Config) -> anyhow::Result<()> {
    let DashboardCommand::Open { account } = command;
    let account = match account {
        Some(id) => AccountStore::find(store, AccountId(id))
            .await?
            .with_context(|| format!("there is no account {id}; `api accounts list` shows which there are"))?,
        None => AccountStore::list(store)
            .await?
            .into_iter()
            .rev()
            .find(|account| account.mode == Mode::Live)
            .context("there is no account yet; `api accounts create` makes one")?,
    };
    let owner = PersonStore::find(store, &LOCAL_OWNER.parse()?).await?;
    anyhow::ensure!(
        owner.is_none_or(|owner| owner.disabled_at.is_none()),
        "{LOCAL_OWNER}, whom it logs in, is disabled; `api people disable {LOCAL_OWNER} --undo` lets them log in again"
    );
    let site = dashboard::public_url(config, config.dashboard_listen)?;
    println!("{}", dashboard::link(store, &account, &site).await?);
    Ok(())
}
