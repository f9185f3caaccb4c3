//! Runs of AI features: debited before the provider is called, refunded unless they keep what they promise. A run that
//! finds nothing to ask the provider is not debited at all.

use async_trait::async_trait;
use time::OffsetDateTime;

use super::{ModelError, Usage};
use crate::{
    AccountId, RunId, StoreError,
    audit::Entry,
    credits::CreditAmount,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    jobs,
};

/// The feature that is charged for wording insights.
pub const FEATURE: &str = "insight_generation";

/// How long a run may hold its claim; above the longest deadline of a call. A process that dies holds a run up for no
/// longer than this.
pub const LEASE_SECONDS: i64 = 180;

/// The longest deadline of a call that can be set up: a run that waits for it still holds its claim.
pub const LANGUAGE_MODEL_LIMIT_SECONDS: u32 = 120;

text_enum!(
    /// What a run was started by.
    Trigger { Request = "request", Schedule = "schedule" }
);

text_enum!(
    /// Where a run stands.
    RunState { Queued = "queued", Running = "running", Done = "done", Failed = "failed" }
);

text_enum!(
    /// How a run ended. Only a worded one, and a vote that counted, keep their credits.
    Outcome {
        /// Everything that was to be worded was, and passed the check.
        Worded = "worded",
        /// The check refused the answer or part of it; those insights have the texts of the rules.
        Refused = "refused",
        /// The model gave no answer that could be read.
        Failed = "failed",
        /// The process that held it died.
        Interrupted = "interrupted",
        /// There was nothing that has not been worded before.
        NothingNew = "nothing_new",
        /// No model is set up, or this is a sandbox: the rules wrote the texts, free of charge.
        Rules = "rules",
        /// The model's vote on a comment counted.
        Voted = "voted",
    }
);

impl Outcome {
    /// Those that runs which word insights end with.
    pub const INSIGHT_NAMES: &'static [&'static str] =
        &["worded", "refused", "failed", "interrupted", "nothing_new", "rules"];

    /// Whether the run did what it was asked to.
    pub const fn state(self) -> RunState {
        match self {
            Self::Failed | Self::Interrupted => RunState::Failed,
            Self::Worded | Self::Refused | Self::NothingNew | Self::Rules | Self::Voted => RunState::Done,
        }
    }

    /// Whether the run keeps its credits.
    pub const fn is_paid(self) -> bool {
        matches!(self, Self::Worded | Self::Voted)
    }
}

/// A run, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub trigger: Trigger,
    pub state: RunState,
    pub outcome: Option<Outcome>,
    /// Why it was not worded.
    pub reason: Option<String>,
    /// Credits debited, refunded or not; 0 as long as nothing is.
    pub credits: i64,
    pub refunded: bool,
    pub created_at: OffsetDateTime,
    pub finished_at: Option<OffsetDateTime>,
}

/// The right to carry a run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunClaim {
    pub account: AccountId,
    pub run: RunId,
    /// Rises with every claim of the same run: a write with an older number changes nothing.
    pub number: i64,
}

/// A call that has been noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId(pub i64);

/// Whether the provider may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPermit {
    /// The run is paid for, and the call is noted.
    Granted(CallId),
    /// AI access is paused.
    Paused,
    /// The run was not debited when it was asked for, and the balance is too small now.
    Insufficient,
    /// The claim is no longer the newest: the run is not ours to end either.
    Superseded,
}

/// What ends with the write of insights: the run of the nightly job, that of the AI feature, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ending {
    pub job: Option<jobs::Claim>,
    pub run: Option<(RunClaim, Outcome, Option<String>)>,
}

/// Why a run was not started. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("AI access is paused")]
    Paused,
    #[error("the balance of {balance} credits is too small")]
    Insufficient { balance: i64 },
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
}

impl From<StoreError> for RequestError {
    fn from(error: StoreError) -> Self {
        Self::Idempotency(error.into())
    }
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AiRuns: Send + Sync {
    /// Queues a run, unless the balance is below `price`. Nothing is debited yet: whether there is anything to ask the
    /// provider is not known. A run that is under way is given instead of a second one. `note` goes into the audit log with
    /// a run that is queued.
    async fn request(
        &self,
        account: AccountId,
        price: Option<CreditAmount>,
        idempotency: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Run>, RequestError>;
    /// Starts a run and debits `price`, in one transaction, and gives the right to carry it out. `None` when a run is
    /// under way.
    async fn start(
        &self,
        account: AccountId,
        price: CreditAmount,
        now: OffsetDateTime,
    ) -> Result<Option<RunClaim>, RequestError>;
    /// Claims the run that has waited longest.
    async fn claim_next(&self, now: OffsetDateTime) -> Result<Option<RunClaim>, StoreError>;
    /// A run that words insights.
    async fn find(&self, account: AccountId, run: RunId) -> Result<Option<Run>, StoreError>;
    /// Debits `price` unless the run is paid for, and notes that the provider is about to be called with the most that
    /// this can cost, in one transaction. Without [`CallPermit::Granted`] nothing is written, and it must not be called.
    async fn open_call(
        &self,
        claim: &RunClaim,
        price: CreditAmount,
        model: &str,
        bound: Usage,
        now: OffsetDateTime,
    ) -> Result<CallPermit, StoreError>;
    /// Notes what the call used, and lets the quota guard look at the month's cost, in one transaction.
    async fn close_call(
        &self,
        account: AccountId,
        call: CallId,
        used: Usage,
        error: Option<ModelError>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Ends a run that wrote nothing, with its refund, in one transaction. Whether the claim was the newest.
    async fn fail(&self, claim: &RunClaim, reason: &str, now: OffsetDateTime) -> Result<bool, StoreError>;
    /// Ends every run whose holder died, with its refund, each in a transaction of its own. How many there were.
    async fn reap(&self, now: OffsetDateTime) -> Result<u64, StoreError>;
}
