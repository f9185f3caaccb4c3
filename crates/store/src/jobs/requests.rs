//! [`JobRequests`] on Postgres.

use async_trait::async_trait;
use diesel::{
    dsl::exists,
    prelude::*,
    sql_types::{BigInt, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    audit::Entry,
    jobs::{JobRequests, RequestLease},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    people::audit,
    schema::job_requests,
};

/// Requests that are looked at: one of them that another process takes leaves the next.
const LOOKED_AT: i64 = 10;

statement!(
    /// Asked for again while it is being worked on, it stays when that ends.
    Request(account: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    INSERT INTO job_requests AS known (account_id, requested_at, due_at) VALUES ($1, $2, $2)
    ON CONFLICT (account_id) DO UPDATE SET is_again = true, requested_at = excluded.requested_at,
        due_at = least(known.due_at, excluded.due_at)"
);

statement!(
    /// Locks nothing: it looks at every account.
    Due(now: OffsetDateTime => Timestamptz, limit: i64 => BigInt) -> Scalar<BigInt> = "
    SELECT account_id FROM job_requests WHERE due_at <= $1 AND (lease_until IS NULL OR lease_until <= now())
    ORDER BY due_at, account_id LIMIT $2"
);

statement!(
    Lease(account: i64 => BigInt, lease_seconds: i64 => BigInt) -> Scalar<BigInt> = "
    UPDATE job_requests SET lease_number = lease_number + 1, lease_until = now() + $2 * interval '1 second',
        is_again = false
    WHERE account_id = $1 AND (lease_until IS NULL OR lease_until <= now())
    RETURNING lease_number"
);

statement!(
    Hold(account: i64 => BigInt, number: i64 => BigInt, lease_seconds: i64 => BigInt) -> () = "
    UPDATE job_requests SET lease_until = now() + $3 * interval '1 second'
    WHERE account_id = $1 AND lease_number = $2 AND lease_until IS NOT NULL"
);

statement!(
    Done(account: i64 => BigInt, number: i64 => BigInt) -> () = "
    DELETE FROM job_requests WHERE account_id = $1 AND lease_number = $2 AND NOT is_again"
);

statement!(
    PutBack(account: i64 => BigInt, number: i64 => BigInt, due_at: OffsetDateTime => Timestamptz) -> () = "
    UPDATE job_requests SET lease_until = NULL, due_at = CASE WHEN is_again THEN least(requested_at, $3) ELSE $3 END
    WHERE account_id = $1 AND lease_number = $2"
);

/// Asks for the jobs of an account, within the transaction of what they are to take in.
pub(crate) async fn insert(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    Request { account: account.0, now }.execute(connection).await?;
    Ok(())
}

#[async_trait]
impl JobRequests for Store {
    async fn request(&self, account: AccountId, note: Option<Entry>, now: OffsetDateTime) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            insert(connection, account, now).await?;
            audit::add_any(connection, note.as_ref(), now).await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn is_requested(&self, account: AccountId) -> Result<bool, StoreError> {
        let is_there = self
            .run::<_, Failure>(async |connection| {
                Ok(diesel::select(exists(job_requests::table.find(account.0))).get_result(connection).await?)
            })
            .await?;
        Ok(is_there)
    }

    async fn lease(&self, now: OffsetDateTime, lease_seconds: i64) -> Result<Option<RequestLease>, StoreError> {
        let due = Due { now, limit: LOOKED_AT };
        let accounts: Vec<i64> = self.run::<_, Failure>(async |connection| Ok(due.load(connection).await?)).await?;
        for account in accounts {
            let lease = Lease { account, lease_seconds };
            let number: Option<i64> =
                self.run::<_, Failure>(async |connection| Ok(lease.get_result(connection).await.optional()?)).await?;
            if let Some(number) = number {
                return Ok(Some(RequestLease { account: AccountId(account), number }));
            }
        }
        Ok(None)
    }

    async fn hold(&self, lease: RequestLease, lease_seconds: i64) -> Result<bool, StoreError> {
        let hold = Hold { account: lease.account.0, number: lease.number, lease_seconds };
        let held = self.run::<_, Failure>(async |connection| Ok(hold.execute(connection).await?)).await?;
        Ok(held > 0)
    }

    async fn done(&self, lease: RequestLease) -> Result<(), StoreError> {
        let RequestLease { account, number } = lease;
        self.transact::<_, Failure>(async |connection| {
            if (Done { account: account.0, number }).execute(connection).await? == 0 {
                let again = job_requests::table.find(account.0).filter(job_requests::lease_number.eq(number));
                diesel::update(again)
                    .set((
                        job_requests::lease_until.eq(None::<OffsetDateTime>),
                        // Behind whoever asked before it was asked for again.
                        job_requests::due_at.eq(job_requests::requested_at),
                    ))
                    .execute(connection)
                    .await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn put_back(&self, lease: RequestLease, due_at: OffsetDateTime) -> Result<(), StoreError> {
        let put_back = PutBack { account: lease.account.0, number: lease.number, due_at };
        self.run::<_, Failure>(async |connection| Ok(put_back.execute(connection).await?)).await?;
        Ok(())
    }
}
