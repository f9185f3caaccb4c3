//! What processes used of the machine, from `/proc`.

use std::{collections::HashMap, fs};

use anyhow::Context;

/// Clock ticks a second: the unit of processor time in `/proc`, 100 on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// A line of `/proc/<pid>/stat`, as far as it is needed.
#[derive(Debug, Clone, Copy)]
struct Stat {
    parent: u32,
    /// Seconds of the process and of its children that have ended.
    cpu: f64,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = text.get(text.rfind(')')? + 2..)?.split(' ').collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    let parent = fields.get(1)?.parse().ok()?;
    Some(Stat { parent, cpu: (ticks(11)? + ticks(12)? + ticks(13)? + ticks(14)?) / TICKS })
}

/// Processor seconds of the processes and everything below them, ended ones included.
#[must_use]
pub fn cpu_seconds(roots: &[u32]) -> f64 {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: HashMap<u32, Stat> = pids
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect();
    all.iter().filter(|(pid, _)| belongs(**pid, roots, &all)).map(|(_, stat)| stat.cpu).sum()
}

fn belongs(mut pid: u32, roots: &[u32], all: &HashMap<u32, Stat>) -> bool {
    while !roots.contains(&pid) {
        match all.get(&pid) {
            Some(stat) if stat.parent > 1 => pid = stat.parent,
            _ => return false,
        }
    }
    true
}

/// Memory that a process holds, MB (10⁶ bytes).
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    pub resident: f64,
    /// The most it held since [`forget_peak`].
    pub peak: f64,
}

/// # Errors
/// When there is no such process.
pub fn memory(pid: u32) -> anyhow::Result<Memory> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).context("the process is gone")?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let megabytes = |name| field(name).map(|kib| kib * 1_024.0 / 1e6).context("a process without memory");
    Ok(Memory { resident: megabytes("VmRSS:")?, peak: megabytes("VmHWM:")? })
}

/// Resets [`Memory::peak`].
///
/// # Errors
/// When there is no such process, or it is not ours.
pub fn forget_peak(pid: u32) -> anyhow::Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").context("the peak of memory cannot be reset")
}
