//! Data that comes in from outside: orders, products, stock, ad spend and expenses.
//!
//! Rows are valid when they get here (see the limits below); who reads a file refuses the others. Every importer
//! describes a state, not a change: the same rows again, in any order, leave everything as it is.

pub mod amounts;

use async_trait::async_trait;
use futures_core::stream::BoxStream;
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    AccountId, IntegrationId, StoreError,
    accounts::Platform,
    ads::{AdPlatform, Format, Status},
    money::Currency,
    zone::Zone,
};

/// Amounts lie below this, so that no sum of them can overflow.
pub const MAX_AMOUNT: Decimal = Decimal::from_parts(0xD4A5_1000, 0xE8, 0, false, 0);
/// Decimals that an amount may have.
pub const MAX_DECIMALS: u32 = 6;
/// Quantities lie between minus and plus this.
pub const MAX_QUANTITY: i64 = 1_000_000_000;
/// Rates of exchange are at most this.
pub const MAX_RATE: Decimal = Decimal::from_parts(1_000_000, 0, 0, false, 0);
/// Characters of an identifier or SKU.
pub const MAX_ID_CHARS: usize = 128;
/// Characters of a name, description or category.
pub const MAX_NAME_CHARS: usize = 512;

text_enum!(
    /// What a document says happened.
    DocumentKind { Order = "order", Refund = "refund" }
);

text_enum!(
    /// How dates with the year at the end are to be read. Dates that start with the year are always read as year, month,
    /// day.
    DateOrder {
        /// `31/12/2026`
        DayMonthYear = "dmy",
        /// `12/31/2026`
        MonthDayYear = "mdy",
        /// Only dates that start with the year.
        YearMonthDay = "ymd",
    }
);

/// The identifier of what was refunded of an order on a day. As it names the order, the units in its lines count as come
/// back (`metrics::cost::Refunded`); the store tells such identifiers by the day at their end.
pub fn refund_id(order_id: &str, day: Date) -> String {
    format!("{order_id}/{day}")
}

/// A country, as ISO 3166-1 alpha-2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CountryCode([u8; 2]);

/// A text is not a country code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a country code is two capital letters, such as BR")]
pub struct InvalidCountryCode;

impl CountryCode {
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::str::FromStr for CountryCode {
    type Err = InvalidCountryCode;
    fn from_str(text: &str) -> Result<Self, InvalidCountryCode> {
        let code: [u8; 2] = text.as_bytes().try_into().map_err(|_| InvalidCountryCode)?;
        if code.iter().all(u8::is_ascii_uppercase) { Ok(Self(code)) } else { Err(InvalidCountryCode) }
    }
}

/// Who bought, as far as the shop says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Buyer {
    /// The customer's identifier on the platform.
    pub external_id: String,
    pub email: Option<String>,
    pub name: Option<String>,
    pub city: Option<String>,
}

/// One line of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Compared without regard to the case of ASCII letters.
    pub sku: String,
    /// False for postage, discounts, charges: the line counts in money but is no product.
    pub is_product: bool,
    pub name: Option<String>,
    pub category: Option<String>,
    /// Sold units of an order (above 0); returned units of a refund (below 0 where a refund was taken back).
    pub quantity: i64,
    /// 0 or more.
    pub unit_price: Decimal,
    /// What a unit cost the shop, 0 or more.
    pub unit_cost: Option<Decimal>,
}

/// An order or refund, or a part of one: parts with the same kind and id are put together, wherever they come in the
/// stream. Lines are a multiset: equal lines are separate lines, and their order means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPart {
    pub kind: DocumentKind,
    /// The platform's identifier of the document. Orders and refunds are numbered apart.
    pub external_id: String,
    /// The earliest part's instant counts for the document. Whole seconds.
    pub at: OffsetDateTime,
    pub buyer: Option<Buyer>,
    pub country: Option<CountryCode>,
    /// Payment fees of the whole order, 0 or more; the largest of the parts counts.
    pub fees: Option<Decimal>,
    /// Shipping cost of the whole order, 0 or more; the largest of the parts counts.
    pub shipping: Option<Decimal>,
    pub lines: Vec<Line>,
}

/// What a file says of an order or refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileDocument {
    Part(DocumentPart),
    /// A line of the order, or of a refund of it, was refused: no part of either is taken, also of those that came before. What
    /// is stored of it stays as it is.
    Refused(String),
    /// The platform knows the order, whose parts have `order_id`, by this number. It is stored under it, unless one is there by
    /// `order_id`, and its refunds are all that it has; without parts it does not count (any more), and is removed. One that a
    /// connection gave stays as it is.
    Numbered {
        order_id: String,
        number: String,
        /// How many lines of the file it is made of.
        lines: i64,
    },
}

impl From<DocumentPart> for FileDocument {
    fn from(part: DocumentPart) -> Self {
        Self::Part(part)
    }
}

/// Where the orders of a connected shop come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShopSource {
    pub platform: Platform,
    pub integration: IntegrationId,
}

/// What a shop says of one of its orders, with its refunds by [`refund_id`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShopDocument {
    pub order_id: String,
    /// The order and its refunds. Empty: the order does not count (any more), and is removed with its refunds.
    pub parts: Vec<DocumentPart>,
    /// Whether these are all refunds of the order, so that others by [`refund_id`] are removed.
    pub is_whole: bool,
    /// Whether the shop has the order. One that it does not have is removed only if this connection gave it: what a file or
    /// another shop brought stays.
    pub is_there: bool,
}

/// A product of the catalogue. What is `None` stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductRow {
    pub sku: String,
    pub name: Option<String>,
    pub category: Option<String>,
    pub price: Option<Decimal>,
    /// What a unit costs the shop from the given day on.
    pub cost: Option<(Decimal, Date)>,
    /// Units in stock today.
    pub stock: Option<i64>,
    pub on_order: Option<i64>,
    /// 0 to 730.
    pub lead_time_days: Option<i32>,
    /// 1 or more.
    pub pack_size: Option<i32>,
    /// 1 or more.
    pub min_order_qty: Option<i32>,
}

/// What a pass over the catalogue of a shop, from its beginning to its end, says of goods without a stock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShopCatalogue {
    /// SKUs that are no longer sold: they are not stocked, whoever told a stock of them.
    pub closed: Vec<String>,
    /// SKUs whose units the shop does not count: what the connection told of them no longer holds.
    pub uncounted: Vec<String>,
    /// The other SKUs that the shop has.
    pub others: Vec<String>,
    /// Whether these are all that the shop has: the rest of what the connection told a stock of is gone.
    pub is_whole: bool,
}

/// The stock of a product at the end of a day, or what of it is at a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockRow {
    /// Where the row came from, to name it when its SKU is unknown.
    pub line: u64,
    pub sku: String,
    /// Rows of one (SKU, day) at different locations are summed.
    pub location: Option<String>,
    pub stock: i64,
    pub day: Date,
    /// The row as it came, to give it back when its SKU is unknown.
    pub record: Vec<u8>,
}

/// What was spent on ads; rows of one (day, platform, campaign, ad set, ad, currency) are summed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdSpendRow {
    pub day: Date,
    /// As the source calls it ([`AdPlatform::named`]).
    pub platform: String,
    pub campaign: String,
    pub spend: Decimal,
    pub impressions: Option<i64>,
    pub clicks: Option<i64>,
    pub detail: AdDetail,
    /// Where the row came from, to name it when it is refused, and as it came, to give it back then.
    pub line: u64,
    pub record: Vec<u8>,
}

/// What only some sources tell of an ad. An empty text is what they do not split.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AdDetail {
    pub ad_set: String,
    pub ad: String,
    /// What identifies the creative on the platform; without it, the ad's name does.
    pub creative: Option<String>,
    pub format: Option<Format>,
    pub headline: Option<String>,
    pub body: Option<String>,
    pub status: Option<Status>,
    /// Of spend and revenue; without it, the account's.
    pub currency: Option<Currency>,
    /// May be parts: platforms attribute one purchase to several ads.
    pub purchases: Option<Decimal>,
    pub revenue: Option<Decimal>,
    /// Views of a video's first three seconds.
    pub video_3s: Option<i64>,
    /// By which clicks and views purchases are counted, such as `7d_click,1d_view`.
    pub attribution: Option<String>,
    /// How campaign, ad set and ad are called where the row gives their numbers; without it, they are called what the row gives.
    pub names: Option<AdNames>,
}

/// How what a row is of is called now: names change, numbers do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdNames {
    pub campaign: String,
    pub ad_set: String,
    pub ad: String,
}

impl AdDetail {
    /// The key of the creative that `name` identifies on a platform: the same wherever it runs.
    pub fn creative_key(&self, platform: AdPlatform, name: &str) -> String {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{platform}:{}:{name}", self.format.unwrap_or(Format::Unknown))
    }
}

/// Who tells what was spent on ads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdSource {
    /// A file. Days of a platform that is read itself are refused.
    File,
    /// The platform itself, of the days from `first` to `last` of an ad account. What files said of these days of the platform
    /// is removed, so that nothing counts twice; a day without a row is one on which nothing was spent.
    Platform { account: AdAccount, first: Date, last: Date },
}

/// An ad account that its platform tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdAccount {
    /// As its rows name their platform.
    pub name: String,
    /// The clock that its days are cut by, where it is another than the account's or not known to be the same.
    pub zone: Option<Zone>,
    /// Whether all that the platform knows of the days is told at once: what is known of them otherwise is gone there.
    pub tells_all: bool,
}

impl AdAccount {
    pub fn platform(&self) -> AdPlatform {
        AdPlatform::named(&self.name)
    }
}

/// What a unit of a currency was worth in the account's on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateRow {
    pub day: Date,
    pub currency: Currency,
    /// Above 0 and at most [`MAX_RATE`].
    pub rate: Decimal,
}

/// An expense that is no ad, fee, shipping or cost of goods. Equal rows are separate expenses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpenseRow {
    pub day: Date,
    pub category: String,
    pub description: String,
    pub amount: Decimal,
}

/// Rows in batches, as they are read. An error ends the import: nothing of it stays.
pub type Rows<T> = BoxStream<'static, Result<Vec<T>, BrokenSource>>;

/// The rows could not be read to their end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BrokenSource(pub String);

/// Where the rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    pub account: AccountId,
    /// The instant of the import; its day in the account's zone is "today" for stock of the catalogue.
    pub now: OffsetDateTime,
    /// True: do everything, count it, and undo it.
    pub dry_run: bool,
}

/// How many things were new, came in changed, or were there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Changes {
    pub new: i64,
    pub changed: i64,
    pub unchanged: i64,
}

/// What an import of documents did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct DocumentSummary {
    pub orders: Changes,
    pub refunds: Changes,
    /// Refunds with numbers of their own that were left out, or removed, since one that names its order is of the same buyer
    /// and day.
    pub refunds_known_twice: i64,
    /// Lines of new and changed documents.
    pub lines_written: i64,
    pub new_customers: i64,
    pub new_products: i64,
    /// Days whose figures are to be computed again.
    pub days_touched: i64,
    /// Sums over all documents that came in, new or not; not rounded.
    pub gross: Decimal,
    pub refunded: Decimal,
    /// Units of the orders.
    pub units: i64,
}

/// What an import of a file of orders did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSummary {
    pub documents: DocumentSummary,
    /// [Refused](FileDocument::Refused) orders of which lines came, and how many.
    pub refused: Vec<(String, i64)>,
}

/// What an import of a shop's orders did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShopSummary {
    pub documents: DocumentSummary,
    pub orders_removed: i64,
    pub refunds_removed: i64,
}

/// What an import of other rows did.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct RowSummary {
    pub rows: Changes,
    pub days_touched: i64,
}

/// What an import of stock levels did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StockSummary {
    pub rows: RowSummary,
    /// Rows whose SKU no product has, in the order of their lines; at most [`MAX_UNKNOWN_SKUS`] of them, with records of
    /// [`MAX_UNKNOWN_BYTES`] together.
    pub unknown: Vec<StockRow>,
    /// How many there were.
    pub unknown_count: i64,
}

/// What an import of ad spend did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AdSpendSummary {
    /// Counted by day, platform and campaign.
    pub rows: RowSummary,
    /// Rows of a file that are of a platform's days which the platform itself told of; as many as [`StockSummary::unknown`].
    pub synced: Vec<SyncedRow>,
    /// How many there were.
    pub synced_count: i64,
}

/// A row of a file that was refused, as the platform itself tells of its day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncedRow {
    pub line: u64,
    pub platform: String,
    pub day: Date,
    pub record: Vec<u8>,
}

/// Rows of unknown SKUs that are named one by one.
pub const MAX_UNKNOWN_SKUS: i64 = 100_000;
/// Bytes that the records of these rows have together.
pub const MAX_UNKNOWN_BYTES: i64 = 64 << 20;

/// Why an import failed. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Source(#[from] BrokenSource),
    #[error("there is no such account")]
    UnknownAccount,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Takes rows in bulk: each import is one transaction, and imports of one account run one after the other. The days
/// whose figures change are marked in the same transaction.
#[async_trait]
pub trait ImportStore: Send + Sync {
    /// Orders and refunds of one platform, with their customers, products and unit costs. A document that is there
    /// with other content is replaced.
    async fn documents(
        &self,
        target: Target,
        source: Platform,
        documents: Rows<FileDocument>,
    ) -> Result<FileSummary, ImportError>;
    /// Orders of a connected shop, each with its refunds, as [`ImportStore::documents`] takes them; what they say is gone is
    /// removed.
    async fn shop_documents(
        &self,
        target: Target,
        source: ShopSource,
        documents: Rows<ShopDocument>,
    ) -> Result<ShopSummary, ImportError>;
    /// The catalogue; a SKU that comes twice counts as its last row says, and its cost of a day as the last row of that day
    /// does. Products that are not named stay.
    async fn products(&self, target: Target, rows: Rows<ProductRow>) -> Result<RowSummary, ImportError>;
    /// Products of a connected shop, as [`ImportStore::products`] takes them; whose stock they say is kept with it.
    async fn shop_products(
        &self,
        target: Target,
        connection: IntegrationId,
        rows: Rows<ProductRow>,
    ) -> Result<RowSummary, ImportError>;
    /// Ends the stock of products that are not stocked (any more), by a pass of the connection that says what is in stock. What
    /// a file told stays, unless it is of goods that are no longer sold. Gives of how many.
    async fn not_stocked(
        &self,
        target: Target,
        connection: IntegrationId,
        catalogue: ShopCatalogue,
    ) -> Result<i64, ImportError>;
    /// Stock levels; a (SKU, day, location) that comes twice counts as its last row says, and the locations together replace
    /// what is there of the (SKU, day).
    async fn stock(&self, target: Target, rows: Rows<StockRow>) -> Result<StockSummary, ImportError>;
    /// Ad spend; a (day, platform, campaign) that is there is replaced. The days' sums by campaign are the ad spend that
    /// profit is made of.
    async fn ad_spend(
        &self,
        target: Target,
        source: AdSource,
        rows: Rows<AdSpendRow>,
    ) -> Result<AdSpendSummary, ImportError>;
    /// Rates of exchange; a (day, currency) that is there, or comes twice, counts as its last row says. Ad spend that they are
    /// for is converted again.
    async fn rates(&self, target: Target, rows: Rows<RateRow>) -> Result<RowSummary, ImportError>;
    /// Expenses; those of a (day, category, description) that comes in replace the ones that are there.
    async fn expenses(&self, target: Target, rows: Rows<ExpenseRow>) -> Result<RowSummary, ImportError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_an_amount_is_a_million_million() {
        assert_eq!(MAX_AMOUNT, "1000000000000".parse().unwrap());
    }

    #[test]
    fn a_country_code_is_two_capital_letters() {
        assert_eq!("BR".parse::<CountryCode>().unwrap().as_str(), "BR");
        for text in ["br", "BRA", "B", "", "B1", "É"] {
            assert_eq!(text.parse::<CountryCode>(), Err(InvalidCountryCode), "{text}");
        }
    }
}
