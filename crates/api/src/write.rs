//! Writes that are done even when the client has gone.

use std::{future::Future, sync::Arc};

use actix_web::http::header::HeaderValue;
use app::outage;
use domain::{
    AccountId,
    idempotency::{AnswerStore, IdempotencyKey, Idempotent},
};
use serde::Serialize;

use crate::{
    error::ApiError,
    respond::{Cache, JSON, Reply},
};

/// Does `work` whether or not the client waits for it, so that a transaction is never cut in the middle.
pub async fn detached<T, E>(work: impl Future<Output = Result<T, E>> + Send + 'static) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    match ::web::detached::detached(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(failed) => Err(ApiError::internal(&failed)),
    }
}

/// Does `work` to its end and answers with the body of what was written.
pub async fn written<T, E, B: Serialize>(
    work: impl Future<Output = Result<Idempotent<T>, E>> + Send + 'static,
    body: impl FnOnce(T) -> B,
) -> Result<Reply, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    answered(work, |value| Reply::done(&body(value))).await
}

/// Does `work` to its end and gives the answer to what was written, marked when an earlier request with the same
/// idempotency key was given it first.
pub async fn answered<T, E>(
    work: impl Future<Output = Result<Idempotent<T>, E>> + Send + 'static,
    answer: impl FnOnce(T) -> Result<Reply, ApiError>,
) -> Result<Reply, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    let Idempotent { value, replayed } = detached(work).await?;
    let reply = answer(value)?;
    Ok(if replayed { reply.header("idempotent-replayed", HeaderValue::from_static("true")) } else { reply })
}

/// Where the first answer to a write is kept, for when the same request is sent again.
pub struct FirstAnswer {
    pub answers: Arc<dyn AnswerStore>,
    pub account: AccountId,
    pub key: Option<IdempotencyKey>,
}

impl FirstAnswer {
    /// The body of the answer: of the first one, where there was one.
    async fn body<T, B: Serialize>(
        self,
        Idempotent { value, replayed }: Idempotent<T>,
        body: impl FnOnce(T) -> B,
    ) -> Result<Vec<u8>, ApiError> {
        let Self { answers, account, key } = self;
        if let (true, Some(key)) = (replayed, &key)
            && let Some(first) = answers.kept(account, key).await.map_err(ApiError::from)?
        {
            return Ok(first.into_bytes());
        }
        let text = serde_json::to_string(&body(value)).map_err(|error| ApiError::internal(&error))?;
        if let (false, Some(key)) = (replayed, &key)
            && let Err(error) = answers.keep(account, key, &text).await
        {
            outage::warn(&error, "an answer could not be kept under its idempotency key");
        }
        Ok(text.into_bytes())
    }
}

/// As [`written`], of something that may change before the request is sent again: the first answer is given again.
pub async fn written_once<T, E, B: Serialize>(
    first: FirstAnswer,
    work: impl Future<Output = Result<Idempotent<T>, E>> + Send + 'static,
    body: impl FnOnce(T) -> B + Send + 'static,
) -> Result<Reply, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    let work = async move {
        let done = work.await.map_err(Into::into)?;
        let replayed = done.replayed;
        Ok::<_, ApiError>(Idempotent { value: first.body(done, body).await?, replayed })
    };
    answered(work, |bytes| Ok(Reply::bytes(JSON, bytes, Cache::No))).await
}

#[cfg(test)]
mod tests {
    use domain::{StoreError, idempotency::MockAnswerStore};
    use tracing::Instrument;

    use super::*;

    async fn body(answers: MockAnswerStore, replayed: bool) -> String {
        let key = IdempotencyKey { path: "/".to_owned(), key: "k".to_owned(), request_hash: [1; 32] };
        let first = FirstAnswer { answers: Arc::new(answers), account: AccountId(1), key: Some(key) };
        let bytes = first.body(Idempotent { value: "now", replayed }, |value| [value]).await.unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn the_first_answer_is_kept_and_given_again() {
        let mut answers = MockAnswerStore::new();
        answers.expect_keep().times(1).withf(|_, _, body| body == r#"["now"]"#).returning(|_, _, _| Ok(()));
        assert_eq!(body(answers, false).await, r#"["now"]"#);
        let mut answers = MockAnswerStore::new();
        answers.expect_kept().returning(|_, _| Ok(Some(r#"["then"]"#.to_owned())));
        assert_eq!(body(answers, true).await, r#"["then"]"#);
    }

    /// The process ended, or lost its database, between the write and what is kept of it.
    #[tokio::test]
    async fn without_it_what_was_written_is_shown_as_it_is() {
        let mut answers = MockAnswerStore::new();
        answers.expect_keep().returning(|_, _, _| Err(StoreError::Overloaded("full".into())));
        assert_eq!(body(answers, false).await, r#"["now"]"#);
        let mut answers = MockAnswerStore::new();
        answers.expect_kept().returning(|_, _| Ok(None));
        assert_eq!(body(answers, true).await, r#"["now"]"#);
    }

    #[tokio::test]
    async fn a_write_is_done_within_the_span_of_its_request() {
        let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry());
        let span = tracing::error_span!("request");
        let within = detached(async { Ok::<_, ApiError>(tracing::Span::current().id()) });
        assert_eq!(within.instrument(span.clone()).await.unwrap(), span.id());
        assert!(span.id().is_some());
    }
}
