//! How the account's work goes: jobs with when they last ran and whether they are late, what waits, and the versions.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    AccountId,
    jobs::{JobName, Run, lateness},
    queues::{Depth, MOST_COUNTED, Versions},
};
use time::Duration;
use tokio::try_join;

use super::{
    data::{RUNS, job_name, run_badge},
    html, panel,
    settings::{self, Tab},
    shell::shell,
    writer,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        layout::Here,
        panel::Panel,
        rows::{Badge, Cell, Head, Row},
        system::{self as view, Model},
    },
};

/// What is behind for less than this is on time: jobs begin after midnight, one after another.
const ON_TIME: Duration = Duration::hours(2);
/// What waits for longer is marked.
const LONG: Duration = Duration::minutes(5);

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(&viewer), request.headers(), (state.clock)());
    let account = viewer.account();
    let (runs, depths, versions) = try_join!(
        state.jobs.list(Some(account), RUNS),
        state.queues.depths(account, writer.now),
        state.queues.versions(),
    )?;
    let title = writer.say(Tab::System.name());
    let text = |id: &str| Head::Text(writer.say(id));
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Settings, title.clone()).await?,
        title,
        tabs: settings::tabs(&viewer, &writer, Tab::System),
        job_head: vec![text("job"), text("state"), text("job-day"), text("run-ended"), text("job-late")],
        jobs: jobs(&writer, account, &runs),
        queue_head: vec![text("queue"), Head::Number(writer.say("queue-waiting")), text("queue-since")],
        queues: queues(&writer, &depths),
        version_head: vec![text("version-of"), text("version")],
        versions: shown(&writer, &versions),
    };
    Ok(html(view::page(&model)))
}

fn jobs(writer: &Writer, account: AccountId, runs: &[Run]) -> Panel<Row> {
    let row = |job: &JobName| {
        let newest = runs.iter().find(|run| run.job == *job);
        let nothing = || Cell::Text("–".to_owned());
        Row {
            name: job_name(writer, *job),
            address: None,
            below: None,
            cells: vec![
                newest.map_or_else(
                    || Cell::Text(writer.say("not-yet")),
                    |run| Cell::Told {
                        state: Some(run_badge(writer, run.state)),
                        text: String::new(),
                        english: run.error.clone().into_iter().collect(),
                    },
                ),
                newest.map_or_else(nothing, |run| Cell::Text(writer.day_of_year(run.as_of))),
                newest.and_then(|run| run.finished_at).map_or_else(nothing, |at| Cell::Text(writer.moment(at))),
                late(writer, *job, runs),
            ],
        }
    };
    Panel {
        id: "h-jobs",
        title: writer.say("jobs-title"),
        items: JobName::ALL.iter().map(row).collect(),
        nothing: String::new(),
        all: None,
        next: None,
        foot: panel::command(writer, vec![writer.say("how-late")], format!("api jobs list --account {account}")),
    }
}

/// How far a job is behind.
fn late(writer: &Writer, job: JobName, runs: &[Run]) -> Cell {
    match lateness(job, runs, &writer.zone, writer.now) {
        None => Cell::Text("–".to_owned()),
        Some(behind) if behind < ON_TIME => {
            Cell::Badge(Some(Badge { class: "good", text: format!("✓ {}", writer.say("job-on-time")) }))
        }
        Some(behind) => {
            let hours = writer.message("job-behind").count("hours", behind.whole_hours()).say();
            Cell::Badge(Some(Badge { class: "warn", text: format!("! {hours}") }))
        }
    }
}

fn queues(writer: &Writer, depths: &[Depth]) -> Panel<Row> {
    let row = |depth: &Depth| Row {
        name: writer.say(&format!("queue-{}", depth.queue)),
        address: None,
        below: None,
        cells: vec![
            Cell::Number { text: writer.number(depth.waiting.into(), 0), value: None },
            Cell::Texts {
                text: depth.due_since.map_or_else(|| "–".to_owned(), |at| writer.moment(at)),
                below: None,
                is_bad: depth.due_since.is_some_and(|at| writer.now - at > LONG),
            },
        ],
    };
    let how = writer.message("how-queues").count("most", MOST_COUNTED).say();
    let as_of = writer.message("as-of").text("time", writer.time(writer.now)).say();
    Panel {
        id: "h-queues",
        title: writer.say("queues-title"),
        items: depths.iter().map(row).collect(),
        nothing: String::new(),
        all: None,
        next: None,
        foot: panel::notes(writer, as_of, writer.say("calculated"), vec![how]),
    }
}

fn shown(writer: &Writer, versions: &Versions) -> Panel<Row> {
    let Versions { program, schema, database } = versions;
    let row = |id: &str, version: &str| Row {
        name: writer.say(id),
        address: None,
        below: None,
        cells: vec![Cell::Mono(version.to_owned())],
    };
    Panel {
        id: "h-versions",
        title: writer.say("versions-title"),
        items: vec![row("version-program", program), row("version-schema", schema), row("version-database", database)],
        nothing: String::new(),
        all: None,
        next: None,
        foot: panel::command(writer, vec![writer.say("how-versions")], "api --version".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use domain::{jobs::RunState, queues::Queue};
    use time::macros::{date, datetime};

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn why_a_job_failed_is_told_as_what_is_known_in_english() {
        let failed = Run {
            account: AccountId(1),
            job: JobName::ALL[0],
            as_of: date!(2026 - 11 - 22),
            state: RunState::Failed,
            attempts: 1,
            started_at: datetime!(2026-11-22 22:00 UTC),
            finished_at: None,
            error: Some("the database is away".to_owned()),
        };
        let panel = jobs(&writer("es-AR"), AccountId(1), &[failed]);
        let Cell::Told { state: Some(state), english, .. } = &panel.items[0].cells[0] else { panic!() };
        assert_eq!((state.text.as_str(), english.as_slice()), ("✕ Falló", &["the database is away".to_owned()][..]));
        assert_eq!(panel.items[0].below, None);
    }

    #[test]
    fn what_waits_for_long_is_marked() {
        let writer = writer("en");
        let depth = |due_since| Depth { queue: Queue::Deliveries, waiting: 1_240, due_since };
        let shown =
            queues(&writer, &[depth(Some(datetime!(2026-11-22 22:30 UTC))), depth(Some(writer.now)), depth(None)]);
        let marks: Vec<_> = shown
            .items
            .iter()
            .map(|row| match &row.cells[1] {
                Cell::Texts { text, is_bad, .. } => (text.as_str(), *is_bad),
                _ => panic!(),
            })
            .collect();
        assert_eq!(marks, [("19:30", true), ("19:36", false), ("–", false)]);
    }
}
