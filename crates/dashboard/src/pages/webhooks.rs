//! The webhook subscriptions of an account, and a new one.

use std::collections::HashMap;

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form},
};
use app::webhooks::{self, CreateFailure, SubscriptionRequest};
use domain::{
    SubscriptionId,
    audit::Action,
    events::{self, EVERY_EVENT, EventKind},
    people::Act,
    webhooks::{
        CreateError, Subscription, breaker,
        log::{MOST_TALLIED, Tally},
        schedule::DisabledReason,
        settings::DISABLED_BY_OWNER,
        signature::Secret,
        url::WebhookUrl,
    },
};
use time::Duration;

use super::{
    confirm,
    fields::Fields,
    html, html_with, panel, query,
    sent::{Sent, number, sent},
    shell::shell,
    webhook,
    webhook_form::{Asked, form},
};
use crate::{
    error::PageError,
    receivers,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        layout::Here,
        panel::{Panel, Way},
        rows::{Badge, Cell, Head, Row},
        secret::Once,
        webhooks::{self as view, Events, Model, Receivers},
    },
};

/// How far back the share of deliveries that succeeded looks.
pub const SHARE_OF: Duration = Duration::hours(24);

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let is_deleted = query::one(&request, "deleted")?.unwrap_or(false);
    let asked = Asked { done: is_deleted.then(|| writer.say("hook-deleted")), ..Asked::default() };
    Ok(html(view::page(&model(&viewer, &state, &writer, asked).await?)))
}

pub async fn create(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Fields>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    viewer.confirmed(writer.now, "/webhooks")?;
    let secret = new_secret(&state)?;
    let asked = match wanted(&writer, &state, &fields) {
        Ok((url, events)) => {
            let wish = format!("webhook {} {events:?}", url.as_str());
            let here = Here::Webhooks.address();
            let sending = match sent(&state, &viewer, writer.now, fields.one("form"), &wish, here).await? {
                Sent::Now(sending) => sending,
                Sent::Before(response) => return Ok(response),
            };
            let note = Some(viewer.note(Action::WebhookMade));
            let request = SubscriptionRequest { url, events, secret, note, now: writer.now };
            let (store, sealer) = (&*state.webhooks, &*state.deliveries.sealer);
            match webhooks::create(store, sealer, viewer.account(), request, None).await {
                Ok(created) => {
                    sending.done(&webhook::sent_before(created.value.0.id)).await;
                    Asked { once: Some(once(&writer, created.value)), ..Asked::default() }
                }
                Err(failure) => {
                    sending.refused().await?;
                    match failure {
                        CreateFailure::Refused(CreateError::LimitReached) => {
                            Asked { url_error: Some(writer.say("webhook-limit")), ..Asked::sent(&fields) }
                        }
                        _ => return Err(failure.into()),
                    }
                }
            }
        }
        Err(asked) => *asked,
    };
    let is_made = asked.once.is_some();
    let page = view::page(&model(&viewer, &state, &writer, asked).await?);
    Ok(if is_made { html(page) } else { html_with(StatusCode::BAD_REQUEST, page) })
}

/// What the form asks for; else the form with what is wrong.
fn wanted(writer: &Writer, state: &State, fields: &Fields) -> Result<(WebhookUrl, Vec<String>), Box<Asked>> {
    let url = fields.one("url").unwrap_or_default().trim();
    let url = WebhookUrl::parse_allowing(url, &state.settings.webhook_allow_loopback).map_err(|refused| {
        let error = writer.message("webhook-url-bad").text("reason", refused.reason).say();
        Box::new(Asked { url_error: Some(error), ..Asked::sent(fields) })
    })?;
    let named: Vec<String> = fields.all("event").map(ToOwned::to_owned).collect();
    let names = match fields.one("which") {
        Some("some") => named,
        _ => [vec![EVERY_EVENT.to_owned()], named].concat(),
    };
    let events = events::chosen(names).map_err(|_| {
        let error = writer.say("webhook-some-none");
        Box::new(Asked { events_error: Some(error), ..Asked::sent(fields) })
    })?;
    Ok((url, events))
}

/// A new signing secret.
pub fn new_secret(state: &State) -> Result<Secret, PageError> {
    (state.secret)().ok_or_else(|| PageError::Internal("the system gave no random bytes".to_owned()))
}

fn once(writer: &Writer, (subscription, secret): (Subscription, String)) -> Once {
    let saved = Way { text: writer.say("hook-once-saved"), address: format!("/webhooks/{}", subscription.id) };
    secret_once(writer, secret, writer.say("hook-once-warning"), saved)
}

/// A signing secret that is shown this once.
pub fn secret_once(writer: &Writer, secret: String, warning: String, saved: Way) -> Once {
    let program = receivers::programs().into_iter().next().map(|(_, program)| program.to_owned());
    Once {
        title: writer.say("hook-once"),
        warning,
        label: writer.say("hook-once-label"),
        value: secret,
        copy: writer.say("copy"),
        copied: writer.say("copied"),
        uses: program.map(|program| (writer.say("hook-once-check"), program)).into_iter().collect(),
        saved,
    }
}

async fn model(viewer: &Viewer, state: &State, writer: &Writer, asked: Asked) -> Result<Model, PageError> {
    let account = viewer.account();
    let subscriptions = state.webhooks.list(account).await?;
    let tallies = state.delivery_log.tallies(account, writer.now - SHARE_OF).await?;
    let title = writer.say("webhooks");
    let may_change = viewer.may(Act::Change);
    let form = || form(writer, number(state), &asked);
    let form = may_change.then(|| confirm::first(writer, viewer, Here::Webhooks.address(), form()));
    Ok(Model {
        shell: shell(viewer, state, writer, Here::Webhooks, title.clone()).await?,
        title,
        about: writer.say("webhooks-about"),
        once: asked.once,
        done: asked.done,
        head: vec![
            Head::Text(writer.say("webhook-url")),
            Head::Text(writer.say("webhook-events")),
            Head::Text(writer.say("webhook-state")),
            Head::Text(writer.say("webhook-share")),
            Head::Text(writer.say("webhook-last")),
        ],
        subscriptions: listed(writer, state, &subscriptions, &tallies),
        form,
        events: (!may_change).then(|| listed_events(writer)),
        receivers: Receivers {
            title: writer.say("receivers-title"),
            about: writer.say("receivers-about"),
            programs: receivers::programs(),
        },
    })
}

fn listed(
    writer: &Writer,
    state: &State,
    subscriptions: &[Subscription],
    tallies: &HashMap<SubscriptionId, Tally>,
) -> Panel<Row> {
    Panel {
        id: "h-webhooks",
        title: writer.message("webhooks-title").count("count", subscriptions.len() as i64).say(),
        items: subscriptions.iter().map(|one| row(writer, one, tallies.get(&one.id).copied())).collect(),
        nothing: writer.say("webhooks-none"),
        all: None,
        next: None,
        foot: panel::current(writer, how(writer), "/api/v1/webhooks", &state.settings.api_url),
    }
}

/// How the share that was delivered is counted.
pub fn how(writer: &Writer) -> Vec<String> {
    vec![writer.message("how-webhooks").count("most", MOST_TALLIED).say()]
}

fn row(writer: &Writer, subscription: &Subscription, tally: Option<Tally>) -> Row {
    let (state, _) = standing(writer, subscription);
    let (share, below) = share(writer, tally);
    Row {
        name: subscription.url.clone(),
        address: Some(format!("/webhooks/{}", subscription.id)),
        below: None,
        cells: vec![
            Cell::Text(events_in_words(writer, &subscription.events)),
            Cell::Badge(Some(state)),
            Cell::Texts { text: share, below, is_bad: false },
            Cell::Text(subscription.last_fired_at.map_or_else(|| "–".to_owned(), |at| writer.moment(at))),
        ],
    }
}

/// The share of what has ended that succeeded, and of how many.
pub fn share(writer: &Writer, tally: Option<Tally>) -> (String, Option<String>) {
    let tally = tally.unwrap_or_default();
    let Some(rate) = tally.success_rate() else { return (writer.say("nothing-sent"), None) };
    let (delivered, all) = (whole(writer, tally.delivered), whole(writer, tally.ended()));
    let of = writer.message("share-of").text("delivered", delivered).text("all", all);
    (writer.percent(rate, 1), Some(of.say()))
}

pub fn whole(writer: &Writer, count: i64) -> String {
    writer.number(count.into(), 0)
}

fn events_in_words(writer: &Writer, events: &[String]) -> String {
    let (every, named): (Vec<_>, Vec<_>) = events.iter().partition(|name| *name == EVERY_EVENT);
    let catalogue = EventKind::catalogue().len() as i64;
    let all = (!every.is_empty()).then(|| writer.message("events-all").count("count", catalogue).say());
    let some = (!named.is_empty()).then(|| writer.message("events-some").count("count", named.len() as i64).say());
    all.into_iter().chain(some).collect::<Vec<_>>().join(" + ")
}

/// How a subscription is, and what that means.
pub fn standing(writer: &Writer, subscription: &Subscription) -> (Badge, String) {
    let badge = |class, sign: &str, id: &str| Badge { class, text: format!("{sign} {}", writer.say(id)) };
    let failures = subscription.fail_count;
    let is_broken = breaker::is_open_after(u32::try_from(subscription.trouble_count).unwrap_or(u32::MAX));
    let counted = |id: &str| writer.message(id).count("count", failures).say();
    match (subscription.active, failures) {
        (false, _) => {
            let reason = subscription.disabled_reason.as_deref().unwrap_or(DISABLED_BY_OWNER);
            let known = [DisabledReason::Gone.as_str(), DisabledReason::Failing.as_str()].contains(&reason);
            let id = format!("hook-off-{}", if known { reason } else { DISABLED_BY_OWNER });
            (badge(if known { "bad" } else { "" }, "✕", "hook-off"), writer.say(&id))
        }
        (true, 0) => (badge("good", "✓", "hook-working"), writer.say("hook-working-what")),
        (true, _) if is_broken => (badge("bad", "!", "hook-breaker"), counted("hook-breaker-what")),
        (true, _) => (badge("warn", "!", "hook-failing"), counted("hook-failing-what")),
    }
}

fn listed_events(writer: &Writer) -> Events {
    let catalogue = EventKind::catalogue().len() as i64;
    Events {
        title: writer.message("events-title").count("count", catalogue).say(),
        about: writer.message("events-about").count("count", catalogue).say(),
        listed: EventKind::ALL.iter().map(|kind| (kind.as_str(), meaning(writer, *kind))).collect(),
    }
}

/// What an event means.
pub fn meaning(writer: &Writer, kind: EventKind) -> String {
    writer.say(&format!("event-{}", kind.as_str().replace('.', "-")))
}

#[cfg(test)]
pub mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    pub fn subscription(active: bool, fail_count: i64, reason: Option<&str>) -> Subscription {
        Subscription {
            id: SubscriptionId(3),
            url: "https://erp.example.com/hook".to_owned(),
            events: vec![EVERY_EVENT.to_owned(), "credit.consumed".to_owned()],
            active,
            disabled_reason: reason.map(ToOwned::to_owned),
            last_fired_at: Some(datetime!(2026-11-22 22:30 UTC)),
            last_status: Some(200),
            fail_count,
            trouble_count: 0,
            total_fired: 40,
            total_failed: 3,
            created_at: datetime!(2026-11-01 12:00 UTC),
        }
    }

    #[test]
    fn a_subscription_says_how_it_is() {
        let state = |active, failures, reason| standing(&writer("en"), &subscription(active, failures, reason)).0.text;
        assert_eq!(state(true, 0, None), "✓ Working");
        assert_eq!(state(true, 4, None), "! Failing");
        let with = |trouble_count| Subscription { trouble_count, ..subscription(true, 9, None) };
        let [four, five] = [4, 5].map(|in_trouble| standing(&writer("en"), &with(in_trouble)).0.text);
        assert_eq!((&*four, &*five), ("! Failing", "! Circuit breaker open"));
        assert_eq!(state(false, 0, Some("gone")), "✕ Switched off");
        let what = |reason| standing(&writer("en"), &subscription(false, 9, reason)).1;
        assert!(what(Some("gone")).contains("410") && what(Some("failing")).contains("five days"));
        assert!(what(Some("owner")).starts_with("Paused") && what(None).starts_with("Paused"));
    }

    #[test]
    fn the_most_that_is_tallied_is_told_as_it_is() {
        for (language, most) in [("en", "50,000"), ("es-AR", "50.000"), ("pt-BR", "50.000")] {
            let how = how(&writer(language));
            assert_eq!(how[0].matches(most).count(), 2, "{how:?}");
        }
    }

    #[test]
    fn the_share_is_of_what_has_ended() {
        let of = |delivered, failed| share(&writer("pt-BR"), Some(Tally { delivered, failed, waiting: 7 }));
        assert_eq!(of(35, 3), ("92,1%".to_owned(), Some("35 de 38".to_owned())));
        assert_eq!(of(0, 0), ("nada enviado".to_owned(), None));
    }

    #[test]
    fn events_are_counted() {
        let row = row(&writer("en"), &subscription(true, 0, None), None);
        let Cell::Text(events) = &row.cells[0] else { panic!() };
        assert_eq!(events, "all 13 of the catalogue + 1 event");
    }
}
