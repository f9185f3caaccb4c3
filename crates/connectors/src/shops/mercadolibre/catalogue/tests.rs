use rust_decimal::dec;
use serde_json::json;

use super::*;

fn ars() -> Currency {
    "ARS".parse().unwrap()
}

fn got(code: u16, body: &serde_json::Value) -> Got {
    serde_json::from_str(&json!({"code": code, "body": body}).to_string()).unwrap()
}

fn listed(sku: &str, user_product: Option<&str>, available: i64) -> Listed {
    Listed {
        sku: sku.to_owned(),
        name: Some(format!("{sku} of {user_product:?}")),
        category: Some("MLA1".to_owned()),
        price: Some(dec!(10)),
        user_product: user_product.map(str::to_owned),
        available: Some(available),
        is_closed: false,
    }
}

#[test]
fn variations_are_products_of_their_own() {
    let item = json!({
        "id": "MLA1", "title": "Shirt", "status": "active", "price": 100.5, "currency_id": "ARS", "available_quantity": 7,
        "variations": [
            {"id": 11, "price": 90, "available_quantity": 3, "attributes": [{"id": "SELLER_SKU", "value_name": "SHIRT-R"}],
             "attribute_combinations": [{"id": "COLOR", "value_name": "Red"}]},
            {"id": 12, "available_quantity": 4, "seller_custom_field": "SHIRT-B"},
            {"id": 13, "available_quantity": null},
        ],
    });
    let listed = listing(&got(200, &item), ars()).unwrap();
    let short: Vec<_> = listed.iter().map(|one| (one.sku.as_str(), one.price, one.available)).collect();
    let expected = [
        ("SHIRT-R", Some(dec!(90)), Some(3)),
        ("SHIRT-B", Some(dec!(100.5)), Some(4)),
        ("mercadolibre:MLA1:13", Some(dec!(100.5)), None),
    ];
    assert_eq!(short, expected);
    assert_eq!(listed[0].name.as_deref(), Some("Shirt · Red"));
}

#[test]
fn each_answer_of_a_multiget_stands_for_itself() {
    let item = json!({"id": "MLA1", "status": "active", "currency_id": "USD"});
    let foreign = LeftOut { skus: vec!["mercadolibre:MLA1".to_owned()], reason: "its currency is USD".to_owned() };
    assert_eq!(listing(&got(200, &item), ars()), Err(foreign));
    assert_eq!(listing(&got(404, &json!({"error": "not_found"})), ars()), Ok(vec![]));
    let failed = listing(&got(500, &json!({})), ars()).unwrap_err();
    assert!(failed.reason.contains("500") && failed.skus.is_empty());
    assert!(listing(&got(200, &json!({"id": []})), ars()).unwrap_err().skus.is_empty());
}

#[test]
fn what_a_multiget_does_not_answer_for_may_still_be_there() {
    let ids = ["MLA1", "MLA2", "MLA3"].map(str::to_owned).to_vec();
    let item = |id: &str| json!({"id": id, "status": "active", "currency_id": "ARS"});
    let mut all = Listings::default();
    all.add(ids.clone(), vec![got(200, &item("MLA3")), got(500, &json!({"id": "MLA1"}))], ars());
    let skus: Vec<_> = all.listed.iter().map(|listed| listed.sku.as_str()).collect();
    assert_eq!((skus.as_slice(), all.has_unread), (["mercadolibre:MLA3"].as_slice(), true));
    let refused: Vec<_> = all.refused.iter().map(|refused| refused.external_id.as_str()).collect();
    assert_eq!(refused, ["MLA1", "MLA2"]);
    let mut whole = Listings::default();
    whole.add(ids, ["MLA1", "MLA2", "MLA3"].map(|id| got(200, &item(id))).into(), ars());
    assert_eq!((whole.listed.len(), whole.has_unread), (3, false));
}

#[test]
fn what_no_open_listing_has_is_closed() {
    let closed = json!({
        "id": "MLA1", "status": "closed", "currency_id": "USD", "available_quantity": 7,
        "variations": [{"id": 11, "seller_custom_field": "gone"}, {"id": 12, "seller_custom_field": "again"}],
    });
    let mut all = listing(&got(200, &closed), ars()).unwrap();
    assert!(all.iter().all(|listed| listed.is_closed));
    all.push(Listed { is_closed: true, ..listed("GONE", None, 7) });
    all.push(Listed { is_closed: true, ..listed("dear", None, 7) });
    assert_eq!(not_listed(all, &[listed("Again", None, 2)], &["DEAR".to_owned()]), ["gone"]);
}

#[test]
fn a_user_product_is_counted_once_per_sku() {
    let all = vec![
        listed("A", Some("U1"), 9),
        listed("a", Some("U1"), 9),
        listed("A", Some("U2"), 4),
        listed("A", None, 2),
        listed("B", Some("U3"), 6),
    ];
    let stocks = [("U1".to_owned(), 5), ("U2".to_owned(), -1)].into();
    let products = by_sku(all, &stocks, &[("MLA1".to_owned(), "Shirts".to_owned())].into());
    let short: Vec<_> = products.iter().map(|product| (product.sku.as_str(), product.stock)).collect();
    let expected = [("A", Stock::Units(5 - 1 + 2)), ("B", Stock::Units(6))];
    assert_eq!(short, expected, "the stock that is not shown is what is listed");
    assert_eq!(products[0].name.as_deref(), Some("A of Some(\"U1\")"));
    assert_eq!(products[0].category.as_deref(), Some("Shirts"));
    assert_eq!(products[0].cost, None);
}
