//! `GET /api/v1/ads`: what was spent on advertising, and what platforms say came of it.

mod bodies;

use actix_web::{Either, HttpResponse, http::Method, web};
use domain::{
    AdEntityId,
    ads::{AdListError, AdPlatform, Group, Level, Overview, Query, Status},
    freshness::Dated,
    profit::{DayRange, net_revenue},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use self::bodies::{AdBody, AttributionBody, CoverageBody, FileRow, TotalsBody};
use crate::{
    auth::Caller,
    csv::{self, Csv, CsvMetadata, Format, Listing},
    error::{ApiError, Code},
    freshness::FreshnessBody,
    input::Input,
    names,
    query::{Days, Limit},
    respond::{API_VERSION, Pagination, Reply, Warnings, date},
    state::State,
    streams::Streams,
    warnings::Warning,
    window::{self, Day},
};

/// The longest window.
const MOST_DAYS: i64 = 90;

type File = Csv<FileRow>;

/// Which ads to list, and how.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    #[validate(nested)]
    #[param(inline, required = false)]
    days: Days<30, 90>,
    /// The first day of the window, together with `to` and instead of `days`.
    #[param(value_type = Day, inline, required = false)]
    from: Option<Day>,
    /// The last day of the window, at most the 90th.
    #[param(value_type = Day, inline, required = false)]
    to: Option<Day>,
    /// `meta`, `google`, `mercadolibre`, or `manual` for all others that files tell of.
    #[param(value_type = names::AdPlatformName, inline, required = false)]
    platform: Option<AdPlatform>,
    /// What a row is of: `campaign` unless said.
    #[param(value_type = names::AdLevelName, inline, required = false)]
    level: Option<Level>,
    /// `day` for a row each day; `total` unless said.
    #[param(value_type = names::AdGroupName, inline, required = false)]
    group: Option<Group>,
    /// Only this campaign: its `id` at the level of campaigns.
    #[param(minimum = 1)]
    campaign_id: Option<i64>,
    /// Only ads of this status. What is above has that of its liveliest ad.
    #[param(value_type = names::AdStatusName, inline, required = false)]
    status: Option<Status>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<50, 200>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
}

impl Input for ListParams {}

impl ListParams {
    /// What is asked for. Days are the account's, though those of an ad account may be cut by another clock.
    fn query(&self, caller: &Caller, state: &State) -> Result<Query, ApiError> {
        let range = match window::between(self.from, self.to, MOST_DAYS)? {
            Some(_) if self.days.requested().is_some() => {
                return Err(ApiError::parameter("days", "must not be given together with `from` and `to`"));
            }
            Some(range) => range,
            None => window::ending_today(caller.zone(), (state.clock)(), self.days.get()),
        };
        if self.campaign_id.is_some_and(|id| id < 1) {
            return Err(ApiError::parameter("campaign_id", "must be a whole number of at least 1"));
        }
        Ok(Query {
            range,
            platform: self.platform,
            campaign: self.campaign_id.map(AdEntityId),
            status: self.status,
            level: self.level.unwrap_or(Level::Campaign),
            group: self.group.unwrap_or(Group::Total),
        })
    }
}

impl From<AdListError> for ApiError {
    fn from(error: AdListError) -> Self {
        match error {
            AdListError::NoSuchCampaign => Self::new(Code::NotFound)
                .message("`campaign_id` names no campaign of the account.")
                .param("campaign_id"),
            AdListError::Store(error) => error.into(),
        }
    }
}

/// Advertising of a window.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Ads)]
pub struct Body {
    data: Vec<AdBody>,
    totals: TotalsBody,
    attribution: AttributionBody,
    #[schema(example = 30)]
    window_days: i64,
    #[schema(format = Date, example = "2026-10-22")]
    from: String,
    #[schema(format = Date, example = "2026-11-20")]
    to: String,
    /// By platform, which days are known: others are not 0, but were never told of.
    coverage: Vec<CoverageBody>,
    freshness: FreshnessBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Advertising by campaign, ad set or ad.
///
/// Lists ad accounts, campaigns, ad sets or ads with what was spent on them and what the platforms claim came of it, by spend,
/// the highest first; with `group=day` each day of each, the newest first. Ratios are of sums. As CSV without `limit` all rows
/// are streamed, with `native` as two columns and without `totals`.
#[utoipa::path(
    get, path = "/api/v1/ads", tag = "analytics", operation_id = "list_ads",
    params(ListParams),
    responses((status = 200, description = "A page of advertising.", content(
        (Body = "application/json"),
        (inline(File) = "text/csv")
    ))),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::MissingParameter, Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn get(
    caller: Caller,
    listing: Listing<ListParams>,
    state: web::Data<State>,
    streams: web::Data<Streams>,
    method: Method,
) -> Result<Either<Reply, HttpResponse>, ApiError> {
    let Listing { params, format, mut warnings } = listing;
    let (account, query) = (caller.account(), params.query(&caller, &state)?);
    let overview = state.ads.overview(account, query).await?;
    warnings.extend(lacks(&overview, &caller));
    let Dated { found: own_days, freshness } = state.profit.range(account, query.range).await?;
    let now = (state.clock)();
    let freshness = FreshnessBody::new(freshness, caller.zone(), now);
    let today = caller.zone().day_of(now);
    let page = params.limit.page(params.cursor);
    if format == Format::Csv {
        let about = CsvMetadata { name: "ads", day: today, freshness: Some(freshness), warnings: &warnings };
        let currency = caller.currency();
        let row = move |row| FileRow::from(AdBody::new(row, currency));
        let one = params.limit.requested().map(|_| state.ads.page(account, query, page));
        let all = async || state.ads.stream(account, query, params.cursor).await;
        return csv::file(&about, row, one, all, || streams.into_inner().begin(account, &method)).await;
    }
    let found = state.ads.page(account, query, page).await?;
    let DayRange { first, last } = query.range;
    let body = Body {
        pagination: Pagination::new(page, &found),
        data: found.items.into_iter().map(|row| AdBody::new(row, caller.currency())).collect(),
        totals: TotalsBody::new(&overview, net_revenue(&own_days), query.is_partial(), caller.currency()),
        attribution: AttributionBody::new(overview.attribution),
        window_days: (last - first).whole_days() + 1,
        from: date(first),
        to: date(last),
        coverage: overview.coverage.into_iter().map(|known| CoverageBody::new(known, query.range, today)).collect(),
        freshness,
        api_version: API_VERSION,
        warnings,
    };
    Reply::listed(&body).map(Either::Left)
}

/// What the figures lack.
fn lacks(overview: &Overview, caller: &Caller) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if overview.sources.is_empty() {
        warnings.push(Warning::about("no_ad_source", "data"));
    }
    if overview.lacks_rates {
        warnings.push(Warning::about("fx_missing", "spend"));
    }
    let other = |zone: &Option<String>| zone.as_deref().is_some_and(|zone| zone != caller.zone().name());
    if overview.sources.iter().any(|(_, zone)| other(zone)) {
        warnings.push(Warning::about("timezone_mismatch", "date"));
    }
    warnings
}
