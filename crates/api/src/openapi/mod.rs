//! The description of the API, made from the handlers and their types.

mod answers;
mod conditions;
mod deliveries;
mod examples;
mod parameters;

use domain::payments::PriceList;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        OpenApi as Document,
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use self::{
    answers::Errors,
    conditions::{Conditions, Prices},
    deliveries::Deliveries,
    examples::Examples,
    parameters::Parameters,
};
use crate::{
    endpoint::{Table, is_internal, operations},
    error::ErrorBody,
};

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
        (name = "conversations", description = "Comments under posts, and who answers them."),
        (name = "tracking", description = "Custom events."),
    ),
    components(schemas(ErrorBody))
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

/// The OpenAPI 3.1 document of the endpoints of `table`, but for the internal ones.
pub fn document(table: &Table) -> Document {
    let mut document = Api::openapi();
    let is_public = |endpoint: &&Document| {
        let mut all = endpoint.paths.paths.values().flat_map(operations);
        all.all(|(_, operation)| !is_internal(operation))
    };
    for endpoint in table.documents().filter(is_public) {
        document.merge(endpoint.clone());
    }
    for modifier in [&Security as &dyn Modify, &Parameters, &Errors, &Examples, &Conditions, &Deliveries] {
        modifier.modify(&mut document);
    }
    document
}

/// The same as a service with these prices serves it.
pub fn served(table: &Table, prices: &PriceList) -> Document {
    let mut document = document(table);
    Prices(prices).modify(&mut document);
    document
}
