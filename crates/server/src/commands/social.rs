//! `api social`.

use std::io::Read;

use anyhow::Context;
use clap::{Args, Subcommand};
use domain::{
    AccountId,
    accounts::AccountStore,
    sealing::Sealer,
    social::{
        Channel,
        profiles::is_number,
        replies::{Connected, NewSocialAccount, ProfileStore, token_binding},
    },
};
use store::Store;
use time::OffsetDateTime;

use crate::{config::Config, secrets};

/// Bytes of the longest token.
const MAX_TOKEN: u64 = 4_096;

#[derive(Debug, Subcommand)]
pub enum SocialCommand {
    /// Connects a profile, or gives one that is connected a new token, which is read from the standard input
    #[command(
        after_help = "Example:\n  api social connect --account 1 --channel instagram --profile 17841400000000001 --handle myshop < token.txt"
    )]
    Connect(ConnectArgs),
}

#[derive(Debug, Args)]
pub struct ConnectArgs {
    #[arg(long, value_name = "ID")]
    account: i64,
    /// instagram or facebook
    #[arg(long)]
    channel: Channel,
    /// The network's number of the profile: for Instagram the `user_id` of `/me`, for Facebook the page's
    #[arg(long)]
    profile: String,
    /// The other number of the same profile, if there is one: for Instagram the `id` of `/me`
    #[arg(long)]
    app_scoped_id: Option<String>,
    /// The name that the profile comments under
    #[arg(long)]
    handle: Option<String>,
}

pub async fn run(command: SocialCommand, store: &Store, config: &Config, is_embedded: bool) -> anyhow::Result<()> {
    let SocialCommand::Connect(args) = command;
    connect(args, store, config, is_embedded).await
}

async fn connect(args: ConnectArgs, store: &Store, config: &Config, is_embedded: bool) -> anyhow::Result<()> {
    let ConnectArgs { account, channel, profile, app_scoped_id, handle } = args;
    anyhow::ensure!(channel != Channel::Mercadolibre, "Mercado Libre is connected by `api integrations connect`");
    anyhow::ensure!(
        is_number(&profile) && app_scoped_id.as_deref().is_none_or(is_number),
        "a profile is named by its number of at most 32 digits"
    );
    let keys = secrets::key_ring(config, is_embedded)?;
    secrets::verify(store, &keys).await?;
    let account = AccountId(account);
    AccountStore::find(store, account).await?.with_context(|| format!("there is no account {account}"))?;
    let mut token = String::new();
    std::io::stdin().take(MAX_TOKEN).read_to_string(&mut token).context("the token on the standard input")?;
    let token = token.trim();
    anyhow::ensure!(
        !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()),
        "the standard input holds no token"
    );
    let now = OffsetDateTime::now_utc();
    let new = NewSocialAccount { account, channel, external_id: profile, app_scoped_id, handle };
    let id = match store.connect(new, now).await? {
        Connected::Done(id) => id,
        Connected::Elsewhere => anyhow::bail!("the profile is connected to another account"),
    };
    let sealed = keys.seal(token_binding(account, id), token.as_bytes())?;
    store.give_token(account, id, sealed, now).await?;
    println!("Connected as profile {id}. Its comments are read by any process that works (`api up`, `api work`).");
    Ok(())
}
