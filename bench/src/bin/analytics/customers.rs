//! Purchase and value models, churn, the coming year's value and the segments, on data with a known future.

use std::{path::Path, time::Instant};

use analytics::customers::{History, Models, Options, Past, bgnbd, churn, gamma_gamma, rfm};
use serde_json::{Value, json};
use time::{Date, Duration};

mod cutoffs;
mod holdout;
mod measures;
pub mod purchases;

use purchases::Shop;

/// The horizon that the service states.
const STATED_DAYS: i64 = churn::HORIZON_DAYS as i64;
/// Sizes to which a shop is cut to see what the pooled parameters are good for.
const FEW: [usize; 4] = [20, 50, 100, 200];
/// Customers of the speed figure.
const MANY: u32 = 100_000;

pub fn run(data: &Path) -> anyhow::Result<()> {
    for (name, customers) in purchases::summaries(&data.join("cdnow"))? {
        for figure in models(&name, &customers) {
            println!("{figure}");
        }
    }
    let mut shops = purchases::shops(&data.join("online_retail"))?;
    shops.extend(purchases::cdnow(&data.join("cdnow"))?);
    if shops.is_empty() {
        eprintln!("{}: no shop's purchases, so that no forecast can be held against what came", data.display());
    }
    for shop in shops {
        for days in [shop.published_days, STATED_DAYS] {
            let Some(case) = holdout::Case::new(&shop.purchases, days) else {
                eprintln!("{}: nobody had bought {days} days before the end, left out", shop.name);
                continue;
            };
            for figure in holdout::measure(&shop.name, &case)? {
                println!("{figure}");
            }
            for size in FEW {
                println!("{}", holdout::few(&shop.name, &case, size)?);
            }
        }
        for figure in cutoffs::measure(&shop.name, &shop.purchases) {
            println!("{figure}");
        }
        for figure in segments(&shop)? {
            println!("{figure}");
        }
    }
    println!("{}", speed()?);
    Ok(())
}

/// Parameters on a table of summaries, to hold against published ones.
fn models(name: &str, customers: &[purchases::SummaryRow]) -> Vec<Value> {
    let summaries: Vec<_> = customers.iter().map(|c| bgnbd::Summary::new(c.x, c.t_x, c.age)).collect();
    let repeat: Vec<_> = customers.iter().map(|c| gamma_gamma::Spend { purchases: c.x, mean: c.mean_spend }).collect();
    let mut figures = Vec::new();
    match bgnbd::fit(&summaries) {
        Ok(fit) => figures.push(json!({"protocol": "parameters", "data": name, "method": "bgnbd", "fit": fit})),
        Err(reason) => eprintln!("{name}: no purchase model: {reason}"),
    }
    match gamma_gamma::fit(&repeat) {
        Ok(fit) => {
            let mean = fit.params.population_mean();
            figures.push(json!({"protocol": "parameters", "data": name, "method": "gamma_gamma", "fit": fit, "population_mean": mean}));
        }
        Err(reason) => eprintln!("{name}: no model of values: {reason}"),
    }
    figures
}

/// Segments 90 days before the end and what each did in those 90 days.
fn segments(shop: &Shop) -> anyhow::Result<Vec<Value>> {
    let Some(case) = holdout::Case::new(&shop.purchases, STATED_DAYS) else { return Ok(Vec::new()) };
    let (name, as_of, customers) = (&shop.name, case.as_of, &case.customers);
    let activities: Vec<_> = customers
        .iter()
        .map(|c| {
            anyhow::Ok(rfm::Activity {
                orders: c.orders,
                days_since_last: u32::try_from((as_of - c.last).whole_days())?,
                spend: c.spend,
            })
        })
        .collect::<anyhow::Result<_>>()?;
    let placements = rfm::place(&activities);
    let future: f64 = customers.iter().map(|c| c.later_spend).sum();
    let row = |segment: rfm::Segment| {
        let members: Vec<_> =
            customers.iter().zip(&placements).filter(|(_, p)| p.segment == segment).map(|(c, _)| c).collect();
        let count = members.len().max(1) as f64;
        let mean = |of: &dyn Fn(&holdout::Split) -> f64| {
            measures::round(members.iter().map(|c| of(c)).fold(0.0, |sum, v| sum + v) / count)
        };
        json!({
            "protocol": "segments", "data": name, "as_of": as_of.to_string(), "segment": segment,
            "customers": members.len(), "mean_orders": mean(&|c| f64::from(c.orders)), "mean_spend": mean(&|c| c.spend),
            "mean_days_since_last": mean(&|c| (as_of - c.last).whole_days() as f64),
            "active_in_90_days": mean(&|c| f64::from(u8::from(c.later_purchases > 0))),
            "share_of_future_spend": measures::round(members.iter().map(|c| c.later_spend).fold(0.0, |sum, v| sum + v) / future),
        })
    };
    Ok(rfm::Segment::ALL.into_iter().map(row).collect())
}

/// Seconds for an account of many customers, all different in their dates, fit and scores together.
fn speed() -> anyhow::Result<Value> {
    let as_of = Date::from_ordinal_date(2026, 1)?;
    let histories: Vec<History> = (0..MANY)
        .map(|i| {
            // A multiplicative hash spreads the customers over ages, gaps and counts without randomness.
            let spread =
                |salt: u32, below: u32| i64::from((i ^ salt).wrapping_mul(2_654_435_761) >> 8) % i64::from(below);
            let age = 1 + spread(1, 730);
            let orders = u32::try_from(1 + spread(2, 4) * spread(3, 5)).unwrap_or(1);
            let first = as_of - Duration::days(age);
            let last = if orders > 1 { first + Duration::days(spread(4, 730) % (age + 1)) } else { first };
            let spend = f64::from(orders) * (20.0 + spread(5, 100) as f64);
            History { orders, purchase_days: orders, active: Some((first, last)), spend }
        })
        .collect();
    let started = Instant::now();
    let models = Models::fit(&histories, as_of, &Past::default());
    let scores = models.score(&histories, as_of, &Options::default());
    let seconds = started.elapsed().as_secs_f64();
    Ok(json!({
        "protocol": "speed", "method": "fit and score", "customers": scores.len(),
        "seconds": measures::round(seconds), "purchases": models.purchases.ok(), "values": models.values.ok(),
    }))
}
