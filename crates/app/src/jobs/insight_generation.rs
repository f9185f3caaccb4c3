//! The job `insight_generation`: what the results of the other jobs mean, in words.

use domain::{
    StoreError,
    accounts::Account,
    daily::without_gaps,
    insights::{Facts, Worded, draft},
    jobs::WriteOutcome,
    profit::DayRange,
    texts::Texts,
};
use time::{Date, Duration, OffsetDateTime};

use super::{Deps, Work};
use crate::ai;

/// Days whose stories are news: the week that was and the one before.
const NEWS_DAYS: i64 = 14;
/// Days that a record is the best of; two periods of thirty days are among them.
const KNOWN_DAYS: i64 = 365;

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let now = (work.clock)();
    let drafts = situation(work.deps, work.account, work.claim.as_of, now).await?;
    let (insights, ending) = ai::nightly(work.deps, work.account, work.claim, drafts, work.clock).await?;
    work.deps.insights.replace(work.account.id, ending, insights, (work.clock)()).await
}

/// What there is to tell as of a day, from the results of the other jobs, in the account's language.
pub(crate) async fn situation(
    deps: &Deps,
    account: &Account,
    as_of: Date,
    now: OffsetDateTime,
) -> Result<Vec<Worded>, StoreError> {
    let last = as_of.previous_day().unwrap_or(Date::MIN);
    let until_last =
        |days: i64| DayRange { first: last.checked_sub(Duration::days(days - 1)).unwrap_or(Date::MIN), last };
    let known_days = until_last(KNOWN_DAYS);
    let known = deps.daily.series(account.id, known_days).await?;
    // As of a day in the past, a shop is judged at that day's end.
    let judged_at = now.min(account.timezone.start_of(as_of.next_day().unwrap_or(Date::MAX)));
    let stored = deps.insight_source.stored(account.id, until_last(NEWS_DAYS), judged_at).await?;
    let days = without_gaps(&known, known_days.first, last);
    let facts = Facts { last, zone: account.timezone.clone(), days, stored };
    let texts = Texts::of(account.locale).as_of(as_of);
    Ok(draft(&facts).into_iter().map(|draft| Worded::new(draft, &texts, account.currency)).collect())
}
