//! The circuit breaker of one receiver: how many deliveries it is trusted with at once.
//!
//! Closed, it lets as many through as the limit says. Several attempts in a row without a usable answer open it for a
//! while that doubles each time; then one attempt at a time is let through until one succeeds. What is not let through
//! waits in the queue and loses none of its attempts.

use std::time::Duration;

use time::OffsetDateTime;

/// Attempts in a row that must fail to open the breaker.
const FAILURES_TO_OPEN: u32 = 5;
/// How long it stays open at first, …
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// … and at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// The state of a receiver as one process sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Breaker {
    failures: u32,
    open_until: Option<OffsetDateTime>,
}

impl Breaker {
    /// How many deliveries may be under way at `now`, of `limit` at most.
    pub fn allowance(&self, now: OffsetDateTime, limit: usize) -> usize {
        match self.open_until {
            None => limit,
            Some(until) if until > now => 0,
            Some(_) => limit.min(1),
        }
    }

    /// When it will let an attempt through again, if it is open.
    pub fn open_until(&self) -> Option<OffsetDateTime> {
        self.open_until
    }

    /// Whether it has nothing to remember.
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }

    /// An attempt ended. Only a receiver in trouble counts as failing: no answer, 408, 425, 429 or 5xx. With another
    /// 4xx it works and refuses this delivery.
    pub fn record(&mut self, status: Option<u16>, retry_after: Option<Duration>, now: OffsetDateTime) {
        let in_trouble = status.is_none_or(|status| matches!(status, 408 | 425 | 429 | 500..));
        if !in_trouble {
            *self = Self::default();
            return;
        }
        // Attempts that were under way when it opened say nothing new.
        if self.open_until.is_some_and(|until| until > now) {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures < FAILURES_TO_OPEN {
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

    fn failed(times: u32) -> Breaker {
        let mut breaker = Breaker::default();
        (0..times).for_each(|_| breaker.record(None, None, NOW));
        breaker
    }

    #[test]
    fn it_opens_after_five_failures_and_then_lets_one_through() {
        assert_eq!(failed(4).allowance(NOW, 8), 8);
        let open = failed(5);
        assert_eq!(open.allowance(NOW, 8), 0);
        assert_eq!(open.allowance(NOW + Duration::from_secs(4), 8), 0);
        assert_eq!(open.allowance(NOW + Duration::from_secs(5), 8), 1);
    }

    #[test]
    fn what_was_under_way_does_not_lengthen_the_pause_but_a_failed_probe_does() {
        assert_eq!(failed(16).open_until(), failed(5).open_until());
        let mut breaker = failed(16);
        let probe = NOW + Duration::from_secs(5);
        breaker.record(None, None, probe);
        assert_eq!(breaker.open_until(), Some(probe + Duration::from_secs(10)));
        let mut last = probe;
        for _ in 0..40 {
            last = breaker.open_until().unwrap();
            breaker.record(Some(503), None, last);
        }
        assert_eq!(breaker.open_until(), Some(last + LONGEST_PAUSE));
    }

    #[rstest]
    #[case(200)]
    #[case(404)]
    #[case(410)]
    fn an_answer_that_shows_a_working_receiver_closes_it(#[case] status: u16) {
        let mut breaker = failed(6);
        breaker.record(Some(status), None, NOW);
        assert!(breaker.is_idle());
    }

    #[test]
    fn a_receiver_that_asks_for_time_gets_it_within_bounds() {
        let mut breaker = failed(4);
        breaker.record(Some(429), Some(Duration::from_secs(60)), NOW);
        assert_eq!(breaker.open_until(), Some(NOW + Duration::from_secs(60)));
        let mut breaker = failed(4);
        breaker.record(Some(429), Some(Duration::from_secs(86_400)), NOW);
        assert_eq!(breaker.open_until(), Some(NOW + LONGEST_PAUSE));
    }
}
