//! Orders as Shopify exports them: what is said of all of an order stands in its first line, and its amounts are those before
//! discounts. An order counts as a connection to Shopify counts it: for its total without tax, with what the buyer paid for
//! shipping.

use domain::{
    imports::{
        DocumentKind, DocumentPart, FileDocument, Line,
        amounts::{per_unit, shares},
        refund_id,
    },
    money::Currency,
    zone::Zone,
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::{MAX_PART_LINES, ORDER_ID, OrderLines};
use crate::{
    columns::Export,
    dates::FUTURE,
    table::{Record, Refusal, Table as _},
};

const ID: usize = OrderLines::FIELDS.len();
const STATUS: usize = ID + 1;
const SHIPPING: usize = ID + 2;
const TAXES: usize = ID + 3;
pub(super) const TOTAL: usize = ID + 4;
const REFUNDED: usize = ID + 5;
const CANCELLED: usize = ID + 6;

pub(super) const EXPORT: Export = Export {
    signs: &["Lineitem price", "Total"],
    field: (ORDER_ID, "Name"),
    columns: &["Id", "Financial Status", "Shipping", "Taxes", "Total", "Refunded Amount", "Cancelled at"],
};

/// An order whose lines are being read.
pub(super) struct Order {
    /// Everything but the lines.
    header: DocumentPart,
    /// By which a connection knows it.
    number: Option<String>,
    /// Whether it counts: one that waits for its payment, or whose payment was given up, does not.
    pub is_paid: bool,
    shipping: Decimal,
    taxes: Decimal,
    total: Decimal,
    refunded: Decimal,
    cancelled_at: Option<OffsetDateTime>,
    lines: Vec<Line>,
    /// How many lines of the file were taken.
    pub taken: i64,
}

impl Order {
    /// What its first line says. Nothing happened later than `latest`.
    pub fn begin(
        record: &Record<'_>,
        header: DocumentPart,
        zone: &Zone,
        latest: OffsetDateTime,
    ) -> Result<Self, Refusal> {
        let amount = |column| record.optional_cost(column).map(Option::unwrap_or_default);
        let cancelled_at = match record.optional_moment(CANCELLED)? {
            Some(moment) => Some(moment.instant(zone).map_err(|why| record.reject(CANCELLED, why))?),
            None => None,
        };
        if cancelled_at.is_some_and(|at| at > latest) {
            return Err(record.reject(CANCELLED, FUTURE));
        }
        let status = record.text(STATUS).map(|status| status.to_ascii_lowercase());
        Ok(Self {
            number: record
                .unrounded(ID, record.text(ID))?
                .filter(|id| id.len() <= 20 && id.bytes().all(|byte| byte.is_ascii_digit()))
                .map(Into::into),
            is_paid: !matches!(status.as_deref(), Some("pending" | "voided" | "expired")),
            shipping: amount(SHIPPING)?,
            taxes: amount(TAXES)?,
            total: amount(TOTAL)?,
            refunded: amount(REFUNDED)?,
            cancelled_at,
            header,
            lines: Vec::new(),
            taken: 0,
        })
    }

    pub fn at(&self) -> OffsetDateTime {
        self.header.at
    }

    pub fn is(&self, order_id: &str) -> bool {
        self.header.external_id == order_id
    }

    pub fn has_room(&self) -> bool {
        self.lines.len() < MAX_PART_LINES
    }

    pub fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// The order and what was refunded of it. `zone` is the account's, which cuts its days.
    pub fn end(self, currency: Currency, zone: &Zone, rows: &mut Vec<FileDocument>) {
        let Self { header, number, is_paid, shipping, taxes, total, refunded, cancelled_at, mut lines, taken } = self;
        let order_id = header.external_id.clone();
        let number = number.unwrap_or_else(|| order_id.clone());
        rows.push(FileDocument::Numbered { order_id, number, lines: taken });
        if !is_paid {
            return;
        }
        if !shipping.is_zero() {
            lines.push(money("shipping", "Shipping", shipping));
        }
        let net = (total - taxes).max(Decimal::ZERO);
        let listed: Decimal = lines.iter().map(amount).sum();
        if listed > net {
            lines = deducted(&lines, listed - net, currency);
        } else if net > listed {
            // Tips, duties and fees.
            lines.push(money("fee", "Fee", net - listed));
        }
        if lines.is_empty() {
            return;
        }
        let refund = Refunded { amount: refunded, of: total, net, at: cancelled_at };
        let refund = refund.document(&header, &lines, currency, zone);
        rows.push(FileDocument::Part(DocumentPart { lines, ..header }));
        rows.extend(refund.map(FileDocument::Part));
    }
}

/// What was refunded of an order until the file was written.
struct Refunded {
    amount: Decimal,
    /// Of this total, which has tax.
    of: Decimal,
    /// The order without tax.
    net: Decimal,
    /// When the order was cancelled.
    at: Option<OffsetDateTime>,
}

impl Refunded {
    /// The export does not say when, but for a cancellation: else it counts on the day of the order. Neither does it say of which
    /// goods. They come back when the order was cancelled and all of it refunded; any other refund is money alone.
    fn document(self, order: &DocumentPart, sold: &[Line], currency: Currency, zone: &Zone) -> Option<DocumentPart> {
        let is_all = self.amount >= self.of;
        let lines = if is_all && self.at.is_some() {
            sold.to_vec()
        } else {
            let amount = if is_all { self.net } else { self.amount * self.net / self.of };
            vec![money("refund", "Refund", amount.round_dp(currency.exponent()))]
        };
        let at = self.at.unwrap_or(order.at);
        let external_id = refund_id(&order.external_id, zone.day_of(at));
        let is_any = !self.amount.is_zero() && lines.iter().any(|line| !line.unit_price.is_zero());
        is_any.then(|| DocumentPart { kind: DocumentKind::Refund, external_id, at, lines, ..order.clone() })
    }
}

fn amount(line: &Line) -> Decimal {
    Decimal::from(line.quantity) * line.unit_price
}

/// Money that belongs to no goods, as a connection names it.
fn money(what: &str, name: &str, amount: Decimal) -> Line {
    Line {
        sku: format!("shopify:{what}"),
        is_product: false,
        name: Some(name.to_owned()),
        category: None,
        quantity: 1,
        unit_price: amount,
        unit_cost: None,
    }
}

/// The lines less discounts and the tax in their prices, which the export tells for the whole order: in proportion.
fn deducted(lines: &[Line], deduction: Decimal, currency: Currency) -> Vec<Line> {
    let amounts: Vec<Decimal> = lines.iter().map(amount).collect();
    let scale = amounts.iter().chain([&deduction]).map(|amount| amount.normalize().scale()).max();
    let shares = shares(deduction, &amounts, scale.unwrap_or_default().max(currency.exponent()));
    let mut left = Vec::new();
    for (line, (amount, share)) in lines.iter().zip(amounts.iter().zip(shares)) {
        let priced = per_unit(amount - share, line.quantity, currency.exponent());
        let priced = priced.unwrap_or_else(|| vec![(line.quantity, line.unit_price)]);
        left.extend(priced.into_iter().map(|(quantity, unit_price)| Line { quantity, unit_price, ..line.clone() }));
    }
    left
}

#[cfg(test)]
mod tests;
