//! What is told of ads, campaigns and days, as it is imported.

use std::collections::HashMap;

use domain::{
    imports::{AdDetail, AdNames, AdSpendRow, MAX_DECIMALS},
    money::Currency,
    shops::ShopError,
};
use rust_decimal::{Decimal, dec};
use time::Date;

use super::{
    super::rows::{named, spent},
    creatives::Shown,
    figures::{CampaignDid, Days, Did, Known},
};

/// A part of a purchase, or of its value, that is no more than this is left over from rounding.
const ROUNDING: Decimal = dec!(0.01);

/// What is known of an ad account and its ads.
pub(super) struct Told {
    /// As its rows name their platform.
    pub name: String,
    pub currency: Currency,
    pub ads: HashMap<(String, String), Shown>,
}

/// A campaign on a day, whose rows are being made.
struct Day<'a> {
    told: &'a Told,
    day: Date,
    campaign: &'a str,
    known: Option<&'a Known>,
}

impl Told {
    pub fn rows(&self, days: Days) -> Result<Vec<AdSpendRow>, ShopError> {
        let Days { did, campaigns } = days;
        let mut rows = Vec::new();
        for ((day, campaign), CampaignDid { whole, ads }) in &did {
            let known = campaigns.get(campaign);
            let day = Day { told: self, day: *day, campaign, known };
            let mut explained = Did::default();
            for (ad, did) in ads {
                explained.add(did);
                rows.push(day.row(Some(ad), did)?);
            }
            if let Some(rest) = rest(whole, &explained) {
                rows.push(day.row(None, &rest)?);
            }
        }
        for (row, line) in rows.iter_mut().zip(1..) {
            row.line = line;
        }
        Ok(rows)
    }
}

/// What a campaign did and none of its ads; `None` where they explain it. Ads did more where they were read a moment later; a whole
/// below 0, which cannot be, must not pass for 0.
fn rest(whole: &Did, explained: &Did) -> Option<Did> {
    let left = |whole: Decimal, explained: Decimal, least: Decimal| {
        Some(whole - explained).filter(|left| *left > least || whole < -least).unwrap_or_default()
    };
    let count = |whole: i64, explained: i64| {
        Some(whole.saturating_sub(explained)).filter(|left| *left > 0 || whole < 0).unwrap_or_default()
    };
    let rest = Did {
        spend: left(whole.spend, explained.spend, Decimal::ZERO),
        impressions: count(whole.impressions, explained.impressions),
        clicks: count(whole.clicks, explained.clicks),
        purchases: left(whole.purchases, explained.purchases, ROUNDING),
        revenue: left(whole.revenue, explained.revenue, ROUNDING),
    };
    (rest != Did::default()).then_some(rest)
}

impl Day<'_> {
    /// The row of an ad, by its ad group and number, or of the campaign without ads.
    fn row(&self, ad: Option<&(String, String)>, did: &Did) -> Result<AdSpendRow, ShopError> {
        let Did { spend, impressions, clicks, purchases, revenue } = *did;
        let (told, known) = (self.told, self.known);
        let shown = ad.and_then(|ad| told.ads.get(ad));
        let (ad_set, ad) = ad.cloned().unwrap_or_default();
        let creative = shown.map(|shown| &shown.creative);
        let names = AdNames {
            campaign: named(known.and_then(|known| known.name.as_deref()), self.campaign),
            ad_set: named(shown.and_then(|shown| shown.ad_group.as_deref()), &ad_set),
            ad: named(shown.and_then(|shown| shown.name.as_deref()), &ad),
        };
        let status = match shown {
            Some(shown) => Some(shown.status),
            None => known.map(|known| known.status).filter(|_| ad.is_empty()),
        };
        let detail = AdDetail {
            ad_set,
            ad,
            creative: creative.map(|creative| creative.key.clone()),
            format: creative.map(|creative| creative.format),
            headline: creative.and_then(|creative| creative.headline.clone()),
            body: creative.and_then(|creative| creative.body.clone()),
            status,
            currency: Some(told.currency),
            purchases: Some(purchases.round_dp(MAX_DECIMALS)),
            revenue: Some(revenue.round_dp(MAX_DECIMALS)),
            video_3s: None,
            // Each kind of conversion has a window of its own.
            attribution: None,
            names: Some(names),
        };
        Ok(AdSpendRow {
            day: self.day,
            platform: told.name.clone(),
            campaign: self.campaign.to_owned(),
            spend: spent(spend, "costMicros")?,
            impressions: Some(impressions),
            clicks: Some(clicks),
            detail,
            line: 0,
            record: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::ads::Status;
    use time::macros::date;

    use super::*;

    const DAY: Date = date!(2026 - 11 - 20);

    fn did(spend: Decimal, clicks: i64, purchases: Decimal, revenue: Decimal) -> Did {
        Did { spend, impressions: clicks * 10, clicks, purchases, revenue }
    }

    fn rows(whole: Did, ads: &[Did]) -> Vec<AdSpendRow> {
        let ads = ads.iter().zip(1..).map(|(did, number)| (("8".to_owned(), number.to_string()), *did));
        let mut days = Days::default();
        days.did.insert((DAY, "7".into()), CampaignDid { whole, ads: ads.collect() });
        days.campaigns.insert("7".into(), Known { name: Some("Spring".into()), status: Status::Paused });
        let told = Told { name: "google 5".into(), currency: "EUR".parse().unwrap(), ads: HashMap::new() };
        told.rows(days).unwrap()
    }

    #[test]
    fn what_no_ad_explains_is_of_the_campaign() {
        let rows = rows(did(dec!(9.50), 30, dec!(3), dec!(90)), &[did(dec!(2.25), 10, dec!(1), dec!(30.5))]);
        let [ad, rest] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((ad.detail.ad_set.as_str(), ad.detail.ad.as_str(), ad.spend), ("8", "1", dec!(2.25)));
        assert_eq!((rest.detail.ad_set.as_str(), rest.detail.ad.as_str(), rest.spend), ("", "", dec!(7.25)));
        assert_eq!((rest.clicks, rest.impressions, rest.detail.purchases), (Some(20), Some(200), Some(dec!(2))));
        assert_eq!((rest.detail.revenue, rest.detail.status), (Some(dec!(59.5)), Some(Status::Paused)));
        assert_eq!(rest.detail.names.as_ref().unwrap().campaign, "Spring");
        assert_eq!((ad.line, rest.line), (1, 2));
    }

    #[test]
    fn a_campaign_that_its_ads_explain_has_no_row_of_its_own() {
        let ad = did(dec!(1), 5, dec!(0.333333), dec!(3.333333));
        assert_eq!(rows(did(dec!(3), 15, dec!(1), dec!(10)), &[ad, ad, ad]).len(), 3);
        // The ads were read a moment later.
        assert_eq!(rows(did(dec!(2), 14, dec!(0), dec!(0)), &[ad, ad, ad]).len(), 3);
        assert_eq!(rows(Did::default(), &[]).len(), 0);
    }

    #[test]
    fn what_a_campaign_did_below_0_does_not_pass_for_0() {
        let rows = rows(did(dec!(3), 15, dec!(-1), dec!(-4)), &[]);
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((row.spend, row.clicks), (dec!(3), Some(15)));
        assert_eq!((row.detail.purchases, row.detail.revenue), (Some(dec!(-1)), Some(dec!(-4))));
    }

    #[test]
    fn parts_of_purchases_are_told_as_they_are() {
        let part = |purchases| did(dec!(1), 1, purchases, dec!(1));
        let rows = rows(part(dec!(2.2)), &[part(dec!(0.6)), part(dec!(0.4)), part(dec!(0.8))]);
        let told: Vec<_> = rows.iter().map(|row| row.detail.purchases.unwrap()).collect();
        assert_eq!(told, [dec!(0.6), dec!(0.4), dec!(0.8), dec!(0.4)]);
    }
}
