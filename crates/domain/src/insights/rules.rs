//! Rules that say which facts are worth telling. What is told is what is known and no more.

use rust_decimal::Decimal;

use super::{
    Category, Draft, Severity,
    facts::{AnomalyFact, CriticalItem, Facts, StaleShop},
    told::{Kind, Told, Value},
};
use crate::{
    anomalies::{self, Cause},
    customers::Segment,
    daily::DayTotals,
    metrics::{
        Metric, Sums, Unit,
        stock::{CRITICAL_DAYS, is_out_of_stock, is_stockout},
    },
    money::{estimate, ratio},
};

/// Days that are compared with as many before them.
const PERIOD_DAYS: usize = 30;
/// Changes of a period smaller than a fifth are no news.
const NOTABLE_CHANGE: Decimal = Decimal::from_parts(2, 0, 0, false, 1);
/// Days for which a shift has lasted when it is called one.
const SHIFT_DAYS: i64 = 7;
/// SKUs that are named one by one.
const NAMED_SKUS: usize = 5;

/// The insights that the facts give, each about a situation of its own.
pub fn draft(facts: &Facts) -> Vec<Draft> {
    let Facts { days, stored } = facts;
    let mut drafts: Vec<Draft> = newest_notable(&stored.anomalies).into_iter().filter_map(anomaly).collect();
    if let Some((before, last)) = periods(days) {
        drafts.extend(profit(&before, &last, returned(days)));
        drafts.extend(return_on_ads(&before, &last));
        drafts.extend(cost_of_customers(&before, &last));
    }
    drafts.extend(stockouts(&stored.critical));
    drafts.extend(running_out(&stored.critical));
    drafts.extend(reorders(stored.reorders));
    drafts.extend(churn(facts));
    drafts.extend(stored.stale_shops.iter().map(stale_shop));
    drafts
}

/// The newest notable deviation of each metric in each direction.
fn newest_notable(facts: &[AnomalyFact]) -> Vec<&AnomalyFact> {
    let mut found: Vec<&AnomalyFact> = facts.iter().filter(|fact| anomalies::is_notable(fact.severity)).collect();
    found.dedup_by(|later, first| (&later.metric, later.direction) == (&first.metric, first.direction));
    found
}

fn anomaly(fact: &AnomalyFact) -> Option<Draft> {
    let metric: Metric = fact.metric.parse().ok()?;
    let category = match metric {
        Metric::GrossRevenue | Metric::Refunds => Category::Revenue,
        Metric::Profit => Category::Profit,
        Metric::AdSpend | Metric::Roas | Metric::Cac => Category::Ads,
        Metric::NewCustomers | Metric::Conversion => Category::Customers,
        Metric::Aov => Category::Pricing,
        // It is told of no other metric.
        Metric::Orders if fact.lever == Some(Cause::ClosedDay) => Category::Revenue,
        // Follow from the others: one event is one insight.
        Metric::NetRevenue
        | Metric::Orders
        | Metric::Units
        | Metric::Customers
        | Metric::RefundRate
        | Metric::Margin => return None,
    };
    let [observed, expected] = [fact.observed, fact.expected].map(signed_estimate);
    let told = Told::new(Kind::Anomaly)
        .with("metric", code(metric))
        .with("direction", Value::Moved(fact.direction))
        .with("lasting", code(if fact.is_shift { "yes" } else { "no" }))
        .with("lasting_days", Value::Days(SHIFT_DAYS))
        .with("day", Value::Date(fact.day))
        .with("observed", figure(metric, observed))
        .with("expected", figure(metric, expected))
        .with(
            "gap",
            match figure(metric, (observed - expected).abs()) {
                Value::Share(difference) => Value::Points(difference),
                other => other,
            },
        );
    let told = match &fact.cause {
        Some(cause) => told.with("known", code("yes")).with("cause", Value::Sentence(cause.clone())),
        None => told.with("known", code("no")),
    };
    Some(Draft { fingerprint: format!("anomaly:{metric}:{}", fact.direction), severity: fact.severity, category, told })
}

fn code(code: impl ToString) -> Value {
    Value::Code(code.to_string())
}

/// A value of a metric in its unit.
const fn figure(metric: Metric, value: Decimal) -> Value {
    match metric.unit() {
        Unit::Share => Value::Share(value),
        Unit::Ratio => Value::Ratio(value),
        Unit::Count => Value::Count(value),
        Unit::Money => Value::Money(value),
    }
}

fn signed_estimate(figure: f64) -> Decimal {
    if figure < 0.0 { -estimate(-figure, 6) } else { estimate(figure, 6) }
}

/// The compared days.
fn period() -> Value {
    Value::Days(i64::try_from(PERIOD_DAYS).unwrap_or(i64::MAX))
}

fn count(count: impl Into<Decimal>) -> Value {
    Value::Count(count.into())
}

/// The sums of the last 30 days and of the 30 before, if there are as many.
fn periods(days: &[DayTotals]) -> Option<(Sums, Sums)> {
    let (earlier, last) = days.split_at(days.len().checked_sub(PERIOD_DAYS)?);
    let before = earlier.get(earlier.len().checked_sub(PERIOD_DAYS)?..)?;
    Some((Sums::of_days(before), Sums::of_days(last)))
}

/// Costs of the last period that were taken back with goods, which is an estimate.
fn returned(days: &[DayTotals]) -> Decimal {
    days.iter().rev().take(PERIOD_DAYS).map(|day| day.basis.returned_cogs + day.basis.returned_fees).sum()
}

fn profit(before: &Sums, last: &Sums, returned: Decimal) -> Option<Draft> {
    let (was, is) = (before.components.final_profit(), last.components.final_profit());
    let fell = was > Decimal::ZERO && is < was * (Decimal::ONE - NOTABLE_CHANGE);
    if !fell && is >= Decimal::ZERO {
        return None;
    }
    let costs = |sums: &Sums| sums.components.net_revenue() - sums.components.final_profit();
    let loss = is < Decimal::ZERO;
    let told = Told::new(if loss { Kind::Loss } else { Kind::ProfitFell })
        .with("days", period())
        .with("profit", Value::Money(is))
        .with("profit_before", Value::Money(was))
        .with("net_revenue", Value::Money(last.components.net_revenue()))
        .with("net_revenue_before", Value::Money(before.components.net_revenue()))
        .with("costs", Value::Money(costs(last)))
        .with("costs_before", Value::Money(costs(before)))
        .with("has_returned", code(if returned > Decimal::ZERO { "yes" } else { "no" }))
        .with("returned", Value::Money(returned))
        .with("lost", Value::Money(if loss { -is } else { was - is }))
        .with_moved("profit_moved", was, is)
        .with_moved("net_revenue_moved", before.components.net_revenue(), last.components.net_revenue())
        .with_moved("costs_moved", costs(before), costs(last));
    Some(Draft {
        fingerprint: if loss { "profit:loss" } else { "profit:fall" }.to_owned(),
        severity: if loss { Severity::High } else { Severity::Medium },
        category: Category::Profit,
        told,
    })
}

fn return_on_ads(before: &Sums, last: &Sums) -> Option<Draft> {
    let (was, is) = (Metric::Roas.of(before)?, Metric::Roas.of(last)?);
    if is > was * (Decimal::ONE - NOTABLE_CHANGE) {
        return None;
    }
    let told = Told::new(Kind::AdsReturnLess)
        .with("days", period())
        .with("roas", Value::Ratio(is))
        .with("roas_before", Value::Ratio(was))
        .with_moved("roas_moved", was, is)
        .with("spent", Value::Money(last.components.ad_spend));
    Some(Draft {
        fingerprint: "ads:roas".to_owned(),
        severity: if is * Decimal::TWO <= was { Severity::High } else { Severity::Medium },
        category: Category::Ads,
        told,
    })
}

fn cost_of_customers(before: &Sums, last: &Sums) -> Option<Draft> {
    let (was, is) = (Metric::Cac.of(before)?, Metric::Cac.of(last)?);
    if was.is_zero() || is < was * (Decimal::ONE + NOTABLE_CHANGE) {
        return None;
    }
    let told = Told::new(Kind::NewCustomersCostMore)
        .with("days", period())
        .with("cac", Value::Money(is))
        .with("cac_before", Value::Money(was))
        .with_moved("cac_moved", was, is)
        .with("more", Value::Money(is - was))
        .with("new_customers", count(last.new_customers))
        .with("new_customers_before", count(before.new_customers));
    Some(Draft { fingerprint: "ads:cac".to_owned(), severity: Severity::Medium, category: Category::Ads, told })
}

/// Most sold first.
fn stockouts(critical: &[CriticalItem]) -> Option<Draft> {
    let is_stockout = |item: &&CriticalItem| is_stockout(item.current_stock, item.units_sold_30d);
    let mut items: Vec<&CriticalItem> = critical.iter().filter(is_stockout).collect();
    items.sort_by(|a, b| b.units_sold_30d.cmp(&a.units_sold_30d).then_with(|| a.sku.cmp(&b.sku)));
    let skus: Vec<&str> = items.iter().map(|item| item.sku.as_str()).collect();
    (!skus.is_empty()).then(|| Draft {
        fingerprint: "inventory:sold_out".to_owned(),
        severity: Severity::Critical,
        category: Category::Inventory,
        told: with_skus(Told::new(Kind::SoldOut).with("days", period()), &skus),
    })
}

/// The most urgent first.
fn running_out(critical: &[CriticalItem]) -> Option<Draft> {
    let in_stock = critical.iter().filter(|item| !is_out_of_stock(item.current_stock));
    let skus: Vec<&str> = in_stock.map(|item| item.sku.as_str()).collect();
    (!skus.is_empty()).then(|| Draft {
        fingerprint: "inventory:running_out".to_owned(),
        severity: Severity::High,
        category: Category::Inventory,
        told: with_skus(Told::new(Kind::RunningOut).with("days", Value::Days(CRITICAL_DAYS.into())), &skus),
    })
}

fn reorders(pending: i64) -> Option<Draft> {
    (pending > 0).then(|| Draft {
        fingerprint: "inventory:reorder".to_owned(),
        severity: Severity::Medium,
        category: Category::Inventory,
        told: Told::new(Kind::Reorders).with("items", count(pending)),
    })
}

/// How many SKUs there are, and which of them are named.
fn with_skus(told: Told, skus: &[&str]) -> Told {
    let number = |skus: usize| count(i64::try_from(skus).unwrap_or(i64::MAX));
    told.with("products", number(skus.len()))
        .with("others", number(skus.len().saturating_sub(NAMED_SKUS)))
        .with("skus", Value::Names(skus.iter().take(NAMED_SKUS).map(|sku| (*sku).to_owned()).collect()))
}

fn churn(facts: &Facts) -> Option<Draft> {
    let segments = &facts.stored.segments;
    let total: Decimal = segments.iter().map(|segment| segment.revenue).sum();
    let at_risk = segments.iter().find(|segment| segment.segment == Segment::AtRisk)?;
    if at_risk.customers == 0 || at_risk.revenue.is_zero() {
        return None;
    }
    let share = ratio(at_risk.revenue, total);
    let told = Told::new(Kind::CustomersAtRisk)
        .with("customers", count(at_risk.customers))
        .with("revenue", Value::Money(at_risk.revenue))
        .with("share", Value::Share(share))
        .with("segment", Value::Names(vec![Segment::AtRisk.to_string()]));
    Some(Draft {
        fingerprint: "churn:at_risk".to_owned(),
        severity: if share >= NOTABLE_CHANGE { Severity::High } else { Severity::Medium },
        category: Category::ChurnRisk,
        told,
    })
}

fn stale_shop(stale: &StaleShop) -> Draft {
    let StaleShop { provider, shop, last_sync_at } = stale;
    Draft {
        fingerprint: format!("integrations:stale:{provider}:{shop}"),
        severity: Severity::High,
        category: Category::Integrations,
        told: Told::new(Kind::StaleShop)
            .with("platform", code(provider))
            .with("shop", Value::Names(vec![shop.clone()]))
            .with("day", Value::Date(last_sync_at.date())),
    }
}

#[cfg(test)]
pub(crate) mod tests;
