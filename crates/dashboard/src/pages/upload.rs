//! One file: what its columns are, how it is to be read, how far it is, and what became of it.

mod choose;

use std::{collections::BTreeMap, sync::Arc};

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
    web::{Bytes, Data, Form},
};
use app::uploads::{GIVEN_UP, INTERNAL, REJECTS_LOST};
use domain::{
    AccountId, StoreError, UploadId,
    accounts::Account,
    audit::Action,
    jobs::Run,
    people::Act,
    uploads::{
        FileImporter, Kind, Outcome, Part, Preview, Reading, SAMPLE_BYTES, State as UploadState, Unreadable, Upload,
    },
};
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::{sync::Semaphore, task::spawn_blocking};

use self::choose::{choose, reading};
use super::{
    data::{job_head, jobs, requested, size, standing},
    html_with, look_again, query, see,
    shell::shell,
};
use crate::{
    error::{PageError, broke_off},
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        figures::Fact,
        layout::Here,
        panel::Way,
        upload::{self as view, Model, Progress, Result as Shown},
    },
};

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let upload = found(&request, &viewer, &state).await?;
    page(&request, &viewer, &state, &upload, None).await
}

/// Has it imported, by the columns that were chosen.
pub async fn start(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<BTreeMap<String, String>>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let upload = found(&request, &viewer, &state).await?;
    let reading = reading(&fields)?;
    let preview = preview(&state, &viewer, upload.kind, &reading, upload.id).await?;
    let is_whole = preview.is_ok_and(|preview| preview.missing().next().is_none() && !preview.has_ambiguous_dates);
    if !is_whole {
        let asked = Upload { reading, ..upload };
        return page(&request, &viewer, &state, &asked, Some("choose-missing")).await;
    }
    let note = Some(viewer.note(Action::ImportStarted));
    if state.uploads.queue(viewer.account(), upload.id, &reading, note, (state.clock)()).await? {
        Ok(see(&format!("/data/{}", upload.id)))
    } else {
        Err(PageError::Conflict)
    }
}

/// Throws it away.
pub async fn discard(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let upload = found(&request, &viewer, &state).await?;
    let note = Some(viewer.note(Action::UploadDiscarded));
    let is_gone = state.uploads.discard(viewer.account(), upload.id, note, (state.clock)()).await?;
    if is_gone { Ok(see("/data")) } else { Err(PageError::Conflict) }
}

/// The lines that were refused, as they came, with the reason behind each.
pub async fn rejects(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (account, upload) = (viewer.account(), found(&request, &viewer, &state).await?);
    let uploads = state.uploads.clone();
    let Some(first) = uploads.piece(account, upload.id, Part::Rejects, 0).await? else {
        return Err(PageError::NotFound);
    };
    let rest = stream::try_unfold((uploads, 1), move |(uploads, number)| async move {
        let piece = uploads.piece(account, upload.id, Part::Rejects, number).await?;
        Ok::<_, StoreError>(piece.map(|bytes| (Bytes::from(bytes), (uploads, number + 1))))
    });
    let all = stream::iter([Ok(Bytes::from(first))]).chain(rest.map_err(broke_off()));
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/csv; charset=utf-8"))
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"rejects-{}.csv\"", upload.id)))
        .streaming(all))
}

async fn found(request: &HttpRequest, viewer: &Viewer, state: &State) -> Result<Upload, PageError> {
    let upload = state.uploads.find(viewer.account(), UploadId(query::id(request)?)).await?;
    upload.filter(|upload| upload.state != UploadState::Arriving).ok_or(PageError::NotFound)
}

/// The beginning of a file that was not imported, as it would be read; `None` for the others.
async fn opened(
    state: &State,
    viewer: &Viewer,
    upload: &Upload,
) -> Result<Option<Result<Preview, Unreadable>>, PageError> {
    if !matches!(upload.state, UploadState::Ready | UploadState::Failed) {
        return Ok(None);
    }
    preview(state, viewer, upload.kind, &upload.reading, upload.id).await.map(Some)
}

/// The beginning of the file, as it would be read.
pub async fn preview(
    state: &State,
    viewer: &Viewer,
    kind: Kind,
    reading: &Reading,
    id: UploadId,
) -> Result<Result<Preview, Unreadable>, PageError> {
    let sample = sample(state, viewer.account(), id).await?;
    preview_of(state.files.clone(), viewer.session().account.clone(), kind, reading.clone(), sample).await
}

/// How many samples are read at a time: other requests need the processors, too.
static PLACES: Semaphore = Semaphore::const_new(2);

/// A sample may take a second, if it was made to: other requests of the thread do not wait for it.
async fn preview_of(
    files: Arc<dyn FileImporter>,
    account: Account,
    kind: Kind,
    reading: Reading,
    sample: Vec<u8>,
) -> Result<Result<Preview, Unreadable>, PageError> {
    let place = PLACES.acquire().await.map_err(|error| PageError::Internal(error.to_string()))?;
    let read = move || {
        // The place is taken for as long as it is read, even where nobody waits for it any more.
        let _place = place;
        files.preview(&account, kind, &reading, &sample)
    };
    let found = spawn_blocking(read).await;
    found.map_err(|error| PageError::Internal(error.to_string()))
}

async fn sample(state: &State, account: AccountId, id: UploadId) -> Result<Vec<u8>, PageError> {
    let mut sample = Vec::new();
    for number in 0.. {
        match state.uploads.piece(account, id, Part::File, number).await? {
            Some(bytes) if sample.len() < SAMPLE_BYTES => sample.extend(bytes),
            _ => break,
        }
    }
    sample.truncate(SAMPLE_BYTES);
    Ok(sample)
}

async fn page(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    upload: &Upload,
    refused: Option<&str>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(viewer), request.headers(), (state.clock)());
    let preview = opened(state, viewer, upload).await?;
    let is_done = upload.state == UploadState::Done;
    let (is_requested, runs) = requested(state, viewer.account()).await?;
    let model = Model {
        shell: shell(viewer, state, &writer, Here::Data, upload.name.clone()).await?,
        title: upload.name.clone(),
        crumb: Way { text: writer.say("data"), address: Here::Data.address().to_owned() },
        about: format!("{} · {}", writer.say(&format!("kind-{}", upload.kind)), size(&writer, upload.bytes)),
        state: standing(&writer, upload, matches!(preview, Some(Err(_)))),
        refused: refused
            .map(|id| (writer.say(id), None))
            .or_else(|| failure(&writer, upload))
            .or_else(|| not_imported(&writer, upload).map(|said| (said, None))),
        reason_in: viewer.session().account.locale.tag(),
        unreadable: preview
            .as_ref()
            .and_then(|found| found.as_ref().err())
            .map(|why| writer.say(&format!("unreadable-{why}"))),
        choose: preview
            .as_ref()
            .and_then(|found| found.as_ref().ok())
            .filter(|_| viewer.may(Act::Change))
            .map(|found| choose(&writer, upload, found)),
        discard: (preview.is_some() && viewer.may(Act::Change))
            .then(|| (format!("/data/{}/discard", upload.id), writer.say("discard"))),
        progress: progress(&writer, upload),
        result: upload.outcome.as_ref().filter(|_| is_done).map(|outcome| result(&writer, upload, outcome)),
        job_head: job_head(&writer),
        jobs: is_done.then(|| jobs(&writer, &since(upload, &runs), is_requested)),
        figures: (is_done && !is_requested).then(|| Way { text: writer.say("see-figures"), address: "/".to_owned() }),
    };
    let status = if refused.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let mut response = html_with(status, view::page(&model));
    if model.progress.is_some() || is_done && is_requested {
        look_again(&mut response);
    }
    Ok(response)
}

/// That nothing of it was there to import, or could be.
fn not_imported(writer: &Writer, upload: &Upload) -> Option<String> {
    if upload.has_no_lines() {
        Some(writer.say("upload-without-lines-what"))
    } else {
        upload.is_all_refused().then(|| writer.say("upload-all-refused-what"))
    }
}

/// Runs that took the file in.
fn since(upload: &Upload, runs: &[Run]) -> Vec<Run> {
    runs.iter().filter(|run| upload.finished_at.is_some_and(|ended| run.started_at >= ended)).cloned().collect()
}

/// Why it failed; what no message says was written in the account's language.
fn failure(writer: &Writer, upload: &Upload) -> Option<(String, Option<String>)> {
    let why = upload.error.as_ref().filter(|_| upload.state == UploadState::Failed)?;
    Some(match why.as_str() {
        INTERNAL => (writer.say("upload-failed-here"), None),
        GIVEN_UP => (writer.say("upload-failed-often"), None),
        REJECTS_LOST => (writer.say("upload-without-rejects"), None),
        _ => (writer.say("upload-failed-why"), Some(why.clone())),
    })
}

fn progress(writer: &Writer, upload: &Upload) -> Option<Progress> {
    let text = match upload.state {
        UploadState::Queued => writer.say("upload-waits"),
        UploadState::Running if upload.read_bytes < upload.bytes => writer
            .message("upload-reads")
            .text("read", size(writer, upload.read_bytes))
            .text("all", size(writer, upload.bytes))
            .say(),
        UploadState::Running => writer.say("upload-merges"),
        _ => return None,
    };
    Some(Progress {
        text,
        done: upload.read_bytes,
        all: upload.bytes.max(1),
        leave: writer.say("upload-leave"),
        again: Way { text: writer.say("look-again"), address: format!("/data/{}", upload.id) },
    })
}

fn result(writer: &Writer, upload: &Upload, outcome: &Outcome) -> Shown {
    let fact = |id: &str, count: i64| Fact {
        name: writer.say(id),
        text: writer.number(count.into(), 0),
        value: Some(count.to_string()),
        change: None,
        below: None,
    };
    let ignored = (!outcome.ignored_columns.is_empty())
        .then(|| writer.message("ignored-columns").text("columns", outcome.ignored_columns.join(", ")).say());
    Shown {
        title: writer.say("upload-result"),
        facts: vec![
            fact("lines", outcome.lines),
            fact("lines-accepted", outcome.accepted),
            fact("lines-refused", outcome.rejected),
            fact("lines-skipped", outcome.skipped),
            fact("rows-new", outcome.new),
            fact("rows-changed", outcome.changed),
            fact("rows-unchanged", outcome.unchanged),
        ],
        rejects: (outcome.rejected > 0)
            .then(|| Way { text: writer.say("rejects-file"), address: format!("/data/{}/rejects.csv", upload.id) }),
        ignored,
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, thread, time::Duration};

    use domain::{
        UserId,
        accounts::{Mode, Plan},
        money::Currency,
        texts::Locale,
        uploads::MockFileImporter,
    };
    use time::macros::datetime;
    use tokio::time::timeout;

    use super::*;
    use crate::{pages::data::tests::upload, text::tests::writer};

    fn account() -> Account {
        Account {
            id: AccountId(1),
            user_id: UserId::generate(std::iter::repeat(1)),
            mode: Mode::Live,
            name: "Shop".to_owned(),
            plan: Plan::Free,
            currency: Currency::USD,
            timezone: "UTC".parse().unwrap(),
            holiday_country: None,
            locale: Locale::ENGLISH,
            created_at: datetime!(2026-01-01 0:00 UTC),
        }
    }

    async fn read(files: MockFileImporter) -> Result<Preview, Unreadable> {
        preview_of(Arc::new(files), account(), Kind::Orders, Reading::default(), Vec::new()).await.unwrap()
    }

    #[tokio::test]
    async fn a_sample_is_read_off_the_thread_of_requests() {
        let here = thread::current().id();
        let mut files = MockFileImporter::new();
        files.expect_preview().times(1).returning(move |_, _, _, _| {
            assert_ne!(thread::current().id(), here);
            Err(Unreadable::Empty)
        });
        assert_eq!(read(files).await, Err(Unreadable::Empty));
    }

    #[tokio::test(start_paused = true)]
    async fn a_sample_waits_while_two_others_are_read() {
        let two = PLACES.acquire_many(2).await.unwrap();
        let mut files = MockFileImporter::new();
        files.expect_preview().times(1).returning(|_, _, _, _| Err(Unreadable::Empty));
        let mut third = pin!(read(files));
        assert!(timeout(Duration::from_secs(60), &mut third).await.is_err());
        drop(two);
        assert_eq!(third.await, Err(Unreadable::Empty));
    }

    #[test]
    fn it_says_how_far_it_is() {
        let at = |state| progress(&writer("en"), &upload(state)).map(|shown| shown.text);
        assert!(at(UploadState::Running).unwrap().contains("6.2 MB of 12.3 MB"));
        assert!(at(UploadState::Queued).is_some());
        assert_eq!((at(UploadState::Ready), at(UploadState::Done)), (None, None));
    }

    #[test]
    fn it_says_why_it_failed_and_what_is_imported_all_the_same() {
        let said_in = |language, why: &str| {
            let failed = Upload { error: Some(why.to_owned()), ..upload(UploadState::Failed) };
            failure(&writer(language), &failed).unwrap()
        };
        let said = |why| said_in("en", why);
        // It was written in the language of the account.
        assert!(said_in("es-AR", "falta el SKU").0.ends_with("El motivo:"));
        let (words, reason) = said("no column for sku");
        assert!(words.starts_with("Nothing of it was imported.") && reason.as_deref() == Some("no column for sku"));
        assert!(said(INTERNAL).0.contains("nothing of it was imported"));
        assert!(said(GIVEN_UP).0.contains("smaller parts"));
        assert!(said(REJECTS_LOST).0.starts_with("What could be taken was imported"));
    }
}
