//! The platform's HTTP, and what only this one has under `/_stub`.

use std::{collections::HashMap, net::TcpListener, time::Duration};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::Server,
    http::StatusCode,
    web::{self, Bytes, Data, Json, Path},
};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::json;
use url::form_urlencoded;

use super::{Mercadolibre, answer::Answer, changes::Change, questions::Deed, sales::Query, seller::SITE};
use crate::shops::{Stub, bearer, broken, finish, routes};

pub fn server(stub: Mercadolibre, listener: TcpListener) -> std::io::Result<Server> {
    let stub = Data::new(stub);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(stub.clone())
            .configure(routes::<Mercadolibre>)
            .route("/_stub/notify", web::put().to(notify))
            .route("/_stub/forge", web::post().to(forge))
            .route("/_stub/orders", web::post().to(sell))
            .route("/_stub/orders/{id}/{change}", web::post().to(change))
            .route("/_stub/questions", web::get().to(asked))
            .route("/_stub/questions", web::post().to(ask))
            .route("/_stub/questions/{id}/{deed}", web::post().to(happen))
            .default_service(web::to(answer))
    });
    Ok(server.workers(1).listen(listener)?.disable_signals().shutdown_timeout(1).run())
}

/// Every call of the platform, with the faults that are due.
async fn answer(request: HttpRequest, body: Bytes, stub: Data<Mercadolibre>) -> HttpResponse {
    let common = stub.common();
    let is_token = request.path() == "/oauth/token";
    let is_answer = request.path() == "/answers";
    let (answer, location) = if let Some(status) = broken(&common.faults).await {
        (Answer::refused(status.as_u16(), "internal_error", "internal error"), None)
    } else if common.faults.take("throttle").is_some() || (stub.0.is_limited && !stub.open().takes_call()) {
        (Answer::refused(429, "local_rate_limited", "too many requests"), None)
    } else if request.path() == "/authorization" {
        authorize(&request, &stub)
    } else if is_token {
        (token(&request, &body, &stub), None)
    } else if is_answer {
        (reply(&request, &body, &stub).await, None)
    } else {
        (stub.call(&request, &body).unwrap_or_else(|refused| refused), None)
    };
    let mut response = HttpResponse::build(StatusCode::from_u16(answer.status).unwrap_or_default());
    let response = match location {
        Some(location) => response.insert_header(("location", location)).finish(),
        None => response.json(answer.body),
    };
    let lost = match (is_token, is_answer) {
        (true, _) => &["drop_reply", "lost_refresh"][..],
        (_, true) => &["drop_reply", "answer_lost"],
        _ => &["drop_reply"],
    };
    finish(common, &request, None, lost, response)
}

/// An answer to a question, with the faults that only it has.
async fn reply(request: &HttpRequest, body: &[u8], stub: &Mercadolibre) -> Answer {
    let faults = &stub.common().faults;
    let failed = |value: u64| {
        let status = u16::try_from(value).ok().filter(|status| (400..600).contains(status)).unwrap_or(500);
        Answer::refused(status, "internal_error", "internal error")
    };
    if let Some(value) = faults.take("answer_unwritten") {
        return failed(value);
    }
    let answer = stub.call(request, body).unwrap_or_else(|refused| refused);
    if answer.status == 200 {
        if let Some(milliseconds) = faults.take("answer_slow") {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        }
        if let Some(value) = faults.take("answer_error") {
            return failed(value);
        }
    }
    answer
}

fn pairs(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text).into_owned().collect()
}

fn authorize(request: &HttpRequest, stub: &Mercadolibre) -> (Answer, Option<String>) {
    let query: HashMap<String, String> = pairs(request.query_string().as_bytes()).into_iter().collect();
    match stub.open().grants.authorize(&stub.0.app, &query, stub.now()) {
        Ok(location) => (Answer { status: 302, body: json!({}) }, Some(location)),
        Err(refused) => (refused, None),
    }
}

/// Parameters in the address are refused: they would stand in logs.
fn token(request: &HttpRequest, body: &[u8], stub: &Mercadolibre) -> Answer {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let is_form = header("content-type").is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if request.method() != "POST" || !is_form || !request.query_string().is_empty() {
        return Answer::refused(400, "invalid_request", "a form in the body of a POST");
    }
    let mut state = stub.open();
    let seller = state.seller.id;
    state.grants.token(&stub.0.app, seller, &pairs(body), stub.now())
}

impl Mercadolibre {
    fn call(&self, request: &HttpRequest, body: &[u8]) -> Result<Answer, Answer> {
        let now = self.now();
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let mut state = self.open();
        state.grants.admit(bearer(request), now)?;
        let query = Query(pairs(request.query_string().as_bytes()));
        let path: Vec<&str> = request.path().trim_start_matches('/').split('/').collect();
        let own = state.seller.id.to_string();
        if request.method() == "DELETE" {
            return match path.as_slice() {
                ["users", user, "applications", app] if *user == own && *app == self.0.app.client_id => {
                    state.grants.revoke();
                    Ok(Answer::ok(json!({"user_id": state.seller.id, "app_id": self.0.app.client_id, "msg": "OK"})))
                }
                _ => Err(Answer::not_found()),
            };
        }
        if request.method() == "POST" && path.as_slice() == ["answers"] {
            if !header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
                return Err(Answer::refused(415, "unsupported_media_type", "application/json"));
            }
            let super::State { seller, questions, .. } = &mut *state;
            return questions.answer(seller.id, body, self.answer_lag(), now);
        }
        if request.method() != "GET" {
            return Err(Answer::refused(405, "method_not_allowed", "GET or DELETE"));
        }
        let has = |name: &str, value: &str| match header(name) {
            Some(own) if own == value => Ok(()),
            _ => Err(Answer::refused(400, "bad_request", name)),
        };
        let lag = state.lag;
        let super::State { seller, scans, questions, .. } = &mut *state;
        match path.as_slice() {
            ["users", "me"] => Ok(Answer::ok(json!({
                "id": seller.id, "nickname": "TIENDA", "country_id": "AR", "site_id": SITE, "tags": ["normal"],
                "status": {"site_status": "active"},
            }))),
            ["users", user, "items", "search"] if *user == own => seller.item_ids(&query, scans, now),
            ["questions", "search"] => questions.search(seller.id, &query, now),
            ["questions", id] => questions.one(seller.id, id, &query, now),
            ["orders", "search"] => seller.search(&query, lag, now),
            ["orders", id] => seller.order_by_id(id, now),
            ["orders", id, "discounts"] => seller.discounts(id),
            ["shipments", id, "costs"] => has("x-format-new", "true").and_then(|()| seller.shipment_costs(id)),
            ["shipments", id, "items"] => has("x-format-new", "true").and_then(|()| seller.shipment_items(id)),
            ["post-purchase", "v1", "claims", "search"] => seller.claims(&query),
            ["post-purchase", "v1", "claims", id] => seller.claim(id),
            ["post-purchase", "v2", "claims", id, "returns"] => seller.returns(id),
            ["items"] => seller.items(&query),
            ["user-products", id, "stock"] => seller.user_product_stock(id),
            ["categories", id] => Ok(Answer::ok(json!({"id": id, "name": format!("Categoría {id}")}))),
            ["missed_feeds"] if query.get("app_id") == Some(self.0.app.client_id.as_str()) => {
                self.0.hooks.missed(&query, now)
            }
            ["advertising", "advertisers"] => has("api-version", "1").and_then(|()| seller.advertisers(&query)),
            ["advertising", SITE, "advertisers", id, "product_ads", "campaigns", "search"] if *id == own => {
                has("api-version", "2").and_then(|()| seller.campaigns(&query))
            }
            ["advertising", SITE, "product_ads", "campaigns", id] => {
                has("api-version", "2").and_then(|()| seller.campaign(id, &query, now))
            }
            _ => Err(Answer::not_found()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notify {
    url: Option<String>,
}

async fn notify(to: Json<Notify>, stub: Data<Mercadolibre>) -> HttpResponse {
    stub.notify(to.into_inner().url);
    HttpResponse::NoContent().finish()
}

async fn forge(stub: Data<Mercadolibre>) -> HttpResponse {
    stub.forge();
    HttpResponse::NoContent().finish()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Purchase {
    orders: u64,
}

async fn sell(purchase: Json<Purchase>, stub: Data<Mercadolibre>) -> HttpResponse {
    HttpResponse::Created().json(json!({ "orders": stub.sell(purchase.orders.clamp(1, 20)) }))
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Parameters {
    amount: Option<Decimal>,
    units: Option<i64>,
    low_cost: bool,
}

async fn change(
    path: Path<(u64, String)>,
    parameters: Option<Json<Parameters>>,
    stub: Data<Mercadolibre>,
) -> HttpResponse {
    let (id, name) = path.into_inner();
    let Parameters { amount, units, low_cost } = parameters.map(Json::into_inner).unwrap_or_default();
    let change = match (name.as_str(), amount, units) {
        ("cancel", None, None) => Change::Cancel,
        ("refund", Some(amount), None) => Change::Refund(amount),
        ("return", None, units) => Change::Return { units: units.unwrap_or(1), is_low_cost: low_cost },
        ("account", None, None) => Change::IntoAccount,
        _ => {
            return HttpResponse::BadRequest()
                .json(json!({ "error": "cancel, refund with amount, return or account" }));
        }
    };
    if stub.change(id, change) { HttpResponse::NoContent().finish() } else { HttpResponse::NotFound().finish() }
}

async fn asked(stub: Data<Mercadolibre>) -> HttpResponse {
    HttpResponse::Ok().json(stub.asked())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    text: String,
}

async fn ask(question: Json<Words>, stub: Data<Mercadolibre>) -> HttpResponse {
    HttpResponse::Created().json(json!({ "id": stub.ask(&question.text) }))
}

async fn happen(path: Path<(u64, String)>, words: Option<Json<Words>>, stub: Data<Mercadolibre>) -> HttpResponse {
    let (id, name) = path.into_inner();
    let deed = match (name.as_str(), words) {
        ("answer", Some(words)) => Deed::Answer(words.into_inner().text),
        ("ban", None) => Deed::Ban,
        ("delete", None) => Deed::Delete,
        ("close", None) => Deed::Close,
        ("review", None) => Deed::Review,
        ("release", None) => Deed::Release,
        _ => {
            return HttpResponse::BadRequest()
                .json(json!({ "error": "answer with text, ban, delete, close, review or release" }));
        }
    };
    if stub.happen(id, deed) { HttpResponse::NoContent().finish() } else { HttpResponse::NotFound().finish() }
}
