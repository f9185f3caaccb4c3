//! What is read of the fake Mercado Libre is its ledger, to the cent, whatever goes wrong on the way.

mod faults;
mod hooks;
mod questions;
mod shop;
mod strict;

use std::collections::BTreeMap;

use connectors::shops::mercadolibre::AD_HISTORY;
use devtools::shops::{
    Stub as _,
    clock::Change as ClockChange,
    ledger::{OrderTruth, RefundTruth, State},
    mercadolibre::{CAMPAIGNS, Change},
};
use domain::shops::{OrderBatch, Purpose, ShopAuth as _, ShopError, ShopOrder, ShopReader as _, Window};
use futures_util::TryStreamExt as _;
use rust_decimal::Decimal;
use time::{Duration, macros::datetime};

use self::shop::{NOW, Shop, ars};

/// What was read so far: an order replaces what was read of it before.
#[derive(Default)]
struct Read {
    orders: BTreeMap<String, OrderTruth>,
    refused: BTreeMap<String, String>,
}

impl Read {
    fn take(&mut self, batches: Vec<OrderBatch>) {
        for batch in batches {
            for order in batch.orders {
                self.orders.insert(order.order.external_id.clone(), truth(&order));
            }
            for voided in batch.voided {
                self.orders.remove(&voided.external_id);
            }
            self.refused.extend(batch.refused.into_iter().map(|refused| (refused.external_id, refused.reason)));
        }
    }

    async fn window(&mut self, shop: &Shop, window: Window, purpose: Purpose) {
        let batches = shop.app.orders(&shop.access, window, purpose, ars()).try_collect::<Vec<_>>().await.unwrap();
        self.take(batches);
    }

    /// The year before the present, newest month first.
    async fn back_fill(&mut self, shop: &Shop) {
        for month in 0..13 {
            let until = NOW - Duration::days(30 * month);
            let window = Window { from: until - Duration::days(30), until };
            self.window(shop, window, Purpose::BackFill).await;
        }
    }

    async fn by_id(&mut self, shop: &Shop, ids: Vec<String>) {
        let batches = shop.app.orders_by_id(&shop.access, ids, ars()).try_collect::<Vec<_>>().await.unwrap();
        self.take(batches);
    }

    /// Everything that is younger than 60 days, one by one.
    async fn read_again(&mut self, shop: &Shop) {
        let since = shop.stub.common().clock.now() - Duration::days(60);
        let young = self.orders.iter().filter(|(_, order)| order.at >= since).map(|(id, _)| id.clone()).collect();
        self.by_id(shop, young).await;
    }

    fn assert_is_the_truth(&self, shop: &Shop) {
        let truth = shop.stub.truth(None).unwrap();
        let taken = truth.orders.iter().filter(|(_, order)| order.state == State::Taken);
        let taken: BTreeMap<_, _> = taken.map(|(id, order)| (id.clone(), order.clone())).collect();
        for (id, order) in &taken {
            assert_eq!(self.orders.get(id), Some(order), "{id}");
        }
        assert_eq!(self.orders.keys().collect::<Vec<_>>(), taken.keys().collect::<Vec<_>>());
        let foreign = truth.orders.iter().filter(|(_, order)| order.state == State::Foreign).map(|(id, _)| id);
        assert_eq!(self.refused.keys().collect::<Vec<_>>(), foreign.collect::<Vec<_>>());
        assert!(self.refused.values().all(|reason| reason == "its currency is USD"));
    }
}

/// An order as the ledger writes it.
fn truth(order: &ShopOrder) -> OrderTruth {
    let sum = |lines: &[domain::imports::Line]| {
        lines.iter().map(|line| Decimal::from(line.quantity) * line.unit_price).sum::<Decimal>()
    };
    let units = |lines: &[domain::imports::Line]| {
        lines.iter().filter(|line| line.is_product).map(|line| line.quantity).sum::<i64>()
    };
    let document = &order.order;
    OrderTruth {
        at: document.at,
        state: State::Taken,
        gross: sum(&document.lines),
        product_gross: sum(&document.lines),
        units: units(&document.lines),
        fees: document.fees,
        shipping: document.shipping,
        buyer: document.buyer.as_ref().map(|buyer| buyer.external_id.clone()),
        refunds: order
            .refunds
            .iter()
            .map(|refund| RefundTruth { at: refund.at, amount: sum(&refund.lines), units: units(&refund.lines) })
            .collect(),
        refund_unknown: order.refund_unknown,
        copy_of: order.copy_of.map(|platform| platform.as_str().to_owned()),
    }
}

#[tokio::test]
async fn the_history_comes_in_to_the_cent() {
    let shop = Shop::open(1, 1_200, 400).await;
    let mut read = Read::default();
    read.back_fill(&shop).await;
    read.assert_is_the_truth(&shop);
    assert!(read.orders.len() > 800, "{}", read.orders.len());
    let refunded = read.orders.values().filter(|order| !order.refunds.is_empty()).count();
    let packs = read.orders.values().filter(|order| order.shipping.is_some_and(|cost| !cost.is_zero())).count();
    assert!(refunded > 50 && packs > 300, "{refunded} {packs}");
}

#[tokio::test]
async fn what_happens_later_comes_in_with_changes_and_by_reading_again() {
    let shop = Shop::open(2, 400, 60).await;
    let mut read = Read::default();
    read.back_fill(&shop).await;
    let ids: Vec<u64> =
        read.orders.iter().filter(|(_, order)| order.refunds.is_empty()).map(|(id, _)| id.parse().unwrap()).collect();
    shop.advance(Duration::minutes(10));
    for (id, change) in ids.iter().rev().zip([
        Change::Cancel,
        Change::Refund(Decimal::new(1234, 2)),
        Change::Return { units: 1, is_low_cost: false },
        Change::Return { units: 1, is_low_cost: true },
        Change::IntoAccount,
        Change::Cancel,
    ]) {
        assert!(shop.stub.change(*id, change));
    }
    shop.stub.sell(3);
    shop.advance(Duration::minutes(10));
    let changes = Window { from: NOW - Duration::hours(2), until: NOW + Duration::minutes(19) };
    read.window(&shop, changes, Purpose::Changes).await;
    let cancelled = [ids[ids.len() - 1], ids[ids.len() - 6]].map(|id| id.to_string());
    assert!(
        cancelled.iter().all(|id| read.orders[id].refunds.is_empty()),
        "the search does not find what is cancelled"
    );
    read.read_again(&shop).await;
    assert!(cancelled.iter().all(|id| !read.orders[id].refunds.is_empty()));
    read.assert_is_the_truth(&shop);
}

#[tokio::test]
async fn an_order_can_be_read_some_time_after_its_notification() {
    let shop = Shop::open(3, 20, 10).await;
    let id = shop.stub.sell(1)[0].to_string();
    let mut read = Read::default();
    let batches = shop.app.orders_by_id(&shop.access, vec![id.clone()], ars()).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!((batches[0].voided[0].external_id.as_str(), batches[0].orders.len()), (id.as_str(), 0));
    shop.advance(Duration::seconds(2));
    read.by_id(&shop, vec![id.clone()]).await;
    assert!(read.orders.contains_key(&id) || read.refused.contains_key(&id) || is_void(&shop, &id));
}

fn is_void(shop: &Shop, id: &str) -> bool {
    shop.stub.truth(None).unwrap().orders[id].state == State::Void
}

#[tokio::test]
async fn a_window_is_exact_although_filters_are_of_hours() {
    let shop = Shop::open(4, 400, 2).await;
    let all = shop.stub.truth(None).unwrap();
    let window = Window { from: datetime!(2026-11-23 09:17:30 UTC), until: datetime!(2026-11-23 13:02:11 UTC) };
    let mut read = Read::default();
    read.window(&shop, window, Purpose::BackFill).await;
    // An order is made 44 seconds before it is paid for.
    let made = |order: &OrderTruth| order.at - Duration::seconds(44);
    let inside = all
        .orders
        .iter()
        .filter(|(_, order)| order.state == State::Taken && window.from <= made(order) && made(order) < window.until);
    let inside: Vec<_> = inside.map(|(id, _)| id.clone()).collect();
    assert!(inside.len() > 20);
    assert_eq!(read.orders.keys().cloned().collect::<Vec<_>>(), inside);
}

#[tokio::test]
async fn a_window_that_holds_too_much_is_to_be_halved() {
    let shop = Shop::open(5, 9_000, 1).await;
    let day = Window { from: NOW - Duration::DAY, until: NOW };
    let read = shop.app.orders(&shop.access, day, Purpose::BackFill, ars()).try_collect::<Vec<_>>().await;
    assert_eq!(read.unwrap_err(), ShopError::TooMany);
    let calls = shop.calls("/orders/search");
    assert_eq!(calls, 1, "nothing was read in vain");
}

#[tokio::test]
async fn orders_that_leave_the_window_hide_no_others() {
    let shop = Shop::open(6, 300, 5).await;
    let window = Window { from: NOW - Duration::days(6), until: NOW };
    let mut pages = shop.app.orders(&shop.access, window, Purpose::BackFill, ars());
    let mut read = Read::default();
    for cancelled in [4, 12] {
        let batch = pages.try_next().await.unwrap().unwrap();
        let early: Vec<u64> =
            batch.orders.iter().take(cancelled).map(|order| order.order.external_id.parse().unwrap()).collect();
        read.take(vec![batch]);
        for id in early {
            assert!(shop.stub.change(id, Change::Cancel));
        }
    }
    read.take(pages.try_collect().await.unwrap());
    read.read_again(&shop).await;
    read.assert_is_the_truth(&shop);
}

#[tokio::test]
async fn the_catalogue_is_one_product_per_sku() {
    let shop = Shop::open(7, 10, 10).await;
    let batches = shop.app.products(&shop.access, ars()).try_collect::<Vec<_>>().await.unwrap();
    let truth = shop.stub.truth(None).unwrap();
    let mut products = BTreeMap::new();
    for product in batches.iter().flat_map(|batch| &batch.products) {
        let before = products.insert(product.sku.to_ascii_lowercase(), product.clone());
        assert!(before.is_none(), "{} twice", product.sku);
        assert!(product.category.as_deref().unwrap().starts_with("Categoría MLA"));
    }
    assert_eq!(products.keys().collect::<Vec<_>>(), truth.products.keys().collect::<Vec<_>>());
    for (sku, product) in products {
        let expected = &truth.products[&sku];
        assert_eq!(
            (&product.name, product.price, product.stock.units()),
            (&expected.name, expected.price, expected.stock),
            "{sku}"
        );
        assert_eq!((product.cost, product.on_order), (None, None));
    }
    let refused: Vec<_> = batches.iter().flat_map(|batch| &batch.refused).collect();
    assert_eq!(refused.iter().map(|refused| refused.reason.as_str()).collect::<Vec<_>>(), ["its currency is USD"]);
    let left_out: Vec<_> = batches.iter().flat_map(|batch| &batch.left_out).collect();
    assert_eq!((left_out.len(), batches.iter().any(|batch| batch.has_unread)), (1, false));
}

#[tokio::test]
async fn ads_are_paid_for_by_day_and_campaign() {
    let shop = Shop::open(8, 10, 10).await;
    let (from, until) = (NOW.date() - Duration::days(27), NOW.date());
    let rows = shop.app.ad_spend(&shop.access, from, until).await.unwrap().rows;
    assert_eq!(rows.len() as i64, CAMPAIGNS * 28);
    let spend: Decimal = rows.iter().filter(|row| row.campaign == "7" && row.day == until).map(|row| row.spend).sum();
    assert_eq!(spend, Decimal::new(7_000 + 328, 2), "the 24th of November is the 328th day");
    let too_early = shop.app.ad_spend(&shop.access, until - AD_HISTORY - Duration::days(2), until).await;
    assert!(matches!(too_early, Err(ShopError::Rejected(_))));
}

#[tokio::test]
async fn access_is_given_back_and_then_gone() {
    let shop = Shop::open(9, 10, 10).await;
    let (info, now) = shop.app.shop(&shop.access).await.unwrap();
    assert_eq!(now, NOW);
    assert_eq!((info.shop_id.as_str(), info.shop.as_str()), (shop.access.shop_id.as_str(), shop.access.shop.as_str()));
    assert_eq!((info.currency, info.missing_scopes), (ars(), vec![]));
    shop.app.revoke(&shop.access).await.unwrap();
    assert_eq!(shop.app.shop(&shop.access).await.unwrap_err(), ShopError::Unauthorized);
    shop.app.revoke(&shop.access).await.unwrap();
}

impl Shop {
    fn advance(&self, by: Duration) {
        let advance_seconds = Some(by.whole_seconds());
        self.stub.common().clock.change(&ClockChange { advance_seconds, ..ClockChange::default() });
    }
}
