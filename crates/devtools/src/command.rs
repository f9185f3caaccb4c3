//! `api dev`: runs a fake system until it is stopped.

use std::{
    future::Future,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use actix_web::dev::Server;
use anyhow::Context;
use clap::{Args, Subcommand};
use domain::{
    mail::{Outbox, PutAside},
    money::Currency,
    payments::PriceList,
    zone::Zone,
};
use secrecy::SecretString;

use crate::{
    ads::{
        google_ads::{GoogleAds, GoogleAdsArgs},
        meta::{Meta, MetaArgs},
    },
    gateway::{Gateway, GatewayConfig},
    llm::{Fault, Provider, server},
    shops::{
        mercadolibre,
        shopify::{Seed, ShopifyStub, ShopifyStubConfig},
        tiendanube::{Tiendanube, TiendanubeArgs},
    },
    social::{Social, SocialArgs},
};

/// The service's settings that the fakes need.
pub struct Settings {
    pub gateway_key: Option<SecretString>,
    pub webhook_secret: Option<SecretString>,
    pub prices: PriceList,
    /// Where the service puts mails aside, for the command that shows them.
    pub outbox: Option<Box<dyn Outbox>>,
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
    /// Prints the mails that were put aside, the newest first
    #[command(after_help = "Mails are put aside by `api up` on its own database, without BAS_SMTP_URL.")]
    Mail,
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
    /// Runs a Shopify with one shop, as strict as the platform
    #[command(
        after_help = "POST /_stub/act makes something happen in the shop, POST /_stub/fault on the way, GET /_stub/truth tells what a reader\nmust come to. In the addresses of the platform, the shop's host name is the first part of the path.\n\nExample:\n  api dev shopify --at 127.0.0.1:8092 --orders 5000\n  curl http://127.0.0.1:8092/_stub/truth"
    )]
    Shopify(ShopifyArgs),
    /// Runs a Mercado Libre with one seller, who grants access at once
    #[command(
        after_help = "What can be done to it stands in crates/devtools/src/shops/mercadolibre.rs and shops.rs.\n\nExample:\n  api dev mercadolibre --at 127.0.0.1:8094 --notify http://127.0.0.1:8080/hooks/mercadolibre"
    )]
    Mercadolibre(MercadolibreArgs),
    /// Runs a Tiendanube with one store
    #[command(
        after_help = "What can be done to it stands in crates/devtools/src/shops.rs and shops/tiendanube.rs.\n\nExample:\n  api dev tiendanube --at 127.0.0.1:8093\n  BAS_TIENDANUBE_BASE_URL=http://127.0.0.1:8093 BAS_TIENDANUBE_CLIENT_ID=1234 BAS_TIENDANUBE_CLIENT_SECRET=dev-secret \\\n  BAS_TIENDANUBE_USER_AGENT='Example (hello@example.com)' api up"
    )]
    Tiendanube(TiendanubeArgs),
    /// Runs a Meta with one person who has an ad account, and grants access at once
    #[command(
        after_help = "What can be done to it stands in crates/devtools/src/shops.rs and ads/meta.rs.\n\nExample:\n  api dev meta --at 127.0.0.1:8095\n  BAS_META_ADS_BASE_URL=http://127.0.0.1:8095 BAS_META_CLIENT_ID=1234 BAS_META_CLIENT_SECRET=dev-secret api up"
    )]
    Meta(MetaArgs),
    /// Runs a Google Ads with one person who has an ad account, and grants access at once
    #[command(
        after_help = "What can be done to it stands in crates/devtools/src/shops.rs and ads/google_ads.rs.\n\nExample:\n  api dev google-ads --at 127.0.0.1:8096\n  BAS_GOOGLE_ADS_BASE_URL=http://127.0.0.1:8096 BAS_GOOGLE_ADS_CLIENT_ID=1234 BAS_GOOGLE_ADS_CLIENT_SECRET=dev-secret api up"
    )]
    GoogleAds(GoogleAdsArgs),
    /// Runs a Graph API for comments, with one person who has a page and an account on Instagram, and grants access at once
    #[command(
        after_help = "What can be done to it stands in crates/devtools/src/shops.rs and social.rs.\n\nExample:\n  api dev social --at 127.0.0.1:8097 --notify http://127.0.0.1:8080/hooks/social/meta\n  BAS_META_BASE_URL=http://127.0.0.1:8097/v25.0 BAS_META_APP_ID=1234 BAS_META_APP_SECRET=dev-secret BAS_META_VERIFY_TOKEN=dev-token api up"
    )]
    Social(SocialArgs),
}

#[derive(Debug, Args)]
pub struct ShopifyArgs {
    /// Where it listens
    #[arg(long, default_value = "127.0.0.1:8092", value_name = "ADDR")]
    at: SocketAddr,
    /// Host name of the shop
    #[arg(long, default_value = "example.myshopify.com", value_name = "HOST")]
    shop: String,
    /// Identifier of the app
    #[arg(long, default_value = "dev-client", value_name = "ID")]
    client_id: String,
    /// Secret of the app, which signs callbacks and hooks
    #[arg(long, default_value = "dev-secret", value_name = "TEXT")]
    client_secret: SecretString,
    /// Orders that the shop has
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(..=200_000))]
    orders: u32,
    /// Variants that it sells
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    variants: u32,
    /// Days that the orders go back
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=3_650))]
    days: u32,
    /// The same number makes the same shop
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Currency of the shop
    #[arg(long, default_value = "EUR")]
    currency: Currency,
    /// Zone of the shop
    #[arg(long, default_value = "Europe/Madrid")]
    timezone: Zone,
    /// Answers as fast as it can, without the platform's limits; search knows of a change at once
    #[arg(long)]
    unlimited: bool,
}

impl ShopifyArgs {
    fn stub(self) -> anyhow::Result<(SocketAddr, ShopifyStub)> {
        let Self { at, shop, client_id, client_secret, orders, variants, days, seed, currency, timezone, unlimited } =
            self;
        let mut config = ShopifyStubConfig::new(client_id, client_secret, shop, (currency, timezone));
        config.seed = Seed { seed, orders, variants, days };
        if unlimited {
            config.rate = (1e9, 1e9);
            (config.bulk_takes, config.index_lag) = (Duration::ZERO, Duration::ZERO);
        }
        Ok((at, ShopifyStub::new(config)?))
    }
}

#[derive(Debug, Args)]
pub struct MercadolibreArgs {
    /// Where it listens
    #[arg(long, default_value = "127.0.0.1:8094", value_name = "ADDR")]
    at: SocketAddr,
    /// The app as it is registered
    #[arg(long, default_value = "5503910054141466")]
    client_id: String,
    /// The app's secret
    #[arg(long, default_value = "dev-secret")]
    client_secret: String,
    /// Where owners are sent back to
    #[arg(long, default_value = "http://127.0.0.1:8799/callback", value_name = "URL")]
    redirect_uri: String,
    /// The shop is made of this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Orders of the shop, up to a million
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    orders: u64,
    /// Days over which they are spread
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    days: u64,
    /// Zone of the ledger's days
    #[arg(long, default_value = "America/Argentina/Buenos_Aires")]
    timezone: Zone,
    /// Answers any number of calls
    #[arg(long)]
    unlimited: bool,
    /// Address that gets notifications; PUT /_stub/notify changes it
    #[arg(long, value_name = "URL")]
    notify: Option<String>,
}

impl MercadolibreArgs {
    fn config(self) -> mercadolibre::Config {
        let Self { at: _, client_id, client_secret, redirect_uri, seed, orders, days, timezone, unlimited, notify } =
            self;
        mercadolibre::Config {
            app: mercadolibre::App { client_id, client_secret, redirect_uri },
            seed,
            orders,
            days,
            is_limited: !unlimited,
            now: None,
            notify,
            zone: timezone,
        }
    }
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
        DevCommand::Mail => {
            let outbox = settings.outbox.context("nothing is put aside")?;
            print(outbox.list().context("the mails that were put aside")?);
            Ok(())
        }
        DevCommand::Llm { at, fault, slow_seconds, prompt_tokens, completion_tokens } => {
            let slow = Duration::from_secs(slow_seconds);
            let provider = Provider::new(fault, slow, (prompt_tokens, completion_tokens));
            serve(at, |listener| server(provider, listener), stopped).await
        }
        DevCommand::Shopify(args) => {
            let (at, stub) = args.stub()?;
            serve(at, |listener| stub.server(listener), stopped).await
        }
        DevCommand::Mercadolibre(arguments) => {
            let at = arguments.at;
            let platform = mercadolibre::Mercadolibre::new(arguments.config())?;
            serve(at, |listener| platform.server(listener), stopped).await
        }
        DevCommand::Tiendanube(arguments) => {
            let (at, platform) = (arguments.at, Tiendanube::new(arguments.config()));
            serve(at, |listener| platform.server(listener), stopped).await
        }
        DevCommand::Meta(arguments) => {
            let (at, network) = (arguments.at, Meta::new(arguments.config()));
            serve(at, |listener| network.server(listener), stopped).await
        }
        DevCommand::GoogleAds(arguments) => {
            let (at, network) = (arguments.at, GoogleAds::new(arguments.config()));
            serve(at, |listener| network.server(listener), stopped).await
        }
        DevCommand::Social(arguments) => {
            let (at, network) = (arguments.at, Social::new(arguments.config())?);
            serve(at, |listener| network.server(listener), stopped).await
        }
    }
}

fn print(mails: Vec<PutAside>) {
    if mails.is_empty() {
        println!("No mails yet.");
    }
    for PutAside { at, to, subject, text } in mails {
        println!("{at}\nTo: {to}\nSubject: {subject}\n\n{text}");
    }
}

fn gateway(settings: Settings, notify: Option<String>) -> anyhow::Result<Gateway> {
    let Settings { gateway_key, webhook_secret, prices, outbox: _ } = settings;
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
