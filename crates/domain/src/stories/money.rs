//! What an event cost or brought: the distance from what was expected, with its uncertainty.

use serde::{Deserialize, Serialize};

use super::{
    evidence::{Band, DayEvidence, Gauge},
    lever::{Lever, LeverKind, Subject, is_sold_too_cheap, units, usual_units},
};
use crate::daily::Dimension;

text_enum!(
    /// What an amount of a story is an amount of.
    Measure { Profit = "profit", Revenue = "revenue" }
);

/// What an event brought (above zero) or cost (below), in the account's currency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Money {
    /// 10 % of outcomes lie below this.
    pub low: f64,
    pub expected: f64,
    /// 10 % of outcomes lie above this.
    pub high: f64,
    /// Profit where costs are known, else revenue.
    pub measure: Measure,
}

impl Money {
    /// What two events come to together.
    pub(super) fn and(self, other: Self) -> Self {
        let (low, high) = (other.expected - other.low, other.high - other.expected);
        let expected = self.expected + other.expected;
        Self {
            low: expected - (self.expected - self.low).hypot(low),
            expected,
            high: expected + (self.high - self.expected).hypot(high),
            measure: self.measure,
        }
    }
}

/// Half of the range that 80 % of ordinary days fall into, in parts of that for 95 %: chosen on planted incidents.
const OF_BAND: f64 = 0.8;
/// How much further up than down a band reaches from which it is skewed.
const SKEWED: f64 = 1.2;
/// No amount is known better than this, as a part of it.
const LEAST_SPREAD: f64 = 0.02;
/// Correlation of the errors of two days of one event: the level of a week is missed on all of its days.
const CORRELATION: f64 = 0.3;

/// What the days of an event brought or cost by the lever that moved; `None` where it moves no money.
pub fn money(subject: Subject, lever: Option<&Lever>, days: &[DayEvidence]) -> Option<Money> {
    if subject == Subject::Tracking {
        return None;
    }
    let effects: Vec<Effect> = days.iter().filter_map(|day| effect(subject, lever, day)).collect();
    let contribution = days.iter().find_map(|day| day.contribution);
    let measure = match (subject, contribution) {
        (Subject::Sales, None) => Measure::Revenue,
        _ => Measure::Profit,
    };
    (!effects.is_empty()).then(|| {
        let expected = effects.iter().map(|effect| effect.expected).sum();
        let below = together(effects.iter().map(|effect| effect.below));
        let above = together(effects.iter().map(|effect| effect.above));
        Money { low: expected - below, expected, high: expected + above, measure }
    })
}

/// How far below and above its expected value a band for 95 % of days reaches for 80 % of them: a band that reaches further
/// up than down is that of a shifted lognormal distribution, else that of a normal one. One that ends at zero is cut off there:
/// most days reach down to zero as well.
fn most_days(band: &Band) -> (f64, f64) {
    let (below, above) = spread(band);
    if band.low.abs() < f64::EPSILON { (band.expected.max(0.0), above) } else { (below, above) }
}

fn spread(band: &Band) -> (f64, f64) {
    let (below, above) = ((band.expected - band.low).max(0.0), (band.high - band.expected).max(0.0));
    if above <= below * SKEWED || below == 0.0 {
        return (below * OF_BAND, above * OF_BAND);
    }
    // (expected + shift)² = (low + shift) · (high + shift): the distances are in this ratio on the logarithmic scale.
    let ratio = (above / below).powf(OF_BAND);
    let shifted = below / (1.0 - below / above);
    (shifted * (1.0 - 1.0 / ratio), shifted * (ratio - 1.0))
}

/// The effect of one day and how far it may lie below and above.
struct Effect {
    expected: f64,
    below: f64,
    above: f64,
}

impl Effect {
    /// Of a deviation that is worth `per_unit` of money each.
    fn of(band: &Band, per_unit: f64) -> Self {
        let (to_low, to_high) = most_days(band);
        // Where more was to be expected than the middle of the band, more was lost.
        let (below, above) = if per_unit < 0.0 { (to_low, to_high) } else { (to_high, to_low) };
        let expected = band.deviation() * per_unit;
        let least = LEAST_SPREAD * expected.abs();
        Self { expected, below: (below * per_unit.abs()).max(least), above: (above * per_unit.abs()).max(least) }
    }

    fn and(self, other: Self) -> Self {
        let Self { expected, below, above } = other;
        let below = self.below.hypot(below);
        Self { expected: self.expected + expected, below, above: self.above.hypot(above) }
    }
}

fn effect(subject: Subject, lever: Option<&Lever>, day: &DayEvidence) -> Option<Effect> {
    let contribution = day.contribution.unwrap_or(1.0);
    let whole = |gauge, per_unit| day.band(gauge).map(|band| Effect::of(band, per_unit));
    let part = |dimension, gauge, per_unit| {
        let name = lever.and_then(|lever| lever.part.as_deref())?;
        day.part(dimension, name, gauge).map(|band| Effect::of(band, per_unit))
    };
    let of_sales = || match day.contribution {
        // The day's own costs are known: what was sold may leave more or less than usual.
        Some(_) => whole(Gauge::Contribution, 1.0),
        None => whole(Gauge::GrossRevenue, 1.0),
    };
    let by_lever = match (subject, lever.map(|lever| lever.kind)) {
        (Subject::Tracking, _) => None,
        (Subject::Refunds, _) => whole(Gauge::RefundCost, -1.0).or_else(|| whole(Gauge::Refunds, -1.0)),
        (Subject::Ads, _) => part(Dimension::Campaign, Gauge::AdSpend, -1.0).or_else(|| whole(Gauge::AdSpend, -1.0)),
        (Subject::Costs, Some(LeverKind::Expense)) => whole(Gauge::ExtraExpenses, -1.0),
        (Subject::Costs, _) => {
            let of_units = usual_units(day).and_then(|units| whole(Gauge::CostPerUnit, -units));
            let others = whole(Gauge::ExtraExpenses, -1.0);
            of_units.into_iter().chain(others).reduce(Effect::and)
        }
        // Another price changes revenue, and no cost, unless it sold more.
        (Subject::Sales, Some(LeverKind::Price)) if !is_sold_too_cheap(day) => {
            day.band(Gauge::PricePerUnit).zip(units(day)).map(|(price, units)| Effect::of(price, units))
        }
        (Subject::Sales, Some(LeverKind::Platform)) => part(Dimension::Platform, Gauge::GrossRevenue, contribution),
        (Subject::Sales, Some(LeverKind::Country)) => part(Dimension::Country, Gauge::GrossRevenue, contribution),
        (Subject::Sales, Some(LeverKind::Product | LeverKind::StockOut)) => {
            part(Dimension::Product, Gauge::GrossRevenue, contribution)
        }
        // What the ads brought, less what they took. Without costs it is sales that are told, and nothing is taken off them.
        (Subject::Sales, Some(LeverKind::Campaign)) if day.contribution.is_some() => {
            of_sales().zip(whole(Gauge::AdSpend, -1.0)).map(|(sold, spent)| sold.and(spent))
        }
        (Subject::Sales, _) => None,
    };
    by_lever.or_else(|| if subject == Subject::Sales { of_sales() } else { None })
}

/// The spread of a sum of days whose errors are correlated.
fn together(spreads: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = spreads.fold((0.0, 0.0), |(sum, squares), spread| (sum + spread, squares + spread * spread));
    (squares + CORRELATION * (sum * sum - squares)).max(0.0).sqrt()
}
