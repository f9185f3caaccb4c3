//! Visits to an account, and what is new since the one before.

use domain::{
    AccountId, PersonId,
    ai::Ending,
    insights::{Draft, InsightWriter, Worded},
    visits::{News, Visit, VisitStore},
};
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    findings::insight,
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);
const ANA: PersonId = PersonId(7);

#[tokio::test]
async fn visits_are_of_a_person_and_an_account() {
    let db = fresh().await;
    let (mine, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let visit = async |account, person, at| db.store.visit(account, person, at).await.unwrap();
    let first = visit(mine, ANA, NOW).await;
    assert_eq!(first, Visit { seen_at: NOW, before_at: None });
    let end = NOW + Duration::minutes(20);
    assert_eq!(visit(mine, ANA, end).await, Visit { seen_at: end, before_at: None });
    let next = NOW + Duration::days(1);
    for _ in 0..2 {
        assert_eq!(visit(mine, ANA, next).await, Visit { seen_at: next, before_at: Some(end) });
    }
    for (account, person) in [(mine, PersonId(8)), (other, ANA)] {
        assert_eq!(visit(account, person, next).await.before_at, None);
    }
}

async fn tell(db: &Database, account: AccountId, at: OffsetDateTime) {
    let texts = [
        "INSERT INTO anomalies (account_id, kind, metric, day, observed_value, expected_value, z_score, direction, severity,
            detected_at, correlated_metrics, recorded_at)
         SELECT $1, kind, 'orders', ($2::timestamptz)::date, 1, 2, -3, 'down', 'high', $2, '[]', $2
         FROM unnest(ARRAY['univariate', 'correlated']) AS kind",
        "INSERT INTO insights (account_id, fingerprint, severity, category, title, body, suggested_action, impact_estimate, source,
            status, computed_at, is_told, recorded_at)
         VALUES ($1, $2::timestamptz::text, 'high', 'profit', 't', 'b', 'a', 'i', 'rules', 'open', $2, true, $2)",
        "INSERT INTO alert_rules (account_id, name, metric, comparator, threshold, window_hours, severity, cooldown_hours, active,
            last_fired_at, due_at, created_at, updated_at)
         VALUES ($1, 'r', 'orders', 'lt', 1, 24, 'high', 0, true, $2, $2, $2, $2)",
        "INSERT INTO integrations (account_id, provider, shop, connected_at, broken_at)
         VALUES ($1, 'shopify', $2::timestamptz::text, $2, $2)",
    ];
    for text in texts {
        db.sql.execute(text, &[&account.0, &at]).await.unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[tokio::test]
async fn what_is_new_is_what_came_after() {
    let db = fresh().await;
    let (mine, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    for days in 0..3 {
        tell(&db, mine, NOW + Duration::days(days)).await;
    }
    tell(&db, other, NOW + Duration::days(9)).await;
    let since = async |at| db.store.news(mine, at).await.unwrap();
    assert_eq!(since(NOW).await, News { anomalies: 2, insights: 2, alerts: 2, broken: 2 });
    // What is computed again is no news.
    db.sql
        .batch_execute("UPDATE insights SET computed_at = 'infinity'; UPDATE anomalies SET detected_at = 'infinity'")
        .await
        .unwrap();
    assert_eq!(since(NOW).await, News { anomalies: 2, insights: 2, alerts: 2, broken: 2 });
    db.sql
        .batch_execute("UPDATE insights SET status = 'dismissed'; UPDATE integrations SET revoked_at = now()")
        .await
        .unwrap();
    let last = NOW + Duration::days(1);
    assert_eq!(since(last).await, News { anomalies: 1, insights: 0, alerts: 1, broken: 0 });
    assert_eq!(since(NOW + Duration::days(2)).await, News::default());
}

#[tokio::test]
async fn an_insight_is_new_when_it_is_first_told() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let day = |days| NOW + Duration::days(days);
    let write = async |title: &str, earns_place: bool, days: i64| {
        let worded = insight("low", title);
        let worded = Worded { draft: Draft { earns_place, ..worded.draft }, ..worded };
        InsightWriter::replace(&*db.store, account, Ending::default(), vec![worded], day(days)).await.unwrap();
    };
    let news = async |days: i64| db.store.news(account, day(days)).await.unwrap().insights;
    write("1 low", false, 0).await;
    db.sql.execute("UPDATE insights SET recorded_at = $1", &[&day(0)]).await.unwrap();
    write("2 low", false, 1).await;
    assert_eq!(news(-1).await, 0, "it is not told");
    write("2 low", true, 2).await;
    assert_eq!((news(1).await, news(2).await), (1, 0));
    // What gives way to others and comes back was told before.
    write("2 low", false, 3).await;
    write("3 low", true, 4).await;
    assert_eq!((news(1).await, news(3).await), (1, 0));
    // Nor is new what was told from the first on.
    db.sql.execute("UPDATE insights SET told_at = NULL", &[]).await.unwrap();
    write("4 low", true, 5).await;
    assert_eq!((news(-1).await, news(1).await), (1, 0));
}
