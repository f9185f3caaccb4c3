//! Configuration: flags over environment over `api.toml` over defaults.

use std::{
    collections::BTreeMap,
    fmt::Display,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context;
use domain::credits::auto_topup::MAX_MONTHLY_CAP;
use figment::{
    Figment,
    error::Kind,
    providers::{Format, Serialized, Toml},
    value::Dict,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use web::client::Network;

use crate::database::EMBEDDED_POOL;

/// The prefix of environment variables.
const PREFIX: &str = "BAS_";

/// Names that every program has for these two, and so ours as well.
const UNPREFIXED: [&str; 2] = ["database_url", "redis_url"];

/// Connections that a pool may have where the database is not the embedded one: their places are reserved at the start.
const LARGEST_POOL: usize = 10_000;

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
    /// Reads the configuration. An error names the setting, where it was read and what it takes, but never a value: that may be
    /// a secret.
    pub fn load(flags: &Flags) -> anyhow::Result<Self> {
        let file = match &flags.config {
            Some(file) => {
                anyhow::ensure!(file.is_file(), "--config: there is no file {}", file.display());
                Some(file.as_path())
            }
            None => Some(Path::new(DEFAULT_FILE)).filter(|file| file.is_file()),
        };
        let mut figment = Figment::new();
        if let Some(file) = file {
            figment = figment.merge(Toml::string(&read(file)?));
        }
        let Flags { config: _, data_dir, listen, admin_listen, log } = flags;
        let config: Self = figment
            .merge(Serialized::defaults(environment("")))
            .merge(Serialized::defaults(environment(PREFIX)))
            .merge(Serialized::defaults(Overrides {
                data_dir: data_dir.as_ref(),
                listen: *listen,
                admin_listen: *admin_listen,
                log: log.as_deref(),
            }))
            // Variables are texts, of which numbers and truth values are read where a setting is one.
            .extract_lossy()
            .map_err(|error| anyhow::anyhow!(described(error, file)))
            .context("the configuration is not valid (docs/operations.md lists every setting)")?;
        config.refuse_empty_secrets()?;
        config.refuse_what_is_out_of_bounds()?;
        anyhow::ensure!(
            config.database_url.is_some()
                || (config.database_read_url.is_none()
                    && config.database_direct_url.is_none()
                    && config.database_pooler == DatabasePooler::None),
            "database_read_url, database_direct_url and database_pooler are of the database that DATABASE_URL names: set that as \
             well, or leave them out"
        );
        Ok(config)
    }

    fn refuse_what_is_out_of_bounds(&self) -> anyhow::Result<()> {
        within("rate_limit_per_minute", self.rate_limit_per_minute, 1, None)?;
        let most = if self.database_url.is_none() { EMBEDDED_POOL } else { LARGEST_POOL };
        within("database_pool", self.database_pool, 1, Some(most))?;
        within("database_timeout_ms", self.database_timeout_ms, 100, Some(60_000))?;
        within("drain_seconds", self.drain_seconds, 0, Some(600))?;
        within("http_workers", self.http_workers, 0, Some(1_024))?;
        within("auto_topup_monthly_cap", self.auto_topup_monthly_cap, 1, Some(MAX_MONTHLY_CAP))?;
        within("alerts_interval_seconds", self.alerts_interval_seconds, 1, None)?;
        within("shops_at_once", self.shops_at_once, 1, None)?;
        within("mercadolibre_calls_per_second", self.mercadolibre_calls_per_second, 1, None)?;
        // Without a month to keep, everything would be dropped.
        within("track_retention_months", self.track_retention_months, 1, None)?;
        within("delivery_retention_months", self.delivery_retention_months, 1, None)
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

/// Refuses a number that is too small or too large.
fn within<T: PartialOrd + Display>(name: &str, number: T, least: T, most: Option<T>) -> anyhow::Result<()> {
    match most {
        Some(most) if number < least || number > most => anyhow::bail!("{name} must be from {least} to {most}"),
        None if number < least => anyhow::bail!("{name} must be at least {least}"),
        _ => Ok(()),
    }
}

/// The text of `api.toml`, which is of that form. The error says where it is not, without the line: that may hold a secret.
fn read(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    if let Err(error) = Toml::from_str::<Dict>(&text) {
        let before = error.span().and_then(|at| text.get(..at.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        anyhow::bail!("{}, line {line}: {}", file.display(), error.message().replace('\n', ", "));
    }
    Ok(text)
}

/// Which settings are wrong, and what they take.
fn described(error: figment::Error, file: Option<&Path>) -> String {
    let all = error.into_iter().map(|error| {
        let name = error.path.join(".");
        format!("{}: {}", place(&name, file), expected(&error.kind))
    });
    all.collect::<Vec<_>>().join("; ")
}

/// Where a setting was read: of variables, that which wins.
fn place(name: &str, file: Option<&Path>) -> String {
    let variables = [format!("{PREFIX}{name}"), name.to_owned()].map(|variable| variable.to_ascii_uppercase());
    let set = variables.into_iter().find(|variable| NAMES.contains(&name) && is_set(variable));
    set.unwrap_or_else(|| file.map_or_else(|| name.to_owned(), |file| format!("{name} in {}", file.display())))
}

/// What a setting takes. Texts of errors hold no values of secrets: any text is one.
fn expected(kind: &Kind) -> String {
    match kind {
        Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) => {
            let expected = match expected.as_str() {
                "u32" => "a whole number from 0 to 4294967295",
                "u64" | "usize" | "i64" => "a whole number",
                "a boolean" => "true or false",
                "a string" => "a text, in quotes",
                other => other,
            };
            format!("expected {expected}")
        }
        Kind::UnknownVariant(_, allowed) => format!("expected one of {}", allowed.join(", ")),
        Kind::UnknownField(..) => "there is no such setting".to_owned(),
        Kind::Message(text) if text.starts_with("invalid socket address") => {
            "expected an address and a port, such as 127.0.0.1:8080".to_owned()
        }
        Kind::Message(text) => text.clone(),
        _ => "this is not what the setting takes".to_owned(),
    }
}

/// A decimal, whether it came as a text or as a number: as a float it would no longer be what was written.
fn decimal_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number")]
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

/// A name that may be all digits, which `api.toml` may give without quotes.
fn name_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text, in quotes")]
    enum Written {
        Text(String),
        Digits(u64),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::Text(text) => text,
        Written::Digits(digits) => digits.to_string(),
    })
}

/// The variables with a prefix that name a setting, as texts: a secret may look like a number or a list. An empty one counts
/// as unset.
fn environment(prefix: &str) -> BTreeMap<&'static str, String> {
    let set = NAMES.iter().filter_map(|name| {
        let value = std::env::var_os(format!("{prefix}{name}").to_ascii_uppercase())?;
        (!value.is_empty()).then(|| (*name, value.to_string_lossy().trim().to_owned()))
    });
    set.collect()
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

    #[test]
    #[allow(clippy::result_large_err, reason = "the type is the library's")]
    fn variables_are_texts_whatever_they_look_like() {
        Jail::expect_with(|jail| {
            for (name, value) in [
                ("BAS_META_VERIFY_TOKEN", "012345678"),
                ("BAS_LLM_KEY", "[a, b]"),
                ("BAS_SHOPIFY_CLIENT_ID", "0042"),
                ("BAS_LLM_INPUT_USD", "0.10"),
                ("BAS_REGION", "true"),
                ("BAS_ADMIN_HOSTS", "10"),
                ("BAS_ENV", "{1}"),
                ("BAS_DATABASE_POOL", "8"),
                ("BAS_AUTO_TOPUP_MONTHLY_CAP", "30000"),
                ("BAS_SOCIAL_REPLIES", "false"),
            ] {
                jail.set_env(name, value);
            }
            let config = Config::load(&Flags::default()).unwrap();
            let secret = |secret: &Option<SecretString>| secret.as_ref().unwrap().expose_secret().to_owned();
            assert_eq!([secret(&config.meta_verify_token), secret(&config.llm_key)], ["012345678", "[a, b]"]);
            let names = [&config.region, &config.admin_hosts, &config.env];
            assert_eq!(names, ["true", "10", "{1}"]);
            assert_eq!([&config.shopify_client_id, &config.llm_input_usd], ["0042", "0.10"]);
            assert_eq!(
                (config.database_pool, config.auto_topup_monthly_cap, config.social_replies),
                (8, 30_000, false)
            );
            Ok(())
        });
    }

    #[allow(clippy::result_large_err, reason = "the type is the library's")]
    fn refused(file: &str, variable: Option<(&str, &str)>) -> String {
        let mut said = String::new();
        Jail::expect_with(|jail| {
            jail.create_file("api.toml", file)?;
            if let Some((name, value)) = variable {
                jail.set_env(name, value);
            }
            said = format!("{:#}", Config::load(&Flags::default()).unwrap_err());
            Ok(())
        });
        said
    }

    #[test]
    fn an_error_says_where_a_setting_was_read_and_what_it_takes() {
        for (file, variable, expected) in [
            ("", Some(("BAS_HTTP_WORKERS", "many")), "BAS_HTTP_WORKERS: expected a whole number"),
            ("", Some(("BAS_SOCIAL_REPLIES", "perhaps")), "BAS_SOCIAL_REPLIES: expected true or false"),
            ("", Some(("BAS_SIGNUP", "nobody")), "BAS_SIGNUP: expected one of open, invite"),
            ("", Some(("BAS_LISTEN", "8080")), "BAS_LISTEN: expected an address and a port"),
            ("env = 1", None, "env in api.toml: expected a text, in quotes"),
            ("shopify_client_id = [1]", None, "shopify_client_id in api.toml: expected a text, in quotes"),
            ("rate_limit = 5", None, "rate_limit in api.toml: there is no such setting"),
            ("region = \"a\"\nregion = \"b\"", None, "api.toml, line 2: duplicate key"),
        ] {
            let said = refused(file, variable);
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn no_error_shows_a_secret() {
        for line in [
            "llm_key = 12345678",
            "llm_key = 12345678.5",
            "llm_key = [12345678]",
            "llm_key = \"12345678",
            "llm_key = x12345678",
        ] {
            let said = refused(line, None);
            assert!(said.contains("api.toml") && !said.contains("12345678"), "{line}: {said}");
        }
    }

    #[test]
    fn a_number_out_of_bounds_is_refused_with_them() {
        for (line, expected) in [
            ("track_retention_months = 0", "track_retention_months must be at least 1"),
            ("delivery_retention_months = 0", "delivery_retention_months must be at least 1"),
            ("auto_topup_monthly_cap = 0", "auto_topup_monthly_cap must be from 1 to 1000000000"),
            ("auto_topup_monthly_cap = 9223372036854775807", "auto_topup_monthly_cap must be from 1 to 1000000000"),
            ("database_pool = 81", "database_pool must be from 1 to 80"),
            ("database_timeout_ms = 99", "database_timeout_ms must be from 100 to 60000"),
            ("http_workers = 1025", "http_workers must be from 0 to 1024"),
            ("drain_seconds = 601", "drain_seconds must be from 0 to 600"),
        ] {
            let said = refused(line, None);
            assert!(said.contains(expected), "{said}");
        }
        // The embedded Postgres has a lower limit than others.
        let said = refused("database_pool = 81\nhttp_workers = 1025", Some(("DATABASE_URL", "postgres://db/x")));
        assert!(said.contains("http_workers"), "{said}");
        let said = refused("database_pool = 1000000000000", Some(("DATABASE_URL", "postgres://db/x")));
        assert!(said.contains("database_pool must be from 1 to 10000"), "{said}");
    }

    #[test]
    fn what_belongs_to_a_configured_database_is_refused_without_one() {
        for line in [
            "database_read_url = \"postgres://b/x\"",
            "database_direct_url = \"postgres://b/x\"",
            "database_pooler = \"transaction\"",
        ] {
            let said = refused(line, None);
            assert!(said.contains("DATABASE_URL"), "{line}: {said}");
        }
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
