//! `api dev`, and the stand-ins of `api up`.

use std::{
    net::{SocketAddr, TcpListener},
    process::ExitCode,
};

use anyhow::Context;
pub use devtools::DevCommand;
use devtools::{
    Settings,
    ads::{
        google_ads::{self, GoogleAds},
        meta::{self, Meta},
    },
    gateway::{Gateway, GatewayConfig},
    shops::{
        mercadolibre::{self, Mercadolibre},
        shopify::{ShopifyStub, ShopifyStubConfig},
        tiendanube::{Bucket, Seed, Tiendanube, TiendanubeConfig, default_scopes},
    },
    social::{self, Social, SocialConfig},
};
use secrecy::{ExposeSecret, SecretString};
use time::OffsetDateTime;

use super::demo::{CURRENCY, TIMEZONE};
use crate::{config::Config, dashboard::public_url, mails, payments::prices, random, services::stop_signal};

pub async fn run(command: DevCommand, config: &Config) -> anyhow::Result<ExitCode> {
    let settings = Settings {
        gateway_key: config.payment_gateway_key.clone(),
        webhook_secret: config.payment_webhook_secret.clone(),
        prices: prices(config)?,
        outbox: Some(Box::new(mails::outbox(config))),
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

/// Identifier of the app on every platform, and host name of the shop on Shopify.
const APP: &str = "1234";
const SHOP: &str = "example.myshopify.com";
/// Orders of each shop, over this number of days.
const ORDERS: u32 = 400;
const DAYS: u32 = 365;
/// Days that the ads of the ad account go back.
const AD_DAYS: u16 = 200;
/// Comments of each profile in the last hours, and calls that may be made for it in an hour.
const COMMENTS: u8 = 6;
const CALLS_PER_HOUR: usize = 4_800;

/// Shop platforms, advertising networks and a social one in this process, and the configuration that leads to them. The shops
/// on Shopify and Tiendanube have the currency of the demo shop.
pub struct LocalShops {
    addresses: [(&'static str, SocketAddr); 6],
    config: Config,
}

impl LocalShops {
    pub fn start(config: &Config) -> anyhow::Result<Self> {
        let secret = SecretString::from(random_name());
        let redirect_uri = config.integration_redirect_url.clone();
        let home = (CURRENCY.parse()?, TIMEZONE.parse()?);
        let mut shopify = ShopifyStubConfig::new(APP.to_owned(), secret.clone(), SHOP.to_owned(), home);
        (shopify.seed.orders, shopify.seed.days) = (ORDERS, DAYS);
        let shopify = ShopifyStub::new(shopify)?;
        let tiendanube = Tiendanube::new(TiendanubeConfig {
            client_id: APP.to_owned(),
            client_secret: secret.clone(),
            redirect_uri: redirect_uri.clone(),
            scopes: default_scopes(),
            takes_local_hooks: true,
            bucket: Bucket::PLATFORM,
            seed: Seed {
                seed: 1,
                orders: ORDERS.into(),
                days: DAYS,
                currency: CURRENCY.parse()?,
                zone: TIMEZONE.parse()?,
                now: OffsetDateTime::now_utc(),
            },
        });
        let hooks_url = hooks_url(config);
        let client_secret = secret.expose_secret().to_owned();
        let mercadolibre = Mercadolibre::new(mercadolibre::Config {
            app: mercadolibre::App { client_id: APP.to_owned(), client_secret, redirect_uri },
            seed: 1,
            orders: ORDERS.into(),
            days: DAYS.into(),
            is_limited: true,
            now: None,
            notify: (!hooks_url.is_empty()).then(|| format!("{hooks_url}/hooks/mercadolibre")),
            zone: TIMEZONE.parse()?,
        })?;
        let verify_token = SecretString::from(random_name());
        let (meta, google_ads) = (meta(config, &secret)?, google_ads(config, &secret)?);
        let social = social(config, &secret, &verify_token)?;
        let addresses = [
            ("shopify", served(|listener| shopify.server(listener))?),
            ("tiendanube", served(|listener| tiendanube.server(listener))?),
            ("mercadolibre", served(|listener| mercadolibre.server(listener))?),
            ("meta", served(|listener| meta.server(listener))?),
            ("google_ads", served(|listener| google_ads.server(listener))?),
            ("social", served(|listener| social.server(listener))?),
        ];
        let [shopify, tiendanube, mercadolibre, meta, google_ads, social] =
            addresses.map(|(_, address)| format!("http://{address}"));
        let config = Config {
            hooks_url,
            shopify_client_id: APP.to_owned(),
            shopify_client_secret: Some(secret.clone()),
            shopify_base_url: shopify,
            tiendanube_client_id: APP.to_owned(),
            tiendanube_client_secret: Some(secret.clone()),
            tiendanube_user_agent: "Development (nobody@localhost)".to_owned(),
            tiendanube_base_url: tiendanube,
            mercadolibre_client_id: APP.to_owned(),
            mercadolibre_client_secret: Some(secret.clone()),
            mercadolibre_base_url: mercadolibre,
            meta_client_id: APP.to_owned(),
            meta_client_secret: Some(secret.clone()),
            meta_ads_base_url: meta,
            google_ads_client_id: APP.to_owned(),
            google_ads_client_secret: Some(secret.clone()),
            google_ads_base_url: google_ads,
            meta_app_id: APP.to_owned(),
            meta_app_secret: Some(secret),
            meta_verify_token: Some(verify_token),
            meta_base_url: format!("{social}/{}", connectors::social::meta::VERSION),
            ..config.clone()
        };
        Ok(Self { addresses, config })
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The platforms, and where they are.
    pub fn addresses(&self) -> &[(&'static str, SocketAddr)] {
        &self.addresses
    }
}

fn meta(config: &Config, secret: &SecretString) -> anyhow::Result<Meta> {
    Ok(Meta::new(meta::MetaConfig {
        client_id: APP.to_owned(),
        client_secret: secret.clone(),
        redirect_uris: redirects(config, "meta")?,
        seed: meta::Seed {
            seed: 1,
            days: AD_DAYS,
            campaigns: 3,
            accounts: 1,
            currency: CURRENCY.parse()?,
            zone: TIMEZONE.parse()?,
            now: OffsetDateTime::now_utc(),
        },
    }))
}

fn google_ads(config: &Config, secret: &SecretString) -> anyhow::Result<GoogleAds> {
    Ok(GoogleAds::new(google_ads::GoogleAdsConfig {
        client_id: APP.to_owned(),
        client_secret: secret.clone(),
        redirect_uris: redirects(config, "google_ads")?,
        seed: google_ads::Seed {
            seed: 1,
            days: AD_DAYS,
            campaigns: 3,
            accounts: 1,
            managed: false,
            page_rows: google_ads::PAGE,
            currency: CURRENCY.parse()?,
            zone: TIMEZONE.parse()?,
            now: OffsetDateTime::now_utc(),
        },
    }))
}

fn social(config: &Config, secret: &SecretString, verify_token: &SecretString) -> anyhow::Result<Social> {
    let hooks_url = hooks_url(config);
    Social::new(SocialConfig {
        app_id: APP.to_owned(),
        app_secret: secret.clone(),
        verify_token: verify_token.clone(),
        redirect_uris: redirects(config, "profiles")?,
        notify: (!hooks_url.is_empty()).then(|| format!("{hooks_url}/hooks/social/meta")),
        calls_per_hour: CALLS_PER_HOUR,
        seed: social::Seed { pages: 1, analysed_pages: 0, comments: COMMENTS, now: OffsetDateTime::now_utc() },
    })
}

/// Where people are sent back to who grant access to an ad account or a profile: the command line, or the dashboard.
fn redirects(config: &Config, what: &str) -> anyhow::Result<Vec<String>> {
    let dashboard = public_url(config, config.dashboard_listen)?.join(&format!("integrations/{what}/callback"))?;
    Ok(vec![config.integration_redirect_url.clone(), dashboard.into()])
}

/// Where hooks go: to this process, if its address is known before it listens.
fn hooks_url(config: &Config) -> String {
    if config.hooks_url.is_empty() && config.listen.port() > 0 && config.listen.ip().is_loopback() {
        return format!("http://{}", config.listen);
    }
    config.hooks_url.clone()
}

/// Runs a stand-in on a free port until this process ends.
fn served(server: impl FnOnce(TcpListener) -> std::io::Result<actix_web::dev::Server>) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("a shop platform for development")?;
    let address = listener.local_addr()?;
    #[expect(clippy::disallowed_methods, reason = "a shop platform for development")]
    tokio::spawn(server(listener)?);
    Ok(address)
}

fn random_name() -> String {
    hex::encode(random::bytes().take(24).collect::<Vec<_>>())
}
