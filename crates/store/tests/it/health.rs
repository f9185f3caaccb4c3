//! Whether the schema fits the program, as the database tells it.

use domain::health::{Health, Schema};

use crate::database::fresh;

#[tokio::test]
async fn a_missing_migration_a_later_one_and_one_that_rules_this_version_out_are_told_apart() {
    let db = fresh().await;
    assert_eq!(db.store.schema().await.unwrap(), Schema::Current);

    let later = "INSERT INTO __diesel_schema_migrations (version) VALUES ('29990101000000')";
    db.sql.batch_execute(later).await.unwrap();
    let newer = Schema::Newer { unknown: vec!["29990101000000".to_owned()] };
    assert_eq!(db.store.schema().await.unwrap(), newer);
    for (version, fits) in [("0.0.1", true), ("999.0.0", false)] {
        let required = "INSERT INTO schema_requirements VALUES ('29990101000000', $1)
            ON CONFLICT (migration) DO UPDATE SET min_version = $1";
        db.sql.execute(required, &[&version]).await.unwrap();
        assert_eq!(db.store.schema().await.unwrap() == newer, fits, "{version}");
        assert_eq!(db.store.schema().await.unwrap().problem().is_none(), fits, "{version}");
    }

    db.sql.batch_execute("DELETE FROM schema_requirements").await.unwrap();
    db.sql.batch_execute("DELETE FROM __diesel_schema_migrations WHERE version = '20261123000051'").await.unwrap();
    let outdated = Schema::Outdated { missing: vec!["2026-11-23-000051_schema_requirements".to_owned()] };
    assert_eq!(db.store.schema().await.unwrap(), outdated);
}

#[tokio::test]
async fn an_empty_database_lacks_every_migration() {
    if testkit::skip_on_citus("the schema is made before it is distributed") {
        return;
    }
    let db = fresh().await;
    db.sql.batch_execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await.unwrap();
    let Schema::Outdated { missing } = db.store.schema().await.unwrap() else { panic!("it lacks nothing") };
    assert!(missing.len() >= 13, "{missing:?}");
    assert_eq!(missing[0], "2026-01-01-000000_core");
}
