//! Hashing of passwords: Argon2id with the parameters that OWASP's Password Storage Cheat Sheet gives first (19 MiB, 2 passes, 1
//! lane), on threads of their own, and never more than a few at once: each takes its memory and a core. Their threads run
//! when nothing else wants the processor: an attack on passwords slows down log-ins, and no other request.

use std::{sync::Arc, thread::available_parallelism};

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash},
};
use domain::passwords::Password;
use rayon::{ThreadPool, ThreadPoolBuilder};
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use tokio::sync::{Semaphore, oneshot};

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Hashes at once at most. On a small machine there are fewer: half of the processors are left to requests.
const MOST_AT_ONCE: usize = 4;
/// How many may wait for their turn, which takes some tens of milliseconds each. Who comes then is told to try again: a
/// longer queue would only grow under an attack.
const WAITING: usize = 8;

/// Bytes of a salt (RFC 9106, section 3.1).
pub const SALT_BYTES: usize = 16;
/// Bytes that are derived from a recovery code.
const DERIVED_BYTES: usize = 32;

/// Why nothing was hashed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    /// Too many are at it.
    #[error("too many passwords are being looked at")]
    Busy,
    #[error("hashing a password: {0}")]
    Internal(String),
}

fn internal(error: impl std::fmt::Display) -> HashError {
    HashError::Internal(error.to_string())
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    Wrong,
    Right,
    /// The hash was made with other parameters than today's, and should be made again.
    Outdated,
}

/// Hashes passwords. Cloning shares the number that may be at it.
#[derive(Clone)]
pub struct Passwords {
    argon: Argon2<'static>,
    /// To be at it or to wait.
    places: Arc<Semaphore>,
    threads: Arc<ThreadPool>,
    /// A hash that no password has, for addresses that nobody has.
    nobodys: Arc<str>,
}

impl Passwords {
    /// # Errors
    /// [`HashError::Internal`] when the library refuses the parameters, or no thread can be started.
    pub fn new() -> Result<Self, HashError> {
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(internal)?;
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let nobodys = argon.hash_password_with_salt(&[0; 32], &[0; SALT_BYTES]).map_err(internal)?;
        let at_once = (available_parallelism().map_or(1, usize::from) / 2).clamp(1, MOST_AT_ONCE);
        let threads = ThreadPoolBuilder::new()
            .num_threads(at_once)
            .thread_name(|number| format!("password-{number}"))
            .start_handler(|_| give_way())
            // The caller sees that there is no answer.
            .panic_handler(|_| {})
            .build();
        Ok(Self {
            argon,
            places: Arc::new(Semaphore::new(at_once + WAITING)),
            threads: Arc::new(threads.map_err(internal)?),
            nobodys: nobodys.to_string().into(),
        })
    }

    /// A hash as a PHC string. The salt is random, another one each time.
    ///
    /// # Errors
    /// [`HashError`]
    pub async fn hash(&self, password: Password, salt: [u8; SALT_BYTES]) -> Result<String, HashError> {
        self.work(move |argon| {
            let hash = argon.hash_password_with_salt(password.expose().as_bytes(), &salt).map_err(internal)?;
            Ok(hash.to_string())
        })
        .await
    }

    /// Whether the password is that of the hash. Without a hash it takes as long, and is wrong.
    ///
    /// # Errors
    /// [`HashError`]
    pub async fn compare(&self, password: Password, hash: Option<String>) -> Result<Match, HashError> {
        let nobodys = self.nobodys.clone();
        self.work(move |argon| {
            let stored = PasswordHash::new(hash.as_deref().unwrap_or(&nobodys)).map_err(internal)?;
            let is_right = argon.verify_password(password.expose().as_bytes(), &stored).is_ok();
            let is_current = Params::try_from(&stored)
                .is_ok_and(|params| (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, LANES));
            Ok(match (is_right && hash.is_some(), is_current) {
                (false, _) => Match::Wrong,
                (true, true) => Match::Right,
                (true, false) => Match::Outdated,
            })
        })
        .await
    }

    /// What is kept of recovery codes, all with the same salt: whichever of them is entered is found by one computation.
    ///
    /// # Errors
    /// [`HashError`]
    pub async fn derive(&self, codes: Vec<String>, salt: Vec<u8>) -> Result<Vec<Vec<u8>>, HashError> {
        self.work(move |argon| {
            let derive = |code: &String| {
                let mut derived = vec![0; DERIVED_BYTES];
                argon.hash_password_into(code.as_bytes(), &salt, &mut derived).map_err(internal)?;
                Ok(derived)
            };
            codes.iter().map(derive).collect()
        })
        .await
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Argon2<'static>) -> Result<T, HashError> + Send + 'static,
    ) -> Result<T, HashError> {
        // Held until the work ends, also when the caller is gone by then.
        let place = self.places.clone().try_acquire_owned().map_err(|_| HashError::Busy)?;
        let (answer, answered) = oneshot::channel();
        let argon = self.argon.clone();
        self.threads.spawn(move || {
            let _ = answer.send(work(&argon));
            drop(place);
        });
        answered.await.map_err(internal)?
    }
}

/// Makes this thread run only when no other wants the processor (`SCHED_IDLE`, sched(7)): at the lowest nice value it would
/// still hold up requests, whose threads do not preempt others where the service runs as `SCHED_BATCH`. Where that is
/// refused, it stays as it is.
fn give_way() {
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy) {
        tracing::warn!(?error, "passwords are hashed at the priority of requests");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(text: &str) -> Password {
        Password::entered(text).unwrap()
    }

    #[tokio::test]
    async fn a_password_is_known_by_its_hash() {
        let passwords = Passwords::new().unwrap();
        let hash = passwords.hash(password("correct horse battery"), [7; SALT_BYTES]).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$BwcHBwcHBwcHBwcHBwcHBw$"), "{hash}");
        let compare = async |text: &str, hash: Option<String>| passwords.compare(password(text), hash).await.unwrap();
        assert_eq!(compare("correct horse battery", Some(hash.clone())).await, Match::Right);
        assert_eq!(compare("correct horse batterY", Some(hash)).await, Match::Wrong);
        assert_eq!(compare("correct horse battery", None).await, Match::Wrong);
        assert_eq!(compare(&"\0".repeat(32), None).await, Match::Wrong, "not even the one that nobody has");
    }

    #[tokio::test]
    async fn a_hash_of_lesser_parameters_is_made_again() {
        let weak = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8 * 1024, 1, 1, None).unwrap());
        let hash = weak.hash_password_with_salt(b"correct horse battery", &[7; SALT_BYTES]).unwrap().to_string();
        let compared = Passwords::new().unwrap().compare(password("correct horse battery"), Some(hash)).await;
        assert_eq!(compared, Ok(Match::Outdated));
    }

    #[tokio::test]
    async fn more_than_a_few_are_sent_away() {
        let passwords = Passwords::new().unwrap();
        let places = passwords.places.available_permits();
        let all = (0..20).map(|_| passwords.compare(password("correct horse battery"), None));
        let ended = futures_util::future::join_all(all).await;
        let [looked_at, sent_away] = [Ok(Match::Wrong), Err(HashError::Busy)]
            .map(|expected| ended.iter().filter(|result| **result == expected).count());
        assert_eq!((looked_at, sent_away), (places, 20 - places));
    }

    #[test]
    fn requests_go_first() {
        let policy = Passwords::new().unwrap().threads.install(thread_priority::thread_schedule_policy);
        assert_eq!(policy, Ok(ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle)));
    }

    #[tokio::test]
    async fn codes_of_one_salt_are_told_apart() {
        let passwords = Passwords::new().unwrap();
        let codes = ["aaaa".to_owned(), "bbbb".to_owned()];
        let derived = passwords.derive(codes.to_vec(), vec![7; SALT_BYTES]).await.unwrap();
        assert_ne!(derived[0], derived[1]);
        assert_eq!(passwords.derive(vec![codes[1].clone()], vec![7; SALT_BYTES]).await.unwrap(), derived[1..]);
    }
}
