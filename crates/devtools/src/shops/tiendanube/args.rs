//! `api dev tiendanube`.

use std::net::SocketAddr;

use clap::Args;
use domain::{money::Currency, zone::Zone};
use secrecy::SecretString;
use time::OffsetDateTime;

use super::{Bucket, Seed, TiendanubeConfig, default_scopes};

#[derive(Debug, Args)]
pub struct TiendanubeArgs {
    /// Where it listens
    #[arg(long, default_value = "127.0.0.1:8093", value_name = "ADDR")]
    pub at: SocketAddr,
    /// The app as it is registered
    #[arg(long, default_value = "1234")]
    client_id: String,
    /// The app's secret
    #[arg(long, default_value = "dev-secret")]
    client_secret: SecretString,
    /// Where owners are sent back to; PUT /_stub/app changes it
    #[arg(long, default_value = "http://127.0.0.1:8790/callback", value_name = "URL")]
    redirect_uri: String,
    /// The store is made of this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Orders of the store
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    orders: u64,
    /// Days over which they are spread
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=3_650))]
    days: u32,
    /// Currency of the store
    #[arg(long, default_value = "BRL")]
    currency: Currency,
    /// Zone of the store
    #[arg(long, default_value = "America/Sao_Paulo")]
    timezone: Zone,
    /// Answers any number of calls
    #[arg(long)]
    unlimited: bool,
    /// Takes addresses for hooks that the platform refuses: on this machine, without TLS
    #[arg(long)]
    local_hooks: bool,
}

impl TiendanubeArgs {
    pub fn config(self) -> TiendanubeConfig {
        let Self {
            at: _,
            client_id,
            client_secret,
            redirect_uri,
            seed,
            orders,
            days,
            currency,
            timezone,
            unlimited,
            local_hooks,
        } = self;
        TiendanubeConfig {
            client_id,
            client_secret,
            redirect_uri,
            scopes: default_scopes(),
            takes_local_hooks: local_hooks,
            bucket: if unlimited { Bucket::LIFTED } else { Bucket::PLATFORM },
            seed: Seed { seed, orders, days, currency, zone: timezone, now: OffsetDateTime::now_utc() },
        }
    }
}
