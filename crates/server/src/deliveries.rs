//! Sends webhooks: puts the delivery engine together and runs it.

use std::sync::Arc;

use anyhow::Context;
use app::deliveries::{self, Options, Ports};
use delivery::{
    seal::KeyRing,
    sender::{DEADLINE, HttpSender, SenderConfig},
};
use domain::webhooks::{address::AllowList, delivery::Receiver};
use ring::rand::{SecureRandom, SystemRandom};
use store::{Connect, Store};
use time::OffsetDateTime;
use tokio::sync::mpsc;

use crate::{
    config::Config,
    supervisor::{Supervisor, Task},
};

/// Announcements that may wait; what does not fit is found by polling.
const ANNOUNCEMENTS: usize = 10_000;

/// The client that deliveries go out with. Loud when it is allowed to call this machine.
pub fn sender(config: &Config) -> anyhow::Result<HttpSender> {
    let allow_loopback: AllowList = config.webhook_allow_loopback.parse().context("webhook_allow_loopback")?;
    if !allow_loopback.is_empty() {
        tracing::warn!(%allow_loopback, "webhooks may be sent to this machine: never allow that in production");
    }
    let user_agent = concat!("business-analytics/", env!("CARGO_PKG_VERSION")).to_owned();
    HttpSender::new(SenderConfig { deadline: DEADLINE, allow_loopback, user_agent }).context("webhook sender")
}

/// The ports of the delivery engine.
pub fn ports(store: &Arc<Store>, keys: &Arc<KeyRing>, sender: &Arc<HttpSender>) -> Ports {
    Ports {
        queue: store.clone(),
        sender: sender.clone(),
        sealer: keys.clone(),
        clock: Arc::new(OffsetDateTime::now_utc),
        jitter: Arc::new(jitter),
        trials: Arc::default(),
    }
}

/// Delivers until the process is about to stop; attempts under way then end first. Without a direct way to the database nothing is heard of
/// what becomes due; it is found by polling.
pub async fn run(ports: Ports, direct: Option<Connect>, supervisor: Supervisor) {
    let (announce, announced) = mpsc::channel::<Receiver>(ANNOUNCEMENTS);
    let _listener = direct.map(|direct| {
        let forward = move || store::forward_due(direct.clone(), announce.clone());
        supervisor.start_child(Task::new("delivery_listener", forward))
    });
    deliveries::run(ports, Options::default(), announced, supervisor.stopping().cancelled()).await;
}

/// A number in `[0, 1)`.
pub fn jitter() -> f64 {
    let mut bytes = [0; 4];
    // Without random numbers nothing is spread, and nothing else is lost.
    SystemRandom::new().fill(&mut bytes).ok();
    f64::from(u32::from_le_bytes(bytes)) / 4_294_967_296.0
}

#[cfg(test)]
mod tests {
    #[test]
    fn jitter_is_a_part_of_one() {
        let drawn: Vec<f64> = (0..100).map(|_| super::jitter()).collect();
        assert!(drawn.iter().all(|number| (0.0..1.0).contains(number)));
        assert!(drawn.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
