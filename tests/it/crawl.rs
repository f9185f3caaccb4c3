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
    /// What it was opened with.
    pub cookie: Option<String>,
    /// Whether a browser keeps it rather than shows it.
    pub is_file: bool,
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

pub fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), path.split('/').collect());
    pattern.len() == path.len()
        && pattern.iter().zip(path).all(|(known, part)| *known == part || known.starts_with('{') && !part.is_empty())
}

/// What a browser that keeps `cookie` finds: at most `most` addresses of each pattern.
pub struct Crawler {
    client: reqwest::Client,
    site: String,
    cookie: Option<String>,
    most: usize,
    /// Where it goes first, whatever the pattern, each with its cookie.
    starts: Vec<(String, Option<String>)>,
}

impl Crawler {
    /// `cookie` is `name=value`; without one, what everybody sees is looked at.
    pub fn new(site: &str, cookie: Option<&str>, most: usize) -> Self {
        let client = reqwest::Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
        let first = if cookie.is_some() { "/" } else { "/login" };
        let cookie = cookie.map(str::to_owned);
        let starts = vec![(first.to_owned(), cookie.clone())];
        Self { client, site: site.to_owned(), cookie, most, starts }
    }

    /// Goes to these addresses too, which no link leads to, each with its cookie.
    pub fn starting_at(mut self, addresses: Vec<(String, String)>) -> Self {
        self.starts.extend(addresses.into_iter().map(|(address, cookie)| (address, Some(cookie))));
        self
    }

    pub async fn get(&self, address: &str) -> Response {
        self.get_as(address, self.cookie.as_deref()).await
    }

    async fn get_as(&self, address: &str, cookie: Option<&str>) -> Response {
        let mut request = self.client.get(format!("{}{address}", self.site)).header("accept-language", "en");
        request = request.header("sec-fetch-site", "same-origin").header("sec-fetch-mode", "navigate");
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        request.send().await.unwrap()
    }

    /// The pages of the table that there are for this visitor.
    pub async fn pages(&self) -> Vec<Page> {
        let patterns = patterns(self.cookie.is_some());
        let mut found: Vec<Page> = Vec::new();
        let mut waiting = VecDeque::new();
        let mut seen: Vec<_> = self.starts.iter().map(|(address, _)| address.clone()).collect();
        for (address, cookie) in &self.starts {
            found.extend(self.page(&patterns, address, cookie.as_deref(), &mut waiting, &mut seen).await);
        }
        let mut guesses = patterns.iter().copied();
        loop {
            while let Some(address) = waiting.pop_front() {
                let is_enough = |pattern| found.iter().filter(|page| page.pattern == pattern).count() >= self.most;
                if !pattern_of(&patterns, &address).is_some_and(is_enough) {
                    found.extend(self.page(&patterns, &address, self.cookie.as_deref(), &mut waiting, &mut seen).await);
                }
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

    /// What is at the address, unless it leads on to another one or is not there.
    async fn page(
        &self,
        patterns: &[&'static str],
        address: &str,
        cookie: Option<&str>,
        waiting: &mut VecDeque<String>,
        seen: &mut Vec<String>,
    ) -> Option<Page> {
        let pattern = pattern_of(patterns, address)?;
        let response = self.get_as(address, cookie).await;
        if response.status() != 200 {
            return None;
        }
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        let is_file = !kind.is_some_and(|kind| kind.starts_with("text/html"));
        let text = response.text().await.unwrap();
        for link in links(&text).filter(|link| !link.starts_with("/assets/") && !link.starts_with("/api/")) {
            let link = link.split('#').next().unwrap_or_default().to_owned();
            if link.starts_with('/') && !seen.contains(&link) {
                seen.push(link.clone());
                waiting.push_back(link);
            }
        }
        Some(Page { pattern, address: address.to_owned(), cookie: cookie.map(str::to_owned), is_file, text })
    }
}

fn pattern_of(patterns: &[&'static str], address: &str) -> Option<&'static str> {
    let path = address.split('?').next().unwrap_or_default();
    patterns.iter().copied().find(|pattern| fits(pattern, path))
}

/// The first two lead on to a connection when a platform has sent its owner back here, and are no page otherwise; the third is a
/// file that a worker makes when it is asked for.
const OUT_OF_REACH: [&str; 3] =
    ["/integrations/{provider}/callback", "/integrations/profiles/callback", "/settings/export/{id}"];

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
