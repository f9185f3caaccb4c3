//! The way from gross revenue to profit.

use domain::{
    money::round,
    periods::Change,
    profit::{Step, steps},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};

use super::Source;
use crate::{
    pages::{
        figures::{estimates, in_unit, judged, sums},
        panel::foot,
    },
    parts::chart::Part,
    views::{
        panel::Panel,
        rows::{Cell, Head, Row},
    },
};

pub fn head(source: &Source<'_>) -> Vec<Head> {
    let writer = source.writer;
    let money = |id: &str| in_unit(writer, writer.say(id), domain::metrics::Unit::Money);
    let mut head = vec![
        Head::Text(writer.say("column-figure")),
        Head::Text(writer.say("column-way")),
        Head::Number(money("column-amount")),
    ];
    if source.before.is_some() {
        head.extend([Head::Number(money("column-before")), Head::Number(writer.say("column-change"))]);
    }
    head
}

pub fn panel(source: &Source<'_>) -> Panel<Row> {
    let writer = source.writer;
    let now = steps(&sums(&source.found.found, source.complete).components);
    let before = source.before.as_ref().map(|sums| steps(&sums.components));
    let ends = now.iter().flat_map(|step| [step.from, step.to]);
    let (low, high) = ends.fold((Decimal::ZERO, Decimal::ZERO), |(low, high), end| (low.min(end), high.max(end)));
    let place = |value: Decimal| {
        let width = high - low;
        if width.is_zero() { 0.0 } else { ((value - low) / width).to_f64().unwrap_or_default() }
    };
    let row = |(index, step): (usize, &Step)| {
        let amount = step.amount();
        // A cost, or a loss.
        let takes = step.is_cost() != (amount < Decimal::ZERO);
        let mut cells = vec![
            Cell::Part(Part { from: place(step.from), to: place(step.to), is_against: takes }),
            Cell::Number {
                text: writer.exact(if step.is_cost() { -amount } else { amount }),
                value: Some(round(amount, writer.currency.exponent()).normalize().to_string()),
            },
        ];
        if let Some(old) = before.as_ref().and_then(|before| before.get(index)).map(Step::amount) {
            cells.push(Cell::Number { text: writer.exact(if step.is_cost() { -old } else { old }), value: None });
            let change = Change::relative(amount, old);
            cells.push(Cell::Change(change.map(|change| judged(writer, change, !step.is_cost()))));
        }
        Row { name: writer.say(&format!("explained-{}", step.figure)), address: None, below: None, cells }
    };
    let last_complete = source.found.freshness.last_complete(&writer.zone);
    let path = source.query.window.call(source.complete, last_complete);
    let has_days = source.complete_days().next().is_some();
    let mut how = vec![writer.say("how-profit")];
    if has_days {
        how.extend(estimates(writer, &source.basis()));
    }
    Panel {
        id: "h-way",
        title: writer.say("way-title"),
        items: if has_days { now.iter().enumerate().map(row).collect() } else { vec![] },
        nothing: writer.say("no-snapshot"),
        all: None,
        next: None,
        foot: foot(writer, &source.found.freshness, how, &path, true, source.api),
    }
}
