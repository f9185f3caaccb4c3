//! Notes on a day: written by who may change things, seen by everybody of the shop and by nobody else.

use super::Dashboard;

#[tokio::test]
async fn a_note_is_seen_by_all_of_the_shop_and_written_by_who_may() {
    let dashboard = Dashboard::start().await;
    let mut owner = dashboard.owner(dashboard.service.account).await;
    let written = owner.post("/profit/2026-11-20/notes", "text=Ads+%3Coff%3E").await;
    assert_eq!(
        (written.status, written.header("location")),
        (303, Some("/profit/2026-11-20#h-notes")),
        "{}",
        written.text
    );
    let page = owner.get("/profit/2026-11-20").await.text;
    assert!(page.contains("Ads &lt;off&gt;") && page.contains("/delete\""), "{page}");
    for wrong in ["text=+", "text=a%0Ab", "", &format!("text={}", "x".repeat(201))] {
        assert_eq!(owner.post("/profit/2026-11-20/notes", wrong).await.status, 400, "{wrong}");
    }
    for day in ["2126-11-20", "2026-02-30", "1969-12-31"] {
        assert_eq!(owner.post(&format!("/profit/{day}/notes"), "text=a").await.status, 404, "{day}");
        assert_eq!(owner.get(&format!("/profit/{day}")).await.status, 404, "{day}");
    }
    assert!(!owner.get("/profit/1970-01-01").await.text.contains("rel=\"prev\""));

    let id: i64 = dashboard.sql.query_one("SELECT id FROM notes", &[]).await.unwrap().get(0);
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    assert!(!stranger.get("/profit/2026-11-20").await.text.contains("Ads &lt;off&gt;"));
    assert_eq!(stranger.post(&format!("/notes/{id}/delete"), "delete=yes").await.status, 404);
    dashboard.set_role("viewer").await;
    let page = owner.get("/profit/2026-11-20").await.text;
    assert!(page.contains("Ads &lt;off&gt;") && !page.contains("<form method=\"post\" action=\"/notes"), "{page}");
    assert_eq!(owner.post(&format!("/notes/{id}/delete"), "delete=yes").await.status, 403);
    dashboard.set_role("editor").await;
    assert_eq!(owner.post(&format!("/notes/{id}/delete"), "delete=yes").await.status, 303);
    assert!(owner.get("/profit/2026-11-20").await.text.contains("Nobody wrote anything"));
}

#[tokio::test]
async fn a_day_has_at_most_twenty_notes() {
    let dashboard = Dashboard::start().await;
    let mut owner = dashboard.owner(dashboard.service.account).await;
    for _ in 0..20 {
        assert_eq!(owner.post("/profit/2026-11-20/notes", "text=a").await.status, 303);
    }
    assert_eq!(owner.post("/profit/2026-11-20/notes", "text=a").await.status, 409);
    assert_eq!(owner.post("/profit/2026-11-19/notes", "text=a").await.status, 303);
}
