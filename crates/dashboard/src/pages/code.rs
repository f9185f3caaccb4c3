//! The second step of a log-in: the code of the second factor, or a recovery code.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form, ReqData},
};
use app::log_in::Answer;
use serde::Deserialize;

use super::{
    entry, html,
    login::{escaped, next},
    parameter, see, writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::Kept,
    state::State,
    text::Writer,
    views::{
        ask::{self, Kind, Model},
        panel::Way,
    },
};

fn model(writer: &Writer, to: &str) -> Model {
    let code = entry::field("code", writer.say("code"), Kind::Code);
    let mut form = entry::form(vec![code], writer.say("login-title"));
    form.hidden.push(("next", to.to_owned()));
    let mut model =
        entry::model(writer, "code-title", vec![writer.say("code-what"), writer.say("code-lost")], Some(form));
    model.ways.push(Way { text: writer.say("login-anew"), address: format!("/login?next={}", escaped(to)) });
    model
}

pub async fn get(request: HttpRequest, state: Data<State>) -> HttpResponse {
    let to = parameter(&request, "next");
    let writer = writer(None, request.headers(), (state.clock)());
    html(ask::page(&model(&writer, next(to.as_deref()))))
}

#[derive(Deserialize)]
pub struct Fields {
    code: String,
    #[serde(default)]
    next: String,
}

pub async fn post(
    request: HttpRequest,
    fields: Form<Fields>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(None, request.headers(), now);
    let Fields { code, next: wanted } = fields.into_inner();
    let to = next(Some(&wanted));
    let anew = || see(&format!("/login?next={}", escaped(to)));
    let Some(challenge) = Kept::Challenge.token(request.headers(), &state.settings) else { return Ok(anew()) };
    let attempt = entry::attempt(&request, from.0, false, &state);
    match state.log_in.by_code(&challenge, &code, attempt, now).await {
        Ok(Some(Answer::In(begun))) => entry::begun(&begun, to, &state),
        Ok(Some(Answer::NoShop)) => Ok(entry::wrong(model(&writer, to), writer.say("login-no-shop"))),
        Ok(Some(Answer::Wrong | Answer::Code(_))) => Ok(entry::wrong(model(&writer, to), writer.say("code-wrong"))),
        Ok(None) => Ok(anew()),
        Err(error) => Ok(entry::again(model(&writer, to), entry::refused(&writer, error)?)),
    }
}
