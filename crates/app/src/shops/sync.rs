//! Reads the connected shops: leases connections that are due, gives each a turn, and lets others have theirs.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use domain::{
    StoreError,
    imports::ImportStore,
    shops::{
        authorizations::AuthorizationStore,
        inbox::{self, Inbox},
        known_orders::KnownOrders,
        sync::{DueSync, KEEP_RUNS, LeasedSync, SyncLease, SyncRunStore},
    },
};
use futures_util::FutureExt;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep};
use tracing::Instrument;

use super::{
    Ports,
    catalogues::Catalogues,
    turn::{Stopped, Turn, due_after},
};
use crate::{deliveries::Jitter, outage, worker::Turns};

/// How long a lease lasts; a process that dies holds a connection up for no longer.
pub(super) const LEASE_SECONDS: i64 = 120;
/// How often a lease is held.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(30);
/// How long a connection may go on with its back-fill while others wait.
const TURN: Duration = Duration::from_secs(120);
/// The longest pause that a platform is believed to want.
const LONGEST_PAUSE: time::Duration = time::Duration::DAY;
/// How often it is looked whether anything is due.
const EVERY: Duration = Duration::from_secs(1);
/// How often what is kept for a time only is removed.
const PRUNED_EVERY: Duration = Duration::from_secs(3_600);
/// Due connections that are looked at: those of accounts that have all their places are passed over.
const LOOKED_AT: i64 = 100;

/// What shops are read with.
#[derive(Clone)]
pub struct Syncer {
    pub ports: Ports,
    pub imports: Arc<dyn ImportStore>,
    pub known_orders: Arc<dyn KnownOrders>,
    pub runs: Arc<dyn SyncRunStore>,
    pub inbox: Arc<dyn Inbox>,
    pub jitter: Jitter,
    /// Where platforms reach this service; without it there are no hooks.
    pub hooks_url: Option<String>,
    /// Connections that are read at a time.
    pub at_once: usize,
    pub catalogues: Arc<Catalogues>,
}

impl Syncer {
    /// Reads what is due until `stop`; turns under way may end then, for some seconds.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (mut stop, mut turns) = (std::pin::pin!(stop), Turns::default());
        let mut pruned: Option<Instant> = None;
        loop {
            if pruned.is_none_or(|at| at.elapsed() >= PRUNED_EVERY) {
                pruned = Some(Instant::now());
                self.prune().await;
            }
            if let Err(error) = self.start_due(&mut turns).await {
                outage::warn(&error, "due connections to shops could not be looked up");
            }
            if turns.wait(stop.as_mut(), EVERY).await {
                break;
            }
        }
        turns.finish().await;
    }

    /// Connections of one account that are read at a time: a slow one keeps no other waiting, and no account has all places.
    fn of_an_account(&self) -> usize {
        self.at_once.div_ceil(2)
    }

    /// Starts turns for connections that are due, as many as there are places, the longest due first.
    async fn start_due(&self, turns: &mut Turns) -> Result<(), StoreError> {
        if turns.len() >= self.at_once {
            return Ok(());
        }
        for due in self.ports.syncs.due(self.ports.now(), LOOKED_AT).await? {
            if turns.len() >= self.at_once {
                return Ok(());
            }
            if turns.accounts().filter(|account| *account == due.account).count() >= self.of_an_account() {
                continue;
            }
            if let Some(leased) = self.ports.syncs.lease(due, LEASE_SECONDS).await? {
                let (this, DueSync { account, integration }) = (self.clone(), due);
                let provider = leased.integration.provider;
                let span =
                    tracing::error_span!("shop_sync", account_id = account.0, integration = integration.0, %provider);
                turns.start(account, async move { this.turn(leased).await }.instrument(span));
            }
        }
        Ok(())
    }

    /// Reads what is due now, one connection after the other; gives how many there were. For commands and tests.
    ///
    /// # Errors
    /// Trouble with the database.
    pub async fn tick(&self) -> Result<usize, StoreError> {
        let mut read = 0;
        for due in self.ports.syncs.due(self.ports.now(), LOOKED_AT).await? {
            if let Some(leased) = self.ports.syncs.lease(due, LEASE_SECONDS).await? {
                self.turn(leased).await;
                read += 1;
            }
        }
        Ok(read)
    }

    async fn turn(&self, leased: LeasedSync) {
        let lease = leased.lease;
        let until = Instant::now() + TURN;
        let reading = async {
            let mut turn = Turn::new(self, leased).await?;
            turn.read(until).await
        };
        let read = self.holding(lease, reading).await;
        self.release(lease, read).await;
    }

    /// Gives a lease back: the connection is due again as `read` says, not at the same moment as others, and hooks keep to its
    /// pause if it stopped.
    pub(super) async fn release(&self, lease: SyncLease, read: Result<OffsetDateTime, Stopped>) {
        let now = self.ports.now();
        let is_pause = read.is_err();
        let Some(due) = read.map_or_else(|stopped| due_after(stopped, now), Some) else { return };
        let due = due.min(now + LONGEST_PAUSE);
        let due = due + (due - now).max(time::Duration::ZERO) * (0.1 * (self.jitter)());
        let syncs = &self.ports.syncs;
        let released = if is_pause { syncs.pause(lease, due).await } else { syncs.release(lease, due).await };
        if let Err(error) = released {
            outage::warn(&error, "a lease of a shop could not be given back; it runs out");
        }
    }

    /// Does `work` while the lease holds. A panic must not leave the connection to the end of its lease.
    pub(super) async fn holding<T>(
        &self,
        lease: SyncLease,
        work: impl Future<Output = Result<T, Stopped>>,
    ) -> Result<T, Stopped> {
        let held = async {
            loop {
                sleep(HEARTBEAT).await;
                match self.ports.syncs.heartbeat(lease, LEASE_SECONDS).await {
                    Ok(true) => {}
                    Ok(false) => return Stopped::Lost,
                    Err(error) => outage::warn(&error, "a lease of a shop could not be held; trying again"),
                }
            }
        };
        let work = AssertUnwindSafe(work).catch_unwind();
        tokio::select! {
            done = work => done.unwrap_or_else(|_| {
                tracing::error!("reading a shop panicked");
                Err(Stopped::Failed)
            }),
            lost = held => Err(lost),
        }
    }

    /// Removes what is kept for a time only.
    async fn prune(&self) {
        let now = self.ports.now();
        let authorizations: &dyn AuthorizationStore = &*self.ports.authorizations;
        let pruned = tokio::try_join!(
            self.runs.prune(now - KEEP_RUNS),
            self.inbox.prune(now - inbox::KEEP),
            authorizations.prune(now)
        );
        match pruned {
            Ok((runs, hooks, states)) => tracing::debug!(runs, hooks, states, "old rows of connections are removed"),
            Err(error) => outage::warn(&error, "old rows of connections could not be removed"),
        }
    }
}
