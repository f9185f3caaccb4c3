//! A fake shop that is connected, and what was read of it as the ledger writes it down.

use std::{collections::BTreeMap, net::TcpListener, time::Duration};

use connectors::shops::{
    AppCredentials,
    shopify::{Shopify, ShopifyConfig},
};
use devtools::shops::{
    Stub as _,
    ledger::{OrderTruth, RefundTruth, State, Truth},
    shopify::{Seed, ShopifyStub, ShopifyStubConfig},
};
use domain::{
    accounts::Platform,
    imports::Line,
    money::Currency,
    shops::{
        Access, Authorization, Callback, Grant, OrderBatch, Purpose, Secret, ShopAuth as _, ShopError, ShopReader as _,
        ShopStream, Tokens, Window,
    },
};
use futures_util::TryStreamExt as _;
use rust_decimal::Decimal;
use secrecy::SecretString;
use time::{OffsetDateTime, macros::datetime};

pub const SHOP: &str = "example.myshopify.com";
pub const NOW: OffsetDateTime = datetime!(2026-11-24 06:00 UTC);

pub fn euro() -> Currency {
    "EUR".parse().unwrap()
}

/// As the platform, but at once.
pub fn config() -> ShopifyStubConfig {
    ShopifyStubConfig {
        seed: Seed { seed: 7, orders: 300, variants: 60, days: 400 },
        index_lag: Duration::ZERO,
        bulk_takes: Duration::from_millis(20),
        rate: (2_000.0, 100_000.0),
        at: Some(NOW),
        ..ShopifyStubConfig::new(
            "client".to_owned(),
            SecretString::from("hush"),
            SHOP.to_owned(),
            (euro(), "Europe/Madrid".parse().unwrap()),
        )
    }
}

pub struct World {
    pub stub: ShopifyStub,
    pub shopify: Shopify,
    pub access: Access,
    pub tokens: Tokens,
    pub base: String,
}

impl World {
    pub async fn new(config: ShopifyStubConfig) -> Self {
        rustls::crypto::ring::default_provider().install_default().ok();
        let stub = ShopifyStub::new(config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(stub.server(listener).unwrap());
        let app = AppCredentials {
            client_id: "client".to_owned(),
            client_secret: SecretString::from("hush"),
            previous_secret: None,
        };
        let shopify = Shopify::new(ShopifyConfig { app, base_url: Some(base.parse().unwrap()) }).unwrap();
        let Grant { shop_id, tokens } = grant(&shopify, &stub).await;
        let (token, scopes) = (tokens.access.clone(), tokens.scopes.clone());
        let access = Access { shop: shop_id.clone(), shop_id, token, scopes };
        Self { stub, shopify, access, tokens, base }
    }

    pub fn fault(&self, name: &'static str, times: u32, value: u64) {
        self.stub.common().faults.set(name, times, value);
    }

    pub fn truth(&self) -> Truth {
        self.stub.truth(None).unwrap()
    }

    /// How often a query was sent.
    pub fn sent(&self, name: &str) -> usize {
        self.stub.common().log.entries().iter().filter(|entry| entry.what.as_deref() == Some(name)).count()
    }

    pub async fn orders(&self, purpose: Purpose) -> Result<Vec<OrderBatch>, ShopError> {
        let window = Window { from: NOW - time::Duration::days(730), until: NOW + time::Duration::days(1) };
        all(self.shopify.orders(&self.access, window, purpose, euro())).await
    }

    /// Fails unless what was read is the truth, order by order and day by day.
    pub fn compare(&self, batches: &[OrderBatch]) {
        let mut truth = self.truth();
        truth.orders.values_mut().for_each(|order| sort(&mut order.refunds));
        let read = Read::of(batches);
        for (id, order) in &truth.orders {
            match order.state {
                State::Taken => assert_eq!(read.taken.get(id), Some(order), "order {id}"),
                State::Void => assert!(!read.taken.contains_key(id) && !read.refused.contains_key(id), "order {id}"),
                State::Foreign => assert_eq!(read.refused[id], "its currency is USD", "order {id}"),
            }
        }
        let zone = truth.timezone.parse().unwrap();
        let orders = read.taken;
        let days =
            Truth::new(Platform::Shopify, SHOP.to_owned(), (euro(), &zone), orders, BTreeMap::new(), BTreeMap::new())
                .days;
        assert!(!days.is_empty());
        assert_eq!(days, truth.days);
    }
}

/// As an owner does it: to the platform, back with a code, which is exchanged.
pub async fn grant(shopify: &Shopify, stub: &ShopifyStub) -> Grant {
    let authorization = Authorization {
        state: Secret::new("state-1".to_owned()),
        redirect_uri: "http://127.0.0.1:9/back".to_owned(),
        shop: shopify.shop_name(Some("Example.myshopify.com")).unwrap(),
        verifier: Secret::new(String::new()),
        country: None,
    };
    let url = shopify.authorize_url(&authorization).unwrap();
    let browser = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let answer = browser.get(url).send().await.unwrap();
    let back: reqwest::Url = answer.headers()["location"].to_str().unwrap().parse().unwrap();
    let pairs = back.query_pairs();
    let callback = Callback(pairs.map(|(key, value)| (key.into_owned(), Secret::new(value.into_owned()))).collect());
    assert_eq!(callback.one("state"), Some("state-1"));
    shopify.complete(&callback, &authorization, stub.common().clock.now()).await.unwrap()
}

pub async fn all<T>(stream: ShopStream<T>) -> Result<Vec<T>, ShopError> {
    stream.try_collect().await
}

/// What was read, by the orders' numbers; a later batch replaces what an earlier one said.
#[derive(Default)]
pub struct Read {
    pub taken: BTreeMap<String, OrderTruth>,
    pub refused: BTreeMap<String, String>,
    pub voided: Vec<String>,
}

impl Read {
    pub fn of(batches: &[OrderBatch]) -> Self {
        let mut read = Self::default();
        for batch in batches {
            for voided in &batch.voided {
                read.taken.remove(&voided.external_id);
                read.voided.push(voided.external_id.clone());
            }
            for refused in &batch.refused {
                read.refused.insert(refused.external_id.clone(), refused.reason.clone());
            }
            for order in &batch.orders {
                let document = &order.order;
                let goods = |lines: &[Line]| lines.iter().filter(|line| line.is_product).cloned().collect::<Vec<_>>();
                let mut refunds: Vec<RefundTruth> = order
                    .refunds
                    .iter()
                    .map(|refund| RefundTruth {
                        at: refund.at,
                        amount: sum(&refund.lines),
                        units: goods(&refund.lines).iter().map(|line| line.quantity).sum(),
                    })
                    .collect();
                sort(&mut refunds);
                let truth = OrderTruth {
                    at: document.at,
                    state: State::Taken,
                    gross: sum(&document.lines),
                    product_gross: sum(&goods(&document.lines)),
                    units: goods(&document.lines).iter().map(|line| line.quantity).sum(),
                    fees: document.fees,
                    shipping: document.shipping,
                    buyer: document.buyer.as_ref().map(|buyer| buyer.external_id.clone()),
                    refunds,
                    refund_unknown: order.refund_unknown,
                    copy_of: order.copy_of.map(|platform| platform.as_str().to_owned()),
                };
                read.taken.insert(document.external_id.clone(), truth);
            }
        }
        read
    }
}

pub fn sort(refunds: &mut [RefundTruth]) {
    refunds.sort_by_key(|refund| (refund.at, refund.amount, refund.units));
}

fn sum(lines: &[Line]) -> Decimal {
    lines.iter().map(|line| Decimal::from(line.quantity) * line.unit_price).sum()
}
