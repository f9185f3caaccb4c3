//! Hooks: sent to who subscribed to the event, signed, and again until they are answered with 2xx within 3 seconds.

use std::{sync::Weak, time::Duration as RealDuration};

use connectors::shops::{signature, tiendanube::SIGNATURE_HEADER};
use serde::Serialize;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use super::{Inner, Shared, Tiendanube};
use crate::shops::Stub;

/// A hook that is not answered by then counts as lost.
const DEADLINE: RealDuration = RealDuration::from_secs(3);
/// How often it is looked for hooks that are due.
const TICK: RealDuration = RealDuration::from_millis(20);
/// After the first attempts; each later pause is 1.4 times the one before.
const PAUSES: [Duration; 4] = [Duration::ZERO, Duration::minutes(5), Duration::minutes(10), Duration::minutes(15)];
const GROWTH: f64 = 1.4;
/// After so long a hook is given up.
const GIVEN_UP: Duration = Duration::hours(48);

#[derive(Debug, Clone, Serialize)]
pub struct Subscription {
    pub id: u64,
    pub event: String,
    pub url: String,
}

/// A hook on its way.
#[derive(Debug, Clone, Serialize)]
pub struct Delivery {
    url: String,
    body: String,
    attempts: u32,
    #[serde(with = "time::serde::rfc3339")]
    since: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    due: OffsetDateTime,
}

#[derive(Debug, Default)]
pub struct Queue {
    pub subscriptions: Vec<Subscription>,
    pub waiting: Vec<Delivery>,
    /// Sent after the next one.
    held: Vec<Delivery>,
    /// On the wire at the moment.
    pub under_way: usize,
}

/// The scope that an event takes; `None` when there is no such event.
pub fn scope_of(event: &str) -> Option<Option<&'static str>> {
    match event {
        "app/uninstalled" | "app/suspended" | "app/resumed" | "domain/updated" => Some(None),
        "order/created"
        | "order/updated"
        | "order/paid"
        | "order/packed"
        | "order/fulfilled"
        | "order/cancelled"
        | "order/edited"
        | "order/pending"
        | "order/voided"
        | "order/unpacked"
        | "order/custom_fields_updated" => Some(Some("read_orders")),
        "product/created" | "product/updated" | "product/deleted" => Some(Some("read_products")),
        "customer/created" | "customer/updated" | "customer/deleted" => Some(Some("read_customers")),
        _ => None,
    }
}

/// Sends an event about a record to who subscribed to it.
pub fn tell(stub: &Tiendanube, inner: &mut Inner, event: &str, id: &str) {
    let id = id.parse::<u64>().map_or_else(|_| Value::from(id), Value::from);
    let body = json!({ "store_id": inner.store.id, "event": event, "id": id });
    let to: Vec<_> = inner.queue.subscriptions.iter().filter(|to| to.event == event).map(|to| to.url.clone()).collect();
    for url in to {
        send(stub, inner, url, &body);
    }
}

/// Sends what every app has to take: to all addresses that are subscribed to something.
pub fn tell_all(stub: &Tiendanube, inner: &mut Inner, body: &Value) {
    let mut to: Vec<_> = inner.queue.subscriptions.iter().map(|to| to.url.clone()).collect();
    to.sort();
    to.dedup();
    for url in to {
        send(stub, inner, url, body);
    }
}

fn send(stub: &Tiendanube, inner: &mut Inner, url: String, body: &Value) {
    let faults = &stub.common().faults;
    if faults.take("hook_lost").is_some() {
        return;
    }
    let now = stub.now();
    let delivery = Delivery { url, body: body.to_string(), attempts: 0, since: now, due: now };
    if faults.take("hook_held").is_some() {
        inner.queue.held.push(delivery);
        return;
    }
    if faults.take("hook_twice").is_some() {
        inner.queue.waiting.push(delivery.clone());
    }
    inner.queue.waiting.push(delivery);
    let mut held = std::mem::take(&mut inner.queue.held);
    inner.queue.waiting.append(&mut held);
}

/// When a hook is tried again after so many attempts; `None`: not any more.
fn next(delivery: &Delivery, now: OffsetDateTime) -> Option<OffsetDateTime> {
    let failed = usize::try_from(delivery.attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let pause = PAUSES.get(failed).copied().unwrap_or_else(|| {
        let beyond = i32::try_from(failed + 1 - PAUSES.len()).unwrap_or(i32::MAX);
        Duration::seconds_f64((PAUSES.last().map_or(0.0, |last| last.as_seconds_f64()) * GROWTH.powi(beyond)).min(1e6))
    });
    (now + pause < delivery.since + GIVEN_UP).then_some(now + pause)
}

/// Sends what is due, until the stub is no more.
pub(super) async fn run(stub: Weak<Shared>) {
    let Ok(client) =
        reqwest::Client::builder().no_proxy().timeout(DEADLINE).redirect(reqwest::redirect::Policy::none()).build()
    else {
        return;
    };
    loop {
        tokio::time::sleep(TICK).await;
        let Some(stub) = stub.upgrade().map(Tiendanube) else { return };
        let now = stub.now();
        let due = {
            let mut inner = stub.inner();
            let (due, waiting) = std::mem::take(&mut inner.queue.waiting).into_iter().partition(|one| one.due <= now);
            inner.queue.waiting = waiting;
            let due: Vec<Delivery> = due;
            inner.queue.under_way = due.len();
            due
        };
        for mut delivery in due {
            let body = delivery.body.clone().into_bytes();
            let signature = hex::encode(signature::sign(&stub.config().client_secret, &body));
            let request = client.post(&delivery.url).header("content-type", "application/json");
            let answer = request.header(SIGNATURE_HEADER, signature).body(body).send().await;
            delivery.attempts += 1;
            let is_taken = answer.is_ok_and(|answer| answer.status().is_success());
            let mut inner = stub.inner();
            inner.queue.under_way -= 1;
            if !is_taken && let Some(due) = next(&delivery, now) {
                inner.queue.waiting.push(Delivery { due, ..delivery });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_hook_is_tried_again_for_two_days() {
        let since = datetime!(2026-11-24 12:00 UTC);
        let mut delivery = Delivery { url: String::new(), body: String::new(), attempts: 1, since, due: since };
        let mut pauses = Vec::new();
        let mut now = since;
        while let Some(due) = next(&delivery, now) {
            pauses.push((due - now).whole_minutes());
            (now, delivery.attempts) = (due, delivery.attempts + 1);
        }
        assert_eq!(pauses[..6], [0, 5, 10, 15, 21, 29]);
        assert!((14..=18).contains(&pauses.len()), "{pauses:?}");
    }
}
