//! Every address, and who may go there.

use actix_web::{
    Route,
    http::Method,
    web::{self, ServiceConfig},
};
use domain::people::Act;

use crate::{assets, pages};

/// Who may go to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody; nobody is looked up.
    Asset,
    /// Everybody.
    Anybody,
    /// A member whose role allows it.
    Member(Act),
    /// A member, who gets what the API answers. Others are not led to log in: programs would take that for the answer.
    Read,
}

/// What panels name of the API: read here by links, with the session in the place of a key.
pub const READS: &[&str] = &[
    "/api/v1/anomalies",
    "/api/v1/customers",
    "/api/v1/customers/segments",
    "/api/v1/insights",
    "/api/v1/integrations",
    "/api/v1/inventory",
    "/api/v1/metrics",
    "/api/v1/profit",
    "/api/v1/reorder",
    "/api/v1/risks",
];

/// An address with what answers it.
pub struct Address {
    pub method: Method,
    /// With names in braces, each for one part between slashes.
    pub path: &'static str,
    pub access: Access,
    handler: fn() -> Route,
}

macro_rules! table {
    ($($method:ident $path:literal, $access:expr => $handler:path;)+) => {
        /// All of them. What is not here does not exist.
        pub static TABLE: &[Address] = &[$(Address {
            method: Method::$method,
            path: $path,
            access: $access,
            handler: || web::method(Method::$method).to($handler),
        }),+];
    };
}

table! {
    GET "/assets/{name}", Access::Asset => assets::get;
    GET "/login", Access::Anybody => pages::login::get;
    GET "/enter/{token}", Access::Anybody => pages::enter::get;
    POST "/enter/{token}", Access::Anybody => pages::enter::post;
    POST "/logout", Access::Member(Act::Look) => pages::logout::post;
    POST "/mode", Access::Member(Act::Look) => pages::mode::post;
    GET "/", Access::Member(Act::Look) => pages::overview::get;
    GET "/insights", Access::Member(Act::Look) => pages::insights::get;
    POST "/insights/{id}", Access::Member(Act::Change) => pages::insights::decide;
    GET "/profit", Access::Member(Act::Look) => pages::profit::get;
    GET "/profit/{day}", Access::Member(Act::Look) => pages::profit_day::get;
    GET "/anomalies", Access::Member(Act::Look) => pages::anomalies::get;
    GET "/anomalies/{id}", Access::Member(Act::Look) => pages::anomaly::get;
    GET "/inventory", Access::Member(Act::Look) => pages::inventory::get;
    GET "/reorder", Access::Member(Act::Look) => pages::reorder::get;
    POST "/reorder/{id}", Access::Member(Act::Change) => pages::reorder::decide;
    GET "/customers", Access::Member(Act::Look) => pages::customers::get;
}

/// What a request is for.
pub struct Matched {
    /// The pattern of its path, for the log and the metrics: one of few.
    pub label: &'static str,
    pub access: Access,
}

/// The address that a request goes to. Of one that does not exist only a member learns so.
pub fn find(method: &Method, path: &str) -> Matched {
    let wanted = if *method == Method::HEAD { &Method::GET } else { method };
    if let Some(label) = READS.iter().find(|known| *wanted == Method::GET && fits(known, path)) {
        return Matched { label, access: Access::Read };
    }
    let found = TABLE.iter().find(|address| address.method == *wanted && fits(address.path, path));
    found.map_or(Matched { label: "unknown", access: Access::Member(Act::Look) }, |address| Matched {
        label: address.path,
        access: address.access,
    })
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(name), Some(part)) if name.starts_with('{') && !part.is_empty() => {}
            (Some(expected), Some(part)) if expected == part => {}
            _ => return false,
        }
    }
}

/// Mounts them all.
pub fn configure(config: &mut ServiceConfig) {
    for Address { path, handler, method, .. } in TABLE {
        config.route(path, handler());
        if *method == Method::GET {
            config.route(path, handler().method(Method::HEAD));
        }
    }
    config.default_service(web::to(pages::fault::nothing_here));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_to_its_address() {
        let label = |method, path| find(&method, path).label;
        assert_eq!(label(Method::GET, "/enter/abc"), "/enter/{token}");
        assert_eq!(label(Method::HEAD, "/"), "/");
        assert_eq!(label(Method::GET, "/enter/"), "unknown");
        assert_eq!(label(Method::GET, "/enter/a/b"), "unknown");
        assert_eq!(label(Method::DELETE, "/"), "unknown");
        assert_eq!(label(Method::GET, "/api/v1/profit"), "/api/v1/profit");
        assert_eq!(label(Method::POST, "/api/v1/profit"), "unknown");
        assert_eq!(label(Method::GET, "/api/v1/me"), "unknown");
    }

    #[test]
    fn an_address_is_there_once() {
        let mut all: Vec<_> = TABLE.iter().map(|address| (address.method.as_str(), address.path)).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
