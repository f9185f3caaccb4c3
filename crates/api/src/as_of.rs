//! `as_of`: answers from the results as of a past day.

use domain::{AccountId, as_of::earliest};
use serde::Deserialize;
use time::{Date, Duration, OffsetDateTime};
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};
use validator::Validate;

use crate::{
    auth::Caller,
    error::{ApiError, Code},
    input::Input,
    state::State,
    window,
};

/// A day to take for today.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct AsOf(#[serde(deserialize_with = "window::day")] Date);

impl PartialSchema for AsOf {
    fn schema() -> RefOr<Schema> {
        window::schema_of_day(
            "The results as of this day of the last two years, as the operator had them computed by `api jobs run all \
             --as-of`; 404 where there are none. Without it the results that are live.",
        )
    }
}

impl ToSchema for AsOf {}

/// Those of an endpoint that has no others.
#[derive(Deserialize, Validate, IntoParams)]
pub struct AsOfParams {
    #[param(inline, required = false)]
    pub as_of: Option<AsOf>,
}

impl Input for AsOfParams {}

/// Where an answer is read, and what time it is there.
pub struct Results {
    pub account: AccountId,
    pub now: OffsetDateTime,
}

impl Results {
    /// The live results, or those as of a day, which ends as they are read.
    pub async fn of(caller: &Caller, as_of: Option<AsOf>, state: &State) -> Result<Self, ApiError> {
        let (live, zone, now) = (caller.account(), caller.zone(), (state.clock)());
        let Some(AsOf(day)) = as_of else { return Ok(Self { account: live, now }) };
        let today = zone.day_of(now);
        if !(earliest(today)..=today).contains(&day) {
            return Err(ApiError::parameter("as_of", "must be a day of the last two years"));
        }
        let Some(account) = state.as_of.find(live, day).await? else {
            let told = format!(
                "Nothing was computed as of {day}. The operator can have it computed: \
                 api jobs run all --account {live} --as-of {day}"
            );
            return Err(ApiError::new(Code::NotFound).message(told));
        };
        Ok(Self { account, now: zone.start_of(day.saturating_add(Duration::DAY)) - Duration::SECOND })
    }
}
