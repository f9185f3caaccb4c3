//! Fakes of shop platforms. Each is as strict as the platform: what that refuses is refused here, without being asked to.
//!
//! They share what a test needs and no platform has, below `/_stub`:
//!
//! ```text
//! GET    /_stub/clock              {"now"}
//! POST   /_stub/clock              {"at": instant} stops it there, {"advance_seconds": n}, {"running": bool}
//! GET    /_stub/fault              the faults that are to come
//! POST   /_stub/fault              {"fault": name, "times": n, "value": n}; an unknown name is answered with all of them
//! DELETE /_stub/fault              none from now on
//! GET    /_stub/log                the requests, oldest first
//! DELETE /_stub/log
//! GET    /_stub/truth?shop=HOST    what a reader of the shop must come to: see `ledger`; with `copies=false` without what
//!                                  is a copy of a sale on another platform
//! ```

pub mod clock;
pub mod faults;
pub mod ledger;
pub mod log;
pub mod mercadolibre;
pub mod random;
pub mod shopify;
pub mod tiendanube;

use std::time::Duration;

use actix_web::{
    HttpRequest, HttpResponse, error,
    http::{StatusCode, header},
    web::{self, Bytes, Data, Json, Query, ServiceConfig},
};
use serde::Deserialize;
use serde_json::json;
use time::OffsetDateTime;

use self::{
    clock::{Change, Clock},
    faults::Faults,
    ledger::Truth,
    log::{Entry, Log},
};

/// What every fake platform has.
#[derive(Default)]
pub struct Common {
    pub clock: Clock,
    pub faults: Faults,
    pub log: Log,
}

impl Common {
    /// With a clock that runs on from an instant.
    pub(crate) fn running_from(at: OffsetDateTime) -> Self {
        let common = Self::default();
        common.clock.change(&Change { at: Some(at), running: Some(true), ..Change::default() });
        common
    }
}

/// The token of a request.
pub(crate) fn bearer(request: &HttpRequest) -> Option<&str> {
    request.headers().get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")
}

/// A fault that comes before anything is done: waits as `slow` says; the status of `server_error`.
pub(crate) async fn broken(faults: &Faults) -> Option<StatusCode> {
    if let Some(milliseconds) = faults.take("slow") {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
    let status = u16::try_from(faults.take("server_error")?).ok().and_then(|status| StatusCode::from_u16(status).ok());
    Some(status.filter(StatusCode::is_server_error).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
}

/// What every answer passes: the log, a connection that breaks off when one of the faults `lost` is due, the clock's date.
pub(crate) fn finish(
    common: &Common,
    request: &HttpRequest,
    what: Option<String>,
    lost: &[&str],
    mut answer: HttpResponse,
) -> HttpResponse {
    common.log.write(Entry {
        at: common.clock.now(),
        method: request.method().to_string(),
        path: request.path().to_owned(),
        what,
        status: answer.status().as_u16(),
    });
    if lost.iter().any(|fault| common.faults.take(fault).is_some()) {
        return cut();
    }
    if let Ok(date) = common.clock.http_date().parse() {
        answer.headers_mut().insert(header::DATE, date);
    }
    answer
}

/// A connection that breaks off.
pub(crate) fn cut() -> HttpResponse {
    let broken = futures_util::stream::once(async { Err::<Bytes, _>(error::ErrorInternalServerError("lost")) });
    HttpResponse::Ok().streaming(broken)
}

/// A fake platform, as `/_stub` sees it.
pub trait Stub: Send + Sync + 'static {
    fn common(&self) -> &Common;

    /// Faults of this platform beside [`faults::COMMON`]: names with what they do.
    fn faults(&self) -> &'static [(&'static str, &'static str)];

    /// A fault that takes effect at once; false when `name` is none of these.
    fn act(&self, name: &str, value: u64) -> bool;

    /// The truth about a shop, or of the only one; `None` when there is no such shop.
    fn truth(&self, shop: Option<&str>) -> Option<Truth>;
}

/// The routes below `/_stub`.
pub fn routes<S: Stub>(config: &mut ServiceConfig) {
    config
        .route("/_stub/clock", web::get().to(clock::<S>))
        .route("/_stub/clock", web::post().to(set_clock::<S>))
        .route("/_stub/fault", web::get().to(faults_ahead::<S>))
        .route("/_stub/fault", web::post().to(set_fault::<S>))
        .route("/_stub/fault", web::delete().to(no_fault::<S>))
        .route("/_stub/log", web::get().to(entries::<S>))
        .route("/_stub/log", web::delete().to(clear::<S>))
        .route("/_stub/truth", web::get().to(truth::<S>));
}

async fn clock<S: Stub>(stub: Data<S>) -> HttpResponse {
    HttpResponse::Ok().json(clock::Reading { now: stub.common().clock.now() })
}

async fn set_clock<S: Stub>(change: Json<clock::Change>, stub: Data<S>) -> HttpResponse {
    stub.common().clock.change(&change);
    clock(stub).await
}

async fn faults_ahead<S: Stub>(stub: Data<S>) -> HttpResponse {
    HttpResponse::Ok().json(stub.common().faults.ahead())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewFault {
    fault: String,
    #[serde(default = "once")]
    times: u32,
    #[serde(default)]
    value: u64,
}

const fn once() -> u32 {
    1
}

async fn set_fault<S: Stub>(new: Json<NewFault>, stub: Data<S>) -> HttpResponse {
    let NewFault { fault, times, value } = new.into_inner();
    if stub.act(&fault, value) {
        return HttpResponse::NoContent().finish();
    }
    let known = faults::COMMON.iter().chain(stub.faults());
    let Some((name, _)) = known.clone().find(|(name, _)| *name == fault) else {
        let all: serde_json::Map<_, _> = known.map(|(name, what)| ((*name).to_owned(), json!(what))).collect();
        return HttpResponse::BadRequest().json(json!({ "error": "unknown fault", "faults": all }));
    };
    stub.common().faults.set(name, times, value);
    HttpResponse::NoContent().finish()
}

async fn no_fault<S: Stub>(stub: Data<S>) -> HttpResponse {
    stub.common().faults.clear();
    HttpResponse::NoContent().finish()
}

async fn entries<S: Stub>(stub: Data<S>) -> HttpResponse {
    HttpResponse::Ok().json(stub.common().log.entries())
}

async fn clear<S: Stub>(stub: Data<S>) -> HttpResponse {
    stub.common().log.clear();
    HttpResponse::NoContent().finish()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WhichShop {
    shop: Option<String>,
    #[serde(default = "yes")]
    copies: bool,
}

const fn yes() -> bool {
    true
}

async fn truth<S: Stub>(which: Query<WhichShop>, stub: Data<S>) -> HttpResponse {
    match stub.truth(which.shop.as_deref()) {
        Some(truth) if which.copies => HttpResponse::Ok().json(truth),
        Some(truth) => HttpResponse::Ok().json(truth.without_copies()),
        None => HttpResponse::NotFound().json(json!({ "error": "no such shop" })),
    }
}
