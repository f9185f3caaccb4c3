//! The Google Ads API: what the ads of an ad account cost and brought, by ad and day, and by campaign where Google does not
//! tell of ads.
//!
//! Source: developers.google.com, as of autumn 2026. What no page settles is marked `Unverified:` at the one place that
//! decides it, and `docs/integrations/google-ads.md` lists these places.

mod api;
mod auth;
mod creatives;
mod figures;
mod rows;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    ads::AdPlatform,
    imports::AdAccount,
    money::Currency,
    shops::{
        Access, AdSpend, OrderBatch, ProductBatch, Purpose, ShopError, ShopInfo, ShopReader, ShopStream, Timing, Window,
    },
};
use futures_util::{StreamExt, stream};
use secrecy::SecretString;
use time::{Date, Duration, OffsetDateTime};
use url::Url;

pub use self::api::VERSION;
use self::{
    api::{Api, Caller},
    figures::Days,
    rows::Told,
    wire::{Customer, CustomerRow},
};
use super::{HISTORY, timing};
use crate::shops::{AppCredentials, calls::metered, http::Answer};

/// Purchases are attributed to clicks of up to 30 days before, where nothing else is set.
const SETTLES: Duration = Duration::days(AdPlatform::Google.settles_after());
/// How long an access token lives.
const TOKEN_LIFETIME: Duration = Duration::HOUR;
/// The permission that reading takes; there is none that only reads.
const SCOPE: &str = "https://www.googleapis.com/auth/adwords";
/// Digits of an ad account's number.
const DIGITS: usize = 10;
/// What is asked about the ad account itself.
const ABOUT: &str = "SELECT customer.id, customer.descriptive_name, customer.currency_code, customer.time_zone, \
                     customer.manager FROM customer LIMIT 1";

/// The number of an ad account, `123-456-7890` as people read it or without hyphens, in digits alone.
fn customer_number(text: &str) -> Option<String> {
    let plain = match text.split('-').collect::<Vec<_>>().as_slice() {
        [all] => (*all).to_owned(),
        [area, middle, last] if (area.len(), middle.len(), last.len()) == (3, 3, 4) => [*area, *middle, *last].concat(),
        _ => return None,
    };
    (plain.len() == DIGITS && plain.bytes().all(|digit| digit.is_ascii_digit())).then_some(plain)
}

/// Where Google is.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// `https://googleads.googleapis.com`, or a stand-in.
    pub api: Url,
    /// `https://accounts.google.com`, where people grant access, or a stand-in.
    pub login: Url,
    /// `https://oauth2.googleapis.com`, where tokens are given, or a stand-in.
    pub tokens: Url,
}

/// The app as it is registered at Google.
#[derive(Debug, Clone)]
pub struct GoogleAdsConfig {
    pub app: AppCredentials,
    /// Sent with every call where there is one. Since 2026-09-09 Google ignores it.
    pub developer_token: Option<SecretString>,
    pub addresses: Addresses,
}

/// The app at Google; cloning shares its connections and limits.
#[derive(Debug, Clone)]
pub struct GoogleAds {
    api: Arc<Api>,
}

impl GoogleAds {
    /// # Errors
    /// When no HTTP client can be set up, or an address takes no path.
    pub fn new(config: GoogleAdsConfig) -> Result<Self, ShopError> {
        Ok(Self { api: Arc::new(Api::new(config)?) })
    }

    async fn customer(&self, caller: &Caller<'_>) -> Result<(Customer, Answer), ShopError> {
        let (rows, answer) = self.api.first::<CustomerRow>(caller, ABOUT).await?;
        let [CustomerRow { customer }] =
            <[_; 1]>::try_from(rows).map_err(|_| ShopError::Malformed("results".to_owned()))?;
        if customer.id.0 != caller.account {
            return Err(ShopError::Malformed("customer.id: of another ad account".to_owned()));
        }
        Ok((customer, answer))
    }

    /// The ad account of a connection, the answer that told of it, and the manager account by way of which it is reached.
    async fn open(&self, access: &Access) -> Result<(Customer, Answer, Option<String>), ShopError> {
        let direct = Caller { account: &access.shop_id, manager: None, token: &access.token };
        let manager = match self.customer(&direct).await {
            Err(ShopError::NotFound) => self.manager_of(access).await?,
            found => return found.map(|(customer, answer)| (customer, answer, None)),
        };
        let (customer, answer) = self.customer(&Caller { manager: Some(&manager), ..direct }).await?;
        Ok((customer, answer, Some(manager)))
    }

    async fn told(&self, access: &Access, from: Date, until: Date) -> Result<AdSpend, ShopError> {
        let (customer, _, manager) = self.open(access).await?;
        let caller = Caller { account: &access.shop_id, manager: manager.as_deref(), token: &access.token };
        let days = Days::read(&self.api, &caller, from, until).await?;
        let (ads, refused) = creatives::of_ads(&self.api, &caller, &days.ads()).await?;
        let told =
            Told { name: format!("{} {}", AdPlatform::Google, access.shop_id), currency: customer.currency()?, ads };
        let rows = told.rows(days)?;
        let account = AdAccount { name: told.name, zone: customer.zone(), tells_all: true };
        Ok(AdSpend { rows, refused, account: Some(account), ..AdSpend::default() })
    }
}

#[async_trait]
impl ShopReader for GoogleAds {
    fn platform(&self) -> Platform {
        Platform::GoogleAds
    }

    fn timing(&self) -> Timing {
        timing(SETTLES, TOKEN_LIFETIME)
    }

    async fn shop(&self, access: &Access) -> Result<(ShopInfo, OffsetDateTime), ShopError> {
        let (customer, answer, _) = self.open(access).await?;
        let now = answer.date().ok_or_else(|| ShopError::Malformed("the header Date".to_owned()))?;
        let is_granted = access.scopes.iter().any(|scope| scope == SCOPE);
        let info = ShopInfo {
            shop: customer.id.0.clone(),
            currency: customer.currency()?,
            timezone: customer.zone(),
            country: None,
            // Google does not say when the ad account was made.
            history_from: Some(now - HISTORY),
            shows_buyers: Some(true),
            missing_scopes: if is_granted { Vec::new() } else { vec![SCOPE.to_owned()] },
            shop_id: customer.id.0,
        };
        Ok((info, now))
    }

    fn orders(&self, _: &Access, _: Window, _: Purpose, _: Currency) -> ShopStream<OrderBatch> {
        stream::empty().boxed()
    }

    fn orders_by_id(&self, _: &Access, _: Vec<String>, _: Currency) -> ShopStream<OrderBatch> {
        stream::empty().boxed()
    }

    fn products(&self, _: &Access, _: Currency) -> ShopStream<ProductBatch> {
        stream::empty().boxed()
    }

    async fn ad_spend(&self, access: &Access, from: Date, until: Date) -> Result<AdSpend, ShopError> {
        let (told, calls) = metered(self.told(access, from, until)).await;
        Ok(AdSpend { calls, ..told? })
    }

    /// Google tells of changes by no hook.
    async fn subscribe(&self, _: &Access, _: &str) -> Result<(), ShopError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("123-456-7890", Some("1234567890"))]
    #[case("1234567890", Some("1234567890"))]
    #[case("12-3456-7890", None)]
    #[case("123456-7890", None)]
    #[case("123-456-789", None)]
    #[case("123-456-78901", None)]
    #[case("123-456-789x", None)]
    #[case("", None)]
    fn numbers_are_ten_digits_with_hyphens_or_without(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(customer_number(text).as_deref(), expected);
    }
}
