//! The thread that owns the server: it starts it, starts it again when it dies, and stops it.
//!
//! The parent-death signal belongs to the thread that forked, so that thread has to live as long as the server
//! should. Having one for it means that [`crate::Cluster::start`] may be called from any thread, a pool's too.

use crate::{Error, error::IoContext, postmaster::Launch, postmaster::stop};
use std::{
    process::Child,
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel},
    thread::{Builder, JoinHandle},
    time::Duration,
};

/// How long a dead server goes unnoticed, at most.
const LOOK: Duration = Duration::from_millis(100);
/// How long to wait after a restart that failed.
const PAUSE: Duration = Duration::from_secs(2);

/// A running server and its thread.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// Nothing is ever sent: closing it is the order to stop.
    order: SyncSender<()>,
    thread: JoinHandle<Result<(), Error>>,
}

impl Keeper {
    /// Starts the server; returns when it takes connections, or when `give_up` says so before.
    pub fn start(launch: Launch, give_up: impl Fn() -> bool + Send + 'static) -> Result<Self, Error> {
        let (order, orders) = sync_channel(0);
        let (report, started) = sync_channel(1);
        let thread = Builder::new()
            .name("postgres-keeper".to_owned())
            .spawn(move || keep(&launch, &give_up, &orders, &report))
            .cannot("start a thread for", "postgres")?;
        match started.recv() {
            Ok(Ok(())) => Ok(Self { order, thread }),
            Ok(Err(error)) => Err(error),
            // The thread ended without a message: it panicked.
            Err(_) => Err(Error::GivenUp),
        }
    }

    /// Stops the server and waits until it has.
    pub fn stop(self) -> Result<(), Error> {
        drop(self.order);
        self.thread.join().unwrap_or(Err(Error::GivenUp))
    }
}

fn keep(
    launch: &Launch,
    give_up: &dyn Fn() -> bool,
    orders: &Receiver<()>,
    report: &SyncSender<Result<(), Error>>,
) -> Result<(), Error> {
    let child = launch.start(give_up);
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            // The caller waits for exactly this message.
            let _ = report.send(Err(error));
            return Ok(());
        }
    };
    let _ = report.send(Ok(()));
    loop {
        if orders.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout) {
            return stop(&mut child);
        }
        if let Ok(Some(status)) = child.try_wait() {
            tracing::error!(%status, "PostgreSQL ended on its own; starting it again");
            match restart(launch, orders) {
                Some(again) => child = again,
                None => return Ok(()),
            }
        }
    }
}

/// Starts the server until that succeeds, or until the order to stop comes (`None`).
fn restart(launch: &Launch, orders: &Receiver<()>) -> Option<Child> {
    let ordered_to_stop = || orders.try_recv() == Err(TryRecvError::Disconnected);
    loop {
        match launch.start(&ordered_to_stop) {
            Ok(child) => return Some(child),
            Err(Error::GivenUp) => return None,
            Err(error) => tracing::error!(%error, "PostgreSQL does not start; trying again"),
        }
        if orders.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
    }
}
