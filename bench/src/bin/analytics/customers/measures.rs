//! Measures of probabilities and rankings.

/// Chance that an active customer has the higher score than an inactive one; ties count half.
pub fn auc(active: &[bool], score: &[f64]) -> f64 {
    let mut order: Vec<(f64, bool)> = score.iter().copied().zip(active.iter().copied()).collect();
    order.sort_by(|l, r| l.0.total_cmp(&r.0));
    let (mut below, mut wins) = (0.0, 0.0);
    for tied in order.chunk_by(|l, r| l.0 == r.0) {
        let positive = tied.iter().filter(|(_, a)| *a).count() as f64;
        let negative = tied.len() as f64 - positive;
        wins += positive * (below + negative / 2.0);
        below += negative;
    }
    wins / (below * (active.len() as f64 - below))
}

/// Mean squared error of a probability.
pub fn brier(active: &[bool], probability: &[f64]) -> f64 {
    mean(active.iter().zip(probability).map(|(a, p)| (f64::from(u8::from(*a)) - p).powi(2)))
}

/// Mean over ten equal groups by probability of |mean probability − share of active customers|.
pub fn calibration_error(active: &[bool], probability: &[f64]) -> f64 {
    let mut order: Vec<(f64, f64)> =
        probability.iter().copied().zip(active.iter().map(|a| f64::from(u8::from(*a)))).collect();
    order.sort_by(|l, r| l.0.total_cmp(&r.0));
    let group = |k: usize| {
        let edge = |k: usize| k * order.len() / 10;
        order.get(edge(k)..edge(k + 1)).unwrap_or_default()
    };
    let gap = |k: usize| mean(group(k).iter().map(|(p, a)| p - a)).abs();
    mean((0..10).map(gap))
}

/// Share of the actual total that the tenth with the highest prediction brought.
pub fn top_tenth_share(actual: &[f64], prediction: &[f64]) -> f64 {
    let mut order: Vec<(f64, f64)> = prediction.iter().copied().zip(actual.iter().copied()).collect();
    order.sort_by(|l, r| r.0.total_cmp(&l.0));
    order.iter().take(order.len() / 10).map(|(_, a)| a).sum::<f64>() / actual.iter().sum::<f64>()
}

pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), v| (count + 1, sum + v));
    sum / f64::from(count.max(1))
}

/// Four decimals, as figures are printed.
pub fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
