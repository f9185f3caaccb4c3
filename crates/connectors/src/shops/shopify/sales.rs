//! What an order's agreements come to: lines of the order as it stands, and refunds.
//!
//! An agreement is a dated list of sales, whose amounts are signed, after discounts, and exact. What was ordered or taken
//! out again in an edit belongs to the order, under the order's own date; what comes back in a refund or a return is a
//! refund under that agreement's date. Amounts are taken **net of tax**, in orders and refunds alike, whether or not the
//! shop's prices include it: tax is not the shop's money.
//!
//! Gift cards are left out, both when they are sold and when they are refunded: a sold card is a debt to its holder. The
//! revenue is what is bought with it, in the order that it pays for; if both counted, it would count twice.

use domain::{
    imports::{Buyer, DocumentKind, DocumentPart, Line, MAX_ID_CHARS, MAX_NAME_CHARS, MAX_QUANTITY},
    money::Currency,
    shops::{Refund, ShopOrder},
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::wire::{AgreementWire, CustomerWire, LineItemWire, OrderWire, SaleWire, TransactionWire};
use crate::shops::{
    amounts::{is_importable, is_importable_cost, per_unit, shares},
    wire::clean,
};

/// The kind of line that a sold gift card is.
const GIFT_CARD_LINE: &str = "GIFT_CARD";
/// The gateway of payments by gift card, which cost the shop nothing. Unverified: its name.
const GIFT_CARD_GATEWAY: &str = "gift_card";

/// What becomes of an order.
#[derive(Debug, PartialEq)]
pub(super) enum Mapped {
    Taken(Box<ShopOrder>),
    /// It does not count.
    Voided,
    /// It cannot be taken, and why.
    Refused(String),
}

/// What a line is about.
#[derive(Debug, Clone, PartialEq)]
struct Subject {
    /// The same for sales of the same line of the order.
    key: String,
    sku: String,
    name: Option<String>,
    is_product: bool,
}

/// What the sales of one line add up to.
#[derive(Debug)]
struct Sum {
    subject: Subject,
    units: i64,
    money: Decimal,
}

/// An order whose agreements are complete.
pub(super) fn order(wire: OrderWire, currency: Currency) -> Mapped {
    if wire.test || !is_taken(&wire) {
        return Mapped::Voided;
    }
    match taken(wire, currency) {
        Ok(order) if order.order.lines.is_empty() && order.refunds.is_empty() => Mapped::Voided,
        Ok(order) => Mapped::Taken(Box::new(order)),
        Err(reason) => Mapped::Refused(reason),
    }
}

/// Whether an order counts: one that waits for its payment, or whose payment was given up, does not until money came in.
fn is_taken(wire: &OrderWire) -> bool {
    match wire.display_financial_status.as_deref() {
        Some("PENDING" | "VOIDED" | "EXPIRED") => wire.transactions.iter().any(is_payment),
        _ => true,
    }
}

fn is_done(transaction: &TransactionWire) -> bool {
    transaction.status == "SUCCESS" && !transaction.test
}

/// Whether a transaction brought money in.
fn is_payment(transaction: &TransactionWire) -> bool {
    is_done(transaction) && matches!(transaction.kind.as_str(), "SALE" | "CAPTURE")
}

fn taken(wire: OrderWire, currency: Currency) -> Result<ShopOrder, String> {
    if wire.currency_code != currency.as_str() {
        return Err(format!("its currency is {}", code(&wire.currency_code)));
    }
    let agreements = wire.agreements.map(|page| page.nodes).unwrap_or_default();
    let Some(first) = agreements.iter().find(|agreement| agreement.reason == "ORDER") else {
        return Err("it does not say what was ordered".to_owned());
    };
    let at = first.happened_at;
    let mut ordered = Vec::new();
    let mut refunds = Vec::new();
    for agreement in agreements {
        let (at, mut back) = (whole_seconds(agreement.happened_at), Vec::new());
        for (sale, is_refund) in sales(agreement)? {
            let sum = sum_of(sale, currency)?;
            add(if is_refund { &mut back } else { &mut ordered }, sum);
        }
        let lines = refund_lines(back, currency)?;
        if !lines.is_empty() {
            refunds.push(Refund { at, lines });
        }
    }
    let order = DocumentPart {
        kind: DocumentKind::Order,
        external_id: wire.legacy_resource_id.0,
        at: whole_seconds(at),
        country: wire.shipping_address.as_ref().and_then(|address| address.country_code_v2.as_ref()?.parse().ok()),
        buyer: wire.customer.map(|customer| {
            let city = wire.shipping_address.and_then(|address| clean(&address.city?, MAX_NAME_CHARS));
            buyer(customer, city)
        }),
        fees: fees(&wire.transactions, currency),
        // Shopify does not say what shipping costs the shop.
        shipping: None,
        lines: order_lines(ordered, currency)?,
    };
    Ok(ShopOrder { order, refunds, refund_unknown: false, copy_of: None })
}

/// The sales of an agreement but for those of gift cards, and whether each is part of a refund.
fn sales(agreement: AgreementWire) -> Result<Vec<(SaleWire, bool)>, String> {
    let is_refund = match agreement.reason.as_str() {
        "ORDER" | "ORDER_EDIT" => false,
        "REFUND" | "RETURN" => true,
        other => return Err(format!("one of its agreements is of the kind {}", code(other))),
    };
    let part = |sale: SaleWire| match (sale.action_type.as_str(), sale.line_type.as_str()) {
        // What the shop keeps of a refund, such as a restocking fee, is a charge in form, but nothing was bought.
        ("ORDER", "ADJUSTMENT" | "FEE") => Ok((sale, is_refund)),
        // Also in a return: what was given in exchange.
        ("ORDER", _) => Ok((sale, false)),
        ("RETURN" | "UPDATE", _) => Ok((sale, is_refund)),
        (other, _) => Err(format!("one of its sales is of the kind {}", code(other))),
    };
    let sales = agreement.sales.map(|page| page.nodes).unwrap_or_default().into_iter();
    sales.filter(|sale| sale.line_type != GIFT_CARD_LINE).map(part).collect()
}

fn sum_of(sale: SaleWire, currency: Currency) -> Result<Sum, String> {
    let (total, tax) = (&sale.total_amount.shop_money, &sale.total_tax_amount.shop_money);
    if let Some(other) = [total, tax].into_iter().find(|money| money.currency_code != currency.as_str()) {
        return Err(format!("one of its amounts is in {}", code(&other.currency_code)));
    }
    let money = total.amount.0 - tax.amount.0;
    if !is_importable(money) {
        return Err("one of its amounts is too large or too fine".to_owned());
    }
    let units = sale.quantity.map_or(0, |quantity| quantity.0);
    if units.abs() > MAX_QUANTITY {
        return Err("one of its quantities is too large".to_owned());
    }
    // Unverified: the units of what is taken back are negative, as the amount is. Only the amount's sign is relied upon.
    let units = match sale.action_type.as_str() {
        "RETURN" if money > Decimal::ZERO => units.abs(),
        "RETURN" => -units.abs(),
        // A changed price, tax or discount: its units are those of the line, and were counted there.
        "UPDATE" => 0,
        _ => units,
    };
    Ok(Sum { subject: subject(&sale.line_type, sale.line_item)?, units, money })
}

/// What a sale is about. Everything but goods is money: it has no units.
fn subject(line_type: &str, item: Option<LineItemWire>) -> Result<Subject, String> {
    if line_type == "PRODUCT" {
        let item = item.ok_or_else(|| "one of its sales does not say of what".to_owned())?;
        let name = clean(&item.name, MAX_NAME_CHARS);
        let variant = item.variant.as_ref().map(|variant| variant.legacy_resource_id.0.as_str());
        return Ok(Subject { sku: sku(item.sku.as_deref(), variant), key: item.id, name, is_product: true });
    }
    let (what, name) = match line_type {
        "SHIPPING" => ("shipping", "Shipping"),
        "TIP" => ("tip", "Tip"),
        "DUTY" => ("duty", "Duty"),
        "FEE" | "ADDITIONAL_FEE" => ("fee", "Fee"),
        "ADJUSTMENT" => ("adjustment", "Adjustment"),
        other => return Err(format!("one of its lines is of the kind {}", code(other))),
    };
    let sku = format!("shopify:{what}");
    Ok(Subject { key: sku.clone(), sku, name: Some(name.to_owned()), is_product: false })
}

/// The SKU of a variant. Blank ones, and ones that are too long to be kept, are replaced by the variant's number; goods
/// without a variant (entered by hand, or deleted since) and without a SKU are one product.
pub(super) fn sku(given: Option<&str>, variant: Option<&str>) -> String {
    let given = given.and_then(|sku| clean(sku, MAX_ID_CHARS + 1)).filter(|sku| sku.chars().count() <= MAX_ID_CHARS);
    given.unwrap_or_else(|| format!("shopify:{}", variant.unwrap_or("custom")))
}

fn add(sums: &mut Vec<Sum>, sum: Sum) {
    match sums.iter_mut().find(|known| known.subject.key == sum.subject.key) {
        Some(known) => {
            known.units += sum.units;
            known.money += sum.money;
        }
        None => sums.push(sum),
    }
}

/// Lines of an order. A line that ended below 0 (a correction, a discount on the whole) is deducted from the others in
/// proportion, as there are no lines below 0.
fn order_lines(mut sums: Vec<Sum>, currency: Currency) -> Result<Vec<Line>, String> {
    if sums.iter().any(|sum| sum.subject.is_product && sum.units < 0) {
        return Err("more units were taken out than were ordered".to_owned());
    }
    let deduction: Decimal = sums.iter().map(|sum| sum.money.min(Decimal::ZERO)).sum();
    if !deduction.is_zero() {
        let weights: Vec<Decimal> = sums.iter().map(|sum| sum.money.max(Decimal::ZERO)).collect();
        if weights.iter().sum::<Decimal>() + deduction < Decimal::ZERO {
            return Err("its lines add up to less than 0".to_owned());
        }
        let decimals = sums.iter().map(|sum| sum.money.scale()).max().unwrap_or(0).max(currency.exponent());
        for (sum, share) in sums.iter_mut().zip(shares(-deduction, &weights, decimals)) {
            sum.money = sum.money.max(Decimal::ZERO) - share;
        }
    }
    lines(sums, currency)
}

/// Lines of a refund: units that came back and what was paid for them are above 0, as is money alone.
fn refund_lines(sums: Vec<Sum>, currency: Currency) -> Result<Vec<Line>, String> {
    lines(sums.into_iter().map(|sum| Sum { units: -sum.units, money: -sum.money, ..sum }).collect(), currency)
}

fn lines(sums: Vec<Sum>, currency: Currency) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for Sum { subject, units, money } in sums {
        let goods = if subject.is_product { units } else { 0 };
        // Goods and money of opposite signs have no price: the goods come for nothing, and the money stands alone.
        let together = goods != 0 && (money.is_zero() || (goods > 0) == (money > Decimal::ZERO));
        if goods != 0 {
            let total = if together { money } else { Decimal::ZERO };
            let priced = per_unit(total, goods, currency.exponent()).ok_or("one of its amounts has no price")?;
            lines.extend(priced.into_iter().map(|(quantity, unit_price)| line(&subject, quantity, unit_price)));
        }
        if !together && !money.is_zero() {
            let quantity = if money > Decimal::ZERO { 1 } else { -1 };
            lines.push(line(&alone(subject), quantity, money.abs().normalize()));
        }
    }
    Ok(lines)
}

/// Money that belongs to no units.
fn alone(subject: Subject) -> Subject {
    if subject.is_product {
        let name = Some("Adjustment".to_owned());
        Subject { sku: "shopify:adjustment".to_owned(), name, is_product: false, ..subject }
    } else {
        subject
    }
}

/// Today's unit cost is no part of a line: it would rewrite the cost of what was sold before. The catalogue dates it.
fn line(subject: &Subject, quantity: i64, unit_price: Decimal) -> Line {
    let Subject { sku, name, is_product, .. } = subject.clone();
    Line { sku, is_product, name, category: None, quantity, unit_price, unit_cost: None }
}

fn buyer(customer: CustomerWire, city: Option<String>) -> Buyer {
    let email = customer.default_email_address.and_then(|email| clean(&email.email_address, MAX_NAME_CHARS));
    // Without a name, Shopify shows the address, or the telephone number.
    let is_name = |name: &String| Some(name) != email.as_ref() && name.chars().any(char::is_alphabetic);
    let name = customer.display_name.and_then(|name| clean(&name, MAX_NAME_CHARS)).filter(is_name);
    Buyer { external_id: customer.legacy_resource_id.0, email, name, city }
}

/// What payments cost the shop. Only Shopify's own payments tell it. `None` where a part was paid in another way: an
/// unknown fee is estimated, while the fees of the rest would pass for those of the whole order. Fees in another
/// currency make the sum unknown, too.
fn fees(transactions: &[TransactionWire], currency: Currency) -> Option<Decimal> {
    let done = || transactions.iter().filter(|transaction| is_done(transaction));
    let by_gift_card = |payment: &TransactionWire| payment.gateway.as_deref() == Some(GIFT_CARD_GATEWAY);
    let mut payments = transactions.iter().filter(|transaction| is_payment(transaction)).peekable();
    if payments.peek().is_some() && payments.clone().all(by_gift_card) {
        return Some(Decimal::ZERO);
    }
    // By gateway: the fees of a payment may stand at its authorization, and not at what was captured of it.
    let is_told = |payment: &TransactionWire| {
        by_gift_card(payment) || done().any(|other| other.gateway == payment.gateway && !other.fees.is_empty())
    };
    if !payments.all(is_told) {
        return None;
    }
    let mut fees = done().flat_map(|transaction| &transaction.fees).map(|fee| &fee.amount).peekable();
    fees.peek()?;
    let known = |money: &super::wire::MoneyWire| (money.currency_code == currency.as_str()).then_some(money.amount.0);
    let sum: Decimal = fees.map(known).sum::<Option<Decimal>>()?;
    Some(sum).filter(|sum| is_importable_cost(*sum))
}

fn whole_seconds(at: OffsetDateTime) -> OffsetDateTime {
    let at = at.replace_nanosecond(0).unwrap_or(at);
    // What has none in UTC is refused by the import, as every date out of range.
    at.checked_to_offset(time::UtcOffset::UTC).unwrap_or(at)
}

/// A name of the platform's as it can be shown.
fn code(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect()
}

#[cfg(test)]
mod tests;
