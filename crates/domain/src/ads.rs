//! Advertising by account, campaign, ad set and ad.
//!
//! Purchases and revenue are what the platform claims, by its own rules of attribution. What a source does not tell is `None`,
//! and what there was nothing of is 0. Every ratio is one of sums, over the ads and days that tell both of its sides.

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use crate::{
    AccountId, AdEntityId, AdRowId, StoreError,
    metrics::{
        ratios::quotient,
        returns::{OrderValue, Return},
    },
    money::Currency,
    page::{Page, PageRequest},
    profit::DayRange,
};

/// Days that the newest rate of a currency is used for, when there is none for the day itself: weekends and holidays have none.
pub const RATE_DAYS: i64 = 7;

text_enum!(
    /// Where ads run.
    AdPlatform {
        Meta = "meta",
        Google = "google",
        Mercadolibre = "mercadolibre",
        /// Any other that a file tells of.
        Manual = "manual",
    }
);

impl AdPlatform {
    /// The platform that `text` means, whatever its case, spaces, the word "ads" and the number of an ad account behind it.
    pub fn named(text: &str) -> Self {
        let plain: String =
            text.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect();
        match plain.strip_suffix("ads").unwrap_or(&plain) {
            "meta" | "facebook" | "instagram" => Self::Meta,
            "google" | "adwords" => Self::Google,
            "mercadolibre" | "mercadolivre" | "mercado" => Self::Mercadolibre,
            _ => Self::Manual,
        }
    }

    /// What all spellings of what a file calls a platform have in common: "Meta Ads", "meta" and "facebook" are one, and so are
    /// "TikTok" and "tiktok_ads"; an account's number behind it tells it from others. Instagram is told apart, as Meta's own
    /// files tell what of a campaign it was.
    pub fn spelling(text: &str) -> String {
        let plain: String =
            text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        match Self::named(text) {
            Self::Manual => plain.strip_suffix("ads").filter(|rest| !rest.is_empty()).unwrap_or(&plain).to_owned(),
            known => {
                let number: String = plain.chars().filter(char::is_ascii_digit).collect();
                let name = if plain.contains("instagram") { "instagram" } else { known.as_str() };
                format!("{name}{number}")
            }
        }
    }

    /// The last days, today included, of which a platform still changes what it says, as purchases are attributed to clicks
    /// that were earlier. They are read again every day.
    pub const fn settles_after(self) -> i64 {
        match self {
            Self::Meta => 28,
            Self::Google => 30,
            Self::Mercadolibre => 4,
            Self::Manual => 0,
        }
    }
}

text_enum!(
    /// What a row is about.
    Level { Account = "account", Campaign = "campaign", AdSet = "ad_set", Ad = "ad" }
);

text_enum!(
    /// Whether an ad runs. What is above has the status of its liveliest ad.
    Status { Active = "active", Paused = "paused", Archived = "archived" }
);

impl Status {
    /// Of what is above ads, by whether any of these is active, and any paused: that of the liveliest.
    pub const fn of_ads(any_active: bool, any_paused: bool) -> Self {
        match (any_active, any_paused) {
            (true, _) => Self::Active,
            (false, true) => Self::Paused,
            (false, false) => Self::Archived,
        }
    }
}

text_enum!(
    /// Whether a row is of the whole window or of a day of it.
    Group { Total = "total", Day = "day" }
);

text_enum!(
    /// What a creative is.
    Format { Video = "video", Image = "image", Carousel = "carousel", Text = "text", Unknown = "unknown" }
);

/// Sums over ads and days. Amounts are in the account's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// `None` where a part of it is in a currency without a rate.
    pub spend: Option<Decimal>,
    pub impressions: Option<i64>,
    pub clicks: Option<i64>,
    pub purchases: Option<i64>,
    /// As the platform claims it. `None` also where a part of it is in a currency without a rate.
    pub revenue: Option<Decimal>,
    pub paired: Paired,
}

/// What the ratios are made of: sums over the ads and days that tell both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paired {
    /// Clicks where impressions are known, and impressions where clicks are.
    pub clicks_of_shown: i64,
    pub shown_of_clicked: i64,
    /// Spend where impressions, clicks, purchases or revenue are known.
    pub spend_of_shown: Decimal,
    pub spend_of_clicked: Decimal,
    pub spend_of_purchased: Decimal,
    pub spend_of_returned: Decimal,
    /// Impressions, clicks and purchases where spend is known.
    pub shown_of_spent: i64,
    pub clicks_of_spent: i64,
    pub purchases_of_spent: i64,
}

/// What a campaign did over some days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignSums {
    pub id: AdEntityId,
    /// What its platform is called in [`daily`](crate::daily), and its name; the platform's where it has none.
    pub platform: String,
    pub name: String,
    /// Whether one of its ads runs, as far as it is known.
    pub is_active: bool,
    /// The last of the days on which anything was spent.
    pub last_spent: Option<Date>,
    /// In the account's currency. `None` where a part is not told, or in a currency without a rate.
    pub spend: Option<Decimal>,
    pub purchases: Option<i64>,
    /// As the platform claims it.
    pub revenue: Option<Decimal>,
}

/// Days without spend after which an ad no longer runs.
const RUNS_FOR_DAYS: i64 = 7;

/// Whether what last spent on that day still runs on the day `last`, as far as its spend tells.
pub fn still_spends(last_spent: Option<Date>, last: Date) -> bool {
    last_spent.is_some_and(|day| (last - day).whole_days() < RUNS_FOR_DAYS)
}

impl CampaignSums {
    /// Whether it still runs at the end of the days, and will spend.
    pub fn runs(&self, last: Date) -> bool {
        self.is_active && still_spends(self.last_spent, last)
    }

    /// What its platform claims that it brings; `None` where that is not told.
    pub fn claimed_return(&self, order: OrderValue) -> Option<Return> {
        Return::of(self.purchases?, self.revenue?, self.spend?, order)
    }
}

impl Sums {
    /// Clicks per impression.
    pub fn ctr(&self) -> Option<Decimal> {
        quotient(self.paired.clicks_of_shown.into(), self.paired.shown_of_clicked.into())
    }

    /// Spend per click.
    pub fn cpc(&self) -> Option<Decimal> {
        self.spend?;
        quotient(self.paired.spend_of_clicked, self.paired.clicks_of_spent.into())
    }

    /// Spend per thousand impressions.
    pub fn cpm(&self) -> Option<Decimal> {
        self.spend?;
        quotient(self.paired.spend_of_shown, self.paired.shown_of_spent.into())?.checked_mul(Decimal::ONE_THOUSAND)
    }

    /// Spend per purchase.
    pub fn cpa(&self) -> Option<Decimal> {
        self.spend?;
        quotient(self.paired.spend_of_purchased, self.paired.purchases_of_spent.into())
    }

    /// Claimed revenue per unit of spend.
    pub fn roas(&self) -> Option<Decimal> {
        self.spend?;
        quotient(self.revenue?, self.paired.spend_of_returned)
    }

    /// The shop's own net revenue per unit of spend: the marketing efficiency ratio.
    pub fn mer(&self, store_revenue: Decimal) -> Option<Decimal> {
        quotient(store_revenue, self.spend?)
    }

    /// Spend per unit of the shop's own net revenue: the total advertising cost of sales. None without spend.
    pub fn tacos(&self, store_revenue: Decimal) -> Option<Decimal> {
        let spend = self.spend.filter(|spend| !spend.is_zero())?;
        quotient(spend, store_revenue)
    }
}

/// Which ads, and how they are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    pub range: DayRange,
    pub platform: Option<AdPlatform>,
    /// A campaign's number.
    pub campaign: Option<AdEntityId>,
    pub status: Option<Status>,
    pub level: Level,
    pub group: Group,
}

impl Query {
    /// Whether what is asked for is a part of the account's advertising, so that the shop's own revenue cannot be set beside it.
    pub const fn is_partial(&self) -> bool {
        self.platform.is_some() || self.campaign.is_some() || self.status.is_some()
    }
}

/// An ad account, campaign, ad set or ad, over the window or on a day of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdRow {
    pub id: AdRowId,
    /// `None` where the source does not split what is above.
    pub external_id: Option<String>,
    pub platform: AdPlatform,
    pub level: Level,
    pub parent_id: Option<AdEntityId>,
    /// Its own, else the one of what is above.
    pub name: String,
    pub status: Status,
    pub date: Option<Date>,
    pub sums: Sums,
    /// Spend as the source has it; none where that is in several currencies.
    pub native: Option<(Decimal, Currency)>,
    pub last_synced_at: OffsetDateTime,
}

/// Bits of a cursor that are the row's number, below those of its day.
const NUMBER_BITS: u32 = 34;

impl AdRow {
    /// What names the row in its list. By day it is the day, counted from 1970, and the number, within the 53 bits that a JSON
    /// number holds in every language.
    pub fn cursor(&self) -> i64 {
        match self.date {
            None => self.id.0,
            Some(day) => ((day - UNIX_DAY).whole_days() << NUMBER_BITS) | self.id.0,
        }
    }
}

const UNIX_DAY: Date = time::macros::date!(1970 - 01 - 01);

/// The day and the number of a row that a cursor of a list by day names. None for a number that names none.
pub fn place_by_day(cursor: i64) -> Option<(Date, AdRowId)> {
    let days = cursor >> NUMBER_BITS;
    let day = UNIX_DAY.checked_add(Duration::days(days))?;
    (days > 0).then_some((day, AdRowId(cursor & ((1 << NUMBER_BITS) - 1))))
}

/// What is known of a platform's days in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    pub platform: AdPlatform,
    /// Days that the platform, or a file, has told of.
    pub days: i64,
    /// Whether the platform itself is read, so that its last days still change.
    pub is_synced: bool,
}

impl Coverage {
    /// The first day of the window that still changes.
    pub fn provisional_from(&self, range: DayRange, today: Date) -> Option<Date> {
        let days = self.platform.settles_after();
        let first = today.checked_sub(Duration::days(days.saturating_sub(1)))?.max(range.first);
        (self.is_synced && days > 0 && first <= range.last).then_some(first)
    }
}

/// Everything about the advertising of a window but its rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overview {
    /// Over all that matches, at the level of ads. Money without a rate is left out.
    pub totals: Sums,
    /// Whether anything has no rate.
    pub lacks_rates: bool,
    /// By which clicks and views purchases are counted, where that is the same for all.
    pub attribution: Option<String>,
    pub coverage: Vec<Coverage>,
    /// The ad accounts there are, of the platform that is asked for: their platforms and, where it is not the account's own,
    /// the clock of their days.
    pub sources: Vec<(AdPlatform, Option<String>)>,
}

impl Overview {
    /// The shop's own net revenue, where it can be set beside the spend: not where a part of that is unknown, which brought
    /// orders, too.
    pub fn beside_spend(&self, store_revenue: Option<Decimal>) -> Option<Decimal> {
        store_revenue.filter(|_| !self.lacks_rates)
    }
}

/// Why a list cannot be given.
#[derive(Debug, thiserror::Error)]
pub enum AdListError {
    #[error("no campaign has this number")]
    NoSuchCampaign,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The rows of a list, as they are read.
pub type AdRows = BoxStream<'static, Result<AdRow, StoreError>>;

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AdStore: Send + Sync {
    /// By spend, the highest first and the unknown last, or by day, the newest first; then by number, the highest first. The
    /// cursor is [`AdRow::cursor`] of the last row of the page before, which the filters may have left out since.
    async fn page(&self, account: AccountId, query: Query, page: PageRequest) -> Result<Page<AdRow>, AdListError>;
    /// All rows from the cursor on, in the same order.
    async fn stream(&self, account: AccountId, query: Query, cursor: Option<i64>) -> Result<AdRows, AdListError>;
    async fn overview(&self, account: AccountId, query: Query) -> Result<Overview, StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::{date, datetime};

    use super::*;

    #[rstest]
    #[case(&[Status::Archived, Status::Active, Status::Paused], Status::Active)]
    #[case(&[Status::Archived, Status::Paused], Status::Paused)]
    #[case(&[Status::Archived], Status::Archived)]
    fn what_is_above_ads_has_the_status_of_the_liveliest(#[case] ads: &[Status], #[case] status: Status) {
        assert_eq!(Status::of_ads(ads.contains(&Status::Active), ads.contains(&Status::Paused)), status);
    }

    #[rstest]
    #[case("Meta Ads", "facebook", true)]
    #[case("meta", "META_ADS", true)]
    #[case("Google Ads", "google", true)]
    #[case("TikTok", "tiktok ads", true)]
    #[case("meta 1048576", "meta 1048577", false)]
    #[case("meta 1048576", "meta", false)]
    #[case("Pinterest", "Criteo", false)]
    #[case("ads", "Ads", true)]
    fn a_platform_is_known_however_it_is_spelled(#[case] one: &str, #[case] other: &str, #[case] is_same: bool) {
        assert_eq!(AdPlatform::spelling(one) == AdPlatform::spelling(other), is_same);
    }

    #[rstest]
    #[case("Meta Ads", AdPlatform::Meta)]
    #[case("facebook", AdPlatform::Meta)]
    #[case("google_ads", AdPlatform::Google)]
    #[case("Mercado Ads", AdPlatform::Mercadolibre)]
    #[case("meta 1048576", AdPlatform::Meta)]
    #[case("tiktok", AdPlatform::Manual)]
    #[case("ads", AdPlatform::Manual)]
    #[case("", AdPlatform::Manual)]
    fn platforms_are_known_by_the_names_that_files_give_them(#[case] text: &str, #[case] platform: AdPlatform) {
        assert_eq!(AdPlatform::named(text), platform);
    }

    #[test]
    fn ratios_are_of_sums_where_both_sides_are_known() {
        let sums = Sums {
            spend: Some(dec!(120.50)),
            impressions: Some(50_211),
            clicks: Some(911),
            purchases: Some(14),
            revenue: Some(dec!(980)),
            paired: Paired {
                clicks_of_shown: 911,
                shown_of_clicked: 50_211,
                spend_of_shown: dec!(120.50),
                spend_of_clicked: dec!(120.50),
                spend_of_purchased: dec!(100),
                spend_of_returned: dec!(100),
                shown_of_spent: 50_211,
                clicks_of_spent: 911,
                purchases_of_spent: 14,
            },
        };
        let rounded = |ratio: Option<Decimal>| ratio.map(|ratio| ratio.round_dp(4));
        assert_eq!(rounded(sums.ctr()), Some(dec!(0.0181)));
        assert_eq!(rounded(sums.cpc()), Some(dec!(0.1323)));
        assert_eq!(rounded(sums.cpm()), Some(dec!(2.3999)));
        assert_eq!(rounded(sums.cpa()), Some(dec!(7.1429)), "20.50 were spent where purchases are not told");
        assert_eq!(rounded(sums.roas()), Some(dec!(9.8)));
        assert_eq!(rounded(sums.mer(dec!(1349.60))), Some(dec!(11.2)));
        assert_eq!(rounded(sums.tacos(dec!(1349.60))), Some(dec!(0.0893)));
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        let none = Sums { spend: Some(dec!(0)), clicks: Some(0), impressions: Some(0), ..Sums::default() };
        let ratios =
            [none.ctr(), none.cpc(), none.cpm(), none.cpa(), none.roas(), none.mer(dec!(5)), none.tacos(dec!(5))];
        assert_eq!(ratios, [None; 7]);
        let unpriced = Sums { purchases: Some(3), clicks: Some(4), ..Sums::default() };
        assert_eq!([unpriced.cpa(), unpriced.cpc(), unpriced.mer(dec!(1))], [None; 3]);
    }

    #[test]
    fn a_part_of_the_spend_has_no_share_of_the_shops_revenue() {
        let all = Overview { totals: Sums { spend: Some(dec!(100)), ..Sums::default() }, ..Overview::default() };
        assert_eq!(all.beside_spend(Some(dec!(500))), Some(dec!(500)));
        assert_eq!(all.beside_spend(None), None);
        assert_eq!(Overview { lacks_rates: true, ..all }.beside_spend(Some(dec!(500))), None);
    }

    #[test]
    fn a_cursor_by_day_names_its_day_and_row_and_fits_a_json_number() {
        let row = AdRow {
            id: AdRowId(238),
            external_id: None,
            platform: AdPlatform::Meta,
            level: Level::Ad,
            parent_id: Some(AdEntityId(7)),
            name: String::new(),
            status: Status::Active,
            date: Some(date!(2999 - 12 - 31)),
            sums: Sums::default(),
            native: None,
            last_synced_at: datetime!(2026-11-20 9:00 UTC),
        };
        assert_eq!(place_by_day(row.cursor()), Some((date!(2999 - 12 - 31), AdRowId(238))));
        assert!(row.cursor() < 1 << 53);
        assert_eq!(AdRow { date: None, ..row }.cursor(), 238);
        assert_eq!((place_by_day(238), place_by_day(i64::MAX)), (None, None), "of another list");
    }

    #[rstest]
    #[case(AdPlatform::Meta, true, Some(date!(2026 - 10 - 24)))]
    #[case(AdPlatform::Mercadolibre, true, Some(date!(2026 - 11 - 17)))]
    #[case(AdPlatform::Meta, false, None)]
    fn the_last_days_of_a_platform_still_change(
        #[case] platform: AdPlatform,
        #[case] is_synced: bool,
        #[case] from: Option<Date>,
    ) {
        let coverage = Coverage { platform, days: 30, is_synced };
        let range = DayRange { first: date!(2026 - 10 - 22), last: date!(2026 - 11 - 20) };
        assert_eq!(coverage.provisional_from(range, date!(2026 - 11 - 20)), from);
        let long_ago = DayRange { first: date!(2026 - 01 - 01), last: date!(2026 - 01 - 31) };
        assert_eq!(coverage.provisional_from(long_ago, date!(2026 - 11 - 20)), None);
    }
}
