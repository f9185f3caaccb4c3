use std::sync::atomic::Ordering;

use domain::{
    InboxId, IntegrationId,
    accounts::Platform,
    integrations::RevokeReason,
    shops::{
        ShopError,
        hooks::{PrivacyRequest, Topic, TriggeredAt},
        inbox::{AGAIN, InboxEntry},
        sync::Stream,
    },
};
use rust_decimal::dec;
use time::Duration;
use tokio::time::sleep;

use super::{START, World};
use crate::shops::inbox::HookWorker;

impl World {
    /// Hooks that were received now, and are acted on.
    async fn act_on(&self, topics: impl IntoIterator<Item = Topic>) {
        self.act_with(&self.worker(), topics).await;
    }

    async fn act_with(&self, worker: &HookWorker, topics: impl IntoIterator<Item = Topic>) {
        self.receive(topics);
        worker.tick().await.unwrap();
    }

    fn receive(&self, topics: impl IntoIterator<Item = Topic>) {
        let received_at = self.now();
        let entry =
            |(topic, id)| InboxEntry { id: InboxId(id), topic_name: "any".to_owned(), topic, received_at, attempts: 1 };
        let mut database = self.store.database();
        database.entries = topics.into_iter().zip(1..).map(entry).collect();
        database.postponed.clear();
        database.done.clear();
    }

    fn worker(&self) -> HookWorker {
        HookWorker::new(self.syncer(), self.store.clone(), self.store.clone())
    }

    fn done(&self) -> Vec<i64> {
        let mut done: Vec<_> = self.store.database().done.iter().map(|id| id.0).collect();
        done.sort_unstable();
        done
    }
}

fn of_order(id: &str) -> Topic {
    Topic::Order(Some(id.to_owned()))
}

#[tokio::test]
async fn an_order_is_read_again_by_its_number_however_often_it_is_told_of() {
    let world = World::connected(Platform::Shopify);
    world.platform.place("1", START - Duration::HOUR, dec!(10));
    world.act_on([of_order("1"), of_order("gone"), of_order("1"), Topic::Other]).await;
    let orders: Vec<_> = world.store.database().orders.keys().cloned().collect();
    assert_eq!(orders, ["1"]);
    assert_eq!(world.platform.answers.lock().unwrap().asked_for, [["1", "gone"]]);
    assert_eq!(world.done(), [1, 2, 3, 4]);
    assert!(world.store.database().cursors.is_empty(), "a hook moves no cursor");
}

/// Anybody who knows a seller's number can send hooks of orders that are none: a limited number is asked for in an hour.
#[tokio::test]
async fn orders_that_are_not_there_are_asked_for_some_times_an_hour() {
    let world = World::connected(Platform::Mercadolibre);
    world.platform.place("known", START - Duration::HOUR, dec!(10));
    let worker = world.worker();
    world.tick().await;
    let asked_for = || world.platform.answers.lock().unwrap().asked_for.drain(..).collect::<Vec<_>>().concat();
    let forged: Vec<_> = (100..150).map(|number| number.to_string()).collect();
    let hooks = || forged.iter().map(|id| of_order(id)).chain([of_order("known")]);

    world.act_with(&worker, hooks()).await;
    assert_eq!(asked_for(), [&forged[..20], &["known".to_owned()]].concat());
    assert_eq!((world.done().len(), world.store.database().postponed.len()), (21, 30));

    world.pass(Duration::minutes(1));
    world.act_with(&worker, hooks()).await;
    assert_eq!(asked_for(), ["known"], "the rest of the hour what is known alone");
    assert_eq!((world.done().len(), world.store.database().postponed.len()), (51, 0), "polling finds what there is");

    world.pass(Duration::HOUR);
    world.act_with(&worker, hooks()).await;
    assert_eq!(asked_for().len(), 21);
}

/// Nothing else tells of them: the cursor is behind them, and orders that were never stored are in no nightly list.
#[tokio::test]
async fn orders_that_the_platform_failed_to_show_are_never_given_up() {
    let world = World::connected(Platform::Shopify);
    world.platform.place("1", START - Duration::HOUR, dec!(10));
    let worker = world.worker();
    let receive_own = |attempts: i64| {
        world.receive([of_order("1")]);
        for entry in &mut world.store.database().entries {
            (entry.topic_name, entry.attempts) = (AGAIN.to_owned(), attempts);
        }
    };
    let later = [(InboxId(1), START + Duration::hours(6))];

    receive_own(99);
    world.platform.fail([ShopError::Unavailable("HTTP 503".to_owned())]);
    worker.tick().await.unwrap();
    assert_eq!(world.done(), [] as [i64; 0]);
    assert_eq!(world.store.database().postponed, later);

    let gone: Vec<_> = (100..120).map(|number| number.to_string()).collect();
    world.act_with(&worker, gone.iter().map(|id| of_order(id))).await;
    receive_own(1);
    worker.tick().await.unwrap();
    assert_eq!(
        (world.order_ids(), world.done()),
        (vec!["1".to_owned()], vec![1]),
        "it is none of those that may not be there"
    );

    world.store.database().integration.as_mut().unwrap().revoked_at = Some(START);
    receive_own(1);
    worker.tick().await.unwrap();
    assert_eq!(world.done(), [] as [i64; 0]);
    assert_eq!(world.store.database().postponed, later, "the shop may be connected again");
}

/// A read that was asked for stays to be done, whatever else takes the connection meanwhile.
#[tokio::test]
async fn a_connection_that_is_due_is_so_after_its_hooks_were_acted_on() {
    let world = World::connected(Platform::Shopify);
    world.tick().await;
    assert!(world.store.database().due_at.is_some_and(|due| due > world.now()), "all is read");
    world.store.database().due_at = Some(world.now());
    world.platform.place("1", START - Duration::HOUR, dec!(10));
    world.act_on([of_order("1")]).await;
    assert_eq!(world.store.database().due_at, Some(world.now()));
}

#[tokio::test]
async fn a_question_makes_the_profile_due_and_asks_the_platform_for_nothing() {
    let world = World::connected(Platform::Mercadolibre);
    world.act_on([Topic::Question]).await;
    assert_eq!(world.store.database().questions_at, [START]);
    assert_eq!(world.done(), [1]);
    assert_eq!(world.platform.answers.lock().unwrap().asked_for, [] as [Vec<String>; 0]);
}

#[tokio::test]
async fn a_catalogue_is_read_soon_but_not_for_every_hook() {
    let world = World::connected(Platform::Shopify);
    world.act_on([Topic::Catalogue, Topic::Catalogue]).await;
    assert_eq!((world.platform.answers.lock().unwrap().catalogue_passes, world.done()), (1, vec![1, 2]));
    world.pass(Duration::minutes(1));
    world.act_on([Topic::Catalogue]).await;
    assert_eq!(world.platform.answers.lock().unwrap().catalogue_passes, 1);
    assert_eq!(world.store.database().postponed, [(InboxId(1), START + Duration::minutes(5))]);
    world.pass(Duration::minutes(4));
    world.act_on([Topic::Catalogue]).await;
    assert_eq!(world.platform.answers.lock().unwrap().catalogue_passes, 2);
}

/// Each sale changes a stock: hooks of a large shop come all the time.
#[tokio::test]
async fn a_catalogue_that_takes_long_is_read_a_fifth_of_the_time() {
    let world = World::connected(Platform::Shopify);
    let worker = world.worker();
    let passes = || world.platform.answers.lock().unwrap().catalogue_passes;
    world.platform.answers.lock().unwrap().takes = Duration::minutes(9);
    world.act_with(&worker, [Topic::Catalogue]).await;
    assert_eq!((passes(), world.now()), (1, START + Duration::minutes(9)));
    world.act_with(&worker, [Topic::Catalogue]).await;
    assert_eq!(passes(), 1);
    assert_eq!(world.store.database().postponed, [(InboxId(1), START + Duration::minutes(45))]);
    world.pass(Duration::minutes(36));
    world.act_with(&worker, [Topic::Catalogue]).await;
    assert_eq!((passes(), world.done()), (2, vec![1]));
}

/// A large catalogue takes hours.
#[tokio::test(start_paused = true)]
async fn hooks_of_a_connection_wait_for_those_of_no_other_one() {
    let world = World::connected(Platform::Shopify);
    world.store.dies_before_recording.store(true, Ordering::SeqCst);
    world.receive([Topic::Catalogue]);
    let stop = async {
        sleep(std::time::Duration::from_secs(5)).await;
        assert_eq!(world.platform.answers.lock().unwrap().catalogue_passes, 1, "it is on its way, and does not end");
        world.store.database().entries_of = Some(IntegrationId(13));
        world.receive([Topic::Other]);
        sleep(std::time::Duration::from_secs(5)).await;
    };
    world.worker().run(stop).await;
    assert_eq!(world.done(), [1]);
}

/// What a process that dies had taken is another's soon.
#[tokio::test(start_paused = true)]
async fn hooks_are_held_for_two_minutes_again_and_again_while_they_are_acted_on() {
    let world = World::connected(Platform::Shopify);
    world.store.dies_before_recording.store(true, Ordering::SeqCst);
    world.receive([Topic::Catalogue]);
    let stop = async {
        for minutes in [2, 3] {
            sleep(std::time::Duration::from_secs(31)).await;
            assert_eq!(world.store.database().held.last(), Some(&(START + Duration::minutes(minutes))));
            world.pass(Duration::MINUTE);
        }
    };
    world.worker().run(stop).await;
    assert_eq!(world.done(), [] as [i64; 0]);
}

/// A refresh token may work once: with the renewal, the connection would be lost.
#[tokio::test(start_paused = true)]
async fn hooks_that_are_acted_on_when_the_process_stops_come_to_their_end() {
    let world = World::connected(Platform::Shopify);
    world.platform.place("1", START - Duration::HOUR, dec!(10));
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.accepted = vec!["access-2".to_owned()];
        answers.renewal_takes = std::time::Duration::from_secs(3);
    }
    world.receive([of_order("1")]);
    world.worker().run(sleep(std::time::Duration::from_secs(1))).await;
    assert_eq!(world.platform.answers.lock().unwrap().refreshed_with, ["refresh-1"]);
    assert_eq!((world.order_ids(), world.done()), (vec!["1".to_owned()], vec![1]));
}

#[tokio::test]
async fn an_app_that_was_removed_ends_the_connection_unless_the_shop_was_connected_since() {
    let world = World::connected(Platform::Shopify);
    world.pass(Duration::minutes(-1));
    world.act_on([Topic::Uninstalled(None)]).await;
    assert_eq!((world.store.revoke_reason(), world.done()), (None, vec![1]));
    world.pass(Duration::minutes(2));
    let late = TriggeredAt(START - Duration::SECOND);
    world.act_on([Topic::Uninstalled(Some(late))]).await;
    assert_eq!(
        (world.store.revoke_reason(), world.done()),
        (None, vec![1]),
        "it was delivered after the shop came back"
    );
    world.act_on([Topic::Uninstalled(Some(TriggeredAt(START))), of_order("1")]).await;
    assert_eq!(world.store.revoke_reason(), Some(RevokeReason::Uninstalled));
    assert_eq!(world.platform.answers.lock().unwrap().given_back, 0, "the token is dead: nobody is called");
}

/// Tiendanube does not say when: what is told once more may be the removal of before.
#[tokio::test]
async fn a_removal_without_its_time_ends_a_connection_whose_token_is_dead() {
    let world = World::connected(Platform::Tiendanube);
    world.act_on([Topic::Uninstalled(None)]).await;
    assert_eq!((world.store.revoke_reason(), world.done()), (None, vec![1]), "the token is good");
    assert_eq!(world.store.database().hints, 1, "it is looked again soon");
    world.platform.answers.lock().unwrap().accepted = vec!["another".to_owned()];
    world.act_on([Topic::Uninstalled(None)]).await;
    assert_eq!((world.store.revoke_reason(), world.done()), (Some(RevokeReason::Uninstalled), vec![1]));
    world.act_on([Topic::Uninstalled(None)]).await;
    assert_eq!(world.done(), [1], "it has ended already");
}

#[tokio::test]
async fn a_removal_that_cannot_be_verified_is_found_by_the_next_run() {
    let world = World::connected(Platform::Tiendanube);
    world.platform.fail([ShopError::Unavailable("HTTP 503".to_owned())]);
    world.act_on([Topic::Uninstalled(None)]).await;
    assert_eq!((world.store.revoke_reason(), world.done()), (None, vec![1]));
    assert_eq!(world.store.database().hints, 1);
}

/// The catalogue's cursor says when copies were looked at: a hook must not move it past a change that nobody saw.
#[tokio::test]
async fn a_hook_about_products_looks_at_copies_as_well() {
    let world = World::with_a_copy().await;
    world.connect_mercadolibre();
    world.act_on([Topic::Catalogue]).await;
    assert_eq!((world.platform.answers.lock().unwrap().catalogue_passes, world.done()), (2, vec![1]));
    world.tick().await;
    assert_eq!(world.order_ids(), ["own"]);
}

#[tokio::test]
async fn a_shop_is_suspended_and_resumed() {
    let world = World::connected(Platform::Tiendanube);
    let suspended = || world.store.database().integration.as_ref().unwrap().suspended;
    world.act_on([Topic::Suspended]).await;
    assert!(suspended());
    world.act_on([Topic::Resumed, Topic::ScopesChanged, Topic::Order(None)]).await;
    assert!(!suspended());
    let database = world.store.database();
    assert_eq!((database.hints, database.hints_of_change), (1, 1), "what changed is found by a run");
}

#[tokio::test]
async fn privacy_requests_are_logged_and_those_to_forget_done_at_once() {
    let world = World::connected(Platform::Shopify);
    let data = PrivacyRequest::Data { customer: "5".to_owned() };
    let redact = PrivacyRequest::RedactCustomer { customer: "5".to_owned(), orders: vec!["1".to_owned()] };
    world.act_on([data, redact, PrivacyRequest::RedactShop].map(Topic::Privacy)).await;
    let database = world.store.database();
    assert_eq!(database.logged.len(), 3);
    assert_eq!(database.redacted.iter().map(|id| id.0).collect::<Vec<_>>(), [2, 3]);
    drop(database);
    assert_eq!(world.done(), [1, 2, 3]);
}

#[tokio::test]
async fn what_cannot_be_read_now_is_acted_on_later_and_the_rest_is_done() {
    let world = World::connected(Platform::Shopify);
    world.platform.fail([ShopError::Unavailable("HTTP 503".to_owned())]);
    world.act_on([of_order("1"), Topic::Order(None)]).await;
    assert_eq!(world.done(), [2]);
    assert_eq!(world.store.database().postponed, [(InboxId(1), START + Duration::seconds(5))]);
    assert!(world.store.database().sync_lease.is_none());
}

/// Anybody can send hooks in the name of Mercado Libre: they must not call it in its pause.
#[tokio::test]
async fn unsigned_hooks_keep_to_the_pause_that_the_platform_asks_for_unless_the_shop_is_asked_for() {
    let world = World::connected(Platform::Mercadolibre);
    let until = START + Duration::minutes(45);
    world.platform.place("1", START - Duration::HOUR, dec!(10));
    world.platform.fail([ShopError::Throttled(until)]);
    world.tick().await;
    world.act_on([of_order("1"), Topic::Catalogue]).await;
    let asked_for = || world.platform.answers.lock().unwrap().asked_for.len();
    let catalogue_passes = || world.platform.answers.lock().unwrap().catalogue_passes;
    assert_eq!((asked_for(), catalogue_passes()), (0, 0));
    let later = until + Duration::seconds(5);
    assert_eq!(world.store.database().postponed, [(InboxId(1), later), (InboxId(2), later)]);
    assert_eq!(world.store.database().due_at, Some(until));

    world.store.database().due_at = Some(world.now());
    world.act_on([of_order("1")]).await;
    assert_eq!((asked_for(), world.done()), (1, vec![1]));
}

#[tokio::test]
async fn hooks_whose_reading_panics_are_postponed_and_the_lease_is_given_back() {
    let world = World::connected(Platform::Shopify);
    world.tick().await;
    let due_at = world.store.database().due_at;
    world.platform.answers.lock().unwrap().panics = true;
    world.act_on([of_order("1")]).await;
    assert!(world.done().is_empty());
    assert_eq!(world.store.database().postponed, [(InboxId(1), START + Duration::seconds(5))]);
    let database = world.store.database();
    assert_eq!((database.sync_lease, database.due_at), (None, due_at));
}

#[tokio::test]
async fn hooks_wait_while_the_shop_is_being_read() {
    let world = World::connected(Platform::Shopify);
    world.store.database().sync_lease = Some(99);
    world.act_on([of_order("1"), Topic::Catalogue]).await;
    assert!(world.done().is_empty());
    assert_eq!(world.store.database().postponed.len(), 2);
    assert_eq!(world.store.database().cursors.iter().find(|cursor| cursor.stream == Stream::Catalogue), None);
}
