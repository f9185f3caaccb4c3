//! The job `risk_assessment`: what may go wrong within a month, by the results of the other jobs.

mod ads;
mod products;
mod shop;

use analytics::exposure::Spread;
use domain::{
    InsightId, StoreError,
    accounts::Platform,
    daily::{DayTotals, without_gaps},
    jobs::WriteOutcome,
    metrics::{Sums, contribution::OrderCosts},
    money::Currency,
    profit::{Basis, DayRange},
    risks::{Finding, Scale, Situation, integration_stale, low_credits, unanswered_conversations, webhook_failing},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use time::{Date, Duration, OffsetDateTime};

use super::{
    Work,
    demand::{Stocked, number},
    off_thread,
};

/// Days of daily sums that are looked at.
const DAYS: i64 = 90;
/// Days that tell how large the shop is.
const SCALE_DAYS: usize = 30;

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let (account, last, now) = (work.account, work.claim.last_full_day(), (work.clock)());
    // As of a day in the past, a shop is judged at that day's end.
    let judged_at = now.min(account.timezone.start_of(work.claim.as_of.next_day().unwrap_or(Date::MAX)));
    let stocked = Stocked::load(work).await?;
    let first = last.saturating_sub(Duration::days(DAYS - 1));
    let known = work.deps.daily.series(account.id, DayRange { first, last }).await?;
    let situation = work.deps.risk_source.situation(account.id, last, judged_at).await?;
    let currency = account.currency;
    let found = off_thread(move || {
        let shop = Shop::of(without_gaps(&known, first, last), currency);
        assess(&shop, &stocked, &situation, judged_at)
    })
    .await?;
    work.deps.risks.replace(work.claim, found, now).await
}

fn assess(shop: &Shop, stocked: &Stocked, situation: &Situation, now: OffsetDateTime) -> Vec<Finding> {
    let mut found = products::assess(shop, stocked, situation);
    found.extend(shop::assess(shop, situation));
    found.extend(ads::assess(shop, situation));
    let orders: i64 = situation.channels.iter().map(|channel| channel.orders).sum();
    for connected in &situation.shops {
        let blind = blind_share(situation, connected.provider, number(orders));
        let fingerprint = format!("integrations:stale:{}:{}", connected.provider, connected.shop);
        found.extend(integration_stale(connected, blind, insight(situation, &fingerprint), now));
    }
    found.extend(low_credits(situation.credits));
    found.extend(situation.webhooks.iter().map(|webhook| webhook_failing(webhook, now)));
    let waiting = insight(situation, "social:waiting");
    found.extend(situation.unanswered.map(|unanswered| unanswered_conversations(unanswered, waiting, now)));
    found
}

/// The part of all orders that came through the only shop connected on a platform. Which of two shops an order came through
/// is not told, so that of two the parts are unknown.
fn blind_share(situation: &Situation, platform: Platform, orders: f64) -> Option<f64> {
    if situation.shops.iter().filter(|shop| shop.provider == platform).count() > 1 {
        return None;
    }
    let own = situation.channels.iter().find(|channel| channel.platform == platform.as_str());
    part(own.map_or(0.0, |channel| number(channel.orders)), orders)
}

/// The open insight on a situation.
fn insight(situation: &Situation, fingerprint: &str) -> Option<InsightId> {
    situation.insights.iter().find(|open| open.fingerprint == fingerprint).map(|open| open.id)
}

/// The last 90 days of a shop, and what follows from their sums.
struct Shop {
    days: Vec<DayTotals>,
    scale: Scale,
    /// Contribution in parts of net revenue; none where too few unit costs are known.
    contribution: Option<f64>,
    costs: OrderCosts,
    /// Whether it has sold for less than a month: of its few buyers and products some have to bring most.
    is_young: bool,
}

impl Shop {
    fn of(days: Vec<DayTotals>, currency: Currency) -> Self {
        let month = days.get(days.len().saturating_sub(SCALE_DAYS)..).unwrap_or_default();
        let [all, month] = [days.as_slice(), month].map(|days| Sums::of_days(days).components);
        let mut basis = Basis::default();
        days.iter().for_each(|day| basis += day.basis);
        let is_known = basis.costs_are_known();
        let begins = days.iter().position(|day| day.orders > 0).unwrap_or(days.len());
        let sold_for = days.len() - begins;
        // What a shop of a week is large by is a month at its pace.
        let of_month = |sum: Decimal| amount(sum) * (SCALE_DAYS as f64 / sold_for.clamp(1, SCALE_DAYS) as f64);
        Self {
            scale: Scale {
                currency,
                profit: is_known.then(|| of_month(month.operational_profit())),
                net_revenue: of_month(month.net_revenue()),
            },
            is_young: sold_for < SCALE_DAYS,
            contribution: all.operational_margin().map(amount).filter(|_| is_known),
            costs: OrderCosts::of(&days),
            days,
        }
    }

    /// The last `days` days, or as many as there are.
    fn last(&self, days: usize) -> &[DayTotals] {
        self.days.get(self.days.len().saturating_sub(days)..).unwrap_or_default()
    }
}

const fn range(spread: Spread) -> (f64, f64, f64) {
    (spread.low, spread.expected, spread.high)
}

fn amount(money: Decimal) -> f64 {
    money.to_f64().unwrap_or_default()
}

/// None of no whole.
fn part(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests;
