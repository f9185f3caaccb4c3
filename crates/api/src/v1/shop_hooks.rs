//! `POST /hooks/{provider}`: where shop platforms tell that something changed.
//!
//! A hook is stored and answered, nothing else: Mercado Libre gives 500 ms. What was not stored in time is answered 503, so
//! that it is sent again; the poll finds what is never sent again.

use std::time::Duration;

use actix_web::{HttpRequest, http::header::HeaderMap, web};
use app::shops::receive::{NotTaken, store, verify};
use domain::shops::hooks::{HookHeaders, HookRefused};
use serde::Serialize;

use crate::{
    auth::ClientAddress,
    body::{MAX_BATCH_BYTES, Upload},
    error::{ApiError, Code},
    notifications::{admit_unsigned_hook, mark_signed, single_header},
    path,
    respond::{API_VERSION, Reply},
    state::State,
    write::detached,
};

/// How long a hook may take to be stored.
const STORED_WITHIN: Duration = Duration::from_millis(300);

#[derive(Serialize)]
struct Body {
    ok: bool,
    api_version: &'static str,
}

/// The headers, by name.
struct Headers<'a>(&'a HeaderMap);

impl HookHeaders for Headers<'_> {
    fn one(&self, name: &str) -> Option<&str> {
        single_header(self.0, name)
    }
}

/// Takes a hook. The answer is the same whether anybody is connected to the shop: who sends unsigned ones learns nothing.
#[utoipa::path(
    post, path = "/hooks/{provider}", security(()),
    extensions(("x-signed" = json!(true)), ("x-internal" = json!(true)))
)]
pub async fn receive(
    request: HttpRequest,
    address: ClientAddress,
    upload: Upload<MAX_BATCH_BYTES>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (provider, now) = (path::provider(&request)?, (state.clock)());
    let verified = verify(&state.shops.ports.connectors, provider, &Headers(request.headers()), upload.bytes(), now);
    let hook = match verified {
        Ok(hook) => hook,
        Err(NotTaken::Refused(HookRefused::Foreign)) => return taken(),
        Err(refused) => return Err(refused.into()),
    };
    if provider.signs_hooks() {
        mark_signed(&request, &state);
    } else {
        admit_unsigned_hook(&request, address, &state).await?;
    }
    let inbox = state.inbox.clone();
    // The row is written even when the answer comes too late to say so: the next delivery of the hook finds it.
    let storing = detached(async move { store(&*inbox, provider, hook, now).await });
    let late = |_| ApiError::new(Code::Overloaded).cause("a hook could not be stored in time".to_owned());
    tokio::time::timeout(STORED_WITHIN, storing).await.map_err(late)??;
    taken()
}

fn taken() -> Result<Reply, ApiError> {
    Reply::done(&Body { ok: true, api_version: API_VERSION })
}

impl From<NotTaken> for ApiError {
    fn from(error: NotTaken) -> Self {
        match error {
            NotTaken::NotConfigured => Self::new(Code::NotFound),
            NotTaken::Refused(HookRefused::Unreadable) => {
                Self::new(Code::InvalidBody).message("The body is not one that the platform sends.")
            }
            NotTaken::Refused(HookRefused::Unsigned) => Self::new(Code::InvalidSignature).reason("malformed"),
            NotTaken::Refused(HookRefused::Forged | HookRefused::Foreign) => {
                Self::new(Code::InvalidSignature).reason("mismatch")
            }
        }
    }
}
