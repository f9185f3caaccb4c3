use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};

use super::*;

#[test]
fn the_catalogue_ends_before_the_events_that_are_asked_for_by_name() {
    assert_eq!(EventKind::ALL.len(), 19);
    assert_eq!(EventKind::catalogue().last(), Some(&EventKind::SocialAutoReplySent));
    assert!(!EventKind::CreditConsumed.is_catalogued());
}

/// Name and fields of each catalogued event, in the order in which they are documented.
#[rstest]
#[case("purchase.created", "invoice_id amount currency customer_email")]
#[case("credits.low", "balance threshold last_feature crossed")]
#[case("credits.depleted", "balance last_feature last_amount")]
#[case("credits.recharged", "credits_added new_balance rebill_payment source")]
#[case("alert.fired", "rule_id rule_name severity metric observed threshold comparator window_hours")]
#[case("anomaly.detected", "metric observed expected z_score direction severity source story_id")]
#[case("usage.threshold_crossed", "month severity cost_usd tokens requests threshold_usd ts")]
#[case("ai.paused", "action reason by by_kind cost_usd threshold_usd ts")]
#[case("ai.resumed", "action reason by by_kind ts")]
#[case("integration.connected", "provider shop")]
#[case("integration.revoked", "provider store_id reason")]
#[case("subscription.activated", "provider plan_key interval")]
#[case(
    "social.auto_reply_sent",
    "comment_id reply_id message username category template_id is_vip replied_at \
     channel conversation_id template_version language recovered"
)]
fn a_catalogued_event_has_the_documented_fields_and_no_others(#[case] name: &str, #[case] fields: &str) {
    let kind: EventKind = name.parse().unwrap();
    let body: Value = serde_json::from_slice(&Event::sample(kind).body().unwrap()).unwrap();
    assert_eq!(body["event"], name);
    let mut sent: Vec<_> = body["data"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut documented: Vec<_> = fields.split(' ').collect();
    sent.sort_unstable();
    documented.sort_unstable();
    assert_eq!(sent, documented);
    assert_eq!(body.as_object().unwrap().len(), 2);
}

#[test]
fn the_body_is_the_name_and_the_payload_in_this_order() {
    let event = Event::from(CreditsLow { balance: 99, threshold: 100, last_feature: "chat".to_owned(), crossed: true });
    let expected =
        br#"{"event":"credits.low","data":{"balance":99,"threshold":100,"last_feature":"chat","crossed":true}}"#;
    assert_eq!(event.body().unwrap(), expected);
}

#[test]
fn money_keeps_its_digits_measures_have_four_and_instants_are_whole_seconds() {
    let event = Event::from(PurchaseCreated {
        invoice_id: None,
        amount: Amount(dec!(12345678901234.10)),
        currency: "USD".to_owned(),
        customer_email: Some("a@example.com".to_owned()),
    });
    let body = String::from_utf8(event.body().unwrap()).unwrap();
    assert!(body.contains(r#""invoice_id":null,"amount":12345678901234.10,"#), "{body}");
    let measured = [Measured(2_974.178_04), Measured(-0.115_26)];
    assert_eq!(serde_json::to_value(measured).unwrap(), json!([2974.178, -0.1153]));
    let at = Instant(time::macros::datetime!(2026-05-01 23:59:59.999 -3));
    assert_eq!(serde_json::to_value(at).unwrap(), json!("2026-05-02T02:59:59Z"));
}

/// The little of JSON Schema that the schemas use.
fn conforms(value: &Value, schema: &Value) -> bool {
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    let kind_fits = kinds.iter().any(|kind| match kind.as_str().unwrap() {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        "object" => value.is_object(),
        other => panic!("unexpected type {other}"),
    });
    let listed = schema.get("enum").is_none_or(|values| values.as_array().unwrap().contains(value));
    let constant = schema.get("const").is_none_or(|only| only == value);
    let inside = schema.get("properties").is_none_or(|properties| {
        let properties = properties.as_object().unwrap();
        value.as_object().unwrap().len() == properties.len()
            && properties.iter().all(|(name, schema)| conforms(&value[name], schema))
    });
    kind_fits && listed && constant && inside
}

#[test]
fn every_sample_conforms_to_its_schema() {
    for kind in EventKind::ALL {
        let body: Value = serde_json::from_slice(&Event::sample(*kind).body().unwrap()).unwrap();
        let schema = kind.body_schema();
        assert!(conforms(&body, &schema), "{kind}: {body} against {schema}");
        assert!(schema["properties"]["data"]["description"].as_str().unwrap().ends_with('.'), "{kind}");
    }
}

#[test]
fn a_schema_lists_the_values_of_enumerations_and_says_what_may_be_null() {
    let schema = EventKind::AlertFired.data_schema();
    assert_eq!(schema["properties"]["severity"]["enum"], json!(["low", "medium", "high", "critical"]));
    assert_eq!(EventKind::AiResumed.data_schema()["properties"]["reason"]["type"], "null");
    assert_eq!(EventKind::AiPaused.data_schema()["properties"]["cost_usd"]["type"], json!(["number", "null"]));
}
