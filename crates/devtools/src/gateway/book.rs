//! The payments that the gateway has made, and the faults it is configured to have. All of it is forgotten at its end.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

/// A payment as it is answered.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    pub id: String,
    pub status: Status,
    pub amount: String,
    pub currency: String,
    pub invoice_id: String,
    pub customer: Customer,
    pub metadata: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Customer {
    pub id: String,
    pub email: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    Pending,
    #[default]
    Succeeded,
    Failed,
    Refunded,
    Chargeback,
}

/// The faults from now on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// Every answer waits so long.
    pub slow_ms: u64,
    /// Charges are declined with this code.
    pub decline: Option<String>,
    /// Charges are made, but this number of answers to them are cut off.
    pub lost_answers: u32,
    /// Charges stay pending until their status is set.
    pub pending: bool,
    /// Every notification is sent this number of times more.
    pub duplicate: u32,
    /// A notification is held back until the next one has been sent.
    pub reordered: bool,
    /// Nothing is notified.
    pub silent: bool,
    /// Payments cannot be looked up (500).
    pub broken: bool,
    /// Payments have neither an invoice nor a customer.
    pub bare: bool,
}

/// A charge as it was asked for, and what was answered.
#[derive(Clone)]
pub struct RecordedCharge {
    pub body: Value,
    /// The payment's id, or the code of the refusal.
    pub answer: Result<String, String>,
}

/// A page where somebody may pay.
#[derive(Debug, Clone)]
pub struct OpenCheckout {
    pub amount: String,
    pub currency: String,
    pub metadata: BTreeMap<String, String>,
    pub success_url: Url,
    pub cancel_url: Url,
}

#[derive(Default)]
pub struct Pages {
    pub payments: BTreeMap<String, Payment>,
    /// Those that nobody has paid on, by the last part of their address.
    pub checkouts: HashMap<String, OpenCheckout>,
    /// By idempotency key.
    pub charges: HashMap<String, RecordedCharge>,
    /// By e-mail address.
    pub customers: HashMap<String, String>,
    pub faults: Faults,
}

/// The pages behind a lock.
#[derive(Default)]
pub struct Book(Mutex<Pages>);

impl Book {
    pub fn open(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    /// Writes down a new payment; ids count up.
    pub fn add(
        &mut self,
        status: Status,
        amount: String,
        currency: String,
        customer: Customer,
        metadata: BTreeMap<String, String>,
    ) -> Payment {
        let number = self.payments.len() + 1;
        let payment = Payment {
            // A run of its own tells payments of this gateway from those of one that ran before.
            id: format!("pay_{}_{number:05}", run_name()),
            status,
            amount,
            currency,
            invoice_id: format!("inv_{number:05}"),
            customer,
            metadata,
        };
        self.payments.insert(payment.id.clone(), payment.clone());
        payment
    }

    /// The customer with that address, created at the first call.
    pub fn customer(&mut self, email: &str) -> Customer {
        let number = self.customers.len() + 1;
        let id = self.customers.entry(email.to_owned()).or_insert_with(|| format!("cus_{number:05}"));
        Customer { id: id.clone(), email: email.to_owned() }
    }

    pub fn customer_of(&self, id: &str) -> Option<Customer> {
        let (email, id) = self.customers.iter().find(|(_, known)| *known == id)?;
        Some(Customer { id: id.clone(), email: email.clone() })
    }
}

fn run_name() -> &'static str {
    static NAME: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    NAME.get_or_init(|| uuid::Uuid::new_v4().simple().to_string().chars().take(8).collect())
}
