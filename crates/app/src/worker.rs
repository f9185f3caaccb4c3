//! Loops of workers that look for work again and again, and work of several accounts at a time.

use std::{collections::HashMap, future::Future, pin::Pin, time::Duration};

use domain::{AccountId, StoreError};
use tokio::{
    task::{self, JoinSet},
    time::{sleep, timeout},
};

use crate::outage;

/// How long turns under way may go on when the process is about to stop; then they are dropped, and what they did not finish is
/// done again.
const GRACE: Duration = Duration::from_secs(15);

/// Takes turns until `stop`: the next one at once where there was something to do, else after `pause`. A turn that is under way
/// then is dropped. The log says `failed` of a turn that fails.
pub async fn run<F: Future<Output = Result<bool, StoreError>>>(
    stop: impl Future<Output = ()>,
    pause: Duration,
    failed: &'static str,
    turn: impl Fn() -> F,
) {
    tokio::pin!(stop);
    loop {
        let working = async {
            if !has_worked(turn().await, failed) {
                sleep(pause).await;
            }
        };
        tokio::select! {
            () = &mut stop => return,
            () = working => {}
        }
    }
}

/// The same, but a turn that is under way at `stop` ends first.
pub async fn run_to_the_end<F: Future<Output = Result<bool, StoreError>>>(
    stop: impl Future<Output = ()>,
    pause: Duration,
    failed: &'static str,
    turn: impl Fn() -> F,
) {
    tokio::pin!(stop);
    loop {
        let pause = if has_worked(turn().await, failed) { Duration::ZERO } else { pause };
        tokio::select! {
            biased;
            () = &mut stop => return,
            () = sleep(pause) => {}
        }
    }
}

/// Turns under way: who starts them keeps to one or some an account, so that none has all places.
#[derive(Default)]
pub struct Turns {
    running: JoinSet<()>,
    accounts: HashMap<task::Id, AccountId>,
}

impl Turns {
    pub fn len(&self) -> usize {
        self.running.len()
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Accounts that have one.
    pub fn accounts(&self) -> impl Iterator<Item = AccountId> {
        self.accounts.values().copied()
    }

    pub fn start(&mut self, account: AccountId, turn: impl Future<Output = ()> + Send + 'static) {
        self.accounts.insert(self.running.spawn(turn).id(), account);
    }

    /// Waits for the end of one, for `pause` at most. True at `stop`.
    pub async fn wait(&mut self, stop: Pin<&mut impl Future<Output = ()>>, pause: Duration) -> bool {
        tokio::select! {
            () = stop => true,
            () = sleep(pause) => false,
            () = self.ended(), if !self.is_empty() => false,
        }
    }

    async fn ended(&mut self) {
        let id = match self.running.join_next_with_id().await {
            Some(Ok((id, ()))) => id,
            Some(Err(error)) => error.id(),
            None => return,
        };
        self.accounts.remove(&id);
    }

    /// Lets all end, for a while.
    pub async fn finish(self) {
        finish(self.running).await;
    }
}

/// Lets tasks end, for a while.
pub async fn finish(mut running: JoinSet<()>) {
    let rest = async { while running.join_next().await.is_some() {} };
    let _ = timeout(GRACE, rest).await;
}

fn has_worked(turn: Result<bool, StoreError>, failed: &'static str) -> bool {
    turn.unwrap_or_else(|error| {
        outage::warn(&error, failed);
        false
    })
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use tokio::{sync::Notify, time::Instant};

    use super::*;

    const PAUSE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn it_pauses_where_there_is_nothing_to_do_and_after_a_failure() {
        let (turns, began) = (AtomicUsize::new(0), Instant::now());
        let stop = Notify::new();
        let turn = || async {
            match turns.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Ok(true),
                2 => Ok(false),
                3 => Err(StoreError::Internal("wrong".into())),
                _ => {
                    stop.notify_one();
                    pending().await
                }
            }
        };
        run(stop.notified(), PAUSE, "work failed", turn).await;
        assert_eq!((turns.load(Ordering::Relaxed), began.elapsed()), (5, 2 * PAUSE));
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_ends_before_the_worker_does() {
        let (ended, stop) = (AtomicUsize::new(0), Notify::new());
        let turn = || async {
            stop.notify_one();
            sleep(PAUSE).await;
            ended.fetch_add(1, Ordering::Relaxed);
            Ok(true)
        };
        run_to_the_end(stop.notified(), PAUSE, "work failed", turn).await;
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    }
}
