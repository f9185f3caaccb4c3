//! What a reader of the store must come to.

use std::collections::BTreeMap;

use domain::accounts::Platform;
use time::OffsetDateTime;

use super::store::{Order, Product, Store, Variant};
use crate::shops::ledger::{OrderTruth, ProductTruth, RefundTruth, State, Truth};

pub fn of(store: &Store, now: OffsetDateTime) -> Truth {
    let orders = store.orders.values().map(|order| (order.id.to_string(), order_truth(store, order))).collect();
    let mut products: BTreeMap<String, ProductTruth> = BTreeMap::new();
    for (product, variant) in
        store.products.iter().flat_map(|product| product.variants.iter().map(move |v| (product, v)))
    {
        let sku = variant.sku.clone().unwrap_or_else(|| format!("tiendanube:{}", variant.id)).to_lowercase();
        let truth = product_truth(store, product, variant);
        products
            .entry(sku)
            .and_modify(|first| first.stock = Some(first.stock.unwrap_or(0) + truth.stock.unwrap_or(0)))
            .or_insert(truth);
    }
    let stock = products.iter().filter_map(|(sku, product)| Some((sku.clone(), product.stock?))).collect();
    let today = BTreeMap::from([(store.zone.day_of(now), stock)]);
    let money = (store.currency, &store.zone);
    Truth::new(Platform::Tiendanube, store.host.clone(), money, orders, products, today)
}

fn order_truth(store: &Store, order: &Order) -> OrderTruth {
    let was_paid = matches!(order.payment_status, "paid" | "partially_paid" | "refunded" | "partially_refunded");
    let (refunds, refund_unknown) = refunds(order);
    OrderTruth {
        at: order.paid_at.unwrap_or(order.created_at),
        state: match was_paid {
            false => State::Void,
            true if order.currency != store.currency => State::Foreign,
            true => State::Taken,
        },
        gross: order.total(),
        product_gross: order.subtotal() - order.discount,
        units: order.units(),
        fees: None,
        shipping: order.shipping_cost,
        buyer: order.customer.and_then(|id| store.customers.get(&id)).map(|customer| customer.id.to_string()),
        refunds,
        refund_unknown,
        copy_of: (order.storefront == "meli").then(|| Platform::Mercadolibre.as_str().to_owned()),
    }
}

/// A reversal of the whole order stands for what went back of it before, since that is all that the platform tells.
fn refunds(order: &Order) -> (Vec<RefundTruth>, bool) {
    if let Some(at) = order.cancelled_at.or(order.refunded_at) {
        return (vec![RefundTruth { at, amount: order.total(), units: order.units() }], false);
    }
    let told: Vec<_> = order
        .parts_returned
        .iter()
        .filter(|part| part.told)
        .map(|part| RefundTruth { at: part.at, amount: part.amount, units: 0 })
        .collect();
    let unknown = !order.parts_returned.is_empty() && told.is_empty();
    (told, unknown)
}

fn product_truth(store: &Store, product: &Product, variant: &Variant) -> ProductTruth {
    let name = product.names.get(store.language).map(|name| match variant.value {
        Some(value) => format!("{name} · {value}"),
        None => name.clone(),
    });
    ProductTruth {
        name,
        price: variant.selling_price(),
        cost: variant.cost,
        stock: variant.stock.as_ref().map(|levels| levels.iter().sum()),
        on_order: None,
    }
}
