//! Results as of a past day: computed beside what is live, and given out by `?as_of=`.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};
use time::{Date, Duration};

use crate::service::{self, Service, run};

/// Every endpoint with computed answers.
const COMPUTED: [&str; 10] = [
    "profit?days=90",
    "customers?limit=100",
    "customers/segments?",
    "inventory?",
    "reorder?",
    "anomalies?days=90",
    "metrics?metric=orders",
    "insights?",
    "risks?",
    "creatives?days=90",
];

fn import(service: &Service, what: &str, text: &str) {
    let file = service.folder.path().join(format!("{what}.csv"));
    std::fs::write(&file, text).unwrap();
    let account = service.account.to_string();
    run(&mut service.api(&["import", what, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"]));
}

/// A shop of sixty days: two mugs a day for one customer, and a new customer with one more on each of the last twenty.
fn open_shop(service: &Service, today: Date) {
    let mut orders = "order_id,sku,name,quantity,date,unit_price,customer_id\n".to_owned();
    for back in 1..=60 {
        let day = today - Duration::days(back);
        writeln!(orders, "O{back},MUG,Mug,2,{day} 11:00:00,10,ana").unwrap();
        if back <= 20 {
            writeln!(orders, "N{back},MUG,Mug,1,{day} 12:00:00,10,new{back}").unwrap();
        }
    }
    import(service, "orders", &orders);
    let levels = format!("sku,stock,date\nMUG,70,{}\nMUG,5,{}\n", today - Duration::days(40), today - Duration::DAY);
    import(service, "stock", &levels);
}

async fn answers(service: &Service, key: &str) -> BTreeMap<&'static str, Value> {
    let mut answers = BTreeMap::new();
    for path in COMPUTED {
        answers.insert(path, service.process.json(&format!("/api/v1/{path}"), key).await);
    }
    answers
}

#[tokio::test]
async fn results_as_of_a_day_are_beside_what_is_live() {
    let service = Service::start().await;
    let key = service.key(service.account, "read");
    let today = service::today();
    let past = today - Duration::days(30);
    open_shop(&service, today);
    let account = service.account.to_string();
    run(&mut service.api(&["jobs", "run", "all", "--account", &account]));
    let live = answers(&service, &key).await;
    let customers = |answer: &Value| answer["data"].as_array().unwrap().len();
    assert_eq!(customers(&live["customers?limit=100"]), 21);

    let mut command =
        service.api(&["jobs", "run", "all", "--account", &account, "--as-of", &past.to_string(), "--json"]);
    for attempt in 1..=2 {
        let printed: Value = serde_json::from_str(&run(&mut command)).unwrap();
        let jobs = printed.as_array().unwrap();
        assert_eq!(jobs.len(), 8);
        assert!(jobs.iter().all(|job| job["outcome"] == "done" && job["account_id"] == service.account), "{printed}");
        let profit = jobs.iter().find(|job| job["job"] == "profit_snapshots").unwrap();
        assert_eq!(profit["results"].as_array().unwrap().last().unwrap()["snapshot_date"], past.to_string());
        assert_eq!(answers(&service, &key).await, live, "what is live has changed by run {attempt}");
    }

    let get = async |path: &str, day: &str| {
        let response = service.process.get(&format!("/api/v1/{path}&as_of={day}"), &key).await;
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    for path in COMPUTED {
        let (status, answer) = get(path, &past.to_string()).await;
        assert_eq!((status, answer.to_string().contains("unknown_parameter")), (200, false), "{path}: {answer}");
        assert_ne!(answer["freshness"]["as_of"], Value::Null, "{path}");
        let (status, answer) = get(path, &(past - Duration::DAY).to_string()).await;
        let command = format!("api jobs run all --account {account} --as-of {}", past - Duration::DAY);
        assert_eq!((status, &answer["error"]), (404, &json!("not_found")), "{path}");
        assert!(answer["message"].as_str().unwrap().contains(&command), "{answer}");
    }
    let of_past = async |path: &str| get(path, &past.to_string()).await.1;
    let profit = of_past("profit?days=90").await;
    assert_eq!(
        (&profit["data"][0]["snapshot_date"], &profit["totals"]["purchase_count"]),
        (&json!(past.to_string()), &json!(31))
    );
    let known = of_past("customers?limit=100").await;
    assert_eq!((customers(&known), &known["data"][0]["orders_count"]), (1, &json!(31)), "today of then included");
    let item = of_past("inventory?").await["items"][0].clone();
    assert_eq!((&item["current_stock"], &item["units_sold_7d"]), (&json!(70), &json!(14)));

    for wrong in ["2026-02-30", "yesterday", &(today + Duration::days(2)).to_string(), "2023-01-01"] {
        let (status, answer) = get("profit?days=90", wrong).await;
        assert_eq!((status, &answer["error"], &answer["param"]), (400, &json!("invalid_parameter"), &json!("as_of")));
    }
    // A copy is no account of anybody, and the one of the first run has gone.
    let listed = run(&mut service.api(&["accounts", "list", "--json"]));
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap().as_array().unwrap().len(), 4, "{listed}");
    let sql = service.db.client().await.unwrap();
    let copies: i64 =
        sql.query_one("SELECT count(*) FROM accounts WHERE copy_of IS NOT NULL", &[]).await.unwrap().get(0);
    assert_eq!(copies, 1);
}
