//! A database that was made by an earlier version and brought up to date is the same as a new one, and keeps its rows.
//!
//! `tests/fixtures/schema` holds a dump of each version's database, with a row or more in every table; CONTRIBUTING.md says
//! how to add one.

use std::{collections::BTreeMap, path::PathBuf};

use testkit::TestDb;
use tokio_postgres::Client;

use crate::database::until_waiting;

/// Tables that a migration has replaced since the version that had them.
const REPLACED: [&str; 1] = ["customer_firsts"];

/// Everything that the catalogue says about the schema, a line each. The order of columns is not compared: what is added
/// later comes last.
const CATALOGUE: &str = "
    SELECT format('relation %s %s %s %s %s', c.relname, c.relkind, c.reloptions, pg_get_expr(c.relpartbound, c.oid),
        CASE c.relkind WHEN 'p' THEN pg_get_partkeydef(c.oid) WHEN 'v' THEN pg_get_viewdef(c.oid) END)
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('column %s.%s %s not null %s default %s identity %s generated %s', c.relname, a.attname,
        format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v')
    UNION ALL
    SELECT format('constraint %s %s %s valid %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL
    SELECT format('index %s valid %s', pg_get_indexdef(indexrelid), indisvalid)
    FROM pg_index JOIN pg_class c ON c.oid = indrelid WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind IN ('f', 'p')
    UNION ALL
    SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal
    UNION ALL
    SELECT format('sequence %s %s %s %s', sequencename, data_type, start_value, increment_by)
    FROM pg_sequences WHERE schemaname = 'public'
    ORDER BY 1";

const TABLES: &str = "
    SELECT relname::text FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition";

async fn lines(sql: &Client, query: &str) -> Vec<String> {
    sql.query(query, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn counts(sql: &Client) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for table in lines(sql, TABLES).await {
        let count = sql.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.unwrap().get(0);
        counts.insert(table, count);
    }
    counts
}

fn fixtures() -> Vec<PathBuf> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema");
    let mut found: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[tokio::test]
async fn a_database_of_an_earlier_version_becomes_the_same_as_a_new_one_and_keeps_its_rows() {
    if testkit::skip_on_citus("an old database is brought up to date before it is distributed") {
        return;
    }
    let new = TestDb::new().await.unwrap();
    let expected = lines(&new.client().await.unwrap(), CATALOGUE).await;
    assert!(expected.len() > 500, "the catalogue has {} lines", expected.len());
    let fixtures = fixtures();
    assert!(fixtures.len() >= 2, "the fixtures are not there");
    for fixture in fixtures {
        let name = fixture.file_name().unwrap().to_string_lossy().into_owned();
        let db = TestDb::new().await.unwrap();
        let load = db.client().await.unwrap();
        load.batch_execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await.unwrap();
        load.batch_execute(&std::fs::read_to_string(&fixture).unwrap()).await.unwrap();
        // The dump leaves settings behind in its session.
        let sql = db.client().await.unwrap();
        let before = counts(&sql).await;
        let empty: Vec<_> = before.iter().filter(|(_, count)| **count == 0).map(|(table, _)| table).collect();
        assert!(empty.is_empty(), "{name}: no migration is tried on the rows of {empty:?}");

        assert!(!store::migrate(&db.connect().unwrap()).await.unwrap().is_empty(), "{name}");
        let made = lines(&sql, CATALOGUE).await;
        let missing: Vec<_> = expected.iter().filter(|line| !made.contains(line)).collect();
        let left: Vec<_> = made.iter().filter(|line| !expected.contains(line)).collect();
        assert!(missing.is_empty() && left.is_empty(), "{name}: it lacks {missing:#?} and has {left:#?}");

        let after = counts(&sql).await;
        for (table, count) in before.iter().filter(|(table, _)| *table != "__diesel_schema_migrations") {
            match after.get(table) {
                Some(kept) => assert_eq!(kept, count, "{name}: rows of {table}"),
                None => assert!(REPLACED.contains(&table.as_str()), "{name}: {table} is gone"),
            }
        }
    }
}

#[tokio::test]
async fn a_table_in_use_is_waited_for_without_holding_up_who_reads_it() {
    if testkit::skip_on_citus("an old database is brought up to date before it is distributed") {
        return;
    }
    let db = TestDb::new().await.unwrap();
    let load = db.client().await.unwrap();
    load.batch_execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await.unwrap();
    load.batch_execute(&std::fs::read_to_string(fixtures().last().unwrap()).unwrap()).await.unwrap();

    let [long, reader] = [db.client().await.unwrap(), db.client().await.unwrap()];
    long.batch_execute("BEGIN; SELECT FROM orders").await.unwrap();
    let connect = db.connect().unwrap();
    let migrated = tokio::spawn(async move { store::migrate(&connect).await });
    until_waiting(&reader, 1).await;
    reader.batch_execute("SELECT FROM orders").await.unwrap();
    long.batch_execute("COMMIT").await.unwrap();
    assert!(!migrated.await.unwrap().unwrap().is_empty());
}
