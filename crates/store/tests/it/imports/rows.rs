//! Products, stock levels, ad spend and expenses.

use std::time::Duration;

use domain::imports::{AdDetail, AdSource, AdSpendRow, Changes, ExpenseRow, ImportStore, ProductRow, StockRow};
use time::{
    Date,
    macros::{date, datetime},
};

use super::fixture::{Shop, decimal, line, order, rows};
use crate::database::until_waiting;

fn product(sku: &str) -> ProductRow {
    ProductRow {
        sku: sku.to_owned(),
        name: Some("A mug".to_owned()),
        category: Some("Kitchen".to_owned()),
        price: Some(decimal("10")),
        cost: Some((decimal("4"), date!(2026 - 01 - 01))),
        stock: Some(12),
        on_order: Some(3),
        lead_time_days: Some(14),
        pack_size: Some(6),
        min_order_qty: Some(12),
    }
}

fn bare(sku: &str) -> ProductRow {
    ProductRow {
        sku: sku.to_owned(),
        name: None,
        category: None,
        price: None,
        cost: None,
        stock: None,
        on_order: None,
        lead_time_days: None,
        pack_size: None,
        min_order_qty: None,
    }
}

fn level(line: u64, sku: &str, stock: i64, day: Date) -> StockRow {
    let record = format!("{sku};\"{stock}\"\u{e9}").into_bytes();
    StockRow { line, sku: sku.to_owned(), location: None, stock, day, record }
}

const PRODUCTS: &str = "SELECT concat_ws('|', sku, name, category, price::float8, unit_cost::float8, current_stock, \
    on_order, lead_time_days, pack_size, min_order_qty) FROM products WHERE account_id = $1 ORDER BY id";

#[tokio::test]
async fn the_catalogue_adds_changes_and_keeps_what_it_does_not_say() {
    let shop = Shop::open().await;
    let summary = shop.importer.products(shop.target(), rows(vec![product("MUG"), bare("CUP")])).await.unwrap();
    assert_eq!(summary.rows, Changes { new: 2, changed: 0, unchanged: 0 });
    assert_eq!(shop.texts(PRODUCTS).await, ["CUP|CUP|0", "MUG|A mug|Kitchen|10|4|12|3|14|6|12"]);
    let before = shop.image().await;
    let summary = shop.importer.products(shop.target(), rows(vec![bare("cup"), product("MUG")])).await.unwrap();
    assert_eq!(summary.rows, Changes { new: 0, changed: 0, unchanged: 2 });
    assert_eq!(shop.image().await, before);
    let dearer = ProductRow { price: Some(decimal("11")), ..bare("mug") };
    let summary = shop.importer.products(shop.target(), rows(vec![dearer])).await.unwrap();
    assert_eq!(summary.rows, Changes { new: 0, changed: 1, unchanged: 0 });
    assert_eq!(shop.texts(PRODUCTS).await, ["CUP|CUP|0", "MUG|A mug|Kitchen|11|4|12|3|14|6|12"]);
}

/// As two files do, one after the other.
#[tokio::test]
async fn a_later_line_of_a_product_takes_nothing_back_that_it_leaves_open() {
    let shop = Shop::open().await;
    let dearer = ProductRow { price: Some(decimal("11")), ..bare("mug") };
    let file = vec![product("MUG"), ProductRow { stock: Some(0), ..bare("MUG") }, dearer];
    let summary = shop.importer.products(shop.target(), rows(file.clone())).await.unwrap();
    assert_eq!(summary.rows, Changes { new: 1, changed: 0, unchanged: 0 });
    assert_eq!(shop.texts(PRODUCTS).await, ["mug|A mug|Kitchen|11|4|0|3|14|6|12"]);
    let summary = shop.importer.products(shop.target(), rows(file)).await.unwrap();
    assert_eq!(summary.rows, Changes { new: 0, changed: 0, unchanged: 1 });
}

#[tokio::test]
async fn order_lines_do_not_rename_what_the_catalogue_named() {
    let shop = Shop::open().await;
    shop.importer.products(shop.target(), rows(vec![product("MUG")])).await.unwrap();
    let summary = shop.import(vec![order("1", datetime!(2026-06-01 12:00 UTC), "", vec![line("mug", 1, "99")])]).await;
    assert_eq!(summary.new_products, 0);
    assert_eq!(shop.texts(PRODUCTS).await, ["MUG|A mug|Kitchen|10|4|12|3|14|6|12"]);
}

#[tokio::test]
async fn another_category_touches_the_days_of_sale() {
    let shop = Shop::open().await;
    shop.importer.products(shop.target(), rows(vec![product("MUG"), product("CUP")])).await.unwrap();
    shop.client
        .execute(
            "INSERT INTO product_days (account_id, product_id, day) SELECT $1, id, day::date FROM products
             JOIN (VALUES ('MUG', '2026-02-01'), ('MUG', '2026-03-01'), ('CUP', '2026-03-05')) AS v(sku, day) USING (sku)
             WHERE account_id = $1",
            &[&shop.account.0],
        )
        .await
        .unwrap();
    shop.forget_days().await;
    shop.importer.products(shop.target(), rows(vec![product("MUG"), bare("CUP")])).await.unwrap();
    assert_eq!(shop.days().await, [""; 0], "the same category again changes nothing");
    let moved = ProductRow { category: Some("Bar".to_owned()), ..bare("mug") };
    shop.importer.products(shop.target(), rows(vec![moved])).await.unwrap();
    assert_eq!(shop.days().await, ["2026-02-01", "2026-03-01"]);
}

/// What is read by jobs and belongs to no day makes their input another one; what comes in again does not.
#[tokio::test]
async fn other_terms_of_supply_are_news_without_a_day() {
    let shop = Shop::open().await;
    shop.importer.products(shop.target(), rows(vec![product("MUG")])).await.unwrap();
    shop.forget_days().await;
    shop.client
        .execute("INSERT INTO roll_ups (account_id, events_until) VALUES ($1, now())", &[&shop.account.0])
        .await
        .unwrap();
    let version = async || shop.one::<i64>("SELECT version FROM roll_ups WHERE account_id = $1").await;
    let slower = ProductRow { lead_time_days: Some(40), ..bare("MUG") };
    let dearer = ProductRow { cost: Some((decimal("5"), date!(2026 - 03 - 01))), ..bare("MUG") };
    for (row, after) in [(product("MUG"), 0), (slower.clone(), 1), (slower, 1), (dearer.clone(), 2), (dearer, 2)] {
        shop.importer.products(shop.target(), rows(vec![row])).await.unwrap();
        assert_eq!((version().await, shop.days().await), (after, vec![]));
    }
}

#[tokio::test]
async fn a_new_cost_touches_the_days_of_sale_from_then_on() {
    let shop = Shop::open().await;
    shop.importer.products(shop.target(), rows(vec![product("MUG")])).await.unwrap();
    shop.client
        .execute(
            "INSERT INTO product_days (account_id, product_id, day) SELECT $1, id, unnest('{2026-02-01,2026-03-01,\
             2026-03-05}'::date[]) FROM products WHERE account_id = $1",
            &[&shop.account.0],
        )
        .await
        .unwrap();
    shop.forget_days().await;
    let dearer = ProductRow { cost: Some((decimal("5"), date!(2026 - 03 - 01))), ..bare("MUG") };
    let summary = shop.importer.products(shop.target(), rows(vec![dearer])).await.unwrap();
    assert_eq!(summary.rows.changed, 1);
    assert_eq!(shop.days().await, ["2026-03-01", "2026-03-05"]);
    let costs =
        "SELECT concat_ws(' ', valid_from, unit_cost::float8) FROM product_costs WHERE account_id = $1 ORDER BY 1";
    assert_eq!(shop.texts(costs).await, ["2026-01-01 4", "2026-03-01 5"]);
}

/// The costs by SKU.
const COSTS: &str = "SELECT concat_ws(' ', sku, valid_from, c.unit_cost::float8) FROM product_costs c JOIN products p
    ON p.account_id = c.account_id AND p.id = c.product_id WHERE c.account_id = $1 ORDER BY 1";

#[tokio::test]
async fn rows_of_several_days_are_a_history_of_costs() {
    let shop = Shop::open().await;
    let costs = |sku: &str, cost: &str, day| ProductRow { cost: Some((decimal(cost), day)), ..bare(sku) };
    let file = vec![
        costs("MUG", "5", date!(2026 - 01 - 01)),
        costs("CUP", "2", date!(2026 - 01 - 01)),
        costs("mug", "7", date!(2026 - 06 - 01)),
        ProductRow { price: Some(decimal("9")), ..costs("MUG", "6", date!(2026 - 06 - 01)) },
        bare("CUP"),
    ];
    let summary = shop.importer.products(shop.target(), rows(file.clone())).await.unwrap();
    assert_eq!(summary.rows, Changes { new: 2, changed: 0, unchanged: 0 });
    assert_eq!(shop.texts(COSTS).await, ["CUP 2026-01-01 2", "MUG 2026-01-01 5", "MUG 2026-06-01 6"]);
    assert_eq!(shop.texts(PRODUCTS).await, ["CUP|CUP|2|0", "MUG|MUG|9|6|0"]);
    let before = shop.image().await;
    let summary = shop.importer.products(shop.target(), rows(file)).await.unwrap();
    assert_eq!(summary.rows, Changes { new: 0, changed: 0, unchanged: 2 });
    assert_eq!(shop.image().await, before);
}

/// What a roll-up writes cannot be seen before it ends, nor does it see what an import has not committed.
#[tokio::test]
async fn what_changes_costs_touches_the_days_that_a_roll_up_is_at() {
    let dearer = ProductRow { cost: Some((decimal("5"), date!(2026 - 03 - 01))), ..bare("MUG") };
    let moved = ProductRow { category: Some("Bar".to_owned()), ..bare("MUG") };
    for row in [dearer, moved] {
        let shop = Shop::open().await;
        shop.importer.products(shop.target(), rows(vec![product("MUG")])).await.unwrap();
        shop.import(vec![order("1", datetime!(2026-03-05 12:00 UTC), "", vec![line("MUG", 1, "10")])]).await;
        let roll_up = shop.database.client().await.unwrap();
        roll_up.batch_execute("BEGIN").await.unwrap();
        let summed = "WITH taken AS (DELETE FROM touched_days WHERE account_id = $1 RETURNING day)
            INSERT INTO product_days (account_id, product_id, day)
            SELECT $1, products.id, day FROM taken CROSS JOIN products WHERE products.account_id = $1";
        roll_up.execute(summed, &[&shop.account.0]).await.unwrap();
        let import = shop.importer.products(shop.target(), rows(vec![row]));
        let end = async {
            until_waiting(&shop.client, 1).await;
            roll_up.batch_execute("COMMIT").await.unwrap();
        };
        let (imported, ()) = tokio::join!(import, end);
        imported.unwrap();
        assert!(shop.days().await.contains(&"2026-03-05".to_owned()));
    }
}

#[tokio::test]
async fn stock_keeps_its_history_and_the_newest_level_is_current() {
    let shop = Shop::open().await;
    shop.importer.products(shop.target(), rows(vec![bare("MUG")])).await.unwrap();
    let levels = vec![
        level(2, "mug", 40, date!(2026 - 04 - 02)),
        level(3, "MUG", 50, date!(2026 - 04 - 01)),
        level(4, "GHOST", 1, date!(2026 - 04 - 01)),
        level(5, "MUG", 51, date!(2026 - 04 - 01)),
    ];
    let summary = shop.importer.stock(shop.target(), rows(levels.clone())).await.unwrap();
    assert_eq!(summary.rows.rows, Changes { new: 2, changed: 0, unchanged: 0 });
    assert_eq!((summary.unknown, summary.unknown_count), (vec![level(4, "GHOST", 1, date!(2026 - 04 - 01))], 1));
    let history = "SELECT concat_ws(' ', day, stock) FROM stock_levels WHERE account_id = $1 ORDER BY day";
    assert_eq!(shop.texts(history).await, ["2026-04-01 51", "2026-04-02 40"]);
    let current = "SELECT current_stock FROM products WHERE account_id = $1";
    assert_eq!(shop.one::<i64>(current).await, 40);
    let before = shop.image().await;
    let summary = shop.importer.stock(shop.target(), rows(levels)).await.unwrap();
    assert_eq!(summary.rows.rows, Changes { new: 0, changed: 0, unchanged: 2 });
    assert_eq!(shop.image().await, before);
    let summary =
        shop.importer.stock(shop.target(), rows(vec![level(2, "MUG", 0, date!(2026 - 04 - 02))])).await.unwrap();
    assert_eq!(summary.rows.rows, Changes { new: 0, changed: 1, unchanged: 0 });
    assert_eq!(shop.one::<i64>(current).await, 0);
}

#[tokio::test]
async fn stock_of_several_locations_is_added_up_within_a_file() {
    let shop = Shop::open().await;
    shop.importer.products(shop.target(), rows(vec![bare("MUG"), bare("CUP")])).await.unwrap();
    let at = |line, sku, location: &str, stock| StockRow {
        location: Some(location.to_owned()),
        ..level(line, sku, stock, date!(2026 - 04 - 02))
    };
    let levels = vec![
        at(2, "MUG", "Shop", 5),
        at(3, "mug", "Store room", 9),
        at(4, "MUG", "Store room", 7),
        at(5, "CUP", "Shop", 1_000_000_000),
        at(6, "CUP", "Store room", 1_000_000_000),
        at(7, "GHOST", "Shop", 1),
    ];
    let current = "SELECT concat_ws(' ', sku, current_stock) FROM products WHERE account_id = $1 ORDER BY sku";
    for (new, unchanged) in [(2, 0), (0, 2)] {
        let summary = shop.importer.stock(shop.target(), rows(levels.clone())).await.unwrap();
        assert_eq!(summary.rows.rows, Changes { new, changed: 0, unchanged });
        assert_eq!(summary.unknown, [at(7, "GHOST", "Shop", 1)]);
        assert_eq!(shop.texts(current).await, ["CUP 2000000000", "MUG 12"]);
    }
    shop.importer.stock(shop.target(), rows(vec![at(2, "MUG", "Shop", 4)])).await.unwrap();
    assert_eq!(shop.texts(current).await, ["CUP 2000000000", "MUG 4"], "what a file says takes the place of what was");
}

#[tokio::test]
async fn ad_spend_sums_within_a_file_and_replaces_between_files() {
    let shop = Shop::open().await;
    let spent = |campaign: &str, spend: &str, clicks: Option<i64>| AdSpendRow {
        day: date!(2026 - 04 - 01),
        platform: "meta".to_owned(),
        campaign: campaign.to_owned(),
        spend: decimal(spend),
        impressions: None,
        clicks,
        detail: AdDetail::default(),
        line: 1,
        record: Vec::new(),
    };
    let file = vec![spent("a", "10", Some(3)), spent("b", "1", None), spent("a", "2.5", Some(1))];
    let summary = shop.importer.ad_spend(shop.target(), AdSource::File, rows(file.clone())).await.unwrap().rows;
    assert_eq!((summary.rows, summary.days_touched), (Changes { new: 2, changed: 0, unchanged: 0 }, 1));
    let spend = "SELECT concat_ws(' ', campaign, spend::float8, clicks) FROM ad_spend WHERE account_id = $1 ORDER BY 1";
    assert_eq!(shop.texts(spend).await, ["a 12.5 4", "b 1"]);
    let before = shop.image().await;
    let summary = shop.importer.ad_spend(shop.target(), AdSource::File, rows(file)).await.unwrap().rows;
    assert_eq!((summary.rows, summary.days_touched), (Changes { new: 0, changed: 0, unchanged: 2 }, 0));
    assert_eq!(shop.image().await, before);
    let summary =
        shop.importer.ad_spend(shop.target(), AdSource::File, rows(vec![spent("a", "9", None)])).await.unwrap().rows;
    assert_eq!(summary.rows, Changes { new: 0, changed: 1, unchanged: 0 });
    assert_eq!(shop.texts(spend).await, ["a 9", "b 1"]);
}

#[tokio::test]
async fn equal_expenses_are_separate_and_come_in_once() {
    let shop = Shop::open().await;
    let paid = |description: &str, amount: &str| ExpenseRow {
        day: date!(2026 - 04 - 01),
        category: "office".to_owned(),
        description: description.to_owned(),
        amount: decimal(amount),
    };
    let file = vec![paid("paper", "5"), paid("paper", "5"), paid("rent", "900"), paid("paper", "4")];
    let summary = shop.importer.expenses(shop.target(), rows(file.clone())).await.unwrap();
    assert_eq!(summary.rows, Changes { new: 4, changed: 0, unchanged: 0 });
    let total = "SELECT sum(amount)::float8 FROM expenses WHERE account_id = $1";
    assert_eq!(shop.one::<f64>(total).await, 914.0);
    let before = shop.image().await;
    let summary = shop.importer.expenses(shop.target(), rows(file.into_iter().rev().collect())).await.unwrap();
    assert_eq!((summary.rows, summary.days_touched), (Changes { new: 0, changed: 0, unchanged: 4 }, 0));
    assert_eq!(shop.image().await, before);
    let summary = shop.importer.expenses(shop.target(), rows(vec![paid("paper", "4")])).await.unwrap();
    assert_eq!((summary.rows, summary.days_touched), (Changes { new: 0, changed: 0, unchanged: 1 }, 1));
    assert_eq!(shop.one::<f64>(total).await, 904.0);
}

/// Longer than what the import itself takes, pauses included, and shorter than a pause for the wait.
const NO_PAUSE_FOR_THE_WAIT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn an_import_does_not_pause_for_the_time_that_it_waited_for_another() {
    let shop = Shop::open().await;
    let key = "hashtextextended('import of account', $1)";
    shop.one::<String>(&format!("SELECT pg_advisory_lock({key})::text")).await;
    let (importer, target) = (shop.importer.clone().with_nice_ratio(60), shop.target());
    let spent = vec![AdSpendRow {
        day: date!(2026 - 04 - 01),
        platform: "meta".to_owned(),
        campaign: "a".to_owned(),
        spend: decimal("10"),
        impressions: None,
        clicks: None,
        detail: AdDetail::default(),
        line: 1,
        record: Vec::new(),
    }];
    let import = async move { importer.ad_spend(target, AdSource::File, rows(spent)).await.unwrap().rows };
    let holder = async {
        let waits = "SELECT pg_sleep(0.01)::text, $1::bigint, EXISTS (SELECT 1 FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'advisory'
            AND query_start < clock_timestamp() - interval '1 second')";
        while !shop.client.query_one(waits, &[&shop.account.0]).await.unwrap().get::<_, bool>(2) {}
        shop.one::<bool>(&format!("SELECT pg_advisory_unlock({key})")).await
    };
    let done = tokio::time::timeout(NO_PAUSE_FOR_THE_WAIT, async { tokio::join!(import, holder) }).await;
    let (summary, unlocked) = done.expect("it pauses for the time that it waited");
    assert!(unlocked);
    assert_eq!(summary.rows.new, 1);
}
