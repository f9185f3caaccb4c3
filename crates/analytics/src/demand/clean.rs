//! From order lines to clean daily units: cancellations netted, one-off bulk days winsorised, gaps kept as gaps.

/// Units above this on one day are a broken feed, not demand; they are cut to it so that sums stay finite.
pub(super) const MOST_UNITS_A_DAY: f64 = 1e9;
/// A day is bulk when it exceeds this multiple of the third largest day…
const BULK_MULTIPLE: f64 = 4.0;
/// …and one-off when at least this many other selling days stay below it.
const FEWEST_SELLING_DAYS: usize = 8;

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

/// Missing days stay missing, values that are not finite become missing, negative ones zero, and one-off bulk days are
/// winsorised to [`bulk_limit`].
#[must_use]
pub fn clean(units: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut clean: Vec<Option<f64>> = units
        .iter()
        .map(|day| {
            day.filter(|u| u.is_finite())
                .map(|u| u.clamp(0.0, MOST_UNITS_A_DAY))
        })
        .collect();
    if let Some(limit) = bulk_limit(&clean) {
        for day in clean.iter_mut().flatten() {
            *day = day.min(limit);
        }
    }
    clean
}

/// The most units a day may count for: four times the third largest day. The two largest days thus never set their own
/// limit, while an item that sells in bulk regularly keeps its bulk days. `None` with too few selling days to tell.
#[must_use]
pub fn bulk_limit(units: &[Option<f64>]) -> Option<f64> {
    let mut selling: Vec<f64> = units
        .iter()
        .flatten()
        .copied()
        .filter(|&u| u > 0.0)
        .collect();
    if selling.len() < FEWEST_SELLING_DAYS {
        return None;
    }
    let (_, third_largest, _) = selling.select_nth_unstable_by(2, |a, b| b.total_cmp(a));
    Some(*third_largest * BULK_MULTIPLE)
}
