//! Incidents: what went wrong with the service, told to everyone as it goes on.

pub mod automation;
mod book;
#[cfg(test)]
mod tests;
pub mod wording;

use time::{Duration, OffsetDateTime};

use crate::{IncidentId, IncidentUpdateId, error::StoreError, uptime::Component};
pub use book::{Book, Filter, MOST, Shown};

text_enum! {
    /// How bad it is.
    Severity { Minor = "minor", Major = "major", Critical = "critical" }
}

text_enum! {
    /// How far those who mend it are.
    Status {
        Investigating = "investigating",
        Identified = "identified",
        /// It looks mended.
        Monitoring = "monitoring",
        Resolved = "resolved",
    }
}

/// Characters of a title, at most.
pub const MAX_TITLE_CHARS: usize = 200;
/// Characters of an update, at most.
pub const MAX_BODY_CHARS: usize = 4_000;
/// How long after its end an incident may be taken up again.
const REOPENED_WITHIN: Duration = Duration::hours(24);

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incident {
    pub id: IncidentId,
    pub title: String,
    pub severity: Severity,
    pub status: Status,
    /// At least one, each once.
    pub components: Vec<Component>,
    /// The probes open, move and end it; no longer once a person has changed it.
    pub automatic: bool,
    pub started_at: OffsetDateTime,
    pub identified_at: Option<OffsetDateTime>,
    pub monitoring_at: Option<OffsetDateTime>,
    pub resolved_at: Option<OffsetDateTime>,
    /// Newest first.
    pub updates: Vec<Update>,
}

/// What was told of an incident at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    pub id: IncidentUpdateId,
    pub status: Status,
    /// Plain text.
    pub body: String,
    pub created_at: OffsetDateTime,
}

impl Incident {
    /// One that begins, without a number and before anything is told of it.
    pub const fn begun(
        title: String,
        severity: Severity,
        components: Vec<Component>,
        automatic: bool,
        started_at: OffsetDateTime,
    ) -> Self {
        Self {
            id: IncidentId(0),
            title,
            severity,
            status: Status::Investigating,
            components,
            automatic,
            started_at,
            identified_at: None,
            monitoring_at: None,
            resolved_at: None,
            updates: Vec::new(),
        }
    }

    /// How long it took; none while it goes on.
    pub fn duration(&self) -> Option<Duration> {
        self.resolved_at.map(|resolved_at| resolved_at - self.started_at)
    }

    /// Moves to a status at `now`.
    pub fn enter(&mut self, status: Status, now: OffsetDateTime) {
        let is_new = status != self.status;
        self.status = status;
        match status {
            _ if !is_new => {}
            Status::Investigating => (self.identified_at, self.monitoring_at, self.resolved_at) = (None, None, None),
            Status::Identified => self.identified_at = Some(now),
            Status::Monitoring => self.monitoring_at = Some(now),
            Status::Resolved => self.resolved_at = Some(now),
        }
    }

    /// Changes it as a person says; the probes leave it alone from then on.
    ///
    /// # Errors
    /// [`InvalidTransition`] for a way back, but for taking it up again within a day of its end.
    pub fn change(&mut self, change: &Change, now: OffsetDateTime) -> Result<(), InvalidTransition> {
        let status = change.status.unwrap_or(self.status);
        let reopened =
            status == Status::Investigating && self.resolved_at.is_some_and(|at| now - at <= REOPENED_WITHIN);
        if status < self.status && !reopened {
            return Err(InvalidTransition { from: self.status, to: status });
        }
        self.enter(status, now);
        self.severity = change.severity.unwrap_or(self.severity);
        self.automatic = false;
        Ok(())
    }
}

/// An incident does not go back, except that one is taken up again within a day of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an incident that is {from} cannot become {to}")]
pub struct InvalidTransition {
    pub from: Status,
    pub to: Status,
}

/// An incident that a person opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIncident {
    pub title: String,
    pub severity: Severity,
    pub components: Vec<Component>,
    pub status: Status,
    pub body: String,
}

/// What a person says of an incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub status: Option<Status>,
    pub severity: Option<Severity>,
    pub body: String,
}

/// What is wrong with what a person wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    #[error("the title must have 1 to 200 characters on one line")]
    Title,
    #[error("the body must have 1 to 4,000 characters of plain text")]
    Body,
    #[error("name at least one component")]
    Components,
}

impl NewIncident {
    /// Checks it, and names each component once.
    ///
    /// # Errors
    /// [`InvalidText`].
    pub fn checked(mut self) -> Result<Self, InvalidText> {
        let is_line = !self.title.chars().any(char::is_control);
        self.title = fitting(&self.title, MAX_TITLE_CHARS).filter(|_| is_line).ok_or(InvalidText::Title)?;
        self.body = body(&self.body)?;
        self.components.sort_unstable();
        self.components.dedup();
        if self.components.is_empty() { Err(InvalidText::Components) } else { Ok(self) }
    }
}

impl Change {
    /// Checks it.
    ///
    /// # Errors
    /// [`InvalidText`].
    pub fn checked(mut self) -> Result<Self, InvalidText> {
        self.body = body(&self.body)?;
        Ok(self)
    }
}

/// Lines of text without control characters.
fn body(text: &str) -> Result<String, InvalidText> {
    let is_plain = text.chars().all(|c| c == '\n' || !c.is_control());
    fitting(text, MAX_BODY_CHARS).filter(|_| is_plain).ok_or(InvalidText::Body)
}

/// The text without the space around it, if something is left and it is not too long.
fn fitting(text: &str, most: usize) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && text.chars().count() <= most).then(|| text.to_owned())
}

/// Why an incident was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("there is no such incident")]
    NotFound,
    #[error(transparent)]
    Transition(#[from] InvalidTransition),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The incidents.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait::async_trait]
pub trait IncidentStore: Send + Sync {
    /// Every incident with its updates, newest first; the newest [`MOST`] of them.
    async fn all(&self) -> Result<Vec<Incident>, StoreError>;

    /// Opens one.
    async fn open(&self, incident: NewIncident, now: OffsetDateTime) -> Result<Incident, StoreError>;

    /// Changes one as a person says.
    async fn change(&self, id: IncidentId, change: Change, now: OffsetDateTime) -> Result<Incident, ChangeError>;

    /// Goes through the minutes that are over and were not gone through yet, and does what [`automation`] says. Any number of
    /// processes may: each minute is gone through once.
    async fn advance(&self, now: OffsetDateTime) -> Result<(), StoreError>;
}
