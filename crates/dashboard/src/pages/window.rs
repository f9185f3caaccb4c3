//! The days that a page looks at, and what they are compared with.

use domain::{
    periods::{Comparison, Period, days},
    profit::DayRange,
};

use crate::{text::Writer, views::layout::Choice};

/// The days, with the zone they are of and the currency of the amounts.
pub fn window(writer: &Writer, range: DayRange) -> String {
    writer.message("page-window").text("days", writer.days(range.first, range.last)).text("place", place(writer)).say()
}

/// The zone of the days, and the currency of the amounts.
pub fn place(writer: &Writer) -> String {
    let zone = writer.zone.name().rsplit('/').next().unwrap_or_default().replace('_', " ");
    writer.message("page-place").text("zone", zone).text("currency", writer.currency).say()
}

pub fn periods(writer: &Writer, chosen: Period, address: impl Fn(Period) -> String) -> (String, Vec<Choice>) {
    let choice = |period: &Period| Choice {
        address: address(*period),
        text: writer.say(&format!("period-{period}")),
        is_chosen: *period == chosen,
    };
    (writer.say("period"), Period::ALL.iter().map(choice).collect())
}

pub fn comparisons(
    writer: &Writer,
    chosen: Comparison,
    range: DayRange,
    address: impl Fn(Comparison) -> String,
) -> (String, Vec<Choice>) {
    let name = writer.message(format!("compare-{chosen}")).count("days", days(range)).say();
    let choice = |compare: &Comparison| {
        let text = match compare.of(range) {
            Some(before) => writer
                .message(format!("compare-{compare}-window"))
                .count("count", days(range))
                .text("days", writer.days(before.first, before.last))
                .say(),
            None => writer.say("compare-nothing"),
        };
        Choice { address: address(*compare), text, is_chosen: *compare == chosen }
    };
    let summary = writer.message("compare-with").text("with", name).say();
    (summary, Comparison::ALL.iter().map(choice).collect())
}
