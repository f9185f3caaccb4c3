//! What keeps an estimate of logarithms near what is known and inside what is possible.

/// Independent normal distributions of the logarithms of parameters.
pub(super) struct Prior<const N: usize> {
    /// Standard deviations.
    pub spread: [f64; N],
}

impl<const N: usize> Prior<N> {
    /// Adds minus the log-density around `centre` (without its constant) and its gradient.
    pub fn add(&self, centre: &[f64; N], at: &[f64; N], value: &mut f64, gradient: &mut [f64; N]) {
        for (((x, c), spread), g) in at.iter().zip(centre).zip(&self.spread).zip(gradient) {
            let standard = (x - c) / spread;
            *value += 0.5 * standard * standard;
            *g += standard / spread;
        }
    }
}

/// Adds a parabola outside of the bounds, so that a search along an endless slope comes to rest.
pub(super) fn wall<const N: usize>(bounds: &(f64, f64), at: &[f64; N], value: &mut f64, gradient: &mut [f64; N]) {
    for (x, g) in at.iter().zip(gradient) {
        let outside = x - x.clamp(bounds.0, bounds.1);
        *value += 0.5 * outside * outside;
        *g += outside;
    }
}
