//! What is told of an ad and a day, as it is imported.

use std::collections::HashMap;

use domain::{
    ads::Format,
    imports::{AdDetail, AdNames, AdSpendRow, MAX_DECIMALS},
    money::Currency,
    shops::ShopError,
};
use rust_decimal::Decimal;

use super::{
    super::rows::{day, named, spent},
    creatives::Shown,
    wire::{Action, Insight},
};

/// Names of the one purchase, of which a row has several: the first that is there counts, and none is added to another.
const PURCHASES: [&str; 3] = ["omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase"];
/// A view of the first three seconds of a video.
const VIEW: &str = "video_view";
/// What purchases are attributed to where nothing else is asked for.
///
/// Unverified: that it holds for ads whose ad set has another setting as well.
const ATTRIBUTION: &str = "7d_click,1d_view";

/// What is known of an ad account and its ads.
pub(super) struct Told {
    /// As its rows name their platform.
    pub name: String,
    pub currency: Currency,
    pub ads: HashMap<String, Shown>,
}

impl Told {
    pub fn row(&self, insight: Insight, line: u64) -> Result<AdSpendRow, ShopError> {
        let day = day(&insight.date_start, "date_start")?;
        let spend = spent(insight.spend.map_or(Decimal::ZERO, |spend| spend.0), "spend")?;
        let (purchases, revenue) = claimed(&insight.actions, &insight.action_values);
        let shown = self.ads.get(&insight.ad_id.0);
        let creative = shown.and_then(|shown| shown.creative.clone());
        let is_video = creative.as_ref().is_some_and(|creative| creative.format == Format::Video);
        let views = is_video.then(|| value(&insight.actions, VIEW).unwrap_or_default());
        let names = AdNames {
            campaign: named(insight.campaign_name.as_deref(), &insight.campaign_id.0),
            ad_set: named(insight.adset_name.as_deref(), &insight.adset_id.0),
            ad: named(insight.ad_name.as_deref(), &insight.ad_id.0),
        };
        let detail = AdDetail {
            ad_set: insight.adset_id.0,
            ad: insight.ad_id.0,
            creative: creative.as_ref().map(|creative| creative.key.clone()),
            format: creative.as_ref().map(|creative| creative.format),
            headline: creative.as_ref().and_then(|creative| creative.headline.clone()),
            body: creative.and_then(|creative| creative.body),
            status: shown.map(|shown| shown.status),
            currency: Some(self.currency),
            purchases: Some(purchases.round()),
            revenue: Some(revenue.round_dp(MAX_DECIMALS)),
            video_3s: views.and_then(|views| views.round().try_into().ok()),
            attribution: Some(ATTRIBUTION.to_owned()),
            names: Some(names),
        };
        Ok(AdSpendRow {
            day,
            platform: self.name.clone(),
            campaign: insight.campaign_id.0,
            spend,
            // Left out where there were none.
            impressions: Some(insight.impressions.map_or(0, |count| count.0)),
            clicks: Some(insight.clicks.map_or(0, |count| count.0)),
            detail,
            line,
            record: Vec::new(),
        })
    }
}

fn value(actions: &[Action], kind: &str) -> Option<Decimal> {
    actions.iter().find(|action| action.action_type == kind).map(|action| action.value.0)
}

/// How many purchases Meta attributes to the ad, and their value. What there was none of is not named.
fn claimed(actions: &[Action], values: &[Action]) -> (Decimal, Decimal) {
    let told = |kind: &str| match (value(actions, kind), value(values, kind)) {
        (None, None) => None,
        (purchases, revenue) => Some((purchases.unwrap_or_default(), revenue.unwrap_or_default())),
    };
    PURCHASES.iter().find_map(|kind| told(kind)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use serde_json::{Value, json};

    use super::*;

    fn actions(of: &[(&str, &str)]) -> Value {
        of.iter().map(|(kind, value)| json!({ "action_type": kind, "value": value })).collect()
    }

    fn row(fields: Value) -> Result<AdSpendRow, ShopError> {
        let mut insight = json!({
            "campaign_id": "7", "campaign_name": "Spring", "adset_id": "8", "adset_name": "Everybody", "ad_id": "9",
            "ad_name": "Kettle", "date_start": "2026-11-20", "date_stop": "2026-11-20", "spend": "12.30",
        });
        for (name, value) in fields.as_object().unwrap() {
            insight[name] = value.clone();
        }
        let told = Told { name: "meta 5".into(), currency: "EUR".parse().unwrap(), ads: HashMap::new() };
        told.row(serde_json::from_value(insight).unwrap(), 1)
    }

    #[rstest]
    #[case(&[("purchase", "2"), ("omni_purchase", "3"), ("offsite_conversion.fb_pixel_purchase", "2")], 3)]
    #[case(&[("offsite_conversion.fb_pixel_purchase", "2"), ("purchase", "4")], 4)]
    #[case(&[("offsite_conversion.fb_pixel_purchase", "2"), ("link_click", "40")], 2)]
    #[case(&[("link_click", "40")], 0)]
    fn a_purchase_that_has_several_names_counts_once(#[case] told: &[(&str, &str)], #[case] purchases: i64) {
        let row = row(json!({ "actions": actions(told), "action_values": actions(told) })).unwrap();
        assert_eq!(row.detail.purchases, Some(purchases.into()));
        assert_eq!(row.detail.revenue, Some(Decimal::from(purchases)), "of the same name");
    }

    #[test]
    fn numbers_are_taken_digit_by_digit_and_what_is_left_out_is_none() {
        let row = row(json!({ "impressions": "1200" })).unwrap();
        assert_eq!((row.spend, row.impressions, row.clicks), (dec!(12.30), Some(1_200), Some(0)));
        assert_eq!((row.campaign.as_str(), row.detail.ad_set.as_str(), row.detail.ad.as_str()), ("7", "8", "9"));
        assert_eq!(row.detail.names.unwrap().campaign, "Spring");
        assert_eq!(row.detail.video_3s, None);
    }

    #[rstest]
    #[case(json!({ "spend": "-1" }), "spend")]
    #[case(json!({ "date_start": "20/11/2026" }), "date_start")]
    fn a_day_is_not_read_without_its_spend(#[case] fields: Value, #[case] field: &str) {
        assert_eq!(row(fields).unwrap_err(), ShopError::Malformed(field.into()));
    }

    #[test]
    fn a_revenue_that_cannot_be_keeps_no_spend_from_being_read() {
        let row = row(json!({ "action_values": actions(&[("purchase", "-4")]) })).unwrap();
        assert_eq!((row.spend, row.detail.revenue), (dec!(12.30), Some(dec!(-4))));
    }
}
