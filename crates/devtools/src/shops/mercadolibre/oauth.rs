//! Codes and tokens, as strictly as Mercado Libre keeps them.

use std::collections::HashMap;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::answer::Answer;

const ACCESS_SECONDS: i64 = 21_600;
const REFRESH_LIFE: Duration = Duration::days(180);
const CODE_LIFE: Duration = Duration::minutes(10);

/// The app as it is registered.
#[derive(Debug, Clone)]
pub struct App {
    pub client_id: String,
    pub client_secret: String,
    pub redirect_uri: String,
}

struct Code {
    challenge: String,
    expires: OffsetDateTime,
}

/// What the seller granted.
#[derive(Default)]
pub struct Grants {
    codes: HashMap<String, Code>,
    /// Access tokens with their ends.
    access: HashMap<String, OffsetDateTime>,
    /// The one refresh token that works.
    refresh: Option<(String, OffsetDateTime)>,
    issued: u64,
    /// The app is blocked.
    pub is_blocked: bool,
}

fn refused(error: &str, description: &str) -> Answer {
    Answer::json(400, &json!({"error_description": description, "error": error, "status": 400, "cause": []}))
}

fn invalid_grant() -> Answer {
    let description =
        "Error validating grant. Your authorization code or refresh token may be expired or it was already used";
    refused("invalid_grant", description)
}

impl Grants {
    /// The address that the seller's browser is sent to: the seller agrees at once.
    pub fn authorize(
        &mut self,
        app: &App,
        query: &HashMap<String, String>,
        now: OffsetDateTime,
    ) -> Result<String, Answer> {
        let get = |key: &str| query.get(key).map(String::as_str);
        if get("response_type") != Some("code") || get("client_id") != Some(app.client_id.as_str()) {
            return Err(refused("invalid_request", "response_type or client_id"));
        }
        if get("redirect_uri") != Some(app.redirect_uri.as_str()) {
            return Err(refused("invalid_request", "redirect_uri is not the registered one"));
        }
        let challenge = get("code_challenge").filter(|challenge| challenge.len() == 43);
        let (Some(challenge), Some("S256")) = (challenge, get("code_challenge_method")) else {
            return Err(refused("invalid_request", "code_challenge is required"));
        };
        self.issued += 1;
        let code = format!("TG-code-{}", self.issued);
        self.codes.insert(code.clone(), Code { challenge: challenge.to_owned(), expires: now + CODE_LIFE });
        let separator = if app.redirect_uri.contains('?') { '&' } else { '?' };
        let state = get("state").unwrap_or_default();
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("code", &code)
            .append_pair("state", state)
            .finish();
        Ok(format!("{}{separator}{query}", app.redirect_uri))
    }

    /// `POST /oauth/token`, by its form.
    pub fn token(&mut self, app: &App, seller: u64, form: &[(String, String)], now: OffsetDateTime) -> Answer {
        let one = |key: &str| {
            let mut values = form.iter().filter(|(name, _)| name == key).map(|(_, value)| value.as_str());
            values.next().filter(|_| values.next().is_none())
        };
        if (one("client_id"), one("client_secret")) != (Some(app.client_id.as_str()), Some(app.client_secret.as_str()))
        {
            return refused("invalid_client", "invalid client_id or client_secret");
        }
        if self.is_blocked {
            return refused("unauthorized_application", "the application is blocked");
        }
        match one("grant_type") {
            Some("authorization_code") => self.exchange(app, seller, &one, now),
            Some("refresh_token") => self.refresh(seller, one("refresh_token"), now),
            Some(_) => refused("unsupported_grant_type", "authorization_code or refresh_token"),
            None => refused("invalid_request", "grant_type is required"),
        }
    }

    fn exchange<'a>(
        &mut self,
        app: &App,
        seller: u64,
        one: &dyn Fn(&str) -> Option<&'a str>,
        now: OffsetDateTime,
    ) -> Answer {
        let Some(code) = one("code").and_then(|code| self.codes.remove(code)) else { return invalid_grant() };
        let challenge = one("code_verifier")
            .map(|verifier| URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes())));
        if challenge.as_ref() != Some(&code.challenge)
            || one("redirect_uri") != Some(app.redirect_uri.as_str())
            || now >= code.expires
        {
            return invalid_grant();
        }
        Answer::json(200, &self.issue(seller, now))
    }

    /// Only the newest refresh token works, and once: it is used up even when the answer does not arrive.
    fn refresh(&mut self, seller: u64, token: Option<&str>, now: OffsetDateTime) -> Answer {
        let is_valid = |(own, expires): &(String, OffsetDateTime)| Some(own.as_str()) == token && now < *expires;
        if !self.refresh.as_ref().is_some_and(is_valid) {
            return invalid_grant();
        }
        Answer::json(200, &self.issue(seller, now))
    }

    fn issue(&mut self, seller: u64, now: OffsetDateTime) -> Value {
        self.issued += 1;
        let access = format!("APP_USR-{}-{seller}", self.issued);
        let refresh = format!("TG-{}-{seller}", self.issued);
        self.access.insert(access.clone(), now + Duration::seconds(ACCESS_SECONDS));
        self.refresh = Some((refresh.clone(), now + REFRESH_LIFE));
        json!({
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": ACCESS_SECONDS,
            "scope": "offline_access read write",
            "user_id": seller,
            "refresh_token": refresh,
        })
    }

    /// Whether a request may go on.
    pub fn admit(&self, token: Option<&str>, now: OffsetDateTime) -> Result<(), Answer> {
        let unauthorized =
            |error: &str| Answer::json(401, &json!({"message": error, "error": error, "status": 401, "cause": []}));
        match token.and_then(|token| self.access.get(token)) {
            Some(_) if self.is_blocked => Err(unauthorized("unauthorized_scopes")),
            Some(expires) if now < *expires => Ok(()),
            _ => Err(unauthorized("invalid_token")),
        }
    }

    /// Access tokens work no more; the refresh token does.
    pub fn expire(&mut self) {
        self.access.clear();
    }

    /// The seller takes the grant back: nothing of it works any more.
    pub fn revoke(&mut self) {
        self.codes.clear();
        self.access.clear();
        self.refresh = None;
    }
}
