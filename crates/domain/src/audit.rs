//! The audit log: who did what to whom, when, and from where. Rows are added in the transaction of the change, and neither changed
//! nor removed but with the account.

use async_trait::async_trait;
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    PersonId, StoreError, UserId,
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
        MemberJoined = "member_joined",
        RoleChanged = "role_changed",
        MemberRemoved = "member_removed",
        AccountChanged = "account_changed",
        ExportRequested = "export_requested",
        ExportFetched = "export_fetched",
        ErasureRequested = "erasure_requested",
        ErasureUndone = "erasure_undone",
    }
);

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
    pub const fn new(user: UserId, by: Actor, action: Action, address: Option<String>) -> Self {
        Self { user, by, action, target: None, address, before: None, after: None }
    }
}

/// What was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    pub id: i64,
    pub at: OffsetDateTime,
    pub by: Actor,
    pub action: Action,
    pub target: Option<String>,
    pub address: Option<String>,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AuditLog: Send + Sync {
    /// Notes what changes nothing else.
    async fn note(&self, entry: Entry, now: OffsetDateTime) -> Result<(), StoreError>;
    /// What was noted for a user's live account, newest first.
    async fn page(&self, user: &UserId, page: PageRequest) -> Result<Page<Noted>, StoreError>;
}
