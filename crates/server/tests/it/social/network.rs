//! A network that does what it is told to, and knows what was really written.

use std::{future::pending, sync::Mutex};

use async_trait::async_trait;
use domain::social::{
    Channel,
    channels::{Change, ChannelError, Comment, Profile, Shown, SocialReplies},
};
use time::{Duration, OffsetDateTime};
use tokio::sync::Notify;

/// What happens to the next answer that is posted, or to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    WriteThen400,
    WriteThenTimeout,
    Refuse400,
    LostBefore,
    /// It is written, the answer is lost, and for so long it is not listed.
    Lag(Duration),
    HangBefore,
    HangAfter,
    TokenDead,
    Blocked,
}

struct Written {
    comment: String,
    is_bot: bool,
    shown: Shown,
    visible_at: OffsetDateTime,
}

struct World {
    now: OffsetDateTime,
    fault: Fault,
    token_is_dead: bool,
    comments: Vec<Comment>,
    written: Vec<Written>,
}

pub struct Network {
    world: Mutex<World>,
    /// A call hangs.
    pub hung: Notify,
}

impl Network {
    pub fn new(now: OffsetDateTime) -> Self {
        let world = World { now, fault: Fault::None, token_is_dead: false, comments: vec![], written: vec![] };
        Self { world: Mutex::new(world), hung: Notify::new() }
    }

    pub fn now(&self) -> OffsetDateTime {
        self.world.lock().unwrap().now
    }

    pub fn pass(&self, time: Duration) {
        self.world.lock().unwrap().now += time;
    }

    pub fn fail_next(&self, fault: Fault) {
        self.world.lock().unwrap().fault = fault;
    }

    /// Somebody comments, or changes the comment.
    pub fn comment(&self, id: &str, author: &str, text: &str) {
        let mut world = self.world.lock().unwrap();
        world.comments.retain(|comment| comment.external_id != id);
        let posted_at = Some(world.now);
        world.comments.push(Comment {
            external_id: id.to_owned(),
            post_id: Some("18".to_owned()),
            ad_id: None,
            parent_id: None,
            author_id: Some(author.to_owned()),
            username: Some("ana".to_owned()),
            text: text.to_owned(),
            is_hidden: false,
            posted_at,
        });
    }

    pub fn delete(&self, id: &str) {
        self.world.lock().unwrap().comments.retain(|comment| comment.external_id != id);
    }

    pub fn hide(&self, id: &str) {
        let mut world = self.world.lock().unwrap();
        world.comments.iter_mut().filter(|comment| comment.external_id == id).for_each(|c| c.is_hidden = true);
    }

    /// Somebody of the shop answers on the network itself.
    pub fn answer_by_hand(&self, comment: &str, text: &str) {
        self.world.lock().unwrap().write(comment, text, false, Duration::ZERO);
    }

    /// Answers that were written.
    pub fn written(&self) -> usize {
        self.world.lock().unwrap().written.len()
    }

    /// Those that the bot wrote.
    pub fn bots(&self) -> usize {
        self.world.lock().unwrap().written.iter().filter(|written| written.is_bot).count()
    }

    async fn hang<T>(&self) -> T {
        self.hung.notify_one();
        pending().await
    }
}

impl World {
    fn write(&mut self, comment: &str, text: &str, is_bot: bool, lag: Duration) -> String {
        let external_id = format!("9{}", self.written.len());
        let shown = Shown {
            external_id: external_id.clone(),
            author_id: Some("17841400000000001".to_owned()),
            username: Some("shop".to_owned()),
            text: text.to_owned(),
            posted_at: Some(self.now),
        };
        let visible_at = self.now + lag;
        self.written.push(Written { comment: comment.to_owned(), is_bot, shown, visible_at });
        external_id
    }

    fn check(&self) -> Result<(), ChannelError> {
        if self.token_is_dead { Err(ChannelError::TokenDead) } else { Ok(()) }
    }
}

#[async_trait]
impl SocialReplies for Network {
    fn channel(&self) -> Channel {
        Channel::Instagram
    }

    async fn read(&self, _: &Profile, id: &str) -> Result<Comment, ChannelError> {
        let world = self.world.lock().unwrap();
        world.check()?;
        let found = world.comments.iter().find(|comment| comment.external_id == id);
        found.cloned().ok_or(ChannelError::NotFound)
    }

    async fn reply(&self, _: &Profile, comment: &str, text: &str) -> Result<String, ChannelError> {
        let fault = std::mem::replace(&mut self.world.lock().unwrap().fault, Fault::None);
        let write = |lag| self.world.lock().unwrap().write(comment, text, true, lag);
        let lost = || ChannelError::Unavailable("lost".to_owned());
        match fault {
            Fault::None => Ok(write(Duration::ZERO)),
            Fault::WriteThen400 => {
                write(Duration::ZERO);
                Err(ChannelError::Rejected("code 100".to_owned()))
            }
            Fault::Refuse400 => Err(ChannelError::Rejected("code 100".to_owned())),
            Fault::WriteThenTimeout => {
                write(Duration::ZERO);
                Err(lost())
            }
            Fault::LostBefore => Err(lost()),
            Fault::Lag(lag) => {
                write(lag);
                Err(lost())
            }
            Fault::HangBefore => self.hang().await,
            Fault::HangAfter => {
                write(Duration::ZERO);
                self.hang().await
            }
            Fault::TokenDead => {
                self.world.lock().unwrap().token_is_dead = true;
                Err(ChannelError::TokenDead)
            }
            Fault::Blocked => Err(ChannelError::Blocked),
        }
    }

    async fn replies(&self, _: &Profile, comment: &str) -> Result<Vec<Shown>, ChannelError> {
        let world = self.world.lock().unwrap();
        world.check()?;
        let visible =
            world.written.iter().filter(|written| written.comment == comment && written.visible_at <= world.now);
        Ok(visible.map(|written| written.shown.clone()).collect())
    }

    async fn changes(&self, _: &Profile, since: OffsetDateTime) -> Result<Vec<Change>, ChannelError> {
        let world = self.world.lock().unwrap();
        world.check()?;
        let recent = world.comments.iter().filter(|comment| comment.posted_at.is_some_and(|at| at >= since));
        Ok(recent.cloned().map(Change::Posted).collect())
    }
}
