//! The limit that Postgres sets: the same statements by pgbench, prepared, on as many connections.

use std::{path::Path, process::Stdio};

use anyhow::Context;
use tokio::process::Command;

use crate::{cluster::Postgres, load::Load};

/// A script that pgbench repeats.
#[derive(Debug, Clone)]
pub struct Pgbench {
    pub database: String,
    pub script: String,
    pub clients: u32,
    pub seconds: u32,
}

impl Pgbench {
    /// The command as it is written in the report.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("pgbench -n -M prepared -c{} -j1 -T{}", self.clients, self.seconds)
    }

    /// Runs it; the script is kept in `scratch`.
    ///
    /// # Errors
    /// When pgbench is missing or a statement fails.
    pub async fn run(&self, postgres: &Postgres, scratch: &Path) -> anyhow::Result<Load> {
        let script = tempfile::Builder::new().suffix(".sql").tempfile_in(scratch)?;
        std::fs::write(script.path(), &self.script)?;
        let output = Command::new("pgbench")
            .args(["-n", "-M", "prepared", "-j1"])
            .args([format!("-c{}", self.clients), format!("-T{}", self.seconds)])
            .arg("-f")
            .arg(script.path())
            .arg("-h")
            .arg(postgres.socket())
            .args(["-U", "postgres", &self.database])
            .stdin(Stdio::null())
            .output()
            .await
            .context("pgbench cannot be run: scripts/setup-bench.sh installs it")?;
        let said = String::from_utf8_lossy(&output.stdout);
        anyhow::ensure!(output.status.success(), "pgbench: {}", String::from_utf8_lossy(&output.stderr));
        read(&said).with_context(|| format!("pgbench said: {said}"))
    }
}

fn read(output: &str) -> anyhow::Result<Load> {
    let number = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name))?;
        line.split([' ', '/']).next()?.parse::<f64>().ok()
    };
    let per_second = number("tps = ").context("no rate")?;
    let requests = number("number of transactions actually processed: ").context("no count")?;
    Ok(Load { per_second, requests, ..Load::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_without_connecting_is_read() {
        let output = "number of transactions actually processed: 4711\nlatency average = 0.5 ms\n\
                      tps = 1570.300000 (without initial connection time)\n";
        let load = read(output).unwrap();
        assert_eq!((load.per_second, load.requests), (1570.3, 4711.0));
    }
}
