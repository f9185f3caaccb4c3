//! Regular customers who stay away.

use std::{collections::BTreeMap, path::Path};

use analytics::{
    customers::{History, Models, Options, Past, churn, rfm::Segment},
    exposure::sum_of_chances,
};
use domain::risks::{HORIZON_DAYS, LIKELY_CHURN};
use time::{Date, Duration};

use super::{CONTRIBUTION, Raised, Score, mondays};
use crate::customers::purchases::{self, Shop};

/// Days of purchases before the first assessment, and those that tell what a customer brings.
const BEFORE_DAYS: usize = 180;
const YEAR_DAYS: i64 = 365;
/// Days that a score is about.
const SILENCE_DAYS: i64 = churn::HORIZON_DAYS as i64;

pub fn run(data: &Path) -> anyhow::Result<Score> {
    let mut score = Score::default();
    for shop in purchases::shops(&data.join("online_retail"))? {
        assess(&shop, &mut score);
    }
    Ok(score)
}

type Days = BTreeMap<String, Vec<(Date, u32, f64)>>;

fn assess(shop: &Shop, score: &mut Score) {
    let mut customers = Days::new();
    for purchase in &shop.purchases {
        let days = customers.entry(purchase.customer.clone()).or_default();
        days.push((purchase.day, purchase.orders, purchase.value));
    }
    let days = shop.purchases.iter().map(|purchase| purchase.day);
    let (Some(first), Some(last)) = (days.clone().min(), days.max()) else { return };
    let calendar: Vec<Date> =
        std::iter::successors(Some(first), |day| day.next_day()).take_while(|day| *day <= last).collect();
    let after = usize::try_from(SILENCE_DAYS).unwrap_or_default();
    let mut known: Vec<(Date, f64)> = Vec::new();
    for at in mondays(&calendar, BEFORE_DAYS, after) {
        let Some(&today) = calendar.get(at) else { continue };
        let Some((chances, lost)) = leaving(&customers, today) else { continue };
        // The newest of the losses that had shown by then.
        let shown = today - Duration::days(SILENCE_DAYS);
        let lost_before = known.iter().rev().find(|(day, _)| *day <= shown).map(|(_, lost)| *lost);
        known.push((today, lost));
        if let Some(lost_before) = lost_before {
            score.raised(Raised { range: sum_of_chances(&chances), lost, lost_before });
        }
    }
}

/// Chance and monthly contribution of the regular customers who are likelier to stay away, and what was lost with those who
/// did.
fn leaving(customers: &Days, today: Date) -> Option<(Vec<(f64, f64)>, f64)> {
    let buyers: Vec<_> = customers.values().filter(|days| days.first().is_some_and(|(day, ..)| *day < today)).collect();
    let histories: Vec<History> = buyers.iter().map(|days| history(days, today)).collect();
    let models = Models::fit(&histories, today.previous_day()?, &Past::default());
    let scores = models.score(&histories, today.previous_day()?, &Options::default());
    let (mut chances, mut lost) = (Vec::new(), 0.0);
    for (days, score) in buyers.iter().zip(&scores) {
        let is_regular = matches!(score.segment, Segment::Vip | Segment::Loyal);
        let Some(probability) = score.churn_score.filter(|churn| is_regular && *churn >= LIKELY_CHURN) else {
            continue;
        };
        let year = |day: Date| day < today && (today - day).whole_days() <= YEAR_DAYS;
        let spent: f64 = days.iter().filter(|(day, ..)| year(*day)).map(|(_, _, value)| value).sum();
        let monthly = CONTRIBUTION * spent * HORIZON_DAYS as f64 / YEAR_DAYS as f64;
        chances.push((probability, monthly));
        let comes_back = |day: Date| day >= today && (day - today).whole_days() < SILENCE_DAYS;
        if !days.iter().any(|(day, ..)| comes_back(*day)) {
            lost += monthly;
        }
    }
    (!chances.is_empty()).then_some((chances, lost))
}

fn history(days: &[(Date, u32, f64)], today: Date) -> History {
    let known = || days.iter().filter(|(day, ..)| *day < today);
    let active = known().next().zip(known().next_back()).map(|(first, last)| (first.0, last.0));
    History {
        orders: known().map(|(_, orders, _)| orders).sum(),
        purchase_days: u32::try_from(known().count()).unwrap_or(u32::MAX),
        active,
        spend: known().map(|(_, _, value)| value).sum(),
    }
}
