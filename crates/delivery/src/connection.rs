//! One HTTP/1.1 connection to a checked address.

use std::io;

use bytes::Bytes;
use domain::webhooks::attempt::{Failure, FailureCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::rt::{Read, Write};
use tokio::task::AbortHandle;

/// The largest head of an answer, in bytes; hyper allows 100 headers in it.
const MAX_HEAD_BYTES: usize = 64 * 1_024;

/// An open connection. Dropping it closes the socket at once, whatever is still under way.
pub(crate) struct Connection {
    requests: SendRequest<Full<Bytes>>,
    driver: AbortHandle,
}

/// Why a request got no answer.
pub(crate) struct Unanswered {
    pub failure: Failure,
    /// Whether the receiver may have closed the connection before it saw the request.
    pub closed: bool,
}

impl Connection {
    /// Speaks HTTP/1.1 over an open stream.
    pub(crate) async fn start(stream: impl Read + Write + Unpin + Send + 'static) -> Result<Self, Failure> {
        let (requests, connection) = Builder::new()
            .max_buf_size(MAX_HEAD_BYTES)
            .handshake(stream)
            .await
            .map_err(|error| unanswered(&error).failure)?;
        // Its result is also what the request under way gets.
        #[expect(clippy::disallowed_methods, reason = "it ends with its connection, whose user notices")]
        let driver = tokio::spawn(async move { drop(connection.await) }).abort_handle();
        Ok(Self { requests, driver })
    }

    /// Whether the receiver has not closed it, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        !self.requests.is_closed()
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(
        &mut self,
        request: hyper::Request<Full<Bytes>>,
    ) -> Result<hyper::Response<Incoming>, Unanswered> {
        self.requests.send_request(request).await.map_err(|error| unanswered(&error))
    }

    /// Waits until another request can be sent; false when the receiver does not want one.
    pub(crate) async fn is_reusable(&mut self) -> bool {
        self.requests.ready().await.is_ok()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn unanswered(error: &hyper::Error) -> Unanswered {
    let io = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let closed = error.is_canceled() || error.is_closed() || error.is_incomplete_message() || io.is_some();
    let (code, message) = if closed {
        (FailureCode::ConnectionClosed, "the receiver closed the connection without an answer")
    } else {
        (FailureCode::InvalidAnswer, "the answer is not HTTP/1.1 or its head is too large")
    };
    Unanswered { failure: Failure { code, message: message.to_owned() }, closed }
}
