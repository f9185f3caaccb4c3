//! A shop's year as customers live it: time runs faster in the weeks in which more of them buy.
//!
//! The purchase model knows one rate per customer. Before Christmas everybody buys more, after it less, and the model takes
//! the one for loyalty and the other for leaving. On this clock a week in which twice as many customers buy as usual lasts two
//! weeks, so that the rate of a customer stays what it is (the operational time of point processes).

use time::{Date, Duration};

use super::churn::HORIZON_DAYS;
use crate::YEAR;

/// Days on each side of a day that its index is the mean of.
const HALF_WINDOW: usize = 14;
/// Buyers at the mean rate that each index starts from: a small shop stays near an even year.
const PRIOR_BUYERS: f64 = 20.0;
/// More customers buy in a good month, and each of them oftener: buyers a day show it not quite. Chosen on one shop of two
/// years (see `docs/methods/customers.md`).
const EXPONENT: f64 = 1.15;
/// A day lasts between a quarter of a day and four.
const RANGE: (f64, f64) = (0.25, 4.0);
/// Days of this year and of the last that growth is measured by, and how many of them there must be.
const GROWTH_DAYS: usize = 28;
const FEWEST_GROWTH_DAYS: usize = 14;
/// Growth starts from this many buyers on either side.
const GROWTH_PRIOR: f64 = 50.0;

/// Buyers of the first weeks, in parts of the mean, below which a shop has just opened.
const OPENING: f64 = 0.5;

/// How long each day lasts to a shop's customers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Clock {
    /// The last day of the year that is known, and how long its first days last together: none of them, one, up to all. They
    /// repeat every 52 weeks before and after. None where every day lasts a day.
    year: Option<(Date, Vec<f64>)>,
}

impl Clock {
    /// From the number of different customers who bought on each day, oldest first, ending on `last`; without days before the
    /// shop's first customer, which would look like a dead season. With less than 52 weeks of it the days that are not known
    /// last a day each, and the others the nearer to a day the fewer of the days ahead are known from a year before; with none
    /// of these, and in a shop that has just opened (until its growth is known), every day lasts a day.
    #[must_use]
    pub fn of(buyers: &[f64], last: Date) -> Self {
        let year_ago = buyers.len().saturating_sub(YEAR);
        let known = buyers.len() - year_ago;
        let exponent = EXPONENT * known_ahead(YEAR - known);
        if exponent <= 0.0 || (buyers.len() < YEAR + GROWTH_DAYS && is_opening(buyers)) {
            return Self::default();
        }
        let growth = growth(buyers);
        let years_ago = |day: usize| (buyers.len() - 1 - day) as f64 / YEAR as f64;
        let detrended: Vec<f64> = buyers.iter().enumerate().map(|(day, n)| n * growth.powf(years_ago(day))).collect();
        let days = || detrended.iter().skip(year_ago);
        let mean = days().sum::<f64>() / known as f64;
        let index = |day: usize| {
            let from = day.saturating_sub(HALF_WINDOW);
            let around = detrended.get(from..(day + HALF_WINDOW + 1).min(detrended.len())).unwrap_or_default();
            let usual = mean * around.len() as f64 + PRIOR_BUYERS;
            ((around.iter().sum::<f64>() + PRIOR_BUYERS) / usual).powf(exponent).clamp(RANGE.0, RANGE.1)
        };
        let mut sum = 0.0;
        let unknown = (known..YEAR).map(|_| None);
        let lasting = unknown.chain((year_ago..buyers.len()).map(Some)).map(|day| {
            sum += day.map_or(1.0, &index);
            sum
        });
        Self { year: Some((last, [0.0].into_iter().chain(lasting).collect())) }
    }

    /// The first of the days up to `last` that [`Self::of`] makes use of: a year, and the weeks before it that its growth and
    /// the index of its first days are taken from.
    #[must_use]
    pub const fn first_day(last: Date) -> Date {
        last.saturating_sub(Duration::days((YEAR + GROWTH_DAYS) as i64 - 1))
    }

    /// Weeks on this clock from the end of one day to the end of another, no earlier one.
    #[must_use]
    pub fn weeks(&self, from: Date, to: Date) -> f64 {
        let Some((last, lasting)) = &self.year else { return (to - from).whole_days().max(0) as f64 / 7.0 };
        // Days on this clock since the end of its last day, below 0 for one before.
        let reading = |day: Date| {
            let days = (day - *last).whole_days();
            let year = lasting.last().copied().unwrap_or_default();
            let begun = usize::try_from(days.rem_euclid(YEAR as i64)).unwrap_or_default();
            days.div_euclid(YEAR as i64) as f64 * year + lasting.get(begun).copied().unwrap_or_default()
        };
        (reading(to) - reading(from)).max(0.0) / 7.0
    }
}

/// Part of the days ahead that is known from a year before, if so many days of the year are not.
fn known_ahead(unknown: usize) -> f64 {
    let ahead = f64::from(HORIZON_DAYS);
    1.0 - (unknown as f64).min(ahead) / ahead
}

/// Whether a shop whose growth is not known yet began with so few buyers that what looks like its season is its growth.
fn is_opening(buyers: &[f64]) -> bool {
    let mean = |days: &[f64]| days.iter().sum::<f64>() / days.len().max(1) as f64;
    mean(buyers.get(..GROWTH_DAYS.min(buyers.len())).unwrap_or_default()) < OPENING * mean(buyers)
}

/// Buyers of the last weeks against those of the same weeks a year before; 1 where too few of these are known.
fn growth(buyers: &[f64]) -> f64 {
    let common = buyers.len().saturating_sub(YEAR).min(GROWTH_DAYS);
    if common < FEWEST_GROWTH_DAYS {
        return 1.0;
    }
    let sum = |back: usize| buyers.iter().rev().skip(back).take(common).sum::<f64>() + GROWTH_PRIOR;
    (sum(0) / sum(YEAR)).clamp(RANGE.0, RANGE.1)
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    const LAST: Date = date!(2026 - 03 - 01);

    /// Buyers a day of the last `days` days, by how many days ago.
    fn clock(days: usize, buyers: impl Fn(usize) -> f64) -> Clock {
        let daily: Vec<f64> = (0..days).rev().map(buyers).collect();
        Clock::of(&daily, LAST)
    }

    fn ahead(clock: &Clock, days: i64) -> f64 {
        clock.weeks(LAST, LAST + Duration::days(days))
    }

    #[test]
    fn without_a_year_and_in_an_even_one_a_week_is_a_week() {
        for clock in
            [Clock::default(), clock(273, |_| 9.0), clock(363, |_| 9.0), clock(364, |_| 9.0), clock(700, |_| 0.0)]
        {
            assert!((ahead(&clock, 91) - 13.0).abs() < 1e-9);
            assert!((clock.weeks(date!(2020 - 01 - 01), date!(2020 - 01 - 15)) - 2.0).abs() < 1e-9);
        }
        assert!(ahead(&Clock::default(), -7).abs() < f64::EPSILON);
    }

    #[test]
    fn a_season_comes_again_a_year_later() {
        // Of the 52 weeks, those from 300 to 201 days ago were four times as busy.
        let clock = clock(420, |ago| if (201..=300).contains(&(ago % 364)) { 400.0 } else { 100.0 });
        // They come again 64 days from now.
        let (quiet, busy) = (ahead(&clock, 45), ahead(&clock, 160) - ahead(&clock, 80));
        assert!(quiet < 45.0 / 7.0 * 0.65, "{quiet}");
        assert!(busy > 80.0 / 7.0 * 2.0, "{busy}");
        let past = clock.weeks(LAST - Duration::days(284), LAST - Duration::days(204));
        assert!((past - busy).abs() < 1e-9, "{past} a year before {busy}");
    }

    #[test]
    fn of_a_year_that_is_not_over_what_is_known_of_the_days_ahead_counts() {
        // The weeks from 330 to 301 days ago were four times as busy: 34 to 63 days from now.
        let busy = |days: usize| clock(days, |ago| if (301..=330).contains(&ago) { 400.0 } else { 100.0 });
        let ratio = |clock: &Clock| (ahead(clock, 63) - ahead(clock, 34)) / ahead(clock, 20);
        let (whole, most, none) = (ratio(&busy(364)), ratio(&busy(340)), ratio(&busy(274)));
        assert!((none - 29.0 / 20.0).abs() < 1e-9, "{none}");
        assert!(none * 1.2 < most && most * 1.1 < whole, "{none} {most} {whole}");
    }

    #[test]
    fn the_growth_of_a_shop_that_has_opened_is_no_season() {
        for days in [350, 364, 377, 391] {
            assert_eq!(clock(days, |ago| (days - ago) as f64), Clock::default(), "{days} days");
        }
    }

    #[test]
    fn growth_is_no_season() {
        let growing = clock(420, |ago| 100.0 * 3f64.powf(-(ago as f64) / 364.0));
        for days in [30, 90, 180] {
            let ratio = ahead(&growing, days) / (days as f64 / 7.0);
            assert!((0.97..1.03).contains(&ratio), "{days} days: {ratio}");
        }
    }

    #[test]
    fn time_never_stands_still_or_runs_back() {
        let burst = clock(800, |ago| if ago == 10 { 1e9 } else { 0.0 });
        for days in 0..400 {
            let day = ahead(&burst, days + 1) - ahead(&burst, days);
            assert!((0.25 / 7.0 - 1e-9..=4.0 / 7.0 + 1e-9).contains(&day), "{day}");
        }
    }
}
