//! Rows, totals and what is known of the days.

use domain::{
    ads::{AdPlatform, AdRow, Coverage, Level, Overview, Status},
    money::Currency,
    profit::DayRange,
};
use rust_decimal::Decimal;
use serde::Serialize;
use time::Date;
use utoipa::ToSchema;

use crate::{
    csv::file_row,
    names,
    respond::{JsonDecimal, date, instant},
};

/// An ad account, campaign, ad set or ad over the window, or on a day of it. What a source does not tell is null; 0 says that
/// there was none.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Ad)]
pub(super) struct AdBody {
    /// Among the rows of its level.
    #[schema(example = 238)]
    id: i64,
    /// What the platform, or a file, calls it; null where it does not split what is above.
    #[schema(example = "2385")]
    external_id: Option<String>,
    #[schema(schema_with = names::ad_platform)]
    platform: AdPlatform,
    #[schema(schema_with = names::ad_level)]
    level: Level,
    /// The campaign of an ad set, or the ad set of an ad.
    #[schema(example = json!(null))]
    parent_id: Option<i64>,
    /// Its own, else that of what is above.
    #[schema(example = "Prospecting")]
    name: String,
    #[schema(schema_with = names::ad_status)]
    status: Status,
    /// With `group=day`. A day that is missing was not told of.
    #[schema(format = Date, example = json!(null))]
    date: Option<String>,
    /// In `currency`; null where a part has no rate of exchange.
    #[schema(value_type = Option<f64>, example = 120.50)]
    spend: Option<JsonDecimal>,
    #[schema(example = 50211)]
    impressions: Option<i64>,
    #[schema(example = 911)]
    clicks: Option<i64>,
    /// As the platform claims.
    #[schema(example = 14)]
    purchases: Option<i64>,
    /// As the platform claims.
    #[schema(value_type = Option<f64>, example = 980.00)]
    revenue: Option<JsonDecimal>,
    /// Clicks per impression. Each ratio is of sums over the ads and days that tell both of its sides, and null without them
    /// or where the divisor is 0.
    #[schema(value_type = Option<f64>, example = 0.0181)]
    ctr: Option<JsonDecimal>,
    /// Spend per click.
    #[schema(value_type = Option<f64>, example = 0.13)]
    cpc: Option<JsonDecimal>,
    /// Spend per thousand impressions.
    #[schema(value_type = Option<f64>, example = 2.40)]
    cpm: Option<JsonDecimal>,
    /// Spend per purchase.
    #[schema(value_type = Option<f64>, example = 8.61)]
    cpa: Option<JsonDecimal>,
    /// Claimed revenue per unit of spend.
    #[schema(value_type = Option<f64>, example = 8.1328)]
    roas: Option<JsonDecimal>,
    /// The account's.
    #[schema(example = "USD")]
    currency: String,
    /// Null where the spend is in several currencies.
    native: Option<NativeBody>,
    #[schema(format = DateTime, example = "2026-11-20T09:00:00Z")]
    last_synced_at: String,
}

/// Spend as the platform charges it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NativeSpend)]
struct NativeBody {
    #[schema(value_type = f64, example = 120.50)]
    spend: JsonDecimal,
    #[schema(example = "USD")]
    currency: String,
}

impl AdBody {
    pub fn new(row: AdRow, currency: Currency) -> Self {
        let AdRow {
            id,
            external_id,
            platform,
            level,
            parent_id,
            name,
            status,
            date: day,
            sums,
            native,
            last_synced_at,
        } = row;
        let money = |amount| JsonDecimal::money(amount, currency);
        let native = native.map(|(spend, currency)| NativeBody {
            spend: JsonDecimal::money(spend, currency),
            currency: currency.to_string(),
        });
        Self {
            id: id.0,
            external_id,
            platform,
            level,
            parent_id: parent_id.map(|id| id.0),
            name,
            status,
            date: day.map(date),
            spend: sums.spend.map(money),
            impressions: sums.impressions,
            clicks: sums.clicks,
            purchases: sums.purchases,
            revenue: sums.revenue.map(money),
            ctr: sums.ctr().map(JsonDecimal::ratio),
            cpc: sums.cpc().map(money),
            cpm: sums.cpm().map(money),
            cpa: sums.cpa().map(money),
            roas: sums.roas().map(JsonDecimal::ratio),
            currency: currency.to_string(),
            native,
            last_synced_at: instant(last_synced_at),
        }
    }
}

file_row! {
    id: i64,
    external_id: Option<String>,
    platform: AdPlatform,
    level: Level,
    parent_id: Option<i64>,
    name: String,
    status: Status,
    date: Option<String>,
    spend: Option<JsonDecimal>,
    impressions: Option<i64>,
    clicks: Option<i64>,
    purchases: Option<i64>,
    revenue: Option<JsonDecimal>,
    ctr: Option<JsonDecimal>,
    cpc: Option<JsonDecimal>,
    cpm: Option<JsonDecimal>,
    cpa: Option<JsonDecimal>,
    roas: Option<JsonDecimal>,
    currency: String,
    native_spend: Option<JsonDecimal>,
    native_currency: Option<String>,
    last_synced_at: String,
}

impl From<AdBody> for FileRow {
    fn from(body: AdBody) -> Self {
        let AdBody {
            id,
            external_id,
            platform,
            level,
            parent_id,
            name,
            status,
            date,
            spend,
            impressions,
            clicks,
            purchases,
            revenue,
            ctr,
            cpc,
            cpm,
            cpa,
            roas,
            currency,
            native,
            last_synced_at,
        } = body;
        let (native_spend, native_currency) = native.map(|native| (native.spend, native.currency)).unzip();
        Self {
            id,
            external_id,
            platform,
            level,
            parent_id,
            name,
            status,
            date,
            spend,
            impressions,
            clicks,
            purchases,
            revenue,
            ctr,
            cpc,
            cpm,
            cpa,
            roas,
            currency,
            native_spend,
            native_currency,
            last_synced_at,
        }
    }
}

/// Over everything that matches, whatever the page and the level. Money without a rate of exchange is left out; counts are of all.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AdTotals)]
pub(super) struct TotalsBody {
    #[schema(value_type = f64, example = 120.50)]
    spend: JsonDecimal,
    #[schema(example = 50211)]
    impressions: Option<i64>,
    #[schema(example = 911)]
    clicks: Option<i64>,
    #[schema(example = 14)]
    purchases: Option<i64>,
    #[schema(value_type = Option<f64>, example = 980.00)]
    revenue: Option<JsonDecimal>,
    #[schema(value_type = Option<f64>, example = 0.0181)]
    ctr: Option<JsonDecimal>,
    #[schema(value_type = Option<f64>, example = 0.13)]
    cpc: Option<JsonDecimal>,
    #[schema(value_type = Option<f64>, example = 2.40)]
    cpm: Option<JsonDecimal>,
    #[schema(value_type = Option<f64>, example = 8.61)]
    cpa: Option<JsonDecimal>,
    #[schema(value_type = Option<f64>, example = 8.1328)]
    roas: Option<JsonDecimal>,
    /// The shop's own net revenue of the same days, from whatever source; null before it was first computed.
    #[schema(value_type = Option<f64>, example = 1349.60)]
    store_revenue: Option<JsonDecimal>,
    /// The shop's own net revenue per unit of spend. Null where a filter is set, as orders cannot be split by ads, and where a
    /// part of the spend has no rate of exchange.
    #[schema(value_type = Option<f64>, example = 11.2)]
    mer: Option<JsonDecimal>,
    /// Spend per unit of the shop's own net revenue; null like `mer`.
    #[schema(value_type = Option<f64>, example = 0.0893)]
    tacos: Option<JsonDecimal>,
}

impl TotalsBody {
    pub fn new(overview: &Overview, store_revenue: Option<Decimal>, is_partial: bool, currency: Currency) -> Self {
        let (totals, money) = (overview.totals, |amount| JsonDecimal::money(amount, currency));
        let comparable = overview.beside_spend(store_revenue).filter(|_| !is_partial);
        Self {
            spend: money(totals.spend.unwrap_or_default()),
            impressions: totals.impressions,
            clicks: totals.clicks,
            purchases: totals.purchases,
            revenue: totals.revenue.map(money),
            ctr: totals.ctr().map(JsonDecimal::ratio),
            cpc: totals.cpc().map(money),
            cpm: totals.cpm().map(money),
            cpa: totals.cpa().map(money),
            roas: totals.roas().map(JsonDecimal::ratio),
            store_revenue: store_revenue.map(money),
            mer: comparable.and_then(|own| totals.mer(own)).map(JsonDecimal::ratio),
            tacos: comparable.and_then(|own| totals.tacos(own)).map(JsonDecimal::ratio),
        }
    }
}

/// Whose claim purchases and revenue are.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AdAttribution)]
pub(super) struct AttributionBody {
    /// Always the platform: its own orders are what a shop has.
    #[schema(example = "platform")]
    source: &'static str,
    /// By which clicks and views; null where it is not told, or is not the same for all.
    #[schema(example = "7d_click,1d_view")]
    window: Option<String>,
}

impl AttributionBody {
    pub const fn new(window: Option<String>) -> Self {
        Self { source: "platform", window }
    }
}

/// Which days of a platform are known.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AdCoverage)]
pub(super) struct CoverageBody {
    #[schema(schema_with = names::ad_platform)]
    platform: AdPlatform,
    /// Days of the window that the platform, or a file, has told of.
    #[schema(example = 30)]
    days_synced: i64,
    /// From this day on the platform still changes its figures; null where none of the window's do.
    #[schema(format = Date, example = "2026-10-24")]
    provisional_from: Option<String>,
}

impl CoverageBody {
    pub fn new(coverage: Coverage, range: DayRange, today: Date) -> Self {
        let provisional_from = coverage.provisional_from(range, today).map(date);
        let Coverage { platform, days: days_synced, is_synced: _ } = coverage;
        Self { platform, days_synced, provisional_from }
    }
}

#[cfg(test)]
mod tests {
    use domain::{AdRowId, ads::Sums};
    use time::macros::datetime;

    use super::*;
    use ::web::csv::Row as _;

    #[test]
    fn the_columns_are_the_fields_in_their_order_with_the_native_spend_as_two() {
        let currency: Currency = "USD".parse().unwrap();
        let row = AdRow {
            id: AdRowId(1),
            external_id: None,
            platform: AdPlatform::Meta,
            level: Level::Ad,
            parent_id: None,
            name: String::new(),
            status: Status::Active,
            date: None,
            sums: Sums::default(),
            native: Some((Decimal::ONE, "EUR".parse().unwrap())),
            last_synced_at: datetime!(2026-05-02 0:00 UTC),
        };
        let json = serde_json::to_string(&AdBody::new(row, currency)).unwrap();
        let json = json
            .replace("\"native\":{\"spend\"", "\"native_spend\"")
            .replace("\"currency\":\"EUR\"}", "\"native_currency\"");
        let places: Vec<_> = FileRow::COLUMNS.iter().map(|name| json.find(&format!("\"{name}\""))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{json}");
        assert_eq!(json.matches("\":").count() + 1, FileRow::COLUMNS.len());
    }
}
