//! Connections are made and ended with their events, and a shop belongs to one account at a time.

use domain::{
    AccountId, IntegrationId,
    accounts::Platform,
    integrations::{BuyerData, Fact, IntegrationStore, RevokeReason, Status},
    page::PageRequest,
    shops::{
        connections::{ConnectError, ConnectionStore, Description, Revocation, Revoked},
        sync::{Counts, EndedRun, LeasedSync, Outcome, Stream, SyncStore},
    },
};
use time::{Duration, macros::datetime};

use super::{NOW, connect, description, scopes};
use crate::{
    database::{Database, fresh},
    shop,
};

const MANUAL: Revocation = Revocation { reason: RevokeReason::Manual, generation: None, now: NOW };

async fn events(db: &Database, account: AccountId) -> Vec<String> {
    let sql = "SELECT convert_from(body, 'UTF8') FROM events WHERE account_id = $1 ORDER BY id";
    db.sql.query(sql, &[&account.0]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

/// An account that is sent every event.
async fn account(db: &Database) -> AccountId {
    let account = shop::account(&db.sql, "UTC").await;
    let subscribe = "INSERT INTO webhook_subscriptions (account_id, url, events, sealed_secret, created_at)
        VALUES ($1, 'https://example.com', '{*,integration.disconnected,integration.broken}', '', now())";
    db.sql.execute(subscribe, &[&account.0]).await.unwrap();
    account
}

async fn owned(db: &Database, account: AccountId, id: IntegrationId) -> Vec<Fact> {
    IntegrationStore::find(&*db.store, account, id).await.unwrap().unwrap().owner_of
}

#[tokio::test]
async fn a_connection_is_made_with_its_event_and_is_due_at_once() {
    let db = fresh().await;
    let mine = account(&db).await;
    let id = connect(&db.store, mine, Platform::Shopify, "a", NOW).await.unwrap();
    let made = IntegrationStore::find(&*db.store, mine, id).await.unwrap().unwrap();
    assert_eq!((made.provider, made.shop.as_str()), (Platform::Shopify, "a.example.com"));
    assert_eq!((made.status(NOW), made.connected_at), (Status::NeverSynced, NOW));
    let Description { scopes, missing_scopes, history_from, buyer_data } = description();
    assert_eq!((made.scopes, made.missing_scopes), (scopes, missing_scopes));
    assert_eq!((made.history_from, made.buyer_data), (history_from, buyer_data));
    assert_eq!((made.suspended, made.last_error, made.backfilled_from), (false, None, None));
    assert_eq!(made.owner_of, [Fact::Stock, Fact::Cost]);
    assert_eq!(
        events(&db, mine).await,
        [r#"{"event":"integration.connected","data":{"provider":"shopify","shop":"a.example.com"}}"#]
    );
    assert_eq!(db.store.due(NOW, 10).await.unwrap().len(), 1);
    let page = PageRequest { limit: 10, cursor: None };
    assert_eq!(IntegrationStore::page(&*db.store, mine, page, NOW).await.unwrap().1.never_synced, 1);
    let stranger = account(&db).await;
    assert_eq!(IntegrationStore::find(&*db.store, stranger, id).await.unwrap(), None);
}

#[tokio::test]
async fn a_second_shop_of_a_platform_and_a_shop_of_another_account_are_refused_with_nothing_done() {
    let db = fresh().await;
    let (mine, theirs) = (account(&db).await, account(&db).await);
    let id = connect(&db.store, mine, Platform::Shopify, "a", NOW).await.unwrap();
    let second = connect(&db.store, mine, Platform::Shopify, "b", NOW).await;
    assert!(matches!(second, Err(ConnectError::AlreadyConnected)), "{second:?}");
    let elsewhere = connect(&db.store, theirs, Platform::Shopify, "a", NOW).await;
    assert!(matches!(elsewhere, Err(ConnectError::ConnectedElsewhere)), "{elsewhere:?}");
    assert_eq!(events(&db, theirs).await, Vec::<String>::new());
    let rows: i64 = db.sql.query_one("SELECT count(*) FROM integrations", &[]).await.unwrap().get(0);
    assert_eq!(rows, 1);
    // Another platform's shop of the same number is another shop.
    connect(&db.store, theirs, Platform::Tiendanube, "a", NOW).await.unwrap();
    // Free again once it was disconnected there.
    db.store.revoke(mine, id, MANUAL, None).await.unwrap();
    connect(&db.store, theirs, Platform::Shopify, "a", NOW).await.unwrap();
    let late = connect(&db.store, mine, Platform::Shopify, "a", NOW).await;
    assert!(matches!(late, Err(ConnectError::ConnectedElsewhere)), "{late:?}");
}

#[tokio::test]
async fn of_accounts_that_connect_one_shop_at_once_one_does() {
    let db = fresh().await;
    let mut connecting = Vec::new();
    for _ in 0..8 {
        let (store, account) = (db.store.clone(), account(&db).await);
        connecting.push(tokio::spawn(async move { connect(&store, account, Platform::Mercadolibre, "9", NOW).await }));
    }
    let outcomes: Vec<_> = futures_util::future::join_all(connecting).await.into_iter().map(Result::unwrap).collect();
    let refused = outcomes.iter().filter(|outcome| matches!(outcome, Err(ConnectError::ConnectedElsewhere))).count();
    assert_eq!((outcomes.iter().filter(|outcome| outcome.is_ok()).count(), refused), (1, 7), "{outcomes:?}");
}

#[tokio::test]
async fn a_connection_ends_once_with_both_events_and_everything_of_it() {
    let db = fresh().await;
    let mine = account(&db).await;
    let id = connect(&db.store, mine, Platform::Tiendanube, "5", NOW).await.unwrap();
    let due = db.store.due(NOW, 10).await.unwrap()[0];
    let leased = SyncStore::lease(&*db.store, due, 60).await.unwrap().unwrap();
    let end = Revocation { reason: RevokeReason::Uninstalled, generation: None, now: NOW };
    assert_eq!(db.store.revoke(mine, id, end, None).await.unwrap(), Revoked::Now);
    assert_eq!(db.store.revoke(mine, id, MANUAL, None).await.unwrap(), Revoked::Unchanged);
    let stranger = account(&db).await;
    assert_eq!(db.store.revoke(stranger, id, MANUAL, None).await.unwrap(), Revoked::Unknown);
    let ended = IntegrationStore::find(&*db.store, mine, id).await.unwrap().unwrap();
    assert_eq!((ended.status(NOW), ended.revoke_reason), (Status::Revoked, Some(RevokeReason::Uninstalled)));
    assert_eq!((ended.owner_of.as_slice(), ended.reconnect_needed()), ([].as_slice(), false));
    let revoked = format!(
        r#"{{"event":"integration.revoked","data":{{"provider":"tiendanube","store_id":{id},"reason":"uninstalled"}}}}"#
    );
    let twin = r#"{"event":"integration.disconnected","data":{"provider":"tiendanube","shop":"5.example.com","reason":"uninstalled","disconnected_at":"2026-05-01T12:00:00Z"}}"#;
    assert_eq!(events(&db, mine).await[1..], [revoked, twin.to_owned()]);
    // Nobody reads it any more, nor is told to.
    assert!(!db.store.heartbeat(leased.lease, 60).await.unwrap());
    assert!(!db.store.hint(mine, id, NOW).await.unwrap());
    assert_eq!(db.store.due(NOW + Duration::days(1), 10).await.unwrap(), []);
    assert_eq!(SyncStore::lease(&*db.store, due, 60).await.unwrap(), None);
    // The same shop again is the same connection.
    let later = NOW + Duration::HOUR;
    assert_eq!(connect(&db.store, mine, Platform::Tiendanube, "5", later).await.unwrap(), id);
    let again = IntegrationStore::find(&*db.store, mine, id).await.unwrap().unwrap();
    assert_eq!((again.revoked_at, again.revoke_reason, again.connected_at), (None, None, later));
    // A lease of before stays void.
    assert!(!db.store.heartbeat(leased.lease, 60).await.unwrap());
}

async fn leased(db: &Database) -> LeasedSync {
    let due = db.store.due(NOW + Duration::DAY, 10).await.unwrap()[0];
    SyncStore::lease(&*db.store, due, 60).await.unwrap().unwrap()
}

/// The back-fill goes on below the connection of before. What was sold since would be in neither it nor the changes.
#[tokio::test]
async fn a_shop_that_is_connected_again_before_its_changes_were_read_goes_on_from_its_first_connection() {
    let db = fresh().await;
    let mine = account(&db).await;
    let id = connect(&db.store, mine, Platform::Shopify, "a", NOW).await.unwrap();
    let first = leased(&db).await;
    assert_eq!(first.cursors, [], "a shop that is connected for the first time has been read nowhere");
    let run = EndedRun {
        stream: Stream::BackFill,
        window: None,
        counts: Counts::default(),
        refusals: vec![],
        started_at: NOW,
        finished_at: NOW,
        outcome: Outcome::Done { cursor: NOW - Duration::WEEK, reached: None, run_jobs: false },
    };
    SyncStore::record(&*db.store, first.lease, run).await.unwrap().unwrap();
    for hours in [1, 2] {
        db.store.revoke(mine, id, MANUAL, None).await.unwrap();
        connect(&db.store, mine, Platform::Shopify, "a", NOW + Duration::hours(hours)).await.unwrap();
    }
    let again = leased(&db).await;
    let cursors = (again.cursor(Stream::Changes), again.cursor(Stream::BackFill));
    assert_eq!(cursors, (Some(NOW), Some(NOW - Duration::WEEK)));
    assert_eq!((again.integration.last_sync_at, again.integration.last_error), (None, None));
}

/// Without a history that was begun, the back-fill begins at the new connection and leaves nothing out.
#[tokio::test]
async fn a_shop_that_was_never_read_begins_with_its_new_connection() {
    let db = fresh().await;
    let mine = account(&db).await;
    let id = connect(&db.store, mine, Platform::Shopify, "a", NOW).await.unwrap();
    db.store.revoke(mine, id, MANUAL, None).await.unwrap();
    connect(&db.store, mine, Platform::Shopify, "a", NOW + Duration::HOUR).await.unwrap();
    assert_eq!(leased(&db).await.cursors, []);
}

#[tokio::test]
async fn the_first_connection_owns_what_it_can_say_and_the_next_takes_over() {
    let db = fresh().await;
    let mine = account(&db).await;
    let meli = connect(&db.store, mine, Platform::Mercadolibre, "1", NOW).await.unwrap();
    assert_eq!(owned(&db, mine, meli).await, [Fact::Stock], "it knows no costs");
    let shopify = connect(&db.store, mine, Platform::Shopify, "2", NOW + Duration::HOUR).await.unwrap();
    assert_eq!(owned(&db, mine, shopify).await, [Fact::Cost]);
    let nube = connect(&db.store, mine, Platform::Tiendanube, "3", NOW + Duration::DAY).await.unwrap();
    assert_eq!(owned(&db, mine, nube).await, []);
    db.store.revoke(mine, shopify, MANUAL, None).await.unwrap();
    assert_eq!(owned(&db, mine, nube).await, [Fact::Cost]);
    assert_eq!(owned(&db, mine, meli).await, [Fact::Stock]);
    db.store.revoke(mine, meli, MANUAL, None).await.unwrap();
    assert_eq!(owned(&db, mine, nube).await, [Fact::Cost, Fact::Stock]);
    // Whoever comes back does not take away what another owns by now.
    connect(&db.store, mine, Platform::Mercadolibre, "1", NOW + Duration::WEEK).await.unwrap();
    assert_eq!(owned(&db, mine, meli).await, []);
    assert_eq!(owned(&db, mine, nube).await, [Fact::Cost, Fact::Stock]);
}

#[tokio::test]
async fn of_platforms_that_are_connected_at_once_one_owns_the_stock() {
    let db = fresh().await;
    let mine = account(&db).await;
    let connecting = Platform::ALL.iter().map(|platform| {
        let store = db.store.clone();
        tokio::spawn(async move { connect(&store, mine, *platform, "1", NOW).await.unwrap() })
    });
    let mut owners = Vec::new();
    for id in futures_util::future::join_all(connecting).await {
        owners.extend(owned(&db, mine, id.unwrap()).await);
    }
    owners.sort_unstable();
    assert_eq!(owners, [Fact::Stock, Fact::Cost]);
}

#[tokio::test]
async fn a_suspension_is_noted_once_and_its_end_makes_the_connection_due() {
    let db = fresh().await;
    let mine = account(&db).await;
    let id = connect(&db.store, mine, Platform::Shopify, "a", NOW).await.unwrap();
    let due = db.store.due(NOW, 1).await.unwrap()[0];
    let leased = SyncStore::lease(&*db.store, due, 60).await.unwrap().unwrap();
    SyncStore::release(&*db.store, leased.lease, NOW + Duration::DAY).await.unwrap();
    assert!(db.store.suspend(mine, id, true, NOW).await.unwrap());
    assert!(!db.store.suspend(mine, id, true, NOW).await.unwrap());
    assert!(IntegrationStore::find(&*db.store, mine, id).await.unwrap().unwrap().suspended);
    assert_eq!(db.store.due(NOW + Duration::HOUR, 1).await.unwrap(), []);
    assert!(db.store.suspend(mine, id, false, NOW + Duration::HOUR).await.unwrap());
    assert_eq!(db.store.due(NOW + Duration::HOUR, 1).await.unwrap(), [due]);

    let found = Description {
        scopes: scopes(&["read_orders", "read_all_orders"]),
        missing_scopes: vec![],
        history_from: None,
        buyer_data: BuyerData::Full,
    };
    db.store.describe(mine, id, found.clone()).await.unwrap();
    let now = IntegrationStore::find(&*db.store, mine, id).await.unwrap().unwrap();
    assert_eq!((now.scopes, now.missing_scopes), (found.scopes.clone(), vec![]));
    assert_eq!((now.history_from, now.buyer_data, now.suspended), (None, BuyerData::Full, false));
    db.store.revoke(mine, id, MANUAL, None).await.unwrap();
    assert!(!db.store.suspend(mine, id, true, NOW).await.unwrap());
    let late = Description { history_from: Some(datetime!(2020-01-01 0:00 UTC)), ..found };
    db.store.describe(mine, id, late).await.unwrap();
    assert_eq!(IntegrationStore::find(&*db.store, mine, id).await.unwrap().unwrap().history_from, None);
}
