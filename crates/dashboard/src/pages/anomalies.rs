//! Days on which a metric was not what its history led one to expect.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    anomalies::{Anomaly, Kind, Severity, drivers::unit},
    freshness::{Dated, Freshness},
    metric_days::{KEPT_DAYS, NEEDED_DAYS},
    metrics::{Metric, Unit},
    page::{Page, PageRequest},
    periods::{days as length, shifted},
    profit::DayRange,
};
use time::Date;
use url::Url;

use super::{days::decimal, figures, html, insights::severity as badge_of, panel, query, shell::shell, window};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        anomalies::{self as view, Model},
        layout::{Choice, Here},
        panel::{Foot, Panel},
        rows::{Cell, Head, Row},
    },
};

/// Anomalies of a page.
const LIMIT: i64 = 50;
/// How many days are looked back, today included.
const DAYS: [i64; 3] = [7, 30, 90];
const USUAL_DAYS: i64 = 30;
/// The days that the API looks back at most.
const MOST_DAYS: i64 = 90;
/// Anomalies that the API gives at most at once.
const MOST_ANOMALIES: i64 = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Query {
    days: i64,
    severity: Option<Severity>,
    cursor: Option<i64>,
}

impl Query {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let days = query::one(request, "days")?.unwrap_or(USUAL_DAYS);
        if !DAYS.contains(&days) {
            return Err(PageError::Invalid("days"));
        }
        Ok(Self { days, severity: query::one(request, "severity")?, cursor: query::cursor(request)? })
    }

    fn address(self) -> String {
        let Self { days, severity, cursor } = self;
        let pairs = [
            (days != USUAL_DAYS).then(|| format!("days={days}")),
            severity.map(|severity| format!("severity={severity}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
        ];
        query::address(Here::Anomalies.address(), pairs)
    }

    /// The call that gives the same.
    fn api(self) -> String {
        let Self { days, severity, cursor } = self;
        let pairs = [
            Some(format!("days={days}")),
            severity.map(|severity| format!("severity={severity}")),
            Some(format!("limit={LIMIT}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
        ];
        query::address("/api/v1/anomalies", pairs)
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let query = Query::of(&request)?;
    let since = writer.zone.start_of(shifted(writer.today(), 1 - query.days));
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let found = state.anomalies.page(viewer.account(), query.severity, since, page).await?;
    let lacking = if found.found.items.is_empty() {
        let known = DayRange { first: shifted(writer.today(), -KEPT_DAYS), last: writer.today() };
        let days = state.metric_days.range(viewer.account(), Metric::Orders, known).await?;
        lacking(&writer, days.found.len())
    } else {
        None
    };
    let title = writer.say("anomalies");
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Anomalies, title.clone()).await?,
        title,
        place: window::place(&writer),
        days: days(&writer, query),
        severities: severities(&writer, query),
        head: head(&writer),
        found: list(&writer, query, &found, lacking, &state.settings.api_url),
    };
    Ok(html(view::page(&model)))
}

fn days(writer: &Writer, query: Query) -> (String, Vec<Choice>) {
    let choice = |days: i64| Choice {
        address: Query { days, cursor: None, ..query }.address(),
        text: writer.message("last-days").count("days", days).say(),
        is_chosen: days == query.days,
    };
    (writer.say("period"), DAYS.into_iter().map(choice).collect())
}

/// All of them, then the worst first.
fn severities(writer: &Writer, query: Query) -> (String, Vec<Choice>) {
    let choice = |severity: Option<Severity>| Choice {
        address: Query { severity, cursor: None, ..query }.address(),
        text: severity.map_or_else(|| writer.say("all"), |severity| writer.say(&format!("severity-{severity}"))),
        is_chosen: severity == query.severity,
    };
    let each = Severity::ALL.iter().rev().copied().map(Some);
    (writer.say("severity"), std::iter::once(None).chain(each).map(choice).collect())
}

pub fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("column-figure")),
        Head::Text(writer.say("column-day")),
        Head::Number(writer.say("column-that-day")),
        Head::Number(writer.say("column-expected")),
        Head::Text(writer.say("severity")),
    ]
}

/// Each deviation is a row; the finding that names its cause is told in it.
pub fn rows(writer: &Writer, found: &[Anomaly]) -> Vec<Row> {
    let cause_of = |anomaly: &Anomaly| {
        let is_it = |other: &&Anomaly| {
            (other.kind, &other.metric, other.day, other.direction)
                == (Kind::Correlated, &anomaly.metric, anomaly.day, anomaly.direction)
        };
        found.iter().find(is_it).and_then(|cause| cause.cause_in(writer.texts()))
    };
    let row = |anomaly: &Anomaly| Row {
        name: name(writer, &anomaly.metric),
        address: Some(format!("/anomalies/{}", anomaly.id)),
        below: cause_of(anomaly).map(Into::into),
        cells: vec![
            Cell::Texts { text: writer.weekday(anomaly.day), below: None, is_bad: false },
            Cell::Number {
                text: told(writer, &anomaly.metric, anomaly.observed_value),
                value: Some(value(anomaly.observed_value)),
            },
            Cell::Number { text: expected(writer, anomaly), value: None },
            Cell::Badge(Some(badge_of(writer, anomaly.severity))),
        ],
    };
    found.iter().filter(|anomaly| anomaly.kind == Kind::Univariate).map(row).collect()
}

/// What stands below what the call for the days from `first` on gives: no call where that was longer ago than the API looks
/// back.
pub fn foot_since(writer: &Writer, freshness: &Freshness, how: Vec<String>, first: Date, api: &Url) -> Foot {
    let ago = length(DayRange { first, last: writer.today() });
    let path = format!("/api/v1/anomalies?days={}&limit={MOST_ANOMALIES}", ago.max(1));
    let foot = panel::foot(writer, freshness, how, &path, false, api);
    Foot { call: foot.call.filter(|_| ago <= MOST_DAYS), ..foot }
}

/// How many days are known, where they are too few to judge one by.
fn lacking(writer: &Writer, days: usize) -> Option<String> {
    let said = || writer.message("anomalies-lacking").count("needed", NEEDED_DAYS).count("days", days).say();
    (days <= NEEDED_DAYS).then(said)
}

fn list(writer: &Writer, query: Query, found: &Dated<Page<Anomaly>>, lacking: Option<String>, api: &Url) -> Panel<Row> {
    let next = found.found.next_cursor.map(|cursor| Query { cursor: Some(cursor), ..query }.address());
    let how = vec![writer.say("how-band"), writer.say("how-anomalies")];
    Panel {
        id: "h-anomalies",
        title: writer.say("anomalies-title"),
        items: rows(writer, &found.found.items),
        nothing: match found.freshness.as_of {
            Some(_) => lacking.unwrap_or_else(|| writer.say("anomalies-none")),
            None => writer.message("anomalies-not-yet").count("needed", NEEDED_DAYS).say(),
        },
        all: None,
        next: panel::next(writer, next),
        foot: panel::foot(writer, &found.freshness, how, &query.api(), false, api),
    }
}

/// How a metric or one of its drivers is called.
pub fn name(writer: &Writer, metric: &str) -> String {
    match metric.parse::<Metric>() {
        Ok(metric) => figures::name(writer, metric),
        Err(_) => writer.message("driver").text("metric", metric).say(),
    }
}

/// A figure of a metric or of one of its drivers, with its unit.
pub fn told(writer: &Writer, metric: &str, value: f64) -> String {
    let value = decimal(value);
    match (metric.parse::<Metric>(), unit(metric)) {
        (Ok(metric), _) => figures::told(writer, metric, value),
        (Err(_), Unit::Money) => {
            let amount = writer.exact(value);
            writer.message("money").text("number", amount).text("currency", writer.currency).say()
        }
        (Err(_), Unit::Share) => writer.percent(value, 1),
        (Err(_), Unit::Ratio) => writer.number(value, 2),
        (Err(_), Unit::Count) => writer.number(value, 0),
    }
}

/// The number as the API gives it.
pub fn value(value: f64) -> String {
    decimal(value).round_dp(4).normalize().to_string()
}

/// The range that was expected, else the figure.
pub fn expected(writer: &Writer, anomaly: &Anomaly) -> String {
    let one = |value: f64| told(writer, &anomaly.metric, value);
    match anomaly.expected_interval {
        Some((low, high)) => writer.message("range").text("low", one(low)).text("high", one(high)).say(),
        None => one(anomaly.expected_value),
    }
}

#[cfg(test)]
pub mod tests {
    use domain::{
        AnomalyId,
        anomalies::{Cause, Direction, Driver},
        jobs::JobName,
    };
    use time::macros::{date, datetime};

    use super::*;
    use crate::text::tests::writer;

    pub fn anomaly(id: i64, kind: Kind, metric: &str) -> Anomaly {
        let driver = |level, metric: &str, share, observed, expected| Driver {
            level,
            metric: metric.to_owned(),
            dimension: None,
            part: None,
            effect: -20.0 * share,
            share,
            observed,
            expected,
            direction: Direction::Down,
        };
        Anomaly {
            id: AnomalyId(id),
            kind,
            metric: metric.to_owned(),
            span: DayRange { first: date!(2026 - 11 - 20), last: date!(2026 - 11 - 20) },
            day: date!(2026 - 11 - 20),
            observed_value: 5.0,
            expected_value: 50.25,
            expected_interval: Some((33.0, 70.0)),
            z_score: -6.0,
            direction: Direction::Down,
            severity: Severity::High,
            detected_at: datetime!(2026-11-21 3:00 UTC),
            inferred_cause: None,
            confidence: (kind == Kind::Correlated).then_some(0.9),
            correlated_metrics: vec![],
            drivers: vec![
                driver(1, "visitors", 0.8, 97.0, 420.0),
                driver(1, "conversion", 0.2, 0.05, 0.12),
                driver(2, "ad_clicks", 1.0, 10.0, 200.0),
            ],
            cause: (kind == Kind::Correlated).then_some(Cause::Traffic),
            is_shift: false,
            story_id: None,
        }
    }

    #[test]
    fn a_deviation_and_its_cause_are_one_row() {
        let items = vec![anomaly(8, Kind::Correlated, "orders"), anomaly(7, Kind::Univariate, "orders")];
        let freshness = Freshness { job: JobName::AnomalyDetection, as_of: None, sources: vec![] };
        let query = Query { days: 30, severity: None, cursor: None };
        let found = Dated { found: Page { items, next_cursor: Some(7) }, freshness };
        let panel = list(&writer("en"), query, &found, None, &Url::parse("http://localhost").unwrap());
        let [row] = panel.items.as_slice() else { panic!() };
        assert_eq!((row.name.as_str(), row.address.as_deref()), ("Orders", Some("/anomalies/7")));
        let cause =
            "Visits were 77% below normal, because clicks on ads were 95% below normal (80% of the difference).";
        assert_eq!(row.below, Some(cause.to_owned().into()));
        assert_eq!(panel.next.map(|next| next.address).as_deref(), Some("/anomalies?cursor=7"));
    }

    #[test]
    fn a_young_shop_is_told_how_much_is_needed_and_how_much_is_there() {
        let nothing = |days, as_of| {
            let freshness = Freshness { job: JobName::AnomalyDetection, as_of, sources: vec![] };
            let found = Dated { found: Page { items: vec![], next_cursor: None }, freshness };
            let query = Query { days: 30, severity: None, cursor: None };
            let (writer, api) = (writer("en"), Url::parse("http://localhost").unwrap());
            list(&writer, query, &found, lacking(&writer, days), &api).nothing
        };
        let ran = Some(datetime!(2026-11-22 5:00 UTC));
        assert!(nothing(9, ran).contains("14 days of history are needed, and 9 days are here"), "{}", nothing(9, ran));
        assert!(nothing(1, ran).contains("1 day is here"), "{}", nothing(1, ran));
        // The first day that is judged is the one after them.
        assert!(nothing(14, ran).contains("14 days are here"), "{}", nothing(14, ran));
        assert!(nothing(15, ran).starts_with("Every figure was as expected"), "{}", nothing(15, ran));
        assert!(nothing(0, None).contains("It takes 14 days of history"), "{}", nothing(0, None));
    }

    #[test]
    fn figures_have_the_unit_of_what_they_count() {
        let told = |metric, value| told(&writer("en"), metric, value);
        assert_eq!(told("orders", 43.0), "43");
        assert_eq!(told("profit", -1895.87), "\u{2212}1,896 USD");
        assert_eq!(told("share_of_visitors", 0.125), "12.5%");
        assert_eq!(told("units_per_order", 1.5), "1.50");
        assert_eq!(expected(&writer("en"), &anomaly(1, Kind::Univariate, "orders")), "33 to 70");
    }
}
