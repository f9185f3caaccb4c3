//! One anomaly: the days around it beside what was expected of them, what it is made of, and what moved with it.

mod chart;
mod drivers;

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    AnomalyId,
    alerts::{Comparator, Terms, UncheckedTerms, Watched},
    anomalies::{Anomaly, Direction, OnItsDay},
    freshness::{Dated, Freshness},
    metrics::Metric,
    people::Act,
    periods::shifted,
    profit::DayRange,
};
use url::Url;

use super::{
    alert_form::Wanted,
    anomalies::{expected, foot_since, name, told, value},
    days::decimal,
    html,
    insights::severity,
    query,
    shell::shell,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        anomaly::{self as view, Model},
        figures::Fact,
        layout::Here,
        panel::{Foot, Panel, Way},
        rows::{Cell, Head, Row},
    },
};

/// Hours that a rule of an anomaly looks back, and keeps quiet after it fired.
const DAY_HOURS: i64 = 24;
/// Days around it that are drawn, before and after.
const AROUND: i64 = 28;

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = AnomalyId(query::id(&request)?);
    let Dated { found, freshness } = state.anomalies.find(viewer.account(), id).await?.ok_or(PageError::NotFound)?;
    let around = around(&writer, &found.anomaly);
    let judged = match found.anomaly.metric.parse::<Metric>() {
        Ok(metric) => Some((metric, state.metric_days.range(viewer.account(), metric, around).await?)),
        Err(_) => None,
    };
    let notes = state.notes.of_days(viewer.account(), around).await?;
    let (title, api) = (title(&writer, &found.anomaly), &state.settings.api_url);
    let source = Source { writer: &writer, found: &found, freshness: &freshness, api };
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Anomalies, title.clone()).await?,
        title,
        crumb: Way { text: writer.say("anomalies"), address: Here::Anomalies.address().to_owned() },
        day: writer.full_day(found.anomaly.day),
        acts: if viewer.may(Act::Change) { source.acts() } else { vec![] },
        figures: source.figures(),
        cause: source.cause(),
        chart: judged.map(|(metric, judged)| chart::panel(&source, metric, around, &judged, &notes)),
        drivers: drivers::panel(&source),
        beside_head: source.beside_head(),
        beside: source.beside(),
        along: source.along(),
    };
    Ok(html(view::page(&model)))
}

/// The days around it that are over.
fn around(writer: &Writer, anomaly: &Anomaly) -> DayRange {
    let yesterday = shifted(writer.today(), -1);
    DayRange { first: shifted(anomaly.day, -AROUND), last: shifted(anomaly.day, AROUND).min(yesterday) }
}

fn title(writer: &Writer, anomaly: &Anomaly) -> String {
    writer
        .message("anomaly-title")
        .text("direction", anomaly.direction)
        .text("name", name(writer, &anomaly.metric))
        .day("day", anomaly.day)
        .say()
}

struct Source<'a> {
    writer: &'a Writer,
    found: &'a OnItsDay,
    freshness: &'a Freshness,
    api: &'a Url,
}

impl Source<'_> {
    fn figures(&self) -> Vec<Fact> {
        let (writer, anomaly) = (self.writer, &self.found.anomaly);
        let metric = anomaly.metric.as_str();
        let fact = |name: String, text: String, value: Option<String>, below: Option<String>| Fact {
            name,
            text,
            value,
            change: None,
            below,
        };
        let expected_at = told(writer, metric, anomaly.expected_value);
        let confidence = self.found.explained().and_then(|cause| cause.confidence);
        let badge = severity(writer, anomaly.severity);
        let range = writer.message("expected-range").text("range", expected(writer, anomaly)).say();
        let found_on = writer.message("found-at").text("at", writer.moment(anomaly.detected_at)).say();
        vec![
            fact(
                name(writer, metric),
                told(writer, metric, anomaly.observed_value),
                Some(value(anomaly.observed_value)),
                Some(range),
            ),
            fact(writer.say("column-likely"), expected_at, Some(value(anomaly.expected_value)), None),
            fact(
                writer.say("confidence"),
                confidence.map_or_else(|| "–".to_owned(), |share| writer.percent(decimal(share), 0)),
                confidence.map(value),
                confidence.is_none().then(|| writer.say("no-cause-short")),
            ),
            fact(writer.say("severity"), badge.text, None, Some(found_on)),
        ]
    }

    /// Why, in a sentence; and whether it lasts.
    fn cause(&self) -> Vec<String> {
        let cause = self.found.explained().and_then(|cause| cause.cause_in(self.writer.texts()));
        let lasting = self.found.anomaly.is_shift.then(|| self.writer.say("anomaly-shift"));
        [Some(cause.unwrap_or_else(|| self.writer.say("no-cause"))), lasting].into_iter().flatten().collect()
    }

    /// What may be done about it: to write down what happened, and to be told when it comes again.
    fn acts(&self) -> Vec<Way> {
        let (writer, anomaly) = (self.writer, &self.found.anomaly);
        let note = format!("/profit/{}#h-note", anomaly.day);
        let alert = self.alert().map(|address| Way { text: writer.say("anomaly-alert"), address });
        [Some(Way { text: writer.say("note-write"), address: note }), alert].into_iter().flatten().collect()
    }

    /// A rule that fires beyond the edge of what was expected; `None` where no rule watches the metric.
    fn alert(&self) -> Option<String> {
        let anomaly = &self.found.anomaly;
        let metric = Watched::Figure(anomaly.metric.parse().ok()?);
        let (low, high) = anomaly.expected_interval?;
        let (comparator, edge) = match anomaly.direction {
            Direction::Down => (Comparator::Lt, low),
            Direction::Up => (Comparator::Gt, high),
        };
        let called = self.writer.message("anomaly-alert-name").text("direction", anomaly.direction);
        let wanted = UncheckedTerms {
            name: called.text("name", name(self.writer, &anomaly.metric)).say(),
            threshold: metric.shown(decimal(edge), self.writer.currency)?,
            // The name that rules have for it, if they have one.
            metric: metric.to_string().parse().ok()?,
            comparator,
            window_hours: DAY_HOURS,
            severity: anomaly.severity,
            cooldown_hours: DAY_HOURS,
        };
        Some(Wanted::of(self.writer, &Terms::new(wanted).ok()?).address())
    }

    /// What stands below what the call for its day gives.
    fn foot(&self, how: Vec<String>) -> Foot {
        foot_since(self.writer, self.freshness, how, self.found.anomaly.day, self.api)
    }

    fn beside_head(&self) -> Vec<Head> {
        let say = |id: &str| self.writer.say(id);
        vec![
            Head::Text(say("column-figure")),
            Head::Number(say("column-that-day")),
            Head::Number(say("column-expected")),
            Head::Text(say("severity")),
        ]
    }

    fn beside(&self) -> Panel<Row> {
        let writer = self.writer;
        let row = |other: &Anomaly| Row {
            name: name(writer, &other.metric),
            address: Some(format!("/anomalies/{}", other.id)),
            below: None,
            cells: vec![
                Cell::Number {
                    text: told(writer, &other.metric, other.observed_value),
                    value: Some(value(other.observed_value)),
                },
                Cell::Number { text: expected(writer, other), value: None },
                Cell::Badge(Some(severity(writer, other.severity))),
            ],
        };
        Panel {
            id: "h-beside",
            title: writer.say("beside"),
            items: self.found.beside().map(row).collect(),
            nothing: writer.say("beside-none"),
            all: None,
            next: None,
            foot: self.foot(vec![writer.say("how-band")]),
        }
    }

    /// What moved with it without being unusual by itself, in a sentence.
    fn along(&self) -> Option<String> {
        let writer = self.writer;
        let is_told = |metric: &str| self.found.beside().any(|other| other.metric == metric);
        // What has no name here is a figure of a part of the shop, which the drivers tell.
        let unnamed = writer.message("driver").text("metric", "").say();
        let is_told = |metric: &str| is_told(metric) || name(writer, metric) == unnamed;
        let moved = self.found.explained()?.correlated_metrics.iter().filter(|other| !is_told(&other.metric));
        let names: Vec<String> = moved
            .map(|other| {
                let name = name(writer, &other.metric).to_lowercase();
                writer.message("moved-along").text("name", name).text("direction", other.direction).say()
            })
            .collect();
        (!names.is_empty()).then(|| writer.message("along").list("names", &names).say())
    }

    fn difference(&self) -> f64 {
        self.found.anomaly.observed_value - self.found.anomaly.expected_value
    }
}

#[cfg(test)]
mod tests {
    use domain::{anomalies::Kind, jobs::JobName};
    use time::macros::date;

    use super::*;
    use crate::{pages::anomalies::tests::anomaly, text::tests::writer};

    fn with<T>(test: impl Fn(&Source<'_>) -> T) -> T {
        let found = OnItsDay {
            anomaly: anomaly(7, Kind::Univariate, "orders"),
            others: vec![anomaly(8, Kind::Correlated, "orders"), anomaly(9, Kind::Univariate, "profit")],
        };
        let (writer, api) = (writer("en"), Url::parse("http://localhost").unwrap());
        let freshness = Freshness { job: JobName::AnomalyDetection, as_of: None, sources: vec![] };
        test(&Source { writer: &writer, found: &found, freshness: &freshness, api: &api })
    }

    #[test]
    fn the_cause_is_that_of_the_finding_that_names_it() {
        let cause = with(|source| source.cause());
        assert_eq!(cause.len(), 1);
        assert!(cause[0].starts_with("Visits were 77% below normal"), "{cause:?}");
        let figures = with(|source| source.figures());
        assert_eq!((figures[0].text.as_str(), figures[0].below.as_deref()), ("5", Some("expected 33 to 70")));
        assert_eq!((figures[2].text.as_str(), figures[2].value.as_deref()), ("90%", Some("0.9")));
    }

    #[test]
    fn a_note_or_a_rule_may_be_made_of_it() {
        let acts: Vec<String> = with(|source| source.acts().into_iter().map(|act| act.address).collect());
        let rule = "/alerts?name=Orders+below+what+is+normal&metric=orders&comparator=lt&threshold=33&window=24&severity=high\
            &cooldown=24";
        assert_eq!(acts, ["/profit/2026-11-20#h-note", rule]);
    }

    #[test]
    fn beside_it_are_the_other_metrics_of_the_day() {
        let names: Vec<String> = with(|source| source.beside().items.into_iter().map(|row| row.name).collect());
        assert_eq!(names, ["Profit"]);
    }

    #[test]
    fn no_call_is_shown_that_does_not_give_the_day() {
        let call = |day| {
            with(|source| {
                let found = OnItsDay { anomaly: Anomaly { day, ..source.found.anomaly.clone() }, others: vec![] };
                let source = Source { found: &found, ..*source };
                let calls = [drivers::panel(&source).foot.call, source.beside().foot.call];
                calls.map(|call| call.map(|call| call.json))
            })
        };
        let oldest = Some("/api/v1/anomalies?days=90&limit=500".to_owned());
        assert_eq!(call(date!(2026 - 08 - 25)), [oldest.clone(), oldest]);
        assert_eq!(call(date!(2026 - 08 - 24)), [None, None]);
    }

    #[test]
    fn what_is_drawn_is_over() {
        let range = around(&writer("en"), &anomaly(7, Kind::Univariate, "orders"));
        assert_eq!((range.first, range.last), (date!(2026 - 10 - 23), date!(2026 - 11 - 21)));
    }

    #[test]
    fn the_call_of_the_chart_gives_its_days_however_long_ago_they_were() {
        let call = with(|source| {
            let judged = Dated { found: vec![], freshness: source.freshness.clone() };
            let around = around(source.writer, &source.found.anomaly);
            chart::panel(source, Metric::Orders, around, &judged, &[]).foot.call.map(|call| call.json)
        });
        assert_eq!(call.as_deref(), Some("/api/v1/metrics?metric=orders&days=30&until=2026-11-21"));
    }

    #[test]
    fn drivers_are_a_tree_along_the_first_of_each_level() {
        let tree = with(drivers::tree);
        let names: Vec<_> = tree.iter().map(|node| (node.name.as_str(), node.parts.len())).collect();
        assert_eq!(names, [("Visits", 1), ("Conversion", 0)]);
        assert_eq!((tree[0].parts[0].name.as_str(), tree[0].parts[0].share.as_str()), ("Clicks on ads", "100%"));
        assert_eq!(tree[0].seen, "97 instead of 420");
    }
}
