//! What an item sold a year ago: its own season, where it has one, else that of its category.

use serde::{Deserialize, Serialize};

use super::level::LEVEL_DAYS;
use super::model::Sales;
use super::rhythm::{GROWTH_DAYS, mean_of};
use crate::YEAR;

/// With fewer days up to a year ago (13 months of history in all) an item has no past of its own.
const FEWEST_DAYS: usize = 28;
/// Units of the weeks up to a year ago from which on they show whether a season was ending.
const FEWEST_UNITS: f64 = 20.0;
/// What is sold after a season, in parts of what was sold in it, at most.
const LEFT_OF_A_SEASON: f64 = 0.5;

/// Units of an even year, in the weeks up to a year ago, that the season of other items is drawn towards: those of a few small
/// items show little.
const EVEN_UNITS: f64 = 100.0;

/// Days of an item that [`super::DemandModel`] makes use of: a year, and the weeks before it that the end of a season shows in.
pub const HISTORY_DAYS: i64 = (YEAR + GROWTH_DAYS) as i64;

/// Units of the days of a year ago that lie ahead.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LastYear {
    /// Of the first day ahead, the first two, and so on.
    cumulated: Vec<f64>,
    /// Units of the weeks up to a year ago, and a day's share of them.
    before: f64,
    daily_before: f64,
}

/// Whose last year a season is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeasonOf {
    Item,
    Category,
    Shop,
}

/// What the items of a category have in common: how much one of them sells, and how their season went a year ago.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Category {
    /// Mean units per day of an item.
    pub(super) level: Option<f64>,
    pub(super) last_year: Option<(SeasonOf, LastYear)>,
}

impl Category {
    /// Of the sales of its items up to the same day, of those that sold before the last 56 days: the level is the mean of these
    /// days, and the last year that of those with 13 months since their first sale, together.
    #[must_use]
    pub fn of<'a>(items: impl IntoIterator<Item = Sales<'a>>) -> Self {
        let mut all = CategorySales::default();
        items.into_iter().for_each(|item| all.add(item));
        all.category()
    }

    /// With what the shop shows where the category shows nothing.
    #[must_use]
    pub fn or(self, shop: &Self) -> Self {
        Self { level: self.level.or(shop.level), last_year: self.last_year.or_else(|| shop.last_year.clone()) }
    }
}

/// The sales of a category's items, summed up one item at a time: those of all items need not be in memory at once.
#[derive(Debug, Clone, Default)]
pub struct CategorySales {
    sum: f64,
    days: f64,
    last_year: Option<LastYear>,
}

impl CategorySales {
    pub fn add(&mut self, item: Sales<'_>) {
        let units = item.since_the_first();
        let (before, recent) = units.split_at(units.len().saturating_sub(LEVEL_DAYS));
        // What has never sold, or not for long, says nothing of what does.
        if !before.iter().flatten().any(|day| *day > 0.0) {
            return;
        }
        self.sum += recent.iter().flatten().sum::<f64>();
        self.days += recent.iter().flatten().count() as f64;
        match (LastYear::of(&units), &mut self.last_year) {
            (Some(year), Some(all)) => all.add(&year),
            (Some(year), none) => *none = Some(year),
            (None, _) => {}
        }
    }

    /// As [`Category::of`].
    #[must_use]
    pub fn category(self) -> Category {
        self.of(SeasonOf::Category)
    }

    /// The same of all items of a shop: for those whose category shows less.
    #[must_use]
    pub fn shop(self) -> Category {
        self.of(SeasonOf::Shop)
    }

    fn of(self, of: SeasonOf) -> Category {
        let level = (self.days > 0.0).then(|| self.sum / self.days);
        Category { level, last_year: self.last_year.map(|year| (of, year)) }
    }
}

impl LastYear {
    /// That of another item to it.
    fn add(&mut self, other: &Self) {
        self.cumulated.iter_mut().zip(&other.cumulated).for_each(|(sum, units)| *sum += units);
        self.before += other.before;
        self.daily_before += other.daily_before;
    }

    /// As the season of an item goes that sells `level` units a day now, if it goes as this one, of other items, did.
    pub fn of_level(&self, level: f64) -> Self {
        let weeks = GROWTH_DAYS as f64;
        // In parts of what was sold in the weeks up to a year ago, drawn towards an even year.
        let part =
            |units: f64, days: f64| (units + EVEN_UNITS * days / weeks) / (self.daily_before * weeks + EVEN_UNITS);
        let cumulated =
            self.cumulated.iter().zip(1u32..).map(|(units, days)| level * weeks * part(*units, f64::from(days)));
        Self { cumulated: cumulated.collect(), before: level * weeks, daily_before: level }
    }

    /// From clean daily units since the first sale, oldest first; `None` with less than 13 months of them.
    pub fn of(units: &[Option<f64>]) -> Option<Self> {
        let year_ago = units.len().checked_sub(YEAR)?;
        let days = year_ago.min(GROWTH_DAYS);
        if days < FEWEST_DAYS {
            return None;
        }
        let (before, ahead) = units.split_at(year_ago);
        let weeks_before = before.get(year_ago - days..)?;
        let daily_before = mean_of(Some(weeks_before)).unwrap_or_default();
        // What is not known of a day is taken for an average one, or a stock-out would look like the end of a season.
        let mean = mean_of(Some(ahead)).unwrap_or_default();
        let mut sum = 0.0;
        let daily = ahead.iter().map(|day| {
            sum += day.unwrap_or(mean);
            sum
        });
        Some(Self { cumulated: daily.collect(), before: daily_before * days as f64, daily_before })
    }

    /// Whether a season was ending a year ago: from the day `from` days ahead until day `until`, the item sold at most half as
    /// much a day as in the weeks before, and in these enough to tell. Of the days beyond a year nothing is known.
    pub fn ended(&self, from: usize, until: usize) -> bool {
        let until = until.min(self.cumulated.len());
        let days = until.saturating_sub(from);
        if days < FEWEST_DAYS {
            return false;
        }
        let daily = (self.units(until) - self.units(from)) / days as f64;
        self.before >= FEWEST_UNITS && daily <= LEFT_OF_A_SEASON * self.daily_before
    }

    /// Units of the next `days` days; beyond a year it begins again.
    pub fn units(&self, days: usize) -> f64 {
        let first = |days: usize| days.checked_sub(1).and_then(|day| self.cumulated.get(day)).copied();
        let (years, days) = (days / YEAR, days % YEAR);
        years as f64 * first(YEAR).unwrap_or_default() + first(days).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units by how many days ago, of the last `days` days.
    fn item(days: usize, units: impl Fn(usize) -> f64) -> Vec<Option<f64>> {
        (1..=days).rev().map(|ago| Some(units(ago))).collect()
    }

    #[test]
    fn the_days_ahead_are_those_of_a_year_ago() {
        // 10 a day, but 50 in the four weeks that begin two weeks from now a year ago.
        let season = |ago: usize| if (323..=350).contains(&ago) { 50.0 } else { 10.0 };
        let last_year = LastYear::of(&item(420, season)).unwrap();
        for (days, units) in [(0, 0.0), (14, 140.0), (15, 190.0), (42, 1_540.0), (50, 1_620.0)] {
            assert!((last_year.units(days) - units).abs() < 1e-9, "{days}: {}", last_year.units(days));
        }
        let two_years = 2.0 * last_year.units(364);
        assert!((last_year.units(735) - two_years - 70.0).abs() < 1e-9, "{}", last_year.units(735));
    }

    #[test]
    fn an_item_of_less_than_thirteen_months_has_no_last_year() {
        assert_eq!(LastYear::of(&item(391, |_| 5.0)), None);
        assert!(LastYear::of(&item(392, |_| 5.0)).is_some());
        let late = item(420, |ago| if ago < 380 { 5.0 } else { 0.0 });
        let since = |sold_before| Sales { units: &late, sold_before }.since_the_first();
        assert_eq!(LastYear::of(&since(false)), None);
        assert!(LastYear::of(&since(true)).is_some());
        assert_eq!(LastYear::of(&[]), None);
    }

    #[test]
    fn a_season_ends_when_half_is_left() {
        let after = |left: f64, in_season: f64| {
            let units = item(420, |ago| if ago > 364 { in_season } else { left });
            LastYear::of(&units).unwrap().ended(14, 134)
        };
        assert!(after(4.9, 10.0) && !after(5.1, 10.0));
        assert!(!after(0.0, 0.1), "five units a year ago tell nothing");
    }

    #[test]
    fn a_steady_item_has_no_season_that_ends_beyond_the_year() {
        let steady = LastYear::of(&item(420, |_| 10.0)).unwrap();
        assert!(!steady.ended(320, 440) && !steady.ended(360, 480) && !steady.ended(500, 620));
        let over = LastYear::of(&item(420, |ago| if ago > 364 { 10.0 } else { 1.0 })).unwrap();
        assert!(over.ended(320, 440));
    }

    /// Five a day in the eight weeks up to a year ago and up to now, and one a day after that.
    fn seasonal(days: usize) -> Vec<Option<f64>> {
        item(days, |ago| if ago <= 56 || (365..=420).contains(&ago) { 5.0 } else { 1.0 })
    }

    #[test]
    fn a_young_item_has_the_season_of_its_category_or_of_its_shop() {
        let (old, young, even) = (seasonal(420), item(60, |_| 40.0), item(420, |_| 5.0));
        let mut shop = CategorySales::default();
        [&old, &even].into_iter().for_each(|units| shop.add(Sales::of(units)));
        let shop = shop.shop();
        let of_shop = Category::of([Sales::of(&young)]).or(&shop);
        let category = Category::of([Sales::of(&old), Sales::of(&young)]).or(&shop);
        let (of, year) = category.last_year.unwrap();
        assert_eq!((of, of_shop.last_year.as_ref().map(|(of, _)| *of)), (SeasonOf::Category, Some(SeasonOf::Shop)));
        // The category's 5 a day and the 40 of the item itself, which had 4 days before the last 56.
        assert_eq!(category.level, Some(22.5));
        let unsold = item(420, |_| 0.0);
        assert_eq!(
            Category::of([&old, &unsold, &item(50, |_| 9.0)].map(|units| Sales::of(units))),
            Category::of([Sales::of(&old)])
        );
        let year = year.of_level(40.0);
        // Of 280 units in eight weeks, 56 in the next, with 100 of an even year on both sides; the item sells 2,240.
        assert!((year.units(56) - 2_240.0 * 156.0 / 380.0).abs() < 1e-9, "{}", year.units(56));
        assert!(year.ended(0, 120) && !of_shop.last_year.unwrap().1.of_level(40.0).ended(0, 120));
    }

    #[test]
    fn a_day_out_of_stock_is_an_average_day() {
        let mut units = item(420, |_| 10.0);
        units[60..80].fill(None);
        assert!((LastYear::of(&units).unwrap().units(50) - 500.0).abs() < 1e-9);
    }
}
