//! The shop's history as the rows that an import takes.

use std::sync::Arc;

use domain::{
    accounts::Platform,
    imports::{DocumentKind, DocumentPart, Line, ProductRow, StockRow},
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::shop::{Item, Order, Refund, Shop};

/// Numbers of the first orders on each platform.
const FIRST_ORDER: [(Platform, u64); 3] = [
    (Platform::Shopify, 5_400_000_000_000),
    (Platform::Tiendanube, 1_200_000_000),
    (Platform::Mercadolibre, 2_000_007_000_000_000),
];

/// Exact money of a number of cents.
pub(super) fn money(cents: i64) -> Decimal {
    Decimal::new(cents, 2)
}

pub(super) fn instant(unix_seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(unix_seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

impl Shop {
    /// Orders and refunds of a platform that happened after `since` (Unix seconds), orders first.
    pub(super) fn documents(
        self: &Arc<Self>,
        platform: Platform,
        since: i64,
    ) -> impl Iterator<Item = DocumentPart> + Send + use<> {
        let (shop, other) = (self.clone(), self.clone());
        let orders = (0..self.orders.len()).filter_map(move |place| {
            let order = shop.orders.get(place).filter(|order| order.at > since)?;
            shop.order(platform, order)
        });
        let refunds = (0..self.refunds.len()).filter_map(move |place| {
            let refund = other.refunds.get(place).filter(|refund| refund.at > since)?;
            other.refund(platform, refund)
        });
        orders.chain(refunds)
    }

    fn order(&self, platform: Platform, order: &Order) -> Option<DocumentPart> {
        let person = self.people.get(order.person).filter(|person| person.platform == platform)?;
        let (fees, shipping) = self.costs(platform, order);
        Some(DocumentPart {
            kind: DocumentKind::Order,
            external_id: order_number(platform, order),
            at: instant(order.at),
            buyer: Some(person.buyer()),
            country: person.country,
            fees,
            shipping: Some(shipping),
            lines: order.items.iter().filter_map(|item| self.line(*item)).collect(),
        })
    }

    fn refund(&self, platform: Platform, refund: &Refund) -> Option<DocumentPart> {
        let order = self.orders.get(refund.order)?;
        let person = self.people.get(order.person).filter(|person| person.platform == platform)?;
        Some(DocumentPart {
            kind: DocumentKind::Refund,
            external_id: format!("R{}", order_number(platform, order)),
            at: instant(refund.at),
            buyer: Some(person.buyer()),
            country: person.country,
            fees: None,
            shipping: None,
            lines: self.line(refund.item).into_iter().collect(),
        })
    }

    fn line(&self, item: Item) -> Option<Line> {
        let product = self.catalogue.product(item.product)?;
        Some(Line {
            sku: product.sku.clone(),
            is_product: true,
            name: Some(product.name.clone()),
            category: Some(product.category.to_owned()),
            quantity: item.units,
            unit_price: money(product.price_cents),
            unit_cost: Some(money(product.cost_cents)),
        })
    }

    /// Payment fees, which one platform does not tell, and what sending cost.
    fn costs(&self, platform: Platform, order: &Order) -> (Option<Decimal>, Decimal) {
        let cents: i64 = order.items.iter().map(|item| self.price(*item)).sum();
        let units: i64 = order.items.iter().map(|item| item.units).sum();
        let fees = match platform {
            Platform::Shopify => Some(cents * 29 / 1_000 + 30),
            Platform::Mercadolibre => Some(cents * 13 / 100),
            _ => None,
        };
        (fees.map(money), money(390 + 60 * units))
    }

    fn price(&self, item: Item) -> i64 {
        self.catalogue.product(item.product).map_or(0, |product| product.price_cents * item.units)
    }

    /// The whole catalogue with the stock as it is at the end.
    pub(super) fn products(&self) -> Vec<ProductRow> {
        let first = self.calendar.date(0);
        let listed = self.catalogue.products.iter().zip(&self.shelves);
        listed
            .map(|(product, shelf)| ProductRow {
                sku: product.sku.clone(),
                name: Some(product.name.clone()),
                category: Some(product.category.to_owned()),
                price: Some(money(product.price_cents)),
                cost: Some((money(product.cost_cents), first)),
                stock: Some(shelf.stock),
                on_order: Some(shelf.on_order()),
                lead_time_days: Some(product.lead_time_days),
                pack_size: Some(product.pack_size),
                min_order_qty: Some(product.min_order_qty),
            })
            .collect()
    }

    /// Stock at the end of the days from `since` on, of those products whose stock changed.
    pub(super) fn stock(self: &Arc<Self>, since: usize) -> impl Iterator<Item = StockRow> + Send + use<> {
        let shop = self.clone();
        (0..self.levels.len()).filter_map(move |place| {
            let level = shop.levels.get(place).filter(|level| level.day >= since)?;
            Some(StockRow {
                line: place as u64 + 1,
                sku: shop.catalogue.product(level.product)?.sku.clone(),
                location: None,
                stock: level.stock,
                day: shop.calendar.date(level.day),
                record: Vec::new(),
            })
        })
    }
}

fn order_number(platform: Platform, order: &Order) -> String {
    let first = FIRST_ORDER.iter().find(|(of, _)| *of == platform).map_or(0, |(_, first)| *first);
    (first + order.number).to_string()
}
