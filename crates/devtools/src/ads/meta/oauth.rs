//! Codes and tokens, as Facebook Login keeps them.

use std::collections::HashMap;

use ring::hmac;
use secrecy::ExposeSecret;
use serde_json::json;
use time::{Duration, OffsetDateTime};
use url::Url;

use super::{
    MetaConfig,
    query::{Answer, Query},
};

const CODE_LIFE: Duration = Duration::minutes(10);
const SHORT_SECONDS: i64 = 5_183;
const LONG_SECONDS: i64 = 5_184_000;

struct Code {
    redirect_uri: String,
    ends: OffsetDateTime,
}

/// What the person granted.
#[derive(Default)]
pub struct Grants {
    codes: HashMap<String, Code>,
    /// Tokens with their ends.
    tokens: HashMap<String, OffsetDateTime>,
    has_scope: bool,
    issued: u64,
}

fn dead() -> Answer {
    Answer::refused(400, 190, 463, "Error validating access token: the session has been invalidated")
}

impl Grants {
    /// The address that the person's browser is sent to, who agrees at once.
    pub fn authorize(
        &mut self,
        config: &MetaConfig,
        query: &Query,
        declines: bool,
        now: OffsetDateTime,
    ) -> Result<String, Answer> {
        query.only(&["client_id", "redirect_uri", "response_type", "scope", "state"])?;
        if query.need("client_id")? != config.client_id || query.need("response_type")? != "code" {
            return Err(Answer::invalid("Invalid client_id or response_type"));
        }
        let target = query.need("redirect_uri")?;
        if !config.redirect_uris.iter().any(|known| known == target) {
            return Err(Answer::refused(400, 191, 0, "Can't load URL: the redirect address is not one of the app's"));
        }
        let mut url: Url = target.parse().map_err(|_| Answer::invalid("redirect_uri"))?;
        let state = query.need("state")?;
        if declines {
            url.query_pairs_mut().append_pair("error", "access_denied").append_pair("state", state);
            return Ok(url.into());
        }
        self.has_scope = query.need("scope")?.split(',').any(|scope| scope == "ads_read");
        self.issued += 1;
        let code = format!("AQ-code-{}", self.issued);
        self.codes.insert(code.clone(), Code { redirect_uri: target.to_owned(), ends: now + CODE_LIFE });
        url.query_pairs_mut().append_pair("code", &code).append_pair("state", state);
        Ok(url.into())
    }

    /// `/oauth/access_token`.
    pub fn token(&mut self, config: &MetaConfig, form: &Query, now: OffsetDateTime) -> Result<Answer, Answer> {
        if form.need("client_id")? != config.client_id
            || form.need("client_secret")? != config.client_secret.expose_secret()
        {
            return Err(Answer::refused(400, 1, 0, "Error validating client secret."));
        }
        if form.get("grant_type") == Some("fb_exchange_token") {
            form.only(&["client_id", "client_secret", "grant_type", "fb_exchange_token"])?;
            self.check(form.need("fb_exchange_token")?, now)?;
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
        self.issued += 1;
        let token = format!("EAAB{:08}", self.issued);
        self.tokens.insert(token.clone(), now + Duration::seconds(seconds));
        Answer::ok(json!({ "access_token": token, "token_type": "bearer", "expires_in": seconds }))
    }

    fn check(&self, token: &str, now: OffsetDateTime) -> Result<(), Answer> {
        let is_good = self.tokens.get(token).is_some_and(|ends| now < *ends);
        if is_good { Ok(()) } else { Err(dead()) }
    }

    /// Whether a call may go on: its token is good, and who makes it has the app's secret as well.
    pub fn admit(
        &self,
        config: &MetaConfig,
        token: Option<&str>,
        query: &Query,
        now: OffsetDateTime,
    ) -> Result<(), Answer> {
        let token = token.ok_or_else(|| Answer::refused(400, 2500, 0, "An active access token must be used"))?;
        self.check(token, now)?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, config.client_secret.expose_secret().as_bytes());
        let proof = hex::encode(hmac::sign(&key, token.as_bytes()));
        if query.need("appsecret_proof")? != proof {
            return Err(Answer::invalid("Invalid appsecret_proof provided in the API argument"));
        }
        Ok(())
    }

    /// Whether figures may be read.
    pub fn allow(&self) -> Result<(), Answer> {
        if self.has_scope { Ok(()) } else { Err(Answer::refused(403, 200, 0, "(#200) Requires ads_read permission")) }
    }

    pub fn scopes(&self) -> Answer {
        let status = if self.has_scope { "granted" } else { "declined" };
        Answer::ok(json!({ "data": [
            { "permission": "ads_read", "status": status }, { "permission": "public_profile", "status": "granted" },
        ] }))
    }

    /// The person, or the app, takes one permission back.
    pub fn give_back(&mut self, permission: &str) -> Answer {
        self.has_scope &= permission != "ads_read";
        Answer::ok(json!({ "success": true }))
    }

    /// No token is good any more.
    pub fn revoke(&mut self) {
        self.tokens.clear();
        self.codes.clear();
    }
}
