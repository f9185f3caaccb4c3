use domain::{
    AdEntityId, CustomerId, IntegrationId, ProductId, SubscriptionId,
    ads::CampaignSums,
    demand::StockedProduct,
    insights::Severity,
    metrics::{returns::OrderValue, stock::lost_on},
    risks::{
        ChannelRevenue, ConnectedShop, Credits, CustomerBase, CustomerRevenue, FailingWebhook, Kind, OpenInsight,
        ProductSales, Unanswered,
    },
};
use rstest::rstest;
use rust_decimal::dec;
use time::macros::datetime;

use super::{
    super::{
        demand::tests::{LAST, steady, stocked},
        inventory_velocity::figures,
    },
    *,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

/// A shop that sells ten units at 20 a day, of which 8 are their cost, 1 fees and 1 shipping; every tenth is refunded.
fn day(back: i64) -> DayTotals {
    let mut day = DayTotals {
        gross_revenue: dec!(200),
        refunds: dec!(20),
        orders: 10,
        units: 10,
        refund_count: 1,
        cogs: dec!(80),
        fees: dec!(10),
        shipping: dec!(10),
        ..DayTotals::quiet(LAST - Duration::days(back))
    };
    day.basis.goods_revenue = dec!(200);
    day.basis.cogs_covered_revenue = dec!(200);
    day
}

fn shop_of(days: impl Fn(i64) -> DayTotals) -> Shop {
    Shop::of((0..DAYS).rev().map(days).collect(), "USD".parse().unwrap())
}

fn sales(id: i64, revenue: Decimal, units: i64) -> ProductSales {
    ProductSales {
        product_id: ProductId(id),
        sku: format!("S{id}"),
        revenue_90d: revenue,
        units_90d: units,
        known_since: LAST - Duration::days(300),
    }
}

fn open(id: i64, fingerprint: &str, story: Option<&str>) -> OpenInsight {
    OpenInsight { id: InsightId(id), fingerprint: fingerprint.into(), story: story.map(str::to_owned) }
}

fn kinds(found: &[Finding]) -> Vec<(Kind, String)> {
    found.iter().map(|finding| (finding.kind, finding.subject.clone())).collect()
}

#[test]
fn an_even_shop_without_stock_has_no_risks() {
    let found = assess(&shop_of(day), &stocked(vec![]), &Situation::default(), NOW);
    assert_eq!(kinds(&found), []);
}

#[test]
fn what_runs_out_before_an_order_arrives_costs_its_contribution() {
    let product = StockedProduct { unit_cost: Some(dec!(8)), lead_time_days: Some(10), ..steady(1, 20, 5, 200) };
    let situation = Situation {
        products: vec![
            sales(1, dec!(9000), 450),
            sales(2, dec!(9000), 10),
            sales(3, dec!(9000), 1),
            sales(4, dec!(9001), 1),
        ],
        insights: vec![open(31, "inventory:running_out", None)],
        ..Situation::default()
    };
    let found = assess(&shop_of(day), &stocked(vec![product]), &situation, NOW);
    let stockout = &found[0];
    assert_eq!((stockout.id().as_str(), stockout.links.insight_id), ("stockout:S1", Some(InsightId(31))));
    // Ten days of 5 less the 20 at hand are 30 units, each of 20 less 5 % fees, 8 cost and 1 shipping.
    let expected = stockout.exposure.unwrap().expected.unwrap();
    assert!((expected - dec!(300)).abs() < dec!(3), "{expected}");
    assert_eq!(stockout.evidence[0].value.map(f64::round), Some(4.0));
}

#[test]
fn a_young_shop_is_told_of_no_risk_that_its_few_days_cannot_show() {
    let of_days = |days: i64| {
        let product = StockedProduct { unit_cost: Some(dec!(8)), lead_time_days: Some(10), ..steady(1, 20, 5, days) };
        let sold = sales(1, Decimal::from(100 * days), 5 * days);
        let situation = Situation { products: vec![sold], ..Situation::default() };
        let shop = shop_of(|back| if back < days { day(back) } else { DayTotals::quiet(LAST - Duration::days(back)) });
        let found = assess(&shop, &stocked(vec![product]), &situation, NOW);
        let of = |kind: Kind| found.iter().find(|finding| finding.kind == kind).map(|finding| finding.severity);
        [of(Kind::Stockout), of(Kind::SkuConcentration)]
    };
    assert_eq!(of_days(6), [None, None]);
    // Some 300 beside a month's 2,400 at the pace of ten days, not beside their 800.
    assert_eq!(of_days(10), [Some(Severity::High), None]);
    assert_eq!(of_days(40).map(|severity| severity.is_some()), [true, true]);
}

#[test]
fn the_cover_of_a_stock_is_the_one_that_the_inventory_shows() {
    // 176 units at 25 a day are 7.04 days.
    let product = StockedProduct { lead_time_days: Some(20), ..steady(1, 176, 25, 200) };
    let situation = Situation { products: vec![sales(1, dec!(9000), 450)], ..Situation::default() };
    let found = assess(&shop_of(day), &stocked(vec![product]), &situation, NOW);
    let stockout = found.iter().find(|finding| finding.kind == Kind::Stockout).unwrap();
    assert_eq!(stockout.evidence[0].value, Some(7.0));
}

/// As the job `inventory_velocity` writes it, and an insight tells it.
#[rstest]
#[case::sold_out(0, 0, 700.0)]
#[case::running_out(20, 0, 500.0)]
#[case::owed(-8, 30, 480.0)]
fn a_lack_of_stock_costs_as_much_by_the_inventory(#[case] stock: i64, #[case] on_order: i64, #[case] expected: f64) {
    let back = |days: i64| LAST - Duration::days(days);
    let mut product = StockedProduct { unit_cost: Some(dec!(8)), on_order, ..steady(1, stock, 5, 200) };
    product.sales.truncate(180);
    product.days_without_stock = (0..20).map(back).collect();
    product.revenue_90d = dec!(7000);
    let situation = Situation { products: vec![sales(1, dec!(7000), 350)], ..Situation::default() };
    let (shop, mut stocked) = (shop_of(day), stocked(vec![product]));
    stocked.costs = shop.costs;
    let items = stocked.each(|product, units, model| figures(product, units, model, &stocked));
    let lost = lost_on(items[0].missed_units, items[0].unit_contribution.unwrap());
    // Of five a day, not of what was sold while there was none: each brings 10 in two weeks.
    assert!((lost - expected).abs() < 10.0, "{lost}");
    let exposure = assess(&shop, &stocked, &situation, NOW)[0].exposure.unwrap().expected.unwrap();
    assert!((amount(exposure) - lost).abs() < 0.01, "{exposure} is not {lost}");
}

#[rstest]
#[case::of_one_product(5_400, Some((0.3, 900.0)))]
#[case::of_little_that_is_known(1_800, None)]
#[case::of_more_than_the_days_tell(36_000, Some((1.0, 10_000.0)))]
fn a_product_is_held_against_all_revenue_of_the_shop(#[case] revenue: i64, #[case] expected: Option<(f64, f64)>) {
    // 90 days of 200 are 18,000.
    let situation = Situation { products: vec![sales(1, revenue.into(), 90)], ..Situation::default() };
    let found = assess(&shop_of(day), &stocked(vec![]), &situation, NOW);
    let concentration = found.iter().find(|finding| finding.kind == Kind::SkuConcentration);
    let measured = concentration.map(|found| [0, 1].map(|at| found.evidence[at].value.unwrap()));
    assert_eq!(measured.is_some(), expected.is_some());
    if let Some(([share, hhi], expected)) = measured.zip(expected) {
        assert!((share - expected.0).abs() < 1e-9 && (hhi - expected.1).abs() < 1e-6, "{share}, {hhi}");
    }
}

#[rstest]
#[case::of_its_own_story(0, 8, Some("stock_out:S1"), Some(33))]
#[case::among_the_sold_out(0, 8, Some("stock_out:S2"), Some(32))]
#[case::within_a_week(35, 8, None, Some(31))]
#[case::in_more_than_a_week(40, 8, None, None)]
#[case::sold_out_at_a_loss(0, 30, None, None)]
#[case::running_out_at_a_loss(20, 30, None, None)]
fn a_stock_out_links_the_insight_that_speaks_of_it(
    #[case] stock: i64,
    #[case] unit_cost: i64,
    #[case] story: Option<&str>,
    #[case] linked: Option<i64>,
) {
    let unit_cost = Some(Decimal::from(unit_cost));
    let product = StockedProduct { unit_cost, lead_time_days: Some(20), ..steady(1, stock, 5, 200) };
    let situation = Situation {
        products: vec![sales(1, dec!(9000), 450)],
        insights: vec![
            open(31, "inventory:running_out", None),
            open(32, "inventory:sold_out", None),
            open(33, "story:12", story),
        ],
        ..Situation::default()
    };
    let found = assess(&shop_of(day), &stocked(vec![product]), &situation, NOW);
    let stockout = found.iter().find(|finding| finding.kind == Kind::Stockout).unwrap();
    assert_eq!(stockout.links.insight_id, linked.map(InsightId));
}

#[test]
fn an_order_on_its_way_is_counted_and_no_unit_cost_means_no_amount() {
    // Two weeks of five a day are 70, of which the first 35 have to be there when the order arrives half-way.
    let product = |on_order| StockedProduct { on_order, ..steady(1, 55, 5, 200) };
    let situation = Situation { products: vec![sales(1, dec!(9), 450)], ..Situation::default() };
    let found = |on_order| assess(&shop_of(day), &stocked(vec![product(on_order)]), &situation, NOW);
    assert!(found(0)[0].lacks_costs && found(0)[0].exposure.is_none());
    assert!(found(200).iter().all(|finding| finding.kind != Kind::Stockout));
}

#[test]
fn regular_customers_who_leave_take_their_months_contribution_along() {
    let customer = |customer_id, net| CustomerRevenue { customer_id, net, churn: Some(dec!(0.5)) };
    let customers = CustomerBase {
        largest: Some(customer(CustomerId(5), dec!(3240))),
        net_90d: dec!(16200),
        squares_90d: 3240.0 * 3240.0,
        leaving: vec![customer(CustomerId(5), dec!(3650)), customer(CustomerId(6), dec!(3650))],
        scored: 100,
    };
    let insights = vec![open(31, "churn:at_risk", None)];
    let situation = Situation { customers, insights, ..Situation::default() };
    let found = assess(&shop_of(day), &stocked(vec![]), &situation, NOW);
    assert_eq!(kinds(&found), [(Kind::Churn, "regular_customers".into()), (Kind::CustomerConcentration, "5".into())]);
    // Each brings 300 a month, of which 80 / 180 is contribution; two at even odds.
    assert_eq!(found[0].exposure.unwrap().expected, Some(dec!(133.33)));
    assert_eq!(found[0].links.insight_id, None, "customers at risk are others");
    // A fifth of the month's 2,400, at even odds.
    assert_eq!(found[1].exposure.unwrap().expected, Some(dec!(240)));
    assert_eq!(found[1].severity, Severity::High);
}

#[test]
fn a_week_of_refunds_and_two_of_dear_goods_are_noticed() {
    let shop = shop_of(|back| match back {
        0..7 => DayTotals { refund_count: 4, refunds: dec!(80), ..day(back) },
        _ => day(back),
    });
    let found = assess(&shop, &stocked(vec![]), &Situation::default(), NOW);
    let spike = found.iter().find(|finding| finding.kind == Kind::RefundSpike).unwrap();
    assert_eq!(spike.evidence[0].value, Some(28.0));
    let shop = shop_of(|back| match back {
        0..14 => DayTotals { cogs: dec!(110), ..day(back) },
        _ => day(back),
    });
    let found = assess(&shop, &stocked(vec![]), &Situation::default(), NOW);
    assert_eq!(kinds(&found), [(Kind::MarginDrop, "shop".into())]);
    // A fifth of 30 of 180 a day.
    assert_eq!(found[0].exposure.unwrap().expected, Some(dec!(180)));
    assert_eq!(found[0].evidence[1].value.map(|cogs| (1e4 * cogs).round()), Some(1667.0));
}

#[test]
fn of_a_refund_is_lost_what_did_not_come_back_with_it() {
    let expected = |returned: Decimal| {
        let shop = shop_of(|back| {
            // One and three a day in turn; where weeks do not vary, no part of a spike is taken to last.
            let count = if back < 7 { 8 } else { 1 + back / 7 % 2 * 2 };
            let mut day = DayTotals { refund_count: count, refunds: dec!(20) * Decimal::from(count), ..day(back) };
            day.basis.returned_cogs = returned * Decimal::from(count);
            day
        });
        let found = assess(&shop, &stocked(vec![]), &Situation::default(), NOW);
        let spike = found.iter().find(|finding| finding.kind == Kind::RefundSpike).unwrap();
        spike.exposure.unwrap().expected.unwrap()
    };
    // 8 of 20 are the cost of the goods.
    let (lost, returned) = (expected(dec!(0)), expected(dec!(8)));
    assert!(lost > dec!(100) && (returned - lost * dec!(0.6)).abs() <= dec!(0.01), "{returned} of {lost}");
    assert_eq!(expected(dec!(25)), dec!(0), "goods that had cost more than was paid for them");
}

#[test]
fn a_shop_without_unit_costs_is_told_no_profit() {
    let shop = shop_of(|back| {
        let mut day = day(back);
        day.basis.cogs_covered_revenue = dec!(99);
        day
    });
    assert_eq!((shop.scale.profit, shop.contribution), (None, None));
    let channels = vec![ChannelRevenue { platform: "shopify".into(), revenue: dec!(9), orders: 3 }];
    let found = assess(&shop, &stocked(vec![]), &Situation { channels, ..Situation::default() }, NOW);
    assert_eq!(kinds(&found), [(Kind::ChannelConcentration, "shopify".into())]);
    assert!(found[0].lacks_costs);
}

#[test]
fn connections_credits_and_webhooks_are_looked_at_as_of_now() {
    let at = NOW - Duration::hours(80);
    let situation = Situation {
        channels: vec![
            ChannelRevenue { platform: "shopify".into(), revenue: dec!(5), orders: 3 },
            ChannelRevenue { platform: "tiendanube".into(), revenue: dec!(4), orders: 1 },
        ],
        shops: vec![ConnectedShop {
            id: IntegrationId(3),
            provider: "shopify".parse().unwrap(),
            shop: "a.example".into(),
            last_sync_at: at,
            has_ended: false,
        }],
        credits: Credits { balance: 10, used_14d: 140, auto_topup_enabled: false, auto_topup_failures: 0 },
        webhooks: vec![FailingWebhook { id: SubscriptionId(9), failing_since: at, waiting: 2 }],
        insights: vec![open(8, "integrations:stale:shopify:a.example", None)],
        ..Situation::default()
    };
    let found = assess(&shop_of(day), &stocked(vec![]), &situation, NOW);
    let expected = [(Kind::IntegrationStale, "3"), (Kind::LowCredits, "balance"), (Kind::WebhooksFailing, "9")];
    assert_eq!(kinds(&found), expected.map(|(kind, subject)| (kind, subject.to_owned())));
    assert_eq!((found[0].evidence[1].value, found[0].links.insight_id), (Some(0.75), Some(InsightId(8))));
    assert_eq!(found[0].severity, Severity::High);
}

#[test]
fn of_two_shops_on_a_platform_neither_has_a_known_part_of_the_orders() {
    let shop = |id, provider: &str| ConnectedShop {
        id: IntegrationId(id),
        provider: provider.parse().unwrap(),
        shop: format!("{id}.example"),
        last_sync_at: NOW - Duration::hours(80),
        has_ended: false,
    };
    let situation = Situation {
        channels: vec![
            ChannelRevenue { platform: "shopify".into(), revenue: dec!(5), orders: 3 },
            ChannelRevenue { platform: "tiendanube".into(), revenue: dec!(5), orders: 1 },
        ],
        shops: vec![shop(3, "shopify"), shop(4, "shopify"), shop(5, "tiendanube")],
        ..Situation::default()
    };
    let found = assess(&shop_of(day), &stocked(vec![]), &situation, NOW);
    let stale = found.iter().filter(|finding| finding.kind == Kind::IntegrationStale);
    let blind: Vec<_> = stale.map(|finding| finding.evidence[1].value).collect();
    assert_eq!(blind, [None, None, Some(0.25)]);
}

#[test]
fn a_campaign_is_judged_by_what_a_sale_leaves() {
    let campaign = CampaignSums {
        id: AdEntityId(5),
        platform: "meta".into(),
        name: "Spring".into(),
        is_active: true,
        last_spent: Some(LAST),
        spend: Some(dec!(600)),
        purchases: Some(40),
        revenue: Some(dec!(720)),
    };
    let situation = Situation {
        campaigns: vec![campaign],
        order_value: OrderValue { mean: 20.0, spread: 0.0 },
        ..Situation::default()
    };
    let of = |shop: &Shop| assess(shop, &stocked(vec![]), &situation, NOW);
    // Of 200 a day 100 are left: it pays from 2 on, and brings 1.2.
    let found = of(&shop_of(day));
    assert_eq!(kinds(&found), [(Kind::AdWaste, "5".to_owned())]);
    assert_eq!(found[0].exposure.unwrap().expected, Some(dec!(240)));
    // At twice the cost nothing is left, whatever ads bring.
    let at_a_loss = |back| DayTotals { cogs: dec!(190), ..day(back) };
    assert_eq!(kinds(&of(&shop_of(at_a_loss))), []);
    // Without unit costs it brings more than it costs.
    let unknown = |back| DayTotals { cogs: dec!(0), basis: Basis::default(), ..day(back) };
    assert_eq!(kinds(&of(&shop_of(unknown))), []);
}

#[test]
fn who_waits_for_an_answer_is_found_with_the_insight_on_it() {
    let situation = Situation {
        unanswered: Some(Unanswered { urgent: 0, others: 2, since: NOW - Duration::hours(30) }),
        insights: vec![open(7, "social:waiting", None)],
        ..Situation::default()
    };
    let found = assess(&shop_of(day), &stocked(vec![]), &situation, NOW);
    assert_eq!(kinds(&found), [(Kind::UnansweredConversations, "inbox".to_owned())]);
    assert_eq!(found[0].links.insight_id, Some(InsightId(7)));
}
