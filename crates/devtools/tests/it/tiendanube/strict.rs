//! The fake refuses what the platform refuses.

use domain::shops::{CompleteError, ShopAuth as _, ShopError, ShopReader as _};
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

use super::shop::{APP, NOW, SECRET, Shop, agree, authorization, install};

#[tokio::test]
async fn a_call_without_its_headers_is_refused() {
    let shop = Shop::open(0).await;
    let token = shop.access.token.expose();
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status().as_u16();
    let named = |request: reqwest::RequestBuilder| request.header("user-agent", "Example (hello@example.com)");
    let store = || shop.request(Method::GET, "store");
    assert_eq!(status(store().header("authentication", format!("bearer {token}"))).await, 400);
    assert_eq!(status(named(store().header("authorization", format!("Bearer {token}")))).await, 401);
    assert_eq!(status(named(store().header("authentication", "bearer other"))).await, 401);
    assert_eq!(status(shop.proper(Method::GET, "store")).await, 200);
    let body = json!({ "event": "order/paid", "url": "https://example.com/hook" }).to_string();
    assert_eq!(status(shop.proper(Method::POST, "webhooks").body(body)).await, 415);
}

#[tokio::test]
async fn a_code_is_good_once_and_for_five_minutes() {
    let shop = Shop::open(0).await;
    let callback = agree(&shop.app, &shop.client).await;
    let begun = authorization();
    let complete = || shop.app.complete(&callback, &begun, NOW);
    assert!(complete().await.is_ok());
    assert!(matches!(complete().await, Err(CompleteError::Denied(_))));
    let late = agree(&shop.app, &shop.client).await;
    shop.advance(Duration::minutes(5));
    let refused = shop.app.complete(&late, &authorization(), NOW).await;
    assert!(matches!(refused, Err(CompleteError::Denied(_))));
}

#[tokio::test]
async fn the_exchange_takes_a_body_only() {
    let shop = Shop::open(0).await;
    let callback = agree(&shop.app, &shop.client).await;
    let code = callback.one("code").unwrap();
    let fields = [("client_id", APP), ("client_secret", SECRET), ("grant_type", "authorization_code"), ("code", code)];
    let mut url = shop.base.join("/apps/authorize/token").unwrap();
    let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let kind = "application/x-www-form-urlencoded";
    let sent = shop.client.post(url.clone()).header("content-type", kind).body(form).send().await.unwrap();
    assert_eq!(sent.status(), 415);
    url.query_pairs_mut().extend_pairs(fields);
    assert_eq!(shop.client.post(url).json(&json!({})).send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn a_second_install_kills_the_first_token() {
    let shop = Shop::open(0).await;
    assert!(shop.app.shop(&shop.access).await.is_ok());
    assert!(install(&shop.app, &shop.client).await.is_ok());
    assert_eq!(shop.app.shop(&shop.access).await, Err(ShopError::Unauthorized));
}

#[tokio::test]
async fn pages_end_with_404_and_are_clamped() {
    let shop = Shop::open(450).await;
    let page = async |path: &str| {
        let answer = shop.proper(Method::GET, path).send().await.unwrap();
        let (status, next) = (answer.status().as_u16(), answer.headers().contains_key("link"));
        let records = answer.json::<Value>().await.unwrap();
        (status, records.as_array().map_or(0, Vec::len), next)
    };
    assert_eq!(page("orders").await, (200, 30, true));
    assert_eq!(page("orders?per_page=1000").await, (200, 200, true));
    assert_eq!(page("orders?per_page=200&page=3").await, (200, 50, false));
    assert_eq!(page("orders?per_page=200&page=4").await, (404, 0, false));
    assert_eq!(page("orders?per_page=0").await, (422, 0, false));
    assert_eq!(page("orders?updated_min=2026-11-24T00:00:00Z").await, (422, 0, false));
    assert_eq!(page("orders?updated_at_min=yesterday").await, (422, 0, false));
}

#[tokio::test]
async fn only_the_fields_that_are_asked_for_come() {
    let shop = Shop::open(40).await;
    let answer = shop.proper(Method::GET, "orders?per_page=1&fields=id,total").send().await.unwrap();
    let records: Value = answer.json().await.unwrap();
    let names: Vec<_> = records[0].as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "total"]);
}

#[tokio::test]
async fn a_full_bucket_says_when_it_is_empty() {
    let shop = Shop::open_with(0, |config| config.bucket.size = 2.0).await;
    // The bucket drains a million times a second: what is left of it is all.
    let answer = shop.proper(Method::GET, "store").send().await.unwrap();
    assert_eq!(answer.headers()["x-rate-limit-limit"], "2");
    let slow =
        Shop::open_with(0, |config| config.bucket = devtools::shops::tiendanube::Bucket { size: 2.0, drain: 0.5 })
            .await;
    let mut refused = None;
    for _ in 0..3 {
        let answer = slow.proper(Method::GET, "store").send().await.unwrap();
        if answer.status() == 429 {
            refused = Some(answer.headers()["x-rate-limit-reset"].to_str().unwrap().parse::<u64>().unwrap());
        }
    }
    assert!(refused.is_some_and(|reset| (2_000..=4_000).contains(&reset)), "milliseconds: {refused:?}");
}
