//! Protocol V1: days of stock against the day on which the stock did run out.
//!
//! Weekly origins, the 500 items of the reorder protocol. The stock is what the next 3, 7, 14, 21, 30, 45 or 60 days did
//! demand; the truth is the first day on which the cumulated demand reaches it. Status bounds of this protocol: critical up
//! to 7 days, low up to 21, overstocked above 45.

use std::path::Path;

use analytics::demand::teunter_syntetos_babai;
use analytics::stock::ExpectedDemand;
use domain::metrics::stock::{Cover, FARTHEST_DAYS};
use serde_json::{Value, json};

use crate::daily::{print, round};
use crate::reorder::Span;
use crate::skus::{Sku, Skus, mean};

const LOOK_AHEAD: [usize; 7] = [3, 7, 14, 21, 30, 45, 60];
const LONGEST: usize = 60;
/// Days beyond which predictions are cut.
const FARTHEST: f64 = 180.0;
const BOUNDS: [f64; 3] = [7.5, 21.5, 45.5];
const PEERS: [&str; 3] = ["sma30", "sma56", "tsb_0.05"];

pub fn run(data: &Path) -> anyhow::Result<()> {
    let skus = Skus::load(data)?;
    let span = Span::of(&skus);
    let selected = skus.some_best_sellers(span.start)?;
    let mut ours = Score::default();
    let mut peers: Vec<Score> = PEERS.iter().map(|_| Score::default()).collect();
    let mut in_range = Vec::new();
    let last_origin = (span.end.saturating_sub(64)).min(skus.days.len().saturating_sub(LONGEST));
    for until in (span.start..=last_origin).step_by(7) {
        let rhythm = skus.rhythm(until);
        for item in &selected {
            let model = item.model(until, &rhythm, None)?;
            let expected = ExpectedDemand::of(&model);
            for (stock, truth) in stocks(item, until) {
                let predicted = Cover::of(stock, |day| expected.until(day)).days();
                ours.add(truth, predicted.unwrap_or(FARTHEST));
                if let Some(days) = predicted {
                    let (soonest, latest) = expected.range_of_days(stock, days, FARTHEST_DAYS);
                    let held = (soonest.floor()..=latest.ceil()).contains(&truth);
                    in_range.push(if held { 1.0 } else { 0.0 });
                }
                for (peer, score) in PEERS.iter().zip(&mut peers) {
                    score.add(truth, stock / rate(peer, item, until).max(1.0 / 1800.0));
                }
            }
        }
    }
    print(&ours.figures("ours"))?;
    for (peer, score) in PEERS.iter().zip(&peers) {
        print(&score.figures(peer))?;
    }
    print(&json!({"protocol": "V1", "method": "ours", "range_20_80_holds": round(mean(&in_range))}))
}

/// Stocks and the day on which each was used up.
fn stocks(item: &Sku, until: usize) -> impl Iterator<Item = (f64, f64)> {
    LOOK_AHEAD.iter().filter_map(move |&days| {
        let ahead = item.next(until, days);
        let stock: f64 = ahead.iter().sum();
        let mut left = stock;
        let before = ahead.iter().take_while(|&&units| {
            left -= units;
            left > 1e-9
        });
        let used_up = before.count() as f64 + 1.0;
        (stock > 0.0).then_some((stock, used_up))
    })
}

fn rate(peer: &str, item: &Sku, until: usize) -> f64 {
    match peer {
        "sma30" => mean(item.last(until, 30)),
        "sma56" => mean(item.last(until, 56)),
        _ => teunter_syntetos_babai(item.last(until, 365), 0.05, 0.05),
    }
}

#[derive(Default)]
struct Score {
    errors: Vec<f64>,
    log_ratios: Vec<f64>,
    same_status: Vec<f64>,
}

impl Score {
    fn add(&mut self, truth: f64, days: f64) {
        let days = days.min(FARTHEST);
        self.errors.push((days.ceil() - truth).abs());
        // The stock runs out on a day, not within one.
        self.log_ratios.push((days.ceil().max(1.0) / truth).ln().abs());
        let status = |days: f64| BOUNDS.iter().filter(|bound| days > **bound).count();
        let same = status(days) == status(truth);
        self.same_status.push(if same { 1.0 } else { 0.0 });
    }

    fn figures(&self, method: &str) -> Value {
        let mut sorted = self.errors.clone();
        sorted.sort_by(f64::total_cmp);
        json!({
            "protocol": "V1", "method": method, "predictions": sorted.len(),
            "median_error_days": sorted.get(sorted.len() / 2),
            "mean_error_days": round(mean(&sorted)),
            "log_ratio": round(mean(&self.log_ratios)),
            "status_accuracy": round(mean(&self.same_status)),
        })
    }
}
