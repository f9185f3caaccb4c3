//! The ledger of truth of a shop: what a reader of the platform must come to, to the cent. A fake platform makes it from
//! what happened in its shop, never from what it answered.
//!
//! One JSON form for all platforms; amounts are decimal texts, instants RFC 3339, days in the shop's zone:
//!
//! ```json
//! {
//!   "platform": "shopify", "shop": "example.myshopify.com", "currency": "EUR", "timezone": "Europe/Madrid",
//!   "orders": {
//!     "1001": {
//!       "at": "2026-11-01T10:00:00Z", "state": "taken", "gross": "61.00", "product_gross": "55.00", "units": 3,
//!       "fees": "1.20", "shipping": null, "buyer": "77",
//!       "refunds": [{"at": "2026-11-03T09:00:00Z", "amount": "10.00", "units": 1}]
//!     }
//!   },
//!   "days": {"2026-11-01": {"orders": 1, "gross": "61.00", "units": 3, "fees": "1.20", "shipping": "0", "refunded": "0", "refunded_units": 0}},
//!   "products": {"sku-1": {"name": "…", "price": "20.00", "cost": "8.00", "stock": 12, "on_order": 0}},
//!   "stock": {"2026-11-24": {"sku-1": 12}}
//! }
//! ```
//!
//! - `orders`: by the platform's identifier, deleted ones too. `state` is `taken`; `void` (never paid, a test, deleted); or
//!   `foreign` (in another currency: to be refused). `gross` is what the service calls gross revenue: all lines, after
//!   discounts, as the order stands after its edits; `product_gross` and `units` are of product lines alone. `fees` and
//!   `shipping` (what it cost the shop) are null where the platform does not say. An order whose refunded amount the
//!   platform hides has `refund_unknown: true`, a copy of a sale on another platform that platform's name as `copy_of`.
//! - `days`: sums over orders that are taken, each on the day of its instant; refunds on theirs.
//! - `products`: by SKU in lower case, what is on sale now; `stock` null where the shop does not manage it.
//! - `stock`: the levels at the end of each day on which the shop's stock is known, the present day included.

use std::collections::BTreeMap;

use domain::{accounts::Platform, money::Currency, zone::Zone};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use time::{Date, OffsetDateTime};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    pub platform: String,
    pub shop: String,
    pub currency: String,
    pub timezone: String,
    pub orders: BTreeMap<String, OrderTruth>,
    pub days: BTreeMap<String, DayTruth>,
    pub products: BTreeMap<String, ProductTruth>,
    pub stock: BTreeMap<String, BTreeMap<String, i64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Taken,
    Void,
    Foreign,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderTruth {
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub state: State,
    pub gross: Decimal,
    pub product_gross: Decimal,
    pub units: i64,
    pub fees: Option<Decimal>,
    pub shipping: Option<Decimal>,
    pub buyer: Option<String>,
    pub refunds: Vec<RefundTruth>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refund_unknown: bool,
    /// The platform that the sale was really made on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefundTruth {
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// Above 0 when money went back to the buyer.
    pub amount: Decimal,
    /// Units of products that came back.
    pub units: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DayTruth {
    pub orders: u64,
    pub gross: Decimal,
    pub units: i64,
    pub fees: Decimal,
    pub shipping: Decimal,
    pub refunded: Decimal,
    pub refunded_units: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductTruth {
    pub name: Option<String>,
    pub price: Option<Decimal>,
    pub cost: Option<Decimal>,
    pub stock: Option<i64>,
    pub on_order: Option<i64>,
}

/// Stock at the end of days, by day and SKU.
pub type StockDays = BTreeMap<Date, BTreeMap<String, i64>>;

impl Truth {
    /// The truth about a shop, with its days summed up.
    pub fn new(
        platform: Platform,
        shop: String,
        (currency, zone): (Currency, &Zone),
        orders: BTreeMap<String, OrderTruth>,
        products: BTreeMap<String, ProductTruth>,
        stock: StockDays,
    ) -> Self {
        Self {
            platform: platform.as_str().to_owned(),
            shop,
            currency: currency.to_string(),
            timezone: zone.to_string(),
            days: days(&orders, zone),
            orders,
            products,
            stock: stock.into_iter().map(|(day, levels)| (day.to_string(), levels)).collect(),
        }
    }

    /// The truth for who reads the sales on other platforms there: without the copies of them.
    #[must_use]
    pub fn without_copies(mut self) -> Self {
        self.orders.retain(|_, order| order.copy_of.is_none());
        // It was made of a zone.
        if let Ok(zone) = self.timezone.parse() {
            self.days = days(&self.orders, &zone);
        }
        self
    }
}

fn days(orders: &BTreeMap<String, OrderTruth>, zone: &Zone) -> BTreeMap<String, DayTruth> {
    let mut days: BTreeMap<String, DayTruth> = BTreeMap::new();
    for order in orders.values().filter(|order| order.state == State::Taken) {
        let day = days.entry(zone.day_of(order.at).to_string()).or_default();
        day.orders += 1;
        day.gross += order.gross;
        day.units += order.units;
        day.fees += order.fees.unwrap_or_default();
        day.shipping += order.shipping.unwrap_or_default();
        for refund in &order.refunds {
            let day = days.entry(zone.day_of(refund.at).to_string()).or_default();
            day.refunded += refund.amount;
            day.refunded_units += refund.units;
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn days_are_cut_in_the_shop_s_zone_and_hold_what_is_taken() {
        let order = |state| OrderTruth {
            at: datetime!(2026-11-02 02:59:59 UTC),
            state,
            gross: dec!(30.10),
            product_gross: dec!(25),
            units: 3,
            fees: Some(dec!(1)),
            shipping: None,
            buyer: None,
            refunds: vec![RefundTruth { at: datetime!(2026-11-02 03:00 UTC), amount: dec!(10), units: 1 }],
            refund_unknown: false,
            copy_of: None,
        };
        let copy = OrderTruth { copy_of: Some("mercadolibre".to_owned()), ..order(State::Taken) };
        let orders = [("1", order(State::Taken)), ("2", order(State::Void)), ("3", copy)];
        let orders = BTreeMap::from(orders.map(|(id, order)| (id.to_owned(), order)));
        let zone = "America/Sao_Paulo".parse().unwrap();
        let shop = "a.myshopify.com".to_owned();
        let currency = ("BRL".parse().unwrap(), &zone);
        let truth = Truth::new(Platform::Shopify, shop, currency, orders, BTreeMap::new(), StockDays::new());
        assert_eq!(truth.days["2026-11-01"].orders, 2);
        let truth = truth.without_copies();
        let bought = &truth.days["2026-11-01"];
        assert_eq!((bought.orders, bought.gross, bought.units, bought.refunded), (1, dec!(30.10), 3, dec!(0)));
        assert_eq!((truth.days["2026-11-02"].refunded, truth.days["2026-11-02"].refunded_units), (dec!(10), 1));
        let json = serde_json::to_value(&truth).unwrap();
        assert_eq!(json["orders"]["1"]["gross"], "30.10");
        assert_eq!(serde_json::from_value::<Truth>(json).unwrap(), truth);
    }
}
