//! Level, weekday effects and noise of a daily series: what both the detector and the driver tree forecast with.

use crate::robust::{self, MAD_TO_SIGMA, MEAN_ABS_TO_SIGMA};

/// Occurrences of a weekday that its effect is estimated from.
const WEEKDAY_OCCURRENCES: usize = 10;
/// Smoothing constants tried; each counts by how small its clipped one-step error is.
const SMOOTHING: [f64; 5] = [0.05, 0.1, 0.2, 0.3, 0.5];
/// Days at the start whose median is the first level; their errors are not judged.
const WARM_UP: usize = 7;
/// An observation moves the level by at most this many current standard deviations.
const CLIP: f64 = 2.75;
/// Weight of a smoothing constant = (smallest error / its error) to this power: close to picking the best one, without
/// jumping from one to another overnight.
const SHARPNESS: f64 = 16.0;
/// Latest errors that the spread is taken from: noise changes with the seasons, faster than weekday effects do.
const SPREAD_ERRORS: usize = 49;

/// A daily series split into level, weekday effects and one-step errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Smoothed {
    /// Level after the last observation, without any weekday effect.
    pub level: f64,
    /// Effect per weekday, Monday first; they sum to zero.
    pub weekday: [f64; 7],
    /// One-step-ahead errors, oldest first, without the warm-up.
    pub errors: Vec<f64>,
    /// Spread of the errors in units of a standard deviation, without any floor.
    pub spread: f64,
}

/// Whether so many values are zero that only [`Smoothed::flat`] does the series justice.
pub(crate) fn is_sparse(values: &[f64]) -> bool {
    4 * values.iter().filter(|v| **v == 0.0).count() > values.len()
}

impl Smoothed {
    /// Fits consecutive observations with their weekdays (0 = Monday). Both slices have the same length.
    pub fn fit(values: &[f64], weekdays: &[usize]) -> Self {
        let weekday = weekday_effects(values, weekdays);
        let plain: Vec<f64> = values.iter().zip(weekdays).map(|(v, d)| v - at(&weekday, *d)).collect();
        let (level, mut errors) = combined_smoothing(&plain);
        if errors.len() > 2 * WARM_UP {
            errors.drain(..WARM_UP);
        }
        let latest = errors.get(errors.len().saturating_sub(SPREAD_ERRORS)..).unwrap_or_default();
        Self { level, weekday, spread: robust::spread(latest), errors }
    }

    /// Plain mean and standard deviation, for a metric that is zero on every fourth day or more: its median says nothing,
    /// and what sets it apart is how often it happens.
    pub fn flat(values: &[f64]) -> Self {
        let level = robust::mean(values).unwrap_or(0.0);
        let errors: Vec<f64> = values.iter().map(|v| v - level).collect();
        Self { level, weekday: [0.0; 7], spread: robust::standard_deviation(&errors), errors }
    }

    /// Expected value of the next observation if it falls on `weekday` (0 = Monday).
    pub fn forecast(&self, weekday: usize) -> f64 {
        self.level + at(&self.weekday, weekday)
    }
}

fn at(per_weekday: &[f64; 7], weekday: usize) -> f64 {
    per_weekday.get(weekday).copied().unwrap_or(0.0)
}

/// Median deviation of each weekday from a seven-observation running median, over its latest occurrences, shrunk by
/// n/(n + 1) towards none and centred on zero.
fn weekday_effects(values: &[f64], weekdays: &[usize]) -> [f64; 7] {
    let deviations: Vec<f64> =
        values.iter().zip(running_median(values)).map(|(value, centre)| value - centre).collect();
    let mut effects = [0.0; 7];
    for (day, effect) in effects.iter_mut().enumerate() {
        let mut latest: Vec<f64> = deviations
            .iter()
            .zip(weekdays)
            .rev()
            .filter_map(|(deviation, d)| (*d == day).then_some(*deviation))
            .take(WEEKDAY_OCCURRENCES)
            .collect();
        let n = latest.len() as f64;
        *effect = robust::median_in_place(&mut latest).map_or(0.0, |m| m * n / (n + 1.0));
    }
    let centre = effects.iter().sum::<f64>() / 7.0;
    effects.map(|effect| effect - centre)
}

/// Median of the seven observations around each one; at the ends the first and the last seven.
fn running_median(values: &[f64]) -> Vec<f64> {
    let inner: Vec<f64> = values.array_windows().map(median_of_seven).collect();
    let (Some(first), Some(last)) = (inner.first(), inner.last()) else {
        return vec![robust::median(values).unwrap_or(0.0); values.len()];
    };
    let ends = |end: &f64| std::iter::repeat_n(*end, 3);
    ends(first).chain(inner.iter().copied()).chain(ends(last)).collect()
}

fn median_of_seven(window: &[f64; 7]) -> f64 {
    let mut sorted = *window;
    sorted.sort_unstable_by(f64::total_cmp);
    let [_, _, _, middle, _, _, _] = sorted;
    middle
}

/// Level and errors of the smoothing constants together, each weighing by how well it did.
fn combined_smoothing(values: &[f64]) -> (f64, Vec<f64>) {
    let head = values.get(..WARM_UP).unwrap_or(values);
    let start = robust::median(head).unwrap_or(0.0);
    let sigma = (MAD_TO_SIGMA * robust::mad(values).unwrap_or(0.0)).max(1e-6);
    let runs: Vec<(f64, f64, Vec<f64>)> = SMOOTHING
        .iter()
        .map(|alpha| {
            let (level, errors) = clipped_smoothing(values, *alpha, start, sigma);
            (clipped_cost(&errors), level, errors)
        })
        .collect();
    let lowest = runs.iter().map(|(cost, ..)| *cost).fold(f64::INFINITY, f64::min);
    let weigh = |cost: f64| if cost > lowest { (lowest / cost).powf(SHARPNESS) } else { 1.0 };
    let total: f64 = runs.iter().map(|(cost, ..)| weigh(*cost)).sum();
    let mut level = 0.0;
    let mut errors = vec![0.0; values.len()];
    for (cost, run_level, run_errors) in &runs {
        let weight = weigh(*cost) / total;
        level += weight * run_level;
        errors.iter_mut().zip(run_errors).for_each(|(error, own)| *error += weight * own);
    }
    (level, errors)
}

/// Exponential smoothing whose updates are clipped at [`CLIP`] running standard deviations (Gelper, Fried and Croux
/// 2010), so that one wild day hardly moves the level while a lasting change does. Returns the level and the errors.
fn clipped_smoothing(values: &[f64], alpha: f64, mut level: f64, mut sigma: f64) -> (f64, Vec<f64>) {
    let mut errors = Vec::with_capacity(values.len());
    for (i, value) in values.iter().enumerate() {
        let error = value - level;
        errors.push(error);
        let bound = CLIP * sigma;
        level += alpha * error.clamp(-bound, bound);
        if i > WARM_UP {
            sigma = 0.95f64.mul_add(sigma, 0.05 * MEAN_ABS_TO_SIGMA * error.abs().min(bound)).max(1e-6);
        }
    }
    (level, errors)
}

/// Mean absolute error after the warm-up, each error clipped at three robust standard deviations.
fn clipped_cost(errors: &[f64]) -> f64 {
    let judged = errors.get(WARM_UP..).unwrap_or_default();
    if judged.len() <= WARM_UP {
        return 0.0;
    }
    let bound = 3.0 * MAD_TO_SIGMA * robust::mad(judged).unwrap_or(0.0).max(1e-9);
    judged.iter().map(|e| e.abs().min(bound)).sum::<f64>() / judged.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weekdays(n: usize) -> Vec<usize> {
        (0..n).map(|i| i % 7).collect()
    }

    #[test]
    fn a_weekly_pattern_is_recovered_but_for_the_shrinkage() {
        let pattern = [100.0, 100.0, 100.0, 100.0, 100.0, 160.0, 40.0];
        let values: Vec<f64> = (0..84).map(|i| pattern[i % 7]).collect();
        let fit = Smoothed::fit(&values, &weekdays(84));
        // Ten occurrences: ten elevenths of ±60; the two cancel, so centring changes nothing.
        assert!((fit.forecast(5) - fit.forecast(0) - 60.0 * 10.0 / 11.0).abs() < 1e-9);
        assert!((fit.forecast(6) - fit.forecast(0) + 60.0 * 10.0 / 11.0).abs() < 1e-9);
    }

    #[test]
    fn one_wild_day_hardly_moves_the_level() {
        let mut values: Vec<f64> = (0..84).map(|i| 100.0 + f64::from(i % 5)).collect();
        let before = Smoothed::fit(&values, &weekdays(84)).level;
        values[80] = 1e6;
        let after = Smoothed::fit(&values, &weekdays(84)).level;
        assert!((after - before).abs() < 5.0, "{before} → {after}");
    }

    #[test]
    fn a_lasting_change_moves_the_level_all_the_way() {
        let values: Vec<f64> = (0..90).map(|i| if i < 45 { 100.0 } else { 200.0 } + f64::from(i % 3)).collect();
        let fit = Smoothed::fit(&values, &weekdays(90));
        assert!((fit.level - 201.0).abs() < 3.0, "{}", fit.level);
    }

    #[test]
    fn nothing_and_one_observation_are_fitted() {
        assert_eq!(Smoothed::fit(&[], &[]).errors, Vec::<f64>::new());
        assert!(Smoothed::fit(&[5.0], &[3]).forecast(3).is_finite());
    }
}
