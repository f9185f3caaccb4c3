//! Protocol R1: what risks say they may cost, held against what they did cost.
//!
//! Each Monday the risks are assessed by what was known, and 30 days on (customers: the 90 that their score is about) what
//! was lost. Order histories have no costs and no stock: a unit costs 60 % of the product's median price, and the stock is
//! simulated. Scored is what was raised: the share of outcomes within [low, high], and the pinball loss of both ends, as
//! 20 % and 80 % quantiles, relative to what was lost, beside the forecast that the last month's loss comes again. Dead stock,
//! concentrations and what has no amount are no forecasts of a quantile and are not scored.

mod leaving;
mod products;
mod shop;

use std::path::Path;

use analytics::exposure::Spread;
use serde_json::{Value, json};
use time::{Date, Weekday};

use crate::{
    daily::{print, round},
    skus::{Skus, mean},
};

/// What a unit costs, in parts of the product's median price.
const UNIT_COST: f64 = 0.6;
/// Contribution in parts of the price.
const CONTRIBUTION: f64 = 1.0 - UNIT_COST;

pub fn run(data: &Path) -> anyhow::Result<()> {
    let skus = Skus::load(data)?;
    print(&json!({"protocol": "R1", "unit_cost": "60 % of the median price", "stock_policy": products::POLICY}))?;
    let mut all = Score::default();
    for (name, score) in [
        ("stockout", products::run(&skus)?),
        ("churn", leaving::run(data)?),
        ("refund_spike", shop::refunds(data)?),
        ("margin_drop", shop::margins(data, &skus)?),
    ] {
        print(&score.figures(name))?;
        all.add(&score);
    }
    print(&all.figures("all"))
}

/// Columns that are Mondays, with so many days before them and so many after.
fn mondays(days: &[Date], before: usize, after: usize) -> Vec<usize> {
    let is_monday = |at: &usize| days.get(*at).is_some_and(|day| day.weekday() == Weekday::Monday);
    (before..days.len().saturating_sub(after)).filter(is_monday).collect()
}

/// A risk that was raised, what was lost, and what had been in the month before.
struct Raised {
    range: Spread,
    lost: f64,
    lost_before: f64,
}

#[derive(Default)]
struct Score {
    within: Vec<f64>,
    below: Vec<f64>,
    above: Vec<f64>,
    lost: f64,
    expected: f64,
    pinball: f64,
    pinball_last_month: f64,
}

impl Score {
    fn raised(&mut self, Raised { range, lost, lost_before }: Raised) {
        let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
        // To the cent, as the ends are stated.
        let cents = |amount: f64| (100.0 * amount).round();
        let (low, high, is) = (cents(range.low), cents(range.high), cents(lost));
        self.within.push(flag(low <= is && is <= high));
        self.below.push(flag(is < low));
        self.above.push(flag(is > high));
        self.lost += lost;
        self.expected += range.expected;
        self.pinball += pinball(0.2, range.low, lost) + pinball(0.8, range.high, lost);
        self.pinball_last_month += pinball(0.2, lost_before, lost) + pinball(0.8, lost_before, lost);
    }

    fn add(&mut self, other: &Self) {
        self.within.extend(&other.within);
        self.below.extend(&other.below);
        self.above.extend(&other.above);
        self.lost += other.lost;
        self.expected += other.expected;
        self.pinball += other.pinball;
        self.pinball_last_month += other.pinball_last_month;
    }

    fn figures(&self, kind: &str) -> Value {
        let part = |sum: f64| (self.lost > 0.0).then(|| round(sum / self.lost));
        let share = |flags: &[f64]| (!flags.is_empty()).then(|| round(mean(flags)));
        json!({
            "protocol": "R1", "type": kind, "raised": self.within.len(),
            "within": share(&self.within), "below_low": share(&self.below), "above_high": share(&self.above),
            "expected_to_lost": part(self.expected),
            "pinball": part(self.pinball), "pinball_last_month_again": part(self.pinball_last_month),
        })
    }
}

fn pinball(quantile: f64, stated: f64, is: f64) -> f64 {
    let error = is - stated;
    (quantile * error).max((quantile - 1.0) * error)
}
