//! Customers who may leave, dependence on few of them or on one channel, refunds and the margin.

use super::{
    Action, Assumption, CONCENTRATED_HHI, Exposure, Finding, Kind, Links, Measure, Scale, finding, held, seen,
};
use crate::CustomerId;

/// Whom a risk is about when it is the whole shop.
const SHOP: &str = "shop";
/// A customer is likely to stay away from this churn score on.
pub const LIKELY_CHURN: f64 = 0.5;
/// Scores of fewer customers are drawn towards other shops' and are no probabilities of this one.
const CALIBRATED_CUSTOMERS: i64 = 100;
/// A customer, or a channel, is a dependence from such a share on.
const CUSTOMER_SHARE: f64 = 0.10;
const CHANNEL_SHARE: f64 = 0.60;
/// A smaller fall of the margin, less than half of a percentage point, is shown as none.
const LEAST_FALL: f64 = 0.005;
/// A month in weeks: an excess is counted by the week.
const HORIZON_WEEKS: f64 = super::super::HORIZON_DAYS as f64 / 7.0;

/// Regular customers (VIP and loyal) who are likelier to stay away than to come back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Customers {
    pub count: u32,
    pub mean_churn: f64,
    /// Contribution of a month that is lost with them: 20 % quantile, mean, 80 % quantile; none without unit costs.
    pub monthly_contribution: Option<(f64, f64, f64)>,
    /// Customers whose scores the models were fitted to.
    pub scored: i64,
}

/// Regular customers are likely not to come back. No insight speaks of them: the one on customers at risk is about a
/// segment that none of them is in.
pub fn churn(customers: &Customers, scale: &Scale) -> Option<Finding> {
    if customers.count == 0 {
        return None;
    }
    let raised = Finding {
        evidence: vec![
            seen(Measure::Customers, customers.count.into()),
            held(Measure::MeanChurn, customers.mean_churn, LIKELY_CHURN),
        ],
        assumptions: vec![Assumption::LeaveByScore, Assumption::BuyAsLastYear],
        action: Some(Action::Contact),
        ..finding(Kind::Churn, "regular_customers", "Regular customers")
    };
    let raised = raised.likely(customers.mean_churn);
    if customers.scored < CALIBRATED_CUSTOMERS {
        return Some(Finding { assumptions: vec![Assumption::ChurnUncalibrated], ..raised });
    }
    let exposure = customers.monthly_contribution.map(|range| Exposure::range(range, scale.currency));
    Some(raised.costing(exposure, scale))
}

/// The customer who brings most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CustomerShare {
    pub customer_id: CustomerId,
    /// Of 90-day net revenue.
    pub share: f64,
    pub hhi: f64,
    /// That the customer does not come back; none where it is not calibrated.
    pub churn: Option<f64>,
}

impl CustomerShare {
    /// A churn score, if it is a probability of this shop.
    pub fn calibrated(churn: Option<f64>, scored: i64) -> Option<f64> {
        churn.filter(|_| scored >= CALIBRATED_CUSTOMERS)
    }
}

/// One customer, or a few, bring much of the revenue.
pub fn customer_concentration(largest: &CustomerShare, scale: &Scale) -> Option<Finding> {
    let CustomerShare { customer_id, share, hhi, churn } = *largest;
    if share < CUSTOMER_SHARE && hhi < CONCENTRATED_HHI {
        return None;
    }
    let raised = Finding {
        evidence: vec![held(Measure::Share90d, share, CUSTOMER_SHARE), held(Measure::Hhi, hhi, CONCENTRATED_HHI)],
        action: Some(Action::Contact),
        links: Links { customer_id: Some(customer_id), ..Links::default() },
        ..finding(Kind::CustomerConcentration, customer_id, format!("Customer {customer_id}"))
    };
    let stake = |whole: f64| Exposure::new(Some(0.0), churn.map(|churn| churn * whole), Some(whole), scale.currency);
    let raised = raised.staking(stake, share, scale);
    Some(churn.map_or(raised.clone(), |churn| raised.likely(churn)))
}

/// The platform that brings most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Channel<'a> {
    pub platform: &'a str,
    /// Of 90-day revenue.
    pub share: f64,
    pub hhi: f64,
}

/// A channel brings most of the revenue; never more than medium by itself.
pub fn channel_concentration(channel: &Channel<'_>, scale: &Scale) -> Option<Finding> {
    let Channel { platform, share, hhi } = *channel;
    if share < CHANNEL_SHARE {
        return None;
    }
    let raised = Finding {
        evidence: vec![held(Measure::Share90d, share, CHANNEL_SHARE), held(Measure::Hhi, hhi, CONCENTRATED_HHI)],
        action: Some(Action::Review),
        ..finding(Kind::ChannelConcentration, platform, platform)
    };
    let raised = raised.staking(|whole| Exposure::new(Some(0.0), None, Some(whole), scale.currency), share, scale);
    Some(Finding { severity: raised.severity.min(crate::insights::Severity::Medium), ..raised })
}

/// Refunds of a week that chance does not explain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refunds {
    pub count: f64,
    pub usual: f64,
    /// Refunds that 99 of 100 such weeks do not exceed.
    pub limit: f64,
    /// Refunds a week beyond the usual, from now on: 20 % quantile, mean, 80 % quantile.
    pub excess: (f64, f64, f64),
    /// What a refund costs: the money, less what came back with it.
    pub mean_loss: f64,
}

/// Refunds are more than the past explains.
pub fn refund_spike(refunds: &Refunds, scale: &Scale) -> Finding {
    let (low, expected, high) = refunds.excess;
    let monthly = |weekly: f64| weekly * HORIZON_WEEKS * refunds.mean_loss;
    let exposure = Exposure::range((monthly(low), monthly(expected), monthly(high)), scale.currency);
    let raised = Finding {
        evidence: vec![
            held(Measure::Refunds7d, refunds.count, refunds.limit),
            seen(Measure::RefundsUsual, refunds.usual),
        ],
        assumptions: vec![Assumption::SpikeFades, Assumption::GoodsNotBack],
        action: Some(Action::Review),
        ..finding(Kind::RefundSpike, SHOP, SHOP)
    };
    raised.costing(Some(exposure), scale)
}

/// A fall of the margin after ads, in parts of net revenue, and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    pub before: f64,
    pub after: f64,
    /// The upper end of the 95 % interval of the change.
    pub change_high: f64,
    /// How far below the margin of before it will be: 20 % quantile, mean, 80 % quantile.
    pub fall: (f64, f64, f64),
    /// By how much each is more: refunds in parts of gross revenue, the others of net revenue.
    pub cogs: f64,
    pub fees: f64,
    pub shipping: f64,
    pub ads: f64,
    pub refunds: f64,
}

/// The margin of two weeks is below that of the eight before, beyond what its days vary.
pub fn margin_drop(margin: &Margin, scale: &Scale) -> Option<Finding> {
    if margin.change_high >= 0.0 || margin.before - margin.after < LEAST_FALL {
        return None;
    }
    let (low, expected, high) = margin.fall;
    let monthly = |fall: f64| fall * scale.net_revenue.max(0.0);
    let known = scale.profit.is_some();
    let exposure = known.then(|| Exposure::range((monthly(low), monthly(expected), monthly(high)), scale.currency));
    let raised = Finding {
        evidence: vec![
            held(Measure::Margin14d, margin.after, margin.before),
            seen(Measure::CogsChange, margin.cogs),
            seen(Measure::FeesChange, margin.fees),
            seen(Measure::ShippingChange, margin.shipping),
            seen(Measure::AdsChange, margin.ads),
            seen(Measure::RefundsChange, margin.refunds),
        ],
        assumptions: vec![Assumption::MarginRecovers, Assumption::RevenueAsLastMonth],
        action: Some(Action::Review),
        ..finding(Kind::MarginDrop, SHOP, SHOP)
    };
    Some(raised.costing(exposure, scale))
}
