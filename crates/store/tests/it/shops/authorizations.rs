//! States of OAuth: single use, and nobody else's.

use domain::{
    AccountId, SessionId, UserId,
    accounts::Platform,
    shops::{
        Secret,
        authorizations::{AuthorizationStore, Initiator, MAX_PENDING, PendingAuthorization, STATE_LIFETIME, StateHash},
    },
    social::Channel,
};
use time::{Duration, OffsetDateTime};

use super::NOW;
use crate::{
    database::{Database, fresh},
    shop,
};

const LAST: Duration = Duration::microseconds(1);

fn by(user: u8, session: Option<i64>) -> Initiator {
    Initiator { user: UserId::generate(std::iter::repeat(user)), session: session.map(SessionId) }
}

fn state(text: &str) -> StateHash {
    StateHash::of(&Secret::new(text.to_owned()))
}

fn pending(now: OffsetDateTime) -> PendingAuthorization {
    PendingAuthorization {
        by: by(1, Some(7)),
        provider: Platform::Shopify,
        channel: None,
        shop: Some("a.myshopify.com".to_owned()),
        redirect_uri: "http://127.0.0.1:1/callback".to_owned(),
        sealed_verifier: b"sealed".to_vec(),
        expires_at: now + STATE_LIFETIME,
    }
}

async fn take(db: &Database, account: AccountId, text: &str, now: OffsetDateTime) -> Option<PendingAuthorization> {
    AuthorizationStore::take(&*db.store, account, &by(1, Some(7)), Platform::Shopify, state(text), now).await.unwrap()
}

#[tokio::test]
async fn a_state_is_good_once_for_its_account_user_session_and_provider_until_it_expires() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.store.begin(mine, state("a"), pending(NOW), NOW).await.unwrap();
    assert_eq!(take(&db, theirs, "a", NOW).await, None);
    assert_eq!(take(&db, mine, "b", NOW).await, None);
    let (own, shopify) = (by(1, Some(7)), Platform::Shopify);
    let strangers = [by(2, Some(7)), by(1, Some(8)), by(1, None)].map(|by| (by, shopify));
    for (by, provider) in strangers.into_iter().chain([(own, Platform::Tiendanube)]) {
        let taken = AuthorizationStore::take(&*db.store, mine, &by, provider, state("a"), NOW).await.unwrap();
        assert_eq!(taken, None, "{by:?} {provider}");
    }
    assert_eq!(take(&db, mine, "a", NOW + STATE_LIFETIME).await, None);
    assert_eq!(take(&db, mine, "a", NOW + STATE_LIFETIME - LAST).await, Some(pending(NOW)));
    assert_eq!(take(&db, mine, "a", NOW).await, None);
}

#[tokio::test]
async fn of_callbacks_with_one_state_at_once_one_gets_it() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    db.store.begin(account, state("a"), pending(NOW), NOW).await.unwrap();
    let taking = (0..8).map(|_| {
        let store = db.store.clone();
        tokio::spawn(async move {
            store.take(account, &by(1, Some(7)), Platform::Shopify, state("a"), NOW).await.unwrap().is_some()
        })
    });
    let taken = futures_util::future::join_all(taking).await.into_iter().filter(|taken| *taken.as_ref().unwrap());
    assert_eq!(taken.count(), 1);
}

#[tokio::test]
async fn the_oldest_gives_way_and_expired_ones_go() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.store.begin(theirs, state("theirs"), pending(NOW), NOW).await.unwrap();
    for second in 0..=MAX_PENDING {
        let now = NOW + Duration::seconds(second);
        db.store.begin(mine, state(&second.to_string()), pending(now), now).await.unwrap();
    }
    assert_eq!(take(&db, mine, "0", NOW).await, None);
    assert!(take(&db, mine, "1", NOW).await.is_some());
    assert!(take(&db, theirs, "theirs", NOW).await.is_some());
    // The one that was begun 2 seconds later expires then.
    assert_eq!(AuthorizationStore::prune(&*db.store, NOW + STATE_LIFETIME + Duration::seconds(2)).await.unwrap(), 1);
    assert!(take(&db, mine, "3", NOW).await.is_some());
}

#[tokio::test]
async fn what_a_key_began_only_a_key_completes() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let pending = PendingAuthorization { by: by(1, None), ..pending(NOW) };
    db.store.begin(account, state("a"), pending.clone(), NOW).await.unwrap();
    assert_eq!(take(&db, account, "a", NOW).await, None);
    let key = by(1, None);
    let taken = AuthorizationStore::take(&*db.store, account, &key, Platform::Shopify, state("a"), NOW).await.unwrap();
    assert_eq!(taken, Some(pending));
}

#[tokio::test]
async fn what_was_begun_for_a_profile_makes_no_shop_and_the_other_way_round() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let own = by(1, Some(7));
    let profile = PendingAuthorization {
        provider: Platform::Meta,
        channel: Some(Channel::Instagram),
        shop: Some("17841400000000001".to_owned()),
        ..pending(NOW)
    };
    db.store.begin(account, state("profile"), profile.clone(), NOW).await.unwrap();
    let ads = PendingAuthorization { provider: Platform::Meta, ..pending(NOW) };
    db.store.begin(account, state("ads"), ads.clone(), NOW).await.unwrap();
    let shop = async |text: &str| {
        AuthorizationStore::take(&*db.store, account, &own, Platform::Meta, state(text), NOW).await.unwrap()
    };
    let of =
        async |by: Initiator, text: &str, now| db.store.take_profile(account, &by, state(text), now).await.unwrap();
    assert_eq!(shop("profile").await, None);
    assert_eq!(of(own.clone(), "ads", NOW).await, None);
    for other in [by(2, Some(7)), by(1, Some(8)), by(1, None)] {
        assert_eq!(of(other, "profile", NOW).await, None);
    }
    assert_eq!(of(own.clone(), "profile", NOW + STATE_LIFETIME).await, None);
    assert_eq!(of(own.clone(), "profile", NOW).await, Some(profile));
    assert_eq!(of(own.clone(), "profile", NOW).await, None);
    assert_eq!(shop("ads").await, Some(ads));
}
