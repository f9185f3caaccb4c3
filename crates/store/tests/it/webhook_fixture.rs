//! Accounts and subscriptions, set up by SQL.

use domain::AccountId;
use store::Store;
use testkit::TestDb;
use time::{OffsetDateTime, macros::datetime};
use tokio_postgres::Client;

/// The instant that tests start at.
pub const START: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);

pub struct Fixture {
    pub store: Store,
    pub sql: Client,
    pub db: TestDb,
}

impl Fixture {
    pub async fn new() -> Self {
        let db = TestDb::new().await.unwrap();
        Self { store: db.store().unwrap(), sql: db.client().await.unwrap(), db }
    }

    pub async fn account(&self) -> AccountId {
        let row = self
            .sql
            .query_one(
                "WITH u AS (INSERT INTO users VALUES ('user_' || substr(md5(random()::text), 1, 24), $1) RETURNING id)
                 INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at)
                 SELECT id, 'live', 'shop', 'free', 'USD', 'UTC', $1 FROM u RETURNING id",
                &[&START],
            )
            .await
            .unwrap();
        AccountId(row.get(0))
    }

    pub async fn subscription(&self, account: AccountId, events: &[&str]) -> i64 {
        let row = self
            .sql
            .query_one(
                "INSERT INTO webhook_subscriptions (account_id, url, events, sealed_secret, created_at)
                 VALUES ($1, 'https://example.com/hook', $2, 'sealed', $3) RETURNING id",
                &[&account.0, &events, &START],
            )
            .await
            .unwrap();
        row.get(0)
    }

    pub async fn execute(&self, sql: &str) -> u64 {
        self.sql.execute(sql, &[]).await.unwrap()
    }

    pub async fn count(&self, from: &str) -> i64 {
        self.sql.query_one(&format!("SELECT count(*) FROM {from}"), &[]).await.unwrap().get(0)
    }
}
