//! What is measured in turns: the service, the limits and the peers, each under a load generator.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
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

/// How fast a server is asked.
pub enum Speed<'a> {
    /// As fast as it answers.
    Full,
    /// As fast as it answers; others may go by what was seen.
    Highest(&'a Mutex<Load>),
    /// Half as fast as was seen last, by clients who wait before they ask again.
    Half(&'a Mutex<Load>),
}

/// A server under HTTP load.
pub struct Http<'a> {
    pub name: &'a str,
    pub wrk: Wrk,
    pub speed: Speed<'a>,
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
        Ok(Self { name, wrk, speed: Speed::Full, base_url: service.base_url.clone(), processes, scratch })
    }

    /// The same bytes from this process.
    pub fn from_memory(bench: &Bench, wrk: Wrk, memory: &FromMemory) -> Self {
        let scratch = bench.postgres.scratch().to_owned();
        let processes = vec![std::process::id()];
        Self { name: "from memory", wrk, speed: Speed::Full, base_url: memory.base_url.clone(), processes, scratch }
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
        if let Speed::Half(highest) = self.speed {
            self.wrk.think = Some(think(self.wrk.connections, *locked(highest)));
        }
        let load = self.wrk.run(&self.base_url, &self.scratch).await?;
        if let Speed::Highest(seen) = self.speed {
            *locked(seen) = load;
        }
        Ok(load)
    }
}

/// Little's law: clients = rate × (what an answer takes + what a client waits).
fn think(clients: u32, highest: Load) -> Duration {
    let between = f64::from(clients) / (highest.per_second / 2.0);
    Duration::try_from_secs_f64(between - highest.p50_ms.unwrap_or(0.0) / 1_000.0).unwrap_or_default()
}

fn locked(load: &Mutex<Load>) -> MutexGuard<'_, Load> {
    // No code that may panic runs under the lock.
    load.lock().unwrap_or_else(PoisonError::into_inner)
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
            self.paced.rate = locked(highest).per_second / 2.0;
        }
        let (paced, base_url) = (self.paced.clone(), self.base_url.clone());
        tokio::task::spawn_blocking(move || paced.run(&base_url)).await?
    }
}

/// Postgres under the same statements.
pub struct Statements<'a> {
    pub name: &'static str,
    pub pgbench: Pgbench,
    pub postgres: &'a Postgres,
}

#[async_trait]
impl Contender for Statements<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
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
