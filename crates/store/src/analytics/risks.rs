//! [`RiskStore`] on Postgres.

use async_trait::async_trait;
use diesel::{dsl::SqlTypeOf, pg::Pg, prelude::*};
use domain::{
    AccountId, CustomerId, InsightId, IntegrationId, RiskId, StoreError, SubscriptionId,
    jobs::JobName,
    page::{Page, PageRequest},
    risks::{Exposure, Filter, Finding, Links, Listing, Risk, RiskStore, Summary},
};
use rust_decimal::Decimal;
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    Store,
    analytics::freshness::{self, Found, WithFreshness},
    database::{error::parse, query::RunQueryDsl, statement::Condition},
    schema::risks,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = risks, check_for_backend(diesel::pg::Pg))]
struct RiskRow {
    id: i64,
    kind: String,
    subject: String,
    label: String,
    severity: String,
    likelihood: Option<Decimal>,
    exposure_low: Option<Decimal>,
    exposure_expected: Option<Decimal>,
    exposure_high: Option<Decimal>,
    lacks_costs: bool,
    evidence: Value,
    assumptions: Value,
    action: Option<String>,
    sku: Option<String>,
    insight_id: Option<i64>,
    customer_id: Option<i64>,
    integration_id: Option<i64>,
    webhook_id: Option<i64>,
    detected_at: OffsetDateTime,
    last_seen_at: OffsetDateTime,
}

impl TryFrom<RiskRow> for Risk {
    type Error = StoreError;
    fn try_from(row: RiskRow) -> Result<Self, StoreError> {
        let RiskRow {
            id,
            kind,
            subject,
            label,
            severity,
            likelihood,
            exposure_low: low,
            exposure_expected: expected,
            exposure_high: high,
            lacks_costs,
            evidence,
            assumptions,
            action,
            sku,
            insight_id,
            customer_id,
            integration_id,
            webhook_id,
            detected_at,
            last_seen_at,
        } = row;
        let found = Finding {
            kind: parse(&kind, "kind of a risk")?,
            subject,
            label,
            severity: parse(&severity, "severity")?,
            likelihood,
            // Without any of its parts there is none.
            exposure: low.or(expected).or(high).map(|_| Exposure { low, expected, high }),
            lacks_costs,
            evidence: serde_json::from_value(evidence).map_err(defect)?,
            assumptions: serde_json::from_value(assumptions).map_err(defect)?,
            action: action.map(|action| parse(&action, "action")).transpose()?,
            links: Links {
                sku,
                insight_id: insight_id.map(InsightId),
                customer_id: customer_id.map(CustomerId),
                integration_id: integration_id.map(IntegrationId),
                webhook_id: webhook_id.map(SubscriptionId),
            },
        };
        Ok(Self { number: RiskId(id), found, detected_at, last_seen_at })
    }
}

fn defect(error: serde_json::Error) -> StoreError {
    StoreError::Internal(format!("what a risk rests on: {error}").into())
}

#[async_trait]
impl RiskStore for Store {
    async fn list(&self, account: AccountId, filter: Filter, page: PageRequest) -> Result<Listing, StoreError> {
        const JOB: JobName = JobName::RiskAssessment;
        let found = self
            .read(account, async |connection| {
                let query = WithFreshness::with_counts(JOB, COUNTS, rows(account, filter, page));
                Ok(query.load::<Found<RiskRow>>(connection).await?)
            })
            .await?;
        let (freshness, counts, rows) = freshness::apart(JOB, found);
        let risks = rows.into_iter().map(Risk::try_from).collect::<Result<_, _>>()?;
        let page = Page::cut(risks, page.limit, |risk: &Risk| risk.number.0);
        Ok(Listing { page, summary: summary(&counts), freshness })
    }
}

session_statement!(
    after [""] =>
    /// How many there are of each severity, how many lack unit costs, and the largest expected amount in 1/10,000, or -1.
    COUNTS(account: BigInt) -> (counts: Array<BigInt>) = "
    SELECT ARRAY[count(*) FILTER (WHERE severity_rank = 3), count(*) FILTER (WHERE severity_rank = 2),
        count(*) FILTER (WHERE severity_rank = 1), count(*) FILTER (WHERE severity_rank = 0),
        count(*) FILTER (WHERE lacks_costs),
        coalesce(max(-expected_rank * 10000) FILTER (WHERE expected_rank <= 0), -1)::bigint] AS counts
    FROM risks WHERE account_id = $1"
);

/// What comes after a risk, whose id follows and which may be gone, in a list; `$1` is the account.
const AFTER: &str = "(severity_rank, expected_rank, id) > (
    SELECT last.rank, last.amount, last.id FROM (
        SELECT severity_rank AS rank, expected_rank AS amount, id FROM risks WHERE account_id = $1
        UNION ALL SELECT rank, amount, id FROM gone_places WHERE account_id = $1 AND list = 'risks') AS last
    WHERE last.id = ";

/// The risks of a page.
fn rows(
    account: AccountId,
    filter: Filter,
    page: PageRequest,
) -> risks::BoxedQuery<'static, Pg, SqlTypeOf<<RiskRow as Selectable<Pg>>::SelectExpression>> {
    use risks::{expected_rank, id, severity_rank};
    let Filter { kind, severity } = filter;
    let mut query = risks::table
        .filter(risks::account_id.eq(account.0))
        .order((severity_rank, expected_rank, id))
        .limit(page.limit + 1)
        .select(<RiskRow as Selectable<Pg>>::construct_selection())
        .into_boxed();
    if let Some(kind) = kind {
        query = query.filter(risks::kind.eq(kind.as_str()));
    }
    if let Some(severity) = severity {
        query = query.filter(risks::severity.eq(severity.as_str()));
    }
    if let Some(cursor) = page.cursor {
        // The cursor names the last risk of the page before; its place in the order is looked up.
        query = query.filter(Condition { before: AFTER, value: cursor });
    }
    query
}

fn summary(counts: &[i64]) -> Summary {
    let count = |at: usize| counts.get(at).copied().unwrap_or_default();
    Summary {
        low: count(0),
        medium: count(1),
        high: count(2),
        critical: count(3),
        lack_costs: count(4),
        largest_expected: counts.get(5).filter(|amount| **amount >= 0).map(|amount| Decimal::new(*amount, 4)),
    }
}
