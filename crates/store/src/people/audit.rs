//! [`AuditLog`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Jsonb, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AuditId, PersonId, StoreError, UserId,
    accounts::Mode,
    audit::{Action, Actor, Area, AuditLog, Entry, Noted, differences},
    page::{Page, PageRequest},
};
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    schema::{accounts, audit_entries},
};

statement!(
    /// For the live account of the user.
    Add<'a>(
        user: &'a str => Text,
        at: OffsetDateTime => Timestamptz,
        kind: &'static str => Text,
        person: Option<i64> => Nullable<BigInt>,
        name: Option<&'a str> => Nullable<Text>,
        action: &'static str => Text,
        target: Option<&'a str> => Nullable<Text>,
        address: Option<&'a str> => Nullable<Text>,
        before: Option<&'a Value> => Nullable<Jsonb>,
        after: Option<&'a Value> => Nullable<Jsonb>,
        mode: Option<&'static str> => Nullable<Text>,
    ) -> () = "
    INSERT INTO audit_entries
        (account_id, at, actor_kind, person_id, actor_name, action, target, address, before, after, mode)
    SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
    FROM accounts WHERE user_id = $1 AND mode = 'live' AND copy_of IS NULL"
);

/// Adds an entry within the transaction of what it notes.
pub(crate) async fn add(connection: &mut AsyncPgConnection, entry: &Entry, now: OffsetDateTime) -> QueryResult<()> {
    let Entry { user, mode, by, action, target, address, before, after } = entry;
    let (kind, person, name) = match by {
        Actor::Person { id, name } => ("person", Some(id.0), Some(name.as_str())),
        Actor::Operator => ("operator", None, None),
        Actor::Nobody => ("nobody", None, None),
    };
    let add = Add {
        user: user.as_str(),
        at: now,
        kind,
        person,
        name,
        action: action.as_str(),
        target: target.as_deref(),
        address: address.as_deref(),
        before: before.as_ref(),
        after: after.as_ref(),
        mode: mode.map(Mode::as_str),
    };
    add.execute(connection).await.map(|_| ())
}

/// [`add`] where there may be nothing to note: what a key does is told by its own rows.
pub(crate) async fn add_any(
    connection: &mut AsyncPgConnection,
    entry: Option<&Entry>,
    now: OffsetDateTime,
) -> QueryResult<()> {
    match entry {
        Some(entry) => add(connection, entry, now).await,
        None => Ok(()),
    }
}

/// Adds the entry of a change, if there is to be one: what was changed, and what that was and is.
pub(crate) async fn changed(
    connection: &mut AsyncPgConnection,
    note: Option<Entry>,
    target: &str,
    (before, after): (Option<Value>, Option<Value>),
    now: OffsetDateTime,
) -> QueryResult<()> {
    let Some(note) = note else { return Ok(()) };
    add(connection, &Entry { target: Some(target.to_owned()), before, after, ..note }, now).await
}

/// Adds the entry of a change with the fields that differ, if there is to be one and any do.
pub(crate) async fn differs(
    connection: &mut AsyncPgConnection,
    note: Option<Entry>,
    (before, after): (&Value, &Value),
    now: OffsetDateTime,
) -> QueryResult<()> {
    let (Some(note), Some(before), Some(after)) = (note, before.as_object(), after.as_object()) else { return Ok(()) };
    let (was, is) = differences(before, after);
    if was.is_empty() && is.is_empty() {
        return Ok(());
    }
    add(connection, &Entry { before: Some(was.into()), after: Some(is.into()), ..note }, now).await
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = audit_entries, check_for_backend(diesel::pg::Pg))]
struct NotedRow {
    id: i64,
    at: OffsetDateTime,
    actor_kind: String,
    person_id: Option<i64>,
    actor_name: Option<String>,
    action: String,
    target: Option<String>,
    address: Option<String>,
    before: Option<Value>,
    after: Option<Value>,
    mode: Option<String>,
}

impl TryFrom<NotedRow> for Noted {
    type Error = StoreError;
    fn try_from(row: NotedRow) -> Result<Self, StoreError> {
        let NotedRow { id, at, actor_kind, person_id, actor_name, action, target, address, before, after, mode } = row;
        let by = match (actor_kind.as_str(), person_id, actor_name) {
            (_, Some(id), Some(name)) => Actor::Person { id: PersonId(id), name },
            ("operator", ..) => Actor::Operator,
            _ => Actor::Nobody,
        };
        let mode = mode.map(|mode| parse(&mode, "mode")).transpose()?;
        Ok(Self { id: AuditId(id), mode, at, by, action: parse(&action, "action")?, target, address, before, after })
    }
}

#[async_trait]
impl AuditLog for Store {
    async fn note(&self, entry: Entry, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| Ok(add(connection, &entry, now).await?)).await?;
        Ok(())
    }

    async fn page(&self, user: &UserId, area: Option<Area>, page: PageRequest) -> Result<Page<Noted>, StoreError> {
        let PageRequest { limit, cursor } = page;
        let rows: Vec<NotedRow> = self
            .run::<_, Failure>(async |connection| {
                let live = accounts::user_id.eq(user.as_str()).and(accounts::mode.eq(Mode::Live.as_str()));
                let live = accounts::table.filter(live.and(accounts::copy_of.is_null()));
                let account: Option<i64> = live.select(accounts::id).first(connection).await.optional()?;
                let before = audit_entries::id.lt(cursor.unwrap_or(i64::MAX));
                // Actions of newer versions are listed by those: this one has no words for them.
                let actions: Vec<&str> =
                    area.map_or_else(|| Action::NAMES.to_vec(), |area| area.actions().map(Action::as_str).collect());
                Ok(audit_entries::table
                    .filter(audit_entries::account_id.eq(account.unwrap_or(0)).and(before))
                    .filter(audit_entries::action.eq_any(actions))
                    .order(audit_entries::id.desc())
                    .limit(limit + 1)
                    .select(NotedRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
        let found = rows.into_iter().map(Noted::try_from).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::cut(found, limit, |noted| noted.id.0))
    }
}
