//! What can be done about one API key: put another in its place, or revoke it.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form},
};
use app::second_factor::told;
use domain::{
    KeyId,
    audit::Action,
    keys::{DEFAULT_LIFETIME, DEFAULT_OVERLAP, KeyRecord, MAX_OVERLAP, MOST_WORKING, MakeError, Successor},
    mail::Notice,
};
use serde::Deserialize;
use time::Duration;

use super::{
    confirm, html, html_with,
    keys::{Ends, SENT_BEFORE, access, lifetimes, made_by, name, new_key, once},
    query, see,
    sent::{Sent, number, sent},
    shell::shell,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        figures::Fact,
        form::{self, Button, Field, Input, Pick},
        key::{self as view, Model},
        layout::Here,
        panel::Way,
        secret::Once,
    },
};

/// For how long a replaced key may go on working, hours.
const OVERLAPS: [i64; 4] = [0, DEFAULT_OVERLAP.whole_hours(), 72, MAX_OVERLAP.whole_hours()];

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = KeyId(query::id(&request)?);
    let keys = state.keys.list(viewer.account()).await?;
    let key = keys.iter().find(|key| key.id == id && key.check(writer.now).is_ok()).ok_or(PageError::NotFound)?;
    let rotation = confirm::first(&writer, &viewer, &format!("/keys/{id}"), rotation(&writer, &state, key));
    let forms = vec![rotation, revocation(&writer, key)];
    Ok(html(view::page(&model(&viewer, &state, &writer, key, None, forms).await?)))
}

/// What the form of a rotation sends.
#[derive(Deserialize)]
pub struct Rotation {
    ends: Ends,
    /// Hours.
    overlap: i64,
    form: Option<String>,
}

pub async fn rotate(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Rotation>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = KeyId(query::id(&request)?);
    viewer.confirmed(writer.now, &format!("/keys/{id}"))?;
    let overlap = OVERLAPS.into_iter().find(|hours| *hours == fields.overlap).ok_or(PageError::Invalid("overlap"))?;
    let wish = format!("rotation of the key {id}: {:?} {overlap}", fields.ends);
    let sending = match sent(&state, &viewer, writer.now, fields.form.as_deref(), &wish, SENT_BEFORE).await? {
        Sent::Now(sending) => sending,
        Sent::Before(response) => return Ok(response),
    };
    let key = new_key(&viewer, &state)?;
    let successor = Successor {
        hash: key.hash(),
        prefix: key.display_prefix().to_owned(),
        now: writer.now,
        expires_at: fields.ends.at(&writer),
        overlap_until: writer.now + Duration::hours(overlap),
        note: Some(viewer.note(Action::KeyRotated)),
        notice: told(viewer.session(), Notice::KeyMade),
    };
    let record = match state.keys.rotate(viewer.account(), id, successor, Some(MOST_WORKING)).await {
        Ok(Some(record)) => record,
        other => {
            sending.refused().await?;
            return match other {
                Err(MakeError::LimitReached) => refused(&viewer, &state, &writer, id).await,
                Err(MakeError::Store(error)) => Err(error.into()),
                Ok(_) => Err(PageError::NotFound),
            };
        }
    };
    sending.done(SENT_BEFORE).await;
    let once = once(&writer, &key, &record, &state.settings.api_url);
    Ok(html(view::page(&model(&viewer, &state, &writer, &record, Some(once), vec![]).await?)))
}

/// The page of a key that cannot be rotated, because as many others work as may.
async fn refused(viewer: &Viewer, state: &State, writer: &Writer, id: KeyId) -> Result<HttpResponse, PageError> {
    let known = state.keys.list(viewer.account()).await?;
    let key = known.iter().find(|key| key.id == id).ok_or(PageError::NotFound)?;
    let rotation = form::Form { about: vec![writer.say("key-limit")], ..rotation(writer, state, key) };
    let forms = vec![rotation, revocation(writer, key)];
    let page = view::page(&model(viewer, state, writer, key, None, forms).await?);
    Ok(html_with(StatusCode::BAD_REQUEST, page))
}

pub async fn revoke(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (id, note) = (KeyId(query::id(&request)?), viewer.note(Action::KeyRevoked));
    state.keys.revoke(viewer.account(), id, Some(note), (state.clock)()).await?.ok_or(PageError::NotFound)?;
    Ok(see(&format!("{}?revoked=true", Here::Keys.address())))
}

async fn model(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    key: &KeyRecord,
    once: Option<Once>,
    forms: Vec<form::Form>,
) -> Result<Model, PageError> {
    let title = name(writer, key);
    Ok(Model {
        shell: shell(viewer, state, writer, Here::Keys, title.clone()).await?,
        title,
        back: Way { text: writer.say("keys"), address: Here::Keys.address().to_owned() },
        facts: facts(writer, key),
        once,
        forms,
    })
}

fn facts(writer: &Writer, key: &KeyRecord) -> Vec<Fact> {
    let day = |at| writer.day_of_year(writer.zone.day_of(at));
    let never = || writer.say("never");
    [
        ("key-prefix", format!("{}…", key.prefix)),
        ("key-access", access(writer, key)),
        ("key-made-by", made_by(writer, key)),
        ("key-last-used", key.last_used_at.map_or_else(never, |at| writer.moment(at))),
        ("key-ends", key.expires_at.map_or_else(never, day)),
    ]
    .map(|(id, text)| Fact { name: writer.say(id), text, value: None, change: None, below: None })
    .into()
}

fn rotation(writer: &Writer, state: &State, key: &KeyRecord) -> form::Form {
    let field = |name, input| Field { name, label: writer.say(&format!("key-{name}")), help: None, error: None, input };
    let overlap = |hours: i64| Pick {
        value: hours.to_string(),
        text: match hours {
            0 => writer.say("key-overlap-none"),
            _ => writer.message("key-overlap-hours").count("count", hours).say(),
        },
        is_chosen: hours == DEFAULT_OVERLAP.whole_hours(),
    };
    let ends = Ends::after(DEFAULT_LIFETIME);
    form::Form {
        id: "h-rotate",
        title: writer.say("key-rotate"),
        about: vec![writer.say("keys-rotating-how")],
        is_get: false,
        action: format!("/keys/{}/rotate", key.id),
        hidden: vec![number(state)],
        fields: vec![
            field("ends", lifetimes(writer, ends)),
            field("overlap", Input::Select(OVERLAPS.map(overlap).into())),
        ],
        buttons: vec![Button::main(writer.say("key-rotate"))],
    }
}

fn revocation(writer: &Writer, key: &KeyRecord) -> form::Form {
    form::Form {
        id: "h-revoke",
        title: writer.say("key-revoke"),
        about: vec![writer.say("key-revoke-what")],
        is_get: false,
        action: format!("/keys/{}/revoke", key.id),
        hidden: vec![],
        fields: vec![],
        buttons: vec![Button::danger(writer.say("key-revoke"))],
    }
}
