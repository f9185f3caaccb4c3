//! Orders and catalogue.

use std::collections::BTreeMap;

use devtools::shops::ledger::{OrderTruth, ProductTruth, State};
use domain::shops::{Purpose, ShopError, ShopReader as _, Window};
use rstest::rstest;
use rust_decimal::Decimal;
use time::Duration;

use super::world::{NOW, Read, World, all, config, euro};

#[tokio::test]
async fn the_history_by_bulk_is_the_truth() {
    let world = World::new(config()).await;
    world.compare(&world.orders(Purpose::BackFill).await.unwrap());
    assert_eq!((world.sent("RunBulk"), world.sent("Orders")), (1, 0));
}

#[tokio::test]
async fn the_history_page_by_page_is_the_truth() {
    let world = World::new(config()).await;
    world.compare(&world.orders(Purpose::Changes).await.unwrap());
    assert_eq!((world.sent("RunBulk"), world.sent("Orders")), (0, 6), "300 orders, 50 a page");
}

#[tokio::test]
async fn an_order_with_more_agreements_than_a_page_is_read_whole() {
    let world = World::new(config()).await;
    let id = taken(&world);
    for _ in 0..25 {
        assert!(world.stub.change("edit", id).is_some());
    }
    world.compare(&world.orders(Purpose::Changes).await.unwrap());
    assert_eq!(world.sent("OrderSales"), 26, "one for each agreement");
    world.compare(&world.orders(Purpose::BackFill).await.unwrap());
}

/// Whether an order counts and lost nothing yet.
fn is_plain(order: &OrderTruth) -> bool {
    order.state == State::Taken && order.units > 2 && order.refunds.is_empty()
}

/// Some order that counts.
fn taken(world: &World) -> u64 {
    let truth = world.truth();
    let order = truth.orders.iter().find(|(_, order)| is_plain(order));
    order.unwrap().0.parse().unwrap()
}

#[rstest]
#[case("truncate", 0)]
#[case("object_count", 1)]
#[case("bulk_failed", 0)]
#[case("bulk_timeout", 0)]
#[case("server_error", 500)]
#[tokio::test]
async fn what_a_bulk_operation_fails_at_is_read_page_by_page(#[case] fault: &'static str, #[case] value: u64) {
    let world = World::new(config()).await;
    world.fault(fault, 1, value);
    world.compare(&world.orders(Purpose::BackFill).await.unwrap());
    assert_eq!((world.sent("RunBulk"), world.sent("Orders")), (1, 6));
}

#[rstest]
#[case("drop_reply", 2, 0)]
#[case("server_error", 2, 503)]
#[case("throttle", 3, 1)]
#[tokio::test]
async fn trouble_on_the_way_changes_nothing_of_what_is_read(
    #[case] fault: &'static str,
    #[case] times: u32,
    #[case] value: u64,
) {
    let world = World::new(config()).await;
    world.fault(fault, times, value);
    world.compare(&world.orders(Purpose::Changes).await.unwrap());
    assert_eq!(world.sent("Orders"), 6 + times as usize);
}

#[tokio::test]
async fn trouble_without_end_ends_the_run() {
    let world = World::new(config()).await;
    world.fault("server_error", 100, 500);
    let read = world.orders(Purpose::Changes).await;
    assert!(matches!(read, Err(ShopError::Unavailable(_))), "{read:?}");
    world.fault("server_error", 0, 0);
    world.fault("throttle", 1, 3_600);
    let read = world.orders(Purpose::Changes).await;
    assert!(matches!(read, Err(ShopError::Throttled(_))), "an hour is not waited for: {read:?}");
}

/// A bucket that holds little more than a page: the client waits before the platform has to refuse it.
#[tokio::test]
async fn the_limits_are_kept() {
    let mut config = config();
    config.rate = (700.0, 2_000.0);
    let world = World::new(config).await;
    world.compare(&world.orders(Purpose::Changes).await.unwrap());
    assert!(world.sent("Orders") <= 7, "{}", world.sent("Orders"));
}

#[tokio::test]
async fn what_happens_later_is_read_as_changes() {
    let world = World::new(config()).await;
    let mut read = world.orders(Purpose::BackFill).await.unwrap();
    let before = world.stub.change("sell", 0).unwrap();
    let truth = world.truth();
    let mut old = truth.orders.iter().filter(|(_, order)| is_plain(order));
    let mut next = || old.next().unwrap().0.parse::<u64>().unwrap();
    let (edited, refunded, cancelled, deleted) = (next(), next(), next(), next());
    for (action, id) in
        [("edit", edited), ("refund", refunded), ("cancel", cancelled), ("delete", deleted), ("refund", before)]
    {
        assert!(world.stub.change(action, id).is_some(), "{action}");
    }
    let unpaid = truth.orders.iter().filter(|(_, order)| order.state == State::Void);
    for (id, _) in unpaid {
        world.stub.change("pay", id.parse().unwrap()).unwrap();
    }
    let window = Window { from: NOW - Duration::minutes(10), until: NOW + Duration::minutes(1) };
    read.extend(all(world.shopify.orders(&world.access, window, Purpose::Changes, euro())).await.unwrap());
    // The deletion is a hook's to tell.
    let ids = vec![deleted.to_string(), "no-number".to_owned()];
    let by_id = all(world.shopify.orders_by_id(&world.access, ids.clone(), euro())).await.unwrap();
    assert_eq!(Read::of(&by_id).voided.len(), 2);
    read.extend(by_id);
    world.compare(&read);
}

/// A gift card counts neither when it is sold nor when it is refunded, alone or together with goods.
#[tokio::test]
async fn a_gift_card_is_no_revenue() {
    let world = World::new(config()).await;
    let sell = |action: &str| world.stub.change(action, 0).unwrap();
    let [alone, refunded] = ["sell_gift_card"; 2].map(sell);
    let [mixed, called_off] = ["sell_with_gift_card"; 2].map(sell);
    for id in [refunded, called_off] {
        assert!(world.stub.change("cancel", id).is_some());
    }
    for purpose in [Purpose::BackFill, Purpose::Changes] {
        let batches = world.orders(purpose).await.unwrap();
        world.compare(&batches);
        let read = Read::of(&batches);
        for id in [alone, refunded] {
            assert!(read.voided.contains(&id.to_string()));
        }
        let goods = |id: u64| &read.taken[&id.to_string()];
        for order in [goods(mixed), goods(called_off)] {
            assert!(order.gross > Decimal::ZERO && order.gross == order.product_gross);
        }
        assert!(goods(mixed).refunds.is_empty());
        let back = &goods(called_off).refunds[0];
        assert_eq!((back.amount, back.units), (goods(called_off).gross, goods(called_off).units));
    }
}

#[tokio::test]
async fn an_order_is_read_directly_before_search_knows_it() {
    let mut config = config();
    config.index_lag = std::time::Duration::from_secs(3_600);
    let world = World::new(config).await;
    let id = world.stub.change("sell", 0).unwrap().to_string();
    let window = Window { from: NOW - Duration::minutes(10), until: NOW + Duration::minutes(1) };
    let found = all(world.shopify.orders(&world.access, window, Purpose::Changes, euro())).await.unwrap();
    let known =
        |read: &Read| read.taken.contains_key(&id) || read.refused.contains_key(&id) || read.voided.contains(&id);
    assert!(!known(&Read::of(&found)));
    let found = all(world.shopify.orders_by_id(&world.access, vec![id.clone()], euro())).await.unwrap();
    assert!(known(&Read::of(&found)));
}

#[tokio::test]
async fn the_catalogue_is_the_truth_once_per_sku() {
    let world = World::new(config()).await;
    let batches = all(world.shopify.products(&world.access, euro())).await.unwrap();
    let mut read = BTreeMap::new();
    for product in batches.iter().flat_map(|batch| batch.products.clone()) {
        let truth = ProductTruth {
            name: product.name,
            price: product.price,
            cost: product.cost,
            stock: product.stock.units(),
            on_order: product.on_order,
        };
        assert!(read.insert(product.sku.to_lowercase(), truth).is_none(), "{} twice", product.sku);
    }
    assert_eq!(read, world.truth().products);
    assert!(batches.iter().all(|batch| batch.left_out.is_empty() && !batch.has_unread));
    let clashes =
        batches.iter().flat_map(|batch| &batch.refused).filter(|refused| refused.reason.contains("another variant's"));
    assert_eq!(clashes.count(), 6, "one variant in ten has the SKU of the one before");
    assert_eq!(batches.iter().map(|batch| batch.read).sum::<u64>(), 60);
}

#[tokio::test]
async fn a_catalogue_in_another_currency_has_no_prices() {
    let world = World::new(config()).await;
    let batches = all(world.shopify.products(&world.access, "BRL".parse().unwrap())).await.unwrap();
    let mut products = batches.iter().flat_map(|batch| &batch.products);
    assert!(products.all(|product| product.price.is_none() && product.cost.is_none() && product.name.is_some()));
    let refused =
        batches.iter().flat_map(|batch| &batch.refused).filter(|it| it.reason == "its price or cost is in EUR");
    assert_eq!(refused.count(), 59, "all but the gift card");
}

#[tokio::test]
async fn orders_in_another_currency_than_the_account_are_refused_one_by_one() {
    let world = World::new(config()).await;
    let window = Window { from: NOW - Duration::days(730), until: NOW };
    let batches =
        all(world.shopify.orders(&world.access, window, Purpose::BackFill, "BRL".parse().unwrap())).await.unwrap();
    let read = Read::of(&batches);
    assert!(read.taken.is_empty());
    for (id, _) in world.truth().orders.iter().filter(|(_, order)| order.state == State::Taken) {
        assert_eq!(read.refused[id], "its currency is EUR", "order {id}");
    }
    assert!(world.truth().days.values().map(|day| day.gross).sum::<Decimal>() > Decimal::ZERO);
}
