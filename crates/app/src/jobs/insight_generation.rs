//! The job `insight_generation`: what the results of the other jobs mean, in words.

use domain::{
    StoreError,
    daily::without_gaps,
    insights::{Facts, draft},
    jobs::Written,
    profit::DayRange,
};
use time::{Date, Duration};

use super::Work;

/// Days whose anomalies are news.
const NEWS_DAYS: i64 = 7;
/// Two periods of thirty days.
const COMPARED_DAYS: i64 = 60;

pub(super) async fn run(work: &Work<'_>) -> Result<Written, StoreError> {
    let (account, last) = (work.account, work.claim.last_full_day());
    let until_last =
        |days: i64| DayRange { first: last.checked_sub(Duration::days(days - 1)).unwrap_or(Date::MIN), last };
    let compared = until_last(COMPARED_DAYS);
    let known = work.deps.daily.series(account.id, compared).await?;
    let now = (work.clock)();
    // As of a day in the past, a shop is judged at that day's end.
    let judged_at = now.min(account.timezone.start_of(work.claim.as_of.next_day().unwrap_or(Date::MAX)));
    let stored = work.deps.insight_source.stored(account.id, until_last(NEWS_DAYS), judged_at).await?;
    let facts = Facts { currency: account.currency, days: without_gaps(&known, compared.first, last), stored };
    work.deps.insights.replace(work.claim, draft(&facts), now).await
}
