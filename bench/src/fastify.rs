//! A peer: the alternative that is quickly written, fifty lines of Fastify and pg (`bench/peers/fastify`).

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::Context;
use tokio::{
    process::{Child, Command},
    time::Instant,
};

use crate::{cluster::Postgres, service::free_address};

/// Where its sources are, from the root of the repository.
const DIRECTORY: &str = "bench/peers/fastify";

/// A running peer; ends with this value.
pub struct Fastify {
    child: Child,
    pub base_url: String,
}

impl Fastify {
    /// Installs what it needs, once, and starts it on a database.
    ///
    /// # Errors
    /// When npm fails or the peer does not answer.
    pub async fn start(postgres: &Postgres, database: &str, connections: u32) -> anyhow::Result<Self> {
        if !Path::new(DIRECTORY).join("node_modules").is_dir() {
            let mut npm = Command::new("npm");
            npm.args(["ci", "--silent", "--no-audit", "--no-fund"]).current_dir(DIRECTORY);
            let installed = npm.status().await.context("npm cannot be run: scripts/setup-bench.sh installs it")?;
            anyhow::ensure!(installed.success(), "npm could not install {DIRECTORY}");
        }
        let address = free_address()?;
        let port = address.rsplit(':').next().context("an address without a port")?;
        let child = Command::new("node")
            .arg("server.js")
            .current_dir(DIRECTORY)
            .env("PGHOST", postgres.socket())
            .env("PGUSER", "postgres")
            .env("PGDATABASE", database)
            .env("PORT", port)
            .env("CONNECTIONS", connections.to_string())
            .env("NODE_ENV", "production")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("node cannot be run: scripts/setup-bench.sh installs it")?;
        let peer = Self { child, base_url: format!("http://{address}") };
        peer.wait_until_ready().await?;
        Ok(peer)
    }

    async fn wait_until_ready(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        while reqwest::get(format!("{}/ready", self.base_url)).await.is_err() {
            anyhow::ensure!(began.elapsed() < Duration::from_secs(30), "the Fastify peer does not answer");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// The process; its workers are below it.
    ///
    /// # Errors
    /// When it has ended.
    pub fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("the Fastify peer has ended")
    }
}
