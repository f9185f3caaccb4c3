//! The second factor: codes by time (TOTP, RFC 6238) and, where the device is lost, recovery codes.

use std::sync::Arc;

use domain::{
    PersonId, StoreError,
    audit::{Action, Actor, Entry},
    log_in::{RECOVERY_CODES, RecoveryCodes, SecondFactorStore, TurnedOn, totp_binding},
    mail::{Mail, Notice, Outgoing},
    sealing::{SealError, Sealer},
    sessions::{Session, Token},
};
use time::OffsetDateTime;
use totp_rs::{Builder, Secret, Totp};

use crate::passwords::{HashError, Passwords, SALT_BYTES};

/// What authenticator apps list the secret under.
const ISSUER: &str = "Business Analytics";
/// Bytes of a secret (RFC 4226, section 4).
const SECRET_BYTES: usize = 20;
/// Bytes of a recovery code: 80 bits.
const CODE_BYTES: usize = 10;

/// Why it did not come to a decision.
#[derive(Debug, thiserror::Error)]
pub enum FactorError {
    #[error(transparent)]
    Hash(#[from] HashError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the second factor's library: {0}")]
    Internal(String),
}

/// What proved to be the second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    Code,
    RecoveryCode,
}

/// Second factors of people.
#[derive(Clone)]
pub struct SecondFactors {
    pub store: Arc<dyn SecondFactorStore>,
    pub sealer: Arc<dyn Sealer>,
    pub passwords: Passwords,
    pub token: fn() -> Token,
}

/// A secret as an app takes it.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown {
    /// `otpauth://totp/…`, for a QR code.
    pub url: String,
    /// In base32.
    pub secret: String,
}

impl SecondFactors {
    /// Thirty-two random bytes: a hash of as many.
    fn random(&self) -> [u8; 32] {
        (self.token)().hash().0
    }

    /// Makes a secret that is no factor until a code of it was shown.
    ///
    /// # Errors
    /// [`FactorError`]
    pub async fn propose(&self, person: PersonId, now: OffsetDateTime) -> Result<(), FactorError> {
        let secret: Vec<u8> = self.random().into_iter().take(SECRET_BYTES).collect();
        let sealed = self.sealer.seal(totp_binding(person), &secret)?;
        Ok(self.store.propose(person, sealed, now).await?)
    }

    /// The proposed secret; none where there is none, or it is on already.
    ///
    /// # Errors
    /// [`FactorError`]
    pub async fn proposed(&self, person: PersonId, email: &str) -> Result<Option<Shown>, FactorError> {
        let Some(factor) = self.store.second_factor(person).await?.filter(|factor| !factor.is_on) else {
            return Ok(None);
        };
        let secret = self.sealer.open(totp_binding(person), &factor.sealed_secret)?;
        let totp = totp(&secret, email)?;
        let url = totp.to_url().map_err(|error| FactorError::Internal(error.to_string()))?;
        Ok(Some(Shown { url, secret: Secret::from(secret).to_base32() }))
    }

    /// Turns the proposed secret on when the code is one of it, and gives the recovery codes, which nobody sees again.
    ///
    /// # Errors
    /// [`FactorError`]
    pub async fn turn_on(
        &self,
        session: &Session,
        code: &str,
        address: String,
        now: OffsetDateTime,
    ) -> Result<Option<Vec<String>>, FactorError> {
        let person = session.person.id;
        let Some(factor) = self.store.second_factor(person).await?.filter(|factor| !factor.is_on) else {
            return Ok(None);
        };
        let Some(step) = self.step(person, &factor.sealed_secret, code, now)? else { return Ok(None) };
        let (shown, codes) = self.new_codes().await?;
        let note = by(session, Action::SecondFactorAdded, address);
        let notice = told(session, Notice::SecondFactorAdded);
        let on = TurnedOn { person, keep: session.id, step, codes };
        self.store.turn_on(on, note, notice, now).await?;
        Ok(Some(shown))
    }

    /// # Errors
    /// [`FactorError`]
    pub async fn turn_off(&self, session: &Session, address: String, now: OffsetDateTime) -> Result<(), FactorError> {
        let note = by(session, Action::SecondFactorRemoved, address);
        let notice = told(session, Notice::SecondFactorRemoved);
        Ok(self.store.turn_off(session.person.id, session.id, note, notice, now).await?)
    }

    /// New recovery codes; the others are void.
    ///
    /// # Errors
    /// [`FactorError`]
    pub async fn renew_codes(
        &self,
        session: &Session,
        address: String,
        now: OffsetDateTime,
    ) -> Result<Vec<String>, FactorError> {
        let (shown, codes) = self.new_codes().await?;
        let note = by(session, Action::RecoveryCodesMade, address);
        self.store.set_recovery_codes(session.person.id, codes, note, now).await?;
        Ok(shown)
    }

    async fn new_codes(&self) -> Result<(Vec<String>, RecoveryCodes), FactorError> {
        let code = |_| Secret::from(self.random().into_iter().take(CODE_BYTES).collect::<Vec<_>>()).to_base32();
        let codes: Vec<String> = (0..RECOVERY_CODES).map(code).collect();
        let salt: Vec<u8> = self.random().into_iter().take(SALT_BYTES).collect();
        let hashes = self.passwords.derive(codes.clone(), salt.clone()).await?;
        Ok((codes.iter().map(|code| grouped(code)).collect(), RecoveryCodes { salt, hashes }))
    }

    /// Whether what is entered is a code that was not used yet, which uses it up. `note` says for which shop a recovery code is
    /// noted.
    ///
    /// # Errors
    /// [`FactorError`]
    pub async fn prove(
        &self,
        person: PersonId,
        entered: &str,
        used: impl FnOnce() -> (Option<Entry>, Option<Outgoing>),
        now: OffsetDateTime,
    ) -> Result<Option<Proof>, FactorError> {
        let entered: String = entered.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let Some(factor) = self.store.second_factor(person).await?.filter(|factor| factor.is_on) else {
            return Ok(None);
        };
        if let Some(step) = self.step(person, &factor.sealed_secret, &entered, now)? {
            return Ok(self.store.take_step(person, step).await?.then_some(Proof::Code));
        }
        let is_long = entered.len() == CODE_BYTES * 8 / 5;
        let Some(codes) = self.store.recovery_codes(person).await?.filter(|_| is_long) else { return Ok(None) };
        let derived = self.passwords.derive(vec![entered.to_ascii_uppercase()], codes.salt).await?;
        let Some(hash) = derived.first().filter(|hash| codes.hashes.contains(hash)) else { return Ok(None) };
        let (note, notice) = used();
        let is_taken = self.store.take_recovery_code(person, hash, note, notice, now).await?;
        Ok(is_taken.then_some(Proof::RecoveryCode))
    }

    /// The step whose code it is, of the present one and its neighbours.
    fn step(
        &self,
        person: PersonId,
        sealed: &[u8],
        code: &str,
        now: OffsetDateTime,
    ) -> Result<Option<i64>, FactorError> {
        let totp = totp(&self.sealer.open(totp_binding(person), sealed)?, "")?;
        let code: String = code.chars().filter(char::is_ascii_digit).collect();
        let seconds = u64::try_from(now.unix_timestamp()).unwrap_or_default();
        let step = (code.len() == 6).then(|| totp.check(&code, seconds)).flatten();
        Ok(step.and_then(|step| i64::try_from(step).ok()))
    }
}

fn totp(secret: &[u8], email: &str) -> Result<Totp, FactorError> {
    let builder = Builder::new().with_secret(secret.to_vec()).with_issuer(Some(ISSUER)).with_account_name(email);
    builder.build().map_err(|error| FactorError::Internal(error.to_string()))
}

/// In groups of four, to be written down.
fn grouped(code: &str) -> String {
    let letters: Vec<char> = code.to_ascii_lowercase().chars().collect();
    letters.chunks(4).map(|four| four.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

/// What is noted of whom the session belongs to.
pub fn by(session: &Session, action: Action, address: String) -> Entry {
    let person = &session.person;
    let by = Actor::Person { id: person.id, name: person.name.clone() };
    Entry::new(session.account.user_id.clone(), by, action, Some(address))
}

/// What the person of the session is told by mail.
pub fn told(session: &Session, what: Notice) -> Option<Outgoing> {
    let language = session.person.language.unwrap_or(session.account.locale.language);
    Some(Outgoing { to: session.person.email.clone(), language, mail: Mail::Notice { what } })
}

#[cfg(test)]
mod tests {
    use domain::{
        log_in::{MockSecondFactorStore, SecondFactor},
        sealing::MockSealer,
    };
    use time::macros::datetime;

    use super::*;

    const ANA: PersonId = PersonId(7);

    /// The secret of RFC 6238, appendix B.
    fn factors(last_step: i64) -> SecondFactors {
        let (mut store, mut sealer) = (MockSecondFactorStore::new(), MockSealer::new());
        let factor = SecondFactor { sealed_secret: b"sealed".to_vec(), last_step, is_on: true };
        store.expect_second_factor().returning(move |_| Ok(Some(factor.clone())));
        store.expect_take_step().returning(move |_, step| Ok(step > last_step));
        store.expect_recovery_codes().returning(|_| Ok(None));
        sealer.expect_open().returning(|binding, _| {
            assert_eq!((binding.purpose, binding.row), ("totp_secret", 7));
            Ok(b"12345678901234567890".to_vec())
        });
        let passwords = Passwords::new().unwrap();
        let token = || Token::generate(0..=255);
        SecondFactors { store: Arc::new(store), sealer: Arc::new(sealer), passwords, token }
    }

    async fn proved(last_step: i64, code: &str, now: OffsetDateTime) -> Option<Proof> {
        factors(last_step).prove(ANA, code, || (None, None), now).await.unwrap()
    }

    /// 94287082 at 59 s and 07081804 at 1,111,111,109 s, of eight digits; an app shows the last six.
    #[tokio::test]
    async fn the_codes_are_those_of_the_standard() {
        let now = datetime!(1970-01-01 00:00:59 UTC);
        assert_eq!(proved(0, "287 082", now).await, Some(Proof::Code));
        assert_eq!(proved(0, "287083", now).await, None);
        let now = datetime!(2005-03-18 01:58:29 UTC);
        assert_eq!(proved(0, "081804", now).await, Some(Proof::Code));
        for seconds in [-30, 30] {
            assert_eq!(proved(0, "081804", now + time::Duration::seconds(seconds)).await, Some(Proof::Code));
        }
        assert_eq!(proved(0, "081804", now + time::Duration::seconds(90)).await, None);
    }

    #[tokio::test]
    async fn a_code_that_was_used_is_used_up() {
        let now = datetime!(1970-01-01 00:00:59 UTC);
        assert_eq!(proved(1, "287082", now).await, None);
    }

    #[test]
    fn a_recovery_code_is_written_in_groups() {
        assert_eq!(grouped("ABCDEFGHIJKLMNOP"), "abcd-efgh-ijkl-mnop");
    }
}
