//! How fresh computed figures are: when they were computed, and how far what they are computed from reaches.

use time::{Date, OffsetDateTime};

use crate::{jobs::JobName, zone::Zone};

text_enum!(
    /// What figures are computed from.
    Source {
        Orders = "orders",
        Refunds = "refunds",
        AdSpend = "ad_spend",
        Expenses = "expenses",
        StockLevels = "stock_levels",
        TrackEvents = "track_events",
    }
);

/// The newest record of a source: an instant, or a day in the account's time zone where the source comes by day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newest {
    At(OffsetDateTime),
    Day(Date),
}

impl Newest {
    /// The same, but nothing after `now`: an expense may be planned for a day to come, and the day of an ad account begin before
    /// the shop's.
    pub fn until(self, now: OffsetDateTime, zone: &Zone) -> Self {
        match self {
            Self::At(at) => Self::At(at.min(now)),
            Self::Day(day) => Self::Day(day.min(zone.day_of(now))),
        }
    }
}

/// How fresh the figures of a job are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freshness {
    pub job: JobName,
    /// The end of the job's last run; `None` before it.
    pub as_of: Option<OffsetDateTime>,
    /// Every source of the job with its newest record, if it has any.
    pub sources: Vec<(Source, Option<Newest>)>,
}

impl Freshness {
    /// The last day that was over when the figures were computed; `None` before they were. From midnight until the night's jobs
    /// have run this is not yesterday, whose figures are those of when it was today.
    pub fn last_complete(&self, zone: &Zone) -> Option<Date> {
        self.as_of.and_then(|at| zone.day_of(at).previous_day())
    }
}

/// What was read, and how fresh the figures in it are.
#[derive(Debug, Clone, PartialEq)]
pub struct Dated<T> {
    pub found: T,
    pub freshness: Freshness,
}

impl JobName {
    /// What the job's figures are computed from.
    pub const fn sources(self) -> &'static [Source] {
        use Source::{AdSpend, Expenses, Orders, Refunds, StockLevels, TrackEvents};
        match self {
            Self::CustomerMetrics => &[Orders, Refunds],
            Self::ProfitSnapshots => &[Orders, Refunds, AdSpend, Expenses],
            Self::InventoryVelocity | Self::SmartReorder => &[Orders, Refunds, StockLevels],
            Self::RiskAssessment => &[Orders, Refunds, AdSpend, StockLevels],
            Self::AnomalyDetection => &[Orders, Refunds, AdSpend, Expenses, TrackEvents],
            Self::InsightGeneration => Source::ALL,
            Self::CreativeWinners => &[Orders, AdSpend],
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::{date, datetime};

    use super::*;

    #[test]
    fn a_day_is_complete_once_it_was_computed_after_its_end() {
        let kolkata: Zone = "Asia/Kolkata".parse().unwrap();
        let last = |as_of| Freshness { job: JobName::ProfitSnapshots, as_of, sources: vec![] }.last_complete(&kolkata);
        assert_eq!(last(Some(datetime!(2026-11-29 18:29:59 UTC))), Some(date!(2026 - 11 - 28)));
        assert_eq!(last(Some(datetime!(2026-11-29 18:30 UTC))), Some(date!(2026 - 11 - 29)));
        assert_eq!(last(None), None);
    }

    #[test]
    fn nothing_is_known_of_the_future() {
        let kolkata: Zone = "Asia/Kolkata".parse().unwrap();
        let now = datetime!(2026-11-29 18:30 UTC);
        let until = |newest: Newest| newest.until(now, &kolkata);
        assert_eq!(until(Newest::Day(date!(2027 - 11 - 01))), Newest::Day(date!(2026 - 11 - 30)));
        assert_eq!(until(Newest::Day(date!(2026 - 11 - 29))), Newest::Day(date!(2026 - 11 - 29)));
        assert_eq!(until(Newest::At(datetime!(2026-11-29 18:31 UTC))), Newest::At(now));
    }
}
