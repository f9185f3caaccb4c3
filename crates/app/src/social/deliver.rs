//! One answer on its way: looked for before it is sent, and sent at most once more than the network lets us know of.

use std::time::Duration as StdDuration;

use domain::{
    StoreError,
    social::{
        AGE_LIMIT, Author, Reason,
        channels::{Change, ChannelError, Profile, Shown},
        fingerprint_of,
        replies::{
            CLOCK_TOLERANCE, LOOK_AT_MOST, LOOK_INTERVAL, LOOKS, MAX_SENDS, Permit, STANDS_FOR, Settlement, TakenReply,
        },
    },
};
use tracing::Instrument;

use super::{Opened, SocialWorker, Way, within};

/// How long a call may take: less than the lease of an answer, with the calls around it.
const ANSWER_WITHIN: StdDuration = StdDuration::from_secs(30);

impl SocialWorker {
    /// Sends or looks for an answer.
    pub(super) async fn deliver_taken(&self, reply: TakenReply) -> Result<(), StoreError> {
        let (account_id, conversation) = (reply.account.0, reply.conversation.0);
        let span = tracing::error_span!("social_reply", account_id, conversation);
        if let Some(settlement) = self.deliver(&reply).instrument(span).await? {
            let state = match &settlement {
                Settlement::Sent { recovered: false, .. } => "sent",
                Settlement::Sent { recovered: true, .. } => "recovered",
                Settlement::Unknown { .. } | Settlement::NotFound => "unknown",
                Settlement::Later { .. } | Settlement::DecideAgain => "later",
                Settlement::Held(_) => "held",
                Settlement::Failed => "failed",
            };
            metrics::counter!("social_replies_total", "outcome" => state).increment(1);
            self.queue.settle(&reply, settlement, self.now()).await?;
        }
        Ok(())
    }

    /// What came of it. `None`: it is another's by now.
    async fn deliver(&self, reply: &TakenReply) -> Result<Option<Settlement>, StoreError> {
        let Some(account) = self.profiles.profile(reply.account, reply.profile).await? else {
            return Ok(Some(Settlement::Held(Reason::TokenDead)));
        };
        if let Some(until) = account.waits_until(self.now()) {
            return Ok(Some(Settlement::Later { due_at: until }));
        }
        let was_begun = reply.is_unknown || reply.attempts > 0;
        if reply.is_bots && !was_begun && self.now() - reply.reserved_at > STANDS_FOR {
            return Ok(Some(Settlement::DecideAgain));
        }
        let owner = self.shops.accounts.find(reply.account).await?;
        if owner.is_none_or(|owner| !self.may_post(reply.channel, owner.mode)) {
            return Ok(Some(Settlement::Held(Reason::Blocked)));
        }
        let way = match self.opened(&account).await? {
            Opened::Open(way) => way,
            Opened::Ended => return Ok(Some(Settlement::Held(Reason::TokenDead))),
            Opened::Waits => return Ok(Some(Settlement::Later { due_at: self.now() + LOOK_INTERVAL })),
        };
        if reply.is_unknown { self.look(reply, &way).await } else { self.send(reply, &way).await }
    }

    /// Looks for an answer that may have been written. Where the network does not say, it waits and is not sent.
    async fn look(&self, reply: &TakenReply, way: &Way<'_>) -> Result<Option<Settlement>, StoreError> {
        let shown = match within(ANSWER_WITHIN, way.network.replies(&way.profile, &reply.comment_id)).await {
            Ok(shown) => shown,
            Err(error) => return self.wait(way, &error).await.map(Some),
        };
        if let Some(found) = ours(reply, &way.profile, &shown) {
            return Ok(Some(Settlement::Sent { reply_id: found.external_id.clone(), recovered: true }));
        }
        // The one answer that there can be is there, and may be ours.
        let is_there = reply.channel.takes_one_answer() && reply.reason == Some(Reason::HumanActive);
        if is_there && shown.is_empty() && self.now() - reply.reserved_at < LOOK_AT_MOST {
            return Ok(Some(Settlement::Later { due_at: self.now() + LOOK_INTERVAL }));
        }
        if reply.looks + 1 < LOOKS {
            return Ok(Some(Settlement::NotFound));
        }
        if reply.may_retry && reply.attempts < MAX_SENDS {
            return self.send(reply, way).await;
        }
        Ok(Some(Settlement::Held(reply.reason.unwrap_or(Reason::NeedsApproval))))
    }

    /// Reads the comment again, and sends the answer.
    async fn send(&self, reply: &TakenReply, way: &Way<'_>) -> Result<Option<Settlement>, StoreError> {
        let comment = match within(ANSWER_WITHIN, way.network.read(&way.profile, &reply.comment_id)).await {
            Ok(comment) => comment,
            Err(error) => return self.wait(way, &error).await.map(Some),
        };
        if comment.is_hidden {
            return Ok(Some(Settlement::Held(Reason::Hidden)));
        }
        // Hooks may come late, and not all say when somebody commented.
        if reply.is_bots && comment.posted_at.is_some_and(|at| self.now() - at > AGE_LIMIT) {
            return Ok(Some(Settlement::Held(Reason::TooOld)));
        }
        // It was edited since: this is the answer to another text. Not all networks tell of that, and who decides now has to see it.
        if fingerprint_of(&comment.text).as_slice() != reply.comment_hash.as_slice() {
            let edited = Change::Edited { comment, at: None };
            self.intake.take_in(way.account, vec![edited], self.now()).await?;
            return Ok(Some(Settlement::Held(Reason::NeedsApproval)));
        }
        let shown = match within(ANSWER_WITHIN, way.network.replies(&way.profile, &reply.comment_id)).await {
            Ok(shown) => shown,
            Err(error) => return self.wait(way, &error).await.map(Some),
        };
        if let Some(found) = ours(reply, &way.profile, &shown) {
            return Ok(Some(Settlement::Sent { reply_id: found.external_id.clone(), recovered: true }));
        }
        let is_own = |shown: &Shown| way.profile.is_own(shown.author_id.as_deref(), shown.username.as_deref());
        if (reply.author == Author::Bot || reply.channel.takes_one_answer()) && shown.iter().any(is_own) {
            return Ok(Some(Settlement::Held(Reason::HumanActive)));
        }
        match self.queue.sending(reply, self.now()).await? {
            Permit::Granted => {}
            Permit::Superseded => return Ok(None),
            Permit::Stopped(reason) => return Ok(Some(Settlement::Held(reason))),
        }
        self.post(reply, way).await.map(Some)
    }

    /// Whatever does not end with an identifier may have been written.
    async fn post(&self, reply: &TakenReply, way: &Way<'_>) -> Result<Settlement, StoreError> {
        match within(ANSWER_WITHIN, way.network.reply(&way.profile, &reply.comment_id, &reply.message)).await {
            Ok(reply_id) if reply_id == reply.comment_id => {
                tracing::error!(comment = reply.comment_id, "the network edited the comment instead of answering it");
                Ok(Settlement::Failed)
            }
            Ok(reply_id) => Ok(Settlement::Sent { reply_id, recovered: false }),
            Err(error) => {
                self.note(way, &error).await?;
                let reason = match error {
                    ChannelError::Blocked => Some(Reason::Blocked),
                    ChannelError::TokenDead => Some(Reason::TokenDead),
                    ChannelError::NotFound => Some(Reason::Deleted),
                    ChannelError::Answered => Some(Reason::HumanActive),
                    _ => None,
                };
                // A shop's token that has run out is renewed.
                let is_renewed = error == ChannelError::TokenDead && way.generation.is_some();
                Ok(Settlement::Unknown { may_retry: error.may_pass() || is_renewed, reason })
            }
        }
    }

    /// What a failure to read means for an answer: nothing was sent by it.
    async fn wait(&self, way: &Way<'_>, error: &ChannelError) -> Result<Settlement, StoreError> {
        self.note(way, error).await?;
        Ok(match error {
            ChannelError::NotFound => Settlement::Held(Reason::Deleted),
            ChannelError::Answered => Settlement::Held(Reason::HumanActive),
            ChannelError::TokenDead if way.generation.is_some() => {
                Settlement::Later { due_at: self.now() + LOOK_INTERVAL }
            }
            ChannelError::TokenDead | ChannelError::Forbidden => Settlement::Held(Reason::TokenDead),
            ChannelError::Blocked => Settlement::Held(Reason::Blocked),
            ChannelError::Throttled(until) => Settlement::Later { due_at: *until },
            ChannelError::Rejected(_) | ChannelError::Unavailable(_) | ChannelError::Malformed(_) => {
                Settlement::Later { due_at: self.now() + LOOK_INTERVAL }
            }
        })
    }
}

/// The answer among those that are shown: the profile's own, with this text, and not from before it was reserved.
fn ours<'a>(reply: &TakenReply, profile: &Profile, shown: &'a [Shown]) -> Option<&'a Shown> {
    shown.iter().find(|shown| {
        profile.is_own(shown.author_id.as_deref(), shown.username.as_deref())
            && shown.text.trim() == reply.message.trim()
            && shown.posted_at.is_none_or(|at| at >= reply.reserved_at - CLOCK_TOLERANCE)
    })
}
