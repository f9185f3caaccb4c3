//! Is the database there?

use std::time::Duration;

use crate::error::StoreError;

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait::async_trait]
pub trait Health: Send + Sync {
    /// One round trip to the database, and how long it took.
    async fn ping(&self) -> Result<Duration, StoreError>;
}
