//! All that the account has, as a file: asked for, made by a worker, and fetched.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Bytes, Data, ReqData},
};
use app::second_factor::by;
use domain::{
    ExportId, StoreError,
    audit::Action,
    exports::{Export, KEPT, State as ExportState},
};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{
    data::size,
    entry, look_again, query, see,
    settings::{self, Tab},
    writer,
};
use crate::{
    edge::ClientAddress,
    error::{PageError, broke_off},
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ask,
        panel::Way,
        settings::{Part, Row},
    },
};

const PATH: &str = Tab::Export.address();

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let writer = writer(Some(&viewer), request.headers(), now);
    let exports = state.exports.list(viewer.account()).await?;
    let is_open = exports.iter().any(Export::is_open);
    let mut ask = Part::new(
        "h-export",
        writer.say("export"),
        vec![writer.say("export-what"), writer.message("export-kept").count("days", KEPT.whole_days()).say()],
    );
    if is_open {
        ask.paragraphs.push(writer.say("export-leave"));
        ask.ways.push(Way { text: writer.say("look-again"), address: PATH.to_owned() });
    } else {
        ask.forms.push(ask::Form { action: PATH.to_owned(), ..entry::form(vec![], writer.say("export-go")) });
    }
    let mut parts = vec![ask];
    if !exports.is_empty() {
        let mut list = Part::new("h-exports", writer.say("exports"), vec![]);
        list.rows = exports.iter().map(|export| row(&writer, export)).collect();
        list.ways = exports
            .iter()
            .filter(|export| export.state == ExportState::Done)
            .map(|export| fetch(&writer, export))
            .collect();
        parts.push(list);
    }
    let mut page = settings::page(&viewer, &state, &writer, Tab::Export, None, parts).await?;
    if is_open {
        look_again(&mut page);
    }
    Ok(page)
}

fn row(writer: &Writer, export: &Export) -> Row {
    let about = writer
        .message(format!("export-{}", export.state))
        .text("rows", writer.number(export.rows.into(), 0))
        .text("size", size(writer, export.bytes))
        .text("time", export.finished_at.map(|at| writer.moment(at)).unwrap_or_default());
    Row {
        name: writer.message("export-of").text("time", writer.moment(export.created_at)).say(),
        about: about.say().into(),
        forms: Vec::new(),
    }
}

fn fetch(writer: &Writer, export: &Export) -> Way {
    Way {
        text: writer.message("export-fetch").text("time", writer.moment(export.created_at)).say(),
        address: format!("{PATH}/{}", export.id),
    }
}

/// Asks for a file. A worker makes it, whether anybody looks or not.
pub async fn post(viewer: Viewer, from: ReqData<ClientAddress>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let mut note = by(viewer.session(), Action::ExportRequested, from.0.to_string());
    note.target = Some(viewer.session().account.name.clone());
    state.exports.request(viewer.account(), note, now).await?;
    Ok(see(PATH))
}

/// The file.
pub async fn file(
    request: HttpRequest,
    viewer: Viewer,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let (account, id) = (viewer.account(), ExportId(query::id(&request)?));
    let export = state.exports.find(account, id).await?.filter(|export| export.state == ExportState::Done);
    let export = export.ok_or(PageError::NotFound)?;
    let first = state.exports.piece(account, id, 0).await?.ok_or(PageError::NotFound)?;
    state.audit.note(by(viewer.session(), Action::ExportFetched, from.0.to_string()), now).await?;
    let exports = state.exports.clone();
    let rest = stream::try_unfold((exports, 1), move |(exports, number)| async move {
        let piece = exports.piece(account, id, number).await?;
        Ok::<_, StoreError>(piece.map(|bytes| (Bytes::from(bytes), (exports, number + 1))))
    });
    let all = stream::iter([Ok(Bytes::from(first))]).chain(rest.map_err(broke_off()));
    let name =
        format!("account-{account}-{}.ndjson.gz", writer(Some(&viewer), request.headers(), export.created_at).today());
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/gzip"))
        // What is packed already is sent as it is.
        .insert_header((header::CONTENT_ENCODING, "identity"))
        .insert_header((header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")))
        .streaming(all))
}
