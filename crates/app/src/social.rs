//! The worker behind conversations: hooks are read, comments decided about, answers sent once, and what no hook told of is
//! polled.

mod deliver;
pub mod profiles;

use std::{collections::HashMap, sync::Arc, time::Duration as StdDuration};

use domain::{
    StoreError,
    accounts::{AccountStore, Mode},
    sealing::Sealer,
    shops::Secret,
    social::{
        Channel, Decision, Situation, Tongue,
        channels::{Change, ChannelError, Profile, SocialInbox, SocialReplies},
        classify, decide,
        profiles::{SUBSCRIBE_AGAIN, SUBSCRIBE_EVERY},
        replies::{HookLog, Intake, ProfileStore, ReplyQueue, SocialAccount, Undecided, token_binding},
    },
    zone::Zone,
};
use time::{Duration, OffsetDateTime};

use crate::{deliveries::Clock, outage};

/// How often the worker looks.
const EVERY: StdDuration = StdDuration::from_millis(500);
/// How often a profile is polled.
const POLL_EVERY: Duration = Duration::minutes(5);
/// How far back the first poll of a profile reads, and how much each further one reads twice.
const POLL_FIRST: Duration = Duration::hours(24);
const POLL_OVERLAP: Duration = Duration::hours(1);
/// Of each kind of work at a time, so that none keeps the others waiting.
const AT_ONCE: usize = 50;

/// The worker and its ports.
#[derive(Clone)]
pub struct SocialWorker {
    pub hooks: Arc<dyn HookLog>,
    pub profiles: Arc<dyn ProfileStore>,
    pub intake: Arc<dyn Intake>,
    pub queue: Arc<dyn ReplyQueue>,
    pub accounts: Arc<dyn AccountStore>,
    pub sealer: Arc<dyn Sealer>,
    pub inbox: Arc<dyn SocialInbox>,
    pub networks: HashMap<Channel, Arc<dyn SocialReplies>>,
    /// Whether the networks are stand-ins: for sandboxes nothing is posted elsewhere.
    pub is_stand_in: bool,
    /// Whether the bot may answer by itself at all.
    pub is_enabled: bool,
    pub clock: Clock,
    pub random: Arc<dyn Fn() -> u8 + Send + Sync>,
}

impl SocialWorker {
    fn now(&self) -> OffsetDateTime {
        (self.clock)()
    }

    /// Works until the process stops.
    pub async fn run(self, stopped: impl Future<Output = ()>) {
        tokio::pin!(stopped);
        loop {
            if let Err(error) = self.tick().await {
                outage::warn(&error, "conversations wait; trying again");
            }
            tokio::select! {
                () = &mut stopped => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Does what is due.
    ///
    /// # Errors
    /// Trouble with the database; what was taken is taken again later.
    pub async fn tick(&self) -> Result<(), StoreError> {
        self.intake.wake(self.now()).await?;
        for _ in 0..AT_ONCE {
            if !self.read_hook().await? {
                break;
            }
        }
        for _ in 0..AT_ONCE {
            if !self.decide_next().await? {
                break;
            }
        }
        for _ in 0..AT_ONCE {
            if !self.deliver_next().await? {
                break;
            }
        }
        self.poll().await
    }

    /// Takes the oldest hook in. Whether there was one.
    async fn read_hook(&self) -> Result<bool, StoreError> {
        let Some(hook) = self.hooks.take_hook(self.now()).await? else { return Ok(false) };
        for batch in self.inbox.parse(&hook.body) {
            match self.profiles.owner(batch.channel, &batch.profile).await? {
                Some(profile) => {
                    self.intake.take_in(&profile, batch.changes, hook.received_at).await?;
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

    /// Decides about the comment that has waited longest. Whether there was one.
    async fn decide_next(&self) -> Result<bool, StoreError> {
        let now = self.now();
        let Some(undecided) = self.intake.undecided(now).await? else { return Ok(false) };
        let account = self.accounts.find(undecided.account).await?;
        let account = account.ok_or_else(|| StoreError::Internal("the account of a comment is gone".into()))?;
        let text = undecided.text.as_deref().unwrap_or_default();
        let classified = classify(text);
        let (zone, language) = (&account.timezone, Tongue::from(account.locale.language));
        let decision = decide(&self.situation(&undecided, (zone, language), &classified, now));
        let decision = match decision {
            // Nothing is posted for a sandbox.
            Decision::Send { choice, .. } if account.mode == Mode::Test && !self.is_stand_in => {
                Decision::DryRun { choice }
            }
            other => other,
        };
        metrics::counter!("social_decisions_total", "category" => classified.category.as_str()).increment(1);
        self.intake.decided(&undecided, &classified, decision, now).await?;
        Ok(true)
    }

    fn situation<'a>(
        &self,
        undecided: &'a Undecided,
        (zone, language): (&'a Zone, Tongue),
        classified: &'a domain::social::Classified,
        now: OffsetDateTime,
    ) -> Situation<'a> {
        Situation {
            now,
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
            templates: &undecided.templates,
            language,
            random: (self.random)(),
        }
    }

    /// Reads what no hook told of, for one profile that is due.
    async fn poll(&self) -> Result<(), StoreError> {
        let now = self.now();
        let Some(account) = self.profiles.take_poll(now, POLL_EVERY).await? else { return Ok(()) };
        if account.waits_until(now).is_some() {
            return Ok(());
        }
        let Some((network, profile)) = self.opened(&account) else { return Ok(()) };
        self.subscribe(&account, (network, &profile)).await?;
        let since = account.last_poll_at.map_or(now - POLL_FIRST, |last| last - POLL_OVERLAP);
        match network.comments(&profile, since).await {
            Ok(comments) => {
                let changes = comments.into_iter().map(Change::Posted).collect();
                let news = self.intake.take_in(&account, changes, now).await?;
                metrics::counter!("social_comments_polled_total").increment(news);
                self.profiles.polled(&account, now).await
            }
            Err(error) => self.note(&account, &error).await,
        }
    }

    /// The network of a profile, and the profile with its token. `None` where there is no way to act for it.
    fn opened(&self, account: &SocialAccount) -> Option<(&Arc<dyn SocialReplies>, Profile)> {
        Some((self.networks.get(&account.channel)?, opened(&*self.sealer, account)?))
    }

    /// Has the network go on sending hooks: it drops a subscription without a word.
    async fn subscribe(
        &self,
        account: &SocialAccount,
        (network, profile): (&Arc<dyn SocialReplies>, &Profile),
    ) -> Result<(), StoreError> {
        let now = self.now();
        let Some(page) = account.page_to_subscribe(now) else { return Ok(()) };
        let (is_done, again_at) = match network.subscribe(profile, page).await {
            Ok(()) => (true, now + SUBSCRIBE_EVERY),
            Err(error) => {
                tracing::warn!(%error, profile = account.id.0, "a network does not send hooks of a profile");
                (false, now + SUBSCRIBE_AGAIN)
            }
        };
        self.profiles.subscribed(account, is_done, again_at, now).await
    }

    /// Notes what a failure says about the profile itself.
    async fn note(&self, account: &SocialAccount, error: &ChannelError) -> Result<(), StoreError> {
        let (now, profile) = (self.now(), account.id.0);
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

/// A profile with its token. `None` where it has none that opens.
fn opened(sealer: &dyn Sealer, account: &SocialAccount) -> Option<Profile> {
    let binding = token_binding(account.account, account.id);
    let token = sealer.open(binding, account.sealed_token.as_deref()?);
    let token = token.inspect_err(|error| tracing::error!(%error, "a profile's token cannot be opened")).ok()?;
    Some(Profile {
        channel: account.channel,
        external_id: account.external_id.clone(),
        app_scoped_id: account.app_scoped_id.clone(),
        handle: account.handle.clone(),
        token: Secret::new(String::from_utf8(token).ok()?),
    })
}
