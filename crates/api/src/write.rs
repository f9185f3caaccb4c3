//! Writes that are done even when the client has gone.

use std::future::Future;

use actix_web::http::header::HeaderValue;

use crate::{error::ApiError, respond::Reply};

/// Does `work` in a task of its own and waits for it. A client that disconnects cancels the handler wherever it waits;
/// the task goes on, so that a transaction is never cut in the middle.
pub async fn detached<T, E>(work: impl Future<Output = Result<T, E>> + Send + 'static) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    #[expect(clippy::disallowed_methods, reason = "it is waited for")]
    match tokio::spawn(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(failed) => Err(ApiError::internal(&failed)),
    }
}

/// Marks an answer that an earlier request with the same idempotency key was given first.
pub fn mark_replayed(reply: Reply, replayed: bool) -> Reply {
    if replayed { reply.header("idempotent-replayed", HeaderValue::from_static("true")) } else { reply }
}
