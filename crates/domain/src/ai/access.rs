//! Who may use AI features, and the guard of their monthly cost.

use async_trait::async_trait;
use rust_decimal::{Decimal, dec};
use time::{Date, OffsetDateTime, UtcOffset};

use crate::{
    AccountId, StoreError,
    events::{ActorKind, CostLevel},
};

/// A calendar month in UTC, by its first day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(Date);

impl Month {
    /// The month of an instant.
    pub fn of(at: OffsetDateTime) -> Self {
        let day = at.to_offset(UtcOffset::UTC).date();
        Self(day.replace_day(1).unwrap_or(day))
    }

    pub const fn first_day(self) -> Date {
        self.0
    }

    /// When it begins.
    pub fn start(self) -> OffsetDateTime {
        self.0.midnight().assume_utc()
    }

    /// When the next one begins.
    pub fn end(self) -> OffsetDateTime {
        let length = self.0.month().length(self.0.year());
        self.start() + time::Duration::days(length.into())
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.0.year(), u8::from(self.0.month()))
    }
}

/// What AI may cost a user in a month, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub warning_usd: Decimal,
    pub critical_usd: Decimal,
    /// Whether access is paused when the critical threshold is crossed.
    pub auto_pause: bool,
}

/// What goes for an account that has no limits of its own.
pub const DEFAULT_LIMITS: Limits = Limits { warning_usd: dec!(20), critical_usd: dec!(50), auto_pause: true };

/// Limits cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "thresholds are above 0 and at most 1000000 dollars with at most 4 decimals, and the critical one is not below the warning"
)]
pub struct InvalidLimits;

impl Limits {
    /// # Errors
    /// Thresholds out of range or in the wrong order.
    pub fn new(warning_usd: Decimal, critical_usd: Decimal, auto_pause: bool) -> Result<Self, InvalidLimits> {
        let possible =
            |usd: Decimal| usd > Decimal::ZERO && usd <= Decimal::from(1_000_000) && usd.normalize().scale() <= 4;
        let valid = possible(warning_usd) && possible(critical_usd) && warning_usd <= critical_usd;
        if valid { Ok(Self { warning_usd, critical_usd, auto_pause }) } else { Err(InvalidLimits) }
    }

    pub const fn threshold(&self, level: CostLevel) -> Decimal {
        match level {
            CostLevel::Warning => self.warning_usd,
            CostLevel::Critical => self.critical_usd,
        }
    }
}

/// What AI has cost a user in a month, over both accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MonthlyCost {
    pub cost_usd: Decimal,
    pub tokens: i64,
    /// Calls of a provider.
    pub requests: i64,
}

impl Limits {
    /// The thresholds of these limits that a cost has not reached. Where limits are changed to these, such a threshold is
    /// announced again when it is reached, even if a lower one was reached before.
    pub fn ahead_of(&self, cost_usd: Decimal) -> impl Iterator<Item = CostLevel> {
        CostLevel::ALL.iter().copied().filter(move |level| cost_usd < self.threshold(*level))
    }

    /// Whether a change from `before` to these limits lets the guard pause access again that an administrator resumed:
    /// he decided about another threshold, or while the guard was not to pause.
    pub fn renew_pause(&self, before: &Self) -> bool {
        self.critical_usd != before.critical_usd || (self.auto_pause && !before.auto_pause)
    }
}

/// The thresholds that a cost has reached, the lower first.
pub fn crossed(cost_usd: Decimal, limits: &Limits) -> impl Iterator<Item = CostLevel> {
    CostLevel::ALL.iter().copied().filter(move |level| cost_usd >= limits.threshold(*level))
}

/// Who changes access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub name: String,
    pub kind: ActorKind,
}

/// A pause that lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub at: OffsetDateTime,
    pub reason: String,
    pub by: String,
    pub by_kind: ActorKind,
}

/// How AI access of an account stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessStatus {
    pub pause: Option<Pause>,
    pub limits: Limits,
    pub month: Month,
    pub cost: MonthlyCost,
}

/// What came of a change of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessChange {
    /// Made, written to the audit and announced.
    Made,
    /// It was so already.
    AlreadySo,
    UnknownAccount,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AiAccess: Send + Sync {
    /// `None` for an unknown account.
    async fn status(&self, account: AccountId, now: OffsetDateTime) -> Result<Option<AccessStatus>, StoreError>;
    /// Pauses access; debits are refused from the commit on.
    async fn pause(
        &self,
        account: AccountId,
        by: &Actor,
        reason: &str,
        now: OffsetDateTime,
    ) -> Result<AccessChange, StoreError>;
    /// Ends a pause. The reason goes to the audit alone: `ai.resumed` tells none.
    async fn resume(
        &self,
        account: AccountId,
        by: &Actor,
        reason: Option<String>,
        now: OffsetDateTime,
    ) -> Result<AccessChange, StoreError>;
    /// Sets an account's own limits, or puts it back to [`DEFAULT_LIMITS`], and holds this month's cost against them.
    async fn set_limits(
        &self,
        account: AccountId,
        limits: Option<Limits>,
        by: &Actor,
        now: OffsetDateTime,
    ) -> Result<AccessChange, StoreError>;
    /// The scheduled check: every account with calls this month is held against its limits. How many crossings it
    /// found.
    async fn guard(&self, now: OffsetDateTime) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_month_is_that_of_utc() {
        let month = Month::of(datetime!(2026-03-31 22:00 -3));
        assert_eq!((month.to_string().as_str(), month.start()), ("2026-04", datetime!(2026-04-01 0:00 UTC)));
        assert_eq!(Month::of(datetime!(2024-02-10 0:00 UTC)).end(), datetime!(2024-03-01 0:00 UTC));
    }

    #[rstest]
    #[case(dec!(19.9999999), &[])]
    #[case(dec!(20), &[CostLevel::Warning])]
    #[case(dec!(50), &[CostLevel::Warning, CostLevel::Critical])]
    fn a_threshold_is_crossed_when_it_is_reached(#[case] cost: Decimal, #[case] levels: &[CostLevel]) {
        assert_eq!(crossed(cost, &DEFAULT_LIMITS).collect::<Vec<_>>(), levels);
    }

    #[test]
    fn a_threshold_above_the_cost_is_ahead() {
        let limits = Limits::new(dec!(5), dec!(30), true).unwrap();
        assert_eq!(limits.ahead_of(dec!(4.99)).collect::<Vec<_>>(), [CostLevel::Warning, CostLevel::Critical]);
        assert_eq!(limits.ahead_of(dec!(5)).collect::<Vec<_>>(), [CostLevel::Critical]);
        assert_eq!(limits.ahead_of(dec!(30)).count(), 0);
    }

    #[rstest]
    #[case((dec!(4), true), (dec!(4), true), false)]
    #[case((dec!(4), true), (dec!(4.0), true), false)]
    #[case((dec!(4), true), (dec!(30), true), true)]
    #[case((dec!(30), true), (dec!(4), true), true)]
    #[case((dec!(4), false), (dec!(4), true), true)]
    #[case((dec!(4), true), (dec!(4), false), false)]
    #[case((dec!(4), false), (dec!(5), false), true)]
    fn another_critical_threshold_or_auto_pause_switched_on_renews_the_pause(
        #[case] before: (Decimal, bool),
        #[case] after: (Decimal, bool),
        #[case] renewed: bool,
    ) {
        let limits = |(critical, auto_pause): (Decimal, bool)| Limits::new(dec!(1), critical, auto_pause).unwrap();
        assert_eq!(limits(after).renew_pause(&limits(before)), renewed);
    }

    #[rstest]
    #[case(dec!(0), dec!(1))]
    #[case(dec!(2), dec!(1))]
    #[case(dec!(1), dec!(1000001))]
    #[case(dec!(0.00001), dec!(1))]
    fn limits_that_cannot_be_are_refused(#[case] warning: Decimal, #[case] critical: Decimal) {
        assert_eq!(Limits::new(warning, critical, true), Err(InvalidLimits));
    }
}
