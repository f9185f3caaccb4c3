//! Measurements in turns: everything that a row compares runs once a round, and the medians count.

use async_trait::async_trait;

use crate::{load::Load, machine::Watch, process};

/// Something that can be measured over and over.
#[async_trait]
pub trait Contender {
    fn name(&self) -> String;
    /// The command as it is written in the report.
    fn command(&self) -> String;
    /// The processes whose time counts, with all below them.
    fn processes(&self) -> Vec<u32>;
    /// Does it once, for a few seconds.
    async fn run(&mut self) -> anyhow::Result<Load>;
}

/// One run of a contender.
#[derive(Debug, Clone, Copy)]
struct Sample {
    load: Load,
    /// Processor seconds of its processes.
    cpu: f64,
    disturbed: bool,
}

/// The medians of a contender's runs.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    pub name: String,
    pub command: String,
    pub per_second: f64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// What the generator itself was late to send.
    pub late_p99_ms: Option<f64>,
    /// The share of the requests of all runs that failed.
    pub failed: f64,
    /// Processor seconds per 1,000 requests.
    pub cpu_per_1000: f64,
    /// The median over the rounds of the first contender's rate ÷ this one's.
    pub ratio: f64,
    /// The lowest and the highest of them.
    pub ratio_range: Option<(f64, f64)>,
    /// At least half of the runs of either were disturbed.
    pub disturbed: bool,
}

/// Runs the contenders in turns, `rounds` times after a round that does not count. The first is what is measured, the
/// others are what it is compared with. `expected` are further processes that may be busy meanwhile.
///
/// # Errors
/// The first error of a contender.
pub async fn in_turns(
    rounds: usize,
    expected: &[u32],
    contenders: &mut [&mut (dyn Contender + Send)],
) -> anyhow::Result<Vec<Measured>> {
    let mut samples: Vec<Vec<Sample>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for (contender, kept) in contenders.iter_mut().zip(&mut samples) {
            let sample = sample(&mut **contender, expected).await?;
            if round > 0 {
                kept.push(sample);
            }
        }
    }
    let first: Vec<f64> = samples.first().into_iter().flatten().map(|sample| sample.load.per_second).collect();
    let measured = contenders.iter().zip(&samples).map(|(contender, samples)| {
        let ratios = samples.iter().zip(&first).map(|(sample, first)| first / sample.load.per_second);
        Measured {
            name: contender.name(),
            command: contender.command(),
            per_second: median(samples.iter().map(|sample| sample.load.per_second)),
            p50_ms: median_of_some(samples, |load| load.p50_ms),
            p99_ms: median_of_some(samples, |load| load.p99_ms),
            late_p99_ms: median_of_some(samples, |load| load.late_p99_ms),
            failed: sum(samples, |load| load.failed) / sum(samples, |load| load.requests),
            cpu_per_1000: median(samples.iter().map(|sample| sample.cpu / sample.load.requests * 1_000.0)),
            ratio: median(ratios.clone()),
            ratio_range: ratios.clone().min_by(f64::total_cmp).zip(ratios.max_by(f64::total_cmp)),
            disturbed: at_least_half(samples.iter().map(|sample| sample.disturbed)),
        }
    });
    Ok(measured.collect())
}

async fn sample(contender: &mut (dyn Contender + Send), expected: &[u32]) -> anyhow::Result<Sample> {
    let processes = contender.processes();
    let watch = Watch::begin(&[&processes, expected].concat());
    let before = process::cpu_seconds(&processes);
    let load = contender.run().await?;
    Ok(Sample {
        load,
        cpu: process::cpu_seconds(&processes) - before,
        disturbed: load.failed > 0.0 || watch.disturbed(),
    })
}

fn median_of_some(samples: &[Sample], value: impl Fn(&Load) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = samples.iter().filter_map(|sample| value(&sample.load)).collect();
    (!values.is_empty()).then(|| median(values))
}

fn sum(samples: &[Sample], value: impl Fn(&Load) -> f64) -> f64 {
    samples.iter().map(|sample| value(&sample.load)).sum()
}

/// Whether at least half of them are true; of none, no.
pub fn at_least_half(all: impl Iterator<Item = bool>) -> bool {
    let (count, so) = all.fold((0, 0), |(count, so), one| (count + 1, so + usize::from(one)));
    so * 2 >= count.max(1)
}

/// The middle one; the mean of the middle two of an even number; 0 of none.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { at(half) } else { (at(half.saturating_sub(1)) + at(half)) / 2.0 }
}

/// The value that a part `p` of sorted values does not exceed; NaN of none.
#[must_use]
pub fn percentile(sorted: &[f64], p: f64) -> f64 {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(&'static str, Vec<f64>);

    #[async_trait]
    impl Contender for Fixed {
        fn name(&self) -> String {
            self.0.to_owned()
        }
        fn command(&self) -> String {
            String::new()
        }
        fn processes(&self) -> Vec<u32> {
            Vec::new()
        }
        async fn run(&mut self) -> anyhow::Result<Load> {
            let per_second = self.1.remove(0);
            Ok(Load { per_second, requests: 1_000.0, p50_ms: Some(1.0), ..Load::default() })
        }
    }

    #[tokio::test]
    async fn medians_of_pairs_without_the_first_round() {
        let mut service = Fixed("service", vec![1.0, 10.0, 20.0, 30.0]);
        let mut limit = Fixed("limit", vec![1.0, 20.0, 80.0, 40.0]);
        let measured = in_turns(3, &[], &mut [&mut service, &mut limit]).await.unwrap();
        assert_eq!((measured[0].per_second, measured[0].ratio), (20.0, 1.0));
        // 10/20, 20/80 and 30/40: the pairs count, not the medians of each.
        assert_eq!((measured[1].per_second, measured[1].ratio), (40.0, 0.5));
        assert_eq!(measured[1].ratio_range, Some((0.25, 0.75)));
        assert_eq!((measured[0].p50_ms, measured[0].p99_ms), (Some(1.0), None));
    }

    #[test]
    fn halves() {
        let half = |all: &[bool]| at_least_half(all.iter().copied());
        assert_eq!([half(&[true, false]), half(&[true, false, false]), half(&[])], [true, false, false]);
    }

    #[test]
    fn medians() {
        assert_eq!((median([3.0, 1.0, 2.0]), median([4.0, 1.0]), median([])), (2.0, 2.5, 0.0));
    }
}
