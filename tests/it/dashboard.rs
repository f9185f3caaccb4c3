//! The dashboard from outside: pages over HTTP, with a cookie that is kept by hand.

mod account;
mod alerts;
mod conversations;
mod credits;
mod data;
mod details;
mod figures;
mod guards;
mod integrations;
mod keys;
mod log_in;
mod mails;
mod members;
mod notes;
mod panels;
mod second_factor;
mod sessions;
mod shops;
mod social_profiles;
mod visits;
mod votes;
mod webhooks;

use std::collections::BTreeMap;

use reqwest::{Method, Response, header::HeaderMap, redirect::Policy};
use tokio_postgres::Client;

use crate::{
    crawl::fits,
    service::{Service, free_port, run},
};

/// Who may go to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Needs {
    Nothing,
    /// A member whose role is one of these.
    Role(&'static [&'static str]),
}

const ANY: Needs = Needs::Role(&["viewer", "editor", "owner"]);
const CHANGES: Needs = Needs::Role(&["editor", "owner"]);
const OWNS: Needs = Needs::Role(&["owner"]);

/// Every address of the dashboard but the style sheet, the script and the icon, with something for what is in braces.
const ROUTES: &[(&str, &str, Needs)] = &[
    ("GET", "/login", Needs::Nothing),
    ("POST", "/login", Needs::Nothing),
    ("GET", "/login/code", Needs::Nothing),
    ("POST", "/login/code", Needs::Nothing),
    ("GET", "/signup", Needs::Nothing),
    ("POST", "/signup", Needs::Nothing),
    ("GET", "/signup/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("POST", "/signup/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("GET", "/reset", Needs::Nothing),
    ("POST", "/reset", Needs::Nothing),
    ("GET", "/reset/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("POST", "/reset/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("GET", "/invitation/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("POST", "/invitation/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("GET", "/address/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("POST", "/address/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("GET", "/outbox", Needs::Nothing),
    ("GET", "/status", Needs::Nothing),
    ("GET", "/enter/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("POST", "/enter/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", Needs::Nothing),
    ("GET", "/confirm", ANY),
    ("POST", "/confirm", ANY),
    ("GET", "/settings", ANY),
    ("POST", "/settings/you", ANY),
    ("POST", "/settings/shop", OWNS),
    ("GET", "/settings/people", OWNS),
    ("POST", "/settings/people", OWNS),
    ("POST", "/settings/people/withdraw", OWNS),
    ("POST", "/settings/people/1", OWNS),
    ("GET", "/settings/security", ANY),
    ("POST", "/settings/password", ANY),
    ("POST", "/settings/address", ANY),
    ("GET", "/settings/second-factor", ANY),
    ("POST", "/settings/second-factor", ANY),
    ("GET", "/settings/sessions", ANY),
    ("POST", "/settings/sessions", ANY),
    ("GET", "/settings/activity", OWNS),
    ("GET", "/settings/activity.csv", OWNS),
    ("GET", "/settings/system", OWNS),
    ("GET", "/settings/export", OWNS),
    ("POST", "/settings/export", OWNS),
    ("GET", "/settings/export/1", OWNS),
    ("GET", "/settings/delete", OWNS),
    ("POST", "/settings/delete", OWNS),
    ("POST", "/settings/delete/undo", OWNS),
    ("GET", "/", ANY),
    ("GET", "/?period=7d&metric=aov&compare=year", ANY),
    ("GET", "/insights", ANY),
    ("GET", "/insights?status=dismissed", ANY),
    ("GET", "/insights?run=1", ANY),
    ("POST", "/insights/generate", CHANGES),
    ("POST", "/insights/1", CHANGES),
    ("GET", "/profit", ANY),
    ("GET", "/profit/2026-11-20", ANY),
    ("POST", "/profit/2026-11-20/notes", CHANGES),
    ("POST", "/notes/1/delete", CHANGES),
    ("GET", "/anomalies", ANY),
    ("GET", "/anomalies/1", ANY),
    ("GET", "/inventory", ANY),
    ("GET", "/inventory?q=mug", ANY),
    ("GET", "/inventory/1", ANY),
    ("GET", "/ads", ANY),
    ("GET", "/creatives", ANY),
    ("GET", "/conversations", ANY),
    (
        "GET",
        "/conversations?status=open&channel=instagram&category=spam&reply_state=held&waiting=true&vip=false&cursor=9",
        ANY,
    ),
    ("POST", "/conversations/stop", CHANGES),
    ("GET", "/conversations/settings", ANY),
    ("POST", "/conversations/settings", OWNS),
    ("GET", "/conversations/templates", ANY),
    ("GET", "/conversations/templates?category=spam&language=es&state=draft&cursor=9", ANY),
    ("POST", "/conversations/templates", CHANGES),
    ("GET", "/conversations/templates/1", ANY),
    ("POST", "/conversations/templates/1", CHANGES),
    ("POST", "/conversations/templates/1/state", CHANGES),
    ("POST", "/conversations/templates/1/delete", CHANGES),
    ("GET", "/conversations/1", ANY),
    ("POST", "/conversations/1", CHANGES),
    ("POST", "/conversations/1/answer", CHANGES),
    ("POST", "/conversations/1/judgement", CHANGES),
    ("GET", "/reorder", ANY),
    ("POST", "/reorder/1", CHANGES),
    ("GET", "/customers", ANY),
    ("GET", "/customers?q=%3Cb%3E%25", ANY),
    ("GET", "/customers?segment=at_risk&source=shopify&order_by=churn_score", ANY),
    ("GET", "/customers/1", ANY),
    ("GET", "/customers/1/data.json", OWNS),
    ("POST", "/customers/1/forget", OWNS),
    ("GET", "/data", ANY),
    ("POST", "/data", CHANGES),
    ("GET", "/data/1", ANY),
    ("POST", "/data/1", CHANGES),
    ("POST", "/data/1/discard", CHANGES),
    ("GET", "/data/1/rejects.csv", ANY),
    ("POST", "/jobs", CHANGES),
    ("GET", "/integrations", ANY),
    ("POST", "/integrations/shopify/connect", CHANGES),
    ("GET", "/integrations/shopify/callback?code=of-a-query&state=none", CHANGES),
    ("POST", "/integrations/profiles/connect", CHANGES),
    ("GET", "/integrations/profiles/callback?code=of-a-query&state=none", CHANGES),
    ("GET", "/integrations/profiles/1", ANY),
    ("POST", "/integrations/profiles/1/disconnect", CHANGES),
    ("GET", "/integrations/1", ANY),
    ("POST", "/integrations/1/sync", CHANGES),
    ("POST", "/integrations/1/disconnect", CHANGES),
    ("GET", "/alerts", ANY),
    ("GET", "/alerts?name=a&metric=orders&comparator=lt&threshold=1&window=24&severity=high&cooldown=1", ANY),
    ("POST", "/alerts", CHANGES),
    ("GET", "/alerts/1", ANY),
    ("GET", "/alerts/1?cursor=9", ANY),
    ("POST", "/alerts/1", CHANGES),
    ("POST", "/alerts/1/switch", CHANGES),
    ("POST", "/alerts/1/delete", CHANGES),
    ("GET", "/webhooks", ANY),
    ("POST", "/webhooks", CHANGES),
    ("GET", "/webhooks/1", ANY),
    ("GET", "/webhooks/1?state=failed&event=credits.low&from=2026-11-20&to=2026-11-21&cursor=9", ANY),
    ("POST", "/webhooks/1/test", CHANGES),
    ("POST", "/webhooks/1/switch", CHANGES),
    ("POST", "/webhooks/1/rotate", CHANGES),
    ("POST", "/webhooks/1/delete", CHANGES),
    ("GET", "/webhooks/1/replay?from=2026-11-20&to=2026-11-21&which=failed", CHANGES),
    ("POST", "/webhooks/1/replay", CHANGES),
    ("GET", "/webhooks/1/deliveries/0198d0c0-a7e1-7c3f-9a5f-3f8b1d2c4e6a", ANY),
    ("POST", "/webhooks/1/deliveries/0198d0c0-a7e1-7c3f-9a5f-3f8b1d2c4e6a/resend", CHANGES),
    ("GET", "/credits", ANY),
    ("GET", "/credits?kind=grant&from=2026-11-20&to=2026-11-21&cursor=9", ANY),
    ("POST", "/credits/checkout", OWNS),
    ("POST", "/credits/auto-top-up", OWNS),
    ("GET", "/keys", ANY),
    ("GET", "/keys?ended=true", ANY),
    ("POST", "/keys", OWNS),
    ("GET", "/keys/1", OWNS),
    ("POST", "/keys/1/rotate", OWNS),
    ("POST", "/keys/1/revoke", OWNS),
    ("POST", "/shop", ANY),
    ("POST", "/mode", ANY),
    ("POST", "/logout", ANY),
];

/// What a POST sends: the fields of all forms.
const FIELDS: &str = "mode=live";

/// A service with its dashboard.
struct Dashboard {
    service: Service,
    listen: String,
    sql: Client,
}

impl Dashboard {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(settings: &[(&str, &str)]) -> Self {
        Self::start_as(&["serve"], format!("127.0.0.1:{}", free_port()), settings).await
    }

    async fn start_as(command: &[&str], listen: String, settings: &[(&str, &str)]) -> Self {
        let own = [("BAS_RATE_LIMIT_PER_MINUTE", "100000"), ("BAS_DASHBOARD_LISTEN", listen.as_str())];
        let service = Service::start_as(command, &[&own, settings].concat()).await;
        let sql = service.db.client().await.unwrap();
        Self { service, listen, sql }
    }

    fn site(&self) -> String {
        format!("http://{}", self.listen)
    }

    /// The path of a new link that opens an account.
    fn link(&self, account: i64) -> String {
        let mut open = self.service.api(&["dashboard", "open", "--account", &account.to_string()]);
        let printed = run(open.env("BAS_DASHBOARD_LISTEN", &self.listen));
        printed.trim().strip_prefix(&self.site()).unwrap().to_owned()
    }

    fn browser(&self) -> Browser {
        let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
        Browser { client, site: self.site(), cookie: None, others: BTreeMap::new(), language: "en" }
    }

    /// A browser that an owner of the account has logged in with.
    async fn owner(&self, account: i64) -> Browser {
        let mut browser = self.browser();
        assert_eq!(browser.post(&self.link(account), "").await.status, 303);
        assert!(browser.cookie.is_some());
        browser
    }

    /// Every member has this role from now on.
    async fn set_role(&self, role: &str) {
        self.sql.execute("UPDATE memberships SET role = $1", &[&role]).await.unwrap();
    }
}

/// A browser.
#[derive(Clone)]
struct Browser {
    client: reqwest::Client,
    site: String,
    /// `name=value`.
    cookie: Option<String>,
    /// The other cookies, likewise.
    others: BTreeMap<String, String>,
    language: &'static str,
}

struct Page {
    status: u16,
    headers: HeaderMap,
    text: String,
}

impl Page {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Browser {
    async fn get(&mut self, path: &str) -> Page {
        self.send(Method::GET, path, &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")], "").await
    }

    /// Presses the button of a form on a page of ours.
    async fn post(&mut self, path: &str, fields: &str) -> Page {
        self.send(Method::POST, path, &[("sec-fetch-site", "same-origin")], fields).await
    }

    async fn send(&mut self, method: Method, path: &str, headers: &[(&str, &str)], fields: &str) -> Page {
        let mut request = self.client.request(method.clone(), format!("{}{path}", self.site));
        if method == Method::POST {
            request = request.header("content-type", "application/x-www-form-urlencoded").body(fields.to_owned());
        }
        for cookie in self.cookie.iter().chain(self.others.values()) {
            request = request.header("cookie", cookie);
        }
        request = request.header("accept-language", self.language);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        self.keep(&response);
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Page { status, headers, text: response.text().await.unwrap() }
    }

    fn keep(&mut self, response: &Response) {
        for line in response.headers().get_all("set-cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            match pair.split_once('=').unwrap() {
                ("session", value) => self.cookie = (!value.is_empty()).then(|| pair.to_owned()),
                (name, _) => drop(self.others.insert(name.to_owned(), pair.to_owned())),
            }
        }
    }

    /// The value of the cookie.
    fn token(&self) -> &str {
        self.cookie.as_ref().unwrap().split_once('=').unwrap().1
    }

    /// Whether somebody is logged in.
    async fn is_in(&mut self) -> bool {
        let page = self.get("/").await;
        assert!(page.status == 200 || page.header("location") == Some("/login"), "{}", page.status);
        page.status == 200
    }
}

/// An address that is not in the list is not looked at by the tests that go through it.
#[test]
fn every_address_is_in_the_list() {
    let table = include_str!("../../crates/dashboard/src/routes.rs");
    let lines = table.lines().filter_map(|line| line.split_once("\", Access::")).map(|(address, _)| address.trim());
    let addresses: Vec<_> = lines.filter_map(|address| address.split_once(" \"")).collect();
    assert!(addresses.len() > 10, "{addresses:?}");
    for (method, path) in addresses.into_iter().filter(|(_, path)| !path.starts_with("/assets/")) {
        let is_it = |listed: &str| fits(path, listed.split('?').next().unwrap_or_default());
        assert!(ROUTES.iter().any(|(of, listed, _)| *of == method && is_it(listed)), "{method} {path}");
    }
}
