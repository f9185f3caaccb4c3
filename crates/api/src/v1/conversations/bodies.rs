//! What conversations look like on the wire.

use domain::{
    page::PageRequest,
    social::{
        Author, Category, Channel, Direction, Handling, Mode, Reason, ReplyState, Status, Tongue,
        conversations::{Conversation, LastMessage, Listing, Message, Post, Reply, Summary},
        votes::Verdict,
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    names,
    respond::{API_VERSION, JsonDecimal, Pagination, Warnings, instant},
    warnings::Warning,
};

/// What was commented on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConversationPost)]
struct PostBody {
    #[schema(example = "18000000000000001")]
    external_id: String,
    permalink: Option<String>,
    ad_id: Option<String>,
}

impl From<Post> for PostBody {
    fn from(post: Post) -> Self {
        let Post { external_id, permalink, ad_id } = post;
        Self { external_id, permalink, ad_id }
    }
}

/// The newest message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LastMessage)]
struct LastMessageBody {
    #[schema(schema_with = names::message_direction)]
    direction: Direction,
    #[schema(schema_with = names::message_author)]
    author: Author,
    /// Null once it was deleted, or after 180 days.
    #[schema(example = "¿Envían a Córdoba?")]
    body: Option<String>,
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    at: String,
}

/// What was decided about the newest comment that was decided about.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AutoReply)]
struct ReplyBody {
    #[schema(schema_with = names::reply_state)]
    state: ReplyState,
    /// Why it is held.
    #[schema(schema_with = names::hold_reason)]
    reason: Option<Reason>,
    #[schema(example = 5)]
    template_id: Option<i64>,
    #[schema(example = 2)]
    template_version: Option<i64>,
    #[schema(example = "¡Hola ana! Enviamos a todo el país.")]
    message: Option<String>,
    /// The network's number of the answer.
    reply_id: Option<String>,
    /// 0 to 1; not a probability.
    #[schema(value_type = f64, minimum = 0, maximum = 1, example = 0.97)]
    confidence: JsonDecimal,
    /// What in the text it was told by.
    #[schema(example = json!(["envian"]))]
    hits: Vec<String>,
    /// What a language model answered where the word lists were in doubt.
    #[schema(schema_with = names::vote_verdict)]
    model_vote: Option<Verdict>,
    /// The mode it was decided in; `off` where only a person answered.
    #[schema(schema_with = names::social_mode)]
    mode: Mode,
    /// Who decided last: `bot`, `person` with the name, or `key` with its number.
    #[schema(example = "bot")]
    decided_by: String,
    #[schema(format = DateTime, example = "2026-11-20T10:00:09Z")]
    decided_at: String,
    /// What a person said about it; null before.
    judged_correct: Option<bool>,
}

impl From<Reply> for ReplyBody {
    fn from(reply: Reply) -> Self {
        let Reply {
            state,
            reason,
            template,
            template_version,
            message,
            reply_id,
            confidence,
            hits,
            model_vote,
            mode,
            actor,
            decided_at,
            judged_correct,
        } = reply;
        Self {
            state,
            reason,
            template_id: template.map(|template| template.0),
            template_version,
            message,
            reply_id,
            confidence: JsonDecimal::ratio(confidence),
            hits,
            model_vote,
            mode,
            decided_by: actor,
            decided_at: instant(decided_at),
            judged_correct,
        }
    }
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConversationMessage)]
struct MessageBody {
    #[schema(example = 8812)]
    id: i64,
    #[schema(example = "17890001112223334")]
    external_id: String,
    #[schema(schema_with = names::message_direction)]
    direction: Direction,
    #[schema(schema_with = names::message_author)]
    author: Author,
    /// Null once it was deleted, or after 180 days.
    #[schema(example = "¿Envían a Córdoba?")]
    body: Option<String>,
    hidden: bool,
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    sent_at: String,
}

impl From<Message> for MessageBody {
    fn from(message: Message) -> Self {
        let Message { id, external_id, direction, author, body, is_hidden: hidden, sent_at } = message;
        Self { id: id.0, external_id, direction, author, body, hidden, sent_at: instant(sent_at) }
    }
}

/// A thread under a post.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Conversation)]
pub struct ConversationBody {
    #[schema(example = 5)]
    id: i64,
    #[schema(schema_with = names::channel)]
    channel: Channel,
    #[schema(example = "17890001112223334")]
    external_id: String,
    post: Option<PostBody>,
    #[schema(example = "ana")]
    username: Option<String>,
    customer_id: Option<i64>,
    /// Whether the linked customer's segment is `vip`.
    is_vip: bool,
    /// Whether the commenter asked to be left alone by the bot.
    opted_out: bool,
    #[schema(schema_with = names::conversation_status)]
    status: Status,
    #[schema(format = DateTime)]
    snoozed_until: Option<String>,
    #[schema(schema_with = names::handling)]
    handling: Handling,
    /// Null before the newest comment is sorted.
    #[schema(schema_with = names::comment_category_or_null)]
    category: Option<Category>,
    #[schema(schema_with = names::tongue_or_null)]
    language: Option<Tongue>,
    last_message: LastMessageBody,
    #[schema(example = 1)]
    messages_count: i64,
    /// Null when the shop spoke last.
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    waiting_since: Option<String>,
    /// Null before anything was decided.
    auto_reply: Option<ReplyBody>,
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    created_at: String,
    /// Rises with every message.
    #[schema(example = 8812)]
    position: i64,
}

impl From<Conversation> for ConversationBody {
    fn from(conversation: Conversation) -> Self {
        let Conversation {
            id,
            channel,
            external_id,
            post,
            username,
            customer,
            is_vip,
            opted_out,
            status,
            snoozed_until,
            handling,
            category,
            language,
            last_message,
            messages_count,
            waiting_since,
            reply,
            created_at,
            position,
        } = conversation;
        let LastMessage { direction, author, body, sent_at } = last_message;
        Self {
            id: id.0,
            channel,
            external_id,
            post: post.map(Into::into),
            username,
            customer_id: customer.map(|customer| customer.0),
            is_vip,
            opted_out,
            status,
            snoozed_until: snoozed_until.map(instant),
            handling,
            category,
            language,
            last_message: LastMessageBody { direction, author, body, at: instant(sent_at) },
            messages_count,
            waiting_since: waiting_since.map(instant),
            auto_reply: reply.map(Into::into),
            created_at: instant(created_at),
            position,
        }
    }
}

/// A conversation of a list, with its newest messages if they were asked for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedConversation)]
struct ListedBody {
    #[serde(flatten)]
    conversation: ConversationBody,
    /// With `include=messages`: the newest 20, the newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    messages: Option<Vec<MessageBody>>,
}

/// Over all conversations, whatever the filter.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConversationSummary)]
struct SummaryBody {
    #[schema(example = 12)]
    open: i64,
    /// Open ones in which the customer spoke last.
    #[schema(example = 4)]
    waiting: i64,
    /// Answers that wait for a person, or for their time.
    #[schema(example = 2)]
    held: i64,
}

/// A page of conversations.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Conversations)]
pub struct ListBody {
    data: Vec<ListedBody>,
    summary: SummaryBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl ListBody {
    pub fn new(page: PageRequest, listing: Listing, with_messages: bool, warnings: Warnings) -> Self {
        let Listing { page: found, messages, summary: Summary { open, waiting, held } } = listing;
        let pagination = Pagination::new(page, &found);
        let listed = found.items.into_iter().zip(messages).map(|(conversation, messages)| ListedBody {
            conversation: conversation.into(),
            messages: with_messages.then(|| messages.into_iter().map(Into::into).collect()),
        });
        Self {
            data: listed.collect(),
            summary: SummaryBody { open, waiting, held },
            pagination,
            api_version: API_VERSION,
            warnings,
        }
    }
}

/// One conversation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OneConversation)]
pub struct OneBody {
    #[serde(flatten)]
    conversation: ConversationBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl OneBody {
    pub fn new(conversation: Conversation, warnings: Warnings) -> Self {
        Self { conversation: conversation.into(), api_version: API_VERSION, warnings }
    }
}

/// A conversation with a page of its messages, the newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConversationWithMessages)]
pub struct WholeBody {
    #[serde(flatten)]
    conversation: ConversationBody,
    messages: Vec<MessageBody>,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl WholeBody {
    pub fn new(
        conversation: Conversation,
        page: PageRequest,
        found: domain::page::Page<Message>,
        warnings: Warnings,
    ) -> Self {
        Self {
            conversation: conversation.into(),
            pagination: Pagination::new(page, &found),
            messages: found.items.into_iter().map(Into::into).collect(),
            api_version: API_VERSION,
            warnings,
        }
    }
}
