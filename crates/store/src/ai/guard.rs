//! The quota guard: a user's AI cost of the month against an account's limits.

use diesel::{
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId,
    ai::{Actor, DEFAULT_LIMITS, LEASE_SECONDS, Limits, Month, MonthlyCost, crossed},
    events::{ActorKind, Amount, CostLevel, Event, Instant, UsageThresholdCrossed},
};
use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

use super::access;
use crate::{
    database::{query::RunQueryDsl, statement::Scalar},
    schema::{accounts, ai_crossings as crossings, ai_limits as limits},
    webhooks::outbox,
};

statement!(
    /// What is under way is not counted yet; what never ended is, with the most that it can have cost.
    Cost(
        accounts: Vec<i64> => Array<BigInt>,
        start: OffsetDateTime => Timestamptz,
        end: OffsetDateTime => Timestamptz,
        given_up: OffsetDateTime => Timestamptz,
    ) -> CostRow = "
    SELECT coalesce(sum(cost_usd), 0) AS cost_usd,
        coalesce(sum(prompt_tokens + completion_tokens), 0)::bigint AS tokens, count(*) AS requests
    FROM ai_calls WHERE account_id = ANY ($1) AND started_at >= $2 AND started_at < $3
        AND (finished_at IS NOT NULL OR started_at < $4)"
);

row!(
    struct CostRow {
        cost_usd: Decimal => Numeric,
        tokens: i64 => BigInt,
        requests: i64 => BigInt,
    }
);

statement!(
    LockUser<'a>(user: &'a str => Text) -> Scalar<Nullable<Text>> =
        "SELECT pg_advisory_xact_lock(726301, hashtext($1))::text"
);

/// Who the guard is in the audit and in events.
const GUARD: &str = "quota_guard";

/// What AI has cost the user of the account this month.
pub(super) async fn cost(
    connection: &mut AsyncPgConnection,
    user: &str,
    month: Month,
    now: OffsetDateTime,
) -> Result<MonthlyCost, Error> {
    let accounts: Vec<i64> =
        accounts::table.filter(accounts::user_id.eq(user)).select(accounts::id).load(connection).await?;
    let given_up = now - Duration::seconds(LEASE_SECONDS);
    let cost = Cost { accounts, start: month.start(), end: month.end(), given_up };
    let CostRow { cost_usd, tokens, requests } = cost.get_result(connection).await?;
    Ok(MonthlyCost { cost_usd: cost_usd.normalize(), tokens, requests })
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = limits, check_for_backend(diesel::pg::Pg))]
struct LimitsRow {
    warning_usd: Decimal,
    critical_usd: Decimal,
    auto_pause: bool,
}

pub(super) async fn limits_of(connection: &mut AsyncPgConnection, account: AccountId) -> Result<Limits, Error> {
    let own: Option<LimitsRow> =
        limits::table.find(account.0).select(LimitsRow::as_select()).first(connection).await.optional()?;
    Ok(own.map_or(DEFAULT_LIMITS, |LimitsRow { warning_usd, critical_usd, auto_pause }| Limits {
        warning_usd: warning_usd.normalize(),
        critical_usd: critical_usd.normalize(),
        auto_pause,
    }))
}

/// One check of a user, or change of an account's limits, at a time, so that of two calls that end at once the second sees
/// the cost of both. Taken before the account's balance, here and in [`access`].
pub(super) async fn lock_user(connection: &mut AsyncPgConnection, user: &str) -> Result<(), Error> {
    LockUser { user }.execute(connection).await?;
    Ok(())
}

/// Announces the thresholds that this month's cost has reached, each once, and pauses access at the critical one unless an
/// administrator has resumed it since. How many were new.
pub(super) async fn check(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<u64, Error> {
    let user: String = accounts::table.find(account.0).select(accounts::user_id).first(connection).await?;
    lock_user(connection, &user).await?;
    let month = Month::of(now);
    let cost = cost(connection, &user, month, now).await?;
    let limits = limits_of(connection, account).await?;
    let mut new = 0;
    for level in crossed(cost.cost_usd, &limits) {
        let threshold = limits.threshold(level);
        let inserted = diesel::insert_into(crossings::table)
            .values((
                crossings::account_id.eq(account.0),
                crossings::month.eq(month.first_day()),
                crossings::severity.eq(level.as_str()),
                crossings::cost_usd.eq(cost.cost_usd),
                crossings::threshold_usd.eq(threshold),
                crossings::crossed_at.eq(now),
                crossings::pauses.eq(true),
            ))
            .on_conflict_do_nothing()
            .execute(connection)
            .await?;
        if inserted > 0 {
            new += 1;
            outbox::emit(connection, account, &[event(month, level, cost, threshold, now)], now).await?;
        }
        if level == CostLevel::Critical && limits.auto_pause {
            let guard = Actor { name: GUARD.to_owned(), kind: ActorKind::System };
            let reason = "the monthly cost reached the critical threshold";
            access::pause_for_cost(connection, account, &guard, reason, (cost.cost_usd, threshold), now).await?;
        }
    }
    Ok(new)
}

/// Takes back what this month's crossings stand for, as far as a change of limits makes it void: those of thresholds that
/// the cost has not reached any more, and that an administrator has resumed access at another threshold.
pub(super) async fn renew(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    user: &str,
    (before, after): (&Limits, &Limits),
    now: OffsetDateTime,
) -> Result<(), Error> {
    let month = Month::of(now);
    let cost = cost(connection, user, month, now).await?;
    let ahead: Vec<&str> = after.ahead_of(cost.cost_usd).map(CostLevel::as_str).collect();
    let of_month =
        crossings::table.filter(crossings::account_id.eq(account.0)).filter(crossings::month.eq(month.first_day()));
    diesel::delete(of_month.filter(crossings::severity.eq_any(ahead))).execute(connection).await?;
    if after.renew_pause(before) {
        set_pauses(connection, account, true, now).await?;
    }
    Ok(())
}

/// Sets whether this month's critical crossing, if there is one, pauses access.
pub(super) async fn set_pauses(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    pauses: bool,
    now: OffsetDateTime,
) -> Result<(), Error> {
    diesel::update(crossings::table.find((account.0, Month::of(now).first_day(), CostLevel::Critical.as_str())))
        .set(crossings::pauses.eq(pauses))
        .execute(connection)
        .await?;
    Ok(())
}

/// Whether this month's critical threshold was crossed, and access not resumed since.
pub(super) async fn pauses(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<bool, Error> {
    let pauses: Option<bool> = crossings::table
        .find((account.0, Month::of(now).first_day(), CostLevel::Critical.as_str()))
        .select(crossings::pauses)
        .first(connection)
        .await
        .optional()?;
    Ok(pauses == Some(true))
}

fn event(month: Month, level: CostLevel, cost: MonthlyCost, threshold: Decimal, now: OffsetDateTime) -> Event {
    let MonthlyCost { cost_usd, tokens, requests } = cost;
    UsageThresholdCrossed {
        month: month.to_string(),
        severity: level,
        cost_usd: Amount(cost_usd),
        tokens,
        requests,
        threshold_usd: Amount(threshold),
        ts: Instant(now),
    }
    .into()
}
