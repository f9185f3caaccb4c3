//! The job `profit_snapshots`: the parts of the profit of every day from the first activity to today.

use domain::{StoreError, daily::without_gaps, jobs::WriteOutcome, profit::DayRange};
use time::{Date, Duration};

use super::Work;

/// How far back snapshots go: a date typed wrong in an import does not make a row for each day since.
const LONGEST: Duration = Duration::days(20 * 366);

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let as_of = work.claim.as_of;
    let earliest = as_of.checked_sub(LONGEST).unwrap_or(Date::MIN);
    let range = DayRange { first: earliest, last: as_of };
    let known = work.deps.daily.series(work.account.id, range).await?;
    let days = without_gaps(&known, earliest, as_of).iter().map(|day| (day.day, day.components(), day.basis)).collect();
    work.deps.profit.replace(work.claim, days, (work.clock)()).await
}
