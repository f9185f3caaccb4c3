//! What comes in by file, how fresh each source is, and the jobs that make figures of it.

mod arrive;
mod jobs;

pub use arrive::post;
pub use jobs::{RUNS, job_head, job_name, jobs, requested, run_badge};

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    AccountId,
    audit::Action,
    freshness::{Freshness, Newest, Source},
    insights,
    page::{Page, PageRequest},
    people::Act,
    uploads::{Kind, State as UploadState, Upload},
};
use tokio::try_join;
use url::Url;

use super::{html, panel, query, see, shell::shell, window};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        data::{self as view, Drop, Model, RunNow},
        layout::Here,
        panel::{Panel, Way},
        pick::Pick,
        rows::{Badge, Cell, Head, Row},
    },
};

/// The page that looks again until the jobs have run. It has no form for a file: what is filled in would be lost.
const WATCHED: &str = "/data?watch=jobs#h-jobs";
/// Imports of a page.
const LIMIT: i64 = 20;

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (account, cursor) = (viewer.account(), query::cursor(&request)?);
    let watches = query::one::<String>(&request, "watch")?.is_some();
    let newest = PageRequest { limit: 1, cursor: None };
    let (uploads, (is_requested, runs), dated) = try_join!(
        state.uploads.page(account, PageRequest { limit: LIMIT, cursor }),
        requested(&state, account),
        // Its figures are made from all sources.
        state.insights.page(account, insights::Filter::default(), newest),
    )?;
    let is_watched = is_requested && watches;
    let mut jobs = jobs(&writer, &runs, is_requested);
    if is_requested && !is_watched {
        jobs.all = Some(Way { text: writer.say("look-again"), address: WATCHED.to_owned() });
    }
    let (title, may_change, api) = (writer.say("data"), viewer.may(Act::Change), &state.settings.api_url);
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Data, title.clone()).await?,
        title,
        place: window::place(&writer),
        drop: (may_change && !is_watched).then(|| drop(&writer)),
        upload_head: upload_head(&writer),
        uploads: imported(&writer, account, &uploads),
        source_head: vec![Head::Text(writer.say("source")), Head::Number(writer.say("newest"))],
        sources: sources(&writer, &dated.freshness, api),
        run_now: may_change.then(|| RunNow { address: "/jobs", words: writer.say("jobs-run"), is_off: is_requested }),
        job_head: job_head(&writer),
        jobs,
    };
    let mut response = html(view::page(&model));
    if is_watched {
        super::look_again(&mut response);
    }
    Ok(response)
}

/// Runs the jobs of the account now.
pub async fn run_jobs(viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    state.job_requests.request(viewer.account(), Some(viewer.note(Action::JobsRequested)), (state.clock)()).await?;
    Ok(see(WATCHED))
}

fn drop(writer: &Writer) -> Drop {
    let pick = |kind: &Kind| Pick {
        value: kind.as_str().to_owned(),
        text: writer.say(&format!("kind-{kind}")),
        is_chosen: *kind == Kind::Orders,
    };
    Drop {
        title: writer.say("import-file"),
        what: writer.say("import-what"),
        kind: (writer.say("import-kind"), Kind::ALL.iter().map(pick).collect()),
        file: (writer.say("import-choose"), writer.say("import-limits")),
        go: writer.say("import-go"),
    }
}

fn upload_head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("file")),
        Head::Text(writer.say("import-kind")),
        Head::Text(writer.say("state")),
        Head::Number(writer.say("lines")),
        Head::Number(writer.say("lines-refused")),
        Head::Text(writer.say("begun")),
    ]
}

fn imported(writer: &Writer, account: AccountId, found: &Page<Upload>) -> Panel<Row> {
    let next = found.next_cursor.map(|cursor| query::address("/data", [Some(format!("cursor={cursor}"))]));
    Panel {
        id: "h-uploads",
        title: writer.say("uploads-title"),
        items: found.items.iter().map(|upload| row(writer, upload)).collect(),
        nothing: writer.say("uploads-none"),
        all: None,
        next: panel::next(writer, next),
        foot: panel::command(
            writer,
            vec![writer.say("how-uploads")],
            format!("api import orders FILE.csv --account {account}"),
        ),
    }
}

/// The state of an upload; what cannot be read, has no lines or was refused altogether was not imported.
pub fn standing(writer: &Writer, upload: &Upload, is_unreadable: bool) -> Badge {
    if is_unreadable {
        return Badge { class: "bad", text: format!("✕ {}", writer.say("upload-unreadable")) };
    }
    if upload.has_no_lines() {
        return Badge { class: "warn", text: format!("! {}", writer.say("upload-without-lines")) };
    }
    if upload.is_all_refused() {
        return Badge { class: "bad", text: format!("✕ {}", writer.say("upload-all-refused")) };
    }
    badge(writer, upload.state)
}

fn badge(writer: &Writer, state: UploadState) -> Badge {
    let (class, sign) = match state {
        UploadState::Done => ("good", "✓ "),
        UploadState::Failed => ("bad", "✕ "),
        UploadState::Ready => ("warn", "! "),
        UploadState::Queued | UploadState::Running => ("", "↻ "),
        UploadState::Arriving => ("", ""),
    };
    Badge { class, text: format!("{sign}{}", writer.say(&format!("upload-{state}"))) }
}

fn row(writer: &Writer, upload: &Upload) -> Row {
    let count = |count: Option<i64>| Cell::Number {
        text: count.map_or_else(|| "–".to_owned(), |count| writer.number(count.into(), 0)),
        value: count.map(|count| count.to_string()),
    };
    let is_unreadable = upload.state == UploadState::Ready && upload.is_unreadable;
    let outcome = upload.outcome.as_ref();
    Row {
        name: upload.name.clone(),
        address: Some(format!("/data/{}", upload.id)),
        below: Some(size(writer, upload.bytes).into()),
        cells: vec![
            Cell::Text(writer.say(&format!("kind-{}", upload.kind))),
            Cell::Badge(Some(standing(writer, upload, is_unreadable))),
            count(outcome.map(|outcome| outcome.lines)),
            count(outcome.map(|outcome| outcome.rejected)),
            Cell::Text(writer.moment(upload.created_at)),
        ],
    }
}

/// Bytes as people write them: 1 kB is 1000.
pub fn size(writer: &Writer, bytes: i64) -> String {
    let (unit, scale) = match bytes {
        ..1_000 => ("B", 0),
        1_000..1_000_000 => ("kB", 3),
        _ => ("MB", 6),
    };
    format!("{} {unit}", writer.number(rust_decimal::Decimal::new(bytes, scale), scale.min(1)))
}

fn sources(writer: &Writer, freshness: &Freshness, api: &Url) -> Panel<Row> {
    let row = |(source, newest): &(Source, Option<Newest>)| {
        let text = newest.map(|newest| match newest.until(writer.now, &writer.zone) {
            Newest::At(at) => writer.moment(at),
            Newest::Day(day) => writer.day_of_year(day),
        });
        Row {
            name: writer.say(&format!("source-{source}")),
            address: None,
            below: None,
            cells: vec![Cell::Number { text: text.unwrap_or_else(|| writer.say("nothing-yet")), value: None }],
        }
    };
    Panel {
        id: "h-sources",
        title: writer.say("sources"),
        items: freshness.sources.iter().map(row).collect(),
        nothing: String::new(),
        all: None,
        next: None,
        foot: panel::foot(writer, freshness, vec![writer.say("how-sources")], "/api/v1/insights?limit=1", false, api),
    }
}

#[cfg(test)]
pub mod tests {
    use domain::{
        UploadId,
        uploads::{Outcome, Reading},
    };
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    pub fn upload(state: UploadState) -> Upload {
        Upload {
            id: UploadId(3),
            kind: Kind::Orders,
            name: "pedidos.csv".into(),
            bytes: 12_345_678,
            state,
            reading: Reading::default(),
            read_bytes: 6_172_839,
            outcome: (state == UploadState::Done).then(|| Outcome { lines: 10_000, rejected: 2, ..Outcome::default() }),
            error: None,
            is_unreadable: false,
            lost_leases: 0,
            created_at: datetime!(2026-11-22 22:00 UTC),
            finished_at: None,
        }
    }

    #[test]
    fn the_list_says_which_files_that_wait_cannot_be_read() {
        let state = |state| {
            let unreadable = Upload { is_unreadable: true, ..upload(state) };
            let mut cells = row(&writer("en"), &unreadable).cells.into_iter();
            cells.find_map(|cell| if let Cell::Badge(badge) = cell { badge } else { None }).unwrap().text
        };
        assert_eq!(state(UploadState::Ready), "✕ Cannot be read");
        assert_eq!(state(UploadState::Done), "✓ Imported", "it was told how to be read");
    }

    #[test]
    fn a_file_of_which_every_line_was_refused_was_not_imported() {
        let refused = Outcome { lines: 7, rejected: 7, ..Outcome::default() };
        let shown = Upload { outcome: Some(refused), ..upload(UploadState::Done) };
        assert_eq!(standing(&writer("en"), &shown, false).text, "✕ Nothing imported");
    }

    #[test]
    fn an_upload_shows_what_became_of_its_lines_once_it_is_known() {
        let shown = |state| {
            row(&writer("es-AR"), &upload(state))
                .cells
                .into_iter()
                .filter_map(|cell| match cell {
                    Cell::Number { text, value } => Some((text, value)),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        let known = [("10.000".to_owned(), Some("10000".to_owned())), ("2".to_owned(), Some("2".to_owned()))];
        assert_eq!(shown(UploadState::Done), known);
        assert!(shown(UploadState::Running).iter().all(|(text, value)| text == "–" && value.is_none()));
        let nothing = Upload { outcome: Some(Outcome::default()), ..upload(UploadState::Done) };
        assert_eq!(standing(&writer("en"), &nothing, false).text, "! No lines");
        assert_eq!(standing(&writer("en"), &upload(UploadState::Done), false).text, "✓ Imported");
        assert_eq!(standing(&writer("en"), &upload(UploadState::Ready), true).text, "✕ Cannot be read");
        assert_eq!(size(&writer("es-AR"), 12_345_678), "12,3 MB");
        assert_eq!(size(&writer("en"), 1_000), "1.0 kB");
        assert_eq!(size(&writer("en"), 999), "999 B");
    }
}
