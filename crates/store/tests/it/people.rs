//! People, their sessions, and links that open once.

use domain::{
    PersonId, SessionId, UserId,
    accounts::{Account, AccountChange, AccountStore, Mode},
    as_of::AsOfStore,
    audit::{Action, Actor, AuditLog, Entry},
    erasure::Eraser,
    language::Language,
    people::{EmailAddress, NewMember, Person, PersonStore, Role, Theme},
    sessions::{
        Beginning, Device, Ended, IDLE, LONGEST, Link, LinkPurpose, LinkStore, NewSession, SessionStore, Token,
        UNREMEMBERED,
    },
};
use serde_json::json;
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh, refuse},
    keys::user,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

/// A token that is another for each seed.
fn token(seed: u8) -> Token {
    Token::generate(std::iter::repeat(seed))
}

fn member(user: &UserId, role: Role, email: &str) -> NewMember {
    NewMember { user: user.clone(), role, email: email.parse().unwrap(), name: "Ana".to_owned(), language: None }
}

async fn accounts(db: &Database, letter: u8) -> (UserId, Vec<Account>) {
    let accounts = user(&db.store, letter).await;
    (accounts[0].user_id.clone(), accounts)
}

async fn owner(db: &Database, user: &UserId) -> Person {
    db.store.enroll(member(user, Role::Owner, "ana@example.com"), NOW).await.unwrap()
}

fn session(seed: u8, person: PersonId, user: &UserId) -> NewSession {
    let device = Device { user_agent: format!("Browser {seed}"), address: "203.0.113.7".to_owned() };
    NewSession { hash: token(seed).hash(), person, user: user.clone(), mode: Mode::Live, device, remember: true }
}

async fn begin(db: &Database, seed: u8, person: PersonId, user: &UserId, at: OffsetDateTime) -> SessionId {
    db.store.begin(session(seed, person, user), Beginning::default(), at).await.unwrap();
    SessionStore::find(&*db.store, token(seed).hash()).await.unwrap().unwrap().id
}

/// The seeds among these whose tokens still have a session.
async fn found(db: &Database, seeds: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    for seed in seeds {
        if SessionStore::find(&*db.store, token(*seed).hash()).await.unwrap().is_some() {
            found.push(*seed);
        }
    }
    found
}

#[tokio::test]
async fn who_is_enrolled_again_is_the_same_person_with_the_new_role() {
    let db = fresh().await;
    let (mine, _) = accounts(&db, 7).await;
    let first = owner(&db, &mine).await;
    assert_eq!((first.email.as_str(), first.theme, first.created_at), ("ana@example.com", Theme::System, NOW));
    let later = NOW + Duration::days(1);
    let again = NewMember {
        name: "Somebody".to_owned(),
        language: Some(Language::Spanish),
        ..member(&mine, Role::Viewer, "ANA@example.com")
    };
    assert_eq!(db.store.enroll(again, later).await.unwrap(), first, "only the role changes");
    let members = db.store.members(&mine).await.unwrap();
    let listed: Vec<_> = members.iter().map(|member| (member.person.id, member.role, member.since)).collect();
    assert_eq!(listed, [(first.id, Role::Viewer, NOW)]);
}

#[tokio::test]
async fn a_person_belongs_to_several_users_and_a_user_shows_its_own_members_alone() {
    let db = fresh().await;
    let ((mine, _), (theirs, _)) = (accounts(&db, 7).await, accounts(&db, 8).await);
    let ana = owner(&db, &mine).await;
    let same = db.store.enroll(member(&theirs, Role::Viewer, "ana@example.com"), NOW).await.unwrap();
    let luis = db.store.enroll(member(&theirs, Role::Editor, "luis@example.com"), NOW).await.unwrap();
    assert_eq!(same, ana);
    let roles = async |user: &UserId| -> Vec<(PersonId, Role)> {
        db.store.members(user).await.unwrap().into_iter().map(|member| (member.person.id, member.role)).collect()
    };
    assert_eq!(roles(&mine).await, [(ana.id, Role::Owner)]);
    assert_eq!(roles(&theirs).await, [(ana.id, Role::Viewer), (luis.id, Role::Editor)]);
    assert_eq!(PersonStore::find(&*db.store, &luis.email).await.unwrap(), Some(luis));
    let nobody: EmailAddress = "nobody@example.com".parse().unwrap();
    assert_eq!(PersonStore::find(&*db.store, &nobody).await.unwrap(), None);
}

#[tokio::test]
async fn how_a_person_sees_the_pages_is_that_persons_alone() {
    let db = fresh().await;
    let (mine, _) = accounts(&db, 7).await;
    let ana = owner(&db, &mine).await;
    let luis = db.store.enroll(member(&mine, Role::Editor, "luis@example.com"), NOW).await.unwrap();
    db.store.set_view(ana.id, "Ana Ruiz", Some(Language::Spanish), Theme::Dark).await.unwrap();
    let changed = PersonStore::find(&*db.store, &ana.email).await.unwrap().unwrap();
    let expected = Person { name: "Ana Ruiz".to_owned(), language: Some(Language::Spanish), theme: Theme::Dark, ..ana };
    assert_eq!(changed, expected);
    assert_eq!(PersonStore::find(&*db.store, &luis.email).await.unwrap(), Some(luis));
}

#[tokio::test]
async fn a_session_shows_who_it_is_and_the_account_that_is_looked_at() {
    let db = fresh().await;
    let (mine, accounts) = accounts(&db, 7).await;
    let ana = owner(&db, &mine).await;
    let id = begin(&db, 1, ana.id, &mine, NOW).await;
    let found = SessionStore::find(&*db.store, token(1).hash()).await.unwrap().unwrap();
    assert_eq!((found.person, found.role, found.account), (ana.clone(), Role::Owner, accounts[0].clone()));
    assert_eq!((found.created_at, found.seen_at, found.confirmed_at), (NOW, NOW, NOW));
    assert_eq!(found.expires_at, NOW + LONGEST);
    // A copy as of a day has the account's user and mode, and the account is changed after it was made.
    AsOfStore::copy(&*db.store, accounts[0].id, NOW.date(), NOW).await.unwrap().unwrap();
    let renamed = AccountChange { name: Some("Renamed".to_owned()), ..AccountChange::default() };
    let renamed = AccountStore::change(&*db.store, accounts[0].id, renamed, None, NOW).await.unwrap();
    assert_eq!(SessionStore::find(&*db.store, token(1).hash()).await.unwrap().map(|found| found.account), renamed);
    db.store.switch(id, Mode::Test).await.unwrap();
    let switched = SessionStore::find(&*db.store, token(1).hash()).await.unwrap().unwrap();
    assert_eq!((switched.id, switched.account), (id, accounts[1].clone()));
    let unremembered = NewSession { remember: false, ..session(2, ana.id, &mine) };
    db.store.begin(unremembered, Beginning::default(), NOW).await.unwrap();
    let short = SessionStore::find(&*db.store, token(2).hash()).await.unwrap().unwrap();
    assert_eq!(short.expires_at, NOW + UNREMEMBERED);
    assert_eq!(SessionStore::find(&*db.store, token(3).hash()).await.unwrap(), None);
    // The token itself is nowhere.
    let kept = db.sql.query("SELECT hash FROM sessions", &[]).await.unwrap();
    assert!(kept.iter().all(|row| row.get::<_, &[u8]>(0) != token(1).expose().as_bytes()));
}

#[tokio::test]
async fn when_a_session_was_used_is_written_every_five_minutes_at_most() {
    let db = fresh().await;
    let (mine, _) = accounts(&db, 7).await;
    let ana = owner(&db, &mine).await;
    let id = begin(&db, 1, ana.id, &mine, NOW).await;
    let other = begin(&db, 2, ana.id, &mine, NOW).await;
    let seen = async |seed: u8| SessionStore::find(&*db.store, token(seed).hash()).await.unwrap().unwrap().seen_at;
    for (after, kept) in [(299, 0), (300, 300), (599, 300), (600, 600)] {
        db.store.seen(id, NOW + Duration::seconds(after)).await.unwrap();
        assert_eq!(seen(1).await, NOW + Duration::seconds(kept), "after {after} s");
    }
    // A clock that is behind does not turn it back.
    db.store.seen(id, NOW).await.unwrap();
    assert_eq!((seen(1).await, seen(2).await), (NOW + Duration::seconds(600), NOW));
    assert_ne!(id, other);
}

#[tokio::test]
async fn who_is_no_longer_a_member_has_no_session() {
    let db = fresh().await;
    let ((mine, _), (theirs, _)) = (accounts(&db, 7).await, accounts(&db, 8).await);
    let ana = owner(&db, &mine).await;
    db.store.enroll(member(&theirs, Role::Viewer, "ana@example.com"), NOW).await.unwrap();
    begin(&db, 1, ana.id, &mine, NOW).await;
    begin(&db, 2, ana.id, &theirs, NOW).await;
    db.sql.execute("DELETE FROM memberships WHERE user_id = $1", &[&mine.as_str()]).await.unwrap();
    assert_eq!(found(&db, &[1, 2]).await, [2]);
}

#[tokio::test]
async fn a_person_sees_and_ends_the_sessions_of_that_person_alone() {
    let db = fresh().await;
    let (mine, _) = accounts(&db, 7).await;
    let ana = owner(&db, &mine).await.id;
    let luis = db.store.enroll(member(&mine, Role::Editor, "luis@example.com"), NOW).await.unwrap().id;
    let mut ids = Vec::new();
    for seed in 1..=4 {
        ids.push(begin(&db, seed, ana, &mine, NOW + Duration::hours(seed.into())).await);
    }
    let theirs = begin(&db, 9, luis, &mine, NOW).await;
    let listed = async |person, now| -> Vec<String> {
        let sessions = SessionStore::list(&*db.store, person, now).await.unwrap();
        sessions.into_iter().map(|session| session.device.user_agent).collect()
    };
    let now = NOW + Duration::hours(5);
    assert_eq!(listed(ana, now).await, ["Browser 4", "Browser 3", "Browser 2", "Browser 1"]);
    db.store.end(ana, Ended::One(ids[1]), None, NOW).await.unwrap();
    assert_eq!(found(&db, &[1, 2, 3, 4, 9]).await, [1, 3, 4, 9]);
    db.store.end(ana, Ended::One(theirs), None, NOW).await.unwrap();
    assert_eq!(found(&db, &[1, 3, 4, 9]).await, [1, 3, 4, 9], "another person's goes on");
    db.store.end(ana, Ended::AllBut(ids[2]), None, NOW).await.unwrap();
    assert_eq!(found(&db, &[1, 3, 4, 9]).await, [3, 9]);
    db.store.end(ana, Ended::All, None, NOW).await.unwrap();
    assert_eq!(found(&db, &[3, 9]).await, [9]);
}

#[tokio::test]
async fn sessions_that_are_over_are_not_listed() {
    let db = fresh().await;
    let (mine, _) = accounts(&db, 7).await;
    let ana = owner(&db, &mine).await.id;
    begin(&db, 1, ana, &mine, NOW).await;
    let used = begin(&db, 2, ana, &mine, NOW).await;
    let later = NOW + Duration::days(10);
    db.store.seen(used, later).await.unwrap();
    let listed = async |now| -> usize { SessionStore::list(&*db.store, ana, now).await.unwrap().len() };
    assert_eq!(listed(NOW + IDLE - Duration::seconds(1)).await, 2);
    assert_eq!(listed(NOW + IDLE).await, 1, "one was not used for too long");
    db.store.seen(used, NOW + Duration::days(20)).await.unwrap();
    assert_eq!(listed(NOW + LONGEST - Duration::seconds(1)).await, 1);
    assert_eq!(listed(NOW + LONGEST).await, 0);
}

fn link(purpose: LinkPurpose) -> Link {
    Link { purpose, person: None, user: None, details: json!({"email": "ana@example.com"}) }
}

#[tokio::test]
async fn a_link_that_is_looked_at_stays_and_one_that_is_taken_is_gone() {
    let db = fresh().await;
    let (mine, _) = accounts(&db, 7).await;
    let ana = owner(&db, &mine).await.id;
    let made = Link { person: Some(ana), user: Some(mine), ..link(LinkPurpose::Enter) };
    let hash = token(1).hash();
    db.store.make(hash, made.clone(), NOW, NOW + Duration::hours(1)).await.unwrap();
    for _ in 0..2 {
        assert_eq!(db.store.look(hash, LinkPurpose::Enter, NOW).await.unwrap(), Some(made.clone()));
    }
    assert_eq!(db.store.take(hash, LinkPurpose::Enter, NOW).await.unwrap(), Some(made));
    assert_eq!(db.store.take(hash, LinkPurpose::Enter, NOW).await.unwrap(), None);
    assert_eq!(db.store.look(hash, LinkPurpose::Enter, NOW).await.unwrap(), None);
}

#[tokio::test]
async fn a_link_opens_for_its_purpose_and_in_its_time_alone() {
    let db = fresh().await;
    let (hash, ends) = (token(1).hash(), NOW + Duration::hours(1));
    db.store.make(hash, link(LinkPurpose::Invitation), NOW, ends).await.unwrap();
    for (hash, purpose, at) in [
        (hash, LinkPurpose::ResetPassword, NOW),
        (token(2).hash(), LinkPurpose::Invitation, NOW),
        (hash, LinkPurpose::Invitation, ends),
    ] {
        assert_eq!(db.store.look(hash, purpose, at).await.unwrap(), None);
        assert_eq!(db.store.take(hash, purpose, at).await.unwrap(), None);
    }
    let in_time = ends - Duration::seconds(1);
    assert!(db.store.look(hash, LinkPurpose::Invitation, in_time).await.unwrap().is_some());
    assert!(db.store.take(hash, LinkPurpose::Invitation, in_time).await.unwrap().is_some());
}

#[tokio::test]
async fn of_those_who_take_a_link_at_once_one_gets_it() {
    let db = fresh().await;
    let hash = token(1).hash();
    db.store.make(hash, link(LinkPurpose::Enter), NOW, NOW + Duration::hours(1)).await.unwrap();
    // Both are on their way when the row becomes free.
    let holder = db.session().await;
    holder.batch_execute("BEGIN; SELECT FROM links FOR UPDATE").await.unwrap();
    let takers: Vec<_> = (0..2)
        .map(|_| {
            let store = db.store.clone();
            tokio::spawn(async move { store.take(hash, LinkPurpose::Enter, NOW).await.unwrap().is_some() })
        })
        .collect();
    crate::database::until_waiting(&db.sql, 2).await;
    holder.batch_execute("COMMIT").await.unwrap();
    let mut got = Vec::new();
    for taker in takers {
        got.push(taker.await.unwrap());
    }
    got.sort_unstable();
    assert_eq!(got, [false, true]);
}

#[tokio::test]
async fn sessions_and_links_that_are_over_are_removed() {
    let db = fresh().await;
    let (mine, _) = accounts(&db, 7).await;
    let ana = owner(&db, &mine).await.id;
    let retention = store::Retention { track_months: 12, delivery_months: 3 };
    begin(&db, 1, ana, &mine, NOW - LONGEST).await;
    begin(&db, 2, ana, &mine, NOW - LONGEST + Duration::seconds(1)).await;
    begin(&db, 3, ana, &mine, NOW - IDLE).await;
    begin(&db, 4, ana, &mine, NOW - IDLE + Duration::seconds(1)).await;
    let (used, at) = (SessionStore::find(&*db.store, token(2).hash()).await.unwrap().unwrap().id, NOW);
    db.store.seen(used, at - Duration::days(1)).await.unwrap();
    for (seed, ends) in [(5, NOW), (6, NOW + Duration::seconds(1))] {
        let made = Link { person: Some(ana), ..link(LinkPurpose::Enter) };
        db.store.make(token(seed).hash(), made, NOW - Duration::hours(1), ends).await.unwrap();
    }
    db.store.maintain_at(NOW, retention).await.unwrap();
    assert_eq!(found(&db, &[1, 2, 3, 4]).await, [2, 4]);
    let links = db.sql.query("SELECT hash FROM links", &[]).await.unwrap();
    let links: Vec<Vec<u8>> = links.iter().map(|row| row.get(0)).collect();
    assert_eq!(links, [token(6).hash().0.to_vec()]);
    assert_eq!(db.store.members(&mine).await.unwrap().len(), 1, "people stay");
}

#[tokio::test]
async fn a_session_goes_to_where_its_person_is_a_member_and_nowhere_else() {
    let db = fresh().await;
    let ((mine, _), (other, accounts_of_other), (strange, _)) =
        (accounts(&db, 7).await, accounts(&db, 8).await, accounts(&db, 9).await);
    let ana = owner(&db, &mine).await;
    db.store.enroll(member(&other, Role::Viewer, "ana@example.com"), NOW).await.unwrap();
    let shops = db.store.shops(ana.id).await.unwrap();
    let mut listed: Vec<_> = shops.iter().map(|shop| (shop.user.clone(), shop.role)).collect();
    listed.sort_by_key(|(user, _)| *user != mine);
    assert_eq!(listed, [(mine.clone(), Role::Owner), (other.clone(), Role::Viewer)]);

    let id = begin(&db, 1, ana.id, &mine, NOW).await;
    assert!(!db.store.go_to(id, &strange).await.unwrap());
    assert!(db.store.go_to(id, &other).await.unwrap());
    let session = SessionStore::find(&*db.store, token(1).hash()).await.unwrap().unwrap();
    assert_eq!((session.id, session.role), (id, Role::Viewer));
    let live = accounts_of_other.iter().find(|account| account.mode == Mode::Live).unwrap();
    assert_eq!(session.account.id, live.id);
}

#[tokio::test]
async fn who_was_removed_from_a_shop_and_belongs_to_no_other_is_erased_with_it() {
    let db = fresh().await;
    let ((mine, _), (theirs, _)) = (accounts(&db, 7).await, accounts(&db, 8).await);
    let join = async |user: &UserId, role: Role, email: &str| {
        let person = db.store.enroll(member(user, role, email), NOW).await.unwrap();
        let by = Actor::Person { id: person.id, name: person.name };
        db.store.note(Entry::new(user.clone(), by, Action::MemberJoined, None), NOW).await.unwrap();
        person.id
    };
    join(&mine, Role::Owner, "ana@example.com").await;
    join(&theirs, Role::Owner, "bob@example.com").await;
    let luis = join(&mine, Role::Editor, "luis@example.com").await;
    let eva = join(&mine, Role::Editor, "eva@example.com").await;
    join(&theirs, Role::Viewer, "eva@example.com").await;
    let rosa = join(&theirs, Role::Viewer, "rosa@example.com").await;
    for (user, person) in [(&mine, luis), (&mine, eva), (&theirs, rosa)] {
        let note = Entry::new(user.clone(), Actor::Operator, Action::MemberRemoved, None);
        db.store.set_role(user, person, None, note, NOW).await.unwrap();
    }
    store::RowEraser::new(db.connect()).erase(&mine, NOW).await.unwrap();
    let left = "SELECT string_agg(email, ' ' ORDER BY email) FROM people";
    let left: String = db.sql.query_one(left, &[]).await.unwrap().get(0);
    assert_eq!(left, "bob@example.com eva@example.com rosa@example.com");
}

#[tokio::test]
async fn an_erasure_that_is_cut_short_goes_on_where_it_was() {
    if testkit::skip_on_citus("it refuses triggers on distributed tables") {
        return;
    }
    let db = fresh().await;
    let (mine, of_mine) = accounts(&db, 7).await;
    let insert = "INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
        SELECT $1, 1, n, uuid_v7(at), 'delivered', at, at
        FROM generate_series(1, 60000) AS n, LATERAL (SELECT $2::timestamptz + n * interval '1 ms' AS at) AS made";
    db.sql.execute(insert, &[&of_mine[0].id.0, &NOW]).await.unwrap();
    refuse(&db.sql, "DELETE ON deliveries", "OLD.event_id = 60000").await;
    let erase = async || store::RowEraser::new(db.connect()).erase(&mine, NOW).await;
    let left = async || db.sql.query_one("SELECT count(*) FROM deliveries", &[]).await.unwrap().get::<_, i64>(0);
    assert!(erase().await.is_err());
    assert_eq!(left().await, 10_000);
    db.sql.batch_execute("DROP TRIGGER refuse ON deliveries").await.unwrap();
    erase().await.unwrap();
    assert_eq!(left().await, 0);
}
