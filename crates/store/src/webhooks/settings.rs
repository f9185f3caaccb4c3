//! [`WebhookSettings`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError, SubscriptionId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    webhooks::{
        Subscription,
        settings::{Change, Changed, DISABLED_BY_OWNER, Rotated, Rotation, StoredSubscription, WebhookSettings},
    },
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, corrupt},
        idempotency::{self, WriteError},
        query::RunQueryDsl,
    },
    people::audit,
    schema::webhook_subscriptions as subscriptions,
    webhooks::{
        SubscriptionRow,
        deliveries::{
            bulk::{self, Moved},
            receiver,
        },
    },
};

#[async_trait]
impl WebhookSettings for Store {
    async fn find(
        &self,
        account: AccountId,
        SubscriptionId(id): SubscriptionId,
    ) -> Result<Option<StoredSubscription>, StoreError> {
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
        Ok(found.map(|(row, sealed_secret, previous, expires_at)| StoredSubscription {
            subscription: row.into(),
            sealed_secret,
            previous: previous.zip(expires_at),
        }))
    }

    async fn change(
        &self,
        account: AccountId,
        SubscriptionId(id): SubscriptionId,
        change: Change,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Option<Changed>, StoreError> {
        let changed = self
            .transact::<_, Failure>(async |connection| apply(connection, account, id, change, note, now).await)
            .await;
        Ok(changed?)
    }

    async fn rotate(
        &self,
        account: AccountId,
        SubscriptionId(id): SubscriptionId,
        rotation: Rotation,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Option<Idempotent<Rotated>>, IdempotencyError> {
        let rotated = self
            .transact::<_, WriteError<IdempotencyError>>(async |connection| {
                replace_once(connection, account, id, rotation, idempotency.as_ref()).await
            })
            .await;
        rotated.map_err(WriteError::into_refusal)
    }
}

async fn replace_once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    rotation: Rotation,
    key: Option<&IdempotencyKey>,
) -> Result<Option<Idempotent<Rotated>>, WriteError<IdempotencyError>> {
    let Rotation { sealed_secret, overlap_until, note, now } = rotation;
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let overlap_until = recorded(&result).ok_or_else(|| corrupt("idempotent result"))?;
        let value = still_in_place(connection, account, id, overlap_until).await?;
        return Ok(Some(Idempotent { value: value.ok_or(IdempotencyError::Superseded)?, replayed: true }));
    }
    let kept = subscriptions::table.find((account.0, id)).filter(subscriptions::revoked_at.is_null());
    let change = (
        subscriptions::previous_sealed_secret.eq(subscriptions::sealed_secret.nullable()),
        subscriptions::previous_expires_at.eq(overlap_until),
        subscriptions::sealed_secret.eq(&sealed_secret),
    );
    let update = diesel::update(kept).set(change).returning(subscriptions::url);
    let Some(url) = update.get_result::<String>(connection).await.optional()? else { return Ok(None) };
    audit::changed(connection, note, &url, (None, None), now).await?;
    if let Some(key) = key {
        let until = overlap_until.unix_timestamp_nanos().to_string();
        idempotency::finish(connection, account, key, json!({ "overlap_until": until }), now).await?;
    }
    Ok(Some(Idempotent { value: Rotated { sealed_secret, overlap_until }, replayed: false }))
}

/// What an idempotency key's record says of a rotation: when its overlap ends, which tells it from every other one.
fn recorded(result: &Value) -> Option<OffsetDateTime> {
    let nanos = result.get("overlap_until").and_then(Value::as_str)?;
    OffsetDateTime::from_unix_timestamp_nanos(nanos.parse().ok()?).ok()
}

/// The secret that a rotation put in place, as it is sealed today; none once another took its place, or the
/// subscription was revoked.
async fn still_in_place(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    overlap_until: OffsetDateTime,
) -> QueryResult<Option<Rotated>> {
    let found: Option<(Vec<u8>, Option<OffsetDateTime>)> = subscriptions::table
        .find((account.0, id))
        .filter(subscriptions::revoked_at.is_null())
        .select((subscriptions::sealed_secret, subscriptions::previous_expires_at))
        .first(connection)
        .await
        .optional()?;
    // The database keeps microseconds.
    let micros = |at: OffsetDateTime| at.unix_timestamp_nanos().div_euclid(1_000);
    let is_same = |at: Option<OffsetDateTime>| at.map(micros) == Some(micros(overlap_until));
    Ok(found.filter(|(_, at)| is_same(*at)).map(|(sealed_secret, _)| Rotated { sealed_secret, overlap_until }))
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
    trouble_count: Option<i64>,
    held_moved_at: Option<Option<OffsetDateTime>>,
}

impl Settings {
    fn new(change: Change, was_active: bool, now: OffsetDateTime) -> Self {
        let switched = change.active.filter(|active| *active != was_active);
        let on = switched == Some(true);
        Self {
            events: change.events,
            active: switched,
            disabled_reason: switched.map(|active| (!active).then_some(DISABLED_BY_OWNER)),
            fail_count: on.then_some(0),
            failing_since: on.then_some(None),
            failing_deliveries: on.then_some(0),
            trouble_count: on.then_some(0),
            // What is due to one that is switched off is put aside. What is still held after a switch on has to be asked for
            // again.
            held_moved_at: switched.map(|active| (!active).then_some(now)),
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
    note: Option<Entry>,
    now: OffsetDateTime,
) -> Result<Option<Changed>, Failure> {
    let kept = || subscriptions::table.find((account.0, id)).filter(subscriptions::revoked_at.is_null());
    let was = kept().select(SubscriptionRow::as_select());
    let was: Option<SubscriptionRow> = match change.resume {
        // Transactions that hold something for it lock its key; a resume is to find that.
        true => was.for_update().first(connection).await.optional()?,
        false => was.for_no_key_update().first(connection).await.optional()?,
    };
    let Some(was) = was.map(Subscription::from) else { return Ok(None) };
    let resume = change.resume;
    let settings = Settings::new(change, was.active, now);
    if !settings.is_empty() {
        diesel::update(kept()).set(settings).execute(connection).await?;
    }
    let row: SubscriptionRow = kept().select(SubscriptionRow::as_select()).first(connection).await?;
    let subscription = Subscription::from(row);
    let told = |of: &Subscription| json!({ "events": of.events, "active": of.active });
    let note = note.map(|note| Entry { target: Some(subscription.url.clone()), ..note });
    audit::differs(connection, note, (&told(&was), &told(&subscription)), now).await?;
    if !(resume && subscription.active) {
        return Ok(Some(Changed { subscription, resumed: 0, resuming: false }));
    }
    diesel::update(kept()).set(subscriptions::held_moved_at.eq(now)).execute(connection).await?;
    let moved = bulk::move_held(connection, receiver(account.0, id), true, now).await?;
    let (count, resuming) = moved.map_or((0, false), |Moved { count, goes_on }| (count, goes_on));
    Ok(Some(Changed { subscription, resumed: u64::try_from(count).unwrap_or_default(), resuming }))
}
