//! Advertising networks: one folder each, and what they share.

mod client;
pub mod google_ads;
pub mod meta;
mod reached;
pub(crate) mod rows;

use domain::shops::{AdTiming, Timing};
use time::Duration;

/// How far back figures are kept: 37 months, less two weeks since the days are the ad account's.
const HISTORY: Duration = Duration::days(1_110);
/// Days of a window of the back-fill.
const WINDOW: Duration = Duration::days(30);

/// What is to be kept to with a network that changes the figures of a day for as long as `settles`.
const fn timing(settles: Duration, token_lifetime: Duration) -> Timing {
    Timing {
        overlap: Duration::ZERO,
        lag: Duration::ZERO,
        window: WINDOW,
        longest_window: WINDOW,
        history: HISTORY,
        reread: None,
        ads: Some(AdTiming { history: HISTORY, settles, permission: None }),
        token_lifetime,
    }
}
