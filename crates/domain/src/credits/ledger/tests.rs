use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn credits(amount: i64) -> CreditAmount {
    CreditAmount::new(amount).unwrap()
}

fn totals(balance: i64) -> Totals {
    Totals { balance, total_purchased: 0, total_spent: 0 }
}

fn debit(amount: i64) -> Change {
    Change::Debit { amount: credits(amount), feature: FeatureName::new("chat").unwrap() }
}

fn told(balance: i64, change: Change) -> Vec<Value> {
    let events = post(totals(balance), change).unwrap().events(TransactionId(7));
    events.iter().map(|event| serde_json::from_slice(&event.body().unwrap()).unwrap()).collect()
}

#[test]
fn a_debit_that_leaves_enough_is_told_as_consumed_only() {
    assert_eq!(
        told(150, debit(50)),
        [
            json!({"event": "credit.consumed", "data": {"transaction_id": 7, "feature": "chat", "amount": 50, "balance": 100}})
        ]
    );
}

#[rstest]
#[case(100, 1, 99, true)]
#[case(99, 1, 98, false)]
#[case(500, 450, 50, true)]
fn every_debit_that_leaves_less_than_a_hundred_says_so_and_whether_it_was_the_first(
    #[case] balance: i64,
    #[case] amount: i64,
    #[case] left: i64,
    #[case] crossed: bool,
) {
    let told = told(balance, debit(amount));
    let low = json!({"event": "credits.low",
        "data": {"balance": left, "threshold": 100, "last_feature": "chat", "crossed": crossed}});
    assert_eq!((told.len(), &told[1]), (2, &low));
}

#[test]
fn at_zero_the_balance_is_low_first_and_depleted_then() {
    let told = told(12, debit(12));
    assert_eq!(
        told[1..],
        [
            json!({"event": "credits.low",
                "data": {"balance": 0, "threshold": 100, "last_feature": "chat", "crossed": false}}),
            json!({"event": "credits.depleted", "data": {"balance": 0, "last_feature": "chat", "last_amount": 12}}),
        ]
    );
}

#[test]
fn refunds_and_top_ups_are_told_and_gifts_and_corrections_are_not() {
    let refund = Change::Refund {
        amount: credits(12),
        feature: FeatureName::new("chat").unwrap(),
        reason: "timed out".to_owned(),
    };
    assert_eq!(
        told(0, refund),
        [json!({"event": "credit.refunded",
            "data": {"transaction_id": 7, "feature": "chat", "amount": 12, "balance": 12, "reason": "timed out"}})]
    );
    for (source, name) in [(RechargeSource::Manual, "manual"), (RechargeSource::Auto, "auto")] {
        let top_up = Change::TopUp { amount: credits(1_000), source, payment: "pay_1".to_owned() };
        assert_eq!(
            told(20, top_up),
            [json!({"event": "credits.recharged",
                "data": {"credits_added": 1000, "new_balance": 1020, "rebill_payment": "pay_1", "source": name}})]
        );
    }
    assert_eq!(told(0, Change::Grant { amount: credits(5) }), [] as [Value; 0]);
    assert_eq!(told(10, Change::Adjustment { amount: credits(10), take: true }), [] as [Value; 0]);
}

#[test]
fn what_the_balance_does_not_allow_is_refused() {
    assert_eq!(post(totals(4), debit(5)), Err(Refused::Insufficient { balance: 4 }));
    assert_eq!(
        post(totals(4), Change::Adjustment { amount: credits(5), take: true }),
        Err(Refused::Insufficient { balance: 4 })
    );
    assert_eq!(post(totals(i64::MAX - 4), Change::Grant { amount: credits(5) }), Err(Refused::TooLarge));
    let purchased = Totals { balance: 0, total_purchased: i64::MAX, total_spent: 0 };
    let top_up = Change::TopUp { amount: credits(1), source: RechargeSource::Manual, payment: "p".to_owned() };
    assert_eq!(post(purchased, top_up), Err(Refused::TooLarge));
}

fn change() -> impl Strategy<Value = Change> {
    (0..6, 1..400i64).prop_map(|(kind, amount)| {
        let (amount, feature) = (credits(amount), FeatureName::new("chat").unwrap());
        match kind {
            0 | 1 => Change::Debit { amount, feature },
            2 => Change::Refund { amount, feature, reason: "failed".to_owned() },
            3 => Change::TopUp { amount, source: RechargeSource::Auto, payment: "p".to_owned() },
            4 => Change::Grant { amount },
            _ => Change::Adjustment { amount, take: amount.get() % 2 == 0 },
        }
    })
}

proptest! {
    /// Whatever is asked in whatever order, the books balance; the sums are made from the rows alone.
    #[test]
    fn the_sum_of_the_rows_is_the_balance(changes in prop::collection::vec(change(), 0..200)) {
        let (mut now, mut rows) = (Totals::default(), Vec::<Entry>::new());
        for change in changes {
            match post(now, change) {
                Ok(posting) => {
                    now = posting.after;
                    rows.push(posting.entry);
                }
                Err(refused) => prop_assert_eq!(refused, Refused::Insufficient { balance: now.balance }),
            }
            let sum = |kinds: &[TransactionKind]| -> i64 {
                rows.iter().filter(|row| kinds.contains(&row.kind)).map(|row| row.amount).sum()
            };
            prop_assert!(now.balance >= 0);
            prop_assert_eq!(sum(TransactionKind::ALL), now.balance);
            prop_assert_eq!(rows.last().map_or(0, |row| row.balance_after), now.balance);
            prop_assert_eq!(sum(&[TransactionKind::Topup, TransactionKind::AutoTopup]), now.total_purchased);
            prop_assert_eq!(-sum(&[TransactionKind::Consume, TransactionKind::Refund]), now.total_spent);
        }
    }
}
