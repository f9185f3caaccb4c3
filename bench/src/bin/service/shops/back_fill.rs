//! How fast the history of a shop comes in, parsed and stored, and in how much memory.

use std::time::Instant;

use bench::{
    machine::Watch,
    process,
    report::{Row, Target},
    service::Service,
};
use domain::accounts::Platform;

use super::world::{Stub, World};
use crate::Bench;

/// Orders of the shops.
const SIZES: [u32; 2] = [20_000, 100_000];
/// The most memory of the service, whatever the shop's size, MB.
const MEMORY: f64 = 150.0;

pub struct BackFill {
    pub row: &'static str,
    platform: Platform,
    what: &'static str,
    /// Orders a second.
    bound: f64,
}

pub const ALL: [BackFill; 3] = [
    BackFill { row: "shops shopify", platform: Platform::Shopify, what: "by bulk operations", bound: 3_000.0 },
    BackFill { row: "shops tiendanube", platform: Platform::Tiendanube, what: "by pages of 200", bound: 1_000.0 },
    BackFill {
        row: "shops mercadolibre",
        platform: Platform::Mercadolibre,
        what: "by pages of 50, with each order's shipment",
        bound: 300.0,
    },
];

/// A history that was read.
struct Read {
    orders: i64,
    per_second: f64,
    cpu_per_1000: f64,
    peak: f64,
    disturbed: bool,
    command: String,
}

impl BackFill {
    pub async fn measure(&self, bench: &Bench) -> anyhow::Result<Row> {
        let mut all = Vec::new();
        for orders in SIZES {
            all.push(self.read(bench, if bench.quick { orders / 20 } else { orders }).await?);
        }
        let worst = all.iter().map(|read| read.per_second).fold(f64::INFINITY, f64::min);
        let peak = all.iter().map(|read| read.peak).fold(0.0, f64::max);
        let each = all.iter().map(|read| {
            let Read { orders, per_second, peak, .. } = read;
            format!("{orders} orders: {per_second:.0}/s, {peak:.0} MB")
        });
        let note = each.collect::<Vec<_>>().join("; ");
        let what = format!("the history of a shop {}, parsed and stored", self.what);
        let mut row = Row::new(self.row, &what, worst, "orders/s")
            .target(Target::at_least("orders/s", worst, self.bound))
            .target(Target::at_most("MB", peak, MEMORY))
            .note(&note);
        row.cpu_per_1000 = all.last().map(|read| read.cpu_per_1000);
        row.disturbed = all.iter().any(|read| read.disturbed);
        row.command = all.pop().map(|read| read.command).unwrap_or_default();
        Ok(row)
    }

    async fn read(&self, bench: &Bench, orders: u32) -> anyhow::Result<Read> {
        let stub = Stub::start(self.platform, orders).await?;
        let world = World::new(bench, "shop", &stub, 1).await?;
        let settings = stub.settings(&[("BAS_SHOPS_NICE_RATIO", "0"), ("BAS_JOBS_CRON", "0 0 1 1 *")]);
        let service = Service::start(&bench.api, &["up", "--no-demo"], &world.url, &settings).await?;
        let processes = [service.pid()?, bench.postgres.pid()];
        process::forget_peak(service.pid()?)?;
        let (watch, cpu, began) = (Watch::begin(&processes), process::cpu_seconds(&processes), Instant::now());
        stub.connect(&service, &world.owner.key).await?;
        world.wait_for_history().await?;
        let (seconds, cpu) = (began.elapsed().as_secs_f64(), process::cpu_seconds(&processes) - cpu);
        let (disturbed, peak) = (watch.disturbed(), process::memory(service.pid()?)?.peak);
        let (read, refused) = world.read().await?;
        anyhow::ensure!(read >= i64::from(orders) * 9 / 10 && refused * 10 < read, "{read} read, {refused} refused");
        let command = service.command.clone();
        service.stop().await?;
        Ok(Read {
            orders: read,
            per_second: read as f64 / seconds,
            cpu_per_1000: cpu / read as f64 * 1_000.0,
            peak,
            disturbed,
            command,
        })
    }
}
