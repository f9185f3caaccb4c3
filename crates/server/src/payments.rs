//! Wires up payments.

use std::sync::Arc;

use anyhow::Context;
use app::{auto_topup::Recharger, payments::PaymentService};
use connectors::payments::{Rebill, RebillConfig};
use domain::{credits::auto_topup::Rules, payments::PriceList};
use store::Store;
use time::{Duration, OffsetDateTime};

use crate::{addresses, config::Config};

/// What is for sale.
pub fn prices(config: &Config) -> anyhow::Result<PriceList> {
    PriceList::parse(&config.credit_packs, &config.plans).context("credit_packs and plans")
}

/// The payment gateway; `None`: there is none.
pub fn gateway(config: &Config) -> anyhow::Result<Option<Rebill>> {
    if config.payment_gateway_url.is_empty() {
        return Ok(None);
    }
    let secret = |value: &Option<secrecy::SecretString>, name: &str| {
        value.clone().with_context(|| format!("{name} is not set, but payment_gateway_url is"))
    };
    let gateway = Rebill::new(RebillConfig {
        base_url: addresses::private("payment_gateway_url", &config.payment_gateway_url)?,
        api_key: secret(&config.payment_gateway_key, "payment_gateway_key")?,
        webhook_secret: secret(&config.payment_webhook_secret, "payment_webhook_secret")?,
    });
    Ok(Some(gateway.context("payment_gateway_url")?))
}

/// The payment service; `None` without a gateway.
pub fn payment_service(config: &Config, store: &Arc<Store>) -> anyhow::Result<Option<PaymentService>> {
    let Some(gateway) = gateway(config)? else { return Ok(None) };
    Ok(Some(PaymentService {
        gateway: Arc::new(gateway),
        payments: store.clone(),
        accounts: store.clone(),
        prices: Arc::new(prices(config)?),
    }))
}

/// The worker of automatic top-ups.
pub fn recharger(config: &Config, store: &Arc<Store>, payment_service: PaymentService) -> Recharger {
    let rules = Rules {
        cooldown: Duration::seconds(i64::from(config.auto_topup_cooldown_seconds)),
        monthly_cap: config.auto_topup_monthly_cap,
    };
    Recharger { payment_service, charges: store.clone(), rules, clock: OffsetDateTime::now_utc }
}
