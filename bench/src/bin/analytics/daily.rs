//! Daily series on disk (`date,value`, an empty value is a missing one) and the one way figures are printed.

use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;
use time::{Date, Duration, macros::format_description};

use crate::table::Table;

/// A century.
const LONGEST: usize = 36_525;

/// A series of consecutive days.
pub struct Daily {
    pub name: String,
    pub first: Date,
    pub values: Vec<Option<f64>>,
}

impl Daily {
    /// Date of the `i`-th day.
    pub fn date(&self, i: usize) -> anyhow::Result<Date> {
        self.first.checked_add(Duration::days(i64::try_from(i)?)).context("a date beyond the calendar")
    }

    /// Missing days filled by linear interpolation (after the last known value: that value), negatives cut to zero, as
    /// the protocol wants its test values.
    pub fn filled(&self) -> Vec<f64> {
        let known: Vec<(usize, f64)> = self.values.iter().enumerate().filter_map(|(i, v)| v.map(|v| (i, v))).collect();
        let at = |i: usize| {
            let next = known.partition_point(|(k, _)| *k < i);
            match (next.checked_sub(1).and_then(|p| known.get(p)), known.get(next)) {
                (_, Some((k, v))) if *k == i => *v,
                (Some((a, va)), Some((b, vb))) => va + (vb - va) * (i - a) as f64 / (b - a) as f64,
                (Some((_, v)), None) | (None, Some((_, v))) => *v,
                (None, None) => 0.0,
            }
        };
        (0..self.values.len()).map(|i| at(i).max(0.0)).collect()
    }
}

pub fn parse_date(text: &str) -> anyhow::Result<Date> {
    Date::parse(text, format_description!("[year]-[month]-[day]")).with_context(|| format!("not a date: {text}"))
}

/// Reads one series; days that the file leaves out are missing values. `None` when it holds no value at all.
pub fn read(path: &Path) -> anyhow::Result<Option<Daily>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let table = Table::open(path)?;
    let (date, value) = (table.column("date")?, table.column("value")?);
    let mut first = None;
    let mut values: Vec<Option<f64>> = Vec::new();
    table.each(|row| {
        let date = parse_date(row.get(date).unwrap_or_default())?;
        let start = *first.get_or_insert(date);
        let at = usize::try_from((date - start).whole_days()).context("the days are out of order")?;
        anyhow::ensure!(at < LONGEST, "{LONGEST} days after the first one: a date typed wrong?");
        values.resize(values.len().max(at + 1), None);
        if let Some(slot) = values.get_mut(at) {
            *slot = row.get(value).unwrap_or_default().parse().ok().filter(|v: &f64| v.is_finite());
        }
        Ok(())
    })?;
    let any = values.iter().any(Option::is_some);
    Ok(first.filter(|_| any).map(|first| Daily { name, first, values }))
}

/// Reads every `*.csv` of a folder, by name; says which of them hold nothing.
pub fn read_all(folder: &Path) -> anyhow::Result<Vec<Daily>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .with_context(|| format!("{}", folder.display()))?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "csv"))
        .collect();
    paths.sort();
    let mut series = Vec::new();
    for path in &paths {
        match read(path)? {
            Some(one) => series.push(one),
            None => eprintln!("{}: no values, left out", path.display()),
        }
    }
    Ok(series)
}

/// Prints one figure as one JSON object on one line.
pub fn print(figure: &impl Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(figure)?);
    Ok(())
}

/// Four decimals, so that a figure reads the same on every run.
pub fn round(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}
