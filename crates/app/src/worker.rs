//! Loops of workers that look for work again and again.

use std::{future::Future, time::Duration};

use domain::StoreError;
use tokio::time::sleep;

use crate::outage;

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
