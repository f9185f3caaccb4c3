//! `GET /api/v1/alerts/{id}/firings`: when a rule fired.

use actix_web::{HttpRequest, web};
use domain::{alerts::Firing, webhooks::log::Tally};
use serde::Serialize;
use utoipa::ToSchema;

use super::alerts::unknown;
use crate::{
    auth::Caller,
    error::{ApiError, Code},
    path,
    query::{Paging, Query},
    respond::{JsonDecimal, List, Reply, instant},
    state::State,
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

/// Firings of an alert rule.
///
/// Lists when a rule fired, newest first, with what became of the event's deliveries. They are kept for a year.
#[utoipa::path(
    get, path = "/api/v1/alerts/{id}/firings", tag = "alerts", operation_id = "list_alert_firings",
    params(("id" = i64, Path, description = "The rule.", minimum = 1, example = 7), Paging),
    responses((status = 200, description = "A page of firings.", body = List<FiringBody>)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn list(
    caller: Caller,
    query: Query<Paging>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (page, warnings) = (query.params.page(), query.warnings);
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let found = state.alerts.firings(caller.account(), id, page).await?.ok_or_else(unknown)?;
    Reply::found(&List::new(page, found, FiringBody::from, warnings))
}
