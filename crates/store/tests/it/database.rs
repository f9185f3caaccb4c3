//! A database of its own for each test.

use std::sync::Arc;

use store::Store;
use testkit::TestDb;
use tokio_postgres::Client;

pub struct Database {
    pub store: Arc<Store>,
    /// Plain SQL, to seed and to look.
    pub sql: Client,
    /// Last, so that the connections are closed before the database is dropped.
    _db: TestDb,
}

pub async fn fresh() -> Database {
    let db = TestDb::new().await.unwrap();
    Database { store: Arc::new(db.store().unwrap()), sql: db.client().await.unwrap(), _db: db }
}
