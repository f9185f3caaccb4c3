//! The customers: by segment, and one by one.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    accounts::Platform,
    customers::{ACTIVE_DAYS, Customer, Filter, OrderBy, Segment, SegmentFigures, SegmentTotals},
    freshness::Dated,
    metrics::{Unit, ratios::quotient},
    money::round,
    page::{Page, PageRequest},
    search::Prefix,
};
use rust_decimal::Decimal;
use time::Duration;
use tokio::try_join;
use url::Url;

use super::{
    figures::{in_unit, share},
    html, panel, query,
    shell::shell,
    window,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        customers::{self as view, Model},
        layout::{Choice, Here},
        panel::{Panel, Way},
        rows::{Beside, Cell, Head, Row},
    },
};

/// Customers of a page.
const LIMIT: i64 = 25;
/// The part of the page that lists them.
const LIST: &str = "h-customers";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Query {
    source: Option<Platform>,
    segment: Option<Segment>,
    order_by: Option<OrderBy>,
    cursor: Option<i64>,
    /// What the name or e-mail begins with; then platform, segment and order do not matter.
    text: Option<String>,
}

impl Query {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        Ok(Self {
            source: query::one(request, "source")?,
            segment: query::one(request, "segment")?,
            order_by: query::one(request, "order_by")?,
            cursor: query::cursor(request)?,
            text: query::text(request),
        })
    }

    fn pairs(&self) -> [Option<String>; 4] {
        [
            self.source.map(|source| format!("source={source}")),
            self.segment.map(|segment| format!("segment={segment}")),
            self.order_by.map(|order_by| format!("order_by={order_by}")),
            self.cursor.map(|cursor| format!("cursor={cursor}")),
        ]
    }

    fn address(&self) -> String {
        let [source, segment, order_by, cursor] = self.pairs();
        let text = self.text.as_deref().map(query::text_pair);
        query::address(Here::Customers.address(), [source, segment, order_by, text, cursor])
    }

    /// The call that gives the same, where nobody is looked up.
    fn api(&self) -> String {
        query::address("/api/v1/customers", self.pairs())
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let query = Query::of(&request)?;
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let filter = Filter { source: query.source, segment: query.segment, order_by: query.order_by };
    let active_since = writer.now - Duration::days(ACTIVE_DAYS);
    let (segments, found) = try_join!(state.customers.segments(viewer.account(), active_since), async {
        match query.text.as_deref().and_then(Prefix::new) {
            Some(text) => state.customers.search(viewer.account(), &text, page).await,
            None => state.customers.page(viewer.account(), filter, page).await,
        }
    },)?;
    let (title, api) = (writer.say("customers"), &state.settings.api_url);
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Customers, title.clone()).await?,
        title,
        place: window::place(&writer),
        done: (query::one::<bool>(&request, "forgotten")? == Some(true)).then(|| writer.say("customer-forgotten")),
        search: panel::search(&writer, Here::Customers, "search-customers", query.text.as_deref()),
        segment_head: segment_head(&writer),
        segments: by_segment(&writer, &segments, api),
        churn_head: churn_head(&writer),
        churn: by_churn(&writer, &segments, api),
        sources: sources(&writer, &query),
        orders: orders(&writer, &query),
        customer_head: customer_head(&writer),
        customers: list(&writer, &query, SegmentTotals::of(&segments.found).customers > 0, &found, api),
    };
    Ok(html(view::page(&model)))
}

fn segment_head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("segment")),
        Head::Text(writer.say("share-of-customers")),
        Head::Number(writer.say("customers")),
        Head::Text(writer.say("share-of-revenue")),
        Head::Number(in_unit(writer, writer.say("revenue"), Unit::Money)),
        Head::Number(writer.say("active")),
        Head::Number(writer.say("mean-churn")),
    ]
}

/// A bar with its share, each of customers and of revenue: what a segment is beside what it brings. It leads to its customers.
fn by_segment(writer: &Writer, found: &Dated<Vec<SegmentFigures>>, api: &Url) -> Panel<Row> {
    let totals = SegmentTotals::of(&found.found);
    let share = |part: Option<Decimal>| part.map_or_else(|| Cell::Text("–".to_owned()), |part| share(writer, part));
    let row = |segment: &SegmentFigures| Row {
        name: writer.say(&format!("segment-{}", segment.segment)),
        address: Some(of_segment(segment.segment)),
        below: Some(writer.say(&format!("segment-{}-what", segment.segment)).into()),
        cells: vec![
            share(totals.share_of_customers(segment)),
            count(writer, segment.customers),
            share(totals.share_of_revenue(segment)),
            money(writer, segment.revenue_total),
            count(writer, segment.active),
            likelihood(writer, segment.avg_churn_score()),
        ],
    };
    Panel {
        id: "h-segments",
        title: writer.say("segments-title"),
        items: if totals.customers > 0 { found.found.iter().map(row).collect() } else { vec![] },
        nothing: writer.say("no-customers"),
        all: None,
        next: None,
        foot: panel::foot(
            writer,
            &found.freshness,
            vec![writer.say("how-segments"), writer.say("how-churn")],
            "/api/v1/customers/segments",
            false,
            api,
        ),
    }
}

/// The part of the page that lists the customers of a segment.
fn of_segment(segment: Segment) -> String {
    listed(&Query { segment: Some(segment), ..Query::default() })
}

/// The part of the page that lists customers so.
fn listed(query: &Query) -> String {
    format!("{}#{LIST}", query.address())
}

fn churn_head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("churn")),
        Head::Text(writer.say("share-of-customers")),
        Head::Number(writer.say("customers")),
    ]
}

/// How many customers are how likely not to return, in tenths: a bar each, beside all who have bought.
fn by_churn(writer: &Writer, found: &Dated<Vec<SegmentFigures>>, api: &Url) -> Panel<Row> {
    let totals = SegmentTotals::of(&found.found);
    let scored: i64 = totals.churn_parts.iter().sum();
    let row = |(from, to, customers): (Decimal, Decimal, i64)| Row {
        name: format!("{} – {}", writer.percent(from, 0), writer.percent(to, 0)),
        address: None,
        below: None,
        cells: vec![
            quotient(customers.into(), scored.into())
                .map_or_else(|| Cell::Text("–".to_owned()), |part| share(writer, part)),
            count(writer, customers),
        ],
    };
    let how = vec![writer.say("how-churn"), writer.say("how-churn-parts")];
    Panel {
        id: "h-churn",
        title: writer.say("churn-title"),
        items: if scored > 0 { totals.churn_histogram().map(row).collect() } else { vec![] },
        nothing: writer.say("churn-none"),
        all: None,
        next: None,
        foot: panel::foot(writer, &found.freshness, how, "/api/v1/customers/segments", false, api),
    }
}

fn sources(writer: &Writer, query: &Query) -> (String, Vec<Choice>) {
    let choice = |source: Option<Platform>| Choice {
        address: Query { source, segment: query.segment, order_by: query.order_by, ..Query::default() }.address(),
        text: source
            .map_or_else(|| writer.say("all"), |source| writer.message("platform").text("platform", source).say()),
        is_chosen: query.text.is_none() && source == query.source,
    };
    let each = Platform::SHOPS.into_iter().map(Some);
    (writer.say("customer-source"), std::iter::once(None).chain(each).map(choice).collect())
}

fn orders(writer: &Writer, query: &Query) -> (String, Vec<Choice>) {
    let choice = |order_by: Option<OrderBy>| Choice {
        address: listed(&Query { source: query.source, segment: query.segment, order_by, ..Query::default() }),
        text: writer.say(match order_by {
            None => "order-newest",
            Some(OrderBy::ChurnScore) => "churn",
            Some(OrderBy::LtvEstimate) => "lifetime-value",
        }),
        is_chosen: query.text.is_none() && order_by == query.order_by,
    };
    let each = OrderBy::ALL.iter().copied().map(Some);
    (writer.say("customer-order"), std::iter::once(None).chain(each).map(choice).collect())
}

/// What the list is called after what comes first in it.
fn in_order(writer: &Writer, order_by: Option<OrderBy>) -> String {
    writer.say(match order_by {
        None => "customers-title",
        Some(OrderBy::ChurnScore) => "customers-by-churn",
        Some(OrderBy::LtvEstimate) => "customers-by-value",
    })
}

fn customer_head(writer: &Writer) -> Vec<Head> {
    let in_money = |id: &str| Head::Number(in_unit(writer, writer.say(id), Unit::Money));
    vec![
        Head::Text(writer.say("customer")),
        Head::Text(writer.say("segment")),
        Head::Number(writer.say("metric-orders")),
        in_money("revenue"),
        in_money("lifetime-value"),
        Head::Number(writer.say("churn")),
        Head::Number(writer.say("last-purchase")),
    ]
}

fn list(writer: &Writer, query: &Query, has_any: bool, found: &Dated<Page<Customer>>, api: &Url) -> Panel<Row> {
    let nothing = match (has_any, &query.text, query.segment) {
        (false, _, _) => "no-customers",
        (true, Some(_), _) => "found-none",
        (true, None, Some(_)) => "segment-empty",
        (true, None, None) => "customers-none",
    };
    let next = found.found.next_cursor.map(|cursor| Query { cursor: Some(cursor), ..query.clone() }.address());
    let how = vec![writer.say("how-customers"), writer.say("how-churn")];
    let all = Way { text: writer.say("all-customers"), address: Here::Customers.address().to_owned() };
    let mut foot = panel::foot(writer, &found.freshness, how, &query.api(), true, api);
    if query.text.is_some() {
        // The API looks nobody up.
        (foot.call, foot.csv) = (None, None);
    }
    Panel {
        id: LIST,
        title: match (&query.text, query.segment) {
            (Some(text), _) => writer.message("found-title").text("text", text).say(),
            (None, Some(segment)) => {
                let segment = writer.say(&format!("segment-{segment}"));
                let title = in_order(writer, query.order_by);
                writer.message("customers-of-segment").text("title", title).text("segment", segment).say()
            }
            (None, None) => in_order(writer, query.order_by),
        },
        items: found.found.items.iter().map(|customer| row(writer, customer)).collect(),
        nothing: writer.say(nothing),
        all: query.segment.is_some().then_some(all),
        next: panel::next(writer, next),
        foot,
    }
}

fn row(writer: &Writer, customer: &Customer) -> Row {
    let last = customer.last_purchase_at.map(|at| writer.day_of_year(writer.zone.day_of(at)));
    Row {
        name: called(customer),
        address: Some(format!("/customers/{}", customer.id)),
        below: Some(from(writer, customer)),
        cells: vec![
            Cell::Text(writer.say(&format!("segment-{}", customer.segment))),
            count(writer, customer.orders_count),
            money(writer, customer.revenue_total),
            money(writer, customer.ltv_estimate),
            likelihood(writer, customer.churn_score),
            Cell::Number { text: last.unwrap_or_else(|| "–".to_owned()), value: None },
        ],
    }
}

/// What a customer is called by: what is known.
pub fn called(customer: &Customer) -> String {
    customer.name.clone().or_else(|| customer.email.clone()).unwrap_or_else(|| customer.external_id.clone())
}

/// Where a customer is from.
pub fn from(writer: &Writer, customer: &Customer) -> Beside {
    let platform = writer.message("platform").text("platform", customer.source).say();
    let country = customer.country.as_ref().map(|code| writer.country(code));
    let place = [customer.city.clone(), country];
    Beside(std::iter::once(platform).chain(place.into_iter().flatten()).collect())
}

fn count(writer: &Writer, count: i64) -> Cell {
    Cell::Number { text: writer.number(count.into(), 0), value: Some(count.to_string()) }
}

fn money(writer: &Writer, amount: Decimal) -> Cell {
    Cell::Number { text: writer.exact(amount), value: Some(writer.currency.round(amount).normalize().to_string()) }
}

fn likelihood(writer: &Writer, share: Option<Decimal>) -> Cell {
    Cell::Number {
        text: share.map_or_else(|| "–".to_owned(), |share| writer.percent(share, 0)),
        value: share.map(|share| round(share, 4).normalize().to_string()),
    }
}

#[cfg(test)]
pub mod tests {
    use domain::{CustomerId, freshness::Freshness, jobs::JobName};
    use rust_decimal::dec;
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    fn dated<T>(found: T) -> Dated<T> {
        Dated { found, freshness: Freshness { job: JobName::CustomerMetrics, as_of: None, sources: vec![] } }
    }

    #[test]
    fn a_segment_is_seen_beside_what_it_brings() {
        let segment = |segment, customers, revenue| SegmentFigures {
            customers,
            revenue_total: revenue,
            ..SegmentFigures::empty(segment)
        };
        let found = dated(vec![segment(Segment::Vip, 10, dec!(750)), segment(Segment::Lost, 90, dec!(250))]);
        let panel = by_segment(&writer("en"), &found, &Url::parse("http://localhost").unwrap());
        let share = |row: usize, cell: usize| match &panel.items[row].cells[cell] {
            Cell::Share { text, part } => (text.as_str(), part.to),
            _ => panic!(),
        };
        assert_eq!([share(0, 0), share(0, 2)], [("10%", 0.1), ("75%", 0.75)]);
        assert_eq!([share(1, 0), share(1, 2)], [("90%", 0.9), ("25%", 0.25)]);
    }

    #[test]
    fn the_likelihoods_of_all_segments_are_seen_in_tenths() {
        let segment = |segment, churn_parts| SegmentFigures { churn_parts, ..SegmentFigures::empty(segment) };
        let found = dated(vec![
            segment(Segment::Vip, [3, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            segment(Segment::Lost, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        ]);
        let (writer, api) = (writer("en"), Url::parse("http://localhost").unwrap());
        let panel = by_churn(&writer, &found, &api);
        let shown = |row: &Row| match (&row.cells[0], &row.cells[1]) {
            (Cell::Share { text, .. }, Cell::Number { value, .. }) => {
                format!("{}: {text}, {}", row.name, value.as_deref().unwrap())
            }
            _ => panic!(),
        };
        assert_eq!(panel.items.len(), 10);
        assert_eq!([0, 9].map(|row: usize| shown(&panel.items[row])), ["0% – 10%: 75%, 3", "90% – 100%: 25%, 1"]);
        let nobody = by_churn(&writer, &dated(vec![segment(Segment::Prospect, [0; 10])]), &api);
        assert!(nobody.items.is_empty() && nobody.nothing == "Nobody has bought yet.");
    }

    #[test]
    fn an_order_is_kept_by_the_next_page_the_file_and_another_platform() {
        let (writer, api) = (writer("en"), Url::parse("http://localhost").unwrap());
        let uri = "/customers?segment=at_risk&order_by=ltv_estimate";
        let query = Query::of(&actix_web::test::TestRequest::with_uri(uri).to_http_request()).unwrap();
        let page = Page { items: vec![customer()], next_cursor: Some(7) };
        let panel = list(&writer, &query, true, &dated(page), &api);
        assert_eq!(panel.title, "Customers, the most valuable first: At risk");
        let file = "/api/v1/customers?segment=at_risk&order_by=ltv_estimate&format=csv";
        assert_eq!(panel.foot.csv.as_deref(), Some(file));
        let next = "/customers?segment=at_risk&order_by=ltv_estimate&cursor=7";
        assert_eq!(panel.next.map(|next| next.address).as_deref(), Some(next));
        let shopify = "/customers?source=shopify&segment=at_risk&order_by=ltv_estimate";
        assert_eq!(sources(&writer, &query).1[1].address, shopify);
        let chosen: Vec<_> = orders(&writer, &query).1.into_iter().map(|one| (one.address, one.is_chosen)).collect();
        assert_eq!(chosen[0], ("/customers?segment=at_risk#h-customers".to_owned(), false));
        assert!(chosen[2].1 && chosen[2].0 == format!("{uri}#h-customers"));
    }

    #[test]
    fn without_revenue_nobody_has_a_share_of_it() {
        let prospects = SegmentFigures { customers: 4, ..SegmentFigures::empty(Segment::Prospect) };
        let panel = by_segment(&writer("en"), &dated(vec![prospects]), &Url::parse("http://localhost").unwrap());
        let cells = &panel.items[0].cells;
        assert!(matches!(&cells[0], Cell::Share { text, .. } if text == "100%"));
        assert!(matches!(&cells[2], Cell::Text(text) if text == "–"));
    }

    #[test]
    fn a_shop_without_customers_says_what_that_means() {
        let none: Vec<_> = Segment::ALL.iter().map(|segment| SegmentFigures::empty(*segment)).collect();
        let panel = by_segment(&writer("en"), &dated(none), &Url::parse("http://localhost").unwrap());
        assert!(panel.items.is_empty() && panel.nothing.starts_with("No customers yet"));
    }

    #[test]
    fn a_list_that_only_a_filter_makes_empty_does_not_say_that_there_are_no_customers() {
        let none = dated(Page { items: vec![], next_cursor: None });
        let api = Url::parse("http://localhost").unwrap();
        let nothing = |query: &Query, has_any| list(&writer("en"), query, has_any, &none, &api).nothing;
        let filtered = Query { source: Some(Platform::Mercadolibre), ..Query::default() };
        assert!(nothing(&filtered, true).starts_with("No customer is listed here"));
        assert!(nothing(&filtered, false).starts_with("No customers yet"));
        let searched = Query { text: Some("ana".into()), ..Query::default() };
        assert!(nothing(&searched, true).starts_with("Nothing begins with that"));
    }

    pub fn customer() -> Customer {
        Customer {
            id: CustomerId(1),
            email: None,
            name: None,
            source: Platform::Mercadolibre,
            external_id: "77".into(),
            city: Some("Rosario".into()),
            country: Some("AR".into()),
            orders_count: 2,
            revenue_total: dec!(1204.5),
            ltv_estimate: dec!(2100),
            aov: dec!(602.25),
            segment: Segment::Loyal,
            churn_score: Some(dec!(0.125)),
            last_purchase_at: Some(datetime!(2026-11-01 2:00 UTC)),
            first_purchase_at: None,
            created_at: datetime!(2026-01-01 0:00 UTC),
        }
    }

    #[test]
    fn a_segment_leads_to_its_customers_and_to_their_file() {
        let (writer, api) = (writer("en"), Url::parse("http://localhost").unwrap());
        let found = dated(vec![SegmentFigures { customers: 2, ..SegmentFigures::empty(Segment::AtRisk) }]);
        let address = by_segment(&writer, &found, &api).items.remove(0).address.unwrap();
        assert_eq!(address, "/customers?segment=at_risk#h-customers");
        let request = actix_web::test::TestRequest::with_uri("/customers?segment=at_risk").to_http_request();
        let query = Query::of(&request).unwrap();
        let page = Page { items: vec![customer()], next_cursor: Some(7) };
        let panel = list(&writer, &query, true, &dated(page), &api);
        assert_eq!(panel.title, "Customers, last added first: At risk");
        assert_eq!(panel.foot.csv.as_deref(), Some("/api/v1/customers?segment=at_risk&format=csv"));
        assert_eq!(panel.next.map(|next| next.address).as_deref(), Some("/customers?segment=at_risk&cursor=7"));
        assert_eq!(panel.all.map(|all| all.address).as_deref(), Some("/customers"));
        let kept: Vec<_> = sources(&writer, &query).1.into_iter().map(|choice| choice.address).collect();
        assert_eq!(kept[..2], ["/customers?segment=at_risk", "/customers?source=shopify&segment=at_risk"]);
        let none = list(&writer, &query, true, &dated(Page { items: vec![], next_cursor: None }), &api);
        assert_eq!(none.nothing, "No customer is in this segment now.");
    }

    #[test]
    fn a_customer_without_a_name_is_called_by_what_is_known() {
        let row = row(&writer("en"), &customer());
        assert_eq!(row.name, "77");
        let from = ["Mercado Libre", "Rosario", "Argentina"].map(str::to_owned);
        assert_eq!(row.below, Some(Beside(from.into())));
        let shown: Vec<_> = row
            .cells
            .iter()
            .map(|cell| match cell {
                Cell::Number { text, value } => (text.as_str(), value.as_deref()),
                Cell::Text(text) => (text.as_str(), None),
                _ => panic!(),
            })
            .collect();
        assert_eq!(shown[1..3], [("2", Some("2")), ("1,204.50", Some("1204.5"))]);
        assert_eq!(shown[4..], [("12%", Some("0.125")), ("31 Oct 2026", None)]);
    }
}
