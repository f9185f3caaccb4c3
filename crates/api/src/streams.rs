//! How many lists are streamed at a time.
//!
//! A stream lasts for as long as its client takes to read it. Its memory is small, but it is held for all that time, so
//! their number is bounded, over all and for each account, so that no account keeps the others from theirs.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use actix_web::http::Method;
use domain::AccountId;

use crate::error::{ApiError, Code};

/// Streams of the process.
const AT_ONCE: usize = 64;
/// Streams of an account.
const OF_ACCOUNT: usize = 4;

/// The streams under way.
#[derive(Debug, Default)]
pub struct Streams(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    /// Of each account that has any.
    of: HashMap<AccountId, usize>,
}

impl Streams {
    /// Room for one more, held until what is returned is dropped. An answer to HEAD needs none: nothing is streamed.
    ///
    /// # Errors
    /// `overloaded` when the account, or the process, has reached its limit.
    pub fn begin(self: Arc<Self>, account: AccountId, method: &Method) -> Result<Option<Streaming>, ApiError> {
        if *method == Method::HEAD {
            return Ok(None);
        }
        let mut counts = self.lock();
        if counts.of.get(&account).is_some_and(|count| *count >= OF_ACCOUNT) {
            let message =
                format!("{OF_ACCOUNT} lists of this account are being streamed already; let one of them end.");
            return Err(ApiError::new(Code::Overloaded).message(message));
        }
        if counts.all >= AT_ONCE {
            return Err(ApiError::new(Code::Overloaded).message("As many lists are being streamed as can be."));
        }
        counts.all += 1;
        *counts.of.entry(account).or_default() += 1;
        drop(counts);
        Ok(Some(Streaming { streams: self, account }))
    }

    fn end(&self, account: AccountId) {
        let mut counts = self.lock();
        counts.all = counts.all.saturating_sub(1);
        if let Some(count) = counts.of.get_mut(&account) {
            *count -= 1;
            if *count == 0 {
                counts.of.remove(&account);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // No code that may panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream under way.
#[derive(Debug)]
pub struct Streaming {
    streams: Arc<Streams>,
    account: AccountId,
}

impl Drop for Streaming {
    fn drop(&mut self) {
        self.streams.end(self.account);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(refused: Result<Option<Streaming>, ApiError>) -> Code {
        refused.unwrap_err().code
    }

    #[test]
    fn an_account_leaves_room_for_the_others_and_gets_its_own_back() {
        let streams = Arc::new(Streams::default());
        let begin = |account| streams.clone().begin(AccountId(account), &Method::GET);
        let mut of_one: Vec<_> = (0..OF_ACCOUNT).map(|_| begin(1).unwrap()).collect();
        assert_eq!(code(begin(1)), Code::Overloaded);
        assert!(streams.clone().begin(AccountId(1), &Method::HEAD).unwrap().is_none());
        let _other = begin(2).unwrap();
        of_one.pop();
        let again = begin(1).unwrap();
        assert_eq!(code(begin(1)), Code::Overloaded);
        drop((of_one, again));
        let counts = streams.lock();
        assert_eq!((counts.all, counts.of.len()), (1, 1));
    }

    #[test]
    fn all_accounts_together_have_a_limit() {
        let streams = Arc::new(Streams::default());
        let accounts = 0..i64::try_from(AT_ONCE).unwrap();
        let begin = |account| streams.clone().begin(AccountId(account), &Method::GET);
        let all: Vec<_> = accounts.map(|account| begin(account).unwrap()).collect();
        assert_eq!(code(begin(-1)), Code::Overloaded);
        drop(all);
        assert!(begin(-1).is_ok());
    }
}
