//! The headers that every answer has.

use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// What a page may load, run and send: what is ours, and nothing inline (ASVS 5.0, 3.4.3).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const FIXED: [(&str, &str); 7] = [
    ("content-security-policy", POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    // With `no-referrer` a browser that does not send `Sec-Fetch-Site` would say nothing of where a form came from.
    ("referrer-policy", "same-origin"),
    (
        "permissions-policy",
        "accelerometer=(), camera=(), geolocation=(), gyroscope=(), microphone=(), payment=(), usb=()",
    ),
];

/// Completes an answer. Only what is the same for everybody, and never changes, is kept.
pub fn complete(headers: &mut HeaderMap, is_secure: bool) {
    for (name, value) in FIXED {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if is_secure {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    if !headers.get(header::CACHE_CONTROL).is_some_and(|kept| kept.as_bytes().ends_with(b"immutable")) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}
