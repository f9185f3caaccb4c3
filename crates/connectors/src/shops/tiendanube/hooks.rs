//! Checks Tiendanube's hooks.

use domain::{
    accounts::Platform,
    shops::hooks::{Hook, HookHeaders, HookRefused, HookVerifier, PrivacyRequest, Topic},
};
use ring::digest;
use serde::{Deserialize, de::IgnoredAny};
use time::OffsetDateTime;

use super::wire::{Field, Number};
use crate::shops::{AppCredentials, signature::Keys};

/// The header of a hook's signature: HMAC-SHA256 of the body as it was sent, with the app's secret, in hexadecimal
/// (<https://tiendanube.github.io/api-documentation/resources/webhook>).
pub const SIGNATURE_HEADER: &str = "x-linkedstore-hmac-sha256";

/// The same event of the same record within this many seconds is taken for a repetition: hooks have neither a number nor a
/// time of their own. Short, since a change that is taken for a repetition waits for the next poll.
const REPETITION: i64 = 10;
const DAY: i64 = 24 * 60 * 60;

/// [`HookVerifier`] of an app.
pub struct TiendanubeHooks(Keys);

impl TiendanubeHooks {
    pub fn new(app: &AppCredentials) -> Self {
        Self(Keys::new(app))
    }
}

#[derive(Deserialize)]
struct Body {
    store_id: Number,
    event: Option<String>,
    #[serde(default)]
    id: Field<Number>,
    customer: Option<Customer>,
    orders_to_redact: Option<Vec<Number>>,
    data_request: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Customer {
    id: Number,
}

impl Body {
    /// Unverified: privacy hooks are documented without `event`, so their form decides, and it is supposed that they are
    /// signed like the others.
    fn privacy(&self) -> Option<(&'static str, PrivacyRequest)> {
        let named = |name: &str| self.event.as_ref().is_none_or(|event| event == name);
        let customer = self.customer.as_ref().map(|customer| customer.id.0.clone());
        match (customer, &self.orders_to_redact, &self.data_request) {
            (Some(customer), Some(orders), None) if named("customers/redact") => {
                let orders = orders.iter().map(|order| order.0.clone()).collect();
                Some(("customers/redact", PrivacyRequest::RedactCustomer { customer, orders }))
            }
            (Some(customer), None, Some(_)) if named("customers/data_request") => {
                Some(("customers/data_request", PrivacyRequest::Data { customer }))
            }
            (None, None, None) if named("store/redact") && self.id == Field::Absent => {
                Some(("store/redact", PrivacyRequest::RedactShop))
            }
            _ => None,
        }
    }

    fn id(&self) -> Option<String> {
        self.id.clone().ok().map(|id| id.0)
    }

    fn topic(&self, event: &str) -> Topic {
        match event {
            "app/uninstalled" => Topic::Uninstalled(None),
            "app/suspended" => Topic::Suspended,
            "app/resumed" => Topic::Resumed,
            event if event.starts_with("order/") => Topic::Order(self.id()),
            event if event.starts_with("product/") || event.starts_with("location/") => Topic::Catalogue,
            _ => Topic::Other,
        }
    }
}

/// The same for equal bodies on a day.
fn digest_of(body: &[u8], now: OffsetDateTime) -> String {
    let day = now.unix_timestamp().div_euclid(DAY);
    format!("{}:{day}", hex::encode(digest::digest(&digest::SHA256, body)))
}

impl HookVerifier for TiendanubeHooks {
    fn platform(&self) -> Platform {
        Platform::Tiendanube
    }

    fn verify(&self, headers: &dyn HookHeaders, body: &[u8], now: OffsetDateTime) -> Result<Hook, HookRefused> {
        let signature = headers.one(SIGNATURE_HEADER).ok_or(HookRefused::Unsigned)?;
        let tag = hex::decode(signature).ok().filter(|tag| tag.len() == 32).ok_or(HookRefused::Unsigned)?;
        if !self.0.accept(body, &tag) {
            return Err(HookRefused::Forged);
        }
        let read: Body = serde_json::from_slice(body).map_err(|_| HookRefused::Unreadable)?;
        let shop_id = read.store_id.0.clone();
        if let Some((name, request)) = read.privacy() {
            return Ok(Hook {
                dedup_key: format!("{shop_id}:{name}:{}", digest_of(body, now)),
                shop_id,
                topic_name: name.to_owned(),
                topic: Topic::Privacy(request),
            });
        }
        let event = read.event.as_deref().filter(|event| is_event(event)).ok_or(HookRefused::Unreadable)?;
        let id = read.id().unwrap_or_default();
        let moment = now.unix_timestamp().div_euclid(REPETITION);
        Ok(Hook {
            dedup_key: format!("{shop_id}:{event}:{id}:{moment}"),
            shop_id,
            topic_name: event.to_owned(),
            topic: read.topic(event),
        })
    }
}

fn is_event(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'/' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use rstest::rstest;
    use secrecy::SecretString;
    use time::{Duration, macros::datetime};

    use super::*;
    use crate::shops::signature;

    const NOW: OffsetDateTime = datetime!(2026-11-24 12:00 UTC);
    const ORDER: &str = r#"{"store_id":123456,"event":"order/created","id":456}"#;
    /// HMAC-SHA256 of [`ORDER`] with `test_secret_key`, as Python's `hmac` gives it.
    const SIGNATURE: &str = "2987643afb6aa359ac3c8e649ac51bf37036361de193e83b8b1cce7888694d21";

    struct Headers(HashMap<&'static str, String>);

    impl HookHeaders for Headers {
        fn one(&self, name: &str) -> Option<&str> {
            self.0.get(name).map(String::as_str)
        }
    }

    fn signed(signature: &str) -> Headers {
        Headers(HashMap::from([(SIGNATURE_HEADER, signature.to_owned())]))
    }

    fn sign(secret: &str, body: &[u8]) -> Headers {
        signed(&hex::encode(signature::sign(&secret.into(), body)))
    }

    fn hooks_with(previous: Option<&str>) -> TiendanubeHooks {
        TiendanubeHooks::new(&AppCredentials {
            client_id: "99".into(),
            client_secret: "test_secret_key".into(),
            previous_secret: previous.map(SecretString::from),
        })
    }

    fn hooks() -> TiendanubeHooks {
        hooks_with(Some("the one before"))
    }

    fn verify(body: &str) -> Result<Hook, HookRefused> {
        hooks().verify(&sign("test_secret_key", body.as_bytes()), body.as_bytes(), NOW)
    }

    #[test]
    fn an_order_hook_is_read() {
        let hook = hooks().verify(&signed(SIGNATURE), ORDER.as_bytes(), NOW).unwrap();
        assert_eq!((hook.shop_id.as_str(), hook.topic_name.as_str()), ("123456", "order/created"));
        assert_eq!(hook.topic, Topic::Order(Some("456".into())));
    }

    #[test]
    fn the_previous_secret_is_still_taken() {
        assert!(hooks().verify(&sign("the one before", ORDER.as_bytes()), ORDER.as_bytes(), NOW).is_ok());
        let refused = hooks_with(None).verify(&sign("the one before", ORDER.as_bytes()), ORDER.as_bytes(), NOW);
        assert_eq!(refused, Err(HookRefused::Forged));
    }

    #[rstest]
    #[case("")]
    #[case("2987")]
    #[case("KYdkOvtqo1msPI5kmsUb83A2Nh3hk+g7ixzOeIhpTSE=")]
    fn a_signature_in_another_form_is_none(#[case] signature: &str) {
        assert_eq!(hooks().verify(&signed(signature), ORDER.as_bytes(), NOW), Err(HookRefused::Unsigned));
        assert_eq!(hooks().verify(&Headers(HashMap::new()), ORDER.as_bytes(), NOW), Err(HookRefused::Unsigned));
    }

    #[rstest]
    #[case(r#"{"store_id":"7","event":"app/uninstalled","id":"99"}"#, Topic::Uninstalled(None))]
    #[case(r#"{"store_id":7,"event":"app/suspended"}"#, Topic::Suspended)]
    #[case(r#"{"store_id":7,"event":"app/resumed","id":99}"#, Topic::Resumed)]
    #[case(r#"{"store_id":7,"event":"product/deleted","id":5}"#, Topic::Catalogue)]
    #[case(r#"{"store_id":7,"event":"order/edited","id":"12"}"#, Topic::Order(Some("12".into())))]
    #[case(r#"{"store_id":7,"event":"order/edited","id":"12/../13"}"#, Topic::Order(None))]
    #[case(r#"{"store_id":7,"event":"theme/updated","old_theme":"a"}"#, Topic::Other)]
    #[case(r#"{"store_id":7}"#, Topic::Privacy(PrivacyRequest::RedactShop))]
    #[case(r#"{"store_id":7,"event":"store/redact"}"#, Topic::Privacy(PrivacyRequest::RedactShop))]
    #[case(
        r#"{"store_id":7,"customer":{"id":1,"email":"a@example.com"},"orders_to_redact":[213,"3415"]}"#,
        Topic::Privacy(PrivacyRequest::RedactCustomer { customer: "1".into(), orders: vec!["213".into(), "3415".into()] })
    )]
    #[case(
        r#"{"store_id":7,"customer":{"id":"1"},"orders_requested":[2],"data_request":{"id":456}}"#,
        Topic::Privacy(PrivacyRequest::Data { customer: "1".into() })
    )]
    fn topics_are_told_apart(#[case] body: &str, #[case] topic: Topic) {
        let hook = verify(body).unwrap();
        assert_eq!((hook.shop_id.as_str(), hook.topic), ("7", topic));
    }

    #[rstest]
    #[case("")]
    #[case("[]")]
    #[case(r#"{"event":"order/paid","id":1}"#)]
    #[case(r#"{"store_id":0,"event":"order/paid","id":1}"#)]
    #[case(r#"{"store_id":"7/8","event":"order/paid","id":1}"#)]
    #[case(r#"{"store_id":7,"event":"Order Paid","id":1}"#)]
    #[case(r#"{"store_id":7,"id":1}"#)]
    #[case(r#"{"store_id":7,"customer":{"id":"x"},"orders_to_redact":[]}"#)]
    fn what_the_platform_does_not_send_is_unreadable(#[case] body: &str) {
        assert_eq!(verify(body), Err(HookRefused::Unreadable));
    }

    #[test]
    fn a_repetition_has_the_same_key_and_a_later_change_another() {
        let at = |body: &str, later| {
            hooks().verify(&sign("test_secret_key", body.as_bytes()), body.as_bytes(), NOW + later).unwrap().dedup_key
        };
        assert_eq!(at(ORDER, Duration::ZERO), at(ORDER, Duration::seconds(9)));
        assert_ne!(at(ORDER, Duration::ZERO), at(ORDER, Duration::seconds(10)));
        let other = r#"{"store_id":123456,"event":"order/created","id":457}"#;
        assert_ne!(at(ORDER, Duration::ZERO), at(other, Duration::ZERO));
        let redact = r#"{"store_id":7,"customer":{"id":1},"orders_to_redact":[1]}"#;
        assert_eq!(at(redact, Duration::ZERO), at(redact, Duration::hours(6)));
        assert_ne!(at(redact, Duration::ZERO), at(redact, Duration::days(1)));
    }

    proptest! {
        #[test]
        fn no_input_passes_unsigned_and_none_panics(body: Vec<u8>, signature in "\\PC{0,70}") {
            let refused = hooks().verify(&signed(&signature), &body, NOW);
            prop_assert!(matches!(refused, Err(HookRefused::Unsigned | HookRefused::Forged)));
        }

        #[test]
        fn a_changed_byte_is_a_forgery(at in 0..ORDER.len(), bit in 0_u8..8) {
            let mut body = ORDER.as_bytes().to_vec();
            body[at] ^= 1 << bit;
            prop_assert_eq!(hooks().verify(&signed(SIGNATURE), &body, NOW), Err(HookRefused::Forged));
        }

        #[test]
        fn a_signed_body_never_panics(body in "\\{\"store_id\":[0-9\"]{0,5}\\PC{0,40}") {
            let _ = verify(&body);
        }
    }
}
