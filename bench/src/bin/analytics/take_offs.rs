//! Protocol S2: what is told of products that took off has to last, and a product that does must be told.
//!
//! Each Monday the insights of the shop on disk are drafted from what it sold until the day before; what is told of a product
//! lasts if it is bought half as often again as usual, or more, over the four weeks after. The first half of the weeks is
//! printed apart, to hold constants that are chosen on it against the other. Beside it stands a rule of thumb: twice the
//! purchases of the week before.

use std::{collections::HashMap, path::Path};

use domain::{
    insights::{Facts, Kind, LEAST_PURCHASES, ProductWeeks, Stored, WEEKS_BEFORE, draft},
    zone::Zone,
};
use rust_decimal::{Decimal, prelude::FromPrimitive};
use serde_json::json;

use crate::{
    daily::{print, round},
    stories::shops,
};

const WEEK_DAYS: usize = 7;
/// Weeks after that tell whether it lasts, and how many times the usual units these have to bring.
const WEEKS_AFTER: usize = 4;
const LASTS_FROM: f64 = 1.5;
/// How many times as often a planted product is bought.
const PLANTED: i64 = 3;

/// What was bought of a product in a week.
#[derive(Clone, Copy, Default)]
struct Sold {
    purchases: i64,
    units: i64,
    revenue: f64,
}

#[derive(Default)]
struct Tally {
    told: usize,
    earning: usize,
    earning_lasting: usize,
    lasting: usize,
    thumb: usize,
    thumb_lasting: usize,
    planted: usize,
    found: usize,
}

pub fn run(data: &Path) -> anyhow::Result<()> {
    let world = shops::on_disk(data)?;
    let totals: Vec<_> = world.days.iter().enumerate().map(|(at, book)| world.totals(at, book)).collect();
    let weeks = totals.len() / WEEK_DAYS;
    let mut products: HashMap<u32, Vec<Sold>> = HashMap::new();
    for (at, book) in world.days.iter().enumerate().take(weeks * WEEK_DAYS) {
        for line in book.orders.iter().flat_map(|order| &order.lines) {
            let Some(sku) = line.sku else { continue };
            let of_product = products.entry(sku).or_insert_with(|| vec![Sold::default(); weeks]);
            if let Some(Sold { purchases, units, revenue }) = of_product.get_mut(at / WEEK_DAYS) {
                *purchases += 1;
                *units += line.units;
                *revenue += line.price * line.units as f64;
            }
        }
    }
    let scored: Vec<usize> = (WEEKS_BEFORE..weeks.saturating_sub(WEEKS_AFTER)).collect();
    let (first, last) = scored.split_at(scored.len() / 2);
    for (part, weeks) in [("first_half", first), ("second_half", last)] {
        let mut tally = Tally::default();
        for week in weeks {
            score(&mut tally, &products, totals.get(..(week + 1) * WEEK_DAYS).unwrap_or_default(), *week, |sku| {
                world.names.text(sku).to_owned()
            });
        }
        let share = |part: usize, whole: usize| round(part as f64 / whole.max(1) as f64);
        print(&json!({"protocol": "S2", "part": part, "weeks": weeks.len(), "told": tally.told,
            "earning_a_place": tally.earning, "of_them_lasting": tally.earning_lasting, "lasting": share(tally.lasting, tally.told),
            "rule_of_thumb": tally.thumb, "rule_of_thumb_lasting": share(tally.thumb_lasting, tally.thumb),
            "planted": tally.planted, "planted_told": share(tally.found, tally.planted)}))?;
    }
    Ok(())
}

fn score(
    tally: &mut Tally,
    products: &HashMap<u32, Vec<Sold>>,
    days: &[domain::daily::DayTotals],
    week: usize,
    name: impl Fn(u32) -> String,
) {
    let mut known: Vec<(ProductWeeks, &[Sold])> = products
        .iter()
        .filter_map(|(sku, weeks)| Some((of_weeks(name(*sku), weeks, week)?, weeks.as_slice())))
        .collect();
    known.sort_by(|a, b| a.0.sku.cmp(&b.0.sku));
    for (product, weeks) in &known {
        let before = product.before.last().copied().unwrap_or_default();
        if before > 0 && product.purchases >= 2 * before {
            tally.thumb += 1;
            tally.thumb_lasting += usize::from(lasts(product, weeks, week));
        }
    }
    let of = |products: Vec<ProductWeeks>| {
        let stored = Stored { products, ..Stored::default() };
        let last = days.last().map_or(time::Date::MIN, |day| day.day);
        let drafts = draft(&Facts { last, zone: Zone::utc(), days: days.to_vec(), stored });
        drafts.into_iter().filter(|draft| draft.told.kind == Kind::ProductTookOff).collect::<Vec<_>>()
    };
    let told = of(known.iter().map(|(product, _)| product.clone()).collect());
    for draft in &told {
        tally.told += 1;
        tally.earning += usize::from(draft.earns_place);
        let about = known.iter().find(|(product, _)| draft.fingerprint.ends_with(&format!(":{}", product.sku)));
        let is_lasting = about.is_some_and(|(product, weeks)| lasts(product, weeks, week));
        tally.lasting += usize::from(is_lasting);
        tally.earning_lasting += usize::from(is_lasting && draft.earns_place);
    }
    // One product a week, another each time, of those that sold as usual.
    let usual: Vec<&ProductWeeks> = known
        .iter()
        .map(|(product, _)| product)
        .filter(|product| {
            let mean = mean(product);
            let purchases = product.purchases as f64;
            mean >= LEAST_PURCHASES as f64 && (0.8 * mean..=1.25 * mean).contains(&purchases)
        })
        .collect();
    if let Some(product) = usual.get((week * 31) % usual.len().max(1)) {
        let planted = ProductWeeks {
            purchases: product.purchases * PLANTED,
            units: product.units * PLANTED,
            revenue: product.revenue * Decimal::from(PLANTED),
            ..(*product).clone()
        };
        tally.planted += 1;
        tally.found += usize::from(!of(vec![planted]).is_empty());
    }
}

fn of_weeks(sku: String, weeks: &[Sold], week: usize) -> Option<ProductWeeks> {
    let Sold { purchases, units, revenue } = *weeks.get(week)?;
    let mut before = [0; WEEKS_BEFORE];
    let earlier = weeks.get(week.checked_sub(WEEKS_BEFORE)?..week)?;
    before.iter_mut().zip(earlier).for_each(|(week, sold)| *week = sold.purchases);
    let revenue = Decimal::from_f64(revenue)?;
    let product = ProductWeeks { sku, purchases, units, revenue, before, stock: None, is_on_order: false };
    (purchases >= LEAST_PURCHASES).then_some(product)
}

fn mean(product: &ProductWeeks) -> f64 {
    product.before.iter().sum::<i64>() as f64 / WEEKS_BEFORE as f64
}

fn lasts(product: &ProductWeeks, weeks: &[Sold], week: usize) -> bool {
    let after = weeks.get(week + 1..week + 1 + WEEKS_AFTER).unwrap_or_default();
    let purchases: i64 = after.iter().map(|sold| sold.purchases).sum();
    purchases as f64 / WEEKS_AFTER as f64 >= LASTS_FROM * mean(product)
}
