use domain::{
    AccountId, IntegrationId, SessionId, UserId,
    accounts::{Mode, Platform},
    idempotency::IdempotencyKey,
    integrations::RevokeReason,
    shops::{authorizations::Initiator, connections::ConnectError},
};
use time::Duration;

use super::{ACCOUNT, SHOP, START, World, store::integration, user};
use crate::shops::{
    NotConfigured,
    connect::{Asked, AuthorizeFailure, CompleteFailure, ConnectService, Owner, Randomness},
};

impl World {
    fn service(&self) -> ConnectService {
        ConnectService { ports: self.ports(), redirect_uri: "https://dashboard.example/callback".to_owned() }
    }
}

fn owner() -> Owner {
    Owner { account: ACCOUNT, by: Initiator { user: user(), session: None } }
}

fn random(n: u8) -> Randomness {
    Randomness { state: [n; 32], verifier: [n.wrapping_add(1); 32] }
}

/// Begins an authorization and gives the query of its callback.
async fn begin(service: &ConnectService, n: u8) -> String {
    let begun = service
        .authorize(&owner(), Platform::Shopify, Some("Example.myshopify.com"), random(n), None)
        .await
        .unwrap()
        .value;
    format!("code=c&{}", begun.url.split_once('?').unwrap().1)
}

#[tokio::test]
async fn an_authorization_is_kept_hashed_and_sealed_and_comes_back_as_it_was() {
    let world = World::empty(Platform::Shopify);
    let query = begin(&world.service(), 1).await;
    {
        let database = world.store.database();
        let (account, _, pending) = &database.pending[0];
        assert_eq!((*account, &pending.by.user, pending.expires_at), (ACCOUNT, &user(), START + Duration::minutes(10)));
        assert_eq!(pending.shop.as_deref(), Some("example.myshopify.com"));
        assert!(pending.sealed_verifier.starts_with(b"oauth_verifier of row"));
    }
    let made = world.service().complete(&owner(), Platform::Shopify, &query, None, None).await.unwrap().value;
    assert_eq!((made.id, made.connected_at), (SHOP, START));
    let answers = world.platform.answers.lock().unwrap();
    let [begun, completed] = answers.authorizations.as_slice() else { panic!("{:?}", answers.authorizations) };
    assert_eq!(begun, completed);
    assert_eq!(begun.verifier.expose().len(), 43, "RFC 7636, section 4.1");
    let tokens = world.store.database().tokens.clone().unwrap();
    assert_eq!(tokens.tokens.access, b"shop_access_token of row 12 of account 7: access-1");
}

fn key(name: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey { path: "/".to_owned(), key: name.to_owned(), request_hash: [0; 32] })
}

#[tokio::test]
async fn under_a_key_an_authorization_is_begun_and_completed_once() {
    let world = World::empty(Platform::Shopify);
    let (service, shop) = (world.service(), Some("example.myshopify.com"));
    let begun = service.authorize(&owner(), Platform::Shopify, shop, random(1), key("begin")).await.unwrap();
    let again = service.authorize(&owner(), Platform::Shopify, shop, random(2), key("begin")).await.unwrap();
    assert_eq!((begun.replayed, again.replayed), (false, true));
    assert_eq!((&begun.value, world.store.database().pending.len()), (&again.value, 1));
    let query = format!("code=c&{}", begun.value.url.split_once('?').unwrap().1);
    let kept = world.store.database().answers[0].1.to_string();
    assert!(!kept.contains(begun.value.url.as_str()), "the address holds the state");

    let made = service.complete(&owner(), Platform::Shopify, &query, key("complete"), None).await.unwrap();
    world.store.database().integration.as_mut().unwrap().last_sync_at = Some(START);
    let again = service.complete(&owner(), Platform::Shopify, &query, key("complete"), None).await.unwrap();
    assert_eq!((made.replayed, again.replayed), (false, true));
    assert_eq!(made.value, again.value, "as it was made, whatever became of it since");
    assert_eq!(world.platform.answers.lock().unwrap().authorizations.len(), 2, "one begun, one completed");
}

#[tokio::test]
async fn what_was_refused_under_a_key_may_be_tried_again() {
    let world = World::empty(Platform::Shopify);
    let refused = world.service().authorize(&owner(), Platform::Tiendanube, None, random(1), key("begin")).await;
    assert!(matches!(refused, Err(AuthorizeFailure::NotConfigured(_))), "{refused:?}");
    let refused = world.service().complete(&owner(), Platform::Shopify, "state=unknown", key("complete"), None).await;
    assert!(matches!(refused, Err(CompleteFailure::InvalidState)), "{refused:?}");
    let given_up: Vec<_> = world.store.database().given_up.iter().map(|key| key.key.clone()).collect();
    assert_eq!(given_up, ["begin", "complete"]);
}

#[tokio::test]
async fn a_state_is_good_once() {
    let world = World::empty(Platform::Shopify);
    let query = begin(&world.service(), 1).await;
    world.service().complete(&owner(), Platform::Shopify, &query, None, None).await.unwrap();
    let again = world.service().complete(&owner(), Platform::Shopify, &query, None, None).await;
    assert!(matches!(again, Err(CompleteFailure::InvalidState)), "{again:?}");
}

/// An attacker's link leads an owner to a callback whose state is the attacker's: nobody else completes it.
#[tokio::test]
async fn the_state_of_another_account_user_or_session_or_of_no_one_connects_nothing() {
    let world = World::empty(Platform::Shopify);
    let query = begin(&world.service(), 1).await;
    let other_user: UserId = "user_zzzz456789abcdefghijABCD".parse().unwrap();
    let others = [
        Owner { account: AccountId(8), ..owner() },
        Owner { account: ACCOUNT, by: Initiator { user: other_user, session: None } },
        Owner { account: ACCOUNT, by: Initiator { user: user(), session: Some(SessionId(1)) } },
    ];
    for other in others {
        let refused = world.service().complete(&other, Platform::Shopify, &query, None, None).await;
        assert!(matches!(refused, Err(CompleteFailure::InvalidState)), "{refused:?}");
    }
    for query in ["code=c", "code=c&state=", "code=c&state=unknown", &format!("{query}&state=x")] {
        let refused = world.service().complete(&owner(), Platform::Shopify, query, None, None).await;
        assert!(matches!(refused, Err(CompleteFailure::InvalidState)), "{query}: {refused:?}");
    }
    assert!(world.store.database().tokens.is_none());
    // None of that used the owner's own state up.
    world.service().complete(&owner(), Platform::Shopify, &query, None, None).await.unwrap();
}

#[tokio::test]
async fn a_state_expires() {
    let world = World::empty(Platform::Shopify);
    let query = begin(&world.service(), 1).await;
    world.pass(Duration::minutes(10));
    let late = world.service().complete(&owner(), Platform::Shopify, &query, None, None).await;
    assert!(matches!(late, Err(CompleteFailure::InvalidState)), "{late:?}");
}

#[tokio::test]
async fn a_shop_in_another_currency_or_connected_elsewhere_is_refused() {
    let world = World::empty(Platform::Shopify);
    let query = begin(&world.service(), 1).await;
    world.platform.answers.lock().unwrap().currency = Some("BRL".parse().unwrap());
    let refused = world.service().complete(&owner(), Platform::Shopify, &query, None, None).await;
    assert!(matches!(refused, Err(CompleteFailure::CurrencyMismatch { .. })), "{refused:?}");
    world.platform.answers.lock().unwrap().currency = None;
    let query = begin(&world.service(), 2).await;
    world.store.database().connect_refusal = Some(ConnectError::ConnectedElsewhere);
    let refused = world.service().complete(&owner(), Platform::Shopify, &query, None, None).await;
    assert!(matches!(refused, Err(CompleteFailure::Connect(ConnectError::ConnectedElsewhere))), "{refused:?}");
    assert!(world.store.database().tokens.is_none());
}

/// A token that nobody keeps would stay at the platform.
#[tokio::test]
async fn a_second_shop_of_the_platform_is_refused_before_anything_is_exchanged() {
    let world = World::empty(Platform::Shopify);
    let query = begin(&world.service(), 1).await;
    let mut other = integration(IntegrationId(13), Platform::Shopify, START);
    other.shop = "other.myshopify.com".to_owned();
    world.store.database().others = vec![other];
    let refused = world.service().complete(&owner(), Platform::Shopify, &query, None, None).await;
    assert!(matches!(refused, Err(CompleteFailure::Connect(ConnectError::AlreadyConnected))), "{refused:?}");
    assert_eq!(world.platform.answers.lock().unwrap().authorizations.len(), 1, "begun, and not completed");
    let shop = Some("example.myshopify.com");
    let refused = world.service().authorize(&owner(), Platform::Shopify, shop, random(2), None).await;
    assert!(matches!(refused, Err(AuthorizeFailure::AlreadyConnected)), "{refused:?}");
    world.store.database().others[0].revoked_at = Some(START);
    begin(&world.service(), 3).await;
}

#[tokio::test]
async fn a_sandbox_reaches_no_real_platform_and_other_platforms_are_not_configured() {
    let world = World { mode: Mode::Test, ..World::empty(Platform::Shopify) };
    let refused =
        world.service().authorize(&owner(), Platform::Shopify, Some("a.myshopify.com"), random(1), None).await;
    assert!(matches!(refused, Err(AuthorizeFailure::NotConfigured(NotConfigured::Sandbox))), "{refused:?}");
    let refused = world.service().authorize(&owner(), Platform::Tiendanube, None, random(1), None).await;
    assert!(matches!(refused, Err(AuthorizeFailure::NotConfigured(NotConfigured::NoApp))), "{refused:?}");
}

#[tokio::test]
async fn a_connection_is_given_back_and_forgotten() {
    let world = World::connected(Platform::Shopify);
    assert!(world.service().disconnect(ACCOUNT, SHOP, None).await.unwrap());
    assert!(world.service().disconnect(ACCOUNT, SHOP, None).await.unwrap(), "repeating it changes nothing");
    assert_eq!(world.platform.answers.lock().unwrap().given_back, 1);
    assert_eq!(world.store.revoke_reason(), Some(RevokeReason::Manual));
    assert!(world.store.database().tokens.is_none());
    assert!(!world.service().disconnect(AccountId(8), SHOP, None).await.unwrap());
    assert_eq!(world.service().sync(ACCOUNT, SHOP, None, None).await.unwrap().value, Asked::Ended);
}
