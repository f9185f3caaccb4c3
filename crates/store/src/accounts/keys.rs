//! [`KeyStore`] on Postgres.

pub(crate) mod cache;
mod uses;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Bytea, Nullable, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, KeyId, StoreError,
    accounts::Profile,
    audit::Entry,
    keys::{KeyHash, KeyRecord, KeyStore, MakeError, NewKey, Successor},
};
use time::OffsetDateTime;

use crate::{
    Store,
    accounts::{locale, lock},
    database::{
        error::{Failure, corrupt, parse},
        query::RunQueryDsl,
        statement::Scalar,
        transact::Rollback,
    },
    people::{audit, mails},
    schema::{accounts, api_keys},
};

/// The channel on which processes are told to drop a key from memory, revoked or of an account that has changed; the payload
/// is the key's hash in hex.
pub const REVOCATION_CHANNEL: &str = "api_key_revoked";

#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys, check_for_backend(diesel::pg::Pg))]
struct KeyRow {
    hash: Vec<u8>,
    id: i64,
    account_id: i64,
    name: String,
    prefix: String,
    scopes: Vec<String>,
    created_at: OffsetDateTime,
    expires_at: Option<OffsetDateTime>,
    revoked_at: Option<OffsetDateTime>,
    last_used_at: Option<OffsetDateTime>,
    made_by: Option<String>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg))]
struct OwnerRow {
    user_id: String,
    mode: String,
    plan: String,
    currency: String,
    timezone: String,
    language: String,
    country: Option<String>,
    created_at: OffsetDateTime,
}

fn record((key, owner): (KeyRow, OwnerRow)) -> Result<KeyRecord, StoreError> {
    let KeyRow {
        hash,
        id,
        account_id,
        name,
        prefix,
        scopes,
        created_at,
        expires_at,
        revoked_at,
        last_used_at,
        made_by,
    } = key;
    let OwnerRow { user_id, mode, plan, currency, timezone, language, country, created_at: since } = owner;
    Ok(KeyRecord {
        id: KeyId(id),
        hash: KeyHash(hash.try_into().map_err(|_| corrupt("key hash"))?),
        account_id: AccountId(account_id),
        user_id: parse(&user_id, "user id")?,
        mode: parse(&mode, "account mode")?,
        profile: Profile {
            plan: parse(&plan, "plan")?,
            currency: parse(&currency, "currency")?,
            timezone: parse(&timezone, "time zone")?,
            locale: locale(&language, country.as_deref())?,
            created_at: since,
        },
        name,
        prefix,
        scopes: scopes.iter().map(|scope| parse(scope, "scope")).collect::<Result<_, _>>()?,
        created_at,
        expires_at,
        revoked_at,
        last_used_at,
        made_by,
    })
}

#[async_trait]
impl KeyStore for Store {
    fn known_id(&self, _: KeyHash) -> Option<KeyId> {
        None
    }

    async fn find(&self, hash: KeyHash) -> Result<Option<KeyRecord>, StoreError> {
        let row = self
            .run::<_, Failure>(async |connection| {
                Ok(api_keys::table
                    .find(hash.0.to_vec())
                    .inner_join(accounts::table)
                    .select((KeyRow::as_select(), OwnerRow::as_select()))
                    .first(connection)
                    .await
                    .optional()?)
            })
            .await?;
        row.map(record).transpose()
    }

    /// Direct use of the store is no request.
    fn note_use(&self, _: KeyHash, _: OffsetDateTime) {}

    async fn create(&self, key: NewKey, most: Option<i64>) -> Result<KeyRecord, MakeError> {
        let hash = key.hash;
        self.transact(async |connection| {
            if let Some(most) = most
                && count_working(connection, key.account_id, key.created_at).await? >= most
            {
                return Err(Rollback::Refused(MakeError::LimitReached));
            }
            Ok(insert(connection, key.clone()).await?)
        })
        .await
        .map_err(Rollback::into_error)?;
        self.find(hash).await?.ok_or_else(|| corrupt("key").into())
    }

    async fn rotate(
        &self,
        account: AccountId,
        id: KeyId,
        successor: Successor,
        most: Option<i64>,
    ) -> Result<Option<KeyRecord>, MakeError> {
        let hash = successor.hash;
        let is_rotated = self
            .transact(async |connection| {
                // The one that is replaced is among them. Where it ends at once, no more of them work than before.
                if let Some(most) = most
                    && successor.overlap_until > successor.now
                    && count_working(connection, account, successor.now).await? > most
                {
                    return Err(Rollback::Refused(MakeError::LimitReached));
                }
                Ok(rotate(connection, account, id, successor.clone()).await?)
            })
            .await
            .map_err(Rollback::into_error)?;
        if is_rotated { Ok(self.find(hash).await?) } else { Ok(None) }
    }

    async fn list(&self, account: AccountId) -> Result<Vec<KeyRecord>, StoreError> {
        let rows = self
            .run::<_, Failure>(async |connection| {
                Ok(api_keys::table
                    .inner_join(accounts::table)
                    .filter(api_keys::account_id.eq(account.0))
                    .order(api_keys::id.desc())
                    .select((KeyRow::as_select(), OwnerRow::as_select()))
                    .load(connection)
                    .await?)
            })
            .await?;
        rows.into_iter().map(record).collect()
    }

    async fn revoke(
        &self,
        account: AccountId,
        id: KeyId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Option<KeyRecord>, StoreError> {
        let hash: Option<Vec<u8>> = self
            .transact::<_, Failure>(async |connection| {
                // One transaction: a revocation that is not announced would leave the key in the others' memory.
                revoke(connection, account, id, note.as_ref(), now).await
            })
            .await?;
        match hash {
            Some(hash) => self.find(KeyHash(hash.try_into().map_err(|_| corrupt("key hash"))?)).await,
            None => Ok(None),
        }
    }
}

/// Which keys work.
#[diesel::dsl::auto_type(no_type_alias)]
fn works(now: OffsetDateTime) -> _ {
    api_keys::revoked_at.is_null().and(api_keys::expires_at.is_null().or(api_keys::expires_at.gt(now)))
}

/// How many keys of the account work. Others who count them wait until the transaction ends.
async fn count_working(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> QueryResult<i64> {
    lock(connection, account).await?;
    api_keys::table.filter(api_keys::account_id.eq(account.0)).filter(works(now)).count().get_result(connection).await
}

async fn insert(connection: &mut AsyncPgConnection, key: NewKey) -> QueryResult<()> {
    let NewKey { hash, account_id, name, prefix, scopes, created_at, expires_at, note, notice } = key;
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    diesel::insert_into(api_keys::table)
        .values((
            api_keys::hash.eq(hash.0.to_vec()),
            api_keys::account_id.eq(account_id.0),
            api_keys::name.eq(name),
            api_keys::prefix.eq(prefix),
            api_keys::scopes.eq(scopes),
            api_keys::created_at.eq(created_at),
            api_keys::expires_at.eq(expires_at),
            api_keys::made_by.eq(note.as_ref().and_then(Entry::person)),
        ))
        .execute(connection)
        .await?;
    if let Some(notice) = &notice {
        mails::put(connection, notice, created_at).await?;
    }
    audit::add_any(connection, note.as_ref(), created_at).await
}

/// Ends a key that works, at the latest at the end of the overlap, announces that, and puts another in its place.
async fn rotate(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: KeyId,
    successor: Successor,
) -> Result<bool, Failure> {
    let Successor { hash, prefix, now, expires_at, overlap_until, note, notice } = successor;
    let of_account = api_keys::account_id.eq(account.0).and(api_keys::id.eq(id.0));
    let replaced = api_keys::table
        .filter(of_account.and(works(now)))
        .for_update()
        .select(KeyRow::as_select())
        .first(connection)
        .await
        .optional()?;
    let Some(KeyRow { hash: old, name, prefix: shown, scopes, expires_at: end, .. }) = replaced else {
        return Ok(false);
    };
    diesel::update(api_keys::table.find(&old))
        .set(api_keys::expires_at.eq(end.map_or(overlap_until, |end| end.min(overlap_until))))
        .execute(connection)
        .await?;
    announce(connection, &old).await?;
    let scopes = scopes.iter().map(|scope| parse(scope, "scope")).collect::<Result<_, _>>()?;
    let note = note.map(|note| Entry { target: Some(called(&name, &shown).to_owned()), ..note });
    let key = NewKey { hash, account_id: account, name, prefix, scopes, created_at: now, expires_at, note, notice };
    insert(connection, key).await?;
    Ok(true)
}

/// What the audit log calls a key: by its name, or the beginning of the key.
fn called<'a>(name: &'a str, prefix: &'a str) -> &'a str {
    if name.is_empty() { prefix } else { name }
}

/// Revokes a key and announces it. Gives its hash, also when it was revoked before.
async fn revoke(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: KeyId,
    note: Option<&Entry>,
    now: OffsetDateTime,
) -> Result<Option<Vec<u8>>, Failure> {
    let target = api_keys::table.filter(api_keys::account_id.eq(account.0)).filter(api_keys::id.eq(id.0));
    let revoked: Option<(String, String)> = diesel::update(target.filter(api_keys::revoked_at.is_null()))
        .set(api_keys::revoked_at.eq(now))
        .returning((api_keys::name, api_keys::prefix))
        .get_result(connection)
        .await
        .optional()?;
    if let Some((name, prefix)) = revoked {
        audit::changed(connection, note.cloned(), called(&name, &prefix), (None, None), now).await?;
    }
    let hash = target.select(api_keys::hash).first::<Vec<u8>>(connection).await.optional()?;
    if let Some(hash) = &hash {
        announce(connection, hash).await?;
    }
    Ok(hash)
}

/// Has every process drop the account's keys from its memory, and with them what it knows of the account. To be called in
/// the transaction of the change.
pub(crate) async fn announce_account(connection: &mut AsyncPgConnection, account: AccountId) -> QueryResult<()> {
    let hashes: Vec<Vec<u8>> = api_keys::table
        .filter(api_keys::account_id.eq(account.0))
        .filter(api_keys::revoked_at.is_null())
        .select(api_keys::hash)
        .load(connection)
        .await?;
    for hash in hashes {
        announce(connection, &hash).await?;
    }
    Ok(())
}

statement!(
    Notify<'a>(channel: &'a str => Text, hash: &'a [u8] => Bytea) -> Scalar<Nullable<Text>> =
        "SELECT pg_notify($1, encode($2, 'hex'))::text"
);

async fn announce(connection: &mut AsyncPgConnection, hash: &[u8]) -> QueryResult<()> {
    Notify { channel: REVOCATION_CHANNEL, hash }.execute(connection).await?;
    Ok(())
}

impl Store {
    /// Announces the revocation of a key that does not exist: listeners drop nothing, and learn that they are connected.
    pub(crate) async fn send_probe(&self, hash: KeyHash) -> Result<(), StoreError> {
        Ok(self.run::<_, Failure>(async |connection| Ok(announce(connection, &hash.0).await?)).await?)
    }
}
