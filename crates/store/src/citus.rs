//! Spreading the tables over the nodes of a Citus cluster, and statements that concern several accounts there.
//!
//! There, rows of several shards cannot be locked by one statement, nor changed without a commit in two phases. So what a
//! worker leases or records for several accounts is cut up by shard, and each part is a statement of its own; on one
//! Postgres all of it is one part.

use std::collections::BTreeMap;

use diesel::{
    QueryableByName, sql_query,
    sql_types::{Array, BigInt, Bool},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::AccountId;

use crate::{Connect, Store, error::Failure};

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
    let there = client.query_opt("SELECT FROM pg_extension WHERE extname = 'citus'", &[]).await?;
    anyhow::ensure!(
        there.is_some(),
        "this database has no Citus: `CREATE EXTENSION citus`, and add the nodes by citus_add_node(), then try again"
    );
    client.batch_execute(DISTRIBUTE).await?;
    drop(client);
    driving.abort();
    Ok(())
}

/// Things whose accounts live in one shard.
pub(crate) struct Part<'a, T> {
    pub items: Vec<&'a T>,
    /// Their accounts, for the statement to name, so that it goes to that shard alone. None on one Postgres, where that
    /// would be work for nothing.
    pub accounts: Option<Vec<i64>>,
}

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    yes: bool,
}

#[derive(QueryableByName)]
struct Place {
    #[diesel(sql_type = BigInt)]
    shard: i64,
}

const HAS_CITUS: &str = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS yes";
const IS_DISTRIBUTED: &str =
    "SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'deliveries'::regclass) AS yes";
/// Answered by the coordinator, from what it has in memory. All tables have the same shards.
const PLACES: &str = "
    SELECT get_shard_id_for_distribution_column('deliveries', account) AS shard
    FROM unnest($1) WITH ORDINALITY AS a (account, position) ORDER BY position";

impl Store {
    /// Cuts things up by the shard that their accounts live in.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn parts<'a, T>(
        &self,
        items: &'a [T],
        account: impl Fn(&T) -> AccountId,
    ) -> Result<Vec<Part<'a, T>>, Failure> {
        if !*self.is_distributed.get_or_try_init(|| self.run(is_distributed)).await? {
            return Ok(vec![Part { items: items.iter().collect(), accounts: None }]);
        }
        let accounts: Vec<i64> = items.iter().map(|item| account(item).0).collect();
        let places: Vec<Place> = self
            .run(async |connection| {
                Ok::<_, Failure>(sql_query(PLACES).bind::<Array<BigInt>, _>(&accounts).load(connection).await?)
            })
            .await?;
        let mut parts: BTreeMap<i64, (Vec<&T>, Vec<i64>)> = BTreeMap::new();
        for ((item, account), place) in items.iter().zip(accounts).zip(places) {
            let (items, accounts) = parts.entry(place.shard).or_default();
            items.push(item);
            accounts.push(account);
        }
        Ok(parts.into_values().map(|(items, accounts)| Part { items, accounts: Some(accounts) }).collect())
    }
}

async fn is_distributed(connection: &mut AsyncPgConnection) -> Result<bool, Failure> {
    let has_citus: Answer = sql_query(HAS_CITUS).get_result(connection).await?;
    if !has_citus.yes {
        return Ok(false);
    }
    let distributed: Answer = sql_query(IS_DISTRIBUTED).get_result(connection).await?;
    Ok(distributed.yes)
}
