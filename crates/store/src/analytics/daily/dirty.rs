//! Which days have to be summed up.

use std::collections::BTreeSet;

use diesel::{
    prelude::*,
    result::Error,
    sql_types::{BigInt, Date as SqlDate, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{AccountId, zone::Zone};
use time::{Date, Duration, OffsetDateTime};

use super::definitions::DEFINITIONS;
use crate::{
    database::{query::RunQueryDsl, statement::Scalar},
    schema::roll_ups,
};

/// Tracking events are looked at again for this long: an event is stamped before its transaction is visible.
const EVENT_OVERLAP: Duration = Duration::HOUR;

statement!(
    /// Takes the dirty days except those that an import is still writing to: they are taken the next time.
    TakeDirty(account: i64 => BigInt) -> Scalar<SqlDate> = "
    DELETE FROM touched_days WHERE account_id = $1 AND day IN (
        SELECT day FROM touched_days WHERE account_id = $1 ORDER BY day FOR UPDATE SKIP LOCKED)
    RETURNING day"
);

statement!(
    /// The hours on which the tracking events received since an instant took place.
    HoursOfEvents(account: i64 => BigInt, since: OffsetDateTime => Timestamptz) -> Scalar<Timestamptz> = "
    SELECT DISTINCT date_trunc('hour', occurred_at, 'UTC') AS at
    FROM track_events WHERE account_id = $1 AND received_at >= $2"
);

statement!(
    /// All days, if they were summed up by other rates, in another time zone or by other definitions than those of now, which
    /// are noted. The same instant is on days up to two apart in different zones.
    TakeStale<'a>(account: i64 => BigInt, timezone: &'a str => Text, definitions: &'a str => Text) -> Scalar<SqlDate> = "
    WITH now AS (
        SELECT concat_ws(' ', $3, $2, fee_rate, fee_fixed, shipping_per_order, cogs_ratio) AS config_fingerprint
        FROM accounts WHERE id = $1
    ),
    changed AS (
        UPDATE roll_ups SET made_by = config_fingerprint FROM now WHERE account_id = $1 AND made_by <> config_fingerprint
        RETURNING account_id
    )
    SELECT DISTINCT m.day + near AS day
    FROM changed JOIN daily_metrics m ON m.account_id = $1 CROSS JOIN generate_series(-2, 2) AS near"
);

statement!(
    /// Visitors of a day only rise, so that they outlive the events that they were counted from. Of days of which all events
    /// are there they are counted again.
    ForgetVisitors(account: i64 => BigInt) -> () = "
    WITH known AS (
        SELECT min(occurred_at AT TIME ZONE 'UTC')::date + 1 AS day FROM track_events WHERE account_id = $1
    ),
    breakdowns AS (
        UPDATE daily_breakdowns SET visitors = 0 FROM known WHERE account_id = $1 AND daily_breakdowns.day > known.day
    )
    UPDATE daily_metrics SET visitors = 0 FROM known WHERE account_id = $1 AND daily_metrics.day > known.day"
);

pub(super) async fn take_dirty(
    connection: &mut AsyncPgConnection,
    account: AccountId,
) -> Result<BTreeSet<Date>, Error> {
    let days: Vec<Date> = TakeDirty { account: account.0 }.load(connection).await?;
    Ok(days.into_iter().collect())
}

/// The days of the tracking events that came in since the last roll-up.
pub(super) async fn of_new_events(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    zone: &Zone,
    now: OffsetDateTime,
) -> Result<BTreeSet<Date>, Error> {
    let until: Option<OffsetDateTime> =
        roll_ups::table.find(account.0).select(roll_ups::events_until).first(connection).await.optional()?;
    let since = until.map_or(OffsetDateTime::UNIX_EPOCH, |until| until - EVENT_OVERLAP);
    let hours: Vec<OffsetDateTime> = HoursOfEvents { account: account.0, since }.load(connection).await?;
    let events_until = until.map_or(now, |until| until.max(now));
    diesel::insert_into(roll_ups::table)
        .values((roll_ups::account_id.eq(account.0), roll_ups::events_until.eq(events_until)))
        .on_conflict(roll_ups::account_id)
        .do_update()
        .set(roll_ups::events_until.eq(events_until))
        .execute(connection)
        .await?;
    // An hour of UTC may lie on two local days where the offset is not whole hours.
    let last_second = Duration::seconds(3_599);
    Ok(hours.into_iter().flat_map(|hour| [zone.day_of(hour), zone.day_of(hour + last_second)]).collect())
}

/// Every day, when what all of them depend on has changed since they were summed up: the account's rates or time zone, or
/// how days are summed up.
pub(super) async fn take_stale(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    zone: &Zone,
) -> Result<Vec<Date>, Error> {
    let stale = TakeStale { account: account.0, timezone: zone.name(), definitions: &DEFINITIONS };
    let days: Vec<Date> = stale.load(connection).await?;
    if !days.is_empty() {
        ForgetVisitors { account: account.0 }.execute(connection).await?;
    }
    Ok(days)
}
