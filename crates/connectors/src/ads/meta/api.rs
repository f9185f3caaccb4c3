//! Calls of the Marketing API, within the limits that it tells of.

use std::time::Duration;

use domain::shops::{Secret, ShopError};
use reqwest::{Method, header::ACCEPT};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    super::client::{Client, Verdict, pages},
    SCOPE,
};
use crate::{
    graph::{LONGEST_STOP, Page, STOP, STOP_AT, login::Login, refusal, refused, usage},
    shops::http::Answer,
};

#[derive(Debug)]
pub(super) struct Api {
    login: Login,
    client: Client,
}

/// For whom a call is made.
pub(super) struct Caller<'a> {
    /// Number of the ad account.
    pub account: &'a str,
    pub token: &'a Secret,
}

impl Api {
    pub fn new(login: Login) -> Result<Self, ShopError> {
        Ok(Self { client: Client::new(login.url(&[]))?, login })
    }

    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Makes a call, and again after a pause that the platform asks for, if it is short.
    pub async fn call(
        &self,
        caller: &Caller<'_>,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Answer, ShopError> {
        let mut url = self.login.url(path);
        let proof = self.login.proof(caller.token);
        url.query_pairs_mut().extend_pairs(query).append_pair("appsecret_proof", &proof);
        let request = || {
            let request = self.client.request(method.clone(), url.clone()).bearer_auth(caller.token.expose());
            request.header(ACCEPT, "application/json")
        };
        self.client.call(caller.account, request, verdict).await
    }

    /// All of a list, in pages of `limit`.
    pub async fn pages<T: DeserializeOwned + Send>(
        &self,
        caller: &Caller<'_>,
        path: &[&str],
        query: &[(&str, &str)],
        limit: &str,
    ) -> Result<Vec<T>, ShopError> {
        pages(|after: Option<String>| async move {
            let mut query = query.to_vec();
            query.push(("limit", limit));
            query.extend(after.as_deref().map(|after| ("after", after)));
            let page: Page<T> = self.call(caller, Method::GET, path, &query).await?.json()?;
            let next = page.after();
            Ok((page.data, next))
        })
        .await
    }
}

fn verdict(answer: &Answer) -> Verdict {
    Verdict { refused: (!answer.status.is_success()).then(|| error_of(answer)), pause: pause_of(answer) }
}

/// `X-Ad-Account-Usage`: the share in percent, and in how many seconds nothing of it is used.
#[derive(Deserialize)]
struct AccountUsage {
    #[serde(default)]
    acc_id_util_pct: f64,
    reset_time_duration: Option<u64>,
}

/// How long no call is to be made, where a budget is used up.
fn pause_of(answer: &Answer) -> Option<Duration> {
    let of_account: Option<AccountUsage> =
        answer.header("x-ad-account-usage").and_then(|text| serde_json::from_str(text).ok());
    if let Some(usage) = of_account.filter(|usage| usage.acc_id_util_pct >= STOP_AT) {
        let pause = usage.reset_time_duration.map_or(STOP.unsigned_abs(), Duration::from_secs);
        return Some(pause.min(LONGEST_STOP.unsigned_abs()));
    }
    usage(answer)?.pause().map(time::Duration::unsigned_abs)
}

/// What the codes of the API mean.
fn error_of(answer: &Answer) -> ShopError {
    let error = match refusal(answer) {
        Ok(error) => error,
        Err(unreadable) => return unreadable,
    };
    match (error.code, error.error_subcode) {
        (100, Some(1_487_534)) => ShopError::TooMany,
        // Unverified: that this is told with code 1 as well.
        (1, _) if error.message.starts_with("Please reduce the amount of data") => ShopError::TooMany,
        _ => refused(&error, SCOPE),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
        Answer::example(status, headers, body)
    }

    fn refused(code: i64, subcode: i64) -> Answer {
        answer(400, &[], &format!(r#"{{"error":{{"message":"m","code":{code},"error_subcode":{subcode}}}}}"#))
    }

    #[rstest]
    #[case(190, 463, ShopError::Unauthorized)]
    #[case(100, 1_487_534, ShopError::TooMany)]
    #[case(100, 33, ShopError::NotFound)]
    #[case(200, 0, ShopError::MissingScope("ads_read".into()))]
    #[case(2, 0, ShopError::Unavailable("code 2".into()))]
    #[case(100, 7, ShopError::Rejected("code 100, subcode 7".into()))]
    fn codes_are_understood(#[case] code: i64, #[case] subcode: i64, #[case] expected: ShopError) {
        assert_eq!(error_of(&refused(code, subcode)), expected);
    }

    #[test]
    fn too_much_data_is_told_in_words_as_well() {
        let body = r#"{"error":{"message":"Please reduce the amount of data you're asking for, then retry","code":1}}"#;
        assert_eq!(error_of(&answer(500, &[], body)), ShopError::TooMany);
    }

    #[rstest]
    #[case(4)]
    #[case(17)]
    #[case(613)]
    #[case(80_000)]
    #[case(80_004)]
    fn too_many_calls_are_a_pause(#[case] code: i64) {
        assert!(matches!(error_of(&refused(code, 0)), ShopError::Throttled(_)));
    }

    #[test]
    fn what_is_no_answer_of_the_api_is_trouble_there() {
        assert_eq!(error_of(&answer(502, &[], "<html>")), ShopError::Unavailable("it answered with 502".into()));
        assert_eq!(error_of(&answer(404, &[], "<html>")), ShopError::Rejected("it answered with 404".into()));
    }

    #[test]
    fn a_budget_that_is_used_up_says_how_long_to_wait() {
        let used = |name, text: &str| pause_of(&answer(200, &[(name, text)], ""));
        let account = "x-ad-account-usage";
        assert_eq!(used(account, r#"{"acc_id_util_pct":96.2,"reset_time_duration":7}"#), Some(Duration::from_secs(7)));
        assert_eq!(used(account, r#"{"acc_id_util_pct":94.9,"reset_time_duration":7}"#), None);
        let business = r#"{"5":[{"type":"ads_insights","call_count":99,"estimated_time_to_regain_access":2}]}"#;
        assert_eq!(used("x-business-use-case-usage", business), Some(Duration::from_secs(120)));
        assert_eq!(used(account, "nonsense"), None);
    }
}
