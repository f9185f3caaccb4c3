//! What is done when something fails.

use std::sync::{Mutex, PoisonError};

use domain::{
    AccountId,
    accounts::Platform,
    social::{
        replies::{MockHookLog, MockIntake, MockProfileStore, MockReplyQueue},
        votes::MockVoteStore,
    },
};

use super::*;
use crate::shops::tests::World as Shops;

/// What was called, in order.
type Steps = Arc<Mutex<Vec<String>>>;

fn note(steps: &Steps, step: impl Into<String>) {
    steps.lock().unwrap_or_else(PoisonError::into_inner).push(step.into());
}

/// A worker with three comments to decide about, of which the first takes the database too long.
fn worker(steps: &Steps) -> SocialWorker {
    let (mut intake, mut queue, mut profiles) = (MockIntake::new(), MockReplyQueue::new(), MockProfileStore::new());
    intake.expect_wake().returning(|_| Ok(()));
    intake.expect_next_undecided().returning(|after| {
        let next = (1..=3).find(|id| *id > after.0);
        Ok(next.map(|id| Waiting { account: AccountId(id), message: MessageId(id) }))
    });
    let (looked_at, sent, polled) = (steps.clone(), steps.clone(), steps.clone());
    intake.expect_undecided().returning(move |comment, _| {
        note(&looked_at, comment.message.0.to_string());
        if comment.message.0 == 1 { Err(StoreError::Overloaded("it takes too long".into())) } else { Ok(None) }
    });
    queue.expect_take_reply().returning(move |_| {
        note(&sent, "send");
        Ok(None)
    });
    profiles.expect_take_poll().returning(move |_, _| {
        note(&polled, "poll");
        Ok(None)
    });
    SocialWorker {
        hooks: Arc::new(MockHookLog::new()),
        profiles: Arc::new(profiles),
        intake: Arc::new(intake),
        queue: Arc::new(queue),
        votes: Arc::new(MockVoteStore::new()),
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
    assert_eq!(steps, ["1", "send", "poll", "2", "3", "send", "poll", "1", "send", "poll"]);
}
