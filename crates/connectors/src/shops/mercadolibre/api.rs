//! Calls of the API: with the seller's token, within the limits, and again only where asking again can help.

use std::time::Duration;

use domain::shops::{Access, ShopError};
use reqwest::{
    Method, StatusCode,
    header::{ACCEPT, CONTENT_TYPE},
};
use ring::rand::{SecureRandom, SystemRandom};
use serde::de::DeserializeOwned;
use serde_json::Value;
use time::OffsetDateTime;
use url::{Url, form_urlencoded::Serializer};

use super::wire::ErrorBody;
use crate::shops::{
    budget::{Budgets, MAX_WAIT, Rate},
    http::{Answer, Http, send},
};

/// How often a call is made that is answered with 429, with 5xx, or not at all.
const ATTEMPTS: u32 = 5;
/// The one bucket of the app.
const APP: &str = "app";

/// Calls a second that an app has unless it is known better. Unverified: an app's page shows how many calls an hour it has
/// (18,000 in the documentation's sample, 5 a second); 429 comes per app and endpoint.
pub const CALLS_PER_SECOND: u32 = 10;

/// How fast may be asked. Mercado Libre announces no limits in its answers.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls of the app, over all sellers.
    pub app: Rate,
    /// Calls for one seller.
    pub seller: Rate,
    /// The pause after the first failed attempt; each further one is twice as long.
    pub pause: Duration,
}

impl Limits {
    /// For an app that has this number of calls a second, above 0: one seller has a fifth of them.
    pub fn per_second(calls: u32) -> Self {
        let calls = f64::from(calls);
        let seller = Rate { cap: calls * 0.4, restore: calls * 0.2 };
        Self { app: Rate { cap: calls, restore: calls }, seller, pause: Duration::from_secs(1) }
    }
}

impl Default for Limits {
    /// [`CALLS_PER_SECOND`].
    fn default() -> Self {
        Self::per_second(CALLS_PER_SECOND)
    }
}

/// The API.
#[derive(Debug)]
pub(super) struct Api {
    http: Http,
    base: Url,
    app: Budgets,
    sellers: Budgets,
    pause: Duration,
}

impl Api {
    pub fn new(base: Url, limits: Limits) -> Result<Self, ShopError> {
        let Limits { app, seller, pause } = limits;
        if base.cannot_be_a_base() {
            return Err(ShopError::Rejected("the address takes no path".to_owned()));
        }
        let http = Http::new(concat!("business-analytics-service/", env!("CARGO_PKG_VERSION")))?;
        Ok(Self { http, base, app: Budgets::new(app), sellers: Budgets::new(seller), pause })
    }

    /// The pause after the first failed attempt.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// The address of a path. Segments are escaped, so that none of them can leave its place.
    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// Reads what is at a path.
    pub async fn get(&self, access: &Access, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, ShopError> {
        self.get_with(access, path, query, &[]).await
    }

    /// As [`get`](Self::get), with headers of the resource.
    pub async fn get_with(
        &self,
        access: &Access,
        path: &[&str],
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Result<Answer, ShopError> {
        let resource = path.first().copied().unwrap_or_default();
        self.call(access, &Method::GET, self.url(path, query), headers).await.map_err(|error| match error {
            ShopError::MissingScope(_) => ShopError::MissingScope(resource.to_owned()),
            error => error,
        })
    }

    /// Passes over what is not answered for, if something else is: what fails again and again keeps nothing else from being read.
    /// Gives what went wrong.
    ///
    /// # Errors
    /// `error`, where it is of another kind, or nothing is answered for.
    pub async fn pass_over(&self, access: &Access, error: ShopError) -> Result<String, ShopError> {
        let trouble = match &error {
            ShopError::Unavailable(trouble) | ShopError::Malformed(trouble) => trouble.clone(),
            _ => return Err(error),
        };
        match self.get(access, &["users", "me"], &[]).await {
            Ok(_) => Ok(trouble),
            Err(_) => Err(error),
        }
    }

    /// Writes JSON to a path, once: after whatever failure it may have been written.
    pub async fn post_once(&self, access: &Access, path: &[&str], body: &Value) -> Result<(), ShopError> {
        self.sellers.take(&access.shop_id, 1.0).await?;
        self.app.take(APP, 1.0).await?;
        let request = self.http.request(Method::POST, self.url(path, &[])).bearer_auth(access.token.expose());
        let request = request.header(CONTENT_TYPE, "application/json").header(ACCEPT, "application/json");
        let answer = send(request.body(body.to_string())).await?;
        if answer.status.is_success() { Ok(()) } else { Err(error_of(&answer)) }
    }

    pub async fn delete(&self, access: &Access, path: &[&str]) -> Result<(), ShopError> {
        self.call(access, &Method::DELETE, self.url(path, &[]), &[]).await.map(|_| ())
    }

    async fn call(
        &self,
        access: &Access,
        method: &Method,
        url: Url,
        headers: &[(&str, &str)],
    ) -> Result<Answer, ShopError> {
        let mut attempt = 0;
        loop {
            self.sellers.take(&access.shop_id, 1.0).await?;
            self.app.take(APP, 1.0).await?;
            let request = self.http.request(method.clone(), url.clone()).bearer_auth(access.token.expose());
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            let error = match send(request.header(ACCEPT, "application/json")).await {
                Ok(answer) if answer.status.is_success() => return Ok(answer),
                Ok(answer) => error_of(&answer),
                Err(error) => error,
            };
            attempt += 1;
            // What was refused with 4xx is not asked again: an app that does so is blocked.
            let may_help = matches!(error, ShopError::Throttled(_) | ShopError::Unavailable(_));
            if !may_help || attempt == ATTEMPTS {
                return Err(error);
            }
            self.sellers.pause(&access.shop_id, self.pause_after(attempt));
        }
    }

    /// From half of the pause to all of it, so that what was refused together does not come again together.
    fn pause_after(&self, attempt: u32) -> Duration {
        let mut byte = [0_u8];
        let random = SystemRandom::new().fill(&mut byte).map_or(0.5, |()| f64::from(byte[0]) / 256.0);
        self.pause.saturating_mul(1 << (attempt - 1)).mul_f64(0.5 + random / 2.0)
    }

    /// Asks for tokens, once.
    pub async fn token(&self, form: &[(&str, &str)]) -> Result<Answer, ShopError> {
        self.app.take(APP, 1.0).await?;
        let body = Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self.http.request(Method::POST, self.url(&["oauth", "token"], &[]));
        let request =
            request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").header(ACCEPT, "application/json");
        send(request.body(body)).await
    }
}

/// A detail without which the rest is read: `None` where Mercado Libre does not show it, or not in a form that can be read.
pub(super) fn shown<T: DeserializeOwned>(answer: Result<Answer, ShopError>) -> Result<Option<T>, ShopError> {
    match answer.and_then(|answer| answer.detail()) {
        Ok(detail) => Ok(Some(detail)),
        Err(ShopError::NotFound | ShopError::Rejected(_) | ShopError::Malformed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The code of a refusal, as far as it looks like one: texts of Mercado Libre may hold what no log should.
pub(super) fn code_of(body: &ErrorBody) -> String {
    let is_code = |code: &&String| {
        (1..=64).contains(&code.len())
            && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    let code = body.code.as_ref().map(|code| &code.0).filter(|code| code.parse::<u32>().is_err());
    code.into_iter().chain(&body.error).find(is_code).cloned().unwrap_or_else(|| "no code".to_owned())
}

fn error_of(answer: &Answer) -> ShopError {
    let body = answer.json::<ErrorBody>().unwrap_or_default();
    let says = |code: &str| body.error.as_deref() == Some(code) || body.code.as_ref().is_some_and(|id| id.0 == code);
    match answer.status {
        // The app is blocked; the token will work again when it no longer is.
        StatusCode::UNAUTHORIZED if says("unauthorized_scopes") => ShopError::Suspended,
        StatusCode::UNAUTHORIZED => ShopError::Unauthorized,
        StatusCode::FORBIDDEN if says("PA_UNAUTHORIZED_RESULT_FROM_POLICIES") => ShopError::MissingScope(String::new()),
        StatusCode::NOT_FOUND => ShopError::NotFound,
        StatusCode::TOO_MANY_REQUESTS => {
            let now = OffsetDateTime::now_utc();
            ShopError::Throttled(answer.retry_after(now).unwrap_or(now + MAX_WAIT))
        }
        status if status.is_server_error() => ShopError::Unavailable(format!("it answered with {status}")),
        status => ShopError::Rejected(format!("{}: {}", status.as_u16(), code_of(&body))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn api() -> Api {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Api::new("https://api.mercadolibre.com".parse().unwrap(), Limits::per_second(CALLS_PER_SECOND)).unwrap()
    }

    #[rstest]
    #[case(
        r#"{"message":"blocked","error":"PA_UNAUTHORIZED_RESULT_FROM_POLICIES"}"#,
        "PA_UNAUTHORIZED_RESULT_FROM_POLICIES"
    )]
    #[case(r#"{"code":"invalid_grant","error":"bad"}"#, "invalid_grant")]
    #[case(r#"{"code":404,"error":"not_found"}"#, "not_found")]
    #[case(r#"{"error":"mail of ana@example.com"}"#, "no code")]
    fn a_refusal_is_told_by_its_code(#[case] body: &str, #[case] code: &str) {
        assert_eq!(code_of(&serde_json::from_str(body).unwrap()), code);
    }

    #[rstest]
    #[case(Ok(Answer::example(200, &[], "[1]")), Ok(Some(vec![1])))]
    #[case::in_another_form(Ok(Answer::example(200, &[], "{}")), Ok(None))]
    #[case::of_something_else(
        Ok(Answer::example(200, &[], "<html>")),
        Err(ShopError::Unavailable("the answer is not JSON, or breaks off".into()))
    )]
    #[case(Err(ShopError::NotFound), Ok(None))]
    #[case(Err(ShopError::Rejected("403: no code".into())), Ok(None))]
    #[case(Err(ShopError::Unauthorized), Err(ShopError::Unauthorized))]
    fn a_detail_that_is_not_shown_keeps_nothing_else_from_being_read(
        #[case] answer: Result<Answer, ShopError>,
        #[case] expected: Result<Option<Vec<i64>>, ShopError>,
    ) {
        assert_eq!(shown::<Vec<i64>>(answer), expected);
    }

    #[test]
    fn a_segment_stays_in_its_place() {
        let api = api();
        let url = api.url(&["orders", "../users/me?x=1#y"], &[("a", "b&c=d")]);
        assert_eq!(url.as_str(), "https://api.mercadolibre.com/orders/..%2Fusers%2Fme%3Fx=1%23y?a=b%26c%3Dd");
    }

    #[test]
    fn pauses_grow_and_differ() {
        let api = api();
        for attempt in 1..ATTEMPTS {
            let most = Duration::from_secs(1 << (attempt - 1));
            let pause = api.pause_after(attempt);
            assert!(pause >= most / 2 && pause <= most, "{attempt}: {pause:?}");
        }
        let all: std::collections::HashSet<_> = (0..64).map(|_| api.pause_after(1)).collect();
        assert!(all.len() > 1);
    }
}
