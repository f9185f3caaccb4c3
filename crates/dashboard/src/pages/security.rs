//! Password and address of the person who is logged in.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form, ReqData},
};
use app::second_factor::{by, told};
use domain::{
    audit::Action,
    mail::{Mail, Notice, Outgoing},
    people::EmailAddress,
    throttle::{Counted, Counter, Verdict},
};
use serde::Deserialize;

use super::{
    entry, parameter, see,
    settings::{self, Tab},
    writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{ask::Said, settings::Part},
};

const PATH: &str = Tab::Security.address();
/// What was just done, as the address names it, and what is said of it.
const DONE: [(&str, &str); 2] = [("password", "password-saved"), ("address", "address-sent")];

fn parts(writer: &Writer, viewer: &Viewer, state: &State) -> Vec<Part> {
    let mut password = Part::new("h-password", writer.say("password"), vec![writer.say("password-ends")]);
    let mut form = entry::form(vec![entry::new_password_field(writer)], writer.say("password-save"));
    form.action = "/settings/password".to_owned();
    password.forms.push(form);
    let now = writer.message("address-now").text("address", viewer.session().person.email.as_str()).say();
    let mut address = Part::new("h-address", writer.say("email"), vec![now]);
    if state.settings.has_mail {
        let mut form = entry::form(vec![entry::email_field(writer)], writer.say("address-change"));
        form.action = "/settings/address".to_owned();
        address.forms.push(form);
    } else {
        address.paragraphs.push(writer.say("no-mail"));
    }
    vec![password, address]
}

async fn page(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    said: impl FnOnce(&Writer) -> Option<Said>,
) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(viewer), request.headers(), (state.clock)());
    let parts = parts(&writer, viewer, state);
    settings::page(viewer, state, &writer, Tab::Security, said(&writer), parts).await
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    viewer.confirmed((state.clock)(), PATH)?;
    let done = parameter(&request, "done");
    let said = DONE.iter().find(|(name, _)| done.as_deref() == Some(*name)).map(|(_, words)| *words);
    page(&request, &viewer, &state, |writer| said.and_then(|words| settings::done(writer, words))).await
}

#[derive(Deserialize)]
pub struct NewPassword {
    password: String,
}

pub async fn set_password(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<NewPassword>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let session = viewer.session();
    let names = [session.person.name.as_str(), session.account.name.as_str()];
    let password = match entry::chosen(&fields.password, session.person.email.as_str(), &names) {
        Ok(password) => password,
        Err(fault) => return page(&request, &viewer, &state, |w| settings::fault(entry::fault(w, fault))).await,
    };
    let hash = state.log_in.passwords.hash(password, state.log_in.salt()).await?;
    let note = by(session, Action::PasswordChanged, from.0.to_string());
    let notice = told(session, Notice::PasswordChanged);
    state.log_in.credentials.set_password(session.person.id, &hash, session.id, note, notice, now).await?;
    Ok(see(&format!("{PATH}?done=password")))
}

#[derive(Deserialize)]
pub struct NewAddress {
    email: String,
}

/// Sends a mail to the new address; the old one stays until its link is opened.
pub async fn set_address(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<NewAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    if !state.settings.has_mail {
        return page(&request, &viewer, &state, |writer| settings::fault(writer.say("no-mail"))).await;
    }
    let Ok(to) = fields.email.parse::<EmailAddress>() else {
        return page(&request, &viewer, &state, |writer| settings::fault(writer.say("email-wrong"))).await;
    };
    let person = viewer.session().person.id;
    let counter = |of: &str| Counter::new(Counted::NewAddress, of);
    let counters = [counter(to.as_str()), counter(&format!("by {person}"))];
    if state.log_in.throttles.count(&counters, now).await?.verdict != Verdict::Go {
        return page(&request, &viewer, &state, |writer| settings::fault(writer.say("mail-wait"))).await;
    }
    let mail = Outgoing { to, language: viewer.locale().language, mail: Mail::NewAddress { person } };
    state.mails.put(mail, None, now).await?;
    Ok(see(&format!("{PATH}?done=address")))
}
