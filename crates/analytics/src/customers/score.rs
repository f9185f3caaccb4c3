//! All customers of an account in one pass.

use serde::Serialize;
use time::{Date, Duration};

use super::rfm::{Activity, Placement, Scores, Segment};
use super::{Clock, ENOUGH_CUSTOMERS, Fit, Insufficient, backtest, bgnbd, churn, gamma_gamma, ltv, rfm};
use crate::YEAR;

/// What is known of one customer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct History {
    /// Orders placed, cancelled later or not; 0 makes a prospect.
    pub orders: u32,
    /// Different days with an order; held within 1 and `orders` for a customer with orders.
    pub purchase_days: u32,
    /// Days of the first and the last order, in the account's time zone. `None` makes a prospect.
    /// Days after the day of scoring count as that day.
    pub active: Option<(Date, Date)>,
    /// Money spent in all orders.
    pub spend: f64,
}

/// What a caller may choose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Discount rate per year, 0.1 = 10 %.
    pub annual_rate: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { annual_rate: ltv::ANNUAL_RATE }
    }
}

/// The figures of one customer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CustomerScore {
    pub segment: Segment,
    /// `None` for a prospect.
    pub scores: Option<Scores>,
    /// Present value of the purchases of the next 52 weeks; 0 for a prospect.
    pub ltv_estimate: f64,
    /// Probability of no purchase in the next 90 days; `None` for a prospect.
    pub churn_score: Option<f64>,
    /// Purchases expected in the next 90 days; 0 for a prospect.
    pub expected_purchases: f64,
}

/// What an account's past tells of its models.
#[derive(Debug, Clone, Default)]
pub struct Past<'a> {
    /// The shop's year.
    pub clock: Clock,
    /// The same customers, in the same order, as they were at the end of an earlier day.
    pub earlier: Option<(&'a [History], Date)>,
}

/// Days from the first purchase of all within which a customer counts as established: who was seen first then mostly bought
/// before the data begins.
pub(super) const ESTABLISHED_DAYS: i64 = 90;
/// Of those first seen within [`ESTABLISHED_DAYS`]: the mean day of who came again, in parts of that of who did not, from
/// which a shop opened with its data. In a shop that did not it is .71 to .84, in two cohorts of newcomers .98 to 1.00 (see
/// `docs/methods/customers.md`).
const OPENED: f64 = 0.9;
/// Quantile of the customers' mean purchases that a single purchase counts as at most.
const LARGEST_SINGLE: f64 = 0.975;

/// The models of an account.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// The purchase model, or why there is none (then there are only prospects).
    pub purchases: Result<Fit<bgnbd::Params>, Insufficient>,
    /// The model of values, or why there is none (then every `ltv_estimate` is 0).
    pub values: Result<Fit<gamma_gamma::Params>, Insufficient>,
    /// The day at whose end they were fitted.
    pub as_of: Date,
    clock: Clock,
    /// The first purchase of all; none without any.
    first: Option<Date>,
    /// The purchase models of the established and of those who came since; none where either are too few.
    by_arrival: Option<[bgnbd::Params; 2]>,
    /// The largest value of a single purchase.
    largest_single: f64,
    /// By number of purchases: how many came for each that was expected, of all customers' model and of those by arrival.
    corrections: backtest::Corrections,
    value_corrections: backtest::Corrections,
    /// By number of purchases: what they were worth for each unit of money that the model of values says.
    worth: backtest::Corrections,
}

impl Models {
    /// Fits both to the customers as they were at the end of a day, and corrects them by what they would have said at the
    /// end of the earlier one, if that is 45 days after the first purchase of all: values the whole way from 90 days after
    /// it and half a year ago on, half-way before that unless the shop has just opened. Such a shop has no year of its own
    /// before its opening is a year past. Time grows with the number of customers.
    #[must_use]
    pub fn fit(histories: &[History], as_of: Date, past: &Past<'_>) -> Self {
        let has_opened = has_opened(histories, as_of);
        let clock = if has_opened { Clock::default() } else { past.clock.clone() };
        let mut models = Self::uncorrected(histories, as_of, clock.clone());
        let is_tried =
            |day: Date| day < as_of && models.first.is_some_and(|first| backtest::is_long_enough(first, day));
        if let Some((earlier, day)) = past.earlier.filter(|(_, day)| is_tried(*day)) {
            let [all, by_arrival] = Self::of_purchases(earlier, day, clock).against(earlier, histories, as_of);
            models.corrections = backtest::Corrections::of(&all);
            let is_half_a_year = day <= backtest::back_test_day(None, as_of)
                && models.established_until().is_some_and(|until| day >= until);
            if is_half_a_year {
                models.value_corrections = backtest::Corrections::of(&by_arrival).at_most_as_expected();
            } else if !has_opened {
                models.value_corrections = backtest::Corrections::of(&by_arrival).half_way();
            }
        }
        models
    }

    fn uncorrected(histories: &[History], as_of: Date, clock: Clock) -> Self {
        let mut models = Self::of_purchases(histories, as_of, clock);
        let spends: Vec<_> = histories.iter().filter_map(|h| models.buyer(h, as_of)).map(|buyer| buyer.spend).collect();
        models.values = gamma_gamma::fit(&spends);
        if let Ok(values) = &models.values {
            models.worth = backtest::Corrections::of(&worth_so_far(&spends, &values.params));
        }
        models
    }

    /// Without a model of values.
    fn of_purchases(histories: &[History], as_of: Date, clock: Clock) -> Self {
        let largest_single = largest_single(histories);
        let buyer = |h: &History| Buyer::of(h, as_of, as_of, &clock, largest_single);
        let buyers: Vec<Buyer> = histories.iter().filter_map(buyer).collect();
        let summaries: Vec<_> = buyers.iter().map(|b| b.summary).collect();
        let mut models = Self {
            purchases: bgnbd::fit(&summaries),
            values: Err(Insufficient::NoSpend),
            as_of,
            clock,
            first: buyers.iter().map(|buyer| buyer.first).min(),
            by_arrival: None,
            largest_single,
            corrections: backtest::Corrections::default(),
            value_corrections: backtest::Corrections::default(),
            worth: backtest::Corrections::default(),
        };
        models.by_arrival = models.established_until().and_then(|until| by_arrival(&buyers, until));
        models
    }

    /// Until when customers who are first seen count as established; none without any.
    fn established_until(&self) -> Option<Date> {
        self.first.map(|first| first.saturating_add(Duration::days(ESTABLISHED_DAYS)))
    }

    /// What each customer was expected to buy until `until`, by all customers' model and by those by arrival, beside what
    /// they did.
    fn against(&self, earlier: &[History], later: &[History], until: Date) -> [Vec<backtest::Outcome>; 2] {
        let Ok(fit) = &self.purchases else { return [Vec::new(), Vec::new()] };
        let weeks = self.clock.weeks(self.as_of, until);
        let outcomes = earlier.iter().zip(later).filter_map(|(before, after)| {
            let buyer = self.buyer(before, self.as_of)?;
            let outcome = |params: &bgnbd::Params| backtest::Outcome {
                repeats: buyer.summary.frequency(),
                expected: params.expected_purchases(&buyer.summary, weeks),
                came: f64::from(after.purchase_days.saturating_sub(before.purchase_days)),
            };
            Some((outcome(&fit.params), outcome(self.arrival_params(&buyer, &fit.params))))
        });
        let (all, by_arrival) = outcomes.unzip();
        [all, by_arrival]
    }

    fn buyer(&self, history: &History, as_of: Date) -> Option<Buyer> {
        Buyer::of(history, self.as_of, as_of, &self.clock, self.largest_single)
    }

    fn arrival_params<'a>(&'a self, buyer: &Buyer, all: &'a bgnbd::Params) -> &'a bgnbd::Params {
        match &self.by_arrival {
            Some([established, _]) if self.established_until().is_some_and(|until| buyer.first <= until) => established,
            Some([_, newcomers]) => newcomers,
            None => all,
        }
    }

    /// Scores everybody, in the order given. Segments are as of the end of `as_of`, no earlier than the models; the
    /// estimates of a customer are as of the models or, if that is later, the customer's last order: until there is news,
    /// of the customer or of the models, they stay what they are.
    ///
    /// Time grows with the number of customers: n log n to rank them, linear for the rest.
    #[must_use]
    pub fn score(&self, histories: &[History], as_of: Date, options: &Options) -> Vec<CustomerScore> {
        let buyers: Vec<Option<Buyer>> = histories.iter().map(|h| self.buyer(h, as_of)).collect();
        let activities: Vec<_> = buyers.iter().map(Buyer::activity).collect();
        let placed = rfm::place(&activities).into_iter().zip(&buyers);
        placed.map(|(place, buyer)| self.score_one(place, buyer.as_ref(), options)).collect()
    }

    fn score_one(&self, place: Placement, buyer: Option<&Buyer>, options: &Options) -> CustomerScore {
        let mut figures = CustomerScore {
            segment: place.segment,
            scores: place.scores,
            ltv_estimate: 0.0,
            churn_score: None,
            expected_purchases: 0.0,
        };
        let (Some(buyer), Ok(model)) = (buyer, &self.purchases) else { return figures };
        let as_of = buyer.last.max(self.as_of);
        let ahead = self.clock.weeks(as_of, as_of.saturating_add(Duration::days(churn::HORIZON_DAYS.into())));
        let expected = model.params.expected_purchases(&buyer.summary, ahead)
            * self.corrections.of_repeats(buyer.summary.frequency());
        figures.expected_purchases = expected;
        figures.churn_score = Some(churn::probability(expected, model.params.shape(&buyer.summary)));
        // Who has bought nothing on balance is expected to bring nothing.
        if let Some(values) = self.values.as_ref().ok().filter(|_| buyer.activity.spend > 0.0) {
            let repeats = buyer.summary.frequency();
            let value = values.params.expected_value(&buyer.spend)
                * self.worth.of_repeats(repeats)
                * self.value_corrections.of_repeats(repeats);
            let params = self.arrival_params(buyer, &model.params);
            let year = self.clock.weeks(as_of, as_of.saturating_add(Duration::weeks(ltv::HORIZON_WEEKS as i64)));
            figures.ltv_estimate = ltv::estimate(params, &buyer.summary, value, year, options.annual_rate);
        }
        figures
    }
}

/// Whether a shop opened with its data, less than a year after its first [`ESTABLISHED_DAYS`]. In one that was there before,
/// its best customers are seen first: who is seen in those days and comes again is seen sooner than who does not. In one that
/// opened then they arrive like the others, and what its first days show is neither a season nor a level. Unknown, and taken
/// as no, with fewer than [`ENOUGH_CUSTOMERS`] of either.
fn has_opened(histories: &[History], as_of: Date) -> bool {
    let plain = Clock::default();
    let buyer = |history: &History| Buyer::of(history, as_of, as_of, &plain, f64::INFINITY);
    let buyers: Vec<Buyer> = histories.iter().filter_map(buyer).collect();
    let Some(opening) = buyers.iter().map(|buyer| buyer.first).min() else { return false };
    if (as_of - opening).whole_days() >= ESTABLISHED_DAYS + YEAR as i64 {
        return false;
    }
    let mean_day = |again: bool| {
        let of = buyers.iter().filter(|buyer| (buyer.summary.frequency() > 0) == again);
        let days = of.map(|buyer| (buyer.first - opening).whole_days()).filter(|day| *day <= ESTABLISHED_DAYS);
        let days: Vec<f64> = days.map(|day| day as f64).collect();
        (days.len() >= ENOUGH_CUSTOMERS).then(|| days.iter().sum::<f64>() / days.len() as f64)
    };
    mean_day(true).zip(mean_day(false)).is_some_and(|(again, once)| again >= OPENED * once)
}

/// The models of those first seen up to a day and of those who came since.
fn by_arrival(buyers: &[Buyer], established_until: Date) -> Option<[bgnbd::Params; 2]> {
    let fit = |established: bool| {
        let of = |buyer: &&Buyer| (buyer.first <= established_until) == established;
        let summaries: Vec<_> = buyers.iter().filter(of).map(|buyer| buyer.summary).collect();
        bgnbd::fit(&summaries).ok().filter(|fit| fit.informative >= ENOUGH_CUSTOMERS).map(|fit| fit.params)
    };
    Some([fit(true)?, fit(false)?])
}

/// What the purchases of each customer were worth so far, beside what the model of values says of them; both in purchases of
/// the mean value. The model takes value and frequency as independent; who buys often also buys more each time. It is fitted
/// to positive values alone; who gave everything back shows how many purchases to come will bring nothing.
fn worth_so_far(spends: &[gamma_gamma::Spend], params: &gamma_gamma::Params) -> Vec<backtest::Outcome> {
    let mean = params.population_mean();
    let outcome = |spend: &gamma_gamma::Spend| {
        let purchases = f64::from(spend.purchases) / mean;
        backtest::Outcome {
            repeats: spend.purchases.saturating_sub(1),
            expected: purchases * params.expected_value(spend),
            came: purchases * spend.mean.max(0.0),
        }
    };
    spends.iter().filter(|spend| spend.mean.is_finite()).map(outcome).collect()
}

fn largest_single(histories: &[History]) -> f64 {
    let mut means: Vec<f64> = histories
        .iter()
        .map(|history| history.spend / f64::from(history.purchase_days.clamp(1, history.orders.max(1))))
        .filter(|mean| mean.is_finite() && *mean > 0.0)
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    means.get((means.len() as f64 * LARGEST_SINGLE) as usize).copied().unwrap_or(f64::INFINITY)
}

/// A customer with orders, in the terms of the models.
struct Buyer {
    first: Date,
    last: Date,
    summary: bgnbd::Summary,
    spend: gamma_gamma::Spend,
    activity: Activity,
}

impl Buyer {
    /// A customer as of the end of a day, seen by models as of the last order or `models`, whichever is later.
    fn of(history: &History, models: Date, as_of: Date, clock: &Clock, largest_single: f64) -> Option<Self> {
        let (first, last) = history.active.filter(|_| history.orders > 0)?;
        let first = first.min(last).min(as_of);
        let last = last.max(first).min(as_of);
        let purchases = history.purchase_days.clamp(1, history.orders);
        let summary =
            bgnbd::Summary::new(purchases - 1, clock.weeks(first, last), clock.weeks(first, last.max(models)));
        // One large purchase is no custom of large purchases; several are.
        let mean = (history.spend / f64::from(purchases)).min(largest_single * f64::from(purchases));
        let days_since_last = u32::try_from((as_of - last).whole_days()).unwrap_or(0);
        Some(Self {
            first,
            last,
            summary,
            spend: gamma_gamma::Spend { purchases, mean },
            activity: Activity { orders: history.orders, days_since_last, spend: history.spend },
        })
    }

    fn activity(buyer: &Option<Self>) -> Activity {
        let prospect = Activity { orders: 0, days_since_last: 0, spend: 0.0 };
        buyer.as_ref().map_or(prospect, |b| b.activity)
    }
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    const AS_OF: Date = date!(2026 - 03 - 01);

    /// Customers who first bought `first` days ago, for `value` each time.
    fn customers(count: usize, first: i64, purchases: u32, value: f64) -> Vec<History> {
        let active =
            Some((AS_OF - Duration::days(first), AS_OF - Duration::days(if purchases > 1 { 10 } else { first })));
        let spend = value * f64::from(purchases);
        vec![History { orders: purchases, purchase_days: purchases, active, spend }; count]
    }

    #[test]
    fn who_bought_once_is_worth_what_single_purchases_were_worth() {
        let value = |of_singles: f64| {
            let singles =
                (0..300).flat_map(|i| customers(1, 100 + i % 50, 1, of_singles * (0.5 + (i % 11) as f64 / 10.0)));
            let others = (0..300).flat_map(|i| customers(1, 150 + i % 50, 5, 100.0 * (0.5 + (i % 7) as f64 / 6.0)));
            let shop: Vec<History> = singles.chain(others).collect();
            let models = Models::fit(&shop, AS_OF, &Past::default());
            (models.worth.of_repeats(0), models.worth.of_repeats(4))
        };
        let ((cheap, _), (even, repeated)) = (value(50.0), value(100.0));
        assert!(cheap < 0.85 && (even - 1.0).abs() < 0.05, "{cheap} {even}");
        assert!((repeated - 1.0).abs() < 0.05, "five purchases speak for themselves: {repeated}");
    }

    #[test]
    fn purchases_that_were_given_back_lower_what_those_to_come_are_worth() {
        let worth = |refunded: bool| {
            let single = |i: i64| {
                let value = if refunded && i % 5 == 0 { 0.0 } else { 100.0 * (0.5 + (i % 11) as f64 / 10.0) };
                customers(1, 100 + i % 50, 1, value)
            };
            let shop: Vec<History> = (0..2_000).flat_map(single).collect();
            Models::fit(&shop, AS_OF, &Past::default()).worth.of_repeats(0)
        };
        // One in five of them.
        let (all, kept) = (worth(false), worth(true));
        assert!((all - 1.0).abs() < 0.05 && (kept - 0.8).abs() < 0.05, "{all} {kept}");
    }

    /// The corrections of returns and of values of a shop whose data began `known` days ago, tried out `tested` days ago;
    /// nobody has come since. Its customers were first seen within 60 days, those who came again `sooner` in these.
    fn corrected(known: i64, tested: i64, sooner: bool) -> [backtest::Corrections; 2] {
        let of = |i: i64| {
            let again = i % 4 > 0;
            let day = if again && sooner { i % 20 } else { i / 4 % 60 };
            customers(1, known - day, 1 + (i % 4) as u32, 20.0)
        };
        let now: Vec<History> = (0..480).flat_map(of).collect();
        let origin = AS_OF - Duration::days(tested);
        let before: Vec<History> = now
            .iter()
            .map(|h| History { active: h.active.map(|(first, last)| (first, last.min(origin))), ..*h })
            .collect();
        let models = Models::fit(&now, AS_OF, &Past { clock: Clock::default(), earlier: Some((&before, origin)) });
        [models.corrections, models.value_corrections]
    }

    #[test]
    fn a_young_shop_is_corrected_in_its_returns_and_half_way_in_its_values() {
        let none = backtest::Corrections::default();
        assert_eq!(corrected(80, 40, true), [none, none], "a fit needs 45 days");
        for known in [100, 200] {
            let [returns, values] = corrected(known, known / 2, true);
            for repeats in [0, 1, 3] {
                let (whole, half) = (returns.of_repeats(repeats), values.of_repeats(repeats));
                assert!(whole < 0.8 && (half * half - whole).abs() < 1e-9, "{half} of {whole}");
            }
        }
        let [returns, values] = corrected(300, 182, true);
        assert!(values == returns && values != none, "half a year shows a year: {values:?}");
    }

    #[test]
    fn the_values_of_a_shop_that_opened_with_its_data_wait_for_half_a_year() {
        let none = backtest::Corrections::default();
        let [returns, values] = corrected(200, 100, false);
        assert!(returns != none && values == none, "{returns:?} {values:?}");
        assert_ne!(corrected(300, 182, false)[1], none);
    }

    #[test]
    fn customers_of_an_opening_are_no_season_until_it_is_a_year_past() {
        // Three in four come again, those who are first seen in the first 20 days or, where the shop opened, any others.
        let shop = |known: i64, sooner: bool| -> Vec<History> {
            let day = |i: i64| if i % 4 > 0 && sooner { i % 20 } else { i / 4 % 80 };
            (0..640).flat_map(|i| customers(1, known - day(i), 1 + (i % 4) as u32, 20.0)).collect()
        };
        // All of them came in the first weeks, and few since.
        let clock = |known: i64| {
            let daily: Vec<f64> = (0..known).map(|day| if day < 90 { 40.0 } else { 5.0 }).collect();
            Clock::of(&daily, AS_OF)
        };
        let is_plain = |known: i64, sooner: bool| {
            let past = Past { clock: clock(known), earlier: None };
            Models::fit(&shop(known, sooner), AS_OF, &past).clock == Clock::default()
        };
        assert!(clock(380) != Clock::default());
        assert!(is_plain(340, false) && is_plain(380, false) && is_plain(453, false));
        assert!(!is_plain(380, true) && !is_plain(454, false));
        // Of too few nothing is told.
        let few: Vec<History> = shop(380, false).into_iter().step_by(8).collect();
        assert!(!has_opened(&few, AS_OF) && has_opened(&shop(380, false), AS_OF) && !has_opened(&[], AS_OF));
    }
}
