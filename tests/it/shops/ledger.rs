//! Compares what the service says with what the platforms' ledgers say.

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

/// Orders of a ledger that count.
pub fn taken(truth: &Value) -> impl Iterator<Item = (&String, &Value)> {
    truth["orders"].as_object().unwrap().iter().filter(|(_, order)| order["state"] == "taken")
}

fn refunded(order: &Value) -> Decimal {
    order["refunds"].as_array().unwrap().iter().map(|refund| amount(&refund["amount"])).sum()
}

/// Runs the jobs of the night, and compares profit by day, customers, and stock.
pub async fn compare(rig: &Rig) {
    let truths = compare_sales(rig).await;
    // The connection that was made first says what is in stock.
    compare_stock(rig, &truths[0]).await;
}

/// The same without stock, which is read every night and after hooks about products. Gives the ledgers.
pub async fn compare_sales(rig: &Rig) -> Vec<Value> {
    compare_with(rig, rig.platforms.len() == 1).await
}

/// Compares with the ledgers of all platforms together. With `copies`, copies of sales on others count.
pub async fn compare_with(rig: &Rig, copies: bool) -> Vec<Value> {
    let mut truths = Vec::new();
    for platform in &rig.platforms {
        truths.push(platform.truth(copies).await);
    }
    rig.night().await;
    let names: Vec<_> = rig.platforms.iter().map(|platform| platform.name).collect();
    let customers = compare_customers(rig, &truths).await;
    println!("{}: {}, {customers} customers: as in the ledger", names.join(" + "), compare_days(rig, &truths).await);
    truths
}

/// What a day comes to.
#[derive(Debug, Default, PartialEq)]
struct Day {
    gross: Decimal,
    refunds: Decimal,
    net: Decimal,
    orders: Decimal,
    shipping: Decimal,
    returned_units: Decimal,
}

fn expected_days(truths: &[Value]) -> BTreeMap<String, Day> {
    let mut days: BTreeMap<String, Day> = BTreeMap::new();
    for (day, truth) in truths.iter().flat_map(|truth| truth["days"].as_object().unwrap()) {
        let of_day = days.entry(day.clone()).or_default();
        let (gross, refunds) = (amount(&truth["gross"]), amount(&truth["refunded"]));
        of_day.gross += gross;
        of_day.refunds += refunds;
        of_day.net += gross - refunds;
        of_day.orders += amount(&truth["orders"]);
        of_day.shipping += amount(&truth["shipping"]);
        of_day.returned_units += amount(&truth["refunded_units"]);
    }
    days
}

async fn compare_days(rig: &Rig, truths: &[Value]) -> String {
    let expected = expected_days(truths);
    let (mut gross, mut refunds, mut profit) = (Decimal::ZERO, Decimal::ZERO, Decimal::ZERO);
    let mut said_days = 0;
    for said in all(rig, "profit?days=365", "data").await {
        let day = said["snapshot_date"].as_str().unwrap();
        let of = |figure: &str| amount(&said[figure]);
        let found = Day {
            gross: of("gross_revenue"),
            refunds: of("refunds"),
            net: of("net_revenue"),
            orders: of("purchase_count"),
            // Costs nothing by the account's rates where the platform does not say what it costs.
            shipping: of("shipping_estimate"),
            returned_units: of("returned_units"),
        };
        let none = Day::default();
        let wanted = expected.get(day).unwrap_or(&none);
        assert_eq!(found, *wanted, "{day}: {said}");
        // Ads are compared in a test of their own.
        let costs = of("cogs_estimate") + of("fees_estimate") + wanted.shipping + of("ad_spend");
        let rounded = (wanted.net - costs - of("final_profit")).abs();
        assert!(rounded < Decimal::new(3, 2), "{day}: {said}");
        gross += wanted.gross;
        refunds += wanted.refunds;
        profit += of("final_profit");
        said_days += usize::from(found != none);
    }
    assert!(!expected.is_empty());
    assert_eq!(said_days, expected.values().filter(|day| **day != Day::default()).count(), "days are missing");
    format!("{} days, gross {gross}, refunds {refunds}, profit {profit}", expected.len())
}

async fn compare_customers(rig: &Rig, truths: &[Value]) -> usize {
    let mut expected: BTreeMap<(&str, &str), (u64, Decimal)> = BTreeMap::new();
    for truth in truths {
        let platform = truth["platform"].as_str().unwrap();
        for (_, order) in taken(truth) {
            if let Some(buyer) = order["buyer"].as_str() {
                let (orders, revenue) = expected.entry((platform, buyer)).or_default();
                *orders += 1;
                *revenue += amount(&order["gross"]) - refunded(order);
            }
        }
    }
    let customers = all(rig, "customers?limit=100", "data").await;
    let mut said: BTreeMap<(&str, &str), (u64, Decimal)> = customers
        .iter()
        .map(|customer| {
            let id = (customer["source"].as_str().unwrap(), customer["external_id"].as_str().unwrap());
            (id, (customer["orders_count"].as_u64().unwrap(), amount(&customer["revenue_total"])))
        })
        .collect();
    // Who bought nothing but what was deleted since stays a customer.
    said.retain(|_, (orders, revenue)| *orders > 0 || !revenue.is_zero());
    assert_eq!(said, expected);
    said.len()
}

async fn compare_stock(rig: &Rig, truth: &Value) {
    let products = truth["products"].as_object().unwrap();
    let expected: BTreeMap<String, i64> =
        products.iter().filter_map(|(sku, product)| Some((sku.clone(), product["stock"].as_i64()?))).collect();
    let items = all(rig, "inventory?limit=100", "items").await;
    let said: BTreeMap<String, i64> = items
        .iter()
        .filter_map(|item| Some((item["sku"].as_str().unwrap().to_lowercase(), item["current_stock"].as_i64()?)))
        .collect();
    assert_eq!(said, expected);
    let sql = rig.service.db.client().await.unwrap();
    let levels = "SELECT lower(sku), day::text, stock FROM stock_levels JOIN products USING (account_id)
        WHERE account_id = $1 AND products.id = product_id";
    let levels = sql.query(levels, &[&rig.service.account]).await.unwrap();
    for level in &levels {
        let (sku, day, stock): (String, String, i64) = (level.get(0), level.get(1), level.get(2));
        assert_eq!(truth["stock"][&day][&sku], stock, "{sku} on {day}");
    }
    assert_eq!(levels.len(), expected.len(), "a level for each product on the day of its connection");
    println!("{}: {} products in stock: as in the ledger", truth["platform"].as_str().unwrap(), expected.len());
}
