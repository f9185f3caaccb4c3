//! Risks of advertising.

use domain::{
    ads::CampaignSums,
    metrics::{contribution::contribution_share, returns::break_even},
    risks::{Finding, Situation, ad_fatigue, ad_waste},
};

use super::Shop;

pub(super) fn assess(shop: &Shop, situation: &Situation) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        situation.campaigns.iter().filter_map(|campaign| waste(shop, situation, campaign)).collect();
    found.extend(situation.tired_ads.iter().map(|ad| ad_fatigue(ad, &shop.scale)));
    found
}

fn waste(shop: &Shop, situation: &Situation, campaign: &CampaignSums) -> Option<Finding> {
    let share = contribution_share(&shop.days).filter(|_| shop.contribution.is_some());
    // Where a sale costs more than it brings, ads are not what is wrong.
    let least = match share {
        Some(share) => Some(break_even(share)?),
        None => None,
    };
    ad_waste(campaign, campaign.claimed_return(situation.order_value)?, least, &shop.scale)
}
