//! A read replica, and which reads it may answer.
//!
//! A position is a place in the primary's log (an LSN). After a write of an account the primary's position is noted;
//! until the replica has replayed that far, what the account reads comes from the primary. Positions are noted in this
//! process, and where there are several, in a place that all of them see.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Nullable, Text};
use domain::{
    AccountId, StoreError,
    positions::{Positions, RecentWrites},
};
use moka::sync::Cache;
use tokio::time::{Instant, sleep};

use crate::{
    Connect, PoolOptions, Store,
    database::{
        error::Failure,
        runs::{Target, count_read},
        statement::Scalar,
    },
};

/// How often the replica is asked how far it is.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long an answer to that is relied on.
const TRUST: Duration = Duration::from_millis(600);
/// A replica that is further behind is not asked: no read is older than this.
const LAG_AT_MOST: Duration = Duration::from_secs(5);
/// How long a write is remembered. Longer than the lag of a replica in use, so that nothing is forgotten too early.
const REMEMBERED: Duration = Duration::from_secs(10);
/// Accounts whose last write is remembered; far more than a primary can write in that time.
const ACCOUNTS: u64 = 200_000;

/// The position of an account that wrote something at a position that is not known.
const UNKNOWN: u64 = u64::MAX;

/// A standby server that answers reads.
pub(crate) struct Replica {
    pub target: Target,
    started: Instant,
    replayed: AtomicU64,
    /// Until when `replayed` is relied on, in milliseconds since `started`.
    trusted_until: AtomicU64,
    written: Cache<i64, u64>,
    shared: Option<Arc<dyn Positions>>,
}

impl Replica {
    /// Whether the replica has all that the account has written as far as is known.
    pub async fn serves(&self, account: AccountId) -> bool {
        if !self.is_trusted() {
            return false;
        }
        let replayed = self.replayed.load(Ordering::Acquire);
        if self.written.get(&account.0).is_some_and(|position| position > replayed) {
            return false;
        }
        match &self.shared {
            None => true,
            // Where the others' writes are not known, none can be ruled out.
            Some(shared) => shared.last(account).await.is_some_and(|position| position <= replayed),
        }
    }

    /// What it found. One that failed is asked nothing more until it has been looked at.
    pub fn judge<T, E>(&self, found: Result<T, E>) -> Option<T> {
        match found {
            Ok(found) => {
                count_read("replica");
                Some(found)
            }
            Err(_) => {
                self.trusted_until.store(0, Ordering::Release);
                None
            }
        }
    }

    fn is_trusted(&self) -> bool {
        self.millis(Instant::now()) < self.trusted_until.load(Ordering::Acquire)
    }

    async fn note(&self, account: AccountId, position: u64) {
        self.written
            .entry(account.0)
            .and_upsert_with(|known| known.map_or(position, |known| position.max(known.into_value())));
        if let Some(shared) = &self.shared {
            shared.note(account, position, REMEMBERED).await;
        }
    }

    fn millis(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.started).as_millis()).unwrap_or(u64::MAX)
    }
}

impl Store {
    /// Adds a replica that answers reads as long as [`watch_replica`](Self::watch_replica) runs beside it. `shared` is where several processes tell each other of their writes.
    ///
    /// # Errors
    /// When the pool cannot be made. A replica that is away is waited for.
    pub fn with_replica(
        self,
        connect: &Connect,
        options: PoolOptions,
        shared: Option<Arc<dyn Positions>>,
    ) -> anyhow::Result<Self> {
        let replica = Arc::new(Replica {
            target: Target::new(connect, options)?,
            started: Instant::now(),
            replayed: AtomicU64::new(0),
            trusted_until: AtomicU64::new(0),
            written: Cache::builder().max_capacity(ACCOUNTS).time_to_live(REMEMBERED).build(),
            shared,
        });
        Ok(Self { replica: Some(replica), ..self })
    }

    /// Looks at the replica, and lets it answer reads while it is close enough; never ends. Without a replica there is
    /// nothing to look at.
    pub async fn watch_replica(&self) {
        match &self.replica {
            Some(replica) => watch(self, replica).await,
            None => std::future::pending().await,
        }
    }

    /// Whether another store works on the same database. Servers are told apart by their identifiers; where a role may not ask
    /// for one, databases by their names and numbers alone.
    ///
    /// # Errors
    /// When one of them does not answer.
    pub async fn is_same_database(&self, other: &Self) -> Result<bool, StoreError> {
        let one = identity(&self.primary, self.deadline()).await?;
        Ok(one.may_be(&identity(&other.primary, other.deadline()).await?))
    }

    /// How far the primary's log reaches.
    async fn position(&self) -> Result<u64, StoreError> {
        use crate::database::query::RunQueryDsl;
        let position: i64 =
            self.run::<_, Failure>(async |connection| Ok(Position {}.get_result(connection).await?)).await?;
        Ok(u64::try_from(position).unwrap_or_default())
    }
}

#[async_trait]
impl RecentWrites for Store {
    async fn note(&self, account: AccountId) {
        let Some(replica) = &self.replica else { return };
        let position = self.position().await.unwrap_or(UNKNOWN);
        replica.note(account, position).await;
    }
}

/// What a look at the replica found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    InUse,
    /// Or too far behind.
    Away,
    /// A copy of another database, whose positions and accounts have nothing to do with the primary's.
    Foreign,
}

async fn watch(primary: &Store, replica: &Replica) {
    let mut lag = Lag::default();
    let mut known = None;
    loop {
        let asked = Instant::now();
        let standing = judge_standing(primary, replica, &mut lag, asked).await.unwrap_or(Standing::Away);
        let until = if standing == Standing::InUse { replica.millis(asked + TRUST) } else { 0 };
        replica.trusted_until.store(until, Ordering::Release);
        if known.replace(standing) != Some(standing) {
            match standing {
                Standing::InUse => tracing::info!("the read replica answers reads"),
                Standing::Away => {
                    tracing::warn!("the read replica is away or too far behind: the primary answers every read");
                }
                Standing::Foreign => tracing::error!(
                    "BAS_DATABASE_READ_URL leads to a standby of another database than DATABASE_URL: the primary answers \
                     every read"
                ),
            }
        }
        sleep(LOOK_EVERY).await;
    }
}

/// Looks at the replica. One that is not trusted, at first or after a failure, has to show that it is of the same database:
/// its address may lead elsewhere by then.
async fn judge_standing(
    primary: &Store,
    replica: &Replica,
    lag: &mut Lag,
    asked: Instant,
) -> Result<Standing, StoreError> {
    let (position, replayed) = look(primary, replica).await?;
    if !replica.is_trusted() {
        let of_replica = identity(&replica.target, Instant::now() + TRUST / 2).await?;
        if !identity(&primary.primary, primary.deadline()).await?.may_be(&of_replica) {
            return Ok(Standing::Foreign);
        }
    }
    lag.primary_was_at(asked, position);
    replica.replayed.store(replayed, Ordering::Release);
    let behind = lag.of(replayed, asked);
    metrics::gauge!("replica_lag_seconds").set(behind.as_secs_f64());
    Ok(if behind <= LAG_AT_MOST { Standing::InUse } else { Standing::Away })
}

statement!(
    DatabaseName() -> Scalar<Text> = "
    SELECT format('%s, number %s', datname, oid) FROM pg_database WHERE datname = current_database()"
);

statement!(
    /// The same of a server and of its standbys, and of no other.
    SystemIdentifier() -> Scalar<BigInt> = "SELECT system_identifier FROM pg_control_system()"
);

/// What a database is told from others by.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    database: String,
    /// Of the server; none where the role may not ask for it.
    system: Option<i64>,
}

impl Identity {
    /// Whether nothing is known by which they differ.
    fn may_be(&self, other: &Self) -> bool {
        let are_others = self.system.zip(other.system).is_some_and(|(one, other)| one != other);
        self.database == other.database && !are_others
    }
}

async fn identity(target: &Target, deadline: Instant) -> Result<Identity, StoreError> {
    use crate::database::query::RunQueryDsl;
    let database: String = target
        .run::<_, Failure>(deadline, async |connection| Ok(DatabaseName {}.get_result(connection).await?))
        .await?;
    let system: Result<i64, Failure> = target
        .run::<_, Failure>(deadline, async |connection| Ok(SystemIdentifier {}.get_result(connection).await?))
        .await;
    let system = match system.map_err(StoreError::from) {
        Ok(system) => Some(system),
        // The role may not, or the provider of the database lets nobody.
        Err(StoreError::Internal(_)) => None,
        Err(error) => return Err(error),
    };
    Ok(Identity { database, system })
}

statement!(
    Position() -> Scalar<BigInt> = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
);

statement!(
    /// Nothing of what is no standby.
    Replayed() -> Scalar<Nullable<BigInt>> = "SELECT (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint"
);

/// How far the primary's log reaches, and after that, how far the replica is. A replica that is none is an error.
async fn look(primary: &Store, replica: &Replica) -> Result<(u64, u64), StoreError> {
    use crate::database::query::RunQueryDsl;
    let position = primary.position().await?;
    let deadline = Instant::now() + TRUST / 2;
    let replayed: Option<i64> = replica
        .target
        .run::<_, Failure>(deadline, async |connection| Ok(Replayed {}.get_result(connection).await?))
        .await?;
    let replayed = replayed.and_then(|replayed| u64::try_from(replayed).ok());
    Ok((position, replayed.ok_or_else(|| StoreError::Unavailable("BAS_DATABASE_READ_URL is no standby".into()))?))
}

/// When the primary was where: tells for how long the replica has been behind.
#[derive(Debug, Default)]
struct Lag {
    /// Oldest first; those that the replica has passed are forgotten, and of the others as many are kept as fit into
    /// twice [`LAG_AT_MOST`].
    waits_for: std::collections::VecDeque<(Instant, u64)>,
}

impl Lag {
    fn primary_was_at(&mut self, at: Instant, position: u64) {
        let horizon = usize::try_from((LAG_AT_MOST * 2).as_millis() / LOOK_EVERY.as_millis()).unwrap_or(usize::MAX);
        // The oldest says how long the wait is; what is let go is the newest but one.
        if self.waits_for.len() >= horizon {
            self.waits_for.pop_back();
        }
        self.waits_for.push_back((at, position));
    }

    /// How long ago the primary was at the oldest position that the replica has not reached.
    fn of(&mut self, replayed: u64, now: Instant) -> Duration {
        while self.waits_for.front().is_some_and(|(_, position)| *position <= replayed) {
            self.waits_for.pop_front();
        }
        self.waits_for.front().map_or(Duration::ZERO, |(at, _)| now.saturating_duration_since(*at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_differ_by_their_servers_or_where_those_are_not_known_by_themselves() {
        let of = |database: &str, system| Identity { database: database.to_owned(), system };
        for (one, other, may_be) in [
            (of("shop, number 5", Some(1)), of("shop, number 5", Some(1)), true),
            (of("shop, number 5", Some(1)), of("shop, number 5", Some(2)), false),
            (of("shop, number 5", Some(1)), of("shop, number 6", Some(1)), false),
            (of("shop, number 5", None), of("shop, number 5", Some(1)), true),
            (of("shop, number 5", None), of("store, number 5", Some(1)), false),
        ] {
            assert_eq!(one.may_be(&other), may_be, "{one:?} {other:?}");
        }
    }

    #[test]
    fn lag_is_the_age_of_the_oldest_position_not_reached() {
        let (mut lag, start) = (Lag::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for (second, position) in [(0, 10), (1, 20), (2, 30), (3, 30)] {
            lag.primary_was_at(at(second), position);
        }
        assert_eq!(lag.of(15, at(3)), Duration::from_secs(2));
        assert_eq!(lag.of(30, at(3)), Duration::ZERO);
        for second in 4..1_000 {
            lag.primary_was_at(at(second), 40);
        }
        assert_eq!(lag.of(30, at(1_000)), Duration::from_secs(996));
        assert!(lag.waits_for.len() <= 100);
    }
}
