//! `api dev social`.

use std::net::SocketAddr;

use clap::Args;
use secrecy::SecretString;
use time::OffsetDateTime;

use super::{Seed, SocialConfig};

/// Calls that a profile of about one impression may have made for it in an hour.
pub const CALLS_PER_HOUR: usize = 4_800;

#[derive(Debug, Args)]
pub struct SocialArgs {
    /// Where it listens
    #[arg(long, default_value = "127.0.0.1:8097", value_name = "ADDR")]
    pub at: SocketAddr,
    /// The app as it is registered
    #[arg(long, default_value = "1234", value_name = "ID")]
    app_id: String,
    /// The app's secret, which signs hooks
    #[arg(long, default_value = "dev-secret", value_name = "TEXT")]
    app_secret: SecretString,
    /// What the address for hooks is confirmed with
    #[arg(long, default_value = "dev-token", value_name = "TEXT")]
    verify_token: SecretString,
    /// Where people may be sent back to; once per address
    #[arg(long, default_value = "http://127.0.0.1:8799/callback", value_name = "URL")]
    redirect_uri: Vec<String>,
    /// Where hooks go; POST /_stub/notify changes it
    #[arg(long, value_name = "URL")]
    notify: Option<String>,
    /// Pages of the person, each with an account on Instagram
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(..=30))]
    pages: u8,
    /// Pages on which the person may not moderate; they come last
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=30))]
    analysed_pages: u8,
    /// Comments of each profile in the last hours
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u8).range(..=200))]
    comments: u8,
    /// Calls that a profile may have made for it in an hour
    #[arg(long, default_value_t = CALLS_PER_HOUR)]
    calls_per_hour: usize,
}

impl SocialArgs {
    pub fn config(self) -> SocialConfig {
        let Self {
            at: _,
            app_id,
            app_secret,
            verify_token,
            redirect_uri,
            notify,
            pages,
            analysed_pages,
            comments,
            calls_per_hour,
        } = self;
        SocialConfig {
            app_id,
            app_secret,
            verify_token,
            redirect_uris: redirect_uri,
            notify,
            calls_per_hour,
            seed: Seed { pages, analysed_pages, comments, now: OffsetDateTime::now_utc() },
        }
    }
}
