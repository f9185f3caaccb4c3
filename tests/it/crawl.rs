//! Goes through the dashboard by its links, until every page of its table of routes has been found: so what a test says of all
//! pages holds of those that are added, too.

use std::collections::VecDeque;

use reqwest::{Response, redirect::Policy};

/// The table of routes, as it is written.
const TABLE: &str = include_str!("../../crates/dashboard/src/routes.rs");

/// In the form of a token that nobody has.
const TOKEN: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// A page, and where it was found.
#[derive(Debug, Clone)]
pub struct Page {
    /// The pattern of its path in the table.
    pub pattern: &'static str,
    pub address: String,
    pub text: String,
}

/// The patterns of the pages: of those that everybody sees, or of a member's.
pub fn patterns(of_members: bool) -> Vec<&'static str> {
    let lines = TABLE.lines().filter_map(|line| line.trim().strip_prefix("GET \""));
    let routes = lines.filter_map(|line| line.split_once("\", Access::"));
    routes
        .filter(|(_, access)| access.starts_with(if of_members { "Member" } else { "Anybody" }))
        .map(|(pattern, _)| pattern)
        .collect()
}

fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), path.split('/').collect());
    pattern.len() == path.len()
        && pattern.iter().zip(path).all(|(known, part)| *known == part || known.starts_with('{') && !part.is_empty())
}

/// What a browser that keeps `cookie` finds: at most so many addresses of each pattern.
pub struct Crawler {
    client: reqwest::Client,
    site: String,
    cookie: Option<String>,
    most: usize,
}

impl Crawler {
    /// `cookie` is `name=value`; without one, what everybody sees is looked at.
    pub fn new(site: &str, cookie: Option<&str>, most: usize) -> Self {
        let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
        Self { client, site: site.to_owned(), cookie: cookie.map(str::to_owned), most }
    }

    pub async fn get(&self, address: &str) -> Response {
        let mut request = self.client.get(format!("{}{address}", self.site)).header("accept-language", "en");
        request = request.header("sec-fetch-site", "same-origin").header("sec-fetch-mode", "navigate");
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        request.send().await.unwrap()
    }

    /// The pages of the table that there are for whoever looks.
    pub async fn pages(&self) -> Vec<Page> {
        let patterns = patterns(self.cookie.is_some());
        let start = if self.cookie.is_some() { "/" } else { "/login" };
        let mut waiting = VecDeque::from([start.to_owned()]);
        let mut seen = vec![start.to_owned()];
        let mut found: Vec<Page> = Vec::new();
        let mut guesses = patterns.iter().copied();
        loop {
            while let Some(address) = waiting.pop_front() {
                found.extend(self.page(&patterns, &address, &mut waiting, &mut seen, &found).await);
            }
            // What no link leads to from here: a message has its address, or it is not shown now.
            let Some(next) = guesses.find(|pattern| !found.iter().any(|page| page.pattern == *pattern)) else { break };
            let guess = next.split('/').map(|part| match part {
                "{token}" => TOKEN,
                part if part.starts_with('{') => "1",
                part => part,
            });
            waiting.push_back(guess.collect::<Vec<_>>().join("/"));
        }
        found
    }

    async fn page(
        &self,
        patterns: &[&'static str],
        address: &str,
        waiting: &mut VecDeque<String>,
        seen: &mut Vec<String>,
        found: &[Page],
    ) -> Option<Page> {
        let path = address.split('?').next().unwrap_or_default();
        let pattern = patterns.iter().find(|pattern| fits(pattern, path))?;
        if found.iter().filter(|page| page.pattern == *pattern).count() >= self.most {
            return None;
        }
        let response = self.get(address).await;
        let status = response.status().as_u16();
        // A page may send on to another one, may not be there, and what is there may be a file.
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        if status != 200 || !kind.is_some_and(|kind| kind.starts_with("text/html")) {
            return None;
        }
        let text = response.text().await.unwrap();
        for link in links(&text).filter(|link| !link.starts_with("/assets/") && !link.starts_with("/api/")) {
            let link = link.split('#').next().unwrap_or_default().to_owned();
            if link.starts_with('/') && !seen.contains(&link) {
                seen.push(link.clone());
                waiting.push_back(link);
            }
        }
        Some(Page { pattern, address: address.to_owned(), text })
    }
}

/// Pages that no link of the demo shop leads to: it has no rule, webhook, key, file or connection, and others are for who was
/// asked to prove who they are, or are files.
const OUT_OF_REACH: [&str; 10] = [
    "/confirm",
    "/settings/activity.csv",
    "/data/{id}",
    "/data/{id}/rejects.csv",
    "/integrations/{provider}/callback",
    "/alerts/{id}",
    "/webhooks/{id}",
    "/webhooks/{id}/replay",
    "/webhooks/{id}/deliveries/{delivery}",
    "/keys/{id}",
];

/// Fails for a pattern of which no page was found, though there is something for every page to show.
pub fn assert_complete(found: &[Page], of_members: bool) {
    let missing =
        |pattern: &&str| !OUT_OF_REACH.contains(pattern) && !found.iter().any(|page| page.pattern == *pattern);
    let missing: Vec<_> = patterns(of_members).into_iter().filter(missing).collect();
    assert!(missing.is_empty(), "no link leads to {missing:?}: give the shop what is shown there");
}

/// Where the links of a page lead.
pub fn links(text: &str) -> impl Iterator<Item = String> {
    text.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(|link| link.replace("&amp;", "&"))
}
