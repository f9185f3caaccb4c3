//! Connected profiles: one account's at a time, and no trace of a token after the end.

use domain::{
    AccountId, PersonId, SocialAccountId,
    accounts::AccountStore,
    audit::{Action, Actor, Area, AuditLog, Entry},
    idempotency::{AnswerStore, IdempotencyKey},
    page::PageRequest,
    social::{
        Channel,
        profiles::{EndReason, Ended, NewProfile, ProfileConnections, ProfileError, ProfileStatus, SocialProfile},
        replies::{Connected, NewSocialAccount, ProfileStore},
    },
};
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-03 12:00 UTC);
const LATER: OffsetDateTime = datetime!(2026-03-03 13:00 UTC);
const PAGE: PageRequest = PageRequest { limit: 50, cursor: None };

fn new(id: SocialAccountId, number: &str) -> NewProfile {
    NewProfile {
        id,
        channel: Channel::Instagram,
        external_id: number.into(),
        handle: Some("shop".into()),
        page_id: "101".into(),
        scopes: vec!["instagram_basic".into()],
        missing_scopes: vec!["pages_manage_metadata".into()],
        sealed_token: b"sealed".to_vec(),
        is_subscribed: true,
        key: None,
        note: None,
    }
}

async fn connect(db: &Database, account: AccountId, number: &str) -> Result<SocialProfile, ProfileError> {
    let id = db.store.reserve(account, Channel::Instagram, number).await.unwrap();
    ProfileConnections::connect(&*db.store, account, new(id, number), NOW).await
}

async fn find(db: &Database, account: AccountId, id: SocialAccountId) -> Option<SocialProfile> {
    ProfileConnections::find(&*db.store, account, id).await.unwrap()
}

/// What webhooks were told, the oldest first.
async fn told(db: &Database, account: AccountId) -> Vec<String> {
    let text = "SELECT concat_ws(' ', kind, body -> 'data' ->> 'provider', body -> 'data' ->> 'shop', body -> 'data' ->> 'reason')
        FROM (SELECT id, kind, convert_from(body, 'UTF8')::jsonb AS body FROM events WHERE account_id = $1) e ORDER BY id";
    db.sql.query(text, &[&account.0]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn is_due(db: &Database) -> bool {
    db.store.take_poll(LATER, Duration::minutes(5), Vec::new()).await.unwrap().is_some()
}

#[tokio::test]
async fn a_profile_is_connected_polled_ended_and_connected_again() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let made = connect(&db, account, "17").await.unwrap();
    assert_eq!((made.status(NOW), made.subscribed_at, made.connected_at), (ProfileStatus::Connected, Some(NOW), NOW));
    assert_eq!((made.scopes.len(), made.missing_scopes.len()), (1, 1));
    assert_eq!(find(&db, account, made.id).await, Some(made.clone()));
    assert_eq!(db.store.reserve(account, Channel::Instagram, "17").await.unwrap(), made.id);
    let held = db.store.owner(Channel::Instagram, "17").await.unwrap().unwrap();
    assert_eq!((held.account, held.sealed_token.as_deref()), (account, Some(&b"sealed"[..])));
    assert_eq!(held.page_to_subscribe(NOW + Duration::DAY), Some("101"));
    assert_eq!(held.page_to_subscribe(LATER), None);
    let none_of = db.store.take_poll(LATER, Duration::minutes(5), vec![account]).await.unwrap();
    assert_eq!(none_of, None, "the account is polled already");
    assert!(is_due(&db).await);

    assert_eq!(db.store.end(account, made.id, None, LATER).await.unwrap(), Ended::Now);
    let ended = find(&db, account, made.id).await.unwrap();
    assert_eq!((ended.end_reason, ended.ended_at), (Some(EndReason::Manual), Some(LATER)));
    assert_eq!((ended.subscribed_at, db.store.owner(Channel::Instagram, "17").await.unwrap()), (None, None));
    let held = db.store.profile(account, made.id).await.unwrap().unwrap();
    assert_eq!((held.sealed_token, held.subscribe_due_at), (None, None));
    db.sql.execute("UPDATE social_accounts SET poll_due_at = $1 WHERE poll_due_at IS NOT NULL", &[&NOW]).await.unwrap();
    assert!(!is_due(&db).await);
    assert_eq!(db.store.end(account, made.id, None, LATER).await.unwrap(), Ended::Before);

    let again = connect(&db, account, "17").await.unwrap();
    assert_eq!((again.id, again.ended_at, again.end_reason), (made.id, None, None));
    assert!(is_due(&db).await);
    let (connected, ended) = ("integration.connected instagram shop", "integration.disconnected instagram shop manual");
    assert_eq!(told(&db, account).await, [connected, ended, connected]);
    let listed = ProfileConnections::page(&*db.store, account, PageRequest { limit: 1, cursor: None }).await.unwrap();
    assert_eq!((listed.items, listed.next_cursor), (vec![find(&db, account, made.id).await.unwrap()], None));
}

#[tokio::test]
async fn a_profile_is_one_accounts_until_it_ends_there() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let made = connect(&db, mine, "17").await.unwrap();
    assert!(matches!(connect(&db, theirs, "17").await, Err(ProfileError::ConnectedElsewhere)));
    let by_hand = NewSocialAccount {
        account: theirs,
        channel: Channel::Instagram,
        external_id: "17".into(),
        app_scoped_id: None,
        handle: None,
    };
    let taken = ProfileStore::connect(&*db.store, by_hand, NOW).await.unwrap();
    assert_eq!(taken, Connected::Elsewhere);
    assert_eq!(find(&db, theirs, made.id).await, None);
    assert_eq!(db.store.end(theirs, made.id, None, NOW).await.unwrap(), Ended::Unknown);
    assert_eq!(ProfileConnections::page(&*db.store, theirs, PAGE).await.unwrap().items, []);
    assert!(!db.store.shares_page(theirs, made.id).await.unwrap());

    // A token that died leaves it to whoever has one.
    let held = db.store.profile(mine, made.id).await.unwrap().unwrap();
    db.store.token_dead(&held, LATER).await.unwrap();
    let dead = find(&db, mine, made.id).await.unwrap();
    assert_eq!((dead.end_reason, dead.reconnect_needed()), (Some(EndReason::TokenExpired), true));
    db.store.token_dead(&held, LATER).await.unwrap();
    let once = ["integration.connected instagram shop", "integration.disconnected instagram shop token_expired"];
    assert_eq!((told(&db, mine).await, told(&db, theirs).await), (once.map(String::from).to_vec(), vec![]));
    assert!(connect(&db, theirs, "17").await.is_ok());
    assert!(matches!(connect(&db, mine, "17").await, Err(ProfileError::ConnectedElsewhere)));
    assert_eq!(db.store.owner(Channel::Instagram, "17").await.unwrap().unwrap().account, theirs);
    // To end what has ended already takes nothing from the new owner.
    assert_eq!(db.store.end(mine, made.id, None, LATER).await.unwrap(), Ended::Before);
    assert_eq!(db.store.owner(Channel::Instagram, "17").await.unwrap().unwrap().account, theirs);
}

#[tokio::test]
async fn of_accounts_that_connect_it_at_once_one_does() {
    let db = fresh().await;
    let mut connecting = Vec::new();
    for _ in 0..6 {
        let (store, account) = (db.store.clone(), shop::account(&db.sql, "UTC").await);
        connecting.push(tokio::spawn(async move {
            let id = store.reserve(account, Channel::Instagram, "17").await.unwrap();
            ProfileConnections::connect(&*store, account, new(id, "17"), NOW).await.is_ok()
        }));
    }
    let made = futures_util::future::join_all(connecting).await.into_iter().filter(|made| *made.as_ref().unwrap());
    assert_eq!(made.count(), 1);
}

#[tokio::test]
async fn what_was_learnt_of_an_old_token_says_nothing_of_a_new_one() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let made = connect(&db, account, "17").await.unwrap();
    let old = db.store.profile(account, made.id).await.unwrap().unwrap();
    let renewed = NewProfile { sealed_token: b"another".to_vec(), ..new(made.id, "17") };
    ProfileConnections::connect(&*db.store, account, renewed, NOW).await.unwrap();
    db.store.token_dead(&old, LATER).await.unwrap();
    assert_eq!(find(&db, account, made.id).await.unwrap().ended_at, None);
}

#[tokio::test]
async fn a_subscription_is_tried_again_until_it_ends() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let id = db.store.reserve(account, Channel::Instagram, "17").await.unwrap();
    let unsubscribed = NewProfile { is_subscribed: false, ..new(id, "17") };
    let made = ProfileConnections::connect(&*db.store, account, unsubscribed, NOW).await.unwrap();
    assert_eq!(made.subscribed_at, None);
    let held = db.store.profile(account, id).await.unwrap().unwrap();
    assert_eq!(held.page_to_subscribe(NOW + Duration::HOUR), Some("101"));
    db.store.subscribed(&held, false, LATER + Duration::HOUR, LATER).await.unwrap();
    assert_eq!(find(&db, account, id).await.unwrap().subscribed_at, None);
    db.store.subscribed(&held, true, LATER + Duration::DAY, LATER).await.unwrap();
    assert_eq!(find(&db, account, id).await.unwrap().subscribed_at, Some(LATER));
    db.store.end(account, id, None, LATER).await.unwrap();
    db.store.subscribed(&held, true, LATER, LATER).await.unwrap();
    assert_eq!(db.store.profile(account, id).await.unwrap().unwrap().subscribe_due_at, None);
}

#[tokio::test]
async fn a_page_is_shared_by_its_profiles_that_have_not_ended() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let made = connect(&db, account, "17").await.unwrap();
    assert!(!db.store.shares_page(account, made.id).await.unwrap());
    let id = db.store.reserve(account, Channel::Facebook, "101").await.unwrap();
    let page = NewProfile { channel: Channel::Facebook, ..new(id, "101") };
    ProfileConnections::connect(&*db.store, account, page, NOW).await.unwrap();
    assert!(db.store.shares_page(account, made.id).await.unwrap());
    assert!(db.store.shares_page(account, id).await.unwrap());
    db.store.end(account, id, None, NOW).await.unwrap();
    assert!(!db.store.shares_page(account, made.id).await.unwrap());
}

#[tokio::test]
async fn who_connected_and_ended_it_is_noted_and_a_key_tells_it_again() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let user = AccountStore::find(&*db.store, account).await.unwrap().unwrap().user_id;
    let by = Actor::Person { id: PersonId(1), name: "Ana".into() };
    let note = |action| Some(Entry::new(user.clone(), by.clone(), action, None));
    let key = IdempotencyKey { path: "/".into(), key: "k".into(), request_hash: [0; 32] };
    assert_eq!(db.store.claim(account, &key, NOW).await.unwrap(), None);
    let id = db.store.reserve(account, Channel::Instagram, "17").await.unwrap();
    let noted = NewProfile { key: Some(key.clone()), note: note(Action::ProfileConnected), ..new(id, "17") };
    let made = ProfileConnections::connect(&*db.store, account, noted, NOW).await.unwrap();
    let kept = db.store.claim(account, &key, NOW).await.unwrap().unwrap();
    assert_eq!(serde_json::from_value::<SocialProfile>(kept).unwrap(), made);
    db.store.end(account, id, note(Action::ProfileDisconnected), LATER).await.unwrap();
    db.store.end(account, id, note(Action::ProfileDisconnected), LATER).await.unwrap();
    let noted = AuditLog::page(&*db.store, &user, Some(Area::Integrations), PAGE).await.unwrap().items;
    let told: Vec<_> = noted.iter().map(|noted| (noted.action, noted.target.as_deref())).collect();
    assert_eq!(told, [(Action::ProfileDisconnected, Some("shop")), (Action::ProfileConnected, Some("shop"))]);
}
