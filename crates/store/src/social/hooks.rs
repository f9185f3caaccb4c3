//! [`HookLog`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bytea, Timestamptz},
};
use domain::{
    SocialHookId, StoreError,
    social::replies::{HookLog, LEASE, TakenHook},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
    schema::social_hooks as hooks,
};

statement!(
    Take(now: OffsetDateTime => Timestamptz, until: OffsetDateTime => Timestamptz) -> HookRow = "
    UPDATE social_hooks SET lease_until = $2 WHERE id = (
        SELECT id FROM social_hooks WHERE done_at IS NULL AND (lease_until IS NULL OR lease_until <= $1)
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id, body, received_at"
);

row!(
    struct HookRow {
        id: i64 => BigInt,
        body: Vec<u8> => Bytea,
        received_at: OffsetDateTime => Timestamptz,
    }
);

#[async_trait]
impl HookLog for Store {
    async fn receive(&self, body: &[u8], now: OffsetDateTime) -> Result<(), StoreError> {
        let row = (hooks::body.eq(body), hooks::received_at.eq(now));
        self.run::<_, Failure>(async |connection| {
            diesel::insert_into(hooks::table).values(row).execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn take_hook(&self, now: OffsetDateTime) -> Result<Option<TakenHook>, StoreError> {
        let take = Take { now, until: now + LEASE };
        let row: Option<HookRow> =
            self.run::<_, Failure>(async |connection| Ok(take.get_result(connection).await.optional()?)).await?;
        Ok(row.map(|HookRow { id, body, received_at }| TakenHook { id: SocialHookId(id), body, received_at }))
    }

    async fn hook_done(&self, id: SocialHookId, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::update(hooks::table.find(id.0)).set(hooks::done_at.eq(now)).execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}
