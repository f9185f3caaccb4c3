//! What is out of stock, or will be, and what is to be ordered.

use rust_decimal::Decimal;
use time::Date;

use super::{
    Category, Draft, Severity,
    facts::{CriticalItem, PendingReorder},
    rules::{code, count, period},
    told::{Kind, Told, Value},
};
use crate::{
    metrics::stock::{CRITICAL_DAYS, is_out_of_stock, is_stockout},
    money::estimate,
    reorder::Basis,
};

/// Days of sales that the pace of a shop's products rests on at least, as what is to be ordered does.
pub(super) const EVIDENT_DAYS: usize = 7;
/// SKUs that are named one by one.
const NAMED_SKUS: usize = 5;

/// Most sold first; without what is better not sold.
pub(super) fn sold_out(critical: &[CriticalItem]) -> Vec<&CriticalItem> {
    let is_stockout =
        |item: &&CriticalItem| !item.sells_at_a_loss() && is_stockout(item.current_stock, item.units_sold_30d);
    let mut items: Vec<&CriticalItem> = critical.iter().filter(is_stockout).collect();
    items.sort_by(|a, b| b.units_sold_30d.cmp(&a.units_sold_30d).then_with(|| a.sku.cmp(&b.sku)));
    items
}

/// The most urgent first; without what is better not sold.
pub(super) fn running_out(critical: &[CriticalItem]) -> Vec<&CriticalItem> {
    critical.iter().filter(|item| !item.sells_at_a_loss() && !is_out_of_stock(item.current_stock)).collect()
}

/// Of sales, `left` is left after goods, fees and shipping in the shop as a whole.
pub(super) fn draft_sold_out(items: &[&CriticalItem], left: Decimal) -> Option<Draft> {
    if items.is_empty() {
        return None;
    }
    let daily: Decimal = items.iter().map(|item| item.daily_sales()).sum();
    let is_known = daily >= Decimal::new(1, 2);
    let told = with_skus(Told::new(Kind::SoldOut).with("days", period()), &skus(items))
        .with("ordered", ordered(items))
        .with("valued", code(if is_known { "yes" } else { "no" }))
        .with("daily", Value::Money(daily));
    let draft = Draft::new("inventory:sold_out", Severity::Critical, Category::Inventory, told);
    Some(Draft { stake: stake(items, left), ..draft })
}

pub(super) fn draft_running_out(items: &[&CriticalItem], left: Decimal) -> Option<Draft> {
    let first = items.first()?;
    let told = with_skus(Told::new(Kind::RunningOut).with("days", Value::Days(CRITICAL_DAYS.into())), &skus(items))
        .with("ordered", ordered(items))
        .with("first", Value::Names(vec![first.sku.clone()]));
    let told = match first.runs_out_on {
        Some(day) => told.with("dated", code("yes")).with("day", Value::Date(day)),
        None => told.with("dated", code("no")),
    };
    let draft = Draft::new("inventory:running_out", Severity::High, Category::Inventory, told);
    Some(Draft { stake: stake(items, left), ..draft })
}

/// What is lost on the items; `None` where nothing is, as far as is known.
fn stake(items: &[&CriticalItem], left: Decimal) -> Option<Decimal> {
    let lost: f64 = items.iter().filter_map(|item| item.lost(left)).sum();
    Some(estimate(lost, 4)).filter(|lost| *lost > Decimal::ZERO)
}

/// Whether units of the items are on their way: of all, some or none.
fn ordered(items: &[&CriticalItem]) -> Value {
    let on_order = items.iter().filter(|item| item.is_on_order).count();
    code(match on_order {
        0 => "none",
        some if some < items.len() => "some",
        _ => "all",
    })
}

/// The suggestions to follow, but for items that are `told` already, and by when the most urgent is to be ordered.
pub(super) fn draft_reorders(pending: &[PendingReorder], told: &[&CriticalItem], today: Date) -> Option<Draft> {
    let is_told = |pending: &&PendingReorder| told.iter().any(|item| item.sku == pending.sku);
    let spare = |pending: &PendingReorder| pending.basis.as_ref().map_or(f64::INFINITY, Basis::days_to_spare);
    // Nobody is told to decide on what is not recommended.
    let mut items: Vec<&PendingReorder> =
        pending.iter().filter(|pending| pending.is_recommended()).filter(|pending| !is_told(pending)).collect();
    items.sort_by(|a, b| spare(a).total_cmp(&spare(b)).then_with(|| a.sku.cmp(&b.sku)));
    let first = items.first()?;
    let skus: Vec<&str> = items.iter().map(|item| item.sku.as_str()).collect();
    let known = Told::new(Kind::Reorders)
        .with("items", count(i64::try_from(items.len()).unwrap_or(i64::MAX)))
        .with("first", Value::Names(vec![first.sku.clone()]));
    let told = match first.basis.as_ref().and_then(|basis| basis.order_by(today)) {
        Some(day) if day < today => known.with("due", code("late")),
        Some(day) => known.with("due", code("in_time")).with("day", Value::Date(day)),
        None => known.with("due", code("unknown")),
    };
    Some(Draft::new("inventory:reorder", Severity::Medium, Category::Inventory, with_skus(told, &skus)))
}

fn skus<'a>(items: &[&'a CriticalItem]) -> Vec<&'a str> {
    items.iter().map(|item| item.sku.as_str()).collect()
}

/// How many SKUs there are, and which of them are named.
fn with_skus(told: Told, skus: &[&str]) -> Told {
    let number = |skus: usize| count(i64::try_from(skus).unwrap_or(i64::MAX));
    told.with("products", number(skus.len()))
        .with("others", number(skus.len().saturating_sub(NAMED_SKUS)))
        .with("skus", Value::Names(skus.iter().take(NAMED_SKUS).map(|sku| (*sku).to_owned()).collect()))
}
