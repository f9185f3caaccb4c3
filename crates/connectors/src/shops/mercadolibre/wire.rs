//! What Mercado Libre sends, as far as it is used.

use domain::instants;
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::shops::wire::{Amount, Count, Id};

/// An instant, cut to whole seconds. It comes with an offset, mostly of −4 hours, with a colon or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub OffsetDateTime);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = String::deserialize(deserializer)?;
        let offset = text.len().saturating_sub(5);
        let lacks_colon = |sign: &str, digits: &str| {
            matches!(sign, "+" | "-") && digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if let (Some(sign), Some(digits)) = (text.get(offset..=offset), text.get(offset + 1..))
            && lacks_colon(sign, digits)
        {
            text.insert(offset + 3, ':');
        }
        let instant = instants::parse(&text).map_err(|_| D::Error::custom("no instant"))?;
        Ok(Self(instant.truncate_to_second()))
    }
}

/// A list that may be null.
fn list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Deserialize, Default)]
pub struct ErrorBody {
    pub error: Option<String>,
    pub code: Option<Id>,
}

#[derive(Deserialize)]
pub struct TokenBody {
    pub access_token: String,
    pub expires_in: Count,
    pub scope: Option<String>,
    pub user_id: Id,
    pub refresh_token: Option<String>,
}

#[derive(Deserialize)]
pub struct User {
    pub id: Id,
    pub site_id: String,
    pub status: Option<UserStatus>,
}

#[derive(Deserialize)]
pub struct UserStatus {
    pub site_status: Option<String>,
}

#[derive(Deserialize)]
pub struct Paging {
    pub total: u64,
}

/// A page of records that are read one by one, so that a bad one spoils no other.
#[derive(Deserialize)]
pub struct Page {
    pub paging: Paging,
    pub results: Vec<Box<RawValue>>,
}

/// Notifications that are read one by one, too.
#[derive(Deserialize)]
pub struct MissedFeeds {
    #[serde(default, deserialize_with = "list")]
    pub messages: Vec<Box<RawValue>>,
}

/// Questions that are read one by one, too.
#[derive(Deserialize)]
pub struct Questions {
    #[serde(default, deserialize_with = "list")]
    pub questions: Vec<Box<RawValue>>,
}

/// A question about a listing (`api_version=4`).
#[derive(Debug, Deserialize)]
pub struct Question {
    pub id: Id,
    pub status: String,
    pub text: Option<String>,
    pub date_created: Instant,
    pub item_id: Option<Id>,
    pub seller_id: Id,
    pub from: Option<Person>,
    pub answer: Option<QuestionAnswer>,
}

#[derive(Debug, Deserialize)]
pub struct QuestionAnswer {
    pub text: Option<String>,
    pub status: Option<String>,
    pub date_created: Option<Instant>,
}

/// Anything with an identifier.
#[derive(Deserialize)]
pub struct WithId {
    pub id: Id,
}

#[derive(Debug, Deserialize)]
pub struct Order {
    pub id: Id,
    pub status: String,
    pub date_created: Instant,
    pub date_closed: Option<Instant>,
    pub last_updated: Option<Instant>,
    /// The search calls it so.
    pub date_last_updated: Option<Instant>,
    pub pack_id: Option<Id>,
    #[serde(default, deserialize_with = "list")]
    pub order_items: Vec<OrderItem>,
    pub currency_id: String,
    #[serde(default, deserialize_with = "list")]
    pub payments: Vec<Payment>,
    pub shipping: Option<Shipping>,
    #[serde(default, deserialize_with = "list")]
    pub tags: Vec<String>,
    pub buyer: Option<Person>,
    pub seller: Option<Person>,
    pub cancel_detail: Option<CancelDetail>,
}

impl Order {
    pub fn changed_at(&self) -> Option<Instant> {
        self.date_last_updated.or(self.last_updated)
    }

    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }
}

#[derive(Debug, Deserialize)]
pub struct OrderItem {
    pub item: SoldItem,
    pub quantity: Count,
    pub unit_price: Amount,
    pub sale_fee: Option<Amount>,
}

#[derive(Debug, Deserialize)]
pub struct SoldItem {
    pub id: Id,
    pub title: Option<String>,
    pub variation_id: Option<Id>,
    pub seller_sku: Option<String>,
    pub seller_custom_field: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Payment {
    pub status: Option<String>,
    pub transaction_amount: Amount,
    pub transaction_amount_refunded: Option<Amount>,
    pub date_approved: Option<Instant>,
    pub date_last_modified: Option<Instant>,
    #[serde(default, deserialize_with = "list")]
    pub tags: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Shipping {
    pub id: Option<Id>,
}

#[derive(Debug, Deserialize)]
pub struct Person {
    pub id: Option<Id>,
    pub nickname: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct CancelDetail {
    pub code: Option<String>,
    pub date: Option<Instant>,
}

/// Who bears which discount of an order.
#[derive(Deserialize)]
pub struct Discounts {
    #[serde(default, deserialize_with = "list")]
    pub details: Vec<Discount>,
}

#[derive(Deserialize)]
pub struct Discount {
    #[serde(rename = "type")]
    pub kind: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub items: Vec<DiscountedItem>,
}

#[derive(Deserialize)]
pub struct DiscountedItem {
    pub id: Id,
    pub amounts: Option<DiscountAmounts>,
}

#[derive(Deserialize)]
pub struct DiscountAmounts {
    pub seller: Option<Amount>,
}

#[derive(Deserialize)]
pub struct ShipmentCosts {
    #[serde(default, deserialize_with = "list")]
    pub senders: Vec<Sender>,
}

#[derive(Deserialize)]
pub struct Sender {
    pub user_id: Option<Id>,
    pub cost: Option<Amount>,
}

/// An item of a shipment; a seller sees only their own.
#[derive(Deserialize)]
pub struct ShippedItem {
    pub order_id: Option<Id>,
    pub quantity: Count,
}

#[derive(Deserialize)]
pub struct Claims {
    #[serde(default, deserialize_with = "list")]
    pub data: Vec<Claim>,
}

#[derive(Deserialize)]
pub struct Claim {
    pub id: Id,
    /// `return` where goods are sent back. The search may leave it out.
    pub related_entities: Option<Vec<String>>,
    pub resolution: Option<Resolution>,
}

#[derive(Deserialize)]
pub struct Resolution {
    pub reason: Option<String>,
    pub date_created: Option<Instant>,
}

#[derive(Deserialize)]
pub struct Return {
    pub subtype: Option<String>,
    pub status_money: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub orders: Vec<ReturnedOrder>,
}

#[derive(Deserialize)]
pub struct ReturnedOrder {
    pub order_id: Id,
    pub item_id: Option<Id>,
    pub variation_id: Option<Id>,
    pub context_type: Option<String>,
    pub return_quantity: Option<Count>,
}

#[derive(Deserialize)]
pub struct ItemIds {
    pub scroll_id: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub results: Vec<Id>,
}

/// One answer of a multiget: each has a status of its own.
#[derive(Deserialize)]
pub struct Got {
    pub code: u16,
    pub body: Box<RawValue>,
}

#[derive(Debug, Deserialize)]
pub struct Item {
    pub id: Id,
    pub title: Option<String>,
    pub status: Option<String>,
    pub category_id: Option<String>,
    pub price: Option<Amount>,
    pub currency_id: Option<String>,
    pub available_quantity: Option<Count>,
    pub seller_custom_field: Option<String>,
    pub user_product_id: Option<Id>,
    #[serde(default, deserialize_with = "list")]
    pub attributes: Vec<Attribute>,
    #[serde(default, deserialize_with = "list")]
    pub variations: Vec<Variation>,
}

#[derive(Debug, Deserialize)]
pub struct Variation {
    pub id: Id,
    pub price: Option<Amount>,
    pub available_quantity: Option<Count>,
    pub seller_custom_field: Option<String>,
    pub user_product_id: Option<Id>,
    #[serde(default, deserialize_with = "list")]
    pub attributes: Vec<Attribute>,
    #[serde(default, deserialize_with = "list")]
    pub attribute_combinations: Vec<Attribute>,
}

#[derive(Debug, Deserialize)]
pub struct Attribute {
    pub id: Option<String>,
    pub value_name: Option<String>,
}

#[derive(Deserialize)]
pub struct UserProductStock {
    #[serde(default, deserialize_with = "list")]
    pub locations: Vec<Location>,
}

#[derive(Deserialize)]
pub struct Location {
    pub quantity: Count,
}

#[derive(Deserialize)]
pub struct Category {
    pub name: String,
}

#[derive(Deserialize)]
pub struct Advertisers {
    #[serde(default, deserialize_with = "list")]
    pub advertisers: Vec<Advertiser>,
}

#[derive(Deserialize)]
pub struct Advertiser {
    pub advertiser_id: Id,
    pub site_id: String,
}

#[derive(Deserialize)]
pub struct Campaigns {
    pub paging: Paging,
    #[serde(default, deserialize_with = "list")]
    pub results: Vec<Campaign>,
}

#[derive(Deserialize)]
pub struct Campaign {
    pub id: Id,
}

#[derive(Deserialize)]
pub struct CampaignDay {
    /// `YYYY-MM-DD`
    pub date: String,
    pub cost: Amount,
    pub clicks: Option<Count>,
    pub prints: Option<Count>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use time::macros::datetime;

    #[rstest]
    #[case("2024-11-01T09:34:59.000-04:00", Some(datetime!(2024-11-01 13:34:59 UTC)))]
    #[case("2024-08-15T17:38:30.000-0400", Some(datetime!(2024-08-15 21:38:30 UTC)))]
    #[case("2024-09-10T17:26:41.704+00:00", Some(datetime!(2024-09-10 17:26:41 UTC)))]
    #[case("2025-11-25T21:12:59Z", Some(datetime!(2025-11-25 21:12:59 UTC)))]
    #[case("2025-11-25", None)]
    #[case("9999-12-31T23:59:59-23:59", None)]
    #[case("ñandú", None)]
    fn instants_come_with_an_offset(#[case] text: &str, #[case] expected: Option<OffsetDateTime>) {
        let instant = serde_json::from_value::<Instant>(text.into()).ok();
        assert_eq!(instant.map(|instant| instant.0), expected);
    }
}
