//! Tells the service about payments, as the real gateway does: signed, and again until it is answered with 2xx.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use connectors::payments::{SIGNATURE_HEADER, sign};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use time::OffsetDateTime;

use super::book::{Faults, Payment};

/// After an attempt that was not answered with 2xx; the last value repeats.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];
/// Attempts after which a notification is given up.
const ATTEMPTS: usize = 20;

#[derive(Clone)]
pub struct Notifier {
    secret: SecretString,
    client: reqwest::Client,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    url: Option<String>,
    /// Held back so that the next one overtakes it.
    held: Option<Vec<u8>>,
}

impl Notifier {
    pub fn new(secret: SecretString) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20)).build()?;
        Ok(Self { secret, client, shared: Arc::default() })
    }

    pub fn send_to(&self, url: String) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).url = Some(url);
    }

    /// Sends what became of a payment, with the faults that are on.
    pub fn tell(&self, payment: &Payment, faults: &Faults) {
        if faults.silent {
            return;
        }
        let body = json!({ "event": "payment.updated", "payment": { "id": payment.id, "status": payment.status } });
        let body = body.to_string().into_bytes();
        let (url, bodies) = {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(url) = shared.url.clone() else { return };
            match shared.held.take() {
                None if faults.reordered => {
                    shared.held = Some(body);
                    return;
                }
                held => (url, std::iter::once(body).chain(held).collect::<Vec<_>>()),
            }
        };
        let this = self.clone();
        let times = faults.duplicate.saturating_add(1);
        #[expect(clippy::disallowed_methods, reason = "a notification of a gateway for development")]
        tokio::spawn(async move {
            for body in bodies {
                for _ in 0..times {
                    this.deliver(&url, &body).await;
                }
            }
        });
    }

    async fn deliver(&self, url: &str, body: &[u8]) {
        for attempt in 0..ATTEMPTS {
            let signature = sign(self.secret.expose_secret(), OffsetDateTime::now_utc().unix_timestamp(), body);
            let request = self.client.post(url).header(SIGNATURE_HEADER, signature).body(body.to_vec());
            match request.header("content-type", "application/json").send().await {
                Ok(answer) if answer.status().is_success() => return,
                Ok(answer) => tracing::warn!(status = answer.status().as_u16(), "a notification was not taken"),
                Err(_) => tracing::warn!("a notification was not answered"),
            }
            let pause = PAUSES.get(attempt).or(PAUSES.last()).copied().unwrap_or_default();
            tokio::time::sleep(pause).await;
        }
    }
}
