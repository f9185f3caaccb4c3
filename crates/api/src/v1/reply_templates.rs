//! `/api/v1/reply-templates`: the answers that people write and approve.

mod bodies;

use actix_web::{HttpRequest, web};
use domain::{
    TemplateId,
    social::{
        Category, Tongue,
        templates::{
            ChangeError, CreateError, InvalidContent, MAX_APPROVER_CHARS, NewTemplate, Step, TemplateChange,
            TemplateFilter, TemplateState,
        },
    },
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use self::bodies::{OneBody, TemplateBody, WholeBody};
use super::integrations::DoneBody;
use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    input::Input,
    names, path,
    query::{Limit, NoParams, Paging, Query},
    respond::{List, Reply},
    state::State,
    write::{FirstAnswer, detached, written_once},
};

/// Which templates to list.
#[derive(Deserialize, Validate, IntoParams)]
pub struct ListParams {
    #[param(value_type = names::CommentCategoryName, inline, required = false)]
    category: Option<Category>,
    #[param(value_type = names::TongueName, inline, required = false)]
    language: Option<Tongue>,
    /// Of the newest version.
    #[param(value_type = names::TemplateStateName, inline, required = false)]
    state: Option<TemplateState>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<25, 100>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
}

impl Input for ListParams {}

/// A template to be created, as a draft.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = NewReplyTemplate)]
pub struct CreateRequest {
    /// 1 to 100 characters.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$",
        example = "Prices"
    )]
    name: String,
    #[schema(schema_with = names::comment_category)]
    category: Category,
    #[schema(schema_with = names::tongue)]
    language: Tongue,
    /// 1 to 5 texts of at most 1,000 characters, which take turns. Placeholders are `{username}` and `{link}`; prices,
    /// percentages, numbers in stock, `@` and links to other hosts than the account's own are refused.
    #[schema(value_type = Vec<names::TemplateText>, min_items = 1, max_items = 5,
        example = json!(["¡Hola {username}! Los precios están en {link}"]))]
    variations: Vec<String>,
}

impl Input for CreateRequest {}

/// What to change about a template. A change of what it says makes a new draft; the approved version serves on.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = ReplyTemplateChange)]
pub struct ChangeRequest {
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$",
        example = "Prices"
    )]
    name: Option<String>,
    #[schema(schema_with = names::comment_category_or_null)]
    category: Option<Category>,
    #[schema(schema_with = names::tongue_or_null)]
    language: Option<Tongue>,
    #[schema(value_type = Option<Vec<names::TemplateText>>, min_items = 1, max_items = 5,
        example = json!(["¡Hola {username}! Mirá {link}"]))]
    variations: Option<Vec<String>>,
    /// `approved`, which takes `approved_by`, or `retired`, which is for good.
    #[schema(schema_with = next_state)]
    state: Option<NextState>,
    /// The person who approves; at most 100 characters.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$",
        example = "Ana"
    )]
    approved_by: Option<String>,
}

impl Input for ChangeRequest {}

/// Where a person may take a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NextState {
    Approved,
    Retired,
}

fn next_state() -> utoipa::openapi::schema::Object {
    names::one_of_or_null(&["approved", "retired"])
}

impl ChangeRequest {
    fn change(self) -> Result<TemplateChange, ApiError> {
        let Self { name, category, language, variations, state, approved_by } = self;
        let step = match (state, approved_by) {
            (Some(NextState::Approved), Some(by)) => Some(Step::Approve { by: approver(&by)?, seen: None }),
            (Some(NextState::Approved), None) => {
                let missing = ApiError::new(Code::MissingParameter).param("approved_by");
                return Err(missing.message("`approved_by` is required with the state `approved`."));
            }
            (_, Some(_)) => {
                return Err(ApiError::parameter("approved_by", "goes with the state `approved` only"));
            }
            (Some(NextState::Retired), None) => Some(Step::Retire),
            (None, None) => None,
        };
        Ok(TemplateChange { name, category, language, variations, step })
    }
}

fn approver(by: &str) -> Result<String, ApiError> {
    let by = by.trim();
    let is_name = !by.is_empty() && by.chars().count() <= MAX_APPROVER_CHARS && !by.chars().any(char::is_control);
    let fault = "must be 1 to 100 characters, without control characters";
    if is_name { Ok(by.to_owned()) } else { Err(ApiError::parameter("approved_by", fault)) }
}

fn id(request: &HttpRequest) -> Result<TemplateId, ApiError> {
    path::number(request, "id").ok_or_else(unknown)
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such template.")
}

/// The templates of answers.
///
/// Lists the templates, each with its newest version, newest first.
#[utoipa::path(
    get, path = "/api/v1/reply-templates", tag = "conversations", operation_id = "list_reply_templates",
    params(ListParams),
    responses((status = 200, description = "A page of templates.", body = List<TemplateBody>)),
    security(("api_key" = ["read"])),
    extensions(("x-since" = json!("2026-12")))
)]
pub async fn list(caller: Caller, query: Query<ListParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let ListParams { category, language, state: in_state, limit, cursor } = query.params;
    let (page, filter) = (limit.page(cursor), TemplateFilter { category, language, state: in_state });
    let found = state.reply_templates.page(caller.account(), filter, page).await?;
    Reply::found(&List::new(page, found, TemplateBody::from, query.warnings))
}

/// One template of answers.
///
/// Shows a template with its versions, the newest first. A version never changes.
#[utoipa::path(
    get, path = "/api/v1/reply-templates/{id}", tag = "conversations", operation_id = "get_reply_template",
    params(("id" = i64, Path, description = "The template.", minimum = 1, example = 5), Paging),
    responses((status = 200, description = "The template.", body = WholeBody)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn get(
    caller: Caller,
    query: Query<Paging>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (id, page) = (id(&request)?, query.params.page());
    let found = state.reply_templates.find(caller.account(), id, page).await?;
    let (template, versions) = found.ok_or_else(unknown)?;
    Reply::found(&WholeBody::new(template, page, versions, query.warnings))
}

/// Create a template of answers.
///
/// Creates a draft. It is used once a person has approved it.
#[utoipa::path(
    post, path = "/api/v1/reply-templates", tag = "conversations", operation_id = "create_reply_template",
    responses((status = 200, description = "The draft.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::IdempotencyKeySuperseded, Code::TemplateLimitReached])), ("x-since" = json!("2026-12")))
)]
pub async fn create(
    caller: Caller,
    query: Query<NoParams>,
    body: Json<CreateRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (request, key, warnings) = body.into_parts(query.warnings);
    let CreateRequest { name, category, language, variations } = request;
    let (account, new) = (caller.account(), NewTemplate { name, category, language, variations });
    let first = FirstAnswer { answers: state.answers.clone(), account, key: key.clone() };
    let work = async move { state.reply_templates.create(account, new, None, key, (state.clock)()).await };
    written_once(first, work, |template| OneBody::new(template, warnings)).await
}

/// Change, approve or retire a template of answers.
///
/// Changes what is sent and leaves the rest.
#[utoipa::path(
    patch, path = "/api/v1/reply-templates/{id}", tag = "conversations", operation_id = "change_reply_template",
    params(("id" = i64, Path, description = "The template.", minimum = 1, example = 5)),
    responses((status = 200, description = "The template as it is now.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound, Code::InvalidTransition])), ("x-since" = json!("2026-12")))
)]
pub async fn change(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<ChangeRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (change, _, warnings) = body.into_parts(query.warnings);
    let (account, id, change) = (caller.account(), id(&request)?, change.change()?);
    let work = async move { state.reply_templates.change(account, id, change, None, (state.clock)()).await };
    Reply::done(&OneBody::new(detached(work).await?, warnings))
}

/// Delete a draft of a template.
///
/// Removes a draft that was never approved or used.
#[utoipa::path(
    delete, path = "/api/v1/reply-templates/{id}", tag = "conversations", operation_id = "delete_reply_template",
    params(("id" = i64, Path, description = "The template.", minimum = 1, example = 5)),
    responses((status = 200, description = "The draft is gone.", body = DoneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound, Code::InvalidTransition])), ("x-since" = json!("2026-12")))
)]
pub async fn delete(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (account, id) = (caller.account(), id(&request)?);
    detached(async move { state.reply_templates.delete(account, id, None, (state.clock)()).await }).await?;
    Reply::done(&DoneBody::new(query.warnings))
}

impl From<InvalidContent> for ApiError {
    fn from(invalid: InvalidContent) -> Self {
        let field = invalid.field();
        let code = if invalid.is_of_content() { Code::InvalidBody } else { Code::InvalidParameter };
        Self::new(code).message(format!("`{field}` {invalid}.")).param(field)
    }
}

impl From<CreateError> for ApiError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::LimitReached => Self::new(Code::TemplateLimitReached),
            CreateError::Invalid(invalid) => invalid.into(),
            CreateError::Idempotency(error) => error.into(),
        }
    }
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::NotFound => unknown(),
            ChangeError::Invalid(invalid) => invalid.into(),
            ChangeError::Transition => Self::new(Code::InvalidTransition).message(
                "A retired template stays as it is; one that was approved or used is not deleted, but can be retired.",
            ),
            ChangeError::Store(error) => error.into(),
        }
    }
}
