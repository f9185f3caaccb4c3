//! Rules that put facts into words. A sentence says what is known and no more: a cause is named only where one was
//! found.

use rust_decimal::Decimal;

use super::{
    Category, Draft, Severity,
    facts::{AnomalyFact, CriticalItem, Facts, StaleShop},
    grounding::{Fact, Grounds, quoted},
};
use crate::{
    anomalies::{self, Direction},
    customers::Segment,
    daily::DayTotals,
    metrics::{
        Metric, Sums, Unit,
        stock::{CRITICAL_DAYS, is_out_of_stock, is_stockout},
    },
    money::{Currency, estimate, ratio},
};

/// Days that are compared with as many before them.
const PERIOD_DAYS: usize = 30;
/// Changes of a period smaller than a fifth are no news.
const NOTABLE_CHANGE: Decimal = Decimal::from_parts(2, 0, 0, false, 1);
/// SKUs that are named one by one.
const NAMED_SKUS: usize = 5;

/// The insights that the facts give, each about a situation of its own.
pub fn draft(facts: &Facts) -> Vec<Draft> {
    let Facts { currency, days, stored } = facts;
    let mut drafts: Vec<Draft> =
        newest_notable(&stored.anomalies).into_iter().filter_map(|fact| anomaly(fact, *currency)).collect();
    if let Some((before, last)) = periods(days) {
        drafts.extend(profit(&before, &last, returned(days), *currency));
        drafts.extend(return_on_ads(&before, &last, *currency));
        drafts.extend(cost_of_customers(&before, &last, *currency));
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

fn anomaly(fact: &AnomalyFact, currency: Currency) -> Option<Draft> {
    let metric: Metric = fact.metric.parse().ok()?;
    let category = match metric {
        Metric::GrossRevenue | Metric::Refunds => Category::Revenue,
        Metric::Profit => Category::Profit,
        Metric::AdSpend | Metric::Roas | Metric::Cac => Category::Ads,
        Metric::NewCustomers | Metric::Conversion => Category::Customers,
        Metric::Aov => Category::Pricing,
        // Follow from the others: one event is one insight.
        Metric::NetRevenue
        | Metric::Orders
        | Metric::Units
        | Metric::Customers
        | Metric::RefundRate
        | Metric::Margin => return None,
    };
    let side = match fact.direction {
        Direction::Down => "below",
        Direction::Up => "above",
    };
    let (observed, expected) = (figure(metric, fact.observed, currency), figure(metric, fact.expected, currency));
    let lasting = if fact.is_shift { " The change has lasted for a week." } else { "" };
    let cause = fact
        .cause
        .as_ref()
        .map_or_else(|| "The data does not tell why.".to_owned(), |cause| format!("{}.", capitalised(cause)));
    let gap = figure(metric, (fact.observed - fact.expected).abs(), currency);
    let mut facts = vec![observed, expected, gap, Fact::Day(fact.day), Fact::Moved(fact.direction)];
    if fact.expected != 0.0 {
        let change = 100.0 * ((fact.observed - fact.expected) / fact.expected).abs();
        facts.push(Fact::percent(estimate(change, 6), 0));
    }
    Some(Draft {
        fingerprint: format!("anomaly:{metric}:{}", fact.direction),
        severity: fact.severity,
        category,
        title: format!("{} {side} what was expected on {}", capitalised(metric.words()), fact.day),
        body: format!("{observed} on {} where {expected} was expected.{lasting} {cause}", fact.day),
        suggested_action: format!("Look at {} and the days around it.", fact.day),
        impact_estimate: format!("{gap} {side} the expected value on that day"),
        grounds: Grounds { facts, names: Vec::new(), cause: fact.cause.clone() },
    })
}

/// A value of a metric as a person reads it.
fn figure(metric: Metric, value: f64, currency: Currency) -> Fact {
    let exact = if value < 0.0 { -estimate(-value, 6) } else { estimate(value, 6) };
    match metric.unit() {
        Unit::Share => Fact::percent(exact * Decimal::ONE_HUNDRED, 1),
        Unit::Ratio => Fact::ratio(exact),
        Unit::Count => Fact::count(exact),
        Unit::Money => Fact::money(exact, currency),
    }
}

fn money(amount: Decimal, currency: Currency) -> Fact {
    Fact::money(amount, currency)
}

/// How many percent less `is` than `was`, which is above zero.
fn fallen_by(was: Decimal, is: Decimal) -> Fact {
    Fact::percent(ratio(was - is, was) * Decimal::ONE_HUNDRED, 0)
}

fn period() -> Fact {
    Fact::days(i64::try_from(PERIOD_DAYS).unwrap_or(i64::MAX))
}

fn grounds(facts: Vec<Fact>) -> Grounds {
    Grounds { facts, ..Grounds::default() }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
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

fn profit(before: &Sums, last: &Sums, returned: Decimal, currency: Currency) -> Option<Draft> {
    let (was, is) = (before.components.final_profit(), last.components.final_profit());
    let fell = was > Decimal::ZERO && is < was * (Decimal::ONE - NOTABLE_CHANGE);
    if !fell && is >= Decimal::ZERO {
        return None;
    }
    let (was_net, is_net) = (before.components.net_revenue(), last.components.net_revenue());
    let moved = [(was, is), (was_net, is_net), (was_net - was, is_net - is)];
    let costs = |sums: &Sums| sums.components.net_revenue() - sums.components.final_profit();
    let loss = is < Decimal::ZERO;
    let [is_money, was_money, less] = [is, was, was - is].map(|amount| money(amount, currency));
    let [was_net, is_net, was_costs, is_costs] =
        [was_net, is_net, costs(before), costs(last)].map(|amount| money(amount, currency));
    let mut facts = vec![is_money, was_money, less, was_net, is_net, was_costs, is_costs, period()];
    facts.extend(moved.into_iter().filter_map(|(was, is)| Fact::moved(was, is)));
    if was > Decimal::ZERO && !loss {
        facts.push(fallen_by(was, is));
    }
    let mut body = format!(
        "Profit was {is_money} after {was_money} in the 30 days before. Net revenue went from {was_net} to {is_net}, \
         all costs together from {was_costs} to {is_costs}."
    );
    if returned > Decimal::ZERO {
        let returned = money(returned, currency);
        body += &format!(" An estimated {returned} is taken off these costs for goods that came back.");
        facts.push(returned);
    }
    Some(Draft {
        fingerprint: if loss { "profit:loss" } else { "profit:fall" }.to_owned(),
        severity: if loss { Severity::High } else { Severity::Medium },
        category: Category::Profit,
        title: if loss { "The last 30 days made a loss" } else { "Profit fell over the last 30 days" }.to_owned(),
        body,
        suggested_action: "Compare the costs of both periods in the daily profit figures.".to_owned(),
        impact_estimate: format!("{less} less profit in 30 days"),
        grounds: grounds(facts),
    })
}

fn return_on_ads(before: &Sums, last: &Sums, currency: Currency) -> Option<Draft> {
    let (was, is) = (Metric::Roas.of(before)?, Metric::Roas.of(last)?);
    if is > was * (Decimal::ONE - NOTABLE_CHANGE) {
        return None;
    }
    let spent = money(last.components.ad_spend, currency);
    let (is_ratio, was_ratio) = (Fact::ratio(is), Fact::ratio(was));
    Some(Draft {
        fingerprint: "ads:roas".to_owned(),
        severity: if is * Decimal::TWO <= was { Severity::High } else { Severity::Medium },
        category: Category::Ads,
        title: "Ads return less than they did".to_owned(),
        body: format!(
            "Revenue per unit of ad spend was {is_ratio} over the last 30 days and {was_ratio} in the 30 days before; \
             {spent} was spent."
        ),
        suggested_action: "Check which campaigns spend most and cut those that bring no orders.".to_owned(),
        impact_estimate: format!("{spent} of ad spend at the lower return"),
        grounds: grounds(vec![is_ratio, was_ratio, spent, period(), fallen_by(was, is), Fact::Moved(Direction::Down)]),
    })
}

fn cost_of_customers(before: &Sums, last: &Sums, currency: Currency) -> Option<Draft> {
    let (was, is) = (Metric::Cac.of(before)?, Metric::Cac.of(last)?);
    if was.is_zero() || is < was * (Decimal::ONE + NOTABLE_CHANGE) {
        return None;
    }
    let [is_money, was_money, more] = [is, was, is - was].map(|amount| money(amount, currency));
    let (new, new_before) = (Fact::count(last.new_customers), Fact::count(before.new_customers));
    Some(Draft {
        fingerprint: "ads:cac".to_owned(),
        severity: Severity::Medium,
        category: Category::Ads,
        title: "New customers cost more than they did".to_owned(),
        body: format!(
            "Ad spend per new customer was {is_money} over the last 30 days and {was_money} in the 30 days before \
             ({new} new customers after {new_before})."
        ),
        suggested_action: "Compare this with what a new customer is expected to bring in.".to_owned(),
        impact_estimate: format!("{more} more per new customer"),
        grounds: grounds(vec![is_money, was_money, more, new, new_before, period(), Fact::Moved(Direction::Up)]),
    })
}

/// Most sold first.
fn stockouts(critical: &[CriticalItem]) -> Option<Draft> {
    let is_stockout = |item: &&CriticalItem| is_stockout(item.current_stock, item.units_sold_30d);
    let mut items: Vec<&CriticalItem> = critical.iter().filter(is_stockout).collect();
    items.sort_by(|a, b| b.units_sold_30d.cmp(&a.units_sold_30d).then_with(|| a.sku.cmp(&b.sku)));
    let skus: Vec<&str> = items.iter().map(|item| item.sku.as_str()).collect();
    let count = skus.len();
    (count > 0).then(|| Draft {
        fingerprint: "inventory:sold_out".to_owned(),
        severity: Severity::Critical,
        category: Category::Inventory,
        title: format!(
            "{count} {} out of stock",
            if count == 1 { "product that sells is" } else { "products that sell are" }
        ),
        body: format!("No stock is left of {}; each sold in the last 30 days.", listed(&skus)),
        suggested_action: "Reorder them or take them off the shop until they are back.".to_owned(),
        impact_estimate: format!("Sales of {count} {} are lost every day", products(count)),
        grounds: of_skus(&skus, period()),
    })
}

/// The most urgent first.
fn running_out(critical: &[CriticalItem]) -> Option<Draft> {
    let in_stock = critical.iter().filter(|item| !is_out_of_stock(item.current_stock));
    let skus: Vec<&str> = in_stock.map(|item| item.sku.as_str()).collect();
    let count = skus.len();
    (count > 0).then(|| Draft {
        fingerprint: "inventory:running_out".to_owned(),
        severity: Severity::High,
        category: Category::Inventory,
        title: format!("{count} {} will be sold out within {CRITICAL_DAYS} days", products(count)),
        body: format!("At the present rate the stock of {} lasts for {CRITICAL_DAYS} days at most.", listed(&skus)),
        suggested_action: "Reorder them now.".to_owned(),
        impact_estimate: format!("{count} {} about to be sold out", products(count)),
        grounds: of_skus(&skus, Fact::days(CRITICAL_DAYS)),
    })
}

fn reorders(count: i64) -> Option<Draft> {
    (count > 0).then(|| Draft {
        fingerprint: "inventory:reorder".to_owned(),
        severity: Severity::Medium,
        category: Category::Inventory,
        title: format!("{count} suggested {} to decide on", if count == 1 { "reorder" } else { "reorders" }),
        body: format!("{count} items would not last until a later order arrives. Each suggestion states its numbers."),
        suggested_action: "Go through the pending reorder suggestions.".to_owned(),
        impact_estimate: format!("{count} items at risk of being sold out"),
        grounds: grounds(vec![Fact::count(count)]),
    })
}

fn products(count: usize) -> &'static str {
    if count == 1 { "product" } else { "products" }
}

fn listed(skus: &[&str]) -> String {
    let named = skus.iter().take(NAMED_SKUS).map(|sku| quoted(sku)).collect::<Vec<_>>().join(", ");
    match skus.len().saturating_sub(NAMED_SKUS) {
        0 => named,
        others => format!("{named} and {others} more"),
    }
}

/// How many SKUs there are, which of them are named, and the days that the texts speak of.
fn of_skus(skus: &[&str], days: Fact) -> Grounds {
    let count = |skus: usize| Fact::count(i64::try_from(skus).unwrap_or(i64::MAX));
    Grounds {
        facts: vec![count(skus.len()), count(skus.len().saturating_sub(NAMED_SKUS)), days],
        names: skus.iter().take(NAMED_SKUS).map(|sku| quoted(sku)).collect(),
        cause: None,
    }
}

fn churn(facts: &Facts) -> Option<Draft> {
    let segments = &facts.stored.segments;
    let total: Decimal = segments.iter().map(|segment| segment.revenue).sum();
    let at_risk = segments.iter().find(|segment| segment.segment == Segment::AtRisk)?;
    if at_risk.customers == 0 || at_risk.revenue.is_zero() {
        return None;
    }
    let share = ratio(at_risk.revenue, total);
    let (revenue, customers) = (money(at_risk.revenue, facts.currency), at_risk.customers);
    let percent = Fact::percent(share * Decimal::ONE_HUNDRED, 0);
    let segment = quoted(Segment::AtRisk.as_str());
    Some(Draft {
        fingerprint: "churn:at_risk".to_owned(),
        severity: if share >= NOTABLE_CHANGE { Severity::High } else { Severity::Medium },
        category: Category::ChurnRisk,
        title: format!("{customers} good customers have not come back for long"),
        body: format!(
            "They spent {revenue} so far, {percent} of what all customers did, and have been away for longer than most."
        ),
        suggested_action: format!("Write to the customers of the segment {segment}."),
        impact_estimate: format!("{revenue} of past revenue came from them"),
        grounds: Grounds { facts: vec![revenue, percent, Fact::count(customers)], names: vec![segment], cause: None },
    })
}

fn stale_shop(stale: &StaleShop) -> Draft {
    let StaleShop { provider, shop, last_sync_at } = stale;
    let name = quoted(shop);
    Draft {
        fingerprint: format!("integrations:stale:{provider}:{shop}"),
        severity: Severity::High,
        category: Category::Integrations,
        title: format!("No data from {name} since {}", last_sync_at.date()),
        body: format!("The {provider} shop {name} was last synchronised on {} (UTC).", last_sync_at.date()),
        suggested_action: "Check the connection, and connect the shop again if need be.".to_owned(),
        impact_estimate: "Figures of later days are incomplete".to_owned(),
        grounds: Grounds { facts: vec![Fact::Day(last_sync_at.date())], names: vec![name], cause: None },
    }
}

#[cfg(test)]
mod tests;
