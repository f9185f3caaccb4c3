//! Proving again who one is, before what could do harm.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{self, Data, ReqData},
};
use domain::{passwords::Password, sessions::UNREMEMBERED};
use serde::Deserialize;

use super::{
    entry, html,
    login::{COMMAND, escaped, next},
    parameter, see,
    shell::theme,
    writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::{Viewer, cookie},
    state::State,
    text::Writer,
    views::{
        ask::{self, Kind, Model},
        form::{Button, Form},
    },
};

/// Where to prove it, and to go on from there to `back`.
pub fn address(back: &str) -> String {
    format!("/confirm?next={}", escaped(back))
}

/// The form of the page `back`, for who proved lately who they are; for others the way to prove it, before anything is filled in.
pub fn first(writer: &Writer, viewer: &Viewer, back: &str, form: Form) -> Form {
    if viewer.session().is_confirmed(writer.now) {
        return form;
    }
    Form {
        about: [form.about, vec![writer.say("confirm-needed")]].concat(),
        is_get: true,
        action: "/confirm".to_owned(),
        hidden: vec![("next", back.to_owned())],
        fields: vec![],
        buttons: vec![Button { class: "btn", text: writer.say("confirm-title"), sends: None }],
        ..form
    }
}

fn model(writer: &Writer, viewer: &Viewer, to: &str) -> Model {
    let password = entry::field("password", writer.say("password"), Kind::Line("password", "current-password"));
    let code = entry::field("code", writer.say("code"), Kind::Code);
    let fields = [Some(password), viewer.session().has_second_factor.then_some(code)];
    let mut form = entry::form(fields.into_iter().flatten().collect(), writer.say("confirm-go"));
    form.action = "/confirm".to_owned();
    form.hidden.push(("next", to.to_owned()));
    asked(writer, viewer, vec![writer.say("confirm-needed")], Some(form))
}

/// The page, in the colours of the person.
fn asked(writer: &Writer, viewer: &Viewer, paragraphs: Vec<String>, form: Option<ask::Form>) -> Model {
    let mut model = entry::model(writer, "confirm-title", paragraphs, form);
    model.plain.theme = theme(viewer);
    model
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let to = parameter(&request, "next");
    let to = next(to.as_deref());
    if viewer.session().is_confirmed(now) {
        return Ok(see(to));
    }
    let writer = writer(Some(&viewer), request.headers(), now);
    if entry::has_password(&viewer, &state).await? {
        return Ok(html(ask::page(&model(&writer, &viewer, to))));
    }
    let how = writer.message("confirm-by-link").text("command", COMMAND).say();
    Ok(html(ask::page(&asked(&writer, &viewer, vec![writer.say("confirm-needed"), how], None))))
}

#[derive(Deserialize)]
pub struct Fields {
    password: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    next: String,
}

pub async fn post(
    request: HttpRequest,
    viewer: Viewer,
    fields: web::Form<Fields>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(Some(&viewer), request.headers(), now);
    let Fields { password, code, next: wanted } = fields.into_inner();
    let to = next(Some(&wanted));
    let session = viewer.session();
    match state.log_in.confirm(session, Password::entered(&password), &code, from.0, now).await {
        Ok(Some(token)) => {
            let is_remembered = session.expires_at - session.created_at > UNREMEMBERED;
            let mut response = see(to);
            let cookie = cookie(&token, is_remembered, &state.settings);
            response.add_cookie(&cookie).map_err(|error| PageError::Internal(error.to_string()))?;
            Ok(response)
        }
        Ok(None) => Ok(entry::wrong(model(&writer, &viewer, to), writer.say("confirm-wrong"))),
        Err(error) => Ok(entry::again(model(&writer, &viewer, to), entry::refused(&writer, error)?)),
    }
}
