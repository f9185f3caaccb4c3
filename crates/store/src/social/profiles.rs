//! [`ProfileStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, IntegrationId, SocialAccountId, StoreError,
    events::{Instant, IntegrationConnected, IntegrationDisconnected},
    social::{
        Channel,
        profiles::EndReason,
        replies::{Connected, NewSocialAccount, PollHints, ProfileStore, SocialAccount},
    },
};
use time::{Duration, OffsetDateTime};

use super::settings;
use crate::{
    Store,
    accounts::lock,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    schema::{social_accounts as profiles, social_owners as owners},
    webhooks::outbox,
};

statement!(
    Find(account: i64 => BigInt, id: i64 => BigInt) -> ProfileRow = "
    SELECT account_id, id, channel, external_id, app_scoped_id, handle, integration_id, sealed_token, last_poll_at, blocked_until,
        page_id, subscribe_due_at
    FROM social_accounts WHERE account_id = $1 AND id = $2"
);

statement!(
    FindOwned<'a>(account: i64 => BigInt, channel: &'a str => Text, external_id: &'a str => Text) -> ProfileRow = "
    SELECT account_id, id, channel, external_id, app_scoped_id, handle, integration_id, sealed_token, last_poll_at, blocked_until,
        page_id, subscribe_due_at
    FROM social_accounts WHERE account_id = $1 AND channel = $2 AND external_id = $3 AND ended_at IS NULL"
);

statement!(
    /// The profile that is due first, but of no account that is busy. Locks nothing: it looks at every account.
    Due(now: OffsetDateTime => Timestamptz, busy: Vec<i64> => Array<BigInt>) -> DueRow = "
    SELECT account_id, id, poll_due_at AS due_at FROM social_accounts
    WHERE poll_due_at <= $1 AND account_id <> ALL ($2) ORDER BY poll_due_at LIMIT 1"
);

row!(
    struct DueRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
        due_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

row!(
    struct ProfileRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
        channel: String => Text,
        external_id: String => Text,
        app_scoped_id: Option<String> => Nullable<Text>,
        handle: Option<String> => Nullable<Text>,
        integration_id: Option<i64> => Nullable<BigInt>,
        sealed_token: Option<Vec<u8>> => Nullable<Bytea>,
        last_poll_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        blocked_until: Option<OffsetDateTime> => Nullable<Timestamptz>,
        page_id: Option<String> => Nullable<Text>,
        subscribe_due_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

impl TryFrom<ProfileRow> for SocialAccount {
    type Error = StoreError;
    fn try_from(row: ProfileRow) -> Result<Self, StoreError> {
        let ProfileRow {
            account_id,
            id,
            channel,
            external_id,
            app_scoped_id,
            handle,
            integration_id,
            sealed_token,
            last_poll_at,
            blocked_until,
            page_id,
            subscribe_due_at,
        } = row;
        Ok(Self {
            account: AccountId(account_id),
            id: SocialAccountId(id),
            channel: parse(&channel, "channel")?,
            external_id,
            app_scoped_id,
            handle,
            integration: integration_id.map(IntegrationId),
            sealed_token,
            last_poll_at,
            blocked_until,
            page_id,
            subscribe_due_at,
        })
    }
}

statement!(
    GiveToken(account: i64 => BigInt, id: i64 => BigInt, sealed: Vec<u8> => Bytea, at: OffsetDateTime => Timestamptz)
        -> NamedRow = "
    UPDATE social_accounts
    SET sealed_token = $3, ended_at = NULL, end_reason = NULL, blocked_until = NULL, poll_due_at = $4
    WHERE account_id = $1 AND id = $2
    RETURNING channel, coalesce(handle, external_id) AS name"
);

statement!(
    Polled(account: i64 => BigInt, id: i64 => BigInt, at: OffsetDateTime => Timestamptz) -> () = "
    UPDATE social_accounts SET last_poll_at = $3 WHERE account_id = $1 AND id = $2"
);

statement!(
    /// What was learnt of one token says nothing of another.
    TokenDead<'a>(
        account: i64 => BigInt,
        id: i64 => BigInt,
        at: OffsetDateTime => Timestamptz,
        token: Option<&'a [u8]> => Nullable<Bytea>,
        reason: &'static str => Text,
    ) -> NamedRow = "
    UPDATE social_accounts
    SET sealed_token = NULL, ended_at = $3, end_reason = $5, poll_due_at = NULL, subscribe_due_at = NULL
    WHERE account_id = $1 AND id = $2 AND sealed_token = $4
    RETURNING channel, coalesce(handle, external_id) AS name"
);

row!(
    struct NamedRow {
        channel: String => Text,
        name: String => Text,
    }
);

statement!(
    Subscribed(
        account: i64 => BigInt,
        id: i64 => BigInt,
        at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        again_at: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE social_accounts SET subscribed_at = coalesce($3, subscribed_at), subscribe_due_at = $4
    WHERE account_id = $1 AND id = $2 AND subscribe_due_at IS NOT NULL"
);

statement!(
    Pause(account: i64 => BigInt, id: i64 => BigInt, until: OffsetDateTime => Timestamptz) -> () = "
    UPDATE social_accounts SET blocked_until = $3 WHERE account_id = $1 AND id = $2"
);

#[async_trait]
impl ProfileStore for Store {
    async fn connect(&self, new: NewSocialAccount, now: OffsetDateTime) -> Result<Connected, StoreError> {
        let connected =
            self.transact::<_, Failure>(async |connection| connect_once(connection, &new, now).await).await?;
        Ok(connected)
    }

    async fn give_token(
        &self,
        account: AccountId,
        id: SocialAccountId,
        sealed: Vec<u8>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let give = GiveToken { account: account.0, id: id.0, sealed, at: now };
        self.transact::<_, Failure>(async |connection| {
            let given: Option<NamedRow> = give.clone().get_result(connection).await.optional()?;
            let Some(NamedRow { channel, name }) = given else { return Ok(()) };
            Ok(tell_connected(connection, account, (channel, name), now).await?)
        })
        .await?;
        Ok(())
    }

    async fn owner(&self, channel: Channel, external_id: &str) -> Result<Option<SocialAccount>, StoreError> {
        let row: Option<ProfileRow> = self
            .run::<_, Failure>(async |connection| {
                let owner = owners::table.find((channel.as_str(), external_id)).select(owners::owner_id);
                let owner: Option<i64> = owner.first(connection).await.optional()?;
                let Some(account) = owner else { return Ok(None) };
                let find = FindOwned { account, channel: channel.as_str(), external_id };
                Ok(find.get_result(connection).await.optional()?)
            })
            .await?;
        row.map(SocialAccount::try_from).transpose()
    }

    async fn profile(&self, account: AccountId, id: SocialAccountId) -> Result<Option<SocialAccount>, StoreError> {
        let find = Find { account: account.0, id: id.0 };
        let row: Option<ProfileRow> =
            self.run::<_, Failure>(async |connection| Ok(find.get_result(connection).await.optional()?)).await?;
        row.map(SocialAccount::try_from).transpose()
    }

    async fn take_poll(
        &self,
        now: OffsetDateTime,
        interval: Duration,
        busy: Vec<AccountId>,
    ) -> Result<Option<SocialAccount>, StoreError> {
        let due = Due { now, busy: busy.into_iter().map(|account| account.0).collect() };
        let row: Option<ProfileRow> = self
            .run::<_, Failure>(async |connection| {
                let due: Option<DueRow> = due.get_result(connection).await.optional()?;
                let Some(DueRow { account_id, id, due_at }) = due else { return Ok(None) };
                // Of two workers that saw the same the second moves nothing.
                let taken = diesel::update(profiles::table.find((account_id, id)))
                    .filter(profiles::poll_due_at.eq(due_at))
                    .set(profiles::poll_due_at.eq(now + interval))
                    .execute(connection)
                    .await?;
                if taken == 0 {
                    return Ok(None);
                }
                Ok(Find { account: account_id, id }.get_result(connection).await.optional()?)
            })
            .await?;
        row.map(SocialAccount::try_from).transpose()
    }

    async fn subscribed(
        &self,
        profile: &SocialAccount,
        is_done: bool,
        again_at: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let at = is_done.then_some(now);
        let statement = Subscribed { account: profile.account.0, id: profile.id.0, at, again_at };
        self.run::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
        Ok(())
    }

    async fn polled(&self, profile: &SocialAccount, now: OffsetDateTime) -> Result<(), StoreError> {
        let statement = Polled { account: profile.account.0, id: profile.id.0, at: now };
        self.run::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
        Ok(())
    }

    async fn token_dead(&self, profile: &SocialAccount, now: OffsetDateTime) -> Result<(), StoreError> {
        let (token, reason) = (profile.sealed_token.as_deref(), EndReason::TokenExpired);
        let end = TokenDead { account: profile.account.0, id: profile.id.0, at: now, token, reason: reason.as_str() };
        self.transact::<_, Failure>(async |connection| {
            let ended: Option<NamedRow> = end.clone().get_result(connection).await.optional()?;
            let Some(NamedRow { channel, name }) = ended else { return Ok(()) };
            Ok(tell_disconnected(connection, profile.account, (channel, name), reason, now).await?)
        })
        .await?;
        Ok(())
    }

    async fn blocked(&self, profile: &SocialAccount, now: OffsetDateTime) -> Result<(), StoreError> {
        let account = profile.account;
        self.transact::<_, Failure>(async |connection| {
            lock(connection, account).await?;
            settings::fall_back(connection, account.0, Some(now), now).await
        })
        .await?;
        Ok(())
    }

    async fn pause(&self, profile: &SocialAccount, until: OffsetDateTime) -> Result<(), StoreError> {
        let statement = Pause { account: profile.account.0, id: profile.id.0, until };
        self.run::<_, Failure>(async |connection| Ok(statement.execute(connection).await?)).await?;
        Ok(())
    }
}

statement!(
    /// The profile that comes with a shop goes with it, also where it was connected before.
    Follow<'a>(
        account: i64 => BigInt,
        channel: &'static str => Text,
        shop_id: &'a str => Text,
        integration: i64 => BigInt,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO social_accounts (account_id, channel, external_id, integration_id, connected_at, poll_due_at)
    VALUES ($1, $2, $3, $4, $5, $5)
    ON CONFLICT (account_id, channel, external_id) DO UPDATE SET integration_id = $4, connected_at = $5, poll_due_at = $5,
        ended_at = NULL, blocked_until = NULL"
);

statement!(
    Unfollow(account: i64 => BigInt, integration: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE social_accounts SET ended_at = $3, poll_due_at = NULL WHERE account_id = $1 AND integration_id = $2"
);

statement!(
    /// Not before the end of a pause that the platform asked for: anybody may send the hook.
    PollSoon(account: i64 => BigInt, integration: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE social_accounts SET poll_due_at = least(poll_due_at, greatest($3,
        (SELECT paused_until FROM integration_syncs WHERE account_id = $1 AND integration_id = $2)))
    WHERE account_id = $1 AND integration_id = $2 AND poll_due_at > $3"
);

#[async_trait]
impl PollHints for Store {
    async fn poll_soon(&self, account: AccountId, shop: IntegrationId, now: OffsetDateTime) -> Result<(), StoreError> {
        let soon = PollSoon { account: account.0, integration: shop.0, now };
        self.run::<_, Failure>(async |connection| Ok(soon.execute(connection).await?)).await?;
        Ok(())
    }
}

/// A profile of its own, not one that comes with a shop, was connected.
pub(super) async fn tell_connected(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (channel, name): (String, String),
    now: OffsetDateTime,
) -> QueryResult<()> {
    outbox::emit(connection, account, &[IntegrationConnected { provider: channel, shop: name }.into()], now).await
}

/// The connection of such a profile ended.
pub(super) async fn tell_disconnected(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (channel, name): (String, String),
    reason: EndReason,
    now: OffsetDateTime,
) -> QueryResult<()> {
    let (reason, disconnected_at) = (reason.to_string(), Instant(now));
    let event = IntegrationDisconnected { provider: channel, shop: name, reason, disconnected_at };
    outbox::emit(connection, account, &[event.into()], now).await
}

/// A shop was connected: what people ask there is read from now on, with its tokens.
pub async fn follow(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    channel: Channel,
    (shop_id, integration): (&str, IntegrationId),
    now: OffsetDateTime,
) -> QueryResult<()> {
    let follow = Follow { account: account.0, channel: channel.as_str(), shop_id, integration: integration.0, now };
    follow.execute(connection).await.map(|_| ())
}

/// The connection of a shop ended.
pub async fn unfollow(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    integration: IntegrationId,
    now: OffsetDateTime,
) -> QueryResult<()> {
    Unfollow { account: account.0, integration: integration.0, now }.execute(connection).await.map(|_| ())
}

/// Makes the account the owner of the profile, unless another one is.
async fn connect_once(
    connection: &mut AsyncPgConnection,
    new: &NewSocialAccount,
    now: OffsetDateTime,
) -> Result<Connected, Failure> {
    let NewSocialAccount { account, channel, external_id, app_scoped_id, handle } = new;
    if !claim(connection, *account, *channel, external_id).await? {
        return Ok(Connected::Elsewhere);
    }
    let told = (profiles::app_scoped_id.eq(app_scoped_id), profiles::handle.eq(handle), profiles::connected_at.eq(now));
    let id: i64 = diesel::insert_into(profiles::table)
        .values((
            profiles::account_id.eq(account.0),
            profiles::channel.eq(channel.as_str()),
            profiles::external_id.eq(external_id),
            told,
        ))
        .on_conflict((profiles::account_id, profiles::channel, profiles::external_id))
        .do_update()
        .set(told)
        .returning(profiles::id)
        .get_result(connection)
        .await?;
    Ok(Connected::Done(SocialAccountId(id)))
}

/// Makes the account the owner of the profile. False: another one is, whose profile has not ended. Of two that claim the same,
/// the second waits for the first.
pub(super) async fn claim(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    channel: Channel,
    external_id: &str,
) -> QueryResult<bool> {
    let owner =
        (owners::channel.eq(channel.as_str()), owners::external_id.eq(external_id), owners::owner_id.eq(account.0));
    diesel::insert_into(owners::table).values(owner).on_conflict_do_nothing().execute(connection).await?;
    let row = owners::table.find((channel.as_str(), external_id));
    let owner: i64 = row.select(owners::owner_id).for_no_key_update().first(connection).await?;
    if owner == account.0 {
        return Ok(true);
    }
    let find = FindOwned { account: owner, channel: channel.as_str(), external_id };
    let held: Option<ProfileRow> = find.get_result(connection).await.optional()?;
    if held.is_some() {
        return Ok(false);
    }
    diesel::update(row).set(owners::owner_id.eq(account.0)).execute(connection).await?;
    Ok(true)
}
