//! What insights are drawn from: the results of the other jobs, and nothing else.

use async_trait::async_trait;
use rust_decimal::{Decimal, prelude::ToPrimitive};
use time::{Date, Duration, OffsetDateTime};

use super::{KnownTexts, ProductWeeks};
use crate::{
    AccountId, StoreError, StoryId,
    accounts::Platform,
    ads::CampaignSums,
    customers::Segment,
    daily::DayTotals,
    integrations::{self, Integration},
    metrics::{returns::OrderValue, stock::lost_on},
    profit::DayRange,
    reorder::{self, Basis},
    stories::Story,
    zone::Zone,
};

/// Customers of a segment and what they spent so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentFact {
    pub segment: Segment,
    pub customers: i64,
    pub revenue: Decimal,
}

/// A shop or ad account that has not been heard of for too long, or will not be until it is connected again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleShop {
    pub provider: Platform,
    pub shop: String,
    pub last_sync_at: OffsetDateTime,
    /// The platform took the permission back: nothing comes until it is connected again.
    pub has_ended: bool,
}

impl StaleShop {
    /// The shop, if it is stale at `now`, or its connection was ended by the platform.
    pub fn of(shop: Integration, now: OffsetDateTime) -> Option<Self> {
        let has_ended = shop.is_to_reconnect(now);
        let is_told = has_ended || shop.status(now) == integrations::Status::Stale;
        let last_sync_at = shop.last_sync_at.filter(|_| is_told)?;
        Some(Self { provider: shop.provider, shop: shop.shop, last_sync_at, has_ended })
    }
}

/// An item of the inventory whose status is critical.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CriticalItem {
    pub sku: String,
    pub current_stock: i64,
    pub units_sold_30d: i64,
    /// What a unit was sold at lately, else its list price, in the account's currency.
    pub price: Option<Decimal>,
    /// Units a day that are expected to sell; `None` until it is next computed.
    pub velocity: Option<Decimal>,
    /// Units that are expected to be missed until an order of today can be there; `None` likewise.
    pub missed_units: Option<f64>,
    /// What selling a unit brings; `None` without a price or a unit cost.
    pub unit_contribution: Option<f64>,
    /// When the stock will have run out, at the expected pace; `None` where it has.
    pub runs_out_on: Option<Date>,
    /// Whether units are on their way.
    pub is_on_order: bool,
}

impl CriticalItem {
    /// Whether each unit of it costs more than it brings.
    pub fn sells_at_a_loss(&self) -> bool {
        reorder::sells_at_a_loss(self.unit_contribution)
    }

    /// What it sells for a day while there is stock; nothing where that is not known.
    pub(super) fn daily_sales(&self) -> Decimal {
        self.price.zip(self.velocity).map(|(price, velocity)| price * velocity).unwrap_or_default()
    }

    /// What is lost until an order of today can be there, as the risk of its stock-out tells it. Where its unit cost is not known,
    /// a unit brings `left` of its price. `None` where too little is known.
    pub(super) fn lost(&self, left: Decimal) -> Option<f64> {
        let by_price = || (self.price? * left).to_f64();
        Some(lost_on(self.missed_units?, self.unit_contribution.or_else(by_price)?))
    }
}

/// A suggestion to reorder an item, on which nobody has decided.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingReorder {
    pub sku: String,
    /// `None` of a suggestion from before it was kept.
    pub basis: Option<Basis>,
}

impl PendingReorder {
    /// Whether to follow it.
    pub fn is_recommended(&self) -> bool {
        reorder::is_recommended(self.basis.as_ref())
    }
}

/// Comments, but for praise and spam, that have waited for an answer for longer than [`UNANSWERED_AFTER`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentsWaiting {
    pub comments: i64,
    /// Of them complaints.
    pub complaints: i64,
    /// Since when the first of them has waited.
    pub since: OffsetDateTime,
}

/// How long a customer may wait for an answer before it is worth telling.
pub const UNANSWERED_AFTER: Duration = Duration::DAY;

/// A story that is kept, without its anomalies.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryFact {
    pub id: StoryId,
    pub story: Story,
}

/// What the database knows for insights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stored {
    pub stories: Vec<StoryFact>,
    /// Items whose status is critical, by days of stock, then SKU.
    pub critical: Vec<CriticalItem>,
    pub reorders: Vec<PendingReorder>,
    pub segments: Vec<SegmentFact>,
    pub stale_shops: Vec<StaleShop>,
    /// As of the moment; `None` where nobody has waited for so long.
    pub waiting: Option<CommentsWaiting>,
    /// Products that were bought [`LEAST_PURCHASES`](super::LEAST_PURCHASES) times or more in the last week.
    pub products: Vec<ProductWeeks>,
    /// Those that run, over 30 days until the last whose purchases are settled.
    pub campaigns: Vec<CampaignSums>,
    /// Of 90 days.
    pub order_value: OrderValue,
}

/// Everything that the rules look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The last full day.
    pub last: Date,
    /// The account's, whose days are told.
    pub zone: Zone,
    /// The year that ends with it, one day after the other.
    pub days: Vec<DayTotals>,
    pub stored: Stored,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait InsightSource: Send + Sync {
    /// The results of the other jobs: the stories of the days `news`, the rest as it stands; shops are stale, and customers have waited, as of `now`.
    async fn stored(&self, account: AccountId, news: DayRange, now: OffsetDateTime) -> Result<Stored, StoreError>;
    /// What a model worded of what is open, and what is [left alone](super::is_left_alone) at `now`.
    async fn worded(&self, account: AccountId, now: OffsetDateTime) -> Result<KnownTexts, StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;
    use crate::{IntegrationId, integrations::RevokeReason};

    const NOW: OffsetDateTime = datetime!(2026-05-02 12:00 UTC);

    #[rstest]
    #[case::never_synced(None, None, false)]
    #[case::a_day_ago(None, Some(datetime!(2026-05-01 12:00 UTC)), false)]
    #[case::more_than_a_day_ago(None, Some(datetime!(2026-05-01 11:59:59 UTC)), true)]
    #[case::revoked(Some(NOW), Some(datetime!(2026-05-01 11:59:59 UTC)), false)]
    fn a_connected_shop_without_a_sync_for_more_than_a_day_is_stale(
        #[case] revoked_at: Option<OffsetDateTime>,
        #[case] last_sync_at: Option<OffsetDateTime>,
        #[case] is_stale: bool,
    ) {
        let shop = Integration { revoked_at, last_sync_at, ..shop() };
        assert_eq!(StaleShop::of(shop, NOW).map(|stale| stale.last_sync_at), last_sync_at.filter(|_| is_stale));
    }

    #[rstest]
    #[case::by_the_platform(RevokeReason::TokenExpired, 0, true)]
    #[case::by_the_platform_lately(RevokeReason::TokenExpired, 29, true)]
    #[case::by_the_platform_long_ago(RevokeReason::TokenExpired, 30, false)]
    #[case::by_the_owner(RevokeReason::Manual, 0, false)]
    #[case::on_the_platform(RevokeReason::Uninstalled, 0, false)]
    fn a_shop_whose_connection_was_ended_is_told_at_once(
        #[case] reason: RevokeReason,
        #[case] days_ago: i64,
        #[case] is_told: bool,
    ) {
        let revoked_at = NOW - Duration::days(days_ago);
        let last_sync_at = revoked_at - Duration::HOUR;
        let ended = Integration {
            revoked_at: Some(revoked_at),
            last_sync_at: Some(last_sync_at),
            revoke_reason: Some(reason),
            ..shop()
        };
        let told = StaleShop::of(ended, NOW).map(|told| (told.last_sync_at, told.has_ended));
        assert_eq!(told, is_told.then_some((last_sync_at, true)));
    }

    fn shop() -> Integration {
        Integration {
            id: IntegrationId(1),
            provider: Platform::Shopify,
            shop: "demo.myshopify.com".into(),
            scopes: vec![],
            connected_at: datetime!(2026-01-01 00:00 UTC),
            revoked_at: None,
            last_sync_at: None,
            missing_scopes: vec![],
            history_from: None,
            backfilled_from: None,
            buyer_data: integrations::BuyerData::Full,
            last_error: None,
            suspended: false,
            owner_of: vec![],
            revoke_reason: None,
        }
    }
}
