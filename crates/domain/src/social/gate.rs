//! When the bot has earned to answer by itself.

/// Judgements that are looked at, and that there must be.
pub const GATE_JUDGED: i64 = 100;
/// Decisions among them that may have been wrong. With 1 of 100 the upper end of the 95 % interval is 5.4 %.
pub const GATE_WRONG: i64 = 1;

/// What people said about the bot's decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gate {
    /// Proposals of the bot that a person judged: right ones that were made in mode `dry_run`, approved or sent, and all wrong
    /// ones.
    pub judged: i64,
    /// Those judged wrong, among the latest [`GATE_JUDGED`].
    pub wrong: i64,
}

impl Gate {
    /// Whether the bot may answer by itself.
    pub const fn is_ready(self) -> bool {
        self.judged >= GATE_JUDGED && self.wrong <= GATE_WRONG
    }

    /// Judgements that are missing.
    pub fn needed(self) -> i64 {
        (GATE_JUDGED - self.judged).max(0)
    }

    /// How many of the latest decisions the errors are counted in.
    pub fn looked_at(self) -> i64 {
        self.judged.min(GATE_JUDGED)
    }

    /// The share of errors that cannot be ruled out: the upper end of the 95 % interval. 1 without a judgement.
    pub fn upper_bound(self) -> f64 {
        wilson_interval(self.wrong, self.looked_at()).1
    }
}

/// The 95 % interval of a share (Wilson 1927, "Probable inference, the law of succession, and statistical inference").
pub fn wilson_interval(hits: i64, of: i64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let count = |number: i64| u32::try_from(number).map_or(0.0, f64::from);
    let (hits, of) = (count(hits), count(of));
    if of <= 0.0 {
        return (0.0, 1.0);
    }
    let (share, square) = (hits / of, Z * Z);
    let middle = share + square / (2.0 * of);
    let spread = Z * (share * (1.0 - share) / of + square / (4.0 * of * of)).sqrt();
    let scale = 1.0 + square / of;
    (((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(100, 0, true)]
    #[case(100, 1, true)]
    #[case(5_000, 1, true)]
    #[case(100, 2, false)]
    #[case(99, 0, false)]
    #[case(0, 0, false)]
    fn the_gate_opens_after_100_judgements_with_one_error(
        #[case] judged: i64,
        #[case] wrong: i64,
        #[case] ready: bool,
    ) {
        assert_eq!(Gate { judged, wrong }.is_ready(), ready);
        assert!(!ready || Gate { judged, wrong }.needed() == 0);
    }

    #[rstest]
    #[case(0, 100)]
    #[case(99, 1)]
    #[case(5_000, 0)]
    fn what_is_missing_is_counted(#[case] judged: i64, #[case] needed: i64) {
        assert_eq!(Gate { judged, wrong: 0 }.needed(), needed);
    }

    /// Published values: 1 of 100 is [0.0018, 0.0545], 0 of 50 is [0, 0.0713].
    #[rstest]
    #[case(1, 100, 0.0018, 0.0545)]
    #[case(0, 50, 0.0, 0.0713)]
    #[case(50, 50, 0.9287, 1.0)]
    #[case(0, 0, 0.0, 1.0)]
    fn intervals_are_wilsons(#[case] hits: i64, #[case] of: i64, #[case] low: f64, #[case] high: f64) {
        let found = wilson_interval(hits, of);
        assert!((found.0 - low).abs() < 6e-5 && (found.1 - high).abs() < 6e-5, "{found:?}");
    }
}
