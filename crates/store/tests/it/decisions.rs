//! Decisions on reorder suggestions.

use domain::{
    AccountId, PersonId, SuggestionId,
    audit::{Action, Actor, Entry},
    reorder::{
        ChangeError, ReorderStore,
        Status::{self, Dismissed, Ordered, Pending},
    },
};

use time::{OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

/// Puts in a suggestion for the inventory item and gives its id.
async fn suggestion(db: &Database, account: AccountId, item: i64, status: Status) -> i64 {
    let text = "INSERT INTO reorder_suggestions (account_id, inventory_item_id, sku, qty_suggested, reason, confidence,
            forecast_days, status, computed_at)
        VALUES ($1, $2, 'p', 5, 'r', 0.9, 21, $3, now()) RETURNING id";
    db.sql.query_one(text, &[&account.0, &item, &status.as_str()]).await.unwrap().get(0)
}

async fn item(db: &Database, account: AccountId) -> i64 {
    let product = shop::product(&db.sql, account, "p", None).await;
    let text = "INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
            units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, computed_at)
        VALUES ($1, $2, 'p', 'p', 1, 0, 0, 0, 0, 'stable', 'low', now()) RETURNING id";
    db.sql.query_one(text, &[&account.0, &product]).await.unwrap().get(0)
}

async fn stored(db: &Database, id: i64) -> String {
    db.sql.query_one("SELECT status FROM reorder_suggestions WHERE id = $1", &[&id]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_decision_is_made_repeated_taken_back_and_not_swapped() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let item = item(&db, account).await;
    let id = suggestion(&db, account, item, Pending).await;
    for to in [Ordered, Ordered] {
        assert_eq!(db.store.change(account, SuggestionId(id), to, None, NOW).await.unwrap().status, Ordered);
    }
    let swapped = db.store.change(account, SuggestionId(id), Dismissed, None, NOW).await;
    assert!(matches!(swapped, Err(ChangeError::Refused(Ordered))), "{swapped:?}");
    assert_eq!(stored(&db, id).await, "ordered");
    for to in [Pending, Dismissed] {
        let changed = db.store.change(account, SuggestionId(id), to, None, NOW).await.unwrap();
        assert_eq!((changed.id, changed.status, stored(&db, id).await.as_str()), (SuggestionId(id), to, to.as_str()));
    }
}

#[tokio::test]
async fn an_item_has_one_pending_suggestion_whatever_is_taken_back() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let item = item(&db, account).await;
    let old = suggestion(&db, account, item, Ordered).await;
    let new = suggestion(&db, account, item, Pending).await;
    let refused = db.store.change(account, SuggestionId(old), Pending, None, NOW).await;
    assert!(matches!(refused, Err(ChangeError::OtherPending)), "{refused:?}");
    assert_eq!(stored(&db, old).await, "ordered");
    db.store.change(account, SuggestionId(new), Dismissed, None, NOW).await.unwrap();
    assert_eq!(db.store.change(account, SuggestionId(old), Pending, None, NOW).await.unwrap().status, Pending);
}

#[tokio::test]
async fn of_two_decisions_at_once_one_holds() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let item = item(&db, account).await;
    let id = suggestion(&db, account, item, Pending).await;
    let (ordered, dismissed) = tokio::join!(
        db.store.change(account, SuggestionId(id), Ordered, None, NOW),
        db.store.change(account, SuggestionId(id), Dismissed, None, NOW)
    );
    let refused =
        [&ordered, &dismissed].into_iter().filter(|done| matches!(done, Err(ChangeError::Refused(_)))).count();
    assert_eq!(refused, 1, "{ordered:?} {dismissed:?}");
    assert_eq!(stored(&db, id).await, ordered.or(dismissed).unwrap().status.as_str());
}

#[tokio::test]
async fn another_accounts_suggestion_is_not_there() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let item = item(&db, mine).await;
    let id = suggestion(&db, mine, item, Pending).await;
    for (account, id) in [(theirs, id), (mine, id + 1)] {
        let refused = db.store.change(account, SuggestionId(id), Ordered, None, NOW).await;
        assert!(matches!(refused, Err(ChangeError::NotFound)), "{refused:?}");
    }
    assert_eq!(stored(&db, id).await, "pending");
}

#[tokio::test]
async fn a_decision_of_a_person_is_noted_with_what_it_was_about() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let item = item(&db, account).await;
    let id = suggestion(&db, account, item, Pending).await;
    let user: String =
        db.sql.query_one("SELECT user_id FROM accounts WHERE id = $1", &[&account.0]).await.unwrap().get(0);
    let by = Actor::Person { id: PersonId(7), name: "Ana".to_owned() };
    let note = Entry::new(user.parse().unwrap(), by, Action::ReorderDecided, None);
    for _ in 0..2 {
        // The second time it changes nothing.
        db.store.change(account, SuggestionId(id), Ordered, Some(note.clone()), NOW).await.unwrap();
    }
    let noted =
        "SELECT count(*), max(actor_name || target || (before->>'status') || (after->>'status')) FROM audit_entries";
    let noted = db.sql.query_one(noted, &[]).await.unwrap();
    assert_eq!((noted.get::<_, i64>(0), noted.get::<_, String>(1)), (1, "Anappendingordered".to_owned()));
}
