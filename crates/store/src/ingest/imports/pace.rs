//! Pauses between the statements of an import.

use tokio::time::{Instant, sleep};

/// How long to pause for each unit of time that a statement took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    nice_ratio: u32,
}

impl Pace {
    pub const fn new(nice_ratio: u32) -> Self {
        Self { nice_ratio }
    }

    /// Waits for the end of `statement`, then pauses.
    pub async fn of<T>(self, statement: impl Future<Output = T>) -> T {
        let started = Instant::now();
        let result = statement.await;
        if self.nice_ratio > 0 {
            sleep(started.elapsed() * self.nice_ratio).await;
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const WORK: Duration = Duration::from_millis(20);

    async fn time_of(pace: Pace) -> Duration {
        let started = Instant::now();
        assert_eq!(
            pace.of(async {
                sleep(WORK).await;
                7
            })
            .await,
            7
        );
        started.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_is_as_long_as_the_ratio_says() {
        assert_eq!(time_of(Pace::new(0)).await, WORK);
        assert_eq!(time_of(Pace::new(9)).await, WORK * 10);
    }
}
