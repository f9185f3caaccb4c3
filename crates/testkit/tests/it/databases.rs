use testkit::TestDb;

#[tokio::test]
async fn every_test_has_rows_of_its_own() {
    let (one, other) = (TestDb::new().await.unwrap(), TestDb::new().await.unwrap());
    let insert = "INSERT INTO users (id, created_at) VALUES ('user_000000000000000000000000', now())";
    one.client().await.unwrap().batch_execute(insert).await.unwrap();
    let count = other.client().await.unwrap().query_one("SELECT count(*) FROM users", &[]).await.unwrap();
    assert_eq!(count.get::<_, i64>(0), 0);
    one.remove().await.unwrap();
    other.remove().await.unwrap();
}
