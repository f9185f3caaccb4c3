//! A shop is connected, and its history comes in.

use super::{
    ledger::compare,
    rig::{Platform, Rig},
};

#[tokio::test]
async fn the_history_of_a_tiendanube_comes_in() {
    let rig = Rig::start(Platform::tiendanube(600)).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    compare(&rig).await;
    let connection = rig.connection(id).await;
    assert_eq!(connection["status"], "connected", "{connection}");
}
