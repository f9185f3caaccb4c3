//! [`QueueStore`] on Postgres.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz};
use domain::{
    AccountId, StoreError,
    queues::{Depth, MOST_COUNTED, Queue, QueueStore, Versions},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
};

row!(
    struct DepthRow {
        queue: String => Text,
        waiting: i64 => BigInt,
        due_since: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

impl TryFrom<DepthRow> for Depth {
    type Error = StoreError;
    fn try_from(row: DepthRow) -> Result<Self, StoreError> {
        let DepthRow { queue, waiting, due_since } = row;
        Ok(Self { queue: parse(&queue, "queue")?, waiting, due_since })
    }
}

statement!(
    /// Of one account. What is due later has an instant after now, which is none that it could have been worked on. Of each
    /// webhook's deliveries the earliest are counted; the planner is not told how many: where it expects fewer, it would read all
    /// there are and sort them.
    Depths(account: i64 => BigInt, now: OffsetDateTime => Timestamptz, most: i64 => BigInt) -> DepthRow = "
    SELECT 'deliveries' AS queue, count(*) AS waiting, min(d.due_at) FILTER (WHERE d.due_at <= $2) AS due_since
    FROM webhook_subscriptions w CROSS JOIN LATERAL (
        SELECT due_at FROM deliveries WHERE account_id = $1 AND subscription_id = w.id AND state = 'pending'
        ORDER BY due_at LIMIT (SELECT $3::bigint)
    ) d WHERE w.account_id = $1
    UNION ALL
    SELECT 'held', count(*), NULL
    FROM webhook_subscriptions w CROSS JOIN LATERAL (
        SELECT FROM deliveries WHERE account_id = $1 AND subscription_id = w.id AND state = 'held'
        ORDER BY due_at LIMIT (SELECT $3::bigint)
    ) d WHERE w.account_id = $1
    UNION ALL
    SELECT 'inbox', count(*), min(due_at) FILTER (WHERE due_at <= $2)
    FROM provider_inbox WHERE account_id = $1 AND processed_at IS NULL
    UNION ALL
    SELECT 'uploads', count(*), min(created_at)
    FROM uploads WHERE account_id = $1 AND state IN ('queued', 'running')
    UNION ALL
    SELECT 'exports', count(*), min(created_at)
    FROM exports WHERE account_id = $1 AND state IN ('queued', 'running')
    UNION ALL
    SELECT 'top_ups', count(*), min(due_at) FILTER (WHERE due_at <= $2)
    FROM auto_topups WHERE account_id = $1 AND state = 'pending'"
);

row!(
    struct VersionRow {
        schema: String => Text,
        database: String => Text,
    }
);

statement!(
    ReadVersions() -> VersionRow = "
    SELECT max(version)::text AS schema, current_setting('server_version') AS database FROM __diesel_schema_migrations"
);

#[async_trait]
impl QueueStore for Store {
    async fn depths(&self, account: AccountId, now: OffsetDateTime) -> Result<Vec<Depth>, StoreError> {
        let read = Depths { account: account.0, now, most: MOST_COUNTED };
        let rows: Vec<DepthRow> = self.run::<_, Failure>(async |connection| Ok(read.load(connection).await?)).await?;
        let mut depths = rows.into_iter().map(Depth::try_from).collect::<Result<Vec<_>, _>>()?;
        depths.sort_by_key(|depth| Queue::ALL.iter().position(|queue| *queue == depth.queue));
        Ok(depths)
    }

    async fn versions(&self) -> Result<Versions, StoreError> {
        let row: VersionRow =
            self.run::<_, Failure>(async |connection| Ok(ReadVersions {}.get_result(connection).await?)).await?;
        let VersionRow { schema, database } = row;
        Ok(Versions { program: env!("CARGO_PKG_VERSION"), schema, database })
    }
}
