use std::sync::LazyLock;

use proptest::prelude::*;
use rstest::rstest;
use secrecy::SecretString;
use time::macros::datetime;

use super::*;
use crate::shops::{AppCredentials, shopify::ShopifyConfig, signature::sign};

struct Headers(Vec<(&'static str, String)>);

impl HookHeaders for Headers {
    fn one(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(known, _)| *known == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }
}

static SHOPIFY: LazyLock<Shopify> = LazyLock::new(|| {
    rustls::crypto::ring::default_provider().install_default().ok();
    let app = AppCredentials {
        client_id: "id".to_owned(),
        client_secret: SecretString::from("test_secret_key"),
        previous_secret: Some(SecretString::from("previous_secret")),
    };
    Shopify::new(ShopifyConfig { app, base_url: None }).unwrap()
});

fn headers(topic: &str, signature: String) -> Headers {
    Headers(vec![
        ("x-shopify-hmac-sha256", signature),
        ("x-shopify-shop-domain", "a.myshopify.com".to_owned()),
        ("x-shopify-topic", topic.to_owned()),
        ("x-shopify-event-id", "event-1".to_owned()),
        ("x-shopify-webhook-id", "delivery-1".to_owned()),
    ])
}

fn signed(secret: &str, topic: &str, body: &str) -> Headers {
    headers(topic, STANDARD.encode(sign(&SecretString::from(secret), body.as_bytes())))
}

fn verify(headers: &Headers, body: &str) -> Result<Hook, HookRefused> {
    SHOPIFY.verify(headers, body.as_bytes(), datetime!(2026-11-24 06:00 UTC))
}

#[test]
fn the_published_signature_is_taken() {
    let signature = "B23tXN681gZ0qIWNRrgtzBE9XSDo5yaUu6wfmhu3a7g=".to_owned();
    let hook = verify(&headers("carts/update", signature.clone()), r#"{"foo": "bar"}"#).unwrap();
    assert_eq!((hook.topic, hook.dedup_key.as_str()), (Topic::Other, "delivery-1"));
    assert_eq!(verify(&headers("carts/update", signature), r#"{"foo":"bar"}"#), Err(HookRefused::Forged));
}

#[test]
fn the_previous_secret_is_good_while_it_is_changed() {
    assert!(verify(&signed("previous_secret", "orders/updated", r#"{"id":1}"#), r#"{"id":1}"#).is_ok());
    assert_eq!(
        verify(&signed("older_secret", "orders/updated", r#"{"id":1}"#), r#"{"id":1}"#),
        Err(HookRefused::Forged)
    );
}

#[rstest]
#[case("orders/updated", r#"{"id":820982911946154508}"#, Topic::Order(Some("820982911946154508".into())))]
#[case("orders/delete", r#"{"id":"7"}"#, Topic::Order(Some("7".into())))]
#[case("orders/edited", r#"{"order_edit":{"id":1,"order_id":7}}"#, Topic::Order(Some("7".into())))]
#[case("refunds/create", r#"{"id":1,"order_id":7}"#, Topic::Order(Some("7".into())))]
#[case("returns/approve", r#"{"id":1}"#, Topic::Order(None))]
#[case("inventory_levels/update", r#"{"inventory_item_id":1,"available":3}"#, Topic::Catalogue)]
#[case("app/scopes_update", "{}", Topic::ScopesChanged)]
#[case("app/uninstalled", r#"{"id":1,"myshopify_domain":"a.myshopify.com"}"#, Topic::Uninstalled(None))]
#[case(
    "customers/redact",
    r#"{"shop_id":1,"shop_domain":"a.myshopify.com","customer":{"id":9},"orders_to_redact":[7,8]}"#,
    Topic::Privacy(PrivacyRequest::RedactCustomer { customer: "9".into(), orders: vec!["7".into(), "8".into()] })
)]
#[case(
    "customers/data_request",
    r#"{"shop_id":1,"shop_domain":"a.myshopify.com","customer":{"id":9},"data_request":{"id":1}}"#,
    Topic::Privacy(PrivacyRequest::Data { customer: "9".into() })
)]
#[case("shop/redact", r#"{"shop_id":1,"shop_domain":"a.myshopify.com"}"#, Topic::Privacy(PrivacyRequest::RedactShop))]
fn a_topic_is_read(#[case] name: &str, #[case] body: &str, #[case] expected: Topic) {
    let hook = verify(&signed("test_secret_key", name, body), body).unwrap();
    assert_eq!((hook.shop_id.as_str(), hook.topic_name.as_str(), hook.topic), ("a.myshopify.com", name, expected));
}

#[rstest]
#[case("2026-11-24T05:58:03.123456789Z", Some(TriggeredAt(datetime!(2026-11-24 05:58:03.123456789 UTC))))]
#[case("yesterday", None)]
fn an_app_that_was_removed_says_when(#[case] header: &str, #[case] expected: Option<TriggeredAt>) {
    let body = r#"{"id":1,"myshopify_domain":"a.myshopify.com"}"#;
    let mut headers = signed("test_secret_key", "app/uninstalled", body);
    headers.0.push(("x-shopify-triggered-at", header.to_owned()));
    assert_eq!(verify(&headers, body).unwrap().topic, Topic::Uninstalled(expected));
}

#[test]
fn what_one_act_leads_to_is_told_apart_by_delivery() {
    let told = |delivery: &str, customer: u64| {
        let body = format!(
            r#"{{"shop_id":1,"shop_domain":"a.myshopify.com","customer":{{"id":{customer}}},"orders_to_redact":[]}}"#
        );
        let mut headers = signed("test_secret_key", "customers/redact", &body);
        headers.0.retain(|(name, _)| *name != "x-shopify-webhook-id");
        headers.0.push(("x-shopify-webhook-id", delivery.to_owned()));
        verify(&headers, &body).unwrap().dedup_key
    };
    assert_ne!(told("delivery-1", 9), told("delivery-2", 10));
    assert_eq!(told("delivery-1", 9), told("delivery-1", 9), "tried again");
}

/// The body of one hook with the topic or the shop of another.
#[rstest]
#[case("app/uninstalled", r#"{"id":7}"#)]
#[case("app/uninstalled", r#"{"myshopify_domain":"b.myshopify.com"}"#)]
#[case("shop/redact", r#"{"shop_id":1,"shop_domain":"b.myshopify.com"}"#)]
#[case("shop/redact", r#"{"shop_id":1,"shop_domain":"a.myshopify.com","customer":{"id":9},"data_request":{"id":1}}"#)]
#[case(
    "customers/redact",
    r#"{"shop_id":1,"shop_domain":"a.myshopify.com","customer":{"id":9},"data_request":{"id":1}}"#
)]
fn a_replayed_body_has_no_effect_under_another_topic_or_shop(#[case] name: &str, #[case] body: &str) {
    assert_eq!(verify(&signed("test_secret_key", name, body), body), Err(HookRefused::Unreadable));
}

#[test]
fn a_hook_without_one_signature_is_unsigned() {
    let body = r#"{"id":1}"#;
    let mut twice = signed("test_secret_key", "orders/updated", body);
    let signature = twice.0[0].clone();
    twice.0.push(signature);
    assert_eq!(verify(&twice, body), Err(HookRefused::Unsigned));
    assert_eq!(verify(&Headers(vec![]), body), Err(HookRefused::Unsigned));
    let hex = hex::encode(sign(&SecretString::from("test_secret_key"), body.as_bytes()));
    assert_eq!(verify(&headers("orders/updated", hex), body), Err(HookRefused::Unsigned));
}

proptest! {
    #[test]
    fn nothing_but_what_was_signed_is_taken(body in prop::collection::vec(any::<u8>(), 0..200), at: prop::sample::Index, bit in 0_u8..8) {
        let now = datetime!(2026-11-24 06:00 UTC);
        let signature = STANDARD.encode(sign(&SecretString::from("test_secret_key"), &body));
        let headers = headers("orders/updated", signature);
        prop_assert_ne!(SHOPIFY.verify(&headers, &body, now), Err(HookRefused::Forged));
        if !body.is_empty() {
            let mut other = body.clone();
            other[at.index(body.len())] ^= 1 << bit;
            prop_assert_eq!(SHOPIFY.verify(&headers, &other, now), Err(HookRefused::Forged));
        }
    }

    #[test]
    fn no_header_is_too_strange(signature in ".{0,60}", topic in ".{0,40}", body in ".{0,60}") {
        let mut headers = headers(&topic, signature);
        prop_assert!(verify(&headers, &body).is_err());
        headers.0[0].1 = STANDARD.encode(sign(&SecretString::from("test_secret_key"), body.as_bytes()));
        let _: Result<Hook, HookRefused> = verify(&headers, &body);
    }
}
