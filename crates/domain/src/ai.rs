//! AI features: what is asked of a language model, what a run of a feature costs, and who may use them.

mod access;
mod model;
mod runs;

pub use access::{
    AccessChange, AccessStatus, Actor, AiAccess, DEFAULT_LIMITS, InvalidLimits, Limits, Month, MonthlyCost, Pause,
    crossed,
};
pub use model::{Completion, LanguageModel, ModelError, Prices, Prompt, Usage};
pub use runs::{
    AiRuns, CallId, CallPermit, Ending, FEATURE, LANGUAGE_MODEL_LIMIT_SECONDS, LEASE_SECONDS, Outcome, RequestError,
    Run, RunClaim, RunState, Trigger,
};

#[cfg(feature = "mock")]
pub use {access::MockAiAccess, model::MockLanguageModel, runs::MockAiRuns};
