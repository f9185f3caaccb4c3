//! Protocols I1 and I2: order-up-to levels over a lead time of 14 days and a review period of 7, on real demand.
//!
//! I1 simulates periodic review with lost sales for a range of service levels and reads off the stock (in days of demand,
//! by value) that a fill rate of 90 % takes. I2 scores the levels as quantiles of the 21-day demand: coverage, and pinball
//! loss relative to the demand. Items: the 500 with the highest revenue in the 180 days before the start.

use std::path::Path;

use analytics::demand::DemandClass;
use analytics::negbin::NegBin;
use analytics::reorder::{ServiceGoal, SupplyTerms, suggest};
use serde_json::{Value, json};
use time::macros::date;

use crate::daily::{print, round};
use crate::skus::{Sku, Skus, mean};

const LEAD_TIME: usize = 14;
const REVIEW: usize = 7;
const PROTECTION: usize = LEAD_TIME + REVIEW;
/// Service levels with their standard normal quantiles.
const SIMULATED: [(f64, f64); 7] =
    [(0.5, 0.0), (0.6915, 0.5), (0.8, 0.842), (0.9, 1.282), (0.95, 1.645), (0.98, 2.054), (0.99, 2.326)];
const SCORED: [(f64, f64); 4] = [(0.5, 0.0), (0.8, 0.841_621_2), (0.9, 1.281_551_6), (0.95, 1.644_853_6)];
const METHODS: [&str; 3] = ["ours", "negbin", "textbook"];

/// Days of the simulation: 2011-03-01 to 2011-11-30 where the data holds them, else from the first quarter to the end.
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn of(skus: &Skus) -> Self {
        let fixed = skus.until(date!(2011 - 03 - 01)).zip(skus.until(date!(2011 - 11 - 30)));
        let (start, end) = fixed.map_or((skus.days.len() / 4, skus.days.len()), |(start, last)| (start, last + 1));
        Self { start, end }
    }
}

pub fn run(data: &Path) -> anyhow::Result<()> {
    let skus = Skus::load(data)?;
    let span = Span::of(&skus);
    let items = skus.some_best_sellers(span.start)?;
    for method in METHODS {
        print(&simulated(method, &skus, &items, &span)?)?;
    }
    for method in METHODS {
        scored(method, "best_sellers", &skus, &span, |_| items.clone())?;
    }
    scored("ours", "first_sold_7_to_55_days_ago", &skus, &span, |until| skus.young(until))
}

/// Order-up-to level per service level and item on a day, and the items' confidence.
struct Levels {
    up_to: Vec<Vec<f64>>,
    confidence: Vec<Vec<f64>>,
    frequent: Vec<bool>,
}

fn levels(method: &str, skus: &Skus, items: &[&Sku], until: usize, goals: &[(f64, f64)]) -> anyhow::Result<Levels> {
    let rhythm = skus.rhythm(until);
    let index = (1..=PROTECTION).map(|ahead| rhythm.yearly_index(ahead)).sum::<f64>() / PROTECTION as f64;
    let mut levels = Levels { up_to: Vec::new(), confidence: Vec::new(), frequent: Vec::new() };
    let (_, store) = skus.categories(until);
    let models =
        items.iter().map(|item| item.model(until, &rhythm, Some(&store))).collect::<anyhow::Result<Vec<_>>>()?;
    levels.frequent = models.iter().map(|m| matches!(m.class(), DemandClass::Smooth | DemandClass::Erratic)).collect();
    for &(service, z) in goals {
        let suggestions: Vec<(f64, f64)> = items
            .iter()
            .zip(&models)
            .map(|(item, model)| match method {
                "ours" => {
                    let terms = SupplyTerms {
                        lead_time_days: LEAD_TIME as f64,
                        lead_time_sd: 0.0,
                        review_days: REVIEW as f64,
                        pack_size: 1,
                        minimum_order: 0,
                        service: ServiceGoal::Fixed(service),
                    };
                    let suggestion = suggest(model, 0.0, 0.0, &terms);
                    (suggestion.order_up_to as f64, suggestion.confidence)
                }
                "negbin" => (plain_negbin(item, until, index, service), service),
                _ => (textbook(item, until, z), service),
            })
            .collect();
        let (up_to, confidence) = suggestions.into_iter().unzip();
        levels.up_to.push(up_to);
        levels.confidence.push(confidence);
    }
    Ok(levels)
}

/// 30-day mean over the protection period plus `z` daily standard deviations (of 90 days) times its square root.
fn textbook(item: &Sku, until: usize, z: f64) -> f64 {
    let days = item.last(until, 90);
    let centre = mean(days);
    let variance = days.iter().map(|u| (u - centre).powi(2)).sum::<f64>() / (days.len() as f64 - 1.0).max(1.0);
    let level = mean(item.last(until, 30)) * PROTECTION as f64 + z * (variance * PROTECTION as f64).sqrt();
    level.max(0.0).ceil()
}

/// 56-day mean times the store's damped yearly index, variance of the 21-day sums of half a year.
fn plain_negbin(item: &Sku, until: usize, index: f64, service: f64) -> f64 {
    let demand = (mean(item.last(until, 56)) * PROTECTION as f64 * index).max(0.05);
    let sums: Vec<f64> = item.last(until, 182).windows(PROTECTION).map(|w| w.iter().sum()).collect();
    let centre = mean(&sums);
    let variance = mean(&sums.iter().map(|s| (s - centre).powi(2)).collect::<Vec<_>>());
    NegBin::from_moments(demand, variance * demand / centre.max(1e-9)).unwrap_or_default().quantile(service) as f64
}

fn simulated(method: &str, skus: &Skus, items: &[&Sku], span: &Span) -> anyhow::Result<Value> {
    let reviews = (span.start..span.end)
        .step_by(REVIEW)
        .map(|day| levels(method, skus, items, day, &SIMULATED))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut points: Vec<(f64, f64)> = (0..SIMULATED.len())
        .map(|goal| {
            let mut outcome = Outcome::default();
            for (at, item) in items.iter().enumerate() {
                let up_to: Vec<f64> =
                    reviews.iter().filter_map(|review| review.up_to.get(goal)?.get(at)).copied().collect();
                outcome.simulate(item, span, &up_to);
            }
            (outcome.served / outcome.demanded, outcome.cover())
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rounded: Vec<_> = points.iter().map(|(fill, cover)| [round(*fill), round(*cover)]).collect();
    Ok(json!({
        "protocol": "I1", "method": method, "items": items.len(),
        "cover_days_for_fill_90": interpolate(&points, 0.9).map(round),
        "cover_days_for_fill_95": interpolate(&points, 0.95).map(round),
        "fill_and_cover_by_service_level": rounded,
    }))
}

/// Values over all items after the first protection period.
#[derive(Default)]
struct Outcome {
    served: f64,
    demanded: f64,
    stock: f64,
}

impl Outcome {
    /// Orders at each review arrive after the lead time, before the day's demand; what is not in stock is lost.
    fn simulate(&mut self, item: &Sku, span: &Span, up_to: &[f64]) {
        let mut on_hand = up_to.first().copied().unwrap_or_default();
        let mut on_order: Vec<(usize, f64)> = Vec::new();
        for (day, &demand) in item.next(span.start, span.end - span.start).iter().enumerate() {
            on_hand += on_order.iter().filter(|(arrival, _)| *arrival == day).map(|(_, units)| units).sum::<f64>();
            on_order.retain(|(arrival, _)| *arrival > day);
            if day > 0 && day % REVIEW == 0 {
                let position = on_hand + on_order.iter().map(|(_, units)| units).sum::<f64>();
                let level = up_to.get(day / REVIEW).copied().unwrap_or_default();
                on_order.push((day + LEAD_TIME, (level - position).max(0.0)));
            }
            let served = on_hand.min(demand);
            on_hand -= served;
            if day >= PROTECTION {
                self.served += served * item.price;
                self.demanded += demand * item.price;
                self.stock += on_hand * item.price;
            }
        }
    }

    /// Mean stock in days of mean demand, by value (both are sums over the same days).
    fn cover(&self) -> f64 {
        self.stock / self.demanded
    }
}

/// The second coordinate where the first reaches `x`; `None` outside the points.
fn interpolate(points: &[(f64, f64)], x: f64) -> Option<f64> {
    points.windows(2).find_map(|pair| match pair {
        [(x0, y0), (x1, y1)] if (*x0..=*x1).contains(&x) => Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0).max(1e-12)),
        _ => None,
    })
}

fn scored<'a>(
    method: &str,
    group: &str,
    skus: &Skus,
    span: &Span,
    items: impl Fn(usize) -> Vec<&'a Sku>,
) -> anyhow::Result<()> {
    let last_origin = skus.days.len().saturating_sub(PROTECTION);
    let mut scores: Vec<Score> = SCORED.iter().map(|_| Score::default()).collect();
    for until in (span.start..last_origin).step_by(7) {
        let items = items(until);
        let levels = levels(method, skus, &items, until, &SCORED)?;
        for ((score, (q, _)), (up_to, confidence)) in
            scores.iter_mut().zip(SCORED).zip(levels.up_to.iter().zip(&levels.confidence))
        {
            for (((item, level), confidence), frequent) in items.iter().zip(up_to).zip(confidence).zip(&levels.frequent)
            {
                score.add(item.next(until, PROTECTION).iter().sum(), *level, q, *confidence, *frequent);
            }
        }
    }
    for (score, (q, _)) in scores.iter().zip(SCORED) {
        print(&score.figures(method, group, q))?;
    }
    let pinball: Vec<f64> = scores.iter().map(|score| score.pinball / score.demand).collect();
    print(&json!({"protocol": "I2", "method": method, "items": group, "scaled_pinball": round(mean(&pinball))}))
}

#[derive(Default)]
struct Score {
    pinball: f64,
    demand: f64,
    /// Covered (1) or not (0): items that sell often, items that sell seldom.
    covered: [Vec<f64>; 2],
    confidence: Vec<f64>,
}

impl Score {
    fn add(&mut self, actual: f64, level: f64, q: f64, confidence: f64, frequent: bool) {
        let error = actual - level;
        self.pinball += 2.0 * (q * error).max((q - 1.0) * error);
        self.demand += actual;
        let [often, seldom] = &mut self.covered;
        let covered = if frequent { often } else { seldom };
        covered.push(if actual <= level { 1.0 } else { 0.0 });
        self.confidence.push(confidence);
    }

    fn figures(&self, method: &str, group: &str, q: f64) -> Value {
        let [often, seldom] = &self.covered;
        json!({
            "protocol": "I2", "method": method, "items": group, "stated": q, "forecasts": self.confidence.len(),
            "covered": round(mean(&self.covered.concat())),
            "covered_selling_often": round(mean(often)),
            "covered_selling_seldom": round(mean(seldom)),
            "mean_confidence": round(mean(&self.confidence)),
            "scaled_pinball": round(self.pinball / self.demand),
        })
    }
}
