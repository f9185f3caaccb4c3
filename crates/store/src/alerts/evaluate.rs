//! [`AlertEvaluator`] on Postgres: what the metrics are, and what that makes of a rule.

use async_trait::async_trait;
use diesel::{
    QueryableByName,
    prelude::*,
    result::Error,
    sql_query,
    sql_types::{Array, BigInt, Date as SqlDate, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    alerts::{AlertEvaluator, Evaluated, Metric, Rule, Terms, step},
    events::{AlertFired, Amount, Event},
    money::Currency,
    zone::Zone,
};
use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use super::RuleRow;
use crate::{
    Store,
    error::{Failure, parse},
    outbox,
    schema::{accounts, alert_rules as rules},
    statement::Scalar,
};

statement!(
    /// Accounts with rules that are due.
    Due(now: OffsetDateTime => Timestamptz, of: Option<Vec<i64>> => Nullable<Array<BigInt>>, limit: i64 => BigInt)
        -> Scalar<BigInt> = "
    SELECT account_id FROM alert_rules
    WHERE active AND due_at <= $1 AND ($2::bigint[] IS NULL OR account_id = ANY ($2))
    GROUP BY account_id ORDER BY min(due_at) LIMIT $3"
);

/// Pushes the rule on before it is looked at, so that one whose metric cannot be read does not hold up the others.
const TAKE: &str = "
    UPDATE alert_rules SET due_at = $3 WHERE account_id = $1 AND id = (
        SELECT id FROM alert_rules WHERE account_id = $1 AND active AND due_at <= $2
        ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id AS number";

/// Null for an account that never had an order: nothing is connected yet, so that nothing sold says nothing.
const ORDERS: &str = "
    SELECT CASE WHEN EXISTS (SELECT FROM orders WHERE account_id = $1) THEN coalesce(sum(gross), 0) END AS amount,
        count(*) AS number
    FROM orders WHERE account_id = $1 AND placed_at > $2 AND placed_at <= $3";

const REFUNDS: &str = "
    SELECT CASE WHEN EXISTS (SELECT FROM orders WHERE account_id = $1) THEN coalesce(sum(amount), 0) END AS amount,
        count(*) AS number
    FROM refunds WHERE account_id = $1 AND refunded_at > $2 AND refunded_at <= $3";

const EVENTS: &str = "
    SELECT CASE WHEN EXISTS (SELECT FROM track_events WHERE account_id = $1) THEN count(*)::numeric END AS amount,
        count(*) AS number
    FROM track_events WHERE account_id = $1 AND occurred_at > $2 AND occurred_at <= $3 AND name = $4";

/// Null without inventory; a day's computation tells nothing about the moment, but about that day.
const STOCKOUTS: &str = "
    SELECT CASE WHEN count(*) > 0
        THEN count(*) FILTER (WHERE current_stock <= 0 AND units_sold_30d > 0)::numeric END AS amount, count(*) AS number
    FROM inventory_items WHERE account_id = $1";

/// `ad_spend` is null where nothing has come in for the window's last day or a later one: spend that is not reported
/// yet is not spend of nothing.
const DAYS: &str = "
    SELECT sum(gross_revenue) AS gross, sum(gross_revenue - refunds) AS net,
        CASE WHEN EXISTS (SELECT FROM daily_metrics WHERE account_id = $1 AND day <= $3) THEN coalesce(
            sum(gross_revenue - refunds - cogs - fees - shipping - ad_spend - extra_expenses), 0) END AS profit,
        CASE WHEN EXISTS (SELECT FROM ad_spend WHERE account_id = $1 AND day >= $3) THEN coalesce(sum(ad_spend), 0) END
            AS ad_spend
    FROM daily_metrics WHERE account_id = $1 AND day BETWEEN $2 AND $3";

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct Counted {
    #[diesel(sql_type = Nullable<Numeric>)]
    amount: Option<Decimal>,
    #[diesel(sql_type = BigInt)]
    number: i64,
}

#[derive(QueryableByName)]
struct Days {
    #[diesel(sql_type = Nullable<Numeric>)]
    gross: Option<Decimal>,
    #[diesel(sql_type = Nullable<Numeric>)]
    net: Option<Decimal>,
    #[diesel(sql_type = Nullable<Numeric>)]
    profit: Option<Decimal>,
    #[diesel(sql_type = Nullable<Numeric>)]
    ad_spend: Option<Decimal>,
}

#[async_trait]
impl AlertEvaluator for Store {
    async fn due(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<AccountId>, StoreError> {
        let accounts: Vec<i64> = self.look(|of| Due { now, of, limit }).await?;
        Ok(accounts.into_iter().map(AccountId).collect())
    }

    async fn evaluate_one(
        &self,
        account: AccountId,
        now: OffsetDateTime,
        interval: Duration,
    ) -> Result<Option<Evaluated>, StoreError> {
        let taken = self
            .run::<_, Failure>(async |connection| {
                let take = sql_query(TAKE)
                    .bind::<BigInt, _>(account.0)
                    .bind::<Timestamptz, _>(now)
                    .bind::<Timestamptz, _>(now + interval);
                Ok(take.get_result::<Number>(connection).await.optional()?)
            })
            .await?;
        let Some(Number { number: id }) = taken else { return Ok(None) };
        self.job_transaction(async |connection| evaluate(connection, account, id, now).await).await
    }
}

/// Under the rule's lock, so that of two evaluations at once the second sees what the first made of it. A rule that was
/// deleted or switched off in the meantime is passed over, as one that saw nothing.
async fn evaluate(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    now: OffsetDateTime,
) -> Result<Option<Evaluated>, Error> {
    let target = rules::table.find((account.0, id));
    let row: Option<RuleRow> =
        target.filter(rules::active).select(RuleRow::as_select()).for_update().first(connection).await.optional()?;
    let Some(row) = row else {
        return Ok(Some(Evaluated { account, rule: id, observed: None, fired: false }));
    };
    let Rule { terms, standing, .. } = row.try_into().map_err(unreadable)?;
    let observed = observe(connection, account, &terms, now).await?;
    let (next, fired) = step(&terms, standing, observed, now);
    diesel::update(target)
        .set((
            rules::armed.eq(next.armed),
            rules::last_value.eq(next.last_value),
            rules::last_fired_at.eq(next.last_fired_at),
            rules::last_evaluated_at.eq(now),
        ))
        .execute(connection)
        .await?;
    if let (true, Some(value)) = (fired, observed) {
        outbox::emit(connection, account, &[event(id, &terms, value)], now).await?;
    }
    Ok(Some(Evaluated { account, rule: id, observed, fired }))
}

/// A stored value that is not valid ends the transaction like an error of the database.
fn unreadable(error: StoreError) -> Error {
    Error::DeserializationError(error.into())
}

fn event(id: i64, terms: &Terms, observed: Decimal) -> Event {
    AlertFired {
        rule_id: id,
        rule_name: terms.name().to_owned(),
        severity: terms.severity(),
        metric: terms.metric().to_string(),
        observed: Amount(observed),
        threshold: Amount(terms.threshold()),
        comparator: terms.comparator(),
        window_hours: terms.window_hours(),
    }
    .into()
}

/// What the metric is over the window, as it is shown; `None` when there is nothing to tell it from.
async fn observe(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    terms: &Terms,
    now: OffsetDateTime,
) -> Result<Option<Decimal>, Error> {
    let (currency, zone): (String, String) =
        accounts::table.find(account.0).select((accounts::currency, accounts::timezone)).first(connection).await?;
    let (currency, zone): (Currency, Zone) =
        (parse(&currency, "currency").map_err(unreadable)?, parse(&zone, "time zone").map_err(unreadable)?);
    let window = Window { account, since: now - Duration::hours(terms.window_hours()), until: now };
    let metric = terms.metric();
    let value = match metric {
        Metric::Revenue | Metric::Orders | Metric::Aov => {
            let Counted { amount, number } = window.count(connection, ORDERS).await?;
            match metric {
                Metric::Orders => amount.map(|_| Decimal::from(number)),
                Metric::Aov => amount.and_then(|sum| sum.checked_div(Decimal::from(number))),
                _ => amount,
            }
        }
        Metric::Refunds => window.count(connection, REFUNDS).await?.amount,
        Metric::Event(name) => window.events(connection, name.as_str()).await?.amount,
        Metric::Stockouts => {
            let counted: Counted = sql_query(STOCKOUTS).bind::<BigInt, _>(account.0).get_result(connection).await?;
            counted.amount
        }
        Metric::AdSpend | Metric::Roas | Metric::Profit | Metric::Margin => {
            let days = full_days(connection, account, &zone, terms.window_hours() / 24, now).await?;
            of_days(metric, &days)
        }
    };
    Ok(value.map(|value| metric.shown(value, currency)))
}

/// The time after `since`, up to and including `until`.
struct Window {
    account: AccountId,
    since: OffsetDateTime,
    until: OffsetDateTime,
}

impl Window {
    async fn count(&self, connection: &mut AsyncPgConnection, statement: &str) -> Result<Counted, Error> {
        sql_query(statement)
            .bind::<BigInt, _>(self.account.0)
            .bind::<Timestamptz, _>(self.since)
            .bind::<Timestamptz, _>(self.until)
            .get_result(connection)
            .await
    }

    async fn events(&self, connection: &mut AsyncPgConnection, name: &str) -> Result<Counted, Error> {
        sql_query(EVENTS)
            .bind::<BigInt, _>(self.account.0)
            .bind::<Timestamptz, _>(self.since)
            .bind::<Timestamptz, _>(self.until)
            .bind::<Text, _>(name)
            .get_result(connection)
            .await
    }
}

/// The sums of the last `days` days of the account's zone that are over.
async fn full_days(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    zone: &Zone,
    days: i64,
    now: OffsetDateTime,
) -> Result<Days, Error> {
    let last = zone.day_of(now).previous_day().unwrap_or(Date::MIN);
    let first = last.checked_sub(Duration::days(days - 1)).unwrap_or(Date::MIN);
    sql_query(DAYS)
        .bind::<BigInt, _>(account.0)
        .bind::<SqlDate, _>(first)
        .bind::<SqlDate, _>(last)
        .get_result(connection)
        .await
}

fn of_days(metric: &Metric, days: &Days) -> Option<Decimal> {
    match metric {
        Metric::AdSpend => days.ad_spend,
        Metric::Roas => {
            let spend = days.ad_spend.filter(|spend| *spend > Decimal::ZERO)?;
            days.gross.unwrap_or_default().checked_div(spend)
        }
        Metric::Profit => days.profit,
        Metric::Margin => {
            let net = days.net.filter(|net| *net > Decimal::ZERO)?;
            days.profit?.checked_mul(Decimal::ONE_HUNDRED)?.checked_div(net)
        }
        _ => None,
    }
}
