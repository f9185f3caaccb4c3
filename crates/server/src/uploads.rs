//! Wires up the import of files that people bring in.

use std::sync::Arc;

use app::{jobs::Deps, uploads::UploadWorker};
use imports::Files;
use store::{Connect, Importer, Store};
use time::OffsetDateTime;

use crate::config::Config;

/// Connections of the worker, beside the pool and those of the imports themselves: the leases of imports and jobs are held while
/// jobs compute.
pub const CONNECTIONS: usize = 3;

/// What reads files, over connections of its own.
pub fn files(config: &Config, connect: &Connect) -> Files {
    Files { store: Arc::new(Importer::new(connect.clone()).with_nice_ratio(config.uploads_nice_ratio)) }
}

/// The worker that imports them, and runs the jobs that are to take them in.
pub fn worker(config: &Config, store: &Arc<Store>, session: &Connect, deps: Deps) -> UploadWorker {
    UploadWorker {
        uploads: store.clone(),
        requests: store.clone(),
        accounts: store.clone(),
        files: Arc::new(files(config, session)),
        deps,
        clock: Arc::new(OffsetDateTime::now_utc),
        jobs_clock: OffsetDateTime::now_utc,
    }
}
