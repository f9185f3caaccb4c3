//! One connected profile: how it stands, what was granted, and its end.

use ::web::detached::detached;
use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{SocialAccountId, audit::Action, people::Act, social::profiles::SocialProfile};
use url::Url;

use super::{
    html, panel, parameter, query, see,
    shell::shell,
    social_profiles::{badge, channel_name, channels, form_of, missing, name},
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        connection::Ending,
        figures::Fact,
        layout::Here,
        panel::{Panel, Way},
        rows::{Badge, Cell, Head, Row},
        social_profile::{self as view, Model},
    },
};

/// What was just done, as the address names it.
const DONE: [&str; 2] = ["connected", "ended"];

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = SocialAccountId(query::id(&request)?);
    let profile = state.profiles.connections.find(viewer.account(), id).await?.ok_or(PageError::NotFound)?;
    let done = parameter(&request, "done").filter(|done| DONE.contains(&&**done));
    let (is_there, may_change) = (profile.ended_at.is_none(), viewer.may(Act::Change));
    let usable = state.profiles.usable(profile.channel, viewer.session().account.mode).is_ok();
    let can_connect = may_change && usable && channels().any(|channel| channel == profile.channel);
    let again = || form_of(profile.channel, profile.external_id.clone(), writer.say("profile-again"));
    let title = name(&profile).to_owned();
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Integrations, title.clone()).await?,
        title,
        crumb: Way { text: writer.say("integrations"), address: Here::Integrations.address().to_owned() },
        channel: channel_name(&writer, profile.channel),
        state: badge(&writer, &profile),
        done: done.map(|done| writer.say(&format!("profile-done-{done}"))),
        facts: facts(&writer, &profile),
        missing_title: writer.say("attention"),
        missing: missing(&writer, &profile),
        again: can_connect.then(again),
        head: vec![Head::Text(writer.say("permission")), Head::Text(writer.say("state"))],
        permissions: permissions(&writer, &profile, &state.settings.api_url),
        ending: (may_change && is_there).then(|| ending(&writer, id)),
    };
    Ok(html(view::page(&model)))
}

/// Ends the profile at the network and here.
pub async fn disconnect(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (id, account) = (SocialAccountId(query::id(&request)?), viewer.account());
    let (profiles, note) = (state.profiles.clone(), Some(viewer.note(Action::ProfileDisconnected)));
    let ended = detached(async move { profiles.disconnect(account, id, note).await }).await;
    if ended.map_err(|error| PageError::Internal(error.to_string()))?? {
        Ok(see(&format!("/integrations/profiles/{id}?done=ended")))
    } else {
        Err(PageError::NotFound)
    }
}

fn facts(writer: &Writer, profile: &SocialProfile) -> Vec<Fact> {
    let fact = |id: &str, text: String| Fact { name: writer.say(id), text, value: None, change: None, below: None };
    let moment = |at: Option<time::OffsetDateTime>| at.map_or_else(|| writer.say("not-yet"), |at| writer.moment(at));
    let hooks = if profile.subscribed_at.is_some() { "answer-yes" } else { "profile-hooks-no" };
    vec![
        fact("profile-last-poll", moment(profile.last_poll_at)),
        fact("profile-last-event", moment(profile.last_event_at)),
        fact("profile-hooks", writer.say(hooks)),
        fact("connected-on", writer.day_of_year(writer.zone.day_of(profile.connected_at))),
    ]
}

fn permissions(writer: &Writer, profile: &SocialProfile, api: &Url) -> Panel<Row> {
    let row = |scope: &String, class, sign, text: &str| Row {
        name: scope.clone(),
        address: None,
        below: None,
        cells: vec![Cell::Badge(Some(Badge { class, text: format!("{sign} {}", writer.say(text)) }))],
    };
    let missing = profile.missing_scopes.iter().map(|scope| row(scope, "bad", "✕", "permission-missing"));
    let granted = profile.scopes.iter().map(|scope| row(scope, "good", "✓", "permission-granted"));
    let call = format!("/api/v1/social/profiles/{}", profile.id);
    Panel {
        id: "h-permissions",
        title: writer.say("profile-permissions"),
        items: missing.chain(granted).collect(),
        nothing: writer.say("profile-permissions-none"),
        all: None,
        next: None,
        foot: panel::current(writer, vec![writer.say("how-permissions")], &call, api),
    }
}

fn ending(writer: &Writer, id: SocialAccountId) -> Ending {
    Ending {
        address: format!("/integrations/profiles/{id}/disconnect"),
        title: writer.say("disconnect"),
        what: writer.say("profile-disconnect-what"),
        go: writer.say("profile-disconnect-go"),
    }
}
