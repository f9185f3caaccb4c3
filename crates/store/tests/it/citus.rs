//! The rules that let the tables be distributed by account, checked in the catalogue of a plain Postgres.

use crate::database::fresh;

/// On every node of a cluster: needed before the account is known, or by every account.
const EVERYWHERE: [&str; 4] = ["users", "accounts", "api_keys", "platforms"];
/// Neither, but on the coordinator alone: what says what the schema is and which keys seal, which account a payment or a
/// shop belongs to (their keys cannot have the account), what is or was for sale to everyone, how the service itself has
/// fared, who logs in, and what is left of who is gone.
const LOCAL: [&str; 24] = [
    "__diesel_schema_migrations",
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

const TABLES_WITHOUT_ACCOUNT: &str = "
    SELECT c.relname::text FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relname = ANY ($1)
        AND NOT EXISTS (SELECT FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND a.attnotnull AND a.atttypid = 'bigint'::regtype)";

const KEYS_WITHOUT_ACCOUNT: &str = "
    SELECT c.relname || ': ' || pg_get_indexdef(i.indexrelid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND NOT c.relname = ANY ($1)
        AND NOT EXISTS (SELECT FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND a.attnum = ANY (i.indkey::smallint[]))";

/// Foreign keys to tables of accounts that do not lead from an account to itself.
const LINKS_WITHOUT_ACCOUNT: &str = "
    SELECT k.conrelid::regclass || ': ' || pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class o ON o.oid = k.confrelid
    WHERE k.contype = 'f' AND c.relnamespace = 'public'::regnamespace AND NOT o.relname = ANY ($1)
        AND NOT EXISTS (
            SELECT FROM unnest(k.conkey, k.confkey) AS pair (mine, theirs)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.mine
            JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.theirs
            WHERE a.attname = 'account_id' AND b.attname = 'account_id')";

const LINKS_OUT_OF_EVERYWHERE: &str = "
    SELECT k.conrelid::regclass || ': ' || pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class o ON o.oid = k.confrelid
    WHERE k.contype = 'f' AND c.relname = ANY ($1) AND NOT o.relname = ANY ($1)";

async fn faults(sql: &tokio_postgres::Client, query: &str, apart: &[&str]) -> Vec<String> {
    let rows = sql.query(query, &[&apart]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

fn apart() -> Vec<&'static str> {
    [&EVERYWHERE[..], &LOCAL].concat()
}

#[tokio::test]
async fn every_table_can_be_distributed_by_account() {
    let db = fresh().await;
    for (rule, query) in [
        ("a table belongs to an account or is on every node (citus.sql names those)", TABLES_WITHOUT_ACCOUNT),
        ("the account is part of every primary and unique key", KEYS_WITHOUT_ACCOUNT),
        ("a foreign key stays within the account", LINKS_WITHOUT_ACCOUNT),
    ] {
        assert_eq!(faults(&db.sql, query, &apart()).await, Vec::<String>::new(), "{rule}");
    }
    let faults = faults(&db.sql, LINKS_OUT_OF_EVERYWHERE, &EVERYWHERE).await;
    assert_eq!(faults, Vec::<String>::new(), "what is on every node refers to nothing that is not");
}

#[tokio::test]
async fn a_table_that_breaks_a_rule_is_found() {
    let db = fresh().await;
    db.sql
        .batch_execute(
            "CREATE TABLE loose (id bigint);
             CREATE TABLE keyed (account_id bigint NOT NULL, id bigint PRIMARY KEY);
             CREATE TABLE linked (account_id bigint NOT NULL, id bigint REFERENCES keyed (id))",
        )
        .await
        .unwrap();
    assert_eq!(faults(&db.sql, TABLES_WITHOUT_ACCOUNT, &apart()).await, ["loose"]);
    let keys = faults(&db.sql, KEYS_WITHOUT_ACCOUNT, &apart()).await;
    assert!(keys.len() == 1 && keys[0].starts_with("keyed: "), "{keys:?}");
    let links = faults(&db.sql, LINKS_WITHOUT_ACCOUNT, &apart()).await;
    assert!(links.len() == 1 && links[0].starts_with("linked: "), "{links:?}");
}

#[tokio::test]
async fn the_script_names_the_same_tables_and_a_database_without_citus_says_what_to_do() {
    let named = EVERYWHERE.map(|table| format!("'{table}'")).join(", ");
    assert!(store::citus::DISTRIBUTE.contains(&format!("ARRAY[{named}]")));
    if testkit::skip_on_citus("the database has it") {
        return;
    }
    let db = testkit::TestDb::new().await.unwrap();
    let refused = store::citus::distribute(&db.connect().unwrap()).await.unwrap_err().to_string();
    assert!(refused.contains("CREATE EXTENSION citus"), "{refused}");
}

/// The last migration that need not run on tables that are distributed already.
const NEED_NOT: &str = "2026-11-21-000022";

/// What of a migration a cluster refuses, where the tables are distributed already.
fn refused(migration: &str) -> Vec<String> {
    let code: String =
        migration.lines().map(|line| line.split("--").next().unwrap_or_default().to_owned() + "\n").collect();
    let statements = code.split(';').map(|statement| statement.split_whitespace().collect::<Vec<_>>().join(" "));
    statements.filter(|statement| is_refused(&statement.to_uppercase())).collect()
}

fn is_refused(statement: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| statement.contains(word));
    if statement.starts_with("CREATE TABLE") {
        let links = statement.split("REFERENCES ").skip(1);
        let everywhere = EVERYWHERE.map(|table| table.to_uppercase() + " (");
        return links.into_iter().any(|link| !everywhere.iter().any(|table| link.starts_with(table.as_str())));
    }
    let adds_column = has(&["ADD COLUMN"]) && has(&[" CHECK ", " CHECK(", " REFERENCES ", " UNIQUE", " PRIMARY KEY"]);
    let without_name = has(&["ADD CHECK", "ADD FOREIGN KEY", "ADD UNIQUE", "ADD PRIMARY KEY"]);
    statement.starts_with("ALTER TABLE") && (adds_column || without_name)
}

#[test]
fn later_migrations_can_run_where_the_tables_are_distributed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    for migration in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = migration.file_name().unwrap().to_string_lossy().into_owned();
        if name.as_str() > NEED_NOT && !name.starts_with(NEED_NOT) {
            let up = std::fs::read_to_string(migration.join("up.sql")).unwrap();
            assert_eq!(refused(&up), Vec::<String>::new(), "{name}: CONTRIBUTING.md, \"Add a table\"");
        }
    }
}

#[test]
fn what_a_cluster_refuses_is_found() {
    let refused = |migration: &str| refused(migration).len();
    assert_eq!(refused("ALTER TABLE a ADD COLUMN b bigint CHECK (b > 0);"), 1);
    assert_eq!(refused("ALTER TABLE a\n  ADD COLUMN b bigint; -- REFERENCES c\nALTER TABLE a ADD CHECK (b > 0);"), 1);
    assert_eq!(
        refused("CREATE TABLE a (account_id bigint REFERENCES accounts (id), FOREIGN KEY (b) REFERENCES c (d));"),
        1
    );
    assert_eq!(refused("CREATE TABLE a (account_id bigint REFERENCES accounts (id));"), 0);
    assert_eq!(refused("ALTER TABLE a ADD COLUMN b bigint; ALTER TABLE a ADD CONSTRAINT b_above CHECK (b > 0);"), 0);
}

/// Tables that are in one place only: neither in shards nor on every node.
async fn in_one_place(sql: &tokio_postgres::Client) -> Vec<String> {
    let query = "SELECT c.relname::text FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relname = ANY ($1)
            AND c.relname !~ '_[0-9]{6,}$' AND NOT EXISTS (SELECT FROM citus_tables t
                WHERE t.table_name = c.oid AND t.citus_table_type IN ('distributed', 'reference'))
        ORDER BY 1";
    faults(sql, query, &LOCAL).await
}

#[tokio::test]
async fn on_a_cluster_every_table_is_distributed_also_one_that_was_made_later() {
    if !testkit::is_citus() {
        return;
    }
    let db = fresh().await;
    assert_eq!(in_one_place(&db.sql).await, Vec::<String>::new());
    let made = "CREATE TABLE later (account_id bigint NOT NULL REFERENCES accounts (id), id bigint, note text,
            PRIMARY KEY (account_id, id));
        INSERT INTO users VALUES ('u', now());
        INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at)
            VALUES ('u', 'live', 'shop', 'free', 'USD', 'UTC', now());
        INSERT INTO later SELECT id, 1, 'kept' FROM accounts";
    for statement in made.split(';') {
        db.sql.batch_execute(statement).await.unwrap();
    }
    assert_eq!(in_one_place(&db.sql).await, ["later"]);
    store::citus::distribute(&db.connect()).await.unwrap();
    assert_eq!(in_one_place(&db.sql).await, Vec::<String>::new());
    let kept: String = db.sql.query_one("SELECT note FROM later", &[]).await.unwrap().get(0);
    assert_eq!(kept, "kept");
    let orphan = db.sql.execute("INSERT INTO later SELECT max(id) + 1, 1, 'orphan' FROM accounts", &[]).await;
    assert!(orphan.is_err(), "its foreign key is there again");
}
