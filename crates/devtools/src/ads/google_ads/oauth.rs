//! Codes and tokens, as Google keeps them.

use std::collections::HashMap;

use secrecy::ExposeSecret;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};
use url::{Url, form_urlencoded};

use super::{GoogleAdsConfig, Refused};

const CODE_LIFE: Duration = Duration::minutes(10);
const TOKEN_SECONDS: i64 = 3_599;
const SCOPE: &str = "https://www.googleapis.com/auth/adwords";

/// Fields of a form or a query, each once.
pub struct Fields(HashMap<String, String>);

impl Fields {
    pub fn of(text: &[u8]) -> Result<Self, Refused> {
        let mut all = HashMap::new();
        for (name, value) in form_urlencoded::parse(text).into_owned() {
            if all.insert(name, value).is_some() {
                return Err(Refused::oauth(400, "invalid_request"));
            }
        }
        Ok(Self(all))
    }

    fn need(&self, name: &str) -> Result<&str, Refused> {
        self.0.get(name).map(String::as_str).ok_or_else(|| Refused::oauth(400, "invalid_request"))
    }

    /// Not as Google, which ignores what it does not know: a misspelt field must not go unnoticed here.
    fn only(&self, known: &[&str]) -> Result<(), Refused> {
        let is_known = self.0.keys().all(|name| known.contains(&name.as_str()));
        if is_known { Ok(()) } else { Err(Refused::oauth(400, "invalid_request")) }
    }
}

struct Code {
    redirect_uri: String,
    ends: OffsetDateTime,
    is_lasting: bool,
    scope: String,
}

struct Token {
    /// By which it is renewed.
    refresh: Option<String>,
    scope: String,
    ends: OffsetDateTime,
}

/// What the person granted.
#[derive(Default)]
pub struct Grants {
    codes: HashMap<String, Code>,
    access: HashMap<String, Token>,
    /// With their scopes.
    refresh: HashMap<String, String>,
    issued: u64,
}

impl Grants {
    /// The address that the person's browser is sent to, who agrees at once.
    pub fn authorize(
        &mut self,
        config: &GoogleAdsConfig,
        query: &Fields,
        declines: bool,
        now: OffsetDateTime,
    ) -> Result<String, Refused> {
        query.only(&["client_id", "redirect_uri", "response_type", "scope", "access_type", "prompt", "state"])?;
        if query.need("client_id")? != config.client_id {
            return Err(Refused::oauth(401, "invalid_client"));
        }
        let target = query.need("redirect_uri")?;
        if !config.redirect_uris.iter().any(|known| known == target) {
            return Err(Refused::oauth(400, "redirect_uri_mismatch"));
        }
        if query.need("response_type")? != "code" {
            return Err(Refused::oauth(400, "unsupported_response_type"));
        }
        let mut url: Url = target.parse().map_err(|_| Refused::oauth(400, "redirect_uri_mismatch"))?;
        let state = query.need("state")?;
        if declines {
            url.query_pairs_mut().append_pair("error", "access_denied").append_pair("state", state);
            return Ok(url.into());
        }
        // A token that renews the other is given for the first consent, and each time that consent is asked for.
        let is_lasting = query.need("access_type")? == "offline" && query.need("prompt")? == "consent";
        self.issued += 1;
        // With a slash, as Google's have.
        let code = format!("4/0Adeu5B{:08}", self.issued);
        let scope = query.need("scope")?.to_owned();
        let kept = Code { redirect_uri: target.to_owned(), ends: now + CODE_LIFE, is_lasting, scope: scope.clone() };
        self.codes.insert(code.clone(), kept);
        url.query_pairs_mut().append_pair("state", state).append_pair("code", &code).append_pair("scope", &scope);
        Ok(url.into())
    }

    /// `/token`.
    pub fn token(&mut self, config: &GoogleAdsConfig, form: &Fields, now: OffsetDateTime) -> Result<Value, Refused> {
        if form.need("client_id")? != config.client_id
            || form.need("client_secret")? != config.client_secret.expose_secret()
        {
            return Err(Refused::oauth(401, "invalid_client"));
        }
        let refused = || Refused::oauth(400, "invalid_grant");
        match form.need("grant_type")? {
            "authorization_code" => {
                form.only(&["client_id", "client_secret", "grant_type", "code", "redirect_uri"])?;
                let code = self.codes.remove(form.need("code")?).ok_or_else(refused)?;
                if code.redirect_uri != form.need("redirect_uri")? || now >= code.ends {
                    return Err(refused());
                }
                self.issued += 1;
                let refresh = code.is_lasting.then(|| format!("1//03{:08}", self.issued));
                self.refresh.extend(refresh.clone().map(|refresh| (refresh, code.scope.clone())));
                let mut tokens = self.issue(refresh.clone(), code.scope, now);
                if let (Some(tokens), Some(refresh)) = (tokens.as_object_mut(), refresh) {
                    tokens.insert("refresh_token".to_owned(), refresh.into());
                }
                Ok(tokens)
            }
            "refresh_token" => {
                form.only(&["client_id", "client_secret", "grant_type", "refresh_token"])?;
                let refresh = form.need("refresh_token")?.to_owned();
                let scope = self.refresh.get(&refresh).cloned().ok_or_else(refused)?;
                Ok(self.issue(Some(refresh), scope, now))
            }
            _ => Err(Refused::oauth(400, "unsupported_grant_type")),
        }
    }

    fn issue(&mut self, refresh: Option<String>, scope: String, now: OffsetDateTime) -> Value {
        self.issued += 1;
        let token = format!("ya29.a0{:08}", self.issued);
        let answer = json!({
            "access_token": token, "token_type": "Bearer", "expires_in": TOKEN_SECONDS, "scope": scope,
        });
        self.access.insert(token, Token { refresh, scope, ends: now + Duration::seconds(TOKEN_SECONDS) });
        answer
    }

    /// `/revoke`: a token, with the one by which it is renewed.
    pub fn give_back(&mut self, form: &Fields) -> Result<Value, Refused> {
        form.only(&["token"])?;
        let given = form.need("token")?;
        let refresh = match self.access.remove(given) {
            Some(token) => token.refresh,
            None => self.refresh.contains_key(given).then(|| given.to_owned()),
        };
        let refresh = refresh.ok_or_else(|| Refused::oauth(400, "invalid_token"))?;
        self.refresh.remove(&refresh);
        self.access.retain(|_, token| token.refresh.as_ref() != Some(&refresh));
        Ok(json!({}))
    }

    /// Whether a call may go on: its token is good, and for this API.
    pub fn admit(&self, token: Option<&str>, now: OffsetDateTime) -> Result<(), Refused> {
        let dead = |code| Refused::failure(401, ("authenticationError", code), "The request is not authenticated.");
        let none = || {
            let said = "Request is missing required authentication credential.";
            Refused::plain(401, "UNAUTHENTICATED", said, json!([]))
        };
        let token = self.access.get(token.ok_or_else(none)?).ok_or_else(|| dead("OAUTH_TOKEN_INVALID"))?;
        if now >= token.ends {
            return Err(dead("OAUTH_TOKEN_EXPIRED"));
        }
        if !token.scope.split(' ').any(|scope| scope == SCOPE) {
            let reason = json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
            }]);
            let said = "Request had insufficient authentication scopes.";
            return Err(Refused::plain(403, "PERMISSION_DENIED", said, reason));
        }
        Ok(())
    }

    /// Access tokens end before their time.
    pub fn expire(&mut self) {
        self.access.values_mut().for_each(|token| token.ends = OffsetDateTime::UNIX_EPOCH);
    }

    /// No token is good any more.
    pub fn revoke(&mut self) {
        self.access.clear();
        self.refresh.clear();
        self.codes.clear();
    }
}
