//! What is the same of all advertising networks: their books, and what the answers say.

use rust_decimal::Decimal;
use serde_json::Value;
use time::Date;

use super::rig::Rig;
use crate::service::today;

/// A network.
pub struct Ads {
    /// As lists of ads name it.
    pub platform: &'static str,
    /// Days that the ad account goes back.
    pub days: u16,
}

/// The day `back` days ago, where the ad account is.
pub fn day(back: i64) -> Date {
    today() - time::Duration::days(back)
}

/// Sums of a day as a text, in which amounts are equal however many zeros end them.
fn sums(day: &str, of: &Value) -> String {
    let amount = |name: &str| {
        let text = of[name].as_str().map_or_else(|| of[name].to_string(), str::to_owned);
        let amount: Decimal = text.parse().unwrap();
        // Networks charge parts of a cent; answers have none.
        amount.round_dp(2).normalize()
    };
    let counts = ["impressions", "clicks", "purchases"].map(|name| of[name].as_i64().unwrap());
    format!("{day} {} {} {counts:?}", amount("spend"), amount("revenue"))
}

/// What it says in the network's books.
async fn ledger(rig: &Rig) -> Vec<String> {
    let ledger = rig.platform().ask("ledger").await;
    ledger["days"].as_object().unwrap().iter().map(|(day, of)| sums(day, of)).collect()
}

/// Something happens in the ad account.
pub async fn happens(rig: &Rig, what: Value) {
    rig.platform().happens("act", &what).await;
}

impl Ads {
    /// What the answers say of each day.
    async fn told(&self, rig: &Rig) -> Vec<String> {
        let mut all = Vec::new();
        for back in [180, 90, 0] {
            let (from, to) = (day(back + 89), day(back));
            let which = format!("level=account&group=day&platform={}", self.platform);
            let path = format!("/api/v1/ads?{which}&from={from}&to={to}&limit=200");
            let answer = rig.service.process.json(&path, &rig.key).await;
            let days = answer["data"].as_array().unwrap().iter().rev();
            all.extend(days.map(|row| sums(row["date"].as_str().unwrap(), row)));
        }
        all
    }

    /// Holds the answers against the books.
    pub async fn compare(&self, rig: &Rig) {
        assert_eq!(self.told(rig).await, ledger(rig).await);
    }

    /// Waits until the history was read, and what is read beside it.
    pub async fn wait_for_all(&self, rig: &Rig, id: i64) {
        let sql = rig.service.db.client().await.unwrap();
        let created = day(self.days.into()).to_string();
        rig.wait(id, |connection| connection["backfilled_from"].as_str().is_some_and(|from| from[..10] <= *created))
            .await;
        rig.until("the newest days are read", async || {
            let read =
                "SELECT count(*) FROM sync_streams WHERE stream = 'ads' AND cursor_at > now() - interval '1 hour'";
            sql.query_one(read, &[]).await.unwrap().get::<_, i64>(0) == 1
        })
        .await;
    }

    /// Has all read again that may still change, as on the next day.
    pub async fn next_day(&self, rig: &Rig, id: i64) {
        let sql = rig.service.db.client().await.unwrap();
        let yesterday = "UPDATE sync_streams SET cursor_at = cursor_at - interval '1 day' WHERE stream = 'ads'";
        assert_eq!(sql.execute(yesterday, &[]).await.unwrap(), 1);
        rig.sync(id).await;
        self.wait_for_all(rig, id).await;
    }
}
