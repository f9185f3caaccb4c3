//! Typed identifiers.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A number that the database gives, in a type of its own: one cannot be taken for another.
macro_rules! number_id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl From<i64> for $name {
            fn from(number: i64) -> Self {
                Self(number)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id!(
    /// An account: the tenant that every row belongs to.
    AccountId
);
number_id!(
    /// A person who logs in to the dashboard.
    PersonId
);
number_id!(
    /// A person's session in the dashboard.
    SessionId
);
number_id!(
    /// An alert rule.
    RuleId
);
number_id!(
    /// A webhook subscription.
    SubscriptionId
);
number_id!(
    /// A replay of a subscription's deliveries.
    ReplayId
);
number_id!(
    /// An API key.
    KeyId
);
number_id!(
    /// An event that receivers are told of.
    EventId
);

number_id!(
    /// A row of the credit ledger.
    TransactionId
);
number_id!(
    /// An AI run.
    RunId
);
number_id!(
    /// A tracking event.
    TrackingEventId
);
number_id!(
    /// An incident of the service.
    IncidentId
);
number_id!(
    /// A connected shop.
    IntegrationId
);
number_id!(
    /// A run of the log of a connected shop.
    SyncRunId
);
number_id!(
    /// A file that somebody brought in.
    UploadId
);
number_id!(
    /// A file of all that an account has.
    ExportId
);
number_id!(
    /// A time that an alert rule fired.
    FiringId
);
number_id!(
    /// What somebody wrote about a day.
    NoteId
);
number_id!(
    /// A hook of a platform, as it was received.
    InboxId
);
number_id!(
    /// A privacy request that a platform passed on.
    PrivacyRequestId
);
number_id!(
    /// A product.
    ProductId
);
number_id!(
    /// A product with a known stock, as the latest run found it.
    InventoryItemId
);
number_id!(
    /// A customer.
    CustomerId
);
number_id!(
    /// An order.
    OrderId
);
number_id!(
    /// An entry of the audit log.
    AuditId
);
number_id!(
    /// An update of an incident.
    IncidentUpdateId
);
number_id!(
    /// A hook of a social network, as it was received.
    SocialHookId
);
number_id!(
    /// A campaign, an ad set or an ad.
    AdEntityId
);
number_id!(
    /// A row of advertising, among those of its level: an ad account, or what [`AdEntityId`] names.
    AdRowId
);
number_id!(
    /// What ads show.
    CreativeId
);
number_id!(
    /// A creative in a campaign.
    CampaignCreativeId
);
number_id!(
    /// An anomaly.
    AnomalyId
);
number_id!(
    /// A story: one event, of one anomaly or more.
    StoryId
);
number_id!(
    /// An insight.
    InsightId
);
number_id!(
    /// A risk.
    RiskId
);
number_id!(
    /// A reorder suggestion.
    SuggestionId
);
number_id!(
    /// A charge of the automatic top-up.
    ChargeId
);
number_id!(
    /// A mail that is to be sent.
    MailId
);
number_id!(
    /// A conversation under a post.
    ConversationId
);
number_id!(
    /// A message of a conversation.
    MessageId
);
number_id!(
    /// A template of answers.
    TemplateId
);
number_id!(
    /// A connected account of a social network.
    SocialAccountId
);

/// A delivery: one event for one subscription, over all attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryId(pub Uuid);

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A user: `user_` and 24 base-62 characters. Owns one live and one sandbox account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserId(String);

/// A text is not a user id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a user id is `user_` and 24 letters or digits")]
pub struct InvalidUserId;

impl UserId {
    const PREFIX: &'static str = "user_";
    const RANDOM_CHARS: usize = 24;

    /// Makes an id from random bytes, as many as `random` yields are used (about 24 × 62/64).
    pub fn generate(random: impl Iterator<Item = u8>) -> Self {
        Self(format!("{}{}", Self::PREFIX, crate::keys::base62(random, Self::RANDOM_CHARS)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for UserId {
    type Err = InvalidUserId;
    fn from_str(text: &str) -> Result<Self, InvalidUserId> {
        let random = text.strip_prefix(Self::PREFIX).ok_or(InvalidUserId)?;
        if random.len() == Self::RANDOM_CHARS && random.bytes().all(|b| b.is_ascii_alphanumeric()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidUserId)
        }
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
