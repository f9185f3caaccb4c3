//! Questions about listings, and the one answer that each may have.
//!
//! An answer has no number of its own: it is told by its question's.

use async_trait::async_trait;
use domain::{
    shops::{Access, ShopError},
    social::{
        Channel,
        channels::{Change, ChannelError, Comment, Profile, Shown, SocialReplies},
    },
};
use serde_json::{json, value::RawValue};
use time::{Duration, OffsetDateTime};

use super::{
    Mercadolibre,
    wire::{Question, QuestionAnswer, Questions},
};

/// The form of questions that is read.
const VERSION: (&str, &str) = ("api_version", "4");
/// Questions of a page.
const PAGE: usize = 50;
/// Pages that are read at most, the newest question first: the search gives no more than 1,000.
const MAX_PAGES: usize = 10;
/// How far back questions are read again: the search tells when one was asked, not when it was answered or closed.
const REREAD: Duration = Duration::days(7);
/// What answers are called.
const ANSWER: &str = "answer/";
/// Unverified: the code of an answer to a question that has one, or can have none any more. No page has it; people report it.
const ANSWERED: &str = "not_unanswered_question";

/// What a status says about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Shown,
    /// Nobody sees it, or it can have no answer any more.
    Hidden,
    Deleted,
    /// To be decided by Mercado Libre. Unverified: whether it is shown again; until then it is as if it were not there.
    Pending,
}

impl State {
    fn of(status: &str) -> Self {
        match status {
            "UNANSWERED" | "ANSWERED" => Self::Shown,
            "BANNED" | "CLOSED_UNANSWERED" | "DISABLED" => Self::Hidden,
            "DELETED" => Self::Deleted,
            // `UNDER_REVIEW`, and what no page names.
            _ => Self::Pending,
        }
    }
}

/// What an answer to a question is called.
fn answer_to(question: &str) -> String {
    format!("{ANSWER}{question}")
}

fn comment(question: &Question) -> Comment {
    Comment {
        external_id: question.id.0.clone(),
        post_id: question.item_id.as_ref().map(|item| item.0.clone()),
        ad_id: None,
        parent_id: None,
        author_id: question.from.as_ref().and_then(|from| from.id.as_ref()).map(|id| id.0.clone()),
        username: None,
        text: question.text.clone().unwrap_or_default(),
        is_hidden: State::of(&question.status) != State::Shown,
        posted_at: Some(question.date_created.0),
    }
}

/// The answer to a question. Of one that Mercado Libre banned the text is empty.
fn shown(question: &Question) -> Option<Shown> {
    let QuestionAnswer { text, date_created, .. } = question.answer.as_ref()?;
    Some(Shown {
        external_id: answer_to(&question.id.0),
        author_id: Some(question.seller_id.0.clone()),
        username: None,
        text: text.clone().unwrap_or_default(),
        posted_at: date_created.map(|at| at.0),
    })
}

/// What a question tells: it itself, before its answer.
fn changes(question: &Question) -> Vec<Change> {
    match State::of(&question.status) {
        State::Pending => Vec::new(),
        State::Deleted => vec![Change::Removed(question.id.0.clone())],
        State::Hidden => vec![Change::Hidden(question.id.0.clone())],
        State::Shown => {
            let is_active = |answer: &QuestionAnswer| answer.status.as_deref().is_none_or(|status| status == "ACTIVE");
            let answer = shown(question).map(|Shown { external_id, author_id, username, text, posted_at }| {
                Change::Posted(Comment {
                    external_id,
                    post_id: question.item_id.as_ref().map(|item| item.0.clone()),
                    ad_id: None,
                    parent_id: Some(question.id.0.clone()),
                    author_id,
                    username,
                    text,
                    is_hidden: !question.answer.as_ref().is_some_and(is_active),
                    posted_at,
                })
            });
            std::iter::once(Change::Posted(comment(question))).chain(answer).collect()
        }
    }
}

fn failed(error: ShopError) -> ChannelError {
    match error {
        ShopError::Unauthorized => ChannelError::TokenDead,
        ShopError::MissingScope(_) => ChannelError::Forbidden,
        ShopError::Throttled(until) => ChannelError::Throttled(until),
        ShopError::NotFound => ChannelError::NotFound,
        ShopError::Rejected(code) if code.ends_with(ANSWERED) => ChannelError::Answered,
        // The token lacks `write`, or the question is another seller's.
        ShopError::Rejected(code) if code.starts_with("403") => ChannelError::Forbidden,
        ShopError::Rejected(code) => ChannelError::Rejected(code),
        ShopError::TooMany => ChannelError::Rejected("too many".to_owned()),
        ShopError::Malformed(what) => ChannelError::Malformed(what),
        // The app is blocked for a while: that says nothing about the answer.
        error @ (ShopError::Suspended | ShopError::Unavailable(_)) => ChannelError::Unavailable(error.to_string()),
    }
}

fn access(profile: &Profile) -> Access {
    Access {
        shop_id: profile.external_id.clone(),
        shop: String::new(),
        token: profile.token.clone(),
        scopes: Vec::new(),
    }
}

impl Mercadolibre {
    async fn question(&self, profile: &Profile, id: &str) -> Result<Question, ChannelError> {
        let answer = self.api.get(&access(profile), &["questions", id], &[VERSION]).await.map_err(failed)?;
        let question: Question = answer.json().map_err(failed)?;
        if question.id.0 != id || question.seller_id.0 != profile.external_id {
            return Err(ChannelError::Malformed("id or seller_id: another question".to_owned()));
        }
        Ok(question)
    }
}

#[async_trait]
impl SocialReplies for Mercadolibre {
    fn channel(&self) -> Channel {
        Channel::Mercadolibre
    }

    async fn read(&self, profile: &Profile, comment: &str) -> Result<Comment, ChannelError> {
        let question = self.question(profile, comment).await?;
        if State::of(&question.status) == State::Deleted {
            return Err(ChannelError::NotFound);
        }
        Ok(self::comment(&question))
    }

    async fn reply(&self, profile: &Profile, comment: &str, text: &str) -> Result<String, ChannelError> {
        let id: u64 = comment.parse().map_err(|_| ChannelError::Rejected("no number of a question".to_owned()))?;
        let body = json!({ "question_id": id, "text": text });
        self.api.post_once(&access(profile), &["answers"], &body).await.map_err(failed)?;
        Ok(answer_to(comment))
    }

    async fn replies(&self, profile: &Profile, comment: &str) -> Result<Vec<Shown>, ChannelError> {
        Ok(shown(&self.question(profile, comment).await?).into_iter().collect())
    }

    /// Reads the newest questions until one is older than `since` by [`REREAD`].
    async fn changes(&self, profile: &Profile, since: OffsetDateTime) -> Result<Vec<Change>, ChannelError> {
        let (access, oldest, limit) = (access(profile), since - REREAD, PAGE.to_string());
        let mut found = Vec::new();
        for page in 0..MAX_PAGES {
            let offset = (page * PAGE).to_string();
            let query = [
                ("seller_id", profile.external_id.as_str()),
                VERSION,
                ("sort_fields", "date_created"),
                ("sort_types", "DESC"),
                ("limit", &limit),
                ("offset", &offset),
            ];
            let answer = self.api.get(&access, &["questions", "search"], &query).await.map_err(failed)?;
            let records = answer.json::<Questions>().map_err(failed)?.questions;
            let is_last = records.len() < PAGE;
            let (mut questions, had_old) = recent(&records, &profile.external_id, oldest);
            found.append(&mut questions);
            if is_last || had_old {
                break;
            }
        }
        // Who asked first is taken in first.
        found.sort_by(|a, b| (a.date_created, &a.id).cmp(&(b.date_created, &b.id)));
        found.dedup_by(|a, b| a.id == b.id);
        Ok(found.iter().flat_map(self::changes).collect())
    }
}

/// The seller's questions of a page that are not older than `oldest`, and whether one was. A bad record spoils no other.
fn recent(records: &[Box<RawValue>], seller: &str, oldest: OffsetDateTime) -> (Vec<Question>, bool) {
    let read = records.iter().filter_map(|record| {
        let question = serde_json::from_str::<Question>(record.get());
        question.inspect_err(|error| tracing::warn!(column = error.column(), "a question cannot be read")).ok()
    });
    let questions = read.filter(|question| question.seller_id.0 == seller);
    let (old, recent): (Vec<_>, Vec<_>) = questions.partition(|question| question.date_created.0 < oldest);
    (recent, !old.is_empty())
}

#[cfg(test)]
mod tests;
