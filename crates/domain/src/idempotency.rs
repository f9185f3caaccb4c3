//! Idempotent writes: a request sent again under the same key has its effect once.
//!
//! The record of the key is written in the transaction of the effect, so there is no moment at which the one exists
//! without the other: a process killed anywhere leaves either both or neither.

use async_trait::async_trait;
use serde_json::Value;
use time::{Duration, OffsetDateTime};

use crate::{AccountId, error::StoreError};

/// How long a key is remembered, hours.
pub const RETENTION_HOURS: i64 = 24;

/// How long a write on another system may take. After that its process is taken for dead, and the key is free again.
pub const HANDLED_WITHIN: Duration = Duration::minutes(2);

/// A key, the path it was used on, and what was asked under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub path: String,
    pub key: String,
    /// SHA-256 of the request: query and body.
    pub request_hash: [u8; 32],
}

impl IdempotencyKey {
    /// A key is 1 to 255 visible ASCII characters.
    pub fn is_valid(key: &str) -> bool {
        (1..=255).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic())
    }
}

/// The result of a write, and whether it happened now or under an earlier request with the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotent<T> {
    pub value: T,
    pub replayed: bool,
}

/// Why a write under a key was not done.
#[derive(Debug, thiserror::Error)]
pub enum IdempotencyError {
    /// The key was used for another request.
    #[error("the idempotency key was used for another request")]
    Reused,
    /// The first request under the key has not ended.
    #[error("a request with this idempotency key is being handled")]
    InProgress,
    /// What the first request created is gone, or its secret is another one now: its answer is not given again.
    #[error("what this idempotency key created was revoked or changed its secret")]
    Superseded,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Answers under idempotency keys. A write that has an effect on another system, which no transaction of ours can hold, claims
/// its key before it, and records the answer after it.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AnswerStore: Send + Sync {
    /// The answer that was recorded under the key. Without one the key is claimed until [`AnswerStore::answered`] or
    /// [`AnswerStore::failed`], and for [`HANDLED_WITHIN`] at most.
    ///
    /// # Errors
    /// [`IdempotencyError`].
    async fn claim(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        now: OffsetDateTime,
    ) -> Result<Option<Value>, IdempotencyError>;
    /// Records the answer.
    async fn answered(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        answer: Value,
        now: OffsetDateTime,
    ) -> Result<(), StoreError>;
    /// Keeps the body of the first answer beside what the write recorded under the key: what was written may change
    /// before the request is sent again.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn keep(&self, account: AccountId, key: &IdempotencyKey, body: &str) -> Result<(), StoreError>;
    /// The body that was kept under the key; `None` where the process ended between the write and that.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn kept(&self, account: AccountId, key: &IdempotencyKey) -> Result<Option<String>, StoreError>;
    /// Gives the claim up: the write was refused, and may be tried again.
    async fn failed(&self, account: AccountId, key: &IdempotencyKey) -> Result<(), StoreError>;
}
