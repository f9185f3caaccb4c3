//! Starting and stopping replays: only of a subscription that the account has.

use domain::{
    AccountId, ReplayId, StoreError, SubscriptionId,
    audit::Entry,
    idempotency::{IdempotencyKey, Idempotent},
    webhooks::{
        replay::{Replay, ReplayStore, Selection, StartError},
        settings::WebhookSettings,
    },
};
use time::OffsetDateTime;

/// How many deliveries a replay would send; `None` when the account has no such subscription.
///
/// # Errors
/// [`StoreError`].
pub async fn count(
    settings: &dyn WebhookSettings,
    replays: &dyn ReplayStore,
    account: AccountId,
    selection: &Selection,
) -> Result<Option<i64>, StoreError> {
    match settings.find(account, selection.subscription).await? {
        Some(_) => replays.count(account, selection).await.map(Some),
        None => Ok(None),
    }
}

/// Starts a replay; `None` when the account has no such subscription.
///
/// # Errors
/// [`StartError`].
pub async fn start(
    settings: &dyn WebhookSettings,
    replays: &dyn ReplayStore,
    account: AccountId,
    selection: Selection,
    idempotency: Option<IdempotencyKey>,
    note: Option<Entry>,
    now: OffsetDateTime,
) -> Result<Option<Idempotent<Replay>>, StartError> {
    match settings.find(account, selection.subscription).await? {
        Some(stored) => {
            let note = note.map(|note| Entry { target: Some(stored.subscription.url), ..note });
            replays.start(account, selection, idempotency, note, now).await.map(Some)
        }
        None => Ok(None),
    }
}

/// What came of stopping a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancellation {
    /// The replay as it was left.
    Canceled(Replay),
    /// It had ended before.
    Ended,
    NotFound,
}

/// Stops a replay where it is.
///
/// # Errors
/// [`StoreError`].
pub async fn cancel(
    replays: &dyn ReplayStore,
    account: AccountId,
    subscription: SubscriptionId,
    id: ReplayId,
    now: OffsetDateTime,
) -> Result<Cancellation, StoreError> {
    let is_canceled = replays.cancel(account, subscription, id, now).await?;
    Ok(match replays.find(account, subscription, id).await? {
        Some(replay) if is_canceled => Cancellation::Canceled(replay),
        Some(_) => Cancellation::Ended,
        None => Cancellation::NotFound,
    })
}

#[cfg(test)]
mod tests {
    use domain::webhooks::{
        delivery::DeliveryState,
        replay::{MockReplayStore, ReplayState},
        settings::MockWebhookSettings,
    };
    use mockall::Sequence;
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-05-02 12:00 UTC);
    const IDS: (AccountId, SubscriptionId, ReplayId) = (AccountId(7), SubscriptionId(3), ReplayId(12));

    fn selection() -> Selection {
        Selection { subscription: IDS.1, since: NOW, until: NOW, states: vec![DeliveryState::Failed] }
    }

    fn replay(state: ReplayState) -> Replay {
        let selection = selection();
        Replay { id: IDS.2, selection, state, total: 9, queued: 4, created_at: NOW, finished_at: None }
    }

    /// The mock of the replays panics when it is called.
    #[tokio::test]
    async fn deliveries_of_an_unknown_subscription_are_neither_counted_nor_sent_again() {
        let (mut settings, replays) = (MockWebhookSettings::new(), MockReplayStore::new());
        settings
            .expect_find()
            .times(2)
            .withf(|account, id| (*account, *id) == (IDS.0, IDS.1))
            .returning(|_, _| Ok(None));
        assert_eq!(count(&settings, &replays, IDS.0, &selection()).await.unwrap(), None);
        assert_eq!(start(&settings, &replays, IDS.0, selection(), None, None, NOW).await.unwrap(), None);
    }

    #[rstest]
    #[case(true, Some(ReplayState::Canceled), Cancellation::Canceled(replay(ReplayState::Canceled)))]
    #[case(false, Some(ReplayState::Done), Cancellation::Ended)]
    #[case(false, None, Cancellation::NotFound)]
    #[tokio::test]
    async fn a_replay_is_shown_as_it_is_after_it_was_stopped(
        #[case] is_canceled: bool,
        #[case] found: Option<ReplayState>,
        #[case] expected: Cancellation,
    ) {
        let (mut replays, mut order) = (MockReplayStore::new(), Sequence::new());
        replays.expect_cancel().times(1).in_sequence(&mut order).returning(move |_, _, _, _| Ok(is_canceled));
        replays.expect_find().times(1).in_sequence(&mut order).returning(move |_, _, _| Ok(found.map(replay)));
        assert_eq!(cancel(&replays, IDS.0, IDS.1, IDS.2, NOW).await.unwrap(), expected);
    }
}
