//! Writes that are done even when the client has gone.

use std::future::Future;

use actix_web::http::header::HeaderValue;
use domain::idempotency::Idempotent;
use serde::Serialize;

use crate::{error::ApiError, respond::Reply};

/// Does `work` whether or not the client waits for it, so that a transaction is never cut in the middle.
pub async fn detached<T, E>(work: impl Future<Output = Result<T, E>> + Send + 'static) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    match ::web::detached::detached(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(failed) => Err(ApiError::internal(&failed)),
    }
}

/// Does `work` to its end and answers with the body of what was written.
pub async fn written<T, E, B: Serialize>(
    work: impl Future<Output = Result<Idempotent<T>, E>> + Send + 'static,
    body: impl FnOnce(T) -> B,
) -> Result<Reply, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    answered(work, |value| Reply::done(&body(value))).await
}

/// Does `work` to its end and gives the answer to what was written, marked when an earlier request with the same
/// idempotency key was given it first.
pub async fn answered<T, E>(
    work: impl Future<Output = Result<Idempotent<T>, E>> + Send + 'static,
    answer: impl FnOnce(T) -> Result<Reply, ApiError>,
) -> Result<Reply, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    let Idempotent { value, replayed } = detached(work).await?;
    let reply = answer(value)?;
    Ok(if replayed { reply.header("idempotent-replayed", HeaderValue::from_static("true")) } else { reply })
}

#[cfg(test)]
mod tests {
    use tracing::Instrument;

    use super::*;

    #[tokio::test]
    async fn a_write_is_done_within_the_span_of_its_request() {
        let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry());
        let span = tracing::error_span!("request");
        let within = detached(async { Ok::<_, ApiError>(tracing::Span::current().id()) });
        assert_eq!(within.instrument(span.clone()).await.unwrap(), span.id());
        assert!(span.id().is_some());
    }
}
