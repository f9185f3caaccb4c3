//! Shops that no statistic was made for, from their files to the answers: every job ends well, and every number is one.

use std::fmt::Write as _;

use serde_json::Value;
use time::{Date, Duration, macros::date};

use crate::service::{Service, run};

const AS_OF: Date = date!(2026 - 03 - 02);

/// What comes in; `None` where a shop has no such file.
struct Shop {
    name: &'static str,
    timezone: &'static str,
    orders: String,
    /// Stock of every product.
    stock: Option<i64>,
    /// What a unit of every product cost from before its first sale on.
    unit_cost: Option<&'static str>,
    spend: Option<String>,
    /// Lines that the importer refuses.
    refused: bool,
}

impl Shop {
    fn of(name: &'static str, lines: impl IntoIterator<Item = Line>) -> Self {
        let mut orders = "order_id,sku,name,quantity,date,unit_price,customer_id,currency\n".to_owned();
        for Line { order, sku, quantity, at, price, customer, currency } in lines {
            writeln!(orders, "{order},{sku},{sku},{quantity},{at},{price},{customer},{currency}").unwrap();
        }
        Self { name, timezone: "UTC", orders, stock: Some(5), unit_cost: None, spend: None, refused: false }
    }
}

struct Line {
    order: String,
    sku: String,
    quantity: i64,
    at: String,
    price: String,
    customer: String,
    currency: &'static str,
}

/// A sale of a mug on the day `back` days before today.
fn sale(back: i64) -> Line {
    Line {
        order: format!("O{back}"),
        sku: "MUG".into(),
        quantity: 2,
        at: format!("{} 10:00:00", AS_OF - Duration::days(back)),
        price: "10.50".into(),
        customer: format!("c{}", back % 7),
        currency: "USD",
    }
}

fn priced(back: i64, price: &str) -> Line {
    Line { price: price.into(), ..sale(back) }
}

/// A thousand orders of one customer on each of 20 days.
fn a_thousand_a_day() -> impl Iterator<Item = Line> {
    (1..=20).flat_map(|back| {
        (0..1_000).map(move |n| Line { order: format!("O{back}-{n}"), customer: "one".into(), ..sale(back) })
    })
}

/// An order every hour around the days on which clocks change: 23 hours, 25 hours, and a midnight that is skipped.
fn around_changes_of_clocks() -> impl Iterator<Item = Line> {
    let days = [date!(2017 - 10 - 15), date!(2018 - 02 - 17), date!(2018 - 11 - 04), date!(2018 - 11 - 05)];
    days.into_iter().enumerate().flat_map(|(at, day)| {
        (0..24).map(move |hour| Line {
            order: format!("D{at}-{hour}"),
            at: format!("{day}T{hour:02}:30:00Z"),
            ..sale(1)
        })
    })
}

fn shops() -> Vec<Shop> {
    let every_day = || (1..=200).map(sale);
    let huge = "999999999999.999999";
    let spend = |text: &str| Some(format!("day,platform,campaign,spend,clicks\n{text}"));
    vec![
        Shop::of("gaps", (1..=200).filter(|back| back % 9 == 0).map(sale)),
        Shop::of("all zeros", (1..=100).map(|back| priced(back, "0"))),
        Shop::of("one point", [sale(100)]),
        Shop::of("constant", every_day()),
        Shop { stock: Some(0), ..Shop::of("opened yesterday", [sale(1)]) },
        Shop {
            refused: true,
            ..Shop::of("no numbers", every_day().chain(["NaN", "inf", "-inf", "1e400", ""].map(|p| priced(300, p))))
        },
        Shop::of("negative", every_day().map(|line| Line { quantity: -line.quantity, ..line })),
        Shop {
            stock: Some(1_000_000_000),
            unit_cost: Some(huge),
            ..Shop::of(
                "huge and tiny",
                (1..=200).map(|back| match back % 2 {
                    0 => Line { quantity: 1, ..priced(back, huge) },
                    _ => Line { quantity: 1_000_000_000, ..priced(back, "0.000001") },
                }),
            )
        },
        Shop {
            spend: spend("2026-03-01,meta,a,5,1\n2026-03-01,meta,a,7,2\n2026-02-01,meta,a,0,0\n"),
            ..Shop::of("duplicate days", every_day().chain(every_day()))
        },
        Shop { timezone: "America/Sao_Paulo", ..Shop::of("clocks", around_changes_of_clocks()) },
        Shop::of("one sale of an item", every_day().chain([Line { sku: "RARE".into(), ..sale(50) }])),
        Shop { stock: Some(-7), ..Shop::of("a thousand a day", a_thousand_a_day()) },
        Shop {
            refused: true,
            ..Shop::of(
                "a change of currency",
                every_day().map(|line| Line { currency: if line.order.len() > 3 { "USD" } else { "EUR" }, ..line }),
            )
        },
        Shop::of("nothing", []),
    ]
}

/// Imports the shop twice, as an owner who is not sure does, and runs all jobs.
fn fill(service: &Service, shop: &Shop) -> i64 {
    let arguments = ["accounts", "create", "--name", shop.name, "--timezone", shop.timezone, "--json"];
    let created: Value = serde_json::from_str(&run(&mut service.api(&arguments))).unwrap();
    let account = created[0]["id"].as_i64().unwrap();
    let number = account.to_string();
    let import = |what: &str, text: &str| {
        let file = service.folder.path().join(format!("{what}-{number}.csv"));
        std::fs::write(&file, text).unwrap();
        let arguments = ["import", what, file.to_str().unwrap(), "--account", &number, "--nice-ratio", "0"];
        let done = service.api(&arguments).output().unwrap();
        let expected = if shop.refused && what == "orders" { 3 } else { 0 };
        assert_eq!(done.status.code(), Some(expected), "{}: {}", shop.name, String::from_utf8_lossy(&done.stderr));
    };
    for _ in 0..2 {
        import("orders", &shop.orders);
    }
    if let Some(stock) = shop.stock.filter(|_| shop.orders.lines().count() > 1 && shop.name != "all zeros") {
        import("stock", &format!("sku,stock,date\nMUG,{stock},2026-03-01\n"));
    }
    if let Some(cost) = shop.unit_cost {
        import("products", &format!("sku,cost,cost_date\nMUG,{cost},2025-01-01\n"));
    }
    if let Some(spend) = &shop.spend {
        import("ad-spend", spend);
    }
    for as_of in ["2026-03-01", "2026-03-02"] {
        let printed = run(&mut service.api(&["jobs", "run", "all", "--account", &number, "--clock", as_of, "--json"]));
        let reports: Value = serde_json::from_str(&printed).unwrap();
        for report in reports.as_array().unwrap() {
            assert_eq!(report["outcome"], "done", "{}: {report}", shop.name);
        }
    }
    account
}

/// Fails at the first number that is none, or that no shop could mean.
fn check(path: &str, value: &Value) {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            assert!(number.is_finite() && number.abs() < 1e30, "{path}: {number}");
        }
        Value::String(text) => {
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '.');
            assert!(words.clone().all(|word| !["NaN", "inf", "Infinity"].contains(&word)), "{path}: {text}");
        }
        Value::Array(items) => items.iter().for_each(|item| check(path, item)),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| check(&format!("{path}.{name}"), field)),
        Value::Null | Value::Bool(_) => {}
    }
}

#[tokio::test]
async fn every_shop_has_figures_that_are_numbers() {
    let service = Service::start().await;
    for shop in shops() {
        let account = fill(&service, &shop);
        let key = service.key(account, "read");
        for path in [
            "customers?limit=100",
            "customers/segments",
            "anomalies?days=90",
            "metrics?metric=profit&days=365",
            "profit?days=365&explain=1",
            "inventory",
            "reorder",
            "insights",
        ] {
            let answer = service.process.json(&format!("/api/v1/{path}"), &key).await;
            assert_eq!(answer["api_version"], "v1", "{}: {answer}", shop.name);
            check(&format!("{} {path}", shop.name), &answer);
        }
        for path in ["customers?format=csv", "profit?format=csv&days=365"] {
            let text = service.process.get(&format!("/api/v1/{path}"), &key).await.text().await.unwrap();
            assert!(!text.contains("NaN") && !text.contains("inf"), "{}: {text}", shop.name);
        }
        expect(&service, &shop, &key).await;
    }
}

/// What can be said of a shop beyond that.
async fn expect(service: &Service, shop: &Shop, key: &str) {
    let anomalies = async || service.process.json("/api/v1/anomalies?days=90", key).await["data"].clone();
    let customers = async || service.process.json("/api/v1/customers", key).await["data"].clone();
    let inventory = async || service.process.json("/api/v1/inventory", key).await["items"].clone();
    let none = Value::Array(vec![]);
    match shop.name {
        "one point" | "opened yesterday" | "nothing" | "constant" | "all zeros" => {
            assert_eq!(anomalies().await, none, "{}", shop.name);
        }
        "a thousand a day" => {
            let one = &customers().await[0];
            assert_eq!((one["orders_count"].as_i64(), one["revenue_total"].as_f64()), (Some(20_000), Some(420_000.0)));
            assert_eq!(inventory().await[0]["status"], "critical");
        }
        "a change of currency" => {
            // O1 to O99 were in another currency, and are not added up with the rest.
            let orders: i64 =
                customers().await.as_array().unwrap().iter().map(|c| c["orders_count"].as_i64().unwrap()).sum();
            assert_eq!(orders, 101);
        }
        "one sale of an item" => assert_eq!(inventory().await.as_array().unwrap().len(), 1, "RARE has no known stock"),
        _ => {}
    }
}
