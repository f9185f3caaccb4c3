//! API keys on the pages: shown once, and as good as those of the command line.

use super::{Browser, Dashboard, Page};

/// The secret that an answer shows.
pub fn once(page: &Page) -> String {
    let (_, field) = page.text.split_once("<input class=\"mono\" id=\"once\"").expect(&page.text);
    let (_, value) = field.split_once("value=\"").unwrap();
    value.split('"').next().unwrap().to_owned()
}

/// The command that an answer prints, with its characters as they are typed.
fn command(page: &Page) -> String {
    let (_, rest) = page.text.split_once("</p><pre>").unwrap();
    let text = rest.split("</pre>").next().unwrap();
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

async fn create(browser: &mut Browser, fields: &str) -> Page {
    browser.post("/keys", fields).await
}

#[tokio::test]
async fn a_new_key_is_shown_once_and_opens_what_it_was_made_for() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    assert!(browser.get("/keys").await.text.contains("There is no key yet"));
    let made = create(&mut browser, "name=Warehouse+%3Csync%3E&ends=90&read=on").await;
    assert_eq!((made.status, made.header("cache-control")), (200, Some("no-store")));
    let key = once(&made);
    assert!(made.text.contains("Warehouse &lt;sync&gt;") && made.text.matches(&key).count() == 2, "{}", made.text);
    // The printed call runs as it stands.
    let printed = command(&made);
    let output =
        std::process::Command::new("sh").args(["-c", &format!("{printed} -s --noproxy '*'")]).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&printed);
    assert!(answer["totals"].is_object(), "{answer}");
    let me = dashboard.service.process.json("/api/v1/me", &key).await;
    assert_eq!(me["scopes"], serde_json::json!(["read"]));

    let mut listed = browser.get("/keys").await.text;
    assert!(!listed.contains(&key) && listed.contains(&format!("{}…", &key[..12])), "{listed}");
    // The use is written beside the requests.
    while listed.contains("data-label=\"Last used\">never<") {
        tokio::task::yield_now().await;
        listed = browser.get("/keys").await.text;
    }
    let lasts = "SELECT expires_at - created_at = interval '90 days' AND last_used_at IS NOT NULL FROM api_keys";
    assert!(dashboard.sql.query_one(lasts, &[]).await.unwrap().get::<_, bool>(0));
    let told = "SELECT facts ->> 'what' FROM mails";
    assert_eq!(dashboard.sql.query_one(told, &[]).await.unwrap().get::<_, String>(0), "key_made");
}

/// The fields of the form of a page, with the number that it was drawn with.
fn numbered(page: &Page, fields: &str) -> String {
    let (_, rest) = page.text.split_once("name=\"form\" value=\"").expect(&page.text);
    format!("{fields}&form={}", rest.split('"').next().unwrap())
}

#[tokio::test]
async fn a_form_that_is_sent_again_makes_no_second_key_or_secret() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let count = async |table: &str| {
        let count = format!("SELECT count(*) FROM {table}");
        dashboard.sql.query_one(&count, &[]).await.unwrap().get::<_, i64>(0)
    };
    let form = browser.get("/keys").await;
    let fields = numbered(&form, "name=ERP&ends=90&read=on");
    let key = once(&create(&mut browser, &fields).await);
    let again = create(&mut browser, &fields).await;
    assert_eq!((again.status, again.header("location"), count("api_keys").await), (303, Some("/keys?sent=true"), 1));
    let page = browser.get("/keys?sent=true").await.text;
    assert!(page.contains("This form had been sent before") && !page.contains(&key), "{page}");
    // What was filled in again on the form of the history is another key.
    assert_eq!(create(&mut browser, &numbered(&form, "name=Other&ends=90&read=on")).await.status, 200);
    // What is refused is no key, and the form may be sent again.
    let fields = numbered(&browser.get("/keys").await, "name=full&ends=90&read=on");
    let more = "INSERT INTO api_keys (hash, account_id, name, prefix, scopes, created_at)
        SELECT sha256(convert_to(n::text, 'UTF8')), $1, 'a', 'svc_live_abc', '{read}', now() FROM generate_series(1, 98) n";
    dashboard.sql.execute(more, &[&dashboard.service.account]).await.unwrap();
    assert_eq!(create(&mut browser, &fields).await.status, 400);
    dashboard.sql.execute("DELETE FROM api_keys WHERE name = 'a'", &[]).await.unwrap();
    assert_eq!((create(&mut browser, &fields).await.status, count("api_keys").await), (200, 3));

    let id: i64 = dashboard.sql.query_one("SELECT min(id) FROM api_keys", &[]).await.unwrap().get(0);
    let fields = numbered(&browser.get(&format!("/keys/{id}")).await, "ends=90&overlap=24");
    for status in [200, 303] {
        assert_eq!(browser.post(&format!("/keys/{id}/rotate"), &fields).await.status, status);
    }
    assert_eq!(count("api_keys").await, 4);

    let fields = numbered(&browser.get("/webhooks").await, "url=https%3A%2F%2Fexample.com%2F&which=all");
    assert_eq!(browser.post("/webhooks", &fields).await.status, 200);
    let again = browser.post("/webhooks", &fields).await;
    let page = again.header("location").unwrap();
    assert_eq!((again.status, count("webhook_subscriptions").await), (303, 1));
    assert!(browser.get(page).await.text.contains("This form had been sent before"), "{page}");
    let page = page.split('?').next().unwrap();
    let fields = numbered(&browser.get(page).await, "overlap=24");
    let secret = async || {
        let sealed = "SELECT sealed_secret FROM webhook_subscriptions";
        dashboard.sql.query_one(sealed, &[]).await.unwrap().get::<_, Vec<u8>>(0)
    };
    assert_eq!(browser.post(&format!("{page}/rotate"), &fields).await.status, 200);
    let rotated = secret().await;
    assert_eq!(browser.post(&format!("{page}/rotate"), &fields).await.status, 303);
    assert_eq!(secret().await, rotated);
}

#[tokio::test]
async fn a_key_is_of_the_shop_that_is_looked_at() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    browser.post("/mode", "mode=test").await;
    let key = once(&create(&mut browser, "name=a&ends=never&read=on&write=on").await);
    assert!(key.starts_with("svc_test_"), "{key}");
    assert_eq!(dashboard.service.process.get("/api/v1/me", &key).await.status(), 200);
    browser.post("/mode", "mode=live").await;
    assert!(!browser.get("/keys").await.text.contains("svc_test_"));
}

#[tokio::test]
async fn what_a_form_lacks_is_said_beside_its_field_and_nothing_is_made() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let long = "x".repeat(101);
    for (fields, said) in [
        ("name=+&ends=90&read=on", "Write a name"),
        (&*format!("name={long}&ends=90&read=on"), "Write a name"),
        ("name=%00&ends=90&read=on", "Write a name"),
        ("name=a&ends=30", "Choose reading, writing or both"),
    ] {
        let page = create(&mut browser, fields).await;
        assert!(page.status == 400 && page.text.contains(said) && page.text.contains("aria-"), "{fields}");
    }
    for fields in ["", "name=a&read=on", "name=a&ends=91&read=on", "name=a&ends=soon&read=on"] {
        assert_eq!(create(&mut browser, fields).await.status, 400, "{fields}");
    }
    let count = dashboard.sql.query_one("SELECT count(*) FROM api_keys", &[]).await.unwrap();
    assert_eq!(count.get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_key_is_rotated_with_an_overlap_and_revoked_at_once() {
    let dashboard = Dashboard::start().await;
    let (account, process) = (dashboard.service.account, &dashboard.service.process);
    let mut browser = dashboard.owner(account).await;
    let old = once(&create(&mut browser, "name=ERP&ends=never&write=on&read=on").await);
    let id: i64 = dashboard.sql.query_one("SELECT id FROM api_keys", &[]).await.unwrap().get(0);
    let address = format!("/keys/{id}");
    assert!(browser.get(&address).await.text.contains("/rotate\""));
    assert_eq!(browser.post(&format!("{address}/rotate"), "ends=90&overlap=9999").await.status, 400);
    let new = once(&browser.post(&format!("{address}/rotate"), "ends=90&overlap=24").await);
    for key in [&old, &new] {
        assert_eq!(process.get("/api/v1/me", key).await.status(), 200);
    }
    let ends = "SELECT expires_at BETWEEN now() + interval '23 hours' AND now() + interval '24 hours' FROM api_keys WHERE id = $1";
    assert!(dashboard.sql.query_one(ends, &[&id]).await.unwrap().get::<_, bool>(0));

    let revoked = browser.post(&format!("{address}/revoke"), "").await;
    assert_eq!((revoked.status, revoked.header("location")), (303, Some("/keys?revoked=true")));
    while process.get("/api/v1/me", &old).await.status() != 401 {
        tokio::task::yield_now().await;
    }
    assert_eq!(process.get("/api/v1/me", &new).await.status(), 200);
    assert_eq!(browser.get(&address).await.status, 404);
    assert!(browser.get("/keys?ended=true").await.text.contains("Revoked on"));
    // Who did it is noted, and stands beside the key.
    let noted =
        "SELECT string_agg(action, ' ' ORDER BY id) FROM audit_entries WHERE account_id = $1 AND action LIKE 'key%'";
    let noted: String = dashboard.sql.query_one(noted, &[&account]).await.unwrap().get(0);
    assert_eq!(noted, "key_made key_rotated key_revoked");
    assert!(browser.get("/keys").await.text.contains("data-label=\"Made by\">Owner<"));
    // Not by a stranger.
    let other: i64 = dashboard.sql.query_one("SELECT max(id) FROM api_keys", &[]).await.unwrap().get(0);
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    for (path, fields) in [("rotate", "ends=90&overlap=24"), ("revoke", "")] {
        assert_eq!(stranger.post(&format!("/keys/{other}/{path}"), fields).await.status, 404);
    }
    assert_eq!(process.get("/api/v1/me", &new).await.status(), 200);
}

#[tokio::test]
async fn an_account_has_a_hundred_working_keys_at_most() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let add = "INSERT INTO api_keys (hash, account_id, name, prefix, scopes, created_at)
        SELECT sha256(convert_to(n::text, 'UTF8')), $1, 'a', 'svc_live_abc', '{read}', now() FROM generate_series(1, 100) n";
    dashboard.sql.execute(add, &[&dashboard.service.account]).await.unwrap();
    let page = create(&mut browser, "name=b&ends=90&read=on").await;
    assert!(page.status == 400 && page.text.contains("At most 100 keys may work at a time"), "{}", page.text);
    // One that has ended leaves its place.
    let end = "UPDATE api_keys SET expires_at = now() - interval '1 hour' WHERE id = (SELECT min(id) FROM api_keys)";
    dashboard.sql.execute(end, &[]).await.unwrap();
    assert_eq!(create(&mut browser, "name=b&ends=90&read=on").await.status, 200);
    assert_eq!(create(&mut browser, "name=c&ends=90&read=on").await.status, 400);
    // One of them is rotated, but not again while it still works.
    let id: i64 = dashboard.sql.query_one("SELECT max(id) FROM api_keys", &[]).await.unwrap().get(0);
    for status in [200, 400] {
        let page = browser.post(&format!("/keys/{id}/rotate"), "ends=90&overlap=24").await;
        assert_eq!(page.status, status, "{}", page.text);
    }
}

#[tokio::test]
async fn a_key_is_given_only_to_who_proved_lately_who_they_are() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    dashboard.sql.execute("UPDATE sessions SET confirmed_at = now() - interval '16 minutes'", &[]).await.unwrap();
    let page = create(&mut browser, "name=a&ends=90&read=on").await;
    assert_eq!((page.status, page.header("location")), (303, Some("/confirm?next=%2Fkeys")));
    let count = dashboard.sql.query_one("SELECT count(*) FROM api_keys", &[]).await.unwrap();
    assert_eq!(count.get::<_, i64>(0), 0);
    dashboard.service.key(dashboard.service.account, "read");
    let id: i64 = dashboard.sql.query_one("SELECT max(id) FROM api_keys", &[]).await.unwrap().get(0);
    let key = format!("/keys/{id}");
    // Nothing is filled in that would be lost.
    for (path, field) in [("/keys", "name"), (key.as_str(), "overlap"), ("/webhooks", "url"), ("/settings", "fee_rate")]
    {
        let page = browser.get(path).await.text;
        let next = path.replace('/', "%2F");
        let leads = page.contains(&format!("value=\"{path}\"")) || page.contains(&format!("/confirm?next={next}"));
        assert!(leads && !page.contains(&format!("name=\"{field}\"")), "{path}: {page}");
    }
}
