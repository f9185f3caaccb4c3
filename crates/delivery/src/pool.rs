//! Connections kept open between deliveries.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::Connection;

/// How long a connection is kept unused. Common servers close after 5 s and more.
const MAX_IDLE: Duration = Duration::from_secs(4);
/// Connections kept to one receiver.
const MAX_PER_PEER: usize = 32;
/// Connections kept in all.
const MAX_TOTAL: usize = 1_024;

/// The destination of a connection: this host, at this checked address, with or without TLS.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Peer {
    pub host: String,
    pub address: SocketAddr,
    pub tls: bool,
}

/// Idle connections by peer. What is taken out was open a moment ago, no more.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Idle>);

#[derive(Default)]
struct Idle {
    by_peer: HashMap<Peer, Vec<(Connection, Instant)>>,
    total: usize,
    swept: Option<Instant>,
}

impl Pool {
    /// Takes out the connection that was used last, as it is the likeliest to be open.
    pub(crate) fn take(&self, peer: &Peer) -> Option<Connection> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (connection, since) = idle.by_peer.get_mut(peer)?.pop()?;
            idle.total -= 1;
            if since.elapsed() < MAX_IDLE && connection.is_open() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection, or closes it when enough are kept.
    pub(crate) fn put(&self, peer: Peer, connection: Connection) {
        let now = Instant::now();
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.sweep(now);
        if idle.total >= MAX_TOTAL {
            return;
        }
        let kept = idle.by_peer.entry(peer).or_default();
        if kept.len() < MAX_PER_PEER {
            kept.push((connection, now));
            idle.total += 1;
        }
    }
}

impl Idle {
    /// Closes what has been idle for too long, once a second at most.
    fn sweep(&mut self, now: Instant) {
        if self.swept.is_some_and(|last| now - last < Duration::from_secs(1)) {
            return;
        }
        self.swept = Some(now);
        self.by_peer.retain(|_, kept| {
            kept.retain(|(connection, since)| now - *since < MAX_IDLE && connection.is_open());
            !kept.is_empty()
        });
        self.total = self.by_peer.values().map(Vec::len).sum();
    }
}
