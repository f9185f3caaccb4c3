//! Reading a shop: orders with their refunds, the catalogue, stock.

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use rust_decimal::Decimal;
use time::{Date, Duration, OffsetDateTime};

use super::{Access, ShopError, ShopInfo};
use crate::{
    accounts::Platform,
    imports::{AdAccount, AdSpendRow, DocumentPart, Line},
    money::Currency,
};

/// From `from`, inclusive, to `until`, exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: OffsetDateTime,
    pub until: OffsetDateTime,
}

/// By which of an order's instants a window selects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// By when it was made: the history, window after window.
    BackFill,
    /// By when it last changed.
    Changes,
}

/// What is to be kept to with a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// How long before its cursor a run begins to read again, since platforms index late.
    pub overlap: Duration,
    /// How long before the platform's present a window ends.
    pub lag: Duration,
    /// The length of the first windows of the back-fill; one that holds too much is halved.
    pub window: Duration,
    /// Windows grow to this as the back-fill goes back: longer ones cost fewer calls where a window costs the same whatever its
    /// length, and shorter ones lose less when they are interrupted.
    pub longest_window: Duration,
    /// How far back orders can be read at most.
    pub history: Duration,
    /// Orders younger than this are looked at again every night one by one ([`ShopReader::reread`]), where the platform does
    /// not report every change of them in [`Purpose::Changes`].
    pub reread: Option<Duration>,
    /// Where the platform sells ads.
    pub ads: Option<AdTiming>,
    /// How long an access token lives, where it expires.
    pub token_lifetime: Duration,
}

/// What is to be kept to when ads are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdTiming {
    /// How far back can be read what was spent.
    pub history: Duration,
    /// How long the platform corrects the figures of a day: so far back they are read again once a day.
    pub settles: Duration,
    /// What the permission is called without which a shop is read, but not its ads.
    pub permission: Option<&'static str>,
}

/// Money or goods given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Whole seconds.
    pub at: OffsetDateTime,
    /// Units that came back, and money without units as a line that is no product with quantity 1.
    pub lines: Vec<Line>,
}

/// An order with all of its refunds: what it no longer names is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShopOrder {
    /// Of kind order, complete.
    pub order: DocumentPart,
    pub refunds: Vec<Refund>,
    /// True when money went back and the platform does not say how much: nothing is guessed.
    pub refund_unknown: bool,
    /// The platform that the order was really made on, where this one keeps a copy of it (Tiendanube, of sales on Mercado
    /// Libre). It counts there if the account has a connection to that platform, and here otherwise.
    pub copy_of: Option<Platform>,
}

/// An order that does not count (any more): deleted, never paid, a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voided {
    pub external_id: String,
    /// Whether the platform shows it. One that it does not show never was this shop's, or was deleted.
    pub is_there: bool,
}

/// A record that cannot be taken. The others are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What the platform calls it: `order`, `product`.
    pub kind: &'static str,
    pub external_id: String,
    /// A sentence for the owner, without personal data: `its currency is BRL`.
    pub reason: String,
}

impl Refused {
    /// Something that the platform fails to show while it answers otherwise.
    pub fn failing(kind: &'static str, external_id: String, trouble: &str) -> Self {
        Self {
            kind,
            external_id,
            reason: format!("the platform fails to show it: {trouble}; it is read again in some hours"),
        }
    }
}

/// What it took to read a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// Calls of the platform, those that it refused included.
    pub made: u64,
    /// How long its limits made them wait.
    pub waited: std::time::Duration,
}

/// Some orders of a window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OrderBatch {
    pub calls: Calls,
    /// Records that the platform gave for it.
    pub read: u64,
    pub orders: Vec<ShopOrder>,
    pub voided: Vec<Voided>,
    /// How many were asked for by number and are not there, or another shop's.
    pub absent: u64,
    pub refused: Vec<Refused>,
    /// Orders that the platform fails to show, or to show whole, while it answers otherwise: to be read again later.
    pub again: Vec<String>,
    /// Permissions without which something about the orders stays unknown; the platform's names of them.
    pub missing_scopes: Vec<String>,
}

impl OrderBatch {
    /// Adds what else was read; not the calls that it took, which are counted for the whole.
    pub fn append(&mut self, other: Self) {
        let Self { calls: _, read, orders, voided, absent, refused, again, missing_scopes } = other;
        self.read += read;
        self.orders.extend(orders);
        self.voided.extend(voided);
        self.absent += absent;
        self.refused.extend(refused);
        self.again.extend(again);
        self.missing_scopes.extend(missing_scopes);
    }

    /// An order that the platform fails to show while it answers otherwise.
    pub fn leave(&mut self, external_id: String, trouble: &str) {
        self.read += 1;
        self.again.push(external_id.clone());
        self.refused.push(Refused::failing("order", external_id, trouble));
    }
}

/// What a shop says of how many units of a product it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stock {
    /// On hand over all places; may be negative.
    Units(i64),
    /// It does not count them: the product is not stocked there.
    NotStocked,
    /// Nothing: what is known stays.
    Unsaid,
}

impl Stock {
    pub const fn units(self) -> Option<i64> {
        match self {
            Self::Units(units) => Some(units),
            Self::NotStocked | Self::Unsaid => None,
        }
    }

    /// What two of one SKU have together, as far as it is known.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Units(one), Self::Units(other)) => Self::Units(one.saturating_add(other)),
            (Self::Units(units), _) | (_, Self::Units(units)) => Self::Units(units),
            (Self::NotStocked, Self::NotStocked) => Self::NotStocked,
            (Self::Unsaid, _) | (_, Self::Unsaid) => Self::Unsaid,
        }
    }
}

/// A product of the catalogue, one per SKU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    pub sku: String,
    pub name: Option<String>,
    pub category: Option<String>,
    pub price: Option<Decimal>,
    /// What a unit costs the shop today. `None`: the platform does not say, which is not 0.
    pub cost: Option<Decimal>,
    pub stock: Stock,
    pub on_order: Option<i64>,
}

/// Some products of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProductBatch {
    pub calls: Calls,
    pub read: u64,
    pub products: Vec<Product>,
    /// SKUs that the shop no longer sells. They are none of the products.
    pub closed: Vec<String>,
    /// SKUs that the shop has and that cannot be taken.
    pub left_out: Vec<String>,
    /// Whether records may have been missed of which not even the SKU is known: what does not come may still be there.
    pub has_unread: bool,
    pub refused: Vec<Refused>,
}

/// What was spent on the platform's ads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AdSpend {
    pub calls: Calls,
    pub rows: Vec<AdSpendRow>,
    /// What of the ads cannot be told beside what they did.
    pub refused: Vec<Refused>,
    /// `None` where the shop does not advertise.
    pub account: Option<AdAccount>,
}

/// What is read, batch by batch. An error ends it, and nothing of the window counts as read.
pub type ShopStream<T> = BoxStream<'static, Result<T, ShopError>>;

/// Reads a shop. It keeps the platform's limits by itself: it waits up to a minute, and longer pauses are
/// [`ShopError::Throttled`].
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ShopReader: Send + Sync {
    fn platform(&self) -> Platform;

    fn timing(&self) -> Timing;

    /// The shop itself, and the platform's present by its `Date` header.
    ///
    /// # Errors
    /// [`ShopError`].
    async fn shop(&self, access: &Access) -> Result<(ShopInfo, OffsetDateTime), ShopError>;

    /// The orders of a window. Their amounts are in `currency`; orders in another are refused one by one.
    fn orders(&self, access: &Access, window: Window, purpose: Purpose, currency: Currency) -> ShopStream<OrderBatch>;

    /// Some orders by their identifiers; one that is not there is voided.
    fn orders_by_id(&self, access: &Access, ids: Vec<String>, currency: Currency) -> ShopStream<OrderBatch>;

    /// Some orders by their identifiers again: those that are gone are voided, and others read as far as the platform does
    /// not report their changes.
    fn reread(&self, access: &Access, ids: Vec<String>, currency: Currency) -> ShopStream<OrderBatch> {
        self.orders_by_id(access, ids, currency)
    }

    /// The whole catalogue with today's prices, costs and stock: each SKU once. Prices and costs in another currency
    /// than `currency` are left out, and the product is refused.
    fn products(&self, access: &Access, currency: Currency) -> ShopStream<ProductBatch>;

    /// What was spent on the platform's ads on the days from `from` to `until`, inclusive; asked for where [`Timing::ads`] says
    /// that there are any. All else but [`shop`](Self::shop) is asked of platforms only that are
    /// [shops](Platform::is_shop).
    ///
    /// # Errors
    /// [`ShopError`].
    async fn ad_spend(&self, access: &Access, from: Date, until: Date) -> Result<AdSpend, ShopError>;

    /// Asks the platform to send hooks to `address`. Repeating it changes nothing.
    ///
    /// # Errors
    /// [`ShopError`].
    async fn subscribe(&self, access: &Access, address: &str) -> Result<(), ShopError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{
        Stock,
        Stock::{NotStocked, Units, Unsaid},
    };

    #[rstest]
    #[case(Units(2), Units(-5), Units(-3))]
    #[case(Units(2), NotStocked, Units(2))]
    #[case(Units(2), Unsaid, Units(2))]
    #[case(NotStocked, NotStocked, NotStocked)]
    #[case(NotStocked, Unsaid, Unsaid)]
    fn of_a_sku_what_is_known_counts(#[case] one: Stock, #[case] other: Stock, #[case] both: Stock) {
        assert_eq!((one.with(other), other.with(one)), (both, both));
    }
}
