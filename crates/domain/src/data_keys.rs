//! Which data keys the secrets of a database are sealed with, so that a process with other keys does not start.

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::{
    AccountId, IntegrationId, PersonId, SocialAccountId, SubscriptionId,
    error::StoreError,
    log_in,
    sealing::Binding,
    shops::{authorizations, tokens},
    social::replies,
    webhooks,
};

text_enum!(
    /// A column of sealed secrets.
    SealedColumn {
        /// The signing secret of a webhook subscription.
        WebhookSecret = "webhook_secret",
        /// The one before its last rotation.
        PreviousWebhookSecret = "previous_webhook_secret",
        /// The access token of a connected shop.
        ShopAccessToken = "shop_access_token",
        /// Its refresh token.
        ShopRefreshToken = "shop_refresh_token",
        /// The code verifier of an authorization that is under way.
        OauthVerifier = "oauth_verifier",
        /// The token of a profile on a social network.
        SocialToken = "social_token",
        /// The secret of a person's second factor.
        TotpSecret = "totp_secret",
    }
);

/// A sealed secret and where it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    pub column: SealedColumn,
    pub account: AccountId,
    /// The id of the row: of the subscription, the connection, the authorization or the person.
    pub row: i64,
    pub sealed: Vec<u8>,
}

impl SealedSecret {
    /// What it is bound to.
    pub const fn binding(&self) -> Binding {
        match self.column {
            SealedColumn::WebhookSecret | SealedColumn::PreviousWebhookSecret => {
                webhooks::secret_binding(self.account, SubscriptionId(self.row))
            }
            SealedColumn::ShopAccessToken => tokens::access_binding(self.account, IntegrationId(self.row)),
            SealedColumn::ShopRefreshToken => tokens::refresh_binding(self.account, IntegrationId(self.row)),
            SealedColumn::OauthVerifier => authorizations::verifier_binding(self.account, self.row),
            SealedColumn::SocialToken => replies::token_binding(self.account, SocialAccountId(self.row)),
            SealedColumn::TotpSecret => log_in::totp_binding(PersonId(self.row)),
        }
    }
}

/// A configured data key, by a value that only this key gives and that reveals nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyCheck {
    pub id: String,
    pub value: Vec<u8>,
}

/// What the database remembers of a data key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedKey {
    pub id: String,
    /// Null for a key that was given up before it was ever recorded.
    pub check: Option<Vec<u8>>,
    /// An operator has given it up.
    pub is_lost: bool,
}

/// A key id that live secrets are sealed under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedKey {
    pub id: String,
    /// Whether the configured key of that id opens any of them; true as well where that was not tried.
    pub opens: bool,
}

/// Why a process must not work with the keys that it is configured with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataKeyFault {
    /// Another key than the recorded one goes by this id.
    #[error("the data key `{0}` is another one than this database's secrets were sealed with under that id")]
    Changed(String),
    /// A key that this database relies on is not configured.
    #[error("the data key `{0}`, which this database's secrets are sealed with, is not configured")]
    Missing(String),
    /// A key that was never recorded does not open what is sealed under its id.
    #[error("the data key `{0}` opens none of the secrets that are sealed under that id")]
    Unfit(String),
}

/// The configured keys that are to be recorded, unless the configuration is not to be worked with.
///
/// An older key may be left out once nothing is sealed with it any more. Never all recorded keys at a time, though nothing
/// may be sealed yet: two processes with different keys would not open each other's secrets.
///
/// # Errors
/// [`DataKeyFault`] naming the first key that is wrong.
pub fn verify(
    configured: &[KeyCheck],
    recorded: &[RecordedKey],
    used: &[UsedKey],
) -> Result<Vec<KeyCheck>, DataKeyFault> {
    let record = |id: &str| recorded.iter().find(|key| key.id == id);
    let is_configured = |id: &str| configured.iter().any(|key| key.id == id);
    let mut new = Vec::new();
    for key in configured {
        match record(&key.id).and_then(|known| known.check.as_ref()) {
            Some(check) if *check == key.value => {}
            Some(_) => return Err(DataKeyFault::Changed(key.id.clone())),
            None if used.iter().any(|used| used.id == key.id && !used.opens) => {
                return Err(DataKeyFault::Unfit(key.id.clone()));
            }
            None => new.push(key.clone()),
        }
    }
    let is_lost = |id: &str| record(id).is_some_and(|known| known.is_lost);
    if let Some(missing) = used.iter().find(|used| !is_configured(&used.id) && !is_lost(&used.id)) {
        return Err(DataKeyFault::Missing(missing.id.clone()));
    }
    let mut alive = recorded.iter().filter(|known| !known.is_lost).peekable();
    match alive.peek().map(|known| known.id.clone()) {
        Some(first) if !alive.any(|known| is_configured(&known.id)) => Err(DataKeyFault::Missing(first)),
        _ => Ok(new),
    }
}

/// What the database remembers of its data keys.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait DataKeyStore: Send + Sync {
    /// All keys that were ever recorded, oldest first.
    async fn recorded(&self) -> Result<Vec<RecordedKey>, StoreError>;

    /// Remembers keys. One that is remembered by a value already stays as it is.
    async fn record(&self, keys: &[KeyCheck], now: OffsetDateTime) -> Result<(), StoreError>;

    /// The ids of the keys that live secrets are sealed with.
    async fn used(&self) -> Result<Vec<String>, StoreError>;

    /// Some live secrets that are sealed under the id, `limit` at most.
    async fn sealed_under(&self, id: &str, limit: i64) -> Result<Vec<SealedSecret>, StoreError>;

    /// Sealed secrets of a column, of rows with greater ids than `after`, at most `limit`, in the order of their ids. Of all
    /// accounts, and ended ones too: this is for the operator.
    async fn sealed(&self, column: SealedColumn, after: i64, limit: i64) -> Result<Vec<SealedSecret>, StoreError>;

    /// Replaces a sealed secret by the same one sealed again, unless it has changed meanwhile.
    async fn reseal(&self, old: &SealedSecret, sealed: Vec<u8>) -> Result<bool, StoreError>;

    /// Gives a key up: what is sealed with it is not waited for any more.
    async fn give_up(&self, id: &str, now: OffsetDateTime) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(id: &str, value: u8) -> KeyCheck {
        KeyCheck { id: id.to_owned(), value: vec![value] }
    }

    fn recorded(id: &str, value: u8) -> RecordedKey {
        RecordedKey { id: id.to_owned(), check: Some(vec![value]), is_lost: false }
    }

    fn lost(id: &str) -> RecordedKey {
        RecordedKey { id: id.to_owned(), check: None, is_lost: true }
    }

    fn used(id: &str, opens: bool) -> UsedKey {
        UsedKey { id: id.to_owned(), opens }
    }

    #[test]
    fn the_first_start_records_its_keys_and_a_key_that_opens_nothing_is_refused() {
        let (old, new) = (check("old", 1), check("new", 2));
        assert_eq!(verify(&[old.clone(), new.clone()], &[], &[]), Ok(vec![old.clone(), new]));
        assert_eq!(verify(std::slice::from_ref(&old), &[], &[used("old", true)]), Ok(vec![old.clone()]));
        assert_eq!(
            verify(std::slice::from_ref(&old), &[], &[used("old", false)]),
            Err(DataKeyFault::Unfit("old".to_owned()))
        );
        assert_eq!(verify(&[old], &[], &[used("other", true)]), Err(DataKeyFault::Missing("other".to_owned())));
    }

    #[test]
    fn another_key_under_a_recorded_id_is_refused() {
        assert_eq!(verify(&[check("a", 2)], &[recorded("a", 1)], &[]), Err(DataKeyFault::Changed("a".to_owned())));
    }

    #[test]
    fn each_step_of_a_rotation_is_accepted_and_leaving_a_key_out_too_early_is_not() {
        let (old, new) = (check("old", 1), check("new", 2));
        let only_old = [recorded("old", 1)];
        let both = [recorded("old", 1), recorded("new", 2)];
        assert_eq!(verify(&[old.clone(), new.clone()], &only_old, &[used("old", true)]), Ok(vec![new.clone()]));
        // A process that is not restarted yet.
        assert_eq!(verify(std::slice::from_ref(&old), &both, &[used("old", true)]), Ok(vec![]));
        assert_eq!(verify(&[new.clone(), old], &both, &[used("old", true), used("new", true)]), Ok(vec![]));
        assert_eq!(verify(std::slice::from_ref(&new), &both, &[used("new", true)]), Ok(vec![]));
        assert_eq!(
            verify(&[new], &both, &[used("new", true), used("old", true)]),
            Err(DataKeyFault::Missing("old".to_owned()))
        );
    }

    #[test]
    fn keys_without_one_in_common_are_refused_though_nothing_is_sealed_yet() {
        assert_eq!(verify(&[check("b", 2)], &[recorded("a", 1)], &[]), Err(DataKeyFault::Missing("a".to_owned())));
    }

    #[test]
    fn a_key_that_was_given_up_is_not_asked_for() {
        let given_up = RecordedKey { is_lost: true, ..recorded("a", 1) };
        assert_eq!(verify(&[check("b", 2)], &[given_up], &[used("a", true)]), Ok(vec![check("b", 2)]));
        assert_eq!(verify(&[check("b", 2)], &[lost("a")], &[used("a", true)]), Ok(vec![check("b", 2)]));
        // It turned up again: it is known from now on.
        assert_eq!(verify(&[check("a", 1)], &[lost("a")], &[used("a", true)]), Ok(vec![check("a", 1)]));
    }

    proptest! {
        /// Whatever was accepted before: what is sealed under a key that is alive needs that very key.
        #[test]
        fn what_is_accepted_has_every_key_that_is_needed(
            configured in proptest::collection::btree_map(0u8..4, 0u8..2, 1..4),
            known in proptest::collection::btree_map(0u8..4, 0u8..2, 0..4),
            needed in proptest::collection::btree_set(0u8..4, 0..4),
        ) {
            let name = |id: &u8| format!("k{id}");
            let checks: Vec<_> = configured.iter().map(|(id, value)| check(&name(id), *value)).collect();
            let records: Vec<_> = known.iter().map(|(id, value)| recorded(&name(id), *value)).collect();
            let uses: Vec<_> = needed.iter().map(|id| used(&name(id), true)).collect();
            if let Ok(new) = verify(&checks, &records, &uses) {
                prop_assert!(needed.iter().all(|id| configured.contains_key(id)));
                prop_assert!(known.iter().all(|(id, value)| configured.get(id).is_none_or(|other| other == value)));
                prop_assert!(new.iter().all(|key| !known.keys().any(|id| name(id) == key.id)));
                prop_assert!(known.is_empty() || known.keys().any(|id| configured.contains_key(id)));
            }
        }
    }
}
