//! One split: forecasts of the ingredients, their contributions to the deviation, and which of them stands out.

use std::collections::BTreeSet;

use super::facts::{Facts, Part};
use super::tree::{Combined, Identity, Node, identities, summed};
use super::{Breakdown, By, Contribution, Direction};
use crate::detector::smoothing::{Smoothed, is_sparse};
use crate::detector::{HISTORY_DAYS, Insufficient, LARGEST_VALUE, MIN_HISTORY_DAYS, weekday_index};
use crate::matrix;

/// Share of the deviation below which a driver does not explain it.
pub(super) const MIN_SHARE: f64 = 0.5;
/// |z| below which a driver is in its ordinary range.
pub(super) const MIN_Z: f64 = 2.0;

/// A logarithm is never trusted to better than this, a difference to this fraction of the ingredient or …
const FLOOR: f64 = 0.02;
/// … to this fraction of the whole.
const FLOOR_OF_WHOLE: f64 = 0.005;
/// What a factor that fell to zero counts as, relative to its expected value.
const NOTHING: f64 = 1e-6;
/// Errors are clipped here, in standard deviations, before they are correlated.
const CLIP: f64 = 3.0;
/// Weight of "uncorrelated" in the correlation of errors; it also keeps the matrix invertible.
const SHRINKAGE: f64 = 0.25;
/// Parts of a dimension that are looked at one by one; the rest is one part.
const LARGEST_PARTS: usize = 24;
/// Part of the largest value by which another one may be off.
const ROUNDING: f64 = 1e-9;
/// What must be left of an amount after the costs that go with it for them to be told as departures from their rates.
const LEAST_LEFT: f64 = 0.05;
/// Departure from its rate per amount, in root mean squares of those before, from which a cost may go with a count instead.
const FAR_FROM_RATE: f64 = 3.0;
/// What is left of that departure at most where it does.
const NEAR_TO_RATE: f64 = 0.5;
/// Name of the rest: small parts, and what the known parts leave unexplained.
pub(super) const OTHER: &str = "(other)";
/// ln-odds that the first driver is the right one when it is as strong as the second, and their growth with the logarithm
/// of the ratio of strengths; fitted on injected changes (see the methods).
const CONFIDENCE: (f64, f64) = (0.3, 0.75);

/// A metric's own forecast for the day to explain.
pub(super) struct Own {
    pub expected: f64,
    pub observed: f64,
    pub z_score: f64,
}

/// Forecasts a metric from its own past, on the logarithmic scale if it has never been negative.
pub(super) fn own_forecast(facts: &Facts, node: &Node) -> Result<Own, Insufficient> {
    let mut values = facts.series(&node.metric, node.part.as_ref()).ok_or(Insufficient::Value)?;
    let observed = values.pop().flatten().ok_or(Insufficient::Value)?;
    let positive = values.iter().flatten().all(|v| *v >= 0.0) && observed >= 0.0;
    let combined = if positive { Combined::Product } else { Combined::Sum };
    let rows: Vec<usize> =
        latest_rows(values.len(), |i| values.get(i).copied().flatten().is_some_and(|v| !positive || v > 0.0));
    if rows.len() < MIN_HISTORY_DAYS {
        return Err(Insufficient::History { days: rows.len(), needed: MIN_HISTORY_DAYS });
    }
    let series: Vec<f64> = pick(&values, &rows, |v| scaled(combined, 1.0, v));
    let fit = Forecast::fit(&series, facts, &rows, combined, 0.0);
    let now = if positive && observed <= 0.0 { fit.centre + NOTHING.ln() } else { scaled(combined, 1.0, observed) };
    let expected = unscaled(combined, 1.0, fit.centre);
    Ok(Own { expected, observed, z_score: (now - fit.centre) / fit.sigma })
}

/// Every split of a metric that the facts allow: its drivers first, then each dimension. An identity with one of the
/// metrics that were `weighed` on the way here would lead back.
pub(super) fn breakdowns(facts: &Facts, node: &Node, expected: f64, weighed: &BTreeSet<String>) -> Vec<Breakdown> {
    let new = |identity: &&Identity| {
        identity.is_inward || !identity.ingredients.iter().any(|(metric, _)| weighed.contains(*metric))
    };
    let by_drivers =
        identities(&node.metric).filter(new).find_map(|identity| by_identity(facts, node, expected, identity));
    let (metric, known_by) = summed(&node.metric);
    let dimensions = facts.dimensions(&known_by, node.part.as_ref());
    let by_dimension =
        dimensions.iter().filter_map(|(name, parts)| by_parts(facts, node, metric, expected, name, parts));
    by_drivers.into_iter().chain(by_dimension).collect()
}

fn by_identity(facts: &Facts, node: &Node, expected: f64, identity: &Identity) -> Option<Breakdown> {
    let Identity { combined, offset, .. } = *identity;
    let part = node.part.as_ref();
    let mut ingredients = Vec::with_capacity(identity.ingredients.len());
    for (metric, sign) in identity.ingredients {
        match facts.series(metric, part) {
            Some(values) => {
                ingredients.push(Ingredient::new((*metric).to_owned(), part.cloned(), *sign, values));
            }
            None if combined == Combined::Sum => {}
            None => return None,
        }
    }
    flex(facts, part, &mut ingredients, identity);
    split(facts, node, Whole { expected, offset }, combined, By::Drivers, ingredients)
}

/// `metric` is what the parts of the node's metric add up in.
fn by_parts(
    facts: &Facts,
    node: &Node,
    metric: &str,
    expected: f64,
    dimension: &str,
    parts: &[&Part],
) -> Option<Breakdown> {
    let mut known: Vec<(f64, &Part, Vec<Option<f64>>)> = parts
        .iter()
        .filter_map(|part| facts.series(metric, Some(part)).map(|v| (part, v)))
        .map(|(part, values)| (values.iter().flatten().map(|v| v.abs()).sum::<f64>(), *part, values))
        .collect();
    known.sort_by(|a, b| b.0.total_cmp(&a.0));
    known.truncate(LARGEST_PARTS);
    let whole = facts.series(&node.metric, node.part.as_ref())?;
    let rest: Vec<Option<f64>> = whole
        .iter()
        .enumerate()
        .map(|(i, total)| {
            let parts: f64 = known.iter().filter_map(|(_, _, v)| v.get(i).copied().flatten()).sum();
            total.map(|t| t - parts)
        })
        .collect();
    let size: f64 = whole.iter().flatten().map(|v| v.abs()).sum();
    let unexplained: f64 = rest.iter().flatten().map(|v| v.abs()).sum();
    let ingredient = |part: Part, values| Ingredient::new(metric.to_owned(), Some(part), 1.0, values);
    let mut ingredients: Vec<Ingredient> = known.into_iter().map(|(_, part, v)| ingredient(part.clone(), v)).collect();
    if unexplained > 1e-6 * size {
        let within = node.part.clone().map(Box::new);
        ingredients.push(ingredient(Part { within, ..Part::of(dimension, OTHER) }, rest));
    }
    let whole = Whole { expected, offset: 0.0 };
    split(facts, node, whole, Combined::Sum, By::Dimension(dimension.to_owned()), ingredients)
}

/// Tells what goes with the first ingredient by its departure from the usual rate, and the first one by what is left of it
/// at these rates. Where next to nothing is left the identity stays as it is.
fn flex(facts: &Facts, part: Option<&Part>, ingredients: &mut [Ingredient], identity: &Identity) {
    let Some((base, others)) = ingredients.split_first_mut() else { return };
    if identity.flexed.is_empty() || identity.ingredients.first().is_none_or(|(metric, _)| *metric != base.metric) {
        return;
    }
    let mut flexed: Vec<(f64, Option<Series>, &mut Ingredient)> = others
        .iter_mut()
        .filter_map(|cost| {
            let counted = identity.flexed.iter().find(|flexed| flexed.cost == cost.metric)?.counted;
            let count = counted.and_then(|count| facts.series(count, part));
            let by_count = count.and_then(|count| by_count(&cost.values, &base.values, &count));
            Some((usual_rate(&cost.values, &base.values), by_count, cost))
        })
        .collect();
    let left = 1.0 - flexed.iter().map(|(rate, _, _)| rate).sum::<f64>();
    let by_amount = flexed.iter().filter(|(_, by_count, _)| by_count.is_none());
    let sign = 1.0 - by_amount.map(|(rate, _, _)| rate).sum::<f64>();
    if left < LEAST_LEFT || sign < LEAST_LEFT {
        return;
    }
    base.sign = sign;
    let amounts = base.values.clone();
    for (rate, by_count, cost) in &mut flexed {
        let is_by_amount = by_count.is_none();
        let usual = by_count.take().unwrap_or_else(|| times(*rate, &amounts));
        cost.at_usual_rate = usual.last().copied().flatten().unwrap_or(0.0);
        cost.values = less(&cost.values, &usual, 1.0);
        // What goes with the amount is in its sign; the rest is taken off it.
        if !is_by_amount {
            base.at_usual_rate += cost.at_usual_rate / sign;
            base.values = less(&base.values, &usual, 1.0 / sign);
        }
    }
}

/// What a cost usually is by the count that it goes with, on a day on which it departs from its rate per amount and hardly
/// from that per count: then it is the price that changed.
fn by_count(cost: &[Option<f64>], amount: &[Option<f64>], count: &[Option<f64>]) -> Option<Series> {
    let usual = times(usual_rate(cost, count), count);
    let is_usable = usual.iter().flatten().all(|value| value.is_finite() && value.abs() <= LARGEST_VALUE);
    let beyond_amount = less(cost, &times(usual_rate(cost, amount), amount), 1.0);
    let (of_amount, before) = beyond_amount.split_last()?;
    let of_count = less(cost, &usual, 1.0).last().copied().flatten()?.abs();
    let squares: Vec<f64> = before.iter().rev().flatten().take(HISTORY_DAYS).map(|value| value * value).collect();
    let ordinary = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
    let of_amount = (*of_amount)?.abs();
    (is_usable && of_amount > FAR_FROM_RATE * ordinary && of_count < NEAR_TO_RATE * of_amount).then_some(usual)
}

/// Values by day; `None` where there is none.
type Series = Vec<Option<f64>>;

fn times(rate: f64, values: &[Option<f64>]) -> Series {
    values.iter().map(|value| value.map(|value| rate * value)).collect()
}

/// One series less a part of another.
fn less(of: &[Option<f64>], by: &[Option<f64>], part: f64) -> Series {
    of.iter().zip(by).map(|(of, by)| of.zip(*by).map(|(of, by)| of - part * by)).collect()
}

/// What one series was per unit of another over the latest days before the last.
fn usual_rate(of: &[Option<f64>], by: &[Option<f64>]) -> f64 {
    let known = of.iter().zip(by).rev().skip(1).filter_map(|(of, by)| of.zip(*by)).take(HISTORY_DAYS);
    let (of, by) = known.fold((0.0, 0.0), |(of, by), day| (of + day.0, by + day.1));
    if by > 0.0 { of / by } else { 0.0 }
}

/// One ingredient of an identity with its history; the last value is the day to explain.
struct Ingredient {
    metric: String,
    part: Option<Part>,
    /// What it counts with: 1 or −1, but for an amount of which costs are taken.
    sign: f64,
    values: Vec<Option<f64>>,
    /// What its values lack on the day to explain to what is known of the metric.
    at_usual_rate: f64,
    /// Whether the metric was never below zero: then it is not expected to be.
    is_never_negative: bool,
}

impl Ingredient {
    fn new(metric: String, part: Option<Part>, sign: f64, values: Vec<Option<f64>>) -> Self {
        let size = values.iter().flatten().fold(0.0_f64, |size, value| size.max(value.abs()));
        // What is left of a whole without its parts may miss zero by a rounding.
        let is_never_negative = values.iter().flatten().all(|value| *value >= -ROUNDING * size);
        Self { metric, part, sign, values, at_usual_rate: 0.0, is_never_negative }
    }

    /// The least that can be expected of its values.
    fn least(&self) -> f64 {
        if self.is_never_negative { -self.at_usual_rate } else { f64::NEG_INFINITY }
    }
}

/// Forecast of a scaled series.
struct Forecast {
    centre: f64,
    sigma: f64,
    /// One-day-ahead errors in units of `sigma`, clipped.
    errors: Vec<f64>,
}

impl Forecast {
    fn fit(series: &[f64], facts: &Facts, rows: &[usize], combined: Combined, whole: f64) -> Self {
        let dates = facts.dates();
        let weekdays: Vec<usize> =
            rows.iter().filter_map(|i| dates.get(*i)).map(|d| weekday_index(d.weekday())).collect();
        let today = dates.last().map_or(0, |d| weekday_index(d.weekday()));
        let sparse = combined == Combined::Sum && is_sparse(series);
        let fit = if sparse { Smoothed::flat(series) } else { Smoothed::fit(series, &weekdays) };
        let centre = fit.forecast(today);
        let floor = match combined {
            Combined::Product => FLOOR,
            Combined::Sum => (FLOOR * centre.abs()).max(FLOOR_OF_WHOLE * whole),
        };
        let sigma = fit.spread.max(floor).max(1e-9);
        Self { centre, sigma, errors: fit.errors.iter().map(|e| (e / sigma).clamp(-CLIP, CLIP)).collect() }
    }
}

/// An ingredient on the common scale: what was forecast, what is expected after reconciliation, what was observed.
struct Scaled {
    forecast: Forecast,
    expected: f64,
    observed: f64,
}

/// What is split.
#[derive(Clone, Copy)]
struct Whole {
    expected: f64,
    /// What the ingredients lack to it.
    offset: f64,
}

/// Splits observed − expected of `node` over the ingredients; `None` when the identity cannot be used on this day.
fn split(
    facts: &Facts,
    node: &Node,
    whole: Whole,
    combined: Combined,
    by: By,
    ingredients: Vec<Ingredient>,
) -> Option<Breakdown> {
    let expected = whole.expected;
    let observed = facts.series(&node.metric, node.part.as_ref())?.last().copied().flatten()?;
    if combined == Combined::Product && (expected <= 0.0 || observed < 0.0) || ingredients.is_empty() {
        return None;
    }
    let scaled = forecast_all(facts, expected - whole.offset, combined, &ingredients)?;
    let changes: Vec<f64> = scaled.iter().map(|s| s.observed - s.expected).collect();
    let contributions = exact(&changes, combined, expected, observed)?;
    let z: Vec<f64> = scaled.iter().map(|s| (s.observed - s.forecast.centre) / s.forecast.sigma).collect();
    let strengths: Vec<f64> = isolation(&scaled, &z).iter().zip(&changes).map(|(q, c)| q * c.abs()).collect();
    let deviation = observed - expected;
    let size = contributions.iter().fold(observed.abs().max(expected.abs()), |size, c| size.max(c.abs()));
    let negligible = deviation.abs() <= 1e-12 * size;
    let shares = if negligible { vec![0.0; contributions.len()] } else { shares(&contributions) };
    let mut ranked: Vec<(f64, Contribution)> = Vec::with_capacity(ingredients.len());
    for (((((ingredient, one), contribution), share), modz), strength) in
        ingredients.into_iter().zip(&scaled).zip(contributions).zip(shares).zip(z).zip(strengths)
    {
        let Ingredient { metric, part, sign, values, at_usual_rate, is_never_negative } = ingredient;
        let expected = unscaled(combined, sign, one.expected);
        // A ratio that could not be formed that day shows its expected value: nothing is known against it.
        let observed = values.last().copied().flatten().unwrap_or(expected);
        let direction = Direction::of(observed - expected);
        let (expected, observed) = (expected + at_usual_rate, observed + at_usual_rate);
        let expected = if is_never_negative { expected.max(0.0) } else { expected };
        let modz = modz * sign.signum();
        ranked
            .push((strength, Contribution { metric, part, expected, observed, contribution, share, modz, direction }));
    }
    // What moved against the deviation of a sum (costs that fell with the takings) is no cause of it and comes last.
    let against = |c: &Contribution| combined == Combined::Sum && c.contribution * deviation < 0.0;
    ranked.sort_by(|a, b| against(&a.1).cmp(&against(&b.1)).then(b.0.total_cmp(&a.0)));
    let rival = ranked.get(1).filter(|(_, c)| !against(c)).map(|r| r.0);
    let confidence = confidence(ranked.first()?.0, rival);
    let contributions = ranked.into_iter().map(|(_, c)| c).collect();
    let Node { metric, part } = node.clone();
    let finite = expected.is_finite() && deviation.is_finite();
    finite.then_some(Breakdown { metric, part, by, expected, observed, contributions, confidence })
}

/// Forecasts the ingredients on the days that know them all and moves the forecasts so that they add up to what was
/// expected of the whole.
fn forecast_all(facts: &Facts, expected: f64, combined: Combined, ingredients: &[Ingredient]) -> Option<Vec<Scaled>> {
    let history = facts.dates().len().checked_sub(1)?;
    let usable = |v: f64| combined == Combined::Sum || v > 0.0;
    let rows = latest_rows(history, |i| {
        let mut all = ingredients.iter().map(|g| g.values.get(i).copied().flatten());
        let nothing_happened = ingredients.iter().all(|g| g.values.get(i).copied().flatten() == Some(0.0));
        all.all(|v| v.is_some_and(usable)) && !nothing_happened
    });
    if rows.len() < MIN_HISTORY_DAYS {
        return None;
    }
    let mut scaled: Vec<Scaled> = Vec::with_capacity(ingredients.len());
    for Ingredient { sign, values, .. } in ingredients {
        let series = pick(values, &rows, |v| self::scaled(combined, *sign, v));
        let forecast = Forecast::fit(&series, facts, &rows, combined, expected.abs());
        let observed = match values.last().copied().flatten() {
            Some(v) if usable(v) => self::scaled(combined, *sign, v),
            Some(_) => forecast.centre + sign * NOTHING.ln(),
            None => forecast.centre,
        };
        scaled.push(Scaled { expected: forecast.centre, observed, forecast });
    }
    reconcile(&mut scaled, self::scaled(combined, 1.0, expected), combined, ingredients);
    for (one, ingredient) in scaled.iter_mut().zip(ingredients) {
        if ingredient.values.last().copied().flatten().is_none() {
            one.observed = one.expected;
        }
    }
    Some(scaled)
}

/// Moves the forecasts so that they add up to the whole: each in proportion to its variance, the least certain one most. In a
/// sum, what would fall below the least that it can be stays there, and the others make up for it.
fn reconcile(scaled: &mut [Scaled], whole: f64, combined: Combined, ingredients: &[Ingredient]) {
    let mut is_free = vec![true; scaled.len()];
    // Each round but the last one takes one at least out of those that move.
    for _ in 0..=scaled.len() {
        let gap = whole - scaled.iter().map(|s| s.expected).sum::<f64>();
        let free = scaled.iter().zip(&is_free).filter(|(_, is_free)| **is_free);
        let variance: f64 = free.map(|(s, _)| s.forecast.sigma.powi(2)).sum();
        if variance <= 0.0 {
            break;
        }
        let mut is_done = true;
        for ((one, is_free), ingredient) in scaled.iter_mut().zip(&mut is_free).zip(ingredients) {
            if !*is_free {
                continue;
            }
            one.expected += gap * one.forecast.sigma.powi(2) / variance;
            if combined == Combined::Sum && unscaled(combined, ingredient.sign, one.expected) < ingredient.least() {
                one.expected = self::scaled(combined, ingredient.sign, ingredient.least());
                (*is_free, is_done) = (false, false);
            }
        }
        if is_done {
            break;
        }
    }
}

/// Contributions in the unit of the whole that sum to observed − expected.
///
/// Products: the logarithmic mean Divisia index (Ang 2005), contribution = (a − b) / ln(a / b) · ln(change), in which the
/// shares are those of the logarithms. Sums: the differences themselves.
fn exact(changes: &[f64], combined: Combined, expected: f64, observed: f64) -> Option<Vec<f64>> {
    let deviation = observed - expected;
    let total: f64 = changes.iter().sum();
    let mut contributions: Vec<f64> = match combined {
        Combined::Product if total.abs() > 1e-12 => changes.iter().map(|c| c * (deviation / total)).collect(),
        Combined::Product => changes.iter().map(|c| c * observed).collect(),
        Combined::Sum => changes.to_vec(),
    };
    // What rounding of the inputs leaves over goes to the largest one.
    let residue = deviation - contributions.iter().sum::<f64>();
    let largest = contributions.iter_mut().max_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    *largest += residue;
    contributions.iter().all(|c| c.is_finite()).then_some(contributions)
}

/// The part of all that went the way of the sum that each is; 0 for what went against it. They sum to 1, unless there is no
/// sum to speak of: then all are 0.
pub(super) fn shares(contributions: &[f64]) -> Vec<f64> {
    let deviation: f64 = contributions.iter().sum();
    let along = |c: f64| if c * deviation > 0.0 { c.abs() } else { 0.0 };
    let total: f64 = contributions.iter().copied().map(along).sum();
    contributions.iter().map(|c| if total > 0.0 { along(*c) / total } else { 0.0 }).collect()
}

/// How much of the joint surprise disappears when one ingredient alone is set right: the reconstruction-based contribution
/// (Alcala and Qin 2009), (M·z)ᵢ² / Mᵢᵢ with M the inverse of the errors' correlation. Where errors move together it
/// tells the ingredient that broke the pattern from those that follow it.
fn isolation(scaled: &[Scaled], z: &[f64]) -> Vec<f64> {
    // Those of a sparse ingredient begin earlier, as it has no warm-up: what they have in common are the latest days.
    let days = scaled.iter().map(|s| s.forecast.errors.len()).min().unwrap_or(0);
    let errors: Vec<&[f64]> = scaled
        .iter()
        .map(|s| s.forecast.errors.as_slice())
        .map(|errors| errors.get(errors.len().saturating_sub(days)..).unwrap_or_default())
        .collect();
    let plain = || z.iter().map(|z| z * z).collect();
    let Some(precision) = matrix::inverse(&matrix::shrunk_correlation(&errors, SHRINKAGE)) else { return plain() };
    let isolated = |(i, row): (usize, &Vec<f64>)| {
        let own = row.get(i).copied().filter(|m| *m > 0.0)?;
        let pull: f64 = row.iter().zip(z).map(|(m, z)| m * z).sum();
        Some(pull * pull / own)
    };
    precision.iter().enumerate().map(isolated).collect::<Option<Vec<f64>>>().unwrap_or_else(plain)
}

/// Probability that the strongest ingredient is the one that changed.
fn confidence(strongest: f64, second: Option<f64>) -> f64 {
    let dominance = second.map_or(1e3, |second| (strongest / second.max(1e-12)).clamp(1.0, 1e3));
    let (level, slope) = CONFIDENCE;
    1.0 / (1.0 + (-(level + slope * dominance.ln())).exp())
}

fn scaled(combined: Combined, sign: f64, value: f64) -> f64 {
    match combined {
        Combined::Product => sign * value.ln(),
        Combined::Sum => sign * value,
    }
}

fn unscaled(combined: Combined, sign: f64, value: f64) -> f64 {
    match combined {
        // 230 is ln(1e100): finite whatever the history.
        Combined::Product => (sign * value).clamp(-230.0, 230.0).exp(),
        Combined::Sum => value / sign,
    }
}

/// The latest [`HISTORY_DAYS`] of `n` rows that qualify, oldest first.
fn latest_rows(n: usize, qualifies: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n).rev().filter(|i| qualifies(*i)).take(HISTORY_DAYS).collect();
    rows.reverse();
    rows
}

fn pick(values: &[Option<f64>], rows: &[usize], scale: impl Fn(f64) -> f64) -> Vec<f64> {
    rows.iter().filter_map(|i| values.get(*i).copied().flatten()).map(scale).collect()
}

#[cfg(test)]
mod tests {
    use time::{Date, Duration, macros::date};

    use super::*;

    /// The first bits of π, which follow no pattern: 36 of the first 90 are set.
    const SOLD: u128 = 0x243f_6a88_85a3_08d3_1319_8a2e_0370_7344;

    #[test]
    fn errors_of_a_sparse_and_of_a_smoothed_ingredient_are_those_of_the_same_days() {
        let dates: Vec<Date> = (0..91).map(|i| date!(2024 - 01 - 01) + Duration::days(i)).collect();
        let (facts, rows): (Facts, Vec<usize>) = (Facts::new(dates), (0..90).collect());
        // Both sell more on the same days; on the others one of them sells nothing.
        let ingredient = |usual: f64, more: f64| {
            let series: Vec<f64> = rows.iter().map(|i| usual + more * f64::from((SOLD >> i) & 1 == 1)).collect();
            let forecast = Forecast::fit(&series, &facts, &rows, Combined::Sum, 0.0);
            Scaled { expected: forecast.centre, observed: forecast.centre, forecast }
        };
        let scaled = [ingredient(0.0, 10.0), ingredient(1000.0, 100.0)];
        assert!(scaled[0].forecast.errors.len() > scaled[1].forecast.errors.len());
        // Each would have 9 of its own if they had nothing to do with each other.
        let isolated = isolation(&scaled, &[3.0, 3.0]);
        assert!(isolated.iter().all(|surprise| *surprise < 4.0), "{isolated:?}");
    }
}
