//! `GET /api/v1/alerts/{id}/firings`: when a rule fired.

use actix_web::{Either, HttpRequest, HttpResponse, web};
use domain::{alerts::Firing, webhooks::log::Tally};
use serde::Serialize;
use utoipa::ToSchema;

use super::alerts::unknown;
use crate::{
    auth::Caller,
    csv::{self, Csv, CsvMetadata, Format, Listing, file_row},
    error::{ApiError, Code},
    path,
    query::Paging,
    respond::{JsonDecimal, List, Reply, instant},
    state::State,
    streams::Streams,
};

/// Where the deliveries of an event stand.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FiringDeliveries)]
struct DeliveriesBody {
    #[schema(example = 1)]
    delivered: i64,
    #[schema(example = 0)]
    failed: i64,
    /// Pending or held.
    #[schema(example = 0)]
    waiting: i64,
}

/// A time that a rule fired.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AlertFiring)]
pub struct FiringBody {
    #[schema(example = 41)]
    id: i64,
    #[schema(format = DateTime, example = "2026-05-02T11:55:00Z")]
    fired_at: String,
    /// What was seen.
    #[schema(value_type = f64, example = 3)]
    observed: JsonDecimal,
    /// What the rule named then.
    #[schema(value_type = f64, example = 5)]
    threshold: JsonDecimal,
    /// All 0 where no webhook asked for `alert.fired`, and once the deliveries are no longer kept.
    deliveries: DeliveriesBody,
}

impl From<Firing> for FiringBody {
    fn from(firing: Firing) -> Self {
        let Firing { id, fired_at, observed, threshold, deliveries } = firing;
        let Tally { delivered, failed, waiting } = deliveries;
        Self {
            id: id.0,
            fired_at: instant(fired_at),
            observed: JsonDecimal(observed.normalize()),
            threshold: JsonDecimal(threshold.normalize()),
            deliveries: DeliveriesBody { delivered, failed, waiting },
        }
    }
}

file_row! {
    id: i64,
    fired_at: String,
    observed: JsonDecimal,
    threshold: JsonDecimal,
    delivered: i64,
    failed: i64,
    waiting: i64,
}

impl From<FiringBody> for FileRow {
    fn from(firing: FiringBody) -> Self {
        let FiringBody { id, fired_at, observed, threshold, deliveries } = firing;
        let DeliveriesBody { delivered, failed, waiting } = deliveries;
        Self { id, fired_at, observed, threshold, delivered, failed, waiting }
    }
}

type File = Csv<FileRow>;

/// Firings of an alert rule.
///
/// Lists when a rule fired, newest first, with what became of the event's deliveries. They are kept for a year. As CSV without
/// `limit` all of them are streamed.
#[utoipa::path(
    get, path = "/api/v1/alerts/{id}/firings", tag = "alerts", operation_id = "list_alert_firings",
    params(("id" = i64, Path, description = "The rule.", minimum = 1, example = 7), Paging),
    responses((status = 200, description = "A page of firings.", content(
        (List<FiringBody> = "application/json"),
        (inline(File) = "text/csv")
    ))),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn list(
    caller: Caller,
    listing: Listing<Paging>,
    request: HttpRequest,
    state: web::Data<State>,
    streams: web::Data<Streams>,
) -> Result<Either<Reply, HttpResponse>, ApiError> {
    let Listing { params, format, warnings } = listing;
    let (account, id) = (caller.account(), path::number(&request, "id").ok_or_else(unknown)?);
    let about = |warnings| {
        let day = caller.zone().day_of((state.clock)());
        CsvMetadata { name: "alert-firings", day, freshness: None, warnings }
    };
    if format == Format::Csv && params.is_unlimited() {
        let streaming = streams.into_inner().begin(account, request.method())?;
        let rows = state.alerts.all_firings(account, id, params.cursor()).await?.ok_or_else(unknown)?;
        let row = |firing| FileRow::from(FiringBody::from(firing));
        return Ok(Either::Right(csv::stream(&about(&warnings), rows, row, streaming)));
    }
    let page = params.page();
    let found = state.alerts.firings(account, id, page).await?.ok_or_else(unknown)?;
    let list = List::new(page, found, FiringBody::from, warnings);
    if format == Format::Json {
        return Reply::listed(&list).map(Either::Left);
    }
    let rows: Vec<FileRow> = list.data.into_iter().map(FileRow::from).collect();
    csv::page(&about(&list.warnings), &rows, list.pagination.next_cursor).map(Either::Left)
}
