//! Copies of accounts as of a day: what they hold, and which of them is given out.

use domain::{AccountId, accounts::Account, as_of::AsOfStore, daily::DailyStore, jobs::JobName};
use time::{
    Date, OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh},
    shop::{self, Order},
};

const NOW: OffsetDateTime = datetime!(2026-03-10 12:00 UTC);
const AS_OF: Date = date!(2026 - 03 - 01);
const UNTIL: OffsetDateTime = datetime!(2026-03-02 00:00 UTC);

/// A shop with an order of Ana on the first of March and one of Bia on the third, summed up.
async fn open_shop(db: &Database) -> AccountId {
    let account = shop::account(&db.sql, "UTC").await;
    let mug = shop::product(&db.sql, account, "MUG", None).await;
    let cost = "INSERT INTO product_costs VALUES ($1, $2, '2026-01-01', 4), ($1, $2, '2026-03-02', 5)";
    db.sql.execute(cost, &[&account.0, &mug]).await.unwrap();
    db.sql.execute("INSERT INTO stock_levels VALUES ($1, $2, '2026-03-05', 9)", &[&account.0, &mug]).await.unwrap();
    let now = "UPDATE products SET current_stock = 9, unit_cost = 5 WHERE account_id = $1";
    db.sql.execute(now, &[&account.0]).await.unwrap();
    for (id, at, customer) in
        [("1", datetime!(2026-03-01 09:00 UTC), "ana"), ("2", datetime!(2026-03-03 09:00 UTC), "bia")]
    {
        let customer = Some(shop::customer(&db.sql, account, customer).await);
        let lines = [(Some(mug), 2, "10")];
        shop::order(&db.sql, account, Order { customer, ..Order::new(id, at, &lines) }, at.date()).await;
    }
    db.store.roll_up(account, &"UTC".parse().unwrap(), NOW).await.unwrap().expect("nobody else rolls up");
    account
}

async fn copy(db: &Database, account: AccountId) -> Option<Account> {
    db.store.copy(account, AS_OF, UNTIL).await.unwrap()
}

#[tokio::test]
async fn a_copy_holds_what_was_known_by_the_end_of_its_day() {
    let db = fresh().await;
    let account = open_shop(&db).await;
    let copy = copy(&db, account).await.unwrap();
    let rows = async |columns, table| shop::rows(&db.sql, copy.id, columns, table).await;
    assert_eq!(rows("external_id", "customers").await, ["(ana)"]);
    assert_eq!(rows("external_id, gross", "orders").await, ["(1,20.000000)"]);
    assert_eq!(rows("valid_from, unit_cost", "product_costs").await, ["(2026-01-01,4.000000)"]);
    assert_eq!(rows("day, orders, gross_revenue", "daily_metrics").await, ["(2026-03-01,1,20.000000)"]);
    assert_eq!(rows("orders, gross", "customer_totals").await, ["(1,20.000000)"]);
    // Of the stock that was told later nothing was known, and the cost was that of then.
    assert_eq!(rows("sku, current_stock, unit_cost", "products").await, ["(MUG,,4.000000)"]);
    // The account itself is as it was, and no copy is made of a copy.
    assert_eq!(shop::rows(&db.sql, account, "external_id", "orders").await, ["(1)", "(2)"]);
    assert!(db.store.copy(copy.id, AS_OF, UNTIL).await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_not_stocked_any_more_was_on_the_days_of_which_its_shop_told_a_level() {
    let db = fresh().await;
    let account = open_shop(&db).await;
    for (sku, last_told) in [("GONE", date!(2026 - 02 - 28)), ("THERE", AS_OF)] {
        let product = shop::product(&db.sql, account, sku, None).await;
        let level = "INSERT INTO stock_levels VALUES ($1, $2, $3, 7)";
        db.sql.execute(level, &[&account.0, &product, &last_told]).await.unwrap();
    }
    let copy = copy(&db, account).await.unwrap();
    let stocks = shop::rows(&db.sql, copy.id, "sku, current_stock", "products").await;
    assert_eq!(stocks, ["(GONE,)", "(MUG,)", "(THERE,7)"]);
}

#[tokio::test]
async fn the_newest_complete_copy_of_a_day_is_given_out_and_earlier_ones_are_removed() {
    let db = fresh().await;
    let account = open_shop(&db).await;
    let first = copy(&db, account).await.unwrap().id;
    assert_eq!(AsOfStore::find(&*db.store, account, AS_OF).await.unwrap(), None, "nothing is complete");
    db.store.publish(first).await.unwrap();
    assert_eq!(AsOfStore::find(&*db.store, account, AS_OF).await.unwrap(), Some(first));
    let second = copy(&db, account).await.unwrap().id;
    assert_eq!(AsOfStore::find(&*db.store, account, AS_OF).await.unwrap(), Some(first));
    db.store.publish(second).await.unwrap();
    assert_eq!(AsOfStore::find(&*db.store, account, AS_OF).await.unwrap(), Some(second));
    assert_eq!(AsOfStore::find(&*db.store, account, date!(2026 - 02 - 28)).await.unwrap(), None);
    assert_eq!(shop::rows(&db.sql, first, "external_id", "orders").await, [""; 0]);
    let customers = AsOfStore::rows(&*db.store, second, JobName::CustomerMetrics).await.unwrap();
    assert_eq!(customers.iter().map(|row| row["external_id"].as_str().unwrap()).collect::<Vec<_>>(), ["ana"]);
}
