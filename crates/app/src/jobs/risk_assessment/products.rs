//! Risks of products: by the demand that inventory and reorder figures rest on.

use std::collections::HashMap;

use analytics::{demand::DemandModel, exposure, reorder::SELL_THROUGH_DAYS, stock::ExpectedDemand};
use domain::{
    InsightId, ProductId,
    demand::StockedProduct,
    metrics::{
        contribution::mean_price,
        stock::{CRITICAL_DAYS, Cover, is_out_of_stock, is_stockout},
    },
    reorder::sells_at_a_loss,
    risks::{Finding, LONGEST_COVER_DAYS, Product, ProductSales, Situation, dead_stock, sku_concentration, stockout},
    stories::stock_out_key,
};
use time::Date;

use super::{
    super::demand::{Stocked, lead_time, number, shortfall},
    Shop, amount, insight, part, range,
};

pub(super) fn assess(shop: &Shop, stocked: &Stocked, situation: &Situation) -> Vec<Finding> {
    let sales: HashMap<ProductId, &ProductSales> =
        situation.products.iter().map(|sales| (sales.product_id, sales)).collect();
    let found = stocked.each(|product, _, model| {
        let Some(sales) = sales.get(&product.product_id) else { return [None, None] };
        let facts = facts(shop, situation, stocked.last, product, sales, model);
        [stockout(&facts, &shop.scale), dead_stock(&facts, &shop.scale)]
    });
    let mut found: Vec<Finding> = found.into_iter().flatten().flatten().collect();
    found.extend(concentration(shop, &situation.products).filter(|_| !shop.is_young));
    found
}

/// Days of demand that decide about dead stock.
const LONG_DAYS: usize = LONGEST_COVER_DAYS as usize;

fn facts<'a>(
    shop: &Shop,
    situation: &Situation,
    last: Date,
    product: &'a StockedProduct,
    sales: &ProductSales,
    model: Option<&DemandModel<'_>>,
) -> Product<'a> {
    let shortfall = shortfall(product, model);
    let arrival = lead_time(product).unsigned_abs() as usize;
    let expected = model.map(ExpectedDemand::of);
    // As the inventory shows it, or a stock of seven days there would be one of more here.
    let cover = expected.map(|expected| Cover::of(number(product.stock), |day| expected.until(day)).shown());
    let cost = product.unit_cost.map(amount);
    let price = mean_price(sales.revenue_90d, sales.units_90d, product.price).map(amount);
    let unit_contribution = price.zip(cost).map(|(price, cost)| shop.costs.unit_contribution(price, cost));
    Product {
        sku: &product.sku,
        stock: product.stock,
        days_of_stock: cover.and_then(Cover::days),
        lead_time_days: lead_time(product).unsigned_abs(),
        is_lead_time_known: product.lead_time_days.is_some(),
        stockout_probability: shortfall.probability,
        missed_units: range(shortfall.units),
        unit_contribution,
        unit_cost: cost,
        long_demand: model.map_or(0.0, |model| model.window(LONG_DAYS).mean()),
        units_sold_90d: sales.units_90d,
        known_days: (last - sales.known_since).whole_days(),
        is_too_late: model.is_some_and(|model| model.misses_season(arrival, arrival + SELL_THROUGH_DAYS)),
        insight_id: insight_on(situation, product, last, cover, unit_contribution),
    }
}

/// The open insight that speaks of a product's stock: on the story of its stock-out, else on all that are sold out or will be.
/// Neither of these speaks of what sells at a loss.
fn insight_on(
    situation: &Situation,
    product: &StockedProduct,
    last: Date,
    cover: Option<Cover>,
    unit_contribution: Option<f64>,
) -> Option<InsightId> {
    let story = stock_out_key(&product.sku);
    let of_story = situation.insights.iter().find(|open| open.story.as_ref() == Some(&story));
    let days = cover.and_then(Cover::days);
    let is_running_out = !is_out_of_stock(product.stock) && days.is_some_and(|days| days <= CRITICAL_DAYS.into());
    of_story.map(|open| open.id).or_else(|| match () {
        () if sells_at_a_loss(unit_contribution) => None,
        () if is_stockout(product.stock, product.units_sold(last, 30)) => insight(situation, "inventory:sold_out"),
        () if is_running_out => insight(situation, "inventory:running_out"),
        () => None,
    })
}

/// The product that brings most, against the whole shop.
fn concentration(shop: &Shop, products: &[ProductSales]) -> Option<Finding> {
    let revenues = || products.iter().map(|product| (product, amount(product.revenue_90d).max(0.0)));
    let (of_products, squares) =
        revenues().fold((0.0, 0.0), |(sum, squares), (_, revenue)| (sum + revenue, squares + revenue * revenue));
    // Of all revenue, what no product is known to have brought included.
    let whole = amount(shop.days.iter().map(|day| day.gross_revenue).sum()).max(of_products);
    let (top, revenue) = revenues().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    sku_concentration(&top.sku, part(revenue, whole)?, exposure::concentration(squares, whole)?, &shop.scale)
}
