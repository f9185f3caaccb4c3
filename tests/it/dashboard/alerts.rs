//! Alert rules on the pages: tried out, made, changed, muted and deleted.

use std::fmt::Write as _;

use time::Duration;

use super::Dashboard;
use crate::service::{self, run};

/// A rule as the form sends it.
const RULE: &str = "name=Few+orders&metric=orders&comparator=lt&threshold=2&window=24&severity=high&cooldown=0";

/// Two orders on each day before today, but for one a tenth day.
fn sell(dashboard: &Dashboard, account: i64) {
    let today = service::today();
    let mut orders = "order_id,sku,quantity,date,unit_price\n".to_owned();
    for back in 1..100 {
        for order in 0..(if back % 10 == 5 { 1 } else { 2 }) {
            writeln!(orders, "O{back}-{order},MUG,1,{} 12:00:00,10.00", today - Duration::days(back)).unwrap();
        }
    }
    let file = dashboard.service.folder.path().join("orders.csv");
    std::fs::write(&file, orders).unwrap();
    let account = account.to_string();
    let arguments = ["import", "orders", file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"];
    run(&mut dashboard.service.api(&arguments));
    run(&mut dashboard.service.api(&["jobs", "run", "all", "--account", &account]));
}

#[tokio::test]
async fn a_rule_is_tried_out_on_the_last_days_before_it_is_made() {
    let dashboard = Dashboard::start().await;
    sell(&dashboard, dashboard.service.account);
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let rules =
        async || -> i64 { dashboard.sql.query_one("SELECT count(*) FROM alert_rules", &[]).await.unwrap().get(0) };
    let tried = browser.get(&format!("/alerts?{RULE}")).await.text;
    assert!(tried.contains("would have fired 9 times in the last 90 days"), "{tried}");
    assert_eq!((tried.matches(": <b>1</b>").count(), rules().await), (9, 0));
    let never = browser.get(&format!("/alerts?{}", RULE.replace("threshold=2", "threshold=0"))).await.text;
    assert!(never.contains("would not have fired in the last 90 days"), "{never}");
    let untold = browser.get(&format!("/alerts?{}", RULE.replace("window=24", "window=5"))).await.text;
    assert!(untold.contains("cannot be told"), "{untold}");

    let made = browser.post("/alerts", RULE).await;
    let page = made.header("location").unwrap().strip_suffix("?done=made").unwrap().to_owned();
    let shown = browser.get(&page).await.text;
    assert!(shown.contains("Orders below 2 in 24 hours") && shown.contains("would have fired 9 times"), "{shown}");
    let key = dashboard.service.key(dashboard.service.account, "read");
    let api = dashboard.service.process.json(&format!("/api/v1{page}"), &key).await;
    assert_eq!((&api["name"], &api["threshold"], &api["active"]), (&"Few orders".into(), &2.into(), &true.into()));
}

#[tokio::test]
async fn what_a_rule_cannot_be_is_said_beside_its_field() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    for (from, to, said) in [
        ("name=Few+orders", "name=", "Write a name"),
        ("metric=orders", "metric=x", "Choose what to watch"),
        ("metric=orders", "metric=event&event=a+b", "the name that the event is tracked by"),
        ("comparator=lt", "comparator=x", "Choose when it fires"),
        ("threshold=2", "threshold=two", "Write a number"),
        ("window=24", "window=99999", "not known over so many hours"),
        ("severity=high", "severity=x", "Choose a severity"),
        ("cooldown=0", "cooldown=721", "from 0 to 720"),
    ] {
        let wanted = RULE.replace(from, to);
        for page in [browser.get(&format!("/alerts?{wanted}")).await, browser.post("/alerts", &wanted).await] {
            assert!(page.status == 400 && page.text.contains(said), "{wanted}: {}", page.text);
        }
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_read_is_answered_with_a_page() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let page = browser.get("/alerts?metric=orders&metric=profit").await;
    assert!(page.status == 400 && page.text.contains("<html"), "{}", page.text);
}

#[tokio::test]
async fn a_rule_is_changed_muted_and_deleted_by_its_own_account() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let made = browser.post("/alerts", RULE).await;
    let page = made.header("location").unwrap().strip_suffix("?done=made").unwrap().to_owned();
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    assert_eq!(stranger.get(&page).await.status, 404);
    for (path, fields) in [("", RULE), ("/switch", "active=false"), ("/delete", "")] {
        assert_eq!(stranger.post(&format!("{page}{path}"), fields).await.status, 404, "{path}");
    }
    let rule = async || -> (String, bool) {
        let row = dashboard.sql.query_one("SELECT threshold::text, active FROM alert_rules", &[]).await.unwrap();
        (row.get(0), row.get(1))
    };
    let changed = browser.post(&page, &RULE.replace("threshold=2", "threshold=7%2C5")).await;
    assert_eq!(changed.header("location"), Some(&*format!("{page}?done=changed")));
    assert!(rule().await.0.starts_with("7.5"), "{:?}", rule().await);
    assert_eq!(browser.post(&format!("{page}/switch"), "active=false").await.status, 303);
    assert!(!rule().await.1 && browser.get(&page).await.text.contains("Muted"));
    assert_eq!(browser.post(&format!("{page}/switch"), "active=true").await.status, 303);
    assert!(rule().await.1);
    let deleted = browser.post(&format!("{page}/delete"), "").await;
    assert_eq!(deleted.header("location"), Some("/alerts?deleted=true"));
    assert_eq!(browser.get(&page).await.status, 404);
}

#[tokio::test]
async fn who_changes_a_rule_is_in_the_activity_of_the_shop() {
    let dashboard = Dashboard::start().await;
    let mut owner = dashboard.owner(dashboard.service.account).await;
    let made = owner.post("/alerts", RULE).await;
    let page = made.header("location").unwrap().strip_suffix("?done=made").unwrap().to_owned();
    let changed = owner.post(&page, &RULE.replace("threshold=2", "threshold=3")).await;
    assert_eq!(changed.status, 303);
    for (path, fields) in [("switch", "active=false"), ("switch", "active=true"), ("delete", "")] {
        assert_eq!(owner.post(&format!("{page}/{path}"), fields).await.status, 303, "{path}");
    }
    let log = owner.get("/settings/activity?about=alerts").await.text;
    for what in
        ["Made an alert", "Changed an alert", "Muted an alert", "Switched an alert on again", "Deleted an alert"]
    {
        assert_eq!(log.matches(&format!("<h3>{what}: Few orders</h3>")).count(), 1, "{what}: {log}");
    }
    assert!(log.contains("threshold: 2 → threshold: 3"), "{log}");
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    assert!(!stranger.get("/settings/activity").await.text.contains("Few orders"));
}

#[tokio::test]
async fn the_page_of_a_rule_lists_when_it_fired() {
    let dashboard = Dashboard::start().await;
    let mut owner = dashboard.owner(dashboard.service.account).await;
    let made = owner.post("/alerts", RULE).await;
    let page = made.header("location").unwrap().strip_suffix("?done=made").unwrap().to_owned();
    let id: i64 = page.strip_prefix("/alerts/").unwrap().parse().unwrap();
    assert!(owner.get(&page).await.text.contains("It has not fired yet."));
    let fire = "INSERT INTO alert_firings (account_id, rule_id, fired_at, observed, threshold)
        SELECT $1, $2, now() - n * interval '1 day', n, 2 FROM generate_series(1, 30) AS n ORDER BY n DESC";
    dashboard.sql.execute(fire, &[&dashboard.service.account, &id]).await.unwrap();
    let shown = owner.get(&page).await.text;
    assert_eq!(shown.matches("No webhook").count(), 25, "{shown}");
    let next = shown.split(&format!("{page}?cursor=")).nth(1).and_then(|rest| rest.split('#').next()).unwrap();
    let older = owner.get(&format!("{page}?cursor={next}")).await.text;
    assert_eq!(older.matches("No webhook").count(), 5, "{older}");
    let answer = owner.get(&format!("/api/v1{page}/firings?limit=25")).await;
    assert!(answer.status == 200 && answer.text.contains("\"observed\":1,\"threshold\":2"), "{}", answer.text);
    let file = owner.get(&format!("/api/v1{page}/firings?format=csv")).await;
    assert_eq!((file.status, file.text.lines().count()), (200, 31), "{}", file.text);
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    assert_eq!(stranger.get(&page).await.status, 404);
}
