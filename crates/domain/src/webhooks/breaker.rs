//! The circuit breaker and the adaptive concurrency limit of one receiver.
//!
//! The limit starts low, doubles with every quick answer and halves with every slow one, so that a receiver that hangs
//! holds few of the slots that all receivers share. Several attempts in a row without a usable answer open the breaker
//! for a while that doubles each time; then one attempt at a time is let through until one succeeds. What is not let
//! through waits in the queue and loses none of its attempts.

use std::time::Duration;

use time::OffsetDateTime;

/// Deliveries at once to a receiver that nothing is known of.
const INITIAL_LIMIT: usize = 4;
/// Deliveries at once to a receiver that has always been quick.
const MAX_LIMIT: usize = 1_024;
/// An answer that takes longer is slow.
const SLOW: Duration = Duration::from_secs(1);
/// Attempts in a row that must fail to open the breaker.
const FAILURES_TO_OPEN: u32 = 5;
/// How long it stays open at first, …
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// … and at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Whether the receiver that gave this status is in trouble, which opens a breaker in the end: no answer, 408, 425, 429 or 5xx.
/// With another it works, and refuses this delivery.
pub fn is_in_trouble(status: Option<u16>) -> bool {
    status.is_none_or(|status| matches!(status, 408 | 425 | 429 | 500..))
}

/// Whether a breaker is open after so many attempts in a row that show the receiver [in trouble](is_in_trouble).
pub const fn is_open_after(failures: u32) -> bool {
    failures >= FAILURES_TO_OPEN
}

/// The state of a receiver as one process sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaker {
    concurrency_limit: usize,
    failures: u32,
    /// When the last of them was.
    failed_at: Option<OffsetDateTime>,
    open_until: Option<OffsetDateTime>,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { concurrency_limit: INITIAL_LIMIT, failures: 0, failed_at: None, open_until: None }
    }
}

/// What an attempt shows of its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// How long the attempt took.
    pub took: Duration,
    /// The pause that the receiver asked for.
    pub retry_after: Option<Duration>,
}

impl Breaker {
    /// How many deliveries may be under way at `now`, of `limit` at most.
    pub fn allowance(&self, now: OffsetDateTime, limit: usize) -> usize {
        match self.open_until {
            None => limit.min(self.concurrency_limit),
            Some(until) if until > now => 0,
            Some(_) => limit.min(1),
        }
    }

    /// When it failed last, or the end of the pause that followed; none if it has not failed since its last success.
    pub fn failing_until(&self) -> Option<OffsetDateTime> {
        self.open_until.max(self.failed_at)
    }

    /// Whether the receiver has failed since its last success.
    pub fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// An attempt ended. Only a receiver [in trouble](is_in_trouble) counts as failing.
    pub fn record(&mut self, seen: Observation, now: OffsetDateTime) {
        let Observation { status, took, retry_after } = seen;
        if is_in_trouble(status) {
            self.fail(retry_after, now);
        } else {
            let concurrency_limit = if took > SLOW {
                (self.concurrency_limit / 2).max(1)
            } else {
                (self.concurrency_limit * 2).min(MAX_LIMIT)
            };
            *self = Self { concurrency_limit, ..Self::default() };
        }
    }

    fn fail(&mut self, retry_after: Option<Duration>, now: OffsetDateTime) {
        // Attempts that were under way when it opened say nothing new.
        if self.open_until.is_some_and(|until| until > now) {
            return;
        }
        self.concurrency_limit = (self.concurrency_limit / 2).max(1);
        self.failures = self.failures.saturating_add(1);
        self.failed_at = Some(now);
        if !is_open_after(self.failures) {
            return;
        }
        let doublings = (self.failures - FAILURES_TO_OPEN).min(6);
        let pause = (FIRST_PAUSE * 2_u32.pow(doublings)).max(retry_after.unwrap_or_default()).min(LONGEST_PAUSE);
        self.open_until = Some(now + pause);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);

    fn seen(status: u16) -> Observation {
        Observation { status: Some(status), took: Duration::from_millis(20), retry_after: None }
    }

    const UNANSWERED: Observation = Observation { status: None, took: Duration::from_secs(10), retry_after: None };

    fn failed(times: u32) -> Breaker {
        let mut breaker = Breaker::default();
        (0..times).for_each(|_| breaker.record(UNANSWERED, NOW));
        breaker
    }

    #[test]
    fn trust_grows_with_quick_answers_and_shrinks_with_slow_ones() {
        let mut breaker = Breaker::default();
        assert_eq!(breaker.allowance(NOW, 16), 4);
        breaker.record(seen(200), NOW);
        assert_eq!(breaker.allowance(NOW, 16), 8);
        (0..20).for_each(|_| breaker.record(seen(200), NOW));
        assert_eq!(breaker.allowance(NOW, 16), 16);
        (0..20).for_each(|_| breaker.record(Observation { took: Duration::from_secs(3), ..seen(200) }, NOW));
        assert_eq!(breaker.allowance(NOW, 16), 1);
        assert!(!breaker.is_failing());
    }

    #[test]
    fn it_opens_after_five_failures_and_then_lets_one_through() {
        assert_eq!(failed(4).allowance(NOW, 8), 1);
        let open = failed(5);
        assert_eq!(open.allowance(NOW, 8), 0);
        assert_eq!(open.allowance(NOW + Duration::from_secs(4), 8), 0);
        assert_eq!(open.allowance(NOW + Duration::from_secs(5), 8), 1);
    }

    #[test]
    fn what_was_under_way_does_not_lengthen_the_pause_but_a_failed_probe_does() {
        let mut breaker = failed(16);
        assert_eq!(breaker.open_until, failed(5).open_until);
        let probe = NOW + Duration::from_secs(5);
        breaker.record(UNANSWERED, probe);
        assert_eq!(breaker.open_until, Some(probe + Duration::from_secs(10)));
        let mut last = probe;
        for _ in 0..40 {
            last = breaker.open_until.unwrap();
            breaker.record(seen(503), last);
        }
        assert_eq!(breaker.open_until, Some(last + LONGEST_PAUSE));
    }

    #[test]
    fn a_failure_is_known_until_a_success() {
        assert_eq!(Breaker::default().failing_until(), None);
        let mut breaker = failed(4);
        assert_eq!(breaker.failing_until(), Some(NOW));
        assert_eq!(failed(5).failing_until(), Some(NOW + Duration::from_secs(5)));
        breaker.record(seen(200), NOW);
        assert_eq!(breaker.failing_until(), None);
    }

    #[rstest]
    #[case(200)]
    #[case(404)]
    #[case(410)]
    fn an_answer_that_shows_a_working_receiver_closes_it(#[case] status: u16) {
        let mut breaker = failed(6);
        breaker.record(seen(status), NOW);
        assert_eq!((breaker.open_until, breaker.is_failing()), (None, false));
    }

    #[rstest]
    #[case(60, 60)]
    #[case(86_400, 300)]
    fn a_receiver_that_asks_for_time_gets_it_within_bounds(#[case] asked: u64, #[case] given: u64) {
        let mut breaker = failed(4);
        breaker.record(Observation { retry_after: Some(Duration::from_secs(asked)), ..seen(429) }, NOW);
        assert_eq!(breaker.open_until, Some(NOW + Duration::from_secs(given)));
    }
}
