//! What happens in the shop, most of it going wrong, and when: it is for the jobs to find out.

use super::calendar::HISTORY_DAYS;

/// A day, as many days before the opening as said.
const fn before_opening(days: usize) -> usize {
    HISTORY_DAYS - days
}

/// The best seller's stock is written off on this morning…
pub const STOCK_OUT_DAY: usize = before_opening(6);
/// …and its next delivery comes on this one.
pub const RESTOCK_DAY: usize = HISTORY_DAYS + 9;
/// Place among the best sellers of the product that goes out of stock.
pub const STOCK_OUT_RANK: usize = 0;

/// The shop's buyer is on holiday from this day: what runs low since then waits for a suggestion.
pub const BUYER_LEAVES_DAY: usize = before_opening(12);
/// The day they are back.
pub const BUYER_RETURNS_DAY: usize = HISTORY_DAYS + 5;

/// Buyers of a faulty batch get their money back on this day…
pub const REFUND_DAY: usize = before_opening(4);
/// …if they ordered at most this number of days before.
pub const REFUND_WINDOW_DAYS: usize = 40;
/// How many of them, latest orders first.
pub const REFUNDED_ORDERS: usize = 32;
/// Place among the best sellers of the faulty product.
pub const FAULTY_RANK: usize = 2;

/// The shop's own sites are down on this day: no orders there, the marketplace alone sells, and few visits.
pub const OUTAGE_DAY: usize = before_opening(2);
/// Visits of that day that come nevertheless, in thousandths.
pub const OUTAGE_VISITS: i64 = 250;

/// From this day on a click of one campaign costs more.
pub const DEARER_DAY: usize = before_opening(13);
/// How much more, in thousandths of the price before.
pub const DEARER_BY: i64 = 2_600;
/// The campaign.
pub const DEARER_CAMPAIGN: &str = "Shopping - all products";

/// Good customers who bought every month or so stop in the days up to this one.
pub const LEAVING_DAY: usize = before_opening(95);
/// How many of them.
pub const LEAVERS: u64 = 60;

/// From this day on many buyers take one product more…
pub const TREND_DAY: usize = before_opening(8);
/// …in thousandths of them. An influencer has shown it.
pub const TREND_BUYERS: u64 = 90;
/// Place among the best sellers of the product.
pub const TREND_RANK: usize = 9;
