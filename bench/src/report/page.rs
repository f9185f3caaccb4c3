//! The page `docs/benchmarks.md`.

use std::fmt::Write;

use super::{Report, Row, Target};

const HEAD: &str = "\
# Benchmarks

Written by `make bench`; do not edit. A whole run takes about forty minutes. It starts a Postgres of its own (on disk, fsync
on), loads the data, starts the release binary, and measures every row in turns with its comparisons, so that both see the same
machine. Figures are medians of three rounds (nine for customers, latency and track); ratios are medians of the ratios within a
round, with their range. `make bench ROWS=customers,track` measures some rows and keeps the others.

The service runs as in production, under the scheduling policy of its systemd unit (`chrt -b 0`), except that its log is off
(`--log warn`) and, outside the rows of faults, its rate limit too.

Comparisons:

- **pgbench**: `pgbench -M prepared` running the statements of the request or debit, taken from the server's log, on as many
  connections as there are clients: the limit that Postgres sets. Reads are also compared with eight connections, the most that the
  service opens (these reads use two) and about the number with which pgbench is fastest.
- **from memory**: actix-web answering the same bytes without any work: the limit that the framework sets.
- **Fastify**: `bench/peers/fastify`, the same endpoint in fifty lines of Fastify and pg, one process per processor.
- **1 ×**: the same at a tenth of the size. The exponent is that of cost against size: 0 when the cost of one thing does not depend on
  the size, 1 when the total cost is proportional to it.
- **at full speed** (latency): 16 clients without pauses, just before each round. At half of that rate 64 clients each wait for a
  random time between requests.
- **without** (faults): the same requests while no client misbehaves. **attack elsewhere**: the clients misbehave towards another
  process, which answers two bytes from memory: the processor time of the attack itself. Rows that say so go through HAProxy
  with the limits of `packaging/haproxy.cfg`, with and without the attack.

⚠ marks a row during which something else used the processors.
[benchmarks-profiles.md](benchmarks-profiles.md) says where the time goes.

![Values beside their bounds](benchmarks.svg)
";

pub fn render(report: &Report) -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n## Machine\n\n");
    for line in &report.machine {
        let _ = writeln!(page, "- {line}");
    }
    page.push_str("\n## Rows\n\n| row | value | p50 / p99 ms | CPU s per 1,000 | beside | to reach |\n|---|---|---|---|---|---|\n");
    for row in &report.rows {
        let _ = writeln!(page, "{}", line(row));
    }
    page.push_str("\n## Commands\n\nA comparison that is not named runs the command of its row.\n");
    page.push_str("\n| rows | command | measured |\n|---|---|---|\n");
    let mut commands: Vec<(Vec<&str>, String)> = Vec::new();
    for row in &report.rows {
        let others = row.beside.iter().filter(|beside| !row.command.ends_with(&beside.command));
        let others = others.map(|beside| format!("; {}: `{}`", beside.name, beside.command));
        let command = format!("`{}`{} | {}", row.command, others.collect::<String>(), row.measured);
        match commands.iter_mut().find(|(_, known)| *known == command) {
            Some((rows, _)) => rows.push(&row.row),
            None => commands.push((vec![&row.row], command)),
        }
    }
    for (rows, command) in commands {
        let _ = writeln!(page, "| {} | {command} |", rows.join(", "));
    }
    page
}

fn line(row: &Row) -> String {
    let mark = if row.disturbed { " ⚠" } else { "" };
    let note = if row.note.is_empty() { String::new() } else { format!("<br>{}", row.note) };
    let latency = match (row.p50_ms, row.p99_ms) {
        (Some(p50), Some(p99)) => format!("{p50:.2} / {p99:.2}"),
        _ => String::new(),
    };
    let cpu = row.cpu_per_1000.map(|seconds| format!("{seconds:.3}")).unwrap_or_default();
    let beside = row.beside.iter().map(|beside| {
        let range = beside.ratio_range.map(|(low, high)| format!("; {low:.2}–{high:.2}")).unwrap_or_default();
        format!("{}: {} (× {:.2}{range})", beside.name, figure(beside.value), beside.ratio)
    });
    let targets = row.targets.iter().map(bound);
    format!(
        "| **{}** {}{note} | {} {}{mark} | {latency} | {cpu} | {} | {} |",
        row.row,
        row.what,
        figure(row.value),
        row.unit,
        beside.collect::<Vec<_>>().join("<br>"),
        targets.collect::<Vec<_>>().join("<br>")
    )
}

fn bound(target: &Target) -> String {
    let (sign, mark) = (if target.at_least { "≥" } else { "≤" }, if target.reached() { "✔" } else { "✘" });
    format!("{mark} {}: {} {sign} {}", target.what, figure(target.value), figure(target.bound))
}

/// Three digits that count, with thousands apart.
pub fn figure(value: f64) -> String {
    if value.abs() >= 1_000.0 {
        let digits = format!("{value:.0}");
        let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |rest| ("-", rest));
        let groups: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
        return format!("{sign}{}", groups.join(","));
    }
    let decimals = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let shown: Vec<String> = [12_345.6, 999.6, 150.4, 15.04, 0.704, -1_234_567.0, 0.0].map(figure).into();
        assert_eq!(shown, ["12,346", "1000", "150", "15", "0.7", "-1,234,567", "0"]);
    }
}
