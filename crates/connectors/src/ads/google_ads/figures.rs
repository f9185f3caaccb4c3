//! What campaigns and ads did, day by day.
//!
//! Campaigns are read first: what their ads do not explain is told of the campaign alone, and an ad that runs on meanwhile
//! must not look as if it did more than its campaign. Google tells of no ads of Performance Max.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ads::Status, shops::ShopError};
use rust_decimal::Decimal;
use time::Date;

use super::{
    super::rows::{day, spent},
    api::{Api, Caller},
    wire::{AdDay, Campaign, CampaignDay, Metrics},
};
use crate::shops::wire::Count;

/// Digits after the point of an amount in millionths.
const MICROS: u32 = 6;
const COSTS: &str = "metrics.cost_micros, metrics.impressions, metrics.clicks";
/// Purchases are asked for by themselves: a figure of one kind of conversion is told beside no costs.
///
/// Unverified: that `conversions`, which are those that bids are made for, are all of the shop's purchases.
const PURCHASES: &str = "segments.conversion_action_category, metrics.conversions, metrics.conversions_value";
const PURCHASE: &str = " AND segments.conversion_action_category = 'PURCHASE'";
const CAMPAIGN: &str = "campaign.id, campaign.name, campaign.status";
const AD: &str = "campaign.id, ad_group.id, ad_group_ad.ad.id";

/// What an ad, or a campaign, did on a day. Google attributes parts of a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Did {
    pub spend: Decimal,
    pub impressions: i64,
    pub clicks: i64,
    pub purchases: Decimal,
    pub revenue: Decimal,
}

impl Did {
    fn of(metrics: &Metrics) -> Result<Self, ShopError> {
        let count = |count: Option<Count>| count.map_or(0, |count| count.0);
        Ok(Self {
            spend: spent(Decimal::new(count(metrics.cost_micros), MICROS), "costMicros")?,
            impressions: count(metrics.impressions),
            clicks: count(metrics.clicks),
            purchases: metrics.conversions.map_or(Decimal::ZERO, |amount| amount.0),
            revenue: metrics.conversions_value.map_or(Decimal::ZERO, |amount| amount.0),
        })
    }

    pub fn add(&mut self, other: &Self) {
        self.spend += other.spend;
        self.impressions = self.impressions.saturating_add(other.impressions);
        self.clicks = self.clicks.saturating_add(other.clicks);
        self.purchases += other.purchases;
        self.revenue += other.revenue;
    }
}

/// What a campaign did on a day, as a whole and by ad group and ad.
#[derive(Debug, Default)]
pub(super) struct CampaignDid {
    pub whole: Did,
    pub ads: BTreeMap<(String, String), Did>,
}

/// How a campaign is called, and whether it runs.
#[derive(Debug)]
pub(super) struct Known {
    pub name: Option<String>,
    pub status: Status,
}

/// Some days of an ad account.
#[derive(Debug, Default)]
pub(super) struct Days {
    /// By day and campaign.
    pub did: BTreeMap<(Date, String), CampaignDid>,
    pub campaigns: BTreeMap<String, Known>,
}

impl Days {
    /// The days from `from` to `until`.
    pub async fn read(api: &Api, caller: &Caller<'_>, from: Date, until: Date) -> Result<Self, ShopError> {
        // Days are written as ISO 8601 has them.
        let days = format!("WHERE segments.date BETWEEN '{from}' AND '{until}'");
        let mut read = Self::default();
        for (figures, which) in [(COSTS, ""), (PURCHASES, PURCHASE)] {
            let query = format!("SELECT {CAMPAIGN}, segments.date, {figures} FROM campaign {days}{which}");
            for row in api.search(caller, &query).await? {
                read.campaign(row)?;
            }
            // Purchases are of the day of the click: where no ad was shown there are none.
            if read.did.is_empty() {
                return Ok(read);
            }
        }
        for (figures, which) in [(COSTS, ""), (PURCHASES, PURCHASE)] {
            let query = format!("SELECT {AD}, segments.date, {figures} FROM ad_group_ad {days}{which}");
            for row in api.search(caller, &query).await? {
                read.ad(row)?;
            }
        }
        Ok(read)
    }

    fn campaign(&mut self, row: CampaignDay) -> Result<(), ShopError> {
        let CampaignDay { campaign: Campaign { id, name, status }, segments, metrics } = row;
        let day = day(&segments.date, "segments.date")?;
        self.did.entry((day, id.0.clone())).or_default().whole.add(&Did::of(&metrics)?);
        let status = status.map_or(Status::Active, |status| self::status(&[&status]));
        self.campaigns.insert(id.0, Known { name, status });
        Ok(())
    }

    fn ad(&mut self, row: AdDay) -> Result<(), ShopError> {
        let AdDay { campaign, ad_group, ad_group_ad, segments, metrics } = row;
        let day = day(&segments.date, "segments.date")?;
        let ads = &mut self.did.entry((day, campaign.id.0)).or_default().ads;
        ads.entry((ad_group.id.0, ad_group_ad.ad.id.0)).or_default().add(&Did::of(&metrics)?);
        Ok(())
    }

    /// Numbers of the ads that did anything.
    pub fn ads(&self) -> BTreeSet<String> {
        self.did.values().flat_map(|did| did.ads.keys()).map(|(_, ad)| ad.clone()).collect()
    }
}

/// Whether an ad runs: itself, its ad group and its campaign are to.
pub(super) fn status(states: &[&str]) -> Status {
    if states.contains(&"REMOVED") {
        Status::Archived
    } else if states.iter().all(|state| *state == "ENABLED") {
        Status::Active
    } else {
        Status::Paused
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use serde_json::{Value, json};

    use super::*;

    fn row(metrics: Value) -> Result<Days, ShopError> {
        let row = json!({
            "campaign": { "resourceName": "customers/1/campaigns/7", "id": "7", "name": "Spring", "status": "PAUSED" },
            "segments": { "date": "2026-11-20" }, "metrics": metrics,
        });
        let mut days = Days::default();
        days.campaign(serde_json::from_value(row).unwrap()).map(|()| days)
    }

    #[test]
    fn costs_are_exact_and_what_is_left_out_is_none() {
        let days = row(json!({ "costMicros": "12345678", "clicks": "3" })).unwrap();
        let did = days.did.values().next().unwrap().whole;
        let expected = Did { spend: dec!(12.345678), clicks: 3, ..Did::default() };
        assert_eq!((did, days.campaigns["7"].status), (expected, Status::Paused));
        let bought = row(json!({ "conversions": 1.2, "conversionsValue": 31.37 })).unwrap();
        let did = bought.did.values().next().unwrap().whole;
        assert_eq!((did.purchases, did.revenue), (dec!(1.2), dec!(31.37)));
    }

    /// As a purchase that was taken back leaves it.
    #[test]
    fn what_is_left_over_from_a_calculation_can_be_read() {
        let days =
            row(json!({ "conversions": 2.220446049250313e-16, "conversionsValue": -5.684341886080802e-14 })).unwrap();
        let did = days.did.values().next().unwrap().whole;
        assert_eq!((did.purchases.round_dp(6), did.revenue.round_dp(6)), (Decimal::ZERO, Decimal::ZERO));
    }

    #[test]
    fn a_day_is_not_read_without_its_spend() {
        let refused = row(json!({ "costMicros": "-1", "impressions": "5" }));
        assert_eq!(refused.unwrap_err(), ShopError::Malformed("costMicros".into()));
        assert!(row(json!({ "costMicros": "1", "impressions": "-5" })).is_ok());
    }

    #[rstest]
    #[case(&["ENABLED", "ENABLED", "ENABLED"], Status::Active)]
    #[case(&["ENABLED", "PAUSED", "ENABLED"], Status::Paused)]
    #[case(&["PAUSED", "ENABLED", "REMOVED"], Status::Archived)]
    #[case(&["A_STATE_OF_TOMORROW"], Status::Paused)]
    fn what_does_not_run_is_paused_or_archived(#[case] states: &[&str], #[case] expected: Status) {
        assert_eq!(status(states), expected);
    }
}
