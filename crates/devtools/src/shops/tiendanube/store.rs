//! What is in a store, and what can happen there.

use std::collections::BTreeMap;

use domain::{money::Currency, zone::Zone};
use rust_decimal::Decimal;
use time::OffsetDateTime;

/// The store that the stub has.
pub struct Store {
    pub id: u64,
    pub host: String,
    pub currency: Currency,
    pub zone: Zone,
    pub country: &'static str,
    /// Of names.
    pub language: &'static str,
    pub products: Vec<Product>,
    pub customers: BTreeMap<u64, Customer>,
    pub orders: BTreeMap<u64, Order>,
}

pub struct Product {
    pub id: u64,
    /// By language.
    pub names: BTreeMap<&'static str, String>,
    pub category: Option<&'static str>,
    pub variants: Vec<Variant>,
}

#[derive(Clone)]
pub struct Variant {
    pub id: u64,
    pub value: Option<&'static str>,
    pub sku: Option<String>,
    /// `None`: on request.
    pub price: Option<Decimal>,
    pub promotional_price: Option<Decimal>,
    pub cost: Option<Decimal>,
    /// Units at each place; `None`: not managed.
    pub stock: Option<Vec<i64>>,
}

impl Variant {
    pub fn selling_price(&self) -> Option<Decimal> {
        self.promotional_price.or(self.price)
    }

    /// The first place gives and takes.
    fn move_stock(&mut self, units: i64) {
        if let Some(first) = self.stock.as_mut().and_then(|levels| levels.first_mut()) {
            *first += units;
        }
    }
}

#[derive(Clone)]
pub struct Customer {
    pub id: u64,
    pub name: String,
    pub email: String,
    pub city: &'static str,
}

#[derive(Clone)]
pub struct OrderLine {
    pub product: u64,
    pub variant: u64,
    pub name: String,
    pub sku: Option<String>,
    pub price: Decimal,
    pub quantity: i64,
    pub cost: Option<Decimal>,
}

/// What went back, beside a reversal of the whole order.
#[derive(Clone)]
pub struct PartReturned {
    pub at: OffsetDateTime,
    pub amount: Decimal,
    /// Whether the history of the order tells of it.
    pub told: bool,
}

#[derive(Clone)]
pub struct Order {
    pub id: u64,
    pub created_at: OffsetDateTime,
    pub updated_at: OffsetDateTime,
    pub paid_at: Option<OffsetDateTime>,
    pub cancelled_at: Option<OffsetDateTime>,
    /// When all of the money went back, where it was not by a cancellation.
    pub refunded_at: Option<OffsetDateTime>,
    pub payment_status: &'static str,
    pub currency: Currency,
    pub storefront: &'static str,
    pub customer: Option<u64>,
    pub lines: Vec<OrderLine>,
    pub discount: Decimal,
    /// What the buyer pays for the transport.
    pub shipping: Decimal,
    /// What the store pays for it; `None` when it is not known.
    pub shipping_cost: Option<Decimal>,
    pub parts_returned: Vec<PartReturned>,
}

impl Order {
    pub fn subtotal(&self) -> Decimal {
        self.lines.iter().map(|line| line.price * Decimal::from(line.quantity)).sum()
    }

    pub fn total(&self) -> Decimal {
        self.subtotal() - self.discount + self.shipping
    }

    pub fn units(&self) -> i64 {
        self.lines.iter().map(|line| line.quantity).sum()
    }
}

/// What can be done with an order.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    Pay,
    /// The money of a paid order goes back, though its payment status says nothing of it.
    Cancel,
    /// All of the money goes back.
    Refund,
    /// Some of it does; the history tells of it, or not.
    RefundPart {
        amount: Decimal,
        told: bool,
    },
    /// The last line is gone, or there is one unit less of the only one.
    Edit,
    Void,
    /// There is no such order any more. The platform has no way to delete one: this is for numbers without an order.
    Delete,
}

impl Store {
    pub fn variant(&mut self, id: u64) -> Option<&mut Variant> {
        self.products.iter_mut().flat_map(|product| &mut product.variants).find(|variant| variant.id == id)
    }

    /// The customer's orders stay, without a customer.
    pub fn forget(&mut self, customer: u64) {
        self.customers.retain(|_, known| known.id != customer);
        let known = &self.customers;
        for order in self.orders.values_mut() {
            order.customer = order.customer.filter(|key| known.contains_key(key));
        }
    }

    /// A new order of a customer, not paid yet: `quantity` of each of these variants, at their prices.
    pub fn order(
        &mut self,
        variants: &[u64],
        quantity: i64,
        customer: Option<u64>,
        storefront: &'static str,
        now: OffsetDateTime,
    ) -> Option<u64> {
        let line = |variant_id: &u64| {
            let product = self.products.iter().find(|product| product.variants.iter().any(|v| v.id == *variant_id))?;
            let variant = product.variants.iter().find(|variant| variant.id == *variant_id)?;
            Some(OrderLine {
                product: product.id,
                variant: variant.id,
                name: product.names.get(self.language)?.clone(),
                sku: variant.sku.clone(),
                price: variant.selling_price()?,
                quantity,
                cost: variant.cost,
            })
        };
        let lines = variants.iter().map(line).collect::<Option<Vec<_>>>().filter(|lines| !lines.is_empty())?;
        let id = self.orders.last_key_value().map_or(100_000_001, |(id, _)| id + 1);
        let order = Order {
            id,
            created_at: now,
            updated_at: now,
            paid_at: None,
            cancelled_at: None,
            refunded_at: None,
            payment_status: "pending",
            currency: self.currency,
            storefront,
            customer,
            lines,
            discount: Decimal::ZERO,
            shipping: Decimal::ZERO,
            shipping_cost: None,
            parts_returned: Vec::new(),
        };
        self.orders.insert(id, order);
        Some(id)
    }

    /// Does something with an order and gives the events that tell of it; `None` when there is no such order, or it is not
    /// in a state for it.
    pub fn act(&mut self, id: u64, action: &Action, now: OffsetDateTime) -> Option<Vec<&'static str>> {
        let order = self.orders.get_mut(&id)?;
        let is_paid = matches!(order.payment_status, "paid" | "partially_refunded");
        let (event, moved) = match action {
            Action::Pay if order.payment_status == "pending" => {
                (order.payment_status, order.paid_at) = ("paid", Some(now));
                ("order/paid", -1)
            }
            Action::Cancel if order.cancelled_at.is_none() => {
                order.cancelled_at = Some(now);
                ("order/cancelled", i64::from(is_paid))
            }
            Action::Refund if is_paid => {
                (order.payment_status, order.refunded_at) = ("refunded", Some(now));
                ("order/updated", 1)
            }
            Action::RefundPart { amount, told } if is_paid => {
                order.payment_status = "partially_refunded";
                order.parts_returned.push(PartReturned { at: now, amount: *amount, told: *told });
                ("order/updated", 0)
            }
            Action::Edit => {
                match order.lines.as_mut_slice() {
                    [only] if only.quantity > 1 => only.quantity -= 1,
                    [_] | [] => return None,
                    _ => drop(order.lines.pop()),
                }
                order.discount = order.discount.min(order.subtotal());
                ("order/edited", 0)
            }
            Action::Void if order.payment_status == "pending" || is_paid => {
                order.payment_status = "voided";
                ("order/voided", 0)
            }
            Action::Delete => {
                self.orders.remove(&id);
                return Some(Vec::new());
            }
            _ => return None,
        };
        order.updated_at = now;
        let lines = order.lines.clone();
        for line in lines {
            if let Some(variant) = self.variant(line.variant) {
                variant.move_stock(moved * line.quantity);
            }
        }
        Some(if event == "order/updated" { vec![event] } else { vec![event, "order/updated"] })
    }
}
