//! A campaign that pays.

use rust_decimal::{
    Decimal,
    prelude::{FromPrimitive, ToPrimitive},
};

use super::{
    Category, Draft, Severity,
    rules::code,
    told::{Kind, Told, Value},
};
use crate::{
    ads::CampaignSums,
    anomalies::Direction,
    metrics::returns::{OrderValue, Return, break_even},
    money::estimate,
    risks::HORIZON_DAYS,
};

/// How many times the return of the other campaigns it has to bring.
const BETTER_BY: f64 = 1.5;

/// A campaign with what its platform claims that it brings.
#[derive(Debug, Clone, Copy)]
struct Claimed<'a> {
    campaign: &'a CampaignSums,
    spend: f64,
    returned: Return,
}

/// The campaign that earns most beyond what its spend would bring in the others, or beyond its cost where there are none, if it
/// pays for itself at the low end of what chance explains.
/// `contribution` is what is left of sales after goods, fees and shipping: without it nobody knows what pays.
pub(super) fn pays(
    campaigns: &[CampaignSums],
    order: OrderValue,
    contribution: Option<f64>,
    usual_day: Decimal,
) -> Option<Draft> {
    let contribution = contribution?;
    let least = break_even(contribution)?;
    let claimed: Vec<Claimed> = campaigns.iter().filter_map(|campaign| Claimed::of(campaign, order)).collect();
    let found = claimed.iter().filter_map(|one| {
        let others = of_others(&claimed, one);
        let is_better = others.is_none_or(|others| one.returned.expected >= BETTER_BY * others);
        let beyond = one.returned.expected - others.unwrap_or(least);
        (one.returned.low > least && is_better).then_some((one, others, contribution * beyond * one.spend))
    });
    let (best, others, gain) = found.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(draft(best, least, others, estimate(gain, 4), usual_day))
}

impl<'a> Claimed<'a> {
    fn of(campaign: &'a CampaignSums, order: OrderValue) -> Option<Self> {
        Some(Self { campaign, spend: campaign.spend?.to_f64()?, returned: campaign.claimed_return(order)? })
    }
}

/// What all other campaigns together bring per unit of spend; none without any.
fn of_others(claimed: &[Claimed], one: &Claimed) -> Option<f64> {
    let others = || claimed.iter().filter(|other| other.campaign.id != one.campaign.id);
    let spend: f64 = others().map(|other| other.spend).sum();
    let revenue: f64 = others().map(|other| other.returned.expected * other.spend).sum();
    (spend > 0.0).then(|| revenue / spend)
}

fn draft(best: &Claimed, least: f64, others: Option<f64>, gain: Decimal, usual_day: Decimal) -> Draft {
    let ratio = |value: f64| Value::Ratio(Decimal::from_f64(value).unwrap_or_default());
    let CampaignSums { id, name, spend, revenue, .. } = best.campaign;
    let told = Told::new(Kind::CampaignPays)
        .with("campaign", Value::Names(vec![name.clone()]))
        .with("days", Value::Days(HORIZON_DAYS))
        .with("spent", Value::Money(spend.unwrap_or_default()))
        .with("sales", Value::Money(revenue.unwrap_or_default()))
        .with("roas", ratio(best.returned.expected))
        .with("least", ratio(least))
        .with("gain", Value::Money(gain))
        .with("roas_moved", Value::Moved(Direction::Up));
    let told = match others {
        Some(others) => told.with("others", code("yes")).with("roas_others", ratio(others)),
        None => told.with("others", code("no")),
    };
    Draft {
        stake: Some(gain),
        // It is of a month: of a day, a trifle would do.
        earns_place: gain >= usual_day,
        ..Draft::new(format!("ads:pays:{id}"), Severity::Low, Category::Ads, told)
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;
    use crate::AdEntityId;

    fn campaign(id: i64, spend: i64, purchases: i64, revenue: i64) -> CampaignSums {
        CampaignSums {
            id: AdEntityId(id),
            platform: "meta".into(),
            name: format!("C{id}"),
            is_active: true,
            last_spent: Some(date!(2026 - 02 - 28)),
            spend: Some(spend.into()),
            purchases: Some(purchases),
            revenue: Some(revenue.into()),
        }
    }

    const ORDER: OrderValue = OrderValue { mean: 50.0, spread: 0.5 };

    fn found(campaigns: &[CampaignSums], contribution: Option<f64>) -> Option<(String, Option<Decimal>)> {
        pays(campaigns, ORDER, contribution, dec!(100)).map(|draft| (draft.fingerprint, draft.stake))
    }

    #[test]
    fn the_campaign_that_earns_most_beyond_the_others_is_told() {
        // 5 for each 1 against 2.2 of the others together: of 2.8 times 400, 40 % are left.
        let campaigns = [campaign(1, 400, 40, 2_000), campaign(2, 500, 22, 1_100), campaign(3, 10, 10, 22)];
        assert_eq!(found(&campaigns, Some(0.4)), Some(("ads:pays:1".into(), Some(dec!(448)))));
        assert_eq!(found(&campaigns, None), None, "nobody knows what pays");
        assert_eq!(found(&campaigns, Some(-0.1)), None, "nothing pays");
    }

    #[test]
    fn one_alone_has_to_pay_for_itself_for_certain() {
        // It pays from 2.5 on: 5 of 400 leave 0.4 · 2.5 · 400.
        assert_eq!(found(&[campaign(1, 400, 40, 2_000)], Some(0.4)), Some(("ads:pays:1".into(), Some(dec!(400)))));
        // As much from one purchase may be chance.
        assert_eq!(found(&[campaign(1, 10, 1, 50)], Some(0.4)), None);
        assert_eq!(found(&[campaign(1, 400, 20, 1_000)], Some(0.4)), None);
    }

    #[test]
    fn it_earns_a_place_by_what_a_usual_day_leaves() {
        let earns = |usual_day| {
            pays(&[campaign(1, 400, 40, 2_000)], ORDER, Some(0.4), usual_day).map(|draft| draft.earns_place)
        };
        assert_eq!((earns(dec!(400)), earns(dec!(401))), (Some(true), Some(false)));
    }

    #[test]
    fn campaigns_that_are_alike_are_no_news() {
        assert_eq!(found(&[campaign(1, 400, 40, 2_000), campaign(2, 400, 32, 1_600)], Some(0.4)), None);
    }

    #[test]
    fn what_a_platform_does_not_tell_is_not_judged() {
        let silent = CampaignSums { revenue: None, ..campaign(1, 400, 40, 2_000) };
        assert_eq!(found(&[silent], Some(0.4)), None);
    }
}
