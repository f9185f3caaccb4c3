//! Logging in by password, and proving again who one is.
//!
//! A caller learns nothing of an address: for one that nobody has, as much is counted, read and computed as for others, and
//! the answer is the same.

use std::{net::IpAddr, sync::Arc};

use domain::{
    PersonId, StoreError, UserId,
    accounts::Mode,
    audit::{Action, Actor, AuditLog, Entry},
    language::Language,
    log_in::{Challenge, CredentialStore, Credentials},
    mail::{Mail, MailQueue, Notice, Outgoing},
    passwords::Password,
    people::EmailAddress,
    sessions::{Beginning, Device, NewSession, Session, SessionStore, Token},
    throttle::{Counted, Counter, ThrottleStore, Verdict},
};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use crate::{
    outage,
    passwords::{HashError, Match, Passwords, SALT_BYTES},
    second_factor::{FactorError, Proof, SecondFactors},
};

/// Wrong passwords in a row after which the person is told.
const MANY: i32 = 20;

/// Why it did not come to a decision.
#[derive(Debug, thiserror::Error)]
pub enum LogInError {
    /// Not before this has passed.
    #[error("to be tried again in {0}")]
    Wait(Duration),
    /// Only by a link from a mail.
    #[error("too many wrong passwords in a row")]
    Ended,
    #[error(transparent)]
    Factor(#[from] FactorError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<HashError> for LogInError {
    fn from(error: HashError) -> Self {
        Self::Factor(error.into())
    }
}

/// Who tries, and where.
#[derive(Debug, Clone)]
pub struct Attempt {
    pub from: IpAddr,
    pub device: Device,
    /// What the device is known by, if it ever was.
    pub known_by: Option<Token>,
    pub remember: bool,
}

/// What comes of the right or the wrong password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Wrong,
    /// The person is no member of any user any more.
    NoShop,
    /// The second factor is asked for next.
    Code(Token),
    In(Begun),
}

/// A session that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    pub session: Token,
    pub remember: bool,
    /// By what the device is to be known from now on, where it is new.
    pub device: Option<Token>,
}

/// What logging in needs.
#[derive(Clone)]
pub struct LogIn {
    pub credentials: Arc<dyn CredentialStore>,
    pub throttles: Arc<dyn ThrottleStore>,
    pub sessions: Arc<dyn SessionStore>,
    pub audit: Arc<dyn AuditLog>,
    pub mails: Arc<dyn MailQueue>,
    pub factors: SecondFactors,
    pub passwords: Passwords,
    pub token: fn() -> Token,
}

impl LogIn {
    /// A salt for a new password.
    pub fn salt(&self) -> [u8; SALT_BYTES] {
        let mut salt = [0; SALT_BYTES];
        salt.iter_mut().zip((self.token)().hash().0).for_each(|(byte, random)| *byte = random);
        salt
    }

    /// Logs in by address and password.
    ///
    /// # Errors
    /// [`LogInError`]
    pub async fn by_password(
        &self,
        email: &EmailAddress,
        password: Option<Password>,
        attempt: Attempt,
        now: OffsetDateTime,
    ) -> Result<Answer, LogInError> {
        let known = self.credentials.by_email(email).await?;
        let person = known.as_ref().map_or(PersonId(0), |known| known.person.id);
        let is_known_device = self.knows(person, &attempt).await?;
        let (of_person, of_network) = if is_known_device {
            (Counter::new(Counted::LoginOn, &person.to_string()), None)
        } else {
            let from = Counter::of_address(Counted::LoginFrom, attempt.from);
            (Counter::new(Counted::Login, email.as_str()), Some(from))
        };
        let counters: Vec<_> = [Some(of_person), of_network].into_iter().flatten().collect();
        let tries = self.count(&counters, now).await?;
        let mut known = known.filter(|known| known.person.disabled_at.is_none());
        if !self.is_right(known.as_mut(), password).await? {
            if let Some(known) = known {
                self.note_failure(known, attempt.from, tries == MANY, now);
            }
            return Ok(Answer::Wrong);
        }
        self.throttles.clear(&[of_person]).await?;
        // That of the network goes on without this try: else somebody's own account would reset it.
        if let Some(of_network) = of_network {
            self.throttles.give_back(&of_network).await?;
        }
        let Some(known) = known else { return Ok(Answer::Wrong) };
        if known.has_second_factor {
            let token = (self.token)();
            let challenge = Challenge { person, remember: attempt.remember };
            let is_kept = self.factors.store.challenge(token.hash(), challenge, known.proven(), now).await?;
            return Ok(if is_kept { Answer::Code(token) } else { Answer::Wrong });
        }
        self.begin(known, attempt, is_known_device, now).await
    }

    /// Goes on with the code of the second factor, or a recovery code. `None`: the password has to be shown again.
    ///
    /// # Errors
    /// [`LogInError`]
    pub async fn by_code(
        &self,
        challenge: &Token,
        code: &str,
        attempt: Attempt,
        now: OffsetDateTime,
    ) -> Result<Option<Answer>, LogInError> {
        let Some(Challenge { person, remember }) = self.factors.store.try_challenge(challenge.hash(), now).await?
        else {
            return Ok(None);
        };
        let known = self.credentials.of_person(person).await?;
        let Some(known) = known.filter(|known| known.person.disabled_at.is_none()) else { return Ok(None) };
        if self.proof(&known, code, attempt.from, now).await?.is_none() {
            self.note_failure(known, attempt.from, false, now);
            return Ok(Some(Answer::Wrong));
        }
        // A new password ends challenges; one that comes after this is seen when the session begins.
        if !self.factors.store.end_challenge(challenge.hash()).await? {
            return Ok(None);
        }
        let is_known_device = self.knows(person, &attempt).await?;
        let answer = self.begin(known, Attempt { remember, ..attempt }, is_known_device, now).await?;
        Ok((answer != Answer::Wrong).then_some(answer))
    }

    /// Proves again whose session it is, by password and, where there is one, second factor. Gives the session's new token.
    ///
    /// # Errors
    /// [`LogInError`]
    pub async fn confirm(
        &self,
        session: &Session,
        password: Option<Password>,
        code: &str,
        from: IpAddr,
        now: OffsetDateTime,
    ) -> Result<Option<Token>, LogInError> {
        let person = session.person.id;
        // A session is a device that is known.
        let counters = [Counter::new(Counted::LoginOn, &person.to_string())];
        self.count(&counters, now).await?;
        let Some(mut known) = self.credentials.of_person(person).await? else { return Ok(None) };
        if !self.is_right(Some(&mut known), password).await? {
            self.note_failure(known, from, false, now);
            return Ok(None);
        }
        if known.has_second_factor && self.proof(&known, code, from, now).await?.is_none() {
            self.note_failure(known, from, false, now);
            return Ok(None);
        }
        self.throttles.clear(&counters).await?;
        let token = (self.token)();
        self.sessions.renew(session.id, token.hash(), now).await?;
        Ok(Some(token))
    }

    /// Begins a session for who has just proved to have the address, by a link from a mail; `None` where a second factor is
    /// still to be shown, or the password has just changed, by logging in.
    ///
    /// # Errors
    /// [`LogInError`]
    pub async fn by_link(
        &self,
        person: PersonId,
        attempt: Attempt,
        now: OffsetDateTime,
    ) -> Result<Option<Begun>, LogInError> {
        let known = self.credentials.of_person(person).await?;
        let Some(known) = known.filter(|known| !known.has_second_factor) else { return Ok(None) };
        Ok(match self.begin(known, attempt, false, now).await? {
            Answer::In(begun) => Some(begun),
            Answer::Wrong | Answer::NoShop | Answer::Code(_) => None,
        })
    }

    async fn count(&self, counters: &[Counter], now: OffsetDateTime) -> Result<i32, LogInError> {
        let tally = self.throttles.count(counters, now).await?;
        match tally.verdict {
            Verdict::Go => Ok(tally.tries),
            Verdict::Wait(left) => Err(LogInError::Wait(left)),
            Verdict::Ended => Err(LogInError::Ended),
        }
    }

    /// Whether the password is the person's. It takes as long for nobody. A hash that is made again is known from then
    /// on.
    async fn is_right(&self, known: Option<&mut Credentials>, password: Option<Password>) -> Result<bool, LogInError> {
        let hash = known.as_deref().and_then(|known| known.password.clone());
        // One that is too long is nobody's, and compared as any other.
        let password = password.or_else(|| Password::entered(""));
        let Some(password) = password else { return Ok(false) };
        let is_entered = !password.expose().is_empty();
        let compared = self.passwords.compare(password.clone(), hash.clone()).await?;
        if let (Match::Outdated, Some(known), Some(old)) = (compared, known, &hash) {
            let new = self.passwords.hash(password.clone(), self.salt()).await?;
            if !self.credentials.rehash(known.person.id, old, &new).await? {
                // Another log-in was first, or the password is another one now.
                known.password = self.credentials.of_person(known.person.id).await?.and_then(|now| now.password);
                let compared = self.passwords.compare(password, known.password.clone()).await?;
                return Ok(is_entered && compared != Match::Wrong);
            }
            known.password = Some(new);
        }
        Ok(is_entered && compared != Match::Wrong)
    }

    async fn proof(
        &self,
        known: &Credentials,
        code: &str,
        from: IpAddr,
        now: OffsetDateTime,
    ) -> Result<Option<Proof>, LogInError> {
        let person = known.person.id;
        let counters = [Counter::new(Counted::Code, &person.to_string())];
        self.count(&counters, now).await?;
        let used = || (noted(known, Action::RecoveryCodeUsed, from), Some(told(known, Notice::RecoveryCodeUsed)));
        let proof = self.factors.prove(person, code, used, now).await?;
        if proof.is_some() {
            self.throttles.clear(&counters).await?;
        }
        Ok(proof)
    }

    /// Whether the person logged in on the device before.
    async fn knows(&self, person: PersonId, attempt: &Attempt) -> Result<bool, StoreError> {
        match &attempt.known_by {
            Some(token) => self.credentials.knows_device(person, token.hash()).await,
            None => Ok(false),
        }
    }

    /// Begins a session; [`Answer::Wrong`] where what the person has proven it by is not so any more.
    async fn begin(
        &self,
        known: Credentials,
        attempt: Attempt,
        is_known_device: bool,
        now: OffsetDateTime,
    ) -> Result<Answer, LogInError> {
        let Some(user) = known.user.clone() else { return Ok(Answer::NoShop) };
        let Attempt { from, device, known_by: _, remember } = attempt;
        let (token, new_device) = ((self.token)(), (!is_known_device).then(|| (self.token)()));
        let with = Beginning {
            proven: known.proven(),
            note: noted(&known, Action::LoggedIn, from),
            device: new_device.as_ref().map(Token::hash),
            notice: Some(told(&known, Notice::NewDevice)),
        };
        let person = known.person.id;
        let session = NewSession { hash: token.hash(), person, user, mode: Mode::Live, device, remember };
        let has_begun = self.sessions.begin(session, with, now).await?;
        Ok(if has_begun { Answer::In(Begun { session: token, remember, device: new_device }) } else { Answer::Wrong })
    }

    /// Notes a wrong password beside the answer, which else would come later than for an address that nobody has.
    fn note_failure(&self, known: Credentials, from: IpAddr, is_told: bool, now: OffsetDateTime) {
        let (audit, mails) = (self.audit.clone(), self.mails.clone());
        let noting = async move {
            if let Some(entry) = noted(&known, Action::LogInFailed, from) {
                audit.note(entry, now).await?;
            }
            if is_told {
                mails.put(told(&known, Notice::ManyFailures), None, now).await?;
            }
            Ok::<_, StoreError>(())
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with two statements, and nothing was promised to anybody"
        )]
        tokio::spawn(
            async move {
                if let Err(error) = noting.await {
                    outage::warn(&error, "a wrong password could not be noted");
                }
            }
            .in_current_span(),
        );
    }
}

fn noted(known: &Credentials, action: Action, from: IpAddr) -> Option<Entry> {
    let user: UserId = known.user.clone()?;
    // Of who shows a wrong password it is not known that it is the person.
    let by = match action {
        Action::LogInFailed => Actor::Nobody,
        _ => Actor::Person { id: known.person.id, name: known.person.name.clone() },
    };
    let mut entry = Entry::new(user, by, action, Some(from.to_string()));
    entry.target = (action == Action::LogInFailed).then(|| known.person.name.clone());
    Some(entry)
}

fn told(known: &Credentials, what: Notice) -> Outgoing {
    let language = known.person.language.unwrap_or(Language::English);
    Outgoing { to: known.person.email.clone(), language, mail: Mail::Notice { what } }
}
