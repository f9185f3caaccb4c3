//! What is changed about one webhook subscription.

use ::web::detached::detached;
use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form},
};
use app::{
    deliveries::{Trial, try_out},
    webhooks::{self, NewSecret},
};
use domain::{
    SubscriptionId,
    audit::{Action, Entry},
    events::{Event, EventKind},
    webhooks::{
        Subscription,
        settings::{Change, DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS},
    },
};
use serde::Deserialize;
use time::Duration;

use super::{
    confirm, html, query, see,
    sent::{Sent, number, sent},
    webhook::{Done, Query, Told, model, sent_before},
    webhooks::{new_secret, secret_once},
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        form::{self, Button, Field, Input, Pick},
        layout::Here,
        panel::Way,
        webhook as view,
    },
};

/// For how long a replaced secret may go on signing, hours.
const OVERLAPS: [i64; 4] = [0, DEFAULT_OVERLAP_HOURS, 72, MAX_OVERLAP_HOURS];

/// What the form of a test sends.
#[derive(Deserialize)]
pub struct Test {
    event: EventKind,
}

/// Sends a sample, and leads on to what came of it.
pub async fn test(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Test>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (account, id) = (viewer.account(), SubscriptionId(query::id(&request)?));
    let stored = state.webhook_settings.find(account, id).await?.ok_or(PageError::NotFound)?;
    let event = Event::sample(fields.event);
    let target = Some(stored.subscription.url);
    let note = Entry { target, ..viewer.note(Action::WebhookTested) };
    state.audit.note(note, (state.clock)()).await?;
    // A client that disconnects would cancel it half way: the delivery would be retried by its schedule.
    let state = state.into_inner();
    let trying =
        detached(async move { try_out(&state.deliveries, &*state.delivery_log, account, id, &event, None).await });
    let tried = trying.await.map_err(|ended| PageError::Internal(ended.to_string()))??;
    let Trial { delivery, .. } = tried.ok_or(PageError::NotFound)?.value;
    Ok(see(&format!("/webhooks/{id}/deliveries/{delivery}")))
}

/// What the form that switches a subscription sends.
#[derive(Deserialize)]
pub struct Switch {
    to: SwitchTo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SwitchTo {
    Off,
    On,
    /// And what was held is sent.
    Held,
}

pub async fn switch(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Switch>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let id = SubscriptionId(query::id(&request)?);
    let is_on = fields.to != SwitchTo::Off;
    let change = Change { events: None, active: Some(is_on), resume: fields.to == SwitchTo::Held };
    let note = Some(viewer.note(Action::WebhookChanged));
    let changed = state.webhook_settings.change(viewer.account(), id, change, note, (state.clock)()).await?;
    changed.ok_or(PageError::NotFound)?;
    let done = if is_on { Done::Resumed } else { Done::Paused };
    Ok(see(&format!("/webhooks/{id}?done={}", done.as_str())))
}

/// What the form of a rotation sends.
#[derive(Deserialize)]
pub struct Rotation {
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
    let id = SubscriptionId(query::id(&request)?);
    viewer.confirmed(writer.now, &format!("/webhooks/{id}"))?;
    let hours = OVERLAPS.into_iter().find(|hours| *hours == fields.overlap).ok_or(PageError::Invalid("overlap"))?;
    let (wish, before) = (format!("rotation of the webhook {id}: {hours}"), sent_before(id));
    let sending = match sent(&state, &viewer, writer.now, fields.form.as_deref(), &wish, &before).await? {
        Sent::Now(sending) => sending,
        Sent::Before(response) => return Ok(response),
    };
    let overlap_until = writer.now + Duration::hours(hours);
    let note = Some(viewer.note(Action::WebhookSecretRotated));
    let new = NewSecret { secret: new_secret(&state)?, overlap_until, note, now: writer.now };
    let (settings, sealer) = (&*state.webhook_settings, &*state.deliveries.sealer);
    let (secret, until) = match webhooks::rotate(settings, sealer, viewer.account(), id, new, None).await {
        Ok(rotated) => rotated.value,
        Err(failure) => {
            sending.refused().await?;
            return Err(failure.into());
        }
    };
    sending.done(&before).await;
    let warning = writer.message("hook-rotated-warning").text("at", writer.moment(until)).say();
    let saved = Way { text: writer.say("hook-once-saved"), address: format!("/webhooks/{id}") };
    let told = Told { once: Some(secret_once(&writer, secret, warning, saved)), ..Told::default() };
    Ok(html(view::page(&model(&viewer, &state, &writer, id, Query::default(), told).await?)))
}

pub async fn delete(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let id = SubscriptionId(query::id(&request)?);
    let note = Some(viewer.note(Action::WebhookDeleted));
    let is_deleted = state.webhooks.revoke(viewer.account(), id, note, (state.clock)()).await?;
    if is_deleted { Ok(see(&format!("{}?deleted=true", Here::Webhooks.address()))) } else { Err(PageError::NotFound) }
}

/// What can be done about a subscription.
pub fn forms(viewer: &Viewer, state: &State, writer: &Writer, subscription: &Subscription) -> Vec<form::Form> {
    let here = format!("/webhooks/{}", subscription.id);
    vec![
        test_form(writer, subscription),
        replay_form(writer, subscription),
        switch_form(writer, subscription),
        confirm::first(writer, viewer, &here, rotation_form(writer, state, subscription)),
        delete_form(writer, subscription),
    ]
}

/// The form of something that is done about a subscription, without fields and buttons.
fn about(writer: &Writer, id: &'static str, what: &str, subscription: &Subscription, path: &str) -> form::Form {
    form::Form {
        id,
        title: writer.say(&format!("{what}-title")),
        about: vec![writer.say(&format!("{what}-about"))],
        is_get: false,
        action: format!("/webhooks/{}/{path}", subscription.id),
        hidden: vec![],
        fields: vec![],
        buttons: vec![],
    }
}

fn field(writer: &Writer, name: &'static str, label: &str, input: Input) -> Field {
    Field { name, label: writer.say(label), help: None, error: None, input }
}

fn test_form(writer: &Writer, subscription: &Subscription) -> form::Form {
    let event = |kind: &EventKind| Pick {
        value: kind.to_string(),
        text: kind.to_string(),
        is_chosen: *kind == EventKind::CreditsLow,
    };
    let events = Input::Select(EventKind::ALL.iter().map(event).collect());
    form::Form {
        fields: vec![field(writer, "event", "delivery-event", events)],
        buttons: vec![Button::main(writer.say("test-send"))],
        ..about(writer, "h-test", "test", subscription, "test")
    }
}

/// Leads to the page that counts.
fn replay_form(writer: &Writer, subscription: &Subscription) -> form::Form {
    let day = |day: Option<time::Date>| Input::Line {
        kind: "date",
        value: day.map(|day| day.to_string()).unwrap_or_default(),
        max: None,
        is_required: true,
    };
    let which =
        |value: &str, id: &str| Pick { value: value.to_owned(), text: writer.say(id), is_chosen: value == "failed" };
    let picks = vec![which("failed", "replay-failed-only"), which("all", "replay-everything")];
    form::Form {
        is_get: true,
        fields: vec![
            field(writer, "from", "from", day(writer.today().previous_day())),
            field(writer, "to", "to", day(Some(writer.today()))),
            field(writer, "which", "replay-which", Input::Select(picks)),
        ],
        buttons: vec![Button { class: "btn", text: writer.say("replay-count"), sends: None }],
        ..about(writer, "h-replay", "replay", subscription, "replay")
    }
}

fn switch_form(writer: &Writer, subscription: &Subscription) -> form::Form {
    let button =
        |text: &str, to: &'static str| Button { class: "btn", text: writer.say(text), sends: Some(("to", to)) };
    if subscription.active {
        let buttons = vec![button("pause", "off")];
        form::Form { buttons, ..about(writer, "h-pause", "pause", subscription, "switch") }
    } else {
        let held = Button { class: "btn main", ..button("resume-held", "held") };
        let buttons = vec![held, button("resume", "on")];
        form::Form { buttons, ..about(writer, "h-resume", "resume", subscription, "switch") }
    }
}

fn rotation_form(writer: &Writer, state: &State, subscription: &Subscription) -> form::Form {
    let overlap = |hours: i64| Pick {
        value: hours.to_string(),
        text: match hours {
            0 => writer.say("key-overlap-none"),
            _ => writer.message("key-overlap-hours").count("count", hours).say(),
        },
        is_chosen: hours == DEFAULT_OVERLAP_HOURS,
    };
    form::Form {
        hidden: vec![number(state)],
        fields: vec![field(writer, "overlap", "overlap", Input::Select(OVERLAPS.map(overlap).into()))],
        buttons: vec![Button { class: "btn", text: writer.say("rotate-secret"), sends: None }],
        ..about(writer, "h-rotate", "rotate", subscription, "rotate")
    }
}

fn delete_form(writer: &Writer, subscription: &Subscription) -> form::Form {
    let buttons = vec![Button::danger(writer.say("delete"))];
    form::Form { buttons, ..about(writer, "h-delete", "delete", subscription, "delete") }
}
