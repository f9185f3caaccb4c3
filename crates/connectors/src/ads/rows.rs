//! What networks tell of a day, as it can be imported.

use domain::{
    ads::Format,
    shops::{Refused, ShopError},
};
use rust_decimal::Decimal;
use time::{Date, macros::format_description};

use crate::shops::{amounts::is_importable_cost, wire::clean};

/// Characters of a name.
const MAX_NAME: usize = 200;
/// Characters of a text of a creative.
const MAX_TEXT: usize = 500;

/// What a creative is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub format: Format,
    /// What identifies it wherever it runs.
    pub key: String,
    pub headline: Option<String>,
    pub body: Option<String>,
}

/// A day as ISO 8601 writes it.
pub fn day(text: &str, field: &str) -> Result<Date, ShopError> {
    Date::parse(text, format_description!("[year]-[month]-[day]")).map_err(|_| ShopError::Malformed(field.to_owned()))
}

/// What was spent. Where it cannot be read, nothing is: without it the rest of the day would pass for all that was spent. What ads
/// did is not checked here: what of it cannot be is unknown, and keeps no spend from being read.
pub fn spent(amount: Decimal, field: &str) -> Result<Decimal, ShopError> {
    if is_importable_cost(amount) { Ok(amount) } else { Err(ShopError::Malformed(field.to_owned())) }
}

/// Passes over that `ads` are not shown, if it is no trouble of the ad account: what they did is known all the same.
pub fn not_shown(ads: &[&str], error: ShopError) -> Result<Option<Refused>, ShopError> {
    match error {
        ShopError::Unauthorized | ShopError::Suspended | ShopError::MissingScope(_) | ShopError::Throttled(_) => {
            Err(error)
        }
        error => Ok(ads.first().map(|first| Refused {
            kind: "ad",
            external_id: (*first).to_owned(),
            reason: format!("what it and {} others show is not told: {error}", ads.len() - 1),
        })),
    }
}

/// A text of a creative, as it is kept.
pub fn text_of(text: &str) -> Option<String> {
    clean(text, MAX_TEXT)
}

/// How something is called, else its number.
pub fn named(name: Option<&str>, number: &str) -> String {
    name.and_then(|name| clean(name, MAX_NAME)).unwrap_or_else(|| number.to_owned())
}
