//! One alert rule: where it stands, how it would have done, and what can be changed about it.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form},
};
use domain::{
    RuleId,
    alerts::{Change, ChangeError, Rule},
    audit::Action,
    people::Act,
};
use serde::Deserialize;

use super::{
    alert_form::{Wanted, fields, trial},
    alert_words::{condition, standing, value},
    firings, html, html_with, panel, query, see,
    shell::shell,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        alert::{self as view, Model},
        figures::Fact,
        form::{self, Button},
        layout::Here,
        panel::Way,
    },
};

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = RuleId(query::id(&request)?);
    let done = query::one::<String>(&request, "done")?;
    let done = match done.as_deref() {
        Some(done @ ("made" | "changed")) => Some(writer.say(&format!("alert-{done}"))),
        Some(_) => return Err(PageError::Invalid("done")),
        None => None,
    };
    let shown = Shown { done, cursor: query::cursor(&request)?, fault: None };
    let rule = state.alerts.find(viewer.account(), id).await?.ok_or(PageError::NotFound)?;
    let wanted = Wanted::of(&writer, &rule.terms);
    Ok(html(view::page(&model(&viewer, &state, &writer, &rule, &wanted, shown).await?)))
}

/// Changes what the rule says.
pub async fn change(
    request: HttpRequest,
    viewer: Viewer,
    wanted: Form<Wanted>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = RuleId(query::id(&request)?);
    let terms = match wanted.terms(&writer) {
        Ok(terms) => terms,
        Err(fault) => {
            let rule = state.alerts.find(viewer.account(), id).await?.ok_or(PageError::NotFound)?;
            let shown = Shown { fault: Some(fault), ..Shown::default() };
            let page = view::page(&model(&viewer, &state, &writer, &rule, &wanted, shown).await?);
            return Ok(html_with(StatusCode::BAD_REQUEST, page));
        }
    };
    let change = Change {
        name: Some(terms.name().to_owned()),
        metric: Some(terms.metric().clone()),
        comparator: Some(terms.comparator()),
        threshold: Some(terms.threshold()),
        window_hours: Some(terms.window_hours()),
        severity: Some(terms.severity()),
        cooldown_hours: Some(terms.cooldown_hours()),
        active: None,
    };
    changed(&viewer, &state, id, (change, Action::AlertChanged), writer.now).await
}

/// What the form that switches a rule sends.
#[derive(Deserialize)]
pub struct Switch {
    active: bool,
}

pub async fn switch(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Switch>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let id = RuleId(query::id(&request)?);
    let change = Change { active: Some(fields.active), ..Change::default() };
    let action = if fields.active { Action::AlertUnmuted } else { Action::AlertMuted };
    changed(&viewer, &state, id, (change, action), (state.clock)()).await
}

async fn changed(
    viewer: &Viewer,
    state: &State,
    id: RuleId,
    (change, action): (Change, Action),
    now: time::OffsetDateTime,
) -> Result<HttpResponse, PageError> {
    match state.alerts.change(viewer.account(), id, change, Some(viewer.note(action)), now).await {
        Ok(rule) => Ok(see(&format!("/alerts/{}?done=changed", rule.id))),
        Err(ChangeError::NotFound) => Err(PageError::NotFound),
        // The terms were checked as a whole; the rule was changed meanwhile.
        Err(ChangeError::Invalid(_)) => Err(PageError::Conflict),
        Err(ChangeError::Store(error)) => Err(error.into()),
    }
}

pub async fn delete(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let id = RuleId(query::id(&request)?);
    let note = Some(viewer.note(Action::AlertDeleted));
    let is_deleted = state.alerts.delete(viewer.account(), id, note, (state.clock)()).await?;
    if is_deleted { Ok(see(&format!("{}?deleted=true", Here::Alerts.address()))) } else { Err(PageError::NotFound) }
}

/// What the page shows beside the rule.
#[derive(Default)]
struct Shown {
    /// What was just done.
    done: Option<String>,
    /// Before which of the firings.
    cursor: Option<i64>,
    /// What is wrong with what was sent.
    fault: Option<(&'static str, String)>,
}

async fn model(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    rule: &Rule,
    wanted: &Wanted,
    shown: Shown,
) -> Result<Model, PageError> {
    let path = format!("/api/v1/alerts/{}", rule.id);
    let forms = if viewer.may(Act::Change) { forms(writer, rule, wanted, shown.fault) } else { vec![] };
    Ok(Model {
        shell: shell(viewer, state, writer, Here::Alerts, rule.terms.name().to_owned()).await?,
        back: Way { text: writer.say("alerts"), address: Here::Alerts.address().to_owned() },
        title: rule.terms.name().to_owned(),
        state: standing(writer, rule),
        condition: condition(writer, &rule.terms),
        done: shown.done,
        facts: facts(writer, rule),
        foot: panel::current(writer, vec![writer.say("how-alerts")], &path, &state.settings.api_url),
        firing_head: firings::head(writer),
        firings: firings::list(viewer, state, writer, rule, shown.cursor).await?,
        trial: trial(viewer, state, writer, &rule.terms, None).await?,
        forms,
    })
}

fn facts(writer: &Writer, rule: &Rule) -> Vec<Fact> {
    let fact = |id: &str, text: String| Fact { name: writer.say(id), text, value: None, change: None, below: None };
    let at = |at: Option<time::OffsetDateTime>| at.map_or_else(|| writer.say("never"), |at| writer.moment(at));
    let seen = rule.state.last_value;
    vec![
        Fact {
            value: seen.map(|seen| seen.normalize().to_string()),
            ..fact(
                "alert-last-value",
                seen.map_or_else(|| "–".to_owned(), |seen| value(writer, rule.terms.metric(), seen)),
            )
        },
        fact("alert-last-fired", at(rule.state.last_fired_at)),
        fact("alert-last-evaluated", at(rule.last_evaluated_at)),
        fact("alert-severity", writer.say(&format!("severity-{}", rule.terms.severity()))),
    ]
}

fn forms(writer: &Writer, rule: &Rule, wanted: &Wanted, fault: Option<(&'static str, String)>) -> Vec<form::Form> {
    let form = |id, title: &str, about: &str, path: &str, fields, buttons| form::Form {
        id,
        title: writer.say(title),
        about: vec![writer.say(about)],
        is_get: false,
        action: format!("/alerts/{}{path}", rule.id),
        hidden: vec![],
        fields,
        buttons,
    };
    let (title, about, to) = if rule.active {
        ("alert-mute", "alert-mute-about", "false")
    } else {
        ("alert-unmute", "alert-unmute-about", "true")
    };
    let switch = Button { class: "btn", text: writer.say(title), sends: Some(("active", to)) };
    vec![
        form(
            "h-change",
            "alert-change-title",
            "alert-change-about",
            "",
            fields(writer, wanted, fault),
            vec![Button::main(writer.say("alert-change"))],
        ),
        form("h-switch", title, about, "/switch", vec![], vec![switch]),
        form(
            "h-delete",
            "alert-delete",
            "alert-delete-about",
            "/delete",
            vec![],
            vec![Button::danger(writer.say("alert-delete"))],
        ),
    ]
}
