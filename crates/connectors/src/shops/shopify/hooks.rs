//! Webhooks: asking for them, and checking the ones that come.
//!
//! The body is signed, the headers are not. So what a header alone says must lead to nothing but reading something again;
//! for what has an effect of its own (an app removed, a buyer to be forgotten) the signed body has to say the same.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    accounts::Platform,
    shops::{
        Access, ShopError,
        hooks::{Hook, HookHeaders, HookRefused, HookVerifier, PrivacyRequest, Topic, TriggeredAt},
    },
};
use serde::Deserialize;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    Shopify,
    auth::shop_name,
    client::{Client, Reply},
    grants,
    queries::{SUBSCRIBE, SUBSCRIPTIONS},
    wire::Page,
};
use crate::shops::wire::Id;

/// What is asked for, with the scope that it needs. The privacy topics are set with the app itself.
const TOPICS: [(&str, Option<&str>); 12] = [
    ("ORDERS_CREATE", Some("read_orders")),
    ("ORDERS_UPDATED", Some("read_orders")),
    ("ORDERS_EDITED", Some("read_orders")),
    ("ORDERS_DELETE", Some("read_orders")),
    ("REFUNDS_CREATE", Some("read_orders")),
    ("PRODUCTS_CREATE", Some("read_products")),
    ("PRODUCTS_UPDATE", Some("read_products")),
    ("PRODUCTS_DELETE", Some("read_products")),
    ("INVENTORY_ITEMS_UPDATE", Some("read_inventory")),
    ("INVENTORY_LEVELS_UPDATE", Some("read_inventory")),
    ("APP_UNINSTALLED", None),
    ("APP_SCOPES_UPDATE", None),
];
/// Characters of a header that are kept.
const MAX_HEADER: usize = 128;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubscriptionsData {
    webhook_subscriptions: Page<TopicWire>,
}

#[derive(Deserialize)]
struct TopicWire {
    topic: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubscribeData {
    webhook_subscription_create: Option<Created>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    user_errors: Vec<MessageWire>,
}

#[derive(Deserialize)]
struct MessageWire {
    message: String,
}

/// Asks for the topics that are not sent to `address` yet, as far as their scopes were granted. One that is refused, such as for
/// want of an approval, keeps no other from being asked for.
pub(super) async fn subscribe(client: &Client, access: &Access, address: &str) -> Result<(), ShopError> {
    let Reply { data: SubscriptionsData { webhook_subscriptions: there }, .. } =
        client.run(access, SUBSCRIPTIONS, json!({ "uri": address })).await?;
    if there.page_info.has_next_page {
        return Err(ShopError::Malformed("webhookSubscriptions without end".to_owned()));
    }
    let mut asked = Ok(());
    for (topic, scope) in TOPICS {
        let is_granted = scope.is_none_or(|scope| grants(&access.scopes, scope));
        if !is_granted || there.nodes.iter().any(|there| there.topic == topic) {
            continue;
        }
        match ask_for(client, access, topic, address).await {
            Err(refused @ (ShopError::Rejected(_) | ShopError::MissingScope(_))) => asked = asked.and(Err(refused)),
            done => done?,
        }
    }
    asked
}

async fn ask_for(client: &Client, access: &Access, topic: &str, address: &str) -> Result<(), ShopError> {
    let variables = json!({ "topic": topic, "uri": address });
    let reply: Reply<SubscribeData> = client.run(access, SUBSCRIBE, variables).await?;
    let created = reply.data.webhook_subscription_create;
    let errors = created.ok_or_else(|| ShopError::Malformed("webhookSubscriptionCreate".to_owned()))?.user_errors;
    match errors.first() {
        // Unverified: the text for a subscription that another process made in between.
        Some(error) if !error.message.contains("already been taken") => {
            Err(ShopError::Rejected(error.message.chars().take(200).collect()))
        }
        _ => Ok(()),
    }
}

impl HookVerifier for Shopify {
    fn platform(&self) -> Platform {
        Platform::Shopify
    }

    fn verify(&self, headers: &dyn HookHeaders, body: &[u8], _: OffsetDateTime) -> Result<Hook, HookRefused> {
        let signature = headers.one("x-shopify-hmac-sha256").ok_or(HookRefused::Unsigned)?;
        let tag = STANDARD.decode(signature).ok().filter(|tag| tag.len() == 32).ok_or(HookRefused::Unsigned)?;
        if !self.keys.accept(body, &tag) {
            return Err(HookRefused::Forged);
        }
        let header = |name| headers.one(name).filter(|text| (1..=MAX_HEADER).contains(&text.len()));
        let given = header("x-shopify-shop-domain").ok_or(HookRefused::Unreadable)?;
        let shop_id = shop_name(given).ok_or(HookRefused::Unreadable)?;
        let topic_name = header("x-shopify-topic").ok_or(HookRefused::Unreadable)?;
        let body: Value = serde_json::from_slice(body).map_err(|_| HookRefused::Unreadable)?;
        let mut topic = topic(topic_name, &shop_id, &body).ok_or(HookRefused::Unreadable)?;
        if let Topic::Uninstalled(at) = &mut topic {
            let text = header("x-shopify-triggered-at");
            *at = text.and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok()).map(TriggeredAt);
        }
        // A delivery keeps its identifier when it is tried again. The event's is shared by all that one act of the shop leads to:
        // fifty orders that are cancelled at once, buyers that are to be forgotten.
        let id = header("x-shopify-webhook-id").or_else(|| header("x-shopify-event-id"));
        let dedup_key = id.ok_or(HookRefused::Unreadable)?.to_owned();
        Ok(Hook { shop_id, topic_name: topic_name.to_owned(), topic, dedup_key })
    }
}

/// What a hook says; `None` when its body is not what this topic has.
fn topic(name: &str, shop: &str, body: &Value) -> Option<Topic> {
    let signed_for = |field: &str| body.get(field).and_then(Value::as_str) == Some(shop);
    let topic = match name {
        "orders/edited" => Topic::Order(body.get("order_edit").and_then(|edit| id(edit, "order_id"))),
        "refunds/create" | "order_transactions/create" => Topic::Order(id(body, "order_id")),
        _ if name.starts_with("orders/") => Topic::Order(id(body, "id")),
        _ if name.starts_with("returns/") => Topic::Order(body.get("order").and_then(|order| id(order, "id"))),
        "app/uninstalled" => return signed_for("myshopify_domain").then_some(Topic::Uninstalled(None)),
        "app/scopes_update" => Topic::ScopesChanged,
        "customers/data_request" | "customers/redact" | "shop/redact" => {
            return signed_for("shop_domain").then(|| privacy(name, body))?.map(Topic::Privacy);
        }
        _ => {
            let catalogue = ["products/", "inventory_items/", "inventory_levels/", "locations/"];
            let is_catalogue = catalogue.iter().any(|start| name.starts_with(start));
            if is_catalogue { Topic::Catalogue } else { Topic::Other }
        }
    };
    Some(topic)
}

/// A request for privacy, told apart by what its body alone has: the topic is a header, which anybody could change.
fn privacy(name: &str, body: &Value) -> Option<PrivacyRequest> {
    let customer = || body.get("customer").and_then(|customer| id(customer, "id"));
    let has = |field: &str| body.get(field).is_some();
    match name {
        "customers/data_request" if has("data_request") => Some(PrivacyRequest::Data { customer: customer()? }),
        "customers/redact" if has("orders_to_redact") => {
            let orders = body.get("orders_to_redact").and_then(Value::as_array)?;
            let orders = orders.iter().map(of_value).collect::<Option<_>>()?;
            Some(PrivacyRequest::RedactCustomer { customer: customer()?, orders })
        }
        "shop/redact" if !has("customer") && has("shop_id") => Some(PrivacyRequest::RedactShop),
        _ => None,
    }
}

fn id(body: &Value, field: &str) -> Option<String> {
    of_value(body.get(field)?)
}

fn of_value(value: &Value) -> Option<String> {
    serde_json::from_str::<Id>(&value.to_string()).ok().map(|Id(id)| id)
}

#[cfg(test)]
mod tests;
