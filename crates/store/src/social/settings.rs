//! [`SettingsStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Jsonb, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    audit::Entry,
    social::{
        Category, GATE_JUDGED, Gate, Mode,
        settings::{Caps, Hours, Settings, SettingsError, SettingsStore, Setup},
        templates::Links,
    },
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::{OffsetDateTime, Time, macros::format_description};

use crate::{
    Store,
    accounts::lock,
    database::{
        error::{Failure, corrupt, parse},
        query::RunQueryDsl,
        transact::Rollback,
    },
    people::audit,
};

statement!(
    Find(account: i64 => BigInt) -> SettingsRow = "
    SELECT mode, threshold, business_hours, per_user_day, per_post_hour, per_account_hour, categories_auto, opt_out_words,
        own_hosts, link, blocked_at, model_vote
    FROM social_settings WHERE account_id = $1"
);

row!(
    struct SettingsRow {
        mode: String => Text,
        threshold: Decimal => Numeric,
        business_hours: serde_json::Value => Jsonb,
        per_user_day: i64 => BigInt,
        per_post_hour: i64 => BigInt,
        per_account_hour: i64 => BigInt,
        categories_auto: Vec<String> => Array<Text>,
        opt_out_words: Vec<String> => Array<Text>,
        own_hosts: Vec<String> => Array<Text>,
        link: Option<String> => Nullable<Text>,
        blocked_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        model_vote: bool => Bool,
    }
);

/// Hours as they are kept: `{"day": "mon", "from": "09:00", "to": "18:00"}`.
#[derive(Serialize, Deserialize)]
struct StoredHours {
    day: String,
    from: String,
    to: String,
}

fn stored(hours: &Hours) -> Result<StoredHours, StoreError> {
    let text = |clock: Time| clock.format(format_description!("[hour]:[minute]")).map_err(|_| corrupt("hours"));
    Ok(StoredHours { day: hours.day.to_string(), from: text(hours.from)?, to: text(hours.to)? })
}

fn read(stored: StoredHours) -> Result<Hours, StoreError> {
    let clock = |text: &str| Time::parse(text, format_description!("[hour]:[minute]")).map_err(|_| corrupt("hours"));
    Ok(Hours { day: parse(&stored.day, "day")?, from: clock(&stored.from)?, to: clock(&stored.to)? })
}

fn settings(row: SettingsRow) -> Result<(Settings, Option<OffsetDateTime>), StoreError> {
    let SettingsRow {
        mode,
        threshold,
        business_hours,
        per_user_day,
        per_post_hour,
        per_account_hour,
        categories_auto,
        opt_out_words,
        own_hosts,
        link,
        blocked_at,
        model_vote,
    } = row;
    let hours: Vec<StoredHours> = serde_json::from_value(business_hours).map_err(|_| corrupt("hours"))?;
    let categories = categories_auto.iter().map(|category| parse(category, "category"));
    let settings = Settings {
        mode: parse(&mode, "mode")?,
        threshold: threshold.normalize(),
        business_hours: hours.into_iter().map(read).collect::<Result<_, _>>()?,
        caps: Caps { per_user_day, per_post_hour, per_account_hour },
        categories_auto: categories.collect::<Result<_, _>>()?,
        opt_out_words,
        links: Links { own_hosts, link },
        model_vote,
    };
    Ok((settings, blocked_at))
}

statement!(
    /// How many of the bot's proposals were judged, and how many of the newest were judged wrong. One that was judged right counts
    /// if it was made in mode `dry_run`, approved or sent, one that was judged wrong whatever became of it: whoever answers in its
    /// place would else hide the error.
    Judged(account: i64 => BigInt, newest: i64 => BigInt) -> GateRow = "
    WITH judged AS (
        SELECT judged_correct, row_number() OVER (ORDER BY judged_at DESC, comment_id) AS place FROM auto_replies
        WHERE account_id = $1 AND judged_at IS NOT NULL AND proposed_template_id IS NOT NULL
            AND (NOT judged_correct OR template_id = proposed_template_id AND state NOT IN ('held', 'skipped'))
    )
    SELECT count(*) AS judged, count(*) FILTER (WHERE place <= $2 AND NOT judged_correct) AS wrong FROM judged"
);

row!(
    struct GateRow {
        judged: i64 => BigInt,
        wrong: i64 => BigInt,
    }
);

pub(super) async fn gate(connection: &mut AsyncPgConnection, account: i64) -> QueryResult<Gate> {
    let GateRow { judged, wrong } = Judged { account, newest: GATE_JUDGED }.get_result(connection).await?;
    Ok(Gate { judged, wrong })
}

/// The settings, the defaults where nothing was set, and since when the bot is blocked.
pub(super) async fn current(
    connection: &mut AsyncPgConnection,
    account: i64,
) -> Result<(Settings, Option<OffsetDateTime>), Failure> {
    let row: Option<SettingsRow> = Find { account }.get_result(connection).await.optional()?;
    Ok(row.map(settings).transpose()?.unwrap_or_default())
}

statement!(
    Put<'a>(
        account: i64 => BigInt,
        mode: &'a str => Text,
        threshold: Decimal => Numeric,
        business_hours: serde_json::Value => Jsonb,
        per_user_day: i64 => BigInt,
        per_post_hour: i64 => BigInt,
        per_account_hour: i64 => BigInt,
        categories_auto: Vec<&'static str> => Array<Text>,
        opt_out_words: &'a [String] => Array<Text>,
        own_hosts: &'a [String] => Array<Text>,
        link: Option<&'a str> => Nullable<Text>,
        blocked_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        now: OffsetDateTime => Timestamptz,
        model_vote: bool => Bool,
    ) -> () = "
    INSERT INTO social_settings (account_id, mode, threshold, business_hours, per_user_day, per_post_hour, per_account_hour,
        categories_auto, opt_out_words, own_hosts, link, blocked_at, updated_at, model_vote)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    ON CONFLICT (account_id) DO UPDATE SET mode = $2, threshold = $3, business_hours = $4, per_user_day = $5,
        per_post_hour = $6, per_account_hour = $7, categories_auto = $8, opt_out_words = $9, own_hosts = $10, link = $11,
        blocked_at = $12, updated_at = $13, model_vote = $14"
);

pub(super) async fn put(
    connection: &mut AsyncPgConnection,
    account: i64,
    settings: &Settings,
    blocked_at: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    let hours = settings.business_hours.iter().map(stored).collect::<Result<Vec<_>, _>>()?;
    let put = Put {
        account,
        mode: settings.mode.as_str(),
        threshold: settings.threshold,
        business_hours: serde_json::to_value(hours).map_err(|_| corrupt("hours"))?,
        per_user_day: settings.caps.per_user_day,
        per_post_hour: settings.caps.per_post_hour,
        per_account_hour: settings.caps.per_account_hour,
        categories_auto: settings.categories_auto.iter().copied().map(Category::as_str).collect(),
        opt_out_words: &settings.opt_out_words,
        own_hosts: &settings.links.own_hosts,
        link: settings.links.link.as_deref(),
        blocked_at,
        now,
        model_vote: settings.model_vote,
    };
    put.execute(connection).await?;
    Ok(())
}

/// What the audit log tells of settings.
fn told(settings: &Settings) -> Value {
    let Settings { mode, threshold, business_hours, caps, categories_auto, opt_out_words, links, model_vote } =
        settings;
    let clock = |time: Time| format!("{:02}:{:02}", time.hour(), time.minute());
    let hours = |hours: &Hours| format!("{} {}-{}", hours.day, clock(hours.from), clock(hours.to));
    json!({
        "mode": mode.as_str(),
        "threshold": threshold.normalize().to_string(),
        "hours": business_hours.iter().map(hours).collect::<Vec<_>>(),
        "per_user_day": caps.per_user_day,
        "per_post_hour": caps.per_post_hour,
        "per_account_hour": caps.per_account_hour,
        "categories_auto": categories_auto.iter().map(|one| one.as_str()).collect::<Vec<_>>(),
        "opt_out_words": opt_out_words,
        "own_hosts": links.own_hosts,
        "link": links.link,
        "model_vote": model_vote,
    })
}

/// Puts mode `auto` back to `approve`, because it is no longer earned or the network refuses the answers.
pub(super) async fn fall_back(
    connection: &mut AsyncPgConnection,
    account: i64,
    blocked_at: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    let (settings, blocked_before) = current(connection, account).await?;
    let mode = if settings.mode == Mode::Auto { Mode::Approve } else { settings.mode };
    put(connection, account, &Settings { mode, ..settings }, blocked_at.or(blocked_before), now).await
}

#[async_trait]
impl SettingsStore for Store {
    async fn setup(&self, account: AccountId) -> Result<Setup, StoreError> {
        let found = self
            .run::<_, Failure>(async |connection| {
                let (settings, blocked_at) = current(connection, account.0).await?;
                Ok(Setup { settings, gate: gate(connection, account.0).await?, blocked_at })
            })
            .await?;
        Ok(found)
    }

    async fn put(
        &self,
        account: AccountId,
        settings: Settings,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Setup, SettingsError> {
        let written = self.transact::<_, Rollback<SettingsError>>(async |connection| {
            lock(connection, account).await?;
            let gate = gate(connection, account.0).await?;
            if settings.mode == Mode::Auto && !gate.is_ready() {
                return Err(Rollback::Refused(SettingsError::GateClosed(gate)));
            }
            let (before, blocked_at) = current(connection, account.0).await.map_err(Rollback::Failed)?;
            // Who chooses `auto` again has seen that it was blocked.
            let is_chosen = settings.mode == Mode::Auto && before.mode != Mode::Auto;
            let blocked_at = blocked_at.filter(|_| !is_chosen);
            put(connection, account.0, &settings, blocked_at, now).await.map_err(Rollback::Failed)?;
            audit::differs(connection, note.clone(), (&told(&before), &told(&settings)), now).await?;
            Ok(Setup { settings: settings.clone(), gate, blocked_at })
        });
        written.await.map_err(Rollback::into_error)
    }

    async fn stop(&self, account: AccountId, note: Option<Entry>, now: OffsetDateTime) -> Result<Setup, StoreError> {
        let stopped = self
            .transact::<_, Failure>(async |connection| {
                lock(connection, account).await?;
                let gate = gate(connection, account.0).await?;
                let (before, blocked_at) = current(connection, account.0).await?;
                let settings = Settings { mode: Mode::Off, ..before.clone() };
                put(connection, account.0, &settings, blocked_at, now).await?;
                audit::differs(connection, note.clone(), (&told(&before), &told(&settings)), now).await?;
                Ok(Setup { settings, gate, blocked_at })
            })
            .await?;
        Ok(stopped)
    }
}
