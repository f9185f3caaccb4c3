//! [`Inbox`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Jsonb, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, InboxId, IntegrationId, StoreError,
    accounts::Platform,
    shops::{
        hooks::{Hook, Topic},
        inbox::{AGAIN, GATHERED, Inbox, InboxEntry, MAX_UNSIGNED, Received, Taken, Waiting},
    },
};
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, corrupt, store_error},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::{integrations, provider_inbox, shop_owners},
};

/// A connection to a shop, now or before.
#[derive(Queryable, Selectable)]
#[diesel(table_name = shop_owners, check_for_backend(diesel::pg::Pg))]
struct OwnerRow {
    owner_id: i64,
    integration_id: i64,
    is_connected: bool,
}

statement!(
    /// Connections with open hooks that nobody has, the longest waiting first. Locks nothing: it looks at every account.
    WaitingRows(now: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> WaitingRow = "
    SELECT account_id, integration_id FROM provider_inbox
    WHERE processed_at IS NULL AND due_at <= $1 AND (lease_until IS NULL OR lease_until <= $1)
    GROUP BY account_id, integration_id ORDER BY min(due_at), account_id, integration_id LIMIT $2"
);

row!(
    struct WaitingRow {
        account_id: i64 => BigInt,
        integration_id: i64 => BigInt,
    }
);

statement!(
    TakeEntries(
        account: i64 => BigInt,
        integration: i64 => BigInt,
        now: OffsetDateTime => Timestamptz,
        until: OffsetDateTime => Timestamptz,
        limit: i64 => BigInt,
    ) -> EntryRow = "
    UPDATE provider_inbox SET lease_until = $4, attempts = attempts + 1
    WHERE account_id = $1 AND id IN (
        SELECT id FROM provider_inbox
        WHERE account_id = $1 AND integration_id = $2 AND processed_at IS NULL AND due_at <= $3
            AND NOT EXISTS (SELECT FROM provider_inbox held WHERE held.account_id = $1 AND held.integration_id = $2
                AND held.processed_at IS NULL AND held.lease_until > $3)
        ORDER BY id LIMIT $5)
    RETURNING id, topic_name, topic, received_at, attempts"
);

row!(
    struct EntryRow {
        id: i64 => BigInt,
        topic_name: String => Text,
        topic: Value => Jsonb,
        received_at: OffsetDateTime => Timestamptz,
        attempts: i64 => BigInt,
    }
);

impl TryFrom<EntryRow> for InboxEntry {
    type Error = StoreError;
    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        let EntryRow { id, topic_name, topic, received_at, attempts } = row;
        let topic = serde_json::from_value(topic).map_err(|_| corrupt("topic of a hook"))?;
        Ok(Self { id: InboxId(id), topic_name, topic, received_at, attempts })
    }
}

statement!(
    Hold<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>, until: OffsetDateTime => Timestamptz) -> () = "
    UPDATE provider_inbox SET lease_until = $3
    WHERE account_id = $1 AND id = ANY($2) AND processed_at IS NULL AND lease_until IS NOT NULL"
);

statement!(
    Done<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>, now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE provider_inbox SET processed_at = $3 WHERE account_id = $1 AND id = ANY($2) AND processed_at IS NULL"
);

statement!(
    /// Hooks of platforms that sign none, which anybody may have sent.
    Forget<'a>(
        account: i64 => BigInt,
        ids: &'a [i64] => Array<BigInt>,
        unsigned: Vec<&'static str> => Array<Text>,
    ) -> () = "
    DELETE FROM provider_inbox WHERE account_id = $1 AND id = ANY($2)
        AND integration_id IN (SELECT i.id FROM integrations i WHERE i.account_id = $1 AND i.provider = ANY($3))"
);

statement!(
    /// Whether more than `skipped` hooks of a connection are open, but those of one topic.
    HasOpen<'a>(
        account: i64 => BigInt,
        integration: i64 => BigInt,
        but: &'a str => Text,
        skipped: i64 => BigInt,
    ) -> Scalar<Bool> = "
    SELECT EXISTS (SELECT FROM provider_inbox
        WHERE account_id = $1 AND integration_id = $2 AND processed_at IS NULL AND topic_name <> $3 OFFSET $4)"
);

statement!(
    Postpone<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>, until: OffsetDateTime => Timestamptz) -> () = "
    UPDATE provider_inbox SET due_at = $3, lease_until = NULL
    WHERE account_id = $1 AND id = ANY($2) AND processed_at IS NULL"
);

#[async_trait]
impl Inbox for Store {
    async fn receive(&self, provider: Platform, hook: Hook, now: OffsetDateTime) -> Result<Received, StoreError> {
        let topic = serde_json::to_value(&hook.topic).map_err(|_| corrupt("topic of a hook"))?;
        let received =
            self.run::<_, Failure>(async |connection| Ok(put(connection, provider, &hook, &topic, now).await?));
        Ok(received.await?)
    }

    async fn waiting(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<Waiting>, StoreError> {
        let waiting = WaitingRows { now, limit };
        let rows: Vec<WaitingRow> =
            self.run::<_, Failure>(async |connection| Ok(waiting.load(connection).await?)).await?;
        let waiting = |WaitingRow { account_id, integration_id }| Waiting {
            account: AccountId(account_id),
            integration: IntegrationId(integration_id),
        };
        Ok(rows.into_iter().map(waiting).collect())
    }

    async fn take(
        &self,
        waiting: Waiting,
        now: OffsetDateTime,
        until: OffsetDateTime,
        limit: i64,
    ) -> Result<Taken, StoreError> {
        let Waiting { account, integration } = waiting;
        let take = TakeEntries { account: account.0, integration: integration.0, now, until, limit };
        let mut rows: Vec<EntryRow> = self
            .transact::<_, Failure>(async |connection| {
                // Of two workers the second sees what the first has taken.
                let held = integrations::table.find((account.0, integration.0)).for_no_key_update();
                let _: Option<i64> = held.select(integrations::id).first(connection).await.optional()?;
                Ok(take.load(connection).await?)
            })
            .await?;
        rows.sort_unstable_by_key(|row| row.id);
        let entries = rows.into_iter().map(InboxEntry::try_from).collect::<Result<_, _>>()?;
        Ok(Taken { account, integration, entries })
    }

    async fn hold(&self, account: AccountId, ids: &[InboxId], until: OffsetDateTime) -> Result<(), StoreError> {
        let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
        let hold = Hold { account: account.0, ids: &ids, until };
        self.run::<_, Failure>(async |connection| Ok(hold.execute(connection).await?)).await?;
        Ok(())
    }

    async fn done(&self, account: AccountId, ids: &[InboxId], now: OffsetDateTime) -> Result<(), StoreError> {
        let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
        let unsigned = Platform::ALL.iter().filter(|platform| !platform.signs_hooks());
        let unsigned = unsigned.map(|platform| platform.as_str()).collect();
        let forget = Forget { account: account.0, ids: &ids, unsigned };
        let done = Done { account: account.0, ids: &ids, now };
        self.run::<_, Failure>(async |connection| {
            if forget.execute(connection).await? < ids.len() {
                done.execute(connection).await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn postpone(&self, account: AccountId, ids: &[InboxId], until: OffsetDateTime) -> Result<(), StoreError> {
        let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
        let postpone = Postpone { account: account.0, ids: &ids, until };
        self.run::<_, Failure>(async |connection| Ok(postpone.execute(connection).await?)).await?;
        Ok(())
    }

    async fn prune(&self, before: OffsetDateTime) -> Result<u64, StoreError> {
        let pruned = self
            .run::<_, Failure>(async |connection| {
                let old = provider_inbox::table.filter(provider_inbox::received_at.lt(before));
                Ok(diesel::delete(old).execute(connection).await?)
            })
            .await?;
        Ok(u64::try_from(pruned).unwrap_or(u64::MAX))
    }
}

/// As what hooks are gathered that leave open what changed, and so say the same: what they lead to.
const fn gathered(topic: &Topic) -> Option<&'static str> {
    match topic {
        Topic::Order(None) => Some("orders"),
        Topic::Catalogue => Some("catalogue"),
        Topic::Question => Some("questions"),
        _ => None,
    }
}

/// When the hooks are acted on that are gathered at `now`: of what is said all the time, one is kept.
fn end_of_gathering(now: OffsetDateTime) -> OffsetDateTime {
    let length = GATHERED.whole_seconds();
    let end = (now.unix_timestamp().div_euclid(length) + 1) * length;
    OffsetDateTime::from_unix_timestamp(end).unwrap_or(now)
}

/// A look-up by a key and one insert, of what is not signed after a look at how much waits. Whoever was connected to the shop gets
/// its privacy requests, the others go to who is.
async fn put(
    connection: &mut AsyncPgConnection,
    provider: Platform,
    hook: &Hook,
    topic: &Value,
    now: OffsetDateTime,
) -> Result<Received, StoreError> {
    let owners: Vec<OwnerRow> = shop_owners::table
        .filter(shop_owners::provider.eq(provider.as_str()))
        .filter(shop_owners::shop_id.eq(&hook.shop_id))
        .select(OwnerRow::as_select())
        .load(connection)
        .await
        .map_err(store_error)?;
    let (for_all, is_signed) = (matches!(hook.topic, Topic::Privacy(_)), provider.signs_hooks());
    let gathered = if is_signed { None } else { gathered(&hook.topic) };
    let (dedup_key, at) = match gathered {
        Some(what) => {
            // It also stands for those that come later: what was read before the end may have missed what they tell of.
            let end = end_of_gathering(now);
            (format!("{what}/{}", end.unix_timestamp()), end)
        }
        None => (hook.dedup_key.clone(), now),
    };
    let mut outcome = Received::UnknownShop;
    for OwnerRow { owner_id, integration_id, is_connected } in owners {
        if !is_connected && !for_all {
            continue;
        }
        // Those that are gathered are few anyhow, and our own nobody else can send.
        if !is_signed && gathered.is_none() && hook.topic_name != AGAIN {
            let skipped = MAX_UNSIGNED - 1;
            let open = HasOpen { account: owner_id, integration: integration_id, but: AGAIN, skipped };
            let is_full: bool = open.get_result(connection).await.map_err(store_error)?;
            if is_full {
                outcome = Received::TooMany;
                continue;
            }
        }
        let entry = (
            provider_inbox::account_id.eq(owner_id),
            provider_inbox::integration_id.eq(integration_id),
            provider_inbox::dedup_key.eq(&dedup_key),
            provider_inbox::topic_name.eq(&hook.topic_name),
            provider_inbox::topic.eq(topic),
            provider_inbox::received_at.eq(at),
            provider_inbox::due_at.eq(at),
        );
        let key = (provider_inbox::account_id, provider_inbox::integration_id, provider_inbox::dedup_key);
        let insert = diesel::insert_into(provider_inbox::table).values(entry).on_conflict(key).do_nothing();
        outcome = match insert.execute(connection).await.map_err(store_error)? {
            0 if outcome != Received::Stored => Received::Duplicate,
            _ => Received::Stored,
        };
    }
    Ok(outcome)
}
