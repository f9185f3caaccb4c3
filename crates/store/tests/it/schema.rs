//! The rules that every table keeps, read from the catalogue.

use std::collections::{BTreeMap, BTreeSet};

use domain::{accounts::Platform, ads::AdPlatform, social::Channel};

use crate::database::fresh;

/// Tables that are looked up before an account is known, that name the accounts, or that belong to none.
const GLOBAL: [&str; 27] = [
    "users",
    "accounts",
    "api_keys",
    "challenges",
    "closed_ledger",
    "data_keys",
    "devices",
    "erasures",
    "incident_updates",
    "incident_watches",
    "incidents",
    "links",
    "mails",
    "memberships",
    "payment_owners",
    "people",
    "platforms",
    "price_offers",
    "recovery_codes",
    "schema_requirements",
    "second_factors",
    "sessions",
    "shop_owners",
    "social_hooks",
    "social_owners",
    "status_probes",
    "throttles",
];

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
        if !["users", "platforms", "incidents", "people"].contains(&target) {
            assert_eq!(first, "account_id", "{name}");
        }
    }
}

#[tokio::test]
async fn the_platforms_are_those_of_the_domain_and_no_row_names_another() {
    let db = fresh().await;
    let rows = db.sql.query("SELECT name FROM platforms", &[]).await.unwrap();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.get(0)).collect();
    let of_domain = [Platform::NAMES, AdPlatform::NAMES, Channel::NAMES].concat();
    assert_eq!(names, of_domain.into_iter().collect());
    let account = crate::shop::account(&db.sql, "UTC").await;
    for (table, column, statement) in [
        (
            "integrations",
            "provider",
            "INSERT INTO integrations (account_id, provider, shop, connected_at) VALUES ($1, 'x', 's', now())",
        ),
        (
            "customers",
            "source",
            "INSERT INTO customers (account_id, source, external_id, created_at) VALUES ($1, 'x', 'c', now())",
        ),
        (
            "orders",
            "source",
            "INSERT INTO orders (account_id, source, external_id, placed_at, gross, units, content_hash)
             VALUES ($1, 'x', 'o', now(), 1, 1, '')",
        ),
        (
            "refunds",
            "source",
            "INSERT INTO refunds (account_id, source, external_id, refunded_at, amount, units, content_hash)
             VALUES ($1, 'x', 'r', now(), 1, 1, '')",
        ),
        (
            "ad_accounts",
            "platform",
            "INSERT INTO ad_accounts (account_id, platform, external_id, source, last_synced_at)
             VALUES ($1, 'x', 'a', 'file', now())",
        ),
        (
            "social_accounts",
            "channel",
            "INSERT INTO social_accounts (account_id, channel, external_id, connected_at) VALUES ($1, 'x', 's', now())",
        ),
        (
            "conversations",
            "channel",
            "INSERT INTO conversations (account_id, channel, external_id, social_account_id, status, handling, position,
                messages_count, created_at, updated_at)
             VALUES ($1, 'x', 'c', 1, 'open', 'bot', 0, 1, now(), now())",
        ),
    ] {
        let refused = db.sql.execute(statement, &[&account.0]).await.unwrap_err();
        let said = refused.as_db_error().map(|error| error.message()).unwrap_or_default();
        // On Citus, the name of the shard's constraint.
        assert!(said.contains(&format!("\"{table}_{column}_fkey")), "{refused:?}");
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

/// The tables as the query builder knows them: what it makes of them is checked by the compiler, so they have to be true.
const DECLARED: &str = include_str!("../../../schema/src/lib.rs");

/// Each column's type, in Postgres's words, by table and column; after the type whether it may be null.
fn declared() -> BTreeMap<String, String> {
    let mut columns = BTreeMap::new();
    for table in DECLARED.split("diesel::table! {").skip(1) {
        let mut lines = table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("///"));
        // What goes by another name in the database says so on the line before.
        let mut next = move || {
            let line = lines.next().unwrap();
            match line.strip_prefix("#[sql_name = \"") {
                Some(name) => (Some(name.trim_end_matches("\"]")), lines.next().unwrap()),
                None => (None, line),
            }
        };
        let (other, line) = next();
        let name = other.unwrap_or_else(|| line.split(' ').next().unwrap());
        while let (other, line) = next()
            && let Some((column, declared)) = line.trim_end_matches(',').split_once(" -> ")
        {
            let column = other.unwrap_or(column);
            let inner = declared.strip_prefix("Nullable<").map(|rest| rest.strip_suffix('>').unwrap());
            let kind = match inner.unwrap_or(declared) {
                "BigInt" => "bigint",
                "SmallInt" => "smallint",
                "Bool" => "boolean",
                "Double" => "double precision",
                "Timestamptz" => "timestamp with time zone",
                "Array<Text>" => "text[]",
                other => &other.to_lowercase(),
            };
            let null = if inner.is_some() { "null" } else { "not null" };
            columns.insert(format!("{name}.{column}"), format!("{kind} {null}"));
        }
    }
    columns
}

#[tokio::test]
async fn the_query_builder_knows_the_tables_as_they_are() {
    let db = fresh().await;
    let rows = db
        .sql
        .query(
            "SELECT c.relname || '.' || a.attname, format_type(a.atttypid, NULL)
                || CASE WHEN a.attnotnull THEN ' not null' ELSE ' null' END
             FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
             WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
                 AND NOT a.attisdropped",
            &[],
        )
        .await
        .unwrap();
    let there: BTreeMap<String, String> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let declared = declared();
    assert!(declared.len() > 400, "{} columns are declared", declared.len());
    let wrong: Vec<_> = declared.iter().filter(|(column, kind)| there.get(*column) != Some(kind)).collect();
    assert!(wrong.is_empty(), "not so in the database: {wrong:#?}");
}
