//! Imports the files that people brought in, and runs the jobs that an account asked for.
//!
//! Both are rows with a lease: a worker that dies leaves them to the next one. An import that did not end has stored nothing,
//! and jobs run again to the same rows.

use std::{
    fs::File,
    future::Future,
    io::{self, Read, Seek, SeekFrom, Write},
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use domain::{
    StoreError,
    accounts::AccountStore,
    error::Chain,
    imports::Target,
    jobs::{JobRequests, RequestLease},
    uploads::{Ended, FileImporter, ImportFailure, Job, PIECE_BYTES, Part, Upload, UploadLease, UploadStore},
};
use futures_util::FutureExt;
use tokio::time::{interval, sleep};
use tracing::Instrument;

use crate::{
    deliveries::Clock,
    jobs::{self, Deps, Outcome, Selection, Stop},
    outage, worker,
};

/// How long a lease lasts; a process that dies holds an import or the jobs up for no longer.
const LEASE_SECONDS: i64 = 30;
/// How often a lease is held and the progress noted.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How often it is looked whether there is anything to do.
const EVERY: Duration = Duration::from_secs(1);
/// How often uploads that were kept long enough are removed.
const PRUNED_EVERY: Duration = Duration::from_secs(3_600);
/// When jobs that were in other hands are tried again.
const AGAIN_AFTER: time::Duration = time::Duration::seconds(10);
/// Accounts that are looked at: one whose upload another process takes leaves the next.
const LOOKED_AT: i64 = 10;
/// Leases of an import that may run out: the file that all these workers died of would be the end of the next one, too.
const MOST_LOST: i64 = 5;
/// What is told of a failure that is the service's own; the log says more.
pub const INTERNAL: &str = "something went wrong in the service";
/// What is told of an import that is given up.
pub const GIVEN_UP: &str = "the import was begun several times and broke off each time";
/// What is told of an import that is done, but for the file of refused lines.
pub const REJECTS_LOST: &str = "the others went in, but the refused lines could not be kept";
/// Characters of an error that are kept.
const ERROR_CHARS: usize = 500;

/// What files are imported with.
#[derive(Clone)]
pub struct UploadWorker {
    pub uploads: Arc<dyn UploadStore>,
    pub requests: Arc<dyn JobRequests>,
    pub accounts: Arc<dyn AccountStore>,
    pub files: Arc<dyn FileImporter>,
    pub deps: Deps,
    pub clock: Clock,
    /// The same for the jobs.
    pub jobs_clock: jobs::Clock,
}

impl UploadWorker {
    /// Does what is asked for until `stop`: imports the files of two accounts at a time, and beside them runs the jobs of one after
    /// another, so that neither a large file nor long jobs hold everybody up. What is under way then is dropped, and done again
    /// by the next worker.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let stop = stop.shared();
        let prune = || async { self.uploads.prune((self.clock)()).await.map(|_| false) };
        let import = || self.import_one();
        let failed = "files to be imported could not be looked up";
        tokio::join!(
            worker::run(stop.clone(), PRUNED_EVERY, "old uploads could not be removed", prune),
            worker::run(stop.clone(), EVERY, failed, import),
            worker::run(stop.clone(), EVERY, failed, import),
            worker::run(stop, EVERY, "jobs that are asked for could not be looked up", || self.run_requested()),
        );
    }

    /// Imports a file, if one is due.
    async fn import_one(&self) -> Result<bool, StoreError> {
        for (account, id) in self.uploads.due(LOOKED_AT).await? {
            if let Some((lease, upload)) = self.uploads.lease(account, id, LEASE_SECONDS).await? {
                let span = tracing::error_span!("upload", account_id = account.0, upload = id.0, kind = %upload.kind);
                self.import(lease, &upload).instrument(span).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs the jobs of an account, if they are asked for.
    async fn run_requested(&self) -> Result<bool, StoreError> {
        match self.requests.lease((self.clock)(), LEASE_SECONDS).await? {
            Some(lease) => {
                let span = tracing::error_span!("job_request", account_id = lease.account.0);
                self.run_jobs(lease).instrument(span).await.map(|()| true)
            }
            None => Ok(false),
        }
    }

    async fn import(&self, lease: UploadLease, upload: &Upload) -> Result<(), StoreError> {
        if upload.lost_leases >= MOST_LOST {
            tracing::error!(lost_leases = upload.lost_leases, "an import is given up");
            return self.uploads.end(lease, Ended::Failed(GIVEN_UP.to_owned()), (self.clock)()).await.map(drop);
        }
        let read = Arc::new(AtomicU64::new(0));
        let importing = AssertUnwindSafe(self.imported(lease, upload, &read)).catch_unwind();
        let ended = tokio::select! {
            ended = importing => ended,
            lost = self.hold(lease, &read) => return lost,
        };
        let ended = match ended {
            Ok(Ok(())) => return Ok(()),
            // To be tried again: nothing is wrong with the file.
            Ok(Err(ImportFailure::Store(error))) if !matches!(error, StoreError::Internal(_)) => {
                outage::warn(&error, "an import broke off; it starts over");
                sleep(EVERY).await;
                return self.uploads.release(lease).await;
            }
            Ok(Err(ImportFailure::Store(error))) => {
                tracing::error!(error = %Chain(&error), "an import failed");
                INTERNAL.to_owned()
            }
            Err(_) => {
                tracing::error!("an import panicked");
                INTERNAL.to_owned()
            }
            Ok(Err(ImportFailure::Rejects(why))) => {
                tracing::error!(error = %why, "the refused lines of an import could not be kept");
                REJECTS_LOST.to_owned()
            }
            Ok(Err(ImportFailure::File(why))) => why,
        };
        let error: String = ended.chars().take(ERROR_CHARS).collect();
        self.uploads.end(lease, Ended::Failed(error), (self.clock)()).await.map(drop)
    }

    async fn imported(&self, lease: UploadLease, upload: &Upload, read: &Arc<AtomicU64>) -> Result<(), ImportFailure> {
        let account = self.accounts.find(lease.account).await?;
        let account = account.ok_or_else(|| ImportFailure::File("there is no such account".to_owned()))?;
        let file = Watched { file: self.fetched(lease).await?, read: Arc::clone(read) };
        let mut rejects = tempfile::tempfile().map_err(unwritable)?;
        let job = Job {
            kind: upload.kind,
            reading: upload.reading.clone(),
            reader: Box::new(file),
            rejects: Box::new(rejects.try_clone().map_err(unwritable)?),
        };
        let target = Target { account: account.id, now: (self.clock)(), dry_run: false };
        let outcome = self.files.import(target, &account, job).await?;
        self.keep(lease, &mut rejects).await.map_err(unkept)?;
        let (lines, refused) = (outcome.lines, outcome.rejected);
        if self.uploads.end(lease, Ended::Done(outcome), (self.clock)()).await? {
            tracing::info!(lines, refused, "a file was imported");
        }
        Ok(())
    }

    /// The file, on this machine's disk, where it has no name.
    async fn fetched(&self, lease: UploadLease) -> Result<File, ImportFailure> {
        let mut file = tempfile::tempfile().map_err(unwritable)?;
        let mut number = 0;
        while let Some(bytes) = self.uploads.piece(lease.account, lease.id, Part::File, number).await? {
            file.write_all(&bytes).map_err(unwritable)?;
            number += 1;
        }
        file.seek(SeekFrom::Start(0)).map_err(unwritable)?;
        Ok(file)
    }

    /// Keeps the refused lines.
    async fn keep(&self, lease: UploadLease, rejects: &mut File) -> Result<(), ImportFailure> {
        rejects.seek(SeekFrom::Start(0)).map_err(unwritable)?;
        for number in 0.. {
            let mut bytes = Vec::new();
            Read::take(&mut *rejects, PIECE_BYTES as u64).read_to_end(&mut bytes).map_err(unwritable)?;
            if bytes.is_empty() {
                break;
            }
            self.uploads.add_rejects(lease, number, bytes).await?;
        }
        Ok(())
    }

    /// Holds the lease until it is lost, and notes how far the import is.
    async fn hold(&self, lease: UploadLease, read: &AtomicU64) -> Result<(), StoreError> {
        let mut beat = interval(HEARTBEAT);
        loop {
            beat.tick().await;
            let read_bytes = i64::try_from(read.load(Ordering::Relaxed)).unwrap_or(i64::MAX);
            match self.uploads.progress(lease, read_bytes, LEASE_SECONDS).await {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => outage::warn(&error, "the progress of an import could not be noted"),
            }
        }
    }

    /// Runs all jobs of the account, in their order.
    async fn run_jobs(&self, lease: RequestLease) -> Result<(), StoreError> {
        let selection = Selection { account: Some(lease.account), again: true, ..Selection::default() };
        let never = Stop::never();
        let reports = tokio::select! {
            reports = jobs::run_all_until(&self.deps, selection, 1, self.jobs_clock, &never) => reports?,
            () = self.hold_request(lease) => return Ok(()),
        };
        // Failures are noted with their runs, which the scheduler takes up again.
        let is_elsewhere = |report: &jobs::Report| matches!(report.outcome, Outcome::Skipped | Outcome::Superseded);
        if reports.iter().any(is_elsewhere) {
            return self.requests.put_back(lease, (self.clock)() + AGAIN_AFTER).await;
        }
        self.requests.done(lease).await
    }

    async fn hold_request(&self, lease: RequestLease) {
        let mut beat = interval(HEARTBEAT);
        loop {
            beat.tick().await;
            match self.requests.hold(lease, LEASE_SECONDS).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => outage::warn(&error, "a request for jobs could not be held"),
            }
        }
    }
}

fn unwritable(error: io::Error) -> ImportFailure {
    ImportFailure::Store(StoreError::Internal(format!("the disk of this machine: {error}").into()))
}

/// Why the refused lines of an import that is done could not be kept. After trouble with the database it starts over.
fn unkept(failure: ImportFailure) -> ImportFailure {
    match failure {
        ImportFailure::Store(error @ StoreError::Internal(_)) => ImportFailure::Rejects(Chain(&error).to_string()),
        failure => failure,
    }
}

/// Counts what is read.
struct Watched {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
