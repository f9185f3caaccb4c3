//! [`CustomerMetricsStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    deserialize::{self, FromSqlRow},
    pg::Pg,
    row::Row,
    sql_types::{Array, BigInt, Date as SqlDate, Nullable, Numeric, Text, Timestamptz},
};
use domain::{
    AccountId, CustomerId, StoreError,
    customer_metrics::{CustomerMetricsStore, Days, KnownCustomer, Metrics, Purchases},
    jobs::{Claim, WriteOutcome},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    database::{
        decode::{Amount, InOrder, Named},
        query::RunQueryDsl,
        statement,
    },
};

type Instant = Nullable<Timestamptz>;

/// Customers written by one statement.
const BATCH: usize = 10_000;

/// The last order up to a day, where there are orders since; else that of the totals.
macro_rules! last_order {
    ($since:literal, $day:literal) => {
        concat!(
            "CASE WHEN ",
            $since,
            " > 0 THEN (SELECT b.last_at FROM customer_days b
            WHERE b.account_id = $1 AND b.customer_id = c.id AND b.day <= ",
            $day,
            " AND b.orders > 0 ORDER BY b.day DESC LIMIT 1) ELSE t.last_at END"
        )
    };
}

statement!(
    /// What the days after `$2`, `$3` and `$4` brought is taken off the totals: a night reads the days since, not the past.
    Customers(account: i64 => BigInt, earlier: Date => SqlDate, last: Date => SqlDate, before: Date => SqlDate)
    -> CustomerRow = concat!("
    WITH since AS (
        SELECT customer_id, coalesce(sum(orders) FILTER (WHERE day > $2), 0)::bigint AS orders,
            count(*) FILTER (WHERE orders > 0 AND day > $2) AS days,
            coalesce(sum(gross) FILTER (WHERE day > $2), 0) AS gross,
            coalesce(sum(refunds) FILTER (WHERE day > $2), 0) AS refunds,
            sum(orders)::bigint AS all_orders, count(*) FILTER (WHERE orders > 0) AS all_days,
            coalesce(sum(orders) FILTER (WHERE day > $3), 0)::bigint AS after_orders,
            count(*) FILTER (WHERE orders > 0 AND day > $3) AS after_days,
            coalesce(sum(gross) FILTER (WHERE day > $3), 0) AS after_gross,
            coalesce(sum(refunds) FILTER (WHERE day > $3), 0) AS after_refunds
        FROM customer_days WHERE account_id = $1 AND day > $4 GROUP BY customer_id
    )
    SELECT c.id, c.orders_count, c.revenue_total, c.ltv_estimate, c.aov, c.segment, c.churn_score, c.first_purchase_at,
        c.last_purchase_at, t.first_at,
        t.orders - coalesce(s.after_orders, 0) AS orders, t.days - coalesce(s.after_days, 0) AS days,
        t.gross - coalesce(s.after_gross, 0) AS gross, t.refunds - coalesce(s.after_refunds, 0) AS refunds,
        ",
        last_order!("s.after_orders", "$3"),
        " AS last_at,
        t.orders - coalesce(s.orders, 0) AS earlier_orders, t.days - coalesce(s.days, 0) AS earlier_days,
        t.gross - coalesce(s.gross, 0) AS earlier_gross, t.refunds - coalesce(s.refunds, 0) AS earlier_refunds,
        ",
        last_order!("s.orders", "$2"),
        " AS earlier_last_at,
        t.orders - coalesce(s.all_orders, 0) AS before_orders, t.days - coalesce(s.all_days, 0) AS before_days,
        ",
        last_order!("s.all_orders", "$4"),
        " AS before_last_at
    FROM customers c
    LEFT JOIN customer_totals t ON t.account_id = $1 AND t.customer_id = c.id
    LEFT JOIN since s ON s.customer_id = c.id
    WHERE c.account_id = $1 ORDER BY c.id")
);

statement!(
    Update(
        account: i64 => BigInt,
        ids: Vec<i64> => Array<BigInt>,
        orders_count: Vec<i64> => Array<BigInt>,
        revenue_total: Vec<Decimal> => Array<Numeric>,
        ltv_estimate: Vec<Decimal> => Array<Numeric>,
        aov: Vec<Decimal> => Array<Numeric>,
        segment: Vec<&'static str> => Array<Text>,
        churn_score: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        first_at: Vec<Option<OffsetDateTime>> => Array<Nullable<Timestamptz>>,
        last_at: Vec<Option<OffsetDateTime>> => Array<Nullable<Timestamptz>>,
    ) -> () = "
    UPDATE customers c SET orders_count = v.orders_count, revenue_total = v.revenue_total,
        ltv_estimate = v.ltv_estimate, aov = v.aov, segment = v.segment, churn_score = v.churn_score,
        first_purchase_at = v.first_at, last_purchase_at = v.last_at
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10) AS v(id, orders_count, revenue_total, ltv_estimate, aov, segment,
        churn_score, first_at, last_at)
    WHERE c.account_id = $1 AND c.id = v.id"
);

struct CustomerRow(KnownCustomer);

columns!(CustomerRow {
    id: BigInt,
    orders_count: BigInt,
    revenue_total: Numeric,
    ltv_estimate: Numeric,
    aov: Numeric,
    segment: Text,
    churn_score: Nullable<Numeric>,
    first_purchase_at: Instant,
    last_purchase_at: Instant,
    first_at: Instant,
    orders: Nullable<BigInt>,
    days: Nullable<BigInt>,
    gross: Nullable<Numeric>,
    refunds: Nullable<Numeric>,
    last_at: Instant,
    earlier_orders: Nullable<BigInt>,
    earlier_days: Nullable<BigInt>,
    earlier_gross: Nullable<Numeric>,
    earlier_refunds: Nullable<Numeric>,
    earlier_last_at: Instant,
    before_orders: Nullable<BigInt>,
    before_days: Nullable<BigInt>,
    before_last_at: Instant,
});

/// By hand: it is read into the customer itself, and three times into what was bought.
impl FromSqlRow<<CustomerRow as statement::Row>::SqlType, Pg> for CustomerRow {
    fn build_from_row<'a>(row: &impl Row<'a, Pg>) -> deserialize::Result<Self> {
        let mut row = InOrder::of(row);
        let written = Metrics {
            customer_id: CustomerId(row.next::<BigInt, _>()?),
            orders_count: row.next::<BigInt, _>()?,
            revenue_total: row.next::<Numeric, Amount>()?.into(),
            ltv_estimate: row.next::<Numeric, Amount>()?.into(),
            aov: row.next::<Numeric, Amount>()?.into(),
            segment: row.next::<Text, Named<_>>()?.0,
            churn_score: row.next::<Nullable<Numeric>, Option<Amount>>()?.map(Into::into),
            span: row.next::<Instant, Option<_>>()?.zip(row.next::<Instant, _>()?),
        };
        let first_at = row.next::<Instant, _>()?;
        let purchases = purchases_of(&mut row, first_at)?;
        let earlier = purchases_of(&mut row, first_at)?;
        let before = Purchases {
            orders: row.next::<Nullable<BigInt>, Option<i64>>()?.unwrap_or_default(),
            days: row.next::<Nullable<BigInt>, Option<i64>>()?.unwrap_or_default(),
            span: first_at.zip(row.next::<Instant, _>()?),
            ..Purchases::default()
        };
        Ok(Self(KnownCustomer { purchases, earlier, before, written }))
    }
}

/// Orders, days, gross, refunds and the last order; nothing of a customer without any.
fn purchases_of<'a>(
    row: &mut InOrder<'_, impl Row<'a, Pg>>,
    first_at: Option<OffsetDateTime>,
) -> deserialize::Result<Purchases> {
    let amount = |amount: Option<Amount>| amount.map(Decimal::from).unwrap_or_default();
    Ok(Purchases {
        orders: row.next::<Nullable<BigInt>, Option<i64>>()?.unwrap_or_default(),
        days: row.next::<Nullable<BigInt>, Option<i64>>()?.unwrap_or_default(),
        gross: amount(row.next::<Nullable<Numeric>, _>()?),
        refunds: amount(row.next::<Nullable<Numeric>, _>()?),
        span: first_at.zip(row.next::<Instant, _>()?),
    })
}

#[async_trait]
impl CustomerMetricsStore for Store {
    async fn customers(&self, account: AccountId, days: Days) -> Result<Vec<KnownCustomer>, StoreError> {
        let Days { last, earlier, before } = days;
        self.job_transaction(async |connection| {
            let customers = Customers { account: account.0, earlier, last, before };
            let rows: Vec<CustomerRow> = customers.load(connection).await?;
            Ok(rows.into_iter().map(|row| row.0).collect())
        })
        .await
    }

    async fn write(
        &self,
        claim: &Claim,
        metrics: Vec<Metrics>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError> {
        self.finish(claim, now, async |connection| {
            let mut rows = 0;
            for batch in metrics.chunks(BATCH) {
                let written = Update::new(claim.account, batch).execute(connection).await?;
                rows += u64::try_from(written).unwrap_or(u64::MAX);
            }
            Ok(rows)
        })
        .await
    }
}

impl Update {
    /// The rows column by column.
    fn new(account: AccountId, metrics: &[Metrics]) -> Self {
        let mut columns = Self {
            account: account.0,
            ids: Vec::new(),
            orders_count: Vec::new(),
            revenue_total: Vec::new(),
            ltv_estimate: Vec::new(),
            aov: Vec::new(),
            segment: Vec::new(),
            churn_score: Vec::new(),
            first_at: Vec::new(),
            last_at: Vec::new(),
        };
        for row in metrics {
            let Metrics { customer_id, orders_count, revenue_total, ltv_estimate, aov, segment, churn_score, span } =
                row;
            columns.ids.push(customer_id.0);
            columns.orders_count.push(*orders_count);
            columns.revenue_total.push(*revenue_total);
            columns.ltv_estimate.push(*ltv_estimate);
            columns.aov.push(*aov);
            columns.segment.push(segment.as_str());
            columns.churn_score.push(*churn_score);
            columns.first_at.push(span.map(|(first, _)| first));
            columns.last_at.push(span.map(|(_, last)| last));
        }
        columns
    }
}
