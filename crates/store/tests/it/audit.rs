//! What people change is noted with the change, and not where it is refused.

use domain::{
    AccountId, PersonId, SuggestionId, UserId,
    accounts::Mode,
    ai::AiRuns,
    alerts::{AlertStore, Change, Comparator, Terms, UncheckedTerms},
    audit::{Action, Actor, Area, AuditLog, Entry, Noted},
    credits::auto_topup::{AutoTopupChange, AutoTopupStore},
    insights::Severity,
    jobs::JobRequests,
    page::PageRequest,
    reorder::{ReorderStore, Status},
    uploads::{Kind, Reading, UploadStore},
    webhooks::{
        NewSubscription, WebhookStore,
        delivery::DeliveryState,
        replay::{ReplayStore, Selection},
        settings::{self, Rotation, WebhookSettings},
    },
};
use rust_decimal::dec;
use serde_json::{Value, json};
use time::{OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

/// An account, and who changes things there.
struct Shop {
    db: Database,
    account: AccountId,
    user: UserId,
}

impl Shop {
    async fn open() -> Self {
        let db = fresh().await;
        let account = shop::account(&db.sql, "UTC").await;
        let row = db.sql.query_one("SELECT user_id FROM accounts WHERE id = $1", &[&account.0]).await.unwrap();
        let user = row.get::<_, String>(0).parse().unwrap();
        Self { db, account, user }
    }

    fn note(&self, action: Action) -> Option<Entry> {
        let by = Actor::Person { id: PersonId(7), name: "Ana".to_owned() };
        let entry = Entry::new(self.user.clone(), by, action, Some("203.0.113.7".to_owned()));
        Some(Entry { mode: Some(Mode::Live), ..entry })
    }

    /// The newest first.
    async fn noted(&self, area: Option<Area>) -> Vec<Noted> {
        let page = PageRequest { limit: 50, cursor: None };
        AuditLog::page(&*self.db.store, &self.user, area, page).await.unwrap().items
    }

    /// What was done to what, the oldest first.
    async fn told(&self, area: Option<Area>) -> Vec<(Action, Option<String>)> {
        self.noted(area).await.into_iter().rev().map(|noted| (noted.action, noted.target)).collect()
    }
}

fn rule(name: &str) -> Terms {
    Terms::new(UncheckedTerms {
        name: name.to_owned(),
        metric: "orders".parse().unwrap(),
        comparator: Comparator::Lt,
        threshold: dec!(5),
        window_hours: 24,
        severity: Severity::High,
        cooldown_hours: 0,
    })
    .unwrap()
}

fn of(value: Option<&Value>) -> Value {
    value.cloned().unwrap_or(Value::Null)
}

#[tokio::test]
async fn of_a_rule_that_changes_is_noted_what_differs() {
    let shop = Shop::open().await;
    let (store, account) = (&*shop.db.store, shop.account);
    let made =
        AlertStore::create(store, account, rule("Few"), true, None, shop.note(Action::AlertMade), NOW).await.unwrap();
    let id = made.value.id;
    let change = Change { threshold: Some(dec!(2.50)), ..Change::default() };
    for _ in 0..2 {
        // The second time it changes nothing.
        AlertStore::change(store, account, id, change.clone(), shop.note(Action::AlertChanged), NOW).await.unwrap();
    }
    // A program's changes are not a person's.
    AlertStore::change(store, account, id, Change { active: Some(false), ..Change::default() }, None, NOW)
        .await
        .unwrap();
    let other = shop::account(&shop.db.sql, "UTC").await;
    assert!(!AlertStore::delete(store, other, id, shop.note(Action::AlertDeleted), NOW).await.unwrap());
    assert!(AlertStore::delete(store, account, id, shop.note(Action::AlertDeleted), NOW).await.unwrap());
    assert!(!AlertStore::delete(store, account, id, shop.note(Action::AlertDeleted), NOW).await.unwrap());

    let few = || Some("Few".to_owned());
    let expected = [(Action::AlertMade, few()), (Action::AlertChanged, few()), (Action::AlertDeleted, few())];
    assert_eq!(shop.told(Some(Area::Alerts)).await, expected);
    let noted = shop.noted(None).await;
    let changed = &noted[1];
    let states = (of(changed.before.as_ref()), of(changed.after.as_ref()));
    assert_eq!(states, (json!({ "threshold": "5" }), json!({ "threshold": "2.5" })));
    assert_eq!((changed.mode, changed.address.as_deref(), changed.at), (Some(Mode::Live), Some("203.0.113.7"), NOW));
    assert_eq!(of(noted[2].after.as_ref())["metric"], "orders");
    assert_eq!(shop.noted(Some(Area::Webhooks)).await, []);
}

#[tokio::test]
async fn all_that_is_done_to_a_webhook_is_noted_and_never_its_secret() {
    let shop = Shop::open().await;
    let (store, account) = (&*shop.db.store, shop.account);
    let id = store.reserve_id().await.unwrap();
    let new = NewSubscription {
        id,
        url: "https://example.com/hook".to_owned(),
        events: vec!["*".to_owned()],
        sealed_secret: b"sealed".to_vec(),
        note: shop.note(Action::WebhookMade),
        now: NOW,
    };
    WebhookStore::create(store, account, new, None).await.unwrap();
    let off = settings::Change { active: Some(false), ..settings::Change::default() };
    WebhookSettings::change(store, account, id, off, shop.note(Action::WebhookChanged), NOW).await.unwrap();
    let rotation = Rotation {
        sealed_secret: b"next".to_vec(),
        overlap_until: NOW,
        note: shop.note(Action::WebhookSecretRotated),
        now: NOW,
    };
    store.rotate(account, id, rotation, None).await.unwrap().unwrap();
    let selection = Selection { subscription: id, since: NOW, until: NOW, states: vec![DeliveryState::Failed] };
    let note = shop.note(Action::DeliveriesReplayed);
    ReplayStore::start(store, account, selection, None, note, NOW).await.unwrap();
    for _ in 0..2 {
        WebhookStore::revoke(store, account, id, shop.note(Action::WebhookDeleted), NOW).await.unwrap();
    }

    let url = || Some("https://example.com/hook".to_owned());
    let expected = [
        (Action::WebhookMade, url()),
        (Action::WebhookChanged, url()),
        (Action::WebhookSecretRotated, url()),
        (Action::DeliveriesReplayed, None),
        (Action::WebhookDeleted, url()),
    ];
    assert_eq!(shop.told(Some(Area::Webhooks)).await, expected);
    let noted = shop.noted(None).await;
    let changed = (of(noted[3].before.as_ref()), of(noted[3].after.as_ref()));
    assert_eq!(changed, (json!({ "active": true }), json!({ "active": false })));
    let replayed = json!({
        "since": "2026-03-02T03:00:00Z", "until": "2026-03-02T03:00:00Z", "states": ["failed"], "deliveries": 0,
    });
    assert_eq!(of(noted[1].after.as_ref()), replayed);
    assert!(!format!("{noted:?}").contains("sealed"));
}

#[tokio::test]
async fn files_jobs_top_ups_and_decisions_are_noted() {
    let shop = Shop::open().await;
    let (store, account) = (&*shop.db.store, shop.account);
    let [imported, gone] = ["a.csv", "b.csv"];
    for (name, is_imported) in [(imported, true), (gone, false)] {
        let id = store.begin(account, Kind::Orders, name, NOW).await.unwrap().unwrap();
        store.arrived(account, id, 1, false).await.unwrap();
        if is_imported {
            let note = || shop.note(Action::ImportStarted);
            assert!(store.queue(account, id, &Reading::default(), note(), NOW).await.unwrap());
            assert!(!store.queue(account, id, &Reading::default(), note(), NOW).await.unwrap());
        } else {
            let note = || shop.note(Action::UploadDiscarded);
            assert!(store.discard(account, id, note(), NOW).await.unwrap());
            assert!(!store.discard(account, id, note(), NOW).await.unwrap());
        }
    }
    JobRequests::request(store, account, shop.note(Action::JobsRequested), NOW).await.unwrap();
    let expected = [
        (Action::ImportStarted, Some("a.csv".to_owned())),
        (Action::UploadDiscarded, Some("b.csv".to_owned())),
        (Action::JobsRequested, None),
    ];
    assert_eq!(shop.told(Some(Area::Data)).await, expected);

    shop.db
        .sql
        .execute("INSERT INTO credit_balances (account_id, balance, updated_at) VALUES ($1, 500, now())", &[&account.0])
        .await
        .unwrap();
    // The second joins the first.
    for _ in 0..2 {
        let note = shop.note(Action::InsightsRequested);
        AiRuns::request(store, account, None, None, note, NOW).await.unwrap();
    }
    assert_eq!(shop.told(Some(Area::Data)).await[expected.len()..], [(Action::InsightsRequested, None)]);
    let settings = AutoTopupChange { enabled: true, threshold: Some(100), top_up_amount: Some(500), monthly_cap: None };
    AutoTopupStore::change(store, account, settings, shop.note(Action::AutoTopupChanged), NOW).await.unwrap();
    let noted = shop.noted(Some(Area::Credits)).await;
    assert_eq!(
        (of(noted[0].before.as_ref())["enabled"].clone(), of(noted[0].after.as_ref())["enabled"].clone()),
        (json!(false), json!(true))
    );

    let unknown =
        ReorderStore::change(store, account, SuggestionId(9), Status::Ordered, shop.note(Action::ReorderDecided), NOW)
            .await;
    assert!(unknown.is_err());
    assert_eq!(shop.noted(Some(Area::Decisions)).await, []);
}

#[tokio::test]
async fn what_a_newer_version_noted_keeps_nothing_from_being_listed() {
    let shop = Shop::open().await;
    let newer =
        "INSERT INTO audit_entries (account_id, at, actor_kind, action) VALUES ($1, $2, 'nobody', 'of_tomorrow')";
    for action in [Action::LoggedIn, Action::LoggedOut, Action::PasswordChanged] {
        shop.db.store.note(shop.note(action).unwrap(), NOW).await.unwrap();
        shop.db.sql.execute(newer, &[&shop.account.0, &NOW]).await.unwrap();
    }
    let (mut listed, mut cursor) = (Vec::new(), None);
    for _ in 0..3 {
        let page = PageRequest { limit: 1, cursor };
        let page = AuditLog::page(&*shop.db.store, &shop.user, None, page).await.unwrap();
        listed.extend(page.items.iter().map(|noted| noted.action));
        cursor = page.next_cursor;
    }
    assert_eq!(listed, [Action::PasswordChanged, Action::LoggedOut, Action::LoggedIn]);
    assert_eq!(cursor, None);
}
