//! [`InsightStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, StoreError,
    freshness::Dated,
    insights::{Filter, Insight, InsightStore},
    jobs::JobName,
    page::{Page, PageRequest},
};
use time::OffsetDateTime;

use crate::{Store, error::parse, freshness, schema::insights};

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
    status: String,
    computed_at: OffsetDateTime,
    resolved_at: Option<OffsetDateTime>,
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
            status,
            computed_at,
            resolved_at,
        } = row;
        Ok(Self {
            id,
            severity: parse(&severity, "severity")?,
            category: parse(&category, "category")?,
            title,
            body,
            suggested_action,
            impact_estimate,
            status: parse(&status, "insight status")?,
            source,
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
        let (freshness, rows) = self
            .read(account, async |connection| {
                let mut query = insights::table
                    .filter(insights::account_id.eq(account.0))
                    .order(insights::id.desc())
                    .limit(page.limit + 1)
                    .select(InsightRow::as_select())
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
                if let Some(cursor) = page.cursor {
                    query = query.filter(insights::id.lt(cursor));
                }
                let freshness = freshness::of(connection, account, JobName::InsightGeneration).await?;
                Ok((freshness, query.load(connection).await?))
            })
            .await?;
        let insights = rows.into_iter().map(Insight::try_from).collect::<Result<_, _>>()?;
        Ok(Dated { found: Page::cut(insights, page.limit, |insight: &Insight| insight.id), freshness })
    }
}
