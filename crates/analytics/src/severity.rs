//! How much an anomaly matters: surprise and size, both.

use serde::{Deserialize, Serialize};

/// Scale shared by anomalies, insights and alerts, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// |z| below which a value is not an anomaly at all.
pub const ALARM_Z: f64 = 3.5;
/// Days of history below which no anomaly is more than [`Severity::Medium`].
pub const FULL_TRUST_DAYS: usize = 28;

/// |z| from which a deviation is surprising enough for medium, high and critical.
const Z_STEPS: [f64; 3] = [ALARM_Z, 5.0, 8.0];
/// Relative change from which a deviation is large enough for medium, high and critical.
const CHANGE_STEPS: [f64; 3] = [0.10, 0.20, 0.30];

/// Severity of a deviation, `None` below |z| = 3.5.
///
/// The lower of two grades: |z| at 3.5, 5 and 8, and the relative change at 10, 20 and 30 %, each opening medium, high
/// and critical. A deviation that is surprising but smaller than 10 % is therefore `Low`: real, and not worth a call.
/// `relative_change` is a fraction (−0.25 = a quarter less); `history_days` under 28 cap the answer at medium.
pub fn severity(z_score: f64, relative_change: f64, history_days: usize) -> Option<Severity> {
    if z_score.is_nan() || z_score.abs() < ALARM_Z {
        return None;
    }
    let grade = grade(z_score.abs(), &Z_STEPS).min(grade(relative_change.abs(), &CHANGE_STEPS));
    let cap = if history_days < FULL_TRUST_DAYS { Severity::Medium } else { Severity::Critical };
    Some(grade.min(cap))
}

fn grade(size: f64, steps: &[f64; 3]) -> Severity {
    match steps.iter().filter(|step| size >= **step).count() {
        0 => Severity::Low,
        1 => Severity::Medium,
        2 => Severity::High,
        _ => Severity::Critical,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(3.49, 0.9, 90, None)]
    #[case(f64::NAN, 0.9, 90, None)]
    #[case(3.5, 0.09, 90, Some(Severity::Low))]
    #[case(12.0, -0.05, 90, Some(Severity::Low))]
    #[case(3.5, 0.10, 90, Some(Severity::Medium))]
    #[case(-4.9, -0.8, 90, Some(Severity::Medium))]
    #[case(5.0, 0.20, 90, Some(Severity::High))]
    #[case(9.0, 0.29, 90, Some(Severity::High))]
    #[case(-8.0, -0.30, 90, Some(Severity::Critical))]
    #[case(-8.0, -0.30, 28, Some(Severity::Critical))]
    #[case(-8.0, -0.30, 27, Some(Severity::Medium))]
    fn takes_the_lower_grade(
        #[case] z: f64,
        #[case] change: f64,
        #[case] days: usize,
        #[case] expected: Option<Severity>,
    ) {
        assert_eq!(severity(z, change, days), expected);
    }
}
