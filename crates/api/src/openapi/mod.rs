//! The description of the API, made from the handlers and their types.

mod answers;
mod deliveries;
mod examples;
pub mod names;
pub mod page;
mod parameters;

use utoipa::{
    Modify, OpenApi,
    openapi::{
        OpenApi as Document,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use self::{answers::Errors, deliveries::Deliveries, examples::Examples, parameters::Parameters};
use crate::{error::ErrorBody, v1};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Business Analytics Service",
        version = "1.0.0",
        description = "Credits, customers, integrations, webhooks, insights, anomalies, profit, inventory and reorder \
            suggestions of an e-commerce account, and custom event tracking.\n\nEvery request but those to public \
            endpoints carries `Authorization: Bearer <API_KEY>`. Lists take `limit` and `cursor`; a `limit` or `days` \
            over the maximum is clamped and listed in `warnings`, unless `Prefer: handling=strict` asks for a 400. \
            Answers to reads carry an `ETag`; a 304 to `If-None-Match` does not count against the quota.",
        license(name = "MIT")
    ),
    tags(
        (name = "service", description = "The service itself."),
        (name = "account", description = "The account and its credits."),
        (name = "customers", description = "The customers of all connected shops."),
        (name = "integrations", description = "Connected shops."),
        (name = "webhooks", description = "Subscriptions to events."),
        (name = "analytics", description = "Insights, anomalies and profit."),
        (name = "inventory", description = "Stock and what to buy again."),
        (name = "alerts", description = "Rules that watch a metric."),
        (name = "tracking", description = "Custom events."),
    ),
    paths(
        v1::status::get, v1::openapi::get, v1::me::get, v1::credits::get, v1::transactions::list, v1::auto_topup::set, v1::usage::get, v1::customers::get, v1::segments::get, v1::integrations::get,
        v1::webhooks::list, v1::webhooks::create, v1::webhooks::revoke, v1::webhook_settings::change,
        v1::webhook_settings::rotate, v1::webhook_deliveries::test, v1::webhook_deliveries::list,
        v1::webhook_deliveries::get, v1::webhook_deliveries::resend, v1::webhook_replays::start, v1::webhook_replays::get,
        v1::webhook_replays::cancel, v1::webhook_verify::verify, v1::insights::get, v1::insights::change,
        v1::insight_runs::start, v1::insight_runs::get, v1::track::track, v1::track_batch::track_batch,
        v1::anomalies::get, v1::profit::get, v1::inventory::get, v1::reorder::get, v1::reorder::change,
        v1::alerts::list, v1::alerts::create, v1::alerts::get, v1::alerts::change, v1::alerts::delete,
    ),
    components(schemas(ErrorBody)),
    modifiers(&Security, &Parameters, &Errors, &Examples, &Deliveries)
)]
struct Api;

/// Declares how a key is sent.
struct Security;

impl Modify for Security {
    fn modify(&self, document: &mut Document) {
        let mut scheme = Http::new(HttpAuthScheme::Bearer);
        scheme.description = Some(
            "An API key: `svc_live_` or `svc_test_` and 38 letters and digits. Reading needs the scope `read`, POST, \
             PUT, PATCH and DELETE need `write`; `write` does not imply `read`."
                .to_owned(),
        );
        let components = document.components.get_or_insert_with(Default::default);
        components.add_security_scheme("api_key", SecurityScheme::Http(scheme));
    }
}

/// The OpenAPI 3.1 document of the API.
pub fn openapi() -> Document {
    Api::openapi()
}
