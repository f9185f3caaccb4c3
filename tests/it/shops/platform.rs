//! A fake platform in a process of its own, and what can happen in its shop.

use reqwest::{Method, redirect};
use serde_json::{Value, json};
use tempfile::TempDir;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::random::Random;
use crate::service::{Process, api, zone};

/// Where owners are sent back to; nobody listens there, as the test takes the query from the redirect.
pub const REDIRECT: &str = "http://127.0.0.1:9/connected";
const SECRET: &str = "dev-secret";

/// A fake platform.
pub struct Platform {
    pub name: &'static str,
    process: Process,
    client: reqwest::Client,
    /// The settings by which the service finds it.
    pub settings: Vec<(String, String)>,
    /// The shop's host name, where the platform has to be told it.
    pub shop: Option<&'static str>,
    pub currency: &'static str,
    /// Days that its history goes back at least.
    pub history_days: i64,
    deeds: &'static [Deed],
    _folder: TempDir,
}

/// Something that happens to an order.
#[derive(Debug)]
pub struct Deed {
    pub name: &'static str,
    /// Below `/_stub`, with `{id}` in the place of the order's number.
    path: &'static str,
    /// Likewise.
    body: &'static str,
    /// Nothing happens to the order any more.
    pub is_last: bool,
    /// A hook alone tells of it, at once.
    pub is_told_by_hook_alone: bool,
}

const fn deed(name: &'static str, path: &'static str, body: &'static str) -> Deed {
    Deed { name, path, body, is_last: false, is_told_by_hook_alone: false }
}

const fn last(name: &'static str, path: &'static str, body: &'static str) -> Deed {
    Deed { is_last: true, ..deed(name, path, body) }
}

const SHOPIFY: [Deed; 5] = [
    deed("edit", "act", r#"{"action":"edit","id":{id}}"#),
    deed("refund", "act", r#"{"action":"refund","id":{id}}"#),
    deed("exchange", "act", r#"{"action":"exchange","id":{id}}"#),
    last("cancel", "act", r#"{"action":"cancel","id":{id}}"#),
    Deed { is_told_by_hook_alone: true, ..last("delete", "act", r#"{"action":"delete","id":{id}}"#) },
];

const TIENDANUBE: [Deed; 5] = [
    deed("edit", "orders/{id}", r#""edit""#),
    deed("refund a part", "orders/{id}", r#"{"refund_part":{"amount":"1.07","told":true}}"#),
    last("refund", "orders/{id}", r#""refund""#),
    last("cancel", "orders/{id}", r#""cancel""#),
    last("void", "orders/{id}", r#""void""#),
];

const MERCADOLIBRE: [Deed; 4] = [
    deed("refund a part", "orders/{id}/refund", r#"{"amount":"3.10"}"#),
    // Another claim would take the place of the first.
    last("return", "orders/{id}/return", r#"{"units":1}"#),
    last("refund to the account", "orders/{id}/account", "{}"),
    last("cancel", "orders/{id}/cancel", "{}"),
];

impl Platform {
    /// A Tiendanube with one store.
    pub fn tiendanube(orders: u32, currency: &'static str) -> Self {
        Self::tiendanube_back_to(orders, currency, REDIRECT)
    }

    /// The same with another address that owners are sent back to.
    pub fn tiendanube_back_to(orders: u32, currency: &'static str, redirect: &str) -> Self {
        let stub = ["--local-hooks", "--currency", currency, "--redirect-uri", redirect, "--client-id", "1234"];
        let user_agent = ("BAS_TIENDANUBE_USER_AGENT".to_owned(), "Example (hello@example.com)".to_owned());
        let mut platform = Self::start("tiendanube", orders, &stub, "1234", &TIENDANUBE);
        platform.settings.push(user_agent);
        Self { currency, ..platform }
    }

    /// A Shopify with one shop.
    pub fn shopify(orders: u32, currency: &'static str) -> Self {
        let shop = "example.myshopify.com";
        let stub = ["--shop", shop, "--currency", currency, "--client-id", "dev-client"];
        Self { shop: Some(shop), currency, ..Self::start("shopify", orders, &stub, "dev-client", &SHOPIFY) }
    }

    /// A Mercado Libre with one seller, in Argentina.
    pub fn mercadolibre(orders: u32) -> Self {
        let stub = ["--redirect-uri", REDIRECT, "--client-id", "1234"];
        let mut platform = Self::start("mercadolibre", orders, &stub, "1234", &MERCADOLIBRE);
        platform.settings.push(("BAS_MERCADOLIBRE_CALLS_PER_SECOND".to_owned(), "100000".to_owned()));
        Self { currency: "ARS", history_days: 360, ..platform }
    }

    /// A Meta with one ad account, of these days, and a person who reaches this many.
    pub fn meta(days: u16, accounts: u8, currency: &'static str) -> Self {
        let (days, accounts) = (days.to_string(), accounts.to_string());
        let arguments = ["--days", &days, "--accounts", &accounts, "--currency", currency, "--redirect-uri", REDIRECT];
        let platform = Self::run("meta", &arguments, ("1234", "META_ADS_BASE_URL"), &[]);
        Self { currency: "EUR", history_days: 0, ..platform }
    }

    /// A Google Ads with one ad account, of these days, and what else is said.
    pub fn google_ads(days: u16, more: &[&str]) -> Self {
        let days = days.to_string();
        // Small pages, so that a window has several.
        let arguments = [&["--days", &days, "--page-rows", "100", "--redirect-uri", REDIRECT], more].concat();
        let platform = Self::run("google_ads", &arguments, ("1234", "GOOGLE_ADS_BASE_URL"), &[]);
        Self { history_days: 0, ..platform }
    }

    fn start(name: &'static str, orders: u32, arguments: &[&str], client_id: &str, deeds: &'static [Deed]) -> Self {
        let orders = orders.to_string();
        let arguments = [&["--unlimited", "--days", "300", "--orders", &orders], arguments].concat();
        let base_url = format!("{}_BASE_URL", name.to_uppercase());
        Self::run(name, &arguments, (client_id, &base_url), deeds)
    }

    fn run(
        name: &'static str,
        arguments: &[&str],
        (client_id, base_url): (&str, &str),
        deeds: &'static [Deed],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = api("", &folder);
        command
            .args([
                "dev",
                &name.replace('_', "-"),
                "--at",
                "127.0.0.1:0",
                "--timezone",
                zone(),
                "--client-secret",
                SECRET,
            ])
            .args(arguments);
        let process = Process::start(&mut command);
        let setting = |what: &str| format!("BAS_{}_{what}", name.to_uppercase());
        let settings = vec![
            (setting("CLIENT_ID"), client_id.to_owned()),
            (setting("CLIENT_SECRET"), SECRET.to_owned()),
            (format!("BAS_{base_url}"), format!("http://{}", process.address())),
        ];
        let client = reqwest::Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
        Self { name, process, client, settings, shop: None, currency: "EUR", history_days: 700, deeds, _folder: folder }
    }

    /// Asks the fake for what only it has.
    pub async fn ask(&self, path: &str) -> Value {
        let answer = self.process.request(Method::GET, &format!("/_stub/{path}")).send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().await.unwrap()
    }

    async fn tell(&self, method: Method, path: &str, what: &Value) -> Value {
        let answer = self.process.request(method, &format!("/_stub/{path}")).json(what).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path} {what}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Something happens on the platform.
    pub async fn happens(&self, path: &str, what: &Value) -> Value {
        self.tell(Method::POST, path, what).await
    }

    /// Something happens, where there is anything that it can happen to.
    pub async fn tries(&self, path: &str, what: &Value) {
        let request = self.process.request(Method::POST, &format!("/_stub/{path}")).json(what);
        let status = request.send().await.unwrap().status();
        assert!(status.is_success() || status == 404, "{path} {what}: {status}");
    }

    /// The next hooks, or answers, go wrong.
    pub async fn fails(&self, fault: &str, times: u32, value: u64) {
        self.happens("fault", &json!({ "fault": fault, "times": times, "value": value })).await;
    }

    pub async fn fails_no_more(&self) {
        self.tell(Method::DELETE, "fault", &Value::Null).await;
    }

    /// Where hooks go that are not subscribed to, but set with the app.
    pub async fn notify(&self, url: Option<&str>) {
        if self.name == "mercadolibre" {
            self.tell(Method::PUT, "notify", &json!({ "url": url })).await;
        }
    }

    /// What a reader of the shop must come to; without `copies` one who reads sales on other platforms there.
    pub async fn truth(&self, copies: bool) -> Value {
        self.ask(&format!("truth?copies={copies}")).await
    }

    /// Time passes on the platform; its present.
    pub async fn passes(&self, seconds: i64) -> OffsetDateTime {
        let reading = self.happens("clock", &json!({ "advance_seconds": seconds })).await;
        OffsetDateTime::parse(reading["now"].as_str().unwrap(), &Rfc3339).unwrap()
    }

    /// The requests that it had, as it names them.
    pub async fn requests(&self) -> Vec<String> {
        let log = self.ask("log").await;
        let name = |entry: &Value| {
            let words: Vec<&str> = entry["path"].as_str().unwrap().split('/').filter(|word| is_name(word)).collect();
            entry["what"].as_str().map_or_else(|| words.join("/"), str::to_owned)
        };
        log.as_array().unwrap().iter().map(name).collect()
    }

    /// A purchase; the numbers of its orders.
    pub async fn sell(&self, random: &mut Random) -> Vec<u64> {
        match self.name {
            "shopify" => vec![number(&self.happens("act", &json!({ "action": "sell" })).await["id"])],
            "tiendanube" => vec![self.sell_in_store("store", random).await],
            _ => {
                let sold = self.happens("orders", &json!({ "orders": 1 + random.below(2) })).await;
                sold["orders"].as_array().unwrap().iter().map(number).collect()
            }
        }
    }

    /// A purchase on Tiendanube, or a copy of one on Mercado Libre (`meli`).
    pub async fn sell_in_store(&self, storefront: &str, random: &mut Random) -> u64 {
        let (customer, quantity) = (1 + random.below(40), 1 + random.below(3));
        let order = json!({
            "variants": [7000, 7030], "quantity": quantity, "customer": customer, "storefront": storefront, "paid": true,
        });
        number(&self.happens("orders", &order).await["id"])
    }

    /// All that can happen to an order.
    pub fn deeds(&self) -> &'static [Deed] {
        self.deeds
    }

    /// Some of it.
    pub fn deed(&self, random: &mut Random) -> &'static Deed {
        random.of(self.deeds)
    }

    pub fn deed_named(&self, name: &str) -> &'static Deed {
        self.deeds.iter().find(|deed| deed.name == name).unwrap()
    }

    /// Lets it happen; false when the order is not in a state for it.
    pub async fn does(&self, deed: &Deed, order: u64) -> bool {
        let in_place = |text: &str| text.replace("{id}", &order.to_string());
        let body: Value = serde_json::from_str(&in_place(deed.body)).unwrap();
        let request = self.process.request(Method::POST, &format!("/_stub/{}", in_place(deed.path)));
        request.json(&body).send().await.unwrap().status().is_success()
    }

    /// The platform tells that a buyer is to be forgotten; false where there is no such thing.
    pub async fn forgets(&self, buyer: u64) -> bool {
        match self.name {
            "shopify" => drop(self.happens("act", &json!({ "action": "redact_customer", "id": buyer })).await),
            "tiendanube" => drop(self.happens("privacy", &json!({ "redact_customer": buyer })).await),
            _ => return false,
        }
        true
    }

    /// The owner reads the page and agrees; the query that they are sent back with.
    pub async fn agree(&self, url: &str) -> String {
        let target = self.agreed(url).await;
        let (page, query) = target.split_once('?').unwrap();
        assert_eq!(page, REDIRECT);
        query.to_owned()
    }

    /// The owner reads the page and agrees; the address that they are sent to.
    pub async fn agreed(&self, url: &str) -> String {
        let page = self.client.get(url).send().await.unwrap();
        // Some take the visit for consent, some show a page first.
        let answer = match page.status().as_u16() {
            302 => page,
            200 => self.client.post(url).send().await.unwrap(),
            other => panic!("{url}: {other}"),
        };
        answer.headers()["location"].to_str().unwrap().to_owned()
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// Whether a word of a path is no identifier.
fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.bytes().any(|byte| byte.is_ascii_digit() || byte == b'.')
}
