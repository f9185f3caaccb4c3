//! Deciding on reorder suggestions.

use std::sync::Arc;

use api::State;
use domain::{
    InventoryItemId, StoreError, SuggestionId,
    reorder::{ChangeError, MockReorderStore, Status, Suggestion},
};
use rstest::rstest;
use rust_decimal::dec;
use serde_json::json;

use crate::support::{ACCOUNT, Answer, BOTH, NOW, READ, Service, bearer, state};

/// A store that answers every change with `answer` of the status asked for.
fn service(answer: fn(Status) -> Result<Suggestion, ChangeError>) -> Service {
    let mut reorder = MockReorderStore::new();
    reorder.expect_change().returning(move |account, id, to, _, _| {
        assert_eq!((account, id), (ACCOUNT, SuggestionId(9)));
        answer(to)
    });
    Service::start(State { reorder: Arc::new(reorder), ..state() })
}

#[expect(clippy::unnecessary_wraps, reason = "it is what a store gives")]
fn changed(to: Status) -> Result<Suggestion, ChangeError> {
    Ok(Suggestion {
        id: SuggestionId(9),
        inventory_item_id: InventoryItemId(55),
        sku: "MUG".into(),
        product_name: Some("Blue mug".into()),
        qty_suggested: 240,
        reason: "r".into(),
        confidence: dec!(0.9),
        forecast_days: 44,
        basis: None,
        computed_at: NOW,
        status: to,
    })
}

fn patch(service: Service, target: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
    let token = bearer(BOTH);
    let all = [&[("Authorization", token.as_str()), ("Content-Type", "application/json")], headers].concat();
    service.send("PATCH", target, &all, Some(body.as_bytes()))
}

#[rstest]
fn a_suggestion_is_shown_as_it_is_after_the_change(#[values("pending", "ordered", "dismissed")] status: &str) {
    let body = json!({ "status": status, "note": "by phone" }).to_string();
    let answer = patch(service(changed), "/api/v1/reorder/9", &body, &[]);
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-store")));
    assert_eq!(
        answer.json(),
        json!({
            "id": 9, "inventory_item_id": 55, "sku": "MUG", "product_name": "Blue mug", "qty_suggested": 240, "reason": "r", "confidence": 0.9,
            "forecast_days": 44, "order_by": null, "computed_at": "2026-05-02T12:00:30Z", "status": status, "recommended": true,
            "basis": null, "api_version": "v1",
            "warnings": [{"code": "unknown_field", "param": "note"}]
        })
    );
}

#[rstest]
#[case(|_| Err(ChangeError::NotFound), 404, "not_found")]
#[case(|_| Err(ChangeError::Refused(Status::Ordered)), 409, "invalid_transition")]
#[case(|_| Err(ChangeError::OtherPending), 409, "invalid_transition")]
#[case(|_| Err(ChangeError::Store(StoreError::Unavailable("x".into()))), 503, "no_db")]
fn what_cannot_be_changed_says_why(
    #[case] answer: fn(Status) -> Result<Suggestion, ChangeError>,
    #[case] status: u16,
    #[case] code: &str,
) {
    let answer = patch(service(answer), "/api/v1/reorder/9", r#"{"status":"dismissed"}"#, &[]);
    assert_eq!(answer.error(), (status, code.to_owned()));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

#[rstest]
#[case("/api/v1/reorder/9", "{}", "missing_parameter", Some("status"))]
#[case("/api/v1/reorder/9", r#"{"status":null}"#, "missing_parameter", Some("status"))]
#[case("/api/v1/reorder/9", r#"{"status":"open"}"#, "invalid_parameter", Some("status"))]
#[case("/api/v1/reorder/9", r#"{"status":1}"#, "invalid_parameter", Some("status"))]
#[case("/api/v1/reorder/9", r#"{"status":"ordered","status":"pending"}"#, "invalid_body", Some("status"))]
#[case("/api/v1/reorder/9", "[]", "invalid_body", None)]
#[case("/api/v1/reorder/9", "", "invalid_json", None)]
fn what_is_not_a_decision_is_refused(
    #[case] target: &str,
    #[case] body: &str,
    #[case] code: &str,
    #[case] param: Option<&str>,
) {
    let answer = patch(service(changed), target, body, &[]);
    assert_eq!((answer.error(), answer.json()["param"].as_str()), ((400, code.to_owned()), param));
}

#[rstest]
fn what_is_no_number_is_the_number_of_no_suggestion(#[values("nine", "0", "9223372036854775808", "9%00")] id: &str) {
    let answer = patch(service(changed), &format!("/api/v1/reorder/{id}"), r#"{"status":"ordered"}"#, &[]);
    assert_eq!(answer.error(), (404, "not_found".to_owned()));
}

#[test]
fn strict_handling_refuses_unknown_fields() {
    let body = r#"{"status":"ordered","note":"x"}"#;
    let answer = patch(service(changed), "/api/v1/reorder/9", body, &[("Prefer", "handling=strict")]);
    assert_eq!((answer.error(), &answer.json()["param"]), ((400, "invalid_body".into()), &json!("note")));
}

#[test]
fn the_path_of_a_suggestion_takes_nothing_but_changes() {
    let service = service(changed);
    let read = service.get("/api/v1/reorder/9", BOTH);
    assert_eq!(read.error(), (405, "method_not_allowed".into()));
    assert_eq!(read.header("allow"), Some("PATCH, OPTIONS"));
    assert_eq!(service.get("/api/v1/reorder/9/lines", BOTH).error(), (404, "not_found".into()));
    let lacking = service.send("PATCH", "/api/v1/reorder/9", &[("Authorization", &bearer(READ))], Some(b"{}"));
    assert_eq!(lacking.error(), (403, "scope_required:write".into()));
}
