//! Notifications as they arrive.

use std::net::TcpListener;

use actix_web::{App, HttpResponse, HttpServer, web};
use devtools::shops::Stub as _;
use domain::shops::hooks::{Hook, HookHeaders, HookRefused, HookVerifier as _, Topic};
use tokio::sync::mpsc;

use super::shop::{NOW, Shop};

struct NoHeaders;

impl HookHeaders for NoHeaders {
    fn one(&self, _: &str) -> Option<&str> {
        None
    }
}

/// A receiver that answers with the status and gives the bodies on.
fn receiver(status: u16) -> (String, mpsc::UnboundedReceiver<Vec<u8>>) {
    let (sender, bodies) = mpsc::unbounded_channel();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/hooks/mercadolibre", listener.local_addr().unwrap());
    let server = HttpServer::new(move || {
        let sender = sender.clone();
        App::new().default_service(web::to(move |body: web::Bytes| {
            sender.send(body.to_vec()).unwrap();
            async move { HttpResponse::build(status.try_into().unwrap()).finish() }
        }))
    });
    tokio::spawn(server.workers(1).listen(listener).unwrap().disable_signals().run());
    (url, bodies)
}

fn verify(shop: &Shop, body: &[u8]) -> Result<Hook, HookRefused> {
    shop.app.verify(&NoHeaders, body, NOW)
}

#[tokio::test]
async fn a_sale_is_told_with_its_number() {
    let shop = Shop::open(21, 10, 10).await;
    let (url, mut bodies) = receiver(200);
    shop.stub.notify(Some(url));
    shop.stub.common().faults.set("hook_twice", 1, 0);
    let id = shop.stub.sell(1)[0].to_string();
    let hooks = [bodies.recv().await.unwrap(), bodies.recv().await.unwrap()].map(|body| verify(&shop, &body).unwrap());
    assert_eq!(hooks[0].topic, Topic::Order(Some(id)));
    assert_eq!(hooks[0].shop_id, shop.access.shop_id);
    assert_eq!(hooks[0].dedup_key, hooks[1].dedup_key);
}

#[tokio::test]
async fn one_that_is_not_taken_comes_again_under_the_same_key() {
    let shop = Shop::open(22, 10, 10).await;
    let (url, mut bodies) = receiver(503);
    shop.stub.notify(Some(url));
    shop.stub.sell(1);
    let first = bodies.recv().await.unwrap();
    let second = bodies.recv().await.unwrap();
    assert_ne!(first, second, "the attempt is counted");
    assert_eq!(verify(&shop, &first).unwrap().dedup_key, verify(&shop, &second).unwrap().dedup_key);
}

#[tokio::test]
async fn what_is_forged_is_foreign_or_of_a_seller_who_is_not_connected() {
    let shop = Shop::open(23, 10, 10).await;
    let (url, mut bodies) = receiver(200);
    shop.stub.notify(Some(url));
    shop.stub.forge();
    for _ in 0..4 {
        match verify(&shop, &bodies.recv().await.unwrap()) {
            Ok(hook) => assert_ne!(hook.shop_id, shop.access.shop_id),
            Err(refused) => assert_eq!(refused, HookRefused::Foreign),
        }
    }
}
