//! The second voter: a language model that chooses among templates where the word lists are in doubt.
//!
//! It writes nothing. Its answer is the number of one of the templates that it was shown, or none of them; whatever else it
//! says is no answer, and its credits are given back. A comment is voted on once, whatever becomes of the vote.

use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

use super::{Category, replies::Undecided, templates::Approved};
use crate::{
    StoreError, TemplateId,
    ai::{CallId, RunClaim, Usage},
    credits::CreditAmount,
};

/// The feature that is charged for a vote.
pub const FEATURE: &str = "social_reply";
/// Longer comments are no simple questions: people read them.
pub const MAX_VOTE_CHARS: usize = 1_000;
/// Comments that are older, as those before a profile was connected or behind a long queue, are not asked about.
pub const VOTE_WITHIN: Duration = Duration::hours(1);
/// Templates that a model chooses among, at most.
pub const MAX_CANDIDATES: usize = 20;

text_enum!(
    /// What a model answered.
    Verdict {
        /// A template answers the comment.
        Template = "template",
        /// None does.
        None = "none",
    }
);

/// What is known of the model's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// It is not to be asked: the account did not switch it on, there is none, or the comment changed since it was asked.
    Closed,
    /// It can be asked.
    Open,
    /// It chose this template.
    For(TemplateId),
    /// It says that no template answers the comment.
    ForNone,
    /// It was asked, and gave no answer that counts.
    Unusable,
    /// There were not enough credits to ask it.
    Unpaid,
}

/// A vote that a comment had before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// Of the text that was voted on.
    pub comment_hash: Vec<u8>,
    /// `None`: it is under way, or its process died.
    pub came_to: Option<Vote>,
}

/// The right to ask the model about a comment, which is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ballot {
    pub run: RunClaim,
    pub call: CallId,
}

/// Whether the model may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VotePermit {
    /// The vote is reserved and paid for, and the call is noted.
    Granted(Ballot),
    /// The comment had its vote, and no answer that counts came of it.
    Spent,
    /// Another worker is at it, or there is nothing to decide about any more.
    Elsewhere,
    /// AI access is paused.
    Paused,
    Unpaid,
}

/// How a vote ends with the decision that it was asked for. It is paid for if the decision goes by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    pub run: RunClaim,
    /// The template that the model chose, or none of them; else why its answer does not count.
    pub answer: Result<Option<TemplateId>, &'static str>,
}

impl Counted {
    /// The vote that the decision went by.
    pub const fn vote(&self) -> Vote {
        match self.answer {
            Ok(Some(template)) => Vote::For(template),
            Ok(None) => Vote::ForNone,
            Err(_) => Vote::Unusable,
        }
    }

    /// The same where the decision does not go by the answer: it is not paid for.
    pub fn unused(self) -> Self {
        Self { answer: self.answer.and(Err("the decision does not go by it")), ..self }
    }
}

/// The templates that a comment of this category and language could be answered with, those of its own category first.
/// Complaints and spam are for people, whatever a model makes of them.
pub fn candidates(fitting: &[&Approved], category: Category) -> Vec<TemplateId> {
    let is_offered = |template: &&&Approved| !matches!(template.category, Category::Complaint | Category::Spam);
    let mut offered: Vec<&&Approved> = fitting.iter().filter(is_offered).collect();
    offered.sort_by_key(|template| (template.category != category, template.id.0));
    offered.into_iter().take(MAX_CANDIDATES).map(|template| template.id).collect()
}

/// Votes on their way.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait VoteStore: Send + Sync {
    /// The comment that has waited longest for its vote.
    async fn waiting(&self, now: OffsetDateTime) -> Result<Option<Undecided>, StoreError>;
    /// The same comment as it stands now; `None` once it is decided about, gone, or another text.
    async fn again(&self, of: &Undecided, now: OffsetDateTime) -> Result<Option<Undecided>, StoreError>;
    /// Reserves the vote under the comment's identifier, debits `price`, and notes that the model is about to be called with
    /// the most that this can cost, in one transaction. Without [`VotePermit::Granted`] nothing is debited, and it must not
    /// be called.
    async fn open(
        &self,
        of: &Undecided,
        price: CreditAmount,
        model: &str,
        bound: Usage,
        now: OffsetDateTime,
    ) -> Result<VotePermit, StoreError>;
}
