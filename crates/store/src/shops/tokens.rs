//! [`TokenStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, IntegrationId, StoreError,
    shops::tokens::{RefreshLease, SealedTokens, StoredTokens, TokenStore},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::{integration_tokens, integrations},
};

statement!(
    Find(account: i64 => BigInt, id: i64 => BigInt) -> TokenRow = "
    SELECT i.provider, i.shop_id, i.shop, i.scopes, t.sealed_access, t.access_expires_at, t.sealed_refresh,
        t.refresh_expires_at, t.generation
    FROM integrations i JOIN integration_tokens t ON t.account_id = i.account_id AND t.integration_id = i.id
    WHERE i.account_id = $1 AND i.id = $2 AND i.revoked_at IS NULL AND i.shop_id IS NOT NULL
        AND t.sealed_access IS NOT NULL"
);

row!(
    struct TokenRow {
        provider: String => Text,
        shop_id: String => Text,
        shop: String => Text,
        scopes: Vec<String> => Array<Text>,
        sealed_access: Vec<u8> => Bytea,
        access_expires_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        sealed_refresh: Option<Vec<u8>> => Nullable<Bytea>,
        refresh_expires_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        generation: i64 => BigInt,
    }
);

impl TryFrom<TokenRow> for StoredTokens {
    type Error = StoreError;
    fn try_from(row: TokenRow) -> Result<Self, StoreError> {
        let TokenRow {
            provider,
            shop_id,
            shop,
            scopes,
            sealed_access,
            access_expires_at,
            sealed_refresh,
            refresh_expires_at,
            generation,
        } = row;
        let tokens =
            SealedTokens { access: sealed_access, access_expires_at, refresh: sealed_refresh, refresh_expires_at };
        Ok(Self { provider: parse(&provider, "platform")?, shop_id, shop, scopes, tokens, generation })
    }
}

statement!(
    Lease(
        account: i64 => BigInt,
        id: i64 => BigInt,
        generation: i64 => BigInt,
        lease_seconds: i64 => BigInt,
    ) -> Scalar<BigInt> = "
    UPDATE integration_tokens
    SET lease_number = lease_number + 1, lease_until = now() + $4 * interval '1 second'
    WHERE account_id = $1 AND integration_id = $2 AND generation = $3 AND sealed_access IS NOT NULL
        AND (lease_until IS NULL OR lease_until <= now())
    RETURNING lease_number"
);

statement!(
    Release(account: i64 => BigInt, id: i64 => BigInt, number: i64 => BigInt) -> () = "
    UPDATE integration_tokens SET lease_until = NULL
    WHERE account_id = $1 AND integration_id = $2 AND lease_number = $3"
);

#[async_trait]
impl TokenStore for Store {
    async fn find(&self, account: AccountId, id: IntegrationId) -> Result<Option<StoredTokens>, StoreError> {
        let find = Find { account: account.0, id: id.0 };
        let found: Option<TokenRow> =
            self.run::<_, Failure>(async |connection| Ok(find.get_result(connection).await.optional()?)).await?;
        found.map(StoredTokens::try_from).transpose()
    }

    async fn lease(
        &self,
        account: AccountId,
        id: IntegrationId,
        generation: i64,
        lease_seconds: i64,
    ) -> Result<Option<RefreshLease>, StoreError> {
        let lease = Lease { account: account.0, id: id.0, generation, lease_seconds };
        let number: Option<i64> =
            self.run::<_, Failure>(async |connection| Ok(lease.get_result(connection).await.optional()?)).await?;
        Ok(number.map(|number| RefreshLease { account, integration: id, generation, number }))
    }

    async fn renew(&self, lease: RefreshLease, tokens: SealedTokens, scopes: Vec<String>) -> Result<bool, StoreError> {
        let renewed = self
            .transact::<_, Failure>(async |connection| Ok(replace(connection, lease, tokens, scopes).await?))
            .await?;
        Ok(renewed)
    }

    async fn release(&self, lease: RefreshLease) -> Result<(), StoreError> {
        let RefreshLease { account, integration, generation: _, number } = lease;
        let release = Release { account: account.0, id: integration.0, number };
        self.run::<_, Failure>(async |connection| Ok(release.execute(connection).await?)).await?;
        Ok(())
    }
}

async fn replace(
    connection: &mut AsyncPgConnection,
    lease: RefreshLease,
    tokens: SealedTokens,
    scopes: Vec<String>,
) -> QueryResult<bool> {
    let RefreshLease { account, integration, generation, number } = lease;
    let SealedTokens { access, access_expires_at, refresh, refresh_expires_at } = tokens;
    let leased = integration_tokens::table
        .find((account.0, integration.0))
        .filter(integration_tokens::generation.eq(generation))
        .filter(integration_tokens::lease_number.eq(number))
        .filter(integration_tokens::sealed_access.is_not_null());
    let change = (
        integration_tokens::generation.eq(generation.saturating_add(1)),
        integration_tokens::sealed_access.eq(Some(access)),
        integration_tokens::access_expires_at.eq(access_expires_at),
        integration_tokens::sealed_refresh.eq(refresh),
        integration_tokens::refresh_expires_at.eq(refresh_expires_at),
        integration_tokens::lease_until.eq(None::<OffsetDateTime>),
    );
    if diesel::update(leased).set(change).execute(connection).await? == 0 {
        return Ok(false);
    }
    let connected = integrations::table.find((account.0, integration.0));
    let changed = connected.filter(integrations::scopes.ne(scopes.clone()));
    diesel::update(changed).set(integrations::scopes.eq(scopes)).execute(connection).await?;
    Ok(true)
}
