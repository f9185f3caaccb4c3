//! The machine: what it is, and whether it was ours alone while a sample was taken.

use std::{fs, process::Command, time::Instant};

use crate::process;

/// A sample is disturbed when others used more than this share of all processors.
const TOLERATED: f64 = 0.04;

/// Clock ticks a second.
const TICKS: f64 = 100.0;

/// Processor seconds of the whole machine since it started.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    busy: f64,
    stolen: f64,
}

fn total() -> Total {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = text.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.map(|field| field.parse().unwrap_or(0.0)).collect();
    let field = |index: usize| ticks.get(index).copied().unwrap_or(0.0) / TICKS;
    // user, nice, system, idle, iowait, irq, softirq, steal
    Total { busy: field(0) + field(1) + field(2) + field(5) + field(6), stolen: field(7) }
}

/// Watches the machine during a sample.
#[derive(Debug)]
pub struct Watch {
    ours: Vec<u32>,
    began: Instant,
    total: Total,
    used: f64,
}

impl Watch {
    /// `ours` are the processes that may be busy, with all below them; this one is always among them.
    #[must_use]
    pub fn begin(ours: &[u32]) -> Self {
        let mut ours = ours.to_vec();
        ours.push(std::process::id());
        Self { used: process::cpu_seconds(&ours), ours, began: Instant::now(), total: total() }
    }

    /// The share of all processors that others used since, 0 to 1: other processes, or other machines on the same host.
    #[must_use]
    pub fn others(&self) -> f64 {
        let (now, used) = (total(), process::cpu_seconds(&self.ours));
        let others = (now.busy - self.total.busy) - (used - self.used);
        let stolen = now.stolen - self.total.stolen;
        let available = self.began.elapsed().as_secs_f64() * processors();
        if available > 0.0 { ((others.max(0.0) + stolen) / available).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Whether the sample counts as disturbed.
    #[must_use]
    pub fn disturbed(&self) -> bool {
        self.others() > TOLERATED
    }
}

fn processors() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |n| f64::from(u32::try_from(n.get()).unwrap_or(1)))
}

/// What was measured on, a line each.
#[must_use]
pub fn describe() -> Vec<String> {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        line.split_once(':').map_or_else(String::new, |(_, value)| value.trim().to_owned())
    };
    let memory: f64 = field("/proc/meminfo", "MemTotal").split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    vec![
        format!(
            "{} processors ({}), {:.0} GB of memory, Linux {}; the load generator, the service and Postgres share them",
            processors(),
            field("/proc/cpuinfo", "model name"),
            memory * 1_024.0 / 1e9,
            kernel.trim()
        ),
        version("wrk", &["-v"]),
        version("pgbench", &["--version"]),
        version("haproxy", &["-v"]),
        format!("node {}", version("node", &["--version"])),
    ]
}

/// The first line that a program says about itself.
#[must_use]
pub fn version(program: &str, arguments: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(arguments).output() else { return format!("{program}: not installed") };
    let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    String::from_utf8_lossy(&said).lines().next().unwrap_or_default().trim().to_owned()
}
