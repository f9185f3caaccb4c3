//! Which lever moved: something an owner can look at or change, never another name of the metric itself.

use serde::{Deserialize, Serialize};

use super::evidence::{Band, DayEvidence, Gauge};
use crate::{anomalies::Direction, daily::Dimension, metrics::Metric};

text_enum!(
    /// What moved a metric.
    LeverKind {
        /// The shop sold nothing anywhere.
        ClosedDay = "closed_day",
        Platform = "platform",
        Country = "country",
        Product = "product",
        /// The product had no stock.
        StockOut = "stock_out",
        Campaign = "campaign",
        Price = "price",
        /// A few orders were much larger than usual.
        BulkOrder = "bulk_order",
        Traffic = "traffic",
        Conversion = "conversion",
        /// Visits were counted wrong: orders came as usual.
        Tracking = "tracking",
        Refund = "refund",
        /// What goods, fees and shipping of a unit come to.
        Cost = "cost",
        /// Expenses that no unit sold has.
        Expense = "expense",
    }
);

/// The likely lever of a story.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lever {
    pub kind: LeverKind,
    /// Name of the platform, country, product or campaign; `None` where the lever has none.
    pub part: Option<String>,
    /// The part of the deviation that it accounts for, 0 to 1.
    pub share: f64,
    /// Probability, 0 to 1, that it is the right one.
    pub confidence: f64,
}

text_enum!(
    /// What a story is about: of one event and subject there is one story.
    Subject {
        Sales = "sales",
        Refunds = "refunds",
        Ads = "ads",
        Costs = "costs",
        Tracking = "tracking",
    }
);

/// Departure, in half-widths of the band, from which a gauge is out of the ordinary itself.
pub(super) const DEPARTED: f64 = 1.0;
/// Departure within which a gauge counts as usual beside one that departed.
const USUAL: f64 = 0.7;
/// Share of a deviation from which one part of a dimension accounts for it.
const MOST: f64 = 0.6;
/// Share of what is missing from which a platform without orders is the cause.
const HALF: f64 = 0.5;
/// Share of what is expected from which a part is the shop itself, and no part to point at.
const NEARLY_ALL: f64 = 0.85;
/// How much further than the others a part has gone, relative to what was expected of each.
const APART: f64 = 2.0;
/// Confidence where one reading of the day is as good as another, and where nothing else fits.
const EVEN: f64 = 0.5;
const SURE: f64 = 0.95;

impl Subject {
    /// What a story that went this way is known by.
    pub fn key(self, direction: Direction) -> String {
        format!("{self}:{direction}")
    }

    /// The gauge that shows the subject's state.
    pub const fn gauge(self) -> Gauge {
        match self {
            Self::Sales => Gauge::GrossRevenue,
            Self::Refunds => Gauge::Refunds,
            Self::Ads => Gauge::AdSpend,
            Self::Costs => Gauge::Profit,
            Self::Tracking => Gauge::Visitors,
        }
    }

    /// The subject of a metric's deviation on a day: which of them moved the metric that way furthest.
    pub fn of(metric: Metric, is_up: bool, day: &DayEvidence) -> Self {
        let refunds = -day.deviation(Gauge::Refunds);
        let furthest = |effects: &[(Self, f64)]| {
            let toward = |effect: f64| if is_up { effect } else { -effect };
            let best = effects.iter().max_by(|a, b| toward(a.1).total_cmp(&toward(b.1)));
            best.map_or(Self::Sales, |(subject, _)| *subject)
        };
        match metric {
            Metric::Refunds => Self::Refunds,
            Metric::AdSpend => Self::Ads,
            Metric::Conversion if is_tracking(day) => Self::Tracking,
            Metric::GrossRevenue
            | Metric::Orders
            | Metric::Units
            | Metric::Customers
            | Metric::NewCustomers
            | Metric::Aov
            | Metric::Conversion => Self::Sales,
            Metric::NetRevenue => {
                furthest(&[(Self::Sales, day.deviation(Gauge::GrossRevenue)), (Self::Refunds, refunds)])
            }
            Metric::RefundRate => {
                by_departure(day, (Self::Refunds, Gauge::Refunds), (Self::Sales, Gauge::GrossRevenue))
            }
            Metric::Roas | Metric::Cac => {
                by_departure(day, (Self::Ads, Gauge::AdSpend), (Self::Sales, Gauge::GrossRevenue))
            }
            Metric::Profit | Metric::Margin => furthest(&[
                (Self::Sales, of_sales(day)),
                (Self::Refunds, refunds),
                (Self::Ads, -day.deviation(Gauge::AdSpend)),
                (Self::Costs, -of_costs(day)),
            ]),
        }
    }
}

/// Units that were sold, by the day's revenue and price.
pub(super) fn units(day: &DayEvidence) -> Option<f64> {
    let (gross, price) = (day.band(Gauge::GrossRevenue)?.observed, day.band(Gauge::PricePerUnit)?.observed);
    (price > 0.0).then(|| gross / price)
}

/// Units of a usual day.
pub(super) fn usual_units(day: &DayEvidence) -> Option<f64> {
    let (gross, price) = (day.band(Gauge::GrossRevenue)?.expected, day.band(Gauge::PricePerUnit)?.expected);
    (price > 0.0).then(|| gross / price)
}

/// What sales took from profit or brought: another price all of it, more or fewer units what is left of them.
fn of_sales(day: &DayEvidence) -> f64 {
    let by_price = units(day).unwrap_or(0.0) * day.deviation(Gauge::PricePerUnit);
    by_price + (day.deviation(Gauge::GrossRevenue) - by_price) * day.contribution.unwrap_or(1.0)
}

/// What the costs of units rose by. Units that cost more where their price departs as well are other units: that is a matter of
/// sales.
fn of_unit_costs(day: &DayEvidence) -> f64 {
    let is_of_costs =
        day.departure(Gauge::PricePerUnit).abs() < USUAL && day.departure(Gauge::CostPerUnit).abs() >= DEPARTED;
    if is_of_costs { usual_units(day).unwrap_or(0.0) * day.deviation(Gauge::CostPerUnit) } else { 0.0 }
}

/// What costs rose by.
fn of_costs(day: &DayEvidence) -> f64 {
    day.deviation(Gauge::ExtraExpenses) + of_unit_costs(day)
}

fn by_departure(day: &DayEvidence, first: (Subject, Gauge), second: (Subject, Gauge)) -> Subject {
    let departed = |gauge| day.departure(gauge).abs();
    if departed(first.1) >= departed(second.1) { first.0 } else { second.0 }
}

/// Visits far from usual while orders came as ever: what counts them is at fault. So it is where far fewer visits were counted
/// and more was ordered; of more visits with fewer orders the shop may be the reason.
fn is_tracking(day: &DayEvidence) -> bool {
    let (visits, orders) = (day.departure(Gauge::Visitors), day.departure(Gauge::Orders));
    if visits < 0.0 { visits <= -DEPARTED && orders > -USUAL } else { visits >= DEPARTED && orders.abs() < USUAL }
}

/// The lever of a subject on a day; `None` when nothing known accounts for the deviation.
pub fn lever(subject: Subject, day: &DayEvidence) -> Option<Lever> {
    match subject {
        Subject::Sales => sales(day),
        Subject::Refunds => Some(refunds(day)),
        Subject::Ads => {
            Some(campaign(day).unwrap_or_else(|| simple(LeverKind::Campaign, day.departure(Gauge::AdSpend))))
        }
        Subject::Costs => Some(costs(day)),
        Subject::Tracking => Some(simple(LeverKind::Tracking, day.departure(Gauge::Visitors))),
    }
}

/// A lever that is the subject itself: the surer the further the gauge went.
fn simple(kind: LeverKind, departure: f64) -> Lever {
    let confidence = (EVEN + 0.3 * departure.abs()).clamp(EVEN, SURE);
    Lever { kind, part: None, share: 1.0, confidence }
}

/// Refunds, of one product where most of them are.
fn refunds(day: &DayEvidence) -> Lever {
    let lever = simple(LeverKind::Refund, day.departure(Gauge::Refunds));
    let of_product = || apart(day, Dimension::Product, Gauge::Refunds, day.band(Gauge::Refunds)?);
    match of_product() {
        Some((part, share)) => Lever { part: Some(part), share, ..lever },
        None => lever,
    }
}

/// Expenses, or what a unit costs: whichever took more.
fn costs(day: &DayEvidence) -> Lever {
    let (of_expenses, of_units) = (day.deviation(Gauge::ExtraExpenses).abs(), of_unit_costs(day).abs());
    let (kind, gauge, own) = if of_expenses > of_units {
        (LeverKind::Expense, Gauge::ExtraExpenses, of_expenses)
    } else {
        (LeverKind::Cost, Gauge::CostPerUnit, of_units)
    };
    let both = of_expenses + of_units;
    Lever { share: if both > 0.0 { own / both } else { 1.0 }, ..simple(kind, day.departure(gauge)) }
}

fn sales(day: &DayEvidence) -> Option<Lever> {
    let orders = day.band(Gauge::Orders)?;
    if orders.observed <= 0.0 && orders.departure() <= -DEPARTED {
        return Some(Lever { kind: LeverKind::ClosedDay, part: None, share: 1.0, confidence: 0.99 });
    }
    if is_sold_too_cheap(day) {
        let part = product(day).filter(|product| has_another_price(day, product));
        return Some(Lever { part, ..simple(LeverKind::Price, day.departure(Gauge::PricePerUnit)) });
    }
    let factors = [Gauge::Orders, Gauge::UnitsPerOrder, Gauge::PricePerUnit];
    let (gauge, share, confidence) = strongest(day, &factors)?;
    let named = |kind, part| Some(Lever { kind, part, share, confidence });
    match gauge {
        Gauge::PricePerUnit => match product(day) {
            // Much of a product that is dearer or cheaper than others, at its own price.
            Some(product) if !has_another_price(day, &product) && !is_down(day) => {
                named(LeverKind::BulkOrder, Some(product))
            }
            product => named(LeverKind::Price, product),
        },
        Gauge::UnitsPerOrder if day.departure(Gauge::UnitsPerOrder) > 0.0 => named(LeverKind::BulkOrder, product(day)),
        Gauge::UnitsPerOrder => product(day).and_then(|part| named(LeverKind::Product, Some(part))),
        _ => {
            let one_of = |dimension, kind| {
                // Orders have products, and products no orders.
                let (gauge, whole) = match kind {
                    LeverKind::Product => (Gauge::GrossRevenue, day.band(Gauge::GrossRevenue)?),
                    _ => (Gauge::Orders, orders),
                };
                let (part, of_deviation) = apart(day, dimension, gauge, whole)?;
                let share = share * of_deviation;
                Some(Lever { kind, part: Some(part), share, confidence: confidence * of_deviation.min(SURE) })
            };
            silent_platform(day)
                .map(|(part, share)| Lever { kind: LeverKind::Platform, part: Some(part), share, confidence: SURE })
                .or_else(|| one_of(Dimension::Platform, LeverKind::Platform))
                .or_else(|| one_of(Dimension::Country, LeverKind::Country))
                .or_else(|| one_of(Dimension::Product, LeverKind::Product))
                .or_else(|| visits(day, share * confidence))
        }
    }
}

/// As much or more was taken, and less is left of it: at the lower price more was sold, and each unit brought less than it costs.
pub(super) fn is_sold_too_cheap(day: &DayEvidence) -> bool {
    let is_less = |gauge| day.departure(gauge) <= -DEPARTED;
    !is_down(day) && is_less(Gauge::PricePerUnit) && is_less(Gauge::Contribution)
}

fn is_down(day: &DayEvidence) -> bool {
    day.deviation(Gauge::GrossRevenue) < 0.0
}

fn has_another_price(day: &DayEvidence, product: &str) -> bool {
    let price = day.part(Dimension::Product, product, Gauge::PricePerUnit);
    price.is_some_and(|price| price.departure().abs() >= DEPARTED)
}

/// Orders by visits: fewer came, or fewer of them bought.
fn visits(day: &DayEvidence, confidence: f64) -> Option<Lever> {
    let (orders, visitors) = (day.band(Gauge::Orders)?.log_change()?, day.band(Gauge::Visitors)?.log_change()?);
    let of_visits = if orders == 0.0 { return None } else { visitors / orders };
    let visits_hold = day.band(Gauge::Visitors).is_some_and(Band::holds);
    let (kind, share) = if of_visits >= MOST && !visits_hold {
        (LeverKind::Traffic, of_visits.min(1.0))
    } else if of_visits <= 1.0 - MOST {
        (LeverKind::Conversion, (1.0 - of_visits).min(1.0))
    } else {
        return None;
    };
    Some(Lever { kind, part: None, share, confidence })
}

/// Of factors of a product that went its way the one that departed furthest, with its share of the change (by logarithms)
/// and how surely it is the one.
fn strongest(day: &DayEvidence, factors: &[Gauge]) -> Option<(Gauge, f64, f64)> {
    let weighed: Vec<(Gauge, f64, f64)> = factors
        .iter()
        .filter_map(|gauge| {
            let band = day.band(*gauge)?;
            let change = band.log_change().unwrap_or(if band.observed <= 0.0 { -LARGEST_CHANGE } else { 0.0 });
            let change = change.clamp(-LARGEST_CHANGE, LARGEST_CHANGE);
            Some((*gauge, change, change.abs() * band.departure().powi(2)))
        })
        .collect();
    let total: f64 = weighed.iter().map(|(_, change, _)| change).sum();
    let sum: f64 = weighed.iter().map(|(_, _, weight)| weight).sum();
    let went_with_it = weighed.into_iter().filter(|(_, change, _)| total == 0.0 || change * total > 0.0);
    let (gauge, change, weight) = went_with_it.max_by(|a, b| a.2.total_cmp(&b.2))?;
    if sum <= 0.0 {
        return None;
    }
    let share = if total.abs() > f64::EPSILON { (change / total).clamp(0.0, 1.0) } else { 1.0 };
    Some((gauge, share, (weight / sum).clamp(EVEN, SURE)))
}

/// What a factor that fell to nothing counts as, in logarithms.
const LARGEST_CHANGE: f64 = 5.0;

/// A platform without a single order on a day on which some were expected for sure, and its share of what is missing.
fn silent_platform(day: &DayEvidence) -> Option<(String, f64)> {
    let missing = -day.deviation(Gauge::Orders);
    let silent = day
        .parts_of(Dimension::Platform, Gauge::Orders)
        .filter(|part| part.band.observed <= 0.0 && part.band.departure() <= -DEPARTED)
        .max_by(|a, b| a.band.expected.total_cmp(&b.band.expected))?;
    let share = if missing > 0.0 { (silent.band.expected / missing).clamp(0.0, 1.0) } else { return None };
    (share >= HALF).then(|| (silent.value.clone(), share))
}

/// The part of a dimension that accounts for most of a deviation and has gone much further than the others together.
fn apart(day: &DayEvidence, dimension: Dimension, gauge: Gauge, whole: &Band) -> Option<(String, f64)> {
    let deviation = whole.deviation();
    let furthest = day
        .parts_of(dimension, gauge)
        .max_by(|a, b| (a.band.deviation() / deviation).total_cmp(&(b.band.deviation() / deviation)))?;
    let share = furthest.band.deviation() / deviation;
    let relative = |deviation: f64, expected: f64| deviation.abs() / expected.abs().max(1.0);
    let others = deviation - furthest.band.deviation();
    // What went the other way did not go with it.
    let rest = if others * deviation < 0.0 { 0.0 } else { relative(others, whole.expected - furthest.band.expected) };
    let own = relative(furthest.band.deviation(), furthest.band.expected);
    let is_part = furthest.band.expected <= NEARLY_ALL * whole.expected;
    let stands_out = is_part && share >= MOST && furthest.band.departure().abs() >= USUAL && own >= APART * rest;
    stands_out.then(|| (furthest.value.clone(), share.min(1.0)))
}

/// The product that most of the change in revenue comes from.
fn product(day: &DayEvidence) -> Option<String> {
    let whole = day.band(Gauge::GrossRevenue)?;
    apart(day, Dimension::Product, Gauge::GrossRevenue, whole).map(|(product, _)| product)
}

fn campaign(day: &DayEvidence) -> Option<Lever> {
    let whole = day.band(Gauge::AdSpend)?;
    let (part, share) = apart(day, Dimension::Campaign, Gauge::AdSpend, whole)?;
    let confidence = (share * SURE).clamp(EVEN, SURE);
    Some(Lever { kind: LeverKind::Campaign, part: Some(part), share, confidence })
}
