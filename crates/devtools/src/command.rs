//! `api dev`: runs a fake system until it is stopped.

use std::{
    future::Future,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use actix_web::dev::Server;
use anyhow::Context;
use clap::Subcommand;
use domain::payments::PriceList;
use secrecy::SecretString;

use crate::{
    gateway::{Gateway, GatewayConfig},
    llm::{Fault, Provider, server},
    shops::tiendanube::{Tiendanube, TiendanubeArgs},
};

/// The service's settings that the fakes need.
pub struct Settings {
    pub gateway_key: Option<SecretString>,
    pub webhook_secret: Option<SecretString>,
    pub prices: PriceList,
}

#[derive(Debug, Subcommand)]
pub enum DevCommand {
    /// Runs a payment gateway that takes no money
    #[command(
        after_help = "BAS_PAYMENT_GATEWAY_KEY and BAS_PAYMENT_WEBHOOK_SECRET are those of the service.\n\nExample:\n  api dev gateway --at 127.0.0.1:8090 --notify http://127.0.0.1:8080/hooks/payments/rebill"
    )]
    Gateway {
        /// Where it listens
        #[arg(long, default_value = "127.0.0.1:8090", value_name = "ADDR")]
        at: SocketAddr,
        /// Address that gets notifications of payments; PUT /dev/notify changes it
        #[arg(long, value_name = "URL")]
        notify: Option<String>,
    },
    /// Runs a provider of a language model that is none
    #[command(
        after_help = "PUT /dev/fault/NAME changes the fault, GET /dev/calls tells what was asked.\n\nExample:\n  api dev llm --at 127.0.0.1:8091 --fault invented\n  BAS_LLM_BASE_URL=http://127.0.0.1:8091/v1 BAS_LLM_MODEL=dev api up"
    )]
    Llm {
        /// Where it listens
        #[arg(long, default_value = "127.0.0.1:8091", value_name = "ADDR")]
        at: SocketAddr,
        /// Fault to simulate
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
    /// Runs a Tiendanube with one store
    #[command(
        after_help = "What can be done to it stands in crates/devtools/src/shops.rs and shops/tiendanube.rs.\n\nExample:\n  api dev tiendanube --at 127.0.0.1:8093\n  BAS_TIENDANUBE_BASE_URL=http://127.0.0.1:8093 BAS_TIENDANUBE_CLIENT_ID=1234 BAS_TIENDANUBE_CLIENT_SECRET=dev-secret \\\n  BAS_TIENDANUBE_USER_AGENT='Example (hello@example.com)' api up"
    )]
    Tiendanube(TiendanubeArgs),
}

/// Serves until `stopped` ends.
///
/// # Errors
/// When a setting that the stand-in needs is missing, or its address cannot be listened on.
pub async fn run(
    command: DevCommand,
    settings: Settings,
    stopped: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    match command {
        DevCommand::Gateway { at, notify } => {
            let gateway = gateway(settings, notify)?;
            serve(at, |listener| gateway.server(listener), stopped).await
        }
        DevCommand::Llm { at, fault, slow_seconds, prompt_tokens, completion_tokens } => {
            let slow = Duration::from_secs(slow_seconds);
            let provider = Provider::new(fault, slow, (prompt_tokens, completion_tokens));
            serve(at, |listener| server(provider, listener), stopped).await
        }
        DevCommand::Tiendanube(arguments) => {
            let (at, platform) = (arguments.at, Tiendanube::new(arguments.config()));
            serve(at, |listener| platform.server(listener), stopped).await
        }
    }
}

fn gateway(settings: Settings, notify: Option<String>) -> anyhow::Result<Gateway> {
    let Settings { gateway_key, webhook_secret, prices } = settings;
    let gateway = Gateway::new(GatewayConfig {
        api_key: gateway_key.context("BAS_PAYMENT_GATEWAY_KEY is not set")?,
        webhook_secret: webhook_secret.context("BAS_PAYMENT_WEBHOOK_SECRET is not set")?,
        prices,
    })?;
    if let Some(url) = notify {
        gateway.notify(url);
    }
    Ok(gateway)
}

async fn serve(
    at: SocketAddr,
    server: impl FnOnce(TcpListener) -> std::io::Result<Server>,
    stopped: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(at).with_context(|| format!("cannot listen on {at}"))?;
    let address = listener.local_addr()?;
    let server = server(listener)?;
    let handle = server.handle();
    tracing::info!(%address, "ready");
    tokio::select! {
        ended = server => ended?,
        stopped = stopped => {
            stopped?;
            handle.stop(false).await;
        }
    }
    Ok(())
}
