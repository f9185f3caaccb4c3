//! The events that receivers can subscribe to: their names, their payloads, and how they are written.
//!
//! A body is `{"event": name, "data": payload}`, serialised once; receivers get those bytes. Payloads, their JSON
//! schemas and the samples all come from the one list in [`payloads`].

mod payloads;
mod value;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;

pub use payloads::*;
pub use value::{Amount, Day, Instant, Measured};

use crate::{AccountId, StoreError};

text_enum!(
    /// What happened. The first thirteen are the catalogue; the others are sent to those who ask for them by name.
    EventKind {
        /// A payment was credited.
        PurchaseCreated = "purchase.created",
        /// A debit left the balance low.
        CreditsLow = "credits.low",
        /// A debit left the balance at zero.
        CreditsDepleted = "credits.depleted",
        /// A top-up succeeded.
        CreditsRecharged = "credits.recharged",
        /// An alert rule's threshold was crossed.
        AlertFired = "alert.fired",
        /// A metric deviated from what was expected.
        AnomalyDetected = "anomaly.detected",
        /// The month's cost of AI providers crossed a threshold.
        UsageThresholdCrossed = "usage.threshold_crossed",
        /// AI access was paused.
        AiPaused = "ai.paused",
        /// AI access was resumed.
        AiResumed = "ai.resumed",
        /// A shop was connected.
        IntegrationConnected = "integration.connected",
        /// A shop's permission ended.
        IntegrationRevoked = "integration.revoked",
        /// A subscription was activated or reactivated.
        SubscriptionActivated = "subscription.activated",
        /// A comment was answered with an approved template.
        SocialAutoReplySent = "social.auto_reply_sent",
        /// Credits were debited.
        CreditConsumed = "credit.consumed",
        /// A debit was taken back.
        CreditRefunded = "credit.refunded",
        /// A shop was disconnected.
        IntegrationDisconnected = "integration.disconnected",
        /// A shop stopped answering.
        IntegrationBroken = "integration.broken",
        /// An advertisement stood out.
        CreativeWinnerDetected = "creative.winner.detected",
        /// An item is running out.
        InventoryLowStock = "inventory.low_stock",
    }
);

/// Stands for the whole catalogue in a subscription's list of events.
pub const EVERY_EVENT: &str = "*";

impl EventKind {
    /// How many events the catalogue has.
    const CATALOGUED: usize = 13;

    /// The events that [`EVERY_EVENT`] stands for.
    pub fn catalogue() -> &'static [Self] {
        Self::ALL.get(..Self::CATALOGUED).unwrap_or(Self::ALL)
    }

    /// Whether [`EVERY_EVENT`] includes it.
    pub fn is_catalogued(self) -> bool {
        Self::catalogue().contains(&self)
    }
}

/// Why names are no choice of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChoice {
    #[error("no event is named")]
    Empty,
    /// Of which place, from 1.
    #[error("there is no event of that name")]
    Unknown(usize),
}

/// The events of a subscription, each once and as far as [`EVERY_EVENT`] does not already mean them.
///
/// # Errors
/// [`InvalidChoice`]
pub fn chosen(names: Vec<String>) -> Result<Vec<String>, InvalidChoice> {
    if names.is_empty() {
        return Err(InvalidChoice::Empty);
    }
    let every = names.iter().any(|name| name == EVERY_EVENT);
    let mut kept: Vec<String> = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        let kind = name.parse::<EventKind>().ok();
        if kind.is_none() && name != EVERY_EVENT {
            return Err(InvalidChoice::Unknown(index + 1));
        }
        let implied = every && kind.is_some_and(EventKind::is_catalogued);
        if !implied && !kept.contains(&name) {
            kept.push(name);
        }
    }
    Ok(kept)
}

#[derive(Serialize)]
struct Body<'a, T> {
    event: &'static str,
    data: &'a T,
}

impl Event {
    /// The bytes that receivers get.
    ///
    /// # Errors
    /// Should a payload have no JSON form, which none of them lacks.
    pub fn body(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&Body { event: self.kind().as_str(), data: self })
    }
}

impl EventKind {
    /// The JSON Schema (2020-12) of the body that receivers get.
    pub fn body_schema(self) -> Value {
        json!({
            "type": "object",
            "required": ["event", "data"],
            "properties": { "event": { "type": "string", "const": self.as_str() }, "data": self.data_schema() },
        })
    }
}

/// Takes events that no other change of the database goes with. Events of a change are written in its transaction.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Stores the events and a delivery of each to every subscription that asks for it. When this returns, none of
    /// them can be lost any more.
    async fn emit(&self, account: AccountId, events: &[Event], now: OffsetDateTime) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests;
