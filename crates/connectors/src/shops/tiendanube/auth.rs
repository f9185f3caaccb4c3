//! Gets the right to act for a store. The callback is not signed and names no store: the state decides whose it is, and
//! the exchange which store.

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    shops::{
        Access, Authorization, AuthorizeError, Callback, CompleteError, Grant, RefreshError, Secret, ShopAuth,
        ShopError, Tokens,
    },
};
use reqwest::{Method, StatusCode};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::json;
use time::OffsetDateTime;

use super::{Tiendanube, client::error_of, join, wire::TokenWire};
use crate::shops::http::send;

/// Characters of a code at most.
const MAX_CODE: usize = 256;
/// What a code is refused with.
const INVALID_GRANT: &str = "invalid_grant";

#[derive(Deserialize)]
struct RefusalWire {
    error: String,
}

#[async_trait]
impl ShopAuth for Tiendanube {
    fn platform(&self) -> Platform {
        Platform::Tiendanube
    }

    /// The store is known only after the exchange.
    fn shop_name(&self, _: Option<&str>) -> Result<Option<String>, AuthorizeError> {
        Ok(None)
    }

    /// Scopes and the address to return to are set where the app is registered.
    fn authorize_url(&self, authorization: &Authorization) -> Result<String, AuthorizeError> {
        let url =
            self.login(authorization.country).and_then(|login| join(login, ["apps", &self.client_id, "authorize"]));
        let mut url = url.map_err(|_| AuthorizeError::UnsupportedCountry)?;
        url.query_pairs_mut().append_pair("state", authorization.state.expose());
        Ok(url.into())
    }

    async fn complete(
        &self,
        callback: &Callback,
        _: &Authorization,
        _: OffsetDateTime,
    ) -> Result<Grant, CompleteError> {
        let code = callback.code(MAX_CODE)?;
        let url = join(self.login(None)?, ["apps", "authorize", "token"])?;
        // In the body: the same in the query is refused.
        let request = self.client.http.request(Method::POST, url).json(&json!({
            "client_id": self.client_id,
            "client_secret": self.client_secret.expose_secret(),
            "grant_type": "authorization_code",
            "code": code,
        }));
        let answer = send(request).await?;
        // Some refusals come with status 200.
        if let Ok(RefusalWire { error }) = serde_json::from_slice(&answer.body)
            && error == INVALID_GRANT
        {
            return Err(CompleteError::Denied("the code is not valid, or no longer".to_owned()));
        }
        if answer.status != StatusCode::OK {
            return Err(error_of(&answer, "").into());
        }
        let TokenWire { access_token, token_type, scope, user_id } = answer.json()?;
        let is_token =
            (1..=512).contains(&access_token.len()) && access_token.bytes().all(|byte| byte.is_ascii_graphic());
        if !token_type.eq_ignore_ascii_case("bearer") || !is_token {
            return Err(ShopError::Malformed("access_token".to_owned()).into());
        }
        let scopes = scope.split([',', ' ']).filter(|scope| !scope.is_empty()).map(str::to_owned).collect();
        let tokens = Tokens {
            access: Secret::new(access_token),
            access_expires_at: None,
            refresh: None,
            refresh_expires_at: None,
            scopes,
        };
        Ok(Grant { shop_id: user_id.0, tokens })
    }

    /// A token lasts until the app is removed or connected again; there is nothing to renew it with.
    async fn refresh(&self, _: &str, _: &Secret, _: OffsetDateTime) -> Result<Tokens, RefreshError> {
        Err(RefreshError::Refused)
    }

    /// The platform has no call for it: owners remove the app in their store.
    async fn revoke(&self, _: &Access) -> Result<(), ShopError> {
        Ok(())
    }
}
