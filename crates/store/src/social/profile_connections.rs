//! [`ProfileConnections`] on Postgres. Profiles that come with a shop are connected and ended with it.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, SocialAccountId, StoreError,
    audit::Entry,
    page::{Page, PageRequest},
    social::{
        Channel,
        profiles::{
            EndReason, Ended, NewProfile, ProfileConnections, ProfileError, SUBSCRIBE_AGAIN, SUBSCRIBE_EVERY,
            SocialProfile,
        },
    },
};
use serde_json::json;
use time::OffsetDateTime;

use super::profiles::{claim, tell_connected, tell_disconnected};
use crate::{
    Store,
    accounts::lock,
    database::{
        error::{Failure, corrupt, parse},
        idempotency,
        query::RunQueryDsl,
        statement::Scalar,
        transact::Rollback,
    },
    people::audit,
    schema::social_owners as owners,
};

statement!(
    Reserve<'a>(account: i64 => BigInt, channel: &'static str => Text, external_id: &'a str => Text) -> Scalar<BigInt> = "
    SELECT coalesce((SELECT id FROM social_accounts WHERE account_id = $1 AND channel = $2 AND external_id = $3),
        nextval('social_accounts_id_seq'))"
);

statement!(
    Put<'a>(
        account: i64 => BigInt,
        id: i64 => BigInt,
        channel: &'static str => Text,
        external_id: &'a str => Text,
        handle: Option<&'a str> => Nullable<Text>,
        page_id: &'a str => Text,
        scopes: &'a [String] => Array<Text>,
        missing_scopes: &'a [String] => Array<Text>,
        sealed: &'a [u8] => Bytea,
        subscribed_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        subscribe_due_at: OffsetDateTime => Timestamptz,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO social_accounts (account_id, id, channel, external_id, handle, page_id, scopes, missing_scopes, sealed_token,
        subscribed_at, subscribe_due_at, connected_at, poll_due_at) OVERRIDING SYSTEM VALUE
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
    ON CONFLICT (account_id, id) DO UPDATE SET handle = excluded.handle, page_id = excluded.page_id,
        scopes = excluded.scopes, missing_scopes = excluded.missing_scopes, sealed_token = excluded.sealed_token,
        subscribed_at = excluded.subscribed_at, subscribe_due_at = excluded.subscribe_due_at,
        connected_at = excluded.connected_at, poll_due_at = excluded.poll_due_at, ended_at = NULL, end_reason = NULL,
        blocked_until = NULL"
);

statement!(
    /// One that had ended before says from now on that it was meant to.
    End(account: i64 => BigInt, id: i64 => BigInt, at: OffsetDateTime => Timestamptz) -> EndedRow = "
    UPDATE social_accounts a
    SET sealed_token = NULL, ended_at = coalesce(a.ended_at, $3), end_reason = 'manual', poll_due_at = NULL,
        subscribe_due_at = NULL, subscribed_at = NULL
    FROM social_accounts before
    WHERE a.account_id = $1 AND a.id = $2 AND a.integration_id IS NULL AND before.account_id = $1 AND before.id = $2
    RETURNING a.channel, a.external_id, a.handle, before.ended_at IS NULL AS is_now"
);

row!(
    struct EndedRow {
        channel: String => Text,
        external_id: String => Text,
        handle: Option<String> => Nullable<Text>,
        is_now: bool => Bool,
    }
);

statement!(
    SharesPage(account: i64 => BigInt, id: i64 => BigInt) -> Scalar<Bool> = "
    SELECT EXISTS (SELECT FROM social_accounts a
        JOIN social_accounts other ON other.account_id = a.account_id AND other.page_id = a.page_id AND other.id <> a.id
        WHERE a.account_id = $1 AND a.id = $2 AND other.ended_at IS NULL)"
);

statement!(
    One(account: i64 => BigInt, id: i64 => BigInt) -> SocialProfileRow = "
    SELECT id, channel, external_id, handle, coalesce(scopes, '{}') AS scopes,
        coalesce(missing_scopes, '{}') AS missing_scopes, connected_at, ended_at,
        CASE WHEN ended_at IS NOT NULL THEN coalesce(end_reason, 'token_expired') END AS end_reason, last_event_at,
        last_poll_at, subscribed_at
    FROM social_accounts WHERE account_id = $1 AND id = $2 AND integration_id IS NULL"
);

statement!(
    Listed(account: i64 => BigInt, below: i64 => BigInt, limit: i64 => BigInt) -> SocialProfileRow = "
    SELECT id, channel, external_id, handle, coalesce(scopes, '{}') AS scopes,
        coalesce(missing_scopes, '{}') AS missing_scopes, connected_at, ended_at,
        CASE WHEN ended_at IS NOT NULL THEN coalesce(end_reason, 'token_expired') END AS end_reason, last_event_at,
        last_poll_at, subscribed_at
    FROM social_accounts
    WHERE account_id = $1 AND id < $2 AND integration_id IS NULL ORDER BY id DESC LIMIT $3"
);

row!(
    struct SocialProfileRow {
        id: i64 => BigInt,
        channel: String => Text,
        external_id: String => Text,
        handle: Option<String> => Nullable<Text>,
        scopes: Vec<String> => Array<Text>,
        missing_scopes: Vec<String> => Array<Text>,
        connected_at: OffsetDateTime => Timestamptz,
        ended_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        end_reason: Option<String> => Nullable<Text>,
        last_event_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        last_poll_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        subscribed_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

impl TryFrom<SocialProfileRow> for SocialProfile {
    type Error = StoreError;
    fn try_from(row: SocialProfileRow) -> Result<Self, StoreError> {
        let SocialProfileRow {
            id,
            channel,
            external_id,
            handle,
            scopes,
            missing_scopes,
            connected_at,
            ended_at,
            end_reason,
            last_event_at,
            last_poll_at,
            subscribed_at,
        } = row;
        Ok(Self {
            id: SocialAccountId(id),
            channel: parse(&channel, "channel")?,
            external_id,
            handle,
            scopes,
            missing_scopes,
            connected_at,
            ended_at,
            end_reason: end_reason.map(|reason| parse(&reason, "reason of an end")).transpose()?,
            last_event_at,
            last_poll_at,
            subscribed_at,
        })
    }
}

#[async_trait]
impl ProfileConnections for Store {
    async fn reserve(
        &self,
        account: AccountId,
        channel: Channel,
        external_id: &str,
    ) -> Result<SocialAccountId, StoreError> {
        let reserve = Reserve { account: account.0, channel: channel.as_str(), external_id };
        let id = self.run::<_, Failure>(async |connection| Ok(reserve.get_result(connection).await?)).await?;
        Ok(SocialAccountId(id))
    }

    async fn connect(
        &self,
        account: AccountId,
        profile: NewProfile,
        now: OffsetDateTime,
    ) -> Result<SocialProfile, ProfileError> {
        let made =
            self.transact::<_, Rollback<_>>(async |session| connect(session, account, &profile, now).await).await;
        made.map_err(Rollback::into_error)
    }

    async fn end(
        &self,
        account: AccountId,
        id: SocialAccountId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Ended, StoreError> {
        let ended = self.transact::<_, Failure>(async |session| end(session, account, id, note.clone(), now).await);
        Ok(ended.await?)
    }

    async fn shares_page(&self, account: AccountId, id: SocialAccountId) -> Result<bool, StoreError> {
        let shares = SharesPage { account: account.0, id: id.0 };
        Ok(self.run::<_, Failure>(async |connection| Ok(shares.get_result(connection).await?)).await?)
    }

    async fn find(&self, account: AccountId, id: SocialAccountId) -> Result<Option<SocialProfile>, StoreError> {
        let row = self.run::<_, Failure>(async |connection| Ok(one(connection, account, id).await?)).await?;
        row.map(SocialProfile::try_from).transpose()
    }

    async fn page(&self, account: AccountId, page: PageRequest) -> Result<Page<SocialProfile>, StoreError> {
        // One more than asked for says whether there are more.
        let listed =
            Listed { account: account.0, below: page.cursor.unwrap_or(i64::MAX), limit: page.limit.saturating_add(1) };
        let rows: Vec<SocialProfileRow> =
            self.read(account, async |connection| Ok(listed.load(connection).await?)).await?;
        let found = rows.into_iter().map(SocialProfile::try_from).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(found, page.limit, |profile| profile.id.0))
    }
}

async fn one(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: SocialAccountId,
) -> QueryResult<Option<SocialProfileRow>> {
    One { account: account.0, id: id.0 }.get_result(connection).await.optional()
}

async fn connect(
    session: &mut AsyncPgConnection,
    account: AccountId,
    profile: &NewProfile,
    now: OffsetDateTime,
) -> Result<SocialProfile, Rollback<ProfileError>> {
    let NewProfile {
        id,
        channel,
        external_id,
        handle,
        page_id,
        scopes,
        missing_scopes,
        sealed_token,
        is_subscribed,
        key,
        note,
    } = profile;
    lock(session, account).await?;
    if !claim(session, account, *channel, external_id).await? {
        return Err(Rollback::Refused(ProfileError::ConnectedElsewhere));
    }
    let put = Put {
        account: account.0,
        id: id.0,
        channel: channel.as_str(),
        external_id,
        handle: handle.as_deref(),
        page_id,
        scopes,
        missing_scopes,
        sealed: sealed_token,
        subscribed_at: is_subscribed.then_some(now),
        subscribe_due_at: now + if *is_subscribed { SUBSCRIBE_EVERY } else { SUBSCRIBE_AGAIN },
        now,
    };
    put.execute(session).await?;
    let name = handle.as_ref().unwrap_or(external_id);
    tell_connected(session, account, (channel.to_string(), name.clone()), now).await?;
    audit::changed(session, note.clone(), name, (None, Some(json!({ "channel": channel }))), now).await?;
    let made = one(session, account, *id).await?.ok_or_else(|| corrupt("profile"))?;
    let made = SocialProfile::try_from(made)?;
    if let Some(key) = key {
        let answer = serde_json::to_value(&made).map_err(|_| corrupt("profile"))?;
        idempotency::finish(session, account, key, answer, now).await?;
    }
    Ok(made)
}

async fn end(
    session: &mut AsyncPgConnection,
    account: AccountId,
    id: SocialAccountId,
    note: Option<Entry>,
    now: OffsetDateTime,
) -> Result<Ended, Failure> {
    lock(session, account).await?;
    let end = End { account: account.0, id: id.0, at: now };
    let ended: Option<EndedRow> = end.get_result(session).await.optional()?;
    let Some(EndedRow { channel, external_id, handle, is_now }) = ended else { return Ok(Ended::Unknown) };
    let owned = owners::table.find((&channel, &external_id)).filter(owners::owner_id.eq(account.0));
    diesel::delete(owned).execute(session).await?;
    if !is_now {
        return Ok(Ended::Before);
    }
    let name = handle.as_ref().unwrap_or(&external_id);
    tell_disconnected(session, account, (channel.clone(), name.clone()), EndReason::Manual, now).await?;
    audit::changed(session, note, name, (Some(json!({ "channel": channel })), None), now).await?;
    Ok(Ended::Now)
}
