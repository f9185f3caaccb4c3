//! What the service says of customers at many days of a shop's past, against what came: the probability of silence in 90
//! days, and the value of 52 weeks by the number of orders. Beside it what the models say alone, without the shop's season and
//! its own past.

use std::collections::BTreeMap;

use analytics::customers::{Clock, CustomerScore, History, Models, Options, Past, back_test_day, churn, rfm::Segment};
use serde_json::{Value, json};
use time::{Date, Duration};

use super::{
    measures::{auc, calibration_error, mean, round},
    purchases::Purchase,
};

/// Days between two cut-offs, and from the first purchase to the first of them.
const STEP_DAYS: i64 = 30;
const FIRST_DAYS: i64 = 105;
const VALUE_DAYS: i64 = 364;
/// Orders from which a class begins.
const CLASSES: [(&str, u32); 4] = [("1", 1), ("2-3", 2), ("4-8", 4), ("9+", 9)];

pub fn measure(shop: &str, purchases: &[Purchase]) -> Vec<Value> {
    let days = || purchases.iter().map(|purchase| purchase.day);
    let (Some(first), Some(end)) = (days().min(), days().max()) else { return Vec::new() };
    let customers: Vec<&[Purchase]> = purchases.chunk_by(|l, r| l.customer == r.customer).collect();
    let mut buyers: BTreeMap<Date, f64> = BTreeMap::new();
    for day in days() {
        *buyers.entry(day).or_default() += 1.0;
    }
    let shop = Shop { name: shop, first, end, customers: &customers, buyers: &buyers };
    let cut_offs = (0..).map(|step| first + Duration::days(FIRST_DAYS + step * STEP_DAYS));
    let horizon = Duration::days(i64::from(churn::HORIZON_DAYS));
    cut_offs
        .take_while(|day| *day + horizon <= end)
        .flat_map(|as_of| [shop.cut_off("alone", as_of), shop.cut_off("ours", as_of)])
        .collect()
}

struct Shop<'a> {
    name: &'a str,
    first: Date,
    end: Date,
    customers: &'a [&'a [Purchase]],
    buyers: &'a BTreeMap<Date, f64>,
}

impl Shop<'_> {
    fn cut_off(&self, method: &str, as_of: Date) -> Value {
        let known: Vec<&[Purchase]> =
            self.customers.iter().copied().filter(|all| all.first().is_some_and(|p| p.day <= as_of)).collect();
        let histories = |day: Date| -> Vec<History> { known.iter().map(|all| history(all, day)).collect() };
        let origin = back_test_day(Some(self.first), as_of);
        let (now, earlier) = (histories(as_of), histories(origin));
        let past = if method == "ours" {
            Past { clock: self.clock(as_of), earlier: Some((&earlier, origin)) }
        } else {
            Past::default()
        };
        let scores = Models::fit(&now, as_of, &past).score(&now, as_of, &Options::default());
        let later = |all: &[Purchase], days: i64| -> (usize, f64) {
            let came = all.iter().filter(|p| p.day > as_of && p.day <= as_of + Duration::days(days));
            came.fold((0, 0.0), |(count, value), p| (count + 1, value + p.value))
        };
        let active: Vec<bool> = known.iter().map(|all| later(all, churn::HORIZON_DAYS.into()).0 > 0).collect();
        let returns: Vec<f64> = scores.iter().map(|score| 1.0 - score.churn_score.unwrap_or(1.0)).collect();
        let whole_year = as_of + Duration::days(VALUE_DAYS) <= self.end;
        let said_to_came = |is_member: &dyn Fn(&History, &CustomerScore) -> bool| {
            let (mut said, mut came) = (0.0, 0.0);
            for ((all, history), score) in known.iter().zip(&now).zip(&scores) {
                if is_member(history, score) {
                    said += score.ltv_estimate;
                    came += later(all, VALUE_DAYS).1;
                }
            }
            round(said / came)
        };
        let by_orders: BTreeMap<&str, f64> = CLASSES
            .iter()
            .enumerate()
            .filter(|_| whole_year)
            .map(|(at, (name, from))| {
                let below = CLASSES.get(at + 1).map_or(u32::MAX, |(_, next)| *next);
                (*name, said_to_came(&|history, _| (*from..below).contains(&history.orders)))
            })
            .collect();
        let by_segment: BTreeMap<String, f64> = Segment::ALL
            .iter()
            .filter(|segment| whole_year && scores.iter().any(|score| score.segment == **segment))
            .map(|segment| (format!("{segment:?}"), said_to_came(&|_, score| score.segment == *segment)))
            .collect();
        json!({
            "protocol": "cutoffs", "data": self.name, "method": method, "as_of": as_of.to_string(),
            "days_known": (as_of - self.first).whole_days() + 1, "customers": known.len(),
            "calibration_error": round(calibration_error(&active, &returns)), "auc": round(auc(&active, &returns)),
            "predicted_active": round(mean(returns.iter().copied())),
            "active": round(mean(active.iter().map(|a| f64::from(u8::from(*a))))),
            "value_said_to_came_by_orders": by_orders, "value_said_to_came_by_segment": by_segment,
        })
    }

    fn clock(&self, last: Date) -> Clock {
        let first = Clock::first_day(last).max(self.first);
        let days = (0..=(last - first).whole_days()).map(|day| first + Duration::days(day));
        let daily: Vec<f64> = days.map(|day| self.buyers.get(&day).copied().unwrap_or_default()).collect();
        Clock::of(&daily, last)
    }
}

fn history(all: &[Purchase], day: Date) -> History {
    let known = || all.iter().filter(|purchase| purchase.day <= day);
    History {
        orders: known().map(|purchase| purchase.orders).sum(),
        purchase_days: u32::try_from(known().count()).unwrap_or(u32::MAX),
        active: known().next().zip(known().next_back()).map(|(first, last)| (first.day, last.day)),
        spend: known().map(|purchase| purchase.value).sum(),
    }
}
