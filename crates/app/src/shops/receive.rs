//! Takes hooks in: a signature is checked and a row written, no more, as platforms wait less than a second.

use domain::{
    StoreError,
    accounts::Platform,
    shops::{
        hooks::{Hook, HookHeaders, HookRefused},
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

/// Stores a hook. When this returns it cannot be lost any more.
///
/// # Errors
/// Trouble with the database.
pub async fn store(
    inbox: &dyn Inbox,
    platform: Platform,
    hook: Hook,
    now: OffsetDateTime,
) -> Result<Received, StoreError> {
    let received = inbox.receive(platform, hook, now).await?;
    if received == Received::UnknownShop {
        count_refused(platform, "unknown_shop");
    }
    Ok(received)
}

fn count_refused(platform: Platform, reason: &'static str) {
    metrics::counter!("shop_hooks_refused_total", "provider" => platform.as_str(), "reason" => reason).increment(1);
}
