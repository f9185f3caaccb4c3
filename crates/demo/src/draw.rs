//! Random numbers that are the same on every machine and in every version.

/// What a sequence of numbers is for: every customer, day and campaign has its own.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Arrival = 1,
    Customer = 2,
    LeavingCustomer = 3,
    Popularity = 4,
    Supplier = 5,
    Campaign = 6,
    Visits = 7,
    Visitor = 8,
    Ad = 9,
    Trend = 10,
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), started by what it is for.
#[derive(Debug, Clone)]
pub(super) struct Draw(u64);

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Draw {
    pub(super) fn new(stream: Stream, number: u64) -> Self {
        Self::seeded(mix((stream as u64).wrapping_mul(GOLDEN)) ^ number)
    }

    pub(super) fn seeded(seed: u64) -> Self {
        Self(mix(seed.wrapping_add(GOLDEN)))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// 0 to `bound` − 1; 0 for a bound of 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or_default()
    }

    /// A place in a list of `len` things.
    pub(super) fn place(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or_default()
    }

    /// `first` to `last`, both included.
    pub(super) fn between(&mut self, first: i64, last: i64) -> i64 {
        let span = last.abs_diff(first) + 1;
        first.saturating_add_unsigned(self.below(span))
    }

    /// True this many times in a thousand.
    pub(super) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    pub(super) fn pick<T: Copy + Default>(&mut self, from: &[T]) -> T {
        let place = self.place(from.len());
        from.get(place).copied().unwrap_or_default()
    }

    /// Exponentially distributed with mean 1. `libm` gives the same digits everywhere, which `f64::ln` does not.
    pub(super) fn exponential(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        let unit = ((self.next() >> 11) + 1) as f64 * STEP;
        -libm::log(unit)
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation (xoshiro.di.unimi.it/splitmix64.c) from the state 1234567.
    #[test]
    fn numbers_are_those_of_the_reference() {
        let mut draw = Draw(1_234_567);
        let numbers = [draw.next(), draw.next(), draw.next()];
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        let mut draw = Draw::new(Stream::Customer, 7);
        let drawn: std::collections::BTreeSet<i64> = (0..1_000).map(|_| draw.between(-2, 3)).collect();
        assert_eq!(drawn, (-2..=3).collect());
    }

    #[test]
    fn exponential_draws_have_mean_one() {
        let mut draw = Draw::new(Stream::Customer, 8);
        let mean = (0..100_000).map(|_| draw.exponential()).sum::<f64>() / 100_000.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
    }
}
