//! What was given back of an order.
//!
//! Money: what its payments say was refunded, which is a sum so far and not a list of refunds. Goods: what the returns of its
//! claims say came back, and all of them where the sale was cancelled.

use std::collections::BTreeMap;

use domain::{imports::Line, money::Currency, shops::Refund};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::{
    claims::Claimed,
    document::{Sold, units},
    wire::{Order, OrderItem, Payment},
};
use crate::shops::amounts::{self, is_importable};

/// The SKU of money that was given back without goods.
const MONEY_SKU: &str = "mercadolibre:refund";

impl Payment {
    /// What was given back of it. Unverified: whether a payment that was refunded or charged back as a whole always says
    /// how much; where it does not, it is its amount.
    fn refunded(&self) -> Decimal {
        let stated = self.transaction_amount_refunded.map_or(Decimal::ZERO, |amount| amount.0);
        let is_undone = self.status.as_deref().is_some_and(|status| matches!(status, "refunded" | "charged_back"));
        if stated.is_zero() && is_undone { self.transaction_amount.0 } else { stated }
    }
}

/// Money that was given back on an order so far, but for what was paid beyond its price.
pub(super) fn refunded(order: &Order) -> Decimal {
    let sum: Decimal = order.payments.iter().map(Payment::refunded).sum();
    sum - overpaid(order).min(sum.max(Decimal::ZERO))
}

/// What was paid beyond the price, such as by a payment that another one took the place of: it was never sold for.
fn overpaid(order: &Order) -> Decimal {
    let price_of =
        |item: &OrderItem| item.unit_price.0.checked_mul(item.quantity.0.into()).filter(|price| is_importable(*price));
    // What cannot be kept is refused with its order.
    let Some(price) = order.order_items.iter().map(price_of).sum::<Option<Decimal>>() else { return Decimal::ZERO };
    let made = order.payments.iter().filter(|payment| payment.was_made());
    let paid: Decimal = made.map(|payment| payment.transaction_amount.0).sum();
    (paid - price).max(Decimal::ZERO)
}

/// Whether the sale was called off before the goods changed hands. Where the buyer gets the money into an account, the
/// order stays paid.
fn is_cancelled(order: &Order) -> bool {
    let into_account = |payment: &Payment| payment.tags.iter().any(|tag| tag == "refund_account_money");
    order.status == "cancelled" || (order.has_tag("unfulfilled") && order.payments.iter().any(into_account))
}

/// The refunds, and whether there is one without a known amount.
///
/// # Errors
/// Why the order cannot be taken.
pub(super) fn of(
    order: &Order,
    sold: &[Sold],
    claimed: &Claimed,
    currency: Currency,
) -> Result<(Vec<Refund>, bool), String> {
    let sum = refunded(order);
    let cancelled = is_cancelled(order);
    if sum.is_zero() {
        return Ok((Vec::new(), cancelled || order.status == "partially_refunded"));
    }
    let total: Decimal = sold.iter().map(|sold| sold.total).sum();
    let came_back = if cancelled && sum >= total {
        sold.iter().map(|sold| (sold, sold.quantity)).collect()
    } else {
        returned(sold, claimed)
    };
    let mut money = by_instant(order, claimed);
    let mut refunds = Vec::new();
    // The goods came back with the first refund: which of several was theirs, Mercado Libre does not say.
    if let Some((at, amount)) = money.pop_first() {
        refunds
            .push(Refund { at, lines: with_goods(amount, &came_back, currency).ok_or("its refund cannot be kept")? });
    }
    refunds.extend(money.into_iter().map(|(at, amount)| Refund { at, lines: vec![money_line(amount)] }));
    Ok((refunds, false))
}

/// What was given back, by when. Unverified: that a payment changes last when it is refunded; the date of the cancellation
/// or of the claim's resolution goes before it.
fn by_instant(order: &Order, claimed: &Claimed) -> BTreeMap<OffsetDateTime, Decimal> {
    let cancelled_at = order.cancel_detail.as_ref().and_then(|detail| detail.date).map(|date| date.0);
    let settled_at = cancelled_at.or(claimed.refunded_at);
    let mut money = BTreeMap::new();
    for payment in &order.payments {
        let amount = payment.refunded();
        if !amount.is_zero() {
            let changed_at = payment.date_last_modified.or(order.changed_at()).unwrap_or(order.date_created).0;
            *money.entry(settled_at.unwrap_or(changed_at)).or_insert(Decimal::ZERO) += amount;
        }
    }
    // What was paid twice is given back first.
    let mut beyond = overpaid(order);
    for amount in money.values_mut() {
        let of_it = beyond.min(*amount).max(Decimal::ZERO);
        (*amount, beyond) = (*amount - of_it, beyond - of_it);
    }
    money.retain(|_, amount| !amount.is_zero());
    money
}

fn returned<'a>(sold: &'a [Sold], claimed: &Claimed) -> Vec<(&'a Sold, i64)> {
    let units_of = |sold: &Sold| {
        let of_item = claimed.returned.iter().filter(|units| units.is_of(&sold.item, sold.variation.as_deref()));
        of_item.map(|units| units.quantity).sum::<i64>().min(sold.quantity)
    };
    sold.iter().map(|sold| (sold, units_of(sold))).filter(|(_, units)| *units > 0).collect()
}

/// The lines of `amount`: goods at what was paid for them as far as it goes, and the rest as money.
fn with_goods(amount: Decimal, goods: &[(&Sold, i64)], currency: Currency) -> Option<Vec<Line>> {
    let mut rest = amount;
    let mut lines = Vec::new();
    for (sold, quantity) in goods {
        let paid =
            amounts::shares(sold.total, &[(*quantity).into(), (sold.quantity - quantity).into()], currency.exponent());
        let value = paid.first().copied().unwrap_or_default().min(rest);
        rest -= value;
        lines.extend(units(&sold.line, value, *quantity, currency)?);
    }
    if !rest.is_zero() {
        lines.push(money_line(rest));
    }
    lines.iter().all(|line| amounts::is_importable(line.unit_price)).then_some(lines)
}

fn money_line(amount: Decimal) -> Line {
    let name = Some("Refund".to_owned());
    let sku = MONEY_SKU.to_owned();
    Line { sku, is_product: false, name, category: None, quantity: 1, unit_price: amount, unit_cost: None }
}

#[cfg(test)]
mod tests;
