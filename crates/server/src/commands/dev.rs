//! `api dev`, and the gateway of `api up --dev-gateway`.

use std::{
    net::{SocketAddr, TcpListener},
    process::ExitCode,
};

use anyhow::Context;
pub use devtools::DevCommand;
use devtools::{
    Settings,
    gateway::{Gateway, GatewayConfig},
};
use secrecy::SecretString;

use crate::{config::Config, mails, payments::prices, random, services::stop_signal};

pub async fn run(command: DevCommand, config: &Config) -> anyhow::Result<ExitCode> {
    let settings = Settings {
        gateway_key: config.payment_gateway_key.clone(),
        webhook_secret: config.payment_webhook_secret.clone(),
        prices: prices(config)?,
        outbox: Box::new(mails::outbox(config)),
    };
    devtools::run(command, settings, stop_signal()).await?;
    Ok(ExitCode::SUCCESS)
}

/// A gateway that takes no money, in this process, and the configuration that leads to it.
pub struct LocalGateway {
    gateway: Gateway,
    address: SocketAddr,
    config: Config,
}

impl LocalGateway {
    pub fn start(config: &Config) -> anyhow::Result<Self> {
        let (key, secret) = (SecretString::from(random_name()), SecretString::from(random_name()));
        let gateway = Gateway::new(GatewayConfig {
            api_key: key.clone(),
            webhook_secret: secret.clone(),
            prices: prices(config)?,
        })?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("the gateway for development")?;
        let address = listener.local_addr()?;
        #[expect(clippy::disallowed_methods, reason = "a gateway for development")]
        tokio::spawn(gateway.server(listener)?);
        let config = Config {
            payment_gateway_url: format!("http://{address}"),
            payment_gateway_key: Some(key),
            payment_webhook_secret: Some(secret),
            ..config.clone()
        };
        Ok(Self { gateway, address, config })
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it reports payments to.
    pub fn notify(&self, url: String) {
        self.gateway.notify(url);
    }
}

fn random_name() -> String {
    hex::encode(random::bytes().take(24).collect::<Vec<_>>())
}
