//! Demand per item and day: cleaning, classification, level, and the forecast built from them.
//!
//! The level is the mean of the last 56 days, weighed by the store's weekday profile; items that sell too seldom for that
//! use Teunter–Syntetos–Babai, young ones are drawn to their category. Stock-out days are missing, not zero.

mod clean;
mod intermittent;
mod level;
mod model;
mod rhythm;
mod season;

pub use clean::{UnitsLine, bulk_limit, clean, daily_units};
pub use intermittent::{CLASSIC_ALPHA, croston, syntetos_boylan, teunter_syntetos_babai};
pub use model::{DemandModel, Forecast, Method, Sales};
pub use rhythm::StoreRhythm;
pub use season::{Category, CategorySales, HISTORY_DAYS, SeasonOf};

use serde::{Deserialize, Serialize};

/// Why no demand could be estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Insufficient {
    /// Not one day with a usable number of units.
    #[error("insufficient history: no day with known sales")]
    NoHistory,
}

/// Demand pattern by average interval between selling days and squared coefficient of variation of their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DemandClass {
    /// Sells often, in similar quantities.
    Smooth,
    /// Sells often, in very different quantities.
    Erratic,
    /// Sells seldom, in similar quantities.
    Intermittent,
    /// Sells seldom, in very different quantities.
    Lumpy,
    /// Never sold.
    NoSales,
}

/// Boundaries of A. A. Syntetos, J. E. Boylan and J. D. Croston, "On the categorization of demand patterns", *Journal of
/// the Operational Research Society* 56 (2005).
const INTERVAL_BOUNDARY: f64 = 1.32;
const SQUARED_CV_BOUNDARY: f64 = 0.49;

/// Class of a clean series of daily units; missing days count neither as selling nor as idle.
#[must_use]
pub fn classify(units: &[Option<f64>]) -> DemandClass {
    let known = units.iter().flatten().filter(|u| u.is_finite());
    let (mut days, mut selling, mut mean, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for &day in known {
        days += 1.0;
        if day > 0.0 {
            selling += 1.0;
            // Welford: stable for large units
            let delta = day - mean;
            mean += delta / selling;
            squares += delta * (day - mean);
        }
    }
    if selling < 1.0 {
        return DemandClass::NoSales;
    }
    let interval = days / selling;
    let squared_cv = squares / selling / (mean * mean);
    match (interval < INTERVAL_BOUNDARY, squared_cv < SQUARED_CV_BOUNDARY) {
        (true, true) => DemandClass::Smooth,
        (true, false) => DemandClass::Erratic,
        (false, true) => DemandClass::Intermittent,
        (false, false) => DemandClass::Lumpy,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[4.0, 5.0, 4.0, 6.0], DemandClass::Smooth)]
    #[case(&[1.0, 1.0, 1.0, 30.0], DemandClass::Erratic)]
    #[case(&[0.0, 5.0, 0.0, 4.0, 0.0, 0.0], DemandClass::Intermittent)]
    #[case(&[0.0, 1.0, 0.0, 90.0, 0.0, 1.0, 1.0, 0.0], DemandClass::Lumpy)]
    #[case(&[0.0, 0.0], DemandClass::NoSales)]
    #[case(&[], DemandClass::NoSales)]
    fn class_by_interval_and_variability(#[case] units: &[f64], #[case] class: DemandClass) {
        let units: Vec<Option<f64>> = units.iter().copied().map(Some).collect();
        assert_eq!(classify(&units), class);
    }

    #[test]
    fn days_out_of_stock_are_no_interval() {
        assert_eq!(classify(&[Some(4.0), None, None, None, Some(4.0)]), DemandClass::Smooth);
    }
}
