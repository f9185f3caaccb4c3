//! The demand model of one item: its level, and the distribution of its demand over any window.

use serde::{Deserialize, Serialize};

use super::level::{LEVEL_DAYS, Level, open_days};
use super::season::{Category, LastYear, SeasonOf};
use super::{DemandClass, Insufficient, StoreRhythm, classify, clean};
use crate::negbin::NegBin;

/// History that the demand follows from, and the half year that shows bulk days and how much demand varies.
const YEAR_DAYS: usize = 365;
/// Days since its first sale, and days with sales, that an order for a young item rests on at least.
const FEWEST_DAYS: usize = 7;
const FEWEST_SELLING_DAYS: usize = 3;
pub(super) const VARIANCE_DAYS: usize = 182;
/// Sums over this many days show the variance to mean; longer windows keep the ratio, the half year holds too few of them.
const VARIANCE_WINDOW: usize = 21;
/// From as many (overlapping) windows on they tell the variance of their sums.
const ENOUGH_WINDOWS: f64 = 42.0;
/// Variance to mean of three-week sums relative to that of single days: the upper quartile among grown items.
const YOUNG_VARIANCE: f64 = 2.0;
/// Variance to mean of items whose own history is too short to show it.
const PRIOR_VARIANCE_TO_MEAN: f64 = 3.0;
/// The level is itself an estimate, from `n` days (56 of a grown item), and it drifts: over `d` days the variance grows by
/// `1.5 · d / n` of itself (1 would be the error of a mean of `n` days alone).
const LEVEL_UNCERTAINTY: f64 = 1.5;
/// Standard deviation of what an item sells in parts of what it sold in the same days a year ago, beside that of chance.
const LAST_YEARS_ERROR: f64 = 0.6;

/// What an item sold.
#[derive(Debug, Clone, Copy)]
pub struct Sales<'a> {
    /// Net units per day, oldest first, ending on the store's last day; `None` where the item was out of stock or the day
    /// is missing. Those before the first sale are ignored.
    pub units: &'a [Option<f64>],
    /// Whether it sold before these days, so that those before the first sale are days without one.
    pub sold_before: bool,
}

impl<'a> Sales<'a> {
    /// Of an item that did not sell before these days, as far as is known.
    #[must_use]
    pub const fn of(units: &'a [Option<f64>]) -> Self {
        Self { units, sold_before: false }
    }

    /// Clean units from the first sale on, all of them without any.
    pub(super) fn since_the_first(self) -> Vec<Option<f64>> {
        let first =
            self.units.iter().position(|day| day.is_some_and(|units| units > 0.0)).filter(|_| !self.sold_before);
        clean(self.units.get(first.unwrap_or_default()..).unwrap_or_default())
    }
}

/// How the level was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Mostly the mean of the last 56 known days by the store's weekday profile: it sells every other day or more.
    MovingAverage,
    /// Mostly Teunter–Syntetos–Babai smoothing: it sells less often.
    Intermittent,
    /// A mean drawn towards the category, for an item in its first 56 days.
    CategoryShrunk,
}

/// Daily demand expected over a horizon.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    pub class: DemandClass,
    pub method: Method,
    /// Expected units of each coming day, from the day after the history.
    pub daily_mean: Vec<f64>,
    /// Variance of the demand over the whole horizon divided by its mean, the uncertainty of the level included.
    pub dispersion: f64,
}

impl Forecast {
    /// Expected units over the whole horizon.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.daily_mean.iter().sum()
    }
}

/// Fitted demand of one item.
#[derive(Debug, Clone)]
pub struct DemandModel<'a> {
    rhythm: &'a StoreRhythm,
    class: DemandClass,
    method: Method,
    level: f64,
    /// Days that the level rests on, those of the category's mean included.
    level_days: f64,
    variance_to_mean: f64,
    history_days: usize,
    selling_days: usize,
    season: Option<Season>,
}

/// What a year ago says of the days ahead.
#[derive(Debug, Clone)]
struct Season {
    of: SeasonOf,
    year: LastYear,
    /// As many times more is sold since.
    growth: f64,
}

impl<'a> DemandModel<'a> {
    /// `category`: what the item's category or shop shows; an item in its first weeks is drawn to its level, one in its first
    /// 13 months to its season.
    ///
    /// # Errors
    /// [`Insufficient::NoHistory`] without a single day of known units in the last year.
    pub fn fit(sales: Sales<'_>, category: Option<&Category>, rhythm: &'a StoreRhythm) -> Result<Self, Insufficient> {
        let all = sales.since_the_first();
        let units = last(&all, YEAR_DAYS);
        if units.iter().flatten().next().is_none() {
            return Err(Insufficient::NoHistory);
        }
        let level = Level::of(units, rhythm, category.and_then(|category| category.level));
        let chances: Vec<Option<f64>> = open_days(units, rhythm).collect();
        let own = LastYear::of(&all).map(|year| Season { of: SeasonOf::Item, year, growth: rhythm.growth() });
        let of_others = || {
            category?.last_year.as_ref().map(|(of, year)| Season {
                of: *of,
                year: year.of_level(level.units),
                growth: 1.0,
            })
        };
        Ok(Self {
            rhythm,
            class: classify(&chances),
            method: level.method,
            level: level.units,
            level_days: level.days.max(1.0),
            variance_to_mean: variance_to_mean(last(units, VARIANCE_DAYS)),
            history_days: units.len(),
            season: own.or_else(of_others),
            selling_days: units.iter().flatten().filter(|units| **units > 0.0).count(),
        })
    }

    #[must_use]
    pub const fn class(&self) -> DemandClass {
        self.class
    }

    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }

    /// Units per day, averaged over a week, before the yearly index.
    #[must_use]
    pub const fn level(&self) -> f64 {
        self.level
    }

    /// Days since the first known sale, at most 365.
    #[must_use]
    pub const fn history_days(&self) -> usize {
        self.history_days
    }

    /// Units expected from the next day until day `until` by what was sold on these days a year ago: by the item, as many more
    /// or fewer as its store sells since, or by its category or its store, as many as the item sells to them. `None` with less
    /// than 13 months of all of them.
    #[must_use]
    pub fn by_last_year(&self, until: usize) -> Option<f64> {
        self.season.as_ref().map(|season| season.year.units(until) * season.growth)
    }

    /// Whose last year that is.
    #[must_use]
    pub fn season_of(&self) -> Option<SeasonOf> {
        self.season.as_ref().map(|season| season.of)
    }

    /// Whether its season was ending a year ago: from day `from` until day `until` at most half as much was sold a day as in
    /// the weeks before.
    #[must_use]
    pub fn season_ended(&self, from: usize, until: usize) -> bool {
        self.season.as_ref().is_some_and(|season| season.year.ended(from, until))
    }

    /// Whether what is there from day `from` on is not sold until day `until`, as the season was over by then a year ago.
    #[must_use]
    pub fn misses_season(&self, from: usize, until: usize) -> bool {
        let sold = self.by_last_year(until).zip(self.by_last_year(from)).map(|(until, from)| until - from);
        self.season_ended(from, until) && sold.is_some_and(|units| units < 1.0)
    }

    /// Distribution around [`Self::by_last_year`], which is wide: one year is one sample.
    #[must_use]
    pub fn window_by_last_year(&self, until: usize) -> Option<NegBin> {
        let mean = self.by_last_year(until)?;
        NegBin::from_moments(mean, mean * self.dispersion(until) + (LAST_YEARS_ERROR * mean).powi(2))
    }

    /// Whether there is enough to order by: a week since the first sale, and of what first sold within eight weeks three
    /// days with sales, since one large first order tells nothing of those to come.
    #[must_use]
    pub const fn is_evident(&self) -> bool {
        self.history_days >= FEWEST_DAYS
            && (self.history_days >= LEVEL_DAYS || self.selling_days >= FEWEST_SELLING_DAYS)
    }

    /// Expected units on each of the next `horizon` days.
    #[must_use]
    pub fn forecast(&self, horizon: usize) -> Forecast {
        Forecast {
            class: self.class,
            method: self.method,
            daily_mean: (1..=horizon).map(|ahead| self.daily_mean(ahead)).collect(),
            dispersion: self.dispersion(horizon),
        }
    }

    /// Distribution of the units demanded over the next `days` together.
    #[must_use]
    pub fn window(&self, days: usize) -> NegBin {
        self.around(days, (1..=days).map(|ahead| self.daily_mean(ahead)).sum())
    }

    /// Distribution over `days` whose expected units are known already.
    pub(crate) fn around(&self, days: usize, mean: f64) -> NegBin {
        NegBin::from_moments(mean, mean * self.dispersion(days)).unwrap_or_default()
    }

    fn daily_mean(&self, ahead: usize) -> f64 {
        self.level * self.rhythm.ahead(ahead)
    }

    fn dispersion(&self, days: usize) -> f64 {
        self.variance_to_mean * (1.0 + LEVEL_UNCERTAINTY * days as f64 / self.level_days)
    }
}

pub(super) fn last<T>(items: &[T], count: usize) -> &[T] {
    items.get(items.len().saturating_sub(count)..).unwrap_or_default()
}

/// Variance to mean of sums over three weeks, that of a Poisson stream at least; sums with missing days are scaled up.
fn variance_to_mean(units: &[Option<f64>]) -> f64 {
    let sums = units.windows(VARIANCE_WINDOW).filter_map(|window| {
        let known = window.iter().flatten().count();
        (known * 2 >= VARIANCE_WINDOW)
            .then(|| window.iter().flatten().sum::<f64>() * VARIANCE_WINDOW as f64 / known as f64)
    });
    let by_window = Moments::of(sums);
    let of_windows = ratio(by_window.squares, by_window.count * by_window.mean);
    if by_window.count >= ENOUGH_WINDOWS {
        return of_windows.max(1.0);
    }
    // Too young: the few sums overlap and look alike, so that single days and what is common are lower bounds.
    let by_day = Moments::of(units.iter().flatten().copied());
    let of_days = ratio(by_day.squares, by_day.count * by_day.mean);
    of_windows.max(YOUNG_VARIANCE * of_days).max(PRIOR_VARIANCE_TO_MEAN)
}

/// Welford's running moments.
#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        values.fold(Self::default(), |mut moments, value| {
            moments.count += 1.0;
            let delta = value - moments.mean;
            moments.mean += delta / moments.count;
            moments.squares += delta * (value - moments.mean);
            moments
        })
    }
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    Moments::of(values).mean
}

pub(super) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use time::{Date, Month};

    use super::*;
    use crate::demand::teunter_syntetos_babai;

    fn sunday() -> Date {
        Date::from_calendar_date(2024, Month::March, 31).unwrap()
    }

    fn fit<'a>(units: &[Option<f64>], rhythm: &'a StoreRhythm) -> DemandModel<'a> {
        DemandModel::fit(Sales::of(units), None, rhythm).unwrap()
    }

    #[test]
    fn the_level_is_the_mean_of_56_days() {
        let rhythm = StoreRhythm::flat(sunday());
        let units: Vec<Option<f64>> = (0..120).map(|day| Some(if day < 64 { 3.0 } else { 8.0 })).collect();
        let model = fit(&units, &rhythm);
        assert_eq!((model.class(), model.method()), (DemandClass::Smooth, Method::MovingAverage));
        assert!((model.level() - 8.0).abs() < 1e-9);
    }

    #[test]
    fn days_out_of_stock_do_not_lower_the_level() {
        let rhythm = StoreRhythm::flat(sunday());
        let mut units = [Some(6.0); 120];
        units[90..110].fill(None);
        assert!((fit(&units, &rhythm).level() - 6.0).abs() < 1e-9);
        assert!((fit(&units, &rhythm).window(21).mean() - 126.0).abs() < 1e-9);
    }

    #[test]
    fn a_bulk_day_counts_at_its_half_year_rate() {
        let rhythm = StoreRhythm::flat(sunday());
        let mut units = [Some(10.0); 182];
        units[170] = Some(1830.0);
        // 1,820 units above the rest, spread over 182 days; in the 56-day mean they would be 32.5 a day.
        assert!((fit(&units, &rhythm).level() - 20.0).abs() < 1e-9);
    }

    #[test]
    fn the_weekday_profile_shapes_the_week_and_keeps_the_level() {
        let totals: Vec<Option<f64>> = (0..84).map(|day| Some(if day % 7 == 6 { 0.0 } else { 7e6 })).collect();
        let rhythm = StoreRhythm::fit(&totals, sunday());
        let units: Vec<Option<f64>> = (0..84).map(|day| Some(if day % 7 == 6 { 0.0 } else { 7.0 })).collect();
        let model = fit(&units, &rhythm);
        assert!((model.level() - 6.0).abs() < 1e-6);
        let forecast = model.forecast(7);
        assert!((forecast.daily_mean[0] - 7.0).abs() < 1e-4, "{forecast:?}");
        assert!(forecast.daily_mean[6] < 1e-4);
        assert!((forecast.total() - 42.0).abs() < 1e-3);
    }

    #[test]
    fn what_sells_seldom_is_smoothed_by_teunter_syntetos_babai() {
        let rhythm = StoreRhythm::flat(sunday());
        let mut units = vec![0.0; 200];
        for day in [0, 40, 95, 130] {
            units[day] = 4.0;
        }
        let known: Vec<Option<f64>> = units.iter().copied().map(Some).collect();
        let model = fit(&known, &rhythm);
        assert_eq!((model.class(), model.method()), (DemandClass::Intermittent, Method::Intermittent));
        // No sale in 56 days: nothing of the mean is left.
        assert!((model.level() - teunter_syntetos_babai(&units, 0.05, 0.05)).abs() < 1e-12);
        assert!(model.level() > 0.0);
    }

    #[test]
    fn a_young_item_is_drawn_to_its_category() {
        let rhythm = StoreRhythm::flat(sunday());
        let units = [[Some(0.0); 30].as_slice(), &[Some(12.0); 14]].concat();
        let twos = Category { level: Some(2.0), last_year: None };
        let young = DemandModel::fit(Sales::of(&units), Some(&twos), &rhythm).unwrap();
        assert_eq!((young.method(), young.history_days()), (Method::CategoryShrunk, 14));
        // 14 days at 12 and 14 at the category's 2
        assert!((young.level() - 7.0).abs() < 1e-9);
        // Three times the mean at least, and an error of a level from 28 days: 1 + 1.5 · 14 / 28
        assert!((young.forecast(14).dispersion - 3.0 * 1.75).abs() < 1e-9);
    }

    #[test]
    fn what_did_not_sell_for_a_year_is_not_young() {
        let rhythm = StoreRhythm::flat(sunday());
        let mut units = [Some(0.0); 420];
        (units[20], units[419]) = (Some(1.0), Some(1.0));
        let fives = Category { level: Some(5.0), last_year: None };
        let again = DemandModel::fit(Sales::of(&units), Some(&fives), &rhythm).unwrap();
        assert_eq!((again.method(), again.history_days()), (Method::Intermittent, 365));
        assert!(again.level() < 0.1, "{}", again.level());
        let before = DemandModel::fit(Sales { units: &units[30..], sold_before: true }, Some(&fives), &rhythm).unwrap();
        assert_eq!((before.level(), before.history_days()), (again.level(), 365));
    }

    #[test]
    fn a_young_item_is_ordered_on_evidence_only() {
        let rhythm = StoreRhythm::flat(sunday());
        let evident = |units: &[f64]| {
            let units: Vec<Option<f64>> = units.iter().copied().map(Some).collect();
            fit(&units, &rhythm).is_evident()
        };
        assert!(!evident(&[51.0]) && !evident(&[9.0; 6]) && evident(&[9.0; 7]));
        let one_order = |days: usize| [&[500.0][..], &vec![0.0; days - 1]].concat();
        assert!(!evident(&one_order(8)) && !evident(&one_order(55)) && evident(&one_order(56)));
        assert!(evident(&[4.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0]));
    }

    #[test]
    fn one_sale_makes_a_model_and_no_day_none() {
        let rhythm = StoreRhythm::flat(sunday());
        let model = fit(&[Some(0.0), Some(5.0), Some(0.0)], &rhythm);
        assert_eq!(model.history_days(), 2);
        assert!(model.level() > 0.0 && model.window(28).quantile(0.95) > 0);
        for units in [&[] as &[Option<f64>], &[None, None], &[Some(f64::NAN)]] {
            let refused = DemandModel::fit(Sales::of(units), None, &rhythm);
            assert_eq!(refused.err(), Some(Insufficient::NoHistory));
        }
    }
}
