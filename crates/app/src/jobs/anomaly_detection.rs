//! The job `anomaly_detection`: days on which a metric was not what its history led one to expect, and why.

mod causes;

use std::{collections::BTreeSet, sync::Arc};

use analytics::{
    detector::{DailySeries, HISTORY_DAYS, Shape, scan},
    holidays,
    severity::Severity as Grade,
};
use domain::{
    StoreError,
    anomalies::{Direction, Finding, Kind, Severity},
    daily::{DayTotals, PartTotals, without_gaps},
    jobs::Written,
    metrics::Metric,
    profit::DayRange,
    zone::Zone,
};
use time::{Date, Duration};

use super::{Work, off_thread};

/// Days that are scored by every run: as many as a client can ask for.
const SCORED_DAYS: i64 = 90;
/// Days before those on which a lasting change may have begun that goes on into them.
const LEAD_IN_DAYS: i64 = 40;
/// Days that are news: receivers are not told of what a first run finds in the past.
const NEWS_DAYS: i64 = 3;

pub(super) async fn run(work: &Work<'_>) -> Result<Written, StoreError> {
    let (account, last) = (work.account, work.claim.last_full_day());
    let scored = DayRange { first: back(last, SCORED_DAYS - 1), last };
    let history = i64::try_from(HISTORY_DAYS).unwrap_or(SCORED_DAYS);
    let read = DayRange { first: back(scored.first, LEAD_IN_DAYS + history), last };
    let days = without_gaps(&work.deps.daily.series(account.id, read).await?, read.first, last);
    let holidays = match &account.holiday_country {
        Some(country) => holidays::of(country.as_str(), read.first..=last),
        None => BTreeSet::new(),
    };
    let shop = Arc::new(Shop { days, holidays, scored, zone: account.timezone.clone() });
    let scanned = shop.clone();
    let events = off_thread(move || scanned.events()).await?;
    // The parts of a shop are many, and tell nothing but causes.
    let parts = match events.iter().map(|(_, event)| event.peak).collect::<BTreeSet<_>>() {
        none if none.is_empty() => Vec::new(),
        peaks => work.deps.daily.parts(account.id, read, peaks.into_iter().collect()).await?,
    };
    let findings = off_thread(move || shop.findings(&events, &parts)).await?;
    work.deps.anomalies.replace(work.claim, scored, back(last, NEWS_DAYS - 1), findings, (work.clock)()).await
}

fn back(day: Date, days: i64) -> Date {
    day.checked_sub(Duration::days(days)).unwrap_or(Date::MIN)
}

/// What is known of a shop's days.
struct Shop {
    /// One after the other, without gaps.
    days: Vec<DayTotals>,
    holidays: BTreeSet<Date>,
    scored: DayRange,
    zone: Zone,
}

/// An event of a metric.
type Event = (Metric, analytics::detector::Anomaly);

impl Shop {
    /// The events of every metric within the scored days.
    fn events(&self) -> Vec<Event> {
        let Some(first) = self.days.first().map(|day| day.day) else { return Vec::new() };
        let from = back(self.scored.first, LEAD_IN_DAYS);
        let mut found = Vec::new();
        for metric in Metric::ALL.iter().copied() {
            let values: Vec<Option<f64>> = self.days.iter().map(|day| metric.measured(day)).collect();
            let events = scan(DailySeries { first, values: &values }, &self.holidays, from);
            found.extend(events.into_iter().filter(|e| e.peak >= self.scored.first).map(|e| (metric, e)));
        }
        found
    }

    /// The events as they are told, each followed by its cause where one can be named.
    fn findings(&self, events: &[Event], parts: &[PartTotals]) -> Vec<Finding> {
        let told = events.iter().flat_map(|(metric, event)| {
            let finding = finding(*metric, event, &self.zone);
            let cause = causes::of(*metric, &finding, self, parts);
            [Some(finding), cause]
        });
        told.flatten().collect()
    }
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
    use domain::daily::Dimension;
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

    fn open(days: &[DayTotals]) -> Shop {
        Shop {
            days: days.to_vec(),
            holidays: BTreeSet::new(),
            scored: SCORED,
            zone: "America/Sao_Paulo".parse().unwrap(),
        }
    }

    fn findings(days: &[DayTotals]) -> Vec<Finding> {
        let shop = open(days);
        shop.findings(&shop.events(), &[])
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
        assert!(revenue[1].inferred_cause.as_deref().unwrap().contains("conversion"), "{:?}", revenue[1]);
        assert!(revenue[1].confidence.is_some_and(|confidence| (0.5..=1.0).contains(&confidence)));
        assert!(revenue[1].correlated_metrics.iter().any(|other| other.metric == "conversion"));
        assert_eq!(revenue[0].correlated_metrics, []);
    }

    /// A part's `orders` of two units at ten each.
    fn part(day: &DayTotals, dimension: Dimension, value: &str, orders: i64) -> PartTotals {
        PartTotals {
            day: day.day,
            dimension,
            value: value.into(),
            gross_revenue: Decimal::from(orders * 20),
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
            let shop = open(&days);
            let found = shop.findings(&shop.events(), parts);
            found
                .into_iter()
                .find(|f| f.metric == "orders" && f.kind == Kind::Correlated)
                .and_then(|f| f.inferred_cause)
        };
        let whole: Vec<_> = days.iter().map(|day| part(day, Dimension::Country, "BR", day.orders)).collect();
        assert!(!cause(&whole).unwrap_or_default().contains("country"), "{:?}", cause(&whole));
        let lost = |day: &DayTotals| if day.day == bad_day { 0 } else { day.orders - 20 };
        let two: Vec<_> = days
            .iter()
            .flat_map(|day| [part(day, Dimension::Country, "AR", 20), part(day, Dimension::Country, "BR", lost(day))])
            .collect();
        assert!(cause(&two).unwrap_or_default().contains("country BR"), "{:?}", cause(&two));
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
        let shop = open(&days);
        let found = shop.findings(&shop.events(), &parts);
        let cause = found.iter().find(|f| f.metric == "gross_revenue" && f.kind == Kind::Correlated);
        let cause = cause.unwrap_or_else(|| panic!("{found:#?}"));
        let said = cause.inferred_cause.as_deref().unwrap();
        assert!(said.contains("of country BR, platform shopify"), "{said}");
        let place = "orders[country=BR,platform=shopify]";
        assert!(cause.correlated_metrics.iter().any(|metric| metric.metric == place), "{cause:#?}");
    }

    #[test]
    fn a_shop_that_closes_on_a_holiday_it_keeps_is_not_alarmed_then_or_later() {
        let mut days = shop();
        let christmas = days.iter_mut().find(|day| day.day == date!(2025 - 12 - 25)).unwrap();
        *christmas = DayTotals::quiet(christmas.day);
        let alarms = |holidays: BTreeSet<Date>| {
            let shop = Shop { holidays, ..open(&days) };
            shop.events().into_iter().map(|(metric, event)| (metric, event.peak)).collect::<Vec<_>>()
        };
        assert!(alarms(BTreeSet::new()).contains(&(Metric::Orders, date!(2025 - 12 - 25))));
        let kept = holidays::of("BR", SCORED.first..=SCORED.last);
        assert_eq!(alarms(kept.clone()), []);
        // What comes after is judged as if the day had not been.
        let expected = |days: &[DayTotals]| {
            let mut lower = days.to_vec();
            (lower[189].orders, lower[189].gross_revenue) = (20, Decimal::from(400));
            let shop = Shop { holidays: kept.clone(), ..open(&lower) };
            let event = shop.events().into_iter().find(|(metric, _)| *metric == Metric::Orders).unwrap().1;
            (event.peak, event.score.expected, event.score.z_score)
        };
        assert_eq!(expected(&days), expected(&shop()));
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
