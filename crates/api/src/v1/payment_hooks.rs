//! `POST /hooks/payments/{gateway}`: where a payment gateway tells that a payment changed.
//!
//! Answers follow one rule: what may succeed later is answered 503, so that the gateway sends it again; what never will
//! is answered for good.

use actix_web::{HttpRequest, web};
use app::payments::{PaymentError, PaymentOutcome, outcome};
use domain::payments::NotificationRefused;
use serde::Serialize;

use crate::{
    auth::ClientAddress,
    body::Upload,
    error::{ApiError, Code},
    notifications::{admit_signed, single_header},
    respond::{API_VERSION, Reply},
    state::State,
    write::detached,
};

#[derive(Serialize)]
struct Body {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    api_version: &'static str,
}

/// Takes a notification: checks its signature, asks the gateway about the payment it names, writes what that means.
#[utoipa::path(
    post, path = "/hooks/payments/{gateway}", security(()),
    extensions(("x-signed" = json!(true)), ("x-internal" = json!(true)))
)]
pub async fn receive(
    request: HttpRequest,
    address: ClientAddress,
    upload: Upload,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let payment_service = state
        .payment_service
        .clone()
        .filter(|payment_service| request.match_info().get("gateway") == Some(payment_service.gateway.name()));
    let payment_service = payment_service.ok_or(ApiError::new(Code::NotFound))?;
    let now = (state.clock)();
    let signature = single_header(request.headers(), payment_service.gateway.signature_header()).unwrap_or_default();
    let payment = payment_service.gateway.notified(signature, upload.bytes(), now).map_err(refused)?;
    admit_signed(&request, address, &state).await?;
    let taken = detached(async move { payment_service.take(&payment, now).await.map_err(Later) }).await?;
    let (outcome, reason) = match &taken {
        PaymentOutcome::Settled(settled) => (outcome(settled), None),
        PaymentOutcome::Refused(refusal) => ("refused", Some(refusal.as_str())),
    };
    Reply::done(&Body { outcome, reason, api_version: API_VERSION })
}

fn refused(refusal: NotificationRefused) -> ApiError {
    let reason = match refusal {
        NotificationRefused::Malformed => "malformed",
        NotificationRefused::Stale => "stale",
        NotificationRefused::Forged => "mismatch",
        NotificationRefused::Unreadable => {
            return ApiError::new(Code::InvalidBody).message("The body names no payment.");
        }
    };
    ApiError::new(Code::InvalidSignature).reason(reason)
}

/// What may succeed when it is tried again.
struct Later(PaymentError);

impl From<Later> for ApiError {
    fn from(Later(error): Later) -> Self {
        match error {
            PaymentError::Store(error) => error.into(),
            PaymentError::Gateway(_) | PaymentError::UnknownPayment => {
                tracing::warn!(%error, "a notified payment could not be fetched");
                Self::new(Code::GatewayUnavailable).cause(error.to_string())
            }
        }
    }
}
