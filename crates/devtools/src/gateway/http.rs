//! The gateway's HTTP: what the real one has under `/v1`, and what only this one has under `/dev`.

use std::{collections::BTreeMap, net::TcpListener, time::Duration};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::Server,
    error::{self, JsonPayloadError},
    http::StatusCode,
    web::{self, Bytes, Data, Json, Path},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Gateway,
    book::{Customer, Faults, Payment, RecordedCharge, Status},
    checkout,
};
use crate::shops::bearer;

const HELP: &str = "\
A payment gateway for development. It takes no money and forgets everything when it ends.

POST /v1/payments               charge a customer   (Authorization: Bearer …, Idempotency-Key)
GET  /v1/payments/{id}          look a payment up   (Authorization: Bearer …)
POST /v1/checkouts              open a page where a person pays (Authorization: Bearer …)
GET  /checkout/{id}             that page

POST /dev/checkout              pay as a person: {\"account_id\":1,\"item\":\"credits_500\",\"email\":\"me@example.com\"}
                                also \"status\":\"PENDING\", \"amount\":\"1.00\", \"currency\":\"ARS\"
GET  /dev/payments              all payments
POST /dev/payments/{id}         {\"status\":\"SUCCEEDED|FAILED|REFUNDED|CHARGEBACK|PENDING\"}
PUT  /dev/notify                {\"url\":\"http://127.0.0.1:8080/hooks/payments/rebill\"}
PUT  /dev/faults                {\"slow_ms\":0,\"decline\":null,\"lost_answers\":0,\"pending\":false,\"duplicate\":0,
                                 \"reordered\":false,\"silent\":false,\"broken\":false,\"bare\":false}
";

pub fn server(gateway: Gateway, listener: TcpListener) -> std::io::Result<Server> {
    let gateway = Data::new(gateway);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(gateway.clone())
            .app_data(web::JsonConfig::default().error_handler(unreadable))
            .route("/", web::get().to(async || HELP))
            .route("/v1/payments", web::post().to(charge))
            .route("/v1/payments/{id}", web::get().to(find))
            .route("/v1/checkouts", web::post().to(checkout::open))
            .route("/checkout/{id}", web::get().to(checkout::show))
            .route("/checkout/{id}", web::post().to(checkout::pay))
            .route("/dev/checkout", web::post().to(pay))
            .route("/dev/payments", web::get().to(list))
            .route("/dev/payments/{id}", web::post().to(change))
            .route("/dev/notify", web::put().to(set_notify))
            .route("/dev/faults", web::put().to(set_faults))
    });
    Ok(server.workers(1).listen(listener)?.disable_signals().shutdown_timeout(1).run())
}

pub(super) fn refuse(status: StatusCode, code: &str) -> HttpResponse {
    HttpResponse::build(status).json(json!({ "code": code }))
}

fn unreadable(fault: JsonPayloadError, _: &HttpRequest) -> actix_web::Error {
    let text = fault.to_string();
    error::InternalError::from_response(
        fault,
        HttpResponse::BadRequest().json(json!({ "code": "invalid_request", "message": text })),
    )
    .into()
}

/// Whether the request carries the key.
pub(super) fn is_admitted(gateway: &Gateway, request: &HttpRequest) -> bool {
    bearer(request).is_some_and(|token| gateway.knows(token))
}

pub(super) async fn slow(faults: &Faults) {
    tokio::time::sleep(Duration::from_millis(faults.slow_ms)).await;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Charge {
    customer_id: String,
    amount: String,
    currency: String,
    metadata: BTreeMap<String, String>,
}

async fn charge(request: HttpRequest, body: Json<Value>, gateway: Data<Gateway>) -> HttpResponse {
    if !is_admitted(&gateway, &request) {
        return refuse(StatusCode::UNAUTHORIZED, "unauthorized");
    }
    let Some(key) = request.headers().get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned)
    else {
        return refuse(StatusCode::BAD_REQUEST, "idempotency_key_missing");
    };
    let body = body.into_inner();
    let faults = gateway.book.open().faults.clone();
    let charged = charge_once(&gateway, &key, body, &faults);
    slow(&faults).await;
    let lost = {
        let left = &mut gateway.book.open().faults.lost_answers;
        let lost = *left > 0;
        *left = left.saturating_sub(1);
        lost
    };
    if lost {
        let broken = futures_util::stream::once(async { Err::<Bytes, _>(error::ErrorInternalServerError("lost")) });
        return HttpResponse::Created().streaming(broken);
    }
    match charged {
        Ok(payment) => HttpResponse::Created().json(answered(&payment, &faults)),
        Err((status, code)) => refuse(status, &code),
    }
}

fn answered(payment: &Payment, faults: &Faults) -> Value {
    let mut answer = json!(payment);
    if faults.bare
        && let Value::Object(fields) = &mut answer
    {
        fields.extend(["invoiceId", "customer"].map(|field| (field.to_owned(), Value::Null)));
    }
    answer
}

type Refused = (StatusCode, String);

/// The first answer under the key, or a new payment.
fn charge_once(gateway: &Gateway, key: &str, body: Value, faults: &Faults) -> Result<Payment, Refused> {
    let mut book = gateway.book.open();
    if let Some(RecordedCharge { body: before, answer }) = book.charges.get(key).cloned() {
        if before != body {
            return Err((StatusCode::CONFLICT, "idempotency_key_reused".to_owned()));
        }
        let id = answer.map_err(|code| (StatusCode::PAYMENT_REQUIRED, code))?;
        return book.payments.get(&id).cloned().ok_or((StatusCode::NOT_FOUND, "not_found".to_owned()));
    }
    let invalid = |code: &str| (StatusCode::BAD_REQUEST, code.to_owned());
    let asked: Charge = serde_json::from_value(body.clone()).map_err(|_| invalid("invalid_request"))?;
    let customer = book.customer_of(&asked.customer_id).ok_or_else(|| invalid("unknown_customer"))?;
    if !is_amount(&asked.amount) || asked.currency.len() != 3 {
        return Err(invalid("invalid_amount"));
    }
    if let Some(code) = &faults.decline {
        book.charges.insert(key.to_owned(), RecordedCharge { body, answer: Err(code.clone()) });
        return Err((StatusCode::PAYMENT_REQUIRED, code.clone()));
    }
    let status = if faults.pending { Status::Pending } else { Status::Succeeded };
    let payment = book.add(status, asked.amount, asked.currency, customer, asked.metadata);
    book.charges.insert(key.to_owned(), RecordedCharge { body, answer: Ok(payment.id.clone()) });
    drop(book);
    gateway.notifier.tell(&payment, faults);
    Ok(payment)
}

/// Digits, and perhaps a dot and some more.
pub(super) fn is_amount(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(part) && text.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}

async fn find(request: HttpRequest, id: Path<String>, gateway: Data<Gateway>) -> HttpResponse {
    if !is_admitted(&gateway, &request) {
        return refuse(StatusCode::UNAUTHORIZED, "unauthorized");
    }
    let (faults, payment) = {
        let book = gateway.book.open();
        (book.faults.clone(), book.payments.get(id.as_str()).cloned())
    };
    slow(&faults).await;
    match payment {
        _ if faults.broken => refuse(StatusCode::INTERNAL_SERVER_ERROR, "broken"),
        Some(payment) => HttpResponse::Ok().json(answered(&payment, &faults)),
        None => refuse(StatusCode::NOT_FOUND, "not_found"),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checkout {
    account_id: i64,
    item: String,
    email: String,
    #[serde(default)]
    status: Status,
    amount: Option<String>,
    currency: Option<String>,
}

async fn pay(asked: Json<Checkout>, gateway: Data<Gateway>) -> HttpResponse {
    let Checkout { account_id, item, email, status, amount, currency } = asked.into_inner();
    let packs = gateway.prices.packs().iter().map(|pack| (pack.key.clone(), pack.price));
    let plans = gateway.prices.plans().iter().map(|plan| (plan.key(), plan.price));
    let listed = packs.chain(plans).find(|(key, _)| *key == item).map(|(_, price)| price);
    let amount = amount.or_else(|| listed.map(|price| price.amount.to_string()));
    let currency = currency.or_else(|| listed.map(|price| price.currency.to_string()));
    let (Some(amount), Some(currency)) = (amount, currency) else {
        return refuse(StatusCode::BAD_REQUEST, "unknown_item");
    };
    let metadata = BTreeMap::from([("account_id".to_owned(), account_id.to_string()), ("item".to_owned(), item)]);
    let (payment, faults) = {
        let mut book = gateway.book.open();
        let customer: Customer = book.customer(&email);
        (book.add(status, amount, currency, customer, metadata), book.faults.clone())
    };
    gateway.notifier.tell(&payment, &faults);
    HttpResponse::Created().json(payment)
}

async fn list(gateway: Data<Gateway>) -> HttpResponse {
    let payments: Vec<_> = gateway.book.open().payments.values().cloned().collect();
    HttpResponse::Ok().json(payments)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changed {
    status: Status,
}

async fn change(id: Path<String>, to: Json<Changed>, gateway: Data<Gateway>) -> HttpResponse {
    let (payment, faults) = {
        let mut book = gateway.book.open();
        let Some(payment) = book.payments.get_mut(id.as_str()) else {
            return refuse(StatusCode::NOT_FOUND, "not_found");
        };
        payment.status = to.status;
        (payment.clone(), book.faults.clone())
    };
    gateway.notifier.tell(&payment, &faults);
    HttpResponse::Ok().json(payment)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notify {
    url: String,
}

async fn set_notify(to: Json<Notify>, gateway: Data<Gateway>) -> HttpResponse {
    gateway.notify(to.into_inner().url);
    HttpResponse::NoContent().finish()
}

async fn set_faults(faults: Json<Faults>, gateway: Data<Gateway>) -> HttpResponse {
    gateway.book.open().faults = faults.into_inner();
    HttpResponse::NoContent().finish()
}
