//! `GET /api/v1/creatives`: what ads show, and which of it sells better.

mod bodies;

use actix_web::{Either, HttpResponse, http::Method, web};
use domain::{
    AdEntityId,
    ads::AdPlatform,
    creatives::{Query, Status},
};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use self::bodies::{CreativeBody, FileRow, MethodBody};
use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    csv::{self, Csv, CsvMetadata, Format, Listing},
    error::{ApiError, Code},
    freshness::FreshnessBody,
    input::Input,
    names,
    query::{Days, Limit},
    respond::{API_VERSION, Pagination, Reply, Warnings, instant},
    state::State,
    streams::Streams,
    warnings::Warning,
    window,
};

type File = Csv<FileRow>;

/// Which creatives to list, and how.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    /// At least 7.
    #[validate(nested)]
    #[param(inline, required = false)]
    days: Days<30, 90, 7>,
    /// `meta`, `google`, `mercadolibre`, or `manual` for all others that files tell of.
    #[param(value_type = names::AdPlatformName, inline, required = false)]
    platform: Option<AdPlatform>,
    /// `winner`, `leading`, `testing`, `insufficient_data`, `faded` or `losing`.
    #[param(value_type = names::CreativeStatusName, inline, required = false)]
    status: Option<Status>,
    /// Only winners, or only others.
    #[param(value_type = names::Flag, inline, required = false)]
    winner: Option<bool>,
    /// Only in this campaign: its `id` in `/ads`.
    #[param(minimum = 1)]
    campaign_id: Option<i64>,
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

impl ListParams {
    fn query(&self, caller: &Caller, now: OffsetDateTime) -> Query {
        Query {
            range: window::ending_today(caller.zone(), now, self.days.get()),
            platform: self.platform,
            status: self.status,
            winner: self.winner,
            campaign: self.campaign_id.map(AdEntityId),
        }
    }
}

/// A page of creatives.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Creatives)]
pub struct Body {
    data: Vec<CreativeBody>,
    method: MethodBody,
    #[schema(example = 30)]
    window_days: i64,
    freshness: FreshnessBody,
    pagination: Pagination,
    /// When the verdicts were last made; null before that.
    #[schema(format = DateTime, example = "2026-11-20T03:00:00Z")]
    generated_at: Option<String>,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Creatives, and which of a campaign's sell better than the others.
///
/// Lists the creatives that ran in the window, once for each campaign: winners first, then by spend, the highest first. Sums are
/// of the window; the verdict is of the last 90 days without the newest three, as the job `creative_winners` found it. Which
/// ad is shown to whom is the platform's choice: a winner did better where it was shown, which is no proof that it causes
/// more sales. A creative is listed from the night after its first day on, when it is first judged. As CSV without `limit` all
/// rows are streamed, with verdict and fatigue as columns and without `ad_ids`.
#[utoipa::path(
    get, path = "/api/v1/creatives", tag = "analytics", operation_id = "list_creatives",
    params(ListParams),
    responses((status = 200, description = "A page of creatives.", content(
        (Body = "application/json"),
        (inline(File) = "text/csv")
    ))),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn get(
    caller: Caller,
    listing: Listing<ListParams>,
    state: web::Data<State>,
    streams: web::Data<Streams>,
    method: Method,
) -> Result<Either<Reply, HttpResponse>, ApiError> {
    let Listing { params, format, warnings } = listing;
    let Results { account, now } = Results::of(&caller, params.as_of, &state).await?;
    let (query, currency) = (params.query(&caller, now), caller.currency());
    let freshness = state.creatives.freshness(account).await?;
    let generated_at = freshness.as_of.map(instant);
    let freshness = FreshnessBody::new(freshness, caller.zone(), now);
    let page = params.limit.page(params.cursor);
    if format == Format::Csv {
        let day = query.range.last;
        let about = CsvMetadata { name: "creatives", day, freshness: Some(freshness), warnings: &warnings };
        let row = move |creative| FileRow::from(CreativeBody::new(creative, currency));
        let one = params.limit.requested().map(|_| state.creatives.page(account, query, page));
        let all = async || state.creatives.stream(account, query, params.cursor).await;
        return csv::file(&about, row, one, all, || streams.into_inner().begin(caller.account(), &method)).await;
    }
    let found = state.creatives.page(account, query, page).await?;
    let body = Body {
        pagination: Pagination::new(page, &found),
        method: MethodBody::of(found.items.first()),
        data: found.items.into_iter().map(|creative| CreativeBody::new(creative, currency)).collect(),
        window_days: params.days.get(),
        freshness,
        generated_at,
        api_version: API_VERSION,
        warnings,
    };
    Reply::listed(&body).map(Either::Left)
}
