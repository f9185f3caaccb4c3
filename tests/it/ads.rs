//! Advertising from files to the answers, and a winner from its sales to the event.

use std::fmt::Write as _;

use serde_json::{Value, json};
use time::Duration;

use crate::service::{Service, run, today};

fn import(service: &Service, what: &str, text: &str) -> String {
    let file = service.folder.path().join(format!("{what}.csv"));
    std::fs::write(&file, text).unwrap();
    let account = service.account.to_string();
    run(&mut service.api(&["import", what, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"]))
}

fn run_jobs(service: &Service) {
    let account = service.account.to_string();
    run(&mut service.api(&["jobs", "run", "all", "--account", &account, "--recompute"]));
}

/// Thirty days of a campaign with three ads, of which the first sells three times as much as the others.
fn spent() -> String {
    let header = "date,platform,campaign,ad set,ad,creative,format,headline,spend,impressions,clicks,purchases,revenue";
    let mut file = format!("{header},video views 3s\n");
    for back in 1..=33 {
        let day = today() - Duration::days(back);
        for (ad, purchases) in [("one", 6), ("two", 2), ("three", 2)] {
            let revenue = purchases * 20;
            writeln!(
                file,
                "{day},Meta Ads,Spring,Broad,{ad},v-{ad},video,Film {ad},10,1000,40,{purchases},{revenue},300"
            )
            .unwrap();
        }
    }
    file
}

#[tokio::test]
async fn a_file_of_ads_comes_out_as_advertising_creatives_profit_and_one_event() {
    let service = Service::start().await;
    let (key, theirs) = (service.key(service.account, "read"), service.key(service.stranger, "read"));
    let get = async |path: &str| service.process.json(&format!("/api/v1/{path}"), &key).await;
    let nothing = get("ads").await;
    assert_eq!((&nothing["data"], &nothing["totals"]["spend"]), (&json!([]), &json!(0.00)));
    assert_eq!(nothing["warnings"], json!([{"code": "no_ad_source", "param": "data"}]));

    import(&service, "ad-spend", &spent());
    let day = today() - Duration::days(2);
    import(
        &service,
        "orders",
        &format!("order_id,sku,name,quantity,date,unit_price\n1,MUG,Mug,1,{day} 11:00:00,1980\n"),
    );
    run_jobs(&service);

    let ads = get("ads?days=31").await;
    let campaign = &ads["data"][0];
    assert_eq!(
        (&campaign["name"], &campaign["platform"], &campaign["level"]),
        (&json!("Spring"), &json!("meta"), &json!("campaign"))
    );
    // Thirty days of three ads at ten, of which ten purchases a day at twenty.
    let totals = &ads["totals"];
    assert_eq!(
        (&totals["spend"], &totals["revenue"], &totals["roas"]),
        (&json!(900.00), &json!(6000.00), &json!(6.6667))
    );
    assert_eq!((&totals["store_revenue"], &totals["mer"]), (&json!(1980.00), &json!(2.2)));
    assert_eq!(ads["coverage"], json!([{"platform": "meta", "days_synced": 30, "provisional_from": null}]));
    for level in ["account", "ad_set", "ad"] {
        assert_eq!(get(&format!("ads?days=31&level={level}")).await["totals"], *totals, "{level}");
    }
    let day_rows = get("ads?days=31&group=day&level=ad&limit=200").await;
    assert_eq!(day_rows["data"].as_array().unwrap().len(), 90);
    let spend: f64 = get("profit?days=31").await["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|day| day["ad_spend"].as_f64().unwrap())
        .sum();
    assert!((spend - 900.0).abs() < 1e-9, "profit is made of the same spend");

    let creatives = get("creatives").await;
    let rows = creatives["data"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let winner = &rows[0];
    assert_eq!(
        (&winner["key"], &winner["status"], &winner["hook_rate"]),
        (&json!("meta:video:v-one"), &json!("winner"), &json!(0.3))
    );
    assert_eq!((&winner["verdict"]["lift_observed"], &winner["verdict"]["days"]), (&json!(2), &json!(30)));
    assert!(winner["verdict"]["evidence"].as_f64().unwrap() >= 10.0 && !winner["won_at"].is_null(), "{winner}");
    assert!(rows[1..].iter().all(|row| row["is_winner"] == json!(false)));
    run_jobs(&service);
    let sql = service.db.client().await.unwrap();
    let told = "SELECT count(*) FROM events WHERE kind = 'creative.winner.detected'";
    assert_eq!(sql.query_one(told, &[]).await.unwrap().get::<_, i64>(0), 1);

    let id = campaign["id"].as_i64().unwrap();
    for path in ["ads", "creatives"] {
        let answer = service.process.get(&format!("/api/v1/{path}?campaign_id={id}"), &theirs).await;
        assert_eq!(answer.status(), 404, "{path}");
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["param"], "campaign_id");
        let answer = service.process.get(&format!("/api/v1/{path}"), &key).await;
        let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
        let again = service.process.request(reqwest::Method::GET, &format!("/api/v1/{path}")).bearer_auth(&key);
        assert_eq!(again.header("if-none-match", tag).send().await.unwrap().status(), 304, "{path}");
    }
    let file = service.process.get("/api/v1/ads?days=31&level=ad&group=day&format=csv", &key).await;
    assert_eq!(file.text().await.unwrap().lines().count(), 91);
    let file = service.process.get("/api/v1/creatives?format=csv", &key).await.text().await.unwrap();
    assert_eq!(file.lines().count(), 4);
}

#[tokio::test]
async fn totals_count_all_and_leave_out_money_without_a_rate() {
    let service = Service::start().await;
    let key = service.key(service.account, "read");
    let day = today() - Duration::days(1);
    let rows = format!(
        "date,platform,campaign,spend,currency,impressions,clicks,purchases,revenue\n\
        {day},meta,a,10,,1000,20,2,50\n{day},meta,b,30,GBP,3000,60,6,90\n"
    );
    import(&service, "ad-spend", &rows);
    let ads = service.process.json("/api/v1/ads", &key).await;
    let figures = |of: &Value, names: &[&str]| names.iter().map(|name| of[*name].clone()).collect::<Vec<_>>();
    let totals = &ads["totals"];
    let counts = figures(totals, &["impressions", "clicks", "purchases", "ctr"]);
    assert_eq!(counts, [json!(4000), json!(80), json!(8), json!(0.02)]);
    let money = figures(totals, &["spend", "revenue", "cpc", "cpm", "cpa", "roas"]);
    assert_eq!(money, [json!(10.0), json!(50.0), json!(0.5), json!(10.0), json!(5.0), json!(5)]);
    let unpriced = ads["data"].as_array().unwrap().iter().find(|row| row["name"] == "b").unwrap();
    assert_eq!(
        figures(unpriced, &["spend", "clicks", "cpc", "roas"]),
        [Value::Null, json!(60), Value::Null, Value::Null]
    );
}

#[tokio::test]
async fn spend_in_another_currency_waits_for_its_rate() {
    let service = Service::start().await;
    let key = service.key(service.account, "read");
    let day = today() - Duration::days(1);
    import(&service, "ad-spend", &format!("date,platform,campaign,spend,currency\n{day},tiktok,a,10,GBP\n"));
    let ads = service.process.json("/api/v1/ads", &key).await;
    let row = &ads["data"][0];
    assert_eq!(
        (&row["spend"], &row["native"], &row["platform"]),
        (&Value::Null, &json!({"spend": 10.00, "currency": "GBP"}), &json!("manual"))
    );
    assert_eq!((&ads["totals"]["spend"], &ads["warnings"][0]["code"]), (&json!(0.00), &json!("fx_missing")));
    let said = import(&service, "rates", &format!("date,currency,rate\n{day},GBP,1.25\n"));
    assert!(said.contains("1 new"), "{said}");
    let ads = service.process.json("/api/v1/ads", &key).await;
    assert_eq!((&ads["data"][0]["spend"], &ads["totals"]["spend"]), (&json!(12.50), &json!(12.50)));
    assert!(ads["warnings"].is_null(), "{ads}");
    // What nobody told is null, and no number.
    for told in [&ads["data"][0], &ads["totals"]] {
        for figure in ["impressions", "clicks", "purchases", "revenue", "ctr", "cpc", "cpm", "cpa", "roas"] {
            assert!(told[figure].is_null(), "{figure}: {told}");
        }
    }
}
