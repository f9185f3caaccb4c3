//! Credits on the pages: paid for at a gateway, and as the API has them.

use serde_json::Value;

use super::{Browser, Dashboard, Page};
use crate::service::free_port;

const PACKS: &[(&str, &str)] = &[("BAS_CREDIT_PACKS", "credits_500:500:9.00:USD,credits_5000:5000:80.00:USD")];

async fn with_gateway() -> Dashboard {
    let listen = format!("127.0.0.1:{}", free_port());
    Dashboard::start_as(&["up", "--no-demo", "--dev-gateway"], listen, PACKS).await
}

/// The way to the gateway that a page shows.
fn way(page: &Page) -> &str {
    let (before, _) = page.text.split_once("\" rel=\"external\"").expect(&page.text);
    before.rsplit_once("href=\"").unwrap().1
}

async fn balance(dashboard: &Dashboard, key: &str) -> i64 {
    let credits: Value = dashboard.service.process.json("/api/v1/credits", key).await;
    credits["balance"].as_i64().unwrap()
}

/// Pays as a person does, and gives where the gateway leads back to.
async fn paid(address: &str) -> String {
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let page = client.get(address).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("Pay 9.00 USD"), "{page}");
    let pay = async || {
        let form = client.post(address).header("content-type", "application/x-www-form-urlencoded");
        form.body("email=ana%40example.com").send().await.unwrap()
    };
    let answer = pay().await;
    assert_eq!(answer.status(), 303);
    // A page is paid on once.
    assert_eq!(pay().await.status(), 404);
    answer.headers()["location"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn credits_are_bought_at_the_gateway_and_come_with_its_notification() {
    let dashboard = with_gateway().await;
    let key = dashboard.service.key(dashboard.service.account, "read");
    let mut owner = dashboard.owner(dashboard.service.account).await;
    let page = owner.get("/credits").await.text;
    assert!(page.contains("500 credits for 9.00 USD") && page.contains("5,000 credits for 80.00 USD"), "{page}");

    let opened = owner.post("/credits/checkout", "pack=credits_500").await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    let back = paid(way(&opened)).await;
    assert_eq!(back, format!("{}/credits?paid=true", dashboard.site()));
    while balance(&dashboard, &key).await != 1_000 {
        tokio::task::yield_now().await;
    }
    let page = owner.get("/credits?paid=true").await.text;
    assert!(page.contains("Thank you.") && page.contains("data-value=\"1000\""), "{page}");
    assert!(owner.get("/credits?kind=topup").await.text.contains("data-value=\"500\""));
    let activity = owner.get("/settings/activity?area=credits").await.text;
    assert!(activity.contains("Opened a checkout for credits") && activity.contains("credits_500"), "{activity}");
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    assert!(stranger.get("/credits?kind=topup").await.text.contains("Nothing here matches"));

    assert_eq!(owner.post("/credits/checkout", "pack=credits_501").await.status, 400);
    let unconfirmed = "UPDATE sessions SET confirmed_at = now() - interval '16 minutes'";
    dashboard.sql.execute(unconfirmed, &[]).await.unwrap();
    let asked = owner.post("/credits/checkout", "pack=credits_500").await;
    assert_eq!((asked.status, asked.header("location")), (303, Some("/confirm?next=%2Fcredits")));
    let page = owner.get("/credits").await.text;
    assert!(page.contains("name=\"next\" value=\"/credits\"") && !page.contains("name=\"pack\""), "{page}");
}

#[tokio::test]
async fn the_automatic_top_up_is_set_by_the_rules_of_the_api() {
    let dashboard = with_gateway().await;
    let key = dashboard.service.key(dashboard.service.account, "read");
    let mut owner = dashboard.owner(dashboard.service.account).await;
    for (fields, said) in [
        ("enabled=on&threshold=0&amount=500&cap=", "Write a whole number of credits from 1 to"),
        ("enabled=on&threshold=100&amount=501&cap=", "Choose one of the packs"),
        ("enabled=on&threshold=100&amount=500&cap=499", "from 500 to 1,000,000,000"),
        ("enabled=on&threshold=100&amount=500&cap=9223372036854775807", "from 500 to 1,000,000,000"),
    ] {
        let page = owner.post("/credits/auto-top-up", fields).await;
        assert!(page.status == 400 && page.text.contains(said), "{fields}: {}", page.text);
    }
    assert_eq!(auto(&dashboard, &key).await["enabled"], false);

    let saved = owner.post("/credits/auto-top-up", "enabled=on&threshold=100&amount=500&cap=5000").await;
    assert_eq!((saved.status, saved.header("location")), (303, Some("/credits?saved=true")));
    let settings = auto(&dashboard, &key).await;
    assert_eq!(settings["threshold"], 100);
    assert_eq!(
        (&settings["enabled"], &settings["top_up_amount"], &settings["monthly_cap"]),
        (&true.into(), &500.into(), &5000.into())
    );
    assert!(owner.get("/credits").await.text.contains("when fewer than 100 credits are left, 500 credits are bought"));

    assert_eq!(owner.post("/credits/auto-top-up", "threshold=100&amount=500&cap=").await.status, 303);
    assert_eq!(auto(&dashboard, &key).await["enabled"], false);
}

async fn auto(dashboard: &Dashboard, key: &str) -> Value {
    let mut credits: Value = dashboard.service.process.json("/api/v1/credits", key).await;
    credits["auto_topup"].take()
}

#[tokio::test]
async fn where_nothing_is_sold_the_page_says_so() {
    let dashboard = Dashboard::start().await;
    let mut owner = dashboard.owner(dashboard.service.account).await;
    let says = async |owner: &mut Browser, text: &str| {
        let page = owner.get("/credits").await.text;
        assert!(page.contains(text) && !page.contains("/credits/checkout"), "{page}");
        assert_eq!(owner.post("/credits/checkout", "pack=credits_500").await.status, 409);
    };
    says(&mut owner, "no payment gateway is set up here").await;
    owner.post("/mode", "mode=test").await;
    says(&mut owner, "Nothing is sold to the test shop").await;
}

#[tokio::test]
async fn how_long_the_credits_last_is_what_the_api_says() {
    let dashboard = Dashboard::start().await;
    let account = dashboard.service.account;
    let key = dashboard.service.key(account, "read");
    let used = "WITH spent AS (UPDATE credit_balances SET balance = 430, total_spent = 70, updated_at = now()
            WHERE account_id = $1 RETURNING account_id)
        INSERT INTO credit_transactions (account_id, kind, feature, amount, balance_after, operation_key, meta, created_at)
        SELECT account_id, 'consume', 'chat', -70, 430, 'a', '{}', now() FROM spent";
    dashboard.sql.execute(used, &[&account]).await.unwrap();
    let runway = dashboard.service.process.json("/api/v1/usage", &key).await["runway"].take();
    assert_eq!(runway, serde_json::json!({ "used_14d": 70, "days_left": 86.0 }));
    let page = dashboard.owner(account).await.get("/credits").await.text;
    assert!(page.contains("data-value=\"86\">86.0<") && page.contains("70 used in the last 14 days"), "{page}");
}
