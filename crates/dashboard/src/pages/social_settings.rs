//! What the bot may do: its mode, what the mode that sends has to be earned by, its limits, and what stops it.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form as Sent},
};
use domain::{
    audit::Action,
    people::Act,
    social::{
        GATE_JUDGED, GATE_WRONG, Gate,
        settings::{SettingsError, Setup},
    },
};
use rust_decimal::{Decimal, dec, prelude::FromPrimitive};

use super::{
    bot::{self, Tab, note},
    fields::Fields,
    html_with, panel, see,
    shell::shell,
    social_form::{Wanted, form, listed},
    window,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        figures::Fact,
        layout::Here,
        social_settings::{self as view, Gate as Shown, Model},
    },
};

const DONE: [&str; 2] = ["set", "stopped"];

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    draw(&request, &viewer, &state, None, None).await
}

/// Puts the settings in the place of those before.
pub async fn set(
    request: HttpRequest,
    viewer: Viewer,
    sent: Sent<Fields>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let wanted = Wanted::sent(&sent);
    let settings = match wanted.settings(&writer) {
        Ok(settings) => settings,
        Err(fault) => return draw(&request, &viewer, &state, Some(wanted), Some(fault)).await,
    };
    let entry = note(&viewer, Action::RepliesSet, settings.mode.to_string());
    match state.social_settings.put(viewer.account(), settings, Some(entry), writer.now).await {
        Ok(_) => Ok(see(&format!("{}?done=set", Tab::Settings.address()))),
        Err(SettingsError::GateClosed(gate)) => {
            let fault = ("mode", sentence(&writer, gate));
            draw(&request, &viewer, &state, Some(wanted), Some(fault)).await
        }
        Err(SettingsError::Store(error)) => Err(error.into()),
    }
}

/// Turns the bot off, whatever else is being set.
pub async fn stop(viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let entry = note(&viewer, Action::RepliesStopped, "off".to_owned());
    state.social_settings.stop(viewer.account(), Some(entry), (state.clock)()).await?;
    Ok(see(&format!("{}?done=stopped", Tab::Settings.address())))
}

async fn draw(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    wanted: Option<Wanted>,
    fault: Option<(&'static str, String)>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(viewer), request.headers(), (state.clock)());
    let done = bot::done(&writer, request, &DONE)?;
    let setup = state.social_settings.setup(viewer.account()).await?;
    let title = writer.say("bot-settings");
    let status = if fault.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let (may_set, price) = (viewer.may(Act::Administer), state.settings.vote_price);
    let wanted = wanted.unwrap_or_else(|| Wanted::of(&writer, &setup.settings));
    let model = Model {
        shell: shell(viewer, state, &writer, Here::Conversations, title.clone()).await?,
        title,
        place: window::place(&writer),
        tabs: bot::tabs(&writer, Tab::Settings),
        standing: bot::standing(viewer, &writer, &setup),
        done,
        gate: gate(&writer, state, &setup),
        settings: (!may_set).then(|| (writer.say("bot-limits"), listed(&writer, &setup.settings, price))),
        form: may_set.then(|| form(&writer, &wanted, (setup.gate, price), fault.as_ref())),
    };
    Ok(html_with(status, view::page(&model)))
}

fn gate(writer: &Writer, state: &State, setup: &Setup) -> Shown {
    let how = writer.message("how-gate").count("judged", GATE_JUDGED).count("wrong", GATE_WRONG).say();
    Shown {
        title: writer.say("gate-title"),
        sentence: sentence(writer, setup.gate),
        facts: facts(writer, setup.gate),
        foot: panel::current(writer, vec![how, how_bound(writer)], "/api/v1/social/settings", &state.settings.api_url),
    }
}

/// What the interval is, and where it ends with as many errors as there may be.
fn how_bound(writer: &Writer) -> String {
    let most = Gate { judged: GATE_JUDGED, wrong: GATE_WRONG };
    writer
        .message("how-gate-bound")
        .percent("level", dec!(0.95), 0)
        .count("wrong", most.wrong)
        .count("judged", most.judged)
        .percent("bound", bound(most), 1)
        .say()
}

fn bound(gate: Gate) -> Decimal {
    domain::money::round(Decimal::from_f64(gate.upper_bound()).unwrap_or(Decimal::ONE), 4)
}

/// Whether the bot may send by itself, or what is missing.
fn sentence(writer: &Writer, gate: Gate) -> String {
    if gate.is_ready() {
        writer.say("gate-open")
    } else if gate.needed() > 0 {
        writer.message("gate-needs").count("needed", gate.needed()).say()
    } else {
        writer.message("gate-wrong").count("wrong", gate.wrong).count("judged", GATE_JUDGED).say()
    }
}

fn facts(writer: &Writer, gate: Gate) -> Vec<Fact> {
    let fact = |name: &str, text: String, value: Decimal| Fact {
        name: writer.say(name),
        text,
        value: Some(value.normalize().to_string()),
        change: None,
        below: None,
    };
    let count = |name: &str, count: i64| fact(name, writer.number(count.into(), 0), count.into());
    let bound = bound(gate);
    vec![
        count("gate-judged", gate.judged),
        count("gate-needed", gate.needed()),
        count("gate-errors", gate.wrong),
        fact("gate-bound", writer.percent(bound, 1), bound),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn the_gate_says_what_is_missing_and_has_the_figures_of_the_api() {
        let writer = writer("en");
        let said = |judged, wrong| sentence(&writer, Gate { judged, wrong });
        assert_eq!(said(97, 0), "“Automatic” is not open yet: 3 judgements are missing.");
        assert_eq!(said(99, 5), "“Automatic” is not open yet: 1 judgement is missing.");
        assert!(said(120, 2).contains("2 of the latest 100"), "{}", said(120, 2));
        assert_eq!(said(100, 1), "“Automatic” is open: the judgements allow it.");
        let values: Vec<_> =
            facts(&writer, Gate { judged: 100, wrong: 1 }).into_iter().filter_map(|fact| fact.value).collect();
        assert_eq!(values, ["100", "0", "1", "0.0545"], "1 of 100: the published interval ends at 0.0545");
    }

    #[test]
    fn the_interval_is_written_as_the_region_does() {
        let told = |locale| how_bound(&writer(locale));
        assert!(told("en").contains("95% interval") && told("en").ends_with("With 1 of 100 wrong it is 5.4%."));
        assert!(told("es-AR").contains("del 95% (") && told("es-AR").ends_with("es el 5,4%."), "{}", told("es-AR"));
        assert!(told("es-MX").ends_with("es el 5.4%."), "{}", told("es-MX"));
    }
}
