//! What a page costs when there is ten times as much: processor time a request, of the service and Postgres together.
//!
//! The cost is processor time and not the rate, because it is what grows; the larger size is measured in turns with the
//! smaller one.

use bench::{
    dataset::{Dataset, Size},
    load::Wrk,
    report::{Beside, Row, Target},
    rounds::{Measured, in_turns},
};

use crate::{Bench, DATABASE, contenders::Http, reads};

const CLIENTS: u32 = 16;
const PATH: &str = "/api/v1/customers";
/// The database with a tenth of the accounts.
const SMALL: &str = "bench_small";
/// How much a page may cost at ten times the size, as a multiple.
const BOUND: f64 = 1.15;

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if bench.wants("growth customers") {
        let row = customers(bench).await?;
        bench.put(row)?;
    }
    if bench.wants("growth accounts") {
        let row = accounts(bench).await?;
        bench.put(row)?;
    }
    Ok(())
}

/// A page of the account with ten times the customers, beside one of an ordinary account.
async fn customers(bench: &Bench) -> anyhow::Result<Row> {
    let service = reads::serve(bench, DATABASE).await?;
    let ordinary = bench.data.accounts.first().unwrap_or(&bench.data.tenfold);
    let contender = |name, key: &str| -> anyhow::Result<Http<'_>> {
        Ok(Http {
            name,
            wrk: Wrk::get(PATH, &[key], CLIENTS, bench.seconds),
            base_url: service.base_url.clone(),
            processes: vec![service.pid()?, bench.postgres.pid()],
            scratch: bench.postgres.scratch().to_owned(),
        })
    };
    let mut tenfold = contender("10 × customers", &bench.data.tenfold.key)?;
    let mut single = contender("1 ×", &ordinary.key)?;
    let measured = in_turns(bench.rounds, &[], &mut [&mut tenfold, &mut single]).await?;
    service.stop().await?;
    Ok(row("growth customers", "a page of an account with ten times the customers", &measured))
}

/// A page among all accounts, beside one among a tenth of them, from databases of the same cluster.
async fn accounts(bench: &Bench) -> anyhow::Result<Row> {
    let size = Size { accounts: (bench.data.size.accounts / 10).max(1), largest: 0, ..bench.data.size };
    bench.postgres.create_database(SMALL).await?;
    let small = Dataset::load(&bench.postgres.client(SMALL).await?, size).await?;
    let (all, few) = (reads::serve(bench, DATABASE).await?, reads::serve(bench, SMALL).await?);
    let (all_pid, few_pid, server) = (all.pid()?, few.pid()?, bench.postgres.pid());
    let contender = |name, keys: &[&str], base_url: &str, pid| Http {
        name,
        wrk: Wrk::get(PATH, keys, CLIENTS, bench.seconds),
        base_url: base_url.to_owned(),
        processes: vec![pid, server],
        scratch: bench.postgres.scratch().to_owned(),
    };
    let mut tenfold = contender("10 × accounts", &bench.data.keys(), &all.base_url, all_pid);
    let mut single = contender("1 ×", &small.keys(), &few.base_url, few_pid);
    let measured = in_turns(bench.rounds, &[all_pid, few_pid], &mut [&mut tenfold, &mut single]).await?;
    all.stop().await?;
    few.stop().await?;
    Ok(row("growth accounts", "a page among ten times the accounts", &measured))
}

/// The multiple of the cost, and as a note the exponent of cost against size.
fn row(name: &str, what: &str, measured: &[Measured]) -> Row {
    let cost = |index: usize| measured.get(index).map_or(0.0, |measured| measured.cpu_per_1000);
    let multiple = cost(0) / cost(1);
    let rates = Row::of_rates(name, what, "requests/s", measured);
    let beside = rates.beside.iter().map(|beside| Beside { value: cost(1), ratio: multiple, ..beside.clone() });
    Row { value: cost(0), unit: "CPU s per 1,000".to_owned(), beside: beside.collect(), ..rates }
        .target(Target::at_most("cost at 10 ×", multiple, BOUND))
        .note(&format!("exponent {:.3}", multiple.log10()))
}
