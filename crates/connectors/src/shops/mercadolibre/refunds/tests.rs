use proptest::prelude::*;
use rust_decimal::dec;
use serde_json::{Value, json};
use time::macros::datetime;

use super::*;
use crate::shops::mercadolibre::{
    claims::Units,
    document::{
        Details, shop_order,
        tests::{brl, order},
    },
};

fn refunds(change: impl FnOnce(&mut Value), claimed: Claimed) -> (Vec<Refund>, bool) {
    let details = Details { claimed, ..Details::default() };
    let taken = shop_order(&order(change), &details, brl()).unwrap();
    (taken.refunds, taken.refund_unknown)
}

fn returned(quantity: i64) -> Claimed {
    let units = Units { item: Some("MLB3737188005".to_owned()), variation: None, quantity };
    Claimed { refunded_at: Some(datetime!(2024-11-20 12:00 UTC)), returned: vec![units] }
}

/// (SKU, whether it is a product, units, price of one)
fn lines(refund: &Refund) -> Vec<(&str, bool, i64, Decimal)> {
    refund.lines.iter().map(|line| (line.sku.as_str(), line.is_product, line.quantity, line.unit_price)).collect()
}

fn refund_of(amount: f64) -> impl FnOnce(&mut Value) {
    move |order| order["payments"][0]["transaction_amount_refunded"] = amount.into()
}

#[test]
fn money_without_a_return_is_no_product() {
    let (refunds, unknown) = refunds(refund_of(20.5), Claimed::default());
    assert!(!unknown);
    assert_eq!(refunds[0].at, datetime!(2024-11-01 13:37:12 UTC), "when the payment changed last");
    assert_eq!(lines(&refunds[0]), [("mercadolibre:refund", false, 1, dec!(20.5))]);
}

#[test]
fn units_that_came_back_are_worth_what_was_paid_for_them() {
    let (refunds, _) = refunds(refund_of(70.0), returned(1));
    assert_eq!(refunds[0].at, datetime!(2024-11-20 12:00 UTC), "when the claim was settled");
    let expected = [("SPACER-2", true, 1, dec!(62.96)), ("mercadolibre:refund", false, 1, dec!(7.04))];
    assert_eq!(lines(&refunds[0]), expected);
}

#[test]
fn a_return_for_less_than_the_price_is_worth_that() {
    let (refunds, _) = refunds(refund_of(100.01), returned(2));
    assert_eq!(lines(&refunds[0]), [("SPACER-2", true, 2, dec!(50.005))]);
}

#[test]
fn a_cancelled_sale_gives_all_units_back_on_its_day() {
    let (refunds, unknown) = refunds(
        |order| {
            order["status"] = "cancelled".into();
            order["payments"][0]["status"] = "refunded".into();
            order["cancel_detail"] = json!({"code": "buyer_cancel_express", "date": "2024-11-02T10:00:00.000-04:00"});
        },
        Claimed::default(),
    );
    assert!(!unknown);
    assert_eq!(refunds[0].at, datetime!(2024-11-02 14:00 UTC));
    assert_eq!(lines(&refunds[0]), [("SPACER-2", true, 2, dec!(62.96))]);
}

#[test]
fn a_refund_into_an_account_leaves_the_order_paid() {
    let (refunds, _) = refunds(
        |order| {
            order["tags"] = json!(["unfulfilled"]);
            order["payments"][0]["tags"] = json!(["refund_account_money"]);
            order["payments"][0]["transaction_amount_refunded"] = 125.92.into();
        },
        Claimed::default(),
    );
    assert_eq!(lines(&refunds[0]), [("SPACER-2", true, 2, dec!(62.96))]);
}

#[test]
fn a_refund_without_an_amount_is_not_guessed() {
    for status in ["cancelled", "partially_refunded"] {
        let (refunds, unknown) = refunds(|order| order["status"] = status.into(), Claimed::default());
        assert_eq!((refunds, unknown), (vec![], true), "{status}");
    }
}

#[test]
fn a_payment_that_another_one_took_the_place_of_is_no_refund() {
    let payment = |given_back: f64, changed_at: &str| {
        json!({
            "transaction_amount": 125.92,
            "transaction_amount_refunded": given_back,
            "date_approved": "2024-11-01T00:00:00Z",
            "date_last_modified": changed_at,
        })
    };
    let paid_twice = |of_the_second: f64| {
        let both = [payment(125.92, "2024-11-02T00:00:00Z"), payment(of_the_second, "2024-11-09T00:00:00Z")];
        refunds(|order| order["payments"] = json!(both), Claimed::default())
    };
    assert_eq!(paid_twice(0.0), (vec![], false));
    let (refunds, _) = paid_twice(20.5);
    assert_eq!((refunds.len(), refunds[0].at), (1, datetime!(2024-11-09 0:00 UTC)));
    assert_eq!(lines(&refunds[0]), [("mercadolibre:refund", false, 1, dec!(20.5))]);
}

proptest! {
    #[test]
    fn what_is_given_back_is_the_money_of_the_payments_but_for_what_was_paid_beyond_the_price(
        amounts in prop::collection::vec((0_i64..20_000, 0_u8..3), 1..4),
        paid in 0_i64..20_000,
        units in 0_i64..4,
        cancelled: bool,
    ) {
        let order = order(|order| {
            let payments: Vec<_> = amounts.iter().map(|(cents, day)| json!({
                "transaction_amount": Decimal::new(paid, 2).to_string(),
                "transaction_amount_refunded": Decimal::new(*cents, 2).to_string(),
                "date_approved": "2024-11-01T00:00:00Z",
                "date_last_modified": format!("2024-11-0{}T00:00:00Z", day + 2),
            })).collect();
            order["payments"] = payments.into();
            if cancelled {
                order["status"] = "cancelled".into();
            }
        });
        let details = Details { claimed: Claimed { refunded_at: None, ..returned(units) }, ..Details::default() };
        let taken = shop_order(&order, &details, brl()).unwrap();
        let lines = || taken.refunds.iter().flat_map(|refund| &refund.lines);
        let sum: Decimal = lines().map(|line| Decimal::from(line.quantity) * line.unit_price).sum();
        let given_back: i64 = amounts.iter().map(|(cents, _)| cents).sum();
        let beyond = amounts.iter().map(|_| paid).sum::<i64>() - 12_592;
        let expected = Decimal::new((given_back - beyond.max(0)).max(0), 2);
        prop_assert_eq!(sum, expected);
        let back: i64 = lines().filter(|line| line.is_product).map(|line| line.quantity).sum();
        let all_back = cancelled && expected >= dec!(125.92);
        let expected_units = if expected.is_zero() { 0 } else if all_back { 2 } else { units.min(2) };
        prop_assert_eq!(back, expected_units);
    }
}
