//! The second factor of the person who is logged in, and whether an owner asks all members for one.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form, ReqData},
};
use app::second_factor::{FactorError, Shown as Secret, by};
use domain::{audit::Action, error::Chain, people::Act};
use serde::Deserialize;

use super::{
    entry, see,
    sent::{Sent, number, sent},
    settings::{self, Tab},
    writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    parts::qr::Code,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ask::{self, Kind, Said},
        settings::{Part, Shown},
    },
};

impl From<FactorError> for PageError {
    fn from(error: FactorError) -> Self {
        match error {
            FactorError::Store(error) => error.into(),
            FactorError::Hash(error) => error.into(),
            error => Self::Internal(Chain(&error).to_string()),
        }
    }
}

const PATH: &str = Tab::SecondFactor.address();

/// A button that does one thing.
fn button(writer: &Writer, act: &str, words: &str, is_danger: bool) -> ask::Form {
    let mut form = entry::form(Vec::new(), writer.say(words));
    form.action = PATH.to_owned();
    form.hidden.push(("act", act.to_owned()));
    form.is_danger = is_danger;
    form
}

fn own(
    writer: &Writer,
    is_on: bool,
    secret: Option<Secret>,
    codes: Option<Vec<String>>,
    number: (&'static str, String),
) -> Part {
    let mut part = Part::new("h-factor", writer.say("second-factor-own"), Vec::new());
    let say = |id| writer.say(id);
    if let Some(codes) = codes {
        part.paragraphs = vec![say("recovery-codes-once")];
        part.shown = Some(Shown::Codes(codes));
    } else if is_on {
        part.paragraphs = vec![say("second-factor-is-on")];
        let mut renew = button(writer, "codes", "recovery-codes-new", false);
        renew.hidden.push(number);
        part.forms = vec![renew, button(writer, "off", "second-factor-off", true)];
    } else if let Some(Secret { url, secret }) = secret {
        part.paragraphs = vec![say("second-factor-scan")];
        part.shown = Code::of(&url).map(|code| Shown::Secret { code, label: say("second-factor-qr"), text: secret });
        let mut form = entry::form(vec![entry::field("code", say("code"), Kind::Code)], say("second-factor-on"));
        form.action = PATH.to_owned();
        form.hidden.push(("act", "on".to_owned()));
        part.forms = vec![form];
    } else {
        part.paragraphs = vec![say("second-factor-why")];
        part.forms = vec![button(writer, "propose", "second-factor-add", false)];
    }
    part
}

fn of_all(writer: &Writer, is_required: bool) -> Part {
    let text = if is_required { "second-factor-is-required" } else { "second-factor-may-be-required" };
    let mut part = Part::new("h-all", writer.say("second-factor-all"), vec![writer.say(text)]);
    let (act, words) =
        if is_required { ("optional", "second-factor-optional") } else { ("require", "second-factor-require") };
    part.forms = vec![button(writer, act, words, false)];
    part
}

async fn page(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    said: Option<Said>,
    codes: Option<Vec<String>>,
) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(viewer), request.headers(), (state.clock)());
    let session = viewer.session();
    let is_on = session.has_second_factor;
    let secret = state.log_in.factors.proposed(session.person.id, session.person.email.as_str()).await?;
    let mut parts = vec![own(&writer, is_on, secret, codes, number(state))];
    if viewer.may(Act::Administer) && (is_on || session.needs_second_factor) {
        parts.push(of_all(&writer, session.needs_second_factor));
    }
    let missing = session.needs_second_factor && !is_on && said.is_none();
    let said = if missing { settings::fault(writer.say("second-factor-missing")) } else { said };
    let mut page = settings::page(viewer, state, &writer, Tab::SecondFactor, said, parts).await?;
    if missing {
        // Nothing was sent that could be wrong.
        *page.status_mut() = StatusCode::OK;
    }
    Ok(page)
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    viewer.confirmed((state.clock)(), PATH)?;
    page(&request, &viewer, &state, None, None).await
}

/// What a button of the page does.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Deed {
    Propose,
    On,
    Off,
    Codes,
    Require,
    Optional,
}

#[derive(Deserialize)]
pub struct Fields {
    act: Deed,
    #[serde(default)]
    code: String,
    form: Option<String>,
}

pub async fn post(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Fields>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let (session, factors, address) = (viewer.session(), &state.log_in.factors, from.0.to_string());
    match fields.act {
        Deed::Propose => factors.propose(session.person.id, now).await?,
        Deed::Off => factors.turn_off(session, address, now).await?,
        // Sent again by a reload of the page with the codes.
        Deed::On if session.has_second_factor => {}
        Deed::On => {
            let codes = factors.turn_on(session, &fields.code, address, now).await?;
            let writer = writer(Some(&viewer), request.headers(), now);
            let said = if codes.is_some() {
                settings::done(&writer, "second-factor-now-on")
            } else {
                settings::fault(writer.say("code-wrong"))
            };
            return page(&request, &viewer, &state, said, codes).await;
        }
        Deed::Codes if session.has_second_factor => {
            // A second set of codes would make those void that were just written down.
            let sending = match sent(&state, &viewer, now, fields.form.as_deref(), "recovery codes", PATH).await? {
                Sent::Now(sending) => sending,
                Sent::Before(response) => return Ok(response),
            };
            let codes = match factors.renew_codes(session, address, now).await {
                Ok(codes) => codes,
                Err(error) => {
                    sending.refused().await?;
                    return Err(error.into());
                }
            };
            sending.done(PATH).await;
            return page(&request, &viewer, &state, None, Some(codes)).await;
        }
        Deed::Codes => {}
        Deed::Require | Deed::Optional => require(&viewer, fields.act == Deed::Require, address, &state).await?,
    }
    Ok(see(PATH))
}

/// An owner asks all members for one, once having one.
async fn require(viewer: &Viewer, is_required: bool, address: String, state: &State) -> Result<(), PageError> {
    let session = viewer.session();
    if !viewer.may(Act::Administer) || (is_required && !session.has_second_factor) {
        return Err(PageError::Forbidden);
    }
    let action = if is_required { Action::SecondFactorRequired } else { Action::SecondFactorOptional };
    let note = by(session, action, address);
    let user = &session.account.user_id;
    Ok(state.log_in.factors.store.require(user, is_required, note, (state.clock)()).await?)
}
