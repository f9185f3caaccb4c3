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

/// Waits until so many sessions wait for a lock.
async fn until_waiting(sql: &tokio_postgres::Client, sessions: i64) {
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while sql.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) < sessions {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_event_that_arrives_while_its_month_is_made_is_stored() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let insert = format!(
        "INSERT INTO track_events (account_id, name, props, occurred_at, received_at)
         VALUES ({}, 'a', '{{}}', now(), '2026-03-20 12:00Z')",
        account.0
    );
    let (first, second) = (db.session().await, db.session().await);
    first.batch_execute(&format!("BEGIN; {insert}")).await.unwrap();
    let store = db.store.clone();
    let maintained = tokio::spawn(async move { store.maintain(datetime!(2026-03-15 12:00 UTC), 12).await });
    until_waiting(&db.sql, 1).await;
    let arriving = tokio::spawn(async move { second.batch_execute(&insert).await });
    until_waiting(&db.sql, 2).await;
    first.batch_execute("COMMIT").await.unwrap();
    maintained.await.unwrap().unwrap();
    arriving.await.unwrap().unwrap();
    let month = "SELECT count(*) FROM track_events_202603";
    assert_eq!(db.sql.query_one(month, &[]).await.unwrap().get::<_, i64>(0), 2);
}
