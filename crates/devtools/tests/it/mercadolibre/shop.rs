//! A connected shop of the fake Mercado Libre, whose clock stands.

use std::{net::TcpListener, time::Duration};

use connectors::shops::{
    AppCredentials,
    budget::Rate,
    mercadolibre::{Limits, Mercadolibre, MercadolibreConfig},
};
use devtools::shops::{
    Stub as _,
    mercadolibre::{App, Config, Mercadolibre as Platform},
};
use domain::{
    money::Currency,
    shops::{Access, Authorization, Callback, Grant, Secret, ShopAuth as _},
};
use time::{OffsetDateTime, macros::datetime};
use url::Url;

pub const NOW: OffsetDateTime = datetime!(2026-11-24 15:30:20 UTC);
pub const APP_ID: &str = "5503910054141466";
pub const REDIRECT: &str = "https://example.com/connected";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

pub fn ars() -> Currency {
    "ARS".parse().unwrap()
}

pub struct Shop {
    pub stub: Platform,
    pub base: Url,
    pub app: Mercadolibre,
    pub grant: Grant,
    pub access: Access,
    pub client: reqwest::Client,
}

fn authorization() -> Authorization {
    Authorization {
        state: Secret::new("state-1".to_owned()),
        redirect_uri: REDIRECT.to_owned(),
        shop: None,
        verifier: Secret::new(VERIFIER.to_owned()),
        country: Some("AR".parse().unwrap()),
    }
}

impl Shop {
    /// Limits are lifted on both sides.
    pub async fn open(seed: u64, orders: u64, days: u64) -> Self {
        Self::open_with(seed, orders, days, false).await
    }

    pub async fn open_with(seed: u64, orders: u64, days: u64, is_limited: bool) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let secret = "secret".to_owned();
        let app =
            App { client_id: APP_ID.to_owned(), client_secret: secret.clone(), redirect_uri: REDIRECT.to_owned() };
        let zone = "America/Argentina/Buenos_Aires".parse().unwrap();
        let config = Config { app, seed, orders, days, is_limited, now: Some(NOW), notify: None, zone };
        let stub = Platform::new(config).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let base: Url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(stub.server(listener).unwrap());
        let rate = Rate { cap: 1e9, restore: 1e9 };
        let app = Mercadolibre::new(MercadolibreConfig {
            app: AppCredentials { client_id: APP_ID.to_owned(), client_secret: secret.into(), previous_secret: None },
            api_url: base.clone(),
            authorize_url: Some(base.join("/authorization").unwrap()),
            limits: Limits { app: rate, seller: rate, pause: Duration::from_millis(if is_limited { 100 } else { 2 }) },
        })
        .unwrap();
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let grant = connect(&app, &client).await;
        let access = Access {
            shop: format!("{}.mercadolibre.com.ar", grant.shop_id),
            shop_id: grant.shop_id.clone(),
            token: grant.tokens.access.clone(),
            scopes: grant.tokens.scopes.clone(),
        };
        Self { stub, base, app, grant, access, client }
    }

    /// How often a path was asked for.
    pub fn calls(&self, path: &str) -> usize {
        self.stub.common().log.entries().iter().filter(|entry| entry.path == path).count()
    }

    /// Reads a path with the shop's token, by hand; status and body.
    pub async fn get(&self, path: &str) -> (u16, serde_json::Value) {
        let url = self.base.join(path).unwrap();
        let answer = self.client.get(url).bearer_auth(self.access.token.expose()).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

/// The way of an owner: to the platform, back with a code, and the code for tokens.
async fn connect(app: &Mercadolibre, client: &reqwest::Client) -> Grant {
    let authorization = authorization();
    let url = app.authorize_url(&authorization).unwrap();
    let answer = client.get(url).send().await.unwrap();
    let location: Url = answer.headers()["location"].to_str().unwrap().parse().unwrap();
    let query = location.query_pairs().map(|(key, value)| (key.into_owned(), Secret::new(value.into_owned())));
    let callback = Callback(query.collect());
    assert_eq!(callback.one("state"), Some("state-1"));
    app.complete(&callback, &authorization, NOW).await.unwrap()
}
