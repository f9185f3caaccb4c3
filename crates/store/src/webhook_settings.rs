//! [`WebhookSettings`] on Postgres.

use async_trait::async_trait;
use diesel::{dsl::sql, prelude::*, sql_types::Bytea, sql_types::Nullable};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    idempotency::{IdempotencyError, IdempotencyKey, Written},
    webhooks::{
        Subscription,
        settings::{Change, DISABLED_BY_OWNER, Kept, Rotated, Rotation, SealedSecret, WebhookSettings},
    },
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    error::{Failure, corrupt},
    idempotency::{self, WriteError},
    schema::{deliveries, webhook_subscriptions as subscriptions},
    webhooks::SubscriptionRow,
};

#[async_trait]
impl WebhookSettings for Store {
    async fn find(&self, account: AccountId, id: i64) -> Result<Option<Kept>, StoreError> {
        let columns = (
            SubscriptionRow::as_select(),
            subscriptions::sealed_secret,
            subscriptions::previous_sealed_secret,
            subscriptions::previous_expires_at,
        );
        type Found = (SubscriptionRow, Vec<u8>, Option<Vec<u8>>, Option<OffsetDateTime>);
        let found: Option<Found> = self
            .run::<_, Failure>(async |connection| {
                let kept = subscriptions::table.find((account.0, id)).filter(subscriptions::revoked_at.is_null());
                Ok(kept.select(columns).first(connection).await.optional()?)
            })
            .await?;
        Ok(found.map(|(row, sealed_secret, previous, expires_at)| Kept {
            subscription: row.into(),
            sealed_secret,
            previous: previous.zip(expires_at),
        }))
    }

    async fn change(
        &self,
        account: AccountId,
        id: i64,
        change: Change,
        now: OffsetDateTime,
    ) -> Result<Option<(Subscription, u64)>, StoreError> {
        let changed = self
            .run::<_, Failure>(async |connection| {
                connection.transaction(async |connection| apply(connection, account, id, change, now).await).await
            })
            .await;
        Ok(changed?)
    }

    async fn rotate(
        &self,
        account: AccountId,
        id: i64,
        rotation: Rotation,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Option<Written<Rotated>>, IdempotencyError> {
        let rotated = self
            .run::<_, WriteError<IdempotencyError>>(async |connection| {
                connection
                    .transaction(async |connection| {
                        replace_once(connection, account, id, rotation, idempotency.as_ref()).await
                    })
                    .await
            })
            .await;
        rotated.map_err(WriteError::into_refusal)
    }

    async fn sealed(&self, after: i64, limit: i64) -> Result<Vec<SealedSecret>, StoreError> {
        let rows: Vec<(i64, i64, Vec<u8>, Option<Vec<u8>>)> = self
            .run::<_, Failure>(async |connection| {
                Ok(subscriptions::table
                    .filter(subscriptions::id.gt(after))
                    .order(subscriptions::id)
                    .limit(limit)
                    .select((
                        subscriptions::account_id,
                        subscriptions::id,
                        subscriptions::sealed_secret,
                        subscriptions::previous_sealed_secret,
                    ))
                    .load(connection)
                    .await?)
            })
            .await?;
        let secrets = rows.into_iter().flat_map(|(account, subscription, current, previous)| {
            let secret = move |sealed, is_previous| SealedSecret {
                account: AccountId(account),
                subscription,
                is_previous,
                sealed,
            };
            [Some(secret(current, false)), previous.map(|sealed| secret(sealed, true))].into_iter().flatten()
        });
        Ok(secrets.collect())
    }

    async fn reseal(&self, old: &SealedSecret, sealed: Vec<u8>) -> Result<bool, StoreError> {
        let resealed = self
            .run::<_, Failure>(async |connection| {
                let row = subscriptions::table.find((old.account.0, old.subscription));
                Ok(if old.is_previous {
                    let same = row.filter(subscriptions::previous_sealed_secret.eq(&old.sealed));
                    let change = subscriptions::previous_sealed_secret.eq(sealed);
                    diesel::update(same).set(change).execute(connection).await?
                } else {
                    let same = row.filter(subscriptions::sealed_secret.eq(&old.sealed));
                    diesel::update(same).set(subscriptions::sealed_secret.eq(sealed)).execute(connection).await?
                })
            })
            .await?;
        Ok(resealed == 1)
    }
}

async fn replace_once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    rotation: Rotation,
    key: Option<&IdempotencyKey>,
) -> Result<Option<Written<Rotated>>, WriteError<IdempotencyError>> {
    let Rotation { sealed_secret, overlap_until, now } = rotation;
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let value = recorded(&result).ok_or_else(|| corrupt("idempotent result"))?;
        return Ok(Some(Written { value, replayed: true }));
    }
    let kept = subscriptions::table.find((account.0, id)).filter(subscriptions::revoked_at.is_null());
    let change = (
        subscriptions::previous_sealed_secret.eq(sql::<Nullable<Bytea>>("sealed_secret")),
        subscriptions::previous_expires_at.eq(overlap_until),
        subscriptions::sealed_secret.eq(&sealed_secret),
    );
    if diesel::update(kept).set(change).execute(connection).await? == 0 {
        return Ok(None);
    }
    if let Some(key) = key {
        // Sealed as it is in its own table: the record gives no more away.
        let until = overlap_until.unix_timestamp_nanos().to_string();
        let result = json!({ "sealed_secret": hex::encode(&sealed_secret), "overlap_until": until });
        idempotency::finish(connection, account, key, result, now).await?;
    }
    Ok(Some(Written { value: Rotated { sealed_secret, overlap_until }, replayed: false }))
}

/// What an idempotency key's record says of a rotation.
fn recorded(result: &Value) -> Option<Rotated> {
    let text = |name| result.get(name).and_then(Value::as_str);
    let overlap_until = OffsetDateTime::from_unix_timestamp_nanos(text("overlap_until")?.parse().ok()?).ok()?;
    Some(Rotated { sealed_secret: hex::decode(text("sealed_secret")?).ok()?, overlap_until })
}

#[derive(AsChangeset)]
#[diesel(table_name = subscriptions)]
struct Settings {
    events: Option<Vec<String>>,
    active: Option<bool>,
    disabled_reason: Option<Option<&'static str>>,
    fail_count: Option<i64>,
    failing_since: Option<Option<OffsetDateTime>>,
    failing_deliveries: Option<i64>,
}

impl Settings {
    fn new(change: Change, was_active: bool) -> Self {
        let switched = change.active.filter(|active| *active != was_active);
        let on = switched == Some(true);
        Self {
            events: change.events,
            active: switched,
            disabled_reason: switched.map(|active| (!active).then_some(DISABLED_BY_OWNER)),
            fail_count: on.then_some(0),
            failing_since: on.then_some(None),
            failing_deliveries: on.then_some(0),
        }
    }

    fn is_empty(&self) -> bool {
        self.events.is_none() && self.active.is_none()
    }
}

async fn apply(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    change: Change,
    now: OffsetDateTime,
) -> Result<Option<(Subscription, u64)>, Failure> {
    let kept = || subscriptions::table.find((account.0, id)).filter(subscriptions::revoked_at.is_null());
    let was_active: Option<bool> =
        kept().select(subscriptions::active).for_no_key_update().first(connection).await.optional()?;
    let Some(was_active) = was_active else { return Ok(None) };
    let resume = change.resume;
    let settings = Settings::new(change, was_active);
    if !settings.is_empty() {
        diesel::update(kept()).set(settings).execute(connection).await?;
    }
    let row: SubscriptionRow = kept().select(SubscriptionRow::as_select()).first(connection).await?;
    let subscription = Subscription::from(row);
    let resumed = if resume && subscription.active {
        let held = deliveries::table
            .filter(deliveries::account_id.eq(account.0))
            .filter(deliveries::subscription_id.eq(id))
            .filter(deliveries::state.eq("held"));
        let change = (deliveries::state.eq("pending"), deliveries::due_at.eq(now));
        diesel::update(held).set(change).execute(connection).await?
    } else {
        0
    };
    Ok(Some((subscription, u64::try_from(resumed).unwrap_or(u64::MAX))))
}
