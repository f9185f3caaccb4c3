//! The Admin API over HTTP: addresses, limits, and which replies are none.

use std::time::Duration;

use domain::shops::{Access, ShopError};
use reqwest::{Method, StatusCode};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use time::OffsetDateTime;
use url::Url;

use super::queries::{Query, VERSION};
use crate::shops::{
    budget::{Budgets, Rate},
    http::{Answer, Http, malformed, send},
};

/// The bucket of a shop on the smallest plan; replies tell the real one.
const SMALLEST: Rate = Rate { cap: 2_000.0, restore: 100.0 };
/// Before a query is sent again that was not answered.
const PAUSES: [Duration; 3] = [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(4)];
/// So often a query is sent that is refused for its cost, each time after the pause that the reply suggests.
const THROTTLED: u32 = 10;
/// After this, when the platform does not say how long it wants to be left alone.
const PAUSE: Duration = Duration::from_secs(2);
/// Characters of a message of the platform that are shown.
const MAX_MESSAGE: usize = 200;

/// Sends queries.
#[derive(Debug)]
pub(super) struct Client {
    http: Http,
    /// Instead of `https://{shop}`: a fake platform, which has the shop's name as the first part of the path.
    base: Option<Url>,
    budgets: Budgets,
    pub(super) pauses: [Duration; 3],
}

/// What a query came to, and the platform's present.
#[derive(Debug)]
pub(super) struct Reply<T> {
    pub data: T,
    pub at: Option<OffsetDateTime>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(default, borrow)]
    errors: Option<&'a RawValue>,
    #[serde(default)]
    extensions: Extensions,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Extensions {
    cost: Option<Cost>,
    search: Vec<Search>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    requested_query_cost: f64,
    throttle_status: ThrottleStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThrottleStatus {
    maximum_available: f64,
    currently_available: f64,
    restore_rate: f64,
}

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    warnings: Vec<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GraphError {
    message: String,
    extensions: ErrorExtensions,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ErrorExtensions {
    code: Option<String>,
    required_access: Option<String>,
}

impl Client {
    pub fn new(http: Http, base: Option<Url>) -> Self {
        Self { http, base, budgets: Budgets::new(SMALLEST), pauses: PAUSES }
    }

    pub fn http(&self) -> &Http {
        &self.http
    }

    pub fn base(&self) -> Option<&Url> {
        self.base.as_ref()
    }

    /// The address of a path below `/admin` of a shop, whose name has been checked.
    pub fn url(&self, shop: &str, path: &str) -> Result<Url, ShopError> {
        let address = match &self.base {
            Some(base) => format!("{}/{shop}/admin/{path}", base.as_str().trim_end_matches('/')),
            None => format!("https://{shop}/admin/{path}"),
        };
        Url::parse(&address).map_err(|_| ShopError::Rejected("no such address".to_owned()))
    }

    /// Runs a query within the shop's budget.
    pub async fn run<T: DeserializeOwned>(
        &self,
        access: &Access,
        query: Query,
        variables: Value,
    ) -> Result<Reply<T>, ShopError> {
        let (mut pauses, mut throttled) = (self.pauses.iter(), 0);
        let body = serde_json::json!({ "query": query.text, "variables": variables });
        let mut cost = f64::from(query.cost);
        loop {
            self.budgets.take(&access.shop_id, cost).await?;
            let error = match self.once(access, &body, &mut cost).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match error {
                ShopError::Throttled(_) if throttled < THROTTLED => throttled += 1,
                ShopError::Unavailable(_) if query.repeatable => match pauses.next() {
                    Some(pause) => tokio::time::sleep(*pause).await,
                    None => return Err(error),
                },
                other => return Err(other),
            }
        }
    }

    async fn once<T: DeserializeOwned>(
        &self,
        access: &Access,
        body: &Value,
        cost: &mut f64,
    ) -> Result<Reply<T>, ShopError> {
        let url = self.url(&access.shop_id, &format!("api/{VERSION}/graphql.json"))?;
        let request = self.http.request(Method::POST, url).json(body);
        let answer = send(request.header("x-shopify-access-token", access.token.expose())).await?;
        if let Err(error) = accepted(&answer) {
            if let ShopError::Throttled(until) = &error {
                let pause = (*until - OffsetDateTime::now_utc()).unsigned_abs();
                self.budgets.pause(&access.shop_id, pause);
            }
            return Err(error);
        }
        let envelope: Envelope<'_> = serde_json::from_slice(&answer.body).map_err(|error| malformed(&error))?;
        if let Some(Cost { requested_query_cost, throttle_status }) = &envelope.extensions.cost {
            let ThrottleStatus { maximum_available, currently_available, restore_rate } = throttle_status;
            *cost = requested_query_cost.max(*cost);
            if *restore_rate > 0.0 {
                let rate = Rate { cap: *maximum_available, restore: *restore_rate };
                self.budgets.correct(&access.shop_id, *currently_available, rate);
            }
        }
        Ok(Reply { data: read(&envelope)?, at: answer.date() })
    }
}

/// A reply with any error is not usable, whatever else it holds. A filter that was not understood selects everything and
/// is a warning only.
fn read<T: DeserializeOwned>(envelope: &Envelope<'_>) -> Result<T, ShopError> {
    if let Some(errors) = envelope.errors.map(RawValue::get).filter(|errors| !matches!(*errors, "null" | "[]")) {
        return Err(refusal(errors));
    }
    if envelope.extensions.search.iter().any(|search| !search.warnings.is_empty()) {
        return Err(ShopError::Rejected("a search filter was not understood".to_owned()));
    }
    let data = envelope.data.ok_or_else(|| ShopError::Malformed("data".to_owned()))?;
    serde_json::from_str(data.get()).map_err(|error| malformed(&error))
}

fn refusal(errors: &str) -> ShopError {
    let Ok(errors) = serde_json::from_str::<Vec<GraphError>>(errors) else {
        return ShopError::Rejected("with an error that cannot be read".to_owned());
    };
    let code = |code: &str| errors.iter().find(|error| error.extensions.code.as_deref() == Some(code));
    if code("THROTTLED").is_some() {
        return ShopError::Throttled(OffsetDateTime::now_utc() + PAUSE);
    }
    if let Some(denied) = code("ACCESS_DENIED") {
        return ShopError::MissingScope(scope(denied));
    }
    let Some(GraphError { message, extensions }) = errors.first() else {
        return ShopError::Malformed("errors".to_owned());
    };
    let what = extensions.code.as_ref().unwrap_or(message).chars().take(MAX_MESSAGE).collect::<String>();
    if extensions.code.as_deref() == Some("INTERNAL_SERVER_ERROR") || message.starts_with("Internal error") {
        ShopError::Unavailable("it reports an internal error".to_owned())
    } else {
        ShopError::Rejected(what)
    }
}

/// The scope that a refusal names, which stands between backticks.
fn scope(denied: &GraphError) -> String {
    let text = denied.extensions.required_access.as_ref().unwrap_or(&denied.message);
    let is_scope = |word: &&str| {
        let scope = word.starts_with("read_") || word.starts_with("write_");
        scope && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    text.split('`').find(is_scope).unwrap_or("protected customer data").to_owned()
}

/// What statuses mean. Unverified: that a token's end is 401 alone, and that one which does not expire is refused by 403
/// with a text that says so.
fn accepted(answer: &Answer) -> Result<(), ShopError> {
    let now = OffsetDateTime::now_utc();
    match answer.status {
        StatusCode::OK => Ok(()),
        StatusCode::UNAUTHORIZED => Err(ShopError::Unauthorized),
        StatusCode::PAYMENT_REQUIRED | StatusCode::LOCKED => Err(ShopError::Suspended),
        StatusCode::FORBIDDEN if memchr::memmem::find(&answer.body, b"access token").is_some() => {
            Err(ShopError::Unauthorized)
        }
        StatusCode::NOT_FOUND => Err(ShopError::NotFound),
        StatusCode::TOO_MANY_REQUESTS => Err(ShopError::Throttled(answer.retry_after(now).unwrap_or(now + PAUSE))),
        status if status.is_server_error() => Err(ShopError::Unavailable(format!("it answered {status}"))),
        status => Err(ShopError::Rejected(format!("it answered {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn reply(body: &str) -> Result<Value, ShopError> {
        read(&serde_json::from_str::<Envelope<'_>>(body).unwrap())
    }

    #[rstest]
    #[case(r#"{"data":{"a":1}}"#, Ok(()))]
    #[case(r#"{"data":{"a":1},"errors":[]}"#, Ok(()))]
    #[case(
        r#"{"data":{"orders":null},"errors":[{"message":"Access denied for orders field. Required access: `read_orders` access scope.",
            "path":["orders"],"extensions":{"code":"ACCESS_DENIED","requiredAccess":"`read_orders` access scope."}}]}"#,
        Err(ShopError::MissingScope("read_orders".into()))
    )]
    #[case(
        r#"{"data":{"a":1},"errors":[{"message":"Internal error. Looks like something went wrong on our end."}]}"#,
        Err(ShopError::Unavailable("it reports an internal error".into()))
    )]
    #[case(
        r#"{"errors":[{"message":"Field 'x' doesn't exist on type 'Order'","extensions":{"code":"undefinedField"}}]}"#,
        Err(ShopError::Rejected("undefinedField".into()))
    )]
    #[case(
        r#"{"data":{"a":1},"extensions":{"search":[{"path":["orders"],"warnings":[{"field":"x","code":"invalid_field"}]}]}}"#,
        Err(ShopError::Rejected("a search filter was not understood".into()))
    )]
    #[case(r#"{"data":null}"#, Err(ShopError::Malformed("data".into())))]
    fn a_reply_with_an_error_or_a_warning_is_not_used(#[case] body: &str, #[case] expected: Result<(), ShopError>) {
        assert_eq!(reply(body).map(drop), expected);
    }

    #[test]
    fn too_dear_a_query_is_throttled() {
        let body = r#"{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}]}"#;
        assert!(matches!(reply(body), Err(ShopError::Throttled(_))));
    }
}
