//! What the fake platform refuses, and its hooks.

use std::{
    collections::BTreeSet,
    net::TcpListener,
    sync::{Arc, Mutex},
};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use domain::shops::{
    Secret, ShopError, ShopReader as _,
    hooks::{Hook, HookHeaders, HookRefused, HookVerifier as _, PrivacyRequest, Topic},
};
use rstest::rstest;
use serde_json::{Value, json};

use super::world::{NOW, SHOP, World, config};

async fn post(world: &World, version: &str, token: &Secret, query: &str) -> (u16, Value) {
    let url = format!("{}/{SHOP}/admin/api/{version}/graphql.json", world.base);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(url).header("x-shopify-access-token", token.expose()).json(&json!({ "query": query }));
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

#[rstest]
#[case("{ orders(first: 251) { nodes { id } } }", "BAD_REQUEST")]
#[case("{ orders { nodes { id } } }", "BAD_REQUEST")]
#[case("{ orders(first: 1) { nodes { total } } }", "undefinedField")]
#[case("{ orders(first: 1, updatedAfter: 1) { nodes { id } } }", "undefinedField")]
#[case(
    "{ orders(first: 250) { nodes { agreements(first: 250) { nodes { sales(first: 250) { nodes { id } } } } } } }",
    "MAX_COST_EXCEEDED"
)]
#[tokio::test]
async fn a_wrong_query_is_refused(#[case] query: &str, #[case] code: &str) {
    let world = World::new(config()).await;
    let (status, answer) = post(&world, "2026-07", &world.tokens.access, query).await;
    assert_eq!((status, &answer["errors"][0]["extensions"]["code"]), (200, &json!(code)), "{answer}");
    assert!(answer.get("data").is_none());
}

#[tokio::test]
async fn an_unknown_filter_matches_everything_with_a_warning() {
    let world = World::new(config()).await;
    let query = "{ orders(first: 2, query: \"updatd_at:>'2026-11-01'\") { nodes { id } } }";
    let (_, answer) = post(&world, "2026-07", &world.tokens.access, query).await;
    assert_eq!(answer["data"]["orders"]["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(answer["extensions"]["search"][0]["warnings"][0]["code"], "invalid_field");
}

#[tokio::test]
async fn an_unknown_version_or_token_is_refused() {
    let world = World::new(config()).await;
    assert_eq!(post(&world, "2025-10", &world.tokens.access, "{ shop { id } }").await.0, 404);
    assert_eq!(post(&world, "2026-07", &Secret::new("shpat_1".to_owned()), "{ shop { id } }").await.0, 401);
}

#[tokio::test]
async fn a_client_that_is_too_fast_is_throttled() {
    let mut config = config();
    config.rate = (100.0, 0.001);
    let world = World::new(config).await;
    let query = "{ orders(first: 250) { nodes { customer { id } transactions { id } } } }";
    let first = post(&world, "2026-07", &world.tokens.access, query).await.1;
    assert!(first["extensions"]["cost"]["actualQueryCost"].as_u64().unwrap() > 0);
    let mut answer = first;
    for _ in 0..5 {
        answer = post(&world, "2026-07", &world.tokens.access, query).await.1;
    }
    assert_eq!(answer["errors"][0]["extensions"]["code"], "THROTTLED");
    assert_eq!(answer["extensions"]["cost"]["actualQueryCost"], Value::Null);
}

#[rstest]
#[case("{ shop { id } }", "Bulk queries must contain at least one connection.")]
#[case("{ node(id: \\\"1\\\") { id } }", "Bulk queries cannot contain a top level `node` field.")]
#[case("{ orders { nodes { id } } }", "Bulk queries must select records by `edges` > `node`.")]
#[case(
    "{ orders { edges { node { agreements { edges { node { id } } } } } } }",
    "The parent 'node' field for a nested connection must select the 'id' field without an alias."
)]
#[case(
    "{ a: orders { edges { node { id } } } b: orders { edges { node { id } } } c: orders { edges { node { id } } } d: orders { edges { node { id } } } e: orders { edges { node { id } } } f: orders { edges { node { id } } } }",
    "Bulk queries cannot contain more than 5 connections."
)]
#[tokio::test]
async fn a_bulk_query_has_its_rules(#[case] query: &str, #[case] message: &str) {
    let world = World::new(config()).await;
    let query = format!(
        "mutation {{ bulkOperationRunQuery(query: \"{query}\") {{ bulkOperation {{ id }} userErrors {{ code message }} }} }}"
    );
    let (_, answer) = post(&world, "2026-07", &world.tokens.access, &query).await;
    let error = &answer["data"]["bulkOperationRunQuery"]["userErrors"][0];
    assert_eq!((&error["code"], &error["message"]), (&json!("INVALID"), &json!(message)), "{answer}");
}

#[tokio::test]
async fn five_bulk_operations_run_at_once() {
    let mut config = config();
    config.bulk_takes = std::time::Duration::from_secs(3_600);
    let world = World::new(config).await;
    let query =
        "mutation { bulkOperationRunQuery(query: \"{ orders { edges { node { id } } } }\") { userErrors { code } } }";
    let mut codes = Vec::new();
    for _ in 0..6 {
        let answer = post(&world, "2026-07", &world.tokens.access, query).await.1;
        codes.push(answer["data"]["bulkOperationRunQuery"]["userErrors"][0]["code"].clone());
    }
    assert_eq!(codes[..5], vec![Value::Null; 5]);
    assert_eq!(codes[5], "OPERATION_IN_PROGRESS");
}

struct Headers(Vec<(String, String)>);

impl HookHeaders for Headers {
    fn one(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

type Inbox = Arc<Mutex<Vec<(Headers, Vec<u8>)>>>;

/// A receiver of hooks that fails at the first one.
fn receiver() -> (String, Inbox) {
    let inbox = Inbox::default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hooks/shopify", listener.local_addr().unwrap());
    let shared = inbox.clone();
    let take = move |request: HttpRequest, body: web::Bytes| {
        let mut inbox = shared.lock().unwrap();
        let text = |value: &actix_web::http::header::HeaderValue| value.to_str().unwrap().to_owned();
        let headers = request.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        inbox.push((Headers(headers), body.to_vec()));
        let answer = if inbox.len() == 1 { HttpResponse::ServiceUnavailable() } else { HttpResponse::Ok() }.finish();
        async move { answer }
    };
    let server = HttpServer::new(move || App::new().default_service(web::to(take.clone())));
    tokio::spawn(server.workers(1).listen(listener).unwrap().disable_signals().run());
    (address, inbox)
}

/// The hooks that came, once there are so many.
async fn came(world: &World, inbox: &Inbox, count: usize) -> Vec<Result<Hook, HookRefused>> {
    let arrived = async {
        while inbox.lock().unwrap().len() < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), arrived).await.expect("the hooks come");
    let inbox = inbox.lock().unwrap();
    inbox.iter().map(|(headers, body)| world.shopify.verify(headers, body, NOW)).collect()
}

#[tokio::test]
async fn hooks_are_asked_for_once_and_come_signed_and_again_until_they_are_taken() {
    let world = World::new(config()).await;
    let (address, inbox) = receiver();
    world.shopify.subscribe(&world.access, &address).await.unwrap();
    let asked = world.sent("Subscribe");
    world.shopify.subscribe(&world.access, &address).await.unwrap();
    assert_eq!((asked, world.sent("Subscribe")), (12, 12), "nothing is asked for twice");
    let id = world.stub.change("delete", first(&world)).unwrap().to_string();
    let hooks = came(&world, &inbox, 2).await;
    let hooks: Vec<Hook> = hooks.into_iter().map(Result::unwrap).collect();
    assert_eq!(hooks[0], hooks[1], "the same hook again, as it was not taken");
    assert_eq!((hooks[0].shop_id.as_str(), &hooks[0].topic), (SHOP, &Topic::Order(Some(id))));
    world.stub.change("redact_customer", 77).unwrap();
    let last = came(&world, &inbox, 3).await.pop().unwrap().unwrap();
    let forget = PrivacyRequest::RedactCustomer { customer: "77".to_owned(), orders: vec![] };
    assert_eq!(last.topic, Topic::Privacy(forget));
    let (headers, body) = inbox.lock().unwrap().pop().unwrap();
    let mut changed = body;
    changed.push(b' ');
    assert_eq!(world.shopify.verify(&headers, &changed, NOW), Err(HookRefused::Forged));
}

#[tokio::test]
async fn a_topic_that_is_refused_keeps_no_other_from_being_asked_for() {
    let world = World::new(config()).await;
    world.fault("hook_refused", 1, 0);
    let refused = world.shopify.subscribe(&world.access, "https://api.example.com/hooks/shopify").await;
    assert!(matches!(refused, Err(ShopError::Rejected(_))), "{refused:?}");
    assert_eq!(world.sent("Subscribe"), 12);
    world.shopify.subscribe(&world.access, "https://api.example.com/hooks/shopify").await.unwrap();
    assert_eq!(world.sent("Subscribe"), 13, "the one that was refused");
}

/// The platform names all of them by one event; the first one is sent twice, as it is not taken.
#[tokio::test]
async fn what_one_act_leads_to_is_taken_hook_by_hook() {
    let world = World::new(config()).await;
    let (address, inbox) = receiver();
    world.shopify.subscribe(&world.access, &address).await.unwrap();
    world.stub.change("sell", 0).unwrap();
    let hooks: Vec<Hook> = came(&world, &inbox, 4).await.into_iter().map(Result::unwrap).collect();
    let told: BTreeSet<(String, String)> = hooks.into_iter().map(|hook| (hook.topic_name, hook.dedup_key)).collect();
    let topics: Vec<&str> = told.iter().map(|(topic, _)| topic.as_str()).collect();
    let keys: BTreeSet<&str> = told.iter().map(|(_, key)| key.as_str()).collect();
    assert_eq!((topics, keys.len()), (vec!["inventory_levels/update", "orders/create", "orders/updated"], 3));
    let inbox = inbox.lock().unwrap();
    let events: BTreeSet<&str> = inbox.iter().filter_map(|(headers, _)| headers.one("x-shopify-event-id")).collect();
    assert_eq!(events.len(), 1);
}

fn first(world: &World) -> u64 {
    world.truth().orders.keys().next().unwrap().parse().unwrap()
}
