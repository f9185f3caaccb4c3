//! Too little in stock, too much, or all on one product.

use super::{
    Action, Assumption, CONCENTRATED_HHI, Exposure, Finding, Kind, Links, Measure, Scale, Severity, finding, held,
    number, seen,
};
use crate::{InsightId, metrics::stock::lost_on, reorder::sells_at_a_loss};

/// A stock-out is raised when it is at least so likely before an order of today arrives.
pub const STOCKOUT_PROBABILITY: f64 = 0.3;
/// Days of demand that a stock may be.
pub const LONGEST_COVER_DAYS: u32 = 180;
/// Days in which a product sells anything, if it sells at all.
const IDLE_DAYS: i64 = 90;
/// What stock costs a year as a share of its value: capital, space and what goes out of fashion.
pub(in crate::risks) const CARRYING_PER_YEAR: f64 = 0.20;
/// The part of a year that an exposure is over.
const HORIZON_YEARS: f64 = super::super::HORIZON_DAYS as f64 / 365.0;
/// A product is a dependence from this share of revenue on.
const SKU_SHARE: f64 = 0.25;

/// A product with a stock and the demand for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Product<'a> {
    pub sku: &'a str,
    pub stock: i64,
    /// None when nothing sells, and beyond two years.
    pub days_of_stock: Option<f64>,
    pub lead_time_days: u32,
    pub is_lead_time_known: bool,
    /// That demand over the lead time exceeds what is there and on order.
    pub stockout_probability: f64,
    /// Units that are then missed: 20 % quantile, mean, 80 % quantile.
    pub missed_units: (f64, f64, f64),
    /// What a unit brings; none without a unit cost or a price.
    pub unit_contribution: Option<f64>,
    pub unit_cost: Option<f64>,
    /// Units expected to sell in [`LONGEST_COVER_DAYS`].
    pub long_demand: f64,
    pub units_sold_90d: i64,
    /// Days since when it is known to be for sale.
    pub known_days: i64,
    /// Whether an order of today arrives when its season is over: then none helps.
    pub is_too_late: bool,
    /// The open insight on its stock.
    pub insight_id: Option<InsightId>,
}

/// Before an order of today arrives, the stock is likely to be used up.
pub fn stockout(product: &Product<'_>, scale: &Scale) -> Option<Finding> {
    if product.stockout_probability < STOCKOUT_PROBABILITY {
        return None;
    }
    let (low, expected, high) = product.missed_units;
    let exposure = product.unit_contribution.map(|unit| {
        let lost = |missed| lost_on(missed, unit);
        // Buyers take another product instead; how many is unknown, so that the least is half of it.
        Exposure::range((0.5 * lost(low), lost(expected), lost(high)), scale.currency)
    });
    let is_not_to_order = product.is_too_late || sells_at_a_loss(product.unit_contribution);
    let action = if is_not_to_order { Action::Review } else { Action::Reorder };
    let mut assumptions = vec![Assumption::BuyersSwitch, Assumption::OnOrderArrives];
    if !product.is_lead_time_known {
        assumptions.push(Assumption::LeadTimeUnknown);
    }
    let raised = Finding {
        severity: Severity::Medium,
        evidence: vec![
            held(Measure::DaysOfStock, product.days_of_stock.unwrap_or_default(), f64::from(product.lead_time_days)),
            seen(Measure::Stock, number(product.stock)),
        ],
        assumptions,
        action: Some(action),
        links: Links { sku: Some(product.sku.to_owned()), insight_id: product.insight_id, ..Links::default() },
        ..finding(Kind::Stockout, product.sku, product.sku)
    };
    Some(raised.likely(product.stockout_probability).costing(exposure, scale))
}

/// More is in stock than sells in half a year, or nothing has sold for long.
pub fn dead_stock(product: &Product<'_>, scale: &Scale) -> Option<Finding> {
    let stock = number(product.stock);
    let excess = stock - product.long_demand.max(0.0);
    let is_idle = product.units_sold_90d == 0 && product.known_days >= IDLE_DAYS;
    let is_excessive = product.units_sold_90d > 0 && excess > 0.0;
    // Less than half a unit is not told as one.
    if product.stock <= 0 || excess.round() < 1.0 || !(is_idle || is_excessive) {
        return None;
    }
    let exposure = product.unit_cost.map(|cost| {
        let value = cost.max(0.0) * excess;
        let carrying = CARRYING_PER_YEAR * HORIZON_YEARS * value;
        Exposure::range((carrying, carrying, value), scale.currency)
    });
    let raised = Finding {
        severity: Severity::Low,
        evidence: vec![
            held(Measure::ExcessUnits, excess.round(), 0.0),
            seen(Measure::Stock, stock),
            seen(Measure::UnitsSold90d, number(product.units_sold_90d)),
        ],
        assumptions: vec![Assumption::CarryingCost],
        action: Some(Action::Discount),
        links: Links { sku: Some(product.sku.to_owned()), ..Links::default() },
        ..finding(Kind::DeadStock, product.sku, product.sku)
    };
    Some(raised.costing(exposure, scale))
}

/// A product brings a large share of all revenue; never more than medium by itself.
pub fn sku_concentration(sku: &str, share: f64, hhi: f64, scale: &Scale) -> Option<Finding> {
    if share < SKU_SHARE {
        return None;
    }
    let raised = Finding {
        evidence: vec![held(Measure::Share90d, share, SKU_SHARE), held(Measure::Hhi, hhi, CONCENTRATED_HHI)],
        action: Some(Action::Review),
        links: Links { sku: Some(sku.to_owned()), ..Links::default() },
        ..finding(Kind::SkuConcentration, sku, sku)
    };
    let raised = raised.staking(|whole| Exposure::new(Some(0.0), None, Some(whole), scale.currency), share, scale);
    Some(Finding { severity: raised.severity.min(Severity::Medium), ..raised })
}
