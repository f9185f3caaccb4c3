//! Custom events sent by shops and apps.

use std::{fmt, net::IpAddr};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};

use crate::{
    AccountId, StoreError, TrackingEventId,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
};

/// Characters of an event name.
pub const MAX_NAME_CHARS: usize = 64;
/// Bytes of `props` as sent.
pub const MAX_PROPS_BYTES: usize = 8_192;
/// Levels of objects and arrays in `props`, itself the first: readers of JSON commonly stop at 128.
pub const MAX_PROPS_DEPTH: usize = 100;
/// Characters of a visitor or session id.
pub const MAX_ID_CHARS: usize = 128;
/// Characters of a page address.
pub const MAX_URL_CHARS: usize = 2_048;
/// Events of a batch at most.
pub const MAX_BATCH: usize = 500;
/// How far in the past an event may have happened.
pub const MAX_AGE: Duration = Duration::hours(72);
/// How far in the future, for clocks that are ahead.
pub const MAX_AHEAD: Duration = Duration::minutes(5);

/// The name of an event: 1 to 64 of `a-z A-Z 0-9 . _ -`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventName(String);

/// A text is not an event name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event name is 1 to 64 characters of a-z, A-Z, 0-9, '.', '_' and '-'")]
pub struct InvalidEventName;

impl EventName {
    pub fn parse(text: String) -> Result<Self, InvalidEventName> {
        let valid = (1..=MAX_NAME_CHARS).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        if valid { Ok(Self(text)) } else { Err(InvalidEventName) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why properties cannot be stored exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProps {
    #[error("a key or a text holds the character U+0000")]
    Nul,
    #[error("objects and arrays are nested more than {MAX_PROPS_DEPTH} deep")]
    TooDeep,
}

/// Checks properties for what the database cannot hold.
pub fn check_props(props: &Map<String, Value>) -> Result<(), InvalidProps> {
    check_object(props, 1)
}

/// `depth`: at which level the object stands, from 1.
fn check_object(object: &Map<String, Value>, depth: usize) -> Result<(), InvalidProps> {
    object.iter().try_for_each(|(key, value)| check_text(key).and_then(|()| check_value(value, depth)))
}

/// `depth`: of the object or array that holds the value.
fn check_value(value: &Value, depth: usize) -> Result<(), InvalidProps> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) => check_text(text),
        Value::Array(_) | Value::Object(_) if depth >= MAX_PROPS_DEPTH => Err(InvalidProps::TooDeep),
        Value::Array(items) => items.iter().try_for_each(|item| check_value(item, depth + 1)),
        Value::Object(map) => check_object(map, depth + 1),
    }
}

fn check_text(text: &str) -> Result<(), InvalidProps> {
    if text.contains('\0') { Err(InvalidProps::Nul) } else { Ok(()) }
}

/// Where an address is, as far as the GeoIP file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Location {
    /// ISO 3166-1 alpha-2.
    pub country: Option<String>,
    pub region: Option<String>,
    pub city: Option<String>,
}

/// An event to be stored. The client's address is not part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    pub name: EventName,
    pub props: Map<String, Value>,
    pub visitor_id: Option<String>,
    pub session_id: Option<String>,
    pub url: Option<String>,
    pub location: Location,
    /// When it happened, by the sender; the time of receipt when not said.
    pub occurred_at: OffsetDateTime,
    pub received_at: OffsetDateTime,
}

/// Why an event of a batch was not taken, in the words that its sender was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// The field at fault.
    pub param: Option<String>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait EventStore: Send + Sync {
    /// Stores the event durably and returns its id.
    async fn insert(
        &self,
        account: AccountId,
        event: NewEvent,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Idempotent<TrackingEventId>, IdempotencyError>;
    /// What became of each event under the key, which [`EventStore::insert`] and [`EventStore::insert_batch`] record; `None` where
    /// nothing is recorded.
    ///
    /// # Errors
    /// [`IdempotencyError`].
    async fn stored_under(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        now: OffsetDateTime,
    ) -> Result<Option<Vec<Result<TrackingEventId, Refusal>>>, IdempotencyError>;
    /// Stores those events of a batch that were not refused before: all of them or none. Gives what became of each, in
    /// order; a replay gives what the first request was told.
    async fn insert_batch(
        &self,
        account: AccountId,
        events: Vec<Result<NewEvent, Refusal>>,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Vec<Result<TrackingEventId, Refusal>>>, IdempotencyError>;
    /// Stores events that came in together: all of them or none.
    async fn insert_many(&self, account: AccountId, events: Vec<NewEvent>) -> Result<(), StoreError>;
    /// When the latest of the account's events happened.
    async fn latest(&self, account: AccountId) -> Result<Option<OffsetDateTime>, StoreError>;
}

/// Looks up where an address is.
pub trait Geolocator: Send + Sync {
    fn locate(&self, address: IpAddr) -> Location;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("order.paid", true)]
    #[case("A-z_0.9", true)]
    #[case("", false)]
    #[case("a b", false)]
    #[case("abc\n", false)]
    #[case("café", false)]
    fn names(#[case] name: &str, #[case] valid: bool) {
        assert_eq!(EventName::parse(name.into()).is_ok(), valid);
    }

    #[test]
    fn a_name_has_at_most_64_characters() {
        assert!(EventName::parse("a".repeat(64)).is_ok());
        assert_eq!(EventName::parse("a".repeat(65)), Err(InvalidEventName));
    }

    /// Objects nested to this many levels.
    fn nested(levels: usize) -> Value {
        (1..levels).fold(json!({}), |inner, _| json!({"a": inner}))
    }

    #[rstest]
    #[case(json!({"a": [1, {"b": "x\u{0}"}]}), Err(InvalidProps::Nul))]
    #[case(json!({"a\u{0}": 1}), Err(InvalidProps::Nul))]
    #[case(json!({"a": {"b\u{0}": 1}}), Err(InvalidProps::Nul))]
    #[case(json!({"a": 1e308, "b": 0, "c": -5e-324, "d": u64::MAX, "e": null, "f": "\u{2028}"}), Ok(()))]
    #[case(nested(100), Ok(()))]
    #[case(nested(101), Err(InvalidProps::TooDeep))]
    fn properties(#[case] props: Value, #[case] expected: Result<(), InvalidProps>) {
        assert_eq!(check_props(props.as_object().unwrap()), expected);
    }
}
