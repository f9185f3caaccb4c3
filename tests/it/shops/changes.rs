//! What happens in a shop afterwards is kept up with, whatever becomes of its hooks.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    ledger::{compare_sales, taken},
    platform::{Deed, Platform},
    random::Random,
    rig::Rig,
};

/// Random walks: the deeds of each are told by hooks that come, come twice, overtake each other or do not come at all.
const WALKS: [u64; 4] = [1, 2, 3, 4];
const STEPS: usize = 6;
/// What becomes of hooks; where there is nothing, they come.
const FAULTS: [&str; 5] = ["", "", "hook_lost", "hook_twice", "hook_held"];

#[tokio::test]
async fn whatever_becomes_of_its_hooks_a_shopify_is_kept_up_with() {
    walks(Platform::shopify(60, "EUR")).await;
}

#[tokio::test]
async fn whatever_becomes_of_its_hooks_a_mercado_libre_is_kept_up_with() {
    walks(Platform::mercadolibre(40)).await;
}

#[tokio::test]
async fn whatever_becomes_of_its_hooks_a_tiendanube_is_kept_up_with() {
    walks(Platform::tiendanube(120, "EUR")).await;
}

/// After each walk, one run finds what its hooks did not tell.
async fn walks(platform: Platform) {
    let rig = Rig::start(platform).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    let truth = rig.platform().truth(true).await;
    let untouched = taken(&truth).filter(|(_, order)| order["refunds"].as_array().unwrap().is_empty());
    let mut orders: Vec<u64> = untouched.map(|(id, _)| id.parse().unwrap()).collect();
    for seed in WALKS {
        println!("{}: walk {seed}", rig.platform().name);
        let mut random = Random(seed);
        for _ in 0..STEPS {
            step(&rig, &mut random, &mut orders).await;
        }
        rig.platform().fails_no_more().await;
        rig.sync(id).await;
        rig.wait_for_hooks().await;
        compare_sales(&rig).await;
    }
}

/// A purchase, or something that happens to an order of any age.
async fn step(rig: &Rig, random: &mut Random, orders: &mut Vec<u64>) {
    let platform = rig.platform();
    let deed: Option<&Deed> = (random.below(3) > 0).then(|| platform.deed(random));
    let is_told_by_hook_alone = deed.is_some_and(|deed| deed.is_told_by_hook_alone);
    let fault = if is_told_by_hook_alone { "hook_twice" } else { *random.of(&FAULTS) };
    if is_told_by_hook_alone {
        // What was to become of hooks before must not become of this one.
        platform.fails_no_more().await;
    }
    if !fault.is_empty() {
        platform.fails(fault, u32::try_from(1 + random.below(4)).unwrap(), 0).await;
    }
    let Some(deed) = deed else {
        let sold = platform.sell(random).await;
        println!("  sold {sold:?}; {fault}");
        return orders.extend(sold);
    };
    let order = *random.of(orders);
    let is_done = platform.does(deed, order).await;
    println!("  {} {order}: {is_done}; {fault}", deed.name);
    if is_done && deed.is_last {
        orders.retain(|other| *other != order);
    }
    if is_done && is_told_by_hook_alone {
        rig.wait_for_end_of(order).await;
    }
}

/// Nothing tells that an order was deleted, or called off on a platform that hides it then, but the order itself.
#[tokio::test]
async fn what_no_hook_tells_of_a_shopify_is_found_at_night() {
    found_at_night(Platform::shopify(60, "EUR"), "delete").await;
}

#[tokio::test]
async fn what_no_hook_tells_of_a_mercado_libre_is_found_at_night() {
    found_at_night(Platform::mercadolibre(40), "cancel").await;
}

async fn found_at_night(platform: Platform, deed: &str) {
    let rig = Rig::start(platform).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    let mut random = Random(11);
    let sold = [rig.platform().sell(&mut random).await, rig.platform().sell(&mut random).await].concat();
    rig.sync(id).await;
    compare_sales(&rig).await;
    if rig.platform().name == "mercadolibre" {
        // Its topics are off: what is lost then is not kept either.
        rig.platform().notify(None).await;
    } else {
        rig.platform().fails("hook_lost", 1_000, 0).await;
    }
    for order in sold {
        assert!(rig.platform().does(rig.platform().deed_named(deed), order).await);
    }
    rig.sync_at_night(id).await;
    compare_sales(&rig).await;
}

/// A buyer asks to be forgotten: their orders keep their money, also when they are read again.
#[tokio::test]
async fn a_buyer_of_a_shopify_is_forgotten() {
    forgets(Platform::shopify(100, "EUR")).await;
}

#[tokio::test]
async fn a_buyer_of_a_tiendanube_is_forgotten() {
    forgets(Platform::tiendanube(160, "EUR")).await;
}

async fn forgets(platform: Platform) {
    let rig = Rig::start(platform).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    let platform = rig.platform();
    let truth = platform.truth(true).await;
    let (order, buyer) = taken(&truth).find_map(|(id, order)| Some((id, order["buyer"].as_str()?))).unwrap();
    let order: u64 = order.parse().unwrap();
    assert!(platform.forgets(buyer.parse().unwrap()).await);
    let sql = rig.service.db.client().await.unwrap();
    rig.until("the buyer is forgotten", async || {
        let known = "SELECT count(*) FROM customers WHERE account_id = $1 AND external_id = $2";
        let row = sql.query_one(known, &[&rig.service.account, &buyer]).await.unwrap();
        row.get::<_, i64>(0) == 0
    })
    .await;
    platform.does(platform.deed_named("edit"), order).await;
    rig.sync(id).await;
    compare_sales(&rig).await;
}

/// The owner removes the app, and installs it again: the same orders are the same.
#[tokio::test]
async fn an_app_that_is_removed_from_a_shopify_and_installed_again_goes_on() {
    goes_on(Platform::shopify(100, "EUR")).await;
}

#[tokio::test]
async fn an_app_that_is_removed_from_a_mercado_libre_and_installed_again_goes_on() {
    goes_on(Platform::mercadolibre(40)).await;
}

#[tokio::test]
async fn an_app_that_is_removed_from_a_tiendanube_and_installed_again_goes_on() {
    goes_on(Platform::tiendanube(160, "EUR")).await;
}

async fn goes_on(platform: Platform) {
    let rig = Rig::start(platform).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    // Mercado Libre tells nobody: the next call finds out.
    let what = if rig.platform().name == "mercadolibre" { "revoke" } else { "uninstall" };
    rig.platform().fails(what, 1, 0).await;
    if what == "revoke" {
        rig.ask_for_last_sync(id).await;
    }
    rig.wait(id, |connection| connection["status"] == "revoked").await;
    if what == "uninstall" {
        wait_for_uninstalled_hook(&rig).await;
    }
    rig.platform().sell(&mut Random(5)).await;
    let again = rig.connect().await;
    rig.wait_for_history(again).await;
    rig.sync(again).await;
    compare_sales(&rig).await;
}

/// The platform's retries can outlast the time that an owner takes to install the app again.
#[tokio::test]
async fn a_removal_that_a_shopify_tells_of_after_it_was_connected_again_ends_nothing() {
    let rig = Rig::start(Platform::shopify(40, "EUR")).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    rig.platform().fails("hook_held", 1, 0).await;
    rig.platform().fails("uninstall", 1, 0).await;
    rig.ask_for_last_sync(id).await;
    rig.wait(id, |connection| connection["status"] == "revoked").await;
    let again = rig.connect().await;
    rig.wait_for_history(again).await;
    // The hook of the order lets the other one go.
    rig.platform().sell(&mut Random(5)).await;
    wait_for_uninstalled_hook(&rig).await;
    rig.sync(again).await;
    compare_sales(&rig).await;
}

async fn wait_for_uninstalled_hook(rig: &Rig) {
    let sql = rig.service.db.client().await.unwrap();
    rig.until("the hook of the removal is acted on", async || {
        let done = "SELECT count(*) FROM provider_inbox
            WHERE account_id = $1 AND topic_name = 'app/uninstalled' AND processed_at IS NOT NULL";
        sql.query_one(done, &[&rig.service.account]).await.unwrap().get::<_, i64>(0) == 1
    })
    .await;
}

/// Anybody can send notifications in the name of Mercado Libre. Made-up orders cost a bounded number of calls.
#[tokio::test]
async fn forged_notifications_cost_few_calls() {
    let rig = Rig::start(Platform::mercadolibre(20)).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    rig.platform().happens("forge", &Value::Null).await;
    let truth = rig.platform().truth(true).await;
    let seller = truth["shop"].as_str().unwrap().split('.').next().unwrap().to_owned();
    let hooks = reqwest::Client::builder().no_proxy().build().unwrap();
    for number in 0..60_u64 {
        let resource = format!("/orders/{}", 9_000_000_000_000 + number);
        let forged = json!({ "resource": resource, "user_id": seller, "topic": "orders_v2", "application_id": "1234" });
        let answer = hooks.post(rig.hooks_of(rig.platform())).json(&forged).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    let sql = rig.service.db.client().await.unwrap();
    rig.until("all of them are acted on", async || {
        let open = "SELECT count(*) FROM provider_inbox WHERE account_id = $1 AND processed_at IS NULL";
        sql.query_one(open, &[&rig.service.account]).await.unwrap().get::<_, i64>(0) == 0
    })
    .await;
    let log = rig.platform().ask("log").await;
    let not_there = log.as_array().unwrap().iter().filter(|entry| entry["status"] == 404);
    let orders: Vec<&str> = not_there.filter_map(|entry| entry["path"].as_str()?.strip_prefix("/orders/")).collect();
    let different: BTreeSet<&str> = orders.iter().copied().collect();
    assert_eq!((different.len(), orders.len()), (20, 40), "so many in an hour, each twice");
    compare_sales(&rig).await;
}
