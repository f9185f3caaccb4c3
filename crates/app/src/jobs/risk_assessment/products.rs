//! Risks of products: by the demand that inventory and reorder figures rest on.

use std::collections::HashMap;

use analytics::{demand::DemandModel, exposure, stock::ExpectedDemand};
use domain::{
    ProductId,
    demand::StockedProduct,
    metrics::{
        contribution::mean_price,
        stock::{Cover, is_out_of_stock},
    },
    risks::{Finding, LONGEST_COVER_DAYS, Product, ProductSales, Situation, dead_stock, sku_concentration, stockout},
};

use super::{
    super::{
        demand::{Stocked, number},
        smart_reorder::LEAD_TIME_DAYS,
    },
    Shop, amount, insight, part, range,
};

pub(super) fn assess(shop: &Shop, stocked: &Stocked, situation: &Situation) -> Vec<Finding> {
    let sales: HashMap<ProductId, &ProductSales> =
        situation.products.iter().map(|sales| (sales.product_id, sales)).collect();
    let found = stocked.each(|product, _, model| {
        let Some(sales) = sales.get(&product.product_id) else { return [None, None] };
        let facts = facts(shop, situation, product, sales, model, (stocked.last - sales.known_since).whole_days());
        [stockout(&facts, &shop.scale), dead_stock(&facts, &shop.scale)]
    });
    let mut found: Vec<Finding> = found.into_iter().flatten().flatten().collect();
    found.extend(concentration(shop, &situation.products));
    found
}

/// Days of demand that decide about dead stock.
const LONG_DAYS: usize = LONGEST_COVER_DAYS as usize;

fn facts<'a>(
    shop: &Shop,
    situation: &Situation,
    product: &'a StockedProduct,
    sales: &ProductSales,
    model: Option<&DemandModel<'_>>,
    known_days: i64,
) -> Product<'a> {
    let lead_time = product.lead_time_days.unwrap_or(LEAD_TIME_DAYS).max(0).unsigned_abs();
    // What is beyond the horizon is for a later risk.
    let days = usize::try_from(lead_time.clamp(1, HORIZON)).unwrap_or_default();
    let demand = |days| model.map(|model| model.window(days)).unwrap_or_default();
    let shortfall = exposure::shortfall(demand, days, number(product.stock), number(product.on_order));
    let expected = model.map(ExpectedDemand::of);
    let out = is_out_of_stock(product.stock);
    let fingerprint = if out { "inventory:sold_out" } else { "inventory:running_out" };
    let cost = product.unit_cost.map(amount);
    let price = mean_price(sales.revenue_90d, sales.units_90d, product.price).map(amount);
    Product {
        sku: &product.sku,
        stock: product.stock,
        days_of_stock: expected.and_then(|expected| Cover::of(number(product.stock), |day| expected.until(day)).days()),
        lead_time_days: lead_time,
        is_lead_time_known: product.lead_time_days.is_some(),
        stockout_probability: shortfall.probability,
        missed_units: range(shortfall.units),
        unit_contribution: price.zip(cost).map(|(price, cost)| shop.costs.unit_contribution(price, cost)),
        unit_cost: cost,
        long_demand: model.map_or(0.0, |model| model.window(LONG_DAYS).mean()),
        units_sold_90d: sales.units_90d,
        known_days,
        insight_id: insight(situation, fingerprint),
    }
}

/// Days of a lead time that an exposure is over at most.
const HORIZON: u32 = domain::risks::HORIZON_DAYS as u32;

/// The product that brings most, against all of them.
fn concentration(shop: &Shop, products: &[ProductSales]) -> Option<Finding> {
    let revenues = || products.iter().map(|product| (product, amount(product.revenue_90d).max(0.0)));
    let (whole, squares) =
        revenues().fold((0.0, 0.0), |(whole, squares), (_, revenue)| (whole + revenue, squares + revenue * revenue));
    let (top, revenue) = revenues().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    sku_concentration(&top.sku, part(revenue, whole)?, exposure::concentration(squares, whole)?, &shop.scale)
}
