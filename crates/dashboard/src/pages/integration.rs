//! One connected shop: how it stands, what is missing, and what was read of it.

use ::web::detached::detached;
use actix_web::{HttpRequest, HttpResponse, web::Data};
use app::shops::connect::Asked;
use domain::{
    IntegrationId,
    audit::Action,
    integrations::Integration,
    page::{Page, PageRequest},
    people::Act,
    shops::sync::{KEEP_RUNS, Refusal, RunState, SyncRun},
};
use tokio::try_join;
use url::Url;

use super::{
    connect, html,
    integrations::{badge, missing, name},
    panel, parameter, query, see,
    shell::shell,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        connect::Form,
        connection::Ending,
        figures::Fact,
        integration::{self as view, Acts, Model},
        layout::Here,
        panel::{Panel, Way},
        rows::{Badge, Cell, Head, Row},
    },
};

/// Runs of a page.
const LIMIT: i64 = 25;
/// What was just done, as the address names it.
const DONE: [&str; 4] = ["connected", "asked", "demo", "ended"];
/// Refused records of a run that are told; the API has the newest hundred.
const REFUSALS: usize = 3;

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (id, cursor) = (IntegrationId(query::id(&request)?), query::cursor(&request)?);
    let page = PageRequest { limit: LIMIT, cursor };
    let (found, runs) =
        try_join!(state.integrations.find(viewer.account(), id), state.sync_runs.page(viewer.account(), id, page))?;
    let (integration, runs) = found.zip(runs).ok_or(PageError::NotFound)?;
    let done = parameter(&request, "done").filter(|done| DONE.contains(&&**done));
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Integrations, integration.shop.clone()).await?,
        title: integration.shop.clone(),
        crumb: Way { text: writer.say("integrations"), address: Here::Integrations.address().to_owned() },
        platform: name(&writer, integration.provider),
        state: badge(&writer, &integration),
        done: done.map(|done| writer.say(&format!("connection-done-{done}"))),
        facts: facts(&writer, &integration),
        missing_title: writer.say("attention"),
        missing: missing(&writer, &integration),
        acts: (viewer.may(Act::Change) && integration.revoked_at.is_none()).then(|| acts(&writer, id)),
        again: again(&writer, &viewer, &state, &integration),
        head: head(&writer),
        runs: panel(&writer, &integration, cursor, &runs, &state.settings.api_url),
    };
    Ok(html(view::page(&model)))
}

/// Has the shop read at once.
pub async fn sync(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let id = IntegrationId(query::id(&request)?);
    let note = Some(viewer.note(Action::ShopSyncRequested));
    match state.shops.sync(viewer.account(), id, None, note).await?.value {
        Asked::Due => Ok(see(&format!("/integrations/{id}?done=asked"))),
        Asked::Demo => Ok(see(&format!("/integrations/{id}?done=demo"))),
        Asked::Ended => Err(PageError::Conflict),
        Asked::Unknown => Err(PageError::NotFound),
    }
}

/// Gives the access back to the platform and forgets it here.
pub async fn disconnect(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (id, account, shops) = (IntegrationId(query::id(&request)?), viewer.account(), state.shops.clone());
    let note = Some(viewer.note(Action::ShopDisconnected));
    let ended = detached(async move { shops.disconnect(account, id, note).await }).await;
    if ended.map_err(|error| PageError::Internal(error.to_string()))?? {
        Ok(see(&format!("/integrations/{id}?done=ended")))
    } else {
        Err(PageError::NotFound)
    }
}

fn facts(writer: &Writer, integration: &Integration) -> Vec<Fact> {
    let fact = |id: &str, text: String| Fact { name: writer.say(id), text, value: None, change: None, below: None };
    let on = |at: Option<time::OffsetDateTime>| {
        at.map_or_else(|| writer.say("not-yet"), |at| writer.day_of_year(writer.zone.day_of(at)))
    };
    let last = integration.last_sync_at.map_or_else(|| writer.say("not-yet"), |at| writer.moment(at));
    vec![
        fact("last-sync", last),
        fact("read-back-to", on(integration.backfilled_from)),
        fact("connected-on", on(Some(integration.connected_at))),
    ]
}

fn acts(writer: &Writer, id: IntegrationId) -> Acts {
    Acts {
        sync: (format!("/integrations/{id}/sync"), writer.say("sync-now")),
        ending: Ending {
            address: format!("/integrations/{id}/disconnect"),
            title: writer.say("disconnect"),
            what: writer.say("disconnect-what"),
            go: writer.say("disconnect-go"),
        },
    }
}

/// What begins to connect a shop that has ended again, where that can be done.
fn again(writer: &Writer, viewer: &Viewer, state: &State, integration: &Integration) -> Option<Form> {
    let usable = state.shops.ports.connectors.for_mode(integration.provider, viewer.session().account.mode).is_ok();
    let can = usable && viewer.may(Act::Change) && integration.revoked_at.is_some();
    can.then(|| connect::again(writer, integration))
}

fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("run-of")),
        Head::Text(writer.say("run-ended")),
        Head::Text(writer.say("state")),
        Head::Number(writer.say("run-read")),
        Head::Number(writer.say("run-stored")),
        Head::Number(writer.say("run-refused")),
        Head::Text(writer.say("run-why")),
    ]
}

fn panel(
    writer: &Writer,
    integration: &Integration,
    cursor: Option<i64>,
    runs: &Page<SyncRun>,
    api: &Url,
) -> Panel<Row> {
    let id = integration.id;
    let next = runs.next_cursor.map(|cursor| format!("/integrations/{id}?cursor={cursor}"));
    let call = query::call(&format!("/api/v1/integrations/{id}/runs"), LIMIT, cursor);
    Panel {
        id: "h-runs",
        title: writer.say("runs-title"),
        items: runs.items.iter().map(|run| row(writer, run)).collect(),
        nothing: nothing(writer, integration),
        all: None,
        next: panel::next(writer, next),
        foot: panel::current(writer, vec![writer.say("how-runs")], &call, api),
    }
}

/// Why there are no runs: they are not kept as long as what was read.
fn nothing(writer: &Writer, integration: &Integration) -> String {
    if integration.last_sync_at.is_some() || integration.backfilled_from.is_some() {
        return writer.message("runs-gone").count("days", KEEP_RUNS.whole_days()).say();
    }
    writer.say(if integration.revoked_at.is_none() { "runs-none" } else { "runs-never" })
}

fn row(writer: &Writer, run: &SyncRun) -> Row {
    let window = run.window.map(|window| {
        let at = |at| writer.moment(at);
        writer.message("range").text("low", at(window.from)).text("high", at(window.until)).say()
    });
    let (class, sign) = match run.state {
        RunState::Done => ("good", "✓"),
        RunState::Failed => ("bad", "✕"),
    };
    let state = Badge { class, text: format!("{sign} {}", writer.say(&format!("run-{}", run.state))) };
    let count = |count: i64| Cell::Number { text: writer.number(count.into(), 0), value: Some(count.to_string()) };
    Row {
        name: writer.say(&format!("stream-{}", run.stream)),
        address: None,
        below: window.map(Into::into),
        cells: vec![
            Cell::Text(writer.moment(run.finished_at)),
            Cell::Badge(Some(state)),
            count(run.counts.read),
            count(run.counts.stored),
            count(run.counts.refused),
            why(writer, run),
        ],
    }
}

/// Why a run failed, and which records it left out; why these were is kept in English.
fn why(writer: &Writer, run: &SyncRun) -> Cell {
    let error = run.error.as_ref().map(|error| writer.say(&format!("connection-error-{}", error.code)));
    let refused = run.counts.refused;
    let left_out = (refused > 0).then(|| writer.message("run-left-out").count("count", refused).say());
    let told = |Refusal { kind, external_id, reason }: &Refusal| format!("{kind} {external_id}: {reason}");
    Cell::Told {
        state: None,
        text: error.into_iter().chain(left_out).collect::<Vec<_>>().join(" "),
        english: run.refusals.iter().take(REFUSALS).map(told).collect(),
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        SyncRunId,
        integrations::ErrorCode,
        shops::{
            Window,
            sync::{Counts, RunError, Stream},
        },
    };
    use time::macros::datetime;

    use super::*;
    use crate::{pages::integrations::tests::example, text::tests::writer};

    fn run(refused: i64) -> SyncRun {
        let refusal =
            |n: i64| Refusal { kind: "order".into(), external_id: n.to_string(), reason: "its currency is BRL".into() };
        SyncRun {
            id: SyncRunId(1),
            stream: Stream::BackFill,
            window: Some(Window { from: datetime!(2026-11-01 3:00 UTC), until: datetime!(2026-11-02 3:00 UTC) }),
            state: RunState::Done,
            counts: Counts { read: 1250, stored: 12, refused, ..Counts::default() },
            refusals: (0..refused).map(refusal).collect(),
            error: None,
            started_at: datetime!(2026-11-22 22:00 UTC),
            finished_at: datetime!(2026-11-22 22:01 UTC),
        }
    }

    #[test]
    fn a_run_says_what_it_read_and_what_it_left_out() {
        let row = row(&writer("es-AR"), &run(5));
        let Cell::Number { text, value } = &row.cells[2] else { panic!() };
        assert_eq!((text.as_str(), value.as_deref()), ("1.250", Some("1250")));
        let Cell::Told { text, english, .. } = &row.cells[5] else { panic!() };
        assert_eq!(text, "5 registros quedaron afuera, por ejemplo (motivos en inglés):");
        assert_eq!(english.len(), 3);
        assert_eq!(english[0], "order 0: its currency is BRL");
    }

    #[test]
    fn without_runs_it_is_not_said_that_nothing_was_read_where_it_was() {
        let told = |integration: Integration| nothing(&writer("en"), &integration);
        let new = || Integration { last_sync_at: None, backfilled_from: None, ..example() };
        assert_eq!(told(example()), "No run of the last 30 days is recorded.");
        assert!(told(new()).starts_with("Nothing was read yet."));
        assert_eq!(
            told(Integration { revoked_at: Some(datetime!(2026-11-22 22:00 UTC)), ..new() }),
            "Nothing was read."
        );
    }

    #[test]
    fn a_failed_run_says_why() {
        let error = Some(RunError { code: ErrorCode::TokenRefused, message: String::new() });
        let failed = SyncRun { state: RunState::Failed, error, ..run(0) };
        let said = |run: &SyncRun| match why(&writer("en"), run) {
            Cell::Told { text, english, .. } => (text, english.len()),
            _ => panic!(),
        };
        assert_eq!(said(&failed), ("the platform does not accept the access.".to_owned(), 0));
        assert_eq!(said(&run(0)), (String::new(), 0));
    }
}
