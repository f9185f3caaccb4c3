//! [`InsightStore`] on Postgres.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::{
    pg::Pg,
    prelude::*,
    result::{DatabaseErrorKind, Error},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, InsightId, StoreError, StoryId,
    audit::Entry,
    freshness::Dated,
    insights::{DecideError, Filter, Insight, InsightStore, MOST_TOLD, Status, Wording},
    jobs::JobName,
    page::{Page, PageRequest},
    stories::StoredStory,
};
use rust_decimal::{Decimal, prelude::FromPrimitive};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    analytics::{
        freshness::{self, Found, WithFreshness},
        results::{self, stories},
    },
    database::{
        error::{parse, store_error},
        query::RunQueryDsl,
        transact::{TransactionError, was_conflict},
    },
    people::audit,
    schema::insights,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = insights, check_for_backend(diesel::pg::Pg))]
struct InsightRow {
    id: i64,
    severity: String,
    category: String,
    title: String,
    body: String,
    suggested_action: String,
    impact_estimate: String,
    source: String,
    language: String,
    facts: Option<Value>,
    status: String,
    computed_at: OffsetDateTime,
    resolved_at: Option<OffsetDateTime>,
    is_told: bool,
    at_stake: Option<f64>,
    weight: Option<f64>,
    story_id: Option<i64>,
}

impl InsightRow {
    /// The insight, with its story if that is among `stories`.
    fn with(self, stories: &HashMap<StoryId, StoredStory>) -> Result<Insight, StoreError> {
        let story = self.story_id.and_then(|id| stories.get(&StoryId(id))).cloned();
        Ok(Insight { story, ..Insight::try_from(self)? })
    }
}

impl TryFrom<InsightRow> for Insight {
    type Error = StoreError;
    fn try_from(row: InsightRow) -> Result<Self, StoreError> {
        let InsightRow {
            id,
            severity,
            category,
            title,
            body,
            suggested_action,
            impact_estimate,
            source,
            language,
            facts,
            status,
            computed_at,
            resolved_at,
            is_told,
            at_stake,
            weight,
            story_id: _,
        } = row;
        Ok(Self {
            id: InsightId(id),
            severity: parse(&severity, "severity")?,
            category: parse(&category, "category")?,
            written: Wording { title, body, suggested_action, impact_estimate },
            status: parse(&status, "insight status")?,
            source: parse(&source, "source of an insight")?,
            language: parse(&language, "language")?,
            // A newer process may keep facts that this one has no template for.
            told: facts.and_then(|facts| serde_json::from_value(facts).ok()),
            is_told,
            at_stake: at_stake.and_then(Decimal::from_f64),
            weight: weight.and_then(Decimal::from_f64),
            story: None,
            computed_at,
            resolved_at,
        })
    }
}

#[async_trait]
impl InsightStore for Store {
    async fn page(
        &self,
        account: AccountId,
        filter: Filter,
        page: PageRequest,
    ) -> Result<Dated<Page<Insight>>, StoreError> {
        const JOB: JobName = JobName::InsightGeneration;
        let found = self
            .read(account, async |connection| {
                let mut query = insights::table
                    .filter(insights::account_id.eq(account.0))
                    .order(insights::id.desc())
                    .limit(page.limit + 1)
                    .select(<InsightRow as Selectable<Pg>>::construct_selection())
                    .into_boxed();
                if let Some(status) = filter.status {
                    query = query.filter(insights::status.eq(status.as_str()));
                }
                if let Some(severity) = filter.severity {
                    query = query.filter(insights::severity.eq(severity.as_str()));
                }
                if let Some(category) = filter.category {
                    query = query.filter(insights::category.eq(category.as_str()));
                }
                if !filter.all {
                    query = query.filter(insights::is_told);
                }
                if let Some(cursor) = page.cursor {
                    query = query.filter(insights::id.lt(cursor));
                }
                let found = WithFreshness::new(JOB, query).load::<Found<InsightRow>>(connection).await?;
                let (freshness, _, rows) = freshness::apart(JOB, found);
                let ids: Vec<i64> = rows.iter().filter_map(|row| row.story_id).collect();
                Ok((freshness, rows, stories::kept(connection, account, &ids).await?))
            })
            .await?;
        let (freshness, rows, stories) = found;
        let insights = rows.into_iter().map(|row| row.with(&stories)).collect::<Result<_, _>>()?;
        Ok(Dated { found: Page::cut(insights, page.limit, |insight: &Insight| insight.id.0), freshness })
    }

    async fn decide(
        &self,
        account: AccountId,
        id: InsightId,
        to: Status,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Insight, DecideError> {
        let decided = self
            .transact::<_, DecideFailure>(async |connection| decide(connection, account, id.0, to, note, now).await)
            .await;
        decided.map_err(|DecideFailure(error)| error)
    }
}

/// Reads the insight under the lock of all that write the account's: of two decisions at once the second sees what the first
/// made of it, and no run writes by what this changes.
async fn decide(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    to: Status,
    note: Option<Entry>,
    now: OffsetDateTime,
) -> Result<Insight, DecideFailure> {
    results::insights::lock(connection, account).await?;
    let target = insights::table.find((account.0, id));
    let row: Option<InsightRow> =
        target.select(InsightRow::as_select()).for_update().first(connection).await.optional()?;
    let row = row.ok_or(DecideFailure(DecideError::NotFound))?;
    let stories = stories::kept(connection, account, row.story_id.as_slice()).await?;
    let found = row.with(&stories)?;
    if !found.status.may_become(to) {
        return Err(DecideFailure(DecideError::Refused(found.status)));
    }
    if found.status == to {
        return Ok(found);
    }
    let resolved_at = (to != Status::Open).then_some(now);
    let is_told = if to == Status::Open { has_room(connection, account).await? } else { found.is_told };
    diesel::update(target)
        .set((
            insights::status.eq(to.as_str()),
            insights::resolved_at.eq(resolved_at),
            insights::decided_at.eq(now),
            insights::is_told.eq(is_told),
        ))
        .execute(connection)
        .await?;
    if found.is_told && !is_told {
        // What makes room for it again is no news of it.
        diesel::update(target)
            .filter(insights::told_at.is_null())
            .set(insights::told_at.eq(insights::recorded_at.nullable()))
            .execute(connection)
            .await?;
    }
    let change = (Some(json!({ "status": found.status })), Some(json!({ "status": to })));
    audit::changed(connection, note, &found.written.title, change, now).await?;
    Ok(Insight { status: to, resolved_at, is_told, ..found })
}

/// Whether one more open insight may be told: what is opened again waits for the next run where there are enough.
async fn has_room(connection: &mut AsyncPgConnection, account: AccountId) -> QueryResult<bool> {
    let told = insights::table
        .filter(insights::account_id.eq(account.0))
        .filter(insights::status.eq(Status::Open.as_str()))
        .filter(insights::is_told);
    let count: i64 = told.count().get_result(connection).await?;
    Ok(usize::try_from(count).is_ok_and(|count| count < MOST_TOLD))
}

/// What ends the transaction of a decision.
struct DecideFailure(DecideError);

impl From<Error> for DecideFailure {
    fn from(error: Error) -> Self {
        Self(match error {
            // The only unique value that a decision touches is that of the situation's one open insight.
            Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => DecideError::OtherOpen,
            other => DecideError::Store(store_error(other)),
        })
    }
}

impl From<StoreError> for DecideFailure {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

impl TransactionError for DecideFailure {
    fn is_conflict(&self) -> bool {
        matches!(&self.0, DecideError::Store(error) if was_conflict(error))
    }
}
