//! Looks at every part of the service once a minute.

use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use app::status::{Look, Looked, Prober};
use async_trait::async_trait;
use domain::{
    StoreError,
    health::{Health, SLOW_AFTER},
    uptime::{Component, Outcome},
};
use store::{Overdue, Store};
use time::OffsetDateTime;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// An answer that takes longer is no answer.
const WITHIN: Duration = Duration::from_secs(5);
/// How long a delivery that could be sent may wait for a worker.
const DELIVERY_WAITS: time::Duration = time::Duration::minutes(5);
/// Seconds of the longest day, on which clocks go back: every account has its jobs run once a day.
const LONGEST_DAY: f64 = 25.0 * 3_600.0;

/// What one process sees.
pub struct Eyes {
    store: Arc<Store>,
    /// Where this process answers HTTP, if it does.
    listener: Option<SocketAddr>,
    client: reqwest::Client,
    /// Seconds between two ticks of the jobs.
    jobs_interval: f64,
}

#[async_trait]
impl Look for Eyes {
    async fn look(&self, now: OffsetDateTime) -> Vec<(Component, Looked)> {
        let overdue = self.store.overdue(now, now - DELIVERY_WAITS);
        let (api, database, overdue) = tokio::join!(self.look_at_api(), self.look_at_database(), overdue);
        let mut seen = vec![(Component::Database, database)];
        seen.extend(api.map(|api| (Component::Api, api)));
        if let Ok(overdue) = overdue {
            seen.push((Component::Jobs, in_time(jobs_are_in_time(&overdue, self.jobs_interval))));
            seen.push((Component::Webhooks, in_time(overdue.neglected_subscriptions == 0)));
        }
        seen
    }
}

impl Eyes {
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(store: Arc<Store>, listener: Option<SocketAddr>, jobs_interval: Duration) -> anyhow::Result<Self> {
        // A new connection for each look, as a client has one.
        let client = reqwest::Client::builder().no_proxy().timeout(WITHIN).pool_max_idle_per_host(0).build()?;
        Ok(Self { store, listener, client, jobs_interval: jobs_interval.as_secs_f64() })
    }

    /// By what `/status` says to a client. `None` where this process answers no HTTP.
    async fn look_at_api(&self) -> Option<Looked> {
        let url = format!("http://{}/api/v1/status", reachable(self.listener?));
        let started = Instant::now();
        let answered = async { self.client.get(url).send().await?.bytes().await };
        let outcome = answered.await.map_or(Outcome::Down, |report| outcome(&report));
        let latency_ms = if outcome == Outcome::Down { None } else { milliseconds(started.elapsed()) };
        Some(Looked { outcome, latency_ms })
    }

    async fn look_at_database(&self) -> Looked {
        let answered = timeout(WITHIN, self.store.ping()).await;
        match answered.unwrap_or_else(|_| Err(StoreError::Unavailable("no answer in time".into()))) {
            Ok(took) if took > SLOW_AFTER => Looked { outcome: Outcome::Degraded, latency_ms: milliseconds(took) },
            Ok(took) => Looked { outcome: Outcome::Up, latency_ms: milliseconds(took) },
            Err(_) => Looked { outcome: Outcome::Down, latency_ms: None },
        }
    }
}

/// Whether runs whose process died are run again, and any are run: `interval` seconds lie between two ticks of the jobs.
const fn jobs_are_in_time(overdue: &Overdue, interval: f64) -> bool {
    let late = 2.0 * interval;
    overdue.oldest_abandoned_seconds < late && overdue.idle_seconds < LONGEST_DAY + late
}

const fn in_time(is_in_time: bool) -> Looked {
    Looked { outcome: if is_in_time { Outcome::Up } else { Outcome::Down }, latency_ms: None }
}

/// An address of this machine that leads to the listener: one on all addresses has none itself.
fn reachable(listener: SocketAddr) -> SocketAddr {
    let ip = match listener {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other.ip(),
    };
    SocketAddr::new(ip, listener.port())
}

/// What the report of `/status` says; anything else is no report.
fn outcome(report: &[u8]) -> Outcome {
    let report = serde_json::from_slice::<serde_json::Value>(report).ok();
    match report.as_ref().and_then(|report| report.get("status")?.as_str()) {
        Some("operational") => Outcome::Up,
        Some("degraded") => Outcome::Degraded,
        _ => Outcome::Down,
    }
}

fn milliseconds(took: Duration) -> Option<i64> {
    i64::try_from(took.as_millis()).ok()
}

/// Looks at the beginning of every minute, until cancelled.
pub async fn run(prober: Arc<Prober>, cancelled: CancellationToken) {
    loop {
        let now = OffsetDateTime::now_utc();
        prober.minute(now).await;
        tokio::select! {
            () = cancelled.cancelled() => return,
            () = tokio::time::sleep(until_next_minute(OffsetDateTime::now_utc())) => {}
        }
    }
}

fn until_next_minute(now: OffsetDateTime) -> Duration {
    Duration::from_secs(60) - Duration::new(now.second().into(), now.nanosecond())
}

#[cfg(test)]
mod tests;
