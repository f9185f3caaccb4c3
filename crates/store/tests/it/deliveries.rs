//! The queue of deliveries: leases, what guards them, and what is written back.

use std::{collections::HashSet, ops::RangeInclusive, time::Duration};

use domain::{
    AccountId, SubscriptionId,
    events::{CreditsLow, Event, EventKind, Outbox},
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    page::PageRequest,
    webhooks::{
        Subscription, WebhookStore,
        attempt::{ANSWER_BYTES_PER_DAY, Attempt, Failure, FailureCode, Outcome, Timings},
        delivery::{Capacity, DeliveryQueue, DeliveryState, Due, Failing, Leased, Next, Receiver, Report},
        log::{DeliveryLog, Filter, LoggedAttempt, MOST_TALLIED, Resent, Tally},
        schedule::DisabledReason,
        settings::{Change, Rotated, Rotation, WebhookSettings},
    },
};
use time::OffsetDateTime;

use crate::{
    database::{refuse, until_waiting},
    webhook_fixture::{Fixture, START},
};

const LEASE: Duration = Duration::from_secs(20);

/// An account with one subscription to everything.
async fn receiver(fixture: &Fixture) -> Receiver {
    let account = fixture.account().await;
    Receiver { account, subscription: SubscriptionId(fixture.subscription(account, &["*"]).await) }
}

async fn emit(fixture: &Fixture, account: AccountId, count: i64) {
    let events: Vec<Event> = (0..count)
        .map(|balance| CreditsLow { balance, threshold: 100, last_feature: "chat".to_owned(), crossed: false }.into())
        .collect();
    fixture.store.emit(account, &events, START).await.unwrap();
}

async fn lease(fixture: &Fixture, receiver: Receiver, deliveries: usize, now: OffsetDateTime) -> Vec<Leased> {
    fixture.store.lease(&[Capacity { receiver, deliveries }], LEASE, now).await.unwrap()
}

fn answered(status: u16) -> Attempt {
    Attempt {
        outcome: Outcome::Status(status),
        timings: Timings {
            dns: Some(Duration::from_micros(310)),
            connect: Some(Duration::from_micros(520)),
            tls: None,
            first_byte: Some(Duration::from_micros(1_900)),
            total: Duration::from_micros(2_800),
        },
        answer: b"nul \0 and \xff".to_vec(),
        retry_after: None,
        location: None,
    }
}

fn unanswered() -> Attempt {
    let failure = Failure { code: FailureCode::TimedOut, message: "the receiver did not answer in time".to_owned() };
    Attempt { outcome: Outcome::Failed(failure), answer: Vec::new(), ..answered(0) }
}

async fn report(fixture: &Fixture, leased: &[Leased], attempt: Attempt, now: OffsetDateTime) -> Vec<Failing> {
    let reports: Vec<_> = leased.iter().map(|leased| Report::new(leased, now, attempt.clone(), now, 0.0)).collect();
    DeliveryQueue::record(&fixture.store, &reports, now).await.unwrap()
}

/// fail_count, total_fired, total_failed, last_status
async fn figures(fixture: &Fixture, receiver: Receiver) -> (i64, i64, i64, Option<i32>) {
    let kept = WebhookSettings::find(&fixture.store, receiver.account, receiver.subscription).await.unwrap().unwrap();
    let subscription = kept.subscription;
    (subscription.fail_count, subscription.total_fired, subscription.total_failed, subscription.last_status)
}

#[tokio::test]
async fn a_delivery_is_leased_once_and_recorded_with_its_attempt() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 1).await;
    assert_eq!(fixture.store.due(None, START).await.unwrap().receivers, [to]);

    let leased = lease(&fixture, to, 10, START).await;
    assert_eq!(leased.len(), 1);
    assert_eq!((leased[0].attempt, leased[0].attempt_of_round), (1, 1));
    assert_eq!(leased[0].url, "https://example.com/hook");
    assert_eq!(lease(&fixture, to, 10, START).await, []);
    assert_eq!(fixture.store.due(None, START).await.unwrap().receivers, []);

    assert_eq!(report(&fixture, &leased, answered(204), START).await, []);
    assert_eq!(figures(&fixture, to).await, (0, 1, 0, Some(204)));
    let page = PageRequest { limit: 5, cursor: None };
    let logged = fixture.store.page(to.account, to.subscription, Filter::default(), page).await.unwrap();
    let delivery = &logged.items[0];
    assert_eq!((delivery.id, delivery.state), (leased[0].id, DeliveryState::Delivered));
    assert_eq!((delivery.next_attempt_at, delivery.finished_at), (None, Some(START)));
    let attempt = &delivery.attempts[0];
    assert_eq!((attempt.number, attempt.status, attempt.total_us), (1, Some(204), 2_800));
    assert_eq!((attempt.dns_us, attempt.tls_us), (Some(310), None));
    assert_eq!(attempt.answer, b"nul \0 and \xff");
    // Nothing comes due again, ever.
    assert_eq!(fixture.store.due(None, START + time::Duration::days(30)).await.unwrap().receivers, []);
}

#[tokio::test]
async fn a_worker_that_was_paused_past_its_lease_writes_nothing() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 1).await;
    let paused = lease(&fixture, to, 1, START).await;
    let later = START + LEASE;
    let taken_over = lease(&fixture, to, 1, later).await;
    assert_eq!((taken_over[0].id, taken_over[0].attempt), (paused[0].id, 1));
    assert!(taken_over[0].lease.claim > paused[0].lease.claim);

    assert_eq!(report(&fixture, &paused, answered(500), later).await, []);
    fixture.store.release(&[paused[0].lease], later).await.unwrap();
    assert_eq!(fixture.count("delivery_attempts").await, 0);
    assert_eq!(figures(&fixture, to).await, (0, 0, 0, None));
    assert_eq!(lease(&fixture, to, 1, later).await, [], "the second worker still holds it");

    report(&fixture, &taken_over, answered(200), later).await;
    // Nor does it when the other one is done.
    report(&fixture, &paused, answered(500), later).await;
    assert_eq!(fixture.count("delivery_attempts WHERE status = 200").await, 1);
    assert_eq!(fixture.count("delivery_attempts").await, 1);
    assert_eq!(fixture.count("deliveries WHERE state = 'delivered'").await, 1);
    assert_eq!(figures(&fixture, to).await, (0, 1, 0, Some(200)));
}

#[tokio::test]
async fn a_receiver_gets_no_more_than_its_room_and_the_earliest_first() {
    let fixture = Fixture::new().await;
    let (busy, calm) = (receiver(&fixture).await, receiver(&fixture).await);
    emit(&fixture, busy.account, 30).await;
    emit(&fixture, calm.account, 2).await;
    // By instants of its own: what a cluster computes again on every node must not depend on the session.
    fixture.execute("UPDATE deliveries SET due_at = to_timestamp(1777636800 - event_id)").await;
    let rooms = [Capacity { receiver: busy, deliveries: 3 }, Capacity { receiver: calm, deliveries: 5 }];
    let leased = fixture.store.lease(&rooms, LEASE, START).await.unwrap();
    let mut of_busy: Vec<_> =
        leased.iter().filter(|leased| leased.lease.receiver == busy).map(|leased| leased.lease.event.0).collect();
    of_busy.sort_unstable();
    let newest = format!("SELECT max(event_id) FROM deliveries WHERE account_id = {}", busy.account);
    let newest: i64 = fixture.sql.query_one(&newest, &[]).await.unwrap().get(0);
    assert_eq!(of_busy, [newest - 2, newest - 1, newest]);
    assert_eq!(leased.len(), 5);
}

#[tokio::test]
async fn workers_that_lease_at_the_same_time_share_the_work() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 200).await;
    let rounds = (0..40).map(|_| lease(&fixture, to, 10, START));
    let leased = futures_util::future::join_all(rounds).await.concat();
    let ids: HashSet<_> = leased.iter().map(|leased| leased.id).collect();
    assert_eq!((leased.len(), ids.len()), (200, 200));
}

#[tokio::test]
async fn a_failed_attempt_is_due_again_when_the_schedule_says_so() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 1).await;
    let leased = lease(&fixture, to, 1, START).await;
    let failing = report(&fixture, &leased, unanswered(), START).await;
    assert_eq!(failing[0].receiver, to);
    assert_eq!((failing[0].run.since, failing[0].run.attempts, failing[0].run.deliveries), (START, 1, 1));
    assert_eq!(figures(&fixture, to).await, (1, 1, 1, Some(0)));
    assert_eq!(fixture.store.due(None, START + Duration::from_millis(4_999)).await.unwrap().receivers, []);
    let due = START + Duration::from_secs(5);
    assert_eq!(fixture.store.due(Some(START), due).await.unwrap(), Due { receivers: vec![to], cut_at: None });
    assert_eq!(fixture.store.just_due(START, due).await.unwrap(), [to]);
    assert_eq!(fixture.store.just_due(due, due).await.unwrap(), []);
    let again = lease(&fixture, to, 1, due).await;
    assert_eq!((again[0].id, again[0].attempt), (leased[0].id, 2));
}

#[tokio::test]
async fn a_success_ends_a_run_of_failures_also_in_the_middle_of_a_batch() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 6).await;
    let leased = lease(&fixture, to, 6, START).await;
    let later = START + Duration::from_secs(3);
    let statuses = [500, 500, 200, 503, 404];
    let reports: Vec<_> = leased
        .iter()
        .zip(statuses)
        .enumerate()
        .map(|(i, (leased, status))| {
            Report::new(leased, START + Duration::from_millis(i as u64), answered(status), later, 0.0)
        })
        .collect();
    let failing = DeliveryQueue::record(&fixture.store, &reports, later).await.unwrap();
    let run = failing[0].run;
    assert_eq!((run.attempts, run.deliveries, run.since), (2, 2, START + Duration::from_millis(3)));
    assert_eq!(figures(&fixture, to).await, (2, 5, 4, Some(404)));

    let run = report(&fixture, &leased[5..], answered(500), later).await[0].run;
    assert_eq!((run.attempts, run.deliveries, run.since), (3, 3, START + Duration::from_millis(3)));
}

#[tokio::test]
async fn a_subscription_that_is_given_up_holds_its_deliveries_until_they_are_asked_for() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 3).await;
    let leased = lease(&fixture, to, 1, START).await;
    let failing = report(&fixture, &leased, answered(410), START).await;
    assert_eq!((failing[0].disabled(START), failing[0].switched_off), (Some(DisabledReason::Gone), true));

    assert_eq!(lease(&fixture, to, 10, START).await, []);
    emit(&fixture, to.account, 1).await;
    assert_eq!(fixture.count("deliveries WHERE state = 'held'").await, 3);
    let kept = WebhookSettings::find(&fixture.store, to.account, to.subscription).await.unwrap().unwrap();
    assert_eq!((kept.subscription.active, kept.subscription.disabled_reason.as_deref()), (false, Some("gone")));

    let on = Change { active: Some(true), ..Change::default() };
    let changed = fixture.store.change(to.account, to.subscription, on, None, START).await.unwrap().unwrap();
    let Subscription { active, disabled_reason, fail_count, .. } = changed.subscription;
    assert_eq!((active, disabled_reason, fail_count, changed.resumed, changed.resuming), (true, None, 0, 0, false));
    assert_eq!(lease(&fixture, to, 10, START).await, [], "held deliveries wait until they are asked for");

    let resume = Change { resume: true, ..Change::default() };
    let changed = fixture.store.change(to.account, to.subscription, resume, None, START).await.unwrap().unwrap();
    assert_eq!((changed.resumed, changed.resuming), (3, false));
    assert_eq!(lease(&fixture, to, 10, START).await.len(), 3);
}

#[tokio::test]
async fn a_subscription_is_given_up_along_with_the_recording_or_neither_is_done() {
    if testkit::skip_on_citus("a trigger keeps the subscription from being switched off") {
        return;
    }
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 1).await;
    let leased = lease(&fixture, to, 1, START).await;
    refuse(&fixture.sql, "UPDATE ON webhook_subscriptions", "NOT NEW.active").await;
    let gone = [Report::new(&leased[0], START, answered(410), START, 0.0)];
    DeliveryQueue::record(&fixture.store, &gone, START).await.unwrap_err();
    assert_eq!(fixture.count("delivery_attempts").await, 0);
    fixture.execute("DROP TRIGGER refuse ON webhook_subscriptions").await;
    DeliveryQueue::record(&fixture.store, &gone, START).await.unwrap();
    assert_eq!(fixture.count("delivery_attempts").await, 1);
    assert_eq!(fixture.count("webhook_subscriptions WHERE disabled_reason = 'gone' AND NOT active").await, 1);
}

#[tokio::test]
async fn attempts_that_show_a_receiver_in_trouble_are_counted_until_one_shows_that_it_works() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 7).await;
    let leased = lease(&fixture, to, 7, START).await;
    let in_trouble = async |leased: &[Leased], statuses: &[u16]| {
        let reports: Vec<_> = leased
            .iter()
            .zip(statuses)
            .map(|(leased, status)| Report::new(leased, START, answered(*status), START, 0.0))
            .collect();
        DeliveryQueue::record(&fixture.store, &reports, START).await.unwrap();
        let kept = WebhookSettings::find(&fixture.store, to.account, to.subscription).await.unwrap().unwrap();
        (kept.subscription.trouble_count, kept.subscription.fail_count)
    };
    assert_eq!(in_trouble(&leased[..3], &[503, 404, 500]).await, (1, 3));
    assert_eq!(in_trouble(&leased[3..5], &[429, 500]).await, (3, 5));
    assert_eq!(in_trouble(&leased[5..6], &[404]).await, (0, 6));
    assert_eq!(in_trouble(&leased[6..], &[200]).await, (0, 0));
}

#[tokio::test]
async fn a_late_failure_does_not_keep_what_is_held_for_a_revoked_subscription() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 2).await;
    let leased = lease(&fixture, to, 1, START).await;
    fixture.execute("UPDATE deliveries SET state = 'held' WHERE leased_until IS NULL").await;
    let earlier = START - Duration::from_secs(1);
    assert!(fixture.store.revoke(to.account, to.subscription, None, earlier).await.unwrap());
    let failing = report(&fixture, &leased, answered(410), START).await;
    assert_eq!((failing[0].disabled(START), failing[0].switched_off), (Some(DisabledReason::Gone), false));
    assert_eq!(fixture.store.advance_bulk(earlier).await.unwrap(), Some(to));
    assert_eq!(fixture.count("deliveries WHERE state = 'canceled'").await, 1);
    assert_eq!(fixture.count("webhook_subscriptions WHERE active AND disabled_reason IS NULL").await, 1);
}

#[tokio::test]
async fn a_delivery_that_is_sent_again_is_no_second_one_that_fails() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 1).await;
    let first = lease(&fixture, to, 1, START).await;
    report(&fixture, &first, answered(500), START).await;
    let resent = fixture.store.resend(to.account, to.subscription, first[0].id, None, None, START).await.unwrap();
    assert_eq!(resent.value, Resent::Queued);
    let again = lease(&fixture, to, 1, START).await;
    assert_eq!((again[0].id, again[0].attempt, again[0].attempt_of_round), (first[0].id, 2, 1));
    let run = report(&fixture, &again, answered(500), START).await[0].run;
    assert_eq!((run.attempts, run.deliveries), (2, 1));
    emit(&fixture, to.account, 1).await;
    let other = lease(&fixture, to, 1, START).await;
    let run = report(&fixture, &other, answered(500), START).await[0].run;
    assert_eq!((run.attempts, run.deliveries), (3, 2));
}

#[tokio::test]
async fn an_attempt_by_a_clock_that_is_behind_is_shown() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 1).await;
    let leased = lease(&fixture, to, 1, START).await;
    let began = START - Duration::from_secs(2);
    let made = Report::new(&leased[0], began, answered(200), START, 0.0);
    DeliveryQueue::record(&fixture.store, &[made], START).await.unwrap();
    let shown = DeliveryLog::find(&fixture.store, to.account, to.subscription, leased[0].id).await.unwrap().unwrap();
    assert!(shown.created_at > began);
    assert_eq!((shown.attempts_kept, shown.attempts.len()), (1, 1));
}

#[tokio::test]
async fn what_is_due_to_a_revoked_subscription_is_canceled() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 3).await;
    fixture.execute("UPDATE webhook_subscriptions SET revoked_at = now()").await;
    assert_eq!(lease(&fixture, to, 1, START).await, []);
    assert_eq!(fixture.count("deliveries WHERE state = 'canceled' AND finished_at IS NOT NULL").await, 3);
}

#[tokio::test]
async fn a_lease_given_back_is_due_at_once_with_no_attempt_lost() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 1).await;
    let leased = lease(&fixture, to, 1, START).await;
    fixture.store.release(&[leased[0].lease], START).await.unwrap();
    let again = lease(&fixture, to, 1, START).await;
    assert_eq!((again[0].id, again[0].attempt), (leased[0].id, 1));
}

#[tokio::test]
async fn the_replaced_secret_goes_along_until_the_overlap_ends() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 2).await;
    let until = START + Duration::from_secs(60);
    let rotation = Rotation { sealed_secret: b"new".to_vec(), overlap_until: until, note: None, now: START };
    let rotated = fixture.store.rotate(to.account, to.subscription, rotation, None).await.unwrap().unwrap();
    assert_eq!((rotated.value.sealed_secret.as_slice(), rotated.replayed), (b"new".as_slice(), false));
    let during = lease(&fixture, to, 1, until - Duration::from_secs(1)).await;
    assert_eq!(during[0].sealed_secret, b"new");
    assert_eq!(during[0].sealed_previous.as_deref(), Some(b"sealed".as_slice()));
    let after = lease(&fixture, to, 1, until).await;
    assert_eq!((after[0].sealed_secret.as_slice(), after[0].sealed_previous.as_deref()), (b"new".as_slice(), None));
    let stranger = fixture.account().await;
    let rotation = Rotation { sealed_secret: b"theirs".to_vec(), overlap_until: until, note: None, now: START };
    assert_eq!(fixture.store.rotate(stranger, to.subscription, rotation, None).await.unwrap(), None);
}

#[tokio::test]
async fn secrets_are_sealed_again_only_if_they_are_still_the_same() {
    use domain::data_keys::{DataKeyStore, SealedColumn};

    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    let rotation = Rotation { sealed_secret: b"second".to_vec(), overlap_until: START, note: None, now: START };
    fixture.store.rotate(to.account, to.subscription, rotation, None).await.unwrap();
    let mut secrets = Vec::new();
    for column in [SealedColumn::WebhookSecret, SealedColumn::PreviousWebhookSecret] {
        secrets.extend(fixture.store.sealed(column, 0, 10).await.unwrap());
        assert_eq!(fixture.store.sealed(column, to.subscription.0, 10).await.unwrap(), []);
    }
    let found: Vec<_> = secrets.iter().map(|secret| (secret.sealed.as_slice(), secret.column)).collect();
    assert_eq!(
        found,
        [
            (b"second".as_slice(), SealedColumn::WebhookSecret),
            (b"sealed".as_slice(), SealedColumn::PreviousWebhookSecret)
        ]
    );
    assert!(fixture.store.reseal(&secrets[0], b"sealed again".to_vec()).await.unwrap());
    assert!(!fixture.store.reseal(&secrets[0], b"late".to_vec()).await.unwrap());
    assert!(fixture.store.reseal(&secrets[1], b"old, sealed again".to_vec()).await.unwrap());
    let kept = WebhookSettings::find(&fixture.store, to.account, to.subscription).await.unwrap().unwrap();
    assert_eq!(
        (kept.sealed_secret, kept.previous),
        (b"sealed again".to_vec(), Some((b"old, sealed again".to_vec(), START)))
    );
}

#[tokio::test]
async fn the_last_attempt_ends_a_delivery() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 1).await;
    let mut now = START;
    for number in 1..=8 {
        let leased = lease(&fixture, to, 1, now).await;
        assert_eq!(leased[0].attempt, number);
        let next = Report::new(&leased[0], now, answered(500), now, 0.0).next;
        assert_eq!(next == Next::Failed, number == 8);
        report(&fixture, &leased, answered(500), now).await;
        now += time::Duration::hours(11);
    }
    assert_eq!(fixture.count("deliveries WHERE state = 'failed' AND attempts = 8").await, 1);
    assert_eq!(fixture.count("delivery_attempts").await, 8);
}

#[tokio::test]
async fn a_rotation_sent_again_under_its_key_gives_the_first_secret() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    let key = IdempotencyKey { path: "/rotate".to_owned(), key: "k".to_owned(), request_hash: [1; 32] };
    let rotate = |sealed: &[u8], overlap_until| {
        let rotation = Rotation { sealed_secret: sealed.to_vec(), overlap_until, note: None, now: START };
        fixture.store.rotate(to.account, to.subscription, rotation, Some(key.clone()))
    };
    let first = |replayed| {
        Some(Idempotent { value: Rotated { sealed_secret: b"first".to_vec(), overlap_until: START }, replayed })
    };
    assert_eq!(rotate(b"first", START).await.unwrap(), first(false));
    assert_eq!(rotate(b"second", START + Duration::from_secs(9)).await.unwrap(), first(true));
    let kept = WebhookSettings::find(&fixture.store, to.account, to.subscription).await.unwrap().unwrap();
    assert_eq!(kept.previous, Some((b"sealed".to_vec(), START)));

    // Resealed by the operator, it is the same secret still; rotated again, or revoked, it is not.
    fixture.execute("UPDATE webhook_subscriptions SET sealed_secret = 'resealed'").await;
    let again = rotate(b"third", START).await.unwrap().unwrap();
    assert_eq!((again.value.sealed_secret, again.replayed), (b"resealed".to_vec(), true));
    let later = START + Duration::from_nanos(1_500);
    let rotation = Rotation { sealed_secret: b"next".to_vec(), overlap_until: later, note: None, now: START };
    let other = IdempotencyKey { key: "other".to_owned(), ..key.clone() };
    let rotate_again = || fixture.store.rotate(to.account, to.subscription, rotation.clone(), Some(other.clone()));
    assert!(!rotate_again().await.unwrap().unwrap().replayed);
    assert!(rotate_again().await.unwrap().unwrap().replayed, "the database keeps no nanoseconds");
    assert!(matches!(rotate(b"fourth", START).await, Err(IdempotencyError::Superseded)));
    assert!(fixture.store.revoke(to.account, to.subscription, None, START).await.unwrap());
    assert!(matches!(rotate_again().await, Err(IdempotencyError::Superseded)));
}

/// A delivery that was attempted 60 times, with answers of 2,000 bytes.
async fn attempted_often(fixture: &Fixture, to: Receiver) {
    emit(fixture, to.account, 1).await;
    fixture.execute("UPDATE deliveries SET attempts = 60, earlier_attempts = 60").await;
    fixture
        .execute(
            "INSERT INTO delivery_attempts (account_id, delivery_id, number, started_at, status, total_us, answer)
             SELECT account_id, id, n, created_at + n * interval '1 s', 500, 9, convert_to(repeat('ab', 1000), 'UTF8')
             FROM deliveries, generate_series(1, 60) AS n",
        )
        .await;
}

#[tokio::test]
async fn a_list_shows_the_newest_attempts_and_the_beginning_of_their_answers() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    attempted_often(&fixture, to).await;
    let page = PageRequest { limit: 5, cursor: None };
    let listed =
        fixture.store.page(to.account, to.subscription, Filter::default(), page).await.unwrap().items.remove(0);
    assert_eq!((listed.attempts_made, listed.attempts_kept), (60, 50));
    let numbers = |attempts: &[LoggedAttempt]| attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>();
    assert_eq!(numbers(&listed.attempts), [56, 57, 58, 59, 60]);
    let first = &listed.attempts[0];
    assert_eq!((first.answer.len(), first.answer_bytes, first.is_answer_truncated()), (1_024, 2_000, true));
    assert_eq!((first.status, first.total_us), (Some(500), 9));

    let alone = DeliveryLog::find(&fixture.store, to.account, to.subscription, listed.id).await.unwrap().unwrap();
    assert_eq!(numbers(&alone.attempts), (11..=60).collect::<Vec<_>>());
    assert!(alone.attempts.iter().all(|attempt| attempt.answer.len() == 2_000 && !attempt.is_answer_truncated()));
    // A delivery without an attempt is listed nevertheless.
    emit(&fixture, to.account, 1).await;
    let listed = fixture.store.page(to.account, to.subscription, Filter::default(), page).await.unwrap().items;
    assert_eq!((listed.len(), listed[0].attempts_kept, listed[0].attempts.len()), (2, 0, 0));
}

/// Deliveries of the receiver in a state, of these events, made a millisecond after each other.
async fn made(fixture: &Fixture, to: Receiver, state: &str, events: RangeInclusive<i64>, at: OffsetDateTime) {
    let insert = "INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
        SELECT $1, $2, n, uuid_v7(made_at), $3, made_at, made_at
        FROM generate_series($5::bigint, $6::bigint) AS n, LATERAL (SELECT $4::timestamptz + n * interval '1 ms' AS made_at) AS m";
    let (first, last) = events.into_inner();
    fixture.sql.execute(insert, &[&to.account.0, &to.subscription.0, &state, &at, &first, &last]).await.unwrap();
}

#[tokio::test]
async fn a_page_with_a_filter_looks_at_a_bounded_number_and_says_where_to_go_on() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    made(&fixture, to, "failed", 1..=1, START).await;
    made(&fixture, to, "delivered", 2..=25_001, START + time::Duration::days(3)).await;
    let list = async |filter, cursor| {
        let page = PageRequest { limit: 2, cursor };
        let found = fixture.store.page(to.account, to.subscription, filter, page).await.unwrap();
        (found.items.iter().map(|delivery| delivery.event_id.0).collect::<Vec<_>>(), found.next_cursor)
    };
    let of = |state| Filter { state: Some(state), ..Filter::default() };
    assert_eq!(list(of(DeliveryState::Delivered), None).await, (vec![25_001, 25_000], Some(25_000)));
    assert_eq!(list(of(DeliveryState::Failed), None).await, (vec![], Some(5_002)));
    assert_eq!(list(of(DeliveryState::Failed), Some(5_002)).await, (vec![1], None));
    // What was made long after a span of time is not looked at, nor what was made long before.
    let early = Filter { until: Some(START + time::Duration::HOUR), ..Filter::default() };
    assert_eq!(list(early, None).await, (vec![1], None));
    let late = Filter { since: Some(START + time::Duration::days(2)), ..of(DeliveryState::Failed) };
    assert_eq!(list(late, Some(5_002)).await, (vec![], None));
}

#[tokio::test]
async fn of_very_many_deliveries_the_newest_are_tallied() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    made(&fixture, to, "failed", 1..=1, START).await;
    made(&fixture, to, "delivered", 2..=MOST_TALLIED, START).await;
    let tally = async || fixture.store.tallies(to.account, START).await.unwrap()[&to.subscription];
    assert_eq!(tally().await, Tally { delivered: MOST_TALLIED - 1, failed: 1, waiting: 0 });
    made(&fixture, to, "held", MOST_TALLIED + 1..=MOST_TALLIED + 1, START).await;
    assert_eq!(tally().await, Tally { delivered: MOST_TALLIED - 1, failed: 0, waiting: 1 });
}

#[tokio::test]
async fn deliveries_of_an_event_are_listed() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    let kinds = [EventKind::CreditsLow, EventKind::AiPaused, EventKind::CreditsLow];
    fixture.store.emit(to.account, &kinds.map(Event::sample), START).await.unwrap();
    let page = PageRequest { limit: 5, cursor: None };
    for (kind, count) in [(EventKind::CreditsLow, 2), (EventKind::AiPaused, 1), (EventKind::AiResumed, 0)] {
        let filter = Filter { event: Some(kind), ..Filter::default() };
        let listed = fixture.store.page(to.account, to.subscription, filter, page).await.unwrap().items;
        assert_eq!(listed.len(), count, "{kind}");
        assert!(listed.iter().all(|delivery| delivery.event == kind.as_str()));
    }
}

#[tokio::test]
async fn of_a_delivery_that_is_sent_again_and_again_the_newest_attempts_are_kept() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    attempted_often(&fixture, to).await;
    let other = receiver(&fixture).await;
    emit(&fixture, other.account, 1).await;
    let rooms = [to, other].map(|receiver| Capacity { receiver, deliveries: 1 });
    let leased = fixture.store.lease(&rooms, LEASE, START).await.unwrap();
    report(&fixture, &leased, answered(200), START).await;
    let row = fixture
        .sql
        .query_one(
            "SELECT count(*), min(number), max(number) FROM delivery_attempts WHERE account_id = $1",
            &[&to.account.0],
        )
        .await
        .unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i32>(1), row.get::<_, i32>(2)), (50, 12, 61));
    assert_eq!(fixture.count("deliveries WHERE attempts = 61").await, 1, "all that were made are counted");
    assert_eq!(fixture.count(&format!("delivery_attempts WHERE account_id = {}", other.account)).await, 1);
}

#[tokio::test]
async fn beyond_the_budget_of_a_day_the_size_of_an_answer_is_kept_and_not_the_answer() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    emit(&fixture, to.account, 3).await;
    let used = format!(
        "UPDATE webhook_subscriptions SET answer_day = '2026-05-01', answer_bytes = {ANSWER_BYTES_PER_DAY} - 1"
    );
    fixture.execute(&used).await;
    for (at, kept) in [(START, 11), (START + Duration::from_secs(60), 0), (START + time::Duration::DAY, 11)] {
        let leased = lease(&fixture, to, 1, at).await;
        report(&fixture, &leased, answered(200), at).await;
        let delivery =
            DeliveryLog::find(&fixture.store, to.account, to.subscription, leased[0].id).await.unwrap().unwrap();
        let attempt = &delivery.attempts[0];
        assert_eq!((attempt.answer.len(), attempt.answer_bytes), (kept, 11), "{at}");
        assert_eq!((attempt.is_answer_truncated(), attempt.status), (kept == 0, Some(200)));
    }
    assert_eq!(fixture.count("webhook_subscriptions WHERE answer_day = '2026-05-02' AND answer_bytes = 11").await, 1);
}

/// Deliveries of the receiver in a state, as many, due a millisecond after each other.
async fn backlog(fixture: &Fixture, to: Receiver, state: &str, count: i64) {
    let insert = "INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
        SELECT $1, $2, n, gen_random_uuid(), $3, $4::timestamptz + n * interval '1 ms', $4 FROM generate_series(1, $5::bigint) AS n";
    fixture.sql.execute(insert, &[&to.account.0, &to.subscription.0, &state, &START, &count]).await.unwrap();
}

#[tokio::test]
async fn a_look_takes_in_a_bounded_number_and_says_where_to_go_on() {
    let fixture = Fixture::new().await;
    let (busy, late) = (receiver(&fixture).await, receiver(&fixture).await);
    let now = START + time::Duration::hours(1);
    backlog(&fixture, busy, "pending", 50_000).await;
    emit(&fixture, late.account, 1).await;
    fixture.execute(&format!("UPDATE deliveries SET due_at = '{now}' WHERE account_id = {}", late.account)).await;
    let first = fixture.store.due(None, now).await.unwrap();
    let last = START + Duration::from_secs(50);
    assert_eq!(first, Due { receivers: vec![busy], cut_at: Some(last - Duration::from_micros(1)) });
    let mut rest = fixture.store.due(first.cut_at, now).await.unwrap();
    rest.receivers.sort_unstable();
    assert_eq!(rest, Due { receivers: vec![busy, late], cut_at: None });
    // Where all became due at one instant, it goes on behind it.
    fixture.execute(&format!("UPDATE deliveries SET due_at = '{last}' WHERE account_id = {}", busy.account)).await;
    let first = fixture.store.due(None, now).await.unwrap();
    let second = fixture.store.due(first.cut_at, now).await.unwrap();
    assert_eq!((second.receivers, second.cut_at), (vec![busy], Some(last)));
    assert_eq!(fixture.store.due(second.cut_at, now).await.unwrap().receivers, [late]);
}

#[tokio::test]
async fn a_large_backlog_is_resumed_in_steps_that_any_process_goes_on_with() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    backlog(&fixture, to, "held", 2_500).await;
    fixture.execute("UPDATE webhook_subscriptions SET active = false").await;
    let resume = Change { active: Some(true), resume: true, ..Change::default() };
    let changed = fixture.store.change(to.account, to.subscription, resume, None, START).await.unwrap().unwrap();
    assert_eq!((changed.subscription.active, changed.resumed, changed.resuming), (true, 1_000, true));
    let mut held = Vec::new();
    let other = fixture.db.store().unwrap();
    while other.advance_bulk(START).await.unwrap() == Some(to) {
        held.push(fixture.count("deliveries WHERE state = 'held'").await);
    }
    assert_eq!(held, [500, 0]);
    let due = format!("deliveries WHERE state = 'pending' AND due_at = '{START}' AND finished_at IS NULL");
    assert_eq!(fixture.count(&due).await, 2_500);
}

#[tokio::test]
async fn what_a_lease_put_aside_as_its_subscription_was_resumed_is_not_forgotten() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    backlog(&fixture, to, "pending", 2).await;
    let resume = Change { resume: true, ..Change::default() };
    let changed = fixture.store.change(to.account, to.subscription, resume, None, START).await.unwrap().unwrap();
    assert_eq!((changed.resumed, changed.resuming), (0, false));
    // A lease that saw it switched off ends after that.
    fixture.execute("UPDATE deliveries SET state = 'held'").await;
    assert_eq!(fixture.store.advance_bulk(START + Duration::from_secs(9)).await.unwrap(), None);
    let again = START + Duration::from_secs(10);
    assert_eq!(fixture.store.advance_bulk(again).await.unwrap(), Some(to));
    assert_eq!(fixture.count("deliveries WHERE state = 'held'").await, 0);
    // Having found some it looks once more, and no further.
    assert_eq!(fixture.store.advance_bulk(again).await.unwrap(), None);
    let last = again + Duration::from_secs(10);
    assert_eq!(fixture.store.advance_bulk(last).await.unwrap(), Some(to));
    assert_eq!(fixture.store.advance_bulk(last + Duration::from_secs(3_600)).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_left_of_a_backlog_stays_held_when_its_subscription_is_switched_off_meanwhile() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    backlog(&fixture, to, "held", 1_500).await;
    let change = async |active: bool, resume: bool| {
        let change = Change { active: Some(active), resume, ..Change::default() };
        fixture.store.change(to.account, to.subscription, change, None, START).await.unwrap().unwrap()
    };
    assert!(change(true, true).await.resuming);
    assert!(!change(false, true).await.resuming);
    while fixture.store.advance_bulk(START).await.unwrap() == Some(to) {}
    assert!(!change(true, false).await.resuming);
    assert_eq!(fixture.store.advance_bulk(START).await.unwrap(), None);
    assert_eq!(fixture.count("deliveries WHERE state = 'held'").await, 1_500, "what was due is held again");
}

#[tokio::test]
async fn what_is_due_is_put_aside_in_steps_when_its_subscription_is_switched_off() {
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    let now = START + Duration::from_secs(10);
    backlog(&fixture, to, "pending", 2_501).await;
    // In the hands of a worker, to be tried again later, and left by a worker that has died.
    for (event, due, leased) in [(1, 20, true), (2, 20, false), (3, 10, true)] {
        let due = START + Duration::from_secs(due);
        let leased_until = if leased { format!("'{due}'") } else { "NULL".to_owned() };
        let set = format!("due_at = '{due}', leased_until = {leased_until}");
        fixture.execute(&format!("UPDATE deliveries SET {set} WHERE event_id = {event}")).await;
    }
    let off = Change { active: Some(false), ..Change::default() };
    fixture.store.change(to.account, to.subscription, off, None, now).await.unwrap().unwrap();
    let mut held = Vec::new();
    while fixture.store.advance_bulk(now).await.unwrap() == Some(to) {
        held.push(fixture.count("deliveries WHERE state = 'held' AND leased_until IS NULL").await);
    }
    assert_eq!(held, [1_000, 2_000, 2_499]);
    assert_eq!(fixture.count("deliveries WHERE state = 'pending' AND event_id <= 2").await, 2);
}

#[tokio::test]
async fn what_cannot_be_moved_is_put_back_behind_everything_else() {
    if testkit::skip_on_citus("a trigger keeps deliveries from being moved") {
        return;
    }
    let fixture = Fixture::new().await;
    let mut stuck = Vec::new();
    for _ in 0..10 {
        stuck.push(receiver(&fixture).await);
    }
    let fine = receiver(&fixture).await;
    fixture.execute("UPDATE webhook_subscriptions SET active = false").await;
    emit(&fixture, fine.account, 1).await;
    for to in &stuck {
        emit(&fixture, to.account, 1).await;
    }
    refuse(&fixture.sql, "UPDATE ON deliveries", &format!("NEW.account_id <> {}", fine.account)).await;
    let waits = "UPDATE webhook_subscriptions SET active = true, held_moved_at = '2026-01-01'";
    fixture.execute(waits).await;
    fixture.execute(&format!("{waits}::timestamptz + interval '1 day' WHERE account_id = {}", fine.account)).await;
    assert_eq!(fixture.store.advance_bulk(START).await.unwrap(), None, "ten of them are looked at");
    assert_eq!(fixture.store.advance_bulk(START).await.unwrap(), Some(fine));
}

#[tokio::test]
async fn a_resume_waits_for_what_is_being_held_and_sends_it() {
    if testkit::skip_on_citus("sessions that wait for a lock are those of its nodes") {
        return;
    }
    let fixture = Fixture::new().await;
    let to = receiver(&fixture).await;
    fixture.execute("UPDATE webhook_subscriptions SET active = false").await;
    let open = fixture.db.client().await.unwrap();
    let emit = format!(
        "BEGIN; SELECT emit_events({}, '{START}', ARRAY['credits.low'], ARRAY['{{}}'::bytea], ARRAY['credits.low'])",
        to.account
    );
    open.batch_execute(&emit).await.unwrap();
    let resume = Change { active: Some(true), resume: true, ..Change::default() };
    let mut resumed = std::pin::pin!(fixture.store.change(to.account, to.subscription, resume, None, START));
    tokio::select! {
        resumed = &mut resumed => panic!("it waits for nothing: {resumed:?}"),
        () = until_waiting(&fixture.sql, 1) => {}
    }
    open.batch_execute("COMMIT").await.unwrap();
    assert_eq!(resumed.await.unwrap().unwrap().resumed, 1);
    assert_eq!(fixture.store.due(None, START).await.unwrap().receivers, [to]);
}

#[tokio::test]
async fn a_revocation_is_done_at_once_and_its_backlog_canceled_in_steps() {
    let fixture = Fixture::new().await;
    let (to, other) = (receiver(&fixture).await, receiver(&fixture).await);
    backlog(&fixture, to, "held", 1_001).await;
    backlog(&fixture, other, "held", 1).await;
    assert!(fixture.store.revoke(to.account, to.subscription, None, START).await.unwrap());
    assert!(!fixture.store.revoke(to.account, to.subscription, None, START).await.unwrap());
    assert_eq!(fixture.count("deliveries WHERE state = 'canceled'").await, 0, "not within the request");
    let mut canceled = Vec::new();
    while fixture.store.advance_bulk(START).await.unwrap() == Some(to) {
        canceled.push(fixture.count("deliveries WHERE state = 'canceled' AND finished_at IS NOT NULL").await);
    }
    assert_eq!(canceled, [1_000, 1_001]);
    assert_eq!(fixture.count("deliveries WHERE state = 'held'").await, 1);
}
