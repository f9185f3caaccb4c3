//! One attempt to deliver: what is sent, what came of it, and the port that does it.

use std::time::Duration;

use async_trait::async_trait;

use crate::AccountId;

/// How much of an answer is kept, in bytes.
pub const MAX_ANSWER_BYTES: usize = 16 * 1_024;
/// Bytes of answers that are kept of a subscription in a day (UTC), within one batch of attempts. Of what comes after
/// them only the size is kept, with the status and the times.
pub const ANSWER_BYTES_PER_DAY: i64 = 16 * 1_024 * 1_024;
/// The longest [`Failure::message`] in characters: part of it may be the receiver's, such as the names in a certificate.
pub const MAX_MESSAGE_CHARS: usize = 512;

/// A POST to a receiver. `Host`, `Content-Length` and `User-Agent` are added by the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Whose delivery it is: accounts share the look-ups of names.
    pub account: AccountId,
    /// As registered; judged again at every attempt.
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

text_enum!(
    /// Why an attempt got no HTTP status.
    FailureCode {
        /// The URL is not one that deliveries go to.
        UrlRefused = "url_refused",
        /// The name service does not know the host, or did not answer properly.
        NameNotResolved = "name_not_resolved",
        /// The host resolves to an address that must not be called.
        AddressRefused = "address_refused",
        /// Nothing listens at the address.
        ConnectionRefused = "connection_refused",
        /// The address cannot be reached.
        ConnectionFailed = "connection_failed",
        /// The certificate is not trusted for this host, or the handshake failed.
        TlsFailed = "tls_failed",
        /// The receiver closed the connection before it sent a status.
        ConnectionClosed = "connection_closed",
        /// What came back is not HTTP/1.1, or its head is too large.
        InvalidAnswer = "invalid_answer",
        /// No status within the time an attempt has.
        TimedOut = "timed_out",
    }
);

/// An attempt that got no HTTP status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub code: FailureCode,
    /// For the integrator: one sentence in lower case without a full stop, with no more of the URL than host and port.
    pub message: String,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver answered with this status. Redirects are answers too; they are not followed.
    Status(u16),
    Failed(Failure),
}

/// How long the phases of an attempt took. A phase that was not reached or not needed has none; one that was cut short
/// by the deadline has the time until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Asking the name service. `None` for literal addresses.
    pub dns: Option<Duration>,
    /// Opening the connection. `None` when one was kept from before.
    pub connect: Option<Duration>,
    pub tls: Option<Duration>,
    /// From the request to the status line.
    pub first_byte: Option<Duration>,
    pub total: Duration,
}

/// An attempt as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub outcome: Outcome,
    pub timings: Timings,
    /// The beginning of the answer's body as it came over the wire, at most [`MAX_ANSWER_BYTES`].
    pub answer: Vec<u8>,
    /// The `Retry-After` header, for [`super::schedule::parse_retry_after`].
    pub retry_after: Option<String>,
    /// The `Location` header of a redirect that was not followed.
    pub location: Option<String>,
}

impl Attempt {
    /// The HTTP status, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self.outcome {
            Outcome::Status(status) => Some(status),
            Outcome::Failed(_) => None,
        }
    }

    /// Whether the delivery is done: 2xx, whatever follows the status line.
    pub fn is_success(&self) -> bool {
        self.status().is_some_and(|status| (200..300).contains(&status))
    }
}

/// Sends requests to receivers, to none that must not be called, and within a time limit of its own.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Sender: Send + Sync {
    /// Makes one attempt. Every way to fail is an [`Outcome`].
    async fn send(&self, request: Request) -> Attempt;
}
