//! One product, one customer, and looking them up; and what everybody is told of the service.

use std::fmt::Write as _;

use serde_json::Value;
use time::Duration;

use super::Dashboard;
use crate::service::{self, Service, run};

/// Three products that sell every day, and one that nobody buys.
fn fill(service: &Service, account: i64) {
    let today = service::today();
    let mut orders = "order_id,sku,name,quantity,date,unit_price,customer_id,email,customer_name\n".to_owned();
    let mut stock = "sku,stock,date\n".to_owned();
    for (number, name) in ["Blue mug", "Red mug", "100% cup"].into_iter().enumerate() {
        writeln!(stock, "SKU{number},{},{today}", 40 + 30 * number).unwrap();
        for back in 1..70 {
            let day = today - Duration::days(back);
            writeln!(
                orders,
                "O{number}-{back},SKU{number},{name},2,{day} 10:30:00,10.50,c{},c{}@example.com,Customer {}",
                back % 4,
                back % 4,
                back % 4
            )
            .unwrap();
        }
    }
    let account = account.to_string();
    for (what, text) in [("orders", orders), ("stock", stock)] {
        let file = service.folder.path().join(format!("{what}.csv"));
        std::fs::write(&file, text).unwrap();
        let arguments = ["import", what, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"];
        run(&mut service.api(&arguments));
    }
    run(&mut service.api(&["jobs", "run", "all", "--account", &account]));
}

/// The values of a page, and what the first call that it prints answers.
async fn shown(dashboard: &Dashboard, page: &str, key: &str) -> (Vec<String>, Value) {
    let values = page.split("data-value=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0.to_owned());
    let (_, command) = page.split_once("<pre>").unwrap();
    let command = command.split_once("</pre>").unwrap().0.replace("&amp;", "&").replace("&quot;", "\"");
    let api = format!("http://{}", dashboard.service.process.address());
    let path = command.split('\'').find_map(|text| text.strip_prefix(&api)).unwrap().to_owned();
    (values.collect(), dashboard.service.process.json(&path, key).await)
}

fn numbers(object: &Value, fields: &[&str]) -> Vec<String> {
    let plain = |number: &Value| number.to_string().trim_end_matches(".0").to_owned();
    fields.iter().filter(|field| !object[**field].is_null()).map(|field| plain(&object[*field])).collect()
}

#[tokio::test]
async fn the_figures_of_a_product_and_of_a_customer_are_those_of_the_calls_that_they_print() {
    let dashboard = Dashboard::start().await;
    let account = dashboard.service.account;
    fill(&dashboard.service, account);
    let key = dashboard.service.key(account, "read");
    let (mut browser, mut stranger) =
        (dashboard.owner(account).await, dashboard.owner(dashboard.service.stranger).await);
    let items = dashboard.service.process.json("/api/v1/inventory", &key).await;
    for item in items["items"].as_array().unwrap() {
        let path = format!("/inventory/{}", item["id"]);
        let page = browser.get(&path).await.text;
        assert!(page.contains(&format!("<h1>{}</h1>", item["product_name"].as_str().unwrap())), "{page}");
        assert!(page.contains("class=\"plot") && page.contains("138 units were sold"), "{page}");
        assert_eq!(page.matches("<pre>").count(), 1, "no call of the API tells what was sold by day: {page}");
        let (values, answered) = shown(&dashboard, &page, &key).await;
        assert_eq!(answered["items"][0]["id"], item["id"], "{answered}");
        let fields = ["current_stock", "days_of_stock", "velocity", "units_sold_7d", "units_sold_30d"];
        assert_eq!(values, numbers(&answered["items"][0], &fields), "{page}");
        assert_eq!(stranger.get(&path).await.status, 404);
    }
    let customers = dashboard.service.process.json("/api/v1/customers", &key).await;
    assert_eq!(customers["data"].as_array().unwrap().len(), 4);
    for customer in customers["data"].as_array().unwrap() {
        let path = format!("/customers/{}", customer["id"]);
        let page = browser.get(&path).await.text;
        let (values, answered) = shown(&dashboard, &page, &key).await;
        assert_eq!(answered["data"][0]["id"], customer["id"], "{answered}");
        let fields = ["orders_count", "revenue_total", "aov", "ltv_estimate", "churn_score"];
        assert_eq!(values, numbers(&answered["data"][0], &fields), "{page}");
        assert_eq!(stranger.get(&path).await.status, 404);
        assert_eq!(page.matches("<pre>").count(), 1, "no call of the API lists the orders of a customer: {page}");
        // The orders go on where a page ends.
        let (mut page, mut count) = (page, 0);
        loop {
            count += page.matches("scope=\"row\"").count() as u64;
            let Some((before, _)) = page.split_once("rel=\"next\"") else { break };
            let next = before.rsplit_once("href=\"").unwrap().1.split_once('"').unwrap().0.to_owned();
            page = browser.get(&next).await.text;
        }
        assert_eq!(Some(count), answered["data"][0]["orders_count"].as_u64());
    }
    for (path, found) in [
        ("/inventory?q=BLUE", &["Blue mug"][..]),
        ("/inventory?q=sku", &["Blue mug", "Red mug", "100% cup"]),
        ("/inventory?q=100%25", &["100% cup"]),
        ("/inventory?q=%25", &[]),
        ("/inventory?q=_", &[]),
        ("/customers?q=customer+2", &["Customer 2"]),
        ("/customers?q=C3%40", &["Customer 3"]),
        ("/customers?q=zzz", &[]),
    ] {
        let page = browser.get(path).await.text;
        let (_, list) = page.rsplit_once("What begins with").unwrap();
        for name in ["Blue mug", "Red mug", "100% cup", "Customer 2", "Customer 3"] {
            assert_eq!(list.contains(name), found.contains(&name), "{path}: {name}");
        }
        assert_eq!(found.is_empty(), page.contains("Nothing begins with that"), "{path}");
        // No call of the API looks anything up.
        assert!(!list.contains("/api/v1/"), "{path}");
    }
    assert!(stranger.get("/customers?q=customer").await.text.contains("No customers yet"));
}

#[tokio::test]
async fn customers_come_in_the_order_that_is_asked_for_on_the_page_in_the_file_and_by_the_api() {
    let dashboard = Dashboard::start().await;
    let account = dashboard.service.account;
    fill(&dashboard.service, account);
    let key = dashboard.service.key(account, "read");
    let mut browser = dashboard.owner(account).await;
    for order in ["ltv_estimate", "churn_score"] {
        let call = format!("/api/v1/customers?order_by={order}");
        let answer = dashboard.service.process.json(&call, &key).await;
        let listed = answer["data"].as_array().unwrap();
        let figures: Vec<_> = listed.iter().map(|customer| customer[order].as_f64().unwrap()).collect();
        assert!(figures.len() == 4 && figures.is_sorted_by(|one, next| one >= next), "{order}: {figures:?}");
        let ids: Vec<_> = listed.iter().map(|customer| customer["id"].to_string()).collect();
        let file = dashboard.service.process.get(&format!("{call}&format=csv"), &key).await.text().await.unwrap();
        let of_file: Vec<_> = file.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(of_file, ids, "{order}");
        let page = browser.get(&format!("/customers?order_by={order}")).await.text;
        let (_, list) = page.split_once("id=\"h-customers\"").unwrap();
        let links = list.split("href=\"/customers/").skip(1);
        let of_page: Vec<_> = links.map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(of_page, ids, "{order}");
        // A page goes on where the one before ended.
        let first = dashboard.service.process.json(&format!("{call}&limit=3"), &key).await;
        let cursor = &first["pagination"]["next_cursor"];
        let last = dashboard.service.process.json(&format!("{call}&limit=3&cursor={cursor}"), &key).await;
        assert_eq!(last["data"], serde_json::json!([answer["data"][3]]), "{order}");
    }
}

#[tokio::test]
async fn a_customer_is_handed_out_and_forgotten_for_good() {
    let dashboard = Dashboard::start().await;
    let account = dashboard.service.account;
    fill(&dashboard.service, account);
    let key = dashboard.service.key(account, "read");
    let (mut owner, mut stranger) = (dashboard.owner(account).await, dashboard.owner(dashboard.service.stranger).await);
    let listed = async || dashboard.service.process.json("/api/v1/customers", &key).await["data"].clone();
    let customer = listed().await[0].clone();
    let path = format!("/customers/{}", customer["id"]);
    let file = owner.get(&format!("{path}/data.json")).await;
    assert_eq!(file.header("content-type"), Some("application/json"));
    let kept: Value = serde_json::from_str(&file.text).unwrap();
    assert_eq!((&kept["email"], &kept["name"]), (&customer["email"], &customer["name"]));
    assert_eq!(kept["orders"].as_array().unwrap().len() as u64, customer["orders_count"].as_u64().unwrap());

    assert_eq!(stranger.get(&format!("{path}/data.json")).await.status, 404);
    assert_eq!(stranger.post(&format!("{path}/forget"), "").await.status, 404);
    let confirmed = "UPDATE sessions SET confirmed_at = now() - $1 * interval '1 minute'";
    dashboard.sql.execute(confirmed, &[&15.0]).await.unwrap();
    let asked = owner.get(&format!("{path}/data.json")).await;
    assert!(asked.header("location").unwrap().starts_with("/confirm?"), "{}", asked.text);
    // Who was handed out, and to whom, is noted each time that it is.
    let noted =
        "SELECT count(*), min(target) FROM audit_entries WHERE action = 'customer_data_fetched' AND account_id = $1";
    let noted = dashboard.sql.query_one(noted, &[&account]).await.unwrap();
    assert_eq!((noted.get::<_, i64>(0), noted.get::<_, String>(1)), (1, customer["id"].to_string()));
    let asked = owner.post(&format!("{path}/forget"), "").await;
    assert!(asked.header("location").unwrap().starts_with("/confirm?"), "{}", asked.text);
    assert!(listed().await.as_array().unwrap().contains(&customer));
    dashboard.sql.execute(confirmed, &[&0.0]).await.unwrap();
    let done = owner.post(&format!("{path}/forget"), "").await;
    assert_eq!(done.header("location"), Some("/customers?forgotten=true"));
    assert!(owner.get("/customers?forgotten=true").await.text.contains("The customer is forgotten"));
    assert!(listed().await.as_array().unwrap().iter().all(|left| left["id"] != customer["id"]));
    assert_eq!(owner.get(&path).await.status, 404);
    fill(&dashboard.service, account);
    assert!(listed().await.as_array().unwrap().iter().all(|left| left["email"] != customer["email"]));
}

#[tokio::test]
async fn insights_are_made_at_once_and_the_page_tells_what_became_of_it() {
    let dashboard = Dashboard::start().await;
    let (mut owner, mut stranger) =
        (dashboard.owner(dashboard.service.account).await, dashboard.owner(dashboard.service.stranger).await);
    assert!(owner.get("/insights").await.text.contains("It costs nothing."));
    let asked = owner.post("/insights/generate", "").await;
    let address = asked.header("location").unwrap().to_owned();
    assert!(address.starts_with("/insights?run="), "{address}");
    let page = owner.get(&address).await;
    assert!(page.text.contains("They are being made") && page.header("refresh").is_some(), "{}", page.text);
    assert!(!page.text.contains("/insights/generate"), "{}", page.text);
    let again = owner.post("/insights/generate", "").await;
    assert_eq!(again.header("location"), Some(address.as_str()), "the second joins the first");
    let noted = "SELECT count(*) FROM audit_entries WHERE action = 'insights_requested'";
    assert_eq!(dashboard.sql.query_one(noted, &[]).await.unwrap().get::<_, i64>(0), 1);
    assert!(!stranger.get(&address).await.text.contains("They are being made"));

    let ended = "UPDATE ai_runs SET state = 'done', outcome = 'rules', finished_at = now()";
    dashboard.sql.execute(ended, &[]).await.unwrap();
    let page = owner.get(&address).await;
    assert!(page.text.contains("Made just now. It cost nothing."), "{}", page.text);
    assert_eq!(page.header("refresh"), None);
    dashboard.set_role("viewer").await;
    assert!(!owner.get("/insights").await.text.contains("/insights/generate"));
}

#[tokio::test]
async fn everybody_is_told_how_the_service_is() {
    let dashboard = Dashboard::start().await;
    let told = ["incidents", "create", "--title", "Delayed <imports>", "--severity", "minor", "--component", "jobs"];
    run(&mut dashboard.service.api(&[&told[..], &["--body", "We are looking into it."]].concat()));
    let page = dashboard.browser().get("/status").await.text;
    for wanted in ["Delayed &lt;imports&gt;", "We are looking into it.", "Being investigated"] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
}
