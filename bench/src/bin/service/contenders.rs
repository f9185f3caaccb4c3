//! What is measured in turns: the service, the limits and the peers, each under a load generator.

use async_trait::async_trait;
use bench::{
    cluster::Postgres,
    load::{Load, Wrk},
    paced::Paced,
    pgbench::Pgbench,
    rounds::Contender,
};

/// A server under HTTP load.
pub struct Http<'a> {
    pub name: &'a str,
    pub wrk: Wrk,
    pub base_url: String,
    /// The server, and what works for it.
    pub processes: Vec<u32>,
    pub scratch: std::path::PathBuf,
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

/// A server that is asked at a steady rate.
pub struct Steady<'a> {
    pub name: &'a str,
    pub paced: Paced,
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
