//! [`ReorderWriter`] on Postgres.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Jsonb, Numeric, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    jobs::{Claim, Written},
    reorder::{Draft, ReorderWriter},
};
use rust_decimal::Decimal;
use serde_json::Value;
use time::OffsetDateTime;

use crate::{Store, error::Failure, schema::reorder_suggestions, statement::Scalar};

statement!(
    /// The items of the drafts that no decision stands against. A pending suggestion is computed anew by every run, so when
    /// it was last computed tells, to a run, when it was decided on.
    Wanted(
        account: i64 => BigInt,
        product_ids: Vec<i64> => Array<BigInt>,
        stands_days: Vec<i64> => Array<BigInt>,
        day_began: OffsetDateTime => Timestamptz,
    ) -> WantedRow = "
    SELECT v.product_id, i.id AS item_id, i.sku
    FROM unnest($2, $3) AS v(product_id, stands_days)
    JOIN inventory_items i ON i.account_id = $1 AND i.product_id = v.product_id
    WHERE NOT EXISTS (
        SELECT FROM reorder_suggestions d
        WHERE d.account_id = $1 AND d.inventory_item_id = i.id AND d.status IN ('ordered', 'dismissed')
            AND d.computed_at > $4 - v.stands_days * interval '1 day')
    ORDER BY i.id"
);

statement!(
    Upsert(
        account: i64 => BigInt,
        item_ids: Vec<i64> => Array<BigInt>,
        skus: Vec<String> => Array<Text>,
        quantities: Vec<i64> => Array<BigInt>,
        reasons: Vec<String> => Array<Text>,
        confidences: Vec<Decimal> => Array<Numeric>,
        forecast_days: Vec<i64> => Array<BigInt>,
        bases: Vec<Value> => Array<Jsonb>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO reorder_suggestions (account_id, inventory_item_id, sku, qty_suggested, reason, confidence,
        forecast_days, basis, status, computed_at)
    SELECT $1, v.*, 'pending', $9 FROM unnest($2, $3, $4, $5, $6, $7, $8) AS v
    ON CONFLICT (account_id, inventory_item_id) WHERE status = 'pending' DO UPDATE SET
        sku = excluded.sku, qty_suggested = excluded.qty_suggested, reason = excluded.reason,
        confidence = excluded.confidence, forecast_days = excluded.forecast_days, basis = excluded.basis,
        computed_at = excluded.computed_at"
);

statement!(
    /// The hashes of decisions, in no order. The inventory stands for what its job made it from.
    Standing(account: i64 => BigInt) -> Scalar<Text> = "
    SELECT concat_ws(' ', count(*), bit_xor(hashtextextended(concat_ws(' ', id, status), 0)),
        (SELECT md5(made_from) FROM job_results WHERE account_id = $1 AND job = 'inventory_velocity')) AS standing
    FROM reorder_suggestions WHERE account_id = $1 AND status IN ('ordered', 'dismissed')"
);

row!(
    struct WantedRow {
        product_id: i64 => BigInt,
        item_id: i64 => BigInt,
        sku: String => Text,
    }
);

#[async_trait]
impl ReorderWriter for Store {
    async fn standing(&self, account: AccountId) -> Result<String, StoreError> {
        let standing = Standing { account: account.0 };
        Ok(self.run::<_, Failure>(async |connection| Ok(standing.get_result(connection).await?)).await?)
    }

    async fn replace(
        &self,
        claim: &Claim,
        drafts: Vec<Draft>,
        day_began: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<Written, StoreError> {
        let account = claim.account;
        self.finish(claim, now, async |connection| {
            let wanted = wanted(connection, account, &drafts, day_began).await?;
            let upsert = Upsert::new(account, wanted, drafts, now)?;
            let others = reorder_suggestions::table
                .filter(reorder_suggestions::account_id.eq(account.0))
                .filter(reorder_suggestions::status.eq("pending"))
                .filter(reorder_suggestions::inventory_item_id.ne_all(&upsert.item_ids));
            let removed = diesel::delete(others).execute(connection).await?;
            let written = upsert.execute(connection).await?;
            Ok(u64::try_from(removed + written).unwrap_or(u64::MAX))
        })
        .await
    }
}

async fn wanted(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    drafts: &[Draft],
    day_began: OffsetDateTime,
) -> QueryResult<Vec<WantedRow>> {
    let product_ids: Vec<i64> = drafts.iter().map(|draft| draft.product_id).collect();
    let stands_days: Vec<i64> = drafts.iter().map(|draft| draft.decision_stands_days).collect();
    Wanted { account: account.0, product_ids, stands_days, day_began }.load(connection).await
}

impl Upsert {
    /// The rows column by column.
    fn new(account: AccountId, wanted: Vec<WantedRow>, drafts: Vec<Draft>, now: OffsetDateTime) -> QueryResult<Self> {
        let mut drafts: HashMap<i64, Draft> = drafts.into_iter().map(|draft| (draft.product_id, draft)).collect();
        let (mut item_ids, mut skus, mut quantities) = (Vec::new(), Vec::new(), Vec::new());
        let (mut reasons, mut confidences) = (Vec::new(), Vec::new());
        let (mut forecasts, mut bases) = (Vec::new(), Vec::new());
        for WantedRow { product_id, item_id, sku } in wanted {
            let Some(draft) = drafts.remove(&product_id) else { continue };
            let Draft {
                product_id: _,
                qty_suggested,
                reason,
                confidence,
                forecast_days,
                basis,
                decision_stands_days: _,
            } = draft;
            item_ids.push(item_id);
            skus.push(sku);
            quantities.push(qty_suggested);
            reasons.push(reason);
            confidences.push(confidence);
            forecasts.push(forecast_days);
            bases.push(serde_json::to_value(basis).map_err(|error| Error::SerializationError(error.into()))?);
        }
        let account = account.0;
        Ok(Self { account, item_ids, skus, quantities, reasons, confidences, forecast_days: forecasts, bases, now })
    }
}
