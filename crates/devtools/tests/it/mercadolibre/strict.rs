//! The fake refuses what Mercado Libre refuses.

use domain::shops::ShopError;
use serde_json::json;

use super::shop::{APP_ID, REDIRECT, Shop};

#[tokio::test]
async fn the_authorization_needs_pkce_and_the_registered_address() {
    let shop = Shop::open(31, 10, 10).await;
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let good = [
        ("response_type", "code"),
        ("client_id", APP_ID),
        ("redirect_uri", REDIRECT),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
    ];
    let ask = async |change: Option<(&str, &str)>| {
        let mut url = shop.base.join("/authorization").unwrap();
        for (key, value) in good {
            let value = change.filter(|(name, _)| *name == key).map_or(value, |(_, value)| value);
            url.query_pairs_mut().append_pair(key, value);
        }
        shop.client.get(url).send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask(None).await, 302);
    for change in [
        ("client_id", "1"),
        ("redirect_uri", "https://example.com/connected/"),
        ("code_challenge", ""),
        ("code_challenge_method", "plain"),
    ] {
        assert_eq!(ask(Some(change)).await, 400, "{change:?}");
    }
}

#[tokio::test]
async fn tokens_are_asked_for_by_a_form_in_the_body() {
    let shop = Shop::open(32, 10, 10).await;
    let refresh = shop.grant.tokens.refresh.as_ref().unwrap().expose();
    let form = format!("grant_type=refresh_token&client_id={APP_ID}&client_secret=secret&refresh_token={refresh}");
    let url = shop.base.join("/oauth/token").unwrap();
    let post = |url| shop.client.post(url).header("content-type", "application/x-www-form-urlencoded");
    let mut in_query = url.clone();
    in_query.set_query(Some(&form));
    assert_eq!(post(in_query).send().await.unwrap().status(), 400);
    let as_json = shop.client.post(url.clone()).json(&json!({"grant_type": "refresh_token", "refresh_token": refresh}));
    assert_eq!(as_json.send().await.unwrap().status(), 400);
    assert_eq!(post(url.clone()).body(form.clone()).send().await.unwrap().status(), 200);
    let used: serde_json::Value = post(url).body(form).send().await.unwrap().json().await.unwrap();
    let description =
        "Error validating grant. Your authorization code or refresh token may be expired or it was already used";
    let expected = json!({"error_description": description, "error": "invalid_grant", "status": 400, "cause": []});
    assert_eq!(used, expected);
}

#[tokio::test]
async fn searches_have_the_quirks_of_the_real_ones() {
    let shop = Shop::open(33, 300, 30).await;
    let total = |body: &serde_json::Value| body["paging"]["total"].as_u64().unwrap();
    let seller = &shop.access.shop_id;
    let search = async |rest: &str| shop.get(&format!("/orders/search?seller={seller}{rest}")).await;
    let (_, all) = search("").await;
    let (_, misspelt) = search("&order.last_updated.from=2026-11-24T00:00:00Z").await;
    assert_eq!(total(&all), total(&misspelt), "a filter that is not known is ignored");
    let (_, minutes) = search("&order.date_created.to=2026-11-20T10:59:59Z").await;
    let (_, hour) = search("&order.date_created.to=2026-11-20T10:00:00Z").await;
    assert_eq!(total(&minutes), total(&hour));
    assert_eq!(search("&offset=9950").await.0, 200);
    assert_eq!(search("&offset=9951").await.0, 400);
    assert_eq!(shop.get("/orders/search?seller=1").await.0, 403);
}

#[tokio::test]
async fn multigets_and_scans_have_their_limits() {
    let shop = Shop::open(34, 10, 10).await;
    let many = |count: usize| format!("/items?ids={}", vec!["MLA600000000"; count].join(","));
    assert_eq!(shop.get(&many(20)).await.0, 200);
    assert_eq!(shop.get(&many(21)).await.0, 400);
    let scan = format!("/users/{}/items/search?search_type=scan&limit=10", shop.access.shop_id);
    let (_, page) = shop.get(&scan).await;
    let resume = format!("{scan}&scroll_id={}", page["scroll_id"].as_str().unwrap());
    assert_eq!(shop.get(&format!("{resume}x")).await.0, 400, "another scroll_id");
    let (_, page) = shop.get(&scan).await;
    let resume = format!("{scan}&scroll_id={}", page["scroll_id"].as_str().unwrap());
    shop.advance(time::Duration::minutes(5));
    assert_eq!(shop.get(&resume).await.0, 400, "too late");
    assert_eq!(shop.get(&format!("{scan}&offset=10")).await.0, 400);
}

#[tokio::test]
async fn a_shipment_needs_the_new_format() {
    let shop = Shop::open(35, 10, 10).await;
    let (_, found) = shop.get(&format!("/orders/search?seller={}", shop.access.shop_id)).await;
    let ids = found["results"].as_array().unwrap().iter().filter_map(|order| order["shipping"]["id"].as_u64());
    let id = ids.max().unwrap();
    assert_eq!(shop.get(&format!("/shipments/{id}/costs")).await.0, 400);
}

#[tokio::test]
async fn the_right_of_another_seller_opens_nothing() {
    use domain::shops::ShopReader as _;
    let shop = Shop::open(36, 10, 10).await;
    let other = domain::shops::Access { shop_id: "1".to_owned(), ..shop.access.clone() };
    assert!(matches!(shop.app.shop(&other).await, Err(ShopError::Malformed(_))));
}
