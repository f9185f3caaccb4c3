//! Insights: what a person should know or do, in words.

mod facts;
mod rules;

pub use facts::{AnomalyFact, Facts, InsightSource, SegmentFact, StaleShop, Stored};
pub use rules::draft;

#[cfg(feature = "mock")]
pub use facts::MockInsightSource;

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::{
    AccountId, StoreError,
    freshness::Dated,
    jobs::{Claim, Written},
    page::{Page, PageRequest},
};

text_enum!(
    /// How much something matters; the scale of insights, anomalies and alerts.
    Severity { Low = "low", Medium = "medium", High = "high", Critical = "critical" }
);

text_enum!(
    /// What an insight is about.
    Category {
        Ads = "ads",
        ChurnRisk = "churn_risk",
        Inventory = "inventory",
        Profit = "profit",
        Revenue = "revenue",
        Customers = "customers",
        Pricing = "pricing",
        Integrations = "integrations",
    }
);

text_enum!(
    /// Where an insight stands.
    Status { Open = "open", Resolved = "resolved", Dismissed = "dismissed" }
);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insight {
    pub id: i64,
    pub severity: Severity,
    pub category: Category,
    pub title: String,
    pub body: String,
    pub suggested_action: String,
    pub impact_estimate: String,
    pub status: Status,
    /// Who worded it: `rules`, or the language model that did.
    pub source: String,
    pub computed_at: OffsetDateTime,
    pub resolved_at: Option<OffsetDateTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    pub status: Option<Status>,
    pub severity: Option<Severity>,
    pub category: Option<Category>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait InsightStore: Send + Sync {
    /// Newest first (id descending).
    async fn page(
        &self,
        account: AccountId,
        filter: Filter,
        page: PageRequest,
    ) -> Result<Dated<Page<Insight>>, StoreError>;
}

/// Who worded the insights of the rules.
pub const RULES: &str = "rules";

/// Days for which a situation that a person dismissed is not brought up again.
pub const DISMISSAL_DAYS: i64 = 14;

/// An insight as the job `insight_generation` words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What it is about, without its numbers: the same situation gives the same text.
    pub fingerprint: String,
    pub severity: Severity,
    pub category: Category,
    pub title: String,
    pub body: String,
    pub suggested_action: String,
    pub impact_estimate: String,
}

/// Where the job `insight_generation` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait InsightWriter: Send + Sync {
    /// Makes `drafts` the open insights of the rules and ends the run at `now`: one a situation, which keeps its id;
    /// what no longer holds is resolved; what a person dismissed within [`DISMISSAL_DAYS`] is left alone.
    async fn replace(&self, claim: &Claim, drafts: Vec<Draft>, now: OffsetDateTime) -> Result<Written, StoreError>;
}
