//! Connecting, tokens, permissions, and what takes them away.

use domain::shops::{Access, Purpose, RefreshError, Secret, ShopAuth as _, ShopError, ShopReader as _};
use time::{Duration, OffsetDateTime};

use super::world::{NOW, Read, SHOP, World, all, config, euro, grant};
use devtools::shops::{Stub as _, clock::Change};

fn later(world: &World, seconds: i64) -> OffsetDateTime {
    world.stub.common().clock.change(&Change { advance_seconds: Some(seconds), ..Change::default() });
    world.stub.common().clock.now()
}

fn with(world: &World, token: &Secret) -> Access {
    Access { token: token.clone(), ..world.access.clone() }
}

#[tokio::test]
async fn a_connection_knows_its_shop() {
    let world = World::new(config()).await;
    assert_eq!(world.tokens.access_expires_at, Some(NOW + Duration::HOUR));
    assert_eq!(world.tokens.refresh_expires_at, Some(NOW + Duration::days(90)));
    let (info, at) = world.shopify.shop(&world.access).await.unwrap();
    assert_eq!((info.shop.as_str(), info.currency.as_str(), at), (SHOP, "EUR", NOW));
    assert_eq!(info.timezone.unwrap().name(), "Europe/Madrid");
    assert_eq!((info.history_from, info.shows_buyers, info.missing_scopes), (None, Some(true), vec![]));
}

#[tokio::test]
async fn a_token_ends_after_an_hour_and_its_successor_goes_on() {
    let world = World::new(config()).await;
    let now = later(&world, 3_600);
    assert_eq!(world.orders(Purpose::Changes).await, Err(ShopError::Unauthorized));
    let refresh = world.tokens.refresh.clone().unwrap();
    let lost = world.shopify.refresh(SHOP, &refresh, now).await.unwrap();
    // Its reply did not arrive: the same refresh token is good until the successor was used.
    let tokens = world.shopify.refresh(SHOP, &refresh, now).await.unwrap();
    assert_eq!(tokens.scopes, world.tokens.scopes);
    assert_eq!(world.shopify.shop(&with(&world, &lost.access)).await, Err(ShopError::Unauthorized));
    assert!(world.shopify.shop(&with(&world, &tokens.access)).await.is_ok());
    assert_eq!(world.shopify.refresh(SHOP, &refresh, now).await, Err(RefreshError::Refused));
}

#[tokio::test]
async fn trouble_at_a_refresh_decides_nothing() {
    let world = World::new(config()).await;
    let refresh = world.tokens.refresh.clone().unwrap();
    for fault in ["server_error", "drop_reply", "throttle"] {
        world.fault(fault, 1, 0);
        let refused = world.shopify.refresh(SHOP, &refresh, NOW).await;
        assert!(matches!(refused, Err(RefreshError::Unavailable(_))), "{fault}: {refused:?}");
    }
    assert!(world.shopify.refresh(SHOP, &refresh, NOW).await.is_ok(), "also after a reply that was lost");
}

#[tokio::test]
async fn a_revoked_token_is_known_as_such() {
    let world = World::new(config()).await;
    assert!(world.stub.act("revoke", 0));
    assert_eq!(world.shopify.shop(&world.access).await, Err(ShopError::Unauthorized));
    let refresh = world.tokens.refresh.clone().unwrap();
    assert_eq!(world.shopify.refresh(SHOP, &refresh, NOW).await, Err(RefreshError::Refused));
    assert_eq!(world.shopify.revoke(&world.access).await, Ok(()), "what is dead was given back");
}

#[tokio::test]
async fn a_suspended_shop_is_not_a_revoked_token() {
    let world = World::new(config()).await;
    assert!(world.stub.act("suspend", 0));
    assert_eq!(world.shopify.shop(&world.access).await, Err(ShopError::Suspended));
    assert!(world.stub.act("resume", 0));
    assert!(world.shopify.shop(&world.access).await.is_ok());
}

#[tokio::test]
async fn giving_the_access_back_ends_it() {
    let world = World::new(config()).await;
    assert_eq!(world.shopify.revoke(&world.access).await, Ok(()));
    assert_eq!(world.shopify.shop(&world.access).await, Err(ShopError::Unauthorized));
    let again = grant(&world.shopify, &world.stub).await;
    assert!(world.shopify.shop(&with(&world, &again.tokens.access)).await.is_ok());
}

#[tokio::test]
async fn a_missing_scope_is_named() {
    let mut config = config();
    config.scopes = Some(vec!["write_products".to_owned(), "read_customers".to_owned()]);
    let world = World::new(config).await;
    for purpose in [Purpose::Changes, Purpose::BackFill] {
        let read = world.orders(purpose).await;
        let refused = matches!(&read, Err(ShopError::MissingScope(scope)) if scope == "read_orders");
        assert!(refused, "{purpose:?}: {read:?}");
    }
    let (info, _) = world.shopify.shop(&world.access).await.unwrap();
    let missing = ["read_orders", "read_all_orders", "read_inventory", "read_locations", "read_returns"];
    assert_eq!(info.missing_scopes, missing);
    assert_eq!((info.shows_buyers, info.history_from), (Some(false), Some(NOW - Duration::days(60))));
}

#[tokio::test]
async fn without_the_right_to_all_orders_history_begins_60_days_ago() {
    let mut config = config();
    let scopes = connectors::shops::shopify::SCOPES.iter().filter(|scope| **scope != "read_all_orders");
    config.scopes = Some(scopes.map(|scope| (*scope).to_owned()).collect());
    let world = World::new(config).await;
    let (info, _) = world.shopify.shop(&world.access).await.unwrap();
    assert_eq!(info.history_from, Some(NOW - Duration::days(60)));
    let read = Read::of(&world.orders(Purpose::BackFill).await.unwrap());
    assert!(!read.taken.is_empty() && read.taken.values().all(|order| order.at >= NOW - Duration::days(60)));
}

#[tokio::test]
async fn an_order_that_is_not_shown_is_gone_where_all_are_shown_now() {
    let mut restricted = config();
    let scopes = connectors::shops::shopify::SCOPES.map(str::to_owned);
    restricted.scopes = Some(scopes.iter().filter(|scope| *scope != "read_all_orders").cloned().collect());
    for (config, voided) in [(config(), vec!["1".to_owned()]), (restricted, vec![])] {
        let world = World::new(config).await;
        let old = world.truth().orders.into_iter().find(|(_, order)| order.at < NOW - Duration::days(60)).unwrap().0;
        // All was granted with the token.
        let access = Access { scopes: scopes.to_vec(), ..world.access.clone() };
        let ids = vec!["1".to_owned(), old];
        let batches = all(world.shopify.orders_by_id(&access, ids, euro())).await.unwrap();
        assert_eq!(Read::of(&batches).voided, voided);
    }
}

#[tokio::test]
async fn buyers_that_are_withheld_are_nobody_by_name() {
    let mut config = config();
    config.shows_buyers = false;
    let world = World::new(config).await;
    let (info, _) = world.shopify.shop(&world.access).await.unwrap();
    assert_eq!(info.shows_buyers, Some(false));
    let batches = world.orders(Purpose::BackFill).await.unwrap();
    let mut buyers = batches.iter().flat_map(|batch| &batch.orders).filter_map(|order| order.order.buyer.as_ref());
    assert!(buyers.all(|buyer| buyer.name.is_none() && buyer.email.is_none() && buyer.city.is_none()));
    world.compare(&batches);
}
