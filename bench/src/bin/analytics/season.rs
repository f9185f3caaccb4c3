//! Protocols E1 and E2: orders around the peak of each item's year and in its first year, and what became of them.
//!
//! An item's peak is the middle of its best 28 days among those on which the data has 13 months before and the sell-through
//! after. It is ordered 8 and 4 weeks before, on the day, and 4 and 8 weeks after, with what it sold in the last two weeks in
//! stock. An order arrives after the lead time; what of it has not sold 120 days later is left, and what was asked for in the
//! review period after the arrival while nothing was there is lost. Items: those with 13 months of their own and 100 units in
//! the year before. Every second item is printed apart, to hold constants that are chosen on the others against.
//!
//! E2 orders every four weeks what has sold for 8 weeks at least, for less than 13 months, and 20 units in the last 8 weeks:
//! such an item has no last year, but its category and its shop do.

use std::path::Path;

use analytics::demand::{DemandModel, StoreRhythm};
use analytics::negbin::NegBin;
use analytics::reorder::{SELL_THROUGH_DAYS, ServiceGoal, SupplyTerms, suggest};
use anyhow::Context as _;
use serde_json::json;

use crate::daily::{print, round};
use crate::skus::{Sku, Skus, mean};

const LEAD_TIMES: [usize; 2] = [14, 42];
const REVIEW: usize = 7;
const FIRST: usize = 392;
const PEAK: usize = 28;
/// Days of an order from the peak.
const OFFSETS: [i64; 5] = [-56, -28, 0, 28, 56];
const STOCK_DAYS: usize = 14;
/// Units that an item sold in the year before, at least.
const FEWEST_UNITS: f64 = 100.0;
const METHODS: [&str; 5] =
    ["ours", "without_last_year", "sma30_x_shop_index", "last_years_window", "demand_of_the_period_known"];

/// Units that an item in its first year sold in the last 8 weeks, at least.
const FEWEST_RECENT_UNITS: f64 = 20.0;
const FIRST_YEAR_METHODS: [&str; 4] = ["ours", "by_the_shop", "without_last_year", "sma30_x_shop_index"];

pub fn run(data: &Path) -> anyhow::Result<()> {
    let skus = Skus::load(data)?;
    for lead in LEAD_TIMES {
        let end = skus.days.len().saturating_sub(lead + SELL_THROUGH_DAYS);
        if end <= FIRST + PEAK {
            eprintln!(
                "{}: too short for orders after 13 months at a lead time of {lead} days, left out",
                data.display()
            );
            continue;
        }
        around_peaks(&skus, lead, end)?;
        in_the_first_year(&skus, lead, end)?;
    }
    Ok(())
}

fn around_peaks(skus: &Skus, lead: usize, end: usize) -> anyhow::Result<()> {
    let rhythms: Vec<StoreRhythm> = (FIRST..end).map(|day| skus.rhythm(day)).collect();
    for method in METHODS {
        let mut parts = [Outcome::default(), Outcome::default()];
        let known = |item: &&Sku| item.last(FIRST, FIRST).iter().take(28).sum::<f64>() > 0.0;
        let items =
            skus.items.iter().filter(known).filter(|item| item.last(FIRST, 364).iter().sum::<f64>() >= FEWEST_UNITS);
        for (at, item) in items.enumerate() {
            let peak = peak(item, FIRST, end);
            for day in OFFSETS.iter().filter_map(|offset| peak.checked_add_signed(*offset as isize)) {
                if let Some(outcome) = parts.get_mut(at % 2).filter(|_| (FIRST..end).contains(&day)) {
                    let rhythm = rhythms.get(day - FIRST).context("a day")?;
                    outcome.add(item, day, lead, ordered(method, rhythm, item, day, lead)?);
                }
            }
        }
        print_parts("E1", method, lead, &parts)?;
    }
    Ok(())
}

fn in_the_first_year(skus: &Skus, lead: usize, end: usize) -> anyhow::Result<()> {
    let mut outcomes = FIRST_YEAR_METHODS.map(|_| [Outcome::default(), Outcome::default()]);
    for day in (FIRST..end).step_by(28) {
        let rhythm = skus.rhythm(day);
        let (categories, store) = skus.categories(day);
        let today = skus.days.get(day).context("a day")?;
        for (at, item) in skus.items.iter().enumerate() {
            let sells = item.last(day, 56).iter().sum::<f64>() >= FEWEST_RECENT_UNITS;
            if !sells || !(56..FIRST as i64).contains(&(*today - item.first_sale).whole_days()) {
                continue;
            }
            let category = item.category.and_then(|category| categories.get(category)).unwrap_or(&store);
            for (method, parts) in FIRST_YEAR_METHODS.iter().zip(&mut outcomes) {
                let quantity = match *method {
                    "ours" => suggested(&item.model(day, &rhythm, Some(category))?, item, day, lead),
                    "by_the_shop" => suggested(&item.model(day, &rhythm, Some(&store))?, item, day, lead),
                    method => ordered(method, &rhythm, item, day, lead)?,
                };
                if let Some(outcome) = parts.get_mut(at % 2) {
                    outcome.add(item, day, lead, quantity);
                }
            }
        }
    }
    for (method, parts) in FIRST_YEAR_METHODS.iter().zip(&outcomes) {
        print_parts("E2", method, lead, parts)?;
    }
    Ok(())
}

fn print_parts(protocol: &str, method: &str, lead: usize, parts: &[Outcome; 2]) -> anyhow::Result<()> {
    for (part, outcome) in ["even_items", "odd_items"].iter().zip(parts) {
        print(&json!({
            "protocol": protocol, "method": method, "lead_time_days": lead, "part": part, "orders": outcome.orders,
            "ordered": outcome.ordered, "left_share": round(outcome.left / outcome.ordered),
            "left": outcome.left.round(), "lost_share": round(outcome.lost / outcome.asked),
        }))?;
    }
    Ok(())
}

fn peak(item: &Sku, first: usize, end: usize) -> usize {
    let sum = |day: &usize| item.last(*day, PEAK).iter().sum::<f64>();
    (first + PEAK..end).max_by(|a, b| sum(a).total_cmp(&sum(b))).unwrap_or(end) - PEAK / 2
}

/// Units ordered at the end of the day before `day`.
fn ordered(method: &str, rhythm: &StoreRhythm, item: &Sku, day: usize, lead: usize) -> anyhow::Result<f64> {
    let on_hand = stock(item, day);
    let horizon = lead + REVIEW;
    let shop_index = (1..=horizon).map(|ahead| rhythm.yearly_index(ahead)).sum::<f64>() / horizon as f64;
    let level = match method {
        "sma30_x_shop_index" => mean(item.last(day, 30)) * horizon as f64 * shop_index,
        "last_years_window" => item.next(day - 364, horizon).iter().sum(),
        "demand_of_the_period_known" => {
            let mean: f64 = item.next(day, horizon).iter().sum();
            let model = item.model_since(0, day, rhythm)?;
            let spread = mean * model.forecast(horizon).dispersion;
            let demand = NegBin::from_moments(mean, spread).unwrap_or_default();
            demand.quantile(ServiceGoal::ByClass.level(model.class())) as f64
        }
        _ => {
            let from = if method == "ours" { 0 } else { day.saturating_sub(365) };
            return Ok(suggested(&item.model_since(from, day, rhythm)?, item, day, lead));
        }
    };
    Ok((level - on_hand).max(0.0).ceil())
}

fn suggested(model: &DemandModel<'_>, item: &Sku, day: usize, lead: usize) -> f64 {
    let terms = SupplyTerms {
        lead_time_days: lead as f64,
        lead_time_sd: 0.0,
        review_days: REVIEW as f64,
        pack_size: 1,
        minimum_order: 0,
        service: ServiceGoal::ByClass,
    };
    suggest(model, stock(item, day), 0.0, &terms).quantity as f64
}

fn stock(item: &Sku, day: usize) -> f64 {
    item.last(day, STOCK_DAYS).iter().sum()
}

#[derive(Default)]
struct Outcome {
    orders: usize,
    ordered: f64,
    left: f64,
    lost: f64,
    asked: f64,
}

impl Outcome {
    fn add(&mut self, item: &Sku, day: usize, lead: usize, quantity: f64) {
        let sum = |from: usize, days: usize| item.next(from, days).iter().sum::<f64>();
        let arriving = day + lead;
        let there = (stock(item, day) - sum(day, lead)).max(0.0) + quantity;
        self.orders += usize::from(quantity > 0.0);
        self.ordered += quantity;
        self.left += (there - sum(arriving, SELL_THROUGH_DAYS)).clamp(0.0, quantity);
        self.lost += (sum(arriving, REVIEW) - there).max(0.0);
        self.asked += sum(arriving, REVIEW);
    }
}
