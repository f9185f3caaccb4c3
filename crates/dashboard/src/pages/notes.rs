//! What people write about a day.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form},
};
use domain::{
    NoteId,
    audit::Action,
    notes::{MAX_CHARS, NewNote, Note, WriteError, parse},
    people::Act,
    profit::DayRange,
};
use serde::Deserialize;
use time::Date;

use super::{profit_day::day_of, query, see};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        acts::Acts,
        form::{Button, Field, Form as Shown, Input},
        notes::{Notes, Written},
    },
};

/// The notes of a day, with the form of another for who may write.
pub async fn of_day(viewer: &Viewer, state: &State, writer: &Writer, day: Date) -> Result<Notes, PageError> {
    let notes = state.notes.of_days(viewer.account(), DayRange { first: day, last: day }).await?;
    let may_write = viewer.may(Act::Change);
    Ok(Notes {
        title: writer.say("notes-title"),
        nothing: writer.say("notes-none"),
        items: notes.iter().map(|note| written(writer, note, may_write)).collect(),
        form: may_write.then(|| form(writer, day)),
    })
}

fn written(writer: &Writer, note: &Note, may_write: bool) -> Written {
    let by = writer.message("note-by").text("name", &note.by).text("time", writer.moment(note.written_at)).say();
    Written {
        text: note.text.clone(),
        by,
        remove: may_write.then(|| Acts {
            address: format!("/notes/{}/delete", note.id),
            hidden: vec![],
            name: "delete",
            buttons: vec![("yes", writer.message("note-remove").text("text", &note.text).say())],
        }),
    }
}

fn form(writer: &Writer, day: Date) -> Shown {
    Shown {
        id: "h-note",
        title: writer.say("note-write"),
        about: vec![],
        is_get: false,
        action: format!("/profit/{day}/notes"),
        hidden: vec![],
        fields: vec![Field {
            name: "text",
            label: writer.say("note"),
            help: Some(writer.message("note-help").count("most", MAX_CHARS as i64).say()),
            error: None,
            input: Input::Line { kind: "text", value: String::new(), max: Some(MAX_CHARS), is_required: true },
        }],
        buttons: vec![Button::main(writer.say("note-save"))],
    }
}

#[derive(Deserialize)]
pub struct Fields {
    text: String,
}

pub async fn write(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Fields>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let today = viewer.session().account.timezone.day_of(now);
    let day = day_of(&request).filter(|day| *day <= today).ok_or(PageError::NotFound)?;
    let text = parse(&fields.text).map_err(|_| PageError::Invalid("note"))?;
    let person = &viewer.session().person;
    let note = NewNote { day, text, person: person.id, by: person.name.clone() };
    match state.notes.write(viewer.account(), note, viewer.note(Action::NoteWritten), now).await {
        Ok(_) => Ok(see(&format!("/profit/{day}#h-notes"))),
        Err(WriteError::TooMany) => Err(PageError::Conflict),
        Err(WriteError::Store(error)) => Err(error.into()),
    }
}

pub async fn remove(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let id = NoteId(query::id(&request)?);
    let (entry, now) = (viewer.note(Action::NoteRemoved), (state.clock)());
    let day = state.notes.remove(viewer.account(), id, entry, now).await?.ok_or(PageError::NotFound)?;
    Ok(see(&format!("/profit/{day}#h-notes")))
}
