//! Looking at the live account or the sandbox.

use actix_web::{
    HttpResponse,
    web::{Data, Form},
};
use domain::accounts::Mode;
use serde::Deserialize;

use super::see;
use crate::{error::PageError, session::Viewer, state::State};

#[derive(Deserialize)]
pub struct Fields {
    mode: Mode,
}

pub async fn post(viewer: Viewer, fields: Form<Fields>, state: Data<State>) -> Result<HttpResponse, PageError> {
    state.sessions.switch(viewer.session().id, fields.mode).await?;
    Ok(see("/"))
}
