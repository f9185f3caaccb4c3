//! Alert rules: a metric of the account, a threshold, and when crossing it is worth an event.

mod back_test;
mod evaluation;
mod state;
mod watched;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

pub use back_test::{BACK_TEST_DAYS, Crossing, back_test, needed};
pub use evaluation::{Evaluation, Facts, Window, evaluate};
pub use state::{RuleState, step};
pub use watched::{Resolution, Watched};

use crate::{
    AccountId, FiringId, RuleId, StoreError,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    insights::Severity,
    page::{Page, PageRequest},
    text::TextRefused,
    webhooks::log::Tally,
};

/// Rules an account may have.
pub const MAX_RULES: i64 = 50;
/// Characters of a rule's name.
pub const MAX_NAME_CHARS: usize = 120;
/// The longest window: 90 days.
pub const MAX_WINDOW_HOURS: i64 = 90 * 24;
/// The longest cooldown: 30 days.
pub const MAX_COOLDOWN_HOURS: i64 = 30 * 24;
/// Hours for which a rule that fired keeps quiet, unless it says otherwise.
pub const DEFAULT_COOLDOWN_HOURS: i64 = 1;
/// Thresholds are smaller than this in size, with at most [`THRESHOLD_DECIMALS`] decimals.
pub const THRESHOLD_LIMIT: i64 = 1_000_000_000_000;
/// Decimals of a threshold.
pub const THRESHOLD_DECIMALS: u32 = 6;

text_enum!(
    /// How the observed value has to compare to the threshold for the rule to fire.
    Comparator { Gt = "gt", Gte = "gte", Lt = "lt", Lte = "lte" }
);

impl Comparator {
    pub fn holds(self, observed: Decimal, threshold: Decimal) -> bool {
        match self {
            Self::Gt => observed > threshold,
            Self::Gte => observed >= threshold,
            Self::Lt => observed < threshold,
            Self::Lte => observed <= threshold,
        }
    }
}

/// What a rule says. Valid by construction: see [`Terms::new`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    name: String,
    metric: Watched,
    comparator: Comparator,
    threshold: Decimal,
    window_hours: i64,
    severity: Severity,
    cooldown_hours: i64,
}

/// Terms as they are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncheckedTerms {
    pub name: String,
    pub metric: Watched,
    pub comparator: Comparator,
    /// In units of the account's currency for money, in percent for `margin`, a count or a ratio otherwise.
    pub threshold: Decimal,
    pub window_hours: i64,
    pub severity: Severity,
    pub cooldown_hours: i64,
}

/// Why terms cannot be. The messages complete "`field` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTerms {
    #[error("must not be empty")]
    EmptyName,
    #[error("is refused: {0}")]
    Name(TextRefused),
    #[error("must not hold control characters")]
    ControlInName,
    #[error("must be smaller than {THRESHOLD_LIMIT} in size and have at most {THRESHOLD_DECIMALS} decimals")]
    Threshold,
    #[error("{}", .0.windows())]
    Window(Resolution),
    #[error("must be a whole number from 0 to {MAX_COOLDOWN_HOURS}")]
    Cooldown,
}

impl InvalidTerms {
    /// The field at fault.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::EmptyName | Self::Name(_) | Self::ControlInName => "name",
            Self::Threshold => "threshold",
            Self::Window(_) => "window_hours",
            Self::Cooldown => "cooldown_hours",
        }
    }
}

impl Terms {
    /// # Errors
    /// A name that is empty, longer than [`MAX_NAME_CHARS`] or holds a control character; a threshold beyond
    /// [`THRESHOLD_LIMIT`]; a window that the metric's data cannot answer for; a cooldown out of range.
    pub fn new(wanted: UncheckedTerms) -> Result<Self, InvalidTerms> {
        let UncheckedTerms { name, metric, comparator, threshold, window_hours, severity, cooldown_hours } = wanted;
        let name = name.trim().to_owned();
        if name.is_empty() {
            return Err(InvalidTerms::EmptyName);
        }
        crate::text::check(&name, MAX_NAME_CHARS).map_err(InvalidTerms::Name)?;
        if name.chars().any(char::is_control) {
            return Err(InvalidTerms::ControlInName);
        }
        if threshold.abs() >= Decimal::from(THRESHOLD_LIMIT) || threshold.normalize().scale() > THRESHOLD_DECIMALS {
            return Err(InvalidTerms::Threshold);
        }
        if !metric.resolution().allows(window_hours) {
            return Err(InvalidTerms::Window(metric.resolution()));
        }
        if !(0..=MAX_COOLDOWN_HOURS).contains(&cooldown_hours) {
            return Err(InvalidTerms::Cooldown);
        }
        let threshold = threshold.normalize();
        Ok(Self { name, metric, comparator, threshold, window_hours, severity, cooldown_hours })
    }

    pub fn name(&self) -> &str {
        &self.name
    }
    pub const fn metric(&self) -> &Watched {
        &self.metric
    }
    pub const fn comparator(&self) -> Comparator {
        self.comparator
    }
    pub const fn threshold(&self) -> Decimal {
        self.threshold
    }
    pub const fn window_hours(&self) -> i64 {
        self.window_hours
    }
    pub const fn severity(&self) -> Severity {
        self.severity
    }
    pub const fn cooldown_hours(&self) -> i64 {
        self.cooldown_hours
    }

    /// Whether both watch the same thing, so that what is known about the one goes for the other.
    pub fn watch_the_same(&self, other: &Self) -> bool {
        let watched = |terms: &Self| (terms.metric.clone(), terms.comparator, terms.threshold, terms.window_hours);
        watched(self) == watched(other)
    }
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub id: RuleId,
    pub terms: Terms,
    /// Whether it is evaluated at all.
    pub active: bool,
    pub state: RuleState,
    /// When it was last evaluated.
    pub last_evaluated_at: Option<OffsetDateTime>,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
}

/// What to change about a rule; what is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    pub name: Option<String>,
    pub metric: Option<Watched>,
    pub comparator: Option<Comparator>,
    pub threshold: Option<Decimal>,
    pub window_hours: Option<i64>,
    pub severity: Option<Severity>,
    pub cooldown_hours: Option<i64>,
    pub active: Option<bool>,
}

impl Change {
    /// The terms as they are after the change.
    ///
    /// # Errors
    /// [`InvalidTerms`] of the terms as a whole: a window may suit the old metric and not the new one.
    pub fn apply(self, terms: &Terms) -> Result<Terms, InvalidTerms> {
        Terms::new(UncheckedTerms {
            name: self.name.unwrap_or_else(|| terms.name.clone()),
            metric: self.metric.unwrap_or_else(|| terms.metric.clone()),
            comparator: self.comparator.unwrap_or(terms.comparator),
            threshold: self.threshold.unwrap_or(terms.threshold),
            window_hours: self.window_hours.unwrap_or(terms.window_hours),
            severity: self.severity.unwrap_or(terms.severity),
            cooldown_hours: self.cooldown_hours.unwrap_or(terms.cooldown_hours),
        })
    }
}

/// Why a rule was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    #[error("the account has {MAX_RULES} alert rules, as many as it may have")]
    LimitReached,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
}

/// Why a rule was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("the account has no such rule")]
    NotFound,
    #[error("the terms are not valid")]
    Invalid(#[source] InvalidTerms),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How long firings are kept.
pub const KEEP_FIRINGS: Duration = Duration::days(365);

/// A time that a rule fired. It is kept for [`KEEP_FIRINGS`], and goes with its rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    pub id: FiringId,
    pub fired_at: OffsetDateTime,
    /// What was seen.
    pub observed: Decimal,
    /// What the rule named then.
    pub threshold: Decimal,
    /// Where the deliveries of its event stand: none where no webhook asked for it, and once they are no longer kept.
    pub deliveries: Tally,
}

/// Firings, as they are read.
pub type Firings = BoxStream<'static, Result<Firing, StoreError>>;

/// What a person does comes with a note for the audit log, which is written with it.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AlertStore: Send + Sync {
    /// Newest first (id descending).
    async fn page(&self, account: AccountId, page: PageRequest) -> Result<Page<Rule>, StoreError>;
    async fn find(&self, account: AccountId, id: RuleId) -> Result<Option<Rule>, StoreError>;
    /// The times that a rule fired, newest first. `None` when the account has no such rule.
    async fn firings(
        &self,
        account: AccountId,
        id: RuleId,
        page: PageRequest,
    ) -> Result<Option<Page<Firing>>, StoreError>;
    /// All of them before the cursor, newest first, read while they are taken; `None` without the rule.
    async fn all_firings(
        &self,
        account: AccountId,
        id: RuleId,
        cursor: Option<i64>,
    ) -> Result<Option<Firings>, StoreError>;
    /// Creates an armed rule that is due at once.
    async fn create(
        &self,
        account: AccountId,
        terms: Terms,
        active: bool,
        idempotency: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Rule>, CreateError>;
    /// Changes a rule. One that watches something else from now on, or is switched on, is armed again and due at once.
    async fn change(
        &self,
        account: AccountId,
        id: RuleId,
        change: Change,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Rule, ChangeError>;
    /// Whether there was such a rule.
    async fn delete(
        &self,
        account: AccountId,
        id: RuleId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
}

/// A rule that is being evaluated. No other process takes it before it will be due soon again: for half an interval at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedRule {
    pub rule: Rule,
    /// When it is due again; guards the write of what came of it.
    pub due_at: OffsetDateTime,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AlertEvaluator: Send + Sync {
    /// The accounts with rules that are due, those that wait longest first.
    async fn due(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<AccountId>, StoreError>;
    /// Takes a due rule of the account: it is due again after `interval`, so that one that cannot be evaluated does not
    /// hold up the others. One that is due within half of it goes along: so the rules of an account become due together,
    /// and share what is read for them. `None` when every such rule is being claimed by another process.
    async fn take(
        &self,
        account: AccountId,
        now: OffsetDateTime,
        interval: time::Duration,
    ) -> Result<Option<ClaimedRule>, StoreError>;
    /// What is known of a window; [`StoreError::Overloaded`] when that takes too long, as a request's statement would.
    async fn facts(&self, account: AccountId, window: Window) -> Result<Facts, StoreError>;
    /// Writes where a rule stands, together with the event if it fired. Returns false, and writes nothing, when the rule
    /// was claimed again, switched off, deleted or made to watch something else in the meantime.
    async fn settle(
        &self,
        account: AccountId,
        claimed: &ClaimedRule,
        evaluation: Evaluation,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
}
