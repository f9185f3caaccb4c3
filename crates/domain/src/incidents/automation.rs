//! When the probes open an incident, make it worse, and end it.
//!
//! Minute by minute, for each component: a few bad minutes on end open an incident, and more good ones end it, so that single
//! minutes do nothing. A minute in which nobody looked breaks both: nothing follows from what nobody saw.

use time::{Duration, OffsetDateTime};

use super::{
    Incident, Severity, Status,
    wording::{Occasion, title},
};
use crate::{
    texts::{Locale, Texts},
    uptime::{Component, Outcome},
};

/// Minutes down after which the API or the database has a major incident, and a critical one.
const MAJOR_DOWN: i64 = 3;
const CRITICAL_DOWN: i64 = 10;
/// Minutes down after which another component has a minor one.
const MINOR_DOWN: i64 = 5;
/// Minutes less than up after which any component has one.
const MINOR_BAD: i64 = 15;
/// Good minutes after which it is watched, and after which it is over.
const MONITORING_GOOD: i64 = 5;
pub(super) const RESOLVED_GOOD: i64 = 20;
/// How soon after its end an incident comes back instead of a new one.
const AGAIN_WITHIN: Duration = Duration::minutes(30);

/// The minutes on end, up to now, in which a component was so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Watch {
    pub down: i64,
    /// Down or degraded.
    pub bad: i64,
    pub good: i64,
}

/// What there is for a component already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CurrentIncident {
    Nothing,
    /// A person takes care of it.
    InHand,
    /// The newest automatic incident.
    Automatic(Incident),
}

/// What is to be done at the end of a minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Nothing,
    Open {
        severity: Severity,
        started_at: OffsetDateTime,
    },
    /// The incident as it is then.
    Change(Incident, Occasion),
}

impl Watch {
    /// After one more minute.
    #[must_use]
    pub const fn then(self, seen: Option<Outcome>) -> Self {
        let Self { down, bad, good } = self;
        match seen {
            None => Self { down: 0, bad: 0, good: 0 },
            Some(Outcome::Up) => Self { down: 0, bad: 0, good: good + 1 },
            Some(Outcome::Degraded) => Self { down: 0, bad: bad + 1, good: 0 },
            Some(Outcome::Down) => Self { down: down + 1, bad: bad + 1, good: 0 },
        }
    }

    /// How bad that is for a component, and for how many minutes it has been.
    fn severity(self, component: Component) -> Option<(Severity, i64)> {
        let is_vital = matches!(component, Component::Api | Component::Database);
        match self {
            Self { down, .. } if is_vital && down >= CRITICAL_DOWN => Some((Severity::Critical, down)),
            Self { down, .. } if is_vital && down >= MAJOR_DOWN => Some((Severity::Major, down)),
            Self { down, .. } if !is_vital && down >= MINOR_DOWN => Some((Severity::Minor, down)),
            Self { bad, .. } if bad >= MINOR_BAD => Some((Severity::Minor, bad)),
            _ => None,
        }
    }

    /// What follows for a component at `end`, the end of the last of these minutes.
    pub fn step(self, component: Component, standing: CurrentIncident, end: OffsetDateTime) -> Step {
        let problem = self.severity(component);
        let incident = match standing {
            CurrentIncident::InHand => return Step::Nothing,
            CurrentIncident::Automatic(incident) if !is_past(&incident, end) => incident,
            CurrentIncident::Nothing | CurrentIncident::Automatic(_) => {
                return problem.map_or(Step::Nothing, |(severity, minutes)| Step::Open {
                    severity,
                    started_at: end - Duration::minutes(minutes),
                });
            }
        };
        match (incident.status, problem) {
            (Status::Monitoring | Status::Resolved, Some((severity, _))) => {
                changed(incident, component, Status::Investigating, severity, Occasion::Again, end)
            }
            (Status::Investigating | Status::Identified, Some((severity, _))) if severity > incident.severity => {
                let status = incident.status;
                changed(incident, component, status, severity, Occasion::Raised, end)
            }
            (Status::Investigating | Status::Identified, None) if self.good >= MONITORING_GOOD => {
                let severity = incident.severity;
                changed(incident, component, Status::Monitoring, severity, Occasion::Monitoring, end)
            }
            (Status::Monitoring, None) if self.good >= RESOLVED_GOOD => {
                let severity = incident.severity;
                changed(incident, component, Status::Resolved, severity, Occasion::Resolved, end)
            }
            _ => Step::Nothing,
        }
    }
}

/// Whether an incident ended too long ago to come back.
fn is_past(incident: &Incident, end: OffsetDateTime) -> bool {
    incident.resolved_at.is_some_and(|resolved_at| end - resolved_at > AGAIN_WITHIN)
}

/// The incident as it is then: its severity may rise and does not fall.
fn changed(
    mut incident: Incident,
    component: Component,
    status: Status,
    severity: Severity,
    occasion: Occasion,
    end: OffsetDateTime,
) -> Step {
    incident.enter(status, end);
    if severity > incident.severity {
        incident.severity = severity;
        incident.title = title(component, severity, &Texts::of(Locale::ENGLISH));
    }
    Step::Change(incident, occasion)
}
