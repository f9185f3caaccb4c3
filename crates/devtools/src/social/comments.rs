//! Comments: what happens to them, and how the API and hooks tell of them.

use domain::social::Channel;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use time::{Duration, OffsetDateTime, macros::format_description};

use super::world::{Page, World};
use crate::graph::Answer;

/// Characters of a comment. Unverified: for Facebook.
pub const MAX_CHARS: usize = 2_200;

#[derive(Debug, Clone)]
pub struct Comment {
    pub id: String,
    pub channel: Channel,
    /// The number of the profile under whose post it stands.
    pub profile: String,
    pub post: String,
    /// The comment that it answers.
    pub parent: Option<String>,
    pub author: String,
    pub username: String,
    pub text: String,
    pub created: OffsetDateTime,
    /// From when on it is listed.
    pub visible_at: OffsetDateTime,
    pub is_hidden: bool,
    /// The profile's own.
    pub is_own: bool,
    /// Written over the API.
    pub is_from_app: bool,
}

/// What somebody writes under a post: of the first profile, its first post, unless it says otherwise.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewComment {
    pub channel: Channel,
    pub text: String,
    pub id: Option<String>,
    pub profile: Option<String>,
    pub post: Option<String>,
    pub parent: Option<String>,
    pub author: Option<String>,
    pub username: Option<String>,
}

impl NewComment {
    pub fn of(channel: Channel, text: &str) -> Self {
        let text = text.to_owned();
        Self { channel, text, id: None, profile: None, post: None, parent: None, author: None, username: None }
    }
}

/// What happens to a comment beside the API.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Deed {
    Edit { id: String, text: String },
    Hide { id: String },
    Show { id: String },
    Delete { id: String },
    Answer { id: String, text: String },
}

fn written(at: OffsetDateTime) -> Option<String> {
    at.format(format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]+0000")).ok()
}

impl Comment {
    /// Fields of the API; of an unknown one its name.
    pub fn shown(&self, fields: &str) -> Result<Value, Answer> {
        let is_facebook = self.channel == Channel::Facebook;
        let mut shown = Map::new();
        // The identifier is always told.
        for field in ["id"].into_iter().chain(fields.split(',')) {
            let value = match (is_facebook, field) {
                (_, "id") => json!(self.id),
                (false, "text") | (true, "message") => json!(self.text),
                (false, "timestamp") | (true, "created_time") => json!(written(self.created)),
                (false, "from") => json!({ "id": self.author, "username": self.username }),
                (true, "from") => json!({ "id": self.author, "name": self.username }),
                (false, "username") => json!(self.username),
                (false, "hidden") | (true, "is_hidden") => json!(self.is_hidden),
                (false, "media") => json!({ "id": self.post }),
                // What begins a thread has none.
                (false, "parent_id") if self.parent.is_none() => continue,
                (false, "parent_id") => json!(self.parent),
                (true, "parent") if self.parent.is_none() => continue,
                (true, "parent") => json!({ "id": self.parent, "message": "" }),
                _ => return Err(Answer::invalid(&format!("Tried accessing nonexisting field ({field})"))),
            };
            shown.insert(field.to_owned(), value);
        }
        Ok(Value::Object(shown))
    }

    /// The hook that tells of it. Of what becomes of a comment on Instagram none does.
    fn event(&self, page: &Page, verb: &str, now: OffsetDateTime) -> Option<Value> {
        if !page.is_told(self.channel) {
            return None;
        }
        let (object, field, value) = match (self.channel, verb) {
            (Channel::Facebook, verb) => {
                let mut value = json!({
                    "item": "comment", "verb": verb, "comment_id": self.id, "post_id": self.post,
                    "parent_id": self.parent.as_ref().unwrap_or(&self.post),
                    "from": { "id": self.author, "name": self.username },
                    "created_time": self.created.unix_timestamp(),
                    "post": { "id": self.post, "status_type": "added_photos", "is_published": true },
                });
                if let (Some(value), "add" | "edited") = (value.as_object_mut(), verb) {
                    value.insert("message".to_owned(), json!(self.text));
                }
                ("page", "feed", value)
            }
            (_, "add") => {
                let mut value = json!({
                    "id": self.id, "text": self.text, "from": { "id": self.author, "username": self.username },
                    "media": { "id": self.post, "media_product_type": "FEED" },
                });
                if let (Some(value), Some(parent)) = (value.as_object_mut(), &self.parent) {
                    value.insert("parent_id".to_owned(), json!(parent));
                }
                ("instagram", "comments", value)
            }
            _ => return None,
        };
        let change = json!({ "field": field, "value": value });
        let entry = json!({ "id": self.profile, "time": now.unix_timestamp(), "changes": [change] });
        Some(json!({ "object": object, "entry": [entry] }))
    }
}

impl World {
    /// The comment with its page.
    pub fn find(&self, id: &str) -> Option<(&Comment, &Page)> {
        let comment = self.comments.iter().find(|comment| comment.id == id)?;
        Some((comment, self.page_of(comment.channel, &comment.profile)?))
    }

    /// Somebody comments: its identifier, and the hook. `None`: there is no such place.
    pub fn comment(&mut self, new: NewComment, now: OffsetDateTime) -> Option<(String, Option<Value>)> {
        let NewComment { channel, text, id, profile, post, parent, author, username } = new;
        let page = match (&profile, &post) {
            (Some(profile), _) => self.page_of(channel, profile)?,
            (None, Some(post)) => self.post(post)?.1,
            (None, None) => self.pages.first()?,
        };
        let (profile, posts) = (page.profile(channel).to_owned(), page.posts(channel));
        let post = match post {
            Some(post) => posts.into_iter().find(|known| *known == post)?,
            None => posts.into_iter().next()?,
        };
        if parent.as_ref().is_some_and(|parent| self.find(parent).is_none()) {
            return None;
        }
        let id = id.unwrap_or_else(|| self.next_id(channel, &post));
        // Told again it is another one of the same number.
        self.comments.retain(|comment| comment.id != id);
        let comment = Comment {
            id,
            channel,
            profile,
            post,
            parent,
            author: author.unwrap_or_else(|| "1000001".to_owned()),
            username: username.unwrap_or_else(|| "ana".to_owned()),
            text,
            created: now,
            visible_at: now,
            is_hidden: false,
            is_own: false,
            is_from_app: false,
        };
        Some(self.add(comment, now))
    }

    fn add(&mut self, comment: Comment, now: OffsetDateTime) -> (String, Option<Value>) {
        let page = self.page_of(comment.channel, &comment.profile);
        let event = page.and_then(|page| comment.event(page, "add", now));
        let id = comment.id.clone();
        self.comments.push(comment);
        (id, event)
    }

    /// The profile answers a comment. On Instagram an answer to an answer goes to what began the thread.
    pub fn answer(
        &mut self,
        id: &str,
        text: &str,
        is_from_app: bool,
        lag: Duration,
        now: OffsetDateTime,
    ) -> Option<(String, Option<Value>)> {
        let (comment, page) = self.find(id)?;
        let (channel, post, profile) = (comment.channel, comment.post.clone(), comment.profile.clone());
        let parent = match &comment.parent {
            Some(parent) if channel != Channel::Facebook => parent.clone(),
            _ => comment.id.clone(),
        };
        let username = page.name(channel).to_owned();
        let answer = Comment {
            id: self.next_id(channel, &post),
            channel,
            author: profile.clone(),
            profile,
            post,
            parent: Some(parent),
            username,
            text: text.to_owned(),
            created: now,
            visible_at: now + lag,
            is_hidden: false,
            is_own: true,
            is_from_app,
        };
        Some(self.add(answer, now))
    }

    /// The hook of what happened, if one tells of it; `None`: there is no such comment.
    pub fn happens(&mut self, deed: Deed, now: OffsetDateTime) -> Option<Option<Value>> {
        let (id, verb) = match &deed {
            Deed::Answer { id, text } => return Some(self.answer(id, text, false, Duration::ZERO, now)?.1),
            Deed::Edit { id, .. } => (id, "edited"),
            Deed::Hide { id } => (id, "hide"),
            Deed::Show { id } => (id, "unhide"),
            Deed::Delete { id } => (id, "remove"),
        };
        let place = self.comments.iter().position(|comment| comment.id == *id)?;
        let comment = self.comments.get_mut(place)?;
        match &deed {
            Deed::Edit { text, .. } => comment.text.clone_from(text),
            Deed::Hide { .. } => comment.is_hidden = true,
            Deed::Show { .. } => comment.is_hidden = false,
            Deed::Delete { .. } | Deed::Answer { .. } => {}
        }
        let comment = comment.clone();
        if matches!(deed, Deed::Delete { .. }) {
            self.comments.retain(|known| known.id != comment.id && known.parent.as_ref() != Some(&comment.id));
        }
        let page = self.page_of(comment.channel, &comment.profile)?;
        Some(comment.event(page, verb, now))
    }
}
