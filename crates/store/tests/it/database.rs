//! A database of its own for each test.

use std::{sync::Arc, time::Duration};

use store::{PoolOptions, Store};
use testkit::TestDb;
use tokio_postgres::Client;

pub struct Database {
    pub store: Arc<Store>,
    /// Plain SQL, to seed and to look.
    pub sql: Client,
    /// Last, so that the connections are closed before the database is dropped.
    db: TestDb,
}

impl Database {
    /// Another session, for what happens at the same time.
    pub async fn session(&self) -> Client {
        self.db.client().await.unwrap()
    }

    pub fn connect(&self) -> store::Connect {
        self.db.connect().unwrap()
    }

    /// A store with connections of its own.
    pub fn store_with(&self, options: PoolOptions) -> Store {
        Store::connect(&self.connect(), options).unwrap()
    }
}

pub async fn fresh() -> Database {
    let db = TestDb::new().await.unwrap();
    Database { store: Arc::new(db.store().unwrap()), sql: db.client().await.unwrap(), db }
}

/// Has the database refuse what is done, such as `UPDATE ON deliveries`, to rows for which a condition holds.
pub async fn refuse(sql: &Client, what: &str, condition: &str) {
    let refusal = format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
        CREATE TRIGGER refuse BEFORE {what} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION refuse()"
    );
    sql.batch_execute(&refusal).await.unwrap();
}

/// How long a session may take to come to its lock.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until that number of sessions wait for a lock; fails when they do not.
pub async fn until_waiting(sql: &Client, sessions: i64) {
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let counted = async {
        while sql.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) < sessions {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, counted).await;
    assert!(in_time.is_ok(), "fewer than {sessions} sessions wait for a lock");
}
