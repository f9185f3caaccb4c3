//! More of something than chance explains: counts against their own past, gamma-Poisson.

use crate::negbin::NegBin;

use super::{LASTING, Spread};

/// A count beyond this quantile is a spike.
const SPIKE_PROBABILITY: f64 = 0.99;

/// How often something happened among so many trials, such as refunds among orders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counts {
    pub events: f64,
    pub trials: f64,
}

/// A count that is higher than its past explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spike {
    /// Events that were to be expected, by the rate of the past.
    pub usual: f64,
    /// Events that 99 of 100 such counts do not exceed.
    pub limit: u64,
    /// Events per period beyond the usual ones, from now on.
    pub excess: Spread,
}

/// Whether `now` is a spike against the periods `before` it, each as long as the present one. None when it is not, or when
/// there is no past to compare with. A present without trials, whose events are of earlier ones, is held against the mean period.
///
/// The rate of events per trial is gamma-distributed over the periods, with the mean and the variance that they had; a
/// period's count is Poisson around its rate. What remains of a spike is the posterior of the rate given the count, of which
/// [`LASTING`] is seen again.
#[must_use]
pub fn spike(before: &[Counts], now: Counts) -> Option<Spike> {
    let events: f64 = before.iter().map(|counts| counts.events).sum();
    let trials: f64 = before.iter().map(|counts| counts.trials).sum();
    if trials <= 0.0 {
        return None;
    }
    // Half an event more than were seen, so that a past without any does not make the first one a spike.
    let rate = (events + 0.5) / trials;
    let usual = rate * if now.trials > 0.0 { now.trials } else { trials / before.len() as f64 };
    let shape = shape(before, rate);
    let limit = NegBin::from_moments(usual, usual + usual * usual / shape)?.quantile(SPIKE_PROBABILITY);
    if now.events <= limit as f64 {
        return None;
    }
    // Gamma prior of the period's mean count: shape, and shape / usual for its rate.
    let posterior = (shape + now.events) / (shape / usual + 1.0);
    let deviation = (shape + now.events).sqrt() / (shape / usual + 1.0);
    let lasting = LASTING * (posterior - usual).max(0.0);
    Some(Spike { usual, limit, excess: Spread::normal(lasting, deviation * deviation) })
}

/// Shape of the gamma distribution of the rate: how alike the periods are beyond chance, by their moments.
fn shape(before: &[Counts], rate: f64) -> f64 {
    let (mut squares, mut by_chance, mut means) = (0.0, 0.0, 0.0);
    for counts in before {
        let mean = rate * counts.trials;
        squares += (counts.events - mean) * (counts.events - mean);
        by_chance += mean;
        means += mean * mean;
    }
    let beyond = squares - by_chance;
    if beyond > 0.0 { (means / beyond).clamp(0.5, 1e6) } else { 1e6 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn weeks(refunds: &[f64]) -> Vec<Counts> {
        refunds.iter().map(|&events| Counts { events, trials: 200.0 }).collect()
    }

    const EVEN: [f64; 8] = [9.0, 11.0, 10.0, 8.0, 12.0, 10.0, 9.0, 11.0];

    #[test]
    fn an_even_past_makes_a_doubled_count_a_spike() {
        let found = spike(&weeks(&EVEN), Counts { events: 24.0, trials: 200.0 }).unwrap();
        // 80.5 of 1,600 orders; the 99 % quantile of a Poisson count of 10.06 is 18.
        assert!((found.usual - 10.0625).abs() < 1e-9 && found.limit == 18, "{found:?}");
        assert!(spike(&weeks(&EVEN), Counts { events: 18.0, trials: 200.0 }).is_none(), "by chance");
        assert!(spike(&weeks(&EVEN), Counts { events: 24.0, trials: 480.0 }).is_none(), "more orders as well");
    }

    #[test]
    fn a_past_with_weeks_like_it_does_not() {
        let uneven = weeks(&[2.0, 25.0, 4.0, 22.0, 3.0, 1.0, 20.0, 3.0]);
        assert!(spike(&uneven, Counts { events: 24.0, trials: 200.0 }).is_none());
    }

    #[test]
    fn a_week_without_an_order_is_held_against_a_usual_one() {
        let found = |events: f64| spike(&weeks(&EVEN), Counts { events, trials: 0.0 });
        let Spike { usual, limit, excess } = found(60.0).unwrap();
        assert!((usual - 10.0625).abs() < 1e-9 && limit == 18 && excess.expected > 0.0, "{usual} {limit} {excess:?}");
        assert_eq!(found(18.0), None, "by chance");
    }

    #[test]
    fn nothing_is_said_without_a_past_or_a_first_refund() {
        assert_eq!(spike(&[], Counts { events: 9.0, trials: 100.0 }), None);
        assert_eq!(spike(&[Counts { events: 2.0, trials: 0.0 }; 8], Counts { events: 9.0, trials: 0.0 }), None);
        assert_eq!(spike(&weeks(&[0.0; 8]), Counts { events: 1.0, trials: 200.0 }), None);
    }

    proptest! {
        #[test]
        fn the_excess_is_in_order(
            past in prop::collection::vec(0.0f64..60.0, 1..9), events in 0.0f64..500.0, trials in 0.0f64..900.0,
        ) {
            if let Some(Spike { usual, limit, excess }) = spike(&weeks(&past), Counts { events, trials }) {
                prop_assert!(events > limit as f64 && usual > 0.0);
                prop_assert!(0.0 <= excess.low && excess.low <= excess.expected && excess.expected <= excess.high);
            }
        }
    }
}
