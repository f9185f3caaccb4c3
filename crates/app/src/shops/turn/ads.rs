//! What was spent on the platform's ads, once a day.

use domain::shops::{
    ShopError,
    sync::{Outcome, Stream},
};
use time::Duration;

use super::{Reading, Stopped, Turn};
use crate::shops::imports::Tally;

/// Days that are read again: platforms correct their figures until well into the next day.
const AGAIN: Duration = Duration::days(3);

impl Turn<'_> {
    /// Reads the days since the last time, and at most `back` of them.
    pub(super) async fn ads(&mut self, back: Duration) -> Result<(), Stopped> {
        let started_at = self.now();
        let day = |at| self.account.timezone.day_of(at);
        let oldest = day(started_at - back);
        let from = self.cursor(Stream::Ads).map_or(oldest, |read_at| oldest.max(day(read_at - AGAIN)));
        let reading = Reading::Ads { from, until: day(started_at) };
        let tally = match self.import(&reading).await? {
            Ok(tally) => tally,
            // A shop is read without its ads where the permission for them was not granted.
            Err(ShopError::MissingScope(scope)) => {
                self.miss(&scope).await?;
                Tally::default()
            }
            Err(error) => return Err(self.failed(Stream::Ads, None, started_at, Tally::default(), error).await),
        };
        let done = Outcome::Done { cursor: started_at, reached: None };
        self.record(Stream::Ads, None, started_at, tally, done).await
    }
}
