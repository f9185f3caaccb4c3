//! OAuth: the authorization code grant with PKCE (RFC 7636), and refresh tokens that work once.

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    accounts::Platform,
    shops::{
        Access, Authorization, AuthorizeError, Callback, CompleteError, Grant, RefreshError, Secret, ShopAuth,
        ShopError, Tokens,
    },
};
use ring::digest;
use secrecy::ExposeSecret;
use time::{Duration, OffsetDateTime};
use url::Url;

use super::{
    Mercadolibre,
    api::code_of,
    site::Site,
    wire::{ErrorBody, TokenBody},
};

/// How long a refresh token lives that is not used.
const REFRESH_LIFETIME: Duration = Duration::days(180);
/// Characters of a code.
const MAX_CODE: usize = 512;

/// The S256 challenge of a code verifier (RFC 7636, 4.2).
fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()))
}

/// What the endpoint of tokens said.
enum Exchange {
    Tokens(Box<TokenBody>),
    /// A refusal, by its code.
    Refused(String),
}

impl Mercadolibre {
    /// Never tried twice: the code or refresh token may be used up although no answer came.
    async fn exchange(&self, form: &[(&str, &str)]) -> Result<Exchange, ShopError> {
        let secret = self.app.client_secret.expose_secret();
        let credentials = [("client_id", self.app.client_id.as_str()), ("client_secret", secret)];
        let form: Vec<_> = form.iter().chain(&credentials).copied().collect();
        let answer = self.api.token(&form).await?;
        match answer.status.as_u16() {
            200 => Ok(Exchange::Tokens(answer.json()?)),
            400..=499 if answer.status.as_u16() != 429 => {
                let body: ErrorBody =
                    answer.json().map_err(|_| ShopError::Unavailable("no refusal of OAuth".into()))?;
                Ok(Exchange::Refused(code_of(&body)))
            }
            status => Err(ShopError::Unavailable(format!("tokens were answered with {status}"))),
        }
    }
}

fn tokens(body: TokenBody, now: OffsetDateTime) -> Tokens {
    Tokens {
        access: Secret::new(body.access_token),
        access_expires_at: Some(now + Duration::seconds(body.expires_in.0.clamp(0, 365 * 86_400))),
        refresh_expires_at: body.refresh_token.is_some().then_some(now + REFRESH_LIFETIME),
        refresh: body.refresh_token.map(Secret::new),
        scopes: body.scope.unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
    }
}

#[async_trait]
impl ShopAuth for Mercadolibre {
    fn platform(&self) -> Platform {
        Platform::Mercadolibre
    }

    /// Which seller it is, Mercado Libre says itself.
    fn shop_name(&self, _: Option<&str>) -> Result<Option<String>, AuthorizeError> {
        Ok(None)
    }

    fn authorize_url(&self, authorization: &Authorization) -> Result<String, AuthorizeError> {
        let site = authorization.country.and_then(Site::in_country).ok_or(AuthorizeError::UnsupportedCountry)?;
        let mut url = match &self.authorize_url {
            Some(url) => url.clone(),
            None => Url::parse(&site.authorize_url()).map_err(|_| AuthorizeError::UnsupportedCountry)?,
        };
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.app.client_id)
            .append_pair("redirect_uri", &authorization.redirect_uri)
            .append_pair("state", authorization.state.expose())
            .append_pair("code_challenge", &challenge(authorization.verifier.expose()))
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    async fn complete(
        &self,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<Grant, CompleteError> {
        if let Some(error) = callback.one("error") {
            let body = ErrorBody { error: Some(error.to_owned()), ..ErrorBody::default() };
            return Err(CompleteError::Denied(code_of(&body)));
        }
        let code = callback.code(MAX_CODE)?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &authorization.redirect_uri),
            ("code_verifier", authorization.verifier.expose()),
        ];
        match self.exchange(&form).await? {
            Exchange::Tokens(body) => Ok(Grant { shop_id: body.user_id.0.clone(), tokens: tokens(*body, now) }),
            Exchange::Refused(code) => Err(CompleteError::Denied(code)),
        }
    }

    /// Works once for each refresh token. Unverified: whether a refresh token can be used again when the answer was lost;
    /// it is tried, and `invalid_grant` alone ends the connection.
    async fn refresh(&self, shop_id: &str, refresh: &Secret, now: OffsetDateTime) -> Result<Tokens, RefreshError> {
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
        match self.exchange(&form).await.map_err(RefreshError::Unavailable)? {
            Exchange::Tokens(body) if body.user_id.0 == shop_id => Ok(tokens(*body, now)),
            Exchange::Tokens(_) => {
                Err(RefreshError::Unavailable(ShopError::Malformed("user_id: another seller's".to_owned())))
            }
            Exchange::Refused(code) if code == "invalid_grant" => Err(RefreshError::Refused),
            Exchange::Refused(code) if code == "unauthorized_application" => {
                Err(RefreshError::Unavailable(ShopError::Suspended))
            }
            Exchange::Refused(code) => Err(RefreshError::Unavailable(ShopError::Rejected(code))),
        }
    }

    async fn revoke(&self, access: &Access) -> Result<(), ShopError> {
        let path = ["users", &access.shop_id, "applications", &self.app.client_id];
        match self.api.delete(access, &path).await {
            Ok(()) | Err(ShopError::Unauthorized | ShopError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
