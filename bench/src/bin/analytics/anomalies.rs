//! Protocol D1: every judged day of every series is scored on the days before it, once as it was and once for each
//! factor it is multiplied by. Protocol D2: labelled events of the taxi series, and everything else that alarms.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

use analytics::detector::{Baseline, DailySeries, HISTORY_DAYS, scan};
use analytics::holidays;
use analytics::robust;
use analytics::severity::ALARM_Z;
use anyhow::Context as _;
use serde_json::json;
use time::{Date, Duration};

use crate::daily::{self, Daily, round};

const FACTORS: [f64; 8] = [0.25, 0.5, 0.7, 0.8, 1.3, 1.5, 2.0, 3.0];
/// Days judged per series at most, evenly spread.
const JUDGED: usize = 150;
const TAXI_EVENTS: [&str; 5] = ["2014-11-02", "2014-11-27", "2014-12-25", "2015-01-01", "2015-01-27"];
/// History before the first judged day of the taxi series.
const TAXI_WARM_UP: usize = 60;

/// The country of a series, by the names of its file and of ISO 3166-1 alpha-2.
#[derive(Debug, Clone)]
pub struct Country {
    series: String,
    code: String,
}

impl FromStr for Country {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (series, code) = text.split_once('=').with_context(|| format!("not SERIES=COUNTRY: {text}"))?;
        anyhow::ensure!(holidays::countries().contains(&code), "no calendar of public holidays for {code}");
        Ok(Self { series: series.to_owned(), code: code.to_owned() })
    }
}

/// The public holidays that a series is given.
fn known(countries: &[Country], series: &Daily) -> anyhow::Result<BTreeSet<Date>> {
    let last = series.date(series.values.len().saturating_sub(1))?;
    let of = countries.iter().find(|c| c.series == series.name);
    Ok(of.map_or_else(BTreeSet::new, |c| holidays::of(&c.code, series.first..=last)))
}

pub fn run(data: &Path, countries: &[Country]) -> anyhow::Result<()> {
    let series = daily::read_all(&data.join("daily_series"))?;
    for country in countries {
        anyhow::ensure!(series.iter().any(|s| s.name == country.series), "no series is named {}", country.series);
    }
    for (name, detector) in DETECTORS {
        let judged = series
            .iter()
            .filter_map(|s| known(countries, s).and_then(|days| judge(s, &days, detector)).transpose())
            .collect::<anyhow::Result<Vec<_>>>()?;
        anyhow::ensure!(!judged.is_empty(), "no series has values on {} days: nothing to measure", HISTORY_DAYS + 60);
        daily::print(&figures(name, &judged))?;
        if name == "ours" {
            for one in &judged {
                daily::print(&per_series(one))?;
            }
        }
    }
    for one in &series {
        daily::print(&coverage(one)?)?;
        daily::print(&events(one)?)?;
    }
    if let Some(taxi) = series.iter().find(|s| s.name == "nyc_taxi") {
        for (name, detector) in DETECTORS {
            for window in [TAXI_WARM_UP, HISTORY_DAYS] {
                daily::print(&labelled(name, detector, taxi, window)?)?;
            }
        }
    }
    Ok(())
}

/// What came before the judged day: plain numbers, the date of the first.
struct History<'a> {
    first: Date,
    values: &'a [f64],
    /// Public holidays, which only our detector can leave out.
    holidays: &'a BTreeSet<Date>,
}

impl History<'_> {
    /// Weekday of the `i`-th day, Monday = 0; the judged day has the index `values.len()`.
    fn weekday(&self, i: usize) -> usize {
        (usize::from(self.first.weekday().number_days_from_monday()) + i) % 7
    }

    /// Latest values of the judged day's weekday, newest first.
    fn same_weekday(&self) -> impl Iterator<Item = f64> {
        self.values.iter().rev().skip(6).step_by(7).copied()
    }
}

/// z of each candidate value for the day after the history.
type Detector = fn(&History<'_>, &[f64]) -> Vec<f64>;

const DETECTORS: [(&str, Detector); 5] = [
    ("ours", ours),
    ("plain_z_30", |h, xs| plain_z(h.values.iter().rev().take(30).copied(), xs)),
    ("plain_z_H", |h, xs| plain_z(h.values.iter().copied(), xs)),
    ("weekday_z", |h, xs| plain_z(h.same_weekday().take(12), xs)),
    ("modified_z_H", modified_z),
];

fn ours(history: &History<'_>, candidates: &[f64]) -> Vec<f64> {
    let values: Vec<Option<f64>> = history.values.iter().copied().map(Some).collect();
    let series = DailySeries { first: history.first, values: &values };
    let weekday = series.next_date().unwrap_or(history.first).weekday();
    let baseline = Baseline::fit(series, history.holidays);
    let z = |x: &f64| baseline.as_ref().ok().and_then(|b| b.score(*x, weekday).ok()).map_or(0.0, |s| s.z_score);
    candidates.iter().map(z).collect()
}

fn plain_z(sample: impl Iterator<Item = f64>, candidates: &[f64]) -> Vec<f64> {
    let sample: Vec<f64> = sample.collect();
    let mean = robust::mean(&sample).unwrap_or(0.0);
    let variance = sample.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (sample.len() as f64 - 1.0).max(1.0);
    let sd = variance.sqrt().max(1e-9);
    candidates.iter().map(|x| (x - mean) / sd).collect()
}

fn modified_z(history: &History<'_>, candidates: &[f64]) -> Vec<f64> {
    let centre = robust::median(history.values).unwrap_or(0.0);
    let mut sd = robust::MAD_TO_SIGMA * robust::mad(history.values).unwrap_or(0.0);
    if sd < 1e-9 {
        let distances: Vec<f64> = history.values.iter().map(|v| (v - centre).abs()).collect();
        sd = (robust::MEAN_ABS_TO_SIGMA * robust::mean(&distances).unwrap_or(0.0)).max(1e-9);
    }
    candidates.iter().map(|x| (x - centre) / sd).collect()
}

/// Scores of one series: |z| of the days as they were, and per injected day |z| for each factor.
struct Judged {
    name: String,
    clean: Vec<f64>,
    injected: Vec<Vec<f64>>,
}

fn judge(series: &Daily, holidays: &BTreeSet<Date>, detector: Detector) -> anyhow::Result<Option<Judged>> {
    let values = series.filled();
    let days = values.len().saturating_sub(HISTORY_DAYS);
    if days < 60 {
        return Ok(None);
    }
    let mut judged = Judged { name: series.name.clone(), clean: Vec::new(), injected: Vec::new() };
    let count = days.min(JUDGED);
    for k in 0..count {
        let t = HISTORY_DAYS + k * (days - 1) / (count - 1);
        let (Some(past), Some(&today)) = (values.get(t - HISTORY_DAYS..t), values.get(t)) else {
            continue;
        };
        if holidays.contains(&series.date(t)?) {
            continue;
        }
        let history = History { first: series.date(t - HISTORY_DAYS)?, values: past, holidays };
        // A zero on a weekday that is usually open is a real outage or a holiday, unlabelled.
        if today == 0.0 && !usually_closed(&history) {
            continue;
        }
        let candidates: Vec<f64> = std::iter::once(1.0).chain(FACTORS).map(|f| f * today).collect();
        let z: Vec<f64> = detector(&history, &candidates).into_iter().map(f64::abs).collect();
        let Some((clean, injected)) = z.split_first() else {
            continue;
        };
        judged.clean.push(*clean);
        if today > 0.0 {
            judged.injected.push(injected.to_vec());
        }
    }
    Ok((!judged.injected.is_empty()).then_some(judged))
}

/// Three quarters of the latest eight values of the judged day's weekday are zero.
fn usually_closed(history: &History<'_>) -> bool {
    let target = history.weekday(history.values.len());
    let latest: Vec<f64> = (0..history.values.len())
        .rev()
        .filter(|i| history.weekday(*i) == target)
        .filter_map(|i| history.values.get(i).copied())
        .take(8)
        .collect();
    let zeros = latest.iter().filter(|v| **v == 0.0).count();
    latest.len() >= 3 && 4 * zeros >= 3 * latest.len()
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    robust::mean(&values.collect::<Vec<_>>()).unwrap_or(0.0)
}

/// Share of days at or above a threshold.
fn share(values: impl Iterator<Item = f64>, threshold: f64) -> f64 {
    average(values.map(|z| f64::from(u8::from(z >= threshold))))
}

/// Smallest |z| that at most this share of clean days exceeds, each series weighing the same.
fn threshold(judged: &[Judged], rate: f64) -> f64 {
    let mut pooled: Vec<(f64, f64)> =
        judged.iter().flat_map(|s| s.clean.iter().map(|z| (*z, 1.0 / s.clean.len() as f64))).collect();
    pooled.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut weight = 0.0;
    for (z, w) in &pooled {
        weight += w / judged.len() as f64;
        if weight >= rate {
            return *z;
        }
    }
    0.0
}

/// Probability that an injected day scores above a clean one, ties counting half.
fn auc(series: &Judged) -> f64 {
    let mut clean = series.clean.clone();
    clean.sort_by(f64::total_cmp);
    let rank = |z: &f64| clean.partition_point(|c| c < z) + clean.partition_point(|c| c <= z);
    average(series.injected.iter().flatten().map(|z| rank(z) as f64 / 2.0 / clean.len() as f64))
}

fn recall(series: &Judged, threshold: f64) -> f64 {
    share(series.injected.iter().flatten().copied(), threshold)
}

fn figures(name: &str, judged: &[Judged]) -> serde_json::Value {
    let at = |rate: f64| {
        let limit = threshold(judged, rate);
        round(average(judged.iter().map(|s| recall(s, limit))))
    };
    json!({
        "protocol": "D1", "method": name, "history_days": HISTORY_DAYS, "series": judged.len(),
        "judged_days": judged.iter().map(|s| s.clean.len()).sum::<usize>(),
        "auc": round(average(judged.iter().map(auc))),
        "recall_at_1pct": at(0.01), "recall_at_2pct": at(0.02), "recall_at_5pct": at(0.05),
        "fpr_3.5": round(average(judged.iter().map(|s| share(s.clean.iter().copied(), ALARM_Z)))),
        "recall_3.5": round(average(judged.iter().map(|s| recall(s, ALARM_Z)))),
    })
}

fn per_series(series: &Judged) -> serde_json::Value {
    json!({
        "protocol": "D1", "method": "ours", "one_series": series.name, "judged_days": series.clean.len(),
        "auc": round(auc(series)), "fpr_3.5": round(share(series.clean.iter().copied(), ALARM_Z)),
        "recall_3.5": round(recall(series, ALARM_Z)),
    })
}

/// Share of all days, holidays and outages included, that lie within the interval given a day ahead.
fn coverage(series: &Daily) -> anyhow::Result<serde_json::Value> {
    let (mut inside, mut judged) = (0_usize, 0_usize);
    for t in HISTORY_DAYS..series.values.len() {
        let past = series.values.get(t - HISTORY_DAYS..t).unwrap_or_default();
        let history = DailySeries { first: series.date(t - HISTORY_DAYS)?, values: past };
        let Some(today) = series.values.get(t).copied().flatten() else {
            continue;
        };
        let Ok(score) = analytics::detector::score(history, today, &BTreeSet::new()) else {
            continue;
        };
        judged += 1;
        inside += usize::from((score.interval.low..=score.interval.high).contains(&today));
    }
    let share = inside as f64 / judged.max(1) as f64;
    Ok(json!({"protocol": "D1", "method": "ours", "one_series": series.name, "interval_coverage": round(share)}))
}

/// Events that a walk over the whole series reports.
fn events(series: &Daily) -> anyhow::Result<serde_json::Value> {
    let days = DailySeries { first: series.first, values: &series.values };
    let events = scan(days, &BTreeSet::new(), series.first);
    let listed: Vec<_> = events
        .iter()
        .map(|e| json!([e.first.to_string(), e.last.to_string(), e.shape, e.severity, round(e.score.z_score)]))
        .collect();
    Ok(json!({"protocol": "scan", "one_series": series.name, "days": series.values.len(), "events": listed}))
}

fn labelled(name: &str, detector: Detector, taxi: &Daily, window: usize) -> anyhow::Result<serde_json::Value> {
    let values = taxi.filled();
    let mut events = TAXI_EVENTS.iter().map(|e| daily::parse_date(e)).collect::<anyhow::Result<Vec<_>>>()?;
    let last = taxi.date(values.len().saturating_sub(1))?;
    events.retain(|event| (taxi.first..=last).contains(event));
    let mut found = vec![0.0_f64; events.len()];
    let mut other = Vec::new();
    for t in TAXI_WARM_UP..values.len() {
        let start = t.saturating_sub(window);
        let (Some(past), Some(&today)) = (values.get(start..t), values.get(t)) else {
            continue;
        };
        let history = History { first: taxi.date(start)?, values: past, holidays: &BTreeSet::new() };
        let z = detector(&history, &[today]).first().copied().unwrap_or(0.0);
        let date = taxi.date(t)?;
        let near = |event: &Date| (date - *event).abs() <= Duration::DAY;
        if let Some(best) = events.iter().position(near).and_then(|i| found.get_mut(i)) {
            *best = best.max(z.abs());
        } else if z.abs() >= ALARM_Z {
            other.push(json!([date.to_string(), round(z)]));
        }
    }
    Ok(json!({
        "protocol": "D2", "method": name, "history_days": window, "events": events.len(),
        "found": found.iter().filter(|z| **z >= ALARM_Z).count(),
        "largest_z_per_event": found.iter().map(|z| round(*z)).collect::<Vec<_>>(),
        "other_alarms": other.len(), "others": other,
    }))
}
