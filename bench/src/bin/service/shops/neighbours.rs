//! What other tenants notice while the history of a shop is read: the p99 of a page, with and without.

use async_trait::async_trait;
use bench::{
    load::Load,
    paced::{Paced, Requests},
    report::Row,
    rounds::{Contender, in_turns},
    service::Service,
};
use domain::accounts::Platform;
use tokio::process::Command;

use super::world::{Stub, World};
use crate::{
    Bench,
    contenders::Steady,
    faults::{BOUND, CLIENTS, STEADY, row_of_p99},
};

pub const ROW: &str = "shops neighbours";
/// Orders of the shop: more than are read while it is measured.
const ORDERS: u32 = 200_000;
/// Other accounts.
const OTHERS: i64 = 400;

pub async fn measure(bench: &Bench) -> anyhow::Result<Row> {
    let stub = Stub::start(Platform::Tiendanube, if bench.quick { ORDERS / 20 } else { ORDERS }).await?;
    let world = World::new(bench, "neighbours", &stub, OTHERS).await?;
    let settings = stub.settings(&[]);
    let service = Service::start(&bench.api, &["serve"], &world.url, &settings).await?;
    // With the pauses between statements that it has by default.
    let mut worker_settings = stub.settings(&[("BAS_JOBS_CRON", "0 0 1 1 *")]);
    let ratio = std::env::var("BAS_SHOPS_NICE_RATIO").ok();
    worker_settings.extend(ratio.as_deref().map(|ratio| ("BAS_SHOPS_NICE_RATIO", ratio)));
    let worker = Service::start(&bench.api, &["work"], &world.url, &worker_settings).await?;
    let keys: Vec<String> = world.data.keys().into_iter().map(str::to_owned).collect();
    let steady = |name| -> anyhow::Result<Steady> {
        Ok(Steady {
            name,
            paced: Paced {
                requests: Requests::get("/api/v1/customers", keys.clone()),
                connections: CLIENTS,
                seconds: bench.seconds * 2,
                rate: STEADY,
            },
            highest: None,
            base_url: service.base_url.clone(),
            processes: vec![service.pid()?, worker.pid()?, bench.postgres.pid()],
        })
    };
    let mut alone = steady("without")?;
    // Every key is held before anything is measured.
    alone.run().await?;
    stub.connect(&service, &world.owner.key).await?;
    let pid = worker.pid()?;
    signal(pid, "STOP").await?;
    let mut with = Reading { steady: steady("with")?, worker: pid };
    let measured = in_turns(bench.rounds, &[], &mut [&mut with, &mut alone]).await?;
    let (read, _) = world.read().await?;
    signal(pid, "CONT").await?;
    let command = worker.command.clone();
    worker.stop().await?;
    service.stop().await?;
    let what =
        "GET /customers of others while a worker reads the history of a shop, at the default BAS_SHOPS_NICE_RATIO";
    Ok(row_of_p99(ROW, what, &command, &measured, BOUND).note(&format!("{read} orders of it in all")))
}

/// Clients of other tenants while the worker reads; it stands still otherwise.
struct Reading<'a> {
    steady: Steady<'a>,
    worker: u32,
}

#[async_trait]
impl Contender for Reading<'_> {
    fn name(&self) -> String {
        self.steady.name()
    }

    fn command(&self) -> String {
        self.steady.command()
    }

    fn processes(&self) -> Vec<u32> {
        self.steady.processes()
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        signal(self.worker, "CONT").await?;
        let load = self.steady.run().await;
        signal(self.worker, "STOP").await?;
        load
    }
}

async fn signal(pid: u32, name: &str) -> anyhow::Result<()> {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().await?;
    anyhow::ensure!(sent.success(), "the worker has ended");
    Ok(())
}
