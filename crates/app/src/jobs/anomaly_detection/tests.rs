use domain::{
    daily::Dimension,
    metric_days::{MetricDay, Observed},
    stories::{StockOut, Story},
};
use rust_decimal::Decimal;
use time::macros::{date, datetime};

use super::*;

const LAST: Date = date!(2026 - 03 - 01);
const SCORED: DayRange = DayRange { first: date!(2025 - 12 - 02), last: LAST };

/// A shop of 200 days with about 50 orders a day at 20 each, all through one platform.
fn shop() -> Vec<DayTotals> {
    shop_of(200)
}

fn shop_of(days: i64) -> Vec<DayTotals> {
    (0..days)
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
    assert_eq!((revenue[0].kind, revenue[0].day, revenue[0].direction), (Kind::Univariate, bad_day, Direction::Down));
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
fn a_product_that_is_out_of_stock_is_told_of_however_many_others_sell_more() {
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

#[test]
fn a_day_without_an_order_is_no_event_where_few_come() {
    let mut days = shop();
    for (day, orders) in days.iter_mut().zip([3, 4, 2, 5, 3, 6, 4, 2, 5, 1, 4, 3].into_iter().cycle()) {
        let gross_revenue = Decimal::from(orders * 20);
        *day = DayTotals { gross_revenue, orders, units: orders * 2, customers: orders, ..DayTotals::quiet(day.day) };
    }
    let quiet = days[189].day;
    days[189] = DayTotals::quiet(quiet);
    let found = |days: &[DayTotals]| -> Vec<String> {
        let of_day = findings(days).into_iter().filter(|finding| finding.span.first == quiet);
        of_day.map(|finding| finding.metric).collect()
    };
    assert_eq!(found(&days), [""; 0]);
    // What was paid back on it is one.
    days[189].refunds = Decimal::from(3_000);
    let told = found(&days);
    let has = |told: &[String], metric: &str| told.iter().any(|of| of == metric);
    assert!(has(&told, "profit") && !has(&told, "units") && !has(&told, "gross_revenue"), "{told:?}");
    // So is what was spent on ads that sold nothing, and an expense that is larger than ever, unlike one of every day.
    days[189] = DayTotals { ad_spend: Decimal::from(3_000), ..DayTotals::quiet(quiet) };
    assert!(has(&found(&days), "profit"));
    days[189] = DayTotals { extra_expenses: Decimal::from(3_000), ..DayTotals::quiet(quiet) };
    assert!(has(&found(&days), "profit"));
    days[189] = DayTotals::quiet(quiet);
    days.iter_mut().for_each(|day| day.extra_expenses = Decimal::from(2));
    assert_eq!(found(&days), [""; 0]);
}

#[test]
fn rent_that_is_as_large_as_before_is_no_event_of_profit() {
    for of_every_day in [0, 20] {
        let mut days = shop();
        for (at, day) in days.iter_mut().enumerate() {
            day.cogs = day.gross_revenue / Decimal::TWO;
            day.extra_expenses = Decimal::from(if at % 30 == 10 { 900 + of_every_day } else { of_every_day });
        }
        let told = |days: &[DayTotals]| -> Vec<String> {
            let of_day = findings(days).into_iter().filter(|finding| finding.day == days[190].day);
            of_day.map(|finding| finding.metric).collect()
        };
        assert_eq!(told(&days), [""; 0]);
        let mut more = days.clone();
        more[190].extra_expenses += Decimal::from(300);
        let found = told(&more);
        assert!(["profit", "margin"].iter().all(|metric| found.iter().any(|of| of == metric)), "{found:?}");
        assert!(told(&half_sold(&days, 190)).iter().any(|of| of == "profit"));
    }
}

#[test]
fn expenses_of_every_week_hide_no_loss_of_sales() {
    let mut days = shop();
    for (at, day) in days.iter_mut().enumerate() {
        day.cogs = day.gross_revenue / Decimal::TWO;
        day.extra_expenses = Decimal::from(if at % 7 == 190 % 7 { 900 } else { 0 });
    }
    let half = half_sold(&days, 190);
    let is_told =
        |days: &[DayTotals]| findings(days).iter().any(|found| found.metric == "profit" && found.day == half[190].day);
    assert!(is_told(&half) && !is_told(&days));
}

/// The same with half of the sales and of their goods on one day.
fn half_sold(days: &[DayTotals], at: usize) -> Vec<DayTotals> {
    let mut days = days.to_vec();
    let day = &mut days[at];
    (day.gross_revenue, day.cogs) = (day.gross_revenue / Decimal::TWO, day.cogs / Decimal::TWO);
    days
}

#[test]
fn a_shop_that_began_to_count_visits_lately_is_closed_when_hardly_anybody_comes() {
    let mut days = shop();
    days[..150].iter_mut().for_each(|day| day.visitors = 0);
    days[189] = DayTotals { visitors: 40, ..DayTotals::quiet(days[189].day) };
    let found = findings(&days);
    let orders = found.iter().find(|f| f.metric == "orders" && f.day == days[189].day).unwrap();
    assert_eq!(orders.cause, Some(Cause::ClosedDay), "{orders:?}");
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
fn takings_are_the_same_event_whichever_of_its_days_departs_most() {
    let mut days = shop();
    (days[188].gross_revenue, days[189].gross_revenue) = (Decimal::from(3_000), Decimal::from(4_000));
    let (shop, events) = judged(&days, BTreeSet::new());
    let (_, any) = events[0];
    let of = |first: usize, last: usize, peak: usize| Anomaly {
        first: days[first].day,
        last: days[last].day,
        peak: days[peak].day,
        ..any
    };
    let behind = |found: &[Event]| -> Vec<(Metric, Date, Date)> {
        shop.takings_behind(found).into_iter().map(|(metric, event)| (metric, event.first, event.last)).collect()
    };
    let both = [(Metric::GrossRevenue, days[188].day, days[189].day)];
    for peak in [188, 189] {
        assert_eq!(behind(&[(Metric::Profit, of(188, 189, peak))]), both);
    }
    assert_eq!(behind(&[(Metric::NetRevenue, of(188, 189, 188)), (Metric::Profit, of(188, 189, 189))]), both);
    // What is told of a day is not told again.
    let told = (Metric::GrossRevenue, of(188, 188, 188));
    let rest = [(Metric::GrossRevenue, days[189].day, days[189].day)];
    assert_eq!(behind(&[told, (Metric::Profit, of(188, 189, 189))]), rest);
    assert_eq!(behind(&[told, (Metric::Profit, of(188, 189, 188))]), []);
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
    assert!((sales.value - 1040.0).abs() < 60.0 && sales.low < sales.value && sales.value < sales.high, "{sales:?}");
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
fn a_closed_day_of_long_ago_teaches_nothing_either() {
    let mut days = shop_of(455);
    let closed = days[150].day;
    days[150] = DayTotals::quiet(closed);
    let later = |holidays: BTreeSet<Date>| -> Vec<MetricDay> {
        let (shop, _) = judged(&days, holidays);
        let kept = expected::days(&days, &shop, &Observed::new()).into_iter();
        kept.filter(|one| one.metric == Metric::GrossRevenue && one.day > closed).collect()
    };
    let taught = later(BTreeSet::new());
    assert_eq!((taught.len(), &taught), (304, &later(BTreeSet::from([closed]))));
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
