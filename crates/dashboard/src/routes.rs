//! Every address, and who may go there.

use actix_web::{
    Route,
    http::Method,
    middleware::from_fn,
    web::{self, ServiceConfig},
};
use domain::people::Act;

use crate::{assets, edge, pages};

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
    /// There is no such address, which only a member learns.
    Nowhere,
}

/// Where files are sent to.
pub const FILES: &str = "/data";

/// What panels name of the API: read here by links, with the session in the place of a key.
pub const READS: &[&str] = &[
    "/api/v1/ads",
    "/api/v1/alerts",
    "/api/v1/alerts/{id}",
    "/api/v1/alerts/{id}/firings",
    "/api/v1/anomalies",
    "/api/v1/conversations",
    "/api/v1/conversations/{id}",
    "/api/v1/creatives",
    "/api/v1/credits",
    "/api/v1/credits/transactions",
    "/api/v1/customers",
    "/api/v1/customers/segments",
    "/api/v1/insights",
    "/api/v1/integrations",
    "/api/v1/integrations/{id}/runs",
    "/api/v1/inventory",
    "/api/v1/metrics",
    "/api/v1/profit",
    "/api/v1/reorder",
    "/api/v1/reply-templates",
    "/api/v1/reply-templates/{id}",
    "/api/v1/risks",
    "/api/v1/social/profiles",
    "/api/v1/social/profiles/{id}",
    "/api/v1/social/settings",
    "/api/v1/usage",
    "/api/v1/webhooks",
    "/api/v1/webhooks/{id}/deliveries",
    "/api/v1/webhooks/{id}/deliveries/{delivery}",
];

/// An address with what answers it.
pub struct Address {
    pub method: Method,
    /// With names in braces, each for one part between slashes.
    pub path: &'static str,
    pub access: Access,
    handler: fn(Method) -> Route,
}

macro_rules! table {
    ($($method:ident $path:literal, $access:expr => $handler:path;)+) => {
        /// All of them. What is not here does not exist.
        pub static TABLE: &[Address] = &[$(Address {
            method: Method::$method,
            path: $path,
            access: $access,
            handler: |method| web::method(method).to($handler),
        }),+];
    };
}

table! {
    GET "/assets/{name}", Access::Asset => assets::get;
    GET "/login", Access::Anybody => pages::login::get;
    POST "/login", Access::Anybody => pages::login::post;
    GET "/login/code", Access::Anybody => pages::code::get;
    POST "/login/code", Access::Anybody => pages::code::post;
    GET "/signup", Access::Anybody => pages::sign_up::get;
    POST "/signup", Access::Anybody => pages::sign_up::post;
    GET "/signup/{token}", Access::Anybody => pages::sign_up::open;
    POST "/signup/{token}", Access::Anybody => pages::sign_up::finish;
    GET "/reset", Access::Anybody => pages::reset::get;
    POST "/reset", Access::Anybody => pages::reset::post;
    GET "/reset/{token}", Access::Anybody => pages::reset::open;
    POST "/reset/{token}", Access::Anybody => pages::reset::choose;
    GET "/invitation/{token}", Access::Anybody => pages::invitation::open;
    POST "/invitation/{token}", Access::Anybody => pages::invitation::accept;
    GET "/address/{token}", Access::Anybody => pages::address::open;
    POST "/address/{token}", Access::Anybody => pages::address::confirm;
    GET "/outbox", Access::Anybody => pages::outbox::get;
    GET "/status", Access::Asset => pages::status::get;
    GET "/enter/{token}", Access::Anybody => pages::enter::get;
    POST "/enter/{token}", Access::Anybody => pages::enter::post;
    GET "/confirm", Access::Member(Act::Look) => pages::confirm::get;
    POST "/confirm", Access::Member(Act::Look) => pages::confirm::post;
    POST "/logout", Access::Member(Act::Look) => pages::logout::post;
    POST "/shop", Access::Member(Act::Look) => pages::shop::post;
    POST "/mode", Access::Member(Act::Look) => pages::mode::post;
    GET "/", Access::Member(Act::Look) => pages::overview::get;
    GET "/insights", Access::Member(Act::Look) => pages::insights::get;
    POST "/insights/generate", Access::Member(Act::Change) => pages::insights::generate;
    POST "/insights/{id}", Access::Member(Act::Change) => pages::insights::decide;
    GET "/profit", Access::Member(Act::Look) => pages::profit::get;
    GET "/profit/{day}", Access::Member(Act::Look) => pages::profit_day::get;
    POST "/profit/{day}/notes", Access::Member(Act::Change) => pages::notes::write;
    POST "/notes/{id}/delete", Access::Member(Act::Change) => pages::notes::remove;
    GET "/anomalies", Access::Member(Act::Look) => pages::anomalies::get;
    GET "/anomalies/{id}", Access::Member(Act::Look) => pages::anomaly::get;
    GET "/inventory", Access::Member(Act::Look) => pages::inventory::get;
    GET "/inventory/{id}", Access::Member(Act::Look) => pages::product::get;
    GET "/reorder", Access::Member(Act::Look) => pages::reorder::get;
    POST "/reorder/{id}", Access::Member(Act::Change) => pages::reorder::decide;
    GET "/ads", Access::Member(Act::Look) => pages::ads::get;
    GET "/creatives", Access::Member(Act::Look) => pages::creatives::get;
    GET "/conversations", Access::Member(Act::Look) => pages::conversations::get;
    POST "/conversations/stop", Access::Member(Act::Change) => pages::social_settings::stop;
    GET "/conversations/settings", Access::Member(Act::Look) => pages::social_settings::get;
    POST "/conversations/settings", Access::Member(Act::Administer) => pages::social_settings::set;
    GET "/conversations/templates", Access::Member(Act::Look) => pages::reply_templates::get;
    POST "/conversations/templates", Access::Member(Act::Change) => pages::reply_templates::create;
    GET "/conversations/templates/{id}", Access::Member(Act::Look) => pages::reply_template::get;
    POST "/conversations/templates/{id}", Access::Member(Act::Change) => pages::reply_template::change;
    POST "/conversations/templates/{id}/state", Access::Member(Act::Change) => pages::reply_template::set_state;
    POST "/conversations/templates/{id}/delete", Access::Member(Act::Change) => pages::reply_template::delete;
    GET "/conversations/{id}", Access::Member(Act::Look) => pages::conversation::get;
    POST "/conversations/{id}", Access::Member(Act::Change) => pages::conversation_acts::change;
    POST "/conversations/{id}/answer", Access::Member(Act::Change) => pages::conversation_acts::answer;
    POST "/conversations/{id}/judgement", Access::Member(Act::Change) => pages::conversation_acts::judge;
    GET "/customers", Access::Member(Act::Look) => pages::customers::get;
    GET "/settings", Access::Member(Act::Look) => pages::account::get;
    POST "/settings/you", Access::Member(Act::Look) => pages::account::set_you;
    POST "/settings/shop", Access::Member(Act::Administer) => pages::account::set_shop;
    GET "/settings/people", Access::Member(Act::Administer) => pages::people::get;
    POST "/settings/people", Access::Member(Act::Administer) => pages::people::post;
    POST "/settings/people/withdraw", Access::Member(Act::Administer) => pages::people::withdraw;
    POST "/settings/people/{id}", Access::Member(Act::Administer) => pages::people::change;
    GET "/settings/security", Access::Member(Act::Look) => pages::security::get;
    POST "/settings/password", Access::Member(Act::Look) => pages::security::set_password;
    POST "/settings/address", Access::Member(Act::Look) => pages::security::set_address;
    GET "/settings/second-factor", Access::Member(Act::Look) => pages::second_factor::get;
    POST "/settings/second-factor", Access::Member(Act::Look) => pages::second_factor::post;
    GET "/settings/sessions", Access::Member(Act::Look) => pages::sessions::get;
    POST "/settings/sessions", Access::Member(Act::Look) => pages::sessions::post;
    GET "/settings/activity", Access::Member(Act::Administer) => pages::activity::get;
    GET "/settings/activity.csv", Access::Member(Act::Administer) => pages::activity::csv;
    GET "/settings/system", Access::Member(Act::Administer) => pages::system::get;
    GET "/settings/export", Access::Member(Act::Administer) => pages::export::get;
    POST "/settings/export", Access::Member(Act::Administer) => pages::export::post;
    GET "/settings/export/{id}", Access::Member(Act::Administer) => pages::export::file;
    GET "/settings/delete", Access::Member(Act::Administer) => pages::erase::get;
    POST "/settings/delete", Access::Member(Act::Administer) => pages::erase::post;
    POST "/settings/delete/undo", Access::Member(Act::Administer) => pages::erase::undo;
    GET "/customers/{id}", Access::Member(Act::Look) => pages::customer::get;
    GET "/customers/{id}/data.json", Access::Member(Act::Administer) => pages::customer::data;
    POST "/customers/{id}/forget", Access::Member(Act::Administer) => pages::customer::forget;
    GET "/data", Access::Member(Act::Look) => pages::data::get;
    POST "/data", Access::Member(Act::Change) => pages::data::post;
    GET "/data/{id}", Access::Member(Act::Look) => pages::upload::get;
    POST "/data/{id}", Access::Member(Act::Change) => pages::upload::start;
    POST "/data/{id}/discard", Access::Member(Act::Change) => pages::upload::discard;
    GET "/data/{id}/rejects.csv", Access::Member(Act::Look) => pages::upload::rejects;
    POST "/jobs", Access::Member(Act::Change) => pages::data::run_jobs;
    GET "/integrations", Access::Member(Act::Look) => pages::integrations::get;
    POST "/integrations/profiles/connect", Access::Member(Act::Change) => pages::social_profile_connect::begin;
    GET "/integrations/profiles/callback", Access::Member(Act::Change) => pages::social_profile_connect::callback;
    GET "/integrations/profiles/{id}", Access::Member(Act::Look) => pages::social_profile::get;
    POST "/integrations/profiles/{id}/disconnect", Access::Member(Act::Change) => pages::social_profile::disconnect;
    POST "/integrations/{provider}/connect", Access::Member(Act::Change) => pages::connect::begin;
    GET "/integrations/{provider}/callback", Access::Member(Act::Change) => pages::connect::callback;
    GET "/integrations/{id}", Access::Member(Act::Look) => pages::integration::get;
    POST "/integrations/{id}/sync", Access::Member(Act::Change) => pages::integration::sync;
    POST "/integrations/{id}/disconnect", Access::Member(Act::Change) => pages::integration::disconnect;
    GET "/alerts", Access::Member(Act::Look) => pages::alerts::get;
    POST "/alerts", Access::Member(Act::Change) => pages::alerts::create;
    GET "/alerts/{id}", Access::Member(Act::Look) => pages::alert::get;
    POST "/alerts/{id}", Access::Member(Act::Change) => pages::alert::change;
    POST "/alerts/{id}/switch", Access::Member(Act::Change) => pages::alert::switch;
    POST "/alerts/{id}/delete", Access::Member(Act::Change) => pages::alert::delete;
    GET "/webhooks", Access::Member(Act::Look) => pages::webhooks::get;
    POST "/webhooks", Access::Member(Act::Change) => pages::webhooks::create;
    GET "/webhooks/{id}", Access::Member(Act::Look) => pages::webhook::get;
    POST "/webhooks/{id}/test", Access::Member(Act::Change) => pages::webhook_acts::test;
    POST "/webhooks/{id}/switch", Access::Member(Act::Change) => pages::webhook_acts::switch;
    POST "/webhooks/{id}/rotate", Access::Member(Act::Change) => pages::webhook_acts::rotate;
    POST "/webhooks/{id}/delete", Access::Member(Act::Change) => pages::webhook_acts::delete;
    GET "/webhooks/{id}/replay", Access::Member(Act::Change) => pages::replay::get;
    POST "/webhooks/{id}/replay", Access::Member(Act::Change) => pages::replay::start;
    GET "/webhooks/{id}/deliveries/{delivery}", Access::Member(Act::Look) => pages::delivery::get;
    POST "/webhooks/{id}/deliveries/{delivery}/resend", Access::Member(Act::Change) => pages::delivery::resend;
    GET "/credits", Access::Member(Act::Look) => pages::credits::get;
    POST "/credits/checkout", Access::Member(Act::Administer) => pages::credits::checkout;
    POST "/credits/auto-top-up", Access::Member(Act::Administer) => pages::credits::set_auto_top_up;
    GET "/keys", Access::Member(Act::Look) => pages::keys::get;
    POST "/keys", Access::Member(Act::Administer) => pages::keys::create;
    GET "/keys/{id}", Access::Member(Act::Administer) => pages::key::get;
    POST "/keys/{id}/rotate", Access::Member(Act::Administer) => pages::key::rotate;
    POST "/keys/{id}/revoke", Access::Member(Act::Administer) => pages::key::revoke;
}

/// What a request is for.
pub struct Matched {
    /// The pattern of its path, for the log and the metrics: one of few.
    pub label: &'static str,
    pub access: Access,
}

/// Leads on from whatever account is looked at.
const OF_ANY_ACCOUNT: [&str; 3] = ["/shop", "/mode", "/logout"];

/// Where a member goes who still has to get a second factor.
const WITHOUT_SECOND_FACTOR: [&str; 3] = ["/settings/second-factor", "/confirm", "/logout"];

impl Matched {
    /// Whether a member needs the second factor that the user asks for to go there.
    pub fn needs_second_factor(&self) -> bool {
        matches!(self.access, Access::Member(_) | Access::Read) && !WITHOUT_SECOND_FACTOR.contains(&self.label)
    }

    /// Whether it does something to the account that is looked at.
    pub fn is_of_account(&self) -> bool {
        !OF_ANY_ACCOUNT.contains(&self.label)
    }
}

/// The address that a request goes to. `path` is the one that handlers are found by: with what was percent-encoded decoded.
pub fn find(method: &Method, path: &str) -> Matched {
    let wanted = if *method == Method::HEAD { &Method::GET } else { method };
    if let Some(label) = READS.iter().find(|known| *wanted == Method::GET && fits(known, path)) {
        return Matched { label, access: Access::Read };
    }
    let found = TABLE.iter().find(|address| address.method == *wanted && fits(address.path, path));
    found.map_or(Matched { label: "unknown", access: Access::Nowhere }, |address| Matched {
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
        config.route(path, handler(method.clone()).wrap(from_fn(edge::survive)));
        if *method == Method::GET {
            config.route(path, handler(Method::HEAD).wrap(from_fn(edge::survive)));
        }
    }
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
        assert_eq!(label(Method::GET, "/conversations/settings"), "/conversations/settings");
        assert_eq!(label(Method::POST, "/conversations/settings"), "/conversations/settings");
        assert_eq!(label(Method::GET, "/integrations/profiles/callback"), "/integrations/profiles/callback");
        assert_eq!(label(Method::GET, "/integrations/shopify/callback"), "/integrations/{provider}/callback");
        assert_eq!(label(Method::GET, "/integrations/profiles/7"), "/integrations/profiles/{id}");
        assert_eq!(label(Method::POST, "/insights/generate"), "/insights/generate");
        assert_eq!(label(Method::POST, "/insights/7"), "/insights/{id}");
        assert_eq!(label(Method::GET, "/conversations/7"), "/conversations/{id}");
        assert_eq!(label(Method::POST, "/settings/people/withdraw"), "/settings/people/withdraw");
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
