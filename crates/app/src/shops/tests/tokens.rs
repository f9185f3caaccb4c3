use domain::{
    accounts::Platform,
    integrations::RevokeReason,
    shops::{RefreshError, ShopError},
};
use time::Duration;

use super::{ACCOUNT, SHOP, World};
use crate::shops::tokens::AccessError;

fn unavailable() -> RefreshError {
    RefreshError::Unavailable(ShopError::Unavailable("HTTP 503".to_owned()))
}

#[tokio::test]
async fn a_token_is_renewed_late_in_its_life_and_stored_before_it_is_used() {
    let world = World::connected(Platform::Shopify);
    world.pass(Duration::minutes(47));
    assert_eq!(world.ports().access(ACCOUNT, SHOP).await.unwrap().access.token.expose(), "access-1");
    world.pass(Duration::minutes(1));
    let held = world.ports().access(ACCOUNT, SHOP).await.unwrap();
    assert_eq!((held.access.token.expose(), held.generation), ("access-2", 2));
    let stored = world.store.database().tokens.clone().unwrap();
    assert_eq!(stored.tokens.access, b"shop_access_token of row 12 of account 7: access-2");
    assert_eq!(world.platform.answers.lock().unwrap().refreshed_with, ["refresh-1"]);
}

#[tokio::test]
async fn of_two_processes_one_renews_a_token() {
    let world = World::connected(Platform::Mercadolibre);
    world.pass(Duration::minutes(50));
    let (one, other) = (world.ports(), world.ports());
    let (first, second) = tokio::join!(one.access(ACCOUNT, SHOP), other.access(ACCOUNT, SHOP));
    let tokens = [first.unwrap().access.token, second.unwrap().access.token].map(|token| token.expose().to_owned());
    // The other goes on with the token that is still good.
    assert_eq!(tokens, ["access-2", "access-1"]);
    assert_eq!(world.platform.answers.lock().unwrap().refreshed_with, ["refresh-1"]);
}

#[tokio::test]
async fn a_token_that_is_over_is_not_used_while_another_process_renews_it() {
    let world = World::connected(Platform::Mercadolibre);
    world.pass(Duration::minutes(61));
    world.store.database().refresh_lease = Some(99);
    let refused = world.ports().access(ACCOUNT, SHOP).await;
    assert!(matches!(refused, Err(AccessError::Busy)), "{refused:?}");
}

#[tokio::test]
async fn a_refused_renewal_ends_the_connection() {
    let world = World::connected(Platform::Mercadolibre);
    world.pass(Duration::minutes(50));
    world.platform.answers.lock().unwrap().refreshes.push_back(Some(RefreshError::Refused));
    let refused = world.ports().access(ACCOUNT, SHOP).await;
    assert!(matches!(refused, Err(AccessError::Ended)), "{refused:?}");
    assert_eq!(world.store.revoke_reason(), Some(RevokeReason::TokenExpired));
}

#[tokio::test]
async fn a_platform_that_is_away_ends_nothing_and_is_sent_the_same_refresh_token_again() {
    let world = World::connected(Platform::Mercadolibre);
    world.pass(Duration::minutes(50));
    world.platform.answers.lock().unwrap().refreshes.extend([Some(unavailable()), Some(unavailable())]);
    assert_eq!(world.ports().access(ACCOUNT, SHOP).await.unwrap().access.token.expose(), "access-1");
    world.pass(Duration::minutes(20));
    let over = world.ports().access(ACCOUNT, SHOP).await;
    assert!(matches!(over, Err(AccessError::Shop(ShopError::Unavailable(_)))), "{over:?}");
    assert_eq!(world.store.revoke_reason(), None);
    assert_eq!(world.ports().access(ACCOUNT, SHOP).await.unwrap().generation, 2);
    assert_eq!(world.platform.answers.lock().unwrap().refreshed_with, ["refresh-1"; 3]);
}

#[tokio::test(start_paused = true)]
async fn new_tokens_are_kept_though_the_database_is_away_for_a_moment() {
    let world = World::connected(Platform::Mercadolibre);
    world.pass(Duration::minutes(50));
    world.store.database().renewals = vec![false, false, false, true];
    assert_eq!(world.ports().access(ACCOUNT, SHOP).await.unwrap().access.token.expose(), "access-2");
    assert_eq!(world.platform.answers.lock().unwrap().refreshed_with.len(), 1);
}

#[tokio::test]
async fn what_was_refused_of_older_tokens_says_nothing_of_a_shop_that_was_connected_again() {
    let world = World::connected(Platform::Mercadolibre);
    world.store.database().tokens.as_mut().unwrap().generation = 5;
    let held = world.ports().access_after(ACCOUNT, SHOP, 4).await.unwrap();
    assert_eq!((held.generation, held.access.token.expose()), (5, "access-1"));
    assert!(world.platform.answers.lock().unwrap().refreshed_with.is_empty());
}
