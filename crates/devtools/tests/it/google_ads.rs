//! Our client against the fake of Google Ads, and what that refuses as the network does.

use std::net::TcpListener;

use connectors::{
    ads::google_ads::{Addresses, GoogleAds, GoogleAdsConfig},
    shops::AppCredentials,
};
use devtools::{
    ads::google_ads::{self as stub, Seed},
    shops::{Stub as _, clock::Change},
};
use domain::{
    ads::{Format, Status},
    imports::AdSpendRow,
    shops::{
        Access, Authorization, Callback, CompleteError, Grant, RefreshError, Secret, ShopAuth as _, ShopError,
        ShopReader as _,
    },
};
use reqwest::{Client, redirect};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde_json::{Value, json};
use time::{Date, Duration, OffsetDateTime, macros::datetime};
use url::Url;

const NOW: OffsetDateTime = datetime!(2026-11-24 15:30:20 UTC);
const BACK: &str = "https://example.com/connected";
const ACCOUNT: &str = "1234567890";

struct Account {
    base: Url,
    app: GoogleAds,
    client: Client,
    grant: Grant,
    access: Access,
}

fn authorization(shop: Option<&str>) -> Authorization {
    Authorization {
        state: Secret::new("state-1".to_owned()),
        redirect_uri: BACK.to_owned(),
        shop: shop.map(str::to_owned),
        verifier: Secret::new(String::new()),
        country: None,
    }
}

async fn agree(app: &GoogleAds, client: &Client) -> Callback {
    let answer = client.get(app.authorize_url(&authorization(None)).unwrap()).send().await.unwrap();
    let target: Url = answer.headers()["location"].to_str().unwrap().parse().unwrap();
    Callback(target.query_pairs().map(|(name, value)| (name.into_owned(), Secret::new(value.into_owned()))).collect())
}

fn seed(days: u16) -> Seed {
    let (currency, zone) = ("EUR".parse().unwrap(), "Europe/Madrid".parse().unwrap());
    Seed { seed: 7, days, campaigns: 3, accounts: 1, managed: false, page_rows: 100, currency, zone, now: NOW }
}

/// The fake and our app there.
fn start(seed: Seed) -> (Url, GoogleAds, Client) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let stub = stub::GoogleAds::new(stub::GoogleAdsConfig {
        client_id: "1234".into(),
        client_secret: "app-secret".into(),
        redirect_uris: vec![BACK.into()],
        seed,
    });
    stub.common().clock.change(&Change { at: Some(NOW), ..Change::default() });
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base: Url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(stub.server(listener).unwrap());
    let app = GoogleAds::new(GoogleAdsConfig {
        app: AppCredentials { client_id: "1234".into(), client_secret: "app-secret".into(), previous_secret: None },
        developer_token: Some("developer".into()),
        addresses: Addresses { api: base.clone(), login: base.clone(), tokens: base.clone() },
    })
    .unwrap();
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    (base, app, client)
}

impl Account {
    async fn open(days: u16) -> Self {
        Self::of(seed(days)).await
    }

    async fn of(seed: Seed) -> Self {
        let (base, app, client) = start(seed);
        let grant = app.complete(&agree(&app, &client).await, &authorization(None), NOW).await.unwrap();
        assert_eq!(grant.tokens.access_expires_at, Some(NOW + Duration::seconds(3_599)));
        let access = Access {
            shop_id: grant.shop_id.clone(),
            shop: grant.shop_id.clone(),
            token: grant.tokens.access.clone(),
            scopes: grant.tokens.scopes.clone(),
        };
        Self { base, app, client, grant, access }
    }

    async fn fails(&self, fault: &str, times: u32, value: u64) {
        let url = self.base.join("/_stub/fault").unwrap();
        let body = json!({ "fault": fault, "times": times, "value": value });
        assert_eq!(self.client.post(url).json(&body).send().await.unwrap().status(), 204);
    }

    async fn read(&self, from: Date, until: Date) -> Result<Vec<AdSpendRow>, ShopError> {
        Ok(self.app.ad_spend(&self.access, from, until).await?.rows)
    }

    /// Whether rows are those of the ledger, day by day.
    async fn agrees(&self, rows: &[AdSpendRow], from: i64, until: i64) {
        let ledger = self.client.get(self.base.join("/_stub/ledger").unwrap()).send().await.unwrap();
        let ledger: Value = ledger.json().await.unwrap();
        for back in until..=from {
            let of = &ledger["days"][day(back).to_string()];
            let amount = |name: &str| of[name].as_str().unwrap().parse::<Decimal>().unwrap();
            let count = |name: &str| of[name].as_i64().unwrap();
            let expected = (amount("spend"), amount("revenue"), count("clicks"), count("purchases"));
            assert_eq!(sums(rows, day(back)), expected, "{}", day(back));
        }
    }

    async fn asks_with(&self, body: &Value) -> Value {
        let url = self.base.join(&format!("/v25/customers/{ACCOUNT}/googleAds:search")).unwrap();
        let request = self.client.post(url).bearer_auth(self.access.token.expose()).json(body);
        request.send().await.unwrap().json().await.unwrap()
    }

    /// The code that a query is refused with; null where it is answered.
    async fn refusal_of(&self, body: &Value) -> Value {
        self.asks_with(body).await["error"]["details"][0]["errors"][0]["errorCode"].clone()
    }
}

fn day(back: i64) -> Date {
    NOW.date() - Duration::days(back)
}

fn sums(rows: &[AdSpendRow], day: Date) -> (Decimal, Decimal, i64, i64) {
    let of_day = || rows.iter().filter(|row| row.day == day);
    (
        of_day().map(|row| row.spend).sum(),
        of_day().filter_map(|row| row.detail.revenue).sum(),
        of_day().filter_map(|row| row.clicks).sum(),
        of_day().filter_map(|row| row.detail.purchases).sum::<Decimal>().round().to_i64().unwrap(),
    )
}

#[tokio::test]
async fn days_are_read_page_by_page_to_the_ledgers_figures() {
    let account = Account::open(60).await;
    let (info, now) = account.app.shop(&account.access).await.unwrap();
    assert_eq!((now, info.shop.as_str(), info.missing_scopes.len()), (NOW, ACCOUNT, 0));
    assert_eq!((info.currency.as_str(), info.timezone.unwrap().name()), ("EUR", "Europe/Madrid"));
    let rows = account.read(day(60), day(0)).await.unwrap();
    account.agrees(&rows, 60, 0).await;
    assert!(rows.len() > 300, "several pages: {}", rows.len());
}

#[tokio::test]
async fn ads_are_told_with_what_they_show_and_performance_max_by_campaign() {
    let account = Account::open(40).await;
    let rows = account.read(day(40), day(0)).await.unwrap();
    let ad = |number: u64| rows.iter().find(|row| row.detail.ad == number.to_string()).unwrap();
    let formats = [70_870_000, 70_870_001, 70_870_002].map(|number| ad(number).detail.format);
    assert_eq!(formats, [Some(Format::Video), Some(Format::Image), Some(Format::Text)]);
    let states = [70_870_000, 70_870_001, 70_870_003].map(|number| ad(number).detail.status);
    assert_eq!(states, [Some(Status::Active), Some(Status::Paused), Some(Status::Archived)]);
    let names = ad(70_870_002).detail.names.clone().unwrap();
    let expected = ("Campaign 1", "Ad group 60860001", "Kettle 60860001");
    assert_eq!((names.campaign.as_str(), names.ad_set.as_str(), names.ad.as_str()), expected);

    let max: Vec<_> = rows.iter().filter(|row| row.campaign == "20850002").collect();
    assert!(max.len() > 20 && max.iter().all(|row| row.detail.ad.is_empty() && row.detail.ad_set.is_empty()));
    assert!(max.iter().all(|row| row.detail.creative.is_none() && row.detail.status == Some(Status::Active)));
    let beside = rows.iter().filter(|row| row.campaign == "20850000" && row.detail.ad.is_empty());
    assert!((1..15).contains(&beside.count()), "on some days the ads do not explain it all");
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
    account.fails("suspend", 1, 0).await;
    assert_eq!(account.read(day(1), day(0)).await, Err(ShopError::Suspended));

    account.fails("expire", 1, 0).await;
    assert_eq!(account.read(day(1), day(0)).await, Err(ShopError::Unauthorized));
    let refresh = account.grant.tokens.refresh.clone().unwrap();
    let renewed = account.app.refresh(ACCOUNT, &refresh, NOW).await.unwrap();
    assert_eq!(renewed.refresh, Some(refresh.clone()), "it stays good");
    assert_eq!(renewed.scopes, ["https://www.googleapis.com/auth/adwords"]);
    let access = Access { token: renewed.access, ..account.access.clone() };
    assert!(account.app.ad_spend(&access, day(1), day(0)).await.is_ok());

    account.fails("revoke", 1, 0).await;
    assert_eq!(account.app.refresh(ACCOUNT, &refresh, NOW).await, Err(RefreshError::Refused));
    assert_eq!(account.app.revoke(&access).await, Ok(()), "what is dead is given back");
}

#[tokio::test]
async fn what_is_given_back_is_not_renewed_and_a_code_is_good_once() {
    let account = Account::open(3).await;
    account.fails("decline", 1, 0).await;
    let declined = agree(&account.app, &account.client).await;
    let refused = account.app.complete(&declined, &authorization(None), NOW).await;
    assert!(matches!(refused, Err(CompleteError::Denied(_))));
    let callback = agree(&account.app, &account.client).await;
    assert!(account.app.complete(&callback, &authorization(None), NOW).await.is_ok());
    let again = account.app.complete(&callback, &authorization(None), NOW).await;
    assert!(matches!(again, Err(CompleteError::Denied(_))), "{again:?}");
    assert_eq!(account.app.revoke(&account.access).await, Ok(()));
    assert_eq!(account.read(day(1), day(0)).await, Err(ShopError::Unauthorized));
    let refresh = account.grant.tokens.refresh.clone().unwrap();
    assert_eq!(account.app.refresh(ACCOUNT, &refresh, NOW).await, Err(RefreshError::Refused));
}

#[tokio::test]
async fn of_several_ad_accounts_one_is_named() {
    let (_, app, client) = start(Seed { accounts: 2, ..seed(2) });
    let connect = async |shop: Option<&str>| {
        app.complete(&agree(&app, &client).await, &authorization(shop), NOW).await.map(|grant| grant.shop_id)
    };
    let several = CompleteError::SeveralAccounts(vec![
        "1234567890 (Shop 1234567890)".to_owned(),
        "1234567891 (Shop 1234567891)".to_owned(),
    ]);
    assert_eq!(connect(None).await, Err(several));
    assert_eq!(connect(Some("1234567891")).await, Ok("1234567891".to_owned()));
    assert!(matches!(connect(Some("5555555555")).await, Err(CompleteError::Denied(_))));
}

#[tokio::test]
async fn ad_accounts_of_a_manager_are_reached_by_way_of_it() {
    let account = Account::of(Seed { managed: true, ..seed(10) }).await;
    assert_eq!(account.access.shop_id, ACCOUNT, "the manager account itself has no ads");
    let (info, _) = account.app.shop(&account.access).await.unwrap();
    assert_eq!(info.shop_id, ACCOUNT);
    let rows = account.read(day(10), day(0)).await.unwrap();
    account.agrees(&rows, 10, 0).await;

    let elsewhere = Access { shop_id: "5555555555".into(), ..account.access.clone() };
    let read = account.app.ad_spend(&elsewhere, day(10), day(0)).await;
    assert!(matches!(read, Err(ShopError::NotFound)), "{read:?}");
}

#[tokio::test]
async fn the_fake_refuses_what_the_network_refuses() {
    let account = Account::open(3).await;
    let days = format!("segments.date BETWEEN '{}' AND '{}'", day(3), day(0));
    let costs = format!("SELECT campaign.id, segments.date, metrics.cost_micros FROM campaign WHERE {days}");
    let shown = account.asks_with(&json!({ "query": costs })).await;
    assert!(shown["results"].as_array().is_some_and(|rows| !rows.is_empty()), "{shown}");
    let cases = [
        ("SELECT campaign.cost FROM campaign".to_owned(), "UNRECOGNIZED_FIELD"),
        ("SELECT campaign.id FROM galaxy".to_owned(), "BAD_RESOURCE_TYPE_IN_FROM_CLAUSE"),
        ("SELECT segments.date, metrics.clicks FROM campaign".to_owned(), "EXPECTED_FILTERS_ON_DATE_RANGE"),
        (
            costs.replace("metrics", "segments.conversion_action_category, metrics"),
            "PROHIBITED_SEGMENT_WITH_METRIC_IN_SELECT_OR_WHERE_CLAUSE",
        ),
        (
            costs.replace("cost_micros", "conversions") + " AND segments.conversion_action_category = 'PURCHASE'",
            "EXPECTED_REFERENCED_FIELD_IN_SELECT_CLAUSE",
        ),
        (costs.replace(&day(3).to_string(), "3/11/2026"), "BAD_VALUE"),
        (costs.replace(&day(3).to_string(), "2026-12-30"), "DATE_RANGE_TOO_NARROW"),
    ];
    for (query, code) in cases {
        assert_eq!(account.refusal_of(&json!({ "query": query })).await, json!({ "queryError": code }), "{query}");
    }
    let old = costs.replace(&day(3).to_string(), "2023-10-01");
    assert_eq!(account.refusal_of(&json!({ "query": old })).await["dateRangeError"], "OUT_OF_RANGE");
    let sized = json!({ "query": costs, "pageSize": 10_000 });
    assert_eq!(account.refusal_of(&sized).await["requestError"], "PAGE_SIZE_NOT_SUPPORTED");
    let paged = json!({ "query": costs, "pageToken": "elsewhere" });
    assert_eq!(account.refusal_of(&paged).await["requestError"], "INVALID_PAGE_TOKEN");

    let status = async |path: &str, token: Option<&str>| {
        let request = account.client.post(account.base.join(path).unwrap()).json(&json!({ "query": costs }));
        let request = token.into_iter().fold(request, |request, token| request.bearer_auth(token));
        request.send().await.unwrap().status().as_u16()
    };
    let token = account.access.token.expose();
    let search = format!("/v25/customers/{ACCOUNT}/googleAds:search");
    assert_eq!(status(&search, None).await, 401);
    assert_eq!(status(&search, Some("ya29.other")).await, 401);
    assert_eq!(status("/v25/customers/5555555555/googleAds:search", Some(token)).await, 403);
    assert_eq!(status("/v12/customers/1234567890/googleAds:search", Some(token)).await, 404, "an old version");
}
