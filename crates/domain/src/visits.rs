//! Visits of people to the pages of an account, and what is new since the one before.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use crate::{AccountId, PersonId, StoreError, sessions::SEEN_EVERY};

/// A visit is over after this without a request: how analytics products count sessions
/// (<https://support.google.com/analytics/answer/12798876>).
pub const SILENCE: Duration = Duration::minutes(30);

/// A visit that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// When the person was last known to be there.
    pub seen_at: OffsetDateTime,
    /// When the visit before ended: its last request, up to [`SEEN_EVERY`] earlier. `None` in the first one.
    pub before_at: Option<OffsetDateTime>,
}

impl Visit {
    /// The visit at `now`, with what was known of it: none before the first.
    pub fn at(known: Option<Self>, now: OffsetDateTime) -> Self {
        match known {
            None => Self { seen_at: now, before_at: None },
            Some(Self { seen_at, .. }) if now - seen_at >= SILENCE => Self { seen_at: now, before_at: Some(seen_at) },
            Some(known) if now - known.seen_at >= SEEN_EVERY => Self { seen_at: now, ..known },
            Some(known) => known,
        }
    }
}

/// What became known of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct News {
    /// Anomalies that were detected.
    pub anomalies: i64,
    /// Insights that are open and told, by when they were first told: there may be room for one only days later.
    pub insights: i64,
    /// Alert rules that fired.
    pub alerts: i64,
    /// Connections that broke, and are broken still.
    pub broken: i64,
}

#[async_trait]
pub trait VisitStore: Send + Sync {
    /// Notes that a person looks at an account, as [`Visit::at`] has it.
    async fn visit(&self, account: AccountId, person: PersonId, now: OffsetDateTime) -> Result<Visit, StoreError>;
    /// What became known after an instant.
    async fn news(&self, account: AccountId, since: OffsetDateTime) -> Result<News, StoreError>;
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_visit_is_over_after_half_an_hour_of_silence() {
        let start = datetime!(2026-11-22 12:00 UTC);
        let first = Visit::at(None, start);
        assert_eq!(first, Visit { seen_at: start, before_at: None });
        assert_eq!(Visit::at(Some(first), start + Duration::minutes(4)), first);
        let goes_on = Visit::at(Some(first), start + Duration::minutes(29));
        assert_eq!(goes_on, Visit { seen_at: start + Duration::minutes(29), before_at: None });
        let second = Visit::at(Some(goes_on), start + Duration::minutes(59));
        assert_eq!(second.before_at, Some(start + Duration::minutes(29)));
        let later = Visit::at(Some(second), start + Duration::minutes(70));
        assert_eq!(later.before_at, second.before_at);
    }

    #[test]
    fn a_clock_that_goes_back_ends_no_visit() {
        let start = datetime!(2026-11-22 12:00 UTC);
        let first = Visit::at(None, start);
        assert_eq!(Visit::at(Some(first), start - Duration::hours(2)), first);
    }
}
