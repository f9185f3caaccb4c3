//! `api keys`.

use anyhow::Context;
use clap::Subcommand;
use domain::{
    AccountId, KeyId,
    accounts::{Account, AccountStore, Mode},
    instants,
    keys::{ApiKey, DEFAULT_OVERLAP, KeyRecord, KeyStore, MAX_NAME_CHARS, MAX_OVERLAP, NewKey, Scope, Successor},
};
use serde_json::{Value, json};
use store::Store;
use time::{Duration, OffsetDateTime};

use super::find_account;
use crate::{
    output::{rfc3339, rfc3339_or_dash},
    random,
};

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Creates a key and shows it, this once
    #[command(
        after_help = "Examples:\n  api keys create --account 1 --scopes read\n  api keys create --account 1 --mode test --scopes read,write --expires 90d"
    )]
    Create {
        /// The account, or either account of the user when --mode is given
        #[arg(long, value_name = "ID")]
        account: i64,
        /// live or test: which of the user's two accounts the key opens [default: the account named]
        #[arg(long)]
        mode: Option<Mode>,
        /// What the key may do: read, write or both; write does not include read
        #[arg(long, value_delimiter = ',', default_value = "read,write")]
        scopes: Vec<Scope>,
        /// When the key ends: a number of days (90d), a date or an RFC 3339 instant [default: never]
        #[arg(long, value_parser = parse_expiry)]
        expires: Option<OffsetDateTime>,
        /// What the key is for
        #[arg(long, default_value = "")]
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Lists an account's keys, without the keys themselves
    List {
        #[arg(long, value_name = "ID")]
        account: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Puts a new key in the place of another, with its name and scopes, and shows it, this once
    #[command(after_help = "Example:\n  api keys rotate 3 --account 1 --expires 90d --overlap-hours 48")]
    Rotate {
        /// The key's id, from `api keys list`
        #[arg(value_name = "KEY_ID")]
        key: i64,
        #[arg(long, value_name = "ID")]
        account: i64,
        /// When the new key ends: a number of days (90d), a date or an RFC 3339 instant [default: never]
        #[arg(long, value_parser = parse_expiry)]
        expires: Option<OffsetDateTime>,
        /// For how many hours the old key goes on working
        #[arg(long, default_value_t = DEFAULT_OVERLAP.whole_hours(),
            value_parser = clap::value_parser!(i64).range(0..=MAX_OVERLAP.whole_hours()))]
        overlap_hours: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revokes a key, for good and at once
    #[command(after_help = "Example:\n  api keys revoke 3 --account 1")]
    Revoke {
        /// The key's id, from `api keys list`
        #[arg(value_name = "KEY_ID")]
        key: i64,
        #[arg(long, value_name = "ID")]
        account: i64,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

fn parse_expiry(text: &str) -> Result<OffsetDateTime, String> {
    expiry(text, OffsetDateTime::now_utc())
}

/// When a key ends that is made now.
fn expiry(text: &str, now: OffsetDateTime) -> Result<OffsetDateTime, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u16>().ok());
    let ends = match days {
        Some(days) => now + Duration::days(days.into()),
        None => instants::parse(text)
            .or_else(|_| instants::parse_day(text).map(|day| day.midnight().assume_utc()))
            .map_err(|_| "say 90d, 2027-01-31 or 2027-01-31T12:00:00Z, from 1970 to 2999".to_owned())?,
    };
    if ends > now { Ok(ends) } else { Err("a key has to end in the future".to_owned()) }
}

pub async fn run(command: KeysCommand, store: &Store) -> anyhow::Result<()> {
    let now = OffsetDateTime::now_utc();
    match command {
        KeysCommand::Create { account, mode, scopes, expires, name, json } => {
            domain::text::check(&name, MAX_NAME_CHARS).map_err(|error| anyhow::anyhow!("--name: {error}"))?;
            let (key, record) = create(store, AccountId(account), mode, scopes, expires, name).await?;
            show(&key, &record, json)?;
        }
        KeysCommand::List { account, json } => {
            let account = find_account(store, account).await?.id;
            print(&KeyStore::list(store, account).await?, json)?;
        }
        KeysCommand::Rotate { key, account, expires, overlap_hours, json } => {
            let account = find_account(store, account).await?;
            let (key, record) =
                rotate(store, &account, KeyId(key), expires, Duration::hours(overlap_hours), now).await?;
            show(&key, &record, json)?;
        }
        KeysCommand::Revoke { key, account, json } => {
            let record = KeyStore::revoke(store, AccountId(account), KeyId(key), None, now)
                .await?
                .with_context(|| format!("account {account} has no key {key}; `api keys list` shows what it has"))?;
            print(&[record], json)?;
        }
    }
    Ok(())
}

/// Creates a key for the account, or for the same user's of the given mode. The key cannot be shown again.
pub async fn create(
    store: &Store,
    account: AccountId,
    mode: Option<Mode>,
    scopes: Vec<Scope>,
    expires_at: Option<OffsetDateTime>,
    name: String,
) -> anyhow::Result<(ApiKey, KeyRecord)> {
    let named = find_account(store, account.0).await?;
    let target = match mode {
        Some(mode) if mode != named.mode => AccountStore::list(store)
            .await?
            .into_iter()
            .find(|other| other.user_id == named.user_id && other.mode == mode)
            .with_context(|| format!("the user of account {account} has no {mode} account"))?,
        _ => named,
    };
    let key = generate(target.mode)?;
    let mut scopes = scopes;
    scopes.sort_unstable();
    scopes.dedup();
    let record = KeyStore::create(
        store,
        NewKey {
            hash: key.hash(),
            account_id: target.id,
            name,
            prefix: key.display_prefix().to_owned(),
            scopes,
            created_at: OffsetDateTime::now_utc(),
            expires_at,
            note: None,
            notice: None,
        },
        None,
    )
    .await?;
    Ok((key, record))
}

/// The key is read back: one of too few random bytes is none.
fn generate(mode: Mode) -> anyhow::Result<ApiKey> {
    ApiKey::generate(mode, random::bytes()).expose().parse().context("the system gave no random bytes")
}

async fn rotate(
    store: &Store,
    account: &Account,
    id: KeyId,
    expires_at: Option<OffsetDateTime>,
    overlap: Duration,
    now: OffsetDateTime,
) -> anyhow::Result<(ApiKey, KeyRecord)> {
    let key = generate(account.mode)?;
    let prefix = key.display_prefix().to_owned();
    let successor =
        Successor { hash: key.hash(), prefix, now, expires_at, overlap_until: now + overlap, note: None, notice: None };
    let account = account.id;
    let record = KeyStore::rotate(store, account, id, successor, None).await?.with_context(|| {
        format!("account {account} has no key {id} that still works; `api keys list` shows what it has")
    })?;
    Ok((key, record))
}

/// Prints a key that cannot be shown again.
fn show(key: &ApiKey, record: &KeyRecord, json: bool) -> anyhow::Result<()> {
    if json {
        let mut shown = to_json(record);
        if let Value::Object(fields) = &mut shown {
            fields.insert("key".to_owned(), key.expose().into());
        }
        println!("{}", serde_json::to_string_pretty(&shown)?);
    } else {
        eprintln!("Key {} of account {}. It is shown this once; store it now.", record.id, record.account_id);
        println!("{}", key.expose());
    }
    Ok(())
}

fn print(keys: &[KeyRecord], json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(&keys.iter().map(to_json).collect::<Vec<_>>())?);
        return Ok(());
    }
    println!(
        "{:>8}  {:<13}  {:<10}  {:<20}  {:<20}  {:<20}  NAME",
        "KEY", "PREFIX", "SCOPES", "LAST USED", "EXPIRES", "REVOKED"
    );
    for key in keys {
        let scopes: Vec<_> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        println!(
            "{:>8}  {:<13}  {:<10}  {:<20}  {:<20}  {:<20}  {}",
            key.id,
            format!("{}…", key.prefix),
            scopes.join(","),
            rfc3339_or_dash(key.last_used_at),
            rfc3339_or_dash(key.expires_at),
            rfc3339_or_dash(key.revoked_at),
            key.name
        );
    }
    Ok(())
}

fn to_json(key: &KeyRecord) -> Value {
    json!({
        "id": key.id,
        "account_id": key.account_id,
        "mode": key.mode,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.scopes,
        "created_at": rfc3339(key.created_at),
        "last_used_at": key.last_used_at.map(rfc3339),
        "expires_at": key.expires_at.map(rfc3339),
        "revoked_at": key.revoked_at.map(rfc3339),
    })
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_key_ends_in_the_future() {
        let of = |text: &str| expiry(text, datetime!(2026-05-01 12:00 UTC));
        assert_eq!(of("90d").unwrap(), datetime!(2026-07-30 12:00 UTC));
        assert_eq!(of("2026-05-02").unwrap(), datetime!(2026-05-02 00:00 UTC));
        assert_eq!(of("2026-05-01T14:00:01+02:00").unwrap(), datetime!(2026-05-01 12:00:01 UTC));
        for past in ["0d", "2026-05-01", "2020-01-01", "2026-05-01T12:00:00Z"] {
            assert!(of(past).unwrap_err().contains("future"), "{past}");
        }
    }
}
