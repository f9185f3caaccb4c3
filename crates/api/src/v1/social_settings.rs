//! `/api/v1/social/settings`: what the bot may do.

use actix_web::web;
use domain::{
    credits::CreditAmount,
    social::{
        Category, Gate, Mode,
        settings::{Caps, Hours, InvalidSettings, Settings, SettingsError, Setup, Weekday},
        templates::Links,
    },
};
use rust_decimal::prelude::ToPrimitive as _;
use serde::{Deserialize, Deserializer, Serialize, de};
use time::{Time, macros::format_description};
use utoipa::ToSchema;
use validator::Validate;

use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    input::{Input, Number},
    names,
    query::{NoParams, Query},
    respond::{API_VERSION, JsonDecimal, Reply, Warnings, instant, round4},
    state::State,
    warnings::Warning,
    write::detached,
};

/// Hours of a day, by the account's clock.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SocialHours)]
struct HoursBody {
    #[schema(schema_with = names::weekday)]
    day: Weekday,
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "09:00")]
    from: String,
    /// Left out; `00:00` is midnight.
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "18:00")]
    to: String,
}

impl HoursBody {
    fn new(hours: Hours) -> Self {
        let text = |clock: Time| format!("{:02}:{:02}", clock.hour(), clock.minute());
        Self { day: hours.day, from: text(hours.from), to: text(hours.to) }
    }

    fn hours(&self) -> Result<Hours, ApiError> {
        let fault = || ApiError::parameter("business_hours", "must hold times such as 09:00");
        let clock = |text: &str| {
            Time::parse(text, format_description!("[hour]:[minute]")).ok().filter(|_| text.len() == 5).ok_or_else(fault)
        };
        Ok(Hours { day: self.day, from: clock(&self.from)?, to: clock(&self.to)? })
    }
}

/// How much the bot answers at most.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = SocialCaps)]
struct CapsBody {
    #[serde(deserialize_with = "whole")]
    #[schema(minimum = 0, maximum = 20, example = 3)]
    per_user_day: i64,
    #[serde(deserialize_with = "whole")]
    #[schema(minimum = 0, maximum = 200, example = 30)]
    per_post_hour: i64,
    #[serde(deserialize_with = "whole")]
    #[schema(minimum = 0, maximum = 500, example = 60)]
    per_account_hour: i64,
}

/// A whole number, which 3.0 is as well.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let Number(number) = Number::deserialize(deserializer)?;
    let whole = number.is_integer().then(|| number.to_i64()).flatten();
    whole.ok_or_else(|| de::Error::custom("must be a whole number"))
}

/// Whether mode `auto` was earned: at least 100 answers that the bot proposed were judged, and at most 1 of the latest 100 wrong. One
/// that was judged right counts if it was made in mode `dry_run`, approved or sent; one that was judged wrong counts whatever became
/// of it. What the bot held back itself counts neither way.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SocialGate)]
struct GateBody {
    #[schema(example = 112)]
    judged: i64,
    /// Among the latest 100.
    #[schema(example = 1)]
    wrong: i64,
    #[schema(example = true)]
    ready: bool,
    /// Judgements that are missing.
    #[schema(example = 0)]
    needed: i64,
    /// The share of errors that cannot be ruled out: the upper end of the 95 % interval (Wilson).
    #[schema(example = 0.0545)]
    upper_bound: f64,
}

/// The settings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SocialSettings)]
pub struct Body {
    #[schema(schema_with = names::social_mode)]
    mode: Mode,
    /// Answers of which the bot is less sure are held.
    #[schema(value_type = f64, example = 0.95)]
    threshold: JsonDecimal,
    /// Empty: at any time.
    business_hours: Vec<HoursBody>,
    caps: CapsBody,
    /// What is answered without a person in mode `auto`.
    #[schema(value_type = Vec<names::QuestionName>, example = json!(["price_question", "shipping_question", "stock_question"]))]
    categories_auto: Vec<Category>,
    /// Who writes one of them is left alone by the bot.
    #[schema(example = json!(["stop", "basta"]))]
    opt_out_words: Vec<String>,
    /// Hosts that answers may lead to.
    #[schema(example = json!(["shop.example.com"]))]
    own_hosts: Vec<String>,
    /// Where `{link}` of a template leads.
    #[schema(example = "https://shop.example.com/")]
    link: Option<String>,
    /// Whether a language model is asked, for credits, where the word lists are in doubt.
    #[schema(example = false)]
    model_vote: bool,
    /// Credits that each such vote costs, given back when its answer is of no use; null where no model is set up, so none is
    /// asked.
    #[schema(example = 1)]
    model_vote_credits: Option<i64>,
    auto_gate: GateBody,
    /// Since when the network refuses answers as abusive; choosing `auto` again ends it.
    #[schema(format = DateTime)]
    blocked_at: Option<String>,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl Body {
    fn new(setup: Setup, vote_price: Option<CreditAmount>, warnings: Warnings) -> Self {
        let Setup { settings, gate, blocked_at } = setup;
        let Settings { mode, threshold, business_hours, caps, categories_auto, opt_out_words, links, model_vote } =
            settings;
        let Caps { per_user_day, per_post_hour, per_account_hour } = caps;
        let Gate { judged, wrong } = gate;
        let Links { own_hosts, link } = links;
        Self {
            mode,
            threshold: JsonDecimal::ratio(threshold),
            business_hours: business_hours.into_iter().map(HoursBody::new).collect(),
            caps: CapsBody { per_user_day, per_post_hour, per_account_hour },
            categories_auto,
            opt_out_words,
            own_hosts,
            link,
            model_vote,
            model_vote_credits: vote_price.map(CreditAmount::get),
            auto_gate: GateBody {
                judged,
                wrong,
                ready: gate.is_ready(),
                needed: gate.needed(),
                upper_bound: round4(gate.upper_bound()),
            },
            blocked_at: blocked_at.map(instant),
            api_version: API_VERSION,
            warnings,
        }
    }
}

/// The settings as they are to be; what is left out gets its default.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = NewSocialSettings)]
pub struct Request {
    #[schema(schema_with = names::social_mode)]
    mode: Mode,
    /// 0.5 to 1, with at most 4 decimals.
    #[schema(value_type = Option<f64>, minimum = 0.5, maximum = 1, multiple_of = 0.0001, default = 0.95, example = 0.95)]
    threshold: Option<Number>,
    #[schema(max_items = 28)]
    business_hours: Option<Vec<HoursBody>>,
    caps: Option<CapsBody>,
    /// Questions only: people answer what is none.
    #[schema(value_type = Option<Vec<names::QuestionName>>, example = json!(["price_question"]))]
    categories_auto: Option<Vec<Category>>,
    /// At most 50, of at most 50 characters each.
    #[schema(max_items = 50, example = json!(["stop"]))]
    opt_out_words: Option<Vec<String>>,
    /// At most 10.
    #[schema(max_items = 10, example = json!(["shop.example.com"]))]
    own_hosts: Option<Vec<String>>,
    #[schema(max_length = 500, example = "https://shop.example.com/")]
    link: Option<String>,
    /// True lets a language model propose an answer where the word lists are in doubt; each vote costs
    /// `model_vote_credits`.
    #[schema(default = false, example = false)]
    model_vote: Option<bool>,
}

impl Input for Request {}

impl Request {
    fn settings(self) -> Result<Settings, ApiError> {
        let default = Settings::default();
        let caps = self.caps.map_or(default.caps, |caps| {
            let CapsBody { per_user_day, per_post_hour, per_account_hour } = caps;
            Caps { per_user_day, per_post_hour, per_account_hour }
        });
        let mut categories_auto = self.categories_auto.unwrap_or(default.categories_auto);
        categories_auto.sort_unstable();
        categories_auto.dedup();
        let hours = self.business_hours.unwrap_or_default();
        let settings = Settings {
            mode: self.mode,
            threshold: self.threshold.map_or(default.threshold, |number| number.0),
            business_hours: hours.iter().map(HoursBody::hours).collect::<Result<_, _>>()?,
            caps,
            categories_auto,
            opt_out_words: self.opt_out_words.unwrap_or_default(),
            links: Links { own_hosts: self.own_hosts.unwrap_or_default(), link: self.link },
            model_vote: self.model_vote.unwrap_or(default.model_vote),
        };
        Ok(settings.checked()?)
    }
}

/// What the bot may do.
///
/// Shows the settings, and whether mode `auto` was earned.
#[utoipa::path(
    get, path = "/api/v1/social/settings", tag = "conversations", operation_id = "get_social_settings",
    responses((status = 200, description = "The settings.", body = Body)),
    security(("api_key" = ["read"])),
    extensions(("x-since" = json!("2026-12")))
)]
pub async fn get(caller: Caller, query: Query<NoParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let setup = state.social_settings.setup(caller.account()).await?;
    Reply::found(&Body::new(setup, state.vote_price, query.warnings))
}

/// Set what the bot may do.
///
/// Puts settings in the place of those before. Mode `auto` has to be earned: see `auto_gate`.
#[utoipa::path(
    put, path = "/api/v1/social/settings", tag = "conversations", operation_id = "set_social_settings",
    responses((status = 200, description = "The settings as they are now.", body = Body)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::InvalidTransition])), ("x-since" = json!("2026-12")))
)]
pub async fn put(
    caller: Caller,
    query: Query<NoParams>,
    body: Json<Request>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (request, _, warnings) = body.into_parts(query.warnings);
    let (account, settings, vote_price) = (caller.account(), request.settings()?, state.vote_price);
    let setup =
        detached(async move { state.social_settings.put(account, settings, None, (state.clock)()).await }).await?;
    Reply::done(&Body::new(setup, vote_price, warnings))
}

impl From<InvalidSettings> for ApiError {
    fn from(invalid: InvalidSettings) -> Self {
        Self::parameter(invalid.field, &invalid.fault)
    }
}

impl From<SettingsError> for ApiError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::GateClosed(Gate { judged, wrong }) => Self::new(Code::InvalidTransition)
                .message(format!(
                    "Mode `auto` takes at least 100 judged answers of the bot, approved or of mode `dry_run`, with at most 1 wrong \
                     among the latest 100: \
                     {judged} are judged, {wrong} of the latest wrong."
                ))
                .param("mode"),
            SettingsError::Store(error) => error.into(),
        }
    }
}
