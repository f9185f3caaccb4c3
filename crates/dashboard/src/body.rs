//! A timeout for the body of a request: the server itself has none, and a client that stops sending would keep its connection
//! for ever.

use std::{io, time::Duration};

use actix_web::{dev::Payload, error::PayloadError};
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

/// For a form as a whole, and for the next part of a file.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The body, which fails with [`io::ErrorKind::TimedOut`] where it is late.
pub fn in_time(body: Payload, is_file: bool) -> Payload {
    let end = Instant::now() + TIMEOUT;
    let parts = stream::unfold(Some(body), move |body| async move {
        let mut body = body?;
        let until = if is_file { Instant::now() + TIMEOUT } else { end };
        match timeout_at(until, body.next()).await {
            Ok(part) => part.map(|part| (part, Some(body))),
            Err(_) => Some((Err(PayloadError::Io(io::ErrorKind::TimedOut.into())), None)),
        }
    });
    // The reader of files asks once more after the end.
    Payload::Stream { payload: Box::pin(parts.fuse()) }
}

#[cfg(test)]
mod tests {
    use actix_web::web::Bytes;

    use super::*;

    /// A part every six seconds.
    fn slow() -> Payload {
        let parts = stream::iter(0..4).then(|_| async {
            tokio::time::sleep(Duration::from_secs(6)).await;
            Ok(Bytes::from_static(b"a"))
        });
        Payload::Stream { payload: Box::pin(parts) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_form_arrives_as_a_whole_and_a_file_part_by_part() {
        let form: Vec<_> = in_time(slow(), false).collect().await;
        assert!(matches!(&form[..], [Ok(_), Err(PayloadError::Io(late))] if late.kind() == io::ErrorKind::TimedOut));
        let file: Vec<_> = in_time(slow(), true).collect().await;
        assert!(file.len() == 4 && file.iter().all(Result::is_ok));
    }
}
