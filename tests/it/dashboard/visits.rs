//! What is new since the visit before, on the overview.

use super::Dashboard;

#[tokio::test]
async fn from_the_second_visit_on_the_overview_says_what_is_new() {
    let dashboard = Dashboard::start().await;
    let account = dashboard.service.account;
    let mut owner = dashboard.owner(account).await;
    for _ in 0..2 {
        let first = owner.get("/").await.text;
        assert!(!first.contains("since your last visit"), "{first}");
    }
    let away = "UPDATE visits SET seen_at = seen_at - interval '1 day'";
    dashboard.sql.execute(away, &[]).await.unwrap();
    assert!(owner.get("/").await.text.contains("Nothing is new since your last visit ("));
    let fired = "INSERT INTO alert_rules (account_id, name, metric, comparator, threshold, window_hours, severity,
            cooldown_hours, active, last_fired_at, due_at, created_at, updated_at)
        SELECT $1, 'r', 'orders', 'lt', 1, 24, 'high', 0, false, now(), now(), now(), now() FROM generate_series(1, 2)";
    dashboard.sql.execute(fired, &[&account]).await.unwrap();
    for _ in 0..2 {
        // It stays until the visit is over.
        let page = owner.get("/").await.text;
        assert!(
            page.contains("New since your last visit (") && page.contains("href=\"/alerts\">2 alerts fired<"),
            "{page}"
        );
    }
    // Each person has visits of their own, to each account.
    assert!(!dashboard.owner(dashboard.service.stranger).await.get("/").await.text.contains("since your last visit"));
    owner.post("/mode", "mode=test").await;
    assert!(!owner.get("/").await.text.contains("since your last visit"));
}
