//! Insights on demand and decisions on them, over HTTP.

use std::sync::Arc;

use api::State;
use app::ai::InsightTextGenerator;
use domain::{
    ai::{LanguageModel, MockAiRuns, MockLanguageModel, Outcome, RequestError, Run, RunState, Trigger},
    credits::CreditAmount,
    idempotency::Idempotent,
    insights::{Category, DecideError, Insight, MockInsightStore, Severity, Source, Status},
};
use rstest::rstest;
use serde_json::json;

use crate::support::{ACCOUNT, Answer, BOTH, NOW, READ, Service, bearer, state};

fn service(with_model: bool, set: impl FnOnce(&mut MockAiRuns)) -> Service {
    let mut runs = MockAiRuns::new();
    set(&mut runs);
    // A request does not wait for a model: this one panics when it is asked.
    let silent = || -> Arc<dyn LanguageModel> { Arc::new(MockLanguageModel::new()) };
    let model = with_model.then(silent);
    let text_generator = InsightTextGenerator { runs: Arc::new(runs), model, price: CreditAmount::new(5).unwrap() };
    Service::start(State { text_generator, ..state() })
}

fn job(outcome: Option<Outcome>) -> Run {
    Run {
        id: domain::RunId(52),
        trigger: Trigger::Request,
        state: outcome.map_or(RunState::Queued, Outcome::state),
        outcome,
        reason: None,
        credits: 5,
        refunded: false,
        created_at: NOW,
        finished_at: outcome.map(|_| NOW),
    }
}

#[test]
fn a_job_is_accepted_and_can_be_followed() {
    let service = service(true, |runs| {
        runs.expect_request().times(1).returning(|account, price, key, now| {
            assert_eq!((account, price.map(CreditAmount::get), now), (ACCOUNT, Some(5), NOW));
            assert_eq!(key.unwrap().key, "k1");
            Ok(Idempotent { value: job(None), replayed: true })
        });
        runs.expect_find().returning(|_, id| Ok((id.0 == 52).then(|| job(Some(Outcome::Worded)))));
    });
    let answer = service.post_with("/api/v1/insights/generate", "", &[("Idempotency-Key", "k1")]);
    assert_eq!((answer.status, answer.header("location")), (202, Some("/api/v1/insights/jobs/52")));
    assert_eq!(
        (answer.header("idempotent-replayed"), answer.header("cache-control")),
        (Some("true"), Some("no-store"))
    );
    assert_eq!(
        answer.json(),
        json!({"id": 52, "state": "queued", "outcome": null, "reason": null, "credits": 5, "refunded": false,
            "created_at": "2026-05-02T12:00:30Z", "finished_at": null, "api_version": "v1"})
    );
    let ended = service.get("/api/v1/insights/jobs/52", READ).json();
    assert_eq!((&ended["state"], &ended["outcome"]), (&json!("done"), &json!("worded")));
    for path in ["53", "0", "x"] {
        let answer = service.get(&format!("/api/v1/insights/jobs/{path}"), READ);
        assert_eq!(answer.error(), (404, "not_found".into()), "{path}");
    }
}

#[test]
fn without_a_model_it_is_free() {
    let service = service(false, |runs| {
        runs.expect_request().times(1).returning(|_, price, _, _| {
            assert_eq!(price, None);
            Ok(Idempotent { value: Run { credits: 0, ..job(None) }, replayed: false })
        });
    });
    assert_eq!(service.post("/api/v1/insights/generate", "{}").json()["credits"], 0);
}

#[rstest]
#[case(|| RequestError::Paused, 402, "payment_required")]
#[case(|| RequestError::Insufficient { balance: 4 }, 402, "insufficient_credits")]
fn a_run_that_cannot_be_paid_for_is_refused(
    #[case] error: fn() -> RequestError,
    #[case] status: u16,
    #[case] code: &str,
) {
    let service = service(true, move |runs| {
        runs.expect_request().returning(move |_, _, _, _| Err(error()));
    });
    let answer = service.post("/api/v1/insights/generate", "");
    assert_eq!((answer.error(), answer.header("cache-control")), ((status, code.to_owned()), Some("no-store")));
}

#[test]
fn a_body_is_an_object_or_none() {
    let service = service(true, |_| {});
    assert_eq!(service.post("/api/v1/insights/generate", "[]").error(), (400, "invalid_body".into()));
    assert_eq!(service.post("/api/v1/insights/generate", "{").error(), (400, "invalid_json".into()));
}

fn insight(status: Status) -> Insight {
    Insight {
        id: 9,
        severity: Severity::High,
        category: Category::Ads,
        title: "t".into(),
        body: "b".into(),
        suggested_action: "a".into(),
        impact_estimate: "i".into(),
        status,
        source: Source::Model,
        computed_at: NOW,
        resolved_at: (status != Status::Open).then_some(NOW),
    }
}

fn patch(target: &str, body: &str) -> Answer {
    let mut insights = MockInsightStore::new();
    insights.expect_decide().returning(|account, id, to, now| {
        assert_eq!((account, now), (ACCOUNT, NOW));
        match id {
            9 => Ok(insight(to)),
            10 => Err(DecideError::Refused(Status::Resolved)),
            11 => Err(DecideError::OtherOpen),
            _ => Err(DecideError::NotFound),
        }
    });
    let service = Service::start(State { insights: Arc::new(insights), ..state() });
    let token = bearer(BOTH);
    let headers = [("Authorization", token.as_str()), ("Content-Type", "application/json")];
    service.send("PATCH", &format!("/api/v1/insights/{target}"), &headers, Some(body.as_bytes()))
}

#[rstest]
fn an_insight_is_shown_as_it_is_after_a_decision(#[values("open", "resolved", "dismissed")] status: &str) {
    let answer = patch("9", &json!({ "status": status }).to_string());
    assert_eq!(answer.status, 200);
    let body = answer.json();
    assert_eq!(
        (&body["status"], &body["source"], &body["api_version"]),
        (&json!(status), &json!("model"), &json!("v1"))
    );
    assert_eq!(body["resolved_at"].is_null(), status == "open");
}

#[rstest]
#[case("9", "{}", 400, "missing_parameter")]
#[case("9", r#"{"status":"closed"}"#, 400, "invalid_parameter")]
#[case("9", r#"{"status":1}"#, 400, "invalid_parameter")]
#[case("10", r#"{"status":"dismissed"}"#, 409, "invalid_transition")]
#[case("11", r#"{"status":"open"}"#, 409, "invalid_transition")]
#[case("12", r#"{"status":"open"}"#, 404, "not_found")]
#[case("generate2", r#"{"status":"open"}"#, 404, "not_found")]
fn what_cannot_be_decided_says_why(#[case] id: &str, #[case] body: &str, #[case] status: u16, #[case] code: &str) {
    assert_eq!(patch(id, body).error(), (status, code.to_owned()));
}
