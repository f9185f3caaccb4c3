//! The session of a request: its cookie, and who is logged in.

use std::{
    future::{Ready, ready},
    net::IpAddr,
    rc::Rc,
};

use actix_web::{
    FromRequest, HttpMessage, HttpRequest,
    cookie::{Cookie, SameSite, time::Duration as Age},
    dev::Payload,
    http::header::HeaderMap,
};
use app::second_factor::by;
use domain::{
    AccountId,
    audit::{Action, Entry},
    log_in::CHALLENGE_LASTS,
    people::Act,
    sessions::{LONGEST, Session, Token},
    texts::Locale,
};
use time::OffsetDateTime;

use crate::{error::PageError, state::Settings};

/// Browsers take a name with this prefix only over https, for one host and for all paths (RFC 6265bis, 4.1.3.2). On loopback
/// without https some refuse it.
const SECURE_NAME: &str = "__Host-session";
const PLAIN_NAME: &str = "session";

/// Of the longest header that is looked through for the cookie.
const MAX_COOKIES: usize = 4096;

/// What a browser keeps beside the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// By what a device is known that its person logged in on.
    Device,
    /// Between the password and the code of the second factor.
    Challenge,
}

impl Kept {
    const fn name(self, is_secure: bool) -> &'static str {
        match (self, is_secure) {
            (Self::Device, true) => "__Host-device",
            (Self::Device, false) => "device",
            (Self::Challenge, true) => "__Host-challenge",
            (Self::Challenge, false) => "challenge",
        }
    }

    pub fn token(self, headers: &HeaderMap, settings: &Settings) -> Option<Token> {
        token_of(headers, self.name(settings.is_secure()))
    }

    pub fn cookie(self, token: &Token, settings: &Settings) -> Cookie<'static> {
        let cookie = named(self.name(settings.is_secure()), settings, token.expose().to_owned());
        match self {
            // The longest that browsers keep one (RFC 6265bis, 5.5).
            Self::Device => with_age(cookie, 400 * 24 * 60 * 60),
            Self::Challenge => with_age(cookie, CHALLENGE_LASTS.whole_seconds()),
        }
    }
}

const fn name(is_secure: bool) -> &'static str {
    if is_secure { SECURE_NAME } else { PLAIN_NAME }
}

/// The token that the browser sent: the first of the name, in the form of one.
pub fn token(headers: &HeaderMap, settings: &Settings) -> Option<Token> {
    token_of(headers, name(settings.is_secure()))
}

fn token_of(headers: &HeaderMap, name: &str) -> Option<Token> {
    let lines = headers.get_all("cookie").filter_map(|line| line.to_str().ok());
    lines
        .filter(|line| line.len() <= MAX_COOKIES)
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .and_then(|(_, value)| Token::parse(value))
}

/// The cookie of a session that begins.
pub fn cookie(token: &Token, remember: bool, settings: &Settings) -> Cookie<'static> {
    let cookie = empty(settings, token.expose().to_owned());
    if remember { with_age(cookie, LONGEST.whole_seconds()) } else { cookie }
}

/// Takes the cookie away.
pub fn no_cookie(settings: &Settings) -> Cookie<'static> {
    with_age(empty(settings, String::new()), 0)
}

fn with_age(mut cookie: Cookie<'static>, seconds: i64) -> Cookie<'static> {
    cookie.set_max_age(Age::seconds(seconds));
    cookie
}

fn empty(settings: &Settings, value: String) -> Cookie<'static> {
    named(name(settings.is_secure()), settings, value)
}

fn named(name: &'static str, settings: &Settings, value: String) -> Cookie<'static> {
    Cookie::build(name, value)
        .path("/")
        .http_only(true)
        .secure(settings.is_secure())
        // Links from mails and the ways back from shops and payments come from other sites.
        .same_site(SameSite::Lax)
        .finish()
}

/// Who is logged in. A handler that takes it is only reached with one.
#[derive(Debug, Clone)]
pub struct Viewer {
    session: Rc<Session>,
    from: IpAddr,
}

impl Viewer {
    pub fn new(session: Session, from: IpAddr) -> Self {
        Self { session: Rc::new(session), from }
    }

    /// What is noted of something that is done to the account that is looked at.
    pub fn note(&self, action: Action) -> Entry {
        let entry = by(&self.session, action, self.from.to_string());
        Entry { mode: Some(self.session.account.mode), ..entry }
    }

    /// For what answers beside the pages.
    pub fn shared(&self) -> Rc<Session> {
        self.session.clone()
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn account(&self) -> AccountId {
        self.session.account.id
    }

    /// Whether the role allows it.
    pub fn may(&self, act: Act) -> bool {
        self.session.role.may(act)
    }

    /// That the person proved lately who they are, which is asked for before what could do harm: making or showing a key or a
    /// secret, members, payments, and whatever ends something. To be asked where the form is drawn, and again where it is
    /// taken; `back` is the path of the page with the form, where the person goes on after `/confirm`.
    ///
    /// # Errors
    /// [`PageError::Unconfirmed`], which is answered by the way to `/confirm`.
    pub fn confirmed(&self, now: OffsetDateTime, back: &str) -> Result<(), PageError> {
        if self.session.is_confirmed(now) { Ok(()) } else { Err(PageError::Unconfirmed(back.to_owned())) }
    }

    /// The person's language, with the numbers of the account's country.
    pub fn locale(&self) -> Locale {
        let of_account = self.session.account.locale;
        Locale { language: self.session.person.language.unwrap_or(of_account.language), ..of_account }
    }
}

impl FromRequest for Viewer {
    type Error = PageError;
    type Future = Ready<Result<Self, PageError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(request.extensions().get::<Self>().cloned().ok_or(PageError::Forbidden))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actix_web::http::header::{HeaderName, HeaderValue};
    use rstest::rstest;
    use url::Url;

    use super::*;

    fn settings(url: &str) -> Settings {
        Settings {
            public_url: Url::parse(url).unwrap(),
            api_url: Url::parse("http://127.0.0.1:8080").unwrap(),
            has_mail: true,
            is_open: true,
            holiday_countries: vec![],
            vote_price: None,
            webhook_allow_loopback: Default::default(),
            rate_limit_per_minute: 60,
            trusted_proxies: vec![],
            connections: 1,
            shutdown_timeout: Duration::ZERO,
        }
    }

    const TOKEN: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

    #[rstest]
    #[case(&["session=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"], true)]
    #[case(&["a=1; session=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8; b=2"], true)]
    #[case(&["a=1", "session=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"], true)]
    #[case(&["session=short"], false)]
    #[case(&["xsession=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"], false)]
    #[case(&["__Host-session=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"], false)]
    fn the_token_is_that_of_the_cookie(#[case] lines: &[&'static str], #[case] found: bool) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(HeaderName::from_static("cookie"), HeaderValue::from_static(line));
        }
        let token = token(&headers, &settings("http://127.0.0.1:8081"));
        assert_eq!(token.map(|token| token.expose().to_owned()), found.then(|| TOKEN.to_owned()));
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_hosts() {
        let token = Token::parse(TOKEN).unwrap();
        let secure = cookie(&token, false, &settings("https://shop.example.com")).to_string();
        assert_eq!(secure, format!("__Host-session={TOKEN}; HttpOnly; SameSite=Lax; Secure; Path=/"));
        let plain = cookie(&token, true, &settings("http://127.0.0.1:8081")).to_string();
        assert_eq!(plain, format!("session={TOKEN}; HttpOnly; SameSite=Lax; Path=/; Max-Age=2592000"));
    }
}
