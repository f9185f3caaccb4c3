//! The link that opens a shop for who has a shell on the machine that runs the service, once.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path, ReqData},
};
use domain::{
    accounts::Mode,
    audit::{Action, Actor, Entry},
    sessions::{Beginning, LinkPurpose, NewSession, Token},
};
use serde_json::Value;

use super::{entry, html, login::COMMAND, see, writer};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session,
    state::State,
    views::{enter, plain::Plain},
};

/// Shows a button: programs that look at links in messages open them, but press nothing.
pub async fn get(request: HttpRequest, token: Path<String>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let link = match Token::parse(&token) {
        Some(token) => state.links.look(token.hash(), LinkPurpose::Enter, now).await?,
        None => None,
    };
    let writer = writer(None, request.headers(), now);
    let (title, what) = match &link {
        Some(link) => {
            let shop = link.details.get("shop").and_then(Value::as_str).unwrap_or_default();
            (writer.message("enter-title").text("shop", shop).say(), writer.say("enter-what"))
        }
        None => (writer.say("enter-gone"), writer.message("enter-gone-what").text("command", COMMAND).say()),
    };
    let model =
        enter::Model { plain: Plain::new(&writer, title), what, go: link.is_some().then(|| writer.say("enter-go")) };
    Ok(html(enter::page(&model)))
}

/// Takes the link and begins a session, unless the person may not log in any more. A session that the browser had stays what it
/// was.
pub async fn post(
    request: HttpRequest,
    token: Path<String>,
    address: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let token = Token::parse(&token).ok_or(PageError::NotFound)?;
    let gone = || Ok(see(&format!("/enter/{}", token.expose())));
    let link = state.links.look(token.hash(), LinkPurpose::Enter, now).await?;
    let Some(link) = link else { return gone() };
    let mode = link.details.get("mode").and_then(|mode| mode.as_str()?.parse().ok()).unwrap_or(Mode::Live);
    let Some((person, user)) = link.person.zip(link.user) else { return gone() };
    // Read before the link is taken: a password that is changed later ends the link, or keeps the session from beginning.
    let Some(known) = state.log_in.credentials.of_person(person).await? else { return gone() };
    if state.links.take(token.hash(), LinkPurpose::Enter, now).await?.is_none() {
        return gone();
    }
    let fresh = (state.token)();
    let device = entry::device(request.headers(), address.0);
    // Whoever has the link has a shell on the machine.
    let entry = Entry::new(user.clone(), Actor::Operator, Action::LoggedIn, Some(address.0.to_string()));
    let session = NewSession { hash: fresh.hash(), person, user, mode, device, remember: true };
    let with = Beginning { proven: known.proven(), note: Some(entry), ..Beginning::default() };
    if !state.sessions.begin(session, with, now).await? {
        return gone();
    }
    let mut response = see("/");
    response
        .add_cookie(&session::cookie(&fresh, true, &state.settings))
        .map_err(|error| PageError::Internal(error.to_string()))?;
    Ok(response)
}
