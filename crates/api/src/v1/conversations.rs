//! `/api/v1/conversations`: threads under the shop's posts and listings, and what the bot and people answer there.

mod bodies;

use actix_web::{HttpRequest, web};
use domain::{
    ConversationId, CustomerId, TemplateId,
    social::{
        Category, Channel, Handling, ReplyState, Status,
        conversations::{
            Act, ActError, ChangeError, ConversationChange, ConversationFilter, Judgement, MessageRefused, message,
        },
    },
};
use serde::{Deserialize, Deserializer};
use utoipa::{IntoParams, ToSchema, openapi::schema::Object};
use validator::Validate;

use self::bodies::{ListBody, OneBody, WholeBody};
use crate::{
    auth::Caller,
    body::Json,
    error::{ApiError, Code},
    input::{Input, Timestamp},
    names, path,
    query::{Limit, NoParams, Query},
    respond::Reply,
    state::State,
    write::{FirstAnswer, detached, written_once},
};

/// What else a list may come with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Include {
    Messages,
}

fn include() -> Object {
    names::one_of(&["messages"])
}

/// Which conversations to list.
#[derive(Deserialize, Validate, IntoParams)]
pub struct ListParams {
    #[param(value_type = names::ChannelName, inline, required = false)]
    channel: Option<Channel>,
    #[param(value_type = names::ConversationStatusName, inline, required = false)]
    status: Option<Status>,
    #[param(value_type = names::HandlingName, inline, required = false)]
    handling: Option<Handling>,
    #[param(value_type = names::CommentCategoryName, inline, required = false)]
    category: Option<Category>,
    /// Whether the linked customer's segment is `vip`.
    #[param(value_type = names::Flag, inline, required = false)]
    vip: Option<bool>,
    /// Whether the customer spoke last.
    #[param(value_type = names::Flag, inline, required = false)]
    waiting: Option<bool>,
    /// Where the newest decision stands: `held` is what waits for a person, or for its time.
    #[param(value_type = names::ReplyStateName, inline, required = false)]
    reply_state: Option<ReplyState>,
    /// Changed at this instant or later. A conversation that gets a message during a walk moves up: poll by this to miss none.
    #[param(inline, required = false)]
    updated_since: Option<Timestamp>,
    /// `messages`: with the newest 20 messages of each.
    #[param(schema_with = include, inline, required = false)]
    include: Option<Include>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<25, 100>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
}

impl Input for ListParams {}

/// Which messages to show.
#[derive(Deserialize, Validate, IntoParams)]
pub struct MessageParams {
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<50, 200>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
}

impl Input for MessageParams {}

/// What to change about a conversation. Fields that are left out stay as they are.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = ConversationChange)]
pub struct ChangeRequest {
    #[schema(schema_with = names::changed_conversation_status)]
    status: Option<Status>,
    /// In a thread of `human` the bot is silent.
    #[schema(schema_with = names::changed_handling)]
    handling: Option<Handling>,
    /// Goes with the status `snoozed`; in the future.
    #[schema(value_type = Option<Timestamp>)]
    snoozed_until: Option<Timestamp>,
    /// Links the commenter to a customer of the account, or by null to none: in this conversation and in those to come.
    #[schema(value_type = Option<i64>, minimum = 1)]
    #[serde(default, deserialize_with = "sent")]
    customer_id: Option<Option<i64>>,
}

impl Input for ChangeRequest {}

/// Keeps null apart from what is left out.
fn sent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<i64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// What a person does about the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Approve,
    Skip,
    Hold,
    Send,
}

fn action() -> Object {
    names::one_of(&["approve", "skip", "hold", "send"])
}

/// An answer by a person.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = ConversationReply)]
pub struct ReplyRequest {
    /// `approve` sends what the bot chose and `skip` leaves it out, both while the answer is held; `hold` keeps what waits for
    /// its time for a person; `send` answers in own words.
    #[schema(schema_with = action)]
    action: Action,
    /// With `approve`: sends this template, of which a version is in use, in the place of the one that the bot chose.
    #[schema(minimum = 1, example = 5)]
    template_id: Option<i64>,
    /// With `send`: 1 to 2,200 characters; on Mercado Libre 2,000, without a link, host name, mail address, telephone number or
    /// handle.
    #[schema(
        min_length = 1,
        max_length = 2200,
        pattern = "^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f]*$"
    )]
    message: Option<String>,
}

impl Input for ReplyRequest {}

impl ReplyRequest {
    fn act(self) -> Result<Act, ApiError> {
        let template = self.template_id.map(TemplateId);
        if template.is_some() && self.action != Action::Approve {
            return Err(ApiError::parameter("template_id", "goes with the action `approve` only"));
        }
        match (self.action, self.message) {
            (Action::Send, Some(words)) => Ok(Act::Send(message(&words)?)),
            (Action::Send, None) => Err(ApiError::new(Code::MissingParameter)
                .message("`message` is required with the action `send`.")
                .param("message")),
            (_, Some(_)) => Err(ApiError::parameter("message", "goes with the action `send` only")),
            (Action::Approve, None) => Ok(Act::Approve(template)),
            (Action::Skip, None) => Ok(Act::Skip),
            (Action::Hold, None) => Ok(Act::Hold),
        }
    }
}

/// What a person says about the bot's decision.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = ConversationJudgement)]
pub struct JudgementRequest {
    correct: bool,
    /// What the comment is really about; with `correct: true` only what the bot took it for.
    #[schema(schema_with = names::comment_category_or_null)]
    category: Option<Category>,
}

impl Input for JudgementRequest {}

fn id(request: &HttpRequest) -> Result<ConversationId, ApiError> {
    path::number(request, "id").ok_or_else(unknown)
}

fn unknown() -> ApiError {
    ApiError::new(Code::NotFound).message("There is no such conversation.")
}

/// The conversations under the shop's posts.
///
/// Lists conversations, those with the newest message first.
#[utoipa::path(
    get, path = "/api/v1/conversations", tag = "conversations", operation_id = "list_conversations",
    params(ListParams),
    responses((status = 200, description = "A page of conversations.", body = ListBody)),
    security(("api_key" = ["read"])),
    extensions(("x-since" = json!("2026-12")))
)]
pub async fn list(caller: Caller, query: Query<ListParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let ListParams { channel, status, handling, category, vip, waiting, reply_state, .. } = query.params;
    let ListParams { updated_since, include, limit, cursor, .. } = query.params;
    let (page, with_messages) = (limit.page(cursor), include.is_some());
    let updated_since = updated_since.map(|instant| instant.0);
    let filter = ConversationFilter { channel, status, handling, category, vip, waiting, reply_state, updated_since };
    let listing = state.conversations.page(caller.account(), filter, with_messages, page).await?;
    Reply::found(&ListBody::new(page, listing, with_messages, query.warnings))
}

/// One conversation.
///
/// Shows a conversation with its messages, the newest first.
#[utoipa::path(
    get, path = "/api/v1/conversations/{id}", tag = "conversations", operation_id = "get_conversation",
    params(("id" = i64, Path, description = "The conversation.", minimum = 1, example = 5), MessageParams),
    responses((status = 200, description = "The conversation.", body = WholeBody)),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])), ("x-since" = json!("2026-12")))
)]
pub async fn get(
    caller: Caller,
    query: Query<MessageParams>,
    request: HttpRequest,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (id, page) = (id(&request)?, query.params.limit.page(query.params.cursor));
    let found = state.conversations.find(caller.account(), id, page).await?;
    let (conversation, messages) = found.ok_or_else(unknown)?;
    Reply::found(&WholeBody::new(conversation, page, messages, query.warnings))
}

/// Change a conversation.
///
/// Closes, snoozes or opens a conversation, hands it to a person or to the bot, or links its customer.
#[utoipa::path(
    patch, path = "/api/v1/conversations/{id}", tag = "conversations", operation_id = "change_conversation",
    params(("id" = i64, Path, description = "The conversation.", minimum = 1, example = 5)),
    responses((status = 200, description = "The conversation as it is now.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::MissingParameter, Code::NotFound, Code::InvalidTransition])), ("x-since" = json!("2026-12")))
)]
pub async fn change(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<ChangeRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (change, _, warnings) = body.into_parts(query.warnings);
    let ChangeRequest { status, handling, snoozed_until, customer_id } = change;
    let customer = customer_id.map(|linked| linked.map(CustomerId));
    let snoozed_until = snoozed_until.map(|instant| instant.0);
    let change = ConversationChange { status, handling, snoozed_until, customer };
    let (account, id) = (caller.account(), id(&request)?);
    let work = async move { state.conversations.change(account, id, change, None, (state.clock)()).await };
    Reply::done(&OneBody::new(detached(work).await?, warnings))
}

/// Answer a conversation.
///
/// Approves, skips or holds what the bot chose, or answers in own words. What is to be sent is sent within moments.
#[utoipa::path(
    post, path = "/api/v1/conversations/{id}/reply", tag = "conversations", operation_id = "reply_to_conversation",
    params(("id" = i64, Path, description = "The conversation.", minimum = 1, example = 5)),
    responses((status = 200, description = "The conversation as it is now.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound, Code::InvalidTransition])), ("x-since" = json!("2026-12")))
)]
pub async fn reply(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<ReplyRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (reply, key, warnings) = body.into_parts(query.warnings);
    let (account, id, act) = (caller.account(), id(&request)?, reply.act()?);
    let actor = format!("key {}", caller.key()?.id);
    let first = FirstAnswer { answers: state.answers.clone(), account, key: key.clone() };
    let work = async move { state.conversations.act(account, id, act, actor.into(), key, (state.clock)()).await };
    written_once(first, work, |conversation| OneBody::new(conversation, warnings)).await
}

/// Judge what the bot decided.
///
/// Says whether the newest decision was right. Mode `auto` is earned, and lost, by these judgements.
#[utoipa::path(
    post, path = "/api/v1/conversations/{id}/judgement", tag = "conversations", operation_id = "judge_conversation",
    params(("id" = i64, Path, description = "The conversation.", minimum = 1, example = 5)),
    responses((status = 200, description = "The conversation as it is now.", body = OneBody)),
    security(("api_key" = ["write"])),
    extensions(("x-errors" = json!([Code::NotFound, Code::InvalidTransition])), ("x-since" = json!("2026-12")))
)]
pub async fn judge(
    caller: Caller,
    query: Query<NoParams>,
    request: HttpRequest,
    body: Json<JudgementRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (judgement, key, warnings) = body.into_parts(query.warnings);
    let JudgementRequest { correct, category } = judgement;
    let (account, id, judgement) = (caller.account(), id(&request)?, Judgement { correct, category });
    let first = FirstAnswer { answers: state.answers.clone(), account, key: key.clone() };
    let work = async move { state.conversations.judge(account, id, judgement, None, key, (state.clock)()).await };
    written_once(first, work, |conversation| OneBody::new(conversation, warnings)).await
}

impl From<MessageRefused> for ApiError {
    fn from(refused: MessageRefused) -> Self {
        Self::parameter("message", &refused.to_string())
    }
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::NotFound => unknown(),
            ChangeError::UnknownCustomer => Self::parameter("customer_id", "is no customer of the account"),
            ChangeError::Invalid(field, fault) => Self::parameter(field, fault),
            ChangeError::NoEnd => Self::new(Code::MissingParameter)
                .message("`snoozed_until` is required with the status `snoozed`.")
                .param("snoozed_until"),
            ChangeError::Transition => Self::new(Code::InvalidTransition)
                .message("The conversation is closed; open it before it is snoozed.")
                .param("status"),
            ChangeError::Store(error) => error.into(),
        }
    }
}

impl From<ActError> for ApiError {
    fn from(error: ActError) -> Self {
        match error {
            ActError::NotFound => unknown(),
            ActError::Transition => Self::new(Code::InvalidTransition)
                .message("There is no answer that this can be done with: none was decided, or it is no longer held."),
            error @ (ActError::UnknownTemplate | ActError::UnusableTemplate | ActError::NoLink | ActError::NoName) => {
                Self::parameter("template_id", &error.to_string())
            }
            error @ (ActError::TooLong(_) | ActError::Contact) => Self::parameter("message", &error.to_string()),
            error @ ActError::OtherCategory => Self::parameter("category", &error.to_string()),
            ActError::Idempotency(error) => error.into(),
        }
    }
}
