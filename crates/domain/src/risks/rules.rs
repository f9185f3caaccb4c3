//! When a risk is raised, how severe it is, and what it may cost.

mod account;
mod ads;
mod products;
mod shop;
#[cfg(test)]
mod tests;

use rust_decimal::{Decimal, prelude::ToPrimitive};

use crate::{
    insights::Severity,
    money::{Currency, estimate},
};

use super::{Action, Assumption, Evidence, Exposure, Finding, Kind, Links, Measure};

pub use account::{
    QUESTION_WAITS, URGENT_WAITS, integration_stale, low_credits, unanswered_conversations, webhook_failing,
};
pub use ads::{ad_fatigue, ad_waste};
#[cfg(test)]
pub(super) use products::CARRYING_PER_YEAR;
pub use products::{LONGEST_COVER_DAYS, Product, STOCKOUT_PROBABILITY, dead_stock, sku_concentration, stockout};
pub use shop::{
    Channel, CustomerShare, Customers, LIKELY_CHURN, Margin, Refunds, channel_concentration, churn,
    customer_concentration, margin_drop, refund_spike,
};

/// An amount is critical, high and medium from these parts of a month's operational profit on.
const SEVERITY_STEPS: [(f64, Severity); 3] =
    [(0.20, Severity::Critical), (0.10, Severity::High), (0.03, Severity::Medium)];
/// A market counts as concentrated from here on; competition authorities mean parts of a market, we parts of a shop.
const CONCENTRATED_HHI: f64 = 1_500.0;

/// How large the shop is, over the last 30 days.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    pub currency: Currency,
    /// Operational profit; none where too few unit costs are known to tell.
    pub profit: Option<f64>,
    pub net_revenue: f64,
}

impl Scale {
    /// By what is expected, else half of the most, in parts of the profit; of net revenue where there is no profit. None
    /// without an amount.
    fn severity(&self, exposure: Option<Exposure>) -> Option<Severity> {
        let Exposure { expected, high, .. } = exposure?;
        let amount = expected.or(high.map(|high| high / Decimal::TWO))?.to_f64()?;
        let whole = self.profit.filter(|profit| *profit > 0.0).unwrap_or(self.net_revenue);
        let reaches = |step: f64| whole > 0.0 && amount >= step * whole;
        let step = SEVERITY_STEPS.iter().find(|(step, _)| reaches(*step));
        Some(match step {
            Some((_, severity)) => *severity,
            // Beside no revenue at all, every amount is much.
            None if whole <= 0.0 && amount > 0.0 => Severity::High,
            None => Severity::Low,
        })
    }

    /// Profit that depends on such a part of the shop; none without any.
    fn at_stake(&self, share: f64) -> Option<f64> {
        self.profit.filter(|profit| *profit > 0.0).map(|profit| profit * share)
    }
}

/// A risk of a kind, to be completed.
fn finding(kind: Kind, subject: impl ToString, label: impl ToString) -> Finding {
    Finding {
        kind,
        subject: subject.to_string(),
        label: label.to_string(),
        severity: Severity::Medium,
        likelihood: None,
        exposure: None,
        lacks_costs: false,
        evidence: Vec::new(),
        assumptions: Vec::new(),
        action: None,
        links: Links::default(),
    }
}

impl Finding {
    /// With an amount, and the severity that follows from it; without one because unit costs are unknown, it stays as severe
    /// as it is.
    fn costing(mut self, exposure: Option<Exposure>, scale: &Scale) -> Self {
        self.lacks_costs = exposure.is_none();
        if self.lacks_costs {
            self.assumptions = vec![Assumption::CostsUnknown];
        }
        self.severity = scale.severity(exposure).unwrap_or(self.severity);
        self.exposure = exposure;
        self
    }

    /// As [`costing`](Self::costing) for a part of the profit: without profit there is none to lose, which is no lack of costs.
    fn staking(self, stake: impl FnOnce(f64) -> Exposure, share: f64, scale: &Scale) -> Self {
        let lacks_costs = scale.profit.is_none();
        let found = self.costing(scale.at_stake(share).map(stake), scale);
        let assumptions = if lacks_costs { found.assumptions } else { vec![Assumption::WholeShareLost] };
        Self { lacks_costs, assumptions, ..found }
    }

    fn likely(mut self, probability: f64) -> Self {
        self.likelihood = Some(estimate(probability.min(1.0), 4));
        self
    }
}

const fn seen(metric: Measure, value: f64) -> Evidence {
    Evidence { metric, value: Some(value), threshold: None }
}

const fn held(metric: Measure, value: f64, threshold: f64) -> Evidence {
    Evidence { metric, value: Some(value), threshold: Some(threshold) }
}

/// A count as a number for statistics.
#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 the last one does not matter")]
const fn number(count: i64) -> f64 {
    count as f64
}
