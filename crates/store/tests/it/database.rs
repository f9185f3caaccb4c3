//! A database of its own for each test.

use std::sync::Arc;

use store::{Connect, PoolOptions, Store, migrate};
use tokio_postgres::{Client, NoTls};

/// A migrated database, gone with the cluster.
pub struct Database {
    pub store: Arc<Store>,
    /// Plain SQL, to seed and to look.
    pub sql: Client,
}

/// Makes a database on the cluster that `TEST_DATABASE_URL` names.
pub async fn fresh() -> Database {
    let cluster = std::env::var("TEST_DATABASE_URL").expect("TEST_DATABASE_URL");
    let name = format!("t{}", uuid::Uuid::now_v7().simple());
    let (admin, driver) = tokio_postgres::connect(&cluster, NoTls).await.unwrap();
    tokio::spawn(driver);
    admin.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    let url = cluster.replace("/postgres?", &format!("/{name}?"));
    let connect = Connect::parse(&url).unwrap();
    migrate(&connect).await.unwrap();
    let (sql, driver) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(driver);
    Database { store: Arc::new(Store::connect(&connect, PoolOptions::default()).unwrap()), sql }
}
