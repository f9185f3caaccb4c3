//! A shop is connected, and its history comes in.

use super::{ledger::compare, platform::Platform, rig::Rig};

#[tokio::test]
async fn the_history_of_a_shopify_comes_in() {
    comes_in(Platform::shopify(400, "EUR")).await;
}

#[tokio::test]
async fn the_history_of_a_mercado_libre_comes_in() {
    comes_in(Platform::mercadolibre(120)).await;
}

#[tokio::test]
async fn the_history_of_a_tiendanube_comes_in() {
    comes_in(Platform::tiendanube(500, "EUR")).await;
}

async fn comes_in(platform: Platform) {
    let rig = Rig::start(platform).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    compare(&rig).await;
    let connection = rig.connection(id).await;
    assert_eq!(connection["status"], "connected", "{connection}");
}
