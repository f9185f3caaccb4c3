//! The store's records in the platform's JSON, with its habits: numbers now as numbers, now as texts.

use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

use super::store::{Order, OrderLine, Product, Store, Variant};

/// An even number stays one.
fn loose(number: u64) -> Value {
    if number.is_multiple_of(2) { json!(number) } else { json!(number.to_string()) }
}

fn amount(amount: Decimal) -> String {
    format!("{amount:.2}")
}

fn instant(at: OffsetDateTime) -> String {
    let form =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second][offset_hour sign:mandatory][offset_minute]");
    at.to_offset(time::UtcOffset::UTC).format(&form).unwrap_or_default()
}

pub fn store(store: &Store) -> Value {
    json!({
        "id": store.id,
        "name": { store.language: "Loja Exemplo" },
        "original_domain": store.host,
        "domains": ["www.lojaexemplo.com.br"],
        "country": store.country,
        "main_language": store.language,
        "main_currency": store.currency.as_str(),
        "languages": { store.language: { "currency": store.currency.as_str(), "active": true } },
        "email": "dona@example.com",
        "plan_name": "Impulso",
    })
}

fn line(line: &OrderLine) -> Value {
    let OrderLine { product, variant, name, sku, price, quantity, cost } = line;
    let quantity = u64::try_from(*quantity).unwrap_or_default();
    json!({
        "id": product * 1000 + variant,
        "product_id": loose(*product),
        "variant_id": loose(*variant),
        "name": name,
        "sku": sku,
        "price": amount(*price),
        "quantity": loose(quantity),
        "cost": cost.map(amount),
    })
}

/// The fulfilment orders are there only for who asks for them.
pub fn order(store: &Store, order: &Order, with_fulfillments: bool) -> Value {
    let customer = order.customer.and_then(|id| store.customers.get(&id));
    let mut view = json!({
        "id": loose(order.id),
        "number": order.id - 100_000_000,
        "token": "0fe3e5421c2328227c47433c6c4f8ece",
        "store_id": store.id.to_string(),
        "created_at": instant(order.created_at),
        "updated_at": instant(order.updated_at),
        "completed_at": { "date": "2026-11-24 12:00:00.000000", "timezone_type": 3, "timezone": "UTC" },
        "paid_at": order.paid_at.map(instant),
        "cancelled_at": order.cancelled_at.map(instant),
        "status": if order.cancelled_at.is_some() { "cancelled" } else { "open" },
        "payment_status": order.payment_status,
        "currency": order.currency.as_str(),
        "subtotal": amount(order.subtotal()),
        "discount": amount(order.discount),
        "discount_coupon": amount(order.discount),
        "discount_gateway": "0.00",
        "promotional_discount": { "total_discount_amount": "0.00", "contents": [] },
        "total": amount(order.total()),
        "storefront": order.storefront,
        "gateway": "offline",
        "contact_phone": "+5511999999999",
        "customer": customer.map(|customer| json!({
            "id": loose(customer.id),
            "name": customer.name,
            "email": customer.email,
            "identification": "41913703",
        })),
        "shipping_address": customer.map(|customer| json!({
            "city": customer.city, "country": store.country, "zipcode": "11000-000",
        })),
        "products": order.lines.iter().map(line).collect::<Vec<_>>(),
    });
    if with_fulfillments && let Value::Object(fields) = &mut view {
        let money = |amount: Decimal| json!({ "value": amount, "currency": order.currency.as_str() });
        let parcel = json!({ "id": "01HF", "status": "UNPACKED", "shipping": {
            "type": "ship", "merchant_cost": order.shipping_cost.map(money), "consumer_cost": money(order.shipping),
        }});
        fields.insert("fulfillment_orders".to_owned(), json!([parcel]));
    }
    view
}

/// `GET /orders/{id}/history/values`.
pub fn history(order: &Order) -> Value {
    let entry = |status: &str, paid: Decimal, at: OffsetDateTime| {
        json!({
            "status": status, "total_delta": 0, "total_paid_diff": paid, "gateway_method": null,
            "happened_at": at.format(&Rfc3339).unwrap_or_default(),
        })
    };
    let paid = order.paid_at.map(|at| entry("PAID", order.total(), at));
    let told = order.parts_returned.iter().filter(|part| part.told);
    let parts = told.map(|part| entry("PARTIALLY_REFUNDED", -part.amount, part.at));
    let before: Decimal = order.parts_returned.iter().map(|part| part.amount).sum();
    let all = order.refunded_at.map(|at| entry("REFUNDED", before - order.total(), at));
    paid.into_iter().chain(parts).chain(all).collect::<Vec<_>>().into()
}

fn variant(store: &Store, product: &Product, variant: &Variant) -> Value {
    let Variant { id, value, sku, price, promotional_price, cost, stock } = variant;
    let total = stock.as_ref().map(|levels| levels.iter().sum::<i64>());
    let places = stock.iter().flatten().enumerate();
    json!({
        "id": loose(*id),
        "product_id": product.id,
        "values": value.iter().map(|value| json!({ store.language: value })).collect::<Vec<_>>(),
        "sku": sku,
        "price": price.map(amount),
        "promotional_price": promotional_price.map(amount),
        "cost": cost.map(amount),
        "stock_management": stock.is_some(),
        "stock": total,
        "inventory_levels": places.map(|(place, stock)| json!({ "location_id": format!("01GQ{place}"), "stock": stock }))
            .collect::<Vec<_>>(),
    })
}

pub fn product(store: &Store, product: &Product) -> Value {
    json!({
        "id": loose(product.id),
        "name": product.names,
        "handle": product.names,
        "published": true,
        "categories": product.category.iter().map(|name| json!({ "id": 1, "name": { store.language: name } })).collect::<Vec<_>>(),
        "variants": product.variants.iter().map(|one| variant(store, product, one)).collect::<Vec<_>>(),
    })
}
