//! A new password by a link from a mail.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form, Path, ReqData},
};
use domain::{
    mail::{LinkDetails, Mail},
    passwords::PasswordFault,
    sessions::{Link, LinkPurpose},
};
use serde::Deserialize;

use super::{
    entry::{self, Asked},
    html, see, writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    state::State,
    text::Writer,
    views::ask::{self, Field, Model},
};

const TITLE: &str = "reset-title";

fn asking(writer: &Writer) -> Model {
    let form = entry::form(vec![entry::email_field(writer)], writer.say("reset-go"));
    entry::model(writer, TITLE, vec![writer.say("reset-what")], Some(form))
}

pub async fn get(request: HttpRequest, state: Data<State>) -> HttpResponse {
    let writer = writer(None, request.headers(), (state.clock)());
    if state.settings.has_mail { html(ask::page(&asking(&writer))) } else { entry::no_mail(&writer, TITLE) }
}

pub async fn post(
    request: HttpRequest,
    fields: Form<Asked>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = writer(None, request.headers(), (state.clock)());
    if !state.settings.has_mail {
        return Ok(entry::no_mail(&writer, TITLE));
    }
    entry::by_mail(Mail::ResetPassword, &fields, from.0, (TITLE, asking(&writer)), &writer, &state).await
}

fn choosing(writer: &Writer, fault: Option<PasswordFault>) -> Model {
    let error = fault.map(|fault| entry::fault(writer, fault));
    let password = Field { error, ..entry::new_password_field(writer) };
    let form = entry::form(vec![password], writer.say("password-save"));
    entry::model(writer, TITLE, vec![writer.say("reset-ends")], Some(form))
}

pub async fn open(request: HttpRequest, token: Path<String>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = writer(None, request.headers(), (state.clock)());
    Ok(match entry::look(&token, LinkPurpose::ResetPassword, &state).await? {
        Some(_) => html(ask::page(&choosing(&writer, None))),
        None => entry::gone(&writer),
    })
}

#[derive(Deserialize)]
pub struct Chosen {
    password: String,
}

/// Sets the password. The log-in comes after it, as the second factor, if there is one, is still to be shown.
pub async fn choose(
    request: HttpRequest,
    token: Path<String>,
    fields: Form<Chosen>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(None, request.headers(), now);
    let Some((token, link)) = entry::look(&token, LinkPurpose::ResetPassword, &state).await? else {
        return Ok(entry::gone(&writer));
    };
    let password = match entry::chosen(&fields.password, &email(link), &[]) {
        Ok(password) => password,
        Err(fault) => return Ok(entry::unprocessable(&choosing(&writer, Some(fault)))),
    };
    let hash = state.log_in.passwords.hash(password, state.log_in.salt()).await?;
    let reset = state.mail_links.reset_password(token.hash(), &hash, from.0.to_string(), now).await;
    Ok(entry::used(reset)?.map_or_else(|| entry::gone(&writer), |_| see("/login")))
}

/// The address that the link's mail went to.
pub fn email(link: Link) -> String {
    serde_json::from_value::<LinkDetails>(link.details).map(|details| details.email).unwrap_or_default()
}
