//! [`WebhookStore`] on Postgres.

use async_trait::async_trait;
use diesel::{dsl::count_star, prelude::*, result::Error};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    idempotency::{IdempotencyKey, Written},
    webhooks::{
        CreateError, Created, MAX_SUBSCRIPTIONS, NewSubscription, Subscription, WebhookStore, delivery::DeliveryState,
    },
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    accounts::lock,
    error::{Failure, corrupt},
    idempotency::{self, WriteError},
    schema::{deliveries, webhook_subscriptions},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = webhook_subscriptions, check_for_backend(diesel::pg::Pg))]
pub(crate) struct SubscriptionRow {
    id: i64,
    url: String,
    events: Vec<String>,
    active: bool,
    disabled_reason: Option<String>,
    last_fired_at: Option<OffsetDateTime>,
    last_status: Option<i32>,
    fail_count: i64,
    total_fired: i64,
    total_failed: i64,
    created_at: OffsetDateTime,
}

impl From<SubscriptionRow> for Subscription {
    fn from(row: SubscriptionRow) -> Self {
        let SubscriptionRow {
            id,
            url,
            events,
            active,
            disabled_reason,
            last_fired_at,
            last_status,
            fail_count,
            total_fired,
            total_failed,
            created_at,
        } = row;
        Self {
            id,
            url,
            events,
            active,
            disabled_reason,
            last_fired_at,
            last_status,
            fail_count,
            total_fired,
            total_failed,
            created_at,
        }
    }
}

diesel::define_sql_function! { fn nextval(sequence: diesel::sql_types::Text) -> diesel::sql_types::BigInt }

#[async_trait]
impl WebhookStore for Store {
    async fn list(&self, account: AccountId) -> Result<Vec<Subscription>, StoreError> {
        let rows: Vec<SubscriptionRow> = self
            .read_short(account, async |mut connection| {
                Ok(webhook_subscriptions::table
                    .filter(webhook_subscriptions::account_id.eq(account.0))
                    .filter(webhook_subscriptions::revoked_at.is_null())
                    .order(webhook_subscriptions::id.desc())
                    .select(SubscriptionRow::as_select())
                    .load(&mut connection)
                    .await?)
            })
            .await?;
        Ok(rows.into_iter().map(Subscription::from).collect())
    }

    async fn reserve_id(&self) -> Result<i64, StoreError> {
        let id = self
            .run::<_, Failure>(async |connection| {
                Ok(diesel::select(nextval("webhook_subscriptions_id_seq")).get_result(connection).await?)
            })
            .await?;
        Ok(id)
    }

    async fn create(
        &self,
        account: AccountId,
        subscription: NewSubscription,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Written<Created>, CreateError> {
        let written = self
            .run::<_, WriteError<CreateError>>(async |connection| {
                connection
                    .transaction(async |connection| once(connection, account, subscription, idempotency.as_ref()).await)
                    .await
            })
            .await;
        written.map_err(WriteError::into_refusal)
    }

    async fn revoke(&self, account: AccountId, id: i64, now: OffsetDateTime) -> Result<bool, StoreError> {
        let revoked = self
            .run::<_, Failure>(async |connection| {
                let target = webhook_subscriptions::table
                    .find((account.0, id))
                    .filter(webhook_subscriptions::revoked_at.is_null());
                Ok(diesel::update(target).set(webhook_subscriptions::revoked_at.eq(now)).execute(connection).await?)
            })
            .await?;
        if revoked == 1 {
            self.cancel_held(account, id, now).await?;
        }
        Ok(revoked == 1)
    }
}

impl Store {
    /// What is held for a revoked subscription will not be asked for again. (What is pending is canceled when its turn
    /// comes.)
    async fn cancel_held(&self, account: AccountId, id: i64, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            let held = deliveries::table
                .filter(deliveries::account_id.eq(account.0))
                .filter(deliveries::subscription_id.eq(id))
                .filter(deliveries::state.eq(DeliveryState::Held.as_str()));
            let change = (deliveries::state.eq(DeliveryState::Canceled.as_str()), deliveries::finished_at.eq(now));
            diesel::update(held).set(change).execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}

async fn once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    subscription: NewSubscription,
    key: Option<&IdempotencyKey>,
) -> Result<Written<Created>, WriteError<CreateError>> {
    let now = subscription.now;
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let id = result.get("webhook_id").and_then(Value::as_i64).ok_or_else(|| corrupt("idempotent result"))?;
        return Ok(Written { value: load(connection, account, id).await?, replayed: true });
    }
    let created = insert(connection, account, subscription).await?;
    if let Some(key) = key {
        let result = json!({ "webhook_id": created.subscription.id });
        idempotency::finish(connection, account, key, result, now).await?;
    }
    Ok(Written { value: created, replayed: false })
}

async fn insert(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    subscription: NewSubscription,
) -> Result<Created, WriteError<CreateError>> {
    let NewSubscription { id, url, events, sealed_secret, now } = subscription;
    // Two requests must not both be the sixteenth.
    lock(connection, account).await?;
    let kept: i64 = webhook_subscriptions::table
        .filter(webhook_subscriptions::account_id.eq(account.0))
        .filter(webhook_subscriptions::revoked_at.is_null())
        .select(count_star())
        .first(connection)
        .await?;
    if kept >= MAX_SUBSCRIPTIONS {
        return Err(WriteError::Refused(CreateError::LimitReached));
    }
    diesel::insert_into(webhook_subscriptions::table)
        .values((
            webhook_subscriptions::account_id.eq(account.0),
            webhook_subscriptions::id.eq(id),
            webhook_subscriptions::url.eq(url),
            webhook_subscriptions::events.eq(events),
            webhook_subscriptions::sealed_secret.eq(sealed_secret),
            webhook_subscriptions::created_at.eq(now),
        ))
        .execute(connection)
        .await?;
    Ok(load(connection, account, id).await?)
}

async fn load(connection: &mut AsyncPgConnection, account: AccountId, id: i64) -> Result<Created, Error> {
    let (row, sealed_secret): (SubscriptionRow, Vec<u8>) = webhook_subscriptions::table
        .find((account.0, id))
        .select((SubscriptionRow::as_select(), webhook_subscriptions::sealed_secret))
        .first(connection)
        .await?;
    Ok(Created { subscription: row.into(), sealed_secret })
}
