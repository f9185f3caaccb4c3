use std::sync::{Arc, atomic::Ordering};

use domain::{
    IntegrationId,
    accounts::Platform,
    imports::{DocumentKind, ShopCatalogue},
    integrations::{BuyerData, ErrorCode, Fact, RevokeReason},
    shops::{
        Product, ProductBatch, Purpose, Refused, ShopError, Stock, Window,
        hooks::Topic,
        sync::{DueSync, EndedRun, Outcome, Stream, SyncStore},
    },
};
use rust_decimal::dec;
use time::{Duration, OffsetDateTime, macros::datetime};
use tokio::time::Instant;

use super::{
    ACCOUNT, SHOP, START, World,
    platform::{order, product, refund},
    store::integration,
};
use crate::shops::{catalogues::Catalogues, sync::Syncer, turn::Turn};

impl World {
    pub(super) async fn tick(&self) {
        assert_eq!(self.syncer().tick().await.unwrap(), 1, "it is due");
    }

    /// A turn that is over before any of the history is read. Gives how soon the next one is due.
    async fn short_turn(&self) -> Duration {
        let (syncer, due) = (self.syncer(), DueSync { account: ACCOUNT, integration: SHOP });
        let leased = SyncStore::lease(&*self.store, due, 120).await.unwrap().unwrap();
        let lease = leased.lease;
        let read = Turn::new(&syncer, leased).await.unwrap().read(Instant::now()).await;
        syncer.release(lease, read).await;
        self.due_in()
    }

    /// A shop whose history is read, with an order of its own and a copy of one on Mercado Libre, both of days ago.
    pub(super) async fn with_a_copy() -> Self {
        let world = Self::connected(Platform::Tiendanube);
        let mut copy = order("copy", days_ago(5), dec!(10));
        copy.copy_of = Some(Platform::Mercadolibre);
        world.platform.place_order(copy);
        world.platform.place("own", days_ago(5), dec!(10));
        world.platform.answers.lock().unwrap().orders.iter_mut().for_each(|placed| placed.changed_at = days_ago(5));
        world.tick().await;
        assert_eq!(world.order_ids(), ["copy", "own"]);
        world
    }

    /// Mercado Libre is connected a while after the last turn, and a while before the next one.
    pub(super) fn connect_mercadolibre(&self) {
        self.pass(Duration::minutes(10));
        self.store.database().others = vec![integration(IntegrationId(13), Platform::Mercadolibre, self.now())];
        self.pass(Duration::minutes(10));
    }

    fn missing_scopes(&self) -> Vec<String> {
        self.store.database().integration.as_ref().unwrap().missing_scopes.clone()
    }

    fn cursor(&self, stream: Stream) -> Option<OffsetDateTime> {
        self.store.database().cursors.iter().find(|cursor| cursor.stream == stream).map(|cursor| cursor.at)
    }

    pub(super) fn order_ids(&self) -> Vec<String> {
        self.store.database().orders.keys().cloned().collect()
    }

    fn windows(&self, wanted: Purpose) -> Vec<Window> {
        let answers = self.platform.answers.lock().unwrap();
        answers.windows.iter().filter(|(_, purpose)| *purpose == wanted).map(|(window, _)| *window).collect()
    }

    fn last_error(&self) -> Option<ErrorCode> {
        self.store.database().runs.iter().rev().find_map(|run| match &run.outcome {
            Outcome::Failed(error) => Some(error.code),
            Outcome::Done { .. } | Outcome::InPart(_) | Outcome::Restarted { .. } => None,
        })
    }

    fn due_in(&self) -> Duration {
        self.store.database().due_at.unwrap() - self.now()
    }
}

fn days_ago(days: i64) -> OffsetDateTime {
    START - Duration::days(days)
}

fn asks_for_jobs(run: &EndedRun) -> bool {
    matches!(run.outcome, Outcome::Done { run_jobs: true, .. })
}

fn ads_ask_for_jobs(world: &World) -> Vec<bool> {
    let runs = &world.store.database().runs;
    runs.iter().filter(|run| run.stream == Stream::Ads).map(asks_for_jobs).collect()
}

#[tokio::test]
async fn a_new_connection_reads_its_history_newest_first_and_then_what_changes() {
    let world = World::connected(Platform::Shopify);
    for (id, days) in [("1", 80), ("2", 40), ("3", 1), ("too old", 95)] {
        world.platform.place(id, days_ago(days), dec!(10));
    }
    world.platform.answers.lock().unwrap().orders.iter_mut().for_each(|placed| placed.changed_at = days_ago(1));
    world.tick().await;
    assert_eq!(world.order_ids(), ["1", "2", "3"]);
    let untils: Vec<_> =
        world.windows(Purpose::BackFill).iter().map(|window| (START - window.until).whole_days()).collect();
    assert_eq!(untils, [0, 30, 60]);
    let asked = |run: &EndedRun| (run.stream, run.window.map(|window| (START - window.until).whole_days()));
    let asking: Vec<_> = world.store.database().runs.iter().filter(|run| asks_for_jobs(run)).map(asked).collect();
    let back_fill = |days| (Stream::BackFill, Some(days));
    assert_eq!(asking, [back_fill(0), back_fill(60)], "the newest days, and all of them");
    assert_eq!(world.cursor(Stream::BackFill), Some(days_ago(90)));
    assert_eq!(world.store.database().integration.as_ref().unwrap().last_sync_at, Some(START));
    assert_eq!(world.due_in(), Duration::minutes(10));
    assert_eq!(world.platform.answers.lock().unwrap().subscribed, ["https://api.example.com/hooks/shopify"]);

    world.pass(Duration::minutes(10));
    world.platform.place("4", world.now() - Duration::minutes(3), dec!(7));
    world.platform.answers.lock().unwrap().orders.last_mut().unwrap().changed_at = world.now() - Duration::minutes(3);
    world.tick().await;
    assert_eq!(world.order_ids(), ["1", "2", "3", "4"]);
    let changes = Window { from: START - Duration::minutes(10), until: START + Duration::minutes(8) };
    assert_eq!(world.windows(Purpose::Changes), [changes]);
    assert_eq!(world.cursor(Stream::Changes), Some(changes.until));
    assert_eq!(world.windows(Purpose::BackFill).len(), 3, "the history is read once");
}

#[tokio::test]
async fn a_window_that_holds_too_much_is_read_in_halves() {
    let world = World::connected(Platform::Shopify);
    for (id, hours) in [("1", 100), ("2", 200), ("3", 300), ("4", 400)] {
        world.platform.place(id, START - Duration::hours(hours), dec!(10));
    }
    world.platform.answers.lock().unwrap().most = Some(2);
    world.tick().await;
    assert_eq!(world.order_ids(), ["1", "2", "3", "4"]);
    assert_eq!(world.last_error(), None);
    let stored: Vec<_> = world.store.database().runs.iter().filter_map(|run| run.window).collect();
    assert!(stored.windows(2).all(|pair| pair[0].from == pair[1].until), "newest first, no gap: {stored:?}");
}

#[tokio::test]
async fn after_a_window_that_held_too_much_the_next_ones_are_as_short() {
    let world = World::connected(Platform::Shopify);
    for days in 0..9 {
        world.platform.place(&days.to_string(), days_ago(10 * days + 5), dec!(10));
    }
    world.platform.answers.lock().unwrap().most = Some(2);
    world.tick().await;
    assert_eq!(world.order_ids().len(), 9);
    let lengths: Vec<_> =
        world.windows(Purpose::BackFill).iter().map(|window| (window.until - window.from).whole_days()).collect();
    assert_eq!(lengths, [30, 15, 15, 15, 15, 15, 15]);
}

#[tokio::test(start_paused = true)]
async fn a_process_killed_between_import_and_cursor_reads_the_window_again_to_the_same_rows() {
    let world = World::connected(Platform::Shopify);
    for (id, days) in [("1", 3), ("2", 40)] {
        let mut placed = order(id, days_ago(days), dec!(10));
        placed.refunds = vec![refund(days_ago(days) + Duration::hours(5), dec!(4))];
        world.platform.place_order(placed);
    }
    world.store.dies_before_recording.store(true, Ordering::SeqCst);
    let syncer = world.syncer();
    let killed = tokio::time::timeout(std::time::Duration::from_secs(5), syncer.tick()).await;
    assert!(killed.is_err());
    assert!(world.store.database().cursors.is_empty());
    // Its lease runs out.
    world.store.database().sync_lease = None;
    world.store.dies_before_recording.store(false, Ordering::SeqCst);
    world.tick().await;
    let whole = World::connected(Platform::Shopify);
    whole.platform.answers.lock().unwrap().orders = world.platform.answers.lock().unwrap().orders.clone();
    whole.tick().await;
    assert_eq!(world.store.database().orders, whole.store.database().orders);
    assert_eq!(world.store.database().cursors, whole.store.database().cursors);
}

#[tokio::test]
async fn a_record_that_cannot_be_taken_is_named_and_the_others_go_in() {
    let world = World::connected(Platform::Shopify);
    world.platform.place("good", days_ago(1), dec!(10));
    world.platform.place("bad", days_ago(1), dec!(-1));
    let mut unknown = order("partly", days_ago(1), dec!(10));
    unknown.refund_unknown = true;
    world.platform.place_order(unknown);
    let foreign =
        Refused { kind: "order", external_id: "foreign".to_owned(), reason: "its currency is BRL".to_owned() };
    world.platform.answers.lock().unwrap().refused = vec![foreign];
    world.tick().await;
    assert_eq!(world.order_ids(), ["good", "partly"]);
    let database = world.store.database();
    let run = database.runs.iter().find(|run| run.counts.read > 0).unwrap();
    let refusals: Vec<_> =
        run.refusals.iter().map(|refusal| (refusal.kind.as_str(), refusal.external_id.as_str())).collect();
    assert_eq!(refusals, [("order", "foreign"), ("order", "bad"), ("refund", "partly")]);
    assert_eq!(run.counts.refused, 3);
    assert!(!database.orders["partly"].is_whole, "refunds that are known stay");
}

/// What the platform fails to show may never come: nothing waits for it.
#[tokio::test]
async fn an_order_that_is_not_shown_whole_is_read_again_some_hours_later() {
    let world = World::connected(Platform::Tiendanube);
    world.platform.place("good", days_ago(1), dec!(10));
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.refused = vec![Refused::failing("refund", "bad".to_owned(), "it answered 500")];
        answers.again = vec!["bad".to_owned(), " ".to_owned()];
    }
    world.tick().await;
    assert_eq!(world.order_ids(), ["good"]);
    let database = world.store.database();
    assert!(database.failing.is_empty());
    let told: Vec<_> = database.runs.iter().flat_map(|run| &run.refusals).map(|told| told.reason.as_str()).collect();
    assert_eq!(told, ["the platform fails to show it: it answered 500; it is read again in some hours"]);
    let [(hook, at)] = database.received.as_slice() else { panic!("{:?}", database.received) };
    assert_eq!((hook.shop_id.as_str(), &hook.topic), ("shop-1", &Topic::Order(Some("bad".to_owned()))));
    assert_eq!(*at, START + Duration::hours(6));
}

#[tokio::test]
async fn refunds_are_of_the_account_s_days_and_an_order_is_complete() {
    let world = World::connected(Platform::Shopify);
    let mut placed = order("1", days_ago(10), dec!(10));
    // 00:30 on the 12th in Madrid.
    placed.refunds =
        vec![refund(datetime!(2026-05-11 22:30 UTC), dec!(4)), refund(datetime!(2026-05-12 9:00 UTC), dec!(1))];
    world.platform.place_order(placed);
    world.tick().await;
    let database = world.store.database();
    let document = &database.orders["1"];
    let parts: Vec<_> = document.parts.iter().map(|part| (part.kind, part.external_id.as_str())).collect();
    assert_eq!(parts, [(DocumentKind::Order, "1"), (DocumentKind::Refund, "1/2026-05-12")]);
    assert!(document.is_whole);
}

#[tokio::test]
async fn a_connection_says_only_what_it_owns_of_a_product() {
    let world = World::connected(Platform::Shopify);
    let over_delivered = Product { on_order: Some(-2), ..product("MUG") };
    world.platform.answers.lock().unwrap().products = vec![over_delivered, product("")];
    world.tick().await;
    {
        let database = world.store.database();
        let mug = &database.products["MUG"];
        assert_eq!((mug.stock, mug.cost, mug.price), (Some(-3), None, Some(dec!(9.5))), "it owns stock, not costs");
        assert_eq!(mug.on_order, Some(0), "none is on its way");
        let run = database.runs.iter().find(|run| run.stream == Stream::Catalogue).unwrap();
        assert_eq!((run.counts.read, run.counts.refused), (2, 1));
    }
    world.store.database().integration.as_mut().unwrap().owner_of = vec![Fact::Cost];
    world.pass(Duration::days(1));
    world.tick().await;
    let database = world.store.database();
    let mug = &database.products["MUG"];
    assert_eq!((mug.stock, mug.cost), (None, Some((dec!(4), world.now().date()))));
}

#[tokio::test]
async fn a_connection_says_what_units_cost_only_where_it_owns_costs() {
    for (owner_of, known) in [(vec![Fact::Stock], None), (vec![Fact::Cost], Some(dec!(4)))] {
        let world = World::connected(Platform::Shopify);
        world.store.database().integration.as_mut().unwrap().owner_of = owner_of;
        let mut placed = order("1", days_ago(10), dec!(10));
        placed.refunds = vec![refund(days_ago(8), dec!(10))];
        placed.order.lines[0].unit_cost = Some(dec!(4));
        placed.refunds[0].lines[0].unit_cost = Some(dec!(4));
        world.platform.place_order(placed);
        world.tick().await;
        let database = world.store.database();
        let lines = database.orders["1"].parts.iter().flat_map(|part| &part.lines);
        assert_eq!(lines.map(|line| line.unit_cost).collect::<Vec<_>>(), [known; 2]);
    }
}

#[tokio::test]
async fn a_pass_to_the_end_of_the_catalogue_says_what_is_not_stocked() {
    let world = World::connected(Platform::Mercadolibre);
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.products = vec![
            product("MUG"),
            Product { stock: Stock::NotStocked, ..product("CUP") },
            Product { stock: Stock::Unsaid, ..product("JAR") },
            Product { price: Some(dec!(-1)), ..product("PAN") },
            product(""),
        ];
        let (closed, left_out) = (vec!["BOX".to_owned(), String::new()], vec!["DEAR".to_owned()]);
        answers.catalogue = ProductBatch { closed, left_out, ..ProductBatch::default() };
    }
    world.tick().await;
    let database = world.store.database();
    let texts = |skus: &[&str]| skus.iter().map(|sku| (*sku).to_owned()).collect::<Vec<_>>();
    let told = ShopCatalogue {
        closed: texts(&["BOX"]),
        uncounted: texts(&["CUP"]),
        others: texts(&["DEAR", "MUG", "JAR", "PAN"]),
        is_whole: true,
    };
    assert_eq!(database.catalogues, [told], "what is refused is there all the same");
    assert_eq!(database.products.keys().collect::<Vec<_>>(), ["CUP", "JAR", "MUG"]);
    assert_eq!((database.products["CUP"].stock, database.products["JAR"].stock), (None, None));
}

#[tokio::test]
async fn a_pass_that_broke_off_ends_no_stock_and_the_next_begins_anew() {
    let world = World::connected(Platform::Shopify);
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.products = vec![product("MUG")];
        answers.catalogue.closed = vec!["BOX".to_owned()];
        answers.broken_catalogue = Some(ShopError::Unavailable("HTTP 503".to_owned()));
    }
    world.tick().await;
    assert!(world.store.database().catalogues.is_empty());
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.products.push(product("CUP"));
        answers.broken_catalogue = None;
    }
    world.pass(Duration::minutes(10));
    world.tick().await;
    let database = world.store.database();
    let [whole] = database.catalogues.as_slice() else { panic!("{:?}", database.catalogues) };
    assert_eq!((whole.others.as_slice(), whole.is_whole), (["MUG".to_owned(), "CUP".to_owned()].as_slice(), true));
}

#[tokio::test]
async fn goods_that_may_have_been_missed_are_not_gone() {
    let world = World::connected(Platform::Shopify);
    // A shop that shows nothing.
    world.tick().await;
    assert!(world.store.database().catalogues.is_empty());
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.products = vec![product("MUG")];
        answers.catalogue.has_unread = true;
    }
    world.pass(Duration::DAY);
    world.tick().await;
    assert!(world.store.database().catalogues.is_empty());
    // What is named is known to be closed.
    world.platform.answers.lock().unwrap().catalogue.closed = vec!["BOX".to_owned()];
    world.pass(Duration::DAY);
    world.tick().await;
    let database = world.store.database();
    let told: Vec<_> = database.catalogues.iter().map(|pass| (pass.closed.clone(), pass.is_whole)).collect();
    assert_eq!(told, [(vec!["BOX".to_owned()], false)]);
}

#[tokio::test]
async fn a_connection_that_does_not_own_stock_ends_none() {
    let world = World::connected(Platform::Mercadolibre);
    world.store.database().integration.as_mut().unwrap().owner_of = vec![Fact::Cost];
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.products = vec![product("MUG")];
        answers.catalogue.closed = vec!["BOX".to_owned()];
    }
    world.tick().await;
    let database = world.store.database();
    assert!(database.products.contains_key("MUG") && database.catalogues.is_empty());
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_renewed_once_and_then_ends_the_connection() {
    let world = World::connected(Platform::Shopify);
    world.platform.answers.lock().unwrap().accepted = vec!["access-2".to_owned()];
    world.platform.place("1", days_ago(1), dec!(10));
    world.tick().await;
    assert_eq!(world.order_ids(), ["1"]);
    assert_eq!(world.platform.answers.lock().unwrap().refreshed_with, ["refresh-1"]);

    world.platform.answers.lock().unwrap().accepted = vec!["none".to_owned()];
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert_eq!(world.platform.answers.lock().unwrap().refreshed_with.len(), 2);
    assert_eq!(world.store.revoke_reason(), Some(RevokeReason::TokenExpired));
}

/// A token lives for an hour here, and a large shop is read for longer.
#[tokio::test]
async fn a_turn_may_outlast_several_tokens() {
    let world = World::connected(Platform::Shopify);
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.takes = Duration::minutes(25);
        answers.ends.insert("access-1".to_owned(), START + Duration::HOUR);
    }
    world.tick().await;
    assert_eq!(world.platform.answers.lock().unwrap().refreshed_with, ["refresh-1", "refresh-2"]);
    assert_eq!((world.store.revoke_reason(), world.last_error()), (None, None));
    assert_eq!(world.cursor(Stream::BackFill), Some(days_ago(90)));
}

#[tokio::test]
async fn what_takes_longer_than_a_token_lasts_ends_no_connection() {
    let world = World::connected(Platform::Shopify);
    {
        let mut answers = world.platform.answers.lock().unwrap();
        answers.takes = Duration::hours(2);
        answers.ends.insert("access-1".to_owned(), START + Duration::HOUR);
    }
    world.tick().await;
    assert_eq!((world.store.revoke_reason(), world.last_error()), (None, Some(ErrorCode::Unreachable)));
}

#[tokio::test]
async fn a_pause_that_the_platform_asks_for_is_kept_and_is_no_failure() {
    let world = World::connected(Platform::Shopify);
    let until = START + Duration::minutes(45);
    world.platform.fail([ShopError::Throttled(until)]);
    world.tick().await;
    assert_eq!(world.due_in(), Duration::minutes(45));
    assert_eq!(world.store.database().paused_until, Some(until));
    assert!(world.store.database().runs.is_empty());
    world.pass(Duration::minutes(45));
    world.tick().await;
    assert_eq!(world.store.database().paused_until, None);
}

#[tokio::test]
async fn a_pause_lasts_a_day_at_most() {
    let world = World::connected(Platform::Shopify);
    world.platform.fail([ShopError::Throttled(datetime!(9999-12-31 23:59:59 UTC))]);
    let syncer = Syncer { jitter: Arc::new(|| 1.0), ..world.syncer() };
    assert_eq!(syncer.tick().await.unwrap(), 1);
    assert_eq!(world.due_in(), Duration::DAY + Duration::minutes(144));
}

#[tokio::test]
async fn a_platform_that_is_away_is_asked_less_and_less_often_and_no_cursor_moves() {
    let world = World::connected(Platform::Shopify);
    for pause in [10, 20, 40] {
        world.platform.fail([ShopError::Unavailable("HTTP 503".to_owned())]);
        world.tick().await;
        assert_eq!(world.due_in(), Duration::minutes(pause));
        let paused_until = world.store.database().paused_until;
        assert_eq!(paused_until, Some(world.now() + Duration::minutes(pause)));
        world.pass(Duration::minutes(pause));
    }
    assert_eq!(world.last_error(), Some(ErrorCode::Unreachable));
    assert!(world.store.database().cursors.is_empty());
    assert_eq!(world.store.revoke_reason(), None);
    world.tick().await;
    assert_eq!(world.cursor(Stream::BackFill), Some(days_ago(90)), "it goes on where it was");
}

#[tokio::test]
async fn a_suspended_shop_waits_and_goes_on() {
    let world = World::connected(Platform::Tiendanube);
    world.platform.answers.lock().unwrap().suspended = true;
    world.tick().await;
    assert_eq!(world.last_error(), Some(ErrorCode::Blocked));
    assert!(world.store.database().integration.as_ref().unwrap().suspended);
    world.platform.answers.lock().unwrap().suspended = false;
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert!(!world.store.database().integration.as_ref().unwrap().suspended);
}

#[tokio::test]
async fn a_missing_permission_is_named_and_keeps_nothing_else_from_being_read() {
    let world = World::connected(Platform::Shopify);
    world.platform.place("1", days_ago(1), dec!(10));
    // The shop itself answers, the catalogue does not.
    let refused = ShopError::MissingScope("read_products".to_owned());
    world.platform.answers.lock().unwrap().refused_catalogue = Some(refused);
    world.tick().await;
    assert_eq!(world.order_ids(), ["1"]);
    assert_eq!(world.last_error(), Some(ErrorCode::PermissionLost));
    assert_eq!(world.store.database().integration.as_ref().unwrap().missing_scopes, ["read_products"]);
}

/// The app lacks what no token tells of.
#[tokio::test]
async fn a_permission_that_orders_were_read_without_is_named_while_what_is_granted_is_the_same() {
    let world = World::connected(Platform::Mercadolibre);
    world.platform.place("1", days_ago(1), dec!(10));
    world.platform.answers.lock().unwrap().missing_scopes = vec!["shipments".to_owned()];
    world.tick().await;
    assert_eq!((world.order_ids(), world.last_error()), (vec!["1".to_owned()], None));
    assert_eq!(world.missing_scopes(), ["shipments"]);

    // No sale asks for it now.
    world.platform.answers.lock().unwrap().missing_scopes.clear();
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert_eq!(world.missing_scopes(), ["shipments"]);

    world.store.database().tokens.as_mut().unwrap().scopes.push("shipments".to_owned());
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert!(world.missing_scopes().is_empty());
}

#[tokio::test]
async fn a_catalogue_that_cannot_be_read_makes_no_order_late() {
    for error in [ShopError::MissingScope("read_products".to_owned()), ShopError::Unavailable("HTTP 503".to_owned())] {
        let world = World::connected(Platform::Shopify);
        world.platform.place("1", days_ago(40), dec!(10));
        world.platform.answers.lock().unwrap().refused_catalogue = Some(error);
        for turns in 1..=4 {
            world.tick().await;
            assert_eq!(world.due_in(), Duration::minutes(10));
            assert_eq!(world.platform.answers.lock().unwrap().catalogue_passes, turns);
            world.pass(Duration::minutes(10));
        }
        assert_eq!(world.order_ids(), ["1"]);
    }
}

#[tokio::test]
async fn catalogues_do_not_take_all_places() {
    let world = World::connected(Platform::Shopify);
    let syncer = Syncer { catalogues: Catalogues::new(2), ..world.syncer() };
    let passes = || world.platform.answers.lock().unwrap().catalogue_passes;
    let place = syncer.catalogues.place().unwrap();
    world.platform.answers.lock().unwrap().takes = Duration::MINUTE;
    syncer.tick().await.unwrap();
    assert_eq!(passes(), 1, "the first is waited for");
    assert!(syncer.catalogues.rests_until(SHOP, None, START).is_some(), "no hook has it read again at its end");
    world.pass(Duration::DAY);
    syncer.tick().await.unwrap();
    assert_eq!((passes(), world.last_error()), (1, None));
    assert!(world.cursor(Stream::Changes) > Some(START), "orders are read meanwhile");
    drop(place);
    world.pass(Duration::HOUR);
    syncer.tick().await.unwrap();
    assert_eq!(passes(), 2);
}

#[tokio::test]
async fn a_history_goes_on_at_once_and_a_catalogue_that_fails_is_not_tried_as_often() {
    let world = World::connected(Platform::Shopify);
    let refused = ShopError::MissingScope("read_products".to_owned());
    world.platform.answers.lock().unwrap().refused_catalogue = Some(refused);
    for _ in 0..3 {
        assert_eq!(world.short_turn().await, Duration::ZERO);
    }
    let passes = || world.platform.answers.lock().unwrap().catalogue_passes;
    assert_eq!(passes(), 1);
    world.pass(Duration::minutes(10));
    assert_eq!((world.short_turn().await, passes()), (Duration::ZERO, 2));
}

#[tokio::test]
async fn a_shop_that_changed_its_currency_is_not_read() {
    let world = World::connected(Platform::Shopify);
    world.platform.place("1", days_ago(1), dec!(10));
    world.platform.answers.lock().unwrap().currency = Some("USD".parse().unwrap());
    for pause in [10, 20, 40] {
        world.tick().await;
        assert_eq!(world.due_in(), Duration::minutes(pause), "it is asked less and less often");
        world.pass(Duration::minutes(pause));
    }
    assert!(world.order_ids().is_empty());
    assert_eq!(world.last_error(), Some(ErrorCode::NotDelivering));
}

#[tokio::test]
async fn unsettled_orders_are_read_again_every_night_where_changes_are_not_all_told() {
    let world = World::connected(Platform::Mercadolibre);
    world.platform.place("young", days_ago(1), dec!(10));
    world.platform.place("old", days_ago(80), dec!(10));
    world.tick().await;
    world.platform.answers.lock().unwrap().reread = Some(Duration::days(60));
    // It is gone, and the list of changes does not say so.
    world.platform.answers.lock().unwrap().orders.retain(|placed| placed.order.order.external_id == "old");
    world.pass(Duration::days(1));
    world.tick().await;
    assert_eq!(world.order_ids(), ["old"]);
    assert_eq!(world.platform.answers.lock().unwrap().asked_for, [["young"]]);
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert_eq!(world.platform.answers.lock().unwrap().asked_for.len(), 1, "once a night");
}

/// A shop whose 300 young orders are to be read again.
async fn with_many_young_orders() -> World {
    let world = World::connected(Platform::Mercadolibre);
    for number in 0..300 {
        world.platform.place(&format!("{number:03}"), days_ago(1), dec!(10));
    }
    world.tick().await;
    world.platform.answers.lock().unwrap().reread = Some(Duration::days(60));
    world.pass(Duration::DAY);
    world
}

/// Of each time that orders were asked for by number the first one, and how many there were.
fn asked_for(world: &World) -> Vec<(String, usize)> {
    let answers = world.platform.answers.lock().unwrap();
    answers.asked_for.iter().map(|ids| (ids[0].clone(), ids.len())).collect()
}

#[tokio::test]
async fn orders_that_are_read_one_by_one_for_long_make_no_new_one_late_and_let_others_have_their_turn() {
    let world = with_many_young_orders().await;
    let part = |first: &str, orders| (first.to_owned(), orders);
    assert_eq!(world.short_turn().await, Duration::ZERO);
    assert_eq!((asked_for(&world), world.cursor(Stream::Reread)), (vec![part("000", 250)], None));
    world.pass(Duration::minutes(10));
    assert_eq!(world.short_turn().await, Duration::ZERO);
    assert_eq!(asked_for(&world), [part("000", 250), part("250", 50)], "it goes on where it was");
    assert_eq!(world.windows(Purpose::Changes).len(), 2, "after what is new");
    assert_eq!(world.short_turn().await, Duration::minutes(10));
    assert_eq!((asked_for(&world).len(), world.cursor(Stream::Reread)), (2, Some(START + Duration::DAY)));
}

#[tokio::test]
async fn orders_that_are_read_one_by_one_for_long_leave_the_history_its_time() {
    let world = with_many_young_orders().await;
    world.store.database().cursors.retain(|cursor| cursor.stream != Stream::BackFill);
    assert_eq!(world.short_turn().await, Duration::ZERO);
    let before = world.store.database().runs.len();
    world.tick().await;
    let streams: Vec<_> = world.store.database().runs.iter().skip(before).map(|run| run.stream).collect();
    let first = |wanted| streams.iter().position(|stream| *stream == wanted).unwrap();
    assert!(first(Stream::BackFill) < first(Stream::Reread), "{streams:?}");
}

#[tokio::test]
async fn orders_that_were_read_again_before_trouble_are_not_read_again_after_it() {
    let world = with_many_young_orders().await;
    let trouble = ShopError::Unavailable("HTTP 503".to_owned());
    world.platform.answers.lock().unwrap().by_number = [None, Some(trouble)].into();
    world.tick().await;
    assert_eq!((world.last_error(), world.cursor(Stream::Reread)), (Some(ErrorCode::Unreachable), None));
    world.pass(Duration::minutes(10));
    world.tick().await;
    let firsts: Vec<_> = asked_for(&world).into_iter().map(|(first, _)| first).collect();
    assert_eq!(firsts, ["000", "250", "250"]);
    assert_eq!(world.cursor(Stream::Reread), Some(START + Duration::DAY));
}

#[tokio::test]
async fn a_copy_counts_while_its_original_does_not() {
    let world = World::connected(Platform::Tiendanube);
    let mut copy = order("copy", days_ago(5), dec!(10));
    copy.copy_of = Some(Platform::Mercadolibre);
    world.platform.place_order(copy);
    world.platform.place("own", days_ago(5), dec!(10));
    world.tick().await;
    assert_eq!(world.order_ids(), ["copy", "own"]);

    world.pass(Duration::minutes(10));
    let meli = integration(IntegrationId(13), Platform::Mercadolibre, world.now());
    world.store.database().others = vec![meli];
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert_eq!(world.order_ids(), ["own"], "the history was read again");
    let filled = world.windows(Purpose::BackFill).len();
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert_eq!(world.windows(Purpose::BackFill).len(), filled, "once");

    world.store.database().others[0].revoked_at = Some(world.now());
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert_eq!(world.order_ids(), ["copy", "own"]);
}

#[tokio::test]
async fn copies_are_read_again_over_as_many_turns_as_it_takes() {
    let world = World::with_a_copy().await;
    world.connect_mercadolibre();
    assert_eq!(world.short_turn().await, Duration::ZERO);
    assert_eq!(world.cursor(Stream::BackFill), Some(world.now()));
    world.tick().await;
    assert_eq!(world.order_ids(), ["own"]);
}

#[tokio::test]
async fn a_catalogue_that_fails_does_not_begin_the_history_again_with_each_turn() {
    let world = World::with_a_copy().await;
    let malformed = ShopError::Malformed("no JSON".to_owned());
    world.platform.answers.lock().unwrap().refused_catalogue = Some(malformed);
    world.connect_mercadolibre();
    world.tick().await;
    assert_eq!(world.order_ids(), ["own"]);
    let filled = world.windows(Purpose::BackFill).len();
    world.pass(Duration::minutes(10));
    world.tick().await;
    assert_eq!(world.windows(Purpose::BackFill).len(), filled);
}

#[tokio::test]
async fn ad_spend_is_read_once_a_day_and_its_last_days_again() {
    let world = World::connected(Platform::Mercadolibre);
    world.platform.answers.lock().unwrap().ads = Some(Ok(dec!(12.34)));
    world.tick().await;
    let today = START.date();
    assert_eq!(world.platform.answers.lock().unwrap().ads_asked_for, [(today - Duration::days(89), today)]);
    assert_eq!(world.store.database().ad_spend.values().sum::<rust_decimal::Decimal>(), dec!(12.34) * dec!(90));
    world.pass(Duration::HOUR);
    world.tick().await;
    assert_eq!(world.platform.answers.lock().unwrap().ads_asked_for.len(), 1, "once a day");
    world.platform.answers.lock().unwrap().ads = Some(Ok(dec!(12.35)));
    world.pass(Duration::DAY);
    world.tick().await;
    let asked = *world.platform.answers.lock().unwrap().ads_asked_for.last().unwrap();
    assert_eq!(asked, (today - Duration::days(3), today + Duration::DAY));
    assert_eq!(world.store.database().ad_spend[&today], dec!(12.35), "what was corrected is");
    assert_eq!(ads_ask_for_jobs(&world), [true, false], "when there is a history that there was not");
}

#[tokio::test]
async fn a_figure_of_ads_that_cannot_be_keeps_no_spend_from_being_read() {
    let world = World::connected(Platform::Mercadolibre);
    world.platform.answers.lock().unwrap().ads = Some(Ok(dec!(12.34)));
    world.platform.answers.lock().unwrap().clicks = Some(-1);
    world.tick().await;
    assert_eq!((world.last_error(), world.cursor(Stream::Ads)), (None, Some(START)));
    let today = START.date();
    let database = world.store.database();
    assert_eq!(database.ad_spend[&today], dec!(12.34));
    let run = database.runs.iter().find(|run| run.stream == Stream::Ads).unwrap();
    assert_eq!((run.counts.read, run.counts.refused), (90, 90));
    let reason = format!("its clicks of {today} cannot be, and count as unknown");
    let last = run.refusals.last().unwrap();
    assert_eq!((last.kind.as_str(), last.external_id.as_str(), &last.reason), ("ad", "1", &reason));
}

#[tokio::test]
async fn a_shop_whose_ads_are_not_shown_is_no_failure() {
    let world = World::connected(Platform::Mercadolibre);
    world.platform.answers.lock().unwrap().ads = Some(Err(ShopError::MissingScope("advertising".to_owned())));
    world.tick().await;
    assert_eq!((world.last_error(), world.cursor(Stream::Ads)), (None, Some(START)));
    assert_eq!(ads_ask_for_jobs(&world), [false]);
}

#[tokio::test]
async fn the_history_of_ads_is_read_once_they_are_shown() {
    let world = World::connected(Platform::Mercadolibre);
    world.platform.answers.lock().unwrap().ads = Some(Err(ShopError::MissingScope("advertising".to_owned())));
    world.tick().await;
    assert_eq!(world.missing_scopes(), ["advertising"]);
    world.platform.answers.lock().unwrap().ads = Some(Ok(dec!(12.34)));
    let asked = || *world.platform.answers.lock().unwrap().ads_asked_for.last().unwrap();
    world.pass(Duration::DAY);
    world.tick().await;
    let today = world.now().date();
    assert_eq!(asked(), (today - Duration::days(89), today));
    assert!(world.missing_scopes().is_empty());
    assert_eq!(ads_ask_for_jobs(&world), [false, true]);

    // What is granted with a new connection is not known to have been missing.
    world.pass(Duration::HOUR);
    world.store.database().integration.as_mut().unwrap().connected_at = world.now();
    world.pass(Duration::DAY);
    world.tick().await;
    let today = world.now().date();
    assert_eq!(asked(), (today - Duration::days(89), today));
}

#[tokio::test]
async fn an_ad_account_is_read_back_and_what_still_changes_again_every_day() {
    let world = World::connected(Platform::Meta);
    world.platform.answers.lock().unwrap().ads = Some(Ok(dec!(12.34)));
    world.platform.answers.lock().unwrap().currency = Some("USD".parse().unwrap());
    let asked = || std::mem::take(&mut world.platform.answers.lock().unwrap().ads_asked_for);
    let today = START.date();
    let back = |days| today - Duration::days(days);
    world.tick().await;
    assert_eq!(asked(), [(back(30), today), (back(60), back(30)), (back(90), back(60)), (back(3), today)]);
    assert_eq!(world.store.database().ad_spend.len(), 91);
    world.pass(Duration::HOUR);
    world.tick().await;
    assert_eq!(asked(), [(back(1), today)], "what was today when it was read last, and the day before");
    world.pass(Duration::DAY);
    world.tick().await;
    assert_eq!(asked(), [(back(3), today + Duration::DAY)]);
    let answers = world.platform.answers.lock().unwrap();
    assert!(answers.windows.is_empty() && answers.catalogue_passes == 0, "no orders are asked for");
    assert_eq!(world.last_error(), None);
}

/// A shop of a large history is read for minutes, an ad account beside it in seconds.
#[tokio::test(start_paused = true)]
async fn a_connection_that_takes_long_keeps_no_other_of_its_account_waiting() {
    let world = World::connected(Platform::Shopify);
    world.store.dies_before_recording.store(true, Ordering::SeqCst);
    world.store.database().also_due = vec![IntegrationId(13)];
    world.syncer().run(tokio::time::sleep(std::time::Duration::from_secs(5))).await;
    assert!(world.store.database().runs.is_empty(), "the first one is on its way");
    assert_eq!(world.store.database().lease_asked_for, [SHOP, IntegrationId(13)].into());
}

#[tokio::test]
async fn that_buyers_are_withheld_stays_known_while_it_cannot_be_asked() {
    let world = World::connected(Platform::Shopify);
    let known = async |shows_buyers: Option<bool>| {
        world.platform.answers.lock().unwrap().shows_buyers = shows_buyers;
        world.tick().await;
        world.pass(Duration::HOUR);
        world.store.database().integration.as_ref().unwrap().buyer_data
    };
    assert_eq!(known(None).await, BuyerData::Full);
    assert_eq!(known(Some(false)).await, BuyerData::Withheld);
    assert_eq!(known(None).await, BuyerData::Withheld);
    assert_eq!(known(Some(true)).await, BuyerData::Full);
}

/// What is changed until then would never be read.
#[tokio::test]
async fn a_clock_that_is_far_ahead_moves_no_cursor() {
    let world = World::connected(Platform::Shopify);
    world.platform.answers.lock().unwrap().ahead = Duration::days(3_650);
    world.pass(Duration::hours(1));
    world.tick().await;
    {
        let database = world.store.database();
        let outcomes: Vec<_> = database.runs.iter().map(|run| (run.stream, &run.outcome)).collect();
        let [(Stream::Changes, Outcome::Failed(error))] = outcomes.as_slice() else { panic!("{outcomes:?}") };
        assert_eq!(error.code, ErrorCode::NotDelivering);
        assert_eq!((database.cursors.len(), database.integration.as_ref().unwrap().last_sync_at), (0, None));
    }
    world.platform.answers.lock().unwrap().ahead = Duration::hours(23);
    world.pass(Duration::hours(1));
    world.tick().await;
    assert!(world.cursor(Stream::Changes).is_some());
}
