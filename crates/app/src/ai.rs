//! Carries out runs of AI features: debit, call, check, write, and the refund where anything of it fails.
//!
//! Nothing is debited before it is known that there is something to word: for a person's request in the transaction that
//! notes the call, for the nightly job in the one that makes the run. The refund is in the transaction that ends the run, so
//! that killed at any step a run is either to be carried out, or found by the reaper and refunded, once.

mod answer;
mod prompt;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc};

use domain::{
    AccountId, StoreError,
    accounts::{Account, Mode},
    ai::{
        AiRuns, CallPermit, Completion, Ending, LEASE_SECONDS, LanguageModel, ModelError, Outcome, RequestError, Run,
        RunClaim,
    },
    audit::Entry,
    credits::CreditAmount,
    error::Chain,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    insights::{Draft, KnownTexts, Text, Worded, Wording, grounding},
    jobs::Claim,
    texts::Texts as Catalogue,
};
use futures_util::FutureExt;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use crate::jobs::{Clock, Deps, roll_up_for, situation};

/// Insights that a model is asked to word at a time; further ones keep the rules' texts until the next run.
const MOST_AT_ONCE: usize = 20;
/// How long a run brings daily sums up to date: the rest of its lease is for what comes before its call. To wait for more would
/// keep the runs of other accounts waiting as well, and this one might be taken for dead.
const ROLL_UP_FOR: Duration = Duration::seconds(LEASE_SECONDS / 3);
/// Days of a step of that.
const DAYS_AT_ONCE: usize = 31;

/// What wording needs beside the ports of the jobs.
#[derive(Clone)]
pub struct InsightTextGenerator {
    pub runs: Arc<dyn AiRuns>,
    /// `None` where no provider is set up.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// Credits that a run costs.
    pub price: CreditAmount,
}

impl InsightTextGenerator {
    /// The model for an account: sandboxes have none.
    fn model_for(&self, mode: Mode) -> Option<&Arc<dyn LanguageModel>> {
        self.model.as_ref().filter(|_| mode == Mode::Live)
    }

    /// Credits that a run costs in an account; `None` where no model would be called, and it is free.
    pub fn price_for(&self, mode: Mode) -> Option<CreditAmount> {
        self.model_for(mode).map(|_| self.price)
    }

    /// Asks for a run on behalf of a person. Where no model would be called it is free, whatever the balance.
    ///
    /// # Errors
    /// [`RequestError`].
    pub async fn request(
        &self,
        account: AccountId,
        mode: Mode,
        idempotency: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Run>, RequestError> {
        self.runs.request(account, self.price_for(mode), idempotency, note, now).await
    }
}

/// The drafts with the texts that are shown, and how a run that was to word them ends.
struct Texts {
    worded: Vec<Worded>,
    outcome: Outcome,
    reason: Option<String>,
}

impl Texts {
    /// The texts as they are without an answer of the model, and why there is none.
    fn of_rules(worded: Vec<Worded>, reason: &str) -> Self {
        Self { worded, outcome: Outcome::Failed, reason: Some(reason.to_owned()) }
    }
}

/// Carries out the run that has waited longest. Whether there was one.
///
/// # Errors
/// When the database cannot be asked. A run that fails or panics is ended, and refunded, here.
pub async fn carry_out_next(deps: &Deps, clock: Clock) -> Result<bool, StoreError> {
    let Some(text_generator) = &deps.text_generator else { return Ok(false) };
    let Some(claim) = text_generator.runs.claim_next(clock()).await? else { return Ok(false) };
    let span = tracing::error_span!("ai_run", account_id = claim.account.0, run = claim.run.0);
    conclude(deps, text_generator, &claim, clock).instrument(span).await?;
    Ok(true)
}

/// Carries a run out, and ends it where that fails.
async fn conclude(
    deps: &Deps,
    text_generator: &InsightTextGenerator,
    claim: &RunClaim,
    clock: Clock,
) -> Result<(), StoreError> {
    // One account's data that makes the computation panic must not keep the others' runs from being carried out.
    let ended = AssertUnwindSafe(carry_out(deps, text_generator, claim, clock)).catch_unwind().await;
    let panicked = |_| Err(StoreError::Internal("the computation panicked".into()));
    if let Err(error) = ended.unwrap_or_else(panicked) {
        tracing::error!(error = %Chain(&error), "an AI run failed");
        // Should this fail too, the reaper ends the run when its lease is over.
        text_generator.runs.fail(claim, "internal", clock()).await?;
    }
    Ok(())
}

async fn carry_out(
    deps: &Deps,
    text_generator: &InsightTextGenerator,
    claim: &RunClaim,
    clock: Clock,
) -> Result<(), StoreError> {
    let gone = || StoreError::Internal("the account of a run is gone".into());
    let account = deps.accounts.find(claim.account).await?.ok_or_else(gone)?;
    let now = clock();
    if !roll_up_for(&*deps.daily, &account, &clock, DAYS_AT_ONCE, ROLL_UP_FOR).await? {
        tracing::info!("the daily sums are not up to date: the run goes by them as they stand");
    }
    let drafts = situation(deps, &account, account.timezone.day_of(now), now).await?;
    let known = deps.insight_source.worded(account.id, now).await?;
    let texts = match text_generator.model_for(account.mode) {
        None => Texts { worded: with_known(drafts, &known.open), outcome: Outcome::Rules, reason: None },
        Some(model) => match word(text_generator, model, claim, &account, drafts, &known, clock).await? {
            Some(texts) => texts,
            None => return Ok(()),
        },
    };
    let ending = Ending { job: None, run: Some((*claim, texts.outcome, texts.reason)) };
    deps.insights.replace(claim.account, ending, texts.worded, clock()).await?;
    Ok(())
}

/// The texts for the nightly job and how its run ends: worded where that can be paid for, else those of the rules. What
/// goes wrong with the model never fails the job.
///
/// # Errors
/// When the database cannot be asked.
pub(crate) async fn nightly(
    deps: &Deps,
    account: &Account,
    job: &Claim,
    drafts: Vec<Worded>,
    clock: Clock,
) -> Result<(Vec<Worded>, Ending), StoreError> {
    let known = deps.insight_source.worded(account.id, clock()).await?;
    let alone = |drafts| (with_known(drafts, &known.open), Ending { job: Some(job.clone()), run: None });
    let Some(text_generator) = &deps.text_generator else { return Ok(alone(drafts)) };
    let Some(model) = text_generator.model_for(account.mode) else { return Ok(alone(drafts)) };
    if !drafts.iter().any(|worded| known.is_new(&worded.draft, &worded.template)) {
        return Ok(alone(drafts));
    }
    let claim = match text_generator.runs.start(account.id, text_generator.price, clock()).await {
        Ok(Some(claim)) => claim,
        Ok(None) => return Ok(alone(drafts)),
        Err(RequestError::Paused | RequestError::Insufficient { .. }) => {
            tracing::info!("insights keep the rules' texts: AI is paused or not paid for");
            return Ok(alone(drafts));
        }
        Err(RequestError::Idempotency(IdempotencyError::Store(error))) => return Err(error),
        Err(RequestError::Idempotency(error)) => return Err(StoreError::Internal(error.into())),
    };
    let Some(texts) = word(text_generator, model, &claim, account, drafts.clone(), &known, clock).await? else {
        return Ok(alone(drafts));
    };
    Ok((texts.worded, Ending { job: Some(job.clone()), run: Some((claim, texts.outcome, texts.reason)) }))
}

/// What was worded before, by the situation's fingerprint.
type Known = BTreeMap<String, Text>;

/// The drafts with the template's texts, or with those that a model gave the same texts before.
fn with_known(drafts: Vec<Worded>, known: &Known) -> Vec<Worded> {
    let shown = |worded: Worded| {
        let text = known.get(&worded.draft.fingerprint).filter(|text| text.basis == worded.template.basis());
        let model = text.map(|text| text.wording.clone());
        Worded { model, ..worded }
    };
    drafts.into_iter().map(shown).collect()
}

/// Asks the model in the account's language for what has not been worded yet, checks every text of the answer against its facts, and puts
/// the texts that pass in place. `None` when the run has been ended elsewhere.
async fn word(
    text_generator: &InsightTextGenerator,
    model: &Arc<dyn LanguageModel>,
    claim: &RunClaim,
    account: &Account,
    drafts: Vec<Worded>,
    known: &KnownTexts,
    clock: Clock,
) -> Result<Option<Texts>, StoreError> {
    let is_new = |worded: &&Worded| known.is_new(&worded.draft, &worded.template);
    let wanted: Vec<Worded> = drafts.iter().filter(is_new).take(MOST_AT_ONCE).cloned().collect();
    let mut worded = with_known(drafts, &known.open);
    if wanted.is_empty() {
        return Ok(Some(Texts { worded, outcome: Outcome::NothingNew, reason: None }));
    }
    let writing = Catalogue::of(account.locale).writing();
    let prompt = prompt::of(&wanted, account.currency, writing);
    let permit = text_generator
        .runs
        .open_call(claim, text_generator.price, &model.name(), model.bound(&prompt), clock())
        .await?;
    let call = match permit {
        CallPermit::Granted(call) => call,
        CallPermit::Superseded => return Ok(None),
        CallPermit::Paused => return Ok(Some(Texts::of_rules(worded, "paused"))),
        CallPermit::Insufficient => return Ok(Some(Texts::of_rules(worded, "insufficient_credits"))),
    };
    let Completion { answer, usage } = model.complete(&prompt).await;
    text_generator.runs.close_call(claim.account, call, usage, answer.as_ref().err().copied(), clock()).await?;
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return Ok(Some(Texts::of_rules(worded, error.as_str()))),
    };
    let Some(mut wordings) = answer::read(&answer, wanted.len()) else {
        return Ok(Some(Texts::of_rules(worded, ModelError::Malformed.as_str())));
    };
    let mut reason = None;
    for (Worded { draft, template, .. }, wording) in wanted.iter().zip(wordings.drain(..)) {
        match grounding::check(&wording, template, &draft.told.grounds(account.currency), writing) {
            Ok(()) => put(&mut worded, draft, wording),
            Err((field, refusal)) => {
                reason.get_or_insert(format!("{} of {}: {refusal}", field, draft.fingerprint));
            }
        }
    }
    let outcome = if reason.is_none() { Outcome::Worded } else { Outcome::Refused };
    Ok(Some(Texts { worded, outcome, reason }))
}

fn put(worded: &mut [Worded], draft: &Draft, wording: Wording) {
    if let Some(place) = worded.iter_mut().find(|worded| worded.draft.fingerprint == draft.fingerprint) {
        place.model = Some(wording);
    }
}
