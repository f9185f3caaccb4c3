//! Protocol C1: on real open days one driver at a time is multiplied by a factor, everything downstream is recomputed,
//! and the metrics alone must tell which driver it was. Untouched days must come out as "unknown".

use std::path::Path;

use analytics::drivers::{Contribution, Explanation, Facts, explain};
use analytics::robust;
use serde_json::json;
use time::Date;

use crate::daily::{self, round};
use crate::table::Table;

const DRIVERS: [&str; 4] = ["customers", "orders_per_customer", "units_per_order", "price_per_unit"];
const FACTORS: [f64; 4] = [0.5, 0.7, 1.5, 2.0];
/// Open days before the judged one.
const HISTORY: usize = 90;
/// |z| of revenue from which an alert would be raised.
const ALERT_Z: f64 = 3.0;

pub fn run(data: &Path) -> anyhow::Result<()> {
    let days = open_days(&data.join("online_retail").join("daily.csv"))?;
    // Every second day is the protocol; every day is printed too, as the steadier figure.
    for step in [2, 1] {
        let judged = judge(&days, step)?;
        for method in METHODS {
            daily::print(&method_figures(step, method, &judged))?;
        }
        daily::print(&naming(step, &judged))?;
        daily::print(&calibration(step, &judged))?;
    }
    Ok(())
}

/// One open day: customers, orders, units, gross revenue.
#[derive(Clone, Copy)]
struct Day {
    date: Date,
    raw: [f64; 4],
}

impl Day {
    /// The day with one driver multiplied; drivers in the order of [`DRIVERS`].
    fn with(mut self, driver: usize, factor: f64) -> Self {
        // Each raw metric is the product of the drivers up to its own.
        self.raw.iter_mut().skip(driver).for_each(|metric| *metric *= factor);
        self
    }

    /// Metrics an owner looks at: customers, orders, units, revenue per order.
    fn visible(self) -> [f64; 4] {
        let [customers, orders, units, revenue] = self.raw;
        [customers, orders, units, revenue / orders]
    }
}

/// Open days of a file, the last (partial) one left out.
fn open_days(path: &Path) -> anyhow::Result<Vec<Day>> {
    let table = Table::open(path)?;
    let date = table.column("date")?;
    let columns =
        [table.column("customers")?, table.column("orders")?, table.column("units")?, table.column("gross_revenue")?];
    let mut days = Vec::new();
    table.each(|row| {
        let raw =
            columns.map(|i| row.get(i).and_then(|v| v.parse().ok()).filter(|v: &f64| v.is_finite()).unwrap_or(0.0));
        days.push(Day { date: daily::parse_date(row.get(date).unwrap_or_default())?, raw });
        Ok(())
    })?;
    days.pop();
    days.retain(|day| day.raw.iter().all(|v| *v > 0.0));
    anyhow::ensure!(
        days.len() > HISTORY,
        "{}: {} open days, and a day is explained by the {HISTORY} before it",
        path.display(),
        days.len()
    );
    Ok(days)
}

fn explained(history: &[Day], today: Day) -> anyhow::Result<Explanation> {
    let days: Vec<Day> = history.iter().copied().chain([today]).collect();
    let mut facts = Facts::new(days.iter().map(|d| d.date).collect());
    for (i, metric) in ["customers", "orders", "units", "gross_revenue"].into_iter().enumerate() {
        facts.metric(metric, days.iter().map(|d| d.raw.get(i).copied()).collect());
    }
    explain(&facts, "gross_revenue", None).map_err(|reason| anyhow::anyhow!("{}: {reason}", today.date))
}

/// One judged day; `truth` is the driver that was changed, if any.
struct Judged {
    truth: Option<usize>,
    explanation: Explanation,
    largest_raw: usize,
    most_correlated: usize,
}

impl Judged {
    fn ranked(&self) -> &[Contribution] {
        self.explanation.breakdowns.first().map(|b| b.contributions.as_slice()).unwrap_or_default()
    }

    fn alerted(&self) -> bool {
        self.explanation.z_score.abs() >= ALERT_Z
    }

    /// Whether the driver found first is the one that was changed; `None` when the cause is unknown.
    fn named_right(&self) -> Option<bool> {
        self.explanation.chain.first().map(|cause| position(&cause.metric) == self.truth)
    }
}

fn position(metric: &str) -> Option<usize> {
    DRIVERS.iter().position(|d| *d == metric)
}

fn judge(days: &[Day], step: usize) -> anyhow::Result<Vec<Judged>> {
    let mut judged = Vec::new();
    for (history, today) in days.windows(HISTORY + 1).filter_map(|w| w.split_last().map(|(t, h)| (h, *t))).step_by(step)
    {
        let most_correlated = most_correlated(history);
        let changed = (0..DRIVERS.len()).flat_map(|k| FACTORS.map(|f| (Some(k), today.with(k, f))));
        for (truth, day) in changed.chain([(None, today)]) {
            let explanation = explained(history, day)?;
            judged.push(Judged { truth, explanation, largest_raw: largest_raw(history, day), most_correlated });
        }
    }
    Ok(judged)
}

/// Peer: the visible metric with the largest modified z.
fn largest_raw(history: &[Day], day: Day) -> usize {
    let z = |i: usize| {
        let past: Vec<f64> = history.iter().filter_map(|d| d.visible().get(i).copied()).collect();
        let centre = robust::median(&past).unwrap_or(0.0);
        let sigma = robust::MAD_TO_SIGMA * robust::mad(&past).unwrap_or(0.0);
        (day.visible().get(i).copied().unwrap_or(0.0) - centre).abs() / sigma.max(1e-9)
    };
    largest((0..DRIVERS.len()).map(z))
}

/// Peer: the visible metric whose logarithm correlates most with that of revenue.
fn most_correlated(history: &[Day]) -> usize {
    let revenue: Vec<f64> = history.iter().filter_map(|d| d.raw.last().map(|v| v.ln())).collect();
    let r = |i: usize| {
        let past: Vec<f64> = history.iter().filter_map(|d| d.visible().get(i).map(|v| v.ln())).collect();
        correlation(&past, &revenue).abs()
    };
    largest((0..DRIVERS.len()).map(r))
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let centred = |v: &[f64]| {
        let mean = robust::mean(v).unwrap_or(0.0);
        v.iter().map(|x| x - mean).collect::<Vec<f64>>()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (a, b) = (centred(a), centred(b));
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt().max(1e-12)
}

/// Index of the first largest.
fn largest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, value) in values.enumerate() {
        if value > best.1 {
            best = (i, value);
        }
    }
    best.0
}

/// A method's answer for a judged day.
type Method = (&'static str, fn(&Judged) -> Option<usize>);

const METHODS: [Method; 5] = [
    ("ours", |j| j.ranked().first().and_then(|c| position(&c.metric))),
    ("largest_driver_z", |j| by(j, |c| c.modz.abs())),
    ("largest_contribution", |j| by(j, |c| c.share)),
    ("largest_raw_modified_z", |j| Some(j.largest_raw)),
    ("correlation", |j| Some(j.most_correlated)),
];

fn by(judged: &Judged, key: fn(&Contribution) -> f64) -> Option<usize> {
    judged.ranked().iter().max_by(|a, b| key(a).total_cmp(&key(b))).and_then(|c| position(&c.metric))
}

/// Share of the days that hold.
fn share<'a>(days: impl Iterator<Item = &'a Judged>, holds: impl Fn(&Judged) -> bool) -> f64 {
    let held: Vec<f64> = days.map(|j| f64::from(u8::from(holds(j)))).collect();
    round(robust::mean(&held).unwrap_or(0.0))
}

fn method_figures(step: usize, (name, answer): Method, judged: &[Judged]) -> serde_json::Value {
    let injected = || judged.iter().filter(|j| j.truth.is_some());
    let right = |j: &Judged| answer(j) == j.truth;
    let per_driver: Vec<f64> =
        (0..DRIVERS.len()).map(|k| share(injected().filter(|j| j.truth == Some(k)), right)).collect();
    json!({
        "protocol": "C1", "method": name, "every_nth_day": step, "injected": injected().count(),
        "top1_all": share(injected(), right),
        "alerted": injected().filter(|j| j.alerted()).count(),
        "top1_alerted": share(injected().filter(|j| j.alerted()), right),
        "per_driver": per_driver,
    })
}

/// When a cause is named and how often rightly; how exactly contributions add up.
fn naming(step: usize, judged: &[Judged]) -> serde_json::Value {
    let injected = || judged.iter().filter(|j| j.truth.is_some());
    let named = |j: &Judged| j.named_right().is_some();
    let residual = judged
        .iter()
        .flat_map(|j| &j.explanation.breakdowns)
        .map(|b| (b.contributions.iter().map(|c| c.contribution).sum::<f64>() - (b.observed - b.expected)).abs())
        .fold(0.0, f64::max);
    json!({
        "protocol": "C1", "figure": "naming", "every_nth_day": step,
        "max_residual_of_sums": residual,
        "unknown_on_untouched": share(judged.iter().filter(|j| j.truth.is_none()), |j| !named(j)),
        "named_of_injected": share(injected(), named),
        "named_of_alerted": share(injected().filter(|j| j.alerted()), named),
        "right_when_named": share(injected().filter(|j| named(j)), |j| j.named_right() == Some(true)),
    })
}

/// Expected calibration error of the confidence over ten equal groups of named causes.
fn calibration(step: usize, judged: &[Judged]) -> serde_json::Value {
    let mut named: Vec<(f64, f64)> = judged
        .iter()
        .filter(|j| j.truth.is_some())
        .filter_map(|j| {
            let right = f64::from(u8::from(j.named_right()?));
            j.explanation.chain.first().map(|cause| (cause.confidence, right))
        })
        .collect();
    named.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut error = 0.0;
    let mut groups = Vec::new();
    for group in named.chunks(named.len().div_ceil(10).max(1)) {
        let (said, held): (Vec<f64>, Vec<f64>) = group.iter().copied().unzip();
        let (said, held) = (robust::mean(&said).unwrap_or(0.0), robust::mean(&held).unwrap_or(0.0));
        error += (said - held).abs() * group.len() as f64 / named.len() as f64;
        groups.push([round(said), round(held)]);
    }
    json!({
        "protocol": "C1", "figure": "confidence", "every_nth_day": step, "named": named.len(),
        "calibration_error": round(error), "said_and_held": groups,
    })
}
