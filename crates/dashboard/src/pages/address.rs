//! Confirming a new address, by a link from a mail to it.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path, ReqData},
};
use domain::sessions::LinkPurpose;

use super::{entry, html, see, writer};
use crate::{edge::ClientAddress, error::PageError, state::State, views::ask};

pub async fn open(request: HttpRequest, token: Path<String>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = writer(None, request.headers(), (state.clock)());
    if entry::look(&token, LinkPurpose::NewAddress, &state).await?.is_none() {
        return Ok(entry::gone(&writer));
    }
    let form = entry::form(Vec::new(), writer.say("address-confirm"));
    let model = entry::model(&writer, "address-title", vec![writer.say("address-ends")], Some(form));
    Ok(html(ask::page(&model)))
}

pub async fn confirm(
    request: HttpRequest,
    token: Path<String>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(None, request.headers(), now);
    let Some((token, _)) = entry::look(&token, LinkPurpose::NewAddress, &state).await? else {
        return Ok(entry::gone(&writer));
    };
    let changed = state.mail_links.change_address(token.hash(), from.0.to_string(), now).await;
    Ok(entry::used(changed)?.map_or_else(|| entry::gone(&writer), |_| see("/login")))
}
