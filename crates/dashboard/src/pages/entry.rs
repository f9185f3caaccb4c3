//! What pages share by which somebody gets in: who tries and where, what is answered, and the session that begins.

use std::net::IpAddr;

use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode,
        header::{self, HeaderMap},
    },
};
use app::log_in::{Attempt, Begun, LogInError};
use domain::{
    PersonId,
    error::Chain,
    log_in::LinkError,
    mail::{Mail, Outgoing},
    passwords::{Password, PasswordFault},
    people::EmailAddress,
    sessions::{Device, Link, LinkPurpose, Token},
    throttle::{Counted, Counter, Verdict},
};
use serde::Deserialize;
use time::{Duration, OffsetDateTime};

use super::{html, see};
use crate::{
    error::PageError,
    session::{self, Kept, Viewer},
    state::State,
    text::Writer,
    views::{
        ask::{self, Field, Form, Kind, Model, Said},
        panel::Way,
        plain::Plain,
    },
};

/// Characters of the browser's name that are kept.
const MAX_USER_AGENT: usize = 256;

/// Who came by a link of the command line has none.
pub async fn has_password(viewer: &Viewer, state: &State) -> Result<bool, PageError> {
    let known = state.log_in.credentials.of_person(viewer.session().person.id).await?;
    Ok(known.is_some_and(|known| known.password.is_some()))
}

pub fn device(headers: &HeaderMap, address: IpAddr) -> Device {
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Device { user_agent: agent.chars().take(MAX_USER_AGENT).collect(), address: address.to_string() }
}

/// Who tries to get in.
pub fn attempt(request: &HttpRequest, from: IpAddr, remember: bool, state: &State) -> Attempt {
    let headers = request.headers();
    let known_by = Kept::Device.token(headers, &state.settings);
    Attempt { from, device: device(headers, from), known_by, remember }
}

/// Logs in who came by a link. Where that does not do, they log in as usual.
pub async fn let_in(
    person: PersonId,
    request: &HttpRequest,
    from: IpAddr,
    state: &State,
    now: OffsetDateTime,
) -> Result<HttpResponse, PageError> {
    match state.log_in.by_link(person, attempt(request, from, true, state), now).await {
        Ok(Some(new)) => begun(&new, "/", state),
        Ok(None) | Err(_) => Ok(see("/login")),
    }
}

/// Leads on with the session that has begun.
pub fn begun(begun: &Begun, to: &str, state: &State) -> Result<HttpResponse, PageError> {
    let settings = &state.settings;
    let mut response = see(to);
    let device = begun.device.as_ref().map(|token| Kept::Device.cookie(token, settings));
    let cookies = std::iter::once(session::cookie(&begun.session, begun.remember, settings)).chain(device);
    for cookie in cookies {
        response.add_cookie(&cookie).map_err(|error| PageError::Internal(error.to_string()))?;
    }
    Ok(response)
}

/// A refusal that the form is shown again with, beside how long to wait.
pub struct Refused {
    pub text: String,
    wait: Duration,
}

/// What the page says where it did not come to a decision.
pub fn refused(writer: &Writer, error: LogInError) -> Result<Refused, PageError> {
    use app::{passwords::HashError, second_factor::FactorError};
    match error {
        LogInError::Wait(wait) => Ok(waiting(writer, wait)),
        LogInError::Ended => Ok(Refused { text: writer.say("login-ended"), wait: Duration::ZERO }),
        LogInError::Store(error) | LogInError::Factor(FactorError::Store(error)) => Err(error.into()),
        LogInError::Factor(FactorError::Hash(error @ HashError::Busy)) => {
            Err(PageError::Unavailable(error.to_string()))
        }
        LogInError::Factor(error) => Err(PageError::Internal(Chain(&error).to_string())),
    }
}

fn waiting(writer: &Writer, wait: Duration) -> Refused {
    let seconds = wait.whole_seconds() + 1;
    Refused { text: writer.message("login-wait").count("seconds", seconds).say(), wait }
}

/// The page with the form again, and what is wrong.
pub fn again(mut model: Model, refused: Refused) -> HttpResponse {
    model.said = Some(Said { is_fault: true, text: refused.text });
    let mut response = html(ask::page(&model));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    if let Ok(value) = (refused.wait.whole_seconds() + 1).to_string().parse() {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// The page with the form again, where what was sent is wrong.
pub fn wrong(mut model: Model, text: String) -> HttpResponse {
    model.said = Some(Said { is_fault: true, text });
    unprocessable(&model)
}

/// The page with the form again, whose fields say what is wrong.
pub fn unprocessable(model: &Model) -> HttpResponse {
    let mut response = html(ask::page(model));
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    response
}

pub fn model(writer: &Writer, title: &str, paragraphs: Vec<String>, form: Option<Form>) -> Model {
    Model { plain: Plain::new(writer, writer.say(title)), said: None, paragraphs, form, ways: Vec::new() }
}

pub fn form(fields: Vec<Field>, go: String) -> Form {
    Form { action: String::new(), hidden: Vec::new(), fields, go, is_danger: false }
}

pub fn field(name: &'static str, label: String, kind: Kind) -> Field {
    Field { name, label, help: None, error: None, value: String::new(), kind }
}

/// The field of a mail address.
pub fn email_field(writer: &Writer) -> Field {
    field("email", writer.say("email"), Kind::Line("email", "username"))
}

/// The field of a password that is chosen.
pub fn new_password_field(writer: &Writer) -> Field {
    let field = field("password", writer.say("new-password"), Kind::Line("password", "new-password"));
    Field { help: Some(writer.say("new-password-help")), ..field }
}

/// What is wrong with a password.
pub fn fault(writer: &Writer, fault: PasswordFault) -> String {
    writer.say(match fault {
        PasswordFault::TooShort => "password-too-short",
        PasswordFault::TooLong => "password-too-long",
        PasswordFault::Guessable => "password-guessable",
    })
}

/// A password that somebody chooses who has this address and these names.
pub fn chosen(text: &str, email: &str, names: &[&str]) -> Result<Password, PasswordFault> {
    let parts = email.split(['@', '.', '+', '-', '_']).chain(email.split('@'));
    let words: Vec<&str> = parts.chain(names.iter().copied()).chain(names.iter().flat_map(|n| n.split(' '))).collect();
    Password::chosen(text, &words)
}

/// The link of the page's address.
pub async fn look(token: &str, purpose: LinkPurpose, state: &State) -> Result<Option<(Token, Link)>, PageError> {
    let Some(token) = Token::parse(token) else { return Ok(None) };
    let link = state.links.look(token.hash(), purpose, (state.clock)()).await?;
    Ok(link.map(|link| (token, link)))
}

/// What came of using a link; nothing where it was used before.
pub fn used<T>(result: Result<T, LinkError>) -> Result<Option<T>, PageError> {
    match result {
        Ok(made) => Ok(Some(made)),
        Err(LinkError::Gone | LinkError::Taken) => Ok(None),
        Err(LinkError::Store(error)) => Err(error.into()),
    }
}

/// The page of a link that no longer works.
pub fn gone(writer: &Writer) -> HttpResponse {
    let mut model = model(writer, "link-gone", vec![writer.say("link-gone-what")], None);
    model.ways.push(Way { text: writer.say("login-title"), address: "/login".to_owned() });
    html(ask::page(&model))
}

/// Where somebody who is not logged in wants a mail to go.
#[derive(Deserialize)]
pub struct Asked {
    email: String,
}

/// Queues a mail that somebody asks for who is not logged in, and says so; `asking` is the page with the form. Whether anybody has
/// the address shows neither in the answer nor in the time that it takes: that is looked up when the mail is sent.
pub async fn by_mail(
    mail: Mail,
    asked: &Asked,
    from: IpAddr,
    (title, asking): (&str, Model),
    writer: &Writer,
    state: &State,
) -> Result<HttpResponse, PageError> {
    let Ok(email) = asked.email.parse::<EmailAddress>() else {
        return Ok(wrong(asking, writer.say("email-wrong")));
    };
    let counted = if mail == Mail::SignUp { Counted::SignUpTo } else { Counted::ResetTo };
    let counters = [Counter::new(counted, email.as_str()), Counter::of_address(Counted::MailFrom, from)];
    if let Verdict::Wait(wait) = state.log_in.throttles.count(&counters, writer.now).await?.verdict {
        return Ok(again(asking, waiting(writer, wait)));
    }
    state.mails.put(Outgoing { to: email, language: writer.locale().language, mail }, None, writer.now).await?;
    Ok(look_at_mail(writer, title, state))
}

/// The page that tells to look for a mail.
fn look_at_mail(writer: &Writer, title: &str, state: &State) -> HttpResponse {
    let mut model = model(writer, title, vec![writer.say("mail-look"), writer.say("mail-look-spam")], None);
    if state.outbox.is_some() {
        model.ways.push(Way { text: writer.say("outbox-see"), address: "/outbox".to_owned() });
    }
    html(ask::page(&model))
}

/// The page that says why there are no mails.
pub fn no_mail(writer: &Writer, title: &str) -> HttpResponse {
    let mut model = model(writer, title, vec![writer.say("no-mail")], None);
    model.ways.push(Way { text: writer.say("login-title"), address: "/login".to_owned() });
    html(ask::page(&model))
}
