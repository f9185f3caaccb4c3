//! [`ProfitStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Date as SqlDate, Nullable, Numeric, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    freshness::{Dated, Freshness, Newest, Source},
    jobs::JobName,
    profit::{Assumptions, Basis, Components, DayRange, ProfitStore, Snapshot},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    analytics::freshness::{self, newest},
    database::{decode::Amount, query::RunQueryDsl},
    schema::accounts,
};

type Instant = Nullable<Timestamptz>;

statement!(
    /// The snapshots of some days, and with the last of the days how fresh all of them are: said in each row it would be a
    /// fifth of what is sent.
    ///
    /// What had no rate when a snapshot was computed is not in it, though there may be one now.
    Range(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> SnapshotRow = concat!("
    SELECT snapshot_date, gross_revenue, refunds, ad_spend, cogs_estimate, fees_estimate, shipping_estimate,
        extra_expenses, purchase_count,
        goods_revenue, cogs_covered_revenue, fees_estimated_orders, shipping_estimated_orders,
        returned_units, returned_cogs, returned_fees,
        lacks_rates OR snapshot_date = ANY (ARRAY(
            SELECT DISTINCT day FROM ad_days WHERE account_id = $1 AND fx IS NULL AND day BETWEEN $2 AND $3)) AS lacks_rates,
        CASE snapshot_date WHEN $3 THEN ", newest!(job, "profit_snapshots"), " END AS as_of,
        CASE snapshot_date WHEN $3 THEN ", newest!(orders.placed_at), " END AS newest_order,
        CASE snapshot_date WHEN $3 THEN ", newest!(refunds.refunded_at), " END AS newest_refund,
        CASE snapshot_date WHEN $3 THEN ", newest!(ad_spend.day), " END AS newest_spend,
        CASE snapshot_date WHEN $3 THEN ", newest!(expenses.day), " END AS newest_expense
    FROM profit_snapshots WHERE account_id = $1 AND snapshot_date BETWEEN $2 AND $3 ORDER BY snapshot_date DESC")
);

row!(
    struct SnapshotRow {
        snapshot_date: Date => SqlDate,
        gross_revenue: Amount => Numeric,
        refunds: Amount => Numeric,
        ad_spend: Amount => Numeric,
        cogs_estimate: Amount => Numeric,
        fees_estimate: Amount => Numeric,
        shipping_estimate: Amount => Numeric,
        extra_expenses: Amount => Numeric,
        purchase_count: i64 => BigInt,
        goods_revenue: Amount => Numeric,
        cogs_covered_revenue: Amount => Numeric,
        fees_estimated_orders: i64 => BigInt,
        shipping_estimated_orders: i64 => BigInt,
        returned_units: i64 => BigInt,
        returned_cogs: Amount => Numeric,
        returned_fees: Amount => Numeric,
        lacks_rates: bool => Bool,
        /// When the snapshots were computed, and the newest of each source: of the last day alone.
        as_of: Option<OffsetDateTime> => Instant,
        newest_order: Option<OffsetDateTime> => Instant,
        newest_refund: Option<OffsetDateTime> => Instant,
        newest_spend: Option<Date> => Nullable<SqlDate>,
        newest_expense: Option<Date> => Nullable<SqlDate>,
    }
);

impl From<SnapshotRow> for Snapshot {
    fn from(row: SnapshotRow) -> Self {
        let SnapshotRow {
            snapshot_date: date,
            gross_revenue,
            refunds,
            ad_spend,
            cogs_estimate,
            fees_estimate,
            shipping_estimate,
            extra_expenses,
            purchase_count,
            goods_revenue,
            cogs_covered_revenue,
            fees_estimated_orders,
            shipping_estimated_orders,
            returned_units,
            returned_cogs,
            returned_fees,
            lacks_rates,
            as_of: _,
            newest_order: _,
            newest_refund: _,
            newest_spend: _,
            newest_expense: _,
        } = row;
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
                returned_units,
                returned_cogs: returned_cogs.into(),
                returned_fees: returned_fees.into(),
            },
            lacks_rates,
        }
    }
}

#[async_trait]
impl ProfitStore for Store {
    async fn range(&self, account: AccountId, range: DayRange) -> Result<Dated<Vec<Snapshot>>, StoreError> {
        let (freshness, rows) = self
            .read_pipelined(account, async |connection| {
                let days = || Range { account: account.0, first: range.first, last: range.last };
                let rows: Vec<SnapshotRow> = days().load(connection).await?;
                if let [row, ..] = rows.as_slice()
                    && row.snapshot_date == range.last
                {
                    return Ok((freshness_of(row), rows));
                }
                // Freshness is read first: what is read after it is as fresh, or fresher.
                let freshness = freshness::of(connection, account, JobName::ProfitSnapshots).await?;
                Ok((freshness, days().load(connection).await?))
            })
            .await?;
        Ok(Dated { found: rows.into_iter().map(Snapshot::from).collect(), freshness })
    }

    async fn assumptions(&self, account: AccountId) -> Result<Assumptions, StoreError> {
        Ok(self.read(account, async |connection| Ok(assumptions(connection, account).await?)).await?)
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg))]
struct AssumptionsRow {
    fee_rate: Decimal,
    fee_fixed: Decimal,
    shipping_per_order: Decimal,
    cogs_ratio: Decimal,
}

/// What is assumed of the account's orders where the shop does not say.
pub(crate) async fn assumptions(connection: &mut AsyncPgConnection, account: AccountId) -> QueryResult<Assumptions> {
    let row = accounts::table.find(account.0).select(AssumptionsRow::as_select()).first(connection).await?;
    let AssumptionsRow { fee_rate, fee_fixed, shipping_per_order, cogs_ratio } = row;
    Ok(Assumptions { fee_rate, fee_fixed, shipping_per_order, cogs_ratio })
}

/// The sources that the statement looks at are all of the job's: one more does not compile without a column of its own.
const _: () = assert!(matches!(
    JobName::ProfitSnapshots.sources(),
    [Source::Orders, Source::Refunds, Source::AdSpend, Source::Expenses]
));

fn freshness_of(row: &SnapshotRow) -> Freshness {
    freshness::assemble(JobName::ProfitSnapshots, row.as_of, |source| match source {
        Source::Orders => row.newest_order.map(Newest::At),
        Source::Refunds => row.newest_refund.map(Newest::At),
        Source::AdSpend => row.newest_spend.map(Newest::Day),
        Source::Expenses => row.newest_expense.map(Newest::Day),
        _ => None,
    })
}
