//! What every request goes through: the faults that are to come, the log, the clock, and what the API asks of a call.

use std::time::Instant;

use actix_web::{
    Error, HttpRequest, HttpResponse, HttpResponseBuilder,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    error::ErrorInternalServerError,
    http::{
        StatusCode,
        header::{HeaderName, HeaderValue},
    },
    middleware::Next,
    web::{Bytes, Data},
};
use serde_json::json;

use super::{Inner, Tiendanube};
use crate::shops::{Stub, broken, log::Entry};

/// Around every request but those below `/_stub`.
pub async fn around(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if request.path().starts_with("/_stub") {
        return Ok(next.call(request).await?.map_into_boxed_body());
    }
    let Some(stub) = request.app_data::<Data<Tiendanube>>().cloned() else {
        return Err(ErrorInternalServerError("no stub"));
    };
    let (faults, log) = (&stub.common().faults, &stub.common().log);
    let (method, path) = (request.method().to_string(), request.path().to_owned());
    let mut response = if let Some(status) = broken(faults).await {
        request.into_response(HttpResponse::new(status))
    } else if let Some(seconds) = faults.take("throttle") {
        let reset = seconds.max(1).saturating_mul(1000).to_string();
        let mut refused = too_many();
        request.into_response(refused.insert_header(("x-rate-limit-reset", reset)).finish())
    } else {
        next.call(request).await?.map_into_boxed_body()
    };
    log.write(Entry { at: stub.now(), method, path, what: None, status: response.status().as_u16() });
    if faults.take("drop_reply").is_some() {
        let broken = futures_util::stream::once(async { Err::<Bytes, _>(ErrorInternalServerError("lost")) });
        let (request, _) = response.into_parts();
        return Ok(ServiceResponse::new(request, HttpResponse::Ok().streaming(broken)));
    }
    if let Ok(date) = HeaderValue::from_str(&stub.common().clock.http_date()) {
        response.headers_mut().insert(HeaderName::from_static("date"), date);
    }
    Ok(response)
}

/// What the API answers instead of what was asked for.
pub type Refusal = Box<HttpResponse>;

fn too_many() -> HttpResponseBuilder {
    HttpResponse::TooManyRequests()
}

/// `{code, message, description}`, as most refusals are.
pub fn refuse(status: StatusCode, description: &str) -> Refusal {
    let message = status.canonical_reason().unwrap_or_default();
    HttpResponse::build(status)
        .json(json!({ "code": status.as_u16(), "message": message, "description": description }))
        .into()
}

/// `{field: […]}`, as fields are refused.
pub fn refuse_field(field: &str, problem: &str) -> Refusal {
    HttpResponse::UnprocessableEntity().json(json!({ field: [problem] })).into()
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}

/// What the API asks of every call before it looks at what is asked for.
pub fn admit(stub: &Tiendanube, request: &HttpRequest, scope: Option<&str>) -> Result<(), Refusal> {
    let agent = header(request, "user-agent").unwrap_or_default();
    let names_mail = agent
        .split_once('(')
        .is_some_and(|(name, mail)| !name.trim().is_empty() && mail.contains('@') && mail.trim_end().ends_with(')'));
    if !names_mail {
        return Err(refuse(StatusCode::BAD_REQUEST, "Missing or malformed User-Agent"));
    }
    if request.method() == "POST" && !is_json(request) {
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The content type must be application/json"));
    }
    let mut inner = stub.inner();
    let token = header(request, "authentication").and_then(|value| value.strip_prefix("bearer "));
    let is_known = token.is_some() && inner.token.as_deref() == token;
    if !is_known || request.match_info().get("store") != Some(inner.store.id.to_string().as_str()) {
        return Err(HttpResponse::Unauthorized().json(json!({ "error": "Invalid access token" })).into());
    }
    if inner.is_suspended {
        return Err(refuse(StatusCode::PAYMENT_REQUIRED, "The store does not pay"));
    }
    pour(stub, &mut inner)?;
    if scope.is_some_and(|scope| !stub.config().scopes.iter().any(|granted| granted == scope)) {
        return Err(refuse(StatusCode::FORBIDDEN, "Missing a required scope"));
    }
    Ok(())
}

pub fn is_json(request: &HttpRequest) -> bool {
    header(request, "content-type")
        .is_some_and(|kind| kind.split(';').next().map(str::trim) == Some("application/json"))
}

/// One more request in the bucket.
fn pour(stub: &Tiendanube, inner: &mut Inner) -> Result<(), Refusal> {
    let bucket = stub.config().bucket;
    let now = Instant::now();
    let (level, at) = inner.bucket;
    let level = (level - now.duration_since(at).as_secs_f64() * bucket.drain).max(0.0);
    let fits = level + 1.0 <= bucket.size;
    inner.bucket = (if fits { level + 1.0 } else { level }, now);
    if fits { Ok(()) } else { Err(with_limits(stub, inner, too_many()).finish().into()) }
}

/// The headers that tell of the bucket.
pub fn with_limits(stub: &Tiendanube, inner: &Inner, mut response: HttpResponseBuilder) -> HttpResponseBuilder {
    let bucket = stub.config().bucket;
    let (level, _) = inner.bucket;
    response
        .insert_header(("x-rate-limit-limit", format!("{:.0}", bucket.size)))
        .insert_header(("x-rate-limit-remaining", format!("{:.0}", (bucket.size - level).floor())))
        .insert_header(("x-rate-limit-reset", format!("{:.0}", (level / bucket.drain * 1000.0).ceil())));
    response
}
