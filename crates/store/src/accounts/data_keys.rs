//! [`DataKeyStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bytea, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    data_keys::{DataKeyStore, KeyCheck, RecordedKey, SealedColumn, SealedSecret},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::{data_keys, integration_tokens, oauth_states, second_factors, social_accounts, webhook_subscriptions},
};

/// Looking through all secrets may take longer than a request.
const SCAN_TIMEOUT: &str = "SET LOCAL statement_timeout = '60s'";

/// Every sealed secret with its column, the id of its key, and whether anything still needs it. The id follows the version
/// and the length of the id; what is no sealed value has none. Each part has the account first, so that Citus can give it to
/// the shards.
macro_rules! secrets {
    () => {
        "
    SELECT account_id, place, id, sealed, is_live,
        CASE WHEN substring(sealed FROM 1 FOR 1) = '\\x01' AND octet_length(sealed) > 2
            THEN encode(substring(sealed FROM 3 FOR get_byte(sealed, 1)), 'escape') END AS key_id
    FROM (
        SELECT account_id, 'webhook_secret' AS place, id, sealed_secret AS sealed, revoked_at IS NULL AS is_live
        FROM webhook_subscriptions
        UNION ALL
        SELECT account_id, 'previous_webhook_secret', id, previous_sealed_secret,
            revoked_at IS NULL AND previous_expires_at > now()
        FROM webhook_subscriptions WHERE previous_sealed_secret IS NOT NULL
        UNION ALL
        SELECT account_id, 'shop_access_token', integration_id, sealed_access, true
        FROM integration_tokens WHERE sealed_access IS NOT NULL
        UNION ALL
        SELECT account_id, 'shop_refresh_token', integration_id, sealed_refresh, true
        FROM integration_tokens WHERE sealed_refresh IS NOT NULL
        UNION ALL
        SELECT account_id, 'oauth_verifier', id, sealed_verifier, expires_at > now() FROM oauth_states
        UNION ALL
        SELECT account_id, 'social_token', id, sealed_token, true FROM social_accounts WHERE sealed_token IS NOT NULL
        UNION ALL
        SELECT 0, 'totp_secret', person_id, sealed_secret, true FROM second_factors
    ) secrets"
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
    pub(crate) Used() -> Scalar<Text> = concat!(
        "SELECT DISTINCT key_id FROM (", secrets!(), ") live WHERE is_live AND key_id IS NOT NULL ORDER BY key_id")
);

statement!(
    SealedUnder<'a>(id: &'a str => Text, limit: i64 => BigInt) -> SealedRow = concat!(
        "SELECT account_id, place, id, sealed FROM (", secrets!(), ") live WHERE is_live AND key_id = $1 LIMIT $2")
);

statement!(
    SealedAfter(place: &'static str => Text, after: i64 => BigInt, limit: i64 => BigInt) -> SealedRow = concat!(
        "SELECT account_id, place, id, sealed FROM (", secrets!(), ") found WHERE place = $1 AND id > $2
    ORDER BY id LIMIT $3")
);

row!(
    struct SealedRow {
        account_id: i64 => BigInt,
        place: String => Text,
        id: i64 => BigInt,
        sealed: Vec<u8> => Bytea,
    }
);

impl TryFrom<SealedRow> for SealedSecret {
    type Error = StoreError;
    fn try_from(row: SealedRow) -> Result<Self, StoreError> {
        let SealedRow { account_id, place, id, sealed } = row;
        Ok(Self { column: parse(&place, "column of secrets")?, account: AccountId(account_id), row: id, sealed })
    }
}

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
        found.into_iter().map(SealedSecret::try_from).collect()
    }

    async fn sealed(&self, column: SealedColumn, after: i64, limit: i64) -> Result<Vec<SealedSecret>, StoreError> {
        let sealed = SealedAfter { place: column.as_str(), after, limit };
        let load = async |connection: &mut AsyncPgConnection| Ok(sealed.load(connection).await?);
        let found: Vec<SealedRow> = self.run_transaction_within::<_, Failure>(SCAN_TIMEOUT, load).await?;
        found.into_iter().map(SealedSecret::try_from).collect()
    }

    async fn reseal(&self, old: &SealedSecret, sealed: Vec<u8>) -> Result<bool, StoreError> {
        let resealed = self.run::<_, Failure>(async |connection| Ok(replace(connection, old, &sealed).await?)).await?;
        Ok(resealed == 1)
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

async fn replace(connection: &mut AsyncPgConnection, old: &SealedSecret, sealed: &[u8]) -> QueryResult<usize> {
    let SealedSecret { column, account, row, sealed: before } = old;
    macro_rules! replace {
        ($table:ident.$column:ident where $id:ident) => {
            diesel::update($table::table)
                .filter($table::account_id.eq(account.0))
                .filter($table::$id.eq(row))
                .filter($table::$column.eq(before))
                .set($table::$column.eq(sealed))
                .execute(connection)
                .await
        };
    }
    match column {
        SealedColumn::WebhookSecret => replace!(webhook_subscriptions.sealed_secret where id),
        SealedColumn::PreviousWebhookSecret => replace!(webhook_subscriptions.previous_sealed_secret where id),
        SealedColumn::ShopAccessToken => replace!(integration_tokens.sealed_access where integration_id),
        SealedColumn::ShopRefreshToken => replace!(integration_tokens.sealed_refresh where integration_id),
        SealedColumn::OauthVerifier => replace!(oauth_states.sealed_verifier where id),
        SealedColumn::SocialToken => replace!(social_accounts.sealed_token where id),
        SealedColumn::TotpSecret => {
            diesel::update(second_factors::table.find(row))
                .filter(second_factors::sealed_secret.eq(before))
                .set(second_factors::sealed_secret.eq(sealed))
                .execute(connection)
                .await
        }
    }
}
