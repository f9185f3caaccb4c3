//! Sessions of the dashboard: how they begin, how long they last, and how they end.

use std::fmt;

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use time::{Duration, OffsetDateTime};

use crate::{
    MailId, PersonId, SessionId, StoreError, UserId,
    accounts::{Account, Mode},
    audit::Entry,
    mail::Outgoing,
    people::{Person, Role},
};

/// A session that nobody uses ends after this.
pub const IDLE: Duration = Duration::days(14);
/// Every session ends after this.
pub const LONGEST: Duration = Duration::days(30);
/// So does one on a device that is not to be remembered.
pub const UNREMEMBERED: Duration = Duration::hours(24);
/// What needs to be confirmed needs a log-in younger than this.
pub const CONFIRMED_FOR: Duration = Duration::minutes(15);
/// When a session was last used is written at most this often.
pub const SEEN_EVERY: Duration = Duration::minutes(5);

/// How long a link in a mail works.
pub const MAIL_LINK_LASTS: Duration = Duration::minutes(60);
/// An invitation is not expected, and gives a role rather than a password.
pub const INVITATION_LASTS: Duration = Duration::days(3);

/// Bytes of a token: 256 bits.
const TOKEN_BYTES: usize = 32;

/// What a browser or a link has to show: random, and stored as its SHA-256 only. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// From random bytes. Fewer than 32 make a shorter token, which is none.
    pub fn generate(random: impl Iterator<Item = u8>) -> Self {
        Self(URL_SAFE_NO_PAD.encode(random.take(TOKEN_BYTES).collect::<Vec<_>>()))
    }

    /// A token as it came from outside, if it has the form of one.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == TOKEN_BYTES).then(|| Self(text.to_owned()))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> TokenHash {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, self.0.as_bytes()).as_ref());
        TokenHash(hash)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// SHA-256 of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// Where a session is used, to be told apart in a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Device {
    /// The header `User-Agent`, cut to 256 characters.
    pub user_agent: String,
    /// The client's address.
    pub address: String,
}

/// A session to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    pub hash: TokenHash,
    pub person: PersonId,
    pub user: UserId,
    pub mode: Mode,
    pub device: Device,
    /// Whether the device is to be remembered ([`UNREMEMBERED`]).
    pub remember: bool,
}

/// What a log-in was decided by, as it was read. Comparing a password takes its time, in which it may be changed by who
/// wants the one who logs in to be out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proven {
    /// The hash.
    pub password: Option<String>,
    pub has_second_factor: bool,
}

/// What belongs to the beginning of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Beginning {
    /// What has to hold still.
    pub proven: Proven,
    pub note: Option<Entry>,
    /// By what the device is to be known from now on.
    pub device: Option<TokenHash>,
    /// What the person is told where other devices are known already.
    pub notice: Option<Outgoing>,
}

/// A session that goes on, with whom and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub person: Person,
    pub role: Role,
    /// What is looked at: the user's live account or sandbox.
    pub account: Account,
    pub created_at: OffsetDateTime,
    pub seen_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
    /// When the person last proved who they are.
    pub confirmed_at: OffsetDateTime,
    pub has_second_factor: bool,
    /// Whether the user wants every member to have one.
    pub needs_second_factor: bool,
}

impl Session {
    /// Whether it goes on at `now`.
    pub fn is_alive(&self, now: OffsetDateTime) -> bool {
        now < self.expires_at && now - self.seen_at < IDLE && self.person.disabled_at.is_none()
    }

    /// Whether what needs to be confirmed may be done at `now`.
    pub fn is_confirmed(&self, now: OffsetDateTime) -> bool {
        now - self.confirmed_at < CONFIRMED_FOR
    }
}

/// A session as its person sees it in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub id: SessionId,
    pub device: Device,
    pub created_at: OffsetDateTime,
    pub seen_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
}

#[async_trait]
pub trait SessionStore: Send + Sync {
    /// False where what it was proven by has changed, or the person is disabled since; then nothing begins.
    async fn begin(&self, session: NewSession, with: Beginning, now: OffsetDateTime) -> Result<bool, StoreError>;
    /// Gives the session of who has proved again who they are a new token: the old one is nobody's.
    async fn renew(&self, id: SessionId, hash: TokenHash, now: OffsetDateTime) -> Result<(), StoreError>;
    /// The session of a token, whether it goes on or not; `None` where there is none, or its person is no longer a member.
    async fn find(&self, hash: TokenHash) -> Result<Option<Session>, StoreError>;
    /// Notes that the session is used.
    async fn seen(&self, id: SessionId, now: OffsetDateTime) -> Result<(), StoreError>;
    /// Looks at the other account of the user.
    async fn switch(&self, id: SessionId, mode: Mode) -> Result<(), StoreError>;
    /// Looks at the live account of another user that the session's person is a member of. False where they are none.
    async fn go_to(&self, id: SessionId, user: &UserId) -> Result<bool, StoreError>;
    /// Those of a person that go on at `now`, the last used first.
    async fn list(&self, person: PersonId, now: OffsetDateTime) -> Result<Vec<Listed>, StoreError>;
    /// Ends one session of a person, all but one, or all; log-ins that are under way as well, but with one.
    async fn end(
        &self,
        person: PersonId,
        which: Ended,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
}

/// Which sessions are to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    One(SessionId),
    AllBut(SessionId),
    All,
}

text_enum!(
    /// What a link that opens once is for.
    LinkPurpose {
        /// Logs in to the demo shop on the machine that runs the service.
        Enter = "enter",
        SignUp = "sign_up",
        ResetPassword = "reset_password",
        Invitation = "invitation",
        NewAddress = "new_address",
    }
);

/// A link that opens once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub purpose: LinkPurpose,
    pub person: Option<PersonId>,
    pub user: Option<UserId>,
    /// What else the link carries, as its purpose has it: an address and a role, say.
    pub details: serde_json::Value,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait LinkStore: Send + Sync {
    /// Makes a link that goes with no mail. An invitation takes the place of others of the address to the same user, also of
    /// those that wait to be sent.
    async fn make(
        &self,
        hash: TokenHash,
        link: Link,
        now: OffsetDateTime,
        expires_at: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Makes the link of a queued mail. An invitation's takes the place of the one that an attempt before made. False, and no
    /// link, where the mail is queued no longer: what ended it was decided after it was taken.
    async fn make_for(
        &self,
        mail: MailId,
        hash: TokenHash,
        link: Link,
        now: OffsetDateTime,
        expires_at: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// The link of a token, which stays as it is.
    async fn look(
        &self,
        hash: TokenHash,
        purpose: LinkPurpose,
        now: OffsetDateTime,
    ) -> Result<Option<Link>, StoreError>;
    /// Takes a link: the first who does gets it, nobody after.
    async fn take(
        &self,
        hash: TokenHash,
        purpose: LinkPurpose,
        now: OffsetDateTime,
    ) -> Result<Option<Link>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_256_bits_and_its_own_hash() {
        let token = Token::generate(0..=255);
        assert_eq!(token.expose(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
        assert_eq!(Token::parse(token.expose()), Some(token.clone()));
        assert_ne!(token.hash(), Token::generate(1..=255).hash());
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn other_texts_are_no_tokens() {
        for text in
            ["", "AAEC", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh", "../../../../../../../../../../../etc/passwdxxx"]
        {
            assert_eq!(Token::parse(text), None, "{text}");
        }
    }
}
