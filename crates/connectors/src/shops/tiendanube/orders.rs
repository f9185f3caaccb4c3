//! Orders of Tiendanube as orders of ours.

use domain::{
    accounts::Platform,
    imports::{Buyer, DocumentKind, DocumentPart, Line, MAX_ID_CHARS, MAX_NAME_CHARS},
    money::Currency,
    shops::{OrderBatch, Refused, ShopOrder, Voided},
};
use rust_decimal::Decimal;

use super::{
    refunds::{self, Returned},
    wire::{AddressWire, BadField, CustomerWire, Field, FulfillmentWire, MoneyWire, OrderLineWire, OrderWire, Texts},
};
use crate::shops::{
    amounts::{is_importable, is_importable_cost, per_unit, shares},
    wire::{Amount, Count, clean},
};

/// Decimals that prices are rounded to, unless the platform gives more.
const CENTS: u32 = 2;
/// What the platform calls orders that it copied from Mercado Libre.
const MELI: &str = "meli";

/// What is refused, and why.
type Reason = String;

impl From<BadField> for Reason {
    fn from(field: BadField) -> Self {
        field.reason()
    }
}

/// Puts an order where it belongs in the batch. `returned` is what the platform says of money that went back, for the
/// orders of which [`refunds::needs_history`] says that it has to be asked for.
pub(super) fn sort(batch: &mut OrderBatch, wire: OrderWire, returned: &[Returned], currency: Currency) {
    let external_id = wire.id.clone().ok().map_or_else(|| "?".to_owned(), |id| id.0);
    match map(wire, returned, currency) {
        Ok(Some(order)) => batch.orders.push(order),
        Ok(None) => batch.voided.push(Voided { external_id, is_there: true }),
        Err(reason) => batch.refused.push(Refused { kind: "order", external_id, reason }),
    }
}

/// `None`: it does not count.
fn map(wire: OrderWire, returned: &[Returned], currency: Currency) -> Result<Option<ShopOrder>, Reason> {
    let external_id = wire.id.required("id")?.0;
    let created_at = wire.created_at.required("created_at")?.0;
    let updated_at = wire.updated_at.ok().map_or(created_at, |updated| updated.0);
    let cancelled_at = wire.cancelled_at.optional("cancelled_at")?.map(|cancelled| cancelled.0);
    let status = wire.payment_status.required("payment_status")?;
    let Some(standing) = refunds::standing(&status, cancelled_at)? else { return Ok(None) };
    let its_currency = wire.currency.required("currency")?;
    if its_currency != currency.as_str() {
        return Err(format!("its currency is {}", clean(&its_currency, 3).unwrap_or_default()));
    }
    let shipping = Shipping::of(wire.shipping_cost_customer, wire.shipping_cost_owner, wire.fulfillment_orders)?;
    let total = amount(wire.total.required("total")?, "total")?;
    let lines = lines(wire.products.required("products")?, total, shipping.buyer)?;
    let address = wire.shipping_address.ok().unwrap_or_default();
    let refunded = refunds::of(standing, &lines, total, returned, updated_at);
    let order = DocumentPart {
        kind: DocumentKind::Order,
        external_id,
        at: wire.paid_at.optional("paid_at")?.map_or(created_at, |paid| paid.0),
        country: address.country.clone().ok().and_then(|country| country.trim().parse().ok()),
        buyer: buyer(wire.customer, address),
        // The platform says nothing of what the payment cost.
        fees: None,
        shipping: shipping.shop,
        lines,
    };
    let copy_of = (wire.storefront.ok().as_deref() == Some(MELI)).then_some(Platform::Mercadolibre);
    Ok(Some(ShopOrder { order, refund_unknown: refunded.is_none(), refunds: refunded.unwrap_or_default(), copy_of }))
}

/// An amount of 0 or more that can be imported.
fn amount(Amount(amount): Amount, name: &'static str) -> Result<Decimal, BadField> {
    if is_importable_cost(amount) { Ok(amount) } else { Err(BadField(name)) }
}

/// What the transport of an order costs.
struct Shipping {
    /// What the buyer paid for it.
    buyer: Decimal,
    /// What the shop pays; `None` when the platform does not say.
    shop: Option<Decimal>,
}

impl Shipping {
    /// Unverified: whether `shipping_cost_*` still come with version 2025-03, which has them in the fulfilment orders. What is
    /// there counts, the fields of the order first.
    fn of(
        customer: Field<Amount>,
        owner: Field<Amount>,
        fulfillments: Field<Vec<FulfillmentWire>>,
    ) -> Result<Self, BadField> {
        let parcels = fulfillments.optional("fulfillment_orders")?.unwrap_or_default();
        let costs = parcels.into_iter().filter_map(|parcel| parcel.shipping.ok());
        let (mut by_buyer, mut by_shop) = (None, None);
        for cost in costs {
            add(&mut by_buyer, cost.consumer_cost, "fulfillment_orders.shipping.consumer_cost")?;
            add(&mut by_shop, cost.merchant_cost, "fulfillment_orders.shipping.merchant_cost")?;
        }
        let given = |field: Field<Amount>, name| field.optional(name)?.map(|cost| amount(cost, name)).transpose();
        let buyer = given(customer, "shipping_cost_customer")?.or(by_buyer).unwrap_or_default();
        Ok(Self { buyer, shop: given(owner, "shipping_cost_owner")?.or(by_shop) })
    }
}

fn add(sum: &mut Option<Decimal>, cost: Field<MoneyWire>, name: &'static str) -> Result<(), BadField> {
    if let Some(cost) = cost.optional(name)? {
        let cost = amount(cost.value.required(name)?, name)?;
        *sum = Some(sum.unwrap_or_default() + cost);
    }
    Ok(())
}

/// A line before the order's discounts.
struct Sold {
    sku: String,
    name: Option<String>,
    quantity: i64,
    amount: Decimal,
    cost: Option<Decimal>,
}

impl Sold {
    /// `None`: nothing of it was sold.
    fn of(wire: OrderLineWire) -> Result<Option<Self>, BadField> {
        let Count(quantity) = wire.quantity.required("products.quantity")?;
        if quantity == 0 {
            return Ok(None);
        }
        let price = amount(wire.price.required("products.price")?, "products.price")?;
        let id =
            wire.variant_id.ok().map(|id| id.0).or_else(|| wire.product_id.ok().map(|id| format!("product-{}", id.0)));
        let sold = price.checked_mul(Decimal::from(quantity)).filter(|sold| is_importable(*sold) && quantity > 0);
        Ok(Some(Self {
            sku: sku(wire.sku, id.as_deref()).ok_or(BadField("products.variant_id"))?,
            name: wire.name.ok().and_then(|name| name_of(&name)),
            quantity,
            amount: sold.ok_or(BadField("products.quantity"))?,
            cost: wire.cost.optional("products.cost")?.map(|cost| amount(cost, "products.cost")).transpose()?,
        }))
    }
}

fn name_of(name: &Texts) -> Option<String> {
    name.in_language("").and_then(|name| clean(name, MAX_NAME_CHARS))
}

/// The SKU that the shop gave, or one made of the variant's number. The product's number stands for a variant that is no
/// more, under a name that no variant's number has.
pub(super) fn sku(given: Field<String>, id: Option<&str>) -> Option<String> {
    let given = given.ok().filter(|sku| sku.chars().count() <= MAX_ID_CHARS).and_then(|sku| clean(&sku, MAX_ID_CHARS));
    given.or_else(|| id.map(|id| format!("tiendanube:{id}")))
}

/// The lines of an order, with all discounts in their prices: they add up to its total. What the discounts are made of
/// does not matter, since what they leave is known: the total without the transport.
fn lines(wire: Vec<OrderLineWire>, total: Decimal, transport: Decimal) -> Result<Vec<Line>, Reason> {
    let sold = wire.into_iter().filter_map(|line| Sold::of(line).transpose()).collect::<Result<Vec<_>, _>>()?;
    let amounts = sold.iter().map(|line| line.amount).collect::<Vec<_>>();
    let sum: Decimal = amounts.iter().sum();
    // A discount beyond the goods is one of the transport.
    let goods = (total - transport).max(Decimal::ZERO);
    let transport = total - goods;
    let discount = (sum - goods).max(Decimal::ZERO);
    let surcharge = (goods - sum).max(Decimal::ZERO);
    let decimals =
        amounts.iter().chain([&discount]).map(|amount| amount.normalize().scale()).max().unwrap_or(0).max(CENTS);
    let mut lines = Vec::with_capacity(sold.len() + 2);
    for (sold, share) in sold.iter().zip(shares(discount, &amounts, decimals)) {
        let units = per_unit(sold.amount - share, sold.quantity, CENTS).ok_or("its discounts exceed its lines")?;
        lines.extend(units.into_iter().map(|(quantity, unit_price)| Line {
            sku: sold.sku.clone(),
            is_product: true,
            name: sold.name.clone(),
            category: None,
            quantity,
            unit_price,
            unit_cost: sold.cost,
        }));
    }
    lines.extend(charge("shipping", transport));
    lines.extend(charge("surcharge", surcharge));
    Ok(lines)
}

/// A line of money that is no product. `None` where there is no money.
pub(super) fn charge(name: &str, amount: Decimal) -> Option<Line> {
    (amount > Decimal::ZERO).then(|| Line {
        sku: format!("tiendanube:{name}"),
        is_product: false,
        name: None,
        category: None,
        quantity: 1,
        unit_price: amount,
        unit_cost: None,
    })
}

/// `None` for an order without a customer.
fn buyer(customer: Field<CustomerWire>, address: AddressWire) -> Option<Buyer> {
    let CustomerWire { id, name, email } = customer.ok()?;
    let text = |field: Field<String>| field.ok().and_then(|text| clean(&text, MAX_NAME_CHARS));
    Some(Buyer { external_id: id.ok()?.0, email: text(email), name: text(name), city: text(address.city) })
}

#[cfg(test)]
mod tests;
