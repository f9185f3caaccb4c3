//! OAuth of Facebook Login: a code for a token of an hour, that for one of sixty days
//! (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens>).

use domain::shops::{Authorization, Callback, CompleteError, Secret, ShopError};
use reqwest::{
    Method,
    header::{ACCEPT, CONTENT_TYPE},
};
use secrecy::ExposeSecret;
use serde::{Deserialize, de::DeserializeOwned};
use time::{Duration, OffsetDateTime};
use url::{Url, form_urlencoded::Serializer};

use super::{Page, refusal, refused};
use crate::shops::{
    AppCredentials,
    http::{Answer, Http, send},
    signature,
    wire::Count,
};

/// Characters of a code.
const MAX_CODE: usize = 1_024;
/// Seconds of the longest life of a token that is believed.
const LONGEST_LIFE: i64 = 315_360_000;
/// Pages of a list of a person's that are read.
const MAX_PAGES: usize = 20;

#[derive(Deserialize)]
struct TokenBody {
    access_token: String,
    /// Seconds.
    expires_in: Option<Count>,
}

#[derive(Debug, Deserialize)]
struct Permission {
    permission: String,
    status: String,
}

/// A token of a person, of about sixty days.
#[derive(Debug, Clone)]
pub struct PersonToken {
    pub token: Secret,
    /// `None`: it does not end, as those of system users.
    pub ends: Option<OffsetDateTime>,
    /// Permissions that were granted.
    pub scopes: Vec<String>,
}

/// Where Meta is, and the app as it is registered there.
#[derive(Debug, Clone)]
pub struct LoginConfig {
    pub app: AppCredentials,
    /// The API with its version, `https://graph.facebook.com/v25.0`, or a stand-in.
    pub api_url: Url,
    /// Below which people grant access, `https://www.facebook.com/v25.0`, or a stand-in.
    pub login_url: Url,
}

/// The app as people log in to it.
#[derive(Debug, Clone)]
pub struct Login {
    http: Http,
    config: LoginConfig,
}

impl Login {
    /// # Errors
    /// When no HTTP client can be set up, or an address takes no path.
    pub fn new(config: LoginConfig) -> Result<Self, ShopError> {
        if config.api_url.cannot_be_a_base() || config.login_url.cannot_be_a_base() {
            return Err(ShopError::Rejected("the address takes no path".to_owned()));
        }
        let http = Http::new(concat!("business-analytics-service/", env!("CARGO_PKG_VERSION")))?;
        Ok(Self { http, config })
    }

    pub fn http(&self) -> &Http {
        &self.http
    }

    /// An address of the API.
    pub fn url(&self, path: &[&str]) -> Url {
        below(&self.config.api_url, path)
    }

    /// Shows that the caller has the app's secret beside the token, which an app can demand
    /// (<https://developers.facebook.com/docs/facebook-login/security#proof>).
    pub fn proof(&self, token: &Secret) -> String {
        hex::encode(signature::sign(&self.config.app.client_secret, token.expose().as_bytes()))
    }

    /// Where a person grants permissions. What was declined before is asked for again with `rerequest` only.
    pub fn dialog(&self, authorization: &Authorization, scopes: &[&str], asks_again: bool) -> String {
        let mut url = below(&self.config.login_url, &["dialog", "oauth"]);
        url.query_pairs_mut()
            .append_pair("client_id", &self.config.app.client_id)
            .append_pair("redirect_uri", &authorization.redirect_uri)
            .append_pair("response_type", "code")
            .append_pair("scope", &scopes.join(","))
            .append_pair("state", authorization.state.expose());
        if asks_again {
            url.query_pairs_mut().append_pair("auth_type", "rerequest");
        }
        url.into()
    }

    /// A token of sixty days for the code of a callback.
    ///
    /// # Errors
    /// [`CompleteError`].
    pub async fn logged_in(
        &self,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<PersonToken, CompleteError> {
        let code = callback.code(MAX_CODE)?;
        let form = [("redirect_uri", authorization.redirect_uri.as_str()), ("code", code)];
        let answer = self.token(&form).await.map_err(|error| match error {
            ShopError::Rejected(_) => CompleteError::Denied("the code is not valid, or no longer".to_owned()),
            error => error.into(),
        })?;
        let TokenBody { access_token, expires_in: _ } = answer.json()?;
        Ok(self.long_lived(&access_token, now).await?)
    }

    /// A token of sixty days for one of an hour, or for another one of sixty days.
    ///
    /// # Errors
    /// [`ShopError`].
    pub async fn long_lived(&self, token: &str, now: OffsetDateTime) -> Result<PersonToken, ShopError> {
        let form = [("grant_type", "fb_exchange_token"), ("fb_exchange_token", token)];
        let TokenBody { access_token, expires_in } = self.token(&form).await?.json()?;
        let token = Secret::new(access_token);
        let ends = expires_in.map(|seconds| now + Duration::seconds(seconds.0.clamp(0, LONGEST_LIFE)));
        let scopes = self.scopes(&token).await?;
        Ok(PersonToken { token, ends, scopes })
    }

    async fn scopes(&self, token: &Secret) -> Result<Vec<String>, ShopError> {
        let granted: Page<Permission> = self.get(token, &["me", "permissions"], &[], "public_profile").await?.json()?;
        let granted = granted.data.into_iter().filter(|permission| permission.status == "granted");
        Ok(granted.map(|permission| permission.permission).collect())
    }

    /// All of a list of a person's; `scope` is the permission that it takes.
    ///
    /// # Errors
    /// [`ShopError`].
    pub async fn all<T: DeserializeOwned>(
        &self,
        token: &Secret,
        path: &[&str],
        fields: &str,
        scope: &str,
    ) -> Result<Vec<T>, ShopError> {
        let (mut all, mut after) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let mut query = vec![("fields", fields), ("limit", "100")];
            query.extend(after.as_deref().map(|after| ("after", after)));
            let page: Page<T> = self.get(token, path, &query, scope).await?.json()?;
            after = page.after();
            all.extend(page.data);
            if after.is_none() {
                return Ok(all);
            }
        }
        Err(ShopError::TooMany)
    }

    async fn get(
        &self,
        token: &Secret,
        path: &[&str],
        query: &[(&str, &str)],
        scope: &str,
    ) -> Result<Answer, ShopError> {
        let mut url = self.url(path);
        url.query_pairs_mut().extend_pairs(query).append_pair("appsecret_proof", &self.proof(token));
        let request = self.http.request(Method::GET, url).bearer_auth(token.expose());
        let answer = send(request.header(ACCEPT, "application/json")).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&refusal(&answer)?, scope)) }
    }

    /// Asks for a token. Unverified: that it is given for a form as well as for a query, which would stand in logs.
    async fn token(&self, form: &[(&str, &str)]) -> Result<Answer, ShopError> {
        let AppCredentials { client_id, client_secret, previous_secret: _ } = &self.config.app;
        let own = [("client_id", client_id.as_str()), ("client_secret", client_secret.expose_secret())];
        let body = Serializer::new(String::new()).extend_pairs(form.iter().chain(&own).copied()).finish();
        let request = self.http.request(Method::POST, self.url(&["oauth", "access_token"]));
        let answer = send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&refusal(&answer)?, "public_profile")) }
    }
}

/// An address below another one, of which it is known that it takes a path.
fn below(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}
