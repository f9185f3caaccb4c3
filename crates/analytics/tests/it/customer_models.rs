//! The customer models against published figures and against values computed with other software: `mpmath` 1.3 at 40
//! digits for single customers, `lifetimes` 0.11.3 polished with SciPy's Nelder–Mead for fits. The fitted customers are
//! simulated (`data/simulated_customers.csv`, 600 customers of a BG/NBD and Gamma-Gamma world).

use analytics::customers::{Basis, Insufficient, bgnbd, gamma_gamma, ltv};
use rstest::rstest;

/// Parameters of the CDNOW sample as the paper prints them (table 2).
fn published() -> bgnbd::Params {
    bgnbd::Params::new(0.243, 4.414, 0.793, 2.426).unwrap()
}

/// x, t_x and T.
fn customer((frequency, recency, age): (u32, f64, f64)) -> bgnbd::Summary {
    bgnbd::Summary::new(frequency, recency, age)
}

fn close(got: f64, expected: f64, relative: f64) {
    assert!((got - expected).abs() <= relative * expected.abs(), "got {got}, expected {expected}");
}

#[test]
fn the_first_customer_of_the_published_example() {
    // B. Hardie, "Implementing the BG/NBD Model for Customer Base Analysis in Excel": E(Y(39)) = 1.226.
    let customer = bgnbd::Summary::new(2, 30.43, 38.86);
    assert!((published().expected_purchases(&customer, 39.0) - 1.226).abs() < 5e-4);
}

#[rstest]
#[case([0.243, 4.414, 0.793, 2.426], (2, 30.43, 38.86), 39.0, 1.226_028_174_767_144, 0.726_578_570_080_673)]
#[case([0.243, 4.414, 0.793, 2.426], (0, 0.0, 38.86), 39.0, 0.195_098_052_011_262_6, 1.0)]
#[case::first_day([0.243, 4.414, 0.793, 2.426], (0, 0.0, 0.0), 90.0 / 7.0, 0.529_769_245_708_134_4, 1.0)]
#[case::weekly([0.243, 4.414, 0.793, 2.426], (26, 30.0, 38.86), 52.0, 1.787_839_219_094_94, 0.078_092_787_142_018_85)]
#[case::gone([0.243, 4.414, 0.793, 2.426], (29, 10.0, 38.86), 52.0, 1.066_903_354_582_795e-11, 4.189_092_719_962_247e-13)]
#[case([0.7, 8.7, 1.4, 3.1], (5, 20.0, 26.0), 52.0, 3.223_326_309_173_504, 0.632_165_921_663_359_4)]
#[case::a_plus_b_below_one([0.45, 6.3, 0.4, 0.3], (0, 0.0, 10.0), 26.0, 0.478_120_504_466_438_5, 1.0)]
#[case::a_plus_b_is_one([0.5, 5.0, 0.4, 0.6], (0, 0.0, 20.0), 26.0, 0.415_794_238_799_785_1, 1.0)]
#[case::many([2.5, 0.5, 0.2, 9.0], (400, 51.0, 52.0), 52.0, 173.844_357_620_426_2, 0.470_056_352_458_162_4)]
#[case::ten_years([0.3, 20.0, 3.0, 0.5], (1, 1.0, 100.0), 520.0, 0.022_785_630_150_010_18, 0.016_996_260_654_303_9)]
fn purchases_and_activity(
    #[case] params: [f64; 4],
    #[case] seen: (u32, f64, f64),
    #[case] weeks: f64,
    #[case] purchases: f64,
    #[case] alive: f64,
) {
    let [r, alpha, a, b] = params;
    let params = bgnbd::Params::new(r, alpha, a, b).unwrap();
    let customer = customer(seen);
    close(params.expected_purchases(&customer, weeks), purchases, 1e-10);
    close(params.p_alive(&customer), alive, 1e-11);
}

#[test]
fn the_expectation_passes_smoothly_through_a_equal_to_one() {
    // The textbook formula divides by a − 1 here; the value is an integral over the chance to leave.
    let params = bgnbd::Params::new(0.5, 5.0, 1.0, 2.0).unwrap();
    close(params.expected_purchases(&bgnbd::Summary::new(3, 10.0, 20.0), 26.0), 1.082_917_557_292_396, 1e-10);
}

#[rstest]
#[case((2, 30.43, 38.86), -9.458_606_307_066_27)]
#[case((0, 0.0, 38.86), -0.554_713_276_438_158)]
#[case((7, 3.0, 20.0), -11.890_215_046_358_1)]
fn log_likelihood_of_one_customer(#[case] seen: (u32, f64, f64), #[case] expected: f64) {
    close(published().log_likelihood(&customer(seen)), expected, 1e-12);
}

/// Present values at 10 % and 50 % a year, by adaptive quadrature.
#[rstest]
#[case((2, 30.43, 38.86), 1.491_995_495_102_8, 1.300_693_447_446_9)]
#[case((0, 0.0, 0.0), 1.390_948_145_848_5, 1.232_068_793_963_9)]
fn discounted_year(#[case] seen: (u32, f64, f64), #[case] at_10: f64, #[case] at_50: f64) {
    let customer = customer(seen);
    close(ltv::discounted_purchases(&published(), &customer, 52.0, 0.1), at_10, 5e-5);
    close(ltv::discounted_purchases(&published(), &customer, 52.0, 0.5), at_50, 5e-4);
    let value = ltv::estimate(&published(), &customer, 20.0, 52.0, 0.1);
    close(value, 20.0 * at_10, 5e-5);
}

#[test]
fn a_year_on_a_faster_clock_bears_as_much_interest() {
    // Next to nobody leaves: purchases are in proportion to time, so that the value is in proportion to the weeks.
    let loyal = bgnbd::Params::new(0.5, 5.0, 0.002, 4_000.0).unwrap();
    let customer = bgnbd::Summary::new(9, 38.0, 40.0);
    let a_week = |weeks: f64| ltv::estimate(&loyal, &customer, 20.0, weeks, 0.5) / weeks;
    close(a_week(26.0), a_week(52.0), 1e-5);
    close(a_week(104.0), a_week(52.0), 1e-5);
}

#[rstest]
#[case(2, 22.35, 24.663_713_910_761_2)]
#[case(1, 11.77, 18.916_852_057_842)]
#[case(9, 100.0, 96.991_015_426_343_4)]
#[case::nothing_known(0, 0.0, 35.218_978_102_189_8)]
#[case::nothing_usable(3, f64::NAN, 35.218_978_102_189_8)]
#[case::refunded(3, -5.0, 35.218_978_102_189_8)]
fn value_of_a_purchase(#[case] purchases: u32, #[case] mean: f64, #[case] expected: f64) {
    let params = gamma_gamma::Params::new(6.25, 3.74, 15.44).unwrap();
    close(params.expected_value(&gamma_gamma::Spend { purchases, mean }), expected, 1e-12);
}

struct Row {
    purchases: bgnbd::Summary,
    spend: gamma_gamma::Spend,
}

fn simulated() -> Vec<Row> {
    let row = |line: &str| {
        let f: Vec<f64> = line.split(',').map(|v| v.parse().unwrap()).collect();
        Row {
            purchases: bgnbd::Summary::new(f[0] as u32, f[1] / 7.0, f[2] / 7.0),
            spend: gamma_gamma::Spend { purchases: f[0] as u32 + 1, mean: f[3] },
        }
    };
    include_str!("../data/simulated_customers.csv").lines().skip(1).map(row).collect()
}

fn purchases(rows: &[Row]) -> Vec<bgnbd::Summary> {
    rows.iter().map(|r| r.purchases).collect()
}

#[test]
fn purchase_parameters_of_a_simulated_shop() {
    let fit = bgnbd::fit(&purchases(&simulated())).unwrap();
    assert_eq!((fit.basis, fit.customers, fit.informative), (Basis::Account, 600, 362));
    close(fit.params.r(), 0.571_304_33, 1e-5);
    close(fit.params.alpha(), 5.055_006_82, 1e-5);
    close(fit.params.a(), 1.065_129_39, 1e-4);
    close(fit.params.b(), 4.548_718_27, 1e-4);
    close(fit.log_likelihood, -3_857.576_809_050_212_4, 1e-10);
}

#[test]
fn value_parameters_of_a_simulated_shop() {
    let spends: Vec<_> = simulated().iter().map(|r| r.spend).collect();
    let fit = gamma_gamma::fit(&spends).unwrap();
    assert_eq!((fit.basis, fit.informative), (Basis::Account, 600));
    close(fit.params.p(), 4.423_674_3, 1e-5);
    close(fit.params.q(), 2.867_140_14, 1e-5);
    close(fit.params.gamma(), 47.842_138_16, 1e-5);
    close(fit.log_likelihood, -3_316.875_873_129_8, 1e-10);
}

#[test]
fn values_in_another_currency_change_the_scale_alone() {
    let spends: Vec<_> = simulated().iter().map(|r| r.spend).collect();
    let dear: Vec<_> = spends.iter().map(|s| gamma_gamma::Spend { mean: s.mean * 15_000.0, ..*s }).collect();
    let (here, there) = (gamma_gamma::fit(&spends).unwrap().params, gamma_gamma::fit(&dear).unwrap().params);
    close(there.p(), here.p(), 1e-6);
    close(there.gamma(), 15_000.0 * here.gamma(), 1e-6);
}

#[test]
fn the_order_of_customers_does_not_matter() {
    let customers = purchases(&simulated());
    let mut reversed = customers.clone();
    reversed.reverse();
    assert_eq!(bgnbd::fit(&customers), bgnbd::fit(&reversed));
}

#[test]
fn nobody_is_too_few() {
    assert_eq!(bgnbd::fit(&[]), Err(Insufficient::NoBuyers));
    assert_eq!(gamma_gamma::fit(&[]), Err(Insufficient::NoSpend));
    let free = gamma_gamma::Spend { purchases: 4, mean: 0.0 };
    assert_eq!(gamma_gamma::fit(&[free]), Err(Insufficient::NoSpend));
}

#[test]
fn a_few_customers_stay_near_the_pooled_parameters() {
    let few = purchases(&simulated()[..10]);
    let fit = bgnbd::fit(&few).unwrap();
    assert_eq!(fit.basis, Basis::Pooled);
    let pooled = bgnbd::Params::POOLED;
    for (own, centre) in [(fit.params.r(), pooled.r()), (fit.params.alpha(), pooled.alpha())] {
        assert!((own / centre).ln().abs() < 1.4, "{own} against {centre}");
    }
    // One who bought a moment ago tells nothing: the pooled parameters themselves remain.
    let newcomer = bgnbd::fit(&[bgnbd::Summary::new(0, 0.0, 0.0)]).unwrap();
    close(newcomer.params.r(), pooled.r(), 1e-3);
    close(newcomer.params.b(), pooled.b(), 1e-3);
}

#[test]
fn a_shop_that_nobody_leaves_gets_plausible_parameters() {
    // Every customer has bought every week until now: the likelihood rises without end as a → 0.
    let faithful: Vec<_> =
        (0..500).map(|i| f64::from(20 + i % 30)).map(|t| bgnbd::Summary::new(t as u32, t, t)).collect();
    let fit = bgnbd::fit(&faithful).unwrap();
    assert_eq!(fit.basis, Basis::Pooled);
    let next = fit.params.expected_purchases(&faithful[0], 10.0);
    assert!((8.0..=10.5).contains(&next), "{next} purchases in ten weeks of somebody weekly");
}
