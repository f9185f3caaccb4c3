//! A process that is killed at a step: before or after a call of a port.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use domain::{
    AccountId, StoreError,
    ai::{AiRuns, CallId, CallPermit, ModelError, RequestError, Run, RunClaim, Usage},
    audit::Entry,
    credits::CreditAmount,
    idempotency::{IdempotencyKey, Idempotent},
};
use rust_decimal::dec;
use store::Store;
use time::OffsetDateTime;
use tokio::sync::Notify;

/// What a call of a model uses.
pub const USAGE: Usage = Usage { prompt_tokens: 10, completion_tokens: 5, cost_usd: dec!(0.000001), estimated: false };

/// Counts the steps and stops for good at one of them.
pub struct Steps {
    reached: AtomicUsize,
    pub stop_at: usize,
    pub stopped: Notify,
}

impl Steps {
    pub fn new(stop_at: usize) -> Arc<Self> {
        Arc::new(Self { reached: AtomicUsize::new(0), stop_at, stopped: Notify::new() })
    }

    pub async fn step(&self) {
        if self.reached.fetch_add(1, Ordering::SeqCst) == self.stop_at {
            self.stopped.notify_one();
            pending::<()>().await;
        }
    }

    /// A call with a step before and after it.
    pub async fn around<T>(&self, call: impl Future<Output = T>) -> T {
        self.step().await;
        let answer = call.await;
        self.step().await;
        answer
    }
}

/// Runs, of which what is called on the way of one has steps.
pub struct SteppingRuns {
    pub store: Arc<Store>,
    pub steps: Arc<Steps>,
}

#[async_trait]
impl AiRuns for SteppingRuns {
    async fn request(
        &self,
        account: AccountId,
        price: Option<CreditAmount>,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Run>, RequestError> {
        self.store.request(account, price, key, note, now).await
    }
    async fn start(
        &self,
        account: AccountId,
        price: CreditAmount,
        now: OffsetDateTime,
    ) -> Result<Option<RunClaim>, RequestError> {
        self.store.start(account, price, now).await
    }
    async fn claim_next(&self, now: OffsetDateTime) -> Result<Option<RunClaim>, StoreError> {
        self.steps.around(self.store.claim_next(now)).await
    }
    async fn find(&self, account: AccountId, run: domain::RunId) -> Result<Option<Run>, StoreError> {
        AiRuns::find(&*self.store, account, run).await
    }
    async fn open_call(
        &self,
        claim: &RunClaim,
        price: CreditAmount,
        model: &str,
        bound: Usage,
        now: OffsetDateTime,
    ) -> Result<CallPermit, StoreError> {
        self.steps.around(self.store.open_call(claim, price, model, bound, now)).await
    }
    async fn close_call(
        &self,
        account: AccountId,
        call: CallId,
        used: Usage,
        error: Option<ModelError>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.steps.around(self.store.close_call(account, call, used, error, now)).await
    }
    async fn fail(&self, claim: &RunClaim, reason: &str, now: OffsetDateTime) -> Result<bool, StoreError> {
        self.store.fail(claim, reason, now).await
    }
    async fn reap(&self, now: OffsetDateTime) -> Result<u64, StoreError> {
        self.store.reap(now).await
    }
}
