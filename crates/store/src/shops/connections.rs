//! [`ConnectionStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::{DatabaseErrorKind, Error},
    sql_types::{Array, BigInt, Bool, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, IntegrationId, StoreError,
    accounts::Platform,
    audit::Entry,
    events::{Instant, IntegrationConnected, IntegrationDisconnected, IntegrationRevoked},
    integrations::{Fact, Integration, RevokeReason},
    shops::{
        connections::{ConnectError, ConnectionStore, Description, NewConnection, Revocation, Revoked},
        tokens::SealedTokens,
    },
    social::Channel,
};
use serde_json::json;
use time::OffsetDateTime;

use crate::{
    Store,
    analytics::places,
    database::{
        error::{Failure, corrupt, parse},
        idempotency,
        query::RunQueryDsl,
        statement::Scalar,
        transact::Rollback,
    },
    integrations::one,
    people::audit,
    schema::{accounts, integrations, risks, shop_owners},
    social::profiles::{follow, unfollow},
    webhooks::outbox,
};

statement!(
    Reserve<'a>(account: i64 => BigInt, provider: &'static str => Text, shop: &'a str => Text) -> Scalar<BigInt> = "
    SELECT coalesce((SELECT id FROM integrations WHERE account_id = $1 AND provider = $2 AND shop = $3),
        nextval('integrations_id_seq'))"
);

statement!(
    /// Claims the shop for the account; a violation of the unique index where another account is connected to it. Holds the row
    /// until the transaction ends, so that of two accounts one is first.
    ClaimShop<'a>(
        provider: &'static str => Text,
        shop_id: &'a str => Text,
        account: i64 => BigInt,
        id: i64 => BigInt,
    ) -> () = "
    INSERT INTO shop_owners (provider, shop_id, owner_id, integration_id, is_connected) VALUES ($1, $2, $3, $4, true)
    ON CONFLICT (provider, shop_id, owner_id) DO UPDATE
        SET integration_id = excluded.integration_id, is_connected = true"
);

statement!(
    /// What changed since the shop was connected last is still to be read where its history was begun and no changes were:
    /// the back-fill goes on below that time, and changes would be read from the new connection on.
    KeepBeginning(account: i64 => BigInt, id: i64 => BigInt) -> () = "
    INSERT INTO sync_streams AS known (account_id, integration_id, stream, cursor_at)
    SELECT i.account_id, i.id, 'changes', i.connected_at
    FROM integrations i JOIN sync_streams history ON history.account_id = i.account_id
        AND history.integration_id = i.id AND history.stream = 'back_fill' AND history.cursor_at IS NOT NULL
    WHERE i.account_id = $1 AND i.id = $2
    ON CONFLICT (account_id, integration_id, stream) DO UPDATE
        SET cursor_at = coalesce(known.cursor_at, excluded.cursor_at)"
);

statement!(
    PutConnection<'a>(
        account: i64 => BigInt,
        id: i64 => BigInt,
        provider: &'static str => Text,
        shop: &'a str => Text,
        shop_id: &'a str => Text,
        scopes: &'a [String] => Array<Text>,
        missing_scopes: &'a [String] => Array<Text>,
        history_from: Option<OffsetDateTime> => Nullable<Timestamptz>,
        buyer_data: &'static str => Text,
        owner_of: Vec<&'static str> => Array<Text>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO integrations (account_id, id, provider, shop, shop_id, scopes, missing_scopes, history_from, buyer_data,
        owner_of, connected_at) OVERRIDING SYSTEM VALUE
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (account_id, id) DO UPDATE SET shop_id = excluded.shop_id, scopes = excluded.scopes,
        missing_scopes = excluded.missing_scopes, history_from = excluded.history_from,
        buyer_data = excluded.buyer_data, owner_of = excluded.owner_of, connected_at = excluded.connected_at,
        revoked_at = NULL, revoke_reason = NULL, suspended_at = NULL, broken_at = NULL"
);

statement!(
    PutTokens<'a>(
        account: i64 => BigInt,
        id: i64 => BigInt,
        access: &'a [u8] => Bytea,
        access_expires_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        refresh: Option<&'a [u8]> => Nullable<Bytea>,
        refresh_expires_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    ) -> () = "
    INSERT INTO integration_tokens AS known (account_id, integration_id, generation, sealed_access, access_expires_at,
        sealed_refresh, refresh_expires_at)
    VALUES ($1, $2, 1, $3, $4, $5, $6)
    ON CONFLICT (account_id, integration_id) DO UPDATE SET generation = known.generation + 1,
        sealed_access = excluded.sealed_access, access_expires_at = excluded.access_expires_at,
        sealed_refresh = excluded.sealed_refresh, refresh_expires_at = excluded.refresh_expires_at,
        lease_number = known.lease_number + 1, lease_until = NULL"
);

statement!(
    /// Whoever reads the connection with the tokens of before goes on: what it stores is the same shop's.
    MakeDue(account: i64 => BigInt, id: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    INSERT INTO integration_syncs AS known (account_id, integration_id, due_at) VALUES ($1, $2, $3)
    ON CONFLICT (account_id, integration_id) DO UPDATE SET due_at = excluded.due_at, is_hinted = true,
        paused_until = NULL"
);

statement!(
    ForgetTokens(account: i64 => BigInt, id: i64 => BigInt) -> () = "
    UPDATE integration_tokens SET sealed_access = NULL, access_expires_at = NULL, sealed_refresh = NULL,
        refresh_expires_at = NULL, lease_number = lease_number + 1, lease_until = NULL
    WHERE account_id = $1 AND integration_id = $2"
);

statement!(
    EndSync(account: i64 => BigInt, id: i64 => BigInt) -> () = "
    UPDATE integration_syncs SET due_at = NULL, is_hinted = false, lease_number = lease_number + 1, lease_until = NULL
    WHERE account_id = $1 AND integration_id = $2"
);

statement!(
    /// Streams start over with the next connection, but go on from their cursors.
    ForgetFailures(account: i64 => BigInt, id: i64 => BigInt) -> () = "
    UPDATE sync_streams SET failures = 0, failing_since = NULL, failed_at = NULL, error_code = NULL, error_message = NULL
    WHERE account_id = $1 AND integration_id = $2 AND failures > 0"
);

statement!(
    Suspend(account: i64 => BigInt, id: i64 => BigInt, at: Option<OffsetDateTime> => Nullable<Timestamptz>) -> () = "
    UPDATE integrations SET suspended_at = $3
    WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND (suspended_at IS NULL) <> ($3 IS NULL)"
);

statement!(
    GenerationIs(account: i64 => BigInt, id: i64 => BigInt, generation: i64 => BigInt) -> Scalar<Bool> = "
    SELECT EXISTS (SELECT FROM integration_tokens
        WHERE account_id = $1 AND integration_id = $2 AND generation = $3 AND sealed_access IS NOT NULL)"
);

#[async_trait]
impl ConnectionStore for Store {
    async fn reserve(&self, account: AccountId, provider: Platform, shop: &str) -> Result<IntegrationId, StoreError> {
        let reserve = Reserve { account: account.0, provider: provider.as_str(), shop };
        let id = self.run::<_, Failure>(async |connection| Ok(reserve.get_result(connection).await?)).await?;
        Ok(IntegrationId(id))
    }

    async fn connect(
        &self,
        account: AccountId,
        connection: NewConnection,
        now: OffsetDateTime,
    ) -> Result<Integration, ConnectError> {
        let made =
            self.transact::<_, Rollback<_>>(async |session| connect(session, account, &connection, now).await).await;
        made.map_err(Rollback::into_error)
    }

    async fn revoke(
        &self,
        account: AccountId,
        id: IntegrationId,
        revocation: Revocation,
        note: Option<Entry>,
    ) -> Result<Revoked, StoreError> {
        Ok(self.transact::<_, Failure>(async |session| revoke(session, account, id, revocation, note).await).await?)
    }

    async fn suspend(
        &self,
        account: AccountId,
        id: IntegrationId,
        suspended: bool,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let changed = self
            .transact::<_, Failure>(async |session| {
                let suspend = Suspend { account: account.0, id: id.0, at: suspended.then_some(now) };
                let changed = suspend.execute(session).await? > 0;
                if changed && !suspended {
                    MakeDue { account: account.0, id: id.0, now }.execute(session).await?;
                }
                Ok(changed)
            })
            .await?;
        Ok(changed)
    }

    async fn describe(
        &self,
        account: AccountId,
        id: IntegrationId,
        description: Description,
    ) -> Result<(), StoreError> {
        let Description { scopes, missing_scopes, history_from, buyer_data } = description;
        let change = (
            integrations::scopes.eq(scopes),
            integrations::missing_scopes.eq(missing_scopes),
            integrations::history_from.eq(history_from),
            integrations::buyer_data.eq(buyer_data.as_str()),
        );
        self.run::<_, Failure>(async |session| {
            let connected = integrations::table.find((account.0, id.0)).filter(integrations::revoked_at.is_null());
            diesel::update(connected).set(change).execute(session).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}

/// A connection of the account that has not ended.
#[derive(Queryable, Selectable)]
#[diesel(table_name = integrations, check_for_backend(diesel::pg::Pg))]
struct Connected {
    id: i64,
    provider: String,
    shop: String,
    shop_id: Option<String>,
    owner_of: Vec<String>,
}

/// The account's connections that have not ended, the oldest first. Nobody makes or ends one until the transaction is over.
async fn connected(session: &mut AsyncPgConnection, account: AccountId) -> QueryResult<Vec<Connected>> {
    let held = accounts::table.find(account.0).for_no_key_update();
    let _: Option<i64> = held.select(accounts::id).first(session).await.optional()?;
    integrations::table
        .filter(integrations::account_id.eq(account.0))
        .filter(integrations::revoked_at.is_null())
        .order((integrations::connected_at, integrations::id))
        .select(Connected::as_select())
        .load(session)
        .await
}

const fn can_say(provider: Platform, fact: Fact) -> bool {
    match fact {
        Fact::Stock => provider.is_shop(),
        Fact::Cost => provider.knows_costs(),
    }
}

fn elsewhere(error: Error) -> Rollback<ConnectError> {
    match error {
        Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => {
            Rollback::Refused(ConnectError::ConnectedElsewhere)
        }
        other => other.into(),
    }
}

async fn connect(
    session: &mut AsyncPgConnection,
    account: AccountId,
    connection: &NewConnection,
    now: OffsetDateTime,
) -> Result<Integration, Rollback<ConnectError>> {
    let NewConnection { id, provider, shop_id, shop, description, tokens, key, note } = connection;
    let Description { scopes, missing_scopes, history_from, buyer_data } = description;
    let known = connected(session, account).await?;
    let others: Vec<_> = known.iter().filter(|other| other.id != id.0).collect();
    if others.iter().any(|other| other.provider == provider.as_str()) {
        return Err(Rollback::Refused(ConnectError::AlreadyConnected));
    }
    let claim = ClaimShop { provider: provider.as_str(), shop_id, account: account.0, id: id.0 };
    claim.execute(session).await.map_err(elsewhere)?;
    let is_free = |fact: Fact| !others.iter().any(|other| other.owner_of.iter().any(|owned| owned == fact.as_str()));
    let owner_of = Fact::ALL.iter().copied().filter(|fact| can_say(*provider, *fact)).filter(|fact| is_free(*fact));
    let put = PutConnection {
        account: account.0,
        id: id.0,
        provider: provider.as_str(),
        shop,
        shop_id,
        scopes,
        missing_scopes,
        history_from: *history_from,
        buyer_data: buyer_data.as_str(),
        owner_of: owner_of.map(Fact::as_str).collect(),
        now,
    };
    if provider.is_shop() {
        KeepBeginning { account: account.0, id: id.0 }.execute(session).await?;
    }
    put.execute(session).await?;
    let SealedTokens { access, access_expires_at, refresh, refresh_expires_at } = tokens;
    let put = PutTokens {
        account: account.0,
        id: id.0,
        access,
        access_expires_at: *access_expires_at,
        refresh: refresh.as_deref(),
        refresh_expires_at: *refresh_expires_at,
    };
    put.execute(session).await?;
    MakeDue { account: account.0, id: id.0, now }.execute(session).await?;
    if let Some(channel) = Channel::of_shop(*provider) {
        follow(session, account, channel, (shop_id, *id), now).await?;
    }
    let event = IntegrationConnected { provider: provider.to_string(), shop: shop.clone() };
    outbox::emit(session, account, &[event.into()], now).await?;
    let told = json!({ "platform": provider });
    audit::changed(session, note.clone(), shop, (None, Some(told)), now).await?;
    let made = one(session, account, *id).await?.ok_or_else(|| corrupt("connection"))?;
    let made = Integration::try_from(made)?;
    if let Some(key) = key {
        let answer = serde_json::to_value(&made).map_err(|_| corrupt("connection"))?;
        idempotency::finish(session, account, key, answer, now).await?;
    }
    Ok(made)
}

async fn revoke(
    session: &mut AsyncPgConnection,
    account: AccountId,
    id: IntegrationId,
    revocation: Revocation,
    note: Option<Entry>,
) -> Result<Revoked, Failure> {
    let Revocation { reason, generation, now } = revocation;
    let known = connected(session, account).await?;
    let Some(ending) = known.iter().find(|known| known.id == id.0) else {
        let ended = integrations::table.find((account.0, id.0)).select(integrations::id);
        let ended: Option<i64> = ended.first(session).await.optional()?;
        return Ok(if ended.is_some() { Revoked::Unchanged } else { Revoked::Unknown });
    };
    if let Some(generation) = generation {
        let guard = GenerationIs { account: account.0, id: id.0, generation };
        if !guard.get_result::<bool>(session).await? {
            return Ok(Revoked::Unchanged);
        }
    }
    let end = (
        integrations::revoked_at.eq(now),
        integrations::revoke_reason.eq(reason.as_str()),
        integrations::owner_of.eq(Vec::<String>::new()),
        integrations::suspended_at.eq(None::<OffsetDateTime>),
        integrations::broken_at.eq(None::<OffsetDateTime>),
    );
    diesel::update(integrations::table.find((account.0, id.0))).set(end).execute(session).await?;
    ForgetTokens { account: account.0, id: id.0 }.execute(session).await?;
    EndSync { account: account.0, id: id.0 }.execute(session).await?;
    ForgetFailures { account: account.0, id: id.0 }.execute(session).await?;
    if reason == RevokeReason::Manual {
        // That nothing is read of it is as its owner wants it.
        let of_shop = risks::table.filter(risks::account_id.eq(account.0)).filter(risks::integration_id.eq(id.0));
        let of_shop: Vec<i64> = of_shop.select(risks::id).load(session).await?;
        places::remove_risks(session, account.0, &of_shop).await?;
    }
    unfollow(session, account, id, now).await?;
    if let Some(shop_id) = &ending.shop_id {
        let owner = shop_owners::table.find((&ending.provider, shop_id, account.0));
        diesel::update(owner).set(shop_owners::is_connected.eq(false)).execute(session).await?;
    }
    hand_over(session, account, ending, &known).await?;
    let (provider, shop, reason) = (ending.provider.clone(), ending.shop.clone(), reason.to_string());
    let events = [
        IntegrationRevoked { provider: provider.clone(), store_id: id.0, reason: reason.clone() }.into(),
        IntegrationDisconnected { provider, shop, reason, disconnected_at: Instant(now) }.into(),
    ];
    outbox::emit(session, account, &events, now).await?;
    audit::changed(session, note, &ending.shop, (Some(json!({ "platform": ending.provider })), None), now).await?;
    Ok(Revoked::Now)
}

statement!(
    Inherit<'a>(account: i64 => BigInt, id: i64 => BigInt, fact: &'a str => Text) -> () = "
    UPDATE integrations SET owner_of = array_append(owner_of, $3) WHERE account_id = $1 AND id = $2"
);

/// Gives each fact that a connection owned to the oldest of the others that can say it.
async fn hand_over(
    session: &mut AsyncPgConnection,
    account: AccountId,
    ending: &Connected,
    known: &[Connected],
) -> Result<(), Failure> {
    for owned in &ending.owner_of {
        let fact: Fact = parse(owned, "fact")?;
        for heir in known.iter().filter(|other| other.id != ending.id && other.shop_id.is_some()) {
            if !can_say(parse(&heir.provider, "platform")?, fact) {
                continue;
            }
            Inherit { account: account.0, id: heir.id, fact: owned }.execute(session).await?;
            break;
        }
    }
    Ok(())
}
