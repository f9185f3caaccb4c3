//! `api dev`.

use std::{
    net::{SocketAddr, TcpListener},
    process::ExitCode,
    time::Duration,
};

use actix_web::dev::Server;
use anyhow::Context;
use clap::Subcommand;

use crate::{
    config::Config,
    dev::{
        gateway::{Gateway, GatewayConfig},
        llm::{Fault, Provider, server},
    },
    payments::prices,
};

#[derive(Debug, Subcommand)]
pub enum DevCommand {
    /// Runs a payment gateway that takes no money
    #[command(
        after_help = "PAYMENT_GATEWAY_KEY and PAYMENT_WEBHOOK_SECRET are those of the service.\n\nExample:\n  api dev gateway --at 127.0.0.1:8090 --notify http://127.0.0.1:8080/hooks/payments/rebill"
    )]
    Gateway {
        /// Where it listens
        #[arg(long, default_value = "127.0.0.1:8090", value_name = "ADDR")]
        at: SocketAddr,
        /// Where it reports payments to; PUT /dev/notify says it later
        #[arg(long, value_name = "URL")]
        notify: Option<String>,
    },
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

pub async fn run(command: DevCommand, config: &Config) -> anyhow::Result<ExitCode> {
    match command {
        DevCommand::Gateway { at, notify } => gateway(config, at, notify).await?,
        DevCommand::Llm { at, fault, slow_seconds, prompt_tokens, completion_tokens } => {
            let slow = Duration::from_secs(slow_seconds);
            llm(at, Provider::new(fault, slow, (prompt_tokens, completion_tokens))).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn gateway(config: &Config, at: SocketAddr, notify: Option<String>) -> anyhow::Result<()> {
    let gateway = Gateway::new(GatewayConfig {
        api_key: config.payment_gateway_key.clone().context("PAYMENT_GATEWAY_KEY is not set")?,
        webhook_secret: config.payment_webhook_secret.clone().context("PAYMENT_WEBHOOK_SECRET is not set")?,
        prices: prices(config)?,
    })?;
    if let Some(url) = notify {
        gateway.notify(url);
    }
    until_stopped(at, |listener| gateway.server(listener)).await
}

async fn llm(at: SocketAddr, provider: Provider) -> anyhow::Result<()> {
    until_stopped(at, |listener| server(provider, listener)).await
}

/// Serves until SIGTERM or an interrupt.
async fn until_stopped(
    at: SocketAddr,
    serve: impl FnOnce(TcpListener) -> std::io::Result<Server>,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(at).with_context(|| format!("cannot listen on {at}"))?;
    let address = listener.local_addr()?;
    let server = serve(listener)?;
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
