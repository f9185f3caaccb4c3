//! [`DataKeyStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Bytea, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError, SubscriptionId,
    data_keys::{DataKeyStore, KeyCheck, RecordedKey},
    webhooks::settings::SealedSecret,
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, statement::Scalar},
    schema::data_keys,
};

/// Looking through all secrets may take longer than a request.
const SCAN_TIMEOUT: &str = "SET LOCAL statement_timeout = '60s'";

/// A live secret and the id of its key, which follows the version and the length of the id. Both secrets of a
/// subscription whose replaced one is still good. What is no sealed value has no id. In two parts, each of which Citus can
/// give to the shards.
macro_rules! live {
    () => {
        "
    SELECT account_id, id, false AS is_previous, sealed_secret AS sealed,
        CASE WHEN substring(sealed_secret FROM 1 FOR 1) = '\\x01' AND octet_length(sealed_secret) > 2
            THEN encode(substring(sealed_secret FROM 3 FOR get_byte(sealed_secret, 1)), 'escape') END AS key_id
    FROM webhook_subscriptions WHERE revoked_at IS NULL
    UNION ALL
    SELECT account_id, id, true, previous_sealed_secret,
        CASE WHEN substring(previous_sealed_secret FROM 1 FOR 1) = '\\x01' AND octet_length(previous_sealed_secret) > 2
            THEN encode(substring(previous_sealed_secret FROM 3 FOR get_byte(previous_sealed_secret, 1)), 'escape') END
    FROM webhook_subscriptions
    WHERE revoked_at IS NULL AND previous_sealed_secret IS NOT NULL AND previous_expires_at > now()"
    };
}

statement!(
    /// One that was given up before it was recorded is known from now on.
    Record<'a>(id: &'a str => Text, value: &'a [u8] => Bytea, now: OffsetDateTime => Timestamptz) -> () = "
    INSERT INTO data_keys (id, check_value, recorded_at) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET check_value = excluded.check_value, lost_at = NULL WHERE data_keys.check_value IS NULL"
);

statement!(
    /// The ids of the keys that live secrets are sealed with.
    pub(crate) Used() -> Scalar<Text> =
        concat!("SELECT DISTINCT key_id FROM (", live!(), ") live WHERE key_id IS NOT NULL ORDER BY key_id")
);

statement!(
    SealedUnder<'a>(id: &'a str => Text, limit: i64 => BigInt) -> SealedRow =
        concat!("SELECT account_id, id, is_previous, sealed FROM (", live!(), ") live WHERE key_id = $1 LIMIT $2")
);

row!(
    struct SealedRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
        is_previous: bool => Bool,
        sealed: Vec<u8> => Bytea,
    }
);

#[derive(Queryable, Selectable)]
#[diesel(table_name = data_keys, check_for_backend(diesel::pg::Pg))]
struct KeyRow {
    id: String,
    check_value: Option<Vec<u8>>,
    lost_at: Option<OffsetDateTime>,
}

#[async_trait]
impl DataKeyStore for Store {
    async fn recorded(&self) -> Result<Vec<RecordedKey>, StoreError> {
        let rows: Vec<KeyRow> = self
            .run::<_, Failure>(async |connection| {
                Ok(data_keys::table
                    .order((data_keys::recorded_at, data_keys::id))
                    .select(KeyRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        let recorded =
            |KeyRow { id, check_value, lost_at }| RecordedKey { id, check: check_value, is_lost: lost_at.is_some() };
        Ok(rows.into_iter().map(recorded).collect())
    }

    async fn record(&self, keys: &[KeyCheck], now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            for KeyCheck { id, value } in keys {
                Record { id, value, now }.execute(connection).await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn used(&self) -> Result<Vec<String>, StoreError> {
        let used = async |connection: &mut AsyncPgConnection| Ok(Used {}.load(connection).await?);
        Ok(self.run_transaction_within::<_, Failure>(SCAN_TIMEOUT, used).await?)
    }

    async fn sealed_under(&self, id: &str, limit: i64) -> Result<Vec<SealedSecret>, StoreError> {
        let under = async |connection: &mut AsyncPgConnection| Ok(SealedUnder { id, limit }.load(connection).await?);
        let found: Vec<SealedRow> = self.run_transaction_within::<_, Failure>(SCAN_TIMEOUT, under).await?;
        let secret = |SealedRow { account_id, id, is_previous, sealed }| SealedSecret {
            account: AccountId(account_id),
            subscription: SubscriptionId(id),
            is_previous,
            sealed,
        };
        Ok(found.into_iter().map(secret).collect())
    }

    async fn give_up(&self, id: &str, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            diesel::insert_into(data_keys::table)
                .values((data_keys::id.eq(id), data_keys::recorded_at.eq(now), data_keys::lost_at.eq(now)))
                .on_conflict(data_keys::id)
                .do_update()
                .set(data_keys::lost_at.eq(now))
                .execute(connection)
                .await?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}
