//! The person's pages with their posts, and what stands below these.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use domain::social::Channel;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::comments::Comment;

/// The numbers that pages, accounts and posts are counted from.
const PAGE: u64 = 10_158_000_000_000_001;
const INSTAGRAM: u64 = 17_841_400_000_000_001;
const MEDIA: u64 = 18_000_000_000_000_001;
/// Posts of a profile.
const POSTS: u64 = 2;
/// What people write under the shop's posts, in turn.
const TEXTS: [&str; 6] = [
    "¿Cuánto cuesta este vestido?",
    "¿Hacen envíos a Córdoba?",
    "Quanto custa o frete?",
    "How much is it?",
    "Me encanta 😍",
    "Nunca me llegó el pedido",
];

/// What the stub begins with.
#[derive(Debug, Clone)]
pub struct Seed {
    pub pages: u8,
    /// Pages on which the person may not moderate.
    pub analysed_pages: u8,
    /// Comments of each profile in the last hours.
    pub comments: u8,
    pub now: OffsetDateTime,
}

pub struct Page {
    pub id: String,
    pub name: String,
    pub tasks: &'static [&'static str],
    pub instagram: String,
    pub username: String,
    /// The fields that the app is told of.
    pub subscribed: BTreeSet<String>,
}

impl Page {
    /// The profile's number on a channel.
    pub fn profile(&self, channel: Channel) -> &str {
        if channel == Channel::Facebook { &self.id } else { &self.instagram }
    }

    /// What the profile comments under.
    pub fn name(&self, channel: Channel) -> &str {
        if channel == Channel::Facebook { &self.name } else { &self.username }
    }

    pub fn posts(&self, channel: Channel) -> Vec<String> {
        let post = |number: u64| match channel {
            Channel::Facebook => format!("{}_{number}", self.id),
            _ => (MEDIA + number + (self.instagram.parse::<u64>().unwrap_or_default() - INSTAGRAM) * 100).to_string(),
        };
        (0..POSTS).map(post).collect()
    }

    /// Whether hooks tell of a channel: those of Instagram come with any subscription of the page.
    pub fn is_told(&self, channel: Channel) -> bool {
        if channel == Channel::Facebook { self.subscribed.contains("feed") } else { !self.subscribed.is_empty() }
    }
}

/// An answer that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    pub id: String,
    pub comment: String,
    pub channel: Channel,
    pub text: String,
    /// Over the API, and not by hand.
    pub is_from_app: bool,
}

pub struct World {
    pub pages: Vec<Page>,
    pub comments: Vec<Comment>,
    /// When calls were made, by profile.
    calls: BTreeMap<String, VecDeque<OffsetDateTime>>,
    numbered: u64,
}

impl World {
    pub fn new(seed: &Seed) -> Self {
        let page = |number: u64| Page {
            id: (PAGE + number).to_string(),
            name: format!("Shop {}", number + 1),
            tasks: if number < seed.pages.into() { &["ANALYZE", "MODERATE", "MANAGE"] } else { &["ANALYZE"] },
            instagram: (INSTAGRAM + number).to_string(),
            username: if number == 0 { "shop".to_owned() } else { format!("shop{}", number + 1) },
            subscribed: BTreeSet::new(),
        };
        let count = u64::from(seed.pages) + u64::from(seed.analysed_pages);
        let pages: Vec<_> = (0..count).map(page).collect();
        let mut world = Self { pages, comments: Vec::new(), calls: BTreeMap::new(), numbered: 0 };
        let profiles: Vec<_> = world
            .pages
            .iter()
            .flat_map(|page| [Channel::Instagram, Channel::Facebook].map(|channel| (channel, page.posts(channel))))
            .collect();
        for (channel, posts) in profiles {
            for (number, text) in (0..seed.comments).zip(TEXTS.iter().cycle()) {
                let post = posts.get(usize::from(number) % posts.len().max(1)).cloned();
                let age = Duration::minutes(20) * i32::from(number + 1);
                let new = super::NewComment { post, ..super::NewComment::of(channel, text) };
                world.comment(new, seed.now - age);
            }
        }
        world
    }

    /// The next number of a comment.
    pub fn next_id(&mut self, channel: Channel, post: &str) -> String {
        self.numbered += 1;
        match channel {
            Channel::Facebook => format!("{}_{}", post.rsplit('_').next().unwrap_or_default(), 770_000 + self.numbered),
            _ => (17_890_000_000_000_000 + self.numbered).to_string(),
        }
    }

    pub fn page(&self, id: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.id == id)
    }

    pub fn page_of(&self, channel: Channel, profile: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.profile(channel) == profile)
    }

    /// The channel and page of a post.
    pub fn post(&self, id: &str) -> Option<(Channel, &Page)> {
        let channels = [Channel::Instagram, Channel::Facebook];
        let of = |page, channel| Page::posts(page, channel).iter().any(|post| post == id).then_some((channel, page));
        self.pages.iter().flat_map(|page| channels.map(|channel| of(page, channel))).find_map(|found| found)
    }

    /// Counts a call for a profile; how many there were in the last hour.
    pub fn count(&mut self, profile: &str, now: OffsetDateTime) -> usize {
        let calls = self.calls.entry(profile.to_owned()).or_default();
        while calls.front().is_some_and(|at| *at <= now - Duration::HOUR) {
            calls.pop_front();
        }
        calls.push_back(now);
        calls.len()
    }

    pub fn forget_subscriptions(&mut self) {
        for page in &mut self.pages {
            page.subscribed.clear();
        }
    }

    pub fn written(&self) -> Vec<Written> {
        let answers = self.comments.iter().filter(|comment| comment.is_own);
        let written = |comment: &Comment| Written {
            id: comment.id.clone(),
            comment: comment.parent.clone().unwrap_or_default(),
            channel: comment.channel,
            text: comment.text.clone(),
            is_from_app: comment.is_from_app,
        };
        answers.map(written).collect()
    }

    pub fn ledger(&self) -> Value {
        let subscribed: BTreeMap<_, _> = self.pages.iter().map(|page| (&page.id, &page.subscribed)).collect();
        json!({ "answers": self.written(), "subscribed": subscribed })
    }
}
