use proptest::prelude::*;
use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};
use time::macros::datetime;

use super::*;

fn money(amount: &str) -> Value {
    json!({ "shopMoney": { "amount": amount, "currencyCode": "EUR" } })
}

fn sale(action: &str, kind: &str, quantity: Option<i64>, total: &str, tax: &str) -> Value {
    json!({
        "actionType": action, "lineType": kind, "quantity": quantity,
        "totalAmount": money(total), "totalTaxAmount": money(tax),
    })
}

fn goods(action: &str, line: &str, quantity: i64, total: &str, tax: &str) -> Value {
    let mut sale = sale(action, "PRODUCT", Some(quantity), total, tax);
    let id = format!("gid://shopify/LineItem/{line}");
    sale["lineItem"] =
        json!({ "id": id, "sku": format!("SKU-{line}"), "name": "Cup", "variant": { "legacyResourceId": "5" } });
    sale
}

fn agreement(reason: &str, day: u8, sales: Vec<Value>) -> Value {
    let last = json!({ "hasNextPage": false, "endCursor": null });
    json!({
        "id": format!("gid://shopify/SalesAgreement/{day}"), "happenedAt": format!("2026-11-{day:02}T10:00:00.25Z"),
        "reason": reason, "sales": { "pageInfo": last, "nodes": sales },
    })
}

fn wire(agreements: Vec<Value>) -> Value {
    let last = json!({ "hasNextPage": false, "endCursor": null });
    json!({
        "id": "gid://shopify/Order/1", "legacyResourceId": "1", "test": false, "displayFinancialStatus": "PAID",
        "currencyCode": "EUR", "customer": null, "shippingAddress": null, "transactions": [],
        "agreements": { "pageInfo": last, "nodes": agreements },
    })
}

fn mapped(wire: Value) -> Mapped {
    order(serde_json::from_value::<OrderWireOwned>(wire).unwrap().0, "EUR".parse().unwrap())
}

/// Numbers are read from text, which values do not have: so by way of text.
struct OrderWireOwned(OrderWire);

impl<'de> serde::Deserialize<'de> for OrderWireOwned {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        serde_json::from_str(&value.to_string()).map(Self).map_err(serde::de::Error::custom)
    }
}

fn taken(wire: Value) -> ShopOrder {
    match mapped(wire) {
        Mapped::Taken(order) => *order,
        other => panic!("{other:?}"),
    }
}

/// SKU, whether it is a product, quantity and price of each line.
fn summary(lines: &[Line]) -> Vec<(&str, bool, i64, Decimal)> {
    lines.iter().map(|line| (line.sku.as_str(), line.is_product, line.quantity, line.unit_price)).collect()
}

#[test]
fn amounts_are_net_of_tax_and_dated_by_their_agreements() {
    let order = taken(wire(vec![
        agreement(
            "ORDER",
            1,
            vec![goods("ORDER", "7", 2, "24.20", "4.20"), sale("ORDER", "SHIPPING", None, "6.05", "1.05")],
        ),
        agreement(
            "REFUND",
            4,
            vec![goods("RETURN", "7", -1, "-12.10", "-2.10"), sale("RETURN", "SHIPPING", None, "-6.05", "-1.05")],
        ),
    ]));
    assert_eq!(order.order.at, datetime!(2026-11-01 10:00 UTC), "whole seconds");
    assert_eq!(summary(&order.order.lines), [("SKU-7", true, 2, dec!(10)), ("shopify:shipping", false, 1, dec!(5))]);
    assert_eq!(order.refunds.len(), 1);
    assert_eq!(order.refunds[0].at, datetime!(2026-11-04 10:00 UTC));
    assert_eq!(
        summary(&order.refunds[0].lines),
        [("SKU-7", true, 1, dec!(10)), ("shopify:shipping", false, 1, dec!(5))]
    );
}

#[test]
fn a_date_that_does_not_exist_in_utc_is_left_to_be_refused() {
    let mut agreement = agreement("ORDER", 1, vec![goods("ORDER", "7", 1, "30", "0")]);
    agreement["happenedAt"] = "9999-12-31T23:59:59-23:59".into();
    assert_eq!(taken(wire(vec![agreement])).order.at, datetime!(9999-12-31 23:59:59 -23:59));
}

#[test]
fn an_edit_changes_the_order_and_is_no_refund() {
    let order = taken(wire(vec![
        agreement("ORDER", 1, vec![goods("ORDER", "7", 3, "30", "0")]),
        agreement("ORDER_EDIT", 2, vec![goods("RETURN", "7", -1, "-10", "0"), goods("ORDER", "8", 1, "5.5", "0")]),
        agreement("ORDER_EDIT", 3, vec![goods("UPDATE", "8", 1, "-0.5", "0"), sale("RETURN", "TIP", None, "0", "0")]),
    ]));
    assert_eq!(summary(&order.order.lines), [("SKU-7", true, 2, dec!(10)), ("SKU-8", true, 1, dec!(5))]);
    assert_eq!(order.refunds, []);
}

#[test]
fn what_is_given_in_exchange_belongs_to_the_order() {
    let order = taken(wire(vec![
        agreement("ORDER", 1, vec![goods("ORDER", "7", 1, "30", "0")]),
        agreement("RETURN", 5, vec![goods("RETURN", "7", -1, "-30", "0"), goods("ORDER", "8", 1, "32", "0")]),
    ]));
    assert_eq!(summary(&order.order.lines), [("SKU-7", true, 1, dec!(30)), ("SKU-8", true, 1, dec!(32))]);
    assert_eq!(summary(&order.refunds[0].lines), [("SKU-7", true, 1, dec!(30))]);
}

/// Less money went back than was paid for what came back.
#[rstest]
#[case("REFUND", "ADJUSTMENT", "shopify:adjustment")]
#[case("RETURN", "FEE", "shopify:fee")]
fn what_is_kept_of_a_refund_belongs_to_the_refund(#[case] reason: &str, #[case] kind: &str, #[case] sku: &str) {
    let order = taken(wire(vec![
        agreement("ORDER", 1, vec![goods("ORDER", "7", 1, "30", "0")]),
        agreement(reason, 5, vec![goods("RETURN", "7", -1, "-30", "0"), sale("ORDER", kind, None, "4", "0")]),
    ]));
    assert_eq!(summary(&order.order.lines), [("SKU-7", true, 1, dec!(30))]);
    assert_eq!(summary(&order.refunds[0].lines), [("SKU-7", true, 1, dec!(30)), (sku, false, -1, dec!(4))]);
}

fn gift_card(action: &str, total: &str) -> Value {
    sale(action, "GIFT_CARD", Some(1), total, "0")
}

#[test]
fn gift_cards_count_neither_when_they_are_sold_nor_when_they_are_refunded() {
    let order = taken(wire(vec![
        agreement("ORDER", 1, vec![gift_card("ORDER", "50"), goods("ORDER", "7", 2, "20", "0")]),
        agreement("REFUND", 2, vec![gift_card("RETURN", "-50")]),
        agreement("REFUND", 3, vec![gift_card("RETURN", "-50"), goods("RETURN", "7", -1, "-10", "0")]),
    ]));
    assert_eq!(summary(&order.order.lines), [("SKU-7", true, 2, dec!(10))]);
    assert_eq!(order.refunds.len(), 1);
    assert_eq!(summary(&order.refunds[0].lines), [("SKU-7", true, 1, dec!(10))]);
}

#[rstest]
#[case(vec![])]
#[case(vec![agreement("REFUND", 2, vec![gift_card("RETURN", "-50")])])]
fn an_order_of_nothing_but_gift_cards_does_not_count(#[case] later: Vec<Value>) {
    let ordered = agreement("ORDER", 1, vec![gift_card("ORDER", "50")]);
    assert_eq!(mapped(wire([vec![ordered], later].concat())), Mapped::Voided);
}

#[test]
fn a_sum_that_cannot_be_divided_stays_itself() {
    let order = taken(wire(vec![agreement("ORDER", 1, vec![goods("ORDER", "7", 3, "100.00", "0")])]));
    assert_eq!(summary(&order.order.lines), [("SKU-7", true, 2, dec!(33.33)), ("SKU-7", true, 1, dec!(33.34))]);
}

#[test]
fn money_without_units_and_refunds_taken_back_pass_through() {
    let order = taken(wire(vec![
        agreement("ORDER", 1, vec![goods("ORDER", "7", 2, "20", "0")]),
        agreement("REFUND", 2, vec![sale("RETURN", "ADJUSTMENT", None, "-3.5", "0")]),
        agreement("REFUND", 3, vec![goods("UPDATE", "7", 2, "-1", "0")]),
        agreement("REFUND", 4, vec![sale("RETURN", "ADJUSTMENT", None, "2", "0"), goods("RETURN", "7", 1, "10", "0")]),
    ]));
    let lines: Vec<_> = order.refunds.iter().flat_map(|refund| summary(&refund.lines)).collect();
    let adjustment = |quantity, price| ("shopify:adjustment", false, quantity, price);
    assert_eq!(
        lines,
        [adjustment(1, dec!(3.5)), adjustment(1, dec!(1)), adjustment(-1, dec!(2)), ("SKU-7", true, -1, dec!(10))]
    );
}

#[test]
fn a_line_below_zero_is_deducted_from_the_others() {
    let order = taken(wire(vec![agreement(
        "ORDER",
        1,
        vec![
            goods("ORDER", "7", 1, "30", "0"),
            goods("ORDER", "8", 1, "10", "0"),
            sale("ORDER", "ADJUSTMENT", None, "-0.05", "0"),
        ],
    )]));
    assert_eq!(summary(&order.order.lines), [("SKU-7", true, 1, dec!(29.96)), ("SKU-8", true, 1, dec!(9.99))]);
}

#[rstest]
#[case(json!({ "test": true }))]
#[case(json!({ "displayFinancialStatus": "PENDING" }))]
#[case(json!({ "displayFinancialStatus": "VOIDED" }))]
#[case(json!({ "displayFinancialStatus": "EXPIRED", "transactions": [{ "kind": "SALE", "status": "FAILURE", "test": false, "fees": [] }] }))]
fn what_was_never_paid_or_a_test_does_not_count(#[case] change: Value) {
    assert_eq!(mapped(changed(change)), Mapped::Voided);
}

#[rstest]
#[case(json!({ "displayFinancialStatus": "AUTHORIZED" }))]
#[case(json!({ "displayFinancialStatus": null }))]
#[case(json!({ "displayFinancialStatus": "PENDING", "transactions": [{ "kind": "CAPTURE", "status": "SUCCESS", "test": false, "fees": [] }] }))]
fn what_is_paid_or_promised_counts(#[case] change: Value) {
    assert!(matches!(mapped(changed(change)), Mapped::Taken(_)));
}

fn changed(change: Value) -> Value {
    let mut order = wire(vec![agreement("ORDER", 1, vec![goods("ORDER", "7", 1, "30", "0")])]);
    for (field, value) in change.as_object().unwrap() {
        order[field] = value.clone();
    }
    order
}

#[rstest]
#[case(changed(json!({ "currencyCode": "BRL" })), "its currency is BRL")]
#[case(wire(vec![]), "it does not say what was ordered")]
#[case(wire(vec![agreement("UNKNOWN", 1, vec![])]), "it does not say what was ordered")]
#[case(wire(vec![agreement("ORDER", 1, vec![sale("UNKNOWN", "TIP", None, "1", "0")])]), "one of its sales is of the kind UNKNOWN")]
#[case(wire(vec![agreement("ORDER", 1, vec![sale("ORDER", "PRODUCT", Some(1), "1", "0")])]), "one of its sales does not say of what")]
#[case(wire(vec![agreement("ORDER", 1, vec![goods("ORDER", "7", 1, "1", "0"), sale("ORDER", "TIP", None, "-2", "0")])]), "its lines add up to less than 0")]
#[case(wire(vec![agreement("ORDER", 1, vec![goods("ORDER", "7", 1, "0.1234567", "0")])]), "one of its amounts is too large or too fine")]
fn what_cannot_be_taken_is_refused_with_its_reason(#[case] wire: Value, #[case] reason: &str) {
    assert_eq!(mapped(wire), Mapped::Refused(reason.to_owned()));
}

#[rstest]
#[case(json!([]), None)]
#[case(json!([("SUCCESS", "0.59", "EUR"), ("SUCCESS", "0.10", "EUR"), ("FAILURE", "9", "EUR")]), Some(dec!(0.69)))]
#[case(json!([("SUCCESS", "0.59", "USD")]), None)]
#[case(json!([("SUCCESS", "0", "EUR")]), Some(dec!(0)))]
fn fees_are_those_of_payments_that_were_made(#[case] fees: Value, #[case] expected: Option<Decimal>) {
    let transaction = |fee: &Value| {
        json!({
            "kind": "SALE", "status": fee[0], "test": false,
            "fees": [{ "amount": { "amount": fee[1], "currencyCode": fee[2] } }],
        })
    };
    let transactions: Vec<Value> = fees.as_array().unwrap().iter().map(transaction).collect();
    assert_eq!(taken(changed(json!({ "transactions": transactions }))).order.fees, expected);
}

/// Of an order that was paid in two ways, of which Shopify's own tells its fees.
#[rstest]
#[case("paypal", None)]
#[case("gift_card", Some(dec!(0.59)))]
#[case("shopify_payments", Some(dec!(0.59)))]
fn fees_are_unknown_where_a_part_was_paid_without_telling_them(
    #[case] gateway: &str,
    #[case] expected: Option<Decimal>,
) {
    let transaction = |kind: &str, gateway: &str, fees: Value| -> Value {
        json!({ "kind": kind, "status": "SUCCESS", "test": false, "gateway": gateway, "fees": fees })
    };
    let fees = json!([{ "amount": { "amount": "0.59", "currencyCode": "EUR" } }]);
    let transactions = [
        transaction("AUTHORIZATION", "shopify_payments", fees),
        transaction("CAPTURE", "shopify_payments", json!([])),
        transaction("SALE", gateway, json!([])),
        transaction("REFUND", "manual", json!([])),
    ];
    assert_eq!(taken(changed(json!({ "transactions": transactions }))).order.fees, expected);
}

#[test]
fn what_was_paid_by_gift_card_alone_cost_no_fees() {
    let paid = json!([{ "kind": "SALE", "status": "SUCCESS", "test": false, "gateway": "gift_card", "fees": [] }]);
    assert_eq!(taken(changed(json!({ "transactions": paid }))).order.fees, Some(Decimal::ZERO));
}

#[rstest]
#[case("Ana Ruiz", Some("ana@example.com"), Some("Ana Ruiz"))]
#[case("ana@example.com", Some("ana@example.com"), None)]
#[case("+34 600 000 000", None, None)]
fn a_buyer_has_the_name_they_gave(#[case] shown: &str, #[case] email: Option<&str>, #[case] name: Option<&str>) {
    let email = email.map(|email| json!({ "emailAddress": email }));
    let customer = json!({ "legacyResourceId": 77, "displayName": shown, "defaultEmailAddress": email });
    let address = json!({ "countryCodeV2": "ES", "city": "Madrid" });
    let order = taken(changed(json!({ "customer": customer, "shippingAddress": address }))).order;
    let buyer = order.buyer.unwrap();
    assert_eq!(
        (buyer.external_id.as_str(), buyer.name.as_deref(), buyer.city.as_deref()),
        ("77", name, Some("Madrid"))
    );
    assert_eq!(order.country, Some("ES".parse().unwrap()));
}

#[rstest]
#[case(Some(" A-1 "), "A-1")]
#[case(Some("  "), "shopify:5")]
#[case(None, "shopify:5")]
fn a_blank_sku_is_the_variants_number(#[case] given: Option<&str>, #[case] expected: &str) {
    assert_eq!(sku(given, Some("5")), expected);
    assert_eq!(sku(Some(&"x".repeat(129)), Some("5")), "shopify:5", "too long to be kept");
}

proptest! {
    /// Whatever was ordered, edited and refunded, nothing of the money is lost on the way.
    #[test]
    fn lines_add_up_to_the_sales(
        ordered in prop::collection::vec((1_i64..50, 0_i64..100_000, 0_i64..2_000), 1..8),
        correction in -1_000_i64..1_000,
        refunded in prop::collection::vec((0_i64..5, 0_i64..20_000), 0..5),
    ) {
        let cents = |cents: i64| Decimal::new(cents, 2).to_string();
        let mut sales: Vec<Value> = ordered.iter().enumerate()
            .map(|(line, (units, total, tax))| goods("ORDER", &line.to_string(), *units, &cents(total + tax), &cents(*tax)))
            .collect();
        sales.push(sale("ORDER", "ADJUSTMENT", None, &cents(correction), "0"));
        let back = refunded.iter().enumerate()
            .map(|(line, (units, total))| goods("RETURN", &line.to_string(), -units, &cents(-total), "0"))
            .collect();
        let total = ordered.iter().map(|(_, total, _)| total).sum::<i64>() + correction;
        match mapped(wire(vec![agreement("ORDER", 1, sales), agreement("REFUND", 2, back)])) {
            Mapped::Taken(order) => {
                let sum = |lines: &[Line]| lines.iter().map(|line| Decimal::from(line.quantity) * line.unit_price).sum::<Decimal>();
                prop_assert_eq!(sum(&order.order.lines), Decimal::new(total, 2));
                let units: i64 = order.order.lines.iter().filter(|line| line.is_product).map(|line| line.quantity).sum();
                prop_assert_eq!(units, ordered.iter().map(|(units, ..)| units).sum::<i64>());
                let back: Decimal = order.refunds.iter().map(|refund| sum(&refund.lines)).sum();
                prop_assert_eq!(back, Decimal::new(refunded.iter().map(|(_, total)| total).sum(), 2));
                prop_assert!(order.order.lines.iter().all(|line| line.quantity > 0 && line.unit_price >= Decimal::ZERO));
            }
            other => prop_assert!(total < 0, "{other:?}"),
        }
    }
}
