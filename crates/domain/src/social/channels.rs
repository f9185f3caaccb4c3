//! What networks do for conversations: one port for all of them.

use async_trait::async_trait;
use time::OffsetDateTime;

use super::Channel;
use crate::shops::Secret;

/// A profile, and the right to act for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub channel: Channel,
    pub external_id: String,
    /// The network's other number of the same profile.
    pub app_scoped_id: Option<String>,
    pub handle: Option<String>,
    pub token: Secret,
}

impl Profile {
    /// Whether a comment is the profile's own: by its numbers, and by its handle where the network tells no number or no two
    /// profiles have the same handle, as a network may know a profile by numbers that it never told.
    pub fn is_own(&self, author_id: Option<&str>, username: Option<&str>) -> bool {
        let numbers = (self.external_id.as_str(), self.app_scoped_id.as_deref());
        is_own(self.channel, numbers, self.handle.as_deref(), author_id, username)
    }
}

/// [`Profile::is_own`] of a profile with such numbers and such a handle.
pub(super) fn is_own(
    channel: Channel,
    (external_id, app_scoped_id): (&str, Option<&str>),
    handle: Option<&str>,
    author_id: Option<&str>,
    username: Option<&str>,
) -> bool {
    let is_number = author_id.is_some_and(|id| id == external_id || app_scoped_id == Some(id));
    let is_handle = handle.zip(username).is_some_and(|(handle, username)| handle.eq_ignore_ascii_case(username));
    is_number || is_handle && (author_id.is_none() || channel.has_unique_handles())
}

/// A comment as a network tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    pub external_id: String,
    pub post_id: Option<String>,
    pub ad_id: Option<String>,
    /// The comment that it answers; `None`: it begins a thread.
    pub parent_id: Option<String>,
    pub author_id: Option<String>,
    pub username: Option<String>,
    pub text: String,
    pub is_hidden: bool,
    /// `None`: the network does not say, and it is taken for when it arrived.
    pub posted_at: Option<OffsetDateTime>,
}

/// What happened to a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is there, as far as is known since now. Hearing so again changes nothing.
    Posted(Comment),
    /// Its text is another one since `at`; `None`: the network does not say, and it is taken for when it arrived.
    Edited {
        comment: Comment,
        at: Option<OffsetDateTime>,
    },
    /// Deleted, by its identifier.
    Removed(String),
    Hidden(String),
    /// Hidden no longer.
    Unhidden(String),
}

/// Changes under one profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub channel: Channel,
    /// The profile's number.
    pub profile: String,
    pub changes: Vec<Change>,
}

/// What a hook tells of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedHook {
    pub batches: Vec<Batch>,
    /// How many of its parts cannot be read.
    pub unread: u64,
}

/// Why a hook is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HookRefused {
    #[error("the signature is missing or malformed")]
    Unsigned,
    #[error("the signature is another one")]
    Forged,
}

/// The app of a network as it receives hooks.
pub trait SocialInbox: Send + Sync {
    /// What a subscription is confirmed with, if the token is the app's. Compared in constant time.
    fn confirms(&self, verify_token: &str) -> bool;
    /// Checks the signature over the bytes as they came.
    ///
    /// # Errors
    /// [`HookRefused`].
    fn verify(&self, body: &[u8], signature: Option<&str>) -> Result<(), HookRefused>;
    /// The changes that a hook tells of; those of other things than comments are left out.
    fn parse(&self, body: &[u8]) -> ParsedHook;
}

/// Why a call to a network failed. Texts hold no token, address or text of a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The token is not accepted any more: the owner has to connect again.
    #[error("the network no longer accepts the token")]
    TokenDead,
    /// The network takes the answers for abuse.
    #[error("the network refuses answers as abusive")]
    Blocked,
    /// Not before the instant.
    #[error("the network asks for a pause until {0}")]
    Throttled(OffsetDateTime),
    #[error("the permission for this is missing")]
    Forbidden,
    /// What was asked about is not there.
    #[error("the network does not know what was asked for")]
    NotFound,
    /// The comment has its one answer.
    #[error("the comment has been answered")]
    Answered,
    /// The request is refused as such.
    #[error("the network refuses the request: {0}")]
    Rejected(String),
    /// No answer, or one that says that the network has trouble.
    #[error("the network cannot be reached: {0}")]
    Unavailable(String),
    #[error("the network's answer cannot be read: {0}")]
    Malformed(String),
}

impl ChannelError {
    /// Whether sending the same again may help. After any other failure an answer that is not found is not sent again.
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Throttled(_) | Self::Unavailable(_))
    }
}

/// An answer as the network shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub external_id: String,
    pub author_id: Option<String>,
    pub username: Option<String>,
    pub text: String,
    pub posted_at: Option<OffsetDateTime>,
}

/// What a network lets a profile do under its posts.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait SocialReplies: Send + Sync {
    fn channel(&self) -> Channel;
    /// The comment as it is now.
    ///
    /// # Errors
    /// [`ChannelError::NotFound`] once it is deleted.
    async fn read(&self, profile: &Profile, comment: &str) -> Result<Comment, ChannelError>;
    /// Answers a comment; the answer's identifier. After whatever failure it may have been written.
    ///
    /// # Errors
    /// [`ChannelError`].
    async fn reply(&self, profile: &Profile, comment: &str, text: &str) -> Result<String, ChannelError>;
    /// The answers to a comment, all of them.
    ///
    /// # Errors
    /// [`ChannelError`].
    async fn replies(&self, profile: &Profile, comment: &str) -> Result<Vec<Shown>, ChannelError>;
    /// What happened since an instant, as far as the network lists it: comments before what answers them.
    ///
    /// # Errors
    /// [`ChannelError`].
    async fn changes(&self, profile: &Profile, since: OffsetDateTime) -> Result<Vec<Change>, ChannelError>;
    /// Has the network send hooks of a profile's page; again changes nothing. Most networks send them unasked.
    ///
    /// # Errors
    /// [`ChannelError`].
    async fn subscribe(&self, _profile: &Profile, _page: &str) -> Result<(), ChannelError> {
        Ok(())
    }
    /// Has it send none any more.
    ///
    /// # Errors
    /// [`ChannelError`].
    async fn unsubscribe(&self, _profile: &Profile, _page: &str) -> Result<(), ChannelError> {
        Ok(())
    }
}
