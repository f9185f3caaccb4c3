//! Where the statements of a request run, and for how long.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use diesel::{result::Error, sql_types::Bool};
use diesel_async::{AnsiTransactionManager, AsyncPgConnection, SimpleAsyncConnection, TransactionManager};
use domain::{AccountId, StoreError};
use futures_util::{FutureExt, future::BoxFuture};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::{
    Connect, PoolOptions, Pooler, Store,
    database::{
        error::Failure,
        pipeline::{self, Pipeline},
        pool::{self, Pool, PooledConnection},
        query::RunQueryDsl,
        replica::Replica,
        statement::Scalar,
        streams,
    },
};

/// The part of a request's time that a read replica has, before the primary is asked instead.
const REPLICA_TIMEOUT: Duration = Duration::from_millis(700);

/// The part of a request's time, from its end, in which it is found out whether the server answers at all.
const PING_PART: u32 = 6;

/// A server, and how to work on it.
#[derive(Clone)]
pub(crate) struct Target {
    pool: Pool,
    /// Not where a session belongs to a transaction at a time, nor where the only connection would be kept from the rest.
    pipeline: Option<Arc<Pipeline>>,
    options: PoolOptions,
}

/// The pools of a store and its siblings.
pub(crate) type Pools = Arc<Mutex<Vec<Pool>>>;

impl Target {
    pub fn new(connect: &Connect, options: PoolOptions) -> anyhow::Result<Self> {
        let can_share = options.pooler == Pooler::None && options.max_connections > 1;
        Ok(Self { pool: pool::pool(connect, options)?, pipeline: can_share.then(Arc::default), options })
    }

    /// Runs statements, and gives up when no answer comes in time; or earlier, when the caller drops this. Either way
    /// the connection is closed, since its statement may still be running.
    pub async fn run<T, E: From<Error> + From<StoreError>>(
        &self,
        deadline: Instant,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.answered(deadline, self.run_unhurried(work)).await
    }

    /// The same for as long as the server's own limit allows.
    pub fn run_unhurried<T, E: From<Error> + From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> impl Future<Output = Result<T, E>> {
        let begin = match self.options.pooler {
            Pooler::None => None,
            Pooler::Transaction => Some(self.options.begin()),
        };
        self.work(begin, work)
    }

    /// Runs statements in one transaction, within the same limits.
    pub async fn run_transaction<T, E: From<Error> + From<StoreError>>(
        &self,
        deadline: Instant,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.answered(deadline, self.work(Some(self.begin()), work)).await
    }

    /// The statements that start a transaction with the settings of a session, wherever the session comes from.
    fn begin(&self) -> String {
        match self.options.pooler {
            Pooler::None => "BEGIN".to_owned(),
            Pooler::Transaction => self.options.begin(),
        }
    }

    /// Runs `work`: in a transaction, if there are statements that begin one; transactions that it begins are savepoints
    /// within. (`AsyncConnection::transaction` asks for more of a closure than a generic one can promise, hence the steps
    /// by hand.)
    async fn work<T, E: From<Error> + From<StoreError>>(
        &self,
        begin: Option<String>,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> Result<T, E> {
        let connection = pool::acquire(&self.pool).await?;
        let mut session = Session::begin(connection, begin).await?;
        let done = work(session.connection()).await;
        session.end(done.is_ok(), self.options.pooler).await?;
        done
    }

    /// Runs one statement that is answered at once, on a connection that others like it use meanwhile; otherwise as
    /// [`run`](Self::run).
    pub async fn run_pipelined<T>(
        &self,
        deadline: Instant,
        work: impl AsyncFnOnce(&AsyncPgConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(pipeline) = &self.pipeline else {
            return self.run(deadline, async |connection| work(connection).await).await;
        };
        let answered = async {
            let pipelined = match pipeline.join() {
                Some(pipelined) => pipelined,
                None => pipeline.begin(pool::acquire(&self.pool).await?),
            };
            let found = work(&pipelined.connection).await?;
            pipeline::release_pipelined(pipelined);
            Ok(found)
        };
        self.answered(deadline, answered).await
    }

    /// Waits for `work` until the deadline. Shortly before it, a statement that takes no time tells whether the server is away
    /// or the work takes too long.
    async fn answered<T, E: From<StoreError>>(
        &self,
        deadline: Instant,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let late = async {
            sleep_until(deadline.checked_sub(self.options.answer / PING_PART).unwrap_or(deadline)).await;
            let answers = timeout_at(deadline, self.ping()).await;
            sleep_until(deadline).await;
            match answers {
                Ok(Ok(())) => StoreError::Overloaded("the statement takes too long".into()),
                Ok(Err(error)) => error,
                Err(_) => StoreError::Unavailable("no answer in time".into()),
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            error = late => Err(error.into()),
        }
    }

    async fn ping(&self) -> Result<(), StoreError> {
        let mut connection = pool::acquire(&self.pool).await?;
        connection.batch_execute("SELECT").await.map_err(Failure::from)?;
        pool::release(connection);
        Ok(())
    }
}

/// Counts a read by the server that answers it.
pub(crate) fn count_read(server: &'static str) {
    metrics::counter!("database_reads_total", "server" => server).increment(1);
}

statement!(
    /// A standby's sessions are, and those that began while the database was set to take no writes.
    IsReadOnly() -> Scalar<Bool> = "SELECT current_setting('transaction_read_only')::boolean"
);

/// A connection at work. Its steps are boxed, so that the compiler looks into them once and not for each piece of work.
struct Session {
    connection: PooledConnection,
    in_transaction: bool,
}

impl Session {
    fn begin(connection: PooledConnection, begin: Option<String>) -> BoxFuture<'static, Result<Self, Error>> {
        async move {
            let mut session = Self { connection, in_transaction: begin.is_some() };
            if let Some(begin) = begin
                && let Err(error) = AnsiTransactionManager::begin_transaction_sql(session.connection(), &begin).await
            {
                pool::release(session.connection);
                return Err(error);
            }
            Ok(session)
        }
        .boxed()
    }

    fn connection(&mut self) -> &mut AsyncPgConnection {
        &mut self.connection
    }

    fn end(mut self, succeeded: bool, pooler: Pooler) -> BoxFuture<'static, Result<(), Error>> {
        async move {
            let mut ended = Ok(());
            if self.in_transaction && succeeded {
                ended = AnsiTransactionManager::commit_transaction(self.connection()).await;
            } else if self.in_transaction {
                // What failed first is what matters; a connection that cannot roll back is broken and not reused.
                let _ = AnsiTransactionManager::rollback_transaction(self.connection()).await;
            }
            // A session that takes no writes is closed: it would stay so for good, though the database's name leads to another
            // server by now, or the database takes writes again. Behind a pooler the session is not the connection's.
            if succeeded || pooler != Pooler::None || !self.is_read_only().await {
                pool::release(self.connection);
            }
            ended
        }
        .boxed()
    }

    async fn is_read_only(&mut self) -> bool {
        IsReadOnly {}.get_result(self.connection()).await.unwrap_or(false)
    }
}

impl Store {
    /// Makes the pool; connections are opened when they are needed.
    pub fn connect(connect: &Connect, options: PoolOptions) -> anyhow::Result<Self> {
        let primary = Target::new(connect, options)?;
        let pools = Arc::new(Mutex::new(vec![primary.pool.clone()]));
        let streams = streams::turns(&options);
        Ok(Self { primary, replica: None, pools, streams, nodes: Arc::default() })
    }

    /// The same database by a pool of its own. A pool that one thread has to itself keeps its connections on that
    /// thread: no request then waits for another thread to wake up. Usage and end are those of all of them together.
    ///
    /// # Errors
    /// When the pool cannot be made.
    pub fn with_own_pool(&self, connect: &Connect, options: PoolOptions) -> anyhow::Result<Self> {
        let primary = Target::new(connect, options)?;
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).push(primary.pool.clone());
        let streams = streams::turns(&options);
        let (pools, nodes) = (Arc::clone(&self.pools), Arc::clone(&self.nodes));
        Ok(Self { primary, replica: self.replica.clone(), pools, streams, nodes })
    }

    /// How long a caller waits for a connection.
    pub(crate) const fn wait(&self) -> Duration {
        self.primary.options.wait
    }

    /// When a request that begins now has waited long enough.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.primary.options.answer
    }

    /// Runs statements that may take longer than a request waits, such as those of maintenance.
    pub(crate) fn run_unhurried<T, E: From<Error> + From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> impl Future<Output = Result<T, E>> {
        self.primary.run_unhurried(work)
    }

    /// Runs statements of a request on the primary.
    pub(crate) fn run<T, E: From<Error> + From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> impl Future<Output = Result<T, E>> {
        self.primary.run(self.deadline(), work)
    }

    /// Runs statements of a request in one transaction on the primary.
    pub(crate) fn run_transaction<T, E: From<Error> + From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> impl Future<Output = Result<T, E>> {
        self.primary.run_transaction(self.deadline(), work)
    }

    /// Runs statements in one transaction on the primary that begins with `limits`: settings of its own, for work that may
    /// take longer than a request waits.
    pub(crate) fn run_transaction_within<T, E: From<Error> + From<StoreError>>(
        &self,
        limits: &str,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E>,
    ) -> impl Future<Output = Result<T, E>> {
        self.primary.work(Some(format!("{}; {limits}", self.primary.begin())), work)
    }

    /// Runs statements that only read: on the replica, if there is one that has all that the account is known to have
    /// written. What fails there is read from the primary.
    pub(crate) async fn read<T>(
        &self,
        account: AccountId,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, Failure> + Clone,
    ) -> Result<T, Failure> {
        let now = Instant::now();
        if let Some(replica) = self.replica_for(account).await {
            let found = replica.target.run(now + REPLICA_TIMEOUT, work.clone()).await;
            if let Some(found) = replica.judge(found) {
                return Ok(found);
            }
        }
        count_read("primary");
        self.primary.run(now + self.primary.options.answer, work).await
    }

    /// Like [`read`](Self::read), for one statement that is answered at once, such as a page of a list. It is sent without
    /// waiting for those of others, so one that took its time would hold theirs up.
    pub(crate) async fn read_pipelined<T>(
        &self,
        account: AccountId,
        work: impl AsyncFnOnce(&AsyncPgConnection) -> Result<T, Failure> + Clone,
    ) -> Result<T, Failure> {
        let now = Instant::now();
        if let Some(replica) = self.replica_for(account).await {
            let found = replica.target.run_pipelined(now + REPLICA_TIMEOUT, work.clone()).await;
            if let Some(found) = replica.judge(found) {
                return Ok(found);
            }
        }
        count_read("primary");
        self.primary.run_pipelined(now + self.primary.options.answer, work).await
    }

    async fn replica_for(&self, account: AccountId) -> Option<&Replica> {
        let replica = self.replica.as_deref()?;
        replica.serves(account).await.then_some(replica)
    }

    /// (connections in use, connections open) to the primary, those of the siblings included, for the metrics.
    pub fn pool_usage(&self) -> (usize, usize) {
        let each = self.all_pools().into_iter().map(|pool| pool.status());
        each.fold((0, 0), |(in_use, open), pool| (in_use + pool.size.saturating_sub(pool.available), open + pool.size))
    }

    /// Closes the pools, those of the siblings included: what is in use ends, nothing new is given out.
    pub fn close(&self) {
        self.all_pools().iter().for_each(Pool::close);
        if let Some(replica) = &self.replica {
            replica.target.pool.close();
        }
    }

    fn all_pools(&self) -> Vec<Pool> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
