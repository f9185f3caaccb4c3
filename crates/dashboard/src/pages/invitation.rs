//! Accepting an invitation.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form, Path, ReqData},
};
use domain::{log_in::Chosen, passwords::PasswordFault, people::EmailAddress, sessions::LinkPurpose};
use serde::Deserialize;

use super::{entry, html, reset::email, see, sign_up::name_of, writer};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ask::{self, Field, Model},
        panel::Way,
    },
};

/// Of who has no password yet, one is asked for.
fn accepting(writer: &Writer, is_new: bool, fault: Option<PasswordFault>) -> Model {
    let error = fault.map(|fault| entry::fault(writer, fault));
    let password = is_new.then(|| Field { error, ..entry::new_password_field(writer) });
    let form = entry::form(password.into_iter().collect(), writer.say("invitation-accept"));
    entry::model(writer, "invitation-title", vec![writer.say("invitation-what")], Some(form))
}

/// What who has an account reads: they joined, and log in to see it.
fn joined_already(writer: &Writer) -> Model {
    let ways = vec![Way { text: writer.say("login-title"), address: "/login".to_owned() }];
    Model { ways, ..entry::model(writer, "invitation-joined", vec![writer.say("invitation-joined-what")], None) }
}

async fn is_new(email: &str, state: &State) -> Result<bool, PageError> {
    let Ok(email) = email.parse::<EmailAddress>() else { return Ok(false) };
    Ok(state.people.find(&email).await?.is_none())
}

pub async fn open(request: HttpRequest, token: Path<String>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = writer(None, request.headers(), (state.clock)());
    let Some((_, link)) = entry::look(&token, LinkPurpose::Invitation, &state).await? else {
        return Ok(entry::gone(&writer));
    };
    let is_new = is_new(&email(link), &state).await?;
    Ok(html(ask::page(&accepting(&writer, is_new, None))))
}

#[derive(Deserialize)]
pub struct Fields {
    #[serde(default)]
    password: String,
}

/// Joins. Who is new is logged in, who is logged in already sees the shop, and who has an account logs in as usual.
pub async fn accept(
    request: HttpRequest,
    viewer: Option<Viewer>,
    token: Path<String>,
    fields: Form<Fields>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(None, request.headers(), now);
    let Some((token, link)) = entry::look(&token, LinkPurpose::Invitation, &state).await? else {
        return Ok(entry::gone(&writer));
    };
    let email = email(link);
    let is_new = is_new(&email, &state).await?;
    let chosen = if is_new {
        let password = match entry::chosen(&fields.password, &email, &[]) {
            Ok(password) => password,
            Err(fault) => return Ok(entry::unprocessable(&accepting(&writer, true, Some(fault)))),
        };
        let password = state.log_in.passwords.hash(password, state.log_in.salt()).await?;
        Some(Chosen { name: name_of(&email), password, language: writer.locale().language })
    } else {
        None
    };
    let joined = state.mail_links.join(token.hash(), chosen, from.0.to_string(), now).await;
    let Some((person, user)) = entry::used(joined)? else { return Ok(entry::gone(&writer)) };
    if let Some(viewer) = viewer.filter(|viewer| viewer.session().person.id == person) {
        state.sessions.go_to(viewer.session().id, &user).await?;
        return Ok(see("/"));
    }
    if !is_new {
        return Ok(html(ask::page(&joined_already(&writer))));
    }
    entry::let_in(person, &request, from.0, &state, now).await
}
