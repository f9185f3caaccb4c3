//! What a query comes to.

use serde_json::{Map, Value, json};

use super::{
    ShopifyStub, State, Subscription, catalogue,
    orders::{Found, Search},
    query::{Prepared, error, prepare},
    view,
};

/// Points that one query may cost.
const MAX_COST: u64 = 1_000;

/// An answer with the status 200.
pub struct Answered {
    pub body: Value,
    /// What happens after the answer: hooks.
    pub uninstalled: bool,
}

/// A request could not be answered by the fake shop.
pub struct Unresolved(pub String);

impl ShopifyStub {
    /// Runs a query. `base` is the address that files are below.
    pub(super) fn run(&self, text: &str, variables: Map<String, Value>, base: &str) -> Result<Answered, Unresolved> {
        let schema = &self.0.schema;
        let refused = |errors: Vec<Value>| Ok(Answered { body: json!({ "errors": errors }), uninstalled: false });
        let prepared = match prepare(schema, text, variables) {
            Ok(prepared) => prepared,
            Err(errors) => return refused(errors),
        };
        let root = prepared.root().ok_or_else(|| Unresolved("no operation".to_owned()))?;
        let cost = match prepared.cost(schema, root) {
            Ok(cost) if cost > MAX_COST => {
                let message =
                    format!("Query cost is {cost}, which exceeds the single query max cost limit ({MAX_COST}).");
                return refused(vec![error(&message, "MAX_COST_EXCEEDED")]);
            }
            Ok(cost) => cost,
            Err(message) => return refused(vec![error(&message, "BAD_REQUEST")]),
        };
        let mut state = self.lock();
        let level = state.bucket.level();
        if level < cost as f64 {
            let cost = self.cost(&mut state, cost, None);
            let body = json!({ "errors": [error("Throttled", "THROTTLED")], "extensions": { "cost": cost } });
            return Ok(Answered { body, uninstalled: false });
        }
        if let Some((field, scope)) = prepared.missing_scope(schema, root, &state.scopes) {
            return Ok(Answered { body: denied(&prepared, schema, &field, scope), uninstalled: false });
        }
        let mut data = Map::new();
        let (mut warnings, mut used, mut uninstalled) = (Vec::new(), cost, false);
        for field in prepared.fields(schema, root, None) {
            uninstalled |= field.name == "appUninstall";
            let (value, read) = match self.field(&mut state, &prepared, field, base, &mut warnings) {
                Ok(found) => found,
                Err(Fault::Client(message)) => return refused(vec![error(&message, "BAD_REQUEST")]),
                Err(Fault::Unresolved(message)) => return Err(Unresolved(message)),
            };
            if let (Some(read), Some(first)) =
                (read, prepared.argument(field, "first").and_then(|first| first.as_u64()))
            {
                used = used * (read + 1) / (first.max(read) + 1);
            }
            data.insert(field.response_key().to_string(), value);
        }
        let cost = self.cost(&mut state, cost, Some(used.max(1)));
        let mut extensions = json!({ "cost": cost });
        if let (false, Some(extensions)) = (warnings.is_empty(), extensions.as_object_mut()) {
            extensions.insert("search".to_owned(), json!([{ "path": ["orders"], "parsed": {}, "warnings": warnings }]));
        }
        Ok(Answered { body: json!({ "data": data, "extensions": extensions }), uninstalled })
    }

    /// Takes the points that were used, and shows the bucket.
    fn cost(&self, state: &mut State, requested: u64, used: Option<u64>) -> Value {
        state.bucket.level -= used.unwrap_or(0) as f64;
        json!({
            "requestedQueryCost": requested,
            "actualQueryCost": used,
            "throttleStatus": {
                "maximumAvailable": state.bucket.cap,
                "currentlyAvailable": state.bucket.level.floor(),
                "restoreRate": state.bucket.restore,
            },
        })
    }

    /// One field of the root, and how many records were read for it.
    fn field(
        &self,
        state: &mut State,
        prepared: &Prepared,
        field: &apollo_compiler::executable::Field,
        base: &str,
        warnings: &mut Vec<Value>,
    ) -> Result<(Value, Option<u64>), Fault> {
        let schema = &self.0.schema;
        let text = |name: &str| prepared.argument(field, name).and_then(|value| value.as_str().map(str::to_owned));
        let number = |kind: &str, gid: &str| -> Option<u64> {
            gid.strip_prefix(&format!("gid://shopify/{kind}/"))?.parse().ok()
        };
        let currency = state.shop.currency;
        let value = match field.name.as_str() {
            "orders" | "productVariants" => {
                let search = Search {
                    first: prepared
                        .argument(field, "first")
                        .and_then(|it| usize::try_from(it.as_u64()?).ok())
                        .unwrap_or(0),
                    after: text("after"),
                    sort: text("sortKey").unwrap_or_else(|| "PROCESSED_AT".to_owned()),
                    reverse: prepared.argument(field, "reverse") == Some(json!(true)),
                    query: text("query"),
                };
                let orders = field.name == "orders";
                let found = if orders { self.search(state, &search) } else { catalogue::search(state, &search) };
                let Found { nodes, end_cursor, more, warnings: unknown } = found.map_err(Fault::Client)?;
                warnings.extend(unknown);
                let shown = prepared.connection(schema, field, &nodes, end_cursor, more).map_err(Fault::Unresolved)?;
                return Ok((shown, Some(nodes.len() as u64)));
            }
            "order" => self.order_by_gid(state, &text("id").unwrap_or_default()),
            "nodes" => {
                let ids = prepared.argument(field, "ids").and_then(|ids| ids.as_array().cloned()).unwrap_or_default();
                ids.iter().map(|id| self.order_by_gid(state, id.as_str().unwrap_or_default())).collect()
            }
            "inventoryItem" => {
                let id = text("id").and_then(|gid| number("InventoryItem", &gid));
                let variant = state.shop.variants.iter().find(|variant| Some(variant.id) == id);
                variant.map_or(Value::Null, |variant| view::item(variant, currency.as_str()))
            }
            "shop" => view::shop(&state.shop),
            "currentAppInstallation" => {
                let scope = |scope: &String| json!({ "__typename": "AccessScope", "handle": scope });
                let scopes: Vec<Value> = state.scopes.iter().map(scope).collect();
                json!({ "__typename": "AppInstallation", "id": view::gid("AppInstallation", 1), "accessScopes": scopes })
            }
            "bulkOperation" => self.bulk(state, &text("id").unwrap_or_default(), base),
            "bulkOperationRunQuery" => {
                if prepared.argument(field, "groupObjects") == Some(json!(true)) {
                    return Err(Fault::Unresolved("grouped objects are not made here".to_owned()));
                }
                self.run_bulk(state, &text("query").unwrap_or_default()).map_err(Fault::Unresolved)?
            }
            "bulkOperationCancel" => {
                let id = text("id").unwrap_or_default();
                if let Some(bulk) = state.bulks.iter_mut().find(|bulk| bulk.id == id) {
                    bulk.is_cancelled = true;
                }
                let bulk = self.bulk(state, &id, base);
                json!({ "__typename": "BulkOperationCancelPayload", "bulkOperation": bulk, "userErrors": [] })
            }
            "webhookSubscriptions" => {
                let uri = text("uri");
                let ours = state.subscriptions.iter().filter(|it| uri.as_ref().is_none_or(|uri| it.uri == *uri));
                let nodes: Vec<Value> = ours.map(show_subscription).collect();
                let shown = prepared.connection(schema, field, &nodes, None, false).map_err(Fault::Unresolved)?;
                return Ok((shown, None));
            }
            "webhookSubscriptionCreate" => {
                let uri = prepared
                    .argument(field, "webhookSubscription")
                    .and_then(|input| input.get("uri")?.as_str().map(str::to_owned));
                if self.0.common.faults.take("hook_refused").is_some() {
                    refused_subscription("This app is not approved for webhooks of this topic")
                } else {
                    subscribe(state, text("topic").unwrap_or_default(), uri.unwrap_or_default())
                }
            }
            "appUninstall" => {
                state.pairs = super::Pairs::default();
                json!({ "__typename": "AppUninstallPayload", "userErrors": [] })
            }
            other => return Err(Fault::Unresolved(format!("{other} has no value here"))),
        };
        let shown = prepared.show(schema, &field.selection_set, &value).map_err(Fault::Unresolved)?;
        Ok((shown, None))
    }

    fn order_by_gid(&self, state: &State, gid: &str) -> Value {
        let id = gid.strip_prefix("gid://shopify/Order/").and_then(|id| id.parse().ok());
        let order = id.and_then(|id| state.shop.order(id)).filter(|order| self.is_visible(state, order));
        order.map_or(Value::Null, |order| view::order(&state.shop, order, self.0.config.shows_buyers))
    }
}

enum Fault {
    /// Of who asks.
    Client(String),
    /// Of the fake shop.
    Unresolved(String),
}

/// The recorded form of a refusal for want of a scope.
fn denied(prepared: &Prepared, schema: &apollo_compiler::Schema, field: &str, scope: &str) -> Value {
    let root = prepared.root().map(|set| prepared.fields(schema, set, None)).unwrap_or_default();
    let data: Map<String, Value> = root.iter().map(|field| (field.response_key().to_string(), Value::Null)).collect();
    let access = format!("`{scope}` access scope.");
    let error = json!({
        "message": format!("Access denied for {field} field. Required access: {access}"),
        "path": [field],
        "extensions": {
            "code": "ACCESS_DENIED",
            "documentation": "https://shopify.dev/api/usage/access-scopes",
            "requiredAccess": access,
        },
    });
    json!({ "data": data, "errors": [error] })
}

fn show_subscription(subscription: &Subscription) -> Value {
    let Subscription { id, topic, uri } = subscription;
    json!({ "__typename": "WebhookSubscription", "id": view::gid("WebhookSubscription", *id), "topic": topic, "uri": uri })
}

fn refused_subscription(message: &str) -> Value {
    let error = json!({ "__typename": "UserError", "field": ["webhookSubscription", "uri"], "message": message });
    json!({ "__typename": "WebhookSubscriptionCreatePayload", "userErrors": [error], "webhookSubscription": null })
}

fn subscribe(state: &mut State, topic: String, uri: String) -> Value {
    let is_local = uri.starts_with("http://127.0.0.1:") || uri.starts_with("http://localhost:");
    if !uri.starts_with("https://") && !is_local {
        return refused_subscription("Address protocol http:// is not supported");
    }
    if state.subscriptions.iter().any(|known| known.topic == topic && known.uri == uri) {
        return refused_subscription("Address for this topic has already been taken");
    }
    let subscription = Subscription { id: state.id(), topic, uri };
    let shown = show_subscription(&subscription);
    state.subscriptions.push(subscription);
    json!({ "__typename": "WebhookSubscriptionCreatePayload", "userErrors": [], "webhookSubscription": shown })
}
