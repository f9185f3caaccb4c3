#![expect(clippy::excessive_precision, reason = "as they were computed elsewhere, to more digits than are compared")]

use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-12 * right.abs().max(1.0)
}

/// Values by mpmath with 30 digits, once by the closed form and once as the integral of the likelihood over the prior; the
/// first is the comparison of 41 purchases with 120 of seven others, whose orders have a squared coefficient of variation of .64.
#[rstest]
#[case(0.921_596_630_664_336_47, 0.053_666_666_666_666_667, 4.562_678_872_492_460_46)]
#[case(0.5, 0.01, 10.478_506_793_026_109_76)]
#[case(0.05, 0.2, -0.091_892_000_030_902_34)]
#[case(-0.3, 0.02, -1.739_848_561_801_314_27)]
#[case(3.0, 0.5, 1.552_340_799_849_878_77)]
#[case(0.0, 1.0, -0.030_312_310_908_217_47)]
fn the_evidence_is_the_mixture_of_likelihood_ratios(#[case] d: f64, #[case] v: f64, #[case] expected: f64) {
    assert!(close(Contrast { d, v }.ln_evidence(TAU), expected), "{}", Contrast { d, v }.ln_evidence(TAU));
}

#[test]
fn a_lift_is_shrunk_and_has_an_interval() {
    let stratum = Stratum {
        own: Outcome { exposure: 100.0, amount: 2.5133 * 410.0, events: 41.0 },
        others: Outcome { exposure: 300.0, amount: 3.0 * 410.0, events: 120.0 },
    };
    let contrast = Contrast::of([stratum], 0.64).unwrap();
    assert!(close(contrast.v, 1.64 * (1.0 / 41.0 + 1.0 / 120.0)), "one stratum is a plain comparison");
    let Lift { observed, shrunk, low, high } = contrast.lift(TAU);
    assert!(close(observed, 1.5133) && close(shrunk, 0.641_872_729_463_072_84), "{observed} {shrunk}");
    assert!(close(low, 0.176_795_430_543_518_2) && close(high, 1.290_751_637_698_211_24), "{low} {high}");
    let evidence = libm::exp(contrast.ln_evidence(TAU)) / 8.0;
    assert!((evidence - 11.979_984_882_750_8).abs() < 1e-9, "{evidence}");
}

/// Two strata by hand: R = 10·200/300 + 8·100/400 = 8.6667, S = 10·100/300 + 6·300/400 = 7.8333, and
/// P = 20·100·200/300² + 14·300·100/400² = 7.0694.
#[test]
fn strata_are_weighed_by_what_both_were_shown() {
    let of = |exposure: f64, events: f64| Outcome { exposure, amount: events, events };
    let strata = [
        Stratum { own: of(100.0, 10.0), others: of(200.0, 10.0) },
        Stratum { own: of(300.0, 8.0), others: of(100.0, 6.0) },
        Stratum { own: of(500.0, 90.0), others: of(0.0, 0.0) },
    ];
    let Contrast { d, v } = Contrast::of(strata, 0.0).unwrap();
    let (r, s, p) = (26.0 / 3.0, 47.0 / 6.0, 400_000.0 / 90_000.0 + 420_000.0 / 160_000.0);
    assert!(close(d, libm::log(r / s)) && close(v, p / (r * s)), "{d} {v}");
    assert_eq!(Contrast::of([strata[2]], 0.0), None, "nobody to compare with");
}

#[test]
fn far_below_nothing_the_tail_goes_on() {
    let (near, far) = (ln_phi(-29.999), ln_phi(-30.001));
    assert!(near > far && near - far < 0.07 && ln_phi(-1e6).is_finite(), "{near} {far}");
}

proptest! {
    #[test]
    fn shrinking_draws_to_nothing_and_keeps_the_sign(d in -3.0..3.0_f64, v in 1e-4..5.0_f64, tau in 0.05..1.0_f64) {
        let lift = Contrast { d, v }.lift(tau);
        prop_assert!(lift.shrunk.abs() <= lift.observed.abs() + 1e-12 && lift.shrunk * lift.observed >= 0.0);
        prop_assert!(lift.low < lift.shrunk && lift.shrunk < lift.high && lift.low > -1.0);
    }

    #[test]
    fn evidence_grows_with_the_difference(d in -3.0..3.0_f64, more in 1e-3..1.0_f64, v in 1e-4..5.0_f64) {
        let of = |d: f64| Contrast { d, v }.ln_evidence(TAU);
        prop_assert!(of(d + more) > of(d));
    }

    /// The mean of the evidence under no difference is 1: what makes it an e-value.
    #[test]
    fn evidence_is_one_on_average_where_there_is_no_difference(v in 0.005..1.0_f64, tau in 0.1..0.5_f64) {
        let (steps, sd) = (4_000, v.sqrt());
        let width = 24.0 * sd / f64::from(steps);
        let mean: f64 = (0..steps).map(|step| {
            let d = -12.0 * sd + (f64::from(step) + 0.5) * width;
            let density = libm::exp(-0.5 * d * d / v) / (sd * (2.0 * std::f64::consts::PI).sqrt());
            density * width * libm::exp(Contrast { d, v }.ln_evidence(tau))
        }).sum();
        // What is beyond twelve deviations weighs more with a wide prior on a narrow measurement.
        prop_assert!(mean <= 1.0 + 1e-6 && (mean > 0.98 || tau * tau > 8.0 * v), "{mean}");
    }
}

#[test]
fn an_accounts_own_spread_is_found_again() {
    let few = vec![Contrast { d: 1.0, v: 0.01 }; OWN_TAU_FROM - 1];
    assert!(close(own_tau(&few), TAU));
    // Differences of .3 and −.3, measured exactly, and others of nothing but noise.
    let many: Vec<_> = (0..400).map(|i| Contrast { d: if i % 2 == 0 { 0.3 } else { -0.3 }, v: 1e-6 }).collect();
    assert!((own_tau(&many) - 0.3).abs() < 1e-3);
    let noise: Vec<_> = (0..400).map(|i| Contrast { d: if i % 2 == 0 { 0.1 } else { -0.1 }, v: 0.01 }).collect();
    assert!(close(own_tau(&noise), 0.05));
}

const TOLD: Told = Told { impressions: true, clicks: true, purchases: true, revenue: true };

/// Creatives of one ad set over 20 days: each day the given purchases for 100 of spend, each worth 50, and 20 clicks of 1,000.
fn cells(purchases: &[f64]) -> Vec<Cell> {
    let days =
        (0..20).flat_map(|day| purchases.iter().enumerate().map(move |(creative, count)| (day, creative, *count)));
    days.map(|(day, creative, purchases)| Cell {
        creative,
        ad_set: 7,
        day,
        spend: 100.0,
        impressions: 1_000.0,
        clicks: 20.0,
        purchases,
        revenue: purchases * 50.0,
    })
    .collect()
}

fn verdicts(cells: &[Cell], won: &[bool], told: Told) -> Vec<Verdict> {
    judge(&Group { cells, won, told, order_spread: 0.64, tau: TAU })
}

#[test]
fn a_clear_difference_makes_a_winner_and_the_reverse_a_loser() {
    let all = verdicts(&cells(&[12.0, 4.0, 4.0, 1.0]), &[false; 4], TOLD);
    let statuses: Vec<_> = all.iter().map(|verdict| verdict.status).collect();
    assert_eq!(statuses, [Status::Winner, Status::Testing, Status::Testing, Status::Losing]);
    let winner = all[0];
    assert_eq!((winner.metric, winner.compared_with, winner.days, winner.needs), (Some(Metric::Roas), 3, 20, None));
    // 12 by the mean of 4, 4 and 1.
    assert!(close(winner.lift.unwrap().observed, 3.0) && winner.evidence.unwrap() >= THRESHOLD);
    assert!(all[3].evidence.unwrap() >= THRESHOLD && all[3].lift.unwrap().high < 0.0);
    let untold = verdicts(&cells(&[12.0, 4.0, 4.0, 1.0]), &[false; 4], Told { revenue: false, ..TOLD });
    assert_eq!((untold[0].status, untold[0].metric), (Status::Winner, Some(Metric::PurchasesPerMille)));
}

#[test]
fn who_won_stays_a_winner_until_there_is_hardly_any_evidence_left() {
    let of = |own: f64| verdicts(&cells(&[own, 2.0, 2.0]), &[true, false, false], TOLD)[0];
    assert_eq!(of(2.0).status, Status::Faded);
    let between = of(3.6);
    assert!((FADED_BELOW..THRESHOLD).contains(&between.evidence.unwrap()), "{between:?}");
    assert_eq!(between.status, Status::Winner);
    assert_eq!(verdicts(&cells(&[3.6, 2.0, 2.0]), &[false; 3], TOLD)[0].status, Status::Testing);
}

#[test]
fn a_winner_that_is_paused_stays_one_while_its_evidence_lasts() {
    // The first creative ran on the first half of the days: it has spent half of the median.
    let of = |own: f64, won: bool| {
        let mut cells = cells(&[own, 2.0, 2.0]);
        cells.retain(|cell| cell.creative != 0 || cell.day < 10);
        verdicts(&cells, &[won, false, false], TOLD)[0]
    };
    let needs = Some(Needs { purchases: 0.0, days: 0, spend: 1_000.0 });
    assert_eq!((of(6.0, false).status, of(6.0, false).needs), (Status::InsufficientData, needs));
    let paused = of(6.0, true);
    assert_eq!((paused.status, paused.metric, paused.needs), (Status::Winner, Some(Metric::Roas), None));
    assert!(paused.evidence.unwrap() >= FADED_BELOW && paused.days == 10, "{paused:?}");
    assert_eq!((of(2.0, true).status, of(2.0, true).needs), (Status::Faded, None));
}

#[test]
fn a_winner_without_anybody_to_compare_it_with_stays_one() {
    // The others were paused half-way, and the first was shown from then on.
    let mut apart = cells(&[6.0, 2.0, 2.0]);
    apart.retain(|cell| (cell.creative == 0) == (cell.day >= 10));
    let alone = verdicts(&apart, &[true, false, false], TOLD)[0];
    assert_eq!((alone.status, alone.needs), (Status::Winner, None));
    assert_eq!((alone.metric, alone.evidence, alone.lift), (None, None, None));
    let unjudged = verdicts(&apart, &[false; 3], TOLD)[0];
    let needs = Some(Needs { purchases: 0.0, days: 0, spend: 0.0 });
    assert_eq!((unjudged.status, unjudged.needs), (Status::InsufficientData, needs), "only others are missing");
    let of = |purchases: &[f64], told| verdicts(&cells(purchases), &[true, false, false], told)[0].status;
    assert_eq!(of(&[6.0, 2.0, 2.0], Told { purchases: false, ..TOLD }), Status::Winner, "not told any more");
    // There is no logarithm of nothing.
    assert_eq!((of(&[0.0, 2.0, 2.0], TOLD), of(&[2.0, 0.0, 0.0], TOLD)), (Status::Faded, Status::Winner));
}

#[test]
fn one_good_day_names_nobody() {
    // All sell the same each day, but the first 25 times as much on one.
    let on = |good: i64| {
        let mut cells = cells(&[4.0, 4.0, 4.0]);
        for cell in cells.iter_mut().filter(|cell| cell.creative == 0 && cell.day == good) {
            cell.purchases *= 25.0;
            cell.revenue *= 25.0;
        }
        verdicts(&cells, &[false; 3], TOLD)[0]
    };
    assert_eq!((on(19).status, on(18).status), (Status::Testing, Status::Winner));
    assert!(on(19).evidence.unwrap() >= THRESHOLD, "the evidence itself is of all days");
}

#[test]
fn what_is_missing_is_said() {
    let few = verdicts(&cells(&[1.0, 1.0]), &[false; 2], TOLD);
    assert_eq!(few[0].status, Status::InsufficientData);
    assert_eq!((few[0].metric, few[0].lift, few[0].evidence), (None, None, None));
    assert_eq!(few[0].needs, Some(Needs { purchases: 60.0, days: 0, spend: 0.0 }), "40 of 100 in the campaign");

    // The third creative ran on the last two days only.
    let late: Vec<_> =
        cells(&[5.0, 5.0, 3.0]).into_iter().filter(|cell| cell.creative != 2 || cell.day >= 18).collect();
    let late = verdicts(&late, &[false; 3], TOLD);
    assert_eq!(late[2].needs, Some(Needs { purchases: 4.0, days: 1, spend: 1_800.0 }));
    assert_eq!((late[2].status, late[2].compared_with, late[2].days), (Status::InsufficientData, 2, 2));
    let alone = verdicts(&cells(&[9.0]), &[false], TOLD);
    assert_eq!((alone[0].status, alone[0].compared_with), (Status::InsufficientData, 0));
    assert!(verdicts(&[], &[], TOLD).is_empty());
}

#[test]
fn clicks_alone_only_lead() {
    let clicked = |told| {
        let mut cells = cells(&[1.0, 1.0]);
        cells.iter_mut().filter(|cell| cell.creative == 0).for_each(|cell| cell.clicks = 60.0);
        verdicts(&cells, &[false; 2], told)
    };
    let all = clicked(TOLD);
    assert_eq!((all[0].status, all[0].metric), (Status::Leading, Some(Metric::Ctr)));
    assert!(all[0].needs.is_some() && all[0].lift.unwrap().observed > 1.9);
    assert_eq!(all[1].status, Status::InsufficientData, "a worse rate of clicks condemns nobody");
    let untold = clicked(Told { purchases: false, revenue: false, ..TOLD });
    assert_eq!(untold[0].status, Status::Leading);
    assert_eq!(clicked(Told { clicks: false, ..TOLD })[0].status, Status::InsufficientData);
}

#[test]
fn clicks_lead_nowhere_where_enough_have_bought() {
    let mut cells = cells(&[4.0, 4.0, 4.0]);
    for cell in cells.iter_mut().filter(|cell| cell.creative == 0) {
        (cell.clicks, cell.spend) = (60.0, 90.0);
    }
    let verdict = verdicts(&cells, &[false; 3], TOLD)[0];
    let needs = Some(Needs { purchases: 0.0, days: 0, spend: 200.0 });
    assert_eq!((verdict.status, verdict.metric, verdict.needs), (Status::InsufficientData, None, needs));
}

#[test]
fn a_better_day_is_no_better_creative() {
    // Both sell the same each day, but the first was shown on good days more.
    let mut cells = cells(&[4.0, 4.0]);
    for cell in &mut cells {
        let (is_good, is_first) = (cell.day % 2 == 0, cell.creative == 0);
        let scale = if is_good == is_first { 4.0 } else { 1.0 };
        let rate = if is_good { 3.0 } else { 1.0 };
        cell.spend *= scale;
        cell.purchases *= scale * rate;
        cell.revenue *= scale * rate;
    }
    let verdict = verdicts(&cells, &[false; 2], TOLD)[0];
    assert_eq!(verdict.status, Status::Testing);
    assert!(verdict.lift.unwrap().observed.abs() < 1e-12, "{verdict:?}");
}

#[test]
fn comparisons_of_an_account_are_those_with_enough_purchases() {
    let cells = cells(&[6.0, 2.0, 0.25]);
    let group = Group { cells: &cells, won: &[false; 3], told: TOLD, order_spread: 0.64, tau: TAU };
    assert_eq!(contrasts(&group).len(), 2);
    assert!(contrasts(&Group { told: Told { purchases: false, ..TOLD }, ..group }).is_empty());
}

#[rstest]
#[case(13, 0, 20.0, 20.0, None)]
#[case(14, 0, 20.0, 20.0, Some((1.0, false)))]
#[case(28, 0, 20.0, 8.0, Some((0.4, true)))]
#[case(28, 0, 20.0, 40.0, Some((2.0, false)))]
#[case(28, 0, 20.0, 0.0, None)]
#[case::four_days_of_the_last_week(28, 3, 20.0, 8.0, Some((0.4, true)))]
#[case::paused_a_week_ago(28, 7, 20.0, 8.0, None)]
#[case::paused_two_months_ago(28, 60, 20.0, 8.0, None)]
fn fatigue_is_fewer_clicks_than_at_first(
    #[case] days: i64,
    #[case] paused: i64,
    #[case] first: f64,
    #[case] last: f64,
    #[case] expected: Option<(f64, bool)>,
) {
    let clicks = |day: i64| if day + 7 >= days { last } else { first };
    let shown: Vec<_> = (0..days).map(|day| Shown { day, clicks: clicks(day), impressions: 1_000.0 }).collect();
    let found = fatigue(&shown, days - 1 + paused);
    let found = found.map(|found| ((found.ctr_ratio * 1e9).round() / 1e9, found.is_fatigued));
    assert_eq!(found, expected);
}
