//! Ratios. None of them has a value where its denominator is not above zero.

use rust_decimal::Decimal;

/// `part / whole`; `None` where `whole` is not above zero, or the quotient does not fit a decimal.
pub fn quotient(part: Decimal, whole: Decimal) -> Option<Decimal> {
    if whole > Decimal::ZERO { part.checked_div(whole) } else { None }
}

/// [`quotient`] in percent.
pub fn percent(part: Decimal, whole: Decimal) -> Option<Decimal> {
    quotient(part, whole)?.checked_mul(Decimal::ONE_HUNDRED)
}

/// Gross revenue per order, refunds not taken off, in the account's currency: the AOV of a shop. That of a customer is
/// [`revenue_per_order`](crate::customer_metrics::Purchases::revenue_per_order).
pub fn average_order_value(gross_revenue: Decimal, orders: i64) -> Option<Decimal> {
    quotient(gross_revenue, orders.into())
}

/// Refunds as a share of gross revenue: above 1 when more was refunded than came in.
pub fn refund_rate(refunds: Decimal, gross_revenue: Decimal) -> Option<Decimal> {
    quotient(refunds, gross_revenue)
}

/// Gross revenue per unit of ad spend.
pub fn return_on_ad_spend(gross_revenue: Decimal, ad_spend: Decimal) -> Option<Decimal> {
    quotient(gross_revenue, ad_spend)
}

/// Ad spend per new customer.
pub fn cost_per_new_customer(ad_spend: Decimal, new_customers: i64) -> Option<Decimal> {
    quotient(ad_spend, new_customers.into())
}

/// Orders per visitor.
pub fn conversion(orders: i64, visitors: i64) -> Option<Decimal> {
    quotient(orders.into(), visitors.into())
}

/// Final profit as a share of net revenue.
pub fn margin(final_profit: Decimal, net_revenue: Decimal) -> Option<Decimal> {
    quotient(final_profit, net_revenue)
}

/// [`margin`] in percent.
pub fn margin_pct(final_profit: Decimal, net_revenue: Decimal) -> Option<Decimal> {
    percent(final_profit, net_revenue)
}
