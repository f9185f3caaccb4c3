//! Alert rules: what they see, when they fire, and that they fire once.

use domain::{
    AccountId, RuleId, StoreError,
    alerts::{
        AlertEvaluator, AlertStore, Change, ChangeError, ClaimedRule, Comparator, CreateError, Evaluation,
        KEEP_FIRINGS, MAX_RULES, Terms, UncheckedTerms, evaluate,
    },
    daily::DailyStore,
    idempotency::{IdempotencyError, IdempotencyKey},
    insights::Severity,
    page::PageRequest,
    webhooks::log::Tally,
};
use futures_util::TryStreamExt;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use store::{PoolOptions, Retention};
use time::{
    Duration, OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh},
    shop::{self, Order},
};

/// 09:00 on 3 March in São Paulo.
const NOW: OffsetDateTime = datetime!(2026-03-03 12:00 UTC);
const INTERVAL: Duration = Duration::minutes(5);

fn terms(metric: &str, comparator: Comparator, threshold: Decimal, window_hours: i64) -> Terms {
    Terms::new(UncheckedTerms {
        name: format!("watch {metric}"),
        metric: metric.parse().unwrap(),
        comparator,
        threshold,
        window_hours,
        severity: Severity::High,
        cooldown_hours: 0,
    })
    .unwrap()
}

async fn add(db: &Database, account: AccountId, terms: Terms) -> RuleId {
    db.store.create(account, terms, true, None, None, NOW).await.unwrap().value.id
}

async fn take(db: &Database, account: AccountId, now: OffsetDateTime) -> Option<ClaimedRule> {
    db.store.take(account, now, INTERVAL).await.unwrap()
}

async fn evaluation(db: &Database, account: AccountId, claimed: &ClaimedRule, now: OffsetDateTime) -> Evaluation {
    let found = domain::accounts::AccountStore::find(&*db.store, account).await.unwrap().unwrap();
    let facts = db.store.facts(account, claimed.rule.terms.window(&found.timezone, now)).await.unwrap();
    evaluate(&claimed.rule, &facts, found.currency, now)
}

/// Evaluates the one rule of the account.
async fn see(db: &Database, account: AccountId, now: OffsetDateTime) -> (Option<Decimal>, bool) {
    let claimed = take(db, account, now).await.unwrap();
    let evaluation = evaluation(db, account, &claimed, now).await;
    let seen = (evaluation.observed, evaluation.fired.is_some());
    assert!(db.store.settle(account, &claimed, evaluation, now).await.unwrap());
    seen
}

async fn events(db: &Database, account: AccountId) -> Vec<Value> {
    let rows = db.sql.query("SELECT body FROM events WHERE account_id = $1 ORDER BY id", &[&account.0]).await.unwrap();
    rows.iter().map(|row| serde_json::from_slice(row.get(0)).unwrap()).collect()
}

async fn order(db: &Database, account: AccountId, id: &str, at: OffsetDateTime, price: &str) {
    let day = "America/Sao_Paulo".parse::<domain::zone::Zone>().unwrap().day_of(at);
    shop::order(&db.sql, account, Order::new(id, at, &[(None, 1, price)]), day).await;
}

#[tokio::test]
async fn a_crossing_fires_once_with_exactly_its_fields_and_again_after_recovery() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "America/Sao_Paulo").await;
    let id = add(&db, account, terms("revenue", Comparator::Gte, dec!(100), 2)).await;
    assert_eq!(see(&db, account, NOW).await, (None, false), "no order ever: nothing to tell");
    order(&db, account, "a", NOW - Duration::hours(3), "500").await;
    let at = |minutes: i64| NOW + Duration::minutes(minutes);
    assert_eq!(see(&db, account, at(5)).await, (Some(dec!(0)), false));
    order(&db, account, "b", at(6), "60.50").await;
    order(&db, account, "c", at(7), "39.505").await;
    order(&db, account, "future", at(600), "1000").await;
    assert_eq!(see(&db, account, at(10)).await, (Some(dec!(100)), true), "100.005 is shown and compared as 100.00");
    assert_eq!(see(&db, account, at(15)).await, (Some(dec!(100)), false));
    assert_eq!(see(&db, account, at(126)).await, (Some(dec!(39.5)), false), "an order of two hours ago is out");
    order(&db, account, "d", at(127), "70").await;
    assert_eq!(see(&db, account, at(131)).await, (Some(dec!(70)), false));
    order(&db, account, "e", at(132), "30").await;
    assert_eq!(see(&db, account, at(136)).await, (Some(dec!(100)), true));

    let sent = events(&db, account).await;
    assert_eq!(sent.len(), 2);
    assert_eq!(
        sent[0],
        json!({"event": "alert.fired", "data": {
            "rule_id": id, "rule_name": "watch revenue", "severity": "high", "metric": "revenue", "observed": 100,
            "threshold": 100, "comparator": "gte", "window_hours": 2,
        }})
    );
    let page = |cursor| PageRequest { limit: 1, cursor };
    let newest = db.store.firings(account, id, page(None)).await.unwrap().unwrap();
    let older = db.store.firings(account, id, page(newest.next_cursor)).await.unwrap().unwrap();
    let fired = [&newest.items[0], &older.items[0]].map(|firing| (firing.fired_at, firing.observed, firing.threshold));
    assert_eq!(fired, [(at(136), dec!(100), dec!(100)), (at(10), dec!(100), dec!(100))]);
    assert_eq!(older.next_cursor, None);
    let all: Vec<_> = db.store.all_firings(account, id, None).await.unwrap().unwrap().try_collect().await.unwrap();
    assert_eq!(all, [newest.items, older.items].concat());
    assert!(db.store.all_firings(account, RuleId(id.0 + 1), None).await.unwrap().is_none());
    let rule = db.store.find(account, id).await.unwrap().unwrap();
    assert_eq!((rule.state.armed, rule.state.last_value), (false, Some(dec!(100))));
    assert_eq!((rule.state.last_fired_at, rule.last_evaluated_at), (Some(at(136)), Some(at(136))));
}

#[tokio::test]
async fn a_rule_is_due_once_an_interval_and_one_worker_takes_it() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let other = shop::account(&db.sql, "UTC").await;
    order(&db, account, "a", NOW - Duration::minutes(1), "1").await;
    add(&db, account, terms("orders", Comparator::Gt, dec!(0), 1)).await;
    assert_eq!(db.store.due(NOW, 10).await.unwrap(), [account]);
    let asked = futures_util::future::join_all((0..8).map(|_| take(&db, account, NOW))).await;
    let claimed: Vec<ClaimedRule> = asked.into_iter().flatten().collect();
    assert_eq!(claimed.len(), 1);
    assert_eq!(db.store.due(NOW + Duration::minutes(4), 10).await.unwrap(), []);
    assert_eq!(take(&db, other, NOW).await, None);
    let first = evaluation(&db, account, &claimed[0], NOW).await;
    assert!(first.fired.is_some());

    // An evaluation so slow that the rule was due again writes nothing.
    let again = take(&db, account, NOW + INTERVAL).await.unwrap();
    assert!(!db.store.settle(account, &claimed[0], first.clone(), NOW).await.unwrap());
    assert_eq!(events(&db, account).await.len(), 0);
    assert!(db.store.settle(account, &again, first.clone(), NOW).await.unwrap());
    assert_eq!((events(&db, account).await.len(), events(&db, other).await.len()), (1, 0));
    let off = Change { active: Some(false), ..Change::default() };
    db.store.change(account, again.rule.id, off, None, NOW).await.unwrap();
    assert!(!db.store.settle(account, &again, first, NOW).await.unwrap(), "switched off in the meantime");
}

#[tokio::test]
async fn rules_that_are_due_soon_go_along_with_one_that_is_due() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    for minutes in [0, 2, 3] {
        let (rule, at) = (terms("orders", Comparator::Gt, dec!(0), 1), NOW + Duration::minutes(minutes));
        db.store.create(account, rule, true, None, None, at).await.unwrap();
    }
    let taken = [take(&db, account, NOW).await, take(&db, account, NOW).await, take(&db, account, NOW).await];
    let due_again = Some(NOW + INTERVAL);
    assert_eq!(taken.map(|claimed| claimed.map(|claimed| claimed.due_at)), [due_again, due_again, None]);
}

#[tokio::test]
async fn facts_take_no_longer_than_a_request() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let limit = std::time::Duration::from_millis(50);
    let store = db.store_with(PoolOptions { statement_timeout: limit, ..testkit::patient() });
    db.sql.batch_execute("BEGIN; LOCK TABLE track_events IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let window = terms("event:x", Comparator::Gt, dec!(0), 168).window(&"UTC".parse().unwrap(), NOW);
    let asked = tokio::time::timeout(std::time::Duration::from_mins(1), store.facts(account, window));
    assert!(matches!(asked.await, Ok(Err(StoreError::Overloaded(_)))));
}

#[tokio::test]
async fn days_are_the_full_ones_of_the_accounts_zone() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "America/Sao_Paulo").await;
    let zone = "America/Sao_Paulo".parse().unwrap();
    // 2 March there ends at 03:00 UTC on the 3rd.
    order(&db, account, "in", datetime!(2026-03-03 02:59 UTC), "200").await;
    order(&db, account, "today", datetime!(2026-03-03 03:00 UTC), "1000").await;
    order(&db, account, "before", datetime!(2026-03-02 02:59 UTC), "400").await;
    db.store.roll_up(account, &zone, NOW).await.unwrap();
    for (metric, hours, expected) in [
        // 200 − 3 % − 0.30 − 4 postage; lines without a product cost nothing
        ("profit", 24, Some(dec!(189.7))),
        ("margin", 24, Some(dec!(94.85))),
        ("profit", 48, Some(dec!(573.4))),
        ("ad_spend", 24, None),
        ("roas", 24, None),
    ] {
        let id = add(&db, account, terms(metric, Comparator::Lt, dec!(-1), hours)).await;
        assert_eq!(see(&db, account, NOW).await, (expected, false), "{metric} over {hours} hours");
        db.store.delete(account, id, None, NOW).await.unwrap();
    }
    db.sql.execute("INSERT INTO ad_spend VALUES ($1, '2026-03-02', 'meta', 'c', 50)", &[&account.0]).await.unwrap();
    shop::touch(&db.sql, account, date!(2026 - 03 - 02)).await;
    db.store.roll_up(account, &zone, NOW).await.unwrap();
    for (metric, expected) in [("ad_spend", dec!(50)), ("roas", dec!(4)), ("profit", dec!(139.7))] {
        let id = add(&db, account, terms(metric, Comparator::Lt, dec!(-1), 24)).await;
        assert_eq!(see(&db, account, NOW).await, (Some(expected), false), "{metric}");
        db.store.delete(account, id, None, NOW).await.unwrap();
    }
    let id = add(&db, account, terms("roas", Comparator::Lt, dec!(5), 24)).await;
    let late = NOW + Duration::days(1);
    assert_eq!(see(&db, account, late).await, (None, false), "the spend of the 3rd has not come in");
    assert!(db.store.find(account, id).await.unwrap().unwrap().state.armed);
}

#[tokio::test]
async fn before_the_first_order_visits_are_no_profit_and_what_is_paid_is_a_loss() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let zone = "UTC".parse().unwrap();
    let visit = "INSERT INTO track_events (account_id, name, props, visitor_id, occurred_at, received_at)
        VALUES ($1, 'a', '{}', 'v', $2, $2)";
    db.sql.execute(visit, &[&account.0, &(NOW - Duration::DAY)]).await.unwrap();
    db.store.roll_up(account, &zone, NOW).await.unwrap();
    add(&db, account, terms("profit", Comparator::Lt, dec!(100), 24)).await;
    assert_eq!(shop::rows(&db.sql, account, "visitors", "daily_metrics").await, ["(1)"]);
    assert_eq!(see(&db, account, NOW).await, (None, false));
    let expense = "INSERT INTO expenses (account_id, day, category, description, occurrence, amount)
        VALUES ($1, '2026-03-02', 'rent', '', 1, 50)";
    db.sql.execute(expense, &[&account.0]).await.unwrap();
    shop::touch(&db.sql, account, date!(2026 - 03 - 02)).await;
    db.store.roll_up(account, &zone, NOW).await.unwrap();
    assert_eq!(see(&db, account, NOW + INTERVAL).await, (Some(dec!(-50)), true));
    assert_eq!(see(&db, account, NOW + Duration::DAY).await, (None, false), "of a day without anything");
}

#[tokio::test]
async fn a_day_that_was_read_and_had_no_ads_has_no_spend() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    db.sql.execute("INSERT INTO ad_spend VALUES ($1, '2026-03-01', 'meta', 'c', 50)", &[&account.0]).await.unwrap();
    add(&db, account, terms("ad_spend", Comparator::Lt, dec!(10), 24)).await;
    assert_eq!(see(&db, account, NOW).await, (None, false), "2 March was not read");
    db.sql.execute("INSERT INTO ad_coverage VALUES ($1, 1, '2026-03-02')", &[&account.0]).await.unwrap();
    assert_eq!(see(&db, account, NOW + INTERVAL).await, (Some(dec!(0)), true));
    assert_eq!(see(&db, account, NOW + Duration::DAY).await, (None, false), "3 March was not");
}

#[tokio::test]
async fn counts_are_of_the_accounts_own_rows() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    for (owner, name, at) in [
        (account, "sign_up", NOW - Duration::minutes(59)),
        (account, "sign_up", NOW - Duration::minutes(60)),
        (account, "other", NOW - Duration::minutes(1)),
        (other, "sign_up", NOW - Duration::minutes(1)),
    ] {
        let text = "INSERT INTO track_events (account_id, name, props, occurred_at, received_at) VALUES ($1, $2, '{}', $3, $3)";
        db.sql.execute(text, &[&owner.0, &name, &at]).await.unwrap();
    }
    for (number, (stock, sold)) in [(0i64, 3i64), (0, 0), (-1, 1), (5, 9)].into_iter().enumerate() {
        let product = shop::product(&db.sql, account, &format!("p{number}"), None).await;
        let text =
            "INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
            units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, computed_at)
        VALUES ($1, $2, 'p', 'p', $3, $4, 0, 0, 0, 'stable', 'critical', now())";
        db.sql.execute(text, &[&account.0, &product, &stock, &sold]).await.unwrap();
    }
    order(&db, account, "o1", NOW - Duration::hours(1), "10").await;
    order(&db, account, "o2", NOW - Duration::minutes(30), "20").await;
    order(&db, account, "o3", NOW - Duration::minutes(20), "25").await;
    shop::refund(&db.sql, account, "r", None, NOW - Duration::minutes(5), (None, 2, "7.50"), date!(2026 - 03 - 03))
        .await;
    for (metric, hours, expected) in [
        ("event:sign_up", 1, dec!(1)),
        ("event:never", 1, dec!(0)),
        ("stockouts", 24, dec!(2)),
        ("orders", 1, dec!(2)),
        ("aov", 1, dec!(22.5)),
        ("refunds", 1, dec!(15)),
    ] {
        let id = add(&db, account, terms(metric, Comparator::Lt, dec!(-1), hours)).await;
        assert_eq!(see(&db, account, NOW).await, (Some(expected), false), "{metric}");
        db.store.delete(account, id, None, NOW).await.unwrap();
    }
    for (metric, hours) in [("stockouts", 24), ("aov", 1), ("refunds", 1)] {
        let id = add(&db, other, terms(metric, Comparator::Gte, dec!(0), hours)).await;
        assert_eq!(see(&db, other, NOW).await, (None, false), "{metric}");
        db.store.delete(other, id, None, NOW).await.unwrap();
    }
}

#[tokio::test]
async fn a_rule_that_watches_something_else_starts_over() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    order(&db, account, "a", NOW - Duration::minutes(1), "10").await;
    let id = add(&db, account, terms("orders", Comparator::Gte, dec!(1), 24)).await;
    assert!(see(&db, account, NOW).await.1);
    let change = async |change: Change| db.store.change(account, id, change, None, NOW).await;
    let renamed = change(Change { name: Some("new".into()), ..Change::default() }).await.unwrap();
    assert!(!renamed.state.armed);
    let off = change(Change { active: Some(false), ..Change::default() }).await.unwrap();
    assert_eq!((off.active, off.state.armed), (false, false));
    assert_eq!(db.store.due(NOW + INTERVAL, 10).await.unwrap(), []);
    let on = change(Change { active: Some(true), ..Change::default() }).await.unwrap();
    assert_eq!((on.active, on.state.armed, on.state.last_value), (true, true, None));
    assert_eq!(on.state.last_fired_at, Some(NOW));
    let refused =
        change(Change { metric: Some("profit".parse().unwrap()), window_hours: Some(1), ..Change::default() });
    assert!(matches!(refused.await, Err(ChangeError::Invalid(_))));
    assert!(matches!(
        db.store.change(AccountId(account.0 + 1), id, Change::default(), None, NOW).await,
        Err(ChangeError::NotFound)
    ));
}

#[tokio::test]
async fn a_key_gives_the_same_rule_and_the_limit_holds_for_requests_at_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let rule = || terms("orders", Comparator::Gte, dec!(1), 24);
    let key =
        |hash: u8| Some(IdempotencyKey { path: "/api/v1/alerts".into(), key: "k".into(), request_hash: [hash; 32] });
    let first = db.store.create(account, rule(), true, key(1), None, NOW).await.unwrap();
    let again = db.store.create(account, rule(), true, key(1), None, NOW).await.unwrap();
    assert_eq!((first.replayed, again.replayed, first.value == again.value), (false, true, true));
    // Whatever was changed since, it is the first answer that is given again.
    let change = Change { name: Some("another".into()), active: Some(false), ..Change::default() };
    db.store.change(account, first.value.id, change, None, NOW + Duration::minutes(5)).await.unwrap();
    let again = db.store.create(account, rule(), true, key(1), None, NOW + Duration::minutes(6)).await.unwrap();
    assert_eq!((again.replayed, &again.value), (true, &first.value));
    let reused = db.store.create(account, rule(), true, key(2), None, NOW).await;
    assert!(matches!(reused, Err(CreateError::Idempotency(IdempotencyError::Reused))));

    for _ in 2..MAX_RULES {
        add(&db, account, rule()).await;
    }
    let asked =
        futures_util::future::join_all((0..3).map(|_| db.store.create(account, rule(), true, None, None, NOW))).await;
    let made = asked.iter().filter(|made| made.is_ok()).count();
    assert_eq!(made, 1);
    assert!(asked.iter().any(|made| matches!(made, Err(CreateError::LimitReached))));
    let page = db.store.page(account, PageRequest { limit: 2, cursor: None }).await.unwrap();
    assert!(page.items[0].id > page.items[1].id && page.next_cursor == Some(page.items[1].id.0));
    assert!(db.store.delete(account, first.value.id, None, NOW).await.unwrap());
    assert!(!db.store.delete(account, first.value.id, None, NOW).await.unwrap());
    let superseded = db.store.create(account, rule(), true, key(1), None, NOW).await;
    assert!(matches!(superseded, Err(CreateError::Idempotency(IdempotencyError::Superseded))), "{superseded:?}");
    let rules = "SELECT count(*) FROM alert_rules WHERE account_id = $1";
    let kept: i64 = db.sql.query_one(rules, &[&account.0]).await.unwrap().get(0);
    assert_eq!(kept, MAX_RULES - 1, "nothing is made again");
}

#[tokio::test]
async fn a_firing_knows_what_became_of_its_event_and_goes_with_its_rule() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    for _ in 0..4 {
        let subscribe = "INSERT INTO webhook_subscriptions (account_id, url, events, sealed_secret, created_at)
            VALUES ($1, 'https://example.com/hook', '{alert.fired}', 'x', now())";
        db.sql.execute(subscribe, &[&account.0]).await.unwrap();
    }
    let id = add(&db, account, terms("orders", Comparator::Gte, dec!(1), 24)).await;
    order(&db, account, "a", NOW - Duration::hours(1), "5").await;
    assert_eq!(see(&db, account, NOW).await, (Some(dec!(1)), true));
    let states = "UPDATE deliveries SET state = (ARRAY['delivered', 'failed', 'held', 'canceled'])[n] FROM (
            SELECT id AS of, row_number() OVER (ORDER BY subscription_id) AS n FROM deliveries) AS numbered
        WHERE id = of";
    db.sql.batch_execute(states).await.unwrap();
    let page = PageRequest { limit: 9, cursor: None };
    let firings = db.store.firings(account, id, page).await.unwrap().unwrap().items;
    let tallies: Vec<_> = firings.iter().map(|firing| firing.deliveries).collect();
    assert_eq!(tallies, [Tally { delivered: 1, failed: 1, waiting: 1 }]);
    assert_eq!(db.store.firings(other, id, page).await.unwrap(), None);

    db.store.delete(account, id, None, NOW).await.unwrap();
    assert_eq!(db.store.firings(account, id, page).await.unwrap(), None);
    let left: i64 = db.sql.query_one("SELECT count(*) FROM alert_firings", &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_firing_is_forgotten_after_a_year() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let id = add(&db, account, terms("orders", Comparator::Gte, dec!(1), 24)).await;
    order(&db, account, "a", NOW - Duration::hours(1), "5").await;
    assert_eq!(see(&db, account, NOW).await, (Some(dec!(1)), true));
    let page = PageRequest { limit: 9, cursor: None };
    let kept = async || db.store.firings(account, id, page).await.unwrap().unwrap().items.len();
    let keep = Retention { track_months: 25, delivery_months: 25 };
    db.store.maintain_at(NOW + KEEP_FIRINGS, keep).await.unwrap();
    assert_eq!(kept().await, 1);
    db.store.maintain_at(NOW + KEEP_FIRINGS + Duration::SECOND, keep).await.unwrap();
    assert_eq!(kept().await, 0);
}
