//! An order of Mercado Libre as our document.

use domain::{
    imports::{Buyer, CountryCode, DocumentKind, DocumentPart, Line, MAX_ID_CHARS, MAX_NAME_CHARS, MAX_QUANTITY},
    money::Currency,
    shops::ShopOrder,
};
use rust_decimal::Decimal;

use super::{
    claims::Claimed,
    refunds,
    site::Site,
    wire::{Order, OrderItem, Payment},
};
use crate::shops::{amounts, wire::clean};

/// What an order is to us, before anything more is asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// A sale, perhaps one that was taken back.
    Sale,
    /// It does not count: never paid, a test, continued by other orders.
    Void,
    /// It cannot be taken, and why.
    Refused(String),
}

/// What other resources say about an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Details {
    /// What the seller bears of coupons, by item.
    pub discounts: Vec<(String, Decimal)>,
    /// The seller's cost of shipping. `None`: not known.
    pub shipping: Option<Decimal>,
    pub claimed: Claimed,
}

/// What was sold of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sold {
    pub item: String,
    pub variation: Option<String>,
    pub quantity: i64,
    /// What it came to, after discounts.
    pub total: Decimal,
    pub line: Line,
}

impl Payment {
    /// Whether money ever came in.
    pub(super) fn was_made(&self) -> bool {
        let made = ["approved", "refunded", "charged_back", "in_mediation"];
        self.date_approved.is_some() || self.status.as_deref().is_some_and(|status| made.contains(&status))
    }
}

/// What an order is to `seller`, whose account is kept in `currency`.
pub(super) fn standing(order: &Order, seller: &str, currency: Currency) -> Standing {
    let is_seller = |id: &str| id == seller;
    let owner = order.seller.as_ref().and_then(|person| person.id.as_ref());
    if owner.is_some_and(|id| !is_seller(&id.0)) {
        return Standing::Refused("it is a sale of another seller".to_owned());
    }
    // Unverified: the tag of orders between test users.
    let is_test = order.has_tag("test_order");
    let is_split = order.cancel_detail.as_ref().and_then(|detail| detail.code.as_deref()) == Some("pack_splitted");
    let counts = match order.status.as_str() {
        _ if is_test || is_split => false,
        "paid" | "partially_refunded" => true,
        "cancelled" | "pending_cancel" => order.payments.iter().any(Payment::was_made),
        "confirmed" | "payment_required" | "payment_in_process" | "partially_paid" | "invalid" => false,
        other => {
            let status = clean(other, 32).unwrap_or_default();
            return Standing::Refused(format!("its status is not known: {status}"));
        }
    };
    match counts {
        false => Standing::Void,
        true if order.currency_id == currency.as_str() => Standing::Sale,
        true => Standing::Refused(format!("its currency is {}", clean(&order.currency_id, 8).unwrap_or_default())),
    }
}

/// A sale with everything that was taken back of it.
///
/// # Errors
/// Why it cannot be taken, as a sentence for the owner.
pub(super) fn shop_order(order: &Order, details: &Details, currency: Currency) -> Result<ShopOrder, String> {
    let sold = order.order_items.iter().map(|item| sold(item, &details.discounts)).collect::<Result<Vec<_>, _>>()?;
    if sold.is_empty() {
        return Err("it has no items".to_owned());
    }
    let mut lines = Vec::new();
    for sold in &sold {
        lines.extend(units(&sold.line, sold.total, sold.quantity, currency).ok_or("its amounts cannot be kept")?);
    }
    let (refunds, refund_unknown) = refunds::of(order, &sold, &details.claimed, currency)?;
    let document = DocumentPart {
        kind: DocumentKind::Order,
        external_id: order.id.0.clone(),
        at: order.date_closed.unwrap_or(order.date_created).0,
        buyer: buyer(order),
        country: country(order),
        fees: fees(order)?,
        shipping: details.shipping,
        lines,
    };
    Ok(ShopOrder { order: document, refunds, refund_unknown, copy_of: None })
}

/// `total` for `quantity` units as lines like `line`.
pub(super) fn units(line: &Line, total: Decimal, quantity: i64, currency: Currency) -> Option<Vec<Line>> {
    let priced = amounts::per_unit(total, quantity, currency.exponent())?;
    let line = |(quantity, unit_price)| Line { quantity, unit_price, ..line.clone() };
    (amounts::is_importable(total)).then(|| priced.into_iter().map(line).collect())
}

fn sold(item: &OrderItem, discounts: &[(String, Decimal)]) -> Result<Sold, String> {
    let quantity = item.quantity.0;
    if !(1..=MAX_QUANTITY).contains(&quantity) {
        return Err("its quantity is not between 1 and 10^9".to_owned());
    }
    let discount: Decimal =
        discounts.iter().filter(|(discounted, _)| *discounted == item.item.id.0).map(|(_, amount)| *amount).sum();
    let gross = item.unit_price.0.checked_mul(Decimal::from(quantity)).ok_or("its amounts cannot be kept")?;
    let total = gross - discount;
    if total.is_sign_negative() && !total.is_zero() {
        return Err("its discount is more than its price".to_owned());
    }
    let of = &item.item;
    let own = [&of.seller_sku, &of.seller_custom_field];
    let variation = of.variation_id.as_ref().map(|id| id.0.clone());
    let line = Line {
        sku: sku(&own.map(Option::as_deref), &of.id.0, variation.as_deref()),
        is_product: true,
        name: of.title.as_deref().and_then(|title| clean(title, MAX_NAME_CHARS)),
        category: None,
        quantity,
        unit_price: Decimal::ZERO,
        unit_cost: None,
    };
    Ok(Sold { item: of.id.0.clone(), variation, quantity, total, line })
}

/// The seller's own SKU, else one made of the listing. An SKU that is too long to be kept is none.
pub(super) fn sku(own: &[Option<&str>], item: &str, variation: Option<&str>) -> String {
    let fits = |sku: &&str| !sku.trim().is_empty() && sku.chars().count() <= MAX_ID_CHARS;
    let own = own.iter().flatten().copied().find(fits).and_then(|sku| clean(sku, MAX_ID_CHARS));
    own.unwrap_or_else(|| match variation {
        Some(variation) => format!("mercadolibre:{item}:{variation}"),
        None => format!("mercadolibre:{item}"),
    })
}

/// Sale fees, which are stated per unit. `None` when they are not stated of all items.
fn fees(order: &Order) -> Result<Option<Decimal>, String> {
    let mut sum = Decimal::ZERO;
    for item in &order.order_items {
        let Some(fee) = item.sale_fee else { return Ok(None) };
        let fee = fee.0.checked_mul(Decimal::from(item.quantity.0)).filter(|fee| amounts::is_importable(*fee));
        sum += fee.filter(|fee| *fee >= Decimal::ZERO).ok_or("its fees cannot be kept")?;
    }
    Ok(Some(sum))
}

/// Mercado Libre shows who bought by number and nickname, and no e-mail.
fn buyer(order: &Order) -> Option<Buyer> {
    let person = order.buyer.as_ref()?;
    let name = person.nickname.as_deref().and_then(|name| clean(name, MAX_NAME_CHARS));
    Some(Buyer { external_id: person.id.as_ref()?.0.clone(), email: None, name, city: None })
}

/// The country of the site, as buyers order on the site of theirs.
fn country(order: &Order) -> Option<CountryCode> {
    Site::of_item(&order.order_items.first()?.item.id.0)?.country()
}

#[cfg(test)]
pub(super) mod tests;
