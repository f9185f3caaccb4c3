//! `PUT /api/v1/credits/auto-topup`: automatic top-ups.

use actix_web::web;
use domain::{
    credits::auto_topup::{
        Asked, AutoTopup, AutoTopupChange, InvalidSettings, MAX_MONTHLY_CAP, MAX_THRESHOLD, checked,
    },
    payments::PriceList,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use validator::Validate;

use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    input::Input,
    query::{NoParams, Query},
    respond::{API_VERSION, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
    write::detached,
};

/// When the account is topped up automatically.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AutoTopup)]
pub struct AutoTopupBody {
    enabled: bool,
    /// A balance below this is recharged.
    #[schema(example = 100)]
    threshold: i64,
    /// Credits that a recharge adds.
    #[schema(example = 500)]
    top_up_amount: i64,
    #[schema(format = DateTime)]
    last_charged_at: Option<String>,
    /// Credits that automatic top-ups may buy in a calendar month (UTC); null means as many as the service allows.
    #[schema(example = 5000)]
    monthly_cap: Option<i64>,
    /// Charges that failed since the last that succeeded; the third switches recharging off.
    #[schema(example = 0)]
    failures: i64,
    /// Why the last of them failed.
    #[schema(example = "card_declined")]
    last_failure: Option<String>,
    /// Why the service switched recharging off; null when it did not.
    disabled_reason: Option<String>,
}

impl From<AutoTopup> for AutoTopupBody {
    fn from(topup: AutoTopup) -> Self {
        let AutoTopup {
            enabled,
            threshold,
            top_up_amount,
            last_charged_at,
            monthly_cap,
            failures,
            last_failure,
            disabled_reason,
        } = topup;
        Self {
            enabled,
            threshold,
            top_up_amount,
            last_charged_at: last_charged_at.map(instant),
            monthly_cap,
            failures,
            last_failure,
            disabled_reason,
        }
    }
}

/// The settings. Switching off needs no more than `enabled`; what is left out then stays.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = AutoTopupSettings)]
pub struct SettingsRequest {
    #[schema(example = true)]
    enabled: bool,
    /// 1 to 1,000,000 credits. Required to switch on.
    #[validate(range(min = 1, max = MAX_THRESHOLD))]
    #[schema(minimum = 1, maximum = 1_000_000, example = 100)]
    threshold: Option<i64>,
    /// The size of a pack that is for sale. Required to switch on.
    #[validate(range(min = 1))]
    #[schema(minimum = 1, example = 500)]
    top_up_amount: Option<i64>,
    /// `top_up_amount` to 1,000,000,000; null, or left out when switching on, means as many as the service allows.
    #[validate(range(min = 1, max = MAX_MONTHLY_CAP))]
    #[schema(minimum = 1, maximum = 1_000_000_000, example = 5000)]
    monthly_cap: Option<i64>,
}

impl Input for SettingsRequest {}

/// The settings as they are now.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AutoTopupAnswer)]
pub struct SettingsBody {
    auto_topup: AutoTopupBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Set the automatic recharge.
///
/// A balance below `threshold` buys `top_up_amount` credits with the card of the last payment by hand: at once, if it is below
/// now, else after the debit that brings it there.
#[utoipa::path(
    put, path = "/api/v1/credits/auto-topup", tag = "account", operation_id = "set_auto_topup",
    responses((status = 200, description = "The settings as they are now.", body = SettingsBody)),
    security(("api_key" = ["write"]))
)]
pub async fn set(
    caller: Caller,
    query: Query<NoParams>,
    body: Json<SettingsRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (settings, _, warnings) = body.into_parts(query.warnings);
    let change = change(settings, &state.prices)?;
    let account = caller.account();
    let now = (state.clock)();
    let settings = detached(async move { state.auto_topup.change(account, change, None, now).await }).await?;
    Reply::done(&SettingsBody { auto_topup: settings.into(), api_version: API_VERSION, warnings })
}

fn change(settings: SettingsRequest, prices: &PriceList) -> Result<AutoTopupChange, ApiError> {
    let SettingsRequest { enabled, threshold, top_up_amount, monthly_cap } = settings;
    checked(Asked { enabled, threshold, top_up_amount, monthly_cap }, prices).map_err(refused)
}

fn refused(invalid: InvalidSettings) -> ApiError {
    match invalid {
        InvalidSettings::Missing(name) => {
            ApiError::new(Code::MissingParameter).message(format!("`{name}` is missing.")).param(name)
        }
        InvalidSettings::Threshold => {
            ApiError::parameter("threshold", &format!("must be a whole number from 1 to {MAX_THRESHOLD}"))
        }
        InvalidSettings::Size(sizes) if sizes.is_empty() => {
            ApiError::parameter("top_up_amount", "cannot be set: no credits are for sale here")
        }
        InvalidSettings::Size(sizes) => {
            let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
            ApiError::parameter("top_up_amount", &format!("must be the size of a pack: {}", sizes.join(", ")))
        }
        InvalidSettings::Cap(least) => {
            ApiError::parameter("monthly_cap", &format!("must be a whole number from {least} to {MAX_MONTHLY_CAP}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(body: &str) -> Result<AutoTopupChange, ApiError> {
        let prices = PriceList::parse("small:500:9:USD,big:5000:80:USD", "").unwrap();
        let (settings, _) = crate::body::parse(body.as_bytes(), false)?;
        change(settings, &prices)
    }

    #[test]
    fn switching_on_sets_everything_and_switching_off_what_is_said() {
        let on =
            AutoTopupChange { enabled: true, threshold: Some(100), top_up_amount: Some(500), monthly_cap: Some(None) };
        assert_eq!(parse(r#"{"enabled":true,"threshold":100,"top_up_amount":500}"#).unwrap(), on);
        let capped = AutoTopupChange { monthly_cap: Some(Some(500)), ..on };
        let body = r#"{"enabled":true,"threshold":100,"top_up_amount":500,"monthly_cap":500}"#;
        assert_eq!(parse(body).unwrap(), capped);
        let off = AutoTopupChange { enabled: false, threshold: None, top_up_amount: None, monthly_cap: None };
        assert_eq!(parse(r#"{"enabled":false}"#).unwrap(), off);
    }

    #[rstest]
    #[case("{}", "enabled")]
    #[case(r#"{"enabled":1}"#, "enabled")]
    #[case(r#"{"enabled":true,"top_up_amount":500}"#, "threshold")]
    #[case(r#"{"enabled":true,"threshold":100}"#, "top_up_amount")]
    #[case(r#"{"enabled":true,"threshold":0,"top_up_amount":500}"#, "threshold")]
    #[case(r#"{"enabled":true,"threshold":-1,"top_up_amount":500}"#, "threshold")]
    #[case(r#"{"enabled":true,"threshold":1000001,"top_up_amount":500}"#, "threshold")]
    #[case(r#"{"enabled":true,"threshold":1.5,"top_up_amount":500}"#, "threshold")]
    #[case(r#"{"enabled":true,"threshold":"100","top_up_amount":500}"#, "threshold")]
    #[case(r#"{"enabled":true,"threshold":100,"top_up_amount":501}"#, "top_up_amount")]
    #[case(r#"{"enabled":true,"threshold":100,"top_up_amount":99999999999999999999}"#, "top_up_amount")]
    #[case(r#"{"enabled":true,"threshold":100,"top_up_amount":500,"monthly_cap":499}"#, "monthly_cap")]
    #[case(r#"{"enabled":true,"threshold":100,"top_up_amount":500,"monthly_cap":1000000001}"#, "monthly_cap")]
    #[case(r#"{"enabled":false,"monthly_cap":9223372036854775807}"#, "monthly_cap")]
    fn a_fault_names_its_field(#[case] body: &str, #[case] field: &str) {
        let error = parse(body).unwrap_err();
        assert_eq!(error.body("id").param.as_deref(), Some(field));
        assert_eq!(error.code.status(), 400);
    }
}
