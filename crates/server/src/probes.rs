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
    health::Health,
    uptime::{Component, Outcome},
};
use store::Store;
use time::OffsetDateTime;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// An answer that takes longer is no answer.
const WITHIN: Duration = Duration::from_secs(5);
/// A database that takes longer to answer is slow, as `/status` has it.
const SLOW_AFTER: Duration = Duration::from_millis(250);
/// How long a delivery that is due may wait for a worker, seconds.
const DELIVERY_WAITS: f64 = 300.0;

/// What one process sees.
pub struct Eyes {
    pub store: Arc<Store>,
    /// Where this process answers HTTP, if it does.
    pub listener: Option<SocketAddr>,
    /// Seconds between two ticks of the jobs.
    pub jobs_interval: f64,
}

#[async_trait]
impl Look for Eyes {
    async fn look(&self, component: Component, now: OffsetDateTime) -> Option<Looked> {
        match component {
            Component::Api => Some(look_at_api(self.listener?).await),
            Component::Database => Some(self.look_at_database().await),
            Component::Jobs => {
                let late = self.store.depths(now).await.ok()?.oldest_abandoned_seconds;
                Some(in_time(late < 2.0 * self.jobs_interval))
            }
            Component::Webhooks => {
                Some(in_time(self.store.depths(now).await.ok()?.oldest_due_seconds < DELIVERY_WAITS))
            }
            Component::Social => None,
        }
    }
}

impl Eyes {
    async fn look_at_database(&self) -> Looked {
        let answered = timeout(WITHIN, self.store.ping()).await;
        match answered.unwrap_or_else(|_| Err(StoreError::Unavailable("no answer in time".into()))) {
            Ok(took) if took > SLOW_AFTER => Looked { outcome: Outcome::Degraded, latency_ms: milliseconds(took) },
            Ok(took) => Looked { outcome: Outcome::Up, latency_ms: milliseconds(took) },
            Err(_) => Looked { outcome: Outcome::Down, latency_ms: None },
        }
    }
}

const fn in_time(is_in_time: bool) -> Looked {
    Looked { outcome: if is_in_time { Outcome::Up } else { Outcome::Down }, latency_ms: None }
}

/// By what `/status` says to a client.
async fn look_at_api(listener: SocketAddr) -> Looked {
    let started = Instant::now();
    let outcome = match timeout(WITHIN, status(listener)).await {
        Ok(Ok(answer)) => outcome(&answer),
        Ok(Err(_)) | Err(_) => Outcome::Down,
    };
    let latency_ms = if outcome == Outcome::Down { None } else { milliseconds(started.elapsed()) };
    Looked { outcome, latency_ms }
}

async fn status(listener: SocketAddr) -> std::io::Result<Vec<u8>> {
    let mut connection = TcpStream::connect(reachable(listener)).await?;
    let request = "GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    connection.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await?;
    Ok(answer)
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

/// What an answer of `/status` says; anything else than a report is no answer.
fn outcome(answer: &[u8]) -> Outcome {
    let body = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").and_then(|head| answer.get(head + 4..));
    let report = body.and_then(|body| serde_json::from_slice::<serde_json::Value>(body).ok());
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
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests;
