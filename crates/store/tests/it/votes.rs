//! Votes on comments: reserved with their debit, ended with the decision that goes by them, and refunded once otherwise.

use domain::{
    AccountId, MessageId, TemplateId,
    accounts::{AccountStore, NewUser, Plan},
    ai::{AccessChange, Actor, AiAccess, AiRuns, Usage},
    credits::CreditAmount,
    events::ActorKind,
    page::PageRequest,
    social::{
        Channel, Decision, Reason, ReplyState,
        channels::{Change, Comment},
        classify,
        conversations::{ConversationFilter, ConversationStore, Reply},
        replies::{Connected, Intake, NewSocialAccount, ProfileStore, SocialAccount, Undecided},
        votes::{Ballot, Counted, Verdict, Vote, VotePermit, VoteStore},
    },
};
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-03 12:00 UTC);
const TEMPLATE: TemplateId = TemplateId(5);

fn price() -> CreditAmount {
    CreditAmount::new(1).unwrap()
}

/// A live account with 500 credits and a connected profile.
async fn connected(db: &Database, number: &str) -> SocialAccount {
    let id = format!("user_{}", &uuid::Uuid::new_v4().simple().to_string()[..24]);
    let user = NewUser {
        id: id.parse().unwrap(),
        name: "shop".into(),
        currency: "EUR".parse().unwrap(),
        timezone: "UTC".parse().unwrap(),
        locale: domain::texts::Locale::ENGLISH,
        plan: Plan::Free,
        now: NOW,
    };
    let account = db.store.create(user).await.unwrap()[0].id;
    let new = NewSocialAccount {
        account,
        channel: Channel::Instagram,
        external_id: number.into(),
        app_scoped_id: None,
        handle: None,
    };
    let Connected::Done(id) = db.store.connect(new, NOW).await.unwrap() else { panic!() };
    db.store.profile(account, id).await.unwrap().unwrap()
}

/// The comment that has waited longest for a decision.
async fn next(db: &Database) -> Option<Undecided> {
    match db.store.next_undecided(MessageId(0)).await.unwrap() {
        Some(next) => db.store.undecided(next, NOW).await.unwrap(),
        None => None,
    }
}

/// A comment that waits for its vote.
async fn asked(db: &Database, profile: &SocialAccount, id: &str) -> Undecided {
    let comment = Comment {
        external_id: id.into(),
        post_id: None,
        ad_id: None,
        parent_id: None,
        author_id: Some("1000001".into()),
        username: Some("ana".into()),
        text: format!("¿Cuánto cuesta {id}?"),
        is_hidden: false,
        posted_at: Some(NOW),
    };
    db.store.take_in(profile, vec![Change::Posted(comment)], NOW).await.unwrap();
    let undecided = next(db).await.unwrap();
    assert_eq!((undecided.account, undecided.comment_id.as_str()), (profile.account, id));
    decide(db, &undecided, Decision::Ask { candidates: vec![TEMPLATE] }, None).await;
    assert!(next(db).await.is_none(), "it waits for its vote");
    undecided
}

async fn decide(db: &Database, of: &Undecided, decision: Decision, vote: Option<Counted>) {
    let classified = classify(of.text.as_deref().unwrap_or_default());
    db.store.decided(of, &classified, decision, vote, NOW).await.unwrap();
}

async fn open(db: &Database, of: &Undecided) -> VotePermit {
    db.store.open(of, price(), "m", Usage::NONE, NOW).await.unwrap()
}

async fn opened(db: &Database, of: &Undecided) -> Ballot {
    match open(db, of).await {
        VotePermit::Granted(ballot) => ballot,
        refused => panic!("{refused:?}"),
    }
}

fn held(reason: Reason) -> Decision {
    Decision::Hold { reason, choice: None, again_at: None }
}

async fn ledger(db: &Database, account: AccountId) -> Vec<String> {
    shop::rows(&db.sql, account, "kind, feature, amount, balance_after", "credit_transactions").await
}

async fn reply(db: &Database, account: AccountId) -> Option<Reply> {
    let page = PageRequest { limit: 10, cursor: None };
    let listed =
        ConversationStore::page(&*db.store, account, ConversationFilter::default(), false, page).await.unwrap();
    listed.page.items.into_iter().next().unwrap().reply
}

async fn expire(db: &Database) {
    let expired = "UPDATE ai_runs SET lease_until = now() - interval '1 second' WHERE state = 'running'";
    db.sql.execute(expired, &[]).await.unwrap();
}

#[tokio::test]
async fn of_several_workers_one_has_the_vote_and_it_is_debited_once() {
    let db = fresh().await;
    let profile = connected(&db, "1").await;
    let comment = asked(&db, &profile, "a").await;
    assert_eq!(db.store.waiting(NOW).await.unwrap().as_ref(), Some(&comment));
    let permits = futures_util::future::join_all((0..4).map(|_| open(&db, &comment))).await;
    let granted = permits.iter().filter(|permit| matches!(permit, VotePermit::Granted(_))).count();
    let elsewhere = permits.iter().filter(|permit| **permit == VotePermit::Elsewhere).count();
    assert_eq!((granted, elsewhere), (1, 3));
    assert_eq!(ledger(&db, profile.account).await, ["(consume,social_reply,-1,499)", "(grant,,500,500)"]);
    let about =
        "SELECT meta->>'channel', meta->>'comment_id', meta ? 'run_id' FROM credit_transactions WHERE kind = 'consume'";
    let row = db.sql.query_one(about, &[]).await.unwrap();
    assert_eq!((row.get::<_, &str>(0), row.get::<_, &str>(1), row.get::<_, bool>(2)), ("instagram", "a", true));
    let bound = "SELECT count(*) FROM ai_calls WHERE finished_at IS NULL";
    assert_eq!(db.sql.query_one(bound, &[]).await.unwrap().get::<_, i64>(0), 1, "noted before it is made");
    assert!(db.store.waiting(NOW).await.unwrap().is_none(), "who holds it has three minutes");
    // Other votes and runs of the account go on beside it.
    opened(&db, &asked(&db, &profile, "b").await).await;
    assert!(db.store.start(profile.account, price(), NOW).await.unwrap().is_some());
    assert!(db.store.start(profile.account, price(), NOW).await.unwrap().is_none(), "of those there is one at a time");
}

#[tokio::test]
async fn a_vote_that_counts_is_paid_for_and_remembered() {
    let db = fresh().await;
    let profile = connected(&db, "1").await;
    for (id, answer, verdict, vote) in
        [("a", Some(TEMPLATE), Verdict::Template, Vote::For(TEMPLATE)), ("b", None, Verdict::None, Vote::ForNone)]
    {
        let comment = asked(&db, &profile, id).await;
        let ballot = opened(&db, &comment).await;
        db.store.close_call(profile.account, ballot.call, Usage::NONE, None, NOW).await.unwrap();
        let counted = Counted { run: ballot.run, answer: Ok(answer) };
        decide(&db, &comment, held(Reason::QuietHours), Some(counted)).await;
        let reply = reply(&db, profile.account).await.unwrap();
        assert_eq!(
            (reply.state, reply.reason, reply.model_vote),
            (ReplyState::Held, Some(Reason::QuietHours), Some(verdict))
        );
        assert!(!db.store.fail(&ballot.run, "late", NOW).await.unwrap(), "it has ended");
        assert_eq!(AiRuns::find(&*db.store, profile.account, ballot.run.run).await.unwrap(), None, "it words nothing");
        // Later, when the bot may answer, the vote is there and costs nothing.
        db.sql.execute("UPDATE conversation_messages SET is_undecided = external_id = $1", &[&id]).await.unwrap();
        let again = next(&db).await.unwrap();
        assert_eq!(again.vote.as_ref().and_then(|earlier| earlier.came_to), Some(vote));
        decide(&db, &again, held(Reason::CapReached), None).await;
    }
    let paid = ["(consume,social_reply,-1,498)", "(consume,social_reply,-1,499)", "(grant,,500,500)"];
    assert_eq!(ledger(&db, profile.account).await, paid);
    let voted = "SELECT count(*) FROM ai_runs WHERE outcome = 'voted' AND state = 'done' AND NOT refunded";
    assert_eq!(db.sql.query_one(voted, &[]).await.unwrap().get::<_, i64>(0), 2);
}

#[tokio::test]
async fn an_answer_of_no_use_is_refunded_once_and_the_comment_is_not_asked_about_again() {
    let db = fresh().await;
    let profile = connected(&db, "1").await;
    let comment = asked(&db, &profile, "a").await;
    let ballot = opened(&db, &comment).await;
    let counted = Counted { run: ballot.run, answer: Err("malformed") };
    decide(&db, &comment, held(Reason::UnusableAnswer), Some(counted)).await;
    decide(&db, &comment, held(Reason::UnusableAnswer), Some(counted)).await;
    let refunded = ["(consume,social_reply,-1,499)", "(grant,,500,500)", "(refund,social_reply,1,500)"];
    assert_eq!(ledger(&db, profile.account).await, refunded);
    assert_eq!(reply(&db, profile.account).await.unwrap().reason, Some(Reason::UnusableAnswer));
    db.sql.execute("UPDATE conversation_messages SET is_undecided = true", &[]).await.unwrap();
    let again = next(&db).await.unwrap();
    assert_eq!(again.vote.as_ref().and_then(|earlier| earlier.came_to), Some(Vote::Unusable));
    assert_eq!(open(&db, &again).await, VotePermit::Spent);
    assert_eq!(ledger(&db, profile.account).await, refunded);
}

#[tokio::test]
async fn a_vote_whose_process_died_is_void_whoever_finds_it_first() {
    let db = fresh().await;
    let profile = connected(&db, "1").await;
    let (reaped, found) = (asked(&db, &profile, "a").await, asked(&db, &profile, "b").await);
    let late = opened(&db, &reaped).await;
    expire(&db).await;
    assert_eq!(db.store.reap(NOW).await.unwrap(), 1);
    // It was only slow, and decides all the same.
    let counted = Counted { run: late.run, answer: Ok(Some(TEMPLATE)) };
    decide(&db, &reaped, held(Reason::NeedsApproval), Some(counted)).await;
    assert!(reply(&db, profile.account).await.is_none(), "a refunded vote decides nothing");
    assert_eq!(open(&db, &reaped).await, VotePermit::Spent);

    opened(&db, &found).await;
    expire(&db).await;
    let later = NOW + Duration::minutes(4);
    assert!(db.store.waiting(later).await.unwrap().is_some(), "their turn has come again");
    assert_eq!(open(&db, &found).await, VotePermit::Spent, "the reaper was not there yet");
    assert_eq!(db.store.reap(NOW).await.unwrap(), 0);
    let ended = [
        "(consume,social_reply,-1,499)",
        "(consume,social_reply,-1,499)",
        "(grant,,500,500)",
        "(refund,social_reply,1,500)",
        "(refund,social_reply,1,500)",
    ];
    assert_eq!(ledger(&db, profile.account).await, ended);
}

#[tokio::test]
async fn what_is_refused_reserves_nothing_and_other_accounts_are_not_concerned() {
    let db = fresh().await;
    let (profile, other) = (connected(&db, "1").await, connected(&db, "2").await);
    let (comment, same) = (asked(&db, &profile, "a").await, asked(&db, &other, "a").await);
    let dear = CreditAmount::new(501).unwrap();
    assert_eq!(db.store.open(&comment, dear, "m", Usage::NONE, NOW).await.unwrap(), VotePermit::Unpaid);
    let admin = Actor { name: "ana".into(), kind: ActorKind::Admin };
    let paused = AiAccess::pause(&*db.store, profile.account, &admin, "invoice", NOW).await.unwrap();
    assert_eq!(paused, AccessChange::Made);
    assert_eq!(open(&db, &comment).await, VotePermit::Paused);
    assert_eq!(ledger(&db, profile.account).await, ["(grant,,500,500)"]);
    for table in ["social_votes", "ai_runs", "ai_calls"] {
        assert_eq!(shop::rows(&db.sql, profile.account, "1", table).await, [""; 0], "{table}");
    }
    opened(&db, &same).await;
    assert_eq!(ledger(&db, other.account).await.len(), 2);
    assert_eq!(db.store.resume(profile.account, &admin, None, NOW).await.unwrap(), AccessChange::Made);
    opened(&db, &comment).await;
    decide(&db, &comment, held(Reason::TooOld), None).await;
    assert_eq!(open(&db, &comment).await, VotePermit::Elsewhere, "it was decided about");
}
