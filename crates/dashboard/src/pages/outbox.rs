//! The mails that were put aside, on a developer's machine; elsewhere there is no such page.

use actix_web::{HttpRequest, HttpResponse, web::Data};

use super::{html, writer};
use crate::{
    error::PageError,
    state::State,
    views::{
        outbox::{self, Item, Line, Model},
        plain::Plain,
    },
};

pub async fn get(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, PageError> {
    let outbox = state.outbox.clone().ok_or(PageError::NotFound)?;
    let listed = actix_web::web::block(move || outbox.list()).await;
    let mails = listed.map_err(|error| PageError::Internal(error.to_string()))?;
    let mails = mails.map_err(|error| PageError::Internal(error.to_string()))?;
    let writer = writer(None, request.headers(), (state.clock)());
    let site = state.settings.public_url.as_str();
    let line = |line: &str| match line.strip_prefix(site) {
        Some(path) => Line::Link(format!("/{path}")),
        None => Line::Text(line.to_owned()),
    };
    let model = Model {
        plain: Plain::new(&writer, writer.say("outbox")),
        what: writer.say("outbox-what"),
        nothing: writer.say("outbox-none"),
        items: mails
            .into_iter()
            .map(|mail| Item { lines: mail.text.lines().map(line).collect(), subject: mail.subject, to: mail.to })
            .collect(),
    };
    Ok(html(outbox::page(&model)))
}
