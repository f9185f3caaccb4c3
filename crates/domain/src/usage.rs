//! What an account spends its credits on: three periods that end today, by feature, and a series by day.

use std::collections::BTreeMap;

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use crate::{
    AccountId, StoreError,
    credits::runway::USE_DAYS,
    metrics::ratios::{percent, quotient},
    money::round,
    zone::Zone,
};

text_enum!(
    /// How far a period reaches back.
    Period { Week = "7d", Month = "30d", Quarter = "90d" }
);

impl Period {
    pub const fn days(self) -> i64 {
        match self {
            Self::Week => 7,
            Self::Month => 30,
            Self::Quarter => 90,
        }
    }
}

/// Days that the series has, today included.
pub const SERIES_DAYS: i64 = 90;
/// Days that are read: the longest period and the one before it.
pub const READ_DAYS: i64 = 2 * SERIES_DAYS;

/// What the ledger says about a feature on a day of the account's zone. Refunds count on their own day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayUse {
    pub day: Date,
    pub feature: String,
    /// Credits, as positive numbers.
    pub figures: Figures,
}

/// Sums over rows of the ledger, credits as positive numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    pub consumed: i64,
    pub refunded: i64,
    pub debits: i64,
    pub refunds: i64,
}

impl Figures {
    /// Credits, less what was refunded. Below zero when more was refunded than taken in the time.
    pub const fn spent(&self) -> i64 {
        self.consumed - self.refunded
    }

    /// The part of `all` that was spent here, 0 to 1; 0 where nothing was spent. Others of which more was given back than taken
    /// make `all` less than what was spent here.
    pub fn share_of(&self, all: &Self) -> Decimal {
        quotient(self.spent().max(0).into(), all.spent().into()).unwrap_or_default().min(Decimal::ONE)
    }

    fn add(&mut self, other: &Self) {
        let Self { consumed, refunded, debits, refunds } = other;
        self.consumed += consumed;
        self.refunded += refunded;
        self.debits += debits;
        self.refunds += refunds;
    }
}

/// A feature's part of a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureUse {
    pub feature: String,
    pub figures: Figures,
}

/// A period and the one of the same length before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodUse {
    pub period: Period,
    pub first: Date,
    pub last: Date,
    pub figures: Figures,
    pub previous: Figures,
    /// Percent by which the spending changed, two decimals; `None` when nothing was spent before.
    pub change_pct: Option<Decimal>,
    /// The dearest first.
    pub by_feature: Vec<FeatureUse>,
}

/// The whole account of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    pub periods: Vec<PeriodUse>,
    /// [`SERIES_DAYS`] days, the oldest first, those without any use included.
    pub daily: Vec<(Date, Figures)>,
}

/// What is read for an account of the usage, of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRead {
    /// Credits now.
    pub balance: i64,
    /// Credits that went, less those given back, in the last [`USE_DAYS`] days of 24 hours.
    pub used_lately: i64,
    /// Of the [`READ_DAYS`] days that end today.
    pub days: Vec<DayUse>,
}

/// The first instant of what [`UsageRead::used_lately`] counts.
pub fn lately(now: OffsetDateTime) -> OffsetDateTime {
    now - Duration::days(USE_DAYS)
}

/// Sums up.
pub fn sum_up(days: &[DayUse], today: Date) -> Usage {
    let periods = Period::ALL.iter().map(|period| sum_period(days, *period, today)).collect();
    let mut by_day = BTreeMap::<Date, Figures>::new();
    let mut day = back(today, SERIES_DAYS - 1);
    while day <= today {
        by_day.insert(day, Figures::default());
        let Some(next) = day.next_day() else { break };
        day = next;
    }
    for used in days {
        if let Some(figures) = by_day.get_mut(&used.day) {
            figures.add(&used.figures);
        }
    }
    Usage { periods, daily: by_day.into_iter().collect() }
}

fn sum_period(days: &[DayUse], period: Period, today: Date) -> PeriodUse {
    let (first, before) = (back(today, period.days() - 1), back(today, 2 * period.days() - 1));
    let (mut figures, mut previous) = (Figures::default(), Figures::default());
    let mut by_feature = BTreeMap::<&str, Figures>::new();
    for used in days {
        if (first..=today).contains(&used.day) {
            figures.add(&used.figures);
            by_feature.entry(&used.feature).or_default().add(&used.figures);
        } else if (before..first).contains(&used.day) {
            previous.add(&used.figures);
        }
    }
    let mut by_feature: Vec<_> =
        by_feature.into_iter().map(|(feature, figures)| FeatureUse { feature: feature.to_owned(), figures }).collect();
    by_feature.sort_by(|a, b| b.figures.spent().cmp(&a.figures.spent()).then_with(|| a.feature.cmp(&b.feature)));
    let change_pct = change(figures.spent(), previous.spent());
    PeriodUse { period, first, last: today, figures, previous, change_pct, by_feature }
}

fn change(now: i64, before: i64) -> Option<Decimal> {
    percent((now - before).into(), before.into()).map(|change| round(change, 2))
}

fn back(day: Date, days: i64) -> Date {
    day.checked_sub(Duration::days(days)).unwrap_or(Date::MIN)
}

/// Reads the ledger by day and feature.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait UsageStore: Send + Sync {
    /// The days that end with the one of `now`, cut by the account's zone.
    async fn read(&self, account: AccountId, zone: &Zone, now: OffsetDateTime) -> Result<UsageRead, StoreError>;
}

/// The first day that [`UsageStore::read`] reads.
pub fn first_day(today: Date) -> Date {
    back(today, READ_DAYS - 1)
}

#[cfg(test)]
mod tests {

    use rust_decimal::dec;
    use time::macros::date;

    use super::*;

    const TODAY: Date = date!(2026 - 03 - 31);

    fn used(day: Date, feature: &str, consumed: i64, refunded: i64) -> DayUse {
        let figures = Figures { consumed, refunded, debits: consumed.min(1), refunds: refunded.min(1) };
        DayUse { day, feature: feature.to_owned(), figures }
    }

    #[test]
    fn a_period_holds_its_days_and_no_others() {
        let days = [
            used(TODAY, "chat", 10, 0),
            used(date!(2026 - 03 - 25), "chat", 5, 0),
            used(date!(2026 - 03 - 25), "insight", 40, 20),
            used(date!(2026 - 03 - 24), "chat", 28, 0),
            used(date!(2026 - 03 - 18), "chat", 2, 0),
            used(date!(2026 - 03 - 17), "chat", 1_000, 0),
        ];
        let usage = sum_up(&days, TODAY);
        let week = &usage.periods[0];
        assert_eq!((week.first, week.last), (date!(2026 - 03 - 25), TODAY));
        assert_eq!((week.figures.consumed, week.figures.refunded, week.figures.spent()), (55, 20, 35));
        assert_eq!((week.previous.spent(), week.change_pct), (30, Some(dec!(16.67))));
        let features: Vec<_> =
            week.by_feature.iter().map(|used| (used.feature.as_str(), used.figures.spent())).collect();
        assert_eq!(features, [("insight", 20), ("chat", 15)]);
        assert_eq!((usage.periods[1].figures.spent(), usage.periods[1].change_pct), (1_065, None));
    }

    #[test]
    fn no_feature_is_more_than_the_whole() {
        // What was taken before the period is given back in it.
        let days = [used(TODAY, "chat", 100, 0), used(TODAY, "insight", 0, 20)];
        let week = &sum_up(&days, TODAY).periods[0];
        assert_eq!(week.figures.spent(), 80);
        let shares: Vec<_> = week.by_feature.iter().map(|used| used.figures.share_of(&week.figures)).collect();
        assert_eq!(shares, [dec!(1), dec!(0)]);
    }

    #[test]
    fn the_series_has_every_day_once_and_sums_to_its_period() {
        let days: Vec<_> = (0..180).map(|ago| used(back(TODAY, ago), "chat", ago + 1, ago % 3)).collect();
        let usage = sum_up(&days, TODAY);
        assert_eq!(usage.daily.len(), 90);
        assert_eq!((usage.daily[0].0, usage.daily[89].0), (date!(2026 - 01 - 01), TODAY));
        let series: i64 = usage.daily.iter().map(|(_, figures)| figures.spent()).sum();
        let expected: i64 = (0..90).map(|ago| ago + 1 - ago % 3).sum();
        assert_eq!((series, usage.periods[2].figures.spent()), (expected, expected));
        assert_eq!(first_day(TODAY), days[179].day);
    }
}
