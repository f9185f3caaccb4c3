//! Tokens: renewed by one at a time, and never by one whose turn is over.

use domain::{
    accounts::Platform,
    integrations::{IntegrationStore, RevokeReason},
    shops::{
        connections::{ConnectionStore, Revocation, Revoked},
        tokens::TokenStore,
    },
};

use super::{NOW, connect, scopes, tokens};
use crate::{database::fresh, shop};

#[tokio::test]
async fn of_processes_that_renew_at_once_one_does_and_the_next_generation_is_free_again() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let id = connect(&db.store, account, Platform::Shopify, "a", NOW).await.unwrap();
    let found = TokenStore::find(&*db.store, account, id).await.unwrap().unwrap();
    assert_eq!((found.shop_id.as_str(), found.shop.as_str()), ("a", "a.example.com"));
    assert_eq!((found.tokens, found.generation, found.scopes), (tokens("first"), 1, scopes(&["read_orders"])));
    let leasing = (0..8).map(|_| {
        let store = db.store.clone();
        tokio::spawn(async move { TokenStore::lease(&*store, account, id, 1, 60).await.unwrap() })
    });
    let leases: Vec<_> = futures_util::future::join_all(leasing).await.into_iter().filter_map(Result::unwrap).collect();
    let [lease] = leases.as_slice() else { panic!("{leases:?}") };
    assert!(db.store.renew(*lease, tokens("second"), scopes(&["read_orders", "x"])).await.unwrap());
    assert!(!db.store.renew(*lease, tokens("late"), vec![]).await.unwrap());
    let found = TokenStore::find(&*db.store, account, id).await.unwrap().unwrap();
    assert_eq!((found.tokens, found.generation), (tokens("second"), 2));
    assert_eq!(found.scopes, scopes(&["read_orders", "x"]));
    // Whoever still has the old ones is told, instead of renewing them again.
    assert_eq!(TokenStore::lease(&*db.store, account, id, 1, 60).await.unwrap(), None);
    assert!(TokenStore::lease(&*db.store, account, id, 2, 60).await.unwrap().is_some());
}

#[tokio::test]
async fn a_lease_that_has_expired_is_another_s_and_the_tokens_of_before_stay_until_then() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let id = connect(&db.store, account, Platform::Shopify, "a", NOW).await.unwrap();
    let slow = TokenStore::lease(&*db.store, account, id, 1, 60).await.unwrap().unwrap();
    assert_eq!(TokenStore::lease(&*db.store, account, id, 1, 60).await.unwrap(), None);
    db.sql.execute("UPDATE integration_tokens SET lease_until = now()", &[]).await.unwrap();
    assert_eq!(TokenStore::find(&*db.store, account, id).await.unwrap().unwrap().tokens, tokens("first"));
    let next = TokenStore::lease(&*db.store, account, id, 1, 60).await.unwrap().unwrap();
    // Its time is over: neither does it store anything, nor end the other's turn.
    assert!(!db.store.renew(slow, tokens("slow"), vec![]).await.unwrap());
    TokenStore::release(&*db.store, slow).await.unwrap();
    assert_eq!(TokenStore::lease(&*db.store, account, id, 1, 60).await.unwrap(), None);
    TokenStore::release(&*db.store, next).await.unwrap();
    assert!(TokenStore::lease(&*db.store, account, id, 1, 60).await.unwrap().is_some());
}

#[tokio::test]
async fn a_refusal_of_old_tokens_does_not_end_a_connection_that_was_made_again() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let id = connect(&db.store, mine, Platform::Shopify, "a", NOW).await.unwrap();
    let lease = TokenStore::lease(&*db.store, mine, id, 1, 60).await.unwrap().unwrap();
    assert_eq!(connect(&db.store, mine, Platform::Shopify, "a", NOW).await.unwrap(), id);
    let refused =
        |generation| Revocation { reason: RevokeReason::TokenExpired, generation: Some(generation), now: NOW };
    assert_eq!(db.store.revoke(mine, id, refused(1), None).await.unwrap(), Revoked::Unchanged);
    assert!(!db.store.renew(lease, tokens("old"), vec![]).await.unwrap());
    assert_eq!(TokenStore::find(&*db.store, mine, id).await.unwrap().unwrap().generation, 2);
    assert_eq!(TokenStore::find(&*db.store, theirs, id).await.unwrap(), None);
    assert_eq!(TokenStore::lease(&*db.store, theirs, id, 2, 60).await.unwrap(), None);

    assert_eq!(db.store.revoke(mine, id, refused(2), None).await.unwrap(), Revoked::Now);
    assert_eq!(TokenStore::find(&*db.store, mine, id).await.unwrap(), None);
    assert_eq!(TokenStore::lease(&*db.store, mine, id, 2, 60).await.unwrap(), None);
    let kept: i64 = db
        .sql
        .query_one("SELECT count(*) FROM integration_tokens WHERE num_nonnulls(sealed_access, sealed_refresh) > 0", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(kept, 0);
    assert!(IntegrationStore::find(&*db.store, mine, id).await.unwrap().unwrap().reconnect_needed());
}
