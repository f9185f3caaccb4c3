//! Forms whose answer shows a secret. The same form sent again, by a reload of that answer or from the browser's history, makes no
//! second one: each time a form is drawn it has a number of its own, which is remembered for a day.

use actix_web::HttpResponse;
use domain::{
    AccountId,
    error::Chain,
    idempotency::{AnswerStore, IdempotencyError, IdempotencyKey},
};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::see;
use crate::{error::PageError, session::Viewer, state::State};

/// The hidden field with the number of a form.
pub fn number(state: &State) -> (&'static str, String) {
    ("form", (state.token)().expose().to_owned())
}

/// What is known of a form that was sent.
pub enum Sent<'a> {
    Now(Now<'a>),
    /// It came before, and was answered then; this leads on.
    Before(HttpResponse),
}

/// A form that is sent for the first time.
pub struct Now<'a> {
    answers: &'a dyn AnswerStore,
    account: AccountId,
    /// `None` for a form without a number, which no page of ours sends.
    key: Option<IdempotencyKey>,
    at: OffsetDateTime,
}

/// Whether a form with this number has asked for the same before: what is filled in again on a page of the history is another
/// wish. `shown` is where to look what came of it, unless it was noted then.
pub async fn sent<'a>(
    state: &'a State,
    viewer: &Viewer,
    at: OffsetDateTime,
    number: Option<&str>,
    wish: &str,
    shown: &str,
) -> Result<Sent<'a>, PageError> {
    let (answers, account) = (&*state.answers, viewer.account());
    let key = number.map(|number| key(number, wish));
    if let Some(key) = &key {
        match answers.claim(account, key, at).await {
            Ok(None) => {}
            Ok(Some(answer)) => {
                return Ok(Sent::Before(see(answer.get("shown").and_then(Value::as_str).unwrap_or(shown))));
            }
            // It was pressed twice: the answer to the first press is not the one that the browser shows.
            Err(IdempotencyError::InProgress) => return Ok(Sent::Before(see(shown))),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Sent::Now(Now { answers, account, key, at }))
}

/// Hashed: neither is bounded, and the wish may hold an address that is nobody's business.
fn key(number: &str, wish: &str) -> IdempotencyKey {
    let mut request_hash = [0; 32];
    request_hash.copy_from_slice(digest(&SHA256, format!("{number}\n{wish}").as_bytes()).as_ref());
    IdempotencyKey { path: "a form of the dashboard".to_owned(), key: hex::encode(request_hash), request_hash }
}

impl Now<'_> {
    /// It did what it asks for: sent again, it leads to `shown`. That what was made is shown now matters more than that this is noted.
    pub async fn done(self, shown: &str) {
        if let Some(key) = &self.key
            && let Err(error) = self.answers.answered(self.account, key, json!({ "shown": shown }), self.at).await
        {
            tracing::warn!(error = %Chain(&error), "that a form was sent is not noted");
        }
    }

    /// It was refused, and may be sent again.
    pub async fn refused(self) -> Result<(), PageError> {
        match &self.key {
            Some(key) => Ok(self.answers.failed(self.account, key).await?),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_known_by_its_number_and_by_what_it_asks_for() {
        let known = |number: &str, wish: &str| key(number, wish).key;
        assert_eq!(known("a", "b"), known("a", "b"));
        assert_ne!(known("a", "b"), known("a", "c"));
        assert_ne!(known("a", "b"), known("c", "b"));
        assert_eq!(known(&"a".repeat(60_000), "b").len(), 64, "an index holds no long ones");
    }
}
