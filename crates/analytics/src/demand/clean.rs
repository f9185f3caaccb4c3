//! From order lines to clean daily units: cancellations netted, one-off bulk days bounded, gaps kept as gaps.

/// Units above this on one day are a broken feed, not demand; they are cut to it so that sums stay finite.
pub(super) const MOST_UNITS_A_DAY: f64 = 1e9;
/// One day in this many is bulk…
const BULK_DAYS_IN: usize = 50;
/// …but of the days with sales no more than one in this many.
const BULK_SELLING_DAYS_IN: usize = 4;

/// One order or cancellation line, placed on a day of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitsLine {
    /// Days since the first day of the series.
    pub day: usize,
    /// Units sold; negative for a cancellation.
    pub units: f64,
}

/// Units per day from order lines: a cancellation is taken from the sales of its own day, and a day never falls below
/// zero (what was sold earlier and comes back today is no lack of demand today). Lines beyond `days` or with units that
/// are not finite are ignored.
#[must_use]
pub fn daily_units(days: usize, lines: &[UnitsLine]) -> Vec<f64> {
    let mut units = vec![0.0; days];
    for line in lines.iter().filter(|line| line.units.is_finite()) {
        if let Some(day) = units.get_mut(line.day) {
            *day += line.units;
        }
    }
    for day in &mut units {
        *day = day.clamp(0.0, MOST_UNITS_A_DAY);
    }
    units
}

/// Missing days stay missing, values that are not finite become missing, negative ones zero.
#[must_use]
pub fn clean(units: &[Option<f64>]) -> Vec<Option<f64>> {
    units.iter().map(|day| day.filter(|u| u.is_finite()).map(|u| u.clamp(0.0, MOST_UNITS_A_DAY))).collect()
}

/// The most units a clean day may count for in a level: the day at rank `⌈2 % of the known days⌉` from the top (the fourth
/// largest of half a year), but no deeper than a quarter of the selling days. Larger days are winsorised to it: a single
/// wholesale order says little about tomorrow. Infinite, that is no limit, without sales.
#[must_use]
pub fn bulk_limit(units: &[Option<f64>]) -> f64 {
    let mut selling: Vec<f64> = units.iter().flatten().copied().filter(|&u| u > 0.0).collect();
    let known = units.iter().flatten().count();
    let rank = known.div_ceil(BULK_DAYS_IN).min(selling.len() / BULK_SELLING_DAYS_IN).max(1);
    if selling.is_empty() {
        return f64::INFINITY;
    }
    let (_, limit, _) = selling.select_nth_unstable_by(rank - 1, |a, b| b.total_cmp(a));
    *limit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(units: &[f64]) -> Vec<Option<f64>> {
        units.iter().copied().map(Some).collect()
    }

    #[test]
    fn a_cancellation_is_taken_from_its_own_day_only() {
        let line = |day, units| UnitsLine { day, units };
        let lines =
            [line(0, 5.0), line(0, -2.0), line(1, -9.0), line(1, 4.0), line(2, f64::NAN), line(2, 1.0), line(9, 7.0)];
        assert_eq!(daily_units(3, &lines), [3.0, 0.0, 1.0]);
    }

    #[test]
    fn unusable_values_become_missing_and_gaps_stay_gaps() {
        let dirty = [Some(f64::NAN), Some(f64::NEG_INFINITY), None, Some(-3.0), Some(2.0)];
        assert_eq!(clean(&dirty), [None, None, None, Some(0.0), Some(2.0)]);
    }

    #[test]
    fn half_a_year_is_limited_to_its_fourth_largest_day() {
        let mut units = vec![2.0; 182];
        units.splice(10..14, [500.0, 90.0, 40.0, 30.0]);
        assert_eq!(bulk_limit(&days(&units)), 30.0);
    }

    #[test]
    fn an_item_with_few_selling_days_keeps_its_largest() {
        let mut units = vec![0.0; 182];
        units.splice(10..13, [50.0, 9.0, 4.0]);
        assert_eq!(bulk_limit(&days(&units)), 50.0);
        assert_eq!(bulk_limit(&days(&[0.0, 0.0])), f64::INFINITY);
    }
}
