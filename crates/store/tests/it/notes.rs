//! Notes on days.

use domain::{
    AccountId, NoteId, PersonId, UserId,
    audit::{Action, Actor, Entry},
    notes::{MOST_A_DAY, NewNote, NoteStore, WriteError},
    profit::DayRange,
};
use futures_util::future::join_all;
use time::{
    Date, OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);
const DAY: Date = date!(2026 - 03 - 01);

fn note(day: Date, text: &str) -> NewNote {
    NewNote { day, text: text.to_owned(), person: PersonId(7), by: "Ana".to_owned() }
}

async fn entry(db: &Database, account: AccountId, action: Action) -> Entry {
    let row = db.sql.query_one("SELECT user_id FROM accounts WHERE id = $1", &[&account.0]).await.unwrap();
    let user: UserId = row.get::<_, String>(0).parse().unwrap();
    Entry::new(user, Actor::Person { id: PersonId(7), name: "Ana".to_owned() }, action, None)
}

async fn texts(db: &Database, account: AccountId, first: Date, last: Date) -> Vec<String> {
    let notes = db.store.of_days(account, DayRange { first, last }).await.unwrap();
    notes.into_iter().map(|note| note.text).collect()
}

#[tokio::test]
async fn a_note_is_of_its_account_and_day_and_both_ends_of_it_are_in_the_audit_log() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let written = entry(&db, mine, Action::NoteWritten).await;
    for (day, text) in [(DAY, "Ads off"), (DAY.next_day().unwrap(), "Strike"), (DAY, "Rain")] {
        db.store.write(mine, note(day, text), written.clone(), NOW).await.unwrap();
    }
    assert_eq!(texts(&db, mine, DAY, DAY.next_day().unwrap()).await, ["Ads off", "Rain", "Strike"]);
    assert_eq!(texts(&db, mine, DAY, DAY).await, ["Ads off", "Rain"]);
    assert_eq!(texts(&db, theirs, DAY, DAY).await, Vec::<String>::new());

    let id = db.store.of_days(mine, DayRange { first: DAY, last: DAY }).await.unwrap()[0].id;
    let removed = entry(&db, mine, Action::NoteRemoved).await;
    assert_eq!(db.store.remove(theirs, id, removed.clone(), NOW).await.unwrap(), None);
    assert_eq!(db.store.remove(mine, NoteId(id.0 + 100), removed.clone(), NOW).await.unwrap(), None);
    assert_eq!(db.store.remove(mine, id, removed.clone(), NOW).await.unwrap(), Some(DAY));
    assert_eq!(db.store.remove(mine, id, removed, NOW).await.unwrap(), None);
    let noted = "SELECT string_agg(action || ' ' || target || ' ' || coalesce(before, after)::text, '; ' ORDER BY id)
        FROM audit_entries WHERE account_id = $1";
    let noted: String = db.sql.query_one(noted, &[&mine.0]).await.unwrap().get(0);
    let parts: Vec<_> = noted.split("; ").collect();
    assert_eq!(parts.len(), 4, "{noted}");
    assert_eq!(
        (parts[0], parts[3]),
        (r#"note_written 2026-03-01 {"text": "Ads off"}"#, r#"note_removed 2026-03-01 {"text": "Ads off"}"#)
    );
}

#[tokio::test]
async fn the_limit_of_notes_holds_for_requests_at_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let entry = entry(&db, account, Action::NoteWritten).await;
    let written =
        join_all((0..MOST_A_DAY + 3).map(|_| db.store.write(account, note(DAY, "a"), entry.clone(), NOW))).await;
    let refused = written.iter().filter(|written| matches!(written, Err(WriteError::TooMany))).count();
    assert_eq!(refused, 3, "{written:?}");
    assert!(db.store.write(account, note(DAY.next_day().unwrap(), "a"), entry, NOW).await.is_ok());
}
