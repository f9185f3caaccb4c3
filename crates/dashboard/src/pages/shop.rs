//! Looking at another shop that one is a member of.

use actix_web::{
    HttpResponse,
    web::{Data, Form},
};
use serde::Deserialize;

use super::see;
use crate::{error::PageError, session::Viewer, state::State};

#[derive(Deserialize)]
pub struct Fields {
    user: String,
}

pub async fn post(viewer: Viewer, fields: Form<Fields>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let user = fields.user.parse().map_err(|_| PageError::Invalid("user"))?;
    if state.sessions.go_to(viewer.session().id, &user).await? { Ok(see("/")) } else { Err(PageError::NotFound) }
}
