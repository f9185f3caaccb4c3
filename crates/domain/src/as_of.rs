//! Results as of past days, beside those that are live: each is computed on a copy of what was known of an account by the
//! end of a day, so that nothing live can change.

use async_trait::async_trait;
use time::{Date, OffsetDateTime};

use crate::{AccountId, StoreError, accounts::Account, jobs::JobName};

/// Days that results reach back when they are asked for: two years.
pub const LONGEST_DAYS: i64 = 731;

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AsOfStore: Send + Sync {
    /// Copies what was known of the account by `until`, the end of `as_of` in its time zone: the daily sums, customers,
    /// products, unit costs and stock levels, but no results, connections, credits or webhooks. Gives the copy, which
    /// [`find`](Self::find) does not know of yet, or `None` where there is no such account. Its daily sums must be up to date.
    async fn copy(&self, account: AccountId, as_of: Date, until: OffsetDateTime)
    -> Result<Option<Account>, StoreError>;
    /// Gives a copy out from now on, and removes the earlier ones of the same account and day.
    async fn publish(&self, copy: AccountId) -> Result<(), StoreError>;
    /// The copy that holds the account's results as of the day; `None` where none were computed.
    async fn find(&self, account: AccountId, as_of: Date) -> Result<Option<AccountId>, StoreError>;
    /// The rows of the results of a job, in the order of their keys, as JSON objects.
    async fn rows(&self, copy: AccountId, job: JobName) -> Result<Vec<serde_json::Value>, StoreError>;
}
