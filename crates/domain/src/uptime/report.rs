//! The figures of a window.

use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

use super::{Component, Outcome, Record, Seen};

/// Minutes within which the last look at a component says how it stands.
const RECENT_MINUTES: i64 = 5;

text_enum! {
    /// How a component stands.
    Status { Operational = "operational", Degraded = "degraded", Outage = "outage", Unknown = "unknown" }
}

/// Minutes by what was seen in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checks {
    pub up: i64,
    pub degraded: i64,
    pub down: i64,
    /// Nobody looked. Minutes before the first look ever are left out.
    pub missing: i64,
}

/// The share of minutes, in per cent with two decimals, rounded down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Of the minutes in which somebody looked, those in which it was there, at its best or not; none when nobody looked.
    pub uptime: Option<Decimal>,
    /// Of all minutes, those in which somebody looked.
    pub coverage: Decimal,
}

/// Milliseconds that answers took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Latency {
    pub avg: Option<i64>,
    pub p50: Option<i64>,
    pub p95: Option<i64>,
}

/// A component over the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComponentUptime {
    pub component: Component,
    pub status: Status,
    pub share: Share,
}

/// One hour of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hour {
    pub begins: OffsetDateTime,
    pub uptime: Option<Decimal>,
    /// Minutes in which somebody looked.
    pub checks: i64,
    pub down: i64,
    pub avg_latency_ms: Option<i64>,
}

/// Minutes on end in which nobody looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    pub from: OffsetDateTime,
    pub to: OffsetDateTime,
}

impl Gap {
    pub fn minutes(&self) -> i64 {
        (self.to - self.from).whole_minutes()
    }
}

/// The figures of a window: those of the API, which is what clients see, and how each component stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub hours: i64,
    pub since: OffsetDateTime,
    pub until: OffsetDateTime,
    pub checks: Checks,
    pub share: Share,
    pub latency: Latency,
    pub components: Vec<ComponentUptime>,
    /// Every hour of the window, oldest first.
    pub series: Vec<Hour>,
    pub gaps: Vec<Gap>,
}

impl Checks {
    /// Minutes in which somebody looked.
    pub const fn total(&self) -> i64 {
        self.up + self.degraded + self.down
    }

    fn share(&self) -> Share {
        let total = self.total();
        Share {
            uptime: percent(self.up + self.degraded, total),
            coverage: percent(total, total + self.missing).unwrap_or_default(),
        }
    }

    fn of(minutes: &[Option<Seen>]) -> Self {
        let mut checks = Self::default();
        for seen in minutes {
            match seen.map(|seen| seen.outcome) {
                Some(Outcome::Up) => checks.up += 1,
                Some(Outcome::Degraded) => checks.degraded += 1,
                Some(Outcome::Down) => checks.down += 1,
                None => checks.missing += 1,
            }
        }
        checks
    }
}

/// The share of `part` in `whole` in per cent, rounded down to two decimals; none of nothing.
fn percent(part: i64, whole: i64) -> Option<Decimal> {
    let hundredths = (part * 10_000).checked_div(whole)?;
    Some(Decimal::new(hundredths, 2).normalize())
}

impl Record {
    /// The figures of the last `hours`, one to [`MAX_HOURS`](super::MAX_HOURS), before the record was read.
    pub fn report(&self, hours: i64) -> Report {
        let minutes = hours * 60;
        let (_, until) = Self::window(self.read_at);
        let since = until - Duration::minutes(minutes);
        let api = self.last(Component::Api, minutes);
        let known = self.known_since(since, until);
        let checks = Checks::of(skip(api, known));
        Report {
            hours,
            since,
            until,
            checks,
            share: checks.share(),
            latency: latency(api),
            components: Component::ALL
                .iter()
                .map(|component| self.component_uptime(*component, minutes, known))
                .collect(),
            series: (0..).step_by(60).map(|at| since + Duration::minutes(at)).zip(api.chunks(60)).map(hour).collect(),
            gaps: gaps(api, known, since),
        }
    }

    /// How many minutes of the window come before anybody ever looked.
    fn known_since(&self, since: OffsetDateTime, until: OffsetDateTime) -> usize {
        let first = self.first.unwrap_or(until).clamp(since, until);
        usize::try_from((first - since).whole_minutes()).unwrap_or_default()
    }

    fn component_uptime(&self, component: Component, minutes: i64, known: usize) -> ComponentUptime {
        let last = self.last(component, RECENT_MINUTES).iter().rev().flatten().next();
        let status = match last.map(|seen| seen.outcome) {
            Some(Outcome::Up) => Status::Operational,
            Some(Outcome::Degraded) => Status::Degraded,
            Some(Outcome::Down) => Status::Outage,
            None => Status::Unknown,
        };
        let seen = self.last(component, minutes);
        ComponentUptime { component, status, share: Checks::of(skip(seen, known)).share() }
    }
}

fn skip(minutes: &[Option<Seen>], count: usize) -> &[Option<Seen>] {
    minutes.get(count..).unwrap_or_default()
}

fn hour((begins, minutes): (OffsetDateTime, &[Option<Seen>])) -> Hour {
    let checks = Checks::of(minutes);
    Hour {
        begins,
        uptime: checks.share().uptime,
        checks: checks.total(),
        down: checks.down,
        avg_latency_ms: latency(minutes).avg,
    }
}

/// The mean, rounded half up, and the smallest latencies that given percentages of them do not exceed.
fn latency(minutes: &[Option<Seen>]) -> Latency {
    let mut all: Vec<i64> = minutes.iter().flatten().filter_map(|seen| seen.latency_ms).collect();
    all.sort_unstable();
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let rank = |percent: usize| (all.len() * percent).div_ceil(100).checked_sub(1).and_then(|at| all.get(at)).copied();
    let sum: i64 = all.iter().sum();
    Latency { avg: (2 * sum + count).checked_div(2 * count), p50: rank(50), p95: rank(95) }
}

/// The stretches without a look, from the minute numbered `known` on.
fn gaps(minutes: &[Option<Seen>], known: usize, since: OffsetDateTime) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    let at = (0..).map(|minute| since + Duration::minutes(minute));
    for (from, _) in at.zip(minutes).skip(known).filter(|(_, seen)| seen.is_none()) {
        let to = from + Duration::minutes(1);
        match gaps.last_mut() {
            Some(gap) if gap.to == from => gap.to = to,
            _ => gaps.push(Gap { from, to }),
        }
    }
    gaps
}
