//! Wires up the platforms of connected shops.

use std::sync::Arc;

use anyhow::Context;
use app::{
    deliveries::Clock,
    shops::{Connector, Connectors, Ports, connect::ConnectService, inbox::HookWorker, sync::Syncer},
};
use connectors::shops::{
    AppCredentials,
    tiendanube::{Tiendanube, TiendanubeConfig, TiendanubeHooks},
};
use domain::sealing::Sealer;
use store::{Connect, Importer, Store};
use time::OffsetDateTime;
use url::Url;

use crate::{config::Config, deliveries::jitter};

/// The platforms that this service has an app with: one line each.
pub fn connectors(config: &Config) -> anyhow::Result<Connectors> {
    Ok(Connectors::new([tiendanube(config)?].into_iter().flatten()))
}

/// `None`: there is no app.
fn tiendanube(config: &Config) -> anyhow::Result<Option<Connector>> {
    if config.tiendanube_client_id.is_empty() {
        return Ok(None);
    }
    let names_mail = config.tiendanube_user_agent.contains('(') && config.tiendanube_user_agent.contains('@');
    anyhow::ensure!(
        names_mail,
        "tiendanube_user_agent has to be the app's name and a mail address: `Example (hello@example.com)`"
    );
    let app = AppCredentials {
        client_id: config.tiendanube_client_id.clone(),
        client_secret: config.tiendanube_client_secret.clone().context("tiendanube_client_secret is not set")?,
        previous_secret: config.tiendanube_previous_secret.clone(),
    };
    let address = stand_in("tiendanube_base_url", &config.tiendanube_base_url)?;
    let verifier = Arc::new(TiendanubeHooks::new(&app));
    let is_stand_in = address.is_some();
    let tiendanube =
        Arc::new(Tiendanube::new(TiendanubeConfig { app, user_agent: config.tiendanube_user_agent.clone(), address })?);
    Ok(Some(Connector { auth: tiendanube.clone(), reader: tiendanube, verifier, is_stand_in }))
}

/// The address of a stand-in, if there is one.
fn stand_in(setting: &str, address: &str) -> anyhow::Result<Option<Url>> {
    let address = address.trim();
    if address.is_empty() {
        return Ok(None);
    }
    Ok(Some(address.parse().with_context(|| format!("{setting} is no address"))?))
}

/// What connections are kept with, on `store`.
pub fn ports(connectors: Connectors, store: &Arc<Store>, sealer: Arc<dyn Sealer>) -> Ports {
    Ports::of(store, connectors, sealer, clock())
}

fn clock() -> Clock {
    Arc::new(OffsetDateTime::now_utc)
}

/// What owners connect shops with.
pub fn connect_service(config: &Config, ports: Ports) -> ConnectService {
    ConnectService { ports, redirect_uri: config.integration_redirect_url.clone() }
}

/// The worker that reads shops.
pub fn syncer(config: &Config, ports: Ports, store: &Arc<Store>, connect: &Connect) -> anyhow::Result<Syncer> {
    Ok(Syncer {
        ports,
        imports: Arc::new(Importer::new(connect.clone()).with_nice_ratio(config.shops_nice_ratio)),
        known_orders: store.clone(),
        runs: store.clone(),
        inbox: store.clone(),
        jitter: Arc::new(jitter),
        public_url: public_url(config)?,
        at_once: config.shops_at_once,
    })
}

/// The worker that acts on their hooks.
pub fn hook_worker(syncer: Syncer, store: &Arc<Store>) -> HookWorker {
    HookWorker { syncer, privacy: store.clone() }
}

/// Where platforms reach this service. They send hooks by HTTPS only, but for stand-ins on this machine.
fn public_url(config: &Config) -> anyhow::Result<Option<String>> {
    let given = config.public_url.trim();
    if given.is_empty() {
        return Ok(None);
    }
    let url: Url = given.parse().context("public_url")?;
    let is_local = url.host_str().is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].contains(&host));
    anyhow::ensure!(
        url.scheme() == "https" || (url.scheme() == "http" && is_local),
        "public_url must begin with https://"
    );
    Ok(Some(url.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(public_url: &str) -> anyhow::Result<Option<String>> {
        super::public_url(&Config { public_url: public_url.to_owned(), ..Config::default() })
    }

    #[test]
    fn platforms_are_sent_to_https_only() {
        assert_eq!(of("").unwrap(), None);
        assert_eq!(of("https://api.example.com").unwrap().as_deref(), Some("https://api.example.com/"));
        assert!(of("http://127.0.0.1:8080").is_ok(), "a stand-in on this machine");
        for wrong in ["http://api.example.com", "api.example.com", "ftp://api.example.com"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
