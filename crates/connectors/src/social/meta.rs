//! Meta: comments on Instagram and on Facebook pages, over the Graph API.
//!
//! Source: developers.facebook.com, as of mid-2026. What no page settles is marked `Unverified:`.

mod api;
mod auth;
mod hooks;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use domain::social::{
    Channel,
    channels::{Change, ChannelError, Comment, Profile, Shown, SocialReplies},
};
use reqwest::Method;
use serde_json::value::RawValue;
use time::OffsetDateTime;

pub use self::hooks::MetaHooks;
use self::{
    api::Api,
    wire::{Done, Posted, WireComment, WirePost},
};
use crate::graph::Page;
pub use crate::graph::{
    VERSION,
    login::{Login, LoginConfig},
};

/// Posts that are looked at for comments, the newest.
const POSTS: &str = "25";
/// Comments of a page.
const PAGE: &str = "50";
/// Pages that are read of a post's comments: the newest come first.
const MAX_PAGES: usize = 10;
/// What hooks tell of a page. Unverified: that those of Instagram come with any subscription of the page of the account, as
/// the guide of webhooks has it.
const SUBSCRIBED: &str = "feed";

/// One channel of Meta; clones share connections and pace.
#[derive(Debug, Clone)]
pub struct Meta {
    api: Arc<Api>,
    is_facebook: bool,
}

impl Meta {
    /// Instagram and Facebook over one client.
    pub fn both(login: Login) -> [Self; 2] {
        let api = Arc::new(Api::new(login));
        [Self { api: api.clone(), is_facebook: false }, Self { api, is_facebook: true }]
    }

    const fn fields(&self) -> &'static str {
        if self.is_facebook {
            "id,message,created_time,from,is_hidden,parent"
        } else {
            "id,text,timestamp,from,username,hidden,media,parent_id"
        }
    }

    /// What answers to a comment are under.
    const fn answers(&self) -> &'static str {
        if self.is_facebook { "comments" } else { "replies" }
    }

    /// Comments under a node, the newest first, as far back as `since` where it is given: then one that cannot be read, such as a
    /// text with half a surrogate pair, costs no other. Else all are needed.
    async fn under(
        &self,
        profile: &Profile,
        path: &[&str],
        since: Option<OffsetDateTime>,
    ) -> Result<Vec<WireComment>, ChannelError> {
        let (mut found, mut after) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let mut query = vec![("fields", self.fields()), ("limit", PAGE)];
            if self.is_facebook {
                query.extend([("filter", "stream"), ("order", "reverse_chronological")]);
            }
            query.extend(after.as_deref().map(|after| ("after", after)));
            let page: Page<Box<RawValue>> = self.api.call(profile, Method::GET, path, &query, &[]).await?;
            for raw in &page.data {
                match serde_json::from_str::<WireComment>(raw.get()) {
                    Ok(comment) => found.push(comment),
                    Err(_) if since.is_some() => tracing::info!("a comment cannot be read"),
                    Err(_) => return Err(ChannelError::Malformed("a comment".to_owned())),
                }
            }
            let is_past = since.is_some_and(|since| {
                found.last().and_then(WireComment::posted_at).is_some_and(|oldest| oldest < since)
            });
            after = page.after();
            if after.is_none() || is_past {
                break;
            }
        }
        Ok(found)
    }
}

#[async_trait]
impl SocialReplies for Meta {
    fn channel(&self) -> Channel {
        if self.is_facebook { Channel::Facebook } else { Channel::Instagram }
    }

    async fn read(&self, profile: &Profile, comment: &str) -> Result<Comment, ChannelError> {
        let found: WireComment =
            self.api.call(profile, Method::GET, &[comment], &[("fields", self.fields())], &[]).await?;
        Ok(found.into_comment(None))
    }

    async fn reply(&self, profile: &Profile, comment: &str, text: &str) -> Result<String, ChannelError> {
        // Nothing but the message: with `fields` Meta was seen to write the comment and answer 400.
        let posted: Posted =
            self.api.call(profile, Method::POST, &[comment, self.answers()], &[], &[("message", text)]).await?;
        posted.id.ok_or_else(|| ChannelError::Malformed("no identifier of the answer".to_owned()))
    }

    async fn replies(&self, profile: &Profile, comment: &str) -> Result<Vec<Shown>, ChannelError> {
        let found = self.under(profile, &[comment, self.answers()], None).await?;
        Ok(found.into_iter().map(WireComment::into_shown).collect())
    }

    async fn changes(&self, profile: &Profile, since: OffsetDateTime) -> Result<Vec<Change>, ChannelError> {
        let posts = if self.is_facebook { "posts" } else { "media" };
        let query = [("fields", "id"), ("limit", POSTS)];
        let posts: Page<WirePost> =
            self.api.call(profile, Method::GET, &[&profile.external_id, posts], &query, &[]).await?;
        let (mut comments, mut refused, mut is_read) = (Vec::new(), None, false);
        for post in posts.data {
            match self.under(profile, &[&post.id, "comments"], Some(since)).await {
                Ok(found) => {
                    is_read = true;
                    let recent = found.into_iter().filter(|comment| comment.posted_at().is_none_or(|at| at >= since));
                    comments.extend(recent.map(|comment| comment.into_comment(Some(&post.id))));
                }
                // It was deleted meanwhile, is of a kind whose comments are not shown, or fails again and again: those of the
                // others are read. What passes within an hour loses nothing: each poll reads an hour twice.
                Err(
                    error @ (ChannelError::NotFound
                    | ChannelError::Rejected(_)
                    | ChannelError::Unavailable(_)
                    | ChannelError::Malformed(_)),
                ) => {
                    tracing::info!(%error, post = post.id, "comments on a post cannot be read");
                    refused = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(error) = refused.filter(|_| !is_read) {
            return Err(error);
        }
        // A thread begins before it is answered.
        comments.sort_by_key(|comment| comment.posted_at);
        Ok(comments.into_iter().map(Change::Posted).collect())
    }

    async fn subscribe(&self, profile: &Profile, page: &str) -> Result<(), ChannelError> {
        let form = [("subscribed_fields", SUBSCRIBED)];
        done(self.api.call(profile, Method::POST, &[page, "subscribed_apps"], &[], &form).await?)
    }

    async fn unsubscribe(&self, profile: &Profile, page: &str) -> Result<(), ChannelError> {
        done(self.api.call(profile, Method::DELETE, &[page, "subscribed_apps"], &[], &[]).await?)
    }
}

fn done(Done { success }: Done) -> Result<(), ChannelError> {
    if success { Ok(()) } else { Err(ChannelError::Rejected("it says that it did not do it".to_owned())) }
}

#[cfg(test)]
mod tests {
    use domain::shops::Secret;
    use time::macros::datetime;

    use super::*;
    use crate::shops::{AppCredentials, answering::answering};

    const MEDIA: (&str, &str) = ("200 OK", r#"{"data":[{"id":"1"},{"id":"2"},{"id":"3"}]}"#);
    const COMMENTS: (&str, &str) =
        ("200 OK", r#"{"data":[{"id":"21","text":"hi","timestamp":"2026-11-24T10:00:00+0000"}]}"#);
    const BROKEN: (&str, &str) = ("502 Bad Gateway", "<html>");
    /// Comments that are none.
    const UNREADABLE: (&str, &str) = ("200 OK", r#"{"data":7}"#);

    async fn read(answer: fn(&str) -> (&'static str, &'static str)) -> Result<Vec<Change>, ChannelError> {
        let (address, _) = answering(answer).await;
        let app = AppCredentials { client_id: "1".to_owned(), client_secret: "secret".into(), previous_secret: None };
        let login = Login::new(LoginConfig { app, api_url: address.clone(), login_url: address }).unwrap();
        let [instagram, _] = Meta::both(login);
        let profile = Profile {
            channel: Channel::Instagram,
            external_id: "178".to_owned(),
            app_scoped_id: None,
            handle: None,
            token: Secret::new("token".to_owned()),
        };
        instagram.changes(&profile, datetime!(2026-11-20 0:00 UTC)).await
    }

    #[tokio::test]
    async fn a_post_or_a_comment_that_fails_keeps_no_other_comment_from_being_read() {
        let read_one = read(|request| match request {
            request if request.contains("/178/media?") => MEDIA,
            request if request.contains("/1/comments?") => BROKEN,
            request if request.contains("/2/comments?") => COMMENTS,
            _ => UNREADABLE,
        });
        let changes = read_one.await.unwrap();
        let [Change::Posted(comment)] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!((comment.external_id.as_str(), comment.post_id.as_deref()), ("21", Some("2")));
        let some_unreadable = read(|request| match request {
            request if request.contains("/178/media?") => ("200 OK", r#"{"data":[{"id":"1"}]}"#),
            _ => (
                "200 OK",
                r#"{"data":[{"id":[]},{"id":"20","text":"\ud83d"},
                    {"id":"21","text":"hi","timestamp":"2026-11-24T10:00:00+0000"}]}"#,
            ),
        });
        let changes = some_unreadable.await.unwrap();
        let [Change::Posted(comment)] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!(comment.external_id, "21");
        let read_none = read(|request| if request.contains("/178/media?") { MEDIA } else { BROKEN });
        assert!(matches!(read_none.await, Err(ChannelError::Unavailable(_))));
    }
}
