//! Results as of past days, beside those that are live: each is computed on a copy of what was known of an account by the
//! end of a day, so that nothing live can change.

use async_trait::async_trait;
use time::{Date, Month, OffsetDateTime};

use crate::{AccountId, StoreError, accounts::Account, jobs::JobName};

/// Years that results reach back when they are asked for.
const LONGEST_YEARS: i32 = 2;

/// The first day that results are given of: the same date two years before `today`; of 29 February the 28th.
pub fn earliest(today: Date) -> Date {
    let year = today.year() - LONGEST_YEARS;
    let last_of_february = || Date::from_calendar_date(year, Month::February, 28);
    today.replace_year(year).or_else(|_| last_of_february()).unwrap_or(Date::MIN)
}

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

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::date;

    use super::*;

    #[rstest]
    #[case(date!(2026 - 05 - 02), date!(2024 - 05 - 02))]
    #[case(date!(2026 - 02 - 28), date!(2024 - 02 - 28))]
    #[case(date!(2024 - 02 - 29), date!(2022 - 02 - 28))]
    #[case(Date::MIN, Date::MIN)]
    fn results_reach_back_to_the_same_date_two_years_before(#[case] today: Date, #[case] first: Date) {
        assert_eq!(earliest(today), first);
    }
}
