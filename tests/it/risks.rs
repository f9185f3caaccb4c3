//! Risks, from a file of orders to the answer.

use std::fmt::Write as _;

use serde_json::{Value, json};
use time::{Date, Duration, macros::date};

use crate::service::{Service, run};

const AS_OF: Date = date!(2026 - 03 - 03);

fn import(service: &Service, what: &str, text: &str) {
    let file = service.folder.path().join(format!("{what}.csv"));
    std::fs::write(&file, text).unwrap();
    let account = service.account.to_string();
    run(&mut service.api(&["import", what, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"]));
}

fn assess(service: &Service, as_of: Date) {
    let (account, as_of) = (service.account.to_string(), as_of.to_string());
    run(&mut service.api(&["jobs", "run", "all", "--account", &account, "--clock", &as_of]));
}

/// Half a year of five mugs a day and, each fourth day, a vase; 20 mugs and 400 vases are left.
fn fill(service: &Service) {
    let mut orders = "order_id,sku,name,quantity,date,unit_price,customer_id\n".to_owned();
    for back in 1..=180 {
        let day = AS_OF - Duration::days(back);
        writeln!(orders, "M{back},MUG,Mug,5,{day} 11:00:00,10,c{}", back % 40).unwrap();
        if back % 4 == 0 {
            writeln!(orders, "V{back},VASE,Vase,1,{day} 12:00:00,30,c{}", back % 40).unwrap();
        }
    }
    import(service, "orders", &orders);
    let stocked = AS_OF - Duration::DAY;
    import(service, "stock", &format!("sku,stock,date\nMUG,20,{stocked}\nVASE,400,{stocked}\n"));
}

fn ids(body: &Value) -> Vec<&str> {
    body["data"].as_array().unwrap().iter().map(|risk| risk["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn risks_are_found_priced_and_listed() {
    let service = Service::start().await;
    let (key, theirs) = (service.key(service.account, "read"), service.key(service.stranger, "read"));
    let get = async |query: &str| service.process.json(&format!("/api/v1/risks{query}"), &key).await;
    let never = get("").await;
    assert_eq!((&never["data"], &never["generated_at"]), (&json!([]), &Value::Null));
    assert_eq!(never["freshness"]["job"], "risk_assessment");

    fill(&service);
    assess(&service, AS_OF);
    let unpriced = get("").await;
    assert!(ids(&unpriced).contains(&"stockout:MUG") && ids(&unpriced).contains(&"dead_stock:VASE"), "{unpriced}");
    assert!(unpriced["data"].as_array().unwrap().iter().all(|risk| risk["exposure"].is_null()), "{unpriced}");
    assert_eq!(unpriced["warnings"], json!([{"code": "costs_missing", "param": "exposure"}]));

    let valid_from = AS_OF - Duration::days(200);
    import(
        &service,
        "products",
        &format!("sku,cost,cost_date,lead_time_days\nMUG,4,{valid_from},10\nVASE,12,{valid_from},10\n"),
    );
    assess(&service, AS_OF);
    let priced = get("").await;
    assert!(priced["warnings"].is_null() && !priced["generated_at"].is_null(), "{priced}");
    let of = |body: &Value, id: &str| {
        let mut risks = body["data"].as_array().unwrap().iter();
        risks.find(|risk| risk["id"] == id).unwrap_or_else(|| panic!("no {id}: {body}")).clone()
    };
    let mug = of(&priced, "stockout:MUG");
    assert_eq!(
        (&mug["title"], &mug["recommended_action"]),
        (&json!("MUG runs out in about 4 days"), &json!("reorder"))
    );
    assert_eq!((&mug["links"]["sku"], &mug["horizon_days"]), (&json!("MUG"), &json!(30)));
    let part = |risk: &Value, part: &str| risk["exposure"][part].as_f64().unwrap();
    let [low, expected, high] = ["low", "expected", "high"].map(|end| part(&mug, end));
    // Ten days of five less 20 are 30 mugs, each of 10 less its cost of 4 and, at least, nothing more.
    assert!(0.0 < low && low <= expected && expected <= high && expected <= 181.0, "{mug}");
    let first_seen = of(&unpriced, "stockout:MUG")["detected_at"].clone();
    assert_eq!(mug["detected_at"], first_seen, "it has lasted");
    // 400 less half a year of one in four days are 355 at 12 each; a fifth a year of that for 30 days.
    let vase = of(&priced, "dead_stock:VASE");
    assert!((part(&vase, "high") - 4_260.0).abs() < 150.0 && (part(&vase, "expected") - 70.0).abs() < 3.0, "{vase}");

    let (mut walked, mut cursor) = (Vec::new(), None);
    loop {
        let page = get(&cursor.map_or("?limit=1".into(), |cursor: i64| format!("?limit=1&cursor={cursor}"))).await;
        walked.extend(ids(&page).into_iter().map(str::to_owned));
        cursor = page["pagination"]["next_cursor"].as_i64();
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(walked, ids(&priced), "a walk gives what one page does");
    assert_eq!(priced["summary"]["total"], walked.len());

    assert_eq!(ids(&get("?type=dead_stock").await), ["dead_stock:VASE"]);
    for empty in ["ad_waste", "ad_fatigue", "unanswered_conversations"] {
        assert_eq!(get(&format!("?type={empty}")).await["data"], json!([]));
    }
    let others = service.process.json("/api/v1/risks", &theirs).await;
    assert_eq!((&others["data"], &others["summary"]["total"]), (&json!([]), &json!(0)));

    let answer = service.process.get("/api/v1/risks", &key).await;
    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(answer.headers()["cache-control"], "private, no-cache");
    let request = service.process.request(reqwest::Method::GET, "/api/v1/risks").bearer_auth(&key);
    assert_eq!(request.header("if-none-match", tag).send().await.unwrap().status(), 304);
    let refused = service.process.get("/api/v1/risks?type=fire", &key).await;
    assert_eq!(refused.status(), 400);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!((&refused["error"], refused["allowed"].as_array().unwrap().len()), (&json!("invalid_parameter"), 14));
}

#[tokio::test]
async fn what_is_restocked_is_forgotten_after_three_days() {
    let service = Service::start().await;
    let key = service.key(service.account, "read");
    fill(&service);
    assess(&service, AS_OF);
    import(&service, "stock", &format!("sku,stock,date\nMUG,200,{AS_OF}\n"));
    for (days, listed) in [(1, true), (2, true), (3, false)] {
        assess(&service, AS_OF + Duration::days(days));
        let risks = service.process.json("/api/v1/risks?type=stockout", &key).await;
        assert_eq!(ids(&risks).contains(&"stockout:MUG"), listed, "after {days} days: {risks}");
    }
}
