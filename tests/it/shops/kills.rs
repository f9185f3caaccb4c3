//! The service is killed while it reads, and goes on.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    ledger::{compare, compare_sales},
    platform::Platform,
    random::Random,
    rig::Rig,
};

/// Requests of the platform after which the service is killed, each time from its start: while the shop is described, in the
/// first changes, in the catalogue, and deeper and deeper in the history.
const IN_BACK_FILL: [usize; 8] = [1, 3, 5, 9, 14, 20, 27, 35];
/// Likewise while it reads what changed.
const IN_CHANGES: [usize; 4] = [1, 2, 3, 4];
/// An answer takes so long, in milliseconds: long enough to be killed before the next.
const SLOW: u64 = 25;
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_shopify_is_read_however_often_the_service_is_killed() {
    survives(Platform::shopify(200, "EUR")).await;
}

#[tokio::test]
async fn a_mercado_libre_is_read_however_often_the_service_is_killed() {
    survives(Platform::mercadolibre(60)).await;
}

#[tokio::test]
async fn a_tiendanube_is_read_however_often_the_service_is_killed() {
    survives(Platform::tiendanube(300, "EUR")).await;
}

async fn survives(platform: Platform) {
    let mut rig = Rig::start(platform).await;
    rig.platform().fails("slow", 100_000, SLOW).await;
    let id = rig.connect().await;
    let mut killed_at =
        kill_after(&mut rig, id, &IN_BACK_FILL, |rig, connection| Rig::has_history(rig.platform(), connection)).await;
    assert!(killed_at.len() >= 5, "{killed_at:?}");
    rig.platform().fails_no_more().await;
    rig.wait_for_history(id).await;
    compare(&rig).await;

    change_all(&rig).await;
    rig.platform().fails("slow", 100_000, SLOW).await;
    let present = rig.ask_for_sync(id).await;
    let is_read = |_: &Rig, connection: &Value| Rig::is_read_to(present, connection);
    killed_at.extend(kill_after(&mut rig, id, &IN_CHANGES, is_read).await);
    rig.platform().fails_no_more().await;
    rig.wait_for_sync(id, present).await;
    compare_sales(&rig).await;
    let phases: BTreeSet<_> = killed_at.iter().collect();
    println!("{}: {} kills survived, after {phases:?}", rig.platform().name, killed_at.len());
    assert!(phases.len() >= 3, "{phases:?}");
}

/// Kills the worker again and again, until the connection is `done` or the last of `after` is over; what it had asked for
/// last each time.
async fn kill_after(rig: &mut Rig, id: i64, after: &[usize], done: impl Fn(&Rig, &Value) -> bool) -> Vec<String> {
    let mut killed_at = Vec::new();
    for requests in after {
        let (before, begun) = (rig.platform().requests().await.len(), Instant::now());
        let mut last = None;
        while last.is_none() && begun.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(2)).await;
            last = rig.platform().requests().await.get(before + requests - 1..).and_then(|new| new.last().cloned());
            if last.is_none() && done(rig, &rig.connection(id).await) {
                return killed_at;
            }
        }
        rig.kill().await;
        killed_at.push(last.expect("the service asks for nothing"));
    }
    killed_at
}

/// Everything that can happen happens, each to an order of its own, and no hook tells of it.
async fn change_all(rig: &Rig) {
    let platform = rig.platform();
    let mut random = Random(7);
    for deed in platform.deeds().iter().filter(|deed| !deed.is_told_by_hook_alone) {
        platform.fails("hook_lost", 20, 0).await;
        for order in platform.sell(&mut random).await {
            platform.does(deed, order).await;
        }
    }
    platform.fails("hook_lost", 0, 0).await;
}
