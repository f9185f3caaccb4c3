//! A figure is the same whoever is asked for it: the API, its files, alert rules, the anomaly detector, insights. What pages
//! show is held to the same definitions by tests of the dashboard.

use std::sync::Arc;

use api::State;
use domain::{
    AdEntityId,
    ads::{AdRow, CampaignSums, MockAdStore, Overview, Paired, Sums},
    alerts::{Comparator, Facts, Rule, RuleState, Terms, UncheckedTerms, evaluate},
    creatives::{Creative, MockCreativeStore},
    customer_metrics::Purchases,
    daily::DayTotals,
    insights::{self, Severity, draft},
    jobs::JobName,
    metric_days::{JudgedDay, MockMetricDayStore},
    metrics::{Metric, returns::OrderValue},
    money::Currency,
    page::Page,
    profit::{MockProfitStore, Snapshot},
    zone::Zone,
};
use proptest::prelude::*;
use rust_decimal::{Decimal, dec, prelude::ToPrimitive};
use serde_json::{Value, json};
use time::{Duration, macros::date};

use crate::{
    ads::{creative, row},
    support::{BOTH, NOW, Service, dated, freshness, state},
};

/// Days with profits and losses, on some of which more was given back than came in.
fn any_day() -> impl Strategy<Value = DayTotals> {
    let counts = (0i64..20, 0i64..5, 0i64..400);
    (proptest::collection::vec(0i64..200_000, 7), counts).prop_map(|(cents, (orders, new_customers, visitors))| {
        let money = |at: usize| Decimal::new(cents[at], 2);
        DayTotals {
            gross_revenue: if orders == 0 { dec!(0) } else { money(0) },
            refunds: money(1) / dec!(2),
            cogs: money(2) / dec!(4),
            fees: money(3) / dec!(20),
            shipping: money(4) / dec!(20),
            ad_spend: if orders % 3 == 0 { dec!(0) } else { money(5) / dec!(5) },
            extra_expenses: money(6) / dec!(50),
            orders,
            new_customers,
            visitors,
            ..DayTotals::quiet(date!(2026 - 05 - 02))
        }
    })
}

fn observed(metric: &str, facts: &Facts, currency: Currency) -> Option<Decimal> {
    let terms = Terms::new(UncheckedTerms {
        name: metric.into(),
        metric: metric.parse().unwrap(),
        comparator: Comparator::Lt,
        threshold: dec!(0),
        window_hours: 24,
        severity: Severity::Low,
        cooldown_hours: 0,
    });
    let (terms, state) = (terms.unwrap(), RuleState::NEW);
    let rule = Rule {
        id: domain::RuleId(1),
        terms,
        active: true,
        state,
        last_evaluated_at: None,
        created_at: NOW,
        updated_at: NOW,
    };
    evaluate(&rule, facts, currency, NOW).observed
}

/// The value of a metric as a number with so many decimals.
fn shown(metric: Metric, day: &DayTotals, times: f64, decimals: i32) -> Option<f64> {
    let scale = 10f64.powi(decimals);
    metric.measured(day).map(|value| (value * times * scale).round_ties_even() / scale)
}

fn same(a: Option<f64>, b: Option<f64>, decimals: i32) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1.001 * 10f64.powi(-decimals),
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn everyone_who_is_asked_for_a_figure_has_the_same(mut days in proptest::collection::vec(any_day(), 60)) {
        for (day, back) in days.iter_mut().rev().zip(0..) {
            day.day -= Duration::days(back);
        }
        let snapshot = |day: &DayTotals| {
            Snapshot { date: day.day, components: day.components(), basis: day.basis, lacks_rates: false }
        };
        let snapshots: Vec<Snapshot> = days.iter().rev().map(snapshot).collect();
        let mut profit = MockProfitStore::new();
        profit.expect_range().returning(move |_, _| Ok(dated(JobName::ProfitSnapshots, snapshots.clone())));
        // What the job keeps of each day.
        let kept = days.clone();
        let mut metric_days = MockMetricDayStore::new();
        metric_days.expect_range().returning(move |_, metric, _| {
            let judged = |day: &DayTotals| JudgedDay {
                day: day.day, observed: metric.measured(day), expected: None, anomaly: None,
            };
            Ok(dated(JobName::AnomalyDetection, kept.iter().rev().map(judged).collect()))
        });
        let service = Service::start(State { profit: Arc::new(profit), metric_days: Arc::new(metric_days), ..state() });
        let body = service.get("/api/v1/profit?days=60", BOTH).json();
        let of_metric = |name: &str| service.get(&format!("/api/v1/metrics?metric={name}&days=60"), BOTH).json()["data"].clone();
        for (metric, field, times, decimals) in
            [("profit", "final_profit", 1.0, 2), ("margin", "margin_pct", 100.0, 2), ("net_revenue", "net_revenue", 1.0, 2)]
        {
            let (of_metric, of_profit) = (of_metric(metric), body["data"].as_array().unwrap());
            for (judged, row) in of_metric.as_array().unwrap().iter().zip(of_profit) {
                let is_defined = metric != "margin" || row["margin_defined"] == true;
                let expected = row[field].as_f64().filter(|_| is_defined);
                let observed = judged["observed"].as_f64().map(|value| value * times);
                prop_assert!(same(observed, expected, decimals), "{metric}: {judged} {row}");
            }
        }
        let file = service.get("/api/v1/profit?days=60&format=csv", BOTH).text();
        let mut lines = file.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let columns = lines.next().unwrap();
        let currency: Currency = "USD".parse().unwrap();
        for ((day, row), cells) in days.iter().rev().zip(body["data"].as_array().unwrap()).zip(lines) {
            let cell = |name: &str| cells[columns.iter().position(|column| *column == name).unwrap()];
            let (margin, defined) = (row["margin_pct"].as_f64(), row["margin_defined"].as_bool().unwrap());
            prop_assert_eq!((cell("margin_pct").parse().ok(), cell("margin_defined")), (margin, if defined { "true" } else { "false" }));
            prop_assert_eq!(defined, day.gross_revenue > day.refunds);
            prop_assert!(defined || margin == Some(0.0));
            let of_days = Facts::Days { days: vec![*day], any_order: true, spend_is_complete: true };
            let of_orders = Facts::Orders {
                gross_revenue: day.gross_revenue, orders: day.orders, refunds: day.refunds, any_order: true,
            };
            let alert = |name: &str, facts: &Facts| observed(name, facts, currency).and_then(|value| value.to_f64());
            let number = |name: &str| row[name].as_f64();
            for (api, alert, anomaly, decimals) in [
                (margin.filter(|_| defined), alert("margin", &of_days), shown(Metric::Margin, day, 100.0, 2), 2),
                (number("final_profit"), alert("profit", &of_days), shown(Metric::Profit, day, 1.0, 2), 2),
                (number("ad_spend"), alert("ad_spend", &of_days), shown(Metric::AdSpend, day, 1.0, 2), 2),
                (number("gross_revenue"), alert("revenue", &of_orders), shown(Metric::GrossRevenue, day, 1.0, 2), 2),
                (number("refunds"), alert("refunds", &of_orders), shown(Metric::Refunds, day, 1.0, 2), 2),
                (number("purchase_count"), alert("orders", &of_orders), shown(Metric::Orders, day, 1.0, 0), 0),
            ] {
                prop_assert!(api == alert && same(api, anomaly, decimals), "{api:?} {alert:?} {anomaly:?}: {day:?}");
            }
            for (name, metric, facts, decimals) in
                [("roas", Metric::Roas, &of_days, 4), ("aov", Metric::Aov, &of_orders, 2)]
            {
                prop_assert!(same(alert(name, facts), shown(metric, day, 1.0, decimals), decimals), "{name}: {day:?}");
            }
        }
        let of_month = service.get("/api/v1/profit?days=60", BOTH).json()["totals"].clone();
        let of_days = Facts::Days { days: days.clone(), any_order: true, spend_is_complete: true };
        let alert = |name: &str, facts: &Facts| observed(name, facts, currency).and_then(|value| value.to_f64());
        prop_assert_eq!(of_month["final_profit"].as_f64(), alert("profit", &of_days));
        let margin = of_month["margin_defined"].as_bool().unwrap().then(|| of_month["avg_margin_pct"].as_f64().unwrap());
        prop_assert_eq!(margin, alert("margin", &of_days));

        // An insight on profit tells the profit of the last thirty days.
        let last = Facts::Days { days: days[30..].to_vec(), any_order: true, spend_is_complete: true };
        let stored = insights::Stored::default();
        let told = draft(&insights::Facts { last: days[59].day, zone: Zone::utc(), days: days.clone(), stored });
        if let Some(profit) = told.iter().find(|draft| draft.fingerprint.starts_with("profit:")) {
            let shown = figure(&profit.told, "profit");
            prop_assert!(same(shown, alert("profit", &last), 2), "{shown:?}: {:?}", profit.told);
        }
    }
}

/// A ratio by its definition; none where there is nothing to divide by.
fn quotient(part: impl Into<Decimal>, whole: impl Into<Decimal>) -> Option<f64> {
    let (part, whole) = (part.into().to_f64().unwrap(), whole.into().to_f64().unwrap());
    (whole > 0.0).then(|| part / whole)
}

/// A figure of an insight.
fn figure(told: &insights::Told, name: &str) -> Option<f64> {
    match told.figure(name)? {
        insights::Value::Money(value) | insights::Value::Ratio(value) => value.to_f64(),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The detector knows all of them; alert rules, insights and the figures of customers some.
    #[test]
    fn every_caller_of_a_ratio_has_what_its_definition_says(mut days in proptest::collection::vec(any_day(), 60)) {
        let currency: Currency = "USD".parse().unwrap();
        for (day, back) in days.iter_mut().rev().zip(0..) {
            day.day -= Duration::days(back);
            let defined = [
                (Metric::Aov, quotient(day.gross_revenue, day.orders)),
                (Metric::RefundRate, quotient(day.refunds, day.gross_revenue)),
                (Metric::Roas, quotient(day.gross_revenue, day.ad_spend)),
                (Metric::Cac, quotient(day.ad_spend, day.new_customers)),
                (Metric::Conversion, quotient(day.orders, day.visitors)),
            ];
            for (metric, expected) in defined {
                prop_assert!(same(metric.measured(day), expected, 9), "{metric}: {day:?}");
            }
            let [(_, aov), _, (_, roas), ..] = defined;
            let of_days = Facts::Days { days: vec![*day], any_order: true, spend_is_complete: true };
            let of_orders = Facts::Orders {
                gross_revenue: day.gross_revenue, orders: day.orders, refunds: day.refunds, any_order: true,
            };
            let alert = |name: &str, facts: &Facts| observed(name, facts, currency).and_then(|value| value.to_f64());
            prop_assert!(same(alert("aov", &of_orders), aov, 2), "{day:?}");
            prop_assert!(same(alert("roas", &of_days), roas, 4), "{day:?}");
            let customer = Purchases { orders: day.orders, gross: day.gross_revenue, ..Purchases::default() };
            prop_assert!(same(customer.revenue_per_order().to_f64(), aov.or(Some(0.0)), 6), "{day:?}");
        }

        // Ads that cost ten times as much return less, and so do new customers.
        for day in &mut days[30..] {
            day.ad_spend = day.ad_spend * dec!(10) + dec!(1000);
            day.new_customers += 1;
        }
        let last = &days[30..];
        let spend: Decimal = last.iter().map(|day| day.ad_spend).sum();
        let revenue: Decimal = last.iter().map(|day| day.gross_revenue).sum();
        let new: i64 = last.iter().map(|day| day.new_customers).sum();
        let stored = insights::Stored::default();
        let told = draft(&insights::Facts { last: days[59].day, zone: Zone::utc(), days: days.clone(), stored });
        for (fingerprint, name, expected) in [
            ("ads:roas", "roas", quotient(revenue, spend)),
            ("ads:cac", "cac", quotient(spend, new)),
        ] {
            let found = told.iter().find(|draft| draft.fingerprint == fingerprint);
            let shown = found.and_then(|draft| figure(&draft.told, name));
            prop_assert!(shown.is_some() && same(shown, expected, 2), "{fingerprint}: {found:?}, {expected:?}");
        }
    }
}

/// What ads brought and cost, all of it told.
fn any_sums() -> impl Strategy<Value = Sums> {
    let counts = (0i64..100_000, 0i64..2_000, 0i64..50);
    (0i64..500_000, 0i64..2_000_000, counts).prop_map(|(spend, revenue, (impressions, clicks, purchases))| {
        let spend = if clicks % 4 == 0 { dec!(0) } else { Decimal::new(spend, 2) };
        Sums {
            spend: Some(spend),
            impressions: Some(impressions),
            clicks: Some(clicks),
            purchases: Some(purchases),
            revenue: Some(if purchases == 0 { dec!(0) } else { Decimal::new(revenue, 2) }),
            paired: Paired {
                clicks_of_shown: clicks,
                shown_of_clicked: impressions,
                spend_of_shown: spend,
                spend_of_clicked: spend,
                spend_of_purchased: spend,
                spend_of_returned: spend,
                shown_of_spent: impressions,
                clicks_of_spent: clicks,
                purchases_of_spent: purchases,
            },
        }
    })
}

fn with_ads(sums: Sums, day: &DayTotals) -> Service {
    let mut ads = MockAdStore::new();
    ads.expect_overview().returning(move |_, _| Ok(Overview { totals: sums, ..Overview::default() }));
    ads.expect_page().returning(move |_, _, _| Ok(Page { items: vec![AdRow { sums, ..row(238) }], next_cursor: None }));
    let mut creatives = MockCreativeStore::new();
    creatives.expect_freshness().returning(|_| Ok(freshness(JobName::CreativeWinners)));
    creatives
        .expect_page()
        .returning(move |_, _, _| Ok(Page { items: vec![Creative { sums, ..creative() }], next_cursor: None }));
    let snapshot = Snapshot { date: day.day, components: day.components(), basis: day.basis, lacks_rates: false };
    let mut profit = MockProfitStore::new();
    profit.expect_range().returning(move |_, _| Ok(dated(JobName::ProfitSnapshots, vec![snapshot])));
    Service::start(State { ads: Arc::new(ads), creatives: Arc::new(creatives), profit: Arc::new(profit), ..state() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// The list of ads, its totals and its file, creatives, and the return by which campaigns are judged.
    #[test]
    fn every_caller_of_a_ratio_of_ads_has_what_its_definition_says(sums in any_sums(), day in any_day()) {
        let Sums { spend: Some(spend), impressions: Some(impressions), clicks: Some(clicks), .. } = sums else { panic!() };
        let (purchases, revenue) = (sums.purchases.unwrap(), sums.revenue.unwrap());
        let service = with_ads(sums, &day);
        let body = service.get("/api/v1/ads", BOTH).json();
        let creatives = service.get("/api/v1/creatives", BOTH).json();
        let file = service.get("/api/v1/ads?format=csv&limit=1", BOTH).text();
        let mut lines = file.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let (columns, cells) = (lines.next().unwrap(), lines.next().unwrap());
        let cell = |name: &str| cells[columns.iter().position(|column| *column == name).unwrap()].parse::<f64>().ok();
        let roas = quotient(revenue, spend);
        for (name, expected, decimals) in [
            ("ctr", quotient(clicks, impressions), 4),
            ("cpc", quotient(spend, clicks), 2),
            ("cpm", quotient(spend * dec!(1000), impressions), 2),
            ("cpa", quotient(spend, purchases), 2),
            ("roas", roas, 4),
        ] {
            let [row, totals] = [&body["data"][0][name], &body["totals"][name]].map(Value::as_f64);
            prop_assert!(row == totals && row == cell(name) && same(row, expected, decimals), "{name}: {sums:?} {body}");
            if ["ctr", "roas"].contains(&name) {
                prop_assert_eq!(creatives["data"][0][name].as_f64(), row);
            }
        }

        let net = day.gross_revenue - day.refunds;
        let totals = &body["totals"];
        prop_assert!(same(totals["store_revenue"].as_f64(), net.to_f64(), 2), "{day:?} {totals}");
        prop_assert!(same(totals["mer"].as_f64(), quotient(net, spend), 4), "{sums:?} {day:?} {totals}");
        let tacos = quotient(spend, net).filter(|_| spend > dec!(0));
        prop_assert!(same(totals["tacos"].as_f64(), tacos, 4), "{sums:?} {day:?} {totals}");

        // Without revenue, a campaign is judged by what it may bring.
        if revenue > dec!(0) {
            let campaign = CampaignSums {
                id: AdEntityId(238),
                platform: "meta".into(),
                name: "Prospecting".into(),
                is_active: true,
                last_spent: Some(day.day),
                spend: sums.spend,
                purchases: sums.purchases,
                revenue: sums.revenue,
            };
            let claimed = campaign.claimed_return(OrderValue { mean: 20.0, spread: 0.5 }).map(|found| found.expected);
            prop_assert!(same(claimed, roas, 6), "{claimed:?} {roas:?}");
        }
    }
}

#[test]
fn a_loss_over_negative_net_revenue_has_no_margin() {
    let day = DayTotals { refunds: dec!(100), ad_spend: dec!(50), ..DayTotals::quiet(date!(2026 - 05 - 02)) };
    let snapshot = Snapshot { date: day.day, components: day.components(), basis: day.basis, lacks_rates: false };
    let mut profit = MockProfitStore::new();
    profit.expect_range().returning(move |_, _| Ok(dated(JobName::ProfitSnapshots, vec![snapshot])));
    let service = Service::start(State { profit: Arc::new(profit), ..state() });
    let body = service.get("/api/v1/profit?days=1", BOTH).json();
    let shown =
        |of: &Value, margin: &str| (of["final_profit"].clone(), of[margin].clone(), of["margin_defined"].clone());
    let expected = (json!(-150.0), json!(0.0), json!(false));
    assert_eq!(shown(&body["data"][0], "margin_pct"), expected);
    assert_eq!(shown(&body["totals"], "avg_margin_pct"), expected);
}
