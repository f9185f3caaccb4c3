//! Looks at every part of the service once a minute, and stores what it saw.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use domain::{
    StoreError,
    incidents::IncidentStore,
    uptime::{Component, MAX_DELAY_HOURS, Outcome, Probe, ProbeStore, minute_of},
};
use time::{Duration, OffsetDateTime};

use crate::outage;

/// What a look at a component found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looked {
    pub outcome: Outcome,
    pub latency_ms: Option<i64>,
}

/// A way to look at the parts of the service.
#[async_trait]
pub trait Look: Send + Sync {
    /// Looks at every component but those that this process has no way to, or of which what knows about it does not answer.
    async fn look(&self, now: OffsetDateTime) -> Vec<(Component, Looked)>;
}

/// A process that looks. What cannot be stored waits in memory, so that an outage of the database is told afterwards.
pub struct Prober {
    source: String,
    look: Arc<dyn Look>,
    store: Arc<dyn ProbeStore>,
    incidents: Arc<dyn IncidentStore>,
    /// Oldest first.
    waiting: Mutex<VecDeque<Probe>>,
}

impl Prober {
    /// `source` tells this process from every other one.
    pub fn new(
        source: String,
        look: Arc<dyn Look>,
        store: Arc<dyn ProbeStore>,
        incidents: Arc<dyn IncidentStore>,
    ) -> Self {
        Self { source, look, store, incidents, waiting: Mutex::default() }
    }

    /// Looks at everything, in the minute that `now` is in, stores what is not stored yet, and opens, moves and ends incidents by
    /// the minutes that are over.
    pub async fn minute(&self, now: OffsetDateTime) {
        let found = self.look.look(now).await;
        let all: Vec<Probe> = {
            let mut waiting = self.waiting();
            waiting.extend(found.into_iter().map(|(component, Looked { outcome, latency_ms })| Probe {
                component,
                minute: minute_of(now),
                source: self.source.clone(),
                outcome,
                latency_ms,
            }));
            let oldest = minute_of(now) - Duration::hours(MAX_DELAY_HOURS);
            waiting.retain(|probe| probe.minute > oldest);
            waiting.iter().cloned().collect()
        };
        match self.store.record(&all).await {
            Ok(()) => drop(self.waiting().drain(..all.len())),
            // Incidents follow from probes.
            Err(error) => {
                if matches!(error, StoreError::Unavailable(_)) {
                    self.database_takes_no_writes(minute_of(now));
                }
                return outage::warn(&error, "probes cannot be stored; they wait");
            }
        }
        if let Err(error) = self.incidents.advance(now).await {
            outage::warn(&error, "incidents cannot be brought up to date");
        }
    }

    /// A database that answers and takes no writes, as one whose disk is full, does half of its work.
    fn database_takes_no_writes(&self, minute: OffsetDateTime) {
        let mut waiting = self.waiting();
        let of_now = waiting.iter_mut().rev().take_while(|probe| probe.minute == minute);
        of_now
            .filter(|probe| probe.component == Component::Database && probe.outcome == Outcome::Up)
            .for_each(|probe| probe.outcome = Outcome::Degraded);
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Probe>> {
        // No code that may panic runs under the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use domain::{incidents::MockIncidentStore, uptime::MockProbeStore};
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 11:00:12 UTC);

    /// Sees the database as it is told to and knows of nothing else.
    struct OneEye(Outcome);

    #[async_trait]
    impl Look for OneEye {
        async fn look(&self, _: OffsetDateTime) -> Vec<(Component, Looked)> {
            vec![(Component::Database, Looked { outcome: self.0, latency_ms: None })]
        }
    }

    fn minutes(probes: &[Probe]) -> Vec<i64> {
        assert!(probes.iter().all(|probe| probe.component == Component::Database && probe.source == "a"));
        probes.iter().map(|probe| (probe.minute - minute_of(NOW)).whole_minutes()).collect()
    }

    #[tokio::test]
    async fn probes_wait_for_the_database_for_a_day_at_most() {
        let mut store = MockProbeStore::new();
        let down = |_: &[Probe]| Err(StoreError::Unavailable("gone".into()));
        store.expect_record().times(1_500).returning(down);
        store.expect_record().times(1).returning(|probes| {
            // The last day, the minute that is looked at included.
            assert_eq!(minutes(probes), (61..=1_500).collect::<Vec<_>>());
            Ok(())
        });
        store.expect_record().times(1).returning(|probes| {
            assert_eq!(minutes(probes), [1_501]);
            Ok(())
        });
        let mut incidents = MockIncidentStore::new();
        incidents.expect_advance().times(2).returning(|_| Ok(()));
        let prober = Prober::new("a".to_owned(), Arc::new(OneEye(Outcome::Down)), Arc::new(store), Arc::new(incidents));
        for minute in 0..=1_501 {
            prober.minute(NOW + Duration::minutes(minute)).await;
        }
    }

    #[tokio::test]
    async fn a_database_that_answers_and_takes_no_writes_is_degraded() {
        for (refusal, seen) in [
            (StoreError::Unavailable("No space left on device".into()), Outcome::Degraded),
            (StoreError::Overloaded("the statement takes too long".into()), Outcome::Up),
        ] {
            let mut store = MockProbeStore::new();
            store.expect_record().times(1).return_once(|_| Err(refusal));
            store.expect_record().times(1).returning(move |probes| {
                let outcomes: Vec<_> = probes.iter().map(|probe| probe.outcome).collect();
                assert_eq!(outcomes, [seen, Outcome::Up]);
                Ok(())
            });
            let mut incidents = MockIncidentStore::new();
            incidents.expect_advance().times(1).returning(|_| Ok(()));
            let eye = Arc::new(OneEye(Outcome::Up));
            let prober = Prober::new("a".to_owned(), eye, Arc::new(store), Arc::new(incidents));
            prober.minute(NOW).await;
            prober.minute(NOW + Duration::MINUTE).await;
        }
    }
}
