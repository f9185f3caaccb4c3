//! [`ProfitWriter`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Numeric, Timestamptz},
};
use domain::{
    AccountId, StoreError,
    jobs::{Claim, WriteOutcome},
    profit::{Basis, Components, ProfitWriter},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use super::changed;
use crate::{
    Store,
    database::{query::RunQueryDsl, statement::Scalar},
    schema::profit_snapshots,
};

statement!(
    /// Notes which days lack rates of exchange now: rates that come later change no row before the next run.
    Upsert(
        account: i64 => BigInt,
        dates: Vec<Date> => Array<SqlDate>,
        gross_revenue: Vec<Decimal> => Array<Numeric>,
        refunds: Vec<Decimal> => Array<Numeric>,
        ad_spend: Vec<Decimal> => Array<Numeric>,
        cogs_estimate: Vec<Decimal> => Array<Numeric>,
        fees_estimate: Vec<Decimal> => Array<Numeric>,
        shipping_estimate: Vec<Decimal> => Array<Numeric>,
        extra_expenses: Vec<Decimal> => Array<Numeric>,
        purchase_count: Vec<i64> => Array<BigInt>,
        goods_revenue: Vec<Decimal> => Array<Numeric>,
        cogs_covered_revenue: Vec<Decimal> => Array<Numeric>,
        fees_estimated_orders: Vec<i64> => Array<BigInt>,
        shipping_estimated_orders: Vec<i64> => Array<BigInt>,
        returned_units: Vec<i64> => Array<BigInt>,
        returned_cogs: Vec<Decimal> => Array<Numeric>,
        returned_fees: Vec<Decimal> => Array<Numeric>,
        now: OffsetDateTime => Timestamptz,
    ) -> Scalar<Bool> = "
    WITH lacking AS (SELECT DISTINCT day FROM ad_days WHERE account_id = $1 AND fx IS NULL)
    INSERT INTO profit_snapshots AS old (account_id, snapshot_date, gross_revenue, refunds, ad_spend, cogs_estimate,
        fees_estimate, shipping_estimate, extra_expenses, purchase_count, goods_revenue, cogs_covered_revenue,
        fees_estimated_orders, shipping_estimated_orders, returned_units, returned_cogs, returned_fees, lacks_rates,
        computed_at)
    SELECT $1, v.*, lacking.day IS NOT NULL, $18
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) AS v (snapshot_date)
    LEFT JOIN lacking ON lacking.day = v.snapshot_date
    ON CONFLICT (account_id, snapshot_date) DO UPDATE SET
        gross_revenue = excluded.gross_revenue, refunds = excluded.refunds, ad_spend = excluded.ad_spend,
        cogs_estimate = excluded.cogs_estimate, fees_estimate = excluded.fees_estimate,
        shipping_estimate = excluded.shipping_estimate, extra_expenses = excluded.extra_expenses,
        purchase_count = excluded.purchase_count, goods_revenue = excluded.goods_revenue,
        cogs_covered_revenue = excluded.cogs_covered_revenue, fees_estimated_orders = excluded.fees_estimated_orders,
        shipping_estimated_orders = excluded.shipping_estimated_orders, returned_units = excluded.returned_units,
        returned_cogs = excluded.returned_cogs, returned_fees = excluded.returned_fees,
        lacks_rates = excluded.lacks_rates, computed_at = excluded.computed_at
    WHERE (old.gross_revenue, old.refunds, old.ad_spend, old.cogs_estimate, old.fees_estimate, old.shipping_estimate,
            old.extra_expenses, old.purchase_count, old.goods_revenue, old.cogs_covered_revenue,
            old.fees_estimated_orders, old.shipping_estimated_orders, old.returned_units, old.returned_cogs,
            old.returned_fees, old.lacks_rates)
        IS DISTINCT FROM (excluded.gross_revenue, excluded.refunds, excluded.ad_spend, excluded.cogs_estimate,
            excluded.fees_estimate, excluded.shipping_estimate, excluded.extra_expenses, excluded.purchase_count,
            excluded.goods_revenue, excluded.cogs_covered_revenue, excluded.fees_estimated_orders,
            excluded.shipping_estimated_orders, excluded.returned_units, excluded.returned_cogs,
            excluded.returned_fees, excluded.lacks_rates)
    RETURNING true AS written"
);

#[async_trait]
impl ProfitWriter for Store {
    async fn replace(
        &self,
        claim: &Claim,
        days: Vec<(Date, Components, Basis)>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError> {
        let upsert = Upsert::new(claim.account, days, now);
        self.finish(claim, now, async |connection| {
            let others = profit_snapshots::table
                .filter(profit_snapshots::account_id.eq(upsert.account))
                .filter(profit_snapshots::snapshot_date.ne_all(&upsert.dates));
            let removed = diesel::delete(others).execute(connection).await?;
            let written = changed(upsert.load(connection).await?);
            Ok(u64::try_from(removed + written).unwrap_or(u64::MAX))
        })
        .await
    }
}

impl Upsert {
    /// The rows column by column.
    fn new(account: AccountId, days: Vec<(Date, Components, Basis)>, now: OffsetDateTime) -> Self {
        let mut columns = Self {
            account: account.0,
            dates: Vec::new(),
            gross_revenue: Vec::new(),
            refunds: Vec::new(),
            ad_spend: Vec::new(),
            cogs_estimate: Vec::new(),
            fees_estimate: Vec::new(),
            shipping_estimate: Vec::new(),
            extra_expenses: Vec::new(),
            purchase_count: Vec::new(),
            goods_revenue: Vec::new(),
            cogs_covered_revenue: Vec::new(),
            fees_estimated_orders: Vec::new(),
            shipping_estimated_orders: Vec::new(),
            returned_units: Vec::new(),
            returned_cogs: Vec::new(),
            returned_fees: Vec::new(),
            now,
        };
        for (date, components, basis) in days {
            let Components {
                gross_revenue,
                refunds,
                ad_spend,
                cogs_estimate,
                fees_estimate,
                shipping_estimate,
                extra_expenses,
                purchase_count,
            } = components;
            let Basis {
                goods_revenue,
                cogs_covered_revenue,
                fees_estimated_orders,
                shipping_estimated_orders,
                returned_units,
                returned_cogs,
                returned_fees,
            } = basis;
            columns.dates.push(date);
            columns.gross_revenue.push(gross_revenue);
            columns.refunds.push(refunds);
            columns.ad_spend.push(ad_spend);
            columns.cogs_estimate.push(cogs_estimate);
            columns.fees_estimate.push(fees_estimate);
            columns.shipping_estimate.push(shipping_estimate);
            columns.extra_expenses.push(extra_expenses);
            columns.purchase_count.push(purchase_count);
            columns.goods_revenue.push(goods_revenue);
            columns.cogs_covered_revenue.push(cogs_covered_revenue);
            columns.fees_estimated_orders.push(fees_estimated_orders);
            columns.shipping_estimated_orders.push(shipping_estimated_orders);
            columns.returned_units.push(returned_units);
            columns.returned_cogs.push(returned_cogs);
            columns.returned_fees.push(returned_fees);
        }
        columns
    }
}
