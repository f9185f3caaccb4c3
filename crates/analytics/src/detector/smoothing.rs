//! Level, weekday effects and noise of a daily series: what both the detector and the driver tree forecast with.

use crate::robust::{self, MAD_TO_SIGMA, MEAN_ABS_TO_SIGMA};

/// Occurrences of a weekday that its effect is estimated from.
const WEEKDAY_OCCURRENCES: usize = 10;
/// Smoothing constants tried; each counts by how small its clipped one-step error is.
const SMOOTHING: [f64; 6] = [0.02, 0.05, 0.1, 0.2, 0.4, 0.8];
/// Days at the start whose median is the first level; their errors are not judged.
const WARM_UP: usize = 7;
/// An observation moves the level by at most this many current standard deviations.
const CLIP: f64 = 2.75;
/// Weight of a smoothing constant = (smallest error / its error) to this power: most of it to the best few, without jumping
/// from one to another overnight.
const SHARPNESS: f64 = 8.0;
/// Weight of an error in the choice of the smoothing constants relative to that of the next day's.
const COST_DECAY: f64 = 0.97;
/// Weight of an error in the spread relative to that of the next day's.
const DECAY: f64 = 0.95;
/// An error counts in the spread by at most this many robust standard deviations.
const SPREAD_CLIP: f64 = 3.0;
/// Days without autocorrelation that the estimate of it is shrunk by.
const SHRINKAGE: f64 = 30.0;
/// An error is carried over by at most this many robust standard deviations: none, where most errors are zero.
const CARRY_CLIP: f64 = 2.0;
/// Weight of an error of a weekday in what it carries over to that weekday relative to that of the next week's.
const WEEK_DECAY: f64 = 0.8;
/// Weeks without an error that what a weekday carries over is shrunk by.
const WEEK_SHRINKAGE: f64 = 3.0;

/// A daily series split into level, weekday effects and one-step errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Smoothed {
    /// Level after the last observation, without any weekday effect.
    pub level: f64,
    /// Effect per weekday, Monday first, with what its latest errors carry over.
    pub weekday: [f64; 7],
    /// One-step-ahead errors, oldest first, without the warm-up.
    pub errors: Vec<f64>,
    /// Spread of the errors in units of a standard deviation, without any floor.
    pub spread: f64,
    /// How far the levels of the smoothing constants lie apart, as a standard deviation: after a turn they do not agree, and
    /// the forecast is less sure than its past errors say (the variance between models of Bayesian averaging, Hoeting et
    /// al., *Statistical Science* 14, 1999).
    pub disagreement: f64,
}

/// Whether so many values are zero that only [`Smoothed::flat`] does the series justice.
pub(crate) fn is_sparse(values: &[f64]) -> bool {
    4 * values.iter().filter(|v| **v == 0.0).count() > values.len()
}

impl Smoothed {
    /// Fits consecutive observations with their weekdays (0 = Monday). Both slices have the same length.
    pub fn fit(values: &[f64], weekdays: &[usize]) -> Self {
        // The running median of a strong weekly pattern leans towards the pattern; of what the first pass leaves it does not.
        let first = weekday_effects(values, weekdays, values);
        let weekday = weekday_effects(values, weekdays, &without(values, weekdays, &first));
        let (mut level, mut errors, disagreement) = combined_smoothing(&without(values, weekdays, &weekday));
        if errors.len() > 2 * WARM_UP {
            errors.drain(..WARM_UP);
        }
        level += take_out_autocorrelation(&mut errors);
        Self { level, weekday, spread: latest_spread(&errors), disagreement, errors }
    }

    /// [`Self::fit`], and what the errors of a weekday carry over to its next one. A driver does without: where there is mostly
    /// noise it costs more than it brings.
    pub fn fit_following_weekdays(values: &[f64], weekdays: &[usize]) -> Self {
        let mut fit = Self::fit(values, weekdays);
        let judged = weekdays.get(weekdays.len().saturating_sub(fit.errors.len())..).unwrap_or_default();
        let drift = take_out_drift_of_weekdays(&mut fit.errors, judged);
        fit.weekday.iter_mut().zip(drift).for_each(|(effect, drift)| *effect += drift);
        fit.spread = latest_spread(&fit.errors);
        fit
    }

    /// Plain mean and standard deviation, for a metric that is zero on every fourth day or more: its median says nothing,
    /// and what sets it apart is how often it happens.
    pub fn flat(values: &[f64]) -> Self {
        let level = robust::mean(values).unwrap_or(0.0);
        let errors: Vec<f64> = values.iter().map(|v| v - level).collect();
        Self { level, weekday: [0.0; 7], spread: robust::standard_deviation(&errors), disagreement: 0.0, errors }
    }

    /// Expected value of the next observation if it falls on `weekday` (0 = Monday).
    pub fn forecast(&self, weekday: usize) -> f64 {
        self.level + at(&self.weekday, weekday)
    }
}

fn at(per_weekday: &[f64; 7], weekday: usize) -> f64 {
    per_weekday.get(weekday).copied().unwrap_or(0.0)
}

/// The values without the effect of their weekday.
fn without(values: &[f64], weekdays: &[usize], effects: &[f64; 7]) -> Vec<f64> {
    values.iter().zip(weekdays).map(|(v, d)| v - at(effects, *d)).collect()
}

/// Median deviation of each weekday from the seven-observation running median of `smooth`, over its latest occurrences,
/// shrunk by n/(n + 1) towards none and centred on zero.
fn weekday_effects(values: &[f64], weekdays: &[usize], smooth: &[f64]) -> [f64; 7] {
    let deviations: Vec<f64> =
        values.iter().zip(running_median(smooth)).map(|(value, centre)| value - centre).collect();
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

/// Level and errors of the smoothing constants together, each weighing by how well it did, and how far their levels lie apart.
fn combined_smoothing(values: &[f64]) -> (f64, Vec<f64>, f64) {
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
    let apart: f64 = runs.iter().map(|(cost, own, _)| weigh(*cost) / total * (own - level).powi(2)).sum();
    (level, errors, apart.sqrt())
}

/// Takes what each error carries over to the next out of the errors, by a first-order autoregression shrunk towards none,
/// and returns what the last one carries over to the day ahead.
fn take_out_autocorrelation(errors: &mut [f64]) -> f64 {
    let bound = CARRY_CLIP * MAD_TO_SIGMA * robust::median_abs(errors).unwrap_or(0.0);
    let clipped: Vec<f64> = errors.iter().map(|e| clip(*e, bound)).collect();
    let (mut product, mut square) = (0.0, 0.0);
    for [before, after] in clipped.array_windows() {
        product += before * after;
        square += before * before;
    }
    let mean_square = clipped.iter().map(|e| e * e).sum::<f64>() / clipped.len().max(1) as f64;
    let carried = product / SHRINKAGE.mul_add(mean_square, square);
    if !carried.is_finite() {
        return 0.0;
    }
    errors.iter_mut().skip(1).zip(&clipped).for_each(|(error, before)| *error -= carried * before);
    clipped.last().map_or(0.0, |last| carried * last)
}

/// Takes what the errors of each weekday carry over to its next one out of the errors, and returns what they carry over to
/// the week ahead: the exponentially weighted mean of a weekday's errors so far, clipped and shrunk towards none. A weekly
/// pattern that changes is followed, as by the seasonal smoothing of Holt and Winters (Winters, *Management Science* 6, 1960).
fn take_out_drift_of_weekdays(errors: &mut [f64], weekdays: &[usize]) -> [f64; 7] {
    let bound = CARRY_CLIP * MAD_TO_SIGMA * robust::median_abs(errors).unwrap_or(0.0);
    let (mut sums, mut weights) = ([0.0; 7], [0.0; 7]);
    for (error, day) in errors.iter_mut().zip(weekdays) {
        let (Some(sum), Some(weight)) = (sums.get_mut(*day), weights.get_mut(*day)) else {
            continue;
        };
        let carried = *sum / (*weight + WEEK_SHRINKAGE);
        *sum = WEEK_DECAY.mul_add(*sum, clip(*error, bound));
        *weight = WEEK_DECAY.mul_add(*weight, 1.0);
        *error -= carried;
    }
    std::array::from_fn(|day| at(&sums, day) / (at(&weights, day) + WEEK_SHRINKAGE))
}

/// Brings a value within ±`bound`; a bound that is no number bounds nothing.
fn clip(value: f64, bound: f64) -> f64 {
    value.min(bound).max(-bound)
}

/// Spread of the latest errors in units of a standard deviation: the root mean square of the errors, clipped,
/// the latest counting most (exponentially weighted volatility, J.P. Morgan, *RiskMetrics technical document*, 1996).
fn latest_spread(errors: &[f64]) -> f64 {
    let bound = SPREAD_CLIP * robust::spread(errors);
    let squares: Vec<f64> = errors.iter().map(|error| clip(*error, bound).powi(2)).collect();
    latest_mean(&squares, DECAY).sqrt()
}

/// Mean in which a value weighs `decay` times as much as the next; 0 when there is none.
fn latest_mean(values: &[f64], decay: f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for value in values {
        sum = decay.mul_add(sum, *value);
        weights = decay.mul_add(weights, 1.0);
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
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

/// Mean absolute error after the warm-up, each error clipped at three robust standard deviations, the latest counting most.
fn clipped_cost(errors: &[f64]) -> f64 {
    let judged = errors.get(WARM_UP..).unwrap_or_default();
    if judged.len() <= WARM_UP {
        return 0.0;
    }
    let bound = 3.0 * MAD_TO_SIGMA * robust::mad(judged).unwrap_or(0.0).max(1e-9);
    let sizes: Vec<f64> = judged.iter().map(|e| e.abs().min(bound)).collect();
    latest_mean(&sizes, COST_DECAY)
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
        // Of the rest the errors carry some over.
        let following = Smoothed::fit_following_weekdays(&values, &weekdays(84));
        for effect in [following.forecast(5) - following.forecast(0), following.forecast(0) - following.forecast(6)] {
            assert!((60.0 * 10.0 / 11.0..60.0).contains(&effect), "{effect}");
        }
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
    fn after_a_turn_the_levels_lie_apart_and_in_a_steady_series_they_agree() {
        let fitted = |level: fn(usize) -> f64| {
            let values: Vec<f64> = (0..90).map(|i| level(i) + (i * 5 % 11) as f64).collect();
            Smoothed::fit(&values, &weekdays(90))
        };
        let (steady, turned) = (fitted(|_| 100.0), fitted(|i| if i < 84 { 100.0 } else { 106.0 }));
        assert!(steady.disagreement < 0.2 * steady.spread, "{steady:?}");
        assert!(turned.disagreement > 2.0 * steady.disagreement && turned.disagreement > 0.1, "{turned:?}");
        assert!(Smoothed::flat(&[0.0, 0.0, 3.0, 0.0]).disagreement.abs() < f64::EPSILON);
    }

    #[test]
    fn what_a_day_carries_over_to_the_next_is_expected() {
        // Errors of which each is 0.8 of the one before, with a shock of ±10 every ninth day.
        let mut carried = 0.0;
        let errors: Vec<f64> = (0..81)
            .map(|i| {
                carried = 0.8 * carried + if i % 9 == 0 { if i % 2 == 0 { 10.0 } else { -10.0 } } else { 0.0 };
                carried
            })
            .collect();
        let mut left = errors.clone();
        let ahead = take_out_autocorrelation(&mut left);
        // Shrunk: less than 0.8 of the last error, more than half of it.
        let last = errors[80];
        assert!((0.5..0.8).contains(&(ahead / last)), "{ahead} of {last}");
        assert!(robust::standard_deviation(&left) < 0.9 * robust::standard_deviation(&errors));
        // What is as often followed by its contrary as by itself carries nothing over.
        let mut even: Vec<f64> = [1.0, 1.0, -1.0, -1.0].repeat(20);
        assert!(take_out_autocorrelation(&mut even).abs() < 0.05);
    }

    #[test]
    fn what_a_weekday_carries_over_is_expected_of_its_next_one() {
        // Eight weeks: Saturdays 1 too high, all other days as often 1 too high as too low.
        let error = |i: usize| if i % 7 == 5 || (i / 7).is_multiple_of(2) { 1.0 } else { -1.0 };
        let errors: Vec<f64> = (0..56).map(error).collect();
        let mut left = errors.clone();
        let carried = take_out_drift_of_weekdays(&mut left, &weekdays(56));
        // Of weights that sum to (1 − 0.8⁸) / 0.2 = 4.161, with three weeks without any.
        assert!((carried[5] - 4.161 / 7.161).abs() < 1e-3, "{carried:?}");
        assert!(carried[0].abs() < 0.1, "{carried:?}");
        // Nothing is taken out of the first week, and of each later one what the weeks before it carried over.
        assert_eq!(left[..7], errors[..7]);
        assert!((left[12] - 0.75).abs() < 1e-9 && left[54] < left[12], "{left:?}");
    }

    #[test]
    fn a_weekly_pattern_that_changes_is_followed() {
        let saturdays = |week: usize| if week < 9 { 160.0 } else { 220.0 };
        let values: Vec<f64> =
            (0..84).map(|i| (i * 5 % 11) as f64 + if i % 7 == 5 { saturdays(i / 7) } else { 100.0 }).collect();
        let effect = |fit: Smoothed| fit.forecast(5) - fit.forecast(0);
        let still = effect(Smoothed::fit(&values, &weekdays(84)));
        let following = effect(Smoothed::fit_following_weekdays(&values, &weekdays(84)));
        assert!(following > still + 3.0 && following < 125.0, "{still} → {following}");
    }

    #[test]
    fn the_latest_errors_count_most_in_the_spread() {
        let wild = |i: usize| if i.is_multiple_of(2) { 4.0 } else { -4.0 };
        let calm = |i: usize| wild(i) / 4.0;
        let of = |error: fn(&usize) -> bool| {
            let errors: Vec<f64> = (0..80).map(|i| if error(&i) { wild(i) } else { calm(i) }).collect();
            latest_spread(&errors)
        };
        let (before, lately) = (of(|i| *i < 40), of(|i| *i >= 40));
        // Weights of the later and of the earlier half: 1 − 0.95⁴⁰ and 0.95⁴⁰ (1 − 0.95⁴⁰), of 1 − 0.95⁸⁰.
        assert!((before - (1.0_f64 + 15.0 * 0.1139).sqrt()).abs() < 0.01, "{before}");
        assert!((lately - (1.0_f64 + 15.0 * 0.8861).sqrt()).abs() < 0.01, "{lately}");
    }

    #[test]
    fn a_smoothing_constant_that_errs_lately_costs_more_than_one_that_did() {
        let errors = |lately: bool| -> Vec<f64> {
            (0..80).map(|i| if (i >= 40) == lately { 2.0 } else { 1.0 } * if i % 2 == 0 { 1.0 } else { -1.0 }).collect()
        };
        assert!(clipped_cost(&errors(true)) > 1.2 * clipped_cost(&errors(false)));
    }

    #[test]
    fn nothing_and_one_observation_are_fitted() {
        assert_eq!(Smoothed::fit(&[], &[]).errors, Vec::<f64>::new());
        for fit in [Smoothed::fit, Smoothed::fit_following_weekdays] {
            assert!(fit(&[5.0], &[3]).forecast(3).is_finite());
        }
    }
}
