//! What to buy again, and what was decided on it.

use std::collections::BTreeMap;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form},
};
use domain::{
    AccountId, StoreError, SuggestionId,
    audit::Action,
    freshness::Freshness,
    page::PageRequest,
    people::Act,
    reorder::{Basis, Listing, Status, Suggestion},
};
use serde::Deserialize;
use time::Date;
use url::Url;

use super::{days::decimal, html, panel, query, see, shell::shell, window};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        acts::{Acts, Decided},
        layout::{Choice, Here},
        panel::{Panel, Table},
        reorder::{self as view, Item, Model},
        rows::{Badge, Cell, Head, Row},
    },
};

/// Suggestions of a page.
const LIMIT: i64 = 50;
/// Suggestions that are read at a time to add them up: the most that a call of the API gives.
const AT_ONCE: i64 = 200;
/// Above this number they are not added up.
const MOST_ADDED_UP: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Query {
    status: Status,
    cursor: Option<i64>,
    /// The suggestion that was just decided on, and how: it can be undone.
    decided: Option<(i64, Status)>,
}

impl Query {
    const fn of_status(status: Status) -> Self {
        Self { status, cursor: None, decided: None }
    }

    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let decided: Option<i64> = query::one(request, "decided")?;
        Ok(Self {
            status: query::one(request, "status")?.unwrap_or(Status::Pending),
            cursor: query::cursor(request)?,
            decided: decided.zip(query::one(request, "as")?),
        })
    }

    fn address(self) -> String {
        let Self { status, cursor, decided } = self;
        let pairs = [
            (status != Status::Pending).then(|| format!("status={status}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
            decided.map(|(id, to)| format!("decided={id}&as={to}")),
        ];
        query::address(Here::Reorder.address(), pairs)
    }

    /// The call that gives the same.
    fn api(self) -> String {
        let cursor = self.cursor.map(|cursor| format!("cursor={cursor}"));
        query::address("/api/v1/reorder", [Some(format!("status={}", self.status)), cursor])
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let query = Query::of(&request)?;
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let listing = state.reorder.list(viewer.account(), Some(query.status), page).await?;
    let one = PageRequest { limit: 1, cursor: None };
    let knows_stock =
        !listing.page.items.is_empty() || state.inventory.list(viewer.account(), None, one).await?.summary.total > 0;
    let is_first = query.status == Status::Pending && query.cursor.is_none();
    let pending = if is_first { pending(&state, viewer.account(), &listing).await? } else { None };
    let title = writer.say("reorder");
    let source = Source {
        writer: &writer,
        query,
        may_decide: viewer.may(Act::Change),
        knows_stock,
        api: &state.settings.api_url,
    };
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Reorder, title.clone()).await?,
        title,
        place: window::place(&writer),
        statuses: source.statuses(),
        decided: query.decided.filter(|_| source.may_decide).map(|decided| source.decided(decided)),
        basis: writer.say("reorder-basis"),
        day_head: day_head(&writer),
        days: pending.and_then(|all| by_day(&writer, &all, &listing.freshness, &state.settings.api_url)),
        items: source.panel(&listing),
    };
    Ok(html(view::page(&model)))
}

/// What the form of a suggestion sends.
#[derive(Deserialize)]
pub struct Decision {
    status: Status,
    /// What was looked at.
    from: Status,
}

/// Decides, and goes back to where that was done.
pub async fn decide(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Decision>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let note = viewer.note(Action::ReorderDecided);
    let id = query::id(&request)?;
    let Decision { status, from } = fields.into_inner();
    state.reorder.change(viewer.account(), SuggestionId(id), status, Some(note), (state.clock)()).await?;
    let decided = (status != Status::Pending).then_some((id, status));
    Ok(see(&Query { decided, ..Query::of_status(from) }.address()))
}

/// All that are pending, of which `listing` is the first page; `None` where they are too many to be added up.
async fn pending(state: &State, account: AccountId, listing: &Listing) -> Result<Option<Vec<Suggestion>>, StoreError> {
    let (mut all, mut cursor) = (listing.page.items.clone(), listing.page.next_cursor);
    while cursor.is_some() {
        if all.len() >= MOST_ADDED_UP {
            return Ok(None);
        }
        let next = PageRequest { limit: AT_ONCE, cursor };
        let found = state.reorder.list(account, Some(Status::Pending), next).await?.page;
        all.extend(found.items);
        cursor = found.next_cursor;
    }
    Ok(Some(all))
}

fn day_head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("basis-order_by")),
        Head::Number(writer.say("order-products")),
        Head::Number(writer.say("column-units")),
    ]
}

/// What is to be ordered by each day, the first one first: all whose day is over is to be ordered today. Nothing where that is
/// not recommended of any.
fn by_day(writer: &Writer, pending: &[Suggestion], freshness: &Freshness, api: &Url) -> Option<Panel<Row>> {
    let mut days: BTreeMap<Date, (i64, i64)> = BTreeMap::new();
    for suggestion in pending.iter().filter(|suggestion| suggestion.is_recommended()) {
        let day = suggestion.order_by(&writer.zone, suggestion.computed_at).unwrap_or(Date::MAX);
        let (products, units) = days.entry(day.max(writer.today())).or_default();
        *products += 1;
        *units = units.saturating_add(suggestion.qty_suggested);
    }
    let number = |count: i64| Cell::Number { text: writer.number(count.into(), 0), value: None };
    let row = |(day, (products, units)): (Date, (i64, i64))| {
        let (name, below) = if day == writer.today() {
            (writer.say("order-now"), Some(writer.say("order-now-what")))
        } else if day == Date::MAX {
            (writer.say("order-any-day"), None)
        } else {
            (writer.weekday(day), None)
        };
        Row { name, address: None, below: below.map(Into::into), cells: vec![number(products), number(units)] }
    };
    let path = format!("/api/v1/reorder?status={}&limit={AT_ONCE}", Status::Pending);
    (!days.is_empty()).then(|| Panel {
        id: "h-days",
        title: writer.say("order-days-title"),
        items: days.into_iter().map(row).collect(),
        nothing: String::new(),
        all: None,
        next: None,
        foot: panel::foot(writer, freshness, vec![writer.say("how-order-days")], &path, false, api),
    })
}

struct Source<'a> {
    writer: &'a Writer,
    query: Query,
    may_decide: bool,
    /// Whether anything could be suggested.
    knows_stock: bool,
    api: &'a Url,
}

impl Source<'_> {
    fn statuses(&self) -> (String, Vec<Choice>) {
        let choice = |status: &Status| Choice {
            address: Query::of_status(*status).address(),
            text: self.writer.say(&format!("reorder-{status}")),
            is_chosen: *status == self.query.status,
        };
        (self.writer.say("show"), Status::ALL.iter().map(choice).collect())
    }

    fn decided(&self, (id, status): (i64, Status)) -> Decided {
        Decided {
            text: self.writer.say(&format!("reorder-now-{status}")),
            acts: self.acts(id, &[(Status::Pending, "undo")]),
        }
    }

    fn acts(&self, id: i64, buttons: &[(Status, &str)]) -> Acts {
        Acts {
            address: format!("/reorder/{id}"),
            hidden: vec![("from", self.query.status.to_string())],
            name: "status",
            buttons: buttons.iter().map(|(to, words)| (to.as_str(), self.writer.say(words))).collect(),
        }
    }

    fn panel(&self, listing: &Listing) -> Panel<Item> {
        let Self { writer, query, .. } = *self;
        let next = listing.page.next_cursor.map(|cursor| Query { cursor: Some(cursor), decided: None, ..query });
        Panel {
            id: "h-reorder",
            title: writer.say(&format!("reorder-{}-title", query.status)),
            items: by_urgency(&listing.page.items).into_iter().map(|suggestion| self.item(suggestion)).collect(),
            nothing: match query.status {
                Status::Pending if !self.knows_stock => writer.say("stock-unknown"),
                Status::Pending if listing.freshness.as_of.is_none() => writer.say("not-computed"),
                status => writer.say(&format!("reorder-{status}-none")),
            },
            all: None,
            next: panel::next(writer, next.map(Query::address)),
            foot: panel::foot(
                writer,
                &listing.freshness,
                vec![writer.say("how-reorder")],
                &query.api(),
                false,
                self.api,
            ),
        }
    }

    fn item(&self, suggestion: &Suggestion) -> Item {
        let writer = self.writer;
        let quantity = suggestion.qty_suggested;
        let buttons: &[(Status, &str)] = match suggestion.status {
            Status::Pending => &[(Status::Ordered, "mark-ordered"), (Status::Dismissed, "dismiss")],
            Status::Ordered | Status::Dismissed => &[(Status::Pending, "undo")],
        };
        let about = writer
            .message("reorder-about")
            .count("days", suggestion.forecast_days)
            .text("share", writer.percent(suggestion.confidence, 0))
            .text("at", writer.moment(suggestion.computed_at));
        Item {
            title: title(writer, suggestion),
            reason: suggestion.reason_in(writer.texts(), writer.currency),
            warning: (!suggestion.is_recommended())
                .then(|| Badge { class: "bad", text: format!("! {}", writer.say("sells-at-a-loss")) }),
            about: about.say(),
            quantity: (writer.number(quantity.into(), 0), quantity.to_string(), writer.say("units")),
            basis: suggestion
                .basis
                .as_ref()
                .map(|basis| self.basis(basis, suggestion.order_by(&writer.zone, suggestion.computed_at))),
            acts: self.may_decide.then(|| self.acts(suggestion.id.0, buttons)),
        }
    }

    /// The numbers that the suggestion came from.
    fn basis(&self, basis: &Basis, order_by: Option<Date>) -> Table {
        let writer = self.writer;
        let whole = |count: i64| writer.number(count.into(), 0);
        let part = |value: f64| writer.number(decimal(value), 1);
        let row = |id: &str, value: String| vec![writer.say(&format!("basis-{id}")), value];
        let mut rows = vec![
            row("on_hand", whole(basis.on_hand)),
            row("on_order", whole(basis.on_order)),
            row("lead_time_days", whole(basis.lead_time_days)),
            row("review_days", whole(basis.review_days)),
            row("daily_demand", part(basis.daily_demand)),
            row("expected_demand", part(basis.expected_demand)),
            row("safety_stock", part(basis.safety_stock)),
            row("reorder_point", whole(basis.reorder_point)),
            row("order_up_to", whole(basis.order_up_to)),
            row("service_level", writer.percent(decimal(basis.service_level), 0)),
            row("pack_size", whole(basis.pack_size)),
            row("min_order_qty", whole(basis.min_order_qty)),
        ];
        let contribution =
            basis.unit_contribution.map(|amount| row("unit_contribution", writer.exact(decimal(amount))));
        let sold = basis.sold_last_year.map(|units| row("sold_last_year", part(units)));
        let due = order_by.map(|day| row("order_by", writer.day_of_year(day)));
        rows.extend(due.into_iter().chain(contribution).chain(sold));
        Table { head: vec![writer.say("column-figure"), writer.say("column-value")], rows }
    }
}

/// How many of which product are to be ordered, or that none should be.
pub fn title(writer: &Writer, suggestion: &Suggestion) -> String {
    let words = if suggestion.is_recommended() { "order-so-many" } else { "do-not-order" };
    let (sku, name) = (&suggestion.sku, suggestion.product_name.as_ref());
    let product = name.filter(|name| *name != sku).map_or_else(|| sku.clone(), |name| format!("{name} ({sku})"));
    writer.message(words).count("quantity", suggestion.qty_suggested).text("product", product).say()
}

/// What runs out first comes first.
fn by_urgency(suggestions: &[Suggestion]) -> Vec<&Suggestion> {
    let mut sorted: Vec<_> = suggestions.iter().collect();
    let spare = |suggestion: &Suggestion| suggestion.basis.as_ref().map_or(f64::INFINITY, Basis::days_to_spare);
    sorted.sort_by(|a, b| spare(a).total_cmp(&spare(b)));
    sorted
}

#[cfg(test)]
pub mod tests {
    use domain::{InventoryItemId, jobs::JobName, page::Page};
    use rust_decimal::dec;
    use time::{OffsetDateTime, macros::datetime};

    use super::*;
    use crate::text::tests::writer;

    pub fn suggestion(unit_contribution: Option<f64>, status: Status) -> Suggestion {
        let basis = Basis {
            on_hand: 42,
            on_order: 0,
            lead_time_days: 14,
            review_days: 7,
            daily_demand: 6.125,
            expected_demand: 128.1,
            safety_stock: 33.9,
            reorder_point: 124,
            order_up_to: 162,
            service_level: 0.95,
            pack_size: 12,
            min_order_qty: 1,
            history_days: Some(365),
            unit_contribution,
            sold_last_year: None,
            sold_after_arrival: None,
            season_of: None,
            season_ends: false,
        };
        Suggestion {
            id: SuggestionId(9),
            inventory_item_id: InventoryItemId(55),
            sku: "MUG-BLUE".into(),
            product_name: Some("Blue mug".into()),
            qty_suggested: 1240,
            reason: String::new(),
            confidence: dec!(0.9),
            forecast_days: 21,
            basis: Some(basis),
            computed_at: datetime!(2026-11-22 7:10 UTC),
            status,
        }
    }

    fn panel(items: Vec<Suggestion>, status: Status, may_decide: bool, knows_stock: bool) -> Panel<Item> {
        let as_of = Some(datetime!(2026-11-22 7:10 UTC));
        panel_as_of(items, status, may_decide, knows_stock, as_of)
    }

    fn panel_as_of(
        items: Vec<Suggestion>,
        status: Status,
        may_decide: bool,
        knows_stock: bool,
        as_of: Option<OffsetDateTime>,
    ) -> Panel<Item> {
        let (writer, api) = (writer("es-AR"), Url::parse("http://localhost").unwrap());
        let listing = Listing {
            page: Page { items, next_cursor: None },
            freshness: Freshness { job: JobName::SmartReorder, as_of, sources: vec![] },
        };
        Source { writer: &writer, query: Query::of_status(status), may_decide, knows_stock, api: &api }.panel(&listing)
    }

    fn item(unit_contribution: Option<f64>, status: Status, may_decide: bool) -> Item {
        panel(vec![suggestion(unit_contribution, status)], status, may_decide, true).items.remove(0)
    }

    #[test]
    fn without_stock_it_does_not_say_that_there_is_nothing_to_buy() {
        let nothing = |status, knows_stock| panel(vec![], status, true, knows_stock).nothing;
        assert!(nothing(Status::Pending, true).starts_with("No hay nada que comprar"));
        assert!(nothing(Status::Pending, false).starts_with("Todavía no se conoce el stock"));
        assert_eq!(nothing(Status::Ordered, false), nothing(Status::Ordered, true));
        let never = panel_as_of(vec![], Status::Pending, true, true, None).nothing;
        assert!(never.starts_with("Todavía no se calculó nada"), "{never}");
    }

    #[test]
    fn a_suggestion_has_its_numbers_as_they_are_written_and_as_the_api_has_them() {
        let item = item(Some(4.2), Status::Pending, true);
        assert_eq!((item.quantity.0.as_str(), item.quantity.1.as_str()), ("1.240", "1240"));
        let basis = item.basis.unwrap();
        assert_eq!((basis.rows[4][1].as_str(), basis.rows.last().unwrap()[1].as_str()), ("6,1", "4,20"));
        assert_eq!(item.acts.unwrap().buttons.iter().map(|(to, _)| *to).collect::<Vec<_>>(), ["ordered", "dismissed"]);
        assert!(item.warning.is_none());
    }

    #[test]
    fn it_names_the_product_and_what_runs_out_first_comes_first() {
        let item = item(None, Status::Pending, true);
        assert!(item.title.contains("Blue mug (MUG-BLUE)"), "{}", item.title);
        let of = |id, on_hand| {
            let known = suggestion(None, Status::Pending);
            let basis = known.basis.map(|basis| Basis { on_hand, ..basis });
            Suggestion { id: SuggestionId(id), basis, ..known }
        };
        let old = Suggestion { basis: None, ..of(4, 0) };
        let listed = [of(1, 42), old, of(2, 0), of(3, 90)];
        assert_eq!(by_urgency(&listed).iter().map(|one| one.id.0).collect::<Vec<_>>(), [2, 1, 3, 4]);
    }

    #[test]
    fn what_is_to_be_ordered_is_added_up_by_the_day() {
        let of = |on_hand, daily_demand, quantity, unit_contribution| {
            let known = suggestion(unit_contribution, Status::Pending);
            let basis = known.basis.map(|basis| Basis { on_hand, daily_demand, ..basis });
            Suggestion { basis, qty_suggested: quantity, ..known }
        };
        let writer = writer("en");
        let added = |pending: &[Suggestion]| {
            let freshness = Freshness { job: JobName::SmartReorder, as_of: None, sources: vec![] };
            let panel = by_day(&writer, pending, &freshness, &Url::parse("http://localhost").unwrap());
            let of_row = |row: Row| {
                let numbers = row.cells.into_iter().map(|cell| match cell {
                    Cell::Number { text, value: None } => text,
                    _ => panic!(),
                });
                std::iter::once(row.name).chain(numbers).collect::<Vec<_>>()
            };
            panel.map(|panel| panel.items.into_iter().map(of_row).collect::<Vec<_>>())
        };
        let pending = [
            of(0, 2.0, 1000, None),
            of(40, 2.0, 30, None),
            of(28, 2.0, 240, None),
            of(41, 2.0, 12, None),
            of(0, 0.0, 5, None),
            // Each sale costs more than it brings.
            of(0, 2.0, 70, Some(-1.0)),
        ];
        let expected = [["Now", "2", "1,240"], ["Sat 28 Nov", "2", "42"], ["Any day", "1", "5"]];
        assert_eq!(added(&pending), Some(expected.map(|row| row.map(str::to_owned).to_vec()).to_vec()));
        assert_eq!(added(&pending[5..]), None);
    }

    #[test]
    fn what_sells_at_a_loss_is_not_recommended() {
        assert!(item(Some(-1.0), Status::Pending, true).warning.is_some());
    }

    #[test]
    fn a_decision_can_be_taken_back_by_who_may_change() {
        let buttons = |may| item(None, Status::Ordered, may).acts.map(|acts| acts.buttons[0].0);
        assert_eq!((buttons(true), buttons(false)), (Some("pending"), None));
    }
}
