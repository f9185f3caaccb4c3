//! The admin listener: metrics and health, for operators. It is not meant to be reachable from outside.

mod edge;
mod hosts;
mod status;

use std::{
    fmt,
    marker::PhantomData,
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use ::web::access::Failure;
use actix_web::{
    App, Error, HttpResponse, HttpServer, ResponseError,
    dev::Server,
    error::{InternalError, JsonPayloadError, PathError},
    get,
    http::StatusCode,
    middleware::from_fn,
    post, web,
};
use domain::{
    AccountId, StoreError,
    ai::{AccessChange, AiAccess},
    error::Chain,
};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::json;
use store::{Depths, Store};
use time::OffsetDateTime;

use crate::{
    commands::ai::{admin as actor, text, to_json},
    schema::SchemaCheck,
    supervisor::Failures,
};

pub use hosts::Hosts;

struct Admin {
    metrics: PrometheusHandle,
    store: Store,
    schema: Arc<SchemaCheck>,
    draining: Arc<AtomicBool>,
    failures: Failures,
}

/// Is the process there?
#[get("/live")]
async fn live() -> HttpResponse {
    HttpResponse::Ok().body("ok\n")
}

/// Can it do its work, and will it go on?
#[get("/ready")]
async fn ready(admin: web::Data<Admin>) -> HttpResponse {
    if admin.draining.load(Ordering::Relaxed) {
        return not_ready("about to stop".to_owned());
    }
    if let Some(task) = admin.failures.unstable() {
        return not_ready(format!("the background task {task} fails again and again"));
    }
    match admin.schema.problem(&admin.store).await {
        Ok(None) => HttpResponse::Ok().body("ok\n"),
        Ok(Some(problem)) => not_ready(problem),
        Err(error) => {
            failed(HttpResponse::ServiceUnavailable().body("the database does not answer\n"), failure(&error))
        }
    }
}

fn not_ready(reason: String) -> HttpResponse {
    let response = HttpResponse::ServiceUnavailable().body(format!("{reason}\n"));
    failed(response, Failure { code: "not_ready", cause: Some(reason) })
}

/// Metrics in the Prometheus text format.
#[get("/metrics")]
async fn scrape(admin: web::Data<Admin>) -> HttpResponse {
    let (in_use, open) = admin.store.pool_usage();
    metrics::gauge!("database_connections", "state" => "in_use").set(count(in_use));
    metrics::gauge!("database_connections", "state" => "open").set(count(open));
    match admin.store.depths(OffsetDateTime::now_utc()).await {
        Ok(depths) => publish(depths),
        Err(error) => tracing::debug!(error = %Chain(&error), "the queues cannot be counted"),
    }
    let asked_at = OffsetDateTime::now_utc();
    match admin.store.database_time().await {
        Ok(database) => {
            let halfway = asked_at + (OffsetDateTime::now_utc() - asked_at) / 2_i32;
            metrics::gauge!("clock_ahead_seconds").set((halfway - database).as_seconds_f64());
        }
        Err(error) => tracing::debug!(error = %Chain(&error), "the database's clock cannot be read"),
    }
    HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(admin.metrics.render())
}

/// The queues. Every process of a database says the same of them.
fn publish(depths: Depths) {
    let Depths {
        due,
        in_flight,
        waiting,
        held,
        oldest_due_seconds,
        running_jobs,
        abandoned_jobs,
        failed_jobs,
        oldest_abandoned_seconds: _,
    } = depths;
    for (state, value) in [("due", due), ("in_flight", in_flight), ("waiting", waiting), ("held", held)] {
        metrics::gauge!("webhook_deliveries", "state" => state).set(value as f64);
    }
    metrics::gauge!("webhook_deliveries_oldest_due_seconds").set(oldest_due_seconds);
    for (state, value) in [("running", running_jobs), ("abandoned", abandoned_jobs), ("failed", failed_jobs)] {
        metrics::gauge!("job_runs", "state" => state).set(value as f64);
    }
}

fn count(connections: usize) -> f64 {
    u32::try_from(connections).map_or(f64::MAX, f64::from)
}

/// The body of a change of AI access.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeRequest {
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    by: Option<String>,
}

/// The state of an account's AI access.
#[get("/accounts/{account}/ai")]
async fn ai_standing(admin: web::Data<Admin>, account: web::Path<i64>) -> HttpResponse {
    let account = account.into_inner();
    match admin.store.status(AccountId(account), OffsetDateTime::now_utc()).await {
        Ok(Some(status)) => HttpResponse::Ok().json(to_json(account, &status)),
        Ok(None) => told(Ok(AccessChange::UnknownAccount)),
        Err(error) => told(Err(error)),
    }
}

/// Pauses AI access: `{"reason": "…", "by": "…"}`.
#[post("/accounts/{account}/ai/pause")]
async fn ai_pause(admin: web::Data<Admin>, account: web::Path<i64>, body: Body<ChangeRequest>) -> HttpResponse {
    let Object(ChangeRequest { reason, by }) = body.into_inner();
    let said = text("reason", reason.as_deref().unwrap_or_default());
    let (reason, by) = match (said, actor(by.as_deref().unwrap_or("admin"))) {
        (Ok(reason), Ok(by)) => (reason, by),
        (Err(error), _) | (_, Err(error)) => return refused(&error.to_string()),
    };
    told(admin.store.pause(AccountId(account.into_inner()), &by, &reason, OffsetDateTime::now_utc()).await)
}

/// Resumes AI access: `{"reason": "…", "by": "…"}`, the reason if there is one.
#[post("/accounts/{account}/ai/resume")]
async fn ai_resume(admin: web::Data<Admin>, account: web::Path<i64>, body: Body<ChangeRequest>) -> HttpResponse {
    let Object(ChangeRequest { reason, by }) = body.into_inner();
    let said = reason.map(|reason| text("reason", &reason)).transpose();
    let (reason, by) = match (said, actor(by.as_deref().unwrap_or("admin"))) {
        (Ok(reason), Ok(by)) => (reason, by),
        (Err(error), _) | (_, Err(error)) => return refused(&error.to_string()),
    };
    told(admin.store.resume(AccountId(account.into_inner()), &by, reason, OffsetDateTime::now_utc()).await)
}

type Body<T> = web::Json<Object<T>>;

/// What a body is: a JSON object. A struct would take an array as well, for its fields one after the other.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData)).map(Self)
    }
}

/// The members of an object, as a `T`.
struct Members<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members))
    }
}

/// An error, in the form of those of the API.
fn error(status: StatusCode, code: &str, message: &str) -> HttpResponse {
    HttpResponse::build(status).json(json!({ "error": code, "message": message }))
}

fn refused(reason: &str) -> HttpResponse {
    error(StatusCode::BAD_REQUEST, "invalid_body", reason)
}

fn unavailable(cause: &StoreError) -> HttpResponse {
    app::outage::warn(cause, "what was sent to the admin listener could not be stored");
    let failure = failure(cause);
    failed(error(StatusCode::SERVICE_UNAVAILABLE, failure.code, "the database does not answer"), failure)
}

/// What the access line says of an error of the store, as that of the API does.
fn failure(error: &StoreError) -> Failure {
    let code = match error {
        StoreError::Unavailable(_) => "no_db",
        StoreError::Overloaded(_) => "overloaded",
        StoreError::Internal(_) => "internal_error",
    };
    Failure { code, cause: Some(Chain(error).to_string()) }
}

/// The answer, with why it is an error for the access line.
fn failed(mut response: HttpResponse, failure: Failure) -> HttpResponse {
    response.extensions_mut().insert(failure);
    response
}

fn told(change: Result<AccessChange, StoreError>) -> HttpResponse {
    match change {
        Ok(AccessChange::Made) => HttpResponse::Ok().json(json!({ "changed": true })),
        Ok(AccessChange::AlreadySo) => HttpResponse::Ok().json(json!({ "changed": false })),
        Ok(AccessChange::UnknownAccount) => error(StatusCode::NOT_FOUND, "not_found", "there is no such account"),
        Err(cause) => unavailable(&cause),
    }
}

/// What a body cannot be read for.
fn unreadable(fault: JsonPayloadError) -> Error {
    let code = match &fault {
        JsonPayloadError::Overflow { .. } | JsonPayloadError::OverflowKnownLength { .. } => "payload_too_large",
        JsonPayloadError::Deserialize(fault) if !fault.is_data() => "invalid_json",
        _ => "invalid_body",
    };
    let response = error(fault.status_code(), code, &fault.to_string());
    InternalError::from_response(fault, response).into()
}

fn unknown(fault: PathError) -> Error {
    let response = error(StatusCode::NOT_FOUND, "not_found", &fault.to_string());
    InternalError::from_response(fault, response).into()
}

/// The server of the admin listener, on one thread.
pub fn server(
    listener: TcpListener,
    hosts: Hosts,
    metrics: PrometheusHandle,
    store: Store,
    schema: Arc<SchemaCheck>,
    draining: Arc<AtomicBool>,
    failures: Failures,
) -> std::io::Result<Server> {
    let admin = web::Data::new(Admin { metrics, store, schema, draining, failures });
    let hosts = web::Data::new(hosts);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(admin.clone())
            .app_data(hosts.clone())
            .app_data(web::JsonConfig::default().error_handler(|fault, _| unreadable(fault)))
            .app_data(web::PathConfig::default().error_handler(|fault, _| unknown(fault)))
            .wrap(from_fn(hosts::guard))
            .wrap(from_fn(edge::edge))
            .service(live)
            .service(ready)
            .service(scrape)
            .service(ai_standing)
            .service(ai_pause)
            .service(ai_resume)
            .service(status::open)
            .service(status::update)
            .service(status::probe)
    });
    Ok(server.listen(listener)?.workers(1).disable_signals().shutdown_timeout(1).run())
}
