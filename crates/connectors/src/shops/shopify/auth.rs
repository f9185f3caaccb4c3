//! OAuth 2.0 as Shopify speaks it: JSON instead of forms, signed callbacks, tokens that expire and rotate.

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    shops::{
        Access, Authorization, AuthorizeError, Callback, CompleteError, Grant, RefreshError, Secret, ShopAuth,
        ShopError, Tokens,
    },
};
use reqwest::{Method, StatusCode};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use url::{Url, form_urlencoded};

use super::{SCOPES, Shopify, client::Reply, queries};
use crate::shops::{
    http::{Answer, send},
    signature::Keys,
};

/// How far a callback's timestamp may be from our clock.
const SKEW: Duration = Duration::seconds(90);
/// Bytes of a label of a host name (RFC 1035, 2.3.4).
const MAX_LABEL: usize = 63;
const DOMAIN: &str = ".myshopify.com";

/// The host name of a shop in lower case, from that, from its address, or from the address of its admin pages.
pub(super) fn shop_name(given: &str) -> Option<String> {
    let given = given.trim().to_ascii_lowercase();
    let bare = given.strip_prefix("https://").unwrap_or(&given).trim_end_matches('/');
    let name = match bare.strip_prefix("admin.shopify.com/store/") {
        Some(name) => name,
        None => bare.strip_suffix(DOMAIN)?,
    };
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let is_name = starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (is_name && name.len() <= MAX_LABEL).then(|| format!("{name}{DOMAIN}"))
}

/// Whether the callback was signed with the app's secret: all parameters but the signature, sorted, encoded again. A
/// parameter that comes twice is refused, as parsers differ in what they take of it.
fn check(keys: &Keys, callback: &Callback, now: OffsetDateTime) -> Result<(), CompleteError> {
    let mut signed: Vec<(&str, &str)> = callback.0.iter().map(|(key, value)| (key.as_str(), value.expose())).collect();
    signed.sort_unstable();
    if signed.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other)) {
        return Err(CompleteError::Malformed("query"));
    }
    let tag = callback.one("hmac").and_then(|hmac| hex::decode(hmac).ok()).filter(|tag| tag.len() == 32);
    let tag = tag.ok_or(CompleteError::Malformed("hmac"))?;
    signed.retain(|(key, _)| !matches!(*key, "hmac" | "signature"));
    let pair = |(key, value): &(&str, &str)| format!("{}={}", encode(key), encode(value));
    let message = signed.iter().map(pair).collect::<Vec<_>>().join("&");
    if !keys.accept(message.as_bytes(), &tag) {
        return Err(CompleteError::Forged);
    }
    let seconds = callback.one("timestamp").filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let seconds: i64 = seconds.and_then(|text| text.parse().ok()).ok_or(CompleteError::Malformed("timestamp"))?;
    if seconds.abs_diff(now.unix_timestamp()) > SKEW.whole_seconds().unsigned_abs() {
        return Err(CompleteError::Forged);
    }
    Ok(())
}

fn encode(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).map(|part| part.replace('+', "%20")).collect()
}

#[derive(Deserialize)]
struct TokenWire {
    access_token: String,
    scope: String,
    expires_in: Option<i64>,
    refresh_token: Option<String>,
    refresh_token_expires_in: Option<i64>,
}

#[derive(Deserialize)]
struct ErrorWire {
    error: String,
}

impl TokenWire {
    fn read(self, now: OffsetDateTime) -> Result<Tokens, ShopError> {
        let after = |seconds: Option<i64>| seconds.map(|seconds| now.checked_add(Duration::seconds(seconds)));
        let end = |seconds| match after(seconds) {
            Some(None) => Err(ShopError::Malformed("expires_in".to_owned())),
            end => Ok(end.flatten()),
        };
        if self.access_token.is_empty() {
            return Err(ShopError::Malformed("access_token".to_owned()));
        }
        Ok(Tokens {
            access: Secret::new(self.access_token),
            access_expires_at: end(self.expires_in)?,
            refresh: self.refresh_token.map(Secret::new),
            refresh_expires_at: end(self.refresh_token_expires_in)?,
            scopes: self.scope.split(',').map(str::trim).filter(|scope| !scope.is_empty()).map(str::to_owned).collect(),
        })
    }
}

/// The platform's name of the error in a refusal with a 4xx status.
fn refusal(answer: &Answer) -> Result<String, ShopError> {
    if answer.status == StatusCode::TOO_MANY_REQUESTS || !answer.status.is_client_error() {
        return Err(ShopError::Unavailable(format!("it answered {}", answer.status)));
    }
    let name = answer.json::<ErrorWire>().map_or_else(|_| answer.status.to_string(), |wire| wire.error);
    Ok(name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ' ')).take(60).collect())
}

impl Shopify {
    async fn token(&self, shop: &str, what: Value) -> Result<Answer, ShopError> {
        let mut body = what;
        if let Some(body) = body.as_object_mut() {
            body.insert("client_id".to_owned(), json!(self.app.client_id));
            body.insert("client_secret".to_owned(), json!(self.app.client_secret.expose_secret()));
        }
        let url = self.client.url(shop, "oauth/access_token")?;
        send(self.client.http().request(Method::POST, url).header("accept", "application/json").json(&body)).await
    }
}

#[async_trait]
impl ShopAuth for Shopify {
    fn platform(&self) -> Platform {
        Platform::Shopify
    }

    fn shop_name(&self, given: Option<&str>) -> Result<Option<String>, AuthorizeError> {
        let given = given.ok_or(AuthorizeError::ShopRequired)?;
        shop_name(given).map(Some).ok_or(AuthorizeError::InvalidShop)
    }

    fn authorize_url(&self, authorization: &Authorization) -> Result<String, AuthorizeError> {
        let shop = authorization.shop.as_deref().ok_or(AuthorizeError::ShopRequired)?;
        let shop = shop_name(shop).ok_or(AuthorizeError::InvalidShop)?;
        let mut url: Url = self.client.url(&shop, "oauth/authorize").map_err(|_| AuthorizeError::InvalidShop)?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.app.client_id)
            .append_pair("scope", &SCOPES.join(","))
            .append_pair("redirect_uri", &authorization.redirect_uri)
            .append_pair("state", authorization.state.expose());
        Ok(url.into())
    }

    async fn complete(
        &self,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<Grant, CompleteError> {
        check(&self.keys, callback, now)?;
        if let Some(error) = callback.one("error") {
            let name = error.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
            return Err(CompleteError::Denied(name));
        }
        let shop = callback.one("shop").and_then(shop_name).ok_or(CompleteError::Malformed("shop"))?;
        if authorization.shop.as_deref() != Some(&shop) {
            return Err(CompleteError::OtherShop);
        }
        let code = callback.one("code").filter(|code| !code.is_empty()).ok_or(CompleteError::Malformed("code"))?;
        let answer = self.token(&shop, json!({ "code": code, "expiring": "1" })).await?;
        if answer.status != StatusCode::OK {
            return Err(CompleteError::Denied(refusal(&answer)?));
        }
        let tokens = answer.json::<TokenWire>()?.read(now)?;
        Ok(Grant { shop_id: shop, tokens })
    }

    async fn refresh(&self, shop_id: &str, refresh: &Secret, now: OffsetDateTime) -> Result<Tokens, RefreshError> {
        let shop = shop_name(shop_id).ok_or(RefreshError::Unavailable(ShopError::NotFound))?;
        let asked = json!({ "grant_type": "refresh_token", "refresh_token": refresh.expose() });
        let answer = self.token(&shop, asked).await.map_err(RefreshError::Unavailable)?;
        if answer.status == StatusCode::OK {
            let read = answer.json::<TokenWire>().and_then(|wire| wire.read(now));
            return read.map_err(RefreshError::Unavailable);
        }
        match refusal(&answer).map_err(RefreshError::Unavailable)?.as_str() {
            "invalid_grant" => Err(RefreshError::Refused),
            // Ours to put right, such as a wrong secret: the refresh token may well be good.
            other => Err(RefreshError::Unavailable(ShopError::Rejected(other.to_owned()))),
        }
    }

    /// Removes the app from the shop. Unverified: that an app with read scopes alone may do so.
    async fn revoke(&self, access: &Access) -> Result<(), ShopError> {
        let done: Result<Reply<UninstallData>, _> = self.client.run(access, queries::UNINSTALL, json!({})).await;
        match done {
            Ok(Reply { data, .. }) => match data.app_uninstall.and_then(|done| done.user_errors.into_iter().next()) {
                None => Ok(()),
                Some(error) => Err(ShopError::Rejected(error.message.chars().take(200).collect())),
            },
            Err(ShopError::Unauthorized | ShopError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UninstallData {
    app_uninstall: Option<Uninstalled>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Uninstalled {
    user_errors: Vec<MessageWire>,
}

#[derive(Deserialize)]
struct MessageWire {
    message: String,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use secrecy::SecretString;

    use super::*;
    use crate::shops::{AppCredentials, signature::sign};

    fn keys(secret: &str) -> Keys {
        let client_secret = SecretString::from(secret);
        Keys::new(&AppCredentials { client_id: "id".into(), client_secret, previous_secret: None })
    }

    fn callback(query: &str) -> Callback {
        let pairs = form_urlencoded::parse(query.as_bytes());
        Callback(pairs.map(|(key, value)| (key.into_owned(), Secret::new(value.into_owned()))).collect())
    }

    fn at(seconds: i64) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(seconds).unwrap()
    }

    // Published vectors: hexdocs.pm/shopify_oauth and hexdocs.pm/exshopify.
    const WITH_STATE: &str = "code=0907a61c0c8d55e99db179b68161bc00&shop=some-shop.myshopify.com&state=0.6784241404160823&timestamp=1337178173&hmac=700e2dadb827fcc8609e9d5ce208b2e9cdaab9df07390d2cbca10d7c328fc4bf";
    const WITHOUT_STATE: &str = "timestamp=1337178173&code=0907a61c0c8d55e99db179b68161bc00&shop=some-shop.myshopify.com&hmac=4712bf92ffc2917d15a2f5a273e39f0116667419aa4b6ac0b3baaf26fa3c4d20";

    #[rstest]
    #[case(WITH_STATE)]
    #[case(WITHOUT_STATE)]
    fn published_callbacks_are_signed(#[case] query: &str) {
        assert_eq!(check(&keys("hush"), &callback(query), at(1_337_178_173)), Ok(()));
        assert_eq!(check(&keys("Hush"), &callback(query), at(1_337_178_173)), Err(CompleteError::Forged));
        let other = query.replace("some-shop", "any-shop");
        assert_eq!(check(&keys("hush"), &callback(&other), at(1_337_178_173)), Err(CompleteError::Forged));
    }

    #[rstest]
    #[case(-91, Err(CompleteError::Forged))]
    #[case(-90, Ok(()))]
    #[case(90, Ok(()))]
    #[case(91, Err(CompleteError::Forged))]
    fn a_callback_is_good_for_90_seconds(#[case] seconds: i64, #[case] expected: Result<(), CompleteError>) {
        assert_eq!(check(&keys("hush"), &callback(WITH_STATE), at(1_337_178_173 + seconds)), expected);
    }

    #[rstest]
    #[case(&format!("{WITH_STATE}&shop=evil.myshopify.com"), CompleteError::Malformed("query"))]
    #[case(&format!("{WITH_STATE}&hmac=00"), CompleteError::Malformed("query"))]
    #[case("code=1&shop=a.myshopify.com&timestamp=1337178173", CompleteError::Malformed("hmac"))]
    #[case("code=1&hmac=zz", CompleteError::Malformed("hmac"))]
    #[case("hmac=00", CompleteError::Malformed("hmac"))]
    fn a_malformed_callback_is_named(#[case] query: &str, #[case] expected: CompleteError) {
        assert_eq!(check(&keys("hush"), &callback(query), at(1_337_178_173)), Err(expected));
    }

    #[rstest]
    #[case("Some-Shop.myshopify.com", Some("some-shop.myshopify.com"))]
    #[case("https://some-shop.myshopify.com/", Some("some-shop.myshopify.com"))]
    #[case("https://admin.shopify.com/store/some_shop1", Some("some_shop1.myshopify.com"))]
    #[case("some-shop", None)]
    #[case("-shop.myshopify.com", None)]
    #[case("some-shop.myshopify.com.evil.example", None)]
    #[case("evil.example/some-shop.myshopify.com", None)]
    #[case("evil.example#.myshopify.com", None)]
    #[case("a@b.myshopify.com", None)]
    #[case("a.b.myshopify.com", None)]
    #[case(".myshopify.com", None)]
    #[case("", None)]
    #[case(&format!("{}.myshopify.com", "a".repeat(64)), None)]
    fn a_shop_is_named_by_its_host(#[case] given: &str, #[case] expected: Option<&str>) {
        assert_eq!(shop_name(given).as_deref(), expected);
    }

    proptest! {
        /// What was signed with the secret is taken, in whatever order it comes; any other value of one parameter is not.
        #[test]
        fn what_is_signed_is_what_is_taken(
            values in prop::collection::btree_map("[a-z]{1,8}", ".{0,12}", 1..6),
            changed: prop::sample::Index,
            rotation: prop::sample::Index,
        ) {
            let now = at(1_337_178_173);
            let mut values: std::collections::BTreeMap<String, String> = values;
            values.remove("hmac");
            values.remove("signature");
            values.insert("timestamp".into(), now.unix_timestamp().to_string());
            let message = values.iter().map(|(k, v)| format!("{}={}", encode(k), encode(v))).collect::<Vec<_>>().join("&");
            let hmac = hex::encode(sign(&SecretString::from("hush"), message.as_bytes()));
            let mut pairs: Vec<_> = values.into_iter().map(|(k, v)| (k, Secret::new(v))).collect();
            pairs.push(("hmac".into(), Secret::new(hmac)));
            let by = rotation.index(pairs.len());
            pairs.rotate_left(by);
            prop_assert_eq!(check(&keys("hush"), &Callback(pairs.clone()), now), Ok(()));
            let place = changed.index(pairs.len());
            let other = format!("{}0", pairs[place].1.expose());
            pairs[place].1 = Secret::new(other);
            prop_assert!(check(&keys("hush"), &Callback(pairs), now).is_err());
        }

        #[test]
        fn no_query_is_too_strange_to_be_checked(query in ".{0,200}") {
            prop_assert!(check(&keys("hush"), &callback(&query), at(0)).is_err());
        }
    }
}
