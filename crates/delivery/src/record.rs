//! What is known of an attempt while it is being made.

use std::future::Future;

use domain::webhooks::attempt::{Attempt, Failure, FailureCode, MAX_MESSAGE_CHARS, Outcome, Timings};
use tokio::time::Instant;

/// The parts of an attempt that take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Dns,
    Connect,
    Tls,
    Answer,
}

/// What is known of an attempt so far; it stays when the deadline ends the attempt.
#[derive(Default)]
pub(crate) struct Record {
    pub status: Option<u16>,
    pub retry_after: Option<String>,
    pub location: Option<String>,
    pub answer: Vec<u8>,
    pub timings: Timings,
    running: Option<(Phase, Instant)>,
}

impl Record {
    /// Runs a phase and records how long it took.
    pub(crate) async fn timed<T>(&mut self, phase: Phase, work: impl Future<Output = T>) -> T {
        self.running = Some((phase, Instant::now()));
        let result = work.await;
        self.stop();
        result
    }

    /// Ends the running phase and says which one it was.
    pub(crate) fn stop(&mut self) -> Phase {
        let Some((phase, since)) = self.running.take() else { return Phase::Answer };
        let slot = match phase {
            Phase::Dns => &mut self.timings.dns,
            Phase::Connect => &mut self.timings.connect,
            Phase::Tls => &mut self.timings.tls,
            Phase::Answer => &mut self.timings.first_byte,
        };
        *slot = Some(since.elapsed());
        phase
    }

    /// A status counts whatever happened after it.
    pub(crate) fn into_attempt(self, failed: Option<Failure>) -> Attempt {
        let unanswered = || failure(FailureCode::ConnectionClosed, "the attempt ended without an answer");
        Attempt {
            outcome: match self.status {
                Some(status) => Outcome::Status(status),
                None => Outcome::Failed(failed.unwrap_or_else(unanswered)),
            },
            timings: self.timings,
            answer: self.answer,
            retry_after: self.retry_after,
            location: self.location,
        }
    }
}

/// A failure, its message cut to what is kept.
pub(crate) fn failure(code: FailureCode, message: impl Into<String>) -> Failure {
    let mut message = message.into();
    if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS) {
        message.truncate(end);
    }
    Failure { code, message }
}

pub(crate) fn timed_out(phase: Phase) -> Failure {
    let message = match phase {
        Phase::Dns => "the name service did not answer in time",
        Phase::Connect => "the receiver did not accept the connection in time",
        Phase::Tls => "the receiver did not finish the TLS handshake in time",
        Phase::Answer => "the receiver did not answer in time",
    };
    failure(FailureCode::TimedOut, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_no_longer_than_what_is_kept() {
        // A certificate may name thousands of hosts, and the message of TLS names them all.
        let cut = failure(FailureCode::TlsFailed, "é".repeat(MAX_MESSAGE_CHARS + 1)).message;
        assert_eq!(cut, "é".repeat(512));
        assert_eq!(failure(FailureCode::TlsFailed, "short").message, "short");
    }
}
