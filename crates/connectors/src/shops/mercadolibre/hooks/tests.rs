use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;

const APP: &str = "5503910054141466";

fn body(topic: &str, resource: &str) -> Vec<u8> {
    json!({
        "_id": "f9f08571-1f65-4c46-9e0a-c0f43faas1557e",
        "resource": resource,
        "user_id": 468_424_240,
        "topic": topic,
        "application_id": 5_503_910_054_141_466_i64,
        "attempts": 1,
        "sent": "2019-10-30T16:19:20.129Z",
        "received": "2019-10-30T16:19:20.106Z",
    })
    .to_string()
    .into_bytes()
}

#[rstest]
#[case("orders_v2", "/orders/2195160686", Topic::Order(Some("2195160686".to_owned())))]
#[case("payments", "/payments/91776699099", Topic::Order(None))]
#[case("shipments", "/shipments/40546549876", Topic::Order(None))]
#[case("post_purchase", "/post-purchase/v1/claims/5281510459", Topic::Order(None))]
#[case("claims", "/v1/claims/5281510459", Topic::Order(None))]
#[case("items", "/items/MLA686791111", Topic::Catalogue)]
#[case("items_prices", "/items/MLA686791111", Topic::Catalogue)]
#[case("stock-location", "/user-products/MLAU123456789/stock", Topic::Catalogue)]
#[case("fbm_stock_operations", "/stock/fulfillment/operations/9876", Topic::Catalogue)]
#[case("questions", "/questions/5036111111", Topic::Question)]
#[case("messages", "3f6da1e35ac84f70a24af7360d24c7bc", Topic::Other)]
fn a_topic_says_what_is_to_be_read_again(#[case] name: &str, #[case] resource: &str, #[case] topic: Topic) {
    let hook = read(APP, &body(name, resource)).unwrap();
    assert_eq!((hook.topic, hook.shop_id.as_str(), hook.topic_name.as_str()), (topic, "468424240", name));
}

#[rstest]
#[case("orders_v2", "//evil.example/orders/1")]
#[case("orders_v2", "https://evil.example/orders/1")]
#[case("orders_v2", "/orders/../users/me")]
#[case("orders_v2", "/orders/1?x=1")]
#[case("orders_v2", "/orders/1/")]
#[case("orders_v2", "/orders/")]
#[case("orders_v2", "/orders/123456789012345678901")]
#[case("orders_v2", "/orders/１")]
#[case("orders_v2", "/items/MLA686791111")]
#[case("questions", "/questions/")]
#[case("questions", "/questions/1/answer")]
#[case("items", "/items/mla1")]
#[case("items", "/items/MLA")]
#[case("items", "/items/MLA1234567890123456")]
#[case("claims", "/v12/claims/1")]
#[case("fbm_stock_operations", "/stock//operations")]
#[case("fbm_stock_operations", "//evil.example/x")]
fn a_resource_of_another_form_is_foreign(#[case] topic: &str, #[case] resource: &str) {
    assert_eq!(read(APP, &body(topic, resource)), Err(HookRefused::Foreign));
}

#[test]
fn what_is_for_another_app_is_foreign() {
    assert_eq!(read("1", &body("orders_v2", "/orders/1")), Err(HookRefused::Foreign));
}

#[test]
fn identifiers_may_be_texts() {
    let body = json!({"resource": "/orders/1", "user_id": "7", "topic": "orders_v2", "application_id": APP});
    let hook = read(APP, body.to_string().as_bytes()).unwrap();
    assert_eq!(hook.shop_id, "7");
    let forged = json!({"resource": "/orders/1", "user_id": "7/../8", "topic": "orders_v2", "application_id": APP});
    assert_eq!(read(APP, forged.to_string().as_bytes()), Err(HookRefused::Foreign));
}

#[test]
fn a_repetition_has_the_same_key_and_nothing_else_has() {
    let key = |change: fn(&mut serde_json::Value)| {
        let mut notification: serde_json::Value = serde_json::from_slice(&body("orders_v2", "/orders/1")).unwrap();
        change(&mut notification);
        read(APP, notification.to_string().as_bytes()).unwrap().dedup_key
    };
    let first = key(|_| ());
    assert_eq!(first, key(|again| again["attempts"] = 2.into()));
    assert_ne!(first, key(|other| other["_id"] = "another".into()));
    assert_ne!(first, key(|other| other["resource"] = "/orders/2".into()));
    assert_ne!(first, key(|other| other["user_id"] = 1.into()));
    let without = key(|notification| notification["_id"] = serde_json::Value::Null);
    assert_ne!(without, first);
    assert_eq!(
        without,
        key(|again| {
            again["_id"] = serde_json::Value::Null;
            again["sent"] = "2019-10-30T16:25:00.000Z".into();
        })
    );
}

proptest! {
    #[test]
    fn no_body_makes_it_panic(body: Vec<u8>) {
        let _ = read(APP, &body);
    }

    #[test]
    fn only_digits_come_out_of_a_resource(topic in "[a-z_-]{1,24}|orders_v2|items|payments", resource in ".{0,40}|/orders/.{0,22}|/[a-z0-9/-]{0,30}") {
        if let Ok(hook) = read(APP, &body(&topic, &resource)) {
            prop_assert!(hook.dedup_key.chars().count() <= 20 + 128 + 128 + 64 + 3);
            if let Topic::Order(Some(id)) = hook.topic {
                prop_assert_eq!(resource, format!("/orders/{}", id));
                prop_assert!((1..=20).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit()));
            }
        }
    }
}
