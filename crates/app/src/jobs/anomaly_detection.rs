//! The job `anomaly_detection`: days on which a metric was not what its history led one to expect, and why.

mod causes;
mod evidence;
mod expected;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use analytics::{
    detector::{DailySeries, HISTORY_DAYS, Shape, scan, score},
    holidays,
    severity::Severity as Grade,
};
use domain::{
    StoreError,
    anomalies::{Cause, Detected, Direction, Finding, Kind, Severity, is_closed_day, wording},
    daily::{DayTotals, PartTotals, without_gaps},
    jobs::WriteOutcome,
    metrics::Metric,
    profit::DayRange,
    texts::{Locale, Texts},
    zone::Zone,
};
use time::{Date, Duration};

pub use evidence::Parts;

use super::{Work, off_thread};

/// Days that are scored by every run: as many as a client can ask for.
const SCORED_DAYS: i64 = 90;
/// Days of which the expected values are kept: as many as a client can ask for.
const KEPT_DAYS: i64 = 365;
/// Days before those on which a lasting change may have begun that goes on into them.
const LEAD_IN_DAYS: i64 = 40;
/// Days that are news: receivers are not told of what a first run finds in the past.
const NEWS_DAYS: i64 = 3;

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let (account, last) = (work.account, work.claim.last_full_day());
    let scored = DayRange { first: back(last, SCORED_DAYS - 1), last };
    let history = i64::try_from(HISTORY_DAYS).unwrap_or(SCORED_DAYS);
    let known = DayRange { first: back(last, KEPT_DAYS - 1 + history), last };
    let known = without_gaps(&work.deps.daily.series(account.id, known).await?, known.first, last);
    let read = DayRange { first: back(scored.first, LEAD_IN_DAYS + history), last };
    let days: Vec<DayTotals> = known.iter().filter(|day| day.day >= read.first).copied().collect();
    let holidays = match &account.holiday_country {
        Some(country) => holidays::of(country.as_str(), known.first().map_or(last, |day| day.day)..=last),
        None => BTreeSet::new(),
    };
    let older = DayRange { first: back(last, KEPT_DAYS - 1), last: back(scored.first, 1) };
    let kept = work.deps.anomalies.observed(account.id, older).await?;
    let zone = account.timezone.clone();
    let begins = known.first().map(|day| day.day);
    let (shop, events, expected) = off_thread(move || {
        let (shop, events) = Shop::judged(days, holidays, scored, zone);
        let expected = expected::days(&known, &shop, &kept);
        (Arc::new(shop), events, expected)
    })
    .await?;
    let stock_outs = work.deps.anomalies.stock_outs(account.id, scored).await?;
    // The parts of a shop are many, and tell nothing but causes.
    let peaks: BTreeSet<Date> = events.iter().map(|(_, event)| event.peak).collect();
    let parts = if peaks.is_empty() && stock_outs.is_empty() {
        Vec::new()
    } else {
        work.deps.daily.parts(account.id, read, peaks.into_iter().collect()).await?
    };
    let detected = off_thread(move || {
        let findings = shop.findings(&events, &parts);
        let stories = shop.stories(&findings, &Parts::new(&parts), stock_outs);
        Detected { findings, stories, days: expected, begins }
    })
    .await?;
    let news = back(last, NEWS_DAYS - 1);
    work.deps.anomalies.replace(work.claim, scored, news, detected, (work.clock)()).await
}

fn back(day: Date, days: i64) -> Date {
    day.checked_sub(Duration::days(days)).unwrap_or(Date::MIN)
}

/// What is known of a shop's days.
pub struct Shop {
    /// One after the other, without gaps.
    days: Vec<DayTotals>,
    holidays: BTreeSet<Date>,
    /// Days of sales that the shop was closed on. They are told as such: to every metric but orders they say nothing.
    closed: BTreeSet<Date>,
    scored: DayRange,
    zone: Zone,
}

/// An event of a metric.
pub type Event = (Metric, analytics::detector::Anomaly);

impl Shop {
    /// The shop with what it was closed on, and the events of every metric within the scored days.
    pub fn judged(days: Vec<DayTotals>, holidays: BTreeSet<Date>, scored: DayRange, zone: Zone) -> (Self, Vec<Event>) {
        let mut shop = Self { days, holidays, closed: BTreeSet::new(), scored, zone };
        let orders = shop.scan(Metric::Orders);
        shop.closed = shop.closed_days(&orders);
        let mut found: Vec<Event> = Vec::new();
        for metric in Metric::ALL.iter().copied() {
            let events = if metric == Metric::Orders { orders.clone() } else { shop.scan(metric) };
            found.extend(events.into_iter().filter(|e| e.peak >= shop.scored.first).map(|e| (metric, e)));
        }
        let unseen: Vec<Event> = shop.takings_behind(&found);
        found.extend(unseen);
        (shop, found)
    }

    /// Whether a day neither teaches nor is judged, for all metrics but those that do not follow from sales.
    fn is_left_out(&self, day: Date) -> bool {
        self.holidays.contains(&day) || self.closed.contains(&day)
    }

    /// The days that say nothing of a metric.
    fn left_out(&self, metric: Metric) -> Cow<'_, BTreeSet<Date>> {
        match metric {
            Metric::Orders | Metric::Refunds | Metric::AdSpend => Cow::Borrowed(&self.holidays),
            _ => Cow::Owned(self.holidays.union(&self.closed).copied().collect()),
        }
    }

    fn values(&self, metric: Metric) -> Vec<Option<f64>> {
        self.days.iter().map(|day| metric.measured(day)).collect()
    }

    fn scan(&self, metric: Metric) -> Vec<analytics::detector::Anomaly> {
        let Some(first) = self.days.first().map(|day| day.day) else { return Vec::new() };
        let from = back(self.scored.first, LEAD_IN_DAYS);
        scan(DailySeries { first, values: &self.values(metric) }, &self.left_out(metric), from)
    }

    /// The closed ones of the days on which orders were missing.
    fn closed_days(&self, orders: &[analytics::detector::Anomaly]) -> BTreeSet<Date> {
        let missing =
            |day: Date| orders.iter().any(|event| !event.is_up() && (event.first..=event.last).contains(&day));
        let mut visitors: Vec<i64> = self.days.iter().map(|day| day.visitors).collect();
        visitors.sort_unstable();
        let usual = visitors.get(visitors.len() / 2).copied().unwrap_or_default();
        // A shop that stays closed is closed, also when no orders are what is expected by now.
        let mut was_closed = false;
        let closed = self.days.iter().filter(|day| {
            was_closed = (was_closed || missing(day.day)) && is_closed_day(day, usual);
            was_closed
        });
        closed.map(|day| day.day).collect()
    }

    /// Gross revenue on days of which profit or net revenue is an event, where it left its own interval and is none: what
    /// shows in the one has to show in the other.
    fn takings_behind(&self, found: &[Event]) -> Vec<Event> {
        let follows = |metric: &Metric| matches!(metric, Metric::NetRevenue | Metric::Profit);
        let known = |day: Date| {
            let told =
                |(metric, event): &Event| *metric == Metric::GrossRevenue && (event.first..=event.last).contains(&day);
            found.iter().any(told)
        };
        let mut worst: BTreeMap<Date, Grade> = BTreeMap::new();
        for (_, event) in found.iter().filter(|(metric, event)| follows(metric) && !known(event.peak)) {
            let grade = worst.entry(event.peak).or_insert(event.severity);
            *grade = (*grade).max(event.severity);
        }
        let Some(first) = self.days.first().map(|day| day.day) else { return Vec::new() };
        let (values, left_out) = (self.values(Metric::GrossRevenue), self.left_out(Metric::GrossRevenue));
        let behind = worst.into_iter().filter_map(|(day, grade)| {
            let at = usize::try_from((day - first).whole_days()).ok()?;
            let observed = values.get(at).copied().flatten()?;
            let score = score(DailySeries { first, values: values.get(..at)? }, observed, &left_out).ok()?;
            let is_outside = observed < score.interval.low || observed > score.interval.high;
            // What does not stand out by itself is not told more loudly than as notable.
            let severity = if score.relative_change.abs() < 0.1 { Grade::Low } else { grade.min(Grade::Medium) };
            let shape = Shape::Spike;
            let event = analytics::detector::Anomaly {
                first: day,
                last: day,
                peak: day,
                alarms: 1,
                observed,
                score,
                severity,
                shape,
            };
            is_outside.then_some((Metric::GrossRevenue, event))
        });
        behind.collect()
    }

    /// The events as they are told, each followed by its cause where one can be named.
    pub fn findings(&self, events: &[Event], parts: &[PartTotals]) -> Vec<Finding> {
        let told = events.iter().flat_map(|(metric, event)| {
            let finding = finding(*metric, event, &self.zone);
            if *metric == Metric::Orders && self.closed.contains(&event.peak) {
                return [Some(closed(finding)), None];
            }
            causes::explained(*metric, finding, self, parts)
        });
        told.flatten().collect()
    }
}

/// A day that the shop was closed on, as what it is.
fn closed(finding: Finding) -> Finding {
    let words = wording::cause(Cause::ClosedDay, finding.expected_value, &[], &Texts::of(Locale::ENGLISH));
    Finding { cause: Some(Cause::ClosedDay), inferred_cause: Some(words), ..finding }
}

fn finding(metric: Metric, event: &analytics::detector::Anomaly, zone: &Zone) -> Finding {
    let score = &event.score;
    Finding {
        kind: Kind::Univariate,
        metric: metric.as_str().to_owned(),
        span: DayRange { first: event.first, last: event.last.max(event.peak) },
        day: event.peak,
        observed_value: event.observed,
        expected_value: score.expected,
        expected_interval: Some((score.interval.low, score.interval.high)),
        z_score: score.z_score,
        direction: if event.is_up() { Direction::Up } else { Direction::Down },
        severity: severity(event.severity),
        detected_at: zone.start_of(event.peak.next_day().unwrap_or(Date::MAX)),
        inferred_cause: None,
        confidence: None,
        correlated_metrics: Vec::new(),
        drivers: Vec::new(),
        cause: None,
        is_shift: event.shape == Shape::Shift,
    }
}

const fn severity(grade: Grade) -> Severity {
    match grade {
        Grade::Low => Severity::Low,
        Grade::Medium => Severity::Medium,
        Grade::High => Severity::High,
        Grade::Critical => Severity::Critical,
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        daily::Dimension,
        metric_days::Observed,
        stories::{StockOut, Story},
    };
    use rust_decimal::Decimal;
    use time::macros::{date, datetime};

    use super::*;

    const LAST: Date = date!(2026 - 03 - 01);
    const SCORED: DayRange = DayRange { first: date!(2025 - 12 - 02), last: LAST };

    /// A shop of 200 days with about 50 orders a day at 20 each, all through one platform.
    fn shop() -> Vec<DayTotals> {
        (0..200)
            .rev()
            .map(|back_days| {
                let orders = 50 + (back_days * 7) % 5;
                DayTotals {
                    gross_revenue: Decimal::from(orders * 20),
                    orders,
                    units: orders * 2,
                    customers: orders,
                    visitors: orders * 25,
                    ..DayTotals::quiet(back(LAST, back_days))
                }
            })
            .collect()
    }

    fn judged(days: &[DayTotals], holidays: BTreeSet<Date>) -> (Shop, Vec<Event>) {
        Shop::judged(days.to_vec(), holidays, SCORED, "America/Sao_Paulo".parse().unwrap())
    }

    fn with_parts(days: &[DayTotals], parts: &[PartTotals]) -> Vec<Finding> {
        let (shop, events) = judged(days, BTreeSet::new());
        shop.findings(&events, parts)
    }

    fn findings(days: &[DayTotals]) -> Vec<Finding> {
        with_parts(days, &[])
    }

    #[test]
    fn an_even_shop_has_no_anomalies() {
        assert_eq!(findings(&shop()), []);
    }

    #[test]
    fn a_day_of_half_the_orders_is_found_and_traced_to_conversion() {
        let mut days = shop();
        let day = &mut days[189];
        (day.orders, day.units, day.customers, day.gross_revenue) = (20, 40, 20, Decimal::from(400));
        let bad_day = day.day;
        let found = findings(&days);
        let revenue: Vec<_> = found.iter().filter(|finding| finding.metric == "gross_revenue").collect();
        assert_eq!(revenue.len(), 2, "{found:#?}");
        assert_eq!(
            (revenue[0].kind, revenue[0].day, revenue[0].direction),
            (Kind::Univariate, bad_day, Direction::Down)
        );
        assert_eq!(revenue[0].observed_value, 400.0);
        assert!((revenue[0].expected_value - 1040.0).abs() < 60.0 && revenue[0].z_score < -3.5);
        // The end of 19 February in São Paulo.
        assert_eq!((bad_day, revenue[0].detected_at), (date!(2026 - 02 - 19), datetime!(2026-02-20 03:00 UTC)));
        assert_eq!(revenue[1].kind, Kind::Correlated);
        assert!(revenue[1].inferred_cause.as_deref().unwrap().contains("became orders"), "{:?}", revenue[1]);
        assert_eq!((revenue[1].cause, revenue[0].cause), (Some(Cause::Conversion), None));
        assert_eq!((&*revenue[0].drivers[0].metric, &revenue[0].drivers), ("conversion", &revenue[1].drivers));
        assert!(revenue[1].confidence.is_some_and(|confidence| (0.5..=1.0).contains(&confidence)));
        assert!(revenue[1].correlated_metrics.iter().any(|other| other.metric == "conversion"));
        assert_eq!(revenue[0].correlated_metrics, []);
    }

    #[test]
    fn a_shop_that_stays_closed_is_one_event() {
        let mut days = shop();
        let open = days.len() - 60;
        days[open..].iter_mut().for_each(|day| *day = DayTotals::quiet(day.day));
        let told: BTreeSet<(String, Date)> =
            findings(&days).into_iter().map(|finding| (finding.metric, finding.span.first)).collect();
        assert_eq!(told, BTreeSet::from([("orders".to_owned(), days[open].day)]));
    }

    #[test]
    fn refunds_that_are_rare_are_told_of_when_they_are_large() {
        let mut days = shop();
        days[..180].iter_mut().step_by(10).for_each(|day| day.refunds = Decimal::from(20));
        days[189].refunds = Decimal::from(3_000);
        let (shop, events) = judged(&days, BTreeSet::new());
        let findings = shop.findings(&events, &[]);
        let stories = shop.stories(&findings, &Parts::new(&[]), Vec::new());
        let told: Vec<(String, Date)> = stories.iter().map(|story| (story.key(), story.peak)).collect();
        assert_eq!(told, [("refunds:up".to_owned(), days[189].day)], "{stories:#?}");
        let money = stories[0].money.unwrap();
        assert!((money.expected + 2_998.0).abs() < 5.0, "{money:?}");
    }

    #[test]
    fn a_product_that_is_sold_out_is_told_of_however_many_others_sell_more() {
        let days = shop();
        let mut parts: Vec<PartTotals> = Vec::new();
        for (at, day) in days.iter().enumerate() {
            for number in 0..30 {
                parts.push(part(day, Dimension::Product, &format!("P{number:02}"), 2));
            }
            if at < 180 {
                parts.push(part(day, Dimension::Product, "SMALL", 1));
            }
        }
        let (shop, _) = judged(&days, BTreeSet::new());
        let span = DayRange { first: days[180].day, last: days[189].day };
        let stock_out = StockOut { sku: "SMALL".to_owned(), span, is_on_order: false };
        let stories = shop.stories(&[], &Parts::new(&parts), vec![stock_out]);
        assert_eq!(stories.iter().map(Story::key).collect::<Vec<_>>(), ["stock_out:SMALL"]);
    }

    /// A part's `orders` of two units at ten each.
    fn part(day: &DayTotals, dimension: Dimension, value: &str, orders: i64) -> PartTotals {
        PartTotals {
            day: day.day,
            dimension,
            value: value.into(),
            gross_revenue: Decimal::from(orders * 20),
            refunds: Decimal::ZERO,
            orders,
            units: orders * 2,
            ad_spend: Decimal::ZERO,
            visitors: 0,
        }
    }

    #[test]
    fn a_part_that_is_the_whole_is_no_cause_and_one_of_several_is() {
        let mut days = shop();
        let bad_day = &mut days[189];
        (bad_day.orders, bad_day.units, bad_day.customers) = (20, 40, 20);
        (bad_day.gross_revenue, bad_day.visitors) = (Decimal::from(400), 0);
        for day in &mut days {
            day.visitors = 0;
        }
        let bad_day = days[189].day;
        let cause = |parts: &[PartTotals]| {
            with_parts(&days, parts)
                .into_iter()
                .find(|f| f.metric == "orders" && f.kind == Kind::Correlated)
                .and_then(|f| f.inferred_cause)
        };
        let whole: Vec<_> = days.iter().map(|day| part(day, Dimension::Country, "BR", day.orders)).collect();
        assert_eq!(cause(&whole), None);
        let lost = |day: &DayTotals| if day.day == bad_day { 0 } else { day.orders - 20 };
        let two: Vec<_> = days
            .iter()
            .flat_map(|day| [part(day, Dimension::Country, "AR", 20), part(day, Dimension::Country, "BR", lost(day))])
            .collect();
        assert!(cause(&two).unwrap_or_default().contains("Orders in Brazil"), "{:?}", cause(&two));
    }

    #[test]
    fn a_cause_is_traced_to_the_platform_within_a_country() {
        let mut days = shop();
        let bad_day = &mut days[189];
        (bad_day.orders, bad_day.units, bad_day.customers) = (30, 60, 30);
        (bad_day.gross_revenue, bad_day.visitors) = (Decimal::from(600), 0);
        for day in &mut days {
            day.visitors = 0;
        }
        let parts: Vec<_> = days
            .iter()
            .flat_map(|day| {
                // What is missing is missing in Brazil, on one of its platforms.
                let shopify = day.orders - 30;
                [
                    part(day, Dimension::Country, "AR", 10),
                    part(day, Dimension::Country, "BR", shopify + 20),
                    part(day, Dimension::CountryPlatform, "AR/shopify", 10),
                    part(day, Dimension::CountryPlatform, "BR/shopify", shopify),
                    part(day, Dimension::CountryPlatform, "BR/mercadolibre", 20),
                ]
            })
            .collect();
        let found = with_parts(&days, &parts);
        let cause = found.iter().find(|f| f.metric == "gross_revenue" && f.kind == Kind::Correlated);
        let cause = cause.unwrap_or_else(|| panic!("{found:#?}"));
        let said = cause.inferred_cause.as_deref().unwrap();
        assert!(said.contains("in Brazil on Shopify"), "{said}");
        assert_eq!(cause.cause, Some(Cause::Platform));
        let last = cause.drivers.iter().find(|driver| driver.level == 2).unwrap();
        assert_eq!((last.dimension, last.part.as_deref()), (Some(Dimension::CountryPlatform), Some("BR/shopify")));
        let place = "orders[country=BR,platform=shopify]";
        assert!(cause.correlated_metrics.iter().any(|metric| metric.metric == place), "{cause:#?}");
    }

    #[test]
    fn a_shop_that_closes_on_a_holiday_it_keeps_is_not_alarmed_then_or_later() {
        let mut days = shop();
        let christmas = days.iter_mut().find(|day| day.day == date!(2025 - 12 - 25)).unwrap();
        *christmas = DayTotals::quiet(christmas.day);
        let alarms = |holidays: BTreeSet<Date>| {
            judged(&days, holidays).1.into_iter().map(|(metric, event)| (metric, event.peak)).collect::<Vec<_>>()
        };
        assert!(alarms(BTreeSet::new()).contains(&(Metric::Orders, date!(2025 - 12 - 25))));
        let kept = holidays::of("BR", SCORED.first..=SCORED.last);
        assert_eq!(alarms(kept.clone()), []);
        // What comes after is judged as if the day had not been.
        let expected = |days: &[DayTotals]| {
            let mut lower = days.to_vec();
            (lower[189].orders, lower[189].gross_revenue) = (20, Decimal::from(400));
            let (_, events) = judged(&lower, kept.clone());
            let event = events.into_iter().find(|(metric, _)| *metric == Metric::Orders).unwrap().1;
            (event.peak, event.score.expected, event.score.z_score)
        };
        assert_eq!(expected(&days), expected(&shop()));
    }

    #[test]
    fn a_closed_day_is_one_anomaly_of_orders() {
        let mut days = shop();
        let bad_day = days[189].day;
        days[189] = DayTotals { ad_spend: Decimal::from(30), ..DayTotals::quiet(bad_day) };
        let found = findings(&days);
        let [only] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!((&*only.metric, only.kind, only.day), ("orders", Kind::Univariate, bad_day));
        assert_eq!((only.cause, only.direction), (Some(Cause::ClosedDay), Direction::Down));
        assert!(only.inferred_cause.as_deref().unwrap().contains("about 52 orders"), "{only:?}");
        // Visited as ever and nothing sold: the shop was open.
        days[189].visitors = 1_300;
        let found = findings(&days);
        let orders = found.iter().find(|f| f.metric == "orders" && f.kind == Kind::Correlated).unwrap();
        assert_eq!(orders.cause, Some(Cause::Conversion), "{orders:?}");
        assert!(found.iter().any(|f| f.metric == "gross_revenue"));
    }

    /// A shop whose takings vary much and whose ads and goods cost what they cost: on one day it takes much more.
    #[test]
    fn takings_outside_their_interval_are_an_event_where_profit_is_one() {
        let mut days = shop();
        for (at, day) in days.iter_mut().enumerate() {
            let gross = if at == 189 { 1_750 } else { [1_000, 1_400, 1_050, 650, 1_150, 900, 1_300][at % 9 % 7] };
            (day.gross_revenue, day.cogs) = (Decimal::from(gross), Decimal::from(gross * 7 / 10));
            if at != 189 {
                // Of what is taken more on an ordinary day the costs take all: profit is steady.
                day.cogs = Decimal::from(gross - 300 - i64::try_from(at % 5).unwrap());
            }
        }
        let found = findings(&days);
        let on_that_day: Vec<_> = found
            .iter()
            .filter(|f| f.day == days[189].day && f.kind == Kind::Univariate)
            .map(|f| (&*f.metric, f.z_score.abs() >= 3.5, f.severity))
            .collect();
        assert!(on_that_day.iter().any(|(metric, alone, _)| *metric == "profit" && *alone), "{on_that_day:?}");
        assert!(on_that_day.contains(&("gross_revenue", false, Severity::Medium)), "{on_that_day:?}");
    }

    #[test]
    fn every_metric_has_its_expected_value_on_every_day_that_is_kept() {
        let mut days = shop();
        let bad_day = days[189].day;
        days[189] = DayTotals::quiet(bad_day);
        let (shop, events) = judged(&days, BTreeSet::new());
        let all = expected::days(&days, &shop, &Observed::new());
        assert_eq!(all.len(), Metric::ALL.len() * days.len());
        let of = |metric: Metric, day: Date| *all.iter().find(|one| one.metric == metric && one.day == day).unwrap();
        // Too little is known before the first days, and nothing is divided by nothing.
        assert_eq!(of(Metric::Orders, days[3].day).expected, None);
        assert_eq!(of(Metric::Aov, bad_day).observed, None);
        let orders = of(Metric::Orders, bad_day);
        let event = events.iter().find(|(metric, _)| *metric == Metric::Orders).unwrap().1;
        let expected = orders.expected.unwrap();
        assert_eq!((orders.observed, expected.value), (Some(0.0), event.score.expected));
        assert_eq!((expected.low, expected.high), (event.score.interval.low, event.score.interval.high));
        // What the closed day cost can be told: sales of about 52 orders at 20.
        let sales = of(Metric::GrossRevenue, bad_day).expected.unwrap();
        assert!(
            (sales.value - 1040.0).abs() < 60.0 && sales.low < sales.value && sales.value < sales.high,
            "{sales:?}"
        );
        // Later runs bring the scored days up to date, as long as the others are there and as they were.
        let mut kept: Observed = all.iter().map(|one| ((one.metric, one.day), one.observed)).collect();
        kept.retain(|(_, day), _| *day < SCORED.first);
        let again = expected::days(&days, &shop, &kept);
        assert_eq!(again.len(), Metric::ALL.len() * 90);
        assert!(again.iter().all(|day| day.day >= SCORED.first && all.contains(day)));
        // A history that came late.
        days[20].orders += 1;
        assert_eq!(expected::days(&days, &shop, &kept).len(), all.len());
        days[20].orders -= 1;
        let holiday = Shop { holidays: [bad_day].into(), ..shop };
        let none = expected::days(&days, &holiday, &Observed::new());
        assert!(none.iter().filter(|one| one.day == bad_day).all(|one| one.expected.is_none()));
    }

    #[test]
    fn short_or_absurd_histories_give_nothing_or_finite_numbers() {
        let mut days = shop();
        assert_eq!(findings(&days[..10]), []);
        assert_eq!(findings(&[]), []);
        for (at, day) in days.iter_mut().enumerate() {
            day.gross_revenue = if at % 3 == 0 { Decimal::from(i64::MAX) } else { Decimal::ZERO };
            day.ad_spend = Decimal::new(1, 6);
            day.visitors = i64::MAX * i64::from(at % 2 == 0);
        }
        for finding in findings(&days) {
            assert!(finding.observed_value.is_finite() && finding.z_score.is_finite(), "{finding:?}");
        }
    }
}
