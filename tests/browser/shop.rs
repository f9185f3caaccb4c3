//! What the browser looks at: a service with the demo shop in it.

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::{
    crawl::{Crawler, Page, assert_complete},
    extras::{Owner, receiver},
    rig::{Programs, Rig, WIDE},
    service::{Service, free_port, run},
};

/// A service, a browser that an owner of the demo shop has logged in with, and all that it finds there.
pub struct World {
    pub rig: Rig,
    pub service: Service,
    pub sql: Client,
    pub site: String,
    /// The account that holds the demo shop.
    pub demo: i64,
    /// `name=value` of the owner's session.
    pub cookie: String,
    /// A page of each pattern, of members and of everybody.
    pub pages: Vec<Page>,
    pub public: Vec<Page>,
}

impl World {
    pub async fn start(programs: &Programs) -> Self {
        let listen = format!("127.0.0.1:{}", free_port());
        let port = receiver(&[503, 200]).await;
        let allowed = format!("127.0.0.1:{port}");
        let settings = [
            ("BAS_RATE_LIMIT_PER_MINUTE", "100000"),
            ("BAS_DASHBOARD_LISTEN", listen.as_str()),
            ("BAS_WEBHOOK_ALLOW_LOOPBACK", allowed.as_str()),
        ];
        let service = Service::start_with(&settings).await;
        let loaded: Value = serde_json::from_str(&run(&mut service.api(&["demo", "--json"]))).unwrap();
        let sql = service.db.client().await.unwrap();
        let rig = Rig::start(programs).await;
        let mut world = Self {
            rig,
            service,
            sql,
            site: format!("http://{listen}"),
            demo: loaded["account"].as_i64().unwrap(),
            cookie: String::new(),
            pages: Vec::new(),
            public: Vec::new(),
        };
        world.cookie = world.log_in(world.demo).await;
        // Whose password is asked for again. Nobody knows it.
        world.sql.execute("UPDATE people SET password = 'none'", &[]).await.unwrap();
        let World { service, sql, site, demo, cookie, .. } = &world;
        let owner = Owner { service, sql, site, account: *demo, cookie };
        let extras = owner.add_extras("Extra", port).await;
        let crawler = Crawler::new(&world.site, Some(&world.cookie), 1).starting_at(extras);
        world.pages = crawler.pages().await;
        assert_complete(&world.pages, true);
        world.pages.retain(|page| !page.is_file);
        world.public = Crawler::new(&world.site, None, 1).pages().await;
        world
    }

    /// A link that opens the account once.
    pub fn link(&self, account: i64) -> String {
        let mut open = self.service.api(&["dashboard", "open", "--account", &account.to_string()]);
        let listen = self.site.strip_prefix("http://").unwrap();
        run(open.env("BAS_DASHBOARD_LISTEN", listen)).trim().to_owned()
    }

    /// Opens a link of the account in the browser and presses its button; gives the cookie.
    pub async fn log_in(&self, account: i64) -> String {
        self.keep(None).await;
        self.rig.goto(&self.link(account)).await;
        self.rig.wait("form button").await.click().await.unwrap();
        self.rig.wait("nav.nav").await;
        let cookie = self.rig.driver.get_named_cookie("session").await.unwrap();
        format!("session={}", cookie.value)
    }

    /// The browser as the tests begin: logged in, wide, light, with nothing of the last one.
    pub async fn fresh(&self) {
        self.rig.cdp("Emulation.setScriptExecutionDisabled", json!({"value": false})).await;
        self.rig.view(WIDE).await;
        self.speak("en").await;
        self.keep(Some(&self.cookie)).await;
        self.rig.goto("about:blank").await;
        let _ = (self.rig.complaints().await, self.rig.events().await);
    }

    /// Has this cookie, or none, from now on.
    pub async fn keep(&self, cookie: Option<&str>) {
        self.rig.cdp("Network.clearBrowserCookies", json!({})).await;
        if let Some((name, value)) = cookie.and_then(|cookie| cookie.split_once('=')) {
            let cookie = json!({"name": name, "value": value, "url": self.site, "httpOnly": true});
            self.rig.cdp("Network.setCookie", cookie).await;
        }
    }

    pub async fn open(&self, address: &str) {
        self.rig.goto(&format!("{}{address}", self.site)).await;
    }

    /// The people's language, and the browser's, which who is not logged in reads.
    pub async fn speak(&self, language: &str) {
        self.sql.execute("UPDATE people SET language = $1", &[&language]).await.unwrap();
        let headers = json!({"headers": {"Accept-Language": language}});
        self.rig.cdp("Network.setExtraHTTPHeaders", headers).await;
    }

    /// Opens a page of its own kind of session.
    pub async fn visit(&self, page: &Page) {
        self.keep(page.cookie.as_deref()).await;
        self.open(&page.address).await;
    }

    /// Those of members come first.
    pub fn all_pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.iter().chain(&self.public)
    }
}
