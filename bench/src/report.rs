//! What is said about a run: a JSON object a row, the page `docs/benchmarks.md` and a chart.

mod chart;
mod page;

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

use crate::rounds::Measured;

/// A figure, and what it is compared with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// Its name, by which `--rows` selects it.
    pub row: String,
    /// What is measured, in a few words.
    pub what: String,
    pub value: f64,
    pub unit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
    /// Processor seconds of the service and Postgres per 1,000 requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_per_1000: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// Something else was busy on the machine during at least half of the samples.
    pub disturbed: bool,
    pub command: String,
    /// Anything else that a reader needs to know.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The day of the run, and the version of the service.
    #[serde(default)]
    pub measured: String,
}

/// A limit or a peer, measured in the same run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Beside {
    pub name: String,
    pub value: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_per_1000: Option<f64>,
    /// The row's value ÷ this one, the median over the rounds.
    pub ratio: f64,
    /// The lowest and the highest of the rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_range: Option<(f64, f64)>,
    pub command: String,
}

/// What is to be reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    pub what: String,
    pub value: f64,
    pub bound: f64,
    /// Whether the value must be at least the bound; else at most.
    pub at_least: bool,
}

impl Target {
    #[must_use]
    pub fn at_least(what: &str, value: f64, bound: f64) -> Self {
        Self { what: what.to_owned(), value, bound, at_least: true }
    }

    #[must_use]
    pub fn at_most(what: &str, value: f64, bound: f64) -> Self {
        Self { what: what.to_owned(), value, bound, at_least: false }
    }

    #[must_use]
    pub fn reached(&self) -> bool {
        if self.at_least { self.value >= self.bound } else { self.value <= self.bound }
    }
}

impl Row {
    /// A row without anything beside it.
    #[must_use]
    pub fn new(row: &str, what: &str, value: f64, unit: &str) -> Self {
        Self {
            row: row.to_owned(),
            what: what.to_owned(),
            value,
            unit: unit.to_owned(),
            p50_ms: None,
            p99_ms: None,
            cpu_per_1000: None,
            beside: Vec::new(),
            targets: Vec::new(),
            disturbed: false,
            command: String::new(),
            note: String::new(),
            measured: String::new(),
        }
    }

    /// A row of rates: the first of what was measured in turns, compared with the others.
    #[must_use]
    pub fn of_rates(row: &str, what: &str, unit: &str, measured: &[Measured]) -> Self {
        let mut made = Self::new(row, what, 0.0, unit);
        let Some((first, others)) = measured.split_first() else { return made };
        made.value = first.per_second;
        made.p50_ms = first.p50_ms;
        made.p99_ms = first.p99_ms;
        made.cpu_per_1000 = Some(first.cpu_per_1000);
        made.command.clone_from(&first.command);
        made.disturbed = measured.iter().any(|measured| measured.disturbed);
        made.beside = others.iter().map(Beside::of).collect();
        made
    }

    /// A row of what a thing costs at ten times the size: the first of the two is the larger. `exponent` is that of the cost of
    /// one thing when all together stay the same, 0, or that of all together, 1, when their number is the size.
    #[must_use]
    pub fn of_growth(row: &str, what: &str, exponent: f64, measured: &[Measured]) -> Self {
        let cost = |index: usize| measured.get(index).map_or(f64::NAN, |measured| measured.cpu_per_1000);
        let multiple = cost(0) / cost(1);
        let rates = Self::of_rates(row, what, "", measured);
        let beside = rates.beside.iter().map(|beside| Beside {
            value: cost(1),
            ratio: multiple,
            ratio_range: None,
            ..beside.clone()
        });
        Self {
            value: cost(0),
            unit: "CPU s per 1,000".to_owned(),
            beside: beside.collect(),
            cpu_per_1000: None,
            ..rates
        }
        .note(&format!("exponent {:.2}", exponent + multiple.log10()))
    }

    /// The ratio to what is called `name`; 0 when it was not measured.
    #[must_use]
    pub fn ratio(&self, name: &str) -> f64 {
        self.beside.iter().find(|beside| beside.name == name).map_or(0.0, |beside| beside.ratio)
    }

    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.targets.push(target);
        self
    }

    #[must_use]
    pub fn note(mut self, note: &str) -> Self {
        note.clone_into(&mut self.note);
        self
    }
}

impl Beside {
    fn of(measured: &Measured) -> Self {
        Self {
            name: measured.name.clone(),
            value: measured.per_second,
            cpu_per_1000: Some(measured.cpu_per_1000),
            ratio: measured.ratio,
            ratio_range: measured.ratio_range,
            command: measured.command.clone(),
        }
    }
}

/// Every row so far: those of earlier runs stay until they are measured again.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    pub machine: Vec<String>,
    pub rows: Vec<Row>,
}

impl Report {
    /// Reads the rows of earlier runs; none when there is no file yet.
    ///
    /// # Errors
    /// When the file is not one of these.
    pub fn read(directory: &Path) -> anyhow::Result<Self> {
        match fs::read(directory.join("benchmarks.json")) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a row in the place of its predecessor, or at the end.
    pub fn put(&mut self, row: Row) {
        match self.rows.iter_mut().find(|known| known.row == row.row) {
            Some(known) => *known = row,
            None => self.rows.push(row),
        }
    }

    /// Writes `benchmarks.json`, `benchmarks.md` and `benchmarks.svg`.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, directory: &Path) -> anyhow::Result<()> {
        fs::write(directory.join("benchmarks.json"), serde_json::to_string_pretty(self)? + "\n")?;
        fs::write(directory.join("benchmarks.md"), page::render(self))?;
        svg::save(directory.join("benchmarks.svg"), &chart::draw(self))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_replaces_its_predecessor_and_keeps_its_place() {
        let mut report = Report::default();
        report.put(Row::new("a", "", 1.0, ""));
        report.put(Row::new("b", "", 2.0, ""));
        report.put(Row::new("a", "", 3.0, ""));
        let values: Vec<f64> = report.rows.iter().map(|row| row.value).collect();
        assert_eq!(values, [3.0, 2.0]);
    }

    #[test]
    fn bounds_hold_on_either_side() {
        assert!(Target::at_least("", 0.7, 0.7).reached() && !Target::at_least("", 0.69, 0.7).reached());
        assert!(Target::at_most("", 60.0, 60.0).reached() && !Target::at_most("", 60.1, 60.0).reached());
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Report::read(directory.path()).unwrap().rows.is_empty());
        let mut report = Report::default();
        report.put(Row::new("a", "what", 1.5, "MB").target(Target::at_most("most", 1.5, 2.0)));
        report.write(directory.path()).unwrap();
        assert_eq!(Report::read(directory.path()).unwrap().rows[0].targets[0].bound, 2.0);
        let page = fs::read_to_string(directory.path().join("benchmarks.md")).unwrap();
        assert!(page.contains("what") && page.contains("1.5 MB"));
        assert!(fs::read_to_string(directory.path().join("benchmarks.svg")).unwrap().contains("<svg"));
    }
}
