//! The eight kinds of incidents, and how far each moves its metric.

use std::collections::BTreeSet;

use analytics::detector::{Baseline, DailySeries, HISTORY_DAYS};
use domain::{
    metrics::{Metric, Sums},
    stories::{LeverKind, StockOut},
};
use rust_decimal::prelude::ToPrimitive;

use super::world::{Book, Line, Order, World, range};

/// Half-widths of its day's expected interval that an incident moves its metric by, at least.
const LEAST: f64 = 1.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Outage,
    ClosedDay,
    PriceError,
    RefundWave,
    StockOut,
    DearerAd,
    BulkOrder,
    BrokenTracking,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outage => "outage",
            Self::ClosedDay => "closed_day",
            Self::PriceError => "price_error",
            Self::RefundWave => "refund_wave",
            Self::StockOut => "stock_out",
            Self::DearerAd => "dearer_ad",
            Self::BulkOrder => "bulk_order",
            Self::BrokenTracking => "broken_tracking",
        }
    }
}

/// A planted incident and what is true of it.
#[derive(Clone)]
pub struct Incident {
    pub kind: Kind,
    /// Numbers of its first and last day.
    pub first: usize,
    pub last: usize,
    pub lever: LeverKind,
    pub part: Option<String>,
    /// What it brought or cost in profit.
    pub money: f64,
    pub stock_out: Option<StockOut>,
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % bound.max(1) as u64).unwrap_or_default()
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len())).copied()
    }
}

/// Plants an incident of a kind into the days from `at` on, if it can move its metric far enough there. `clean` is the
/// world as it was.
pub fn plant(clean: &World, days: &mut [Book], kind: Kind, at: usize, draw: &mut Draw) -> Option<Incident> {
    let shape = Shape::draw(clean, kind, at, draw)?;
    let last = at + shape.days - 1;
    let mut changed: Vec<Book> = days.get(at..=last)?.to_vec();
    for book in &mut changed {
        shape.apply(book);
    }
    let moved = departure(clean, &shape, at, changed.first()?)?;
    if moved < LEAST {
        return None;
    }
    let profit = |books: &[Book]| -> f64 {
        let days = books.iter().enumerate().map(|(i, book)| clean.totals(at + i, book));
        days.filter_map(|day| day.components().final_profit().to_f64()).sum()
    };
    let money = profit(&changed) - profit(days.get(at..=last)?);
    days.get_mut(at..=last)?.clone_from_slice(&changed);
    let part = shape.part.map(|part| clean.names.text(part).to_owned());
    let stock_out = part.clone().filter(|_| kind == Kind::StockOut);
    Some(Incident {
        kind,
        first: at,
        last,
        lever: shape.lever(),
        part: part.filter(|_| !matches!(kind, Kind::PriceError | Kind::BulkOrder)),
        money,
        stock_out: stock_out.map(|sku| StockOut { sku, span: range(clean, at, last), is_on_order: false }),
    })
}

struct Shape {
    kind: Kind,
    days: usize,
    strength: f64,
    part: Option<u32>,
    /// A usual day's takings, refunds.
    usual: f64,
    line: Option<Line>,
    country: u32,
    platform: u32,
}

impl Shape {
    fn draw(clean: &World, kind: Kind, at: usize, draw: &mut Draw) -> Option<Self> {
        let before = clean.days.get(at.checked_sub(28)?..at)?;
        let orders: Vec<&Order> = before.iter().flat_map(|book| &book.orders).collect();
        let some = *orders.get(draw.below(orders.len()))?;
        let gross: f64 = orders.iter().flat_map(|order| &order.lines).map(|line| line.units as f64 * line.price).sum();
        let refunds: f64 = before.iter().flat_map(|book| &book.refunds).sum();
        let (days, strength): (&[usize], &[f64]) = match kind {
            Kind::Outage => (&[1], &[1.0]),
            Kind::ClosedDay => (&[1], &[1.0]),
            Kind::PriceError => (&[1, 2], &[0.02, 0.1, 0.2, 0.3, 0.5, 3.0, 10.0]),
            Kind::RefundWave => (&[1, 2, 3], &[4.0, 8.0, 12.0, 20.0]),
            Kind::StockOut => (&[3, 5, 8, 10], &[1.0]),
            Kind::DearerAd => (&[5, 8, 12], &[1.6, 2.0, 2.6, 4.0]),
            Kind::BulkOrder => (&[1], &[1.5, 2.0, 3.0, 5.0]),
            Kind::BrokenTracking => (&[1, 2, 4], &[0.0, 0.1, 0.25, 0.4]),
        };
        let part = match kind {
            Kind::Outage => Some(some.platform),
            Kind::StockOut => best_seller(&orders, draw),
            Kind::DearerAd => {
                before.last().and_then(|book| book.ads.get(draw.below(book.ads.len())).map(|ad| ad.campaign))
            }
            _ => None,
        };
        let usual = match kind {
            Kind::RefundWave => (refunds / 28.0).max(0.005 * gross / 28.0),
            _ => gross / 28.0,
        };
        Some(Self {
            kind,
            days: draw.one_of(days)?,
            strength: draw.one_of(strength)?,
            part,
            usual,
            line: some.lines.iter().find(|line| line.sku.is_some()).cloned(),
            country: some.country,
            platform: some.platform,
        })
    }

    const fn lever(&self) -> LeverKind {
        match self.kind {
            Kind::Outage => LeverKind::Platform,
            Kind::ClosedDay => LeverKind::ClosedDay,
            Kind::PriceError => LeverKind::Price,
            Kind::RefundWave => LeverKind::Refund,
            Kind::StockOut => LeverKind::StockOut,
            Kind::DearerAd => LeverKind::Campaign,
            Kind::BulkOrder => LeverKind::BulkOrder,
            Kind::BrokenTracking => LeverKind::Tracking,
        }
    }

    fn apply(&self, book: &mut Book) {
        match self.kind {
            Kind::ClosedDay => book.orders.clear(),
            Kind::Outage => book.orders.retain(|order| Some(order.platform) != self.part),
            Kind::PriceError => {
                for line in book.orders.iter_mut().flat_map(|order| &mut order.lines) {
                    line.price *= if line.sku.is_some() { self.strength } else { 1.0 };
                }
            }
            // A wave is many refunds of what an order is worth.
            Kind::RefundWave => book.refunds.extend(std::iter::repeat_n(self.usual * self.strength / 12.0, 12)),
            Kind::StockOut => {
                for order in &mut book.orders {
                    order.lines.retain(|line| line.sku != self.part);
                }
                book.orders.retain(|order| !order.lines.is_empty());
            }
            Kind::DearerAd => {
                for ad in book.ads.iter_mut().filter(|ad| Some(ad.campaign) == self.part) {
                    ad.spend *= self.strength;
                }
            }
            Kind::BulkOrder => {
                if let Some(line) = &self.line {
                    let units = (self.usual * self.strength / line.price).ceil().max(1.0) as i64;
                    book.orders.push(Order {
                        platform: self.platform,
                        country: self.country,
                        customer: None,
                        lines: vec![Line { units, ..line.clone() }],
                        fees: 0.0,
                        shipping: 0.0,
                    });
                }
            }
            Kind::BrokenTracking => {
                for visitors in book.visitors.values_mut() {
                    *visitors = (*visitors as f64 * self.strength) as i64;
                }
            }
        }
    }

    /// The metric that the kind moves, by day.
    fn metric(&self, clean: &World, at: usize, book: &Book) -> Option<f64> {
        let day = clean.totals(at, book);
        let of = |metric: Metric| metric.of(&Sums::from(&day))?.to_f64();
        match self.kind {
            Kind::Outage | Kind::ClosedDay => of(Metric::Orders),
            Kind::PriceError => of(Metric::Aov),
            Kind::RefundWave => of(Metric::Refunds),
            Kind::DearerAd => of(Metric::AdSpend),
            Kind::BulkOrder => of(Metric::GrossRevenue),
            Kind::BrokenTracking => Some(day.visitors as f64),
            Kind::StockOut => {
                let lines = book.orders.iter().flat_map(|order| &order.lines).filter(|line| line.sku == self.part);
                Some(lines.map(|line| line.units as f64).sum())
            }
        }
    }
}

/// One of the five products that brought most.
fn best_seller(orders: &[&Order], draw: &mut Draw) -> Option<u32> {
    let skus: BTreeSet<u32> = orders.iter().flat_map(|order| &order.lines).filter_map(|line| line.sku).collect();
    let brought = |sku: u32| -> f64 {
        let lines = orders.iter().flat_map(|order| &order.lines).filter(|line| line.sku == Some(sku));
        lines.map(|line| line.units as f64 * line.price).sum()
    };
    let mut ranked: Vec<(f64, u32)> = skus.into_iter().map(|sku| (brought(sku), sku)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.get(draw.below(ranked.len().min(5))).map(|(_, sku)| *sku)
}

/// How many half-widths of its expected interval the day's metric is moved by; `None` where nothing is expected.
fn departure(clean: &World, shape: &Shape, at: usize, changed: &Book) -> Option<f64> {
    let start = at.checked_sub(HISTORY_DAYS)?;
    let history = clean.days.get(start..at)?.iter().enumerate();
    let values: Vec<Option<f64>> = history.map(|(i, book)| shape.metric(clean, start + i, book)).collect();
    let series = DailySeries { first: clean.date(start), values: &values };
    if clean.holidays.contains(&clean.date(at)) {
        return None;
    }
    let weekday = clean.date(at).weekday();
    let baseline = Baseline::fit(series, &clean.holidays).ok()?;
    let was = shape.metric(clean, at, clean.days.get(at)?)?;
    // A day without orders has no value to be moved from, and a closed one nothing to be closed.
    let is = shape.metric(clean, at, changed)?;
    let score = baseline.score(was, weekday).ok()?;
    let (interval, expected) = (score.interval, score.expected);
    // Of an interval that reaches further up than down, the side that the metric goes to.
    let half = if is > expected { interval.high - expected } else { expected - interval.low };
    (was > 0.0 || shape.kind == Kind::RefundWave).then_some(())?;
    // The incident is to be seen from what is expected as well as from what the day would have been.
    (half > 0.0).then(|| ((is - was).abs() / half).min((is - expected).abs() / half))
}
