//! Creatives: what ads show, how well each does in its campaign, and when that is known.
//!
//! Which ad is shown to whom is the platform's choice and no experiment: a winner did better where it was shown.

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    AccountId, AdEntityId, CampaignCreativeId, CreativeId, StoreError,
    ads::{AdListError, AdPlatform, Format, Sums},
    freshness::Freshness,
    jobs::{Claim, WriteOutcome},
    metrics::{ratios::quotient, returns::OrderValue},
    money::Currency,
    page::{Page, PageRequest},
    profit::DayRange,
};

/// Days that verdicts are made from, the last full one included.
pub const HISTORY_DAYS: i64 = 90;
/// The last full days that verdicts leave out, as their purchases are still being attributed.
pub const UNSCORED_DAYS: i64 = 3;

text_enum!(
    /// What can be said of a creative in its campaign.
    Status {
        Winner = "winner",
        /// It is clicked on more, and too few have bought to say that it sells more.
        Leading = "leading",
        Testing = "testing",
        InsufficientData = "insufficient_data",
        /// It was a winner, and is no more.
        Faded = "faded",
        Losing = "losing",
    }
);

text_enum!(
    /// What creatives are compared by.
    Metric { Roas = "roas", PurchasesPerMille = "purchases_per_mille", Ctr = "ctr" }
);

/// By how much its metric is above that of the others, in parts of it. The shrunk one is to be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lift {
    pub observed: Decimal,
    pub shrunk: Decimal,
    /// The 95 % interval of the shrunk one.
    pub low: Decimal,
    pub high: Decimal,
}

/// What is still missing to judge a creative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Of the creative or of its campaign, whichever lacks more.
    pub purchases: i64,
    pub days: i64,
    /// In the account's currency.
    pub spend: Decimal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub status: Status,
    /// With what it is compared by; none without enough data, as are evidence and lift.
    pub metric: Option<Metric>,
    /// The e-value, divided by how many creatives are compared.
    pub evidence: Option<Decimal>,
    pub lift: Option<Lift>,
    /// How many others.
    pub compared_with: i64,
    pub days: i64,
    pub needs: Option<Needs>,
}

/// Clicks per impression of the last days by those of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fatigue {
    pub ctr_ratio: Decimal,
    pub is_fatigued: bool,
}

/// A creative in a campaign, over a window of days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creative {
    pub id: CampaignCreativeId,
    pub key: String,
    pub platform: AdPlatform,
    pub campaign_id: AdEntityId,
    pub campaign: String,
    pub format: Format,
    pub headline: Option<String>,
    pub body: Option<String>,
    /// That show it in the window.
    pub ad_ids: Vec<AdEntityId>,
    pub sums: Sums,
    /// Views of a video's first three seconds, and the impressions of the days that tell them.
    pub video_3s: Option<i64>,
    pub shown_of_watched: i64,
    pub verdict: Verdict,
    pub fatigue: Option<Fatigue>,
    pub won_at: Option<OffsetDateTime>,
    pub first_seen: Date,
    pub last_seen: Date,
    /// The spread of true differences that the verdict was made with.
    pub tau: Decimal,
}

impl Creative {
    pub fn is_winner(&self) -> bool {
        self.verdict.status == Status::Winner
    }

    /// Of a video, the part of the impressions of which three seconds were watched.
    pub fn hook_rate(&self) -> Option<Decimal> {
        let watched = self.video_3s.filter(|_| self.format == Format::Video)?;
        quotient(watched.into(), self.shown_of_watched.into())
    }
}

/// Which creatives: those that ran in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    pub range: DayRange,
    pub platform: Option<AdPlatform>,
    pub status: Option<Status>,
    pub winner: Option<bool>,
    pub campaign: Option<AdEntityId>,
}

/// Creatives, as they are read.
pub type Creatives = BoxStream<'static, Result<Creative, StoreError>>;

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait CreativeStore: Send + Sync {
    /// Winners first, then by spend with the unknown last, then by number, the highest first. The cursor is the number of the
    /// last one of the page before, which the filters may have left out since.
    async fn page(&self, account: AccountId, query: Query, page: PageRequest) -> Result<Page<Creative>, AdListError>;
    /// All from the cursor on, in the same order.
    async fn stream(&self, account: AccountId, query: Query, cursor: Option<i64>) -> Result<Creatives, AdListError>;
    async fn freshness(&self, account: AccountId) -> Result<Freshness, StoreError>;
}

/// What a creative did in an ad set on a day. What the source does not tell is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreativeDay {
    pub campaign_id: AdEntityId,
    pub creative_id: CreativeId,
    pub ad_set_id: AdEntityId,
    pub day: Date,
    pub spend: Option<Decimal>,
    pub impressions: Option<i64>,
    pub clicks: Option<i64>,
    /// May be parts: platforms attribute one purchase to several ads.
    pub purchases: Option<Decimal>,
    pub revenue: Option<Decimal>,
}

/// What verdicts are made from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// By campaign.
    pub days: Vec<CreativeDay>,
    /// Creatives that have won in a campaign.
    pub won: Vec<(AdEntityId, CreativeId)>,
    /// Of 90 days.
    pub order_value: OrderValue,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait CreativeSource: Send + Sync {
    async fn record(&self, account: AccountId, range: DayRange) -> Result<Record, StoreError>;
}

/// What the job found of a creative in a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub campaign_id: AdEntityId,
    pub creative_id: CreativeId,
    pub first_seen: Date,
    pub last_seen: Date,
    pub verdict: Verdict,
    pub fatigue: Option<Fatigue>,
    /// Over the days that were judged.
    pub spend: Decimal,
    /// None where the platform does not tell.
    pub revenue: Option<Decimal>,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdicts {
    pub judged: Vec<Judged>,
    pub tau: Decimal,
    pub window_days: i64,
    pub currency: Currency,
}

/// Where the job `creative_winners` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait CreativeWriter: Send + Sync {
    /// Writes what was found and ends the run at `now`, in one transaction. A creative that is a winner in a campaign for the
    /// first time has won then, and is announced: never again for the same campaign.
    async fn replace(&self, claim: &Claim, verdicts: Verdicts, now: OffsetDateTime)
    -> Result<WriteOutcome, StoreError>;
}
