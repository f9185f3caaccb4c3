//! `/hooks/social/meta`: where Meta confirms a subscription, and tells that somebody commented.
//!
//! A hook is stored as it came and answered, nothing else. Meta sends one again that is not answered with 200.

use actix_web::{HttpRequest, web};
use domain::social::channels::HookRefused;
use serde::Serialize;

use crate::{
    body::{MAX_BATCH_BYTES, Upload},
    error::{ApiError, Code},
    notifications::{mark_signed, single_header},
    query::pairs,
    respond::{Cache, Reply},
    state::State,
    write::detached,
};

/// Longest challenge that is given back, bytes.
const MAX_CHALLENGE: usize = 512;

#[derive(Serialize)]
struct Empty {}

/// Gives back the challenge of who knows the app's token.
#[utoipa::path(
    get, path = "/hooks/social/meta", security(()),
    extensions(("x-signed" = json!(true)), ("x-internal" = json!(true)))
)]
pub async fn confirm(request: HttpRequest, state: web::Data<State>) -> Result<Reply, ApiError> {
    let app = state.social_app.as_ref().ok_or(ApiError::new(Code::NotFound))?;
    let pairs = pairs(request.query_string())?;
    let one = |name: &str| {
        let mut values = pairs.iter().filter(|(key, _)| key == name);
        values.next().map(|(_, value)| value.as_str()).filter(|_| values.next().is_none())
    };
    let challenge = one("hub.challenge").filter(|text| text.len() <= MAX_CHALLENGE);
    match (one("hub.mode"), one("hub.verify_token"), challenge) {
        (Some("subscribe"), Some(token), Some(challenge)) if app.confirms(token) => {
            mark_signed(&request, &state);
            Ok(Reply::bytes("text/plain; charset=utf-8", challenge.as_bytes().to_vec(), Cache::No))
        }
        _ => Err(ApiError::new(Code::SubscriptionRefused)),
    }
}

/// Stores a hook whose signature is right.
#[utoipa::path(
    post, path = "/hooks/social/meta", security(()),
    extensions(("x-signed" = json!(true)), ("x-internal" = json!(true)))
)]
pub async fn receive(
    request: HttpRequest,
    upload: Upload<MAX_BATCH_BYTES>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let app = state.social_app.as_ref().ok_or(ApiError::new(Code::NotFound))?;
    app.verify(upload.bytes(), single_header(request.headers(), "x-hub-signature-256"))?;
    mark_signed(&request, &state);
    let (hooks, now) = (state.social_hooks.clone(), (state.clock)());
    detached(async move { hooks.receive(upload.bytes(), now).await }).await?;
    Reply::done(&Empty {})
}

impl From<HookRefused> for ApiError {
    fn from(refused: HookRefused) -> Self {
        Self::new(Code::InvalidSignature).reason(match refused {
            HookRefused::Unsigned => "malformed",
            HookRefused::Forged => "mismatch",
        })
    }
}
