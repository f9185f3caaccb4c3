//! What the worker asks of the store: to take comments in, to decide about them, and to send an answer once.
//!
//! An answer is reserved, then `sending` is committed, then it is sent, then settled together with its event. Whatever ends
//! in between leaves `unknown`: the worker lists the answers at the network before it sends anything again.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use super::{
    Author, Channel, Classified, Decision, Reason, Sent, Thread,
    channels::{self, Change},
    settings::Settings,
    templates::Approved,
    votes::{Counted, Earlier},
};
use crate::{
    AccountId, ConversationId, IntegrationId, MessageId, SocialAccountId, SocialHookId, StoreError, sealing::Binding,
};

/// How long a call that sends an answer may take. A worker that is still at it after [`LEASE`] is taken for dead.
pub const LEASE: Duration = Duration::minutes(2);
/// Between two looks for an answer that may have been written: what networks list lags behind.
pub const LOOK_INTERVAL: Duration = Duration::seconds(60);
/// After this number of look-ups in vain it was not written.
pub const LOOKS: i64 = 2;
/// How long it is looked for where the network says that there is an answer and does not show it yet.
pub const LOOK_AT_MOST: Duration = Duration::hours(6);
/// An answer that was found counts as ours if it is not older than this before the reservation.
pub const CLOCK_TOLERANCE: Duration = Duration::minutes(5);
/// How often an answer is sent at most.
pub const MAX_SENDS: i64 = 2;
/// How long after it was reserved an answer of the bot's is sent as it was decided: what has waited longer, for a pause or a restart,
/// is decided about again.
pub const STANDS_FOR: Duration = Duration::hours(1);
/// How long hooks are kept.
pub const KEEP_HOOKS: Duration = Duration::days(7);

/// A hook that one worker reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenHook {
    pub id: SocialHookId,
    pub body: Vec<u8>,
    pub received_at: OffsetDateTime,
}

/// A connected profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocialAccount {
    pub account: AccountId,
    pub id: SocialAccountId,
    pub channel: Channel,
    pub external_id: String,
    pub app_scoped_id: Option<String>,
    pub handle: Option<String>,
    /// The connected shop that it comes with, whose tokens it uses.
    pub integration: Option<IntegrationId>,
    /// `None`: there is none yet, it was refused, or it is the shop's.
    pub sealed_token: Option<Vec<u8>>,
    pub last_poll_at: Option<OffsetDateTime>,
    pub blocked_until: Option<OffsetDateTime>,
    /// The page that it belongs to, where hooks are subscribed to by it.
    pub page_id: Option<String>,
    /// When that is to be done again; `None`: never.
    pub subscribe_due_at: Option<OffsetDateTime>,
}

impl SocialAccount {
    /// As [`Profile::is_own`](super::channels::Profile::is_own).
    pub fn is_own(&self, author_id: Option<&str>, username: Option<&str>) -> bool {
        let numbers = (self.external_id.as_str(), self.app_scoped_id.as_deref());
        channels::is_own(self.channel, numbers, self.handle.as_deref(), author_id, username)
    }

    /// Until when the network wants no calls, if it is not over at `now`.
    pub fn waits_until(&self, now: OffsetDateTime) -> Option<OffsetDateTime> {
        self.blocked_until.filter(|until| *until > now)
    }

    /// The page whose hooks are to be subscribed to at `now`.
    pub fn page_to_subscribe(&self, now: OffsetDateTime) -> Option<&str> {
        self.page_id.as_deref().filter(|_| self.subscribe_due_at.is_some_and(|due| due <= now))
    }
}

/// Which comment is to be decided about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    pub account: AccountId,
    pub message: MessageId,
}

/// A comment that is to be decided about, and what is known around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    pub account: AccountId,
    pub message: MessageId,
    pub channel: Channel,
    pub comment_id: String,
    pub text: Option<String>,
    pub is_hidden: bool,
    pub commented_at: OffsetDateTime,
    pub username: Option<String>,
    pub author_id: Option<String>,
    pub post_id: Option<String>,
    pub thread: Thread,
    pub sent: Sent,
    pub same_text_from: i64,
    pub settings: Settings,
    pub templates: Vec<Approved>,
    pub is_blocked: bool,
    pub is_token_dead: bool,
    /// The vote that the comment had before.
    pub vote: Option<Earlier>,
}

/// An answer that one worker sends or looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenReply {
    pub account: AccountId,
    pub channel: Channel,
    pub comment_id: String,
    pub conversation: ConversationId,
    pub profile: SocialAccountId,
    pub message: String,
    pub author: Author,
    /// The bot decided to send it, and no person.
    pub is_bots: bool,
    pub comment_hash: Vec<u8>,
    pub reserved_at: OffsetDateTime,
    /// Guards every write of what came of it.
    pub claim: i64,
    /// How often it may have been sent.
    pub attempts: i64,
    /// How often it was looked for in vain since.
    pub looks: i64,
    /// It may have been written: it is looked for, not sent.
    pub is_unknown: bool,
    /// Whether it may be sent once more if it is not found; else a person decides, for the reason.
    pub may_retry: bool,
    pub reason: Option<Reason>,
}

/// Whether an answer may be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    Granted,
    /// It is another worker's, or a person's, by now.
    Superseded,
    /// The bot was stopped since it decided, a person took the thread over, closed or snoozed it, or the commenter asked to be left
    /// alone.
    Stopped(Reason),
}

/// What came of a send or a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// The network has it, under this identifier; `recovered`: found by looking for it.
    Sent { reply_id: String, recovered: bool },
    /// It may have been written: to be looked for. `may_retry`: if it is not found, it is sent once more; else a person
    /// decides, for the reason.
    Unknown { may_retry: bool, reason: Option<Reason> },
    /// It was looked for in vain, and is looked for again.
    NotFound,
    /// Nothing was done; it stands as it stood, until the instant.
    Later { due_at: OffsetDateTime },
    /// Nothing was done; the bot decides about the comment again.
    DecideAgain,
    /// A person decides.
    Held(Reason),
    /// The network did something else than asked.
    Failed,
}

/// Hooks as they came.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait HookLog: Send + Sync {
    /// Stores a hook as it came.
    async fn receive(&self, body: &[u8], now: OffsetDateTime) -> Result<(), StoreError>;
    /// Takes the oldest hook that nobody reads, for [`LEASE`].
    async fn take_hook(&self, now: OffsetDateTime) -> Result<Option<TakenHook>, StoreError>;
    async fn hook_done(&self, id: SocialHookId, now: OffsetDateTime) -> Result<(), StoreError>;
}

/// Connected profiles.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ProfileStore: Send + Sync {
    /// Notes a profile. Nothing is done for it before it has a token.
    async fn connect(&self, new: NewSocialAccount, now: OffsetDateTime) -> Result<Connected, StoreError>;
    /// Gives a profile its token, sealed to [`token_binding`]; it is polled from now on.
    async fn give_token(
        &self,
        account: AccountId,
        id: SocialAccountId,
        sealed: Vec<u8>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Whose a profile is. `None`: nobody is connected to it.
    async fn owner(&self, channel: Channel, external_id: &str) -> Result<Option<SocialAccount>, StoreError>;
    async fn profile(&self, account: AccountId, id: SocialAccountId) -> Result<Option<SocialAccount>, StoreError>;
    /// Takes the profile whose time to be polled has come first, of no account that is `busy`; it is due again after `interval`.
    async fn take_poll(
        &self,
        now: OffsetDateTime,
        interval: Duration,
        busy: Vec<AccountId>,
    ) -> Result<Option<SocialAccount>, StoreError>;
    /// What came of subscribing to its hooks, and when that is to be done again.
    async fn subscribed(
        &self,
        profile: &SocialAccount,
        is_done: bool,
        again_at: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Its comments were read up to `now`.
    async fn polled(&self, profile: &SocialAccount, now: OffsetDateTime) -> Result<(), StoreError>;
    /// The network no longer accepts the token; nothing changes where it has another one by now.
    async fn token_dead(&self, profile: &SocialAccount, now: OffsetDateTime) -> Result<(), StoreError>;
    /// The network refuses answers as abusive: mode `auto` falls back to `approve`.
    async fn blocked(&self, profile: &SocialAccount, now: OffsetDateTime) -> Result<(), StoreError>;
    /// The network asks for a pause.
    async fn pause(&self, profile: &SocialAccount, until: OffsetDateTime) -> Result<(), StoreError>;
}

/// What hooks of a connected shop say of its profile.
#[async_trait]
pub trait PollHints: Send + Sync {
    /// Something was asked or answered there: the profile that comes with the shop is due to be polled.
    async fn poll_soon(&self, account: AccountId, shop: IntegrationId, now: OffsetDateTime) -> Result<(), StoreError>;
}

/// Comments on their way to a decision.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Intake: Send + Sync {
    /// Takes changes in, some at a time: where it fails, all of them can be taken in again. Comments that are known already change
    /// nothing; own ones are answers. How many were news.
    async fn take_in(
        &self,
        profile: &SocialAccount,
        changes: Vec<Change>,
        now: OffsetDateTime,
    ) -> Result<u64, StoreError>;
    /// The comment that has waited longest for a decision of those after one of them, but for those that wait for a vote.
    async fn next_undecided(&self, after: MessageId) -> Result<Option<Waiting>, StoreError>;
    /// A comment with what is known around it; `None` once it was decided about.
    async fn undecided(&self, comment: Waiting, now: OffsetDateTime) -> Result<Option<Undecided>, StoreError>;
    /// Writes what was decided, unless the comment was decided about or changed meanwhile, and ends the vote that it goes by,
    /// in one transaction. A vote that was ended elsewhere decides nothing: the comment waits for its turn. With
    /// [`Decision::Ask`] it waits for its vote.
    async fn decided(
        &self,
        of: &Undecided,
        classified: &Classified,
        decision: Decision,
        vote: Option<Counted>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Opens conversations whose snooze is over, and has the bot decide again where it waited for its time.
    async fn wake(&self, now: OffsetDateTime) -> Result<(), StoreError>;
}

/// Answers on their way to the network.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReplyQueue: Send + Sync {
    /// Takes the answer that is due first, but of no account that is `busy`, and holds it for [`LEASE`]. One whose worker died while
    /// sending is unknown.
    async fn take_reply(&self, now: OffsetDateTime, busy: Vec<AccountId>) -> Result<Option<TakenReply>, StoreError>;
    /// Commits that the answer is about to be sent, if it may be.
    async fn sending(&self, reply: &TakenReply, now: OffsetDateTime) -> Result<Permit, StoreError>;
    /// Writes what came of it, with the event if it was sent, in one transaction guarded by the claim. False when it is
    /// another's by now.
    async fn settle(&self, reply: &TakenReply, settlement: Settlement, now: OffsetDateTime)
    -> Result<bool, StoreError>;
}

/// A profile that is to be connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSocialAccount {
    pub account: AccountId,
    pub channel: Channel,
    pub external_id: String,
    pub app_scoped_id: Option<String>,
    pub handle: Option<String>,
}

/// What came of connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connected {
    Done(SocialAccountId),
    /// The profile belongs to another account.
    Elsewhere,
}

/// What a profile's sealed token is bound to.
#[must_use]
pub const fn token_binding(account: AccountId, id: SocialAccountId) -> Binding {
    Binding { purpose: "social_token", account, row: id.0 }
}
