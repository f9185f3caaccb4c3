//! When a delivery is tried again, and when a subscription is switched off.

use std::time::Duration;

use time::OffsetDateTime;

use crate::instants;

/// Waiting times between the attempts of a delivery, in seconds: about 28 hours in all.
const STEPS: [u64; 7] = [5, 5 * 60, 30 * 60, 2 * 3_600, 5 * 3_600, 10 * 3_600, 10 * 3_600];
/// Attempts that a delivery gets: the first one and one after each waiting time.
pub const MAX_ATTEMPTS: u32 = 8;
/// The largest part of a waiting time that jitter adds to it.
const JITTER: f64 = 0.2;
/// How far a receiver can put off the next attempt.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 3_600);

/// A subscription is switched off when it has been failing for this long, …
pub const DISABLE_AFTER: time::Duration = time::Duration::days(5);
/// … in at least this many attempts …
const DISABLE_ATTEMPTS: u32 = 10;
/// … of at least this many deliveries.
const DISABLE_DELIVERIES: u32 = 2;

/// How long to wait after a failed attempt, or `None` when it was the last.
///
/// `attempts_made` counts the failed attempt too, so it is 1 or more. `jitter` is a random number in `[0, 1)` that
/// spreads deliveries which failed together over a fifth of the waiting time; it only ever lengthens. `retry_after` is
/// what the receiver asked for; it lengthens as well, by up to [`MAX_RETRY_AFTER`] in all.
pub fn wait_after_failure(attempts_made: u32, jitter: f64, retry_after: Option<Duration>) -> Option<Duration> {
    let index = usize::try_from(attempts_made).ok()?.saturating_sub(1);
    let step = Duration::from_secs(*STEPS.get(index)?);
    // A NaN would become the largest jitter, not a panic.
    let jitter = if (0.0..1.0).contains(&jitter) { jitter } else { 1.0 };
    let wait = step.mul_f64(1.0 + JITTER * jitter);
    Some(wait.max(retry_after.unwrap_or_default().min(MAX_RETRY_AFTER)))
}

/// Reads a `Retry-After` header: whole seconds, or a date in any form of HTTP. At most [`MAX_RETRY_AFTER`]; `None` for
/// everything else, dates gone by included.
pub fn parse_retry_after(value: &str, now: OffsetDateTime) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // What does not fit is longer than any limit.
        let seconds = value.parse().unwrap_or(u64::MAX);
        return Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER));
    }
    let wait = Duration::try_from(instants::parse_http(value)? - now).ok()?;
    Some(wait.min(MAX_RETRY_AFTER))
}

text_enum!(
    /// Why a subscription was switched off by the service.
    DisabledReason { Gone = "gone", Failing = "failing" }
);

/// The failures of a subscription since its last 2xx answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureRun {
    /// The first failed attempt after the last success.
    pub since: OffsetDateTime,
    /// Failed attempts, this one included.
    pub attempts: u32,
    /// Deliveries that these attempts belong to.
    pub deliveries: u32,
}

/// Whether a failed attempt with this status (`None` without an HTTP answer) switches its subscription off.
///
/// 410 Gone does so at once. Otherwise the subscription must have failed for five days, in at least ten attempts of at
/// least two deliveries, so that neither one body that a receiver chokes on nor a short outage is enough.
pub fn disabled_by(status: Option<u16>, run: FailureRun, now: OffsetDateTime) -> Option<DisabledReason> {
    if status == Some(410) {
        return Some(DisabledReason::Gone);
    }
    let failing =
        now - run.since >= DISABLE_AFTER && run.attempts >= DISABLE_ATTEMPTS && run.deliveries >= DISABLE_DELIVERIES;
    failing.then_some(DisabledReason::Failing)
}

#[cfg(test)]
mod tests;
