//! The token endpoint: tokens that live for an hour, refresh tokens that rotate.

use connectors::shops::signature::sign;
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

/// How long an access token lives, and a refresh token.
const ACCESS: Duration = Duration::seconds(3_600);
const REFRESH: Duration = Duration::seconds(7_776_000);
/// How long a code lives.
const CODE: Duration = Duration::seconds(60);

/// An access token with its refresh token.
pub struct Pair {
    access: String,
    access_ends: Option<OffsetDateTime>,
    refresh: String,
    refresh_ends: OffsetDateTime,
    /// From then on its predecessor's refresh token is dead.
    is_used: bool,
}

/// The pairs of the shop, oldest first, and codes that were not exchanged yet.
#[derive(Default)]
pub struct Pairs {
    pairs: Vec<Pair>,
    codes: Vec<(String, OffsetDateTime, String)>,
}

/// What is asked of the token endpoint.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    pub client_id: String,
    pub client_secret: String,
    code: Option<String>,
    expiring: Option<String>,
    grant_type: Option<String>,
    refresh_token: Option<String>,
}

/// What an access token is good for.
pub enum Admitted {
    Yes,
    /// Unknown, expired or revoked.
    No,
    /// One of the old kind.
    NonExpiring,
}

impl Pairs {
    /// A code for the scopes.
    pub fn code(&mut self, scopes: String, now: OffsetDateTime) -> String {
        let code = Uuid::new_v4().simple().to_string();
        self.codes.push((code.clone(), now + CODE, scopes));
        code
    }

    fn issue(&mut self, now: OffsetDateTime, expiring: bool) -> Value {
        let token = |kind: &str| format!("{kind}_{}", Uuid::new_v4().simple());
        let pair = Pair {
            access: token("shpat"),
            access_ends: expiring.then(|| now + ACCESS),
            refresh: token("shprt"),
            refresh_ends: now + REFRESH,
            is_used: false,
        };
        let answer = pair.answer();
        self.pairs.push(pair);
        answer
    }

    /// Whether a token opens the shop now.
    pub fn admit(&mut self, token: &str, now: OffsetDateTime) -> Admitted {
        let Some(pair) = self.pairs.iter_mut().find(|pair| pair.access == token) else { return Admitted::No };
        match pair.access_ends {
            None => Admitted::NonExpiring,
            Some(ends) if ends <= now => Admitted::No,
            Some(_) => {
                pair.is_used = true;
                Admitted::Yes
            }
        }
    }

    /// Answers a request for tokens; with the scopes when they are new. `Err` is the platform's name of the error.
    pub fn token(&mut self, asked: &Asked, now: OffsetDateTime) -> Result<(Value, Option<String>), &'static str> {
        match (asked.grant_type.as_deref(), &asked.code, &asked.refresh_token) {
            (None, Some(code), None) => {
                let place = self.codes.iter().position(|(known, ends, _)| known == code && *ends > now);
                let (_, _, scopes) = self.codes.swap_remove(place.ok_or("invalid_request")?);
                let expiring = asked.expiring.as_deref() == Some("1");
                self.pairs.clear();
                Ok((self.issue(now, expiring), Some(scopes)))
            }
            (Some("refresh_token"), None, Some(refresh)) => {
                self.rotate(refresh, now)?;
                Ok((self.issue(now, true), None))
            }
            _ => Err("invalid_request"),
        }
    }

    /// Makes room for the successor of a refresh token. The newest is good, and the one before while the newest was not used.
    fn rotate(&mut self, refresh: &str, now: OffsetDateTime) -> Result<(), &'static str> {
        let place = self.pairs.iter().rposition(|pair| pair.refresh == refresh && pair.refresh_ends > now);
        let place = place.ok_or("invalid_grant")?;
        let behind = self.pairs.len() - 1 - place;
        match (behind, self.pairs.last_mut()) {
            (0, Some(newest)) => newest.is_used = true,
            (1, Some(newest)) if !newest.is_used => {
                self.pairs.pop();
            }
            _ => return Err("invalid_grant"),
        }
        Ok(())
    }
}

impl Pair {
    fn answer(&self) -> Value {
        if self.access_ends.is_some() {
            json!({
                "access_token": self.access, "expires_in": ACCESS.whole_seconds(),
                "refresh_token": self.refresh, "refresh_token_expires_in": REFRESH.whole_seconds(),
            })
        } else {
            json!({ "access_token": self.access })
        }
    }
}

/// Where the owner is sent back to: the address with a code, more parameters and the signature over all of them.
pub fn callback(redirect: &str, secret: &SecretString, parameters: &[(&str, &str)]) -> Option<Url> {
    let mut url = Url::parse(redirect).ok()?;
    let mut sorted = parameters.to_vec();
    sorted.sort_unstable();
    url.query_pairs_mut().extend_pairs(&sorted);
    let message = url.query()?.replace('+', "%20");
    let hmac: String = sign(secret, message.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    url.query_pairs_mut().append_pair("hmac", &hmac);
    Some(url)
}

/// Whether the app says who it is.
pub fn is_app(asked: &Asked, client_id: &str, secret: &SecretString) -> bool {
    asked.client_id == client_id && asked.client_secret == secret.expose_secret()
}
