//! AI runs with their credits, the cost of calls, and who has access.

use domain::{
    AccountId, InsightId,
    accounts::{AccountStore, NewUser, Plan},
    ai::{
        AccessChange, Actor, AiAccess, AiRuns, CallId, CallPermit, Ending, Limits, Month, Outcome, RequestError,
        RunClaim, RunState, Usage,
    },
    credits::{CreditAmount, CreditLedger},
    events::ActorKind,
    idempotency::{IdempotencyError, IdempotencyKey},
    insights::{
        Category, DecideError, Draft, InsightSource, InsightStore, InsightWriter, Kind, Severity, Source, Status, Told,
        Value as Figure, Worded, Wording,
    },
    language::Language,
    page::PageRequest,
};
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-31 20:00 UTC);

fn price() -> CreditAmount {
    CreditAmount::new(5).unwrap()
}

/// A live account and its sandbox, with 500 credits each.
async fn accounts(db: &Database) -> [AccountId; 2] {
    let id = format!("user_{}", &uuid::Uuid::new_v4().simple().to_string()[..24]);
    let user = NewUser {
        id: id.parse().unwrap(),
        name: "shop".into(),
        currency: "EUR".parse().unwrap(),
        timezone: "UTC".parse().unwrap(),
        locale: domain::texts::Locale::ENGLISH,
        plan: Plan::Free,
        now: NOW,
    };
    let made = db.store.create(user).await.unwrap();
    [made[0].id, made[1].id]
}

async fn ledger(db: &Database, account: AccountId) -> Vec<String> {
    shop::rows(&db.sql, account, "kind, amount, balance_after", "credit_transactions").await
}

async fn balance(db: &Database, account: AccountId) -> i64 {
    CreditLedger::summary(&*db.store, account).await.unwrap().balance
}

async fn events(db: &Database, account: AccountId, kind: &str) -> Vec<Value> {
    let text = "SELECT body FROM events WHERE account_id = $1 AND kind = $2 ORDER BY id";
    let rows = db.sql.query(text, &[&account.0, &kind]).await.unwrap();
    rows.iter().map(|row| serde_json::from_slice::<Value>(row.get(0)).unwrap()["data"].clone()).collect()
}

fn used(cost_usd: Decimal) -> Usage {
    Usage { prompt_tokens: 900, completion_tokens: 100, cost_usd, estimated: false }
}

fn admin() -> Actor {
    Actor { name: "ana".into(), kind: ActorKind::Admin }
}

/// A call of the run is permitted and noted.
async fn opened(db: &Database, claim: &RunClaim, bound: Decimal, now: OffsetDateTime) -> CallId {
    match db.store.open_call(claim, price(), "m", used(bound), now).await.unwrap() {
        CallPermit::Granted(call) => call,
        refused => panic!("{refused:?}"),
    }
}

/// A run that makes a call of this cost and ends.
async fn call(db: &Database, account: AccountId, cost: Decimal, now: OffsetDateTime) {
    let claim = db.store.start(account, price(), now).await.unwrap().unwrap();
    let call = opened(db, &claim, dec!(7), now).await;
    db.store.close_call(account, call, used(cost), None, now).await.unwrap();
    assert!(db.store.fail(&claim, "timeout", now).await.unwrap());
}

#[tokio::test]
async fn a_run_is_debited_before_its_call_and_refunded_once_unless_it_is_worded() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let key = |hash: u8| Some(IdempotencyKey { path: "/g".into(), key: "k".into(), request_hash: [hash; 32] });
    let run = db.store.request(account, Some(price()), key(1), None, NOW).await.unwrap();
    assert_eq!((run.replayed, run.value.state, run.value.credits), (false, RunState::Queued, 0));
    let again = db.store.request(account, Some(price()), key(1), None, NOW).await.unwrap();
    assert_eq!((again.replayed, again.value.id), (true, run.value.id));
    let reused = db.store.request(account, Some(price()), key(2), None, NOW).await;
    assert!(matches!(reused, Err(RequestError::Idempotency(IdempotencyError::Reused))));
    let joined = db.store.request(account, Some(price()), None, None, NOW).await.unwrap();
    assert_eq!(joined.value.id, run.value.id, "one at a time");
    assert_eq!(db.store.start(account, price(), NOW).await.unwrap(), None);
    assert_eq!(balance(&db, account).await, 500, "whether there is anything to word is not known yet");

    let claim = db.store.claim_next(NOW).await.unwrap().unwrap();
    assert_eq!((claim.account, claim.run, db.store.claim_next(NOW).await.unwrap()), (account, run.value.id, None));
    opened(&db, &claim, dec!(1), NOW).await;
    opened(&db, &claim, dec!(1), NOW).await;
    let paid = AiRuns::find(&*db.store, account, claim.run).await.unwrap().unwrap();
    assert_eq!((paid.credits, balance(&db, account).await), (5, 495), "one debit for both calls");
    assert!(db.store.fail(&claim, "timeout", NOW).await.unwrap());
    assert!(!db.store.fail(&claim, "timeout", NOW).await.unwrap(), "once");
    let ended = AiRuns::find(&*db.store, account, run.value.id).await.unwrap().unwrap();
    assert_eq!(
        (ended.state, ended.outcome, ended.reason.as_deref(), ended.refunded),
        (RunState::Failed, Some(Outcome::Failed), Some("timeout"), true)
    );
    assert_eq!(ledger(&db, account).await, ["(consume,-5,495)", "(grant,500,500)", "(refund,5,500)"]);

    let claim = db.store.start(account, price(), NOW).await.unwrap().unwrap();
    let ending = Ending { job: None, run: Some((claim, Outcome::Worded, None)) };
    db.store.replace(account, ending.clone(), vec![], NOW).await.unwrap();
    assert!(db.store.replace(account, ending, vec![], NOW).await.is_err(), "the run has ended");
    assert_eq!(balance(&db, account).await, 495);
    let (consumed, refunded) =
        (events(&db, account, "credit.consumed").await.len(), events(&db, account, "credit.refunded").await.len());
    assert_eq!((consumed, refunded), (2, 1));
}

#[tokio::test]
async fn a_request_that_is_sent_again_shows_what_the_first_answer_showed() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let key = || Some(IdempotencyKey { path: "/g".into(), key: "k".into(), request_hash: [1; 32] });
    let first = db.store.request(account, Some(price()), key(), None, NOW).await.unwrap().value;
    let claim = db.store.claim_next(NOW).await.unwrap().unwrap();
    opened(&db, &claim, dec!(1), NOW).await;
    let again = db.store.request(account, Some(price()), key(), None, NOW).await.unwrap();
    assert_eq!((again.replayed, again.value.credits, again.value), (true, 0, first));
    // As a release before recorded it.
    db.sql.execute("UPDATE idempotency_keys SET result = result - 'credits'", &[]).await.unwrap();
    let again = db.store.request(account, Some(price()), key(), None, NOW).await.unwrap();
    assert_eq!(again.value.credits, 5);
}

#[tokio::test]
async fn a_run_with_nothing_to_word_leaves_no_trace_in_the_ledger() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let run = db.store.request(account, Some(price()), None, None, NOW).await.unwrap().value;
    let claim = db.store.claim_next(NOW).await.unwrap().unwrap();
    let ending = Ending { job: None, run: Some((claim, Outcome::NothingNew, None)) };
    db.store.replace(account, ending, vec![], NOW).await.unwrap();
    let ended = AiRuns::find(&*db.store, account, run.id).await.unwrap().unwrap();
    assert_eq!((ended.outcome, ended.credits, ended.refunded), (Some(Outcome::NothingNew), 0, false));
    assert_eq!(ledger(&db, account).await, ["(grant,500,500)"]);
    assert_eq!(events(&db, account, "credit.consumed").await, [] as [Value; 0]);
}

/// A run on demand is not paid for yet when access is paused, one of the nightly job is.
#[rstest::rstest]
#[tokio::test]
async fn a_run_from_before_a_pause_calls_nobody_after_it(#[values(true, false)] on_demand: bool) {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let claim = if on_demand {
        db.store.request(account, Some(price()), None, None, NOW).await.unwrap();
        db.store.claim_next(NOW).await.unwrap().unwrap()
    } else {
        db.store.start(account, price(), NOW).await.unwrap().unwrap()
    };
    db.store.pause(account, &admin(), "disputed invoice", NOW).await.unwrap();
    let permit = db.store.open_call(&claim, price(), "m", used(dec!(1)), NOW).await.unwrap();
    assert_eq!(permit, CallPermit::Paused);
    assert_eq!(shop::rows(&db.sql, account, "id", "ai_calls").await, [""; 0]);
    assert!(db.store.fail(&claim, "paused", NOW).await.unwrap());
    assert_eq!(balance(&db, account).await, 500);
}

#[tokio::test]
async fn a_balance_that_went_down_since_the_request_is_not_overdrawn() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let all = CreditAmount::new(500).unwrap();
    db.store.request(account, Some(all), None, None, NOW).await.unwrap();
    let claim = db.store.claim_next(NOW).await.unwrap().unwrap();
    db.sql.execute("UPDATE credit_balances SET balance = 499 WHERE account_id = $1", &[&account.0]).await.unwrap();
    let permit = db.store.open_call(&claim, all, "m", used(dec!(1)), NOW).await.unwrap();
    assert_eq!(permit, CallPermit::Insufficient);
    assert_eq!(shop::rows(&db.sql, account, "id", "ai_calls").await, [""; 0]);
    assert!(db.store.fail(&claim, "insufficient_credits", NOW).await.unwrap());
    let ended = AiRuns::find(&*db.store, account, claim.run).await.unwrap().unwrap();
    assert_eq!((ended.credits, ended.refunded, balance(&db, account).await), (0, false, 499));
}

#[tokio::test]
async fn what_is_refused_leaves_no_row() {
    let db = fresh().await;
    let [account, sandbox] = accounts(&db).await;
    let dear = CreditAmount::new(501).unwrap();
    let refused = db.store.request(account, Some(dear), None, None, NOW).await;
    assert!(matches!(refused, Err(RequestError::Insufficient { balance: 500 })), "{refused:?}");
    assert_eq!(db.store.pause(account, &admin(), "invoice", NOW).await.unwrap(), AccessChange::Made);
    for price in [Some(price()), None] {
        let refused = db.store.request(account, price, None, None, NOW).await;
        assert!(matches!(refused, Err(RequestError::Paused)), "{refused:?}");
    }
    assert!(matches!(db.store.start(account, price(), NOW).await, Err(RequestError::Paused)));
    assert_eq!(ledger(&db, account).await, ["(grant,500,500)"]);
    assert_eq!(shop::rows(&db.sql, account, "id", "ai_runs").await, [""; 0]);
    assert!(db.store.request(sandbox, None, None, None, NOW).await.is_ok(), "another account is not concerned");
}

#[tokio::test]
async fn a_run_whose_process_died_is_refunded_by_one_reaper() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let dead = db.store.start(account, price(), NOW).await.unwrap().unwrap();
    assert_eq!(db.store.reap(NOW).await.unwrap(), 0, "its lease has not ended");
    db.sql.execute("UPDATE ai_runs SET lease_until = now() - interval '1 second'", &[]).await.unwrap();
    let reaped = futures_util::future::join_all((0..4).map(|_| db.store.reap(NOW))).await;
    assert_eq!(reaped.into_iter().map(Result::unwrap).sum::<u64>(), 1);
    let late = db.store.open_call(&dead, price(), "m", used(dec!(1)), NOW).await.unwrap();
    assert_eq!(late, CallPermit::Superseded, "it must not call any more");
    assert!(!db.store.fail(&dead, "late", NOW).await.unwrap());
    let run = AiRuns::find(&*db.store, account, dead.run).await.unwrap().unwrap();
    assert_eq!((run.state, run.outcome), (RunState::Failed, Some(Outcome::Interrupted)));
    assert_eq!(ledger(&db, account).await, ["(consume,-5,495)", "(grant,500,500)", "(refund,5,500)"]);
}

#[tokio::test]
async fn what_fails_of_one_account_keeps_no_other_waiting() {
    let db = fresh().await;
    let [[first, _], [second, _]] = [accounts(&db).await, accounts(&db).await];
    for account in [first, second] {
        let claim = db.store.start(account, price(), NOW).await.unwrap().unwrap();
        opened(&db, &claim, dec!(60), NOW).await;
    }
    db.sql.execute("UPDATE ai_runs SET lease_until = now() - interval '1 second'", &[]).await.unwrap();
    let broken = format!(
        "ALTER TABLE ai_runs ADD CONSTRAINT broken CHECK (account_id <> {first} OR state = 'running');
         ALTER TABLE ai_crossings ADD CONSTRAINT broken_crossings CHECK (account_id <> {first})"
    );
    db.sql.batch_execute(&broken).await.unwrap();
    assert!(db.store.reap(NOW).await.is_err());
    let states = async |account: AccountId| shop::rows(&db.sql, account, "state", "ai_runs").await;
    assert_eq!(
        (states(first).await, states(second).await),
        (vec!["(running)".to_owned()], vec!["(failed)".to_owned()])
    );
    let later = NOW + Duration::minutes(10);
    assert!(db.store.guard(later).await.is_err());
    assert_eq!(shop::rows(&db.sql, second, "severity", "ai_crossings").await, ["(critical)", "(warning)"]);
}

#[tokio::test]
async fn a_call_has_the_whole_lease_however_long_the_run_took_to_come_to_it() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let claim = db.store.start(account, price(), NOW).await.unwrap().unwrap();
    db.sql.execute("UPDATE ai_runs SET lease_until = now() + interval '1 second'", &[]).await.unwrap();
    opened(&db, &claim, dec!(1), NOW).await;
    let is_whole = "SELECT lease_until > now() + interval '170 seconds' FROM ai_runs";
    assert!(db.sql.query_one(is_whole, &[]).await.unwrap().get::<_, bool>(0));
}

#[tokio::test]
async fn of_a_pause_and_a_debit_one_comes_first() {
    let db = fresh().await;
    for _ in 0..20 {
        let [account, _] = accounts(&db).await;
        let by = admin();
        let (paused, run) = tokio::join!(db.store.pause(account, &by, "r", NOW), db.store.start(account, price(), NOW));
        assert_eq!(paused.unwrap(), AccessChange::Made);
        let debited = ledger(&db, account).await.len() - 1;
        match run {
            Ok(_) => assert_eq!(debited, 1),
            Err(RequestError::Paused) => assert_eq!(debited, 0),
            Err(other) => panic!("{other:?}"),
        }
        assert!(matches!(db.store.start(account, price(), NOW).await, Err(RequestError::Paused)));
        assert_eq!(ledger(&db, account).await.len() - 1, debited);
    }
}

#[tokio::test]
async fn each_threshold_is_announced_once_a_month_and_the_critical_one_pauses() {
    let db = fresh().await;
    let [account, sandbox] = accounts(&db).await;
    call(&db, account, dec!(19.99), NOW).await;
    assert_eq!(events(&db, account, "usage.threshold_crossed").await, [] as [Value; 0]);
    call(&db, sandbox, dec!(0.005), NOW).await;
    call(&db, account, dec!(0.0050000001), NOW).await;
    call(&db, account, dec!(1), NOW).await;
    assert_eq!(
        events(&db, account, "usage.threshold_crossed").await,
        [json!({"month": "2026-03", "severity": "warning", "cost_usd": 20.0000000001, "tokens": 3000, "requests": 3,
            "threshold_usd": 20, "ts": "2026-03-31T20:00:00Z"})],
        "the cost is the user's, over both accounts"
    );
    call(&db, account, dec!(40), NOW).await;
    let crossed = events(&db, account, "usage.threshold_crossed").await;
    assert_eq!(
        (crossed.len(), &crossed[1]["severity"], &crossed[1]["threshold_usd"]),
        (2, &json!("critical"), &json!(50))
    );
    assert_eq!(
        events(&db, account, "ai.paused").await,
        [json!({"action": "pause", "reason": "the monthly cost reached the critical threshold", "by": "quota_guard",
            "by_kind": "system", "cost_usd": 61.0000000001, "threshold_usd": 50, "ts": "2026-03-31T20:00:00Z"})]
    );
    assert!(matches!(db.store.start(account, price(), NOW).await, Err(RequestError::Paused)));

    // The next month starts from nothing; a pause lasts until an administrator ends it, and is not repeated this month.
    assert_eq!(db.store.resume(account, &admin(), None, NOW).await.unwrap(), AccessChange::Made);
    call(&db, account, dec!(1), NOW + Duration::hours(1)).await;
    let look = async || db.store.guard(NOW + Duration::hours(1)).await.unwrap();
    assert_eq!((look().await, look().await), (2, 0), "the sandbox made a call of the same user, and hears of it once");
    let april = NOW + Duration::hours(4);
    call(&db, account, dec!(120), april).await;
    let crossed = events(&db, account, "usage.threshold_crossed").await;
    let seen: Vec<_> = crossed.iter().map(|event| (event["month"].clone(), event["severity"].clone())).collect();
    assert_eq!(
        seen[2..],
        [(json!("2026-04"), json!("warning")), (json!("2026-04"), json!("critical"))],
        "one call may cross both"
    );
    assert_eq!(events(&db, account, "ai.paused").await.len(), 2);
    let status = AiAccess::status(&*db.store, account, april).await.unwrap().unwrap();
    assert_eq!((status.month, status.cost.cost_usd, status.cost.requests), (Month::of(april), dec!(120), 1));
    assert_eq!(status.pause.unwrap().by_kind, ActorKind::System);
}

#[tokio::test]
async fn an_account_may_have_limits_of_its_own() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let limits = Limits::new(dec!(1), dec!(2), false).unwrap();
    assert_eq!(db.store.set_limits(account, Some(limits), &admin(), NOW).await.unwrap(), AccessChange::Made);
    call(&db, account, dec!(3), NOW).await;
    assert_eq!(events(&db, account, "usage.threshold_crossed").await.len(), 2);
    assert_eq!(events(&db, account, "ai.paused").await, [] as [Value; 0], "auto-pause is off");
    assert_eq!(db.store.set_limits(account, None, &admin(), NOW).await.unwrap(), AccessChange::Made);
    assert_eq!(db.store.set_limits(account, None, &admin(), NOW).await.unwrap(), AccessChange::AlreadySo);
    assert_eq!(AiAccess::status(&*db.store, account, NOW).await.unwrap().unwrap().limits.warning_usd, dec!(20));
    let unknown = AccountId(999_999);
    assert_eq!(db.store.pause(unknown, &admin(), "r", NOW).await.unwrap(), AccessChange::UnknownAccount);
    assert_eq!(AiAccess::status(&*db.store, unknown, NOW).await.unwrap(), None);
}

async fn is_paused(db: &Database, account: AccountId) -> bool {
    AiAccess::status(&*db.store, account, NOW).await.unwrap().unwrap().pause.is_some()
}

async fn limit(db: &Database, account: AccountId, warning: Decimal, critical: Decimal, auto_pause: bool) {
    let limits = Limits::new(warning, critical, auto_pause).unwrap();
    assert_eq!(db.store.set_limits(account, Some(limits), &admin(), NOW).await.unwrap(), AccessChange::Made);
}

async fn resume(db: &Database, account: AccountId) {
    assert_eq!(db.store.resume(account, &admin(), None, NOW).await.unwrap(), AccessChange::Made);
}

/// What `usage.threshold_crossed` has told: severities and thresholds.
async fn told(db: &Database, account: AccountId) -> Vec<(String, i64)> {
    let crossed = events(db, account, "usage.threshold_crossed").await;
    let severity = |event: &Value| event["severity"].as_str().unwrap().to_owned();
    crossed.iter().map(|event| (severity(event), event["threshold_usd"].as_i64().unwrap())).collect()
}

#[tokio::test]
async fn a_threshold_that_is_raised_above_the_cost_is_guarded_again() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    limit(&db, account, dec!(3), dec!(4), true).await;
    call(&db, account, dec!(15.8), NOW).await;
    assert!(is_paused(&db, account).await);
    limit(&db, account, dec!(29), dec!(30), true).await;
    assert!(is_paused(&db, account).await, "limits end no pause");
    resume(&db, account).await;
    call(&db, account, dec!(12), NOW).await;
    db.store.guard(NOW).await.unwrap();
    assert!(!is_paused(&db, account).await);
    // From below both thresholds to above them, by one call.
    call(&db, account, dec!(6), NOW).await;
    assert!(is_paused(&db, account).await);
    let crossed = [("warning", 3), ("critical", 4), ("warning", 29), ("critical", 30)];
    let crossed = crossed.map(|(severity, threshold)| (severity.to_owned(), threshold));
    assert_eq!(told(&db, account).await, crossed);
    assert_eq!(events(&db, account, "ai.paused").await.len(), 2);
    assert_eq!(db.store.guard(NOW).await.unwrap(), 0);
    assert_eq!((told(&db, account).await.len(), events(&db, account, "ai.paused").await.len()), (4, 2), "each once");
}

#[tokio::test]
async fn auto_pause_that_is_switched_on_above_the_threshold_pauses() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    limit(&db, account, dec!(3), dec!(4), false).await;
    call(&db, account, dec!(5), NOW).await;
    assert!(!is_paused(&db, account).await);
    limit(&db, account, dec!(3), dec!(4), true).await;
    assert!(is_paused(&db, account).await, "at once");
    assert_eq!(
        events(&db, account, "ai.paused").await,
        [json!({"action": "pause", "reason": "the monthly cost reached the critical threshold", "by": "quota_guard",
            "by_kind": "system", "cost_usd": 5, "threshold_usd": 4, "ts": "2026-03-31T20:00:00Z"})]
    );
    resume(&db, account).await;
    db.store.guard(NOW).await.unwrap();
    call(&db, account, dec!(1), NOW).await;
    assert!(!is_paused(&db, account).await, "who resumed it has seen the cost");
    // The same limits again are no decision about another threshold; off and on is one.
    limit(&db, account, dec!(3), dec!(4), true).await;
    assert!(!is_paused(&db, account).await);
    limit(&db, account, dec!(3), dec!(4), false).await;
    limit(&db, account, dec!(3), dec!(4), true).await;
    assert!(is_paused(&db, account).await);
    assert_eq!(told(&db, account).await.len(), 2, "the cost has crossed nothing since");
}

#[tokio::test]
async fn a_critical_threshold_that_is_lowered_below_the_cost_pauses() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    call(&db, account, dec!(25), NOW).await;
    assert!(!is_paused(&db, account).await);
    limit(&db, account, dec!(5), dec!(24), true).await;
    assert!(is_paused(&db, account).await);
    resume(&db, account).await;
    limit(&db, account, dec!(5), dec!(10), true).await;
    assert!(is_paused(&db, account).await, "another threshold than the one that was resumed at");
    assert_eq!(told(&db, account).await, [("warning".to_owned(), 20), ("critical".to_owned(), 24)]);
    assert_eq!(events(&db, account, "ai.paused").await.len(), 2);
}

#[tokio::test]
async fn calls_at_once_cross_a_threshold_once() {
    let db = fresh().await;
    let [account, sandbox] = accounts(&db).await;
    let mut calls = Vec::new();
    for account in [account, sandbox] {
        let claim = db.store.start(account, price(), NOW).await.unwrap().unwrap();
        for _ in 0..4 {
            calls.push((account, opened(&db, &claim, dec!(1), NOW).await));
        }
    }
    let ended = calls.into_iter().map(|(account, call)| db.store.close_call(account, call, used(dec!(10)), None, NOW));
    assert!(futures_util::future::join_all(ended).await.iter().all(Result::is_ok));
    // What the calls of one account bring about for the other is left to the guard, if the other's had ended by then.
    db.store.guard(NOW).await.unwrap();
    assert_eq!(db.store.guard(NOW).await.unwrap(), 0, "nothing is left");
    for account in [account, sandbox] {
        assert_eq!(shop::rows(&db.sql, account, "severity", "ai_crossings").await, ["(critical)", "(warning)"]);
        assert_eq!(events(&db, account, "usage.threshold_crossed").await.len(), 2, "each threshold once");
    }
}

#[tokio::test]
async fn a_call_that_never_ended_counts_with_the_most_it_can_have_cost() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let claim: RunClaim = db.store.start(account, price(), NOW).await.unwrap().unwrap();
    opened(&db, &claim, dec!(21), NOW).await;
    assert_eq!(db.store.guard(NOW).await.unwrap(), 0, "it is under way");
    assert_eq!(db.store.guard(NOW + Duration::minutes(10)).await.unwrap(), 1);
}

#[tokio::test]
async fn a_pause_and_its_end_are_announced_with_exactly_their_fields_and_audited() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let by = admin();
    for expected in [AccessChange::Made, AccessChange::AlreadySo] {
        assert_eq!(db.store.pause(account, &by, "disputed invoice", NOW).await.unwrap(), expected);
    }
    for expected in [AccessChange::Made, AccessChange::AlreadySo] {
        assert_eq!(db.store.resume(account, &by, None, NOW + Duration::HOUR).await.unwrap(), expected);
    }
    assert_eq!(
        events(&db, account, "ai.paused").await,
        [json!({"action": "pause", "reason": "disputed invoice", "by": "ana", "by_kind": "admin", "cost_usd": null,
            "threshold_usd": null, "ts": "2026-03-31T20:00:00Z"})]
    );
    assert_eq!(
        events(&db, account, "ai.resumed").await,
        [json!({"action": "resume", "reason": null, "by": "ana", "by_kind": "admin", "ts": "2026-03-31T21:00:00Z"})]
    );
    let audit = shop::rows(&db.sql, account, "action, reason, done_by, by_kind", "ai_access_log").await;
    assert_eq!(audit, ["(pause,\"disputed invoice\",ana,admin)", "(resume,,ana,admin)"]);
}

fn draft(fingerprint: &str) -> Draft {
    let told = Told::new(Kind::Reorders).with("items", Figure::Count(3.into()));
    Draft::new(fingerprint, Severity::High, Category::Inventory, told)
}

fn texts(title: &str) -> Wording {
    Wording { title: title.into(), body: "body".into(), suggested_action: "act".into(), impact_estimate: "much".into() }
}

#[tokio::test]
async fn a_models_text_is_kept_for_the_same_facts_and_people_decide() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    let write = async |insights: Vec<Worded>, now: OffsetDateTime| {
        db.store.replace(account, Ending::default(), insights, now).await.unwrap()
    };
    let both = || {
        let worded = |draft, model| Worded { draft, template: texts("title"), model, language: Language::Spanish };
        vec![worded(draft("a"), Some(texts("worded"))), worded(draft("b"), None)]
    };
    write(both(), NOW).await;
    let known = db.store.worded(account, NOW).await.unwrap();
    let is_new = |name| known.is_new(&draft(name), &texts("title"));
    assert_eq!((is_new("a"), is_new("b")), (false, true));
    assert_eq!(known.open["a"].wording.title, "worded");
    assert!(known.is_new(&draft("a"), &texts("of other facts")));
    let over = |name| Draft { is_over: true, ..draft(name) };
    assert!(
        known.is_new(&over("b"), &texts("title")) && !known.is_new(&over("c"), &texts("title")),
        "nobody heard of c"
    );

    let page = PageRequest { limit: 10, cursor: None };
    let list = async || db.store.page(account, Default::default(), page).await.unwrap().found.items;
    let rows = list().await;
    assert_eq!(rows.iter().map(|row| row.source).collect::<Vec<_>>(), [Source::Model, Source::Rules]);
    let (a, b) = (rows[0].id, rows[1].id);
    let decide =
        async |id: InsightId, to: Status, now: OffsetDateTime| db.store.decide(account, id, to, None, now).await;
    assert_eq!(decide(a, Status::Resolved, NOW).await.unwrap().resolved_at, Some(NOW));
    assert!(matches!(decide(a, Status::Dismissed, NOW).await, Err(DecideError::Refused(Status::Resolved))));
    assert_eq!(decide(b, Status::Dismissed, NOW).await.unwrap().status, Status::Dismissed);
    assert!(matches!(decide(InsightId((InsightId(b.0 + 100)).0), Status::Open, NOW).await, Err(DecideError::NotFound)));
    let stranger = db.store.decide(AccountId(account.0 + 1), b, Status::Open, None, NOW).await;
    assert!(matches!(stranger, Err(DecideError::NotFound)));

    write(both(), NOW + Duration::days(6)).await;
    assert_eq!(list().await.len(), 2, "what a person decided on is left alone");
    write(both(), NOW + Duration::days(8)).await;
    let rows = list().await;
    assert_eq!((rows.len(), rows[0].status), (3, Status::Open), "what was resolved and still holds comes back");
    assert!(matches!(decide(InsightId(a.0), Status::Open, NOW + Duration::days(8)).await, Err(DecideError::OtherOpen)));
    write(both(), NOW + Duration::days(15)).await;
    assert_eq!(list().await.len(), 4, "so does what was dismissed, two weeks later");
    write(vec![], NOW + Duration::days(15)).await;
    assert!(list().await.iter().all(|row| row.status != Status::Open));
}

/// The year of a date is written once it is long ago: the facts are the same, and the model may say nothing of it.
#[tokio::test]
async fn what_a_model_says_again_of_another_template_is_asked_for_once() {
    let db = fresh().await;
    let [account, _] = accounts(&db).await;
    for template in ["on 28 December", "on 28 December 2025"] {
        let worded = Worded {
            draft: draft("a"),
            template: texts(template),
            model: Some(texts("worded")),
            language: Language::English,
        };
        db.store.replace(account, Ending::default(), vec![worded], NOW).await.unwrap();
        let known = db.store.worded(account, NOW).await.unwrap();
        assert!(!known.is_new(&draft("a"), &texts(template)), "{template}");
    }
}
