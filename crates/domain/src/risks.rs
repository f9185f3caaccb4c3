//! What may go wrong within a month, and what it would cost.
//!
//! Amounts are contribution: price less unit cost, fees and shipping, never revenue. They are never added up: a stock-out of
//! the best-selling product, the shop's dependence on it and the customers who buy it are one loss seen three times.

mod rules;
mod wording;

use async_trait::async_trait;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime};

use crate::{
    AccountId, AdEntityId, CreativeId, CustomerId, InsightId, IntegrationId, ProductId, RiskId, StoreError,
    SubscriptionId,
    accounts::Platform,
    ads::CampaignSums,
    freshness::Freshness,
    insights::Severity,
    integrations::Integration,
    jobs::{Claim, WriteOutcome},
    metrics::returns::OrderValue,
    money::{Currency, estimate},
    page::{Page, PageRequest},
};

pub use rules::{
    Channel, CustomerShare, Customers, LIKELY_CHURN, LONGEST_COVER_DAYS, Margin, Product, QUESTION_WAITS, Refunds,
    STOCKOUT_PROBABILITY, Scale, URGENT_WAITS, ad_fatigue, ad_waste, channel_concentration, churn,
    customer_concentration, dead_stock, integration_stale, low_credits, margin_drop, refund_spike, sku_concentration,
    stockout, unanswered_conversations, webhook_failing,
};
pub use wording::Unit;
#[cfg(test)]
pub(crate) use wording::tests::say_all;

/// Days that a risk looks ahead.
pub const HORIZON_DAYS: i64 = 30;
/// Days without being found, after which a risk is gone: until then it keeps its place and since when it is known.
pub const FORGOTTEN_AFTER_DAYS: i64 = 3;
/// No amount is larger, in units of the currency: beyond any shop, and below the 10^14 that is too much for the columns
/// `risks.exposure_*`, which are `numeric(18, 4)`.
const LARGEST_AMOUNT: f64 = 9e13;

text_enum!(
    /// What may go wrong.
    Kind {
        Stockout = "stockout",
        DeadStock = "dead_stock",
        Churn = "churn",
        CustomerConcentration = "customer_concentration",
        SkuConcentration = "sku_concentration",
        ChannelConcentration = "channel_concentration",
        RefundSpike = "refund_spike",
        MarginDrop = "margin_drop",
        AdWaste = "ad_waste",
        AdFatigue = "ad_fatigue",
        IntegrationStale = "integration_stale",
        LowCredits = "low_credits",
        WebhooksFailing = "webhooks_failing",
        UnansweredConversations = "unanswered_conversations",
    }
);

impl Kind {
    /// Those that tell how something stands, which is known for certain: over when a run does not find them.
    pub const STANDING: [Self; 4] =
        [Self::IntegrationStale, Self::LowCredits, Self::WebhooksFailing, Self::UnansweredConversations];
}

text_enum!(
    /// What to do about it.
    Action {
        Reorder = "reorder",
        Discount = "discount",
        Contact = "contact",
        Reconnect = "reconnect",
        PauseAd = "pause_ad",
        TopUp = "top_up",
        FixEndpoint = "fix_endpoint",
        Reply = "reply",
        Review = "review",
    }
);

text_enum!(
    /// What was measured, and in which unit; the changes are in parts of net revenue.
    Measure {
        DaysOfStock = "days_of_stock",
        Stock = "stock",
        ExcessUnits = "excess_units",
        UnitsSold90d = "units_sold_90d",
        Customers = "customers",
        MeanChurn = "mean_churn",
        Share90d = "share_90d",
        Hhi = "hhi",
        Refunds7d = "refunds_7d",
        RefundsUsual = "refunds_usual",
        Margin14d = "margin_14d",
        CogsChange = "cogs_change",
        FeesChange = "fees_change",
        ShippingChange = "shipping_change",
        AdsChange = "ads_change",
        RefundsChange = "refunds_change",
        HoursSinceSync = "hours_since_sync",
        BlindShare = "blind_share",
        DaysLeft = "days_left",
        CreditsUsed14d = "credits_used_14d",
        HoursFailing = "hours_failing",
        HoursToDisable = "hours_to_disable",
        WaitingDeliveries = "waiting_deliveries",
        Roas30d = "roas_30d",
        Purchases30d = "purchases_30d",
        CtrDrop = "ctr_drop",
        HoursWaiting = "hours_waiting",
        WaitingConversations = "waiting_conversations",
    }
);

text_enum!(
    /// What an amount takes for granted.
    Assumption {
        BuyersSwitch = "buyers_switch",
        OnOrderArrives = "on_order_arrives",
        LeadTimeUnknown = "lead_time_unknown",
        CarryingCost = "carrying_cost",
        LeaveByScore = "leave_by_score",
        BuyAsLastYear = "buy_as_last_year",
        ChurnUncalibrated = "churn_uncalibrated",
        WholeShareLost = "whole_share_lost",
        SpikeFades = "spike_fades",
        GoodsNotBack = "goods_not_back",
        RevenueAsLastMonth = "revenue_as_last_month",
        MarginRecovers = "margin_recovers",
        UseAsLately = "use_as_lately",
        SpendAsLately = "spend_as_lately",
        SalesAsClaimed = "sales_as_claimed",
        ClicksStayFew = "clicks_stay_few",
        CostsUnknown = "costs_unknown",
    }
);

/// What a risk may cost within [`HORIZON_DAYS`]: the 20 % quantile, the mean and the 80 % quantile, in the account's
/// currency. What is known of them is in this order, and none is negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exposure {
    pub low: Option<Decimal>,
    pub expected: Option<Decimal>,
    pub high: Option<Decimal>,
}

impl Exposure {
    /// Rounded to the currency's minor unit; what is not a number is not known. An end that is on the wrong side of the
    /// mean gives way to it.
    pub fn new(low: Option<f64>, expected: Option<f64>, high: Option<f64>, currency: Currency) -> Self {
        let amount = |figure: Option<f64>| {
            let figure = figure.filter(|figure| !figure.is_nan())?;
            Some(estimate(figure.min(LARGEST_AMOUNT), currency.exponent()))
        };
        let (low, expected, high) = (amount(low), amount(expected), amount(high));
        let middle = expected.or(high);
        Self {
            low: low.map(|low| middle.map_or(low, |middle| low.min(middle))),
            expected,
            high: high.map(|high| expected.map_or(high, |expected| high.max(expected))),
        }
    }

    pub fn range((low, expected, high): (f64, f64, f64), currency: Currency) -> Self {
        Self::new(Some(low), Some(expected), Some(high), currency)
    }
}

/// A figure that the risk was found by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub metric: Measure,
    pub value: Option<f64>,
    /// The risk is raised from here on; none where the figure only explains it.
    pub threshold: Option<f64>,
}

/// What a risk is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    pub sku: Option<String>,
    /// The open insight on the same situation.
    pub insight_id: Option<InsightId>,
    pub customer_id: Option<CustomerId>,
    pub integration_id: Option<IntegrationId>,
    pub webhook_id: Option<SubscriptionId>,
}

/// A risk as the job `risk_assessment` finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    /// What it is about among the risks of its kind; stays the same while the risk does.
    pub subject: String,
    /// What it is about, for people.
    pub label: String,
    pub severity: Severity,
    /// 0 to 1 with at most 4 decimals; none where it is not known.
    pub likelihood: Option<Decimal>,
    pub exposure: Option<Exposure>,
    /// Whether the amount is unknown because unit costs are.
    pub lacks_costs: bool,
    pub evidence: Vec<Evidence>,
    pub assumptions: Vec<Assumption>,
    pub action: Option<Action>,
    pub links: Links,
}

impl Finding {
    /// Names the risk among those of the account, the same from run to run.
    pub fn id(&self) -> String {
        format!("{}:{}", self.kind, self.subject)
    }
}

/// A risk that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// Its place among those of the account; stays while the risk does.
    pub number: RiskId,
    pub found: Finding,
    pub detected_at: OffsetDateTime,
    /// When a run last found it.
    pub last_seen_at: OffsetDateTime,
}

/// Over all risks, whatever the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    pub low: i64,
    pub medium: i64,
    pub high: i64,
    pub critical: i64,
    /// The largest of what is expected; none where no amount is.
    pub largest_expected: Option<Decimal>,
    /// Risks whose amount is unknown because unit costs are.
    pub lack_costs: i64,
}

impl Summary {
    pub const fn total(&self) -> i64 {
        self.low + self.medium + self.high + self.critical
    }
}

/// A page of risks, the summary over all of them, and how fresh both are.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    pub page: Page<Risk>,
    pub summary: Summary,
    pub freshness: Freshness,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    pub kind: Option<Kind>,
    pub severity: Option<Severity>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait RiskStore: Send + Sync {
    /// The most severe first, then by what is expected with the unknown last, then by number. The cursor is the number of the
    /// last risk of the page before.
    async fn list(&self, account: AccountId, filter: Filter, page: PageRequest) -> Result<Listing, StoreError>;
}

/// What was sold of a product, and since when it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductSales {
    pub product_id: ProductId,
    pub sku: String,
    pub revenue_90d: Decimal,
    /// As ordered.
    pub units_90d: i64,
    pub known_since: Date,
}

/// What a customer brought, less refunds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerRevenue {
    pub customer_id: CustomerId,
    /// Over 365 days for regular customers, over 90 for the largest.
    pub net: Decimal,
    pub churn: Option<Decimal>,
}

/// What customers brought in 90 days.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CustomerBase {
    pub largest: Option<CustomerRevenue>,
    /// Σ of those who brought anything, and Σ of the squares.
    pub net_90d: Decimal,
    pub squares_90d: f64,
    /// VIP and loyal customers who are likelier to stay away than to come back.
    pub leaving: Vec<CustomerRevenue>,
    /// Customers with a churn score.
    pub scored: i64,
}

/// What came through a platform in 90 days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelRevenue {
    pub platform: String,
    pub revenue: Decimal,
    pub orders: i64,
}

/// A shop that is connected, or to be connected again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectedShop {
    pub id: IntegrationId,
    pub provider: Platform,
    pub shop: String,
    pub last_sync_at: OffsetDateTime,
    /// The platform ended the connection: nothing comes until it is connected again.
    pub has_ended: bool,
}

impl ConnectedShop {
    /// The shop as of `now`, if it has been synced and is not one that its owner has left.
    pub fn of(shop: Integration, now: OffsetDateTime) -> Option<Self> {
        let has_ended = shop.is_to_reconnect(now);
        let last_sync_at = shop.last_sync_at.filter(|_| has_ended || shop.revoked_at.is_none())?;
        Some(Self { id: shop.id, provider: shop.provider, shop: shop.shop, last_sync_at, has_ended })
    }
}

/// A subscription whose deliveries fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingWebhook {
    pub id: SubscriptionId,
    pub failing_since: OffsetDateTime,
    /// Deliveries that have not arrived yet, counted up to [`MOST_COUNTED`](crate::queues::MOST_COUNTED).
    pub waiting: i64,
}

/// What is left of the credits, what is used of them, and whether they are recharged by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Credits {
    pub balance: i64,
    pub used_14d: i64,
    pub auto_topup_enabled: bool,
    /// Charges that failed since the last that succeeded.
    pub auto_topup_failures: i64,
}

/// An ad that is clicked on less than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiredAd {
    pub campaign_id: AdEntityId,
    pub creative_id: CreativeId,
    /// Its headline, else its name or that of its campaign.
    pub label: String,
    /// Clicks per impression of the last days by those of the first: below 1.
    pub ctr_ratio: Decimal,
    /// Of the last days of which all is known; none in a currency without a rate.
    pub spend: Option<Decimal>,
}

/// Conversations that have waited for an answer for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unanswered {
    /// Complaints, and customers of the segment VIP.
    pub urgent: i64,
    pub others: i64,
    /// Since when the first of them has waited.
    pub since: OffsetDateTime,
}

/// An insight that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenInsight {
    pub id: InsightId,
    pub fingerprint: String,
    /// The [key](crate::stories::Story::key) of the story that it tells, if it tells one.
    pub story: Option<String>,
}

/// Everything that the risks are found in, beside the daily sums and the demand of the products.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Situation {
    pub products: Vec<ProductSales>,
    pub customers: CustomerBase,
    pub channels: Vec<ChannelRevenue>,
    /// Those that have been synced, and are connected or to be connected again.
    pub shops: Vec<ConnectedShop>,
    pub credits: Credits,
    pub webhooks: Vec<FailingWebhook>,
    pub insights: Vec<OpenInsight>,
    /// Over [`HORIZON_DAYS`] until the last day whose purchases are settled.
    pub campaigns: Vec<CampaignSums>,
    /// Of 90 days.
    pub order_value: OrderValue,
    /// Those whose campaigns run.
    pub tired_ads: Vec<TiredAd>,
    /// None where nobody has waited for so long.
    pub unanswered: Option<Unanswered>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait RiskSource: Send + Sync {
    /// What is known at `now`, with the sales up to and including the day `last`.
    async fn situation(&self, account: AccountId, last: Date, now: OffsetDateTime) -> Result<Situation, StoreError>;
}

/// Where the job `risk_assessment` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait RiskWriter: Send + Sync {
    /// Writes what was found and ends the run at `now`, in one transaction. A risk that was known keeps its row and since
    /// when it is known; one that was not found for [`FORGOTTEN_AFTER_DAYS`], or is of a [standing](Kind::STANDING) kind and was
    /// not found by this run, is removed.
    async fn replace(
        &self,
        claim: &Claim,
        found: Vec<Finding>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError>;
}
