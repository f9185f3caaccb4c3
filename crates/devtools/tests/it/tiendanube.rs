//! What is read of the fake Tiendanube is its ledger, to the cent, whatever goes wrong on the way.

mod hooks;
mod shop;
mod strict;

use std::{collections::BTreeMap, time::Instant};

use devtools::shops::{
    Stub as _,
    ledger::{OrderTruth, ProductTruth, RefundTruth, State},
    tiendanube::Bucket,
};
use domain::{
    accounts::Platform,
    imports::Line,
    shops::{OrderBatch, Purpose, ShopError, ShopOrder, ShopReader as _, Window},
};
use futures_util::TryStreamExt as _;
use rust_decimal::Decimal;
use serde_json::json;
use time::Duration;

use self::shop::{NOW, Shop, brl};

/// What was read so far: an order replaces what was read of it before.
#[derive(Default)]
struct Read {
    orders: BTreeMap<String, OrderTruth>,
    copies: Vec<String>,
    refused: BTreeMap<String, String>,
}

impl Read {
    fn take(&mut self, batches: Vec<OrderBatch>) {
        for batch in batches {
            for order in batch.orders {
                let id = order.order.external_id.clone();
                if order.copy_of == Some(Platform::Mercadolibre) {
                    self.copies.push(id.clone());
                }
                self.orders.insert(id, as_truth(&order));
            }
            for voided in batch.voided {
                self.orders.remove(&voided.external_id);
            }
            self.refused.extend(batch.refused.into_iter().map(|refused| (refused.external_id, refused.reason)));
        }
    }

    async fn window(&mut self, shop: &Shop, window: Window, purpose: Purpose) -> Result<(), ShopError> {
        let batches = shop.app.orders(&shop.access, window, purpose, brl()).try_collect::<Vec<_>>().await?;
        self.take(batches);
        Ok(())
    }

    /// The newest month first.
    async fn back_fill(&mut self, shop: &Shop) {
        for month in 0..11 {
            let until = NOW - Duration::days(30 * month);
            let window = Window { from: until - Duration::days(30), until };
            self.window(shop, window, Purpose::BackFill).await.unwrap();
        }
    }

    async fn changes(&mut self, shop: &Shop) -> Result<(), ShopError> {
        let until = shop.stub.common().clock.now() + Duration::SECOND;
        self.window(shop, Window { from: NOW - Duration::MINUTE, until }, Purpose::Changes).await
    }

    #[track_caller]
    fn assert_is_the_truth(&self, shop: &Shop) {
        let truth = shop.stub.truth(None).unwrap();
        let of = |state| truth.orders.iter().filter(move |(_, order)| order.state == state);
        let taken: BTreeMap<_, _> = of(State::Taken).map(|(id, order)| (id.clone(), order.clone())).collect();
        for (id, order) in &taken {
            assert_eq!(self.orders.get(id), Some(order), "{id}");
        }
        assert_eq!(self.orders.len(), taken.len());
        let foreign: Vec<_> = of(State::Foreign).map(|(id, _)| id).collect();
        assert_eq!(self.refused.keys().collect::<Vec<_>>(), foreign);
        assert!(self.refused.values().all(|reason| reason == "its currency is USD"));
    }
}

/// An order as the ledger writes it.
fn as_truth(order: &ShopOrder) -> OrderTruth {
    let sum = |lines: &[Line], is_counted: fn(&Line) -> bool| {
        let counted = lines.iter().filter(|line| is_counted(line));
        counted.map(|line| Decimal::from(line.quantity) * line.unit_price).sum::<Decimal>()
    };
    let units = |lines: &[Line]| lines.iter().filter(|line| line.is_product).map(|line| line.quantity).sum::<i64>();
    let document = &order.order;
    let refunds = order.refunds.iter();
    let refunds = refunds.map(|refund| RefundTruth {
        at: refund.at,
        amount: sum(&refund.lines, |_| true),
        units: units(&refund.lines),
    });
    OrderTruth {
        at: document.at,
        state: State::Taken,
        gross: sum(&document.lines, |_| true),
        product_gross: sum(&document.lines, |line| line.is_product),
        units: units(&document.lines),
        fees: document.fees,
        shipping: document.shipping,
        buyer: document.buyer.as_ref().map(|buyer| buyer.external_id.clone()),
        refunds: refunds.collect(),
        refund_unknown: order.refund_unknown,
        copy_of: order.copy_of.map(|platform| platform.as_str().to_owned()),
    }
}

#[tokio::test]
async fn the_history_comes_in_to_the_cent() {
    let shop = Shop::open(800).await;
    let mut read = Read::default();
    read.back_fill(&shop).await;
    read.assert_is_the_truth(&shop);
    let refunded = read.orders.values().filter(|order| !order.refunds.is_empty()).count();
    let unknown = read.orders.values().filter(|order| order.refund_unknown).count();
    assert_eq!((refunded, unknown, read.copies.len(), read.refused.len()), (80, 20, 20, 20));
}

#[tokio::test]
async fn the_catalogue_comes_in_with_its_stock() {
    let shop = Shop::open(0).await;
    let batches = shop.app.products(&shop.access, brl()).try_collect::<Vec<_>>().await.unwrap();
    let read: BTreeMap<_, _> = batches
        .iter()
        .flat_map(|batch| &batch.products)
        .map(|product| {
            let truth = ProductTruth {
                name: product.name.clone(),
                price: product.price,
                cost: product.cost,
                stock: product.stock.units(),
                on_order: product.on_order,
            };
            (product.sku.to_lowercase(), truth)
        })
        .collect();
    assert_eq!(read, shop.stub.truth(None).unwrap().products);
    assert!(batches.iter().all(|batch| batch.left_out.is_empty() && !batch.has_unread));
    let reported: Vec<_> = batches.iter().flat_map(|batch| &batch.refused).collect();
    let [twice] = reported.as_slice() else { panic!("{reported:?}") };
    assert_eq!(twice.reason, "its SKU is also another variant's: both count as one product `SKU-04-0`");
}

#[tokio::test]
async fn what_happens_to_orders_is_read_with_the_changes() {
    let shop = Shop::open(80).await;
    let mut read = Read::default();
    read.back_fill(&shop).await;
    let mut orders = Vec::new();
    for customer in 1..=8 {
        let order = json!({ "variants": [7000, 7020], "quantity": 2, "customer": customer, "paid": customer != 8 });
        orders.push(shop.happens("orders", order).await["id"].as_u64().unwrap());
    }
    read.changes(&shop).await.unwrap();
    read.assert_is_the_truth(&shop);
    shop.advance(Duration::hours(30));
    let happened = [
        json!("edit"),
        json!("cancel"),
        json!("refund"),
        json!({ "refund_part": { "amount": "10.01", "told": true } }),
        json!({ "refund_part": { "amount": "10.01", "told": false } }),
        json!("void"),
        json!("edit"),
        json!("pay"),
    ];
    for (order, what) in orders.iter().zip(happened) {
        shop.happens(&format!("orders/{order}"), what).await;
    }
    shop.happens(&format!("orders/{}", orders[6]), json!("cancel")).await;
    shop.happens(&format!("orders/{}", orders[3]), json!({ "refund_part": { "amount": "1", "told": true } })).await;
    read.changes(&shop).await.unwrap();
    read.assert_is_the_truth(&shop);
    assert_eq!(read.orders[&orders[3].to_string()].refunds.len(), 2);
    assert!(read.orders[&orders[4].to_string()].refund_unknown);
}

#[tokio::test]
async fn an_order_that_is_gone_is_voided() {
    let shop = Shop::open(0).await;
    let made = shop.happens("orders", json!({ "variants": [7000], "paid": true })).await;
    let id = made["id"].as_u64().unwrap().to_string();
    let by_id = async |ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let batches = shop.app.orders_by_id(&shop.access, ids, brl()).try_collect::<Vec<_>>().await.unwrap();
        batches.into_iter().fold((vec![], vec![]), |(mut taken, mut voided), batch| {
            taken.extend(batch.orders.into_iter().map(|order| order.order.external_id));
            voided.extend(batch.voided.into_iter().map(|voided| voided.external_id));
            (taken, voided)
        })
    };
    assert_eq!(by_id(&[&id]).await, (vec![id.clone()], vec![]));
    shop.happens(&format!("orders/{id}"), json!("delete")).await;
    assert_eq!(by_id(&[&id]).await, (vec![], vec![id.clone()]));
    assert_eq!(by_id(&["../store"]).await, (vec![], vec!["../store".to_owned()]), "never a part of the address");
}

/// A list whose records leave it while it is read would hide one behind each page.
#[tokio::test]
async fn an_order_that_leaves_the_window_hides_no_other() {
    let shop = Shop::open(0).await;
    for _ in 0..450 {
        shop.happens("orders", json!({ "variants": [7000], "paid": true })).await;
    }
    shop.advance(Duration::HOUR);
    shop.happens("fault", json!({ "fault": "list_shrinks" })).await;
    let window = Window { from: NOW - Duration::MINUTE, until: NOW + Duration::MINUTE };
    let mut read = Read::default();
    read.window(&shop, window, Purpose::Changes).await.unwrap();
    assert_eq!(read.orders.len(), 449, "all but the one that changed");
    read.changes(&shop).await.unwrap();
    read.assert_is_the_truth(&shop);
}

#[tokio::test]
async fn a_window_with_too_many_orders_is_refused_before_the_cap() {
    let shop = Shop::open(8_100).await;
    let mut read = Read::default();
    let all = Window { from: NOW - Duration::days(301), until: NOW };
    assert_eq!(read.window(&shop, all, Purpose::BackFill).await, Err(ShopError::TooMany));
    let month = Window { from: NOW - Duration::days(30), until: NOW };
    read.window(&shop, month, Purpose::BackFill).await.unwrap();
    assert!(read.orders.len() > 500, "{}", read.orders.len());
}

#[tokio::test]
async fn an_empty_window_is_empty() {
    let shop = Shop::open(0).await;
    let mut read = Read::default();
    read.changes(&shop).await.unwrap();
    assert!(read.orders.is_empty());
}

#[tokio::test]
async fn the_client_waits_for_the_bucket() {
    let shop = Shop::open_with(0, |config| config.bucket = Bucket { size: 4.0, drain: 20.0 }).await;
    shop.stub.common().log.clear();
    let begun = Instant::now();
    let mut read = Read::default();
    for _ in 0..10 {
        read.changes(&shop).await.unwrap();
    }
    assert!(begun.elapsed().as_millis() >= 250, "{:?}", begun.elapsed());
    let refused = shop.stub.common().log.entries().iter().filter(|entry| entry.status == 429).count();
    assert!(refused <= 1, "{refused} of 10 calls were too many");
}

#[tokio::test]
async fn a_short_pause_is_waited_for_and_a_long_one_reported() {
    let shop = Shop::open(0).await;
    let mut read = Read::default();
    shop.happens("fault", json!({ "fault": "throttle", "value": 1 })).await;
    read.changes(&shop).await.unwrap();
    shop.happens("fault", json!({ "fault": "throttle", "value": 600 })).await;
    assert!(matches!(read.changes(&shop).await, Err(ShopError::Throttled(_))));
}

#[tokio::test]
async fn trouble_is_told_apart() {
    let shop = Shop::open(40).await;
    let mut read = Read::default();
    for (fault, value) in [("server_error", 503), ("drop_reply", 0)] {
        shop.happens("fault", json!({ "fault": fault, "times": 2, "value": value })).await;
        read.changes(&shop).await.unwrap();
        shop.happens("fault", json!({ "fault": fault, "times": 6, "value": value })).await;
        assert!(matches!(read.changes(&shop).await, Err(ShopError::Unavailable(_))), "{fault}");
    }
    shop.happens("fault", json!({ "fault": "suspend" })).await;
    assert_eq!(read.changes(&shop).await, Err(ShopError::Suspended));
    shop.happens("fault", json!({ "fault": "resume" })).await;
    read.changes(&shop).await.unwrap();
    shop.happens("fault", json!({ "fault": "revoke" })).await;
    assert_eq!(read.changes(&shop).await, Err(ShopError::Unauthorized));
}

#[tokio::test]
async fn a_missing_permission_is_named() {
    let shop = Shop::open_with(0, |config| config.scopes = vec!["write_products".into()]).await;
    let (info, _) = shop.app.shop(&shop.access).await.unwrap();
    assert_eq!(info.missing_scopes, ["read_orders"], "to write products includes to read them");
    assert_eq!(Read::default().changes(&shop).await, Err(ShopError::MissingScope("read_orders".into())));
}
