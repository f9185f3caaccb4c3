//! Insights on demand and decisions on them, over HTTP.

use std::sync::Arc;

use api::State;
use app::ai::InsightTextGenerator;
use domain::{
    InsightId,
    ai::{LanguageModel, MockAiRuns, MockLanguageModel, Outcome, RequestError, Run, RunState, Trigger},
    credits::CreditAmount,
    idempotency::Idempotent,
    insights::{
        Category, DecideError, Insight, Kind, MockInsightStore, Severity, Source, Status, Told, Value, Wording,
    },
    jobs::JobName,
    language::Language,
    page::Page,
};
use rstest::rstest;
use rust_decimal::dec;
use serde_json::json;

use crate::support::{ACCOUNT, Answer, BOTH, NOW, READ, Service, bearer, dated, state};

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
        runs.expect_request().times(1).returning(|account, price, key, note, now| {
            assert_eq!((account, price.map(CreditAmount::get), now), (ACCOUNT, Some(5), NOW));
            assert_eq!((key.unwrap().key.as_str(), note), ("k1", None));
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
        runs.expect_request().times(1).returning(|_, price, _, _, _| {
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
        runs.expect_request().returning(move |_, _, _, _, _| Err(error()));
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
        id: InsightId(9),
        severity: Severity::High,
        category: Category::Ads,
        written: Wording {
            title: "t".into(),
            body: "b".into(),
            suggested_action: "a".into(),
            impact_estimate: "i".into(),
        },
        language: Language::English,
        told: None,
        is_told: true,
        at_stake: None,
        weight: None,
        story: None,
        status,
        source: Source::Model,
        computed_at: NOW,
        resolved_at: (status != Status::Open).then_some(NOW),
    }
}

fn patch(target: &str, body: &str) -> Answer {
    let mut insights = MockInsightStore::new();
    insights.expect_decide().returning(|account, id, to, _, now| {
        assert_eq!((account, now), (ACCOUNT, NOW));
        match id {
            InsightId(9) => Ok(insight(to)),
            InsightId(10) => Err(DecideError::Refused(Status::Resolved)),
            InsightId(11) => Err(DecideError::OtherOpen),
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

/// An insight with facts, whose texts a model wrote in Spanish.
fn worded_in_spanish() -> Insight {
    let told = Told::new(Kind::ProfitFell)
        .with("days", Value::Days(30))
        .with("profit", Value::Money(dec!(1900)))
        .with("profit_before", Value::Money(dec!(4370.5)))
        .with("net_revenue", Value::Money(dec!(9000)))
        .with("net_revenue_before", Value::Money(dec!(9100)))
        .with("costs", Value::Money(dec!(7100)))
        .with("costs_before", Value::Money(dec!(4729.5)))
        .with("lost", Value::Money(dec!(2470.5)));
    Insight { told: Some(told), language: Language::Spanish, ..insight(Status::Open) }
}

#[rstest]
#[case::the_accounts("", None, ("en", "rules", "2,470 BRL less profit in 30 days"))]
#[case::the_headers("", Some("pt-BR,pt;q=0.9"), ("pt-BR", "rules", "2.470 BRL a menos de lucro em 30 dias"))]
#[case::the_parameters("?lang=en", Some("pt-BR"), ("en", "rules", "2,470 BRL less profit in 30 days"))]
#[case::the_models("?lang=es", None, ("es", "model", "i"))]
fn texts_are_in_the_language_that_is_asked_for(
    #[case] query: &str,
    #[case] header: Option<&'static str>,
    #[case] (language, source, impact): (&str, &str, &str),
) {
    let mut insights = MockInsightStore::new();
    insights.expect_page().returning(|_, _, _| {
        Ok(dated(JobName::InsightGeneration, Page { items: vec![worded_in_spanish()], next_cursor: None }))
    });
    let service = Service::start(State { insights: Arc::new(insights), ..state() });
    let headers: Vec<_> = header.map(|languages| ("accept-language", languages)).into_iter().collect();
    let answer = service.get_with(&format!("/api/v1/insights{query}"), READ, &headers);
    let body = answer.json();
    let found = &body["data"][0];
    assert_eq!((&found["source"], &found["impact_estimate"]), (&json!(source), &json!(impact)));
    assert_eq!(answer.header("content-language"), Some(language));
    assert!(answer.header("vary").is_some_and(|vary| vary.contains("Accept-Language")), "{answer:?}");
    assert_eq!(
        found["facts"]["figures"][1],
        json!({"name": "profit", "unit": "money", "value": 1900.0}),
        "facts are the same in every language"
    );
}

#[test]
fn a_language_that_there_is_not_is_refused() {
    let answer = Service::start(state()).get("/api/v1/insights?lang=fr", READ);
    assert_eq!(answer.error(), (400, "invalid_parameter".into()));
    assert_eq!(answer.json()["allowed"], json!(["en", "es", "pt-BR"]));
}
