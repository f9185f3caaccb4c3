use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};
use time::macros::datetime;

use super::*;

const SELLER: &str = "779432305";

/// An order like the one in the documentation on packs.
pub(in super::super) fn sample() -> Value {
    json!({
        "id": 2_000_009_713_473_608_i64,
        "date_created": "2024-11-01T09:34:59.000-04:00",
        "last_updated": "2024-11-01T09:37:20.000-04:00",
        "date_closed": "2024-11-01T09:35:43.000-04:00",
        "pack_id": 2_000_006_556_183_755_i64,
        "total_amount": 125.92,
        "order_items": [{
            "item": {"id": "MLB3737188005", "title": "Tile spacer", "variation_id": null, "seller_sku": "SPACER-2"},
            "quantity": 2,
            "unit_price": 62.96,
            "full_unit_price": 72.37,
            "currency_id": "BRL",
            "sale_fee": 11.07,
        }],
        "currency_id": "BRL",
        "payments": [{
            "id": 91_776_699_099_i64,
            "status": "approved",
            "transaction_amount": 125.92,
            "transaction_amount_refunded": 0.0,
            "date_approved": "2024-11-01T09:35:42.000-04:00",
            "date_last_modified": "2024-11-01T09:37:12.000-04:00",
        }],
        "shipping": {"id": 44_028_792_542_i64},
        "status": "paid",
        "tags": ["pack_order", "order_has_discount", "paid"],
        "seller": {"id": 779_432_305},
        "buyer": {"id": 6_427_433, "nickname": "ANA123"},
    })
}

pub(in super::super) fn order(change: impl FnOnce(&mut Value)) -> Order {
    let mut sample = sample();
    change(&mut sample);
    serde_json::from_str(&sample.to_string()).unwrap()
}

pub(in super::super) fn brl() -> Currency {
    "BRL".parse().unwrap()
}

#[test]
fn a_sale_comes_with_fees_of_all_units() {
    let details = Details { shipping: Some(dec!(8.19)), ..Details::default() };
    let ShopOrder { order, refunds, refund_unknown, copy_of: _ } = shop_order(&order(|_| ()), &details, brl()).unwrap();
    let line = Line {
        sku: "SPACER-2".to_owned(),
        is_product: true,
        name: Some("Tile spacer".to_owned()),
        category: None,
        quantity: 2,
        unit_price: dec!(62.96),
        unit_cost: None,
    };
    let buyer = Buyer { external_id: "6427433".to_owned(), email: None, name: Some("ANA123".to_owned()), city: None };
    let expected = DocumentPart {
        kind: DocumentKind::Order,
        external_id: "2000009713473608".to_owned(),
        at: datetime!(2024-11-01 13:35:43 UTC),
        buyer: Some(buyer),
        country: Some("BR".parse().unwrap()),
        fees: Some(dec!(22.14)),
        shipping: Some(dec!(8.19)),
        lines: vec![line],
    };
    assert_eq!((order, refunds, refund_unknown), (expected, vec![], false));
}

#[test]
fn a_coupon_of_the_seller_is_taken_off_to_the_cent() {
    let details = Details { discounts: vec![("MLB3737188005".to_owned(), dec!(0.000001))], ..Details::default() };
    let taken = shop_order(&order(|_| ()), &details, brl()).unwrap();
    let sum: Decimal = taken.order.lines.iter().map(|line| Decimal::from(line.quantity) * line.unit_price).sum();
    assert_eq!(sum, dec!(125.919999));
    let more = Details { discounts: vec![("MLB3737188005".to_owned(), dec!(125.93))], ..Details::default() };
    assert_eq!(shop_order(&order(|_| ()), &more, brl()), Err("its discount is more than its price".to_owned()));
}

#[test]
fn unknown_fees_are_not_none() {
    let unknown = order(|order| order["order_items"][0]["sale_fee"] = Value::Null);
    assert_eq!(shop_order(&unknown, &Details::default(), brl()).unwrap().order.fees, None);
}

#[rstest]
#[case("paid", true, Standing::Sale)]
#[case("partially_refunded", true, Standing::Sale)]
#[case("cancelled", true, Standing::Sale)]
#[case("cancelled", false, Standing::Void)]
#[case("pending_cancel", false, Standing::Void)]
#[case("payment_required", false, Standing::Void)]
#[case("partially_paid", true, Standing::Void)]
#[case("invalid", true, Standing::Void)]
#[case("gone", true, Standing::Refused("its status is not known: gone".to_owned()))]
fn what_was_paid_is_a_sale(#[case] status: &str, #[case] paid: bool, #[case] expected: Standing) {
    let order = order(|order| {
        order["status"] = status.into();
        if !paid {
            order["payments"][0]["status"] = "rejected".into();
            order["payments"][0]["date_approved"] = Value::Null;
        }
    });
    assert_eq!(standing(&order, SELLER, brl()), expected);
}

#[test]
fn tests_purchases_and_split_packs_are_no_sales() {
    let test = order(|order| order["tags"] = json!(["test_order"]));
    assert_eq!(standing(&test, SELLER, brl()), Standing::Void);
    let split = order(|order| {
        order["status"] = "cancelled".into();
        order["cancel_detail"] = json!({"code": "pack_splitted"});
    });
    assert_eq!(standing(&split, SELLER, brl()), Standing::Void);
    assert!(matches!(standing(&order(|_| ()), "1", brl()), Standing::Refused(_)), "bought, not sold");
}

#[test]
fn another_currency_is_refused() {
    let ars = "ARS".parse().unwrap();
    assert_eq!(standing(&order(|_| ()), SELLER, ars), Standing::Refused("its currency is BRL".to_owned()));
}

#[rstest]
#[case(&[Some("A"), Some("B")], None, "A")]
#[case(&[Some(" "), Some(" B ")], None, "B")]
#[case(&[None, None], None, "mercadolibre:MLB1")]
#[case(&[None, None], Some("7"), "mercadolibre:MLB1:7")]
fn the_sellers_own_sku_comes_first(
    #[case] own: &[Option<&str>],
    #[case] variation: Option<&str>,
    #[case] expected: &str,
) {
    assert_eq!(sku(own, "MLB1", variation), expected);
}

#[test]
fn an_sku_that_is_too_long_is_not_cut_to_another_one() {
    assert_eq!(sku(&[Some(&"x".repeat(129))], "MLB1", None), "mercadolibre:MLB1");
    assert_eq!(sku(&[Some(&"x".repeat(128))], "MLB1", None), "x".repeat(128));
}
