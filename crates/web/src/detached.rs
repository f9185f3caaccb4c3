//! Work that is done even when the client has gone.

use std::future::Future;

use tokio::task::JoinError;
use tracing::Instrument;

/// Does `work` in a task of its own and waits for it. A client that disconnects cancels the handler wherever it waits; the task
/// goes on, so that what was begun is ended.
///
/// # Errors
/// When the work panicked.
pub async fn detached<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, JoinError> {
    #[expect(clippy::disallowed_methods, reason = "it is waited for")]
    tokio::spawn(work.in_current_span()).await
}
