//! Shopify: its Admin API over GraphQL, OAuth with tokens that expire, signed webhooks.
//!
//! What no public source settles is marked `Unverified:` where it is decided, and listed in `docs/integrations/shopify.md`.

mod auth;
mod bulk;
mod catalogue;
mod client;
mod hooks;
mod orders;
pub mod queries;
mod sales;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    money::Currency,
    shops::{
        Access, AdSpend, OrderBatch, ProductBatch, Purpose, ShopError, ShopInfo, ShopReader, ShopStream, Timing, Window,
    },
};
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use serde_json::json;
use time::{Date, Duration, OffsetDateTime};
use url::Url;

use self::{
    client::{Client, Reply},
    wire::{BuyersData, ShopData},
};
use super::{AppCredentials, calls::counted, http::Http, signature::Keys};

/// What is asked for. `write_x` grants `read_x` as well.
pub const SCOPES: [&str; 7] = [
    "read_orders",
    "read_all_orders",
    "read_products",
    "read_inventory",
    "read_locations",
    "read_customers",
    "read_returns",
];
/// Without this, only orders of the last [`RECENT`] can be read.
const ALL_ORDERS: &str = "read_all_orders";
const RECENT: Duration = Duration::days(60);

const USER_AGENT: &str = concat!("business-analytics/", env!("CARGO_PKG_VERSION"));

/// The app, and where the platform is.
#[derive(Debug, Clone)]
pub struct ShopifyConfig {
    pub app: AppCredentials,
    /// A fake platform, whose paths begin with the shop's host name. `None`: each shop's own host.
    pub base_url: Option<Url>,
}

/// Shopify; cloning shares its connections and budgets.
#[derive(Debug, Clone)]
pub struct Shopify {
    app: Arc<AppCredentials>,
    keys: Keys,
    client: Arc<Client>,
}

impl Shopify {
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub fn new(config: ShopifyConfig) -> Result<Self, ShopError> {
        let ShopifyConfig { app, base_url } = config;
        let client = Client::new(Http::new(USER_AGENT)?, base_url);
        Ok(Self { keys: Keys::new(&app), app: Arc::new(app), client: Arc::new(client) })
    }

    /// Whether the shop shows who bought. Unverified: an app that may not see buyers gets orders whose customers lack their
    /// address; so one that is there among the newest orders proves the contrary, and no customer at all proves nothing.
    async fn shows_buyers(&self, access: &Access, scopes: &[String]) -> Result<Option<bool>, ShopError> {
        if !(grants(scopes, "read_orders") && grants(scopes, "read_customers")) {
            return Ok(Some(false));
        }
        let buyers: Result<Reply<BuyersData>, _> = self.client.run(access, queries::BUYERS, json!({})).await;
        match buyers {
            Ok(reply) => {
                let mut customers = reply.data.orders.nodes.into_iter().filter_map(|order| order.customer).peekable();
                Ok(Some(
                    customers.peek().is_none() || customers.any(|customer| customer.default_email_address.is_some()),
                ))
            }
            Err(ShopError::MissingScope(_)) => Ok(Some(false)),
            // It is only told: a shop whose newest orders cannot be shown is read otherwise.
            Err(ShopError::Unavailable(_) | ShopError::Rejected(_) | ShopError::Malformed(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether scopes hold one, as such or by the right to write the same.
fn grants(scopes: &[String], scope: &str) -> bool {
    let write = scope.strip_prefix("read_").map(|what| format!("write_{what}"));
    scopes.iter().any(|granted| granted == scope || Some(granted) == write.as_ref())
}

#[async_trait]
impl ShopReader for Shopify {
    fn platform(&self) -> Platform {
        Platform::Shopify
    }

    fn timing(&self) -> Timing {
        Timing {
            overlap: Duration::minutes(10),
            lag: Duration::minutes(2),
            window: Duration::days(30),
            longest_window: Duration::days(120),
            // Shopify keeps all of it; two years are what the analytics use.
            history: Duration::days(730),
            // Unverified: every refund, edit and payout moves an order's `updatedAt`. What was deleted has none; it is looked
            // for well within what can be read in any case, so that what is too old never counts as deleted.
            reread: Some(RECENT / 2),
            ads: None,
            token_lifetime: Duration::HOUR,
        }
    }

    async fn shop(&self, access: &Access) -> Result<(ShopInfo, OffsetDateTime), ShopError> {
        let Reply { data: ShopData { shop, current_app_installation }, at } =
            self.client.run(access, queries::SHOP, json!({})).await?;
        let at = at.ok_or_else(|| ShopError::Malformed("the header Date".to_owned()))?;
        if shop.myshopify_domain != access.shop_id {
            return Err(ShopError::Malformed("myshopifyDomain is another shop's".to_owned()));
        }
        let scopes = current_app_installation.scopes();
        let missing = SCOPES.iter().filter(|scope| !grants(&scopes, scope)).map(|scope| (*scope).to_owned()).collect();
        let info = ShopInfo {
            shop_id: access.shop_id.clone(),
            currency: shop.currency_code.parse().map_err(|_| ShopError::Malformed("currencyCode".to_owned()))?,
            timezone: shop.iana_timezone.parse().ok(),
            country: shop.shop_address.country_code_v2.and_then(|code| code.parse().ok()),
            history_from: (!grants(&scopes, ALL_ORDERS)).then(|| at - RECENT),
            shows_buyers: self.shows_buyers(access, &scopes).await?,
            missing_scopes: missing,
            shop: shop.myshopify_domain,
        };
        Ok((info, at))
    }

    fn orders(&self, access: &Access, window: Window, purpose: Purpose, currency: Currency) -> ShopStream<OrderBatch> {
        let (client, access) = (Arc::clone(&self.client), access.clone());
        if purpose == Purpose::Changes {
            return counted(orders::paged(client, access, window, purpose, currency));
        }
        let read = async move {
            Ok::<_, ShopError>(match bulk::read(&client, &access, window, currency).await? {
                Some(batches) => stream::iter(batches.map(Ok)).boxed(),
                None => orders::paged(client, access, window, purpose, currency),
            })
        };
        counted(read.into_stream().try_flatten().boxed())
    }

    fn orders_by_id(&self, access: &Access, ids: Vec<String>, currency: Currency) -> ShopStream<OrderBatch> {
        counted(orders::by_id(Arc::clone(&self.client), access.clone(), ids, currency))
    }

    fn reread(&self, access: &Access, ids: Vec<String>, _: Currency) -> ShopStream<OrderBatch> {
        counted(orders::gone(Arc::clone(&self.client), access.clone(), ids))
    }

    fn products(&self, access: &Access, currency: Currency) -> ShopStream<ProductBatch> {
        let (client, access) = (Arc::clone(&self.client), access.clone());
        let read = async move { catalogue::read(&client, &access, currency).await };
        let batches = read.into_stream().map_ok(|batches| stream::iter(batches.into_iter().map(Ok))).try_flatten();
        counted(batches.boxed())
    }

    /// The platform sells no ads of its own.
    async fn ad_spend(&self, _: &Access, _: Date, _: Date) -> Result<AdSpend, ShopError> {
        Ok(AdSpend::default())
    }

    async fn subscribe(&self, access: &Access, address: &str) -> Result<(), ShopError> {
        hooks::subscribe(&self.client, access, address).await
    }
}

#[cfg(test)]
mod tests {
    use domain::shops::Secret;

    use super::*;
    use crate::shops::answering::answering;

    const SHOP: (&str, &str) = (
        "200 OK",
        r#"{"data":{"shop":{"myshopifyDomain":"a.myshopify.com","currencyCode":"EUR","ianaTimezone":"Europe/Madrid",
            "shopAddress":{"countryCodeV2":null}},
            "currentAppInstallation":{"accessScopes":[{"handle":"read_orders"},{"handle":"read_customers"}]}}}"#,
    );

    #[tokio::test]
    async fn a_shop_is_read_though_its_newest_orders_cannot_be_shown() {
        let (base, _) = answering(|request| {
            if request.contains("query Shop ") { SHOP } else { ("200 OK", r#"{"errors":[{"message":"no"}]}"#) }
        })
        .await;
        let app = AppCredentials { client_id: "1".to_owned(), client_secret: "secret".into(), previous_secret: None };
        let shopify = Shopify::new(ShopifyConfig { app, base_url: Some(base) }).unwrap();
        let (name, token) = ("a.myshopify.com".to_owned(), Secret::new("token".to_owned()));
        let (info, _) =
            shopify.shop(&Access { shop_id: name.clone(), shop: name, token, scopes: vec![] }).await.unwrap();
        assert_eq!(info.shows_buyers, None, "nothing is proved");
    }

    #[test]
    fn the_right_to_write_is_the_right_to_read() {
        let granted = ["write_orders".to_owned(), "read_products".to_owned()];
        assert!(grants(&granted, "read_orders") && grants(&granted, "read_products"));
        assert!(!grants(&granted, "read_all_orders") && !grants(&granted, "read_customers"));
    }
}
