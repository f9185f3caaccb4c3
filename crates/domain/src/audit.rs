//! The audit log: who did what to whom, when, and from where. Rows are added in the transaction of the change, and neither changed
//! nor removed but with the account.

use async_trait::async_trait;
use serde_json::{Map, Value};
use time::OffsetDateTime;

use crate::{
    AuditId, PersonId, StoreError, UserId,
    accounts::Mode,
    page::{Page, PageRequest},
};

text_enum!(
    /// What was done.
    Action {
        SignedUp = "signed_up",
        LoggedIn = "logged_in",
        LogInFailed = "log_in_failed",
        LoggedOut = "logged_out",
        SessionEnded = "session_ended",
        SessionsEnded = "sessions_ended",
        PasswordChanged = "password_changed",
        PasswordReset = "password_reset",
        AddressChanged = "address_changed",
        SecondFactorAdded = "second_factor_added",
        SecondFactorRemoved = "second_factor_removed",
        SecondFactorRequired = "second_factor_required",
        SecondFactorOptional = "second_factor_optional",
        RecoveryCodesMade = "recovery_codes_made",
        RecoveryCodeUsed = "recovery_code_used",
        MemberInvited = "member_invited",
        InvitationWithdrawn = "invitation_withdrawn",
        MemberJoined = "member_joined",
        RoleChanged = "role_changed",
        MemberRemoved = "member_removed",
        AccountChanged = "account_changed",
        ExportRequested = "export_requested",
        ExportFetched = "export_fetched",
        ErasureRequested = "erasure_requested",
        ErasureUndone = "erasure_undone",
        CustomerDataFetched = "customer_data_fetched",
        CustomerForgotten = "customer_forgotten",
        KeyMade = "key_made",
        KeyRotated = "key_rotated",
        KeyRevoked = "key_revoked",
        ReorderDecided = "reorder_decided",
        InsightDecided = "insight_decided",
        NoteWritten = "note_written",
        NoteRemoved = "note_removed",
        WebhookMade = "webhook_made",
        WebhookChanged = "webhook_changed",
        WebhookDeleted = "webhook_deleted",
        WebhookSecretRotated = "webhook_secret_rotated",
        WebhookTested = "webhook_tested",
        DeliveryResent = "delivery_resent",
        DeliveriesReplayed = "deliveries_replayed",
        AlertMade = "alert_made",
        AlertChanged = "alert_changed",
        AlertMuted = "alert_muted",
        AlertUnmuted = "alert_unmuted",
        AlertDeleted = "alert_deleted",
        ShopConnected = "shop_connected",
        ShopSyncRequested = "shop_sync_requested",
        ShopDisconnected = "shop_disconnected",
        ProfileConnected = "profile_connected",
        ProfileDisconnected = "profile_disconnected",
        ImportStarted = "import_started",
        UploadDiscarded = "upload_discarded",
        JobsRequested = "jobs_requested",
        InsightsRequested = "insights_requested",
        AutoTopupChanged = "auto_topup_changed",
        CheckoutOpened = "checkout_opened",
        ReplyApproved = "reply_approved",
        ReplySkipped = "reply_skipped",
        ReplyHeld = "reply_held",
        ReplyWritten = "reply_written",
        ConversationChanged = "conversation_changed",
        ReplyJudged = "reply_judged",
        TemplateCreated = "template_created",
        TemplateChanged = "template_changed",
        TemplateApproved = "template_approved",
        TemplateRetired = "template_retired",
        TemplateDeleted = "template_deleted",
        RepliesSet = "replies_set",
        RepliesStopped = "replies_stopped",
    }
);

text_enum!(
    /// What actions are about, to find them by.
    Area {
        /// Log-ins, passwords, factors and sessions.
        Access = "access",
        People = "people",
        /// The account itself.
        Account = "account",
        Keys = "keys",
        Webhooks = "webhooks",
        Alerts = "alerts",
        Integrations = "integrations",
        /// Files and jobs.
        Data = "data",
        /// On reorders and insights, and notes on days.
        Decisions = "decisions",
        Credits = "credits",
        Conversations = "conversations",
    }
);

impl Action {
    pub const fn area(self) -> Area {
        match self {
            Self::SignedUp
            | Self::LoggedIn
            | Self::LogInFailed
            | Self::LoggedOut
            | Self::SessionEnded
            | Self::SessionsEnded
            | Self::PasswordChanged
            | Self::PasswordReset
            | Self::AddressChanged
            | Self::SecondFactorAdded
            | Self::SecondFactorRemoved
            | Self::SecondFactorRequired
            | Self::SecondFactorOptional
            | Self::RecoveryCodesMade
            | Self::RecoveryCodeUsed => Area::Access,
            Self::MemberInvited
            | Self::InvitationWithdrawn
            | Self::MemberJoined
            | Self::RoleChanged
            | Self::MemberRemoved => Area::People,
            Self::AccountChanged
            | Self::ExportRequested
            | Self::ExportFetched
            | Self::ErasureRequested
            | Self::ErasureUndone => Area::Account,
            Self::KeyMade | Self::KeyRotated | Self::KeyRevoked => Area::Keys,
            Self::ReorderDecided | Self::InsightDecided | Self::NoteWritten | Self::NoteRemoved => Area::Decisions,
            Self::WebhookMade
            | Self::WebhookChanged
            | Self::WebhookDeleted
            | Self::WebhookSecretRotated
            | Self::WebhookTested
            | Self::DeliveryResent
            | Self::DeliveriesReplayed => Area::Webhooks,
            Self::AlertMade | Self::AlertChanged | Self::AlertMuted | Self::AlertUnmuted | Self::AlertDeleted => {
                Area::Alerts
            }
            Self::ShopConnected
            | Self::ShopSyncRequested
            | Self::ShopDisconnected
            | Self::ProfileConnected
            | Self::ProfileDisconnected => Area::Integrations,
            Self::ImportStarted
            | Self::UploadDiscarded
            | Self::JobsRequested
            | Self::InsightsRequested
            | Self::CustomerDataFetched
            | Self::CustomerForgotten => Area::Data,
            Self::AutoTopupChanged | Self::CheckoutOpened => Area::Credits,
            Self::ReplyApproved
            | Self::ReplySkipped
            | Self::ReplyHeld
            | Self::ReplyWritten
            | Self::ConversationChanged
            | Self::ReplyJudged
            | Self::TemplateCreated
            | Self::TemplateChanged
            | Self::TemplateApproved
            | Self::TemplateRetired
            | Self::TemplateDeleted
            | Self::RepliesSet
            | Self::RepliesStopped => Area::Conversations,
        }
    }
}

impl Area {
    /// What is done there.
    pub fn actions(self) -> impl Iterator<Item = Action> {
        Action::ALL.iter().copied().filter(move |action| action.area() == self)
    }
}

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    Person {
        id: PersonId,
        /// As it was then.
        name: String,
    },
    /// The operator of the service, by its command line.
    Operator,
    /// Somebody who was not logged in.
    Nobody,
}

/// What is to be noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Whose live account it is noted for.
    pub user: UserId,
    /// Which account of the user was changed; `None` for what is of neither, such as people.
    pub mode: Option<Mode>,
    pub by: Actor,
    pub action: Action,
    /// Whom or what it was done to: a name.
    pub target: Option<String>,
    /// The client's network address.
    pub address: Option<String>,
    /// What was changed: what it was, and what it is. Never a secret.
    pub before: Option<Value>,
    pub after: Option<Value>,
}

impl Entry {
    /// The name of the person who did it, if it was one.
    pub fn person(&self) -> Option<&str> {
        match &self.by {
            Actor::Person { name, .. } => Some(name),
            Actor::Operator | Actor::Nobody => None,
        }
    }

    pub const fn new(user: UserId, by: Actor, action: Action, address: Option<String>) -> Self {
        Self { user, mode: None, by, action, target: None, address, before: None, after: None }
    }
}

/// Of two states of something the fields in which they differ: what those were, and what they are.
pub fn differences(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> (Map<String, Value>, Map<String, Value>) {
    let differs = |(name, _): &(&String, &Value)| before.get(*name) != after.get(*name);
    let of = |state: &Map<String, Value>| {
        state.iter().filter(differs).map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    (of(before), of(after))
}

/// What was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    pub id: AuditId,
    /// As in [`Entry::mode`].
    pub mode: Option<Mode>,
    pub at: OffsetDateTime,
    pub by: Actor,
    pub action: Action,
    pub target: Option<String>,
    pub address: Option<String>,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

#[async_trait]
pub trait AuditLog: Send + Sync {
    /// Notes what changes nothing else.
    async fn note(&self, entry: Entry, now: OffsetDateTime) -> Result<(), StoreError>;
    /// What was noted for a user's live account, of all areas or of one, newest first.
    async fn page(&self, user: &UserId, area: Option<Area>, page: PageRequest) -> Result<Page<Noted>, StoreError>;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_a_change_is_told_what_differs() {
        let map = |value: Value| value.as_object().unwrap().clone();
        let before = map(json!({ "name": "a", "threshold": "1", "old": true }));
        let after = map(json!({ "name": "a", "threshold": "2" }));
        let (was, is) = differences(&before, &after);
        assert_eq!(
            (Value::from(was), Value::from(is)),
            (json!({ "threshold": "1", "old": true }), json!({ "threshold": "2" }))
        );
        assert_eq!(differences(&after, &after), (Map::new(), Map::new()));
    }

    #[test]
    fn every_area_has_actions() {
        assert!(Area::ALL.iter().all(|area| area.actions().next().is_some()));
    }
}
