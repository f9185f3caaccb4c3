//! What a seller spent on the platform's ads is the account's ad spend, by day.

use rust_decimal::Decimal;
use serde_json::Value;
use time::{Date, Duration, OffsetDateTime};

use super::{platform::Platform, rig::Rig};

/// What the stand-in's sixty campaigns cost on a day, each its number in tens of the currency and the day of the year in
/// hundredths.
fn cost(day: Date) -> Decimal {
    (1..=60).map(|campaign| Decimal::new(campaign * 1_000 + i64::from(day.ordinal()), 2)).sum()
}

#[tokio::test]
async fn ad_spend_comes_in_to_the_cent() {
    let rig = Rig::start(Platform::mercadolibre(10)).await;
    rig.connect().await;
    let sql = rig.service.db.client().await.unwrap();
    rig.until("the ads are read", async || {
        let read = "SELECT count(*) FROM sync_runs WHERE stream = 'ads' AND state = 'done'";
        sql.query_one(read, &[]).await.unwrap().get::<_, i64>(0) == 1
    })
    .await;
    rig.night().await;
    let answer = rig.service.process.json("/api/v1/profit?days=7&complete=1", &rig.key).await;
    let yesterday = OffsetDateTime::now_utc().date() - Duration::days(2);
    let spent: Vec<(String, Decimal)> = answer["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|day: &Value| {
            let spend = day["ad_spend"].to_string().parse().unwrap();
            (day["snapshot_date"].as_str().unwrap().to_owned(), spend)
        })
        .filter(|(day, _)| *day <= yesterday.to_string())
        .collect();
    assert!(spent.len() >= 5, "{answer}");
    for (day, spend) in spent {
        let format = time::macros::format_description!("[year]-[month]-[day]");
        assert_eq!(spend, cost(Date::parse(&day, format).unwrap()), "{day}");
    }
}
