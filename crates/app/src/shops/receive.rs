//! Takes hooks in: a signature is checked and a row written, no more, as platforms wait less than a second.

use domain::{
    StoreError,
    accounts::Platform,
    shops::{
        hooks::{Hook, HookHeaders, HookRefused, Topic},
        inbox::{Inbox, Received},
    },
};
use time::OffsetDateTime;

use super::Connectors;

/// Why a hook is not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// This service has no app on the platform, or it sends no hooks.
    #[error("no hooks of the platform are taken")]
    NotConfigured,
    #[error(transparent)]
    Refused(#[from] HookRefused),
}

/// Checks a hook. It is counted where it is refused.
///
/// # Errors
/// [`NotTaken`].
pub fn verify(
    connectors: &Connectors,
    platform: Platform,
    headers: &dyn HookHeaders,
    body: &[u8],
    now: OffsetDateTime,
) -> Result<Hook, NotTaken> {
    let connector = connectors.get(platform).map_err(|_| NotTaken::NotConfigured)?;
    let verifier = connector.verifier.as_ref().ok_or(NotTaken::NotConfigured)?;
    verifier.verify(headers, body, now).map_err(|refused| {
        let reason = match refused {
            HookRefused::Unsigned => "unsigned",
            HookRefused::Forged => "forged",
            HookRefused::Unreadable => "unreadable",
            HookRefused::Foreign => "foreign",
        };
        count_refused(platform, reason);
        refused.into()
    })
}

/// Stores a hook that somebody acts on. When this returns it cannot be lost any more.
///
/// # Errors
/// Trouble with the database.
pub async fn store(
    inbox: &dyn Inbox,
    platform: Platform,
    hook: Hook,
    now: OffsetDateTime,
) -> Result<Received, StoreError> {
    if hook.topic == Topic::Other {
        return Ok(Received::Unneeded);
    }
    let received = inbox.receive(platform, hook, now).await?;
    match received {
        Received::UnknownShop => count_refused(platform, "unknown_shop"),
        Received::TooMany => count_refused(platform, "too_many"),
        Received::Stored | Received::Duplicate | Received::Unneeded => {}
    }
    Ok(received)
}

fn count_refused(platform: Platform, reason: &'static str) {
    metrics::counter!("shop_hooks_refused_total", "provider" => platform.as_str(), "reason" => reason).increment(1);
}

#[cfg(test)]
mod tests {
    use domain::shops::inbox::MockInbox;
    use time::macros::datetime;

    use super::*;

    /// The mock panics when anything is stored.
    #[tokio::test]
    async fn a_hook_that_nobody_acts_on_is_not_stored() {
        let (shop_id, topic_name, dedup_key) = ("7".to_owned(), "messages".to_owned(), "1".to_owned());
        let hook = Hook { shop_id, topic_name, topic: Topic::Other, dedup_key };
        let now = datetime!(2026-05-20 12:00 UTC);
        let received = store(&MockInbox::new(), Platform::Mercadolibre, hook, now).await.unwrap();
        assert_eq!(received, Received::Unneeded);
    }
}
