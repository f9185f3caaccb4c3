//! What all of Meta's Graph API has in common: log-ins, lists, how it refuses, and how it says what is left of its budgets.

pub mod login;

use std::collections::HashMap;

use domain::{instants, shops::ShopError};
use serde::{Deserialize, de::IgnoredAny};
use time::OffsetDateTime;

use crate::shops::http::Answer;

/// The version of the API: one is good for about a year.
pub const VERSION: &str = "v25.0";

/// Share of a budget in percent from which no call is made.
pub const STOP_AT: f64 = 95.0;
/// How long no call is made where Meta does not say.
pub const STOP: time::Duration = time::Duration::minutes(5);

/// The longest pause that is believed.
pub const LONGEST_STOP: time::Duration = time::Duration::DAY;

/// An instant such as `2026-05-01T12:00:00+0000`.
pub fn instant(text: &str) -> Option<OffsetDateTime> {
    let with_colon = match text.split_at_checked(text.len().checked_sub(2)?) {
        Some((head, minutes)) if head.len() > 19 && !head.ends_with(':') && !text.ends_with('Z') => {
            format!("{head}:{minutes}")
        }
        _ => text.to_owned(),
    };
    instants::parse(&with_colon).ok()
}

#[derive(Debug, Deserialize)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Debug, Deserialize)]
pub struct ErrorDetail {
    pub code: i64,
    pub error_subcode: Option<i64>,
    #[serde(default)]
    pub message: String,
}

/// What the codes mean that any call can be refused with; `scope` is the permission that the call needs.
pub fn refused(error: &ErrorDetail, scope: &str) -> ShopError {
    match (error.code, error.error_subcode) {
        (102 | 190, _) => ShopError::Unauthorized,
        (4 | 17 | 32 | 613 | 80_000..=80_009, _) => ShopError::Throttled(OffsetDateTime::now_utc() + STOP),
        // An object that is gone, or that the token may not see.
        (100, Some(33)) | (803, _) => ShopError::NotFound,
        (10 | 200..=299, _) => ShopError::MissingScope(scope.to_owned()),
        (1 | 2, _) => ShopError::Unavailable(format!("code {}", error.code)),
        (code, subcode) => ShopError::Rejected(format!("code {code}, subcode {}", subcode.unwrap_or_default())),
    }
}

/// How an answer that is no success refuses.
pub fn refusal(answer: &Answer) -> Result<ErrorDetail, ShopError> {
    match answer.json::<ErrorBody>() {
        Ok(ErrorBody { error }) => Ok(error),
        Err(_) => {
            let said = format!("it answered with {}", answer.status.as_u16());
            let is_trouble = answer.status.is_server_error();
            Err(if is_trouble { ShopError::Unavailable(said) } else { ShopError::Rejected(said) })
        }
    }
}

/// A page of a list.
#[derive(Debug, Deserialize)]
pub struct Page<T> {
    pub data: Vec<T>,
    paging: Option<Paging>,
}

#[derive(Debug, Deserialize)]
struct Paging {
    cursors: Option<Cursors>,
    /// The address of the next page, with the token in it.
    next: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Cursors {
    after: Option<String>,
}

impl<T> Page<T> {
    /// What the next page is asked for with; `None` on the last one.
    pub fn after(&self) -> Option<String> {
        let paging = self.paging.as_ref().filter(|paging| paging.next.is_some())?;
        paging.cursors.as_ref()?.after.clone()
    }
}

/// The largest share of a budget that is used up, and the minutes until it is given back.
pub struct Usage {
    pub percent: f64,
    pub wait: Option<i64>,
}

impl Usage {
    /// How long no call is to be made, where the budget is used up.
    pub fn pause(&self) -> Option<time::Duration> {
        let minutes = self.wait.filter(|minutes| *minutes > 0);
        let pause = minutes.map_or(STOP, |minutes| time::Duration::minutes(minutes.min(LONGEST_STOP.whole_minutes())));
        (self.percent >= STOP_AT).then_some(pause)
    }
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    call_count: f64,
    #[serde(default)]
    total_cputime: f64,
    #[serde(default)]
    total_time: f64,
    estimated_time_to_regain_access: Option<i64>,
}

/// `X-Business-Use-Case-Usage` has a list of budgets per object, `X-App-Usage` is one.
pub fn usage(answer: &Answer) -> Option<Usage> {
    let by_object = answer
        .header("x-business-use-case-usage")
        .and_then(|text| serde_json::from_str::<HashMap<String, Vec<Counted>>>(text).ok());
    let of_app = answer.header("x-app-usage").and_then(|text| serde_json::from_str::<Counted>(text).ok());
    let all = by_object.into_iter().flat_map(HashMap::into_values).flatten().chain(of_app);
    all.map(|counted| Usage {
        percent: counted.call_count.max(counted.total_cputime).max(counted.total_time),
        wait: counted.estimated_time_to_regain_access,
    })
    .max_by(|a, b| a.percent.total_cmp(&b.percent))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_pause_is_as_long_as_it_is_said_up_to_a_day() {
        let pause = |percent, wait| Usage { percent, wait }.pause();
        assert_eq!(pause(94.9, Some(7)), None);
        assert_eq!(pause(95.0, Some(7)), Some(time::Duration::minutes(7)));
        assert_eq!((pause(100.0, None), pause(100.0, Some(0))), (Some(STOP), Some(STOP)));
        assert_eq!(pause(100.0, Some(i64::MAX)), Some(LONGEST_STOP));
    }

    #[test]
    fn instants_come_without_a_colon() {
        assert_eq!(instant("2026-05-01T12:00:00+0000"), Some(datetime!(2026-05-01 12:00 UTC)));
        assert_eq!(instant("2026-05-01T09:00:00-03:00"), Some(datetime!(2026-05-01 12:00 UTC)));
        assert_eq!(instant("2026-05-01T12:00:00Z"), Some(datetime!(2026-05-01 12:00 UTC)));
        assert_eq!(instant("9999-12-31T23:59:59-2359"), None);
        assert_eq!((instant(""), instant("ñ"), instant("2026-05-01")), (None, None, None));
    }
}
