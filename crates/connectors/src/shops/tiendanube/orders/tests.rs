use domain::shops::Refund;
use proptest::prelude::*;
use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};
use time::{OffsetDateTime, macros::datetime};

use super::*;

const CANCELLED: OffsetDateTime = datetime!(2026-11-05 09:00 UTC);
const RETURNED: OffsetDateTime = datetime!(2026-11-06 10:00 UTC);
const CHANGED: OffsetDateTime = datetime!(2026-11-09 08:00 UTC);

/// Two mugs at 10.00 and a cup at 5.00, 3.00 off, 2.00 of transport: 24.00.
fn order() -> Value {
    json!({
        "id": 450789469_u64, "created_at": "2026-11-02T23:59:30+0000", "paid_at": "2026-11-03T00:10:00+0000",
        "updated_at": "2026-11-09T08:00:00+0000", "cancelled_at": null, "status": "open", "payment_status": "paid",
        "currency": "BRL", "subtotal": "25.00", "discount": "3.00", "total": "24.00", "storefront": "store",
        "fulfillment_orders": [{"shipping": {"merchant_cost": {"value": 4.5}, "consumer_cost": {"value": "2.00"}}}],
        "customer": {"id": "101", "name": " Ana Souza ", "email": "ana@example.com", "identification": "4191"},
        "shipping_address": {"city": "Santos", "country": "BR"},
        "products": [
            {"product_id": 7, "variant_id": "71", "name": "Caneca", "sku": "MUG", "price": "10.00", "quantity": "2",
             "cost": "4.00"},
            {"product_id": 8, "variant_id": 81, "name": {"pt": "Xícara"}, "sku": null, "price": 5, "quantity": 1,
             "cost": null},
        ],
    })
}

fn with(changes: Value) -> Value {
    let mut order = order();
    for (name, value) in changes.as_object().unwrap() {
        order[name] = value.clone();
    }
    order
}

fn sorted(order: &Value, returned: &[Returned]) -> OrderBatch {
    let mut batch = OrderBatch::default();
    sort(&mut batch, serde_json::from_str(&order.to_string()).unwrap(), returned, "BRL".parse().unwrap());
    batch
}

fn taken(order: &Value, returned: &[Returned]) -> ShopOrder {
    let mut batch = sorted(order, returned);
    assert_eq!(batch.refused, []);
    batch.orders.remove(0)
}

fn gross(lines: &[Line]) -> Decimal {
    lines.iter().map(|line| line.unit_price * Decimal::from(line.quantity)).sum()
}

#[rstest]
#[case("-0001-11-30T00:00:00+0000")]
#[case("0000-00-00 00:00:00")]
#[case("")]
fn a_date_of_a_year_before_1_is_none(#[case] none: &str) {
    let order = taken(&with(json!({ "cancelled_at": none, "paid_at": none })), &[]);
    assert_eq!((order.refunds, order.order.at), (vec![], datetime!(2026-11-02 23:59:30 UTC)));
}

#[test]
fn an_order_is_what_was_paid_for_it() {
    let order = taken(&order(), &[]);
    let line = |sku: &str, name: Option<&str>, quantity, unit_price, unit_cost, is_product| Line {
        sku: sku.into(),
        is_product,
        name: name.map(str::to_owned),
        category: None,
        quantity,
        unit_price,
        unit_cost,
    };
    let expected = DocumentPart {
        kind: DocumentKind::Order,
        external_id: "450789469".into(),
        at: datetime!(2026-11-03 00:10 UTC),
        buyer: Some(Buyer {
            external_id: "101".into(),
            email: Some("ana@example.com".into()),
            name: Some("Ana Souza".into()),
            city: Some("Santos".into()),
        }),
        country: Some("BR".parse().unwrap()),
        fees: None,
        shipping: Some(dec!(4.5)),
        lines: vec![
            line("MUG", Some("Caneca"), 2, dec!(8.8), Some(dec!(4)), true),
            line("tiendanube:81", Some("Xícara"), 1, dec!(4.4), None, true),
            line("tiendanube:shipping", None, 1, dec!(2), None, false),
        ],
    };
    assert_eq!(order, ShopOrder { order: expected, refunds: vec![], refund_unknown: false, copy_of: None });
}

#[rstest]
#[case(json!({"paid_at": null}), datetime!(2026-11-02 23:59:30 UTC))]
#[case(json!({"paid_at": "2026-11-02T21:10:00-03:00"}), datetime!(2026-11-03 00:10 UTC))]
fn an_order_is_of_when_it_was_paid(#[case] changes: Value, #[case] at: OffsetDateTime) {
    assert_eq!(taken(&with(changes), &[]).order.at, at);
}

#[test]
fn the_fields_of_the_first_version_are_read_too() {
    let order = taken(
        &with(json!({"fulfillment_orders": null, "shipping_cost_owner": "3.20", "shipping_cost_customer": "0.00"})),
        &[],
    );
    assert_eq!(order.order.shipping, Some(dec!(3.2)));
    assert!(order.order.lines.iter().all(|line| line.is_product));
    assert_eq!(gross(&order.order.lines), dec!(24));
    let unknown = taken(&with(json!({"fulfillment_orders": null})), &[]);
    assert_eq!(unknown.order.shipping, None, "what is not said is not 0");
}

#[test]
fn a_guest_is_no_customer() {
    assert_eq!(taken(&with(json!({"customer": null})), &[]).order.buyer, None);
    assert_eq!(taken(&with(json!({"customer": {"id": null, "email": "a@example.com"}})), &[]).order.buyer, None);
}

#[rstest]
#[case("store", None)]
#[case("mobile", None)]
#[case("meli", Some(Platform::Mercadolibre))]
fn a_copy_says_of_which_platform(#[case] storefront: &str, #[case] copy_of: Option<Platform>) {
    assert_eq!(taken(&with(json!({"storefront": storefront})), &[]).copy_of, copy_of);
}

#[rstest]
#[case("pending")]
#[case("authorized")]
#[case("abandoned")]
#[case("voided")]
fn what_was_not_paid_does_not_count(#[case] status: &str) {
    for cancelled_at in [json!(null), json!("2026-11-05T09:00:00+0000")] {
        let batch =
            sorted(&with(json!({"payment_status": status, "cancelled_at": cancelled_at, "currency": "ARS"})), &[]);
        assert_eq!(batch.voided, [Voided { external_id: "450789469".into(), is_there: true }]);
        assert!(batch.orders.is_empty() && batch.refused.is_empty());
    }
}

#[rstest]
#[case("paid")]
#[case("partially_paid")]
#[case("refunded")]
#[case("partially_refunded")]
fn an_order_that_is_cancelled_after_it_was_paid_is_reversed(#[case] status: &str) {
    let order = taken(&with(json!({"payment_status": status, "cancelled_at": "2026-11-05T09:00:00+0000"})), &[]);
    assert_eq!(order.refunds, [Refund { at: CANCELLED, lines: order.order.lines.clone() }]);
    assert!(!order.refund_unknown);
}

#[test]
fn a_full_refund_is_of_when_the_money_went_back() {
    let refunded = with(json!({"payment_status": "refunded"}));
    let part = Returned { at: RETURNED - time::Duration::DAY, amount: dec!(4) };
    let rest = Returned { at: RETURNED, amount: dec!(20) };
    let order = taken(&refunded, &[rest, part]);
    assert_eq!(order.refunds, [Refund { at: RETURNED, lines: order.order.lines.clone() }]);
    let undated = taken(&refunded, &[]);
    assert_eq!(undated.refunds, [Refund { at: CHANGED, lines: undated.order.lines.clone() }]);
}

#[test]
fn a_part_that_went_back_is_money_without_units() {
    let refunded = with(json!({"payment_status": "partially_refunded"}));
    let order = taken(&refunded, &[Returned { at: RETURNED, amount: dec!(4.40) }]);
    let [Refund { at, lines }] = order.refunds.as_slice() else { panic!("{:?}", order.refunds) };
    assert_eq!(*at, RETURNED);
    assert_eq!((gross(lines), lines[0].is_product, lines[0].quantity), (dec!(4.4), false, 1));
    assert!(!order.refund_unknown);
}

#[rstest]
#[case(&[])]
#[case(&[Returned { at: RETURNED, amount: dec!(24.01) }])]
fn a_part_of_which_the_amount_is_not_said_is_not_guessed(#[case] returned: &[Returned]) {
    let order = taken(&with(json!({"payment_status": "partially_refunded"})), returned);
    assert!(order.refund_unknown && order.refunds.is_empty());
}

#[rstest]
#[case("paid", json!(null), false)]
#[case("partially_refunded", json!(null), true)]
#[case("refunded", json!(null), true)]
#[case("refunded", json!("2026-11-05T09:00:00+0000"), false)]
#[case("voided", json!(null), false)]
fn the_history_is_asked_for_where_it_decides(#[case] status: &str, #[case] cancelled_at: Value, #[case] needed: bool) {
    let order = with(json!({"payment_status": status, "cancelled_at": cancelled_at}));
    assert_eq!(refunds::needs_history(&serde_json::from_str(&order.to_string()).unwrap()), needed);
}

#[test]
fn money_that_went_back_is_read_from_the_history() {
    let history = r#"[{"status":"PAID","total_paid_diff":24,"happened_at":"2026-11-03T00:10:00+00:00"},
        {"status":"X","total_paid_diff":"-4.40","happened_at":"2026-11-06T10:00:00+00:00"},
        {"status":"X","total_paid_diff":0,"happened_at":null},{"status":"X","total_paid_diff":-1}]"#;
    let returned = refunds::returned(serde_json::from_str(history).unwrap());
    assert_eq!(returned, [Returned { at: RETURNED, amount: dec!(4.4) }]);
}

#[rstest]
#[case(json!({"currency": "ARS"}), "its currency is ARS")]
#[case(json!({"total": "-1"}), "its `total` is missing or cannot be read")]
#[case(json!({"total": null}), "its `total` is missing or cannot be read")]
#[case(json!({"created_at": "yesterday"}), "its `created_at` is missing or cannot be read")]
#[case(json!({"cancelled_at": 5}), "its `cancelled_at` is missing or cannot be read")]
#[case(json!({"payment_status": "In Dispute <b>"}), "its payment status `nisputeb` is not known")]
#[case(json!({"products": {}}), "its `products` is missing or cannot be read")]
#[case(json!({"products": [{"variant_id": 1, "price": "1", "quantity": -1}]}),
    "its `products.quantity` is missing or cannot be read")]
#[case(json!({"products": [{"price": "1", "quantity": 1}]}), "its `products.variant_id` is missing or cannot be read")]
#[case(json!({"fulfillment_orders": [{"shipping": {"merchant_cost": {"value": "-5"}}}]}),
    "its `fulfillment_orders.shipping.merchant_cost` is missing or cannot be read")]
fn what_cannot_be_taken_is_named(#[case] changes: Value, #[case] reason: &str) {
    let batch = sorted(&with(changes), &[]);
    let [refused] = batch.refused.as_slice() else { panic!("{batch:?}") };
    assert_eq!((refused.kind, refused.external_id.as_str(), refused.reason.as_str()), ("order", "450789469", reason));
}

#[test]
fn a_discount_beyond_the_goods_is_one_of_the_transport() {
    let lines = taken(&with(json!({"total": "1.50"})), &[]).order.lines;
    assert_eq!(gross(&lines), dec!(1.5));
    assert!(lines.iter().filter(|line| line.is_product).all(|line| line.unit_price.is_zero()));
}

#[test]
fn what_was_paid_beyond_the_goods_is_a_surcharge() {
    let lines = taken(&with(json!({"total": "28.35"})), &[]).order.lines;
    assert_eq!(gross(&lines), dec!(28.35));
    assert_eq!(lines[0].unit_price, dec!(10));
    assert_eq!(
        lines.last().map(|line| (line.sku.as_str(), line.unit_price)),
        Some(("tiendanube:surcharge", dec!(1.35)))
    );
}

proptest! {
    /// Whatever was sold at which discount, the lines add up to the total, and the units to what was sold.
    #[test]
    fn the_lines_add_up_to_the_total(
        sold in prop::collection::vec((0_i64..5_000_000, 1_i64..200), 1..10),
        shipping in 0_i64..100_000,
        kept in 0_u32..=1_200,
    ) {
        let goods: i64 = sold.iter().map(|(cents, quantity)| cents * quantity).sum();
        let total = goods * i64::from(kept) / 1_000 + shipping;
        let text = |cents: i64| format!("{}.{:02}", cents / 100, cents % 100);
        let products: Vec<_> = sold.iter().enumerate().map(|(index, (cents, quantity))| {
            json!({"variant_id": index + 1, "price": text(*cents), "quantity": quantity})
        }).collect();
        let order = taken(&with(json!({
            "products": products, "total": text(total), "fulfillment_orders": [],
            "shipping_cost_customer": text(shipping),
        })), &[]);
        let lines = &order.order.lines;
        prop_assert_eq!(gross(lines), Decimal::new(total, 2));
        for (index, (cents, quantity)) in sold.iter().enumerate() {
            let sku = format!("tiendanube:{}", index + 1);
            let own: Vec<_> = lines.iter().filter(|line| line.sku == sku).cloned().collect();
            prop_assert_eq!(own.iter().map(|line| line.quantity).sum::<i64>(), *quantity);
            prop_assert!(gross(&own) <= Decimal::new(cents * quantity, 2));
        }
        prop_assert!(lines.iter().all(|line| line.quantity > 0 && line.unit_price >= Decimal::ZERO));
        prop_assert!(lines.iter().all(|line| line.unit_price.normalize().scale() <= 6));
    }
}
