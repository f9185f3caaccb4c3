//! A connected store of the fake Tiendanube, whose clock stands.

use std::net::TcpListener;

use connectors::shops::{
    AppCredentials,
    tiendanube::{Tiendanube, TiendanubeConfig},
};
use devtools::shops::{
    Stub as _,
    clock::Change,
    tiendanube::{self as stub, Bucket, Seed},
};
use domain::{
    money::Currency,
    shops::{Access, Authorization, Callback, CompleteError, Grant, Secret, ShopAuth as _, ShopReader as _},
};
use reqwest::{Client, Method, RequestBuilder, redirect};
use serde_json::Value;
use time::{Duration, OffsetDateTime, macros::datetime};
use url::Url;

pub const NOW: OffsetDateTime = datetime!(2026-11-24 15:30:20 UTC);
pub const APP: &str = "1234";
pub const SECRET: &str = "app-secret";

pub fn brl() -> Currency {
    "BRL".parse().unwrap()
}

pub struct Shop {
    pub stub: stub::Tiendanube,
    pub base: Url,
    pub app: Tiendanube,
    pub access: Access,
    pub client: Client,
}

fn config(orders: u64) -> stub::TiendanubeConfig {
    stub::TiendanubeConfig {
        client_id: APP.into(),
        client_secret: SECRET.into(),
        redirect_uri: "https://example.com/connected".into(),
        scopes: stub::default_scopes(),
        takes_local_hooks: false,
        bucket: Bucket::LIFTED,
        seed: Seed {
            seed: 7,
            orders,
            days: 300,
            currency: brl(),
            zone: "America/Sao_Paulo".parse().unwrap(),
            now: NOW,
        },
    }
}

impl Shop {
    pub async fn open(orders: u64) -> Self {
        Self::open_with(orders, |_| {}).await
    }

    pub async fn open_with(orders: u64, change: impl FnOnce(&mut stub::TiendanubeConfig)) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut config = config(orders);
        change(&mut config);
        let stub = stub::Tiendanube::new(config);
        stub.common().clock.change(&Change { at: Some(NOW), ..Change::default() });
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let base: Url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(stub.server(listener).unwrap());
        let app = Tiendanube::new(TiendanubeConfig {
            app: AppCredentials { client_id: APP.into(), client_secret: SECRET.into(), previous_secret: None },
            user_agent: "Example (hello@example.com)".into(),
            address: Some(base.clone()),
        })
        .unwrap();
        let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
        let grant = install(&app, &client).await.unwrap();
        let access = Access {
            shop_id: grant.shop_id,
            shop: String::new(),
            token: grant.tokens.access,
            scopes: grant.tokens.scopes,
        };
        let (info, date) = app.shop(&access).await.unwrap();
        assert_eq!((date, info.currency), (NOW, brl()));
        Self { stub, base, app, access: Access { shop: info.shop, ..access }, client }
    }

    pub fn advance(&self, by: Duration) {
        let advance_seconds = Some(by.whole_seconds());
        self.stub.common().clock.change(&Change { advance_seconds, ..Change::default() });
    }

    /// A request to the store's API as another client makes it: nothing is added.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let path = format!("/2025-03/{}/{path}", self.access.shop_id);
        self.client.request(method, self.base.join(&path).unwrap())
    }

    /// The same with what every call needs.
    pub fn proper(&self, method: Method, path: &str) -> RequestBuilder {
        let token = format!("bearer {}", self.access.token.expose());
        self.request(method, path).header("authentication", token).header("user-agent", "Other (a@example.com)")
    }

    /// Something happens in the store.
    pub async fn happens(&self, path: &str, what: Value) -> Value {
        let url = self.base.join(&format!("/_stub/{path}")).unwrap();
        let answer = self.client.post(url).json(&what).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path} {what}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }
}

pub fn authorization() -> Authorization {
    Authorization {
        state: Secret::new("state-1".to_owned()),
        redirect_uri: "https://example.com/connected".to_owned(),
        shop: None,
        verifier: Secret::new(String::new()),
        country: Some("BR".parse().unwrap()),
    }
}

/// The owner agrees; the query that they are sent back with.
pub async fn agree(app: &Tiendanube, client: &Client) -> Callback {
    let url = app.authorize_url(&authorization()).unwrap();
    assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
    let answer = client.post(&url).send().await.unwrap();
    assert_eq!(answer.status(), 302);
    let target: Url = answer.headers()["location"].to_str().unwrap().parse().unwrap();
    assert_eq!((target.host_str(), target.path()), (Some("example.com"), "/connected"));
    Callback(target.query_pairs().map(|(name, value)| (name.into_owned(), Secret::new(value.into_owned()))).collect())
}

pub async fn install(app: &Tiendanube, client: &Client) -> Result<Grant, CompleteError> {
    let callback = agree(app, client).await;
    assert_eq!(callback.one("state"), Some("state-1"));
    app.complete(&callback, &authorization(), NOW).await
}
