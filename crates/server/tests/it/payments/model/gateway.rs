//! A gateway in memory.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};

use async_trait::async_trait;
use domain::{
    AccountId,
    payments::{
        Charge, ChargeError, Checkout, FetchError, GatewayUnavailable, NotificationRefused, Order, Payer, Payment,
        PaymentGateway, PaymentId, PaymentStatus,
    },
};
use proptest::sample::Index;
use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};
use url::Url;

use super::now;

/// How charges go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    Decline,
    /// The card is charged without an answer or a notification.
    LoseAnswer,
    /// It is not known yet whether the money comes.
    Pending,
}

/// What the gateway knows.
#[derive(Clone)]
pub struct Book {
    pub payments: Vec<Payment>,
    /// When a charge was made, and its outcome, by its key: a payment, or a refusal. A key is forgotten after a day.
    pub charges: HashMap<String, (OffsetDateTime, Option<PaymentId>)>,
    pub fault: Fault,
}

impl Book {
    pub fn find(&self, id: &PaymentId) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == *id)
    }
}

pub struct FakeGateway {
    account: AccountId,
    book: Mutex<Book>,
}

impl FakeGateway {
    pub fn new(account: AccountId) -> Self {
        let book = Book { payments: Vec::new(), charges: HashMap::new(), fault: Fault::None };
        Self { account, book: Mutex::new(book) }
    }

    fn open(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    pub fn snapshot(&self) -> Book {
        self.open().clone()
    }

    pub fn set_fault(&self, fault: Fault) {
        self.open().fault = fault;
    }

    fn add(&self, book: &mut Book, order: Order, amount: Decimal, status: PaymentStatus) -> Payment {
        let number = book.payments.len();
        let payment = Payment {
            id: format!("pay_{}_{number}", self.account).parse().unwrap(),
            status,
            amount,
            currency: "USD".parse().unwrap(),
            invoice_id: Some(format!("inv_{number}")),
            payer: Payer { customer_id: Some("cus_1".to_owned()), email: Some("payer@example.com".to_owned()) },
            order: Some(order),
        };
        book.payments.push(payment.clone());
        payment
    }

    pub fn checkout(&self, item: &str, amount: Decimal, pending: bool) {
        let status = if pending { PaymentStatus::Pending } else { PaymentStatus::Approved };
        let order = Order { account: self.account, item: item.to_owned(), charge: None };
        self.add(&mut self.open(), order, amount, status);
    }

    pub fn pick(&self, index: &Index) -> Option<Payment> {
        let book = self.open();
        if book.payments.is_empty() { None } else { Some(index.get(&book.payments).clone()) }
    }

    /// Money that is decided on only goes back; what is pending is decided.
    pub fn change(&self, index: &Index, to: PaymentStatus) {
        use PaymentStatus::{Approved, ChargedBack, Pending, Refunded, Rejected};
        let mut book = self.open();
        if book.payments.is_empty() {
            return;
        }
        let chosen = index.index(book.payments.len());
        let payment = &mut book.payments[chosen];
        if matches!(
            (payment.status, to),
            (Pending, Approved | Rejected) | (Approved, Refunded | ChargedBack) | (Refunded, ChargedBack)
        ) {
            payment.status = to;
        }
    }
}

#[async_trait]
impl PaymentGateway for FakeGateway {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn signature_header(&self) -> &'static str {
        "x-signature"
    }

    fn notified(&self, _: &str, _: &[u8], _: OffsetDateTime) -> Result<PaymentId, NotificationRefused> {
        Err(NotificationRefused::Malformed)
    }

    async fn fetch(&self, id: &PaymentId) -> Result<Option<Payment>, FetchError> {
        Ok(self.open().find(id).cloned())
    }

    async fn charge(&self, charge: &Charge) -> Result<Payment, ChargeError> {
        let mut book = self.open();
        let declined = || ChargeError::Declined("card_declined".to_owned());
        let known = book.charges.get(&charge.idempotency_key).cloned();
        if let Some((_, before)) = known.filter(|(at, _)| now() - *at < Duration::DAY) {
            let id = before.ok_or_else(declined)?;
            return match book.find(&id).cloned() {
                Some(payment) if payment.status == PaymentStatus::Rejected => Err(declined()),
                payment => Ok(payment.unwrap()),
            };
        }
        if book.fault == Fault::Decline {
            book.charges.insert(charge.idempotency_key.clone(), (now(), None));
            return Err(declined());
        }
        let status = if book.fault == Fault::Pending { PaymentStatus::Pending } else { PaymentStatus::Approved };
        let payment = self.add(&mut book, charge.order.clone(), charge.price.amount, status);
        book.charges.insert(charge.idempotency_key.clone(), (now(), Some(payment.id.clone())));
        if book.fault == Fault::LoseAnswer {
            return Err(GatewayUnavailable("the answer is lost".to_owned()).into());
        }
        Ok(payment)
    }
    async fn checkout(&self, _: &Checkout) -> Result<Url, GatewayUnavailable> {
        Err(GatewayUnavailable("nobody pays by hand here".to_owned()))
    }
}
