//! Running the jobs as of a past day, beside what is live.

use domain::{AccountId, StoreError, accounts::Account, as_of::AsOfStore, jobs::JobName};
use time::Date;
use tokio::sync::OnceCell;

use super::{AccountRun, Clock, Deps, Outcome, Report, Selection, Stop, sums};

/// What was computed as of a day.
#[derive(Debug)]
pub struct AsOfRun {
    /// Where the results are.
    pub copy: AccountId,
    /// How the jobs ended, in their order.
    pub reports: Vec<Report>,
}

/// Copies what was known of the account by the end of `as_of` in its time zone and runs all jobs on the copy, as if on that
/// day. Nothing live is read or written after the copy was made. The results are given out for `as_of` when no job failed;
/// until then, and otherwise, those of an earlier run stay. `None` when the account has gone.
///
/// # Errors
/// [`StoreError`] when the copy cannot be made or given out. Failures of jobs are in their reports.
pub async fn run_as_of(
    deps: &Deps,
    copies: &dyn AsOfStore,
    account: &Account,
    as_of: Date,
    clock: Clock,
) -> Result<Option<AsOfRun>, StoreError> {
    sums::bring_up_to_date(&*deps.daily, account, clock()).await?;
    let until = account.timezone.start_of(as_of.next_day().unwrap_or(Date::MAX));
    let Some(copy) = copies.copy(account.id, as_of, until).await? else { return Ok(None) };
    // The texts of past days are not worth a model's words.
    let deps = Deps { text_generator: None, ..deps.clone() };
    let (selection, stop) = (Selection { again: true, ..Selection::default() }, Stop::never());
    let run = AccountRun {
        // Its sums came with the copy, and there are no documents that they could be made from again.
        version: OnceCell::new_with(Some(0)),
        ..AccountRun::of(&deps, &copy, as_of, selection, clock, &stop)
    };
    let mut reports = Vec::new();
    for job in JobName::ALL {
        reports.push(Report { account: account.id, ..run.run(*job).await });
    }
    if reports.iter().all(|report| matches!(report.outcome, Outcome::Done { .. })) {
        copies.publish(copy.id).await?;
    }
    Ok(Some(AsOfRun { copy: copy.id, reports }))
}
