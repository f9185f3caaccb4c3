//! Logging out.

use actix_web::{
    HttpResponse,
    web::{Data, ReqData},
};
use app::second_factor::by;
use domain::{audit::Action, sessions::Ended};

use super::see;
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::{Viewer, no_cookie},
    state::State,
};

pub async fn post(viewer: Viewer, from: ReqData<ClientAddress>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let session = viewer.session();
    let note = by(session, Action::LoggedOut, from.0.to_string());
    state.sessions.end(session.person.id, Ended::One(session.id), Some(note), (state.clock)()).await?;
    let mut response = see("/login");
    response.add_cookie(&no_cookie(&state.settings)).map_err(|error| PageError::Internal(error.to_string()))?;
    response.headers_mut().insert(
        actix_web::http::header::HeaderName::from_static("clear-site-data"),
        actix_web::http::header::HeaderValue::from_static("\"cache\""),
    );
    Ok(response)
}
