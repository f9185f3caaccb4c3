//! [`ReorderWriter`] on Postgres.

use async_trait::async_trait;
use diesel::{
    sql_query,
    sql_types::{Array, BigInt, Jsonb, Numeric, Text, Timestamptz},
};
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, StoreError,
    jobs::{Claim, Written},
    reorder::{Draft, ReorderWriter},
};
use rust_decimal::Decimal;
use serde_json::Value;
use time::OffsetDateTime;

use crate::{Store, error::Failure};

/// A pending suggestion is computed anew by every run, so when it was last computed tells, to a run, when it was decided
/// on.
const REPLACE: &str = "
    WITH wanted AS MATERIALIZED (
        SELECT i.id AS item_id, i.sku, v.qty, v.reason, v.confidence, v.forecast_days, v.basis
        FROM unnest($2, $3, $4, $5, $6, $7, $9)
            AS v(product_id, qty, reason, confidence, forecast_days, stands_days, basis)
        JOIN inventory_items i ON i.account_id = $1 AND i.product_id = v.product_id
        WHERE NOT EXISTS (
            SELECT FROM reorder_suggestions d
            WHERE d.account_id = $1 AND d.inventory_item_id = i.id AND d.status IN ('ordered', 'dismissed')
                AND d.computed_at > $10 - v.stands_days * interval '1 day')
    ),
    gone AS (
        DELETE FROM reorder_suggestions WHERE account_id = $1 AND status = 'pending'
            AND inventory_item_id NOT IN (SELECT item_id FROM wanted)
        RETURNING id
    ),
    written AS (
        INSERT INTO reorder_suggestions (account_id, inventory_item_id, sku, qty_suggested, reason, confidence,
            forecast_days, basis, status, computed_at)
        SELECT $1, item_id, sku, qty, reason, confidence, forecast_days, basis, 'pending', $8 FROM wanted ORDER BY item_id
        ON CONFLICT (account_id, inventory_item_id) WHERE status = 'pending' DO UPDATE SET
            sku = excluded.sku, qty_suggested = excluded.qty_suggested, reason = excluded.reason,
            confidence = excluded.confidence, forecast_days = excluded.forecast_days, basis = excluded.basis,
            computed_at = excluded.computed_at
        RETURNING id
    )
    SELECT (SELECT count(*) FROM gone) + (SELECT count(*) FROM written) AS rows";

/// The hashes of decisions, in no order. The inventory stands for what its job made it from.
const STANDING: &str = "
    SELECT concat_ws(' ', count(*), bit_xor(hashtextextended(concat_ws(' ', id, status), 0)),
        (SELECT md5(made_from) FROM job_results WHERE account_id = $1 AND job = 'inventory_velocity')) AS standing
    FROM reorder_suggestions WHERE account_id = $1 AND status IN ('ordered', 'dismissed')";

#[derive(diesel::QueryableByName)]
struct Standing {
    #[diesel(sql_type = Text)]
    standing: String,
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

#[async_trait]
impl ReorderWriter for Store {
    async fn standing(&self, account: AccountId) -> Result<String, StoreError> {
        let Standing { standing } = self
            .run::<_, Failure>(async |connection| {
                Ok(sql_query(STANDING).bind::<BigInt, _>(account.0).get_result(connection).await?)
            })
            .await?;
        Ok(standing)
    }

    async fn replace(
        &self,
        claim: &Claim,
        drafts: Vec<Draft>,
        day_began: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<Written, StoreError> {
        let columns = Columns::of(drafts)?;
        self.finish(claim, now, async |connection| {
            let Count { rows } = sql_query(REPLACE)
                .bind::<BigInt, _>(claim.account.0)
                .bind::<Array<BigInt>, _>(&columns.product_ids)
                .bind::<Array<BigInt>, _>(&columns.quantities)
                .bind::<Array<Text>, _>(&columns.reasons)
                .bind::<Array<Numeric>, _>(&columns.confidences)
                .bind::<Array<BigInt>, _>(&columns.forecast_days)
                .bind::<Array<BigInt>, _>(&columns.stands_days)
                .bind::<Timestamptz, _>(now)
                .bind::<Array<Jsonb>, _>(&columns.bases)
                .bind::<Timestamptz, _>(day_began)
                .get_result(connection)
                .await?;
            Ok(u64::try_from(rows).unwrap_or_default())
        })
        .await
    }
}

/// The rows as arrays, one per column.
#[derive(Default)]
struct Columns {
    product_ids: Vec<i64>,
    quantities: Vec<i64>,
    reasons: Vec<String>,
    confidences: Vec<Decimal>,
    forecast_days: Vec<i64>,
    stands_days: Vec<i64>,
    bases: Vec<Value>,
}

impl Columns {
    fn of(drafts: Vec<Draft>) -> Result<Self, StoreError> {
        let mut columns = Self::default();
        for draft in drafts {
            let Draft { product_id, qty_suggested, reason, confidence, forecast_days, basis, decision_stands_days } =
                draft;
            let basis = serde_json::to_value(basis).map_err(|error| StoreError::Internal(error.into()))?;
            columns.product_ids.push(product_id);
            columns.quantities.push(qty_suggested);
            columns.reasons.push(reason);
            columns.confidences.push(confidence);
            columns.forecast_days.push(forecast_days);
            columns.stands_days.push(decision_stands_days);
            columns.bases.push(basis);
        }
        Ok(columns)
    }
}
