//! HAProxy before the service, with the limits that an operator sets there (`packaging/haproxy.cfg`).

use std::{net::TcpStream, process::Stdio, time::Duration};

use anyhow::Context;
use tokio::{
    process::{Child, Command},
    time::Instant,
};

use crate::service::free_address;

/// Its configuration, from the root of the repository.
const FILE: &str = "packaging/haproxy.cfg";
/// How long it may take to listen.
const START: Duration = Duration::from_secs(10);

/// A running proxy; ends with this value.
pub struct Haproxy {
    child: Child,
    pub base_url: String,
}

impl Haproxy {
    /// Starts it before a service.
    ///
    /// # Errors
    /// When it cannot be run or does not listen.
    pub async fn start(service_url: &str) -> anyhow::Result<Self> {
        let listen = free_address()?;
        let child = Command::new("haproxy")
            .args(["-db", "-q", "-f", FILE])
            .env("LISTEN", &listen)
            .env("API", service_url.strip_prefix("http://").context("no http:// address")?)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("haproxy cannot be run: scripts/setup-bench.sh installs it")?;
        let began = Instant::now();
        while TcpStream::connect(&listen).is_err() {
            anyhow::ensure!(began.elapsed() < START, "haproxy does not listen on {listen}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(Self { child, base_url: format!("http://{listen}") })
    }

    /// The process.
    ///
    /// # Errors
    /// When it has ended.
    pub fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("haproxy has ended")
    }
}
