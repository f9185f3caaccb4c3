//! `api dev google-ads`.

use std::net::SocketAddr;

use clap::Args;
use domain::{money::Currency, zone::Zone};
use secrecy::SecretString;
use time::OffsetDateTime;

use super::{GoogleAdsConfig, Seed, world::PAGE};

#[derive(Debug, Args)]
pub struct GoogleAdsArgs {
    /// Where it listens
    #[arg(long, default_value = "127.0.0.1:8096", value_name = "ADDR")]
    pub at: SocketAddr,
    /// The app as it is registered
    #[arg(long, default_value = "1234")]
    client_id: String,
    /// The app's secret
    #[arg(long, default_value = "dev-secret")]
    client_secret: SecretString,
    /// Where people may be sent back to; once per address
    #[arg(long, default_value = "http://127.0.0.1:8799/callback", value_name = "URL")]
    redirect_uri: Vec<String>,
    /// The ad account is made of this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Days that its ads go back
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=1_500))]
    days: u16,
    /// Campaigns, each of two ad groups of two ads; every third one is of Performance Max
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=100))]
    campaigns: u8,
    /// Ad accounts that the person reaches: all but the first are empty
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(..=9))]
    accounts: u8,
    /// They are reached by way of the manager account 999-888-7777 alone
    #[arg(long)]
    managed: bool,
    /// Rows of a page; Google's have 10000
    #[arg(long, default_value_t = PAGE)]
    page_rows: usize,
    /// Currency of the ad account
    #[arg(long, default_value = "EUR")]
    currency: Currency,
    /// Zone of the ad account
    #[arg(long, default_value = "Europe/Madrid")]
    timezone: Zone,
}

impl GoogleAdsArgs {
    pub fn config(self) -> GoogleAdsConfig {
        let Self {
            at: _,
            client_id,
            client_secret,
            redirect_uri,
            seed,
            days,
            campaigns,
            accounts,
            managed,
            page_rows,
            currency,
            timezone: zone,
        } = self;
        let now = OffsetDateTime::now_utc();
        GoogleAdsConfig {
            client_id,
            client_secret,
            redirect_uris: redirect_uri,
            seed: Seed { seed, days, campaigns, accounts, managed, page_rows, currency, zone, now },
        }
    }
}
