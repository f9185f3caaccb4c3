//! Credits: how many there are and how long they last, what they went for, the ledger, and how to get more.

mod ledger;
mod top_up;
mod used;

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form},
};
use app::payments::{CheckoutError, OpenCheckout};
use domain::{
    audit::{Action, Entry},
    page::PageRequest,
    usage::sum_up,
};
use serde::Deserialize;
use tokio::try_join;

use self::{
    ledger::{LIMIT, Query},
    top_up::{AutoFields, Fault},
};
use super::{html, html_with, query, see, shell::shell};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ask::Said,
        credits::{self as view, Model, Pay},
        layout::{Here, Shell},
        panel::Way,
    },
};

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let told = |name, words: &str| -> Result<Option<Said>, PageError> {
        let is_told = query::one(&request, name)?.unwrap_or(false);
        Ok(is_told.then(|| Said { is_fault: false, text: writer.say(words) }))
    };
    let said = told("paid", "credits-paid")?.or(told("saved", "auto-saved")?);
    let shown = Shown { query: Query::of(&request)?, said, ..Shown::default() };
    Ok(html(view::page(&model(&viewer, &state, &writer, shown).await?)))
}

/// What a page shows beside the credits.
#[derive(Default)]
struct Shown {
    query: Query,
    said: Option<Said>,
    /// Settings that were sent, and what is wrong with them.
    auto: Option<(AutoFields, Fault)>,
}

#[derive(Deserialize)]
pub struct Choice {
    pack: String,
}

/// Opens a page of the payment gateway. The way there is a link: the policy of contents ends a form's redirects here.
pub async fn checkout(
    request: HttpRequest,
    viewer: Viewer,
    choice: Form<Choice>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    viewer.confirmed(writer.now, Here::Credits.address())?;
    let service = state.payments.as_ref().ok_or(PageError::Conflict)?;
    let here = |query: &str| {
        let mut url = state.settings.public_url.clone();
        url.set_path(Here::Credits.address());
        url.set_query((!query.is_empty()).then_some(query));
        url
    };
    match service.checkout(&viewer.session().account, &choice.pack, [here(""), here("paid=true")]).await {
        Ok(open) => {
            let note = Entry { target: Some(choice.pack.clone()), ..viewer.note(Action::CheckoutOpened) };
            state.audit.note(note, writer.now).await?;
            let shell = shell(&viewer, &state, &writer, Here::Credits, writer.say("credits")).await?;
            Ok(html(view::pay(&pay(&writer, shell, &open))))
        }
        Err(CheckoutError::SandboxAccount) => Err(PageError::Conflict),
        Err(CheckoutError::UnknownPack) => Err(PageError::Invalid("pack")),
        Err(CheckoutError::Gateway(error)) => {
            tracing::warn!(%error, "no checkout could be opened");
            let said = Some(Said { is_fault: true, text: writer.say("checkout-away") });
            let shown = Shown { said, ..Shown::default() };
            let model = model(&viewer, &state, &writer, shown).await?;
            Ok(html_with(StatusCode::SERVICE_UNAVAILABLE, view::page(&model)))
        }
    }
}

fn pay(writer: &Writer, shell: Shell, open: &OpenCheckout) -> Pay {
    let price = top_up::price(writer, &open.pack.price);
    Pay {
        shell,
        title: writer.message("pay-title").text("credits", top_up::credits(writer, open.pack.credits.get())).say(),
        about: writer
            .message("pay-about")
            .text("price", &price)
            .text("host", open.url.host_str().unwrap_or_default())
            .say(),
        go: Way { text: writer.message("pay-go").text("price", &price).say(), address: open.url.to_string() },
        back: Way { text: writer.say("pay-not"), address: Here::Credits.address().to_owned() },
    }
}

/// Sets when credits are bought by themselves.
pub async fn set_auto_top_up(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<AutoFields>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    viewer.confirmed(writer.now, Here::Credits.address())?;
    let service = state.payments.as_ref().ok_or(PageError::Conflict)?;
    match fields.change(&writer, &service.prices) {
        Ok(change) => {
            state
                .auto_top_up
                .change(viewer.account(), change, Some(viewer.note(Action::AutoTopupChanged)), writer.now)
                .await?;
            Ok(see("/credits?saved=true"))
        }
        Err(fault) => {
            let shown = Shown { auto: Some((fields.into_inner(), fault)), ..Shown::default() };
            Ok(html_with(StatusCode::BAD_REQUEST, view::page(&model(&viewer, &state, &writer, shown).await?)))
        }
    }
}

async fn model(viewer: &Viewer, state: &State, writer: &Writer, shown: Shown) -> Result<Model, PageError> {
    let account = viewer.account();
    let Shown { query, said, auto } = shown;
    let filter = query.filter(writer)?;
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let (credits, usage, listed) = try_join!(
        state.credits.summary(account),
        state.usage.read(account, &writer.zone, writer.now),
        state.transactions.page(account, &filter, page),
    )?;
    let (title, api) = (writer.say("credits"), &state.settings.api_url);
    let sums = sum_up(&usage.days, writer.today());
    Ok(Model {
        shell: shell(viewer, state, writer, Here::Credits, title.clone()).await?,
        title,
        about: writer.say("credits-about"),
        said,
        balance: used::balance(writer, &usage, &sums, api),
        chart: used::chart(writer, &sums, api),
        feature_head: used::head(writer),
        features: used::features(writer, &sums, api),
        buy: top_up::buy(viewer, state, writer),
        auto: top_up::auto(viewer, state, writer, &credits.auto_topup, auto),
        filters: ledger::filters(writer, &query),
        head: ledger::head(writer),
        ledger: ledger::list(writer, &query, &listed, api),
    })
}
