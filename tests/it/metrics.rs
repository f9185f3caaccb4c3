//! The table of metrics in docs/operations.md, the metrics in the source, and those that a process exports: the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::service::Service;

const MANUAL: &str = include_str!("../../docs/operations.md");

/// Names of metrics, and the labels of each.
type Metrics = BTreeMap<String, BTreeSet<String>>;

/// `name{label,label}`, as the table writes it.
fn parse(written: &str) -> (String, BTreeSet<String>) {
    let (name, labels) = written.trim_end_matches('}').split_once('{').unwrap_or((written, ""));
    (name.to_owned(), labels.split(',').filter(|label| !label.is_empty()).map(ToOwned::to_owned).collect())
}

/// The first column of the table that begins with `metric`.
fn documented() -> Metrics {
    let (_, table) = MANUAL.split_once("| metric | |\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|')).filter(|line| !line.starts_with("|---"));
    let columns = rows.map(|row| row.split('|').nth(1).unwrap());
    columns.flat_map(|column| column.split('`').skip(1).step_by(2)).map(parse).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// What a call of a macro of `metrics` names: its first text, and the texts before `=>`.
fn of_call(call: &str) -> (String, BTreeSet<String>) {
    let name = call.split('"').nth(1).unwrap_or_else(|| panic!("a metric whose name is not written there: {call}"));
    let before = call.split("=>").collect::<Vec<_>>();
    let labels = before.split_last().unwrap().1.iter();
    let label = |part: &&str| part.trim_end().trim_end_matches('"').rsplit('"').next().unwrap().to_owned();
    (name.to_owned(), labels.map(label).collect())
}

/// What comes before the bracket that closes the one a text begins behind.
fn until_closed(text: &str) -> &str {
    let mut depth = 1;
    let end = text.find(|character| {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    &text[..end.unwrap()]
}

/// What the shipped crates measure, their tests aside.
fn in_the_source() -> Metrics {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    let shipped =
        ["analytics", "api", "app", "connectors", "delivery", "domain", "imports", "redis", "server", "store", "web"];
    for folder in shipped {
        sources(&crates.join(folder).join("src"), &mut files);
    }
    let mut metrics = Metrics::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        for kind in ["counter!(", "gauge!(", "histogram!("] {
            for call in code.split(&format!("metrics::{kind}")).skip(1) {
                let (name, labels) = of_call(until_closed(call));
                metrics.entry(name).or_default().extend(labels);
            }
        }
    }
    metrics
}

#[test]
fn the_manual_lists_what_is_measured_with_its_labels() {
    assert!(in_the_source().len() > 15);
    assert_eq!(documented(), in_the_source());
}

#[test]
fn a_call_is_read_with_its_labels() {
    let call = r#""job_runs_total", "job" => name(a), "outcome" => outcome).increment(1)"#;
    let labels = ["job", "outcome"].map(ToOwned::to_owned).into();
    assert_eq!(of_call(until_closed(call)), ("job_runs_total".to_owned(), labels));
}

#[tokio::test]
async fn what_a_process_exports_is_in_the_manual() {
    let port = crate::service::free_port();
    let admin = format!("127.0.0.1:{port}");
    let service = Service::start_with(&[("BAS_ADMIN_LISTEN", &admin)]).await;
    let key = service.key(service.account, "read");
    service.process.json("/api/v1/profit", &key).await;
    let exported = reqwest::get(format!("http://{admin}/metrics")).await.unwrap().text().await.unwrap();
    let manual = documented();
    let mut seen = BTreeSet::new();
    for line in exported.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (series, _) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        // The three series of a histogram.
        let parts = ["_bucket", "_sum", "_count"].into_iter().filter_map(|end| name.strip_suffix(end));
        let known = std::iter::once(name).chain(parts).find(|name| manual.contains_key(*name));
        let known = known.unwrap_or_else(|| panic!("{name} is not in docs/operations.md"));
        let names = labels.split("=\"").filter_map(|part| part.rsplit([',', '"']).next());
        let names: BTreeSet<_> = names.filter(|name| !name.is_empty() && *name != "le" && *name != "}").collect();
        assert_eq!(names, manual[known].iter().map(String::as_str).collect(), "{line}");
        if known == "clock_ahead_seconds" {
            let (_, seconds) = line.rsplit_once(' ').unwrap();
            assert!(seconds.parse::<f64>().unwrap().abs() < 5.0, "both are of one machine: {line}");
        }
        seen.insert(known.to_owned());
    }
    for name in ["http_requests_total", "job_runs", "clock_ahead_seconds"] {
        assert!(seen.contains(name), "{name}: {seen:?}");
    }
}
