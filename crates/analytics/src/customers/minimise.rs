//! Minimisation of a smooth function of a few variables (BFGS with a backtracking line search).
//!
//! The customer likelihoods have three or four parameters and analytic gradients, so quasi-Newton
//! steps need some tens of evaluations where a simplex search needs hundreds. Nocedal & Wright,
//! *Numerical Optimization*, algorithm 6.1 with Armijo backtracking (3.1).

/// A point with its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Minimum<const N: usize> {
    pub at: [f64; N],
    pub value: f64,
    /// False when the step limit was reached or no descent was found away from a flat gradient.
    pub converged: bool,
}

const MAX_STEPS: usize = 200;
/// Largest gradient component that counts as flat.
const FLAT: f64 = 1e-7;
/// Longest move of one variable in one step. The variables are logarithms: e² at a time is plenty.
const MAX_MOVE: f64 = 2.0;
const SHRINK: f64 = 0.5;
const ARMIJO: f64 = 1e-4;
const MAX_BACKTRACKS: usize = 40;

/// Follows `value_and_gradient` downhill from `start`. Non-finite values count as uphill, so the
/// result is never worse than the start.
pub(crate) fn minimise<const N: usize>(
    start: [f64; N],
    mut value_and_gradient: impl FnMut(&[f64; N]) -> (f64, [f64; N]),
) -> Minimum<N> {
    let mut at = start;
    let (mut value, mut gradient) = value_and_gradient(&at);
    let mut inverse_hessian = identity::<N>();
    for _ in 0..MAX_STEPS {
        if is_flat(&gradient) {
            return Minimum { at, value, converged: true };
        }
        let mut direction = times(&inverse_hessian, &gradient).map(|d| -d);
        if dot(&direction, &gradient) >= 0.0 || !direction.iter().all(|d| d.is_finite()) {
            inverse_hessian = identity();
            direction = gradient.map(|g| -g);
        }
        let Some(next) = backtrack(&at, value, &gradient, &direction, &mut value_and_gradient) else {
            // Rounding hides any further descent: good enough when the gradient is nearly flat.
            let converged = gradient.iter().all(|g| g.abs() < FLAT * 1e3);
            return Minimum { at, value, converged };
        };
        let step = zip(&next.at, &at, |new, old| new - old);
        let change = zip(&next.gradient, &gradient, |new, old| new - old);
        update(&mut inverse_hessian, &step, &change);
        (at, value, gradient) = (next.at, next.value, next.gradient);
    }
    Minimum { at, value, converged: is_flat(&gradient) }
}

struct Point<const N: usize> {
    at: [f64; N],
    value: f64,
    gradient: [f64; N],
}

/// The first point along `direction`, halving the step, that descends enough.
fn backtrack<const N: usize>(
    at: &[f64; N],
    value: f64,
    gradient: &[f64; N],
    direction: &[f64; N],
    value_and_gradient: &mut impl FnMut(&[f64; N]) -> (f64, [f64; N]),
) -> Option<Point<N>> {
    let longest = direction.iter().fold(0.0_f64, |m, d| m.max(d.abs()));
    let mut length = if longest > MAX_MOVE { MAX_MOVE / longest } else { 1.0 };
    let slope = dot(direction, gradient);
    for _ in 0..MAX_BACKTRACKS {
        let candidate = zip(at, direction, |x, d| x + length * d);
        let (new_value, new_gradient) = value_and_gradient(&candidate);
        if new_value.is_finite()
            && new_value < value + ARMIJO * length * slope
            && new_gradient.iter().all(|g| g.is_finite())
        {
            return Some(Point { at: candidate, value: new_value, gradient: new_gradient });
        }
        length *= SHRINK;
    }
    None
}

/// BFGS update of the inverse Hessian; skipped when the curvature along the step is not positive.
fn update<const N: usize>(inverse: &mut [[f64; N]; N], step: &[f64; N], change: &[f64; N]) {
    let curvature = dot(step, change);
    if curvature <= 1e-14 {
        return;
    }
    let projected = times(inverse, change);
    let scale = (1.0 + dot(change, &projected) / curvature) / curvature;
    for ((row, s_i), p_i) in inverse.iter_mut().zip(step).zip(&projected) {
        for ((cell, s_j), p_j) in row.iter_mut().zip(step).zip(&projected) {
            *cell += scale * s_i * s_j - (s_i * p_j + p_i * s_j) / curvature;
        }
    }
}

fn is_flat<const N: usize>(gradient: &[f64; N]) -> bool {
    gradient.iter().all(|g| g.abs() < FLAT)
}

fn identity<const N: usize>() -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }))
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn times<const N: usize>(matrix: &[[f64; N]; N], vector: &[f64; N]) -> [f64; N] {
    matrix.map(|row| dot(&row, vector))
}

fn zip<const N: usize>(a: &[f64; N], b: &[f64; N], f: impl Fn(f64, f64) -> f64) -> [f64; N] {
    let mut out = *a;
    for (x, y) in out.iter_mut().zip(b) {
        *x = f(*x, *y);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_floor_of_a_curved_valley() {
        // Rosenbrock's function: minimum 0 at (1, 1).
        let found = minimise([-1.2, 1.0], |[x, y]| {
            let (u, v) = (1.0 - x, y - x * x);
            (u * u + 100.0 * v * v, [-2.0 * u - 400.0 * x * v, 200.0 * v])
        });
        assert!(found.converged);
        assert!(found.at.iter().all(|x| (x - 1.0).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn stays_where_it_is_when_everything_around_is_undefined() {
        let found = minimise([1.0], |_| (f64::NAN, [1.0]));
        assert!(!found.converged);
        assert_eq!(found.at, [1.0]);
    }
}
