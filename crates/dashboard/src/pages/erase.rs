//! The end of the account: asked for by name and password, undone within a fortnight.

use std::net::IpAddr;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form, ReqData},
};
use app::second_factor::by;
use domain::{
    audit::Action,
    erasure::{Erasure, UNDO_FOR, is_meant},
    passwords::Password,
};
use serde::Deserialize;

use super::{
    entry, html, see,
    settings::{self, Tab},
    writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::{Viewer, no_cookie},
    state::State,
    text::Writer,
    views::{
        ask::{self, Field, Kind},
        panel::Way,
        settings::Part,
    },
};

const PATH: &str = Tab::Erase.address();

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    viewer.confirmed((state.clock)(), PATH)?;
    page(&request, &viewer, &state, None).await
}

/// The page, with what is wrong with what was sent.
async fn page(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    fault: Option<String>,
) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(viewer), request.headers(), (state.clock)());
    let part = match state.erasures.standing(&viewer.session().account.user_id).await? {
        Some(erasure) => coming(&writer, erasure),
        None => asking(&writer, viewer, entry::has_password(viewer, state).await?),
    };
    settings::page(viewer, state, &writer, Tab::Erase, fault.and_then(settings::fault), vec![part]).await
}

fn asking(writer: &Writer, viewer: &Viewer, has_password: bool) -> Part {
    let what = writer.message("erase-what").text("shop", &viewer.session().account.name).say();
    let undo = writer.message("erase-undo-for").count("days", UNDO_FOR.whole_days()).say();
    let mut part = Part::new("h-erase", writer.say("erase"), vec![what, writer.say("erase-now"), undo]);
    part.ways.push(Way { text: writer.say("erase-export"), address: Tab::Export.address().to_owned() });
    let name = Field {
        help: Some(viewer.session().account.name.clone()),
        ..entry::field("name", writer.say("erase-name"), Kind::Line("text", "off"))
    };
    let password = entry::field("password", writer.say("password"), Kind::Line("password", "current-password"));
    let code = entry::field("code", writer.say("code"), Kind::Code);
    let fields = [
        Some(name),
        has_password.then_some(password),
        (has_password && viewer.session().has_second_factor).then_some(code),
    ];
    let form = entry::form(fields.into_iter().flatten().collect(), writer.say("erase-go"));
    part.forms.push(ask::Form { action: PATH.to_owned(), is_danger: true, ..form });
    part
}

fn coming(writer: &Writer, erasure: Erasure) -> Part {
    let day = writer.full_day(writer.zone.day_of(erasure.due_at));
    let what = writer.message("erase-coming").text("day", day).text("time", writer.time(erasure.due_at)).say();
    let mut part = Part::new("h-erase", writer.say("erase"), vec![what, writer.say("erase-ended")]);
    part.forms.push(ask::Form { action: format!("{PATH}/undo"), ..entry::form(vec![], writer.say("erase-undo")) });
    part
}

#[derive(Deserialize)]
pub struct Asked {
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    code: String,
}

/// Why it is not done: another name, or whoever asks does not prove who they are.
async fn refusal(
    writer: &Writer,
    viewer: &Viewer,
    state: &State,
    asked: &Asked,
    from: IpAddr,
) -> Result<Option<String>, PageError> {
    let session = viewer.session();
    if !is_meant(&session.account.name, &asked.name) {
        return Ok(Some(writer.say("erase-name-wrong")));
    }
    if !entry::has_password(viewer, state).await? {
        return Ok(None);
    }
    let password = Password::entered(&asked.password);
    match state.log_in.confirm(session, password, &asked.code, from, writer.now).await {
        Ok(Some(_)) => Ok(None),
        Ok(None) => Ok(Some(writer.say("confirm-wrong"))),
        Err(error) => Ok(Some(entry::refused(writer, error)?.text)),
    }
}

/// Has the account erased, which logs everybody out at once.
pub async fn post(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Asked>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(&viewer), request.headers(), (state.clock)());
    viewer.confirmed(writer.now, PATH)?;
    if let Some(fault) = refusal(&writer, &viewer, &state, &fields, from.0).await? {
        return page(&request, &viewer, &state, Some(fault)).await;
    }
    let session = viewer.session();
    let mut note = by(session, Action::ErasureRequested, from.0.to_string());
    note.target = Some(session.account.name.clone());
    let erasure = Erasure::asked(writer.now);
    state.erasures.request(&session.account.user_id, erasure, note).await?;
    let day = writer.full_day(writer.zone.day_of(erasure.due_at));
    let gone = writer.message("erase-asked").text("day", day).say();
    let mut model = entry::model(&writer, "erase", vec![gone], None);
    model.ways.push(Way { text: writer.say("login-instead"), address: "/login".to_owned() });
    let mut response = html(ask::page(&model));
    response.add_cookie(&no_cookie(&state.settings)).map_err(|error| PageError::Internal(error.to_string()))?;
    Ok(response)
}

/// Takes it back.
pub async fn undo(viewer: Viewer, from: ReqData<ClientAddress>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let session = viewer.session();
    let mut note = by(session, Action::ErasureUndone, from.0.to_string());
    note.target = Some(session.account.name.clone());
    if state.erasures.undo(&session.account.user_id, note, now).await? {
        Ok(see(PATH))
    } else {
        Err(PageError::Conflict)
    }
}
