//! Pages where a person pays: opened by the service, as at the real gateway, and paid on with a browser.

use std::collections::BTreeMap;

use actix_web::{
    HttpRequest, HttpResponse,
    http::{StatusCode, header},
    web::{Data, Form, Json, Path},
};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::{
    Gateway,
    book::{OpenCheckout, Status},
    http::{is_admitted, is_amount, refuse, slow},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Asked {
    amount: String,
    currency: String,
    metadata: BTreeMap<String, String>,
    success_url: String,
    cancel_url: String,
}

/// Opens a page.
pub async fn open(request: HttpRequest, body: Json<Value>, gateway: Data<Gateway>) -> HttpResponse {
    if !is_admitted(&gateway, &request) {
        return refuse(StatusCode::UNAUTHORIZED, "unauthorized");
    }
    let faults = gateway.book.open().faults.clone();
    slow(&faults).await;
    let Ok(asked) = serde_json::from_value::<Asked>(body.into_inner()) else {
        return refuse(StatusCode::BAD_REQUEST, "invalid_request");
    };
    let Asked { amount, currency, metadata, success_url, cancel_url } = asked;
    let is_code = currency.len() == 3 && currency.bytes().all(|letter| letter.is_ascii_uppercase());
    if !is_amount(&amount) || !is_code {
        return refuse(StatusCode::BAD_REQUEST, "invalid_amount");
    }
    let (Ok(success_url), Ok(cancel_url)) = (Url::parse(&success_url), Url::parse(&cancel_url)) else {
        return refuse(StatusCode::BAD_REQUEST, "invalid_url");
    };
    if faults.broken {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "broken");
    }
    let id = uuid::Uuid::new_v4().simple().to_string();
    let url = format!("http://{}/checkout/{id}", request.connection_info().host());
    let page = OpenCheckout { amount, currency, metadata, success_url, cancel_url };
    gateway.book.open().checkouts.insert(id.clone(), page);
    HttpResponse::Created().json(json!({ "id": id, "url": url }))
}

/// The page.
pub async fn show(id: Path<String>, gateway: Data<Gateway>) -> HttpResponse {
    let Some(OpenCheckout { amount, currency, cancel_url, .. }) = gateway.book.open().checkouts.get(&*id).cloned()
    else {
        return refuse(StatusCode::NOT_FOUND, "not_found");
    };
    // An address as `Url` writes it has neither quotes nor angle brackets; `&` is what is left.
    let cancel = cancel_url.as_str().replace('&', "&amp;");
    let page = format!(
        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Checkout</title><h1>Pay {amount} {currency}</h1><p>This gateway is for development. It takes no money.</p>\
         <form method=\"post\"><p><label>E-mail <input name=\"email\" type=\"email\" required value=\"me@example.com\">\
         </label></p><p><button>Pay</button> <a href=\"{cancel}\">Cancel</a></p></form></html>"
    );
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8")).body(page)
}

#[derive(Deserialize)]
pub struct Payer {
    email: String,
}

/// Pays, once, and leads back to the shop.
pub async fn pay(id: Path<String>, payer: Form<Payer>, gateway: Data<Gateway>) -> HttpResponse {
    let (payment, faults, back) = {
        let mut book = gateway.book.open();
        let Some(page) = book.checkouts.remove(&*id) else {
            return refuse(StatusCode::NOT_FOUND, "not_found");
        };
        let status = if book.faults.pending { Status::Pending } else { Status::Succeeded };
        let customer = book.customer(&payer.email);
        let payment = book.add(status, page.amount, page.currency, customer, page.metadata);
        (payment, book.faults.clone(), page.success_url)
    };
    gateway.notifier.tell(&payment, &faults);
    HttpResponse::SeeOther().insert_header((header::LOCATION, back.as_str())).finish()
}
