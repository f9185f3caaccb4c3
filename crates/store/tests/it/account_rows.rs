//! All rows of an account, for its owners to take along.

use std::collections::BTreeSet;

use domain::{
    events::{CreditsLow, Event, Outbox},
    exports::{AccountReader, ExportStore, KEPT},
};
use futures_util::TryStreamExt;
use serde_json::Value;
use store::RowReader;

use crate::{
    database::fresh,
    webhook_fixture::{Fixture, START},
};

/// Columns of bytes that are left out: secrets, sealed or hashed, and fingerprints.
const DROPPED: [&str; 16] = [
    "api_keys.hash",
    "auto_replies.comment_hash",
    "conversation_messages.fingerprint",
    "credit_transactions.operation_hash",
    "forgotten_customers.external_id_hash",
    "insights.basis",
    "integration_tokens.sealed_access",
    "integration_tokens.sealed_refresh",
    "oauth_states.sealed_verifier",
    "oauth_states.state_hash",
    "orders.content_hash",
    "refunds.content_hash",
    "social_accounts.sealed_token",
    "social_votes.comment_hash",
    "webhook_subscriptions.previous_sealed_secret",
    "webhook_subscriptions.sealed_secret",
];
/// Columns of tables that are left out as a whole.
const OF_TABLES_LEFT_OUT: [&str; 3] = ["export_pieces.bytes", "idempotency_keys.request_hash", "upload_pieces.bytes"];
/// Columns of bytes that are written as texts.
const WRITTEN: [&str; 2] = ["delivery_attempts.answer", "events.body"];

/// A new column of bytes is left out. Where it is content and no secret, name it in `CONTENT` of the reader, and above.
#[tokio::test]
async fn every_column_of_bytes_is_named_as_left_out_or_as_written() {
    let db = fresh().await;
    let columns = "SELECT c.relname::text || '.' || a.attname::text
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'bytea'::regtype
            AND EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = c.oid AND o.attname = 'account_id')";
    let found: BTreeSet<String> =
        db.sql.query(columns, &[]).await.unwrap().iter().map(|row| row.get::<_, String>(0)).collect();
    let named = [DROPPED.as_slice(), &OF_TABLES_LEFT_OUT, &WRITTEN].concat();
    let named: BTreeSet<String> = named.into_iter().map(str::to_owned).collect();
    assert_eq!(found, named);
}

#[tokio::test]
async fn what_was_sent_and_answered_is_in_the_file_and_secrets_are_not() {
    let fixture = Fixture::new().await;
    let (account, other) = (fixture.account().await, fixture.account().await);
    fixture.subscription(account, &["*"]).await;
    for (account, balance) in [(account, 84), (other, 7)] {
        let low: Event = CreditsLow { balance, threshold: 100, last_feature: "café".to_owned(), crossed: true }.into();
        fixture.store.emit(account, &[low], START).await.unwrap();
    }
    // No UTF-8, and longer than a line of base64.
    let answer = [0xff_u8; 100];
    let attempt =
        "INSERT INTO delivery_attempts (account_id, delivery_id, number, started_at, status, total_us, answer)
        VALUES ($1, gen_random_uuid(), 1, $2, 500, 1, $3)";
    fixture.sql.execute(attempt, &[&account.0, &START, &answer.as_slice()]).await.unwrap();

    let reader = RowReader::new(fixture.db.connect().unwrap());
    let lines: Vec<String> = reader.lines(account, START).await.unwrap().try_collect().await.unwrap();
    let rows: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |table: &str| rows.iter().filter(|row| row["table"] == table).map(|row| &row["row"]).collect::<Vec<_>>();
    let bodies: Vec<&str> = of("events").iter().filter_map(|row| row["body"].as_str()).collect();
    assert_eq!(
        bodies,
        [r#"{"event":"credits.low","data":{"balance":84,"threshold":100,"last_feature":"café","crossed":true}}"#]
    );
    assert_eq!(of("delivery_attempts")[0]["answer"], format!("{}/w==", "/".repeat(132)));
    let subscription = of("webhook_subscriptions")[0].as_object().unwrap();
    assert!(subscription.contains_key("url") && !subscription.contains_key("sealed_secret"));
}

#[tokio::test]
async fn of_an_account_the_files_that_are_listed_are_kept_and_no_others() {
    let fixture = Fixture::new().await;
    let (account, other) = (fixture.account().await, fixture.account().await);
    // One that is still made, two that are pushed out of the list, the ten that are listed; and another account's.
    let add = "
        WITH added AS (
            INSERT INTO exports (account_id, state, created_at, lease_until, finished_at)
            SELECT $1::bigint, CASE WHEN $3::bool THEN 'running' ELSE 'done' END, $2::timestamptz,
                CASE WHEN $3 THEN $2 END, CASE WHEN NOT $3 THEN $2 END
            FROM generate_series(1, $4::bigint) RETURNING account_id, id)
        INSERT INTO export_pieces (account_id, export_id, number, bytes) SELECT account_id, id, 0, '' FROM added";
    for (account, is_running, count) in [(account, true, 1_i64), (account, false, 12), (other, false, 1)] {
        fixture.sql.execute(add, &[&account.0, &START, &is_running, &count]).await.unwrap();
    }
    let listed = ExportStore::list(&fixture.store, account).await.unwrap();
    assert_eq!(ExportStore::prune(&fixture.store, START - KEPT).await.unwrap(), 2);
    let left = "
        SELECT count(*) FILTER (WHERE state = 'running'), count(*) FILTER (WHERE state = 'done'),
            (SELECT count(*) FROM export_pieces p WHERE p.account_id = $1)
        FROM exports WHERE account_id = $1";
    let left = async |account: domain::AccountId| {
        let row = fixture.sql.query_one(left, &[&account.0]).await.unwrap();
        [0, 1, 2].map(|column: usize| row.get::<_, i64>(column))
    };
    assert_eq!((left(account).await, left(other).await), ([1, 10, 11], [0, 1, 1]));
    assert_eq!(ExportStore::list(&fixture.store, account).await.unwrap(), listed);
}
