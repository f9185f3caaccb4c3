//! Whether all settings are ones to work with: looked at before a database is started or asked.

use anyhow::Context;
use delivery::seal::KeyRing;
use domain::webhooks::address::AllowList;
use redis_adapter::Link;
use secrecy::ExposeSecret;

use crate::{
    admin, ai, commands::Misconfigured, config::Config, dashboard, mails, payments, scheduler, services, shops, social,
    telemetry,
};

/// Reads every setting as the parts of the service do. Files that only HTTP needs are looked at where it `serves`.
///
/// # Errors
/// [`Misconfigured`] with the first setting that is wrong.
pub fn check(config: &Config, serves: bool) -> Result<(), Misconfigured> {
    read(config, serves).map_err(|error| Misconfigured(format!("{error:#}")))
}

fn read(config: &Config, serves: bool) -> anyhow::Result<()> {
    telemetry::filter_of(&config.log)?;
    scheduler::parse_cron(&config.jobs_cron)?;
    config.trusted_proxies()?;
    admin::Hosts::parse(&config.admin_hosts)?;
    dashboard::public_url(config, config.dashboard_listen)?;
    config.redis_url().map(Link::check).transpose()?;
    config.webhook_allow_loopback.parse::<AllowList>().context("webhook_allow_loopback")?;
    if let Some(keys) = &config.data_keys {
        KeyRing::parse(keys.expose_secret()).context("data_keys")?;
    }
    mails::mails(config, false)?;
    payments::prices(config)?;
    payments::gateway(config)?;
    ai::insights_price(config)?;
    ai::vote_price(config)?;
    ai::model(config)?;
    shops::connectors(config)?;
    shops::hooks_url(config)?;
    shops::check_redirect_url(config)?;
    social::app(config)?;
    social::profile_networks(config)?;
    if serves {
        services::geolocator(config)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    #[test]
    fn a_wrong_setting_is_refused_by_name() {
        let config = Config::default;
        let secret = || Some(SecretString::from("secret"));
        check(&config(), true).unwrap();
        for (named, wrong) in [
            ("log", Config { log: "a=b=c".into(), ..config() }),
            ("jobs_cron", Config { jobs_cron: "daily".into(), ..config() }),
            ("jobs_cron", Config { jobs_cron: "0 0 30 2 *".into(), ..config() }),
            ("trusted_proxies", Config { trusted_proxies: "proxy".into(), ..config() }),
            ("admin_hosts", Config { admin_hosts: "a:9090".into(), ..config() }),
            ("public_url", Config { public_url: "shop".into(), ..config() }),
            ("REDIS_URL", Config { redis_url: secret(), ..config() }),
            ("REDIS_URL", Config { redis_url: Some(SecretString::from("http://cache/0")), ..config() }),
            ("webhook_allow_loopback", Config { webhook_allow_loopback: "10.0.0.1".into(), ..config() }),
            ("data_keys", Config { data_keys: secret(), ..config() }),
            ("credit_packs", Config { credit_packs: "500".into(), ..config() }),
            ("payment_gateway_key", Config { payment_gateway_url: "https://pay.example.com".into(), ..config() }),
            (
                "payment_gateway_url",
                Config {
                    payment_gateway_url: "http://pay.example.com".into(),
                    payment_gateway_key: secret(),
                    payment_webhook_secret: secret(),
                    ..config()
                },
            ),
            (
                "llm_base_url",
                Config { llm_base_url: "http://llm.example.com/v1".into(), llm_model: "small".into(), ..config() },
            ),
            (
                "shopify_base_url",
                Config {
                    shopify_client_id: "1".into(),
                    shopify_client_secret: secret(),
                    shopify_base_url: "http://shop.example.com".into(),
                    ..config()
                },
            ),
            (
                "meta_base_url",
                Config {
                    meta_app_id: "1".into(),
                    meta_app_secret: secret(),
                    meta_verify_token: secret(),
                    meta_base_url: "http://graph.example.com/v25.0".into(),
                    ..config()
                },
            ),
            ("ai_insights_price", Config { ai_insights_price: 0, ..config() }),
            ("ai_social_reply_price", Config { ai_social_reply_price: -1, ..config() }),
            (
                "llm_timeout_seconds",
                Config { llm_base_url: "https://llm.example.com".into(), llm_timeout_seconds: 0, ..config() },
            ),
            ("shopify_client_secret", Config { shopify_client_id: "1".into(), ..config() }),
            ("hooks_url", Config { hooks_url: "http://api.example.com".into(), ..config() }),
            ("integration_redirect_url", Config { integration_redirect_url: "shop.example.com".into(), ..config() }),
            ("integration_redirect_url", Config { integration_redirect_url: "app:callback".into(), ..config() }),
            ("meta_verify_token", Config { meta_app_secret: secret(), ..config() }),
            ("meta_app_secret", Config { meta_app_id: "1".into(), ..config() }),
            ("geoip_database", Config { geoip_database: "nowhere.mmdb".into(), ..config() }),
        ] {
            let Misconfigured(said) = check(&wrong, true).unwrap_err();
            assert!(said.contains(named), "{named}: {said}");
        }
        check(&Config { geoip_database: "nowhere.mmdb".into(), ..config() }, false).unwrap();
    }
}
