//! Logging in.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{Method, Uri},
    web::Data,
};
use url::form_urlencoded;

use super::{html, parameter, see, writer};
use crate::{
    session::Viewer,
    state::State,
    views::{login, plain::Plain},
};

/// What makes another link for the machine that runs the service.
pub const COMMAND: &str = "api dashboard open";

/// Where to log in, and to go on from there to what was asked for.
pub fn address(method: &Method, uri: &Uri) -> String {
    match uri.path_and_query().map(|path| path.as_str()) {
        Some(path) if method.is_safe() && path != "/" => {
            let next: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
            format!("/login?next={next}")
        }
        _ => "/login".to_owned(),
    }
}

/// A path of ours to go on to: one slash and no address of elsewhere (ASVS 5.0, 3.7.2).
pub fn next(wanted: Option<&str>) -> &str {
    let is_ours = |path: &&str| {
        path.starts_with('/')
            && !path.starts_with("//")
            && !path.contains('\\')
            && !path.chars().any(char::is_control)
            && path.len() <= 2048
    };
    wanted.filter(is_ours).unwrap_or("/")
}

pub async fn get(request: HttpRequest, viewer: Option<Viewer>, state: Data<State>) -> HttpResponse {
    if viewer.is_some() {
        return see(next(parameter(&request, "next").as_deref()));
    }
    let writer = writer(None, request.headers(), (state.clock)());
    let model = login::Model {
        plain: Plain::new(&writer, writer.say("login-title")),
        needed: writer.say("login-needed"),
        how: writer.message("login-how").text("command", COMMAND).say(),
    };
    html(login::page(&model))
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
    fn the_way_on_stays_here(#[case] wanted: Option<&str>, #[case] path: &str) {
        assert_eq!(next(wanted), path);
    }

    #[test]
    fn a_page_is_asked_for_again_after_the_log_in_but_a_change_is_not() {
        let uri: Uri = "/profit?period=7d&metric=aov".parse().unwrap();
        assert_eq!(address(&Method::GET, &uri), "/login?next=%2Fprofit%3Fperiod%3D7d%26metric%3Daov");
        assert_eq!(address(&Method::POST, &uri), "/login");
    }
}
