//! What all items of a store share: the weekday profile and the yearly index, both from the store's daily unit totals.
//! Single items sell too seldom to show either.

use time::{Date, Weekday};

use crate::YEAR;

/// A daily total above this is a broken feed.
const MOST_UNITS_A_DAY: f64 = 1e12;
/// Days of history behind the weekday profile (twelve weeks).
const PROFILE_DAYS: usize = 84;
/// With fewer days every weekday counts the same.
const FEWEST_PROFILE_DAYS: usize = 14;
/// The profile starts from this many units a weekday at the average rate: small stores stay near a flat week.
const PROFILE_PRIOR_UNITS: f64 = 20.0;
/// A weekday with less than this is one on which the store is closed.
const CLOSED_FACTOR: f64 = 0.1;
/// Days before the same date last year that the index is relative to; the level covers as many.
const INDEX_BASE_DAYS: usize = 56;
/// Days around the same date last year that one index value averages.
const INDEX_BLOCK_DAYS: usize = 28;
/// With fewer base days (13 months of history in all) there is no yearly index.
const FEWEST_BASE_DAYS: usize = 28;
/// One year is one sample: the square root of its index halves it on the log scale, after clipping.
const INDEX_RANGE: (f64, f64) = (0.6, 1.8);
const INDEX_DAMPING: f64 = 0.5;

/// Days up to now and up to a year ago that a store's growth is measured by; an item's level covers as many.
pub(super) const GROWTH_DAYS: usize = 56;
/// Growth starts from this many units on either side: of a small store little is known.
const GROWTH_PRIOR_UNITS: f64 = 20.0;
/// A store sells between a third of what it did and thrice as much.
const GROWTH_RANGE: (f64, f64) = (1.0 / 3.0, 3.0);

/// Weekday profile, yearly index and growth of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreRhythm {
    /// Monday first, mean 1.
    weekday: [f64; 7],
    /// The weekday (0 = Monday) of the day after the history.
    next_weekday: usize,
    /// Damped yearly index of each coming day; empty with less than 13 months of history.
    yearly: Vec<f64>,
    growth: f64,
}

impl StoreRhythm {
    /// From the units of all items per day, oldest first, ending on `last_day`. Days without data are `None`; values that
    /// no store sells (negative, beyond 10¹², not finite) count as such.
    #[must_use]
    pub fn fit(totals: &[Option<f64>], last_day: Date) -> Self {
        let plausible = |units: &f64| (0.0..=MOST_UNITS_A_DAY).contains(units);
        let totals: Vec<Option<f64>> = totals.iter().map(|day| day.filter(plausible)).collect();
        let next_weekday = usize::from(last_day.weekday().next().number_days_from_monday());
        Self {
            weekday: weekday_profile(&totals, next_weekday),
            next_weekday,
            yearly: yearly_index(&totals),
            growth: growth(&totals),
        }
    }

    /// A store of which nothing is known: flat week, no yearly index.
    #[must_use]
    pub fn flat(last_day: Date) -> Self {
        Self::fit(&[], last_day)
    }

    /// Demand of a weekday relative to the average day.
    #[must_use]
    pub fn weekday_factor(&self, weekday: Weekday) -> f64 {
        self.factor(usize::from(weekday.number_days_from_monday()))
    }

    /// How the day `ahead` days after the history's last (1 = the next) compares with the last weeks, judged by the weeks
    /// around it a year ago and damped: between 0.77 and 1.34; 1 with less than 13 months of history. It begins again after a
    /// year.
    #[must_use]
    pub fn yearly_index(&self, ahead: usize) -> f64 {
        let day = ahead.saturating_sub(1) % self.yearly.len().max(1);
        self.yearly.get(day).copied().unwrap_or(1.0)
    }

    /// Units of the last 56 days by those of the same days a year ago, between a third and 3; 1 with less than 13 months of
    /// history.
    #[must_use]
    pub const fn growth(&self) -> f64 {
        self.growth
    }

    /// Demand on the day `ahead` days after the history's last relative to an average day of the last weeks.
    pub(crate) fn ahead(&self, ahead: usize) -> f64 {
        self.factor(self.next_weekday + ahead.saturating_sub(1)) * self.yearly_index(ahead)
    }

    /// Weekday factor of the day `back` days before the first forecast day (1 = the history's last day).
    pub(crate) fn back(&self, back: usize) -> f64 {
        self.factor(self.next_weekday + 7 - back % 7)
    }

    /// Whether the store hardly ever sells on the weekday of the day `back` days before the first forecast day.
    pub(crate) fn was_closed(&self, back: usize) -> bool {
        self.back(back) < CLOSED_FACTOR
    }

    /// Mean factor of the weekdays that are not closed; at least 1.
    pub(crate) fn open_factor(&self) -> f64 {
        let open = self.weekday.iter().filter(|&&factor| factor >= CLOSED_FACTOR);
        let (sum, days) = open.fold((0.0, 0u8), |(sum, days), factor| (sum + factor, days + 1));
        (sum / f64::from(days.max(1))).max(1.0)
    }

    fn factor(&self, weekday: usize) -> f64 {
        self.weekday.get(weekday % 7).copied().unwrap_or(1.0)
    }
}

/// Index of each of the next 52 weeks' days: the 28 days around the same day a year ago against the 56 before the same
/// date, clipped and damped.
fn yearly_index(totals: &[Option<f64>]) -> Vec<f64> {
    let start = totals.len().saturating_sub(YEAR);
    let base_days = start.min(INDEX_BASE_DAYS);
    let base = mean_of(totals.get(start - base_days..start)).filter(|&base| base > 0.0);
    let Some(base) = base.filter(|_| base_days >= FEWEST_BASE_DAYS) else {
        return Vec::new();
    };
    (start..totals.len())
        .map(|day| {
            // Near either end the block keeps its length and stops being centred.
            let from = day.saturating_sub(INDEX_BLOCK_DAYS / 2).clamp(start, totals.len() - INDEX_BLOCK_DAYS);
            let around = mean_of(totals.get(from..from + INDEX_BLOCK_DAYS)).unwrap_or(base);
            (around / base).clamp(INDEX_RANGE.0, INDEX_RANGE.1).powf(INDEX_DAMPING)
        })
        .collect()
}

fn growth(totals: &[Option<f64>]) -> f64 {
    let year_ago = totals.len().saturating_sub(YEAR);
    let days = year_ago.min(GROWTH_DAYS);
    let units = |end: usize| mean_of(totals.get(end - days..end)).map(|mean| mean * days as f64 + GROWTH_PRIOR_UNITS);
    match (units(totals.len()), units(year_ago)) {
        (Some(now), Some(before)) if days >= FEWEST_BASE_DAYS => (now / before).clamp(GROWTH_RANGE.0, GROWTH_RANGE.1),
        _ => 1.0,
    }
}

/// Of the known days, if there are any.
pub(super) fn mean_of(days: Option<&[Option<f64>]>) -> Option<f64> {
    let (sum, count) = days?.iter().flatten().fold((0.0, 0u32), |(sum, n), &u| (sum + u, n + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn weekday_profile(totals: &[Option<f64>], next_weekday: usize) -> [f64; 7] {
    let mut sums = [0.0; 7];
    let mut counts = [0.0; 7];
    let recent = totals.iter().rev().take(PROFILE_DAYS);
    for (back, day) in recent.enumerate() {
        let weekday = (next_weekday + 6 + 7 * PROFILE_DAYS - back) % 7;
        if let (Some(units), Some(sum), Some(count)) = (day, sums.get_mut(weekday), counts.get_mut(weekday)) {
            *sum += units;
            *count += 1.0;
        }
    }
    let days: f64 = counts.iter().sum();
    let mean = sums.iter().sum::<f64>() / days.max(1.0);
    if days < FEWEST_PROFILE_DAYS as f64 || mean <= 0.0 {
        return [1.0; 7];
    }
    let mut profile = [1.0; 7];
    for ((factor, sum), count) in profile.iter_mut().zip(sums).zip(counts) {
        *factor = (sum + PROFILE_PRIOR_UNITS) / (count * mean + PROFILE_PRIOR_UNITS);
    }
    let average = profile.iter().sum::<f64>() / 7.0;
    profile.map(|factor| factor / average)
}

#[cfg(test)]
mod tests {
    use time::Month;

    use super::*;

    /// A Sunday.
    fn last_day() -> Date {
        Date::from_calendar_date(2024, Month::March, 31).unwrap()
    }

    /// Totals by a function of the age of a day (0 = the last, a Sunday), oldest first.
    fn totals(days: usize, units: impl Fn(usize) -> f64) -> Vec<Option<f64>> {
        (0..days).rev().map(|age| Some(units(age))).collect()
    }

    #[test]
    fn a_closed_weekday_has_next_to_no_weight() {
        let rhythm = StoreRhythm::fit(&totals(84, |age| if age % 7 == 0 { 0.0 } else { 700.0 }), last_day());
        assert!(rhythm.weekday_factor(Weekday::Sunday) < 0.01);
        assert!((rhythm.weekday_factor(Weekday::Monday) - 7.0 / 6.0).abs() < 0.01);
        assert_eq!(rhythm.ahead(1), rhythm.weekday_factor(Weekday::Monday));
        assert_eq!(rhythm.ahead(7), rhythm.weekday_factor(Weekday::Sunday));
        assert_eq!(rhythm.back(1), rhythm.weekday_factor(Weekday::Sunday));
        assert_eq!(rhythm.back(9), rhythm.weekday_factor(Weekday::Saturday));
    }

    #[test]
    fn a_store_with_few_sales_keeps_a_flat_week() {
        let rhythm = StoreRhythm::fit(&totals(84, |age| if age == 0 { 1.0 } else { 0.0 }), last_day());
        assert!((rhythm.weekday_factor(Weekday::Sunday) - 1.0).abs() < 0.06);
    }

    #[test]
    fn last_years_season_returns_damped() {
        // Four times the sales in the 28 days that began 364 days ago, clipped to 1.8.
        let seasonal = |age: usize| if (336..364).contains(&age) { 400.0 } else { 100.0 };
        let rhythm = StoreRhythm::fit(&totals(500, seasonal), last_day());
        assert!((rhythm.yearly_index(1) - 1.8f64.sqrt()).abs() < 1e-12);
        assert!((rhythm.yearly_index(100) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn under_thirteen_months_there_is_no_yearly_index_and_no_growth() {
        let growing = totals(391, |age| 1000.0 - age as f64);
        let rhythm = StoreRhythm::fit(&growing, last_day());
        assert_eq!((rhythm.yearly_index(1), rhythm.growth()), (1.0, 1.0));
    }

    #[test]
    fn a_store_grows_by_the_same_weeks_of_a_year_ago_within_bounds() {
        let grown = |by: f64| {
            let sold = |age: usize| if age < 56 { 10.0 * by } else { 10.0 };
            StoreRhythm::fit(&totals(420, sold), last_day()).growth()
        };
        assert!((grown(1.0) - 1.0).abs() < 1e-12);
        // 1,120 and 20 over 560 and 20.
        assert!((grown(2.0) - 1_140.0 / 580.0).abs() < 1e-12);
        assert!((grown(100.0) - 3.0).abs() < 1e-12 && (grown(0.0) - 1.0 / 3.0).abs() < 1e-12);
    }
}
