//! Errors as clients see them: one table from code to status and message.

use std::borrow::Cow;

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use app::outage;
use domain::{StoreError, error::Chain, idempotency::IdempotencyError, keys::Scope, tracking::Refusal};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// The value of `api_version` in every answer.
pub const API_VERSION: &str = "v1";

macro_rules! codes {
    ($($variant:ident $status:literal $text:literal $message:literal;)+) => {
        /// Every code that an answer's `error` may hold.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $message] $variant),+ }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            const fn row(self) -> (u16, &'static str, &'static str) {
                match self { $(Self::$variant => ($status, $text, $message)),+ }
            }
        }
    };
}

codes! {
    InvalidJson 400 "invalid_json" "The body is not valid JSON.";
    InvalidBody 400 "invalid_body" "The body must be a JSON object with the documented fields.";
    InvalidParameter 400 "invalid_parameter" "A parameter has a value that it cannot have.";
    MissingParameter 400 "missing_parameter" "A required parameter is missing.";
    InvalidWebhookUrl 400 "invalid_webhook_url" "Deliveries cannot go to this URL.";
    UnknownEvent 400 "unknown_event" "There is no event of this name.";
    InvalidEvent 400 "invalid_event" "An event name is 1 to 64 characters of a-z, A-Z, 0-9, '.', '_' and '-'.";
    InvalidProps 400 "invalid_props" "The properties must be a JSON object that can be stored exactly.";
    PropsTooLarge 400 "props_too_large" "The properties are longer than 8192 bytes.";
    InvalidVisitorId 400 "invalid_visitor_id" "A visitor id is a text of at most 128 characters.";
    InvalidSessionId 400 "invalid_session_id" "A session id is a text of at most 128 characters.";
    InvalidUrl 400 "invalid_url" "A page address is a text of at most 2048 characters.";
    InvalidTimestamp 400 "invalid_timestamp" "The timestamp must be RFC 3339, at most 72 hours old and 5 minutes ahead.";
    InvalidIdempotencyKey 400 "invalid_idempotency_key" "An idempotency key is 1 to 255 visible ASCII characters.";
    InvalidState 400 "invalid_state" "The authorization is unknown, used, expired or somebody else's. Begin a new one.";
    AuthorizationRefused 400 "authorization_refused" "The platform did not grant access. Begin a new authorization.";
    MissingAuthorization 401 "missing_authorization" "Send the header Authorization: Bearer <API_KEY>.";
    InvalidTokenFormat 401 "invalid_token_format" "The token is not an API key: keys start with svc_live_ or svc_test_.";
    KeyNotFound 401 "key_not_found" "There is no such API key.";
    KeyRevoked 401 "key_revoked" "The API key is revoked.";
    KeyExpired 401 "key_expired" "The API key has expired.";
    InvalidSignature 401 "invalid_signature" "The notification is not signed as it should be.";
    PaymentRequired 402 "payment_required" "AI access is paused.";
    InsufficientCredits 402 "insufficient_credits" "The balance is too small.";
    ScopeRead 403 "scope_required:read" "The API key lacks the scope `read`.";
    ScopeWrite 403 "scope_required:write" "The API key lacks the scope `write`.";
    SubscriptionRefused 403 "subscription_refused" "The subscription does not name the app's token.";
    NotFound 404 "not_found" "There is nothing at this path.";
    WebhookNotFound 404 "webhook_not_found" "There is no such webhook subscription.";
    MethodNotAllowed 405 "method_not_allowed" "The path does not support this method; see the header Allow.";
    RequestTimeout 408 "request_timeout" "The body did not arrive in time.";
    IdempotencyKeyReused 409 "idempotency_key_reused" "The idempotency key was used for another request.";
    IdempotencyInProgress 409 "idempotency_in_progress" "The first request with this idempotency key has not ended.";
    IdempotencyKeySuperseded 409 "idempotency_key_superseded" "What was created under this idempotency key is gone, or has another secret now.";
    ReplayRunning 409 "replay_running" "A replay of this subscription is running.";
    WebhookLimitReached 409 "webhook_limit_reached" "The account has as many webhook subscriptions as it may have.";
    AlertLimitReached 409 "alert_limit_reached" "The account has as many alert rules as it may have.";
    TemplateLimitReached 409 "template_limit_reached" "The account has as many templates of answers as it may have.";
    ProviderNotConfigured 409 "provider_not_configured" "No shop of this platform can be connected to this service.";
    CurrencyMismatch 409 "currency_mismatch" "The shop has another currency than the account.";
    ShopAlreadyConnected 409 "shop_already_connected" "The account has a shop of this platform, or the shop is connected elsewhere.";
    ProfileAlreadyConnected 409 "profile_already_connected" "The profile is connected to another account.";
    ProfileRequired 409 "profile_required" "Who agreed reaches several profiles. Begin again, and name one.";
    InvalidTransition 409 "invalid_transition" "The resource is not in a state that allows this.";
    PayloadTooLarge 413 "payload_too_large" "The body is larger than 64 KiB.";
    UnsupportedMediaType 415 "unsupported_media_type" "Send the body as JSON, not compressed, with the header Content-Type: application/json.";
    RateLimitExceeded 429 "rate_limit_exceeded" "Too many requests; the header Retry-After says when to come back.";
    InternalError 500 "internal_error" "Something went wrong here. The request id helps to find out what.";
    GatewayUnavailable 503 "gateway_unavailable" "The payment gateway did not confirm the payment. Send the notification again.";
    ProviderUnavailable 503 "provider_unavailable" "The platform does not answer as it should. Try again later.";
    NoDb 503 "no_db" "The database is unavailable. Try again in a moment.";
    Overloaded 503 "overloaded" "Too much is under way already. The header Retry-After says when to come back.";
}

impl Code {
    /// The value of `error`.
    pub const fn as_str(self) -> &'static str {
        self.row().1
    }

    /// The sentence used when there is nothing more precise to say.
    pub const fn message(self) -> &'static str {
        self.row().2
    }

    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.row().0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A refused or failed request. The cause of a failure goes to the log, never into the answer.
#[derive(Debug, thiserror::Error)]
#[error("{}", code.as_str())]
pub struct ApiError {
    pub code: Code,
    message: Option<Cow<'static, str>>,
    param: Option<String>,
    allowed: Option<&'static [&'static str]>,
    reason: Option<&'static str>,
    /// What failed underneath, outermost first: for the log alone.
    pub cause: Option<Box<str>>,
    /// Seconds to wait, where it is not the window of requests or the usual pause of the code that says so.
    pub retry_after: Option<u64>,
}

/// The body of every error.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error, example = json!({
    "error": "invalid_parameter", "message": "`limit` must be a whole number of at least 1.", "param": "limit",
    "request_id": "0198d0c0a7e17c3f9a5f3f8b1d2c4e6a", "api_version": "v1"
}))]
pub struct ErrorBody {
    /// For programs to switch on.
    pub error: &'static str,
    /// For people. May change at any time.
    pub message: String,
    /// The parameter or field at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub param: Option<String>,
    /// The values that the parameter may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<String>>)]
    pub allowed: Option<&'static [&'static str]>,
    /// What exactly is wrong with a webhook URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<&'static str>,
    /// Also in the header `X-Request-Id`.
    pub request_id: String,
    pub api_version: &'static str,
}

impl ApiError {
    pub const fn new(code: Code) -> Self {
        Self { code, message: None, param: None, allowed: None, reason: None, cause: None, retry_after: None }
    }

    pub fn message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.message = Some(message.into());
        self
    }

    pub fn param(mut self, name: impl Into<String>) -> Self {
        self.param = Some(name.into());
        self
    }

    pub const fn allowed(mut self, values: &'static [&'static str]) -> Self {
        self.allowed = Some(values);
        self
    }

    pub const fn reason(mut self, reason: &'static str) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Seconds after which to come back.
    pub const fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// A parameter whose value is not allowed. `fault` completes "`name` …".
    pub fn parameter(name: &str, fault: &str) -> Self {
        Self::new(Code::InvalidParameter).message(format!("`{name}` {fault}.")).param(name)
    }

    pub const fn scope(scope: Scope) -> Self {
        match scope {
            Scope::Read => Self::new(Code::ScopeRead),
            Scope::Write => Self::new(Code::ScopeWrite),
        }
    }

    /// A failure that is not the caller's: the cause goes to the log and nowhere else.
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "request failed");
        Self::new(Code::InternalError).cause(cause.to_string())
    }

    /// What failed underneath.
    pub fn cause(mut self, cause: String) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// The same about one event of many.
    pub fn refusal(self) -> Refusal {
        let message = self.message.as_deref().unwrap_or(self.code.message()).to_owned();
        Refusal { code: self.code.as_str().to_owned(), message, param: self.param }
    }

    /// The body of the answer to the request `request_id`.
    pub fn body(&self, request_id: &str) -> ErrorBody {
        ErrorBody {
            error: self.code.as_str(),
            message: self.message.as_deref().unwrap_or(self.code.message()).to_owned(),
            param: self.param.clone(),
            allowed: self.allowed,
            reason: self.reason,
            request_id: request_id.to_owned(),
            api_version: API_VERSION,
        }
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.code.status()
    }

    /// An empty answer: the edge, which knows the request's id, fills it in.
    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::Unavailable(_) => Code::NoDb,
            StoreError::Overloaded(_) => Code::Overloaded,
            StoreError::Internal(_) => return Self::internal(&Chain(&error)),
        };
        outage::warn(&error, "a request was refused");
        Self::new(code).cause(Chain(&error).to_string())
    }
}

impl From<IdempotencyError> for ApiError {
    fn from(error: IdempotencyError) -> Self {
        match error {
            IdempotencyError::Reused => Self::new(Code::IdempotencyKeyReused),
            IdempotencyError::InProgress => Self::new(Code::IdempotencyInProgress),
            IdempotencyError::Superseded => Self::new(Code::IdempotencyKeySuperseded),
            IdempotencyError::Store(error) => error.into(),
        }
    }
}
