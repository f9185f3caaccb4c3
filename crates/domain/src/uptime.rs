//! Whether the service was there: what probes saw of its parts, minute by minute, and the arithmetic of the public figures.
//!
//! A minute in which nobody looked is missing: it counts neither as up nor as down, and is told as a gap. Percentages are
//! rounded down, so that 100 stands for no bad minute at all.

mod report;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use time::{Duration, OffsetDateTime};

use crate::error::StoreError;
pub use report::{Checks, ComponentUptime, Gap, Hour, Latency, Report, Share, Status};

text_enum! {
    /// A part of the service that is looked at.
    Component {
        Api = "api",
        Database = "database",
        Jobs = "jobs",
        Webhooks = "webhooks",
        /// Nothing looks at it yet.
        Social = "social",
    }
}

text_enum! {
    /// What a look found.
    Outcome { Up = "up", Degraded = "degraded", Down = "down" }
}

/// The source of probes from outside; every other one is a process of the service.
pub const EXTERNAL: &str = "external";
/// The longest window that is reported, in hours.
pub const MAX_HOURS: i64 = 168;
/// How long probes are kept, in days.
pub const RETENTION_DAYS: i64 = 90;
/// How long a probe may be on its way, in hours: probes that could not be stored wait for as long, and one from outside may be as
/// old.
pub const MAX_DELAY_HOURS: i64 = 24;

/// One look at a component. A source has one a minute: the first counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub component: Component,
    /// The beginning of the minute.
    pub minute: OffsetDateTime,
    pub source: String,
    pub outcome: Outcome,
    pub latency_ms: Option<i64>,
}

/// The beginning of the minute of an instant.
pub const fn minute_of(at: OffsetDateTime) -> OffsetDateTime {
    at.truncate_to_minute()
}

/// How many sources saw what of a component in a minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub up: i64,
    pub degraded: i64,
    pub down: i64,
    /// Somebody outside saw it down.
    pub down_outside: bool,
    /// Mean of the sources that measured one.
    pub latency_ms: Option<i64>,
}

impl Tally {
    /// What the minute was; none if nobody looked. Down is what somebody outside or everybody saw down: a process that alone does
    /// not reach a component says more about itself.
    pub const fn outcome(&self) -> Option<Outcome> {
        let Self { up, degraded, down, down_outside, .. } = *self;
        if up + degraded + down == 0 {
            return None;
        }
        Some(if down_outside || up + degraded == 0 {
            Outcome::Down
        } else if degraded + down > 0 {
            Outcome::Degraded
        } else {
            Outcome::Up
        })
    }
}

/// What was seen of a component in a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minute {
    pub component: Component,
    pub minute: OffsetDateTime,
    pub tally: Tally,
}

/// What a minute was, and how long an answer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    outcome: Outcome,
    latency_ms: Option<i64>,
}

/// What was seen in the [`MAX_HOURS`] before an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// When it was read.
    pub read_at: OffsetDateTime,
    /// The first minute that anybody ever looked in, as far as it is known.
    first: Option<OffsetDateTime>,
    /// What was seen in each minute of the window, oldest first.
    seen: BTreeMap<Component, Vec<Option<Seen>>>,
}

/// Minutes of the longest window.
const MAX_MINUTES: i64 = MAX_HOURS * 60;

impl Record {
    /// The window that ends with the minute before the one that `read_at` is in: that one is not over.
    pub fn window(read_at: OffsetDateTime) -> (OffsetDateTime, OffsetDateTime) {
        let until = minute_of(read_at);
        (until - Duration::minutes(MAX_MINUTES), until)
    }

    /// Puts what was seen in order. Minutes outside the window are left out.
    pub fn new(read_at: OffsetDateTime, first: Option<OffsetDateTime>, minutes: &[Minute]) -> Self {
        let (since, _) = Self::window(read_at);
        let nothing = vec![None; usize::try_from(MAX_MINUTES).unwrap_or_default()];
        let mut seen: BTreeMap<Component, Vec<Option<Seen>>> =
            Component::ALL.iter().map(|component| (*component, nothing.clone())).collect();
        for Minute { component, minute, tally } in minutes {
            let at = usize::try_from((*minute - since).whole_minutes()).ok();
            if let Some(place) = seen.get_mut(component).zip(at).and_then(|(minutes, at)| minutes.get_mut(at)) {
                *place = tally.outcome().map(|outcome| Seen { outcome, latency_ms: tally.latency_ms });
            }
        }
        Self { read_at, first, seen }
    }

    /// What was seen of a component in the last `minutes` of the window, oldest first.
    fn last(&self, component: Component, minutes: i64) -> &[Option<Seen>] {
        let all = self.seen.get(&component).map_or(&[][..], Vec::as_slice);
        let wanted = usize::try_from(minutes).unwrap_or_default();
        all.split_at(all.len().saturating_sub(wanted)).1
    }
}

/// What every process stores, and what the public figures are made from.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait::async_trait]
pub trait ProbeStore: Send + Sync {
    /// Stores probes. Of a component, minute and source that there is one of already, that one stays.
    async fn record(&self, probes: &[Probe]) -> Result<(), StoreError>;

    /// What was seen from `since` on and before `until`.
    async fn minutes(&self, since: OffsetDateTime, until: OffsetDateTime) -> Result<Vec<Minute>, StoreError>;

    /// The first minute that there is a probe of.
    async fn first(&self) -> Result<Option<OffsetDateTime>, StoreError>;
}
