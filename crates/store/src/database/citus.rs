//! Spreading the tables over the nodes of a Citus cluster, and statements that concern several accounts there.
//!
//! There, rows of several shards cannot be locked by one statement, nor changed without a commit in two phases. So what a
//! worker leases or records for several accounts is split by shard, and each part is a statement of its own; on one
//! Postgres all of it is one part.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use diesel::{
    QueryDsl,
    sql_types::{Array, BigInt, Bool},
};
use diesel_async::AsyncPgConnection;
use domain::{AccountId, StoreError, error::Chain, health::Health};
use futures_util::future::join_all;
use tokio::sync::OnceCell;

use crate::{
    Connect, Store,
    database::{
        error::Failure,
        query::{LoadQuery, RunQueryDsl},
        statement::Scalar,
    },
    schema::accounts,
};

/// What distributes the tables; safe to run again, and to be run by hand.
pub const DISTRIBUTE: &str = include_str!("citus.sql");

/// Distributes the tables that are not distributed yet. The database needs the extension and its nodes beforehand.
///
/// # Errors
/// When the extension is missing, or a table cannot be distributed; nothing is changed then.
pub async fn distribute(connect: &Connect) -> anyhow::Result<()> {
    let (client, driver) = connect.open().await?;
    #[expect(clippy::disallowed_methods, reason = "it ends with this function")]
    let driving = tokio::spawn(driver);
    let is_installed: bool = client.query_one(IS_INSTALLED, &[]).await?.get("is_installed");
    anyhow::ensure!(
        is_installed,
        "this database has no Citus: `CREATE EXTENSION citus`, and add the nodes by citus_add_node(), then try again"
    );
    client.batch_execute(DISTRIBUTE).await?;
    drop(client);
    driving.abort();
    Ok(())
}

session_statement!(
    after [""] =>
    IS_INSTALLED() -> (is_installed: Bool) = "
    SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS is_installed"
);

/// Things whose accounts live in one shard.
pub(crate) struct Part<'a, T> {
    pub items: Vec<&'a T>,
    /// Their accounts, for the statement to name, so that it goes to that shard alone. None on one Postgres, where that
    /// would be useless work.
    pub accounts: Option<Vec<i64>>,
}

statement!(
    HasCitus() -> Scalar<Bool> = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"
);

statement!(
    on Citus:
    IsDistributed() -> Scalar<Bool> =
        "SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'deliveries'::regclass)"
);

statement!(
    on Citus:
    /// Answered by the coordinator, from what it has in memory. All tables have the same shards.
    Shards<'a>(accounts: &'a [i64] => Array<BigInt>) -> Scalar<BigInt> = "
    SELECT get_shard_id_for_distribution_column('deliveries', account)
    FROM unnest($1) WITH ORDINALITY AS a (account, position) ORDER BY position"
);

/// What is known of the nodes that the tables are on.
#[derive(Default)]
pub(crate) struct Nodes {
    /// Whether accounts live on several nodes; asked once, when it first matters.
    is_distributed: OnceCell<bool>,
    /// One was away at the last look for work.
    is_one_away: AtomicBool,
}

impl Store {
    /// The shard of each account; none on one Postgres.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn shards(&self, accounts: &[i64]) -> Result<Option<Vec<i64>>, Failure> {
        if !self.is_distributed().await? {
            return Ok(None);
        }
        let shards = Shards { accounts };
        Ok(Some(self.run::<_, Failure>(async |connection| Ok(shards.load(connection).await?)).await?))
    }

    /// Cuts things up by the shard that their accounts live in.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn parts<'a, T>(
        &self,
        items: &'a [T],
        account: impl Fn(&T) -> AccountId,
    ) -> Result<Vec<Part<'a, T>>, Failure> {
        let accounts: Vec<i64> = items.iter().map(|item| account(item).0).collect();
        let Some(shards) = self.shards(&accounts).await? else {
            return Ok(vec![Part { items: items.iter().collect(), accounts: None }]);
        };
        let mut parts: BTreeMap<i64, (Vec<&T>, Vec<i64>)> = BTreeMap::new();
        for ((item, account), shard) in items.iter().zip(accounts).zip(shards) {
            let (items, accounts) = parts.entry(shard).or_default();
            items.push(item);
            accounts.push(account);
        }
        Ok(parts.into_values().map(|(items, accounts)| Part { items, accounts: Some(accounts) }).collect())
    }

    /// Looks for work of any account. `statement` makes the query: for all accounts, or for those that it is given. With a
    /// node away the query for all fails: then every shard is asked alone, and what the others have is found.
    ///
    /// # Errors
    /// When the database, or every node, does not answer.
    pub(crate) async fn look<S, T>(&self, statement: impl Fn(Option<Vec<i64>>) -> S) -> Result<Vec<T>, StoreError>
    where
        S: LoadQuery<T> + Send + 'static,
        T: Send + 'static,
    {
        let all = self.load(statement(None)).await;
        let Err(StoreError::Unavailable(cause)) = all else {
            if all.is_ok() && self.nodes.is_one_away.swap(false, Ordering::Relaxed) {
                tracing::info!("all nodes answer again");
            }
            return all;
        };
        if !self.is_distributed().await? {
            return Err(StoreError::Unavailable(cause));
        }
        if !self.nodes.is_one_away.swap(true, Ordering::Relaxed) {
            tracing::warn!(cause = %Chain(&*cause), "a node is away: the accounts on it wait, the others' work goes on");
        }
        let accounts: Vec<i64> = self
            .run::<_, Failure>(async |connection| Ok(accounts::table.select(accounts::id).load(connection).await?))
            .await?;
        let parts = self.parts(&accounts, |account| AccountId(*account)).await?;
        let found = join_all(parts.into_iter().map(|part| self.load(statement(part.accounts)))).await;
        Ok(self.of_nodes_there(found).await?.into_iter().flatten().collect())
    }

    async fn load<S, T>(&self, statement: S) -> Result<Vec<T>, StoreError>
    where
        S: LoadQuery<T> + Send + 'static,
        T: Send + 'static,
    {
        Ok(self.run::<_, Failure>(async |connection| Ok(statement.load(connection).await?)).await?)
    }

    /// What came of the parts that succeeded. That a node is away is no error on a cluster: its accounts wait for it, and the
    /// others must not.
    ///
    /// # Errors
    /// When no part succeeded, unless it is for nodes that are away while the coordinator answers.
    pub(crate) async fn of_nodes_there<T>(&self, parts: Vec<Result<T, StoreError>>) -> Result<Vec<T>, StoreError> {
        let (mut there, mut failure) = (Vec::new(), None);
        for part in parts {
            match part {
                Ok(part) => there.push(part),
                Err(error) => failure = Some(error),
            }
        }
        let Some(error) = failure else { return Ok(there) };
        if !there.is_empty() {
            match error {
                // Said once, by the look for work.
                StoreError::Unavailable(_) | StoreError::Overloaded(_) => {
                    tracing::debug!(error = %Chain(&error), "a node is away")
                }
                StoreError::Internal(_) => {
                    tracing::error!(error = %Chain(&error), "the work of some accounts cannot be done")
                }
            }
            return Ok(there);
        }
        let node_is_away = matches!(error, StoreError::Unavailable(_))
            && self.is_distributed().await.unwrap_or(false)
            && self.ping().await.is_ok();
        if node_is_away { Ok(there) } else { Err(error) }
    }

    async fn is_distributed(&self) -> Result<bool, Failure> {
        Ok(*self.nodes.is_distributed.get_or_try_init(|| self.run(is_distributed)).await?)
    }
}

async fn is_distributed(connection: &mut AsyncPgConnection) -> Result<bool, Failure> {
    let has_citus: bool = HasCitus {}.get_result(connection).await?;
    Ok(has_citus && IsDistributed {}.get_result(connection).await?)
}
