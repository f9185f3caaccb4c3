//! [`ProfitStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Date as SqlDate, Nullable, Numeric, Timestamptz},
};
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, StoreError,
    freshness::{Dated, Freshness, Newest, Source},
    jobs::JobName,
    profit::{Assumptions, Basis, Components, DayRange, ProfitStore, Snapshot},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{Store, decode::Amount, freshness, schema::accounts};

type Instant = Nullable<Timestamptz>;
/// The columns of a snapshot, then when it was computed, the newest order, refund, spend and expense.
type Columns = (
    (SqlDate, Numeric, Numeric, Numeric, Numeric, Numeric, Numeric, Numeric, BigInt),
    (Numeric, Numeric, BigInt, BigInt, Timestamptz),
    (Instant, Instant, Instant, Nullable<SqlDate>, Nullable<SqlDate>),
);

statement!(
    /// The snapshots of some days, and how fresh they are; `$1` is the account throughout.
    Range(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> Columns = "
    SELECT snapshot_date, gross_revenue, refunds, ad_spend, cogs_estimate, fees_estimate, shipping_estimate,
        extra_expenses, purchase_count,
        goods_revenue, cogs_covered_revenue, fees_estimated_orders, shipping_estimated_orders, computed_at,
        (SELECT max(finished_at) FROM job_runs
            WHERE account_id = $1 AND job = 'profit_snapshots' AND finished_at IS NOT NULL),
        (SELECT max(placed_at) FROM orders WHERE account_id = $1),
        (SELECT max(refunded_at) FROM refunds WHERE account_id = $1),
        (SELECT max(day) FROM ad_spend WHERE account_id = $1),
        (SELECT max(day) FROM expenses WHERE account_id = $1)
    FROM profit_snapshots WHERE account_id = ? AND snapshot_date BETWEEN ? AND ? ORDER BY snapshot_date DESC"
);

#[derive(Queryable)]
struct SnapshotRow(
    (Date, Amount, Amount, Amount, Amount, Amount, Amount, Amount, i64),
    (Amount, Amount, i64, i64, OffsetDateTime),
    Reach,
);

/// When the snapshots were computed, and the newest order, refund, spend and expense; the same in every row.
type Reach = (Option<OffsetDateTime>, Option<OffsetDateTime>, Option<OffsetDateTime>, Option<Date>, Option<Date>);

impl From<SnapshotRow> for Snapshot {
    fn from(row: SnapshotRow) -> Self {
        let SnapshotRow(
            (
                date,
                gross_revenue,
                refunds,
                ad_spend,
                cogs_estimate,
                fees_estimate,
                shipping_estimate,
                extra_expenses,
                purchase_count,
            ),
            (goods_revenue, cogs_covered_revenue, fees_estimated_orders, shipping_estimated_orders, computed_at),
            _,
        ) = row;
        Self {
            date,
            components: Components {
                gross_revenue: gross_revenue.into(),
                refunds: refunds.into(),
                ad_spend: ad_spend.into(),
                cogs_estimate: cogs_estimate.into(),
                fees_estimate: fees_estimate.into(),
                shipping_estimate: shipping_estimate.into(),
                extra_expenses: extra_expenses.into(),
                purchase_count,
            },
            basis: Basis {
                goods_revenue: goods_revenue.into(),
                cogs_covered_revenue: cogs_covered_revenue.into(),
                fees_estimated_orders,
                shipping_estimated_orders,
            },
            computed_at,
        }
    }
}

#[async_trait]
impl ProfitStore for Store {
    async fn range(&self, account: AccountId, range: DayRange) -> Result<Dated<Vec<Snapshot>>, StoreError> {
        let (freshness, rows) = self
            .read_short(account, async |mut connection| {
                let range = Range { account: account.0, first: range.first, last: range.last };
                let rows: Vec<SnapshotRow> = range.load(&mut connection).await?;
                let freshness = match rows.as_slice() {
                    [SnapshotRow(_, _, reach), ..] => freshness_of(*reach),
                    [] => freshness::of(connection, account, JobName::ProfitSnapshots).await?,
                };
                Ok((freshness, rows))
            })
            .await?;
        Ok(Dated { found: rows.into_iter().map(Snapshot::from).collect(), freshness })
    }

    async fn assumptions(&self, account: AccountId) -> Result<Assumptions, StoreError> {
        let columns = (accounts::fee_rate, accounts::fee_fixed, accounts::shipping_per_order, accounts::cogs_ratio);
        let row: (Decimal, Decimal, Decimal, Decimal) = self
            .read(account, async |connection| {
                Ok(accounts::table.find(account.0).select(columns).first(connection).await?)
            })
            .await?;
        let (fee_rate, fee_fixed, shipping_per_order, cogs_ratio) = row;
        Ok(Assumptions { fee_rate, fee_fixed, shipping_per_order, cogs_ratio })
    }
}

fn freshness_of((as_of, orders, refunds, ad_spend, expenses): Reach) -> Freshness {
    freshness::assemble(JobName::ProfitSnapshots, as_of, |source| match source {
        Source::Orders => orders.map(Newest::At),
        Source::Refunds => refunds.map(Newest::At),
        Source::AdSpend => ad_spend.map(Newest::Day),
        Source::Expenses => expenses.map(Newest::Day),
        _ => None,
    })
}
