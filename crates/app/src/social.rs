//! The worker behind conversations: hooks are read, and comments decided about. Beside it answers are sent once, what no hook told
//! of is polled, of some accounts at a time, and a language model is asked for its vote where an account wants that.

mod deliver;
pub mod profiles;
mod votes;

pub use votes::Voter;

use std::{
    collections::HashMap,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration as StdDuration,
};

use domain::{
    MessageId, StoreError,
    accounts::Mode,
    sealing::Sealer,
    shops::Secret,
    social::{
        Channel, Classified, Decision, Situation, Tongue,
        channels::{ChannelError, ParsedHook, Profile, SocialInbox, SocialReplies},
        classify, decide, goes_by_vote,
        profiles::{SUBSCRIBE_AGAIN, SUBSCRIBE_EVERY},
        replies::{HookLog, Intake, ProfileStore, ReplyQueue, SocialAccount, Undecided, Waiting, token_binding},
        votes::{Counted, Vote, VoteStore},
    },
    zone::Zone,
};
use futures_util::{FutureExt, future::join_all};
use time::{Duration, OffsetDateTime};
use tokio::time::timeout;
use tracing::Instrument;

use crate::{
    outage,
    shops::{
        Ports,
        tokens::{AccessError, Held},
    },
    worker::{self, Turns},
};

/// How often the worker looks.
const EVERY: StdDuration = StdDuration::from_millis(500);
/// How often a profile is polled.
const POLL_EVERY: Duration = Duration::minutes(5);
/// How far back the first poll of a profile reads, and how much each further one reads twice.
const POLL_FIRST: Duration = Duration::hours(24);
const POLL_OVERLAP: Duration = Duration::hours(1);
/// How long the network has to tell what was written.
const POLL_WITHIN: StdDuration = StdDuration::from_secs(60);
/// Profiles that are polled at a time, one of an account: networks that are slow then keep no other account waiting. Each
/// profile's calls follow each other, so its limits are kept to as before.
const POLLS: usize = 8;
/// Answers that are sent at a time, one of an account, likewise.
const SENDS: usize = 8;
/// Hooks, and comments, at a time, so that neither keep the others waiting.
const AT_ONCE: usize = 50;

/// A network that this service may act on.
#[derive(Clone)]
pub struct Network {
    pub replies: Arc<dyn SocialReplies>,
    /// Whether it is a stand-in: for sandboxes nothing is posted elsewhere.
    pub is_stand_in: bool,
}

impl Network {
    /// Whether something may be done there for an account of that mode.
    fn is_open_to(&self, mode: Mode) -> bool {
        mode != Mode::Test || self.is_stand_in
    }
}

/// The worker and its ports.
#[derive(Clone)]
pub struct SocialWorker {
    pub hooks: Arc<dyn HookLog>,
    pub profiles: Arc<dyn ProfileStore>,
    pub intake: Arc<dyn Intake>,
    pub queue: Arc<dyn ReplyQueue>,
    pub votes: Arc<dyn VoteStore>,
    /// `None` where no language model is set up.
    pub voter: Option<Voter>,
    /// The app that hooks come from; `None`: there is none.
    pub inbox: Option<Arc<dyn SocialInbox>>,
    pub networks: HashMap<Channel, Network>,
    /// What conversations and connected shops have in common: accounts, the sealer, the clock, and the tokens of shops, which
    /// profiles that come with one use.
    pub shops: Ports,
    /// Whether the bot may answer by itself at all.
    pub is_enabled: bool,
    pub random: Arc<dyn Fn() -> u8 + Send + Sync>,
}

/// A profile that can be acted for.
struct Way<'a> {
    account: &'a SocialAccount,
    network: &'a Arc<dyn SocialReplies>,
    profile: Profile,
    /// Of the shop's tokens, where they are the shop's.
    generation: Option<i64>,
}

/// Whether a profile can be acted for.
enum Opened<'a> {
    Open(Way<'a>),
    /// Not before it is connected again.
    Ended,
    /// Not at the moment.
    Waits,
}

/// What the voters make of a comment, and what is done about it.
struct Judged {
    classified: Classified,
    decision: Decision,
    /// Whether the model's vote, if it had one, was what it went by.
    goes_by_vote: bool,
}

impl SocialWorker {
    fn now(&self) -> OffsetDateTime {
        self.shops.now()
    }

    /// Works until the process stops.
    pub async fn run(self, stopped: impl Future<Output = ()> + Send) {
        let stopped = stopped.shared();
        let votes = join_all((0..votes::AT_ONCE).map(|_| self.vote(stopped.clone())));
        tokio::join!(self.decide(stopped.clone()), self.send_all(stopped.clone()), self.poll(stopped.clone()), votes);
    }

    async fn decide(&self, stopped: impl Future<Output = ()>) {
        let passed = AtomicI64::new(0);
        let turn = || async { self.turn(&passed).await.map(|()| false) };
        worker::run_to_the_end(stopped, EVERY, "conversations wait; trying again", turn).await;
    }

    /// Does what is due, and polls one profile. For tests.
    ///
    /// # Errors
    /// Trouble with the database; what was taken is taken again later.
    pub async fn tick(&self) -> Result<(), StoreError> {
        let worked = self.turn(&AtomicI64::new(0)).await;
        let sent = for_a_while(|| async {
            let Some(reply) = self.queue.take_reply(self.now(), Vec::new()).await? else { return Ok(false) };
            self.deliver_taken(reply).await.map(|()| true)
        });
        let worked = worked.and(sent.await);
        let now = self.now();
        let polled = match self.profiles.take_poll(now, POLL_EVERY, Vec::new()).await {
            Ok(Some(profile)) => self.poll_one(profile, now).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        worked.and(polled)
    }

    /// Reads hooks and decides about comments, but only about those after the one that was `passed` last, until there are none.
    /// What fails of one kind of work keeps no other from being done: the first failure is told in the end.
    async fn turn(&self, passed: &AtomicI64) -> Result<(), StoreError> {
        let woken = self.intake.wake(self.now()).await;
        let read = for_a_while(|| self.read_hook()).await;
        let decided = for_a_while(|| self.decide_next(passed)).await;
        woken.and(read).and(decided)
    }

    /// Sends answers until `stopped`; those under way may end then, for some seconds: one whose sending is dropped is looked for.
    async fn send_all(&self, stopped: impl Future<Output = ()>) {
        let (mut stopped, mut sends) = (pin!(stopped), Turns::default());
        loop {
            if let Err(error) = self.start_sends(&mut sends).await {
                outage::warn(&error, "answers wait; trying again");
            }
            if sends.wait(stopped.as_mut(), EVERY).await {
                break;
            }
        }
        sends.finish().await;
    }

    /// Starts to send the answers that are due, as many as there are places: one of an account, the longest due first.
    async fn start_sends(&self, sends: &mut Turns) -> Result<(), StoreError> {
        while sends.len() < SENDS {
            let busy = sends.accounts().collect();
            let Some(reply) = self.queue.take_reply(self.now(), busy).await? else { break };
            let this = self.clone();
            sends.start(reply.account, async move {
                if let Err(error) = this.deliver_taken(reply).await {
                    outage::warn(&error, "an answer could not be sent; it is looked for or sent later");
                }
            });
        }
        Ok(())
    }

    /// Takes the oldest hook in. Whether there was one.
    async fn read_hook(&self) -> Result<bool, StoreError> {
        let Some(inbox) = &self.inbox else { return Ok(false) };
        let Some(hook) = self.hooks.take_hook(self.now()).await? else { return Ok(false) };
        let ParsedHook { batches, unread } = inbox.parse(&hook.body);
        if unread > 0 {
            tracing::warn!(hook = hook.id.0, unread, "a hook of a network has parts that cannot be read");
            metrics::counter!("social_hook_parts_unread_total").increment(unread);
        }
        for batch in batches {
            match self.profiles.owner(batch.channel, &batch.profile).await? {
                Some(profile) => {
                    let span = tracing::error_span!("social_hook", account_id = profile.account.0, hook = hook.id.0);
                    self.intake.take_in(&profile, batch.changes, hook.received_at).instrument(span).await?;
                }
                None => {
                    let channel = batch.channel.as_str();
                    metrics::counter!("social_hooks_unowned_total", "channel" => channel).increment(1);
                }
            }
        }
        self.hooks.hook_done(hook.id, self.now()).await?;
        Ok(true)
    }

    /// Decides about the comment that has waited longest of those after the one that was `passed` last. Whether that was done:
    /// where it fails, what else there is comes first, as the next may take as long to fail. The comment has its turn again
    /// after all others.
    async fn decide_next(&self, passed: &AtomicI64) -> Result<bool, StoreError> {
        let after = MessageId(passed.load(Ordering::Relaxed));
        let Some(next) = self.intake.next_undecided(after).await? else {
            passed.store(0, Ordering::Relaxed);
            return Ok(false);
        };
        passed.store(next.message.0, Ordering::Relaxed);
        let deciding = async {
            if let Err(error) = self.decide_about(next).await {
                outage::warn(&error, "a comment could not be decided about and waits for its next turn");
                return false;
            }
            true
        };
        let (account_id, message) = (next.account.0, next.message.0);
        Ok(deciding.instrument(tracing::error_span!("social_decision", account_id, message)).await)
    }

    async fn decide_about(&self, next: Waiting) -> Result<(), StoreError> {
        let Some(undecided) = self.intake.undecided(next, self.now()).await? else { return Ok(()) };
        let judged = self.judge(&undecided, None).await?;
        self.conclude(&undecided, judged, None).await
    }

    /// What is to be done about a comment by what is known of it now. `vote`: what came of asking the model just now.
    async fn judge(&self, undecided: &Undecided, vote: Option<Vote>) -> Result<Judged, StoreError> {
        let now = self.now();
        let account = self.shops.account(undecided.account).await?;
        let classified = classify(undecided.text.as_deref().unwrap_or_default());
        let vote = vote.unwrap_or_else(|| self.known_vote(undecided, account.mode));
        let (zone, language) = (&account.timezone, Tongue::from(account.locale.language));
        let situation = self.situation(undecided, (zone, language), &classified, vote, now);
        let goes_by_vote = goes_by_vote(&situation);
        let decision = match decide(&situation) {
            // Nothing is posted for a sandbox.
            Decision::Send { choice, .. } if !self.may_post(undecided.channel, account.mode) => {
                Decision::DryRun { choice }
            }
            other => other,
        };
        Ok(Judged { classified, decision, goes_by_vote })
    }

    /// Writes what was decided, with the end of the vote that it goes by.
    async fn conclude(&self, undecided: &Undecided, judged: Judged, vote: Option<Counted>) -> Result<(), StoreError> {
        let Judged { classified, decision, goes_by_vote: _ } = judged;
        if !matches!(decision, Decision::Ask { .. }) {
            let category = classified.category.as_str();
            metrics::counter!("social_decisions_total", "category" => category).increment(1);
        }
        self.intake.decided(undecided, &classified, decision, vote, self.now()).await
    }

    /// Whether answers of an account of that mode may be posted on a channel.
    fn may_post(&self, channel: Channel, mode: Mode) -> bool {
        self.networks.get(&channel).map_or(mode != Mode::Test, |network| network.is_open_to(mode))
    }

    fn situation<'a>(
        &self,
        undecided: &'a Undecided,
        (zone, language): (&'a Zone, Tongue),
        classified: &'a Classified,
        vote: Vote,
        now: OffsetDateTime,
    ) -> Situation<'a> {
        Situation {
            now,
            channel: undecided.channel,
            zone,
            settings: &undecided.settings,
            is_enabled: self.is_enabled,
            is_blocked: undecided.is_blocked,
            is_token_dead: undecided.is_token_dead,
            commented_at: undecided.commented_at,
            is_hidden: undecided.is_hidden,
            is_deleted: undecided.text.is_none(),
            text: undecided.text.as_deref().unwrap_or_default(),
            username: undecided.username.as_deref().unwrap_or_default(),
            thread: undecided.thread,
            sent: undecided.sent,
            same_text_from: undecided.same_text_from,
            classified,
            vote,
            templates: &undecided.templates,
            language,
            random: (self.random)(),
        }
    }

    /// Reads what no hook told of until `stopped`; polls under way may end then, for some seconds.
    async fn poll(&self, stopped: impl Future<Output = ()>) {
        let (mut stopped, mut polls) = (pin!(stopped), Turns::default());
        loop {
            if let Err(error) = self.start_polls(&mut polls).await {
                outage::warn(&error, "profiles cannot be polled; trying again");
            }
            if polls.wait(stopped.as_mut(), EVERY).await {
                break;
            }
        }
        polls.finish().await;
    }

    /// Starts to poll the profiles that are due, as many as there are places: one of an account, the longest due first.
    async fn start_polls(&self, polls: &mut Turns) -> Result<(), StoreError> {
        while polls.len() < POLLS {
            let now = self.now();
            let taken = self.profiles.take_poll(now, POLL_EVERY, polls.accounts().collect()).await?;
            let Some(profile) = taken else { break };
            let this = self.clone();
            polls.start(profile.account, async move {
                if let Err(error) = this.poll_one(profile, now).await {
                    outage::warn(&error, "a profile cannot be polled; it has its turn again");
                }
            });
        }
        Ok(())
    }

    async fn poll_one(&self, profile: SocialAccount, now: OffsetDateTime) -> Result<(), StoreError> {
        let span = tracing::error_span!("social_poll", account_id = profile.account.0, profile = profile.id.0);
        self.catch_up(profile, now).instrument(span).await
    }

    /// Reads what was written on a profile since it was read last.
    async fn catch_up(&self, account: SocialAccount, now: OffsetDateTime) -> Result<(), StoreError> {
        if account.waits_until(now).is_some() {
            return Ok(());
        }
        let Opened::Open(way) = self.opened(&account).await? else { return Ok(()) };
        self.subscribe(&way).await?;
        let since = account.last_poll_at.map_or(now - POLL_FIRST, |last| last - POLL_OVERLAP);
        match within(POLL_WITHIN, way.network.changes(&way.profile, since)).await {
            Ok(changes) => {
                let news = self.intake.take_in(&account, changes, now).await?;
                metrics::counter!("social_comments_polled_total").increment(news);
                self.profiles.polled(&account, now).await
            }
            Err(error) => self.note(&way, &error).await,
        }
    }

    /// The network of a profile, and the profile with its token, its own or the shop's.
    async fn opened<'a>(&'a self, account: &'a SocialAccount) -> Result<Opened<'a>, StoreError> {
        let Some(Network { replies: network, .. }) = self.networks.get(&account.channel) else {
            return Ok(Opened::Ended);
        };
        let (token, generation) = match account.integration {
            Some(shop) => match self.shops.access(account.account, shop).await {
                Ok(Held { access, generation, .. }) => (access.token, Some(generation)),
                Err(AccessError::Store(error)) => return Err(error),
                Err(AccessError::Ended) => return Ok(Opened::Ended),
                Err(AccessError::Busy | AccessError::Shop(_)) => return Ok(Opened::Waits),
                Err(error @ (AccessError::NotConfigured(_) | AccessError::Seal(_))) => {
                    tracing::error!(%error, profile = account.id.0, "a shop's token cannot be used");
                    return Ok(Opened::Waits);
                }
            },
            None => match own_token(&*self.shops.sealer, account) {
                Some(token) => (token, None),
                None => return Ok(Opened::Ended),
            },
        };
        let profile = with_token(account, token);
        Ok(Opened::Open(Way { account, network, profile, generation }))
    }

    /// Has the network go on sending hooks: it drops a subscription without a word.
    async fn subscribe(&self, way: &Way<'_>) -> Result<(), StoreError> {
        let Way { account, network, profile, generation: _ } = way;
        let now = self.now();
        let Some(page) = account.page_to_subscribe(now) else { return Ok(()) };
        let is_done = profiles::subscribe(network, profile, account.id, page).await;
        let again_at = now + if is_done { SUBSCRIBE_EVERY } else { SUBSCRIBE_AGAIN };
        self.profiles.subscribed(account, is_done, again_at, now).await
    }

    /// Notes what a failure says about the profile itself.
    async fn note(&self, way: &Way<'_>, error: &ChannelError) -> Result<(), StoreError> {
        let Way { account, generation, .. } = way;
        let (now, profile) = (self.now(), account.id.0);
        if let (ChannelError::TokenDead, Some(shop), Some(generation)) = (error, account.integration, generation) {
            // Where the platform refuses that, too, the shop's connection ends, and the profile's with it.
            return match self.shops.access_after(account.account, shop, *generation).await {
                Err(AccessError::Store(error)) => Err(error),
                Err(error) => {
                    tracing::warn!(%error, profile, "a shop's token could not be renewed");
                    Ok(())
                }
                Ok(_) => Ok(()),
            };
        }
        match error {
            ChannelError::TokenDead => {
                tracing::warn!(profile, "a network no longer accepts a profile's token: connect it again");
                self.profiles.token_dead(account, now).await
            }
            ChannelError::Blocked => {
                tracing::warn!(profile, "a network refuses answers as abusive: they wait for people");
                self.profiles.blocked(account, now).await
            }
            ChannelError::Throttled(until) => self.profiles.pause(account, *until).await,
            error => {
                tracing::warn!(%error, profile, "a network did not do what was asked");
                Ok(())
            }
        }
    }
}

/// Does work of one kind while there is some, for a while.
async fn for_a_while<F: Future<Output = Result<bool, StoreError>>>(work: impl Fn() -> F) -> Result<(), StoreError> {
    for _ in 0..AT_ONCE {
        if !work().await? {
            break;
        }
    }
    Ok(())
}

async fn within<T>(limit: StdDuration, call: impl Future<Output = Result<T, ChannelError>>) -> Result<T, ChannelError> {
    let late = |_| Err(ChannelError::Unavailable("no answer in time".to_owned()));
    timeout(limit, call).await.unwrap_or_else(late)
}

/// A profile with its own token. `None` where it has none that opens.
fn opened(sealer: &dyn Sealer, account: &SocialAccount) -> Option<Profile> {
    Some(with_token(account, own_token(sealer, account)?))
}

fn with_token(account: &SocialAccount, token: Secret) -> Profile {
    Profile {
        channel: account.channel,
        external_id: account.external_id.clone(),
        app_scoped_id: account.app_scoped_id.clone(),
        handle: account.handle.clone(),
        token,
    }
}

fn own_token(sealer: &dyn Sealer, account: &SocialAccount) -> Option<Secret> {
    let binding = token_binding(account.account, account.id);
    let token = sealer.open(binding, account.sealed_token.as_deref()?);
    let token = token.inspect_err(|error| tracing::error!(%error, "a profile's token cannot be opened")).ok()?;
    String::from_utf8(token).ok().map(Secret::new)
}

#[cfg(test)]
mod tests;
