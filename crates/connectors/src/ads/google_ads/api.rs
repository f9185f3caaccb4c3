//! Calls of the Google Ads API by REST, and what its refusals mean.

use std::{collections::BTreeMap, time::Duration};

use domain::shops::{Secret, ShopError};
use reqwest::{
    Method, RequestBuilder,
    header::{ACCEPT, CONTENT_TYPE},
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use url::Url;

use super::{
    super::client::{Client, Verdict, no_path, pages, throttled},
    Addresses, GoogleAdsConfig, SCOPE,
    wire::{Accessible, Page},
};
use crate::shops::{AppCredentials, http::Answer};

/// The version of the API: one is good for about a year.
pub const VERSION: &str = "v25";
/// Seconds of the longest pause that is believed.
const LONGEST_PAUSE: f64 = 86_400.0;

#[derive(Debug)]
pub(super) struct Api {
    client: Client,
    app: AppCredentials,
    developer_token: Option<SecretString>,
    addresses: Addresses,
}

/// For whom a call is made.
pub(super) struct Caller<'a> {
    /// Number of the ad account.
    pub account: &'a str,
    /// Number of the manager account by way of which it is reached.
    pub manager: Option<&'a str>,
    pub token: &'a Secret,
}

/// A query. The size of its pages is Google's; to ask for one is refused.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Search<'a> {
    query: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_token: Option<String>,
}

impl Api {
    pub fn new(config: GoogleAdsConfig) -> Result<Self, ShopError> {
        let GoogleAdsConfig { app, developer_token, addresses } = config;
        let base = addresses.api.join(VERSION).map_err(|_| no_path())?;
        Ok(Self { client: Client::new(base)?, app, developer_token, addresses })
    }

    pub fn app(&self) -> &AppCredentials {
        &self.app
    }

    pub fn login(&self) -> &Url {
        &self.addresses.login
    }

    fn request(&self, method: Method, url: Url, token: &Secret) -> RequestBuilder {
        let mut request =
            self.client.request(method, url).bearer_auth(token.expose()).header(ACCEPT, "application/json");
        if let Some(token) = &self.developer_token {
            request = request.header("developer-token", token.expose_secret());
        }
        request
    }

    /// One page of what a query finds.
    async fn page(&self, caller: &Caller<'_>, search: &Search<'_>) -> Result<Answer, ShopError> {
        let url = self.client.url(&["customers", caller.account, "googleAds:search"])?;
        let body =
            serde_json::to_vec(search).map_err(|_| ShopError::Rejected("the query cannot be written".to_owned()))?;
        let request = || {
            let mut request = self.request(Method::POST, url.clone(), caller.token);
            if let Some(manager) = caller.manager {
                request = request.header("login-customer-id", manager);
            }
            request.header(CONTENT_TYPE, "application/json").body(body.clone())
        };
        self.client.call(caller.account, request, verdict).await
    }

    /// All that a query finds.
    pub async fn search<T: DeserializeOwned + Send>(
        &self,
        caller: &Caller<'_>,
        query: &str,
    ) -> Result<Vec<T>, ShopError> {
        pages(|page_token| async move {
            let page: Page<T> = self.page(caller, &Search { query, page_token }).await?.json()?;
            Ok((page.results, page.next_page_token.filter(|token| !token.is_empty())))
        })
        .await
    }

    /// The first page of what a query finds, with the answer that brought it.
    pub async fn first<T: DeserializeOwned>(
        &self,
        caller: &Caller<'_>,
        query: &str,
    ) -> Result<(Vec<T>, Answer), ShopError> {
        let answer = self.page(caller, &Search { query, page_token: None }).await?;
        Ok((answer.json::<Page<T>>()?.results, answer))
    }

    /// Numbers of the ad accounts and manager accounts that who agreed reaches directly.
    pub async fn accessible(&self, token: &Secret) -> Result<Vec<String>, ShopError> {
        let url = self.client.url(&["customers:listAccessibleCustomers"])?;
        // It shares the budget of no ad account.
        let answer = self.client.call("", || self.request(Method::GET, url.clone(), token), verdict).await?;
        let Accessible { resource_names } = answer.json()?;
        let number = |name: &String| name.strip_prefix("customers/").map(str::to_owned);
        let numbers: Option<Vec<_>> = resource_names.iter().map(number).collect();
        numbers.ok_or_else(|| ShopError::Malformed("resourceNames".to_owned()))
    }

    /// Asks for tokens; gives what is answered, whatever its status.
    pub async fn token(&self, form: &[(&str, &str)]) -> Result<Answer, ShopError> {
        let AppCredentials { client_id, client_secret, previous_secret: _ } = &self.app;
        let own = [("client_id", client_id.as_str()), ("client_secret", client_secret.expose_secret())];
        let fields: Vec<_> = form.iter().chain(&own).copied().collect();
        self.client.send_form(self.at_tokens("token")?, &fields).await
    }

    /// Gives a token back.
    pub async fn give_back(&self, token: &Secret) -> Result<Answer, ShopError> {
        self.client.send_form(self.at_tokens("revoke")?, &[("token", token.expose())]).await
    }

    fn at_tokens(&self, path: &str) -> Result<Url, ShopError> {
        self.addresses.tokens.join(path).map_err(|_| no_path())
    }
}

fn verdict(answer: &Answer) -> Verdict {
    if answer.status.is_success() {
        return Verdict { refused: None, pause: None };
    }
    let refusal = answer.json::<ErrorBody>().map(|body| body.error).unwrap_or_default();
    Verdict { pause: refusal.failures().find_map(Failure::pause), refused: Some(error_of(answer, &refusal)) }
}

#[derive(Default, Deserialize)]
struct ErrorBody {
    error: Refusal,
}

/// What all of Google's APIs say (`google.rpc.Status`), with what this one adds.
#[derive(Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    details: Vec<Detail>,
}

#[derive(Deserialize)]
struct Detail {
    #[serde(default)]
    errors: Vec<Failure>,
    /// Of an `ErrorInfo`.
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    /// One pair: the kind of error, and which it is.
    #[serde(default)]
    error_code: BTreeMap<String, String>,
    details: Option<FailureDetails>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FailureDetails {
    quota_error_details: Option<QuotaDetails>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuotaDetails {
    /// Such as `30s`.
    retry_delay: Option<String>,
}

impl Refusal {
    fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.details.iter().flat_map(|detail| &detail.errors)
    }
}

impl Failure {
    fn pause(&self) -> Option<Duration> {
        let delay = self.details.as_ref()?.quota_error_details.as_ref()?.retry_delay.as_deref()?;
        let seconds = delay.strip_suffix('s')?.parse::<f64>().ok().filter(|seconds| *seconds >= 0.0)?;
        Duration::try_from_secs_f64(seconds.min(LONGEST_PAUSE)).ok()
    }
}

/// What the codes of the API mean.
fn error_of(answer: &Answer, refusal: &Refusal) -> ShopError {
    let status = answer.status.as_u16();
    if answer.status.is_server_error() {
        return ShopError::Unavailable(format!("it answered with {status}"));
    }
    let code = refusal.failures().find_map(|failure| failure.error_code.first_key_value());
    match (status, code.map(|(kind, code)| (kind.as_str(), code.as_str()))) {
        (_, Some(("quotaError", code))) if code != "ACCESS_PROHIBITED" => throttled(),
        (429, _) => throttled(),
        // Unverified: that an ad account which is closed or suspended is told so, and one that the person may not see is not.
        (_, Some(("authorizationError", "CUSTOMER_NOT_ENABLED"))) => ShopError::Suspended,
        (
            _,
            Some(
                ("authenticationError", "CUSTOMER_NOT_FOUND" | "CLIENT_CUSTOMER_ID_INVALID")
                | ("authorizationError", "USER_PERMISSION_DENIED"),
            ),
        ) => ShopError::NotFound,
        (_, Some(("authenticationError", code)))
            if code.starts_with("OAUTH_") || code.starts_with("GOOGLE_ACCOUNT_") =>
        {
            ShopError::Unauthorized
        }
        (_, Some(("internalError", code) | ("requestError", code @ "EXPIRED_PAGE_TOKEN"))) => {
            ShopError::Unavailable(code.to_owned())
        }
        (_, Some((kind, code))) => ShopError::Rejected(format!("{kind} {code}")),
        (401, None) => ShopError::Unauthorized,
        (403, None) if refusal.lacks_scope() => ShopError::MissingScope(SCOPE.to_owned()),
        (status, None) => ShopError::Rejected(format!("it answered with {status}")),
    }
}

impl Refusal {
    fn lacks_scope(&self) -> bool {
        self.details.iter().any(|detail| detail.reason.as_deref() == Some("ACCESS_TOKEN_SCOPE_INSUFFICIENT"))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn refused(status: u16, kind: &str, code: &str) -> Verdict {
        let body = format!(
            r#"{{"error":{{"code":{status},"message":"m","status":"S","details":[{{
            "@type":"type.googleapis.com/google.ads.googleads.v25.errors.GoogleAdsFailure",
            "errors":[{{"errorCode":{{"{kind}":"{code}"}},"message":"m"}}],"requestId":"r"}}]}}}}"#
        );
        verdict(&Answer::example(status, &[], &body))
    }

    #[rstest]
    #[case(401, "authenticationError", "OAUTH_TOKEN_EXPIRED", ShopError::Unauthorized)]
    #[case(401, "authenticationError", "CUSTOMER_NOT_FOUND", ShopError::NotFound)]
    #[case(403, "authorizationError", "USER_PERMISSION_DENIED", ShopError::NotFound)]
    #[case(403, "authorizationError", "CUSTOMER_NOT_ENABLED", ShopError::Suspended)]
    #[case(400, "requestError", "EXPIRED_PAGE_TOKEN", ShopError::Unavailable("EXPIRED_PAGE_TOKEN".into()))]
    #[case(400, "queryError", "UNRECOGNIZED_FIELD", ShopError::Rejected("queryError UNRECOGNIZED_FIELD".into()))]
    #[case(500, "internalError", "INTERNAL_ERROR", ShopError::Unavailable("it answered with 500".into()))]
    fn codes_are_understood(#[case] status: u16, #[case] kind: &str, #[case] code: &str, #[case] expected: ShopError) {
        assert_eq!(refused(status, kind, code).refused, Some(expected));
    }

    #[test]
    fn a_quota_that_is_used_up_says_how_long_to_wait() {
        let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"errors":[{
            "errorCode":{"quotaError":"RESOURCE_EXHAUSTED"},"details":{"quotaErrorDetails":{"retryDelay":"30s"}}}]}]}}"#;
        let Verdict { refused, pause } = verdict(&Answer::example(429, &[], body));
        assert!(matches!(refused, Some(ShopError::Throttled(_))), "{refused:?}");
        assert_eq!(pause, Some(Duration::from_secs(30)));
        let silent = verdict(&Answer::example(429, &[], "<html>"));
        assert!(matches!(silent, Verdict { refused: Some(ShopError::Throttled(_)), pause: None }), "{silent:?}");
    }

    #[test]
    fn what_google_says_without_the_ads_api_is_understood() {
        let said = |status, body: &str| verdict(&Answer::example(status, &[], body)).refused.unwrap();
        assert_eq!(said(401, r#"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#), ShopError::Unauthorized);
        let scope = r#"{"error":{"code":403,"details":[{"reason":"ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}}"#;
        assert_eq!(said(403, scope), ShopError::MissingScope(SCOPE.into()));
        assert_eq!(said(502, "<html>"), ShopError::Unavailable("it answered with 502".into()));
        assert_eq!(said(404, "<html>"), ShopError::Rejected("it answered with 404".into()));
    }
}
