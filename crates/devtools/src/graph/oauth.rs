//! Codes, tokens and permissions, as Facebook Login keeps them.

use std::collections::{BTreeSet, HashMap};

use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use time::{Duration, OffsetDateTime};
use url::Url;

use super::{Answer, Query};

const CODE_LIFE: Duration = Duration::minutes(10);
const SHORT_SECONDS: i64 = 5_183;
const LONG_SECONDS: i64 = 5_184_000;
/// Granted without being asked for.
const ALWAYS: &str = "public_profile";

/// The app as it is registered.
pub struct App<'a> {
    pub id: &'a str,
    pub secret: &'a SecretString,
    /// Where people may be sent back to.
    pub redirect_uris: &'a [String],
}

/// What the person does with a dialog.
#[derive(Default)]
pub struct Choice {
    pub declines: bool,
    /// The permission that is not granted, by its place in the dialog from 1 on.
    pub withheld: Option<u64>,
}

struct Code {
    redirect_uri: String,
    ends: OffsetDateTime,
}

#[derive(Clone)]
struct Token {
    /// `None`: it does not end.
    ends: Option<OffsetDateTime>,
    /// Whose it is: a page's, or the person's.
    page: Option<String>,
    is_long: bool,
}

/// What the person granted.
#[derive(Default)]
pub struct Grants {
    codes: HashMap<String, Code>,
    tokens: HashMap<String, Token>,
    /// Permissions that were asked for once, and those of them that are granted.
    asked: BTreeSet<String>,
    granted: BTreeSet<String>,
    issued: u64,
}

fn dead() -> Answer {
    Answer::refused(400, 190, 463, "Error validating access token: the session has been invalidated")
}

impl Grants {
    /// The address that the person's browser is sent to, who decides at once.
    pub fn authorize(
        &mut self,
        app: &App<'_>,
        query: &Query,
        choice: &Choice,
        now: OffsetDateTime,
    ) -> Result<String, Answer> {
        query.only(&["client_id", "redirect_uri", "response_type", "scope", "state", "auth_type"])?;
        if query.need("client_id")? != app.id || query.need("response_type")? != "code" {
            return Err(Answer::invalid("Invalid client_id or response_type"));
        }
        let target = query.need("redirect_uri")?;
        if !app.redirect_uris.iter().any(|known| known == target) {
            return Err(Answer::refused(400, 191, 0, "Can't load URL: the redirect address is not one of the app's"));
        }
        if query.get("auth_type").is_some_and(|kind| kind != "rerequest") {
            return Err(Answer::invalid("Invalid auth_type"));
        }
        let mut url: Url = target.parse().map_err(|_| Answer::invalid("redirect_uri"))?;
        let state = query.need("state")?;
        if choice.declines {
            url.query_pairs_mut().append_pair("error", "access_denied").append_pair("state", state);
            return Ok(url.into());
        }
        let is_again = query.get("auth_type").is_some();
        for (scope, place) in query.need("scope")?.split(',').zip(1..) {
            let was_asked = !self.asked.insert(scope.to_owned());
            if choice.withheld == Some(place) {
                self.granted.remove(scope);
            } else if is_again || !was_asked {
                // What was declined is asked for again by `rerequest` only.
                self.granted.insert(scope.to_owned());
            }
        }
        self.issued += 1;
        let code = format!("AQ-code-{}", self.issued);
        self.codes.insert(code.clone(), Code { redirect_uri: target.to_owned(), ends: now + CODE_LIFE });
        url.query_pairs_mut().append_pair("code", &code).append_pair("state", state);
        Ok(url.into())
    }

    /// `/oauth/access_token`.
    pub fn token(&mut self, app: &App<'_>, form: &Query, now: OffsetDateTime) -> Result<Answer, Answer> {
        if form.need("client_id")? != app.id || form.need("client_secret")? != app.secret.expose_secret() {
            return Err(Answer::refused(400, 1, 0, "Error validating client secret."));
        }
        if form.get("grant_type") == Some("fb_exchange_token") {
            form.only(&["client_id", "client_secret", "grant_type", "fb_exchange_token"])?;
            if self.check(form.need("fb_exchange_token")?, now)?.page.is_some() {
                return Err(Answer::invalid("Only tokens of people are exchanged"));
            }
            return Ok(self.issue(LONG_SECONDS, now));
        }
        form.only(&["client_id", "client_secret", "redirect_uri", "code"])?;
        let refused = || Answer::refused(400, 100, 36_009, "This authorization code has been used, or is not valid.");
        let code = self.codes.remove(form.need("code")?).ok_or_else(refused)?;
        if code.redirect_uri != form.need("redirect_uri")? || now >= code.ends {
            return Err(refused());
        }
        Ok(self.issue(SHORT_SECONDS, now))
    }

    fn issue(&mut self, seconds: i64, now: OffsetDateTime) -> Answer {
        let ends = Some(now + Duration::seconds(seconds));
        let token = self.add(Token { ends, page: None, is_long: seconds == LONG_SECONDS });
        Answer::ok(json!({ "access_token": token, "token_type": "bearer", "expires_in": seconds }))
    }

    fn add(&mut self, token: Token) -> String {
        self.issued += 1;
        let text = format!("EAAB{:08}", self.issued);
        self.tokens.insert(text.clone(), token);
        text
    }

    /// A token of a page, for one of the person: it ends as that one does, and never if that one is of sixty days.
    pub fn page_token(&mut self, of: &str, page: &str) -> String {
        let person = self.tokens.get(of).cloned();
        let ends = person.filter(|token| !token.is_long).and_then(|token| token.ends);
        self.add(Token { ends, page: Some(page.to_owned()), is_long: false })
    }

    /// A token of a page, as after the person granted these permissions.
    pub fn grant_all(&mut self, scopes: &[&str], page: &str) -> String {
        self.asked.extend(scopes.iter().map(|scope| (*scope).to_owned()));
        self.granted.extend(scopes.iter().map(|scope| (*scope).to_owned()));
        self.add(Token { ends: None, page: Some(page.to_owned()), is_long: false })
    }

    fn check(&self, token: &str, now: OffsetDateTime) -> Result<&Token, Answer> {
        self.tokens.get(token).filter(|token| token.ends.is_none_or(|ends| now < ends)).ok_or_else(dead)
    }

    /// Whether a call may go on: its token is good, and who makes it has the app's secret as well. The page that the token is
    /// of, if it is not the person's.
    pub fn admit(
        &self,
        app: &App<'_>,
        token: Option<&str>,
        query: &Query,
        now: OffsetDateTime,
    ) -> Result<Option<String>, Answer> {
        let token = token.ok_or_else(|| Answer::refused(400, 2500, 0, "An active access token must be used"))?;
        let page = self.check(token, now)?.page.clone();
        let key = hmac::Key::new(hmac::HMAC_SHA256, app.secret.expose_secret().as_bytes());
        let proof = hex::encode(hmac::sign(&key, token.as_bytes()));
        if query.need("appsecret_proof")? != proof {
            return Err(Answer::invalid("Invalid appsecret_proof provided in the API argument"));
        }
        Ok(page)
    }

    /// Whether a permission is granted.
    pub fn allow(&self, scope: &str) -> Result<(), Answer> {
        if self.granted.contains(scope) {
            return Ok(());
        }
        Err(Answer::refused(403, 200, 0, &format!("(#200) Requires {scope} permission")))
    }

    pub fn scopes(&self) -> Answer {
        let entry = |scope: &String| {
            let status = if self.granted.contains(scope) { "granted" } else { "declined" };
            json!({ "permission": scope, "status": status })
        };
        let mut all: Vec<_> = self.asked.iter().map(entry).collect();
        all.push(json!({ "permission": ALWAYS, "status": "granted" }));
        Answer::ok(json!({ "data": all }))
    }

    /// The person, or the app, takes one permission back.
    pub fn give_back(&mut self, permission: &str) -> Answer {
        self.granted.remove(permission);
        self.asked.remove(permission);
        Answer::ok(json!({ "success": true }))
    }

    /// No token is good any more.
    pub fn revoke(&mut self) {
        self.tokens.clear();
        self.codes.clear();
    }
}
