//! In which order rows are locked, what happens to a transaction that loses to another, and accounts without a balance.

use domain::{
    ai::{Actor, AiAccess, AiRuns, RequestError},
    credits::{
        Adjust, CreditAmount, CreditLedger, DebitError, Grant, PostError, RefundError,
        auto_topup::{AutoTopup, AutoTopupChange, AutoTopupStore, Left},
    },
    events::ActorKind,
    usage::UsageStore,
};
use serde_json::Map;
use tokio_postgres::error::SqlState;

use super::{
    books::{account, books, debit, key, refund},
    payments,
};
use crate::{
    database::{fresh, until_waiting},
    shop,
    webhook_fixture::START,
};

fn price() -> CreditAmount {
    CreditAmount::new(5).unwrap()
}

/// A transaction that waits for the balance holds no other row yet: so the holder of the balance never waits for it.
#[tokio::test]
async fn the_balance_is_locked_before_anything_else() {
    if testkit::skip_on_citus("locks are held on the nodes") {
        return;
    }
    let db = fresh().await;
    let payer = account(&db.sql, 1_000).await;
    let change = AutoTopupChange { enabled: true, threshold: Some(990), top_up_amount: Some(500), monthly_cap: None };
    db.store.change(payer, change, None, START).await.unwrap();
    db.store.debit(debit(payer, 50, "a"), START).await.unwrap();
    let charge = db.store.lease(START, START, 1).await.unwrap()[0].charge;
    let run = db.store.start(payer, price(), START).await.unwrap().unwrap();
    let mut holder = db.session().await;
    let free = async |table: &str| {
        let session = db.session().await;
        let id = if table == "accounts" { "id" } else { "account_id" };
        let taken = session.query(&format!("SELECT FROM {table} WHERE {id} = $1 FOR UPDATE NOWAIT"), &[&payer.0]).await;
        let locked = taken.is_err_and(|error| error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE));
        assert!(!locked, "a row of {table} is held while the balance is waited for");
    };
    let all = async || {
        for table in ["accounts", "ai_runs", "auto_topups", "payments"] {
            free(table).await;
        }
    };
    let hold = "SELECT FROM credit_balances WHERE account_id = $1 FOR UPDATE";
    macro_rules! waits {
        ($call:expr) => {{
            let held = holder.transaction().await.unwrap();
            held.query(hold, &[&payer.0]).await.unwrap();
            let (result, ()) = tokio::join!($call, async {
                until_waiting(&db.sql, 1).await;
                all().await;
                held.commit().await.unwrap();
            });
            result
        }};
    }
    waits!(payments::credit(&db.store, payer, "p1"));
    assert!(waits!(db.store.request(payer, Some(price()), None, None, START)).is_ok());
    assert!(waits!(db.store.start(payer, price(), START)).unwrap().is_none());
    let left = Left::Failed { reason: "declined".to_owned(), retry_at: START };
    waits!(db.store.leave(charge, left, START)).unwrap();
    waits!(db.store.change(payer, change, None, START)).unwrap();
    assert!(waits!(db.store.fail(&run, "timeout", START)).unwrap());
    assert_eq!(books(&db.sql, payer).await.balance, 1_450);
}

#[tokio::test]
async fn a_transaction_that_is_ended_for_another_is_run_again() {
    if testkit::skip_on_citus("its deadlocks are found by the coordinator, in its own time") {
        return;
    }
    let db = fresh().await;
    // Of two that wait for each other the one that looks first is ended: the store's.
    let name: String = db.sql.query_one("SELECT current_database()", &[]).await.unwrap().get(0);
    db.sql.batch_execute(&format!("ALTER DATABASE {name} SET deadlock_timeout = '50ms'")).await.unwrap();
    let payer = account(&db.sql, 0).await;
    let mut other = db.session().await;
    other.batch_execute("SET deadlock_timeout = '1min'").await.unwrap();
    let held = other.transaction().await.unwrap();
    held.execute("INSERT INTO payment_owners VALUES ('rebill', 'p1', $1)", &[&(payer.0 + 1)]).await.unwrap();
    let store = db.store_with(store::PoolOptions { max_connections: 16, ..testkit::patient() });
    let settled = tokio::spawn(async move { payments::credit(&store, payer, "p1").await });
    until_waiting(&db.sql, 1).await;
    // Waits for the balance, which the payment holds, until that one has been ended. A lock of the table, because those are
    // handed over in the order that they were asked for: one of the row the second try might get first.
    held.batch_execute("LOCK TABLE credit_balances IN EXCLUSIVE MODE").await.unwrap();
    held.rollback().await.unwrap();
    settled.await.unwrap();
    assert_eq!(books(&db.sql, payer).await.balance, 500);
}

#[tokio::test]
async fn an_account_without_a_balance_has_an_empty_one() {
    let db = fresh().await;
    let nothing = async || shop::account(&db.sql, "UTC").await;
    let payer = nothing().await;
    let shown = db.store.summary(payer).await.unwrap();
    assert_eq!((shown.balance, shown.auto_topup, shown.recent_transactions.len()), (0, AutoTopup::default(), 0));
    let used = db.store.read(payer, &"UTC".parse().unwrap(), START).await.unwrap();
    assert_eq!((used.balance, used.days.len()), (0, 0));
    let refused = db.store.debit(debit(payer, 5, "a"), START).await;
    assert!(matches!(refused, Err(DebitError::Insufficient { balance: 0 })), "{refused:?}");
    let refused = db.store.refund(refund(nothing().await, "a", "b"), START).await;
    assert!(matches!(refused, Err(RefundError::UnknownDebit)), "{refused:?}");
    let refused = db.store.request(nothing().await, Some(price()), None, None, START).await;
    assert!(matches!(refused, Err(RequestError::Insufficient { balance: 0 })), "{refused:?}");
    let take = Adjust { account: nothing().await, amount: price(), take: true, key: key("a"), meta: Map::new() };
    assert!(matches!(db.store.adjust(take, START).await, Err(PostError::Insufficient { balance: 0 })));
    let granted = nothing().await;
    let grant = Grant { account: granted, amount: price(), key: key("a"), meta: Map::new() };
    assert_eq!(db.store.grant(grant, START).await.unwrap().balance_after, 5);
    let paying = nothing().await;
    payments::credit(&db.store, paying, "p1").await;
    assert_eq!((books(&db.sql, granted).await.balance, books(&db.sql, paying).await.balance), (5, 500));
    let recharged = nothing().await;
    let change = AutoTopupChange { enabled: true, threshold: Some(1), top_up_amount: Some(500), monthly_cap: None };
    assert!(db.store.change(recharged, change, None, START).await.unwrap().enabled);
    assert_eq!(shop::rows(&db.sql, recharged, "state", "auto_topups").await, ["(pending)"]);
    let by = Actor { name: "ana".into(), kind: ActorKind::Admin };
    assert_eq!(db.store.pause(nothing().await, &by, "r", START).await.unwrap(), domain::ai::AccessChange::Made);
}
