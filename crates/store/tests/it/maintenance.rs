//! Months of tracking events: made ahead, and dropped after their time.

use time::macros::datetime;

use crate::{database::fresh, shop};

#[tokio::test]
async fn months_are_made_ahead_and_events_that_came_before_them_move_in() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let insert = "INSERT INTO track_events (account_id, name, props, occurred_at, received_at)
                  VALUES ($1, 'a', '{}', now(), $2::text::timestamptz)";
    for received_at in ["2026-03-01 00:00Z", "2026-03-31 23:59:59Z", "2026-02-28 23:59:59Z"] {
        db.sql.execute(insert, &[&account.0, &received_at]).await.unwrap();
    }
    db.store.maintain(datetime!(2026-03-15 12:00 UTC), 12).await.unwrap();
    db.store.maintain(datetime!(2026-03-15 13:00 UTC), 12).await.unwrap();
    db.sql.execute(insert, &[&account.0, &"2026-05-31 12:00Z"]).await.unwrap();
    let rows = db
        .sql
        .query("SELECT tableoid::regclass::text, count(*) FROM track_events GROUP BY 1 ORDER BY 1", &[])
        .await
        .unwrap();
    let rows: Vec<(String, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(
        rows,
        [
            ("track_events_202603".to_owned(), 2),
            ("track_events_202605".to_owned(), 1),
            ("track_events_default".to_owned(), 1)
        ]
    );
}

#[tokio::test]
async fn months_are_dropped_when_their_time_is_over_and_old_keys_forgotten() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    db.store.maintain(datetime!(2025-11-15 12:00 UTC), 12).await.unwrap();
    db.sql
        .execute(
            "INSERT INTO idempotency_keys VALUES ($1, '/', 'old', sha256(''), '{}', '2026-03-14 11:59Z'),
             ($1, '/', 'new', sha256(''), '{}', '2026-03-14 12:01Z')",
            &[&account.0],
        )
        .await
        .unwrap();
    db.store.maintain(datetime!(2026-03-15 12:00 UTC), 2).await.unwrap();
    let months = db
        .sql
        .query(
            "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'track_events'::regclass ORDER BY 1",
            &[],
        )
        .await
        .unwrap();
    let months: Vec<String> = months.iter().map(|row| row.get(0)).collect();
    assert_eq!(
        months,
        ["202601", "202603", "202604", "202605", "default"].map(|month| format!("track_events_{month}"))
    );
    let keys: Vec<String> =
        db.sql.query("SELECT key FROM idempotency_keys", &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(keys, ["new"]);
}
