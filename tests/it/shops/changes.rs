//! What happens in a shop afterwards is kept up with, whatever becomes of its hooks.

use serde_json::json;

use super::{
    ledger::compare_sales,
    rig::{Platform, Rig},
};

/// Orders are made, edited, cancelled and refunded, while hooks are lost, doubled and overtake each other; one poll later
/// everything is as it is there.
#[tokio::test]
async fn hooks_may_be_lost_doubled_and_overtaken() {
    let rig = Rig::start(Platform::tiendanube(120)).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    let faults = ["hook_twice", "hook_held", "hook_lost", "hook_held", "hook_twice", "hook_lost"];
    let mut orders = Vec::new();
    for (customer, fault) in (5..11).zip(faults) {
        rig.platform.happens("fault", &json!({ "fault": fault, "times": 2 })).await;
        let order = json!({ "variants": [7000, 7030], "quantity": 3, "customer": customer, "paid": true });
        orders.push(rig.platform.happens("orders", &order).await["id"].as_u64().unwrap());
    }
    let part = json!({ "refund_part": { "amount": "4.01", "told": true } });
    let happened = [json!("edit"), json!("cancel"), json!("refund"), part, json!("void"), json!("edit")];
    for ((order, what), fault) in orders.iter().zip(happened).zip(faults.into_iter().rev()) {
        rig.platform.happens("fault", &json!({ "fault": fault, "times": 2 })).await;
        rig.platform.happens(&format!("orders/{order}"), &what).await;
    }
    rig.sync(id).await;
    compare_sales(&rig).await;
}

/// A buyer asks to be forgotten: their orders keep their money.
#[tokio::test]
async fn a_buyer_is_forgotten() {
    let rig = Rig::start(Platform::tiendanube(160)).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    let truth = rig.platform.ask("truth").await;
    let orders = truth["orders"].as_object().unwrap().values().filter(|order| order["state"] == "taken");
    let buyer: u64 = orders.filter_map(|order| order["buyer"].as_str()).next().unwrap().parse().unwrap();
    rig.platform.happens("privacy", &json!({ "redact_customer": buyer })).await;
    let sql = rig.service.db.client().await.unwrap();
    rig.until("the buyer is forgotten", async || {
        let known = "SELECT count(*) FROM customers WHERE account_id = $1 AND external_id = $2";
        let row = sql.query_one(known, &[&rig.service.account, &buyer.to_string()]).await.unwrap();
        row.get::<_, i64>(0) == 0
    })
    .await;
    rig.sync(id).await;
    compare_sales(&rig).await;
}

/// The owner removes the app, and installs it again: the same orders are the same.
#[tokio::test]
async fn an_app_that_is_removed_and_installed_again_goes_on() {
    let rig = Rig::start(Platform::tiendanube(160)).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    rig.platform.happens("fault", &json!({ "fault": "uninstall" })).await;
    rig.wait(id, |connection| connection["status"] == "revoked").await;
    let order = json!({ "variants": [7000], "customer": 7, "paid": true });
    rig.platform.happens("orders", &order).await;
    let again = rig.connect().await;
    rig.wait_for_history(again).await;
    rig.sync(again).await;
    compare_sales(&rig).await;
}
