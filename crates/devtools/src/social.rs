//! A fake of the Graph API for comments, as strict as the real one: one person with pages, each with an account on Instagram.
//! Beside `/_stub` of all [fakes](crate::shops) it has:
//!
//! ```text
//! POST /_stub/comment  {"channel", "text", "profile"?, "post"?, "parent"?, "author"?, "username"?, "id"?}: somebody comments,
//!                      and hooks tell of it; {"id"}
//! POST /_stub/act      {"action": "edit", "id", "text"}, {"action": "hide" | "show" | "delete", "id"},
//!                      {"action": "answer", "id", "text"}: somebody of the shop answers on the network itself
//! GET  /_stub/ledger   {"answers": [{"id", "comment", "channel", "text", "is_from_app"}], "subscribed": {PAGE: [FIELD]}}:
//!                      what was really written
//! POST /_stub/notify   {"url"}: where hooks go; the address is confirmed before the first one
//! ```

mod args;
mod comments;
mod hooks;
mod http;
mod world;

use std::{
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use actix_web::dev::Server;
use domain::social::Channel;
use secrecy::SecretString;
use time::{Duration, OffsetDateTime};
use tokio::sync::Notify;

pub use self::{
    args::SocialArgs,
    comments::{Deed, NewComment},
    world::{Seed, Written},
};
use self::{hooks::Hooks, world::World};
use crate::{
    graph::oauth::{App, Grants},
    shops::{Common, Stub, clock::Change, ledger::Truth},
};

/// The app that the stub knows.
#[derive(Debug, Clone)]
pub struct SocialConfig {
    pub app_id: String,
    pub app_secret: SecretString,
    /// What the app's address for hooks is confirmed with.
    pub verify_token: SecretString,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// Where hooks go; `None`: nowhere yet.
    pub notify: Option<String>,
    /// Calls that a profile may have made for it in an hour.
    pub calls_per_hour: usize,
    pub seed: Seed,
}

impl SocialConfig {
    fn app(&self) -> App<'_> {
        App { id: &self.app_id, secret: &self.app_secret, redirect_uris: &self.redirect_uris }
    }
}

struct Inner {
    world: World,
    grants: Grants,
}

struct Shared {
    config: SocialConfig,
    common: Common,
    hooks: Hooks,
    hung: Notify,
    inner: Mutex<Inner>,
}

/// The stub; cloning shares it.
#[derive(Clone)]
pub struct Social(Arc<Shared>);

impl Social {
    /// Its clock runs on from the instant of the seed.
    ///
    /// # Errors
    /// When no HTTP client can be set up.
    pub fn new(config: SocialConfig) -> anyhow::Result<Self> {
        let common = Common::running_from(config.seed.now);
        let hooks = Hooks::new(&config)?;
        let inner = Inner { world: World::new(&config.seed), grants: Grants::default() };
        Ok(Self(Arc::new(Shared { config, common, hooks, hung: Notify::new(), inner: Mutex::new(inner) })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> OffsetDateTime {
        self.0.common.clock.now()
    }

    /// Stops the clock, and sets it forward.
    pub fn pass(&self, time: Duration) {
        let at = Some(self.now() + time);
        self.0.common.clock.change(&Change { at, ..Change::default() });
    }

    /// A fault for the next answers, as by `/_stub/fault`.
    pub fn fail_next(&self, fault: &'static str, value: u64) {
        self.0.common.faults.set(fault, 1, value);
    }

    /// Waits until a call hangs.
    pub async fn hung(&self) {
        self.0.hung.notified().await;
    }

    /// Somebody comments; the comment's identifier. `None`: there is no such profile, post or comment.
    pub fn comment(&self, new: NewComment) -> Option<String> {
        let (id, event) = self.inner().world.comment(new, self.now())?;
        self.tell(event);
        Some(id)
    }

    /// Something happens to a comment. False: there is no such comment.
    pub fn happens(&self, deed: Deed) -> bool {
        let Some(event) = self.inner().world.happens(deed, self.now()) else { return false };
        self.tell(event);
        true
    }

    /// Answers that were really written.
    pub fn written(&self) -> Vec<Written> {
        self.inner().world.written()
    }

    /// A token of the page of a profile, as after a person granted all that its channel needs.
    pub fn page_token(&self, channel: Channel, profile: &str) -> Option<String> {
        let mut inner = self.inner();
        let page = inner.world.page_of(channel, profile)?.id.clone();
        Some(inner.grants.grant_all(http::SCOPES, &page))
    }

    /// Whether hooks tell of a profile.
    pub fn is_told(&self, channel: Channel, profile: &str) -> bool {
        self.inner().world.page_of(channel, profile).is_some_and(|page| page.is_told(channel))
    }

    /// Hooks of every page end, as when the network loses a subscription.
    pub fn forget_subscriptions(&self) {
        self.inner().world.forget_subscriptions();
    }

    fn tell(&self, event: Option<serde_json::Value>) {
        if let Some(event) = event {
            self.0.hooks.tell(&self.0.common.faults, event);
        }
    }

    /// The server on `listener`, not yet running: await it.
    ///
    /// # Errors
    /// When the listener cannot be used.
    pub fn server(&self, listener: TcpListener) -> std::io::Result<Server> {
        http::server(self.clone(), listener)
    }
}

impl Stub for Social {
    fn common(&self) -> &Common {
        &self.0.common
    }

    fn faults(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("write_then_400", "an answer is written, and refused with code 100"),
            ("refuse_400", "an answer is not written, and refused with code 100"),
            ("lost_before", "an answer is not written, and the connection breaks off"),
            ("lost_after", "an answer is written, and the connection breaks off"),
            ("lag", "an answer is written, the connection breaks off, and for `value` seconds it is not listed"),
            ("hang_before", "an answer is not written, and the call is never answered"),
            ("hang_after", "an answer is written, and the call is never answered"),
            ("token_dead", "with the next answer all tokens end"),
            ("blocked", "an answer is refused as abusive"),
            ("post_refused", "the comments on a post are refused with code 100"),
            ("usage", "the next call says that `value` percent of the budget are used"),
            ("decline", "the person does not agree"),
            ("withhold", "the person agrees, but for the permission at place `value` of the dialog"),
            ("hook_forged", "a hook is signed with another secret"),
            ("revoke", "at once: no token is good any more, as after a new password"),
        ]
    }

    fn act(&self, name: &str, _: u64) -> bool {
        let is_known = name == "revoke";
        if is_known {
            self.inner().grants.revoke();
        }
        is_known
    }

    /// Nothing is sold there.
    fn truth(&self, _: Option<&str>) -> Option<Truth> {
        None
    }
}
