//! Values as they stand in payloads, and their JSON schemas.

use rust_decimal::Decimal;
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::{Value, json, value::RawValue};
use time::{Date, OffsetDateTime, UtcOffset, format_description::BorrowedFormatItem, macros::format_description};

use crate::money::round4;

const INSTANT: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// An exact decimal, written as a JSON number digit by digit and never by way of a binary float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount(pub Decimal);

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// A measured value, written with at most four decimals, as answers of the API show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured(pub f64);

impl Serialize for Measured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        round4(self.0).serialize(serializer)
    }
}

/// RFC 3339 in UTC, whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant(pub OffsetDateTime);

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_offset(UtcOffset::UTC).format(INSTANT).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// ISO 8601.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day(pub Date);

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.format(DATE).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// What a type looks like in JSON.
pub(super) trait Described {
    /// Its JSON Schema, without a description.
    fn schema() -> Value;
}

macro_rules! described {
    ($($type:ty => $schema:tt),+ $(,)?) => {
        $(impl Described for $type {
            fn schema() -> Value {
                json!($schema)
            }
        })+
    };
}

described! {
    String => { "type": "string" },
    bool => { "type": "boolean" },
    i64 => { "type": "integer", "format": "int64" },
    Measured => { "type": "number" },
    Amount => { "type": "number" },
    Instant => { "type": "string", "format": "date-time" },
    Day => { "type": "string", "format": "date" },
    // Always null.
    () => { "type": "null" },
}

impl<T: Described> Described for Option<T> {
    fn schema() -> Value {
        let schema = T::schema();
        let types = json!([schema.get("type"), "null"]);
        let mut schema = with(schema, "type", types);
        // An enumeration has to list null as well.
        if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            values.push(Value::Null);
        }
        schema
    }
}

/// The schema of an enumeration of texts.
pub(super) fn texts(names: &[&str]) -> Value {
    json!({ "type": "string", "enum": names })
}

/// A schema with one more keyword, or another value for one that it has.
pub(super) fn with(mut schema: Value, keyword: &str, value: impl Into<Value>) -> Value {
    if let Value::Object(keywords) = &mut schema {
        keywords.insert(keyword.to_owned(), value.into());
    }
    schema
}
