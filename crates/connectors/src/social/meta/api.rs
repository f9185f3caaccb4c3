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
    graph::{ErrorDetail, login::Login, refusal, refused, usage},
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

/// What the codes of the Graph API mean: those of any call, and what answers are refused for. Whatever it is, a write may have
/// been done.
fn error_of(answer: &Answer) -> ChannelError {
    match refusal(answer) {
        Ok(ErrorDetail { code: 368, .. }) => ChannelError::Blocked,
        Ok(error) => failed(refused(&error, "")),
        Err(unreadable) => failed(unreadable),
    }
}

/// How a call failed, as networks have it.
fn failed(error: ShopError) -> ChannelError {
    match error {
        ShopError::Unauthorized => ChannelError::TokenDead,
        ShopError::Throttled(until) => ChannelError::Throttled(until),
        ShopError::NotFound => ChannelError::NotFound,
        ShopError::MissingScope(_) => ChannelError::Forbidden,
        ShopError::Unavailable(said) => ChannelError::Unavailable(said),
        ShopError::Rejected(said) => ChannelError::Rejected(said),
        ShopError::Malformed(what) => ChannelError::Malformed(what),
        other @ (ShopError::TooMany | ShopError::Suspended) => ChannelError::Rejected(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(190, ChannelError::TokenDead)]
    #[case::of_a_session_that_ended(102, ChannelError::TokenDead)]
    #[case(368, ChannelError::Blocked)]
    #[case(803, ChannelError::NotFound)]
    #[case(10, ChannelError::Forbidden)]
    #[case(2, ChannelError::Unavailable("code 2".into()))]
    #[case(1_705, ChannelError::Rejected("code 1705, subcode 0".into()))]
    fn codes_are_understood(#[case] code: i64, #[case] expected: ChannelError) {
        let body = format!(r#"{{"error":{{"message":"m","code":{code}}}}}"#);
        assert_eq!(error_of(&Answer::example(400, &[], &body)), expected);
    }

    #[rstest]
    #[case(17)]
    #[case(80_002)]
    fn too_many_calls_are_a_pause(#[case] code: i64) {
        let body = format!(r#"{{"error":{{"message":"m","code":{code}}}}}"#);
        assert!(matches!(error_of(&Answer::example(400, &[], &body)), ChannelError::Throttled(_)));
    }

    #[test]
    fn what_is_no_answer_of_the_api_is_trouble_there() {
        let said = "it answered with 502".to_owned();
        assert_eq!(error_of(&Answer::example(502, &[], "<html>")), ChannelError::Unavailable(said));
    }
}
