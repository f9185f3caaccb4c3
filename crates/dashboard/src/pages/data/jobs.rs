//! The jobs of an account, as a panel.

use domain::{
    AccountId, StoreError,
    jobs::{JobName, Run, RunState},
};

use crate::{
    pages::panel,
    state::State,
    text::Writer,
    views::{
        panel::Panel,
        rows::{Badge, Cell, Head, Row},
    },
};

/// Runs that are looked through for the newest of each job.
pub const RUNS: i64 = 100;

/// Whether the jobs of the account are asked for and not over yet, and then their newest runs: in this order, so that the runs
/// that were asked for are over when they are no longer asked for.
pub async fn requested(state: &State, account: AccountId) -> Result<(bool, Vec<Run>), StoreError> {
    let is_requested = state.job_requests.is_requested(account).await?;
    Ok((is_requested, state.jobs.list(Some(account), RUNS).await?))
}

pub fn job_head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("job")),
        Head::Text(writer.say("state")),
        Head::Text(writer.say("job-day")),
        Head::Text(writer.say("run-ended")),
    ]
}

/// The newest run of each job, in the order in which they build on each other.
pub fn jobs(writer: &Writer, runs: &[Run], is_requested: bool) -> Panel<Row> {
    let row = |job: &JobName| {
        let run = runs.iter().find(|run| run.job == *job);
        let name = job_name(writer, *job);
        let cells = match run {
            Some(run) => vec![
                Cell::Badge(Some(run_badge(writer, run.state))),
                Cell::Text(writer.day_of_year(run.as_of)),
                // Of a run that is under way it is when the result before was written.
                Cell::Text(match run.finished_at {
                    Some(at) if run.state != RunState::Running => writer.moment(at),
                    _ => "–".to_owned(),
                }),
            ],
            None => vec![Cell::Text(writer.say("not-yet")), Cell::Text("–".to_owned()), Cell::Text("–".to_owned())],
        };
        Row { name, address: None, below: None, cells }
    };
    let command = match runs.first() {
        Some(run) => format!("api jobs list --account {}", run.account),
        None => "api jobs list".to_owned(),
    };
    Panel {
        id: "h-jobs",
        title: writer.say(if is_requested { "jobs-at-work" } else { "jobs-title" }),
        items: JobName::ALL.iter().map(row).collect(),
        nothing: String::new(),
        all: None,
        next: None,
        foot: panel::command(writer, vec![writer.say("how-jobs")], command),
    }
}

/// How a job is called.
pub fn job_name(writer: &Writer, job: JobName) -> String {
    writer.say(&format!("job-{job}"))
}

pub fn run_badge(writer: &Writer, state: RunState) -> Badge {
    let (class, sign) = match state {
        RunState::Running => ("", "↻"),
        RunState::Done => ("good", "✓"),
        RunState::Failed => ("bad", "✕"),
    };
    Badge { class, text: format!("{sign} {}", writer.say(&format!("job-is-{state}"))) }
}

#[cfg(test)]
mod tests {
    use domain::AccountId;
    use time::macros::{date, datetime};

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn of_each_job_the_newest_run_is_shown() {
        let run = |job, state| Run {
            account: AccountId(1),
            job,
            as_of: date!(2026 - 11 - 22),
            state,
            attempts: 1,
            started_at: datetime!(2026-11-22 22:00 UTC),
            finished_at: None,
            error: None,
        };
        let runs = [
            run(JobName::ProfitSnapshots, RunState::Running),
            run(JobName::ProfitSnapshots, RunState::Done),
            run(JobName::CustomerMetrics, RunState::Done),
        ];
        let panel = jobs(&writer("en"), &runs, true);
        let badge = |at: usize| match &panel.items[at].cells[0] {
            Cell::Badge(Some(badge)) => badge.text.as_str(),
            _ => "none",
        };
        assert_eq!((badge(0), badge(1), badge(2)), ("✓ Done", "↻ At work", "none"));
        assert_eq!(panel.foot.command.as_deref(), Some("api jobs list --account 1"));
    }
}
