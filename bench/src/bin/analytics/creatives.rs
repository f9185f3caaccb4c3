//! Protocol C1: how often a rule names a winner that is none, and what winners turn out to be worth.
//!
//! Counts: groups of arms with impressions and clicks, looked at fourteen times. Under A/A the clicks of a group are dealt out
//! again by impressions, so that every winner is a false one. For the truth each arm is cut in two: one half names the
//! winner, the other says what it is worth. With `creatives/n_matrix.csv` and `y_matrix.csv` in the data folder (impressions
//! and clicks, a line a test and a column an arm) the groups are those; else they are simulated, with the size and spread of
//! that archive. Revenue: eight creatives of equal spend whose orders have a light or a heavy tail.

mod random;
mod rules;

use std::path::Path;

use analytics::creatives::{Outcome, TAU};
use serde_json::json;

use self::{
    random::Random,
    rules::{RULES, Rule, Seen},
};
use crate::{
    daily::{print, round},
    table::Table,
};

const LOOKS: usize = 14;
/// Simulated groups of each kind.
const GROUPS: usize = 3_000;
const REVENUE_GROUPS: usize = 20_000;
const CREATIVES: usize = 8;

/// An arm as a whole: what it was shown, and how often it was clicked on.
#[derive(Debug, Default, Clone, Copy)]
struct Arm {
    shown: f64,
    clicks: usize,
}

pub fn run(data: &Path) -> anyhow::Result<()> {
    let folder = data.join("creatives");
    let (source, groups) = if folder.is_dir() { ("data", load(&folder)?) } else { ("simulated", simulated()) };
    print(&json!({"protocol": "C1", "groups": groups.len(), "source": source, "looks": LOOKS, "tau": TAU}))?;
    for (name, rule) in RULES {
        print(&counts(name, rule, &groups))?;
    }
    for spread in [0.64, 11.09] {
        for purchases in [10.0, 30.0, 100.0, 300.0] {
            for (name, rule) in RULES {
                print(&revenue(name, rule, spread, purchases))?;
            }
        }
    }
    Ok(())
}

/// Groups in which every arm was shown. Tests of the weeks whose assignment is known to be faulty are to be
/// left out of the folder.
fn load(folder: &Path) -> anyhow::Result<Vec<Vec<Arm>>> {
    let rows = |name: &str| -> anyhow::Result<Vec<Vec<f64>>> {
        let mut rows = Vec::new();
        Table::open(&folder.join(name))?.each(|row| {
            rows.push(row.iter().map(|cell| cell.parse().unwrap_or(0.0)).collect());
            Ok(())
        })?;
        Ok(rows)
    };
    let (shown, clicks) = (rows("n_matrix.csv")?, rows("y_matrix.csv")?);
    let group = |(shown, clicks): (Vec<f64>, Vec<f64>)| {
        let arms = shown.into_iter().zip(clicks).filter(|(shown, _)| *shown > 0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
        arms.map(|(shown, clicks)| Arm { shown, clicks: clicks as usize }).collect::<Vec<_>>()
    };
    Ok(shown.into_iter().zip(clicks).map(group).filter(|arms| arms.len() > 1).collect())
}

/// Like the archive: two to eight arms of some 3,100 impressions, 1.2 % of them clicked on, logarithms that deviate by .214.
fn simulated() -> Vec<Vec<Arm>> {
    let mut random = Random::new(1);
    let mut groups = Vec::with_capacity(GROUPS);
    for _ in 0..GROUPS {
        let rate = 0.012 * (0.6 * random.normal()).exp();
        let mut group = vec![Arm::default(); 2 + random.below(7)];
        for arm in &mut group {
            arm.shown = (3_100.0 * (0.4 * random.normal()).exp()).round();
            let better = (0.214 * random.normal()).exp();
            arm.clicks = random.poisson(arm.shown * rate * better);
        }
        groups.push(group);
    }
    groups
}

/// What arms have brought by each look, when events come evenly.
fn looks(arms: &[Arm], random: &mut Random) -> Vec<Vec<Outcome>> {
    let mut clicks = vec![vec![0.0; arms.len()]; LOOKS];
    for (place, arm) in arms.iter().enumerate() {
        for _ in 0..arm.clicks {
            if let Some(count) = clicks.get_mut(random.below(LOOKS)).and_then(|look| look.get_mut(place)) {
                *count += 1.0;
            }
        }
    }
    let mut sums = vec![Outcome::default(); arms.len()];
    let mut looks = Vec::new();
    for look in clicks {
        for ((sum, arm), clicked) in sums.iter_mut().zip(arms).zip(look) {
            sum.exposure += arm.shown / LOOKS as f64;
            sum.amount += clicked;
            sum.events += clicked;
        }
        looks.push(sums.clone());
    }
    looks
}

/// What a rule sees at a look.
fn seen(looks: &[Vec<Outcome>], look: usize, spread: f64) -> Option<Seen<'_>> {
    let before = look.checked_sub(1).and_then(|before| looks.get(before)).map_or(&[][..], Vec::as_slice);
    looks.get(look).map(|arms| Seen { arms, before, looks: look + 1, spread })
}

/// The first look at which the rule names a winner, and whom.
fn first_winner(rule: Rule, looks: &[Vec<Outcome>], spread: f64) -> Option<(usize, usize)> {
    (0..looks.len()).find_map(|look| Some((look, rule(&seen(looks, look, spread)?)?)))
}

fn at_end(rule: Rule, looks: &[Vec<Outcome>], spread: f64) -> bool {
    seen(looks, LOOKS - 1, spread).is_some_and(|seen| rule(&seen).is_some())
}

#[derive(Default)]
struct Winners {
    claimed: f64,
    shrunk: f64,
    realised: f64,
    right: f64,
    count: f64,
}

fn counts(name: &str, rule: Rule, groups: &[Vec<Arm>]) -> serde_json::Value {
    let mut random = Random::new(2);
    let (mut false_end, mut false_any) = (0_usize, 0_usize);
    let mut won = Winners::default();
    for arms in groups {
        let dealt = looks(&deal(arms, &mut random), &mut random);
        false_end += usize::from(at_end(rule, &dealt, 0.0));
        false_any += usize::from(first_winner(rule, &dealt, 0.0).is_some());
        let (half, truth) = split(arms, &mut random);
        let half = looks(&half, &mut random);
        let Some((look, winner)) = first_winner(rule, &half, 0.0) else { continue };
        let contrast = seen(&half, look, 0.0).and_then(|seen| seen.contrast(winner));
        let (Some(contrast), Some(realised)) = (contrast, lift(&truth, winner)) else { continue };
        won.claimed += contrast.lift(TAU).observed;
        won.shrunk += contrast.lift(TAU).shrunk;
        won.realised += realised;
        won.right += f64::from(u8::from(realised > 0.0));
        won.count += 1.0;
    }
    let all = groups.len() as f64;
    let mean = |sum: f64| round(sum / won.count.max(1.0));
    json!({
        "figure": "counts", "rule": name, "false_at_end_pct": round(100.0 * false_end as f64 / all),
        "false_at_any_look_pct": round(100.0 * false_any as f64 / all),
        "declared_pct": round(100.0 * won.count / all), "claimed_lift": mean(won.claimed),
        "shrunk_lift": mean(won.shrunk), "realised_lift": mean(won.realised),
        "shrunk_by_realised": round(won.shrunk / won.realised), "sign_right": mean(won.right),
    })
}

/// The clicks of a group, dealt out again by impressions.
fn deal(arms: &[Arm], random: &mut Random) -> Vec<Arm> {
    let shown: f64 = arms.iter().map(|arm| arm.shown).sum();
    let mut dealt: Vec<Arm> = arms.iter().map(|arm| Arm { clicks: 0, ..*arm }).collect();
    for _ in 0..arms.iter().map(|arm| arm.clicks).sum::<usize>() {
        let mut place = random.unit() * shown;
        let to = arms.iter().position(|arm| {
            place -= arm.shown;
            place < 0.0
        });
        if let Some(arm) = to.and_then(|to| dealt.get_mut(to)) {
            arm.clicks += 1;
        }
    }
    dealt
}

/// Two halves of the impressions, each with the clicks on them.
fn split(arms: &[Arm], random: &mut Random) -> (Vec<Arm>, Vec<Arm>) {
    let halves = arms.iter().map(|arm| {
        let first = (0..arm.clicks).filter(|_| random.unit() < 0.5).count();
        let half = arm.shown / 2.0;
        (Arm { shown: half, clicks: first }, Arm { shown: half, clicks: arm.clicks - first })
    });
    halves.unzip()
}

/// By how much an arm's rate is above that of the others. None where the others have no click.
fn lift(arms: &[Arm], winner: usize) -> Option<f64> {
    let own = arms.get(winner)?;
    let others = arms.iter().enumerate().filter(|(place, _)| *place != winner);
    let (shown, clicks) =
        others.fold((0.0, 0.0), |(shown, clicks), (_, arm)| (shown + arm.shown, clicks + arm.clicks as f64));
    (clicks > 0.0).then(|| own.clicks as f64 / own.shown / (clicks / shown) - 1.0)
}

/// Eight creatives, one of them better by nothing, a half, and as much again.
fn revenue(name: &str, rule: Rule, spread: f64, purchases: f64) -> serde_json::Value {
    let mut random = Random::new(3);
    let mut share = |better: f64| {
        let named = (0..REVENUE_GROUPS).filter(|_| {
            let looks = sales(better, spread, purchases, &mut random);
            first_winner(rule, &looks, spread).is_some_and(|(_, arm)| better == 1.0 || arm == 0)
        });
        round(100.0 * named.count() as f64 / REVENUE_GROUPS as f64)
    };
    json!({
        "figure": "revenue", "rule": name, "order_cv": round(spread.sqrt()), "purchases": purchases,
        "false_pct": share(1.0), "found_half_better_pct": share(1.5), "found_twice_pct": share(2.0),
    })
}

fn sales(better: f64, spread: f64, purchases: f64, random: &mut Random) -> Vec<Vec<Outcome>> {
    // A lognormal order of mean 1 with the spread.
    let sigma = (1.0 + spread).ln().sqrt();
    let mut sums = vec![Outcome::default(); CREATIVES];
    let mut looks = Vec::new();
    for _ in 0..LOOKS {
        for (place, sum) in sums.iter_mut().enumerate() {
            let rate = if place == 0 { better } else { 1.0 };
            let sold = random.poisson(purchases * rate / LOOKS as f64);
            sum.exposure += 1.0;
            sum.events += sold as f64;
            sum.amount += (0..sold).map(|_| (sigma * random.normal() - 0.5 * sigma * sigma).exp()).sum::<f64>();
        }
        looks.push(sums.clone());
    }
    looks
}
