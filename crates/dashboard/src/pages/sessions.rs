//! Where the person is logged in, and ending that.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form, ReqData},
};
use app::second_factor::by;
use domain::{
    SessionId,
    audit::Action,
    sessions::{Ended, Listed},
};
use serde::Deserialize;

use super::{
    entry, see,
    settings::{self, Tab},
    writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::settings::{Part, Row},
};

const PATH: &str = Tab::Sessions.address();

/// Browsers and systems by what their `User-Agent` has, the telling ones first.
const BROWSERS: &[(&str, &str)] =
    &[("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari")];
const SYSTEMS: &[(&str, &str)] = &[
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// What a device is called.
fn name(writer: &Writer, user_agent: &str) -> String {
    let find =
        |of: &[(&str, &'static str)]| of.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name);
    match (find(BROWSERS), find(SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser}, {system}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => writer.say("device-unknown"),
    }
}

fn row(writer: &Writer, listed: &Listed, own: SessionId) -> Row {
    let Listed { id, device, created_at, seen_at, expires_at: _ } = listed;
    let about = writer
        .message(if *id == own { "session-own" } else { "session-about" })
        .text("address", &device.address)
        .text("since", writer.moment(*created_at))
        .text("seen", writer.moment(*seen_at));
    let mut form = entry::form(Vec::new(), writer.say("session-end"));
    form.action = PATH.to_owned();
    form.hidden.push(("session", id.to_string()));
    let forms = if *id == own { Vec::new() } else { vec![form] };
    Row { name: name(writer, &device.user_agent), about: about.say().into(), forms }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(Some(&viewer), request.headers(), now);
    let session = viewer.session();
    let listed = state.sessions.list(session.person.id, now).await?;
    let mut part = Part::new("h-sessions", writer.say("sessions"), vec![writer.say("sessions-what")]);
    part.rows = listed.iter().map(|one| row(&writer, one, session.id)).collect();
    let mut form = entry::form(Vec::new(), writer.say("sessions-end-others"));
    form.action = PATH.to_owned();
    form.is_danger = true;
    part.forms.push(form);
    settings::page(&viewer, &state, &writer, Tab::Sessions, None, vec![part]).await
}

#[derive(Deserialize)]
pub struct Fields {
    /// None: all others.
    #[serde(default)]
    session: Option<i64>,
}

/// Ends one of the person's sessions, or all but this one.
pub async fn post(
    viewer: Viewer,
    fields: Form<Fields>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let session = viewer.session();
    let (which, action) = match fields.session {
        Some(id) => (Ended::One(SessionId(id)), Action::SessionEnded),
        None => (Ended::AllBut(session.id), Action::SessionsEnded),
    };
    let note = by(session, action, from.0.to_string());
    state.sessions.end(session.person.id, which, Some(note), (state.clock)()).await?;
    Ok(see(PATH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn a_device_is_called_by_its_browser_and_its_system() {
        let name = |agent| name(&writer("en"), agent);
        let safari =
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Safari/604.1";
        let edge = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0";
        assert_eq!((name(safari), name(edge)), ("Safari, iPhone".to_owned(), "Edge, Windows".to_owned()));
        assert_eq!(name("curl/8.1"), "Unknown device");
    }
}
