//! Three shops of one account, and sales that two of them show.

use super::{
    ledger::{compare, compare_sales, compare_with},
    platform::Platform,
    random::Random,
    rig::Rig,
};

#[tokio::test]
async fn shops_on_three_platforms_are_one_account_and_a_copied_sale_counts_once() {
    let [mercadolibre, tiendanube, shopify] =
        [Platform::mercadolibre(40), Platform::tiendanube(160, "ARS"), Platform::shopify(100, "ARS")];
    let rig = Rig::start_all(vec![mercadolibre, tiendanube, shopify]).await;
    let [mercadolibre, tiendanube, _] = &rig.platforms[..] else { unreachable!() };
    let mut ids = Vec::new();
    for platform in &rig.platforms {
        ids.push(rig.connect_to(platform).await);
    }
    for (platform, id) in rig.platforms.iter().zip(&ids) {
        rig.wait_for_history_of(platform, *id).await;
    }
    let copied = tiendanube.truth(true).await["orders"].as_object().unwrap().len();
    let own = tiendanube.truth(false).await["orders"].as_object().unwrap().len();
    assert!(own < copied, "the store has copies");
    compare(&rig).await;

    // A sale on Mercado Libre that Tiendanube copies, and is cancelled on both.
    let mut random = Random(3);
    let sold = mercadolibre.sell(&mut random).await;
    let copy = tiendanube.sell_in_store("meli", &mut random).await;
    sync_all(&rig, &ids).await;
    compare_sales(&rig).await;
    for order in sold {
        assert!(mercadolibre.does(mercadolibre.deed_named("cancel"), order).await);
    }
    assert!(tiendanube.does(tiendanube.deed_named("cancel"), copy).await);
    sync_all(&rig, &ids).await;
    compare_sales(&rig).await;

    // Without Mercado Libre, what it has read still counts there, and copies of later sales where they are.
    let path = format!("/api/v1/integrations/{}", ids[0]);
    let ended = rig.service.process.request(reqwest::Method::DELETE, &path).bearer_auth(&rig.key).send().await.unwrap();
    assert_eq!(ended.status(), 200);
    rig.sync_of(tiendanube, ids[1]).await;
    compare_with(&rig, false).await;
}

async fn sync_all(rig: &Rig, ids: &[i64]) {
    for (platform, id) in rig.platforms.iter().zip(ids) {
        rig.sync_of(platform, *id).await;
    }
}
