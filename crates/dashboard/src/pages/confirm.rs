//! Proving again who one is, before what could do harm.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use url::form_urlencoded;

use super::{
    html,
    login::{COMMAND, next},
    parameter, see, writer,
};
use crate::{
    session::Viewer,
    state::State,
    views::{login, plain::Plain},
};

/// Where to prove it, and to go on from there to `back`.
pub fn address(back: &str) -> String {
    let next: String = form_urlencoded::byte_serialize(back.as_bytes()).collect();
    format!("/confirm?next={next}")
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> HttpResponse {
    let now = (state.clock)();
    if viewer.session().is_confirmed(now) {
        return see(next(parameter(&request, "next").as_deref()));
    }
    let writer = writer(Some(&viewer), request.headers(), now);
    let model = login::Model {
        plain: Plain::new(&writer, writer.say("confirm-title")),
        needed: writer.say("confirm-needed"),
        how: writer.message("login-how").text("command", COMMAND).say(),
    };
    html(login::page(&model))
}
