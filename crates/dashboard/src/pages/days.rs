//! What charts of a metric by day have in common.

use domain::{
    metric_days::JudgedDay,
    metrics::{Metric, Unit},
    notes::Note,
};
use rust_decimal::{
    Decimal,
    prelude::{FromPrimitive, ToPrimitive},
};
use time::{Date, Weekday};

use super::figures;
use crate::{
    parts::chart::{Mark, Remark, Scale},
    text::Writer,
};

/// Texts below a chart at most.
const LABELS: usize = 6;
/// Characters of a note that a chart shows.
const REMARK_CHARS: usize = 24;
/// Days from which on months are named instead of Mondays.
const LONG: usize = 120;

/// Mondays, at most six of them; the firsts of months where there are many days.
pub fn labels(writer: &Writer, days: &[Date]) -> Vec<(usize, String)> {
    let is_long = days.len() > LONG;
    let starts = |date: &Date| if is_long { date.day() == 1 } else { date.weekday() == Weekday::Monday };
    let slots: Vec<_> = days.iter().enumerate().filter(|(_, date)| starts(date)).collect();
    let every = slots.len().div_ceil(LABELS).max(1);
    slots.into_iter().step_by(every).map(|(slot, date)| (slot, writer.short_day(*date))).collect()
}

/// The least and the most of these values; `None` of none.
pub fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |span, value| {
        let (least, most) = span.unwrap_or((value, value));
        Some((f64::min(least, value), f64::max(most, value)))
    })
}

/// A scale that covers these values of a metric; from 0 to 1 where there are none.
pub fn scale(metric: Metric, values: impl Iterator<Item = f64>) -> Scale {
    let (least, most) = span(values).unwrap_or((0.0, 1.0));
    // There is nothing below no orders.
    if metric.unit() == Unit::Count { Scale::counting(least, most.max(1.0)) } else { Scale::covering(least, most) }
}

/// The text of a tick.
pub fn tick(writer: &Writer, metric: Metric, tick: f64, decimals: u32) -> String {
    let value = decimal(tick);
    match metric.unit() {
        Unit::Share => writer.percent(value, decimals.saturating_sub(2)),
        _ => writer.number(value, decimals),
    }
}

/// What was expected, from the least to the most.
pub fn range_of(writer: &Writer, metric: Metric, low: f64, high: f64) -> String {
    let of = |value: f64| figures::shown(writer, metric, decimal(value));
    writer.message("range").text("low", of(low)).text("high", of(high)).say()
}

/// The mark of an anomaly on a day, if it is one.
pub fn mark(writer: &Writer, metric: Metric, slot: usize, judged: &JudgedDay, value: Decimal) -> Option<Mark> {
    let (anomaly, expected) = (judged.anomaly?, judged.expected?);
    let date = writer.short_weekday(judged.day);
    let shown = figures::shown(writer, metric, value);
    let label = writer
        .message("mark")
        .text("day", &date)
        .text("value", &shown)
        .text("name", figures::name(writer, metric).to_lowercase())
        .text("range", range_of(writer, metric, expected.low, expected.high))
        .say();
    Some(Mark {
        slot,
        value: value.to_f64()?,
        address: format!("/anomalies/{anomaly}"),
        label,
        text: format!("{date}: {shown}"),
    })
}

/// What people wrote about the days of a chart, once for each day.
pub fn remarks(writer: &Writer, notes: &[Note], days: &[Date]) -> Vec<Remark> {
    let of_day = |(slot, day): (usize, &Date)| {
        let mut written = notes.iter().filter(|note| note.day == *day);
        let first = written.next()?;
        let others = written.count();
        let short = shortened(&first.text);
        let text = if others == 0 {
            short
        } else {
            writer.message("note-and-more").text("text", short).count("count", others as i64).say()
        };
        let label = writer.message("note-mark").text("text", &text).text("day", writer.weekday(*day)).say();
        Some(Remark { slot, address: format!("/profit/{day}#h-notes"), label, text })
    };
    days.iter().enumerate().filter_map(of_day).collect()
}

/// The beginning of a text that would be too long for a chart.
fn shortened(text: &str) -> String {
    if text.chars().count() <= REMARK_CHARS {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(REMARK_CHARS).collect();
    format!("{}…", beginning.trim_end())
}

/// A figure of statistics as a decimal to be written; 0 for what is none.
pub fn decimal(value: f64) -> Decimal {
    Decimal::from_f64(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use domain::periods::shifted;
    use time::macros::date;

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn a_day_has_one_remark_however_much_was_written_about_it() {
        let note = |id, day, text: &str| Note {
            id: domain::NoteId(id),
            day,
            text: text.to_owned(),
            by: "Ana".to_owned(),
            written_at: time::macros::datetime!(2026-11-21 12:00 UTC),
        };
        let (first, last) = (date!(2026 - 11 - 20), date!(2026 - 11 - 21));
        let notes = [note(1, first, "Ads off"), note(2, first, "Strike"), note(3, last, &"long ".repeat(10))];
        let remarks = remarks(&writer("en"), &notes, &[first, last, date!(2026 - 11 - 22)]);
        let shown: Vec<_> = remarks.iter().map(|remark| (remark.slot, remark.text.as_str())).collect();
        assert_eq!(shown, [(0, "Ads off (+1)"), (1, "long long long long long…")]);
        assert_eq!(remarks[0].label, "Ads off (+1): note on Fri 20 Nov");
    }

    #[test]
    fn there_is_no_half_of_an_order() {
        let ticks = |metric| scale(metric, [0.0, 2.0].into_iter()).ticks;
        assert_eq!((ticks(Metric::Orders), ticks(Metric::Roas).len()), (vec![0.0, 1.0, 2.0], 5));
    }

    #[test]
    fn days_are_named_on_mondays_and_at_most_six_times() {
        let days: Vec<Date> = (0..60).map(|by| shifted(date!(2026 - 09 - 23), by)).collect();
        let named = labels(&writer("en"), &days);
        assert_eq!(named.first(), Some(&(5, "28 Sep".to_owned())));
        assert!(named.len() <= 6 && named.iter().all(|(slot, _)| days[*slot].weekday() == Weekday::Monday));
    }
}
