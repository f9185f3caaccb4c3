//! Profit: what is left of revenue.

use std::ops::AddAssign;

use rust_decimal::Decimal;

use super::ratios;

/// What a day, or several, brought in and cost, in the account's currency, not rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Components {
    pub gross_revenue: Decimal,
    /// Positive; counted on the day of the refund.
    pub refunds: Decimal,
    pub ad_spend: Decimal,
    pub cogs_estimate: Decimal,
    pub fees_estimate: Decimal,
    pub shipping_estimate: Decimal,
    pub extra_expenses: Decimal,
    pub purchase_count: i64,
}

impl Components {
    /// Gross revenue less refunds.
    pub fn net_revenue(&self) -> Decimal {
        self.gross_revenue - self.refunds
    }

    /// Net revenue less the cost of goods, payment fees and shipping.
    pub fn operational_profit(&self) -> Decimal {
        self.net_revenue() - self.cogs_estimate - self.fees_estimate - self.shipping_estimate
    }

    /// Operational profit less ad spend.
    pub fn profit_after_ads(&self) -> Decimal {
        self.operational_profit() - self.ad_spend
    }

    /// Operational profit less ad spend and extra expenses.
    pub fn final_profit(&self) -> Decimal {
        self.profit_after_ads() - self.extra_expenses
    }

    /// Operational profit as a share of net revenue; `None` when net revenue is not above zero.
    pub fn operational_margin(&self) -> Option<Decimal> {
        ratios::quotient(self.operational_profit(), self.net_revenue())
    }

    /// Final profit as a share of net revenue; `None` when net revenue is not above zero.
    pub fn margin(&self) -> Option<Decimal> {
        ratios::margin(self.final_profit(), self.net_revenue())
    }

    /// [`margin`](Self::margin) in percent. Of the components of several days it is Σ final profit in percent of
    /// Σ net revenue, so that a large day weighs more than a small one.
    pub fn margin_pct(&self) -> Option<Decimal> {
        ratios::margin_pct(self.final_profit(), self.net_revenue())
    }
}

impl AddAssign for Components {
    fn add_assign(&mut self, day: Self) {
        let Self {
            gross_revenue,
            refunds,
            ad_spend,
            cogs_estimate,
            fees_estimate,
            shipping_estimate,
            extra_expenses,
            purchase_count,
        } = day;
        self.gross_revenue += gross_revenue;
        self.refunds += refunds;
        self.ad_spend += ad_spend;
        self.cogs_estimate += cogs_estimate;
        self.fees_estimate += fees_estimate;
        self.shipping_estimate += shipping_estimate;
        self.extra_expenses += extra_expenses;
        self.purchase_count += purchase_count;
    }
}
