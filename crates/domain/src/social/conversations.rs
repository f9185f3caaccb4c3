//! Conversations as people see them.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

use super::{Author, Category, Channel, Direction, Handling, Mode, Reason, ReplyState, Status, Tongue, votes::Verdict};
use crate::{
    AccountId, ConversationId, CustomerId, MessageId, StoreError, TemplateId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    page::{Page, PageRequest},
    text::{self, TextRefused},
};

/// How long texts of people are kept.
pub const KEEP_TEXT: Duration = Duration::days(180);
/// Messages that come with each conversation of a list.
pub const LISTED_MESSAGES: i64 = 20;
/// Characters of an answer in a person's own words.
pub const MAX_MESSAGE_CHARS: usize = 2_200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    pub external_id: String,
    pub permalink: Option<String>,
    pub ad_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub external_id: String,
    pub direction: Direction,
    pub author: Author,
    /// `None` once it was deleted, or after [`KEEP_TEXT`].
    pub body: Option<String>,
    pub is_hidden: bool,
    pub sent_at: OffsetDateTime,
}

/// The newest message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastMessage {
    pub direction: Direction,
    pub author: Author,
    pub body: Option<String>,
    pub sent_at: OffsetDateTime,
}

/// What was decided about the newest comment that was decided about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub state: ReplyState,
    pub reason: Option<Reason>,
    pub template: Option<TemplateId>,
    pub template_version: Option<i64>,
    pub message: Option<String>,
    pub reply_id: Option<String>,
    pub confidence: Decimal,
    /// What in the text it was told by.
    pub hits: Vec<String>,
    /// What a language model answered about the same text.
    pub model_vote: Option<Verdict>,
    /// The mode it was decided in.
    pub mode: Mode,
    /// Who decided last: `bot`, `person` with the name, or `key` with its number.
    pub actor: String,
    pub decided_at: OffsetDateTime,
    /// What a person said about it.
    pub judged_correct: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub id: ConversationId,
    pub channel: Channel,
    pub external_id: String,
    pub post: Option<Post>,
    pub username: Option<String>,
    pub customer: Option<CustomerId>,
    /// The linked customer is one of the best.
    pub is_vip: bool,
    /// The commenter asked to be left alone by the bot.
    pub opted_out: bool,
    pub status: Status,
    pub snoozed_until: Option<OffsetDateTime>,
    pub handling: Handling,
    pub category: Option<Category>,
    pub language: Option<Tongue>,
    pub last_message: LastMessage,
    pub messages_count: i64,
    pub waiting_since: Option<OffsetDateTime>,
    pub reply: Option<Reply>,
    pub created_at: OffsetDateTime,
    /// Rises with every message, over all conversations of the account.
    pub position: i64,
}

/// Which conversations to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationFilter {
    pub channel: Option<Channel>,
    pub status: Option<Status>,
    pub handling: Option<Handling>,
    pub category: Option<Category>,
    pub vip: Option<bool>,
    pub waiting: Option<bool>,
    /// Of the newest decision.
    pub reply_state: Option<ReplyState>,
    pub updated_since: Option<OffsetDateTime>,
}

/// Over all conversations, whatever the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    pub open: i64,
    /// Customers of open conversations who spoke last.
    pub waiting: i64,
    /// Answers that wait for a person, or for their time.
    pub held: i64,
}

/// A page of conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub page: Page<Conversation>,
    /// The newest messages of each, the newest first, if they were asked for.
    pub messages: Vec<Vec<Message>>,
    pub summary: Summary,
}

/// What to change; what is left out stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationChange {
    pub status: Option<Status>,
    pub handling: Option<Handling>,
    pub snoozed_until: Option<OffsetDateTime>,
    /// Links the commenter to a customer, or to none any more; also in conversations to come.
    pub customer: Option<Option<CustomerId>>,
}

/// Why a conversation was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("the account has no such conversation")]
    NotFound,
    #[error("the account has no such customer")]
    UnknownCustomer,
    /// The field and what is wrong with it; completes "`field` …".
    #[error("{1}")]
    Invalid(&'static str, &'static str),
    #[error("a snooze has an end")]
    NoEnd,
    #[error("the conversation is not in a state that allows this")]
    Transition,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ConversationChange {
    /// Status and end of the snooze after the change.
    ///
    /// # Errors
    /// [`ChangeError::Transition`] from closed to snoozed; [`ChangeError::NoEnd`] for a snooze without its end;
    /// [`ChangeError::Invalid`] for an end without a snooze or in the past.
    pub fn status_after(
        &self,
        from: (Status, Option<OffsetDateTime>),
        now: OffsetDateTime,
    ) -> Result<(Status, Option<OffsetDateTime>), ChangeError> {
        let status = self.status.unwrap_or(from.0);
        if status != Status::Snoozed {
            return match self.snoozed_until {
                Some(_) => Err(ChangeError::Invalid("snoozed_until", "goes with the status `snoozed` only")),
                None => Ok((status, None)),
            };
        }
        if from.0 == Status::Closed {
            return Err(ChangeError::Transition);
        }
        match self.snoozed_until.or(from.1) {
            None => Err(ChangeError::NoEnd),
            Some(until) if until <= now => Err(ChangeError::Invalid("snoozed_until", "must lie in the future")),
            Some(until) => Ok((status, Some(until))),
        }
    }
}

/// What a person does about an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Sends what the bot chose, or another template in its place.
    Approve(Option<TemplateId>),
    /// Leaves to a person what the bot would send at its time.
    Hold,
    /// Leaves the comment without an answer of the bot.
    Skip,
    /// Answers in own words: see [`message`].
    Send(String),
}

/// Why words cannot be sent. The messages complete "`message` …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageRefused {
    #[error("must not be empty")]
    Empty,
    #[error("is refused: {0}")]
    Text(TextRefused),
    #[error("must not hold control characters but line feeds")]
    Control,
}

/// A person's words, if they can be sent.
///
/// # Errors
/// [`MessageRefused`].
pub fn message(text: &str) -> Result<String, MessageRefused> {
    let text = text.trim();
    if text.is_empty() {
        return Err(MessageRefused::Empty);
    }
    text::check(text, MAX_MESSAGE_CHARS).map_err(MessageRefused::Text)?;
    if text.chars().any(|c| c.is_control() && c != '\n') {
        return Err(MessageRefused::Control);
    }
    Ok(text.to_owned())
}

/// Why a person's act was refused.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    #[error("the account has no such conversation")]
    NotFound,
    #[error("there is no answer in a state that allows this")]
    Transition,
    /// The template is not the account's, or no version of it is in use.
    #[error("is no template in use")]
    UnknownTemplate,
    /// The template leads to the link of the settings, and there is none.
    #[error("needs a link, and the settings have none")]
    NoLink,
    /// The template says the commenter's name, and there is none that can be said.
    #[error("says the commenter's name, which is withheld or cannot be said")]
    NoName,
    /// The template says what may not be said on the channel.
    #[error(
        "has no variation for this channel, which takes no link, address, telephone number or handle and tells no names"
    )]
    UnusableTemplate,
    /// The network takes no answer of this length.
    #[error("may hold at most {0} characters on this channel")]
    TooLong(usize),
    /// The network forbids to lead people elsewhere.
    #[error("must not hold a link, host name, mail address, telephone number or handle on this channel")]
    Contact,
    /// A decision is judged right that took the comment for something else.
    #[error("is not what the bot took the comment for, so that its decision was not right")]
    OtherCategory,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
}

impl From<StoreError> for ActError {
    fn from(error: StoreError) -> Self {
        Self::Idempotency(error.into())
    }
}

/// Who acts, as the decision's row and the audit log have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    pub actor: String,
    pub note: Option<Entry>,
    /// When the decision was made that is acted on; where a newer one has taken its place, nothing is done. `None` for the
    /// newest, whichever it is.
    pub decided_at: Option<OffsetDateTime>,
}

impl By {
    /// A person's act on the decision that they saw: the prefix keeps what people call themselves apart from `bot` and from
    /// keys.
    pub fn person(name: &str, note: Option<Entry>, decided_at: Option<OffsetDateTime>) -> Self {
        Self { actor: format!("person {name}"), note, decided_at }
    }
}

impl From<String> for By {
    fn from(actor: String) -> Self {
        Self { actor, note: None, decided_at: None }
    }
}

/// What a person says about a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    pub correct: bool,
    /// What the comment is really about.
    pub category: Option<Category>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ConversationStore: Send + Sync {
    /// Newest first (position descending).
    async fn page(
        &self,
        account: AccountId,
        filter: ConversationFilter,
        with_messages: bool,
        page: PageRequest,
    ) -> Result<Listing, StoreError>;
    /// A conversation with a page of its messages, the newest first.
    async fn find(
        &self,
        account: AccountId,
        id: ConversationId,
        page: PageRequest,
    ) -> Result<Option<(Conversation, Page<Message>)>, StoreError>;
    /// `note` goes into the audit log with the change, here and below.
    async fn change(
        &self,
        account: AccountId,
        id: ConversationId,
        change: ConversationChange,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Conversation, ChangeError>;
    /// Carries a person's act out: what is to be sent is reserved, and sent by the worker.
    async fn act(
        &self,
        account: AccountId,
        id: ConversationId,
        act: Act,
        by: By,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Conversation>, ActError>;
    /// Notes a person's judgement of the newest decision; mode `auto` falls back to `approve` where it is no longer
    /// earned. Refuses with [`ActError::NotFound`], [`ActError::Transition`], where the bot has decided nothing, and
    /// [`ActError::OtherCategory`].
    async fn judge(
        &self,
        account: AccountId,
        id: ConversationId,
        judgement: Judgement,
        note: Option<Entry>,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Conversation>, ActError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 10:00 UTC);
    const LATER: OffsetDateTime = datetime!(2026-11-20 11:00 UTC);

    #[test]
    fn a_person_is_taken_for_neither_the_bot_nor_a_key() {
        let actors = ["bot", "key 5"].map(|name| By::person(name, None, None).actor);
        assert_eq!(actors, ["person bot", "person key 5"]);
    }

    #[rstest]
    #[case(Status::Open, Some(Status::Snoozed), Some(LATER), Ok((Status::Snoozed, Some(LATER))))]
    #[case(Status::Open, Some(Status::Snoozed), None, Err("no end"))]
    #[case(Status::Open, Some(Status::Snoozed), Some(NOW), Err("snoozed_until"))]
    #[case(Status::Open, None, Some(LATER), Err("snoozed_until"))]
    #[case(Status::Closed, Some(Status::Snoozed), Some(LATER), Err("transition"))]
    #[case(Status::Closed, Some(Status::Open), None, Ok((Status::Open, None)))]
    #[case(Status::Open, Some(Status::Closed), None, Ok((Status::Closed, None)))]
    #[case(Status::Open, None, None, Ok((Status::Open, None)))]
    fn a_snooze_has_an_end_and_no_closed_thread(
        #[case] from: Status,
        #[case] status: Option<Status>,
        #[case] snoozed_until: Option<OffsetDateTime>,
        #[case] expected: Result<(Status, Option<OffsetDateTime>), &str>,
    ) {
        let change = ConversationChange { status, snoozed_until, ..ConversationChange::default() };
        let found = change.status_after((from, None), NOW).map_err(|error| match error {
            ChangeError::Invalid(field, _) => field,
            ChangeError::NoEnd => "no end",
            _ => "transition",
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn words_are_counted_in_characters() {
        assert_eq!(message(&"ñ".repeat(2_200)).map(|text| text.chars().count()), Ok(2_200));
        assert!(matches!(message(&"ñ".repeat(2_201)), Err(MessageRefused::Text(_))));
        assert_eq!((message(" \n "), message("a\u{8}b")), (Err(MessageRefused::Empty), Err(MessageRefused::Control)));
        assert_eq!(message(" hola\nana "), Ok("hola\nana".to_owned()));
    }
}
