//! What the Admin API answers, as far as it is read.

use serde::Deserialize;
use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::shops::wire::{Amount, Count, Id};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageInfo {
    pub has_next_page: bool,
    pub end_cursor: Option<String>,
}

/// A page of a connection, and how to go on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub page_info: PageInfo,
    pub nodes: Vec<T>,
}

impl PageInfo {
    /// The cursor of the next page, if there is one.
    pub fn next(self) -> Option<String> {
        if self.has_next_page { self.end_cursor } else { None }
    }
}

/// Records that are read one by one, so that one that cannot be read does not take the others with it.
#[derive(Debug, Deserialize)]
pub struct OrdersData {
    pub orders: Page<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
pub struct NumbersData {
    pub orders: Page<Named>,
}

#[derive(Debug, Deserialize)]
pub struct NodesData {
    pub nodes: Vec<Option<Box<RawValue>>>,
}

#[derive(Debug, Deserialize)]
pub struct OrderData {
    pub order: Option<OrderAgreements>,
}

#[derive(Debug, Deserialize)]
pub struct OrderAgreements {
    pub agreements: Page<AgreementWire>,
}

/// The identifiers alone, to name a record that cannot be read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Named {
    pub legacy_resource_id: Id,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderWire {
    pub id: String,
    pub legacy_resource_id: Id,
    pub test: bool,
    pub display_financial_status: Option<String>,
    pub currency_code: String,
    pub customer: Option<CustomerWire>,
    pub shipping_address: Option<AddressWire>,
    pub transactions: Vec<TransactionWire>,
    /// Lines of their own in a bulk operation's file.
    pub agreements: Option<Page<AgreementWire>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomerWire {
    pub legacy_resource_id: Id,
    pub display_name: Option<String>,
    pub default_email_address: Option<EmailWire>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailWire {
    pub email_address: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddressWire {
    pub country_code_v2: Option<String>,
    pub city: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct TransactionWire {
    pub kind: String,
    pub status: String,
    pub test: bool,
    pub gateway: Option<String>,
    pub fees: Vec<FeeWire>,
}

#[derive(Debug, Deserialize)]
pub struct FeeWire {
    pub amount: MoneyWire,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MoneyWire {
    pub amount: Amount,
    pub currency_code: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgreementWire {
    pub id: String,
    #[serde(with = "time::serde::rfc3339")]
    pub happened_at: OffsetDateTime,
    pub reason: String,
    /// Lines of their own in a bulk operation's file.
    pub sales: Option<Page<SaleWire>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaleWire {
    pub action_type: String,
    pub line_type: String,
    pub quantity: Option<Count>,
    pub total_amount: BagWire,
    pub total_tax_amount: BagWire,
    pub line_item: Option<LineItemWire>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BagWire {
    pub shop_money: MoneyWire,
}

#[derive(Debug, Deserialize)]
pub struct LineItemWire {
    pub id: String,
    pub sku: Option<String>,
    pub name: String,
    pub variant: Option<Named>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogueData {
    pub shop: CurrencyWire,
    pub product_variants: Page<VariantWire>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrencyWire {
    pub currency_code: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VariantWire {
    pub legacy_resource_id: Id,
    pub sku: Option<String>,
    pub title: String,
    pub price: Amount,
    pub product: ProductWire,
    pub inventory_item: ItemWire,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProductWire {
    pub title: String,
    pub product_type: String,
    pub is_gift_card: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemWire {
    pub id: String,
    pub tracked: bool,
    pub unit_cost: Option<MoneyWire>,
    pub inventory_levels: Page<LevelWire>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LevelsData {
    pub inventory_item: Option<LevelsWire>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LevelsWire {
    pub inventory_levels: Page<LevelWire>,
}

/// Levels that are no longer in use are left out unless they are asked for.
#[derive(Debug, Deserialize)]
pub struct LevelWire {
    pub location: LocationWire,
    pub quantities: Vec<QuantityWire>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocationWire {
    pub is_active: bool,
}

#[derive(Debug, Deserialize)]
pub struct QuantityWire {
    pub name: String,
    pub quantity: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShopData {
    pub shop: ShopWire,
    pub current_app_installation: InstallationWire,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShopWire {
    pub myshopify_domain: String,
    pub currency_code: String,
    pub iana_timezone: String,
    pub shop_address: ShopAddressWire,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShopAddressWire {
    pub country_code_v2: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallationWire {
    access_scopes: Vec<ScopeWire>,
}

impl InstallationWire {
    /// What the shop grants the app now.
    pub fn scopes(self) -> Vec<String> {
        self.access_scopes.into_iter().map(|scope| scope.handle).collect()
    }
}

#[derive(Debug, Deserialize)]
struct ScopeWire {
    handle: String,
}

#[derive(Debug, Deserialize)]
pub struct BuyersData {
    pub orders: BuyersPage,
}

#[derive(Debug, Deserialize)]
pub struct BuyersPage {
    pub nodes: Vec<BuyerNode>,
}

#[derive(Debug, Deserialize)]
pub struct BuyerNode {
    pub customer: Option<BuyerWire>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuyerWire {
    pub default_email_address: Option<EmailWire>,
}
