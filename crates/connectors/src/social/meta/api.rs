//! Calls of the Graph API, at the pace that it asks for.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use domain::{
    shops::ShopError,
    social::channels::{ChannelError, Profile},
};
use reqwest::{
    Method,
    header::{ACCEPT, CONTENT_TYPE},
};
use serde::de::DeserializeOwned;
use time::OffsetDateTime;
use url::form_urlencoded::Serializer;

use crate::{
    graph::{ErrorBody, STOP, login::Login, usage},
    shops::http::{Answer, send},
};

/// Share of the budget in percent from which calls are spaced out.
const SLOW_AT: f64 = 75.0;
/// Between two calls where the budget runs out.
const SLOW_PAUSE: Duration = Duration::from_secs(1);

/// How near a profile is to its limits.
#[derive(Debug, Clone, Copy)]
enum Pace {
    Slow,
    StoppedUntil(OffsetDateTime),
}

/// The API.
#[derive(Debug)]
pub struct Api {
    login: Login,
    paces: Mutex<HashMap<String, Pace>>,
}

impl Api {
    pub fn new(login: Login) -> Self {
        Self { login, paces: Mutex::default() }
    }

    /// Makes one call; whether to make it again is the caller's to know.
    pub async fn call<T: DeserializeOwned>(
        &self,
        profile: &Profile,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        form: &[(&str, &str)],
    ) -> Result<T, ChannelError> {
        self.wait(&profile.external_id).await?;
        let mut url = self.login.url(path);
        let proof = self.login.proof(&profile.token);
        url.query_pairs_mut().extend_pairs(query).append_pair("appsecret_proof", &proof);
        let request = self.login.http().request(method.clone(), url).bearer_auth(profile.token.expose());
        let request = request.header(ACCEPT, "application/json");
        let request = if method == Method::POST {
            let body = Serializer::new(String::new()).extend_pairs(form).finish();
            request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)
        } else {
            request
        };
        let answer = send(request).await.map_err(failed)?;
        self.note_usage(&profile.external_id, &answer);
        if answer.status.is_success() { answer.json().map_err(failed) } else { Err(error_of(&answer)) }
    }

    async fn wait(&self, profile: &str) -> Result<(), ChannelError> {
        let pace = self.paces.lock().unwrap_or_else(PoisonError::into_inner).get(profile).copied();
        match pace {
            Some(Pace::StoppedUntil(until)) if until > OffsetDateTime::now_utc() => Err(ChannelError::Throttled(until)),
            Some(Pace::Slow) => {
                tokio::time::sleep(SLOW_PAUSE).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn note_usage(&self, profile: &str, answer: &Answer) {
        let Some(usage) = usage(answer) else { return };
        let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pause) = usage.pause() {
            paces.insert(profile.to_owned(), Pace::StoppedUntil(OffsetDateTime::now_utc() + pause));
        } else if usage.percent >= SLOW_AT {
            paces.insert(profile.to_owned(), Pace::Slow);
        } else {
            paces.remove(profile);
        }
    }
}

fn failed(error: ShopError) -> ChannelError {
    match error {
        ShopError::Malformed(what) => ChannelError::Malformed(what),
        other => ChannelError::Unavailable(other.to_string()),
    }
}

/// What the codes of the Graph API mean. Whatever it is, a write may have been done.
fn error_of(answer: &Answer) -> ChannelError {
    let Ok(ErrorBody { error }) = answer.json::<ErrorBody>() else {
        let status = answer.status;
        return if status.is_server_error() {
            ChannelError::Unavailable(format!("it answered with {status}"))
        } else {
            ChannelError::Rejected(format!("it answered with {status}"))
        };
    };
    match (error.code, error.error_subcode) {
        (190, _) => ChannelError::TokenDead,
        (368, _) => ChannelError::Blocked,
        (4 | 17 | 32 | 613 | 80001 | 80002 | 80006, _) => ChannelError::Throttled(OffsetDateTime::now_utc() + STOP),
        // An object that is gone, or that the token may not see.
        (100, Some(33)) | (803, _) => ChannelError::NotFound,
        (10 | 200..=299, _) => ChannelError::Forbidden,
        (1 | 2, _) => ChannelError::Unavailable(format!("code {}", error.code)),
        (code, subcode) => ChannelError::Rejected(format!("code {code}, subcode {}", subcode.unwrap_or_default())),
    }
}
