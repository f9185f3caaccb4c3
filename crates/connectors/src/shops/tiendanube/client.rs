//! Calls to the API within its limits.

use std::{sync::Arc, time::Duration};

use domain::shops::{Access, ShopError};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use time::OffsetDateTime;
use url::Url;

use super::{VERSION, join};
use crate::shops::{
    budget::{Budgets, Rate},
    http::{Answer, Http, send},
};

/// A store's bucket of requests. Larger plans have a larger one, which drains in the same time.
const RATE: Rate = Rate { cap: 40.0, restore: 2.0 };
/// Seconds in which a full bucket drains.
const DRAINED_WITHIN: f64 = RATE.cap / RATE.restore;
/// How often a call is tried that the platform answers with "too many".
const TRIES: usize = 5;
/// Before something is asked for again that was not answered.
const PAUSES: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];
/// The pause after "too many" that names none.
const PAUSE: Duration = Duration::from_secs(5);
/// Milliseconds of the longest pause that is believed.
const LONGEST_PAUSE: u64 = 60 * 60 * 1000;

pub(super) struct Client {
    pub http: Http,
    api: Url,
    budgets: Budgets,
}

/// Calls for a store.
pub(super) struct Session {
    client: Arc<Client>,
    access: Access,
}

/// A page of a list.
pub(super) struct Page {
    pub records: Vec<Box<RawValue>>,
    /// Records of the whole list.
    pub total: u64,
}

impl Client {
    pub fn new(user_agent: &str, api: Url) -> Result<Self, ShopError> {
        Ok(Self { http: Http::new(user_agent)?, api, budgets: Budgets::new(RATE) })
    }

    /// Believes what the reply says of the bucket.
    fn correct(&self, shop: &str, answer: &Answer) {
        let figure = |name| answer.header(name)?.parse::<u32>().ok().map(f64::from);
        if let (Some(cap), Some(left)) = (figure("x-rate-limit-limit"), figure("x-rate-limit-remaining"))
            && cap >= 1.0
        {
            self.budgets.correct(shop, left, Rate { cap, restore: cap / DRAINED_WITHIN });
        }
    }
}

impl Session {
    pub fn new(client: &Arc<Client>, access: &Access) -> Self {
        Self { client: Arc::clone(client), access: access.clone() }
    }

    /// Reads something of a store; `scope` is the permission that it takes.
    pub async fn get(&self, path: &[&str], query: &[(&str, String)], scope: &str) -> Result<Answer, ShopError> {
        found(self.answer(path, query, scope).await?)
    }

    /// As [`get`](Self::get), and again after a pause where there is trouble.
    pub async fn get_patiently(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        scope: &str,
    ) -> Result<Answer, ShopError> {
        found(self.answer_patiently(path, query, scope).await?)
    }

    async fn answer_patiently(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        scope: &str,
    ) -> Result<Answer, ShopError> {
        for pause in PAUSES {
            match self.answer(path, query, scope).await {
                Err(ShopError::Unavailable(_)) => tokio::time::sleep(pause).await,
                answer => return answer,
            }
        }
        self.answer(path, query, scope).await
    }

    /// As [`get`](Self::get), with the answer that it is not there.
    async fn answer(&self, path: &[&str], query: &[(&str, String)], scope: &str) -> Result<Answer, ShopError> {
        let url = self.url(path, query)?;
        self.call(scope, |http| http.request(Method::GET, url.clone())).await
    }

    pub async fn post(&self, path: &[&str], body: &Value, scope: &str) -> Result<Answer, ShopError> {
        let url = self.url(path, &[])?;
        found(self.call(scope, |http| http.request(Method::POST, url.clone()).json(body)).await?)
    }

    /// A page of a list, from 1 on. A page after the last one is empty, which the platform says with 404.
    ///
    /// Unverified: whether it says so of the first page of an empty list too. It is believed when the answer says that it
    /// is about pages.
    pub async fn page(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        number: u64,
        scope: &str,
    ) -> Result<Page, ShopError> {
        let query = [query, &[("page", number.to_string())]].concat();
        let answer = self.answer_patiently(path, &query, scope).await?;
        if answer.status == StatusCode::NOT_FOUND && (number > 1 || is_about_pages(&answer.body)) {
            return Ok(Page { records: Vec::new(), total: 0 });
        }
        let answer = found(answer)?;
        let total = numeric(&answer, "x-total-count").ok_or(ShopError::Malformed("x-total-count".to_owned()))?;
        Ok(Page { records: answer.json()?, total })
    }

    fn url(&self, path: &[&str], query: &[(&str, String)]) -> Result<Url, ShopError> {
        let store = [VERSION, self.access.shop_id.as_str()];
        let mut url = join(self.client.api.clone(), store.into_iter().chain(path.iter().copied()))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    async fn call(&self, scope: &str, request: impl Fn(&Http) -> RequestBuilder) -> Result<Answer, ShopError> {
        let Self { client, access } = self;
        let shop = access.shop_id.as_str();
        // Unverified: whether `Authorization` is taken too, as newer pages show it. This one always was.
        let token = format!("bearer {}", access.token.expose());
        for _ in 0..TRIES {
            client.budgets.take(shop, 1.0).await?;
            let answer = send(request(&client.http).header("authentication", &token)).await?;
            client.correct(shop, &answer);
            match answer.status {
                status if status.is_success() || status == StatusCode::NOT_FOUND => return Ok(answer),
                StatusCode::TOO_MANY_REQUESTS => client.budgets.pause(shop, pause_of(&answer)),
                _ => return Err(error_of(&answer, scope)),
            }
        }
        Err(ShopError::Throttled(OffsetDateTime::now_utc() + PAUSE))
    }
}

/// Whether a token has a permission. One to write includes that to read.
pub(super) fn grants(access: &Access, scope: &str) -> bool {
    let write = scope.replacen("read_", "write_", 1);
    access.scopes.iter().any(|granted| granted == scope || *granted == write)
}

fn found(answer: Answer) -> Result<Answer, ShopError> {
    if answer.status == StatusCode::NOT_FOUND { Err(ShopError::NotFound) } else { Ok(answer) }
}

/// `{"code":404,"message":"Not Found","description":"Last page is 0"}`
fn is_about_pages(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Refusal {
        description: String,
    }
    serde_json::from_slice(body).is_ok_and(|refusal: Refusal| refusal.description.starts_with("Last page is"))
}

fn numeric(answer: &Answer, name: &str) -> Option<u64> {
    answer.header(name)?.trim().parse().ok()
}

/// `x-rate-limit-reset` is in milliseconds.
fn pause_of(answer: &Answer) -> Duration {
    let reset = numeric(answer, "x-rate-limit-reset").map(|reset| Duration::from_millis(reset.min(LONGEST_PAUSE)));
    reset.unwrap_or(PAUSE)
}

/// What a refusal means; `scope` is the permission that the call takes, empty for one that takes none.
pub(super) fn error_of(answer: &Answer, scope: &str) -> ShopError {
    match answer.status {
        StatusCode::UNAUTHORIZED => ShopError::Unauthorized,
        StatusCode::PAYMENT_REQUIRED => ShopError::Suspended,
        StatusCode::FORBIDDEN if !scope.is_empty() => ShopError::MissingScope(scope.to_owned()),
        StatusCode::NOT_FOUND => ShopError::NotFound,
        StatusCode::TOO_MANY_REQUESTS => ShopError::Throttled(OffsetDateTime::now_utc() + pause_of(answer)),
        status if status.is_server_error() => ShopError::Unavailable(format!("it answered {}", status.as_u16())),
        status => ShopError::Rejected(refusal(status, &answer.body)),
    }
}

/// The status, and the name of the error or of the first field that is wrong: what else a refusal holds may quote what was
/// sent.
fn refusal(status: StatusCode, body: &[u8]) -> String {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Refusal {
        Named { error: String },
        Described { message: String },
        Fields(std::collections::BTreeMap<String, serde::de::IgnoredAny>),
    }
    let name = match serde_json::from_slice(body) {
        Ok(Refusal::Named { error }) => Some(error),
        Ok(Refusal::Described { message }) => Some(message),
        Ok(Refusal::Fields(fields)) => fields.into_keys().next(),
        Err(_) => None,
    };
    let is_plain = |name: &String| {
        name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b' ' || byte == b'_')
    };
    match name.filter(is_plain) {
        Some(name) => format!("{} {name}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}
