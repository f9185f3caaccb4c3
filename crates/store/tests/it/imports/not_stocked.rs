//! Products that a connected shop does not stock (any more).

use domain::{
    IntegrationId,
    imports::{ImportStore, ProductRow, ShopCatalogue, StockRow, Target},
};
use time::{Date, macros::date};

use super::fixture::{Shop, rows};

const SHOP: IntegrationId = IntegrationId(5);
const OTHER_SHOP: IntegrationId = IntegrationId(6);
const TODAY: Date = date!(2026 - 05 - 01);

/// SKU, stock, what is on order, and which connection told the stock.
const STOCK: &str =
    "SELECT concat_ws(' ', sku, coalesce(current_stock::text, 'none'), on_order, coalesce(stock_from::text, 'file'))
    FROM products WHERE account_id = $1 ORDER BY sku COLLATE \"C\"";

fn product(sku: &str, stock: i64) -> ProductRow {
    ProductRow {
        sku: sku.to_owned(),
        name: None,
        category: None,
        price: None,
        cost: None,
        stock: Some(stock),
        on_order: Some(3),
        lead_time_days: None,
        pack_size: None,
        min_order_qty: None,
    }
}

fn products(stocks: &[(&str, i64)]) -> Vec<ProductRow> {
    stocks.iter().map(|(sku, stock)| product(sku, *stock)).collect()
}

fn skus(skus: &[&str]) -> Vec<String> {
    skus.iter().map(|sku| (*sku).to_owned()).collect()
}

impl Shop {
    async fn told_by(&self, connection: IntegrationId, stocks: &[(&str, i64)]) {
        self.importer.shop_products(self.target(), connection, rows(products(stocks))).await.unwrap();
    }

    async fn told_by_file(&self, stocks: &[(&str, i64)]) {
        self.importer.products(self.target(), rows(products(stocks))).await.unwrap();
    }

    async fn counted(&self, sku: &str, stock: i64, day: Date) {
        let level = StockRow { line: 1, sku: sku.to_owned(), location: None, stock, day, record: Vec::new() };
        self.importer.stock(self.target(), rows(vec![level])).await.unwrap();
    }

    /// A pass of the connection over its catalogue; gives of how many products it ended the stock.
    async fn pass(&self, catalogue: &ShopCatalogue) -> i64 {
        self.importer.not_stocked(self.target(), SHOP, catalogue.clone()).await.unwrap()
    }

    async fn sum_up(&self) {
        let roll_up = "INSERT INTO roll_ups (account_id, events_until) VALUES ($1, now())";
        self.client.execute(roll_up, &[&self.account.0]).await.unwrap();
    }

    async fn version(&self) -> i64 {
        self.one("SELECT version FROM roll_ups WHERE account_id = $1").await
    }
}

#[tokio::test]
async fn what_a_whole_catalogue_does_not_have_is_not_stocked() {
    let shop = Shop::open().await;
    shop.told_by(SHOP, &[("MUG", 20), ("CUP", 5), ("JAR", 7)]).await;
    shop.told_by(OTHER_SHOP, &[("POT", 4)]).await;
    shop.told_by_file(&[("JAR", 8), ("PEN", 9)]).await;
    let elsewhere = Target { account: shop.other, ..shop.target() };
    shop.importer.shop_products(elsewhere, SHOP, rows(products(&[("MUG", 20)]))).await.unwrap();
    shop.sum_up().await;
    let catalogue = ShopCatalogue { others: skus(&["cup", "NEW"]), is_whole: true, ..ShopCatalogue::default() };
    assert_eq!(shop.pass(&catalogue).await, 1);
    let left = ["CUP 5 3 5", "JAR 8 3 file", "MUG none 0 file", "PEN 9 3 file", "POT 4 3 6"];
    assert_eq!((shop.texts(STOCK).await, shop.version().await), (skus(&left), 1), "what others told stays");

    let before = shop.image().await;
    assert_eq!((shop.pass(&catalogue).await, shop.version().await), (0, 1));
    assert_eq!(shop.image().await, before);
    let theirs = "SELECT current_stock FROM products WHERE account_id = $1";
    assert_eq!(shop.client.query_one(theirs, &[&shop.other.0]).await.unwrap().get::<_, i64>(0), 20);
}

#[tokio::test]
async fn a_catalogue_that_is_not_whole_ends_only_what_it_names() {
    let shop = Shop::open().await;
    shop.told_by(SHOP, &[("MUG", 20), ("CUP", 5), ("POT", 4)]).await;
    shop.told_by_file(&[("JAR", 8), ("PEN", 9)]).await;
    let catalogue = ShopCatalogue {
        closed: skus(&["jar", "POT", "NEW"]),
        uncounted: skus(&["mug", "PEN"]),
        others: skus(&["pot"]),
        is_whole: false,
    };
    assert_eq!(shop.pass(&catalogue).await, 2);
    let left = ["CUP 5 3 5", "JAR none 0 file", "MUG none 0 file", "PEN 9 3 file", "POT 4 3 5"];
    assert_eq!(shop.texts(STOCK).await, left, "what a file told stays where the shop only does not count");
}

#[tokio::test]
async fn what_a_stock_is_told_of_again_comes_back() {
    let shop = Shop::open().await;
    let empty = ShopCatalogue { is_whole: true, ..ShopCatalogue::default() };
    shop.told_by(SHOP, &[("MUG", 20)]).await;
    shop.counted("MUG", 18, TODAY.previous_day().unwrap()).await;
    assert_eq!(shop.texts(STOCK).await, ["MUG 20 3 5"], "of today the connection told");
    assert_eq!(shop.pass(&empty).await, 1);
    shop.counted("MUG", 17, TODAY.previous_day().unwrap()).await;
    assert_eq!(shop.texts(STOCK).await, ["MUG none 0 file"], "what was there before says nothing of now");

    shop.sum_up().await;
    shop.forget_days().await;
    let again = ProductRow { on_order: None, ..product("MUG", 20) };
    shop.importer.shop_products(shop.target(), SHOP, rows(vec![again])).await.unwrap();
    assert_eq!(shop.texts(STOCK).await, ["MUG 20 0 5"]);
    assert_eq!((shop.version().await, shop.days().await), (1, vec![]), "the day's level is the same");

    assert_eq!(shop.pass(&empty).await, 1);
    shop.counted("MUG", 20, TODAY).await;
    assert_eq!(shop.texts(STOCK).await, ["MUG 20 0 file"]);
    assert_eq!(shop.pass(&empty).await, 0, "a file told it");
}
