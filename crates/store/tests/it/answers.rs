//! Idempotency keys of writes that have an effect on another system.

use domain::{
    AccountId,
    idempotency::{AnswerStore, IdempotencyError, IdempotencyKey},
};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-05-02 12:00 UTC);

fn key(request: u8) -> IdempotencyKey {
    IdempotencyKey { path: "/complete".to_owned(), key: "a".to_owned(), request_hash: [request; 32] }
}

async fn claim(db: &Database, account: AccountId, request: u8, now: OffsetDateTime) -> Result<Option<Value>, String> {
    let claimed = db.store.claim(account, &key(request), now).await;
    claimed.map_err(|error| match error {
        IdempotencyError::InProgress => "in progress".to_owned(),
        IdempotencyError::Reused => "reused".to_owned(),
        other => panic!("{other}"),
    })
}

#[tokio::test]
async fn an_answer_is_given_again_to_the_same_request_of_the_same_account() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    assert_eq!(claim(&db, mine, 1, NOW).await, Ok(None));
    assert_eq!(claim(&db, mine, 1, NOW).await, Err("in progress".to_owned()));
    assert_eq!(claim(&db, mine, 2, NOW).await, Err("reused".to_owned()));
    assert_eq!(claim(&db, theirs, 1, NOW).await, Ok(None));
    db.store.answered(mine, &key(1), json!({ "id": 1 }), NOW).await.unwrap();
    // What was answered is not given up by who comes late.
    db.store.failed(mine, &key(1)).await.unwrap();
    assert_eq!(claim(&db, mine, 1, NOW + Duration::HOUR).await, Ok(Some(json!({ "id": 1 }))));
    assert_eq!(claim(&db, mine, 1, NOW + Duration::hours(25)).await, Ok(None), "keys are forgotten after a day");
}

#[tokio::test]
async fn a_refused_write_and_one_of_a_dead_process_leave_the_key_free() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    assert_eq!(claim(&db, account, 1, NOW).await, Ok(None));
    db.store.failed(account, &key(1)).await.unwrap();
    assert_eq!(claim(&db, account, 1, NOW).await, Ok(None));
    assert_eq!(claim(&db, account, 1, NOW + Duration::seconds(119)).await, Err("in progress".to_owned()));
    assert_eq!(claim(&db, account, 1, NOW + Duration::minutes(2)).await, Ok(None));
}

#[tokio::test]
async fn a_body_is_kept_beside_what_was_recorded_letter_by_letter() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    for account in [mine, theirs] {
        db.store.answered(account, &key(1), json!({ "id": 1 }), NOW).await.unwrap();
    }
    assert_eq!(db.store.kept(mine, &key(1)).await.unwrap(), None);
    let body = r#"{"state":"reserved","id":1, "at":1.50}"#;
    db.store.keep(mine, &key(1), body).await.unwrap();
    assert_eq!(db.store.kept(mine, &key(1)).await.unwrap().as_deref(), Some(body));
    assert_eq!(claim(&db, mine, 1, NOW).await.unwrap().unwrap()["id"], 1);
    assert_eq!(db.store.kept(theirs, &key(1)).await.unwrap(), None);
}
