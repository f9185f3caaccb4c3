//! [`AlertStore`] on Postgres.

mod evaluate;
mod firings;

pub(crate) use firings::prune as prune_firings;

use async_trait::async_trait;
use diesel::{dsl::count_star, prelude::*};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, RuleId, StoreError,
    alerts::{
        AlertStore, Change, ChangeError, CreateError, Firing, Firings, MAX_RULES, Rule, RuleState, Terms,
        UncheckedTerms,
    },
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    page::{Page, PageRequest},
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    accounts::lock,
    database::{
        error::{Failure, corrupt, parse, store_error},
        idempotency::{self, WriteError},
        query::RunQueryDsl,
        streams::{self, STREAM_BATCH},
        transact::Rollback,
    },
    people::audit,
    schema::{alert_firings, alert_rules as rules},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = rules, check_for_backend(diesel::pg::Pg))]
struct RuleRow {
    id: i64,
    name: String,
    metric: String,
    comparator: String,
    threshold: Decimal,
    window_hours: i64,
    severity: String,
    cooldown_hours: i64,
    active: bool,
    armed: bool,
    last_value: Option<Decimal>,
    last_evaluated_at: Option<OffsetDateTime>,
    last_fired_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl TryFrom<RuleRow> for Rule {
    type Error = StoreError;
    fn try_from(row: RuleRow) -> Result<Self, StoreError> {
        let RuleRow {
            id,
            name,
            metric,
            comparator,
            threshold,
            window_hours,
            severity,
            cooldown_hours,
            active,
            armed,
            last_value,
            last_evaluated_at,
            last_fired_at,
            created_at,
            updated_at,
        } = row;
        let wanted = UncheckedTerms {
            name,
            metric: parse(&metric, "metric of an alert rule")?,
            comparator: parse(&comparator, "comparator")?,
            threshold,
            window_hours,
            severity: parse(&severity, "severity")?,
            cooldown_hours,
        };
        Ok(Self {
            id: RuleId(id),
            terms: Terms::new(wanted).map_err(|_| corrupt("alert rule"))?,
            active,
            state: RuleState { armed, last_value, last_fired_at },
            last_evaluated_at,
            created_at,
            updated_at,
        })
    }
}

#[async_trait]
impl AlertStore for Store {
    async fn page(&self, account: AccountId, page: PageRequest) -> Result<Page<Rule>, StoreError> {
        let mut query = rules::table
            .filter(rules::account_id.eq(account.0))
            .order(rules::id.desc())
            .limit(page.limit + 1)
            .select(RuleRow::as_select())
            .into_boxed();
        if let Some(cursor) = page.cursor {
            query = query.filter(rules::id.lt(cursor));
        }
        let rows: Vec<RuleRow> = self.run::<_, Failure>(async |connection| Ok(query.load(connection).await?)).await?;
        let found = rows.into_iter().map(Rule::try_from).collect::<Result<_, _>>()?;
        Ok(Page::cut(found, page.limit, |rule: &Rule| rule.id.0))
    }

    async fn find(&self, account: AccountId, RuleId(id): RuleId) -> Result<Option<Rule>, StoreError> {
        let row = self
            .run::<_, Failure>(async |connection| {
                let row = rules::table.find((account.0, id)).select(RuleRow::as_select()).first(connection).await;
                Ok(row.optional()?)
            })
            .await?;
        row.map(Rule::try_from).transpose()
    }

    async fn firings(
        &self,
        account: AccountId,
        RuleId(id): RuleId,
        page: PageRequest,
    ) -> Result<Option<Page<Firing>>, StoreError> {
        let PageRequest { limit, cursor } = page;
        let found = self
            .run::<_, Failure>(async |connection| {
                let known = rules::table.find((account.0, id)).select(rules::id);
                let known: Option<i64> = known.first(connection).await.optional()?;
                let Some(id) = known else { return Ok(None) };
                let before = cursor.unwrap_or(i64::MAX);
                Ok(Some(firings::before(connection, account, id, before, limit.saturating_add(1)).await?))
            })
            .await?;
        Ok(found.map(|found| Page::cut(found, limit, |firing| firing.id.0)))
    }

    async fn all_firings(
        &self,
        account: AccountId,
        id: RuleId,
        cursor: Option<i64>,
    ) -> Result<Option<Firings>, StoreError> {
        let first = {
            let _turn = self.first_turn().await?;
            self.firings(account, id, PageRequest { limit: STREAM_BATCH, cursor }).await?
        };
        let store = self.clone();
        let rest = move |cursor| {
            let store = store.clone();
            async move {
                let _turn = store.turn().await?;
                let found =
                    store.firings(account, id, PageRequest { limit: STREAM_BATCH, cursor: Some(cursor) }).await?;
                // Its firings went with the rule.
                Ok(found.unwrap_or(Page { items: Vec::new(), next_cursor: None }))
            }
        };
        Ok(first.map(|first| streams::rows(first, rest)))
    }

    async fn create(
        &self,
        account: AccountId,
        terms: Terms,
        active: bool,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Rule>, CreateError> {
        let written = self
            .transact::<_, WriteError<CreateError>>(async |connection| {
                create_once(connection, account, (&terms, active), key.as_ref(), note, now).await
            })
            .await;
        written.map_err(WriteError::into_refusal)
    }

    async fn change(
        &self,
        account: AccountId,
        RuleId(id): RuleId,
        change: Change,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Rule, ChangeError> {
        let changed = self
            .transact::<_, Rollback<_>>(async |connection| {
                change_locked(connection, account, id, change, note, now).await
            })
            .await;
        changed.map_err(Rollback::into_error)
    }

    async fn delete(
        &self,
        account: AccountId,
        RuleId(id): RuleId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let deleted = self
            .transact::<_, Failure>(async |connection| {
                let target = diesel::delete(rules::table.find((account.0, id)));
                let name: Option<String> = target.returning(rules::name).get_result(connection).await.optional()?;
                if let Some(name) = &name {
                    let of_rule = alert_firings::table
                        .filter(alert_firings::account_id.eq(account.0))
                        .filter(alert_firings::rule_id.eq(id));
                    diesel::delete(of_rule).execute(connection).await?;
                    audit::changed(connection, note, name, (None, None), now).await?;
                }
                Ok(name.is_some())
            })
            .await?;
        Ok(deleted)
    }
}

async fn create_once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (terms, active): (&Terms, bool),
    key: Option<&IdempotencyKey>,
    note: Option<Entry>,
    now: OffsetDateTime,
) -> Result<Idempotent<Rule>, WriteError<CreateError>> {
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let rule = created_first(connection, account, terms, active, &result).await?;
        return Ok(Idempotent { value: rule.ok_or(IdempotencyError::Superseded)?, replayed: true });
    }
    // Two requests must not both make the last rule.
    lock(connection, account).await?;
    let kept: i64 = rules::table.filter(rules::account_id.eq(account.0)).select(count_star()).first(connection).await?;
    if kept >= MAX_RULES {
        return Err(WriteError::Refused(CreateError::LimitReached));
    }
    let row: RuleRow = diesel::insert_into(rules::table)
        .values((
            rules::account_id.eq(account.0),
            columns(terms),
            rules::active.eq(active),
            rules::due_at.eq(now),
            rules::created_at.eq(now),
            rules::updated_at.eq(now),
        ))
        .returning(RuleRow::as_returning())
        .get_result(connection)
        .await?;
    if let Some(key) = key {
        idempotency::finish(connection, account, key, json!({ "alert_id": row.id }), now).await?;
    }
    audit::changed(connection, note, terms.name(), (None, Some(told(terms, active))), now).await?;
    Ok(Idempotent { value: row.try_into()?, replayed: false })
}

/// What the audit log tells of a rule.
fn told(terms: &Terms, active: bool) -> Value {
    json!({
        "name": terms.name(),
        "metric": terms.metric().to_string(),
        "comparator": terms.comparator(),
        "threshold": terms.threshold().normalize().to_string(),
        "window_hours": terms.window_hours(),
        "severity": terms.severity(),
        "cooldown_hours": terms.cooldown_hours(),
        "active": active,
    })
}

/// The rule that was created under a key, as it was then, whatever was changed or seen since; none once it was deleted.
/// The same request asks for the same `terms`.
async fn created_first(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    terms: &Terms,
    active: bool,
    result: &Value,
) -> Result<Option<Rule>, StoreError> {
    let id = result.get("alert_id").and_then(Value::as_i64).ok_or_else(|| corrupt("idempotent result"))?;
    let created_at: Option<OffsetDateTime> = rules::table
        .find((account.0, id))
        .select(rules::created_at)
        .first(connection)
        .await
        .optional()
        .map_err(store_error)?;
    Ok(created_at.map(|created_at| Rule {
        id: RuleId(id),
        terms: terms.clone(),
        active,
        state: RuleState { armed: true, last_value: None, last_fired_at: None },
        last_evaluated_at: None,
        created_at,
        updated_at: created_at,
    }))
}

type Columns = (
    diesel::dsl::Eq<rules::name, String>,
    diesel::dsl::Eq<rules::metric, String>,
    diesel::dsl::Eq<rules::comparator, &'static str>,
    diesel::dsl::Eq<rules::threshold, Decimal>,
    diesel::dsl::Eq<rules::window_hours, i64>,
    diesel::dsl::Eq<rules::severity, &'static str>,
    diesel::dsl::Eq<rules::cooldown_hours, i64>,
);

fn columns(terms: &Terms) -> Columns {
    (
        rules::name.eq(terms.name().to_owned()),
        rules::metric.eq(terms.metric().to_string()),
        rules::comparator.eq(terms.comparator().as_str()),
        rules::threshold.eq(terms.threshold()),
        rules::window_hours.eq(terms.window_hours()),
        rules::severity.eq(terms.severity().as_str()),
        rules::cooldown_hours.eq(terms.cooldown_hours()),
    )
}

async fn change_locked(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    change: Change,
    note: Option<Entry>,
    now: OffsetDateTime,
) -> Result<Rule, Rollback<ChangeError>> {
    let target = rules::table.find((account.0, id));
    let row: Option<RuleRow> = target.select(RuleRow::as_select()).for_update().first(connection).await.optional()?;
    let found = Rule::try_from(row.ok_or(Rollback::Refused(ChangeError::NotFound))?)?;
    let active = change.active.unwrap_or(found.active);
    let terms = change.apply(&found.terms).map_err(|invalid| Rollback::Refused(ChangeError::Invalid(invalid)))?;
    let is_new_watch = !terms.watch_the_same(&found.terms) || (active && !found.active);
    let row: RuleRow = diesel::update(target)
        .set((columns(&terms), rules::active.eq(active), rules::updated_at.eq(now)))
        .returning(RuleRow::as_returning())
        .get_result(connection)
        .await?;
    let (was, is) = (told(&found.terms, found.active), told(&terms, active));
    let note = note.map(|note| Entry { target: Some(found.terms.name().to_owned()), ..note });
    audit::differs(connection, note, (&was, &is), now).await?;
    if !is_new_watch {
        return Ok(row.try_into()?);
    }
    let row: RuleRow = diesel::update(target)
        .set((
            rules::armed.eq(true),
            rules::last_value.eq(None::<Decimal>),
            rules::last_evaluated_at.eq(None::<OffsetDateTime>),
            rules::due_at.eq(now),
        ))
        .returning(RuleRow::as_returning())
        .get_result(connection)
        .await?;
    Ok(row.try_into()?)
}
