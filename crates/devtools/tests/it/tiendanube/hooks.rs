//! Hooks of the fake: subscribed to, signed, told again.

use std::{
    net::TcpListener,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration as RealDuration, Instant},
};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    web::{self, Bytes, Data},
};
use connectors::shops::{AppCredentials, tiendanube::TiendanubeHooks};
use domain::shops::{
    ShopError, ShopReader as _,
    hooks::{Hook, HookHeaders, HookRefused, HookVerifier as _, PrivacyRequest, Topic},
};
use serde_json::{Value, json};
use time::Duration;

use super::shop::{APP, NOW, SECRET, Shop};

/// Takes hooks, as the service does.
#[derive(Clone, Default)]
struct Receiver {
    taken: Arc<Mutex<Vec<Result<Hook, HookRefused>>>>,
    is_down: Arc<AtomicBool>,
}

struct Headers<'a>(&'a HttpRequest);

impl HookHeaders for Headers<'_> {
    fn one(&self, name: &str) -> Option<&str> {
        self.0.headers().get(name)?.to_str().ok()
    }
}

async fn receive(request: HttpRequest, body: Bytes, receiver: Data<Receiver>) -> HttpResponse {
    if receiver.is_down.load(Ordering::SeqCst) {
        return HttpResponse::ServiceUnavailable().finish();
    }
    let app = AppCredentials { client_id: APP.into(), client_secret: SECRET.into(), previous_secret: None };
    let hook = TiendanubeHooks::new(&app).verify(&Headers(&request), &body, NOW);
    receiver.taken.lock().unwrap().push(hook);
    HttpResponse::Ok().finish()
}

impl Receiver {
    /// Its address, once it listens.
    fn listen(&self) -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}/hook", listener.local_addr().unwrap());
        let data = Data::new(self.clone());
        let server = HttpServer::new(move || App::new().app_data(data.clone()).route("/hook", web::post().to(receive)));
        tokio::spawn(server.workers(1).listen(listener).unwrap().disable_signals().run());
        address
    }

    fn topics(&self) -> Vec<Topic> {
        self.taken.lock().unwrap().iter().map(|hook| hook.clone().unwrap().topic).collect()
    }

    /// Waits until so many hooks were taken.
    async fn wait_for(&self, count: usize) {
        let begun = Instant::now();
        while self.taken.lock().unwrap().len() < count {
            assert!(begun.elapsed() < RealDuration::from_secs(30), "{:?}", self.taken.lock().unwrap());
            tokio::time::sleep(RealDuration::from_millis(5)).await;
        }
    }
}

async fn subscribed() -> (Shop, Receiver) {
    let shop = Shop::open_with(40, |config| config.takes_local_hooks = true).await;
    let receiver = Receiver::default();
    shop.app.subscribe(&shop.access, &receiver.listen()).await.unwrap();
    (shop, receiver)
}

async fn state(shop: &Shop) -> Value {
    let url = shop.base.join("/_stub/hooks").unwrap();
    shop.client.get(url).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn subscribing_again_changes_nothing() {
    let (shop, receiver) = subscribed().await;
    let before = state(&shop).await["subscriptions"].clone();
    let address = before[0]["url"].as_str().unwrap().to_owned();
    shop.app.subscribe(&shop.access, &address).await.unwrap();
    assert_eq!(state(&shop).await["subscriptions"], before);
    assert_eq!(before.as_array().map(Vec::len), Some(13));
    assert!(receiver.topics().is_empty());
}

#[tokio::test]
async fn an_event_that_is_refused_keeps_no_other_from_being_subscribed_to() {
    let shop = Shop::open(0).await;
    shop.happens("fault", json!({ "fault": "hook_refused" })).await;
    let refused = shop.app.subscribe(&shop.access, "https://example.com/hook").await;
    assert_eq!(refused, Err(ShopError::Rejected("422 event".into())));
    assert_eq!(state(&shop).await["subscriptions"].as_array().map(Vec::len), Some(12));
    shop.app.subscribe(&shop.access, "https://example.com/hook").await.unwrap();
    assert_eq!(state(&shop).await["subscriptions"].as_array().map(Vec::len), Some(13));
}

#[tokio::test]
async fn hooks_go_to_https_only() {
    let shop = Shop::open(0).await;
    for address in ["http://example.com/hook", "https://localhost/hook", "http://127.0.0.1:1/hook"] {
        let refused = shop.app.subscribe(&shop.access, address).await;
        assert_eq!(refused, Err(ShopError::Rejected("422 url".into())), "{address}");
    }
    shop.app.subscribe(&shop.access, "https://example.com/hook").await.unwrap();
}

#[tokio::test]
async fn what_a_permission_is_missing_for_is_not_subscribed_to() {
    let shop = Shop::open_with(0, |config| config.scopes = vec!["read_products".into()]).await;
    shop.app.subscribe(&shop.access, "https://example.com/hook").await.unwrap();
    let subscriptions = state(&shop).await["subscriptions"].clone();
    let events: Vec<_> = subscriptions.as_array().unwrap().iter().map(|one| one["event"].as_str().unwrap()).collect();
    assert_eq!(events.len(), 6);
    assert!(events.iter().all(|event| !event.starts_with("order/")));
}

#[tokio::test]
async fn what_happens_is_told_signed() {
    let (shop, receiver) = subscribed().await;
    let made = shop.happens("orders", json!({ "variants": [7000], "paid": true })).await;
    receiver.wait_for(3).await;
    let id = made["id"].to_string();
    assert_eq!(receiver.topics(), vec![Topic::Order(Some(id)); 3]);
    for fault in ["suspend", "resume", "uninstall"] {
        shop.happens("fault", json!({ "fault": fault })).await;
    }
    shop.happens("privacy", json!("redact_shop")).await;
    shop.happens("privacy", json!({ "data_request": 5001 })).await;
    receiver.wait_for(8).await;
    let told = receiver.topics().split_off(3);
    let expected = [
        Topic::Suspended,
        Topic::Resumed,
        Topic::Uninstalled(None),
        Topic::Privacy(PrivacyRequest::RedactShop),
        Topic::Privacy(PrivacyRequest::Data { customer: "5001".into() }),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_hook_that_is_not_taken_comes_again() {
    let (shop, receiver) = subscribed().await;
    receiver.is_down.store(true, Ordering::SeqCst);
    shop.happens("fault", json!({ "fault": "suspend" })).await;
    // At once, and once more at once; then it waits for the clock.
    let begun = Instant::now();
    while state(&shop).await["waiting"][0]["attempts"] != 2 {
        assert!(begun.elapsed() < RealDuration::from_secs(30));
        tokio::time::sleep(RealDuration::from_millis(5)).await;
    }
    receiver.is_down.store(false, Ordering::SeqCst);
    shop.advance(Duration::minutes(4));
    assert!(receiver.topics().is_empty());
    shop.advance(Duration::minutes(1));
    receiver.wait_for(1).await;
    assert_eq!(receiver.topics(), [Topic::Suspended]);
}

#[tokio::test]
async fn hooks_are_lost_doubled_and_overtaken_on_demand() {
    let (shop, receiver) = subscribed().await;
    for fault in ["hook_lost", "hook_twice", "hook_held"] {
        shop.happens("fault", json!({ "fault": fault })).await;
        shop.happens("fault", json!({ "fault": "suspend" })).await;
    }
    shop.happens("fault", json!({ "fault": "resume" })).await;
    receiver.wait_for(4).await;
    assert_eq!(receiver.topics(), [Topic::Suspended, Topic::Suspended, Topic::Resumed, Topic::Suspended]);
}
