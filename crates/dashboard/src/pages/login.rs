//! Logging in by address and password.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form, ReqData},
};
use app::log_in::Answer;
use domain::passwords::Password;
use serde::Deserialize;
use url::form_urlencoded;

use super::{entry, html, parameter, see, writer};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::{Kept, Viewer},
    state::State,
    text::Writer,
    views::{
        ask::{self, Field, Kind, Model},
        panel::Way,
    },
};

/// What makes a link that logs in on the machine that runs the service.
pub const COMMAND: &str = "api dashboard open";

/// Where to log in, and to go on from there to a page.
pub fn address(wanted: Option<&str>) -> String {
    match wanted {
        Some(path) if path != "/" => format!("/login?next={}", escaped(path)),
        _ => "/login".to_owned(),
    }
}

/// A path as the value of a parameter.
pub fn escaped(path: &str) -> String {
    form_urlencoded::byte_serialize(path.as_bytes()).collect()
}

/// A path of ours to go on to: one slash and no address of elsewhere (ASVS 5.0, 3.7.2), of characters that a header may have.
pub fn next(wanted: Option<&str>) -> &str {
    let is_ours = |path: &&str| {
        path.starts_with('/')
            && !path.starts_with("//")
            && !path.contains('\\')
            && path.is_ascii()
            && !path.chars().any(char::is_control)
            && path.len() <= 2048
    };
    wanted.filter(is_ours).unwrap_or("/")
}

fn model(writer: &Writer, state: &State, next: &str, email: &str, remember: bool) -> Model {
    let email = Field { value: email.to_owned(), ..entry::email_field(writer) };
    let password = entry::field("password", writer.say("password"), Kind::Line("password", "current-password"));
    let remember = entry::field("remember", writer.say("remember"), Kind::Tick(remember));
    let mut form = entry::form(vec![email, password, remember], writer.say("login-title"));
    form.hidden.push(("next", next.to_owned()));
    let way = |text: &str, address: &str| Way { text: writer.say(text), address: address.to_owned() };
    let mut model = entry::model(writer, "login-title", Vec::new(), Some(form));
    model.ways.push(way("reset-ask", "/reset"));
    if state.settings.is_open {
        model.ways.push(way("sign-up-ask", "/signup"));
    }
    model
}

pub async fn get(request: HttpRequest, viewer: Option<Viewer>, state: Data<State>) -> HttpResponse {
    let wanted = parameter(&request, "next");
    let next = next(wanted.as_deref());
    if viewer.is_some() {
        return see(next);
    }
    let writer = writer(None, request.headers(), (state.clock)());
    html(ask::page(&model(&writer, &state, next, "", true)))
}

#[derive(Deserialize)]
pub struct Fields {
    email: String,
    password: String,
    #[serde(default)]
    remember: Option<String>,
    #[serde(default)]
    next: String,
}

pub async fn post(
    request: HttpRequest,
    fields: Form<Fields>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(None, request.headers(), now);
    let Fields { email, password, remember, next: wanted } = fields.into_inner();
    let (to, remember) = (next(Some(&wanted)), remember.is_some());
    let page = model(&writer, &state, to, &email, remember);
    // A text that is no address is nobody's.
    let Ok(email) = email.parse() else { return Ok(entry::wrong(page, writer.say("login-wrong"))) };
    let attempt = entry::attempt(&request, from.0, remember, &state);
    let answer = state.log_in.by_password(&email, Password::entered(&password), attempt, now).await;
    match answer {
        Ok(Answer::Wrong) => Ok(entry::wrong(page, writer.say("login-wrong"))),
        Ok(Answer::NoShop) => Ok(entry::wrong(page, writer.say("login-no-shop"))),
        Ok(Answer::Code(challenge)) => {
            let mut response = see(&format!("/login/code?next={}", escaped(to)));
            let cookie = Kept::Challenge.cookie(&challenge, &state.settings);
            response.add_cookie(&cookie).map_err(|error| PageError::Internal(error.to_string()))?;
            Ok(response)
        }
        Ok(Answer::In(begun)) => entry::begun(&begun, to, &state),
        Err(error) => Ok(entry::again(page, entry::refused(&writer, error)?)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, "/")]
    #[case(Some("/profit?period=7d"), "/profit?period=7d")]
    #[case(Some("//evil.example"), "/")]
    #[case(Some("/\\evil.example"), "/")]
    #[case(Some("https://evil.example"), "/")]
    #[case(Some("/a\r\nSet-Cookie: x"), "/")]
    #[case(Some("javascript:alert(1)"), "/")]
    #[case(Some("/inventory?q=%C3%B1"), "/inventory?q=%C3%B1")]
    #[case(Some("/inventory?q=ñ"), "/")]
    fn the_way_on_stays_here(#[case] wanted: Option<&str>, #[case] path: &str) {
        assert_eq!(next(wanted), path);
    }

    #[test]
    fn a_page_is_asked_for_again_after_the_log_in() {
        assert_eq!(address(Some("/profit?period=7d&metric=aov")), "/login?next=%2Fprofit%3Fperiod%3D7d%26metric%3Daov");
        assert_eq!([address(Some("/")), address(None)], ["/login", "/login"]);
    }
}
