//! The vote of a language model on a comment that the word lists are in doubt about.
//!
//! The debit, the reservation under the comment's identifier and the call are noted in one transaction before the model is
//! asked; what it answered, the decision and the end of the run are written in another one after it. Killed at any step, a
//! vote is found again when its lease is over, refunded once, and the comment waits for a person: it is never asked about
//! twice. Before the decision the comment is read again, so every brake holds after the vote as before.

mod prompt;

use std::{sync::Arc, time::Duration};

use domain::{
    StoreError, TemplateId,
    accounts::Mode,
    ai::{AiRuns, Completion, LanguageModel, ModelError},
    credits::CreditAmount,
    social::{
        Decision, fingerprint_of,
        replies::Undecided,
        votes::{Ballot, Counted, Vote, VotePermit},
    },
};
use serde_json::Value;
use tracing::Instrument;

use super::SocialWorker;
use crate::worker;

/// How often votes are looked for, and how many are under way at a time: a model that is slow must hold up nobody.
const EVERY: Duration = Duration::from_secs(1);
pub(super) const AT_ONCE: usize = 3;

/// What a vote needs: the model, and what it costs.
#[derive(Clone)]
pub struct Voter {
    pub runs: Arc<dyn AiRuns>,
    pub model: Arc<dyn LanguageModel>,
    /// Credits that a vote costs.
    pub price: CreditAmount,
}

impl SocialWorker {
    /// Takes one vote after the other until the process stops; the one under way ends first.
    pub(super) async fn vote(&self, stopped: impl Future<Output = ()>) {
        worker::run_to_the_end(stopped, EVERY, "votes on comments wait; trying again", || self.vote_next()).await;
    }

    /// What is known of the vote on a comment of an account of this kind, before the model is asked.
    pub(super) fn known_vote(&self, undecided: &Undecided, mode: Mode) -> Vote {
        let asking = if self.voter.is_some() && mode == Mode::Live { Vote::Open } else { Vote::Closed };
        let Some(earlier) = &undecided.vote else { return asking };
        let is_same = earlier.comment_hash == fingerprint_of(undecided.text.as_deref().unwrap_or_default());
        // One that is under way is waited for in its turn.
        if is_same { earlier.came_to.unwrap_or(asking) } else { Vote::Closed }
    }

    /// Has the model vote on the comment that has waited longest, and decides by it. Whether there was one.
    ///
    /// # Errors
    /// Trouble with the database; a vote that was paid for is refunded when its lease is over.
    pub async fn vote_next(&self) -> Result<bool, StoreError> {
        let Some(undecided) = self.votes.waiting(self.now()).await? else { return Ok(false) };
        let (account_id, message) = (undecided.account.0, undecided.message.0);
        let voting = async {
            let judged = self.judge(&undecided, None).await?;
            match (&judged.decision, &self.voter) {
                (Decision::Ask { candidates }, Some(voter)) => self.ask(voter, &undecided, candidates).await,
                // Since it was put down for a vote something else was decided about it.
                _ => self.conclude(&undecided, judged, None).await,
            }
        };
        voting.instrument(tracing::error_span!("social_vote", account_id, message)).await?;
        Ok(true)
    }

    async fn ask(&self, voter: &Voter, undecided: &Undecided, candidates: &[TemplateId]) -> Result<(), StoreError> {
        let shown = undecided.templates.iter().filter(|template| candidates.contains(&template.id));
        let prompt = prompt::of(undecided.text.as_deref().unwrap_or_default(), shown);
        let (name, bound) = (voter.model.name(), voter.model.bound(&prompt));
        let permit = self.votes.open(undecided, voter.price, &name, bound, self.now()).await?;
        let Ballot { run, call } = match permit {
            VotePermit::Granted(ballot) => ballot,
            VotePermit::Elsewhere => return Ok(()),
            VotePermit::Spent => return self.go_without(undecided, Vote::Unusable).await,
            VotePermit::Paused => return self.go_without(undecided, Vote::Closed).await,
            VotePermit::Unpaid => return self.go_without(undecided, Vote::Unpaid).await,
        };
        let Completion { answer, usage } = voter.model.complete(&prompt).await;
        let error = answer.as_ref().err().copied();
        voter.runs.close_call(undecided.account, call, usage, error, self.now()).await?;
        let answer = answer.and_then(|answer| read(&answer, candidates)).map_err(ModelError::as_str);
        let outcome = answer.map_or_else(|reason| reason, |chosen| if chosen.is_some() { "template" } else { "none" });
        metrics::counter!("social_votes_total", "outcome" => outcome).increment(1);
        let counted = Counted { run, answer };
        match self.votes.again(undecided, self.now()).await? {
            Some(undecided) => {
                let judged = self.judge(&undecided, Some(counted.vote())).await?;
                // A person who answered meanwhile, or a switch: nothing is paid for an answer that nobody goes by.
                let counted = if judged.goes_by_vote { counted } else { counted.unused() };
                self.conclude(&undecided, judged, Some(counted)).await
            }
            None => {
                let why = "the comment was decided about or changed";
                voter.runs.fail(&run, why, self.now()).await?;
                Ok(())
            }
        }
    }

    /// Decides where the model was not asked.
    async fn go_without(&self, undecided: &Undecided, vote: Vote) -> Result<(), StoreError> {
        let judged = self.judge(undecided, Some(vote)).await?;
        self.conclude(undecided, judged, None).await
    }
}

/// The template that was chosen, or none of them. The answer is one of the texts that were offered and nothing else: no
/// number, no second field, no template that was not shown.
fn read(answer: &Value, candidates: &[TemplateId]) -> Result<Option<TemplateId>, ModelError> {
    let fields = answer.as_object().filter(|fields| fields.len() == 1);
    let chosen = fields.and_then(|fields| fields.get(prompt::FIELD)).and_then(Value::as_str);
    match chosen.ok_or(ModelError::Malformed)? {
        prompt::NONE => Ok(None),
        chosen => {
            let offered = candidates.iter().find(|template| template.to_string() == chosen);
            offered.copied().map(Some).ok_or(ModelError::Malformed)
        }
    }
}

#[cfg(test)]
mod tests;
