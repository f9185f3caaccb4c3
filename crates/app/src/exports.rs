//! Writes the files that accounts are exported to.
//!
//! An export is a row with a lease: a worker that dies leaves it to the next one, which starts over.

use std::{
    future::Future,
    io::{self, Write},
    mem::take,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use domain::{
    StoreError,
    error::Chain,
    exports::{AccountReader, ExportLease, ExportStore, KEPT, PIECE_BYTES, State},
};
use flate2::{Compression, write::GzEncoder};
use futures_util::{FutureExt, TryStreamExt};
use tokio::time::interval;
use tracing::Instrument;

use crate::{deliveries::Clock, outage, worker};

/// How long a lease lasts; a process that dies holds an export up for no longer.
const LEASE_SECONDS: i64 = 30;
/// How often a lease is held and the progress noted.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How often it is looked whether there is anything to do.
const EVERY: Duration = Duration::from_secs(2);
/// How often exports that were kept long enough are removed.
const PRUNED_EVERY: Duration = Duration::from_secs(3_600);
/// Exports that are looked at: one of them that another process takes leaves the next.
const LOOKED_AT: i64 = 10;

/// What exports are written with.
#[derive(Clone)]
pub struct ExportWorker {
    pub exports: Arc<dyn ExportStore>,
    pub reader: Arc<dyn AccountReader>,
    pub clock: Clock,
}

/// How far a file is.
#[derive(Default)]
struct Progress {
    rows: AtomicI64,
    bytes: AtomicI64,
}

impl Progress {
    fn so_far(&self) -> (i64, i64) {
        (self.rows.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

impl ExportWorker {
    /// Writes what is asked for until `stop`, one file after another. What is under way then is dropped, and started over
    /// by the next worker.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let stop = stop.shared();
        let prune = || async { self.exports.prune((self.clock)() - KEPT).await.map(|_| false) };
        tokio::join!(
            worker::run(stop.clone(), PRUNED_EVERY, "old exports could not be removed", prune),
            worker::run(stop, EVERY, "what is to be exported could not be looked up", || self.tick()),
        );
    }

    /// Writes one file, if one is asked for.
    ///
    /// # Errors
    /// Trouble with the database.
    pub async fn tick(&self) -> Result<bool, StoreError> {
        for (account, id) in self.exports.due(LOOKED_AT).await? {
            if let Some(lease) = self.exports.lease(account, id, LEASE_SECONDS).await? {
                let span = tracing::error_span!("export", account_id = account.0, export = id.0);
                self.export(lease).instrument(span).await?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn export(&self, lease: ExportLease) -> Result<(), StoreError> {
        let progress = Progress::default();
        let written = tokio::select! {
            written = self.write(lease, &progress) => written,
            () = self.hold(lease, &progress) => return Ok(()),
        };
        let state = match written {
            Ok(true) => State::Done,
            // It is another's by now.
            Ok(false) => return Ok(()),
            // To be tried again when the lease ends.
            Err(error) if !matches!(error, StoreError::Internal(_)) => return Err(error),
            Err(error) => {
                tracing::error!(error = %Chain(&error), "an export failed");
                State::Failed
            }
        };
        let (rows, bytes) = progress.so_far();
        if self.exports.end(lease, state, (rows, bytes), (self.clock)()).await? {
            tracing::info!(rows, bytes, %state, "an account was exported");
        }
        Ok(())
    }

    /// Writes the file piece by piece. False when the lease is lost.
    async fn write(&self, lease: ExportLease, progress: &Progress) -> Result<bool, StoreError> {
        let mut lines = self.reader.lines(lease.account, (self.clock)()).await?;
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        let mut number = 0;
        while let Some(line) = lines.try_next().await? {
            packed.write_all(line.as_bytes()).and_then(|()| packed.write_all(b"\n")).map_err(unpacked)?;
            progress.rows.fetch_add(1, Ordering::Relaxed);
            if packed.get_ref().len() >= PIECE_BYTES {
                let piece = take(packed.get_mut());
                if !self.keep(lease, number, piece, progress).await? {
                    return Ok(false);
                }
                number += 1;
            }
        }
        let last = packed.finish().map_err(unpacked)?;
        self.keep(lease, number, last, progress).await
    }

    async fn keep(
        &self,
        lease: ExportLease,
        number: i64,
        piece: Vec<u8>,
        progress: &Progress,
    ) -> Result<bool, StoreError> {
        progress.bytes.fetch_add(i64::try_from(piece.len()).unwrap_or(i64::MAX), Ordering::Relaxed);
        self.exports.append(lease, number, piece).await
    }

    /// Holds the lease until it is lost, and notes how far the file is.
    async fn hold(&self, lease: ExportLease, progress: &Progress) {
        let mut beat = interval(HEARTBEAT);
        loop {
            beat.tick().await;
            let (rows, bytes) = progress.so_far();
            match self.exports.progress(lease, rows, bytes, LEASE_SECONDS).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => outage::warn(&error, "the progress of an export could not be noted"),
            }
        }
    }
}

/// Packing into memory does not fail; if it did, it would be the service's fault.
fn unpacked(error: io::Error) -> StoreError {
    StoreError::Internal(error.into())
}

#[cfg(test)]
mod tests {
    use std::{io::Read, sync::Mutex};

    use domain::{
        AccountId, ExportId,
        exports::{MockAccountReader, MockExportStore},
    };
    use flate2::read::GzDecoder;
    use futures_util::{StreamExt, stream};
    use time::macros::datetime;

    use super::*;

    const LEASE: ExportLease = ExportLease { account: AccountId(3), id: ExportId(8), number: 2 };

    /// What is kept of lines that nothing packs well, and how the export ends.
    async fn exported(lines: u32, is_held: bool) -> (Vec<Vec<u8>>, Option<(State, i64)>) {
        let (pieces, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
        let mut exports = MockExportStore::new();
        exports.expect_due().returning(|_| Ok(vec![(LEASE.account, LEASE.id)]));
        exports.expect_lease().returning(|_, _, _| Ok(Some(LEASE)));
        exports.expect_progress().returning(|_, _, _, _| Ok(true));
        let kept = pieces.clone();
        exports.expect_append().returning(move |lease, number, bytes| {
            let mut kept = kept.lock().unwrap();
            assert_eq!((lease, number), (LEASE, kept.len() as i64));
            kept.push(bytes);
            Ok(is_held)
        });
        let end = ended.clone();
        exports.expect_end().returning(move |_, state, (rows, _), _| {
            *end.lock().unwrap() = Some((state, rows));
            Ok(true)
        });
        let mut reader = MockAccountReader::new();
        let line = |number: u32| Ok((0..64).map(|at| blake(number, at)).collect::<String>());
        reader.expect_lines().returning(move |_, _| Ok(stream::iter((0..lines).map(line)).boxed()));
        let clock: Clock = Arc::new(|| datetime!(2026-11-24 12:00 UTC));
        let worker = ExportWorker { exports: Arc::new(exports), reader: Arc::new(reader), clock };
        assert!(worker.tick().await.unwrap());
        let pieces = pieces.lock().unwrap().clone();
        let ended = ended.lock().unwrap().take();
        (pieces, ended)
    }

    /// Digits without an order that could be packed.
    fn blake(number: u32, at: u32) -> String {
        let mixed = (u64::from(number) << 32 | u64::from(at)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("{:016x}", mixed ^ mixed >> 29)
    }

    #[tokio::test]
    async fn the_pieces_are_one_file_with_every_line() {
        let (pieces, ended) = exported(4_000, true).await;
        assert!(pieces.len() > 1, "{} pieces", pieces.len());
        let mut text = String::new();
        GzDecoder::new(pieces.concat().as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!((text.lines().count(), ended), (4_000, Some((State::Done, 4_000))));
    }

    #[tokio::test]
    async fn an_export_that_is_anothers_by_now_is_left_alone() {
        let (pieces, ended) = exported(4_000, false).await;
        assert_eq!((pieces.len(), ended), (1, None));
    }
}
