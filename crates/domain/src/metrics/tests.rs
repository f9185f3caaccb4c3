use proptest::prelude::*;
use rstest::rstest;
use rust_decimal::dec;
use time::macros::date;

use super::*;

fn busy() -> DayTotals {
    DayTotals {
        gross_revenue: dec!(1000),
        refunds: dec!(100),
        orders: 8,
        units: 20,
        customers: 7,
        new_customers: 4,
        refund_count: 1,
        cogs: dec!(400),
        fees: dec!(29),
        shipping: dec!(50),
        ad_spend: dec!(120),
        ad_clicks: 60,
        extra_expenses: dec!(31),
        visitors: 200,
        ..DayTotals::quiet(date!(2026 - 03 - 01))
    }
}

fn is_ratio(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::Aov | Metric::RefundRate | Metric::Roas | Metric::Cac | Metric::Conversion | Metric::Margin
    )
}

#[rstest]
#[case(Metric::GrossRevenue, dec!(1000))]
#[case(Metric::NetRevenue, dec!(900))]
#[case(Metric::Orders, dec!(8))]
#[case(Metric::Aov, dec!(125))]
#[case(Metric::RefundRate, dec!(0.1))]
#[case(Metric::Cac, dec!(30))]
#[case(Metric::Conversion, dec!(0.04))]
#[case(Metric::Profit, dec!(270))]
#[case(Metric::Margin, dec!(0.3))]
fn metrics_follow_their_definitions(#[case] metric: Metric, #[case] value: Decimal) {
    assert_eq!(metric.of(&Sums::from(&busy())), Some(value), "{metric}");
}

#[test]
fn profit_follows_the_printed_definitions() {
    let day = busy().components();
    assert_eq!(day.net_revenue(), dec!(900));
    assert_eq!(day.operational_profit(), dec!(421));
    assert_eq!(day.operational_margin().map(|margin| margin.round_dp(4)), Some(dec!(0.4678)));
    assert_eq!(day.profit_after_ads(), dec!(301));
    assert_eq!(day.final_profit(), dec!(270));
    assert_eq!((day.margin(), day.margin_pct()), (Some(dec!(0.3)), Some(dec!(30))));
}

/// As every other amount of the account, so that the same figure of a day is the same everywhere.
#[rstest]
#[case(Metric::Profit, "USD", -1_056.739_5, -1_056.74)]
#[case(Metric::GrossRevenue, "USD", 685.695, 685.7)]
#[case(Metric::GrossRevenue, "USD", 685.685, 685.68)]
#[case(Metric::Aov, "JPY", 2_554.5, 2_554.0)]
#[case(Metric::Cac, "KWD", 1.540_5, 1.54)]
#[case(Metric::NetRevenue, "USD", -0.004, 0.0)]
#[case(Metric::Margin, "JPY", 0.123_45, 0.1234)]
#[case(Metric::Orders, "JPY", 12.5, 12.5)]
#[case(Metric::Profit, "USD", 1e300, 1e300)]
fn an_amount_is_shown_to_the_minor_unit(
    #[case] metric: Metric,
    #[case] currency: Currency,
    #[case] value: f64,
    #[case] shown: f64,
) {
    let rounded = metric.rounded(value, currency);
    assert_eq!((rounded.to_bits(), rounded.is_sign_negative()), (shown.to_bits(), shown < 0.0), "{rounded}");
}

#[test]
fn a_quiet_day_has_counts_but_no_ratios() {
    let quiet = DayTotals::quiet(date!(2026 - 03 - 01));
    for metric in Metric::ALL {
        assert_eq!(metric.measured(&quiet), if is_ratio(*metric) { None } else { Some(0.0) }, "{metric}");
    }
}

/// A loss over negative net revenue is no positive margin.
#[rstest]
#[case(dec!(0))]
#[case(dec!(100))]
#[case(dec!(150))]
fn there_is_no_margin_without_net_revenue(#[case] refunds: Decimal) {
    let day = Components { gross_revenue: dec!(0), refunds, ad_spend: dec!(50), ..Components::default() };
    assert_eq!((day.margin(), day.margin_pct(), day.operational_margin()), (None, None, None));
}

#[test]
fn the_margin_of_several_days_weighs_them_by_revenue() {
    let small = DayTotals { gross_revenue: dec!(100), ..DayTotals::quiet(date!(2026 - 03 - 02)) };
    assert_eq!(Sums::of_days(&[busy(), small]).components.margin_pct(), Some(dec!(37)));
}

#[test]
fn people_of_several_days_do_not_add_up() {
    let sums = Sums::of_days(&[busy(), busy()]);
    assert_eq!((Metric::Customers.of(&sums), Metric::Conversion.of(&sums)), (None, None));
    assert_eq!((Metric::Orders.of(&sums), Metric::NewCustomers.of(&sums)), (Some(dec!(16)), Some(dec!(8))));
}

#[test]
fn what_does_not_fit_a_decimal_has_no_value() {
    let day = DayTotals { gross_revenue: Decimal::MAX, ad_spend: dec!(0.000001), ..busy() };
    assert_eq!(Metric::Roas.measured(&day), None);
}

proptest! {
    #[test]
    fn sums_of_one_day_are_the_day(cents in proptest::collection::vec(-1_000_000i64..1_000_000, 8), n in 0i64..100) {
        let money = |at: usize| Decimal::new(cents[at], 2);
        let day = DayTotals {
            gross_revenue: money(0).abs(), refunds: money(1), cogs: money(2), fees: money(3), shipping: money(4),
            ad_spend: money(5).abs(), extra_expenses: money(6), orders: n, new_customers: n / 2, units: n * 3,
            ..DayTotals::quiet(date!(2026 - 03 - 01))
        };
        let (of_day, of_days) = (Sums::from(&day), Sums::of_days(&[day]));
        for metric in Metric::ALL.iter().filter(|m| !matches!(m, Metric::Customers | Metric::Conversion)) {
            prop_assert_eq!(metric.of(&of_day), metric.of(&of_days), "{}", metric);
        }
        prop_assert_eq!(Metric::Margin.of(&of_day).is_some(), day.gross_revenue > day.refunds);
    }
}
