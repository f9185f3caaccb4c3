//! Hooks: what a platform sends when something changed in a shop. They are hints, never data: what changed is read
//! again with our own token.

use time::OffsetDateTime;

use crate::accounts::Platform;

/// Bytes of a hook's body.
pub const MAX_BODY: usize = 1 << 20;

/// What a hook says happened.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "topic", content = "about", rename_all = "snake_case")]
pub enum Topic {
    /// An order changed; its identifier. `None`: some order, to be found among the changes.
    Order(Option<String>),
    /// Products, prices, costs or stock changed.
    Catalogue,
    /// Somebody asked about a product, or was answered: some question, to be found among the newest.
    Question,
    /// The app was removed from the shop: the token is dead. When, where the platform says so.
    Uninstalled(Option<TriggeredAt>),
    Suspended,
    Resumed,
    /// The granted permissions changed.
    ScopesChanged,
    Privacy(PrivacyRequest),
    /// Nothing that matters here.
    Other,
}

/// When what a hook tells of happened, by the platform's clock. A type of its own, as hooks that were kept without it are read
/// as `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TriggeredAt(#[serde(with = "time::serde::rfc3339")] pub OffsetDateTime);

/// What a law gives a buyer or a shop, as the platform passes it on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrivacyRequest {
    /// A buyer asks what is kept about them; the platform's identifier of the customer.
    Data { customer: String },
    /// A buyer is to be forgotten; with the orders that are to lose their buyer, where the platform names them.
    RedactCustomer { customer: String, orders: Vec<String> },
    /// Everything about the shop's buyers is to be forgotten.
    RedactShop,
}

/// A hook that its platform sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// By which the connection is found: the platform's number of the shop, or its host name for Shopify.
    pub shop_id: String,
    /// The platform's name of the topic.
    pub topic_name: String,
    pub topic: Topic,
    /// The same for repetitions of the same event, different for others.
    pub dedup_key: String,
}

/// Why a hook is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HookRefused {
    /// No signature where there has to be one, or not in its form.
    #[error("the signature is missing or malformed")]
    Unsigned,
    #[error("the signature is wrong")]
    Forged,
    /// Signed, but the body is not what the platform sends.
    #[error("the body cannot be read")]
    Unreadable,
    /// Not signed by design, and not for this app: it is answered like others and dropped.
    #[error("the hook is for somebody else")]
    Foreign,
}

/// The headers of a hook, by lower-case name.
pub trait HookHeaders {
    /// The value of a header that is there exactly once and is visible ASCII.
    fn one(&self, name: &str) -> Option<&str>;
}

/// Checks hooks of a platform: the signature in constant time, with the present and the previous secret.
pub trait HookVerifier: Send + Sync {
    fn platform(&self) -> Platform;

    /// # Errors
    /// [`HookRefused`].
    fn verify(&self, headers: &dyn HookHeaders, body: &[u8], now: OffsetDateTime) -> Result<Hook, HookRefused>;
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_removal_is_read_as_it_was_kept_also_without_its_time() {
        let kept = |topic: &Topic| -> Topic {
            serde_json::to_string(topic).and_then(|text| serde_json::from_str(&text)).unwrap()
        };
        let of = Topic::Uninstalled;
        for topic in [of(None), of(Some(TriggeredAt(datetime!(2026-11-24 05:58:03.5 UTC))))] {
            assert_eq!(kept(&topic), topic);
        }
        // As before times were kept.
        assert_eq!(serde_json::from_str::<Topic>(r#"{"topic":"uninstalled"}"#).unwrap(), of(None));
    }
}
