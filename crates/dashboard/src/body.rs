//! A timeout for the body of a request: the server itself has none, and a client that stops sending would keep its connection
//! for ever.

use std::{io, time::Duration};

use actix_web::{dev::Payload, error::PayloadError};
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

/// For a form as a whole, and for the next part of a file.
const TIMEOUT: Duration = Duration::from_secs(10);
/// For a file as a whole.
const FILE_TIMEOUT: Duration = Duration::from_secs(3600);

/// The body, which fails with [`io::ErrorKind::TimedOut`] where it is late.
pub fn in_time(body: Payload, is_file: bool) -> Payload {
    let end = Instant::now() + if is_file { FILE_TIMEOUT } else { TIMEOUT };
    let parts = stream::unfold(Some(body), move |body| async move {
        let mut body = body?;
        match timeout_at(end.min(Instant::now() + TIMEOUT), body.next()).await {
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

    /// So many parts, one every six seconds.
    fn slow(parts: u32) -> Payload {
        let parts = stream::iter(0..parts).then(|_| async {
            tokio::time::sleep(Duration::from_secs(6)).await;
            Ok(Bytes::from_static(b"a"))
        });
        Payload::Stream { payload: Box::pin(parts) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_form_arrives_as_a_whole_and_a_file_part_by_part() {
        let form: Vec<_> = in_time(slow(4), false).collect().await;
        assert!(matches!(&form[..], [Ok(_), Err(PayloadError::Io(late))] if late.kind() == io::ErrorKind::TimedOut));
        let file: Vec<_> = in_time(slow(4), true).collect().await;
        assert!(file.len() == 4 && file.iter().all(Result::is_ok));
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_has_an_hour() {
        let file: Vec<_> = in_time(slow(1_000), true).collect().await;
        let (last, parts) = file.split_last().unwrap();
        assert!((598..=600).contains(&parts.len()) && parts.iter().all(Result::is_ok), "{}", parts.len());
        assert!(matches!(last, Err(PayloadError::Io(late)) if late.kind() == io::ErrorKind::TimedOut));
    }
}
