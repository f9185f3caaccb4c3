//! How long a product lasts, as a row with a bar.

use domain::{inventory::Item, metrics::stock::stockout_date, periods::shifted};
use rust_decimal::{Decimal, prelude::ToPrimitive};

use crate::{
    parts::chart::RangeBar,
    text::Writer,
    views::rows::{Cell, Row},
};

/// The axis above the bars, from today on.
pub fn axis(writer: &Writer, days: i64) -> [String; 3] {
    let after = |days: i64| writer.message("axis-days").count("count", days).say();
    [writer.say("axis-today"), after(days / 2), after(days)]
}

/// A product with what is left of it, and when that is likely used up, on an axis of so many days.
pub fn stock_row(writer: &Writer, item: &Item, axis_days: i64) -> Row {
    let left = writer.message("units-left").count("count", item.current_stock).say();
    // The days are those from the day on which they were computed; the axis begins today.
    let computed_on = writer.zone.day_of(item.computed_at);
    let gone = (writer.today() - computed_on).whole_days() as f64;
    let part = |days: Decimal| (days.to_f64().unwrap_or_default() - gone) / axis_days as f64;
    let last_full_day = shifted(computed_on, -1);
    let on_day = |days: Decimal| stockout_date(last_full_day, days.to_f64().unwrap_or_default()).unwrap_or(computed_on);
    let (bar, on) = match (item.current_stock <= 0, item.days_of_stock) {
        (true, _) => (Some(RangeBar::Now), Cell::Texts { text: writer.say("out-now"), below: None, is_bad: true }),
        (false, Some(likely)) => {
            let (early, late) = item.days_of_stock_range.unwrap_or((likely, likely));
            let day = |days: Decimal| writer.day(on_day(days));
            let span = writer.message("range").text("low", day(early)).text("high", day(late)).say();
            let bar = RangeBar::Between { early: part(early), likely: part(likely), late: part(late) };
            (Some(bar), Cell::Texts { text: writer.weekday(on_day(likely)), below: Some(span), is_bad: false })
        }
        // Nothing sells, or it lasts for longer than can be told.
        (false, None) => {
            let text = match item.days_of_stock_over() {
                Some(days) => writer.message("over-days").count("days", days).say(),
                None => writer.say("no-demand"),
            };
            (None, Cell::Texts { text, below: None, is_bad: false })
        }
    };
    Row {
        name: item.product_name.clone(),
        address: Some(format!("/inventory/{}", item.id)),
        below: Some(left.into()),
        cells: vec![bar.map_or(Cell::Text(String::new()), Cell::Range), on],
    }
}

#[cfg(test)]
pub mod tests {
    use domain::{
        InventoryItemId,
        inventory::{Status, Trend, VelocityClass},
    };
    use rust_decimal::dec;
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    pub fn item(stock: i64, days: Option<Decimal>) -> Item {
        Item {
            id: InventoryItemId(1),
            sku: "MUG-BLUE".into(),
            product_name: "Blue mug".into(),
            current_stock: stock,
            units_sold_30d: 90,
            units_sold_7d: 21,
            avg_daily_units_30d: dec!(3),
            avg_daily_units_7d: dec!(3),
            days_of_stock: days,
            days_of_stock_range: days.map(|days| (days - Decimal::ONE, days + Decimal::ONE)),
            velocity: Some(dec!(3)),
            velocity_class: Some(VelocityClass::Smooth),
            trend: Trend::Stable,
            status: Status::Critical,
            estimated_stockout_at: None,
            computed_at: datetime!(2026-11-22 4:00 UTC),
        }
    }

    #[test]
    fn the_bar_spans_what_is_likely_and_the_days_are_those_of_the_account() {
        let row = stock_row(&writer("en"), &item(12, Some(dec!(4.5))), 14);
        let [Cell::Range(RangeBar::Between { early, likely, .. }), Cell::Texts { text, below, is_bad: false }] =
            row.cells.as_slice()
        else {
            panic!()
        };
        assert_eq!((*early, *likely), (0.25, 4.5 / 14.0));
        assert_eq!((text.as_str(), below.as_deref()), ("Thu 26 Nov", Some("25 Nov to 27 Nov")));
        // The fourth whole day is the last: the date that the API gives as `estimated_stockout_at`.
        let row = stock_row(&writer("en"), &item(12, Some(dec!(4.0))), 14);
        assert!(matches!(&row.cells[1], Cell::Texts { text, .. } if text == "Wed 25 Nov"));
    }

    /// The night's job has not come to it yet.
    #[test]
    fn the_bar_begins_today_whenever_it_was_computed() {
        let of_yesterday = Item { computed_at: datetime!(2026-11-21 4:00 UTC), ..item(12, Some(dec!(4.5))) };
        let row = stock_row(&writer("en"), &of_yesterday, 14);
        let [Cell::Range(RangeBar::Between { early, likely, late }), Cell::Texts { text, .. }] = row.cells.as_slice()
        else {
            panic!()
        };
        assert_eq!((*early, *likely, *late), (2.5 / 14.0, 0.25, 4.5 / 14.0));
        assert_eq!(text, "Wed 25 Nov");
    }

    #[test]
    fn what_lasts_for_more_than_a_year_has_the_year_of_its_day() {
        let row = stock_row(&writer("es-AR"), &item(1200, Some(dec!(400))), 14);
        let Cell::Texts { text, below, .. } = &row.cells[1] else { panic!() };
        assert_eq!((text.as_str(), below.as_deref()), ("dom 26 dic 2027", Some("25 dic 2027 a 27 dic 2027")));
    }

    #[test]
    fn what_is_gone_is_bad_and_what_lasts_for_long_has_no_day() {
        let on = |item: &Item| match stock_row(&writer("en"), item, 14).cells.pop() {
            Some(Cell::Texts { text, is_bad, .. }) => (text, is_bad),
            _ => panic!(),
        };
        assert_eq!(on(&item(0, None)), ("Out of stock".to_owned(), true));
        assert_eq!(on(&item(9000, None)), ("After more than 730 days".to_owned(), false));
    }
}
