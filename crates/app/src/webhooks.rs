//! Creating a webhook subscription and rotating its secret: a secret is sealed on its way to the store, bound to its row,
//! and what is answered is the stored one, opened again, so that an idempotent replay gives the first answer.

use domain::{
    AccountId, SubscriptionId,
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    sealing::{Binding, SealError, Sealer},
    webhooks::{
        CreateError, Created, NewSubscription, Subscription, WebhookStore, secret_binding,
        settings::{Rotated, Rotation, WebhookSettings},
        signature::Secret,
        url::WebhookUrl,
    },
};
use time::OffsetDateTime;

/// A subscription to be created.
pub struct SubscriptionRequest {
    pub url: WebhookUrl,
    pub events: Vec<String>,
    /// The new signing secret.
    pub secret: Secret,
    /// For the audit log, where a person makes it.
    pub note: Option<Entry>,
    pub now: OffsetDateTime,
}

/// Why a subscription was not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateFailure {
    #[error(transparent)]
    Refused(#[from] CreateError),
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Creates a subscription and gives it with the text of its secret.
///
/// # Errors
/// [`CreateFailure`]; nothing is stored then, unless the stored secret cannot be opened.
pub async fn create(
    webhooks: &dyn WebhookStore,
    sealer: &dyn Sealer,
    account: AccountId,
    request: SubscriptionRequest,
    idempotency: Option<IdempotencyKey>,
) -> Result<Idempotent<(Subscription, String)>, CreateFailure> {
    let SubscriptionRequest { url, events, secret, note, now } = request;
    let id = webhooks.reserve_id().await.map_err(|error| CreateError::Idempotency(error.into()))?;
    let sealed_secret = sealer.seal(secret_binding(account, id), secret.expose().as_bytes())?;
    let new = NewSubscription { id, url: url.as_str().to_owned(), events, sealed_secret, note, now };
    let Idempotent { value, replayed } = webhooks.create(account, new, idempotency).await?;
    let Created { subscription, sealed_secret } = value;
    let secret = open(sealer, secret_binding(account, subscription.id), &sealed_secret)?;
    Ok(Idempotent { value: (subscription, secret), replayed })
}

/// A new secret for a subscription.
pub struct NewSecret {
    pub secret: Secret,
    /// Until when the replaced secret signs as well.
    pub overlap_until: OffsetDateTime,
    /// For the audit log, where a person asks for it.
    pub note: Option<Entry>,
    pub now: OffsetDateTime,
}

/// Why a secret was not rotated.
#[derive(Debug, thiserror::Error)]
pub enum RotateFailure {
    /// The account has no such subscription, or it is revoked.
    #[error("there is no such subscription")]
    NotFound,
    #[error(transparent)]
    Refused(#[from] IdempotencyError),
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Puts a new secret in place. Gives the text of the one that is in place, and until when the replaced one signs as well.
///
/// # Errors
/// [`RotateFailure`]; the present secret stays then, unless the stored one cannot be opened.
pub async fn rotate(
    settings: &dyn WebhookSettings,
    sealer: &dyn Sealer,
    account: AccountId,
    id: SubscriptionId,
    new: NewSecret,
    idempotency: Option<IdempotencyKey>,
) -> Result<Idempotent<(String, OffsetDateTime)>, RotateFailure> {
    let NewSecret { secret, overlap_until, note, now } = new;
    let binding = secret_binding(account, id);
    let sealed_secret = sealer.seal(binding, secret.expose().as_bytes())?;
    let rotation = Rotation { sealed_secret, overlap_until, note, now };
    let rotated = settings.rotate(account, id, rotation, idempotency).await?;
    let Idempotent { value, replayed } = rotated.ok_or(RotateFailure::NotFound)?;
    let Rotated { sealed_secret, overlap_until } = value;
    Ok(Idempotent { value: (open(sealer, binding, &sealed_secret)?, overlap_until), replayed })
}

fn open(sealer: &dyn Sealer, binding: Binding, sealed: &[u8]) -> Result<String, SealError> {
    String::from_utf8(sealer.open(binding, sealed)?).map_err(|_| SealError::Forged)
}

#[cfg(test)]
mod tests {
    use domain::{
        StoreError,
        sealing::MockSealer,
        webhooks::{MockWebhookStore, address::AllowList, settings::MockWebhookSettings},
    };
    use time::macros::datetime;

    use super::*;

    const ACCOUNT: AccountId = AccountId(7);
    const NOW: OffsetDateTime = datetime!(2026-05-02 12:00 UTC);

    fn request() -> SubscriptionRequest {
        SubscriptionRequest {
            url: WebhookUrl::parse_allowing("https://hooks.example.com/a", &AllowList::default()).unwrap(),
            events: vec!["credits.low".to_owned()],
            secret: Secret::generate([1; 32]),
            note: None,
            now: NOW,
        }
    }

    fn new_secret() -> NewSecret {
        NewSecret { secret: Secret::generate([1; 32]), overlap_until: NOW, note: None, now: NOW }
    }

    /// Seals by writing the binding in front.
    fn sealer() -> MockSealer {
        let mark = |binding: Binding| format!("{binding}: ").into_bytes();
        let mut sealer = MockSealer::new();
        sealer.expect_seal().returning(move |binding, secret| Ok([mark(binding).as_slice(), secret].concat()));
        sealer.expect_open().returning(move |binding, sealed| {
            sealed.strip_prefix(mark(binding).as_slice()).map(<[u8]>::to_vec).ok_or(SealError::Forged)
        });
        sealer
    }

    fn unable_to_seal() -> MockSealer {
        let mut sealer = MockSealer::new();
        sealer.expect_seal().returning(|_, _| Err(SealError::Random));
        sealer
    }

    /// A store in which the request under the idempotency key created subscription 31 first.
    fn replaying(sealed: &'static str) -> MockWebhookStore {
        let mut webhooks = MockWebhookStore::new();
        webhooks.expect_reserve_id().return_once(|| Ok(SubscriptionId(32)));
        webhooks.expect_create().return_once(move |_, new, _| {
            let subscription = Subscription {
                id: SubscriptionId(31),
                url: new.url,
                events: new.events,
                active: true,
                disabled_reason: None,
                last_fired_at: None,
                last_status: None,
                fail_count: 0,
                trouble_count: 0,
                total_fired: 0,
                total_failed: 0,
                created_at: new.now,
            };
            Ok(Idempotent { value: Created { subscription, sealed_secret: sealed.into() }, replayed: true })
        });
        webhooks
    }

    #[tokio::test]
    async fn a_secret_is_bound_to_the_reserved_id_before_it_is_stored() {
        let mut webhooks = MockWebhookStore::new();
        webhooks.expect_reserve_id().return_once(|| Ok(SubscriptionId(32)));
        webhooks.expect_create().return_once(|account, new, _| {
            let sealed = String::from_utf8(new.sealed_secret).unwrap();
            let secret = sealed.strip_prefix("webhook_secret of row 32 of account 7: ").unwrap();
            assert_eq!((account, new.id, new.now), (ACCOUNT, SubscriptionId(32), NOW));
            assert_eq!(Secret::parse(secret), Ok(Secret::generate([1; 32])));
            Err(CreateError::LimitReached)
        });
        let refused = create(&webhooks, &sealer(), ACCOUNT, request(), None).await;
        assert!(matches!(refused, Err(CreateFailure::Refused(CreateError::LimitReached))), "{refused:?}");
    }

    #[tokio::test]
    async fn a_replay_opens_what_was_stored_first_by_its_own_id() {
        let webhooks = replaying("webhook_secret of row 31 of account 7: whsec_first");
        let written = create(&webhooks, &sealer(), ACCOUNT, request(), None).await.unwrap();
        let (subscription, secret) = written.value;
        assert_eq!((subscription.id, secret.as_str(), written.replayed), (SubscriptionId(31), "whsec_first", true));
    }

    #[tokio::test]
    async fn a_stored_secret_of_another_row_is_not_shown() {
        let webhooks = replaying("webhook_secret of row 30 of account 7: whsec_of_another");
        let failed = create(&webhooks, &sealer(), ACCOUNT, request(), None).await;
        assert!(matches!(failed, Err(CreateFailure::Seal(SealError::Forged))), "{failed:?}");
    }

    /// The mocks panic when `create` or `rotate` is called.
    #[tokio::test]
    async fn without_an_id_or_a_seal_nothing_is_stored() {
        let mut webhooks = MockWebhookStore::new();
        webhooks.expect_reserve_id().return_once(|| Err(StoreError::Unavailable("away".into())));
        let failed = create(&webhooks, &sealer(), ACCOUNT, request(), None).await;
        let Err(CreateFailure::Refused(refused)) = failed else { panic!("{failed:?}") };
        assert!(matches!(refused, CreateError::Idempotency(IdempotencyError::Store(_))), "{refused}");

        let mut webhooks = MockWebhookStore::new();
        webhooks.expect_reserve_id().return_once(|| Ok(SubscriptionId(32)));
        let failed = create(&webhooks, &unable_to_seal(), ACCOUNT, request(), None).await;
        assert!(matches!(failed, Err(CreateFailure::Seal(SealError::Random))), "{failed:?}");

        let settings = MockWebhookSettings::new();
        let failed = rotate(&settings, &unable_to_seal(), ACCOUNT, SubscriptionId(3), new_secret(), None).await;
        assert!(matches!(failed, Err(RotateFailure::Seal(SealError::Random))), "{failed:?}");
    }

    #[tokio::test]
    async fn a_rotation_gives_what_is_in_place() {
        let mut settings = MockWebhookSettings::new();
        let first_end = datetime!(2026-05-02 20:00 UTC);
        settings.expect_rotate().return_once(move |account, id, rotation, _| {
            let sealed = String::from_utf8(rotation.sealed_secret).unwrap();
            assert!(sealed.starts_with("webhook_secret of row 3 of account 7: whsec_"), "{sealed}");
            assert_eq!((account, id, rotation.overlap_until, rotation.now), (ACCOUNT, SubscriptionId(3), NOW, NOW));
            let sealed_secret = b"webhook_secret of row 3 of account 7: whsec_first".to_vec();
            Ok(Some(Idempotent { value: Rotated { sealed_secret, overlap_until: first_end }, replayed: true }))
        });
        let written = rotate(&settings, &sealer(), ACCOUNT, SubscriptionId(3), new_secret(), None).await.unwrap();
        assert_eq!(written.value, ("whsec_first".to_owned(), first_end));
        assert!(written.replayed);
    }

    #[tokio::test]
    async fn the_secret_of_an_unknown_subscription_is_not_rotated() {
        let mut settings = MockWebhookSettings::new();
        settings.expect_rotate().return_once(|_, _, _, _| Ok(None));
        let failed = rotate(&settings, &sealer(), ACCOUNT, SubscriptionId(3), new_secret(), None).await;
        assert!(matches!(failed, Err(RotateFailure::NotFound)), "{failed:?}");
    }
}
