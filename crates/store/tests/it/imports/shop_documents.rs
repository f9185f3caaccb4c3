//! Orders of a connected shop: what it no longer names is gone, and the days' sums with it.

use domain::{
    IntegrationId,
    accounts::Platform,
    daily::DailyStore,
    imports::{Changes, DocumentPart, ImportStore, Line, ShopDocument, ShopSource, ShopSummary, refund_id},
    profit::DayRange,
};
use rust_decimal::{Decimal, dec};
use time::{
    OffsetDateTime,
    macros::{date, datetime},
};

use super::fixture::{NOW, Shop, line, order, refund, rows};

const SHOPIFY: ShopSource = ShopSource { platform: Platform::Shopify, integration: IntegrationId(1) };
const SOLD: OffsetDateTime = datetime!(2026-03-02 15:00 UTC);

fn sold(id: &str) -> DocumentPart {
    order(id, SOLD, "ana", vec![line("MUG", 3, "10")])
}

/// A refund of one mug on a day of March.
fn back(id: &str, day: u8) -> DocumentPart {
    let at = SOLD.replace_day(day).unwrap();
    refund(&refund_id(id, at.date()), at, "ana", vec![line("MUG", 1, "10")])
}

fn whole(id: &str, parts: Vec<DocumentPart>) -> ShopDocument {
    ShopDocument { order_id: id.into(), parts, is_whole: true, is_there: true }
}

async fn import(shop: &Shop, documents: Vec<ShopDocument>) -> ShopSummary {
    shop.importer.shop_documents(shop.target(), SHOPIFY, rows(documents)).await.unwrap()
}

/// The refunds that there are, and the lines that belong to none.
async fn refunds(shop: &Shop) -> Vec<String> {
    let orphans: i64 = shop
        .one(
            "SELECT count(*) FROM refund_lines l WHERE account_id = $1 AND NOT EXISTS (
                  SELECT FROM refunds r WHERE r.account_id = $1 AND r.id = l.refund_id)",
        )
        .await;
    assert_eq!(orphans, 0);
    shop.texts("SELECT external_id FROM refunds WHERE account_id = $1 ORDER BY external_id COLLATE \"C\"").await
}

/// (Day of March, gross revenue, refunds) of the days on which anything happened.
async fn days(shop: &Shop) -> Vec<(u8, Decimal, Decimal)> {
    let store = shop.database.store().unwrap();
    store.roll_up(shop.account, &"America/Sao_Paulo".parse().unwrap(), NOW).await.unwrap().unwrap();
    let range = DayRange { first: date!(2026 - 03 - 01), last: date!(2026 - 03 - 31) };
    let days = store.series(shop.account, range).await.unwrap();
    days.into_iter().map(|day| (day.day.day(), day.gross_revenue, day.refunds)).collect()
}

#[tokio::test]
async fn refunds_that_an_order_no_longer_has_are_removed_and_their_days_change_back() {
    let shop = Shop::open().await;
    let first =
        vec![whole("7", vec![sold("7"), back("7", 4), back("7", 6)]), whole("77", vec![sold("77"), back("77", 4)])];
    let summary = import(&shop, first.clone()).await;
    assert_eq!((summary.orders_removed, summary.refunds_removed), (0, 0));
    assert_eq!(summary.documents.refunds, Changes { new: 3, changed: 0, unchanged: 0 });
    let before = [(2, dec!(60), dec!(0)), (4, dec!(0), dec!(20)), (6, dec!(0), dec!(10))];
    assert_eq!(days(&shop).await, before);

    shop.forget_days().await;
    let image = shop.image().await;
    let summary = import(&shop, first).await;
    assert_eq!((summary.refunds_removed, summary.documents.days_touched), (0, 0), "the same again changes nothing");
    assert_eq!(shop.image().await, image);

    let summary = import(&shop, vec![whole("7", vec![sold("7"), back("7", 6)])]).await;
    assert_eq!((summary.refunds_removed, summary.documents.days_touched), (1, 1));
    assert_eq!(refunds(&shop).await, ["7/2026-03-06", "77/2026-03-04"]);
    assert_eq!(shop.days().await, ["2026-03-04"]);
    assert_eq!(days(&shop).await, [(2, dec!(60), dec!(0)), (4, dec!(0), dec!(10)), (6, dec!(0), dec!(10))]);
}

#[tokio::test]
async fn an_order_that_does_not_count_is_removed_with_its_refunds() {
    let shop = Shop::open().await;
    import(&shop, vec![whole("7", vec![sold("7"), back("7", 4)]), whole("8", vec![sold("8")])]).await;
    assert_eq!(days(&shop).await, [(2, dec!(60), dec!(0)), (4, dec!(0), dec!(10))]);
    let voided = ShopDocument { order_id: "7".into(), parts: vec![], is_whole: false, is_there: true };
    let unknown = ShopDocument { order_id: "9".into(), parts: vec![], is_whole: true, is_there: true };
    let summary = import(&shop, vec![voided, unknown]).await;
    assert_eq!((summary.orders_removed, summary.refunds_removed, summary.documents.days_touched), (1, 1, 2));
    assert_eq!(refunds(&shop).await, Vec::<String>::new());
    assert_eq!(shop.texts("SELECT external_id FROM orders WHERE account_id = $1").await, ["8"]);
    let lines: i64 = shop.one("SELECT count(*) FROM order_lines WHERE account_id = $1").await;
    assert_eq!(lines, 1);
    assert_eq!(days(&shop).await, [(2, dec!(30), dec!(0))]);
}

#[tokio::test]
async fn the_same_order_by_file_and_by_sync_is_one_order() {
    let shop = Shop::open().await;
    let by_hand = refund("R1", SOLD, "ana", vec![line("MUG", 1, "10")]);
    shop.import(vec![sold("7"), back("7", 4), by_hand]).await;
    let summary = import(&shop, vec![whole("7", vec![sold("7"), back("7", 4)])]).await;
    assert_eq!(summary.documents.orders, Changes { new: 0, changed: 0, unchanged: 1 });
    assert_eq!((summary.documents.refunds.unchanged, summary.refunds_removed), (1, 0));
    // A refund with a number of its own names no order.
    assert_eq!(refunds(&shop).await, ["7/2026-03-04", "R1"]);
    // What the platform does not know of its refunds takes none away.
    let known_in_part = ShopDocument { order_id: "7".into(), parts: vec![sold("7")], is_whole: false, is_there: true };
    assert_eq!(import(&shop, vec![known_in_part]).await.refunds_removed, 0);
    // Another platform's order of the same number is another order.
    let tiendanube = ShopSource { platform: Platform::Tiendanube, ..SHOPIFY };
    let other = vec![whole("7", vec![])];
    let summary = shop.importer.shop_documents(shop.target(), tiendanube, rows(other)).await.unwrap();
    assert_eq!((summary.orders_removed, summary.refunds_removed), (0, 0));
    assert_eq!(refunds(&shop).await, ["7/2026-03-04", "R1"]);
}

/// A shop that is connected again, or another one of the same platform, does not know what a file or the first one brought.
#[tokio::test]
async fn an_order_that_the_shop_does_not_have_is_removed_only_if_it_came_from_there() {
    let shop = Shop::open().await;
    let absent = |id: &str| ShopDocument { is_there: false, ..whole(id, vec![]) };
    let all = || rows(["1", "2", "3", "4"].map(absent).to_vec());
    shop.import(vec![sold("1"), back("1", 4), sold("2"), sold("3")]).await;
    import(&shop, vec![whole("2", vec![sold("2"), back("2", 4)]), whole("4", vec![sold("4")])]).await;
    let again = ShopSource { integration: IntegrationId(2), ..SHOPIFY };
    let summary = shop.importer.shop_documents(shop.target(), again, all()).await.unwrap();
    assert_eq!((summary.orders_removed, summary.refunds_removed, summary.documents.days_touched), (0, 0, 0));
    let summary = shop.importer.shop_documents(shop.target(), SHOPIFY, all()).await.unwrap();
    assert_eq!((summary.orders_removed, summary.refunds_removed), (2, 1));
    let left = "SELECT external_id FROM orders WHERE account_id = $1 ORDER BY external_id";
    assert_eq!(shop.texts(left).await, ["1", "3"]);
    assert_eq!(refunds(&shop).await, ["1/2026-03-04"]);
    // What the shop has and does not count is not counted here either.
    assert_eq!(import(&shop, vec![whole("1", vec![])]).await.orders_removed, 1);
}

#[tokio::test]
async fn an_order_that_was_read_twice_counts_as_it_was_read_last() {
    let shop = Shop::open().await;
    let changed = order("7", SOLD, "ana", vec![line("MUG", 1, "10")]);
    let documents = vec![
        whole("7", vec![sold("7"), back("7", 4)]),
        whole("8", vec![sold("8")]),
        whole("9", vec![]),
        whole("7", vec![changed]),
        whole("8", vec![]),
        whole("9", vec![sold("9")]),
    ];
    let summary = import(&shop, documents).await;
    assert_eq!(summary.documents.orders, Changes { new: 2, changed: 0, unchanged: 0 });
    assert_eq!(
        shop.texts("SELECT external_id || ' ' || units FROM orders WHERE account_id = $1 ORDER BY external_id").await,
        ["7 1", "9 3"]
    );
    assert_eq!(refunds(&shop).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_order_that_was_read_twice_describes_products_as_it_was_read_last() {
    let shop = Shop::open().await;
    let said = |sku: &str, name: &str, price: &str, cost| Line {
        name: Some(name.to_owned()),
        unit_cost: Some(cost),
        ..line(sku, 1, price)
    };
    let read = |lines| whole("7", vec![order("7", SOLD, "ana", lines)]);
    let first = read(vec![said("MUG", "Mug of gold", "1000", dec!(400)), said("CUP", "Cup", "5", dec!(2))]);
    import(&shop, vec![first, read(vec![said("MUG", "Mug", "10", dec!(4))])]).await;
    let products =
        "SELECT concat_ws('|', sku, name, price::float8, unit_cost::float8) FROM products WHERE account_id = $1";
    assert_eq!(shop.texts(products).await, ["MUG|Mug|10|4"]);
}

#[tokio::test]
async fn another_account_keeps_its_orders_and_a_dry_run_removes_nothing() {
    let shop = Shop::open().await;
    for account in [shop.account, shop.other] {
        let target = domain::imports::Target { account, ..shop.target() };
        let documents = rows(vec![whole("7", vec![sold("7"), back("7", 4)])]);
        shop.importer.shop_documents(target, SHOPIFY, documents).await.unwrap();
    }
    let dry = domain::imports::Target { dry_run: true, ..shop.target() };
    let voided = || rows(vec![whole("7", vec![])]);
    let summary = shop.importer.shop_documents(dry, SHOPIFY, voided()).await.unwrap();
    assert_eq!((summary.orders_removed, summary.refunds_removed), (1, 1));
    assert_eq!(refunds(&shop).await, ["7/2026-03-04"]);
    shop.importer.shop_documents(shop.target(), SHOPIFY, voided()).await.unwrap();
    assert_eq!(refunds(&shop).await, Vec::<String>::new());
    let theirs: i64 = shop.client.query_one("SELECT count(*) FROM orders", &[]).await.unwrap().get(0);
    assert_eq!(theirs, 1);
}

/// A file that numbers its cancellations, and the shop's own refunds of the same buyers: in either order each counts once.
#[tokio::test]
async fn a_refund_that_a_file_numbers_by_itself_gives_way_to_the_order_s() {
    let at = |day, hour| SOLD.replace_day(day).unwrap().replace_hour(hour).unwrap();
    let guest = |mut part: DocumentPart| {
        part.buyer = None;
        part
    };
    let numbered = |id, at, buyer, price| refund(id, at, buyer, vec![line("MUG", 1, price)]);
    let by_file = || {
        vec![
            sold("7"),
            // Ana's of the 4th: with tax, and in two documents.
            numbered("C1", at(4, 14), "ana", "12.10"),
            numbered("C2", at(4, 23), "ana", "3"),
            // Another day of hers in São Paulo, another buyer, and guests.
            numbered("C3", at(5, 4), "ana", "10"),
            numbered("C4", at(4, 14), "eva", "10"),
            guest(numbered("C5", at(6, 14), "", "10")),
            guest(numbered("C6", at(6, 14), "", "11")),
            // As much as the fifth, which the order's has taken the place of.
            guest(numbered("C7", at(6, 15), "", "10")),
        ]
    };
    let by_sync =
        || vec![whole("7", vec![sold("7"), back("7", 4)]), whole("8", vec![guest(sold("8")), guest(back("8", 6))])];
    let counted = ["7/2026-03-04", "8/2026-03-06", "C3", "C4", "C6", "C7"];

    let shop = Shop::open().await;
    assert_eq!(shop.import(by_file()).await.refunds.new, 7);
    let summary = import(&shop, by_sync()).await;
    assert_eq!((summary.refunds_removed, summary.documents.refunds_known_twice), (3, 3));
    assert_eq!(refunds(&shop).await, counted);
    import(&shop, by_sync()).await;
    assert_eq!(refunds(&shop).await, counted, "the order's own took the place of one, and takes no other's");
    let in_march = days(&shop).await;
    shop.forget_days().await;
    let summary = shop.import(by_file()).await;
    assert_eq!((summary.refunds, summary.refunds_known_twice), (Changes { unchanged: 4, ..Changes::default() }, 3));
    assert_eq!(summary.days_touched, 0, "the file again changes nothing");

    let shop = Shop::open().await;
    import(&shop, by_sync()).await;
    let summary = shop.import(by_file()).await;
    assert_eq!((summary.refunds.new, summary.refunds_known_twice), (4, 3));
    assert_eq!(refunds(&shop).await, counted);
    assert_eq!(days(&shop).await, in_march, "whichever came first");
}
