//! What integrators see of their deliveries, and how they have them sent again.

use std::{collections::HashMap, time::Duration};

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::{
    attempt::MAX_ANSWER_BYTES,
    delivery::{DeliveryState, Leased, Report},
};
use crate::{
    AccountId, DeliveryId, EventId, StoreError, SubscriptionId,
    audit::Entry,
    events::{Event, EventKind},
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    metrics::ratios::quotient,
    page::{Page, PageRequest},
};

/// Attempts of a delivery that are kept: the newest ones.
pub const MAX_ATTEMPTS_KEPT: u32 = 50;
/// Attempts of a delivery that a list shows: the newest ones.
pub const ATTEMPTS_IN_LIST: i64 = 5;
/// Deliveries of an account that are tallied: the newest ones.
pub const MOST_TALLIED: i64 = 50_000;
/// Bytes of an answer that a list shows.
pub const ANSWER_BYTES_IN_LIST: i64 = 1_024;

/// An attempt as it was recorded. Times in microseconds; `None` for phases that were not reached or not needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedAttempt {
    pub number: i32,
    pub started_at: OffsetDateTime,
    /// HTTP status, if there was an answer.
    pub status: Option<i32>,
    /// [`super::attempt::FailureCode`], if there was none.
    pub failure: Option<String>,
    /// The failure in words.
    pub message: Option<String>,
    pub dns_us: Option<i64>,
    pub connect_us: Option<i64>,
    pub tls_us: Option<i64>,
    pub first_byte_us: Option<i64>,
    pub total_us: i64,
    /// The beginning of the answer's body, as bytes.
    pub answer: Vec<u8>,
    /// How many bytes of it were read, at most [`super::attempt::MAX_ANSWER_BYTES`].
    pub answer_bytes: i64,
    /// Where a redirect pointed that was not followed.
    pub location: Option<String>,
}

impl LoggedAttempt {
    /// Whether the answer was a 2xx.
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether more of the answer was read than is here.
    pub fn is_answer_truncated(&self) -> bool {
        i64::try_from(self.answer.len()).is_ok_and(|here| here < self.answer_bytes)
    }

    /// The answer as text: bytes that are none as U+FFFD, without a character that is here only in part because the rest was cut
    /// off.
    pub fn answer_text(&self) -> String {
        let is_cut = self.is_answer_truncated() || self.answer.len() >= MAX_ANSWER_BYTES;
        let rest = self.answer.utf8_chunks().last().map(|last| last.invalid()).unwrap_or_default();
        let is_part = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
        let text = if is_cut && is_part { self.answer.strip_suffix(rest) } else { None };
        String::from_utf8_lossy(text.unwrap_or(&self.answer)).into_owned()
    }
}

impl From<Report> for LoggedAttempt {
    fn from(report: Report) -> Self {
        let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        let failure = report.failure().cloned();
        let attempt = report.attempt;
        Self {
            number: i32::try_from(report.attempt_number).unwrap_or(i32::MAX),
            started_at: report.started_at,
            status: attempt.status().map(i32::from),
            failure: failure.as_ref().map(|failure| failure.code.to_string()),
            message: failure.map(|failure| failure.message),
            dns_us: attempt.timings.dns.map(micros),
            connect_us: attempt.timings.connect.map(micros),
            tls_us: attempt.timings.tls.map(micros),
            first_byte_us: attempt.timings.first_byte.map(micros),
            total_us: micros(attempt.timings.total),
            answer_bytes: i64::try_from(attempt.answer.len()).unwrap_or(i64::MAX),
            answer: attempt.answer,
            location: attempt.location,
        }
    }
}

/// A delivery with attempts, oldest first: in a list the newest [`ATTEMPTS_IN_LIST`], else all that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedDelivery {
    pub id: DeliveryId,
    /// The event's id; lists are ordered by it.
    pub event_id: EventId,
    pub event: String,
    pub state: DeliveryState,
    /// When the next attempt is due; `None` when there is none or it is being made.
    pub next_attempt_at: Option<OffsetDateTime>,
    pub attempts_made: i32,
    /// Attempts that can still be looked at, at most [`MAX_ATTEMPTS_KEPT`].
    pub attempts_kept: i64,
    pub created_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
    pub attempts: Vec<LoggedAttempt>,
}

/// Which deliveries a list has: those that fit all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    pub state: Option<DeliveryState>,
    pub event: Option<EventKind>,
    /// Created from then on.
    pub since: Option<OffsetDateTime>,
    /// Created before.
    pub until: Option<OffsetDateTime>,
}

/// How many deliveries stand where; canceled ones are in none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub delivered: i64,
    pub failed: i64,
    /// Pending or held.
    pub waiting: i64,
}

impl Tally {
    /// Deliveries that have ended: those that came to be delivered and those that were given up.
    pub const fn ended(&self) -> i64 {
        self.delivered + self.failed
    }

    /// The part of them that was delivered; `None` where none has ended.
    pub fn success_rate(&self) -> Option<Decimal> {
        quotient(self.delivered.into(), self.ended().into())
    }
}

/// What came of asking for a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestStart {
    /// It is in the hands of the caller.
    Leased(Box<Leased>),
    /// An earlier request with the same idempotency key made this delivery.
    Earlier(DeliveryId),
    /// There is no such subscription.
    Unknown,
}

/// What came of asking for a delivery to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resent {
    /// It is due now, with all its attempts before it again.
    Queued,
    /// There is no such delivery.
    Unknown,
    /// A worker is attempting it at this moment.
    UnderWay,
    /// The subscription is switched off.
    Inactive,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait DeliveryLog: Send + Sync {
    /// Deliveries to a subscription, newest event first. Of each the newest [`ATTEMPTS_IN_LIST`] attempts, their answers
    /// cut to [`ANSWER_BYTES_IN_LIST`]. With a filter a bounded number of deliveries is looked at: a page that is not full may
    /// have a next one.
    async fn page(
        &self,
        account: AccountId,
        subscription: SubscriptionId,
        filter: Filter,
        page: PageRequest,
    ) -> Result<Page<LoggedDelivery>, StoreError>;
    /// Where the deliveries stand that were created from `since` on, of all subscriptions together at most the newest
    /// [`MOST_TALLIED`]. A subscription that had none is not in it.
    async fn tallies(
        &self,
        account: AccountId,
        since: OffsetDateTime,
    ) -> Result<HashMap<SubscriptionId, Tally>, StoreError>;
    /// The bytes that are sent of an event; `None` where they are kept no longer.
    async fn body(&self, account: AccountId, event: EventId) -> Result<Option<Vec<u8>>, StoreError>;
    /// One delivery with all attempts that are kept.
    async fn find(
        &self,
        account: AccountId,
        subscription: SubscriptionId,
        delivery: DeliveryId,
    ) -> Result<Option<LoggedDelivery>, StoreError>;
    /// Makes a delivery due again, whatever became of it, under the same id.
    async fn resend(
        &self,
        account: AccountId,
        subscription: SubscriptionId,
        delivery: DeliveryId,
        idempotency: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Resent>, IdempotencyError>;
    /// Writes an event for this subscription alone and leases its delivery, which counts as failed until its attempt is
    /// recorded: no worker tries it again, and no replay sends it.
    async fn start_test(
        &self,
        account: AccountId,
        subscription: SubscriptionId,
        event: &Event,
        lease: Duration,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<TestStart, IdempotencyError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    #[rstest]
    #[case::cut_in_a_character(b"caf\xc3", 5, "caf")]
    #[case::cut_behind_one(b"caf\xc3\xa9", 6, "caf\u{e9}")]
    #[case::not_cut(b"caf\xc3", 4, "caf\u{fffd}")]
    #[case::cut_behind_what_is_no_text(b"caf\xff", 5, "caf\u{fffd}")]
    #[case::not_kept(b"", 5, "")]
    fn a_character_that_is_cut_in_two_is_left_out(
        #[case] answer: &[u8],
        #[case] answer_bytes: i64,
        #[case] text: &str,
    ) {
        let attempt = LoggedAttempt {
            number: 1,
            started_at: datetime!(2026-05-02 12:00 UTC),
            status: Some(500),
            failure: None,
            message: None,
            dns_us: None,
            connect_us: None,
            tls_us: None,
            first_byte_us: None,
            total_us: 1,
            answer: answer.to_vec(),
            answer_bytes,
            location: None,
        };
        assert_eq!(attempt.answer_text(), text);
    }
}
