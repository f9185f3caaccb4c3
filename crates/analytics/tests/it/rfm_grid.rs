//! Segments of accounts small enough to judge by eye.

use analytics::customers::rfm::{Activity, Scores, Segment, place};
use rstest::rstest;

fn customer(orders: u32, days_since_last: u32, spend: f64) -> Activity {
    Activity { orders, days_since_last, spend }
}

fn segments(customers: &[Activity]) -> Vec<Segment> {
    place(customers).into_iter().map(|p| p.segment).collect()
}

/// The whole grid for repeat buyers: rows are recency 5 to 1, columns importance 1 to 5.
#[test]
fn the_grid() {
    use Segment::{AtRisk, Dormant, Lost, Loyal, NeedsAttention, Promising, Vip};
    let grid = [
        [Promising, Promising, Promising, Vip, Vip],
        [Promising, Promising, Promising, Loyal, Vip],
        [NeedsAttention, NeedsAttention, NeedsAttention, Loyal, Loyal],
        [Dormant, Dormant, AtRisk, AtRisk, AtRisk],
        [Lost, Lost, AtRisk, AtRisk, AtRisk],
    ];
    for (row, recency) in grid.iter().zip([5, 4, 3, 2, 1]) {
        for (segment, importance) in row.iter().zip(1_u8..) {
            // An importance of 1 with a repeat order cannot come from data but has its place.
            let frequency = importance.max(2);
            let monetary = 2 * importance - frequency.min(2 * importance - 1);
            let scores = Scores { recency, frequency, monetary };
            assert_eq!(Segment::of(scores), *segment, "{scores:?}");
        }
    }
}

#[rstest]
#[case(5, Segment::New)]
#[case(4, Segment::New)]
#[case(3, Segment::NeedsAttention)]
#[case(2, Segment::AtRisk)]
#[case(1, Segment::AtRisk)]
fn one_large_order(#[case] recency: u8, #[case] segment: Segment) {
    assert_eq!(Segment::of(Scores { recency, frequency: 1, monetary: 5 }), segment);
}

#[rstest]
#[case::yesterday(customer(1, 1, 30.0), Segment::New)]
#[case::came_back(customer(2, 10, 60.0), Segment::Promising)]
#[case::regular(customer(12, 3, 600.0), Segment::Vip)]
#[case::cooling(customer(2, 120, 60.0), Segment::NeedsAttention)]
#[case::half_a_year(customer(1, 300, 30.0), Segment::Dormant)]
#[case::years(customer(1, 800, 30.0), Segment::Lost)]
#[case::regular_gone_silent(customer(12, 300, 600.0), Segment::AtRisk)]
#[case::never_ordered(customer(0, 0, 0.0), Segment::Prospect)]
#[case::not_a_sum(customer(1, 1, f64::NAN), Segment::New)]
fn an_account_with_a_single_customer(#[case] only: Activity, #[case] segment: Segment) {
    assert_eq!(segments(&[only]), [segment]);
}

#[test]
fn a_shop_opened_last_week_has_lost_nobody() {
    let customers: Vec<_> = (0..200).map(|i| customer(1, i % 8, f64::from(10 + i % 7))).collect();
    assert!(segments(&customers).iter().all(|s| *s == Segment::New));
}

#[test]
fn who_bought_within_90_days_is_not_lost() {
    let shop = |oldest: u32| (0..200).map(|i| customer(1, i * oldest / 199, 30.0)).collect::<Vec<_>>();
    assert!(!segments(&shop(40)).contains(&Segment::Lost));
    let (customers, placed) = (shop(300), segments(&shop(300)));
    assert!(placed.contains(&Segment::Lost), "the quietest fifth of a shop that is older");
    assert!(customers.iter().zip(&placed).all(|(c, s)| *s != Segment::Lost || c.days_since_last > 90));
}

#[test]
fn a_shop_closed_two_years_ago_has_nobody_active() {
    let customers: Vec<_> = (0..200).map(|i| customer(1 + i % 9, 700 + i, f64::from(10 * i))).collect();
    let silent = [Segment::AtRisk, Segment::Dormant, Segment::Lost];
    assert!(segments(&customers).iter().all(|s| silent.contains(s)));
}

#[test]
fn a_hundred_equal_customers_are_equal() {
    let customers = vec![customer(3, 60, 90.0); 100];
    let placed = place(&customers);
    assert!(placed.iter().all(|p| *p == placed[0]));
    // The middle of everybody.
    assert_eq!(placed[0].scores, Some(Scores { recency: 3, frequency: 3, monetary: 3 }));
}

#[test]
fn fifths_of_a_hundred_different_customers() {
    let customers: Vec<_> = (0..100).map(|i| customer(1, 31 + i, f64::from(i))).collect();
    let scores: Vec<_> = place(&customers).into_iter().map(|p| p.scores.unwrap()).collect();
    for fifth in 0..5_u8 {
        assert_eq!(scores.iter().filter(|s| s.recency == fifth + 1).count(), 20);
        assert_eq!(scores.iter().filter(|s| s.monetary == fifth + 1).count(), 20);
    }
    assert_eq!((scores[0].recency, scores[0].monetary), (5, 1));
}

#[test]
fn names_on_the_wire() {
    let names: Vec<_> = Segment::ALL.iter().map(|s| s.as_str()).collect();
    let expected = ["vip", "loyal", "promising", "new", "needs_attention", "at_risk", "dormant", "lost", "prospect"];
    assert_eq!(names, expected);
    for segment in Segment::ALL {
        assert_eq!(serde_json::to_value(segment).unwrap(), segment.as_str());
    }
}
