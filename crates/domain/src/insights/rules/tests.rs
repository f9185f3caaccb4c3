use rust_decimal::dec;
use time::{
    Duration,
    macros::{date, datetime},
};

use super::{
    super::{
        facts::{CriticalItem, SegmentFact, Stored},
        grounding::{Writing, check},
    },
    *,
};
use crate::{accounts::Platform, profit::Basis};

fn facts(stored: Stored) -> Facts {
    Facts { currency: "USD".parse().unwrap(), days: vec![], stored }
}

/// Sixty days of the same sums, then changed in the last thirty.
fn days(change: impl Fn(&mut DayTotals)) -> Vec<DayTotals> {
    let first = date!(2026 - 01 - 01);
    (0..60)
        .map(|at| {
            let mut day = DayTotals {
                gross_revenue: dec!(100),
                cogs: dec!(40),
                ad_spend: dec!(10),
                new_customers: 2,
                ..DayTotals::quiet(first + Duration::days(at))
            };
            if at >= 30 {
                change(&mut day);
            }
            day
        })
        .collect()
}

fn fingerprints(facts: &Facts) -> Vec<String> {
    draft(facts).into_iter().map(|draft| draft.fingerprint).collect()
}

fn drop_of(metric: Metric, cause: Option<&str>) -> AnomalyFact {
    AnomalyFact {
        metric: metric.as_str().to_owned(),
        day: date!(2026 - 02 - 19),
        observed: 400.0,
        expected: 1_040.0,
        direction: Direction::Down,
        severity: Severity::High,
        is_shift: false,
        cause: cause.map(str::to_owned),
    }
}

#[test]
fn a_shop_without_results_has_no_insights() {
    assert_eq!(draft(&facts(Stored::default())), []);
}

#[test]
fn an_anomaly_is_told_with_its_numbers_and_no_cause_that_was_not_found() {
    let anomalies = vec![drop_of(Metric::GrossRevenue, None), drop_of(Metric::Orders, None)];
    let found = draft(&facts(Stored { anomalies, ..Stored::default() }));
    assert_eq!(found.len(), 1, "orders follow from revenue");
    assert_eq!(found[0].title, "Gross revenue below what was expected on 2026-02-19");
    assert_eq!(found[0].body, "400.00 USD on 2026-02-19 where 1040.00 USD was expected. The data does not tell why.");
    assert_eq!(found[0].impact_estimate, "640.00 USD below the expected value on that day");
    assert!(!found[0].body.contains("because"));
}

#[test]
fn of_the_deviations_of_a_metric_the_newest_notable_one_is_told() {
    let on = |day, direction, severity| AnomalyFact { day, direction, severity, ..drop_of(Metric::Aov, None) };
    let [newest, older] = [date!(2026 - 02 - 25), date!(2026 - 02 - 24)];
    let anomalies = vec![
        on(newest, Direction::Down, Severity::Low),
        on(older, Direction::Down, Severity::Medium),
        on(newest, Direction::Up, Severity::Critical),
        on(older, Direction::Up, Severity::High),
    ];
    let found: Vec<_> = draft(&facts(Stored { anomalies, ..Stored::default() })).into_iter().map(|d| d.title).collect();
    let title = |side, day| format!("Average order value {side} what was expected on {day}");
    assert_eq!(found, [title("below", older), title("above", newest)]);
}

#[test]
fn a_cause_that_was_found_is_told() {
    let anomalies = vec![drop_of(Metric::Profit, Some("conversion 60 % below what was expected"))];
    let found = draft(&facts(Stored { anomalies, ..Stored::default() }));
    assert!(found[0].body.ends_with("Conversion 60 % below what was expected."), "{}", found[0].body);
}

#[test]
fn even_periods_and_short_histories_are_no_news() {
    let even = Facts { days: days(|_| ()), ..facts(Stored::default()) };
    assert_eq!(fingerprints(&even), [""; 0]);
    let mut short = Facts { days: days(|day| day.cogs = dec!(99)), ..facts(Stored::default()) };
    short.days.remove(0);
    assert_eq!(fingerprints(&short), [""; 0]);
}

#[test]
fn a_fall_of_profit_is_told_with_both_periods() {
    // 50 a day before (1,500), 30 a day after (900).
    let fell = Facts { days: days(|day| day.cogs = dec!(60)), ..facts(Stored::default()) };
    let found = draft(&fell);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].body,
        "Profit was 900.00 USD after 1500.00 USD in the 30 days before. Net revenue went from 3000.00 USD to 3000.00 USD, \
         all costs together from 1500.00 USD to 2100.00 USD."
    );
    assert_eq!(
        (found[0].severity, found[0].impact_estimate.as_str()),
        (Severity::Medium, "600.00 USD less profit in 30 days")
    );
}

#[test]
fn what_is_estimated_of_goods_that_came_back_is_said() {
    let fell = days(|day| {
        day.cogs = dec!(60);
        day.basis =
            Basis { returned_units: 2, returned_cogs: dec!(1.5), returned_fees: dec!(0.25), ..Basis::default() };
    });
    let found = draft(&Facts { days: fell, ..facts(Stored::default()) });
    // 30 × 1.75.
    let said = " An estimated 52.50 USD is taken off these costs for goods that came back.";
    assert!(found[0].body.ends_with(said), "{}", found[0].body);
}

/// More was refunded than was sold: there is a loss to tell of, and no margin.
#[test]
fn without_net_revenue_no_text_has_a_margin() {
    let refunded = days(|day| day.refunds = dec!(250));
    let sums = Sums::of_days(&refunded[30..]);
    assert_eq!((sums.components.net_revenue(), Metric::Margin.of(&sums)), (dec!(-4500), None));
    let found = draft(&Facts { days: refunded, ..facts(Stored::default()) });
    assert_eq!(found.iter().map(|draft| &*draft.fingerprint).collect::<Vec<_>>(), ["profit:loss"]);
    for text in [&found[0].title, &found[0].body, &found[0].suggested_action, &found[0].impact_estimate] {
        assert!(!text.contains("margin") && !text.contains('%'), "{text}");
    }
}

#[test]
fn a_loss_weighs_more_than_a_fall() {
    let loss = Facts { days: days(|day| day.cogs = dec!(95)), ..facts(Stored::default()) };
    let found = &draft(&loss)[0];
    assert_eq!((found.fingerprint.as_str(), found.severity), ("profit:loss", Severity::High));
}

#[test]
fn dearer_ads_are_told_by_their_return_and_by_customer() {
    let dear = Facts { days: days(|day| day.ad_spend = dec!(20)), ..facts(Stored::default()) };
    // Profit falls from 50 to 40 a day, by a fifth and not by more.
    assert_eq!(fingerprints(&dear), ["ads:roas", "ads:cac"]);
}

#[test]
fn stock_that_is_gone_or_going_is_told_with_its_skus() {
    let item =
        |sku: &str, current_stock, units_sold_30d| CriticalItem { sku: sku.into(), current_stock, units_sold_30d };
    let mut critical = vec![item("little", 0, 1), item("never", 0, 0), item("owed", -2, 9)];
    critical.extend((0..7).map(|at| item(&format!("S{at}"), 1, 0)));
    let found = draft(&facts(Stored { critical, reorders: 3, ..Stored::default() }));
    assert_eq!(found[0].title, "2 products that sell are out of stock");
    assert_eq!(found[0].body, "No stock is left of \"owed\", \"little\"; each sold in the last 30 days.");
    assert_eq!(
        found[1].body,
        "At the present rate the stock of \"S0\", \"S1\", \"S2\", \"S3\", \"S4\" and 2 more lasts for 7 days at most."
    );
    assert_eq!(found[2].fingerprint, "inventory:reorder");
}

#[test]
fn customers_at_risk_are_weighed_by_what_they_spent() {
    let segment = |segment, customers, revenue| SegmentFact { segment, customers, revenue };
    let segments = vec![segment(Segment::Vip, 10, dec!(750)), segment(Segment::AtRisk, 4, dec!(250))];
    let found = draft(&facts(Stored { segments, ..Stored::default() }));
    assert_eq!((found[0].category, found[0].severity), (Category::ChurnRisk, Severity::High));
    assert!(found[0].body.starts_with("They spent 250.00 USD so far, 25 % of"), "{}", found[0].body);
}

#[test]
fn every_stale_shop_is_a_situation_of_its_own() {
    let shop = |name: &str| StaleShop {
        provider: Platform::Shopify,
        shop: name.into(),
        last_sync_at: datetime!(2026-02-01 10:00 UTC),
    };
    let stale_shops = vec![shop("a.example.com"), shop("b.example.com")];
    let found = fingerprints(&facts(Stored { stale_shops, ..Stored::default() }));
    assert_eq!(found, ["integrations:stale:shopify:a.example.com", "integrations:stale:shopify:b.example.com"]);
}

#[test]
fn the_texts_of_the_rules_pass_the_check_of_models_texts() {
    let segment = |segment, customers, revenue| SegmentFact { segment, customers, revenue };
    let item = |at: i64| CriticalItem { sku: format!("S-{at} 99 % off"), current_stock: at, units_sold_30d: 3 };
    let metrics = [Metric::GrossRevenue, Metric::Profit, Metric::Roas, Metric::Conversion, Metric::NewCustomers];
    let stored = Stored {
        anomalies: metrics
            .into_iter()
            .flat_map(|metric| {
                let cause = drop_of(metric, Some("ads [meta] 60 % below what was expected"));
                [drop_of(metric, None), AnomalyFact { direction: Direction::Up, ..cause }]
            })
            .collect(),
        critical: (0..8).map(item).collect(),
        reorders: 3,
        segments: vec![segment(Segment::Vip, 10, dec!(750)), segment(Segment::AtRisk, 4, dec!(250.55))],
        stale_shops: vec![StaleShop {
            provider: Platform::Shopify,
            shop: "a.example.com".into(),
            last_sync_at: datetime!(2026-02-01 10:00 UTC),
        }],
    };
    let dear = days(|day| {
        day.ad_spend = dec!(33.335);
        day.cogs = dec!(95);
        day.basis.returned_cogs = dec!(1.115);
    });
    let found = draft(&Facts { days: dear, ..facts(stored) });
    assert_eq!(found.len(), 10 + 3 + 5);
    for draft in found {
        let checked = check(&(&draft).into(), &draft.grounds, Writing::ENGLISH);
        assert_eq!(checked, Ok(()), "{draft:?}");
    }
}
