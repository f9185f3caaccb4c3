//! Which days have to be summed up.

use std::collections::BTreeSet;

use diesel::{
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Nullable, Text, Timestamptz},
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

/// How far apart the days of one instant may be in different zones.
const NEAR: Duration = Duration::days(2);

statement!(
    /// Takes the newest dirty days except those that an import is still writing to: they are taken the next time. By an array,
    /// which is made once: a join may look for days to lock again, and take more than asked for.
    TakeDirty(account: i64 => BigInt, at_most: i64 => BigInt) -> Scalar<SqlDate> = "
    DELETE FROM touched_days WHERE account_id = $1 AND day = ANY(ARRAY(
        SELECT day FROM touched_days WHERE account_id = $1 ORDER BY day DESC LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING day"
);

statement!(
    /// The hours on which the tracking events received since an instant took place.
    HoursOfEvents(account: i64 => BigInt, since: OffsetDateTime => Timestamptz) -> Scalar<Timestamptz> = "
    SELECT DISTINCT date_trunc('hour', occurred_at, 'UTC') AS at
    FROM track_events WHERE account_id = $1 AND received_at >= $2"
);

statement!(
    /// What the sums are to be made by, the rates, time zone and definitions of now, and how far they are: all of them, or those
    /// from a day on, which `made_by` then says after what they were made by.
    HowFar<'a>(account: i64 => BigInt, timezone: &'a str => Text, definitions: &'a str => Text) -> Progress = "
    SELECT now.config_fingerprint, made_by = now.config_fingerprint AS is_done,
        CASE WHEN starts_with(made_by, now.config_fingerprint || ' from ') THEN right(made_by, 10)::date END AS made_from
    FROM (SELECT id, concat_ws(' ', $3, $2, fee_rate, fee_fixed, shipping_per_order, cogs_ratio) AS config_fingerprint
        FROM accounts WHERE id = $1) now
    JOIN roll_ups ON roll_ups.account_id = now.id
    WHERE roll_ups.account_id = $1"
);

row!(
    struct Progress {
        config_fingerprint: String => Text,
        is_done: bool => Bool,
        made_from: Option<Date> => Nullable<SqlDate>,
    }
);

statement!(
    /// The newest days, before one if it is given, that there is anything of. The same instant is on days up to two apart in
    /// different zones.
    NewestDays(
        account: i64 => BigInt,
        before: Option<Date> => Nullable<SqlDate>,
        at_most: i64 => BigInt,
    ) -> Scalar<SqlDate> = "
    SELECT DISTINCT m.day + near AS day
    FROM daily_metrics m CROSS JOIN generate_series(-2, 2) AS near
    WHERE m.account_id = $1 AND ($2 IS NULL OR m.day + near < $2)
    ORDER BY day DESC LIMIT $3"
);

statement!(
    /// The first day of the earliest month that tracking events are kept of; none before months are made.
    EarliestMonth() -> Scalar<Nullable<SqlDate>> = "
    SELECT min(to_date(right(c.relname::text, 6), 'YYYYMM')) AS first
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'track_events'::regclass AND c.relname ~ '^track_events_[0-9]{6}$'"
);

statement!(
    /// Visitors of a day only rise, so that they outlive the events that they were counted from. Of days of which all events
    /// are there they are counted again: of all days of an account that is no older than the earliest month that events are kept
    /// of, else of those after that month began, by every clock.
    ForgetVisitors<'a>(
        account: i64 => BigInt,
        days: &'a [Date] => Array<SqlDate>,
        earliest: Option<Date> => Nullable<SqlDate>,
    ) -> () = "
    WITH known AS (
        SELECT CASE WHEN $3::date IS NULL OR created_at >= $3::date::timestamp AT TIME ZONE 'UTC' THEN '-infinity'::date
            ELSE $3::date END AS day
        FROM accounts WHERE id = $1 AND EXISTS (SELECT FROM track_events WHERE account_id = $1)
    ),
    breakdowns AS (
        UPDATE daily_breakdowns SET visitors = 0 FROM known
        WHERE account_id = $1 AND daily_breakdowns.day = ANY($2) AND daily_breakdowns.day > known.day
    )
    UPDATE daily_metrics SET visitors = 0 FROM known
    WHERE account_id = $1 AND daily_metrics.day = ANY($2) AND daily_metrics.day > known.day"
);

pub(super) async fn take_dirty(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    at_most: usize,
) -> Result<BTreeSet<Date>, Error> {
    let days: Vec<Date> = TakeDirty { account: account.0, at_most: limit(at_most) }.load(connection).await?;
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

/// Days that are summed up again because what all of them depend on has changed.
#[derive(Default)]
pub(super) struct Stale {
    pub days: Vec<Date>,
    /// From when on days were summed up again before these.
    before: Option<Date>,
    /// From when on they are with these, if there may be older ones that are not.
    pub from: Option<Date>,
}

impl Stale {
    /// Which days may go, when these have been summed up and nothing is left on them. The older ones that are still stale are
    /// found by the days up to two apart, whose rows therefore stay until those have been summed up.
    pub fn droppable(&self, summed: &BTreeSet<Date>) -> Vec<Date> {
        let stayed = [self.before, self.before.and_then(Date::next_day)];
        let days: BTreeSet<Date> = summed.iter().copied().chain(stayed.into_iter().flatten()).collect();
        days.into_iter().filter(|day| self.from.is_none_or(|from| *day - from >= NEAR)).collect()
    }
}

/// Every day, when what all of them depend on has changed since they were summed up: the account's rates or time zone, or
/// how days are summed up. At most some of them at a time, from the newest to the oldest.
///
/// How far this is stays in the row of the account. Marking all days as dirty would wait for an import that has marked one of
/// them, and hold what the import waits for at its end.
pub(super) async fn take_stale(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    zone: &Zone,
    at_most: usize,
) -> Result<Stale, Error> {
    let how_far = HowFar { account: account.0, timezone: zone.name(), definitions: &DEFINITIONS };
    let found: Option<Progress> = how_far.get_result(connection).await.optional()?;
    let Some(Progress { config_fingerprint, is_done: false, made_from: before }) = found else {
        return Ok(Stale::default());
    };
    let newest = NewestDays { account: account.0, before, at_most: limit(at_most) };
    let days: Vec<Date> = newest.load(connection).await?;
    let from = match days.len() < at_most {
        true => None,
        false => days.iter().min().copied(),
    };
    let made_by = match from {
        None => config_fingerprint,
        Some(from) => format!("{config_fingerprint} from {from}"),
    };
    diesel::update(roll_ups::table.find(account.0))
        .set(roll_ups::config_fingerprint.eq(made_by))
        .execute(connection)
        .await?;
    if !days.is_empty() {
        let earliest: Option<Date> = EarliestMonth {}.get_result(connection).await?;
        ForgetVisitors { account: account.0, days: &days, earliest }.execute(connection).await?;
    }
    Ok(Stale { days, before, from })
}

fn limit(days: usize) -> i64 {
    i64::try_from(days).unwrap_or(i64::MAX)
}
