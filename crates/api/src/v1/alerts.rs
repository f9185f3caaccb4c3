//! `/api/v1/alerts`: rules that watch a metric and fire an event.

mod bodies;

use actix_web::{HttpRequest, web};
use domain::alerts::{ChangeError, CreateError, InvalidTerms};

use self::bodies::{ChangeRequest, CreateRequest, OneBody, RuleBody};
use super::integrations::DoneBody;
use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    path,
    query::{NoParams, Paging, Query},
    respond::{List, Reply},
    state::State,
    write::{FirstAnswer, detached, written_once},
};

/// The alert rules.
///
/// Lists the rules with where each of them stands, newest first.
#[utoipa::path(
    get, path = "/api/v1/alerts", tag = "alerts", operation_id = "list_alerts",
    params(Paging),
    responses((status = 200, description = "A page of rules.", body = List<RuleBody>)),
    security(("api_key" = ["read"]))
)]
pub async fn list(caller: Caller, query: Query<Paging>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let (page, warnings) = (query.params.page(), query.warnings);
    let found = state.alerts.page(caller.account(), page).await?;
    Reply::found(&List::new(page, found, RuleBody::from, warnings))
}

/// Create an alert rule.
///
/// Creates a rule that is evaluated within minutes and fires `alert.fired` when its metric crosses the threshold.
#[utoipa::path(
    post, path = "/api/v1/alerts", tag = "alerts", operation_id = "create_alert",
    responses((status = 200, description = "The rule.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::IdempotencyKeySuperseded, Code::AlertLimitReached])))
)]
pub async fn create(
    caller: Caller,
    query: Query<NoParams>,
    body: Json<CreateRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (request, idempotency, warnings) = body.into_parts(query.warnings);
    let (terms, active) = request.terms()?;
    let account = caller.account();
    let first = FirstAnswer { answers: state.answers.clone(), account, key: idempotency.clone() };
    let work = async move { state.alerts.create(account, terms, active, idempotency, None, (state.clock)()).await };
    written_once(first, work, |rule| OneBody::new(rule, warnings)).await
}

/// The answer about a rule that is not there.
pub(super) fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such alert rule.")
}

/// One alert rule.
///
/// Shows a rule and where it stands.
#[utoipa::path(
    get, path = "/api/v1/alerts/{id}", tag = "alerts", operation_id = "get_alert",
    params(("id" = i64, Path, description = "The rule.", minimum = 1, example = 7)),
    responses((status = 200, description = "The rule.", body = OneBody)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let warnings = query.warnings;
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let found = state.alerts.find(caller.account(), id).await?.ok_or_else(unknown)?;
    Reply::found(&OneBody::new(found, warnings))
}

/// Change an alert rule.
///
/// Changes what is sent and leaves the rest. A rule that watches something else from then on, or is switched on, is armed
/// again and forgets what it saw.
#[utoipa::path(
    patch, path = "/api/v1/alerts/{id}", tag = "alerts", operation_id = "change_alert",
    params(("id" = i64, Path, description = "The rule.", minimum = 1, example = 7)),
    responses((status = 200, description = "The rule as it is now.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn change(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<ChangeRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (change, _, warnings) = body.into_parts(query.warnings);
    let change = change.into();
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let account = caller.account();
    let work = async move { state.alerts.change(account, id, change, None, (state.clock)()).await };
    Reply::done(&OneBody::new(detached(work).await?, warnings))
}

/// Delete an alert rule.
///
/// Removes a rule for good.
#[utoipa::path(
    delete, path = "/api/v1/alerts/{id}", tag = "alerts", operation_id = "delete_alert",
    params(("id" = i64, Path, description = "The rule.", minimum = 1, example = 7)),
    responses((status = 200, description = "The rule is gone.", body = DoneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn delete(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let id = path::number(&request, "id").ok_or_else(unknown)?;
    let account = caller.account();
    let work = async move { state.alerts.delete(account, id, None, (state.clock)()).await };
    if detached(work).await? { Reply::done(&DoneBody::new(query.warnings)) } else { Err(unknown()) }
}

impl From<InvalidTerms> for ApiError {
    fn from(invalid: InvalidTerms) -> Self {
        Self::parameter(invalid.field(), &invalid.to_string())
    }
}

impl From<CreateError> for ApiError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::LimitReached => Self::new(Code::AlertLimitReached),
            CreateError::Idempotency(error) => error.into(),
        }
    }
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::NotFound => unknown(),
            ChangeError::Invalid(invalid) => invalid.into(),
            ChangeError::Store(error) => error.into(),
        }
    }
}
