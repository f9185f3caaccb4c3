//! What is in stock, and how long it lasts.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    inventory::{Item, Listing, Status, Summary},
    page::PageRequest,
    search::Prefix,
};
use rust_decimal::Decimal;
use url::Url;

use super::{
    html, panel, query,
    shell::shell,
    stock::{axis, stock_row},
    window,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        figures::{Fact, Figure},
        inventory::{self as view, Model},
        layout::Here,
        panel::Panel,
        rows::{Badge, Beside, Cell, Head, Row},
    },
};

/// Products of a page.
const LIMIT: i64 = 50;
/// Days that the axis spans.
const AXIS_DAYS: i64 = 60;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Query {
    status: Option<Status>,
    cursor: Option<i64>,
    /// What the SKU or name begins with; then the state does not matter.
    text: Option<String>,
}

impl Query {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let (status, cursor) = (query::one(request, "status")?, query::cursor(request)?);
        Ok(Self { status, cursor, text: query::text(request) })
    }

    fn address(&self) -> String {
        let [status, cursor] = self.pairs();
        query::address(Here::Stock.address(), [status, self.text.as_deref().map(query::text_pair), cursor])
    }

    fn pairs(&self) -> [Option<String>; 2] {
        [self.status.map(|status| format!("status={status}")), self.cursor.map(|cursor| format!("cursor={cursor}"))]
    }

    /// The call that gives the same, where nothing is looked up.
    fn api(&self) -> String {
        let [status, cursor] = self.pairs();
        query::address("/api/v1/inventory", [status, Some(format!("limit={LIMIT}")), cursor])
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let query = Query::of(&request)?;
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let listing = match query.text.as_deref().and_then(Prefix::new) {
        Some(text) => state.inventory.search(viewer.account(), &text, page).await?,
        None => state.inventory.list(viewer.account(), query.status, page).await?,
    };
    let title = writer.say("stock");
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Stock, title.clone()).await?,
        title,
        place: window::place(&writer),
        states_label: writer.say("stock-states"),
        search: panel::search(&writer, Here::Stock, "search-products", query.text.as_deref()),
        states: states(&writer, &query, listing.summary),
        head: head(&writer),
        items: items(&writer, &query, &listing, &state.settings.api_url),
    };
    Ok(html(view::page(&model)))
}

/// How many products are in each state; each leads to these.
fn states(writer: &Writer, query: &Query, summary: Summary) -> Vec<Figure> {
    let Summary { total, critical, low, ok, overstocked } = summary;
    let counts = [
        (None, total),
        (Some(Status::Critical), critical),
        (Some(Status::Low), low),
        (Some(Status::Ok), ok),
        (Some(Status::Overstocked), overstocked),
    ];
    let figure = |(status, count): (Option<Status>, i64)| Figure {
        address: Query { status, ..Query::default() }.address(),
        is_chosen: query.text.is_none() && status == query.status,
        fact: Fact {
            name: status.map_or_else(|| writer.say("all-products"), |status| writer.say(&format!("stock-{status}"))),
            text: writer.number(count.into(), 0),
            value: Some(count.to_string()),
            change: None,
            below: status.map(|status| writer.say(&format!("stock-{status}-what"))),
        },
    };
    counts.into_iter().map(figure).collect()
}

fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("product")),
        Head::Axis(axis(writer, AXIS_DAYS)),
        Head::Text(writer.say("likely-on")),
        Head::Number(writer.say("days-of-stock")),
        Head::Number(writer.say("units-a-day")),
        Head::Text(writer.say("state")),
    ]
}

fn items(writer: &Writer, query: &Query, listing: &Listing, api: &Url) -> Panel<Row> {
    let title = match (&query.text, query.status) {
        (Some(text), _) => writer.message("found-title").text("text", text).say(),
        (None, Some(status)) => writer.say(&format!("stock-{status}-title")),
        (None, None) => writer.say("stock-title"),
    };
    let next = listing.page.next_cursor.map(|cursor| Query { cursor: Some(cursor), ..query.clone() }.address());
    let how = vec![writer.say("how-stockouts"), writer.say("how-states")];
    let nothing = match (listing.summary.total, &query.text) {
        (0, _) => "stock-unknown",
        (_, Some(_)) => "found-none",
        (_, None) => "stock-none",
    };
    let mut foot = panel::foot(writer, &listing.freshness, how, &query.api(), false, api);
    if query.text.is_some() {
        // The API looks nothing up.
        foot.call = None;
    }
    Panel {
        id: "h-items",
        title,
        items: listing.page.items.iter().map(|item| row(writer, item)).collect(),
        nothing: writer.say(nothing),
        all: None,
        next: panel::next(writer, next),
        foot,
    }
}

fn row(writer: &Writer, item: &Item) -> Row {
    let mut row = stock_row(writer, item, AXIS_DAYS);
    let number = |value: Option<Decimal>| Cell::Number {
        text: value.map_or_else(|| "–".to_owned(), |value| writer.number(value, 1)),
        value: value.map(|value| value.normalize().to_string()),
    };
    let state = state_badge(writer, item.status);
    if let Some(Beside(texts)) = &mut row.below {
        texts.insert(0, item.sku.clone());
    }
    row.cells.extend([number(item.days_of_stock), number(item.velocity), Cell::Badge(Some(state))]);
    row
}

/// The state of a product.
pub fn state_badge(writer: &Writer, status: Status) -> Badge {
    let (class, sign) = match status {
        Status::Critical => ("bad", "! "),
        Status::Low => ("warn", ""),
        Status::Ok => ("good", "✓ "),
        Status::Overstocked => ("", "↑ "),
    };
    Badge { class, text: format!("{sign}{}", writer.say(&format!("stock-{status}"))) }
}

#[cfg(test)]
mod tests {
    use domain::{freshness::Freshness, jobs::JobName, page::Page};
    use rust_decimal::dec;

    use super::*;
    use crate::{pages::stock::tests::item, text::tests::writer};

    #[test]
    fn a_state_is_a_figure_that_leads_to_its_products() {
        let summary = Summary { total: 1240, critical: 3, low: 7, ok: 1200, overstocked: 30 };
        let query = Query { status: Some(Status::Low), cursor: Some(9), text: None };
        let states = states(&writer("pt-BR"), &query, summary);
        let shown: Vec<_> = states.iter().map(|figure| (figure.fact.text.as_str(), figure.is_chosen)).collect();
        assert_eq!(shown, [("1.240", false), ("3", false), ("7", true), ("1.200", false), ("30", false)]);
        assert_eq!(states[1].address, "/inventory?status=critical");
    }

    #[test]
    fn a_product_has_its_figures_as_the_api_has_them() {
        let listing = Listing {
            page: Page { items: vec![item(12, Some(dec!(4.50)))], next_cursor: Some(55) },
            summary: Summary { total: 1, critical: 1, ..Summary::default() },
            freshness: Freshness { job: JobName::InventoryVelocity, as_of: None, sources: vec![] },
        };
        let api = Url::parse("http://localhost").unwrap();
        let panel = items(&writer("en"), &Query::default(), &listing, &api);
        let row = &panel.items[0];
        assert_eq!(row.below, Some(Beside(vec!["MUG-BLUE".into(), "12 left".into()])));
        let Cell::Number { text, value } = &row.cells[2] else { panic!() };
        assert_eq!((text.as_str(), value.as_deref()), ("4.5", Some("4.5")));
        assert_eq!(panel.next.map(|next| next.address).as_deref(), Some("/inventory?cursor=55"));
        let curl = panel.foot.call.unwrap().curl;
        assert!(curl.ends_with("/api/v1/inventory?limit=50'"), "{curl}");
    }
}
