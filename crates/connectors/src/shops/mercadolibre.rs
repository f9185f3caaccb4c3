//! Mercado Libre: the sales of a seller over REST, OAuth with PKCE, notifications that nobody signs.
//!
//! Source: developers.mercadolibre.com.ar, as of June 2026. What no page settles is marked `Unverified:` at the one place
//! that decides it, and `docs/integrations/mercadolibre.md` lists these places.

mod ads;
mod api;
mod auth;
mod catalogue;
mod claims;
mod denied;
mod document;
mod feeds;
mod hooks;
mod orders;
mod questions;
mod refunds;
mod shipments;
mod site;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    money::Currency,
    shops::{
        Access, AdSpend, AdTiming, OrderBatch, ProductBatch, Purpose, ShopError, ShopInfo, ShopReader, ShopStream,
        Timing, Window,
    },
};
use futures_util::StreamExt;
use time::{Date, Duration, OffsetDateTime};
use url::Url;

pub use self::{
    ads::AD_HISTORY,
    api::{CALLS_PER_SECOND, Limits},
};
use self::{
    ads::{AD_PERMISSION, AD_SETTLES},
    api::Api,
    site::Site,
};
use super::{
    AppCredentials,
    calls::{counted, metered},
};

/// How long an access token lives.
const TOKEN_LIFETIME: Duration = Duration::hours(6);
/// How far back orders can be searched.
const HISTORY: Duration = Duration::days(365);
/// The scopes without which nothing can be kept up to date. `write` answers questions; without it they are only read.
const SCOPES: [&str; 2] = ["offline_access", "read"];

/// Where Mercado Libre is, and the app as it is registered there.
#[derive(Debug, Clone)]
pub struct MercadolibreConfig {
    pub app: AppCredentials,
    /// `https://api.mercadolibre.com`, or a stand-in.
    pub api_url: Url,
    /// Where owners grant access, in place of the site of their country: for a stand-in.
    pub authorize_url: Option<Url>,
    pub limits: Limits,
}

/// The app on Mercado Libre; cloning shares its connections and limits.
#[derive(Debug, Clone)]
pub struct Mercadolibre {
    api: Arc<Api>,
    app: AppCredentials,
    authorize_url: Option<Url>,
}

impl Mercadolibre {
    /// # Errors
    /// When no HTTP client can be set up.
    pub fn new(config: MercadolibreConfig) -> Result<Self, ShopError> {
        let MercadolibreConfig { app, api_url, authorize_url, limits } = config;
        Ok(Self { api: Arc::new(Api::new(api_url, limits)?), app, authorize_url })
    }
}

#[async_trait]
impl ShopReader for Mercadolibre {
    fn platform(&self) -> Platform {
        Platform::Mercadolibre
    }

    /// The filters of the search drop minutes, so two hours are read twice; cancelled orders vanish from the search, so
    /// young orders are read again one by one.
    fn timing(&self) -> Timing {
        Timing {
            overlap: Duration::hours(2),
            lag: Duration::minutes(1),
            window: Duration::days(30),
            longest_window: Duration::days(30),
            history: HISTORY,
            reread: Some(Duration::days(60)),
            ads: Some(AdTiming { history: AD_HISTORY, settles: AD_SETTLES, permission: Some(AD_PERMISSION) }),
            token_lifetime: TOKEN_LIFETIME,
        }
    }

    async fn shop(&self, access: &Access) -> Result<(ShopInfo, OffsetDateTime), ShopError> {
        let answer = self.api.get(access, &["users", "me"], &[]).await?;
        let user: wire::User = answer.json()?;
        if user.id.0 != access.shop_id {
            return Err(ShopError::Malformed("id: the token is of another seller".to_owned()));
        }
        if user.status.is_some_and(|status| status.site_status.as_deref() == Some("deactive")) {
            return Err(ShopError::Suspended);
        }
        let site = Site::of(&user.site_id).ok_or_else(|| ShopError::Malformed("site_id: not known".to_owned()))?;
        let now = answer.date().ok_or_else(|| ShopError::Malformed("the header Date".to_owned()))?;
        let missing = SCOPES.iter().filter(|scope| !access.scopes.iter().any(|granted| granted == *scope));
        let info = ShopInfo {
            shop: site.shop(&user.id.0),
            shop_id: user.id.0,
            currency: site.currency()?,
            timezone: None,
            country: site.country(),
            history_from: Some(now - HISTORY),
            shows_buyers: Some(true),
            missing_scopes: missing.map(|scope| (*scope).to_owned()).collect(),
        };
        Ok((info, now))
    }

    fn orders(&self, access: &Access, window: Window, purpose: Purpose, currency: Currency) -> ShopStream<OrderBatch> {
        let found = orders::in_window(self.api.clone(), access.clone(), window, purpose, currency);
        if purpose == Purpose::BackFill {
            return counted(found);
        }
        let missed = feeds::orders(self.api.clone(), access.clone(), self.app.client_id.clone(), window, currency);
        counted(missed.chain(found).boxed())
    }

    fn orders_by_id(&self, access: &Access, ids: Vec<String>, currency: Currency) -> ShopStream<OrderBatch> {
        counted(orders::by_id(self.api.clone(), access.clone(), ids, currency))
    }

    fn products(&self, access: &Access, currency: Currency) -> ShopStream<ProductBatch> {
        counted(catalogue::products(self.api.clone(), access.clone(), currency))
    }

    async fn ad_spend(&self, access: &Access, from: Date, until: Date) -> Result<AdSpend, ShopError> {
        let (spent, calls) = metered(self.spent_on_ads(access, from, until)).await;
        let (rows, account) = spent?;
        Ok(AdSpend { calls, rows, account, ..AdSpend::default() })
    }

    /// Address and topics of notifications are settings of the app, which no call changes.
    async fn subscribe(&self, _: &Access, _: &str) -> Result<(), ShopError> {
        Ok(())
    }
}
