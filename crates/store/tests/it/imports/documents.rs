//! Orders and refunds.

use domain::imports::{
    BrokenSource, Buyer, Changes, DocumentKind, DocumentPart, FileDocument, FileSummary, ImportError, ImportStore,
    Line, ProductRow, ShopDocument, ShopSource, Target,
};
use domain::{AccountId, IntegrationId, accounts::Platform};
use futures_util::{StreamExt, stream};
use time::macros::{date, datetime};

use super::fixture::{NOW, Shop, decimal, documents, line, order, refund, rows};

/// Three orders and a refund over three local days; one order comes in two parts, one has the same line twice.
fn shop() -> Vec<DocumentPart> {
    vec![
        order("1002", datetime!(2026-03-02 15:00 UTC), "ana", vec![line("MUG", 2, "10.50"), line("MUG", 2, "10.50")]),
        order("1001", datetime!(2026-03-02 02:30 UTC), "bia", vec![line("CUP", 1, "7.255")]),
        order("1003", datetime!(2026-03-03 12:00 UTC), "", vec![line("CUP", 3, "7")]),
        refund("R1", datetime!(2026-03-04 12:00 UTC), "ana", vec![line("MUG", 1, "10.50")]),
        order("1001", datetime!(2026-03-02 02:31 UTC), "bia", vec![line("POST", 1, "4")]),
    ]
}

#[tokio::test]
async fn parts_become_documents_with_their_sums() {
    let shop_ = Shop::open().await;
    let summary = shop_.import(shop()).await;
    assert_eq!(summary.orders, Changes { new: 3, changed: 0, unchanged: 0 });
    assert_eq!(summary.refunds, Changes { new: 1, changed: 0, unchanged: 0 });
    assert_eq!((summary.gross, summary.refunded, summary.units), (decimal("74.255"), decimal("10.5"), 9));
    assert_eq!((summary.lines_written, summary.new_customers, summary.new_products), (6, 2, 3));
    let orders = shop_
        .texts(
            "SELECT concat_ws(' ', external_id, placed_at AT TIME ZONE 'UTC', gross::float8, units, (SELECT count(*) \
             FROM order_lines l WHERE l.account_id = o.account_id AND l.order_id = o.id), (SELECT external_id FROM \
             customers c WHERE c.account_id = o.account_id AND c.id = o.customer_id)) FROM orders o \
             WHERE account_id = $1 ORDER BY id",
        )
        .await;
    assert_eq!(
        orders,
        [
            "1001 2026-03-02 02:30:00 11.255 2 2 bia",
            "1002 2026-03-02 15:00:00 42 4 2 ana",
            "1003 2026-03-03 12:00:00 21 3 1"
        ]
    );
    let numbers = shop_
        .texts(
            "SELECT string_agg(line_no::text, ',' ORDER BY line_no) FROM order_lines WHERE account_id = $1 \
                GROUP BY order_id ORDER BY order_id",
        )
        .await;
    assert_eq!(numbers, ["1,2", "1,2", "1"]);
    // 02:30 UTC is still the day before in São Paulo.
    assert_eq!(shop_.days().await, ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]);
}

#[tokio::test]
async fn the_same_documents_in_any_order_change_nothing() {
    let shop_ = Shop::open().await;
    shop_.import(shop()).await;
    let before = shop_.image().await;
    shop_.forget_days().await;
    let mut shuffled: Vec<DocumentPart> = shop()
        .into_iter()
        .flat_map(|part| {
            part.lines.clone().into_iter().map(move |line| DocumentPart { lines: vec![line], ..part.clone() })
        })
        .collect();
    shuffled.reverse();
    shuffled.rotate_left(2);
    for again in [shop(), shuffled] {
        let summary = shop_.import(again).await;
        assert_eq!(summary.orders, Changes { new: 0, changed: 0, unchanged: 3 });
        assert_eq!(summary.refunds, Changes { new: 0, changed: 0, unchanged: 1 });
        assert_eq!((summary.lines_written, summary.days_touched), (0, 0));
        assert_eq!(summary.gross, decimal("74.255"));
        assert_eq!(shop_.image().await, before);
    }
    assert_eq!(shop_.days().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_document_with_other_content_replaces_the_old_one_on_both_days() {
    let shop_ = Shop::open().await;
    shop_.import(shop()).await;
    shop_.forget_days().await;
    let moved = order("1002", datetime!(2026-03-10 15:00 UTC), "caio", vec![line("MUG", 1, "9"), line("TEA", 5, "1")]);
    let summary = shop_.import(vec![moved]).await;
    assert_eq!(summary.orders, Changes { new: 0, changed: 1, unchanged: 0 });
    assert_eq!(shop_.days().await, ["2026-03-02", "2026-03-10"]);
    let lines = shop_
        .texts(
            "SELECT concat_ws(' ', sku, quantity, unit_price::float8) FROM order_lines l JOIN orders o \
             ON o.account_id = l.account_id AND o.id = l.order_id WHERE l.account_id = $1 AND external_id = '1002' \
             ORDER BY line_no",
        )
        .await;
    assert_eq!(lines, ["MUG 1 9", "TEA 5 1"]);
    assert_eq!(shop_.one::<f64>("SELECT sum(gross)::float8 FROM orders WHERE account_id = $1").await, 46.255);
    assert_eq!(shop_.one::<i64>("SELECT count(*) FROM order_lines WHERE account_id = $1").await, 5);
}

#[tokio::test]
async fn one_line_more_or_another_count_of_equal_lines_is_another_content() {
    let shop_ = Shop::open().await;
    let at = datetime!(2026-03-02 15:00 UTC);
    shop_.import(vec![order("1", at, "", vec![line("A", 1, "2"), line("A", 1, "2")])]).await;
    for lines in [vec![line("A", 1, "2")], vec![line("A", 1, "2"); 3], vec![line("A", 2, "2"), line("A", 1, "2")]] {
        let summary = shop_.import(vec![order("1", at, "", lines)]).await;
        assert_eq!(summary.orders.changed, 1);
    }
    let same_value = Line { unit_price: decimal("2.00"), ..line("a", 1, "2") };
    let summary = shop_.import(vec![order("1", at, "", vec![line("A", 2, "2.0"), same_value])]).await;
    assert_eq!(summary.orders.unchanged, 1);
}

#[tokio::test]
async fn orders_and_refunds_of_one_number_are_two_documents() {
    let shop_ = Shop::open().await;
    let at = datetime!(2026-03-02 15:00 UTC);
    shop_.import(vec![order("7", at, "ana", vec![line("A", 4, "2")])]).await;
    let taken_back = Line { quantity: -1, ..line("A", 1, "2") };
    shop_.import(vec![refund("7", at, "ana", vec![line("A", 3, "2"), taken_back])]).await;
    assert_eq!(shop_.one::<f64>("SELECT sum(gross)::float8 FROM orders WHERE account_id = $1").await, 8.0);
    assert_eq!(shop_.one::<f64>("SELECT sum(amount)::float8 FROM refunds WHERE account_id = $1").await, 4.0);
}

#[tokio::test]
async fn customers_carry_the_newest_statement_whatever_comes_last() {
    let shop_ = Shop::open().await;
    let said = |id: &str, day: u8, email: Option<&str>, city: Option<&str>| {
        let at = datetime!(2026-03-01 12:00 UTC).replace_day(day).unwrap();
        DocumentPart {
            buyer: Some(Buyer {
                external_id: "ana".to_owned(),
                email: email.map(str::to_owned),
                name: None,
                city: city.map(str::to_owned),
            }),
            country: Some("BR".parse().unwrap()),
            ..order(id, at, "", vec![line("A", 1, "1")])
        }
    };
    shop_
        .import(vec![
            said("1", 20, Some("new@example.com"), None),
            said("2", 10, Some("old@example.com"), Some("Recife")),
        ])
        .await;
    let customer = "SELECT concat_ws(' ', email, city, country, created_at::date) FROM customers WHERE account_id = $1";
    assert_eq!(shop_.texts(customer).await, ["new@example.com Recife BR 2026-03-10"]);
    shop_.import(vec![said("0", 5, Some("older@example.com"), Some("Natal"))]).await;
    assert_eq!(shop_.texts(customer).await, ["new@example.com Recife BR 2026-03-05"]);
    shop_.import(vec![said("3", 25, Some("newest@example.com"), None)]).await;
    assert_eq!(shop_.texts(customer).await, ["newest@example.com Recife BR 2026-03-05"]);
    let returned = DocumentPart { kind: DocumentKind::Refund, ..said("r", 27, Some("refunded@example.com"), None) };
    shop_.import(vec![returned]).await;
    shop_.import(vec![said("4", 26, Some("before@example.com"), None)]).await;
    assert_eq!(shop_.texts(customer).await, ["refunded@example.com Recife BR 2026-03-05"]);
}

#[tokio::test]
async fn what_says_nothing_of_a_customer_makes_nothing_older_give_way() {
    let shop_ = Shop::open().await;
    let said = |id: &str, day: u8, city: Option<&str>| {
        let at = datetime!(2026-03-01 12:00 UTC).replace_day(day).unwrap();
        let buyer = Buyer { external_id: "ana".to_owned(), city: city.map(str::to_owned), ..Buyer::default() };
        DocumentPart { buyer: Some(buyer), ..order(id, at, "", vec![line("A", 1, "1")]) }
    };
    let silent_refund = |id: &str, day| DocumentPart { kind: DocumentKind::Refund, ..said(id, day, None) };
    let city = "SELECT city FROM customers WHERE account_id = $1";
    shop_.import(vec![said("1", 10, Some("Recife"))]).await;
    shop_.import(vec![silent_refund("r1", 27)]).await;
    shop_.import(vec![said("2", 20, Some("Natal"))]).await;
    assert_eq!(shop_.texts(city).await, ["Natal"], "newer than what is known, if older than the refund");
    // Nor does it make what comes with it newer.
    shop_.import(vec![said("3", 15, Some("Olinda")), silent_refund("r2", 28)]).await;
    assert_eq!(shop_.texts(city).await, ["Natal"]);
    // The first that is said of a field is taken, however old it is.
    let named = |id, day| {
        let part = said(id, day, None);
        let buyer = part.buyer.clone().map(|buyer| Buyer { name: Some("Ana".to_owned()), ..buyer });
        DocumentPart { buyer, ..part }
    };
    shop_.import(vec![named("4", 5)]).await;
    assert_eq!(
        shop_.texts("SELECT concat_ws(' ', name, city) FROM customers WHERE account_id = $1").await,
        ["Ana Natal"]
    );
}

#[tokio::test]
async fn products_take_the_newest_name_and_price_of_their_lines_and_one_spelling() {
    let shop_ = Shop::open().await;
    let named = |sku: &str, name: &str, price: &str| Line { name: Some(name.to_owned()), ..line(sku, 1, price) };
    shop_
        .import(vec![
            order("2", datetime!(2026-03-09 12:00 UTC), "", vec![named("85a", "Blue mug", "3")]),
            order("1", datetime!(2026-03-01 12:00 UTC), "", vec![named("85A", "Mug", "2"), named("B", "Cup", "5")]),
        ])
        .await;
    let products = "SELECT concat_ws('|', sku, name, price::float8, created_at::date) FROM products WHERE account_id = $1 ORDER BY id";
    assert_eq!(shop_.texts(products).await, ["85A|Blue mug|3|2026-03-01", "B|Cup|5|2026-03-01"]);
    assert_eq!(
        shop_
            .one::<i64>(
                "SELECT count(DISTINCT product_id) FROM order_lines WHERE account_id = $1 AND upper(sku) = '85A'"
            )
            .await,
        1
    );
    // An older file that comes later does not win.
    shop_.import(vec![order("0", datetime!(2026-02-01 12:00 UTC), "", vec![named("85A", "Old mug", "1")])]).await;
    assert_eq!(shop_.texts(products).await, ["85A|Blue mug|3|2026-03-01", "B|Cup|5|2026-03-01"]);
}

#[tokio::test]
async fn lines_that_are_no_product_make_none() {
    let shop_ = Shop::open().await;
    let postage = Line { is_product: false, ..line("POST", 1, "4") };
    shop_.import(vec![order("1", datetime!(2026-03-01 12:00 UTC), "", vec![postage, line("A", 1, "1")])]).await;
    assert_eq!(shop_.texts("SELECT sku FROM products WHERE account_id = $1").await, ["A"]);
    assert_eq!(shop_.texts("SELECT sku FROM order_lines WHERE account_id = $1 AND product_id IS NULL").await, ["POST"]);
}

const COSTS: &str =
    "SELECT concat_ws(' ', valid_from, unit_cost::float8) FROM product_costs WHERE account_id = $1 ORDER BY 1";

#[tokio::test]
async fn fees_shipping_and_unit_costs_are_kept() {
    let shop_ = Shop::open().await;
    let cost = |day: u8, cost: &str| {
        let at = datetime!(2026-03-01 12:00 UTC).replace_day(day).unwrap();
        let costly = Line { unit_cost: Some(decimal(cost)), ..line("A", 1, "10") };
        DocumentPart {
            fees: Some(decimal("0.5")),
            shipping: Some(decimal("3")),
            ..order(&format!("{day}"), at, "", vec![costly])
        }
    };
    shop_.import(vec![cost(3, "4.5"), cost(1, "4")]).await;
    assert_eq!(shop_.texts(COSTS).await, ["2026-03-01 4", "2026-03-03 4.5"]);
    assert_eq!(shop_.one::<f64>("SELECT unit_cost::float8 FROM products WHERE account_id = $1").await, 4.5);
    assert_eq!(shop_.one::<f64>("SELECT sum(fees + shipping)::float8 FROM orders WHERE account_id = $1").await, 7.0);
}

#[tokio::test]
async fn a_refund_does_not_say_what_a_unit_costs_on_its_day() {
    let shop_ = Shop::open().await;
    let costly = |cost: &str| vec![Line { unit_cost: Some(decimal(cost)), ..line("A", 1, "30") }];
    shop_
        .import(vec![
            order("1", datetime!(2026-01-05 12:00 UTC), "", costly("10")),
            order("2", datetime!(2026-03-01 12:00 UTC), "", costly("15")),
            refund("1/2026-04-10", datetime!(2026-04-10 12:00 UTC), "", costly("10")),
        ])
        .await;
    assert_eq!(shop_.texts(COSTS).await, ["2026-01-05 10", "2026-03-01 15"]);
    assert_eq!(shop_.one::<f64>("SELECT unit_cost::float8 FROM products WHERE account_id = $1").await, 15.0);
}

/// A catalogue has another cost of the same day. The order's comes first, and the file of orders once more after it.
#[tokio::test]
async fn orders_that_come_again_leave_the_costs_that_were_imported_since() {
    let shop_ = Shop::open().await;
    let costly = |id: &str, hour: u8, cost: &str| {
        let at = datetime!(2026-03-01 12:00 UTC).replace_hour(hour).unwrap();
        order(id, at, "", vec![Line { unit_cost: Some(decimal(cost)), ..line("A", 1, "10") }])
    };
    shop_.import(vec![costly("1", 15, "4"), costly("2", 14, "3")]).await;
    let catalogue = ProductRow {
        sku: "A".to_owned(),
        name: None,
        category: None,
        price: None,
        cost: Some((decimal("5"), date!(2026 - 03 - 01))),
        stock: None,
        on_order: None,
        lead_time_days: None,
        pack_size: None,
        min_order_qty: None,
    };
    shop_.importer.products(shop_.target(), rows(vec![catalogue])).await.unwrap();
    let before = shop_.image().await;
    // The newest of the day is the one that is there already: an older line says nothing of it.
    let again = vec![costly("2", 14, "3"), costly("1", 15, "4")];
    shop_.import(again.clone()).await;
    assert_eq!(shop_.image().await, before);
    shop_.import([again, vec![costly("3", 13, "2")]].concat()).await;
    assert_eq!(shop_.texts(COSTS).await, ["2026-03-01 5"]);
    shop_.import(vec![costly("1", 15, "6")]).await;
    assert_eq!(shop_.texts(COSTS).await, ["2026-03-01 6"]);
}

#[tokio::test]
async fn a_source_that_breaks_leaves_nothing() {
    let shop_ = Shop::open().await;
    let before = shop_.image().await;
    let broken = stream::iter([
        Ok(shop().into_iter().map(FileDocument::from).collect()),
        Err(BrokenSource("line 9: the file ends in the middle".to_owned())),
    ])
    .boxed();
    let error = shop_.try_import(broken).await.unwrap_err();
    assert!(matches!(error, ImportError::Source(_)), "{error}");
    assert_eq!(shop_.image().await, before);
    assert_eq!(shop_.days().await, Vec::<String>::new());
}

/// The session is ended from outside once its rows are copied and before they are merged.
#[tokio::test]
async fn an_import_that_is_killed_before_the_merge_leaves_nothing_and_can_run_again() {
    let shop_ = Shop::open().await;
    let before = shop_.image().await;
    let client = shop_.database.client().await.unwrap();
    // Enough lines to be sent before the end of the stream.
    let large = order("large", datetime!(2026-03-02 15:00 UTC), "", vec![line("A", 1, "1"); 100_000]);
    let killed = stream::iter([Ok(vec![large.into()])])
        .chain(stream::once(async move {
            // Other tests' sessions are in the same view.
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                WHERE datname = current_database() AND query = 'COPY import_lines FROM STDIN'";
            let ended = client.query(sql, &[]).await.unwrap();
            assert_eq!(ended.len(), 1);
            Ok(Vec::new())
        }))
        .boxed();
    let error = shop_.try_import(killed).await.unwrap_err();
    assert!(matches!(error, ImportError::Store(domain::StoreError::Unavailable(_))), "{error}");
    assert_eq!(shop_.image().await, before);
    assert_eq!(shop_.import(shop()).await.orders.new, 3);
}

#[tokio::test]
async fn imports_of_one_account_run_one_after_the_other() {
    let shop_ = Shop::open().await;
    let (one, two) = tokio::join!(shop_.import(shop()), shop_.import(shop()));
    let mut new = [one.orders.new, two.orders.new];
    new.sort_unstable();
    assert_eq!(new, [0, 3]);
    assert_eq!(shop_.one::<i64>("SELECT count(*) FROM order_lines WHERE account_id = $1").await, 5);
    assert_eq!(shop_.one::<i64>("SELECT count(*) FROM customers WHERE account_id = $1").await, 2);
}

/// A file that says a line of an order wrongly says too little of it: neither is the rest of it stored, nor does it replace what
/// is there.
#[tokio::test]
async fn nothing_is_taken_of_an_order_of_which_a_line_was_refused() {
    let shop_ = Shop::open().await;
    let at = datetime!(2026-03-02 15:00 UTC);
    let sold = |id: &str, units| FileDocument::from(order(id, at, "ana", vec![line("MUG", units, "10")]));
    let back = |id: &str| FileDocument::from(refund(id, at, "ana", vec![line("MUG", 1, "10")]));
    let refused = |id: &str| FileDocument::Refused(id.to_owned());
    shop_.try_import(rows(vec![sold("1", 3)])).await.unwrap();
    let before = shop_.image().await;
    let parts =
        vec![sold("1", 1), sold("2", 1), refused("2"), sold("2", 4), back("2/2026-03-02"), refused("1"), refused("9")];
    let FileSummary { documents, refused } = shop_.try_import(rows(parts)).await.unwrap();
    assert_eq!(
        (documents.orders, documents.refunds, documents.days_touched),
        (Changes::default(), Changes::default(), 0)
    );
    assert_eq!(refused, [("1".to_owned(), 1), ("2".to_owned(), 3)]);
    let orders = "SELECT external_id || ' ' || units FROM orders WHERE account_id = $1";
    assert_eq!((shop_.texts(orders).await, shop_.image().await), (vec!["1 3".to_owned()], before));
}

fn numbered(order_id: &str, number: &str) -> FileDocument {
    FileDocument::Numbered { order_id: order_id.to_owned(), number: number.to_owned(), lines: 1 }
}

const STORED: &str = "SELECT stored FROM (
    SELECT external_id || ' ' || units AS stored FROM orders WHERE account_id = $1
    UNION ALL SELECT external_id || ' ' || amount::float8 FROM refunds WHERE account_id = $1) found
    ORDER BY stored COLLATE \"C\"";

/// A file names its orders, and says by which number a connection knows them.
#[tokio::test]
async fn an_order_is_stored_under_the_number_that_its_platform_has() {
    let shop_ = Shop::open().await;
    let at = datetime!(2026-03-02 15:00 UTC);
    let sold = |id: &str, units| FileDocument::from(order(id, at, "ana", vec![line("MUG", units, "10")]));
    let back = |id: &str| FileDocument::from(refund(id, at, "ana", vec![line("MUG", 1, "10")]));
    shop_.try_import(rows(vec![sold("#1", 1)])).await.unwrap();
    let file = vec![
        numbered("#1", "501"),
        sold("#1", 1),
        back("#1/2026-03-02"),
        numbered("#2", "502"),
        sold("#2", 2),
        back("#2/2026-03-02"),
        sold("#3", 3),
    ];
    // The first came by its name before.
    let stored = ["#3 3", "501 1", "501/2026-03-02 10", "502 2", "502/2026-03-02 10"];
    shop_.try_import(rows(file.clone())).await.unwrap();
    assert_eq!(shop_.texts(STORED).await, stored);
    let before = shop_.image().await;
    let summary = shop_.try_import(rows(file)).await.unwrap().documents;
    assert_eq!(summary.orders, Changes { new: 0, changed: 0, unchanged: 3 });
    assert_eq!(shop_.texts(STORED).await, stored);
    assert_eq!(shop_.image().await, before);

    // Refused: neither renamed nor rid of its refunds.
    let refused = vec![numbered("#2", "502"), sold("#2", 9), FileDocument::Refused("#2".to_owned())];
    assert_eq!(shop_.try_import(rows(refused)).await.unwrap().refused, [("#2".to_owned(), 1)]);
    assert_eq!(shop_.texts(STORED).await, stored);

    // All of it was refunded when it was cancelled.
    let later = refund("#2/2026-03-05", datetime!(2026-03-05 15:00 UTC), "ana", vec![line("MUG", 2, "10")]);
    shop_.forget_days().await;
    shop_.try_import(rows(vec![numbered("#2", "502"), sold("#2", 2), later.into()])).await.unwrap();
    assert_eq!(shop_.texts(STORED).await, ["#3 3", "501 1", "501/2026-03-02 10", "502 2", "502/2026-03-05 20"]);
    assert_eq!(shop_.days().await, ["2026-03-02", "2026-03-05"]);
}

/// A file without numbers came first, then the connection: each order counted twice.
#[tokio::test]
async fn a_file_that_tells_the_numbers_ends_that_orders_are_there_by_their_names_as_well() {
    let shop_ = Shop::open().await;
    let (at, later) = (datetime!(2026-03-02 15:00 UTC), datetime!(2026-03-04 15:00 UTC));
    let sold = |id: &str| order(id, at, "ana", vec![line("MUG", 2, "10")]);
    let back = |id: &str| refund(id, later, "ana", vec![line("MUG", 1, "10")]);
    shop_.import(vec![sold("#1"), back("#1/2026-03-04"), sold("#2"), sold("#3")]).await;
    let told = ShopDocument {
        order_id: "501".to_owned(),
        parts: vec![sold("501"), back("501/2026-03-04")],
        is_whole: true,
        is_there: true,
    };
    let source = ShopSource { platform: Platform::Shopify, integration: IntegrationId(1) };
    shop_.importer.shop_documents(shop_.target(), source, rows(vec![told])).await.unwrap();
    assert_eq!(shop_.one::<i64>("SELECT count(*) FROM orders WHERE account_id = $1").await, 4);
    shop_.forget_days().await;
    // The second is not paid any more.
    let file = vec![numbered("#1", "501"), sold("#1").into(), back("#1/2026-03-04").into(), numbered("#2", "502")];
    let summary = shop_.try_import(rows(file.clone())).await.unwrap().documents;
    assert_eq!(summary.orders, Changes { new: 0, changed: 2, unchanged: 1 });
    let stored = ["#3 2", "501 2", "501/2026-03-04 10"];
    assert_eq!(shop_.texts(STORED).await, stored);
    assert_eq!(shop_.days().await, ["2026-03-02", "2026-03-04"]);
    let before = shop_.image().await;
    shop_.try_import(rows(file)).await.unwrap();
    assert_eq!(shop_.image().await, before);
    let lines = "SELECT count(*) FROM order_lines l WHERE account_id = $1
        AND NOT EXISTS (SELECT FROM orders o WHERE o.account_id = $1 AND o.id = l.order_id)";
    assert_eq!(shop_.one::<i64>(lines).await, 0);
}

/// As in two exports that overlap, one behind the other.
#[tokio::test]
async fn an_order_that_a_file_tells_twice_counts_as_it_is_told_last() {
    let shop_ = Shop::open().await;
    let at = datetime!(2026-03-02 15:00 UTC);
    let sold = |id: &str, units| FileDocument::from(order(id, at, "ana", vec![line("MUG", units, "10")]));
    let back = FileDocument::from(refund("#1/2026-03-02", at, "ana", vec![line("MUG", 1, "10")]));
    let first = vec![numbered("#1", "501"), sold("#1", 3), back, numbered("#2", "502"), sold("#2", 2)];
    let second = vec![numbered("#1", "501"), sold("#1", 1)];
    let summary = shop_.try_import(rows([first, second].concat())).await.unwrap().documents;
    assert_eq!((summary.orders.new, summary.refunds.new), (2, 0));
    assert_eq!(shop_.texts(STORED).await, ["501 1", "502 2"]);
}

/// Its payment was given up since.
#[tokio::test]
async fn an_order_that_does_not_count_any_more_goes_with_its_refunds() {
    let shop_ = Shop::open().await;
    let (at, later) = (datetime!(2026-03-02 15:00 UTC), datetime!(2026-03-03 15:00 UTC));
    let sold = |id: &str| FileDocument::from(order(id, at, "ana", vec![line("MUG", 1, "10")]));
    let back = FileDocument::from(refund("#1/2026-03-03", later, "ana", vec![line("MUG", 1, "10")]));
    let file = vec![numbered("#1", "501"), sold("#1"), back, numbered("#2", "502"), sold("#2")];
    shop_.try_import(rows(file)).await.unwrap();
    shop_.forget_days().await;
    for changed in [1, 0] {
        let file = vec![numbered("#1", "501"), numbered("#3", "503"), numbered("#2", "502"), sold("#2")];
        let summary = shop_.try_import(rows(file)).await.unwrap().documents;
        assert_eq!(summary.orders, Changes { new: 0, changed, unchanged: 1 });
        assert_eq!(shop_.texts(STORED).await, ["502 1"]);
    }
    assert_eq!(shop_.days().await, ["2026-03-02", "2026-03-03"]);
}

#[tokio::test]
async fn a_file_of_numbered_orders_leaves_what_a_connection_told() {
    let shop_ = Shop::open().await;
    let at = datetime!(2026-03-02 15:00 UTC);
    let sold = |id: &str, units| order(id, at, "ana", vec![line("MUG", units, "10")]);
    let back = |id: &str| refund(id, at, "ana", vec![line("MUG", 1, "10")]);
    let told = ShopDocument {
        order_id: "501".to_owned(),
        parts: vec![sold("501", 2), back("501/2026-03-02")],
        is_whole: true,
        is_there: true,
    };
    let source = ShopSource { platform: Platform::Shopify, integration: IntegrationId(1) };
    shop_.importer.shop_documents(shop_.target(), source, rows(vec![told])).await.unwrap();
    let before = shop_.image().await;
    let file = vec![numbered("#1", "501"), sold("#1", 9).into(), back("#1/2026-03-07").into()];
    let summary = shop_.try_import(rows(file)).await.unwrap().documents;
    let unchanged = Changes { unchanged: 1, ..Changes::default() };
    assert_eq!((summary.orders, summary.refunds), (unchanged, unchanged));
    assert_eq!(shop_.image().await, before);
    shop_.try_import(rows(vec![numbered("#1", "501")])).await.unwrap();
    assert_eq!(shop_.image().await, before);
}

/// Neither does it make or describe products: not even those that other orders name as well.
#[tokio::test]
async fn an_order_of_which_a_line_was_refused_says_nothing_of_products() {
    let shop_ = Shop::open().await;
    let said = |sku: &str, name: &str, price: &str, cost: &str| Line {
        name: Some(name.to_owned()),
        unit_cost: Some(decimal(cost)),
        ..line(sku, 1, price)
    };
    let at = |day| datetime!(2026-03-01 12:00 UTC).replace_day(day).unwrap();
    let sold = |id: &str, day, lines| FileDocument::from(order(id, at(day), "", lines));
    let parts = vec![
        sold("1", 2, vec![said("MUG", "Mug", "10", "4")]),
        // The same again, and taken.
        sold("2", 2, vec![said("MUG", "Mug", "10", "4")]),
        sold("3", 1, vec![said("mug", "Small mug", "9", "3")]),
        sold("4", 9, vec![said("MUG", "Mug of gold", "1000", "400"), said("CUP", "Cup", "5", "2")]),
        FileDocument::Refused("4".to_owned()),
        FileDocument::Refused("1".to_owned()),
        FileDocument::Refused("3".to_owned()),
    ];
    let FileSummary { documents, refused } = shop_.try_import(rows(parts)).await.unwrap();
    assert_eq!((documents.orders.new, documents.new_products, refused.len()), (1, 1, 3));
    let products = "SELECT concat_ws('|', sku, name, price::float8, unit_cost::float8, created_at::date) FROM products
        WHERE account_id = $1";
    assert_eq!(shop_.texts(products).await, ["MUG|Mug|10|4|2026-03-02"]);
    assert_eq!(shop_.texts(COSTS).await, ["2026-03-02 4"]);
}

#[tokio::test]
async fn a_dry_run_counts_and_keeps_nothing() {
    let shop_ = Shop::open().await;
    let before = shop_.image().await;
    let target = Target { dry_run: true, ..shop_.target() };
    let summary = shop_.importer.documents(target, Platform::Shopify, documents(shop())).await.unwrap().documents;
    assert_eq!((summary.orders.new, summary.lines_written, summary.days_touched), (3, 6, 4));
    assert_eq!(shop_.image().await, before);
}

#[tokio::test]
async fn accounts_and_platforms_do_not_mix_and_an_unknown_account_is_refused() {
    let shop_ = Shop::open().await;
    shop_.import(shop()).await;
    let before = shop_.image().await;
    let other = Target { account: shop_.other, ..shop_.target() };
    let summary = shop_.importer.documents(other, Platform::Shopify, documents(shop())).await.unwrap().documents;
    assert_eq!(summary.orders.new, 3);
    assert_eq!(shop_.image().await, before);
    let summary =
        shop_.importer.documents(shop_.target(), Platform::Tiendanube, documents(shop())).await.unwrap().documents;
    assert_eq!((summary.orders.new, summary.new_customers, summary.new_products), (3, 2, 0));
    let nobody = Target { account: AccountId(999_999), now: NOW, dry_run: false };
    let error = shop_.importer.documents(nobody, Platform::Shopify, documents(shop())).await.unwrap_err();
    assert!(matches!(error, ImportError::UnknownAccount), "{error}");
}

#[tokio::test]
async fn the_largest_amounts_do_not_overflow() {
    let shop_ = Shop::open().await;
    let huge: Vec<Line> = std::iter::repeat_n(line("A", 1, "999999999999.999999"), 2_000).collect();
    let summary = shop_.import(vec![order("1", datetime!(2026-03-01 12:00 UTC), "", huge)]).await;
    assert_eq!(summary.gross, decimal("1999999999999999.998"));
}

#[tokio::test]
async fn the_planner_knows_a_history_as_soon_as_it_is_in() {
    let shop_ = Shop::open().await;
    let noon = datetime!(2026-03-02 12:00 UTC);
    let history = (0..2_000).map(|no| order(&no.to_string(), noon, "ana", vec![line("MUG", 1, "10")])).collect();
    shop_.import(history).await;
    let known = "SELECT reltuples::bigint FROM pg_class WHERE oid = 'orders'::regclass AND $1 > 0::bigint";
    assert_eq!(shop_.one::<i64>(known).await, 2_000);
}

/// Who bought and what was given back, by document.
const REFUNDED: &str = "SELECT concat_ws(' ', r.external_id, c.external_id, r.amount::float8) FROM refunds r
    LEFT JOIN customers c ON c.account_id = $1 AND c.id = r.customer_id WHERE r.account_id = $1 ORDER BY 1";

#[tokio::test]
async fn what_was_refunded_of_an_order_is_its_buyer_s_whichever_comes_first() {
    let (at, back) = (datetime!(2026-03-02 15:00 UTC), datetime!(2026-03-05 15:00 UTC));
    let sold = || order("7", at, "ana", vec![line("A", 4, "2")]);
    let refunded = || refund("7/2026-03-05", back, "", vec![line("A", 1, "2")]);
    for parts in
        [vec![vec![sold(), refunded()]], vec![vec![sold()], vec![refunded()]], vec![vec![refunded()], vec![sold()]]]
    {
        let shop_ = Shop::open().await;
        let last = parts.len() - 1;
        for (at, parts) in parts.into_iter().enumerate() {
            if at == last {
                shop_.forget_days().await;
            }
            shop_.import(parts).await;
        }
        assert_eq!(shop_.texts(REFUNDED).await, ["7/2026-03-05 ana 2"]);
        assert!(shop_.days().await.contains(&"2026-03-05".to_owned()), "the day of the refund is summed up again");
        // Nothing changes when both come again.
        let again = shop_.import(vec![sold(), refunded()]).await;
        assert_eq!((again.orders.unchanged, again.refunds.unchanged), (1, 1));
        assert_eq!(shop_.texts(REFUNDED).await, ["7/2026-03-05 ana 2"]);
    }
}

#[tokio::test]
async fn a_refund_whose_day_is_another_in_a_new_time_zone_is_the_same_refund() {
    let shop_ = Shop::open().await;
    // 22:00 of the day before in São Paulo.
    let (at, back) = (datetime!(2026-03-02 15:00 UTC), datetime!(2026-03-06 01:00 UTC));
    let sold = || order("7", at, "ana", vec![line("A", 4, "2")]);
    let lines = || vec![line("A", 1, "2")];
    shop_.import(vec![sold(), refund("7/2026-03-05", back, "ana", lines())]).await;
    shop_.client.execute("UPDATE accounts SET timezone = 'UTC' WHERE id = $1", &[&shop_.account.0]).await.unwrap();
    shop_.import(vec![sold(), refund("7/2026-03-06", back, "ana", lines())]).await;
    assert_eq!(shop_.texts(REFUNDED).await, ["7/2026-03-06 ana 2"]);
    // Another refund of the order, of another day, stays.
    let later = datetime!(2026-03-09 12:00 UTC);
    shop_.import(vec![refund("7/2026-03-09", later, "ana", lines())]).await;
    assert_eq!(shop_.texts(REFUNDED).await, ["7/2026-03-06 ana 2", "7/2026-03-09 ana 2"]);
}

/// The database may know other rules of a time zone than the days are summed up by: of Vancouver, say, which keeps summer time
/// from 2026 on.
#[tokio::test]
async fn days_are_marked_by_the_time_zones_that_they_are_summed_up_by() {
    let shop_ = Shop::open().await;
    let zone: domain::zone::Zone = "America/Vancouver".parse().unwrap();
    let update = "UPDATE accounts SET timezone = 'America/Vancouver' WHERE id = $1";
    shop_.client.execute(update, &[&shop_.account.0]).await.unwrap();
    let instants = [datetime!(2026-11-20 07:30 UTC), datetime!(2026-11-20 08:30 UTC), datetime!(2026-07-02 06:45 UTC)];
    let orders =
        instants.iter().enumerate().map(|(at, instant)| order(&at.to_string(), *instant, "", vec![line("A", 1, "2")]));
    shop_.import(orders.collect()).await;
    let days: std::collections::BTreeSet<String> = instants.iter().map(|at| zone.day_of(*at).to_string()).collect();
    assert_eq!(shop_.days().await, Vec::from_iter(days));
}
