//! Risks of advertising.

use domain::{
    ads::CampaignSums,
    metrics::{contribution::contribution_share, returns::break_even},
    risks::{Finding, Situation, ad_fatigue, ad_waste},
};

use super::Shop;

pub(super) fn assess(shop: &Shop, situation: &Situation) -> Vec<Finding> {
    let share = contribution_share(&shop.days).filter(|_| shop.contribution.is_some());
    let mut found: Vec<Finding> =
        situation.campaigns.iter().filter_map(|campaign| waste(shop, situation, campaign, share)).collect();
    found.extend(situation.tired_ads.iter().map(|ad| ad_fatigue(ad, &shop.scale)));
    found
}

/// `share` is what is left of sales; none where unit costs are unknown.
fn waste(shop: &Shop, situation: &Situation, campaign: &CampaignSums, share: Option<f64>) -> Option<Finding> {
    // Where a sale costs more than it brings, ads are not what is wrong.
    let least = match share {
        Some(share) => Some(break_even(share)?),
        None => None,
    };
    ad_waste(campaign, campaign.claimed_return(situation.order_value)?, least, &shop.scale)
}
