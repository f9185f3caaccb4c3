//! A fake payment gateway: the protocol of the real one, kept strictly, with faults on demand.

mod book;
mod checkout;
mod http;
mod notify;

use std::{net::TcpListener, sync::Arc};

use actix_web::dev::Server;
use domain::payments::PriceList;
use secrecy::{ExposeSecret, SecretString};

use self::{book::Book, notify::Notifier};

/// Configuration of the gateway.
pub struct GatewayConfig {
    /// The bearer token that clients must send.
    pub api_key: SecretString,
    /// Signs notifications.
    pub webhook_secret: SecretString,
    /// What the checkout sells.
    pub prices: PriceList,
}

/// A gateway; cloning shares it.
#[derive(Clone)]
pub struct Gateway {
    api_key: SecretString,
    prices: Arc<PriceList>,
    book: Arc<Book>,
    notifier: Notifier,
}

impl Gateway {
    /// # Errors
    /// When no HTTP client can be set up.
    pub fn new(config: GatewayConfig) -> anyhow::Result<Self> {
        let GatewayConfig { api_key, webhook_secret, prices } = config;
        Ok(Self { api_key, prices: Arc::new(prices), book: Arc::default(), notifier: Notifier::new(webhook_secret)? })
    }

    /// Sends notifications to this address from now on.
    pub fn notify(&self, url: String) {
        self.notifier.send_to(url);
    }

    fn knows(&self, token: &str) -> bool {
        token == self.api_key.expose_secret()
    }

    /// The server on `listener`, not yet running: await it.
    ///
    /// # Errors
    /// When the listener cannot be used.
    pub fn server(&self, listener: TcpListener) -> std::io::Result<Server> {
        http::server(self.clone(), listener)
    }
}
