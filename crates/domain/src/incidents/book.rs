//! All incidents, as they are told to everyone.

use time::{Duration, OffsetDateTime};

use super::{Incident, Severity, Status};
use crate::{
    IncidentId,
    page::{Page, PageRequest},
};

/// Incidents that are told of, at most: older ones are not shown any more.
pub const MOST: i64 = 2_000;

text_enum! {
    /// Which incidents to show.
    Shown { All = "all", Open = "open", Resolved = "resolved" }
}

/// Which incidents to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    pub shown: Shown,
    pub severity: Option<Severity>,
    /// Those that began within this number of days; open ones always.
    pub days: i64,
}

/// The incidents at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Book {
    pub read_at: OffsetDateTime,
    /// Newest first.
    incidents: Vec<Incident>,
}

impl Book {
    /// Of incidents, newest first.
    pub const fn new(read_at: OffsetDateTime, incidents: Vec<Incident>) -> Self {
        Self { read_at, incidents }
    }

    pub fn find(&self, id: IncidentId) -> Option<&Incident> {
        self.incidents.iter().find(|incident| incident.id == id)
    }

    /// The worst of those that go on.
    pub fn worst_open(&self) -> Option<Severity> {
        let open = self.incidents.iter().filter(|incident| incident.status != Status::Resolved);
        open.map(|incident| incident.severity).max()
    }

    /// A page of those that a filter lets through, newest first.
    pub fn page(&self, filter: Filter, page: PageRequest) -> Page<&Incident> {
        let since = self.read_at - Duration::days(filter.days);
        let is_wanted = |incident: &&Incident| {
            let is_open = incident.status != Status::Resolved;
            page.cursor.is_none_or(|cursor| incident.id.0 < cursor)
                && filter.severity.is_none_or(|severity| incident.severity == severity)
                && (is_open || incident.started_at >= since)
                && match filter.shown {
                    Shown::All => true,
                    Shown::Open => is_open,
                    Shown::Resolved => !is_open,
                }
        };
        let further = usize::try_from(page.limit).unwrap_or(usize::MAX).saturating_add(1);
        let found = self.incidents.iter().filter(is_wanted).take(further).collect();
        Page::cut(found, page.limit, |incident| incident.id.0)
    }
}
