use rust_decimal::dec;
use time::{
    Duration,
    macros::{date, datetime},
};

use super::{
    super::{
        Wording,
        facts::{CriticalItem, SegmentFact, Stored},
        grounding,
    },
    *,
};
use crate::{
    accounts::Platform,
    anomalies::Direction,
    profit::Basis,
    texts::{Locale, Texts, tests::locale},
};

fn facts(stored: Stored) -> Facts {
    Facts { days: vec![], stored }
}

fn usd() -> crate::money::Currency {
    "USD".parse().unwrap()
}

fn told(facts: &Facts) -> Vec<Wording> {
    let texts = Texts::of(Locale::ENGLISH).as_of(date!(2026 - 03 - 01));
    draft(facts).iter().map(|draft| draft.told.wording(&texts, usd())).collect()
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
        lever: None,
    }
}

#[test]
fn a_closed_day_is_told_of_orders() {
    let cause = "the shop sold nothing that day, where about 44 orders are usual";
    let closed = AnomalyFact { lever: Some(Cause::ClosedDay), ..drop_of(Metric::Orders, Some(cause)) };
    let found = told(&facts(Stored { anomalies: vec![closed], ..Stored::default() }));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].body.ends_with("The shop sold nothing that day, where about 44 orders are usual."));
}

#[test]
fn a_shop_without_results_has_no_insights() {
    assert_eq!(draft(&facts(Stored::default())), []);
}

#[test]
fn an_anomaly_is_told_with_its_numbers_and_no_cause_that_was_not_found() {
    let anomalies = vec![drop_of(Metric::GrossRevenue, None), drop_of(Metric::Orders, None)];
    let found = told(&facts(Stored { anomalies, ..Stored::default() }));
    assert_eq!(found.len(), 1, "orders follow from revenue");
    assert_eq!(found[0].title, "Sales far below normal on Thursday 19 February");
    assert_eq!(
        found[0].body,
        "You sold 400 USD on Thursday 19 February; about 1,040 USD would be normal. The data does not tell why."
    );
    assert_eq!(found[0].impact_estimate, "640 USD less than normal that day");
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
    let found = draft(&facts(Stored { anomalies, ..Stored::default() }));
    let days: Vec<_> = found.iter().map(|draft| (draft.fingerprint.as_str(), draft.told.figure("day"))).collect();
    assert_eq!(days, [("anomaly:aov:down", Some(&Value::Date(older))), ("anomaly:aov:up", Some(&Value::Date(newest)))]);
}

#[test]
fn a_cause_that_was_found_is_told() {
    let anomalies = vec![drop_of(Metric::Profit, Some("conversion 60 % below what was expected"))];
    let found = told(&facts(Stored { anomalies, ..Stored::default() }));
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
    let found = told(&fell);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].body,
        "Over the last 30 days profit was 900 USD, after 1,500 USD in the 30 days before. Net revenue went from 3,000 USD \
         to 3,000 USD, all costs together from 1,500 USD to 2,100 USD."
    );
    assert_eq!(found[0].impact_estimate, "600 USD less profit in 30 days");
    assert_eq!(draft(&fell)[0].severity, Severity::Medium);
}

#[test]
fn what_is_estimated_of_goods_that_came_back_is_said() {
    let fell = days(|day| {
        day.cogs = dec!(60);
        day.basis =
            Basis { returned_units: 2, returned_cogs: dec!(1.5), returned_fees: dec!(0.25), ..Basis::default() };
    });
    let found = told(&Facts { days: fell, ..facts(Stored::default()) });
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
    let refunded = Facts { days: refunded, ..facts(Stored::default()) };
    let [loss] = &*draft(&refunded) else { panic!("one insight") };
    assert_eq!(loss.fingerprint, "profit:loss");
    let Wording { title, body, suggested_action, impact_estimate } = &told(&refunded)[0];
    for text in [title, body, suggested_action, impact_estimate] {
        assert!(!text.contains("margin") && !text.contains('%'), "{text}");
    }
}

#[test]
fn a_loss_weighs_more_than_a_fall() {
    let loss = Facts { days: days(|day| day.cogs = dec!(95)), ..facts(Stored::default()) };
    let found = &draft(&loss)[0];
    assert_eq!((found.fingerprint.as_str(), found.severity), ("profit:loss", Severity::High));
    assert_eq!(told(&loss)[0].impact_estimate, "A loss of 150 USD in 30 days");
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
    let found = told(&facts(Stored { critical, reorders: 3, ..Stored::default() }));
    assert_eq!(found[0].title, "2 products that sell are out of stock");
    assert_eq!(
        found[0].body,
        "There is no stock left of \"owed\" and \"little\". Each of them sold in the last 30 days."
    );
    assert_eq!(
        found[1].body,
        "At the present pace the stock of \"S0\", \"S1\", \"S2\", \"S3\", \"S4\" and 2 more lasts 7 days at most."
    );
    assert_eq!(found[2].title, "3 reorder suggestions to decide on");
}

#[test]
fn customers_at_risk_are_weighed_by_what_they_spent() {
    let segment = |segment, customers, revenue| SegmentFact { segment, customers, revenue };
    let segments = vec![segment(Segment::Vip, 10, dec!(750)), segment(Segment::AtRisk, 4, dec!(250))];
    let facts = facts(Stored { segments, ..Stored::default() });
    let found = &draft(&facts)[0];
    assert_eq!((found.category, found.severity), (Category::ChurnRisk, Severity::High));
    let body = &told(&facts)[0].body;
    assert!(body.starts_with("They have spent 250 USD so far, 25% of"), "{body}");
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

/// Shops in which every rule has something to tell: of one and of several, up and down, with a cause and without.
fn shops_with_everything() -> [Facts; 3] {
    let segment = |segment, customers, revenue| SegmentFact { segment, customers, revenue };
    let item = |at: i64| CriticalItem { sku: format!("S-{at} 99 % off"), current_stock: at % 9, units_sold_30d: 3 };
    let shop = |many: i64, change: fn(&mut DayTotals)| Facts {
        days: days(change),
        stored: Stored {
            anomalies: Metric::ALL
                .iter()
                .flat_map(|metric| {
                    let found = AnomalyFact { is_shift: many > 1, ..drop_of(*metric, None) };
                    let (observed, expected) =
                        if metric.unit() == Unit::Share { (0.021, 0.034) } else { (many as f64, 40.0) };
                    let down = AnomalyFact { observed, expected, ..found.clone() };
                    let up = AnomalyFact { observed: expected, expected: observed, direction: Direction::Up, ..found };
                    [down, up]
                })
                .collect(),
            critical: (0..many).flat_map(|at| [item(9 * at), item(9 * at + 1)]).collect(),
            reorders: many,
            segments: vec![segment(Segment::Vip, 10, dec!(750)), segment(Segment::AtRisk, many, dec!(250.55))],
            stale_shops: vec![StaleShop {
                provider: Platform::Shopify,
                shop: "a.example.com".into(),
                last_sync_at: datetime!(2026-02-01 10:00 UTC),
            }],
        },
    };
    let dear = |day: &mut DayTotals| {
        day.ad_spend = dec!(33.335);
        day.cogs = dec!(60);
        day.new_customers = i64::from(day.day.day() == 5);
    };
    let loss = |day: &mut DayTotals| {
        day.ad_spend = dec!(33.335);
        day.cogs = dec!(95);
        day.basis.returned_cogs = dec!(1.115);
    };
    [shop(1, dear), shop(8, loss), shop(0, loss)]
}

/// Every template with every fact.
pub(crate) fn say_all(texts: &Texts) {
    for facts in shops_with_everything() {
        for draft in draft(&facts) {
            draft.told.wording(texts, usd());
        }
    }
}

#[test]
fn the_texts_of_the_catalogue_pass_the_check_of_models_texts() {
    let mut refused = Vec::new();
    for tag in ["en", "en-IN", "es", "es-MX", "es-AR", "pt-BR"] {
        let texts = Texts::of(locale(tag)).as_of(date!(2026 - 03 - 01));
        let mut told = 0;
        for draft in shops_with_everything().iter().flat_map(draft) {
            let wording = draft.told.wording(&texts, usd());
            if let Err((field, refusal)) =
                grounding::check(&wording, &wording, &draft.told.grounds(usd()), texts.writing())
            {
                refused.push(format!("{tag}: {}.{field}: {refusal}: {wording:?}", draft.fingerprint));
            }
            told += 1;
        }
        // Eighteen anomalies, three of the periods, a stale shop; and the stock and the customers of two shops.
        assert_eq!(told, 3 * (18 + 3 + 1) + 2 * 4);
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn facts_come_back_from_json_as_they_were() {
    for draft in shops_with_everything().iter().flat_map(draft) {
        let json = serde_json::to_value(&draft.told).unwrap();
        assert_eq!(serde_json::from_value::<Told>(json).unwrap(), draft.told);
    }
}

/// The examples of docs/insights.md.
fn catalogue() -> String {
    let [one, several, _] = shops_with_everything();
    let mut told: Vec<Told> = Vec::new();
    for draft in draft(&several).into_iter().chain(draft(&one)) {
        let is_new =
            |known: &Told| known.kind != draft.told.kind || known.figure("metric") != draft.told.figure("metric");
        if told.iter().all(is_new) {
            told.push(draft.told);
        }
    }
    let mut rows = String::new();
    for told in &told {
        let metric = match told.figure("metric") {
            Some(Value::Code(metric)) => format!("`: `{metric}"),
            _ => String::new(),
        };
        let said = [Locale::ENGLISH, locale("es-MX"), locale("pt-BR")].map(|locale| {
            let texts = Texts::of(locale).as_of(date!(2026 - 03 - 01));
            let Wording { title, body, .. } = told.wording(&texts, usd());
            format!("**{title}.** {body}")
        });
        rows.push_str(&format!("| `{}{metric}` | {} |\n", told.kind, said.join(" | ")));
    }
    // A name that tries the check is no example.
    rows.replace(" 99 % off", "")
}

#[test]
fn the_docs_show_the_catalogue() {
    let docs = include_str!("../../../../../docs/insights.md");
    let rows = catalogue();
    assert!(docs.contains(&rows), "docs/insights.md should have these rows:\n{rows}");
}
