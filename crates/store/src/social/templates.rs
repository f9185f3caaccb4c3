//! [`TemplateStore`] on Postgres.

use std::cmp::Reverse;

use async_trait::async_trait;
use diesel::{
    dsl::count_star,
    pg::Pg,
    prelude::*,
    sql_types::{Array, BigInt, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError, TemplateId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    page::{Page, PageRequest},
    social::templates::{
        Approved, ChangeError, Changed, Content, CreateError, MAX_TEMPLATES, NewTemplate, Template, TemplateChange,
        TemplateFilter, TemplateState, TemplateStore, Version,
    },
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::settings;
use crate::{
    Store,
    accounts::lock,
    database::{
        error::{Failure, corrupt, parse},
        idempotency::{self, WriteError},
        query::RunQueryDsl,
        transact::Rollback,
    },
    people::audit,
    schema::{auto_replies, reply_template_versions as versions, reply_templates as templates},
};

statement!(
    /// Templates with their newest versions, in no order.
    Rows<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> TemplateRow = "
    SELECT t.id, t.name, t.category, t.language, t.state, t.version, t.approved_version, t.used_count, t.created_at,
        t.updated_at, v.variations, v.approved_by, v.approved_at
    FROM reply_templates t
    JOIN reply_template_versions v ON v.account_id = t.account_id AND v.template_id = t.id AND v.version = t.version
    WHERE t.account_id = $1 AND t.id = ANY ($2)"
);

row!(
    struct TemplateRow {
        id: i64 => BigInt,
        name: String => Text,
        category: String => Text,
        language: String => Text,
        state: String => Text,
        version: i64 => BigInt,
        approved_version: Option<i64> => Nullable<BigInt>,
        used_count: i64 => BigInt,
        created_at: OffsetDateTime => Timestamptz,
        updated_at: OffsetDateTime => Timestamptz,
        variations: Vec<String> => Array<Text>,
        approved_by: Option<String> => Nullable<Text>,
        approved_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

impl TryFrom<TemplateRow> for Template {
    type Error = StoreError;
    fn try_from(row: TemplateRow) -> Result<Self, StoreError> {
        let TemplateRow {
            id,
            name,
            category,
            language,
            state,
            version,
            approved_version,
            used_count,
            created_at,
            updated_at,
            variations,
            approved_by,
            approved_at,
        } = row;
        Ok(Self {
            id: TemplateId(id),
            content: Content::stored(name, parse(&category, "category")?, parse(&language, "language")?, variations),
            state: parse(&state, "state of a template")?,
            version,
            approved_version,
            approved_by,
            approved_at,
            used_count,
            created_at,
            updated_at,
        })
    }
}

/// The templates of a page.
fn ids(account: AccountId, filter: TemplateFilter, page: PageRequest) -> templates::BoxedQuery<'static, Pg, BigInt> {
    let mut query = templates::table
        .filter(templates::account_id.eq(account.0))
        .filter(templates::id.lt(page.cursor.unwrap_or(i64::MAX)))
        .order(templates::id.desc())
        .limit(page.limit + 1)
        .select(templates::id)
        .into_boxed();
    if let Some(category) = filter.category {
        query = query.filter(templates::category.eq(category.as_str()));
    }
    if let Some(language) = filter.language {
        query = query.filter(templates::language.eq(language.as_str()));
    }
    if let Some(state) = filter.state {
        query = query.filter(templates::state.eq(state.as_str()));
    }
    query
}

/// Templates, the newest first.
async fn rows(connection: &mut AsyncPgConnection, account: AccountId, ids: &[i64]) -> Result<Vec<Template>, Failure> {
    let mut rows: Vec<TemplateRow> = Rows { account: account.0, ids }.load(connection).await?;
    rows.sort_unstable_by_key(|row| Reverse(row.id));
    Ok(rows.into_iter().map(Template::try_from).collect::<Result<_, _>>()?)
}

async fn one(connection: &mut AsyncPgConnection, account: AccountId, id: i64) -> Result<Option<Template>, Failure> {
    Ok(rows(connection, account, &[id]).await?.pop())
}

statement!(
    /// A page of versions, the newest first.
    Versions(account: i64 => BigInt, id: i64 => BigInt, before: i64 => BigInt, limit: i64 => BigInt) -> VersionRow = "
    SELECT version, category, language, variations, approved_by, approved_at, created_at FROM reply_template_versions
    WHERE account_id = $1 AND template_id = $2 AND version < $3 ORDER BY version DESC LIMIT $4"
);

row!(
    struct VersionRow {
        version: i64 => BigInt,
        category: String => Text,
        language: String => Text,
        variations: Vec<String> => Array<Text>,
        approved_by: Option<String> => Nullable<Text>,
        approved_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        created_at: OffsetDateTime => Timestamptz,
    }
);

impl TryFrom<VersionRow> for Version {
    type Error = StoreError;
    fn try_from(row: VersionRow) -> Result<Self, StoreError> {
        let VersionRow { version, category, language, variations, approved_by, approved_at, created_at } = row;
        let (category, language) = (parse(&category, "category")?, parse(&language, "language")?);
        Ok(Self { version, category, language, variations, approved_by, approved_at, created_at })
    }
}

statement!(
    /// The versions in use.
    InUse(account: i64 => BigInt) -> ApprovedRow = "
    SELECT t.id, v.version, v.category, v.language, v.variations
    FROM reply_templates t
    JOIN reply_template_versions v ON v.account_id = t.account_id AND v.template_id = t.id AND v.version = t.approved_version
    WHERE t.account_id = $1 AND t.state <> 'retired' ORDER BY t.id"
);

row!(
    struct ApprovedRow {
        id: i64 => BigInt,
        version: i64 => BigInt,
        category: String => Text,
        language: String => Text,
        variations: Vec<String> => Array<Text>,
    }
);

pub(super) async fn in_use(connection: &mut AsyncPgConnection, account: i64) -> Result<Vec<Approved>, Failure> {
    let rows: Vec<ApprovedRow> = InUse { account }.load(connection).await?;
    let approved = |row| {
        let ApprovedRow { id, version, category, language, variations } = row;
        let (category, language) = (parse(&category, "category")?, parse(&language, "language")?);
        Ok::<_, StoreError>(Approved { id: TemplateId(id), version, category, language, variations })
    };
    Ok(rows.into_iter().map(approved).collect::<Result<_, _>>()?)
}

#[async_trait]
impl TemplateStore for Store {
    async fn page(
        &self,
        account: AccountId,
        filter: TemplateFilter,
        page: PageRequest,
    ) -> Result<Page<Template>, StoreError> {
        let found = self
            .run::<_, Failure>(async |connection| {
                let ids: Vec<i64> = ids(account, filter, page).load(connection).await?;
                rows(connection, account, &ids).await
            })
            .await?;
        Ok(Page::cut(found, page.limit, |template: &Template| template.id.0))
    }

    async fn find(
        &self,
        account: AccountId,
        id: TemplateId,
        page: PageRequest,
    ) -> Result<Option<(Template, Page<Version>)>, StoreError> {
        let before = page.cursor.unwrap_or(i64::MAX);
        let wanted = Versions { account: account.0, id: id.0, before, limit: page.limit + 1 };
        let found = self
            .run::<_, Failure>(async |connection| {
                let Some(template) = one(connection, account, id.0).await? else { return Ok(None) };
                let rows: Vec<VersionRow> = wanted.load(connection).await?;
                let versions = rows.into_iter().map(Version::try_from).collect::<Result<Vec<_>, _>>()?;
                Ok(Some((template, versions)))
            })
            .await?;
        Ok(found.map(|(template, rows)| (template, Page::cut(rows, page.limit, |version: &Version| version.version))))
    }

    async fn create(
        &self,
        account: AccountId,
        new: NewTemplate,
        note: Option<Entry>,
        key: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Template>, CreateError> {
        let created = self.transact::<_, WriteError<CreateError>>(async |connection| {
            let created = create_once(connection, account, &new, key.as_ref(), now).await?;
            let note = note.clone().filter(|_| !created.replayed);
            audit::changed(connection, note, created.value.content.name(), (None, None), now).await?;
            Ok(created)
        });
        created.await.map_err(WriteError::into_refusal)
    }

    async fn change(
        &self,
        account: AccountId,
        id: TemplateId,
        change: TemplateChange,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Template, ChangeError> {
        let changed = self.transact::<_, Rollback<ChangeError>>(async |connection| {
            let changed = change_locked(connection, account, id.0, change.clone(), now).await?;
            audit::changed(connection, note.clone(), changed.content.name(), (None, None), now).await?;
            Ok(changed)
        });
        changed.await.map_err(Rollback::into_error)
    }

    async fn delete(
        &self,
        account: AccountId,
        id: TemplateId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<(), ChangeError> {
        let deleted = self.transact::<_, Rollback<ChangeError>>(async |connection| {
            let name = delete_locked(connection, account, id.0).await?;
            audit::changed(connection, note.clone(), &name, (None, None), now).await?;
            Ok(())
        });
        deleted.await.map_err(Rollback::into_error)
    }
}

async fn create_once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    new: &NewTemplate,
    key: Option<&IdempotencyKey>,
    now: OffsetDateTime,
) -> Result<Idempotent<Template>, WriteError<CreateError>> {
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let id = result.get("template_id").and_then(Value::as_i64).ok_or_else(|| corrupt("idempotent result"))?;
        let found = one(connection, account, id).await.map_err(StoreError::from)?;
        return Ok(Idempotent { value: found.ok_or(IdempotencyError::Superseded)?, replayed: true });
    }
    lock(connection, account).await?;
    let (settings, _) = settings::current(connection, account.0).await.map_err(StoreError::from)?;
    let NewTemplate { name, category, language, variations } = new;
    let content = Content::new(name, *category, *language, variations.clone(), &settings.links)
        .map_err(|invalid| WriteError::Refused(CreateError::Invalid(invalid)))?;
    let kept: i64 =
        templates::table.filter(templates::account_id.eq(account.0)).select(count_star()).first(connection).await?;
    if kept >= MAX_TEMPLATES {
        return Err(WriteError::Refused(CreateError::LimitReached));
    }
    let id: i64 = diesel::insert_into(templates::table)
        .values((
            templates::account_id.eq(account.0),
            templates::name.eq(content.name()),
            templates::category.eq(content.category().as_str()),
            templates::language.eq(content.language().as_str()),
            templates::state.eq(TemplateState::Draft.as_str()),
            templates::version.eq(1),
            templates::created_at.eq(now),
            templates::updated_at.eq(now),
        ))
        .returning(templates::id)
        .get_result(connection)
        .await?;
    insert_version(connection, account.0, id, 1, &content, now).await?;
    if let Some(key) = key {
        idempotency::finish(connection, account, key, json!({ "template_id": id }), now).await?;
    }
    let found = one(connection, account, id).await.map_err(StoreError::from)?;
    Ok(Idempotent { value: found.ok_or_else(|| corrupt("new template"))?, replayed: false })
}

async fn insert_version(
    connection: &mut AsyncPgConnection,
    account: i64,
    id: i64,
    version: i64,
    content: &Content,
    now: OffsetDateTime,
) -> QueryResult<()> {
    diesel::insert_into(versions::table)
        .values((
            versions::account_id.eq(account),
            versions::template_id.eq(id),
            versions::version.eq(version),
            versions::category.eq(content.category().as_str()),
            versions::language.eq(content.language().as_str()),
            versions::variations.eq(content.variations()),
            versions::created_at.eq(now),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

/// Locks the template's row, and reads it.
async fn locked(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
) -> Result<Template, Rollback<ChangeError>> {
    let row = templates::table.find((account.0, id)).select(templates::id).for_update();
    let _: Option<i64> = row.first(connection).await.optional()?;
    let found = one(connection, account, id).await.map_err(Rollback::Failed)?;
    found.ok_or(Rollback::Refused(ChangeError::NotFound))
}

async fn change_locked(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    change: TemplateChange,
    now: OffsetDateTime,
) -> Result<Template, Rollback<ChangeError>> {
    let found = locked(connection, account, id).await?;
    let (settings, _) = settings::current(connection, account.0).await.map_err(Rollback::Failed)?;
    let changed = change.apply(&found, &settings.links).map_err(Rollback::Refused)?;
    let Changed { content, is_new_version, state, approved_by } = changed;
    let version = found.version + i64::from(is_new_version);
    if is_new_version {
        insert_version(connection, account.0, id, version, &content, now).await?;
    }
    let approved_version = if approved_by.is_some() { Some(version) } else { found.approved_version };
    if let Some(by) = approved_by {
        diesel::update(versions::table.find((account.0, id, version)))
            .set((versions::approved_by.eq(by), versions::approved_at.eq(now)))
            .execute(connection)
            .await?;
    }
    diesel::update(templates::table.find((account.0, id)))
        .set((
            templates::name.eq(content.name()),
            templates::category.eq(content.category().as_str()),
            templates::language.eq(content.language().as_str()),
            templates::state.eq(state.as_str()),
            templates::version.eq(version),
            templates::approved_version.eq(approved_version),
            templates::updated_at.eq(now),
        ))
        .execute(connection)
        .await?;
    let found = one(connection, account, id).await.map_err(Rollback::Failed)?;
    Ok(found.ok_or_else(|| corrupt("changed template"))?)
}

/// Gives its name.
async fn delete_locked(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
) -> Result<String, Rollback<ChangeError>> {
    let found = locked(connection, account, id).await?;
    let decided = auto_replies::table
        .filter(auto_replies::account_id.eq(account.0))
        .filter(auto_replies::template_id.eq(id))
        .select(auto_replies::comment_id);
    let is_used: Option<String> = decided.first(connection).await.optional()?;
    if found.state != TemplateState::Draft || found.approved_version.is_some() || is_used.is_some() {
        return Err(Rollback::Refused(ChangeError::Transition));
    }
    let of_template = versions::account_id.eq(account.0).and(versions::template_id.eq(id));
    diesel::delete(versions::table.filter(of_template)).execute(connection).await?;
    diesel::delete(templates::table.find((account.0, id))).execute(connection).await?;
    Ok(found.content.name().to_owned())
}
