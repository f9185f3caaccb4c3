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

use crate::pool::{self, Lent};

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
    pub connection: Lent,
    /// Nobody joins any more, and it is closed in the end: a statement of somebody who has left may still be running.
    is_spoiled: AtomicBool,
}

/// A place on a shared connection. Dropped in the middle of its work, it spoils the connection.
pub(crate) type Place = ScopeGuard<Arc<Shared>, fn(Arc<Shared>)>;

impl Pipeline {
    /// A place on the connection that is shared at the moment, unless there is none or it is full.
    pub fn join(&self) -> Option<Place> {
        join(&mut self.current())
    }

    /// A place on a connection out of the pool. Others join it, unless one is shared already.
    pub fn begin(&self, connection: Lent) -> Place {
        let mut current = self.current();
        // Another may have begun while this one waited for its connection.
        if let Some(place) = join(&mut current) {
            pool::give_back(connection);
            return place;
        }
        let shared = Arc::new(Shared { connection, is_spoiled: AtomicBool::new(false) });
        if current.strong_count() == 0 {
            *current = Arc::downgrade(&shared);
        }
        place(shared)
    }

    fn current(&self) -> MutexGuard<'_, Weak<Shared>> {
        // No code that may panic runs under the lock.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn join(current: &mut Weak<Shared>) -> Option<Place> {
    if current.strong_count() >= DEPTH {
        return None;
    }
    let place = place(current.upgrade()?);
    if place.is_spoiled.load(Ordering::Acquire) {
        leave(place);
        *current = Weak::new();
        return None;
    }
    Some(place)
}

fn place(shared: Arc<Shared>) -> Place {
    scopeguard::guard(shared, |shared| shared.is_spoiled.store(true, Ordering::Release))
}

/// Leaves a place when all that was asked has been answered. The last one gives the connection back.
pub(crate) fn leave(place: Place) {
    if let Some(Shared { connection, is_spoiled }) = Arc::into_inner(ScopeGuard::into_inner(place))
        && !is_spoiled.into_inner()
    {
        pool::give_back(connection);
    }
}
