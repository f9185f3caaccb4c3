//! [`AuthorizationStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bytea, Nullable, Text, Timestamptz},
};
use domain::{
    AccountId, SessionId, StoreError,
    accounts::Platform,
    shops::authorizations::{AuthorizationStore, Initiator, MAX_PENDING, PendingAuthorization, StateHash},
    social::Channel,
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, corrupt, parse},
        query::RunQueryDsl,
    },
    schema::oauth_states,
};

statement!(
    /// Makes room: what has expired goes, and the oldest beyond a number.
    MakeRoom(account: i64 => BigInt, now: OffsetDateTime => Timestamptz, kept: i64 => BigInt) -> () = "
    DELETE FROM oauth_states WHERE account_id = $1 AND (expires_at <= $2 OR state_hash IN (
        SELECT state_hash FROM oauth_states WHERE account_id = $1 ORDER BY expires_at DESC, state_hash OFFSET $3))"
);

statement!(
    /// Of several that take the same state, one gets the row.
    Take<'a>(
        account: i64 => BigInt,
        hash: &'a [u8] => Bytea,
        user: &'a str => Text,
        provider: &'static str => Text,
        now: OffsetDateTime => Timestamptz,
        session: Option<i64> => Nullable<BigInt>,
    ) -> TakenRow = "
    DELETE FROM oauth_states
    WHERE account_id = $1 AND state_hash = $2 AND user_id = $3 AND provider = $4 AND expires_at > $5
        AND session_id IS NOT DISTINCT FROM $6 AND channel IS NULL
    RETURNING user_id, session_id, provider, channel, shop, redirect_uri, sealed_verifier, expires_at"
);

statement!(
    TakeProfile<'a>(
        account: i64 => BigInt,
        hash: &'a [u8] => Bytea,
        user: &'a str => Text,
        now: OffsetDateTime => Timestamptz,
        session: Option<i64> => Nullable<BigInt>,
    ) -> TakenRow = "
    DELETE FROM oauth_states
    WHERE account_id = $1 AND state_hash = $2 AND user_id = $3 AND expires_at > $4
        AND session_id IS NOT DISTINCT FROM $5 AND channel IS NOT NULL
    RETURNING user_id, session_id, provider, channel, shop, redirect_uri, sealed_verifier, expires_at"
);

row!(
    struct TakenRow {
        user_id: String => Text,
        session_id: Option<i64> => Nullable<BigInt>,
        provider: String => Text,
        channel: Option<String> => Nullable<Text>,
        shop: Option<String> => Nullable<Text>,
        redirect_uri: String => Text,
        sealed_verifier: Vec<u8> => Bytea,
        expires_at: OffsetDateTime => Timestamptz,
    }
);

impl TryFrom<TakenRow> for PendingAuthorization {
    type Error = StoreError;
    fn try_from(row: TakenRow) -> Result<Self, StoreError> {
        let TakenRow { user_id, session_id, provider, channel, shop, redirect_uri, sealed_verifier, expires_at } = row;
        let user = user_id.parse().map_err(|_| corrupt("user id"))?;
        let by = Initiator { user, session: session_id.map(SessionId) };
        let (provider, channel) =
            (parse(&provider, "platform")?, channel.map(|name| parse(&name, "channel")).transpose()?);
        Ok(Self { by, provider, channel, shop, redirect_uri, sealed_verifier, expires_at })
    }
}

#[async_trait]
impl AuthorizationStore for Store {
    async fn begin(
        &self,
        account: AccountId,
        state: StateHash,
        authorization: PendingAuthorization,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let PendingAuthorization { by, provider, channel, shop, redirect_uri, sealed_verifier, expires_at } =
            authorization;
        let row = (
            oauth_states::account_id.eq(account.0),
            oauth_states::state_hash.eq(state.0.as_slice()),
            oauth_states::id.eq(state.row()),
            oauth_states::user_id.eq(by.user.as_str()),
            oauth_states::session_id.eq(by.session.map(|session| session.0)),
            oauth_states::provider.eq(provider.as_str()),
            oauth_states::channel.eq(channel.map(Channel::as_str)),
            oauth_states::shop.eq(shop),
            oauth_states::redirect_uri.eq(redirect_uri),
            oauth_states::sealed_verifier.eq(sealed_verifier),
            oauth_states::expires_at.eq(expires_at),
        );
        self.transact::<_, Failure>(async |connection| {
            MakeRoom { account: account.0, now, kept: MAX_PENDING - 1 }.execute(connection).await?;
            diesel::insert_into(oauth_states::table).values(row).execute(connection).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn take(
        &self,
        account: AccountId,
        by: &Initiator,
        provider: Platform,
        state: StateHash,
        now: OffsetDateTime,
    ) -> Result<Option<PendingAuthorization>, StoreError> {
        let (user, session) = (by.user.as_str(), by.session.map(|session| session.0));
        let take = Take { account: account.0, hash: &state.0, user, provider: provider.as_str(), now, session };
        let taken: Option<TakenRow> =
            self.run::<_, Failure>(async |connection| Ok(take.get_result(connection).await.optional()?)).await?;
        taken.map(PendingAuthorization::try_from).transpose()
    }

    async fn take_profile(
        &self,
        account: AccountId,
        by: &Initiator,
        state: StateHash,
        now: OffsetDateTime,
    ) -> Result<Option<PendingAuthorization>, StoreError> {
        let (user, session) = (by.user.as_str(), by.session.map(|session| session.0));
        let take = TakeProfile { account: account.0, hash: &state.0, user, now, session };
        let taken: Option<TakenRow> =
            self.run::<_, Failure>(async |connection| Ok(take.get_result(connection).await.optional()?)).await?;
        taken.map(PendingAuthorization::try_from).transpose()
    }

    async fn prune(&self, now: OffsetDateTime) -> Result<u64, StoreError> {
        let pruned = self
            .run::<_, Failure>(async |connection| {
                let expired = oauth_states::table.filter(oauth_states::expires_at.le(now));
                Ok(diesel::delete(expired).execute(connection).await?)
            })
            .await?;
        Ok(u64::try_from(pruned).unwrap_or(u64::MAX))
    }
}
