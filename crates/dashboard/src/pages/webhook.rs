//! One webhook subscription: how it is, what was sent to it, and what can be done about it.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    SubscriptionId,
    events::EventKind,
    page::{Page, PageRequest},
    people::Act,
    webhooks::{
        Subscription,
        delivery::DeliveryState,
        log::{Filter, LoggedDelivery, Tally},
        schedule::MAX_ATTEMPTS,
    },
};
use time::{Date, Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    html, look_again, panel, query, see,
    shell::shell,
    webhook_acts::forms,
    webhooks::{SHARE_OF, how, share, standing, whole},
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        figures::Fact,
        form::{Field, Filters, Input, Pick},
        layout::Here,
        panel::{Panel, Way},
        rows::{Badge, Cell, Head, Row},
        secret::Once,
        webhook::{self as view, Model},
    },
};

/// Deliveries of a page.
const LIMIT: i64 = 25;
/// For how long a page follows what is delivered: one that is left open is not in use for ever.
const FOLLOWED: Duration = Duration::minutes(10);

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Query {
    state: Option<DeliveryState>,
    event: Option<EventKind>,
    from: Option<Date>,
    to: Option<Date>,
    cursor: Option<i64>,
    /// Until when the page follows what is delivered.
    live: Option<OffsetDateTime>,
}

impl Query {
    pub fn of(request: &HttpRequest) -> Result<Self, PageError> {
        Ok(Self {
            state: query::one(request, "state")?,
            event: query::one(request, "event")?,
            from: query::day(request, "from")?,
            to: query::day(request, "to")?,
            cursor: query::cursor(request)?,
            live: query::one(request, "live")?
                .map(OffsetDateTime::from_unix_timestamp)
                .transpose()
                .map_err(|_| PageError::Invalid("live"))?,
        })
    }

    /// Until when the page follows what is delivered, if it does now.
    fn followed(self, now: OffsetDateTime) -> Option<OffsetDateTime> {
        self.live.filter(|until| *until > now && *until <= now + FOLLOWED)
    }

    fn address(self, id: SubscriptionId) -> String {
        let Self { state, event, from, to, cursor, live } = self;
        let pairs = [
            state.map(|state| format!("state={state}")),
            event.map(|event| format!("event={event}")),
            from.map(|day| format!("from={day}")),
            to.map(|day| format!("to={day}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
            live.map(|until| format!("live={}", until.unix_timestamp())),
        ];
        query::address(&format!("/webhooks/{id}"), pairs)
    }

    fn filter(self, writer: &Writer) -> Filter {
        let start = |day: Date| writer.zone.start_of(day);
        Filter {
            state: self.state,
            event: self.event,
            since: self.from.map(start),
            until: self.to.and_then(Date::next_day).map(start),
        }
    }

    /// The call that gives the same.
    fn api(self, writer: &Writer, id: SubscriptionId) -> String {
        let Filter { state, event, since, until } = self.filter(writer);
        let instant =
            |at: time::OffsetDateTime| at.to_offset(time::UtcOffset::UTC).format(&Rfc3339).unwrap_or_default();
        let pairs = [
            state.map(|state| format!("state={state}")),
            event.map(|event| format!("event={event}")),
            since.map(|at| format!("since={}", instant(at))),
            until.map(|at| format!("until={}", instant(at))),
            Some(format!("limit={LIMIT}")),
            self.cursor.map(|cursor| format!("cursor={cursor}")),
        ];
        query::address(&format!("/api/v1/webhooks/{id}/deliveries"), pairs)
    }
}

/// What was just done, and is told once.
#[derive(Default)]
pub struct Told {
    pub once: Option<Once>,
    pub done: Option<String>,
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = SubscriptionId(query::id(&request)?);
    let done = query::one::<Done>(&request, "done")?.map(|done| writer.say(done.words()));
    let told = Told { done, ..Told::default() };
    let query = Query::of(&request)?;
    if query::one(&request, "follow")?.unwrap_or(false) {
        let live = Some(writer.now + FOLLOWED);
        return Ok(see(&Query { cursor: None, live, ..query }.address(id)));
    }
    let mut page = html(view::page(&model(&viewer, &state, &writer, id, query, told).await?));
    if query.followed(writer.now).is_some() {
        look_again(&mut page);
    }
    Ok(page)
}

/// What a page that was led on to says of the change before.
#[derive(Debug, Clone, Copy)]
pub enum Done {
    Paused,
    Resumed,
    /// A form that showed a secret was sent again.
    SentBefore,
}

/// Where a form that showed a secret of a subscription leads when it is sent again.
pub fn sent_before(id: SubscriptionId) -> String {
    format!("/webhooks/{id}?done={}", Done::SentBefore.as_str())
}

impl Done {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::SentBefore => "sent",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Paused => "hook-paused",
            Self::Resumed => "hook-resumed",
            Self::SentBefore => "hook-sent-before",
        }
    }
}

impl std::str::FromStr for Done {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Paused, Self::Resumed, Self::SentBefore].into_iter().find(|done| done.as_str() == text).ok_or(())
    }
}

pub async fn model(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    id: SubscriptionId,
    query: Query,
    told: Told,
) -> Result<Model, PageError> {
    let account = viewer.account();
    let subscription = subscription(viewer, state, id).await?;
    let tally = state.delivery_log.tallies(account, writer.now - SHARE_OF).await?.get(&id).copied();
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let found = state.delivery_log.page(account, id, query.filter(writer), page).await?;
    let (badge, about) = standing(writer, &subscription);
    // What is filled in would be gone with the next look.
    let is_followed = query.followed(writer.now).is_some();
    let forms =
        if viewer.may(Act::Change) && !is_followed { forms(viewer, state, writer, &subscription) } else { vec![] };
    Ok(Model {
        shell: shell(viewer, state, writer, Here::Webhooks, writer.say("webhooks")).await?,
        title: subscription.url.clone(),
        back: all(writer),
        state: badge,
        about,
        once: told.once,
        done: told.done,
        facts: facts(writer, &subscription, tally),
        foot: panel::current(writer, how(writer), "/api/v1/webhooks", &state.settings.api_url),
        filters: filters(writer, query, id),
        head: head(writer),
        deliveries: deliveries(writer, state, query, id, &found),
        forms,
    })
}

/// The subscription of a page, if the account has it.
pub async fn subscription(viewer: &Viewer, state: &State, id: SubscriptionId) -> Result<Subscription, PageError> {
    let found = state.webhook_settings.find(viewer.account(), id).await?;
    Ok(found.ok_or(PageError::NotFound)?.subscription)
}

/// The way to all subscriptions.
pub fn all(writer: &Writer) -> Way {
    Way { text: writer.say("webhooks"), address: Here::Webhooks.address().to_owned() }
}

fn facts(writer: &Writer, subscription: &Subscription, tally: Option<Tally>) -> Vec<Fact> {
    let (share, of) = share(writer, tally);
    let fact = |id: &str, text: String, value: Option<i64>, below| Fact {
        name: writer.say(id),
        text,
        value: value.map(|value| value.to_string()),
        change: None,
        below,
    };
    let counted = |id: &str, count: i64| fact(id, whole(writer, count), Some(count), None);
    let waiting = tally.unwrap_or_default().waiting;
    vec![
        fact("webhook-share", share, None, of),
        fact("hook-waiting", whole(writer, waiting), None, None),
        counted("hook-fired", subscription.total_fired),
        counted("hook-failed", subscription.total_failed),
    ]
}

fn filters(writer: &Writer, query: Query, id: SubscriptionId) -> Filters {
    let any = |is_chosen| Pick { value: String::new(), text: writer.say("any"), is_chosen };
    let state = |state: &DeliveryState| Pick {
        value: state.to_string(),
        text: writer.say(&format!("delivery-{state}")),
        is_chosen: query.state == Some(*state),
    };
    let event = |kind: &EventKind| Pick {
        value: kind.to_string(),
        text: kind.to_string(),
        is_chosen: query.event == Some(*kind),
    };
    let states = [any(query.state.is_none())].into_iter().chain(DeliveryState::ALL.iter().map(state)).collect();
    let is_followed = query.followed(writer.now).is_some();
    let follow = |value: &str, id: &str, is_chosen| Pick { value: value.to_owned(), text: writer.say(id), is_chosen };
    let follows = vec![follow("", "follow-no", !is_followed), follow("true", "follow-yes", is_followed)];
    let events = [any(query.event.is_none())].into_iter().chain(EventKind::ALL.iter().map(event)).collect();
    let day = |day: Option<Date>| Input::Line {
        kind: "date",
        value: day.map(|day| day.to_string()).unwrap_or_default(),
        max: None,
        is_required: false,
    };
    let field = |name, label: &str, input| Field { name, label: writer.say(label), help: None, error: None, input };
    Filters {
        id: "h-filter",
        action: format!("/webhooks/{id}"),
        fields: vec![
            field("state", "delivery-state", Input::Select(states)),
            field("event", "delivery-event", Input::Select(events)),
            field("from", "from", day(query.from)),
            field("to", "to", day(query.to)),
            field("follow", "follow", Input::Select(follows)),
        ],
        go: writer.say("filter"),
        clear: writer.say("filter-clear"),
    }
}

fn head(writer: &Writer) -> Vec<Head> {
    ["delivery-event", "delivery-state", "delivery-answer", "delivery-attempts", "delivery-next"]
        .map(|id| Head::Text(writer.say(id)))
        .into()
}

fn deliveries(
    writer: &Writer,
    state: &State,
    query: Query,
    id: SubscriptionId,
    found: &Page<LoggedDelivery>,
) -> Panel<Row> {
    let next = found.next_cursor.map(|cursor| Query { cursor: Some(cursor), live: None, ..query }.address(id));
    let how = vec![writer.say("how-deliveries")];
    let followed = query.followed(writer.now);
    Panel {
        id: "h-deliveries",
        title: match followed {
            Some(until) => writer.message("deliveries-followed").text("at", writer.time(until)).say(),
            None => writer.say("deliveries-title"),
        },
        items: found.items.iter().map(|delivery| row(writer, id, delivery)).collect(),
        nothing: writer.say(if next.is_some() { "deliveries-none-yet" } else { "deliveries-none" }),
        all: followed
            .map(|_| Way { text: writer.say("follow-stop"), address: Query { live: None, ..query }.address(id) }),
        next: panel::next(writer, next),
        foot: panel::current(writer, how, &query.api(writer, id), &state.settings.api_url),
    }
}

fn row(writer: &Writer, id: SubscriptionId, delivery: &LoggedDelivery) -> Row {
    let last = delivery.attempts.last();
    let answer = match last.map(|attempt| attempt.status) {
        Some(Some(status)) => status.to_string(),
        Some(None) => writer.say("no-answer"),
        None => "–".to_owned(),
    };
    let attempts = writer
        .message("delivery-of")
        .text("made", whole(writer, delivery.attempts_made.into()))
        .text("all", whole(writer, MAX_ATTEMPTS.into()));
    Row {
        name: delivery.event.clone(),
        address: Some(format!("/webhooks/{id}/deliveries/{}", delivery.id)),
        below: Some(writer.moment(delivery.created_at).into()),
        cells: vec![
            Cell::Badge(Some(state(writer, delivery))),
            Cell::Texts { text: answer, below: None, is_bad: last.is_some_and(|attempt| !attempt.is_success()) },
            Cell::Text(attempts.say()),
            Cell::Text(delivery.next_attempt_at.map_or_else(|| "–".to_owned(), |at| writer.moment(at))),
        ],
    }
}

/// Where a delivery stands.
pub fn state(writer: &Writer, delivery: &LoggedDelivery) -> Badge {
    let (class, sign, id) = match (delivery.state, delivery.attempts_made) {
        (DeliveryState::Pending, 0) => ("", "○", "delivery-pending"),
        (DeliveryState::Pending, _) => ("warn", "↻", "delivery-retrying"),
        (DeliveryState::Held, _) => ("warn", "!", "delivery-held"),
        (DeliveryState::Delivered, _) => ("good", "✓", "delivery-delivered"),
        (DeliveryState::Failed, _) => ("bad", "✕", "delivery-failed"),
        (DeliveryState::Canceled, _) => ("", "✕", "delivery-canceled"),
    };
    Badge { class, text: format!("{sign} {}", writer.say(id)) }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn the_filters_are_in_the_address_and_days_are_those_of_the_account() {
        let request = TestRequest::with_uri("/webhooks/3?state=failed&event=credits.low&from=2026-11-20&to=2026-11-21");
        let query = Query::of(&request.to_http_request()).unwrap();
        let id = SubscriptionId(3);
        assert_eq!(query.address(id), "/webhooks/3?state=failed&event=credits.low&from=2026-11-20&to=2026-11-21");
        assert_eq!(
            query.api(&writer("en"), id),
            "/api/v1/webhooks/3/deliveries?state=failed&event=credits.low&since=2026-11-20T03:00:00Z\
             &until=2026-11-22T03:00:00Z&limit=25"
        );
        for wrong in ["state=x", "event=x", "from=1.1.2026", "cursor=0", "live=x", "live=9223372036854775807"] {
            let request = TestRequest::with_uri(&format!("/webhooks/3?{wrong}")).to_http_request();
            assert!(Query::of(&request).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_page_follows_what_is_delivered_for_ten_minutes_at_most() {
        let now = OffsetDateTime::from_unix_timestamp(1_796_030_476).unwrap();
        let followed = |seconds| {
            let request = TestRequest::with_uri(&format!("/webhooks/3?live={}", now.unix_timestamp() + seconds));
            Query::of(&request.to_http_request()).unwrap().followed(now).is_some()
        };
        assert_eq!([-1, 0, 1, 600, 601].map(followed), [false, false, true, true, false]);
    }
}
