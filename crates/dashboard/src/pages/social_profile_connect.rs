//! Connecting a profile: to the network, and back from it.

use ::web::detached::detached;
use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form as Fields},
};
use app::{
    shops::connect::{AuthorizeFailure, Begun},
    social::profiles::{Candidate, ConnectFailure, ProfileService},
};
use domain::{audit::Action, shops::AuthorizeError, social::Channel};
use serde::Deserialize;
use url::Url;

use super::{
    connect::{Shown, answer, owner, randomness, refused, said},
    see,
    social_profiles::{channel_name, channels, form, form_of, not_configured, redirect_uri},
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{connect::Form, panel::Way},
};

#[derive(Deserialize)]
pub struct Asked {
    channel: Channel,
    profile: Option<String>,
}

/// Begins, and shows the way to the network.
pub async fn begin(
    request: HttpRequest,
    viewer: Viewer,
    fields: Fields<Asked>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let Asked { channel, profile } = fields.into_inner();
    let profile = profile.map(|number| number.trim().to_owned()).filter(|number| !number.is_empty());
    let begun = service(&state).authorize(&owner(&viewer), channel, profile.clone(), randomness()?, None).await;
    let shown = match begun {
        Ok(begun) => going(&writer, channel, begun.value),
        Err(failure) => not_begun(&writer, channel, profile, failure, &state.settings.public_url)?,
    };
    answer(&viewer, &state, &writer, writer.say("profiles-offers"), shown).await
}

/// Completes what this session began, with what the network sent the person back with.
pub async fn callback(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (service, owner, query) = (service(&state), owner(&viewer), request.query_string().to_owned());
    let note = Some(viewer.note(Action::ProfileConnected));
    let completed = detached(async move { service.complete(&owner, &query, None, note).await });
    match completed.await.map_err(|error| PageError::Internal(error.to_string()))? {
        Ok(made) => Ok(see(&format!("/integrations/profiles/{}?done=connected", made.value.id))),
        Err(failure) => {
            let shown = not_completed(&writer, failure, &state.settings.public_url)?;
            answer(&viewer, &state, &writer, writer.say("profiles-offers"), shown).await
        }
    }
}

/// The way to the network.
fn going(writer: &Writer, channel: Channel, begun: Begun) -> Shown {
    let until = writer.message("profile-until").text("time", writer.time(begun.state_expires_at)).say();
    let text = writer.message("connect-go").text("platform", channel_name(writer, channel)).say();
    Shown {
        told: vec![writer.say(&format!("profiles-reads-{channel}")), until],
        out: Some(Way { text, address: begun.url }),
        ..Shown::default()
    }
}

fn not_begun(
    writer: &Writer,
    channel: Channel,
    given: Option<String>,
    failure: AuthorizeFailure,
    site: &Url,
) -> Result<Shown, PageError> {
    match failure {
        AuthorizeFailure::NotConfigured(error) => {
            Ok(refused(StatusCode::CONFLICT, not_configured(writer, channel, error, site), Vec::new()))
        }
        AuthorizeFailure::Refused(AuthorizeError::InvalidShop) => {
            let mut again = form(writer, channel);
            if let Some(profile) = &mut again.shop {
                profile.error = Some(writer.say("profile-number-wrong"));
                profile.value = given.unwrap_or_default();
            }
            Ok(Shown { status: StatusCode::BAD_REQUEST, forms: vec![again], ..Shown::default() })
        }
        error @ (AuthorizeFailure::Refused(_) | AuthorizeFailure::AlreadyConnected) => {
            Err(PageError::Internal(error.to_string()))
        }
        AuthorizeFailure::Seal(error) => Err(PageError::Internal(error.to_string())),
        AuthorizeFailure::Idempotency(error) => Err(error.into()),
        AuthorizeFailure::Store(error) => Err(error.into()),
    }
}

fn not_completed(writer: &Writer, failure: ConnectFailure, site: &Url) -> Result<Shown, PageError> {
    let all = || channels().map(|channel| form(writer, channel)).collect();
    let bad = |text: String, forms: Vec<Form>| Ok(refused(StatusCode::BAD_REQUEST, text, forms));
    match failure {
        ConnectFailure::NotConfigured(error) => {
            let text = not_configured(writer, Channel::Instagram, error, site);
            Ok(refused(StatusCode::CONFLICT, text, Vec::new()))
        }
        ConnectFailure::InvalidState => bad(writer.say("connect-state"), all()),
        ConnectFailure::Network(error) if error.is_trouble_there() => {
            Ok(refused(StatusCode::SERVICE_UNAVAILABLE, writer.say("profile-away"), all()))
        }
        ConnectFailure::Network(error) => Ok(said(writer, &error, all())),
        ConnectFailure::NoProfile(channel) => {
            let text = writer.message("profile-none-reached").text("channel", channel_name(writer, channel)).say();
            bad(text, vec![form(writer, channel)])
        }
        ConnectFailure::OtherProfile(channel) => bad(writer.say("profile-other"), vec![form(writer, channel)]),
        ConnectFailure::Several(channel, candidates) => {
            let choices = candidates.into_iter().map(|candidate| choice(writer, channel, candidate));
            Ok(Shown { told: vec![writer.say("profile-choose")], forms: choices.collect(), ..Shown::default() })
        }
        ConnectFailure::ConnectedElsewhere => {
            Ok(refused(StatusCode::CONFLICT, writer.say("profile-elsewhere"), Vec::new()))
        }
        ConnectFailure::Idempotency(error) => Err(error.into()),
        ConnectFailure::Store(error) => Err(error.into()),
        ConnectFailure::Seal(error) => Err(PageError::Internal(error.to_string())),
    }
}

/// A profile that can be chosen, with the button that does.
fn choice(writer: &Writer, channel: Channel, Candidate { external_id, handle }: Candidate) -> Form {
    let name = match handle {
        Some(handle) => format!("{handle} ({external_id})"),
        None => external_id.clone(),
    };
    let go = writer.message("connect-on").text("platform", name).say();
    form_of(channel, external_id, go)
}

/// The service with the dashboard's own address to come back to.
fn service(state: &State) -> ProfileService {
    ProfileService { redirect_uri: redirect_uri(&state.settings.public_url), ..state.profiles.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    fn site() -> Url {
        Url::parse("http://127.0.0.1:8081").unwrap()
    }

    #[test]
    fn several_profiles_are_a_button_each() {
        let candidate = |id: &str| Candidate { external_id: id.to_owned(), handle: Some("shop".to_owned()) };
        let several = ConnectFailure::Several(Channel::Facebook, vec![candidate("1"), candidate("2")]);
        let shown = not_completed(&writer("es"), several, &site()).unwrap();
        assert_eq!((shown.status, shown.forms.len()), (StatusCode::OK, 2));
        assert_eq!(shown.forms[1].fixed, [("channel", "facebook".to_owned()), ("profile", "2".to_owned())]);
    }

    #[test]
    fn a_wrong_number_is_said_at_its_field_with_what_was_written() {
        let failure = AuthorizeFailure::Refused(AuthorizeError::InvalidShop);
        let given = Some("shop".to_owned());
        let mut shown = not_begun(&writer("en"), Channel::Instagram, given, failure, &site()).unwrap();
        let field = shown.forms.remove(0).shop.unwrap();
        assert_eq!((field.value.as_str(), field.error.is_some()), ("shop", true));
    }

    #[test]
    fn what_came_back_too_late_can_be_begun_again() {
        let shown = not_completed(&writer("pt-BR"), ConnectFailure::InvalidState, &site()).unwrap();
        assert!(shown.refused.is_some() && shown.forms.len() == 2 && shown.out.is_none());
    }
}
