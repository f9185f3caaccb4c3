//! Idempotency keys: looked up and written in the transaction of the effect.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_types::{BigInt, Bool, Nullable, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    idempotency::{AnswerStore, HANDLED_WITHIN, IdempotencyError, IdempotencyKey},
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, store_error},
        query::RunQueryDsl,
        statement::Scalar,
        transact::{TransactionError, is_conflict, was_conflict},
    },
    schema::idempotency_keys,
};

/// What a transaction that writes under a key may end with.
#[derive(Debug)]
pub(crate) enum WriteError<E> {
    Refused(E),
    Idempotency(IdempotencyError),
    Database(Error),
}

impl<E> From<Error> for WriteError<E> {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl<E> From<IdempotencyError> for WriteError<E> {
    fn from(error: IdempotencyError) -> Self {
        Self::Idempotency(error)
    }
}

impl<E> From<StoreError> for WriteError<E> {
    fn from(error: StoreError) -> Self {
        Self::Idempotency(IdempotencyError::Store(error))
    }
}

impl<E> TransactionError for WriteError<E> {
    fn is_conflict(&self) -> bool {
        match self {
            Self::Database(error) => is_conflict(error),
            Self::Idempotency(IdempotencyError::Store(error)) => was_conflict(error),
            Self::Idempotency(_) | Self::Refused(_) => false,
        }
    }
}

impl<E: From<IdempotencyError>> WriteError<E> {
    pub(crate) fn into_refusal(self) -> E {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Idempotency(error) => E::from(error),
            Self::Database(error) => E::from(IdempotencyError::Store(store_error(error))),
        }
    }
}

statement!(
    /// Until the transaction ends, unless another transaction does.
    Hold<'a>(name: &'a str => Text, account: i64 => BigInt) -> Scalar<Bool> =
        "SELECT pg_try_advisory_xact_lock(hashtextextended($1, $2))"
);

/// Looks the key up. `Some` is the result recorded by the request that came first. With `None` the transaction holds
/// the key until it ends: a second request in the meantime gets [`IdempotencyError::InProgress`].
pub(crate) async fn begin(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    key: &IdempotencyKey,
    now: OffsetDateTime,
) -> Result<Option<Value>, IdempotencyError> {
    let name = format!("{} {}", key.path, key.key);
    let hold = Hold { name: &name, account: account.0 };
    let held: bool = hold.get_result(connection).await.map_err(store_error)?;
    if !held {
        return Err(IdempotencyError::InProgress);
    }
    let oldest = now - time::Duration::hours(domain::idempotency::RETENTION_HOURS);
    let found: Option<KeyRow> = idempotency_keys::table
        .find((account.0, &key.path, &key.key))
        .select(KeyRow::as_select())
        .first(connection)
        .await
        .optional()
        .map_err(store_error)?;
    match found {
        Some(row) if row.created_at < oldest => Ok(None),
        Some(row) if row.request_hash != key.request_hash => Err(IdempotencyError::Reused),
        Some(row) => Ok(Some(row.result)),
        None => Ok(None),
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = idempotency_keys, check_for_backend(diesel::pg::Pg))]
struct KeyRow {
    request_hash: Vec<u8>,
    result: Value,
    created_at: OffsetDateTime,
}

/// Records the result of the write under its key.
pub(crate) async fn finish(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    key: &IdempotencyKey,
    result: Value,
    now: OffsetDateTime,
) -> Result<(), Error> {
    let row = (
        idempotency_keys::request_hash.eq(key.request_hash.to_vec()),
        idempotency_keys::result.eq(result),
        idempotency_keys::created_at.eq(now),
    );
    diesel::insert_into(idempotency_keys::table)
        .values((
            idempotency_keys::account_id.eq(account.0),
            idempotency_keys::path.eq(&key.path),
            idempotency_keys::key.eq(&key.key),
            row.clone(),
        ))
        .on_conflict((idempotency_keys::account_id, idempotency_keys::path, idempotency_keys::key))
        .do_update()
        .set(row)
        .execute(connection)
        .await?;
    Ok(())
}

/// What stands in the place of an answer while the write goes on, with the second since when.
const CLAIMED: &str = "claimed_at";

statement!(
    /// As text: jsonb would change the order of the fields.
    Keep<'a>(account: i64 => BigInt, path: &'a str => Text, key: &'a str => Text, body: &'a str => Text) -> () = "
    UPDATE idempotency_keys SET result = result || jsonb_build_object('body', $4)
    WHERE account_id = $1 AND path = $2 AND key = $3"
);

statement!(
    Unclaim<'a>(account: i64 => BigInt, path: &'a str => Text, key: &'a str => Text) -> () = "
    DELETE FROM idempotency_keys WHERE account_id = $1 AND path = $2 AND key = $3 AND result ? 'claimed_at'"
);

statement!(
    Kept<'a>(account: i64 => BigInt, path: &'a str => Text, key: &'a str => Text) -> KeptRow = "
    SELECT result ->> 'body' AS body FROM idempotency_keys WHERE account_id = $1 AND path = $2 AND key = $3"
);

row!(
    struct KeptRow {
        body: Option<String> => Nullable<Text>,
    }
);

#[async_trait]
impl AnswerStore for Store {
    async fn claim(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        now: OffsetDateTime,
    ) -> Result<Option<Value>, IdempotencyError> {
        let claimed = self
            .transact::<_, WriteError<IdempotencyError>>(async |connection| {
                if let Some(answer) = begin(connection, account, key, now).await? {
                    let Some(since) = answer.get(CLAIMED).and_then(Value::as_i64) else { return Ok(Some(answer)) };
                    if now.unix_timestamp() - since < HANDLED_WITHIN.whole_seconds() {
                        return Err(IdempotencyError::InProgress.into());
                    }
                }
                finish(connection, account, key, json!({ CLAIMED: now.unix_timestamp() }), now).await?;
                Ok(None)
            })
            .await;
        claimed.map_err(WriteError::into_refusal)
    }

    async fn answered(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        answer: Value,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| Ok(finish(connection, account, key, answer.clone(), now).await?))
            .await?;
        Ok(())
    }

    async fn keep(&self, account: AccountId, key: &IdempotencyKey, body: &str) -> Result<(), StoreError> {
        let keep = Keep { account: account.0, path: &key.path, key: &key.key, body };
        self.run::<_, Failure>(async |connection| {
            keep.execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn kept(&self, account: AccountId, key: &IdempotencyKey) -> Result<Option<String>, StoreError> {
        let kept = Kept { account: account.0, path: &key.path, key: &key.key };
        let row: Option<KeptRow> =
            self.run::<_, Failure>(async |connection| Ok(kept.get_result(connection).await.optional()?)).await?;
        Ok(row.and_then(|KeptRow { body }| body))
    }

    async fn failed(&self, account: AccountId, key: &IdempotencyKey) -> Result<(), StoreError> {
        let unclaim = Unclaim { account: account.0, path: &key.path, key: &key.key };
        self.run::<_, Failure>(async |connection| {
            unclaim.execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}
