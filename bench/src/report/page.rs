//! The page `docs/benchmarks.md`.

use std::fmt::Write;

use super::{Report, Row, Target};

const HEAD: &str = "\
# Benchmarks

Written by `make bench`; do not edit. The whole run takes about forty minutes: it starts a Postgres of its own
(on disk, fsync on), loads the data, starts the release binary, and measures every row in turns with what it is compared
with, so that both see the same machine. Figures are medians of the rounds, ratios the medians of the ratios within a
round, with the lowest and the highest of them behind; there are three rounds, of customers, latency and track nine.
`make bench ROWS=customers,track` measures some of the rows; the others keep their last figures.

The service runs as in production, under the scheduling policy of its systemd unit (`chrt -b 0`), but for two settings: its
log is off (`--log warn`: no line for each request), and the limit of requests a key is out of the way, except in the rows of
faults.

What a row stands beside:

- **pgbench**: `pgbench -M prepared` running the very statements that the request or the debit makes, taken from the
  server's log, on as many connections as there are clients. The limit that Postgres sets. Reads stand beside it on eight
  connections as well, as many as the service may open to Postgres (these reads keep two of them busy): with about as many
  pgbench is fastest.
- **from memory**: actix-web answering the same bytes without any work. The limit that the framework sets.
- **Fastify**: `bench/peers/fastify`, the same endpoint in fifty lines of Fastify and pg, a process a processor.
- **1 ×**: the same at a tenth of the size, in the rows of growth. The exponent is that of cost against size: 0 when a thing
  costs the same however much there is, 1 when all together cost as many times as much as there are more of them.
- **at full speed**, in the row of latency: 16 clients who ask as fast as they are answered, just before each round. At half of
  that rate 64 clients each wait for a random time before they ask again.
- **without**, in the rows of faults: the same requests while no client misbehaves. **The same attack on a server that does
  nothing**: the same requests to the service while the clients misbehave towards another process, which answers two bytes
  from memory; what they cost then is the processor time that the attack itself takes. Rows that say so are measured through HAProxy with
  the limits of `packaging/haproxy.cfg`, with and without the attack.

A row whose run was disturbed, because something else used the processors for part of it, is marked ⚠.
[benchmarks-profiles.md](benchmarks-profiles.md) says where the time went.

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
    page.push_str("\n## Commands\n\n| row | command | measured |\n|---|---|---|\n");
    for row in &report.rows {
        let others = row.beside.iter().map(|beside| format!("; {}: `{}`", beside.name, beside.command));
        let _ = writeln!(page, "| {} | `{}`{} | {} |", row.row, row.command, others.collect::<String>(), row.measured);
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
