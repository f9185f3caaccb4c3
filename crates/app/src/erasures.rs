//! Erases the users whose time to undo it is over.

use std::{future::Future, sync::Arc, time::Duration};

use domain::{
    StoreError,
    erasure::{Eraser, ErasureStore},
};
use tracing::Instrument;

use crate::{deliveries::Clock, outage, worker};

/// How often it is looked whether anybody is due.
const EVERY: Duration = Duration::from_secs(60);
/// Users that are looked at: far more than cannot be erased at a time, so that these hold up nobody who comes after.
const LOOKED_AT: i64 = 1_000;

/// What users are erased with.
#[derive(Clone)]
pub struct ErasureWorker {
    pub erasures: Arc<dyn ErasureStore>,
    pub eraser: Arc<dyn Eraser>,
    pub clock: Clock,
}

impl ErasureWorker {
    /// Erases who is due until `stop`. What is under way then goes on the next time.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let turn = || async { self.tick().await.map(|_| false) };
        worker::run(stop, EVERY, "which users are to be erased could not be looked up", turn).await;
    }

    /// Erases who is due. Gives how many there were.
    ///
    /// # Errors
    /// Trouble with the database when it is looked up who is due. Who could not be erased is tried again.
    pub async fn tick(&self) -> Result<usize, StoreError> {
        let now = (self.clock)();
        let due = self.erasures.due(now, LOOKED_AT).await?;
        for user in &due {
            let erasing = async {
                match self.eraser.erase(user, now).await {
                    Ok(rows) => tracing::info!(rows, "a user was erased"),
                    Err(error) => outage::warn(&error, "a user could not be erased yet"),
                }
            };
            erasing.instrument(tracing::error_span!("erasure", %user)).await;
        }
        Ok(due.len())
    }
}
