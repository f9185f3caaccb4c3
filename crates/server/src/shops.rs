//! Wires up the platforms of connected shops.

use std::sync::Arc;

use anyhow::Context;
use app::{
    deliveries::Clock,
    shops::{
        Connector, Connectors, Ports, catalogues::Catalogues, connect::ConnectService, inbox::HookWorker, sync::Syncer,
    },
};
use connectors::{
    ads::{
        google_ads::{Addresses, GoogleAds, GoogleAdsConfig},
        meta::{Meta, MetaConfig},
    },
    shops::{
        AppCredentials,
        mercadolibre::{Limits, Mercadolibre, MercadolibreConfig},
        shopify::{Shopify, ShopifyConfig},
        tiendanube::{Tiendanube, TiendanubeConfig, TiendanubeHooks},
    },
};
use domain::{sealing::Sealer, shops::hooks::HookVerifier};
use secrecy::SecretString;
use store::{Connect, Importer, Store};
use time::OffsetDateTime;
use url::Url;

use crate::{addresses, config::Config, deliveries::jitter};

/// Where Mercado Libre's API is.
const MERCADOLIBRE_API: &str = "https://api.mercadolibre.com";

/// Where Meta's API is, and where people log in to grant access.
const META_API: &str = "https://graph.facebook.com";
const META_LOGIN: &str = "https://www.facebook.com";

/// Where the Google Ads API is, where people log in to grant access, and where tokens are given.
const GOOGLE_ADS_API: &str = "https://googleads.googleapis.com";
const GOOGLE_LOGIN: &str = "https://accounts.google.com";
const GOOGLE_TOKENS: &str = "https://oauth2.googleapis.com";

/// The platforms that this service has an app with.
pub fn connectors(config: &Config) -> anyhow::Result<Connectors> {
    let platforms = [shopify(config)?, tiendanube(config)?, mercadolibre(config)?, meta(config)?, google_ads(config)?];
    Ok(Connectors::new(platforms.into_iter().flatten()))
}

fn shopify(config: &Config) -> anyhow::Result<Option<Connector>> {
    let Some(app) = app(
        "shopify",
        &config.shopify_client_id,
        config.shopify_client_secret.as_ref(),
        config.shopify_previous_secret.as_ref(),
    )?
    else {
        return Ok(None);
    };
    let base_url = stand_in("shopify_base_url", &config.shopify_base_url)?;
    let is_stand_in = base_url.is_some();
    let shopify = Arc::new(Shopify::new(ShopifyConfig { app, base_url })?);
    Ok(Some(Connector {
        auth: shopify.clone(),
        reader: shopify.clone(),
        verifier: Some(shopify),
        replies: None,
        is_stand_in,
    }))
}

fn tiendanube(config: &Config) -> anyhow::Result<Option<Connector>> {
    let Some(app) = app(
        "tiendanube",
        &config.tiendanube_client_id,
        config.tiendanube_client_secret.as_ref(),
        config.tiendanube_previous_secret.as_ref(),
    )?
    else {
        return Ok(None);
    };
    let user_agent = config.tiendanube_user_agent.clone();
    anyhow::ensure!(
        user_agent.contains('(') && user_agent.contains('@'),
        "tiendanube_user_agent has to be the app's name and a mail address: `Example (hello@example.com)`"
    );
    let address = stand_in("tiendanube_base_url", &config.tiendanube_base_url)?;
    let is_stand_in = address.is_some();
    let verifier = Some(Arc::new(TiendanubeHooks::new(&app)) as Arc<dyn HookVerifier>);
    let tiendanube = Arc::new(Tiendanube::new(TiendanubeConfig { app, user_agent, address })?);
    Ok(Some(Connector { auth: tiendanube.clone(), reader: tiendanube, verifier, replies: None, is_stand_in }))
}

fn mercadolibre(config: &Config) -> anyhow::Result<Option<Connector>> {
    let (id, secret) = (&config.mercadolibre_client_id, config.mercadolibre_client_secret.as_ref());
    // Its hooks are not signed, so no secret before the present one is of use.
    let Some(app) = app("mercadolibre", id, secret, None)? else { return Ok(None) };
    let own = stand_in("mercadolibre_base_url", &config.mercadolibre_base_url)?;
    let is_stand_in = own.is_some();
    let authorize_url = own.as_ref().map(|url| url.join("/authorization")).transpose()?;
    let api_url = own.map_or_else(|| Url::parse(MERCADOLIBRE_API), Ok)?;
    let limits = Limits::per_second(config.mercadolibre_calls_per_second);
    let platform = MercadolibreConfig { app, api_url, authorize_url, limits };
    let mercadolibre = Arc::new(Mercadolibre::new(platform)?);
    Ok(Some(Connector {
        auth: mercadolibre.clone(),
        reader: mercadolibre.clone(),
        verifier: Some(mercadolibre.clone()),
        replies: Some(mercadolibre),
        is_stand_in,
    }))
}

fn meta(config: &Config) -> anyhow::Result<Option<Connector>> {
    let (id, secret) = (&config.meta_client_id, config.meta_client_secret.as_ref());
    let Some(app) = app("meta", id, secret, None)? else { return Ok(None) };
    let own = stand_in("meta_ads_base_url", &config.meta_ads_base_url)?;
    let is_stand_in = own.is_some();
    let api_url = own.clone().map_or_else(|| Url::parse(META_API), Ok)?;
    let login_url = own.map_or_else(|| Url::parse(META_LOGIN), Ok)?;
    let meta = Arc::new(Meta::new(MetaConfig { app, api_url, login_url })?);
    Ok(Some(Connector { auth: meta.clone(), reader: meta, verifier: None, replies: None, is_stand_in }))
}

fn google_ads(config: &Config) -> anyhow::Result<Option<Connector>> {
    let (id, secret) = (&config.google_ads_client_id, config.google_ads_client_secret.as_ref());
    let Some(app) = app("google_ads", id, secret, None)? else { return Ok(None) };
    let own = stand_in("google_ads_base_url", &config.google_ads_base_url)?;
    let is_stand_in = own.is_some();
    let at = |address| own.clone().map_or_else(|| Url::parse(address), Ok);
    let google_ads = Arc::new(GoogleAds::new(GoogleAdsConfig {
        app,
        developer_token: config.google_ads_developer_token.clone(),
        addresses: Addresses { api: at(GOOGLE_ADS_API)?, login: at(GOOGLE_LOGIN)?, tokens: at(GOOGLE_TOKENS)? },
    })?);
    Ok(Some(Connector { auth: google_ads.clone(), reader: google_ads, verifier: None, replies: None, is_stand_in }))
}

/// The app on a platform; `None`: there is none, and no shop there can be connected.
fn app(
    platform: &str,
    id: &str,
    secret: Option<&SecretString>,
    previous: Option<&SecretString>,
) -> anyhow::Result<Option<AppCredentials>> {
    if id.is_empty() {
        return Ok(None);
    }
    Ok(Some(AppCredentials {
        client_id: id.to_owned(),
        client_secret: secret.cloned().with_context(|| format!("{platform}_client_secret is not set"))?,
        previous_secret: previous.cloned(),
    }))
}

/// The address of a stand-in, if there is one.
fn stand_in(setting: &str, address: &str) -> anyhow::Result<Option<Url>> {
    let address = address.trim();
    if address.is_empty() {
        return Ok(None);
    }
    addresses::private(setting, address).map(Some)
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
        hooks_url: hooks_url(config)?,
        at_once: config.shops_at_once,
        catalogues: Catalogues::new(config.shops_at_once),
    })
}

/// The worker that acts on their hooks.
pub fn hook_worker(syncer: Syncer, store: &Arc<Store>) -> HookWorker {
    HookWorker::new(syncer, store.clone(), store.clone())
}

/// Where platforms reach this service. They send hooks by HTTPS only, but for stand-ins on this machine.
pub fn hooks_url(config: &Config) -> anyhow::Result<Option<String>> {
    let given = config.hooks_url.trim();
    if given.is_empty() {
        return Ok(None);
    }
    let url: Url = given.parse().context("hooks_url is no address, such as https://api.example.com")?;
    anyhow::ensure!(
        url.scheme() == "https" || (url.scheme() == "http" && addresses::is_local(&url)),
        "hooks_url must begin with https://"
    );
    anyhow::ensure!(
        url.query().is_none() && url.fragment().is_none(),
        "hooks_url must have no query: the paths of hooks follow it"
    );
    Ok(Some(url.to_string()))
}

/// Whether platforms can send owners back to the address that the apps are registered with.
pub fn check_redirect_url(config: &Config) -> anyhow::Result<()> {
    let url: Url = config.integration_redirect_url.parse().context("integration_redirect_url is no address")?;
    anyhow::ensure!(
        matches!(url.scheme(), "http" | "https"),
        "integration_redirect_url must begin with http:// or https://"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hooks_url: &str) -> anyhow::Result<Option<String>> {
        super::hooks_url(&Config { hooks_url: hooks_url.to_owned(), ..Config::default() })
    }

    #[test]
    fn platforms_are_sent_to_https_only() {
        assert_eq!(of("").unwrap(), None);
        assert_eq!(of("https://api.example.com").unwrap().as_deref(), Some("https://api.example.com/"));
        assert!(of("http://127.0.0.1:8080").is_ok(), "a stand-in on this machine");
        for wrong in
            ["http://api.example.com", "api.example.com", "ftp://api.example.com", "https://api.example.com/?a=b"]
        {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
