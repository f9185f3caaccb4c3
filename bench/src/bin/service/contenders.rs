//! What is measured in turns: the service, the limits and the peers, each under a load generator.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bench::{
    cluster::Postgres,
    from_memory::FromMemory,
    load::{Load, Wrk},
    paced::Paced,
    pgbench::Pgbench,
    rounds::Contender,
    service::Service,
};

use crate::Bench;

/// A server under HTTP load.
pub struct Http<'a> {
    pub name: &'a str,
    pub wrk: Wrk,
    pub base_url: String,
    /// The server, and what works for it.
    pub processes: Vec<u32>,
    pub scratch: std::path::PathBuf,
}

impl<'a> Http<'a> {
    /// The service, and Postgres, which works for it.
    pub fn service(bench: &Bench, name: &'a str, wrk: Wrk, service: &Service) -> anyhow::Result<Self> {
        let processes = vec![service.pid()?, bench.postgres.pid()];
        let scratch = bench.postgres.scratch().to_owned();
        Ok(Self { name, wrk, base_url: service.base_url.clone(), processes, scratch })
    }

    /// The same bytes from this process.
    pub fn from_memory(bench: &Bench, wrk: Wrk, memory: &FromMemory) -> Self {
        let scratch = bench.postgres.scratch().to_owned();
        let processes = vec![std::process::id()];
        Self { name: "from memory", wrk, base_url: memory.base_url.clone(), processes, scratch }
    }
}

#[async_trait]
impl Contender for Http<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn command(&self) -> String {
        self.wrk.shown()
    }

    fn processes(&self) -> Vec<u32> {
        self.processes.clone()
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        self.wrk.run(&self.base_url, &self.scratch).await
    }
}

/// A server at full speed, and how fast that was.
pub struct Highest<'a> {
    pub http: Http<'a>,
    pub seen: &'a Mutex<Load>,
}

#[async_trait]
impl Contender for Highest<'_> {
    fn name(&self) -> String {
        self.http.name()
    }

    fn command(&self) -> String {
        self.http.command()
    }

    fn processes(&self) -> Vec<u32> {
        self.http.processes()
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        let load = self.http.run().await?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = load;
        Ok(load)
    }
}

/// A server at half of the speed that was just seen, by clients who wait before they ask again.
pub struct Half<'a> {
    pub http: Http<'a>,
    pub highest: &'a Mutex<Load>,
}

#[async_trait]
impl Contender for Half<'_> {
    fn name(&self) -> String {
        self.http.name()
    }

    fn command(&self) -> String {
        self.http.command()
    }

    fn processes(&self) -> Vec<u32> {
        self.http.processes()
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        let highest = *self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        self.http.wrk.think = Some(think(self.http.wrk.connections, highest));
        self.http.run().await
    }
}

/// Little's law: clients = rate × (what an answer takes + what a client waits).
fn think(clients: u32, highest: Load) -> Duration {
    let between = f64::from(clients) / (highest.per_second / 2.0);
    Duration::try_from_secs_f64(between - highest.p50_ms.unwrap_or(0.0) / 1_000.0).unwrap_or_default()
}

/// A server that is asked at a steady rate.
pub struct Steady<'a> {
    pub name: &'a str,
    pub paced: Paced,
    /// The rate is half of this one, when it is there.
    pub highest: Option<&'a Mutex<Load>>,
    pub base_url: String,
    /// The server, and what works for it.
    pub processes: Vec<u32>,
}

#[async_trait]
impl Contender for Steady<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn command(&self) -> String {
        self.paced.shown()
    }

    fn processes(&self) -> Vec<u32> {
        self.processes.clone()
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        if let Some(highest) = self.highest {
            self.paced.rate = highest.lock().unwrap_or_else(PoisonError::into_inner).per_second / 2.0;
        }
        let (paced, base_url) = (self.paced.clone(), self.base_url.clone());
        tokio::task::spawn_blocking(move || paced.run(&base_url)).await?
    }
}

/// Postgres under the same statements.
pub struct Statements<'a> {
    pub pgbench: Pgbench,
    pub postgres: &'a Postgres,
}

#[async_trait]
impl Contender for Statements<'_> {
    fn name(&self) -> String {
        "pgbench".to_owned()
    }

    fn command(&self) -> String {
        self.pgbench.shown()
    }

    fn processes(&self) -> Vec<u32> {
        vec![self.postgres.pid()]
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        self.pgbench.run(self.postgres, self.postgres.scratch()).await
    }
}
