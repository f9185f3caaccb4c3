//! Asking the name service.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

/// Looks up the addresses of a name. A port, so that tests can script the answers.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of a name, the preferred ones first.
    ///
    /// # Errors
    /// When the name is unknown or the name service fails.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The trailing dot keeps the search list of resolv.conf out: `api.default` must not become a cluster's service.
        let absolute = format!("{}.", name.strip_suffix('.').unwrap_or(name));
        let addresses = tokio::net::lookup_host((absolute, 0)).await?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}

/// Look-ups under way at once. Each holds a thread of the runtime for as long as the system takes, which is longer than
/// an attempt waits.
const MAX_LOOKUPS: usize = 64;
/// How long an answer is used again. Every use checks its addresses anew.
const REUSE: Duration = Duration::from_secs(5);
/// Answers kept before old ones are thrown out.
const MAX_ANSWERS: usize = 10_000;

type Answer = Result<Vec<IpAddr>, io::ErrorKind>;

/// Asks another resolver, but for a name only once at a time and for a limited number of names at once. A look-up that
/// nobody waits for any more goes on and keeps its place, so that names whose servers hang cannot pile up threads.
pub struct BoundedResolver {
    inner: Arc<dyn Resolver>,
    places: Arc<Semaphore>,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    answers: HashMap<String, (Vec<IpAddr>, Instant)>,
    asked: HashMap<String, watch::Receiver<Option<Answer>>>,
}

impl BoundedResolver {
    /// Asks `inner`.
    pub fn new(inner: Arc<dyn Resolver>) -> Self {
        Self { inner, places: Arc::new(Semaphore::new(MAX_LOOKUPS)), known: Arc::default() }
    }

    /// An answer that is new enough, or the look-up to wait for, which is started if need be.
    fn answer(&self, name: &str) -> Result<Vec<IpAddr>, watch::Receiver<Option<Answer>>> {
        let mut known = lock(&self.known);
        if let Some((addresses, since)) = known.answers.get(name)
            && since.elapsed() < REUSE
        {
            return Ok(addresses.clone());
        }
        if let Some(asked) = known.asked.get(name) {
            return Err(asked.clone());
        }
        let (answered, answer) = watch::channel(None);
        known.asked.insert(name.to_owned(), answer.clone());
        #[expect(clippy::disallowed_methods, reason = "it ends with the answer, which is waited for")]
        tokio::spawn(look_up(self.inner.clone(), self.places.clone(), self.known.clone(), name.to_owned(), answered));
        Err(answer)
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn look_up(
    inner: Arc<dyn Resolver>,
    places: Arc<Semaphore>,
    known: Arc<Mutex<Known>>,
    name: String,
    answered: watch::Sender<Option<Answer>>,
) {
    let place = places.acquire().await;
    let answer = inner.resolve(&name).await.map_err(|error| error.kind());
    drop(place);
    let mut known = lock(&known);
    known.asked.remove(&name);
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
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = match self.answer(name) {
            Ok(addresses) => return Ok(addresses),
            Err(asked) => asked,
        };
        let answer = asked.wait_for(Option::is_some).await.map_err(|_| io::ErrorKind::Other)?.clone();
        Ok(answer.unwrap_or(Err(io::ErrorKind::Other))?)
    }
}

#[cfg(test)]
mod tests;
