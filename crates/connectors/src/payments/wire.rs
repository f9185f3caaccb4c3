//! The gateway's JSON. Amounts are strings, so that no digit is lost on the way.

use std::collections::HashMap;

use domain::{
    AccountId, ChargeId,
    payments::{Charge, Checkout, Order, Payer, Payment, PaymentStatus},
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct Notification {
    payment: Named,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

impl Notification {
    pub(super) fn payment_id(self) -> String {
        self.payment.id
    }
}

/// A payment is judged by its id, status, amount, currency and metadata. What else it has may be missing, null or of another
/// form: who has paid is credited all the same.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentWire {
    id: String,
    status: String,
    amount: String,
    currency: String,
    invoice_id: Option<Box<RawValue>>,
    customer: Option<Box<RawValue>>,
    metadata: Option<Box<RawValue>>,
}

/// The fields of an object, each to be read by itself: half a surrogate pair, as of a name that was cut, is text of no other.
type Fields = HashMap<String, Box<RawValue>>;

#[derive(Serialize)]
struct MetadataWire {
    account_id: String,
    item: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    charge_id: Option<String>,
}

/// Texts from outside are kept at most so long.
const MAX_TEXT: usize = 320;

impl PaymentWire {
    /// The payment, or the name of the field that cannot be read.
    pub(super) fn read(self) -> Result<Payment, &'static str> {
        let Self { id, status, amount, currency, invoice_id, customer, metadata } = self;
        let customer = fields(customer.as_deref());
        Ok(Payment {
            id: id.parse().map_err(|_| "id")?,
            status: read_status(&status).ok_or("status")?,
            amount: amount.parse::<Decimal>().map_err(|_| "amount")?,
            currency: currency.parse().map_err(|_| "currency")?,
            invoice_id: invoice_id.and_then(|invoice| plain(&invoice)),
            payer: Payer { customer_id: text(&customer, "id"), email: text(&customer, "email") },
            order: order(&fields(metadata.as_deref())),
        })
    }
}

/// None, where it is no object.
fn fields(object: Option<&RawValue>) -> Fields {
    object.and_then(|object| serde_json::from_str(object.get()).ok()).unwrap_or_default()
}

fn text(fields: &Fields, name: &str) -> Option<String> {
    plain(fields.get(name)?)
}

/// A text that can be kept.
fn plain(value: &RawValue) -> Option<String> {
    let text: String = serde_json::from_str(value.get()).ok()?;
    let is_plain = (1..=MAX_TEXT).contains(&text.len()) && !text.chars().any(char::is_control);
    is_plain.then_some(text)
}

fn read_status(text: &str) -> Option<PaymentStatus> {
    Some(match text {
        "PENDING" => PaymentStatus::Pending,
        "SUCCEEDED" => PaymentStatus::Approved,
        "FAILED" => PaymentStatus::Rejected,
        "REFUNDED" => PaymentStatus::Refunded,
        "CHARGEBACK" => PaymentStatus::ChargedBack,
        _ => return None,
    })
}

/// What the checkout noted. A payment of another shop of the same merchant has none, or another.
fn order(metadata: &Fields) -> Option<Order> {
    let number = |name: &str| text(metadata, name)?.parse::<i64>().ok().filter(|number| *number > 0);
    let is_of_charge = metadata.get("charge_id").is_some_and(|charge| charge.get() != "null");
    let charge = if is_of_charge { Some(ChargeId(number("charge_id")?)) } else { None };
    Some(Order { account: AccountId(number("account_id")?), item: text(metadata, "item")?, charge })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChargeWire<'a> {
    customer_id: &'a str,
    amount: String,
    currency: &'a str,
    metadata: MetadataWire,
}

impl<'a> From<&'a Charge> for ChargeWire<'a> {
    fn from(charge: &'a Charge) -> Self {
        let Charge { idempotency_key: _, customer_id, price, order } = charge;
        Self { customer_id, amount: price.written(), currency: price.currency.as_str(), metadata: order.into() }
    }
}

impl From<&Order> for MetadataWire {
    fn from(order: &Order) -> Self {
        let Order { account, item, charge } = order;
        Self { account_id: account.to_string(), item: item.clone(), charge_id: charge.map(|charge| charge.to_string()) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckoutWire<'a> {
    amount: String,
    currency: &'a str,
    metadata: MetadataWire,
    success_url: &'a str,
    cancel_url: &'a str,
}

impl<'a> From<&'a Checkout> for CheckoutWire<'a> {
    fn from(checkout: &'a Checkout) -> Self {
        let Checkout { price, order, paid_url, left_url } = checkout;
        Self {
            amount: price.written(),
            currency: price.currency.as_str(),
            metadata: order.into(),
            success_url: paid_url.as_str(),
            cancel_url: left_url.as_str(),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct OpenedWire {
    pub url: String,
}

#[derive(Deserialize)]
pub(super) struct RefusalWire {
    #[serde(default)]
    pub code: String,
}
