//! The platform's HTTP.

use std::net::TcpListener;

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::Server,
    web::{self, Bytes, Data, Json, Path, Query},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    ShopifyStub, VERSIONS,
    oauth::{Admitted, Asked, callback, is_app},
    server::{Answered, Unresolved},
};
use crate::shops::{self, Stub as _};

pub fn server(stub: ShopifyStub, listener: TcpListener) -> std::io::Result<Server> {
    let stub = Data::new(stub);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(stub.clone())
            .app_data(web::PayloadConfig::new(1 << 20))
            .configure(shops::routes::<ShopifyStub>)
            .route("/_stub/act", web::post().to(act))
            .route("/{shop}/admin/oauth/authorize", web::get().to(authorize))
            .route("/{shop}/admin/oauth/access_token", web::post().to(token))
            .route("/{shop}/admin/api/{version}/graphql.json", web::post().to(graphql))
            .route("/{shop}/_files/{file}", web::get().to(file))
    });
    Ok(server.workers(1).listen(listener)?.disable_signals().shutdown_timeout(1).run())
}

/// What every answer passes.
fn finish(stub: &ShopifyStub, request: &HttpRequest, what: Option<String>, answer: HttpResponse) -> HttpResponse {
    shops::finish(stub.common(), request, what, &["drop_reply"], answer)
}

/// A fault that comes before anything is done.
async fn fault(stub: &ShopifyStub) -> Option<HttpResponse> {
    let faults = &stub.common().faults;
    if let Some(status) = shops::broken(faults).await {
        return Some(HttpResponse::build(status).body("<html>Something went wrong</html>"));
    }
    let seconds = faults.take("throttle")?.max(1);
    Some(
        HttpResponse::TooManyRequests()
            .insert_header(("retry-after", format!("{seconds}.0")))
            .json(json!({ "errors": "Exceeded 2 calls per second for api client. Reduce request rates to resume." })),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphQl {
    query: String,
    #[serde(default)]
    variables: Option<Map<String, Value>>,
}

async fn graphql(
    request: HttpRequest,
    path: Path<(String, String)>,
    body: Bytes,
    stub: Data<ShopifyStub>,
) -> HttpResponse {
    let parsed: Result<GraphQl, _> = serde_json::from_slice(&body);
    let name = parsed.as_ref().ok().map(|asked| name(&asked.query));
    let answer = match fault(&stub).await {
        Some(answer) => answer,
        None => graphql_answer(&stub, &request, &path, parsed.ok()),
    };
    finish(&stub, &request, name, answer)
}

/// What a query is called.
fn name(query: &str) -> String {
    let word = |c: &char| c.is_alphanumeric();
    let mut words = query.split_whitespace();
    match (words.next(), words.next()) {
        (Some("query" | "mutation"), Some(name)) => name.chars().take_while(word).collect(),
        _ => "anonymous".to_owned(),
    }
}

fn graphql_answer(
    stub: &ShopifyStub,
    request: &HttpRequest,
    path: &(String, String),
    parsed: Option<GraphQl>,
) -> HttpResponse {
    let (shop, version) = path;
    if !VERSIONS.contains(&version.as_str()) || *shop != stub.0.config.shop {
        return HttpResponse::NotFound().json(json!({ "errors": "Not Found" }));
    }
    let token = request.headers().get("x-shopify-access-token").and_then(|token| token.to_str().ok());
    let now = stub.now();
    let (admitted, is_suspended) = {
        let mut state = stub.lock();
        (state.pairs.admit(token.unwrap_or_default(), now), state.is_suspended)
    };
    match admitted {
        Admitted::Yes => {}
        Admitted::No => {
            let text = "[API] Invalid API key or access token (unrecognized login or wrong password)";
            return HttpResponse::Unauthorized().json(json!({ "errors": text }));
        }
        Admitted::NonExpiring => {
            let text = "Non-expiring access tokens are no longer accepted for the Admin API";
            return HttpResponse::Forbidden().json(json!({ "errors": text }));
        }
    }
    if is_suspended {
        return HttpResponse::PaymentRequired().json(json!({ "errors": "Unavailable Shop" }));
    }
    if request.headers().get("content-type").is_none_or(|kind| kind != "application/json") {
        return HttpResponse::UnsupportedMediaType().finish();
    }
    let Some(GraphQl { query, variables }) = parsed else {
        return HttpResponse::BadRequest().json(json!({ "errors": "Bad Request" }));
    };
    let base = format!("http://{}", request.connection_info().host());
    match stub.run(&query, variables.unwrap_or_default(), &base) {
        Ok(Answered { body, uninstalled }) => {
            if uninstalled {
                stub.notify_uninstalled();
            }
            HttpResponse::Ok().json(body)
        }
        Err(Unresolved(message)) => HttpResponse::NotImplemented().json(json!({ "errors": message })),
    }
}

#[derive(Deserialize)]
struct Authorize {
    client_id: String,
    scope: String,
    redirect_uri: String,
    state: String,
}

async fn authorize(
    request: HttpRequest,
    shop: Path<String>,
    asked: Query<Authorize>,
    stub: Data<ShopifyStub>,
) -> HttpResponse {
    let config = &stub.0.config;
    if *shop != config.shop || asked.client_id != config.client_id {
        return finish(&stub, &request, None, HttpResponse::NotFound().body("no such shop or app"));
    }
    let now = stub.now();
    let scopes = config.scopes.as_ref().map_or_else(|| asked.scope.clone(), |scopes| scopes.join(","));
    let code = stub.lock().pairs.code(scopes, now);
    let timestamp = now.unix_timestamp().to_string();
    let parameters = [
        ("code", code.as_str()),
        ("host", "YWRtaW4uc2hvcGlmeS5jb20vc3RvcmUvZXhhbXBsZQ=="),
        ("shop", shop.as_str()),
        ("state", asked.state.as_str()),
        ("timestamp", timestamp.as_str()),
    ];
    let answer = match callback(&asked.redirect_uri, &config.client_secret, &parameters) {
        Some(url) => HttpResponse::Found().insert_header(("location", url.as_str())).finish(),
        None => HttpResponse::BadRequest().body("redirect_uri is no address"),
    };
    finish(&stub, &request, None, answer)
}

async fn token(request: HttpRequest, shop: Path<String>, body: Bytes, stub: Data<ShopifyStub>) -> HttpResponse {
    let answer = match fault(&stub).await {
        Some(answer) => answer,
        None => token_answer(&stub, &shop, &body),
    };
    finish(&stub, &request, None, answer)
}

fn token_answer(stub: &ShopifyStub, shop: &str, body: &[u8]) -> HttpResponse {
    let config = &stub.0.config;
    let refused = |error: &str| {
        HttpResponse::BadRequest().json(json!({ "error": error, "error_description": "This request has an error" }))
    };
    let Ok(asked) = serde_json::from_slice::<Asked>(body) else { return refused("invalid_request") };
    if shop != config.shop || !is_app(&asked, &config.client_id, &config.client_secret) {
        return refused("application_cannot_be_found");
    }
    let mut state = stub.lock();
    match state.pairs.token(&asked, stub.now()) {
        Ok((mut answer, scopes)) => {
            if let Some(scopes) = scopes {
                state.scopes = scopes.split(',').map(str::to_owned).collect();
            }
            if let Some(answer) = answer.as_object_mut() {
                answer.insert("scope".to_owned(), json!(state.scopes.join(",")));
            }
            HttpResponse::Ok().json(answer)
        }
        Err(error) => refused(error),
    }
}

async fn file(request: HttpRequest, path: Path<(String, String)>, stub: Data<ShopifyStub>) -> HttpResponse {
    let (_, name) = path.into_inner();
    let number = name.strip_suffix(".jsonl").and_then(|number| number.parse::<usize>().ok());
    let file = {
        let state = stub.lock();
        number.and_then(|number| state.bulks.get(number)).map(super::bulk::Bulk::file)
    };
    let answer = match file {
        Some(file) => HttpResponse::Ok().content_type("application/jsonl").body(file),
        None => HttpResponse::NotFound().finish(),
    };
    finish(&stub, &request, None, answer)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Act {
    action: String,
    /// Of the order, or the customer.
    #[serde(default)]
    id: u64,
}

async fn act(act: Json<Act>, stub: Data<ShopifyStub>) -> HttpResponse {
    let Act { action, id } = act.into_inner();
    match stub.change(&action, id) {
        Some(id) => HttpResponse::Ok().json(json!({ "id": id })),
        None => HttpResponse::BadRequest().json(json!({ "error": "no such action or order" })),
    }
}

impl ShopifyStub {
    /// Something happens in the shop, with its hooks; the order or customer that it happened to.
    pub fn change(&self, action: &str, id: u64) -> Option<u64> {
        let now = self.now();
        let mut state = self.lock();
        let shop = &mut state.shop;
        let (id, done) = match action {
            "sell" => (shop.sell(now), true),
            "sell_gift_card" => (shop.sell_gift_card(false, now)?, true),
            "sell_with_gift_card" => (shop.sell_gift_card(true, now)?, true),
            "edit" => (id, shop.edit(id, now)),
            "refund" => (id, shop.refund(id, now)),
            "exchange" => (id, shop.exchange(id, now)),
            "cancel" => (id, shop.cancel(id, now)),
            "pay" => (id, shop.pay(id, now)),
            "delete" => (id, shop.delete(id)),
            "data_request" | "redact_customer" | "redact_shop" => {
                let orders = shop.orders_of(id);
                if action == "redact_customer" {
                    shop.forget(id);
                }
                drop(state);
                self.notify_privacy(action, id, &orders);
                return Some(id);
            }
            _ => return None,
        };
        drop(state);
        done.then(|| self.notify_order(action, id))?;
        Some(id)
    }
}
