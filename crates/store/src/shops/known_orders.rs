//! [`KnownOrders`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Text, Timestamptz},
};
use domain::{
    AccountId, IntegrationId, StoreError,
    accounts::Platform,
    shops::known_orders::{KnownOrder, KnownOrders, Position},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
    schema::orders,
};

statement!(
    After(
        account: i64 => BigInt,
        integration: i64 => BigInt,
        placed_at: OffsetDateTime => Timestamptz,
        number: i64 => BigInt,
        limit: i64 => BigInt,
    ) -> OrderRow = "
    SELECT external_id, placed_at, id FROM orders
    WHERE account_id = $1 AND integration_id = $2 AND placed_at >= $3 AND (placed_at, id) > ($3, $4)
    ORDER BY placed_at, id LIMIT $5"
);

row!(
    struct OrderRow {
        external_id: String => Text,
        placed_at: OffsetDateTime => Timestamptz,
        id: i64 => BigInt,
    }
);

#[async_trait]
impl KnownOrders for Store {
    async fn orders_after(
        &self,
        account: AccountId,
        integration: IntegrationId,
        after: Position,
        limit: i64,
    ) -> Result<Vec<KnownOrder>, StoreError> {
        let Position { placed_at, number } = after;
        let after = After { account: account.0, integration: integration.0, placed_at, number, limit };
        let rows: Vec<OrderRow> = self.run::<_, Failure>(async |connection| Ok(after.load(connection).await?)).await?;
        let known = |OrderRow { external_id, placed_at, id }| KnownOrder {
            external_id,
            position: Position { placed_at, number: id },
        };
        Ok(rows.into_iter().map(known).collect())
    }

    async fn known(&self, account: AccountId, source: Platform, ids: &[String]) -> Result<Vec<String>, StoreError> {
        let stored = orders::table
            .filter(orders::account_id.eq(account.0))
            .filter(orders::source.eq(source.as_str()))
            .filter(orders::external_id.eq_any(ids))
            .select(orders::external_id);
        Ok(self.run::<_, Failure>(async |connection| Ok(stored.load(connection).await?)).await?)
    }
}
