//! What logging in rests on: counters, mails, second factors, and owners who do not all leave.

use domain::{
    PersonId, SessionId, UserId,
    audit::{Action, Actor, AuditLog, Entry},
    language::Language,
    log_in::{Challenge, CredentialStore, RecoveryCodes, SecondFactorStore, TurnedOn},
    mail::{LEASE, Mail, MailQueue, Outgoing},
    page::PageRequest,
    people::{MemberError, NewMember, PersonStore, Role},
    sessions::{Token, TokenHash},
    throttle::{Counted, Counter, LONGEST_WAIT, Tally, ThrottleStore, Verdict},
};
use futures_util::future::join_all;
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    keys::user,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

fn hash(seed: u8) -> TokenHash {
    Token::generate(std::iter::repeat(seed)).hash()
}

async fn member(db: &Database, user: &UserId, email: &str) -> PersonId {
    let member = NewMember {
        user: user.clone(),
        role: Role::Owner,
        email: email.parse().unwrap(),
        name: "Ana".to_owned(),
        language: None,
    };
    db.store.enroll(member, NOW).await.unwrap().id
}

fn note(user: &UserId, action: Action) -> Entry {
    Entry::new(user.clone(), Actor::Operator, action, Some("203.0.113.7".to_owned()))
}

#[tokio::test]
async fn of_ten_thousand_guesses_few_are_looked_at() {
    let db = fresh().await;
    let counters = [Counter::new(Counted::Login, "ana@example.com"), Counter::new(Counted::LoginFrom, "203.0.113.7")];
    let mut looked_at = 0;
    for second in 0..10_000 {
        let now = NOW + Duration::seconds(second);
        looked_at += i32::from(db.store.count(&counters, now).await.unwrap().verdict == Verdict::Go);
    }
    // 5 at once, 9 while the waits double, then one every 300 seconds.
    assert_eq!(looked_at, 5 + 9 + (10_000 - 515) / 300);
    db.store.clear(&counters[..1]).await.unwrap();
    let alone = db.store.count(&counters[..1], NOW + Duration::seconds(10_000)).await.unwrap();
    assert_eq!((alone.verdict, alone.tries), (Verdict::Go, 1));
    // That of the network goes on, until nobody has tried for an hour.
    let of_network = async |now| db.store.count(&counters[1..], now).await.unwrap();
    assert!(of_network(NOW + Duration::seconds(10_000)).await.verdict > Verdict::Go);
    assert_eq!(of_network(NOW + Duration::hours(5)).await.tries, 1);
}

/// Many people of one office log in in the morning.
#[tokio::test]
async fn right_passwords_do_not_count_against_their_network() {
    let db = fresh().await;
    let office = Counter::new(Counted::LoginFrom, "203.0.113.7");
    let guess = async || db.store.count(&[office], NOW).await.unwrap();
    for _ in 0..4 {
        assert_eq!(guess().await.verdict, Verdict::Go);
    }
    for _ in 0..20 {
        assert_eq!(guess().await, Tally { verdict: Verdict::Go, tries: 5 });
        db.store.give_back(&office).await.unwrap();
    }
    guess().await;
    assert!(guess().await.verdict > Verdict::Go, "they do not take wrong ones back");
    let nobody = Counter::new(Counted::LoginFrom, "203.0.113.8");
    db.store.give_back(&nobody).await.unwrap();
    assert_eq!(db.store.count(&[nobody], NOW).await.unwrap().tries, 1);
}

#[tokio::test]
async fn guesses_that_come_at_once_see_each_other() {
    let db = fresh().await;
    let counters = [Counter::new(Counted::Login, "ana@example.com"), Counter::new(Counted::LoginFrom, "::1")];
    let tallies = join_all((0..50).map(|_| db.store.count(&counters, NOW))).await;
    let looked_at = tallies.into_iter().filter(|tally| tally.as_ref().unwrap().verdict == Verdict::Go).count();
    assert_eq!(looked_at, 5, "the sixth waits");
    let later = NOW + LONGEST_WAIT;
    assert_eq!(db.store.count(&counters, later).await.unwrap().tries, 6);
}

#[tokio::test]
async fn a_mail_is_sent_by_one_and_again_where_that_one_died() {
    let db = fresh().await;
    let put = async |email: &str| {
        let to = email.parse().unwrap();
        let mail = Outgoing { to, language: Language::Spanish, mail: Mail::ResetPassword };
        db.store.put(mail, None, NOW).await.unwrap();
    };
    for email in ["ana@example.com", "eva@example.com", "rosa@example.com"] {
        put(email).await;
    }
    let leased = join_all((0..3).map(|_| db.store.lease(2, NOW))).await;
    let mut ids: Vec<_> = leased.into_iter().flat_map(|mails| mails.unwrap()).map(|mail| mail.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3, "each by one");
    assert_eq!(db.store.lease(9, NOW + LEASE - Duration::SECOND).await.unwrap(), []);
    db.store.done(ids[0]).await.unwrap();
    db.store.put_off(ids[1], NOW + Duration::hours(1)).await.unwrap();
    let again = db.store.lease(9, NOW + LEASE).await.unwrap();
    assert!(matches!(&again[..], [mail] if mail.id == ids[2] && mail.attempts == 2), "{again:?}");
    let last = db.store.lease(9, NOW + Duration::hours(1)).await.unwrap();
    assert_eq!(last.len(), 2);
    assert!(last.iter().all(|mail| mail.outgoing.language == Language::Spanish));
}

#[tokio::test]
async fn a_step_and_a_recovery_code_are_taken_once() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let ana = member(&db, &of, "ana@example.com").await;
    db.store.propose(ana, b"first".to_vec(), NOW).await.unwrap();
    db.store.propose(ana, b"second".to_vec(), NOW).await.unwrap();
    let codes = RecoveryCodes { salt: b"salt".to_vec(), hashes: vec![b"one".to_vec(), b"two".to_vec()] };
    let on = TurnedOn { person: ana, keep: SessionId(0), step: 100, codes };
    db.store.turn_on(on, note(&of, Action::SecondFactorAdded), None, NOW).await.unwrap();
    db.store.propose(ana, b"third".to_vec(), NOW).await.unwrap();
    let factor = db.store.second_factor(ana).await.unwrap().unwrap();
    assert_eq!((factor.sealed_secret.as_slice(), factor.last_step, factor.is_on), (b"second".as_slice(), 100, true));
    assert!(db.store.of_person(ana).await.unwrap().unwrap().has_second_factor);
    assert!(!db.store.take_step(ana, 100).await.unwrap() && !db.store.take_step(ana, 99).await.unwrap());
    let taken = join_all((0..4).map(|_| db.store.take_step(ana, 101))).await;
    assert_eq!(taken.into_iter().filter(|taken| *taken.as_ref().unwrap()).count(), 1);
    let used = join_all((0..4).map(|_| db.store.take_recovery_code(ana, b"one", None, None, NOW))).await;
    assert_eq!(used.into_iter().filter(|used| *used.as_ref().unwrap()).count(), 1);
    assert_eq!(db.store.recovery_codes(ana).await.unwrap().unwrap().hashes, [b"two".to_vec()]);

    let challenge = Challenge { person: ana, remember: true };
    db.store.challenge(hash(1), challenge.clone(), NOW).await.unwrap();
    let tried = join_all((0..9).map(|_| db.store.try_challenge(hash(1), NOW))).await;
    assert_eq!(tried.into_iter().filter(|tried| tried.as_ref().unwrap().is_some()).count(), 5);
    db.store.challenge(hash(2), challenge.clone(), NOW).await.unwrap();
    assert_eq!(db.store.try_challenge(hash(2), NOW).await.unwrap(), Some(challenge));
    assert_eq!(db.store.try_challenge(hash(2), NOW + Duration::minutes(10)).await.unwrap(), None);
}

#[tokio::test]
async fn of_owners_who_leave_at_once_one_stays() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let [ana, eva] = [member(&db, &of, "ana@example.com").await, member(&db, &of, "eva@example.com").await];
    let leave = |person| db.store.set_role(&of, person, None, note(&of, Action::MemberRemoved), NOW);
    let left = join_all([leave(ana), leave(eva)]).await;
    assert_eq!(left.iter().filter(|left| left.is_ok()).count(), 1);
    assert!(left.iter().any(|left| matches!(left, Err(MemberError::LastOwner))));
    assert_eq!(db.store.members(&of).await.unwrap().len(), 1);
    // What was refused is not noted, and what is noted is the user's alone.
    let page = PageRequest { limit: 10, cursor: None };
    let noted = AuditLog::page(&*db.store, &of, None, page).await.unwrap().items;
    assert!(
        matches!(&noted[..], [one] if one.action == Action::MemberRemoved && one.by == Actor::Operator),
        "{noted:?}"
    );
    let other = user(&db.store, b'b').await[0].user_id.clone();
    assert_eq!(AuditLog::page(&*db.store, &other, None, page).await.unwrap().items, []);
}
