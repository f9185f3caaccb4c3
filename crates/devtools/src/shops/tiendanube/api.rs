//! `/2025-03/{store}`: what an app may read, and what it subscribes to.

use std::collections::BTreeMap;

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{self, Bytes, Data, Path, Query, ServiceConfig},
};
use serde::Deserialize;
use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    Inner, Tiendanube,
    delivery::{Subscription, scope_of},
    gate::{Refusal, admit, refuse, refuse_field, with_limits},
    store::Order,
    view,
};
use crate::shops::Stub;

/// Orders that one query gives at most.
const CAP: usize = 10_000;
const DEFAULT_PER_PAGE: usize = 30;
const MAX_PER_PAGE: usize = 200;
/// Parameters of every list.
const LIST: [&str; 4] = ["page", "per_page", "fields", "aggregates"];
const ORDERS: [&str; 4] = ["created_at_min", "created_at_max", "updated_at_min", "updated_at_max"];
const NOT_FOUND: StatusCode = StatusCode::NOT_FOUND;

type Parameters = Query<BTreeMap<String, String>>;

pub fn routes(config: &mut ServiceConfig) {
    config.service(
        web::scope("/2025-03/{store}")
            .route("/store", web::get().to(store))
            .route("/orders", web::get().to(orders))
            .route("/orders/{id}", web::get().to(order))
            .route("/orders/{id}/history/values", web::get().to(history))
            .route("/products", web::get().to(products))
            .route("/webhooks", web::get().to(subscriptions))
            .route("/webhooks", web::post().to(subscribe)),
    );
}

/// The answer, or the refusal: both are one.
fn answer(given: Result<HttpResponse, Refusal>) -> HttpResponse {
    given.unwrap_or_else(|refusal| *refusal)
}

/// The fields that were asked for.
fn pick(mut record: Value, parameters: &Parameters) -> Value {
    if let (Some(fields), Value::Object(record)) = (parameters.get("fields"), &mut record) {
        record.retain(|name, _| fields.split(',').any(|field| field == name));
    }
    record
}

fn only_known(parameters: &Parameters, known: &[&str]) -> Result<(), Refusal> {
    match parameters.keys().find(|name| !LIST.contains(&name.as_str()) && !known.contains(&name.as_str())) {
        // Not as the platform, which may ignore it: a misspelt filter must not go unnoticed here.
        Some(unknown) => Err(refuse_field(unknown, "no such parameter")),
        None => Ok(()),
    }
}

/// A page of a list of `total` records, of which it gives those from one to before another, and `shown` of them as JSON.
fn page(
    stub: &Tiendanube,
    inner: &Inner,
    (request, parameters): (&HttpRequest, &Parameters),
    total: usize,
    shown: impl FnOnce(std::ops::Range<usize>) -> Vec<Value>,
) -> Result<HttpResponse, Refusal> {
    let number = |name: &str, default: usize| match parameters.get(name).map(|text| text.parse::<usize>()) {
        None => Ok(default),
        Some(Ok(number)) if number > 0 => Ok(number),
        Some(_) => Err(refuse_field(name, "must be a positive number")),
    };
    let per_page = number("per_page", DEFAULT_PER_PAGE)?.min(MAX_PER_PAGE);
    let page = number("page", 1)?;
    let last = total.div_ceil(per_page);
    if page > last {
        return Err(refuse(NOT_FOUND, &format!("Last page is {last}")));
    }
    let from = (page - 1) * per_page;
    let records = shown(from..(from + per_page).min(total));
    let mut response = with_limits(stub, inner, HttpResponse::Ok());
    response.insert_header(("x-total-count", total.to_string()));
    if page < last {
        let link = format!("<{}?page={}>; rel=\"next\"", request.path(), page + 1);
        response.insert_header(("link", link));
    }
    Ok(response.json(records))
}

async fn store(request: HttpRequest, stub: Data<Tiendanube>) -> HttpResponse {
    answer(admit(&stub, &request, None).map(|()| {
        let inner = stub.inner();
        with_limits(&stub, &inner, HttpResponse::Ok()).json(view::store(&inner.store))
    }))
}

/// The bounds of a filter, both of which belong to it.
struct Bounds {
    created: (Option<OffsetDateTime>, Option<OffsetDateTime>),
    updated: (Option<OffsetDateTime>, Option<OffsetDateTime>),
}

impl Bounds {
    fn of(parameters: &Parameters) -> Result<Self, Refusal> {
        let bound = |name: &str| match parameters.get(name) {
            Some(text) => match OffsetDateTime::parse(text, &Rfc3339) {
                Ok(at) => Ok(Some(at)),
                Err(_) => Err(refuse_field(name, "must be an ISO 8601 date")),
            },
            None => Ok(None),
        };
        Ok(Self {
            created: (bound("created_at_min")?, bound("created_at_max")?),
            updated: (bound("updated_at_min")?, bound("updated_at_max")?),
        })
    }

    fn hold(&self, order: &Order) -> bool {
        let within = |(min, max): (Option<OffsetDateTime>, Option<OffsetDateTime>), at: OffsetDateTime| {
            min.is_none_or(|min| at >= min) && max.is_none_or(|max| at <= max)
        };
        within(self.created, order.created_at) && within(self.updated, order.updated_at)
    }
}

async fn orders(request: HttpRequest, parameters: Parameters, stub: Data<Tiendanube>) -> HttpResponse {
    answer(list_orders(&request, &parameters, &stub))
}

fn list_orders(request: &HttpRequest, parameters: &Parameters, stub: &Tiendanube) -> Result<HttpResponse, Refusal> {
    admit(stub, request, Some("read_orders"))?;
    only_known(parameters, &ORDERS)?;
    let bounds = Bounds::of(parameters)?;
    let with_fulfillments = asks_for_fulfillments(parameters);
    let response = {
        let inner = stub.inner();
        // The newest first.
        let found: Vec<_> = inner.store.orders.values().rev().filter(|order| bounds.hold(order)).take(CAP).collect();
        page(stub, &inner, (request, parameters), found.len(), |range| {
            let shown = found.get(range).unwrap_or_default();
            shown.iter().map(|order| pick(view::order(&inner.store, order, with_fulfillments), parameters)).collect()
        })
    };
    let is_first = parameters.get("page").is_none_or(|page| page == "1");
    if is_first && bounds.updated.1.is_some() && stub.common().faults.take("list_shrinks").is_some() {
        let now = stub.now();
        let mut inner = stub.inner();
        // The newest of the window changes, so that it is not in it any more.
        if let Some(order) = inner.store.orders.values_mut().rev().find(|order| bounds.hold(order)) {
            order.updated_at = now;
        }
    }
    response
}

fn asks_for_fulfillments(parameters: &Parameters) -> bool {
    parameters.get("aggregates").is_some_and(|names| names.split(',').any(|name| name == "fulfillment_orders"))
}

/// The store is in the path too.
#[derive(Deserialize)]
struct OrderPath {
    id: u64,
}

async fn order(
    request: HttpRequest,
    path: Path<OrderPath>,
    parameters: Parameters,
    stub: Data<Tiendanube>,
) -> HttpResponse {
    answer(admit(&stub, &request, Some("read_orders")).and_then(|()| {
        only_known(&parameters, &[])?;
        let inner = stub.inner();
        let order = inner.store.orders.get(&path.id).ok_or_else(|| refuse(NOT_FOUND, "Order not found"))?;
        let view = view::order(&inner.store, order, asks_for_fulfillments(&parameters));
        Ok(with_limits(&stub, &inner, HttpResponse::Ok()).json(pick(view, &parameters)))
    }))
}

async fn history(request: HttpRequest, path: Path<OrderPath>, stub: Data<Tiendanube>) -> HttpResponse {
    answer(admit(&stub, &request, Some("read_orders")).and_then(|()| {
        let inner = stub.inner();
        let order = inner.store.orders.get(&path.id).ok_or_else(|| refuse(NOT_FOUND, "Order not found"))?;
        Ok(with_limits(&stub, &inner, HttpResponse::Ok()).json(view::history(order)))
    }))
}

async fn products(request: HttpRequest, parameters: Parameters, stub: Data<Tiendanube>) -> HttpResponse {
    answer(admit(&stub, &request, Some("read_products")).and_then(|()| {
        only_known(&parameters, &[])?;
        let inner = stub.inner();
        let products = &inner.store.products;
        page(&stub, &inner, (&request, &parameters), products.len(), |range| {
            let shown = products.get(range).unwrap_or_default();
            shown.iter().map(|product| pick(view::product(&inner.store, product), &parameters)).collect()
        })
    }))
}

async fn subscriptions(request: HttpRequest, parameters: Parameters, stub: Data<Tiendanube>) -> HttpResponse {
    answer(admit(&stub, &request, None).and_then(|()| {
        only_known(&parameters, &["url", "event"])?;
        let inner = stub.inner();
        let is_asked_for = |subscription: &&Subscription| {
            parameters.get("url").is_none_or(|url| *url == subscription.url)
                && parameters.get("event").is_none_or(|event| *event == subscription.event)
        };
        let found: Vec<_> = inner.queue.subscriptions.iter().filter(is_asked_for).collect();
        // Unlike orders: an empty list is one.
        if found.is_empty() {
            return Ok(with_limits(&stub, &inner, HttpResponse::Ok()).json(found));
        }
        page(&stub, &inner, (&request, &parameters), found.len(), |range| {
            let shown = found.get(range).unwrap_or_default();
            shown.iter().filter_map(|subscription| serde_json::to_value(subscription).ok()).collect()
        })
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSubscription {
    event: String,
    url: String,
}

async fn subscribe(request: HttpRequest, body: Bytes, stub: Data<Tiendanube>) -> HttpResponse {
    answer(add_subscription(&request, &body, &stub))
}

fn add_subscription(request: &HttpRequest, body: &[u8], stub: &Tiendanube) -> Result<HttpResponse, Refusal> {
    admit(stub, request, None)?;
    let new: NewSubscription = serde_json::from_slice(body).map_err(|_| refuse_field("event", "is required"))?;
    if stub.common().faults.take("hook_refused").is_some() {
        return Err(refuse_field("event", "is not for this store"));
    }
    let scope = scope_of(&new.event).ok_or_else(|| refuse_field("event", "is not a known event"))?;
    if scope.is_some_and(|scope| !stub.config().scopes.iter().any(|granted| granted == scope)) {
        return Err(refuse(StatusCode::FORBIDDEN, "Missing a required scope"));
    }
    let url: url::Url = new.url.parse().map_err(|_| refuse_field("url", "is not a URL"))?;
    let host = url.host_str().unwrap_or_default();
    let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    if (url.scheme() != "https" || is_local) && !(is_local && stub.config().takes_local_hooks) {
        return Err(refuse_field("url", "must be https and not local"));
    }
    let mut inner = stub.inner();
    if inner.queue.subscriptions.iter().any(|there| there.event == new.event && there.url == new.url) {
        return Err(refuse_field("url", "is already subscribed to the event"));
    }
    let subscription = Subscription { id: inner.next(), event: new.event, url: new.url };
    inner.queue.subscriptions.push(subscription.clone());
    Ok(with_limits(stub, &inner, HttpResponse::Created()).json(subscription))
}
