//! Configuration: flags over environment over `api.toml` over defaults.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context;
use figment::{
    Figment,
    providers::{Env, Format, Serialized, Toml},
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use web::client::Network;

/// The prefix of environment variables.
const PREFIX: &str = "BAS_";

/// Names that every program has for these two, and so ours as well.
const UNPREFIXED: [&str; 2] = ["database_url", "redis_url"];

/// Where `api.toml` is looked for when no other file is named.
pub const DEFAULT_FILE: &str = "api.toml";

/// The type of a setting, which says whether it is a secret.
trait Setting {
    /// The value of a secret that is set.
    fn secret(&self) -> Option<&SecretString> {
        None
    }
}

impl Setting for Option<SecretString> {
    fn secret(&self) -> Option<&SecretString> {
        self.as_ref()
    }
}

impl Setting for bool {}
impl Setting for i64 {}
impl Setting for u32 {}
impl Setting for u64 {}
impl Setting for usize {}
impl Setting for String {}
impl Setting for PathBuf {}
impl Setting for SocketAddr {}
impl Setting for SignUp {}
impl Setting for DatabasePooler {}

/// Declares every setting once: what it is, its type and its default.
macro_rules! settings {
    ($($(#[$about:meta])* pub $name:ident: $type:ty = $default:expr;)*) => {
        /// Every setting. The names are the keys of `api.toml`; in capitals and behind [`PREFIX`] they are the environment
        /// variables.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {
            $($(#[$about])* pub $name: $type,)*
        }

        impl Default for Config {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Config {
            /// The secrets that are set, by name.
            fn secrets(&self) -> impl Iterator<Item = (&'static str, &SecretString)> {
                let settings = [$((stringify!($name), self.$name.secret())),*];
                settings.into_iter().filter_map(|(name, secret)| Some((name, secret?)))
            }
        }

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

settings! {
    /// Address of the API.
    pub listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080));
    /// Address of the dashboard.
    pub dashboard_listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8081));
    /// The address that browsers know the dashboard by; empty: that of `dashboard_listen`, by http.
    pub public_url: String = String::new();
    /// Who may create an account in the dashboard: everybody, or who is invited.
    pub signup: SignUp = SignUp::Open;
    /// The server that mails are sent by, such as `smtps://user:password@mail.example.com`; `smtp://` is STARTTLS. Without one
    /// what needs a mail is refused.
    pub smtp_url: Option<SecretString> = None;
    /// Who mails are from, such as `Example <hello@example.com>`.
    pub mail_from: String = String::new();
    /// Address of metrics and health, for operators only.
    pub admin_listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 9090));
    /// Names (comma separated) by which operators reach the admin listener, in addition to `localhost` and addresses.
    pub admin_hosts: String = String::new();
    /// Folder of the embedded Postgres and of keys made at first start.
    pub data_dir: PathBuf = PathBuf::from("data");
    /// A Postgres to use instead of the embedded one.
    pub database_url: Option<SecretString> = None;
    /// What stands between this process and the database at `database_url`.
    pub database_pooler: DatabasePooler = DatabasePooler::None;
    /// The same database without the pooler, for what needs a session of its own.
    pub database_direct_url: Option<SecretString> = None;
    /// A standby of the database that answers reads.
    pub database_read_url: Option<SecretString> = None;
    /// Connections to the database at most.
    pub database_pool: usize = 16;
    /// Milliseconds that a request waits for the database before it is answered with 503.
    pub database_timeout_ms: u64 = 1_800;
    /// A Redis or Valkey in which replicas count requests together; without one each counts alone.
    pub redis_url: Option<SecretString> = None;
    /// Seconds to go on answering after the signal to stop, while `/ready` says that no more should come.
    pub drain_seconds: u64 = 0;
    /// HTTP threads; 0 means one per core.
    pub http_workers: usize = 0;
    /// Requests a key may make in a minute.
    pub rate_limit_per_minute: u32 = 60;
    /// KiB of tracking events a key may have stored in a minute; 0 means 128 for each request it may make.
    pub track_kib_per_minute: u32 = 0;
    /// Networks (CIDR, comma separated) of proxies whose X-Forwarded-For is believed.
    pub trusted_proxies: String = String::new();
    /// Shown by `/status`.
    pub region: String = "local".to_owned();
    /// Shown by `/status`: production, staging, development.
    pub env: String = "development".to_owned();
    /// GeoIP files (`.mmdb`, comma separated) that say where an address is; none means that nothing is known.
    pub geoip_database: String = String::new();
    /// Keys that seal webhook secrets: `id:base64,…`; the first seals, all open.
    pub data_keys: Option<SecretString> = None;
    /// Loopback receivers (`127.0.0.1:9000`, comma separated) that webhooks may be sent to, for tests and development.
    pub webhook_allow_loopback: String = String::new();
    /// The payment gateway's address; empty: nothing is for sale.
    pub payment_gateway_url: String = String::new();
    /// The bearer token that the gateway wants.
    pub payment_gateway_key: Option<SecretString> = None;
    /// Signs the gateway's notifications.
    pub payment_webhook_secret: Option<SecretString> = None;
    /// Packs of credits: `key:credits:price:currency, …`.
    pub credit_packs: String =
        "credits_500:500:9.00:USD, credits_1000:1000:16.00:USD, credits_5000:5000:70.00:USD".to_owned();
    /// Plans, with the credits that each payment brings: `plan:interval:credits:price:currency, …`.
    pub plans: String =
        "starter:month:1000:19.00:USD, pro:month:5000:79.00:USD, scale:month:20000:249.00:USD".to_owned();
    /// Seconds between the end of one automatic top-up and the next.
    pub auto_topup_cooldown_seconds: u32 = 600;
    /// Credits that an account may buy automatically in a calendar month, unless it sets its own cap.
    pub auto_topup_monthly_cap: i64 = 20_000;
    /// When the jobs are due, as a cron expression in UTC. Each account runs a job once per day of its own time zone.
    pub jobs_cron: String = "7 * * * *".to_owned();
    /// Seconds between two evaluations of an alert rule.
    pub alerts_interval_seconds: u32 = 300;
    /// Address of a language model, such as `https://api.example.com/v1`; without one the rules write the insights.
    pub llm_base_url: String = String::new();
    /// The key that the model's provider wants.
    pub llm_key: Option<SecretString> = None;
    /// The model, as its provider calls it.
    pub llm_model: String = String::new();
    /// Time limit of a call, retries included.
    pub llm_timeout_seconds: u32 = 60;
    /// US dollars per million tokens sent, as a decimal.
    #[serde(deserialize_with = "decimal_text")]
    pub llm_input_usd: String = "0".to_owned();
    /// US dollars per million tokens received, as a decimal.
    #[serde(deserialize_with = "decimal_text")]
    pub llm_output_usd: String = "0".to_owned();
    /// Credits that a run costs in which a model writes insights.
    pub ai_insights_price: i64 = 5;
    /// Credits that a model's vote on a comment costs.
    pub ai_social_reply_price: i64 = 1;
    /// Where the Internet reaches this service, such as `https://api.example.com`: platforms send their hooks there; empty:
    /// shops are polled only.
    pub hooks_url: String = String::new();
    /// Where platforms send owners back to who have granted access; registered with each app. `api integrations connect`
    /// serves the default.
    pub integration_redirect_url: String = "http://127.0.0.1:8799/callback".to_owned();
    /// Connected shops that a process reads at a time.
    pub shops_at_once: usize = 4;
    /// How many times as long as a statement took an import of a connected shop pauses after it.
    pub shops_nice_ratio: u32 = store::Importer::NICE_RATIO;
    /// The same of an uploaded file, which somebody waits for.
    pub uploads_nice_ratio: u32 = 1;
    /// The app as Shopify knows it; empty: no shop there can be connected.
    #[serde(deserialize_with = "name_text")]
    pub shopify_client_id: String = String::new();
    /// Its secret, which also signs hooks.
    pub shopify_client_secret: Option<SecretString> = None;
    /// The secret before, during a rotation.
    pub shopify_previous_secret: Option<SecretString> = None;
    /// A stand-in on this machine instead of Shopify.
    pub shopify_base_url: String = String::new();
    /// The app as Tiendanube knows it; empty: no shop there can be connected.
    #[serde(deserialize_with = "name_text")]
    pub tiendanube_client_id: String = String::new();
    /// Its secret, which also signs hooks.
    pub tiendanube_client_secret: Option<SecretString> = None;
    /// The secret before, during a rotation.
    pub tiendanube_previous_secret: Option<SecretString> = None;
    /// The app's name and a mail address for Tiendanube: `Example (hello@example.com)`.
    pub tiendanube_user_agent: String = String::new();
    /// A stand-in on this machine instead of Tiendanube.
    pub tiendanube_base_url: String = String::new();
    /// The app as Mercado Libre knows it; empty: no seller there can be connected.
    #[serde(deserialize_with = "name_text")]
    pub mercadolibre_client_id: String = String::new();
    /// Its secret.
    pub mercadolibre_client_secret: Option<SecretString> = None;
    /// Calls a second that Mercado Libre lets the app make, over all sellers; one seller gets a fifth of them.
    pub mercadolibre_calls_per_second: u32 = connectors::shops::mercadolibre::CALLS_PER_SECOND;
    /// A stand-in on this machine instead of Mercado Libre.
    pub mercadolibre_base_url: String = String::new();
    /// The app as Meta knows it, for advertising; empty: no ad account there can be connected.
    #[serde(deserialize_with = "name_text")]
    pub meta_client_id: String = String::new();
    /// Its secret, with which every call is signed.
    pub meta_client_secret: Option<SecretString> = None;
    /// A stand-in on this machine instead of Facebook and its Marketing API.
    pub meta_ads_base_url: String = String::new();
    /// The app as Google knows it, for Google Ads; empty: no ad account there can be connected.
    #[serde(deserialize_with = "name_text")]
    pub google_ads_client_id: String = String::new();
    /// Its secret.
    pub google_ads_client_secret: Option<SecretString> = None;
    /// Sent with every call; Google ignores it since 2026-09-09.
    pub google_ads_developer_token: Option<SecretString> = None;
    /// A stand-in on this machine instead of Google.
    pub google_ads_base_url: String = String::new();
    /// The app as Meta knows it, for comments; empty: no profile is connected by granting access.
    #[serde(deserialize_with = "name_text")]
    pub meta_app_id: String = String::new();
    /// The secret of that app, which signs hooks; without it no hook of Instagram or Facebook is taken.
    pub meta_app_secret: Option<SecretString> = None;
    /// The token that the subscription of hooks at Meta is confirmed with.
    pub meta_verify_token: Option<SecretString> = None;
    /// A stand-in on this machine instead of Facebook and its Graph API, with the version: `http://127.0.0.1:8097/v25.0`.
    pub meta_base_url: String = String::new();
    /// Whether the bot may answer comments by itself, for any account: false stops it everywhere.
    pub social_replies: bool = true;
    /// Months that tracking events are kept.
    pub track_retention_months: u32 = 25;
    /// Months that deliveries which have ended are kept, with their attempts and events.
    pub delivery_retention_months: u32 = 3;
    /// The filter of the log, in the syntax of `RUST_LOG`.
    pub log: String = "info".to_owned();
}

/// Who may create an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignUp {
    Open,
    Invite,
}

/// What stands between this process and its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatabasePooler {
    None,
    /// PgBouncer with `pool_mode = transaction`, or what behaves like it.
    Transaction,
}

/// The flags that every command takes.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Flags {
    /// Configuration file [default: api.toml, if there is one].
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder of the embedded Postgres [default: data].
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address of the API [default: 127.0.0.1:8080].
    #[arg(long, global = true, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Address of metrics and health [default: 127.0.0.1:9090].
    #[arg(long, global = true, value_name = "ADDR")]
    pub admin_listen: Option<SocketAddr>,
    /// What is logged: error, warn, info, debug or a filter such as `info,store=debug` [default: info].
    #[arg(long, global = true, value_name = "FILTER")]
    pub log: Option<String>,
}

#[derive(Serialize)]
struct Overrides<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    data_dir: Option<&'a PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<&'a str>,
}

impl Config {
    /// Reads the configuration. The error names the key and where it came from, never a secret's value.
    pub fn load(flags: &Flags) -> anyhow::Result<Self> {
        let figment = Figment::new();
        let figment = match &flags.config {
            Some(file) => {
                anyhow::ensure!(file.is_file(), "--config: there is no file {}", file.display());
                figment.merge(Toml::file_exact(file))
            }
            None if Path::new(DEFAULT_FILE).is_file() => figment.merge(Toml::file_exact(DEFAULT_FILE)),
            None => figment,
        };
        let Flags { config: _, data_dir, listen, admin_listen, log } = flags;
        let config: Self = figment
            // Values are read as text first: a secret of digits only must not become a number.
            .merge(environment(""))
            .merge(environment(PREFIX))
            .merge(Serialized::defaults(Overrides {
                data_dir: data_dir.as_ref(),
                listen: *listen,
                admin_listen: *admin_listen,
                log: log.as_deref(),
            }))
            .extract()
            .context("the configuration is not valid (docs/operations.md lists every setting)")?;
        config.refuse_empty_secrets()?;
        anyhow::ensure!(config.rate_limit_per_minute > 0, "rate_limit_per_minute must be at least 1");
        anyhow::ensure!(config.database_pool > 0, "database_pool must be at least 1");
        anyhow::ensure!(
            (100..=60_000).contains(&config.database_timeout_ms),
            "database_timeout_ms must be 100 to 60000"
        );
        anyhow::ensure!(config.shops_at_once > 0, "shops_at_once must be at least 1");
        anyhow::ensure!(config.mercadolibre_calls_per_second > 0, "mercadolibre_calls_per_second must be at least 1");
        anyhow::ensure!(config.alerts_interval_seconds > 0, "alerts_interval_seconds must be at least 1");
        Ok(config)
    }

    /// An empty secret is known to all: any client could sign with it.
    fn refuse_empty_secrets(&self) -> anyhow::Result<()> {
        for (name, secret) in self.secrets() {
            anyhow::ensure!(!secret.expose_secret().trim().is_empty(), "{name} is empty: set it, or leave it out");
        }
        Ok(())
    }

    pub fn database_url(&self) -> Option<&str> {
        self.database_url.as_ref().map(ExposeSecret::expose_secret)
    }

    pub fn database_direct_url(&self) -> Option<&str> {
        self.database_direct_url.as_ref().map(ExposeSecret::expose_secret)
    }

    pub fn database_read_url(&self) -> Option<&str> {
        self.database_read_url.as_ref().map(ExposeSecret::expose_secret)
    }

    /// The networks of `trusted_proxies`.
    pub fn trusted_proxies(&self) -> anyhow::Result<Vec<Network>> {
        let networks = self.trusted_proxies.split(',').map(str::trim).filter(|network| !network.is_empty());
        networks.map(str::parse).collect::<Result<_, _>>().context("trusted_proxies")
    }

    pub fn redis_url(&self) -> Option<&str> {
        self.redis_url.as_ref().map(ExposeSecret::expose_secret)
    }
}

/// A decimal, whether it came as a text or as a number: as a float it would no longer be what was written.
fn decimal_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TextOrNumber {
        Text(String),
        Whole(i64),
        Number(f64),
    }
    Ok(match TextOrNumber::deserialize(deserializer)? {
        TextOrNumber::Text(text) => text,
        TextOrNumber::Whole(number) => number.to_string(),
        // The shortest digits that read as the same float are those that were written.
        TextOrNumber::Number(number) => number.to_string(),
    })
}

/// A name that may be all digits, which the environment gives as a number.
fn name_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Digits(u64),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::Text(text) => text,
        Written::Digits(digits) => digits.to_string(),
    })
}

/// The variables with a prefix that name a setting. An empty one counts as unset.
fn environment(prefix: &'static str) -> Env {
    Env::prefixed(prefix).only(NAMES).filter(move |name| is_set(&format!("{prefix}{name}").to_ascii_uppercase()))
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Variables by their names of before 0.2.0, without [`PREFIX`], that are set; they are read until 0.3.0.
pub fn deprecated_variables() -> impl Iterator<Item = String> {
    let names = NAMES.iter().filter(|name| !UNPREFIXED.contains(name)).map(|name| name.to_ascii_uppercase());
    names.filter(|name| is_set(name))
}

/// Variables that begin as ours do and name no setting.
pub fn unknown_variables() -> impl Iterator<Item = String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| {
        name.strip_prefix(PREFIX).is_some_and(|rest| !NAMES.contains(&rest.to_ascii_lowercase().as_str()))
    })
}

/// The configuration of the environment, read while no other test sets its variables.
#[cfg(test)]
#[allow(clippy::result_large_err, reason = "the type is the library's")]
pub fn undisturbed() -> Config {
    let mut loaded = None;
    figment::Jail::expect_with(|_| {
        loaded = Config::load(&Flags::default()).ok();
        Ok(())
    });
    loaded.unwrap()
}

#[cfg(test)]
mod tests {
    use figment::Jail;

    use super::*;

    #[test]
    #[allow(clippy::result_large_err, reason = "the type is the library's")]
    fn flags_win_over_environment_over_file_over_defaults() {
        Jail::expect_with(|jail| {
            jail.create_file("api.toml", "region = \"file\"\nenv = \"file\"\nlisten = \"127.0.0.1:1\"")?;
            jail.set_env("BAS_ENV", "environment");
            jail.set_env("BAS_LISTEN", "127.0.0.1:2");
            let flags = Flags { listen: Some(SocketAddr::from(([127, 0, 0, 1], 3))), ..Flags::default() };
            let config = Config::load(&flags).unwrap();
            assert_eq!(
                (config.region.as_str(), config.env.as_str(), config.listen.port(), config.database_pool),
                ("file", "environment", 3, 16)
            );
            Ok(())
        });
    }

    #[test]
    #[allow(clippy::result_large_err, reason = "the type is the library's")]
    fn a_variable_without_the_prefix_is_read_gives_way_and_is_named() {
        Jail::expect_with(|jail| {
            jail.set_env("REGION", "old");
            jail.set_env("LOG", "debug");
            jail.set_env("BAS_LOG", "warn");
            jail.set_env("BAS_PLANS", "");
            jail.set_env("BAS_REGOIN", "typo");
            jail.set_env("REDIS_URL", "redis://cache/0");
            let config = Config::load(&Flags::default()).unwrap();
            assert_eq!((config.region.as_str(), config.log.as_str()), ("old", "warn"));
            assert_eq!((&config.plans, config.redis_url().is_some()), (&Config::default().plans, true));
            let deprecated: Vec<String> = deprecated_variables().collect();
            assert!(["REGION", "LOG"].iter().all(|name| deprecated.contains(&(*name).to_owned())), "{deprecated:?}");
            assert!(!deprecated.contains(&"REDIS_URL".to_owned()));
            assert_eq!(unknown_variables().collect::<Vec<_>>(), ["BAS_REGOIN"]);
            Ok(())
        });
    }

    #[test]
    fn every_setting_is_documented() {
        let page = include_str!("../../../docs/operations.md");
        for name in NAMES {
            let prefix = if UNPREFIXED.contains(name) { "" } else { PREFIX };
            let variable = format!("`{prefix}{}`", name.to_ascii_uppercase());
            assert!(page.contains(&variable), "docs/operations.md does not name {variable}");
        }
    }

    #[test]
    #[allow(clippy::result_large_err, reason = "the type is the library's")]
    fn an_unknown_key_is_refused_by_name() {
        Jail::expect_with(|jail| {
            jail.create_file("api.toml", "rate_limit = 5")?;
            let error = format!("{:#}", Config::load(&Flags::default()).unwrap_err());
            assert!(error.contains("rate_limit"), "{error}");
            Ok(())
        });
    }

    /// The settings whose declaration has the type of a secret, as it is written above.
    fn declared_secrets() -> Vec<&'static str> {
        let settings = include_str!("config.rs").lines().filter_map(|line| line.strip_prefix("    pub "));
        let secrets = settings.filter_map(|setting| setting.split_once(": Option<SecretString> = "));
        let secrets: Vec<&str> = secrets.map(|(name, _)| name).collect();
        assert!(secrets.len() > 18 && secrets.iter().all(|name| NAMES.contains(name)), "{secrets:?}");
        secrets
    }

    #[test]
    fn what_is_named_as_a_secret_is_declared_as_one() {
        let secrets = declared_secrets();
        for name in NAMES {
            let is_named_so = ["_key", "_keys", "_secret", "_token"].iter().any(|end| name.ends_with(end));
            assert!(!is_named_so || secrets.contains(name), "{name}");
        }
    }

    #[test]
    #[allow(clippy::result_large_err, reason = "the type is the library's")]
    fn an_empty_secret_is_refused_by_name() {
        for (name, value) in declared_secrets().into_iter().flat_map(|name| [(name, ""), (name, " ")]) {
            Jail::expect_with(|jail| {
                jail.create_file("api.toml", &format!("{name} = \"{value}\""))?;
                let error = format!("{:#}", Config::load(&Flags::default()).unwrap_err());
                assert!(error.contains(name), "{name}: {error}");
                Ok(())
            });
        }
    }

    #[test]
    #[allow(clippy::result_large_err, reason = "the type is the library's")]
    fn secrets_are_not_shown() {
        Jail::expect_with(|jail| {
            let secrets = declared_secrets();
            let lines: Vec<String> = secrets.iter().map(|name| format!("{name} = \"hunter2 {name}\"")).collect();
            jail.create_file("api.toml", &lines.join("\n"))?;
            jail.set_env("DATABASE_URL", "postgres://u:hunter2@db/x");
            jail.set_env("BAS_DATA_KEYS", "k1:hunter2");
            jail.set_env("REDIS_URL", "rediss://:hunter2@cache/0");
            let config = Config::load(&Flags::default()).unwrap();
            assert_eq!(config.database_url(), Some("postgres://u:hunter2@db/x"));
            assert_eq!(config.secrets().map(|(name, _)| name).collect::<Vec<_>>(), secrets);
            assert!(!format!("{config:?}").contains("hunter2"));
            Ok(())
        });
    }
}
