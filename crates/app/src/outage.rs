//! Warnings while the database is away: everything fails then, all the time, and one line a second says so as well as
//! thousands do.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::{StoreError, error::Chain};

/// The warnings of this process.
static WARNINGS: WarningLimit = WarningLimit::new();

/// Whether an error says that the database is away or overloaded.
pub const fn is_outage(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable(_) | StoreError::Overloaded(_))
}

/// Logs that `what` has failed; of an [outage](is_outage) not every time.
pub fn warn(error: &StoreError, what: &'static str) {
    let chain = Chain(error).to_string();
    if is_outage(error) {
        warn_of_outage(&chain, what);
    } else {
        tracing::warn!(error = chain, "{what}");
    }
}

/// Logs that `what` has failed as the database is away or overloaded. One such warning a second is logged, for the whole
/// process, with the number of those that were `suppressed` before it.
pub fn warn_of_outage(error: &str, what: &'static str) {
    if let Some(suppressed) = WARNINGS.admit(Instant::now()) {
        let suppressed = (suppressed > 0).then_some(suppressed);
        tracing::warn!(error, suppressed, "{what}");
    }
}

/// Lets one warning a second through and counts the others.
struct WarningLimit(Mutex<Seen>);

struct Seen {
    last: Option<Instant>,
    suppressed: u64,
}

impl WarningLimit {
    const EVERY: Duration = Duration::from_secs(1);

    const fn new() -> Self {
        Self(Mutex::new(Seen { last: None, suppressed: 0 }))
    }

    /// Whether a warning at `now` is to be logged: the number of those that were not since the last one.
    fn admit(&self, now: Instant) -> Option<u64> {
        // No code that may panic runs under the lock.
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.last.is_some_and(|last| now.saturating_duration_since(last) < Self::EVERY) {
            seen.suppressed += 1;
            return None;
        }
        seen.last = Some(now);
        Some(std::mem::take(&mut seen.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_warning_a_second_is_logged_with_the_number_of_those_before_it() {
        let (limit, start) = (WarningLimit::new(), Instant::now());
        let admit = |millis| limit.admit(start + Duration::from_millis(millis));
        assert_eq!(admit(0), Some(0));
        assert_eq!([admit(0), admit(400), admit(999)], [None; 3]);
        assert_eq!(admit(1_000), Some(3));
        assert_eq!(admit(1_001), None);
        // A second after the last line, and not at every full second.
        assert_eq!(admit(1_999), None);
        assert_eq!(admit(2_000), Some(2));
        assert_eq!(admit(60_000), Some(0));
    }
}
