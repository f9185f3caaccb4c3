//! Whether the database's schema fits this binary, for `/ready` and for the log.

use std::sync::{Mutex, PoisonError};

use domain::{
    StoreError,
    health::{Health, Schema},
};

/// Remembers what was found last, so that the log says it once and not at every look.
#[derive(Debug, Default)]
pub struct SchemaCheck(Mutex<Option<Schema>>);

impl SchemaCheck {
    /// Looks at the schema. Gives why this process cannot work with it, if it cannot.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn problem(&self, store: &dyn Health) -> Result<Option<String>, StoreError> {
        let found = store.schema().await?;
        let problem = found.problem();
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(found.clone());
        if before.as_ref() != Some(&found) {
            log(&found, problem.as_deref(), before.is_some());
        }
        Ok(problem)
    }
}

fn log(found: &Schema, problem: Option<&str>, has_changed: bool) {
    match (found, problem) {
        (_, Some(problem)) => tracing::error!(problem, "not ready: the database's schema does not fit"),
        (Schema::Newer { unknown }, None) => {
            tracing::info!(migrations = unknown.join(", "), "the database has migrations of a later version");
        }
        (_, None) if has_changed => tracing::info!("the database's schema fits"),
        (_, None) => {}
    }
}
