//! What the app may not read: functional permissions are settings of the app, which no token tells of.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use domain::shops::ShopError;

use crate::shops::http::Answer;

/// Resources that were refused for want of a permission while a stream is read. They are not asked for again: many refusals
/// block the app.
#[derive(Debug, Default)]
pub(super) struct Denied(Mutex<BTreeSet<String>>);

impl Denied {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for `resource`, the first word of a path. Without the permission it is as if nothing were there.
    pub async fn ask(
        &self,
        resource: &str,
        call: impl Future<Output = Result<Answer, ShopError>>,
    ) -> Result<Answer, ShopError> {
        if self.lock().contains(resource) {
            return Err(ShopError::NotFound);
        }
        match call.await {
            Err(ShopError::MissingScope(missing)) => {
                self.lock().insert(missing);
                Err(ShopError::NotFound)
            }
            answer => answer,
        }
    }

    /// The permissions that are missing, as far as they were missed.
    pub fn scopes(&self) -> Vec<String> {
        self.lock().iter().cloned().collect()
    }
}
