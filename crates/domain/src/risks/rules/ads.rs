//! Campaigns that cost more than they bring, and ads that people tire of.

use rust_decimal::{Decimal, prelude::ToPrimitive};

use crate::{ads::CampaignSums, metrics::returns::Return, risks::TiredAd};

use super::{Action, Assumption, Exposure, Finding, Kind, Measure, Scale, finding, held, number, seen};

/// Sales per unit of spend that pay for the spend alone, where it is not known what a sale leaves.
const SPEND_ALONE: f64 = 1.0;

/// A campaign brings less than it takes to pay for itself, beyond what chance explains. `break_even` is in sales per unit of
/// spend, none where unit costs are unknown.
pub fn ad_waste(campaign: &CampaignSums, claimed: Return, break_even: Option<f64>, scale: &Scale) -> Option<Finding> {
    let least = break_even.unwrap_or(SPEND_ALONE);
    if claimed.high >= least {
        return None;
    }
    let spend = campaign.spend?.to_f64()?;
    let lost = |of: f64| spend * (1.0 - of / least);
    let exposure = break_even
        .map(|_| Exposure::range((lost(claimed.high), lost(claimed.expected), lost(claimed.low)), scale.currency));
    let raised = Finding {
        evidence: vec![
            held(Measure::Roas30d, claimed.expected, least),
            seen(Measure::Purchases30d, number(campaign.purchases?)),
        ],
        assumptions: vec![Assumption::SpendAsLately, Assumption::SalesAsClaimed],
        action: Some(Action::PauseAd),
        ..finding(Kind::AdWaste, campaign.id, &campaign.name)
    };
    Some(raised.costing(exposure, scale))
}

/// An ad is clicked on less than before. The most that is lost is the part of its spend that brought these clicks.
pub fn ad_fatigue(ad: &TiredAd, scale: &Scale) -> Finding {
    let drop = (Decimal::ONE - ad.ctr_ratio).to_f64().unwrap_or_default().clamp(0.0, 1.0);
    let spend = ad.spend.and_then(|spend| spend.to_f64());
    let exposure = spend.map(|spend| Exposure::new(Some(0.0), None, Some(spend * drop), scale.currency));
    let subject = format!("{}-{}", ad.campaign_id, ad.creative_id);
    Finding {
        evidence: vec![seen(Measure::CtrDrop, drop)],
        assumptions: vec![Assumption::SpendAsLately, Assumption::ClicksStayFew],
        action: Some(Action::PauseAd),
        severity: scale.severity(exposure).unwrap_or(crate::insights::Severity::Medium),
        exposure,
        ..finding(Kind::AdFatigue, subject, &ad.label)
    }
}
