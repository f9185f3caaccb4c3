//! Trouble on the way, and what it must not lead to.

use devtools::shops::{Stub as _, ledger::State};
use domain::shops::{Purpose, RefreshError, ShopAuth as _, ShopError, ShopReader as _, Window};
use futures_util::TryStreamExt as _;
use time::Duration;

use super::{
    Read,
    shop::{NOW, Shop, ars},
};

#[tokio::test]
async fn a_refresh_token_works_once() {
    let shop = Shop::open(11, 10, 10).await;
    let first = shop.grant.tokens.refresh.clone().unwrap();
    let tokens = shop.app.refresh(&shop.access.shop_id, &first, NOW).await.unwrap();
    assert_eq!(tokens.access_expires_at, Some(NOW + Duration::hours(6)));
    let again = shop.app.refresh(&shop.access.shop_id, &first, NOW).await;
    assert_eq!(again, Err(RefreshError::Refused));
    shop.app.refresh(&shop.access.shop_id, &tokens.refresh.unwrap(), NOW).await.unwrap();
}

#[tokio::test]
async fn trouble_with_a_refresh_refuses_nothing() {
    let shop = Shop::open(12, 10, 10).await;
    let refresh = shop.grant.tokens.refresh.clone().unwrap();
    for (fault, value) in [("server_error", 503), ("throttle", 1)] {
        shop.stub.common().faults.set(fault, 1, value);
        let refreshed = shop.app.refresh(&shop.access.shop_id, &refresh, NOW).await;
        assert!(matches!(refreshed, Err(RefreshError::Unavailable(_))), "{fault}");
    }
    assert_eq!(shop.calls("/oauth/token"), 3, "one to connect and one each: a refresh is not tried twice");
    assert!(shop.stub.act("suspend", 1));
    let refreshed = shop.app.refresh(&shop.access.shop_id, &refresh, NOW).await;
    assert_eq!(refreshed, Err(RefreshError::Unavailable(ShopError::Suspended)));
    assert!(shop.stub.act("suspend", 0));
    shop.app.refresh(&shop.access.shop_id, &refresh, NOW).await.unwrap();
}

/// Mercado Libre gives no grace: the lost answer is told apart from a refusal, but the next attempt is one.
#[tokio::test]
async fn a_lost_answer_of_a_refresh_is_no_refusal() {
    let shop = Shop::open(13, 10, 10).await;
    let refresh = shop.grant.tokens.refresh.clone().unwrap();
    shop.stub.common().faults.set("lost_refresh", 1, 0);
    let lost = shop.app.refresh(&shop.access.shop_id, &refresh, NOW).await;
    assert!(matches!(lost, Err(RefreshError::Unavailable(ShopError::Unavailable(_)))), "{lost:?}");
    assert_eq!(shop.app.refresh(&shop.access.shop_id, &refresh, NOW).await, Err(RefreshError::Refused));
}

#[tokio::test]
async fn an_expired_token_is_unauthorized_and_a_blocked_app_suspended() {
    let shop = Shop::open(14, 10, 10).await;
    assert!(shop.stub.act("suspend", 1));
    assert_eq!(shop.app.shop(&shop.access).await.unwrap_err(), ShopError::Suspended);
    assert!(shop.stub.act("suspend", 0));
    shop.app.shop(&shop.access).await.unwrap();
    shop.advance(Duration::hours(6));
    assert_eq!(shop.app.shop(&shop.access).await.unwrap_err(), ShopError::Unauthorized);
    assert_eq!(shop.calls("/users/me"), 3, "what is refused is not asked again");
}

#[tokio::test]
async fn passing_trouble_changes_nothing_of_what_is_read() {
    let shop = Shop::open(15, 300, 30).await;
    let faults = &shop.stub.common().faults;
    let mut read = Read::default();
    for month in 0..2 {
        faults.set("throttle", 3, 0);
        faults.set("drop_reply", 2, 0);
        let until = NOW - Duration::days(30 * month);
        read.window(&shop, Window { from: until - Duration::days(30), until }, Purpose::BackFill).await;
    }
    faults.set("server_error", 4, 502);
    read.read_again(&shop).await;
    read.assert_is_the_truth(&shop);
}

#[tokio::test]
async fn lasting_trouble_ends_the_window() {
    let shop = Shop::open(16, 10, 10).await;
    let window = Window { from: NOW - Duration::days(10), until: NOW };
    let read = || shop.app.orders(&shop.access, window, Purpose::BackFill, ars()).try_collect::<Vec<_>>();
    shop.stub.common().faults.set("server_error", 5, 500);
    assert!(matches!(read().await, Err(ShopError::Unavailable(_))));
    shop.stub.common().faults.set("throttle", 5, 0);
    assert!(matches!(read().await, Err(ShopError::Throttled(_))));
    read().await.unwrap();
}

#[tokio::test]
async fn too_many_calls_are_waited_for() {
    let shop = Shop::open_with(17, 40, 10, true).await;
    let mut read = Read::default();
    let window = Window { from: NOW - Duration::days(11), until: NOW };
    read.window(&shop, window, Purpose::BackFill).await;
    read.assert_is_the_truth(&shop);
    let refused = shop.stub.common().log.entries().iter().filter(|entry| entry.status == 429).count();
    assert!(refused > 0);
}

#[tokio::test]
async fn what_is_listed_late_is_found_by_the_next_overlap() {
    let shop = Shop::open(18, 100, 10).await;
    let mut read = Read::default();
    read.window(&shop, Window { from: NOW - Duration::days(11), until: NOW }, Purpose::BackFill).await;
    assert!(shop.stub.act("lag", 900));
    let sold: Vec<String> = (0..5).flat_map(|_| shop.stub.sell(1)).map(|id| id.to_string()).collect();
    let taken = |read: &Read| {
        let truth = shop.stub.truth(None).unwrap();
        let taken = sold.iter().filter(|id| truth.orders[*id].state == State::Taken);
        taken.map(|id| read.orders.contains_key(id)).collect::<std::collections::BTreeSet<_>>()
    };
    shop.advance(Duration::minutes(10));
    let overlap = shop.app.timing().overlap;
    read.window(&shop, Window { from: NOW - overlap, until: NOW + Duration::minutes(9) }, Purpose::Changes).await;
    assert_eq!(taken(&read), [false].into());
    shop.advance(Duration::minutes(10));
    let from = NOW + Duration::minutes(9) - overlap;
    read.window(&shop, Window { from, until: NOW + Duration::minutes(19) }, Purpose::Changes).await;
    assert_eq!(taken(&read), [true].into());
    read.assert_is_the_truth(&shop);
}
