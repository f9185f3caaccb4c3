//! Risks of the shop as a whole: its customers, channels, refunds and margin.

use analytics::exposure::{self, Change, Counts, DayRatio, Spike, change_of_ratio};
use domain::{
    daily::DayTotals,
    risks::{
        Channel, CustomerRevenue, CustomerShare, Customers, Finding, HORIZON_DAYS, Margin, Refunds, Situation,
        channel_concentration, churn, customer_concentration, margin_drop, refund_spike,
    },
};
use rust_decimal::Decimal;

use super::{Shop, amount, number, part, range};

/// Days of refunds that are held against the weeks before them.
const WEEK: usize = 7;
/// Days of a margin that are held against those before them.
const RECENT_DAYS: usize = 14;
/// Days that either is compared with.
const PAST_DAYS: usize = 56;

pub(super) fn assess(shop: &Shop, situation: &Situation) -> Vec<Finding> {
    let found = [
        churn(&leaving(shop, situation), &shop.scale),
        largest_customer(shop, situation).filter(|_| !shop.is_young),
        largest_channel(shop, situation).filter(|_| !shop.is_young),
        refunds(shop),
        margin(shop),
    ];
    found.into_iter().flatten().collect()
}

fn leaving(shop: &Shop, situation: &Situation) -> Customers {
    let leaving = &situation.customers.leaving;
    let probability = |customer: &CustomerRevenue| customer.churn.map(amount).unwrap_or_default();
    let chances = |contribution: f64| -> Vec<(f64, f64)> {
        let monthly = |net: Decimal| amount(net).max(0.0) * contribution.max(0.0) * number(HORIZON_DAYS) / 365.0;
        leaving.iter().map(|customer| (probability(customer), monthly(customer.net))).collect()
    };
    let count = u32::try_from(leaving.len()).unwrap_or(u32::MAX);
    Customers {
        count,
        mean_churn: leaving.iter().map(probability).sum::<f64>() / f64::from(count.max(1)),
        monthly_contribution: shop.contribution.map(|share| range(exposure::sum_of_chances(&chances(share)))),
        scored: situation.customers.scored,
    }
}

fn largest_customer(shop: &Shop, situation: &Situation) -> Option<Finding> {
    let customers = &situation.customers;
    let largest = customers.largest.as_ref()?;
    // Of all net revenue, what nobody is known to have bought included.
    let whole = amount(shop.days.iter().map(|day| day.components().net_revenue()).sum());
    let share = CustomerShare {
        customer_id: largest.customer_id,
        share: part(amount(largest.net), whole)?.min(1.0),
        hhi: exposure::concentration(customers.squares_90d, whole.max(amount(customers.net_90d)))?,
        churn: CustomerShare::calibrated(largest.churn.map(amount), customers.scored),
    };
    customer_concentration(&share, &shop.scale)
}

fn largest_channel(shop: &Shop, situation: &Situation) -> Option<Finding> {
    let revenues = || situation.channels.iter().map(|channel| amount(channel.revenue).max(0.0));
    let (whole, squares): (f64, f64) = (revenues().sum(), revenues().map(|revenue| revenue * revenue).sum());
    // The store gives them by revenue.
    let top = situation.channels.first()?;
    let channel = Channel {
        platform: &top.platform,
        share: part(amount(top.revenue), whole)?,
        hhi: exposure::concentration(squares, whole)?,
    };
    channel_concentration(&channel, &shop.scale)
}

fn refunds(shop: &Shop) -> Option<Finding> {
    let days = shop.last(PAST_DAYS + WEEK);
    let (past, week) = days.split_at_checked(days.len().checked_sub(WEEK)?)?;
    let before: Vec<Counts> = past.rchunks_exact(WEEK).map(counts).collect();
    let now = counts(week);
    let Spike { usual, limit, excess } = exposure::spike(&before, now)?;
    let lost = |day: &DayTotals| day.refunds - day.returned_costs();
    let lost = amount(days.iter().map(lost).sum()).max(0.0);
    let refunds = Refunds {
        count: now.events,
        usual,
        limit: limit as f64,
        excess: range(excess),
        mean_loss: part(lost, number(days.iter().map(|day| day.refund_count).sum()))?,
    };
    Some(refund_spike(&refunds, &shop.scale))
}

fn counts(days: &[DayTotals]) -> Counts {
    Counts {
        events: number(days.iter().map(|day| day.refund_count).sum()),
        trials: number(days.iter().map(|day| day.orders).sum()),
    }
}

fn margin(shop: &Shop) -> Option<Finding> {
    let days = shop.last(PAST_DAYS + RECENT_DAYS);
    let (past, recent) = days.split_at_checked(days.len().checked_sub(RECENT_DAYS)?)?;
    let ratios = |days: &[DayTotals]| -> Vec<DayRatio> {
        let margin = |day: &DayTotals| amount(day.components().profit_after_ads());
        let whole = |day: &DayTotals| amount(day.components().net_revenue());
        days.iter().map(|day| DayRatio { part: margin(day), whole: whole(day) }).collect()
    };
    let Change { before, after, interval, fall } = change_of_ratio(&ratios(past), &ratios(recent))?;
    let net = |days: &[DayTotals]| amount(days.iter().map(|day| day.components().net_revenue()).sum());
    let rise = |figure: fn(&DayTotals) -> Decimal, whole: &dyn Fn(&[DayTotals]) -> f64| {
        let share = |days: &[DayTotals]| part(amount(days.iter().map(figure).sum()), whole(days)).unwrap_or_default();
        share(recent) - share(past)
    };
    let gross = |days: &[DayTotals]| amount(days.iter().map(|day| day.gross_revenue).sum());
    let margin = Margin {
        before,
        after,
        change_high: interval.1,
        fall: range(fall),
        cogs: rise(|day| day.cogs, &net),
        fees: rise(|day| day.fees, &net),
        shipping: rise(|day| day.shipping, &net),
        ads: rise(|day| day.ad_spend, &net),
        refunds: rise(|day| day.refunds, &gross),
    };
    margin_drop(&margin, &shop.scale)
}
