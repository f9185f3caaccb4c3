//! The runner of transactions: one that Postgres ended because it conflicted with another is run again.

use diesel::result::Error;
use diesel_async::AsyncPgConnection;
use domain::StoreError;

use crate::{
    Store,
    database::{error::Failure, sqlstate},
};

/// What a transaction may end with.
pub(crate) trait TransactionError: From<Error> + From<StoreError> {
    /// Whether Postgres rolled it back for the sake of another transaction: nothing is wrong with it, and nothing of it is
    /// left.
    fn is_conflict(&self) -> bool;
}

/// Why a transaction was rolled back.
#[derive(Debug)]
pub(crate) enum Rollback<E> {
    /// What was asked for is refused.
    Refused(E),
    /// Trouble with the database.
    Failed(Failure),
}

impl<E> From<Error> for Rollback<E> {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

impl<E> From<Failure> for Rollback<E> {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl<E> From<StoreError> for Rollback<E> {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl<E> TransactionError for Rollback<E> {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.is_conflict())
    }
}

impl<E: From<StoreError>> Rollback<E> {
    pub(crate) fn into_error(self) -> E {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Failed(failure) => StoreError::from(failure).into(),
        }
    }
}

/// A deadlock (40P01) or a serialization failure (40001).
pub(crate) fn is_conflict(error: &Error) -> bool {
    sqlstate::of(error).is_some_and(|code| sqlstate::is_conflict(&code))
}

/// Whether this is what [`store_error`](crate::database::error::store_error) makes of a conflict.
pub(crate) fn was_conflict(error: &StoreError) -> bool {
    matches!(error, StoreError::Overloaded(cause) if cause.downcast_ref().is_some_and(is_conflict))
}

impl Store {
    /// Runs `work` in a transaction on the primary. After a conflict with another one it is run a second time; so it must
    /// have no effect outside of the transaction.
    ///
    /// # Errors
    /// Those of `work`. A second conflict is [`StoreError::Overloaded`].
    pub(crate) async fn transact<T, E: TransactionError>(
        &self,
        work: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, E> + Clone,
    ) -> Result<T, E> {
        match self.run_transaction(work.clone()).await {
            Err(error) if error.is_conflict() => {
                metrics::counter!("transactions_retried_total").increment(1);
                self.run_transaction(work).await
            }
            done => done,
        }
    }
}
