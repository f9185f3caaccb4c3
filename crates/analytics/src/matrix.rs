//! Small dense matrices as rows, for the handful of variables that a split has.

/// Correlation of standardised, centred variables of equal length, mixed with the identity:
/// (1 − `shrinkage`)·R + `shrinkage`·I, which is positive definite for a shrinkage above 0.
pub(crate) fn shrunk_correlation(variables: &[&[f64]], shrinkage: f64) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let norms: Vec<f64> = variables.iter().map(|v| dot(v, v).sqrt()).collect();
    let entry = |(i, a): (usize, &[f64]), (j, b): (usize, &[f64]), scale: f64| {
        if i == j {
            1.0
        } else if scale > 0.0 {
            (1.0 - shrinkage) * dot(a, b) / scale
        } else {
            0.0
        }
    };
    let numbered = || variables.iter().copied().enumerate().zip(&norms);
    numbered().map(|(a, na)| numbered().map(|(b, nb)| entry(a, b, na * nb)).collect()).collect()
}

/// Inverse of a symmetric positive definite matrix by Gauss–Jordan elimination (which needs no pivoting there); `None`
/// when the matrix is not.
pub(crate) fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let unit = |i: usize| (0..n).map(move |j| f64::from(u8::from(i == j)));
    let mut rows: Vec<Vec<f64>> =
        matrix.iter().enumerate().map(|(i, row)| row.iter().copied().chain(unit(i)).collect()).collect();
    for i in 0..n {
        let pivot = rows.get(i)?.get(i).copied().filter(|p| *p > 1e-12)?;
        let pivot_row: Vec<f64> = rows.get(i)?.iter().map(|x| x / pivot).collect();
        for (k, row) in rows.iter_mut().enumerate() {
            if k == i {
                row.clone_from(&pivot_row);
            } else {
                let factor = row.get(i).copied()?;
                row.iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= factor * p);
            }
        }
    }
    Some(rows.into_iter().map(|row| row.into_iter().skip(n).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverts_a_known_matrix() {
        let inverted = inverse(&[vec![2.0, 1.0], vec![1.0, 3.0]]).unwrap();
        let expected = [[0.6, -0.2], [-0.2, 0.4]];
        for (row, wanted) in inverted.iter().zip(expected) {
            for (x, y) in row.iter().zip(wanted) {
                assert!((x - y).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn refuses_a_singular_matrix() {
        assert_eq!(inverse(&[vec![1.0, 1.0], vec![1.0, 1.0]]), None);
    }

    #[test]
    fn correlation_is_shrunk_off_the_diagonal_only() {
        let (a, b) = ([1.0, -1.0, 2.0], [2.0, -2.0, 4.0]);
        let r = shrunk_correlation(&[&a, &b], 0.25);
        assert!((r[0][1] - 0.75).abs() < 1e-12 && (r[0][0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_variable_without_variation_correlates_with_nothing() {
        let r = shrunk_correlation(&[&[0.0, 0.0], &[1.0, -1.0]], 0.25);
        assert_eq!(r, [[1.0, 0.0], [0.0, 1.0]]);
    }
}
