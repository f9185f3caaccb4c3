//! [`ProfitStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, StoreError,
    freshness::Dated,
    jobs::JobName,
    profit::{Assumptions, Basis, Components, DayRange, ProfitStore, Snapshot},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store, freshness,
    schema::{accounts, profit_snapshots},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = profit_snapshots, check_for_backend(diesel::pg::Pg))]
struct SnapshotRow {
    snapshot_date: Date,
    gross_revenue: Decimal,
    refunds: Decimal,
    ad_spend: Decimal,
    cogs_estimate: Decimal,
    fees_estimate: Decimal,
    shipping_estimate: Decimal,
    extra_expenses: Decimal,
    purchase_count: i64,
    goods_revenue: Decimal,
    cogs_covered_revenue: Decimal,
    fees_estimated_orders: i64,
    shipping_estimated_orders: i64,
    computed_at: OffsetDateTime,
}

impl From<SnapshotRow> for Snapshot {
    fn from(row: SnapshotRow) -> Self {
        let SnapshotRow {
            snapshot_date,
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
            computed_at,
        } = row;
        Self {
            date: snapshot_date,
            components: Components {
                gross_revenue,
                refunds,
                ad_spend,
                cogs_estimate,
                fees_estimate,
                shipping_estimate,
                extra_expenses,
                purchase_count,
            },
            basis: Basis { goods_revenue, cogs_covered_revenue, fees_estimated_orders, shipping_estimated_orders },
            computed_at,
        }
    }
}

#[async_trait]
impl ProfitStore for Store {
    async fn range(&self, account: AccountId, range: DayRange) -> Result<Dated<Vec<Snapshot>>, StoreError> {
        let (freshness, rows) = self
            .read(account, async |connection| {
                let freshness = freshness::of(connection, account, JobName::ProfitSnapshots).await?;
                let rows = profit_snapshots::table
                    .filter(profit_snapshots::account_id.eq(account.0))
                    .filter(profit_snapshots::snapshot_date.between(range.first, range.last))
                    .order(profit_snapshots::snapshot_date.desc())
                    .select(SnapshotRow::as_select())
                    .load(connection)
                    .await?;
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
