//! How the service fares: what each process does every minute to find out, and what is told to everyone.

mod cache;
mod prober;

use std::sync::Arc;

use domain::{
    StoreError,
    incidents::{Book, IncidentStore},
    uptime::{ProbeStore, Record},
};
use time::OffsetDateTime;

pub use cache::{Aged, Cache};
pub use prober::{Look, Looked, Prober};

/// What the public pages are made from, read once a minute at most, however many ask.
pub struct StatusPages {
    probes: Arc<dyn ProbeStore>,
    record: Cache<Record>,
    incidents: Arc<dyn IncidentStore>,
    book: Cache<Book>,
}

impl StatusPages {
    pub fn new(probes: Arc<dyn ProbeStore>, incidents: Arc<dyn IncidentStore>) -> Self {
        Self { probes, record: Cache::default(), incidents, book: Cache::default() }
    }

    /// What was seen of the service, as of the last minute that the database answered.
    ///
    /// # Errors
    /// [`StoreError`] when it has not answered yet.
    pub async fn record(&self, now: OffsetDateTime) -> Result<Aged<Record>, StoreError> {
        let read = async || {
            let (since, until) = Record::window(now);
            let first = self.probes.first().await?;
            Ok(Record::new(now, first, &self.probes.minutes(since, until).await?))
        };
        self.record.get(now, read).await
    }

    /// The incidents, as of the last minute that the database answered.
    ///
    /// # Errors
    /// [`StoreError`] when it has not answered yet.
    pub async fn incidents(&self, now: OffsetDateTime) -> Result<Aged<Book>, StoreError> {
        self.book.get(now, async || Ok(Book::new(now, self.incidents.all().await?))).await
    }
}
