use domain::{
    AccountId, ChargeId,
    accounts::{Account, MockAccountStore, Mode, Plan as AccountPlan},
    credits::auto_topup::MockAutoTopupStore,
    payments::{
        GatewayUnavailable, MockPaymentGateway, MockPaymentStore, Payer, Payment, Price, PriceList, Refusal,
        SettleError, Settled,
    },
};
use rstest::rstest;
use rust_decimal::dec;
use time::macros::datetime;

use super::*;

const NOW: OffsetDateTime = datetime!(2026-12-10 12:00 UTC);

fn terms() -> Terms {
    let price = Price { amount: dec!(9), currency: "USD".parse().unwrap() };
    Terms { customer_id: "cus_1".to_owned(), item: "small".to_owned(), price }
}

/// A charge that was sent before.
fn waiting() -> Waiting {
    Waiting {
        charge: ChargeRef { account: AccountId(3), id: ChargeId(8), claim: 2 },
        credits: 500,
        attempts: 1,
        sent: Some(terms()),
        customer_id: Some("cus_1".to_owned()),
        currency: "USD".parse().unwrap(),
        enabled: true,
        balance: 40,
        threshold: 100,
        monthly_cap: None,
        last_ended_at: None,
        bought_this_month: 0,
    }
}

/// What the worker leaves of a charge that the gateway answers with a payment in this status, and the store by this.
async fn left(status: PaymentStatus, settled: Result<Settled, Refusal>) -> Left {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_name().return_const("fake");
    gateway.expect_charge().times(1).returning(move |charge| {
        Ok(Payment {
            id: "pay_1".parse().unwrap(),
            status,
            amount: charge.price.amount,
            currency: charge.price.currency,
            invoice_id: "inv_1".to_owned(),
            payer: Payer { customer_id: "cus_1".to_owned(), email: "a@example.com".to_owned() },
            order: Some(charge.order.clone()),
        })
    });
    let mut accounts = MockAccountStore::new();
    accounts.expect_find().returning(|id| {
        Ok(Some(Account {
            id,
            user_id: format!("user_{}", "a".repeat(24)).parse().unwrap(),
            mode: Mode::Live,
            name: "shop".to_owned(),
            plan: AccountPlan::Free,
            currency: "USD".parse().unwrap(),
            timezone: "UTC".parse().unwrap(),
            holiday_country: None,
            locale: domain::texts::Locale::ENGLISH,
            created_at: NOW,
        }))
    });
    let mut payments = MockPaymentStore::new();
    payments.expect_owner().returning(|_, _| Ok(None));
    payments.expect_charged().returning(|_, _| Ok(None));
    let mut settled = Some(settled);
    payments.expect_settle().times(1).returning(move |_, _| settled.take().unwrap().map_err(SettleError::Refused));
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut charges = MockAutoTopupStore::new();
    charges.expect_lease().returning(|_, _, _| Ok(vec![waiting()]));
    charges.expect_sending().returning(|_, _| Ok(true));
    charges.expect_leave().times(1).returning(move |_, left, _| {
        sender.send(left).unwrap();
        Ok(())
    });
    let payment_service = PaymentService {
        gateway: Arc::new(gateway),
        payments: Arc::new(payments),
        accounts: Arc::new(accounts),
        prices: Arc::new(PriceList::default()),
    };
    let rules = Rules { cooldown: Duration::MINUTE, monthly_cap: 1_000 };
    let recharger = Recharger { payment_service, charges: Arc::new(charges), rules, clock: || NOW };
    assert_eq!(recharger.tick().await.unwrap(), 1);
    receiver.recv().unwrap()
}

#[rstest]
#[case::unheard(false, Left::Unsent { until: NOW + Duration::MINUTE })]
#[case::unanswered(true, Left::Waiting { until: NOW + backoff(1) })]
#[tokio::test]
async fn only_what_the_gateway_may_have_heard_counts_as_sent(#[case] is_heard: bool, #[case] expected: Left) {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_charge().times(1).returning(move |_| {
        let error = GatewayUnavailable("no answer".to_owned());
        Err(if is_heard { ChargeError::Unavailable(error) } else { ChargeError::NotSent(error) })
    });
    let mut charges = MockAutoTopupStore::new();
    charges.expect_sending().returning(|_, _| Ok(true));
    charges.expect_leave().times(1).returning(move |_, left, _| {
        assert_eq!(left, expected);
        Ok(())
    });
    let payment_service = PaymentService {
        gateway: Arc::new(gateway),
        payments: Arc::new(MockPaymentStore::new()),
        accounts: Arc::new(MockAccountStore::new()),
        prices: Arc::new(PriceList::default()),
    };
    let rules = Rules { cooldown: Duration::MINUTE, monthly_cap: 1_000 };
    let recharger = Recharger { payment_service, charges: Arc::new(charges), rules, clock: || NOW };
    recharger.handle(&waiting()).await.unwrap();
}

#[rstest]
#[case(PaymentStatus::Refunded, Settled::Noted, Left::Canceled { reason: "refunded" })]
#[case(PaymentStatus::Refunded, Settled::Unchanged, Left::Canceled { reason: "refunded" })]
#[case(PaymentStatus::ChargedBack, Settled::Noted, Left::Canceled { reason: "charged_back" })]
#[case(PaymentStatus::Approved, Settled::Unchanged, Left::Canceled { reason: "refunded" })]
#[case(
    PaymentStatus::Rejected,
    Settled::Noted,
    Left::Failed { reason: "rejected".to_owned(), retry_at: NOW + Duration::MINUTE }
)]
#[tokio::test]
async fn a_charge_that_is_answered_ends(
    #[case] status: PaymentStatus,
    #[case] settled: Settled,
    #[case] expected: Left,
) {
    assert_eq!(left(status, Ok(settled)).await, expected);
}

#[tokio::test]
async fn money_that_cannot_be_credited_is_not_asked_for_again() {
    let stopped = Left::Stopped { reason: "amount_mismatch".to_owned() };
    assert_eq!(left(PaymentStatus::Approved, Err(Refusal::AmountMismatch)).await, stopped);
    let failed = Left::Failed { reason: "amount_mismatch".to_owned(), retry_at: NOW + Duration::MINUTE };
    assert_eq!(left(PaymentStatus::Refunded, Err(Refusal::AmountMismatch)).await, failed);
}
