//! What Meta sends, as far as it is used.

use domain::social::channels::{Comment, Shown};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::graph::instant;

#[derive(Debug, Deserialize)]
pub struct WirePost {
    pub id: String,
}

/// A page as `/me/accounts` tells it.
#[derive(Deserialize)]
pub struct WirePage {
    pub id: String,
    pub name: Option<String>,
    pub access_token: Option<String>,
    #[serde(default)]
    pub tasks: Vec<String>,
    pub instagram_business_account: Option<WireInstagram>,
}

#[derive(Deserialize)]
pub struct WireInstagram {
    pub id: String,
    pub username: Option<String>,
}

/// Whether something was done.
#[derive(Debug, Deserialize)]
pub struct Done {
    pub success: bool,
}

/// The answer to a write. An edit answers without an identifier.
#[derive(Debug, Deserialize)]
pub struct Posted {
    pub id: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Person {
    pub id: Option<String>,
    pub username: Option<String>,
    pub name: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Node {
    pub id: String,
}

/// A comment of either channel.
#[derive(Debug, Clone, Deserialize)]
pub struct WireComment {
    pub id: String,
    #[serde(alias = "message")]
    pub text: Option<String>,
    #[serde(alias = "created_time")]
    pub timestamp: Option<String>,
    pub from: Option<Person>,
    pub username: Option<String>,
    #[serde(alias = "is_hidden")]
    pub hidden: Option<bool>,
    pub media: Option<Node>,
    pub parent_id: Option<String>,
    pub parent: Option<Node>,
}

impl WireComment {
    pub fn posted_at(&self) -> Option<OffsetDateTime> {
        self.timestamp.as_deref().and_then(instant)
    }

    fn author(&self) -> (Option<String>, Option<String>) {
        let person = self.from.as_ref();
        let username = person.and_then(|person| person.username.clone().or_else(|| person.name.clone()));
        (person.and_then(|person| person.id.clone()), self.username.clone().or(username))
    }

    pub fn into_comment(self, post: Option<&str>) -> Comment {
        let (posted_at, (author_id, username)) = (self.posted_at(), self.author());
        Comment {
            external_id: self.id,
            post_id: self.media.map(|media| media.id).or_else(|| post.map(str::to_owned)),
            ad_id: None,
            parent_id: self.parent_id.or_else(|| self.parent.map(|parent| parent.id)),
            author_id,
            username,
            text: self.text.unwrap_or_default(),
            is_hidden: self.hidden.unwrap_or_default(),
            posted_at,
        }
    }

    pub fn into_shown(self) -> Shown {
        let (posted_at, (author_id, username)) = (self.posted_at(), self.author());
        Shown { external_id: self.id, author_id, username, text: self.text.unwrap_or_default(), posted_at }
    }
}
