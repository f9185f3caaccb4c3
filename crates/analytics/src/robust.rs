//! Robust statistics on plain slices. Every function takes finite numbers and answers with finite numbers.

/// Factor that turns the median absolute deviation of normal data into its standard deviation, 1/Φ⁻¹(3/4).
pub const MAD_TO_SIGMA: f64 = 1.4826;

/// Factor that turns the mean absolute deviation of normal data into its standard deviation, √(π/2).
pub const MEAN_ABS_TO_SIGMA: f64 = 1.2533;

/// Median of the values, the midpoint of the two middle ones when their number is even; `None` when there is none.
pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut values.to_vec())
}

/// [`median`] without the copy: reorders `values`.
pub fn median_in_place(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let even = values.len().is_multiple_of(2);
    let (lower, middle, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    let middle = *middle;
    if even {
        lower.iter().copied().max_by(f64::total_cmp).map(|below| f64::midpoint(below, middle))
    } else {
        Some(middle)
    }
}

/// Median of the absolute values: the median absolute deviation of residuals that are already centred on zero.
pub fn median_abs(residuals: &[f64]) -> Option<f64> {
    median_in_place(&mut residuals.iter().map(|r| r.abs()).collect::<Vec<_>>())
}

/// Median absolute deviation from the median.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    median_in_place(&mut values.iter().map(|v| (v - centre).abs()).collect::<Vec<_>>())
}

/// Arithmetic mean; `None` when there is no value.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Spread of residuals in units of a standard deviation: the larger of 1.4826·MAD and the root mean square after
/// clipping at four times that. The first forgives outliers, the second sees the heavy tails that the first is blind to.
/// When more than half of the residuals are zero the plain standard deviation takes the place of both.
pub fn spread(residuals: &[f64]) -> f64 {
    let core = MAD_TO_SIGMA * median_abs(residuals).unwrap_or(0.0);
    if core > 0.0 {
        let squares: Vec<f64> = residuals.iter().map(|r| r.clamp(-4.0 * core, 4.0 * core).powi(2)).collect();
        core.max(mean(&squares).unwrap_or(0.0).sqrt())
    } else {
        standard_deviation(residuals)
    }
}

/// Root mean square distance from the mean; 0 when there is no value.
pub fn standard_deviation(values: &[f64]) -> f64 {
    let centre = mean(values).unwrap_or(0.0);
    let squares: Vec<f64> = values.iter().map(|v| (v - centre).powi(2)).collect();
    mean(&squares).unwrap_or(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_even_and_nothing() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn mad_ignores_one_wild_value() {
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9e12]), Some(1.0));
    }

    #[test]
    fn spread_is_the_standard_deviation_when_most_residuals_are_zero() {
        let mut residuals = vec![0.0; 8];
        residuals.extend([5.0, -5.0]);
        assert!((spread(&residuals) - 5.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn spread_clips_what_lies_beyond_four_sigma() {
        // MAD 1 → core 1.4826; the outlier counts as 4·1.4826.
        let residuals = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, 1e9];
        let clipped = (4.0_f64 * 1.4826).powi(2);
        assert!((spread(&residuals) - ((7.0 + clipped) / 8.0).sqrt()).abs() < 1e-9);
    }
}
