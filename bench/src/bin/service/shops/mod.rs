//! Connected shops: how fast a history comes in and in how much memory, what connections cost that nothing happens on, how
//! soon hooks are acknowledged while the database is busy, and what other tenants notice of a history that is read.
//!
//! The platforms are the fakes of `api dev`, in this process, with their limits lifted: what is measured is ours.

mod back_fill;
mod hooks;
mod idle;
mod neighbours;
mod world;

use crate::Bench;

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for back_fill in back_fill::ALL {
        if bench.wants(back_fill.row) {
            let row = back_fill.measure(bench).await?;
            bench.put(row)?;
        }
    }
    if bench.wants(idle::ROW) {
        let row = idle::measure(bench).await?;
        bench.put(row)?;
    }
    if bench.wants(hooks::ROW) {
        let row = hooks::measure(bench).await?;
        bench.put(row)?;
    }
    if bench.wants(neighbours::ROW) {
        let row = neighbours::measure(bench).await?;
        bench.put(row)?;
    }
    Ok(())
}
