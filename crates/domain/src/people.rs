//! The people who log in to the dashboard, and what each may do there.
//!
//! A person belongs to one user or more, by a membership with a role; a [user](crate::accounts) is the owner's organisation,
//! with its live and its sandbox account.

use std::{fmt, str::FromStr};

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::{PersonId, StoreError, UserId, audit::Entry, language::Language};

/// Characters of a person's name.
pub const MAX_NAME_CHARS: usize = 100;

text_enum!(
    /// What a member may do.
    Role {
        /// Everything, people and payments included.
        Owner = "owner",
        /// Everything but people, payments, and the end of the account.
        Editor = "editor",
        /// Looking.
        Viewer = "viewer",
    }
);

/// What somebody is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Look,
    /// Change what belongs to the shop: webhooks, alerts, decisions, imports.
    Change,
    /// Decide about people, keys, payments and the account itself.
    Administer,
}

impl Role {
    pub const fn may(self, act: Act) -> bool {
        match (self, act) {
            (Self::Owner, _) | (_, Act::Look) | (Self::Editor, Act::Change) => true,
            (Self::Editor, Act::Administer) | (Self::Viewer, _) => false,
        }
    }
}

text_enum!(
    /// The colours of the pages.
    Theme {
        /// As the device says.
        System = "system",
        Light = "light",
        Dark = "dark",
    }
);

/// An e-mail address as it is compared: trimmed and in lower case. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EmailAddress(String);

/// A text is not an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an e-mail address has the form name@example.com and at most 254 characters")]
pub struct InvalidEmailAddress;

impl EmailAddress {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EmailAddress {
    type Err = InvalidEmailAddress;

    /// Whether mail can get there is only known when it has: so the form is checked no further than RFC 5321, section 4.5.3.1,
    /// limits its length, and a domain needs a dot.
    fn from_str(text: &str) -> Result<Self, InvalidEmailAddress> {
        let text = text.trim().to_lowercase();
        let (name, domain) = text.rsplit_once('@').ok_or(InvalidEmailAddress)?;
        let is_plain = |part: &str| !part.is_empty() && !part.chars().any(|c| c.is_whitespace() || c.is_control());
        let has_dot = domain.split('.').count() > 1 && domain.split('.').all(|label| !label.is_empty());
        let forbidden = |c: char| "<>()[]\\,;:\"@".contains(c);
        if text.len() <= 254
            && name.len() <= 64
            && is_plain(name)
            && is_plain(domain)
            && has_dot
            && !text.replacen('@', "", 1).contains(forbidden)
        {
            Ok(Self(text))
        } else {
            Err(InvalidEmailAddress)
        }
    }
}

impl fmt::Debug for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmailAddress(…)")
    }
}

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub id: PersonId,
    pub email: EmailAddress,
    pub name: String,
    /// `None`: the language of the account.
    pub language: Option<Language>,
    pub theme: Theme,
    pub created_at: OffsetDateTime,
    /// Since when the person may no longer log in.
    pub disabled_at: Option<OffsetDateTime>,
}

/// A person as a member of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub person: Person,
    pub role: Role,
    pub since: OffsetDateTime,
}

/// A user as one of its members sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shop {
    pub user: UserId,
    /// Of its live account.
    pub name: String,
    pub role: Role,
}

/// Why a membership was not changed.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    #[error("there is no such member")]
    NotFound,
    /// A user always has an owner who can log in.
    #[error("the last owner stays")]
    LastOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An invitation that nobody has accepted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invited {
    pub email: EmailAddress,
    pub role: Role,
    /// When its link ends. None: it has not been sent yet.
    pub expires_at: Option<OffsetDateTime>,
}

/// A person to be made a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMember {
    pub user: UserId,
    pub role: Role,
    pub email: EmailAddress,
    pub name: String,
    pub language: Option<Language>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait PersonStore: Send + Sync {
    /// Makes the owner of the address a member with the role, and the person where nobody has it. Of who is a member already,
    /// only the role changes.
    async fn enroll(&self, member: NewMember, now: OffsetDateTime) -> Result<Person, StoreError>;
    async fn find(&self, email: &EmailAddress) -> Result<Option<Person>, StoreError>;
    /// The members of a user, oldest first.
    async fn members(&self, user: &UserId) -> Result<Vec<Member>, StoreError>;
    /// What a person is a member of, by name.
    async fn shops(&self, person: PersonId) -> Result<Vec<Shop>, StoreError>;
    /// Changes the role of a member, or ends the membership.
    async fn set_role(
        &self,
        user: &UserId,
        person: PersonId,
        role: Option<Role>,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<(), MemberError>;
    /// The invitations to a user that are under way, those that wait to be sent among them, the newest first.
    async fn invited(&self, user: &UserId, now: OffsetDateTime) -> Result<Vec<Invited>, StoreError>;
    /// Withdraws the invitation of an address to a user: its link leads nowhere, and one that waits is not sent. False where there
    /// is none.
    async fn withdraw(
        &self,
        user: &UserId,
        email: &EmailAddress,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Lets a person log in no more, which ends all sessions and links, or again.
    async fn set_disabled(&self, person: PersonId, disabled: bool, now: OffsetDateTime) -> Result<(), StoreError>;
    /// How the person sees the pages.
    async fn set_view(
        &self,
        person: PersonId,
        name: &str,
        language: Option<Language>,
        theme: Theme,
    ) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(" Ana.Ruiz+shop@Example.COM ", "ana.ruiz+shop@example.com")]
    #[case("ñandú@correo.ar", "ñandú@correo.ar")]
    fn an_address_is_compared_in_lower_case(#[case] written: &str, #[case] kept: &str) {
        assert_eq!(written.parse::<EmailAddress>().unwrap().as_str(), kept);
    }

    #[rstest]
    #[case("")]
    #[case("ana")]
    #[case("ana@")]
    #[case("@example.com")]
    #[case("ana@localhost")]
    #[case("ana@example..com")]
    #[case("a b@example.com")]
    #[case("ana@example.com\r\nBcc: eve@example.com")]
    #[case("Ana <ana@example.com>")]
    #[case("a@b@example.com")]
    fn other_texts_are_none(#[case] text: &str) {
        assert_eq!(text.parse::<EmailAddress>(), Err(InvalidEmailAddress));
    }

    #[test]
    fn a_long_address_is_none() {
        let of = |letters: usize| format!("ana@{}.com", "x".repeat(letters)).parse::<EmailAddress>();
        assert!(of(246).is_ok());
        assert_eq!(of(247), Err(InvalidEmailAddress));
    }

    #[test]
    fn an_address_is_not_shown() {
        assert!(!format!("{:?}", "ana@example.com".parse::<EmailAddress>().unwrap()).contains("ana"));
    }

    #[test]
    fn a_role_may_what_lesser_roles_may() {
        let may = |role: Role| [Act::Look, Act::Change, Act::Administer].map(|act| role.may(act));
        assert_eq!(may(Role::Viewer), [true, false, false]);
        assert_eq!(may(Role::Editor), [true, true, false]);
        assert_eq!(may(Role::Owner), [true, true, true]);
    }
}
