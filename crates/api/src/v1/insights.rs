//! `/api/v1/insights`: what a person should know or do, and what was decided on it.

mod story;

use actix_web::{HttpRequest, web};
use domain::{
    freshness::Dated,
    insights::{
        self as told, Category, DecideError, Figure, Filter, Insight, Kind, Severity, Source, Status, Told, Wording,
    },
    language::Language,
    money::Currency,
    texts::Texts,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use self::story::StoryBody;
use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    freshness::{DatedList, FreshnessBody},
    input::Input,
    language::{Accepted, LanguageParam},
    names, path,
    query::{Limit, Query},
    respond::{API_VERSION, JsonDecimal, List, Reply, Warnings, date, instant},
    state::State,
    warnings::Warning,
    write::detached,
};

/// Something to know or to do, in words.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Insight)]
pub struct InsightBody {
    #[schema(example = 318)]
    id: i64,
    #[schema(schema_with = names::severity)]
    severity: Severity,
    #[schema(schema_with = names::category)]
    category: Category,
    #[schema(example = "Ad spend rose faster than revenue")]
    title: String,
    #[schema(example = "Ad spend was 41 % above the week before while gross revenue rose by 3 %.")]
    body: String,
    #[schema(example = "Lower the budget of the two campaigns that cost more than they bring.")]
    suggested_action: String,
    #[schema(example = "About 120.00 a day")]
    impact_estimate: String,
    #[schema(schema_with = names::insight_status)]
    status: Status,
    #[schema(format = DateTime, example = "2026-05-02T05:00:00Z")]
    computed_at: String,
    #[schema(format = DateTime)]
    resolved_at: Option<String>,
    /// Who wrote the texts: the rules, or a language model whose every number was checked. A model's text is shown in the
    /// language that it was written in.
    #[schema(schema_with = names::insight_source)]
    source: Source,
    /// What the texts are written from; null for an insight from before it was kept, which is shown in English.
    facts: Option<FactsBody>,
    /// Whether it is among the few that are told unasked: at most seven open ones, those with most at stake.
    told: bool,
    /// Money at stake, in the account's currency; null where it is not known.
    #[schema(value_type = Option<f64>, example = 1450.0)]
    at_stake: Option<JsonDecimal>,
    /// The event that it tells, with its anomalies; null for other insights, and where the event is no longer known.
    story: Option<StoryBody>,
}

/// What an insight tells, as data.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InsightFacts)]
struct FactsBody {
    /// What kind of situation it is.
    #[schema(schema_with = names::insight_kind)]
    kind: Kind,
    figures: Vec<FigureBody>,
    /// What it sums up, such as the stories of a week.
    #[schema(no_recursion)]
    parts: Vec<FactsBody>,
}

/// A fact.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InsightFigure)]
struct FigureBody {
    #[schema(example = "profit_before")]
    name: String,
    /// `money` is in the account's currency, `ratio` money per money; of a `share` 1 is the whole, and `points` are the difference of
    /// two shares.
    #[schema(value_type = String, schema_with = names::figure_unit)]
    unit: &'static str,
    /// A number, a text, or an array of texts.
    #[schema(value_type = Value, example = 1500.00)]
    value: FigureValue,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FigureValue {
    Number(JsonDecimal),
    Text(String),
    Texts(Vec<String>),
}

impl FactsBody {
    fn new(Told { kind, figures, parts }: Told, currency: Currency) -> Self {
        Self {
            kind,
            figures: figures.into_iter().map(|figure| FigureBody::new(figure, currency)).collect(),
            parts: parts.into_iter().map(|part| Self::new(part, currency)).collect(),
        }
    }
}

impl FigureBody {
    fn new(Figure { name, value }: Figure, currency: Currency) -> Self {
        let unit = value.unit();
        let value = match value {
            told::Value::Money(amount) => FigureValue::Number(JsonDecimal::money(amount, currency)),
            told::Value::Count(number)
            | told::Value::Ratio(number)
            | told::Value::Share(number)
            | told::Value::Points(number) => FigureValue::Number(JsonDecimal::ratio(number)),
            told::Value::Days(days) => FigureValue::Number(JsonDecimal(days.into())),
            told::Value::Date(day) => FigureValue::Text(date(day)),
            told::Value::Names(names) => FigureValue::Texts(names),
            told::Value::Moved(direction) => FigureValue::Text(direction.to_string()),
            told::Value::Code(text) => FigureValue::Text(text),
        };
        Self { name, unit, value }
    }
}

impl InsightBody {
    fn new(insight: Insight, texts: &Texts, currency: Currency) -> Self {
        let (wording, source) = insight.wording(texts, currency);
        let Wording { title, body, suggested_action, impact_estimate } = wording;
        let Insight {
            id,
            severity,
            category,
            written: _,
            status,
            source: _,
            language: _,
            told,
            is_told,
            at_stake,
            weight: _,
            story,
            computed_at,
            resolved_at,
        } = insight;
        Self {
            id: id.0,
            severity,
            category,
            title,
            body,
            suggested_action,
            impact_estimate,
            status,
            computed_at: instant(computed_at),
            resolved_at: resolved_at.map(instant),
            source,
            facts: told.map(|told| FactsBody::new(told, currency)),
            told: is_told,
            at_stake: at_stake.map(|stake| JsonDecimal::money(stake, currency)),
            story: story.map(|story| StoryBody::new(story, currency)),
        }
    }
}

/// Which insights to list.
#[derive(Deserialize, Validate, IntoParams)]
pub struct ListParams {
    /// `open`, `resolved` or `dismissed`.
    #[param(value_type = names::InsightStatusName, inline, required = false)]
    status: Option<Status>,
    /// `low`, `medium`, `high` or `critical`.
    #[param(value_type = names::SeverityName, inline, required = false)]
    severity: Option<Severity>,
    /// `ads`, `churn_risk`, `inventory`, `profit`, `revenue`, `customers`, `pricing`, `integrations` or `social`.
    #[param(value_type = names::CategoryName, inline, required = false)]
    category: Option<Category>,
    /// Also those that are not told unasked, which have `told: false`.
    #[param(value_type = names::Flag, inline, required = false)]
    all: Option<bool>,
    #[param(value_type = names::LanguageName, inline, required = false)]
    lang: Option<Language>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<25, 100>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
    #[param(inline, required = false)]
    as_of: Option<AsOf>,
}

impl Input for ListParams {}

/// What to know and what to do.
///
/// Lists the insights that are told unasked, newest first: of the open ones at most seven, those with most money at stake;
/// with `all=1` the others as well. An event is one insight, however many anomalies it made.
#[utoipa::path(
    get, path = "/api/v1/insights", tag = "analytics", operation_id = "list_insights",
    params(ListParams),
    responses((status = 200, description = "A page of insights.", body = DatedList<InsightBody>)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    accepted: Accepted,
    query: Query<ListParams>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let Query { params: ListParams { status, severity, category, all, lang, limit, cursor, as_of }, warnings } = query;
    let (texts, currency) = (accepted.texts(lang, &caller, (state.clock)()), caller.currency());
    let (filter, page) = (Filter { status, severity, category, all: all.unwrap_or(false) }, limit.page(cursor));
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let Dated { found, freshness } = state.insights.page(account, filter, page).await?;
    let freshness = FreshnessBody::new(freshness, caller.zone(), now);
    let body = |insight| InsightBody::new(insight, &texts, currency);
    Ok(Reply::found(&DatedList::new(List::new(page, found, body, warnings), freshness))?.in_language(&texts))
}

/// What was decided on an insight. Unknown fields are ignored and listed in `warnings`.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = InsightChange)]
pub struct Change {
    #[schema(schema_with = names::insight_status)]
    status: Status,
}

impl Input for Change {}

/// An insight as it is after a change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangedInsight)]
pub struct ChangedBody {
    #[serde(flatten)]
    insight: InsightBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Decide on an insight.
///
/// Marks an open insight as resolved or dismissed, or opens it again. One end does not turn into the other directly, and
/// nothing is opened while another insight about the same situation is open: both are 409. The status that it has already
/// is accepted and changes nothing. What was dismissed is not brought up again for 14 days, what was resolved for 7.
#[utoipa::path(
    patch, path = "/api/v1/insights/{id}", tag = "analytics", operation_id = "change_insight",
    params(("id" = i64, Path, description = "The insight.", minimum = 1, example = 318), LanguageParam),
    responses((status = 200, description = "The insight as it is now.", body = ChangedBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound, Code::InvalidTransition])))
)]
pub async fn change(
    caller: Caller,
    accepted: Accepted,
    query: Query<LanguageParam>,
    request: HttpRequest,
    body: Json<Change>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (texts, currency) = (accepted.texts(query.params.lang, &caller, (state.clock)()), caller.currency());
    let (Change { status }, _, warnings) = body.into_parts(query.warnings);
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let account = caller.account();
    let work = async move { state.insights.decide(account, id, status, None, (state.clock)()).await };
    let insight = InsightBody::new(detached(work).await?, &texts, currency);
    Ok(Reply::done(&ChangedBody { insight, api_version: API_VERSION, warnings })?.in_language(&texts))
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such insight.")
}

impl From<DecideError> for ApiError {
    fn from(error: DecideError) -> Self {
        let refused = |message: String| Self::new(Code::InvalidTransition).message(message).param("status");
        match error {
            DecideError::NotFound => unknown(),
            DecideError::Refused(from) => refused(format!("The insight is {from}; open it again first.")),
            DecideError::OtherOpen => refused("Another insight about the same situation is open.".to_owned()),
            DecideError::Store(error) => error.into(),
        }
    }
}
