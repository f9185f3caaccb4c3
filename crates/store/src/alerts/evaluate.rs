//! [`AlertEvaluator`] on Postgres: which rules are due, the facts of their windows, and where they stand.

use async_trait::async_trait;
use diesel::{
    dsl::exists,
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    alerts::{AlertEvaluator, ClaimedRule, Evaluation, Facts, Window},
    events::Event,
    inventory::Status,
    profit::DayRange,
};
use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use super::{RuleRow, firings};
use crate::{
    Store,
    analytics::daily,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    schema::{alert_rules as rules, inventory_items},
    webhooks::outbox,
};

/// Facts are planned for the values of their window, as the statements of jobs are, but may take no longer than those
/// of requests: an account has up to fifty rules every few minutes, and the others' wait for their turn.
const FACTS: &str = "SET LOCAL plan_cache_mode = force_custom_plan";

statement!(
    /// Accounts with rules that are due.
    Due(now: OffsetDateTime => Timestamptz, of: Option<Vec<i64>> => Nullable<Array<BigInt>>, limit: i64 => BigInt)
        -> Scalar<BigInt> = "
    SELECT account_id FROM alert_rules
    WHERE active AND due_at <= $1 AND ($2::bigint[] IS NULL OR account_id = ANY ($2))
    GROUP BY account_id ORDER BY min(due_at) LIMIT $3"
);

statement!(
    /// What was sold and claimed back in a window, its beginning left out.
    Orders(account: i64 => BigInt, since: OffsetDateTime => Timestamptz, until: OffsetDateTime => Timestamptz)
        -> OrdersRow = "
    SELECT gross_revenue, orders, refunds, EXISTS (SELECT FROM orders WHERE account_id = $1) AS any_order
    FROM (SELECT coalesce(sum(gross), 0) AS gross_revenue, count(*) AS orders FROM orders
            WHERE account_id = $1 AND placed_at > $2 AND placed_at <= $3) AS sold,
        (SELECT coalesce(sum(amount), 0) AS refunds FROM refunds
            WHERE account_id = $1 AND refunded_at > $2 AND refunded_at <= $3) AS returned"
);

row!(
    struct OrdersRow {
        gross_revenue: Decimal => Numeric,
        orders: i64 => BigInt,
        refunds: Decimal => Numeric,
        any_order: bool => Bool,
    }
);

impl From<OrdersRow> for Facts {
    fn from(row: OrdersRow) -> Self {
        let OrdersRow { gross_revenue, orders, refunds, any_order } = row;
        Self::Orders { gross_revenue, orders, refunds, any_order }
    }
}

statement!(
    /// The events of a name in a window, its beginning left out.
    Events<'a>(
        account: i64 => BigInt,
        since: OffsetDateTime => Timestamptz,
        until: OffsetDateTime => Timestamptz,
        name: &'a str => Text,
    ) -> EventsRow = "
    SELECT count(*) AS count, EXISTS (SELECT FROM track_events WHERE account_id = $1) AS any_event
    FROM track_events WHERE account_id = $1 AND occurred_at > $2 AND occurred_at <= $3 AND name = $4"
);

row!(
    struct EventsRow {
        count: i64 => BigInt,
        any_event: bool => Bool,
    }
);

impl From<EventsRow> for Facts {
    fn from(row: EventsRow) -> Self {
        let EventsRow { count, any_event } = row;
        Self::Events { count, any_event }
    }
}

statement!(
    /// What is known of the days until `last`. A day without ads has no spend, but it was read.
    Known(account: i64 => BigInt, last: Date => SqlDate) -> KnownRow = "
    SELECT EXISTS (SELECT FROM daily_metrics WHERE account_id = $1 AND day <= $2 AND orders > 0) AS any_order,
        EXISTS (SELECT FROM ad_spend WHERE account_id = $1 AND day >= $2)
            OR EXISTS (SELECT FROM ad_coverage WHERE account_id = $1 AND day = $2) AS spend_is_complete"
);

row!(
    struct KnownRow {
        any_order: bool => Bool,
        spend_is_complete: bool => Bool,
    }
);

#[async_trait]
impl AlertEvaluator for Store {
    async fn due(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<AccountId>, StoreError> {
        let accounts: Vec<i64> = self.look(|of| Due { now, of, limit }).await?;
        Ok(accounts.into_iter().map(AccountId).collect())
    }

    async fn take(
        &self,
        account: AccountId,
        now: OffsetDateTime,
        interval: Duration,
    ) -> Result<Option<ClaimedRule>, StoreError> {
        let claimed =
            self.job_transaction(async |connection| push_on(connection, account, now, interval).await).await?;
        let Some((row, due_at)) = claimed else { return Ok(None) };
        Ok(Some(ClaimedRule { rule: row.try_into()?, due_at }))
    }

    async fn facts(&self, account: AccountId, window: Window) -> Result<Facts, StoreError> {
        let known = self
            .run_transaction_within::<_, Failure>(FACTS, async |connection| {
                Ok(facts(connection, account, &window).await?)
            })
            .await?;
        Ok(known)
    }

    async fn settle(
        &self,
        account: AccountId,
        claimed: &ClaimedRule,
        evaluation: Evaluation,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let Evaluation { observed: _, state, fired } = evaluation;
        let fired = fired.map(|fired| {
            let (observed, threshold) = (fired.observed.0, fired.threshold.0);
            (Event::from(fired), observed, threshold)
        });
        self.job_transaction(async |connection| {
            let settled = diesel::update(rules::table.find((account.0, claimed.rule.id.0)))
                .filter(rules::active)
                .filter(rules::due_at.eq(claimed.due_at))
                .set((
                    rules::armed.eq(state.armed),
                    rules::last_value.eq(state.last_value),
                    rules::last_fired_at.eq(state.last_fired_at),
                    rules::last_evaluated_at.eq(now),
                ))
                .execute(connection)
                .await?;
            if let (1.., Some((event, observed, threshold))) = (settled, &fired) {
                outbox::emit(connection, account, std::slice::from_ref(event), now).await?;
                let told = (event, *observed, *threshold);
                firings::add(connection, account, claimed.rule.id.0, told, now).await?;
            }
            Ok(settled > 0)
        })
        .await
    }
}

/// The rule that waits longest, of those that are due or will be soon, and when it is due again from now on.
async fn push_on(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
    interval: Duration,
) -> Result<Option<(RuleRow, OffsetDateTime)>, Error> {
    let soon = now + Duration::seconds(interval.whole_seconds() / 2);
    let row: Option<RuleRow> = rules::table
        .filter(rules::account_id.eq(account.0))
        .filter(rules::active)
        .filter(rules::due_at.le(soon))
        .order((rules::due_at, rules::id))
        .select(RuleRow::as_select())
        .for_update()
        .skip_locked()
        .first(connection)
        .await
        .optional()?;
    let Some(row) = row else { return Ok(None) };
    let due_at = diesel::update(rules::table.find((account.0, row.id)))
        .set(rules::due_at.eq(now + interval))
        .returning(rules::due_at)
        .get_result(connection)
        .await?;
    Ok(Some((row, due_at)))
}

async fn facts(connection: &mut AsyncPgConnection, account: AccountId, window: &Window) -> Result<Facts, Error> {
    match window {
        Window::Orders { since, until } => {
            let orders = Orders { account: account.0, since: *since, until: *until };
            Ok(orders.get_result::<OrdersRow>(connection).await?.into())
        }
        Window::Events { name, since, until } => {
            let events = Events { account: account.0, since: *since, until: *until, name: name.as_str() };
            Ok(events.get_result::<EventsRow>(connection).await?.into())
        }
        Window::Days(range) => of_days(connection, account, *range).await,
        Window::Inventory => of_inventory(connection, account).await,
    }
}

async fn of_days(connection: &mut AsyncPgConnection, account: AccountId, range: DayRange) -> Result<Facts, Error> {
    let known = Known { account: account.0, last: range.last };
    let KnownRow { any_order, spend_is_complete } = known.get_result(connection).await?;
    Ok(Facts::Days { days: daily::days(connection, account, range).await?, any_order, spend_is_complete })
}

async fn of_inventory(connection: &mut AsyncPgConnection, account: AccountId) -> Result<Facts, Error> {
    let items = inventory_items::table.filter(inventory_items::account_id.eq(account.0));
    let any_item = diesel::select(exists(items)).get_result(connection).await?;
    let critical = items
        .filter(inventory_items::status.eq(Status::Critical.as_str()))
        .select((inventory_items::current_stock, inventory_items::units_sold_30d))
        .load(connection)
        .await?;
    Ok(Facts::Inventory { critical, any_item })
}
