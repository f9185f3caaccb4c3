//! One product: what is left, how it sells, when it will be gone, and what to order.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    InventoryItemId,
    freshness::{Dated, Freshness},
    inventory::{Item, ItemDay, Placed},
    metrics::Metric,
    periods::{days, shifted},
    profit::DayRange,
    reorder::Suggestion,
};
use rust_decimal::Decimal;
use time::Date;
use tokio::try_join;
use url::Url;

use super::{
    days::{labels, tick},
    html,
    inventory::state_badge,
    panel, query,
    reorder::title as order_title,
    shell::shell,
    stock::{axis, stock_row},
    window,
};
use crate::{
    error::PageError,
    parts::chart::{Line, Name, Scale, Series},
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        chart::{Chart, Drawn},
        figures::Fact,
        layout::Here,
        panel::{Panel, Table, Way},
        product::{self as view, Model, Reorder},
        rows::{Head, Row},
    },
};

/// Days of the chart, today included.
const DAYS: i64 = 91;
/// Days that the axis of the bar spans.
const AXIS_DAYS: i64 = 60;

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (account, id) = (viewer.account(), InventoryItemId(query::id(&request)?));
    let range = DayRange { first: shifted(writer.today(), 1 - DAYS), last: writer.today() };
    let (found, sold, suggestion) = try_join!(
        state.inventory.find(account, id),
        state.inventory.days(account, id, range),
        state.reorder.pending_of(account, id),
    )?;
    let Dated { found: Placed { item, after }, freshness } = found.ok_or(PageError::NotFound)?;
    let cursor = after.map(|before| format!("cursor={before}"));
    let call = query::address("/api/v1/inventory", [Some("limit=1".to_owned()), cursor]);
    let api = &state.settings.api_url;
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Stock, item.product_name.clone()).await?,
        title: item.product_name.clone(),
        crumb: Way { text: writer.say("stock"), address: Here::Stock.address().to_owned() },
        sku: item.sku.clone(),
        place: window::place(&writer),
        state: state_badge(&writer, item.status),
        facts: facts(&writer, &item),
        head: vec![
            Head::Text(writer.say("product")),
            Head::Axis(axis(&writer, AXIS_DAYS)),
            Head::Text(writer.say("likely-on")),
        ],
        lasts: lasts(&writer, &item, &freshness, &call, api),
        reorder: suggestion.map(|suggestion| reorder(&writer, &suggestion)),
        chart: chart(&writer, range, &sold, &freshness),
    };
    Ok(html(view::page(&model)))
}

/// Figures with the field of the API beside each.
fn facts(writer: &Writer, item: &Item) -> Vec<Fact> {
    let fact = |id: &str, number: Option<Decimal>, decimals: u32| Fact {
        name: writer.say(id),
        text: number.map_or_else(|| "–".to_owned(), |number| writer.number(number, decimals)),
        value: number.map(|number| number.normalize().to_string()),
        change: None,
        below: None,
    };
    vec![
        fact("basis-on_hand", Some(item.current_stock.into()), 0),
        fact("days-of-stock", item.days_of_stock, 1),
        fact("units-a-day", item.velocity, 1),
        fact("sold-in-7", Some(item.units_sold_7d.into()), 0),
        fact("sold-in-30", Some(item.units_sold_30d.into()), 0),
    ]
}

/// How long it lasts, as a bar.
fn lasts(writer: &Writer, item: &Item, freshness: &Freshness, call: &str, api: &Url) -> Panel<Row> {
    let how = vec![writer.say("how-stockouts"), writer.say("how-states")];
    Panel {
        id: "h-lasts",
        title: writer.say("lasts-title"),
        items: vec![stock_row(writer, item, AXIS_DAYS)],
        nothing: String::new(),
        all: None,
        next: None,
        foot: panel::foot(writer, freshness, how, call, false, api),
    }
}

fn reorder(writer: &Writer, suggestion: &Suggestion) -> Reorder {
    Reorder {
        title: order_title(writer, suggestion),
        reason: suggestion.reason_in(writer.texts(), writer.currency),
        way: Way { text: writer.say("reorder"), address: Here::Reorder.address().to_owned() },
    }
}

fn chart(writer: &Writer, range: DayRange, sold: &[ItemDay], freshness: &Freshness) -> Chart {
    let mut foot = panel::uncalled(writer, freshness, vec![writer.say("how-sold")]);
    foot.table = Some(table(writer, range, sold));
    let drawn = if sold.iter().any(|day| day.sold > 0) {
        Drawn::Line(Box::new(line(writer, range, sold)))
    } else {
        Drawn::Empty { title: writer.say("not-sold"), what: writer.say("not-sold-what"), acts: vec![] }
    };
    Chart { title: writer.say("sold-title"), drawn, foot }
}

fn line(writer: &Writer, range: DayRange, sold: &[ItemDay]) -> Line {
    let dates: Vec<Date> = (0..days(range)).map(|by| shifted(range.first, by)).collect();
    let on = |date: &Date| sold.iter().find(|day| day.day == *date).map_or(0, |day| day.sold);
    // Counts of units, far below what a double holds exactly.
    let values: Series = dates.iter().map(|date| Some(on(date) as f64)).collect();
    let scale = Scale::counting(0.0, values.iter().flatten().copied().fold(1.0, f64::max));
    let called = writer.say("line-sold");
    let name = values.last().copied().flatten().map(|value| Name { value, text: called.clone(), is_main: true });
    Line {
        id: "chart".to_owned(),
        summary: summary(writer, range, sold),
        ticks: scale.ticks.iter().map(|value| tick(writer, Metric::Orders, *value, scale.decimals)).collect(),
        scale,
        days: labels(writer, &dates),
        marks: vec![],
        remarks: vec![],
        is_open: true,
        key: [Some(called), None, None, None],
        low: values.iter().map(|_| None).collect(),
        high: values.iter().map(|_| None).collect(),
        before: values.iter().map(|_| None).collect(),
        values,
        names: name.into_iter().collect(),
    }
}

/// What was sold on the days that are over, and on the best of them.
fn summary(writer: &Writer, range: DayRange, sold: &[ItemDay]) -> String {
    let over: Vec<&ItemDay> = sold.iter().filter(|day| day.day < range.last).collect();
    let total: i64 = over.iter().map(|day| day.sold).sum();
    let said = writer.message("sold-sum").count("count", total).text("days", days(range) - 1).say();
    match over.iter().max_by_key(|day| (day.sold, day.day)) {
        Some(best) if best.sold > 0 => {
            let day = writer.weekday(best.day);
            format!("{said} {}", writer.message("sold-best").count("count", best.sold).text("day", day).say())
        }
        _ => said,
    }
}

/// A row for each day of the chart, the last one first.
fn table(writer: &Writer, range: DayRange, sold: &[ItemDay]) -> Table {
    let number = |count: i64| writer.number(count.into(), 0);
    let row = |date: Date| {
        let known = sold.iter().find(|day| day.day == date);
        let count = |of: fn(&ItemDay) -> i64| number(known.map_or(0, of));
        let left = known.and_then(|day| day.stock).map_or_else(|| "–".to_owned(), number);
        vec![writer.weekday(date), count(|day| day.sold), count(|day| day.returned), left]
    };
    Table {
        head: ["column-day", "column-sold", "column-returned", "column-left"].map(|id| writer.say(id)).into(),
        rows: (0..days(range)).rev().map(|by| row(shifted(range.first, by))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use domain::reorder::Status;
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;
    use crate::{
        pages::{reorder::tests::suggestion, stock::tests::item},
        text::tests::writer,
    };

    fn sold(day: Date, sold: i64) -> ItemDay {
        ItemDay { day, sold, returned: 0, stock: Some(3) }
    }

    #[test]
    fn a_product_has_its_figures_as_the_api_has_them() {
        let facts = facts(&writer("es-AR"), &item(1240, Some(dec!(413.3))));
        let shown: Vec<_> = facts.iter().map(|fact| (fact.text.as_str(), fact.value.as_deref())).collect();
        assert_eq!(shown[..3], [("1.240", Some("1240")), ("413,3", Some("413.3")), ("3,0", Some("3"))]);
    }

    #[test]
    fn the_day_that_is_not_over_is_drawn_and_not_added_up() {
        let range = DayRange { first: date!(2026 - 11 - 01), last: date!(2026 - 11 - 22) };
        let days = [sold(date!(2026 - 11 - 02), 4), sold(date!(2026 - 11 - 20), 9), sold(range.last, 50)];
        let line = line(&writer("en"), range, &days);
        assert_eq!(
            (line.values.len(), line.values[1], line.values[2], line.values[21]),
            (22, Some(4.0), Some(0.0), Some(50.0))
        );
        assert!(
            line.is_open && line.summary.contains("13 units") && line.summary.contains("Fri 20 Nov"),
            "{}",
            line.summary
        );
    }

    #[test]
    fn the_table_has_a_row_for_each_day_of_the_chart() {
        let range = DayRange { first: date!(2026 - 11 - 01), last: date!(2026 - 11 - 22) };
        let (writer, days) = (writer("en"), [sold(date!(2026 - 11 - 02), 4), sold(date!(2026 - 11 - 20), 9)]);
        let rows = table(&writer, range, &days).rows;
        assert_eq!(rows.len(), line(&writer, range, &days).values.len());
        assert_eq!((&*rows[0].join(" "), &*rows[20].join(" ")), ("Sun 22 Nov 0 0 –", "Mon 2 Nov 4 0 3"));
    }

    #[test]
    fn what_to_order_is_told_with_the_name_of_the_product() {
        let title = |tag, contribution| reorder(&writer(tag), &suggestion(contribution, Status::Pending)).title;
        assert_eq!(title("en", None), "Order 1,240 of Blue mug (MUG-BLUE)");
        assert_eq!(title("es-AR", Some(-1.0)), "Blue mug (MUG-BLUE): harían falta 1.240");
    }
}
