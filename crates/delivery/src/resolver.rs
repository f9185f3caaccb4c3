//! Look-ups of names.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::AccountId;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

/// Looks up the addresses of a name. A port, so that tests can script the answers.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of a name, the preferred ones first, for a delivery of `account`.
    ///
    /// # Errors
    /// When the name is unknown or the name service fails.
    async fn resolve(&self, account: AccountId, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, _: AccountId, name: &str) -> io::Result<Vec<IpAddr>> {
        // The trailing dot keeps the search list of resolv.conf out: `api.default` must not become a cluster's service.
        let absolute = format!("{}.", name.strip_suffix('.').unwrap_or(name));
        let addresses = tokio::net::lookup_host((absolute, 0)).await?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}

/// Look-ups under way at once. Each holds a thread of the runtime for as long as the system takes, which is longer than
/// an attempt waits.
const MAX_LOOKUPS: usize = 64;
/// Those of one account: the rest is left to other accounts, whatever names it invents.
const MAX_LOOKUPS_PER_ACCOUNT: usize = 8;
/// How long an answer is used again. Every use checks its addresses again.
const REUSE: Duration = Duration::from_secs(5);
/// Answers kept before old ones are thrown out.
const MAX_ANSWERS: usize = 10_000;

type Answer = Result<Vec<IpAddr>, io::ErrorKind>;

/// A name, and the account that it is looked up for. Accounts do not wait for each other's look-ups: one may have to wait for
/// its account's places.
type Question = (AccountId, String);

/// Asks another resolver, but for a name only once at a time for an account, and for a limited number of names at once. A
/// look-up that is no longer waited for goes on and keeps its place, so that names whose servers hang cannot pile up
/// threads.
pub struct BoundedResolver {
    inner: Arc<dyn Resolver>,
    places: Arc<Semaphore>,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    answers: HashMap<String, (Vec<IpAddr>, Instant)>,
    asked: HashMap<Question, watch::Receiver<Option<Answer>>>,
    /// Of accounts that are asking.
    places_of: HashMap<AccountId, Arc<Semaphore>>,
}

impl Known {
    fn places_of(&mut self, account: AccountId) -> Arc<Semaphore> {
        let places = || Arc::new(Semaphore::new(MAX_LOOKUPS_PER_ACCOUNT));
        self.places_of.entry(account).or_insert_with(places).clone()
    }
}

impl BoundedResolver {
    /// Asks `inner`.
    pub fn new(inner: Arc<dyn Resolver>) -> Self {
        Self { inner, places: Arc::new(Semaphore::new(MAX_LOOKUPS)), known: Arc::default() }
    }

    /// An answer that is new enough, or the look-up to wait for, which is started if need be.
    fn answer(&self, account: AccountId, name: &str) -> Result<Vec<IpAddr>, watch::Receiver<Option<Answer>>> {
        let mut known = lock(&self.known);
        if let Some((addresses, since)) = known.answers.get(name)
            && since.elapsed() < REUSE
        {
            return Ok(addresses.clone());
        }
        let question = (account, name.to_owned());
        // A look-up that panicked has left no answer and never will.
        if let Some(asked) = known.asked.get(&question).filter(|asked| asked.has_changed().is_ok()) {
            return Err(asked.clone());
        }
        let (answered, answer) = watch::channel(None);
        known.asked.insert(question.clone(), answer.clone());
        let places = [known.places_of(account), self.places.clone()];
        #[expect(clippy::disallowed_methods, reason = "it ends with the answer, which is waited for")]
        tokio::spawn(look_up(self.inner.clone(), places, self.known.clone(), question, answered));
        Err(answer)
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks a name up when its account, and then the process, have a place for it.
async fn look_up(
    inner: Arc<dyn Resolver>,
    [of_account, of_all]: [Arc<Semaphore>; 2],
    known: Arc<Mutex<Known>>,
    question: Question,
    answered: watch::Sender<Option<Answer>>,
) {
    let place_of_account = of_account.acquire().await;
    let place = of_all.acquire().await;
    let (account, name) = &question;
    let answer = inner.resolve(*account, name).await.map_err(|error| error.kind());
    drop((place, place_of_account));
    let mut known = lock(&known);
    known.asked.remove(&question);
    drop(of_account);
    let (account, name) = question;
    if known.places_of.get(&account).is_some_and(|places| Arc::strong_count(places) == 1) {
        known.places_of.remove(&account);
    }
    if let Ok(addresses) = &answer {
        if known.answers.len() >= MAX_ANSWERS {
            known.answers.retain(|_, (_, since)| since.elapsed() < REUSE);
        }
        known.answers.insert(name, (addresses.clone(), Instant::now()));
    }
    answered.send_replace(Some(answer));
}

#[async_trait]
impl Resolver for BoundedResolver {
    async fn resolve(&self, account: AccountId, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = match self.answer(account, name) {
            Ok(addresses) => return Ok(addresses),
            Err(asked) => asked,
        };
        let answer = asked.wait_for(Option::is_some).await.map_err(|_| io::ErrorKind::Other)?.clone();
        Ok(answer.unwrap_or(Err(io::ErrorKind::Other))?)
    }
}

#[cfg(test)]
mod tests;
