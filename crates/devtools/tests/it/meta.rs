//! Our client against the fake of Meta, and what that refuses as the network does.

use std::net::TcpListener;

use connectors::{
    ads::meta::{Meta, MetaConfig},
    shops::AppCredentials,
};
use devtools::{
    ads::meta::{self as stub, Seed},
    shops::{Stub as _, clock::Change},
};
use domain::{
    ads::{Format, Status},
    imports::AdSpendRow,
    shops::{
        Access, Authorization, Callback, CompleteError, RefreshError, Secret, ShopAuth as _, ShopError, ShopReader as _,
    },
};
use reqwest::{Client, redirect};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde_json::{Value, json};
use time::{Date, Duration, OffsetDateTime, macros::datetime};
use url::Url;

const NOW: OffsetDateTime = datetime!(2026-11-24 15:30:20 UTC);
const SECRET: &str = "app-secret";
const BACK: &str = "https://example.com/connected";

struct Account {
    base: Url,
    app: Meta,
    access: Access,
    client: Client,
}

fn authorization() -> Authorization {
    Authorization {
        state: Secret::new("state-1".to_owned()),
        redirect_uri: BACK.to_owned(),
        shop: None,
        verifier: Secret::new(String::new()),
        country: None,
    }
}

async fn agree(app: &Meta, client: &Client) -> Callback {
    let answer = client.get(app.authorize_url(&authorization()).unwrap()).send().await.unwrap();
    let target: Url = answer.headers()["location"].to_str().unwrap().parse().unwrap();
    Callback(target.query_pairs().map(|(name, value)| (name.into_owned(), Secret::new(value.into_owned()))).collect())
}

impl Account {
    async fn open(days: u16) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let zone = "Europe/Madrid".parse().unwrap();
        let currency = "EUR".parse().unwrap();
        let stub = stub::Meta::new(stub::MetaConfig {
            client_id: "1234".into(),
            client_secret: SECRET.into(),
            redirect_uris: vec![BACK.into()],
            seed: Seed { seed: 7, days, campaigns: 3, accounts: 1, currency, zone, now: NOW },
        });
        stub.common().clock.change(&Change { at: Some(NOW), ..Change::default() });
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let base: Url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(stub.server(listener).unwrap());
        let app = Meta::new(MetaConfig {
            app: AppCredentials { client_id: "1234".into(), client_secret: SECRET.into(), previous_secret: None },
            api_url: base.clone(),
            login_url: base.clone(),
        })
        .unwrap();
        let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
        let grant = app.complete(&agree(&app, &client).await, &authorization(), NOW).await.unwrap();
        assert_eq!(grant.tokens.access_expires_at, Some(NOW + Duration::days(60)));
        let access = Access {
            shop_id: grant.shop_id,
            shop: "act_1048576".into(),
            token: grant.tokens.access,
            scopes: grant.tokens.scopes,
        };
        Self { base, app, access, client }
    }

    async fn fails(&self, fault: &str, times: u32, value: u64) {
        let url = self.base.join("/_stub/fault").unwrap();
        let body = json!({ "fault": fault, "times": times, "value": value });
        assert_eq!(self.client.post(url).json(&body).send().await.unwrap().status(), 204);
    }

    async fn read(&self, from: Date, until: Date) -> Result<Vec<AdSpendRow>, ShopError> {
        Ok(self.app.ad_spend(&self.access, from, until).await?.rows)
    }

    async fn ledger(&self) -> Value {
        self.client.get(self.base.join("/_stub/ledger").unwrap()).send().await.unwrap().json().await.unwrap()
    }

    /// What a call is answered with that has all that every call needs.
    async fn asks(&self, path: &str, query: &[(&str, &str)]) -> Value {
        let mut url = self.base.join(&format!("/v25.0/{path}")).unwrap();
        let tag = connectors::shops::signature::sign(&SECRET.into(), self.access.token.expose().as_bytes());
        url.query_pairs_mut().extend_pairs(query).append_pair("appsecret_proof", &hex::encode(tag));
        let request = self.client.get(url).bearer_auth(self.access.token.expose());
        request.send().await.unwrap().json().await.unwrap()
    }
}

fn day(back: i64) -> Date {
    NOW.date() - Duration::days(back)
}

fn sums(rows: &[AdSpendRow], day: Date) -> (Decimal, Decimal, i64) {
    let of_day = || rows.iter().filter(|row| row.day == day);
    let purchases = of_day().filter_map(|row| row.detail.purchases?.to_i64()).sum();
    (of_day().map(|row| row.spend).sum(), of_day().filter_map(|row| row.detail.revenue).sum(), purchases)
}

/// Whether rows are those of the ledger, day by day.
async fn agrees(account: &Account, rows: &[AdSpendRow], from: i64, until: i64) {
    let ledger = account.ledger().await;
    for back in until..=from {
        let of = &ledger["days"][day(back).to_string()];
        let amount = |name: &str| of[name].as_str().unwrap().parse::<Decimal>().unwrap();
        let expected = (amount("spend"), amount("revenue"), of["purchases"].as_i64().unwrap());
        assert_eq!(sums(rows, day(back)), expected, "{}", day(back));
    }
}

#[tokio::test]
async fn days_are_read_at_once_or_as_a_report_to_the_same_figures() {
    let account = Account::open(60).await;
    let (info, now) = account.app.shop(&account.access).await.unwrap();
    assert_eq!((now, info.shop.as_str(), info.missing_scopes.len()), (NOW, "act_1048576", 0));
    let created = info.timezone.unwrap().start_of(day(60));
    assert_eq!(info.history_from, Some(created));
    let report = account.read(day(60), day(0)).await.unwrap();
    agrees(&account, &report, 60, 0).await;
    let week = account.read(day(6), day(0)).await.unwrap();
    agrees(&account, &week, 6, 0).await;

    let ad = |number: u64| report.iter().find(|row| row.detail.ad == number.to_string()).unwrap();
    let (video, deleted) = (ad(23_870_000), ad(23_870_003));
    assert_eq!((video.detail.format, video.detail.status), (Some(Format::Video), Some(Status::Active)));
    assert!(video.detail.video_3s.is_some() && deleted.detail.video_3s.is_some(), "both show a video");
    assert_eq!(deleted.detail.status, Some(Status::Archived), "its figures are not left out");
    assert_eq!(ad(23_870_002).detail.format, Some(Format::Carousel));
    let names = video.detail.names.clone().unwrap();
    assert_eq!((names.campaign.as_str(), names.ad.as_str()), ("Campaign 1", "Ad 23870000"));
}

#[tokio::test]
async fn what_is_too_much_is_asked_for_in_halves() {
    let account = Account::open(40).await;
    account.fails("too_much", 3, 5).await;
    account.fails("report_fails", 1, 0).await;
    let rows = account.read(day(40), day(0)).await.unwrap();
    agrees(&account, &rows, 40, 0).await;
    account.fails("too_much", 9, 0).await;
    let rows = account.read(day(3), day(0)).await.unwrap();
    agrees(&account, &rows, 3, 0).await;
}

#[tokio::test]
async fn a_short_pause_is_waited_for_and_a_long_one_is_not() {
    let account = Account::open(3).await;
    account.fails("throttle", 1, 1).await;
    let spend = account.app.ad_spend(&account.access, day(3), day(0)).await.unwrap();
    assert!(spend.calls.waited >= std::time::Duration::from_millis(900), "{:?}", spend.calls);
    account.fails("throttle", 1, 600).await;
    assert!(matches!(account.read(day(3), day(0)).await, Err(ShopError::Throttled(_))));
}

#[tokio::test]
async fn trouble_there_and_a_dead_token_are_told_apart() {
    let account = Account::open(3).await;
    account.fails("server_error", 1, 503).await;
    assert!(matches!(account.read(day(1), day(0)).await, Err(ShopError::Unavailable(_))));
    let token = account.access.token.clone();
    let renewed = account.app.refresh(&account.access.shop_id, &token, NOW).await.unwrap();
    assert_ne!(renewed.access, token);
    assert_eq!(renewed.scopes, ["ads_read", "public_profile"]);
    account.fails("revoke", 1, 0).await;
    assert_eq!(account.read(day(1), day(0)).await, Err(ShopError::Unauthorized));
    assert_eq!(account.app.refresh(&account.access.shop_id, &token, NOW).await, Err(RefreshError::Refused));
    assert_eq!(account.app.revoke(&account.access).await, Ok(()), "what is dead is given back");
}

#[tokio::test]
async fn who_declines_or_gives_the_permission_back_is_not_read() {
    let account = Account::open(3).await;
    account.fails("decline", 1, 0).await;
    let declined = agree(&account.app, &account.client).await;
    let refused = account.app.complete(&declined, &authorization(), NOW).await;
    assert!(matches!(refused, Err(CompleteError::Denied(_))));
    let callback = agree(&account.app, &account.client).await;
    assert!(account.app.complete(&callback, &authorization(), NOW).await.is_ok());
    let again = account.app.complete(&callback, &authorization(), NOW).await;
    assert!(matches!(again, Err(CompleteError::Denied(_))), "a code is good once");
    assert_eq!(account.app.revoke(&account.access).await, Ok(()));
    assert_eq!(account.read(day(1), day(0)).await, Err(ShopError::MissingScope("ads_read".into())));
}

#[tokio::test]
async fn the_fake_refuses_what_the_network_refuses() {
    let account = Account::open(3).await;
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    let act = "act_1048576/insights";
    let today = format!(r#"{{"since":"{0}","until":"{0}"}}"#, day(0));
    let whole = [("level", "ad"), ("time_increment", "1"), ("time_range", today.as_str()), ("fields", "ad_id,spend")];
    let shown = account.asks(act, &whole).await;
    assert!(shown["data"].as_array().is_some_and(|rows| !rows.is_empty()), "{shown}");
    for (name, value) in [("fields", "ad_id,cost"), ("level", "galaxy"), ("time_range", "{}"), ("limit", "501")] {
        let with =
            whole.iter().filter(|(known, _)| *known != name).chain(&[(name, value)]).copied().collect::<Vec<_>>();
        assert_eq!(code(&account.asks(act, &with).await), Some(100), "{name}={value}");
    }
    let misspelt: Vec<_> = whole.iter().chain(&[("time_incremnt", "1")]).copied().collect();
    assert_eq!(code(&account.asks(act, &misspelt).await), Some(100));
    let long_ago = r#"{"since":"2023-10-01","until":"2023-10-02"}"#;
    let old: Vec<_> =
        whole.map(|(name, value)| if name == "time_range" { (name, long_ago) } else { (name, value) }).into();
    assert_eq!(code(&account.asks(act, &old).await), Some(3_018));
    assert_eq!(
        code(&account.asks("act_5", &[("fields", "account_id,currency,timezone_name,created_time")]).await),
        Some(100)
    );

    let bare = |path: &str| account.client.get(account.base.join(path).unwrap());
    let token = account.access.token.expose();
    let read = async |request: reqwest::RequestBuilder| request.send().await.unwrap().json::<Value>().await.unwrap();
    assert_eq!(
        code(&read(bare("/v25.0/me/permissions").bearer_auth(token)).await),
        Some(100),
        "no proof of the secret"
    );
    assert_eq!(code(&read(bare("/v25.0/me/permissions?appsecret_proof=x")).await), Some(2_500), "no token");
    assert_eq!(code(&read(bare("/v12.0/me/permissions")).await), Some(2_635), "an old version");
}

#[tokio::test]
async fn archived_and_deleted_ads_are_told_of_only_where_they_are_asked_for() {
    let account = Account::open(30).await;
    let days = format!(r#"{{"since":"{}","until":"{}"}}"#, day(30), day(25));
    let whole = [
        ("level", "ad"),
        ("time_increment", "1"),
        ("time_range", days.as_str()),
        ("fields", "ad_id"),
        ("limit", "500"),
    ];
    let ads = |answer: &Value| answer["data"].to_string();
    assert!(!ads(&account.asks("act_1048576/insights", &whole).await).contains("23870003"));
    let states = r#"[{"field":"ad.effective_status","operator":"IN","value":["DELETED"]}]"#;
    let deleted: Vec<_> = whole.iter().chain(&[("filtering", states)]).copied().collect();
    let told = ads(&account.asks("act_1048576/insights", &deleted).await);
    assert!(told.contains("23870003") && !told.contains("23870000"), "{told}");
}
