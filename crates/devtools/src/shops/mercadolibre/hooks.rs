//! Notifications: not signed, to be answered with 200 within 500 ms, tried eight times, then kept for two days. A topic with
//! many misses is switched off.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{answer::Answer, sales::Query};
use crate::shops::faults::Faults;

const DEADLINE: Duration = Duration::from_millis(500);
const ATTEMPTS: u32 = 8;
/// The hour in which Mercado Libre tries again, in short.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// Unverified: after how many lost notifications a topic is switched off.
const MISSES: u32 = 20;
const KEPT: time::Duration = time::Duration::days(2);

#[derive(Default)]
struct State {
    url: Option<String>,
    sent: u64,
    /// Held back so that the next one overtakes it.
    held: Option<Value>,
    missed: Vec<(OffsetDateTime, Value)>,
    misses: HashMap<String, u32>,
}

impl State {
    fn miss(&mut self, now: OffsetDateTime, body: Value) {
        self.missed.push((now, body));
    }
}

/// Sends notifications; cloning shares it.
#[derive(Clone)]
pub struct Hooks {
    client: reqwest::Client,
    state: Arc<Mutex<State>>,
}

impl Hooks {
    pub fn new() -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().no_proxy().timeout(DEADLINE).build()?;
        Ok(Self { client, state: Arc::default() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn send_to(&self, url: Option<String>) {
        self.lock().url = url;
    }

    /// Tells of a change of a resource, with the faults that are on.
    pub fn tell(&self, faults: &Faults, (app, user): (&str, u64), topic: &str, resource: &str, now: OffsetDateTime) {
        let id = {
            let mut state = self.lock();
            state.sent += 1;
            format!("f9f08571-1f65-4c46-9e0a-{:012x}", state.sent)
        };
        let sent = now.format(&time::format_description::well_known::Rfc3339).unwrap_or_default();
        let body = json!({
            "_id": id, "resource": resource, "user_id": user, "topic": topic,
            "application_id": app.parse::<u64>().map_or(Value::from(app), Value::from),
            "attempts": 1, "sent": sent, "received": sent,
        });
        if faults.take("hook_lost").is_some() {
            self.lock().miss(now, body);
            return;
        }
        let times = if faults.take("hook_twice").is_some() { 2 } else { 1 };
        let held = {
            let mut state = self.lock();
            if faults.take("hook_held").is_some() {
                state.held = Some(body);
                return;
            }
            state.held.take()
        };
        for _ in 0..times {
            self.send(body.clone(), now);
        }
        if let Some(held) = held {
            self.send(held, now);
        }
    }

    /// What somebody else sends: for another user, for another app, of a resource that is none.
    pub fn forge(&self, (app, user): (&str, u64), now: OffsetDateTime) {
        let forged = [
            (app, user + 1, "orders_v2", "/orders/1"),
            ("1", user, "orders_v2", "/orders/1"),
            (app, user, "orders_v2", "//evil.example/orders/1"),
            (app, user, "orders_v2", "/orders/../users/me"),
        ];
        for (app, user, topic, resource) in forged {
            self.send(json!({"resource": resource, "user_id": user, "topic": topic, "application_id": app}), now);
        }
    }

    fn send(&self, mut body: Value, now: OffsetDateTime) {
        let topic = body.get("topic").and_then(Value::as_str).unwrap_or_default().to_owned();
        let url = {
            let state = self.lock();
            // While a topic is off, nothing is kept.
            let is_off = state.misses.get(&topic).is_some_and(|misses| *misses >= MISSES);
            state.url.clone().filter(|_| !is_off)
        };
        let Some(url) = url else { return };
        let this = self.clone();
        #[expect(clippy::disallowed_methods, reason = "a notification of a platform for development")]
        tokio::spawn(async move {
            for attempt in 1..=ATTEMPTS {
                if let Some(fields) = body.as_object_mut() {
                    fields.insert("attempts".to_owned(), attempt.into());
                }
                let request = this.client.post(&url).header("content-type", "application/json").body(body.to_string());
                let taken = request.send().await.is_ok_and(|answer| answer.status().as_u16() == 200);
                if taken {
                    return;
                }
                tokio::time::sleep(FIRST_PAUSE * 2_u32.pow(attempt - 1)).await;
            }
            let mut state = this.lock();
            *state.misses.entry(topic).or_insert(0) += 1;
            state.miss(now, body);
        });
    }

    /// `GET /missed_feeds`, ten at a time
    pub fn missed(&self, query: &Query, now: OffsetDateTime) -> Result<Answer, Answer> {
        let (topic, limit, offset) = (query.get("topic"), query.whole("limit", 10)?, query.whole("offset", 0)?);
        let state = self.lock();
        let is_kept = |(at, body): &&(OffsetDateTime, Value)| {
            now - *at <= KEPT && topic.is_none_or(|topic| body.get("topic").and_then(Value::as_str) == Some(topic))
        };
        let kept = state.missed.iter().filter(is_kept).map(|(_, body)| body);
        let messages: Vec<&Value> = kept.skip(offset).take(limit).collect();
        Ok(Answer::ok(json!({ "messages": messages })))
    }
}
