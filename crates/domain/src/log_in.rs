//! Logging in, and what a person proves who they are by: password, second factor, a link from a mail.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use crate::{
    PersonId, SessionId, StoreError, UserId,
    accounts::NewUser,
    audit::Entry,
    language::Language,
    mail::Outgoing,
    people::{EmailAddress, Person},
    sealing::Binding,
    sessions::{Proven, TokenHash},
};

/// Between the password and the code of the second factor.
pub const CHALLENGE_LASTS: Duration = Duration::minutes(10);
/// Codes that may be tried in that time.
pub const CODES_A_CHALLENGE: i32 = 5;
/// Codes that stand in for the second factor, each once.
pub const RECOVERY_CODES: usize = 10;

/// What the secret of a person's second factor is sealed with.
pub const fn totp_binding(person: PersonId) -> Binding {
    Binding { purpose: "totp_secret", account: crate::AccountId(0), row: person.0 }
}

/// What is known of who logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    pub person: Person,
    /// The hash, in the form of PHC strings; none where the person has no password yet.
    pub password: Option<String>,
    pub has_second_factor: bool,
    /// The user whose shop was looked at last, of those that the person is a member of.
    pub user: Option<UserId>,
}

impl Credentials {
    /// What a log-in by them was decided by.
    pub fn proven(&self) -> Proven {
        Proven { password: self.password.clone(), has_second_factor: self.has_second_factor }
    }
}

/// A second factor (TOTP, RFC 6238).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    pub sealed_secret: Vec<u8>,
    /// The last step whose code was used: neither it nor one before is taken again.
    pub last_step: i64,
    /// Whether a code has shown that the device has the secret.
    pub is_on: bool,
}

/// The recovery codes of a person: one salt, and the hashes of those that were not used yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryCodes {
    pub salt: Vec<u8>,
    pub hashes: Vec<Vec<u8>>,
}

/// Who has shown the right password, and still has to show the second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    pub person: PersonId,
    pub remember: bool,
}

#[async_trait]
pub trait CredentialStore: Send + Sync {
    async fn by_email(&self, email: &EmailAddress) -> Result<Option<Credentials>, StoreError>;
    async fn of_person(&self, person: PersonId) -> Result<Option<Credentials>, StoreError>;
    /// Stores the same password's hash with newer parameters, unless the stored one has changed meanwhile: then false.
    async fn rehash(&self, person: PersonId, old: &str, new: &str) -> Result<bool, StoreError>;
    /// Changes the password, ends all sessions but one and all links, and queues the notice.
    async fn set_password(
        &self,
        person: PersonId,
        password: &str,
        keep: SessionId,
        note: Entry,
        notice: Option<Outgoing>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Whether the person logged in on this device before.
    async fn knows_device(&self, person: PersonId, device: TokenHash) -> Result<bool, StoreError>;
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait SecondFactorStore: Send + Sync {
    /// Keeps a challenge. False where what it was proven by has changed, or the person is disabled since; then there is
    /// none.
    async fn challenge(
        &self,
        hash: TokenHash,
        challenge: Challenge,
        proven: Proven,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Counts a try at a challenge; `None` where there is none, or no try is left.
    async fn try_challenge(&self, hash: TokenHash, now: OffsetDateTime) -> Result<Option<Challenge>, StoreError>;
    /// False where there is none any more.
    async fn end_challenge(&self, hash: TokenHash) -> Result<bool, StoreError>;
    async fn second_factor(&self, person: PersonId) -> Result<Option<SecondFactor>, StoreError>;
    /// Takes a step; false where that or a later one was taken before.
    async fn take_step(&self, person: PersonId, step: i64) -> Result<bool, StoreError>;
    /// Keeps a secret that no code was shown for yet. One that is on stays.
    async fn propose(&self, person: PersonId, sealed_secret: Vec<u8>, now: OffsetDateTime) -> Result<(), StoreError>;
    /// Turns the proposed secret on, with its first step and the recovery codes, and ends all other sessions and all
    /// links.
    async fn turn_on(
        &self,
        on: TurnedOn,
        note: Entry,
        notice: Option<Outgoing>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Turns it off, recovery codes included, and ends all other sessions and all links.
    async fn turn_off(
        &self,
        person: PersonId,
        keep: SessionId,
        note: Entry,
        notice: Option<Outgoing>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    async fn recovery_codes(&self, person: PersonId) -> Result<Option<RecoveryCodes>, StoreError>;
    async fn set_recovery_codes(
        &self,
        person: PersonId,
        codes: RecoveryCodes,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Uses a code up; false where somebody did already.
    async fn take_recovery_code(
        &self,
        person: PersonId,
        hash: &[u8],
        note: Option<Entry>,
        notice: Option<Outgoing>,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError>;
    /// Whether every member of the user has to have a second factor.
    async fn require(
        &self,
        user: &UserId,
        is_required: bool,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
}

/// A second factor that is to be turned on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnedOn {
    pub person: PersonId,
    pub keep: SessionId,
    pub step: i64,
    pub codes: RecoveryCodes,
}

/// What a new person chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub name: String,
    /// The hash.
    pub password: String,
    pub language: Language,
}

/// Why a link did not do what it is for.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// It was used, or is too old, or never was.
    #[error("the link no longer works")]
    Gone,
    /// Somebody has the address meanwhile.
    #[error("the address belongs to somebody already")]
    Taken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What links from mails do. Each takes the link in the transaction of its effect.
#[async_trait]
pub trait MailLinkStore: Send + Sync {
    /// Makes the user with both accounts, and the person its owner.
    async fn sign_up(
        &self,
        link: TokenHash,
        user: NewUser,
        owner: Chosen,
        address: String,
    ) -> Result<PersonId, LinkError>;
    /// Sets the password, ends all sessions and links and forgets the wrong tries. The second factor stays.
    async fn reset_password(
        &self,
        link: TokenHash,
        password: &str,
        address: String,
        now: OffsetDateTime,
    ) -> Result<PersonId, LinkError>;
    /// Makes the owner of the address a member; the person too, where nobody has it, as `chosen`. Other invitations of
    /// the address to the user end, those that wait to be sent included.
    async fn join(
        &self,
        link: TokenHash,
        chosen: Option<Chosen>,
        address: String,
        now: OffsetDateTime,
    ) -> Result<(PersonId, UserId), LinkError>;
    /// Gives the person the address, tells the old one, and ends all sessions and links.
    async fn change_address(
        &self,
        link: TokenHash,
        address: String,
        now: OffsetDateTime,
    ) -> Result<PersonId, LinkError>;
}
