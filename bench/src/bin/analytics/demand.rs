//! Protocol F2: units per item and day, 28 days ahead from four origins, on up to a year of history.
//!
//! Items: first sale at least 180 days ago, 20 selling days in the last 180, a sale in the last 56; the 500 with the
//! highest revenue. RMSSE as in the M5 competition (scale: one-step naive error since the first sale), WRMSSE weighs by the
//! revenue of the last 28 days, WAPE and bias are of the 28-day totals.

use std::path::Path;

use analytics::demand::{CLASSIC_ALPHA, syntetos_boylan, teunter_syntetos_babai};
use serde_json::{Value, json};
use time::macros::date;
use time::{Date, Duration};

use crate::daily::{print, round};
use crate::skus::{Sku, Skus, mean};

const HORIZON: usize = 28;
const ORIGINS: [Date; 4] = [date!(2011 - 03 - 31), date!(2011 - 06 - 30), date!(2011 - 08 - 31), date!(2011 - 10 - 31)];
/// Days before the last possible origin, for data of other years.
const OTHER_ORIGINS: [usize; 4] = [0, 61, 123, 214];
const METHODS: [&str; 5] = ["ours", "sma56_weekday", "sma30", "croston_sba", "tsb_0.05"];

pub fn run(data: &Path) -> anyhow::Result<()> {
    let skus = Skus::load(data)?;
    let origins = origins(&skus);
    anyhow::ensure!(
        origins.iter().any(|&until| !selection(&skus, until).is_empty()),
        "no item has 180 days behind and {HORIZON} before it in {} days: nothing to measure",
        skus.days.len()
    );
    let mut scores: Vec<Score> = METHODS.iter().map(|_| Score::default()).collect();
    let mut items = 0;
    for &until in &origins {
        let rhythm = skus.rhythm(until);
        let selected = selection(&skus, until);
        items += selected.len();
        let weights: Vec<f64> =
            selected.iter().map(|s| s.last(until, 28).iter().sum::<f64>() * s.price + 1e-9).collect();
        let weight_sum: f64 = weights.iter().sum();
        let days = skus.days.get(until..).unwrap_or_default();
        let week: Vec<f64> = days.iter().take(HORIZON).map(|day| rhythm.weekday_factor(day.weekday())).collect();
        for (item, weight) in selected.iter().zip(&weights) {
            for (method, score) in METHODS.iter().zip(&mut scores) {
                let forecast = match *method {
                    "ours" => item.model(until, &rhythm, None)?.forecast(HORIZON).daily_mean,
                    peer => peer_forecast(peer, item, until, &week),
                };
                score.add(item, until, &forecast, weight / weight_sum);
            }
        }
    }
    for (method, score) in METHODS.iter().zip(&scores) {
        print(&score.figures(method, origins.len(), items))?;
    }
    Ok(())
}

fn origins(skus: &Skus) -> Vec<usize> {
    let fits = |until: &usize| until + HORIZON <= skus.days.len();
    let fixed: Vec<usize> = ORIGINS.iter().filter_map(|&day| skus.until(day)).map(|day| day + 1).filter(fits).collect();
    if fixed.len() == ORIGINS.len() {
        return fixed;
    }
    let latest = skus.days.len().saturating_sub(HORIZON);
    OTHER_ORIGINS.iter().filter_map(|back| latest.checked_sub(*back)).filter(|&until| until >= 84).collect()
}

fn selection(skus: &Skus, until: usize) -> Vec<&Sku> {
    let Some(&last_day) = until.checked_sub(1).and_then(|day| skus.days.get(day)) else {
        return Vec::new();
    };
    skus.best_sellers(until, |item| {
        last_day - item.first_sale >= Duration::days(180) && item.last(until, 56).iter().sum::<f64>() > 0.0
    })
}

fn peer_forecast(method: &str, item: &Sku, until: usize, week: &[f64]) -> Vec<f64> {
    let flat = |level: f64| vec![level; HORIZON];
    match method {
        "sma56_weekday" => week.iter().map(|factor| factor * mean(item.last(until, 56))).collect(),
        "sma30" => flat(mean(item.last(until, 30))),
        "croston_sba" => flat(syntetos_boylan(item.last(until, 365), CLASSIC_ALPHA)),
        _ => flat(teunter_syntetos_babai(item.last(until, 365), 0.05, 0.05)),
    }
}

/// Sums over items and origins.
#[derive(Default)]
struct Score {
    rmsse: Vec<f64>,
    weighted: f64,
    weight: f64,
    absolute_error: f64,
    expected: f64,
    actual: f64,
}

impl Score {
    fn add(&mut self, item: &Sku, until: usize, forecast: &[f64], weight: f64) {
        let actual = item.next(until, HORIZON);
        let (sum, total): (f64, f64) = (forecast.iter().sum(), actual.iter().sum());
        self.absolute_error += (sum - total).abs();
        self.expected += sum;
        self.actual += total;
        let Some(scale) = naive_error(item.last(until, 365)) else {
            return;
        };
        let squares: f64 = actual.iter().zip(forecast).map(|(a, f)| (a - f).powi(2)).sum();
        let rmsse = (squares / HORIZON as f64 / scale).sqrt();
        self.rmsse.push(rmsse);
        self.weighted += weight * rmsse;
        self.weight += weight;
    }

    fn figures(&self, method: &str, origins: usize, items: usize) -> Value {
        json!({
            "protocol": "F2", "method": method, "origins": origins, "forecasts": items,
            "rmsse": round(mean(&self.rmsse)),
            "wrmsse": round(self.weighted / self.weight),
            "wape_28d": round(self.absolute_error / self.actual),
            "bias_28d": round(self.expected / self.actual - 1.0),
        })
    }
}

/// Mean squared one-step naive error from the first sale on; `None` if that is zero.
fn naive_error(history: &[f64]) -> Option<f64> {
    let first_sale = history.iter().position(|&u| u > 0.0)?;
    let squares: Vec<f64> =
        history.get(first_sale..)?.windows(2).filter_map(|pair| Some((pair.last()? - pair.first()?).powi(2))).collect();
    let scale = mean(&squares);
    (scale > 0.0).then_some(scale)
}
