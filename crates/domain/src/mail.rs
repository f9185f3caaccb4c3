//! Mails: what is sent to whom, how it reads, and the ports that queue and send it.
//!
//! A queued mail is facts, never a text: the link in it is made when it is sent, so that no secret waits in the database.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use crate::{
    MailId, PersonId, StoreError, UserId,
    audit::Entry,
    language::Language,
    people::{EmailAddress, Role},
    sessions::LinkPurpose,
    texts::Texts,
};

/// How long the sending of a mail may take before another process takes it up.
pub const LEASE: Duration = Duration::minutes(5);
/// Attempts of which the last is about a day after the first.
pub const MOST_ATTEMPTS: i32 = 12;
/// How long a mail waits for a server to be sent by: what is older is not worth sending.
pub const KEPT: Duration = Duration::days(3);

/// What a mail is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Mail {
    /// Somebody wants an account with this address.
    SignUp,
    ResetPassword,
    /// An invitation to the owner of this address.
    Invitation {
        user: UserId,
        role: Role,
        by: String,
        shop: String,
    },
    /// A person wants to have this address from now on.
    NewAddress {
        person: PersonId,
    },
    /// Something happened that the person should know of.
    Notice {
        what: Notice,
    },
}

text_enum!(
    /// What a person is told of.
    Notice {
        NewDevice = "new_device",
        ManyFailures = "many_failures",
        PasswordChanged = "password_changed",
        AddressChanged = "address_changed",
        SecondFactorAdded = "second_factor_added",
        SecondFactorRemoved = "second_factor_removed",
        RecoveryCodeUsed = "recovery_code_used",
        KeyMade = "key_made",
        ErasureRequested = "erasure_requested",
    }
);

/// A mail with its addressee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub to: EmailAddress,
    pub language: Language,
    pub mail: Mail,
}

/// A mail that a process is to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leased {
    pub id: MailId,
    pub outgoing: Outgoing,
    /// With this one.
    pub attempts: i32,
}

/// A text with its addressee. Its `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct Letter {
    pub to: EmailAddress,
    pub subject: String,
    pub text: String,
}

impl std::fmt::Debug for Letter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Letter(…)")
    }
}

/// The pause before the next attempt, after a number of attempts.
pub fn back_off(attempts: i32) -> Duration {
    Duration::seconds(15 << attempts.clamp(0, 10)).min(Duration::hours(3))
}

/// How a mail reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading<'a> {
    /// With a link that opens this page.
    Link {
        purpose: LinkPurpose,
        url: &'a str,
    },
    /// Who wants an account has one already: with a link to a new password.
    Exists {
        url: &'a str,
    },
    Notice(Notice),
}

impl Reading<'_> {
    /// The letter. `by` and `shop` are those of an invitation.
    pub fn letter(self, texts: &Texts, to: EmailAddress, by: &str, shop: &str) -> Letter {
        let (id, url) = match self {
            Self::Link { purpose, url } => (format!("mail-{}", purpose.as_str().replace('_', "-")), url),
            Self::Exists { url } => ("mail-exists".to_owned(), url),
            Self::Notice(what) => (format!("mail-{}", what.as_str().replace('_', "-")), ""),
        };
        let message = texts.message(id).text("by", by).text("shop", shop);
        let (subject, mut text) = (message.attribute("subject"), message.attribute("text"));
        if !url.is_empty() {
            let ends = texts.message("mail-link");
            let ends = ends.attribute(if matches!(self, Self::Link { purpose: LinkPurpose::Invitation, .. }) {
                "days"
            } else {
                "hour"
            });
            text = format!("{text}\n\n{url}\n\n{ends}");
        }
        Letter { to, subject: one_line(&subject), text: format!("{text}\n") }
    }
}

/// A subject is one line: names in it are others' texts.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Why a mail was not sent. No text of it names the addressee.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Trying again may help.
    #[error("{0}")]
    Later(String),
    /// The server refuses it for good.
    #[error("{0}")]
    Refused(String),
}

/// What sends mails.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Mailer: Send + Sync {
    async fn send(&self, letter: &Letter, now: OffsetDateTime) -> Result<(), SendError>;
}

/// A mail that was put aside instead of sent, on a developer's machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutAside {
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Where mails are put aside.
pub trait Outbox: Send + Sync {
    /// The last ones, newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    fn list(&self) -> std::io::Result<Vec<PutAside>>;
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait MailQueue: Send + Sync {
    /// Queues a mail, and notes why. An invitation takes the place of others of the address to the same user.
    async fn put(&self, mail: Outgoing, note: Option<Entry>, now: OffsetDateTime) -> Result<(), StoreError>;
    /// Takes mails that are due for [`LEASE`].
    async fn lease(&self, limit: i64, now: OffsetDateTime) -> Result<Vec<Leased>, StoreError>;
    /// The mail is sent, or never will be.
    async fn done(&self, id: MailId) -> Result<(), StoreError>;
    /// The mail is due again then.
    async fn put_off(&self, id: MailId, due_at: OffsetDateTime) -> Result<(), StoreError>;
}

/// What a link carries, as its purpose has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkDetails {
    /// The address that its mail went to, which the person who opens it has.
    pub email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Mail {
    /// The link that a mail to the address has, with whom and what it is for; a notice has none.
    pub fn link(&self) -> Option<(LinkPurpose, Option<PersonId>, Option<UserId>)> {
        match self {
            Self::SignUp => Some((LinkPurpose::SignUp, None, None)),
            Self::ResetPassword => Some((LinkPurpose::ResetPassword, None, None)),
            Self::Invitation { user, .. } => Some((LinkPurpose::Invitation, None, Some(user.clone()))),
            Self::NewAddress { person } => Some((LinkPurpose::NewAddress, Some(*person), None)),
            Self::Notice { .. } => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::texts::tests::locale;

    pub(crate) fn say_all(texts: &Texts) {
        let url = "https://shop.example.com/reset/abc";
        let link = |purpose| Reading::Link { purpose, url };
        let mut all = vec![Reading::Exists { url }];
        all.extend(
            [LinkPurpose::SignUp, LinkPurpose::ResetPassword, LinkPurpose::Invitation, LinkPurpose::NewAddress]
                .map(link),
        );
        all.extend(Notice::ALL.iter().map(|what| Reading::Notice(*what)));
        for reading in &all {
            let to: EmailAddress = "ana@example.com".parse().unwrap();
            let letter = reading.letter(texts, to, "Eva", "Casa Clara");
            let is_notice = matches!(reading, Reading::Notice(_));
            assert_eq!(letter.text.matches(url).count(), usize::from(!is_notice), "{}", letter.text);
        }
    }

    #[test]
    fn a_name_adds_no_header() {
        let purpose = LinkPurpose::Invitation;
        let reading = Reading::Link { purpose, url: "https://x.example" };
        let to = "ana@example.com".parse().unwrap();
        let letter = reading.letter(&Texts::of(locale("en")), to, "Eva", "Shop\r\nBcc: eve@example.com");
        assert!(letter.subject.contains("Shop  Bcc") && !letter.subject.contains(['\r', '\n']), "{}", letter.subject);
    }

    #[test]
    fn attempts_go_on_for_about_a_day() {
        let all: Duration = (1..MOST_ATTEMPTS).map(back_off).sum();
        assert!(all > Duration::hours(10) && all < Duration::hours(30), "{all}");
        assert_eq!(back_off(1), Duration::seconds(30));
    }
}
