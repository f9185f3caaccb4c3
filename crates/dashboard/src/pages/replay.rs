//! Sending the deliveries of a period again: how many they are, and then doing it.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form},
};
use app::replays;
use domain::{
    SubscriptionId,
    audit::Action,
    instants,
    webhooks::{
        delivery::DeliveryState,
        replay::{Selection, StartError},
    },
};
use serde::Deserialize;
use time::Date;

use super::{html, html_with, query, shell::shell, webhook::subscription};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        form::{self, Button},
        layout::Here,
        panel::Way,
        replay::{self as view, Model},
    },
};

/// Which deliveries: of the days, and in which states.
#[derive(Deserialize)]
pub struct Period {
    from: String,
    to: String,
    which: Which,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Which {
    Failed,
    All,
}

impl Which {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::All => "all",
        }
    }

    fn states(self) -> Vec<DeliveryState> {
        match self {
            Self::Failed => vec![DeliveryState::Failed],
            Self::All => vec![DeliveryState::Failed, DeliveryState::Delivered],
        }
    }
}

impl Period {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let required = |name| query::one::<String>(request, name)?.ok_or(PageError::Invalid(name));
        let which = match required("which")?.as_str() {
            "failed" => Which::Failed,
            "all" => Which::All,
            _ => return Err(PageError::Invalid("which")),
        };
        Ok(Self { from: required("from")?, to: required("to")?, which })
    }

    /// Its first and last day.
    fn days(&self) -> Result<(Date, Date), PageError> {
        let day = |text: &str, name| instants::parse_day(text).map_err(|_| PageError::Invalid(name));
        let (from, to) = (day(&self.from, "from")?, day(&self.to, "to")?);
        if from > to { Err(PageError::Invalid("to")) } else { Ok((from, to)) }
    }

    fn selection(&self, writer: &Writer, subscription: SubscriptionId) -> Result<Selection, PageError> {
        let (from, to) = self.days()?;
        Ok(Selection {
            subscription,
            since: writer.zone.start_of(from),
            until: writer.zone.start_of(to.next_day().unwrap_or(to)),
            states: self.which.states(),
        })
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = SubscriptionId(query::id(&request)?);
    let period = Period::of(&request)?;
    let selection = period.selection(&writer, id)?;
    let count = replays::count(&*state.webhook_settings, &*state.replays, viewer.account(), &selection).await?;
    let count = count.ok_or(PageError::NotFound)?;
    let about = writer.message("replay-counted").count("count", count).say();
    let buttons = if count > 0 { vec![Button::main(writer.say("replay-start"))] } else { vec![] };
    Ok(html(view::page(&model(&viewer, &state, &writer, id, &period, vec![about], buttons).await?)))
}

pub async fn start(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Period>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = SubscriptionId(query::id(&request)?);
    let selection = fields.selection(&writer, id)?;
    let (settings, replays) = (&*state.webhook_settings, &*state.replays);
    let note = Some(viewer.note(Action::DeliveriesReplayed));
    let started = match replays::start(settings, replays, viewer.account(), selection, None, note, writer.now).await {
        Ok(started) => started.ok_or(PageError::NotFound)?.value,
        Err(StartError::Running | StartError::TooMany) => {
            let about = vec![writer.say("replay-running")];
            return Ok(html_with(
                StatusCode::BAD_REQUEST,
                view::page(&model(&viewer, &state, &writer, id, &fields, about, vec![]).await?),
            ));
        }
        Err(StartError::Idempotency(error)) => return Err(error.into()),
    };
    let about = vec![writer.message("replay-started").count("count", started.total).say()];
    Ok(html(view::page(&model(&viewer, &state, &writer, id, &fields, about, vec![]).await?)))
}

async fn model(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    id: SubscriptionId,
    period: &Period,
    about: Vec<String>,
    buttons: Vec<Button>,
) -> Result<Model, PageError> {
    let subscription = subscription(viewer, state, id).await?;
    let (from, to) = period.days()?;
    let days = writer
        .message("replay-period")
        .text("first", writer.day_of_year(from))
        .text("last", writer.day_of_year(to))
        .say();
    let title = writer.say("replay-title");
    Ok(Model {
        shell: shell(viewer, state, writer, Here::Webhooks, title.clone()).await?,
        back: Way { text: subscription.url, address: format!("/webhooks/{id}") },
        title,
        form: form::Form {
            id: "h-replay",
            title: days,
            about,
            is_get: false,
            action: format!("/webhooks/{id}/replay"),
            hidden: vec![
                ("from", period.from.clone()),
                ("to", period.to.clone()),
                ("which", period.which.as_str().to_owned()),
            ],
            fields: vec![],
            buttons,
        },
    })
}
