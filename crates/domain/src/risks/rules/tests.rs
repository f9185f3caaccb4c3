use proptest::prelude::*;
use rstest::rstest;
use rust_decimal::dec;
use time::{Duration, OffsetDateTime, macros::datetime};

use super::*;
use crate::{
    AdEntityId, CreativeId, CustomerId, InsightId, IntegrationId, SubscriptionId,
    accounts::Platform,
    ads::CampaignSums,
    metrics::returns::{OrderValue, Return},
    risks::{ConnectedShop, Credits, FailingWebhook, TiredAd, Unanswered},
};

const NOW: OffsetDateTime = datetime!(2026-03-02 12:00 UTC);

fn scale(profit: Option<f64>) -> Scale {
    Scale { currency: "USD".parse().unwrap(), profit, net_revenue: 10_000.0 }
}

fn product() -> Product<'static> {
    Product {
        sku: "MUG",
        stock: 20,
        days_of_stock: Some(4.0),
        lead_time_days: 14,
        is_lead_time_known: true,
        stockout_probability: 0.9,
        missed_units: (30.0, 50.0, 70.0),
        unit_contribution: Some(4.0),
        unit_cost: Some(6.0),
        long_demand: 900.0,
        units_sold_90d: 450,
        known_days: 400,
        is_too_late: false,
        insight_id: Some(InsightId(31)),
    }
}

fn amounts(found: &Finding) -> Option<(Option<Decimal>, Option<Decimal>, Option<Decimal>)> {
    found.exposure.map(|Exposure { low, expected, high }| (low, expected, high))
}

#[test]
fn a_stockout_costs_the_contribution_of_what_is_missed_and_half_of_it_at_least() {
    let found = stockout(&product(), &scale(Some(1_000.0))).unwrap();
    assert_eq!(amounts(&found), Some((Some(dec!(60)), Some(dec!(200)), Some(dec!(280)))));
    // 200 of a profit of 1,000.
    assert_eq!((found.severity, found.likelihood), (Severity::Critical, Some(dec!(0.9))));
    assert_eq!((found.id().as_str(), found.links.insight_id), ("stockout:MUG", Some(InsightId(31))));
    assert!(!found.lacks_costs && !found.assumptions.contains(&Assumption::LeadTimeUnknown));
    assert!(stockout(&Product { stockout_probability: 0.2999, ..product() }, &scale(None)).is_none());
}

#[test]
fn what_sells_at_a_loss_is_not_to_be_reordered() {
    let action = |unit| stockout(&Product { unit_contribution: unit, ..product() }, &scale(None)).unwrap().action;
    assert_eq!(
        [Some(4.0), Some(-0.01), None].map(action),
        [Action::Reorder, Action::Review, Action::Reorder].map(Some)
    );
}

#[test]
fn what_would_arrive_after_its_season_is_not_to_be_reordered() {
    let late = stockout(&Product { is_too_late: true, ..product() }, &scale(None)).unwrap();
    assert_eq!(late.action, Some(Action::Review));
}

#[test]
fn without_a_unit_cost_there_is_no_amount() {
    let unknown = Product { unit_contribution: None, unit_cost: None, stock: 2_000, ..product() };
    for found in [stockout(&unknown, &scale(Some(1e3))), dead_stock(&unknown, &scale(Some(1e3)))] {
        let found = found.unwrap();
        assert_eq!((found.exposure, found.lacks_costs), (None, true));
        assert_eq!(found.assumptions, [Assumption::CostsUnknown]);
    }
    let found = sku_concentration("MUG", 0.4, 2_000.0, &scale(None)).unwrap();
    assert_eq!((found.exposure, found.lacks_costs), (None, true));
    let made_a_loss = sku_concentration("MUG", 0.4, 2_000.0, &scale(Some(-5.0))).unwrap();
    assert_eq!((made_a_loss.exposure, made_a_loss.lacks_costs), (None, false), "costs are known: there is no profit");
}

#[rstest]
#[case(2_000, 450, 400, true)]
#[case(900, 450, 400, false)]
#[case(5, 0, 90, true)]
#[case(5, 0, 89, false)]
#[case(0, 0, 400, false)]
fn stock_is_dead_beyond_half_a_year_of_demand_or_when_nothing_sells(
    #[case] stock: i64,
    #[case] units_sold_90d: i64,
    #[case] known_days: i64,
    #[case] raised: bool,
) {
    let long_demand = if units_sold_90d == 0 { 0.0 } else { 900.0 };
    let product = Product { stock, units_sold_90d, known_days, long_demand, ..product() };
    assert_eq!(dead_stock(&product, &scale(None)).is_some(), raised);
}

#[test]
fn a_part_of_a_unit_is_no_dead_stock() {
    let of = |long_demand| dead_stock(&Product { stock: 900, long_demand, ..product() }, &scale(None));
    assert!(of(899.6).is_none());
    assert_eq!(of(899.4).unwrap().evidence[0].value, Some(1.0));
}

#[test]
fn dead_stock_costs_its_keeping_and_its_value_at_most() {
    // 1,100 too many at 6 each are 6,600, of which a fifth a year is 108.49 in 30 days.
    let found = dead_stock(&Product { stock: 2_000, ..product() }, &scale(Some(1_000.0))).unwrap();
    assert_eq!(amounts(&found), Some((Some(dec!(108.49)), Some(dec!(108.49)), Some(dec!(6600)))));
    assert_eq!(found.severity, Severity::High);
}

#[test]
fn a_dependence_is_medium_at_most_and_none_of_it_is_expected() {
    let found = sku_concentration("MUG", 0.5, 3_000.0, &scale(Some(1_000.0))).unwrap();
    assert_eq!(amounts(&found), Some((Some(dec!(0)), None, Some(dec!(500)))));
    assert_eq!(found.severity, Severity::Medium);
    assert!(sku_concentration("MUG", 0.2499, 900.0, &scale(None)).is_none());
    let channel = Channel { platform: "shopify", share: 0.6, hhi: 5_200.0 };
    assert_eq!(channel_concentration(&channel, &scale(Some(1_000.0))).unwrap().severity, Severity::Medium);
    assert!(channel_concentration(&Channel { share: 0.59, ..channel }, &scale(None)).is_none());
}

#[rstest]
#[case(0.10, 200.0, Some(0.5), true)]
#[case(0.09, 1_500.0, None, true)]
#[case(0.09, 1_499.0, None, false)]
fn a_large_customer_is_expected_to_leave_as_likely_as_known(
    #[case] share: f64,
    #[case] hhi: f64,
    #[case] churn: Option<f64>,
    #[case] raised: bool,
) {
    let largest = CustomerShare { customer_id: CustomerId(5), share, hhi, churn };
    let found = customer_concentration(&largest, &scale(Some(1_000.0)));
    assert_eq!(found.is_some(), raised);
    if let Some(found) = found {
        let expected = churn.map(|_| dec!(50));
        assert_eq!(found.exposure.map(|exposure| exposure.expected), Some(expected));
        assert_eq!((found.likelihood.is_some(), found.links.customer_id), (churn.is_some(), Some(CustomerId(5))));
    }
    assert_eq!((CustomerShare::calibrated(churn, 99), CustomerShare::calibrated(churn, 100)), (None, churn));
}

#[test]
fn churn_has_an_amount_only_where_its_scores_are_calibrated() {
    let customers =
        Customers { count: 3, mean_churn: 0.6, monthly_contribution: Some((40.0, 50.0, 60.0)), scored: 100 };
    let found = churn(&customers, &scale(Some(1_000.0))).unwrap();
    assert_eq!(
        (amounts(&found), found.severity),
        (Some((Some(dec!(40)), Some(dec!(50)), Some(dec!(60)))), Severity::Medium)
    );
    let few = churn(&Customers { scored: 99, ..customers }, &scale(Some(1_000.0))).unwrap();
    assert_eq!((few.exposure, few.lacks_costs, few.assumptions), (None, false, vec![Assumption::ChurnUncalibrated]));
    assert!(churn(&Customers { count: 0, ..customers }, &scale(None)).is_none());
}

#[test]
fn an_excess_of_refunds_lasts_for_a_month_of_weeks() {
    let refunds = Refunds { count: 24.0, usual: 10.0, limit: 18.0, excess: (3.5, 7.0, 10.5), mean_loss: 10.0 };
    let found = refund_spike(&refunds, &scale(None));
    assert_eq!(amounts(&found), Some((Some(dec!(150)), Some(dec!(300)), Some(dec!(450)))));
    // 300 of a net revenue of 10,000, as no profit is known.
    assert_eq!((found.severity, found.lacks_costs), (Severity::Medium, false));
}

#[test]
fn a_fall_of_the_margin_takes_its_part_of_a_months_revenue() {
    let margin = Margin {
        before: 0.35,
        after: 0.30,
        change_high: -0.01,
        fall: (0.03, 0.05, 0.07),
        cogs: 0.05,
        fees: 0.0,
        shipping: 0.0,
        ads: 0.0,
        refunds: 0.0,
    };
    let found = margin_drop(&margin, &scale(Some(3_000.0))).unwrap();
    assert_eq!(amounts(&found), Some((Some(dec!(300)), Some(dec!(500)), Some(dec!(700)))));
    assert!(margin_drop(&Margin { change_high: 0.0, ..margin }, &scale(Some(3_000.0))).is_none());
    // From 35% to 35%.
    assert!(margin_drop(&Margin { after: 0.346, ..margin }, &scale(Some(3_000.0))).is_none());
    assert!(margin_drop(&Margin { after: 0.344, ..margin }, &scale(Some(3_000.0))).is_some());
    assert!(margin_drop(&margin, &scale(None)).unwrap().lacks_costs);
}

#[rstest]
#[case(Duration::hours(24), false, None)]
#[case(Duration::hours(25), false, Some((Severity::Medium, Some(24.0))))]
#[case(Duration::hours(72), false, Some((Severity::High, Some(24.0))))]
#[case(Duration::hours(1), true, Some((Severity::Medium, None)))]
#[case(Duration::hours(72), true, Some((Severity::High, Some(24.0))))]
fn a_shop_is_stale_by_the_rule_of_the_integrations(
    #[case] since: Duration,
    #[case] has_ended: bool,
    #[case] expected: Option<(Severity, Option<f64>)>,
) {
    let shop = ConnectedShop {
        id: IntegrationId(3),
        provider: Platform::Shopify,
        shop: "a.example".into(),
        last_sync_at: NOW - since,
        has_ended,
    };
    let found = integration_stale(&shop, Some(0.4), None, NOW);
    assert_eq!(found.map(|found| (found.severity, found.evidence[0].threshold)), expected);
}

#[rstest]
#[case(100, 140, false, 0, None)]
#[case(69, 140, false, 0, Some(Severity::Medium))]
#[case(19, 140, false, 0, Some(Severity::High))]
#[case(19, 140, true, 0, None)]
#[case(19, 140, true, 1, Some(Severity::High))]
#[case(0, 0, false, 0, None)]
fn credits_are_low_when_they_last_less_than_a_week_and_nobody_recharges(
    #[case] balance: i64,
    #[case] used_14d: i64,
    #[case] enabled: bool,
    #[case] failures: i64,
    #[case] severity: Option<Severity>,
) {
    let found = low_credits(Credits { balance, used_14d, auto_topup_enabled: enabled, auto_topup_failures: failures });
    assert_eq!(found.map(|found| found.severity), severity);
}

#[rstest]
#[case(Duration::hours(90), Severity::Medium, 30.0)]
#[case(Duration::hours(97), Severity::High, 23.0)]
#[case(Duration::hours(300), Severity::High, 0.0)]
fn a_webhook_is_a_high_risk_a_day_before_it_is_switched_off(
    #[case] since: Duration,
    #[case] severity: Severity,
    #[case] hours_left: f64,
) {
    let webhook = FailingWebhook { id: SubscriptionId(9), failing_since: NOW - since, waiting: 4 };
    let found = webhook_failing(&webhook, NOW);
    assert_eq!((found.severity, found.evidence[0].value), (severity, Some(hours_left)));
}

fn campaign(purchases: i64, revenue: i64) -> (CampaignSums, Return) {
    let sums = CampaignSums {
        id: AdEntityId(5),
        platform: "meta".into(),
        name: "Spring".into(),
        is_active: true,
        last_spent: None,
        spend: Some(dec!(600)),
        purchases: Some(purchases),
        revenue: Some(revenue.into()),
    };
    let returned = sums.claimed_return(OrderValue { mean: 50.0, spread: 0.0 }).unwrap();
    (sums, returned)
}

#[test]
fn a_campaign_wastes_the_part_of_its_spend_that_does_not_come_back() {
    // 20 purchases of 45 for 600 are 1.5; with 16.17 and 24.72 of them, 1.213 and 1.854; it pays from 2.5 on.
    let (sums, returned) = campaign(20, 900);
    let found = ad_waste(&sums, returned, Some(2.5), &scale(Some(1_000.0))).unwrap();
    let (low, expected, high) = amounts(&found).unwrap();
    assert_eq!(expected, Some(dec!(240)));
    assert!(
        (low.unwrap() - dec!(155.0)).abs() < dec!(0.5) && (high.unwrap() - dec!(308.9)).abs() < dec!(0.5),
        "{found:?}"
    );
    assert_eq!(
        (found.id().as_str(), found.severity, found.action),
        ("ad_waste:5", Severity::Critical, Some(Action::PauseAd))
    );
    assert_eq!(found.evidence[0], held(Measure::Roas30d, 1.5, 2.5));
}

#[test]
fn a_campaign_that_may_pay_is_no_risk() {
    // 28 purchases bring 2.1; 33.4 of them, their 80 % quantile, would bring 2.505.
    let (sums, returned) = campaign(28, 1_260);
    assert!(ad_waste(&sums, returned, Some(2.5), &scale(None)).is_none());
}

#[test]
fn without_unit_costs_a_campaign_has_to_bring_what_it_costs() {
    let (sums, returned) = campaign(9, 405);
    let found = ad_waste(&sums, returned, None, &scale(None)).unwrap();
    assert_eq!((found.exposure, found.lacks_costs, found.severity), (None, true, Severity::Medium));
    assert_eq!(found.evidence[0].threshold, Some(1.0));
    let (sums, returned) = campaign(20, 900);
    assert!(ad_waste(&sums, returned, None, &scale(None)).is_none());
}

#[test]
fn a_tired_ad_wastes_the_part_of_its_spend_that_brought_the_clicks_at_most() {
    let ad = TiredAd {
        campaign_id: AdEntityId(5),
        creative_id: CreativeId(8),
        label: "Two for one".into(),
        ctr_ratio: dec!(0.6),
        spend: Some(dec!(300)),
    };
    let found = ad_fatigue(&ad, &scale(Some(1_000.0)));
    assert_eq!(amounts(&found), Some((Some(dec!(0)), None, Some(dec!(120)))));
    // Half of the most is 6 % of the profit.
    assert_eq!((found.id().as_str(), found.severity, found.lacks_costs), ("ad_fatigue:5-8", Severity::Medium, false));
    let unknown = ad_fatigue(&TiredAd { spend: None, ..ad }, &scale(None));
    assert_eq!((unknown.exposure, unknown.severity, unknown.lacks_costs), (None, Severity::Medium, false));
}

#[rstest]
#[case(1, Severity::High, 4.0)]
#[case(0, Severity::Medium, 24.0)]
fn a_complaint_that_waits_is_a_high_risk(#[case] urgent: i64, #[case] severity: Severity, #[case] threshold: f64) {
    let waiting = Unanswered { urgent, others: 2, since: NOW - Duration::hours(30) };
    let found = unanswered_conversations(waiting, Some(InsightId(3)), NOW);
    assert_eq!(
        (found.severity, found.links.insight_id, found.action),
        (severity, Some(InsightId(3)), Some(Action::Reply))
    );
    assert_eq!(found.evidence[1], held(Measure::HoursWaiting, 30.0, threshold));
    assert_eq!(found.evidence[0].value, Some((urgent + 2) as f64));
}

#[rstest]
#[case(Some(1_000.0), dec!(200), Severity::Critical)]
#[case(Some(1_000.0), dec!(199.99), Severity::High)]
#[case(Some(1_000.0), dec!(100), Severity::High)]
#[case(Some(1_000.0), dec!(30), Severity::Medium)]
#[case(Some(1_000.0), dec!(29.99), Severity::Low)]
#[case(Some(-1_000.0), dec!(2_000), Severity::Critical)]
#[case(None, dec!(299), Severity::Low)]
fn severity_is_by_the_part_of_a_months_profit_or_revenue(
    #[case] profit: Option<f64>,
    #[case] expected: Decimal,
    #[case] severity: Severity,
) {
    let exposure = Exposure { low: None, expected: Some(expected), high: None };
    assert_eq!(scale(profit).severity(Some(exposure)), Some(severity));
    let half = Exposure { low: None, expected: None, high: Some(expected * dec!(2)) };
    assert_eq!(scale(profit).severity(Some(half)), Some(severity), "half of the most");
    let empty = Scale { net_revenue: 0.0, ..scale(None) };
    assert_eq!(empty.severity(Some(exposure)), Some(Severity::High), "beside no revenue");
}

/// The least amount that the column of an exposure, `numeric(18, 4)`, does not hold.
const NOT_STORED: Decimal = dec!(100_000_000_000_000);

#[test]
fn the_dearest_stock_can_be_stored() {
    let dear = Product { stock: 999_999_999, unit_cost: Some(120_000.0), ..product() };
    let (low, _, high) = amounts(&dead_stock(&dear, &scale(Some(1_000.0))).unwrap()).unwrap();
    assert_eq!(high, Some(dec!(90_000_000_000_000)), "1.2e14 would not fit");
    assert!(low < high && high.is_some_and(|high| high < NOT_STORED));
}

fn amount() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(prop_oneof![-1e3f64..1e9, Just(f64::NAN), Just(f64::INFINITY), Just(1e300)])
}

proptest! {
    #[test]
    fn what_is_known_of_an_exposure_is_in_order(low in amount(), expected in amount(), high in amount()) {
        let exposure = Exposure::new(low, expected, high, "CLF".parse().unwrap());
        let known: Vec<_> = [exposure.low, exposure.expected, exposure.high].into_iter().flatten().collect();
        let given = [low, expected, high].into_iter().flatten().filter(|figure| !figure.is_nan());
        prop_assert_eq!(known.len(), given.count());
        prop_assert!(known.iter().all(|amount| *amount >= Decimal::ZERO && amount.scale() <= 4));
        prop_assert!(known.iter().all(|amount| *amount < NOT_STORED));
        prop_assert!(known.is_sorted(), "{known:?}");
    }

    #[test]
    fn a_larger_exposure_is_never_less_severe(profit in prop::option::of(-1e4f64..1e4), a in 0.0f64..1e5, b in 0.0f64..1e5) {
        let severity = |amount| {
            scale(profit).severity(Some(Exposure::new(None, Some(amount), None, "USD".parse().unwrap())))
        };
        prop_assert!(severity(a.min(b)) <= severity(a.max(b)));
    }
}
