use domain::{
    AccountId, ChargeId,
    accounts::{Account, MockAccountStore, Mode, Plan as AccountPlan},
    credits::auto_topup::{MockAutoTopupStore, SENT_AGAIN_FOR, Sent, UNKNOWN_INTERVAL},
    payments::{
        FetchError, GatewayUnavailable, MockPaymentGateway, MockPaymentStore, Payer, Payment, Price, PriceList,
        Refusal, SettleError, Settled,
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
        sent: Some(Sent { terms: terms(), first_at: NOW - Duration::HOUR, payment: None }),
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

fn payment(status: PaymentStatus) -> Payment {
    let Waiting { charge: ChargeRef { account, id, .. }, .. } = waiting();
    let Terms { item, price, .. } = terms();
    Payment {
        id: "pay_1".parse().unwrap(),
        status,
        amount: price.amount,
        currency: price.currency,
        invoice_id: None,
        payer: Payer::default(),
        order: Some(Order { account, item, charge: Some(id) }),
    }
}

/// What the worker leaves of a charge that the gateway answers with a payment in this status, and the store by this.
async fn left(status: PaymentStatus, settled: Result<Settled, Refusal>) -> Left {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_name().return_const("fake");
    gateway.expect_charge().times(1).returning(move |_| Ok(payment(status)));
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
    charges.expect_sending().returning(|_, _, _| Ok(true));
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
    handle(gateway, &waiting(), expected).await;
}

/// Has the worker handle a charge that it leaves as `expected`, without a payment to be settled.
async fn handle(gateway: MockPaymentGateway, waiting: &Waiting, expected: Left) {
    let mut charges = MockAutoTopupStore::new();
    charges.expect_sending().withf(|_, _, now| *now == NOW).returning(|_, _, _| Ok(true));
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
    recharger.handle(waiting).await.unwrap();
}

fn undecided() -> Left {
    Left::Undecided { payment: "pay_1".parse().unwrap(), until: NOW + backoff(1) }
}

#[tokio::test]
async fn the_payment_of_a_charge_that_is_undecided_is_kept() {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_charge().times(1).returning(|_| Ok(payment(PaymentStatus::Pending)));
    handle(gateway, &waiting(), undecided()).await;
}

#[rstest]
#[case::undecided_still(30, Ok(Some(payment(PaymentStatus::Pending))), undecided())]
#[case::unanswered(30, Err(FetchError::Unavailable(GatewayUnavailable("down".to_owned()))), Left::Waiting { until: NOW + backoff(1) })]
#[case::unreadable(30, Err(FetchError::Unreadable("amount")), Left::Waiting { until: NOW + backoff(1) })]
#[case::not_known_yet(0, Ok(None), Left::Waiting { until: NOW + backoff(1) })]
#[case::not_known(30, Ok(None), Left::Unknown { until: NOW + UNKNOWN_INTERVAL })]
#[tokio::test]
async fn a_charge_whose_payment_is_known_is_never_sent_again(
    #[case] days: i64,
    #[case] answer: Result<Option<Payment>, FetchError>,
    #[case] expected: Left,
) {
    let mut gateway = MockPaymentGateway::new();
    gateway.expect_name().return_const("fake");
    let mut answer = Some(answer);
    gateway
        .expect_fetch()
        .withf(|id| id.as_str() == "pay_1")
        .times(1)
        .returning(move |_| answer.take().expect("it is asked once"));
    let sent = Sent { terms: terms(), first_at: NOW - Duration::days(days), payment: Some("pay_1".parse().unwrap()) };
    handle(gateway, &Waiting { sent: Some(sent), ..waiting() }, expected).await;
}

#[tokio::test]
async fn a_charge_that_is_unanswered_for_a_day_is_left_open_and_not_sent_again() {
    let sent = Sent { terms: terms(), first_at: NOW - SENT_AGAIN_FOR, payment: None };
    // The gateway expects no call.
    let left = Left::Unknown { until: NOW + UNKNOWN_INTERVAL };
    handle(MockPaymentGateway::new(), &Waiting { sent: Some(sent), ..waiting() }, left).await;
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
