//! `api dev`.

use std::{
    net::{SocketAddr, TcpListener},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Subcommand;

use crate::dev::llm::{Fault, Provider, server};

#[derive(Debug, Subcommand)]
pub enum DevCommand {
    /// Runs a provider of a language model that is none
    #[command(
        after_help = "PUT /dev/fault/NAME changes the fault, GET /dev/calls tells what was asked.\n\nExample:\n  api dev llm --at 127.0.0.1:8091 --fault invented\n  LLM_BASE_URL=http://127.0.0.1:8091/v1 LLM_MODEL=dev api up"
    )]
    Llm {
        /// Where it listens
        #[arg(long, default_value = "127.0.0.1:8091", value_name = "ADDR")]
        at: SocketAddr,
        /// How it goes wrong
        #[arg(long, default_value = "none")]
        fault: Fault,
        /// Seconds that a slow answer takes
        #[arg(long, default_value_t = 30)]
        slow_seconds: u64,
        /// Tokens that it says a prompt has
        #[arg(long, default_value_t = 1_000)]
        prompt_tokens: u64,
        /// Tokens that it says an answer has
        #[arg(long, default_value_t = 200)]
        completion_tokens: u64,
    },
}

pub async fn run(command: DevCommand) -> anyhow::Result<ExitCode> {
    match command {
        DevCommand::Llm { at, fault, slow_seconds, prompt_tokens, completion_tokens } => {
            let slow = Duration::from_secs(slow_seconds);
            llm(at, Provider::new(fault, slow, (prompt_tokens, completion_tokens))).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn llm(at: SocketAddr, provider: Provider) -> anyhow::Result<()> {
    let listener = TcpListener::bind(at).with_context(|| format!("cannot listen on {at}"))?;
    let address = listener.local_addr()?;
    let server = server(provider, listener)?;
    let handle = server.handle();
    tracing::info!(%address, "ready");
    tokio::select! {
        ended = server => ended?,
        stopped = crate::services::stop_signal() => {
            stopped?;
            handle.stop(false).await;
        }
    }
    Ok(())
}
