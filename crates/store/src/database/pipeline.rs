//! Short reads that share a connection: each statement is sent without waiting for the answers to those before it.
//!
//! Reads on a connection each keep as many sessions of the server busy as there are connections, every one with caches to
//! warm and a process to wake up. Reads on one connection are answered in turn by one session, which finds the next
//! statement there when it is done with one.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, Weak,
    atomic::{AtomicBool, Ordering},
};

use scopeguard::ScopeGuard;

use crate::database::pool::{self, PooledConnection};

/// Reads that share a connection at most. What holds one of them up holds up those behind it as well.
const DEPTH: usize = 16;

/// The connection of a pool that reads share while any are under way: one at most, so that the others are to be had for
/// work that needs a connection to itself, however many reads there are.
#[derive(Default)]
pub(crate) struct Pipeline {
    current: Mutex<Weak<Shared>>,
}

/// A connection that several reads use.
pub(crate) struct Shared {
    pub connection: PooledConnection,
    /// It takes no new reads, and is closed in the end: a statement of a read that was dropped may still be running.
    is_poisoned: AtomicBool,
}

/// The use of a shared connection by one read. Dropped before its answers have come, it poisons the connection.
pub(crate) type PipelinedConnection = ScopeGuard<Arc<Shared>, fn(Arc<Shared>)>;

impl Pipeline {
    /// Joins the connection that is shared at the moment, unless there is none or it is full.
    pub fn join(&self) -> Option<PipelinedConnection> {
        join(&mut self.current())
    }

    /// Shares a connection of the pool: others join it, unless one is shared already.
    pub fn begin(&self, connection: PooledConnection) -> PipelinedConnection {
        let mut current = self.current();
        // Another may have begun while this read waited for its connection.
        if let Some(pipelined) = join(&mut current) {
            pool::release(connection);
            return pipelined;
        }
        let shared = Arc::new(Shared { connection, is_poisoned: AtomicBool::new(false) });
        if current.strong_count() == 0 {
            *current = Arc::downgrade(&shared);
        }
        pipelined(shared)
    }

    fn current(&self) -> MutexGuard<'_, Weak<Shared>> {
        // No code that may panic runs under the lock.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn join(current: &mut Weak<Shared>) -> Option<PipelinedConnection> {
    if current.strong_count() >= DEPTH {
        return None;
    }
    let pipelined = pipelined(current.upgrade()?);
    if pipelined.is_poisoned.load(Ordering::Acquire) {
        release_pipelined(pipelined);
        *current = Weak::new();
        return None;
    }
    Some(pipelined)
}

fn pipelined(shared: Arc<Shared>) -> PipelinedConnection {
    scopeguard::guard(shared, |shared| shared.is_poisoned.store(true, Ordering::Release))
}

/// Ends the use of a connection when all answers have come. The last one releases it to the pool.
pub(crate) fn release_pipelined(pipelined: PipelinedConnection) {
    if let Some(Shared { connection, is_poisoned }) = Arc::into_inner(ScopeGuard::into_inner(pipelined))
        && !is_poisoned.into_inner()
    {
        pool::release(connection);
    }
}
