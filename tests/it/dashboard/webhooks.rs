//! Webhooks on the pages: made, tried, looked at, sent again, paused and deleted.

use serde_json::Value;

use super::{Browser, Dashboard, keys::once};
use crate::{extras::receiver, service::Process};

struct Fixture {
    dashboard: Dashboard,
    browser: Browser,
    /// The page of the subscription.
    page: String,
    /// The address that it posts to, as a form sends it.
    url: String,
    /// The receiver, as the setting names it.
    allowed: String,
    secret: String,
}

/// An owner with a subscription to a receiver that answers so.
async fn subscribed(statuses: &'static [u16]) -> Fixture {
    let port = receiver(statuses).await;
    let allowed = format!("127.0.0.1:{port}");
    let dashboard = Dashboard::start_with(&[("BAS_WEBHOOK_ALLOW_LOOPBACK", &allowed)]).await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let url = format!("http%3A%2F%2F{allowed}%2Fhook");
    let made =
        browser.post("/webhooks", &format!("url={url}&which=some&event=credits.low&event=credit.consumed")).await;
    assert_eq!((made.status, made.header("cache-control")), (200, Some("no-store")), "{}", made.text);
    let secret = once(&made);
    assert!(secret.starts_with("whsec_"));
    let (_, rest) = made.text.split_once("class=\"btn\" href=\"").unwrap();
    let page = rest.split('"').next().unwrap().to_owned();
    Fixture { dashboard, browser, page, url, allowed, secret }
}

/// Sends a test, and gives the path of its delivery.
async fn tried(browser: &mut Browser, page: &str) -> String {
    let sent = browser.post(&format!("{page}/test"), "event=credits.low").await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    sent.header("location").unwrap().to_owned()
}

#[tokio::test]
async fn a_webhook_is_made_once_with_its_secret_and_says_what_it_gets() {
    let Fixture { dashboard, mut browser, page, url, secret, .. } = subscribed(&[200]).await;
    let listed = browser.get("/webhooks").await.text;
    assert!(listed.contains("2 events") && listed.contains("Working") && !listed.contains(&secret), "{listed}");
    let event: String =
        dashboard.sql.query_one("SELECT events::text FROM webhook_subscriptions", &[]).await.unwrap().get(0);
    assert_eq!(event, "{credits.low,credit.consumed}");
    for (fields, said) in [
        ("url=http%3A%2F%2F10.0.0.1%2F&which=all", "This address cannot be used"),
        ("url=nonsense&which=all", "This address cannot be used"),
        (&*format!("url={url}&which=some"), "Tick at least one event"),
    ] {
        let refused = browser.post("/webhooks", fields).await;
        assert!(refused.status == 400 && refused.text.contains(said), "{fields}: {}", refused.text);
    }
    for number in 1..16 {
        let made = browser.post("/webhooks", &format!("url=https%3A%2F%2Fexample.com%2F{number}&which=all")).await;
        assert_eq!(made.status, 200);
    }
    let over = browser.post("/webhooks", "url=https%3A%2F%2Fexample.com%2F&which=all").await;
    assert!(over.status == 400 && over.text.contains("which is the limit"));
    // The receivers' programs are those of the documentation.
    let documented = include_str!("../../../docs/webhooks.md");
    assert!(documented.contains("hmac.compare_digest") && listed.contains("hmac.compare_digest"));
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    for path in ["", "/replay?from=2026-11-01&to=2026-11-02&which=all"] {
        assert_eq!(stranger.get(&format!("{page}{path}")).await.status, 404, "{path}");
    }
    for (path, fields) in
        [("test", "event=credits.low"), ("switch", "to=off"), ("rotate", "overlap=24"), ("delete", "")]
    {
        assert_eq!(stranger.post(&format!("{page}/{path}"), fields).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn what_is_delivered_is_followed_for_a_while() {
    let Fixture { dashboard: _dashboard, mut browser, page, .. } = subscribed(&[200]).await;
    let sent = browser.get(&format!("{page}?state=failed&follow=true")).await;
    let followed = sent.header("location").unwrap().to_owned();
    assert!(sent.status == 303 && followed.starts_with(&format!("{page}?state=failed&live=")), "{followed}");
    let shown = browser.get(&followed).await;
    assert_eq!((shown.status, shown.header("refresh")), (200, Some("3")));
    // Nothing is filled in that the next look would take away, and there is a way out.
    let stop = format!("href=\"{page}?state=failed\">Stop following");
    assert!(shown.text.contains(&stop) && !shown.text.contains("name=\"overlap\""), "{}", shown.text);
    for still in [page.clone(), format!("{page}?live=1796030476"), format!("{page}?follow=")] {
        let shown = browser.get(&still).await;
        assert_eq!((shown.status, shown.header("refresh")), (200, None), "{still}");
        assert!(shown.text.contains("name=\"overlap\""), "{}", shown.text);
    }
}

#[tokio::test]
async fn a_delivery_shows_what_the_api_says_of_it_and_is_sent_again() {
    let Fixture { dashboard, mut browser, page, allowed, .. } = subscribed(&[503, 200]).await;
    let delivery = tried(&mut browser, &page).await;
    let shown = browser.get(&delivery).await.text;
    for part in ["503", "&lt;b&gt;answer&lt;/b&gt;", "x-svc-signature: ", "&quot;event&quot;:&quot;credits.low&quot;"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let activity = browser.get("/settings/activity?area=webhooks").await.text;
    assert!(activity.contains("Sent a sample to a webhook"), "{activity}");
    let key = dashboard.service.key(dashboard.service.account, "read");
    let api = dashboard.service.process.json(&format!("/api/v1{delivery}"), &key).await;
    let total = api["attempts"][0]["total_ms"].to_string();
    assert!(shown.contains(&format!("data-value=\"{total}\"")), "{total}: {shown}");

    let again = browser.post(&format!("{delivery}/resend"), "").await;
    assert_eq!(again.header("location"), Some(&*format!("{delivery}?resent=true")));
    // Deliveries are the workers', which come with another command.
    let mut work = dashboard.service.api(&["work"]);
    let _worker = Process::start(work.env("BAS_WEBHOOK_ALLOW_LOOPBACK", &allowed));
    while !browser.get(&delivery).await.text.contains("✓ Delivered") {
        tokio::task::yield_now().await;
    }
    let listed = browser.get(&page).await.text;
    assert!(listed.contains("100.0%") && listed.contains("1 of 1"), "{listed}");
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    assert_eq!(stranger.get(&delivery).await.status, 404);
    assert_eq!(stranger.post(&format!("{delivery}/resend"), "").await.status, 404);
}

#[tokio::test]
async fn deliveries_are_filtered_as_the_printed_call_does_and_paged() {
    let Fixture { dashboard, mut browser, page, .. } = subscribed(&[200]).await;
    for _ in 0..26 {
        tried(&mut browser, &page).await;
    }
    browser.post(&format!("{page}/test"), "event=ai.paused").await;
    let key = dashboard.service.key(dashboard.service.account, "read");
    let day = "SELECT to_char(now() AT TIME ZONE timezone, 'YYYY-MM-DD') FROM accounts WHERE id = $1";
    let day: String = dashboard.sql.query_one(day, &[&dashboard.service.account]).await.unwrap().get(0);
    for (filter, expected) in [
        ("", 25),
        ("?state=failed", 0),
        ("?event=ai.paused", 1),
        (&*format!("?state=delivered&from={day}&to={day}"), 25),
        ("?to=2020-01-01", 0),
    ] {
        let shown = browser.get(&format!("{page}{filter}")).await.text;
        let links = shown.matches(&format!("href=\"{page}/deliveries/")).count();
        assert_eq!(links, expected, "{filter}");
        let (_, command) = shown.split_once("href=\"/api/v1/webhooks/").unwrap();
        let path = format!("/api/v1/webhooks/{}", command.split('"').next().unwrap().replace("&amp;", "&"));
        let api: Value = dashboard.service.process.json(&path, &key).await;
        let ids: Vec<_> = api["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), expected, "{path}");
        assert!(ids.iter().all(|id| shown.contains(&format!("{page}/deliveries/{id}"))), "{path}");
    }
    let first = browser.get(&page).await.text;
    let (_, next) = first.split_once(&format!("href=\"{page}?cursor=")).unwrap();
    let rest = browser.get(&format!("{page}?cursor={}", next.split('"').next().unwrap())).await.text;
    assert_eq!(rest.matches(&format!("href=\"{page}/deliveries/")).count(), 2);
}

#[tokio::test]
async fn a_webhook_is_paused_switched_on_rotated_and_deleted() {
    let Fixture { dashboard, mut browser, page, .. } = subscribed(&[200]).await;
    let active = async || -> bool {
        dashboard.sql.query_one("SELECT active FROM webhook_subscriptions", &[]).await.unwrap().get(0)
    };
    for (to, done, is_active) in
        [("off", "paused", false), ("held", "resumed", true), ("off", "paused", false), ("on", "resumed", true)]
    {
        let switched = browser.post(&format!("{page}/switch"), &format!("to={to}")).await;
        assert_eq!(switched.header("location"), Some(&*format!("{page}?done={done}")), "{to}");
        assert_eq!(active().await, is_active, "{to}");
    }
    let rotated = browser.post(&format!("{page}/rotate"), "overlap=24").await;
    assert!(once(&rotated).starts_with("whsec_"), "{}", rotated.text);
    assert_eq!(browser.post(&format!("{page}/rotate"), "overlap=5").await.status, 400);
    dashboard.sql.execute("UPDATE sessions SET confirmed_at = now() - interval '16 minutes'", &[]).await.unwrap();
    let unconfirmed = browser.post(&format!("{page}/rotate"), "overlap=24").await;
    assert_eq!(unconfirmed.status, 303);
    assert!(unconfirmed.header("location").unwrap().starts_with("/confirm?next="));
    let shown = browser.get(&page).await.text;
    assert!(
        shown.contains(&format!("name=\"next\" value=\"{page}\"")) && !shown.contains("name=\"overlap\""),
        "{shown}"
    );
    let deleted = browser.post(&format!("{page}/delete"), "").await;
    assert_eq!(deleted.header("location"), Some("/webhooks?deleted=true"));
    assert_eq!(browser.get(&page).await.status, 404);
}

#[tokio::test]
async fn a_period_is_counted_before_it_is_sent_again() {
    let Fixture { dashboard, mut browser, page, .. } = subscribed(&[200]).await;
    tried(&mut browser, &page).await;
    let period = "from=2020-01-01&to=2099-01-01";
    let counted = browser.get(&format!("{page}/replay?{period}&which=all")).await.text;
    assert!(counted.contains("There is none"), "a test is not sent again: {counted}");
    // As if an event had made it.
    dashboard.sql.execute("UPDATE deliveries SET is_test = false", &[]).await.unwrap();
    let counted = browser.get(&format!("{page}/replay?{period}&which=failed")).await.text;
    assert!(counted.contains("There is none") && !counted.contains("Send them again"), "{counted}");
    let counted = browser.get(&format!("{page}/replay?{period}&which=all")).await.text;
    assert!(counted.contains("1 delivery would be sent again") && counted.contains("Send them again"), "{counted}");
    let replays =
        async || -> i64 { dashboard.sql.query_one("SELECT count(*) FROM webhook_replays", &[]).await.unwrap().get(0) };
    assert_eq!(replays().await, 0, "counting starts nothing");
    let started = browser.post(&format!("{page}/replay"), &format!("{period}&which=all")).await;
    assert!(started.status == 200 && started.text.contains("1 delivery goes out"), "{}", started.text);
    assert_eq!(replays().await, 1);
    for wrong in
        ["from=2026-01-02&to=2026-01-01&which=all", "from=x&to=2026-01-01&which=all", "from=2026-01-01&to=2026-01-01"]
    {
        assert_eq!(browser.post(&format!("{page}/replay"), wrong).await.status, 400, "{wrong}");
        assert_eq!(browser.get(&format!("{page}/replay?{wrong}")).await.status, 400, "{wrong}");
    }
}
