//! Notifications. Nobody signs them: a hint is taken when it names this app, a seller and a resource in the form of its
//! topic, and all that is used of it are these identifiers. Whether the seller is connected is for the caller to know.

use domain::{
    accounts::Platform,
    shops::hooks::{Hook, HookHeaders, HookRefused, HookVerifier, Topic},
};
use serde::Deserialize;
use time::OffsetDateTime;

use super::{super::wire::Id, Mercadolibre};

/// Characters of an event's identifier or instant that go into the key of an event.
const MAX_EVENT_CHARS: usize = 64;

#[derive(Deserialize)]
struct Notification {
    #[serde(rename = "_id")]
    id: Option<Id>,
    topic: String,
    resource: String,
    user_id: Id,
    application_id: Id,
    received: Option<Id>,
    /// Some topics spell it so.
    recieved: Option<Id>,
}

impl HookVerifier for Mercadolibre {
    fn platform(&self) -> Platform {
        Platform::Mercadolibre
    }

    fn verify(&self, _: &dyn HookHeaders, body: &[u8], _: OffsetDateTime) -> Result<Hook, HookRefused> {
        read(&self.app.client_id, body)
    }
}

fn read(app: &str, body: &[u8]) -> Result<Hook, HookRefused> {
    let notification: Notification = serde_json::from_slice(body).map_err(|_| HookRefused::Unreadable)?;
    let Notification { id, topic: topic_name, resource, user_id, application_id, received, recieved } = notification;
    if application_id.0 != app || !is_number(&user_id.0, 20) {
        return Err(HookRefused::Foreign);
    }
    let topic = topic(&topic_name, &resource).ok_or(HookRefused::Foreign)?;
    // Repetitions have the event's identifier or, in topics without one, the instant at which Mercado Libre received it.
    let event = id.or(received).or(recieved).map_or(String::new(), |event| event.0);
    let event: String = event.chars().filter(char::is_ascii_graphic).take(MAX_EVENT_CHARS).collect();
    let dedup_key = format!("{}/{topic_name}/{}/{event}", user_id.0, resource.trim_start_matches('/'));
    Ok(Hook { shop_id: user_id.0, topic_name, topic, dedup_key })
}

/// What a topic says of a resource. `None`: the resource is not what the topic is about, so Mercado Libre did not send it.
fn topic(name: &str, resource: &str) -> Option<Topic> {
    let is = |form: &[Segment]| matches(form, resource).is_some();
    match name {
        "orders_v2" => order_of(resource).map(|id| Topic::Order(Some(id.to_owned()))),
        // The order of a payment, shipment or claim is told by none of them: it is among the changes.
        "payments" => is(&[Word("payments"), Number]).then_some(Topic::Order(None)),
        "shipments" => is(&[Word("shipments"), Number]).then_some(Topic::Order(None)),
        "post_purchase" | "claims" | "claims_actions" => {
            let is_claim = is(&[Word("post-purchase"), Version, Word("claims"), Number]);
            (is_claim || is(&[Version, Word("claims"), Number])).then_some(Topic::Order(None))
        }
        "questions" => is(&[Word("questions"), Number]).then_some(Topic::Question),
        "items" | "items_prices" => is_item(resource).then_some(Topic::Catalogue),
        "stock-location" => is(&[Word("user-products"), Item, Word("stock")]).then_some(Topic::Catalogue),
        "user-products-families" | "fbm_stock_operations" => is_path(resource).then_some(Topic::Catalogue),
        _ => (is_topic(name) && resource.len() <= MAX_RESOURCE).then_some(Topic::Other),
    }
}

/// The number of the order that a resource is.
pub(super) fn order_of(resource: &str) -> Option<&str> {
    matches(&[Word("orders"), Number], resource)
}

/// Bytes of a resource or topic.
const MAX_RESOURCE: usize = 128;

/// A part of a path.
#[derive(Clone, Copy)]
enum Segment {
    Word(&'static str),
    /// 1 to 20 digits.
    Number,
    /// `v1`.
    Version,
    /// Capital letters, then 1 to 15 digits.
    Item,
}
use Segment::{Item, Number, Version, Word};

/// The last identifier of a path that has the form: a slash before each segment, and nothing else.
fn matches<'a>(form: &[Segment], path: &'a str) -> Option<&'a str> {
    let mut parts = path.strip_prefix('/')?.split('/');
    let mut last = "";
    for segment in form {
        let part = parts.next()?;
        let fits = match segment {
            Word(word) => part == *word,
            Number => is_number(part, 20),
            Version => part.strip_prefix('v').is_some_and(|digit| is_number(digit, 1)),
            Item => is_identifier(part),
        };
        if !fits {
            return None;
        }
        last = part;
    }
    parts.next().is_none().then_some(last)
}

fn is_item(resource: &str) -> bool {
    matches(&[Word("items"), Item], resource)
        .is_some_and(|item| item.bytes().take(3).all(|byte| byte.is_ascii_uppercase()))
}

/// An item (`MLA686791111`) or a user product (`MLAU123456789`).
fn is_identifier(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
    (3..=4).contains(&letters) && text.get(letters..).is_some_and(|digits| is_number(digits, 15))
}

fn is_number(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A path of letters, digits and hyphens below this host.
fn is_path(resource: &str) -> bool {
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    resource.len() <= MAX_RESOURCE && resource.strip_prefix('/').is_some_and(|path| path.split('/').all(is_word))
}

fn is_topic(name: &str) -> bool {
    (1..=MAX_RESOURCE).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_ ".contains(&byte))
}

#[cfg(test)]
mod tests;
