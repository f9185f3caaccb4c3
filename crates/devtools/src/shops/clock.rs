//! The platform's clock, which a test may set. Tokens, windows and histories follow it; rate limits and delays of indexes
//! and hooks are real time, as the client waits in real time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime, ext::InstantExt as _};

/// A clock that runs with the real one until it is stopped.
pub struct Clock(Mutex<State>);

struct State {
    at: OffsetDateTime,
    /// Since when it runs on from `at`; `None`: it stands.
    since: Option<std::time::Instant>,
}

/// `GET /_stub/clock`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reading {
    #[serde(with = "time::serde::rfc3339")]
    pub now: OffsetDateTime,
}

/// `POST /_stub/clock`; done in the order of the fields.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// Stops the clock there.
    #[serde(with = "time::serde::rfc3339::option")]
    pub at: Option<OffsetDateTime>,
    pub advance_seconds: Option<i64>,
    pub running: Option<bool>,
}

impl Default for Clock {
    fn default() -> Self {
        Self(Mutex::new(State { at: OffsetDateTime::now_utc(), since: Some(std::time::Instant::now()) }))
    }
}

impl Clock {
    /// A clock that stands at an instant.
    pub fn stopped(at: OffsetDateTime) -> Self {
        Self(Mutex::new(State { at, since: None }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> OffsetDateTime {
        self.lock().now()
    }

    pub fn change(&self, change: &Change) {
        let mut state = self.lock();
        if let Some(at) = change.at {
            *state = State { at, since: None };
        }
        if let Some(seconds) = change.advance_seconds {
            state.at += Duration::seconds(seconds);
        }
        if let Some(running) = change.running {
            state.at = state.now();
            state.since = running.then(std::time::Instant::now);
        }
    }

    /// The present as the header `Date` has it.
    pub fn http_date(&self) -> String {
        let now = self.now().to_offset(time::UtcOffset::UTC);
        let (day, month) = (now.weekday().to_string(), now.month().to_string());
        let short = |name: &str| name.chars().take(3).collect::<String>();
        format!(
            "{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
            short(&day),
            now.day(),
            short(&month),
            now.year(),
            now.hour(),
            now.minute(),
            now.second()
        )
    }
}

impl State {
    fn now(&self) -> OffsetDateTime {
        let elapsed = self.since.map_or(Duration::ZERO, |since| std::time::Instant::now().signed_duration_since(since));
        self.at + elapsed
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn it_stands_where_it_was_set_and_moves_when_told() {
        let clock = Clock::default();
        clock.change(&Change { at: Some(datetime!(2026-11-24 06:08:13 UTC)), ..Change::default() });
        assert_eq!(clock.http_date(), "Tue, 24 Nov 2026 06:08:13 GMT");
        clock.change(&Change { advance_seconds: Some(60), ..Change::default() });
        assert_eq!(clock.now(), datetime!(2026-11-24 06:09:13 UTC));
    }
}
