//! The shop as the API shows it: objects with their type's name and every field of the schema.

use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

use super::shop::{Agreement, Order, Sale, Shop, Transaction, Variant};

fn instant(at: OffsetDateTime) -> String {
    at.to_offset(UtcOffset::UTC).format(&Rfc3339).unwrap_or_default()
}

pub fn gid(kind: &str, id: u64) -> String {
    format!("gid://shopify/{kind}/{id}")
}

fn money(cents: i64, currency: &str) -> Value {
    // As the platform writes amounts: without needless zeros, but one.
    let amount = Decimal::new(cents, 2).normalize();
    let amount = if amount.scale() == 0 { format!("{amount}.0") } else { amount.to_string() };
    json!({ "__typename": "MoneyV2", "amount": amount, "currencyCode": currency })
}

fn bag(cents: i64, currency: &str) -> Value {
    let (shop, shown) = (money(cents, currency), money(cents * 2, "USD"));
    json!({ "__typename": "MoneyBag", "shopMoney": shop, "presentmentMoney": shown })
}

/// An order; buyers only as far as the app may see them.
pub fn order(shop: &Shop, order: &Order, shows_buyers: bool) -> Value {
    let currency = order.currency.as_str();
    let transactions: Vec<Value> =
        order.transactions.iter().map(|paid| transaction(paid, currency, order.test)).collect();
    let agreements: Vec<Value> =
        order.agreements.iter().map(|agreement| self::agreement(shop, agreement, currency)).collect();
    json!({
        "__typename": "Order",
        "id": gid("Order", order.id),
        "legacyResourceId": order.id.to_string(),
        "test": order.test,
        "createdAt": instant(order.created),
        "processedAt": instant(order.created),
        "updatedAt": instant(order.updated),
        "cancelledAt": order.cancelled.map(instant),
        "displayFinancialStatus": order.status,
        "currencyCode": currency,
        "customer": order.customer.map(|id| customer(id, shows_buyers)),
        "shippingAddress": {
            "__typename": "MailingAddress", "countryCodeV2": "ES", "city": shows_buyers.then_some("Madrid"),
        },
        "transactions": transactions,
        "agreements": agreements,
    })
}

fn customer(id: u64, shows_buyers: bool) -> Value {
    let email = json!({ "__typename": "CustomerEmailAddress", "emailAddress": format!("buyer{id}@example.com") });
    json!({
        "__typename": "Customer",
        "id": gid("Customer", id),
        "legacyResourceId": id.to_string(),
        "displayName": if shows_buyers { format!("Buyer {id}") } else { String::new() },
        "defaultEmailAddress": shows_buyers.then_some(email),
    })
}

fn transaction(paid: &Transaction, currency: &str, test: bool) -> Value {
    let fee = |fee: i64| json!({ "__typename": "TransactionFee", "id": gid("TransactionFee", paid.id), "amount": money(fee, currency) });
    json!({
        "__typename": "OrderTransaction",
        "id": gid("OrderTransaction", paid.id),
        "kind": paid.kind,
        "status": paid.status,
        "gateway": paid.gateway,
        "test": test,
        "fees": paid.fee.map(fee).into_iter().collect::<Vec<Value>>(),
    })
}

fn agreement(shop: &Shop, agreement: &Agreement, currency: &str) -> Value {
    let kind = match agreement.reason {
        "ORDER" => "OrderAgreement",
        "ORDER_EDIT" => "OrderEditAgreement",
        "RETURN" => "ReturnAgreement",
        _ => "RefundAgreement",
    };
    json!({
        "__typename": kind,
        "id": gid("SalesAgreement", agreement.id),
        "happenedAt": instant(agreement.at),
        "reason": agreement.reason,
        "sales": agreement.sales.iter().map(|sold| sale(shop, sold, currency)).collect::<Vec<Value>>(),
    })
}

fn sale(shop: &Shop, sale: &Sale, currency: &str) -> Value {
    let kind = match sale.kind {
        "PRODUCT" => "ProductSale",
        "GIFT_CARD" => "GiftCardSale",
        "SHIPPING" => "ShippingLineSale",
        "TIP" => "TipSale",
        "DUTY" => "DutySale",
        _ => "AdjustmentSale",
    };
    let mut shown = json!({
        "__typename": kind,
        "id": gid("Sale", sale.id),
        "actionType": sale.action,
        "lineType": sale.kind,
        "quantity": sale.quantity,
        "totalAmount": bag(sale.net + sale.tax, currency),
        "totalTaxAmount": bag(sale.tax, currency),
    });
    let line = sale.line.and_then(|(line, variant)| Some((line, shop.variants.get(variant)?)));
    if let (Some((line, variant)), Some(shown)) = (line, shown.as_object_mut()) {
        let item = json!({
            "__typename": "LineItem",
            "id": gid("LineItem", line),
            "sku": variant.sku,
            "name": format!("{} - {}", variant.product, variant.title),
            "isGiftCard": variant.is_gift_card,
            "quantity": sale.quantity,
            "variant": {
                "__typename": "ProductVariant",
                "id": gid("ProductVariant", variant.id),
                "legacyResourceId": variant.id.to_string(),
            },
        });
        shown.insert("lineItem".to_owned(), item);
    }
    shown
}

pub fn variant(variant: &Variant, currency: &str) -> Value {
    json!({
        "__typename": "ProductVariant",
        "id": gid("ProductVariant", variant.id),
        "legacyResourceId": variant.id.to_string(),
        "sku": variant.sku,
        "title": variant.title,
        "price": Decimal::new(variant.price, 2).to_string(),
        "product": {
            "__typename": "Product",
            "id": gid("Product", variant.id),
            "title": variant.product,
            "productType": "Things",
            "isGiftCard": variant.is_gift_card,
        },
        "inventoryItem": item(variant, currency),
    })
}

pub fn item(variant: &Variant, currency: &str) -> Value {
    let quantity = |name: &str, quantity: i64| {
        let id = gid("InventoryQuantity", variant.id);
        json!({ "__typename": "InventoryQuantity", "id": id, "name": name, "quantity": quantity })
    };
    let levels = variant.levels.iter().zip(1..).map(|(level, place)| {
        json!({
            "__typename": "InventoryLevel",
            "id": gid("InventoryLevel", variant.id * 1_000 + place),
            "location": { "__typename": "Location", "id": gid("Location", place), "isActive": level.is_active },
            "quantities": [quantity("available", level.available), quantity("incoming", level.incoming)],
        })
    });
    json!({
        "__typename": "InventoryItem",
        "id": gid("InventoryItem", variant.id),
        "legacyResourceId": variant.id.to_string(),
        "sku": variant.sku,
        "tracked": variant.tracked,
        "unitCost": variant.cost.map(|cost| money(cost, currency)),
        "inventoryLevels": levels.collect::<Vec<Value>>(),
    })
}

pub fn shop(shop: &Shop) -> Value {
    json!({
        "__typename": "Shop",
        "id": gid("Shop", 1),
        "myshopifyDomain": shop.host,
        "currencyCode": shop.currency.as_str(),
        "ianaTimezone": shop.zone.name(),
        "shopAddress": { "__typename": "ShopAddress", "countryCodeV2": "ES" },
    })
}
