//! What was spent on the platform's ads: of a shop once a day, of an ad account in every turn.

use domain::shops::{
    AdTiming, ShopError,
    sync::{Outcome, Stream},
};
use time::{Duration, OffsetDateTime};

use super::{Reading, Stopped, Turn};
use crate::shops::imports::Tally;

impl Turn<'_> {
    /// Reads the days since the last time with those before that still change, once a day; the last two days in between. The
    /// back-fill reads the history of an ad account, of a shop's ads the first time does, and each time after which they may
    /// be shown for the first time: when the permission was missing before, or the shop is connected again.
    pub(super) async fn ads(&mut self, timing: AdTiming, present: OffsetDateTime) -> Result<(), Stopped> {
        let AdTiming { history, settles, permission } = timing;
        let started_at = self.now();
        let lacked = permission.filter(|permission| self.is_shop() && self.lacks(permission));
        let is_seen = |read_at: &OffsetDateTime| lacked.is_none() && *read_at >= self.integration.connected_at;
        let read_at = self.cursor(Stream::Ads).filter(|read_at| !self.is_shop() || is_seen(read_at));
        let day = |at| self.zone.day_of(at);
        let (oldest, today) = (day(started_at - history), day(started_at));
        let from = match read_at {
            Some(read_at) if day(read_at) < today => day(read_at - settles),
            Some(read_at) => day(read_at - Duration::DAY),
            None if self.is_shop() => oldest,
            None => day(self.integration.connected_at - settles),
        };
        let reading = Reading::Ads { from: oldest.max(from), until: today };
        let (tally, was_read) = match self.import(&reading).await? {
            Ok(tally) => (tally, true),
            // A shop is read without its ads where the permission for them was not granted.
            Err(ShopError::MissingScope(scope)) if self.is_shop() => {
                self.miss(&scope).await?;
                (Tally::default(), false)
            }
            Err(error) => return Err(self.failed(Stream::Ads, None, started_at, Tally::default(), error).await),
        };
        if let Some(permission) = lacked.filter(|_| was_read) {
            self.has(permission).await?;
        }
        let done = Outcome::Done {
            cursor: started_at,
            reached: (!self.is_shop()).then_some(present),
            run_jobs: was_read && self.is_shop() && read_at.is_none(),
        };
        self.record(Stream::Ads, None, started_at, tally, done).await
    }
}
