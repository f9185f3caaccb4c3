//! Profiles that an account is connected to: how they are connected, listed and disconnected.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use super::Channel;
use crate::{
    AccountId, SocialAccountId, StoreError,
    audit::Entry,
    idempotency::IdempotencyKey,
    page::{Page, PageRequest},
    shops::{Authorization, AuthorizeError, Callback, CompleteError, Secret},
};

/// A profile that was not read for longer than this is stale.
pub const STALE_AFTER: Duration = Duration::hours(24);
/// How long a subscription to hooks is relied on before it is made again: networks drop them without a word.
pub const SUBSCRIBE_EVERY: Duration = Duration::DAY;
/// After how long it is tried again where the network did not take it.
pub const SUBSCRIBE_AGAIN: Duration = Duration::HOUR;
/// Digits of a profile's number.
pub const MAX_NUMBER: usize = 32;

text_enum!(
    /// A channel whose profiles are connected by themselves. Questions on Mercado Libre come with the shop's integration.
    ProfileChannel { Instagram = "instagram", Facebook = "facebook" }
);

impl From<ProfileChannel> for Channel {
    fn from(channel: ProfileChannel) -> Self {
        match channel {
            ProfileChannel::Instagram => Self::Instagram,
            ProfileChannel::Facebook => Self::Facebook,
        }
    }
}

text_enum!(
    /// The state of a profile.
    ProfileStatus {
        /// Its comments are read.
        Connected = "connected",
        /// Its comments were not read for more than [`STALE_AFTER`].
        Stale = "stale",
        /// It has ended.
        Revoked = "revoked",
    }
);

text_enum!(
    /// Why a profile ended.
    EndReason {
        /// It was disconnected here.
        Manual = "manual",
        /// The network refuses the token.
        TokenExpired = "token_expired",
    }
);

/// A connected profile, as it is shown. Tokens are never part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocialProfile {
    pub id: SocialAccountId,
    pub channel: Channel,
    /// The network's number of the profile.
    pub external_id: String,
    /// The name that it comments under.
    pub handle: Option<String>,
    /// Permissions that were granted, and those that are needed and were not; none where its token was given by hand.
    pub scopes: Vec<String>,
    pub missing_scopes: Vec<String>,
    pub connected_at: OffsetDateTime,
    pub ended_at: Option<OffsetDateTime>,
    pub end_reason: Option<EndReason>,
    /// When a hook or a poll last brought something.
    pub last_event_at: Option<OffsetDateTime>,
    pub last_poll_at: Option<OffsetDateTime>,
    /// When the network last agreed to send hooks.
    pub subscribed_at: Option<OffsetDateTime>,
}

impl SocialProfile {
    /// The state at `now`; staleness is a matter of time, so it is not stored.
    pub fn status(&self, now: OffsetDateTime) -> ProfileStatus {
        let read_at = self.last_poll_at.map_or(self.connected_at, |at| at.max(self.connected_at));
        match self.ended_at {
            Some(_) => ProfileStatus::Revoked,
            None if now - read_at > STALE_AFTER => ProfileStatus::Stale,
            None => ProfileStatus::Connected,
        }
    }

    /// Whether the owner has to connect it again: the network took the permission back.
    pub fn reconnect_needed(&self) -> bool {
        self.end_reason == Some(EndReason::TokenExpired)
    }
}

/// Whether a text is the number of a profile.
pub fn is_number(text: &str) -> bool {
    (1..=MAX_NUMBER).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A profile that a person reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    pub external_id: String,
    /// The name that it comments under.
    pub handle: Option<String>,
    /// The page that it belongs to, by which its hooks are subscribed to: itself, for a page.
    pub page_id: String,
    pub token: Secret,
}

/// What a person granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    pub profiles: Vec<Reached>,
    pub scopes: Vec<String>,
    /// Permissions that are needed and were not granted: what needs them is left out.
    pub missing_scopes: Vec<String>,
}

/// The app of a network as people grant it access to their profiles.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ProfileAuth: Send + Sync {
    /// Where a person is sent to grant access to profiles of a channel.
    ///
    /// # Errors
    /// [`AuthorizeError`].
    fn authorize_url(&self, channel: Channel, authorization: &Authorization) -> Result<String, AuthorizeError>;

    /// Exchanges a callback's code. The caller has checked that the state is the authorization's.
    ///
    /// # Errors
    /// [`CompleteError`], also where what was granted does not do to read comments.
    async fn complete(
        &self,
        channel: Channel,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<Granted, CompleteError>;
}

/// A profile that is to be connected. Its token is sealed before it reaches the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProfile {
    /// From [`ProfileConnections::reserve`]: the sealed token is bound to it.
    pub id: SocialAccountId,
    pub channel: Channel,
    pub external_id: String,
    pub handle: Option<String>,
    pub page_id: String,
    pub scopes: Vec<String>,
    pub missing_scopes: Vec<String>,
    /// Bound by [`token_binding`](super::replies::token_binding).
    pub sealed_token: Vec<u8>,
    /// Whether the network has agreed to send hooks.
    pub is_subscribed: bool,
    /// The key of the request, claimed at [`AnswerStore`](crate::idempotency::AnswerStore): the profile is recorded under it
    /// in the same transaction.
    pub key: Option<IdempotencyKey>,
    /// For the audit log, where a person connects it.
    pub note: Option<Entry>,
}

/// Why a profile was not connected.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("the profile is connected to another account")]
    ConnectedElsewhere,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of a disconnection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Now,
    /// It had ended before: nothing changed, but that its owner may be another from now on.
    Before,
    /// The account has no such profile.
    Unknown,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ProfileConnections: Send + Sync {
    /// The id of the account's profile, or for a new one an id that no other has or will get.
    async fn reserve(
        &self,
        account: AccountId,
        channel: Channel,
        external_id: &str,
    ) -> Result<SocialAccountId, StoreError>;
    /// Connects a profile, or the same one again. It is due to be read at once. One that ended at another account is taken
    /// over: whoever has its token speaks for it.
    ///
    /// # Errors
    /// [`ProfileError`].
    async fn connect(
        &self,
        account: AccountId,
        profile: NewProfile,
        now: OffsetDateTime,
    ) -> Result<SocialProfile, ProfileError>;
    /// Ends a profile: its token is forgotten, it is polled no more, and its hooks are nobody's. `note` is for the audit log.
    async fn end(
        &self,
        account: AccountId,
        id: SocialAccountId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Ended, StoreError>;
    /// Whether another profile of the account that has not ended belongs to the page of this one.
    async fn shares_page(&self, account: AccountId, id: SocialAccountId) -> Result<bool, StoreError>;
    async fn find(&self, account: AccountId, id: SocialAccountId) -> Result<Option<SocialProfile>, StoreError>;
    /// Profiles, the newest first, ended ones included.
    async fn page(&self, account: AccountId, page: PageRequest) -> Result<Page<SocialProfile>, StoreError>;
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn profile() -> SocialProfile {
        SocialProfile {
            id: SocialAccountId(1),
            channel: Channel::Instagram,
            external_id: "17841400000000001".into(),
            handle: None,
            scopes: vec![],
            missing_scopes: vec![],
            connected_at: datetime!(2026-11-20 10:00 UTC),
            ended_at: None,
            end_reason: None,
            last_event_at: None,
            last_poll_at: Some(datetime!(2026-11-19 10:00 UTC)),
            subscribed_at: None,
        }
    }

    #[test]
    fn a_profile_is_stale_a_day_after_it_was_read_or_connected_again() {
        let status = |at| profile().status(at);
        assert_eq!(status(datetime!(2026-11-21 10:00 UTC)), ProfileStatus::Connected);
        assert_eq!(status(datetime!(2026-11-21 10:00:01 UTC)), ProfileStatus::Stale);
        let ended = SocialProfile { ended_at: Some(datetime!(2026-11-20 11:00 UTC)), ..profile() };
        assert_eq!(ended.status(datetime!(2026-11-20 11:00 UTC)), ProfileStatus::Revoked);
    }

    #[test]
    fn a_profile_is_named_by_its_number() {
        assert!(is_number("17841400000000001") && is_number("0"));
        for wrong in ["", "shop", "1/2", "１", "123456789012345678901234567890123"] {
            assert!(!is_number(wrong), "{wrong}");
        }
    }
}
