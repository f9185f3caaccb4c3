//! [`ThrottleStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, Bytea, Integer, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    StoreError,
    throttle::{Counter, Tally, ThrottleStore, Verdict},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
    schema::throttles,
};

row!(
    struct CountRow {
        tries: i32 => Integer,
        last_at: OffsetDateTime => Timestamptz,
    }
);

statement!(
    /// The counter as it stands, unless it is over.
    Look<'a>(key: &'a [u8] => Bytea, now: OffsetDateTime => Timestamptz) -> CountRow = "
    SELECT tries, last_at FROM throttles WHERE key = $1 AND expires_at > $2"
);

statement!(
    /// The counter, locked until the transaction ends; one that is not there, or over, begins at none.
    Open<'a>(key: &'a [u8] => Bytea, now: OffsetDateTime => Timestamptz) -> CountRow = "
    INSERT INTO throttles AS known (key, tries, last_at, expires_at) VALUES ($1, 0, $2, $2)
    ON CONFLICT (key) DO UPDATE SET tries = CASE WHEN known.expires_at <= $2 THEN 0 ELSE known.tries END
    RETURNING tries, last_at"
);

statement!(
    Add<'a>(key: &'a [u8] => Bytea, now: OffsetDateTime => Timestamptz, expires_at: OffsetDateTime => Timestamptz) -> () = "
    UPDATE throttles SET tries = tries + 1, last_at = $2, expires_at = $3 WHERE key = $1"
);

statement!(
    GiveBack<'a>(key: &'a [u8] => Bytea) -> () = "UPDATE throttles SET tries = tries - 1 WHERE key = $1 AND tries > 0"
);

statement!(
    Clear(keys: Vec<Vec<u8>> => Array<Bytea>) -> () = "DELETE FROM throttles WHERE key = ANY ($1)"
);

pub(super) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> QueryResult<()> {
    diesel::delete(throttles::table.filter(throttles::expires_at.le(now))).execute(connection).await?;
    Ok(())
}

/// Forgets counters within a transaction.
pub(super) async fn clear(connection: &mut AsyncPgConnection, counters: &[Counter]) -> QueryResult<()> {
    let keys = counters.iter().map(|counter| counter.key.to_vec()).collect();
    Clear { keys }.execute(connection).await.map(|_| ())
}

/// What is to be told without counting: who has to wait changes nothing, and waits for nobody's lock.
async fn look(
    connection: &mut AsyncPgConnection,
    counters: &[Counter],
    now: OffsetDateTime,
) -> QueryResult<Option<Tally>> {
    let (mut worst, mut of_first) = (Verdict::Go, 0);
    for (index, counter) in counters.iter().enumerate() {
        let found: Option<CountRow> = Look { key: &counter.key, now }.get_result(connection).await.optional()?;
        let Some(CountRow { tries, last_at }) = found else { continue };
        worst = worst.max(counter.verdict(tries, last_at, now));
        if index == 0 {
            of_first = tries;
        }
    }
    Ok((worst != Verdict::Go).then_some(Tally { verdict: worst, tries: of_first }))
}

#[async_trait]
impl ThrottleStore for Store {
    async fn count(&self, counters: &[Counter], now: OffsetDateTime) -> Result<Tally, StoreError> {
        let told = self.run::<_, Failure>(async |connection| Ok(look(connection, counters, now).await?)).await?;
        if let Some(tally) = told {
            return Ok(tally);
        }
        // In one order, so that two who count the same wait for each other instead of both.
        let first = counters.first().map(|counter| counter.key);
        let mut counters = counters.to_vec();
        counters.sort_by_key(|counter| counter.key);
        let tally = self
            .transact::<_, Failure>(async |connection| {
                let (mut worst, mut of_first) = (Verdict::Go, 0);
                for counter in &counters {
                    let CountRow { tries, last_at } = Open { key: &counter.key, now }.get_result(connection).await?;
                    worst = worst.max(counter.verdict(tries, last_at, now));
                    if first == Some(counter.key) {
                        of_first = tries;
                    }
                }
                if worst == Verdict::Go {
                    for counter in &counters {
                        let add = Add { key: &counter.key, now, expires_at: counter.expires_at(now) };
                        add.execute(connection).await?;
                    }
                    of_first += 1;
                }
                Ok(Tally { verdict: worst, tries: of_first })
            })
            .await?;
        Ok(tally)
    }

    async fn give_back(&self, counter: &Counter) -> Result<(), StoreError> {
        let give_back = GiveBack { key: &counter.key };
        self.run::<_, Failure>(async |connection| Ok(give_back.execute(connection).await?)).await?;
        Ok(())
    }

    async fn clear(&self, counters: &[Counter]) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| Ok(clear(connection, counters).await?)).await?;
        Ok(())
    }
}
