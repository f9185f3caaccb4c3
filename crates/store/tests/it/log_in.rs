//! What logging in rests on: counters, mails, second factors, and owners who do not all leave.

use domain::{
    MailId, PersonId, SessionId, UserId,
    accounts::Mode,
    audit::{Action, Actor, AuditLog, Entry},
    language::Language,
    log_in::{Challenge, Chosen, CredentialStore, MailLinkStore, RecoveryCodes, SecondFactorStore, TurnedOn},
    mail::{LEASE, Mail, MailQueue, Notice, Outgoing},
    page::PageRequest,
    people::{MemberError, NewMember, PersonStore, Role},
    sessions::{Beginning, Device, Link, LinkPurpose, LinkStore, NewSession, Proven, SessionStore, Token, TokenHash},
    throttle::{Counted, Counter, LONGEST_WAIT, Tally, ThrottleStore, Verdict},
};
use futures_util::future::join_all;
use serde_json::json;
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh, until_waiting},
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
async fn a_mail_that_nobody_sent_for_days_is_removed() {
    let db = fresh().await;
    for (to, since) in [("old@example.com", Duration::days(3)), ("new@example.com", Duration::hours(71))] {
        let mail = Mail::Notice { what: Notice::NewDevice };
        let mail = Outgoing { to: to.parse().unwrap(), language: Language::English, mail };
        db.store.put(mail, None, NOW - since).await.unwrap();
    }
    db.store.maintain_at(NOW, store::Retention { track_months: 12, delivery_months: 3 }).await.unwrap();
    let left = db.store.lease(9, NOW).await.unwrap();
    assert!(matches!(&left[..], [mail] if mail.outgoing.to.as_str() == "new@example.com"), "{left:?}");
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
    let proven = db.store.of_person(ana).await.unwrap().unwrap().proven();
    assert!(db.store.challenge(hash(1), challenge.clone(), proven.clone(), NOW).await.unwrap());
    let tried = join_all((0..9).map(|_| db.store.try_challenge(hash(1), NOW))).await;
    assert_eq!(tried.into_iter().filter(|tried| tried.as_ref().unwrap().is_some()).count(), 5);
    assert!(db.store.challenge(hash(2), challenge.clone(), proven, NOW).await.unwrap());
    assert_eq!(db.store.try_challenge(hash(2), NOW).await.unwrap(), Some(challenge));
    assert_eq!(db.store.try_challenge(hash(2), NOW + Duration::minutes(10)).await.unwrap(), None);
}

async fn set_password(db: &Database, user: &UserId, person: PersonId, password: &str) {
    let note = note(user, Action::PasswordChanged);
    db.store.set_password(person, password, SessionId(0), note, None, NOW).await.unwrap();
}

async fn turn_on(db: &Database, user: &UserId, person: PersonId) {
    db.store.propose(person, b"secret".to_vec(), NOW).await.unwrap();
    let codes = RecoveryCodes { salt: b"salt".to_vec(), hashes: vec![b"one".to_vec()] };
    let on = TurnedOn { person, keep: SessionId(0), step: 100, codes };
    db.store.turn_on(on, note(user, Action::SecondFactorAdded), None, NOW).await.unwrap();
}

async fn proven(db: &Database, person: PersonId) -> Proven {
    db.store.of_person(person).await.unwrap().unwrap().proven()
}

async fn begin(db: &Database, seed: u8, (user, person): (&UserId, PersonId), proven: &Proven) -> bool {
    let (user, device) = (user.clone(), Device::default());
    let session = NewSession { hash: hash(seed), person, user, mode: Mode::Live, device, remember: true };
    let with = Beginning { proven: proven.clone(), ..Beginning::default() };
    db.store.begin(session, with, NOW).await.unwrap()
}

#[tokio::test]
async fn a_log_in_that_was_proven_by_what_has_changed_does_not_go_on() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let ana = member(&db, &of, "ana@example.com").await;
    let challenge = async |seed: u8, proven: &Proven| {
        let challenge = Challenge { person: ana, remember: true };
        db.store.challenge(hash(seed), challenge, proven.clone(), NOW).await.unwrap()
    };
    set_password(&db, &of, ana, "old").await;
    let old = proven(&db, ana).await;
    assert!(begin(&db, 1, (&of, ana), &old).await && challenge(2, &old).await);
    set_password(&db, &of, ana, "new").await;
    assert!(!begin(&db, 3, (&of, ana), &old).await && !challenge(4, &old).await);
    assert_eq!(db.store.try_challenge(hash(2), NOW).await.unwrap(), None, "who showed the old one shows the new one");
    assert!(!db.store.end_challenge(hash(2)).await.unwrap());
    assert_eq!(SessionStore::list(&*db.store, ana, NOW).await.unwrap(), []);

    let without = proven(&db, ana).await;
    assert!(begin(&db, 5, (&of, ana), &without).await);
    turn_on(&db, &of, ana).await;
    assert!(!begin(&db, 6, (&of, ana), &without).await, "a second factor is to be shown");
    let both = proven(&db, ana).await;
    assert!(begin(&db, 7, (&of, ana), &both).await && challenge(8, &both).await);
    assert!(db.store.end_challenge(hash(8)).await.unwrap());
    db.store.set_disabled(ana, true, NOW).await.unwrap();
    assert!(!begin(&db, 9, (&of, ana), &both).await);
}

#[tokio::test]
async fn a_log_in_waits_for_the_password_that_is_being_changed() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let ana = member(&db, &of, "ana@example.com").await;
    set_password(&db, &of, ana, "old").await;
    let old = proven(&db, ana).await;
    let holder = db.session().await;
    holder.batch_execute("BEGIN; UPDATE people SET password = 'new'").await.unwrap();
    let change = async {
        until_waiting(&db.sql, 1).await;
        holder.batch_execute("COMMIT").await.unwrap();
    };
    let (has_begun, ()) = tokio::join!(begin(&db, 1, (&of, ana), &old), change);
    assert!(!has_begun);
}

/// Two links and three mails that wait for one, as somebody asked for them.
async fn ask_for_links(db: &Database, person: PersonId, email: &str, seed: u8) {
    for (seed, purpose) in [(seed, LinkPurpose::NewAddress), (seed + 1, LinkPurpose::ResetPassword)] {
        let link = Link { purpose, person: Some(person), user: None, details: json!({ "email": email }) };
        db.store.make(hash(seed), link, NOW, NOW + Duration::hours(1)).await.unwrap();
    }
    let new = Mail::NewAddress { person };
    for (to, mail) in [("new@example.com", new), (email, Mail::ResetPassword), (email, Mail::SignUp)] {
        let mail = Outgoing { to: to.parse().unwrap(), language: Language::English, mail };
        db.store.put(mail, None, NOW).await.unwrap();
    }
}

/// Links, and mails that wait for one.
async fn left(db: &Database) -> (i64, i64) {
    let left = "SELECT (SELECT count(*) FROM links), (SELECT count(*) FROM mails WHERE facts->>'kind' <> 'notice')";
    let row = db.sql.query_one(left, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test]
async fn what_a_person_is_known_by_ends_links_and_mails_that_wait_for_one() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let [ana, eva] = [member(&db, &of, "ana@example.com").await, member(&db, &of, "eva@example.com").await];
    let from = || "203.0.113.7".to_owned();
    ask_for_links(&db, eva, "eva@example.com", 100).await;
    let of_eva = left(&db).await;
    assert_eq!(of_eva, (2, 3));
    let ask = || ask_for_links(&db, ana, "ana@example.com", 1);

    ask().await;
    assert_eq!(left(&db).await, (4, 6));
    set_password(&db, &of, ana, "second").await;
    assert_eq!(left(&db).await, of_eva);
    ask().await;
    turn_on(&db, &of, ana).await;
    assert_eq!(left(&db).await, of_eva);
    ask().await;
    let note = note(&of, Action::SecondFactorRemoved);
    db.store.turn_off(ana, SessionId(0), note, None, NOW).await.unwrap();
    assert_eq!(left(&db).await, of_eva);
    ask().await;
    db.store.reset_password(hash(2), "third", from(), NOW).await.unwrap();
    assert_eq!(left(&db).await, of_eva);
    ask().await;
    db.store.change_address(hash(1), from(), NOW).await.unwrap();
    assert_eq!(left(&db).await, of_eva);
    ask().await;
    db.store.set_disabled(ana, true, NOW).await.unwrap();
    assert_eq!(left(&db).await, of_eva);
}

async fn invite(db: &Database, user: &UserId, to: &str, role: Role) {
    let mail = Mail::Invitation { user: user.clone(), role, by: "Ana".into(), shop: "Casa".into() };
    let mail = Outgoing { to: to.parse().unwrap(), language: Language::Spanish, mail };
    db.store.put(mail, None, NOW).await.unwrap();
}

/// The link of an invitation, as it is made when its mail is sent.
async fn link_to_join(db: &Database, seed: u8, user: &UserId, to: &str, role: Role) {
    let mail = "SELECT id FROM mails WHERE recipient = $1 AND facts->>'user' = $2";
    let mail = db.sql.query_one(mail, &[&to, &user.as_str()]).await.unwrap();
    assert!(make_for(db, MailId(mail.get(0)), seed, user, to, role).await);
}

fn invitation(user: &UserId, to: &str, role: Role) -> Link {
    let details = json!({ "email": to, "role": role });
    Link { purpose: LinkPurpose::Invitation, person: None, user: Some(user.clone()), details }
}

async fn make_for(db: &Database, mail: MailId, seed: u8, user: &UserId, to: &str, role: Role) -> bool {
    let link = invitation(user, to, role);
    db.store.make_for(mail, hash(seed), link, NOW, NOW + Duration::hours(1)).await.unwrap()
}

/// Those of the seeds whose links invite.
async fn open(db: &Database, seeds: &[u8]) -> Vec<u8> {
    let mut open = Vec::new();
    for seed in seeds {
        if db.store.look(hash(*seed), LinkPurpose::Invitation, NOW).await.unwrap().is_some() {
            open.push(*seed);
        }
    }
    open
}

/// Invitations that wait, each as the address and the role.
async fn waiting(db: &Database) -> Vec<String> {
    let waiting = "SELECT recipient || ' ' || (facts->>'role') FROM mails ORDER BY 1";
    db.sql.query(waiting, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn of_invitations_to_a_shop_the_newest_counts_until_it_is_withdrawn() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let other = user(&db.store, b'b').await[0].user_id.clone();
    let (luis, eva) = ("luis@example.com", "eva@example.com");
    let luis_address = luis.parse().unwrap();
    for (user, to, role) in
        [(&of, luis, Role::Owner), (&of, luis, Role::Viewer), (&of, eva, Role::Viewer), (&other, luis, Role::Editor)]
    {
        invite(&db, user, to, role).await;
    }
    assert_eq!(waiting(&db).await, ["eva@example.com viewer", "luis@example.com editor", "luis@example.com viewer"]);

    // A mail that is sent a second time has another link.
    link_to_join(&db, 1, &of, luis, Role::Owner).await;
    link_to_join(&db, 2, &of, luis, Role::Viewer).await;
    link_to_join(&db, 3, &of, eva, Role::Viewer).await;
    link_to_join(&db, 4, &other, luis, Role::Editor).await;
    let open = || open(&db, &[1, 2, 3, 4]);
    assert_eq!(open().await, [2, 3, 4]);

    let withdraw = || db.store.withdraw(&of, &luis_address, note(&of, Action::InvitationWithdrawn), NOW);
    assert!(withdraw().await.unwrap());
    assert_eq!(open().await, [3, 4]);
    assert_eq!(waiting(&db).await, ["eva@example.com viewer", "luis@example.com editor"]);
    assert!(!withdraw().await.unwrap(), "there is none any more");
    let page = PageRequest { limit: 10, cursor: None };
    let noted = AuditLog::page(&*db.store, &of, None, page).await.unwrap().items;
    assert!(matches!(&noted[..], [one] if one.action == Action::InvitationWithdrawn), "{noted:?}");

    // The one that was sent leads nowhere as soon as another is asked for.
    invite(&db, &of, eva, Role::Editor).await;
    assert_eq!(open().await, [4]);
    assert_eq!(waiting(&db).await, ["eva@example.com editor", "luis@example.com editor"]);
}

/// A worker has taken the mail when its invitation ends: the role that is smaller stays.
#[tokio::test]
async fn an_invitation_that_was_ended_does_not_come_back_with_its_mail() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let eva = "eva@example.com";
    let address = eva.parse().unwrap();
    let taken = async || db.store.lease(1, NOW).await.unwrap()[0].id;

    invite(&db, &of, eva, Role::Owner).await;
    let first = taken().await;
    invite(&db, &of, eva, Role::Viewer).await;
    link_to_join(&db, 1, &of, eva, Role::Viewer).await;
    assert!(!make_for(&db, first, 2, &of, eva, Role::Owner).await, "another was asked for");
    assert_eq!(open(&db, &[1, 2]).await, [1]);

    let second = taken().await;
    assert!(db.store.withdraw(&of, &address, note(&of, Action::InvitationWithdrawn), NOW).await.unwrap());
    assert!(!make_for(&db, second, 3, &of, eva, Role::Viewer).await, "it was withdrawn");
    assert!(open(&db, &[1, 2, 3]).await.is_empty());

    // An operator prints a link while the mail waits for a server.
    invite(&db, &of, eva, Role::Owner).await;
    let third = taken().await;
    db.store.make(hash(4), invitation(&of, eva, Role::Viewer), NOW, NOW + Duration::hours(1)).await.unwrap();
    assert!(waiting(&db).await.is_empty());
    assert!(!make_for(&db, third, 5, &of, eva, Role::Owner).await, "a link was printed");
    assert_eq!(open(&db, &[4, 5]).await, [4]);
}

#[tokio::test]
async fn a_link_that_is_made_while_its_invitation_is_withdrawn_is_withdrawn_as_well() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let address = "eva@example.com".parse().unwrap();
    invite(&db, &of, "eva@example.com", Role::Owner).await;
    // Its mail's link is made, but not committed, when somebody withdraws it.
    let holder = db.session().await;
    holder.batch_execute("BEGIN; SELECT FROM mails FOR UPDATE").await.unwrap();
    let link = "INSERT INTO links (hash, purpose, user_id, details, created_at, expires_at)
        VALUES ($1, 'invitation', $2, '{\"email\": \"eva@example.com\"}', $3, $4)";
    let ends = NOW + Duration::hours(1);
    holder.execute(link, &[&hash(1).0.to_vec(), &of.as_str(), &NOW, &ends]).await.unwrap();
    let made = async {
        until_waiting(&db.sql, 1).await;
        holder.batch_execute("COMMIT").await.unwrap();
    };
    let withdraw = db.store.withdraw(&of, &address, note(&of, Action::InvitationWithdrawn), NOW);
    let (is_withdrawn, ()) = tokio::join!(withdraw, made);
    assert!(is_withdrawn.unwrap());
    assert!(open(&db, &[1]).await.is_empty());
}

#[tokio::test]
async fn invitations_are_listed_once_also_while_they_wait_to_be_sent() {
    type Listed = (String, Role, Option<OffsetDateTime>);
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let other = user(&db.store, b'b').await[0].user_id.clone();
    let (eva, luis) = ("eva@example.com", "luis@example.com");
    let listed = async || -> Vec<Listed> {
        let invited = db.store.invited(&of, NOW).await.unwrap();
        invited.into_iter().map(|one| (one.email.as_str().to_owned(), one.role, one.expires_at)).collect()
    };
    let waits = |to: &str, role: Role| -> Listed { (to.to_owned(), role, None) };
    invite(&db, &of, eva, Role::Owner).await;
    invite(&db, &other, luis, Role::Owner).await;
    assert_eq!(listed().await, [waits(eva, Role::Owner)]);
    // An attempt made its link, and could not send it.
    link_to_join(&db, 1, &of, eva, Role::Owner).await;
    assert_eq!(listed().await, [waits(eva, Role::Owner)]);
    db.sql.execute("DELETE FROM mails", &[]).await.unwrap();
    assert_eq!(listed().await, [(eva.to_owned(), Role::Owner, Some(NOW + Duration::hours(1)))]);
    let address = eva.parse().unwrap();
    assert!(db.store.withdraw(&of, &address, note(&of, Action::InvitationWithdrawn), NOW).await.unwrap());
    assert!(listed().await.is_empty());
}

#[tokio::test]
async fn who_joins_gets_no_other_invitation_to_the_same_shop() {
    let db = fresh().await;
    let of = user(&db.store, b'a').await[0].user_id.clone();
    let other = user(&db.store, b'b').await[0].user_id.clone();
    for (user, to) in [(&of, "luis@example.com"), (&of, "eva@example.com"), (&other, "luis@example.com")] {
        invite(&db, user, to, Role::Owner).await;
    }
    link_to_join(&db, 1, &of, "luis@example.com", Role::Viewer).await;
    let luis = Chosen { name: "Luis".into(), password: "hash".into(), language: Language::Spanish };
    db.store.join(hash(1), Some(luis), "203.0.113.7".to_owned(), NOW).await.unwrap();
    let waiting = db.store.lease(9, NOW).await.unwrap();
    let mut waiting: Vec<_> = waiting.iter().map(|mail| mail.outgoing.to.as_str()).collect();
    waiting.sort_unstable();
    assert_eq!(waiting, ["eva@example.com", "luis@example.com"]);
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
