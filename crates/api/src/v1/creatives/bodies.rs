//! A creative with its verdict, as JSON and as a row of the file.

use domain::{
    ads::{AdPlatform, Format},
    creatives::{Creative, Fatigue, Lift, Metric, Needs, Status, UNSCORED_DAYS, Verdict},
    money::Currency,
};
use rust_decimal::{Decimal, dec};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    csv::file_row,
    names,
    respond::{JsonDecimal, date, instant},
};

/// Evidence from which a creative is a winner.
const THRESHOLD: i64 = 10;
/// The spread of true differences where there is no verdict yet.
const TAU: Decimal = dec!(0.25);

/// A creative in a campaign, over the window.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Creative)]
pub(super) struct CreativeBody {
    #[schema(example = 12)]
    id: i64,
    /// The same wherever the creative runs: platform, format, and what identifies it there.
    #[schema(example = "meta:video:99")]
    key: String,
    #[schema(schema_with = names::ad_platform)]
    platform: AdPlatform,
    #[schema(example = 238)]
    campaign_id: i64,
    #[schema(example = "Prospecting")]
    campaign: String,
    #[schema(schema_with = names::creative_format)]
    format: Format,
    headline: Option<String>,
    body: Option<String>,
    /// Always null: platforms give links that expire.
    thumbnail_url: Option<String>,
    /// The ads of the window that show it.
    #[schema(example = json!([991, 992]))]
    ad_ids: Vec<i64>,
    /// Null where a part has no rate of exchange.
    #[schema(value_type = Option<f64>, example = 340.20)]
    spend: Option<JsonDecimal>,
    #[schema(example = 91000)]
    impressions: Option<i64>,
    #[schema(example = 1911)]
    clicks: Option<i64>,
    #[schema(example = 41)]
    purchases: Option<i64>,
    #[schema(value_type = Option<f64>, example = 1735.00)]
    revenue: Option<JsonDecimal>,
    /// Clicks per impression.
    #[schema(value_type = Option<f64>, example = 0.0210)]
    ctr: Option<JsonDecimal>,
    /// Claimed revenue per unit of spend.
    #[schema(value_type = Option<f64>, example = 5.1)]
    roas: Option<JsonDecimal>,
    /// Of a video: views of the first three seconds per impression.
    #[schema(value_type = Option<f64>, example = 0.31)]
    hook_rate: Option<JsonDecimal>,
    #[schema(schema_with = names::creative_status)]
    status: Status,
    is_winner: bool,
    verdict: VerdictBody,
    /// Null for less than 14 days or without clicks in them, and for what did not run in the last 7 days.
    fatigue: Option<FatigueBody>,
    /// When it was first a winner in this campaign.
    #[schema(format = DateTime, example = "2026-11-18T03:00:00Z")]
    won_at: Option<String>,
    #[schema(format = Date, example = "2026-10-30")]
    first_seen_at: String,
    #[schema(format = Date, example = "2026-11-20")]
    last_seen_at: String,
}

/// What the status rests on.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CreativeVerdict)]
struct VerdictBody {
    /// What is compared; null without enough data, as are `evidence` and the lifts.
    #[schema(schema_with = names::creative_metric)]
    metric: Option<Metric>,
    /// An e-value, divided by how many creatives are compared: it holds however often it is looked at.
    #[schema(value_type = Option<f64>, example = 12.0)]
    evidence: Option<JsonDecimal>,
    #[schema(example = 10)]
    threshold: i64,
    /// By how much the metric is above that of the others, in parts of it, as it was measured: winners look better than they are.
    #[schema(value_type = Option<f64>, example = 1.5133)]
    lift_observed: Option<JsonDecimal>,
    /// The same, shrunk by what is known of such differences: the one to quote.
    #[schema(value_type = Option<f64>, example = 0.6419)]
    lift: Option<JsonDecimal>,
    /// Its 95 % interval.
    #[schema(value_type = Option<f64>, example = 0.1768)]
    lift_low: Option<JsonDecimal>,
    #[schema(value_type = Option<f64>, example = 1.2908)]
    lift_high: Option<JsonDecimal>,
    /// How many other creatives of the campaign.
    #[schema(example = 7)]
    compared_with: i64,
    /// Days that are judged and on which it ran.
    #[schema(example = 9)]
    days: i64,
    /// What is missing to judge it; null when nothing is. Where all of it is 0, sales of others are missing: of creatives that
    /// ran in its ad set on the same days.
    needs: Option<NeedsBody>,
}

/// What is missing to judge a creative.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CreativeNeeds)]
struct NeedsBody {
    /// Of the creative or of its campaign, whichever lacks more.
    #[schema(example = 6)]
    purchases: i64,
    #[schema(example = 1)]
    days: i64,
    /// Up to the median of the campaign's creatives.
    #[schema(value_type = f64, example = 40.00)]
    spend: JsonDecimal,
}

/// Whether people tire of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CreativeFatigue)]
struct FatigueBody {
    /// Clicks per impression of the last 7 days by those of the first 14 on which it ran within 90.
    #[schema(value_type = f64, example = 0.94)]
    ctr_ratio: JsonDecimal,
    is_fatigued: bool,
}

/// How verdicts are made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CreativeMethod)]
pub(super) struct MethodBody {
    #[schema(example = "half_normal_mixture_e_value")]
    name: &'static str,
    /// The standard deviation of true differences between creatives, in logarithms.
    #[schema(value_type = f64, example = 0.25)]
    tau: JsonDecimal,
    /// The newest full days that are left out, as their purchases are still being attributed.
    #[schema(example = 3)]
    unscored_days: i64,
    /// Always: the platform chooses who sees which ad, so it is no experiment.
    observational: bool,
}

impl MethodBody {
    pub fn of(creative: Option<&Creative>) -> Self {
        Self {
            name: "half_normal_mixture_e_value",
            tau: JsonDecimal::ratio(creative.map_or(TAU, |creative| creative.tau)),
            unscored_days: UNSCORED_DAYS,
            observational: true,
        }
    }
}

impl CreativeBody {
    pub fn new(creative: Creative, currency: Currency) -> Self {
        let money = |amount| JsonDecimal::money(amount, currency);
        let (is_winner, hook_rate) = (creative.is_winner(), creative.hook_rate());
        let Creative {
            id,
            key,
            platform,
            campaign_id,
            campaign,
            format,
            headline,
            body,
            ad_ids,
            sums,
            video_3s: _,
            shown_of_watched: _,
            verdict,
            fatigue,
            won_at,
            first_seen,
            last_seen,
            tau: _,
        } = creative;
        Self {
            id: id.0,
            key,
            platform,
            campaign_id: campaign_id.0,
            campaign,
            format,
            headline,
            body,
            thumbnail_url: None,
            ad_ids: ad_ids.into_iter().map(|id| id.0).collect(),
            spend: sums.spend.map(money),
            impressions: sums.impressions,
            clicks: sums.clicks,
            purchases: sums.purchases,
            revenue: sums.revenue.map(money),
            ctr: sums.ctr().map(JsonDecimal::ratio),
            roas: sums.roas().map(JsonDecimal::ratio),
            hook_rate: hook_rate.map(JsonDecimal::ratio),
            status: verdict.status,
            is_winner,
            verdict: VerdictBody::new(verdict, currency),
            fatigue: fatigue.map(|Fatigue { ctr_ratio, is_fatigued }| FatigueBody {
                ctr_ratio: JsonDecimal::ratio(ctr_ratio),
                is_fatigued,
            }),
            won_at: won_at.map(instant),
            first_seen_at: date(first_seen),
            last_seen_at: date(last_seen),
        }
    }
}

impl VerdictBody {
    fn new(verdict: Verdict, currency: Currency) -> Self {
        let Verdict { status: _, metric, evidence, lift, compared_with, days, needs } = verdict;
        let part = |of: fn(Lift) -> Decimal| lift.map(of).map(JsonDecimal::ratio);
        Self {
            metric,
            evidence: evidence.map(JsonDecimal::ratio),
            threshold: THRESHOLD,
            lift_observed: part(|lift| lift.observed),
            lift: part(|lift| lift.shrunk),
            lift_low: part(|lift| lift.low),
            lift_high: part(|lift| lift.high),
            compared_with,
            days,
            needs: needs.map(|Needs { purchases, days, spend }| NeedsBody {
                purchases,
                days,
                spend: JsonDecimal::money(spend, currency),
            }),
        }
    }
}

file_row! {
    id: i64,
    key: String,
    platform: AdPlatform,
    campaign_id: i64,
    campaign: String,
    format: Format,
    headline: Option<String>,
    body: Option<String>,
    thumbnail_url: Option<String>,
    spend: Option<JsonDecimal>,
    impressions: Option<i64>,
    clicks: Option<i64>,
    purchases: Option<i64>,
    revenue: Option<JsonDecimal>,
    ctr: Option<JsonDecimal>,
    roas: Option<JsonDecimal>,
    hook_rate: Option<JsonDecimal>,
    status: Status,
    is_winner: bool,
    verdict_metric: Option<Metric>,
    verdict_evidence: Option<JsonDecimal>,
    verdict_threshold: i64,
    verdict_lift_observed: Option<JsonDecimal>,
    verdict_lift: Option<JsonDecimal>,
    verdict_lift_low: Option<JsonDecimal>,
    verdict_lift_high: Option<JsonDecimal>,
    verdict_compared_with: i64,
    verdict_days: i64,
    verdict_needs_purchases: Option<i64>,
    verdict_needs_days: Option<i64>,
    verdict_needs_spend: Option<JsonDecimal>,
    fatigue_ctr_ratio: Option<JsonDecimal>,
    fatigue_is_fatigued: Option<bool>,
    won_at: Option<String>,
    first_seen_at: String,
    last_seen_at: String,
}

impl From<CreativeBody> for FileRow {
    fn from(body: CreativeBody) -> Self {
        let VerdictBody {
            metric,
            evidence,
            threshold,
            lift_observed,
            lift,
            lift_low,
            lift_high,
            compared_with,
            days,
            needs,
        } = body.verdict;
        Self {
            id: body.id,
            key: body.key,
            platform: body.platform,
            campaign_id: body.campaign_id,
            campaign: body.campaign,
            format: body.format,
            headline: body.headline,
            body: body.body,
            thumbnail_url: body.thumbnail_url,
            spend: body.spend,
            impressions: body.impressions,
            clicks: body.clicks,
            purchases: body.purchases,
            revenue: body.revenue,
            ctr: body.ctr,
            roas: body.roas,
            hook_rate: body.hook_rate,
            status: body.status,
            is_winner: body.is_winner,
            verdict_metric: metric,
            verdict_evidence: evidence,
            verdict_threshold: threshold,
            verdict_lift_observed: lift_observed,
            verdict_lift: lift,
            verdict_lift_low: lift_low,
            verdict_lift_high: lift_high,
            verdict_compared_with: compared_with,
            verdict_days: days,
            verdict_needs_purchases: needs.as_ref().map(|needs| needs.purchases),
            verdict_needs_days: needs.as_ref().map(|needs| needs.days),
            verdict_needs_spend: needs.map(|needs| needs.spend),
            fatigue_ctr_ratio: body.fatigue.as_ref().map(|fatigue| fatigue.ctr_ratio),
            fatigue_is_fatigued: body.fatigue.map(|fatigue| fatigue.is_fatigued),
            won_at: body.won_at,
            first_seen_at: body.first_seen_at,
            last_seen_at: body.last_seen_at,
        }
    }
}
