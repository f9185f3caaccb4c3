//! The metric by day around the anomaly, beside what was expected.

use domain::{
    freshness::Dated,
    metric_days::{Expected, JudgedDay},
    metrics::Metric,
    notes::Note,
    periods::{days, shifted},
    profit::DayRange,
};
use time::Date;

use super::Source;
use crate::{
    pages::{
        anomalies::{expected, told},
        days::{decimal, labels, mark, range_of, remarks, scale, tick},
        figures, panel,
    },
    parts::chart::{Line, Name, Series},
    views::{
        chart::{Chart, Drawn},
        panel::Table,
    },
};

pub fn panel(
    source: &Source<'_>,
    metric: Metric,
    around: DayRange,
    judged: &Dated<Vec<JudgedDay>>,
    notes: &[Note],
) -> Chart {
    let Source { writer, api, .. } = *source;
    let path = format!("/api/v1/metrics?metric={metric}&days={}&until={}", days(around), around.last);
    let mut foot = panel::foot(writer, &judged.freshness, vec![writer.say("how-band")], &path, true, api);
    foot.table = Some(table(source, metric, around, &judged.found));
    let drawn = if judged.found.iter().any(|day| day.observed.is_some()) {
        Drawn::Line(Box::new(line(source, metric, around, &judged.found, notes)))
    } else {
        Drawn::Empty { title: writer.say("no-days"), what: writer.say("no-days-what"), acts: vec![] }
    };
    let name = figures::name(writer, metric);
    Chart { title: writer.message("metric-around").text("name", name).say(), drawn, foot }
}

fn line(source: &Source<'_>, metric: Metric, around: DayRange, judged: &[JudgedDay], notes: &[Note]) -> Line {
    let writer = source.writer;
    let dates: Vec<Date> = (0..days(around)).map(|by| shifted(around.first, by)).collect();
    let all: Vec<Option<&JudgedDay>> =
        dates.iter().map(|date| judged.iter().find(|judged| judged.day == *date)).collect();
    let values: Series = all.iter().map(|day| day.and_then(|day| day.observed)).collect();
    let edge = |edge: fn(Expected) -> f64| -> Series {
        all.iter().map(|day| day.and_then(|day| day.expected).map(edge)).collect()
    };
    let (low, high) = (edge(|expected| expected.low), edge(|expected| expected.high));
    let scale = scale(metric, [&values, &low, &high].into_iter().flatten().flatten().copied());
    let last = |series: &Series| series.iter().rev().flatten().next().copied();
    let called = figures::name(writer, metric).to_lowercase();
    let names = [
        last(&values).map(|value| Name { value, text: called.clone(), is_main: true }),
        last(&high).map(|value| Name { value, text: writer.say("line-expected"), is_main: false }),
    ];
    let marks = all.iter().enumerate().filter_map(|(slot, day)| {
        let day = (*day)?;
        mark(writer, metric, slot, day, decimal(day.observed?))
    });
    Line {
        id: "chart".to_owned(),
        summary: summary(source, metric),
        ticks: scale.ticks.iter().map(|value| tick(writer, metric, *value, scale.decimals)).collect(),
        scale,
        days: labels(writer, &dates),
        marks: marks.collect(),
        remarks: remarks(writer, notes, &dates),
        is_open: false,
        key: [Some(called), None, high.iter().any(Option::is_some).then(|| writer.say("line-expected")), None],
        before: values.iter().map(|_| None).collect(),
        values,
        low,
        high,
        names: names.into_iter().flatten().collect(),
    }
}

fn summary(source: &Source<'_>, metric: Metric) -> String {
    let (writer, anomaly) = (source.writer, &source.found.anomaly);
    writer
        .message("anomaly-sum")
        .text("name", figures::name(writer, metric))
        .text("value", told(writer, &anomaly.metric, anomaly.observed_value))
        .day("day", anomaly.day)
        .text("range", expected(writer, anomaly))
        .say()
}

/// A row for each day of the chart, the last one first.
fn table(source: &Source<'_>, metric: Metric, around: DayRange, judged: &[JudgedDay]) -> Table {
    let writer = source.writer;
    let cell = |value: Option<f64>| {
        value.map_or_else(|| "–".to_owned(), |value| figures::cell(writer, metric.unit(), decimal(value)))
    };
    let row = |date: Date| {
        let day = judged.iter().find(|day| day.day == date);
        let expected = day.and_then(|day| day.expected);
        let range = expected.map(|expected| range_of(writer, metric, expected.low, expected.high));
        vec![
            writer.weekday(date),
            cell(day.and_then(|day| day.observed)),
            cell(expected.map(|expected| expected.value)),
            range.unwrap_or_else(|| "–".to_owned()),
        ]
    };
    let head = vec![
        writer.say("column-day"),
        figures::column(writer, metric),
        writer.say("column-likely"),
        writer.say("column-expected"),
    ];
    Table { head, rows: (0..days(around)).rev().map(|by| row(shifted(around.first, by))).collect() }
}
