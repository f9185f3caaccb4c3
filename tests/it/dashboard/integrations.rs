//! A shop is connected, read and disconnected by pages alone, against a fake of its platform.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Browser, Dashboard, Page};
use crate::{
    service::free_port,
    shops::{platform::Platform, rig::worker},
};

/// Far above what a back-fill takes on a busy machine.
const READ_WITHIN: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(100);

async fn start() -> (Dashboard, Platform) {
    let listen = format!("127.0.0.1:{}", free_port());
    let platform =
        Platform::tiendanube_back_to(60, "EUR", &format!("http://{listen}/integrations/tiendanube/callback"));
    let settings: Vec<_> = platform.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let dashboard = Dashboard::start_as(&["serve"], listen, &settings).await;
    (dashboard, platform)
}

/// Presses the button and follows the link of the page to where the platform sends its owner back to; the path there.
async fn granted(browser: &mut Browser, platform: &Platform) -> String {
    let page = browser.post("/integrations/tiendanube/connect", "").await;
    assert_eq!(page.status, 200, "{}", page.text);
    let (_, link) = page.text.split_once("class=\"btn main\" href=\"").unwrap();
    let url = link.split_once('"').unwrap().0.replace("&amp;", "&");
    let back = platform.agreed(&url).await;
    back.strip_prefix(&browser.site).unwrap().to_owned()
}

/// The platform's page leads back: a navigation from another site.
async fn comes_back(browser: &mut Browser, path: &str) -> Page {
    let headers = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    browser.send(reqwest::Method::GET, path, &headers, "").await
}

/// The values of a page, in their order.
fn values(page: &str) -> Vec<i64> {
    let values = page.split("data-value=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0.parse().unwrap());
    values.collect()
}

#[tokio::test]
async fn a_shop_is_connected_read_and_disconnected() {
    let (dashboard, platform) = start().await;
    let account = dashboard.service.account;
    let mut browser = dashboard.owner(account).await;
    let offers = browser.get("/integrations").await.text;
    assert!(offers.contains("No shop is connected yet") && offers.contains("BAS_SHOPIFY_CLIENT_ID"), "{offers}");

    let back = granted(&mut browser, &platform).await;
    let page = comes_back(&mut browser, &back).await;
    assert_eq!(page.status, 303, "{}", page.text);
    let target = page.header("location").unwrap().to_owned();
    let path = target.strip_suffix("?done=connected").unwrap();
    assert!(browser.get(&target).await.text.contains("Its history is being read"));
    assert_eq!(comes_back(&mut browser, &back).await.status, 400, "an answer is good once");

    let worker = worker(&dashboard.service, &platform.settings);
    let key = dashboard.service.key(account, "read");
    let begun = Instant::now();
    loop {
        let connection = dashboard.service.process.json(&format!("/api/v1{path}"), &key).await;
        if connection["status"] == "connected" {
            break;
        }
        assert!(begun.elapsed() < READ_WITHIN, "{connection}");
        tokio::time::sleep(PAUSE).await;
    }
    drop(worker);

    // The figures of the page are those of the call that it prints.
    let page = browser.get(path).await.text;
    assert!(page.contains("Up to date") && page.contains(&format!("/api/v1{path}/runs?limit=25")), "{page}");
    let runs = dashboard.service.process.json(&format!("/api/v1{path}/runs?limit=25"), &key).await;
    let counts = |run: &Value| ["read", "stored", "refused"].map(|field| run[field].as_i64().unwrap());
    let answered: Vec<_> = runs["data"].as_array().unwrap().iter().flat_map(counts).collect();
    assert!(answered.iter().sum::<i64>() > 0, "{answered:?}");
    assert_eq!(values(&page), answered);
    let listed = browser.get("/integrations").await.text;
    assert!(listed.contains(&format!("href=\"{path}\"")) && listed.contains("Up to date"), "{listed}");

    let later = "UPDATE integration_syncs SET due_at = now() + interval '1 hour', lease_until = NULL";
    dashboard.sql.execute(later, &[]).await.unwrap();
    let due = "SELECT due_at <= now() FROM integration_syncs";
    assert!(!dashboard.sql.query_one(due, &[]).await.unwrap().get::<_, bool>(0));
    assert_eq!(browser.post(&format!("{path}/sync"), "").await.status, 303);
    assert!(dashboard.sql.query_one(due, &[]).await.unwrap().get::<_, bool>(0));
    assert_eq!(browser.post(&format!("{path}/disconnect"), "").await.status, 303);
    let ended = browser.get(path).await.text;
    assert!(ended.contains("Disconnected") && !ended.contains("/sync"), "{ended}");
    assert_eq!(browser.post(&format!("{path}/sync"), "").await.status, 409);
    let connection = dashboard.service.process.json(&format!("/api/v1{path}"), &key).await;
    assert_eq!(
        (connection["status"].as_str(), connection["revoke_reason"].as_str()),
        (Some("revoked"), Some("manual"))
    );
}

/// Somebody's answer in another's browser would draw a shop into the wrong account, or the wrong shop into one's own.
#[tokio::test]
async fn an_answer_completes_only_in_the_session_that_asked_for_it() {
    let (dashboard, platform) = start().await;
    let mut asked = dashboard.owner(dashboard.service.account).await;
    let back = granted(&mut asked, &platform).await;
    let same_account = dashboard.owner(dashboard.service.account).await;
    let stranger = dashboard.owner(dashboard.service.stranger).await;
    for mut other in [same_account, stranger] {
        let page = comes_back(&mut other, &back).await;
        assert_eq!(page.status, 400, "{}", page.text);
        assert!(page.text.contains("not one that you asked for in this session"), "{}", page.text);
    }
    let anonymous = comes_back(&mut dashboard.browser(), &back).await;
    assert!(anonymous.header("location").unwrap().starts_with("/login"));
    let count = "SELECT count(*) FROM integrations";
    assert_eq!(dashboard.sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 0);
    // None of them used it up.
    assert_eq!(comes_back(&mut asked, &back).await.status, 303);
    assert_eq!(dashboard.sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 1);
}
