//! Webhooks: signed, sent again until they are answered with 2xx within 5 s, given up after 8 failures together with their
//! subscription.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use connectors::shops::signature::sign;
use reqwest::{Client, redirect::Policy};
use secrecy::SecretString;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use super::{ShopifyStub, Subscription};

/// Attempts after the first, and the pauses before them: as far apart as the platform's, a thousand times faster.
const PAUSES: [Duration; 8] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
    Duration::from_millis(1_600),
    Duration::from_millis(3_200),
    Duration::from_millis(3_600),
    Duration::from_millis(3_600),
];

/// Sends hooks.
pub struct Notifier {
    client: Client,
    secret: SecretString,
    /// Held back until the next one was sent.
    held: Arc<Mutex<Option<Hook>>>,
}

struct Hook {
    subscription: Subscription,
    topic: String,
    event: String,
    /// The same when it is sent again.
    webhook: String,
    /// By the real clock, as the receiver's: the present of the platform can be moved.
    triggered_at: String,
    body: Vec<u8>,
}

impl Notifier {
    pub fn new(secret: SecretString) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().redirect(Policy::none()).timeout(Duration::from_secs(5)).build()?;
        Ok(Self { client, secret, held: Arc::default() })
    }
}

impl ShopifyStub {
    /// Sends a hook of an event to every subscription of its topic.
    fn notify(&self, event: &str, topic: &str, body: &Value) {
        let name = topic.to_uppercase().replace('/', "_");
        let subscribed: Vec<Subscription> =
            self.lock().subscriptions.iter().filter(|subscription| subscription.topic == name).cloned().collect();
        self.send(event, topic, body, subscribed);
    }

    /// Sends a hook that is no subscription's, but set with the app: to where the others go.
    fn notify_app(&self, topic: &str, body: &Value) {
        let subscribed = self.lock().subscriptions.first().cloned();
        self.send(&identifier(), topic, body, subscribed.into_iter().collect());
    }

    fn send(&self, event: &str, topic: &str, body: &Value, subscribed: Vec<Subscription>) {
        let triggered_at = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        for subscription in subscribed {
            let faults = &self.0.common.faults;
            if faults.take("hook_lost").is_some() {
                continue;
            }
            let times = if faults.take("hook_twice").is_some() { 2 } else { 1 };
            let webhook = identifier();
            let hook = || Hook {
                subscription: subscription.clone(),
                topic: topic.to_owned(),
                event: event.to_owned(),
                webhook: webhook.clone(),
                triggered_at: triggered_at.clone(),
                body: body.to_string().into_bytes(),
            };
            let mut due: Vec<Hook> = (0..times).map(|_| hook()).collect();
            let mut held = self.0.notifier.held.lock().unwrap_or_else(PoisonError::into_inner);
            if held.is_none() && faults.take("hook_held").is_some() {
                *held = due.pop();
            } else {
                due.extend(held.take());
            }
            drop(held);
            let this = self.clone();
            #[expect(clippy::disallowed_methods, reason = "a hook of a platform for development")]
            tokio::spawn(async move {
                for hook in due {
                    this.deliver(hook).await;
                }
            });
        }
    }

    async fn deliver(&self, hook: Hook) {
        let Hook { subscription, topic, event, webhook, triggered_at, body } = hook;
        let Notifier { client, secret, .. } = &self.0.notifier;
        let signature = base64(&sign(secret, &body));
        for pause in std::iter::once(Duration::ZERO).chain(PAUSES) {
            tokio::time::sleep(pause).await;
            let request = client
                .post(&subscription.uri)
                .header("content-type", "application/json")
                .header("x-shopify-hmac-sha256", &signature)
                .header("x-shopify-topic", &topic)
                .header("x-shopify-shop-domain", &self.0.config.shop)
                .header("x-shopify-api-version", "2026-07")
                .header("x-shopify-webhook-id", &webhook)
                .header("x-shopify-event-id", &event)
                .header("x-shopify-triggered-at", &triggered_at)
                .body(body.clone());
            match request.send().await {
                Ok(answer) if answer.status().is_success() => return,
                Ok(answer) => tracing::warn!(status = answer.status().as_u16(), topic, "a hook was not taken"),
                Err(_) => tracing::warn!(topic, "a hook was not answered"),
            }
        }
        self.lock().subscriptions.retain(|known| *known != subscription);
    }

    /// The hooks after something happened to an order: all of one event.
    pub(super) fn notify_order(&self, action: &str, id: u64) {
        let event = identifier();
        let tell = |topic: &str, body: &Value| self.notify(&event, topic, body);
        let order = json!({ "id": id, "admin_graphql_api_id": format!("gid://shopify/Order/{id}") });
        match action {
            "sell" | "sell_gift_card" | "sell_with_gift_card" => tell("orders/create", &order),
            "edit" => tell("orders/edited", &json!({ "order_edit": { "order_id": id } })),
            "refund" | "cancel" => tell("refunds/create", &json!({ "id": id + 1, "order_id": id })),
            "delete" => return tell("orders/delete", &json!({ "id": id })),
            _ => {}
        }
        tell("orders/updated", &order);
        if action.starts_with("sell") {
            tell("inventory_levels/update", &json!({ "inventory_item_id": 1, "available": 1 }));
        }
    }

    /// The hook after the app was removed.
    pub(super) fn notify_uninstalled(&self) {
        self.notify(&identifier(), "app/uninstalled", &json!({ "id": 1, "myshopify_domain": self.0.config.shop }));
    }

    /// The hooks that a law makes the platform send.
    pub(super) fn notify_privacy(&self, action: &str, id: u64, orders: &[u64]) {
        let domain = &self.0.config.shop;
        let customer = json!({ "id": id, "email": "buyer@example.com", "phone": null });
        match action {
            "data_request" => {
                let request = json!({ "id": 9_999 });
                let body = json!({
                    "shop_id": 1, "shop_domain": domain, "orders_requested": orders, "customer": customer,
                    "data_request": request,
                });
                self.notify_app("customers/data_request", &body);
            }
            "redact_customer" => {
                let body =
                    json!({ "shop_id": 1, "shop_domain": domain, "customer": customer, "orders_to_redact": orders });
                self.notify_app("customers/redact", &body);
            }
            _ => self.notify_app("shop/redact", &json!({ "shop_id": 1, "shop_domain": domain })),
        }
    }
}

fn identifier() -> String {
    Uuid::new_v4().to_string()
}

fn base64(bytes: &[u8]) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}
