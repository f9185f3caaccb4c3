//! What every panel of every page says, beside what the API answers to the call that it prints. The pages are those of the table of
//! routes: one that is added is compared too.

use std::collections::{BTreeMap, HashSet};

use reqwest::{Method, StatusCode};
use rust_decimal::Decimal;
use serde_json::{Number, Value};

use super::Dashboard;
use crate::{
    crawl::{Crawler, Page, assert_complete, fits, links},
    extras::{Owner, receiver},
    service::run,
};

/// The paths of the API that panels name, as they are written.
const ROUTES: &str = include_str!("../../../crates/dashboard/src/routes.rs");
/// Every path of the API.
const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

/// A dashboard with the demo shop, a crawler that an owner of it has logged in with, and a key of the shop.
struct Demo {
    dashboard: Dashboard,
    crawler: Crawler,
    key: String,
}

impl Demo {
    async fn start() -> Self {
        let port = receiver(&[503, 200]).await;
        let dashboard = Dashboard::start_with(&[("BAS_WEBHOOK_ALLOW_LOOPBACK", &format!("127.0.0.1:{port}"))]).await;
        let loaded: Value = serde_json::from_str(&run(&mut dashboard.service.api(&["demo", "--json"]))).unwrap();
        let account = loaded["account"].as_i64().unwrap();
        let cookie = dashboard.owner(account).await.cookie.unwrap();
        let site = dashboard.site();
        let owner = Owner { service: &dashboard.service, sql: &dashboard.sql, site: &site, account, cookie: &cookie };
        let extras = owner.add_extras("extra", port).await;
        let crawler = Crawler::new(&site, Some(&cookie), 3).starting_at(extras);
        let key = dashboard.service.key(account, "read");
        Self { dashboard, crawler, key }
    }

    async fn asked(&self, path: &str) -> String {
        let answer = self.dashboard.service.process.get(path, &self.key).await;
        assert_eq!(answer.status(), 200, "{path}");
        answer.text().await.unwrap()
    }

    /// Every number in the answers to these calls, and what the days of profit among them add up to.
    async fn known(&self, calls: &[String]) -> Known {
        let mut known = Known::default();
        for path in calls {
            collect(&serde_json::from_str(&self.asked(path).await).unwrap(), &mut known.numbers);
            if path.starts_with("/api/v1/profit?") && path.ends_with("&complete=1") {
                self.add_up(path, &mut known).await;
            }
        }
        known
    }

    /// What became of the lines of all files.
    async fn of_files(&self) -> HashSet<Decimal> {
        let outcomes = "SELECT coalesce(jsonb_agg(outcome), '[]')::text FROM uploads WHERE outcome IS NOT NULL";
        let text: String = self.dashboard.sql.query_one(outcomes, &[]).await.unwrap().get(0);
        let mut numbers = HashSet::new();
        collect(&serde_json::from_str(&text).unwrap(), &mut numbers);
        numbers
    }

    async fn add_up(&self, path: &str, known: &mut Known) {
        let (mut days, mut cursor) = (Vec::new(), String::new());
        loop {
            let answer: Value = serde_json::from_str(&self.asked(&format!("{path}&limit=100{cursor}")).await).unwrap();
            days.extend(answer["data"].as_array().unwrap().clone());
            let Some(next) = answer["pagination"]["next_cursor"].as_i64() else { break };
            cursor = format!("&cursor={next}");
        }
        let mut sums: BTreeMap<String, Decimal> = BTreeMap::new();
        for (name, value) in days.iter().flat_map(|day| day.as_object().unwrap()) {
            if let Value::Number(number) = value {
                *sums.entry(name.clone()).or_default() += decimal(number);
            }
        }
        let estimated = days.iter().filter(|day| day["estimated"] == true).count();
        known.numbers.insert(estimated.into());
        // Each day is rounded to a cent before it is added up here, and the page rounds once.
        let rounding = Decimal::new(5, 3) * Decimal::from(days.len());
        known.sums.extend(sums.into_values().map(|sum| (sum, rounding)));
    }
}

/// What may stand on a page.
#[derive(Default)]
struct Known {
    numbers: HashSet<Decimal>,
    /// Each with what it may differ by.
    sums: Vec<(Decimal, Decimal)>,
}

impl Known {
    fn has(&self, value: Decimal) -> bool {
        self.numbers.contains(&value) || self.sums.iter().any(|(sum, within)| (value - sum).abs() <= *within)
    }
}

fn decimal(number: &Number) -> Decimal {
    let text = number.to_string();
    text.parse().or_else(|_| Decimal::from_scientific(&text)).unwrap()
}

fn collect(value: &Value, numbers: &mut HashSet<Decimal>) {
    match value {
        Value::Number(number) => {
            numbers.insert(decimal(number));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, numbers)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, numbers)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The figures of a text, as the API has them.
fn values(text: &str) -> Vec<Decimal> {
    let values = text.split("data-value=\"").skip(1).filter_map(|rest| rest.split('"').next());
    values.map(|value| value.parse().unwrap_or_else(|_| panic!("{value} is no number"))).collect()
}

/// The calls that a text prints or leads to, but for files.
fn calls(text: &str, api: &str) -> Vec<String> {
    let text = text.replace("&amp;", "&").replace("&quot;", "\"");
    let printed = text.split('\'').filter_map(|part| part.strip_prefix(&format!("http://{api}"))).map(str::to_owned);
    let mut all: Vec<_> = printed.chain(links(&text).filter(|link| link.starts_with("/api/"))).collect();
    all.retain(|call| !call.contains("format=csv"));
    all.sort_unstable();
    all.dedup();
    all
}

/// The panels of a page, and what is around them.
fn panels(page: &str) -> (Vec<&str>, String) {
    let mut around = String::new();
    let mut panels = Vec::new();
    let mut parts = page.split("<section class=\"panel\"");
    around.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (panel, rest) = part.split_once("</section>").unwrap();
        panels.push(panel);
        around.push_str(rest);
    }
    (panels, around)
}

async fn assert_page(demo: &Demo, page: &Page) -> usize {
    let api = demo.dashboard.service.process.address();
    // Nothing is empty, and no text lacks what is filled into it.
    for lack in ["<p class=\"soft\"></p>", "</summary></details>", "{$"] {
        assert!(!page.text.contains(lack), "{}: {lack}", page.address);
    }
    assert!(page.pattern != "/" || !page.text.contains("<p></p>"), "{}", page.address);
    let mut ids: Vec<_> = page.text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    ids.sort_unstable();
    let twice = ids.array_windows::<2>().find(|[one, other]| one == other);
    assert!(twice.is_none(), "{}: {twice:?}", page.address);
    let (panels, around) = panels(&page.text);
    let mut count = 0;
    // What stands over the panels is of the calls that any of them prints.
    let all = calls(&page.text, api);
    for (text, calls) in panels.iter().map(|panel| (*panel, calls(panel, api))).chain([(around.as_str(), all)]) {
        let shown = values(text);
        let mut known = if shown.is_empty() { Known::default() } else { demo.known(&calls).await };
        // The API takes no files: what stands here of them is what became of them.
        if page.pattern.starts_with("/data") {
            known.numbers.extend(demo.of_files().await);
        }
        let strange: Vec<_> = shown.iter().filter(|value| !known.has(**value)).collect();
        assert!(strange.is_empty(), "{}: {strange:?} is in no answer to {calls:?}", page.address);
        count += shown.len();
    }
    count
}

#[tokio::test]
async fn every_figure_is_in_the_answer_to_the_call_of_its_panel() {
    let demo = Demo::start().await;
    let mut counts = Vec::new();
    for language in ["en", "es", "pt-BR"] {
        demo.dashboard.sql.execute("UPDATE people SET language = $1", &[&language]).await.unwrap();
        let mut pages = demo.crawler.pages().await;
        assert_complete(&pages, true);
        pages.retain(|page| !page.is_file);
        let mut count = 0;
        for page in &pages {
            assert!(page.text.contains(&format!("<html lang=\"{language}")), "{}", page.address);
            count += assert_page(&demo, page).await;
        }
        counts.push(count);
    }
    assert!(counts.iter().all(|count| *count == counts[0] && *count > 500), "{counts:?}");
    every_link_answers_as_the_call_does(&demo).await;
}

async fn every_link_answers_as_the_call_does(demo: &Demo) {
    let pages = demo.crawler.pages().await;
    let mut links: Vec<_> =
        pages.iter().flat_map(|page| links(&page.text)).filter(|link| link.starts_with("/api/")).collect();
    links.sort_unstable();
    links.dedup();
    let stranger = demo.dashboard.owner(demo.dashboard.service.stranger).await;
    let stranger = Crawler::new(&demo.dashboard.site(), stranger.cookie.as_deref(), 1);
    let nobody = Crawler::new(&demo.dashboard.site(), None, 1);
    for link in &links {
        let answer = demo.crawler.get(link).await;
        assert_eq!(answer.status(), 200, "{link}");
        let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header("cache-control").as_deref(), Some("no-store"), "{link}");
        assert_eq!(header("access-control-allow-origin"), None, "{link}");
        let is_file = link.contains("format=csv");
        let kept = header("content-disposition").is_some_and(|kept| kept.starts_with("attachment; filename="));
        assert_eq!(kept, is_file, "{link}");
        let text = answer.text().await.unwrap();
        assert_eq!(text, demo.asked(link).await, "{link}");
        // Who looks at another account sees that one, and who looks at none, nothing.
        let theirs = stranger.get(link).await;
        // Lists of what neither has are alike.
        let is_empty = text.contains("\"data\":[]");
        assert!(is_empty || theirs.status() == StatusCode::NOT_FOUND || theirs.text().await.unwrap() != text, "{link}");
        assert_eq!(nobody.get(link).await.status(), 401, "{link}");
    }
    let (_, list) = ROUTES.split_once("READS: &[&str] = &[").unwrap();
    let reads: Vec<_> = list.split("];").next().unwrap().split('"').skip(1).step_by(2).collect();
    let is_named = |read: &&str| links.iter().any(|link| fits(read, link.split('?').next().unwrap()));
    assert!(reads.iter().all(is_named), "{reads:?} has more than {links:?}");
    nothing_else_is_reached(demo, &reads).await;
}

async fn nothing_else_is_reached(demo: &Demo, reads: &[&str]) {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let paths: Vec<_> = document["paths"].as_object().unwrap().keys().collect();
    assert!(paths.len() > 30);
    let mut browser = demo.dashboard.owner(demo.dashboard.service.account).await;
    for path in paths {
        let address = path.replace("{id}", "1").replace(['{', '}'], "");
        let is_read = reads.contains(&path.as_str());
        if is_read && path.contains('{') {
            continue;
        }
        let found = browser.send(Method::GET, &address, &[("sec-fetch-site", "same-origin")], "").await;
        assert_eq!(found.status == 404, !is_read, "{address}: {}", found.status);
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let headers = [("sec-fetch-site", "same-origin")];
            let refused = browser.send(method.clone(), &address, &headers, "").await.status;
            assert!(refused == 404 || refused == 405, "{method} {address}: {refused}");
        }
    }
}
