//! The page `docs/benchmarks.md`.

use std::fmt::Write;

use super::{Report, Row, Target};

const HEAD: &str = "\
# Benchmarks

`make bench` writes this page in about forty minutes; `make bench ROWS=customers,track` measures some rows and keeps the others. The release
binary, with a Postgres of its own (on disk, fsync on), takes turns with what stands beside; rates are of 16 clients (track: 32). Figures are
medians of three rounds (nine for customers, latency, track and logins), ratios medians of the rounds' ratios, with their range. The service
runs by `chrt -b 0`, without a log and, outside faults, without a rate limit. ⚠: other load on the processors.

- **pgbench** (`-M prepared`): the same statements on as many connections as clients: Postgres's limit.
- **from memory**: actix-web answering the same bytes: the framework's limit.
- **Fastify**: the same endpoint by Fastify and pg (`bench/peers/fastify`), one process a processor.
- **1 ×**: a tenth of the size. Exponent: 0 when one thing costs the same at any size, 1 when the total is proportional to it.
- **latency**: 64 clients pause for random times; **at full speed**: 16 clients without pauses.
- **faults**: the p99 of GET /customers at 200/s, timed from when it was due, while clients misbehave (**logins**: on the dashboard of the same
  process); **without**: while none does; **attack elsewhere**: while they attack a server that does nothing.

![Values beside their bounds](benchmarks.svg)

## What limits the rows

- **customers ÷ pgbench**: HTTP, the key, decoding and JSON take as long as Postgres.
- **track ÷ pgbench**: about eleven events [share a transaction](adr/0006-events-commit-in-groups.md).
- **import ÷ \\copy**: `INSERT … SELECT` into tables with the same keys alone reaches a quarter of `\\copy`'s speed.
- **p99 ÷ p50**: Linux may leave an HTTP thread and its Postgres session on one processor for up to 300 ms.
- **nightly growth history**: a longer history has more customers who differ, for the two fits of `customer_metrics`.
- **logins spread**: a password takes a processor for some 30 ms, on a thread that [gives way to requests](adr/0022-hashes-give-way.md).
- **shops neighbours**: the pauses of the default `BAS_SHOPS_NICE_RATIO`; with 9 the ratio was 2.8, with 1 it was 5.4.
- Ratios vary by a fifth within an hour.
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
    page.push_str("\n## Runs\n\nThe commands of the rows are in [benchmarks.json](benchmarks.json).\n\n");
    for (measured, rows) in runs(&report.rows) {
        let _ = writeln!(page, "- {measured}: {}", rows.join(", "));
    }
    page
}

/// The days and versions of the runs, each with its rows.
fn runs(rows: &[Row]) -> Vec<(&str, Vec<&str>)> {
    let mut runs: Vec<(&str, Vec<&str>)> = Vec::new();
    for Row { row, measured, .. } in rows {
        match runs.iter_mut().find(|known| known.0 == measured.as_str()) {
            Some((_, names)) => names.push(row),
            None => runs.push((measured, vec![row])),
        }
    }
    runs
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

/// Three significant digits, with thousands apart.
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
    fn the_page_in_the_repository_is_made_of_the_figures_beside_it() {
        let report: Report = serde_json::from_str(include_str!("../../../docs/benchmarks.json")).unwrap();
        assert!(
            render(&report) == include_str!("../../../docs/benchmarks.md"),
            "any row writes it: make bench ROWS='memory idle'"
        );
    }

    #[test]
    fn figures_are_short() {
        let shown: Vec<String> = [12_345.6, 999.6, 150.4, 15.04, 0.704, -1_234_567.0, 0.0].map(figure).into();
        assert_eq!(shown, ["12,346", "1000", "150", "15", "0.7", "-1,234,567", "0"]);
    }
}
