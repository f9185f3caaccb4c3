//! The engine against a queue in memory, in time that passes only when everything waits.

mod fakes;

use std::time::Duration;

use domain::{
    SubscriptionId,
    sealing::{MockSealer, SealError},
    webhooks::{
        attempt::MockSender,
        breaker::Observation,
        delivery::{Capacity, Lease, Leased, MockDeliveryQueue, Next, Receiver},
        signature::Secret,
    },
};
use rstest::rstest;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep, timeout};

use self::fakes::{Behaviour, Bulk, NOW, Queue, Running, answered, leased, ports, receiver, secret};
use super::{
    Options,
    attempt::{Unsent, attempt},
    queues::{EndpointQueues, Limits},
};

#[tokio::test(start_paused = true)]
async fn everything_due_is_sent_and_recorded_however_much_it_is() {
    let queue = Queue::with((1..=3).flat_map(|account| (0..2_000).map(move |event| (account, event))));
    let options = Options { in_flight: 20, ..Options::default() };
    let running = Running::start(&queue, Behaviour::Answers(200), options);
    running.until(|state| state.recorded.len() == 6_000).await;
    let state = queue.state();
    assert!(state.recorded.iter().all(|report| report.next == Next::Delivered));
    assert!(state.most_in_hands <= 20, "{} at once", state.most_in_hands);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_hangs_does_not_hold_up_the_others() {
    let hanging = (0..1_000).map(|event| (1, event));
    let queue = Queue::with(hanging.chain((0..500).map(|event| (2, event))));
    let started = Instant::now();
    let running = Running::start(&queue, Behaviour::HangsFor(receiver(1)), Options::default());
    running.until(|state| state.recorded.len() == 500).await;
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert!(queue.state().recorded.iter().all(|report| report.lease.receiver == receiver(2)));
    // Until it has shown that it answers, few deliveries are tried on it at once.
    assert_eq!(queue.state().in_hands, 4);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_fails_is_left_alone_for_a_while() {
    let queue = Queue::with((0..1_000).map(|event| (1, event)));
    let running = Running::start(&queue, Behaviour::Answers(503), Options::default());
    sleep(Duration::from_secs(3)).await;
    let made = queue.state().recorded.len();
    assert!((5..=8).contains(&made), "{made} attempts before the breaker opened");
    running.until(|state| state.recorded.len() > made).await;
    assert_eq!(queue.state().recorded.len(), made + 1);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_attempt_does_not_keep_its_place() {
    let queue = Queue::with((0..8).map(|event| (1, event)));
    let running = Running::start(&queue, Behaviour::Panics, Options::default());
    // Four places are all there are at first: without them given back, most would never be leased.
    running.until(|state| state.due.is_empty()).await;
    assert!(queue.state().recorded.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_recorded_is_recorded_later() {
    let queue = Queue::with((0..3).map(|event| (1, event)));
    queue.state().failing_records = 2;
    let running = Running::start(&queue, Behaviour::Answers(200), Options::default());
    running.until(|state| !state.recorded.is_empty()).await;
    let mut events: Vec<_> = queue.state().recorded.iter().map(|report| report.lease.event.0).collect();
    events.sort_unstable();
    assert_eq!(events, [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_leased_before_what_was_delivered_is_recorded() {
    let queue = Queue::with([(1, 0)]);
    queue.state().failing_records = 100;
    let running = Running::start(&queue, Behaviour::Answers(200), Options::default());
    sleep(Duration::from_secs(1)).await;
    assert!(queue.state().failing_records > 0, "it still cannot be recorded");
    // The lease has run out.
    queue.state().due.push(leased(1, 0));
    running.until(|state| state.recorded.len() == 2).await;
    assert_eq!(queue.state().most_in_hands, 1);
}

#[tokio::test(start_paused = true)]
async fn a_database_that_fails_to_lease_is_asked_again() {
    let queue = Queue::with([(1, 0)]);
    queue.state().failing_leases = 3;
    let running = Running::start(&queue, Behaviour::Answers(200), Options::default());
    running.until(|state| state.recorded.len() == 1).await;
}

#[tokio::test(start_paused = true)]
async fn an_announcement_is_faster_than_the_poll() {
    let queue = Queue::with([]);
    let running = Running::start(
        &queue,
        Behaviour::Answers(200),
        Options { poll: Duration::from_secs(60), ..Options::default() },
    );
    sleep(Duration::from_secs(1)).await;
    queue.state().due.push(leased(1, 0));
    let announced = Instant::now();
    running.announce.send(receiver(1)).await.unwrap();
    running.until(|state| state.recorded.len() == 1).await;
    assert!(announced.elapsed() < Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn what_becomes_due_unannounced_is_found_at_once_while_there_is_something_to_do() {
    let queue = Queue::with([]);
    let options = Options { poll: Duration::from_secs(60), ..Options::default() };
    let running = Running::start(&queue, Behaviour::Answers(200), options);
    sleep(Duration::from_secs(5)).await;
    queue.state().due.push(leased(1, 0));
    running.announce.send(receiver(1)).await.unwrap();
    running.until(|state| state.recorded.len() == 1).await;
    // In the shadow of the first: nobody says that this one is due.
    queue.state().due.push(leased(2, 1));
    let due = Instant::now();
    running.until(|state| state.recorded.len() == 2).await;
    assert!(due.elapsed() < Duration::from_millis(50), "{:?}", due.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_stop_records_what_ends_in_time_and_gives_back_the_rest() {
    let queue = Queue::with([(1, 0), (2, 1)]);
    let options = Options { grace: Duration::from_secs(5), ..Options::default() };
    let running = Running::start(&queue, Behaviour::HangsFor(receiver(1)), options);
    running.until(|state| state.in_hands == 1 && state.recorded.len() == 1).await;
    queue.state().due.push(leased(3, 2));
    let stopped = Instant::now();
    running.stop().await;
    assert!(stopped.elapsed() < Duration::from_secs(6));
    let state = queue.state();
    assert!(state.released.contains(&leased(1, 0).lease));
    assert_eq!(state.recorded.len(), 1);
    assert_eq!(state.due.len(), 1, "nothing is leased any more");
}

#[tokio::test]
async fn an_attempt_is_signed_with_the_present_and_the_replaced_secret() {
    let mut sealer = MockSealer::new();
    sealer.expect_open().returning(|binding, sealed| {
        assert_eq!((binding.purpose, binding.row), ("webhook_secret", 11));
        Ok(secret(sealed[0]).expose().as_bytes().to_vec())
    });
    let mut sender = MockSender::new();
    sender.expect_send().times(1).returning(|request| {
        let header = |name| request.headers.iter().find(|(known, _)| *known == name).unwrap().1.clone();
        let timestamp = header("x-svc-timestamp");
        assert_eq!(timestamp, NOW.unix_timestamp().to_string());
        secret(1).verify(&timestamp, &header("x-svc-signature"), &request.body, NOW).unwrap();
        secret(2).verify(&timestamp, &header("x-svc-signature-previous"), &request.body, NOW).unwrap();
        for secret in [secret(1), secret(2)] {
            let (id, signatures) = (header("webhook-id"), header("webhook-signature"));
            secret.verify_standard(&id, &timestamp, &signatures, &request.body, NOW).unwrap();
        }
        assert_eq!(header("x-svc-event-id"), "7");
        answered(204)
    });
    let ports = ports(MockDeliveryQueue::new(), sender, sealer);
    let mut leased = leased(1, 7);
    leased.sealed_secret = vec![1];
    leased.sealed_previous = Some(vec![2]);
    let report = attempt(&ports, &leased).await.unwrap();
    assert_eq!((report.next, report.delivery, report.attempt_number), (Next::Delivered, leased.id, 1));
}

#[tokio::test]
async fn nothing_is_sent_when_the_secret_cannot_be_opened() {
    let mut sealer = MockSealer::new();
    sealer.expect_open().returning(|_, _| Err(SealError::UnknownKey("k2".to_owned())));
    let ports = ports(MockDeliveryQueue::new(), MockSender::new(), sealer);
    assert!(matches!(attempt(&ports, &leased(1, 7)).await, Err(Unsent::Sealed(_))));
}

#[test]
fn a_secret_is_told_apart_from_another() {
    assert_ne!(secret(1), secret(2));
    assert!(Secret::parse(secret(1).expose()).is_ok());
}

const QUICK: Observation = Observation { status: Some(200), took: Duration::from_millis(5), retry_after: None };

fn limits(free: usize) -> Limits {
    Limits { free, per_account: 64, per_receiver: 32 }
}

#[test]
fn lanes_take_turns_and_share_what_is_free() {
    let mut queues = EndpointQueues::default();
    (1..=4).for_each(|account| queues.announce(receiver(account)));
    let room = |account, deliveries| Capacity { receiver: receiver(account), deliveries };
    let first = queues.plan(limits(10), NOW);
    assert_eq!(first, [room(1, 4), room(2, 4), room(3, 2)]);
    let got: Vec<_> = (0..4).map(|event| leased(1, event)).chain([leased(2, 4)]).collect();
    queues.leased(&first, &got);
    assert_eq!(queues.in_flight(), 5);
    // The fourth comes first now; the first may have more, but has no room; of the second everything was taken.
    assert_eq!(queues.plan(limits(10), NOW), [room(4, 4)]);
    queues.ended(receiver(1), Some(QUICK), NOW);
    assert_eq!(queues.plan(limits(10), NOW), [room(1, 5)]);
}

const FAILED: Observation = Observation { status: Some(503), ..QUICK };

/// The only delivery that is due to the receiver fails.
fn fail(queues: &mut EndpointQueues, now: OffsetDateTime) {
    queues.announce(receiver(1));
    let rooms = queues.plan(limits(10), now);
    queues.leased(&rooms, &[leased(1, 0)]);
    queues.ended(receiver(1), Some(FAILED), now);
    let rooms = queues.plan(limits(10), now);
    queues.leased(&rooms, &[]);
}

#[test]
fn failures_between_which_nothing_is_due_open_the_breaker() {
    let mut queues = EndpointQueues::default();
    let at = |number: i32| NOW + time::Duration::minutes(5) * number;
    for number in 0..5 {
        queues.sweep(at(number));
        fail(&mut queues, at(number));
    }
    queues.announce(receiver(1));
    assert_eq!(queues.plan(limits(10), at(4)), []);
}

#[test]
fn a_failure_is_forgotten_after_a_quarter_of_an_hour() {
    let mut queues = EndpointQueues::default();
    fail(&mut queues, NOW);
    let mut room_after = |seconds| {
        let now = NOW + Duration::from_secs(seconds);
        queues.sweep(now);
        queues.announce(receiver(1));
        let rooms = queues.plan(limits(10), now);
        queues.leased(&rooms, &[]);
        rooms[0].deliveries
    };
    assert_eq!([room_after(900), room_after(901)], [2, 4]);
}

#[test]
fn a_queue_is_kept_while_deliveries_are_leased_for_it() {
    let room = |deliveries| Capacity { receiver: receiver(1), deliveries };
    let mut queues = EndpointQueues::default();
    queues.announce(receiver(1));
    let first = queues.plan(limits(10), NOW);
    queues.sweep(NOW);
    queues.leased(&first, &[leased(1, 0)]);
    queues.announce(receiver(1));
    let second = queues.plan(limits(10), NOW);
    assert_eq!(second, [room(3)], "of four one is under way");
    // The attempt ends before the second call does.
    queues.ended(receiver(1), Some(QUICK), NOW);
    queues.leased(&second, &[leased(1, 1)]);
    queues.announce(receiver(1));
    let third = queues.plan(limits(10), NOW);
    assert_eq!(third, [room(7)], "a quick answer doubled the limit");
    queues.not_leased(&third);
    queues.sweep(NOW);
    assert_eq!(queues.plan(limits(10), NOW), [room(7)], "what could not be leased is asked for again");
}

/// A receiver of an account that has several.
fn receiver_of(account: i64, number: i64) -> Receiver {
    Receiver { subscription: SubscriptionId(number), ..receiver(account) }
}

#[test]
fn the_receivers_of_an_account_share_its_places() {
    let limits = Limits { free: 100, per_account: 6, per_receiver: 32 };
    let mut queues = EndpointQueues::default();
    let receivers = [receiver_of(1, 1), receiver_of(1, 2), receiver_of(1, 3), receiver_of(2, 4)];
    receivers.into_iter().for_each(|receiver| queues.announce(receiver));
    let room = |receiver, deliveries| Capacity { receiver, deliveries };
    let first = queues.plan(limits, NOW);
    assert_eq!(first, [room(receivers[0], 4), room(receivers[1], 2), room(receivers[3], 4)]);
    let of =
        |receiver: Receiver, event| Leased { lease: Lease { receiver, ..leased(1, event).lease }, ..leased(1, event) };
    let got: Vec<_> =
        (0..4).map(|event| of(receivers[0], event)).chain((4..6).map(|event| of(receivers[1], event))).collect();
    queues.leased(&first, &got);
    assert_eq!(queues.plan(limits, NOW), [], "the account has all its places, and nothing else waits");
    // One place is free again: it goes to the receiver that has waited longest.
    queues.ended(receivers[0], Some(QUICK), NOW);
    assert_eq!(queues.plan(limits, NOW), [room(receivers[2], 1)]);
}

#[tokio::test(start_paused = true)]
async fn an_account_whose_receivers_all_hang_leaves_the_places_of_the_others_free() {
    // Receivers that were quick, and so have the highest limit, and then hang.
    let queue = Queue::with([]);
    let quick = (1..=24).flat_map(|number| (0..40).map(move |event| (number, event)));
    let due =
        |receiver: Receiver, event| Leased { lease: Lease { receiver, ..leased(1, event).lease }, ..leased(1, event) };
    queue.state().due.extend(quick.map(|(number, event)| due(receiver_of(1, number), 100 * number + event)));
    let running = Running::start(&queue, Behaviour::HangsFor(receiver(1)), Options::default());
    running.until(|state| state.due.len() == 24 * 40 - 64).await;
    assert_eq!(queue.state().in_hands, 64, "an eighth of the places");
    let announced = Instant::now();
    queue.state().due.push(leased(2, 1));
    running.announce.send(receiver(2)).await.unwrap();
    running.until(|state| !state.recorded.is_empty()).await;
    assert!(announced.elapsed() < Duration::from_millis(100), "{:?}", announced.elapsed());
    assert_eq!(queue.state().in_hands, 64);
}

#[rstest]
#[case(Bulk::Fails)]
#[case(Bulk::Hangs)]
#[tokio::test(start_paused = true)]
async fn what_is_due_is_found_whatever_becomes_of_steps_in_bulk(#[case] bulk: Bulk) {
    let queue = Queue::with([(1, 0)]);
    queue.state().bulk = bulk;
    let running = Running::start(&queue, Behaviour::Answers(200), Options::default());
    running.until(|state| state.recorded.len() == 1).await;
    queue.state().due.push(leased(2, 1));
    running.until(|state| state.recorded.len() == 2).await;
}

#[tokio::test(start_paused = true)]
async fn a_look_that_cannot_take_in_everything_goes_on_where_it_stopped() {
    let queue = Queue::with((1..=10).map(|account| (account, 0)));
    queue.state().receivers_in_look = Some(3);
    let running = Running::start(&queue, Behaviour::HangsFor(receiver(0)), Options::default());
    let started = Instant::now();
    running.until(|state| state.recorded.len() == 10).await;
    assert!(started.elapsed() < Duration::from_millis(100), "{:?}", started.elapsed());
    let after = |account: i64| Some(NOW - time::Duration::DAY + time::Duration::seconds(account));
    assert_eq!(queue.state().looked_since[..4], [None, after(3), after(6), after(9)]);
}

#[tokio::test(start_paused = true)]
async fn an_idle_engine_waits() {
    let queue = Queue::with([]);
    let running = Running::start(&queue, Behaviour::Answers(200), Options::default());
    sleep(Duration::from_secs(60)).await;
    let looks = queue.state().looks;
    assert!((55..=65).contains(&looks), "{looks} looks in a minute");
    timeout(Duration::from_secs(1), running.stop()).await.unwrap();
}
