//! Claims, and results that are written once and whole.

use domain::{
    AccountId,
    jobs::{Again, Claim, JobName, JobStore, RunState, WriteOutcome},
    profit::{Assumptions, Basis, Components, DayRange, ProfitStore, ProfitWriter},
};
use rust_decimal::dec;
use time::{
    Date, OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh},
    shop,
};

const AS_OF: Date = date!(2026 - 03 - 02);
const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);
const LATER: OffsetDateTime = datetime!(2026-03-02 04:00 UTC);

async fn claim(db: &Database, account: AccountId, lease: i64, again: bool) -> Option<Claim> {
    let again = if again { Again::All } else { Again::EndedBefore(datetime!(2026-03-02 00:00 UTC)) };
    db.store.claim(account, JobName::ProfitSnapshots, AS_OF, lease, again).await.unwrap()
}

fn revenue(amount: i64) -> Components {
    Components { gross_revenue: amount.into(), ..Components::default() }
}

/// A day of which nothing but its revenue is known.
fn day(date: Date, amount: i64) -> (Date, Components, Basis) {
    (date, revenue(amount), Basis::default())
}

#[tokio::test]
async fn a_run_is_claimed_once_however_many_ask() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let asked = futures_util::future::join_all((0..8).map(|_| claim(&db, account, 60, true))).await;
    assert_eq!(asked.iter().flatten().count(), 1);
    let other_day = db
        .store
        .claim(account, JobName::ProfitSnapshots, date!(2026 - 03 - 03), 60, Again::EndedBefore(NOW))
        .await
        .unwrap();
    assert_eq!(other_day.map(|claim| claim.number), Some(1));
}

#[tokio::test]
async fn what_failed_or_whose_lease_ran_out_is_claimed_again() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let first = claim(&db, account, 60, false).await.unwrap();
    db.store.fail(&first, "no luck").await.unwrap();
    let failed = db.store.list(Some(account), 10).await.unwrap();
    assert_eq!((failed[0].state, failed[0].error.as_deref()), (RunState::Failed, Some("no luck")));
    let second = claim(&db, account, -1, false).await.unwrap();
    let third = claim(&db, account, 60, false).await.unwrap();
    assert_eq!((first.number, second.number, third.number), (1, 2, 3));
    db.store.fail(&second, "too late").await.unwrap();
    let running = db.store.list(Some(account), 10).await.unwrap();
    assert_eq!((running[0].state, running[0].attempts, &running[0].error), (RunState::Running, 3, &None));
}

#[tokio::test]
async fn a_result_and_the_end_of_its_run_are_one() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let stale = claim(&db, account, -1, false).await.unwrap();
    let fresh_claim = claim(&db, account, 60, false).await.unwrap();
    let last = date!(2026 - 03 - 01);
    assert_eq!(db.store.replace(&stale, vec![day(last, 1)], NOW).await.unwrap(), WriteOutcome::Superseded);
    assert_eq!(shop::rows(&db.sql, account, "snapshot_date", "profit_snapshots").await, [""; 0]);
    assert_eq!(db.store.replace(&fresh_claim, vec![day(last, 2)], NOW).await.unwrap(), WriteOutcome::Rows(1));
    assert_eq!(db.store.replace(&fresh_claim, vec![day(last, 3)], NOW).await.unwrap(), WriteOutcome::Superseded);
    let runs = db.store.list(None, 10).await.unwrap();
    assert_eq!((runs[0].state, runs[0].finished_at), (RunState::Done, Some(NOW)));
    assert_eq!(claim(&db, account, 60, false).await, None, "done is done");
    let tomorrow = datetime!(2026-03-02 03:00:01 UTC);
    let of = async |again| db.store.claim(account, JobName::ProfitSnapshots, AS_OF, 60, again).await.unwrap();
    let moved = of(Again::EndedBefore(tomorrow)).await.expect("it ended before the day began where the account is now");
    assert_eq!(db.store.replace(&moved, vec![day(last, 2)], NOW).await.unwrap(), WriteOutcome::Rows(0));
    assert!(claim(&db, account, 60, true).await.is_some());
    let again = db.store.list(None, 10).await.unwrap();
    assert_eq!((again[0].state, again[0].finished_at), (RunState::Running, Some(NOW)));
}

/// Ends a run made from `input` that is claimed as of `as_of`, by writing or, where nothing has changed, without. Returns
/// whether it was without.
async fn run_with_input(db: &Database, account: AccountId, as_of: Date, input: &str) -> bool {
    let claim = db.store.claim(account, JobName::ProfitSnapshots, as_of, 60, Again::All).await.unwrap().unwrap();
    let claim = Claim { input_fingerprint: Some(input.into()), ..claim };
    let unchanged = db.store.end_if_unchanged(&claim, LATER).await.unwrap();
    if !unchanged {
        assert_ne!(db.store.replace(&claim, vec![day(as_of, 1)], LATER).await.unwrap(), WriteOutcome::Superseded);
    }
    let runs = db.store.list(Some(account), 10).await.unwrap();
    let run = runs.iter().find(|run| run.as_of == as_of).unwrap();
    assert_eq!((run.state, run.finished_at), (RunState::Done, Some(LATER)));
    unchanged
}

#[tokio::test]
async fn a_run_is_spared_while_the_result_that_stands_is_made_from_the_same() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let yesterday = date!(2026 - 03 - 01);
    assert!(!run_with_input(&db, account, AS_OF, "today").await);
    assert!(run_with_input(&db, account, AS_OF, "today").await);
    assert!(!run_with_input(&db, other, AS_OF, "today").await, "another account has no result yet");
    // What stands is the result that was written last, whatever day it was for.
    assert!(!run_with_input(&db, account, yesterday, "yesterday").await);
    assert!(!run_with_input(&db, account, AS_OF, "today").await);
    assert!(run_with_input(&db, account, AS_OF, "today").await);
}

#[tokio::test]
async fn a_run_that_failed_or_was_claimed_elsewhere_leaves_no_result_to_go_by() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let made = |claim: Claim| Claim { input_fingerprint: Some("today".into()), ..claim };
    let stale = made(claim(&db, account, -1, false).await.unwrap());
    let newest = made(claim(&db, account, 60, false).await.unwrap());
    assert_eq!(db.store.replace(&stale, vec![day(AS_OF, 1)], NOW).await.unwrap(), WriteOutcome::Superseded);
    assert!(!db.store.end_if_unchanged(&newest, NOW).await.unwrap(), "nothing was written");
    db.store.fail(&newest, "no luck").await.unwrap();
    let again = made(claim(&db, account, -1, false).await.unwrap());
    assert!(!db.store.end_if_unchanged(&again, NOW).await.unwrap());
    assert_eq!(db.store.replace(&again, vec![day(AS_OF, 1)], NOW).await.unwrap(), WriteOutcome::Rows(1));
    // The lease of one whose turn has passed ends no run.
    let old = made(claim(&db, account, -1, true).await.unwrap());
    let new = made(claim(&db, account, 60, true).await.unwrap());
    assert!(!db.store.end_if_unchanged(&old, NOW).await.unwrap());
    assert!(db.store.end_if_unchanged(&new, NOW).await.unwrap());
}

#[tokio::test]
async fn a_run_that_is_broken_off_in_the_middle_of_its_write_can_be_given_back() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    // Connections that are at rest, which the pool hands out before the broken one.
    futures_util::future::join_all((0..8).map(|_| db.store.list(None, 10))).await;
    let held = claim(&db, account, 60, false).await.unwrap();
    let other = db.session().await;
    other.batch_execute("BEGIN; LOCK TABLE profit_snapshots").await.unwrap();
    let (store, run) = (db.store.clone(), held.clone());
    let writing = tokio::spawn(async move { store.replace(&run, vec![day(AS_OF, 1)], NOW).await });
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while db.sql.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    writing.abort();
    assert!(writing.await.unwrap_err().is_cancelled());
    other.batch_execute("ROLLBACK").await.unwrap();
    db.store.fail(&held, "broken off").await.unwrap();
    assert!(claim(&db, account, 60, false).await.is_some());
    assert_eq!(shop::rows(&db.sql, account, "snapshot_date", "profit_snapshots").await, [""; 0]);
}

#[tokio::test]
async fn only_snapshots_that_differ_are_written() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let [first, second, third] = [date!(2026 - 02 - 27), date!(2026 - 02 - 28), date!(2026 - 03 - 01)];
    let run = claim(&db, account, 60, true).await.unwrap();
    let full = Components {
        gross_revenue: dec!(1000.123456),
        refunds: dec!(100),
        ad_spend: dec!(120),
        cogs_estimate: dec!(400),
        fees_estimate: dec!(29),
        shipping_estimate: dec!(50),
        extra_expenses: dec!(31),
        purchase_count: 12,
    };
    let basis = Basis {
        goods_revenue: dec!(900.5),
        cogs_covered_revenue: dec!(800),
        fees_estimated_orders: 3,
        shipping_estimated_orders: 12,
        returned_units: 7,
        returned_cogs: dec!(21.5),
        returned_fees: dec!(0.25),
    };
    db.store.replace(&run, vec![day(first, 5), (second, full, basis)], NOW).await.unwrap();
    let run = claim(&db, account, 60, true).await.unwrap();
    let written = db.store.replace(&run, vec![(second, full, basis), day(third, 6)], LATER).await.unwrap();
    assert_eq!(written, WriteOutcome::Rows(2), "one removed, one added");
    let kept = db.store.range(account, DayRange { first, last: third }).await.unwrap().found;
    let kept: Vec<_> = kept.iter().map(|day| (day.date, day.components, day.basis)).collect();
    assert_eq!(kept, [(third, revenue(6), Basis::default()), (second, full, basis)]);
    let unchanged = "SELECT count(*) FROM profit_snapshots WHERE account_id = $1 AND computed_at = $2";
    let row = db.sql.query_one(unchanged, &[&account.0, &NOW]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 1, "the second day was not written again");
}

#[tokio::test]
async fn what_an_account_assumes_is_its_own() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.sql.execute("UPDATE accounts SET fee_rate = 0.9 WHERE id = $1", &[&theirs.0]).await.unwrap();
    let expected =
        Assumptions { fee_rate: dec!(0.03), fee_fixed: dec!(0.30), shipping_per_order: dec!(4), cogs_ratio: dec!(0.5) };
    assert_eq!(db.store.assumptions(mine).await.unwrap(), expected);
}
