//! One customer: what they bought, what they are worth, and whether they will return.

use actix_web::{HttpRequest, HttpResponse, http::header, web::Data};
use domain::{
    CustomerId,
    audit::{Action, Entry},
    customers::{Customer, CustomerOrder, Filter},
    freshness::{Dated, Freshness},
    metrics::Unit,
    money::round,
    page::{Page, PageRequest},
    people::Act,
};
use rust_decimal::Decimal;
use time::OffsetDateTime;
use tokio::try_join;

use super::{
    customers::{called, from},
    entry,
    figures::in_unit,
    html, panel, query, see,
    shell::shell,
    window,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ask,
        customer::{self as view, Model},
        figures::Fact,
        layout::Here,
        panel::{Panel, Way},
        rows::{Cell, Head, Row},
        settings::Part,
    },
};

/// Orders of a page.
const LIMIT: i64 = 25;

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (account, id, cursor) = (viewer.account(), query::id(&request)?, query::cursor(&request)?);
    let (found, orders) = try_join!(find(&state, &viewer, id), async {
        let page = PageRequest { limit: LIMIT, cursor };
        state.customers.orders(account, CustomerId(id), page).await.map_err(PageError::from)
    })?;
    let Dated { found: customer, freshness } = found;
    let call = format!("/api/v1/customers?limit=1&cursor={}", id.saturating_add(1));
    let (title, api) = (called(&customer), &state.settings.api_url);
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Customers, title.clone()).await?,
        title,
        crumb: Way { text: writer.say("customers"), address: Here::Customers.address().to_owned() },
        about: from(&writer, &customer),
        place: window::place(&writer),
        segment: writer.say(&format!("segment-{}", customer.segment)),
        segment_what: writer.say(&format!("segment-{}-what", customer.segment)),
        facts_title: writer.say("worth-title"),
        facts: facts(&writer, &customer),
        foot: panel::foot(
            &writer,
            &freshness,
            vec![writer.say("how-customers"), writer.say("how-churn")],
            &call,
            false,
            api,
        ),
        head: head(&writer),
        orders: list(&writer, &customer, &orders, &freshness),
        privacy: viewer.may(Act::Administer).then(|| privacy(&writer, &customer)),
    };
    Ok(html(view::page(&model)))
}

async fn find(state: &State, viewer: &Viewer, id: i64) -> Result<Dated<Customer>, PageError> {
    // The list is newest first: its first entry below the next number is this customer, if there is such a one.
    let below = PageRequest { limit: 1, cursor: Some(id.saturating_add(1)) };
    let Dated { found, freshness } = state.customers.page(viewer.account(), Filter::default(), below).await?;
    let customer = found.items.into_iter().find(|customer| customer.id.0 == id).ok_or(PageError::NotFound)?;
    Ok(Dated { found: customer, freshness })
}

fn address(customer: &Customer) -> String {
    format!("{}/{}", Here::Customers.address(), customer.id)
}

fn privacy(writer: &Writer, customer: &Customer) -> Part {
    let mut part = Part::new("h-privacy", writer.say("privacy"), vec![writer.say("privacy-what")]);
    let form = entry::form(vec![], writer.say("forget-customer"));
    part.forms.push(ask::Form { action: format!("{}/forget", address(customer)), is_danger: true, ..form });
    part.ways.push(Way { text: writer.say("customer-data"), address: format!("{}/data.json", address(customer)) });
    part
}

/// All that is kept of the customer, as a file to hand out.
pub async fn data(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (id, now) = (query::id(&request)?, (state.clock)());
    let customer = find(&state, &viewer, id).await?.found;
    viewer.confirmed(now, &address(&customer))?;
    let kept = state.privacy.data_of(viewer.account(), customer.source, &customer.external_id).await?;
    let kept = serde_json::to_string_pretty(&kept.ok_or(PageError::NotFound)?);
    // By number alone: the log outlives the customer's data.
    let note = Entry { target: Some(customer.id.to_string()), ..viewer.note(Action::CustomerDataFetched) };
    state.audit.note(note, now).await?;
    let disposition = format!("attachment; filename=\"customer-{}.json\"", customer.id);
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/json"))
        .insert_header((header::CONTENT_DISPOSITION, disposition))
        .body(kept.map_err(|error| PageError::Internal(error.to_string()))?))
}

/// Forgets the customer, for good.
pub async fn forget(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let (id, now) = (query::id(&request)?, (state.clock)());
    let customer = find(&state, &viewer, id).await?.found;
    viewer.confirmed(now, &address(&customer))?;
    let note = viewer.note(Action::CustomerForgotten);
    state.privacy.forget(viewer.account(), customer.source, &customer.external_id, note, now).await?;
    state.job_requests.request(viewer.account(), None, now).await?;
    Ok(see(&format!("{}?forgotten=true", Here::Customers.address())))
}

/// Figures with the field of the API beside each.
fn facts(writer: &Writer, customer: &Customer) -> Vec<Fact> {
    let fact =
        |name: String, text: String, value: Option<String>| Fact { name, text, value, change: None, below: None };
    let money = |id: &str, amount: Decimal| {
        let exact = writer.currency.round(amount).normalize().to_string();
        fact(in_unit(writer, writer.say(id), Unit::Money), writer.exact(amount), Some(exact))
    };
    let day = |at: OffsetDateTime| writer.day_of_year(writer.zone.day_of(at));
    let first_and_last = customer.first_purchase_at.zip(customer.last_purchase_at);
    let bought = first_and_last.map(|(first, last)| match (day(first), day(last)) {
        (first, last) if first == last => first,
        (first, last) => writer.message("bought-between").text("first", first).text("last", last).say(),
    });
    let churn = customer.churn_score;
    vec![
        Fact {
            name: writer.say("metric-orders"),
            text: writer.number(customer.orders_count.into(), 0),
            value: Some(customer.orders_count.to_string()),
            change: None,
            below: bought,
        },
        money("revenue", customer.revenue_total),
        money("metric-aov", customer.aov),
        money("lifetime-value", customer.ltv_estimate),
        fact(
            writer.say("churn"),
            churn.map_or_else(|| "–".to_owned(), |share| writer.percent(share, 0)),
            churn.map(|share| round(share, 4).normalize().to_string()),
        ),
    ]
}

fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("order-number")),
        Head::Text(writer.say("ordered-on")),
        Head::Number(writer.say("column-units")),
        Head::Number(in_unit(writer, writer.say("gross"), Unit::Money)),
    ]
}

fn list(writer: &Writer, customer: &Customer, orders: &Page<CustomerOrder>, freshness: &Freshness) -> Panel<Row> {
    let row = |order: &CustomerOrder| Row {
        name: order.external_id.clone(),
        address: None,
        below: None,
        cells: vec![
            Cell::Text(writer.day_of_year(writer.zone.day_of(order.placed_at))),
            Cell::Number { text: writer.number(order.units.into(), 0), value: None },
            Cell::Number { text: writer.exact(order.gross), value: None },
        ],
    };
    let next = orders.next_cursor.map(|cursor| format!("{}?cursor={cursor}", address(customer)));
    Panel {
        id: "h-orders",
        title: writer.say("orders-title"),
        items: orders.items.iter().map(row).collect(),
        nothing: writer.say("orders-none"),
        all: None,
        next: panel::next(writer, next),
        foot: panel::uncalled(writer, freshness, vec![writer.say("how-orders-of")]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pages::customers::tests::customer, text::tests::writer};

    #[test]
    fn a_customer_has_their_figures_as_the_api_has_them() {
        let facts = facts(&writer("en"), &customer());
        let shown: Vec<_> = facts.iter().map(|fact| (fact.text.as_str(), fact.value.as_deref())).collect();
        assert_eq!(shown[..3], [("2", Some("2")), ("1,204.50", Some("1204.5")), ("602.25", Some("602.25"))]);
        assert_eq!(shown[4..], [("12%", Some("0.125"))]);
        assert_eq!(facts[0].below, None, "the first purchase is not known");
        let first_purchase_at = customer().last_purchase_at;
        let known = super::facts(&writer("en"), &Customer { first_purchase_at, ..customer() });
        assert_eq!(known[0].below.as_deref(), Some("31 Oct 2026"));
    }
}
