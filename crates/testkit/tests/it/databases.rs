use testkit::TestDb;

#[tokio::test]
async fn every_test_has_rows_of_its_own() {
    let (one, other) = (TestDb::new().await.unwrap(), TestDb::new().await.unwrap());
    let insert = "INSERT INTO users (id, created_at) VALUES ('user_000000000000000000000000', now())";
    one.client().await.unwrap().batch_execute(insert).await.unwrap();
    for (db, rows) in [(&one, 1), (&other, 0)] {
        let count = db.client().await.unwrap().query_one("SELECT count(*) FROM users", &[]).await.unwrap();
        assert_eq!(count.get::<_, i64>(0), rows);
    }
}

#[tokio::test]
async fn a_database_goes_with_its_value_though_someone_is_connected() {
    let (kept, dropped) = (TestDb::new().await.unwrap(), TestDb::new().await.unwrap());
    let name = dropped.url().rsplit_once('/').unwrap().1.to_owned();
    let connected = dropped.client().await.unwrap();
    drop(dropped);
    let found = kept.client().await.unwrap().query("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await;
    assert!(found.unwrap().is_empty());
    connected.query_one("SELECT 1", &[]).await.unwrap_err();
}
