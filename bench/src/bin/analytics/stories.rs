//! Protocol S1: planted incidents must come out as one story each, with the right lever first and the money within the
//! stated range; days without one must be quiet.
//!
//! Four kinds go into the shop on disk, four that it has no data for into the demo generator's. Every incident moves its
//! metric by 1.5 half-widths of that day's expected interval at least, on the side that it goes to. Shops are read in
//! windows, as the nightly job reads them. What is told of the same days without an incident is the shop's own, and not the
//! incident's.

mod judge;
mod plant;
pub mod shops;
mod world;

use std::path::Path;

use serde_json::json;

use crate::daily::print;
use judge::{Judged, Method, Tally};
use plant::{Draw, Incident, Kind, plant};
use world::World;

/// Days of a window that are scored, as by every run of the job, and what comes before them.
const WINDOW: usize = 84;
const LEAD: usize = 130;
/// One incident in so many days.
const SLOT: usize = 28;
/// Of each kind.
const INCIDENTS: usize = 25;
/// Where the draws begin: these incidents were not looked at before the stories were made as they are.
const DRAWN_FROM: u64 = 300;
/// Rounds through a shop, at most.
const ROUNDS: usize = 40;

const ON_DISK: [Kind; 4] = [Kind::ClosedDay, Kind::PriceError, Kind::RefundWave, Kind::BulkOrder];
const GENERATED: [Kind; 4] = [Kind::Outage, Kind::StockOut, Kind::DearerAd, Kind::BrokenTracking];

pub fn run(data: &Path) -> anyhow::Result<()> {
    let mut planted = Tally::default();
    for (world, kinds) in [(shops::on_disk(data)?, ON_DISK), (shops::generated()?, GENERATED)] {
        let first = if world.name == "demo" { judge::FIRST_TRACKED + LEAD } else { LEAD };
        let untouched = windows(&world, first);
        let mut alone = Tally::default();
        for window in &untouched {
            alone.add(judge::judge(&world, &world.days, *window, &[])?);
        }
        for method in Method::ALL {
            print(&json!({"protocol": "S1", "shop": world.name, "part": "untouched", "method": method.name(),
                "days": alone.days, "told_per_30_days": alone.quiet(method)}))?;
        }
        let mut left = kinds.map(|kind| (kind, INCIDENTS));
        for round in 1..=ROUNDS {
            if left.iter().all(|(_, left)| *left == 0) {
                break;
            }
            rounds(&world, first, round, &mut left)?.into_iter().for_each(|judged| planted.add(judged));
        }
    }
    for method in Method::ALL {
        for figures in planted.figures(method) {
            print(&json!({"protocol": "S1", "part": "planted", "method": method.name(), "figures": figures}))?;
        }
    }
    Ok(())
}

/// First days of the windows.
fn windows(world: &World, first: usize) -> Vec<usize> {
    (first..world.days.len().saturating_sub(WINDOW)).step_by(WINDOW).collect()
}

/// One round through a shop: an incident in every slot, of the kinds that are still wanted.
fn rounds(world: &World, first: usize, round: usize, left: &mut [(Kind, usize); 4]) -> anyhow::Result<Vec<Judged>> {
    let mut judged = Vec::new();
    for window in windows(world, first) {
        let mut days = world.days.clone();
        let mut incidents: Vec<Incident> = Vec::new();
        for slot in (window..window + WINDOW).step_by(SLOT) {
            let mut draw = Draw((DRAWN_FROM + round as u64) << 32 | slot as u64);
            let wanted: Vec<Kind> = left.iter().filter(|(_, left)| *left > 0).map(|(kind, _)| *kind).collect();
            let Some(kind) = wanted.get(draw.below(wanted.len())).copied() else { break };
            let start = slot + 2 + draw.below(8);
            let incident = (start..start + 6).find_map(|at| plant(world, &mut days, kind, at, &mut draw));
            if let Some((_, left)) = left.iter_mut().find(|(of, _)| incident.is_some() && *of == kind) {
                *left -= 1;
            }
            incidents.extend(incident);
        }
        if !incidents.is_empty() {
            judged.push(judge::judge(world, &days, window, &incidents)?);
        }
    }
    Ok(judged)
}
