//! Tiendanube's JSON (API version 2025-03). It writes the same field now as a number and now as a text, so that no field
//! stops the reading of a record: each is held as it came, and named when it is needed and cannot be read.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

use crate::shops::wire::{Amount, Count, Id};

/// A field that cannot be read; its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadField(pub &'static str);

impl BadField {
    /// A sentence for the owner of the shop.
    pub fn reason(self) -> String {
        format!("its `{}` is missing or cannot be read", self.0)
    }
}

/// A field as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Field<T> {
    /// Not there, or `null`.
    #[default]
    Absent,
    Unreadable,
    Is(T),
}

impl<'de, T: for<'a> Deserialize<'a>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::read(Box::<RawValue>::deserialize(deserializer)?.get()))
    }
}

impl<T: for<'a> Deserialize<'a>> Field<T> {
    fn read(json: &str) -> Self {
        match json {
            "null" => Self::Absent,
            json => serde_json::from_str(json).map_or(Self::Unreadable, Self::Is),
        }
    }
}

impl<T> Field<T> {
    /// The value, when it is readable.
    pub fn ok(self) -> Option<T> {
        match self {
            Self::Is(value) => Some(value),
            Self::Absent | Self::Unreadable => None,
        }
    }

    pub fn optional(self, name: &'static str) -> Result<Option<T>, BadField> {
        match self {
            Self::Is(value) => Ok(Some(value)),
            Self::Absent => Ok(None),
            Self::Unreadable => Err(BadField(name)),
        }
    }

    pub fn required(self, name: &'static str) -> Result<T, BadField> {
        self.ok().ok_or(BadField(name))
    }
}

/// The number of a store, order, product or customer, as digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number(pub String);

/// Unverified: how long numbers are; 20 digits hold any 64 bits.
pub(super) fn is_number(text: &str) -> bool {
    (1..=20).contains(&text.len()) && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Id(text) = Id::deserialize(deserializer)?;
        if is_number(&text) { Ok(Self(text)) } else { Err(serde::de::Error::custom("no number")) }
    }
}

/// An instant, of which whole seconds count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instant(pub OffsetDateTime);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        instant(&text).map(Self).ok_or_else(|| serde::de::Error::custom("no instant"))
    }
}

/// A date that may be none, which PHP also writes as one of a year before 1.
fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field<Instant>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let is_none = raw.get() == "\"\"" || ["\"-0001-", "\"0000-"].iter().any(|year| raw.get().starts_with(year));
    Ok(if is_none { Field::Absent } else { Field::read(raw.get()) })
}

/// `2026-11-24T12:00:00+0000`, or as in RFC 3339.
fn instant(text: &str) -> Option<OffsetDateTime> {
    let basic =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second][offset_hour sign:mandatory][offset_minute]");
    let parsed = OffsetDateTime::parse(text, &basic).or_else(|_| OffsetDateTime::parse(text, &Rfc3339)).ok()?;
    let whole = OffsetDateTime::from_unix_timestamp(parsed.unix_timestamp()).ok()?;
    (whole.year() > 0).then_some(whole)
}

/// A text in several languages, or in one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Texts {
    One(String),
    ByLanguage(BTreeMap<String, Option<String>>),
}

impl Texts {
    /// The text in that language, or in any that has one.
    pub fn in_language(&self, language: &str) -> Option<&str> {
        let filled = |text: &str| !text.trim().is_empty();
        match self {
            Self::One(text) => Some(text.as_str()).filter(|text| filled(text)),
            Self::ByLanguage(texts) => {
                let main = texts.get(language).and_then(Option::as_deref).filter(|text| filled(text));
                main.or_else(|| texts.values().flatten().map(String::as_str).find(|text| filled(text)))
            }
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StoreWire {
    pub id: Field<Number>,
    pub original_domain: Field<String>,
    pub country: Field<String>,
    pub main_currency: Field<String>,
    pub main_language: Field<String>,
    /// Unverified: whether the store names its zone.
    pub timezone: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OrderWire {
    pub id: Field<Number>,
    pub created_at: Field<Instant>,
    pub updated_at: Field<Instant>,
    #[serde(deserialize_with = "date")]
    pub paid_at: Field<Instant>,
    #[serde(deserialize_with = "date")]
    pub cancelled_at: Field<Instant>,
    pub payment_status: Field<String>,
    pub currency: Field<String>,
    pub total: Field<Amount>,
    /// Up to version 1, what [`Self::fulfillment_orders`] hold since.
    pub shipping_cost_customer: Field<Amount>,
    pub shipping_cost_owner: Field<Amount>,
    pub fulfillment_orders: Field<Vec<FulfillmentWire>>,
    pub storefront: Field<String>,
    pub customer: Field<CustomerWire>,
    pub shipping_address: Field<AddressWire>,
    pub products: Field<Vec<OrderLineWire>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OrderLineWire {
    pub product_id: Field<Number>,
    pub variant_id: Field<Number>,
    pub name: Field<Texts>,
    pub sku: Field<String>,
    pub price: Field<Amount>,
    pub quantity: Field<Count>,
    pub cost: Field<Amount>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct FulfillmentWire {
    pub shipping: Field<ShippingWire>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct ShippingWire {
    pub merchant_cost: Field<MoneyWire>,
    pub consumer_cost: Field<MoneyWire>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct MoneyWire {
    pub value: Field<Amount>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct CustomerWire {
    pub id: Field<Number>,
    pub name: Field<String>,
    pub email: Field<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct AddressWire {
    pub city: Field<String>,
    pub country: Field<String>,
}

/// A change of what an order is worth or of what was paid of it (`GET /orders/{id}/history/values`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct ValueChangeWire {
    pub total_paid_diff: Field<Amount>,
    pub happened_at: Field<Instant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProductWire {
    pub id: Field<Number>,
    pub name: Field<Texts>,
    pub categories: Field<Vec<CategoryWire>>,
    pub variants: Field<Vec<VariantWire>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct CategoryWire {
    pub name: Field<Texts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct VariantWire {
    pub id: Field<Number>,
    pub values: Field<Vec<Texts>>,
    pub sku: Field<String>,
    pub price: Field<Amount>,
    pub promotional_price: Field<Amount>,
    pub cost: Field<Amount>,
    pub stock: Field<Count>,
    pub stock_management: Field<bool>,
    pub inventory_levels: Field<Vec<LevelWire>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct LevelWire {
    pub stock: Field<Count>,
}

/// Without `Debug`: nothing shows the token.
#[derive(Deserialize)]
pub(super) struct TokenWire {
    pub access_token: String,
    pub token_type: String,
    #[serde(default)]
    pub scope: String,
    /// The store's number, in some texts of the documentation `store_id`.
    #[serde(alias = "store_id")]
    pub user_id: Number,
}

#[derive(Debug, Deserialize)]
pub(super) struct SubscriptionWire {
    pub event: String,
    pub url: String,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    #[rstest]
    #[case("2022-02-23T12:25:18+0000")]
    #[case("2022-02-23T09:25:18-03:00")]
    #[case("2022-02-23T12:25:18.735Z")]
    fn instants_come_in_two_forms(#[case] text: &str) {
        assert_eq!(instant(text), Some(datetime!(2022-02-23 12:25:18 UTC)));
    }

    #[rstest]
    #[case("-0001-11-30T00:00:00+0000")]
    #[case("0000-00-00")]
    #[case("")]
    fn no_date_is_none(#[case] text: &str) {
        assert_eq!(instant(text), None);
    }

    #[test]
    fn a_field_is_named_only_when_it_is_needed() {
        let line: OrderLineWire =
            serde_json::from_str(r#"{"variant_id":"12","quantity":{},"price":"1.50","cost":null,"sku":5}"#).unwrap();
        assert_eq!(line.variant_id, Field::Is(Number("12".into())));
        assert_eq!(line.quantity.required("quantity"), Err(BadField("quantity")));
        assert_eq!(line.cost.optional("cost"), Ok(None));
        assert_eq!(line.sku.optional("sku"), Err(BadField("sku")));
        assert_eq!(line.product_id.ok(), None);
    }

    #[test]
    fn a_name_falls_back_to_another_language() {
        let texts: Texts = serde_json::from_str(r#"{"en":null,"es":" ","pt":"Caneca"}"#).unwrap();
        assert_eq!(texts.in_language("es"), Some("Caneca"));
        assert_eq!(
            serde_json::from_str::<Texts>(r#"{"es":"Taza","pt":"Caneca"}"#).unwrap().in_language("es"),
            Some("Taza")
        );
        assert_eq!(Texts::One("Taza".into()).in_language("pt"), Some("Taza"));
    }
}
