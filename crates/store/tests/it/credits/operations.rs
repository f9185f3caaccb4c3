//! What each operation writes, and when it refuses.

use domain::credits::{
    Adjust, CreditAmount, CreditLedger, DebitError, Grant, PostError, RefundError, Transaction, TransactionKind,
};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use time::Duration;

use super::books::{account, books, debit, events, key, refund};
use crate::{database::fresh, webhook_fixture::START};

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_debit_writes_its_row_and_its_events() {
    let db = fresh().await;
    let payer = account(&db.sql, 112).await;
    let mut asked = debit(payer, 13, "job-1");
    asked.meta = Map::from_iter([("campaign_id".to_owned(), json!(7))]);
    let written = db.store.debit(asked.clone(), START).await.unwrap();
    let expected = Transaction {
        id: written.id,
        kind: TransactionKind::Consume,
        feature: Some("chat".to_owned()),
        amount: -13,
        balance_after: 99,
        created_at: START,
        meta: asked.meta,
    };
    assert_eq!(written, expected);
    let books = books(&db.sql, payer).await;
    assert_eq!((books.balance, books.spent, books.rows), (99, 13, 2));
    let events = events(&db.sql, payer).await;
    assert_eq!(names(&events), ["credit.consumed", "credits.low"]);
    assert_eq!(events[0]["data"]["transaction_id"], written.id.0);
    assert_eq!(events[1]["data"]["crossed"], true);
    let summary = db.store.summary(payer).await.unwrap();
    assert_eq!((summary.balance, summary.recent_transactions.first()), (99, Some(&written)));
}

#[tokio::test]
async fn a_repeated_debit_returns_the_first_result_although_nothing_is_left() {
    let db = fresh().await;
    let payer = account(&db.sql, 100).await;
    let first = db.store.debit(debit(payer, 100, "job-1"), START).await.unwrap();
    let again = db.store.debit(debit(payer, 100, "job-1"), START + Duration::DAY).await.unwrap();
    assert_eq!(first, again);
    let refused = db.store.debit(debit(payer, 1, "job-2"), START).await;
    assert!(matches!(refused, Err(DebitError::Insufficient { balance: 0 })), "{refused:?}");
    assert_eq!(names(&events(&db.sql, payer).await), ["credit.consumed", "credits.low", "credits.depleted"]);
    assert_eq!(books(&db.sql, payer).await.rows, 2);
}

#[tokio::test]
async fn another_operation_under_the_key_is_refused() {
    let db = fresh().await;
    let (payer, other) = (account(&db.sql, 100).await, account(&db.sql, 100).await);
    db.store.debit(debit(payer, 5, "job-1"), START).await.unwrap();
    let dearer = db.store.debit(debit(payer, 6, "job-1"), START).await;
    assert!(matches!(dearer, Err(DebitError::KeyReused)), "{dearer:?}");
    let mut marked = debit(payer, 5, "job-1");
    marked.meta = Map::from_iter([("x".to_owned(), json!(1))]);
    assert!(matches!(db.store.debit(marked, START).await, Err(DebitError::KeyReused)));
    let grant = Grant { account: payer, amount: CreditAmount::new(5).unwrap(), key: key("job-1"), meta: Map::new() };
    assert!(matches!(db.store.grant(grant, START).await, Err(PostError::KeyReused)));
    // Keys are the account's own.
    assert_eq!(db.store.debit(debit(other, 6, "job-1"), START).await.unwrap().balance_after, 94);
    assert_eq!(books(&db.sql, payer).await.balance, 95);
}

#[tokio::test]
async fn a_paused_account_pays_nothing_but_learns_what_it_paid_before() {
    let db = fresh().await;
    let payer = account(&db.sql, 100).await;
    let before = db.store.debit(debit(payer, 5, "job-1"), START).await.unwrap();
    db.sql
        .execute(
            "INSERT INTO ai_access (account_id, paused_at, reason, paused_by, by_kind, updated_at)
             VALUES ($1, $2, 'cost', 'quota_guard', 'system', $2)",
            &[&payer.0, &START],
        )
        .await
        .unwrap();
    assert!(matches!(db.store.debit(debit(payer, 5, "job-2"), START).await, Err(DebitError::Paused)));
    // Also when there would not be enough anyway.
    assert!(matches!(db.store.debit(debit(payer, 500, "job-3"), START).await, Err(DebitError::Paused)));
    assert_eq!(db.store.debit(debit(payer, 5, "job-1"), START).await.unwrap(), before);
    assert_eq!(books(&db.sql, payer).await.rows, 2);
    db.sql.execute("UPDATE ai_access SET paused_at = NULL", &[]).await.unwrap();
    assert_eq!(db.store.debit(debit(payer, 5, "job-2"), START).await.unwrap().balance_after, 90);
}

#[tokio::test]
async fn a_debit_is_refunded_once_and_in_full() {
    let db = fresh().await;
    let payer = account(&db.sql, 100).await;
    let paid = db.store.debit(debit(payer, 30, "job-1"), START).await.unwrap();
    let given_back = db.store.refund(refund(payer, "job-1", "undo-1"), START).await.unwrap();
    assert_eq!((given_back.kind, given_back.amount, given_back.balance_after), (TransactionKind::Refund, 30, 100));
    assert_eq!(given_back.feature, paid.feature);
    assert_eq!(given_back.meta["debit_transaction_id"], paid.id.0);
    assert_eq!(db.store.refund(refund(payer, "job-1", "undo-1"), START).await.unwrap(), given_back);
    let twice = db.store.refund(refund(payer, "job-1", "undo-2"), START).await;
    assert!(matches!(&twice, Err(RefundError::AlreadyRefunded { by }) if **by == given_back), "{twice:?}");
    let books = books(&db.sql, payer).await;
    assert_eq!((books.balance, books.spent, books.rows), (100, 0, 3));
    let events = events(&db.sql, payer).await;
    assert_eq!(names(&events), ["credit.consumed", "credits.low", "credit.refunded"]);
    assert_eq!(
        events[2]["data"],
        json!({"transaction_id": given_back.id, "feature": "chat", "amount": 30, "balance": 100, "reason": "it failed"})
    );
}

#[tokio::test]
async fn what_was_not_debited_is_not_refunded() {
    let db = fresh().await;
    let (payer, other) = (account(&db.sql, 100).await, account(&db.sql, 100).await);
    db.store.debit(debit(payer, 30, "job-1"), START).await.unwrap();
    db.store.refund(refund(payer, "job-1", "undo-1"), START).await.unwrap();
    for refused in [refund(payer, "job-2", "u"), refund(payer, "undo-1", "u"), refund(other, "job-1", "u")] {
        let result = db.store.refund(refused, START).await;
        assert!(matches!(result, Err(RefundError::UnknownDebit)), "{result:?}");
    }
    assert!(matches!(db.store.refund(refund(payer, "job-1", "job-1"), START).await, Err(RefundError::KeyReused)));
    assert_eq!((books(&db.sql, payer).await.rows, books(&db.sql, other).await.rows), (3, 1));
}

#[tokio::test]
async fn operators_grant_and_adjust_within_what_there_is() {
    let db = fresh().await;
    let payer = account(&db.sql, 10).await;
    let amount = |credits| CreditAmount::new(credits).unwrap();
    let meta = Map::from_iter([("by".to_owned(), json!("ops"))]);
    let grant = Grant { account: payer, amount: amount(40), key: key("g"), meta: meta.clone() };
    assert_eq!(db.store.grant(grant.clone(), START).await.unwrap(), db.store.grant(grant, START).await.unwrap());
    let take = |credits, named: &str| Adjust {
        account: payer,
        amount: amount(credits),
        take: true,
        key: key(named),
        meta: meta.clone(),
    };
    let taken = db.store.adjust(take(50, "a"), START).await.unwrap();
    assert_eq!((taken.amount, taken.balance_after, taken.meta["by"].as_str()), (-50, 0, Some("ops")));
    let refused = db.store.adjust(take(1, "b"), START).await;
    assert!(matches!(refused, Err(PostError::Insufficient { balance: 0 })), "{refused:?}");
    let books = books(&db.sql, payer).await;
    assert_eq!((books.balance, books.purchased, books.spent, books.rows), (0, 0, 0, 3));
    assert_eq!(events(&db.sql, payer).await, [] as [Value; 0]);
}

#[tokio::test]
async fn of_two_hundred_simultaneous_debits_a_hundred_credits_pay_for_a_hundred() {
    if testkit::skip_on_citus("one after the other, two hundred take longer there than a request waits") {
        return;
    }
    let db = fresh().await;
    let payer = account(&db.sql, 100).await;
    let keys: Vec<String> = (0..200).map(|number| format!("job-{number}")).collect();
    let asked = join_all(keys.iter().map(|key| db.store.debit(debit(payer, 1, key), START))).await;
    let paid = asked.iter().filter(|result| result.is_ok()).count();
    let refused = asked.iter().filter(|result| matches!(result, Err(DebitError::Insufficient { balance: 0 }))).count();
    assert_eq!((paid, refused), (100, 100));
    let books = books(&db.sql, payer).await;
    assert_eq!((books.balance, books.spent, books.rows), (0, 100, 101));
    let events = events(&db.sql, payer).await;
    let count = |name: &str| names(&events).iter().filter(|event| **event == name).count();
    assert_eq!((count("credit.consumed"), count("credits.low"), count("credits.depleted")), (100, 100, 1));
    assert_eq!(events.iter().filter(|event| event["data"]["crossed"] == true).count(), 1);
}

#[tokio::test]
async fn the_same_debit_from_many_sides_at_once_is_made_once() {
    let db = fresh().await;
    let payer = account(&db.sql, 100).await;
    let asked = join_all((0..40).map(|_| db.store.debit(debit(payer, 60, "job"), START))).await;
    let first = asked[0].as_ref().unwrap();
    assert!(asked.iter().all(|result| result.as_ref().unwrap() == first));
    assert_eq!(books(&db.sql, payer).await.balance, 40);
}

#[tokio::test]
async fn a_debit_whose_events_cannot_be_written_is_not_made() {
    let db = fresh().await;
    let payer = account(&db.sql, 100).await;
    db.sql.execute("ALTER TABLE events ADD CONSTRAINT refuse CHECK (kind <> 'credits.low')", &[]).await.unwrap();
    assert!(matches!(db.store.debit(debit(payer, 5, "job-1"), START).await, Err(DebitError::Store(_))));
    assert_eq!((books(&db.sql, payer).await.rows, events(&db.sql, payer).await.len()), (1, 0));
}

#[tokio::test]
async fn time_does_not_run_backwards_in_a_ledger() {
    let db = fresh().await;
    let payer = account(&db.sql, 100).await;
    db.store.debit(debit(payer, 1, "a"), START + Duration::MINUTE).await.unwrap();
    let late = db.store.debit(debit(payer, 1, "b"), START).await.unwrap();
    assert_eq!(late.created_at, START + Duration::MINUTE);
}
