//! [`ReorderWriter`] on Postgres.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt, Jsonb, Nullable, Numeric, Text, Timestamptz},
};
use domain::{
    AccountId, ProductId, StoreError,
    jobs::{Claim, WriteOutcome},
    reorder::{Draft, ReorderWriter, Status},
};
use rust_decimal::Decimal;
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    schema::reorder_suggestions,
};

statement!(
    /// The items of some products, and when the newest decision was made on a suggestion for each. A pending suggestion is
    /// computed again by every run, so when it was last computed tells, to a run, when it was decided on.
    Items(account: i64 => BigInt, product_ids: Vec<i64> => Array<BigInt>) -> ItemRow = "
    SELECT i.product_id, i.id AS item_id, i.sku, i.product_name, d.decided_at
    FROM inventory_items i LEFT JOIN (
        SELECT inventory_item_id, max(computed_at) AS decided_at FROM reorder_suggestions
        WHERE account_id = $1 AND status IN ('ordered', 'dismissed') GROUP BY inventory_item_id
    ) d ON d.inventory_item_id = i.id
    WHERE i.account_id = $1 AND i.product_id = ANY($2) ORDER BY i.id"
);

row!(
    struct ItemRow {
        product_id: i64 => BigInt,
        item_id: i64 => BigInt,
        sku: String => Text,
        product_name: String => Text,
        decided_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

statement!(
    Upsert(
        account: i64 => BigInt,
        item_ids: Vec<i64> => Array<BigInt>,
        skus: Vec<String> => Array<Text>,
        names: Vec<String> => Array<Text>,
        quantities: Vec<i64> => Array<BigInt>,
        reasons: Vec<String> => Array<Text>,
        confidences: Vec<Decimal> => Array<Numeric>,
        forecast_days: Vec<i64> => Array<BigInt>,
        bases: Vec<Value> => Array<Jsonb>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO reorder_suggestions (account_id, inventory_item_id, sku, product_name, qty_suggested, reason, confidence,
        forecast_days, basis, status, computed_at)
    SELECT $1, v.*, 'pending', $10 FROM unnest($2, $3, $4, $5, $6, $7, $8, $9) AS v
    ON CONFLICT (account_id, inventory_item_id) WHERE status = 'pending' DO UPDATE SET
        sku = excluded.sku, product_name = excluded.product_name, qty_suggested = excluded.qty_suggested, reason = excluded.reason,
        confidence = excluded.confidence, forecast_days = excluded.forecast_days, basis = excluded.basis,
        computed_at = excluded.computed_at"
);

statement!(
    /// Decisions wait until the suggestions are replaced: one made meanwhile would leave its item a second suggestion.
    Pending(account: i64 => BigInt, status: &'static str => Text) -> Scalar<BigInt> = "
    SELECT id FROM reorder_suggestions WHERE account_id = $1 AND status = $2 ORDER BY id FOR UPDATE"
);

statement!(
    /// The hashes of decisions, in no order. The inventory stands for what its job made it from.
    DecisionsFingerprint(account: i64 => BigInt) -> Scalar<Text> = "
    SELECT concat_ws(' ', count(*), bit_xor(hashtextextended(concat_ws(' ', id, status), 0)),
        (SELECT md5(made_from) FROM job_results WHERE account_id = $1 AND job = 'inventory_velocity')) AS standing
    FROM reorder_suggestions WHERE account_id = $1 AND status IN ('ordered', 'dismissed')"
);

#[async_trait]
impl ReorderWriter for Store {
    async fn decisions_fingerprint(&self, account: AccountId) -> Result<String, StoreError> {
        let standing = DecisionsFingerprint { account: account.0 };
        Ok(self.run::<_, Failure>(async |connection| Ok(standing.get_result(connection).await?)).await?)
    }

    async fn replace(
        &self,
        claim: &Claim,
        drafts: Vec<Draft>,
        day_began: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError> {
        let account = claim.account;
        self.finish(claim, now, async |connection| {
            let pending = Pending { account: account.0, status: Status::Pending.as_str() };
            let _locked: Vec<i64> = pending.load(connection).await?;
            let product_ids = drafts.iter().map(|draft| draft.product_id.0).collect();
            let items = Items { account: account.0, product_ids }.load(connection).await?;
            let upsert = Upsert::new(account, items, drafts, day_began, now)?;
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

impl Upsert {
    /// The rows, column by column, of the drafts that no decision holds back.
    fn new(
        account: AccountId,
        items: Vec<ItemRow>,
        drafts: Vec<Draft>,
        day_began: OffsetDateTime,
        now: OffsetDateTime,
    ) -> QueryResult<Self> {
        let mut drafts: HashMap<ProductId, Draft> = drafts.into_iter().map(|draft| (draft.product_id, draft)).collect();
        let (mut item_ids, mut skus, mut names, mut quantities) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut reasons, mut confidences) = (Vec::new(), Vec::new());
        let (mut forecasts, mut bases) = (Vec::new(), Vec::new());
        for ItemRow { product_id, item_id, sku, product_name, decided_at } in items {
            let draft =
                drafts.remove(&ProductId(product_id)).filter(|draft| !draft.is_held_back(decided_at, day_began));
            let Some(draft) = draft else { continue };
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
            names.push(product_name);
            quantities.push(qty_suggested);
            reasons.push(reason);
            confidences.push(confidence);
            forecasts.push(forecast_days);
            bases.push(serde_json::to_value(basis).map_err(|error| Error::SerializationError(error.into()))?);
        }
        let account = account.0;
        let forecast_days = forecasts;
        Ok(Self { account, item_ids, skus, names, quantities, reasons, confidences, forecast_days, bases, now })
    }
}
