//! The chosen figure by day, beside what was expected of it and what it is compared with.

use domain::{
    freshness::{self, Dated},
    metric_days::JudgedDay,
    metrics::Sums,
    notes::Note,
    periods::{Comparison, days, shifted},
    profit::{DayRange, Snapshot},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use time::Date;
use url::Url;

use super::Query;
use crate::{
    pages::{
        days::{labels, mark, range_of, remarks, scale, span, tick},
        figures, panel,
    },
    parts::chart::{Line, Name, Scale, Series},
    text::Writer,
    views::{
        chart::{Chart, Drawn},
        layout::Here,
        panel::{Call, Table},
    },
};

/// Of this many days one may be left out of the scale.
const ODD: usize = 20;

pub struct Source<'a> {
    pub writer: &'a Writer,
    pub query: Query,
    /// The days of the chart, and those of them that are over.
    pub range: DayRange,
    pub complete: DayRange,
    pub profit: &'a Dated<Vec<Snapshot>>,
    pub compared: &'a [Snapshot],
    pub expected: &'a Dated<Vec<JudgedDay>>,
    /// What people wrote about the days.
    pub notes: &'a [Note],
    pub sums: (&'a Sums, Option<&'a Sums>),
    /// Whether the person may import and connect.
    pub may_change: bool,
    pub api: &'a Url,
}

/// A day of the chart.
struct Day {
    date: Date,
    value: Option<Decimal>,
    before: Option<Decimal>,
    judged: Option<JudgedDay>,
}

pub fn panel(source: &Source<'_>) -> Chart {
    let Source { writer, query, .. } = *source;
    let all = source.days();
    let metric = query.metric;
    let scale = source.scale(&all);
    let is_beyond = |day: &Day| before(day).is_some_and(|value| !(scale.low()..=scale.high()).contains(&value));
    let mut how = vec![writer.say(&format!("how-{metric}")), writer.say("how-band")];
    how.extend(all.iter().any(is_beyond).then(|| writer.say("how-edge")));
    let path = format!("/api/v1/profit?{}", query.window.api(days(source.range)));
    let mut foot = panel::foot(writer, &source.profit.freshness, how, &path, true, source.api);
    let figures = query.window.call(source.complete, source.profit.freshness.last_complete(&writer.zone));
    let of_figures = panel::curl(&figures, source.api);
    let of_chart = panel::curl(&path, source.api);
    let both = format!("# {}\n{of_figures}\n\n# {}\n{of_chart}", writer.say("curl-figures"), writer.say("curl-chart"));
    foot.call = foot.call.map(|call| Call { curl: both, ..call });
    foot.table = Some(source.table(&all));
    let drawn = if all.iter().any(|day| day.value.is_some()) {
        Drawn::Line(Box::new(source.line(&all, scale)))
    } else if source.profit.freshness.as_of.is_none() || !source.has_orders() {
        Drawn::Empty { title: writer.say("no-orders"), what: writer.say("no-orders-what"), acts: source.acts() }
    } else {
        Drawn::Empty { title: writer.say("no-figures"), what: writer.say("no-snapshot"), acts: vec![] }
    };
    Chart { title: writer.say(&format!("per-day-{metric}")), drawn, foot }
}

/// What the comparison says of a day.
fn before(day: &Day) -> Option<f64> {
    day.before.and_then(|value| value.to_f64())
}

/// The days of the comparison that the scale is made for: all but odd ones, which would press the line that the chart is about
/// flat. Odd is one day in [`ODD`] that is further from the usual ones than three times the distance of their quartiles, and than
/// all that is `drawn` beside it spans. There the comparison runs along the edge.
fn ordinary(compared: Vec<f64>, drawn: &[f64]) -> Vec<f64> {
    let mut sorted = compared;
    sorted.sort_by(f64::total_cmp);
    let quartile = |number: usize| sorted.get(sorted.len().saturating_sub(1) * number / 4).copied();
    let (first, third) = (quartile(1).unwrap_or_default(), quartile(3).unwrap_or_default());
    let (least, most) = span(drawn.iter().copied()).unwrap_or_default();
    let reach = (3.0 * (third - first)).max(most - least);
    let usual = first - reach..=third + reach;
    let odd = sorted.iter().filter(|value| !usual.contains(value)).count();
    if least < most && odd <= sorted.len().div_ceil(ODD) {
        sorted.retain(|value| usual.contains(value));
    }
    sorted
}

impl Source<'_> {
    /// Whether the shop has ever had one.
    fn has_orders(&self) -> bool {
        let sources = &self.profit.freshness.sources;
        sources.iter().any(|(source, newest)| *source == freshness::Source::Orders && newest.is_some())
    }

    /// Where the first orders come from, for who may bring them.
    fn acts(&self) -> Vec<(String, &'static str)> {
        let acts = [("import-file", Here::Data), ("connect-shop", Here::Integrations)];
        let allowed = acts.into_iter().filter(|_| self.may_change);
        allowed.map(|(words, to)| (self.writer.say(words), to.address())).collect()
    }

    fn days(&self) -> Vec<Day> {
        let metric = self.query.metric;
        let back = self.query.compare.days_back(days(self.complete));
        let value = |snapshots: &[Snapshot], date: Date| {
            let found = snapshots.iter().find(|day| day.date == date)?;
            metric.of(&Sums { components: found.components, ..Sums::default() })
        };
        (0..days(self.range))
            .map(|number| {
                let date = shifted(self.range.first, number);
                Day {
                    date,
                    value: value(&self.profit.found, date),
                    before: back.and_then(|back| value(self.compared, shifted(date, -back))),
                    judged: self.expected.found.iter().find(|day| day.day == date).copied(),
                }
            })
            .collect()
    }

    fn scale(&self, all: &[Day]) -> Scale {
        let expected = |day: &Day| day.judged.and_then(|day| day.expected);
        let [values, low, high] = [
            all.iter().filter_map(|day| day.value?.to_f64()).collect::<Vec<_>>(),
            all.iter().filter_map(expected).map(|expected| expected.low).collect(),
            all.iter().filter_map(expected).map(|expected| expected.high).collect(),
        ];
        let drawn = [values, low, high].concat();
        let compared = ordinary(all.iter().filter_map(before).collect(), &drawn);
        scale(self.query.metric, drawn.into_iter().chain(compared))
    }

    fn line(&self, all: &[Day], scale: Scale) -> Line {
        let writer = self.writer;
        let value = |day: &Day| day.value.and_then(|value| value.to_f64());
        let edge = |edge: fn(&domain::metric_days::Expected) -> f64| -> Series {
            all.iter().map(|day| day.judged.and_then(|day| day.expected).map(|expected| edge(&expected))).collect()
        };
        let (low, high) = (edge(|expected| expected.low), edge(|expected| expected.high));
        let values: Series = all.iter().map(value).collect();
        let compared: Series =
            all.iter().map(|day| before(day).map(|value| value.clamp(scale.low(), scale.high()))).collect();
        let ticks = scale.ticks.iter().map(|value| tick(writer, self.query.metric, *value, scale.decimals)).collect();
        let has_band = low.iter().any(Option::is_some);
        let has_before = compared.iter().any(Option::is_some);
        let is_open = self.range.last > self.complete.last && values.last().is_some_and(Option::is_some);
        let compare_name = self.compare_name();
        let last = |series: &Series| series.iter().rev().flatten().next().copied();
        let called = figures::name(writer, self.query.metric).to_lowercase();
        let main = if is_open { writer.say("line-today") } else { called.clone() };
        let names = [
            last(&values).map(|value| Name { value, text: main, is_main: true }),
            last(&high).map(|value| Name { value, text: writer.say("line-expected"), is_main: false }),
            last(&compared).map(|value| Name { value, text: compare_name.clone(), is_main: false }),
        ];
        Line {
            id: "chart".to_owned(),
            summary: self.summary(all),
            scale,
            ticks,
            days: labels(writer, &all.iter().map(|day| day.date).collect::<Vec<_>>()),
            values,
            is_open,
            low,
            high,
            before: compared,
            marks: all
                .iter()
                .enumerate()
                .filter_map(|(slot, day)| mark(writer, self.query.metric, slot, &day.judged?, day.value?))
                .collect(),
            remarks: remarks(writer, self.notes, &all.iter().map(|day| day.date).collect::<Vec<_>>()),
            names: names.into_iter().flatten().collect(),
            key: [
                Some(called),
                is_open.then(|| writer.say("line-today")),
                has_band.then(|| writer.say("line-expected")),
                has_before.then_some(compare_name),
            ],
        }
    }

    fn compare_name(&self) -> String {
        let window = days(self.complete);
        let back = self.query.compare.days_back(window).unwrap_or_default();
        let message = self.writer.message(format!("line-before-{}", self.query.compare));
        match self.query.compare {
            Comparison::Before => message.count("days", window).say(),
            Comparison::Weekdays => message.count("weeks", back / 7).say(),
            Comparison::Year => message.say(),
            Comparison::Nothing => String::new(),
        }
    }

    /// The total, its change, and what fell outside of what was expected.
    fn summary(&self, all: &[Day]) -> String {
        let (writer, metric) = (self.writer, self.query.metric);
        let (now, before) = self.sums;
        let Some(total) = metric.of(now) else { return String::new() };
        let change = before.and_then(|before| figures::change(metric, now, before));
        let id = match change.map(figures::written) {
            None => "sum-alone",
            Some(amount) if amount.is_zero() => "sum-same",
            Some(amount) if amount > Decimal::ZERO => "sum-more",
            Some(_) => "sum-less",
        };
        let sentence = writer
            .message(id)
            .text("name", figures::name(writer, metric))
            .text("value", figures::told(writer, metric, total))
            .text("change", change.map(|change| writer.change(change)).unwrap_or_default())
            .text("than", self.than())
            .say();
        format!("{sentence} {}", self.outside(all))
    }

    fn than(&self) -> String {
        let window = days(self.complete);
        let back = self.query.compare.days_back(window).unwrap_or_default();
        let message = self.writer.message(format!("than-{}", self.query.compare));
        match self.query.compare {
            Comparison::Before => message.count("days", window).say(),
            Comparison::Weekdays => message.count("weeks", back / 7).say(),
            Comparison::Year => message.say(),
            Comparison::Nothing => String::new(),
        }
    }

    fn outside(&self, all: &[Day]) -> String {
        let departs = |day: &Day| {
            let (expected, value) = (day.judged?.expected?, day.value?.to_f64()?);
            let width = (expected.high - expected.low).max(f64::MIN_POSITIVE);
            let by = (expected.low - value).max(value - expected.high) / width;
            (by > 0.0 && day.date <= self.complete.last).then_some(by)
        };
        let judged = all.iter().any(|day| day.judged.is_some_and(|day| day.expected.is_some()));
        let outside: Vec<(f64, &Day)> = all.iter().filter_map(|day| Some((departs(day)?, day))).collect();
        let furthest = outside.iter().max_by(|(a, _), (b, _)| a.total_cmp(b));
        match (judged, furthest) {
            (false, _) => String::new(),
            (true, None) => self.writer.say("outside-none"),
            (true, Some((_, day))) => {
                let id = if outside.len() == 1 { "outside-one" } else { "outside-many" };
                self.writer
                    .message(id)
                    .count("count", i64::try_from(outside.len()).unwrap_or(i64::MAX))
                    .text("day", self.writer.full_day(day.date))
                    .text("value", figures::told(self.writer, self.query.metric, day.value.unwrap_or_default()))
                    .say()
            }
        }
    }

    fn table(&self, all: &[Day]) -> Table {
        let (writer, metric) = (self.writer, self.query.metric);
        let cell = |value: Option<Decimal>| {
            value.map_or_else(|| "–".to_owned(), |value| figures::cell(writer, metric.unit(), value))
        };
        let mut head = vec![writer.say("column-day"), figures::column(writer, metric), writer.say("column-expected")];
        let compares = self.query.compare != Comparison::Nothing;
        if compares {
            head.push(self.compare_name());
        }
        let row = |day: &Day| {
            let date = writer.weekday(day.date);
            let name = if day.date > self.complete.last {
                writer.message("today-so-far").text("day", date).say()
            } else {
                date
            };
            let expected = day.judged.and_then(|day| day.expected);
            let range = expected
                .map_or_else(|| "–".to_owned(), |expected| range_of(writer, metric, expected.low, expected.high));
            let mut row = vec![name, cell(day.value), range];
            if compares {
                row.push(cell(day.before));
            }
            row
        };
        Table { head, rows: all.iter().rev().map(row).collect() }
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        freshness::{Freshness, Newest},
        jobs::JobName,
        metrics::{Components, Metric},
    };
    use rust_decimal::dec;

    use super::*;
    use crate::{pages::window::Window, text::tests::writer};

    /// A day of sales of which so much is left.
    fn day(date: Date, sales: Decimal, profit: Decimal) -> Snapshot {
        let components = Components { gross_revenue: sales, cogs_estimate: sales - profit, ..Components::default() };
        Snapshot { date, components, basis: domain::profit::Basis::default(), lacks_rates: false }
    }

    /// What is made of a month with these days, beside those that it is compared with.
    fn with<T>(
        metric: Metric,
        found: Vec<Snapshot>,
        compared: &[Snapshot],
        may_change: bool,
        make: impl FnOnce(&Source<'_>) -> T,
    ) -> T {
        let (writer, api, sums) = (writer("en"), Url::parse("http://localhost").unwrap(), Sums::default());
        let query = Query { window: Window::USUAL, compare: Comparison::Before, metric };
        let complete = query.window.complete(writer.today());
        let freshness = || Freshness { job: JobName::ProfitSnapshots, as_of: None, sources: vec![] };
        make(&Source {
            writer: &writer,
            query,
            range: complete,
            complete,
            profit: &Dated { found, freshness: freshness() },
            compared,
            expected: &Dated { found: vec![], freshness: freshness() },
            notes: &[],
            sums: (&sums, None),
            may_change,
            api: &api,
        })
    }

    /// The line of a month compared with the one before, of which each day has these sales and this profit.
    fn line(metric: Metric, before: impl Fn(i64) -> (Decimal, Decimal)) -> Line {
        let complete = Window::USUAL.complete(writer("en").today());
        let dates: Vec<Date> = (0..days(complete)).map(|number| shifted(complete.first, number)).collect();
        let profit = |date: Date| Decimal::from(20 + date.day() % 5);
        let found = dates.iter().map(|date| day(*date, dec!(100), profit(*date))).collect();
        let day_before = |(date, number): (&Date, i64)| {
            let (sales, profit) = before(number);
            day(shifted(*date, -days(complete)), sales, profit)
        };
        let compared: Vec<Snapshot> = dates.iter().zip(0..).map(day_before).collect();
        with(metric, found, &compared, true, |source| {
            let all = source.days();
            source.line(&all, source.scale(&all))
        })
    }

    #[test]
    fn who_may_not_bring_orders_is_not_sent_to_where_they_are_brought() {
        let acts = |may_change| match with(Metric::Profit, vec![], &[], may_change, panel).drawn {
            Drawn::Empty { acts, .. } => acts.into_iter().map(|(_, address)| address).collect::<Vec<_>>(),
            Drawn::Line(_) => panic!("there is nothing to draw"),
        };
        assert_eq!((acts(true), acts(false)), (vec!["/data", "/integrations"], vec![]));
    }

    /// Jobs run every night, whether there is anything to compute or not.
    #[test]
    fn a_shop_without_orders_is_told_how_to_bring_them_after_its_first_night_too() {
        let at = time::macros::datetime!(2026-11-22 5:00 UTC);
        let acts = |newest: Option<Newest>| {
            let drawn = with(Metric::Profit, vec![], &[], true, |source| {
                let sources = vec![(freshness::Source::Orders, newest)];
                let freshness = Freshness { job: JobName::ProfitSnapshots, as_of: Some(at), sources };
                panel(&Source { profit: &Dated { found: vec![], freshness }, ..*source }).drawn
            });
            match drawn {
                Drawn::Empty { title, acts, .. } => (title, acts.len()),
                Drawn::Line(_) => panic!("there is nothing to draw"),
            }
        };
        assert_eq!(acts(None), ("No orders yet".to_owned(), 2));
        assert_eq!(acts(Some(Newest::At(at))), ("No figures for these days".to_owned(), 0));
    }

    #[test]
    fn a_single_day_of_the_comparison_does_not_press_the_line_flat() {
        let usual = |number: i64| (dec!(100), Decimal::from(15 + number % 7));
        // On one day next to nothing was sold, and it cost a lot: a margin of −4,000 %.
        let odd = line(Metric::Margin, |number| if number == 9 { (dec!(1), dec!(-40)) } else { usual(number) });
        assert_eq!(odd.scale, line(Metric::Margin, usual).scale);
        assert!(odd.scale.high() - odd.scale.low() < 0.3, "{:?}", odd.scale);
        assert_eq!(odd.before[9], Some(odd.scale.low()), "it runs along the edge");
    }

    #[test]
    fn one_week_is_not_told_as_several() {
        let weeks = |language, id: &str, weeks| writer(language).message(id).count("weeks", weeks).say();
        assert_eq!(weeks("en", "line-before-weekdays", 1), "1 week earlier");
        assert_eq!(weeks("en", "line-before-weekdays", 5), "5 weeks earlier");
        assert_eq!(weeks("es", "than-weekdays", 1), "en los mismos días de la semana, 1 semana antes");
        assert_eq!(weeks("pt-BR", "than-weekdays", 5), "nos mesmos dias da semana, 5 semanas antes");
    }

    #[test]
    fn a_comparison_that_is_higher_as_a_rule_is_seen_whole() {
        let twice = line(Metric::NetRevenue, |number| (Decimal::from(300 + number), dec!(0)));
        assert!(twice.scale.high() >= 329.0 && twice.before.last() == Some(&Some(329.0)), "{:?}", twice.scale);
    }

    #[test]
    fn days_that_come_again_and_again_are_not_odd() {
        let seldom = line(Metric::Profit, |number| (dec!(100), if number % 5 == 0 { dec!(90) } else { dec!(0) }));
        assert!(seldom.scale.high() >= 90.0, "{:?}", seldom.scale);
        assert_eq!(seldom.before.iter().filter(|value| **value == Some(90.0)).count(), 6);
    }
}
