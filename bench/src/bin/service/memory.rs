//! Memory of the service: idle, under load, and while it streams.

use bench::{
    load::Wrk,
    machine::Watch,
    process,
    report::{Row, Target},
};

use crate::{Bench, DATABASE, reads};

const CLIENTS: u32 = 64;

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if !bench.wants_any(&["memory idle", "memory load", "memory streaming"]) {
        return Ok(());
    }
    let service = reads::serve(bench, DATABASE).await?;
    let pid = service.pid()?;
    let watch = Watch::begin(&[pid, bench.postgres.pid()]);

    let idle = process::memory(pid)?.resident;
    let mut row = megabytes("memory idle", "api serve after its start", idle, 60.0);
    row.command.clone_from(&service.command);
    row.disturbed = watch.disturbed();
    bench.put(row)?;

    process::forget_peak(pid)?;
    let wrk = Wrk::get("/api/v1/customers", &bench.data.keys(), CLIENTS, bench.seconds);
    wrk.run(&service.base_url, bench.postgres.scratch()).await?;
    let mut row = megabytes("memory load", "the peak under GET /customers", process::memory(pid)?.peak, 150.0);
    row.command = wrk.shown();
    bench.put(row)?;

    process::forget_peak(pid)?;
    let fewer = stream(&service.base_url, &bench.data.tenfold.key).await?;
    let peak_of_fewer = process::memory(pid)?.peak;

    process::forget_peak(pid)?;
    let lines = stream(&service.base_url, &bench.data.largest.key).await?;
    anyhow::ensure!(lines == bench.data.size.largest, "{lines} lines were streamed");
    let what = format!("the peak while {lines} customers are streamed as CSV");
    let mut row = megabytes("memory streaming", &what, process::memory(pid)?.peak, 150.0);
    "curl $BASE_URL/api/v1/customers?format=csv".clone_into(&mut row.command);
    row.note = format!("{peak_of_fewer:.1} MB with {fewer} of them");
    bench.put(row)?;
    service.stop().await
}

fn megabytes(row: &str, what: &str, value: f64, bound: f64) -> Row {
    Row::new(row, what, value, "MB").target(Target::at_most("MB", value, bound))
}

/// Reads the whole list as CSV and counts its rows, without the header.
async fn stream(base_url: &str, key: &str) -> anyhow::Result<i64> {
    let request = reqwest::Client::new().get(format!("{base_url}/api/v1/customers?format=csv")).bearer_auth(key);
    let mut answer = request.send().await?.error_for_status()?;
    let mut lines = 0;
    while let Some(chunk) = answer.chunk().await? {
        lines += i64::try_from(chunk.iter().filter(|byte| **byte == b'\n').count())?;
    }
    Ok(lines - 1)
}
