//! Stock-outs of the best-selling products under a simulated policy.

use analytics::{exposure::Spread, exposure::shortfall};
use domain::risks::STOCKOUT_PROBABILITY;
use serde_json::json;

use super::{CONTRIBUTION, Raised, Score, mondays};
use crate::{
    daily::{print, round},
    reorder::Span,
    skus::{Sku, Skus, mean},
};

/// How the stock came about that the histories lack.
pub const POLICY: &str = "starts with 21 days of the mean of the 30 before; each Monday orders up to that, what is on order \
    included; arrives 14 days later; what is not in stock is lost";
const COVER_DAYS: f64 = 21.0;
const LEAD_TIME: usize = 14;
const MEAN_DAYS: usize = 30;

pub fn run(skus: &Skus) -> anyhow::Result<Score> {
    let span = Span::of(skus);
    let items = skus.some_best_sellers(span.start)?;
    let mut stocks: Vec<Stock> = items.iter().map(|item| Stock::start(item, span.start)).collect();
    let mut score = Score::default();
    let mut calibration = [(); 10].map(|()| (Vec::new(), Vec::new()));
    let origins = mondays(&skus.days, span.start + MEAN_DAYS, LEAD_TIME);
    for until in span.start..span.end.min(skus.days.len().saturating_sub(LEAD_TIME)) {
        let rhythm = origins.contains(&until).then(|| skus.rhythm(until));
        for (item, stock) in items.iter().zip(&mut stocks) {
            stock.receive(until);
            if let Some(rhythm) = &rhythm {
                let model = item.model(until, rhythm, None)?;
                let found = shortfall(|days| model.window(days), LEAD_TIME, stock.on_hand, stock.on_order());
                let missed = stock.clone().missed(item, until);
                let decile = ((10.0 * found.probability) as usize).min(9);
                if let Some((stated, came)) = calibration.get_mut(decile) {
                    stated.push(found.probability);
                    came.push(if missed > 0.0 { 1.0 } else { 0.0 });
                }
                if found.probability >= STOCKOUT_PROBABILITY {
                    let unit = CONTRIBUTION * item.price;
                    let Spread { low, expected, high } = found.units.times(unit);
                    let before = stock.missed.iter().rev().take(MEAN_DAYS).sum::<f64>();
                    score.raised(Raised {
                        range: Spread { low: 0.5 * low, expected, high },
                        lost: missed * unit,
                        lost_before: before * unit * LEAD_TIME as f64 / MEAN_DAYS as f64,
                    });
                }
            }
            // Orders of the day come after the assessment.
            if (until - span.start).is_multiple_of(7) {
                stock.order(item, until);
            }
            stock.sell(item, until);
        }
    }
    for (decile, (stated, came)) in calibration.iter().enumerate().filter(|(_, (stated, _))| !stated.is_empty()) {
        print(&json!({
            "protocol": "R1", "type": "stockout", "decile": decile + 1, "assessed": stated.len(),
            "stated": round(mean(stated)), "came": round(mean(came)),
        }))?;
    }
    Ok(score)
}

/// The simulated stock of an item.
#[derive(Clone)]
struct Stock {
    on_hand: f64,
    /// Day of arrival, and units.
    orders: Vec<(usize, f64)>,
    /// Units that were not in stock, by day.
    missed: Vec<f64>,
}

impl Stock {
    fn start(item: &Sku, day: usize) -> Self {
        Self { on_hand: (COVER_DAYS * mean(item.last(day, MEAN_DAYS))).ceil(), orders: Vec::new(), missed: Vec::new() }
    }

    fn on_order(&self) -> f64 {
        self.orders.iter().map(|(_, units)| units).sum()
    }

    fn receive(&mut self, day: usize) {
        self.on_hand += self.orders.iter().filter(|(arrival, _)| *arrival == day).map(|(_, units)| units).sum::<f64>();
        self.orders.retain(|(arrival, _)| *arrival > day);
    }

    fn order(&mut self, item: &Sku, day: usize) {
        let level = COVER_DAYS * mean(item.last(day, MEAN_DAYS));
        let units = (level - self.on_hand - self.on_order()).ceil();
        if units > 0.0 {
            self.orders.push((day + LEAD_TIME, units));
        }
    }

    fn sell(&mut self, item: &Sku, day: usize) {
        let wanted = item.units.get(day).copied().unwrap_or_default().max(0.0);
        let sold = wanted.min(self.on_hand);
        self.on_hand -= sold;
        self.missed.push(wanted - sold);
    }

    /// Units that are missed before an order of `day` arrives.
    fn missed(mut self, item: &Sku, day: usize) -> f64 {
        self.missed.clear();
        for day in day..day + LEAD_TIME {
            self.receive(day);
            self.sell(item, day);
        }
        self.missed.iter().sum()
    }
}
