//! Rules that say which facts are worth telling. What is told is what is known and no more.

use rust_decimal::Decimal;

use super::{
    Category, Draft, Severity, campaigns, choice,
    facts::{CommentsWaiting, CriticalItem, Facts, StaleShop, StoryFact},
    news::{self, Record},
    products, stock, stories,
    told::{Kind, Told, Value},
};
use crate::{
    ads::CampaignSums,
    anomalies::Direction,
    customers::Segment,
    daily::DayTotals,
    metrics::{Metric, Sums, contribution::contribution_share},
    money::{estimate, ratio},
    profit::Basis,
    stories::{LeverKind, Phase, Story, Subject},
    zone::Zone,
};

/// Days that are compared with as many before them.
pub(super) const PERIOD_DAYS: u8 = 30;
/// Changes of a period smaller than a fifth are no news.
const NOTABLE_CHANGE: Decimal = Decimal::from_parts(2, 0, 0, false, 1);

/// The insights that the facts give, each about a situation of its own, in the order in which they are told.
pub fn draft(facts: &Facts) -> Vec<Draft> {
    let Facts { last: _, zone, days, stored } = facts;
    let record = news::record(days);
    let mut drafts: Vec<Draft> = stored.stories.iter().map(|fact| stories::draft(fact, record)).collect();
    drafts.extend(news::digest(facts, record));
    // One of a story that is over was told with it.
    let is_told = |record: &Record| worth_telling(&stored.stories).any(|story| stories::is_of(story, *record));
    drafts.extend(record.filter(|record| !is_told(record)).map(Record::draft));
    if let Some((before, last)) = periods(days) {
        let of_period =
            [profit(&before, &last, returned(days)), return_on_ads(&before, &last), cost_of_customers(&before, &last)];
        drafts.extend(of_period.into_iter().flatten().filter(|draft| !is_of_a_story(draft, &stored.stories)));
    }
    drafts.extend(good_news(facts));
    drafts.extend(inventory(facts));
    drafts.extend(churn(facts));
    drafts.extend(stored.waiting.map(|waiting| comments_waiting(waiting, zone)));
    drafts.extend(stored.stale_shops.iter().map(|shop| stale_shop(shop, zone)));
    choice::rank(&mut drafts, usual_day(days));
    drafts
}

/// What is out of stock, will be, or is to be ordered; each item in one of them.
fn inventory(facts: &Facts) -> Vec<Draft> {
    let Facts { last, zone: _, days, stored } = facts;
    let today = last.next_day().unwrap_or(*last);
    let (sold_out, mut running_out) = (stock::sold_out(&stored.critical), stock::running_out(&stored.critical));
    // The pace of a few days tells nothing.
    if sells_for_less_than(days, stock::EVIDENT_DAYS) {
        running_out.clear();
    }
    let told: Vec<&CriticalItem> = sold_out.iter().chain(&running_out).copied().collect();
    let is_of_story = |item: &&CriticalItem| is_lever(&stored.stories, LeverKind::StockOut, &item.sku);
    let sold_out: Vec<&CriticalItem> = sold_out.into_iter().filter(|item| !is_of_story(item)).collect();
    let left = left_of_sales(days);
    let drafts = [
        stock::draft_sold_out(&sold_out, left),
        stock::draft_running_out(&running_out, left),
        stock::draft_reorders(&stored.reorders, &told, today),
    ];
    drafts.into_iter().flatten().collect()
}

/// What sells or pays far better than the rest, but for what a story tells already.
fn good_news(facts: &Facts) -> Vec<Draft> {
    let Facts { last: _, zone: _, days, stored } = facts;
    let usual = usual_day(days);
    let untold = stored.products.iter().filter(|product| !is_lever(&stored.stories, LeverKind::Product, &product.sku));
    let is_of_story = |campaign: &CampaignSums| {
        is_lever(&stored.stories, LeverKind::Campaign, &format!("{}/{}", campaign.platform, campaign.name))
    };
    let mut drafts = products::took_off(days, untold, usual);
    if !stored.campaigns.iter().any(is_of_story) {
        let last = last_period(days);
        let mut basis = Basis::default();
        last.iter().for_each(|day| basis += day.basis);
        // By a ratio that stands for unit costs nobody knows what pays.
        let contribution = contribution_share(last).filter(|_| basis.costs_are_known());
        drafts.extend(campaigns::pays(&stored.campaigns, stored.order_value, contribution, usual));
    }
    drafts
}

/// The stories that earn a place, also those that are over.
fn worth_telling(stories: &[StoryFact]) -> impl Iterator<Item = &Story> {
    stories.iter().map(|fact| &fact.story).filter(|story| story.is_worth_telling())
}

/// The stories that earn a place and are not over.
fn told(stories: &[StoryFact]) -> impl Iterator<Item = &Story> {
    worth_telling(stories).filter(|story| story.phase == Phase::Open)
}

/// How much of what a period's insight is about one story has to be for the story to be the whole of it.
const MOST_OF_IT: Decimal = Decimal::from_parts(5, 0, 0, false, 1);

/// Whether one event that is told anyway is most of what a comparison of periods has to say.
fn is_of_a_story(draft: &Draft, stories: &[StoryFact]) -> bool {
    let is_good = draft.told.kind == Kind::ProfitRose;
    let is_alike = |story: &&Story| match draft.told.kind {
        Kind::AdsReturnLess | Kind::NewCustomersCostMore => {
            (story.subject, story.direction) == (Subject::Ads, Direction::Up)
        }
        Kind::ProfitRose | Kind::ProfitFell => story.is_good() == is_good,
        _ => false,
    };
    let Some(stake) = draft.stake else { return false };
    told(stories).filter(is_alike).any(|story| estimate(story.stake(), 2) >= MOST_OF_IT * stake)
}

/// Whether the lever of a story that is told is that part.
fn is_lever(stories: &[StoryFact], kind: LeverKind, part: &str) -> bool {
    told(stories)
        .filter_map(|story| story.lever.as_ref())
        .any(|lever| lever.kind == kind && lever.part.as_deref() == Some(part))
}

pub(super) fn code(code: impl ToString) -> Value {
    Value::Code(code.to_string())
}

/// What a day of the last period leaves after goods, fees and shipping, as stories tell their amounts; what it sells where no
/// cost is known.
fn usual_day(days: &[DayTotals]) -> Decimal {
    let last = last_period(days);
    ratio(Sums::of_days(last).components.gross_revenue, last.len().into()) * left_of_sales(days)
}

/// What goods, fees and shipping leave of a sale in the last period, in parts of it; all where no cost is known.
fn left_of_sales(days: &[DayTotals]) -> Decimal {
    let left = contribution_share(last_period(days)).filter(|share| *share > 0.0);
    left.map_or(Decimal::ONE, |share| estimate(share, 4))
}

/// The last 30 days, or as many as there are.
fn last_period(days: &[DayTotals]) -> &[DayTotals] {
    days.get(days.len().saturating_sub(PERIOD_DAYS.into())..).unwrap_or_default()
}

/// Whether the first sale is fewer days ago than that.
fn sells_for_less_than(days: &[DayTotals], least: usize) -> bool {
    let begins = days.iter().position(|day| !day.gross_revenue.is_zero());
    begins.is_some_and(|begins| days.len() - begins < least)
}

/// The compared days.
pub(super) fn period() -> Value {
    Value::Days(PERIOD_DAYS.into())
}

pub(super) fn count(count: impl Into<Decimal>) -> Value {
    Value::Count(count.into())
}

/// The sums of the last 30 days and of the 30 before, if there are as many.
fn periods(days: &[DayTotals]) -> Option<(Sums, Sums)> {
    let length = usize::from(PERIOD_DAYS);
    let (earlier, last) = days.split_at(days.len().checked_sub(length)?);
    let before = earlier.get(earlier.len().checked_sub(length)?..)?;
    Some((Sums::of_days(before), Sums::of_days(last)))
}

/// Costs of the last period that were taken back with goods, which is an estimate.
fn returned(days: &[DayTotals]) -> Decimal {
    last_period(days).iter().map(DayTotals::returned_costs).sum()
}

fn profit(before: &Sums, last: &Sums, returned: Decimal) -> Option<Draft> {
    let (was, is) = (before.components.final_profit(), last.components.final_profit());
    let costs = |sums: &Sums| sums.components.net_revenue() - sums.components.final_profit();
    let (kind, fingerprint, severity) = match () {
        () if is < Decimal::ZERO => (Kind::Loss, "profit:loss", Severity::High),
        () if is < was && is <= was * (Decimal::ONE - NOTABLE_CHANGE) => {
            (Kind::ProfitFell, "profit:fall", Severity::Medium)
        }
        () if is > was && is >= was * (Decimal::ONE + NOTABLE_CHANGE) => {
            (Kind::ProfitRose, "profit:rise", Severity::Low)
        }
        () => return None,
    };
    let stake = if kind == Kind::Loss { -is } else { (was - is).abs() };
    let told = Told::new(kind)
        .with("days", period())
        .with("profit", Value::Money(is))
        .with("profit_before", Value::Money(was))
        .with("net_revenue", Value::Money(last.components.net_revenue()))
        .with("net_revenue_before", Value::Money(before.components.net_revenue()))
        .with("costs", Value::Money(costs(last)))
        .with("costs_before", Value::Money(costs(before)))
        .with("has_returned", code(if returned > Decimal::ZERO { "yes" } else { "no" }))
        .with("returned", Value::Money(returned))
        .with(if kind == Kind::ProfitRose { "gained" } else { "lost" }, Value::Money(stake))
        .with_moved("profit_moved", was, is)
        .with_moved("net_revenue_moved", before.components.net_revenue(), last.components.net_revenue())
        .with_moved("costs_moved", costs(before), costs(last));
    Some(Draft { stake: Some(stake), ..Draft::new(fingerprint, severity, Category::Profit, told) })
}

fn return_on_ads(before: &Sums, last: &Sums) -> Option<Draft> {
    let (was, is) = (Metric::Roas.of(before)?, Metric::Roas.of(last)?);
    if was.is_zero() || is > was * (Decimal::ONE - NOTABLE_CHANGE) {
        return None;
    }
    let told = Told::new(Kind::AdsReturnLess)
        .with("days", period())
        .with("roas", Value::Ratio(is))
        .with("roas_before", Value::Ratio(was))
        .with_moved("roas_moved", was, is)
        .with("spent", Value::Money(last.components.ad_spend));
    let severity = if is * Decimal::TWO <= was { Severity::High } else { Severity::Medium };
    // Of what was spent, the part that brings nothing any more.
    let stake = last.components.ad_spend * (Decimal::ONE - ratio(is, was));
    Some(Draft { stake: Some(stake), ..Draft::new("ads:roas", severity, Category::Ads, told) })
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
    let stake = (is - was) * Decimal::from(last.new_customers);
    Some(Draft { stake: Some(stake), ..Draft::new("ads:cac", Severity::Medium, Category::Ads, told) })
}

fn churn(facts: &Facts) -> Option<Draft> {
    // In a shop of a few weeks nobody has been away for long.
    if sells_for_less_than(&facts.days, 2 * usize::from(PERIOD_DAYS)) {
        return None;
    }
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
    let severity = if share >= NOTABLE_CHANGE { Severity::High } else { Severity::Medium };
    Some(Draft::new("churn:at_risk", severity, Category::ChurnRisk, told))
}

fn comments_waiting(waiting: CommentsWaiting, zone: &Zone) -> Draft {
    let CommentsWaiting { comments, complaints, since } = waiting;
    let told = Told::new(Kind::CommentsWaiting)
        .with("comments", count(comments))
        .with("complaints", count(complaints))
        .with("day", Value::Date(zone.day_of(since)));
    let severity = if complaints > 0 { Severity::High } else { Severity::Medium };
    Draft::new("social:waiting", severity, Category::Social, told)
}

fn stale_shop(stale: &StaleShop, zone: &Zone) -> Draft {
    let StaleShop { provider, shop, last_sync_at, has_ended } = stale;
    let told = Told::new(Kind::StaleShop)
        .with("platform", code(provider))
        .with("source", code(if provider.is_shop() { "shop" } else { "ads" }))
        .with("shop", Value::Names(vec![shop.clone()]))
        .with("day", Value::Date(zone.day_of(*last_sync_at)))
        .with("ended", code(if *has_ended { "yes" } else { "no" }));
    let fingerprint = format!("integrations:stale:{provider}:{shop}");
    Draft::new(fingerprint, Severity::High, Category::Integrations, told)
}

#[cfg(test)]
pub(crate) mod tests;
