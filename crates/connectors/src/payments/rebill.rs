//! A gateway that speaks like Rebill: payments over REST with a bearer token, notifications signed with a timestamp.

use std::time::Duration;

use async_trait::async_trait;
use domain::payments::{
    Charge, ChargeError, Checkout, FetchError, GatewayUnavailable, NotificationRefused, Payment, PaymentGateway,
    PaymentId, PaymentStatus, REPLAY_WINDOW,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use serde_json::error::Category;
use time::OffsetDateTime;
use url::Url;

use super::wire::{ChargeWire, CheckoutWire, Notification, OpenedWire, PaymentWire, RefusalWire};

/// The header of a notification's signature, `t=<Unix seconds>,v1=<hex>`: HMAC-SHA256 over the seconds, a dot and the
/// body as it was sent.
pub const SIGNATURE_HEADER: &str = "x-rebill-signature";

/// The whole exchange, from connecting to the last byte.
const DEADLINE: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const MAX_ANSWER: usize = 64 * 1024;

/// Where the gateway is, and the secrets shared with it.
#[derive(Debug, Clone)]
pub struct RebillConfig {
    /// Such as `https://api.rebill.com`; `/v1/payments` is added to it.
    pub base_url: Url,
    pub api_key: SecretString,
    pub webhook_secret: SecretString,
}

/// [`PaymentGateway`] over HTTP.
pub struct Rebill {
    client: Client,
    payments: Url,
    checkouts: Url,
    api_key: SecretString,
    webhook_key: hmac::Key,
}

impl Rebill {
    /// # Errors
    /// When the client cannot be set up, or the address is none that paths can be added to.
    pub fn new(config: RebillConfig) -> Result<Self, GatewayUnavailable> {
        let RebillConfig { base_url, api_key, webhook_secret } = config;
        let client = Client::builder()
            .timeout(DEADLINE)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| GatewayUnavailable(error.to_string()))?;
        let below = |name| {
            let mut url = base_url.clone();
            url.path_segments_mut()
                .map_err(|()| GatewayUnavailable("the address takes no path".to_owned()))?
                .pop_if_empty()
                .extend(["v1", name]);
            Ok::<_, GatewayUnavailable>(url)
        };
        let (payments, checkouts) = (below("payments")?, below("checkouts")?);
        let webhook_key = hmac::Key::new(hmac::HMAC_SHA256, webhook_secret.expose_secret().as_bytes());
        Ok(Self { client, payments, checkouts, api_key, webhook_key })
    }

    async fn open(&self, request: RequestBuilder) -> Result<Response, reqwest::Error> {
        request.bearer_auth(self.api_key.expose_secret()).send().await
    }

    async fn send(&self, request: RequestBuilder) -> Result<(StatusCode, Vec<u8>), GatewayUnavailable> {
        heard(self.open(request).await.map_err(unavailable)?).await
    }
}

async fn heard(response: Response) -> Result<(StatusCode, Vec<u8>), GatewayUnavailable> {
    let status = response.status();
    Ok((status, read(response).await?))
}

async fn read(mut response: Response) -> Result<Vec<u8>, GatewayUnavailable> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unavailable)? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(GatewayUnavailable("the answer is too long".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The address may hold what no log should: only what went wrong is kept.
fn unavailable(error: reqwest::Error) -> GatewayUnavailable {
    GatewayUnavailable(error.without_url().to_string())
}

/// Without a connection the gateway has not heard of the charge.
fn unheard(error: reqwest::Error) -> ChargeError {
    let is_unsent = error.is_connect();
    let error = unavailable(error);
    if is_unsent { ChargeError::NotSent(error) } else { error.into() }
}

fn payment(body: &[u8]) -> Result<Payment, FetchError> {
    let wire: PaymentWire = serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => FetchError::Unreadable("not a payment"),
        // A page that says that it is being maintained, or an answer that breaks off: asking again gets another.
        _ => GatewayUnavailable("its answer is not JSON, or breaks off".to_owned()).into(),
    })?;
    wire.read().map_err(FetchError::Unreadable)
}

/// The signature of a body at a time.
pub fn sign(secret: &str, timestamp: i64, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, &signed(timestamp, body));
    format!("t={timestamp},v1={}", hex::encode(tag.as_ref()))
}

fn signed(timestamp: i64, body: &[u8]) -> Vec<u8> {
    [format!("{timestamp}.").as_bytes(), body].concat()
}

/// The parts of the header, each exactly once and in this order.
fn parts(signature: &str) -> Option<(i64, Vec<u8>)> {
    let (timestamp, tag) = signature.strip_prefix("t=")?.split_once(",v1=")?;
    let digits = (1..=12).contains(&timestamp.len()) && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let tag = hex::decode(tag).ok().filter(|tag| tag.len() == 32)?;
    digits.then(|| timestamp.parse().ok().map(|timestamp| (timestamp, tag)))?
}

#[async_trait]
impl PaymentGateway for Rebill {
    fn name(&self) -> &'static str {
        "rebill"
    }

    fn signature_header(&self) -> &'static str {
        SIGNATURE_HEADER
    }

    fn notified(&self, signature: &str, body: &[u8], now: OffsetDateTime) -> Result<PaymentId, NotificationRefused> {
        let (timestamp, tag) = parts(signature).ok_or(NotificationRefused::Malformed)?;
        // In constant time. Before the timestamp: a forger learns nothing about our clock.
        hmac::verify(&self.webhook_key, &signed(timestamp, body), &tag).map_err(|_| NotificationRefused::Forged)?;
        if timestamp.abs_diff(now.unix_timestamp()) > REPLAY_WINDOW.whole_seconds().unsigned_abs() {
            return Err(NotificationRefused::Stale);
        }
        let notification: Notification = serde_json::from_slice(body).map_err(|_| NotificationRefused::Unreadable)?;
        notification.payment_id().parse().map_err(|_| NotificationRefused::Unreadable)
    }

    async fn fetch(&self, id: &PaymentId) -> Result<Option<Payment>, FetchError> {
        let mut url = self.payments.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.push(id.as_str());
        }
        let (status, body) = self.send(self.client.get(url)).await?;
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            other => return Err(GatewayUnavailable(format!("it answered {other}")).into()),
        }
        let payment = payment(&body)?;
        if payment.id != *id {
            return Err(FetchError::Unreadable("another payment"));
        }
        Ok(Some(payment))
    }

    async fn charge(&self, charge: &Charge) -> Result<Payment, ChargeError> {
        let request = self
            .client
            .post(self.payments.clone())
            .header("idempotency-key", &charge.idempotency_key)
            .json(&ChargeWire::from(charge));
        let (status, body) = heard(self.open(request).await.map_err(unheard)?).await?;
        match status {
            StatusCode::OK | StatusCode::CREATED => {
                let payment = payment(&body)?;
                match payment.status {
                    PaymentStatus::Rejected => Err(ChargeError::Declined("rejected".to_owned())),
                    _ => Ok(payment),
                }
            }
            // What the gateway refuses for good; anything else may be different the next time.
            StatusCode::PAYMENT_REQUIRED | StatusCode::BAD_REQUEST => {
                let refusal: Option<RefusalWire> = serde_json::from_slice(&body).ok();
                Err(ChargeError::Declined(reason(refusal.map(|refusal| refusal.code))))
            }
            other => Err(unanswered(other)),
        }
    }

    async fn checkout(&self, checkout: &Checkout) -> Result<Url, GatewayUnavailable> {
        let request = self.client.post(self.checkouts.clone()).json(&CheckoutWire::from(checkout));
        match self.send(request).await? {
            (StatusCode::OK | StatusCode::CREATED, body) => opened(&body, &self.checkouts),
            (other, _) => Err(GatewayUnavailable(format!("it answered {other}"))),
        }
    }
}

/// What a status means that says nothing of the charge. A request that is unauthorised, or over the rate limit, is turned away
/// before the charge is looked at.
fn unanswered(status: StatusCode) -> ChargeError {
    let error = GatewayUnavailable(format!("it answered {status}"));
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS => ChargeError::NotSent(error),
        _ => error.into(),
    }
}

/// A page for a person: by TLS, or where the gateway itself is, which on a developer's machine speaks plain HTTP.
fn opened(body: &[u8], gateway: &Url) -> Result<Url, GatewayUnavailable> {
    let unreadable = |what: &str| GatewayUnavailable(format!("its checkout {what}"));
    let OpenedWire { url } = serde_json::from_slice(body).map_err(|_| unreadable("has no address"))?;
    let url = Url::parse(&url).map_err(|_| unreadable("has no address"))?;
    if url.scheme() == "https" || url.origin() == gateway.origin() {
        Ok(url)
    } else {
        Err(unreadable("is at an address that is not https"))
    }
}

/// The gateway's code, if it is one that can be shown and stored.
fn reason(code: Option<String>) -> String {
    let shown = |code: &String| {
        (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    code.filter(shown).unwrap_or_else(|| "declined".to_owned())
}

#[cfg(test)]
mod tests;
