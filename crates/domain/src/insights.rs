//! Insights: what a person should know or do, in words.

mod campaigns;
mod choice;
mod facts;
pub mod grounding;
mod news;
mod products;
mod rules;
mod stock;
mod stories;
mod told;

pub use choice::{Chosen, MOST_TOLD, choose};
pub use facts::{
    CommentsWaiting, CriticalItem, Facts, InsightSource, PendingReorder, SegmentFact, StaleShop, Stored, StoryFact,
    UNANSWERED_AFTER,
};
pub use products::{LEAST_PURCHASES, ProductWeeks, WEEK_DAYS, WEEKS_BEFORE};
pub use rules::draft;
#[cfg(test)]
pub(crate) use rules::tests::say_all;
pub use told::{Figure, Kind, Told, Value};

#[cfg(feature = "mock")]
pub use facts::MockInsightSource;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

pub use grounding::Wording;

use crate::{
    AccountId, InsightId, StoreError, StoryId,
    ai::Ending,
    audit::Entry,
    freshness::Dated,
    jobs::WriteOutcome,
    language::Language,
    money::Currency,
    page::{Page, PageRequest},
    stories::StoredStory,
    texts::Texts,
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
        Social = "social",
    }
);

text_enum!(
    /// Where an insight stands.
    Status { Open = "open", Resolved = "resolved", Dismissed = "dismissed" }
);

impl Status {
    /// Whether a person may put an insight that stands here to `to`: from open to either end and back, never from one
    /// end to the other. To stay is allowed: a change that is sent again has been made already.
    pub const fn may_become(self, to: Self) -> bool {
        !matches!((self, to), (Self::Resolved, Self::Dismissed) | (Self::Dismissed, Self::Resolved))
    }
}

text_enum!(
    /// Who wrote an insight's texts: the rules, or a language model whose every number was checked.
    Source { Rules = "rules", Model = "model" }
);

/// Why an insight was not put to another status.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    #[error("the account has no such insight")]
    NotFound,
    #[error("an insight does not go from {0} to the other end")]
    Refused(Status),
    /// A situation has one open insight at most.
    #[error("the situation has another open insight")]
    OtherOpen,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Insight {
    pub id: InsightId,
    pub severity: Severity,
    pub category: Category,
    /// As they were written, by [`source`](Self::source) and in [`language`](Self::language).
    pub written: Wording,
    pub status: Status,
    pub source: Source,
    pub language: Language,
    /// `None` for insights from before they were kept.
    pub told: Option<Told>,
    /// Whether it is among the few that are told unasked.
    pub is_told: bool,
    /// Money at stake, in the account's currency; `None` where it is not known.
    pub at_stake: Option<Decimal>,
    /// What it is ranked by, in the account's currency; `None` for one from before that was kept.
    pub weight: Option<Decimal>,
    /// The story that it tells, if it tells one that is still known.
    pub story: Option<StoredStory>,
    pub computed_at: OffsetDateTime,
    pub resolved_at: Option<OffsetDateTime>,
}

impl Insight {
    /// The texts as they are shown, and who wrote them: a model's in the language it was written in, else the template's. One
    /// from before the facts were kept is shown as it was written.
    pub fn wording(&self, texts: &Texts, currency: Currency) -> (Wording, Source) {
        match &self.told {
            Some(_) if self.source == Source::Model && self.language == texts.locale().language => {
                (self.written.clone(), Source::Model)
            }
            Some(told) => (told.wording(texts, currency), Source::Rules),
            None => (self.written.clone(), self.source),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    pub status: Option<Status>,
    pub severity: Option<Severity>,
    pub category: Option<Category>,
    /// Also those that are not told unasked.
    pub all: bool,
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
    /// Puts an insight to `to`, as [`Status::may_become`] allows, and gives it as it is then.
    async fn decide(
        &self,
        account: AccountId,
        id: InsightId,
        to: Status,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Insight, DecideError>;
}

/// Days for which a situation that a person called resolved is not brought up again: what was done takes time to show.
const RESOLUTION_DAYS: i64 = 7;

/// Days for which a situation that a person dismissed is not brought up again.
const DISMISSAL_DAYS: i64 = 14;

/// How long the longest of decisions leaves a situation alone.
pub const LONGEST_QUIET: Duration =
    Duration::days(if RESOLUTION_DAYS > DISMISSAL_DAYS { RESOLUTION_DAYS } else { DISMISSAL_DAYS });

/// How an insight ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    pub status: Status,
    /// When a person decided on it; `None` where the situation passed, and on the oldest dismissals.
    pub decided_at: Option<OffsetDateTime>,
    /// When it was last written or ended, by whomever.
    pub ended_at: OffsetDateTime,
}

/// Whether a situation whose insight ended so is not brought up again at `now`: because a person decided on it lately.
pub fn is_left_alone(ended: &Ended, now: OffsetDateTime) -> bool {
    let quiet_until = match ended.status {
        Status::Open => None,
        Status::Resolved => ended.decided_at.map(|at| at + Duration::days(RESOLUTION_DAYS)),
        // Nobody but a person dismisses.
        Status::Dismissed => Some(ended.decided_at.unwrap_or(ended.ended_at) + Duration::days(DISMISSAL_DAYS)),
    };
    quiet_until.is_some_and(|until| now < until)
}

/// An insight as the job `insight_generation` finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What it is about, without its numbers: the same situation gives the same text.
    pub fingerprint: String,
    pub severity: Severity,
    pub category: Category,
    pub told: Told,
    /// Money at stake, in the account's currency; `None` where it is not known.
    pub stake: Option<Decimal>,
    /// What it is ranked by, in the account's currency: the stake, or what its severity counts as without one.
    pub weight: Decimal,
    /// Whether it may be told unasked, if there is room.
    pub earns_place: bool,
    /// Told before all others, whatever is at stake.
    pub comes_first: bool,
    /// The situation has passed: what is open about it is ended with these facts.
    pub is_over: bool,
    /// The story that it tells.
    pub story: Option<StoryId>,
}

impl Draft {
    pub fn new(fingerprint: impl Into<String>, severity: Severity, category: Category, told: Told) -> Self {
        Self {
            fingerprint: fingerprint.into(),
            severity,
            category,
            told,
            stake: None,
            weight: Decimal::ZERO,
            earns_place: true,
            comes_first: false,
            is_over: false,
            story: None,
        }
    }
}

/// Texts of a model and what they were made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Of the template's texts, as [`Wording::basis`] gives it.
    pub basis: [u8; 32],
    pub wording: Wording,
}

/// What is known of situations before they are worded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownTexts {
    /// A model's texts of the open insights, by fingerprint.
    pub open: BTreeMap<String, Text>,
    /// The fingerprints of all open insights: only the end of one of these is told.
    pub all_open: BTreeSet<String>,
    /// Situations that a person dismissed or resolved lately: they are not brought up.
    pub left_alone: BTreeSet<String>,
}

impl KnownTexts {
    /// Whether the draft, which the template words so, is to be shown and a model has not worded it yet.
    pub fn is_new(&self, draft: &Draft, template: &Wording) -> bool {
        !self.left_alone.contains(&draft.fingerprint)
            && (!draft.is_over || self.all_open.contains(&draft.fingerprint))
            && self.open.get(&draft.fingerprint).is_none_or(|text| text.basis != template.basis())
    }
}

/// A draft with its texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Worded {
    pub draft: Draft,
    /// The template's, in [`language`](Self::language).
    pub template: Wording,
    /// A model's, in the same language.
    pub model: Option<Wording>,
    pub language: Language,
}

impl Worded {
    /// The draft with the template's texts alone.
    pub fn new(draft: Draft, texts: &Texts, currency: Currency) -> Self {
        let template = draft.told.wording(texts, currency);
        Self { draft, template, model: None, language: texts.locale().language }
    }
}

/// Where the job `insight_generation` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait InsightWriter: Send + Sync {
    /// Makes what is [chosen](choose) of `insights` the open ones of the account and ends what `ending` says, in one
    /// transaction: one a situation, which keeps its id; what is over or no longer holds is resolved; what
    /// [is left alone](is_left_alone) is not written. Nothing is written once the job's run has been claimed again.
    ///
    /// # Errors
    /// Also when the AI run has been ended elsewhere; then nothing is written either.
    async fn replace(
        &self,
        account: AccountId,
        ending: Ending,
        insights: Vec<Worded>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-03-20 12:00 UTC);

    #[rstest]
    #[case(Status::Dismissed, Some(13), 0, true)]
    #[case(Status::Dismissed, Some(14), 0, false)]
    #[case(Status::Dismissed, None, 13, true)]
    #[case(Status::Dismissed, None, 14, false)]
    #[case(Status::Resolved, Some(6), 0, true)]
    #[case(Status::Resolved, Some(7), 0, false)]
    #[case(Status::Resolved, None, 0, false)]
    #[case(Status::Open, Some(0), 0, false)]
    fn what_a_person_decided_on_is_left_alone_for_a_while(
        #[case] status: Status,
        #[case] decided_days_ago: Option<i64>,
        #[case] ended_days_ago: i64,
        #[case] left_alone: bool,
    ) {
        let ago = |days: i64| NOW - Duration::days(days);
        let ended = Ended { status, decided_at: decided_days_ago.map(ago), ended_at: ago(ended_days_ago) };
        assert_eq!(is_left_alone(&ended, NOW), left_alone);
        assert!(!is_left_alone(&ended, NOW + LONGEST_QUIET));
    }
}
