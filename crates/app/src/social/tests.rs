//! What is done when something fails, or takes long.

use std::{
    future::pending,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use domain::{
    AccountId, ConversationId, SocialAccountId,
    accounts::Platform,
    social::{
        Author,
        channels::{Change, Comment, Shown},
        replies::{MockHookLog, MockIntake, MockProfileStore, MockReplyQueue, Settlement, TakenReply},
        votes::MockVoteStore,
    },
};
use tokio::time::sleep;

use super::*;
use crate::shops::tests::World as Shops;

/// What was called, in order.
type Steps = Arc<Mutex<Vec<String>>>;

fn note(steps: &Steps, step: impl Into<String>) {
    steps.lock().unwrap_or_else(PoisonError::into_inner).push(step.into());
}

/// A worker with three comments to decide about, of which the first takes the database too long.
fn worker(steps: &Steps) -> SocialWorker {
    let (mut intake, mut queue, mut votes) = (MockIntake::new(), MockReplyQueue::new(), MockVoteStore::new());
    intake.expect_wake().returning(|_| Ok(()));
    intake.expect_next_undecided().returning(|after| {
        let next = (1..=3).find(|id| *id > after.0);
        Ok(next.map(|id| Waiting { account: AccountId(id), message: MessageId(id) }))
    });
    let (looked_at, sent) = (steps.clone(), steps.clone());
    intake.expect_undecided().returning(move |comment, _| {
        note(&looked_at, comment.message.0.to_string());
        if comment.message.0 == 1 { Err(StoreError::Overloaded("it takes too long".into())) } else { Ok(None) }
    });
    queue.expect_take_reply().returning(move |_, _| {
        note(&sent, "send");
        Ok(None)
    });
    votes.expect_waiting().returning(|_| Ok(None));
    SocialWorker {
        hooks: Arc::new(MockHookLog::new()),
        profiles: Arc::new(MockProfileStore::new()),
        intake: Arc::new(intake),
        queue: Arc::new(queue),
        votes: Arc::new(votes),
        voter: None,
        inbox: None,
        networks: HashMap::new(),
        shops: Shops::empty(Platform::Mercadolibre).ports(),
        is_enabled: true,
        random: Arc::new(|| 0),
    }
}

#[tokio::test]
async fn a_comment_that_cannot_be_decided_about_holds_up_nothing_else_and_has_its_turn_again() {
    let steps = Steps::default();
    let (worker, passed) = (worker(&steps), AtomicI64::new(0));
    for _ in 0..3 {
        worker.turn(&passed).await.unwrap();
    }
    let steps = steps.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert_eq!(steps, ["1", "2", "3", "1"]);
}

/// A network that never tells what was written.
struct Silent(Steps);

#[async_trait]
impl SocialReplies for Silent {
    fn channel(&self) -> Channel {
        Channel::Instagram
    }

    async fn read(&self, _: &Profile, _: &str) -> Result<Comment, ChannelError> {
        Err(ChannelError::NotFound)
    }

    async fn reply(&self, _: &Profile, _: &str, _: &str) -> Result<String, ChannelError> {
        Err(ChannelError::NotFound)
    }

    async fn replies(&self, _: &Profile, _: &str) -> Result<Vec<Shown>, ChannelError> {
        Ok(Vec::new())
    }

    async fn changes(&self, profile: &Profile, _: OffsetDateTime) -> Result<Vec<Change>, ChannelError> {
        note(&self.0, format!("poll {}", profile.external_id));
        pending().await
    }
}

fn profile(sealer: &dyn Sealer, account: i64, id: i64) -> SocialAccount {
    let (account, id) = (AccountId(account), SocialAccountId(id));
    SocialAccount {
        account,
        id,
        channel: Channel::Instagram,
        external_id: id.0.to_string(),
        app_scoped_id: None,
        handle: None,
        integration: None,
        sealed_token: sealer.seal(token_binding(account, id), b"token").ok(),
        last_poll_at: None,
        blocked_until: None,
        page_id: None,
        subscribe_due_at: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_network_that_is_slow_holds_up_no_answer_and_no_other_account() {
    let steps = Steps::default();
    let mut worker = worker(&steps);
    let sealer = worker.shops.sealer.clone();
    let due = Mutex::new([(7, 1), (7, 2), (8, 3)].map(|(account, id)| profile(&*sealer, account, id)).to_vec());
    let mut profiles = MockProfileStore::new();
    profiles.expect_take_poll().returning(move |_, _, busy| {
        let mut due = due.lock().unwrap_or_else(PoisonError::into_inner);
        let place = due.iter().position(|profile| !busy.contains(&profile.account));
        Ok(place.map(|place| due.remove(place)))
    });
    worker.profiles = Arc::new(profiles);
    let silent = Network { replies: Arc::new(Silent(steps.clone())), is_stand_in: false };
    worker.networks = HashMap::from([(Channel::Instagram, silent)]);
    worker.run(sleep(POLL_WITHIN + StdDuration::from_secs(5))).await;
    let steps = steps.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let polls: Vec<_> = steps.iter().filter(|step| step.starts_with("poll")).collect();
    assert_eq!(polls, ["poll 1", "poll 3", "poll 2"], "one of an account at a time");
    let meanwhile = steps.iter().skip_while(|step| *step != "poll 1").take_while(|step| *step != "poll 2");
    assert!(meanwhile.filter(|step| *step == "send").count() > 100, "{steps:?}");
}

/// A network that does not answer for some time.
struct Slow(Steps);

#[async_trait]
impl SocialReplies for Slow {
    fn channel(&self) -> Channel {
        Channel::Instagram
    }

    async fn read(&self, _: &Profile, comment: &str) -> Result<Comment, ChannelError> {
        note(&self.0, format!("read {comment}"));
        pending().await
    }

    async fn reply(&self, _: &Profile, _: &str, _: &str) -> Result<String, ChannelError> {
        Err(ChannelError::NotFound)
    }

    async fn replies(&self, _: &Profile, _: &str) -> Result<Vec<Shown>, ChannelError> {
        Ok(Vec::new())
    }

    async fn changes(&self, _: &Profile, _: OffsetDateTime) -> Result<Vec<Change>, ChannelError> {
        Ok(Vec::new())
    }
}

fn reply(account: i64, comment: &str, now: OffsetDateTime) -> TakenReply {
    TakenReply {
        account: AccountId(account),
        channel: Channel::Instagram,
        comment_id: comment.to_owned(),
        conversation: ConversationId(1),
        profile: SocialAccountId(1),
        message: "Hola".to_owned(),
        author: Author::Bot,
        is_bots: true,
        comment_hash: Vec::new(),
        reserved_at: now,
        claim: 1,
        attempts: 0,
        looks: 0,
        is_unknown: false,
        may_retry: true,
        reason: None,
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_long_holds_up_none_of_another_account_and_no_decision() {
    let steps = Steps::default();
    let mut worker = worker(&steps);
    let now = worker.now();
    let due = Mutex::new(vec![reply(7, "1", now), reply(7, "2", now), reply(8, "3", now)]);
    let mut queue = MockReplyQueue::new();
    queue.expect_take_reply().returning(move |_, busy| {
        let mut due = due.lock().unwrap_or_else(PoisonError::into_inner);
        let place = due.iter().position(|reply| !busy.contains(&reply.account));
        Ok(place.map(|place| due.remove(place)))
    });
    queue.expect_settle().returning(|_, settlement, _| {
        assert!(matches!(settlement, Settlement::Later { .. }), "{settlement:?}");
        Ok(true)
    });
    worker.queue = Arc::new(queue);
    let sealer = worker.shops.sealer.clone();
    let mut profiles = MockProfileStore::new();
    profiles.expect_take_poll().returning(|_, _, _| Ok(None));
    profiles.expect_profile().returning(move |account, id| Ok(Some(profile(&*sealer, account.0, id.0))));
    worker.profiles = Arc::new(profiles);
    let slow = Network { replies: Arc::new(Slow(steps.clone())), is_stand_in: false };
    worker.networks = HashMap::from([(Channel::Instagram, slow)]);
    worker.run(sleep(StdDuration::from_secs(35))).await;
    let steps = steps.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let reads: Vec<_> = steps.iter().filter(|step| step.starts_with("read")).collect();
    assert_eq!(reads, ["read 1", "read 3", "read 2"], "one of an account at a time");
    let meanwhile = steps.iter().skip_while(|step| *step != "read 1").take_while(|step| *step != "read 2");
    assert!(meanwhile.filter(|step| *step == "2").count() > 10, "{steps:?}");
}
