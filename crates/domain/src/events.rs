//! The events that receivers can subscribe to, by name.

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

#[cfg(test)]
mod tests {
    use super::EventKind;

    #[test]
    fn the_catalogue_ends_before_the_events_that_are_asked_for_by_name() {
        assert_eq!(EventKind::ALL.len(), 19);
        assert_eq!(EventKind::catalogue().last(), Some(&EventKind::SocialAutoReplySent));
        assert!(!EventKind::CreditConsumed.is_catalogued());
    }
}
