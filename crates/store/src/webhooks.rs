//! [`WebhookStore`] on Postgres.

pub(crate) mod deliveries;
mod delivery_log;
pub mod outbox;
mod replays;
mod settings;

use async_trait::async_trait;
use diesel::{dsl::count_star, prelude::*, result::Error};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError, SubscriptionId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    webhooks::{CreateError, Created, MAX_SUBSCRIPTIONS, NewSubscription, Subscription, WebhookStore},
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    accounts::lock,
    analytics::places,
    database::{
        error::{Failure, corrupt},
        idempotency::{self, WriteError},
        query::RunQueryDsl,
    },
    people::audit,
    schema::{risks, webhook_subscriptions},
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
    trouble_count: i64,
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
            trouble_count,
            total_fired,
            total_failed,
            created_at,
        } = row;
        Self {
            id: SubscriptionId(id),
            url,
            events,
            active,
            disabled_reason,
            last_fired_at,
            last_status,
            fail_count,
            trouble_count,
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
            .read_pipelined(account, async |connection| {
                Ok(webhook_subscriptions::table
                    .filter(webhook_subscriptions::account_id.eq(account.0))
                    .filter(webhook_subscriptions::revoked_at.is_null())
                    .order(webhook_subscriptions::id.desc())
                    .select(SubscriptionRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        Ok(rows.into_iter().map(Subscription::from).collect())
    }

    async fn reserve_id(&self) -> Result<SubscriptionId, StoreError> {
        let id = self
            .run::<_, Failure>(async |connection| {
                Ok(diesel::select(nextval("webhook_subscriptions_id_seq")).get_result(connection).await?)
            })
            .await?;
        Ok(SubscriptionId(id))
    }

    async fn create(
        &self,
        account: AccountId,
        subscription: NewSubscription,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Idempotent<Created>, CreateError> {
        let written = self
            .transact::<_, WriteError<CreateError>>(async |connection| {
                once(connection, account, subscription, idempotency.as_ref()).await
            })
            .await;
        written.map_err(WriteError::into_refusal)
    }

    async fn revoke(
        &self,
        account: AccountId,
        SubscriptionId(id): SubscriptionId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let revoked = self
            .transact::<_, Failure>(async |connection| {
                let target = webhook_subscriptions::table
                    .find((account.0, id))
                    .filter(webhook_subscriptions::revoked_at.is_null());
                // What is held is canceled step by step, by a worker; what is pending, when its turn comes.
                let change = (webhook_subscriptions::revoked_at.eq(now), webhook_subscriptions::held_moved_at.eq(now));
                let update = diesel::update(target).set(change).returning(webhook_subscriptions::url);
                let url: Option<String> = update.get_result(connection).await.optional()?;
                if let Some(url) = &url {
                    let of_it = risks::table.filter(risks::account_id.eq(account.0)).filter(risks::webhook_id.eq(id));
                    let of_it: Vec<i64> = of_it.select(risks::id).load(connection).await?;
                    places::remove_risks(connection, account.0, &of_it).await?;
                    audit::changed(connection, note, url, (None, None), now).await?;
                }
                Ok(url.is_some())
            })
            .await?;
        Ok(revoked)
    }
}

async fn once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    subscription: NewSubscription,
    key: Option<&IdempotencyKey>,
) -> Result<Idempotent<Created>, WriteError<CreateError>> {
    let now = subscription.now;
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let value = created_first(connection, account, &result).await?;
        return Ok(Idempotent { value: value.ok_or(IdempotencyError::Superseded)?, replayed: true });
    }
    let created = insert(connection, account, subscription).await?;
    if let Some(key) = key {
        let result = json!({ "webhook_id": created.subscription.id, "events": created.subscription.events });
        idempotency::finish(connection, account, key, result, now).await?;
    }
    Ok(Idempotent { value: created, replayed: false })
}

/// The subscription that was created under a key, as it was then; none once it was revoked or its secret rotated.
async fn created_first(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    result: &Value,
) -> Result<Option<Created>, WriteError<CreateError>> {
    let id = result.get("webhook_id").and_then(Value::as_i64).ok_or_else(|| corrupt("idempotent result"))?;
    let unchanged: Option<i64> = webhook_subscriptions::table
        .find((account.0, id))
        .filter(webhook_subscriptions::revoked_at.is_null())
        // Set by the first rotation, for good.
        .filter(webhook_subscriptions::previous_expires_at.is_null())
        .select(webhook_subscriptions::id)
        .first(connection)
        .await
        .optional()?;
    let Some(id) = unchanged else { return Ok(None) };
    let mut created = load(connection, account, id).await?;
    // What was recorded by a release before knows no events.
    if let Some(events) = result.get("events").and_then(|events| serde_json::from_value(events.clone()).ok()) {
        created.subscription.events = events;
    }
    created.subscription.active = true;
    Ok(Some(created))
}

async fn insert(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    subscription: NewSubscription,
) -> Result<Created, WriteError<CreateError>> {
    let NewSubscription { id, url, events, sealed_secret, note, now } = subscription;
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
            webhook_subscriptions::id.eq(id.0),
            webhook_subscriptions::url.eq(&url),
            webhook_subscriptions::events.eq(&events),
            webhook_subscriptions::sealed_secret.eq(sealed_secret),
            webhook_subscriptions::created_at.eq(now),
        ))
        .execute(connection)
        .await?;
    audit::changed(connection, note, &url, (None, Some(json!({ "events": events }))), now).await?;
    Ok(load(connection, account, id.0).await?)
}

async fn load(connection: &mut AsyncPgConnection, account: AccountId, id: i64) -> Result<Created, Error> {
    let (row, sealed_secret): (SubscriptionRow, Vec<u8>) = webhook_subscriptions::table
        .find((account.0, id))
        .select((SubscriptionRow::as_select(), webhook_subscriptions::sealed_secret))
        .first(connection)
        .await?;
    Ok(Created { subscription: row.into(), sealed_secret })
}
