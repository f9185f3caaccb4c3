//! Alert rules over HTTP.

use std::sync::Arc;

use api::State;
use domain::{
    FiringId, RuleId,
    alerts::{ChangeError, Comparator, CreateError, Firing, MockAlertStore, Rule, RuleState, Terms, UncheckedTerms},
    idempotency::Idempotent,
    insights::Severity,
    page::{Page, PageRequest},
    webhooks::log::Tally,
};
use futures_util::{StreamExt, stream};
use mockall::predicate::eq;
use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};

use crate::support::{ACCOUNT, BOTH, NOW, READ, Service, bearer, state};

fn rule(terms: Terms, active: bool) -> Rule {
    Rule {
        id: RuleId(7),
        terms,
        active,
        state: RuleState { armed: false, last_value: Some(dec!(12.50)), last_fired_at: Some(NOW) },
        last_evaluated_at: Some(NOW),
        created_at: NOW,
        updated_at: NOW,
    }
}

fn terms() -> Terms {
    Terms::new(UncheckedTerms {
        name: "Few orders".into(),
        metric: "orders".parse().unwrap(),
        comparator: Comparator::Lt,
        threshold: dec!(5),
        window_hours: 24,
        severity: Severity::High,
        cooldown_hours: 2,
    })
    .unwrap()
}

fn service(set: impl FnOnce(&mut MockAlertStore)) -> Service {
    let mut alerts = MockAlertStore::new();
    set(&mut alerts);
    Service::start(State { alerts: Arc::new(alerts), ..state() })
}

fn wanted() -> Value {
    json!({"name": "Few orders", "metric": "orders", "comparator": "lt", "threshold": 5, "window_hours": 24})
}

fn with(field: &str, value: Value) -> String {
    let mut body = wanted();
    body[field] = value;
    body.to_string()
}

#[test]
fn a_rule_is_created_with_what_was_sent_and_the_defaults() {
    let service = service(|alerts| {
        alerts.expect_create().times(1).returning(|account, terms, active, key, _, now| {
            assert_eq!((account, active, now, key.unwrap().path.as_str()), (ACCOUNT, true, NOW, "/api/v1/alerts"));
            assert_eq!((terms.severity(), terms.cooldown_hours()), (Severity::Medium, 1));
            Ok(Idempotent { value: rule(terms, active), replayed: true })
        });
    });
    let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "k1")];
    let answer = service.post_with("/api/v1/alerts", &with("threshold", json!(5.25)), &headers);
    assert_eq!((answer.status, answer.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!(
        answer.json(),
        json!({
            "id": 7, "name": "Few orders", "metric": "orders", "comparator": "lt", "threshold": 5.25,
            "window_hours": 24, "severity": "medium", "cooldown_hours": 1, "active": true, "armed": false,
            "last_value": 12.5, "last_evaluated_at": "2026-05-02T12:00:30Z", "last_fired_at": "2026-05-02T12:00:30Z",
            "created_at": "2026-05-02T12:00:30Z", "updated_at": "2026-05-02T12:00:30Z", "api_version": "v1"
        })
    );
}

#[rstest]
#[case("name", json!(null), "missing_parameter")]
#[case("name", json!(""), "invalid_parameter")]
#[case("name", json!("a\u{0}b"), "invalid_parameter")]
#[case("name", json!("x".repeat(121)), "invalid_parameter")]
#[case("name", json!(7), "invalid_parameter")]
#[case("metric", json!("Revenue"), "invalid_parameter")]
#[case("metric", json!("event:"), "invalid_parameter")]
#[case("metric", json!("event:x y"), "invalid_parameter")]
#[case("comparator", json!(">"), "invalid_parameter")]
#[case("threshold", json!("5"), "invalid_parameter")]
#[case("threshold", json!(1e12), "invalid_parameter")]
#[case("threshold", json!(0.000_000_1), "invalid_parameter")]
#[case("window_hours", json!(0), "invalid_parameter")]
#[case("window_hours", json!(-24), "invalid_parameter")]
#[case("window_hours", json!(1.5), "invalid_parameter")]
#[case("window_hours", json!(2161), "invalid_parameter")]
#[case("severity", json!("urgent"), "invalid_parameter")]
#[case("cooldown_hours", json!(-1), "invalid_parameter")]
#[case("cooldown_hours", json!(721), "invalid_parameter")]
#[case("active", json!("yes"), "invalid_parameter")]
fn a_rule_that_cannot_be_is_refused_by_field(#[case] field: &str, #[case] value: Value, #[case] code: &str) {
    let answer = service(|_| {}).post("/api/v1/alerts", &with(field, value));
    assert_eq!(answer.error(), (400, code.to_owned()));
    assert_eq!(answer.json()["param"], field);
}

#[test]
fn a_window_finer_than_the_data_is_refused_and_told_why() {
    let body = json!({"name": "n", "metric": "profit", "comparator": "lt", "threshold": 0, "window_hours": 6});
    let answer = service(|_| {}).post("/api/v1/alerts", &body.to_string());
    assert_eq!((answer.status, &answer.json()["param"]), (400, &json!("window_hours")));
    assert!(answer.json()["message"].as_str().unwrap().contains("multiple of 24"), "{}", answer.text());
}

#[test]
fn the_limit_is_a_conflict() {
    let service = service(|alerts| {
        alerts.expect_create().returning(|_, _, _, _, _, _| Err(CreateError::LimitReached));
    });
    assert_eq!(service.post("/api/v1/alerts", &wanted().to_string()).error(), (409, "alert_limit_reached".into()));
}

#[test]
fn rules_are_listed_shown_changed_and_deleted() {
    let service = service(|alerts| {
        alerts.expect_page().returning(|_, page| {
            assert_eq!((page.limit, page.cursor), (100, Some(9)));
            Ok(Page { items: vec![rule(terms(), true)], next_cursor: Some(7) })
        });
        alerts.expect_find().returning(|_, id| Ok((id == RuleId(7)).then(|| rule(terms(), true))));
        alerts.expect_change().returning(|account, id, change, _, _| match id {
            RuleId(7) => Ok(rule(change.apply(&terms()).map_err(ChangeError::Invalid)?, account == ACCOUNT)),
            _ => Err(ChangeError::NotFound),
        });
        alerts.expect_delete().returning(|_, id, _, _| Ok(id == RuleId(7)));
    });
    let list = service.get("/api/v1/alerts?limit=500&cursor=9", READ).json();
    assert_eq!((&list["data"][0]["id"], &list["pagination"]["next_cursor"]), (&json!(7), &json!(7)));
    assert_eq!(list["warnings"][0]["code"], "limit_clamped");
    assert_eq!(service.get("/api/v1/alerts/7", READ).json()["name"], "Few orders");
    let token = bearer(BOTH);
    let send = |method: &str, id: &str, body: Option<&str>| {
        let headers = [("Authorization", token.as_str()), ("Content-Type", "application/json")];
        service.send(method, &format!("/api/v1/alerts/{id}"), &headers, body.map(str::as_bytes))
    };
    let changed = send("PATCH", "7", Some(r#"{"threshold":3,"colour":"red"}"#)).json();
    assert_eq!((&changed["threshold"], &changed["window_hours"]), (&json!(3), &json!(24)));
    assert_eq!(changed["warnings"], json!([{"code": "unknown_field", "param": "colour"}]));
    let refused = send("PATCH", "7", Some(r#"{"metric":"stockouts","window_hours":1}"#));
    assert_eq!(
        (refused.error(), &refused.json()["param"]),
        ((400, "invalid_parameter".into()), &json!("window_hours"))
    );
    assert_eq!(send("DELETE", "7", None).json(), json!({"ok": true, "api_version": "v1"}));
    for (method, body) in [("GET", None), ("PATCH", Some("{}")), ("DELETE", None)] {
        for id in ["8", "0", "x", "99999999999999999999"] {
            assert_eq!(send(method, id, body).error(), (404, "not_found".into()), "{method} {id}");
        }
    }
}

#[test]
fn the_times_that_a_rule_fired_are_listed_with_what_became_of_them() {
    let firing = Firing {
        id: FiringId(4),
        fired_at: NOW,
        observed: dec!(3.50),
        threshold: dec!(5),
        deliveries: Tally { delivered: 1, failed: 2, waiting: 3 },
    };
    let service = service(|alerts| {
        let page = PageRequest { limit: 2, cursor: Some(5) };
        alerts
            .expect_firings()
            .with(eq(ACCOUNT), eq(RuleId(7)), eq(page))
            .return_once(move |_, _, _| Ok(Some(Page { items: vec![firing], next_cursor: Some(4) })));
        alerts.expect_firings().returning(|_, _, _| Ok(None));
    });
    let body = service.get("/api/v1/alerts/7/firings?limit=2&cursor=5", READ).json();
    let expected = json!({
        "id": 4, "fired_at": "2026-05-02T12:00:30Z", "observed": 3.5, "threshold": 5,
        "deliveries": {"delivered": 1, "failed": 2, "waiting": 3}
    });
    assert_eq!((&body["data"], &body["pagination"]["next_cursor"]), (&json!([expected]), &json!(4)));
    for unknown in ["8", "x"] {
        assert_eq!(service.get(&format!("/api/v1/alerts/{unknown}/firings"), READ).status, 404);
    }
}

#[test]
fn the_times_that_a_rule_fired_come_as_a_file_whole_or_by_page() {
    let firing = |id| Firing {
        id: FiringId(id),
        fired_at: NOW,
        observed: dec!(3.50),
        threshold: dec!(5),
        deliveries: Tally { delivered: 1, failed: 2, waiting: 3 },
    };
    let service = service(|alerts| {
        alerts
            .expect_all_firings()
            .with(eq(ACCOUNT), eq(RuleId(7)), eq(Some(5)))
            .return_once(move |_, _, _| Ok(Some(stream::iter([4, 3].map(firing).map(Ok)).boxed())));
        alerts.expect_all_firings().returning(|_, _, _| Ok(None));
        let page = PageRequest { limit: 1, cursor: None };
        alerts
            .expect_firings()
            .with(eq(ACCOUNT), eq(RuleId(7)), eq(page))
            .return_once(move |_, _, _| Ok(Some(Page { items: vec![firing(4)], next_cursor: Some(4) })));
    });
    let whole = service.get("/api/v1/alerts/7/firings?format=csv&cursor=5", READ);
    assert_eq!(whole.header("content-disposition"), Some("attachment; filename=\"alert-firings-2026-05-02.csv\""));
    let head = "id,fired_at,observed,threshold,delivered,failed,waiting\r\n";
    let row = |id| format!("{id},2026-05-02T12:00:30Z,3.5,5,1,2,3\r\n");
    assert_eq!(whole.text(), format!("{head}{}{}", row(4), row(3)));
    let page = service.get("/api/v1/alerts/7/firings?format=csv&limit=1", READ);
    assert_eq!((page.header("x-next-cursor"), page.text()), (Some("4"), format!("{head}{}", row(4))));
    assert_eq!(service.get("/api/v1/alerts/8/firings?format=csv", READ).status, 404);
}
