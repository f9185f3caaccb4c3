//! Meta's Marketing API: what the ads of an ad account on Facebook and Instagram cost and brought, by ad and day.
//!
//! Source: developers.facebook.com, as of mid-2026. What no page settles is marked `Unverified:` at the one place that
//! decides it, and `docs/integrations/meta.md` lists these places.

mod api;
mod auth;
mod creatives;
mod insights;
mod rows;
mod wire;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    imports::AdAccount,
    money::Currency,
    shops::{
        Access, AdSpend, OrderBatch, ProductBatch, Purpose, ShopError, ShopInfo, ShopReader, ShopStream, Timing, Window,
    },
};
use futures_util::{StreamExt, stream};
use reqwest::Method;
use time::{Date, Duration, OffsetDateTime};
use url::Url;

use self::{
    api::{Api, Caller},
    rows::Told,
    wire::Account,
};
use super::{HISTORY, client::no_path, timing};
pub use crate::graph::VERSION;
use crate::{
    graph::login::{Login, LoginConfig},
    shops::{AppCredentials, calls::metered, http::Answer},
};

/// Purchases are attributed to clicks of up to 28 days before.
const SETTLES: Duration = Duration::days(28);
/// How long a token of a person lives.
const TOKEN_LIFETIME: Duration = Duration::days(60);
/// The permission that reading takes.
const SCOPE: &str = "ads_read";
/// One that includes it.
const WIDER_SCOPE: &str = "ads_management";

/// Where Meta is, and the app as it is registered there.
#[derive(Debug, Clone)]
pub struct MetaConfig {
    pub app: AppCredentials,
    /// `https://graph.facebook.com`, or a stand-in.
    pub api_url: Url,
    /// `https://www.facebook.com`, where people grant access, or a stand-in.
    pub login_url: Url,
}

/// The app at Meta; cloning shares its connections and limits.
#[derive(Debug, Clone)]
pub struct Meta {
    api: Arc<Api>,
}

impl Meta {
    /// # Errors
    /// When no HTTP client can be set up, or an address takes no path.
    pub fn new(config: MetaConfig) -> Result<Self, ShopError> {
        let MetaConfig { app, api_url, login_url } = config;
        let version = |url: &Url| url.join(VERSION).map_err(|_| no_path());
        let login = Login::new(LoginConfig { app, api_url: version(&api_url)?, login_url: version(&login_url)? })?;
        Ok(Self { api: Arc::new(Api::new(login)?) })
    }

    async fn account(&self, access: &Access) -> Result<(Account, Answer), ShopError> {
        let caller = Caller { account: &access.shop_id, token: &access.token };
        let query = [("fields", "account_id,currency,timezone_name,created_time")];
        let answer = self.api.call(&caller, Method::GET, &[&act(&access.shop_id)], &query).await?;
        let account: Account = answer.json()?;
        if account.account_id.0 != access.shop_id {
            return Err(ShopError::Malformed("account_id: of another ad account".to_owned()));
        }
        Ok((account, answer))
    }

    async fn told(&self, access: &Access, from: Date, until: Date) -> Result<AdSpend, ShopError> {
        let caller = Caller { account: &access.shop_id, token: &access.token };
        let (account, _) = self.account(access).await?;
        let insights = insights::of_days(&self.api, &caller, from, until).await?;
        let ads: BTreeSet<&str> = insights.iter().map(|insight| insight.ad_id.0.as_str()).collect();
        let (ads, refused) = creatives::of_ads(&self.api, &caller, &ads).await?;
        let told = Told { name: format!("{} {}", Platform::Meta, access.shop_id), currency: account.currency()?, ads };
        let rows = insights.into_iter().zip(1..).map(|(insight, line)| told.row(insight, line));
        let rows = rows.collect::<Result<_, _>>()?;
        let account = AdAccount { name: told.name, zone: account.zone(), tells_all: true };
        Ok(AdSpend { rows, refused, account: Some(account), ..AdSpend::default() })
    }
}

/// What the API calls an ad account.
fn act(account: &str) -> String {
    format!("act_{account}")
}

#[async_trait]
impl ShopReader for Meta {
    fn platform(&self) -> Platform {
        Platform::Meta
    }

    fn timing(&self) -> Timing {
        timing(SETTLES, TOKEN_LIFETIME)
    }

    async fn shop(&self, access: &Access) -> Result<(ShopInfo, OffsetDateTime), ShopError> {
        let (account, answer) = self.account(access).await?;
        let now = answer.date().ok_or_else(|| ShopError::Malformed("the header Date".to_owned()))?;
        let is_granted = access.scopes.iter().any(|scope| scope == SCOPE || scope == WIDER_SCOPE);
        let info = ShopInfo {
            shop: act(&account.account_id.0),
            currency: account.currency()?,
            timezone: account.zone(),
            country: None,
            history_from: Some(account.created_at().map_or(now - HISTORY, |created| created.max(now - HISTORY))),
            shows_buyers: Some(true),
            missing_scopes: if is_granted { Vec::new() } else { vec![SCOPE.to_owned()] },
            shop_id: account.account_id.0,
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

    /// Figures change at no moment that a hook could tell of.
    async fn subscribe(&self, _: &Access, _: &str) -> Result<(), ShopError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use domain::{ads::Status, shops::Secret};
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;
    use crate::shops::answering::answering;

    const ACCOUNT: (&str, &str) = ("200 OK", r#"{"account_id":"5","currency":"EUR","timezone_name":"Europe/Madrid"}"#);
    const INSIGHTS: (&str, &str) = (
        "200 OK",
        r#"{"data":[{"campaign_id":"7","adset_id":"8","ad_id":"9","date_start":"2026-11-20","spend":"12.30"}]}"#,
    );
    const REFUSED: (&str, &str) = ("400 Bad Request", r#"{"error":{"message":"m","code":100,"error_subcode":7}}"#);
    const NO_TOKEN: (&str, &str) = ("400 Bad Request", r#"{"error":{"message":"m","code":190}}"#);

    async fn read(answer: fn(&str) -> (&'static str, &'static str)) -> Result<AdSpend, ShopError> {
        let (address, _) = answering(answer).await;
        let app = AppCredentials { client_id: "1".to_owned(), client_secret: "secret".into(), previous_secret: None };
        let meta = Meta::new(MetaConfig { app, api_url: address.clone(), login_url: address }).unwrap();
        let token = Secret::new("token".to_owned());
        let access = Access { shop_id: "5".to_owned(), shop: "act_5".to_owned(), token, scopes: vec![] };
        meta.ad_spend(&access, date!(2026 - 11 - 20), date!(2026 - 11 - 20)).await
    }

    #[tokio::test]
    async fn what_was_spent_is_told_though_the_ads_are_not_shown() {
        let told = read(|request| match request {
            request if request.contains("/insights?") => INSIGHTS,
            request if request.contains("/ads?") => REFUSED,
            _ => ACCOUNT,
        });
        let told = told.await.unwrap();
        assert_eq!(told.rows.iter().map(|row| row.spend).collect::<Vec<_>>(), [dec!(12.30)]);
        assert_eq!((told.rows[0].detail.status, told.refused.len()), (None, 1));
        let ended = read(|request| match request {
            request if request.contains("/insights?") => INSIGHTS,
            request if request.contains("/ads?") => NO_TOKEN,
            _ => ACCOUNT,
        });
        assert_eq!(ended.await, Err(ShopError::Unauthorized));
        // What passes is waited for: days that are long over are not read again.
        let away = read(|request| match request {
            request if request.contains("/insights?") => INSIGHTS,
            request if request.contains("/ads?") => ("503 Service Unavailable", "<html>"),
            _ => ACCOUNT,
        });
        assert!(matches!(away.await, Err(ShopError::Unavailable(_))));
    }

    #[tokio::test]
    async fn an_ad_that_is_not_listed_is_gone() {
        let told = read(|request| match request {
            request if request.contains("/insights?") => INSIGHTS,
            request if request.contains("/ads?") => ("200 OK", r#"{"data":[]}"#),
            _ => ACCOUNT,
        });
        let told = told.await.unwrap();
        assert_eq!((told.rows[0].detail.status, told.refused.len()), (Some(Status::Archived), 0));
    }
}
