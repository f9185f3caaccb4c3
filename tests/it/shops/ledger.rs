//! Compares what the service says with what the platform's ledger says.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::Value;

use super::rig::Rig;

/// An amount, which is a text in the ledger and a number in answers.
fn amount(value: &Value) -> Decimal {
    match value {
        Value::String(text) => text.parse().unwrap(),
        Value::Null => Decimal::ZERO,
        number => number.to_string().parse().unwrap(),
    }
}

/// The pages of a list, put together.
async fn all(rig: &Rig, path: &str, records: &str) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = rig.service.process.json(&format!("/api/v1/{path}{cursor}"), &rig.key).await;
        found.extend(page[records].as_array().unwrap().iter().cloned());
        match &page["pagination"]["next_cursor"] {
            Value::Null => return found,
            next => cursor = format!("&cursor={next}"),
        }
    }
}

/// Orders of the ledger that count.
fn taken(truth: &Value) -> impl Iterator<Item = (&String, &Value)> {
    truth["orders"].as_object().unwrap().iter().filter(|(_, order)| order["state"] == "taken")
}

fn refunded(order: &Value) -> Decimal {
    order["refunds"].as_array().unwrap().iter().map(|refund| amount(&refund["amount"])).sum()
}

/// Runs the jobs of the night, and compares profit by day, customers, and stock.
pub async fn compare(rig: &Rig) {
    let truth = compare_sales(rig).await;
    compare_stock(rig, &truth).await;
}

/// The same without stock, which is read every night and after hooks about products. Gives the ledger.
pub async fn compare_sales(rig: &Rig) -> Value {
    let truth = rig.platform.ask("truth").await;
    rig.night();
    compare_days(rig, &truth).await;
    compare_customers(rig, &truth).await;
    truth
}

async fn compare_days(rig: &Rig, truth: &Value) {
    let said: BTreeMap<String, Value> = all(rig, "profit?days=365", "data")
        .await
        .into_iter()
        .map(|day| (day["snapshot_date"].as_str().unwrap().to_owned(), day))
        .collect();
    let (mut days, mut gross, mut refunds) = (0, Decimal::ZERO, Decimal::ZERO);
    for (day, expected) in truth["days"].as_object().unwrap() {
        let said = said.get(day).unwrap_or(&Value::Null);
        let (of_day, back) = (amount(&expected["gross"]), amount(&expected["refunded"]));
        let figures = ["gross_revenue", "refunds", "net_revenue", "purchase_count"].map(|figure| amount(&said[figure]));
        let orders = Decimal::from(expected["orders"].as_u64().unwrap());
        assert_eq!(figures, [of_day, back, of_day - back, orders], "{day}: {said}");
        (days, gross, refunds) = (days + 1, gross + of_day, refunds + back);
    }
    for (day, said) in &said {
        let is_empty = amount(&said["gross_revenue"]).is_zero() && amount(&said["refunds"]).is_zero();
        assert!(is_empty || truth["days"].get(day).is_some(), "{day}: {said}");
    }
    assert!(days > 0);
    println!("{}: {days} days, gross {gross}, refunds {refunds}: as in the ledger", rig.platform.name);
}

async fn compare_customers(rig: &Rig, truth: &Value) {
    let mut expected: BTreeMap<&str, (u64, Decimal)> = BTreeMap::new();
    for (_, order) in taken(truth) {
        if let Some(buyer) = order["buyer"].as_str() {
            let (orders, revenue) = expected.entry(buyer).or_default();
            *orders += 1;
            *revenue += amount(&order["gross"]) - refunded(order);
        }
    }
    let customers = all(rig, "customers?limit=100", "data").await;
    let said: BTreeMap<&str, (u64, Decimal)> = customers
        .iter()
        .map(|customer| {
            let id = customer["external_id"].as_str().unwrap();
            (id, (customer["orders_count"].as_u64().unwrap(), amount(&customer["revenue_total"])))
        })
        .collect();
    assert_eq!(said, expected);
    println!("{}: {} customers: as in the ledger", rig.platform.name, said.len());
}

async fn compare_stock(rig: &Rig, truth: &Value) {
    let products = truth["products"].as_object().unwrap();
    let expected: BTreeMap<&str, i64> =
        products.iter().filter_map(|(sku, product)| Some((sku.as_str(), product["stock"].as_i64()?))).collect();
    let items = all(rig, "inventory?limit=100", "items").await;
    let said: BTreeMap<String, i64> = items
        .iter()
        .filter_map(|item| Some((item["sku"].as_str().unwrap().to_lowercase(), item["current_stock"].as_i64()?)))
        .collect();
    for (sku, stock) in &expected {
        assert_eq!(said.get(*sku), Some(stock), "{sku}");
    }
    println!("{}: {} products in stock: as in the ledger", rig.platform.name, expected.len());
}
