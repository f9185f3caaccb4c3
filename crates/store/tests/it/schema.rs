//! The rules that every table keeps, read from the catalogue.

use std::collections::BTreeSet;

use crate::database::fresh;

/// Tables that are looked up before an account is known, that name the accounts, or that belong to none.
const GLOBAL: [&str; 7] =
    ["users", "accounts", "api_keys", "data_keys", "payment_owners", "price_offers", "schema_requirements"];

#[tokio::test]
async fn the_account_leads_every_key_and_index_of_a_tenants_table() {
    let db = fresh().await;
    let rows = db
        .sql
        .query(
            "SELECT t.relname, i.relname, a.attname
             FROM pg_index x
             JOIN pg_class t ON t.oid = x.indrelid
             JOIN pg_class i ON i.oid = x.indexrelid
             JOIN pg_namespace n ON n.oid = t.relnamespace
             LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
             WHERE n.nspname = 'public' AND t.relname NOT LIKE '\\_\\_%'",
            &[],
        )
        .await
        .unwrap();
    assert!(rows.len() > 30, "the catalogue gave {} indexes", rows.len());
    for row in rows {
        let (table, index, first): (&str, &str, Option<&str>) = (row.get(0), row.get(1), row.get(2));
        // What maintenance cleans up by age, for all accounts at once.
        let by_age = index.ends_with("_age") || index.ends_with("_due");
        if !GLOBAL.contains(&table) && !by_age {
            assert_eq!(first, Some("account_id"), "{index} on {table}");
        }
    }
}

#[tokio::test]
async fn foreign_keys_stay_within_an_account() {
    if testkit::skip_on_citus("its nodes have foreign keys of their own; the tests of `citus` look at the rules") {
        return;
    }
    let db = fresh().await;
    let rows = db
        .sql
        .query(
            "SELECT c.conname, c.confrelid::regclass::text, a.attname
             FROM pg_constraint c
             JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
             WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace",
            &[],
        )
        .await
        .unwrap();
    assert!(rows.len() > 10);
    for row in rows {
        let (name, target, first): (&str, &str, &str) = (row.get(0), row.get(1), row.get(2));
        if target != "users" {
            assert_eq!(first, "account_id", "{name}");
        }
    }
}

#[tokio::test]
async fn every_migration_can_be_undone_and_done_again() {
    if testkit::skip_on_citus("migrations are not undone where the tables are distributed") {
        return;
    }
    let db = testkit::TestDb::new().await.unwrap();
    let connect = db.connect().unwrap();
    store::revert_all(&connect).await.unwrap();
    let left = db
        .client()
        .await
        .unwrap()
        .query("SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S')", &[])
        .await
        .unwrap();
    let left: BTreeSet<String> = left.iter().map(|row| row.get(0)).collect();
    assert_eq!(left, BTreeSet::from(["__diesel_schema_migrations".to_owned()]));
    assert!(!store::migrate(&connect).await.unwrap().is_empty());
    assert!(store::migrate(&connect).await.unwrap().is_empty());
}

#[tokio::test]
async fn processes_that_migrate_at_once_do_it_once() {
    if testkit::skip_on_citus("migrations are not undone where the tables are distributed") {
        return;
    }
    let db = testkit::TestDb::new().await.unwrap();
    let connect = db.connect().unwrap();
    store::revert_all(&connect).await.unwrap();
    let started = (0..5).map(|_| {
        let connect = connect.clone();
        tokio::spawn(async move { store::migrate(&connect).await.unwrap().len() })
    });
    let run = futures_util::future::join_all(started).await.into_iter().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(run.iter().filter(|count| **count > 0).count(), 1, "{run:?}");
}
